/* L2 seen by a sample of the SMs. Tags cannot be simulated: most of the traffic
 * that evicts lines comes from SMs nobody runs. Instead the lines that the sample
 * touches are kept in order of their last touch, each standing for `scale` lines of
 * the whole GPU, and a line is resident while the lines touched after it are fewer
 * than fit: LRU, as cyclic reads on an H200 show (all hits up to the capacity, none
 * beyond it).
 *
 *   order   per class, buckets of about capacity/256 lines by time of last touch;
 *           evict-first lines also count the normal ones as younger, and so on
 *
 * A line may have been brought by SMs outside the sample. How often is taken from
 * the sample itself, per allocation: of two sampled places of the grid, how often
 * has one touched what the other asks for and finds resident? Places near each
 * other (halos) count for each distance, and for those at that distance that nobody
 * simulates; places far apart (tables, vectors) for all the others. */
#include "engine/sim/cache/l2.h"
#include "engine/sim/mem.h"

#include <math.h>
#include <string.h>

#define REGION_SHIFT 5u /* 32 lines */
#define REGION_LINES 32u
#define MAX_REGIONS  (1u << 17)
/* slots of the hash at first: most samples touch few regions, and a small hash stays in the host's
 * cache */
#define FIRST_SLOTS       1024u
#define MAX_ALLOCS        64u
#define BUCKETS           2048u
#define BUCKETS_PER_CACHE 256.0
#define HALVES            2u    /* of a line: what a miss brings, and what others may have brought */
#define SIDES             4u    /* the first place, its neighbour in x, that in y, the far ones */
#define TICK_SHIFT        6u    /* ticks of 64 cycles */
#define TOGETHER          32u   /* ticks: places that ask for one line within this time ask together */
#define FEW               9.0   /* sectors found by chance */
#define ENOUGH            16.0  /* to tell how unevenly lines are shared */
#define LEAST_UNEVEN      0.001 /* less is chance */
#define MOST_UNEVEN       0.99
#define KEPT              0.94 /* of what was seen, with each 128 requests more */
#define PRIOR             16.0 /* pairs that are taken to have shared nothing before any was seen */

enum { CLASS_FIRST_OUT, CLASS_USUAL, CLASS_LAST_OUT, CLASS_KEPT, CLASSES };

struct sample_line { /* 16 bytes: an access looks at all of it */
    uint16_t stamp;  /* bucket of the last touch */
    uint8_t state;   /* valid sectors, class << 4; 0: never touched */
    uint8_t dirty;
    uint8_t places[HALVES]; /* sampled places that touched it since it was filled */
    bool counted;           /* its weight is in the order: what others brought is theirs */
    uint8_t unused;
    uint16_t at[SIDES]; /* when each side of the sample asked last, in ticks + 1; 0: never */
};
struct region {
    uint64_t id;    /* line >> REGION_SHIFT */
    uint16_t alloc; /* index of its allocation, MAX_ALLOCS: unknown */
    struct sample_line line[REGION_LINES];
};
/* How often places share what they ask for. found: sectors that a place asked for, found and shares with
 * one at that distance, or far off; twice: with two far off, in either order. lately: asked, of late, as
 * are far and twice. */
struct sharing {
    double asked[8], found[CACHE_APART], lately[8], far, twice, uneven;
    uint32_t notes;
    double alone[8];
};
/* A CTA that asks for half a line is often inside a tile. One that asks for a single sector is
 * often at the rim, where the next CTA's tile begins. */
enum { WHOLE_HALF, PART_OF_HALF, ASKS };
struct sample_alloc {
    uint64_t addr, end;
    struct sharing of[ASKS];
    double together;
};
struct cache_sample {
    double capacity, scale; /* lines; lines of the GPU per line of the sample */
    struct cache_l2_traits traits;
    double weight[CLASSES][BUCKETS];  /* lines last touched in that bucket */
    double younger[CLASSES][BUCKETS]; /* of those, in later buckets: as of the last new bucket */
    double total[CLASSES];
    bool used[CLASSES];     /* ever */
    uint32_t dead[CLASSES]; /* no line last touched before this bucket is left */
    double filled;          /* lines filled since the launch began */
    double first,
        again;     /* reads of lines that this launch had not touched; of those that one SM had, again */
    bool own_left; /* what one SM alone reads is there from the launch before (cache_l2_again) */
    uint32_t now;
    double in_bucket;
    /* places that nobody simulates, but those at the distances of p */
    struct cache_places p;
    uint32_t far_left;
    struct region *region;
    size_t n, cap;
    uint32_t *slot, slots; /* hash: region index + 1 */
    struct sample_alloc alloc[MAX_ALLOCS];
    uint32_t nalloc;
    /* copies of restored ones included */
    const struct cache_range *warm;
    size_t nwarm;
    double warm_lines;
    const struct cache_window *window; /* NULL: none */
    double kept;                       /* of its lines, those that stay; 0: more are chosen than fit */
    const struct sim_mem *mem;
};

/* Bits of a byte that are set. */
static inline uint32_t ones(uint32_t m)
{
    m -= m >> 1 & 0x55u;
    m = (m & 0x33u) + (m >> 2 & 0x33u);
    return (m + (m >> 4)) & 0x0fu;
}

enum status cache_sample_new(struct cache_sample **out, uint64_t bytes, uint32_t sms,
                             const struct cache_places *p, struct sim_mem *mem)
{
    struct cache_sample *s = base_alloc(sizeof *s);
    *out = s;
    if (!s)
        return ST_NOMEM;
    s->capacity = (double)(bytes >> CACHE_LINE_SHIFT);
    s->scale = (double)sms / p->n;
    s->p = *p;
    s->far_left = sms > p->n + 2 * p->apart ? sms - p->n - 2 * p->apart : 0;
    s->mem = mem;
    s->slots = FIRST_SLOTS;
    s->slot = base_alloc(s->slots * sizeof *s->slot);
    return s->slot ? ST_OK : ST_NOMEM;
}

void cache_sample_free(struct cache_sample *s)
{
    if (!s)
        return;
    BASE_FREE(s->slot, s->region, s);
}

void cache_sample_shape(struct cache_sample *s, struct cache_l2_traits t)
{
    s->traits = t;
}

void cache_sample_keep(struct cache_sample *s, const struct cache_window *w)
{
    double chosen = w->ratio * (double)w->lines;
    s->window = w;
    s->kept = chosen <= (double)w->part ? chosen : 0; /* more push each other out */
}

/* Lines of v that are in L2 like any others. */
static double usual_lines(const struct cache_sample *s, const struct cache_range *v)
{
    bool window = s->window && s->window->first == v->first;
    return (double)v->lines - (window && !v->restored ? s->kept : 0);
}

void cache_sample_warm(struct cache_sample *s, const struct cache_range *v, size_t n)
{
    s->warm = v;
    s->nwarm = n;
    for (size_t i = 0; i < n; i++)
        s->warm_lines += usual_lines(s, &v[i]) * (v[i].restored ? 2 : 1);
}

/* ---- what others brought ---- */

/* What may be chance counts as nothing. */
static double rate(double found, double asked)
{
    return found > FEW ? found / (asked + PRIOR) : 0;
}

/* Mean of (1 - p)^n where p has a beta distribution. */
static double mean_none(double a, double b, uint32_t n)
{
    double all = 1;
    for (uint32_t k = 0; k < n; k++)
        all *= (b + k) / (a + b + k);
    return all;
}

/* That none of the `left` places far off has a line that none of the `seen` sampled ones has. Lines
 * differ in how many share them: the share p of places that have one is taken to have a beta
 * distribution of that mean, from all lines shared alike (uneven 0) to a few that are everybody's beside
 * many that are nobody's (1: the most variance that a share can have). */
static double far_alone(double mean, double uneven, uint32_t seen, uint32_t left)
{
    double v = uneven < LEAST_UNEVEN ? LEAST_UNEVEN : uneven > MOST_UNEVEN ? MOST_UNEVEN : uneven;
    double weight = 1 / v - 1, a = mean * weight, b = weight - a;
    return mean_none(a, b, seen + left) / mean_none(a, b, seen);
}

/* The variance among lines, of that which a share of this mean can have. Who comes first finds none, the
 * last all: a pair of places that share a line is seen at one of the two, three at one of three, so the
 * share is twice the mean and its square three times the second moment. Lines that have just come back
 * look less shared than they are, so the least of late counts. */
static void find_uneven(struct sharing *a, double mean, double second)
{
    if (a->far < ENOUGH)
        return;
    /* a deviation added */
    double share = 2 * mean, square = 3 * second * (1 + 1 / sqrt(a->twice + 1)),
           most = a->uneven + 0.0005;
    double now =
        share < 0.95 && square > share * share ? (square - share * share) / (share * (1 - share)) : 0;
    a->uneven = now < most ? now : most;
}

/* That nobody outside the sample brought it, for each place that asks. */
static void find_alone(const struct cache_sample *s, struct sharing *a)
{
    double near[CACHE_APART], asked = 0, twice = 0;
    for (uint32_t i = 0; i < s->p.n; i++) {
        uint32_t n = ones(s->p.far_of[i]);
        asked += a->lately[i] * n;
        twice += a->lately[i] * n * (n - 1.0);
    }
    double far = a->far > FEW ? a->far / (asked + PRIOR) : 0;
    find_uneven(a, far, a->twice / (twice + PRIOR));
    for (uint32_t d = 0; d < s->p.apart; d++) {
        double all = 0;
        for (uint32_t i = 0; i < s->p.n; i++)
            all += a->asked[i] * ones(s->p.near_of[i][d]);
        near[d] = rate(a->found[d], all);
        near[d] = near[d] > far ? (near[d] - far) / (1 - far) : 0;
    }
    for (uint32_t i = 0; i < s->p.n; i++) {
        a->alone[i] = far > 0 ? far_alone(far, a->uneven, ones(s->p.far_of[i]), s->far_left) : 1;
        for (uint32_t d = 0; d < s->p.apart; d++) {
            uint32_t here = ones(s->p.near_of[i][d]);
            if (near[d] > 0 && here < 2)
                a->alone[i] *= pow(1 - near[d], 2 - here);
        }
    }
}

/* A number in (0, 1) that belongs to the line and the moment. */
static double chance(uint64_t line, uint64_t salt)
{
    return ((double)(cache_mix(line * 0x9E3779B97F4A7C15u + salt) >> 11) + 0.5) / 9007199254740992.0;
}

/* What places share changes during a launch. A mean over times of much and of little sharing would
 * look like lines of much and of little sharing, so old observations fade. */
static void forget(struct sharing *a)
{
    for (uint32_t i = 0; i < ARRAY_LEN(a->lately); i++)
        a->lately[i] *= KEPT;
    a->far *= KEPT;
    a->twice *= KEPT;
}

/* A place asks for `asked` sectors, of which `found` are in L2 of half a line that `places` touched. */
static void note_pairs(struct cache_sample *s, struct sharing *a, uint32_t place, uint8_t places,
                       uint32_t asked, uint32_t found)
{
    a->asked[place] += asked;
    a->lately[place] += asked;
    if (places && found) {
        uint32_t far = ones(s->p.far_of[place] & places);
        a->far += far * found;
        a->twice += far * (far - 1.0) * found;
        for (uint32_t d = 0; d < s->p.apart; d++)
            a->found[d] += ones(s->p.near_of[place][d] & places) * found;
    }
    a->notes++;
    if (a->notes <= 64 || a->notes % 128 == 0)
        find_alone(s, a);
    if (a->notes % 128 == 0)
        forget(a);
}

static unsigned ask_of(uint8_t sectors, uint32_t half)
{
    return (sectors >> 2 * half & 3) == 3 ? WHOLE_HALF : PART_OF_HALF;
}

/* Of `asked` sectors, of which `lack` are not there, those that somebody outside the sample brought. */
static uint8_t others_have(const struct cache_sample *s, const struct sample_alloc *a, uint64_t line,
                           uint32_t place, uint8_t asked, uint8_t lack)
{
    uint8_t has = 0;
    for (uint32_t h = 0; h < HALVES; h++)
        if (lack >> 2 * h & 3 && chance(line, 2 * s->now + h) >= a->of[ask_of(asked, h)].alone[place])
            has |= (uint8_t)(3u << 2 * h);
    return has;
}

/* ---- regions and allocations ---- */

static uint32_t find_slot(const struct cache_sample *s, uint64_t id)
{
    uint32_t i = (uint32_t)(cache_mix(id) & (s->slots - 1));
    while (s->slot[i] && s->region[s->slot[i] - 1].id != id)
        i = (i + 1) & (s->slots - 1);
    return i;
}

/* Of the region that `line` lies in: a small allocation may have neither of the region's ends. */
static uint32_t find_alloc(struct cache_sample *s, uint64_t line)
{
    const struct sim_alloc *a = s->mem ? sim_mem_find(s->mem, line << CACHE_LINE_SHIFT) : NULL;
    if (!a && s->mem)
        a = sim_mem_find(s->mem, ((line + 1) << CACHE_LINE_SHIFT) - 1);
    if (!a)
        return MAX_ALLOCS;
    for (uint32_t i = 0; i < s->nalloc; i++)
        if (s->alloc[i].addr == a->addr)
            return i;
    if (s->nalloc == MAX_ALLOCS)
        return MAX_ALLOCS;
    s->alloc[s->nalloc] = (struct sample_alloc){ .addr = a->addr, .end = a->addr + a->n };
    for (uint32_t k = 0; k < ASKS; k++) {
        s->alloc[s->nalloc].of[k].uneven = 1;
        find_alone(s, &s->alloc[s->nalloc].of[k]);
    }
    return s->nalloc++;
}

/* At most half of the hash is used, so that a look-up ends soon. */
static bool slots_room(struct cache_sample *s)
{
    if (2 * s->n < s->slots)
        return true;
    uint32_t *slot = base_alloc(2 * (size_t)s->slots * sizeof *slot);
    if (!slot)
        return false;
    base_free(s->slot);
    s->slot = slot;
    s->slots *= 2;
    for (uint32_t k = 0; k < s->n; k++)
        s->slot[find_slot(s, s->region[k].id)] = k + 1;
    return true;
}

/* NULL: the table is full. The access then counts as a miss and is not remembered. */
static struct region *use_region(struct cache_sample *s, uint64_t line)
{
    uint64_t id = line >> REGION_SHIFT;
    uint32_t i = find_slot(s, id);
    if (s->slot[i])
        return &s->region[s->slot[i] - 1];
    if (s->n == MAX_REGIONS || !slots_room(s) ||
        !base_grow((void **)&s->region, s->n, &s->cap, sizeof *s->region))
        return NULL;
    i = find_slot(s, id);
    struct region *g = &s->region[s->n++];
    *g = (struct region){ .id = id, .alloc = (uint16_t)find_alloc(s, line) };
    s->slot[i] = (uint32_t)s->n;
    return g;
}

/* ---- the order of last touches ---- */

/* Lines that fit of those that one SM alone reads: they lie in its partition, and their home forgets them. */
static double own_room(const struct cache_sample *s)
{
    return s->capacity * (s->traits.own_share > 1 ? s->traits.own_share : 1);
}

static double most_room(const struct cache_sample *s)
{
    double spread = fmax(s->traits.age_spread, s->traits.own_spread);
    return own_room(s) * (1 + spread / 2);
}

static void sum_younger(struct cache_sample *s)
{
    for (unsigned c = 0; c < CLASSES; c++) {
        double sum = 0;
        uint32_t b = s->now + 1;
        if (!s->used[c])
            continue; /* nothing is younger than anything, as it was made */
        while (b > s->dead[c] && sum <= most_room(s)) {
            s->younger[c][--b] = sum;
            sum += s->weight[c][b];
        }
        s->dead[c] = b;
    }
}

/* The stamps are used up: every two buckets become one. */
static void halve_buckets(struct cache_sample *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < REGION_LINES; k++)
            s->region[i].line[k].stamp >>= 1;
    for (unsigned c = 0; c < CLASSES; c++) {
        for (uint32_t b = 0; b < BUCKETS; b++)
            s->weight[c][b] = b < BUCKETS / 2 ? s->weight[c][2 * b] + s->weight[c][2 * b + 1] : 0;
        s->dead[c] >>= 1;
    }
    s->now >>= 1;
}

static void next_bucket(struct cache_sample *s, double lines)
{
    s->in_bucket += lines;
    if (s->in_bucket < s->capacity / BUCKETS_PER_CACHE)
        return;
    s->in_bucket = 0;
    if (++s->now == BUCKETS)
        halve_buckets(s);
    sum_younger(s);
}

/* Lines touched later. */
static double depth(const struct cache_sample *s, unsigned cls, uint32_t stamp)
{
    if (stamp < s->dead[cls])
        return INFINITY;
    return s->younger[cls][stamp] + (stamp < s->now ? s->in_bucket : 0);
}

/* Where the evict-first class has a share of its own: beyond that share it displaces its own lines
 * only, and a younger line of another class takes its place first. The share is counted in halves
 * of 64 bytes. */
static bool is_left_first(const struct cache_sample *s, uint8_t valid, uint32_t stamp, double room)
{
    double filled = (valid & 3 ? 0.5 : 0) + (valid & 12 ? 0.5 : 0), harm = 0;
    for (unsigned c = CLASS_FIRST_OUT + 1; c < CLASSES; c++) {
        if (s->used[c] && stamp < s->dead[c])
            return false;
        harm += s->traits.younger_harm * s->younger[c][stamp];
    }
    return filled * depth(s, CLASS_FIRST_OUT, stamp) / s->traits.first_share + harm <= room;
}

/* What `n` kept lines take of the capacity: at most all that were chosen, and what the part holds. */
static double kept_room(const struct cache_sample *s, double n)
{
    if (!s->window)
        return 0;
    double most = s->kept > 0 ? s->kept : (double)s->window->part;
    return (n < most ? n : most) * s->window->taken;
}

/* Classes that stay longer leave the rest of the capacity; but each set keeps a line of any class
 * for a while. */
static bool is_left(const struct cache_sample *s, unsigned cls, uint32_t stamp, double room)
{
    double higher = 0, since = 0;
    for (unsigned c = cls + 1; c < CLASSES; c++) {
        double part = c == CLASS_KEPT ? kept_room(s, s->total[c]) : s->total[c];
        higher += part < room ? part : room;
        since += depth(s, c, stamp);
    }
    double d = depth(s, cls, stamp);
    return d + higher <= room || d + since <= room * s->traits.least_share;
}

/* The age at which a line goes differs from line to line. */
static double spread_about(double room, double spread, uint64_t line)
{
    return room * (1 + spread * (chance(line, 1) - 0.5));
}

/* Whether the previous run, and the copies that restored buffers after it, left `line` where this launch
 * finds it. Copies come last, two lines each. Of what is only read the smaller is taken to be touched
 * later, since it is read again; if all fits, it is there. */
static bool warm_has(const struct cache_sample *s, uint64_t line)
{
    double later = 0, copied = 0;
    const struct cache_range *of = NULL;
    for (size_t i = 0; i < s->nwarm; i++) {
        const struct cache_range *v = &s->warm[i];
        if (line >= v->first && line - v->first < v->lines)
            of = v;
        copied += v->restored ? 2 * (double)v->lines : 0;
    }
    if (of && !of->restored && s->kept > 0 && cache_window_keeps(s->window, line))
        return true;
    double held = s->kept > 0 ? kept_room(s, s->kept) : 0, all = s->traits.warm_share,
           none = s->traits.warm_none,
           room = s->capacity * (all + (none - all) * chance(line, 2)) - held;
    if (s->own_left)
        room = fmax(room, spread_about(own_room(s), s->traits.own_spread, line) - held);
    if (!of || s->warm_lines <= room)
        return of;
    for (const struct cache_range *v = s->warm; v < s->warm + s->nwarm; v++)
        if (of->restored)
            later += v == of                 ? 2 * (double)(v->first + v->lines - line)
                     : v > of && v->restored ? 2 * (double)v->lines
                                             : 0;
        else
            later += !v->restored && v->lines <= of->lines ? usual_lines(s, v) : 0;
    return (of->restored ? later : later + copied) + s->filled <= room;
}

/* Lines younger than this one with which it is still there; own: the chance that its SM alone reads it. */
static double room_of(const struct cache_sample *s, double own, uint64_t line)
{
    double shared = spread_about(s->capacity, s->traits.age_spread, line);
    if (s->traits.own_share <= 1)
        return shared;
    return shared + own * (spread_about(own_room(s), s->traits.own_spread, line) - shared);
}

/* Its sectors that are in L2. */
static uint8_t resident(const struct cache_sample *s, const struct sample_line *l, double own,
                        uint64_t line)
{
    uint8_t st = l->state;
    if (!st)
        return warm_has(s, line) ? 15 : 0;
    double room = room_of(s, own, line);
    if (st >> 4 == CLASS_KEPT)
        return s->kept > 0 || depth(s, CLASS_KEPT, l->stamp) <= (double)s->window->part ? st & 15 : 0;
    bool left = s->traits.first_share > 0 && st >> 4 == CLASS_FIRST_OUT
                    ? is_left_first(s, st & 15, l->stamp, room)
                    : is_left(s, st >> 4, l->stamp, room);
    return left ? st & 15 : 0;
}

uint8_t cache_sample_probe(const struct cache_sample *s, uint64_t line, uint8_t sectors)
{
    uint32_t i = find_slot(s, line >> REGION_SHIFT);
    if (s->slot[i]) {
        const struct region *g = &s->region[s->slot[i] - 1];
        double own = g->alloc != MAX_ALLOCS ? s->alloc[g->alloc].of[WHOLE_HALF].alone[0] : 0;
        uint8_t here = resident(s, &g->line[line & (REGION_LINES - 1)], own, line),
                lack = sectors & (uint8_t)~here;
        if (lack && g->alloc != MAX_ALLOCS)
            here |= others_have(s, &s->alloc[g->alloc], line, 0, sectors, lack);
        return here & sectors;
    }
    if (warm_has(s, line))
        return sectors;
    for (uint32_t a = 0; a < s->nalloc; a++)
        if (line << CACHE_LINE_SHIFT >= s->alloc[a].addr && line << CACHE_LINE_SHIFT < s->alloc[a].end)
            return others_have(s, &s->alloc[a], line, 0, sectors, sectors) & sectors;
    return 0;
}

double cache_sample_again(const struct cache_sample *s)
{
    return s->first > 0 ? s->again / s->first : 0;
}

void cache_sample_own_left(struct cache_sample *s)
{
    s->own_left = true;
}

/* ---- an access ---- */

static unsigned class_of(uint8_t alloc, unsigned old, bool fresh)
{
    switch (alloc) {
    case CACHE_FIRST:
    case CACHE_LAST_USE:
    case CACHE_TRANSIT: return CLASS_FIRST_OUT;
    case CACHE_LAST: return CLASS_LAST_OUT;
    case CACHE_KEPT: return CLASS_KEPT;
    case CACHE_UNCHANGED: return fresh ? CLASS_USUAL : old;
    default: return CLASS_USUAL;
    }
}

/* The line becomes the youngest of its class. */
static void touch(struct cache_sample *s, struct sample_line *l, unsigned cls, bool counted)
{
    unsigned old = l->state >> 4;
    if (l->counted) {
        s->weight[old][l->stamp] -= s->scale;
        s->total[old] -= s->scale;
    }
    bool moved = l->stamp != s->now || !l->counted;
    l->counted = counted;
    l->stamp = (uint16_t)s->now;
    if (!counted)
        return;
    s->weight[cls][s->now] += s->scale;
    s->total[cls] += s->scale;
    s->used[cls] = true;
    if (moved)
        next_bucket(s, s->scale);
}

/* The share of accesses to this allocation that come while all the other sides of the sample ask for the
 * same line: then all SMs do. */
static void note_together(struct sample_alloc *a, struct sample_line *l,
                          const struct cache_l2_request *r)
{
    /* places as timing_group chooses them */
    static const uint8_t side_of[8] = { 0, 1, 2, 3, 2, 3, 3, 3 };
    uint16_t now = (uint16_t)((r->at >> TICK_SHIFT) + 1);
    bool all = true;
    for (uint32_t i = 0; i < SIDES; i++) {
        uint16_t ago = (uint16_t)(now - l->at[i]);
        all &=
            i == side_of[r->place & 7] || (l->at[i] && (ago < TOGETHER || ago > UINT16_MAX - TOGETHER));
    }
    l->at[side_of[r->place & 7]] = now ? now : 1;
    a->together += (all - a->together) / 256;
}

double cache_sample_together(const struct cache_sample *s, uint64_t line)
{
    uint32_t i = find_slot(s, line >> REGION_SHIFT);
    uint16_t a = s->slot[i] ? s->region[s->slot[i] - 1].alloc : MAX_ALLOCS;
    return a < MAX_ALLOCS ? s->alloc[a].together : 0;
}

/* Each place's first request for each half of a line counts. */
static void note_access(struct cache_sample *s, struct sample_alloc *a, struct sample_line *l,
                        const struct cache_l2_request *r, uint8_t here)
{
    for (uint32_t h = 0; h < HALVES; h++) {
        uint8_t part = r->sectors & (uint8_t)(3u << 2 * h), *places = &l->places[h];
        if (!part || *places >> r->place & 1)
            continue;
        note_pairs(s, &a->of[ask_of(r->sectors, h)], r->place, *places, cache_count(part),
                   cache_count(part & here));
        *places |= (uint8_t)(1u << r->place);
    }
}

/* Reads of lines that no place has touched in this launch, and of those that this one alone has. */
static void note_again(struct cache_sample *s, const struct sample_line *l,
                       const struct cache_l2_request *r, double own)
{
    uint8_t places = l->places[0] | l->places[1];
    if (r->write)
        return;
    if (!l->state)
        s->first++;
    else if (places == 1u << r->place)
        s->again += own;
}

void cache_sample_access(struct cache_sample *s, const struct cache_l2_request *r,
                         struct cache_l2_outcome *o)
{
    struct region *g = use_region(s, r->line);
    o->weight = s->scale;
    if (!g) {
        o->miss = r->sectors;
        return;
    }
    struct sample_line *l = &g->line[r->line & (REGION_LINES - 1)];
    double own = g->alloc != MAX_ALLOCS
                     ? s->alloc[g->alloc].of[ask_of(r->sectors, !(r->sectors & 3))].alone[r->place]
                     : 0;
    uint8_t here = resident(s, l, own, r->line);
    note_again(s, l, r, own);
    bool known = here && l->state, counted = l->counted;
    o->open = known && s->now - l->stamp < s->traits.dram_open;
    bool left = here && !known;
    if (!known)
        memset(l->places, 0, sizeof l->places);
    bool fresh = !here;
    uint8_t lacks = r->sectors & (uint8_t)~here;
    if (g->alloc != MAX_ALLOCS) {
        struct sample_alloc *a = &s->alloc[g->alloc];
        o->left = left && !s->own_left ? own : 0;
        note_access(s, a, l, r, here);
        note_together(a, l, r);
        if (lacks)
            here |= others_have(s, a, r->line, r->place, r->sectors, lacks);
    }
    unsigned cls = class_of(r->alloc, l->state >> 4, fresh);
    o->hit = r->sectors & here;
    uint8_t lack = (uint8_t)(r->sectors & ~here);
    if (lack && !r->write)
        o->miss = (uint8_t)((lack | r->fetch) & ~here);
    if (fresh) {
        l->dirty = 0;
        counted = !here; /* its weight is with those that brought it */
        if (counted)
            s->filled += s->scale;
    } else if (!known) {
        counted = true;
    }
    touch(s, l, cls, counted);
    /* once more lines were filled than fit, by earlier launches too, every written line leaves L2
     * again */
    if (r->write) {
        if (s->total[CLASS_USUAL] + s->total[CLASS_FIRST_OUT] > s->capacity ||
            s->warm_lines > s->capacity)
            o->written = r->sectors & (uint8_t)~l->dirty;
        l->dirty |= r->sectors;
    }
    l->state = (uint8_t)(here | o->miss | r->sectors | cls << 4);
}
