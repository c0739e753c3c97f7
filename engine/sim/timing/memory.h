/* memory: L2 slices, DRAM channels and the interconnect of a group of SMs. */
#pragma once

#include "engine/sim/cache/cache.h"
#include "engine/sim/cache/l2.h"
#include "engine/sim/cache/parts.h"
#include "engine/sim/cache/sides.h"

struct sim_window;
struct timing_launch;
struct timing_met;

/* ---- the memory system of a group ---- */
struct timing_queue {
    double free;
    float atomics; /* of a slice: share of its work lately that atomics were */
    uint32_t last; /* of a slice: 1 + the atomic unit that worked last; of a unit: 1 + its last line; 0:
                      none */
};
/* Addresses of one atomic unit in a sample: which sampled place asked first, and whether another one did
 * too. */
struct timing_asked {
    uint32_t unit; /* 1 + number of the unit's addresses; 0: none yet */
    uint8_t place;
    bool shared;
};
struct timing_share {
    uint64_t inverse;
    uint32_t n;
}; /* to divide by n without a division */
struct timing_mem {
    const struct sim_preset *g;
    /* met: reads on their way, by line and neighbourhood; NULL: no SMs' are merged */
    struct cache_l2 l2;
    struct cache_sides sides; /* empty: one partition */
    struct cache_parts parts;
    struct timing_met *met;
    struct timing_queue *slice, *channel;
    uint32_t nslices, nchannels;
    struct timing_share by_slice;
    struct timing_share by_channel;
    struct timing_share by_unit;
    /* atomic units, one per slice of the GPU: in a sample too, since few addresses meet in few */
    struct timing_queue *unit;
    uint32_t nunits;
    uint32_t unit_shift;        /* lines of one unit, as a power of two */
    struct timing_asked *asked; /* [TIMING_ASKED] in a sample, else NULL */
    /* lately: sectors L2 has to write back per sector stored; share of reads that met another SM's */
    double written_back, merged;
    double scale;                           /* SMs of the GPU per simulated SM */
    double slice_bytes, channel_bytes;      /* bytes per cycle of one queue */
    double port_cycles[CACHE_SECTORS + 1];  /* of a read, by sectors: cycles at its SM's port, */
    double ask_cycles[CACHE_SECTORS + 1];   /* of its SM's share of all slices, */
    double slice_cycles[CACHE_SECTORS + 1]; /* at each slice if spread over all */
    /* in a sample: cycles a read that all SMs make at once holds up its SM's next ones */
    double crowd_cycles;
    double turn_cycles;   /* cycles per byte of an SM's share of all slices */
    double atomic_cycles; /* cycles one turn of an atomic takes at a slice */
    /* cycles that the epoch's requests take of the channels; share of their time taken lately */
    double busy, load;
    double active;  /* simulated SMs that asked for anything in the last epoch */
    uint32_t epoch; /* start of the current one */
    /* counters, of the simulated SMs */
    uint64_t reads;  /* sectors */
    uint64_t hits;   /* sectors */
    uint64_t missed; /* sectors that the SM's partition of L2 lacked: from DRAM, or from the other one */
    uint64_t writes; /* sectors */
    uint64_t write_hits; /* of those, found */
    /* of those reads, those of copies */
    uint64_t copy_hits, copy_missed;
    double dram_read, dram_write;
};
enum { TIMING_ASKED = 4096 }; /* a power of two */
/* places: NULL when every SM is simulated. */
enum status timing_mem_init(struct timing_mem *m, const struct timing_launch *t,
                            const struct cache_places *places);
/* Before anything is asked; w may be NULL. ST_NOMEM only. */
enum status timing_mem_keep(struct timing_mem *m, const struct sim_window *w);
void timing_mem_free(struct timing_mem *m);
