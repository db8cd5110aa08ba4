/* Words in their sentences (src/lovevec/texts/sentence.py): the lines of texts, what stands around the words that are asked
 * about, and their readings there (near/readings.py: in_context). Included once for each kind of processor, behind near.h. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

enum { WINDOW = PLACES / 2 };

/* The line of one text while it is written: a sign waits for the next word. */
typedef struct { int32_t *ids; int64_t length, capacity; int32_t sign; } Writer;

static void put_id(Writer *line, int32_t id) {
    if (id == STOP || id == PAUSE) {
        if (line->sign != STOP) line->sign = id;
        return;
    }
    if (line->sign && line->length > WINDOW + 1) line->ids[line->length++] = line->sign; /* none before the first word */
    line->sign = 0;
    line->ids[line->length++] = id;
}

static void put_beyond(Writer *line) {
    for (int place = 0; place < WINDOW; place++) line->ids[line->length++] = PAD;
}

static int add_asked(Windows *windows, Asked asked) {
    if (windows->count == windows->capacity) {
        const int64_t capacity = 2 * windows->capacity + 16;
        Asked *more = realloc(windows->asked, (size_t)capacity * sizeof *more);
        if (more) windows->asked = more;
        int32_t *around = more ? realloc(windows->around, (size_t)capacity * PLACES * sizeof *around) : NULL;
        if (!around) return -1;
        windows->around = around, windows->capacity = capacity;
    }
    windows->asked[windows->count++] = asked;
    return 0;
}

/* What a text has in its line at most, and whether strings in it are asked about; `is_odd` becomes 1 where words may be torn. */
static int64_t measure_line(const Lines *lines, const int32_t *ids, int64_t length, int64_t word, int64_t chunk, int *is_asked, int *is_odd) {
    int64_t most = length;
    *is_asked = *is_odd = 0;
    for (int64_t place = 0; place < length; place++) {
        *is_odd |= ids[place] == MAY_BE_TORN;
        if (ids[place] == UNKNOWN_WORD) *is_asked |= lines->asked[lines->words[word++]];
        if (ids[place] != OTHER_CHUNK) continue;
        const int64_t which = lines->chunks[chunk++];
        most += lines->starts[which + 1] - lines->starts[which];
        for (int64_t part = lines->starts[which]; part < lines->starts[which + 1]; part++)
            *is_asked |= lines->parts[part] <= FIRST_STRING && lines->asked[FIRST_STRING - lines->parts[part]];
    }
    return 2 * (most + WINDOW + 1); /* a sign before each of them; the ends, and what lies beyond */
}

/* What stands around the strings that are asked about. A text is `odd` [texts] where lines cannot tell. Returns 0, or -1
 * where memory ends. */
static int find_windows(const Lines *lines, uint8_t *odd, Windows *windows) {
    Writer line = {0};
    int64_t start = 0, word = 0, chunk = 0;
    for (int64_t text = 0; text < lines->texts; start += lines->lengths[text], text++) {
        const int64_t length = lines->lengths[text], first = windows->count;
        int is_asked, is_odd;
        odd[text] = 0;
        if (!length) continue;
        const int32_t *ids = lines->ids + start;
        const int64_t most = measure_line(lines, ids, length, word, chunk, &is_asked, &is_odd);
        odd[text] = (uint8_t)(is_asked && is_odd);
        if (!is_asked || is_odd) {
            for (int64_t place = 0; place < length; place++) word += ids[place] == UNKNOWN_WORD, chunk += ids[place] == OTHER_CHUNK;
            continue;
        }
        if (most > line.capacity) {
            free(line.ids);
            line.capacity = 2 * most;
            line.ids = malloc((size_t)line.capacity * sizeof *line.ids);
            if (!line.ids) return -1;
        }
        line.length = line.sign = 0;
        put_beyond(&line);
        line.ids[line.length++] = STOP;
        int failed = 0;
        for (int64_t place = 0; place < length; place++) {
            if (ids[place] == UNKNOWN_WORD) {
                const int64_t string = lines->words[word];
                put_id(&line, lines->meant[string]);
                if (lines->asked[string]) failed |= add_asked(windows, (Asked){string, text, word, line.length - 1});
                word++;
            } else if (ids[place] == OTHER_CHUNK) {
                const int64_t which = lines->chunks[chunk++];
                for (int64_t part = lines->starts[which]; part < lines->starts[which + 1]; part++) {
                    const int64_t string = (int64_t)FIRST_STRING - lines->parts[part];
                    put_id(&line, string < 0 ? lines->parts[part] : lines->meant[string]);
                    if (string >= 0 && lines->asked[string]) failed |= add_asked(windows, (Asked){string, text, -1, line.length - 1});
                }
            } else {
                put_id(&line, ids[place]);
            }
        }
        line.ids[line.length++] = STOP;
        put_beyond(&line);
        if (failed) return free(line.ids), -1;
        for (int64_t place = first; place < windows->count; place++) {
            const int32_t *here = line.ids + windows->asked[place].place;
            memcpy(windows->around + place * PLACES, here - WINDOW, WINDOW * sizeof *here);
            memcpy(windows->around + place * PLACES + WINDOW, here + 1, WINDOW * sizeof *here);
        }
    }
    free(line.ids);
    return 0;
}

/* The readings of some strings, by their numbers among those that are read `alone`: in context by row `asked` of the scores
 * [asked, WORDS_PER_READING + 1], or as they are where that is -1. */
static void read_in_context(const Readings *alone, const int64_t *strings, const int64_t *asked, int64_t count, const double *scores,
                            double strength, const Readings *result) {
    for (int64_t place = 0; place < count; place++) {
        const int64_t string = strings[place];
        const int32_t *rows = alone->rows + string * WORDS_PER_READING;
        const double *chances = alone->probabilities + string * WORDS_PER_READING;
        int32_t *to_rows = result->rows + place * WORDS_PER_READING;
        double *to = result->probabilities + place * WORDS_PER_READING, new_ = alone->new_[string], parts = alone->parts[string];
        double evidence = alone->evidence[string];
        memcpy(result->part_rows + place * MAX_PARTS, alone->part_rows + string * MAX_PARTS, MAX_PARTS * sizeof *rows);
        memcpy(result->part_ends + place * MAX_PARTS, alone->part_ends + string * MAX_PARTS, MAX_PARTS * sizeof *rows);
        if (asked[place] < 0) {
            memcpy(to_rows, rows, WORDS_PER_READING * sizeof *rows);
            memcpy(to, chances, WORDS_PER_READING * sizeof *to);
        } else {
            const double *z = scores + asked[place] * (WORDS_PER_READING + 1), of_new = z[WORDS_PER_READING] * strength;
            double best = of_new > 0 ? of_new : 0, total;
            for (int word = 0; word < WORDS_PER_READING; word++)
                if (rows[word] >= 0 && z[word] * strength > best) best = z[word] * strength;
            for (int word = 0; word < WORDS_PER_READING; word++) { /* put in order: the greatest first, equal ones as they were */
                const double weight = rows[word] >= 0 ? chances[word] * exact_exp(z[word] * strength - best) : -1;
                int at = word;
                for (; at > 0 && to[at - 1] < weight; at--) to[at] = to[at - 1], to_rows[at] = to_rows[at - 1];
                to[at] = weight, to_rows[at] = rows[word];
            }
            total = new_ *= exact_exp(of_new - best);
            for (int word = 0; word < WORDS_PER_READING; word++) total += to[word] = to[word] > 0 ? to[word] : 0;
            total += parts *= exact_exp(-best);
            if (!(total > 0)) total = 1;
            for (int word = 0; word < WORDS_PER_READING; word++) to[word] /= total;
            new_ /= total, parts /= total, evidence += exact_log(total);
        }
        result->new_[place] = new_, result->parts[place] = parts, result->evidence[place] = evidence;
    }
}

/* texts/encoder.py: the mean of the weights of what each string may stand for, of several words the sum; in numpy's order. */
static void weigh_readings(const Readings *readings, int64_t count, const float *weights, double new_weight, float *result) {
    for (int64_t string = 0; string < count; string++) {
        const int32_t *rows = readings->rows + string * WORDS_PER_READING, *parts = readings->part_rows + string * MAX_PARTS;
        const double *chances = readings->probabilities + string * WORDS_PER_READING;
        double near[WORDS_PER_READING], total;
        float several = 0;
        for (int word = 0; word < WORDS_PER_READING; word++) near[word] = rows[word] >= 0 ? chances[word] * (double)weights[rows[word]] : 0;
        for (int part = 0; part < MAX_PARTS; part++) several += parts[part] >= 0 ? weights[parts[part]] : 0;
        total = ((near[0] + near[1]) + (near[2] + near[3])) + ((near[4] + near[5]) + (near[6] + near[7]));
        for (int word = 8; word < WORDS_PER_READING; word++) total += near[word];
        result[string] = (float)(total + readings->parts[string] * (double)several + readings->new_[string] * new_weight);
    }
}
