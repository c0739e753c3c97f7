/* The two partitions of L2: who has a copy of a line. Expected values are worked out by hand. */
#include "engine/sim/cache/sides.h"
#include "engine/base/base.h"
#include "engine/sim/cache/l2.h"

#include "tests/support.h"

#define LINES 4096u
#define AMPLE (1u << 20) /* lines of an L2 that holds everything */

static struct cache_sides_outcome ask(struct cache_sides *c, uint64_t line, unsigned side, bool write,
                                      double left)
{
    struct cache_l2_request r = { .line = line, .sectors = 15, .write = write, .side = side & 1 };
    return cache_sides_access(c, &r, 15, left);
}

/* The first line from `line` on that partition `home` answers for. */
static uint64_t line_of(uint64_t line, unsigned home)
{
    while (cache_side_of(line) != home)
        line++;
    return line;
}

static void make(struct cache_sides *c, bool restored, uint64_t lines, double spread)
{
    struct cache_range r = { 1000, LINES, restored };
    assert_int_equal(cache_sides_init(c, &r, 1, lines, spread), ST_OK);
}

/* A store from the home's side leaves no copy on the other; one from the other side leaves both. */
static void test_stores(void **state)
{
    (void)state;
    struct cache_sides c;
    make(&c, false, AMPLE, 0);
    uint64_t line = line_of(2000, 0);
    ask(&c, line, 0, true, 1);
    assert_int_equal(ask(&c, line, 0, false, 1).crossed, 0);
    assert_int_equal(ask(&c, line, 1, false, 1).crossed, 15);
    assert_int_equal(ask(&c, line, 1, false, 1).crossed, 0); /* the read before made a copy */
    ask(&c, line, 1, true, 1);
    assert_int_equal(ask(&c, line, 0, false, 1).crossed, 0);
    assert_int_equal(ask(&c, line, 1, false, 1).crossed, 0);
    ask(&c, line, 0, true, 1);
    assert_int_equal(ask(&c, line, 1, false, 1).crossed, 15);
    cache_sides_free(&c);
}

/* Atomics happen at the home, wherever they come from. */
static void test_atomics(void **state)
{
    (void)state;
    struct cache_sides c;
    make(&c, false, AMPLE, 0);
    uint64_t line = line_of(2000, 0);
    struct cache_l2_request r = { .line = line, .sectors = 1, .write = 1, .side = 1, .lanes = 1 };
    cache_sides_access(&c, &r, 15, 1);
    r.write = 0;
    r.lanes = 0;
    assert_int_equal(cache_sides_access(&c, &r, 15, 1).crossed, 1);
    cache_sides_free(&c);
}

static unsigned first_reads(struct cache_sides *c, unsigned side, double left, unsigned *lost)
{
    unsigned crossed = 0;
    *lost = 0;
    for (uint64_t line = 1000; line < 1000 + LINES; line++) {
        struct cache_sides_outcome o = ask(c, line, side, false, left);
        crossed += o.crossed == 15;
        *lost += o.lost == 15;
    }
    return crossed;
}

/* Of what copies wrote a quarter is not on the reader's side: of the half whose home is the other one,
 * the half that an SM of that other side copied. None of it is lost. */
static void test_restored(void **state)
{
    (void)state;
    struct cache_sides c;
    unsigned lost;
    make(&c, true, AMPLE, 0);
    assert_in_range(first_reads(&c, 0, 1, &lost), LINES / 4 - 100, LINES / 4 + 100);
    assert_int_equal(lost, 0);
    assert_int_equal(first_reads(&c, 0, 1, &lost), 0);
    cache_sides_free(&c);
    make(&c, true, AMPLE, 0);
    assert_int_equal(first_reads(&c, 1, 0, &lost), 0); /* others of the launch were there before */
    cache_sides_free(&c);
}

/* Each partition keeps half of L2: three quarters of read-only data of two thirds of L2. What the
 * reader's side lacks, 1/4, comes from the home where that is the other side and has it: 1/2 * 3/4 of
 * it. */
static void test_read_only(void **state)
{
    (void)state;
    struct cache_sides c;
    unsigned lost, crossed;
    make(&c, false, LINES * 3 / 2, 0);
    crossed = first_reads(&c, 0, 1, &lost);
    assert_in_range(crossed, LINES * 3 / 32 - 80, LINES * 3 / 32 + 80);
    assert_in_range(lost, LINES * 5 / 32 - 100, LINES * 5 / 32 + 100);
    cache_sides_free(&c);
    make(&c, false, 2 * LINES, 0); /* both sides have all */
    assert_int_equal(first_reads(&c, 0, 1, &lost), 0);
    assert_int_equal(lost, 0);
    cache_sides_free(&c);
}

/* Copies of a restored buffer push out what is only read: 11/8 of its size pass through each partition.
 * With a spread of 0.4 half of L2 stands for a tenth less to a tenth more of L2. */
static void test_pushed_out(void **state)
{
    (void)state;
    struct cache_range r[2] = { { 1000, LINES, false }, { 100000, 16 * LINES, true } };
    struct cache_sides c;
    unsigned lost;
    assert_int_equal(cache_sides_init(&c, r, 2, 44 * LINES, 0), ST_OK);
    assert_int_equal(first_reads(&c, 0, 1, &lost) + lost,
                     LINES); /* 22 pass, 22 fit, and it is one more */
    cache_sides_free(&c);
    assert_int_equal(cache_sides_init(&c, r, 2, 46 * LINES, 0), ST_OK);
    assert_int_equal(first_reads(&c, 0, 1, &lost) + lost, 0);
    cache_sides_free(&c);
    assert_int_equal(cache_sides_init(&c, r, 2, 45 * LINES, 0.4), ST_OK);
    unsigned lack = first_reads(&c, 0, 1, &lost) + lost; /* it is in the middle of the spread */
    assert_in_range(lack, LINES / 2 - 120, LINES / 2 + 120);
    cache_sides_free(&c);
}

/* Lines of no buffer always have copies; so has everything where memory is lacking. */
static void test_elsewhere(void **state)
{
    (void)state;
    struct cache_sides c;
    make(&c, true, AMPLE, 0);
    for (uint64_t line = 0; line < 1000; line++)
        assert_int_equal(ask(&c, line, line & 1, false, 1).crossed, 0);
    cache_sides_free(&c);
    struct cache_range r = { 1000, LINES, true };
    for (unsigned k = 1; k <= 2; k++) {
        base_fail_after(k);
        assert_int_equal(cache_sides_init(&c, &r, 1, AMPLE, 0), ST_NOMEM);
        base_fail_after(0);
        assert_int_equal(ask(&c, 1001, 0, false, 1).crossed, 0);
        cache_sides_free(&c);
    }
}

/* ---- a whole L2 of two partitions ---- */

static struct cache_l2_outcome read_line(struct cache_l2 *c, uint64_t line, unsigned side)
{
    struct cache_l2_outcome o;
    cache_l2_access(c, &(struct cache_l2_request){ .line = line, .sectors = 15, .side = side & 1 }, &o);
    return o;
}

static struct cache_l2 halves(uint32_t lines)
{
    struct cache_l2 c;
    assert_int_equal(cache_l2_init(&c, (uint64_t)lines * 128, 16, true), ST_OK);
    cache_l2_split(&c);
    return c;
}

/* What one side reads from DRAM lies there and in its home; the other side finds it where that is its own, and
 * else has it from there, once. */
static void test_copies(void **state)
{
    (void)state;
    struct cache_l2 c = halves(2048);
    uint64_t near = line_of(2000, 0), far = line_of(3000, 1);
    struct cache_l2_outcome o = read_line(&c, near, 0);
    assert_int_equal(o.miss, 15);
    o = read_line(&c, near, 1); /* from its home */
    assert_int_equal(o.miss, 0);
    assert_int_equal(o.crossed, 15);
    assert_int_equal(read_line(&c, near, 1).crossed, 0);
    assert_int_equal(read_line(&c, far, 0).miss, 15);
    o = read_line(&c, far, 1); /* its home has it already */
    assert_int_equal(o.hit, 15);
    assert_int_equal(o.crossed, 0);
    cache_l2_access(&c, &(struct cache_l2_request){ .line = near, .sectors = 15, .write = 1, .side = 0 },
                    &o);
    assert_int_equal(read_line(&c, near, 1).crossed, 15); /* the store took its copy */
    cache_l2_free(&c);
}

/* Share found in the last of `passes` passes over lines of which each side reads half: in order, or drawn. */
static double found(uint32_t lines, unsigned passes, bool drawn)
{
    struct cache_l2 c = halves(16384);
    uint64_t hits = 0;
    for (unsigned p = 0; p < passes; p++)
        for (uint64_t i = 0; i < lines; i++) {
            uint64_t line = drawn ? cache_mix(i << 8 | p) % lines : i;
            uint8_t hit = read_line(&c, line, (unsigned)(cache_mix(line) >> 20)).hit;
            hits += p + 1 == passes && hit == 15;
        }
    cache_l2_free(&c);
    return (double)hits / lines;
}

/* One copy and a half of each line: in one order two thirds of L2 are found again, and nothing of much more. Where the
 * order changes, what an SM reads again stays in its partition and its home forgets it, so that nearly all of L2 is
 * found (docs/lab/l2-sides.md). */
static void test_room(void **state)
{
    (void)state;
    assert_true(found(8192, 2, false) > 0.99);
    assert_true(found(15000, 2, false) < 0.2);
    assert_true(found(12288, 12, true) > 0.9);
    assert_true(found(24000, 12, true) < 0.75);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stores),     cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_restored),   cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_pushed_out), cmocka_unit_test(test_elsewhere),
        cmocka_unit_test(test_copies),     cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
