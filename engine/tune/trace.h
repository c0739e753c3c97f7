/* The line requests of one SM for a mapping of threads to data; private to tune. */
#ifndef GPULOCW_TUNE_TRACE_H
#define GPULOCW_TUNE_TRACE_H

#include "engine/tune/tune_int.h"

#define LINE_BYTES 128u
#define SECTOR_BYTES 32u
#define SECTORS (LINE_BYTES / SECTOR_BYTES)

struct line_request { uint64_t line; uint16_t warp, access; uint8_t sectors; bool store, first /* line of its warp instruction */; };
struct tune_trace {
    struct options key; bool made; char why[160];
    struct dim3u grid, block; uint32_t shared; unsigned resident;
    struct line_request *v; size_t n, cap; bool cut, nomem;
    struct ana_request last;
    uint8_t *asked; uint64_t warps, on_sm, nasked; uint32_t sms;   /* bit per warp of this SM's CTAs: it loads something; and how many do */
};
/* The trace that `o` asks for, kept by the bench until another mapping is wanted. One that cannot be had is kept
 * too: (*out)->why says why. ST_OK, ST_CANCELLED or ST_NOMEM. */
enum status tune_trace_of(struct tune_bench *b, const struct options *o, struct tune_trace **out);

/* What is left of L1 for data under these options (carve-out, shared memory in use). */
uint64_t tune_l1_bytes(const struct tune_bench *b, const struct options *o, const struct tune_trace *t);

#endif
