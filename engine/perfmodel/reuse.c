/* Exact LRU stack distance.
 *
 * Every touch takes the next slot of a time line; a line's latest slot carries a
 * live bit, all older ones are cleared. The distance of a touch is then the number
 * of live bits after the line's previous slot (Bennett and Kruskal's partial sums;
 * Olken's tree answers the same question). Counting goes up a tree of fan-out 64:
 *
 *   level 0   words of 64 live bits        popcount
 *   level 1   live bits per 64 words
 *   level 2   live bits per 64 x 64 words ...
 *
 * so a query adds at most 63 numbers a level, most of them none for near reuse, and
 * an update touches one number a level. When the time line is full, live slots move
 * to its front in order (compaction): distances do not change.
 *
 * Lines have numbers in the order of their first touch; a hash finds the number, all else goes by it. */
#include "engine/perfmodel/reuse.h"

#include <math.h>
#include <string.h>

#define FAN        64u
#define LEVELS     5u /* counts above the bits: 64^6 slots at most */
#define MIN_SLOTS  (FAN * FAN)
#define MOST_SLOTS (UINT64_C(1) << 31)

struct model_reuse {
    /* number + 1, 0: free; open addressing, linear probing; at most half full */
    uint32_t *table;
    size_t mask;
    uint64_t *line;
    uint32_t *slot1;
    size_t cap; /* by number: its line, its latest slot + 1 */
    uint64_t *bits;
    uint32_t *number_of; /* per word; per slot */
    uint32_t *count[LEVELS];
    size_t ncount[LEVELS];
    uint64_t slots, now, live; /* live: lines so far */
    uint32_t last;             /* number of the line touched last */
    bool failed;
};

/* Blocks of eight neighbouring lines stay together, so that a stream walks the table
 * instead of jumping in it; the order inside a block is shuffled by the block, so that
 * lines eight apart do not all want the same place. */
static size_t hash_line(uint64_t line)
{
    uint64_t z = (line >> 3) * 0x9E3779B97F4A7C15u;
    z ^= z >> 29;
    return (size_t)(z << 3 | ((line ^ z >> 40) & 7));
}

/* Where the line's number is, or belongs. */
static uint32_t *find(const struct model_reuse *r, uint64_t line)
{
    size_t i = hash_line(line) & r->mask;
    while (r->table[i] && r->line[r->table[i] - 1] != line)
        i = (i + 1) & r->mask;
    return &r->table[i];
}

static bool table_resize(struct model_reuse *r, size_t size)
{
    uint32_t *fresh = base_alloc(size * sizeof *fresh);
    if (!fresh)
        return false;
    base_free(r->table);
    r->table = fresh;
    r->mask = size - 1;
    for (uint32_t i = 0; i < r->live; i++)
        *find(r, r->line[i]) = i + 1;
    return true;
}

static bool lines_resize(struct model_reuse *r, size_t cap)
{
    uint64_t *line = base_realloc(r->line, cap * sizeof *line);
    r->line = line ? line : r->line;
    uint32_t *slot1 = line ? base_realloc(r->slot1, cap * sizeof *slot1) : NULL;
    r->slot1 = slot1 ? slot1 : r->slot1;
    r->cap = slot1 ? cap : r->cap;
    return slot1 != NULL;
}

/* Sizes the time line; bits and counts come out empty, number_of keeps what it held. */
static bool time_resize(struct model_reuse *r, uint64_t slots)
{
    uint64_t n = slots / FAN;
    uint32_t *number_of =
        slots <= MOST_SLOTS ? base_realloc(r->number_of, slots * sizeof *number_of) : NULL;
    bool ok = number_of != NULL;
    if (ok)
        r->number_of = number_of;
    base_free(r->bits);
    r->bits = base_alloc(n * sizeof *r->bits);
    for (unsigned k = 0; k < LEVELS; k++) {
        n = (n + FAN - 1) / FAN;
        base_free(r->count[k]);
        r->ncount[k] = n;
        r->count[k] = base_alloc(n * sizeof *r->count[k]);
        ok = ok && r->count[k];
    }
    r->slots = slots;
    return ok && r->bits;
}

static void time_clear(struct model_reuse *r)
{
    memset(r->bits, 0, r->slots / FAN * sizeof *r->bits);
    for (unsigned k = 0; k < LEVELS; k++)
        memset(r->count[k], 0, r->ncount[k] * sizeof *r->count[k]);
}

static void mark(struct model_reuse *r, uint64_t slot, int by)
{
    uint64_t at = slot / FAN;
    r->bits[at] ^= 1ull << (slot % FAN);
    for (unsigned k = 0; k < LEVELS; k++) {
        at /= FAN;
        r->count[k][at] += (uint32_t)by;
    }
}

/* Live bits in slots (slot, now). */
static uint64_t live_after(const struct model_reuse *r, uint64_t slot)
{
    uint64_t at = slot / FAN, last = (r->now - 1) / FAN;
    unsigned shift = (unsigned)(slot % FAN);
    uint64_t n = (uint64_t)__builtin_popcountll(shift == 63 ? 0 : r->bits[at] >> (shift + 1));
    uint64_t end = (at / FAN + 1) * FAN;
    if (end > last + 1)
        end = last + 1;
    for (uint64_t i = at + 1; i < end; i++)
        n += (uint64_t)__builtin_popcountll(r->bits[i]);
    for (unsigned k = 0; k < LEVELS; k++) {
        at /= FAN;
        last /= FAN;
        if (at == last)
            break;
        end = (at / FAN + 1) * FAN;
        if (end > last + 1)
            end = last + 1;
        for (uint64_t i = at + 1; i < end; i++)
            n += r->count[k][i];
    }
    return n;
}

/* Moves live slots to the front; doubles the time line when it would soon be full again. */
static bool compact(struct model_reuse *r)
{
    uint64_t to = 0, slots = r->slots;
    for (uint64_t w = 0; w < r->slots / FAN; w++)
        for (uint64_t b = r->bits[w]; b; b &= b - 1) {
            uint32_t number = r->number_of[w * FAN + (unsigned)__builtin_ctzll(b)];
            r->number_of[to++] = number; /* to never passes the slot read */
            r->slot1[number] = (uint32_t)to;
        }
    while (slots < 2 * r->live)
        slots *= 2;
    if (slots == r->slots)
        time_clear(r);
    else if (!time_resize(r, slots))
        return false;
    for (r->now = 0; r->now < to; r->now++)
        mark(r, r->now, 1);
    return true;
}

struct model_reuse *model_reuse_new(size_t expected_lines)
{
    struct model_reuse *r = base_alloc(sizeof *r);
    size_t size = MIN_SLOTS;
    if (!r)
        return NULL;
    while (size < 4 * expected_lines && size < (size_t)1 << 40)
        size *= 2;
    if (!table_resize(r, size) || !lines_resize(r, size / 4) || !time_resize(r, size)) {
        model_reuse_free(r);
        return NULL;
    }
    return r;
}

void model_reuse_free(struct model_reuse *r)
{
    if (!r)
        return;
    BASE_FREE(r->table, r->line, r->slot1, r->bits, r->number_of);
    for (unsigned k = 0; k < LEVELS; k++)
        base_free(r->count[k]);
    base_free(r);
}

/* Room for one more touch, of a line that may be new. */
static bool room(struct model_reuse *r)
{
    return (r->now < r->slots || compact(r)) &&
           (2 * r->live <= r->mask || table_resize(r, 2 * (r->mask + 1))) &&
           (r->live < r->cap || lines_resize(r, 2 * r->cap));
}

uint64_t model_reuse_touch(struct model_reuse *r, uint64_t line)
{
    uint64_t distance = MODEL_COLD;
    r->failed = r->failed || !room(r);
    if (r->failed)
        return MODEL_COLD;
    uint32_t *number1 = find(r, line);
    if (*number1) {
        r->last = *number1 - 1;
        uint32_t slot1 = r->slot1[r->last];
        if (slot1 == r->now) /* the line touched last */
            return 0;
        distance = live_after(r, slot1 - 1);
        mark(r, slot1 - 1, -1);
    } else {
        r->last = (uint32_t)r->live++;
        *number1 = r->last + 1;
        r->line[r->last] = line;
    }
    r->number_of[r->now] = r->last;
    mark(r, r->now++, 1);
    r->slot1[r->last] = (uint32_t)r->now;
    return distance;
}

uint32_t model_reuse_last(const struct model_reuse *r)
{
    return r->last;
}
bool model_reuse_failed(const struct model_reuse *r)
{
    return r->failed;
}
uint64_t model_reuse_lines(const struct model_reuse *r)
{
    return r->live;
}

void model_hist_add(struct model_hist *h, uint64_t distance)
{
    h->total++;
    if (distance == MODEL_COLD)
        h->cold++;
    else
        h->bin[63 - __builtin_clzll(distance + 1)]++;
}

/* A cache of L lines holds a touch when its distance d < L, that is d+1 < L+1. Bin k
 * covers d+1 in [2^k, 2^(k+1)); inside a bin touches are taken as evenly spread. */
double model_hist_hit_rate(const struct model_hist *h, double lines)
{
    double hits = 0, limit = lines + 1;
    if (!h->total)
        return (double)NAN;
    for (unsigned k = 0; k < 64; k++) {
        double lo = (double)(1ull << k), share = (limit - lo) / lo;
        hits += (double)h->bin[k] * (share < 0 ? 0 : share > 1 ? 1 : share);
    }
    return hits / (double)h->total;
}
