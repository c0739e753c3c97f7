/* Lane kernels for any processor. */
#define LANES_TABLE exec_lanes_base
#include "engine/sim/exec/lanes/bodies.h"

exec_fn *const *exec_lanes_pick(unsigned limit)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi2");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512cd");
    if (avx512 && (limit == 0 || limit == 3))
        return exec_lanes_avx512;
    if (avx2 && limit != 1)
        return exec_lanes_avx2;
#else
    (void)limit;
#endif
    return exec_lanes_base;
}
