/* The line requests of one SM for a mapping of threads to data; private to tune. */
#pragma once

#include "engine/analysis/analysis.h"
#include "engine/perfmodel/cost.h"
#include "engine/perfmodel/warp_sim.h"
#include "engine/rec/elem.h"

struct tune_bench;

#define LINE_BYTES   128u
#define SECTOR_BYTES 32u
#define SECTORS      (LINE_BYTES / SECTOR_BYTES)

/* How a load is written: what L1 makes of it is the device's. */
enum load_path {
    PATH_PLAIN,
    PATH_READ_ONLY,
    PATH_CA,
    PATH_PAST /* .cg, .cv, volatile */,
    PATH_LOOK /* L1::no_allocate */
};
/* What a memory instruction of a warp is: instructions since its last one, what shared memory accesses
 * among them took (bank passes, and how many were waited for), whether it needs the loads before it; its
 * own passes over L1's data banks, an atomic's turns at L2 (data). access: place among the kernel's
 * accesses without prefetches, which a rewrite adds. phase: barriers that its CTA is past. Warps do the
 * same, so that there are few kinds. Without gaps: they are compared as bytes. */
struct trace_kind {
    uint16_t access;
    uint16_t before;
    uint16_t passes;
    uint16_t chained;
    uint16_t phase;
    uint8_t data, lanes, path /* enum load_path */;
    bool store : 1, partial : 1, prefetch : 1, waits : 1, atomic : 1, red : 1, spare : 1, spare_too : 1;
    uint16_t spare_more;
};
_Static_assert(sizeof(struct trace_kind) == 16, "compared as bytes");
/* Its lines are request[first] and those up to the next step's. Kept small: a trace has up to two
 * million requests. */
struct trace_step {
    uint32_t first, next /* of its warp; TRACE_END */, kind;
};
#define TRACE_END UINT32_MAX
struct trace_request {
    uint32_t line : 27 /* which of the trace's lines */, sectors : 4, again : 1 /* loaded before */;
};
static inline bool trace_loads(const struct trace_kind *k)
{
    return !k->store && !k->atomic && !k->prefetch;
}
/* Things kept once (intern.c), `size` bytes each, in the order of first appearance. */
struct once {
    void *v;
    size_t size;
    size_t n;
    size_t cap;
    uint32_t *slot;
    size_t mask;
};
/* of the rewritten kernel: distances and needs between accesses */
struct tune_code;
struct warp_past {
    uint32_t func, inst;
    uint16_t before;
    uint16_t passes;
    uint16_t chained;
    bool began;
};
struct tune_trace {
    struct options *key; /* owned (enum of_key) */
    bool made, with_paper;
    char why[160];
    struct dim3u grid, block;
    uint32_t shared /* dynamic */, shared_static, regs;
    unsigned resident;
    struct trace_step *step;
    struct trace_request *request;
    size_t nsteps, cap_steps, n /* requests */, cap;
    struct once lines /* uint64_t */, kinds;
    uint8_t *loaded; /* while it is made: bit per line */
    /* per warp of this SM's CTAs: its first step, the newest so far */
    uint32_t *head, *tail;
    bool cut, nomem;
    float *crowd;
    uint32_t ncrowd; /* by access: of first touches, of later ones */
    /* the launches before change no buffer's address: they are executed once for all mappings */
    struct ana_before *before;
    struct ana_request last;
    /* while it is made: the kernel; per warp of this SM's CTAs */
    struct tune_code *code;
    uint32_t func;
    struct warp_past *past;
    /* on_sm: its CTAs; of a long trace, those of its first waves, and all over them. asked: bit per warp
     * of this SM's CTAs: it loads something; and how many do */
    uint8_t *asked;
    uint64_t warps;
    uint64_t on_sm;
    uint64_t nasked;
    uint32_t sms;
    double scale;
    struct tune_paper *paper; /* the loads behind the schedule paper's figure */
};
/* The trace that `o` asks for, kept by the bench until another mapping is wanted. One that cannot be had
 * is kept too: (*out)->why says why. paper: with the loads behind the schedule paper's figure. ST_OK,
 * ST_CANCELLED or ST_NOMEM. */
enum status tune_trace_of(struct tune_bench *b, const struct options *o, bool paper,
                          struct tune_trace **out);

/* Share 0..1 of this access's requests, first or again, that SMs elsewhere make at the same time. */
enum status tune_trace_find_crowd(struct tune_trace *t, const struct ptx_module *m, struct str kernel,
                                  const struct ana_opts *o, struct diags *ds);
float tune_trace_crowd(const struct tune_trace *t, const struct trace_kind *k,
                       const struct trace_request *r);
static inline const struct trace_kind *trace_kind_of(const struct tune_trace *t, size_t step)
{
    return (const struct trace_kind *)t->kinds.v + t->step[step].kind;
}
static inline uint64_t trace_line(const struct tune_trace *t, const struct trace_request *r)
{
    return ((const uint64_t *)t->lines.v)[r->line];
}
static inline size_t trace_lines_end(const struct tune_trace *t, size_t step)
{
    return step + 1 < t->nsteps ? t->step[step + 1].first : t->n;
}

/* Room in *v for one more than n things. What is not used yet takes no memory, so it is not cleared. */
bool tune_trace_room(void **v, size_t n, size_t *cap, size_t size);
/* The number of a thing; TRACE_END: out of memory. Done: nothing more comes, until it is begun again
 * with n = 0. */
uint32_t tune_once(struct once *o, const void *thing);
void tune_once_done(struct once *o);
void tune_once_free(struct once *o);

/* access_gaps.c: instructions between two accesses of a warp, and whether the later one needs what the
 * earlier ones in its block load. Owned; NULL: out of memory. `inst` before PTX_NO_INDEX: the kernel's
 * start. */
struct tune_code *tune_code_of(const struct ptx_func *f);
void tune_code_free(struct tune_code *c);
uint32_t tune_code_between(const struct tune_code *c, uint32_t from, uint32_t to);
uint32_t tune_code_prefetches(const struct tune_code *c, uint32_t inst); /* before it in the text */
bool tune_code_waits(const struct tune_code *c, uint32_t from, uint32_t to);
enum load_path tune_code_path(const struct tune_code *c, uint32_t inst);
/* an atomic that returns nothing */
bool tune_code_is_red(const struct tune_code *c, uint32_t inst);

/* A trace played under options (replay_model.c): counts and time of one SM. */
struct tune_played {
    struct model_walked w;
    /* of the sectors that L2 was asked for, this SM's share of those that DRAM moves */
    double dram;
    bool l2_warm;  /* the launch before left all buffers in L2 */
    double launch; /* cycles of the launch itself; in w.cycles */
};
/* How a load of this access and path goes under these options; *read_only: through that cache. */
enum model_way tune_way_of(const struct tune_bench *b, const struct options *o,
                           const struct trace_kind *r, uint32_t warp, bool *read_only);
/* ST_OK or ST_NOMEM */
enum status tune_play(struct tune_bench *b, const struct options *o, const struct tune_trace *t,
                      struct tune_played *out);
/* those that have a CTA */
double tune_active_sms(const struct dev_info *d, const struct tune_trace *t);

/* paper_cost.c: the loads of the rewritten kernel m are followed into t->paper, once per mapping; their
 * counts under options: loads (G), m1, m2 and latencies of *in, the rest 0. ST_OK, ST_CANCELLED or
 * ST_NOMEM. */
struct tune_paper;
enum status tune_paper_follow(struct tune_trace *t, const struct ptx_module *m, struct str kernel,
                              const struct ana_opts *o, struct diags *ds);
enum status tune_paper_counts(const struct tune_bench *b, const struct options *o,
                              const struct tune_trace *t, struct model_cost_in *in);
void tune_paper_free(struct tune_paper *p); /* NULL is fine */

/* CTAs of an SM at once, of agents no more than are asked for; 1 at least. */
unsigned tune_trace_resident(const struct tune_bench *b, const struct options *o,
                             const struct tune_trace *t);
/* What is left of L1 for data under these options (carve-out, shared memory in use). */
uint64_t tune_l1_bytes(const struct tune_bench *b, const struct options *o, const struct tune_trace *t);
