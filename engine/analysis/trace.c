/* ana_trace: the requests of one SM in the order its warps would interleave.
 * CTAs go to SMs round robin; each SM keeps `resident` of them; every warp in
 * turn advances by one request (loose round robin), and a finished CTA makes
 * room for the SM's next one. */
#include "engine/analysis/trace.h"

#include "engine/analysis/facts.h"
#include "engine/analysis/slice/slice.h"

#include <string.h>

typedef bool (*trace_fn)(void *ctx, const struct ana_request *r);
struct tracing {
    struct facts *f;
    unsigned line;
    trace_fn fn;
    void *ctx;
    bool stopped;
    uint32_t phase /* of the CTA whose turn it is */;
};

struct touched {
    uint64_t line[32 * 3];
    uint32_t mask[32 * 3];
    unsigned n;
};
static void touch(struct touched *q, uint64_t id, uint32_t bit)
{
    unsigned k = q->n;
    while (k && q->line[k - 1] > id)
        k--;
    if (k && q->line[k - 1] == id) {
        q->mask[k - 1] |= bit;
        return;
    }
    if (q->n == ARRAY_LEN(q->line))
        return;
    memmove(&q->line[k + 1], &q->line[k], sizeof q->line[0] * (q->n - k));
    memmove(&q->mask[k + 1], &q->mask[k], sizeof q->mask[0] * (q->n - k));
    q->line[k] = id;
    q->mask[k] = bit;
    q->n++;
}
/* Times the fullest of 32 banks is asked for different words. A lane's words lie in different banks. */
#define BANKS 32u
static unsigned bank_passes(const struct slice_event *ev, unsigned bytes)
{
    uint64_t word[BANKS][32];
    unsigned n[BANKS] = { 0 }, most = 0;
    for (uint32_t left = ev->mask; left; left &= left - 1) {
        uint64_t a = ev->addr[__builtin_ctz(left)];
        for (uint64_t w = a / 4; w <= (a + (bytes ? bytes : 1) - 1) / 4; w++) {
            unsigned b = w % BANKS, k = 0;
            while (k < n[b] && word[b][k] != w)
                k++;
            if (k < n[b] || k == ARRAY_LEN(word[b]))
                continue;
            word[b][n[b]++] = w;
            most = n[b] > most ? n[b] : most;
        }
    }
    return most;
}
/* Turns of an atomic at L2: lanes of one sector with different words go together, those with one word
 * after each other, floats at three times the length (as timed on an H200); all lanes with one integer
 * word make one. */
#define FLOAT_TURNS 3u
static unsigned atomic_turns(const struct tracing *t, const struct slice_event *ev, const struct fact *x)
{
    const struct ptx_inst *i = fact_inst(t->f, x);
    uint64_t word[32];
    unsigned lanes[32], n = 0, turns = 0;
    bool real = i && i->ntypes && ptx_type_kind((enum ptx_type)i->type[0]) == 'f';
    for (uint32_t left = ev->mask; left; left &= left - 1) {
        uint64_t a = ev->addr[__builtin_ctz(left)] / 4;
        unsigned k = 0;
        while (k < n && word[k] != a)
            k++;
        lanes[k] = k < n ? lanes[k] + 1 : 1;
        word[k] = a;
        n += k == n;
    }
    if (n == 1 && !real)
        return 1;
    for (unsigned k = 0; k < n; k++) {
        unsigned most = 0;
        for (unsigned j = 0; j < n; j++)
            if (word[j] / 8 == word[k] / 8)
                /* 256: its sector was counted */
                most = j < k ? 256 : lanes[j] > most ? lanes[j] : most;
        turns += most > 255 ? 0 : most > 1 ? most * (real ? FLOAT_TURNS : 1) : most;
    }
    return turns < 255 ? turns : 255;
}
/* The lines of one request, lowest first, each with its sector mask. */
static bool emit_lines(struct tracing *t, const struct slice_event *ev, const struct fact *x)
{
    struct touched q = { .n = 0 };
    unsigned per_line = t->line / 32, shift = (unsigned)__builtin_ctz(per_line);
    uint64_t last = UINT64_MAX;
    for (uint32_t left = ev->mask; left; left &= left - 1) {
        uint64_t a = ev->addr[__builtin_ctz(left)];
        for (uint64_t s = a / 32; s <= (a + (x->bytes ? x->bytes : 1) - 1) / 32; s++) {
            if (s != last)
                touch(&q, s >> shift, UINT32_C(1) << (s & (per_line - 1)));
            last = s;
        }
    }
    unsigned passes = !t->f->o->every             ? 0
                      : x->atomic                 ? atomic_turns(t, ev, x)
                      : !x->store && !x->prefetch ? bank_passes(ev, x->bytes)
                                                  : 0;
    unsigned sectors = 0, bytes = (unsigned)__builtin_popcount(ev->mask) * x->bytes;
    for (unsigned k = 0; k < q.n; k++)
        sectors += (unsigned)__builtin_popcount(q.mask[k]);
    for (unsigned k = 0; k < q.n && !t->stopped; k++) {
        struct ana_request r = { .line = q.line[k],
                                 .sectors = q.mask[k],
                                 .cta = (uint32_t)ev->cta,
                                 .warp = ev->warp,
                                 .access = ev->site,
                                 .func = x->func,
                                 .inst = x->inst,
                                 .store = x->store,
                                 .prefetch = x->prefetch,
                                 .partial = x->store && bytes < 32 * sectors,
                                 .passes = (uint8_t)passes,
                                 .atomic = x->atomic,
                                 .lanes = (uint8_t)__builtin_popcount(ev->mask),
                                 .phase = t->phase };
        t->stopped = !t->fn(t->ctx, &r);
    }
    return !t->stopped;
}
static bool emit_shared(struct tracing *t, const struct slice_event *ev, const struct fact *x)
{
    struct ana_request r = { .cta = (uint32_t)ev->cta,
                             .warp = ev->warp,
                             .access = ev->site,
                             .func = x->func,
                             .inst = x->inst,
                             .store = x->store,
                             .shared = true,
                             .phase = t->phase,
                             .passes = (uint8_t)bank_passes(ev, x->bytes) };
    t->stopped = !t->fn(t->ctx, &r);
    return !t->stopped;
}
static bool on_event(void *ctx, const struct slice_event *ev)
{
    struct tracing *t = ctx;
    const struct fact *x = &t->f->fact[ev->site];
    if (ev->space == PTX_SPACE_SHARED && t->f->o->every)
        return emit_shared(t, ev, x);
    if (ev->space != PTX_SPACE_GLOBAL || (x->atomic && !t->f->o->every))
        return true;
    return emit_lines(t, ev, x);
}
struct sm {
    struct slice_cta **cta;
    bool *live;
    bool *waits; /* by warp of the CTA whose turn it is: done, or at a barrier, when the turn began */
    unsigned resident;
    uint64_t next, stride, ctas;
    bool moved /* some warp went on in this round */;
};

static void refill(struct sm *m, unsigned k)
{
    m->live[k] = m->next < m->ctas;
    if (m->live[k])
        slice_cta_start(m->cta[k], m->next);
    m->next += m->stride;
}
/* One turn of a CTA's warps. False: stopped. */
static bool turn(struct tracing *t, struct sm *m, unsigned k, uint32_t w, uint64_t *budget)
{
    struct slice_cta *c = m->cta[k];
    if (m->waits[w] || slice_warp_spins(c, w))
        return true;
    m->moved = true;
    t->phase = (uint32_t)slice_cta_phase(c);
    return !slice_stops(slice_warp_run(c, w, on_event, t, true, budget));
}
/* A CTA that has ended makes room for the next. */
static void settle(struct sm *m, unsigned k, uint32_t warps)
{
    for (uint32_t w = 0; w < warps; w++)
        if (!slice_warp_done(m->cta[k], w))
            return;
    m->moved = true;
    refill(m, k);
}
/* All warps there are wait for another SM's. False, for the caller to return. */
static bool stuck(struct sm *m)
{
    for (unsigned k = 0; k < m->resident; k++)
        if (m->live[k])
            slice_cta_stuck(m->cta[k]);
    return false;
}
static bool run_sm(struct tracing *t, struct sm *m, uint64_t *budget)
{
    uint32_t warps = env_warps(&t->f->v);
    bool any = true;
    for (unsigned k = 0; k < m->resident; k++)
        refill(m, k);
    while (any) {
        any = m->moved = false;
        for (unsigned k = 0; k < m->resident; k++) {
            if (!m->live[k])
                continue;
            any = true;
            for (uint32_t w = 0; w < warps; w++)
                m->waits[w] = slice_warp_done(m->cta[k], w) || slice_warp_waits(m->cta[k], w);
            for (uint32_t w = 0; w < warps; w++)
                if (!turn(t, m, k, w, budget))
                    return false;
            settle(m, k, warps);
        }
        if (any && !m->moved)
            return stuck(m);
    }
    return true;
}
enum status trace_sm(struct facts *f, struct slice *s, const struct trace_plan *p, trace_fn fn,
                     void *ctx)
{
    struct tracing t = { f, p->line, fn, ctx, false, 0 };
    struct sm m = { .resident = p->resident ? p->resident : 1,
                    .next = p->sm,
                    .stride = p->sms ? p->sms : 1,
                    .ctas = env_ctas(&f->v) };
    uint64_t budget = p->budget;
    enum status st = ST_NOMEM;
    bool ok = (m.cta = base_alloc(sizeof *m.cta * m.resident)) != NULL &&
              (m.live = base_alloc(m.resident)) != NULL &&
              (m.waits = base_alloc(env_warps(&f->v) + 1)) != NULL;
    for (unsigned k = 0; ok && k < m.resident; k++)
        ok = (m.cta[k] = slice_cta_new(s)) != NULL;
    if (ok) {
        ok = run_sm(&t, &m, &budget);
        st = s->status != ST_OK           ? s->status
             : ok || t.stopped            ? ST_OK
             : cancel_asked(f->o->cancel) ? ST_CANCELLED
                                          : ST_REFUSED;
    }
    for (unsigned k = 0; m.cta && k < m.resident; k++)
        slice_cta_free(m.cta[k]);
    BASE_FREE(m.cta, m.live, m.waits);
    return st;
}
struct ana_tracer {
    struct arena *arena;
    struct ana_opts o;
    struct facts f;
    struct trace_plan p;
    bool used; /* memory may be as an SM left it */
};

void ana_tracer_free(struct ana_tracer *t)
{
    if (!t)
        return;
    if (t->f.o)
        facts_free(&t->f);
    arena_free(t->arena);
    base_free(t);
}

enum status ana_tracer_make(struct ana_tracer **out, const struct ptx_module *m, struct str kernel,
                            const struct ana_opts *o, unsigned line_bytes, unsigned resident_ctas,
                            unsigned sms, struct diags *ds)
{
    struct ana_tracer *t = *out = base_alloc(sizeof *t);
    if (!t || !(t->arena = arena_new(0)))
        return ST_NOMEM;
    t->o = *o;
    t->p = (struct trace_plan){ line_bytes, resident_ctas, 0, sms,
                                o->budget ? o->budget : UINT64_C(1) << 32 };
    if (!o->data || line_bytes < 32 || line_bytes > 1024 || (line_bytes & (line_bytes - 1))) {
        diag_error(ds, "ana-trace",
                   o->data ? "lines of %u bytes cannot be traced" : "a trace needs a launch description",
                   line_bytes);
        return ST_REFUSED;
    }
    enum status st = facts_make(&t->f, m, kernel, &t->o, t->arena, ds);
    if (st == ST_OK && !facts_slice(&t->f)) {
        st = ST_REFUSED;
        diag_error(ds, "ana-trace", "%s",
                   t->f.e.ngaps ? t->f.e.gaps[t->f.e.ngaps - 1] : "the addresses cannot be executed");
    }
    return st;
}

enum status ana_tracer_sm(struct ana_tracer *t, unsigned sm, trace_fn fn, void *ctx, struct diags *ds)
{
    if (t->used && t->f.slice->global_writes) {
        slice_free(t->f.slice);
        t->f.slice = NULL;
    }
    struct slice *s = facts_slice(&t->f);
    if (!s)
        return ST_NOMEM;
    t->used = true;
    t->p.sm = sm;
    enum status st = trace_sm(&t->f, s, &t->p, fn, ctx);
    if (st == ST_REFUSED && slice_fault(s))
        diag_error(ds, "ana-trace", "the trace ends in the middle: %s", slice_fault(s));
    else if (st == ST_REFUSED && s->spun)
        diag_error(ds, "ana-trace", SLICE_SPUN, s->spun);
    else if (st == ST_REFUSED)
        diag_error(ds, "ana-trace", "the trace is too long: stopped after %llu warp operations",
                   (unsigned long long)t->p.budget);
    return st;
}

enum status ana_trace(const struct ptx_module *m, struct str kernel, const struct ana_opts *o,
                      unsigned line_bytes, unsigned resident_ctas, unsigned sm, unsigned sms,
                      trace_fn fn, void *ctx, struct diags *ds)
{
    struct ana_tracer *t;
    enum status st = ana_tracer_make(&t, m, kernel, o, line_bytes, resident_ctas, sms, ds);
    if (st == ST_OK)
        st = ana_tracer_sm(t, sm, fn, ctx, ds);
    ana_tracer_free(t);
    return st;
}
