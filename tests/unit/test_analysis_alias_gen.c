/* Soundness of alias.h: whatever a chain of operations makes of a pointer, the buffer that the simulated
 * device stores to is among the roots of the address, or these are unknown. ALIAS_KERNELS sets how many
 * kernels; the default takes a second. */
#include "tests/unit/alias_gen.h"
#include "tests/unit/sim_support.h"

#include "engine/analysis/alias.h"
#include "engine/rec/launch.h"

enum { FAR = 4096 }; /* bytes from one buffer to the other */
#define OPS ((int)(sizeof chain_ops / sizeof *chain_ops))

/* Which buffer the store of the kernel changes: 0 or 1, -1: neither. */
static int executed(const struct chain *c)
{
    struct sim_case s;
    sim_case_open(&s, c->text, "k", 2 * FAR);
    uint64_t second = s.addr + FAR, one = 1;
    memcpy(s.params + 8, &second, 8);
    memcpy(s.params + 16, &one, 8);
    s.l.nparams = 24;
    s.l.block = (struct dim3u){ 1, 1, 1 };
    memset(s.data, 0, 2 * FAR);
    enum status st = sim_case_run(&s);
    if (st != ST_OK) {
        fprintf(stderr, "%s\n", c->text);
        sim_case_print(&s);
    }
    uint32_t at[2];
    memcpy(&at[0], s.data, 4);
    memcpy(&at[1], s.data + FAR, 4);
    sim_case_close(&s);
    return st == ST_OK && at[0] == 77 && !at[1] ? 0 : st == ST_OK && at[1] == 77 && !at[0] ? 1 : -1;
}

struct verdict {
    bool contains, followed;
};
static struct verdict answer(const struct chain *c, int target)
{
    struct ptx_module *m = NULL;
    struct diags ds = { 0 };
    struct arg_spec args[3] = { { .kind = ARG_BUFFER, .name = "a" },
                                { .kind = ARG_BUFFER, .name = "b" },
                                { .kind = ARG_SCALAR, .name = "n" } };
    struct launch_spec l = { .args = args, .nargs = 3 };
    struct alias_opts o = { .launch = &l };
    assert_status_ok(ptx_parse("chain.ptx", str_of(c->text), &m, &ds), &ds);
    const struct ptx_func *f = ptx_find_func(m, STR("k"));
    struct alias *a = alias_make(m, f, &o);
    struct alias_roots r;
    const struct ptx_inst *store = &f->insts[f->ninsts - 2];
    assert_non_null(a);
    assert_int_equal(store->op, PTX_OP_ST);
    alias_roots(a, f, alias_address(store), &r);
    alias_free(a);
    ptx_free(m);
    diags_free(&ds);
    return (struct verdict){ r.unknown || r.params >> target & 1, !r.unknown };
}

static void test_each_operation(void **state)
{
    (void)state;
    for (int k = 0; k < OPS; k++)
        for (uint64_t seed = 1; seed < 5; seed++) {
            struct chain c;
            int target = chain_make(&c, seed * 77, k);
            assert_int_equal(executed(&c), target); /* the chain gives back what it was given */
            struct verdict v = answer(&c, target);
            if (!v.contains)
                fprintf(stderr, "not among the roots: %s\n", chain_ops[k]);
            assert_true(v.contains);
        }
}

static void test_random_chains(void **state)
{
    (void)state;
    uint32_t n = getenv("ALIAS_KERNELS") ? (uint32_t)atoi(getenv("ALIAS_KERNELS")) : 4000, wrong = 0,
             followed = 0, run = 0;
    for (uint32_t k = 0; k < n; k++) {
        struct chain c;
        int target = chain_make(&c, 1000 + k, -1);
        struct verdict v = answer(&c, target);
        if (k % 8 == 0) {
            assert_int_equal(executed(&c), target);
            run++;
        }
        wrong += !v.contains;
        followed += v.followed;
        if (!v.contains)
            fprintf(stderr, "seed %u: the buffer is not among the roots\n%s\n", 1000 + k, c.text);
    }
    printf("%u kernels, %u of them executed: %u wrong, %u followed\n", n, run, wrong, followed);
    assert_int_equal(wrong, 0);
    assert_true(followed > n / 100); /* not all is unknown */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_each_operation),
                                        cmocka_unit_test(test_random_chains) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
