/* Lane kernels for x86-64 processors with AVX-512 (F, CD, BW, DQ, VL). */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(                                                                        \
    __attribute__((                                                                                  \
        target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512f,avx512cd,avx512bw,avx512dq,avx512vl"))), \
    apply_to = function)
#else
#pragma GCC target( \
    "avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512f,avx512cd,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif
#define LANES_FMA
#define LANES_512
#define LANES_TABLE exec_lanes_avx512
#include "engine/sim/exec/lanes/bodies.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int exec_lanes_avx512_is_for_x86;
#endif
