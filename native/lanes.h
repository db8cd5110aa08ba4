/* Eight numbers of 16 bits, or eight floats, at once: the compiler's vectors, which become what the processor has. A
 * compiler without them takes loops for floats, and one number after the other in near.h; results are the same. */
#ifndef LOVEVEC_LANES_H
#define LOVEVEC_LANES_H

#include "core.h"

#include <math.h>
#include <string.h>
#if defined(LOVEVEC_AVX2) || defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__GNUC__) && !defined(LOVEVEC_NO_VECTORS)
#define VECTORS 1
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi" /* about passing vectors to functions, all of which are inlined */
#endif
typedef int16_t Shorts __attribute__((vector_size(16)));
typedef float Floats __attribute__((vector_size(32)));
typedef int32_t Ints __attribute__((vector_size(32)));
typedef int8_t Bytes __attribute__((vector_size(8)));

#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(low, high, ...) __builtin_shufflevector(low, high, __VA_ARGS__)
#else
#define SHUFFLE(low, high, ...) __builtin_shuffle(low, high, (Shorts){__VA_ARGS__})
#endif
/* The last `by` lanes of `low`, then the first ones of `high`. */
#define SHIFT_1(low, high) SHUFFLE(low, high, 7, 8, 9, 10, 11, 12, 13, 14)
#define SHIFT_2(low, high) SHUFFLE(low, high, 6, 7, 8, 9, 10, 11, 12, 13)
#define SHIFT_4(low, high) SHUFFLE(low, high, 4, 5, 6, 7, 8, 9, 10, 11)

INLINE Shorts shorts_at(const int16_t *place) {
    Shorts lanes;
    memcpy(&lanes, place, sizeof lanes);
    return lanes;
}
INLINE Shorts all_shorts(int16_t number) { return (Shorts){0} + number; }
INLINE Shorts least_of(Shorts one, Shorts other) {
#if defined(__clang__)
    return __builtin_elementwise_min(one, other);
#elif defined(__SSE2__)
    return (Shorts)_mm_min_epi16((__m128i)one, (__m128i)other);
#else
    Shorts less = one < other;
    return (one & less) | (other & ~less);
#endif
}
INLINE int any_of(Shorts mask) {
    int64_t words[2];
    memcpy(words, &mask, sizeof mask);
    return (words[0] | words[1]) != 0;
}

INLINE Floats all_floats(float number) { return (Floats){0} + number; }
INLINE Floats plus(Floats one, Floats other) { return one + other; }
INLINE Floats times(Floats one, Floats other) { return one * other; }
/* Each number or, where it is greater (or the number is none), `low`. */
INLINE Floats at_least(Floats numbers, float low) {
    Ints above = numbers > all_floats(low);
    return (Floats)(((Ints)numbers & above) | ((Ints)all_floats(low) & ~above));
}
/* The whole part, for numbers that fit an int; and 2 to the power of whole numbers. */
INLINE Floats whole_of(Floats numbers) { return __builtin_convertvector(__builtin_convertvector(numbers, Ints), Floats); }
INLINE Floats two_to_the(Floats wholes) { return (Floats)((__builtin_convertvector(wholes, Ints) + 127) * (1 << 23)); }
INLINE Floats bytes_at(const int8_t *place) {
#if defined(LOVEVEC_AVX2)
    return (Floats)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)place)));
#else
    Bytes bytes;
    memcpy(&bytes, place, sizeof bytes);
    return __builtin_convertvector(bytes, Floats);
#endif
}
#else
typedef struct { float lane[8]; } Floats;
#define EACH_LANE(expression)                                                          \
    Floats result;                                                                     \
    for (int lane = 0; lane < 8; lane++) result.lane[lane] = (expression);             \
    return result
INLINE Floats all_floats(float number) { EACH_LANE(number); }
INLINE Floats plus(Floats one, Floats other) { EACH_LANE(one.lane[lane] + other.lane[lane]); }
INLINE Floats times(Floats one, Floats other) { EACH_LANE(one.lane[lane] * other.lane[lane]); }
INLINE Floats bytes_at(const int8_t *place) { EACH_LANE((float)place[lane]); }
INLINE Floats at_least(Floats numbers, float low) { EACH_LANE(numbers.lane[lane] > low ? numbers.lane[lane] : low); }
INLINE Floats whole_of(Floats numbers) { EACH_LANE((float)(int32_t)numbers.lane[lane]); }
INLINE Floats two_to_the(Floats wholes) { EACH_LANE(ldexpf(1.0f, (int)wholes.lane[lane])); }
#endif

INLINE Floats floats_at(const float *place) {
    Floats lanes;
    memcpy(&lanes, place, sizeof lanes);
    return lanes;
}
INLINE void put_floats(float *place, Floats lanes) { memcpy(place, &lanes, sizeof lanes); }
/* The sum of all lanes, in one order. */
INLINE float total_of(Floats lanes) {
    float lane[8];
    put_floats(lane, lanes);
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}
#endif
