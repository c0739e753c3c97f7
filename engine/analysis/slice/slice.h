/* slice: runs the part of a kernel that decides addresses and control flow.
 *
 *   slice_make   needed registers (backward from addresses, guards, branches) -> a part of the program,
 *                which engine/sim executes (part.h)
 *   slice_run    CTAs one after the other; every request of a chosen access goes to a callback
 *   slice_cta_*  the same, warp by warp, for traces
 *
 * Loaded values come from the launch's initial data; when a needed load may read what the kernel writes,
 * those writes are part of the slice too (CTAs run in index order, warps in index order between
 * barriers, and `order_dependent` is set). What follows from an instruction whose result is not known is
 * tainted: no request is counted from it. */
#pragma once

#include "engine/base/base.h"

struct env;
struct launch_view;
struct ptx_func;
struct slice_machine;

struct slice_func {
    const struct ptx_func *func;
    /* the carry flag, which is no register: something needed reads it; its taint */
    bool carries;
    uint8_t carry_tainted;
    bool odd_loop;  /* it has a loop with several ways in */
    uint32_t index; /* in module->funcs */
    uint32_t nvars; /* registers and cells */
    int32_t *site;  /* by instruction: the first access there; -1: none */
    /* per variable; needed: then per instruction, for effects on memory */
    uint8_t *needed, *tainted;
};
/* arrays: regions an access may touch (bit i: env region i; all ones: any). */
struct slice_site {
    uint32_t func, inst;
    uint64_t arrays;
    bool chosen, tainted;
};
struct slice {
    struct arena *arena;
    struct env *v;
    struct slice_func *f;
    uint32_t nf;            /* functions reachable from the kernel; 0 is the kernel */
    struct slice_func **of; /* by module function: its place among them, or NULL */
    struct slice_site *site;
    uint32_t nsites;
    bool reads[10]; /* by enum ptx_space: some needed load reads there */
    bool global_writes, order_dependent;
    const char *refused;   /* why it cannot run at all, or NULL */
    const char *taint_why; /* the first instruction that is not modelled */
    /* per region: private bytes once written: a variable's; a buffer's */
    struct slice_copy {
        uint8_t *bytes;
        struct launch_view *view;
    } * copy;
    bool ends_waits;   /* waits for mbarriers are taken to end at once */
    bool makes_maps;   /* the kernel writes tensor maps */
    uint32_t odd_copy; /* line of a copy whose bytes are not known: its map; 0: none */
    uint64_t outside;  /* lane accesses outside every buffer */
    /* line of the first loop that a warp was found in for ever, with nobody left to end it; 0: none */
    uint32_t spun;
    enum status status;
    struct slice_machine *machine; /* what runs it */
};
/* bytes of global memory, side by side */
struct slice_run {
    uint64_t addr, bytes;
};
/* space: ANA_SPACE_COPY is one lane's bulk or tensor copy: its runs, in place of addr */
struct slice_event {
    uint32_t site;    /* index into slice.site */
    uint32_t warp;    /* in the CTA */
    uint32_t mask;    /* lanes that access */
    uint32_t present; /* lanes that the warp has, 1 to 32 */
    uint64_t cta;
    const uint64_t *addr; /* 32; of shared and local memory: offsets */
    uint8_t space;        /* resolved: global, shared, local, const */
    const struct slice_run *run;
    size_t nruns;
};
/* False: stop. */
typedef bool (*slice_fn)(void *ctx, const struct slice_event *ev);

/* sites: accesses, sorted by function and instruction; `chosen` ones are reported. env must have a
 * launch. slice_free. */
enum status slice_make(struct env *v, struct slice_site *site, uint32_t nsites, struct slice **out);
void slice_free(struct slice *s);
/* The chosen access of an instruction, or NULL. */
const struct slice_site *slice_site_of(const struct slice *s, uint32_t func, uint32_t inst);

/* One CTA in flight. */
struct slice_cta;
struct slice_cta *slice_cta_new(struct slice *s);
void slice_cta_free(struct slice_cta *c);
void slice_cta_start(struct slice_cta *c, uint64_t cta);
enum slice_stop { SLICE_DONE, SLICE_BARRIER, SLICE_EVENT, SLICE_SPIN, SLICE_STOPPED, SLICE_LIMIT };
#define SLICE_SPUN                                                                                   \
    "warps go round the loop at line %u for ever: what would end it is the store of another CTA, a " \
    "clock, or nothing"
static inline bool slice_stops(enum slice_stop r)
{
    return r == SLICE_STOPPED || r == SLICE_LIMIT;
}
/* Runs warp w until it ends, comes to a barrier, or (step) after one reported request; SLICE_SPIN: it
 * loops where only another warp's store can end. */
enum slice_stop slice_warp_run(struct slice_cta *c, uint32_t w, slice_fn fn, void *ctx, bool step,
                               uint64_t *budget);
bool slice_warp_done(const struct slice_cta *c, uint32_t w);
bool slice_warp_waits(const struct slice_cta *c, uint32_t w); /* at a barrier */
/* Times that a barrier of the CTA has let its warps go. */
uint64_t slice_cta_phase(const struct slice_cta *c);
/* It was found to spin, and no memory has changed since. */
bool slice_warp_spins(const struct slice_cta *c, uint32_t w);
/* Warps in index order from barrier to barrier to the CTA's end, `run` for each; those that spin have
 * another turn after the others. SLICE_DONE, what stopped it, or SLICE_SPIN: all that are left spin. */
typedef enum slice_stop (*slice_run_warp)(void *ctx, uint32_t w);
enum slice_stop slice_cta_run(struct slice_cta *c, slice_run_warp run, void *ctx);
/* Nobody is left to end the loop that warps of the CTA are in: it is named in slice.spun; or they wait at
 * a barrier that nobody else comes to: slice_fault says so. */
void slice_cta_stuck(struct slice_cta *c);
/* What ended a CTA in the middle, as the executor says; NULL: nothing did. */
const char *slice_fault(const struct slice *s);
/* Ends a warp where it is (a sample has seen enough of it). */
void slice_warp_end(struct slice_cta *c, uint32_t w);
/* CTAs [first, first+n*stride) by stride. budget: warp operations left. ST_OK, ST_CANCELLED, or
 * ST_REFUSED: out of budget, stopped, or (spun) waiting for ever. */
enum status slice_run(struct slice *s, uint64_t first, uint64_t n, uint64_t stride, slice_fn fn,
                      void *ctx, uint64_t *budget);
