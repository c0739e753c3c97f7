/* L1 with more tags than data, as an H200 has it: the order in which the lines of one warp go shows
 * it (docs/lab/l1-replacement.md). There are four banks, each with a quarter of the data; some of
 * these (`spare`) only hold what is on its way. When no data are left, a hand moves on from where
 * it last stood to the next set that has lines, and the least recently used of these goes, however
 * often it was hit since the hand came by. A full set replaces its least recently used line; a miss
 * whose set is full of lines on their way passes through: it holds data while they are on the way,
 * and no tag. Data stay until every load that found or brought them has read them, though the tag
 * may go before. Where no data are free, lines go until some are.
 *
 *   a line        taken (counted in `used`) -> arrived -> evicted by the hand, dropped or replaced
 *                 -> read by the last load: its data are free
 *   what passes   taken (counted, in the ring) -> arrived: out of the ring
 *
 * A line that is dropped on its way goes on as what passes. */
#include "engine/sim/cache/l1.h"

static inline uint32_t free_at(const struct cache_line *l)
{
    return l->fill > l->held ? l->fill : l->held;
}

static inline uint32_t bank_of(const struct cache_l1 *c, const struct cache_line *l)
{
    return (uint32_t)(l - c->line) / c->ways & c->pool.bank_mask;
}

static void forget(struct cache_l1 *c, struct cache_line *l)
{
    *l = (struct cache_line){ 0 };
    c->low[l - c->line] = 0;
}

/* An entry of the ring, for data that are taken. */
static struct cache_line *enter(struct cache_l1 *c, uint32_t bank)
{
    struct cache_pool *p = &c->pool;
    uint32_t tail = p->head + p->flying++; /* no more than all data pass by at once */
    if (tail >= p->size)
        tail -= p->size;
    p->bank[tail] = (uint8_t)bank;
    p->pass[tail] = (struct cache_line){ .tag = CACHE_TRANSIT_TAG };
    return &p->pass[tail];
}

/* Data of the bank that are free at cycle `at`. */
static void free_later(struct cache_pool *p, uint32_t bank, uint32_t now, uint32_t at)
{
    uint32_t k = (at >> CACHE_LATE_SHIFT) + 1, most = (now >> CACHE_LATE_SHIFT) + CACHE_LATE - 1;
    if (!p->nlate++)
        p->looked = now >> CACHE_LATE_SHIFT;
    p->late[(k < most ? k : most) % CACHE_LATE * CACHE_BANKS + bank]++;
}

void cache_pool_drop(struct cache_l1 *c, struct cache_line *l, uint32_t now)
{
    uint32_t bank = bank_of(c, l);
    if (free_at(l) > now)
        free_later(&c->pool, bank, now, free_at(l));
    else
        c->pool.used[bank]--;
    forget(c, l);
}

static void settle_late(struct cache_pool *p, uint32_t now)
{
    while (p->nlate && p->looked < now >> CACHE_LATE_SHIFT) {
        uint16_t *n = &p->late[++p->looked % CACHE_LATE * CACHE_BANKS];
        for (uint32_t b = 0; b < p->banks; b++) {
            p->used[b] -= n[b];
            p->nlate -= n[b];
            n[b] = 0;
        }
    }
}

/* Data that passed through, and data read after their tag had gone, become free. */
void cache_pool_settle(struct cache_l1 *c, uint32_t now)
{
    struct cache_pool *p = &c->pool;
    settle_late(p, now);
    while (p->flying && p->pass[p->head].fill <= now) {
        p->used[p->bank[p->head]]--;
        if (++p->head == p->size)
            p->head = 0;
        if (!--p->flying)
            p->head = 0; /* pages that nobody has touched stay so */
    }
}

/* The least recently used line of a set whose data have arrived: evict-first lines before others,
 * evict-last ones after; NULL: none. *empty: a free tag, or NULL. */
static struct cache_line *oldest(const struct cache_l1 *c, struct cache_line *set, uint32_t now,
                                 struct cache_line **empty)
{
    struct cache_line *best = NULL;
    *empty = NULL;
    for (uint32_t i = 0; i < c->ways; i++) {
        struct cache_line *l = &set[i];
        if (!l->tag)
            *empty = l;
        else if (l->fill <= now && (!best || cache_keep_key(l) < cache_keep_key(best)))
            best = l;
    }
    return best;
}

/* What the hand finds in the k-th set after it. */
static struct cache_line *find_next(const struct cache_l1 *c, uint32_t bank, uint32_t k, uint32_t now)
{
    uint32_t sets = c->sets >> c->pool.bank_shift,
             at = ((c->pool.hand[bank] + k) % sets << c->pool.bank_shift) + bank;
    struct cache_line *empty;
    const uint32_t *low = &c->low[(size_t)at * c->ways];
    uint32_t any = 0;
    /* where L1 is small, most sets have none */
    for (uint32_t i = 0; i < c->ways; i++)
        any |= low[i];
    return any ? oldest(c, &c->line[(size_t)at * c->ways], now, &empty) : NULL;
}

/* Evict-last lines go only when the hand has been all round. */
static bool evict(struct cache_l1 *c, uint32_t bank, uint32_t now)
{
    uint32_t sets = c->sets >> c->pool.bank_shift, most = c->any_last ? 2 * sets : sets, k;
    struct cache_line *l = NULL;
    for (k = 0; c->any_first && k < c->pool.first_look; k++)
        if ((l = find_next(c, bank, k, now)) && l->alloc == CACHE_FIRST)
            break;
    if (!l || l->alloc != CACHE_FIRST) {
        for (k = 0; k < most; k++)
            if ((l = find_next(c, bank, k, now)) && (l->alloc != CACHE_LAST || k >= sets))
                break;
        if (k == most)
            return false;
        c->pool.hand[bank] = (c->pool.hand[bank] + k + 1) % sets;
    }
    cache_pool_drop(c, l, now);
    return true;
}

/* Whether there are data for something on its way; then they are taken. */
static bool take_data(struct cache_l1 *c, uint32_t bank, uint32_t now)
{
    struct cache_pool *p = &c->pool;
    cache_pool_settle(c, now);
    if (p->used[bank] >= p->keep) {
        while (evict(c, bank, now) && p->used[bank] >= p->lines) {}
        if (p->used[bank] >= p->lines)
            return false;
    }
    p->used[bank]++;
    return true;
}

struct cache_line *cache_pool_pass(struct cache_l1 *c, const struct cache_line *set, uint32_t now)
{
    uint32_t bank = bank_of(c, set);
    return take_data(c, bank, now) ? enter(c, bank) : NULL;
}

struct cache_line *cache_pool_take(struct cache_l1 *c, struct cache_line *set, uint32_t now, bool *full)
{
    struct cache_line *empty, *old = oldest(c, set, now, &empty);
    *full = !empty && !old;
    if (*full)
        return NULL;
    if (!empty) {
        cache_pool_drop(c, old, now);
        empty = old;
    }
    return take_data(c, bank_of(c, set), now) ? empty : NULL;
}

uint32_t cache_pool_wait(const struct cache_l1 *c, const struct cache_line *set, uint32_t now)
{
    const struct cache_pool *p = &c->pool;
    uint32_t bank = bank_of(c, set), at = UINT32_MAX;
    for (uint32_t s = bank; s < c->sets; s += p->banks)
        for (const struct cache_line *l = &c->line[(size_t)s * c->ways], *end = l + c->ways; l < end;
             l++)
            if (l->tag && free_at(l) > now && free_at(l) < at)
                at = free_at(l);
    for (uint32_t k = p->looked + 1;
         p->nlate && k < p->looked + CACHE_LATE && k << CACHE_LATE_SHIFT < at; k++)
        if (p->late[k % CACHE_LATE * CACHE_BANKS + bank])
            at = k << CACHE_LATE_SHIFT;
    for (uint32_t k = 0; k < p->flying; k++) {
        uint32_t i = (p->head + k) % p->size;
        if (p->bank[i] == bank && p->pass[i].fill > now && p->pass[i].fill < at)
            at = p->pass[i].fill;
    }
    return at == UINT32_MAX ? now + 1 : at;
}
