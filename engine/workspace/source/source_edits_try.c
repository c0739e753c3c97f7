/* The patched source, compiled and simulated beside the original and the rewritten code. */
#include "engine/base/private_folder.h"
#include "engine/dev/dev.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/result.h"
#include "engine/session/session.h"
#include "engine/tune/tune.h"
#include "engine/workspace/source.h"
#include "engine/workspace/source_edits.h"
#include "engine/workspace/tuned.h"

#include <stdio.h>
#include <string.h>

static enum status cannot(struct source_edits *h, const char *why)
{
    base_free(h->why_not);
    h->why_not = base_strdup(why);
    return h->why_not ? ST_OK : ST_NOMEM;
}

/* The patched file beside the original's includes. */
static enum status compile(const struct tuned_kernel *k, const struct source_file *f,
                           struct ptx_module **out, struct diags *ds)
{
    struct buf text = { 0 }, path = { 0 }, flags = { 0 };
    char *folder = NULL, *ptx = NULL, arch[48];
    size_t n = 0;
    const char *slash = strrchr(f->path, '/');
    snprintf(arch, sizeof arch, "%.*s", (int)k->module->target_text.n, k->module->target_text.s);
    struct source_want w = { .arch = arch };
    source_edits_patched(f, &text);
    buf_printf(&flags, "-I%.*s", slash ? (int)(slash - f->path) + (slash == f->path) : 1,
               slash ? f->path : ".");
    w.nvcc_flags = flags.s;
    enum status st = private_folder_make(&folder, ds);
    if (st == ST_OK)
        st = text.oom || flags.oom ? ST_NOMEM
                                   : private_folder_put(folder, "patched.cu", text.s, text.n, &path, ds);
    if (st == ST_OK)
        st = source_compile(path.s, &w, &ptx, &n, ds);
    if (st == ST_OK)
        st = ptx_parse(f->path, (struct str){ ptx, n }, out, ds);
    private_folder_remove(folder);
    base_free(ptx);
    buf_free(&text);
    buf_free(&path);
    buf_free(&flags);
    return st;
}

struct trial {
    const struct launch_spec *spec;
    struct launch_data data;
    struct dev *dev;
};

/* A module's kernel with these options on the simulated device. */
static enum status simulate(const struct trial *t, const struct ptx_module *m, const struct options *o,
                            struct result *r, struct diags *ds)
{
    struct tune_subject subject = { m, t->spec, &t->data, t->dev, NULL };
    struct tune_run_opts opts = tune_run_opts_default(dev_describe(t->dev));
    struct tune_bench *bench = NULL;
    opts.counters = false;
    enum status st = tune_bench_open(&subject, &opts, &bench, ds);
    if (st == ST_OK)
        st = tune_run_one(bench, o, r, ds);
    tune_bench_close(bench);
    return st == ST_OK ? r->status : st;
}

static bool same_outputs(const struct result *a, const struct result *b)
{
    bool same = a->noutputs == b->noutputs && a->noutputs;
    for (uint32_t i = 0; same && i < a->noutputs; i++)
        same = a->outputs[i].hash == b->outputs[i].hash;
    return same;
}

static enum status run(struct trial *t, const struct tuned_kernel *k, struct ptx_module *patched,
                       struct source_edits *h, struct diags *ds)
{
    struct options none = options_default(), own = k->options;
    struct result *r = base_alloc(3 * sizeof *r);
    enum status st = r ? ST_OK : ST_NOMEM;
    opt_occupancy(&own)->carveout =
        opt_occupancy(&own)->carveout >= 0 ? opt_occupancy(&own)->carveout : -1;
    for (size_t i = 0; r && i < 3; i++)
        r[i] = result_empty();
    if (st == ST_OK)
        st = simulate(t, k->module, &none, &r[0], ds);
    if (st == ST_OK)
        st = simulate(t, k->module, &own, &r[1], ds);
    opt_occupancy(&none)->carveout =
        opt_occupancy(&own)->carveout; /* set by the launch: the simulation is told */
    if (st == ST_OK)
        st = simulate(t, patched, &none, &r[2], ds);
    if (st == ST_OK) {
        h->tried = true;
        h->original_ns = r[0].time.median;
        h->tuned_ns = r[1].time.median;
        h->patched_ns = r[2].time.median;
        h->equal = same_outputs(&r[0], &r[2]);
        snprintf(h->device, sizeof h->device, "%s", dev_describe(t->dev)->name);
    }
    base_free(r);
    return st;
}

/* The launch's name of the kernel in the patched module may be mangled anew. */
static bool has_kernel(const struct ptx_module *m, const char *kernel)
{
    const struct ptx_func *f = ptx_find_func(m, str_of(kernel));
    return f && f->entry;
}

static enum status open_trial(struct trial *t, const struct tuned_kernel *k, struct session *s,
                              struct diags *ds)
{
    struct dev_env env = { .preset = preset_read, .preset_at = NULL, .self = "gpulocw" };
    char spec[300];
    const char *nearest = k->dev.kind == DEV_SIMULATED
                              ? NULL
                              : preset_nearest(k->dev.cc_major, k->dev.cc_minor, k->dev.l2_bytes);
    snprintf(spec, sizeof spec, "%s%s", nearest ? "sim:" : "", nearest ? nearest : k->dev.spec);
    t->spec = session_launch(s);
    enum status st = dev_open(spec, &env, &t->dev, ds);
    if (st == ST_OK)
        st = launch_check(t->spec, k->module, dev_describe(t->dev), ds);
    if (st == ST_OK)
        st = launch_data_make(t->spec, (uint64_t)1 << 36, &t->data, ds);
    return st;
}

enum status source_edits_try(const struct tuned_kernel *k, const char *session, struct source_edits *h,
                             struct diags *ds)
{
    const struct source_file *f = NULL;
    struct session *s = NULL;
    struct ptx_module *patched = NULL;
    struct trial t = { 0 };
    struct diags own = { 0 };
    size_t files = 0;
    for (size_t i = 0; i < h->nfiles; i++)
        if (h->file[i].nedits)
            f = &h->file[i], files++;
    if (!files)
        return ST_OK;
    if (h->lang != SOURCE_CUDA)
        return cannot(h, "only CUDA source is compiled here");
    char *nvcc = source_tool("nvcc");
    base_free(nvcc);
    if (!nvcc)
        return cannot(h, "nvcc was not found");
    if (files > 1 || !source_is_cuda(f->path))
        return cannot(h, "the edits are not in one .cu file");
    if (!k->has_launch)
        return cannot(h, "the session holds no launch of the kernel");
    enum status st = session_load(session, &s, &own);
    if (st == ST_OK)
        st = compile(k, f, &patched, &own);
    if (st == ST_OK && !has_kernel(patched, k->kernel))
        st = ST_INPUT;
    if (st == ST_OK)
        st = open_trial(&t, k, s, &own);
    if (st == ST_OK)
        st = run(&t, k, patched, h, &own);
    if (st != ST_OK && st != ST_NOMEM)
        st = cannot(h,
                    own.n && own.v[own.n - 1].msg ? own.v[own.n - 1].msg : "it could not be simulated");
    (void)ds;
    launch_data_free(&t.data);
    dev_close(t.dev);
    ptx_free(patched);
    session_free(s);
    diags_free(&own);
    return st;
}
