/* L2 seen by a sample of the SMs. Tags cannot be simulated: most of the traffic
 * that evicts lines comes from SMs nobody runs. Instead a clock counts the lines
 * the whole GPU fills, and a line gets its lifetime when it is filled: under
 * random replacement each fill of a full cache of C lines evicts a given one with
 * probability 1/C, so lifetimes are exponential with mean C. The random number is
 * a hash of the line and the clock: the same launch gives the same numbers.
 *
 * A fill by a sampled SM stands for sms/simulated fills when only one of the
 * sampled SMs uses that 4 KB region, and for one when several do: then all SMs
 * are taken to share it and one fetch serves them.
 *
 * What the others did is estimated per allocation: once the sampled SMs have
 * touched n regions, the GPU has touched n * sms/simulated. When that exceeds
 * the allocation, every region has been touched before by someone, about one
 * sweep ago; a line touched for the first time then is resident if it survived
 * the fills of a sweep.
 *
 * Classes age apart: evict-first fills evict only evict-first lines, normal fills
 * normal and evict-first lines, evict-last fills all. */
#include "engine/sim/cache_int.h"

#include <math.h>

#define REGION_SHIFT 5u          /* 32 lines */
#define REGION_LINES 32u
#define MAX_REGIONS (1u << 17)
#define MAX_ALLOCS 64u

struct region {
    uint64_t id;                 /* line >> REGION_SHIFT */
    uint16_t alloc;              /* index of its allocation, MAX_ALLOCS: unknown */
    uint8_t sms, covered;        /* sampled SMs that used it; others had touched it all before */
    uint32_t touched;            /* lines */
    uint32_t death[REGION_LINES];/* clock of its class after which the line is gone */
    uint8_t state[REGION_LINES]; /* valid sectors, class << 4 */
    uint8_t dirty[REGION_LINES];
};
struct sample_alloc { uint64_t addr, regions, touched, sweeps; double sweep_start, last_start; };
enum { CLASS_FIRST_OUT, CLASS_USUAL, CLASS_LAST_OUT, CLASSES };
struct cache_sample {
    double capacity, scale;      /* lines; SMs per simulated SM */
    double clock[CLASSES];       /* lines filled in this class or above it, once the cache was full */
    double room;                 /* lines that fit before anything is evicted */
    double warm;                 /* share of the launch's lines that a previous run left behind */
    struct region *region; size_t n, cap;
    uint32_t *slot, slots;       /* hash: region index + 1 */
    struct sample_alloc alloc[MAX_ALLOCS]; uint32_t nalloc;
    const struct sim_mem *mem;
};

enum status cache_sample_new(struct cache_sample **out, uint64_t bytes, uint32_t sms, uint32_t simulated, struct sim_mem *mem)
{
    struct cache_sample *s = base_alloc(sizeof *s);
    *out = s;
    if (!s) return ST_NOMEM;
    s->capacity = (double)(bytes >> CACHE_LINE_SHIFT);
    s->scale = (double)sms / simulated;
    s->room = s->capacity;
    s->mem = mem;
    s->slots = MAX_REGIONS * 2;
    s->slot = base_alloc(s->slots * sizeof *s->slot);
    return s->slot ? ST_OK : ST_NOMEM;
}

void cache_sample_free(struct cache_sample *s)
{
    if (!s) return;
    base_free(s->slot);
    base_free(s->region);
    base_free(s);
}

void cache_sample_warm(struct cache_sample *s, const struct cache_range *v, size_t n)
{
    double total = 0;
    for (size_t i = 0; i < n; i++) total += (double)v[i].lines;
    s->warm = total <= 0.9 * s->capacity ? 1 : s->capacity / total;
    s->room = s->warm < 1 ? 0 : s->capacity - total;
}

static uint32_t find_slot(const struct cache_sample *s, uint64_t id)
{
    uint32_t i = (uint32_t)(cache_mix(id) & (s->slots - 1));
    while (s->slot[i] && s->region[s->slot[i] - 1].id != id) i = (i + 1) & (s->slots - 1);
    return i;
}

static uint32_t find_alloc(struct cache_sample *s, uint64_t id)
{
    const struct sim_alloc *a = s->mem ? sim_mem_find(s->mem, id << (REGION_SHIFT + CACHE_LINE_SHIFT)) : NULL;
    if (!a && s->mem) a = sim_mem_find(s->mem, ((id + 1) << (REGION_SHIFT + CACHE_LINE_SHIFT)) - 1);
    if (!a) return MAX_ALLOCS;
    for (uint32_t i = 0; i < s->nalloc; i++)
        if (s->alloc[i].addr == a->addr) return i;
    if (s->nalloc == MAX_ALLOCS) return MAX_ALLOCS;
    s->alloc[s->nalloc] = (struct sample_alloc){ .addr = a->addr, .regions = (a->n >> (REGION_SHIFT + CACHE_LINE_SHIFT)) + 1 };
    return s->nalloc++;
}

/* A region nobody of the sample used before: has the rest of the GPU been here? */
static bool note_first_touch(struct cache_sample *s, uint32_t alloc)
{
    if (alloc == MAX_ALLOCS) return false;
    struct sample_alloc *a = &s->alloc[alloc];
    a->touched++;
    uint64_t sweeps = (uint64_t)((double)a->touched * s->scale / (double)a->regions);
    if (sweeps > a->sweeps) {
        a->sweeps = sweeps;
        a->last_start = a->sweep_start;
        a->sweep_start = s->clock[CLASS_USUAL];
    }
    return sweeps > 0;
}

/* NULL: the table is full; the access then counts as a miss nobody remembers. */
static struct region *use_region(struct cache_sample *s, uint64_t id)
{
    uint32_t i = find_slot(s, id);
    if (s->slot[i]) return &s->region[s->slot[i] - 1];
    if (s->n == MAX_REGIONS || !base_grow((void **)&s->region, s->n, &s->cap, sizeof *s->region)) return NULL;
    struct region *g = &s->region[s->n++];
    *g = (struct region){ .id = id, .alloc = (uint16_t)find_alloc(s, id) };
    g->covered = note_first_touch(s, g->alloc);
    s->slot[i] = (uint32_t)s->n;
    return g;
}

/* A number in (0, 1) that belongs to the line and the moment. */
static double chance(uint64_t line, uint64_t salt)
{
    return ((double)(cache_mix(line * 0x9E3779B97F4A7C15u + salt) >> 11) + 0.5) / 9007199254740992.0;
}

/* Lines its class can have: evict-first gets what normal lines leave. */
static double class_room(const struct cache_sample *s, unsigned cls)
{
    if (cls != CLASS_FIRST_OUT || s->room > 0) return s->capacity;
    double left = s->capacity - s->clock[CLASS_USUAL];
    return left < s->capacity / 16 ? s->capacity / 16 : left;
}

static uint32_t draw_death(const struct cache_sample *s, uint64_t line, unsigned cls)
{
    double at = s->clock[cls] - class_room(s, cls) * log(chance(line, (uint64_t)s->clock[cls]));
    return at < 4e9 ? (uint32_t)at : UINT32_MAX;
}

static bool survives(const struct cache_sample *s, uint64_t line, double fills)
{
    return fills <= -s->capacity * log(chance(line, 1));
}

/* Sectors of line k of region g that are in L2. */
static uint8_t resident(const struct cache_sample *s, const struct region *g, uint32_t k)
{
    uint64_t line = g->id << REGION_SHIFT | k;
    if (g->touched >> k & 1) return s->clock[g->state[k] >> 4] <= g->death[k] ? g->state[k] & 15 : 0;
    if (g->alloc == MAX_ALLOCS) return 0;
    if (g->covered && survives(s, line, s->clock[CLASS_USUAL] - s->alloc[g->alloc].last_start)) return 15;
    return chance(line, 2) < s->warm && survives(s, line, s->clock[CLASS_USUAL]) ? 15 : 0;
}

uint8_t cache_sample_probe(const struct cache_sample *s, uint64_t line, uint8_t sectors)
{
    uint32_t i = find_slot(s, line >> REGION_SHIFT);
    if (s->slot[i]) return resident(s, &s->region[s->slot[i] - 1], line & (REGION_LINES - 1)) & sectors;
    struct region g = { .id = line >> REGION_SHIFT, .alloc = (uint16_t)MAX_ALLOCS };
    for (uint32_t a = 0; a < s->nalloc; a++) {
        uint64_t at = line << CACHE_LINE_SHIFT, from = s->alloc[a].addr;
        if (at >= from && (at - from) >> (REGION_SHIFT + CACHE_LINE_SHIFT) < s->alloc[a].regions) g.alloc = (uint16_t)a;
    }
    g.covered = g.alloc != MAX_ALLOCS && s->alloc[g.alloc].sweeps > 0;
    return resident(s, &g, line & (REGION_LINES - 1)) & sectors;
}

static unsigned class_of(uint8_t alloc, unsigned old, bool fresh)
{
    switch (alloc) {
    case CACHE_FIRST: case CACHE_LAST_USE: case CACHE_TRANSIT: return CLASS_FIRST_OUT;
    case CACHE_LAST: return CLASS_LAST_OUT;
    case CACHE_UNCHANGED: return fresh ? CLASS_USUAL : old;
    default: return CLASS_USUAL;
    }
}

/* The first fills find empty lines. */
static void advance(struct cache_sample *s, unsigned cls, double lines)
{
    if (s->room > 0) {
        s->room -= lines;
        return;
    }
    for (unsigned c = 0; c <= cls; c++) s->clock[c] += lines;
}

void cache_sample_access(struct cache_sample *s, const struct cache_l2_request *r, struct cache_l2_outcome *o)
{
    struct region *g = use_region(s, r->line >> REGION_SHIFT);
    uint32_t k = r->line & (REGION_LINES - 1);
    o->weight = s->scale;
    if (!g) {
        o->miss = r->sectors;
        return;
    }
    uint8_t here = resident(s, g, k);
    bool fresh = !here;
    g->sms |= (uint8_t)(1u << (r->sm & 7));
    if (g->sms & (g->sms - 1)) o->weight = 1;
    unsigned cls = class_of(r->alloc, g->state[k] >> 4, fresh);
    o->hit = r->sectors & here;
    uint8_t lack = (uint8_t)(r->sectors & ~here);
    if (lack && !r->write) o->miss = (uint8_t)((lack | r->fetch) & ~here);
    if (fresh) {
        g->dirty[k] = 0;
        advance(s, cls, o->weight);
    }
    if (fresh || cls != (unsigned)g->state[k] >> 4) g->death[k] = draw_death(s, r->line, cls);
    if (r->write) {              /* once more was filled than fits, what is written is sure to leave again */
        if (s->room <= 0) o->written = r->sectors & (uint8_t)~g->dirty[k];
        g->dirty[k] |= r->sectors;
    }
    g->state[k] = (uint8_t)(here | o->miss | r->sectors | cls << 4);
    g->touched |= 1u << k;
}
