/* The counts behind the schedule paper's figure, as the paper has them: G, the line transactions of all
 * loads of the launch; m1 and m2, miss rates of L1 and L2 by reuse distance over lines, first touches
 * included. No time, no sectors, no queues: those are in our own figure (replay_model.c).
 *
 *   small launches   every SM's loads, the SMs in step: one stack of lines each, one for L2 behind them
 *   others           the first SM's loads stand for all; G is exact all the same
 *
 * A cache is fully associative and LRU here (Almasi et al.); loads that pass a level by miss there. */
#include "engine/perfmodel/reuse.h"
#include "engine/predict/request_trace.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/tune/tune_int.h"

#include <string.h>

enum { PAPER_SMALL = 1 << 17 }; /* line transactions of a launch whose SMs are all followed */

struct paper_load {
    uint64_t line;
    uint16_t warp, access;
    uint8_t path;
};
struct tune_paper {
    double loads; /* G */
    struct paper_load *load;
    size_t n, cap;
    size_t *end; /* by SM followed: behind its last load */
    uint32_t sms;
    bool all; /* every SM with CTAs is followed */
    bool nomem, cut;
};

void tune_paper_free(struct tune_paper *p)
{
    if (p) {
        BASE_FREE(p->load, p->end);
    }
    base_free(p);
}

/* ---- what is kept ---- */
static bool keep(struct tune_paper *p, const struct paper_load *l)
{
    if (!tune_trace_room((void **)&p->load, p->n, &p->cap, sizeof *p->load)) {
        p->nomem = true;
        return false;
    }
    p->load[p->n++] = *l;
    return true;
}

struct keeping {
    struct tune_paper *p;
    const struct tune_trace *t;
};

static bool keep_request(void *ctx, const struct ana_request *r)
{
    struct keeping *k = ctx;
    if (r->store || r->atomic || r->prefetch || r->shared)
        return true;
    bool here = r->func == k->t->func;
    struct paper_load l = { r->line, (uint16_t)r->warp, (uint16_t)r->access,
                            here ? (uint8_t)tune_code_path(k->t->code, r->inst) : PATH_PLAIN };
    k->p->cut = k->p->n >= 2 * PAPER_SMALL;
    return !k->p->cut && keep(k->p, &l);
}

static enum status follow_all(struct tune_paper *p, const struct tune_trace *t,
                              const struct ptx_module *m, struct str kernel, const struct ana_opts *o,
                              struct diags *ds)
{
    struct keeping k = { p, t };
    enum status st;
    struct ana_opts loads = *o;
    loads.every = false;
    struct ana_tracer *tracer;
    p->all = true;
    st = ana_tracer_make(&tracer, m, kernel, &loads, LINE_BYTES, t->resident, t->sms, ds);
    for (uint32_t sm = 0; sm < p->sms && st == ST_OK && !p->nomem && !p->cut; sm++) {
        st = ana_tracer_sm(tracer, sm, keep_request, &k, ds);
        p->end[sm] = p->n;
    }
    ana_tracer_free(tracer);
    return p->nomem ? ST_NOMEM : st;
}

/* Loads of a long trace that stand for the rest: two exact reuse stacks of more would take hundreds of
 * megabytes. */
#define FIRST_MOST (UINT32_C(1) << 19)

/* The loads of the first SM, from its trace: steps in the order of their requests. */
static enum status follow_first(struct tune_paper *p, const struct tune_trace *t)
{
    uint16_t *warp = base_alloc((t->nsteps + 1) * sizeof *warp);
    if (!warp)
        return ST_NOMEM;
    for (size_t w = 0; w < t->on_sm * t->warps; w++)
        for (uint32_t i = t->head[w]; i != TRACE_END; i = t->step[i].next)
            warp[i] = (uint16_t)(w % t->warps);
    for (size_t i = 0; i < t->nsteps && !p->nomem && p->n < FIRST_MOST; i++) {
        const struct trace_kind *r = trace_kind_of(t, i);
        for (size_t k = t->step[i].first, end = trace_lines_end(t, i); trace_loads(r) && k < end; k++)
            keep(p, &(struct paper_load){ trace_line(t, &t->request[k]), warp[i], r->access, r->path });
    }
    base_free(warp);
    p->sms = 1;
    p->end[0] = p->n;
    p->all = false;
    return p->nomem ? ST_NOMEM : ST_OK;
}

/* G from the exact counts of the analysis; where there are none, from the trace. */
static double loads_of(const struct ptx_module *m, struct str kernel, const struct ana_opts *o,
                       const struct tune_trace *t)
{
    struct ana_kernel *k = NULL;
    struct ana_opts quick = *o;
    quick.every = false;
    double n = 0;
    if (ana_run(m, kernel, &quick, &k, NULL) == ST_OK) {
        n = k->exact.valid ? (double)k->exact.lines : 0;
        ana_free(k);
    }
    for (size_t i = 0; n == 0 && i < t->nsteps; i++)
        if (trace_loads(trace_kind_of(t, i)))
            n += (double)(trace_lines_end(t, i) - t->step[i].first) * (double)dim3u_count(t->grid) /
                 (double)t->on_sm;
    return n;
}

enum status tune_paper_follow(struct tune_trace *t, const struct ptx_module *m, struct str kernel,
                              const struct ana_opts *o, struct diags *ds)
{
    uint64_t ctas = dim3u_count(t->grid);
    struct tune_paper *p = base_alloc(sizeof *p);
    tune_paper_free(t->paper);
    t->paper = p;
    if (!p)
        return ST_NOMEM;
    p->loads = loads_of(m, kernel, o, t);
    p->sms = ctas < t->sms ? (uint32_t)ctas : t->sms;
    p->end = base_alloc((p->sms + 1) * sizeof *p->end);
    if (!p->end)
        return ST_NOMEM;
    if (p->loads <= PAPER_SMALL) {
        enum status st = follow_all(p, t, m, kernel, o, ds);
        if (st != ST_OK || !p->cut)
            return st;
        p->n = 0;
    }
    return follow_first(p, t);
}

/* ---- what the caches make of it ---- */
struct counting {
    const struct tune_bench *b;
    const struct options *o;
    struct model_reuse **l1, **ro, *l2;
    uint64_t l1_lines, ro_lines, l2_lines;
    uint64_t missed, cold2, lost2, total;
};

static bool found(struct model_reuse *r, uint64_t line, uint64_t lines, bool *cold)
{
    uint64_t d = model_reuse_touch(r, line);
    *cold = d == MODEL_COLD;
    return !*cold && d < lines;
}

static void count_load(struct counting *c, uint32_t sm, const struct paper_load *l)
{
    struct trace_kind kind = { .access = l->access, .path = l->path };
    bool read_only = false, cold;
    enum model_way way = tune_way_of(c->b, c->o, &kind, l->warp, &read_only);
    bool other = read_only && c->ro_lines;
    struct model_reuse *r = other ? c->ro[sm] : c->l1[sm];
    c->total++;
    if (way != MODEL_WAY_PAST && found(r, l->line, other ? c->ro_lines : c->l1_lines, &cold))
        return;
    c->missed++;
    if (found(c->l2, l->line, c->l2_lines, &cold))
        return;
    c->cold2 += cold;
    c->lost2 += !cold;
}

/* SMs in step: each its next load in turn. */
static void count_all(struct counting *c, const struct tune_paper *p)
{
    size_t longest = 0, begin = 0;
    for (uint32_t sm = 0; sm < p->sms; begin = p->end[sm++])
        longest = p->end[sm] - begin > longest ? p->end[sm] - begin : longest;
    for (size_t i = 0; i < longest; i++)
        for (uint32_t sm = 0; sm < p->sms; sm++) {
            size_t at = (sm ? p->end[sm - 1] : 0) + i;
            if (at < p->end[sm])
                count_load(c, sm, &p->load[at]);
        }
}

static bool make_stacks(struct counting *c, uint32_t sms)
{
    c->l1 = base_alloc((sms + 1) * sizeof *c->l1);
    c->ro = base_alloc((sms + 1) * sizeof *c->ro);
    c->l2 = model_reuse_new(1024);
    bool ok = c->l1 && c->ro && c->l2;
    for (uint32_t sm = 0; ok && sm < sms; sm++)
        ok = (c->l1[sm] = model_reuse_new(256)) && (!c->ro_lines || (c->ro[sm] = model_reuse_new(256)));
    return ok;
}

static void free_stacks(struct counting *c, uint32_t sms)
{
    for (uint32_t sm = 0; sm < sms; sm++) {
        model_reuse_free(c->l1 ? c->l1[sm] : NULL);
        model_reuse_free(c->ro ? c->ro[sm] : NULL);
    }
    model_reuse_free(c->l2);
    BASE_FREE(c->l1, c->ro);
}

/* One SM for all: lines that several SMs touch are moved once, and each has its share of L2. alone: the
 * share of this SM's lines that no other has, if all of the buffers are read. */
static double alone_of(const struct tune_bench *b, const struct tune_trace *t,
                       const struct tune_paper *p)
{
    double sms = (double)dim3u_count(t->grid) / ((double)t->on_sm * t->scale),
           lines = (double)t->lines.n * t->scale * sms,
           all = (double)b->subject.data->total_bytes / LINE_BYTES;
    return !p->all && lines > all ? all / lines : 1;
}

enum status tune_paper_counts(const struct tune_bench *b, const struct options *o,
                              const struct tune_trace *t, struct model_cost_in *in)
{
    const struct dev_info *d = dev_describe(b->subject.dev);
    const struct tune_paper *p = t->paper;
    double alone = p ? alone_of(b, t, p) : 1, l2 = (double)d->l2_bytes / LINE_BYTES;
    struct counting c = { .b = b,
                          .o = o,
                          .l1_lines = tune_l1_bytes(b, o, t) / LINE_BYTES,
                          .ro_lines = (uint64_t)d->sm.ro_bytes / LINE_BYTES };
    *in = (struct model_cost_in){ .lat_l1 = d->lat_l1, .lat_l2 = d->lat_l2, .lat_dram = d->lat_dram };
    if (!p)
        return ST_OK;
    c.l2_lines = (uint64_t)(p->all ? l2 : l2 / tune_active_sms(d, t) / alone);
    bool ok = make_stacks(&c, p->sms);
    if (ok)
        count_all(&c, p);
    free_stacks(&c, p->sms);
    in->loads = p->loads;
    in->m1 = c.total ? (double)c.missed / (double)c.total : 0;
    in->m2 = c.missed ? ((double)c.cold2 * alone + (double)c.lost2) / (double)c.missed : 0;
    return ok ? ST_OK : ST_NOMEM;
}
