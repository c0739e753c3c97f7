/* libFuzzer target: the analysis of any kernel, without and with a launch, quick and whole, its traces
 * and its curve. Nothing crashes, leaks or goes on for long; what is not known is a gap. */
#include "tests/fuzz/kernel.h"

#include "engine/analysis/analysis.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void analyse(const struct fuzz_kernel *k, const struct ana_opts *o)
{
    struct diags ds = { 0 };
    struct ana_kernel *a = NULL;
    enum status st = ana_run(k->m, k->f->name, o, &a, &ds);
    fuzz_must((st == ST_OK) == (a != NULL), "facts come with ST_OK");
    fuzz_must(st == ST_OK || ds.errors, "a failed analysis says why");
    for (uint32_t i = 0; a && i < a->naccess; i++)
        fuzz_must(a->access[i].func < k->m->nfuncs &&
                      a->access[i].inst < k->m->funcs[a->access[i].func]->ninsts,
                  "an access is an instruction");
    ana_free(a);
    diags_free(&ds);
}

static bool few(void *ctx, const struct ana_request *r)
{
    (void)r;
    return ++*(unsigned *)ctx < 2000;
}

static void trace(const struct fuzz_kernel *k, struct ana_opts o)
{
    struct diags ds = { 0 };
    unsigned seen = 0;
    o.every = k->seed & 1;
    enum status st = ana_trace(k->m, k->f->name, &o, 128, 2, 0, 2, few, &seen, &ds);
    fuzz_must(st == ST_OK || ds.errors, "a failed trace says why");
    diags_free(&ds);
}

static void with_launch(const struct fuzz_kernel *k)
{
    struct diags ds = { 0 };
    struct launch_data data;
    if (launch_data_make(&k->launch, 1 << 20, &data, &ds) == ST_OK) {
        struct ana_opts o = { .data = &data,
                              .curve_requests = 2000,
                              .budget = 20000,
                              .curve = (k->seed & 2) != 0,
                              .sample_ctas = k->seed & 4 ? 1 : 0 };
        o.assume_restrict = opt_memory(&k->options)->assume_restrict;
        o.assume_read_only = opt_memory(&k->options)->assume_read_only;
        analyse(k, &o);
        trace(k, o);
        o.quick = true;
        analyse(k, &o);
        launch_data_free(&data);
    }
    diags_free(&ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_kernel k;
    fuzz_kernel_open(&k, data, size);
    if (k.f) {
        struct ana_opts none = { .budget = 20000 };
        analyse(&k, &none);
        with_launch(&k);
    }
    fuzz_kernel_close(&k);
    return 0;
}
