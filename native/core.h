/* What the kernels compute with and what they offer; no Python here.
 *
 * The binding (module.c) checks every size once, before a kernel sees it; a kernel trusts what stands in these structs.
 * src/lovevec says what is computed and why (near/, engine/, texts/, attach/); here is how it is done fast. All sums are
 * added up in one order and nothing is fused, so that results have the same bits on every processor.
 */
#ifndef LOVEVEC_CORE_H
#define LOVEVEC_CORE_H

#include <stdint.h>

#if defined(__GNUC__)
#define PREFETCH(place) __builtin_prefetch(place)
#define INLINE static inline __attribute__((always_inline))
#else
#define PREFETCH(place) ((void)0)
#define INLINE static inline
#endif

/* The lower case of a plain letter; other characters stay. */
INLINE uint32_t lower(uint32_t code) { return code + (code >= 'A' && code <= 'Z' ? 32 : 0); }

enum {
    LONGEST = 100,           /* code points of a word, at most (units/characters.py) */
    CODE_POINTS = 0x110000,  /* of Unicode */
    MAX_SYMBOLS = 256,       /* of an alphabet (near/symbols.py), 0 being any other character */
    MAX_WORD_LENGTH = 32,    /* letters of a known word, and of a string that may be near one (near/index.py) */
    MAX_STRETCHED = 48,      /* characters of such a string before repeated letters are left out (near/reader.py) */
    PREFIX = 6,
    SOUND_LENGTH = 12,
    DELETE_MASKS = 22,
    KEYS_PER_WORD = DELETE_MASKS + SOUND_LENGTH + 1,
    BUCKET_BITS = 20,
    WORDS_PER_BUCKET = 512,
    MAX_CANDIDATES = 48,
    MAX_QUICK_GAP = 20,
    MAX_QUICK_SCORE = 1 << 10,
    LETTER_BITS = 29,
    WORDS_PER_READING = 10,
    MAX_COST_GAP = 256,      /* near/readings.py; costs are whole numbers of 1/UNIT nat */
    UNIT = 32,
    FAR_COST = 12000,        /* near/alignment.py */
    DIGIT_COST = 512,        /* of losing or adding a digit, or taking it for another; what costs so much is no candidate */
    FEATURES = 11,           /* near/novelty.py */
    MIN_LIKENESS = -6,
    MAX_LIKENESS = 4,
    MAX_CAPITALS = 5,
    PROBES = 7,              /* near/lexicon.py */
    GRAM_BITS = 19,
    MIN_GRAM = 2,
    MAX_GRAM = 6,
    BEGIN = 0,
    END = 1,
    MAX_CUT = 4,
    MIN_STEM = 4,
    MAX_ENDINGS = 16,
    MAX_ENDING = 4,
    MIN_JOINED_LENGTH = 4,   /* near/joined.py */
    MAX_PARTS = 6,
    MAX_PART = 20,
    MIN_DAMAGED_LENGTH = 7,
    MIN_DAMAGED_PART = 3,
    BEGINNINGS = 2,
    MIN_SHARE = 3,
    MAX_COST_PER_LETTER = 40,
    MULTIPLE = 720720,
    FAR_CUT = 1 << 24,
    JOINED_BITS = 19,
    MIN_TORN_LENGTH = 5,     /* near/torn.py */
    MIN_UNKNOWN_LENGTH = 6,
    MIN_UNKNOWN_PART = 2,
    LEAST_GAIN = 102,
    MAX_UNITS = 2 * LONGEST + 3,          /* engine/fold.py: [CLS] characters [SUB] pieces [SEP] */
    MAX_NGRAMS = 2 * (LONGEST + 2),
    PLACE_BITS = 16,         /* attach/neighbors.py */
    MAX_JOIN_WEIGHT = 1 << 14, MAX_JOIN_KEYS = 1 << 16, /* search/blocking.py; their product is an int32 */
    LANES = 64,
    PLACES = 32,             /* near/context.py */
    STOP = -1,               /* texts/sentence.py */
    PAUSE = -2,
    NEW_SIGN = -3,
    PAD = -6,
    UNKNOWN_WORD = -7,
    OTHER_CHUNK = -8,
    MAY_BE_TORN = -9,        /* two chunks may hold one word: what stands there only Python can say */
    FIRST_STRING = -16,
    SIGN_ROWS = 6,
    MOST = 4095,
    ROW_SCALE = 4096,
    SHARE_SCALE = 4096,
    MAX_HEADS = 16,
    MAX_WIDTH = 128,
    MAX_INPUTS = 4096,
    MAX_FREQUENT = 1 << 16
};

/* Kinds of slips, in the order of KINDS in near/symbols.py. */
enum {
    KIND_CASE = 5, KIND_LOST_TWIN, KIND_LOST_VOWEL, KIND_LOST_H, KIND_LOST_END, KIND_LOST,
    KIND_EXTRA_TWIN, KIND_EXTRA_VOWEL, KIND_EXTRA_JOINT, KIND_EXTRA,
    KIND_SWAP, KIND_RESPELLED, KIND_MISPRINT, KIND_FIRST, KIND_LAST, KIND_BARE, KINDS,
    KIND_DIGIT = KINDS /* near/alignment.py: of a digit, whatever befalls it */
};
enum { DIGIT_CLASS = 4 };

/* Words as code points, normalised: those of word w from offsets[w] to offsets[w + 1], at most LONGEST. */
enum { IS_NAME = 1, IS_CAPITALS = 2, IS_TOO_LONG = 4 };
typedef struct {
    int64_t count;
    const uint32_t *codes;
    const int64_t *offsets;
    const uint8_t *flags; /* [count] */
} Words;

/* A known word: where its letters begin, how many there are, whether some are rare, what its rank costs, and its number. */
typedef struct { int32_t start; int16_t size, is_rare; int32_t cost, word; } Entry;

/* A spelling for which another one is written, and what that costs. */
typedef struct { int16_t spelling, cost; } Respelling;

/* What the quick score of a known word is computed from: bits of its pairs of letters and of its letters; its length,
 * what its rank costs, and its first letter, a byte each. */
typedef struct { uint32_t pairs[2], letters, rest; } Record;

/* A place of a hash table of words: the highest bits of a hash, and which word has it, -1 for none. */
typedef struct { uint32_t mark; int32_t word; } JoinedSlot;

/* Forms that stand for known words, as readings, by the hashes of their code points, in order. */
typedef struct {
    int64_t count;
    const uint64_t *hashes;
    const int32_t *rows;           /* [count, WORDS_PER_READING] */
    const double *probabilities;   /* [count, WORDS_PER_READING] */
    const double *new_, *parts;    /* [count] */
    const int32_t *part_rows, *part_ends; /* [count, MAX_PARTS] */
    const double *evidence;        /* [count] */
} Forms;

/* Room for readings (near/readings.py). */
typedef struct {
    int32_t *rows;                 /* [strings, WORDS_PER_READING] */
    double *probabilities;         /* [strings, WORDS_PER_READING] */
    double *new_, *parts;          /* [strings] */
    int32_t *part_rows, *part_ends; /* [strings, MAX_PARTS] */
    double *evidence;              /* [strings] */
} Readings;

/* Known words, a channel, a lexicon and listed forms, by which strings are read. */
typedef struct {
    int64_t symbols;             /* of the alphabet */
    const uint8_t *symbol_of;    /* [CODE_POINTS] */
    const uint8_t *folded, *sound, *classes, *is_letter, *is_digit; /* [symbols] */
    uint8_t letter_e;            /* the symbol of e */
    const int16_t *costs;        /* [KINDS + 1] */
    int16_t free_cost;           /* of a letter for another that costs nothing on top at an end of the word; 0 for none */
    const int16_t *substitution; /* [symbols, symbols] */
    const uint8_t *one;          /* [symbols] numbers of spellings */
    const uint8_t *two;          /* [symbols, symbols] */
    int64_t spellings;
    const int16_t *respelling;   /* [spellings, spellings] */
    const double *new_weights;   /* [FEATURES] */
    const uint8_t *filter;       /* [filter_bits / 8] of the lexicon */
    uint64_t filter_bits;        /* a power of two */
    const int8_t *grams;         /* [2^GRAM_BITS] */
    double gram_scale;
    int64_t endings;
    const uint64_t *ending_hashes; /* [endings] */
    const int64_t *ending_sizes; /* [endings] letters */
    int64_t joined_words;
    const uint64_t *joined_hashes; /* [joined_words] */
    const int32_t *joined_rows, *joined_costs; /* [joined_words] */
    double joined_constant;
    int32_t join_cost;
    Forms forms;

    int64_t words;
    const uint8_t *letters;      /* symbols of the words, one word after the other */
    const int64_t *offsets;      /* [words + 1] */
    const int32_t *rank_bits, *rank_costs, *part_costs, *table_rows; /* [words] */

    /* Made of the above by build_index, in two pieces of memory: that of the bucket's words, and one for the rest. */
    void *memory;
    int32_t *bucket_places;      /* the words of each bucket, by their places */
    int32_t *bucket_starts;      /* [2^BUCKET_BITS + 1] */
    /* By place: words in the order of their letters, so that those of one bucket lie side by side. */
    Record *records;             /* [words] */
    Entry *entries;       /* [words] */
    uint8_t *spelled;            /* four bytes a letter: symbol, kind of slip that leaves it out, spelling with the letter before, and
                                    the bit of the pair that both make if they change places */
    Respelling *respellings;     /* for which each spelling is written: from respelling_starts[it] on */
    int32_t *respelling_starts;  /* [spellings + 1] */
    uint64_t powers[MAX_WORD_LENGTH + 1], ending_powers[MAX_ENDINGS]; /* of what a hash is multiplied by */
    uint8_t *joined_bits;        /* [2^(JOINED_BITS - 3)] a bit for each of them, by hash */
    JoinedSlot *joined;          /* [joined_slots] the words that others are run together with */
    int64_t joined_slots;
    int32_t last_row;            /* of all rows that readings name */
} Index;

/* A step of the walk through pieces (units/trie.py): from (node, character) to a node, with the piece that ends there. */
typedef struct { int64_t key; int32_t node, piece; } TrieSlot;

/* The folded encoder. Rows of `out` and `features` are int8 or float32. */
typedef struct {
    int64_t dim, key_width, rows, unit_rows, hidden;
    int with_characters, with_pieces, is_mixed, is_int8;
    const int32_t *character;    /* [CODE_POINTS] */
    int64_t units;
    const int32_t *row_of_unit;  /* [units] */
    int trie_bits;
    const int64_t *trie_keys;    /* [2^trie_bits] */
    const int32_t *trie_values;  /* [2^trie_bits] nodes */
    int64_t nodes;
    const int32_t *piece_at;     /* [nodes] */
    TrieSlot *trie;              /* [2^trie_bits] made of the three: a step of the walk in one place of memory */
    int64_t ngrams;              /* rows for n-grams, behind the units' rows; 0 for none */
    const void *out;             /* [rows, dim] */
    const float *out_scale;      /* [rows] */
    const void *features;        /* [unit_rows, 2 key_width] */
    const float *features_scale; /* [unit_rows] */
    const float *positions;      /* [MAX_UNITS, MAX_UNITS] */
    const float *shares;         /* [MAX_UNITS + 1, MAX_UNITS] */
    const float *head[4];        /* [dim, hidden], [hidden], [hidden, dim], [dim] */
} Fold;

/* Rows of vectors, as a table holds them. */
typedef enum { ROWS_FLOAT32, ROWS_FLOAT16, ROWS_INT8, ROWS_INT4 } RowKind;
typedef struct {
    RowKind kind;
    int64_t count, dim;
    const void *codes;  /* [count, dim], int4: two a byte */
    const float *scale; /* [count], or NULL for 1 */
    float levels[16];   /* of int4 */
} Rows;

/* Random directions for pairs of letters (texts/signatures.py). */
enum { PAIR_BITS = 12 };
typedef struct {
    int64_t dim;
    const int8_t *directions; /* [2^PAIR_BITS, dim] of 1 and -1 */
} Signatures;

/* Words by their spelling: a hash table of rows. */
typedef struct {
    int64_t count;
    const uint8_t *text;      /* all words in UTF-8, one after the other */
    const int64_t *offsets;   /* [count + 1] */
    uint64_t seed;            /* other hashes in each process: nobody can choose words that fall together */
    int bits;
    int32_t *slots;           /* [2^bits] rows, -1 for none; made by build_map */
} WordMap;

/* What the vectors of texts are made of. */
typedef struct {
    const WordMap *map;
    const Rows *table;
    const float *weights;         /* [rows of the table] how much each word counts */
    const Signatures *signatures; /* or NULL */
    float signature_length;
    int lowercase;                /* whether a word that is not there is looked for in lower case */
    const int32_t *costs;         /* [rows of the table] of ranks (near/torn.py), or NULL: no words are torn */
    int64_t frequent, rare;       /* such costs */
} TextSource;

/* Parts of texts. */
typedef struct { int64_t text, start, end; } Chunk;
typedef struct { int64_t count, capacity; Chunk *chunks; } Chunks;
/* Texts as a model of context sees them, in short: rows, signs, and what Python reads first. */
typedef struct { int64_t count, capacity; int32_t *ids; } Line;
/* What of texts is no known word: unknown words of nothing but letters, without the marks around them; and whatever else
 * stands between two blanks. And where lines are wanted, the line of all texts and how many ids [texts] each has there. */
typedef struct { Chunks words, chunks; Line line; int64_t *lengths; } Left;

/* What lines are made of (texts/sentence.py), once Python has read what was left. */
typedef struct {
    int64_t texts;
    const int32_t *ids;          /* rows, signs, UNKNOWN_WORD, OTHER_CHUNK, MAY_BE_TORN */
    const int64_t *lengths;      /* [texts] */
    const int64_t *words;        /* which string each UNKNOWN_WORD is */
    const int64_t *chunks;       /* which chunk each OTHER_CHUNK is */
    const int64_t *starts;       /* [chunks + 1] */
    const int32_t *parts;        /* of chunks: rows, signs, and FIRST_STRING - number for strings */
    const int32_t *meant;        /* [strings] the row or sign of each in the lines */
    const uint8_t *asked;        /* [strings] */
} Lines;

/* A string that is asked about: which, in which text, and which UNKNOWN_WORD it is, -1 for part of a chunk. */
typedef struct { int64_t string, text, word, place; } Asked;
typedef struct { int64_t count, capacity; Asked *asked; int32_t *around; } Windows; /* around [count, PLACES] */

/* Known words in clusters, as attach/neighbors.py has them. */
typedef struct {
    int64_t width;               /* of a row of codes, a multiple of LANES */
    int64_t clusters, words;
    const int8_t *centres, *codes;
    const int64_t *starts;       /* [clusters + 1] */
    int centre_shift, code_shift;
    int64_t probes;
} Clusters;

/* Records by their keys (search/blocking.py). */
typedef struct {
    int64_t keys, records;
    const int64_t *offsets; /* [keys + 1] */
    const int32_t *rows;    /* the records that have each key, in order and each once */
    const int32_t *weights; /* [keys] above 0, so that no record's sum is more than 2^31 - 1 */
    const float *scales;    /* [records] */
} Postings;

/* A collection of texts that is searched (search/signals.py). */
enum { TEXT_FEATURES = 9 };
typedef struct {
    int64_t texts, terms, dim, sign_words;
    const int32_t *bags;         /* the terms of each text; */
    const int64_t *bag_ends;     /* [texts + 1] */
    const float *counts;         /* how often each stands there */
    const int32_t *stem_of;      /* [terms] */
    const uint8_t *is_number;    /* [terms] */
    const float *damping, *norms; /* [texts] */
    const double *masses;        /* [texts] */
    const int32_t *posting_texts; /* the texts of each term, in order; */
    const int64_t *posting_ends; /* [terms + 1] */
    const float *posting_counts;
    const int8_t *codes;         /* [texts, dim] */
    const float *scale;          /* [texts] */
    const uint64_t *signs;       /* [texts, sign_words] a bit for each code, or 0 */
} Collection;

/* A query as search/signals.py has it: each word may mean terms and stems, by shares. */
typedef struct {
    int64_t words, terms, stems;
    const double *masses;        /* [words] */
    const uint8_t *is_number;    /* [words] */
    const int64_t *term_list, *stem_list; /* [terms], [stems] distinct, stems in order */
    const uint8_t *is_asked_number; /* [terms] */
    const double *weights, *best, *rarity; /* [stems] */
    const int64_t *term_ends, *term_places, *stem_ends, *stem_places; /* of each word the places in these lists */
    const double *term_shares, *stem_shares;
    const float *products;       /* [terms of the collection] */
    const int16_t *codes;        /* [dim] */
    double total, length, steepness;
    float scale;
} TextQuery;

/* A layer of a model of context as it is given, with weights [inputs, outputs] (no bias: zeros); and as it is computed
 * with: [outputs, inputs], with zeros among them so that rows are whole steps (context.h). */
enum { LAYER_FIRST, LAYER_QUERY, LAYER_SECOND, LAYER_THIRD, LAYER_ROW, LAYER_FREQUENT, LAYER_NEW, LAYER_PROJECTION, LAYERS };
typedef struct { const int8_t *weights; const float *scale, *bias; int64_t inputs, outputs; } Given;
typedef struct { int8_t *weights; float *scale, *bias; int64_t inputs, outputs; int is_wide; } Layer;

/* A model of context: what the rest of a sentence says of the words of a table. */
typedef struct {
    const Rows *table;
    int64_t dim, width, hidden, heads;
    int64_t side;                /* places before and behind the one asked about whose order counts */
    int is_wide;                 /* whether the processor has AVX-512 VNNI */
    int64_t frequent;            /* words with a vector of their own */
    const int8_t *own;           /* [frequent, width] */
    const float *own_scale;      /* [width] */
    const float *own_bias;       /* [frequent] */
    const int16_t *signs;        /* [SIGN_ROWS, width] */
    const float *position_bias;  /* [heads, PLACES] */
    const float *scales;         /* [4] */
    Given given[LAYERS];

    /* Made of the above by build_context, in one piece of memory. */
    void *memory;
    Layer layers[LAYERS];
    int64_t common;              /* of the frequent words, those that the table has */
    int16_t *sign_rows, *common_rows; /* x of signs and of these words */
} Context;

typedef struct IndexRoom IndexRoom;
typedef struct FoldRoom FoldRoom;
typedef struct TextRoom TextRoom;
typedef struct ContextRoom ContextRoom;

/* The kernels of one kind of processor. */
typedef struct {
    const char *name;
    int (*build_index)(Index *); /* 0, or -1 where memory ends */
    IndexRoom *(*index_room)(const Index *);
    void (*read)(const Index *, const Words *, IndexRoom *, double new_divisor, const Readings *);
    void (*likeness)(const Index *, const Words *, double *likeness);
    FoldRoom *(*fold_room)(const Fold *);
    void (*embed)(const Fold *, const Words *, FoldRoom *, float *vectors, float *norms);
    void (*count_units)(const Fold *, const Words *, FoldRoom *, int64_t *counts); /* [words, 4] */
    void (*take)(const Rows *, const int64_t *rows, int64_t count, float *vectors);
    void (*mix)(const Rows *, int64_t count, const Readings *, const float *weights, double new_weight, double least, float *vectors);
    void (*normalize)(float *vectors, int64_t count, int64_t dim);
    void (*sum_rows)(const float *vectors, int64_t dim, const int64_t *chosen, const int64_t *ends, int64_t count,
                     float *result);
    void (*add_signatures)(const Signatures *, const Words *, int16_t *sums, const float *scales, float *vectors);
    int (*build_map)(WordMap *); /* 0, or -1 where memory ends */
    int64_t (*find_word)(const WordMap *, const uint32_t *codes, int64_t length, int is_lowered);
    TextRoom *(*text_room)(int64_t dim);
    int (*sum_texts)(const TextSource *, const uint32_t *codes, const int64_t *offsets, int64_t count, TextRoom *, Left *left,
                     float *result, double *weights);
    int (*find_windows)(const Lines *, uint8_t *odd, Windows *);
    void (*read_in_context)(const Readings *alone, const int64_t *strings, const int64_t *asked, int64_t count, const double *scores,
                            double strength, const Readings *result);
    void (*weigh_readings)(const Readings *, int64_t count, const float *weights, double new_weight, float *result);
    int (*join)(const Postings *, const int32_t *keys, const int64_t *ends, int64_t count, int64_t most, int32_t *rows,
                int32_t *sums); /* 0, or -1 where memory ends */
    int (*search)(const Clusters *, const int16_t *queries, int64_t count, int64_t most, int32_t *keys);
    int64_t (*best_texts)(const Collection *, const int64_t *terms, const double *weights, int64_t count, int by_norms, const uint8_t *allowed,
                          int64_t most, int64_t *rows);
    int64_t (*nearest_texts)(const Collection *, const int16_t *query, float scale, const uint64_t *asked, const uint8_t *allowed, int64_t low,
                             int64_t high, int64_t kept, int64_t most, int64_t *rows, float *cosines);
    int (*judge_texts)(const Collection *, const TextQuery *, const int64_t *rows, int64_t count, float *result);
    int (*build_context)(Context *); /* 0, or -1 where memory ends */
    ContextRoom *(*context_room)(const Context *);
    void (*score_windows)(const Context *, const int32_t *windows, const int32_t *candidates, int64_t count, int64_t most, ContextRoom *,
                          double *scores);
    void (*expect_vectors)(const Context *, const int32_t *windows, int64_t count, ContextRoom *, float *vectors);
} Kernels;

extern const Kernels base_kernels;
#if defined(__GNUC__) && defined(__x86_64__)
extern const Kernels avx2_kernels;
#endif

#endif
