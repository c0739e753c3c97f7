/* L2 with every SM simulated: sectored, set-associative, write-back with
 * per-sector dirty bits, set hashing as in L1, LRU inside eviction classes: on an
 * H200 cyclic reads hit up to the capacity and hardly beyond it. */
#include "engine/sim/cache/l2.h"
#include "engine/sim/preset.h"

#include "engine/sim/cache/sides.h"
#include "engine/sim/mem.h"

#define SECTORS 0x0fu

enum status cache_l2_init(struct cache_l2 *c, uint64_t bytes, uint32_t ways, bool hashed)
{
    uint64_t sets = bytes / ((uint64_t)ways << CACHE_LINE_SHIFT);
    *c = (struct cache_l2){
        .parts = 1, .sets = sets ? (uint32_t)sets : 1, .ways = ways, .room = ways, .hashed = hashed
    };
    c->entry = base_alloc((size_t)c->sets * ways * sizeof *c->entry);
    return c->entry ? ST_OK : ST_NOMEM;
}

void cache_l2_split(struct cache_l2 *c)
{
    if (c->entry && c->sets > 1) {
        c->parts = 2;
        c->sets /= 2;
    }
}

static uint64_t holds(const struct cache_l2 *c)
{
    return (uint64_t)c->parts * c->sets * c->room;
}

enum status cache_l2_init_sample(struct cache_l2 *c, uint64_t bytes, uint32_t sms,
                                 const struct cache_places *p, struct sim_mem *mem)
{
    *c = (struct cache_l2){ .parts = 1, .sets = 1, .ways = 1 };
    return cache_sample_new(&c->sample, bytes, sms, p, mem);
}

struct cache_l2_traits cache_l2_traits_of(const struct sim_preset *g)
{
    return (struct cache_l2_traits){ .first_share = g->l2_first_share,
                                     .distinct = g->l2_distinct,
                                     .warm_share = g->l2_warm_share,
                                     .age_spread = g->l2_age_spread,
                                     .least_share = g->l2_least_share,
                                     .younger_harm = g->l2_younger_harm,
                                     .warm_none = g->l2_warm_none,
                                     .own_share = g->l2_own / g->l2_distinct,
                                     .own_spread = g->l2_own_spread,
                                     .dram_open = (uint32_t)g->dram_open };
}

void cache_l2_shape(struct cache_l2 *c, struct cache_l2_traits t)
{
    if (c->sample)
        cache_sample_shape(c->sample, t);
    c->warm_lines = t.warm_share * (double)holds(c) * (c->parts == 2 ? t.distinct : 1);
    c->first_ways = (uint32_t)(t.first_share * c->ways + 0.5);
    if (t.first_share > 0 && !c->first_ways)
        c->first_ways = 1;
}

enum status cache_l2_keep(struct cache_l2 *c, const struct cache_window *w)
{
    c->window = *w;
    if (c->sample) {
        cache_sample_keep(c->sample, &c->window);
        return ST_OK;
    }
    uint32_t sets = c->parts * c->sets, kept = (uint32_t)((w->part + sets / 2) / sets),
             lost = (uint32_t)((double)kept * w->taken);
    if (lost >= c->room) { /* each set has room for others */
        lost = c->room - 1;
        kept = (uint32_t)(lost / w->taken);
    }
    c->kept_ways = kept ? kept : 1;
    uint32_t ways = c->room - lost + c->kept_ways;
    if (ways <= c->ways)
        return ST_OK;
    base_free(c->entry);
    c->ways = ways;
    c->entry = base_alloc((size_t)sets * ways * sizeof *c->entry);
    return c->entry ? ST_OK : ST_NOMEM;
}

/* lines that no buffer has: what restored ones are copied from */
#define WARM_SOURCE (UINT64_C(1) << 52)

/* The partition whose SM touched a line in an earlier launch: by neighbourhoods, either. */
#define NEIGHBOURS 5u /* 2 to that power lines, a row of a CTA */
static bool side_before(uint64_t line)
{
    return cache_mix(line >> NEIGHBOURS) >> 33 & 1;
}

static void warm_lines(struct cache_l2 *c, uint64_t first, uint64_t n, bool copied)
{
    struct cache_l2_outcome o;
    for (uint64_t line = first; line < first + n; line++) {
        bool side = side_before(line);
        if (copied)
            cache_l2_access(
                c, &(struct cache_l2_request){ .line = line | WARM_SOURCE, .sectors = 15, .side = side },
                &o);
        cache_l2_access(c,
                        &(struct cache_l2_request){
                            .line = line, .sectors = 15, .side = side, .write = copied && !c->full },
                        &o);
    }
}

/* Lines of the buffers of a launch, and of the copies' sources of those that are restored. */
static double lines_of(const struct cache_range *v, size_t n)
{
    double lines = 0;
    for (size_t i = 0; i < n; i++)
        lines += (double)v[i].lines * (v[i].restored ? 2 : 1);
    return lines;
}

static uint64_t copied_lines(const struct cache_range *v, size_t n)
{
    uint64_t copied = 0;
    for (size_t i = 0; i < n; i++)
        copied += v[i].restored ? v[i].lines : 0;
    return copied;
}

/* Those that are only read: the smaller, the later. */
static void warm_read(struct cache_l2 *c, const struct cache_range *v, size_t n)
{
    for (uint64_t below = holds(c) + 1, next = 0; below; below = next, next = 0)
        for (size_t i = 0; i < n; i++) {
            if (v[i].restored || v[i].lines > below)
                continue;
            if (v[i].lines == below)
                warm_lines(c, v[i].first, v[i].lines, false);
            else if (v[i].lines > next)
                next = v[i].lines;
        }
}

static void warm_restored(struct cache_l2 *c, const struct cache_range *v, size_t n)
{
    uint64_t copied = copied_lines(v, n), capacity = holds(c);
    for (size_t i = 0; i < n; i++) {
        /* displaced by what was copied later */
        uint64_t skip = 2 * copied > capacity ? copied - capacity / 2 : 0;
        if (!v[i].restored)
            continue;
        copied -= v[i].lines;
        if (skip < v[i].lines)
            warm_lines(c, v[i].first + skip, v[i].lines - skip, true);
    }
    c->filled = 0;
}

void cache_l2_warm(struct cache_l2 *c, const struct cache_range *v, size_t n)
{
    if (!n)
        return;
    if (c->sample) {
        cache_sample_warm(c->sample, v, n);
        return;
    }
    c->warm_fits = lines_of(v, n) <= c->warm_lines;
    if (c->warm_fits)
        return;
    c->full = lines_of(v, n) > (double)holds(c);
    warm_read(c, v, n);
    warm_restored(c, v, n);
}

#define FAR_BEYOND 1.5 /* times L2: of so much nothing is left where it is read again */
bool cache_l2_depends(const struct sim_preset *g, const struct cache_range *v, size_t n)
{
    double size = (double)g->l2_bytes / (1 << CACHE_LINE_SHIFT), all = lines_of(v, n);
    return all > g->l2_warm_share * g->l2_distinct * size && all < FAR_BEYOND * size;
}

double cache_l2_again(const struct cache_l2 *c)
{
    return c->sample ? cache_sample_again(c->sample) : 0;
}

void cache_l2_own_left(struct cache_l2 *c)
{
    if (c->sample)
        cache_sample_own_left(c->sample);
}

void cache_l2_take(struct cache_l2 *c, struct cache_l2 *from, const struct cache_range *v, size_t n)
{
    struct cache_l2_entry *own = c->entry;
    c->entry = from->entry;
    c->clock = from->clock;
    c->full = from->full;
    from->entry = own;
    warm_restored(c, v, n);
}

void cache_l2_free(struct cache_l2 *c)
{
    base_free(c->entry);
    cache_sample_free(c->sample);
    *c = (struct cache_l2){ 0 };
}

static struct cache_l2_entry *find_set(const struct cache_l2 *c, unsigned side, uint64_t line,
                                       uint32_t *tag)
{
    uint64_t q = line / c->sets, r = line % c->sets;
    *tag = (uint32_t)q;
    if (c->hashed)
        r = (r + (((cache_mix(q) >> 32) * c->sets) >> 32)) % c->sets;
    return &c->entry[((size_t)side * c->sets + r) * c->ways];
}

static struct cache_l2_entry *find_line(const struct cache_l2 *c, struct cache_l2_entry *set,
                                        uint32_t tag)
{
    for (uint32_t i = 0; i < c->ways; i++)
        if (set[i].tag == tag && set[i].used)
            return &set[i];
    return NULL;
}

/* Its sectors that a partition has. */
static uint8_t peek(const struct cache_l2 *c, unsigned side, uint64_t line)
{
    uint32_t tag;
    struct cache_l2_entry *set = find_set(c, side, line, &tag), *e = find_line(c, set, tag);
    return e ? e->valid : 0;
}

uint8_t cache_l2_probe(const struct cache_l2 *c, unsigned side, uint64_t line, uint8_t sectors)
{
    if (c->warm_fits)
        return sectors;
    if (c->sample)
        return cache_sample_probe(c->sample, line, sectors);
    uint8_t here = 0;
    for (unsigned from = 0; from < c->parts; from++)
        if (c->parts == 1 || from == (side & 1) || from == cache_side_of(line))
            here |= peek(c, from, line);
    return here & sectors;
}

double cache_l2_together(const struct cache_l2 *c, uint64_t line)
{
    return c->sample ? cache_sample_together(c->sample, line) : 0;
}

static unsigned rank_of(uint8_t alloc)
{
    return alloc == CACHE_FIRST ? 0 : alloc == CACHE_LAST ? 2 : alloc == CACHE_KEPT ? 3 : 1;
}

/* What class a line gets when `alloc` touches it. */
static uint8_t line_class(uint8_t alloc, uint8_t old, bool fresh)
{
    switch (alloc) {
    case CACHE_FIRST:
    case CACHE_LAST:
    case CACHE_KEPT: return alloc;
    case CACHE_LAST_USE:
    case CACHE_TRANSIT: return CACHE_FIRST;
    case CACHE_UNCHANGED: return fresh ? CACHE_NORMAL : old;
    default: return CACHE_NORMAL;
    }
}

/* The oldest evict-first line of a set that has as many as it may, or NULL. */
static struct cache_l2_entry *first_victim(const struct cache_l2 *c, struct cache_l2_entry *set)
{
    struct cache_l2_entry *oldest = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->ways; i++) {
        if (!set[i].used || set[i].alloc != CACHE_FIRST)
            continue;
        n++;
        if (!oldest || set[i].stamp < oldest->stamp)
            oldest = &set[i];
    }
    return c->first_ways && n >= c->first_ways ? oldest : NULL;
}

/* The oldest kept line of a set that has as many as it may, or NULL. *full: others have, beside
 * the kept ones and, where `more`, another. */
static struct cache_l2_entry *kept_victim(const struct cache_l2 *c, struct cache_l2_entry *set,
                                          bool more, bool *full)
{
    struct cache_l2_entry *oldest = NULL;
    uint32_t kept = 0, others = 0;
    for (uint32_t i = 0; i < c->ways; i++) {
        bool keeps = set[i].used && set[i].alloc == CACHE_KEPT;
        kept += keeps;
        others += set[i].used && !keeps;
        if (keeps && (!oldest || set[i].stamp < oldest->stamp))
            oldest = &set[i];
    }
    uint32_t lost = (uint32_t)((kept + more) * c->window.taken);
    *full = others + !more > (lost < c->room ? c->room - lost : 1);
    return kept >= c->kept_ways ? oldest : NULL;
}

static struct cache_l2_entry *choose_victim(const struct cache_l2 *c, struct cache_l2_entry *set,
                                            uint8_t alloc)
{
    bool full = false;
    if (c->window.lines) {
        struct cache_l2_entry *kept = kept_victim(c, set, alloc == CACHE_KEPT, &full);
        if (kept && alloc == CACHE_KEPT)
            return kept;
    }
    struct cache_l2_entry *best =
        line_class(alloc, CACHE_NORMAL, true) == CACHE_FIRST ? first_victim(c, set) : NULL;
    if (best)
        return best;
    uint64_t best_key = UINT64_MAX;
    for (uint32_t i = 0; i < c->ways; i++) {
        if (!set[i].used && !full)
            return &set[i];
        if (!set[i].used)
            continue;
        uint64_t key = (uint64_t)rank_of(set[i].alloc) << 32 | set[i].stamp;
        if (key < best_key) {
            best_key = key;
            best = &set[i];
        }
    }
    return best;
}

/* Sectors that a store sends to DRAM now; the others go when their line is evicted. */
static uint8_t store_into(const struct cache_l2 *c, struct cache_l2_entry *e, uint8_t sectors)
{
    uint8_t now = c->full ? sectors & (uint8_t) ~(e->dirty >> 4) : 0;
    e->dirty = (uint8_t)((e->dirty & ~now) | now << 4);
    e->dirty |= c->full ? 0 : sectors;
    return now;
}

/* The line's place in a partition, its oldest line gone from there where it is new. */
static struct cache_l2_entry *line_in(struct cache_l2 *c, unsigned side,
                                      const struct cache_l2_request *r, struct cache_l2_outcome *o)
{
    uint32_t tag;
    struct cache_l2_entry *set = find_set(c, side, r->line, &tag), *e = find_line(c, set, tag);
    bool fresh = !e;
    if (fresh) {
        e = choose_victim(c, set, r->alloc);
        o->written |= e->dirty & SECTORS;
        c->full = c->full || ++c->filled > holds(c);
        *e = (struct cache_l2_entry){ .tag = tag, .used = 1 };
    }
    e->stamp = ++c->clock;
    e->alloc = line_class(r->alloc, e->alloc, fresh);
    return e;
}

/* A store leaves the line in its home, and in the SM's own partition, which is the other one or the same. */
static void drop_from(struct cache_l2 *c, unsigned side, const struct cache_l2_request *r)
{
    uint32_t tag;
    struct cache_l2_entry *set = find_set(c, side, r->line, &tag), *e = find_line(c, set, tag);
    if (e)
        e->valid &= (uint8_t)~r->sectors;
}

static void store_tags(struct cache_l2 *c, unsigned near, unsigned home,
                       const struct cache_l2_request *r, struct cache_l2_outcome *o)
{
    struct cache_l2_entry *e = line_in(c, home, r, o);
    o->hit = r->sectors & e->valid;
    e->valid |= r->sectors;
    o->written |= store_into(c, e, r->sectors);
    if (near != home)
        line_in(c, near, r, o)->valid |= r->sectors;
    else if (c->parts == 2)
        drop_from(c, !home, r);
}

static void load_tags(struct cache_l2 *c, unsigned near, unsigned home, const struct cache_l2_request *r,
                      struct cache_l2_outcome *o)
{
    struct cache_l2_entry *e = line_in(c, near, r, o);
    uint8_t lack = (uint8_t)(r->sectors & ~e->valid);
    o->hit = r->sectors & e->valid;
    if (lack && near != home) {
        struct cache_l2_entry *far = line_in(c, home, r, o);
        o->crossed = lack & far->valid;
        o->hit |= o->crossed;
        lack &= (uint8_t)~far->valid;
        o->miss = lack ? (uint8_t)((lack | r->fetch) & ~far->valid) : 0;
        far->valid |= o->miss;
    } else if (lack) {
        o->miss = (uint8_t)((lack | r->fetch) & ~e->valid);
    }
    e->valid |= o->miss | o->crossed;
}

/* Atomics are made in the line's home, and lines of a window lie there alone. */
static void access_tags(struct cache_l2 *c, const struct cache_l2_request *r, struct cache_l2_outcome *o)
{
    unsigned home = c->parts == 2 ? cache_side_of(r->line) : 0,
             near = c->parts == 2 && !r->lanes && r->alloc != CACHE_KEPT ? r->side : home;
    if (r->write)
        store_tags(c, near, home, r, o);
    else
        load_tags(c, near, home, r, o);
}

void cache_l2_access(struct cache_l2 *c, const struct cache_l2_request *r, struct cache_l2_outcome *o)
{
    *o = (struct cache_l2_outcome){ .weight = 1, .left = 1 };
    if (c->warm_fits) {
        o->hit = r->sectors;
        return;
    }
    struct cache_l2_request kept;
    if (c->window.lines && r->alloc == CACHE_NORMAL && cache_window_keeps(&c->window, r->line)) {
        kept = *r;
        kept.alloc = CACHE_KEPT;
        r = &kept;
    }
    if (c->sample) {
        cache_sample_access(c->sample, r, o);
        return;
    }
    access_tags(c, r, o);
}
