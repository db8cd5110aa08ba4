/* The kernels under libFuzzer, with ASan and UBSan: `make fuzz`.
 *
 * An input chooses one of some models, made by chance within what the binding lets through, and is read as words and
 * numbers. Every kernel of the processor is run beside the base one: a read or write beyond an array ends the run, and so
 * does a bit by which the two differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core.h"

enum { MODELS = 6, MOST_WORDS = 12, KNOWN = 400, UNITS = 50, NODES = 40, TRIE_BITS = 7, SLOTS = 1 << TRIE_BITS };
enum { JOINED = 80, FORMS = 12 };

static uint64_t state = 1;
static uint32_t chance(uint32_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % limit;
}

static void *room_for(size_t bytes) {
    void *room = malloc(bytes ? bytes : 1);
    if (!room) abort();
    return room;
}

#define FILLED(name, Number, count, value)                            \
    static Number *name(int64_t count) {                              \
        Number *numbers = room_for((size_t)count * sizeof(Number));   \
        for (int64_t place = 0; place < count; place++) numbers[place] = (value); \
        return numbers;                                               \
    }
static uint32_t most = 1;
FILLED(some_bytes, uint8_t, count, (uint8_t)chance(most))
FILLED(some_shorts, int16_t, count, (int16_t)chance(most))
FILLED(some_ints, int32_t, count, (int32_t)chance(most))
FILLED(some_codes, int8_t, count, (int8_t)((int)chance(255) - 127))
FILLED(some_floats, float, count, ((float)chance(2001) - 1000) / 500)
#define UP_TO(limit, made) (most = (uint32_t)(limit), made)

/* Costs are by chance, all nothing, or all the most that is let through. */
static uint32_t cost_limit;
static int16_t *some_costs(int64_t count, int limit) {
    int16_t *costs = UP_TO(limit + 1, some_shorts(count));
    for (int64_t place = 0; place < count && cost_limit != 1; place++) costs[place] = (int16_t)(cost_limit ? limit : 0);
    return costs;
}

static Index indexes[2][MODELS];
static Fold folds[MODELS];
static IndexRoom *index_rooms[2][MODELS]; /* which calls use one after the other, as the binding's calls do */
static FoldRoom *fold_rooms[2][MODELS];

static int is_less(const void *one, const void *other) {
    const uint64_t first = *(const uint64_t *)one, second = *(const uint64_t *)other;
    return (first > second) - (first < second);
}

/* Hashes, as near/lexicon.py has them, of words of up to `most_letters` of the letters that the seeds have most. */
static uint64_t *some_hashes(int64_t count, uint32_t most_letters) {
    uint64_t *hashes = room_for((size_t)count * sizeof *hashes);
    for (int64_t word = 0; word < count; word++) {
        hashes[word] = 0;
        for (uint32_t left = 1 + chance(most_letters); left; left--)
            hashes[word] = hashes[word] * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)"xyzabc"[chance(6)] + 1;
    }
    return hashes;
}

/* Rows from -1 to the most. */
static int32_t *some_rows(int64_t count, int64_t limit) {
    int32_t *rows = UP_TO(limit + 1, some_ints(count));
    for (int64_t place = 0; place < count; place++) rows[place]--;
    return rows;
}

static double *some_numbers(int64_t count, double largest) {
    double *numbers = room_for((size_t)count * sizeof *numbers);
    for (int64_t place = 0; place < count; place++) numbers[place] = ((double)chance(2001) / 1000 - 1) * largest;
    return numbers;
}

/* A lexicon, words that others are run together with, and listed forms. */
static void add_lexicon(Index *index, int model) {
    const int64_t bytes = model == 5 ? 8 : 1024;
    index->filter = UP_TO(model == 4 ? 1 : 256, some_bytes(bytes)), index->filter_bits = 8 * (uint64_t)bytes;
    index->grams = some_codes(1 << GRAM_BITS), index->gram_scale = model == 2 ? 1.0 : 0.01;
    index->endings = model == 4 ? 0 : model == 3 ? MAX_ENDINGS : 3;
    int64_t *sizes = room_for(MAX_ENDINGS * sizeof *sizes);
    for (int ending = 0; ending < MAX_ENDINGS; ending++) sizes[ending] = 1 + ending % MAX_ENDING;
    index->ending_hashes = some_hashes(index->endings, MAX_ENDING), index->ending_sizes = sizes;
    index->joined_words = model == 4 ? 1 : model == 5 ? 0 : JOINED;
    index->joined_hashes = some_hashes(index->joined_words, model == 1 ? 2 : 5);
    index->joined_rows = UP_TO(KNOWN, some_ints(index->joined_words));
    index->joined_costs = UP_TO(model == 1 ? 1 : model == 2 ? 1 << 20 : 200, some_ints(index->joined_words));
    index->joined_constant = model == 2 ? 1e6 : 4, index->join_cost = model == 1 ? 0 : model == 2 ? (1 << 16) - 1 : 20;
    Forms *forms = &index->forms;
    forms->count = model == 4 ? 0 : FORMS;
    uint64_t *hashes = some_hashes(forms->count, 3);
    qsort(hashes, (size_t)forms->count, sizeof *hashes, is_less);
    forms->hashes = hashes, forms->rows = some_rows(forms->count * WORDS_PER_READING, KNOWN);
    forms->probabilities = some_numbers(forms->count * WORDS_PER_READING, 1), forms->evidence = some_numbers(forms->count, 9);
    forms->new_ = some_numbers(forms->count, 1), forms->parts = some_numbers(forms->count, 1);
    forms->part_rows = some_rows(forms->count * MAX_PARTS, KNOWN), forms->part_ends = UP_TO(99, some_ints(forms->count * MAX_PARTS));
}

static Index some_index(int model) {
    static const int64_t sizes[MODELS] = {KNOWN, KNOWN, KNOWN, KNOWN, 1, 0};
    const int64_t symbols = model == 3 ? MAX_SYMBOLS : 40, spellings = model == 3 ? 256 : 5, words = sizes[model];
    Index index = {.symbols = symbols, .spellings = spellings, .words = words, .letter_e = 5};
    uint8_t *symbol_of = room_for(CODE_POINTS);
    cost_limit = model == 1 ? 0 : model == 2 ? 2 : 1;
    for (int code = 0; code < CODE_POINTS; code++) symbol_of[code] = code < 128 || model == 3 ? (uint8_t)(code % symbols) : 0;
    index.symbol_of = symbol_of;
    index.folded = UP_TO(symbols, some_bytes(symbols)), index.sound = UP_TO(model ? 256 : 4, some_bytes(symbols));
    uint8_t *is_letter = UP_TO(2, some_bytes(symbols));
    for (const char *letter = "xyzabc"; *letter && model < 3; letter++) is_letter[*letter % symbols] = 1; /* which can be cut */
    index.classes = UP_TO(DIGIT_CLASS + 1, some_bytes(symbols)), index.is_letter = is_letter;
    index.is_digit = UP_TO(2, some_bytes(symbols)), index.one = UP_TO(spellings, some_bytes(symbols));
    index.two = UP_TO(spellings, some_bytes(symbols * symbols));
    int16_t *costs = some_costs(KINDS + 1, 256);
    costs[KIND_DIGIT] = DIGIT_COST;
    index.costs = costs, index.substitution = some_costs(symbols * symbols, DIGIT_COST);
    index.respelling = some_costs(spellings * spellings, FAR_COST);
    double *weights = room_for(FEATURES * sizeof *weights);
    for (int feature = 0; feature < FEATURES; feature++) weights[feature] = ((double)chance(2001) - 1000) / (model == 2 ? 1e-3 : 500);
    index.new_weights = weights;
    int64_t *offsets = room_for((size_t)(words + 1) * sizeof *offsets);
    offsets[0] = 0;
    for (int64_t word = 0; word < words; word++) offsets[word + 1] = offsets[word] + 2 + chance(MAX_WORD_LENGTH - 1);
    index.offsets = offsets;
    /* few letters: words share buckets, and are candidates of each other */
    index.letters = UP_TO(model == 3 ? symbols : 4, some_bytes(offsets[words]));
    index.rank_bits = UP_TO(256, some_ints(words)), index.rank_costs = UP_TO(model == 2 ? 1 << 20 : 500, some_ints(words));
    index.table_rows = UP_TO(words + 1, some_ints(words)), index.part_costs = UP_TO(model == 2 ? 1 << 20 : 300, some_ints(words));
    add_lexicon(&index, model);
    return index;
}

static Fold some_fold(int model) {
    static const int64_t dims[MODELS] = {12, 1, 64, 71, 7, 300}, widths[MODELS] = {4, 1, 8, 3, 64, 5};
    Fold fold = {.dim = dims[model], .key_width = widths[model], .hidden = model % 2 ? 9 : 0, .ngrams = model % 3 ? 20 : 0};
    fold.is_int8 = model < 3, fold.is_mixed = model != 4, fold.with_characters = model != 4, fold.with_pieces = model != 5;
    fold.units = fold.unit_rows = UNITS, fold.rows = UNITS + fold.ngrams, fold.nodes = NODES, fold.trie_bits = TRIE_BITS;
    fold.character = UP_TO(8, some_ints(CODE_POINTS)), fold.row_of_unit = UP_TO(UNITS, some_ints(UNITS));
    int64_t *keys = room_for(SLOTS * sizeof *keys);
    for (int slot = 0; slot < SLOTS; slot++) keys[slot] = -1;
    int32_t *values = UP_TO(NODES, some_ints(SLOTS)), *pieces = UP_TO(UNITS + 1, some_ints(NODES));
    for (int node = 0; node < NODES; node++) pieces[node]--;
    for (int key = 0; key < SLOTS / 2; key++) { /* as units/trie.py stores them: from the hashed slot on, the first free */
        int64_t wanted = (int64_t)chance(NODES) << 20 | chance(8);
        uint64_t slot = (uint64_t)wanted * 0x9E3779B97F4A7C15u >> (64 - fold.trie_bits);
        while (keys[slot] != -1 && keys[slot] != wanted) slot = (slot + 1) % SLOTS;
        keys[slot] = wanted;
    }
    fold.trie_keys = keys, fold.trie_values = values, fold.piece_at = pieces;
    fold.trie = room_for(SLOTS * sizeof *fold.trie);
    for (int slot = 0; slot < SLOTS; slot++) fold.trie[slot] = (TrieSlot){keys[slot], values[slot], pieces[values[slot]]};
    fold.out = fold.is_int8 ? (void *)some_codes(fold.rows * fold.dim) : some_floats(fold.rows * fold.dim);
    fold.features = fold.is_int8 ? (void *)some_codes(UNITS * 2 * fold.key_width) : some_floats(UNITS * 2 * fold.key_width);
    fold.out_scale = some_floats(fold.rows), fold.features_scale = some_floats(UNITS);
    fold.positions = some_floats(MAX_UNITS * MAX_UNITS), fold.shares = some_floats((MAX_UNITS + 1) * MAX_UNITS);
    if (fold.hidden) {
        fold.head[0] = some_floats(fold.dim * fold.hidden), fold.head[1] = some_floats(fold.hidden);
        fold.head[2] = some_floats(fold.dim * fold.hidden), fold.head[3] = some_floats(fold.dim);
    }
    return fold;
}

/* The kernels of this processor first, then the base ones: what both must agree with. */
static const Kernels *both[2] = {&base_kernels, &base_kernels};

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) both[0] = &avx2_kernels;
#endif
    for (int model = 0; model < MODELS; model++) {
        folds[model] = some_fold(model);
        indexes[0][model] = indexes[1][model] = some_index(model);
        for (int kind = 0; kind < 2; kind++) {
            if (both[kind]->build_index(&indexes[kind][model])) abort();
            index_rooms[kind][model] = both[kind]->index_room(&indexes[kind][model]);
            fold_rooms[kind][model] = both[kind]->fold_room(&folds[model]);
        }
    }
    printf("kernels: %s beside %s\n", both[0]->name, both[1]->name);
    return 0;
}

static void compare(const char *name, const void *one, const void *other, size_t bytes) {
    if (!bytes || !memcmp(one, other, bytes)) return;
    fprintf(stderr, "%s: %s and %s differ\n", name, both[0]->name, both[1]->name);
    abort();
}

/* Compare what both kernels wrote, and free it. */
static void compare_and_free(const char *name, void *results[2], size_t bytes) {
    compare(name, results[0], results[1], bytes);
    free(results[0]), free(results[1]);
}

#define RESULTS(name, count, Number) \
    const size_t name##_bytes = (size_t)(count) * sizeof(Number); \
    void *name[2] = {room_for(name##_bytes), room_for(name##_bytes)}; \
    memset(name[0], 0, name##_bytes), memset(name[1], 0, name##_bytes)

/* Room for the readings of so many strings, all of it zeros. */
static Readings readings_room(int64_t count) {
    const size_t words = (size_t)count * WORDS_PER_READING, parts = (size_t)count * MAX_PARTS, strings = (size_t)count;
#define ZEROS(many, Number) memset(room_for((many) * sizeof(Number)), 0, (many) * sizeof(Number))
    return (Readings){ZEROS(words, int32_t), ZEROS(words, double), ZEROS(strings, double), ZEROS(strings, double),
                      ZEROS(parts, int32_t), ZEROS(parts, int32_t), ZEROS(strings, double)};
}

static void free_readings(Readings *readings) {
    free(readings->rows), free(readings->probabilities), free(readings->new_), free(readings->parts);
    free(readings->part_rows), free(readings->part_ends), free(readings->evidence);
}

/* Strings in context, by scores as they may be; and how much they weigh. */
static void read_some_in_context(const Readings *alone, int64_t strings) {
    const int64_t count = strings ? 1 + chance(9) : 0;
    double *scores = some_numbers(count * (WORDS_PER_READING + 1), chance(2) ? 3 : 900);
    float *weights = some_floats(KNOWN + 1);
    int64_t *numbers = room_for((size_t)count * sizeof *numbers), *asked = room_for((size_t)count * sizeof *asked);
    for (int64_t one = 0; one < count; one++) numbers[one] = chance((uint32_t)strings), asked[one] = (int64_t)chance((uint32_t)count + 1) - 1;
    RESULTS(totals, count, float);
    Readings readings[2];
    for (int kind = 0; kind < 2; kind++) {
        readings[kind] = readings_room(count);
        both[kind]->read_in_context(alone, numbers, asked, count, scores, 1.5, &readings[kind]);
        both[kind]->weigh_readings(&readings[kind], count, weights, 0.5, totals[kind]);
    }
    compare("probabilities in context", readings[0].probabilities, readings[1].probabilities, (size_t)count * WORDS_PER_READING * sizeof(double));
    compare("rows in context", readings[0].rows, readings[1].rows, (size_t)count * WORDS_PER_READING * sizeof(int32_t));
    compare("evidence in context", readings[0].evidence, readings[1].evidence, (size_t)count * sizeof(double));
    compare_and_free("weights in texts", totals, totals_bytes);
    for (int kind = 0; kind < 2; kind++) free_readings(&readings[kind]);
    free(scores), free(weights), free(numbers), free(asked);
}

static void read_words(int model, const Words *words) {
    const size_t strings = (size_t)words->count, numbers = strings * sizeof(double);
    RESULTS(likeness, words->count, double);
    Readings readings[2];
    for (int kind = 0; kind < 2; kind++) {
        const Index *index = &indexes[kind][model];
        readings[kind] = readings_room(words->count);
        both[kind]->read(index, words, index_rooms[kind][model], words->count & 1 ? 1 : 2.7, &readings[kind]);
        both[kind]->likeness(index, words, likeness[kind]);
    }
    const Readings *one = &readings[0], *other = &readings[1];
    compare("rows", one->rows, other->rows, strings * WORDS_PER_READING * sizeof(int32_t));
    compare("probabilities", one->probabilities, other->probabilities, numbers * WORDS_PER_READING);
    compare("new", one->new_, other->new_, numbers), compare("parts", one->parts, other->parts, numbers);
    compare("part_rows", one->part_rows, other->part_rows, strings * MAX_PARTS * sizeof(int32_t));
    compare("part_ends", one->part_ends, other->part_ends, strings * MAX_PARTS * sizeof(int32_t));
    compare("evidence", one->evidence, other->evidence, numbers);
    compare_and_free("likeness", likeness, likeness_bytes);
    read_some_in_context(one, words->count);
    for (int kind = 0; kind < 2; kind++) free_readings(&readings[kind]);
}

static void embed_words(int model, const Words *words) {
    const Fold *fold = &folds[model];
    RESULTS(vectors, words->count * fold->dim, float);
    RESULTS(norms, words->count, float);
    RESULTS(counts, 4 * words->count, int64_t);
    for (int kind = 0; kind < 2; kind++) {
        both[kind]->embed(fold, words, fold_rooms[kind][model], vectors[kind], norms[kind]);
        both[kind]->count_units(fold, words, fold_rooms[kind][model], counts[kind]);
        both[kind]->normalize(vectors[kind], words->count, fold->dim);
    }
    compare_and_free("vectors", vectors, vectors_bytes), compare_and_free("norms", norms, norms_bytes);
    compare_and_free("counts", counts, counts_bytes);
}

/* Words of which each second one is torn: a blank stands in it. */
static Words torn_words(const Words *words) {
    const int64_t letters = words->offsets[words->count];
    uint32_t *codes = room_for((size_t)(letters + words->count) * sizeof *codes);
    int64_t *offsets = room_for((size_t)(words->count + 1) * sizeof *offsets), end = 0;
    for (int64_t word = 0; word < words->count; word++) {
        const int64_t start = words->offsets[word], length = words->offsets[word + 1] - start, cut = chance((uint32_t)length + 1);
        offsets[word] = end;
        for (int64_t place = 0; place < length; place++) {
            if (place == cut && word % 2) codes[end++] = ' ';
            codes[end++] = words->codes[start + place];
        }
    }
    offsets[words->count] = end;
    return (Words){words->count, codes, offsets, words->flags};
}

/* The lines of texts: chunks hold rows, signs and strings by chance, and strings are asked about by chance. */
static void find_some_windows(const Left *left, int64_t texts) {
    const int64_t strings = 1 + chance(9), chunks = 1 + chance(5), parts = chance(12), words = left->words.count, others = left->chunks.count;
    int64_t *starts = room_for((size_t)(chunks + 1) * sizeof *starts), *numbers = room_for((size_t)(words + others) * sizeof *numbers);
    int32_t *ids = room_for((size_t)parts * sizeof *ids), *meant = UP_TO(9, some_ints(strings));
    uint8_t *asked = UP_TO(2, some_bytes(strings));
    for (int64_t part = 0; part < parts; part++) ids[part] = chance(2) ? (int32_t)chance(12) - 5 : FIRST_STRING - (int32_t)chance((uint32_t)strings);
    for (int64_t chunk = 1; chunk < chunks; chunk++) starts[chunk] = chunk * parts / chunks;
    starts[0] = 0, starts[chunks] = parts;
    for (int64_t word = 0; word < words + others; word++) numbers[word] = chance((uint32_t)(word < words ? strings : chunks));
    for (int64_t string = 0; string < strings; string++) meant[string] = meant[string] > 4 ? meant[string] : NEW_SIGN;
    const Lines lines = {texts, left->line.ids, left->lengths, numbers, numbers + words, starts, ids, meant, asked};
    RESULTS(odd, texts, uint8_t);
    Windows windows[2];
    memset(windows, 0, sizeof windows);
    for (int kind = 0; kind < 2; kind++)
        if (both[kind]->find_windows(&lines, odd[kind], &windows[kind])) abort();
    if (windows[0].count != windows[1].count) abort();
    compare("windows", windows[0].around, windows[1].around, (size_t)windows[0].count * PLACES * sizeof(int32_t));
    compare("asked", windows[0].asked, windows[1].asked, (size_t)windows[0].count * sizeof(Asked));
    compare_and_free("odd", odd, odd_bytes);
    for (int kind = 0; kind < 2; kind++) free(windows[kind].around), free(windows[kind].asked);
    free(starts), free(numbers), free(ids), free(meant), free(asked);
}

/* The words as a map of words, and as texts in which some of them stand. */
static void sum_some_texts(const Words *words, uint32_t seed) {
    state = seed;
    const int64_t dim = 1 + chance(70), letters = words->offsets[words->count];
    uint8_t *text = room_for((size_t)letters);
    float *weights = some_floats(words->count);
    int8_t *rows = some_codes(words->count * dim), *directions = some_codes(dim << PAIR_BITS);
    for (int64_t place = 0; place < letters; place++) text[place] = (uint8_t)(words->codes[place] & 127);
    WordMap maps[2] = {{.count = words->count, .text = text, .offsets = words->offsets, .seed = seed}};
    maps[1] = maps[0];
    const Rows table = {.kind = ROWS_INT8, .count = words->count, .dim = dim, .codes = rows};
    const Signatures signatures = {dim, directions};
    const int with_signatures = (int)chance(2), lowercase = (int)chance(2), may_be_torn = (int)chance(2);
    int32_t *costs = UP_TO(400, some_ints(words->count));
    const Words texts = torn_words(words);
    RESULTS(sums, words->count * dim, float);
    RESULTS(totals, words->count, double);
    RESULTS(lengths, words->count, int64_t);
    Left left[2];
    memset(left, 0, sizeof left);
    const int with_lines = (int)chance(2);
    for (int kind = 0; kind < 2; kind++) {
        if (with_lines) left[kind].lengths = lengths[kind];
        TextRoom *room = both[kind]->text_room(dim);
        if (!room || both[kind]->build_map(&maps[kind])) abort();
        const TextSource source = {&maps[kind], &table, weights, with_signatures ? &signatures : NULL, 0.5f, lowercase,
                                   may_be_torn ? costs : NULL, 90, 250};
        if (both[kind]->sum_texts(&source, texts.codes, texts.offsets, texts.count, room, &left[kind], sums[kind], totals[kind])) abort();
        for (int64_t word = 0; word < words->count; word++) {
            const int64_t start = words->offsets[word], row = both[kind]->find_word(&maps[kind], words->codes + start, words->offsets[word + 1] - start, 0);
            if (row >= words->count || row < -1) abort();
        }
        free(room), free(maps[kind].slots);
    }
    if (left[0].words.count != left[1].words.count || left[0].chunks.count != left[1].chunks.count) abort();
    compare("words", left[0].words.chunks, left[1].words.chunks, (size_t)left[0].words.count * sizeof(Chunk));
    compare("chunks", left[0].chunks.chunks, left[1].chunks.chunks, (size_t)left[0].chunks.count * sizeof(Chunk));
    if (left[0].line.count != left[1].line.count) abort();
    compare("lines", left[0].line.ids, left[1].line.ids, (size_t)left[0].line.count * sizeof(int32_t));
    if (with_lines) find_some_windows(&left[0], texts.count);
    else memset(lengths[0], 0, lengths_bytes), memset(lengths[1], 0, lengths_bytes);
    compare_and_free("sums", sums, sums_bytes), compare_and_free("totals", totals, totals_bytes);
    compare_and_free("lengths", lengths, lengths_bytes);
    for (int kind = 0; kind < 2; kind++) free(left[kind].words.chunks), free(left[kind].chunks.chunks), free(left[kind].line.ids);
    free(text), free(weights), free(rows), free(directions), free(costs);
    free((void *)(uintptr_t)texts.codes), free((void *)(uintptr_t)texts.offsets);
}

/* Rows of every kind, taken, mixed and added up. */
static void sum_some_rows(uint32_t seed) {
    state = seed;
    const int64_t known = 1 + chance(20), count = chance(8), dim = 1 + chance(140), texts = chance(5);
    Rows table = {.kind = (RowKind)chance(4), .count = known, .dim = dim};
    const int64_t bytes = known * (table.kind == ROWS_FLOAT32 ? 4 * dim : table.kind == ROWS_FLOAT16 ? 2 * dim
                                   : table.kind == ROWS_INT8 ? dim : (dim + 1) / 2);
    uint8_t *codes = UP_TO(table.kind == ROWS_FLOAT16 ? 60 : 256, some_bytes(bytes));
    float *scale = some_floats(known), *weights = some_floats(known);
    for (int64_t row = 0; table.kind == ROWS_FLOAT32 && row < known * dim; row++) ((float *)(void *)codes)[row] = (float)row / 7;
    for (int level = 0; level < 16; level++) table.levels[level] = (float)level - 8;
    table.codes = codes, table.scale = table.kind == ROWS_FLOAT32 ? NULL : scale;
    int64_t *chosen = room_for((size_t)count * sizeof *chosen), ends[6] = {0};
    Readings readings = readings_room(count);
    for (int64_t place = 0; place < count; place++) {
        chosen[place] = chance((uint32_t)known);
        readings.new_[place] = chance(3) / 2.0, readings.parts[place] = chance(3) / 2.0;
    }
    for (int64_t place = 0; place < count * WORDS_PER_READING; place++) {
        readings.rows[place] = (int32_t)chance((uint32_t)known + 1) - 1;
        readings.probabilities[place] = chance(3) / 10.0;
    }
    for (int64_t place = 0; place < count * MAX_PARTS; place++) readings.part_rows[place] = (int32_t)chance((uint32_t)known + 1) - 1;
    RESULTS(taken, count * dim, float);
    RESULTS(mixed, count * dim, float);
    RESULTS(sums, texts * dim, float);
    float *vectors = some_floats(known * dim);
    for (int64_t text = 0; text < texts; text++) ends[text + 1] = text == texts - 1 ? count : ends[text] + (count - ends[text]) / 2;
    const double new_weight = chance(2) ? 0.5 : -1;
    for (int kind = 0; kind < 2; kind++) {
        both[kind]->take(&table, chosen, count, taken[kind]);
        both[kind]->mix(&table, count, &readings, weights, new_weight, 0.05, mixed[kind]);
        both[kind]->sum_rows(vectors, dim, chosen, ends, texts, sums[kind]);
    }
    compare_and_free("take", taken, taken_bytes), compare_and_free("mix", mixed, mixed_bytes);
    compare_and_free("sum_rows", sums, sums_bytes);
    free(codes), free(scale), free(weights), free(chosen), free(vectors), free_readings(&readings);
}

static void search_some(uint32_t seed) {
    state = seed;
    Clusters known = {.width = LANES * (1 + chance(3)), .clusters = 1 + chance(6), .words = chance(60), .probes = 1 + chance(8)};
    known.centre_shift = (int)chance(12), known.code_shift = (int)chance(12);
    const int64_t count = chance(4), best = chance(70);
    int8_t *centres = some_codes(known.clusters * known.width), *codes = some_codes(known.words * known.width);
    int64_t *starts = room_for((size_t)(known.clusters + 1) * sizeof *starts);
    starts[0] = 0;
    for (int64_t cluster = 0; cluster < known.clusters; cluster++)
        starts[cluster + 1] = cluster + 1 == known.clusters ? known.words
                                                            : starts[cluster] + chance((uint32_t)(known.words - starts[cluster]) + 1);
    known.centres = centres, known.codes = codes, known.starts = starts;
    int16_t *queries = UP_TO(chance(2) ? 128 : 1 << 15, some_shorts(count * known.width));
    RESULTS(keys, count * best, int32_t);
    for (int kind = 0; kind < 2; kind++)
        if (both[kind]->search(&known, queries, count, best, keys[kind])) abort();
    compare_and_free("search", keys, keys_bytes);
    free(centres), free(codes), free(starts), free(queries);
}

/* Records by their keys, by chance. */
static void join_some(uint32_t seed) {
    state = seed;
    Postings table = {.keys = 1 + chance(12), .records = 1 + chance(30)};
    const int64_t count = chance(5), most = chance(8);
    int64_t *offsets = room_for((size_t)(table.keys + 1) * sizeof *offsets), *ends = room_for((size_t)(count + 1) * sizeof *ends);
    int32_t *rows = room_for((size_t)(table.keys * table.records) * sizeof *rows), *weights = room_for((size_t)table.keys * sizeof *weights);
    float *scales = room_for((size_t)table.records * sizeof *scales);
    int64_t postings = 0;
    for (int64_t key = 0; key < table.keys; key++) {
        offsets[key] = postings, weights[key] = 1 + (int32_t)chance(MAX_JOIN_WEIGHT);
        for (int32_t record = 0; record < table.records; record++)
            if (chance(2)) rows[postings++] = record;
    }
    offsets[table.keys] = postings;
    for (int64_t record = 0; record < table.records; record++) scales[record] = 1.0f / (float)(1 + chance(4));
    table.offsets = offsets, table.rows = rows, table.weights = weights, table.scales = scales;
    int32_t *keys = room_for((size_t)(count * 10) * sizeof *keys);
    ends[0] = 0;
    for (int64_t query = 0; query < count; query++) {
        ends[query + 1] = ends[query] + chance(10);
        for (int64_t place = ends[query]; place < ends[query + 1]; place++) keys[place] = (int32_t)chance((uint32_t)table.keys);
    }
    RESULTS(found, count * most, int32_t);
    RESULTS(sums, count * most, int32_t);
    for (int kind = 0; kind < 2; kind++)
        if (both[kind]->join(&table, keys, ends, count, most, found[kind], sums[kind])) abort();
    compare_and_free("join", found, found_bytes);
    compare_and_free("join", sums, sums_bytes);
    free(offsets), free(ends), free(rows), free(weights), free(scales), free(keys);
}

/* A model of context by chance, for windows with known words, signs and nothing. */
static void read_some_windows(uint32_t seed) {
    state = seed;
    const int64_t known = 1 + chance(chance(2) ? 40 : 2000), dim = 1 + chance(40), width = 1 + chance(chance(2) ? 20 : MAX_WIDTH);
    const int64_t side = 1 + chance(chance(2) ? 3 : PLACES / 2), heads = 1 + chance(4), hidden = 1 + chance(40), second = 1 + chance(40);
    const int64_t frequent = 1 + chance(60), count = chance(7), asked = chance(5);
    const int64_t sizes[LAYERS][2] = {
        {2 * side * width, hidden}, {hidden, heads * width}, {hidden + heads * width, second}, {second, hidden},
        {hidden, dim}, {hidden, width}, {hidden, 1}, {dim, width},
    };
    Rows table = {.kind = (RowKind)(ROWS_FLOAT16 + chance(3)), .count = known, .dim = dim};
    for (int level = 0; level < 16; level++) table.levels[level] = (float)level / 4 - 2;
    const int64_t bytes = known * (table.kind == ROWS_FLOAT16 ? 2 * dim : table.kind == ROWS_INT8 ? dim : (dim + 1) / 2);
    uint8_t *codes = UP_TO(table.kind == ROWS_FLOAT16 ? 60 : 256, some_bytes(bytes));
    float *row_scale = some_floats(known), *scales = some_floats(4);
    table.codes = codes, table.scale = row_scale;
    Context contexts[2] = {{.table = &table, .dim = dim, .width = width, .hidden = hidden, .heads = heads, .side = side, .frequent = frequent}};
    Context *context = &contexts[0];
    context->common = frequent < known ? frequent : known;
    int8_t *own = some_codes(frequent * width), *weights[LAYERS];
    float *own_scale = some_floats(width), *own_bias = some_floats(frequent), *bias = some_floats(heads * PLACES), *numbers[LAYERS][2];
    int16_t *signs = UP_TO(2 * MOST + 1, some_shorts(SIGN_ROWS * width));
    for (int64_t place = 0; place < SIGN_ROWS * width; place++) signs[place] = (int16_t)(signs[place] - MOST);
    for (int64_t place = 0; place < width; place++) own_scale[place] *= 10;
    context->own = own, context->own_scale = own_scale, context->own_bias = own_bias, context->signs = signs;
    static const float powers[] = {1e-8f, 1e-6f, 1e-4f, 1e-3f, 1e-2f, 1, 5e5f};
    for (int place = 0; place < 3; place++) scales[place] *= powers[chance(7)];
    context->position_bias = bias, context->scales = scales;
    for (int number = 0; number < LAYERS; number++) {
        weights[number] = some_codes(sizes[number][0] * sizes[number][1]);
        for (int part = 0; part < 2; part++) numbers[number][part] = some_floats(sizes[number][1]);
        const float size = powers[2 + chance(5)];
        for (int64_t out = 0; out < sizes[number][1]; out++) numbers[number][0][out] *= size, numbers[number][1][out] *= 100;
        context->given[number] = (Given){weights[number], numbers[number][0], number == LAYER_PROJECTION ? NULL : numbers[number][1],
                                         sizes[number][0], sizes[number][1]};
    }
    int32_t *windows = UP_TO(known - PAD, some_ints(count * PLACES)), *candidates = some_rows(count * asked, known);
    const uint32_t signs_of = chance(4);
    const int32_t step = chance(2) ? 512 : 1; /* words whose x would take the same room */
    for (int64_t place = 0; place < count * PLACES; place++) {
        windows[place] += PAD;
        if (windows[place] >= step) windows[place] -= windows[place] % step;
        if (chance(4) < signs_of) windows[place] = chance(2) ? PAD : -1 - (int32_t)chance(5);
    }
    contexts[1] = contexts[0];
    RESULTS(scores, count * (asked + 1), double);
    RESULTS(again, count * (asked + 1), double);
    RESULTS(vectors, count * dim, float);
    for (int kind = 0; kind < 2; kind++) {
        if (both[kind]->build_context(&contexts[kind])) abort();
        ContextRoom *room = both[kind]->context_room(&contexts[kind]);
        if (!room) abort();
        both[kind]->score_windows(&contexts[kind], windows, candidates, count, asked, room, scores[kind]);
        both[kind]->expect_vectors(&contexts[kind], windows, count, room, vectors[kind]);
        for (int64_t place = 0; place < count; place++) /* one at a time, with what the calls before have kept */
            both[kind]->score_windows(&contexts[kind], windows + place * PLACES, candidates + place * asked, 1, asked, room,
                                      (double *)again[kind] + place * (asked + 1));
        compare("scores of one and of all", scores[kind], again[kind], scores_bytes);
        free(room), free(contexts[kind].memory);
    }
    compare_and_free("scores", scores, scores_bytes), compare_and_free("expected", vectors, vectors_bytes);
    free(again[0]), free(again[1]);
    for (int number = 0; number < LAYERS; number++) free(weights[number]), free(numbers[number][0]), free(numbers[number][1]);
    free(codes), free(row_scale), free(scales), free(own), free(own_scale), free(own_bias), free(bias), free(signs);
    free(windows), free(candidates);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint32_t others[] = {0xE9, 0x130, 0xDF, 0x3B1, 0x4E2D, 0xD800, 0x1F642, CODE_POINTS - 1};
    if (size < 5) return 0;
    const int model = data[0] % MODELS, flags = data[0] / MODELS, part = data[1] % 6; /* one at a time: more inputs a second */
    uint32_t seed;
    memcpy(&seed, data + 1, sizeof seed);
    if (part == 3) {
        sum_some_rows(seed);
        search_some(seed);
        join_some(seed);
        return 0;
    }
    if (part == 5) {
        read_some_windows(seed);
        return 0;
    }
    /* Words end with a byte 0; bytes from 128 on are code points from elsewhere, and say it again up to 16 times. */
    uint32_t codes[MOST_WORDS * LONGEST];
    int64_t offsets[MOST_WORDS + 1] = {0}, count = 0, end = 0;
    uint8_t kinds[MOST_WORDS];
    for (size_t place = 5; place < size && count < MOST_WORDS; place++) {
        const int times = data[place] < 128 ? 1 : 1 + (data[place] >> 3 & 15);
        for (int time = 0; time < times && end - offsets[count] < LONGEST && data[place]; time++)
            codes[end++] = data[place] < 128 ? data[place] : others[data[place] & 7];
        if (data[place] && place + 1 < size) continue;
        kinds[count] = (uint8_t)((flags & (IS_NAME | IS_CAPITALS)) | (end - offsets[count] > MAX_STRETCHED ? IS_TOO_LONG : 0));
        offsets[++count] = end;
    }
    uint32_t *own = room_for((size_t)end * sizeof *own); /* no longer than it is: what is read beyond it shows */
    memcpy(own, codes, (size_t)end * sizeof *own);
    const Words words = {count, own, offsets, kinds};
    if (part == 0) embed_words(model, &words);
    else if (part == 4) sum_some_texts(&words, seed);
    else read_words(model, &words);
    free(own);
    return 0;
}
