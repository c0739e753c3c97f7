/* The opcodes and shapes that PTX in use holds (tests/sim/opcodes.ptx, a kernel each, with their
 * shares): every one that has a kernel must load and run, and the share they make up is printed. */
#include "tests/unit/sim_support.h"

struct share {
    double instructions, modules;
    unsigned rows;
};
static void add(struct share *s, double instructions, double modules)
{
    s->instructions += instructions;
    s->modules += modules;
    s->rows++;
}

static bool ends_by_trap(const char *op)
{
    return !strcmp(op, "trap") || !strcmp(op, "brkpt");
}

/* True: it ran to its end, or to the trap it is. */
static bool runs(const struct ptx_module *m, const char *kernel, const char *op)
{
    struct sim_preset g = sim_preset_default();
    struct diags ds = { 0 };
    struct sim_stats stats = { 0 };
    struct sim_program *p = NULL;
    struct sim_mem *mem = sim_mem_new(1ull << 33);
    uint64_t addr = sim_mem_alloc(mem, 4096, "data");
    uint8_t params[64] = { 0 };
    memcpy(params, &addr, 8);
    bool group = strncmp(op, "setmaxnreg", 10) == 0; /* all warps of a warpgroup execute it */
    struct sim_launch l = { .grid = { 1, 1, 1 },
                            .block = { group ? 128 : 32, 1, 1 },
                            .params = params,
                            .nparams = sizeof params,
                            .functional = true,
                            .threads = 1,
                            .carveout = -1,
                            .hw_pi = -1,
                            .max_cycles = 100000 };
    enum status st = sim_load(m, str_of(kernel), &g, mem, &p, &ds);
    bool loaded = st == ST_OK;
    if (loaded)
        st = sim_run(p, &l, &stats, &ds);
    bool ok = loaded &&
              (st == ST_OK ||
               (ends_by_trap(op) &&
                support_said(&ds, strncmp(op, "brkpt", 5) == 0 ? "stopped at a breakpoint" : "trap")));
    if (!ok) {
        struct buf out = { 0 };
        diags_print(&ds, &out);
        printf("%s: %s", op, out.s ? out.s : "\n");
        buf_free(&out);
    }
    sim_stats_free(&stats);
    sim_unload(p);
    sim_mem_free(mem);
    diags_free(&ds);
    return ok;
}

static void shares(void **state)
{
    (void)state;
    char *text, op[64], kernel[16];
    size_t n;
    double instructions, modules;
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    struct share all = { 0 }, run = { 0 }, none = { 0 };
    assert_int_equal(file_read("tests/sim/opcodes.ptx", 1 << 20, &text, &n, &ds), ST_OK);
    assert_int_equal(ptx_parse("opcodes.ptx", (struct str){ text, n }, &m, &ds), ST_OK);
    unsigned failed = 0;
    for (const char *s = text; (s = strstr(s, "//# ")); s += 4) {
        assert_int_equal(sscanf(s, "//# %63s %lf %lf %15s", op, &instructions, &modules, kernel), 4);
        add(&all, instructions, modules);
        if (kernel[0] == '-')
            add(&none, instructions, modules);
        else if (runs(m, kernel, op))
            add(&run, instructions, modules);
        else
            failed++;
    }
    printf("%u of %u opcodes and shapes run: %.2f %% of the instructions of the table; without a "
           "kernel: %u, %.2f %%\n",
           run.rows, all.rows, 100 * run.instructions / all.instructions, none.rows,
           100 * none.instructions / all.instructions);
    assert_int_equal(failed, 0);
    assert_true(run.rows >= 470);
    ptx_free(m);
    base_free(text);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shares) };
    return cmocka_run_group_tests_name("sim exec: opcodes in use", tests, NULL, NULL);
}
