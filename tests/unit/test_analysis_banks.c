/* Banks of shared memory by hand: 32 of 4 bytes; a lane's group asks for at most 128 bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/analysis/banks.h"

#include <string.h>

#define ALL UINT32_MAX

/* Lane l asks for `bytes` from byte base + l * step on. */
static struct ana_banks strided(uint64_t base, uint64_t step, unsigned bytes)
{
    uint64_t addr[32];
    for (unsigned l = 0; l < 32; l++)
        addr[l] = base + l * step;
    return banks_of(addr, ALL, bytes);
}

static unsigned gcd(unsigned a, unsigned b)
{
    return b ? gcd(b, a % b) : a;
}

/* Words s apart meet in a bank as often as s and 32 have a common factor. */
static void test_words(void **state)
{
    (void)state;
    for (unsigned s = 1; s <= 96; s++) {
        struct ana_banks b = strided(64, 4 * s, 4);
        assert_int_equal(b.passes, gcd(s, 32));
        assert_int_equal(b.ideal, 1);
        assert_int_equal(banks_stride(&b), s);
    }
}

/* 16 lanes of 8 bytes, two groups: pairs of words, s pairs apart, in 16 pairs of banks. */
static void test_pairs(void **state)
{
    (void)state;
    for (unsigned s = 1; s <= 48; s++) {
        struct ana_banks b = strided(0, 8 * s, 8);
        assert_int_equal(b.passes, 2 * gcd(s, 16));
        assert_int_equal(b.ideal, 2);
    }
}

/* 8 lanes of 16 bytes, four groups: fours of words, in 8 fours of banks. */
static void test_fours(void **state)
{
    (void)state;
    for (unsigned s = 1; s <= 24; s++) {
        struct ana_banks b = strided(0, 16 * s, 16);
        assert_int_equal(b.passes, 4 * gcd(s, 8));
        assert_int_equal(b.ideal, 4);
    }
}

static void test_same_and_narrow(void **state)
{
    (void)state;
    assert_int_equal(strided(40, 0, 4).passes, 1);   /* one word for all */
    assert_int_equal(strided(0, 1, 1).passes, 1);    /* 32 bytes in 8 words */
    assert_int_equal(strided(0, 2, 2).passes, 1);    /* 64 bytes in 16 words */
    assert_int_equal(strided(0, 128, 1).passes, 32); /* a byte of each row */
    assert_int_equal(strided(0, 0, 16).passes, 4);   /* each group reads it once */
}

/* Lanes 0 to 15 read a row, lanes 16 to 31 the column of words 0, 32, 64 ... */
static void test_some_lanes(void **state)
{
    (void)state;
    uint64_t addr[32];
    uint16_t word[32];
    char map[BANKS_N + 1];
    for (unsigned l = 0; l < 32; l++)
        addr[l] = l < 16 ? 4 * l : 128 * (l - 16);
    struct ana_banks b = banks_of(addr, ALL, 4);
    assert_int_equal(b.passes, 16); /* word 0 is one of both */
    assert_int_equal(banks_words(&b, 0, word), 16);
    assert_int_equal(word[0], 0);
    assert_int_equal(word[1], 32);
    assert_int_equal(word[15], 480);
    assert_int_equal(banks_words(&b, 15, word), 1);
    assert_int_equal(banks_words(&b, 16, word), 0);
    assert_int_equal(banks_fullest(&b), 0);
    assert_int_equal(banks_stride(&b), INT32_MIN);
    banks_map(&b, map);
    assert_string_equal(map, "G111111111111111................");
    b = banks_of(addr, 0xffff, 4);
    assert_int_equal(b.passes, 1);
    banks_map(&b, map);
    assert_string_equal(map, "1111111111111111................");
}

/* The slowest group of a request is the one that is kept. */
static void test_slowest_group(void **state)
{
    (void)state;
    uint64_t addr[32];
    for (unsigned l = 0; l < 32; l++)
        addr[l] = l < 16 ? 8 * l : 256 * (l - 16);
    struct ana_banks b = banks_of(addr, ALL, 8);
    assert_int_equal(b.passes, 1 + 16);
    assert_int_equal(b.lanes, 0xffff0000u);
    assert_int_equal(banks_stride(&b), 64);
}

static unsigned in(struct ana_banks b, uint32_t row, uint32_t widest)
{
    return banks_passes_in(&b, &(struct banks_layout){ row, widest });
}

/* Columns of tiles, turned over and with gaps. A gap behind each 128 bytes moves a row of 256 by two
 * words, so pairs of lanes meet still. */
static void test_layouts(void **state)
{
    (void)state;
    assert_int_equal(in(strided(0, 128, 4), 0, 4), 1);
    assert_int_equal(in(strided(0, 128, 4), 128, 4), 1);
    assert_int_equal(in(strided(0, 256, 4), 128, 4), 2);
    assert_int_equal(in(strided(0, 256, 4), 256, 4), 1);
    assert_int_equal(in(strided(0, 384, 4), 384, 4), 1);
    assert_int_equal(in(strided(0, 4096, 4), 4096, 4), 1);
    assert_int_equal(in(strided(0, 4096, 4), 1024, 4), 4);
    /* rows of 33 words: lane l is in bank l of row l, and turning the bank over by the row brings all
     * together */
    assert_int_equal(in(strided(0, 132, 4), 0, 4), 32);
    assert_int_equal(in(strided(0, 256, 8), 0, 8), 1); /* 32 doubles: 16 pairs of banks */
    assert_int_equal(in(strided(0, 256, 8), 256, 8), 1);
    assert_int_equal(in(strided(0, 512, 16), 512, 16), 1);
    assert_int_equal(in(strided(0, 128, 8), 0, 8), 1);
    assert_int_equal(in(strided(0, 128, 16), 0, 16), 1); /* 8 lanes, 8 fours of banks */
    assert_int_equal(in(strided(0, 1024, 16), 0, 16), 1);
    /* words beside accesses of 16 bytes: only 8 places in a row */
    assert_int_equal(in(strided(0, 128, 4), 0, 16), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),      cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_fours),      cmocka_unit_test(test_same_and_narrow),
        cmocka_unit_test(test_some_lanes), cmocka_unit_test(test_slowest_group),
        cmocka_unit_test(test_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
