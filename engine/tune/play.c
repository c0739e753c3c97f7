/* A trace played through the caches by reuse distance, then its warps walked in time.
 *
 *   line requests (trace.c) --LRU of L1 and L2--> where each line comes from, G, m1, m2
 *                           --clocks (model_walk)--> cycles to the end of the last warp */
#include "engine/tune/trace.h"

#include <math.h>

#define EVICT_FIRST_SHARE 16u             /* of L2, the part that lines which go first live in */
#define WARM_SHARE 0.9               /* of L2: what a launch's buffers may take to be found there by the next launch */
#define LOOKUPS_A_CYCLE 4u                /* lines, since Volta */
#define SECTORS_A_CYCLE 4u                /* that L1 returns */
#define L1_USABLE_8THS 7u                 /* distances are fully associative; sets conflict before the cache is full */

/* ---- which sectors of a line L1 holds: open addressing, lines are never removed ---- */
struct held { uint64_t *line; uint8_t *mask; size_t cap, n; };

static size_t held_slot(const struct held *h, uint64_t line)
{
    size_t i = (size_t)(line * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (h->cap - 1);
    while (h->line[i] && h->line[i] != line + 1)
        i = (i + 1) & (h->cap - 1);
    return i;
}

static void held_free(struct held *h)
{
    base_free(h->line);
    base_free(h->mask);
}

static bool held_grow(struct held *h)
{
    struct held g = { .cap = h->cap ? h->cap * 2 : 4096 };
    g.line = base_alloc(g.cap * sizeof *g.line);
    g.mask = base_alloc(g.cap);
    if (!g.line || !g.mask) {
        held_free(&g);
        return false;
    }
    for (size_t i = 0; i < h->cap; i++)
        if (h->line[i]) {
            size_t k = held_slot(&g, h->line[i] - 1);
            g.line[k] = h->line[i];
            g.mask[k] = h->mask[i];
        }
    g.n = h->n;
    held_free(h);
    *h = g;
    return true;
}

static uint8_t *held_mask(struct held *h, uint64_t line)
{
    if (h->n * 2 >= h->cap && !held_grow(h))
        return NULL;
    size_t i = held_slot(h, line);
    if (!h->line[i]) {
        h->line[i] = line + 1;
        h->n++;
    }
    return &h->mask[i];
}

/* ---- playing a trace through L1 and L2 ---- */
struct play {
    const struct tune_bench *b; const struct options *o; const struct tune_trace *t; struct tune_played *out;
    struct model_reuse *l1, *l2; struct held held;
    uint64_t l1_lines, l2_sectors; bool whole_line, l2_overflows, l2_warm;
    bool evict_first;                        /* L2 gives these loads' lines up before others */
    uint32_t lookups /* lines a cycle */, lines, asked; size_t began;   /* the instruction under way: its lines, sectors, first request */
    struct model_walk_line *line; float *turns; uint8_t *data;   /* per request: where its line comes from; per first one: cycles of L1's tags, of its data */
};

/* The access of the original that this request comes from; NULL: none. */
static const struct ana_access *access_of(const struct play *p, const struct line_request *r)
{
    const struct ana_kernel *k = p->b->subject.facts;
    uint32_t n = r->access;
    for (uint32_t i = 0; k && i < k->naccess; i++)
        if (!k->access[i].prefetch && !n--)
            return &k->access[i];
    return NULL;
}

static bool chosen(const struct play *p, const struct line_request *r)
{
    const struct ana_access *x = access_of(p, r);
    if (!p->o->bypass_loads.n)
        return x && !x->reused;
    for (uint32_t i = 0; x && i < p->o->bypass_loads.n; i++)
        if (x->at.line == p->o->bypass_loads.line[i])
            return true;
    return false;
}

static bool bypasses(const struct play *p, const struct line_request *r)
{
    const struct options *o = p->o;
    if (o->bypass != BYPASS_L1 && o->bypass != BYPASS_L1L2 && o->bypass != BYPASS_RO)
        return false;
    bool above = o->pi.mode == PI_BPA || (o->pi.mode == PI_VALUE && r->warp >= o->pi.value);
    if (o->bypass_form == BYPASS_FORM_VERTICAL || (o->bypass_form != BYPASS_FORM_HYBRID && o->bypass_loads.n))
        return chosen(p, r);
    return above || (o->bypass_form == BYPASS_FORM_HYBRID && chosen(p, r));
}

/* Where the slowest of the sectors comes from. What the launch before left in L2 is never cold there. */
static uint8_t ask_l2(struct play *p, uint64_t line, unsigned sectors)
{
    uint8_t from = MODEL_FROM_L2;
    for (unsigned s = 0; s < SECTORS; s++) {
        if (!(sectors >> s & 1))
            continue;
        uint64_t d = model_reuse_touch(p->l2, line * SECTORS + s);
        bool lost = d != MODEL_COLD && p->l2_overflows && d >= (p->evict_first ? p->l2_sectors / EVICT_FIRST_SHARE : p->l2_sectors);
        p->out->missed_sectors++;
        p->out->cold += d == MODEL_COLD;
        p->out->lost += lost;
        if (lost || (d == MODEL_COLD && !p->l2_warm))
            from = MODEL_FROM_DRAM;
    }
    return from;
}

static bool ask_l1(struct play *p, const struct line_request *r, unsigned fetch, struct model_walk_line *w)
{
    uint8_t *mask = held_mask(&p->held, r->line);
    if (!mask)
        return false;
    uint64_t d = model_reuse_touch(p->l1, r->line);
    if (d == MODEL_COLD || d >= p->l1_lines)
        *mask = 0;
    unsigned missing = fetch & ~(unsigned)*mask;
    *mask |= (uint8_t)missing;
    w->sectors = (float)__builtin_popcount(missing);
    w->from = missing ? ask_l2(p, r->line, missing) : MODEL_FROM_L1;
    p->out->missed += missing && !r->prefetch;
    return true;
}

/* An instruction's lines are looked up so many a cycle; its data leave as fast as the banks that they lie in, and the
 * sectors that L1 returns in a cycle, let them (since Volta; before, a line a cycle is what they take). */
static void end_instruction(struct play *p)
{
    uint32_t data = (p->asked + SECTORS_A_CYCLE - 1) / SECTORS_A_CYCLE, banks = p->t->v[p->began].data;
    p->turns[p->began] = (float)p->lines / (float)p->lookups;
    if (p->turns[p->began] < 1)
        p->turns[p->began] = 1;
    p->data[p->began] = (uint8_t)(data > banks ? data : banks);
    p->out->turns += fmax(p->turns[p->began], p->data[p->began]) + p->t->v[p->began].passes;
    p->asked = p->lines = 0;
}

/* Whole lines, without anybody waiting for them. */
static bool play_prefetch(struct play *p, const struct line_request *r, struct model_walk_line *w)
{
    unsigned whole = (1u << SECTORS) - 1;
    if (p->o->prefetch == PREFETCH_L1)
        return ask_l1(p, r, whole, w);
    w->from = ask_l2(p, r->line, whole);
    w->sectors = SECTORS;
    w->past = true;
    return true;
}

static bool play_one(struct play *p, size_t i)
{
    const struct line_request *r = &p->t->v[i];
    struct model_walk_line *w = &p->line[i];
    unsigned n = (unsigned)__builtin_popcount(r->sectors);
    *w = (struct model_walk_line){ .line = r->line, .from = MODEL_FROM_L2, .sectors = (float)n, .crowd = r->store ? 0 : tune_trace_crowd(p->t, r), .past = true };
    if (r->first && i) {
        end_instruction(p);
        p->began = i;
    }
    p->lines++;
    p->asked += n;
    if (r->store) {
        double each = r->partial ? dev_describe(p->b->subject.dev)->l2_partial_write : 0;
        w->sectors = (float)(n * fmax(each, 1));
        p->out->store_sectors += (double)w->sectors;
        return true;
    }
    if (r->prefetch) {
        w->past = false;
        return play_prefetch(p, r, w);
    }
    p->out->requests++;
    p->out->sectors += n;
    if (!bypasses(p, r)) {
        w->past = false;
        return ask_l1(p, r, p->whole_line ? (1u << SECTORS) - 1 : r->sectors, w);
    }
    p->out->missed++;
    w->from = ask_l2(p, r->line, r->sectors);
    return true;
}

/* Since Volta, L1 is what shared memory leaves of one array. Fermi and Kepler split 64 KB in 16 and 48;
 * Maxwell and Pascal have a cache of its own size. */
uint64_t tune_l1_bytes(const struct tune_bench *b, const struct options *o, const struct tune_trace *t)
{
    const struct dev_info *d = dev_describe(b->subject.dev);
    uint64_t used = ((uint64_t)t->shared + b->original.shared_static) * t->resident;
    if (d->cc_major < 7 && (o->carveout < 0 || d->cc_major > 3))
        return d->l1_bytes;
    if (o->carveout >= 0 && (uint64_t)d->shared_per_sm * (unsigned)o->carveout / 100 > used)
        used = (uint64_t)d->shared_per_sm * (unsigned)o->carveout / 100;
    if (d->cc_major <= 3)
        return used <= 16 << 10 ? 48 << 10 : 16 << 10;
    return used < d->l1_bytes ? d->l1_bytes - used : LINE_BYTES;
}

static bool play_caches(struct play *p)
{
    const struct dev_info *d = dev_describe(p->b->subject.dev);
    double bytes = (double)p->b->subject.data->total_bytes;
    p->l1 = model_reuse_new(4096);
    p->l2 = model_reuse_new(4096);
    p->l1_lines = tune_l1_bytes(p->b, p->o, p->t) / LINE_BYTES * L1_USABLE_8THS / 8;
    p->l2_sectors = d->l2_bytes / SECTOR_BYTES / (d->sms ? d->sms : 1);
    p->lookups = d->cc_major < 7 ? 1 : LOOKUPS_A_CYCLE;
    p->whole_line = d->cc_major < 5;
    p->evict_first = p->o->bypass == BYPASS_L2 || p->o->bypass == BYPASS_L1L2;
    p->l2_overflows = bytes > (double)d->l2_bytes;
    p->l2_warm = p->out->l2_warm = bytes <= WARM_SHARE * (double)d->l2_bytes;
    bool ok = p->l1 && p->l2;
    for (size_t i = 0; ok && i < p->t->n; i++)
        ok = play_one(p, i);
    if (p->t->n)
        end_instruction(p);
    ok = ok && !model_reuse_failed(p->l1) && !model_reuse_failed(p->l2);
    model_reuse_free(p->l1);
    model_reuse_free(p->l2);
    held_free(&p->held);
    return ok;
}

/* ---- the same requests in time ---- */
#define NOTHING UINT32_MAX
struct strung { const struct play *p; uint32_t *head, *next; };      /* each warp's instructions, by their first request */

static bool string(struct strung *s, const struct play *p)
{
    const struct tune_trace *t = p->t;
    size_t warps = (size_t)(t->on_sm * t->warps);
    s->p = p;
    s->head = base_alloc((warps + 1) * sizeof *s->head);
    s->next = base_alloc((t->n + 1) * sizeof *s->next);
    if (!s->head || !s->next)
        return false;
    for (size_t i = 0; i < warps; i++)
        s->head[i] = NOTHING;
    for (size_t i = t->n; i-- > 0;) {
        size_t warp = (size_t)t->v[i].cta * t->warps + t->v[i].warp;
        if (!t->v[i].first)
            continue;
        s->next[i] = s->head[warp];
        s->head[warp] = (uint32_t)i;
    }
    return true;
}

static bool next_step(void *ctx, uint32_t cta, uint32_t warp, struct model_walk_step *out)
{
    struct strung *s = ctx;
    const struct tune_trace *t = s->p->t;
    uint32_t *head = &s->head[(size_t)cta * t->warps + warp], i = *head;
    if (i == NOTHING)
        return false;
    const struct line_request *r = &t->v[i];
    *out = (struct model_walk_step){ .line = &s->p->line[i], .nlines = 1, .before = r->before, .chained = r->chained, .turns = (double)s->p->turns[i] + r->passes, .data = r->store || r->prefetch ? 0 : s->p->data[i],
                                     .waits = r->waits, .quiet = r->store || r->prefetch };
    for (size_t k = i + 1; k < t->n && !t->v[k].first; k++)
        out->nlines++;
    *head = s->next[i];
    return true;
}

/* Of what is cold to this SM, some is brought to L2 by another: it is waited for all the same, but DRAM moves it once. */
static bool walk_it(const struct play *p, double from_dram)
{
    const struct dev_info *d = dev_describe(p->b->subject.dev);
    const struct tune_trace *t = p->t;
    double sms = tune_active_sms(d, t), hz = d->clock_khz * 1e3;
    struct model_walk_config c = {
        .ctas = t->on_sm, .warps = (uint32_t)t->warps, .slots = (uint32_t)(t->resident < t->on_sm ? t->resident : t->on_sm),
        .lat_l1 = d->lat_l1, .lat_l2 = d->lat_l2, .lat_dram = d->lat_dram,
        .l2_turn = d->bw_l2 > 0 ? SECTOR_BYTES * sms * hz / d->bw_l2 : 0, .dram_turn = d->bw_dram > 0 ? from_dram * SECTOR_BYTES * sms * hz / d->bw_dram : 0,
        .issue = d->issue_per_cycle, .dependent = d->lat_alu,
        .crowd_turn = d->l2_shared_rate > 0 ? d->sms / d->l2_shared_rate : 0 };
    struct strung s = { 0 };
    bool ok = string(&s, p);
    if (ok)
        p->out->walked = model_walk(&c, next_step, &s, &p->out->waits);
    base_free(s.head);
    base_free(s.next);
    return ok && !isnan(p->out->walked);
}

double tune_active_sms(const struct dev_info *d, const struct tune_trace *t)
{
    uint64_t ctas = dim3u_count(t->grid);
    return ctas < d->sms ? (double)ctas : d->sms;
}

enum status tune_play(struct tune_bench *b, const struct options *o, const struct tune_trace *t, struct tune_played *out)
{
    struct play p = { .b = b, .o = o, .t = t, .out = out };
    double sms = tune_active_sms(dev_describe(b->subject.dev), t);
    *out = (struct tune_played){ 0 };
    p.line = base_alloc((t->n + 1) * sizeof *p.line);
    p.turns = base_alloc((t->n + 1) * sizeof *p.turns);
    p.data = base_alloc(t->n + 1);
    bool ok = p.line && p.turns && p.data && play_caches(&p);
    if (ok) {
        double cold = fmin((double)out->cold * sms, (double)b->subject.data->total_bytes / SECTOR_BYTES);
        out->cold_once = cold / sms;
        ok = walk_it(&p, out->cold + out->lost ? (out->cold_once + (double)out->lost) / (double)(out->cold + out->lost) : 0);
    }
    base_free(p.line);
    base_free(p.turns);
    base_free(p.data);
    return ok ? ST_OK : ST_NOMEM;
}
