/* sweep: a curve along one axis, or a family of curves over several. */
#pragma once

#include "engine/perfmodel/category.h"
#include "engine/perfmodel/valley.h"
#include "engine/tune/proof.h"

struct dev_info;
struct options;
struct result;
struct tune_bench;
struct tune_observer;

struct tune_sweep {        /* bpa, cha, then π = 0..W (or another axis) */
    const char *axis;      /* a knob's name: "pi", "agents", "carveout", "block" ... */
    struct result *bpa;    /* every warp bypasses; owned (tune_sweep_ends) */
    struct result *cha;    /* every warp caches; behind bpa */
    struct result *points; /* owned */
    size_t npoints;
    bool complete;
    /* among points that are equal to the original; bpa and cha compete too */
    size_t best;
    bool has_best;
    struct model_curve curve;
    struct model_fit fit;
    struct model_valley valley;
    double overhead_bpa, overhead_cha; /* t(π=0)/t(bpa), t(π=W)/t(cha); NaN: n/a */
    uint32_t warps;                    /* W */
};
/* Several axes at once, "pi,carveout=0/100,bypass-op": the first is the curve, and every combination of
 * the others a slice, a sweep of its own. An axis other than pi, agents, carveout and block is any knob
 * with its values, V/V/... or LO..HI. */
#define TUNE_AXES 4
struct tune_slot;
struct tune_slice {
    struct tune_sweep sweep;
    struct tune_proof proof; /* of its best; tune_family_prove */
};
struct tune_family {
    const char *axis[TUNE_AXES];
    size_t naxes;
    struct tune_slice *slice;
    struct options *base; /* of each slice */
    size_t n;
    size_t best;
    bool has_best, complete; /* the slice with the fastest configuration */
    struct tune_slot *slots;
    size_t nslots; /* every configuration, in the order of running */
};
/* As an axis, does this knob know its points, or must they be listed? */
bool tune_axis_knows_points(size_t knob);
/* Are these axes? Needs nothing but the text; values are looked at by tune_family_list. */
enum status tune_axes_check(const char *axes, struct diags *ds);
/* What there is to run: slices with their base options and axis, no results. ST_USAGE: the axes make no
 * sense. tune_family_free also on failure. */
enum status tune_family_list(struct tune_bench *b, const char *axes, const struct options *base,
                             struct tune_family *out, struct diags *ds);
/* All of it in one go, over the bench's pool where it has one; slices are judged also when it is cut
 * off. */
enum status tune_family_run(struct tune_bench *b, struct tune_family *f, const struct tune_observer *ob,
                            const struct result *done, size_t ndone, struct diags *ds);
/* Tries to break the best of every slice. One that breaks is a different result from then on, and the
 * next best takes its place. ST_OK, ST_CANCELLED or ST_NOMEM. */
enum status tune_family_prove(struct tune_bench *b, struct tune_family *f,
                              const struct tune_observer *ob, enum tune_level level, struct diags *ds);
const struct options *tune_family_base(const struct tune_family *f, size_t i);
/* the slice that a configuration belongs to */
size_t tune_family_slice(const struct tune_family *f, const struct options *o);
/* The first configuration from number *at on that was to be measured and was not (not run, or its device
 * failed; a refusal is a result); its message says why, empty: it was not reached. *at: behind it. NULL:
 * none. */
const struct result *tune_family_missing(const struct tune_family *f, size_t *at);
bool tune_untimed(const struct result *r); /* was to be timed, and its device failed */
bool tune_family_has(const struct tune_family *f, const struct options *o);
void tune_family_free(struct tune_family *f);
/* Recomputes best, category, fit and overheads from points (replay uses it: no device). */
void tune_sweep_judge(struct tune_sweep *s, const struct dev_info *d, double block_threads);
/* Makes bpa and cha, empty. False: out of memory. */
bool tune_sweep_ends(struct tune_sweep *s);
void tune_sweep_free(struct tune_sweep *s);
/* The configuration to use: bpa, cha or a point between; NULL when nothing ran equal to the original. */
const struct result *tune_sweep_best(const struct tune_sweep *s);
/* One sentence a person can act on: "cache-congested: π=7 is 2.1x faster than caching all." */
void tune_verdict(const struct tune_sweep *s, struct buf *out);
