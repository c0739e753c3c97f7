/* One launch on the simulated device without going through `dev`: parse, load, bind, run.
 * For test and bench programs; every failure ends the program with its diagnostics. */
#ifndef GPULOCW_TESTS_SIM_JOB_H
#define GPULOCW_TESTS_SIM_JOB_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cmd/cmd_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/data.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/session/launch_file.h"
#include "engine/session/preset.h"
#include "engine/sim/mem.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

struct buf;
struct diags;
struct job;
struct sim_program;
struct str;

#define JOB_ARGS 16
struct job {
    struct launch_file file;
    struct launch_data data;
    struct launch_spec *l;
    struct ptx_module *m;
    struct sim_mem *mem;
    struct sim_program *prog;
    struct sim_preset preset;
    uint8_t params[512];
    uint64_t nparams;
    uint64_t addr[JOB_ARGS];
    /* outputs: copied back between launches, as a device does */
    uint64_t restored[JOB_ARGS];
    size_t nrestored;
};

static inline void job_ok(enum status st, struct diags *ds)
{
    if (st == ST_OK)
        return;
    struct buf b = { 0 };
    diags_print(ds, &b);
    fprintf(stderr, "%s\n", b.s ? b.s : status_text(st));
    abort();
}

/* Buffers as the launch description makes them. */
static inline void job_reset(struct job *j)
{
    for (size_t i = 0; i < j->l->nargs; i++)
        if (j->addr[i])
            launch_buffer_fill(&j->data.buffers[i],
                               sim_mem_host(j->mem, j->addr[i], j->data.buffers[i].n), 0, NULL);
}

static inline void job_bind(struct job *j)
{
    const struct ptx_func *f = ptx_find_func(j->m, str_of(j->l->kernel));
    for (size_t i = 0; i < j->l->nargs && i < JOB_ARGS; i++) {
        const struct arg_spec *a = &j->l->args[i];
        uint8_t *to = j->params + f->params[i]->offset;
        if (a->kind == ARG_SCALAR)
            memcpy(to, a->scalar, elem_size(a->elem));
        if (a->kind != ARG_BUFFER)
            continue;
        j->addr[i] = sim_mem_alloc(j->mem, j->data.buffers[i].n, a->name);
        memcpy(to, &j->addr[i], 8);
        if (a->output)
            j->restored[j->nrestored++] = j->addr[i];
    }
    j->nparams = f->param_bytes;
    job_reset(j);
}

static inline void job_open_text(struct job *j, const char *preset, struct str text)
{
    struct diags ds = { 0 };
    job_ok(preset_read(NULL, preset, &j->preset, &ds), &ds);
    job_ok(ptx_parse("job.ptx", text, &j->m, &ds), &ds);
    job_ok(launch_data_make(j->l, 1ull << 33, &j->data, &ds), &ds);
    j->mem = sim_mem_new(1ull << 36);
    job_ok(sim_load(j->m, str_of(j->l->kernel), &j->preset, j->mem, &j->prog, &ds), &ds);
    job_bind(j);
    diags_free(&ds);
}

/* Launch `launch` of <folder>/<file>.launch.json. */
static inline void job_open_in(struct job *j, const char *folder, const char *file, const char *launch,
                               const char *preset)
{
    struct diags ds = { 0 };
    char path[256], *text;
    size_t n;
    memset(j, 0, sizeof *j);
    snprintf(path, sizeof path, "%s/%s.launch.json", folder, file);
    job_ok(launch_file_read(path, &j->file, &ds), &ds);
    j->l = &j->file.launch[0];
    for (size_t i = 0; i < j->file.n; i++)
        if (j->file.launch[i].name && strcmp(j->file.launch[i].name, launch) == 0)
            j->l = &j->file.launch[i];
    snprintf(path, sizeof path, "%s/%s", folder, j->l->ptx);
    job_ok(file_read(path, 1u << 26, &text, &n, &ds), &ds);
    job_open_text(j, preset, (struct str){ text, n });
    base_free(text);
    diags_free(&ds);
}

static inline void job_open(struct job *j, const char *file, const char *launch, const char *preset)
{
    job_open_in(j, "kernels", file, launch, preset);
}

static inline void job_close(struct job *j)
{
    sim_unload(j->prog);
    ptx_free(j->m);
    launch_data_free(&j->data);
    launch_file_free(&j->file);
    sim_mem_free(j->mem);
}

static inline struct sim_launch job_launch(const struct job *j)
{
    return (struct sim_launch){ .grid = j->l->grid,
                                .block = j->l->block,
                                .shared = j->l->shared,
                                .params = j->params,
                                .nparams = j->nparams,
                                .carveout = -1,
                                .hw_pi = -1,
                                .seed = 1,
                                .warm_l2 = true,
                                .restored = j->restored,
                                .nrestored = j->nrestored };
}

static inline struct sim_stats job_run(struct job *j, const struct sim_launch *l)
{
    struct diags ds = { 0 };
    struct sim_stats s;
    job_ok(sim_run(j->prog, l, &s, &ds), &ds);
    diags_free(&ds);
    return s;
}

/* Hash of all buffers the launch description calls outputs (all: of every buffer). */
static inline uint64_t job_hash(struct job *j, bool all)
{
    uint64_t h = 0;
    for (size_t i = 0; i < j->l->nargs; i++)
        if (j->addr[i] && (all || j->l->args[i].output))
            h = h * 31 +
                base_hash(sim_mem_host(j->mem, j->addr[i], j->data.buffers[i].n), j->data.buffers[i].n);
    return h;
}

#endif
