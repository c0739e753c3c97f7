/* The analysis' exact counts against the simulated device's own, load by load:
 * on kernels made from random shapes and on every launch of every demo kernel
 * (cut to a few CTAs). The two share no code, so each checks the other. */
#include "tests/unit/analysis_gen.h"

#include <glob.h>
#include <stdlib.h>

#include "engine/session/session.h"
#include "engine/sim/sim.h"

#define SEEDS 400
#define MAX_CTAS 12u

/* ---- one launch on the simulated device ---- */
static void put_args(const struct ptx_func *f, const struct launch_data *d, struct sim_mem *mem, uint8_t *params)
{
    const struct launch_spec *l = d->spec;
    uint64_t base[16] = { 0 };
    for (size_t i = 0; i < l->nargs; i++) {
        if (l->args[i].kind != ARG_BUFFER)
            continue;
        base[i] = sim_mem_alloc(mem, d->buffers[i].n, l->args[i].name);
        uint8_t *h = sim_mem_host(mem, base[i], d->buffers[i].n);
        assert_non_null(h);
        memcpy(h, d->buffers[i].bytes, d->buffers[i].n);
    }
    for (size_t i = 0; i < l->nargs; i++) {
        const struct arg_spec *a = &l->args[i];
        uint8_t *p = params + f->params[i]->offset;
        size_t own = launch_buffer_of(l, i);
        if (a->kind == ARG_SCALAR)
            memcpy(p, a->scalar, elem_size(a->elem));
        else if (a->kind == ARG_BYTES)
            memcpy(p, a->bytes, a->nbytes);
        else {
            uint64_t addr = base[own] + (a->kind == ARG_SAME_AS ? a->offset : 0);
            memcpy(p, &addr, 8);
        }
    }
}
static void put_symbols(struct sim_program *p, const struct launch_data *d)
{
    struct diags ds = { 0 };
    for (size_t i = 0; i < d->spec->nsymbols; i++)
        assert_status_ok(sim_symbol_write(p, str_of(d->spec->symbols[i].name), 0, d->symbols[i].bytes, d->symbols[i].n), &ds);
    diags_free(&ds);
}
static void simulate(const struct ptx_module *m, const struct ptx_func *f, const struct launch_data *d, struct sim_stats *out)
{
    struct diags ds = { 0 };
    struct sim_preset preset = sim_preset_default();
    struct sim_mem *mem = sim_mem_new((uint64_t)1 << 32);
    struct sim_program *prog = NULL;
    uint8_t params[4096] = { 0 };
    assert_status_ok(sim_load(m, f->name, &preset, mem, &prog, &ds), &ds);
    put_args(f, d, mem, params);
    put_symbols(prog, d);
    struct sim_launch l = { .grid = d->spec->grid, .block = d->spec->block, .shared = d->spec->shared, .params = params, .nparams = f->param_bytes,
                            .exact = true, .threads = 1, .carveout = -1, .hw_pi = -1 };
    assert_status_ok(sim_run(prog, &l, out, &ds), &ds);
    sim_unload(prog);
    sim_mem_free(mem);
    diags_free(&ds);
}
static const struct sim_load_stats *stats_of(const struct sim_stats *s, uint32_t func, uint32_t inst)
{
    for (uint32_t i = 0; i < s->nloads; i++)
        if (s->loads[i].func == func && s->loads[i].inst == inst)
            return &s->loads[i];
    return NULL;
}
/* How the compared loads were counted. */
static unsigned closed, sliced;
/* Returns how many loads were compared; all must agree. */
static unsigned compare(const struct ptx_module *m, const struct launch_data *d, const char *what)
{
    struct diags ds = { 0 };
    struct ana_kernel *k = NULL;
    struct ana_opts o = { .data = d };
    struct sim_stats s;
    unsigned n = 0;
    assert_status_ok(ana_run(m, str_of(d->spec->kernel), &o, &k, &ds), &ds);
    simulate(m, k->func, d, &s);
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        if (a->store || a->prefetch || a->space != PTX_SPACE_GLOBAL)
            continue;
        bool copy = m->funcs[a->func]->insts[a->inst].op == PTX_OP_CP_ASYNC;      /* not counted there; in analysis_gen.h a twin follows */
        const struct sim_load_stats *x = stats_of(&s, a->func, a->inst + copy);
        if (copy && !x && strlen(what) < 64)
            continue;
        uint64_t requests = x ? x->requests : 0, sectors = x ? x->sectors : 0;
        if (!a->exact.valid || a->exact.requests != requests || a->exact.sectors != sectors) {
            fputs(what, stderr);         /* a whole kernel is more than a message holds */
            fail_msg("line %u (%s; %s): analysis %llu requests %llu sectors, simulator %llu and %llu; %s", a->at.line, a->counted_by ? a->counted_by : "not counted",
                     a->address, (unsigned long long)a->exact.requests, (unsigned long long)a->exact.sectors, (unsigned long long)requests, (unsigned long long)sectors,
                     a->uncounted ? a->uncounted : "");
        }
        n++;
        closed += a->counted_by && !strcmp(a->counted_by, "closed form");
        sliced += a->counted_by && !strcmp(a->counted_by, "slice");
    }
    sim_stats_free(&s);
    ana_free(k);
    diags_free(&ds);
    return n;
}

static void generated(void **state)
{
    (void)state;
    struct an_gen g = { 0 };
    unsigned n = 0;
    for (uint64_t seed = 10001; seed <= 10000 + SEEDS; seed++) {
        struct an_launch a;
        an_gen_make(&g, seed);
        struct ptx_module *m = an_parse(g.text.s);
        an_gen_launch(&g, &a);
        n += compare(m, &a.data, g.text.s);
        launch_data_free(&a.data);
        ptx_free(m);
    }
    buf_free(&g.text);
    assert_int_equal(n, SEEDS);
}

/* Random programs; both ways of counting must have been at work. */
#define PROGRAMS 600
static void programs(void **state)
{
    (void)state;
    struct gen g = { 0 };
    closed = sliced = 0;
    uint64_t from = getenv("GEN_SEED") ? strtoull(getenv("GEN_SEED"), NULL, 10) : 1, count = getenv("GEN_COUNT") ? strtoull(getenv("GEN_COUNT"), NULL, 10) : PROGRAMS;
    for (uint64_t seed = from; seed < from + count; seed++) {
        struct an_launch a;
        gen_make(&g, seed);
        struct ptx_module *m = an_parse(g.text.s);
        gen_launch(&g, &a);
        compare(m, &a.data, g.text.s);
        launch_data_free(&a.data);
        ptx_free(m);
    }
    buf_free(&g.text);
    if (count >= PROGRAMS)
        assert_true(closed > PROGRAMS / 2 && sliced > PROGRAMS / 2);
    print_message("%u loads counted in closed form, %u by slices\n", closed, sliced);
}

/* ---- demo kernels ---- */
static void cut(struct launch_spec *l)
{
    while (dim3u_count(l->grid) > MAX_CTAS) {
        uint32_t *most = l->grid.x >= l->grid.y && l->grid.x >= l->grid.z ? &l->grid.x : l->grid.y >= l->grid.z ? &l->grid.y : &l->grid.z;
        *most = (*most + 1) / 2;
    }
    l->nbefore = 0;
}
static unsigned one_file(const char *path)
{
    struct diags ds = { 0 };
    struct launch_file lf = { 0 };
    unsigned n = 0;
    assert_status_ok(launch_file_read(path, &lf, &ds), &ds);
    for (size_t i = 0; i < lf.n; i++) {
        struct launch_spec *l = &lf.launch[i];
        struct launch_data d;
        struct ptx_module *m = NULL;
        if (l->name && !strcmp(l->name, "h200"))
            continue;                /* the same kernels, sized for a real GPU */
        char *ptx = NULL;
        struct buf b = { 0 };
        size_t before = l->nbefore;
        buf_printf(&b, "%s/%s", l->dir ? l->dir : ".", l->ptx);
        ptx = buf_take(&b);
        cut(l);
        assert_status_ok(ptx_parse_file(ptx, &m, &ds), &ds);
        assert_status_ok(launch_data_make(l, (uint64_t)1 << 32, &d, &ds), &ds);
        buf_printf(&b, "%s %s", path, l->kernel);
        n += compare(m, &d, b.s);
        launch_data_free(&d);
        l->nbefore = before;
        ptx_free(m);
        base_free(ptx);
        buf_free(&b);
    }
    launch_file_free(&lf);
    diags_free(&ds);
    return n;
}
static void demos(void **state)
{
    (void)state;
    glob_t g;
    unsigned n = 0;
    assert_int_equal(glob("kernels/*.launch.json", 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++)
        n += one_file(g.gl_pathv[i]);
    assert_true(g.gl_pathc >= 20 && n > 100);
    globfree(&g);
}

/* ---- compiled control flow: switches, breaks, calls, short circuits, shuffles, queues ---- */
static bool starts(const struct ptx_func *f, const char *name) { return f->name.n >= strlen(name) && !memcmp(f->name.s, name, strlen(name)); }
/* Pointers get buffers of small random integers, 32-bit numbers 100 (24 for the fourth), structures zero bytes. */
static void any_launch(const struct ptx_func *f, struct an_launch *a)
{
    static uint8_t zero[64];
    bool box = starts(f, "k_z"), tile = starts(f, "k_tile");
    an_launch_init(a, box ? (struct dim3u){ 1, 3, 2 } : tile ? (struct dim3u){ 3, 4, 1 } : (struct dim3u){ 5, 1, 1 },
                   box ? (struct dim3u){ 11, 5, 3 } : tile ? (struct dim3u){ 16, 16, 1 } : (struct dim3u){ 96, 1, 1 });
    for (uint32_t q = 0; q < f->nparams; q++) {
        uint64_t bytes = f->params[q]->bytes;
        if (bytes > 8) {
            a->arg[a->l.nargs++] = (struct arg_spec){ .kind = ARG_BYTES, .name = (char *)(uintptr_t)"s", .bytes = zero, .nbytes = bytes };
        } else if (bytes == 8 && !(starts(f, "k_u64") && q == 2)) {
            struct arg_spec *b = an_buffer(a, "b", ELEM_S32, 1 << 15);
            b->init = (struct init_spec){ .kind = INIT_RANDOM, .b = 99, .ib = 99, .integral = true, .seed = q + 3 };
        } else {
            an_int(a, "n", q == 3 ? 24 : 100);
            a->arg[a->l.nargs - 1].elem = bytes == 8 ? ELEM_S64 : ELEM_S32;
        }
    }
    a->l.kernel = arena_dup(f->module->arena, f->name);
    an_data(a);
}
static unsigned compiled_file(const char *path)
{
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    unsigned n = 0;
    assert_status_ok(ptx_parse_file(path, &m, &ds), &ds);
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        struct an_launch a;
        if (!m->funcs[i]->entry || starts(m->funcs[i], "table"))     /* no launch description holds a table of pointers */
            continue;
        any_launch(m->funcs[i], &a);
        n += compare(m, &a.data, a.l.kernel);
        launch_data_free(&a.data);
    }
    ptx_free(m);
    diags_free(&ds);
    return n;
}
static void compiled(void **state)
{
    (void)state;
    assert_true(compiled_file("tests/golden/analysis/control.ptx") > 60);
    assert_true(compiled_file("tests/golden/analysis/forms.ptx") > 25);
}

/* An argument picks tests by name; GEN_SEED and GEN_COUNT pick random programs. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = { cmocka_unit_test(generated), cmocka_unit_test(programs), cmocka_unit_test(demos), cmocka_unit_test(compiled) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
