/* calibrate, private: the microbenchmark kernels and how one is run. */
#ifndef GPULOCW_CALIBRATE_INT_H
#define GPULOCW_CALIBRATE_INT_H

#include "engine/dev/dev.h"

/* Every kernel is entry `k` with parameters (u64 buf, u64 out, u32 a, u32 b, u32 c) and writes cycles to out[0]. */
/* One thread follows pointers through a ring of b elements a bytes apart, c steps (a multiple of 16) after one warm round. */
void calibrate_ring(struct buf *t, const char *op);
/* The same over cold memory: element at offset o holds o + distance; c steps, no warming. */
void calibrate_walk(struct buf *t, const char *op);
/* Loads a word, then times the word a bytes further on. */
void calibrate_pair(struct buf *t, const char *op);
/* Every thread reads 16-byte vectors, b of them, all threads together in order, index modulo a (a power of two). */
void calibrate_stream(struct buf *t, const char *op);
/* c rounds of 256 times `inst` on each thread: dependent (chain) or in four independent chains.
 * inst uses @d (destination and source) and @s (another source). type: register type, "f32". */
void calibrate_rate(struct buf *t, const char *type, const char *inst, bool chain, const char *setup);
void calibrate_empty(struct buf *t);

struct calibrate_run {
    const char *text;
    uint64_t elems; double start, step;   /* buf: u64 elements, start + step * i */
    uint32_t a, b, c, grid, block;
    int carveout;
    bool cold;
    const struct cancel *cancel;          /* may be NULL */
};
struct calibrate_value { double cycles, ns; };
enum status calibrate_measure(struct dev *d, const struct calibrate_run *r, struct calibrate_value *v, struct diags *ds);
#endif
