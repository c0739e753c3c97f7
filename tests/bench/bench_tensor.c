/* A product of 1,024 x 1,024 x 1,024 halves by wgmma and tensor copies: executed, and timed on
 * sim:hopper-h200. Processor time beside the clock's: other programs do not count in it. Aims: 1 s
 * executed on two cores, 5 s timed. */
#include "engine/dev/dev.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/session/launch_file.h"
#include "engine/session/preset.h"
#include "engine/sim/preset.h"

#include "tests/bench/cpu_seconds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (96u << 20)
#define FOLDER    "tests/tensor/"

static void stop(const char *what, struct diags *ds)
{
    struct buf b = { 0 };
    diags_print(ds, &b);
    fprintf(stderr, "bench_tensor: %s\n%s", what, b.s ? b.s : "");
    exit(1);
}

struct bench {
    struct launch_file file;
    const struct launch_spec *l;
    struct dev *device;
    struct dev_code *code;
    struct dev_data *bound;
    struct launch_data data;
    char *text;
    struct diags ds;
};

static void set_up(struct bench *b)
{
    struct dev_env env = { .preset = preset_read, .threads = 2 };
    size_t n = 0;
    if (launch_file_read(FOLDER "gemm_wgmma.launch.json", &b->file, &b->ds) != ST_OK ||
        file_read(FOLDER "gemm_wgmma.ptx", 1u << 20, &b->text, &n, &b->ds) != ST_OK)
        stop("no kernel", &b->ds);
    for (size_t i = 0; i < b->file.n; i++)
        if (!strcmp(b->file.launch[i].name, "n1024"))
            b->l = &b->file.launch[i];
    if (!b->l || dev_open("sim:hopper-h200", &env, &b->device, &b->ds) != ST_OK ||
        launch_data_make(b->l, MAX_BYTES, &b->data, &b->ds) != ST_OK ||
        dev_load(b->device, FOLDER "gemm_wgmma.ptx", (struct str){ b->text, n }, str_of(b->l->kernel), 0,
                 &b->code, &b->ds) != ST_OK ||
        dev_bind(b->device, &b->data, &b->bound, &b->ds) != ST_OK)
        stop("does not load", &b->ds);
}

static void run(struct bench *b, const char *what, bool functional)
{
    struct result r = result_empty();
    struct dev_run how = dev_run_default();
    how.launch = b->l;
    how.grid = b->l->grid;
    how.block = b->l->block;
    how.shared = b->l->shared;
    how.functional = functional;
    double cpu = cpu_seconds(getpid());
    int64_t begun = base_now_ns();
    if (dev_launch(b->device, b->code, b->bound, &how, &r, &b->ds) != ST_OK || r.status != ST_OK)
        stop(r.message, &b->ds);
    printf("product of 1,024^3 halves by wgmma, %s: %.2f s, %.2f s of processors\n", what,
           (double)(base_now_ns() - begun) * 1e-9, cpu_seconds(getpid()) - cpu);
}

int main(void)
{
    struct bench b = { 0 };
    set_up(&b);
    run(&b, "executed on two threads", true);
    run(&b, "timed", false);
    dev_unbind(b.device, b.bound);
    dev_unload(b.device, b.code);
    dev_close(b.device);
    launch_data_free(&b.data);
    launch_file_free(&b.file);
    base_free(b.text);
    diags_free(&b.ds);
    return 0;
}
