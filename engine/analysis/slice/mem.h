/* Between run.c and mem.c: a CTA in flight and its memory. */
#ifndef GPULOCW_ANALYSIS_SLICE_MEM_H
#define GPULOCW_ANALYSIS_SLICE_MEM_H

#include "engine/base/base.h"

struct slice;
struct slice_func;
struct slice_op;
struct slice_run;

struct slice_entry {
    uint32_t pc, mask;
};
struct slice_frame {
    const struct slice_func *f;
    uint64_t *rows;              /* f->nrows * 32 */
    uint32_t base;               /* first entry of this frame */
    uint32_t lanes;              /* that called */
    const struct slice_op *call; /* in the caller; NULL for the kernel */
};
#define SLICE_MAX_FRAMES 64
/* A warp that runs longer than this is taken to loop for ever (a second or so). */
#define SLICE_WARP_OPS (UINT64_C(1) << 24)
/* Where a loop was when last looked at: a warp that comes there again with all of it the same, and no
 * memory changed since, loops for ever. Looked at after 2^k rounds, so that it costs little however
 * long the loop (Brent). */
struct slice_round {
    uint64_t *state;
    size_t n, cap; /* words: groups and rows of all frames */
    /* word that differed last time: likely to differ again */
    size_t differs;
    uint64_t changes; /* slice_cta.changes at that time */
    /* jumps back since the warp began or waited; the count at which the state is kept anew */
    uint64_t rounds, next;
};
struct slice_warp {
    struct slice_frame frame[SLICE_MAX_FRAMES];
    uint32_t nframes;
    struct slice_entry *stack;
    size_t n, cap;
    uint32_t present, index;
    uint64_t left; /* operations it may still run */
    bool waiting, done;
    const struct slice_op *red; /* barrier with reduction it waits at */
    uint32_t red_mask;
    uint8_t *local; /* 32 * local_bytes */
    struct slice_round round;
    uint32_t spun;    /* line of the endless loop that it is in; 0: none */
    uint64_t spun_at; /* slice_cta.changes at that time */
};
struct slice_cta {
    struct slice *s;
    uint64_t id;
    uint32_t nwarps;
    struct slice_warp *warp;
    uint8_t *shared;
    uint32_t nshared;
    uint32_t nlocal; /* bytes of local memory a lane */
    /* stores to shared and local memory that changed a value */
    uint64_t changes;
    struct slice_run *run; /* of the copy reported last */
    size_t nruns, cap_runs;
    uint64_t **spare;
    size_t nspare, cap_spare; /* row blocks kept for calls */
};
/* Loads o->n elements per active lane into the rows of o->list. addr: 32 lane addresses. */
void slice_load(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o,
                const uint64_t addr[32], uint32_t mask, uint64_t *rows);
void slice_store(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o,
                 const uint64_t addr[32], uint32_t mask, const uint64_t *rows);
void slice_atomic(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o,
                  const uint64_t addr[32], uint32_t mask, uint64_t *rows);
void slice_async(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o,
                 const uint64_t addr[32], uint32_t mask, const uint64_t *rows);
/* copy.c: fills c->run for one lane. False: they are not known (slice.odd_copy). */
bool slice_copy_runs(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o, uint64_t addr,
                     unsigned lane, const uint64_t *rows);
/* n bytes to be read; NULL: they lie outside every buffer. */
const uint8_t *slice_bytes_at(struct slice_cta *c, struct slice_warp *w, unsigned space, uint64_t addr,
                              unsigned lane, unsigned n);
/* The space an access of `space` at addr is in (generic addresses by their window). */
unsigned slice_space(unsigned space, uint64_t addr);
/* spin.c: the warp jumps back. True: nothing but another warp's store ends the loop. */
bool slice_spins(struct slice_cta *c, struct slice_warp *w, uint32_t line);
void slice_spin_begin(struct slice_warp *w);
void slice_spin_free(struct slice_warp *w);
/* warp.c: shuffles, votes, matches, reductions. */
void slice_exchange(const struct slice_op *o, uint32_t mask, const uint64_t *rows, uint64_t *d,
                    uint64_t *d2);

#endif
