/* Lane kernels for x86-64 processors with AVX2 and FMA. */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
#define LANES_FMA
#define LANES_256
#define LANES_TABLE exec_lanes_avx2
#include "engine/sim/exec/lanes/bodies.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int exec_lanes_avx2_is_for_x86;
#endif
