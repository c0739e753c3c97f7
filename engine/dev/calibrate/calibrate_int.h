/* calibrate, private: the microbenchmark kernels, how one is run, and the parts of a calibration. */
#pragma once

#include "engine/dev/dev.h"

/* Every kernel is entry `k` with parameters (u64 buf, u64 out, u32 a, u32 b, u32 c) and writes cycles to
 * out[0]. */
/* One thread follows pointers through a ring of b elements a bytes apart, the first `from` bytes into
 * buf, c steps (a multiple of 16) after one warm round. */
void calibrate_ring(struct buf *t, const char *op, uint32_t from);
/* The same over cold memory: element at offset o holds o + distance; c steps, no warming. */
void calibrate_walk(struct buf *t, const char *op);
/* Loads a word, then times the word a bytes further on. */
void calibrate_pair(struct buf *t, const char *op);
/* Every thread reads 16-byte vectors `apart` bytes from each other, b of them, all threads together in
 * order, index modulo a (a power of two). */
void calibrate_stream(struct buf *t, const char *op, unsigned apart);
/* One thread follows a pointer to itself in shared memory, c steps (a multiple of 16). */
void calibrate_shared(struct buf *t);
/* c rounds of 256 times `inst` on each thread: dependent (chain) or in four independent chains.
 * inst uses @d (destination and source) and @s (another source). type: register type, "f32". */
void calibrate_rate(struct buf *t, const char *type, const char *inst, bool chain, const char *setup);

struct calibrate_run {
    const char *text;
    uint64_t elems;
    double start, step; /* buf: u64 elements, start + step * i */
    uint32_t a;
    uint32_t b;
    uint32_t c;
    uint32_t grid;  /* CTAs */
    uint32_t block; /* threads */
    int carveout;
    bool cold;
    const struct cancel *cancel; /* may be NULL */
};
struct calibrate_value {
    double cycles, ns;
};

struct calibration {
    struct dev *d;
    struct sim_preset *p;
    struct calibrate_note *notes; /* [SIM_PRESET_FIELDS] */
    struct buf *log;
    struct diags *ds;
    const struct cancel *cancel;
    double clock_hz;
    const char *l1_op; /* the load that stays in L1 */
    bool based;        /* p began as a preset of a GPU like this one */
    size_t errors;     /* in ds when it began: more of them, and a run has failed */
};
/* Runs and releases the text. NAN when it failed (the diagnostics say why). */
struct calibrate_value calibrate_time(struct calibration *k, struct buf *text, struct calibrate_run r);
/* Takes a value into a field of k->p as measured; nothing where it is not finite. The residual is
 * `spread` (how far two measurements differ, or 0), or what rounding took away where that is more. */
void calibrate_set(struct calibration *k, const char *field, double value, double spread);
/* Marks a field as not the base's. */
void calibrate_note(struct calibration *k, const void *field, enum calibrate_from from, double residual);
/* Latencies, what comes together on a miss, L1's line, capacity per carve-out and associativity. */
void calibrate_caches(struct calibration *k);
/* L1, into one SM, L2, DRAM. */
void calibrate_bandwidths(struct calibration *k);
