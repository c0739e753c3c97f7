/* Lines that all SMs ask L2 for at the same time. A line lives in one slice of L2, which answers one
 * request at a time: what all read at once comes more slowly than what each reads for itself. One SM's
 * trace does not show it, so the first requests of three others are looked at: the SMs of the next CTA
 * in x, of the next in y, and of one far off. A line that all four touch at about the same place in
 * their traces is taken to be asked for by everybody. First touches count apart from later ones: those
 * ask L2 only where L1 has lost the line. */
#include "engine/predict/request_trace.h"
#include "engine/rec/device.h"

#define LOOKED_AT 2048u /* first requests of each SM */
#define SMS       4u    /* this one is number 0 */
#define SLOTS     (2 * SMS * LOOKED_AT)

/* open addressing by line; part: bits, those in which it was asked for */
struct early {
    uint64_t line1[SLOTS];
    uint8_t part[SLOTS][SMS];
    unsigned part_loads; /* loads of one part (predict_together); parts beside each other are at once */
    bool again[SLOTS];
};
struct looking {
    struct early *e;
    unsigned sm;
    uint16_t n;
};

static size_t slot_of(struct early *e, uint64_t line)
{
    size_t i = (size_t)(line * UINT64_C(0x9E3779B97F4A7C15) >> 40) % SLOTS;
    while (e->line1[i] && e->line1[i] != line + 1)
        i = (i + 1) % SLOTS;
    e->line1[i] = line + 1;
    return i;
}

static bool look_at(struct looking *l, uint64_t line)
{
    l->e->part[slot_of(l->e, line)][l->sm] |= (uint8_t)(1u << l->n / l->e->part_loads);
    return ++l->n < LOOKED_AT;
}

static bool look(void *ctx, const struct ana_request *r)
{
    return r->store || r->atomic || r->prefetch || r->shared || look_at(ctx, r->line);
}

static bool is_crowd(const uint8_t *part, unsigned at)
{
    unsigned near = 7u << at >> 1;
    bool all = true;
    for (unsigned k = 1; k < SMS; k++)
        all = all && (part[k] & near);
    return all;
}

/* Of the lines that this SM touches, by access: the share that all touch. */
static void count(struct tune_trace *t, struct early *e, uint32_t *asked)
{
    uint16_t n = 0;
    for (size_t i = 0; i < t->nsteps && n < LOOKED_AT; i++)
        for (size_t k = t->step[i].first, end = trace_lines_end(t, i);
             k < end && n < LOOKED_AT && trace_loads(trace_kind_of(t, i)); k++) {
            size_t at = slot_of(e, trace_line(t, &t->request[k]));
            uint32_t of = 2u * trace_kind_of(t, i)->access + e->again[at];
            e->again[at] = true;
            asked[of]++;
            t->crowd[of] += is_crowd(e->part[at], n++ / e->part_loads);
        }
    for (uint32_t k = 0; k < t->ncrowd; k++)
        t->crowd[k] = asked[k] ? t->crowd[k] / (float)asked[k] : 0;
}

/* This SM's first loads. */
static void look_at_own(const struct tune_trace *t, struct early *e)
{
    struct looking own = { e, 0, 0 };
    for (size_t i = 0; i < t->nsteps; i++)
        for (size_t k = t->step[i].first, end = trace_lines_end(t, i);
             k < end && trace_loads(trace_kind_of(t, i)); k++)
            if (!look_at(&own, trace_line(t, &t->request[k])))
                return;
}

/* Other SMs than number 0, one by one; 0: there is no such SM with work. */
static void choose(const struct tune_trace *t, uint32_t sm[SMS])
{
    uint64_t ctas = dim3u_count(t->grid), busy = ctas < t->sms ? ctas : t->sms;
    sm[0] = 0;
    sm[1] = 1;
    sm[2] = (uint32_t)(t->grid.x % t->sms);
    sm[3] = (uint32_t)(busy / 2 + busy / 5);
    for (unsigned k = 1; k < SMS; k++)
        if (sm[k] >= busy)
            sm[k] = 0;
    if (sm[2] < 2 && busy > 8)
        sm[2] = (uint32_t)(busy / 3);
}

enum status tune_trace_find_crowd(struct tune_trace *t, const struct ptx_module *m, struct str kernel,
                                  const struct ana_opts *o, struct diags *ds)
{
    const struct trace_kind *kind = t->kinds.v;
    uint32_t sm[SMS], most = 0;
    enum status st = ST_OK;
    for (size_t i = 0; i < t->kinds.n; i++)
        most = kind[i].access > most ? kind[i].access : most;
    base_free(t->crowd);
    t->ncrowd = 2 * (most + 1);
    t->crowd = base_alloc(t->ncrowd * sizeof *t->crowd);
    choose(t, sm);
    if (!t->crowd)
        return ST_NOMEM;
    if (!o->dev || o->dev->l2_shared_rate <= 0 || !sm[1] || !sm[2] || !sm[3])
        return ST_OK;
    struct early *e = base_alloc(sizeof *e);
    uint32_t *asked = base_alloc(t->ncrowd * sizeof *asked);
    if (e)
        e->part_loads = (unsigned)o->dev->sm.predict_together;
    if (e && !e->part_loads)
        e->part_loads = LOOKED_AT;
    if (e && asked)
        look_at_own(t, e);
    struct ana_tracer *tracer = NULL;
    if (e && asked)
        st = ana_tracer_make(&tracer, m, kernel, o, LINE_BYTES, t->resident, t->sms, ds);
    for (unsigned k = 1; k < SMS && tracer && st == ST_OK; k++) {
        struct looking l = { e, k, 0 };
        st = ana_tracer_sm(tracer, sm[k], look, &l, ds);
    }
    ana_tracer_free(tracer);
    if (e && asked && st == ST_OK)
        count(t, e, asked);
    else if (st == ST_OK)
        st = ST_NOMEM;
    BASE_FREE(e, asked);
    return st;
}

float tune_trace_crowd(const struct tune_trace *t, const struct trace_kind *k,
                       const struct trace_request *r)
{
    return 2u * k->access + 1 < t->ncrowd ? t->crowd[2u * k->access + r->again] : 0;
}
