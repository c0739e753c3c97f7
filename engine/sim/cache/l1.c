/* L1: sectored, set-associative, LRU inside eviction classes.
 *
 * A set index is the low part of the line number, rotated by a hash of the high
 * part: any run of `sets` consecutive lines covers every set once, and strides
 * of whole caches do not pile up. (set, line / sets) names the line, so the tag
 * keeps only the quotient. Over a pool (pool.c) the hash is another, and the tag the whole number.
 *
 *   entry:  empty -> pending (valid bits set, fill > now) -> arrived -> evicted
 */
#include "engine/sim/cache/l1.h"
#include "engine/sim/preset.h"

enum status cache_l1_init(struct cache_l1 *c, uint64_t bytes, uint32_t ways, uint32_t sector_bytes)
{
    uint64_t sets = bytes / ((uint64_t)ways << CACHE_LINE_SHIFT);
    *c = (struct cache_l1){ .sets = sets ? (uint32_t)sets : 1,
                            .ways = ways,
                            .merge_max = 255,
                            .hashed = true,
                            .update_on_store = true,
                            .streaming = true };
    c->group = (uint8_t)(sector_bytes >= 128 ? 4 : sector_bytes >= 64 ? 2 : 1);
    if (!(c->sets & (c->sets - 1))) {
        c->set_mask = c->sets - 1;
        while ((1u << c->set_shift) < c->sets)
            c->set_shift++;
    }
    c->line = base_alloc((size_t)c->sets * ways * sizeof *c->line);
    c->low = base_alloc((size_t)c->sets * ways * sizeof *c->low);
    return c->line && c->low ? ST_OK : ST_NOMEM;
}

/* ---- tags over a pool of data (pool.c) ---- */

/* two for the bank, the rest for the set in it, in the order of the hand */
#define HASH_BITS 9u

struct cache_pool_traits cache_pool_traits_of(const struct sim_preset *g)
{
    const int64_t *hash = &g->l1_tag_hash_0;
    struct cache_pool_traits t = { .banks = (uint32_t)g->l1_pool_banks,
                                   .spare = (uint32_t)g->l1_fill_buffers,
                                   .first_look = (uint32_t)g->l1_first_look };
    for (uint32_t i = 0; i < CACHE_HASH_BITS; i++)
        t.hash[i] = (uint16_t)hash[i];
    return t;
}

/* Which bits of the hash a bit of a line number turns over; a bit whose part is not known counts as the
 * 16th before it. */
static uint16_t hash_bit(const struct cache_pool_traits *t, uint32_t bit)
{
    while (bit >= CACHE_HASH_BITS)
        bit -= 16;
    return t->hash[bit];
}

/* For each byte of a line number, the bits of the set that it turns over. Where L1 has fewer sets
 * than the hash, neighbouring sets of the hash are one. */
static void make_fold(struct cache_l1 *c, const struct cache_pool_traits *t)
{
    uint32_t spare = c->set_shift < HASH_BITS ? HASH_BITS - c->set_shift : 0;
    for (uint32_t b = 0; b < CACHE_FOLDS * 8; b++) {
        uint32_t h = hash_bit(t, b), banks = c->pool.bank_mask,
                 part = (h & banks) | (h >> spare & ~banks);
        uint16_t *fold = &c->pool.fold[b / 8 * 256];
        for (uint32_t k = 0; k < 256; k++)
            if (k >> b % 8 & 1)
                fold[k] ^= (uint16_t)part;
    }
}

enum status cache_l1_init_pool(struct cache_l1 *c, uint64_t bytes, uint32_t tags, uint32_t ways,
                               uint32_t sector_bytes, const struct cache_pool_traits *t)
{
    uint32_t spare = t->spare / t->banks;
    enum status st = cache_l1_init(c, (uint64_t)tags << CACHE_LINE_SHIFT, ways, sector_bytes);
    struct cache_pool *p = &c->pool;
    p->banks = t->banks;
    p->bank_mask = t->banks - 1;
    p->bank_shift = (uint32_t)__builtin_ctz(t->banks);
    p->first_look = t->first_look;
    p->lines = (uint32_t)(bytes >> CACHE_LINE_SHIFT) / t->banks;
    if (!p->lines)
        p->lines = 1;
    p->keep = p->lines > 2 * spare ? p->lines - spare : (p->lines + 1) / 2;
    p->size = t->banks * p->lines;
    p->bank = base_alloc(p->size * sizeof *p->bank);
    /* most kernels need none of it, or little */
    p->pass = (void *)base_pages_copy(p->size * sizeof *p->pass, 0);
    p->late = base_alloc((size_t)CACHE_LATE * CACHE_BANKS * sizeof *p->late);
    p->fold = base_alloc(CACHE_FOLDS * 256 * sizeof *p->fold);
    if (st != ST_OK || !p->bank || !p->pass || !p->late || !p->fold)
        return ST_NOMEM;
    make_fold(c, t);
    return ST_OK;
}

void cache_l1_free(struct cache_l1 *c)
{
    BASE_FREE(c->line, c->low, c->pool.bank, c->pool.fold, c->pool.late);
    if (c->pool.pass)
        base_pages_free((void *)c->pool.pass, c->pool.size * sizeof *c->pool.pass, -1);
    c->pool = (struct cache_pool){ 0 };
    c->line = NULL;
    c->low = NULL;
}

uint32_t cache_l1_set(const struct cache_l1 *c, uint64_t line, uint64_t *tag)
{
    if (c->pool.lines) {
        const uint16_t *f = c->pool.fold;
        *tag = line + 1;
        return f[line & 255] ^ f[256 + (line >> 8 & 255)] ^ f[512 + (line >> 16 & 255)] ^
               f[768 + (line >> 24 & 255)];
    }
    uint64_t q, r;
    if (c->set_mask || c->sets == 1) {
        q = line >> c->set_shift;
        r = line & c->set_mask;
    } else {
        q = line / c->sets;
        r = line % c->sets;
    }
    *tag = q + 1;
    if (!c->hashed)
        return (uint32_t)r;
    uint32_t turn = (uint32_t)(((cache_mix(q) >> 32) * c->sets) >> 32);
    uint32_t set = (uint32_t)r + turn;
    return set >= c->sets ? set - c->sets : set;
}

static void set_line(struct cache_l1 *c, struct cache_line *to, const struct cache_line *v)
{
    *to = *v;
    c->low[to - c->line] = (uint32_t)v->tag;
}

/* No look-up finds the line again. Data on their way still arrive for the loads that wait for them. */
static void drop_line(struct cache_l1 *c, struct cache_line *l, uint32_t now)
{
    if (c->pool.lines)
        cache_pool_drop(c, l, now);
    else if (l->fill > now)
        set_line(c, l,
                 &(struct cache_line){ .tag = CACHE_TRANSIT_TAG, .stamp = l->stamp, .fill = l->fill });
    else
        set_line(c, l, &(struct cache_line){ 0 });
}

/* The line of `set` with that tag, or NULL. All low halves are compared, without a branch, before the
 * whole tag is. */
static struct cache_line *find_line(const struct cache_l1 *c, uint32_t set, uint64_t tag)
{
    const uint32_t *low = &c->low[(size_t)set * c->ways];
    struct cache_line *first = &c->line[(size_t)set * c->ways];
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->ways; i++)
        at = low[i] == (uint32_t)tag ? i + 1 : at;
    if (!at)
        return NULL;
    if (first[at - 1].tag == tag)
        return &first[at - 1];
    for (uint32_t i = 0; i < c->ways; i++)
        if (first[i].tag == tag)
            return &first[i];
    return NULL;
}

/* Victim order: what nobody needs, evict-first, normal, evict-last; oldest first. Pending lines are
 * kept. With `picks` the oldest of that many lines drawn at random (a hash of the access count) goes,
 * unless one is evict-first. */
static struct cache_line *choose_victim(struct cache_l1 *c, struct cache_line *set, uint32_t now)
{
    bool full;
    if (c->pool.lines)
        return cache_pool_take(c, set, now, &full);
    const uint32_t *low = &c->low[set - c->line];
    uint32_t free = 0;
    for (uint32_t i = 0; i < c->ways; i++)
        free |= -(uint32_t)(low[i] == 0) | -(uint32_t)(low[i] == (uint32_t)CACHE_TRANSIT_TAG);
    /* further than `picks` go: for one that is empty or evict-first */
    bool look = c->any_first || free;
    struct cache_line *best = NULL;
    uint64_t best_key = UINT64_MAX;
    uint32_t from = 0, left = c->ways;
    if (c->picks) {
        from = (uint32_t)(((cache_mix(c->clock) >> 32) * c->ways) >> 32);
        left = c->picks;
    }
    for (uint32_t i = 0; i < c->ways && (left || look); i++) {
        struct cache_line *l = &set[from + i < c->ways ? from + i : from + i - c->ways];
        if (!l->tag)
            return l;
        if (l->fill > now)
            continue;
        if (l->tag == CACHE_TRANSIT_TAG)
            return l;
        uint64_t key = cache_keep_key(l);
        if (key < best_key && (left || l->alloc == CACHE_FIRST)) {
            best_key = key;
            best = l;
        }
        if (left)
            left--;
    }
    return best;
}

static uint32_t earliest_fill(const struct cache_line *set, uint32_t ways)
{
    uint32_t at = UINT32_MAX;
    for (uint32_t i = 0; i < ways; i++)
        if (set[i].fill < at)
            at = set[i].fill;
    return at;
}

static void answer_present(struct cache_l1 *c, struct cache_line *l, uint8_t sectors,
                           enum cache_alloc alloc, uint32_t now, struct cache_answer *a)
{
    if (l->fill <= now) {
        l->ready = l->valid;
        l->merged = 0;
    }
    uint8_t waiting = (uint8_t)(sectors & l->valid & ~l->ready);
    if (waiting && l->merged >= c->merge_max) {
        a->stall = l->fill;
        return;
    }
    a->line = l;
    a->hit = sectors & l->ready;
    a->pending = waiting;
    if (waiting) {
        l->merged++;
        a->ready = l->fill;
    }
    if (alloc == CACHE_LAST_USE) {
        l->alloc = CACHE_FIRST;
        c->any_first = true;
        l->stamp = 0;
    } else if (alloc != CACHE_UNCHANGED && (alloc != CACHE_TRANSIT || !c->pool.lines)) {
        l->stamp = ++c->clock;
        if (alloc == CACHE_LAST) {
            l->alloc = CACHE_LAST;
            c->any_last = true;
        }
    }
    uint8_t lack = (uint8_t)(sectors & ~l->valid);
    if (!lack)
        return;
    a->miss = cache_widen(lack, c->group) & (uint8_t)~l->valid;
    l->valid |= a->miss;
}

/* A miss that allocates nothing. With `transit` it takes a line while its data are on the way, and
 * loses what was there. */
static void pass_through(struct cache_l1 *c, struct cache_line *set, uint8_t sectors, uint32_t now,
                         struct cache_answer *a)
{
    a->miss = sectors;
    if (c->transit && c->pool.lines) {
        a->line = cache_pool_pass(c, set, now);
        if (!a->line)
            a->stall = cache_pool_wait(c, set, now);
        return;
    }
    a->line = c->transit ? choose_victim(c, set, now) : NULL;
    if (a->line)
        set_line(c, a->line, &(struct cache_line){ .tag = CACHE_TRANSIT_TAG, .stamp = ++c->clock });
}

static void answer_absent(struct cache_l1 *c, struct cache_line *set, uint64_t tag, uint8_t sectors,
                          enum cache_alloc alloc, uint32_t now, struct cache_answer *a)
{
    if (alloc == CACHE_TRANSIT) {
        pass_through(c, set, sectors, now, a);
        return;
    }
    bool full = false;
    struct cache_line *l =
        c->pool.lines ? cache_pool_take(c, set, now, &full) : choose_victim(c, set, now);
    if (full) { /* of the set all lines are on their way: it passes by */
        pass_through(c, set, cache_widen(sectors, c->group), now, a);
        return;
    }
    if (!l && (c->pool.lines || !c->streaming)) {
        a->stall = c->pool.lines ? cache_pool_wait(c, set, now) : earliest_fill(set, c->ways);
        return;
    }
    a->miss = cache_widen(sectors, c->group);
    if (!l)
        return;
    set_line(c, l, &(struct cache_line){ .tag = tag, .stamp = ++c->clock, .valid = a->miss });
    l->alloc = (uint8_t)(alloc == CACHE_LAST_USE    ? CACHE_FIRST
                         : alloc == CACHE_UNCHANGED ? CACHE_NORMAL
                                                    : alloc);
    c->any_first |= l->alloc == CACHE_FIRST;
    c->any_last |= l->alloc == CACHE_LAST;
    a->line = l;
}

void cache_l1_load(struct cache_l1 *c, uint64_t line, uint8_t sectors, enum cache_alloc alloc,
                   uint32_t now, struct cache_answer *a)
{
    *a = (struct cache_answer){ 0 };
    if (c->pool.flying || c->pool.nlate)
        cache_pool_settle(c, now);
    if (alloc == CACHE_BYPASS && !c->transit) {
        a->miss = sectors;
        return;
    }
    uint64_t tag;
    uint32_t set = cache_l1_set(c, line, &tag);
    if (alloc == CACHE_BYPASS) {
        struct cache_line *old = c->forget ? find_line(c, set, tag) : NULL;
        if (old)
            drop_line(c, old, now);
        pass_through(c, &c->line[(size_t)set * c->ways], sectors, now, a);
        return;
    }
    struct cache_line *found = find_line(c, set, tag);
    if (alloc == CACHE_DROP) {
        if (found)
            drop_line(c, found, now);
        a->miss = sectors;
        return;
    }
    if (found)
        answer_present(c, found, sectors, alloc, now, a);
    else
        answer_absent(c, &c->line[(size_t)set * c->ways], tag, sectors, alloc, now, a);
}

/* A store's line: its whole sectors can be read, those written in part cannot. */
static void place_store(struct cache_l1 *c, struct cache_line *set, uint64_t tag, uint8_t whole,
                        uint32_t now)
{
    struct cache_line *l = choose_victim(c, set, now);
    if (l)
        set_line(c, l,
                 &(struct cache_line){ .tag = tag,
                                       .stamp = ++c->clock,
                                       .valid = whole,
                                       .ready = whole,
                                       .alloc = CACHE_NORMAL });
}

void cache_l1_store(struct cache_l1 *c, uint64_t line, uint8_t sectors, bool partial, uint32_t now)
{
    uint64_t tag;
    uint32_t set = cache_l1_set(c, line, &tag);
    struct cache_line *l = c->update_on_store && !c->store_lines ? NULL : find_line(c, set, tag);
    if (!l) {
        if (c->store_lines)
            place_store(c, &c->line[(size_t)set * c->ways], tag, partial ? 0 : sectors, now);
    } else if (c->store_lines) {
        l->stamp = ++c->clock;
        if (partial)
            return;
        l->valid |= sectors;
        l->ready |= sectors;
    } else {
        l->valid &= (uint8_t)~cache_widen(sectors, c->group);
        l->ready &= l->valid;
        if (!l->valid)
            drop_line(c, l, now);
    }
}

bool cache_l1_has(const struct cache_l1 *c, uint64_t line, uint8_t sectors)
{
    uint64_t tag;
    uint32_t set = cache_l1_set(c, line, &tag);
    const struct cache_line *l = find_line(c, set, tag);
    return l && !(sectors & ~l->valid);
}
