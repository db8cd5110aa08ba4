/* What the rest of a sentence says of a word (src/lovevec/near/context.py), in whole numbers: the same bits as numpy's way.
 * Included once for each kind of processor, behind rows.h, of which it uses how rows are read. */
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "lanes.h"

enum {
    STEP = 16,               /* numbers at a time: rows of weights and of what they are multiplied by end with zeros */
    WINDOWS_AT_A_TIME = 8,   /* for which weights are read once */
    EMBEDDED = 512,          /* rarer words whose x is kept: a power of two */
    SAFE = 128,              /* products of numbers up to MOST whose sum fits an int */
    LINE = 64                /* bytes */
};

struct ContextRoom {
    int16_t *x;              /* [WINDOWS_AT_A_TIME, PLACES, width], all of these widths being multiples of STEP */
    int16_t *both;           /* [WINDOWS_AT_A_TIME, inputs of the second layer]: a, then c */
    int16_t *queries, *inner, *y, *expected, *frequent; /* [WINDOWS_AT_A_TIME, outputs of their layer] */
    int16_t *rows;           /* [WINDOWS_AT_A_TIME, dim] of a table, as whole numbers */
    int32_t *totals;         /* [WINDOWS_AT_A_TIME, outputs of any layer] */
    float *row;              /* [dim] */
    int16_t *embedded;       /* [EMBEDDED, width] x of the words `ids` */
    int32_t ids[EMBEDDED];
    int32_t missing[WINDOWS_AT_A_TIME * PLACES];
};

INLINE int64_t up_to_steps(int64_t count) { return (count + STEP - 1) / STEP * STEP; }

/* A number within -MOST and MOST, to the nearest whole number: of two the even one, since so it is where numbers have no
 * places behind the point. By its bits, without a branch: loops become vectors. */
INLINE int16_t round_within(float number) {
    int32_t bits, size;
    memcpy(&bits, &number, sizeof bits);
    size = bits & 0x7FFFFFFF;
    size = size < 0x457FF000 ? size : 0x457FF000; /* 4095.0f */
    bits = size | (bits & INT32_MIN);
    memcpy(&number, &bits, sizeof bits);
    return (int16_t)(int32_t)((number + 12582912.0f) - 12582912.0f);
}

/* totals[window][out] = weights[out] · x[window], for some windows and outputs, four or eight of both together. */
INLINE void layer_block(const int windows, const int outs, const int8_t *weights, int64_t inputs, const int16_t *x, int64_t x_step,
                        int32_t *totals, int64_t totals_step) {
#if defined(LOVEVEC_AVX2)
    __m256i sums[8], rows[4];
    for (int sum = 0; sum < windows * outs; sum++) sums[sum] = _mm256_setzero_si256();
    for (int64_t place = 0; place < inputs; place += STEP) {
        for (int out = 0; out < outs; out++)
            rows[out] = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(weights + out * inputs + place)));
        for (int window = 0; window < windows; window++) {
            const __m256i numbers = _mm256_loadu_si256((const __m256i *)(x + window * x_step + place));
            for (int out = 0; out < outs; out++) {
                __m256i *sum = &sums[window * outs + out];
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(rows[out], numbers));
            }
        }
    }
    for (int four = 0; four < windows * outs; four += 4) {
        const __m256i *of = sums + four, low = _mm256_hadd_epi32(of[0], of[1]), high = _mm256_hadd_epi32(of[2], of[3]);
        const __m256i halves = _mm256_hadd_epi32(low, high);
        int32_t sum[4];
        _mm_storeu_si128((__m128i *)sum, _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
        for (int lane = 0; lane < 4; lane++) totals[(four + lane) / outs * totals_step + (four + lane) % outs] = sum[lane];
    }
#else
    for (int out = 0; out < outs; out++, weights += inputs)
        for (int window = 0; window < windows; window++) {
            int32_t total = 0;
            for (int64_t place = 0; place < inputs; place++) total += (int32_t)weights[place] * x[window * x_step + place];
            totals[window * totals_step + out] = total;
        }
#endif
}

#if defined(LOVEVEC_AVX2) && !defined(__clang__)
#define WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define HAS_WIDE 1
/* The same for processors that multiply and add 32 numbers at once: sums of whole numbers, so the same bits. */
WIDE INLINE void wide_block(const int windows, const int outs, const int8_t *weights, int64_t inputs, const int16_t *x, int64_t x_step,
                            int32_t *totals, int64_t totals_step) {
    __m512i sums[16], rows[4];
    int64_t place = 0;
    for (int sum = 0; sum < windows * outs; sum++) sums[sum] = _mm512_setzero_si512();
    for (; place + 2 * STEP <= inputs; place += 2 * STEP) {
        for (int out = 0; out < outs; out++)
            rows[out] = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(weights + out * inputs + place)));
        for (int window = 0; window < windows; window++) {
            const __m512i numbers = _mm512_loadu_si512(x + window * x_step + place);
            for (int out = 0; out < outs; out++)
                sums[window * outs + out] = _mm512_dpwssd_epi32(sums[window * outs + out], rows[out], numbers);
        }
    }
    if (place < inputs) { /* half as many */
        for (int out = 0; out < outs; out++)
            rows[out] = _mm512_zextsi256_si512(_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(weights + out * inputs + place))));
        for (int window = 0; window < windows; window++) {
            const __m512i numbers = _mm512_zextsi256_si512(_mm256_loadu_si256((const __m256i *)(x + window * x_step + place)));
            for (int out = 0; out < outs; out++)
                sums[window * outs + out] = _mm512_dpwssd_epi32(sums[window * outs + out], rows[out], numbers);
        }
    }
    for (int four = 0; four < windows * outs; four += 4) {
        __m256i of[4];
        for (int lane = 0; lane < 4; lane++)
            of[lane] = _mm256_add_epi32(_mm512_castsi512_si256(sums[four + lane]), _mm512_extracti64x4_epi64(sums[four + lane], 1));
        const __m256i halves = _mm256_hadd_epi32(_mm256_hadd_epi32(of[0], of[1]), _mm256_hadd_epi32(of[2], of[3]));
        int32_t sum[4];
        _mm_storeu_si128((__m128i *)sum, _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
        for (int lane = 0; lane < 4; lane++) totals[(four + lane) / outs * totals_step + (four + lane) % outs] = sum[lane];
    }
}

WIDE static void wide_totals(const Layer *layer, const int16_t *x, int64_t x_step, int64_t count, int32_t *totals) {
    const int64_t inputs = layer->inputs, outputs = layer->outputs;
    for (int64_t out = 0; out < outputs; out += 4) {
        const int8_t *weights = layer->weights + out * inputs;
        int64_t window = 0;
        for (; window + 4 <= count; window += 4)
            wide_block(4, 4, weights, inputs, x + window * x_step, x_step, totals + window * outputs + out, outputs);
        for (; window + 2 <= count; window += 2)
            wide_block(2, 4, weights, inputs, x + window * x_step, x_step, totals + window * outputs + out, outputs);
        if (window < count) wide_block(1, 4, weights, inputs, x + window * x_step, x_step, totals + window * outputs + out, outputs);
    }
}
#endif

/* totals [count, outputs] of `count` windows. */
static void layer_totals(const Layer *layer, const int16_t *x, int64_t x_step, int64_t count, int32_t *totals) {
    const int64_t inputs = layer->inputs, outputs = layer->outputs;
#if defined(HAS_WIDE)
    if (layer->is_wide) {
        wide_totals(layer, x, x_step, count, totals);
        return;
    }
#endif
    int64_t window = 0;
    for (; window + 4 <= count; window += 4, x += 4 * x_step, totals += 4 * outputs)
        for (int64_t out = 0; out < outputs; out += 2)
            layer_block(4, 2, layer->weights + out * inputs, inputs, x, x_step, totals + out, outputs);
    for (; window < count; window++, x += x_step, totals += outputs)
        for (int64_t out = 0; out < outputs; out += 4)
            layer_block(1, 4, layer->weights + out * inputs, inputs, x, x_step, totals + out, outputs);
}

/* What a layer passes on, for each window: total · scale + bias, and perhaps `more` besides. */
static void apply_layer(const Layer *layer, const int16_t *x, int64_t x_step, int64_t count, const int16_t *more, int64_t more_step,
                        int16_t *result, int64_t result_step, ContextRoom *room) {
    const float *scale = layer->scale, *bias = layer->bias;
    const int32_t *totals = room->totals;
    layer_totals(layer, x, x_step, count, room->totals);
    for (int64_t window = 0; window < count; window++, totals += layer->outputs, result += result_step) {
        if (more) {
            const int16_t *add = more + window * more_step;
            for (int64_t out = 0; out < layer->outputs; out++)
                result[out] = round_within((float)totals[out] * scale[out] + bias[out] + (float)add[out]);
        } else {
            for (int64_t out = 0; out < layer->outputs; out++)
                result[out] = round_within((float)totals[out] * scale[out] + bias[out]);
        }
    }
}

/* The same where less than 0 becomes 0. */
static void apply_relu_layer(const Layer *layer, const int16_t *x, int64_t x_step, int64_t count, int16_t *result,
                             int64_t result_step, ContextRoom *room) {
    apply_layer(layer, x, x_step, count, NULL, 0, result, result_step, room);
    for (int64_t window = 0; window < count; window++, result += result_step)
        for (int64_t out = 0; out < layer->outputs; out++) result[out] = result[out] > 0 ? result[out] : 0;
}

/* A row of the table as whole numbers. */
static void whole_row(const Context *context, int64_t row, float *numbers, int16_t *result) {
    add_row(context->table, row, 1, 1, 1, numbers);
    for (int64_t column = 0; column < context->dim; column++) result[column] = round_within(numbers[column] * (float)ROW_SCALE);
}

/* x of known words, WINDOWS_AT_A_TIME at most, to the places `to`. */
static void embed_rows(const Context *context, const int32_t *rows, int64_t count, ContextRoom *room, int16_t *const *to) {
    const Layer *layer = &context->layers[LAYER_PROJECTION];
    const int64_t width = context->width;
    for (int64_t row = 0; row < count; row++) whole_row(context, rows[row], room->row, room->rows + row * layer->inputs);
    layer_totals(layer, room->rows, layer->inputs, count, room->totals);
    for (int64_t row = 0; row < count; row++) {
        const int32_t *totals = room->totals + row * layer->outputs;
        const float *scale = layer->scale, *own_scale = context->own_scale;
        if (rows[row] < context->frequent) {
            const int8_t *own = context->own + rows[row] * width;
            for (int64_t out = 0; out < width; out++)
                to[row][out] = round_within((float)totals[out] * scale[out] + (float)own[out] * own_scale[out]);
        } else {
            for (int64_t out = 0; out < width; out++) to[row][out] = round_within((float)totals[out] * scale[out]);
        }
    }
}

/* x of what stands in some windows, one place after the other. That of rarer words stays for the calls to come, until one
 * whose number ends with the same bits takes its room; two of these in the same windows are embedded each time. */
static void put_words(const Context *context, const int32_t *windows, int64_t places, ContextRoom *room) {
    const int64_t width = up_to_steps(context->width);
    int missing = 0;
#define EMBEDDED_AT(row) ((row) & (EMBEDDED - 1))
    for (int64_t place = 0; place < places; place++) {
        const int32_t row = windows[place];
        if (row < context->common || room->ids[EMBEDDED_AT(row)] == row) continue;
        fetch_row(context->table, row);
        room->ids[EMBEDDED_AT(row)] = room->missing[missing++] = row;
    }
    for (int first = 0; first < missing; first += WINDOWS_AT_A_TIME) { /* in order: of two words of one place the later stays */
        const int count = missing - first < WINDOWS_AT_A_TIME ? missing - first : WINDOWS_AT_A_TIME;
        int16_t *to[WINDOWS_AT_A_TIME];
        for (int one = 0; one < count; one++) to[one] = room->embedded + EMBEDDED_AT(room->missing[first + one]) * width;
        embed_rows(context, room->missing + first, count, room, to);
    }
    for (int64_t place = 0; place < places; place++) {
        const int32_t row = windows[place];
        int16_t *to = room->x + place * width;
        const int16_t *from = row < 0                              ? context->sign_rows + (-1 - row) * width
                              : row < context->common              ? context->common_rows + row * width
                              : room->ids[EMBEDDED_AT(row)] == row ? room->embedded + EMBEDDED_AT(row) * width
                                                                   : NULL;
        if (!from) embed_rows(context, &row, 1, room, &to);
        for (int64_t column = 0; from && column < width; column += STEP) memcpy(to + column, from + column, STEP * sizeof *to);
    }
#undef EMBEDDED_AT
}

INLINE int32_t dot_of(const int16_t *one, const int16_t *other, int64_t count) {
    int32_t total = 0;
    for (int64_t place = 0; place < count; place++) total += (int32_t)one[place] * other[place];
    return total;
}

INLINE double round_double(double number) { return (number + 6755399441055744.0) - 6755399441055744.0; }

/* exact_exp of each place's number, up to 0: the same operations without a branch, so that several are computed at once. */
INLINE void exact_exps(double *numbers) {
    static const double inverse[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                                     1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0};
    for (int place = 0; place < PLACES; place++) {
        const double x = numbers[place], k = x * 1.4426950408889634 + 6755399441055744.0, above = x + 700;
        const double whole = k - 6755399441055744.0, r = (x - whole * 0.693147180369123816490) - whole * 1.90821492927058770002e-10;
        double p = inverse[0], power;
        for (int term = 1; term < 14; term++) p = p * r + inverse[term];
        uint64_t bits, sign;
        memcpy(&bits, &k, sizeof bits); /* the last ones are those of the whole number */
        bits = (bits + 1023) << 52;
        memcpy(&power, &bits, sizeof power);
        p *= power;
        memcpy(&bits, &p, sizeof bits);
        memcpy(&sign, &above, sizeof sign);
        bits &= (sign >> 63) - 1; /* 0 below -700 */
        memcpy(&numbers[place], &bits, sizeof bits);
    }
}

/* What stands elsewhere: c [heads, width] of one window with its queries. */
static void attend_places(const Context *context, const int32_t *window, const int16_t *x, const int16_t *queries, int16_t *result) {
    const int64_t width = up_to_steps(context->width), heads = context->heads;
    const double scale = (double)context->scales[0];
    double outside[PLACES];
    int inside = 0;
    for (int place = 0; place < PLACES; place++) {
        outside[place] = window[place] == PAD ? -1e30 : 0;
        inside += window[place] != PAD;
    }
    if (!inside) memset(result, 0, (size_t)(heads * width) * sizeof *result);
    for (int64_t head = 0; head < heads && inside; head++, queries += width, result += width) {
        const float *bias = context->position_bias + head * PLACES;
        double weights[PLACES], best = -1e30, total = 0;
        int32_t shares[PLACES];
        for (int place = 0; place < PLACES; place++) {
            weights[place] = (double)dot_of(queries, x + place * width, width) * scale + (double)bias[place] + outside[place];
            best = weights[place] > best ? weights[place] : best;
        }
        for (int place = 0; place < PLACES; place++) weights[place] -= best;
        exact_exps(weights);
        for (int place = 0; place < PLACES; place++) total += weights[place];
        for (int place = 0; place < PLACES; place++) shares[place] = (int32_t)round_double(weights[place] / total * SHARE_SCALE);
        for (int64_t low = 0; low < width; low += STEP) {
            int32_t sums[STEP] = {0};
            for (int place = 0; place < PLACES; place++)
                for (int column = 0; column < STEP; column++) sums[column] += shares[place] * x[place * width + low + column];
            for (int column = 0; column < STEP; column++)
                result[low + column] = round_within((float)sums[column] / (float)SHARE_SCALE);
        }
    }
}

/* y of some windows, WINDOWS_AT_A_TIME at most, to room->y. */
static void hidden_of(const Context *context, const int32_t *windows, int64_t count, ContextRoom *room) {
    const Layer *layers = context->layers;
    const int64_t width = up_to_steps(context->width), x_step = PLACES * width, step = layers[LAYER_SECOND].inputs;
    const int64_t hidden = layers[LAYER_FIRST].outputs, queries = layers[LAYER_QUERY].outputs, inner = layers[LAYER_SECOND].outputs;
    put_words(context, windows, count * PLACES, room);
    const int16_t *near = room->x + (PLACES / 2 - context->side) * width;
    apply_relu_layer(&layers[LAYER_FIRST], near, x_step, count, room->both, step, room);
    apply_layer(&layers[LAYER_QUERY], room->both, step, count, NULL, 0, room->queries, queries, room);
    for (int64_t window = 0; window < count; window++)
        attend_places(context, windows + window * PLACES, room->x + window * x_step, room->queries + window * queries,
                      room->both + window * step + hidden);
    apply_relu_layer(&layers[LAYER_SECOND], room->both, step, count, room->inner, inner, room);
    apply_layer(&layers[LAYER_THIRD], room->inner, inner, count, room->both, step, room->y, hidden, room);
}

/* z of the words `candidates` [count, most] and of a new one: scores [count, most + 1]. */
static void score_windows(const Context *context, const int32_t *windows, const int32_t *candidates, int64_t count, int64_t most,
                          ContextRoom *room, double *scores) {
    const Layer *layers = context->layers;
    const int64_t hidden = layers[LAYER_FIRST].outputs, dim = layers[LAYER_ROW].outputs, width = layers[LAYER_FREQUENT].outputs;
    const double row_scale = (double)context->scales[1], frequent_scale = (double)context->scales[2];
    for (int64_t low = 0; low < count; low += WINDOWS_AT_A_TIME) {
        const int64_t some = count - low < WINDOWS_AT_A_TIME ? count - low : WINDOWS_AT_A_TIME;
        const int32_t *asked = candidates + low * most;
        for (int64_t place = 0; place < some * most; place++)
            if (asked[place] >= 0) fetch_row(context->table, asked[place]);
        hidden_of(context, windows + low * PLACES, some, room);
        apply_layer(&layers[LAYER_ROW], room->y, hidden, some, NULL, 0, room->expected, dim, room);
        apply_layer(&layers[LAYER_FREQUENT], room->y, hidden, some, NULL, 0, room->frequent, width, room);
        layer_totals(&layers[LAYER_NEW], room->y, hidden, some, room->totals);
        for (int64_t window = 0; window < some; window++, asked += most) {
            double *z = scores + (low + window) * (most + 1);
            for (int64_t place = 0; place < most; place++) {
                const int32_t row = asked[place];
                z[place] = 0;
                if (row < 0) continue;
                whole_row(context, row, room->row, room->rows);
                const int16_t *expected = room->expected + window * dim, *frequent = room->frequent + window * width;
                int64_t total = 0;
                for (int64_t column = 0; column < dim; column += SAFE)
                    total += dot_of(room->rows + column, expected + column, dim - column < SAFE ? dim - column : SAFE);
                z[place] = (double)total * row_scale;
                if (row >= context->frequent) continue;
                const int8_t *own = context->own + row * context->width;
                int32_t common = 0;
                for (int64_t column = 0; column < context->width; column++) common += (int32_t)own[column] * frequent[column];
                z[place] += (double)common * frequent_scale + (double)context->own_bias[row];
            }
            const float new_ = (float)room->totals[window * layers[LAYER_NEW].outputs] * layers[LAYER_NEW].scale[0] + layers[LAYER_NEW].bias[0];
            z[most] = (double)new_;
        }
    }
}

/* Where sentences expect a word among the vectors: [count, dim]. */
static void expect_vectors(const Context *context, const int32_t *windows, int64_t count, ContextRoom *room, float *vectors) {
    const Layer *layers = context->layers;
    const int64_t dim = layers[LAYER_ROW].outputs;
    for (int64_t low = 0; low < count; low += WINDOWS_AT_A_TIME) {
        const int64_t some = count - low < WINDOWS_AT_A_TIME ? count - low : WINDOWS_AT_A_TIME;
        hidden_of(context, windows + low * PLACES, some, room);
        apply_layer(&layers[LAYER_ROW], room->y, layers[LAYER_FIRST].outputs, some, NULL, 0, room->expected, dim, room);
        for (int64_t window = 0; window < some; window++, vectors += context->dim)
            for (int64_t column = 0; column < context->dim; column++)
                vectors[column] = (float)room->expected[window * dim + column] * context->scales[1];
    }
}

/* --- what is made of a model once --- */

/* A part of some memory, which begins with a line of the cache; without memory only its size is counted. */
static void *part_of(char *memory, size_t *used, int64_t count, size_t size) {
    char *part = memory ? memory + *used : NULL;
    *used += ((size_t)count * size + LINE - 1) / LINE * LINE;
    return part;
}

static char *next_line(void *memory) { return (char *)(((uintptr_t)memory + LINE - 1) / LINE * LINE); }

/* Where a number stands when the first `plain` are one row and the others rows of `width`, each with zeros behind it. */
INLINE int64_t place_in_steps(int64_t number, int64_t plain, int64_t width) {
    if (number < plain) return number;
    const int64_t row = (number - plain) / width;
    return up_to_steps(plain) + row * up_to_steps(width) + (number - plain) % width;
}

/* A layer as it is computed with, from weights [inputs, outputs]. */
static void build_layer(const Context *context, int number) {
    const Layer *layer = &context->layers[number];
    const Given *given = &context->given[number];
    const int64_t plain = number == LAYER_FIRST ? 0 : number == LAYER_SECOND ? context->hidden : given->inputs;
    int64_t places[MAX_INPUTS];
    for (int64_t out = 0; out < given->outputs; out++) {
        const int64_t place = place_in_steps(out, number == LAYER_QUERY ? 0 : given->outputs, context->width);
        layer->scale[place] = given->scale[out];
        layer->bias[place] = given->bias ? given->bias[out] : 0;
        places[out] = place * layer->inputs;
    }
    for (int64_t in = 0; in < given->inputs; in++) {
        const int8_t *weights = given->weights + in * given->outputs;
        int8_t *to = layer->weights + place_in_steps(in, plain, context->width);
        for (int64_t out = 0; out < given->outputs; out++) to[places[out]] = weights[out];
    }
}

/* Give the parts of a context their places in memory; returns how much that is. */
static size_t divide_context(Context *context, char *memory) {
    const int64_t width = up_to_steps(context->width), heads = context->heads;
    size_t used = 0;
    for (int number = 0; number < LAYERS; number++) {
        const int64_t inputs = context->given[number].inputs, outputs = context->given[number].outputs;
        Layer *layer = &context->layers[number];
        layer->is_wide = context->is_wide;
        layer->inputs = number == LAYER_FIRST    ? 2 * context->side * width
                        : number == LAYER_SECOND ? up_to_steps(context->hidden) + heads * width
                                                 : up_to_steps(inputs);
        layer->outputs = number == LAYER_QUERY ? heads * width : number == LAYER_NEW ? 4 : up_to_steps(outputs);
        layer->weights = part_of(memory, &used, layer->inputs * layer->outputs, sizeof *layer->weights);
        layer->scale = part_of(memory, &used, layer->outputs, sizeof *layer->scale);
        layer->bias = part_of(memory, &used, layer->outputs, sizeof *layer->bias);
    }
    context->sign_rows = part_of(memory, &used, SIGN_ROWS * width, sizeof *context->sign_rows);
    context->common_rows = part_of(memory, &used, context->common * width, sizeof *context->common_rows);
    return used;
}

static size_t divide_room(const Context *context, ContextRoom *room, char *memory) {
    const int64_t width = up_to_steps(context->width), windows = WINDOWS_AT_A_TIME;
    const Layer *layers = context->layers;
    int64_t most = 0;
    size_t used = 0;
    for (int number = 0; number < LAYERS; number++) most = layers[number].outputs > most ? layers[number].outputs : most;
    room->x = part_of(memory, &used, windows * PLACES * width, sizeof *room->x);
    room->both = part_of(memory, &used, windows * layers[LAYER_SECOND].inputs, sizeof *room->both);
    room->queries = part_of(memory, &used, windows * layers[LAYER_QUERY].outputs, sizeof *room->queries);
    room->inner = part_of(memory, &used, windows * layers[LAYER_SECOND].outputs, sizeof *room->inner);
    room->y = part_of(memory, &used, windows * layers[LAYER_THIRD].outputs, sizeof *room->y);
    room->expected = part_of(memory, &used, windows * layers[LAYER_ROW].outputs, sizeof *room->expected);
    room->frequent = part_of(memory, &used, windows * layers[LAYER_FREQUENT].outputs, sizeof *room->frequent);
    room->rows = part_of(memory, &used, windows * layers[LAYER_PROJECTION].inputs, sizeof *room->rows);
    room->totals = part_of(memory, &used, windows * most, sizeof *room->totals);
    room->row = part_of(memory, &used, context->dim, sizeof *room->row);
    room->embedded = part_of(memory, &used, EMBEDDED * width, sizeof *room->embedded);
    return used;
}

static ContextRoom *context_room(const Context *context) {
    ContextRoom parts, *room = calloc(1, sizeof *room + divide_room(context, &parts, NULL) + LINE);
    if (!room) return NULL;
    divide_room(context, room, next_line(room + 1));
    for (int place = 0; place < EMBEDDED; place++) room->ids[place] = -1;
    return room;
}

static int build_context(Context *context) {
    const int64_t width = up_to_steps(context->width);
    char *memory = context->memory = calloc(1, divide_context(context, NULL) + LINE);
    ContextRoom *room = NULL;
    if (!memory) return -1;
    divide_context(context, next_line(memory));
    if (!(room = context_room(context))) return -1;
    for (int number = 0; number < LAYERS; number++) build_layer(context, number);
    for (int64_t sign = 0; sign < SIGN_ROWS; sign++)
        memcpy(context->sign_rows + sign * width, context->signs + sign * context->width, (size_t)context->width * sizeof(int16_t));
    for (int64_t low = 0; low < context->common; low += WINDOWS_AT_A_TIME) {
        int32_t rows[WINDOWS_AT_A_TIME];
        int16_t *to[WINDOWS_AT_A_TIME];
        int64_t some = 0;
        for (; some < WINDOWS_AT_A_TIME && low + some < context->common; some++) {
            rows[some] = (int32_t)(low + some);
            to[some] = context->common_rows + (low + some) * width;
        }
        embed_rows(context, rows, some, room, to);
    }
    free(room);
    return 0;
}
