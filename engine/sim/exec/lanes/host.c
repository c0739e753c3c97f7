/* What executes simulated kernels on this processor: the choice that lanes/portable.c and native.c make.
 */
#include "engine/sim/host.h"

#include "engine/sim/exec/lanes/lanes.h"

const char *sim_host(void)
{
#if defined(__x86_64__)
    exec_fn *const *lanes = exec_lanes_pick(0);
    if (lanes == exec_lanes_avx512)
        return "this host executes simulated kernels as machine code, 16 lanes at a time (AVX-512)";
    if (lanes == exec_lanes_avx2)
        return "this host interprets simulated kernels, 8 lanes at a time (AVX2): slower than the "
               "machine "
               "code that hosts with AVX-512 get; the results are the same";
#endif
    return "this host interprets simulated kernels, lane by lane: slower than the machine code that "
           "x86-64 hosts with AVX-512 get; the results are the same";
}
