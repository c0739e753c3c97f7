/* Placement by data structure (Locality Descriptor, ISCA 2018): what the analysis says of each array decides
 * order, bypassing, prefetching and L2 residency together, as one configuration.
 *
 *   an array that several CTAs read    the order of CTAs that keeps them together; a part of L2, where more
 *                                      than L2 holds passes through
 *   that its own CTA reads again       stays in L1: of as many warps as its footprint fits, where nothing
 *                                      else leaves
 *   that is read once                  past L1 (and first out of a full L2), ahead of its use in loops
 *
 * Parts that are not legal here are left out. One part alone is a value of its knob, and no placement. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/search/search.h"
#include "engine/search/space.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <string.h>

enum array_class { ARRAY_UNKNOWN, ARRAY_STREAM, ARRAY_PRIVATE, ARRAY_SHARED };

static bool is_load(const struct ana_access *x)
{
    return !x->store && !x->atomic && !x->prefetch && x->space == PTX_SPACE_GLOBAL;
}

/* Of what parameter `param` points to; *ahead: a loop walks it in steps. */
static enum array_class class_of(const struct ana_kernel *k, int param, bool *ahead)
{
    bool shared = false, again = false, known = false;
    *ahead = false;
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *x = &k->access[i];
        if (!is_load(x) || x->param != param)
            continue;
        if (x->cls == ANA_CLASS_UNKNOWN || x->cls == ANA_CLASS_WRITE)
            return ARRAY_UNKNOWN;
        known = true;
        shared = shared || x->cls != ANA_CLASS_STREAMING;
        again = again || x->reused;
        *ahead = *ahead || (x->affine && x->loops);
    }
    return !known ? ARRAY_UNKNOWN : shared ? ARRAY_SHARED : again ? ARRAY_PRIVATE : ARRAY_STREAM;
}

struct placing {
    const struct searching *s;
    const struct ana_kernel *k;
    enum array_class cls[64];
    size_t n; /* of parameters */
    unsigned streams, again;
    bool shared, ahead;
};

static void classify(struct placing *p)
{
    const struct launch_spec *l = p->s->bench->subject.launch;
    p->n = launch_nargs(l) < ARRAY_LEN(p->cls) ? launch_nargs(l) : ARRAY_LEN(p->cls);
    for (size_t i = 0; i < p->n; i++) {
        bool ahead;
        p->cls[i] = class_of(p->k, (int)i, &ahead);
        p->streams += p->cls[i] == ARRAY_STREAM;
        p->again += p->cls[i] == ARRAY_PRIVATE || p->cls[i] == ARRAY_SHARED;
        p->shared = p->shared || p->cls[i] == ARRAY_SHARED;
        p->ahead = p->ahead || (p->cls[i] == ARRAY_STREAM && ahead);
    }
}

/* Keeps `with` where it is legal. */
static bool keep(const struct searching *s, struct options *o, const struct options *with)
{
    bool legal = !options_equal(o, with) && search_legal(s, with);
    if (legal)
        *o = *with;
    return legal;
}

/* ---- the parts ---- */
/* The best that ran of a knob alone; NULL: none did. */
static const struct seen_result *best_alone(const struct searching *s, const char *knob)
{
    const struct seen_result *best = NULL;
    for (size_t i = 0; i < s->nseen; i++) {
        const struct seen_result *r = &s->seen[i];
        bool alone = group_is_set(&r->asked, group_find(knob)) && group_number(&r->asked) == 1;
        if (alone && r->gain > (best ? best->gain : 0))
            best = r;
    }
    return best;
}

/* As agents or by redirection: what did better alone. */
static bool place_order(const struct placing *p, struct options *o)
{
    const char *index = p->k->partition.index;
    const struct seen_result *alone = best_alone(p->s, "cluster");
    struct options with = *o;
    if (!p->shared || !index || !strcmp(index, "none"))
        return false;
    opt_cluster(&with)->kind = alone ? opt_cluster(&alone->asked)->kind : CLUSTER_REDIRECT;
    return knob_set(&with, (size_t)knob_find(STR("index")), str_of(index), NULL) == ST_OK &&
           keep(p->s, o, &with);
}

static bool passes_l2(const struct placing *p)
{
    const struct launch_spec *l = p->s->bench->subject.launch;
    uint64_t all = 0;
    for (size_t i = 0; i < launch_nargs(l); i++)
        if (launch_arg(l, i)->kind == ARG_BUFFER)
            all += launch_arg(l, i)->count * elem_size(launch_arg(l, i)->elem);
    return all > dev_describe(p->s->bench->subject.dev)->l2_bytes;
}

static void name_streams(const struct placing *p, struct options *o)
{
    for (uint32_t i = 0; i < p->k->naccess; i++) {
        const struct ana_access *x = &p->k->access[i];
        bool streams =
            is_load(x) && x->param >= 0 && (size_t)x->param < p->n && p->cls[x->param] == ARRAY_STREAM;
        if (streams && opt_bypass(o)->loads.n < OPT_MAX_LOADS)
            opt_bypass(o)->loads.line[opt_bypass(o)->loads.n++] = x->at.line;
    }
}

/* The streams leave the cache to the others; else as many warps cache as fit. */
static bool place_bypass(const struct placing *p, struct options *o)
{
    struct options with = *o;
    int fit = p->s->space.pi_predicted;
    opt_bypass(&with)->level = p->s->space.level;
    opt_bypass(&with)->op = p->s->space.no_allocate ? BYPASS_OP_NO_ALLOCATE : BYPASS_OP_CG;
    if (p->streams && p->again) {
        opt_bypass(&with)->form = BYPASS_FORM_VERTICAL;
        name_streams(p, &with);
        struct options both = with;
        opt_bypass(&both)->level = BYPASS_L1L2;
        return (passes_l2(p) && keep(p->s, o, &both)) || keep(p->s, o, &with);
    }
    opt_bypass(&with)->form = p->s->space.form;
    opt_bypass(&with)->pi.mode = PI_VALUE;
    opt_bypass(&with)->pi.value = fit;
    return p->again && fit > 0 && fit < (int)p->s->space.warps && keep(p->s, o, &with);
}

static bool place_residency(const struct placing *p, struct options *o)
{
    struct options with = *o;
    return p->s->space.npersist &&
           knob_set(&with, (size_t)knob_find(STR("l2-persist")), str_of(p->s->space.persist[0]), NULL) ==
               ST_OK &&
           keep(p->s, o, &with);
}

/* Prefetches are instructions, and no other part takes some away: not where they cost more than they
 * bring by themselves. */
static bool place_prefetch(const struct placing *p, struct options *o)
{
    const struct seen_result *alone = best_alone(p->s, "prefetch");
    struct options with = *o;
    opt_prefetch(&with)->level = PREFETCH_L2;
    return p->ahead && !(alone && alone->gain < 1) && keep(p->s, o, &with);
}

/* ---- the reason ---- */
enum { PART_ORDER = 1, PART_BYPASS = 2, PART_RESIDENCY = 4, PART_PREFETCH = 8 };

static void say_array(const struct placing *p, size_t i, unsigned parts, struct buf *b)
{
    const char *name = launch_arg(p->s->bench->subject.launch, i)->name;
    bool kept = parts & PART_RESIDENCY && name && !strcmp(name, p->s->space.persist[0]);
    if (p->cls[i] == ARRAY_UNKNOWN)
        return;
    buf_printf(b, "%s%s %s", b->n ? ", " : "", name ? name : "?",
               p->cls[i] == ARRAY_STREAM    ? "streams"
               : p->cls[i] == ARRAY_PRIVATE ? "private"
                                            : "shared");
    if (p->cls[i] == ARRAY_STREAM && parts & (PART_BYPASS | PART_PREFETCH))
        buf_printf(b, " (%s%s%s)", parts & PART_BYPASS ? "past L1" : "",
                   parts & PART_BYPASS && parts & PART_PREFETCH ? ", " : "",
                   parts & PART_PREFETCH ? "ahead" : "");
    if (p->cls[i] == ARRAY_SHARED && (parts & PART_ORDER || kept))
        buf_printf(b, " (%s%s%s)", parts & PART_ORDER ? p->k->partition.index : "",
                   parts & PART_ORDER && kept ? ", " : "", kept ? "kept in L2" : "");
}

bool search_placement(const struct searching *s, struct options *o, struct buf *why)
{
    struct placing p = { .s = s, .k = s->bench->subject.facts };
    unsigned parts = 0;
    *o = options_default();
    if (!p.k || !s->bench->subject.launch)
        return false;
    classify(&p);
    parts |= place_order(&p, o) ? PART_ORDER : 0;
    parts |= place_bypass(&p, o) ? PART_BYPASS : 0;
    parts |= place_residency(&p, o) ? PART_RESIDENCY : 0;
    parts |= place_prefetch(&p, o) ? PART_PREFETCH : 0;
    for (size_t i = 0; i < p.n; i++)
        say_array(&p, i, parts, why);
    return group_number(o) > 1;
}
