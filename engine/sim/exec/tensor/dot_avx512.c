/* Products of matrices for x86-64 processors with AVX-512 (F, BW, DQ, VL). */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl"))), \
                             apply_to = function)
#else
#pragma GCC target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")
#endif
#include <immintrin.h>
#define DOT_LANES        16
#define DOT_INSTRUCTIONS "engine/sim/exec/tensor/dot_avx512.h"
#define DOT_OPS          dot_ops_avx512
#include "engine/sim/exec/tensor/dot_body.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int dot_avx512_is_for_x86;
#endif
