/* cache_int: private to engine/sim. The cache model: tags and policies, no clock
 * of its own. Times are SM cycles (uint32_t); addresses come as line numbers
 * (device address / 128) and masks of 32-byte sectors (bit 0: lowest address).
 *
 *   L1   set-associative, per-sector valid bits, LRU inside eviction classes.
 *        A line that was asked for and has not arrived is `pending`: it can be
 *        hit (hit-reserved, merged into the outstanding miss), never evicted.
 *   L2   two stores behind one interface:
 *          all SMs simulated   -> set-associative tags         (l2.c)
 *          a sample of the SMs -> order of last touches        (sample.c)
 */
#ifndef GPULOCW_SIM_CACHE_CACHE_H
#define GPULOCW_SIM_CACHE_CACHE_H

#include "engine/sim/sim_int.h"

#define CACHE_LINE_SHIFT 7u /* 128-byte lines everywhere */
#define CACHE_SECTORS    4u

/* What an access asks of one level. */
enum cache_alloc {
    CACHE_NORMAL,
    CACHE_FIRST,     /* evict-first: first victim of its set */
    CACHE_LAST,      /* evict-last: last victim */
    CACHE_UNCHANGED, /* a hit does not refresh the line's age */
    CACHE_TRANSIT,   /* no_allocate: hits what other loads brought, brings nothing */
    CACHE_LAST_USE,  /* a hit makes the line the next victim */
    CACHE_BYPASS,    /* neither looks nor allocates */
    CACHE_DROP       /* volatile: bypass, and a copy that is there is dropped */
};

/* ---- L1 and read-only cache ---- */
struct cache_line {
    uint64_t tag;   /* line / sets + 1; 0: empty */
    uint32_t stamp; /* last use, in accesses */
    uint32_t fill;  /* cycle at which the last outstanding sector arrives */
    /* cycle until which loads read it: of a pool, its data stay so long, whether or not its tag does */
    uint32_t held;
    uint8_t valid, ready; /* sectors asked for; those that arrived before `fill` was set */
    uint8_t alloc;        /* enum cache_alloc of its allocation */
    uint8_t merged;       /* requests waiting for the outstanding fill */
};
/* Data that the sets of a bank share (pool.c). lines 0: each tag has a line of its own. */
#define CACHE_BANKS 4u /* set s belongs to bank s % CACHE_BANKS */
struct cache_pool {
    /* of a bank: all; those that may be taken while one that has arrived could go instead */
    uint32_t lines, keep;
    uint32_t used[CACHE_BANKS]; /* those taken */
    uint32_t hand[CACHE_BANKS]; /* where the next to go is looked for, in sets of the bank */
    /* [size]: what brings nothing to stay and is on its way, in the order of asking, a ring */
    struct cache_line *pass;
    uint8_t *bank;               /* [size]: whose data that has */
    uint32_t size, head, flying; /* flying: entries of the ring */
    /* [CACHE_LATE][CACHE_BANKS]: data whose line went before they were read, by when that is */
    uint16_t *late;
    /* the last entry of `late` whose data are free again; data that are not */
    uint32_t looked, nlate;
    /* [CACHE_FOLDS][256]: what each byte of a line number turns over in the set */
    uint16_t *fold;
};
#define CACHE_FOLDS 4u
/* times ahead, of 2^CACHE_LATE_SHIFT cycles: more than a full queue of row walks waits */
#define CACHE_LATE       512u
#define CACHE_LATE_SHIFT 4u
struct cache_l1 {
    struct cache_line *line; /* [sets * ways] */
    uint32_t *low;           /* [sets * ways]: low half of each line's tag, together for a set */
    uint32_t sets, ways, clock;
    uint32_t set_mask, set_shift; /* sets - 1 and log2 when a power of two, else 0 */
    uint8_t group;                /* sectors fetched together: 1 sectored, 4 whole lines */
    uint8_t merge_max;
    /* 0: LRU; n: the oldest of n lines of the set picked at random is replaced; of a pool: n sets */
    uint8_t picks;
    bool hashed, update_on_store, streaming; /* streaming: a full set lets a miss pass without a line */
    bool any_first, any_last;                /* some line has been evict-first, evict-last */
    bool forget;            /* what bypasses drops the line it finds, on its way or not */
    bool transit;           /* what bypasses takes a line while it is on its way */
    bool store_lines;       /* stores make lines */
    uint64_t lookups, hits; /* sectors, for the bench and tests */
    struct cache_pool pool;
};
struct cache_answer {
    /* sector masks; together the request. miss is already widened to fetch groups */
    uint8_t hit, pending, miss;
    uint32_t ready;          /* pending: when the data arrives */
    uint32_t stall;          /* earliest cycle at which this could be tried again; 0: taken */
    struct cache_line *line; /* found, or allocated for the miss, or NULL */
};
/* bytes rounded down to whole sets, at least one. ST_NOMEM only. */
enum status cache_l1_init(struct cache_l1 *c, uint64_t bytes, uint32_t ways, uint32_t sector_bytes);
/* `tags` (a power of two times `ways`, of at least two sets) over a pool of `bytes`, of which `spare`
 * lines only hold what is on its way; where that leaves less than half, half of the lines. ST_NOMEM
 * only. */
enum status cache_l1_init_pool(struct cache_l1 *c, uint64_t bytes, uint32_t tags, uint32_t ways,
                               uint32_t spare, uint32_t sector_bytes);
void cache_l1_free(struct cache_l1 *c);
/* One line of one load at cycle `now`. After a miss with a line the caller says when data comes:
 * cache_l1_fill. */
void cache_l1_load(struct cache_l1 *c, uint64_t line, uint8_t sectors, enum cache_alloc alloc,
                   uint32_t now, struct cache_answer *a);
/* A load reads the line until cycle `until`. */
static inline void cache_l1_hold(struct cache_line *l, uint32_t until)
{
    if (until > l->held)
        l->held = until;
}
static inline void cache_l1_fill(struct cache_line *l, uint32_t at)
{
    if (at > l->fill)
        l->fill = at;
}
/* Write-through: updates or evicts a copy that is there; with `store_lines` makes one. partial: leaves
 * bytes of its sectors unwritten. */
void cache_l1_store(struct cache_l1 *c, uint64_t line, uint8_t sectors, bool partial, uint32_t now);
/* Present and arrived, without touching anything (tests, prefetch). */
bool cache_l1_has(const struct cache_l1 *c, uint64_t line, uint8_t sectors);
uint32_t cache_l1_set(const struct cache_l1 *c, uint64_t line, uint64_t *tag);
/* Brings what a look-up of the line reads into the host's cache. */
static inline void cache_l1_prefetch(const struct cache_l1 *c, uint64_t line)
{
    uint64_t tag;
    __builtin_prefetch(&c->low[(size_t)cache_l1_set(c, line, &tag) * c->ways]);
}

/* The tag of a line that leaves nothing behind: its data passes through. No look-up finds it. */
#define CACHE_TRANSIT_TAG UINT64_MAX

static inline uint64_t cache_keep_key(const struct cache_line *l)
{
    return (uint64_t)(l->alloc == CACHE_FIRST ? 0 : l->alloc == CACHE_LAST ? 2 : 1) << 32 | l->stamp;
}

/* pool.c. What has passed by at `now` leaves the ring, in the order of asking. */
void cache_pool_settle(struct cache_l1 *c, uint32_t now);
/* A line for a miss in `set` (its tags), or NULL: all data of its bank are on their way, or (*full) all
 * lines of the set. The caller fills it in. */
struct cache_line *cache_pool_take(struct cache_l1 *c, struct cache_line *set, uint32_t now, bool *full);
/* Data for a miss in `set` that brings nothing to stay, or NULL. */
struct cache_line *cache_pool_pass(struct cache_l1 *c, const struct cache_line *set, uint32_t now);
/* After one of these gave none: when data of its bank come. */
uint32_t cache_pool_wait(const struct cache_l1 *c, const struct cache_line *set, uint32_t now);
/* The line goes; data that are on their way pass by. */
void cache_pool_drop(struct cache_l1 *c, struct cache_line *l, uint32_t now);

/* ---- L2 ---- */
enum { CACHE_PART = 1, CACHE_SHARED_PART };
struct cache_l2_request {
    uint64_t line;
    uint32_t at; /* cycle */
    uint8_t sectors;
    uint8_t alloc; /* enum cache_alloc */
    /* sectors around a miss that come along (prefetch size; bit mask over the line) */
    uint8_t fetch;
    uint8_t write; /* store or atomic */
    uint8_t few;   /* its load has few lines */
    uint8_t next;  /* .L2::256B: the neighbouring line comes along */
    uint8_t quiet; /* a prefetch: fills, is not counted as a read */
    /* a store that leaves bytes of its sectors as they were: CACHE_PART, or others write them:
     * CACHE_SHARED_PART */
    uint8_t partial;
    /* index of the sampled place of the grid that asks (struct cache_places) */
    uint8_t place;
    uint16_t lanes;          /* atomics: turns they take */
    uint16_t unit;           /* atomics: whose */
    uint16_t slice, channel; /* queues it goes through (timing_mem) */
    int8_t apart;            /* cycles that its slice is farther than the mean */
};
struct cache_l2_outcome {
    uint8_t hit, miss; /* sectors; miss includes fetched neighbours */
    double weight;     /* DRAM fills of the whole GPU that this fill stands for */
    uint8_t written;   /* dirty sectors written back */
    bool open;         /* the line was used a moment ago: DRAM has its row open */
};
struct cache_l2_entry {
    uint32_t tag, stamp;
    uint8_t valid, dirty, alloc, used;
};
/* line numbers of a buffer; copied back from elsewhere before the launch */
struct cache_range {
    uint64_t first, lines;
    bool restored;
};
/* Places of the grid that a sample takes its CTAs from, and which of them lie beside each other. */
#define CACHE_APART 16u
struct cache_places {
    /* places; distances in the grid at which some of them lie, each counted on both sides */
    uint32_t n, apart;
    uint8_t near_of[8][CACHE_APART], far_of[8]; /* masks: at each distance from a place; far from it */
};
struct cache_sample;
struct cache_l2 {
    struct cache_l2_entry *entry; /* [sets * ways]; NULL: sampled */
    uint32_t sets, ways;
    uint32_t clock;         /* accesses */
    uint32_t first_ways;    /* of a set that evict-first lines can fill; 0: all */
    bool hashed, warm_fits; /* warm_fits: a previous run left everything resident */
    struct cache_sample *sample;
};
enum status cache_l2_init(struct cache_l2 *c, uint64_t bytes, uint32_t ways, bool hashed);
/* The L2 of a GPU of `sms` SMs of which p->n are simulated: lines count for those nobody simulates. */
enum status cache_l2_init_sample(struct cache_l2 *c, uint64_t bytes, uint32_t sms,
                                 const struct cache_places *p, struct sim_mem *mem);
/* As runs of this launch one after the other leave it, the restored buffers copied in between (in the
 * order of v, which lives on). Of what is only read the smaller is taken to be read again until the end.
 */
void cache_l2_warm(struct cache_l2 *c, const struct cache_range *v, size_t n);
/* Evict-first lines fill at most `share` (0 to 1; 0: all) of it: the rest holds older lines, of earlier
 * launches too. */
void cache_l2_limit_first(struct cache_l2 *c, double share);
void cache_l2_free(struct cache_l2 *c);
/* Sectors that a read would find; changes nothing. */
uint8_t cache_l2_probe(const struct cache_l2 *c, uint64_t line, uint8_t sectors);
void cache_l2_access(struct cache_l2 *c, const struct cache_l2_request *r, struct cache_l2_outcome *o);
/* How often others far off ask for lines of this one's allocation at the same time; 0..1, 0 unless
 * sampled. */
double cache_l2_together(const struct cache_l2 *c, uint64_t line);

/* sample.c */
enum status cache_sample_new(struct cache_sample **out, uint64_t bytes, uint32_t sms,
                             const struct cache_places *p, struct sim_mem *mem);
void cache_sample_limit_first(struct cache_sample *s, double share);
void cache_sample_warm(struct cache_sample *s, const struct cache_range *v, size_t n);
void cache_sample_free(struct cache_sample *s);
double cache_sample_together(const struct cache_sample *s, uint64_t line);
uint8_t cache_sample_probe(const struct cache_sample *s, uint64_t line, uint8_t sectors);
void cache_sample_access(struct cache_sample *s, const struct cache_l2_request *r,
                         struct cache_l2_outcome *o);

/* ---- policies: what an access asks of each level on an architecture (policy.c) ---- */
struct cache_route {
    uint8_t l1, l2;  /* enum cache_alloc */
    uint8_t granule; /* sectors L2 fetches together on a miss: 1, 2 or 4 */
    bool next;       /* the neighbouring line too (prefetch size 256) */
    bool read_only;  /* goes through the separate read-only cache */
};
/* For a global load with policy p and createpolicy value `hint` to `line`. */
struct cache_route cache_route_load(const struct sim_preset *g, const struct exec_policy *p,
                                    uint64_t hint, uint64_t addr);
enum cache_alloc cache_route_store(const struct exec_policy *p, uint64_t hint, uint64_t addr);

/* The sectors of a line that a fetch of `m` by groups of `granule` brings. */
static inline uint8_t cache_widen(uint8_t m, uint8_t granule)
{
    if (granule >= 4)
        return m ? 15 : 0;
    if (granule == 2)
        return (uint8_t)((m & 3 ? 3 : 0) | (m & 12 ? 12 : 0));
    return m;
}

/* Sectors in a mask of four. */
static inline uint32_t cache_count(uint8_t sectors)
{
    return (uint32_t)(0x4332322132212110ull >> (sectors & 15) * 4) & 7;
}

/* Mixes a number (finaliser of splitmix64): set, slice and fraction hashing. */
static inline uint64_t cache_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

#endif
