/* The methods by name: ours, and the papers' own procedures. */
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/predict/prediction.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/device.h"
#include "engine/rec/gain.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"
#include "engine/search/search.h"
#include "engine/search/space.h"
#include "engine/search/tuner.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum status only(struct searching *s, const char *const *names, size_t n)
{
    enum status st = ST_OK;
    bool better = false;
    for (size_t i = 0; i < n && st == ST_OK; i++) {
        bool over = search_spent(s);
        char rest[64];
        snprintf(rest, sizeof rest, "%s%s", over ? "" : "the rest of ", names[i]);
        search_step(s, names[i], i + 1 < n ? names[i + 1] : NULL);
        st = search_dimension(s, space_find(names[i]), s->found->options, SPACE_MOST, &better);
        if (search_spent(s))
            search_untried(s, rest);
    }
    return st == ST_OK ? search_refine_pi(s, &better) : st;
}

/* ---- the cluster paper's framework (4.4) ---- */
static double hit_rate(const struct result *r)
{
    const struct counter *c = &r->counters[COUNTER_L1_HIT_RATE];
    return c->valid ? c->value : NAN;
}

/* The leading CTAs of the grid, whole rows and planes of it where it has them: two waves of the device.
 */
#define PROBE_WAVES 2

static struct dim3u reduced_grid(const struct searching *s)
{
    struct dim3u g = s->space.grid;
    uint64_t wanted =
        (uint64_t)PROBE_WAVES * dev_describe(s->bench->subject.dev)->sms * s->space.resident;
    uint32_t *axis[] = { &g.z, &g.y, &g.x };
    for (size_t i = 0; i < ARRAY_LEN(axis) && dim3u_count(g) > wanted; i++) {
        uint64_t rest = dim3u_count(g) / *axis[i];
        uint64_t n = (wanted + rest - 1) / rest;
        *axis[i] = n < *axis[i] ? (uint32_t)n : *axis[i];
    }
    return g;
}

enum { PROBE_ORIGINAL, PROBE_REDIRECTED, PROBE_BYPASSED, PROBES };

/* From an earlier search of the same reduced grid, or launched and told to the observer. */
static enum status probe_one(struct searching *s, struct tune_bench *b, const struct options *o,
                             struct result *out)
{
    uint32_t ctas = (uint32_t)dim3u_count(b->subject.launch->grid);
    for (size_t i = 0; i < s->opts->nprobes; i++)
        if (s->opts->probes[i].probe_ctas == ctas && options_equal(&s->opts->probes[i].options, o)) {
            *out = s->opts->probes[i];
            s->found->resumed++;
            break;
        }
    enum status st = ST_OK;
    if (!out->probe_ctas) {
        st = tune_run_one(b, o, out, NULL);
        s->found->launches++;
    }
    out->probe_ctas = ctas;
    if (st == ST_OK && s->ob && s->ob->point)
        s->ob->point(s->ob->ctx, out, "a probe on a reduced grid");
    out->probe_ctas = 0; /* here they are compared with each other */
    return st;
}

static enum status probe_three(struct searching *s, struct tune_bench *b, struct result p[PROBES])
{
    struct options o[PROBES];
    enum status st = ST_OK;
    for (size_t i = 0; i < PROBES; i++)
        o[i] = options_default();
    opt_cluster(&o[PROBE_REDIRECTED])->kind = CLUSTER_REDIRECT;
    opt_cluster(&o[PROBE_REDIRECTED])->index.kind =
        s->space.grid.y * s->space.grid.z > 1 ? INDEX_COLUMN : INDEX_ROW;
    opt_bypass(&o[PROBE_BYPASSED])->level = s->space.level;
    opt_bypass(&o[PROBE_BYPASSED])->pi.mode = PI_BPA;
    for (size_t i = 0; i < PROBES && st == ST_OK; i++)
        st = probe_one(s, b, &o[i], &p[i]);
    return st;
}

/* Times of one kind. Without the launches for it the probes say nothing. */
static enum status probes_alike(struct searching *s, struct tune_bench *b, struct result p[PROBES])
{
    unsigned sampled = 0, usable = 0;
    for (size_t i = 0; i < PROBES; i++) {
        usable += tune_usable(&p[i]);
        sampled += tune_usable(&p[i]) && p[i].sampled;
    }
    if (!sampled || sampled == usable)
        return ST_OK;
    if (search_left(s) < sampled) {
        search_untried(s, "probes timed alike");
        for (size_t i = 0; i < PROBES; i++)
            p[i] = result_empty();
        return ST_OK;
    }
    s->found->launches += sampled;
    s->found->whole += sampled;
    return tune_time_alike(b, (struct result *[]){ &p[0], &p[1], &p[2] }, PROBES, s->ds);
}

/* Where does the locality come from? Launches of a reduced grid tell: redirection changes which CTAs
 * meet in an L1, so inter-CTA reuse shows as more hits (five points of a hundred) or less time; L1 off
 * shows whether L1 serves anything at all. These launches are probes, not configurations: they stand in
 * no list of results. */
static enum status inter_cta(struct searching *s, bool *exploitable)
{
    struct launch_spec spec = *s->bench->subject.launch;
    struct tune_subject subject = s->bench->subject;
    struct tune_bench *b = NULL;
    struct result p[PROBES] = { result_empty(), result_empty(), result_empty() };
    search_step(s, "probing a reduced grid: redirection, L1 off", "clustering");
    spec.grid = reduced_grid(s);
    subject.launch = &spec;
    struct tune_run_opts opts = s->bench->opts;
    opts.counters = s->reads_counters; /* hit rates tell more than times do */
    enum status st = tune_bench_open(&subject, &opts, &b, s->ds);
    if (st == ST_OK) {
        tune_bench_watch(b, s->ob);
        st = probe_three(s, b, p);
        if (st == ST_OK)
            st = probes_alike(s, b, p);
    }
    tune_bench_close(b);
    double was = (double)p[PROBE_ORIGINAL].time.median, noise = s->live.noise;
    bool faster =
        tune_usable(&p[PROBE_REDIRECTED]) && (double)p[PROBE_REDIRECTED].time.median < was * (1 - noise);
    bool served =
        tune_usable(&p[PROBE_BYPASSED]) && (double)p[PROBE_BYPASSED].time.median > was * (1 + noise);
    bool more_hits = tune_usable(&p[PROBE_REDIRECTED]) &&
                     hit_rate(&p[PROBE_REDIRECTED]) > hit_rate(&p[PROBE_ORIGINAL]) + 5;
    *exploitable = faster || (more_hits && served);
    snprintf(s->found->probed, sizeof s->found->probed,
             "probed on %ux%ux%u of %ux%ux%u CTAs: redirection takes %s the time, L1 off %s: %s",
             spec.grid.x, spec.grid.y, spec.grid.z, s->space.grid.x, s->space.grid.y, s->space.grid.z,
             gain_words(gain_of(&p[PROBE_REDIRECTED], &p[PROBE_ORIGINAL])).s,
             gain_words(gain_of(&p[PROBE_BYPASSED], &p[PROBE_ORIGINAL])).s,
             *exploitable ? "CTAs share through L1, so they are clustered"
                          : "no sharing between CTAs to use, so their order is changed and prefetched");
    return st;
}

/* Cluster what shares data; else reshape the order and prefetch. Then throttle, then let the streams
 * bypass. */
static enum status method_cluster(struct searching *s)
{
    static const char *const with[] = { "clustering", "active agents", "streaming loads" };
    static const char *const without[] = { "clustering", "prefetching", "throttling",
                                           "streaming loads" };
    bool exploitable = false;
    if (search_left(s) < PROBES && !s->opts->nprobes) {
        search_untried(s, "the probes");
        return ST_OK;
    }
    enum status st = inter_cta(s, &exploitable);
    if (st != ST_OK)
        return st;
    return exploitable ? only(s, with, ARRAY_LEN(with)) : only(s, without, ARRAY_LEN(without));
}

/* bypass paper: every threshold, nothing else. */
static enum status method_static(struct searching *s)
{
    static const char *const names[] = { "cache bypassing" };
    s->space.fine = true;
    return only(s, names, 1);
}

/* bypass paper, 4.4.2: one sampling launch per operator elects a threshold. */
static enum status method_voted(struct searching *s)
{
    static const int ops[] = { BYPASS_OP_CG, BYPASS_OP_NO_ALLOCATE };
    enum status st = ST_OK;
    for (size_t i = 0; i < ARRAY_LEN(ops) && st == ST_OK; i++) {
        struct options o = options_default();
        bool better = false;
        opt_bypass(&o)->level = BYPASS_L1;
        opt_bypass(&o)->op = ops[i];
        opt_bypass(&o)->pi.mode = PI_VOTE;
        st = search_try(s, &o, "the threshold the CTAs vote for", &better);
    }
    return st;
}

/* ---- the model alone: descent over predicted costs, then one launch to confirm ---- */
static void keep_ranked(struct tune_found *f, const struct options *o, const struct tune_prediction *p)
{
    unsigned at = f->nranking;
    for (unsigned i = 0; i < f->nranking; i++)
        if (options_equal(&f->ranked[i], o))
            return;
    while (at && f->ranking[at - 1].cost.extended > p->cost.extended) {
        if (at < TUNE_RANKED) {
            f->ranking[at] = f->ranking[at - 1];
            f->ranked[at] = f->ranked[at - 1];
        }
        at--;
    }
    if (at < TUNE_RANKED) {
        f->ranking[at] = *p;
        f->ranked[at] = *o;
    }
    f->nranking += f->nranking < TUNE_RANKED;
}

/* The alternatives of a dimension on top of `from`; *best becomes the cheapest that is cheaper by more
 * than the noise. */
static enum status model_dimension(struct searching *s, const struct dimension *d,
                                   const struct options *from, struct said_cost *best, bool *better)
{
    struct options list[SPACE_MOST];
    size_t n = d->alternatives(&s->space, from, list);
    for (size_t i = 0; i < n; i++) {
        struct tune_prediction p;
        if (s->ob && cancel_asked(s->ob->cancel))
            return ST_CANCELLED;
        enum status st = tune_predict(s->bench, &list[i], &p);
        if (st != ST_OK)
            return st;
        if (!p.valid)
            continue;
        keep_ranked(s->found, &list[i], &p);
        if (p.cost.extended < best->cost.cost.extended * (1 - s->live.noise)) {
            *best = (struct said_cost){ list[i], p };
            *better = true;
        }
    }
    return ST_OK;
}

/* Steepest descent: of all dimensions the one change that saves most, then the next on top of it. */
static enum status model_descend(struct searching *s, struct said_cost *best)
{
    enum { STEPS = 6 };
    enum status st = ST_OK;
    bool better = true;
    for (int step = 0; step < STEPS && better && st == ST_OK; step++) {
        struct options from = best->options;
        better = false;
        for (size_t d = 0; d < space_dimensions() && st == ST_OK; d++)
            st = model_dimension(s, space_dimension(d), &from, best, &better);
    }
    return st;
}

/* The ranking is what is tried next. */
static void tell_ranking(struct searching *s)
{
    for (unsigned i = 0; i < s->found->nranking; i++) {
        s->frontier[i] = (struct tune_candidate){ .options = s->found->ranked[i],
                                                  .cost = s->found->ranking[i].cost.extended };
        snprintf(s->frontier[i].why, sizeof s->frontier[i].why, "number %u of the model's ranking",
                 i + 1);
    }
    s->live.frontier = s->frontier;
    s->live.nfrontier = s->found->nranking;
    search_tell(s);
}

/* Ranks without a launch; the first is launched, the next ones only if the first is not equal
 * or fails. */
static enum status method_model(struct searching *s)
{
    enum { CONFIRMED = 3 };
    struct said_cost best = { .options = *s->found->options };
    enum status st = tune_predict(s->bench, &best.options, &best.cost);
    if (st != ST_OK || !best.cost.valid)
        return st;
    s->space.fine = true;
    s->live.best_cost = best.cost;
    search_step(s, "the model's ranking, no launches", "confirmation");
    keep_ranked(s->found, &best.options, &best.cost);
    st = model_descend(s, &best);
    tell_ranking(s);
    const struct options *none = options_none();
    unsigned before = s->found->launches;
    for (unsigned i = 0;
         i < s->found->nranking && st == ST_OK && s->found->launches < before + CONFIRMED; i++) {
        bool won = false;
        if (options_equal(&s->found->ranked[i], none))
            break; /* the model thinks no better of anything else */
        if (search_spent(s)) {
            search_untried(s, "the model's first, see above");
            break;
        }
        st = search_try(s, &s->found->ranked[i], "first in the model's ranking", &won);
        if (won || tune_usable(s->last))
            break;
    }
    return st;
}

/* ---- the reference: every configuration that differs from the original in at most `combine` knobs ----
 */
struct visiting {
    struct searching *s;
    unsigned most;
    enum status (*visit)(struct searching *s, const struct options *o, bool *go_on);
};

/* One knob more than before, or other active agents of the same clustering. */
static bool goes_further(const struct visiting *v, const struct options *from, const struct options *to)
{
    unsigned n = group_number(to);
    return n <= v->most &&
           (n > group_number(from) || (opt_cluster(from)->kind == CLUSTER_AGENT &&
                                       opt_cluster(to)->agents != opt_cluster(from)->agents));
}

/* What is not legal is not built upon. */
static enum status visit_all(struct visiting *v, const struct options *from, size_t dim)
{
    enum status st = ST_OK;
    for (size_t d = dim; d < space_dimensions() && st == ST_OK; d++) {
        struct options list[SPACE_MOST];
        size_t n = space_dimension(d)->alternatives(&v->s->space, from, list);
        for (size_t i = 0; i < n && st == ST_OK; i++) {
            bool go_on = false;
            if (!goes_further(v, from, &list[i]))
                continue;
            st = v->visit(v->s, &list[i], &go_on);
            if (go_on && st == ST_OK)
                st = visit_all(v, &list[i], d + 1);
        }
    }
    return st;
}

static enum status visit_try(struct searching *s, const struct options *o, bool *go_on)
{
    bool better;
    enum status st = search_spent(s) ? ST_OK : search_try(s, o, "exhaustive", &better);
    const struct seen_result *r = search_seen_at(s, o);
    *go_on = r && tune_usable(r->result) && r->gain * SEARCH_LOST >= 1;
    return st;
}

static enum status visit_count(struct searching *s, const struct options *o, bool *go_on)
{
    *go_on = search_legal(s, o);
    s->planned += *go_on;
    return ST_OK;
}

#define COMBINED 2 /* knobs changed at once, unless the caller says */
static enum status method_exhaustive(struct searching *s)
{
    unsigned most = s->opts->combine ? s->opts->combine : COMBINED;
    struct visiting count = { s, most, visit_count }, each = { s, most, visit_try };
    const struct options *none = options_none();
    s->space.coarse = true;
    search_step(s, "counting", NULL);
    s->planned = s->found->launches;
    enum status st = visit_all(&count, none, 0);
    s->found->space = s->planned;
    search_step(s, "every combination", NULL);
    if (st == ST_OK)
        st = visit_all(&each, none, 0);
    if (st == ST_OK && search_spent(s)) {
        char rest[64];
        snprintf(rest, sizeof rest, "all but %u of up to %u combinations",
                 s->found->launches + s->found->resumed, s->found->space);
        search_untried(s, rest);
    }
    return st;
}

/* ---- the table ---- */
static const struct search_method methods[] = {
    { "search", search_explore, true },
    { "exhaustive", method_exhaustive, false },
    { "static", method_static, false },
    { "voted", method_voted, false },
    { "cluster-framework", method_cluster, false },
    { "model", method_model, false },
};

const struct search_method *search_method_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (!name || strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

const char *tune_method_name(size_t i)
{
    return i < ARRAY_LEN(methods) ? methods[i].name : NULL;
}

void search_method_names(struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        buf_printf(out, "%s%s", i ? ", " : "", methods[i].name);
}

/* The product of all dimensions at full resolution, for the report: what there would be to try. */
unsigned search_space_size(const struct searching *s)
{
    const struct options *none = options_none();
    struct options list[SPACE_MOST];
    struct space fine = s->space;
    double n = 1;
    fine.fine = true;
    for (size_t d = 0; d < space_dimensions(); d++) {
        size_t k = space_dimension(d)->alternatives(&fine, none, list), ok = 0;
        for (size_t i = 0; i < k; i++)
            ok += search_legal(s, &list[i]);
        n *= (double)ok + 1;
    }
    return n > 4e9 ? 4000000000u : (unsigned)n;
}
