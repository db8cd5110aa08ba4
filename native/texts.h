/* Whole texts (src/lovevec/texts): the known words of a text are found and summed up here; what stands between two blanks
 * and is more than a plain known word is left to Python. Included once for each kind of processor. */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "lanes.h"

/* --- engine/word_map.py: words by their spelling --- */

/* A code point in UTF-8, lone surrogates like others; returns how many bytes. */
INLINE int utf8(uint32_t code, uint8_t *bytes) {
    if (code < 0x80) return bytes[0] = (uint8_t)code, 1;
    static const uint8_t first[] = {0, 0xC0, 0xE0, 0xF0};
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    bytes[0] = (uint8_t)(first[more] | code >> 6 * more);
    for (int place = 1; place <= more; place++) bytes[place] = (uint8_t)(0x80 | (code >> 6 * (more - place) & 63));
    return more + 1;
}

INLINE uint64_t hash_byte(uint64_t state, uint8_t byte) {
    state = (state ^ byte) * 0x9E3779B97F4A7C15u;
    return state ^ state >> 29;
}

/* Where the words with this hash may stand: by the highest bits, which depend on all bytes. */
INLINE uint64_t first_slot(const WordMap *map, uint64_t state) { return state * 0x9E3779B97F4A7C15u >> (64 - map->bits); }

/* The row of a word; -1 for one that is not there. With `is_lowered` the word in lower case is looked for. */
static int64_t find_word(const WordMap *map, const uint32_t *codes, int64_t length, int is_lowered) {
    const uint64_t mask = (UINT64_C(1) << map->bits) - 1;
    uint64_t state = map->seed;
    int64_t size = 0;
    uint8_t bytes[4];
    for (int64_t place = 0; place < length; place++) {
        const int many = utf8(is_lowered ? lower(codes[place]) : codes[place], bytes);
        for (int byte = 0; byte < many; byte++) state = hash_byte(state, bytes[byte]);
        size += many;
    }
    for (uint64_t slot = first_slot(map, state); map->slots[slot] >= 0; slot = (slot + 1) & mask) {
        const int64_t row = map->slots[slot], start = map->offsets[row];
        if (map->offsets[row + 1] - start != size) continue;
        const uint8_t *word = map->text + start;
        int64_t place = 0;
        for (int many; place < length; place++, word += many) {
            many = utf8(is_lowered ? lower(codes[place]) : codes[place], bytes);
            if (memcmp(word, bytes, (size_t)many)) break;
        }
        if (place == length) return row;
    }
    return -1;
}

/* Put all words into the table; of equal ones the last stays. Returns 0, or -1 where memory ends. */
static int build_map(WordMap *map) {
    map->bits = 2;
    while (INT64_C(1) << map->bits < 2 * map->count) map->bits++;
    const uint64_t size = UINT64_C(1) << map->bits;
    map->slots = malloc(size * sizeof *map->slots);
    if (!map->slots) return -1;
    memset(map->slots, 255, size * sizeof *map->slots);
    for (int64_t row = 0; row < map->count; row++) {
        const int64_t start = map->offsets[row], length = map->offsets[row + 1] - start;
        uint64_t state = map->seed;
        for (int64_t place = 0; place < length; place++) state = hash_byte(state, map->text[start + place]);
        uint64_t slot = first_slot(map, state);
        for (; map->slots[slot] >= 0; slot = (slot + 1) & (size - 1)) {
            const int64_t other = map->offsets[map->slots[slot]];
            if (map->offsets[map->slots[slot] + 1] - other == length && !memcmp(map->text + other, map->text + start, (size_t)length)) break;
        }
        map->slots[slot] = (int32_t)row;
    }
    return 0;
}

/* --- texts/tokens.py: chunks, which stand between blanks --- */

enum { BLANK = 1, OPENING = 2, CLOSING = 4, JOINT = 8, LETTER = 16 };

static const uint8_t kinds_of_ascii[128] = {
    ['\t'] = BLANK, ['\n'] = BLANK, ['\v'] = BLANK, ['\f'] = BLANK, ['\r'] = BLANK, [' '] = BLANK,
    ['('] = OPENING, ['['] = OPENING, ['{'] = OPENING, ['"'] = OPENING | CLOSING, ['\''] = OPENING | CLOSING | JOINT,
    [')'] = CLOSING, [']'] = CLOSING, ['}'] = CLOSING, [';'] = CLOSING, [':'] = CLOSING, ['!'] = CLOSING, ['?'] = CLOSING,
    ['.'] = CLOSING | JOINT, [','] = CLOSING | JOINT, ['-'] = JOINT,
    ['0'] = LETTER, ['1'] = LETTER, ['2'] = LETTER, ['3'] = LETTER, ['4'] = LETTER, ['5'] = LETTER, ['6'] = LETTER, ['7'] = LETTER,
    ['8'] = LETTER, ['9'] = LETTER,
    ['A'] = LETTER, ['B'] = LETTER, ['C'] = LETTER, ['D'] = LETTER, ['E'] = LETTER, ['F'] = LETTER, ['G'] = LETTER, ['H'] = LETTER,
    ['I'] = LETTER, ['J'] = LETTER, ['K'] = LETTER, ['L'] = LETTER, ['M'] = LETTER, ['N'] = LETTER, ['O'] = LETTER, ['P'] = LETTER,
    ['Q'] = LETTER, ['R'] = LETTER, ['S'] = LETTER, ['T'] = LETTER, ['U'] = LETTER, ['V'] = LETTER, ['W'] = LETTER, ['X'] = LETTER,
    ['Y'] = LETTER, ['Z'] = LETTER,
    ['a'] = LETTER, ['b'] = LETTER, ['c'] = LETTER, ['d'] = LETTER, ['e'] = LETTER, ['f'] = LETTER, ['g'] = LETTER, ['h'] = LETTER,
    ['i'] = LETTER, ['j'] = LETTER, ['k'] = LETTER, ['l'] = LETTER, ['m'] = LETTER, ['n'] = LETTER, ['o'] = LETTER, ['p'] = LETTER,
    ['q'] = LETTER, ['r'] = LETTER, ['s'] = LETTER, ['t'] = LETTER, ['u'] = LETTER, ['v'] = LETTER, ['w'] = LETTER, ['x'] = LETTER,
    ['y'] = LETTER, ['z'] = LETTER,
};
INLINE int kind_of_code(uint32_t code) { return code < 128 ? kinds_of_ascii[code] : 0; }

/* texts/tokens.py: whether a word of plain letters is not put together from others, as CamelCase is. */
INLINE int is_one_word(const uint32_t *codes, int64_t start, int64_t end) {
#define IS_UPPER(place) (codes[place] >= 'A' && codes[place] <= 'Z')
#define IS_LOWER(place) (codes[place] >= 'a' && codes[place] <= 'z')
    for (int64_t place = start; place < end; place++)
        if (!IS_UPPER(place) && !IS_LOWER(place)) return 0;
    for (int64_t place = start + 1; place < end; place++) {
        if (IS_LOWER(place - 1) && IS_UPPER(place)) return 0;
        if (place > start + 1 && IS_UPPER(place - 2) && IS_UPPER(place - 1) && IS_LOWER(place)) return 0;
    }
    return 1;
}

/* Whether a chunk is one word of plain letters and digits, with single joints inside and marks around: then `start` and `end`
 * become the word's. */
INLINE int is_plain_word(const uint32_t *codes, int64_t *start, int64_t *end) {
    int64_t low = *start, high = *end;
    while (low < high && kind_of_code(codes[low]) & OPENING) low++;
    while (high > low && kind_of_code(codes[high - 1]) & CLOSING) high--;
    if (low == high || high - low > LONGEST) return 0;
    int before = JOINT;
    for (int64_t place = low; place < high; place++) {
        const int kind = kind_of_code(codes[place]) & (LETTER | JOINT);
        if (!kind || (kind == JOINT && before == JOINT)) return 0;
        before = kind;
    }
    *start = low, *end = high;
    return before == LETTER;
}

enum { WORDS_AT_ONCE = 16 }; /* whose rows are on their way from memory before the first is added */
/* A known word of a text: its letters, where it stands there. */
typedef struct { int64_t row, length; const uint32_t *codes; } KnownWord;

struct TextRoom {
    KnownWord words[WORDS_AT_ONCE];
    uint32_t joined[WORDS_AT_ONCE][2 * LONGEST]; /* the letters of those that were torn */
    int count;
    double *sums;   /* [dim] of a text */
    float *word;    /* [dim] of a word */
    int16_t *pairs; /* [dim] of a word's signature */
};

static TextRoom *text_room(int64_t dim) {
    TextRoom *room = malloc(sizeof *room + (size_t)dim * (sizeof(double) + sizeof(float) + sizeof(int16_t)));
    if (!room) return NULL;
    room->count = 0;
    room->sums = (double *)(room + 1);
    room->word = (float *)(room->sums + dim);
    room->pairs = (int16_t *)(room->word + dim);
    return room;
}

static int add_chunk(Chunks *chunks, Chunk chunk) {
    if (chunks->count == chunks->capacity) {
        const int64_t capacity = 2 * chunks->capacity + 64;
        Chunk *more = realloc(chunks->chunks, (size_t)capacity * sizeof *more);
        if (!more) return -1;
        chunks->chunks = more, chunks->capacity = capacity;
    }
    chunks->chunks[chunks->count++] = chunk;
    return 0;
}

static int add_id(Line *line, int32_t id) {
    if (line->count == line->capacity) {
        const int64_t capacity = 2 * line->capacity + 256;
        int32_t *more = realloc(line->ids, (size_t)capacity * sizeof *more);
        if (!more) return -1;
        line->ids = more, line->capacity = capacity;
    }
    line->ids[line->count++] = id;
    return 0;
}

/* The sign of the marks around a plain word, to the line. */
static int add_sign(Line *line, const uint32_t *codes, int64_t start, int64_t end) {
    int32_t sign = 0;
    for (int64_t place = start; place < end && sign != STOP; place++) {
        const uint32_t code = codes[place];
        if (code == '.' || code == '!' || code == '?' || code == ';' || code == ':') sign = STOP;
        else if (code != '\'') sign = PAUSE; /* a comma, a bracket, a quotation mark */
    }
    return sign ? add_id(line, sign) : 0;
}

/* sums += weight · (row + signature_length · signature), as texts/encoder.py has it, for each of the words at hand. */
static void add_known(const TextSource *source, TextRoom *room, double *total) {
    const int64_t dim = source->table->dim;
    for (int place = 0; place < room->count; place++) {
        const KnownWord word = room->words[place];
        const float weight = source->weights[word.row];
        add_row(source->table, word.row, weight, 1, 1, room->word);
        if (source->signatures)
            add_signature(source->signatures, word.codes, word.length, room->pairs, source->signature_length * weight, room->word);
        for (int64_t column = 0; column < dim; column++) room->sums[column] += (double)room->word[column];
        *total += (double)weight;
    }
    room->count = 0;
}

/* The row of a word, also in lower case; -1 where it is not known. */
INLINE int64_t row_of(const TextSource *source, const uint32_t *codes, int64_t length) {
    const int64_t row = find_word(source->map, codes, length, 0);
    return row < 0 && source->lowercase ? find_word(source->map, codes, length, 1) : row;
}

/* A word of a text that the next one may belong to: nothing but letters, without a mark behind it; `row` -1 if it is not known. */
typedef struct { int64_t row, start, length; int may_be_torn; } Before;

INLINE int has_only_letters(const uint32_t *codes, int64_t start, int64_t end, int only_lower) {
    for (int64_t place = start; place < end; place++) {
        const uint32_t code = only_lower ? codes[place] : lower(codes[place]);
        if (code < 'a' || code > 'z') return 0;
    }
    return end > start;
}

/* near/torn.py: the row of the known word that two neighbors are, -1 for none; its letters go to `joined`. */
static int64_t torn_row(const TextSource *source, const uint32_t *codes, const Before *before, int64_t start, int64_t end, int64_t row,
                        uint32_t *joined) {
    const int64_t second = end - start, length = before->length + second;
    if (length < MIN_TORN_LENGTH || !has_only_letters(codes, start, end, 1)) return -1;
    memcpy(joined, codes + before->start, (size_t)before->length * sizeof *joined);
    memcpy(joined + before->length, codes + start, (size_t)second * sizeof *joined);
    const int64_t found = row_of(source, joined, length);
    if (found < 0) return -1;
    if (before->row < 0 || row < 0) {
        const int64_t shorter = before->length < second ? before->length : second;
        return shorter >= MIN_UNKNOWN_PART && length >= MIN_UNKNOWN_LENGTH ? found : -1;
    }
    const int64_t first = source->costs[before->row], other = source->costs[row];
    const int64_t one = first < other ? first : other, two = first < other ? other : first;
    const int is_torn = one + two - source->costs[found] >= LEAST_GAIN && (one >= source->frequent || two >= source->rare);
    return is_torn ? found : -1;
}

/* Whether a word may be torn in two, one part of it in a chunk that is left to Python: the letters at the end of one chunk and
 * those that the next one begins with are a known word, or more has to be known to say so. */
static int may_be_torn(const TextSource *source, const uint32_t *codes, int64_t first, int64_t first_end, int64_t start, int64_t end) {
    int64_t tail = first_end, head = start;
    while (tail > first && has_only_letters(codes, tail - 1, tail, 0)) tail--;
    while (head < end && has_only_letters(codes, head, head + 1, 1)) head++;
    const int64_t before = first_end - tail, behind = head - start;
    if (!before || !behind) return 0;
    if (before > LONGEST || behind > LONGEST || (head < end && codes[head] > 127)) return 1;
    uint32_t joined[2 * LONGEST];
    memcpy(joined, codes + tail, (size_t)before * sizeof *joined);
    memcpy(joined + before, codes + start, (size_t)behind * sizeof *joined);
    return before + behind >= MIN_TORN_LENGTH && row_of(source, joined, before + behind) >= 0;
}

/* Of each text the sum over its known words [count, dim], the sum of their weights, and what is left. Returns 0, or -1 where
 * memory ends. */
static int sum_texts(const TextSource *source, const uint32_t *codes, const int64_t *offsets, int64_t count, TextRoom *room,
                     Left *left, float *result, double *weights) {
    const int64_t dim = source->table->dim;
    for (int64_t text = 0; text < count; text++, result += dim) {
        const int64_t first = offsets[text], last = offsets[text + 1], line_start = left->line.count;
        int64_t first_of_last = first, end_of_last = first;
        int was_kept = 1;
        Before before = {0};
        memset(room->sums, 0, (size_t)dim * sizeof *room->sums);
        weights[text] = 0;
        for (int64_t start = first, end; start < last; start = end) {
            while (start < last && kind_of_code(codes[start]) & BLANK) start++;
            for (end = start; end < last && !(kind_of_code(codes[end]) & BLANK);) end++;
            if (start == end) break;
            int64_t low = start, high = end;
            const int is_plain = is_plain_word(codes, &low, &high);
            const int64_t row = is_plain ? row_of(source, codes + low, high - low) : -1;
            int64_t torn = -1;
            uint32_t letters[2 * LONGEST];
            if (is_plain && low == start && before.may_be_torn) torn = torn_row(source, codes, &before, low, high, row, letters);
            if (torn >= 0) { /* in the place of the word before, which nobody has added yet */
                if (before.row >= 0) room->count--;
                else left->words.count--;
            }
            if (room->count == WORDS_AT_ONCE) add_known(source, room, weights + text);
            if (torn >= 0) {
                const int64_t length = before.length + high - low;
                memcpy(room->joined[room->count], letters, (size_t)length * sizeof *letters);
                room->words[room->count] = (KnownWord){torn, length, room->joined[room->count]};
                fetch_row(source->table, torn);
                room->count++;
            } else if (row >= 0) {
                fetch_row(source->table, row);
                room->words[room->count++] = (KnownWord){row, high - low, codes + low};
            } else {
                const int is_word = is_plain && is_one_word(codes, low, high);
                const Chunk chunk = is_word ? (Chunk){text, low - first, high - first} : (Chunk){text, start - first, end - first};
                if (add_chunk(is_word ? &left->words : &left->chunks, chunk)) return -1;
            }
            /* An unknown word that is more than one word is among the chunks: nothing is taken from there. */
            const int is_kept = row >= 0 || (is_plain && is_one_word(codes, low, high));
            if (left->lengths) {
                Line *line = &left->line;
                if (source->costs && !(is_kept && was_kept) && may_be_torn(source, codes, first_of_last, end_of_last, start, end) &&
                    add_id(line, MAY_BE_TORN))
                    return -1;
                first_of_last = start, end_of_last = end, was_kept = is_kept;
                if (torn >= 0) line->count--; /* the word before, as above: no marks stand behind it */
                if (torn < 0 && !is_kept) {
                    if (add_id(line, OTHER_CHUNK)) return -1;
                } else if (add_sign(line, codes, start, low) ||
                           add_id(line, torn >= 0 ? (int32_t)torn : row >= 0 ? (int32_t)row : UNKNOWN_WORD) ||
                           add_sign(line, codes, high, end)) {
                    return -1;
                }
            }
            before = (Before){row, low, high - low, source->costs && torn < 0 && is_plain && is_kept && high == end &&
                                                        has_only_letters(codes, low, high, 0)};
        }
        add_known(source, room, weights + text);
        for (int64_t column = 0; column < dim; column++) result[column] = (float)room->sums[column];
        if (left->lengths) left->lengths[text] = left->line.count - line_start;
    }
    return 0;
}
