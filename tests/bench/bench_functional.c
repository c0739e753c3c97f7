/* Functional execution of the demo kernels beside the same work in plain C, compiled by -O3: processor time of one
 * thread, best of three. Ours includes putting the buffers back before each launch. */
#include "engine/dev/dev.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/session/launch_file.h"
#include "engine/session/preset.h"
#include "tests/ref_kernels/ref.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TRIES      3
#define MOST_BYTES (256u << 20)
#define CLOSE      1.5

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double best(double a, double b)
{
    return a > 0 && a < b ? a : b;
}

struct bound_launch {
    struct dev *dev;
    struct dev_code *code;
    struct dev_data *bound;
};

static bool open_launch(struct bound_launch *b, const struct launch_spec *l,
                        const struct launch_data *data, struct str text, const char *path,
                        struct diags *ds)
{
    return dev_load(b->dev, path, text, str_of(l->kernel), 0, &b->code, ds) == ST_OK &&
           dev_bind(b->dev, data, &b->bound, ds) == ST_OK;
}

static double ours(const struct bound_launch *b, const struct launch_spec *l, struct diags *ds)
{
    double ms = 0;
    struct dev_run run = dev_run_default();
    run.launch = l;
    run.grid = l->grid;
    run.block = l->block;
    run.shared = l->shared;
    run.functional = true;
    for (int i = 0; i < TRIES; i++) {
        struct result r = result_empty();
        double from = cpu_ms();
        if (dev_launch(b->dev, b->code, b->bound, &run, &r, ds) != ST_OK || r.status != ST_OK)
            return 0;
        ms = best(ms, cpu_ms() - from);
    }
    return ms;
}

static double theirs(const struct launch_spec *l, struct launch_data *data)
{
    double ms = 0;
    for (int i = 0; i < TRIES; i++) {
        double from = cpu_ms();
        if (!ref_run(l, data))
            return 0;
        ms = best(ms, cpu_ms() - from);
    }
    return ms;
}

/* 0: not compared; else ours over theirs. */
static double compare(struct dev *dev, const struct launch_spec *l, struct str text, const char *path)
{
    struct diags ds = { 0 };
    struct launch_data data;
    struct bound_launch b = { .dev = dev };
    double a = 0, c = 0;
    if (launch_data_make(l, MOST_BYTES, &data, &ds) == ST_OK) {
        if (open_launch(&b, l, &data, text, path, &ds))
            a = ours(&b, l, &ds);
        if (b.bound)
            dev_unbind(dev, b.bound);
        if (b.code)
            dev_unload(dev, b.code);
        c = a > 0 ? theirs(l, &data) : 0;
        launch_data_free(&data);
    }
    diags_free(&ds);
    if (c > 0)
        printf("%-24s %-14s %10.2f %10.2f %8.2f\n", l->kernel, l->name ? l->name : "", a, c, a / c);
    return c > 0 ? a / c : 0;
}

static void file(struct dev *dev, const char *path, const char *want, unsigned *n, unsigned *near)
{
    struct launch_file f;
    struct diags ds = { 0 };
    char *text = NULL, ptx[512];
    size_t size = 0;
    if (launch_file_read(path, &f, &ds) == ST_OK) {
        snprintf(ptx, sizeof ptx, "kernels/%s", f.n && f.launch[0].ptx ? f.launch[0].ptx : "");
        bool read = file_read(ptx, 1u << 20, &text, &size, &ds) == ST_OK;
        for (size_t i = 0; read && i < f.n; i++) {
            if (!f.launch[i].name || strcmp(f.launch[i].name, want) || !ref_known(f.launch[i].kernel))
                continue;
            double r = compare(dev, &f.launch[i], (struct str){ text, size }, ptx);
            *n += r > 0;
            *near += r > 0 && r <= CLOSE;
        }
        base_free(text);
        launch_file_free(&f);
    }
    diags_free(&ds);
}

static const char *bench_preset(void *ctx, size_t i)
{
    (void)ctx;
    return i < preset_count() ? preset_name(i) : NULL;
}

int main(int argc, char **argv)
{
    const char *want = argc > 1 ? argv[1] : "h200";
    struct dev_env env = { .preset = preset_read, .preset_at = bench_preset, .threads = 1 };
    struct diags ds = { 0 };
    struct dev *dev = NULL;
    glob_t g;
    unsigned n = 0, near = 0;
    if (dev_open("sim:hopper-h200", &env, &dev, &ds) != ST_OK ||
        glob("kernels/*.launch.json", 0, NULL, &g))
        return 1;
    printf("%-24s %-14s %10s %10s %8s\n", "kernel", "launch", "ours (ms)", "C (ms)", "ratio");
    for (size_t i = 0; i < g.gl_pathc; i++)
        file(dev, g.gl_pathv[i], want, &n, &near);
    printf("%u of %u within %.1fx of plain C\n", near, n, CLOSE);
    globfree(&g);
    dev_close(dev);
    diags_free(&ds);
    return 0;
}
