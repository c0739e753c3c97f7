/* The analysis' exact counts of a launch against the simulated device's own, load by load. */
#ifndef GPULOCW_TESTS_ANALYSIS_COMPARE_H
#define GPULOCW_TESTS_ANALYSIS_COMPARE_H

#include "tests/unit/analysis_support.h"

#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/rec/launch_read.h"
#include "engine/sim/decoded.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"
#include "engine/sim/timing/plan.h"

struct ana_access;
struct ana_kernel;
struct ana_opts;
struct diags;
struct ptx_func;
struct ptx_module;
struct sim_mem;
struct sim_program;

/* ---- one launch on the simulated device ---- */
static inline void put_args(const struct ptx_func *f, const struct launch_data *d, struct sim_mem *mem,
                            uint8_t *params)
{
    const struct launch_spec *l = d->spec;
    uint64_t base[16] = { 0 };
    for (size_t i = 0; i < l->nargs; i++) {
        if (l->args[i].kind != ARG_BUFFER)
            continue;
        base[i] = sim_mem_alloc(mem, d->buffers[i].n, l->args[i].name);
        uint8_t *h = sim_mem_host(mem, base[i], d->buffers[i].n);
        assert_non_null(h);
        launch_buffer_fill(&d->buffers[i], h, 0, NULL);
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
static inline void put_symbols(struct sim_program *p, const struct launch_data *d)
{
    struct diags ds = { 0 };
    for (size_t i = 0; i < d->spec->nsymbols; i++)
        assert_status_ok(sim_symbol_write(p, str_of(d->spec->symbols[i].name), 0, d->symbols[i].bytes,
                                          d->symbols[i].n),
                         &ds);
    diags_free(&ds);
}
/* Loads of global memory that a timed launch makes once, since an assembler does: each beside the one that it repeats. */
struct made_once {
    const struct ptx_inst *load[64], *of[64];
    unsigned n;
};
static inline void note_once(const struct sim_program *p, const struct sim_preset *g,
                             struct made_once *o)
{
    struct timing_plan t;
    o->n = 0;
    assert_int_equal(timing_plan_make(&t, p, g), ST_OK);
    for (uint32_t i = 0; i < p->ncode; i++) {
        if (!t.op[i].same || p->code[i].ptx->space == PTX_SPACE_SHARED)
            continue;
        assert_true(o->n < ARRAY_LEN(o->load));
        o->load[o->n] = p->code[i].ptx;
        o->of[o->n++] = p->code[t.op[i].same - 1].ptx;
    }
    timing_plan_free(&t);
}
static inline const struct ptx_inst *repeated(const struct made_once *o, const struct ptx_inst *i)
{
    for (unsigned k = 0; k < o->n; k++)
        if (o->load[k] == i)
            return o->of[k];
    return NULL;
}

static inline void simulate(const struct ptx_module *m, const struct ptx_func *f,
                            const struct launch_data *d, struct sim_stats *out, struct made_once *once)
{
    struct diags ds = { 0 };
    struct sim_preset preset = sim_preset_default();
    struct sim_mem *mem = sim_mem_new((uint64_t)1 << 32);
    struct sim_program *prog = NULL;
    uint8_t params[4096] = { 0 };
    assert_status_ok(sim_load(m, f->name, &preset, mem, &prog, &ds), &ds);
    put_args(f, d, mem, params);
    put_symbols(prog, d);
    struct sim_launch l = { .grid = d->spec->grid,
                            .block = d->spec->block,
                            .shared = d->spec->shared,
                            .params = params,
                            .nparams = f->param_bytes,
                            .exact = true,
                            .threads = 1,
                            .carveout = -1,
                            .hw_pi = -1 };
    assert_status_ok(sim_run(prog, &l, out, &ds), &ds);
    note_once(prog, &preset, once);
    sim_unload(prog);
    sim_mem_free(mem);
    diags_free(&ds);
}
static inline const struct sim_load_stats *stats_of(const struct sim_stats *s, uint32_t func,
                                                    uint32_t inst)
{
    for (uint32_t i = 0; i < s->nloads; i++)
        if (s->loads[i].func == func && s->loads[i].inst == inst)
            return &s->loads[i];
    return NULL;
}
/* How the compared loads were counted. */
static unsigned closed, sliced;
/* Whether each cp.async has a load of the same bytes behind it, as in the texts of analysis_gen.h. */
static bool twins;
static inline const struct ana_access *access_of(const struct ptx_module *m, const struct ana_kernel *k,
                                                 const struct ptx_inst *i)
{
    for (uint32_t n = 0; n < k->naccess; n++)
        if (&m->funcs[k->access[n].func]->insts[k->access[n].inst] == i)
            return &k->access[n];
    return NULL;
}
/* Returns how many loads were compared; all must agree: one that repeats another, which was made once, with that one. open: loads whose address the analysis does not
 * follow, and says why. */
static inline unsigned compare(const struct ptx_module *m, const struct launch_data *d, const char *what,
                               unsigned *open)
{
    struct diags ds = { 0 };
    struct ana_kernel *k = NULL;
    struct ana_opts o = { .data = d };
    struct sim_stats s;
    struct made_once once;
    unsigned n = 0;
    assert_status_ok(ana_run(m, str_of(d->spec->kernel), &o, &k, &ds), &ds);
    simulate(m, k->func, d, &s, &once);
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        if (a->store || a->prefetch || a->space != PTX_SPACE_GLOBAL)
            continue;
        /* not counted there; in generated texts a twin follows */
        bool copy = m->funcs[a->func]->insts[a->inst].op == PTX_OP_CP_ASYNC;
        const struct sim_load_stats *x = stats_of(&s, a->func, a->inst + copy);
        if (copy && !x && !twins)
            continue;
        uint64_t requests = x ? x->requests : 0, sectors = x ? x->sectors : 0;
        const struct ptx_inst *of = repeated(&once, &m->funcs[a->func]->insts[a->inst]);
        if (of) {
            const struct ana_access *b = access_of(m, k, of);
            assert_non_null(b);
            assert_int_equal(requests, 0);
            requests = b->exact.requests;
            sectors = b->exact.sectors;
        }
        if (open && !a->exact.valid && a->uncounted) {
            ++*open;
            continue;
        }
        if (!a->exact.valid || a->exact.requests != requests || a->exact.sectors != sectors) {
            fputs(what, stderr); /* a whole kernel is more than a message holds */
            fail_msg(
                "line %u (%s; %s): analysis %llu requests %llu sectors, simulator %llu and %llu; %s",
                a->at.line, a->counted_by ? a->counted_by : "not counted", a->address,
                (unsigned long long)a->exact.requests, (unsigned long long)a->exact.sectors,
                (unsigned long long)requests, (unsigned long long)sectors,
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

#endif
