/* Reuse distance: the digest's vector, a brute-force reference, histogram, set-associative L1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "engine/perfmodel/lru_set.h"
#include "engine/perfmodel/reuse.h"

static void digest_vector(void **state)
{
    (void)state;
    static const uint64_t address[] = { 0, 8, 16, 96, 8, 16, 17, 104 };
    static const uint64_t expected[] = { MODEL_COLD, 0, MODEL_COLD, MODEL_COLD, 2, 2, 0, 2 };
    static const bool hit[] = { false, true, false, false, false, false, true, false };
    struct model_reuse *r = model_reuse_new(4);
    for (size_t i = 0; i < ARRAY_LEN(address); i++) {
        uint64_t d = model_reuse_touch(r, address[i] / 16);
        assert_int_equal(d, expected[i]);
        assert_int_equal(d < 32 / 16, hit[i]); /* a cache of two lines */
    }
    assert_int_equal(model_reuse_lines(r), 3);
    model_reuse_free(r);
}

/* An LRU stack kept as an array: the definition itself. */
#define STACK 6000
static uint64_t stack_touch(uint64_t *stack, size_t *n, uint64_t line)
{
    size_t i = 0;
    while (i < *n && stack[i] != line)
        i++;
    uint64_t d = i < *n ? i : MODEL_COLD;
    if (i == *n)
        (*n)++;
    for (; i > 0; i--)
        stack[i] = stack[i - 1];
    stack[0] = line;
    return d;
}

static void against_stack(uint64_t lines, size_t touches, uint64_t seed, size_t expected_lines)
{
    static uint64_t stack[STACK];
    size_t n = 0;
    struct model_reuse *r = model_reuse_new(expected_lines);
    for (size_t i = 0; i < touches; i++) {
        uint64_t z = base_splitmix(seed, i), line;
        switch (z >> 62) {
        case 0: line = i % lines; break;                     /* cyclic */
        case 1: line = (z >> 8) % (lines / 8 + 1); break;    /* hot */
        case 2: line = (z >> 8) % lines; break;              /* anywhere */
        default: line = (uint64_t)-1 - (z >> 8) % lines / 4; /* far away in address space */
        }
        assert_int_equal(model_reuse_touch(r, line), stack_touch(stack, &n, line));
    }
    assert_int_equal(model_reuse_lines(r), n);
    model_reuse_free(r);
}

static void brute_force(void **state)
{
    (void)state;
    against_stack(1, 200, 1, 0);
    against_stack(40, 40000, 2, 0);   /* many compactions of the least time line */
    against_stack(3000, 30000, 3, 0); /* growth of table and time line */
    against_stack(3000, 30000, 4, 100000);
}

/* Numbers follow first touches; a list of the things touched last says of one size what distances say of
 * all. */
static void recent_agrees(uint32_t things, uint64_t most, uint64_t seed)
{
    struct model_reuse *r = model_reuse_new(0);
    struct model_recent *l = model_recent_new(things, most);
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t z = base_splitmix(seed, i),
                 line = z >> 63 ? i % things : (z >> 8) % (z >> 62 & 1 ? things : things / 4 + 1);
        uint64_t before = model_reuse_lines(r), d = model_reuse_touch(r, line << 20);
        uint32_t number = model_reuse_last(r);
        assert_int_equal(d == MODEL_COLD, number == before);
        assert_int_equal(model_recent_touch(l, number), d < most);
    }
    model_recent_free(l);
    model_reuse_free(r);
}

static void recent(void **state)
{
    (void)state;
    static const uint64_t sizes[] = { 0, 1, 2, 7, 100, 499, 500, 5000 };
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        recent_agrees(500, sizes[i], i);
    recent_agrees(1, 1, 9);
    for (uint64_t k = 1; k <= 4; k++) {
        base_fail_after(k);
        assert_null(model_recent_new(10, 5));
        base_fail_after(0);
    }
}

static void out_of_memory_is_sticky(void **state)
{
    (void)state;
    struct model_reuse *r = NULL;
    for (uint64_t k = 1; k <= 6; k++) { /* whichever of its arrays cannot grow */
        model_reuse_free(r);
        r = model_reuse_new(0);
        base_fail_after(k);
        for (uint64_t i = 0; i < 20000 && !model_reuse_failed(r); i++)
            model_reuse_touch(r, i);
        base_fail_after(0);
        assert_true(model_reuse_failed(r));
    }
    assert_true(model_reuse_failed(r));
    assert_int_equal(model_reuse_touch(r, 19), MODEL_COLD);
    model_reuse_free(r);
}

static void histogram(void **state)
{
    (void)state;
    struct model_hist h = { 0 };
    assert_true(isnan(model_hist_hit_rate(&h, 8)));
    model_hist_add(&h, MODEL_COLD);
    model_hist_add(&h, 0);
    model_hist_add(&h, 1);
    model_hist_add(&h, 2);
    assert_int_equal(h.bin[0], 1);
    assert_int_equal(h.bin[1], 2);
    assert_int_equal(h.total, 4);
    assert_int_equal(h.cold, 1);
    assert_float_equal(model_hist_hit_rate(&h, 0), 0, 1e-12);
    assert_float_equal(model_hist_hit_rate(&h, 1), 0.25, 1e-12);
    assert_float_equal(model_hist_hit_rate(&h, 2), 0.5, 1e-12); /* half of bin 1 */
    assert_float_equal(model_hist_hit_rate(&h, 3), 0.75, 1e-12);
    assert_float_equal(model_hist_hit_rate(&h, 1e9), 0.75, 1e-12);
    model_hist_add(&h, UINT64_MAX - 1); /* largest distance there can be */
    assert_int_equal(h.bin[63], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digest_vector), cmocka_unit_test(brute_force),
        cmocka_unit_test(recent),        cmocka_unit_test(out_of_memory_is_sticky),
        cmocka_unit_test(histogram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
