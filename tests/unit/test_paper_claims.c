/* Statements: every test can be read, asks for experiments that exist, and can fail as well as pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/paper/claim.h"
#include "engine/paper/paper.h"

static const struct record some[] = {
    { RECORD_MEAN, "s1-fig12", "fermi-16k", "G-M", "cha", 0.9, NULL },
    { RECORD_ROW, "s1-fig12", "fermi-16k", "BFS", "cha", 2, NULL },
    { RECORD_ROW, "s1-fig12", "fermi-16k", "BFS", "opt", 3, NULL },
    { RECORD_ROW, "s1-fig12", "fermi-16k", "SYK", "cha", 4, NULL },
    { RECORD_ROW, "s1-fig12", "fermi-16k", "SYK", "opt", 1, NULL },
    { RECORD_FACT, "s1-fig5", "", "category", "", NAN, "cache-congested" },
};

static enum claim_result tried(const char *test, struct buf *why)
{
    struct records r = { some, ARRAY_LEN(some) };
    buf_clear(why);
    return claim_try(test, &r, why);
}

static void comparisons(void **state)
{
    static const struct {
        const char *test;
        enum claim_result want;
    } c[] = {
        { "[s1-fig12|fermi-16k|G-M|cha] < 1", CLAIM_PASS },
        { "[s1-fig12|fermi-16k|G-M|cha] > 1", CLAIM_FAIL },
        { "[s1-fig12|*|G-M|cha] ~ 0.95", CLAIM_PASS },
        { "[s1-fig12|*|G-M|cha] ~ 1.2", CLAIM_FAIL },
        { "[s1-fig12|*|BFS|cha] = 2", CLAIM_PASS },
        { "[s1-fig12|*|BFS|cha] = 2.1", CLAIM_FAIL },
        { "[s1-fig12|*|BFS|cha] + 2 * (3 - 1) = 6", CLAIM_PASS },
        { "[s1-fig12|*|BFS|cha] <= 2 & [s1-fig12|*|SYK|cha] < 4", CLAIM_FAIL },
        { "[s1-fig12|*|BFS|cha] <= 2 & [s1-fig12|*|SYK|cha] >= 4", CLAIM_PASS },
        { "[s1-fig5|*|category|] is cache-congested", CLAIM_PASS },
        { "[s1-fig5|*|category|] is irregular", CLAIM_FAIL },
        { "[s1-fig12|kepler-k40|G-M|cha] < 1", CLAIM_NOT_TRIED },
        { "each s1-fig12|*: {cha} > 0 => {opt} > 0", CLAIM_PASS },
        { "each s1-fig12|*: {cha} > 0 => {opt} > {cha}", CLAIM_FAIL },
        { "each s1-fig12|*: {cha} < 3 => {opt} > {cha}", CLAIM_PASS },
        { "each s1-fig12|*: {cha} > 0 => {opt} > {cha} @BFS", CLAIM_PASS },
        { "each s1-fig13|*: {cha} > 0 => {opt} > {cha}", CLAIM_NOT_TRIED },
    };
    struct buf why = { 0 };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(c); i++)
        if (tried(c[i].test, &why) != c[i].want)
            fail_msg("%s: %s", c[i].test, why.s ? why.s : "");
    buf_free(&why);
}

static void the_values_are_said(void **state)
{
    struct buf why = { 0 };
    (void)state;
    tried("[s1-fig12|fermi-16k|G-M|cha] < [s1-fig12|*|BFS|opt]", &why);
    assert_string_equal(why.s, "s1-fig12 fermi-16k G-M cha 0.9; s1-fig12 BFS opt 3");
    tried("each s1-fig12|*: {cha} > 0 => {opt} > {cha}", &why);
    assert_string_equal(why.s, "1 of 2; not SYK");
    tried("[s1-fig12|kepler-k40|G-M|cha] < 1", &why);
    assert_string_equal(why.s, "s1-fig12 kepler-k40 G-M cha is not recorded");
    buf_free(&why);
}

static void nonsense_is_unreadable(void **state)
{
    static const char *const test[] = { "",
                                        "1 <",
                                        "[s1-fig12|a] < 1",
                                        "1 < 2 3",
                                        "(1 < 2",
                                        "each s1-fig12|*: {cha > 0",
                                        "((((((((((((((((((((1))))))))))))))))))) > 2",
                                        "{cha} > 1" };
    struct buf why = { 0 };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(test); i++) {
        assert_int_equal(tried(test[i], &why), CLAIM_NOT_TRIED);
        assert_int_equal(strncmp(why.s, "unreadable", 10), 0);
    }
    buf_free(&why);
}

/* the experiment that begins at `at`, after [ or each */
static void expect_experiment(const char *at, size_t n)
{
    char id[32];
    snprintf(id, sizeof id, "%.*s", (int)n, at);
    if (!paper_find(id))
        fail_msg("no experiment %s", id);
}

static void every_statement_can_be_tried(void **state)
{
    struct records none = { NULL, 0 };
    struct buf why = { 0 };
    (void)state;
    assert_true(claim_count() > 150);
    for (size_t i = 0; i < claim_count(); i++) {
        const struct claim *c = claim_at(i);
        assert_true(!c->test != !c->why_not);
        buf_clear(&why);
        if (!c->test)
            continue;
        assert_int_equal(claim_try(c->test, &none, &why), CLAIM_NOT_TRIED);
        if (strncmp(why.s ? why.s : "", "unreadable", 10) == 0)
            fail_msg("%s", why.s);
        if (strncmp(c->test, "each ", 5) == 0)
            expect_experiment(c->test + 5, strcspn(c->test + 5, "|"));
        for (const char *p = strchr(c->test, '['); p; p = strchr(p + 1, '['))
            expect_experiment(p + 1, strcspn(p + 1, "|"));
    }
    buf_free(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons),
        cmocka_unit_test(the_values_are_said),
        cmocka_unit_test(nonsense_is_unreadable),
        cmocka_unit_test(every_statement_can_be_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
