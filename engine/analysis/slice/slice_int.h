/* Between the files of slice: a CTA in flight, the memory that it runs on. */
#pragma once

#include "engine/sim/part.h"
#include "engine/sim/sim.h"

struct exec_cta;
struct exec_inst;
struct exec_launch;
struct exec_warp;
struct exec_worker;
struct slice;
struct slice_func;
struct slice_run;

/* The slice as a program of the executor's. */
struct slice_machine {
    struct part part;
    struct sim_launch launch;
    struct sim_program *program;
    struct exec_launch *x;
    struct exec_worker *worker; /* of all CTAs where global memory is written; NULL: each has its own */
    int32_t *at;                /* by instruction of the program: the chosen access, -1: none */
    uint32_t *work;             /* by the same: instructions before it that do anything */
};
/* machine.c: makes s->machine of what is needed; what is not known by then is tainted, and more is found
 * out (s->global_writes, s->ends_waits, s->refused). slice_machine_free. */
enum status slice_machine_make(struct slice *s);
void slice_machine_free(struct slice_machine *m);
/* choose.c */
bool slice_mark_needed(struct slice *s);  /* false: out of memory */
bool slice_spread_taint(struct slice *s); /* to all that follows from it; the same */
bool slice_wants(const struct slice *s, const struct slice_func *f, const struct ptx_inst *i);
bool slice_defines(const struct slice_func *f, const struct ptx_inst *i); /* something needed */
/* What follows from values that are not known is tainted. NOT_KNOWN: of an instruction that the slice
 * does not execute; a branch that follows from it goes nowhere. NO_LAUNCH_SAYS: of time, which stands
 * still here, or of the driver; a branch may go by it. */
enum { NOT_KNOWN = 1, NO_LAUNCH_SAYS = 2 };
void slice_not_known(struct slice *s, struct slice_func *f, const struct ptx_inst *i, uint8_t kind);

/* A warp that runs longer than this is taken to loop for ever (a second or so). */
#define SLICE_WARP_OPS (UINT64_C(1) << 24)
/* Where a loop was when last looked at: a warp that comes there again with all of it the same, and no
 * memory changed since, loops for ever. Looked at after 2^k rounds, so that it costs little however
 * long the loop (Brent). */
struct slice_round {
    uint8_t *state;   /* places and registers of all calls */
    size_t n, cap;    /* bytes */
    uint64_t changes; /* of memory, at that time */
    /* jumps back since the warp began or waited; the count at which the state is kept anew */
    uint64_t rounds, next;
};
struct slice_warp {
    uint64_t left;    /* operations it may still run */
    uint32_t present; /* lanes */
    bool ended;       /* by slice_warp_end */
    struct slice_round round;
    uint32_t spun;    /* line of the endless loop that it is in; 0: none */
    uint64_t spun_at; /* changes of memory at that time */
};
struct slice_cta {
    struct slice *s;
    uint64_t id;
    uint32_t nwarps;
    struct slice_warp *warp;
    struct exec_worker *worker; /* its own; NULL: the slice's */
    struct exec_cta *cta;
    struct slice_run *run; /* of the copy reported last */
    size_t nruns, cap_runs;
};
/* memory.c: global and constant memory (part.at). */
struct part_bytes slice_bytes_at(void *slice, uint64_t addr, unsigned n, bool writes);
/* copy.c: fills c->run for one lane that executes a bulk or tensor copy. False: they are not known
 * (slice.odd_copy). */
bool slice_copy_runs(struct slice_cta *c, const struct exec_warp *w, const struct exec_inst *in,
                     unsigned lane);
/* Changes of memory that the CTA's warps can see. */
uint64_t slice_changes(const struct slice_cta *c);
/* spin.c: the warp jumps back. True: nothing but another warp's store ends the loop. */
bool slice_spins(struct slice_cta *c, uint32_t w, uint32_t line);
void slice_spin_begin(struct slice_warp *w);
void slice_spin_free(struct slice_warp *w);
/* func.c */
/* The function that a call names; NULL: it has no body here. */
struct slice_func *slice_callee(struct slice *s, const struct ptx_inst *i);
bool slice_find_funcs(struct slice *s); /* fills s->f and s->of; false: out of memory */
