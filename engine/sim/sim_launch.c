/* sim_run: checks a launch against the kernel and the device, then runs it
 * functionally (outputs only) or timed. */
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/sim/exec/lanes/lanes.h"
#include "engine/sim/mem.h"
#include "engine/sim/step.h"

#include <math.h>
#include <string.h>

enum status sim_load(const struct ptx_module *m, struct str kernel, const struct sim_preset *preset,
                     struct sim_mem *mem, struct sim_program **out, struct diags *ds)
{
    return sim_load_marked(m, kernel, NULL, preset, mem, out, ds);
}

enum status sim_load_marked(const struct ptx_module *m, struct str kernel,
                            const struct text_marks *marks, const struct sim_preset *preset,
                            struct sim_mem *mem, struct sim_program **out, struct diags *ds)
{
    enum status st = sim_load_lanes(m, kernel, marks, preset, mem, 0, out, ds);
    if (st == ST_OK && (*out)->regs_allowed)
        timing_estimate(*out);
    return st;
}

void sim_stats_free(struct sim_stats *s)
{
    for (uint32_t i = 0; i < s->nparts; i++)
        for (uint32_t k = 0; k < s->parts[i].nphases; k++)
            base_free(s->parts[i].phase[k].seen.loads);
    BASE_FREE(s->parts, s->loads, s->print, s->spent);
    s->spent = NULL;
    s->nspent = 0;
    s->parts = NULL;
    s->nparts = 0;
    s->loads = NULL;
    s->print = NULL;
    s->nloads = 0;
    s->nprint = 0;
}

void sim_stats_join(struct sim_stats *s, const struct sim_stats *more)
{
    s->ctas += more->ctas;
    s->inst_warp += more->inst_warp;
    s->inst_thread += more->inst_thread;
    for (unsigned i = 0; i < SIM_CTA_WARPS; i++)
        s->inst_of_warp[i] += more->inst_of_warp[i];
    for (uint32_t i = 0; i < s->nloads && i < more->nloads; i++) {
        s->loads[i].executions += more->loads[i].executions;
        s->loads[i].threads += more->loads[i].threads;
    }
}

bool sim_can_skip(const struct sim_program *p)
{
    return p->timing_ignores_data && !p->ordered && !p->heap && !p->part;
}

static bool bad(struct diags *ds, const char *what, uint64_t have, const char *limit, uint64_t allowed)
{
    diag_error(ds, "launch", "%s is %llu, %s %llu", what, (unsigned long long)have, limit,
               (unsigned long long)allowed);
    return false;
}

static bool check_dims(const struct sim_preset *g, const struct sim_launch *l, struct diags *ds)
{
    const struct {
        const char *name;
        uint64_t have, most;
    } dims[] = { { "grid.x", l->grid.x, 2147483647 }, { "grid.y", l->grid.y, 65535 },
                 { "grid.z", l->grid.z, 65535 },      { "block.x", l->block.x, 1024 },
                 { "block.y", l->block.y, 1024 },     { "block.z", l->block.z, 64 } };
    for (size_t i = 0; i < ARRAY_LEN(dims); i++) {
        if (!dims[i].have)
            return bad(ds, dims[i].name, 0, "must be at least", 1);
        if (dims[i].have > dims[i].most)
            return bad(ds, dims[i].name, dims[i].have, "more than", dims[i].most);
    }
    uint64_t threads = dim3u_count(l->block);
    if (threads > (uint64_t)g->max_threads_per_block)
        return bad(ds, "threads per block", threads, "more than the device's",
                   (uint64_t)g->max_threads_per_block);
    return true;
}

static bool check_kernel(const struct sim_program *p, const struct sim_launch *l, struct diags *ds)
{
    const struct ptx_func *f = p->funcs[0].ptx;
    uint64_t threads = dim3u_count(l->block);
    struct dim_directive need = f->reqntid, most = f->maxntid;
    if (need.x && (need.x != l->block.x || (need.y ? need.y : 1) != l->block.y ||
                   (need.z ? need.z : 1) != l->block.z)) {
        diag_error(ds, "launch", "the kernel requires blocks of %u x %u x %u threads (.reqntid)", need.x,
                   need.y ? need.y : 1, need.z ? need.z : 1);
        return false;
    }
    uint64_t limit =
        most.x ? (uint64_t)most.x * (most.y ? most.y : 1) * (most.z ? most.z : 1) : UINT64_MAX;
    if (threads > limit)
        return bad(ds, "threads per block", threads, "more than the kernel's .maxntid", limit);
    uint64_t shared = (uint64_t)p->shared_static + l->shared;
    if (shared > (uint64_t)p->preset.shared_block_max)
        return bad(ds, "shared memory per block", shared, "more than the device's",
                   (uint64_t)p->preset.shared_block_max);
    if (l->nparams < f->param_bytes)
        return bad(ds, "size of the parameter block", l->nparams, "less than the kernel's",
                   f->param_bytes);
    return true;
}

struct dev_resident sim_resident(const struct sim_program *p, const struct sim_launch *l)
{
    struct dev_info d;
    struct dev_cta cta = { .threads = dim3u_count(l->block),
                           .regs = p->regs,
                           .shared = (uint64_t)p->shared_static + l->shared,
                           .cluster = dim3u_count(exec_cluster_of(p, l)),
                           .carveout = l->carveout };
    sim_preset_info(&p->preset, &d);
    return dev_resident(&d, &cta);
}

/* A cooperative launch: all CTAs have to be resident, and the barrier begins at nought. */
static enum status prepare_grid(struct sim_program *p, const struct sim_launch *l, struct diags *ds)
{
    if (!p->grid_space)
        return ST_OK;
    uint64_t ctas = dim3u_count(l->grid);
    struct dev_resident r = sim_resident(p, l);
    if (ctas > r.ctas) {
        struct str name = p->funcs[0].ptx->name;
        struct diag *d =
            diag_add(ds, DIAG_ERROR, "cooperative", NULL, NO_SPAN,
                     "kernel %.*s synchronises the whole grid: %llu CTAs, of which %llu can be resident "
                     "(%llu on each of %lld SMs, %u registers a thread estimated)",
                     (int)name.n, name.s, (unsigned long long)ctas, (unsigned long long)r.ctas,
                     (unsigned long long)r.ctas_per_sm, (long long)p->preset.sms, p->regs);
        diag_hint(d,
                  "launch at most %llu CTAs with more work each, as for a cooperative launch on a GPU",
                  (unsigned long long)r.ctas);
        return ST_DEVICE;
    }
    uint8_t *space = sim_mem_host(p->mem, p->grid_space, SIM_GRID_SPACE);
    if (space)
        memset(space, 0, SIM_GRID_SPACE);
    return ST_OK;
}

enum status sim_run(struct sim_program *p, const struct sim_launch *l, struct sim_stats *out,
                    struct diags *ds)
{
    *out = (struct sim_stats){ .time_ns = NAN, .cycles = NAN };
    if (!check_dims(&p->preset, l, ds) || !check_kernel(p, l, ds))
        return ST_INPUT;
    enum status st = prepare_grid(p, l, ds);
    if (st != ST_OK)
        return st;
    if (l->functional && l->touch.symbol)
        sim_symbol(p, str_of(l->touch.symbol), l->touch.at, &(uint64_t){ 0 });
    st = l->functional ? exec_run(p, l, out, ds) : timing_run(p, l, out, ds);
    out->ctas_per_sm = out->ctas_per_sm ? out->ctas_per_sm : sim_resident(p, l).ctas_per_sm;
    return st;
}
