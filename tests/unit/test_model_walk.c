/* Warps in time, by hand: a few warps with a few instructions, every cycle accounted for. */
#include "tests/support.h"

#include <math.h>

#include "engine/perfmodel/cache.h"
#include "engine/perfmodel/warp_sim.h"

/* Latencies 30, 200 and 500; no queues unless a test sets them. Each warp takes its steps from
 * script[warp], per CTA anew. Lines below 100 come from L2, others from DRAM. */
struct script {
    const struct model_walk_step *step;
    uint32_t n;
};
struct scene {
    const struct script *warp;
    uint32_t at[8][4];
};

static bool next(void *ctx, uint32_t cta, uint32_t warp, struct model_walk_step *out)
{
    struct scene *s = ctx;
    const struct script *w = &s->warp[warp];
    if (s->at[cta][warp] == w->n)
        return false;
    *out = w->step[s->at[cta][warp]++];
    return true;
}

static enum model_from beyond(void *ctx, const struct model_walk_line *l, unsigned sectors, float *dram)
{
    (void)ctx;
    *dram = l->line < 100 ? 0 : (float)__builtin_popcount(sectors);
    return l->line < 100 ? MODEL_FROM_L2 : MODEL_FROM_DRAM;
}

static struct model_walk_config plain(uint64_t ctas, uint32_t warps, uint32_t slots)
{
    return (struct model_walk_config){ .ctas = ctas,
                                       .unit_room = 2048,
                                       .unit_lines = 4,
                                       .merge_window = 48,
                                       .merge_answers = 4,
                                       .warps = warps,
                                       .slots = slots,
                                       .lat_l1 = 30,
                                       .lat_ro = 60,
                                       .lat_l2 = 200,
                                       .lat_dram = 500,
                                       .lat_shared = 20,
                                       .lookups = 1,
                                       .store_weight = 1,
                                       .partial_weight = 4,
                                       .dependent = 4 };
}

static const struct model_cache_config roomy = { .sets = 16, .ways = 4 };

static struct model_walked walk_in(const struct model_walk_config *c,
                                   const struct model_cache_config *l1,
                                   const struct model_cache_config *ro, const struct script *warp)
{
    struct scene s = { .warp = warp };
    struct model_cache *one = model_cache_new(l1), *two = ro ? model_cache_new(ro) : NULL;
    assert_non_null(one);
    struct model_walked w = model_walk(c, one, two, next, beyond, &s);
    model_cache_free(one);
    model_cache_free(two);
    return w;
}

static double walk(const struct model_walk_config *c, const struct script *warp)
{
    return walk_in(c, &roomy, NULL, warp).cycles;
}

#define STEP(...)                        \
    {                                    \
        .nlines = 1, .line = __VA_ARGS__ \
    }
static const struct model_walk_line a = { .line = 7, .sectors = 1 }, b = { .line = 9, .sectors = 1 },
                                    d = { .line = 107, .sectors = 1 },
                                    past = { .line = 7, .sectors = 15, .way = MODEL_WAY_PAST };

static void one_load_after_the_other(void **state)
{
    const struct model_walk_step both[] = { STEP(&a), STEP(&d, .waits = true) },
                                 apart[] = { STEP(&a), STEP(&d) },
                                 sums[] = { STEP(&a), STEP(&b, .waits = true, .before = 5) };
    struct model_walk_config c = plain(1, 1, 1);
    (void)state;
    struct model_walked w = walk_in(&c, &roomy, NULL, &(struct script){ both, 2 });
    assert_float_equal(w.cycles, 700, 1e-9); /* 200, then 500 */
    /* its own cycle of issue is no wait */
    assert_float_equal(w.waits[MODEL_FROM_L2], 199, 1e-9);
    assert_float_equal(w.waits[MODEL_FROM_DRAM], 499, 1e-9);
    assert_int_equal(w.lines, 2);
    assert_int_equal(w.missed, 2);
    /* one cycle apart, side by side */
    assert_float_equal(walk(&c, &(struct script){ apart, 2 }), 501, 1e-9);
    /* five instructions of four cycles between */
    assert_float_equal(walk(&c, &(struct script){ sums, 2 }), 420, 1e-9);
}

static void a_hit_on_a_line_under_way_waits_for_it(void **state)
{
    const struct model_walk_step load[] = { STEP(&a) }, late[] = { STEP(&a, .before = 100) };
    struct model_walk_config c = plain(1, 2, 1);
    (void)state;
    struct model_walked w = walk_in(&c, &roomy, NULL, (struct script[]){ { load, 1 }, { load, 1 } });
    assert_float_equal(w.cycles, 200, 1e-9);
    assert_int_equal(w.missed, 1);
    /* arrives at 200; asked for at 400, it is there */
    assert_float_equal(walk(&c, (struct script[]){ { load, 1 }, { late, 1 } }), 430, 1e-9);
}

static void the_last_wave_counts_whole(void **state)
{
    const struct model_walk_step s[] = { STEP(&past) };
    struct model_walk_config two = plain(3, 1, 2), three = plain(3, 1, 3);
    (void)state;
    assert_float_equal(walk(&two, &(struct script){ s, 1 }), 400, 2);
    assert_float_equal(walk(&three, &(struct script){ s, 1 }), 202, 1e-9);
    /* CTAs that do nothing make room at once */
    assert_float_equal(walk(&two, &(struct script){ s, 0 }), 0, 1e-9);
    /* both waves come so late */
    two.start = 100;
    assert_float_equal(walk(&two, &(struct script){ s, 1 }), 600, 2);
    /* the third CTA starts at 100 */
    three.start_turn = 50;
    assert_float_equal(walk(&three, &(struct script){ s, 1 }), 300, 1e-9);
}

static void units_queue(void **state)
{
    const struct model_walk_line ten[10] = { a, a, a, a, a, a, a, a, a, a };
    const struct model_walk_line crowd = { .line = 1, .sectors = 1, .crowd = 1, .way = MODEL_WAY_PAST };
    const struct model_walk_step wide[] = { { .line = ten, .nlines = 10 } }, four[] = { STEP(&past) },
                                 same[] = { STEP(&crowd) }, banks[] = { STEP(&a, .data = 32) };
    struct model_walk_config c = plain(1, 4, 1);
    (void)state;
    /* a line a cycle: the fourth instruction starts at 30, its last line is looked up at 39, long under
     * way */
    assert_float_equal(walk(&c, (struct script[]){ { wide, 1 }, { wide, 1 }, { wide, 1 }, { wide, 1 } }),
                       200, 1e-9);
    /* four sectors take 20 cycles: the fourth asks at 60 + 3 */
    c.l2_turn = 5;
    assert_float_equal(walk(&c, (struct script[]){ { four, 1 }, { four, 1 }, { four, 1 }, { four, 1 } }),
                       260, 1e-9);
    c.l2_ask = 2;
    assert_float_equal(walk(&c, (struct script[]){ { four, 1 }, { four, 1 }, { four, 1 }, { four, 1 } }),
                       266, 1e-9);
    c.l2_turn = c.l2_ask = 0;
    c.l2_hotspot_turn = 19;
    assert_float_equal(walk(&c, (struct script[]){ { same, 1 }, { same, 1 }, { same, 1 }, { same, 1 } }),
                       3 * 19 + 200, 1e-9);
    c.l2_hotspot_turn = 0;
    c.port_turn = 10; /* into this SM */
    assert_float_equal(walk(&c, (struct script[]){ { four, 1 }, { four, 1 }, { four, 1 }, { four, 1 } }),
                       3 * 40 + 200, 1e-9);
    /* banks hand out the data of one after the other: the last from 96 on */
    c = plain(1, 4, 1);
    c.lat_l2 = 40;
    assert_float_equal(
        walk(&c, (struct script[]){ { banks, 1 }, { banks, 1 }, { banks, 1 }, { banks, 1 } }), 96 + 30,
        1e-9);
}

/* Four schedulers, eight warps: each warp's instruction takes two cycles of its time, unless it waits
 * longer anyway. */
static void instructions_share_the_schedulers(void **state)
{
    const struct model_walk_step s[] = { STEP(&past, .before = 100) };
    struct script all[4] = { { s, 1 }, { s, 1 }, { s, 1 }, { s, 1 } };
    struct model_walk_config c = plain(1, 4, 1);
    (void)state;
    c.dependent = 1;
    c.issue = 1;
    /* one scheduler for four warps; the last load in its fourth turn */
    assert_float_equal(walk(&c, all), 400 + 3 + 200, 1e-9);
    c.issue = 4;
    assert_float_equal(walk(&c, all), 100 + 3 + 200, 1e-9);
}

static void nobody_waits_for_a_prefetch_but_its_line_is_there(void **state)
{
    const struct model_walk_step s[] = { STEP(&a, .kind = MODEL_WALK_PREFETCH),
                                         STEP(&a, .waits = true, .before = 75) };
    struct model_walk_config c = plain(1, 1, 1);
    (void)state;
    struct model_walked w = walk_in(&c, &roomy, NULL, &(struct script){ s, 2 });
    assert_float_equal(w.cycles, 1 + 300 + 30, 1e-9);
    assert_int_equal(w.lines, 1);
    assert_int_equal(w.missed, 0);
}

/* A cache of one line, two warps: the other warp's line is gone. Where a miss waits for a line that can
 * go, it stops what is behind. */
static void lines_push_each_other_out(void **state)
{
    const struct model_walk_step first[] = { STEP(&a), STEP(&a, .waits = true, .before = 100) },
                                 second[] = { STEP(&b, .before = 75) };
    struct script both[] = { { first, 2 }, { second, 1 } };
    struct model_cache_config one = { .sets = 1, .ways = 1 };
    struct model_walk_config c = plain(1, 2, 1);
    (void)state;
    struct model_walked w = walk_in(&c, &roomy, NULL, both);
    assert_int_equal(w.missed, 2);
    /* the second line comes at 300, where the first lay */
    w = walk_in(&c, &one, NULL, both);
    assert_int_equal(w.missed, 3);
    assert_float_equal(w.cycles, 800, 1e-9); /* asked for again at 600 */
    const struct model_walk_step at_once[] = { STEP(&b) };
    /* the second miss waits until the first one's line is there */
    one.reserve = true;
    w = walk_in(&c, &one, NULL, (struct script[]){ { first, 1 }, { at_once, 1 } });
    assert_float_equal(w.cycles, 400, 1e-9);
}

static void a_barrier_holds_those_who_come_first(void **state)
{
    const struct model_walk_step quick[] = { STEP(&a), STEP(&b, .waits = true, .phase = 1) },
                                 slow[] = { STEP(&d), STEP(&b, .waits = true, .phase = 1) };
    struct model_walk_config c = plain(1, 2, 1);
    (void)state;
    c.barrier = 20;
    /* the second load of the unit, 500 later */
    assert_float_equal(walk(&c, (struct script[]){ { quick, 2 }, { slow, 2 } }), 501 + 20 + 200, 1e-9);
    /* one that ends frees the other */
    assert_float_equal(walk(&c, (struct script[]){ { quick, 2 }, { slow, 1 } }), 501 + 20 + 200, 1e-9);
    assert_float_equal(walk(&c, (struct script[]){ { quick, 2 }, { slow, 0 } }), 200 + 20 + 200, 1e-9);
}

static void stores_and_atomics_queue(void **state)
{
    const struct model_walk_step store[] = { STEP(&a, .kind = MODEL_WALK_STORE) },
                                 part[] = { STEP(&a, .kind = MODEL_WALK_PARTIAL) };
    const struct model_walk_step add[] = { STEP(&a, .kind = MODEL_WALK_ATOMIC, .data = 8) },
                                 red[] = { STEP(&a, .kind = MODEL_WALK_RED, .data = 8) };
    struct model_walk_config c = plain(1, 1, 1);
    (void)state;
    c.l2_turn = 10;
    struct model_walked w = walk_in(&c, &roomy, NULL, &(struct script){ store, 1 });
    assert_float_equal(w.l2, 10, 1e-9);
    assert_float_equal(w.cycles, 1, 1e-9); /* nobody waits for it */
    w = walk_in(&c, &roomy, NULL, &(struct script){ part, 1 });
    assert_float_equal(w.l2, 40, 1e-9);
    c.units = 1;
    c.unit_turn = 100;
    w = walk_in(&c, &roomy, NULL, &(struct script){ add, 1 });
    assert_float_equal(w.units, 800, 1e-9);
    assert_float_equal(w.cycles, 208, 1e-9);
    w = walk_in(&c, &roomy, NULL, &(struct script){ red, 1 });
    assert_float_equal(w.units, 800, 1e-9);
    assert_float_equal(w.cycles, 1, 1e-9);
}

static void read_only_loads_have_their_own_cache_where_there_is_one(void **state)
{
    const struct model_walk_step s[] = { STEP(&a, .kind = MODEL_WALK_READ_ONLY),
                                         STEP(&a, .kind = MODEL_WALK_READ_ONLY, .waits = true),
                                         STEP(&a, .waits = true) };
    struct model_walk_config c = plain(1, 1, 1);
    (void)state;
    assert_int_equal(walk_in(&c, &roomy, NULL, &(struct script){ s, 3 }).missed, 1);
    struct model_walked w = walk_in(&c, &roomy, &roomy, &(struct script){ s, 3 });
    assert_int_equal(w.missed, 2);
    assert_float_equal(w.cycles, 200 + 60 + 200, 1e-9);
}

/* Sets, sectors and what is kept, touch by touch. */
static uint8_t lacks(struct model_cache *m, uint64_t line, unsigned sectors, enum model_way how,
                     double now)
{
    struct model_cache_answer q;
    model_cache_load(m, line, sectors, how, now, &q);
    model_cache_fill(m, &q, now, MODEL_FROM_L2);
    return q.miss;
}

static void a_cache_keeps_what_it_is_told_to(void **state)
{
    struct model_cache_config two = { .sets = 1, .ways = 2 };
    struct model_cache *m = model_cache_new(&two);
    (void)state;
    assert_int_equal(lacks(m, 1, 1, MODEL_WAY_KEEP, 0), 1);
    assert_int_equal(lacks(m, 1, 3, MODEL_WAY_KEEP, 1), 2); /* by sectors */
    assert_int_equal(lacks(m, 2, 1, MODEL_WAY_LOOK, 2), 1);
    assert_int_equal(lacks(m, 2, 1, MODEL_WAY_LOOK, 3), 1); /* it left nothing behind */
    assert_int_equal(lacks(m, 1, 3, MODEL_WAY_LOOK, 4), 0);
    assert_int_equal(lacks(m, 1, 3, MODEL_WAY_PAST, 5), 3); /* does not look */
    assert_int_equal(lacks(m, 2, 1, MODEL_WAY_KEEP, 6), 1);
    assert_int_equal(lacks(m, 1, 1, MODEL_WAY_KEEP, 7), 0);
    assert_int_equal(lacks(m, 3, 1, MODEL_WAY_KEEP, 8), 1); /* the oldest, 2, goes */
    assert_int_equal(lacks(m, 1, 1, MODEL_WAY_KEEP, 9), 0);
    assert_int_equal(lacks(m, 2, 1, MODEL_WAY_KEEP, 10), 1);
    model_cache_store(m, 2, 1, false, 11); /* a store takes its line away */
    assert_int_equal(lacks(m, 2, 1, MODEL_WAY_KEEP, 12), 1);
    model_cache_free(m);
    two.whole_line = true;
    two.store = MODEL_STORE_MAKES;
    m = model_cache_new(&two);
    assert_int_equal(lacks(m, 1, 1, MODEL_WAY_KEEP, 0), 15);
    model_cache_store(m, 5, 3, false, 1);
    assert_int_equal(lacks(m, 5, 3, MODEL_WAY_KEEP, 2), 0);
    /* written in part: cannot be read */
    model_cache_store(m, 6, 3, true, 3);
    assert_int_equal(lacks(m, 6, 3, MODEL_WAY_KEEP, 4), 15);
    model_cache_free(m);
}

/* A loop over five lines in four: LRU never finds one, the oldest of two picked at random finds some. */
static void random_picks_keep_part_of_a_loop(void **state)
{
    struct model_cache_config four = { .sets = 1, .ways = 4 };
    unsigned hits[2] = { 0 };
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        four.picks = 2 * k;
        struct model_cache *m = model_cache_new(&four);
        for (unsigned i = 0; i < 1000; i++)
            hits[k] += !lacks(m, i % 5, 1, MODEL_WAY_KEEP, i);
        model_cache_free(m);
    }
    assert_int_equal(hits[0], 0);
    assert_in_range(hits[1], 200, 800);
    assert_null(model_cache_new(&(struct model_cache_config){ .sets = 0, .ways = 4 }));
}

static void memory_may_run_out(void **state)
{
    const struct model_walk_step s[] = { STEP(&a) };
    struct model_walk_config c = plain(1, 1, 1);
    (void)state;
    c.merge = true;
    double whole = walk(&c, &(struct script){ s, 1 });
    for (uint64_t n = 1; n < 12; n++) {
        struct scene scene = { .warp = &(struct script){ s, 1 } };
        struct model_cache *l1 = model_cache_new(&roomy);
        base_fail_after(n);
        double v = model_walk(&c, l1, NULL, next, beyond, &scene).cycles;
        base_fail_after(0);
        assert_true(isnan(v) || fabs(v - whole) < 1e-9);
        assert_true(n > 1 || isnan(v));
        model_cache_free(l1);
    }
    base_fail_after(1);
    assert_null(model_cache_new(&roomy));
    base_fail_after(2);
    assert_null(model_cache_new(&roomy));
    base_fail_after(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_load_after_the_other),
        cmocka_unit_test(a_hit_on_a_line_under_way_waits_for_it),
        cmocka_unit_test(the_last_wave_counts_whole),
        cmocka_unit_test(units_queue),
        cmocka_unit_test(instructions_share_the_schedulers),
        cmocka_unit_test(nobody_waits_for_a_prefetch_but_its_line_is_there),
        cmocka_unit_test(lines_push_each_other_out),
        cmocka_unit_test(a_barrier_holds_those_who_come_first),
        cmocka_unit_test(stores_and_atomics_queue),
        cmocka_unit_test(read_only_loads_have_their_own_cache_where_there_is_one),
        cmocka_unit_test(a_cache_keeps_what_it_is_told_to),
        cmocka_unit_test(random_picks_keep_part_of_a_loop),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
