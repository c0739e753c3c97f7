/* The miss-ratio curve of one SM and what its streams need: see analysis.h.
 *
 *   trace_sm -> line requests -> distance of the line (model_reuse), then by sector:
 *       worst[s] = greatest distance of its line since sector s was last asked for
 *   one CTA's requests are kept and gone through again, whole and warp by warp
 *
 * A trace longer than its limit is gone through again with one line in
 * 2^SAMPLE_SHIFT followed, chosen by a hash of its address (Waldspurger et al.,
 * SHARDS, FAST'15): distances between followed lines are scaled back up. */
#include "engine/analysis/curve.h"
#include "engine/base/list.h"

#include "engine/analysis/facts.h"
#include "engine/analysis/slice/slice.h"
#include "engine/analysis/trace.h"
#include "engine/perfmodel/reuse.h"
#include "engine/rec/device.h"

#include <math.h>
#include <string.h>

#define LINE           128u
#define SECTORS        4u
#define SUB            32u /* bins an octave; the first two octaves are exact */
#define SUB_BITS       5
#define BINS           (SUB * 35u) /* distances below 2^39 */
#define EXACT_REQUESTS UINT64_C(1000000)
#define SAMPLE_SHIFT   4
#define SAMPLED_TIMES  3
#define CURVE_BUDGET   (UINT64_C(1) << 27) /* warp operations of one pass */
#define GROUPS         8u                  /* of followed lines, for the error */
#define KEEP_REQUESTS  (1u << 20)          /* of the CTA gone through again */

/* ---- distributions ---- */
static unsigned bin_of(uint64_t d)
{
    if (d < SUB)
        return (unsigned)d;
    unsigned e = 63u - (unsigned)__builtin_clzll(d);
    unsigned b = SUB * (e - SUB_BITS) + (unsigned)(d >> (e - SUB_BITS));
    return b < BINS ? b : BINS - 1;
}
static double bin_low(unsigned b)
{
    return b < SUB ? b : ldexp(b % SUB + SUB, (int)(b / SUB) - 1);
}
static bool dist_make(struct arena *a, struct ana_dist *d, unsigned parts)
{
    bool ok = true;
    for (unsigned k = 0; k < parts; k++)
        ok = (d->bin[k] = ARENA_ARRAY(a, uint32_t, BINS)) != NULL && ok;
    return ok;
}
static void dist_clear(struct ana_dist *d)
{
    for (unsigned k = 0; k < ANA_FROM_COUNT; k++)
        if (d->bin[k])
            memset(d->bin[k], 0, sizeof *d->bin[k] * BINS);
    d->total = d->cold = 0;
}
#define COLD UINT16_MAX /* of a bin */
static void dist_add(struct ana_dist *d, uint16_t bin, unsigned part)
{
    d->total++;
    if (bin == COLD)
        d->cold++;
    else
        d->bin[part][bin]++;
}
static double hits_below(const uint32_t *bin, double lines)
{
    double n = 0;
    for (unsigned b = 0; bin && b < BINS; b++) {
        double lo = bin_low(b), hi = bin_low(b + 1), part = (lines - lo) / (hi - lo);
        if (part <= 0)
            break;
        n += bin[b] * (part > 1 ? 1 : part);
    }
    return n;
}
double ana_miss_ratio(const struct ana_dist *d, double bytes, double *split)
{
    double hits = 0, own[ANA_FROM_COUNT];
    for (unsigned k = 0; k < ANA_FROM_COUNT; k++) {
        own[k] = d->total ? hits_below(d->bin[k], bytes / LINE) / (double)d->total : (double)NAN;
        hits += own[k];
    }
    if (split)
        memcpy(split, own, sizeof own);
    return 1 - hits;
}
/* Bytes of cache that give `share` (0..1) of all reuse (of the hits that any size gives); NaN: nothing
 * is reused. */
static double ana_dist_window(const struct ana_dist *d, double share)
{
    double all = (double)(d->total - d->cold), n = 0;
    for (unsigned b = 0; b < BINS && all > 0; b++) {
        for (unsigned k = 0; k < ANA_FROM_COUNT; k++)
            n += d->bin[k] ? d->bin[k][b] : 0;
        if (n >= share * all)
            return LINE * bin_low(b + 1); /* a line at distance d needs d+1 lines */
    }
    return NAN;
}

/* ---- a stream of lines: overall and array by array ---- */
/* One array alone is all there is: then it has no streams of its own (array is NULL). */
struct stream {
    struct model_reuse *all, **array;
    struct ana_dist dist, *array_dist;
    uint32_t narrays;
};
static void stream_end(struct stream *s)
{
    model_reuse_free(s->all);
    for (uint32_t i = 0; s->array && i < s->narrays; i++)
        model_reuse_free(s->array[i]);
    base_free(s->array);
    s->all = NULL;
    s->array = NULL;
}
static bool stream_begin(struct stream *s, uint32_t narrays)
{
    bool apart = narrays > 1;
    s->narrays = narrays;
    s->array = apart ? base_alloc(sizeof *s->array * narrays) : NULL;
    s->all = model_reuse_new(1);
    bool ok = (s->array || !apart) && s->all;
    for (uint32_t i = 0; ok && apart && i < narrays; i++)
        ok = (s->array[i] = model_reuse_new(1)) != NULL;
    return ok;
}
static const struct model_reuse *stream_of(const struct stream *s, uint32_t array)
{
    return s->array ? s->array[array] : s->all;
}
static uint16_t bin_scaled(uint64_t d, unsigned shift)
{
    return d == MODEL_COLD ? COLD : (uint16_t)bin_of(d << shift);
}
static uint16_t stream_touch(struct stream *s, uint64_t line, uint32_t array, unsigned shift)
{
    uint16_t bin = bin_scaled(model_reuse_touch(s->all, line), shift);
    dist_add(&s->dist, bin, 0);
    dist_add(&s->array_dist[array],
             s->array ? bin_scaled(model_reuse_touch(s->array[array], line), shift) : bin, 0);
    return bin;
}
static bool stream_failed(const struct stream *s)
{
    bool bad = model_reuse_failed(s->all);
    for (uint32_t i = 0; s->array && i < s->narrays; i++)
        bad = bad || model_reuse_failed(s->array[i]);
    return bad;
}

/* ---- the SM ---- */
/* By the number that the SM's stream has for it; worst: a bin, which is all that is asked of it. */
struct line_state {
    uint32_t by[SECTORS];
    uint16_t worst[SECTORS];
    uint8_t seen;
    bool resident;
};
struct kept {
    uint32_t line /* its number */;
    uint16_t warp, array;
};
struct curving {
    struct facts *f;
    struct ana_curve *c;
    uint32_t *array_of, warps; /* by access: index into c->array */
    uint64_t *mask;            /* by array: enum of bases, as fact.arrays */
    struct stream sm;
    struct line_state *line;
    size_t cap, n;
    struct ana_dist group[GROUPS];
    uint64_t limit, *resident_lines; /* by array: distinct lines of the first CTAs together */
    struct kept *kept;
    size_t nkept, cap_kept;
    uint32_t sample_cta;
    unsigned shift; /* one line in 2^shift is followed */
    bool keep, nomem;
};
static uint64_t mix(uint64_t line)
{
    uint64_t z = line * 0x9e3779b97f4a7c15u;
    return (z ^ z >> 32) * 0xd6e8feb86659fd93u;
}
/* Of the line touched last. */
static struct line_state *line_now(struct curving *q)
{
    uint32_t number = model_reuse_last(q->sm.all);
    if (number == q->n) {
        if (!LIST_PUSH(q->line, q->n, q->cap, (struct line_state){ 0 })) {
            q->nomem = true;
            return NULL;
        }
    }
    return number < q->n ? &q->line[number] : NULL;
}
static unsigned from(const struct curving *q, uint32_t was, uint32_t now)
{
    return was == now ? ANA_FROM_WARP : was / q->warps == now / q->warps ? ANA_FROM_CTA : ANA_FROM_OTHER;
}
static void touch_sectors(struct curving *q, const struct ana_request *r, uint32_t array,
                          struct line_state *l, uint16_t bin)
{
    uint32_t me = r->cta / q->c->sms * q->warps + r->warp;
    struct ana_dist *group = &q->group[mix(r->line) >> 40 & (GROUPS - 1)];
    for (unsigned s = 0; s < SECTORS; s++) {
        if (l->seen && bin > l->worst[s])
            l->worst[s] = bin;
        if (!(r->sectors >> s & 1))
            continue;
        uint16_t worst = l->seen >> s & 1 ? l->worst[s] : COLD;
        unsigned part = worst == COLD ? 0 : from(q, l->by[s], me);
        dist_add(&q->c->all, worst, part);
        dist_add(&q->c->access[r->access], worst, part);
        dist_add(&q->c->array[array].dist, worst, part);
        dist_add(group, worst, 0);
        l->worst[s] = 0;
        l->by[s] = me;
    }
    l->seen |= (uint8_t)r->sectors;
}
/* For going through its CTA again. */
static void keep(struct curving *q, const struct ana_request *r, uint32_t array)
{
    q->nomem = q->nomem || !base_grow((void **)&q->kept, q->nkept, &q->cap_kept, sizeof *q->kept);
    if (!q->nomem)
        q->kept[q->nkept++] =
            (struct kept){ model_reuse_last(q->sm.all), (uint16_t)r->warp, (uint16_t)array };
}
static bool on_request(void *ctx, const struct ana_request *r)
{
    struct curving *q = ctx;
    struct ana_curve *c = q->c;
    if (r->store || !c->access[r->access].bin[0])
        return !cancel_asked(q->f->o->cancel);
    if (c->requests == q->limit) {
        c->cut = true;
        return false;
    }
    c->requests++;
    uint32_t array = q->array_of[r->access];
    if (q->shift && mix(r->line) & ((1u << q->shift) - 1))
        return !q->nomem;
    uint16_t bin = stream_touch(&q->sm, r->line, array, q->shift);
    struct line_state *l = line_now(q);
    if (!l)
        return false;
    if (q->keep && r->cta == q->sample_cta && q->nkept < KEEP_REQUESTS)
        keep(q, r, array);
    if (!l->resident && r->cta / c->sms < c->resident) {
        l->resident = true;
        q->resident_lines[array]++;
    }
    touch_sectors(q, r, array, l, bin);
    return !q->nomem && !((c->requests & 1023) == 0 && cancel_asked(q->f->o->cancel));
}

/* ---- setting up ---- */
static bool followed(const struct fact *x)
{
    return x->load && !x->atomic && !x->prefetch &&
           (x->space == PTX_SPACE_GLOBAL || x->space == PTX_SPACE_GENERIC);
}
static bool make_arrays(struct curving *q)
{
    struct ana_curve *c = q->c;
    struct facts *f = q->f;
    bool ok = (c->array = ARENA_ARRAY(c->arena, struct ana_curve_array, f->n + 1)) != NULL &&
              (c->access = ARENA_ARRAY(c->arena, struct ana_dist, f->n + 1)) != NULL &&
              (q->array_of = ARENA_ARRAY(f->arena, uint32_t, f->n + 1)) != NULL &&
              (q->mask = ARENA_ARRAY(f->arena, uint64_t, f->n + 1)) != NULL;
    c->naccess = f->n;
    for (uint32_t i = 0; ok && i < f->n; i++) {
        uint32_t k = 0;
        if (!followed(&f->fact[i]))
            continue;
        while (k < c->narrays && q->mask[k] != f->fact[i].arrays)
            k++;
        q->array_of[i] = k;
        ok = dist_make(c->arena, &c->access[i], ANA_FROM_COUNT);
        if (k < c->narrays)
            continue;
        const char *name = array_name(f, f->fact[i].arrays);
        c->array[k] = (struct ana_curve_array){ .name = name ? arena_dup(c->arena, str_of(name)) : NULL,
                                                .param = array_param(f, f->fact[i].arrays) };
        q->mask[k] = f->fact[i].arrays;
        c->narrays++;
        ok = ok && dist_make(c->arena, &c->array[k].dist, ANA_FROM_COUNT);
    }
    return ok;
}
static bool stream_dists(struct arena *a, struct stream *s, uint32_t narrays)
{
    bool ok = dist_make(a, &s->dist, 1) &&
              (s->array_dist = ARENA_ARRAY(a, struct ana_dist, narrays + 1)) != NULL;
    for (uint32_t i = 0; ok && i < narrays; i++)
        ok = dist_make(a, &s->array_dist[i], 1);
    return ok;
}
static bool set_up(struct curving *q)
{
    struct ana_curve *c = q->c;
    const struct dev_info *dev = q->f->o->dev;
    uint64_t ctas = env_ctas(&q->f->v);
    q->warps = env_warps(&q->f->v);
    c->sms = dev && dev->sms ? dev->sms : 1;
    c->resident = dev ? share_resident(q->f, dev) : 1;
    c->l1_bytes = dev && dev->l1_bytes ? (double)dev->l1_bytes : (double)NAN;
    c->l2_bytes = dev && dev->l2_bytes ? (double)dev->l2_bytes : (double)NAN;
    c->cache_share = c->l1_bytes / ((double)c->resident * env_threads(&q->f->v));
    /* a CTA in the middle: those at the grid's edge are often special */
    uint64_t rank = (c->resident - 1) / 2;
    q->sample_cta = (uint32_t)(rank * c->sms < ctas ? rank * c->sms : 0);
    bool ok = make_arrays(q) && dist_make(c->arena, &c->all, ANA_FROM_COUNT) &&
              stream_dists(q->f->arena, &q->sm, c->narrays) &&
              (q->resident_lines = ARENA_ARRAY(q->f->arena, uint64_t, c->narrays + 1)) != NULL;
    for (unsigned g = 0; ok && g < GROUPS; g++)
        ok = dist_make(q->f->arena, &q->group[g], 1);
    return ok;
}
/* Forgets what a pass gathered, before another. */
static void forget(struct curving *q)
{
    struct ana_curve *c = q->c;
    dist_clear(&c->all);
    dist_clear(&q->sm.dist);
    for (uint32_t i = 0; i < c->naccess; i++)
        dist_clear(&c->access[i]);
    for (uint32_t i = 0; i < c->narrays; i++) {
        dist_clear(&c->array[i].dist);
        dist_clear(&q->sm.array_dist[i]);
        q->resident_lines[i] = 0;
    }
    for (unsigned g = 0; g < GROUPS; g++)
        dist_clear(&q->group[g]);
    base_free(q->line);
    q->line = NULL;
    q->cap = q->n = 0;
    c->requests = 0;
    c->cut = false;
}
/* A slice whose private copies of the buffers are as at the launch: earlier runs may have written to
 * them. */
static struct slice *slice_afresh(struct facts *f)
{
    slice_free(f->slice);
    f->slice = NULL;
    return facts_slice(f);
}
static enum status pass(struct curving *q, unsigned shift, uint64_t limit)
{
    struct ana_curve *c = q->c;
    struct slice *s = slice_afresh(q->f);
    if (!s)
        return ST_REFUSED;
    struct trace_plan p = { LINE, c->resident, 0, c->sms,
                            q->f->o->budget ? q->f->o->budget : CURVE_BUDGET };
    q->shift = shift;
    q->limit = limit;
    q->keep = !shift;
    c->sampled = ldexp(1, -(int)shift);
    enum status st = stream_begin(&q->sm, c->narrays) ? trace_sm(q->f, s, &p, on_request, q) : ST_NOMEM;
    if (st == ST_REFUSED) { /* out of budget: what was seen so far counts */
        c->cut = true;
        st = ST_OK;
    }
    for (uint32_t i = 0; i < q->f->n; i++)
        if (followed(&q->f->fact[i]) && s->site[i].tainted)
            eval_gap(&q->f->e, "the load at line %u is not in the miss-ratio curve: %s",
                     fact_inst(q->f, &q->f->fact[i])->at.line,
                     s->taint_why ? s->taint_why : "its address is not modelled");
    if (q->nomem || (st == ST_OK && stream_failed(&q->sm)))
        st = ST_NOMEM;
    stream_end(&q->sm);
    return cancel_asked(q->f->o->cancel) ? ST_CANCELLED : st;
}

/* ---- levels: SM, CTA, warp, thread ---- */
static void put_window(struct curving *q, enum ana_level l, const struct stream *s)
{
    static const double share[ANA_WINDOWS] = { 0.5, 0.9, 0.99 };
    struct ana_curve *c = q->c;
    for (unsigned w = 0; w < ANA_WINDOWS; w++) {
        c->window[w].share = share[w];
        c->window[w].bytes[l] = ana_dist_window(&s->dist, share[w]);
    }
    c->extent.window[l] = ana_dist_window(&s->dist, 0.9);
    for (uint32_t i = 0; i < c->narrays; i++)
        c->array[i].extent.window[l] = ana_dist_window(&s->array_dist[i], 0.9);
}
static void add_touched(struct ana_curve *c, enum ana_level l, const struct stream *s)
{
    c->extent.touched[l] += LINE * (double)model_reuse_lines(s->all);
    for (uint32_t i = 0; i < c->narrays; i++)
        c->array[i].extent.touched[l] += LINE * (double)model_reuse_lines(stream_of(s, i));
}
static enum status replay(struct curving *q, struct stream *s, enum ana_level l,
                          uint32_t warp /* UINT32_MAX: all */)
{
    enum status st = stream_begin(s, q->c->narrays) ? ST_OK : ST_NOMEM;
    for (size_t i = 0; st == ST_OK && i < q->nkept; i++)
        if (warp == UINT32_MAX || q->kept[i].warp == warp)
            stream_touch(s, q->kept[i].line, q->kept[i].array, 0);
    if (st == ST_OK && stream_failed(s))
        st = ST_NOMEM;
    if (st == ST_OK)
        add_touched(q->c, l, s);
    stream_end(s);
    return st;
}
static void scale_extent(struct ana_extent *e, double warps)
{
    e->touched[ANA_LEVEL_WARP] /= warps;
    e->touched[ANA_LEVEL_THREAD] = e->touched[ANA_LEVEL_WARP] / 32;
    e->window[ANA_LEVEL_THREAD] = e->window[ANA_LEVEL_WARP] / 32;
}
static enum status one_cta(struct curving *q)
{
    struct ana_curve *c = q->c;
    struct stream cta = { 0 }, warp = { 0 };
    bool active[1024 / 32 + 1] = { false };
    double warps = 0;
    enum status st =
        stream_dists(q->f->arena, &cta, c->narrays) && stream_dists(q->f->arena, &warp, c->narrays)
            ? replay(q, &cta, ANA_LEVEL_CTA, UINT32_MAX)
            : ST_NOMEM;
    for (size_t i = 0; i < q->nkept; i++)
        active[q->kept[i].warp < 32 ? q->kept[i].warp : 32] = true;
    for (uint32_t w = 0; st == ST_OK && w < 32; w++)
        if (active[w]) {
            st = replay(q, &warp, ANA_LEVEL_WARP, w);
            warps++;
        }
    if (st != ST_OK)
        return st;
    put_window(q, ANA_LEVEL_CTA, &cta);
    put_window(q, ANA_LEVEL_WARP, &warp);
    scale_extent(&c->extent, warps > 0 ? warps : 1);
    for (uint32_t i = 0; i < c->narrays; i++)
        scale_extent(&c->array[i].extent, warps > 0 ? warps : 1);
    return ST_OK;
}
/* What the whole SM needs may fit although the warps' own windows, added up, would not: they share
 * lines. */
static int fits(const struct curving *q, const struct ana_window *w)
{
    double l1 = q->c->l1_bytes, each = w->bytes[ANA_LEVEL_WARP] * q->c->resident, pi = floor(l1 / each);
    if (isnan(l1))
        return -1;
    return isnan(each) || pi > q->warps || w->bytes[ANA_LEVEL_SM] <= l1 ? (int)q->warps : (int)pi;
}
static void finish_windows(struct curving *q)
{
    struct ana_curve *c = q->c;
    double scale = LINE / c->sampled;
    put_window(q, ANA_LEVEL_SM, &q->sm);
    for (uint32_t i = 0; i < c->narrays; i++) {
        c->array[i].extent.touched[ANA_LEVEL_SM] = scale * (double)q->resident_lines[i];
        c->extent.touched[ANA_LEVEL_SM] += scale * (double)q->resident_lines[i];
    }
    for (unsigned w = 0; w < ANA_WINDOWS; w++) {
        c->window[w].bytes[ANA_LEVEL_THREAD] = c->window[w].bytes[ANA_LEVEL_WARP] / 32;
        c->window[w].pi_fit = fits(q, &c->window[w]);
    }
}

/* ---- points ---- */
/* Half-width of a 95 % interval of the miss ratio, from groups of followed lines (ratio estimator). */
static double error_at(const struct curving *q, double bytes)
{
    double miss[GROUPS], n = 0, m = 0, var = 0;
    for (unsigned g = 0; g < GROUPS; g++) {
        const struct ana_dist *d = &q->group[g];
        miss[g] = d->total ? ana_miss_ratio(d, bytes, NULL) * (double)d->total : 0;
        m += miss[g];
        n += (double)d->total;
    }
    if (n <= 0)
        return 1;
    for (unsigned g = 0; g < GROUPS; g++) {
        double e = miss[g] - m / n * (double)q->group[g].total;
        var += e * e;
    }
    return 1.96 * sqrt(var * GROUPS / (GROUPS - 1)) / n;
}
static void add_point(const struct curving *q, double bytes, const char *mark)
{
    struct ana_curve *c = q->c;
    struct ana_point p = { .bytes = bytes, .mark = mark };
    uint32_t at = c->npoints;
    if (isnan(bytes))
        return;
    p.miss = ana_miss_ratio(&c->all, bytes, p.split);
    while (at && c->point[at - 1].bytes > bytes)
        at--;
    if (at && c->point[at - 1].bytes == bytes) {
        c->point[at - 1].mark = mark ? mark : c->point[at - 1].mark;
        return;
    }
    memmove(&c->point[at + 1], &c->point[at], sizeof p * (c->npoints - at));
    c->point[at] = p;
    c->npoints++;
    double e = c->sampled < 1 ? error_at(q, bytes) : 0;
    c->error = e > c->error ? e : c->error;
}
static bool make_points(struct curving *q)
{
    struct ana_curve *c = q->c;
    double top = 2.0 * LINE * (double)c->lines;
    top = c->l2_bytes > top ? c->l2_bytes : top;
    c->point = ARENA_ARRAY(c->arena, struct ana_point, 64);
    if (!c->point)
        return false;
    for (double b = 1024; b < top * 2 && c->npoints < 40; b *= 2)
        add_point(q, b, NULL);
    add_point(q, c->l1_bytes, "L1");
    add_point(q, c->l2_bytes / c->sms, "L2 per SM");
    add_point(q, c->l2_bytes, "L2");
    return true;
}

/* ---- all of it ---- */
static enum status gather(struct curving *q)
{
    struct ana_curve *c = q->c;
    uint64_t limit = q->f->o->curve_requests ? q->f->o->curve_requests : EXACT_REQUESTS;
    enum status st = set_up(q) ? pass(q, 0, limit) : ST_NOMEM;
    if (st == ST_OK && c->cut && c->requests == limit && !q->f->o->quick) {
        forget(q);
        st = pass(q, SAMPLE_SHIFT, limit * SAMPLED_TIMES);
    }
    if (st != ST_OK)
        return st;
    if (!c->all.total)
        return ST_REFUSED;
    c->lines = (uint64_t)((double)q->n / c->sampled);
    st = one_cta(q);
    finish_windows(q);
    return st == ST_OK && !make_points(q) ? ST_NOMEM : st;
}
enum status curve_make(struct facts *f, struct ana_curve **out)
{
    struct arena *arena = arena_new(0);
    struct ana_curve *c = arena ? ARENA_NEW(arena, struct ana_curve) : NULL;
    struct curving q = { .f = f, .c = c };
    *out = NULL;
    if (!c) {
        arena_free(arena);
        return ST_NOMEM;
    }
    c->arena = arena;
    enum status st = gather(&q);
    BASE_FREE(q.line, q.kept);
    if (st == ST_OK && !arena_failed(arena))
        *out = c;
    else
        arena_free(arena);
    return st == ST_OK && !*out ? ST_NOMEM : st;
}
enum status ana_curve_make(const struct ptx_module *m, struct str kernel, const struct ana_opts *o,
                           struct ana_curve **out, struct diags *ds)
{
    struct arena *arena = arena_new(0);
    struct facts f;
    *out = NULL;
    if (!arena)
        return ST_NOMEM;
    if (!o->data) {
        diag_error(ds, "ana-curve", "a miss-ratio curve needs a launch description");
        arena_free(arena);
        return ST_REFUSED;
    }
    enum status st = facts_make(&f, m, kernel, o, arena, ds);
    if (st == ST_OK)
        st = curve_make(&f, out);
    if (st == ST_REFUSED)
        diag_error(ds, "ana-curve", "%s",
                   f.e.ngaps ? f.e.gaps[f.e.ngaps - 1] : "no global load of this launch can be traced");
    facts_free(&f);
    arena_free(arena);
    return st;
}
void ana_curve_free(struct ana_curve *c)
{
    if (c)
        arena_free(c->arena);
}
