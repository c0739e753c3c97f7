/* Loads that share a base are checked together where all can be: one that does not fit the others is
 * checked on its own, and faults as it would alone. */
#include "tests/unit/sim_support.h"

#include <stdio.h>

static const struct {
    const char *type, *offset;
    const char *said; /* NULL: it runs */
} rows[] = {
    { "u32", "12", NULL },
    { "u32", "9", "misaligned" },
    { "u32", "2", "misaligned" },
    { "u32", "2147483647", "at global address" },
    { "u32", "2147483644", "at global address" },
    { "u32", "65536", "out-of-bounds" },
    { "u32", "-4", "out-of-bounds" },
    { "u32", "-2147483648", "out-of-bounds" },
    { "u64", "8", "misaligned" }, /* of every second lane */
    { "u8", "7", NULL },
    { "u16", "7", "misaligned" },
};

/* The load of a row before, between and after three that go together, of a warp in sequence. */
static void one(size_t row, unsigned place)
{
    char text[1400], odd[120];
    bool wide = strcmp(rows[row].type, "u64") == 0;
    snprintf(odd, sizeof odd, "ld.global.%s %s, [%%d3+%s];", rows[row].type, wide ? "%d5" : "%r5",
             rows[row].offset);
    snprintf(
        text, sizeof text,
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n"
        "{\n.reg .b64 %%d<8>; .reg .b32 %%r<12>; .reg .pred %%p;\n"
        "ld.param.u64 %%d1, [a]; mov.u32 %%r1, %%tid.x; mov.u32 %%r8, 0; mov.u32 %%r9, 0; mov.u64 "
        "%%d5, 0;\n"
        "mul.wide.u32 %%d2, %%r1, 4; add.s64 %%d3, %%d1, %%d2;\n"
        "L: %s ld.global.u32 %%r2, [%%d3]; %s ld.global.u32 %%r3, [%%d3+4]; ld.global.u32 %%r4, "
        "[%%d3+8]; %s\n"
        "cvt.u32.u64 %%r6, %%d5; add.u32 %%r2, %%r2, %%r3; add.u32 %%r2, %%r2, %%r4; add.u32 %%r2, "
        "%%r2, %%r5;\n"
        "add.u32 %%r9, %%r9, %%r2; add.u32 %%r8, %%r8, 1; setp.lt.u32 %%p, %%r8, 3000; @%%p bra L;\n"
        "st.global.u32 [%%d3+4096], %%r9; ret;\n}\n",
        place == 0 ? odd : "", place == 1 ? odd : "", place == 2 ? odd : "");
    struct sim_case c;
    sim_case_open(&c, text, "k", 65536);
    for (uint32_t k = 0; k < 16384; k++)
        ((uint32_t *)(void *)c.data)[k] = k;
    sim_case_run(&c);
    if ((c.st == ST_OK) != !rows[row].said || (rows[row].said && !support_said(&c.ds, rows[row].said))) {
        sim_case_print(&c);
        fail_msg("row %zu, place %u: status %d", row, place, c.st);
    }
    sim_case_close(&c);
}

static void each_load_is_checked(void **state)
{
    (void)state;
    for (size_t r = 0; r < ARRAY_LEN(rows); r++)
        for (unsigned place = 0; place < 3; place++)
            one(r, place);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_load_is_checked) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
