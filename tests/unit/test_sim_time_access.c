/* Coalescing and bank conflicts against a brute-force count, and the paper's vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/sim/step.h"
#include "engine/sim/timing/access.h"

static struct exec_access linear(uint64_t base, uint64_t step, uint16_t bytes, uint32_t mask)
{
    struct exec_access a = { .mask = mask, .bytes = bytes };
    for (uint32_t l = 0; l < 32; l++)
        a.addr[l] = base + step * l;
    return a;
}

static uint32_t sectors_of(const struct exec_access *a, uint32_t *nlines)
{
    uint64_t lines[64];
    uint32_t n = timing_coalesce(a, lines), sectors = 0;
    for (uint32_t i = 0; i < n; i++) {
        sectors += (uint32_t)__builtin_popcount(timing_sectors(lines[i]));
        for (uint32_t k = 0; k < i; k++)
            assert_true(timing_line(lines[i]) != timing_line(lines[k]));
    }
    if (nlines)
        *nlines = n;
    return sectors;
}

/* base workloads of the coalescing paper: sectors per request 32, 16, 1, 4 */
static void test_paper_vectors(void **state)
{
    (void)state;
    const struct {
        uint64_t step;
        uint32_t sectors, lines;
    } v[] = { { 128, 32, 32 }, { 16, 16, 4 }, { 0, 1, 1 }, { 4, 4, 1 } };
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct exec_access a = linear(1 << 20, v[i].step, 4, EXEC_FULL);
        uint32_t n;
        assert_int_equal(sectors_of(&a, &n), v[i].sectors);
        assert_int_equal(n, v[i].lines);
    }
}

static void test_wide_and_shifted(void **state)
{
    (void)state;
    uint32_t n;
    struct exec_access a = linear(1 << 20, 16, 16, EXEC_FULL);
    assert_int_equal(sectors_of(&a, &n), 16);
    assert_int_equal(n, 4);
    /* misaligned by one word: five sectors, two lines */
    a = linear((1 << 20) + 4, 4, 4, EXEC_FULL);
    assert_int_equal(sectors_of(&a, &n), 5);
    assert_int_equal(n, 2);
    a = linear(1 << 20, 4, 4, 0x00000101); /* two lanes, 32 bytes apart */
    assert_int_equal(sectors_of(&a, &n), 2);
    a = linear(1 << 20, (uint64_t)-4, 4, EXEC_FULL); /* descending: word 0 and the 31 below it */
    assert_int_equal(sectors_of(&a, &n), 5);
    assert_int_equal(n, 2);
}

/* What is left of the sectors of a row is a neighbour's, of words apart nobody's; a row shorter than a
 * sector is words apart. */
static void test_torn(void **state)
{
    (void)state;
    const struct {
        uint64_t step;
        uint32_t mask;
        enum timing_torn torn;
    } v[] = { { 4, EXEC_FULL, TIMING_ROW_END },  { 8, EXEC_FULL, TIMING_APART },
              { 128, EXEC_FULL, TIMING_APART },  { 0, EXEC_FULL, TIMING_APART },
              { 4, 0x3ffc3ffc, TIMING_ROW_END }, { 4, 0x7f, TIMING_APART },
              { 4, 0xff0007f0, TIMING_APART } };
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct exec_access a = linear((1 << 20) + 4, v[i].step, 4, v[i].mask);
        assert_int_equal(timing_store_torn(&a), v[i].torn);
    }
}

/* Words apart, descending, twos of bytes, single bytes, and a line in the middle of which lanes begin. */
static void test_halves(void **state)
{
    (void)state;
    const struct {
        uint64_t from, step;
        uint16_t bytes;
        uint32_t n;
        uint64_t first, last;
    } v[] = { { 0, 8, 4, 2, 0x3333333333333333, 0x3333333333333333 },
              { 0, 24, 8, 6, 0xf00f00f00f00f00f, 0x00f00f00f00f00f0 },
              { 124, (uint64_t)-4, 4, 1, UINT64_MAX, UINT64_MAX },
              { 0, 4, 2, 1, 0x5555555555555555, 0x5555555555555555 },
              { 0, 2, 1, 1, 0, 0 },
              { 64, 8, 4, 3, 0x3333333300000000, 0x33333333 } };
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct exec_access a = linear((1 << 20) + v[i].from, v[i].step, v[i].bytes, EXEC_FULL);
        uint64_t lines[2 * WARP_LANES], halves[2 * WARP_LANES];
        uint32_t n = timing_coalesce(&a, lines);
        assert_int_equal(n, v[i].n);
        timing_store_halves(&a, lines, n, halves);
        assert_true(halves[0] == v[i].first);
        assert_true(halves[n - 1] == v[i].last);
    }
}

static void test_random_against_bytes(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 3000; k++) {
        static uint8_t seen[1 << 13]; /* one flag per sector of 256 KB */
        uint64_t z = base_splitmix(11, k);
        uint16_t bytes = (uint16_t)(1u << (z & 3));
        struct exec_access a = { .mask = (uint32_t)(z >> 20) | 1, .bytes = bytes };
        uint64_t span = (z >> 8 & 3) ? 1024 : 1 << 17;
        memset(seen, 0, sizeof seen);
        uint32_t want = 0;
        for (uint32_t l = 0; l < 32; l++) {
            a.addr[l] = base_splitmix(k, l) % span / bytes * bytes;
            if (a.mask >> l & 1 && !seen[a.addr[l] >> 5]++)
                want++;
        }
        assert_int_equal(sectors_of(&a, NULL), want);
    }
}

static void test_banks(void **state)
{
    (void)state;
    struct exec_access a;
    const struct {
        uint64_t step;
        uint16_t bytes;
        uint8_t passes;
    } v[] = { { 4, 4, 1 },   { 0, 4, 1 },   { 8, 4, 2 }, { 128, 4, 32 },
              { 132, 4, 1 }, { 64, 4, 16 }, { 1, 1, 1 }, { 8, 8, 2 }, /* two half-warps, one pass each */
              { 16, 16, 4 },                                          /* four quarters */
              { 12, 4, 1 } };
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        a = linear(0, v[i].step, v[i].bytes, EXEC_FULL);
        assert_int_equal(timing_bank_passes(&a, 32, 4), v[i].passes);
    }
    a = linear(0, 8, 8, EXEC_FULL);
    assert_int_equal(timing_bank_passes(&a, 32, 8), 1); /* Kepler: 8-byte banks */
    a = linear(0, 128, 4, 0x3);
    assert_int_equal(timing_bank_passes(&a, 32, 4), 2);
    a = linear(0, 256, 4, EXEC_FULL);
    /* 16 rows, each asked for twice */
    for (uint32_t l = 16; l < WARP_LANES; l++)
        a.addr[l] = a.addr[l - 16];
    assert_int_equal(timing_bank_passes(&a, 32, 4), 16);
}

static void test_atomic_turns(void **state)
{
    (void)state;
    uint64_t word;
    struct exec_access a = linear(0, 4, 4, EXEC_FULL);
    assert_int_equal(timing_atomic_turns(&a), 4); /* one line: a turn per sector */
    assert_int_equal(timing_same_word(&a, &word), 1);
    a = linear(0, 32, 4, EXEC_FULL);
    assert_int_equal(timing_atomic_turns(&a), 32);
    a = linear(64, 0, 4, EXEC_FULL);
    assert_int_equal(timing_atomic_turns(&a), 32); /* one word: a turn per lane */
    assert_int_equal(timing_same_word(&a, &word), 32);
    assert_int_equal(word, 64);
    a = linear(64, 0, 4, 0x5);
    assert_int_equal(timing_atomic_turns(&a), 2);
}

static void test_local_interleaves(void **state)
{
    (void)state;
    uint64_t lines[64];
    struct exec_access a = linear(64, 0, 4, EXEC_FULL); /* every lane its own word 16 */
    assert_int_equal(timing_coalesce_local(&a, 1000, lines), 1);
    assert_true(lines[0] == (1016ull << 4 | 15));
    a = linear(64, 4, 4, 0xff); /* eight lanes at different words */
    assert_int_equal(timing_coalesce_local(&a, 1000, lines), 8);
    a = linear(64, 0, 8, EXEC_FULL);
    assert_int_equal(timing_coalesce_local(&a, 1000, lines), 2);
}

static void test_words(void **state)
{
    (void)state;
    struct exec_access a = linear(256, 0, 4, EXEC_FULL);
    assert_int_equal(timing_distinct_words(&a), 1);
    a = linear(256, 4, 4, 0xf);
    assert_int_equal(timing_distinct_words(&a), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper_vectors),
        cmocka_unit_test(test_wide_and_shifted),
        cmocka_unit_test(test_torn),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_random_against_bytes),
        cmocka_unit_test(test_banks),
        cmocka_unit_test(test_atomic_turns),
        cmocka_unit_test(test_local_interleaves),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
