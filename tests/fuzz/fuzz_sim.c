/* libFuzzer target: any kernel on the simulated device, with bounded time and memory: functional, with
 * its checks, and timed. It ends with results or a diagnostic. The plain lane loops and the best ones of
 * this machine leave the same bytes. */
#include "tests/fuzz/kernel.h"

#include "engine/sim/exec/lanes/lanes.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEVICE_BYTES = 64 << 20, BUFFER = 4 * FUZZ_ELEMENTS, MOST_CYCLES = 20000 };

struct device {
    struct sim_mem *mem;
    uint64_t addr[FUZZ_ARGS];
    uint8_t params[4096 + 8];
};

static void place(const struct fuzz_kernel *k, struct device *d)
{
    d->mem = sim_mem_new(DEVICE_BYTES);
    fuzz_must(d->mem != NULL, "memory");
    for (uint32_t i = 0; i < k->f->nparams; i++) {
        const struct ptx_symbol *p = k->f->params[i];
        const struct arg_spec *a = &k->args[i];
        uint8_t *at = d->params + p->offset;
        if (a->kind == ARG_BUFFER) {
            d->addr[i] = sim_mem_alloc(d->mem, BUFFER, a->name);
            uint8_t *host = sim_mem_host(d->mem, d->addr[i], BUFFER);
            fuzz_must(host != NULL, "a small buffer has room");
            for (uint32_t e = 0; e < FUZZ_ELEMENTS; e++)
                memcpy(host + 4 * e, &(uint32_t){ e + i }, 4);
            memcpy(at, &d->addr[i], 8);
        } else if (a->kind == ARG_SCALAR) {
            memcpy(at, a->scalar, 4);
        }
    }
}

static enum status run(const struct fuzz_kernel *k, struct device *d, unsigned lanes, bool timed)
{
    struct diags ds = { 0 };
    struct sim_program *p = NULL;
    struct sim_preset preset = sim_preset_default();
    struct sim_stats stats = { 0 };
    memset(d, 0, sizeof *d);
    place(k, d);
    struct sim_launch l = { .grid = k->launch.grid,
                            .block = k->launch.block,
                            .shared = k->launch.shared,
                            .params = d->params,
                            .nparams = k->f->param_bytes,
                            .functional = !timed,
                            .exact = true,
                            .threads = 1,
                            .carveout = -1,
                            .hw_pi = -1,
                            .max_cycles = MOST_CYCLES };
    l.check_uninit = !timed && k->seed & 8;
    l.check_races = !timed && k->seed & 16;
    enum status st = sim_load_lanes(k->m, k->f->name, NULL, &preset, d->mem, lanes, &p, &ds);
    if (st == ST_OK)
        st = sim_run(p, &l, &stats, &ds);
    fuzz_must(st == ST_OK || ds.errors, "a failed launch says why");
    sim_stats_free(&stats);
    sim_unload(p);
    diags_free(&ds);
    return st;
}

static void same_bytes(const struct fuzz_kernel *k, const struct device *a, const struct device *b)
{
    for (uint32_t i = 0; i < k->f->nparams; i++)
        if (a->addr[i] && b->addr[i])
            fuzz_must(!memcmp(sim_mem_host(a->mem, a->addr[i], BUFFER),
                              sim_mem_host(b->mem, b->addr[i], BUFFER), BUFFER),
                      "all lane loops give the same bytes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_kernel k;
    struct device plain, best, timed;
    fuzz_kernel_open(&k, data, size);
    if (k.f) {
        enum status a = run(&k, &plain, 1, false), b = run(&k, &best, 0, false);
        fuzz_must(a == b, "all lane loops end the same way");
        if (a == ST_OK)
            same_bytes(&k, &plain, &best);
        sim_mem_free(plain.mem);
        sim_mem_free(best.mem);
        if (k.seed % 4 == 0) {
            run(&k, &timed, 0, true);
            sim_mem_free(timed.mem);
        }
    }
    fuzz_kernel_close(&k);
    return 0;
}
