/* The kernels for x86-64 processors with AVX2. Multiplications and additions are never fused: the same bits as base.c. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* for madvise */
#endif
#include "core.h"

#if defined(__GNUC__) && defined(__x86_64__)
#define LOVEVEC_AVX2
#include <immintrin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))), apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#endif
#define NAME avx2_kernels
#define LABEL "avx2"
#include "kernels.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int no_avx2_here; /* a file must hold something */
#endif
