/* Sums of rows: weighted, of coded rows, of the words of texts; and the search among coded rows (src/lovevec/attach).
 * Included once for each kind of processor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "lanes.h"

enum { SUMS_IN_REGISTERS = 8 }; /* vectors of a sum that are added up at a time */

/* result[0:width] = Σ_j weights[j] rows[ids[j]], the sum in registers. Where the width is no multiple of a block, the last
 * block begins earlier and computes some columns once more. */
#define DEFINE_WEIGHTED(name, Number, LOAD)                                                                         \
    INLINE void name##_block(const int blocks, const Number *rows, int64_t width, const int64_t *ids,               \
                             const float *weights, int count, int64_t start, float *result) {                      \
        Floats sums[SUMS_IN_REGISTERS];                                                                             \
        for (int block = 0; block < blocks; block++) sums[block] = all_floats(0);                                   \
        for (int place = 0; place < count; place++) {                                                               \
            const Number *row = rows + ids[place] * width + start;                                                  \
            Floats weight = all_floats(weights[place]);                                                             \
            for (int block = 0; block < blocks; block++)                                                            \
                sums[block] = plus(sums[block], times(weight, LOAD(row + 8 * block)));                              \
        }                                                                                                           \
        for (int block = 0; block < blocks; block++) put_floats(result + start + 8 * block, sums[block]);           \
    }                                                                                                               \
    static void name(const Number *rows, int64_t width, const int64_t *ids, const float *weights, int count,        \
                     float *result) {                                                                               \
        int64_t start = 0;                                                                                          \
        if (width >= 64) {                                                                                          \
            for (; start + 64 <= width; start += 64) name##_block(8, rows, width, ids, weights, count, start, result); \
            if (start < width) name##_block(8, rows, width, ids, weights, count, width - 64, result);               \
        } else {                                                                                                    \
            for (; start + 8 <= width; start += 8) name##_block(1, rows, width, ids, weights, count, start, result); \
            for (; start < width; start++) {                                                                        \
                float sum = 0;                                                                                      \
                for (int place = 0; place < count; place++)                                                         \
                    sum += weights[place] * (float)rows[ids[place] * width + start];                                \
                result[start] = sum;                                                                                \
            }                                                                                                       \
        }                                                                                                           \
    }
DEFINE_WEIGHTED(weighted_bytes, int8_t, bytes_at)
DEFINE_WEIGHTED(weighted_floats, float, floats_at)

/* result [m, columns] = left [m, k] · right [k, columns], all with the given distances between rows; columns is a
 * multiple of eight. Four rows and sixteen columns at a time. */
INLINE void product_block(const int rows, const int vectors, const float *left, int64_t left_step, const float *right,
                          int64_t right_step, int64_t k, float *result, int64_t result_step) {
    Floats sums[4][2];
    for (int row = 0; row < rows; row++)
        for (int vector = 0; vector < vectors; vector++) sums[row][vector] = all_floats(0);
    for (int64_t place = 0; place < k; place++)
        for (int vector = 0; vector < vectors; vector++) {
            Floats numbers = floats_at(right + place * right_step + 8 * vector);
            for (int row = 0; row < rows; row++)
                sums[row][vector] = plus(sums[row][vector], times(all_floats(left[row * left_step + place]), numbers));
        }
    for (int row = 0; row < rows; row++)
        for (int vector = 0; vector < vectors; vector++) put_floats(result + row * result_step + 8 * vector, sums[row][vector]);
}

static void product(const float *left, int64_t left_step, const float *right, int64_t right_step, int64_t m, int64_t k,
                    int64_t columns, float *result, int64_t result_step) {
    for (int64_t row = 0; row < m; row += 4)
        for (int64_t column = 0; column < columns; column += 16) {
            const float *from = left + row * left_step, *with = right + column;
            float *to = result + row * result_step + column;
            if (m - row >= 4 && columns - column >= 16)
                product_block(4, 2, from, left_step, with, right_step, k, to, result_step);
            else
                for (int64_t one = 0; one < 4 && row + one < m; one++)
                    for (int64_t vector = 0; vector < 2 && column + 8 * vector < columns; vector++)
                        product_block(1, 1, from + one * left_step, left_step, with + 8 * vector, right_step, k,
                                      to + one * result_step + 8 * vector, result_step);
        }
}

static float length_of(const float *vector, int64_t width) {
    Floats sums[4] = {all_floats(0), all_floats(0), all_floats(0), all_floats(0)};
    int64_t column = 0;
    for (; column + 32 <= width; column += 32)
        for (int block = 0; block < 4; block++) {
            Floats numbers = floats_at(vector + column + 8 * block);
            sums[block] = plus(sums[block], times(numbers, numbers));
        }
    float total = total_of(plus(plus(sums[0], sums[1]), plus(sums[2], sums[3])));
    for (; column < width; column++) total += vector[column] * vector[column];
    return sqrtf(total);
}

INLINE void scale_by(float *vector, int64_t width, float scale) {
    for (int64_t column = 0; column < width; column++) vector[column] *= scale;
}

/* vectors/rows.py: rows at length 1; rows of zeros stay zeros. */
static void normalize(float *vectors, int64_t count, int64_t dim) {
    for (float *vector = vectors; vector < vectors + count * dim; vector += dim) {
        float length = length_of(vector, dim);
        if (!(length > 1e-15f && length < 1e18f)) { /* too short or long for squares, or zeros */
            float largest = 0;
            for (int64_t column = 0; column < dim; column++)
                largest = fabsf(vector[column]) > largest ? fabsf(vector[column]) : largest;
            if (largest == 0) continue;
            for (int64_t column = 0; column < dim; column++) vector[column] /= largest;
            length = length_of(vector, dim);
        }
        for (int64_t column = 0; column < dim; column++) vector[column] /= length;
    }
}

INLINE float half_as_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7FFF, bits;
    float number;
    if (rest >= 0x7C00) {
        bits = sign | 0x7F800000 | (rest & 0x3FF) << 13;
        memcpy(&number, &bits, sizeof number);
    } else { /* the exponent moves by a product, which is right for small numbers, too */
        bits = rest << 13;
        memcpy(&number, &bits, sizeof number);
        number *= 5.192296858534828e33f; /* 2^112 */
        memcpy(&bits, &number, sizeof bits);
        bits |= sign;
        memcpy(&number, &bits, sizeof number);
    }
    return number;
}

/* vector += probability · weight · row, or with `is_first` vector = that. Each product is rounded by itself, as numpy does
 * it: ((code · scale) · weight) · probability. */
INLINE void add_row(const Rows *table, int64_t row, float weight, float probability, int is_first, float *vector) {
    const float scale = table->scale ? table->scale[row] : 1.0f;
    const int64_t dim = table->dim;
#define ADD(value)                                                                       \
    do {                                                                                 \
        if (is_first) for (int64_t at = 0; at < dim; at++) vector[at] = (value);         \
        else for (int64_t at = 0; at < dim; at++) vector[at] += (value);                 \
    } while (0)
    if (table->kind == ROWS_INT4) {
        float numbers[16];
        for (int level = 0; level < 16; level++) numbers[level] = table->levels[level] * scale * weight * probability;
        const uint8_t *codes = (const uint8_t *)table->codes + row * ((dim + 1) / 2);
        int64_t at = 0;
#if defined(LOVEVEC_AVX2)
        const __m256 low = _mm256_loadu_ps(numbers), high = _mm256_loadu_ps(numbers + 8);
        const __m256i shifts = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
        for (; at + 8 <= dim; at += 8) { /* eight codes are four bytes; the highest bit of a code chooses the half */
            int32_t eight;
            memcpy(&eight, codes + at / 2, sizeof eight);
            __m256i code = _mm256_srlv_epi32(_mm256_set1_epi32(eight), shifts), half = _mm256_slli_epi32(code, 28);
            __m256 sum = _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, code), _mm256_permutevar8x32_ps(high, code), (__m256)half);
            _mm256_storeu_ps(vector + at, is_first ? sum : _mm256_add_ps(_mm256_loadu_ps(vector + at), sum));
        }
#endif
        for (; at < dim; at++) {
            float number = numbers[codes[at >> 1] >> (4 * (at & 1)) & 15];
            vector[at] = is_first ? number : vector[at] + number;
        }
    } else if (table->kind == ROWS_INT8) {
        const int8_t *codes = (const int8_t *)table->codes + row * dim;
        ADD((float)codes[at] * scale * weight * probability);
    } else if (table->kind == ROWS_FLOAT16) {
        const uint16_t *codes = (const uint16_t *)table->codes + row * dim;
        ADD(half_as_float(codes[at]) * scale * weight * probability);
    } else {
        const float *codes = (const float *)table->codes + row * dim;
        ADD(codes[at] * scale * weight * probability);
    }
#undef ADD
}

/* Send for a row of a table from memory. */
INLINE void fetch_row(const Rows *table, int64_t row) {
    static const int64_t halves[] = {8, 4, 2, 1}; /* bytes of two numbers, by kind */
    const int64_t bytes = (table->dim + 1) / 2 * halves[table->kind];
    for (int64_t line = 0; line < bytes; line += 64) PREFETCH((const char *)table->codes + row * bytes + line);
}

/* Rows of a table, one for each of `count`. */
static void take(const Rows *table, const int64_t *rows, int64_t count, float *vectors) {
    for (int64_t place = 0; place < count; place++) add_row(table, rows[place], 1, 1, 1, vectors + place * table->dim);
}

/* readings.py: vectors = new · vectors + Σ probability · row + parts · the mean of their rows by their weights; words below
 * `least` are left out. With a `new_weight` of 0 and more strings are words of a text: rows are multiplied by their weights,
 * vectors by that weight, and several words add up. */
static void mix(const Rows *table, int64_t count, const Readings *readings, const float *weights, double new_weight, double least,
                float *vectors) {
    const int in_text = new_weight >= 0;
    for (int64_t string = 0; string < count; string++) {
        float *vector = vectors + string * table->dim;
        const int32_t *rows = readings->rows + string * WORDS_PER_READING, *parts = readings->part_rows + string * MAX_PARTS;
        const double *probabilities = readings->probabilities + string * WORDS_PER_READING, joined = readings->parts[string];
        for (int place = 0; place < WORDS_PER_READING && string + 1 < count; place++) { /* the next string's rows */
            const int next = WORDS_PER_READING + place;
            if (probabilities[next] >= least && rows[next] >= 0) fetch_row(table, rows[next]);
        }
        scale_by(vector, table->dim, (float)(readings->new_[string] * (in_text ? new_weight : 1)));
        for (int place = 0; place < WORDS_PER_READING; place++) {
            if (!(probabilities[place] >= least) || rows[place] < 0) continue;
            add_row(table, rows[place], in_text ? weights[rows[place]] : 1.0f, (float)probabilities[place], 0, vector);
        }
        if (!(joined >= least)) continue;
        double total = 0;
        int many = 0;
        for (; many < MAX_PARTS && parts[many] >= 0; many++) total += (double)weights[parts[many]];
        for (int place = 0; place < many; place++) {
            const float weight = weights[parts[place]];
            const double share = in_text ? 1 : total > 0 ? (double)weight / total : 1.0 / many;
            add_row(table, parts[place], in_text ? weight : 1.0f, (float)(joined * share), 0, vector);
        }
    }
}

/* texts/sums.py: result[i] = the sum of vectors[chosen[ends[i] : ends[i + 1]]], one row after the other. */
static void sum_rows(const float *vectors, int64_t dim, const int64_t *chosen, const int64_t *ends, int64_t count, float *result) {
    for (int64_t text = 0; text < count; text++, result += dim) {
        memset(result, 0, (size_t)dim * sizeof *result);
        for (int64_t place = ends[text]; place < ends[text + 1]; place++) {
            const float *row = vectors + chosen[place] * dim;
            for (int64_t column = 0; column < dim; column++) result[column] += row[column];
        }
    }
}

/* texts/signatures.py: vector += scale · the signature of a word, which is the sum of the directions of its pairs of letters
 * at unit length. `sums` [dim] are whole numbers. */
static void add_signature(const Signatures *signatures, const uint32_t *codes, int64_t length, int16_t *sums, float scale, float *vector) {
    const int64_t dim = signatures->dim;
    memset(sums, 0, (size_t)dim * sizeof *sums);
    uint64_t before = 0;
    for (int64_t place = 0; place <= length; place++) {
        const uint64_t code = place < length ? lower(codes[place]) : 0;
        const uint64_t pair = (before * 0x9E3779B1u + code) * 0x9E3779B97F4A7C15u >> (64 - PAIR_BITS);
        const int8_t *direction = signatures->directions + (int64_t)pair * dim;
        for (int64_t column = 0; column < dim; column++) sums[column] = (int16_t)(sums[column] + direction[column]);
        before = code;
    }
    int64_t squares = 0;
    for (int64_t column = 0; column < dim; column++) squares += (int32_t)sums[column] * sums[column];
    const float size = squares ? sqrtf((float)squares) : 1;
    for (int64_t column = 0; column < dim; column++) vector[column] += (float)sums[column] / size * scale;
}

static void add_signatures(const Signatures *signatures, const Words *words, int16_t *sums, const float *scales, float *vectors) {
    for (int64_t word = 0; word < words->count; word++) {
        const int64_t start = words->offsets[word];
        add_signature(signatures, words->codes + start, words->offsets[word + 1] - start, sums, scales[word],
                      vectors + word * signatures->dim);
    }
}

/* --- attach/neighbors.py: the nearest known words, by whole numbers --- */

/* Put the least `most` of the first `many` numbers first, in order. */
static void put_first(int32_t *numbers, int64_t most, int64_t many) {
    for (int64_t place = 0; place < many; place++) {
        int32_t number = numbers[place];
        int64_t at = place < most ? place : most;
        for (; at > 0 && numbers[at - 1] > number; at--)
            if (at < most) numbers[at] = numbers[at - 1];
        if (at < most) numbers[at] = number;
    }
}

enum { LEVEL_BITS = 22, LEVELS = 1 << 10 }; /* of a key of 32 bits: a cosine by about 0.004 */

/* The key of a row of codes: its cosine with the query, then its place; negated, so that the nearest has the least. */
INLINE int32_t key_of(const int16_t *query, const int8_t *codes, int64_t width, int64_t place, int shift) {
    const int8_t *row = codes + place * width;
    uint32_t total = 0;
    for (int64_t start = 0; start < width; start += LANES) {
        int32_t part = 0;
        for (int64_t column = start; column < start + LANES; column++) part += (int32_t)query[column] * row[column];
        total += (uint32_t)part;
    }
    return ~((int32_t)((uint32_t)((int32_t)total >> shift) << PLACE_BITS) + (int32_t)place);
}

/* Put the least `most` of the first `many` keys first, in order; returns how many these are. Those that are too far are
 * dropped by counting how many have each cosine, roughly. */
INLINE int64_t put_best_first(int32_t *keys, int64_t many, int64_t most, int32_t *counts) {
    if (many > most) {
        memset(counts, 0, LEVELS * sizeof *counts);
        for (int64_t place = 0; place < many; place++) counts[(keys[place] >> LEVEL_BITS) + LEVELS / 2]++;
        int64_t level = 0, total = counts[0], kept = 0;
        while (total < most) total += counts[++level];
        int64_t bar = (level - LEVELS / 2 + 1) * (INT64_C(1) << LEVEL_BITS);
        for (int64_t place = 0; place < many; place++) { /* without a branch: which are kept cannot be foretold */
            int32_t key = keys[place];
            keys[kept] = key;
            kept += key < bar;
        }
        many = kept;
    }
    most = most < many ? most : many;
    put_first(keys, most, many);
    return most;
}

/* The keys of the `most` nearest known words of each query, nearest first; what is not filled stays. */
static int search(const Clusters *known, const int16_t *queries, int64_t count, int64_t most, int32_t *keys) {
    int32_t *clusters = malloc((size_t)(known->clusters + known->words + LEVELS) * sizeof *clusters);
    if (!clusters) return -1;
    int32_t *near = clusters + known->clusters, *counts = near + known->words;
    for (int64_t query = 0; query < count; query++, queries += known->width, keys += most) {
        for (int64_t cluster = 0; cluster < known->clusters; cluster++)
            clusters[cluster] = key_of(queries, known->centres, known->width, cluster, known->centre_shift);
        int64_t many = 0, probes = put_best_first(clusters, known->clusters, known->probes, counts);
        for (int64_t probe = 0; probe < probes; probe++) {
            int64_t cluster = ~clusters[probe] & ((1 << PLACE_BITS) - 1);
            for (int64_t place = known->starts[cluster]; place < known->starts[cluster + 1]; place++)
                near[many++] = key_of(queries, known->codes, known->width, place, known->code_shift);
        }
        int64_t best = put_best_first(near, many, most, counts);
        for (int64_t place = 0; place < best; place++) keys[place] = ~near[place];
    }
    free(clusters);
    return 0;
}
