/* Running PTX text on the functional simulated device: one buffer "data", whose address is the
 * kernel's first parameter, then further scalar parameters. */
#ifndef GPULOCW_TESTS_SIM_SUPPORT_H
#define GPULOCW_TESTS_SIM_SUPPORT_H

#include "tests/support.h"

#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/exec/lanes/lanes.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buf;
struct diags;
struct sim_case;
struct sim_mem;
struct sim_preset;
struct sim_program;

#define SIM_HEAD ".version 8.3\n.target sm_90\n.address_size 64\n"

struct sim_case {
    struct ptx_module *m;
    struct sim_mem *mem;
    struct sim_program *p;
    struct diags ds;
    uint64_t addr, bytes;
    uint8_t *data;
    uint8_t params[256];
    struct sim_launch l;
    struct sim_stats stats;
    enum status st;
};

/* limit: which lane kernels, see exec_lanes_pick. */
static inline void sim_case_open_with(struct sim_case *c, const char *text, const char *kernel,
                                      uint64_t bytes, unsigned limit)
{
    *c = (struct sim_case){ .bytes = bytes };
    struct sim_preset g = sim_preset_default();
    c->mem = sim_mem_new(1ull << 33);
    c->addr = sim_mem_alloc(c->mem, bytes, "data");
    c->data = sim_mem_host(c->mem, c->addr, bytes);
    memcpy(c->params, &c->addr, 8);
    c->l = (struct sim_launch){ .grid = { 1, 1, 1 },
                                .block = { 32, 1, 1 },
                                .params = c->params,
                                .nparams = sizeof c->params,
                                .functional = true,
                                .threads = 1,
                                .carveout = -1,
                                .hw_pi = -1,
                                .max_cycles = 20000000 };
    c->st = ptx_parse("test.ptx", str_of(text), &c->m, &c->ds);
    if (c->st == ST_OK)
        c->st = sim_load_lanes(c->m, str_of(kernel), NULL, &g, c->mem, limit, &c->p, &c->ds);
}
static inline void sim_case_open(struct sim_case *c, const char *text, const char *kernel,
                                 uint64_t bytes)
{
    sim_case_open_with(c, text, kernel, bytes, 0);
}
static inline enum status sim_case_run(struct sim_case *c)
{
    sim_stats_free(&c->stats);
    c->l.params = c->params; /* the case may have been copied */
    return c->st = c->st == ST_OK ? sim_run(c->p, &c->l, &c->stats, &c->ds) : c->st;
}
static inline void sim_case_close(struct sim_case *c)
{
    sim_stats_free(&c->stats);
    sim_unload(c->p);
    ptx_free(c->m);
    sim_mem_free(c->mem);
    diags_free(&c->ds);
}
static inline void sim_case_print(struct sim_case *c)
{
    struct buf out = { 0 };
    diags_print(&c->ds, &out);
    fputs(out.s ? out.s : "", stderr);
    buf_free(&out);
}
/* Opens and runs, failing the test with the diagnostics when that does not work. */
static inline void sim_case_ok(struct sim_case *c)
{
    sim_case_run(c);
    assert_status_ok(c->st, &c->ds);
}

/* Kernel k of a text on 64 KiB of data. sim_text_ok: it must run. */
static inline struct sim_case sim_text(const char *text, uint32_t grid, uint32_t block)
{
    struct sim_case c;
    sim_case_open(&c, text, "k", 65536);
    c.l.grid.x = grid;
    c.l.block.x = block;
    sim_case_run(&c);
    return c;
}
static inline struct sim_case sim_text_ok(const char *text, uint32_t grid, uint32_t block)
{
    struct sim_case c = sim_text(text, grid, block);
    assert_status_ok(c.st, &c.ds);
    return c;
}

/* Cycles of kernel k of a text, timed whole on 1 MiB of data; *used, unless NULL: the preset. */
static inline double sim_text_cycles(const char *text, uint32_t grid, uint32_t block,
                                     struct sim_preset *used)
{
    struct sim_case c;
    sim_case_open(&c, text, "k", 1u << 20);
    assert_status_ok(c.st, &c.ds);
    c.l.functional = false;
    c.l.exact = true;
    c.l.grid.x = grid;
    c.l.block.x = block;
    sim_case_ok(&c);
    double cycles = c.stats.cycles;
    if (used)
        *used = c.p->preset;
    sim_case_close(&c);
    return cycles;
}

#endif
