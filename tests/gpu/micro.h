/* micro: the micro-kernels' table; micro.c runs them. */
#ifndef GPULOCW_GPU_MICRO_H
#define GPULOCW_GPU_MICRO_H

#include "engine/dev/dev.h"

struct micro_row;
struct micro_walk;

#define MICRO_SMALL (36ull << 20) /* bytes of the buffer that stays in L2 */
#define MICRO_LARGE (1ull << 28)  /* of the one that does not */

enum micro_metric {
    MICRO_NS,        /* whole launch */
    MICRO_PER_CYCLE, /* work per cycle of one SM */
    MICRO_CYCLES_PER,
    MICRO_LATENCY, /* cycles per access of one warp */
    MICRO_LEAST,
    MICRO_MOST, /* the same, of the fastest and the slowest warp of the grid */
    /* cycles until a warp has issued its accesses; their results are not waited for */
    MICRO_ISSUE,
    MICRO_CHIP,
    MICRO_CHIP_GBPS, /* work per cycle, per ns, of all SMs; the empty launch taken off */
    MICRO_FIRST,     /* when the first warp of an SM was done, percent of all */
    /* percent of the first walk's sectors that hit L1; from here on counters are needed */
    MICRO_L1_HITS,
    MICRO_L2_READS, /* sectors read from L2 per unit of work */
    MICRO_L2_HITS,
    MICRO_DRAM /* bytes read from DRAM per unit of work */
};
/* One warp's accesses, in bytes: base + cta * c + warp * w + lane * l + offset + u * step; the offset
 * grows by `advance` each round and starts again from 0 at `wrap`. */
struct micro_walk {
    const char *op; /* @a address, @v, @w, @f, @d 32-bit, 64-bit, float and double result; "": the warps
                       end at once */
    uint32_t lane, warp, cta, unroll;
    uint64_t step, advance, wrap, base;
    uint32_t rounds;
    /* bytes by which each warp of the grid starts its walk later than the one before; 0: all in step */
    uint32_t apart;
    bool chain; /* each address depends on the value before */
    /* no memory: arithmetic on registers of this kind (v, w, f, d); number 50 is a chain, 51 holds 1 */
    char math;
};
struct micro_row {
    const char *name, *unit;
    enum micro_metric metric;
    double each; /* units of work per access of a warp */
    uint32_t grid, block;
    int carveout;
    bool large, stamps, cold;
    uint32_t shared; /* bytes; the walk is over them */
    /* out: of warps `split` and above; op NULL: all warps do the same */
    struct micro_walk in, out;
    uint32_t split;
    /* with one CTA per SM: only SMs 0, sm_step, 2 sm_step... work, `sms` of them; 0: all */
    uint32_t sms, sm_step;
};
size_t micro_row_count(void);
const struct micro_row *micro_row(size_t i);

#endif
