/* The sanitiser's store: what it says of every byte is what a record per byte would say, however
 * accesses are cut. */
#include "engine/sim/exec/shadow.h"
#include "tests/support.h"

#include <string.h>

enum { BLOCKS = 3, BYTES = BLOCKS * SHADOW_BLOCK };

struct touch {
    struct shadow_state next;
    unsigned calls;
    bool stop_at_written;
};
/* As the sanitiser's: a write replaces the writer, reads fill the two places. */
static bool apply(void *ctx, struct shadow_state *s)
{
    struct touch *t = ctx;
    t->calls++;
    if (t->stop_at_written && s->w)
        return false;
    if (t->next.w)
        s->w = t->next.w;
    else if (!s->r[0] || s->r[0] == t->next.r[0])
        s->r[0] = t->next.r[0];
    else
        s->r[1] = t->next.r[0];
    return true;
}

static bool found(void *ctx, struct shadow_state *s)
{
    *(struct shadow_state *)ctx = *s;
    return true;
}

static void packed(void **state)
{
    (void)state;
    shadow_who o = shadow_access(0xfedcba98u, 31, 12345, true);
    assert_true(shadow_cta(o) == 0xfedcba98u);
    assert_true(shadow_warp(o) == 31);
    assert_true(shadow_clock(o) == 12345);
    assert_true(shadow_atomic(o));
    o = shadow_access(0, 0, UINT32_MAX, false);
    assert_true(o);
    assert_true(shadow_clock(o) == SHADOW_CLOCK_MOST);
    assert_true(!shadow_atomic(o));
    assert_true(!shadow_warp(o));
    assert_true(!shadow_cta(o));
}

/* sizes: accesses of 1 << one of these, aligned. */
static void as_bytewise(const unsigned *sizes, unsigned nsizes, uint64_t seed, unsigned users)
{
    struct shadow_map m = { 0 };
    struct shadow_state *want = base_alloc(BYTES * sizeof *want), got;
    for (uint64_t i = 0, k = 0; i < 60000; i++) {
        uint64_t n = UINT64_C(1) << sizes[base_splitmix(seed, k++) % nsizes],
                 at = base_splitmix(seed, k++) % BYTES & ~(n - 1);
        shadow_who me = shadow_access((uint32_t)(base_splitmix(seed, k++) % users), 0, 1, false);
        struct touch t = { .next = base_splitmix(seed, k++) & 1 ? (struct shadow_state){ .w = me }
                                                                : (struct shadow_state){ .r = { me } } };
        uint32_t from = (uint32_t)(at % SHADOW_BLOCK);
        assert_int_equal(
            shadow_use(shadow_at(&m, (UINT64_C(1) << 40) + at), from, from + (uint32_t)n, apply, &t),
            from + n);
        for (uint64_t b = at; b < at + n; b++)
            apply(&t, &want[b]);
        if (i == 30000) {
            shadow_clear(*shadow_at(&m, (UINT64_C(1) << 40) + SHADOW_BLOCK));
            memset(want + SHADOW_BLOCK, 0, SHADOW_BLOCK * sizeof *want);
        }
    }
    for (uint64_t b = 0; b < BYTES; b++) {
        uint32_t from = (uint32_t)(b % SHADOW_BLOCK);
        shadow_use(shadow_at(&m, (UINT64_C(1) << 40) + b), from, from + 1, found, &got);
        assert_memory_equal(&got, &want[b], sizeof got);
    }
    assert_int_equal(m.n, BLOCKS);
    shadow_map_free(&m);
    base_free(want);
}

static void every_byte_has_its_own(void **state)
{
    (void)state;
    as_bytewise((const unsigned[]){ 5, 6, 7 }, 3, 1, 4);
    as_bytewise((const unsigned[]){ 2, 3, 4, 7 }, 4, 2, 100000);
    as_bytewise((const unsigned[]){ 2, 2, 2, 2, 5 }, 5, 3, 3);
    as_bytewise((const unsigned[]){ 0, 1, 2, 5, 10 }, 5, 4, 100000);
}

/* It stops at the byte where it is told to, and asks once for what has one history. */
static void stops_and_asks_once(void **state)
{
    (void)state;
    struct shadow_block *b = NULL;
    struct touch t = { .next = { .w = shadow_access(1, 2, 3, false) } },
                 reads = { .next = { .r = { 5 } }, .stop_at_written = true };
    assert_int_equal(shadow_use(&b, 128, 256, apply, &t), 256);
    assert_int_equal(t.calls, 1);
    assert_int_equal(shadow_use(&b, 0, 512, apply, &reads), 128);
    assert_int_equal(reads.calls, 2);
    assert_int_equal(shadow_use(&b, 132, 136, apply, &reads), 132);
    assert_int_equal(shadow_use(&b, 256, 512, apply, &reads), 512);
    shadow_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(packed),
                                        cmocka_unit_test(every_byte_has_its_own),
                                        cmocka_unit_test(stops_and_asks_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
