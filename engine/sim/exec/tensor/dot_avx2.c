/* Products of matrices for x86-64 processors with AVX2 and F16C. */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,f16c")
#endif
#include <immintrin.h>
#define DOT_LANES        8
#define DOT_INSTRUCTIONS "engine/sim/exec/tensor/dot_avx2.h"
#define DOT_OPS          dot_ops_avx2
#include "engine/sim/exec/tensor/dot_body.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int dot_avx2_is_for_x86;
#endif
