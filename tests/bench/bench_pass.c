/* Figures of the pass room: time of one rewrite, and what the inserted code costs on the
 * simulated device: clone and predicate at both ends of the threshold against plain code,
 * agents in the identity order, and clustered, against the original. Prints, asserts nothing. */
#include <stdio.h>
#include <string.h>

#include "engine/dev/dev.h"
#include "engine/pass/pass.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"
#include "engine/rec/result.h"
#include "engine/session/launch_file.h"
#include "engine/session/preset.h"
#include "engine/sim/preset.h"

#define MAX_BYTES (256u << 20)

struct bench {
    struct dev *dev;
    struct ptx_module *m;
    const struct launch_spec *l;
    struct launch_data data;
    struct dev_data *bound;
};

/* Simulated milliseconds, or a negative number with the reason printed. */
static double time_of(struct bench *b, const char *line)
{
    struct options o = options_default();
    struct diags ds = { 0 };
    struct pass_output out;
    struct dev_code *code = NULL;
    struct result r = result_empty();
    double ms = -1;
    options_parse_line(&o, str_of(line), &ds);
    struct pass_input in = { .module = b->m,
                             .kernel = str_of(b->l->kernel),
                             .options = &o,
                             .dev = dev_describe(b->dev),
                             .launch = b->l };
    enum status st = pass_apply(&in, &out, &ds);
    struct dev_symbol_value set = { PASS_KNOB_SYMBOL, 0, out.knob, sizeof out.knob }, zero[8];
    struct dev_run run = dev_run_default();
    for (uint32_t k = 0; st == ST_OK && k < out.nreset; k++)
        zero[k] = (struct dev_symbol_value){ out.reset[k].symbol, 0, NULL, out.reset[k].bytes };
    if (st == ST_OK)
        st = dev_load(b->dev, b->m->path, (struct str){ out.text, out.n }, str_of(b->l->kernel), 0,
                      &code, &ds);
    if (st == ST_OK) {
        run.launch = b->l;
        run.grid = out.grid;
        run.block = out.block;
        run.shared = out.shared;
        run.set = &set;
        run.nset = out.knobs;
        run.zero = zero;
        run.nzero = out.nreset;
        run.exact = true;
        st = dev_launch(b->dev, code, b->bound, &run, &r, &ds);
    }
    if (st == ST_OK && r.status == ST_OK && r.time.valid)
        ms = (double)r.time.median / 1e6;
    dev_unload(b->dev, code);
    pass_output_free(&out);
    diags_free(&ds);
    return ms;
}

static void row(struct bench *b, const char *what, const char *line, double base)
{
    double t = time_of(b, line);
    if (t < 0)
        printf("  %-40s n/a\n", what);
    else
        printf("  %-40s %10.4f ms  %+.2f %%\n", what, t, 100 * (t / base - 1));
}

static void costs(struct bench *b)
{
    char last[64], pred[96];
    unsigned warps = (unsigned)((dim3u_count(b->l->block) + 31) / 32);
    double cha = time_of(b, ""), bpa = time_of(b, "--bypass l1 --pi bpa");
    snprintf(last, sizeof last, "--bypass l1 --pi %u", warps);
    snprintf(pred, sizeof pred, "--bypass l1 --bypass-form predicate --pi %u", warps);
    printf("%s: cha %.4f ms, bpa %.4f ms\n", b->l->kernel, cha, bpa);
    row(b, "clone, all warps cache, over cha", last, cha);
    row(b, "clone, no warp caches, over bpa", "--bypass l1 --pi 0", bpa);
    row(b, "predicate, all cache, over cha", pred, cha);
    row(b, "predicate, none cache, over bpa", "--bypass l1 --bypass-form predicate --pi 0", bpa);
    row(b, "agents, identity order, over original", "--cluster agent --clusters 1", cha);
    row(b, "agents, a cluster per SM, over original", "--cluster agent", cha);
}

static void rewriting(struct bench *b)
{
    static const char *const lines[] = { "--bypass l1 --pi 1", "--cluster agent --index tile:8x8",
                                         "--softcache dynamic", "--swap-xy" };
    struct options o;
    for (size_t k = 0; k < ARRAY_LEN(lines); k++) {
        struct diags ds = { 0 };
        o = options_default();
        options_parse_line(&o, str_of(lines[k]), &ds);
        struct pass_input in = { .module = b->m,
                                 .kernel = str_of(b->l->kernel),
                                 .options = &o,
                                 .dev = dev_describe(b->dev),
                                 .launch = b->l };
        int64_t from = base_now_ns();
        enum { TIMES = 50 };
        for (int n = 0; n < TIMES; n++) {
            struct pass_output out;
            pass_apply(&in, &out, &ds);
            pass_output_free(&out);
        }
        printf("rewrite %-12s %-34s %.3f ms\n", b->l->kernel, lines[k],
               (double)(base_now_ns() - from) / 1e6 / TIMES);
        diags_free(&ds);
    }
}

static void kernel(struct dev *dev, const char *launch, const char *name)
{
    struct launch_file f = { 0 };
    struct diags ds = { 0 };
    struct bench b = { .dev = dev };
    char path[256];
    if (launch_file_read(launch, &f, &ds) == ST_OK) {
        for (size_t k = 0; k < f.n; k++)
            if (!b.l && f.launch[k].name && strcmp(f.launch[k].name, name) == 0)
                b.l = &f.launch[k];
        snprintf(path, sizeof path, "kernels/%s", b.l ? b.l->ptx : "");
        if (b.l && ptx_parse_file(path, &b.m, &ds) == ST_OK &&
            launch_data_make(b.l, MAX_BYTES, &b.data, &ds) == ST_OK) {
            if (dev_bind(dev, &b.data, &b.bound, &ds) == ST_OK) {
                rewriting(&b);
                costs(&b);
            }
            dev_unbind(dev, b.bound);
            launch_data_free(&b.data);
        }
        ptx_free(b.m);
    }
    launch_file_free(&f);
    diags_free(&ds);
}

int main(void)
{
    struct dev_env env = { .preset = preset_read };
    struct diags ds = { 0 };
    struct dev *dev = NULL;
    if (dev_open("sim:fermi-16k", &env, &dev, &ds) != ST_OK)
        return 1;
    kernel(dev, "kernels/valley.launch.json", "fermi");
    kernel(dev, "kernels/atax.launch.json", "default");
    kernel(dev, "kernels/conv2d.launch.json", "default");
    dev_close(dev);
    diags_free(&ds);
    return 0;
}
