/* l2: L2, whole or as a sample of the SMs sees it. */
#pragma once

#include "engine/sim/cache/cache.h"

struct sim_mem;

/* ---- L2 ---- */
enum { CACHE_PART = 1, CACHE_SHARED_PART };
enum { CACHE_UNIT_PARTS = 64 }; /* of a cycle, in which a request says how long an atomic unit is busy */
/* Cycles in those parts; as many as fit where there are more. */
static inline uint16_t cache_unit_parts(double cycles)
{
    double parts = cycles * CACHE_UNIT_PARTS;
    return parts < UINT16_MAX ? (uint16_t)parts : UINT16_MAX;
}

struct cache_l2_request {
    uint64_t line;
    uint32_t at; /* cycle */
    uint8_t sectors;
    uint8_t alloc; /* enum cache_alloc */
    /* sectors around a miss that come along (prefetch size; bit mask over the line) */
    uint8_t fetch;
    uint8_t write;       /* store or atomic */
    uint8_t few : 1;     /* its load has few lines */
    uint8_t own : 1;     /* no other SM asks at that moment: claims of tasks, and looks at them */
    uint8_t side : 1;    /* partition of L2 that its SM is wired to */
    uint8_t returns : 1; /* an atomic whose old value goes back */
    uint8_t floats : 1;  /* an atomic on floats */
    uint8_t next;        /* .L2::256B: the neighbouring line comes along */
    uint8_t quiet;       /* a prefetch: fills, is not counted as a read */
    uint8_t copy;        /* of the tensor copy engine */
    /* a store that leaves bytes of its sectors as they were: CACHE_PART, or others write them:
     * CACHE_SHARED_PART */
    uint8_t partial;
    uint64_t halves; /* CACHE_PART: the twos of bytes of its line that it stores (cache/parts.h) */
    /* index of the sampled place of the grid that asks (struct cache_places) */
    uint8_t place;
    uint8_t lanes;           /* atomics: turns they take */
    int8_t apart;            /* cycles that its slice is farther than the mean */
    uint16_t unit;           /* atomics: whose */
    uint16_t unit_cycles;    /* atomics: how long that unit is busy, in parts of CACHE_UNIT_PARTS */
    uint16_t slice, channel; /* queues it goes through (timing_mem) */
};
struct cache_l2_outcome {
    uint8_t hit, miss; /* sectors; miss includes fetched neighbours */
    double weight;     /* DRAM fills of the whole GPU that this fill stands for */
    uint8_t written;   /* dirty sectors written back */
    uint8_t crossed;   /* of hit: sectors that the other partition gave */
    bool open;         /* the line was used a moment ago: DRAM has its row open */
    /* chance that the hit finds what earlier launches left, if the launch was not seen to ask for that
     * line: 0 where other SMs brought it, less than 1 where they may have asked for it */
    double left;
};
struct cache_l2_entry {
    uint32_t tag, stamp;
    uint8_t valid;
    uint8_t dirty; /* sectors to write when it is evicted; sectors << 4: already on their way */
    uint8_t alloc;
    uint8_t used;
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
/* An access policy window: of its lines, `ratio` (0 to 1) stay in a part of L2 that is set aside for
 * them. What that part does not use is there for others. lines 0: none. */
struct cache_window {
    uint64_t first, lines;
    double ratio;
    uint64_t part; /* lines that the part holds */
    double taken;  /* lines that others lose for each of them: others may lie in L2 twice */
};
static inline bool cache_window_keeps(const struct cache_window *w, uint64_t line)
{
    return line - w->first < w->lines && cache_fraction(line) < w->ratio;
}
struct cache_sample;
struct cache_l2 {
    struct cache_l2_entry *entry; /* [parts * sets * ways]; NULL: sampled */
    uint32_t parts;               /* partitions, 1 or 2 */
    uint32_t sets, ways;          /* of each */
    uint32_t room;                /* ways of a set that lines outside the window may fill */
    struct cache_window window;
    uint32_t kept_ways;     /* of a set that its lines may fill */
    uint32_t clock;         /* accesses */
    uint32_t first_ways;    /* of a set that evict-first lines can fill; 0: all */
    double warm_lines;      /* what earlier launches may have filled for all to be there */
    bool hashed, warm_fits; /* warm_fits: everything is still resident from the launch before */
    /* more lines than fit were filled, by earlier launches too: what is written leaves for DRAM at once,
     * as in a sample, and not when its place is needed */
    bool full;
    uint64_t filled; /* lines, by this launch */
    struct cache_sample *sample;
};
enum status cache_l2_init(struct cache_l2 *c, uint64_t bytes, uint32_t ways, bool hashed);
/* Before anything is asked: two partitions of half the sets each, as sides.h describes them. What an SM reads is
 * filled into its own and into the line's home; what neither has comes from DRAM. */
void cache_l2_split(struct cache_l2 *c);
/* The L2 of a GPU of `sms` SMs of which p->n are simulated: lines count for those nobody simulates. */
enum status cache_l2_init_sample(struct cache_l2 *c, uint64_t bytes, uint32_t sms,
                                 const struct cache_places *p, struct sim_mem *mem);
/* Fills L2 as earlier runs of the same launch leave it, with the restored buffers copied in
 * between, in the order of v (which must outlive c). Of the buffers that are only read, smaller
 * ones are taken to be read more often, up to the end. */
void cache_l2_warm(struct cache_l2 *c, const struct cache_range *v, size_t n);
/* Whether what earlier launches left depends on the order in which they read, so that an earlier launch has to be
 * simulated to know it: the buffers about fill L2. */
bool cache_l2_depends(const struct sim_preset *g, const struct cache_range *v, size_t n);
/* Of a sample: reads of lines that the same SM alone had read before, over first reads of lines. */
double cache_l2_again(const struct cache_l2 *c);
/* Of a sample, once warm: lines that one SM alone reads are still there from the launch before, as where launches
 * read them more than once. */
void cache_l2_own_left(struct cache_l2 *c);
/* Takes what `from`, of the same shape, holds at the end of an earlier launch, and the restored buffers copied
 * since; from is empty then. */
void cache_l2_take(struct cache_l2 *c, struct cache_l2 *from, const struct cache_range *v, size_t n);
/* How L2 replaces lines, from the preset fields of the same meaning. first_share: evict-first lines fill
 * at most that part of it (0 to 1; 0: all); the rest holds older lines, of earlier launches too. */
struct cache_l2_traits {
    double first_share;  /* l2_first_share */
    double distinct;     /* l2_distinct; of a whole L2 of two partitions */
    double warm_share;   /* l2_warm_share */
    double age_spread;   /* l2_age_spread; a sample only, as what follows */
    double least_share;  /* l2_least_share */
    double younger_harm; /* l2_younger_harm, lines */
    double warm_none;    /* l2_warm_none */
    double own_share;    /* l2_own over l2_distinct; 0: l2_own is 0 */
    double own_spread;   /* l2_own_spread */
    uint32_t dram_open;  /* dram_open, 1/256 of L2 */
};
struct cache_l2_traits cache_l2_traits_of(const struct sim_preset *g);
/* Call once, after init. Without it no line is warm, and every class may fill L2. */
void cache_l2_shape(struct cache_l2 *c, struct cache_l2_traits t);
/* From now on lines of the window are kept. After init, before anything else. ST_NOMEM only. */
enum status cache_l2_keep(struct cache_l2 *c, const struct cache_window *w);
void cache_l2_free(struct cache_l2 *c);
/* Sectors that a read by an SM of partition `side` would find, in either; changes nothing. */
uint8_t cache_l2_probe(const struct cache_l2 *c, unsigned side, uint64_t line, uint8_t sectors);
void cache_l2_access(struct cache_l2 *c, const struct cache_l2_request *r, struct cache_l2_outcome *o);
/* Share of the accesses to this line's allocation that distant CTAs make at the same time, 0 to 1;
 * 0 unless sampled. */
double cache_l2_together(const struct cache_l2 *c, uint64_t line);

/* sample.c */
enum status cache_sample_new(struct cache_sample **out, uint64_t bytes, uint32_t sms,
                             const struct cache_places *p, struct sim_mem *mem);
void cache_sample_shape(struct cache_sample *s, struct cache_l2_traits t);
void cache_sample_warm(struct cache_sample *s, const struct cache_range *v, size_t n);
/* w is borrowed */
void cache_sample_keep(struct cache_sample *s, const struct cache_window *w);
void cache_sample_free(struct cache_sample *s);
double cache_sample_again(const struct cache_sample *s);
void cache_sample_own_left(struct cache_sample *s);
double cache_sample_together(const struct cache_sample *s, uint64_t line);
uint8_t cache_sample_probe(const struct cache_sample *s, uint64_t line, uint8_t sectors);
void cache_sample_access(struct cache_sample *s, const struct cache_l2_request *r,
                         struct cache_l2_outcome *o);
