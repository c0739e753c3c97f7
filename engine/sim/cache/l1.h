/* l1: L1 and the read-only cache. */
#pragma once

#include "engine/sim/cache/cache.h"

/* ---- L1 and read-only cache ---- */
struct cache_line {
    uint64_t tag;   /* line / sets + 1; 0: empty */
    uint32_t stamp; /* last use, in accesses */
    uint32_t fill;  /* cycle at which the last outstanding sector arrives */
    /* cycle until which loads read it; in a pool its data stay that long, even when the tag goes */
    uint32_t held;
    uint8_t valid, ready; /* sectors asked for; those that arrived before `fill` was set */
    uint8_t alloc;        /* enum cache_alloc of its allocation */
    uint8_t merged;       /* requests waiting for the outstanding fill */
};
/* Data that the sets of a bank share (pool.c). lines 0: each tag has a line of its own. */
#define CACHE_BANKS     4u /* at most: set s belongs to bank s % banks */
#define CACHE_HASH_BITS 18u
/* How such data are shared and lines find their set, from the preset fields of the same meaning. */
struct cache_pool_traits {
    uint32_t banks;      /* l1_pool_banks: 1, 2 or 4 */
    uint32_t spare;      /* l1_fill_buffers: lines that only hold what is on its way */
    uint32_t first_look; /* l1_first_look: sets looked at ahead for an evict-first line */
    /* l1_tag_hash_N: bits of the set that each bit of a line number turns over */
    uint16_t hash[CACHE_HASH_BITS];
};
struct cache_pool_traits cache_pool_traits_of(const struct sim_preset *g);
struct cache_pool {
    uint32_t banks;
    uint32_t bank_mask; /* banks - 1 */
    uint32_t bank_shift;
    uint32_t first_look;
    /* lines of a bank; how many of them may be taken while a line that has arrived could go instead */
    uint32_t lines, keep;
    uint32_t used[CACHE_BANKS]; /* those taken */
    uint32_t hand[CACHE_BANKS]; /* where the next to go is looked for, in sets of the bank */
    /* [size], a ring in the order of asking: data on their way that allocate no tag */
    struct cache_line *pass;
    uint8_t *bank; /* [size]: whose data that has */
    /* flying: entries of the ring */
    uint32_t size; /* entries of the ring */
    uint32_t head;
    uint32_t flying;
    /* [CACHE_LATE][CACHE_BANKS]: data that are still to be read although their tag is gone, by the
     * time when they are read */
    uint16_t *late;
    /* the last entry of `late` whose data are free again; data that are not */
    uint32_t looked, nlate;
    /* [CACHE_FOLDS][256]: what each byte of a line number turns over in the set */
    uint16_t *fold;
};
#define CACHE_FOLDS 4u
/* how far ahead that looks, in steps of 2^CACHE_LATE_SHIFT cycles: more than a full queue of row
 * walks waits */
#define CACHE_LATE       512u
#define CACHE_LATE_SHIFT 4u
struct cache_l1 {
    struct cache_line *line; /* [sets * ways] */
    uint32_t *low;           /* [sets * ways]: low half of each line's tag, together for a set */
    uint32_t sets;
    uint32_t ways;
    uint32_t clock;
    uint32_t set_mask, set_shift; /* sets - 1 and log2 when a power of two, else 0 */
    uint8_t group;                /* sectors fetched together: 1 sectored, 4 whole lines */
    uint8_t merge_max;
    /* 0: LRU; n: the oldest of n lines of the set picked at random is replaced; of a pool: n sets */
    uint8_t picks;
    /* streaming: a full set lets a miss pass without a line */
    bool hashed;
    bool update_on_store;
    bool streaming;
    bool any_first, any_last; /* some line has been evict-first, evict-last */
    bool forget;              /* what bypasses drops the line it finds, on its way or not */
    bool transit;             /* what bypasses takes a line while it is on its way */
    bool store_lines;         /* stores make lines */
    uint64_t lookups, hits;   /* sectors, for the bench and tests */
    struct cache_pool pool;
};
struct cache_answer {
    /* sector masks; together the request. miss is already widened to fetch groups */
    uint8_t hit;
    uint8_t pending;
    uint8_t miss;
    uint32_t ready;          /* pending: when the data arrives */
    uint32_t stall;          /* earliest cycle at which this could be tried again; 0: taken */
    struct cache_line *line; /* found, or allocated for the miss, or NULL */
};
/* bytes rounded down to whole sets, at least one. ST_NOMEM only. */
enum status cache_l1_init(struct cache_l1 *c, uint64_t bytes, uint32_t ways, uint32_t sector_bytes);
/* `tags` (a power of two times `ways`, of at least two sets) over a pool of `bytes`, of which t->spare
 * lines only hold what is on its way; where that leaves less than half, half of the lines. ST_NOMEM
 * only. */
enum status cache_l1_init_pool(struct cache_l1 *c, uint64_t bytes, uint32_t tags, uint32_t ways,
                               uint32_t sector_bytes, const struct cache_pool_traits *t);
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

/* The tag of data that pass through without allocating. No look-up finds it. */
#define CACHE_TRANSIT_TAG UINT64_MAX

static inline uint64_t cache_keep_key(const struct cache_line *l)
{
    return (uint64_t)(l->alloc == CACHE_FIRST ? 0 : l->alloc == CACHE_LAST ? 2 : 1) << 32 | l->stamp;
}

/* pool.c. Data that have arrived by `now` leave the ring, in the order of asking. */
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
