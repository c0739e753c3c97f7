/* sides: which partition of L2 has a copy of what was written. */
#pragma once

#include "engine/sim/cache/l2.h"

/* An L2 of two partitions: an SM looks a line up in its own, and asks the line's home, the partition
 * that answers for it, where that finds nothing. A store reaches the SM's own partition and the home,
 * and takes the line from the third place, if there is one:
 *
 *   line of home 0      own 0          own 1
 *   an SM of 0 stores   valid          dropped
 *   an SM of 1 stores   valid          valid
 *
 * So of a buffer written from anywhere and read from anywhere a quarter of the sectors are not found in
 * the reader's partition, and come from the other one without DRAM.
 *
 * What launches only read gets a copy on each side that reads it, and which side reads a line changes
 * from launch to launch. Such a copy is there if half of L2 holds what its side touched since: the
 * read-only buffers, and of each restored one what the launch and the copies before it touch. Where all CTAs run at
 * once, they come to the same SMs in each launch.
 *
 * The state is kept for each line of the launch's buffers; other lines always have copies. */
struct cache_sides {
    struct cache_range *range; /* the buffers; owned */
    size_t nranges;
    /* sectors of each line: bits 0 to 3 in partition 0, 4 to 7 in 1; 0: untouched; owned */
    uint8_t *copy;
    double holds;   /* lines that one partition has room for */
    double between; /* lines of restored buffers that it touches between two reads of a read-only line */
    double only_read; /* lines of the read-only buffers */
    double spread;    /* the age at which a line goes differs by this share of what a partition holds */
    bool alike;       /* each launch gives its CTAs to the same SMs: what they read they find again */
};

/* For the buffers v of a launch, on an L2 that holds `lines` distinct lines. Restored buffers were
 * written by copies that SMs of both sides made. ST_NOMEM: c is empty and finds everything. */
enum status cache_sides_init(struct cache_sides *c, const struct cache_range *v, size_t n,
                             uint64_t lines, double spread);
void cache_sides_free(struct cache_sides *c);

/* The partition that answers for a line, 0 or 1. */
static inline unsigned cache_side_of(uint64_t line)
{
    return (unsigned)(cache_mix(line) >> 40) & 1;
}

/* Sectors of a read that its SM's partition lacks: `crossed` come from the other one, `lost` from DRAM.
 */
struct cache_sides_outcome {
    uint8_t crossed;
    uint8_t lost;
};
/* A request of an SM of partition r->side, of whose sectors L2 has `hit`. alone: the chance that no
 * other SM asked for the line before, 0 to 1. A store lacks nothing. */
struct cache_sides_outcome cache_sides_access(struct cache_sides *c, const struct cache_l2_request *r,
                                              uint8_t hit, double left);
