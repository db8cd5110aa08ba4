/* The kernels for any processor. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* for madvise */
#endif
#define NAME base_kernels
#define LABEL "base"
#include "kernels.h"
