/* L1 whose tags are more than its data: sets of tags of a fixed number, lines of data from one pool for all of them. Seen
 * on an H200 whatever the carve-out: lines at random addresses collide as in 512 sets of four, lines in a row or at any
 * power of two find all of the pool but 64 lines, and what a request of many lines brings displaces nothing before it
 * arrives. So the spare lines take what is on its way; when it has come and more is kept than may be, the older of the
 * least recently used lines of a few sets picked at random goes.
 *
 *   line:  taken (counted in `used`, in the ring) -> arrived (out of the ring: kept, or free when it only passed through)
 *          -> evicted, dropped or replaced by another of its set */
#include "engine/sim/cache_int.h"

#define REQUEST 8u                   /* cycles that the lines of one request take: all are looked up before any has to go for them */
#define WARY 4u                      /* sets looked at for each otherwise, once there are evict-first lines to be found */

/* x^n + these terms: irreducible polynomials of degree n over bits, dense ones. */
static const uint16_t terms[] = { 0, 0x1, 0x3, 0x3, 0x3, 0x5, 0x3, 0x3, 0x1b, 0x131, 0x9, 0x5, 0x53, 0x1b, 0x2b, 0x3, 0x2b };

/* The set of a line is the remainder of its number, as a polynomial over bits: every stride of a power of two covers all
 * sets evenly, and so do tiles a power of two apart. */
static void make_fold(struct cache_l1 *c)
{
    uint32_t n = c->set_shift, rest = 1u << (n - 1);
    for (uint32_t b = 0; b < n * CACHE_FOLDS; b++) {     /* rest: of the power of bit b of the quotient */
        rest = (rest << 1 & c->set_mask) ^ (rest >> (n - 1) ? terms[n] : 0);
        uint16_t *part = &c->pool.fold[b / n * c->sets];
        for (uint32_t k = 1u << b % n; k < c->sets; k = (k + 1) | 1u << b % n) part[k] ^= (uint16_t)rest;
    }
}

enum status cache_l1_init_pool(struct cache_l1 *c, uint64_t bytes, uint32_t tags, uint32_t ways, uint32_t spare, uint32_t sector_bytes)
{
    enum status st = cache_l1_init(c, (uint64_t)tags << CACHE_LINE_SHIFT, ways, sector_bytes);
    struct cache_pool *p = &c->pool;
    p->lines = (uint32_t)(bytes >> CACHE_LINE_SHIFT);
    if (!p->lines) p->lines = 1;
    p->keep = p->lines > 2 * spare ? p->lines - spare : (p->lines + 1) / 2;
    p->size = 2 * p->lines;
    p->ring = base_alloc(p->size * sizeof *p->ring);
    p->fold = base_alloc(CACHE_FOLDS * c->sets * sizeof *p->fold);
    if (st != ST_OK || !p->ring || !p->fold) return ST_NOMEM;
    make_fold(c);
    return ST_OK;
}

void cache_pool_drop(struct cache_l1 *c, struct cache_line *l)
{
    *l = (struct cache_line){ 0 };
    c->low[l - c->line] = 0;
    c->pool.used--;
}

static void leave_ring(struct cache_l1 *c)
{
    struct cache_pool *p = &c->pool;
    struct cache_line *l = &c->line[p->ring[p->head]];
    if (++p->head == p->size) p->head = 0;
    p->flying--;
    if (l->tag == CACHE_TRANSIT_TAG) cache_pool_drop(c, l);
}

static inline uint64_t keep_key(const struct cache_line *l)
{
    return (uint64_t)(l->tag == CACHE_TRANSIT_TAG ? 0 : l->alloc == CACHE_FIRST ? 1 : l->alloc == CACHE_LAST ? 3 : 2) << 32 | l->stamp;
}

/* The line of a set that would go first, of those that have arrived, or NULL; *empty: a tag nobody uses, or NULL. */
static struct cache_line *first_out(struct cache_line *set, uint32_t ways, uint32_t now, struct cache_line **empty)
{
    struct cache_line *best = NULL;
    *empty = NULL;
    for (uint32_t i = 0; i < ways; i++) {
        struct cache_line *l = &set[i];
        if (!l->tag) *empty = l;
        else if (l->fill <= now && (!best || keep_key(l) < keep_key(best))) best = l;
    }
    return best;
}

/* The first set from `from` on that has a line to give, in a circle. */
static struct cache_line *pick_from(const struct cache_l1 *c, uint32_t from, uint32_t now)
{
    struct cache_line *empty;
    for (uint32_t k = 0; k < c->sets; k++) {
        uint32_t at = (from + k) & c->set_mask;
        struct cache_line *l = first_out(&c->line[(size_t)at * c->ways], c->ways, now, &empty);
        if (l) return l;
    }
    return NULL;
}

static bool evict_one(struct cache_l1 *c, uint32_t now)
{
    struct cache_line *best = NULL;
    uint32_t n = c->any_first ? WARY * c->picks : c->picks;
    for (uint32_t i = 0; i < n || !i; i++) {
        struct cache_line *l = pick_from(c, (uint32_t)(cache_mix(++c->pool.draws) >> 32) & c->set_mask, now);
        if (!l) return false;
        if (!best || keep_key(l) < keep_key(best)) best = l;
    }
    cache_pool_drop(c, best);
    return true;
}

void cache_pool_settle(struct cache_l1 *c, uint32_t now)
{
    struct cache_pool *p = &c->pool;
    while (p->flying && (c->line[p->ring[p->head]].fill <= now || p->flying == p->size)) leave_ring(c);
    if (now - p->asked < REQUEST) return;
    while (p->used > p->keep && evict_one(c, now)) continue;
}

struct cache_line *cache_pool_take(struct cache_l1 *c, struct cache_line *set, uint32_t now)
{
    struct cache_pool *p = &c->pool;
    struct cache_line *empty, *old;
    cache_pool_settle(c, now);
    old = first_out(set, c->ways, now, &empty);
    if (!empty && !old) return NULL;
    if (!empty) cache_pool_drop(c, old);
    else if (p->used >= p->lines && !evict_one(c, now)) return NULL;
    struct cache_line *l = empty ? empty : old;
    uint32_t tail = p->head + p->flying;
    p->ring[tail >= p->size ? tail - p->size : tail] = (uint32_t)(l - c->line);
    p->flying++;
    p->used++;
    p->asked = now;
    return l;
}
