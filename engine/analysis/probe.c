/* Probing CTAs: sets of sectors with byte masks, reuse by warp, CTA and launch. */
#include "engine/analysis/probe.h"

#include "engine/analysis/facts.h"
#include "engine/analysis/slice/slice.h"

#include <string.h>

/* ---- sets: open addressing, key 0 is empty (no address is in sector 0) ---- */
static size_t slot_of(const uint64_t *key, size_t cap, uint64_t k)
{
    size_t h = (size_t)((k * 0x9e3779b97f4a7c15u) >> 20) & (cap - 1);
    while (key[h] && key[h] != k)
        h = (h + 1) & (cap - 1);
    return h;
}
static bool set_room(struct probe_set *s)
{
    if (s->cap && s->n * 3 < s->cap * 2)
        return true;
    size_t cap = s->cap ? s->cap * 2 : 1024;
    uint64_t *key = base_alloc(cap * sizeof *key);
    uint32_t *mask = base_alloc(cap * sizeof *mask);
    if (!key || !mask) {
        BASE_FREE(key, mask);
        s->oom = true;
        return false;
    }
    for (size_t i = 0; i < s->cap; i++)
        if (s->key[i]) {
            size_t h = slot_of(key, cap, s->key[i]);
            key[h] = s->key[i];
            mask[h] = s->mask[i];
        }
    BASE_FREE(s->key, s->mask);
    s->key = key;
    s->mask = mask;
    s->cap = cap;
    return true;
}
uint32_t probe_set_or(struct probe_set *s, uint64_t key, uint32_t mask)
{
    if (!set_room(s))
        return 0;
    size_t h = slot_of(s->key, s->cap, key);
    uint32_t old = s->mask[h];
    if (!s->key[h]) {
        s->key[h] = key;
        s->n++;
    }
    s->mask[h] = old | mask;
    return old;
}
uint32_t probe_set_get(const struct probe_set *s, uint64_t key)
{
    return s->cap ? s->mask[slot_of(s->key, s->cap, key)] : 0;
}
static void probe_set_clear(struct probe_set *s)
{
    if (s->n) {
        memset(s->key, 0, s->cap * sizeof *s->key);
        memset(s->mask, 0, s->cap * sizeof *s->mask);
    }
    s->n = 0;
}
void probe_set_free(struct probe_set *s)
{
    BASE_FREE(s->key, s->mask);
    memset(s, 0, sizeof *s);
}
struct probe_set probe_take(struct probe_set *s)
{
    struct probe_set t = *s;
    memset(s, 0, sizeof *s);
    return t;
}

/* ---- a probe ---- */
enum status probe_make(struct probe *p, struct facts *f, struct slice *s)
{
    uint32_t warps = env_warps(&f->v);
    memset(p, 0, sizeof *p);
    p->f = f;
    p->s = s;
    p->budget = f->o->budget ? f->o->budget : UINT64_C(1) << 30;
    p->near_lines = UINT64_MAX;
    p->cta = slice_cta_new(s);
    p->touches = base_alloc(sizeof *p->touches * (f->n + 1));
    p->again = base_alloc(sizeof *p->again * (f->n + 1));
    p->ever = base_alloc(sizeof *p->ever * (f->n + 1));
    p->pos = base_alloc(sizeof *p->pos * (warps + 1));
    p->reported = base_alloc(sizeof *p->reported * (warps + 1));
    p->by = base_alloc(sizeof *p->by * (f->n + 1));
    return p->cta && p->touches && p->again && p->ever && p->pos && p->reported && p->by ? ST_OK
                                                                                         : ST_NOMEM;
}
void probe_free(struct probe *p)
{
    slice_cta_free(p->cta);
    probe_set_free(&p->loads);
    probe_set_free(&p->stores);
    probe_set_free(&p->everything);
    probe_set_free(&p->warp_seen);
    probe_set_free(&p->cta_seen);
    BASE_FREE(p->line_key, p->line_val, p->by, p->touches, p->again, p->ever, p->pos, p->reported);
}

/* ---- lines: who touched last, and how long ago in the warp's own stream ---- */
static struct probe_touch *line_slot(struct probe *p, uint64_t line, bool *known)
{
    static const size_t first = 4096;
    if (!p->line_cap || p->line_n * 3 >= p->line_cap * 2) {
        size_t cap = p->line_cap ? p->line_cap * 2 : first;
        uint64_t *key = base_alloc(cap * sizeof *key);
        struct probe_touch *val = base_alloc(cap * sizeof *val);
        if (!key || !val) {
            BASE_FREE(key, val);
            return NULL;
        }
        for (size_t i = 0; i < p->line_cap; i++)
            if (p->line_key[i]) {
                size_t h = slot_of(key, cap, p->line_key[i]);
                key[h] = p->line_key[i];
                val[h] = p->line_val[i];
            }
        BASE_FREE(p->line_key, p->line_val);
        p->line_key = key;
        p->line_val = val;
        p->line_cap = cap;
    }
    size_t h = slot_of(p->line_key, p->line_cap, line);
    *known = p->line_key[h] != 0;
    if (!*known) {
        p->line_key[h] = line;
        p->line_n++;
    }
    return &p->line_val[h];
}
/* LRU stack distance in the first warp: move to front. */
static void stack_touch(struct probe *p, uint64_t line)
{
    uint32_t k = 0;
    while (k < p->nstack && p->stack[k] != line)
        k++;
    if (k < p->nstack)
        p->depth[k]++;
    else if (p->nstack < PROBE_MAX_DEPTH)
        p->nstack++;
    else
        k = PROBE_MAX_DEPTH - 1;
    memmove(&p->stack[1], &p->stack[0], sizeof p->stack[0] * k);
    p->stack[0] = line;
}
static void touch_line(struct probe *p, uint64_t line, uint32_t access, uint32_t warp)
{
    bool known;
    struct probe_touch *t = line_slot(p, line, &known);
    uint32_t pos = p->pos[warp]++;
    if (!t)
        return;
    p->touches[access]++;
    p->split.lines++;
    p->split.lines_new += !known;
    uint32_t gap = known ? pos > t->pos ? pos - t->pos : t->pos - pos : 0;
    if (known)
        p->ever[t->access]++;
    if (known && gap <= p->near_lines)
        p->again[t->access]++;
    *t = (struct probe_touch){ access, warp, pos };
    if (warp == 0)
        stack_touch(p, line);
}

/* ---- requests ---- */
enum { FOLLOWED_WHOLE = 1 << 16 }; /* bytes of an array whose sectors are all followed */
struct pieces {
    uint64_t sector[32 * 3];
    uint32_t mask[32 * 3];
    unsigned n;
};
static void put_piece(struct pieces *q, uint64_t sector, uint32_t mask)
{
    unsigned k = q->n;
    while (k && q->sector[k - 1] > sector)
        k--;
    if (k && q->sector[k - 1] == sector) {
        q->mask[k - 1] |= mask;
        return;
    }
    memmove(&q->sector[k + 1], &q->sector[k], sizeof q->sector[0] * (q->n - k));
    memmove(&q->mask[k + 1], &q->mask[k], sizeof q->mask[0] * (q->n - k));
    q->sector[k] = sector;
    q->mask[k] = mask;
    q->n++;
}
static void split_request(const struct slice_event *ev, unsigned bytes, struct pieces *q)
{
    q->n = 0;
    for (uint32_t left = ev->mask; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        for (uint64_t a = ev->addr[l], end = a + bytes; a < end && q->n < ARRAY_LEN(q->sector);) {
            unsigned off = (unsigned)(a % 32), len = 32 - off < end - a ? 32 - off : (unsigned)(end - a);
            put_piece(q, a / 32, (len == 32 ? ~0u : ((UINT32_C(1) << len) - 1)) << off);
            a += len;
        }
    }
}
/* A mask asked for, and what of it the warp, the CTA and the launch had asked for. */
static void split_add(struct probe_part *s, uint32_t mask, uint32_t warp, uint32_t cta, uint32_t all)
{
    s->total += (unsigned)__builtin_popcount(mask);
    s->warp_new += (unsigned)__builtin_popcount(mask & ~warp);
    s->cta_new += (unsigned)__builtin_popcount(mask & ~cta);
    s->all_new += (unsigned)__builtin_popcount(mask & ~all);
}
/* Is this sector followed? In a large array, where the digits of its number to the base 2^sample sum to
 * a multiple of that: one in 2^sample of any run and of any aligned stride. */
static bool followed(const struct probe *p, uint64_t sector)
{
    const struct env *v = &p->f->v;
    uint64_t sum = 0, low = (UINT64_C(1) << p->sample) - 1;
    uint32_t at = env_region_at(v, sector * 32);
    if (at < v->nregions && v->region[at].size <= FOLLOWED_WHOLE)
        return true;
    for (uint64_t n = sector; p->sample && n; n >>= p->sample)
        sum += n & low;
    return !(sum & low);
}
/* One sector of a load in a pass over all CTAs. */
static void count_in_launch(struct probe *p, uint32_t site, uint32_t warp, uint64_t sector,
                            uint32_t mask)
{
    uint32_t w = probe_set_or(&p->warp_seen, sector << 6 | warp, mask),
             c = probe_set_or(&p->cta_seen, sector, mask),
             e = probe_set_or(&p->everything, sector, mask);
    split_add(&p->by[site].bytes, mask, w, c, e);
    split_add(&p->by[site].sectors, 1, w != 0, c != 0, e != 0);
    p->f->fact[site].bytes_read += (unsigned)__builtin_popcount(mask);
    p->f->fact[site].by_others += (unsigned)__builtin_popcount(mask & e & ~c);
}
/* A sector of the CTA that is probed by itself. */
static void count_in_cta(struct probe *p, const struct slice_event *ev, uint64_t sector, uint32_t mask)
{
    const struct fact *x = &p->f->fact[ev->site];
    if (x->store || x->atomic) {
        probe_set_or(&p->stores, PROBE_KEY(ev->site, sector), mask);
        return;
    }
    probe_set_or(&p->loads, PROBE_KEY(ev->site, sector), mask);
    uint32_t w = probe_set_or(&p->warp_seen, sector << 6 | ev->warp, mask);
    uint32_t c = probe_set_or(&p->cta_seen, sector, mask);
    split_add(&p->split.bytes, mask, w, c, c);
    split_add(&p->split.sectors, 1, w != 0, c != 0, c != 0);
    if (sector / 4 != p->last_line && ev->space != ANA_SPACE_COPY)
        touch_line(p, sector / 4, ev->site, ev->warp);
    p->last_line = sector / 4;
}
static void note_sector(struct probe *p, const struct slice_event *ev, uint64_t sector, uint32_t mask)
{
    const struct fact *x = &p->f->fact[ev->site];
    if (!p->all)
        count_in_cta(p, ev, sector, mask);
    else if (!x->store && !x->atomic && followed(p, sector))
        count_in_launch(p, ev->site, ev->warp, sector, mask);
}
/* Few of a copy's sectors would be all that a part of a trace has room for: a copy counts by lines of
 * 1 KiB. */
#define COPY_SHARE 32u
static void note_copy(struct probe *p, const struct slice_event *ev)
{
    uint64_t n = 0;
    for (size_t i = 0; i < ev->nruns; i++)
        for (uint64_t a = ev->run[i].addr, end = a + ev->run[i].bytes; a < end; n++) {
            unsigned off = (unsigned)(a % 32), len = 32 - off < end - a ? 32 - off : (unsigned)(end - a);
            note_sector(p, ev, a / 32, (len == 32 ? ~0u : ((UINT32_C(1) << len) - 1)) << off);
            a += len;
        }
    p->reported[ev->warp] += n / COPY_SHARE + 1;
}
static bool on_event(void *ctx, const struct slice_event *ev)
{
    struct probe *p = ctx;
    const struct fact *x = &p->f->fact[ev->site];
    struct pieces q;
    if ((ev->space != PTX_SPACE_GLOBAL && ev->space != ANA_SPACE_COPY) || x->prefetch)
        return true;
    p->last_line = UINT64_MAX;
    if (ev->space == ANA_SPACE_COPY) {
        note_copy(p, ev);
        return true;
    }
    split_request(ev, x->bytes, &q);
    p->reported[ev->warp] += q.n;
    for (unsigned k = 0; k < q.n; k++)
        note_sector(p, ev, q.sector[k], q.mask[k]);
    return true;
}
static void begin(struct probe *p, uint64_t cta)
{
    uint32_t warps = env_warps(&p->f->v);
    probe_set_clear(&p->loads);
    probe_set_clear(&p->stores);
    probe_set_clear(&p->warp_seen);
    probe_set_clear(&p->cta_seen);
    if (p->line_n) {
        memset(p->line_key, 0, sizeof *p->line_key * p->line_cap);
        p->line_n = 0;
    }
    p->nstack = 0;
    memset(p->pos, 0, sizeof *p->pos * warps);
    memset(p->reported, 0, sizeof *p->reported * warps);
    slice_cta_start(p->cta, cta);
}
static enum slice_stop run_warp(void *ctx, uint32_t w)
{
    struct probe *p = ctx;
    enum slice_stop r = SLICE_EVENT;
    if (!p->cap)
        return slice_warp_run(p->cta, w, on_event, p, false, &p->budget);
    while (r == SLICE_EVENT) {
        if (p->reported[w] >= p->cap) {
            p->cut = true;
            slice_warp_end(p->cta, w);
            return SLICE_DONE;
        }
        r = slice_warp_run(p->cta, w, on_event, p, true, &p->budget);
    }
    return r;
}
enum status probe_cta(struct probe *p, uint64_t cta)
{
    begin(p, cta);
    if (slice_cta_run(p->cta, run_warp, p) != SLICE_DONE)
        return cancel_asked(p->f->o->cancel) ? ST_CANCELLED
               : p->s->status != ST_OK       ? p->s->status
                                             : ST_REFUSED;
    return p->loads.oom || p->stores.oom || p->warp_seen.oom || p->cta_seen.oom || p->everything.oom
               ? ST_NOMEM
               : ST_OK;
}

/* ---- comparing ---- */
/* Lines of `a` by access, each once, and whether b has a sector of the line through the same access. */
static bool line_in(const struct probe_set *s, uint64_t key)
{
    uint64_t base = key & ~UINT64_C(3);
    for (unsigned k = 0; k < 4; k++)
        if (probe_set_get(s, base + k))
            return true;
    return false;
}
static void add_overlap(struct probe_overlap *o, const struct probe_set *a, const struct probe_set *b,
                        size_t i, struct probe_set *lines)
{
    uint64_t key = a->key[i];
    uint32_t mask = a->mask[i], other = probe_set_get(b, key);
    o->of_sectors++;
    o->of_bytes += (unsigned)__builtin_popcount(mask);
    o->sectors += other != 0;
    o->bytes += (unsigned)__builtin_popcount(mask & other);
    if (!probe_set_or(lines, key & ~UINT64_C(3), 1)) {
        o->of_lines++;
        o->lines += line_in(b, key);
    }
}
static enum status merge_accesses(const struct probe_set *s, struct probe_set *out)
{
    for (size_t i = 0; i < s->cap; i++)
        if (s->key[i])
            probe_set_or(out, PROBE_SECTOR(s->key[i]), s->mask[i]);
    return out->oom ? ST_NOMEM : ST_OK;
}
enum status probe_compare(const struct facts *f, const struct probe_set *a, const struct probe_set *b,
                          struct probe_overlap *by_access, struct probe_overlap *all)
{
    struct probe_set lines = { 0 }, ma = { 0 }, mb = { 0 };
    for (size_t i = 0; by_access && i < a->cap; i++)
        if (a->key[i] && PROBE_ACCESS(a->key[i]) < f->n)
            add_overlap(&by_access[PROBE_ACCESS(a->key[i])], a, b, i, &lines);
    probe_set_clear(&lines);
    enum status st = merge_accesses(a, &ma);
    if (st == ST_OK)
        st = merge_accesses(b, &mb);
    for (size_t i = 0; st == ST_OK && i < ma.cap; i++)
        if (ma.key[i])
            add_overlap(all, &ma, &mb, i, &lines);
    st = lines.oom ? ST_NOMEM : st;
    probe_set_free(&lines);
    probe_set_free(&ma);
    probe_set_free(&mb);
    return st;
}
