/* facts: what ana_run gathers before it writes struct ana_kernel. One fact per
 * static memory instruction; inlined copies of a callee are its contexts. */
#pragma once

#include "engine/analysis/analysis.h"
#include "engine/analysis/request_count.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/analysis/symbolic/eval.h"
#include "engine/rec/data.h"

struct alias;
struct slice;
struct slice_site;

/* Arrays an address may point into: bit i: kernel parameter i (0..39), symbol i-40 (40..61). */
#define ARRAY_MAX_PARAMS 40
#define ARRAY_SYMBOL     40
#define ARRAY_DATA       (UINT64_C(1) << 62) /* a pointer that was loaded */
#define ARRAY_UNKNOWN    (UINT64_C(1) << 63)

/* What an access of one CTA shares with the next CTA along an axis. */
struct fact_overlap {
    uint64_t bytes;
    uint64_t sectors;
    uint64_t lines;
    uint64_t of_bytes;
    uint64_t of_lines;
};
struct fact {
    uint32_t func, inst; /* module->funcs index; instruction */
    const struct eval_access **ctx;
    uint32_t nctx;
    uint8_t space, bytes; /* space proved where it was generic */
    bool load;            /* reads */
    bool store;           /* writes */
    bool atomic;          /* reads and writes at once */
    bool prefetch;        /* brings lines, no value */
    uint64_t arrays;
    struct tally tally;
    struct tally every; /* of a global load, as if every lane ran it; no requests: not known */
    bool counted;
    bool sampled;
    bool by_slice;
    /* sampled: half-width of its ratio; CTAs of the launch per CTA executed */
    double error, scale;
    struct fact_overlap near[3]; /* along x, y, z; zero: not probed */
    /* lines this load reads that a CTA next door writes; facts index of the store */
    struct fact_writer {
        uint64_t lines, of_lines;
        uint32_t store;
        uint8_t axis;
    } writer;
    /* over the whole launch when it was traced: bytes, and those another CTA had read */
    uint64_t bytes_read, by_others;
    /* lines asked for in probed CTAs; of them, asked for again soon, or ever by the CTA */
    uint64_t touches;
    uint64_t again;
    uint64_t ever;
    const char *why; /* not counted or not closed form: the reason */
};
struct facts {
    struct eval e;
    struct env v;
    struct arena *arena;
    const struct ana_opts *o;
    struct diags *ds;
    struct fact *fact;
    uint32_t n;
    struct alias *alias; /* of the module and the launch */
    /* by bit ARRAY_SYMBOL + i: a variable; or a struct parameter and a pointer's offset in it */
    const struct ptx_symbol *symbol[22];
    int64_t member[22];
    uint32_t nsymbols;
    bool grid_known, grid_uses[3]; /* without a launch: axes the addresses use */
    bool too_long;                 /* slices ran into the limit: no traces either */
    /* buffers as the launches before leave them; buffers NULL: as they start */
    struct launch_data patched;
    /* not NULL: those launches are executed as soon as a slice reads memory */
    const struct ptx_module *before;
    char *prior_launches_gap; /* why they were not executed, or NULL */
    struct slice *slice;      /* with every access chosen, made when first asked for */
    struct slice_site *sites;
};
enum status facts_make(struct facts *f, const struct ptx_module *m, struct str kernel,
                       const struct ana_opts *o, struct arena *arena, struct diags *ds);
void facts_free(struct facts *f);
/* Counts every access: closed forms, then slices for what is left. */
enum status facts_count(struct facts *f);
/* The slice that reports all accesses; NULL (with a gap) when there is no launch or it cannot run. */
struct slice *facts_slice(struct facts *f);

/* prior_launches.c: looks whether the launches before this one can be executed; executes them, on copies
 * of the buffers, which f->v then has (f->patched). */
void prior_launches_plan(struct facts *f, const struct ptx_module *m);
enum status prior_launches_run(struct facts *f);
void prior_launches_free(struct facts *f);

/* points_to.c: which arrays, read-only, aliasing */
uint64_t array_bases(struct facts *f, const struct symexpr *x);
const char *array_name(const struct facts *f, uint64_t arrays); /* NULL: several or unknown; "data" */
char *array_names(const struct facts *f, uint64_t arrays);      /* all of them: "A or B"; in the arena */
/* the one parameter that it is or is a member of; -1: none */
int array_param(const struct facts *f, uint64_t arrays);
/* The launch region the arrays' buffer is, as a set of regions (bit per region; all ones: any). */
uint64_t array_regions(const struct facts *f, uint64_t arrays);
/* Space of what bit b (a parameter or symbol) points to or is. */
unsigned array_space(const struct facts *f, unsigned b);
enum ana_tri array_read_only(struct facts *f, const struct fact *load, char **why);
const char *array_loop_name(void *ctx, const void *loop);
const char *array_leaf_name(void *ctx, const struct symexpr *leaf);
const struct ptx_inst *fact_inst(const struct facts *f, const struct fact *x);

/* steps.c: ana_access.step of an address; false: not known */
bool ana_steps(struct facts *f, const struct symexpr *address, int64_t step[ANA_STEPS]);

/* classify.c */
void classify_all(struct facts *f, struct ana_kernel *k);
/* cta_overlap.c: x->near without a launch, from the first iterations of neighbouring CTAs; x is counted.
 */
void cta_overlap_assumed(struct facts *f, struct fact *x);
/* share.c: reuse split, CTA sharing, footprint */
void share_all(struct facts *f, struct ana_kernel *k);
/* CTAs of the launch that an SM holds at a time, by warps, shared memory, registers where they are
 * known, and the CTA limit. */
uint32_t share_resident(const struct facts *f, const struct dev_info *d);
/* curve.c: ana_curve_make for facts that exist; f->slice is made anew. *out owned; ST_REFUSED: nothing
 * could be traced. */
enum status curve_make(struct facts *f, struct ana_curve **out);
