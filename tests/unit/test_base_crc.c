/* CRC32C against the figures of RFC 3720, appendix B.4, a division bit by bit, and in pieces. */
#include "engine/base/base.h"
#include "engine/base/crc.h"
#include "tests/support.h"

#include <string.h>

static uint32_t bit_by_bit(const uint8_t *p, size_t n)
{
    uint32_t c = 0xffffffff;
    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0x82f63b78 : c >> 1;
    }
    return ~c;
}

static void published_figures(void **state)
{
    (void)state;
    uint8_t b[32];
    assert_int_equal(base_crc32c(0, "123456789", 9), 0xe3069283);
    memset(b, 0, sizeof b);
    assert_int_equal(base_crc32c(0, b, sizeof b), 0x8a9136aa);
    memset(b, 0xff, sizeof b);
    assert_int_equal(base_crc32c(0, b, sizeof b), 0x62a8ab43);
    for (uint8_t i = 0; i < 32; i++)
        b[i] = i;
    assert_int_equal(base_crc32c(0, b, sizeof b), 0x46dd794e);
    for (uint8_t i = 0; i < 32; i++)
        b[i] = (uint8_t)(31 - i);
    assert_int_equal(base_crc32c(0, b, sizeof b), 0x113fdb5c);
    assert_int_equal(base_crc32c(0, NULL, 0), 0);
}

static void table_and_instruction_agree(void **state)
{
    (void)state;
    uint8_t b[300];
    for (size_t i = 0; i < sizeof b; i++)
        b[i] = (uint8_t)base_splitmix(3, i);
    for (size_t from = 0; from < 9; from++)
        for (size_t n = 0; n + from <= sizeof b; n++) {
            uint32_t want = bit_by_bit(b + from, n);
            assert_int_equal(base_crc32c(0, b + from, n), want);
            assert_int_equal(base_crc32c_table(0, b + from, n), want);
            assert_int_equal(
                base_crc32c(base_crc32c_table(0, b + from, n / 3), b + from + n / 3, n - n / 3), want);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(published_figures),
                                        cmocka_unit_test(table_and_instruction_agree) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
