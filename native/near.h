/* Readings of strings (src/lovevec/near): the index, candidates, alignment, what speaks for new, probabilities.
 * Included once for each kind of processor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "lanes.h"
#include "lexicon.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#define PRIME 0x01000193u

/* --- exact.py: the same bits as numpy's way, on every processor --- */

INLINE double exact_log(double x) {
    static const double inverse[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                     1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3};
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int64_t exponent = (bits >> 52) - 1023;
    bits = (bits & 0xFFFFFFFFFFFFF) | (INT64_C(1023) << 52);
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m = m * 0.5;
        exponent += 1;
    }
    double s = (m - 1.0) / (m + 1.0), z = s * s, p = inverse[0];
    for (int place = 1; place < 10; place++) p = p * z + inverse[place];
    return (double)exponent * 0.6931471805599453 + 2.0 * (s + s * (z * p));
}

INLINE double exact_exp(double x) {
    static const double inverse[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                                     1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0};
    if (!(x >= -700)) return 0;
    double k = rint(x * 1.4426950408889634);
    double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10, p = inverse[0];
    for (int place = 1; place < 14; place++) p = p * r + inverse[place];
    int64_t bits = ((int64_t)k + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

enum { MANY_WORDS = 10000 };

/* Memory for a table, all zeros. That of many words is in large pages where there are any: looking up where a small page
 * lies takes longer than the look into it. That of a few words touches few pages, and takes no more. */
static void *large_memory(const Index *index, size_t bytes) {
    const size_t page = (size_t)2 << 20;
#if defined(__linux__)
    if (bytes >= page && index->words >= MANY_WORDS) {
        void *memory = aligned_alloc(page, (bytes + page - 1) / page * page);
        if (memory) {
            madvise(memory, bytes, MADV_HUGEPAGE); /* a hint, which may be refused */
            memset(memory, 0, bytes);
        }
        return memory;
    }
#endif
    (void)page, (void)index;
    return calloc(1, bytes);
}

/* --- index.py: buckets that survive damage --- */

INLINE uint32_t bucket_of(uint32_t state) {
    state = (state ^ state >> 15) * 0x2C1B3C6Du;
    return (state ^ state >> 12) >> (32 - BUCKET_BITS);
}

enum { NO_SWAP = 64 }; /* no bit of a pair */

/* Which of 64 bits stands for two neighboring letters. */
INLINE uint8_t pair_place(uint32_t one, uint32_t two) {
    uint32_t state = (one * 257 + two) * 0x9E3779B1u;
    return (uint8_t)((state ^ state >> 15) * 0x2C1B3C6Du >> 26);
}

/* The keys of a word, some of them perhaps twice; returns how many. */
INLINE int keys_of(const Index *index, const uint8_t *letters, int length, uint32_t *keys) {
    /* The hash of all but some letters: what stands behind a letter finds the state before it instead of after it. */
    int prefix = length < PREFIX ? length : PREFIX, count = 0;
    uint32_t power[SOUND_LENGTH + 1], step[SOUND_LENGTH], state = 0x811C9DC5u;
    power[0] = 1;
    for (int place = 0; place < SOUND_LENGTH; place++) power[place + 1] = power[place] * PRIME;
    for (int place = 0; place < prefix; place++) {
        uint32_t after = state * PRIME + index->folded[letters[place]];
        step[place] = state - after;
        state = after;
    }
    keys[count++] = bucket_of(state);
    for (int one = 0; one < prefix; one++) {
        keys[count++] = bucket_of(state + step[one] * power[prefix - 1 - one]);
        for (int two = one + 1; two < prefix; two++) /* two is left out first: fewer letters are then behind one */
            keys[count++] = bucket_of(state + step[two] * power[prefix - 1 - two] + step[one] * power[prefix - 2 - one]);
    }
    uint8_t heard[SOUND_LENGTH];
    int size = 0;
    for (int place = 0; place < length && size < SOUND_LENGTH; place++) {
        uint8_t letter = index->sound[letters[place]];
        if (letter && (size == 0 || heard[size - 1] != letter)) heard[size++] = letter;
    }
    state = 0x9E3779B9u;
    for (int place = 0; place < size; place++) {
        uint32_t after = state * PRIME + heard[place];
        step[place] = state - after;
        state = after;
    }
    keys[count++] = bucket_of(state);
    for (int place = 0; place < size; place++) keys[count++] = bucket_of(state + step[place] * power[size - 1 - place]);
    return count;
}

enum { WORDS_AHEAD = 16 }; /* whose buckets are on their way from memory while others are filled */

/* The words in the order of their first eight letters, by counting how many have each letter, from the last one on. */
static int sort_words(const Index *index, int32_t *order) {
    const int64_t words = index->words;
    int32_t *other = malloc((size_t)(words + 1) * sizeof *other);
    if (!other) return -1;
    for (int64_t word = 0; word < words; word++) order[word] = (int32_t)word;
    for (int letter = 7; letter >= 0; letter--) {
        int32_t starts[MAX_SYMBOLS + 1] = {0};
#define LETTER(word) (index->offsets[word] + letter < index->offsets[(word) + 1] ? index->letters[index->offsets[word] + letter] : 0)
        for (int64_t word = 0; word < words; word++) starts[LETTER(word) + 1]++;
        for (int symbol = 0; symbol < MAX_SYMBOLS; symbol++) starts[symbol + 1] += starts[symbol];
        memcpy(other, order, (size_t)words * sizeof *other);
        for (int64_t place = 0; place < words; place++) order[starts[LETTER(other[place])]++] = other[place];
#undef LETTER
    }
    free(other);
    return 0;
}

/* The words of each bucket: the first WORDS_PER_BUCKET, then by their places. First a bucket's number holds how many words
 * it has and, above that, the last of them; then where its next word goes; at the end where it starts. */
static int fill_buckets(Index *index, const int32_t *order) {
    enum { COUNT = (1 << 10) - 1 };
    const int64_t words = index->words, size = INT64_C(1) << BUCKET_BITS;
    uint32_t *keys = large_memory(index, (size_t)(words + 1) * KEYS_PER_WORD * sizeof *keys), total = 0;
    uint32_t *buckets = (uint32_t *)index->bucket_starts;
    uint8_t *many = malloc((size_t)words + 1);
    if (!keys || !many) goto failed;
    for (int64_t word = -WORDS_AHEAD; word < words; word++) {
        int64_t ahead = word + WORDS_AHEAD;
        if (ahead < words) {
            uint32_t *own = keys + ahead * KEYS_PER_WORD;
            int64_t start = index->offsets[ahead];
            many[ahead] = (uint8_t)keys_of(index, index->letters + start, (int)(index->offsets[ahead + 1] - start), own);
            for (int key = 0; key < many[ahead]; key++) PREFETCH(buckets + own[key]);
        }
        if (word < 0) continue;
        uint32_t *own = keys + word * KEYS_PER_WORD;
        int kept = 0;
        for (int key = 0; key < many[word]; key++) {
            uint32_t *bucket = buckets + own[key], count = *bucket & COUNT;
            if (*bucket >> 10 == word + 1 || count == WORDS_PER_BUCKET) continue;
            *bucket = (uint32_t)(word + 1) << 10 | (count + 1);
            own[kept++] = own[key];
        }
        many[word] = (uint8_t)kept;
    }
    for (int64_t bucket = 0; bucket <= size; bucket++) {
        uint32_t count = buckets[bucket] & COUNT;
        buckets[bucket] = total;
        total += count;
    }
    index->bucket_places = large_memory(index, (size_t)(total + 8) * sizeof(int32_t));
    if (!index->bucket_places) goto failed;
    for (int64_t place = -3 * WORDS_AHEAD; place < words; place++) { /* memory is sent for in three steps */
#define KEYS_OF(step) (keys + order[place + (step) * WORDS_AHEAD] * (int64_t)KEYS_PER_WORD)
#define EACH_KEY(step)                                                             \
    if (place + (step) * WORDS_AHEAD >= 0 && place + (step) * WORDS_AHEAD < words) \
        for (int key = 0; key < many[order[place + (step) * WORDS_AHEAD]]; key++)
        EACH_KEY(3) if (key % 16 == 0) PREFETCH(KEYS_OF(3) + key);
        EACH_KEY(2) PREFETCH(buckets + KEYS_OF(2)[key]);
        EACH_KEY(1) PREFETCH(index->bucket_places + buckets[KEYS_OF(1)[key]]);
        EACH_KEY(0) index->bucket_places[buckets[KEYS_OF(0)[key]]++] = (int32_t)place;
#undef EACH_KEY
#undef KEYS_OF
    }
    memmove(buckets + 1, buckets, (size_t)size * sizeof *buckets); /* where a bucket ended, the next one starts */
    buckets[0] = 0;
    free(keys), free(many);
    return 0;
failed:
    free(keys), free(many);
    return -1;
}

enum { COMMON_SYMBOLS = 27 }; /* a to z (near/symbols.py) */

INLINE int is_twin(const uint8_t *letters, int length, int place) {
    return letters[place] && ((place > 0 && letters[place - 1] == letters[place]) ||
                              (place + 1 < length && letters[place + 1] == letters[place]));
}

INLINE Record record_of(const Index *index, const uint8_t *letters, int length, int rank_bits) {
    uint64_t pairs = 0;
    uint32_t bits = 0, before = 0;
    for (int place = 0; place < length; place++) {
        uint32_t letter = index->folded[letters[place]];
        pairs |= UINT64_C(1) << pair_place(before, letter);
        bits |= UINT32_C(1) << letter % LETTER_BITS;
        before = letter;
    }
    pairs |= UINT64_C(1) << pair_place(before, 256);
    uint32_t rest = (uint32_t)length | (uint32_t)rank_bits << 8 | (uint32_t)index->folded[letters[0]] << 16;
    return (Record){{(uint32_t)pairs, (uint32_t)(pairs >> 32)}, bits, rest};
}

static void describe_words(Index *index, const int32_t *order) {
    static const uint8_t lost[] = {KIND_LOST, KIND_LOST_VOWEL, KIND_LOST_H, KIND_LOST, KIND_DIGIT};
    uint8_t *spelled = index->spelled;
    for (int64_t at = 0; at < index->words; at++) {
        const int32_t word = order[at];
        int64_t start = index->offsets[word];
        int length = (int)(index->offsets[word + 1] - start);
        const uint8_t *letters = index->letters + start;
        int is_rare = 0;
        for (int place = 0; place < length; place++) is_rare |= letters[place] >= COMMON_SYMBOLS;
        index->entries[at] = (Entry){(int32_t)(spelled - index->spelled), (int16_t)length, (int16_t)is_rare, index->rank_costs[word], word};
        index->records[at] = record_of(index, letters, length, index->rank_bits[word]);
        for (int place = 0; place < length; place++, spelled += 4) {
            const uint8_t letter = letters[place];
            int is_end = place == length - 1 && letter == index->letter_e;
            spelled[0] = letter;
            const int class = index->classes[letter];
            spelled[1] = class != DIGIT_CLASS && is_twin(letters, length, place) ? KIND_LOST_TWIN
                         : is_end                                               ? KIND_LOST_END
                                                                                : lost[class];
            spelled[2] = place ? index->two[letters[place - 1] * index->symbols + letter] : 0;
            spelled[3] = place && letter && letters[place - 1] && letter != letters[place - 1] && class != DIGIT_CLASS &&
                                 index->classes[letters[place - 1]] != DIGIT_CLASS
                             ? pair_place(index->folded[letter], index->folded[letters[place - 1]])
                             : NO_SWAP;
        }
    }
}

/* --- readings --- */

enum { POOL = KEYS_PER_WORD * WORDS_PER_BUCKET, STAGES = 8 };
enum { ALIGNED = 40, LANE_PARTS = ALIGNED / 8 }; /* lanes, one more than letters, in parts of eight */

typedef struct { int32_t behind, place; } Scored;

/* A string on its way through the stages of reading. */
typedef struct {
    uint8_t letters[MAX_WORD_LENGTH + 1];
    uint32_t codes[MAX_WORD_LENGTH + 2]; /* with BEGIN before and END behind them */
    int length, has_digit, is_plain, is_stretched; /* nothing but letters; letters were left out */
    uint32_t keys[KEYS_PER_WORD];
    int key_count, found;
    Scored best[MAX_CANDIDATES];     /* `found` candidates */
    /* For its alignments, in lane j, of the letter before which j - 1 others stand: */
    int16_t lanes[ALIGNED];                    /* itself; -1 in lane 0 and behind the last */
    int16_t extra[ALIGNED], extra_last[ALIGNED]; /* what the first j letters cost as extra ones */
    uint8_t one[ALIGNED], two[ALIGNED];        /* its spelling alone, and with the letter before */
    uint64_t pairs;                            /* bits of its pairs of letters */
} String;

typedef struct { int count; int32_t places[POOL + 8]; } Pool;

struct IndexRoom {
    String strings[STAGES];
    Pool pools[2];
    String part; /* a misspelled word among others */
    Pool part_pool;
    Segments segments;
    Chains chains, backward;
    int32_t behind[POOL + 8];
    Scored near[POOL + 8];
    /* What is known of the string at hand, lane by lane: what it costs to write its letter for each symbol, its letter for
     * each spelling, and its letter and the one before for each spelling. */
    int16_t letter_costs[MAX_SYMBOLS][ALIGNED], one_costs[MAX_SYMBOLS][ALIGNED], two_costs[MAX_SYMBOLS][ALIGNED];
    uint32_t stamps[MAX_SYMBOLS], stamp; /* which rows of letter_costs are those of the string at hand */
    uint64_t marked[];                      /* a bit for each known word */
};

static IndexRoom *index_room(const Index *index) {
    IndexRoom *room = calloc(1, sizeof *room + (size_t)(index->words / 64 + 1) * sizeof(uint64_t));
    if (room)
        for (int symbol = 0; symbol < MAX_SYMBOLS; symbol++)
            for (int lane = 0; lane < ALIGNED; lane++)
                room->letter_costs[symbol][lane] = room->one_costs[symbol][lane] = room->two_costs[symbol][lane] = FAR_COST;
    return room;
}

/* The symbols of a word: of a letter that stands three times or more two are kept. Its length is 0 if it cannot be near
 * any word. */
static void compare_as(const Index *index, const uint32_t *codes, int64_t length, int flags, String *string) {
    int size = 0, letter = 0, plain = 1;
    string->has_digit = string->length = string->is_plain = string->is_stretched = 0;
    string->codes[0] = BEGIN;
    for (int64_t place = 0; place < length; place++) {
        if (place >= 2 && codes[place] == codes[place - 1] && codes[place] == codes[place - 2]) {
            string->is_stretched = 1;
            continue;
        }
        if (size == MAX_WORD_LENGTH) return;
        uint8_t symbol = index->symbol_of[codes[place]];
        letter |= index->is_letter[symbol];
        plain &= index->is_letter[symbol];
        string->has_digit |= index->is_digit[symbol];
        string->letters[size++] = symbol;
        string->codes[size] = codes[place];
    }
    if (!letter || size < 2 || flags & IS_TOO_LONG) return;
    string->length = size;
    string->is_plain = plain;
    string->codes[size + 1] = END;
}

static void describe(const Index *index, String *string) {
    static const uint8_t extra[] = {KIND_EXTRA, KIND_EXTRA_VOWEL, KIND_EXTRA, KIND_EXTRA_JOINT, KIND_DIGIT};
    const uint8_t *letters = string->letters;
    const Record record = record_of(index, letters, string->length, 0);
    int total = 0, last = 0;
    string->pairs = record.pairs[0] | (uint64_t)record.pairs[1] << 32;
    for (int lane = 0; lane < ALIGNED; lane++) {
        const int place = lane - 1, is_letter = lane > 0 && place < string->length;
        string->lanes[lane] = is_letter ? letters[place] : -1;
        if (is_letter) {
            const int class = index->classes[letters[place]];
            const int kind = class != DIGIT_CLASS && is_twin(letters, string->length, place) ? KIND_EXTRA_TWIN : extra[class];
            total += index->costs[kind];
            last += index->costs[KIND_LAST];
            string->one[lane] = index->one[letters[place]];
            string->two[lane] = place ? index->two[letters[place - 1] * index->symbols + letters[place]] : 0;
        }
        string->extra[lane] = (int16_t)total;
        string->extra_last[lane] = (int16_t)(total + last);
    }
}

INLINE void fill_letter(const Index *index, const String *string, IndexRoom *room, int letter) {
    const int16_t *costs = index->substitution + letter * index->symbols;
    for (int lane = 1; lane <= string->length; lane++) room->letter_costs[letter][lane] = costs[string->lanes[lane]];
}

/* Lay out what respellings cost in each lane, or with `is_end` that there are none. */
INLINE void fill_respellings(const Index *index, const String *string, IndexRoom *room, int is_end) {
    const int32_t *starts = index->respelling_starts;
    for (int lane = 1; lane <= string->length; lane++) {
        for (int32_t place = starts[string->one[lane]]; place < starts[string->one[lane] + 1]; place++) {
            const Respelling for_this = index->respellings[place];
            room->one_costs[for_this.spelling][lane] = is_end ? FAR_COST : for_this.cost;
        }
        for (int32_t place = starts[string->two[lane]]; place < starts[string->two[lane] + 1]; place++) {
            const Respelling for_this = index->respellings[place];
            room->two_costs[for_this.spelling][lane] = is_end ? FAR_COST : for_this.cost;
        }
    }
}

/* Begin the alignments of a string: the costs of the common letters are laid out at once. */
INLINE void begin_alignments(const Index *index, const String *string, IndexRoom *room) {
    if (++room->stamp == 0) memset(room->stamps, 0, sizeof room->stamps), room->stamp = 1;
    for (int letter = 0; letter < COMMON_SYMBOLS && letter < index->symbols; letter++) fill_letter(index, string, room, letter);
    fill_respellings(index, string, room, 0);
}

/* Lay out what the rare letters of a word cost, where that is not there yet. */
static void fill_rare_letters(const Index *index, const String *string, IndexRoom *room, const uint8_t *spelled, int size) {
    for (int place = 0; place < size; place++) {
        const uint8_t letter = spelled[4 * place];
        if (letter < COMMON_SYMBOLS || room->stamps[letter] == room->stamp) continue;
        room->stamps[letter] = room->stamp;
        fill_letter(index, string, room, letter);
    }
}

/* alignment.py: the least cost of turning a word (four bytes a letter) into a string; above `limit` perhaps any number
 * above it. Row i of D is computed for all letters of the string at once, but for extra letters, which follow one
 * another: D[i, j] = min over k <= j of t[k] + E[j] - E[k], where t are the ways that take a letter of the word or two,
 * and E[j] is what the string's first j letters cost as extra ones. */
#ifdef VECTORS
#define BEHIND(by, row) SHIFT_##by(part ? row[part - 1] : far, row[part])
#define RUNNING(by)                                                                                                     \
    for (int part = parts - 1; part >= 0; part--) now[part] = least_of(now[part], SHIFT_##by(part ? now[part - 1] : highest, now[part]))

INLINE int align_in(const int parts, const Index *index, const String *string, const IndexRoom *room,
                    const uint8_t *spelled, int size, int limit) {
    const int16_t first = index->costs[KIND_FIRST], last = index->costs[KIND_LAST];
    const Shorts far = all_shorts(FAR_COST), highest = all_shorts(INT16_MAX);
    Shorts row[LANE_PARTS], before[LANE_PARTS], now[LANE_PARTS], letters[LANE_PARTS], earlier_letters[LANE_PARTS], bound[LANE_PARTS];
    for (int part = 0; part < parts; part++) {
        const Shorts lane = (Shorts){0, 1, 2, 3, 4, 5, 6, 7} + (int16_t)(8 * part);
        letters[part] = shorts_at(string->lanes + 8 * part);
        earlier_letters[part] = SHIFT_1(part ? letters[part - 1] : far, letters[part]);
        /* Lanes behind the end count for nothing: nothing is below their bound. */
        bound[part] = ((int16_t)limit & (lane <= (int16_t)string->length)) | (lane > (int16_t)string->length);
        row[part] = least_of(shorts_at(string->extra + 8 * part) + lane * first, far);
        before[part] = far;
    }
    int16_t earlier = -2;
    int was_near = 1;
    for (int i = 0; i < size; i++, spelled += 4) { /* with few branches: what letters do cannot be foretold */
        const uint8_t letter = spelled[0], pair = spelled[2];
        const int is_last = i == size - 1;
        const int16_t *extra = is_last ? string->extra_last : string->extra;
        const int16_t at_end = is_last ? last : 0;
        const int16_t at_one = (int16_t)(at_end + (i == 0 ? first : 0)), at_two = (int16_t)(at_end + (i == 1 ? first : 0));
        const int16_t lost = (int16_t)(index->costs[spelled[1]] + at_one), swap = (int16_t)(index->costs[KIND_SWAP] + at_two);
        const int16_t crossing = spelled[3] == NO_SWAP ? -2 : letter;
        const int16_t *other = room->letter_costs[letter], *one_two = room->two_costs[index->one[letter]];
        const int16_t *two_one = room->one_costs[pair], *two_two = room->two_costs[pair];
        for (int part = 0; part < parts; part++) {
            Shorts cost = shorts_at(other + 8 * part);
            Shorts twice = least_of(BEHIND(1, before) + shorts_at(two_one + 8 * part), BEHIND(2, before) + shorts_at(two_two + 8 * part));
            Shorts crossed = (letters[part] == earlier) & (earlier_letters[part] == crossing);
            Shorts swapped = ((BEHIND(2, before) + swap) & crossed) | (far & ~crossed);
            Shorts single = BEHIND(2, row) + shorts_at(one_two + 8 * part) + at_one;
            Shorts best = least_of(least_of(twice + at_two, swapped), least_of(single, row[part] + lost));
            cost += all_shorts(at_one) & (cost != 0) & (cost != index->free_cost);
            now[part] = least_of(best, BEHIND(1, row) + cost) - shorts_at(extra + 8 * part);
        }
        RUNNING(1);
        RUNNING(2);
        RUNNING(4);
        for (int part = 1; part < parts; part++) now[part] = least_of(now[part], now[part - 1]);
        Shorts near = {0};
        for (int part = 0; part < parts; part++) {
            before[part] = row[part];
            row[part] = least_of(now[part] + shorts_at(extra + 8 * part), far);
            near |= row[part] <= bound[part];
        }
        earlier = letter;
        const int is_near = any_of(near);
        if (!is_near && !was_near) return FAR_COST + 1;
        was_near = is_near;
    }
    int16_t costs[ALIGNED];
    memcpy(costs, row, sizeof costs);
    return costs[string->length];
}

static int align(const Index *index, const String *string, const IndexRoom *room, const uint8_t *spelled, int size, int limit) {
    switch (string->length / 8) {
    case 0: return align_in(1, index, string, room, spelled, size, limit);
    case 1: return align_in(2, index, string, room, spelled, size, limit);
    case 2: return align_in(3, index, string, room, spelled, size, limit);
    default: return align_in(LANE_PARTS, index, string, room, spelled, size, limit);
    }
}
#else
INLINE int least(int one, int other) { return one < other ? one : other; }

static int align(const Index *index, const String *string, const IndexRoom *room, const uint8_t *spelled, int size, int limit) {
    int rows[3][MAX_WORD_LENGTH + 1], length = string->length;
    const int first = index->costs[KIND_FIRST], last = index->costs[KIND_LAST];
    int *row = rows[0], *before = rows[1], *now = rows[2], was_near = 1;
    uint8_t earlier = 0;
    for (int j = 0; j <= length; j++) {
        before[j] = FAR_COST;
        row[j] = least(string->extra[j] + j * first, FAR_COST);
    }
    for (int i = 0; i < size; i++, spelled += 4) {
        const uint8_t letter = spelled[0], pair = spelled[2];
        const int at_end = i == size - 1 ? last : 0, at_one = at_end + (i == 0 ? first : 0), at_two = at_end + (i == 1 ? first : 0);
        const int lost = index->costs[spelled[1]] + at_one;
        const int16_t *extra = at_end ? string->extra_last : string->extra;
        int is_near = 0;
        for (int j = 0; j <= length; j++) {
            int best = least(row[j] + lost, FAR_COST);
            if (j) {
                int other = room->letter_costs[letter][j];
                best = least(best, row[j - 1] + other + (other && other != index->free_cost ? at_one : 0));
                best = least(best, now[j - 1] + extra[j] - extra[j - 1]);
                if (pair) best = least(best, before[j - 1] + room->one_costs[pair][j] + at_two);
            }
            if (j > 1) {
                best = least(best, row[j - 2] + room->two_costs[index->one[letter]][j] + at_one);
                if (pair) best = least(best, before[j - 2] + room->two_costs[pair][j] + at_two);
                if (spelled[3] != NO_SWAP && string->lanes[j] == earlier && string->lanes[j - 1] == letter)
                    best = least(best, before[j - 2] + index->costs[KIND_SWAP] + at_two);
            }
            now[j] = best;
            is_near |= best <= limit;
        }
        int *oldest = before;
        before = row, row = now, now = oldest;
        earlier = letter;
        if (!is_near && !was_near) return FAR_COST + 1;
        was_near = is_near;
    }
    return row[length];
}
#endif

/* The words of a string's buckets, some of them more than once. */
INLINE void collect_words(const Index *index, const String *string, Pool *pool) {
    pool->count = 0;
    for (int key = 0; key < string->key_count; key++) {
        const int32_t start = index->bucket_starts[string->keys[key]], end = index->bucket_starts[string->keys[key] + 1];
        for (int32_t place = start; place < end; place += 8) /* eight at a time, the last of them for nothing */
            memcpy(pool->places + pool->count + (place - start), index->bucket_places + place, 8 * sizeof(int32_t));
        pool->count += end - start;
    }
    for (int rest = 0; rest < 8 && pool->count; rest++) /* so that eight can be scored at once: the last one once more */
        pool->places[pool->count + rest] = pool->places[pool->count - 1];
}

#if defined(LOVEVEC_AVX2)
/* How many bits of each byte are 1. */
INLINE __m256i ones_of(__m256i bits) {
    const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
                                            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    return _mm256_add_epi8(_mm256_shuffle_epi8(counts, _mm256_and_si256(bits, low)),
                           _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi32(bits, 4), low)));
}

/* How far each word of the pool is behind the best possible quick score; returns the least. Eight at a time: their records
 * are turned so that each kind of number is side by side. */
INLINE int quick_scores(const Index *index, const Record *asked, const Pool *pool, int32_t *behind) {
    const __m256i byte = _mm256_set1_epi32(255);
    __m256i least = _mm256_set1_epi32(INT32_MAX), row[4];
    for (int start = 0; start < pool->count; start += 8) {
        const int32_t *places = pool->places + start;
        for (int place = 0; place < 4; place++)
            row[place] = _mm256_inserti128_si256(
                _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(index->records + places[place]))),
                _mm_loadu_si128((const __m128i *)(index->records + places[place + 4])), 1);
        __m256i one = _mm256_unpacklo_epi32(row[0], row[1]), two = _mm256_unpacklo_epi32(row[2], row[3]);
        __m256i three = _mm256_unpackhi_epi32(row[0], row[1]), four = _mm256_unpackhi_epi32(row[2], row[3]);
        __m256i pairs = _mm256_xor_si256(_mm256_unpacklo_epi64(one, two), _mm256_set1_epi32((int)asked->pairs[0]));
        __m256i others = _mm256_xor_si256(_mm256_unpackhi_epi64(one, two), _mm256_set1_epi32((int)asked->pairs[1]));
        __m256i letters = _mm256_xor_si256(_mm256_unpacklo_epi64(three, four), _mm256_set1_epi32((int)asked->letters));
        __m256i rest = _mm256_unpackhi_epi64(three, four), ones = ones_of(letters);
        ones = _mm256_add_epi8(_mm256_add_epi8(ones, ones), _mm256_add_epi8(ones_of(pairs), ones_of(others)));
        ones = _mm256_madd_epi16(_mm256_maddubs_epi16(ones, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
        __m256i longer = _mm256_sub_epi32(_mm256_and_si256(rest, byte), _mm256_set1_epi32((int)(asked->rest & 255)));
        __m256i first = _mm256_cmpeq_epi32(_mm256_srli_epi32(rest, 16), _mm256_set1_epi32((int)(asked->rest >> 16)));
        __m256i score = _mm256_add_epi32(ones, _mm256_abs_epi32(longer));
        score = _mm256_add_epi32(_mm256_add_epi32(score, score), _mm256_and_si256(_mm256_srli_epi32(rest, 8), byte));
        score = _mm256_sub_epi32(score, _mm256_and_si256(first, _mm256_set1_epi32(4)));
        score = _mm256_add_epi32(score, _mm256_set1_epi32(MAX_QUICK_SCORE));
        least = _mm256_min_epi32(least, score);
        _mm256_storeu_si256((__m256i *)(behind + start), score);
    }
    int32_t lanes[8], result = INT32_MAX;
    _mm256_storeu_si256((__m256i *)lanes, least);
    for (int lane = 0; lane < 8; lane++) result = lanes[lane] < result ? lanes[lane] : result;
    return result;
}

/* A bit for each of eight numbers that is not above the bar. */
INLINE int near_ones(const int32_t *behind, int bar) {
    const __m256i far = _mm256_cmpgt_epi32(_mm256_loadu_si256((const __m256i *)behind), _mm256_set1_epi32(bar));
    return ~_mm256_movemask_ps((__m256)far) & 255;
}
#else
INLINE int count_ones(uint32_t bits) {
    bits = bits - (bits >> 1 & 0x55555555u);
    bits = (bits & 0x33333333u) + (bits >> 2 & 0x33333333u);
    return (int)(((bits + (bits >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24);
}

/* How far each word of the pool is behind the best possible quick score; returns the least. */
INLINE int quick_scores(const Index *index, const Record *asked, const Pool *pool, int32_t *behind) {
    int least = INT32_MAX;
    for (int place = 0; place < (pool->count + 7) / 8 * 8; place++) {
        const Record record = index->records[pool->places[place]];
        int ones = count_ones(asked->pairs[0] ^ record.pairs[0]) + count_ones(asked->pairs[1] ^ record.pairs[1]);
        int longer = (int)(record.rest & 255) - (int)(asked->rest & 255);
        ones += 2 * count_ones(asked->letters ^ record.letters) + (longer < 0 ? -longer : longer);
        behind[place] = MAX_QUICK_SCORE + 2 * ones + (int)(record.rest >> 8 & 255) - 4 * (record.rest >> 16 == asked->rest >> 16);
        least = behind[place] < least ? behind[place] : least;
    }
    return least;
}

INLINE int near_ones(const int32_t *behind, int bar) {
    int near = 0;
    for (int place = 0; place < 8; place++) near |= (behind[place] <= bar) << place;
    return near;
}
#endif

#if defined(__GNUC__)
#define FIRST_BIT(bits) __builtin_ctz((unsigned)(bits))
#else
INLINE int first_bit(int bits) {
    int place = 0;
    while (!(bits >> place & 1)) place++;
    return place;
}
#define FIRST_BIT(bits) first_bit(bits)
#endif

/* The words of the pool that are no farther behind the best one than MAX_QUICK_GAP, each once, into room->near; returns how
 * many, and the least of their scores. */
INLINE int score_words(const Index *index, const String *string, const Pool *pool, IndexRoom *room, int *least) {
    const Record asked = record_of(index, string->letters, string->length, 0);
    int kept = 0;
    *least = quick_scores(index, &asked, pool, room->behind);
    for (int start = 0; start < pool->count; start += 8)
        for (int near = near_ones(room->behind + start, *least + MAX_QUICK_GAP); near; near &= near - 1) {
            const int at = start + FIRST_BIT(near), place = pool->places[at];
            const uint64_t bit = UINT64_C(1) << (place & 63);
            const int is_new = !(room->marked[place >> 6] & bit);
            room->marked[place >> 6] |= bit;
            PREFETCH(index->entries + place);
            room->near[kept] = (Scored){room->behind[at], place};
            kept += is_new;
        }
    for (int place = 0; place < kept; place++) room->marked[room->near[place].place >> 6] = 0;
    return kept;
}

/* The MAX_CANDIDATES with the best quick score: their scores are counted, so that only words of the last score that counts
 * are put in order. */
INLINE void find_candidates(const Index *index, String *string, const Pool *pool, IndexRoom *room) {
    int least, near = score_words(index, string, pool, room, &least), ends[MAX_QUICK_GAP + 2] = {0}, level = 0;
    for (int place = 0; place < near; place++) ends[room->near[place].behind - least + 1]++;
    for (int one = 0; one <= MAX_QUICK_GAP; one++) ends[one + 1] += ends[one];
    while (level < MAX_QUICK_GAP && ends[level + 1] < MAX_CANDIDATES) level++;
    string->found = near < MAX_CANDIDATES ? near : MAX_CANDIDATES;
    const int first_of_last = ends[level];
    int last = first_of_last;
    for (int place = 0; place < near; place++) {
        const Scored scored = room->near[place];
        const int own = scored.behind - least;
        if (own < level) {
            string->best[ends[own]++] = scored;
        } else if (own == level) {
            int at = last < MAX_CANDIDATES ? last++ : MAX_CANDIDATES;
            for (; at > first_of_last && index->entries[scored.place].word < index->entries[string->best[at - 1].place].word; at--)
                if (at < MAX_CANDIDATES) string->best[at] = string->best[at - 1];
            if (at < MAX_CANDIDATES) string->best[at] = scored;
        }
    }
}

typedef struct { int cost, word; } Candidate;
enum { NO_CANDIDATE = 1 << 30 }; /* more than any costs */

/* The cheapest candidates of a string, cheapest first; returns how many, at most WORDS_PER_READING. */
INLINE int cheapest(const Index *index, String *string, IndexRoom *room, Candidate *kept) {
    int many = 0;
    describe(index, string);
    begin_alignments(index, string, room);
    for (int place = 0; place < string->found; place++) {
        const Entry entry = index->entries[string->best[place].place];
        const int word = entry.word;
        int limit = DIGIT_COST - 1;
        if (many) {
            limit = kept[0].cost + MAX_COST_GAP - entry.cost;
            if (many == WORDS_PER_READING && kept[many - 1].cost - entry.cost < limit) limit = kept[many - 1].cost - entry.cost;
            if (limit < 0) continue;
            if (limit > DIGIT_COST - 1) limit = DIGIT_COST - 1;
        }
        const uint8_t *spelled = index->spelled + entry.start;
        if (entry.is_rare) fill_rare_letters(index, string, room, spelled, entry.size);
        int cost = align(index, string, room, spelled, entry.size, limit);
        if (cost > limit) continue;
        cost += entry.cost;
        int at = many < WORDS_PER_READING ? many : WORDS_PER_READING - 1;
        if (many == WORDS_PER_READING && (cost > kept[at].cost || (cost == kept[at].cost && word > kept[at].word))) continue;
        for (; at > 0 && (kept[at - 1].cost > cost || (kept[at - 1].cost == cost && kept[at - 1].word > word)); at--)
            kept[at] = kept[at - 1];
        kept[at] = (Candidate){cost, word};
        many += many < WORDS_PER_READING;
    }
    fill_respellings(index, string, room, 1);
    while (many && kept[many - 1].cost > kept[0].cost + MAX_COST_GAP) many--;
    return many;
}

/* novelty.py: what speaks for a word of its own; `listed` says whether the lexicon has it. */
static double utility_of_new(const Index *index, const String *string, int flags, int *listed) {
    const uint32_t *codes = string->codes + 1;
    const int length = string->length;
    uint64_t prefixes[MAX_WORD_LENGTH + 1];
    int begin, end;
    hash_prefixes(codes, length, prefixes);
    ends_of(index, prefixes, length, &begin, &end);
    *listed = is_listed(index, prefixes[length]) && !string->is_stretched;
    const double size = length, features[FEATURES] = {
        1, bounded_likeness(index, string->codes, length), exact_log(size), length < 4 ? 4 - length : 0, begin / size, end / size,
        sibling_of(index, prefixes, length) / size, *listed, string->has_digit, flags & IS_NAME ? 1 : 0, flags & IS_CAPITALS ? 1 : 0,
    };
    double total = 0;
    for (int feature = 0; feature < FEATURES; feature++) total += index->new_weights[feature] * features[feature];
    return total;
}

/* The known word that a part of a string is most cheaply a misspelling of, as one of several words: its cost, FAR_CUT for none. */
static int32_t cost_of_part(const Index *index, const String *string, int start, int end, IndexRoom *room, int32_t *word) {
    String *part = &room->part;
    int32_t best = FAR_CUT;
    part->length = end - start;
    memcpy(part->letters, string->letters + start, (size_t)part->length);
    part->key_count = keys_of(index, part->letters, part->length, part->keys);
    collect_words(index, part, &room->part_pool);
    part->found = 0;
    if (room->part_pool.count) find_candidates(index, part, &room->part_pool, room);
    describe(index, part);
    begin_alignments(index, part, room);
    for (int place = 0; place < part->found; place++) {
        const Entry entry = index->entries[part->best[place].place];
        const int32_t own = index->part_costs[entry.word];
        int32_t limit = best - own;
        if (limit < 0) continue;
        if (limit > DIGIT_COST - 1) limit = DIGIT_COST - 1;
        const uint8_t *spelled = index->spelled + entry.start;
        if (entry.is_rare) fill_rare_letters(index, part, room, spelled, entry.size);
        const int32_t cost = align(index, part, room, spelled, entry.size, limit);
        if (cost > limit || (cost + own == best && entry.word > *word)) continue;
        best = cost + own;
        *word = entry.word;
    }
    fill_respellings(index, part, room, 1);
    return best;
}

/* Try a cut with a misspelled word from `start` to `end` between the words of a chain of so many letters from the begin and
 * one from the end, 0 for none. */
static void try_gap(const Index *index, const String *string, int before, int behind, IndexRoom *room, Cut *best) {
    const int start = before, end = string->length - behind;
    const int words = (before ? room->chains.words[before] : 0) + (behind ? room->backward.words[behind] : 0);
    if (end - start < MIN_DAMAGED_PART || words >= MAX_PARTS) return;
    int32_t cost = 0, word = 0;
    if (before) cost += chain_cost(&room->chains, before) + index->join_cost;
    if (behind) cost += chain_cost(&room->backward, behind) + index->join_cost;
    const int32_t part = cost_of_part(index, string, start, end, room, &word);
    if (part >= FAR_CUT || cost + part >= best->cost) return;
    best->count = 0;
    best->cost = cost + part;
    if (before) add_chain(&room->chains, before, string->length, 0, best);
    best->rows[best->count] = index->table_rows[word];
    best->ends[best->count++] = end;
    if (behind) add_chain(&room->backward, behind, string->length, 1, best);
}

/* The cheapest cut of a string into several words; where it is not listed, and nearer to new or to several words than to any
 * known word, of which the nearest costs `near`, one of them may be misspelled. */
static void find_cut(const Index *index, const String *string, int listed, double utility_new, int32_t near, IndexRoom *room, Cut *cut) {
    const int size = string->length;
    cut->cost = FAR_CUT, cut->count = 0;
    if (!string->is_plain || size < MIN_JOINED_LENGTH) return;
    find_segments(index, string->codes + 1, size, &room->segments);
    find_chains(index, &room->segments, size, 0, &room->chains);
    if (room->chains.words[size]) {
        cut->cost = chain_cost(&room->chains, size);
        add_chain(&room->chains, size, size, 0, cut);
    }
    const double several = index->joined_constant - cut->cost / (double)UNIT;
    if (listed || size < MIN_DAMAGED_LENGTH || !((utility_new > several ? utility_new : several) >= -near / (double)UNIT)) return;
    find_chains(index, &room->segments, size, 1, &room->backward);
    int begins[BEGINNINGS], ends[BEGINNINGS];
    const int many_begins = cheapest_lengths(&room->chains, size, begins), many_ends = cheapest_lengths(&room->backward, size, ends);
    for (int place = 0; place < many_begins; place++) try_gap(index, string, begins[place], 0, room, cut);
    for (int place = 0; place < many_ends; place++) try_gap(index, string, 0, ends[place], room, cut);
    if (many_begins && many_ends) try_gap(index, string, begins[0], ends[0], room, cut);
}

/* The readings of one string from room for many. */
INLINE Readings readings_at(const Readings *readings, int64_t string) {
    return (Readings){
        readings->rows + string * WORDS_PER_READING, readings->probabilities + string * WORDS_PER_READING, readings->new_ + string,
        readings->parts + string, readings->part_rows + string * MAX_PARTS, readings->part_ends + string * MAX_PARTS,
        readings->evidence + string,
    };
}

/* readings.py: the softmax over the cheapest candidates, being new, and being several words. */
static void posterior(const Index *index, const Candidate *kept, int many, double utility_new, const Cut *cut, const Readings *one) {
    double utility[WORDS_PER_READING];
    const int is_cut = cut->cost < FAR_CUT;
    const double several = is_cut ? index->joined_constant - cut->cost / (double)UNIT : 0;
    for (int place = 0; place < many; place++) utility[place] = -kept[place].cost / (double)UNIT;
    double best = many && utility[0] > utility_new ? utility[0] : utility_new;
    if (is_cut && several > best) best = several;
    double own = exact_exp(utility_new - best), total = own;
    for (int place = 0; place < many; place++) total += utility[place] = exact_exp(utility[place] - best);
    const double joined = is_cut ? exact_exp(several - best) : 0;
    total += joined;
    for (int place = 0; place < WORDS_PER_READING; place++) {
        one->rows[place] = place < many ? index->table_rows[kept[place].word] : -1;
        one->probabilities[place] = place < many ? utility[place] / total : 0;
    }
    *one->new_ = own / total;
    *one->parts = joined / total;
    *one->evidence = best + exact_log(total);
    for (int place = 0; place < MAX_PARTS; place++) {
        one->part_rows[place] = place < cut->count ? cut->rows[place] : -1;
        one->part_ends[place] = place < cut->count ? cut->ends[place] : 0;
    }
}

/* Put the reading of a listed form; returns whether the string is one. */
static int put_form(const Index *index, const Words *words, int64_t word, const Readings *one) {
    const Forms *forms = &index->forms;
    if (!forms->count) return 0;
    const uint64_t hash = hash_of(words->codes + words->offsets[word], words->offsets[word + 1] - words->offsets[word]);
    int64_t low = 0, high = forms->count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (forms->hashes[middle] < hash) low = middle + 1;
        else high = middle;
    }
    if (low == forms->count || forms->hashes[low] != hash) return 0;
    memcpy(one->rows, forms->rows + low * WORDS_PER_READING, WORDS_PER_READING * sizeof *one->rows);
    memcpy(one->probabilities, forms->probabilities + low * WORDS_PER_READING, WORDS_PER_READING * sizeof *one->probabilities);
    memcpy(one->part_rows, forms->part_rows + low * MAX_PARTS, MAX_PARTS * sizeof *one->part_rows);
    memcpy(one->part_ends, forms->part_ends + low * MAX_PARTS, MAX_PARTS * sizeof *one->part_ends);
    *one->new_ = forms->new_[low], *one->parts = forms->parts[low], *one->evidence = forms->evidence[low];
    return 1;
}

/* The stages of reading. What a stage needs of memory, the stage before has sent for: meanwhile other strings are read. */
INLINE void begin_string(const Index *index, const Words *words, int64_t word, String *string) {
    const int64_t start = words->offsets[word];
    compare_as(index, words->codes + start, words->offsets[word + 1] - start, words->flags[word], string);
    string->key_count = string->length ? keys_of(index, string->letters, string->length, string->keys) : 0;
    for (int key = 0; key < string->key_count; key++) PREFETCH(index->bucket_starts + string->keys[key]);
}

INLINE void fetch_buckets(const Index *index, String *string) {
    for (int key = 0; key < string->key_count; key++) PREFETCH(index->bucket_places + index->bucket_starts[string->keys[key]]);
}

INLINE void fetch_spellings(const Index *index, const String *string) {
    for (int place = 0; place < string->found; place++)
        PREFETCH(index->spelled + index->entries[string->best[place].place].start);
}

/* readings.py, with_new_divided: the weight of new divided by a number, all probabilities by their sum. */
INLINE void divide_new(double divisor, const Readings *one) {
    double total = *one->new_ /= divisor;
    for (int place = 0; place < WORDS_PER_READING; place++) total += one->probabilities[place];
    total += *one->parts;
    if (!(total > 0)) total = 1;
    for (int place = 0; place < WORDS_PER_READING; place++) one->probabilities[place] /= total;
    *one->new_ /= total;
    *one->parts /= total;
    *one->evidence += exact_log(total);
}

static void read_words(const Index *index, const Words *words, IndexRoom *room, double new_divisor, const Readings *readings) {
    const int64_t count = words->count;
    for (int64_t step = 0; step < count + 5; step++) {
#define AT(stage) (step >= (stage) && step - (stage) < count)
#define STRING(stage) (&room->strings[(step - (stage)) % STAGES])
        if (AT(0)) begin_string(index, words, step, STRING(0));
        if (AT(1)) fetch_buckets(index, STRING(1));
        if (AT(2)) collect_words(index, STRING(2), &room->pools[step & 1]);
        if (AT(3)) find_candidates(index, STRING(3), &room->pools[~step & 1], room);
        if (AT(4)) fetch_spellings(index, STRING(4));
        if (AT(5)) {
            const int64_t word = step - 5;
            String *string = STRING(5);
            const Readings one = readings_at(readings, word);
            if (!put_form(index, words, word, &one)) {
                Candidate kept[WORDS_PER_READING];
                Cut cut = {.cost = FAR_CUT};
                int listed = 0;
                const int many = string->length ? cheapest(index, string, room, kept) : 0;
                const double utility = string->length ? utility_of_new(index, string, words->flags[word], &listed) : 0;
                if (string->length) find_cut(index, string, listed, utility, many ? kept[0].cost : NO_CANDIDATE, room, &cut);
                posterior(index, kept, many, utility, &cut, &one);
            }
            if (new_divisor != 1) divide_new(new_divisor, &one);
        }
    }
}

/* How much each word is spelled like a word: MIN_LIKENESS for what cannot be read. */
static void likeness(const Index *index, const Words *words, double *result) {
    String string;
    for (int64_t word = 0; word < words->count; word++) {
        int64_t start = words->offsets[word];
        compare_as(index, words->codes + start, words->offsets[word + 1] - start, words->flags[word], &string);
        result[word] = string.length ? bounded_likeness(index, string.codes, string.length) : MIN_LIKENESS;
    }
}

/* The respellings by what is written: row 0, of no spelling, has none. */
static void list_respellings(Index *index) {
    const int64_t spellings = index->spellings;
    int32_t many = 0;
    for (int64_t written = 0; written < spellings; written++) {
        index->respelling_starts[written] = many;
        for (int64_t spelling = 1; spelling < spellings && written; spelling++) {
            const int16_t cost = index->respelling[spelling * spellings + written];
            if (cost < FAR_COST) index->respellings[many++] = (Respelling){(int16_t)spelling, cost};
        }
    }
    index->respelling_starts[spellings] = many;
}

/* alignment.py, free: a mark that is left out, where that costs less than another mark. */
static int16_t free_cost(const int16_t *costs) {
    const int16_t bare = costs[KIND_BARE];
    return bare >= costs[KIND_CASE] ? 0 : bare ? bare : 1;
}

static int build_index(Index *index) {
    index->free_cost = free_cost(index->costs);
    const size_t words = (size_t)index->words, letters = (size_t)index->offsets[words];
    const size_t starts = ((size_t)1 << BUCKET_BITS) + 1, spellings = (size_t)index->spellings;
    char *memory = index->memory = large_memory(index, words * (sizeof(Record) + sizeof(Entry)) + 4 * starts + 4 * letters +
                                                4 * (spellings + 1) * (spellings + 1));
    if (!memory) return -1;
    index->records = (Record *)memory;
    index->entries = (Entry *)(memory += words * sizeof(Record));
    index->bucket_starts = (int32_t *)(memory += words * sizeof(Entry));
    index->spelled = (uint8_t *)(memory += 4 * starts);
    index->respelling_starts = (int32_t *)(memory += 4 * letters);
    index->respellings = (Respelling *)(memory + 4 * (spellings + 1));
    int32_t *order = malloc((words + 1) * sizeof *order);
    int failed = !order || sort_words(index, order) || fill_buckets(index, order);
    if (!failed) {
        describe_words(index, order);
        list_respellings(index);
        index->powers[0] = 1;
        for (int place = 0; place < MAX_WORD_LENGTH; place++) index->powers[place + 1] = index->powers[place] * BASE;
        for (int64_t ending = 0; ending < index->endings; ending++)
            index->ending_powers[ending] = index->powers[index->ending_sizes[ending]];
        failed = build_joined(index);
    }
    free(order);
    return failed ? -1 : 0;
}
