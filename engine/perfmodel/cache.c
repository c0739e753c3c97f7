/* A cache by the clock: sets, sectors, lines under way, replacement as a preset states it.
 *
 *   line:  empty -> under way (valid, arrives at `fill`) -> there -> given up
 *
 * Nugteren et al. (HPCA'14) show why a reuse distance alone does not do for a GPU's L1: sets fill before
 * the cache is full, lines under way cannot be given up, and the oldest is not always what goes. What
 * goes here is the oldest of `picks` lines drawn at random (a hash of the access count, so that the same
 * trace gives the same figures). */
#include "engine/perfmodel/cache.h"

/* of a miss that keeps nothing: it holds a line while its data is on the way */
#define PASSING UINT64_MAX

struct way {
    uint64_t tag1 /* line + 1; 0: empty; PASSING */;
    double fill;
    uint32_t used;
    uint8_t valid, ready, from;
};
struct model_cache {
    struct model_cache_config c;
    struct way *way; /* sets x ways */
    uint32_t clock;
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint32_t share_of(uint64_t hash, uint32_t n)
{
    return (uint32_t)((hash >> 32) * n >> 32);
}

struct model_cache *model_cache_new(const struct model_cache_config *c)
{
    struct model_cache *m = c->sets && c->ways ? base_alloc(sizeof *m) : NULL;
    if (!m)
        return NULL;
    m->c = *c;
    m->way = base_alloc((size_t)c->sets * c->ways * sizeof *m->way);
    if (m->way)
        return m;
    model_cache_free(m);
    return NULL;
}

void model_cache_free(struct model_cache *m)
{
    if (m)
        base_free(m->way);
    base_free(m);
}

/* Any `sets` lines that follow each other lie in different sets; strides of the whole cache do not pile
 * up. */
static struct way *set_of(const struct model_cache *m, uint64_t line)
{
    uint64_t q = line / m->c.sets, set = line % m->c.sets;
    if (m->c.hashed)
        set = (set + share_of(mix(q), m->c.sets)) % m->c.sets;
    return m->way + set * m->c.ways;
}

static struct way *find(const struct model_cache *m, struct way *set, uint64_t line)
{
    for (uint32_t i = 0; i < m->c.ways; i++)
        if (set[i].tag1 == line + 1)
            return &set[i];
    return NULL;
}

/* NULL: all that could go are under way. */
static struct way *victim(struct model_cache *m, struct way *set, double now)
{
    uint32_t from = 0, left = m->c.ways;
    struct way *best = NULL;
    for (uint32_t i = 0; i < m->c.ways; i++)
        if (!set[i].tag1 || (set[i].tag1 == PASSING && set[i].fill <= now))
            return &set[i];
    if (m->c.picks) {
        from = share_of(mix(m->clock), m->c.ways);
        left = m->c.picks;
    }
    for (uint32_t i = 0; i < m->c.ways && left; i++) {
        struct way *w = &set[(from + i) % m->c.ways];
        if (w->fill > now)
            continue;
        left--;
        best = !best || w->used < best->used ? w : best;
    }
    return best;
}

static double first_arrival(const struct model_cache *m, const struct way *set)
{
    double at = set[0].fill;
    for (uint32_t i = 1; i < m->c.ways; i++)
        at = set[i].fill < at ? set[i].fill : at;
    return at;
}

static uint8_t widened(const struct model_cache *m, unsigned sectors)
{
    return (uint8_t)(m->c.whole_line && sectors ? 15 : sectors);
}

static void present(struct model_cache *m, struct way *w, unsigned sectors, bool keep, double now,
                    struct model_cache_answer *a)
{
    if (w->fill <= now)
        w->ready = w->valid;
    w->used = ++m->clock;
    a->pending = (uint8_t)(sectors & w->valid & ~(unsigned)w->ready);
    a->ready = w->fill;
    a->from = w->from;
    a->miss = (uint8_t)(widened(m, sectors & ~(unsigned)w->valid) & ~(unsigned)w->valid);
    if (!a->miss || !keep)
        return;
    w->valid |= a->miss;
    a->slot = w - m->way + 1;
}

static void absent(struct model_cache *m, struct way *set, uint64_t line, unsigned sectors, bool keep,
                   double now, struct model_cache_answer *a)
{
    struct way *w = keep || m->c.transit ? victim(m, set, now) : NULL;
    if (keep && !w && m->c.reserve) {
        a->stall = first_arrival(m, set);
        return;
    }
    a->miss = keep ? widened(m, sectors) : (uint8_t)sectors;
    if (!w)
        return;
    *w = (struct way){ .tag1 = keep ? line + 1 : PASSING,
                       .used = ++m->clock,
                       .valid = keep ? a->miss : 0 };
    a->slot = w - m->way + 1;
}

void model_cache_load(struct model_cache *m, uint64_t line, unsigned sectors, enum model_way how,
                      double now, struct model_cache_answer *a)
{
    *a = (struct model_cache_answer){ 0 };
    struct way *set = set_of(m, line), *w = how == MODEL_WAY_PAST ? NULL : find(m, set, line);
    if (w)
        present(m, w, sectors, how == MODEL_WAY_KEEP, now, a);
    else
        absent(m, set, line, sectors, how == MODEL_WAY_KEEP, now, a);
}

void model_cache_fill(struct model_cache *m, const struct model_cache_answer *a, double at, uint8_t from)
{
    if (!a->slot)
        return;
    struct way *w = &m->way[a->slot - 1];
    w->fill = at > w->fill ? at : w->fill;
    w->from = from;
}

void model_cache_store(struct model_cache *m, uint64_t line, unsigned sectors, bool partial, double now)
{
    if (m->c.store == MODEL_STORE_UPDATES)
        return;
    struct way *set = set_of(m, line), *w = find(m, set, line);
    if (m->c.store == MODEL_STORE_EVICTS) {
        if (w)
            *w = (struct way){ 0 };
        return;
    }
    if (!w && (w = victim(m, set, now)))
        *w = (struct way){ .tag1 = line + 1 };
    if (!w)
        return;
    w->used = ++m->clock;
    w->valid |= partial ? 0 : (uint8_t)sectors;
    w->ready |= partial ? 0 : (uint8_t)sectors;
}
