/* The store behind the sanitiser: see shadow.h.
 *
 *   block:  index   granule -> record     (a byte each; two bytes where granules are bytes)
 *           record  writer, two readers   (refs: how many granules have it; 0: free) */
#include "engine/sim/exec/shadow.h"

#include <string.h>

#define LOOK 8u /* records compared before a new one is made */

struct shadow_block {
    uint64_t at;            /* its address / SHADOW_BLOCK */
    struct shadow_state *v; /* [cap], and behind them: */
    uint16_t *refs;         /* [cap] */
    uint16_t cap, last;     /* last: the record used most recently */
    uint8_t shift;          /* granules of 1 << shift bytes: 5, 2 or 0 */
    uint8_t index[];
};

static uint32_t granules(unsigned shift)
{
    return SHADOW_BLOCK >> shift;
}
static size_t index_bytes(unsigned shift)
{
    return granules(shift) * (shift ? 1u : 2u);
}

static uint32_t index_at(const struct shadow_block *b, uint32_t k)
{
    return b->shift ? b->index[k] : b->index[2 * k] | (uint32_t)b->index[2 * k + 1] << 8;
}

static void index_put(struct shadow_block *b, uint32_t k, uint32_t v)
{
    if (b->shift) {
        b->index[k] = (uint8_t)v;
    } else {
        b->index[2 * k] = (uint8_t)v;
        b->index[2 * k + 1] = (uint8_t)(v >> 8);
    }
}

static bool grow(struct shadow_block *b)
{
    uint32_t cap = b->cap ? 2u * b->cap : 4u;
    struct shadow_state *v = base_alloc(cap * (sizeof *v + sizeof *b->refs));
    if (!v)
        return false;
    uint16_t *refs = (uint16_t *)(void *)(v + cap);
    if (b->cap) {
        memcpy(v, b->v, b->cap * sizeof *v);
        memcpy(refs, b->refs, b->cap * sizeof *refs);
    }
    base_free(b->v);
    b->v = v;
    b->refs = refs;
    b->cap = (uint16_t)cap;
    return true;
}

static struct shadow_block *block_new(unsigned shift)
{
    struct shadow_block *b = base_alloc(sizeof *b + index_bytes(shift));
    if (!b)
        return NULL;
    b->shift = (uint8_t)shift;
    if (!grow(b)) {
        base_free(b);
        return NULL;
    }
    b->refs[0] = (uint16_t)granules(shift);
    return b;
}

void shadow_free(struct shadow_block *b)
{
    if (b)
        base_free(b->v);
    base_free(b);
}

void shadow_clear(struct shadow_block *b)
{
    if (!b)
        return;
    memset(b->v, 0, b->cap * (sizeof *b->v + sizeof *b->refs));
    memset(b->index, 0, index_bytes(b->shift));
    b->refs[0] = (uint16_t)granules(b->shift);
}

/* The same in smaller granules. */
static bool refine(struct shadow_block **slot, unsigned shift)
{
    struct shadow_block *was = *slot, *b = base_alloc(sizeof *b + index_bytes(shift));
    if (!b)
        return false;
    *b = *was;
    b->shift = (uint8_t)shift;
    for (uint32_t k = 0; k < granules(shift); k++)
        index_put(b, k, index_at(was, k >> (was->shift - shift)));
    for (uint32_t k = 0; k < b->cap; k++)
        b->refs[k] = (uint16_t)(b->refs[k] << (was->shift - shift));
    base_free(was);
    *slot = b;
    return true;
}

static bool same(const struct shadow_state *a, const struct shadow_state *b)
{
    return a->w == b->w && a->r[0] == b->r[0] && a->r[1] == b->r[1] && a->line == b->line &&
           a->rline[0] == b->rline[0] && a->rline[1] == b->rline[1];
}

/* One that no granule has, or only the granule that is to get it; cap: there is none. Those after the
 * last one taken are the likely ones. */
static uint32_t free_record(const struct shadow_block *b, uint32_t is)
{
    if (b->refs[is] <= 1)
        return is;
    for (uint32_t t = 0, k = b->last; t < b->cap; t++) {
        k = k + 1 < b->cap ? k + 1 : 0;
        if (!b->refs[k])
            return k;
    }
    return b->cap;
}

/* The record of state s for a granule whose record is `is`; UINT32_MAX: out of memory. */
static uint32_t record_of(struct shadow_block *b, uint32_t is, const struct shadow_state *s)
{
    uint32_t k = b->last;
    if (same(&b->v[is], s))
        return is;
    for (uint32_t t = 0; t < LOOK && t < b->cap; t++, k = (k ? k : b->cap) - 1)
        if (b->refs[k] && same(&b->v[k], s))
            return k;
    k = free_record(b, is);
    if (k == b->cap && !grow(b))
        return UINT32_MAX;
    b->v[k] = *s;
    b->last = (uint16_t)k;
    return k;
}

uint32_t shadow_use(struct shadow_block **slot, uint32_t from, uint32_t to, shadow_fn fn, void *ctx)
{
    unsigned shift = !((from | to) & 31) ? 5 : !((from | to) & 3) ? 2 : 0;
    if (!*slot && !(*slot = block_new(shift)))
        return UINT32_MAX;
    if ((*slot)->shift > shift && !refine(slot, shift))
        return UINT32_MAX;
    struct shadow_block *b = *slot;
    uint32_t was = UINT32_MAX, now = 0;
    for (uint32_t k = from >> b->shift; k < to >> b->shift; k++) {
        uint32_t is = index_at(b, k);
        if (is != was) {
            struct shadow_state s = b->v[is];
            if (!fn(ctx, &s))
                return k << b->shift;
            now = record_of(b, was = is, &s);
            if (now == UINT32_MAX)
                return now;
        }
        b->refs[is]--;
        b->refs[now]++;
        index_put(b, k, now);
    }
    return to;
}

/* ---- the blocks of an address space: open addressing ---- */
static struct shadow_block **slot_of(const struct shadow_map *m, uint64_t at)
{
    size_t i = (size_t)(at * 0x9e3779b97f4a7c15ull >> 20) & (m->cap - 1);
    while (m->slot[i] && m->slot[i]->at != at)
        i = (i + 1) & (m->cap - 1);
    return &m->slot[i];
}

static bool map_grow(struct shadow_map *m)
{
    struct shadow_map now = { .cap = m->cap ? m->cap * 2 : 256, .n = m->n };
    if (!(now.slot = base_alloc(now.cap * sizeof *now.slot)))
        return false;
    for (size_t i = 0; i < m->cap; i++)
        if (m->slot[i])
            *slot_of(&now, m->slot[i]->at) = m->slot[i];
    base_free(m->slot);
    *m = now;
    return true;
}

struct shadow_block **shadow_at(struct shadow_map *m, uint64_t addr)
{
    uint64_t at = addr / SHADOW_BLOCK;
    if (m->n * 2 >= m->cap && !map_grow(m))
        return NULL;
    struct shadow_block **slot = slot_of(m, at);
    if (*slot)
        return slot;
    if (!(*slot = block_new(5)))
        return NULL;
    (*slot)->at = at;
    m->n++;
    return slot;
}

void shadow_map_free(struct shadow_map *m)
{
    for (size_t i = 0; i < m->cap; i++)
        shadow_free(m->slot[i]);
    base_free(m->slot);
}
