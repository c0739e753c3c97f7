/* gcc -std=c17 -D_GNU_SOURCE -I. example.c build/libengine.a -lpthread -lm; ./a.out kernels/stride_32.ptx */
#include "engine/analysis/analysis.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

#include <stdio.h>
#include <string.h>

static enum status analysed(const struct ptx_module *m, struct diags *ds)
{
    struct ana_opts o = { .quick = true };              /* no launch: symbolic, with a stated assumed block */
    struct ana_kernel *k;
    enum status st = ana_run(m, str_of(""), &o, &k, ds);    /* "": the first kernel */
    for (uint32_t i = 0; st == ST_OK && i < k->naccess; i++)
        printf("line %u: %s of %s\n", k->access[i].at.line, k->access[i].store ? "store" : "load", k->access[i].address);
    ana_free(st == ST_OK ? k : NULL);
    return st;
}

static enum status simulated(const struct ptx_module *m, struct sim_mem *mem, struct diags *ds)
{
    enum { THREADS = 2048, STRIDE = 32 };
    struct sim_preset gpu = sim_preset_default();
    struct sim_program *p = NULL;
    struct sim_stats stats = { 0 };
    uint64_t param[2] = { sim_mem_alloc(mem, THREADS * STRIDE * 4, "a"), sim_mem_alloc(mem, THREADS * 4, "out") };
    struct sim_launch l = { .grid = { THREADS / 64, 1, 1 }, .block = { 64, 1, 1 }, .params = (const uint8_t *)param, .nparams = sizeof param,
                            .functional = true, .carveout = -1, .hw_pi = -1 };
    enum status st = param[0] && param[1] ? sim_load(m, str_of("stride_32"), &gpu, mem, &p, ds) : ST_NOMEM;
    if (st == ST_OK)
        st = sim_run(p, &l, &stats, ds);                /* .functional: outputs and counts; false: times as well */
    if (st == ST_OK)
        printf("%llu warp instructions\n", (unsigned long long)stats.inst_warp);
    sim_stats_free(&stats);
    sim_unload(p);
    return st;
}

int main(int argc, char **argv)
{
    struct diags ds = { 0 };                            /* what went wrong, and where */
    struct buf said = { 0 };
    struct ptx_module *m = NULL;
    struct sim_mem *mem = sim_mem_new(1 << 30);
    enum status st = argc == 2 && mem ? ptx_parse_file(argv[1], &m, &ds) : ST_USAGE;
    if (st == ST_OK)
        st = analysed(m, &ds);
    if (st == ST_OK)
        st = simulated(m, mem, &ds);
    diags_print(&ds, &said);
    fputs(said.s ? said.s : "", stderr);
    buf_free(&said);
    diags_free(&ds);
    ptx_free(m);
    sim_mem_free(mem);
    return status_exit_code(st);
}
