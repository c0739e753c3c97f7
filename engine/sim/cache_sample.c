/* L2 seen by a sample of the SMs. Tags cannot be simulated: most of the traffic
 * that ages lines comes from SMs nobody runs. Instead each line keeps the clock
 * of its last use, where the clock counts distinct lines used by the whole GPU: a
 * line is resident while fewer lines than L2 holds were used since (LRU by age).
 * A use counts when the line was not counted within the last 3/4 of a capacity.
 *
 * A fill by a sampled SM stands for sms/simulated fills when only one of the
 * sampled SMs uses that 4 KB region, and for one when several do: then all SMs
 * are taken to share it and one fetch serves them.
 *
 * What the others did is estimated per allocation: once the sampled SMs have
 * touched n regions, the GPU has touched n * sms/simulated. When that exceeds
 * the allocation, every region has been touched before by someone, about one
 * sweep ago; a first touch then hits if a sweep fits into L2.
 *
 * Classes age apart: evict-first fills age only evict-first lines, normal fills
 * normal and evict-first lines, evict-last fills all. */
#include "engine/sim/cache_int.h"

#define REGION_SHIFT 5u          /* 32 lines */
#define REGION_LINES 32u
#define MAX_REGIONS (1u << 17)
#define MAX_ALLOCS 64u

struct region {
    uint64_t id;                 /* line >> REGION_SHIFT */
    uint16_t alloc;              /* index of its allocation, MAX_ALLOCS: unknown */
    uint8_t sms, covered;        /* sampled SMs that used it; others had touched it all before */
    uint32_t touched;            /* lines */
    uint32_t stamp[REGION_LINES];/* clock of its class at the last use */
    uint32_t mark[REGION_LINES]; /* clock of normal use when it was last counted */
    uint8_t state[REGION_LINES]; /* valid sectors, class << 4 */
    uint8_t dirty[REGION_LINES];
};
struct sample_alloc { uint64_t addr, regions, touched, sweeps; double sweep_start, last_start; };
enum { CLASS_FIRST_OUT, CLASS_USUAL, CLASS_LAST_OUT, CLASSES };
struct cache_sample {
    double capacity, scale;      /* lines; SMs per simulated SM */
    double clock[CLASSES];       /* lines used in this class or above it */
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

static bool is_alive(const struct cache_sample *s, uint32_t stamp, unsigned cls)
{
    double room = s->capacity;
    if (cls == CLASS_FIRST_OUT) {
        room -= s->clock[CLASS_USUAL] < s->capacity ? s->clock[CLASS_USUAL] : s->capacity;
        if (room < s->capacity / 16) room = s->capacity / 16;
    }
    return s->clock[cls] - stamp <= room;
}

/* Sectors of line k of region g that are in L2. */
static uint8_t resident(const struct cache_sample *s, const struct region *g, uint32_t k)
{
    if (g->touched >> k & 1) return is_alive(s, g->stamp[k], g->state[k] >> 4) ? g->state[k] & 15 : 0;
    if (!g->covered) return 0;
    return s->clock[CLASS_USUAL] - s->alloc[g->alloc].last_start <= s->capacity ? 15 : 0;
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

static void advance(struct cache_sample *s, unsigned cls, double lines)
{
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
    if (fresh) g->dirty[k] = 0;
    if (fresh || s->clock[CLASS_USUAL] - g->mark[k] > 0.75 * s->capacity) {
        advance(s, cls, o->weight);
        g->mark[k] = (uint32_t)s->clock[CLASS_USUAL];
    }
    if (r->write) {              /* once more was used than fits, what is written is sure to leave again */
        if (s->clock[CLASS_FIRST_OUT] > s->capacity) o->written = r->sectors & (uint8_t)~g->dirty[k];
        g->dirty[k] |= r->sectors;
    }
    if (fresh || r->alloc != CACHE_UNCHANGED) g->stamp[k] = (uint32_t)s->clock[cls];
    g->state[k] = (uint8_t)(here | o->miss | r->sectors | cls << 4);
    g->touched |= 1u << k;
}
