/* Cache model: sequences derived by hand, with the state of the set drawn beside
 * each step (MRU first), and a brute-force reference on random traffic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "engine/sim/cache/cache.h"
#include "engine/sim/cache/l1.h"
#include "engine/sim/cache/l2.h"
#include "engine/sim/cache/parts.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

#define BYTES(sets, ways) ((uint64_t)(sets) * (ways)*128)

/* The traits of the default preset, with eight spare lines. */
static struct cache_pool_traits eight_spare(void)
{
    struct sim_preset g = sim_preset_default();
    struct cache_pool_traits t = cache_pool_traits_of(&g);
    t.spare = 8;
    return t;
}

static void shape(struct cache_l2 *c, double first_share)
{
    struct sim_preset g = sim_preset_default();
    g.l2_first_share = first_share;
    cache_l2_shape(c, cache_l2_traits_of(&g));
}

static enum status init_exact(struct cache_l2 *c, uint64_t bytes, uint32_t ways, bool hashed)
{
    enum status st = cache_l2_init(c, bytes, ways, hashed);
    shape(c, 0);
    return st;
}

static enum status init_sample(struct cache_l2 *c, uint64_t bytes, uint32_t sms,
                               const struct cache_places *p, struct sim_mem *mem)
{
    enum status st = cache_l2_init_sample(c, bytes, sms, p, mem);
    shape(c, 0);
    return st;
}

static struct cache_l1 make(uint32_t sets, uint32_t ways, uint32_t sector)
{
    struct cache_l1 c;
    assert_int_equal(cache_l1_init(&c, BYTES(sets, ways), ways, sector), ST_OK);
    c.hashed = false;
    return c;
}

/* Loads at `now`; a miss arrives at `arrives`. Returns hit | pending << 4 | miss << 8. */
static unsigned load(struct cache_l1 *c, uint64_t line, unsigned sectors, enum cache_alloc how,
                     uint32_t now, uint32_t arrives)
{
    struct cache_answer a;
    cache_l1_load(c, line, (uint8_t)sectors, how, now, &a);
    if (a.stall)
        return 0xffff;
    if (a.miss && a.line)
        cache_l1_fill(a.line, arrives);
    return a.hit | (unsigned)a.pending << 4 | (unsigned)a.miss << 8;
}
static unsigned at_once(struct cache_l1 *c, uint64_t line, unsigned sectors, enum cache_alloc how)
{
    return load(c, line, sectors, how, 10, 10);
}
#define HIT(m)     (m)
#define PENDING(m) ((m) << 4)
#define MISS(m)    ((m) << 8)

static void test_lru(void **state)
{
    (void)state;
    struct cache_l1 c = make(1, 2, 32);
    assert_int_equal(at_once(&c, 1, 1, CACHE_NORMAL), MISS(1)); /* 1     */
    assert_int_equal(at_once(&c, 2, 1, CACHE_NORMAL), MISS(1)); /* 2 1   */
    assert_int_equal(at_once(&c, 1, 1, CACHE_NORMAL), HIT(1));  /* 1 2   */
    assert_int_equal(at_once(&c, 3, 1, CACHE_NORMAL), MISS(1)); /* 3 1   (2 out) */
    assert_int_equal(at_once(&c, 1, 1, CACHE_NORMAL), HIT(1));  /* 1 3   */
    assert_int_equal(at_once(&c, 2, 1, CACHE_NORMAL), MISS(1)); /* 2 1   (3 out) */
    assert_int_equal(at_once(&c, 3, 1, CACHE_NORMAL), MISS(1)); /* 3 2   */
    cache_l1_free(&c);
}

static void test_sectors(void **state)
{
    (void)state;
    struct cache_l1 c = make(4, 2, 32), whole = make(4, 2, 128), pair = make(4, 2, 64);
    assert_int_equal(at_once(&c, 5, 3, CACHE_NORMAL), MISS(3));          /* sectors 0, 1 */
    assert_int_equal(at_once(&c, 5, 6, CACHE_NORMAL), HIT(2) | MISS(4)); /* 1 there, 2 not */
    assert_int_equal(at_once(&c, 5, 15, CACHE_NORMAL), HIT(7) | MISS(8));
    /* unsectored: the line comes whole */
    assert_int_equal(at_once(&whole, 5, 1, CACHE_NORMAL), MISS(15));
    assert_int_equal(at_once(&whole, 5, 8, CACHE_NORMAL), HIT(8));
    assert_int_equal(at_once(&pair, 5, 1, CACHE_NORMAL), MISS(3));
    assert_int_equal(at_once(&pair, 5, 6, CACHE_NORMAL), HIT(2) | MISS(12));
    cache_l1_free(&c);
    cache_l1_free(&whole);
    cache_l1_free(&pair);
}

static void test_pending(void **state)
{
    (void)state;
    struct cache_l1 c = make(1, 2, 32);
    c.merge_max = 1;
    assert_int_equal(load(&c, 1, 1, CACHE_NORMAL, 100, 500), MISS(1));
    /* merged into the outstanding miss */
    assert_int_equal(load(&c, 1, 1, CACHE_NORMAL, 200, 0), PENDING(1));
    /* no room to merge: try later */
    assert_int_equal(load(&c, 1, 1, CACHE_NORMAL, 201, 0), 0xffff);
    assert_int_equal(load(&c, 1, 2, CACHE_NORMAL, 300, 600), MISS(2)); /* another sector of the line */
    assert_int_equal(load(&c, 1, 1, CACHE_NORMAL, 700, 0), HIT(1));    /* arrived */
    assert_int_equal(load(&c, 2, 1, CACHE_NORMAL, 700, 900), MISS(1));
    /* 1 out; both ways pending now */
    assert_int_equal(load(&c, 3, 1, CACHE_NORMAL, 701, 900), MISS(1));
    /* streaming: passes without a line */
    assert_int_equal(load(&c, 4, 1, CACHE_NORMAL, 702, 950), MISS(1));
    assert_false(cache_l1_has(&c, 4, 1));
    c.streaming = false;
    assert_int_equal(load(&c, 4, 1, CACHE_NORMAL, 703, 950), 0xffff); /* Fermi: waits for a way */
    assert_int_equal(load(&c, 4, 1, CACHE_NORMAL, 900, 950), MISS(1));
    cache_l1_free(&c);
}

static void test_evict_first_and_last(void **state)
{
    (void)state;
    struct cache_l1 c = make(1, 3, 32);
    at_once(&c, 1, 1, CACHE_LAST);   /* 1L */
    at_once(&c, 2, 1, CACHE_NORMAL); /* 2 1L */
    at_once(&c, 3, 1, CACHE_FIRST);  /* 3F 2 1L */
    at_once(&c, 4, 1, CACHE_NORMAL); /* 3F is the victim though youngest */
    assert_true(cache_l1_has(&c, 1, 1));
    assert_true(cache_l1_has(&c, 2, 1));
    assert_true(!cache_l1_has(&c, 3, 1));
    at_once(&c, 5, 1, CACHE_NORMAL); /* 2 out: oldest normal; 1L stays */
    at_once(&c, 6, 1, CACHE_NORMAL); /* 4 out */
    assert_true(cache_l1_has(&c, 1, 1));
    assert_true(!cache_l1_has(&c, 2, 1));
    assert_true(!cache_l1_has(&c, 4, 1));
    cache_l1_free(&c);
}

static void test_unchanged_and_last_use(void **state)
{
    (void)state;
    struct cache_l1 c = make(1, 2, 32);
    at_once(&c, 1, 1, CACHE_NORMAL);
    at_once(&c, 2, 1, CACHE_NORMAL);    /* 2 1 */
    at_once(&c, 1, 1, CACHE_UNCHANGED); /* a hit, but 1 stays oldest */
    at_once(&c, 3, 1, CACHE_NORMAL);
    assert_false(cache_l1_has(&c, 1, 1));                        /* 3 2 */
    assert_int_equal(at_once(&c, 3, 1, CACHE_LAST_USE), HIT(1)); /* 3 was needed for the last time */
    at_once(&c, 4, 1, CACHE_NORMAL);
    assert_true(cache_l1_has(&c, 2, 1));
    assert_true(!cache_l1_has(&c, 3, 1));
    cache_l1_free(&c);
}

static void test_no_allocate(void **state)
{
    (void)state;
    struct cache_l1 c = make(1, 2, 32);
    at_once(&c, 1, 1, CACHE_NORMAL);
    /* hits what another load brought */
    assert_int_equal(at_once(&c, 1, 1, CACHE_TRANSIT), HIT(1));
    /* brings nothing that could be found */
    assert_int_equal(load(&c, 2, 1, CACHE_TRANSIT, 20, 50), MISS(1));
    assert_int_equal(load(&c, 2, 1, CACHE_TRANSIT, 30, 0), MISS(1));
    assert_int_equal(load(&c, 3, 1, CACHE_NORMAL, 100, 100), MISS(1)); /* the free slot */
    assert_true(cache_l1_has(&c, 1, 1));
    assert_int_equal(load(&c, 4, 1, CACHE_BYPASS, 110, 0), MISS(1));
    assert_int_equal(load(&c, 1, 1, CACHE_BYPASS, 110, 0), MISS(1)); /* bypass does not look */
    assert_true(cache_l1_has(&c, 1, 1));
    assert_true(cache_l1_has(&c, 3, 1));
    assert_int_equal(load(&c, 1, 1, CACHE_DROP, 120, 0), MISS(1)); /* volatile drops the copy */
    assert_false(cache_l1_has(&c, 1, 1));
    at_once(&c, 5, 1, CACHE_NORMAL);
    /* but a sector of a line that is there stays with it */
    assert_int_equal(load(&c, 5, 2, CACHE_TRANSIT, 130, 130), MISS(2));
    assert_true(cache_l1_has(&c, 5, 3));
    cache_l1_free(&c);
}

static void test_stores(void **state)
{
    (void)state;
    struct cache_l1 keep = make(1, 2, 32), evict = make(1, 2, 32);
    evict.update_on_store = false;
    at_once(&keep, 1, 3, CACHE_NORMAL);
    at_once(&evict, 1, 3, CACHE_NORMAL);
    cache_l1_store(&keep, 1, 1, false, 0);
    cache_l1_store(&evict, 1, 1, false, 0);
    cache_l1_store(&keep, 2, 1, false, 0); /* no write allocation */
    assert_true(cache_l1_has(&keep, 1, 3));
    assert_true(!cache_l1_has(&keep, 2, 1));
    assert_true(!cache_l1_has(&evict, 1, 1));
    assert_true(cache_l1_has(&evict, 1, 2));
    cache_l1_free(&keep);
    cache_l1_free(&evict);
}

/* What bypasses holds a line until its data are through; then that place goes first. */
static void test_transit(void **state)
{
    (void)state;
    struct cache_l1 c = make(1, 2, 32);
    c.transit = true;
    at_once(&c, 1, 1, CACHE_NORMAL);                                  /* 1     */
    assert_int_equal(load(&c, 7, 1, CACHE_BYPASS, 20, 100), MISS(1)); /* . 1   */
    assert_true(cache_l1_has(&c, 1, 1));
    assert_true(!cache_l1_has(&c, 7, 1));
    /* . .   (1 out: the other is on its way) */
    assert_int_equal(load(&c, 8, 1, CACHE_TRANSIT, 30, 110), MISS(1));
    assert_false(cache_l1_has(&c, 1, 1));
    assert_int_equal(load(&c, 2, 1, CACHE_NORMAL, 105, 120), MISS(1)); /* 2 .   */
    assert_int_equal(load(&c, 3, 1, CACHE_NORMAL, 125, 130), MISS(1)); /* 2 3   */
    assert_true(cache_l1_has(&c, 2, 1));
    assert_true(cache_l1_has(&c, 3, 1));
    cache_l1_free(&c);
}

/* Stores that make lines displace what loads brought; sectors written whole can be read. */
static void test_store_lines(void **state)
{
    (void)state;
    struct cache_l1 c = make(1, 2, 32);
    c.store_lines = true;
    at_once(&c, 1, 1, CACHE_NORMAL);
    at_once(&c, 2, 1, CACHE_NORMAL);
    cache_l1_store(&c, 3, 5, false, 20); /* 3 2   */
    assert_int_equal(load(&c, 3, 7, CACHE_NORMAL, 30, 30), HIT(5) | MISS(2));
    assert_false(cache_l1_has(&c, 1, 1));
    cache_l1_store(&c, 4, 1, true, 40); /* 4 3   */
    assert_false(cache_l1_has(&c, 2, 1));
    assert_int_equal(load(&c, 4, 1, CACHE_NORMAL, 50, 50), MISS(1));
    cache_l1_free(&c);
}

/* Runs of `sets` consecutive lines cover every set once, whatever the hash does; (set, tag) is unique.
 */
static void test_hash_covers(void **state)
{
    (void)state;
    const uint32_t sizes[] = { 1, 8, 56, 512, 384 };
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        struct cache_l1 c = make(sizes[k], 4, 32);
        c.hashed = true;
        assert_int_equal(c.sets, sizes[k]);
        for (uint64_t base = 0; base < 20; base++) {
            uint8_t seen[512] = { 0 };
            for (uint64_t i = 0; i < sizes[k]; i++) {
                uint64_t tag;
                uint32_t set = cache_l1_set(&c, (base * 977) * sizes[k] + i, &tag);
                assert_true(set < sizes[k]);
                assert_true(tag == base * 977 + 1);
                assert_int_equal(seen[set]++, 0);
            }
        }
        cache_l1_free(&c);
    }
}

/* ---- brute force ---- */
enum { REF_SETS = 8, REF_WAYS = 4 };
struct ref_line {
    uint64_t line;
    uint8_t valid;
    enum cache_alloc how;
    uint64_t used;
};
struct ref {
    struct ref_line v[REF_SETS][REF_WAYS];
    size_t n[REF_SETS];
    uint64_t clock;
};

static int ref_rank(const struct ref_line *l)
{
    return l->how == CACHE_FIRST ? 0 : l->how == CACHE_LAST ? 2 : 1;
}

static unsigned ref_load(struct ref *r, uint64_t line, unsigned sectors, enum cache_alloc how)
{
    size_t set = line % REF_SETS;
    struct ref_line *v = r->v[set];
    for (size_t i = 0; i < r->n[set]; i++) {
        if (v[i].line != line)
            continue;
        unsigned hit = sectors & v[i].valid, miss = sectors & ~hit;
        v[i].valid |= (uint8_t)sectors;
        if (how != CACHE_UNCHANGED)
            v[i].used = ++r->clock;
        if (how == CACHE_LAST)
            v[i].how = CACHE_LAST;
        return HIT(hit) | MISS(miss);
    }
    size_t at = r->n[set];
    if (at == REF_WAYS) {
        at = 0;
        for (size_t i = 1; i < REF_WAYS; i++) {
            int a = ref_rank(&v[i]), b = ref_rank(&v[at]);
            if (a < b || (a == b && v[i].used < v[at].used))
                at = i;
        }
    } else {
        r->n[set]++;
    }
    v[at] = (struct ref_line){ line, (uint8_t)sectors, how == CACHE_UNCHANGED ? CACHE_NORMAL : how,
                               ++r->clock };
    return MISS(sectors);
}

static void test_against_reference(void **state)
{
    (void)state;
    struct cache_l1 c = make(REF_SETS, REF_WAYS, 32);
    static struct ref r;
    memset(&r, 0, sizeof r);
    const enum cache_alloc hows[] = { CACHE_NORMAL, CACHE_NORMAL, CACHE_FIRST, CACHE_LAST,
                                      CACHE_UNCHANGED };
    for (uint64_t i = 0; i < 200000; i++) {
        uint64_t z = base_splitmix(7, i);
        uint64_t line = (z & 15) < 12 ? z >> 8 & 63 : z >> 8 & 1023;
        unsigned sectors = (unsigned)(z >> 40 & 15);
        enum cache_alloc how = hows[(z >> 50) % ARRAY_LEN(hows)];
        if (!sectors)
            continue;
        assert_int_equal(at_once(&c, line, sectors, how), ref_load(&r, line, sectors, how));
    }
    cache_l1_free(&c);
}

/* ---- L2 ---- */
static struct cache_l2_outcome l2(struct cache_l2 *c, uint64_t line, unsigned sectors,
                                  enum cache_alloc how, unsigned fetch, bool write)
{
    struct cache_l2_request r = { .line = line,
                                  .sectors = (uint8_t)sectors,
                                  .alloc = (uint8_t)how,
                                  .fetch = (uint8_t)fetch,
                                  .write = write };
    struct cache_l2_outcome o;
    cache_l2_access(c, &r, &o);
    return o;
}

static void test_l2(void **state)
{
    (void)state;
    struct cache_l2 c;
    assert_int_equal(init_exact(&c, BYTES(1, 2), 2, true), ST_OK);
    struct cache_l2_outcome o = l2(&c, 1, 1, CACHE_NORMAL, 3, false);
    assert_int_equal(o.miss, 3); /* 64 bytes come together */
    assert_int_equal(l2(&c, 1, 2, CACHE_NORMAL, 0, false).hit, 2);
    assert_int_equal(cache_l2_probe(&c, 0, 1, 15), 3);
    assert_int_equal(l2(&c, 2, 4, CACHE_NORMAL, 0, true).miss, 0); /* a write needs nothing from DRAM */
    o = l2(&c, 3, 1, CACHE_NORMAL, 0, false);                      /* 1 out, clean */
    assert_int_equal(o.written, 0);
    o = l2(&c, 4, 1, CACHE_NORMAL, 0, false); /* 2 out, one dirty sector */
    assert_int_equal(o.written, 4);
    cache_l2_free(&c);
}

static void test_l2_policies(void **state)
{
    (void)state;
    struct cache_l2 c;
    assert_int_equal(init_exact(&c, BYTES(1, 2), 2, false), ST_OK);
    l2(&c, 1, 1, CACHE_LAST, 0, false);
    for (uint64_t i = 10; i < 20; i++)
        l2(&c, i, 1, CACHE_NORMAL, 0, false);
    assert_int_equal(cache_l2_probe(&c, 0, 1, 1), 1); /* evict_last survives a stream */
    l2(&c, 1, 1, CACHE_FIRST, 0, false);
    l2(&c, 30, 1, CACHE_NORMAL, 0, false);
    assert_int_equal(cache_l2_probe(&c, 0, 1, 1), 0); /* evict_first is the next victim */
    cache_l2_free(&c);
}

/* ---- sectors that are stored in part ---- */
static const uint64_t FIRST_HALF = 0x00ff, SECOND_HALF = 0xff00;

static void test_parts(void **state)
{
    (void)state;
    struct cache_parts p;
    assert_int_equal(cache_parts_init(&p, 2), ST_OK);
    assert_int_equal(cache_parts_wait(&p, 0, 15), 0); /* line 0 is none yet */
    assert_int_equal(cache_parts_store(&p, 0, 1, FIRST_HALF).sectors, 0);
    assert_int_equal(cache_parts_wait(&p, 0, 15), 1);
    assert_int_equal(cache_parts_store(&p, 0, 2, FIRST_HALF << 16).sectors, 0);
    assert_int_equal(cache_parts_wait(&p, 0, 15), 3);
    assert_int_equal(cache_parts_store(&p, 0, 0, SECOND_HALF).sectors, 0); /* the parts come together */
    assert_int_equal(cache_parts_wait(&p, 0, 15), 2);
    assert_int_equal(cache_parts_store(&p, 0, 0, FIRST_HALF << 16).sectors, 0); /* the same once more */
    assert_int_equal(cache_parts_wait(&p, 0, 15), 2);
    assert_int_equal(cache_parts_end(&p, 0, 15), 2); /* somebody reads it */
    assert_int_equal(cache_parts_end(&p, 0, 15), 0);
    assert_int_equal(cache_parts_store(&p, 0, 1, SECOND_HALF).sectors, 0); /* it had gone: all anew */
    assert_int_equal(cache_parts_wait(&p, 0, 15), 1);
    assert_int_equal(cache_parts_store(&p, 7, 15, ~UINT64_C(0)).sectors, 0); /* whole */
    assert_int_equal(cache_parts_wait(&p, 7, 15), 0);
    assert_int_equal(cache_parts_store(&p, 8, 4, SECOND_HALF << 32).sectors,
                     0); /* for the first, done, one */
    struct cache_part gone = cache_parts_store(&p, 9, 8, SECOND_HALF << 48);
    assert_int_equal(gone.line, 0);
    assert_int_equal(gone.sectors, 1);
    assert_int_equal(cache_parts_wait(&p, 0, 15), 0);
    assert_int_equal(cache_parts_wait(&p, 8, 15), 4);
    assert_int_equal(cache_parts_wait(&p, 9, 15), 8);
    cache_parts_free(&p);
    assert_int_equal(cache_parts_init(&p, 0), ST_OK); /* without room nothing waits */
    assert_int_equal(cache_parts_store(&p, 5, 3, FIRST_HALF).sectors, 3);
    cache_parts_free(&p);
}

/* A queue of lines against a list of them. */
static void test_many_parts(void **state)
{
    (void)state;
    enum { ROOM = 50, LINES = 400 };
    struct cache_parts p;
    assert_int_equal(cache_parts_init(&p, ROOM), ST_OK);
    for (uint64_t k = 0; k < LINES; k++) {
        struct cache_part gone = cache_parts_store(&p, k * 977, 2, FIRST_HALF << 16);
        assert_int_equal(gone.sectors, k < ROOM ? 0 : 2);
        if (k >= ROOM)
            assert_int_equal(gone.line, (k - ROOM) * 977);
    }
    for (uint64_t k = 0; k < LINES; k++)
        assert_int_equal(cache_parts_wait(&p, k * 977, 15), k < LINES - ROOM ? 0 : 2);
    cache_parts_free(&p);
}

/* ---- L2 of a sample: what a few SMs see ---- */
static const struct cache_places TWO = { .n = 2, .apart = 1 };
/* 0 and 1 lie beside each other, 2 and 3 too, the pairs far apart. */
static const struct cache_places FOUR = {
    .n = 4, .apart = 1, .near_of = { { 2 }, { 1 }, { 8 }, { 4 } }, .far_of = { 12, 12, 3, 3 }
};

static unsigned sample_read(struct cache_l2 *c, unsigned place, uint64_t line,
                            struct cache_l2_outcome *o)
{
    struct cache_l2_request r = {
        .line = line, .sectors = 15, .fetch = 15, .place = (uint8_t)place, .at = 1000
    };
    cache_l2_access(c, &r, o);
    return o->hit;
}

static unsigned count_hits(struct cache_l2 *c, unsigned place, uint64_t from, uint64_t n)
{
    struct cache_l2_outcome o;
    unsigned hits = 0;
    for (uint64_t i = 0; i < n; i++)
        hits += sample_read(c, place, from + i, &o) == 15;
    return hits;
}

/* 16384 lines for 32 SMs of which 2 are simulated: a private line counts 16 times, and the depth at
 * which one is gone lies within 20 % of the capacity. */
static void test_sample_capacity(void **state)
{
    (void)state;
    struct cache_l2 c;
    struct cache_l2_outcome o;
    assert_int_equal(init_sample(&c, 16384 * 128, 32, &TWO, NULL), ST_OK);
    assert_int_equal(count_hits(&c, 0, 0, 800), 0);
    sample_read(&c, 0, 800, &o);
    assert_true(o.weight == 16);
    assert_int_equal(count_hits(&c, 0, 0, 800), 800);     /* 801 * 16 lines: below 80 % */
    assert_int_equal(count_hits(&c, 1, 100000, 1250), 0); /* 1250 * 16: beyond 120 % */
    for (uint64_t i = 0; i < 800; i++)
        assert_int_equal(cache_l2_probe(&c, 0, i, 15), 0);
    /* 1000 * 16: about half are left */
    assert_in_range(count_hits(&c, 1, 100000 + 250, 1000), 350, 650);
    cache_l2_free(&c);
}

/* LRU: a loop beyond the cache finds nothing, one within it everything. */
static void test_loops(void **state)
{
    (void)state;
    const struct {
        uint64_t lines;
        unsigned least, most;
    } v[] = { { 6000, 99, 100 }, { 10650, 0, 4 } };
    for (size_t k = 0; k < ARRAY_LEN(v); k++) {
        struct cache_l2 exact, sample;
        unsigned hits[2] = { 0, 0 };
        assert_int_equal(init_exact(&exact, 8192 * 128, 16, true), ST_OK);
        assert_int_equal(init_sample(&sample, 8192 * 128, 32, &FOUR, NULL), ST_OK);
        for (unsigned round = 0; round < 4; round++) {
            for (uint64_t i = 0; i < v[k].lines; i++)
                hits[0] += l2(&exact, i, 15, CACHE_NORMAL, 15, false).hit == 15 && round;
            unsigned found = count_hits(&sample, 0, 0, v[k].lines / 8);
            hits[1] += round ? found : 0;
        }
        assert_in_range(100 * hits[0] / (3 * v[k].lines), v[k].least, v[k].most);
        assert_in_range(100 * hits[1] / (3 * (v[k].lines / 8)), v[k].least, v[k].most);
        cache_l2_free(&exact);
        cache_l2_free(&sample);
    }
}

/* Evict-first lines go before normal ones, however young. */
static void test_sample_classes(void **state)
{
    (void)state;
    struct cache_l2 c;
    struct cache_l2_outcome o;
    assert_int_equal(init_sample(&c, 16384 * 128, 32, &TWO, NULL), ST_OK);
    count_hits(&c, 0, 0, 700);
    for (uint64_t i = 0; i < 2000; i++) {
        struct cache_l2_request r = {
            .line = 50000 + i, .sectors = 15, .fetch = 15, .alloc = CACHE_FIRST
        };
        cache_l2_access(&c, &r, &o);
    }
    assert_int_equal(count_hits(&c, 0, 0, 700), 700);
    cache_l2_free(&c);
}

static void test_warm(void **state)
{
    (void)state;
    struct cache_l2 exact, sample;
    /* twice the cache, and as much that it is copied from */
    struct cache_range r = { 1000, 16384, true };
    assert_int_equal(init_exact(&exact, 8192 * 128, 16, true), ST_OK);
    assert_int_equal(init_sample(&sample, 8192 * 128, 32, &FOUR, NULL), ST_OK);
    cache_l2_warm(&exact, &r, 1);
    unsigned first = 0, last = 0;
    for (uint64_t i = 0; i < 8192; i++) {
        first += cache_l2_probe(&exact, 0, r.first + i, 15) == 15;
        last += cache_l2_probe(&exact, 0, r.first + 8192 + i, 15) == 15;
    }
    assert_int_equal(first, 0);                               /* what was copied last is left */
    assert_in_range(last, 4096 * 85 / 100, 4096 * 102 / 100); /* sets are not filled alike */
    cache_l2_warm(&sample, &r, 1);
    assert_int_equal(cache_l2_probe(&sample, 0, r.first, 15), 0);
    assert_int_equal(cache_l2_probe(&sample, 0, r.first + r.lines - 5000, 15), 0);
    assert_int_equal(cache_l2_probe(&sample, 0, r.first + r.lines - 100, 15), 15);
    /* does not fit: nothing is left in time */
    r.restored = false;
    assert_int_equal(cache_l2_probe(&sample, 0, r.first + r.lines - 100, 15), 0);
    r.lines = 4000; /* fits: everything is there */
    cache_l2_warm(&exact, &r, 1);
    assert_int_equal(cache_l2_probe(&exact, 0, 1234567, 15), 15);
    cache_l2_free(&exact);
    cache_l2_free(&sample);
}

/* With a share of an eighth, evict-first lines displace only each other beyond it, where nothing else is
 * asked for too; half lines count half. A younger normal line is in their way. */
static unsigned first_hits(uint64_t lines, uint8_t sectors, bool others)
{
    struct cache_l2 c;
    struct cache_l2_outcome o;
    unsigned hits = 0;
    assert_int_equal(init_sample(&c, 16384 * 128, 32, &TWO, NULL), ST_OK);
    shape(&c, 0.125);
    for (unsigned round = 0; round < 3; round++)
        for (uint64_t i = 0; i < lines; i++) {
            struct cache_l2_request r = {
                .line = i, .sectors = sectors, .fetch = sectors, .alloc = CACHE_TRANSIT
            };
            cache_l2_access(&c, &r, &o);
            hits += o.hit == sectors && round;
            if (others)
                sample_read(&c, 0, 100000 * (round + 1) + i, &o);
        }
    cache_l2_free(&c);
    return (unsigned)(100 * hits / (2 * lines));
}

static void test_first_share(void **state)
{
    (void)state;
    assert_int_equal(first_hits(90, 15, false), 100); /* 90 * 16 of 2048 lines */
    assert_in_range(first_hits(170, 15, false), 0, 2);
    assert_int_equal(first_hits(170, 3, false), 100);
    assert_in_range(first_hits(90, 15, true), 0, 2);
    struct cache_l2 exact;
    assert_int_equal(init_exact(&exact, BYTES(1, 16), 16, false), ST_OK);
    shape(&exact, 0.125);
    for (uint64_t i = 0; i < 3; i++)
        l2(&exact, i, 15, CACHE_TRANSIT, 15, false);
    assert_int_equal(cache_l2_probe(&exact, 0, 0, 15), 0); /* two of sixteen ways */
    assert_int_equal(cache_l2_probe(&exact, 0, 1, 15) + cache_l2_probe(&exact, 0, 2, 15), 30);
    cache_l2_free(&exact);
}

/* Four places read 2048 lines: all the same, those of their neighbour too, or each its own. Misses per
 * first touch. */
static double miss_share(unsigned apart)
{
    struct cache_l2 c;
    struct cache_l2_outcome o;
    struct sim_mem *mem = sim_mem_new(1u << 30);
    uint64_t first = sim_mem_alloc(mem, 4 * 2048 * 128, "table") >> 7, misses = 0;
    assert_int_equal(init_sample(&c, 1u << 24, 128, &FOUR, mem), ST_OK);
    for (uint64_t i = 0; i < 2048; i++)
        for (unsigned p = 0; p < 4; p++) {
            sample_read(&c, p, first + (uint64_t)(p / apart) * 2048 + i, &o);
            misses += o.miss != 0;
        }
    cache_l2_free(&c);
    sim_mem_free(mem);
    return (double)misses / (4 * 2048);
}

static void test_sample_shared(void **state)
{
    (void)state;
    assert_true(miss_share(1) == 1);
    double pair = miss_share(2), all = miss_share(4);
    assert_true(pair > 0.2);
    assert_true(pair < 0.5); /* the other neighbour of each brings lines as well */
    assert_true(all < 0.02); /* one of 128 fetches it */
}

/* What place `p` of 128 asks for as its k-th line. */
enum { DRAWN_EVENLY, DRAWN_SKEWED, FEW_HOT, IN_STEP, DRAWS };
static uint64_t draw(int kind, unsigned p, unsigned k)
{
    uint64_t z = base_splitmix(5, (uint64_t)p << 20 | k);
    double u = (double)(z >> 11) / 9007199254740992.0;
    switch (kind) {
    case DRAWN_EVENLY: return (uint64_t)(262144 * u);
    case DRAWN_SKEWED: return (uint64_t)(262144 * u * u * u);
    case FEW_HOT: return z % 16 ? 1024 + 8192 * p + k / 2 : z / 16 % 1024;
    default: return k;
    }
}

/* Misses per access of 128 places by turns, 8192 draws each, nothing leaves L2; and what four of them
 * tell. */
static double drawn_misses(int kind, bool sample)
{
    struct cache_l2 c;
    struct cache_l2_outcome o;
    struct sim_mem *mem = sim_mem_new(1u << 30);
    uint64_t first = sim_mem_alloc(mem, 1100000ull * 128, "table") >> 7;
    unsigned places = sample ? 4 : 128, misses = 0;
    assert_int_equal(sample ? init_sample(&c, 1u << 30, 128, &FOUR, mem)
                            : init_exact(&c, 1u << 28, 16, false),
                     ST_OK);
    for (unsigned k = 0; k < 8192; k++)
        for (unsigned p = 0; p < places; p++) {
            struct cache_l2_request r = { .line = first + draw(kind, p * (128 / places), k),
                                          .sectors = 15,
                                          .fetch = 15,
                                          .place = (uint8_t)(sample ? p : 0) };
            cache_l2_access(&c, &r, &o);
            misses += o.miss != 0;
        }
    cache_l2_free(&c);
    sim_mem_free(mem);
    return misses / (8192.0 * places);
}

/* Four places learn late what is shared by few at first: a sample says too many misses, never too few.
 */
static void test_sample_draws(void **state)
{
    static const double most[DRAWS] = {
        [DRAWN_EVENLY] = 0.25, [DRAWN_SKEWED] = 0.42, [FEW_HOT] = 0.02, [IN_STEP] = 0.02
    };
    (void)state;
    for (int kind = 0; kind < DRAWS; kind++) {
        double exact = drawn_misses(kind, false), told = drawn_misses(kind, true);
        if (fabs(exact - told) > most[kind])
            fail_msg("draws of kind %d: %.3f misses an access, a sample says %.3f", kind, exact, told);
    }
}

/* A table of less than 4 KB, wherever it lies, is known to be everybody's: asked for at once by all, it
 * is hot. */
static void test_small_table(void **state)
{
    (void)state;
    struct cache_l2 c;
    struct cache_l2_outcome o;
    struct sim_mem *mem = sim_mem_new(1u << 30);
    sim_mem_alloc(mem, 1000, "before");
    uint64_t first = sim_mem_alloc(mem, 1764, "table") >> 7;
    assert_int_equal(init_sample(&c, 1u << 24, 128, &FOUR, mem), ST_OK);
    for (unsigned round = 0; round < 400; round++)
        for (unsigned p = 0; p < 4; p++)
            sample_read(&c, p, first + round % 13, &o);
    assert_true(cache_l2_together(&c, first) > 0.9);
    cache_l2_free(&c);
    sim_mem_free(mem);
}

static void test_faults(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 4; n++) {
        struct cache_l1 c = { 0 };
        struct cache_l2 d = { 0 };
        base_fail_after(n);
        enum status a = cache_l1_init(&c, 4096, 4, 32), b = init_sample(&d, 4096, 4, &TWO, NULL);
        base_fail_after(0);
        assert_true(a == ST_NOMEM || b == ST_NOMEM);
        cache_l1_free(&c);
        cache_l2_free(&d);
    }
}

/* Tags over a pool: 512 sets of 4 tags, 40 lines in four banks, 8 of them spare. Returns how many of n
 * lines `step` apart are found again. */
static unsigned found_again(unsigned n, uint64_t step)
{
    struct cache_pool_traits pool = eight_spare();
    struct cache_l1 c;
    assert_int_equal(cache_l1_init_pool(&c, 40 * 128, 2048, 4, 32, &pool), ST_OK);
    unsigned found = 0;
    for (uint32_t k = 0; k < 8 * n; k++)
        found = (k % n ? found : 0) +
                (load(&c, 4096 + k % n * step, 1, CACHE_NORMAL, 100 * k, 100 * k + 50) & 1);
    cache_l1_free(&c);
    return found;
}

static void test_pool_capacity(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 12; k++)
        assert_int_equal(found_again(32, 1ull << k), 32);
    /* what is over loses more than itself, but not all */
    assert_in_range(found_again(36, 1), 1, 32);
    assert_int_equal(found_again(128, 1), 0);
}

/* One line more than a bank keeps, in turn: each miss shows where the hand went. It goes from set to
 * set, and hits hold nothing. */
static void test_pool_hand(void **state)
{
    struct cache_pool_traits pool = eight_spare();
    (void)state;
    struct cache_l1 c;
    uint64_t line[9], tag;
    uint32_t n = 0, t = 0, last = 0, misses = 0, wraps = 0;
    assert_int_equal(cache_l1_init_pool(&c, 40 * 128, 2048, 4, 32, &pool), ST_OK);
    for (uint64_t l = 0; n < 9; l += 5)
        if (cache_l1_set(&c, l, &tag) % CACHE_BANKS == 1)
            line[n++] = l;
    for (uint32_t k = 0; k < 900; k++, t += 100) {
        uint32_t set = cache_l1_set(&c, line[k % 9], &tag);
        if (load(&c, line[k % 9], 1, CACHE_NORMAL, t, t + 50) & 1 || k < 90)
            continue;
        if (misses++)
            wraps += set < last;
        last = set;
    }
    assert_true(misses > 90);
    assert_in_range(wraps, misses / 9 - 1, misses / 9 + 1);
    cache_l1_free(&c);
}

/* Ten lines of a bank on their way are all its data: the next waits for the first of them. */
static void test_pool_wait(void **state)
{
    struct cache_pool_traits pool = eight_spare();
    (void)state;
    struct cache_l1 c;
    struct cache_answer a;
    uint64_t tag, line = 0;
    assert_int_equal(cache_l1_init_pool(&c, 40 * 128, 2048, 4, 32, &pool), ST_OK);
    c.transit = true;
    for (uint32_t n = 0; n < 10; line++) {
        if (cache_l1_set(&c, line, &tag) % CACHE_BANKS)
            continue;
        cache_l1_load(&c, line, 1, n % 2 ? CACHE_BYPASS : CACHE_NORMAL, 10, &a);
        assert_non_null(a.line);
        cache_l1_fill(a.line, 500 - n++);
    }
    while (cache_l1_set(&c, line, &tag) % CACHE_BANKS)
        line++;
    cache_l1_load(&c, line, 1, CACHE_NORMAL, 20, &a);
    assert_int_equal(a.stall, 491);
    cache_l1_load(&c, line, 1, CACHE_BYPASS, 20, &a);
    assert_int_equal(a.stall, 491);
    cache_l1_load(&c, line, 1, CACHE_NORMAL, 600, &a);
    assert_int_equal(a.stall, 0);
    assert_int_equal(a.miss, 1);
    cache_l1_free(&c);
}

/* Data that loads have not read yet, here until the cycles 700 to 709, are nobody else's, though their
 * lines go for a miss at 600. They are free again in steps of 16 cycles. */
static void test_pool_held(void **state)
{
    struct cache_pool_traits pool = eight_spare();
    (void)state;
    struct cache_l1 c;
    struct cache_answer a;
    uint64_t tag, line = 0;
    assert_int_equal(cache_l1_init_pool(&c, 40 * 128, 2048, 4, 32, &pool), ST_OK);
    for (uint32_t n = 0; n < 10; line++) {
        if (cache_l1_set(&c, line, &tag) % CACHE_BANKS)
            continue;
        cache_l1_load(&c, line, 1, CACHE_NORMAL, 10, &a);
        assert_non_null(a.line);
        cache_l1_fill(a.line, 500);
        cache_l1_hold(a.line, 600);
        cache_l1_hold(a.line, 700 + n++);
        cache_l1_hold(a.line, 650);
    }
    while (cache_l1_set(&c, line, &tag) % CACHE_BANKS)
        line++;
    assert_true(cache_l1_has(&c, 0, 1));
    cache_l1_load(&c, line, 1, CACHE_NORMAL, 600, &a);
    assert_int_equal(a.stall, 704);
    assert_false(cache_l1_has(&c, 0, 1));
    cache_l1_load(&c, line, 1, CACHE_NORMAL, 703, &a);
    assert_int_equal(a.stall, 704);
    assert_int_equal(c.pool.used[0], 10);
    cache_l1_load(&c, line, 1, CACHE_NORMAL, 704, &a);
    assert_true(!a.stall);
    assert_true(a.miss);
    assert_true(a.line);
    assert_int_equal(c.pool.used[0], 10 - 4 + 1); /* those of 700 to 703, and this one */
    cache_l1_load(&c, line, 1, CACHE_NORMAL, 100000, &a);
    assert_int_equal(c.pool.used[0], 1);
    cache_l1_free(&c);
}

/* Four lines of a set on their way: the fifth passes by, with data and no tag, and is not found
 * afterwards. */
static void test_pool_full_set(void **state)
{
    struct cache_pool_traits pool = eight_spare();
    (void)state;
    struct cache_l1 c;
    struct cache_answer a;
    uint64_t tag, line[5], l = 0;
    assert_int_equal(cache_l1_init_pool(&c, 40 * 128, 64, 4, 32, &pool), ST_OK);
    c.transit = true;
    for (unsigned n = 0; n < 5; l++)
        if (cache_l1_set(&c, l, &tag) == 0)
            line[n++] = l;
    for (unsigned k = 0; k < 5; k++) {
        cache_l1_load(&c, line[k], 1, CACHE_NORMAL, 10, &a);
        assert_true(a.miss);
        assert_true(a.line);
        assert_true(!a.stall);
        cache_l1_fill(a.line, 100);
        assert_int_equal(a.line->tag == CACHE_TRANSIT_TAG, k == 4);
    }
    assert_int_equal(c.pool.used[0], 5);
    assert_int_equal(c.pool.flying, 1);
    for (unsigned k = 0; k < 5; k++)
        assert_int_equal(cache_l1_has(&c, line[k], 1), k < 4);
    cache_l1_load(&c, line[0], 1, CACHE_NORMAL, 200, &a);
    assert_true(a.hit);
    assert_true(!a.miss);
    assert_int_equal(c.pool.used[0], 4);
    cache_l1_free(&c);
}

static void test_pool_bypass(void **state)
{
    struct cache_pool_traits pool = eight_spare();
    (void)state;
    struct cache_l1 c;
    assert_int_equal(cache_l1_init_pool(&c, 40 * 128, 64, 4, 32, &pool), ST_OK);
    c.transit = c.forget = true;
    for (uint64_t k = 0; k < 24; k++)
        load(&c, k, 15, CACHE_NORMAL, (uint32_t)k, (uint32_t)k);
    for (uint64_t k = 0; k < 400; k++)
        load(&c, 1000 + k, 15, CACHE_BYPASS, (uint32_t)(100 + 100 * k), (uint32_t)(150 + 100 * k));
    /* one at a time has room beside them */
    for (uint64_t k = 0; k < 24; k++)
        assert_true(cache_l1_has(&c, k, 15));
    load(&c, 3, 15, CACHE_BYPASS, 60000, 60050);
    assert_false(cache_l1_has(&c, 3, 15));
    assert_int_equal(c.pool.used[0] + c.pool.used[1] + c.pool.used[2] + c.pool.used[3] - c.pool.flying,
                     23);
    for (uint64_t k = 0; k < 40; k++)
        load(&c, 2000 + k, 15, CACHE_BYPASS, 70000, 70500);
    unsigned left = 0;
    for (uint64_t k = 0; k < 24; k++)
        left += cache_l1_has(&c, k, 15);
    assert_in_range(left, 0, 8); /* forty on their way at once have not */
    cache_l1_free(&c);
}

/* A line that a bypassing load drops on its way is not found, though who waits for its data gets them;
 * the next load that keeps what it brings asks again. */
static void test_dropped_on_its_way(void **state)
{
    struct cache_pool_traits pool = eight_spare();
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        struct cache_l1 c = make(16, 4, 32);
        if (shared) {
            cache_l1_free(&c);
            assert_int_equal(cache_l1_init_pool(&c, 40 * 128, 64, 4, 32, &pool), ST_OK);
        }
        c.transit = c.forget = true;
        assert_int_equal(load(&c, 3, 1, CACHE_NORMAL, 10, 300), MISS(1));
        /* another sector of the line does it too */
        assert_int_equal(load(&c, 3, 2, CACHE_BYPASS, 20, 310), MISS(2));
        assert_int_equal(load(&c, 3, 1, CACHE_NORMAL, 30, 320), MISS(1));
        assert_int_equal(load(&c, 3, 1, CACHE_NORMAL, 40, 0), PENDING(1));
        /* dropped, passing by, kept */
        if (shared)
            assert_int_equal(c.pool.used[0] + c.pool.used[1] + c.pool.used[2] + c.pool.used[3], 3);
        assert_int_equal(load(&c, 3, 1, CACHE_NORMAL, 330, 0), HIT(1));
        if (shared)
            assert_int_equal(c.pool.used[0] + c.pool.used[1] + c.pool.used[2] + c.pool.used[3], 1);
        assert_int_equal(load(&c, 9, 1, CACHE_NORMAL, 340, 600), MISS(1));
        assert_int_equal(load(&c, 9, 1, CACHE_DROP, 350, 0), MISS(1));
        assert_int_equal(load(&c, 9, 1, CACHE_NORMAL, 700, 900), MISS(1));
        cache_l1_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dropped_on_its_way),
        cmocka_unit_test(test_pool_capacity),
        cmocka_unit_test(test_pool_hand),
        cmocka_unit_test(test_pool_wait),
        cmocka_unit_test(test_pool_held),
        cmocka_unit_test(test_pool_full_set),
        cmocka_unit_test(test_pool_bypass),
        cmocka_unit_test(test_lru),
        cmocka_unit_test(test_sectors),
        cmocka_unit_test(test_pending),
        cmocka_unit_test(test_evict_first_and_last),
        cmocka_unit_test(test_unchanged_and_last_use),
        cmocka_unit_test(test_no_allocate),
        cmocka_unit_test(test_stores),
        cmocka_unit_test(test_transit),
        cmocka_unit_test(test_store_lines),
        cmocka_unit_test(test_hash_covers),
        cmocka_unit_test(test_against_reference),
        cmocka_unit_test(test_l2),
        cmocka_unit_test(test_l2_policies),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_many_parts),
        cmocka_unit_test(test_sample_capacity),
        cmocka_unit_test(test_sample_shared),
        cmocka_unit_test(test_sample_draws),
        cmocka_unit_test(test_small_table),
        cmocka_unit_test(test_first_share),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_sample_classes),
        cmocka_unit_test(test_warm),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
