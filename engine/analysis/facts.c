/* Gathering: the kernel evaluated, its accesses grouped by instruction, counted
 * in closed form where the address is affine and by slices where it is not. */
#include "engine/analysis/facts.h"

#include "engine/analysis/alias.h"
#include "engine/analysis/closed_form.h"
#include "engine/analysis/slice/slice.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/rec/launch_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* warp operations of one analysis: some 15 seconds of one processor */
#define SLICE_BUDGET (UINT64_C(1) << 28)
#define QUICK_CTAS   16u
#define QUICK_BUDGET (UINT64_C(1) << 22)

/* ---- grouping ---- */
static int by_place(const void *a, const void *b)
{
    const struct eval_access *x = *(const struct eval_access *const *)a,
                             *y = *(const struct eval_access *const *)b;
    uint32_t fx = x->frame->func->index, fy = y->frame->func->index;
    if (fx != fy)
        return fx < fy ? -1 : 1;
    if (x->inst != y->inst)
        return x->inst < y->inst ? -1 : 1;
    if (x->store != y->store)
        return (int)x->store - (int)y->store; /* cp.async: its read, then its write */
    return (x > y) - (x < y);                 /* contexts in the order they were met */
}
/* One fact per instruction (and side of it), in the order of the text; its contexts are a stretch of one
 * array. */
static bool group(struct facts *f)
{
    uint32_t n = f->e.naccess;
    const struct eval_access **ctx = ARENA_ARRAY(f->arena, const struct eval_access *, n + 1);
    f->fact = ARENA_ARRAY(f->arena, struct fact, n + 1);
    if (!f->fact || !ctx)
        return false;
    for (uint32_t i = 0; i < n; i++)
        ctx[i] = &f->e.access[i];
    qsort(ctx, n, sizeof *ctx, by_place);
    for (uint32_t i = 0; i < n; i++) {
        const struct eval_access *a = ctx[i];
        struct fact *x = f->n ? &f->fact[f->n - 1] : NULL;
        if (!x || x->func != a->frame->func->index || x->inst != a->inst || x->store != a->store) {
            x = &f->fact[f->n++];
            *x = (struct fact){ .func = a->frame->func->index,
                                .inst = a->inst,
                                .ctx = ctx + i,
                                .space = a->space,
                                .bytes = a->bytes,
                                .load = a->load,
                                .store = a->store,
                                .atomic = a->atomic,
                                .prefetch = a->prefetch };
        }
        x->nctx++;
    }
    return true;
}
/* A generic access is proved global (or shared ...) by the arrays it can point into. */
static uint8_t proved_space(const struct facts *f, const struct fact *x)
{
    if (x->space != PTX_SPACE_GENERIC || !x->arrays || (x->arrays & (ARRAY_DATA | ARRAY_UNKNOWN)))
        return x->space;
    unsigned space = PTX_SPACE_GENERIC;
    for (unsigned b = 0; b < 62; b++) {
        if (!(x->arrays >> b & 1))
            continue;
        unsigned s = array_space(f, b);
        if (space != PTX_SPACE_GENERIC && s != space)
            return PTX_SPACE_GENERIC;
        space = s;
    }
    return (uint8_t)space;
}
static bool make_alias(struct facts *f)
{
    struct alias_opts o = { .launch = f->o->data ? f->o->data->spec : NULL,
                            .restricts = f->o->assume_restrict };
    f->alias = alias_make(f->e.module, f->e.kernel, &o);
    return f->alias != NULL;
}
static const struct ptx_func *find_kernel(const struct ptx_module *m, struct str name, struct diags *ds)
{
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->entry && m->funcs[i]->has_body && (!name.n || str_eq(m->funcs[i]->name, name)))
            return m->funcs[i];
    if (name.n)
        diag_error(ds, "ana-kernel", "no kernel named '%.*s' in %s", (int)name.n, name.s,
                   m->path ? m->path : "the module");
    else
        diag_error(ds, "ana-kernel", "no kernel in %s", m->path ? m->path : "the module");
    return NULL;
}
enum status facts_make(struct facts *f, const struct ptx_module *m, struct str kernel,
                       const struct ana_opts *o, struct arena *arena, struct diags *ds)
{
    memset(f, 0, sizeof *f);
    f->arena = arena;
    f->o = o;
    f->ds = ds;
    if (o->data)
        launch_data_hold(o->data, true);
    if (!kernel.n && o->data && launch_kernel(o->data->spec))
        kernel = str_of(launch_kernel(o->data->spec));
    const struct ptx_func *k = find_kernel(m, kernel, ds);
    if (!k)
        return ST_INPUT;
    enum status st = eval_kernel(&f->e, arena, m, k, o->cancel);
    prior_launches_plan(f, m);
    if (st == ST_OK)
        st = env_make(&f->v, &f->e, o->data);
    f->v.budget = o->budget;
    f->v.quick = o->quick;
    if (st == ST_OK && f->prior_launches_gap)
        eval_gap(&f->e, "%s", f->prior_launches_gap);
    if (st != ST_OK)
        return st;
    if (o->data && (!env_threads(&f->v) || env_threads(&f->v) > 1024 || !env_ctas(&f->v))) {
        diag_error(ds, "ana-launch", "a block of %ux%ux%u threads cannot be launched", f->v.block.x,
                   f->v.block.y, f->v.block.z);
        return ST_INPUT;
    }
    env_solve_loops(&f->v);
    if (!group(f))
        return ST_NOMEM;
    for (uint32_t i = 0; i < f->n; i++) {
        struct fact *x = &f->fact[i];
        for (uint32_t c = 0; c < x->nctx; c++)
            x->arrays |= array_bases(f, x->ctx[c]->addr);
        x->space = proved_space(f, x);
    }
    return make_alias(f) ? f->e.status : ST_NOMEM;
}
void facts_free(struct facts *f)
{
    slice_free(f->slice);
    alias_free(f->alias);
    eval_done(&f->e);
    prior_launches_free(f);
    if (f->o->data)
        launch_data_hold(f->o->data, false);
}

/* ---- slices ---- */
static struct slice *make_slice(struct facts *f, bool all)
{
    struct slice *s = NULL;
    f->sites = ARENA_ARRAY(f->arena, struct slice_site, f->n + 1);
    if (!f->sites)
        return NULL;
    for (uint32_t i = 0; i < f->n; i++)
        f->sites[i] = (struct slice_site){ .func = f->fact[i].func,
                                           .inst = f->fact[i].inst,
                                           .arrays = array_regions(f, f->fact[i].arrays),
                                           .chosen = (all || !f->fact[i].counted) &&
                                                     (f->o->every || !f->fact[i].prefetch) };
    enum status st = slice_make(&f->v, f->sites, f->n, &s);
    if (st != ST_OK || s->refused) {
        if (st == ST_NOMEM)
            f->e.status = ST_NOMEM;
        else if (s && s->refused)
            eval_gap(&f->e,
                     "addresses cannot be executed: control flow depends on %s, which is not modelled",
                     s->refused);
        slice_free(s);
        return NULL;
    }
    if (f->before && (s->reads[PTX_SPACE_GLOBAL] || s->reads[PTX_SPACE_GENERIC])) {
        st = prior_launches_run(f);
        if (st == ST_OK && f->prior_launches_gap)
            eval_gap(&f->e, "%s", f->prior_launches_gap);
    }
    if (st == ST_OK)
        return s;
    f->e.status = st;
    slice_free(s);
    return NULL;
}
struct slice *facts_slice(struct facts *f)
{
    if (!f->slice && f->o->data)
        f->slice = make_slice(f, true);
    return f->slice;
}
struct counting {
    struct facts *f;
    struct tally *t;
};
static bool count_event(void *ctx, const struct slice_event *ev)
{
    struct counting *c = ctx;
    const struct fact *x = &c->f->fact[ev->site];
    bool shared = ev->space == PTX_SPACE_SHARED;
    struct request_count_request r = ev->space == ANA_SPACE_COPY
                                         ? request_count_runs(ev->run, ev->nruns)
                                         : request_count_measure(ev->addr, ev->mask, x->bytes, shared);
    request_count_add(&c->t[ev->site], &r, ev->present, 1);
    return true;
}
/* Relative half-width of a 95 % interval for sectors per request from per-CTA samples. */
static double sample_error(const double *sectors, const double *requests, uint64_t n)
{
    double s = 0, r = 0, var = 0;
    for (uint64_t i = 0; i < n; i++) {
        s += sectors[i];
        r += requests[i];
    }
    if (n < 2 || r <= 0 || s <= 0)
        return 1;
    for (uint64_t i = 0; i < n; i++) {
        double d = sectors[i] - s / r * requests[i];
        var += d * d;
    }
    return 1.96 * sqrt(var / (double)(n - 1) * (double)n) / s;
}
static uint64_t budget_of(const struct facts *f)
{
    uint64_t most = f->o->quick ? QUICK_BUDGET : SLICE_BUDGET;
    return f->o->budget && f->o->budget < most ? f->o->budget : most;
}
struct plan_run {
    uint64_t n, stride, budget;
    bool sampled;
};
static struct plan_run how_many(const struct facts *f)
{
    uint64_t all = env_ctas(&f->v), want = f->o->sample_ctas;
    struct plan_run p = { .n = all, .stride = 1, .budget = budget_of(f) };
    if (f->o->quick) {
        want = want && want < QUICK_CTAS ? want : QUICK_CTAS;
    }
    if (want && want < all) {
        p.n = want;
        p.stride = all / want;
        p.sampled = true;
    }
    return p;
}
/* CTAs in so many equal runs, on as many threads as there are: neither the sums nor where the limit
 * bites depends on the machine. */
#define PARTS 16
struct share_out {
    struct facts *f;
    struct slice *s;
    struct tally *t;
    enum status *st;
    uint64_t n, parts, budget;
};
static void count_part(void *ctx, size_t i)
{
    struct share_out *o = ctx;
    struct counting c = { .f = o->f, .t = o->t + i * o->f->n };
    uint64_t from = o->n * i / o->parts, to = o->n * (i + 1) / o->parts, budget = o->budget / o->parts;
    o->st[i] = slice_run(o->s, from, to - from, 1, count_event, &c, &budget);
}
static enum status run_parallel(struct facts *f, struct slice *s, const struct plan_run *p,
                                struct tally *t)
{
    struct share_out o = { .f = f, .s = s, .n = p->n, .parts = PARTS, .budget = p->budget };
    enum status st = ST_OK;
    o.t = base_alloc(sizeof *o.t * (f->n + 1) * o.parts);
    o.st = base_alloc(sizeof *o.st * o.parts);
    if (o.t && o.st)
        base_parallel(0, o.parts, count_part, &o);
    else
        st = ST_NOMEM;
    for (uint64_t k = 0; st == ST_OK && k < o.parts; k++) {
        st = o.st[k];
        for (uint32_t i = 0; i < f->n; i++)
            request_count_merge(&t[i], &o.t[k * f->n + i]);
    }
    BASE_FREE(o.t, o.st);
    return st;
}
static enum status run_counting(struct facts *f, struct slice *s, struct plan_run *p, struct tally *t)
{
    struct counting c = { .f = f, .t = t };
    if (!p->sampled && !s->global_writes && p->n >= 8)
        return run_parallel(f, s, p, t);
    if (!p->sampled)
        return slice_run(s, 0, p->n, 1, count_event, &c, &p->budget);
    enum status st = ST_OK;
    double *sum = base_alloc(sizeof *sum * p->n * 2 * (f->n + 1));
    struct tally *one = base_alloc(sizeof *one * (f->n + 1));
    uint64_t done = 0;
    for (; sum && one && done < p->n && st == ST_OK; done++) {
        memset(one, 0, sizeof *one * f->n);
        c.t = one;
        st = slice_run(s, done * p->stride, 1, 1, count_event, &c, &p->budget);
        for (uint32_t i = 0; i < f->n; i++) {
            request_count_merge(&t[i], &one[i]);
            sum[(size_t)i * 2 * p->n + done] = (double)one[i].sectors;
            sum[(size_t)i * 2 * p->n + p->n + done] = (double)one[i].requests;
        }
    }
    for (uint32_t i = 0; sum && one && i < f->n; i++)
        f->fact[i].error =
            sample_error(sum + (size_t)i * 2 * p->n, sum + (size_t)i * 2 * p->n + p->n, done);
    st = !sum || !one ? ST_NOMEM : st;
    BASE_FREE(sum, one);
    return st;
}
static enum status count_by_slice(struct facts *f)
{
    struct slice *s = make_slice(f, false);
    struct tally *t = base_alloc(sizeof *t * (f->n + 1));
    if (!s || !t) {
        slice_free(s);
        base_free(t);
        return t ? ST_OK : ST_NOMEM;
    }
    struct plan_run p = how_many(f);
    enum status st = run_counting(f, s, &p, t);
    for (uint32_t i = 0; i < f->n && st == ST_OK; i++) {
        struct fact *x = &f->fact[i];
        if (x->counted || x->prefetch ||
            (x->store && x->inst == f->fact[i ? i - 1 : 0].inst && i && x->func == f->fact[i - 1].func))
            continue; /* cp.async: its shared-memory side is not reported */
        x->tally = t[i];
        x->counted = !s->site[i].tainted && !(x->space == ANA_SPACE_COPY && s->odd_copy);
        x->by_slice = true;
        x->sampled = p.sampled;
        x->scale = p.sampled ? (double)env_ctas(&f->v) / (double)p.n : 1;
        if (s->site[i].tainted)
            x->why = s->taint_why;
        else if (!x->counted)
            x->why = arena_printf(
                f->arena, "the tensor map at line %u is created by the kernel, or is not a tensor map",
                s->odd_copy);
    }
    if (st == ST_REFUSED) {
        if (slice_fault(s))
            eval_gap(&f->e, "the launch's addresses are not executed to the end: %s", slice_fault(s));
        else if (s->spun)
            eval_gap(&f->e,
                     "the launch's addresses are not executed to the end, with CTAs in index "
                     "order: " SLICE_SPUN,
                     s->spun);
        else
            eval_gap(&f->e,
                     "the launch is too long to execute its addresses (stopped after %llu warp "
                     "operations); ask for a sample of CTAs (--sample)",
                     (unsigned long long)budget_of(f));
        st = ST_OK;
        f->too_long = true;
    }
    if (s->order_dependent)
        eval_gap(&f->e, "addresses depend on memory that the kernel itself writes: executed with CTAs "
                        "in index order");
    if (s->outside)
        eval_gap(&f->e,
                 "%llu lane accesses lie outside every buffer of the launch and were read as zero",
                 (unsigned long long)s->outside);
    slice_free(s);
    base_free(t);
    return st;
}

/* ---- closed forms ---- */
static enum status count_closed(struct facts *f, struct fact *x)
{
    struct tally t = { 0 };
    for (uint32_t c = 0; c < x->nctx; c++) {
        struct eval_access a = *x->ctx[c];
        a.space = x->space;
        if (a.sized)
            return ST_OK;
        enum closed_form_result r = closed_form_count(&f->v, &a, &t, &x->why);
        if (r == CLOSED_FORM_CANCELLED)
            return ST_CANCELLED;
        if (r == CLOSED_FORM_NOMEM)
            return ST_NOMEM;
        if (r != CLOSED_FORM_DONE)
            return ST_OK;
    }
    x->tally = t;
    x->counted = true;
    x->why = NULL;
    return ST_OK;
}
/* Finds the part of a symbolic value that has no number, to name it. */
struct missing {
    struct facts *f;
    const char *what;
};
static enum symexpr_visit visit_missing(void *ctx, const struct symexpr *x)
{
    struct missing *m = ctx;
    const struct symexpr_site *s = x->ref;
    const struct ana_loop *l = x->ref;
    switch (x->kind) {
    case SYMEXPR_LOAD:
        if (s && s->func && s->inst < s->func->ninsts)
            m->what =
                arena_printf(m->f->arena, "what is loaded at line %u", s->func->insts[s->inst].at.line);
        return SYMEXPR_FOUND;
    case SYMEXPR_TRIPS:
        m->what = arena_printf(m->f->arena, "how often the loop at line %u runs",
                               l->frame->func->insts[l->frame->cfg->blocks[l->header].first].at.line);
        return SYMEXPR_FOUND;
    case SYMEXPR_UNKNOWN: m->what = s && s->why ? s->why : NULL; return SYMEXPR_FOUND;
    case SYMEXPR_PHI:
        if (s && s->func && s->inst < s->func->ninsts)
            m->what = arena_printf(m->f->arena, "which of several paths leads to line %u",
                                   s->func->insts[s->inst].at.line);
        return m->what ? SYMEXPR_FOUND : SYMEXPR_DESCEND;
    default: return SYMEXPR_DESCEND;
    }
}
static const char *missing(struct facts *f, const struct symexpr *x)
{
    struct missing m = { f, NULL };
    (void)symexpr_find(x, visit_missing, &m);
    return m.what;
}
static enum status count_assumed(struct facts *f, struct fact *x)
{
    struct tally t = { 0 };
    for (uint32_t c = 0; c < x->nctx; c++) {
        struct eval_access a = *x->ctx[c];
        a.space = x->space;
        if (!closed_form_sample(&f->v, &a, false, &t)) {
            const char *what = f->e.status == ST_OK ? missing(f, env_concrete(&f->v, a.addr)) : NULL;
            x->why = what ? arena_printf(f->arena, "%s is unknown without a launch", what)
                          : "its address depends on values that are unknown without a launch";
            return cancel_asked(f->o->cancel) ? ST_CANCELLED : ST_OK;
        }
    }
    x->tally = t;
    x->counted = true;
    if (x->load && x->space == PTX_SPACE_GLOBAL)
        cta_overlap_assumed(f, x);
    return ST_OK;
}
/* The paper's static figure, of global loads. */
static enum status count_every_lane(struct facts *f, struct fact *x)
{
    struct tally t = { 0 };
    for (uint32_t c = 0; c < x->nctx; c++) {
        struct eval_access a = *x->ctx[c];
        a.space = x->space;
        enum closed_form_result r = closed_form_every_lane(&f->v, &a, &t);
        if (r == CLOSED_FORM_CANCELLED || r == CLOSED_FORM_NOMEM)
            return r == CLOSED_FORM_NOMEM ? ST_NOMEM : ST_CANCELLED;
        if (r != CLOSED_FORM_DONE)
            return ST_OK;
    }
    x->every = t;
    return ST_OK;
}
enum status facts_count(struct facts *f)
{
    bool left = false;
    enum status st = ST_OK;
    for (uint32_t i = 0; i < f->n && st == ST_OK; i++) {
        struct fact *x = &f->fact[i];
        if (x->prefetch)
            continue;
        /* a callee that was not followed runs no access of this list, unless by recursion */
        if (x->space == ANA_SPACE_COPY)
            x->why = f->o->data ? NULL : "bytes of a bulk or tensor copy need a launch";
        else if (f->o->data && !f->e.divergent_call)
            st = count_closed(f, x);
        else if (!f->o->data)
            st = count_assumed(f, x);
        if (st == ST_OK && x->load && x->space == PTX_SPACE_GLOBAL)
            st = count_every_lane(f, x);
        left = left || !x->counted;
    }
    if (st == ST_OK && left && f->o->data)
        st = count_by_slice(f);
    return st;
}
