/* Access policy windows in the simulated L2, by hand: one set of 16 ways, and a sample of 2 of 32 SMs,
 * of which each line stands for 16. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/sim/cache/cache.h"
#include "engine/sim/cache/l2.h"
#include "engine/sim/preset.h"

static const struct cache_places TWO = { .n = 2, .apart = 1 };

static struct cache_window window(uint64_t first, uint64_t lines, double ratio, uint64_t part,
                                  double taken)
{
    return (struct cache_window){
        .first = first, .lines = lines, .ratio = ratio, .part = part, .taken = taken
    };
}

static void open_one_set(struct cache_l2 *c, struct cache_window w)
{
    assert_int_equal(cache_l2_init(c, 16 * 128, 16, false), ST_OK);
    assert_int_equal(cache_l2_keep(c, &w), ST_OK);
}

/* Lines first to first + n - 1 in turn; how many were there. */
static unsigned reads(struct cache_l2 *c, uint64_t first, unsigned n, enum cache_alloc alloc)
{
    unsigned hits = 0;
    for (unsigned i = 0; i < n; i++) {
        struct cache_l2_request r = {
            .line = first + i, .sectors = 15, .fetch = 15, .alloc = (uint8_t)alloc, .at = 1000
        };
        struct cache_l2_outcome o;
        cache_l2_access(c, &r, &o);
        hits += o.hit == 15;
    }
    return hits;
}

static void test_kept(void **state)
{
    (void)state;
    struct cache_l2 c;
    open_one_set(&c, window(0, 4, 1, 4, 1));
    assert_int_equal(reads(&c, 0, 4, CACHE_NORMAL), 0);
    assert_int_equal(reads(&c, 100, 50, CACHE_NORMAL), 0);
    assert_int_equal(reads(&c, 0, 4, CACHE_NORMAL), 4);
    assert_int_equal(reads(&c, 138, 12, CACHE_NORMAL), 12); /* the last 12 of the stream */
    cache_l2_free(&c);
}

/* 5 lines in turn in room for 4: each comes when it has just gone. Others keep their 12. */
static void test_too_many(void **state)
{
    (void)state;
    struct cache_l2 c;
    open_one_set(&c, window(0, 5, 1, 4, 1));
    reads(&c, 100, 12, CACHE_NORMAL);
    for (unsigned k = 0; k < 3; k++)
        assert_int_equal(reads(&c, 0, 5, CACHE_NORMAL), 0);
    assert_int_equal(reads(&c, 100, 12, CACHE_NORMAL), 12);
    cache_l2_free(&c);
}

static void test_unused_is_lent(void **state)
{
    (void)state;
    struct cache_l2 c;
    open_one_set(&c, window(0, 4, 1, 4, 1));
    reads(&c, 100, 16, CACHE_NORMAL);
    assert_int_equal(reads(&c, 100, 16, CACHE_NORMAL), 16);
    cache_l2_free(&c);
}

/* Others lie in L2 twice in half of the cases: 4 kept lines take the room of 2 of them. */
static void test_taken(void **state)
{
    (void)state;
    struct cache_l2 c;
    open_one_set(&c, window(0, 4, 1, 4, 0.5));
    reads(&c, 0, 4, CACHE_NORMAL);
    reads(&c, 100, 14, CACHE_NORMAL);
    assert_int_equal(reads(&c, 100, 14, CACHE_NORMAL), 14);
    assert_int_equal(reads(&c, 200, 15, CACHE_NORMAL), 0);
    assert_int_equal(reads(&c, 200, 15, CACHE_NORMAL), 0); /* 15 in turn in 14 */
    assert_int_equal(reads(&c, 0, 4, CACHE_NORMAL), 4);
    cache_l2_free(&c);
}

/* A part of all 16 ways still leaves one to others. */
static void test_whole(void **state)
{
    (void)state;
    struct cache_l2 c;
    open_one_set(&c, window(0, 40, 1, 16, 1));
    reads(&c, 0, 15, CACHE_NORMAL);
    reads(&c, 100, 1, CACHE_NORMAL);
    assert_int_equal(reads(&c, 100, 1, CACHE_NORMAL), 1);
    assert_int_equal(reads(&c, 0, 15, CACHE_NORMAL), 15);
    cache_l2_free(&c);
}

/* What an instruction asks for itself stands. */
static void test_hint_wins(void **state)
{
    (void)state;
    struct cache_l2 c;
    open_one_set(&c, window(0, 4, 1, 4, 1));
    reads(&c, 0, 4, CACHE_FIRST);
    reads(&c, 100, 16, CACHE_NORMAL);
    assert_int_equal(reads(&c, 0, 4, CACHE_FIRST), 0);
    cache_l2_free(&c);
}

/* A share of 0.25 of 10000 lines: 2500, with a deviation of 43. */
static void test_ratio(void **state)
{
    (void)state;
    struct cache_window w = window(1 << 20, 10000, 0.25, 10000, 1);
    unsigned kept = 0;
    for (uint64_t i = 0; i < 20000; i++)
        kept += cache_window_keeps(&w, (1 << 20) - 5000 + i);
    assert_in_range(kept, 2500 - 130, 2500 + 130);
}

/* part: lines of 16384. Of a window of 16 * lines the sample reads every sixteenth, others the rest; of
 * a stream of 32000 it reads 2000. */
static unsigned found_after_stream(uint64_t part, unsigned lines)
{
    struct cache_l2 c;
    struct sim_preset g = sim_preset_default();
    struct cache_window w = window(0, 16 * lines, 1, part, 1);
    assert_int_equal(cache_l2_init_sample(&c, 16384 * 128, 32, &TWO, NULL), ST_OK);
    cache_l2_shape(&c, cache_l2_traits_of(&g));
    if (part)
        assert_int_equal(cache_l2_keep(&c, &w), ST_OK);
    reads(&c, 0, lines, CACHE_NORMAL);
    reads(&c, 50000, 2000, CACHE_NORMAL);
    unsigned hits = reads(&c, 0, lines, CACHE_NORMAL);
    cache_l2_free(&c);
    return hits;
}

static void test_sample_kept(void **state)
{
    (void)state;
    assert_int_equal(found_after_stream(0, 200), 0);
    assert_int_equal(found_after_stream(3200, 200), 200);
    assert_int_equal(found_after_stream(3200, 400), 0); /* 6400 lines in turn in room for 3200 */
}

/* A loop of 800 lines, 12800 of the GPU, is found again (below 0.8 of 16384) unless 7200 are kept. */
static void test_sample_rest(void **state)
{
    (void)state;
    for (unsigned kept = 0; kept < 2; kept++) {
        struct cache_l2 c;
        struct sim_preset g = sim_preset_default();
        struct cache_window w = window(0, 7200, 1, 7200, 1);
        assert_int_equal(cache_l2_init_sample(&c, 16384 * 128, 32, &TWO, NULL), ST_OK);
        cache_l2_shape(&c, cache_l2_traits_of(&g));
        assert_int_equal(cache_l2_keep(&c, &w), ST_OK);
        if (kept)
            reads(&c, 0, 450, CACHE_NORMAL);
        reads(&c, 50000, 800, CACHE_NORMAL);
        assert_int_equal(reads(&c, 50000, 800, CACHE_NORMAL), kept ? 0 : 800);
        cache_l2_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),           cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_unused_is_lent), cmocka_unit_test(test_taken),
        cmocka_unit_test(test_whole),          cmocka_unit_test(test_hint_wins),
        cmocka_unit_test(test_ratio),          cmocka_unit_test(test_sample_kept),
        cmocka_unit_test(test_sample_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
