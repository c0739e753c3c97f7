/* Is the edit the rewrite? The edited source is compiled, and simulated beside the original and the
 * rewritten code: outputs as the original's, sectors and passes as the rewritten code's. */
#include "engine/base/private_folder.h"
#include "engine/base/tool.h"
#include "engine/dev/dev.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/result.h"
#include "engine/session/launch_file.h"
#include "engine/session/preset.h"
#include "engine/session/session.h"
#include "engine/tune/tune.h"
#include "engine/workspace/source.h"
#include "engine/workspace/source/source_trial.h"
#include "engine/workspace/tuned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAME_SHARE 0.02 /* counts that far apart are the same: the compiler may merge loads otherwise */

/* ---- the devices and the launches ---- */
static enum status open_device(const struct tuned_kernel *k, struct dev **dev, struct diags *ds)
{
    struct dev_env env = { .preset = preset_read, .preset_at = NULL, .self = "gpulocw" };
    char spec[300];
    const char *nearest = k->dev.kind == DEV_SIMULATED
                              ? NULL
                              : preset_nearest(k->dev.cc_major, k->dev.cc_minor, k->dev.l2_bytes);
    snprintf(spec, sizeof spec, "%s%s", nearest ? "sim:" : "", nearest ? nearest : k->dev.spec);
    return dev_open(spec, &env, dev, ds);
}

void source_trial_close(struct source_trial *t)
{
    if (t->edited.kernel)
        launch_spec_free(&t->edited);
    launch_data_free(&t->data);
    dev_close(t->dev);
    session_free(t->session);
    *t = (struct source_trial){ 0 };
}

enum status source_trial_open(const struct tuned_kernel *k, const char *session, struct source_trial *t,
                              struct diags *ds)
{
    *t = (struct source_trial){ 0 };
    if (!k->has_launch) {
        diag_error(ds, "source", "the session holds no launch of the kernel");
        return ST_INPUT;
    }
    enum status st = session_load(session, &t->session, ds);
    if (st == ST_OK)
        st = open_device(k, &t->dev, ds);
    t->spec = st == ST_OK ? session_launch(t->session) : NULL;
    if (st == ST_OK)
        st = launch_check(t->spec, k->module, dev_describe(t->dev), ds);
    if (st == ST_OK)
        st = launch_data_make(t->spec, (uint64_t)1 << 36, &t->data, ds);
    if (st == ST_OK)
        st = launch_copy(t->spec, &t->edited);
    t->edited.grid = k->tgrid;
    t->edited.block = k->tblock;
    t->edited.shared = k->tshared;
    return st;
}

/* What the launch, not the source, sets. */
static struct options of_launch(const struct options *all)
{
    struct options o = options_default();
    opt_occupancy(&o)->carveout = opt_occupancy(all)->carveout;
    opt_memory(&o)->promotion = opt_memory(all)->promotion;
    memcpy(opt_memory(&o)->l2_persist, opt_memory(all)->l2_persist, sizeof opt_memory(&o)->l2_persist);
    return o;
}

static enum status simulate(struct source_trial *t, const struct ptx_module *m, bool edited,
                            const struct options *o, bool check, struct result *r, struct diags *ds)
{
    struct tune_subject subject = { m, edited ? &t->edited : t->spec, &t->data, t->dev, NULL };
    struct tune_run_opts opts = tune_run_opts_default(dev_describe(t->dev));
    struct tune_bench *bench = NULL;
    opts.check_memory = check;
    *r = result_empty();
    enum status st = launch_check(subject.launch, m, dev_describe(t->dev), ds);
    if (st == ST_OK)
        st = tune_bench_open(&subject, &opts, &bench, ds);
    if (st == ST_OK)
        st = tune_run_one(bench, o, r, ds);
    tune_bench_close(bench);
    if (st == ST_OK && r->status != ST_OK)
        diag_error(ds, "source", "%s", r->message);
    return st == ST_OK ? r->status : st;
}

/* ---- comparing ---- */
static bool same_outputs(const struct result *a, const struct result *b)
{
    bool same = a->noutputs == b->noutputs && a->noutputs;
    for (uint32_t i = 0; same && i < a->noutputs; i++)
        same = a->outputs[i].hash == b->outputs[i].hash;
    return same;
}

static bool near(const struct result *a, const struct result *b, enum counter_id c)
{
    const struct counter *x = &a->counters[c], *y = &b->counters[c];
    return !x->valid || !y->valid || fabs(x->value - y->value) <= SAME_SHARE * fmax(x->value, y->value);
}

/* The counter in which they do not agree; COUNTER_COUNT: they do. */
static enum counter_id first_other(const struct result *a, const struct result *b)
{
    static const enum counter_id all[] = { COUNTER_L1_SECTORS, COUNTER_L2_WRITE_SECTORS,
                                           COUNTER_SHARED_PASSES };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (!near(a, b, all[i]))
            return all[i];
    return COUNTER_COUNT;
}

bool source_trial_launch_alone(struct source_trial *t, const struct tuned_kernel *k)
{
    const struct opt_schedule *s = opt_schedule(k->options);
    const struct options *none = options_none();
    struct options o = options_default();
    struct result *r = base_alloc(2 * sizeof *r);
    struct diags unsaid = { 0 };
    if (!t->dev || !r || !s->block.x || s->swap_xy || s->coarsen > 1) {
        base_free(r);
        return false;
    }
    opt_schedule(&o)->block = s->block;
    bool same = simulate(t, k->module, false, &o, false, &r[0], &unsaid) == ST_OK &&
                simulate(t, k->module, true, none, true, &r[1], &unsaid) == ST_OK &&
                same_outputs(&r[0], &r[1]) && first_other(&r[0], &r[1]) == COUNTER_COUNT &&
                near(&r[0], &r[1], COUNTER_L1_REQUESTS);
    diags_free(&unsaid);
    base_free(r);
    return same;
}

/* ---- the edited source ---- */
static void cannot(struct source_edits *h, enum source_state state, const char *format, const char *why)
{
    struct buf b = { 0 };
    buf_printf(&b, format, why);
    base_free(h->why);
    h->why = buf_take(&b);
    h->state = state;
}

/* The file, edited or as it is, beside the original's includes. */
static enum status compile(const struct tuned_kernel *k, const struct source_file *f, bool edited,
                           struct ptx_module **out, struct diags *ds)
{
    struct buf text = { 0 }, path = { 0 }, flags = { 0 };
    char *folder = NULL, *ptx = NULL, arch[48];
    size_t n = 0;
    const char *slash = strrchr(f->path, '/');
    snprintf(arch, sizeof arch, "%.*s", (int)k->module->target_text.n, k->module->target_text.s);
    struct source_want w = { .arch = arch };
    if (edited)
        source_edits_patched(f, &text);
    else
        buf_puts(&text, f->text);
    buf_printf(&flags, "-I%.*s", slash ? (int)(slash - f->path) + (slash == f->path) : 1,
               slash ? f->path : ".");
    w.nvcc_flags = flags.s;
    enum status st = private_folder_make(&folder, ds);
    if (st == ST_OK)
        st = text.oom || flags.oom ? ST_NOMEM
                                   : private_folder_put(folder, "edited.cu", text.s, text.n, &path, ds);
    if (st == ST_OK)
        st = source_compile(path.s, &w, &ptx, &n, ds);
    if (st == ST_OK)
        st = ptx_parse(f->path, (struct str){ ptx, n }, out, ds);
    const struct ptx_func *entry = st == ST_OK ? ptx_find_func(*out, str_of(k->kernel)) : NULL;
    if (st == ST_OK && !(entry && entry->entry)) {
        diag_error(ds, "source", "the compiled source has no kernel of that name");
        st = ST_INPUT;
    }
    private_folder_remove(folder);
    base_free(ptx);
    buf_free(&text);
    buf_free(&path);
    buf_free(&flags);
    return st;
}

/* Has the source, unedited and compiled here, the outputs of the PTX? */
static bool same_source(struct source_trial *t, const struct tuned_kernel *k,
                        const struct source_file *f, const struct result *original)
{
    struct ptx_module *m = NULL;
    const struct options *none = options_none();
    struct result *r = base_alloc(sizeof *r);
    struct diags unsaid = { 0 };
    bool same = r && compile(k, f, false, &m, &unsaid) == ST_OK &&
                simulate(t, m, false, none, false, r, &unsaid) == ST_OK && same_outputs(original, r);
    ptx_free(m);
    diags_free(&unsaid);
    base_free(r);
    return same;
}

static void judge(struct source_trial *t, const struct tuned_kernel *k, const struct source_file *f,
                  struct result *r, struct source_edits *h)
{
    enum counter_id other = first_other(&r[1], &r[2]);
    char why[200];
    h->tried = true;
    h->original_ns = r[0].time.median;
    h->tuned_ns = r[1].time.median;
    h->patched_ns = r[2].time.median;
    h->tuned_regs = r[1].regs;
    h->patched_regs = r[2].regs;
    h->tuned_sectors = r[1].counters[COUNTER_L1_SECTORS].value;
    h->patched_sectors = r[2].counters[COUNTER_L1_SECTORS].value;
    h->tuned_insts = r[1].counters[COUNTER_INST_WARP].value;
    h->patched_insts = r[2].counters[COUNTER_INST_WARP].value;
    h->equal = same_outputs(&r[0], &r[2]);
    snprintf(h->device, sizeof h->device, "%s", dev_describe(t->dev)->name);
    if (!h->equal && f && !same_source(t, k, f, &r[0]))
        cannot(h, SOURCE_UNTRIED, "%s",
               "the source as it is, compiled here, computes other outputs than the PTX: it was "
               "compiled otherwise, or has changed");
    else if (!h->equal)
        cannot(h, SOURCE_WITHDRAWN, "%s", "the edit that was made gives other outputs");
    else if (other != COUNTER_COUNT) {
        snprintf(why, sizeof why, "%s: %.0f, of the rewritten PTX %.0f", counter_name(other),
                 r[2].counters[other].value, r[1].counters[other].value);
        cannot(h, SOURCE_WITHDRAWN, "the edit that was made is another in %s", why);
    } else {
        h->state = SOURCE_VERIFIED;
    }
}

/* patched NULL: the source stays as it is, the launch is another. */
static enum status run(struct source_trial *t, const struct tuned_kernel *k,
                       const struct ptx_module *patched, const struct source_file *f,
                       struct source_edits *h, struct diags *ds)
{
    const struct options *none = options_none();
    struct options launch = of_launch(k->options);
    struct result *r = base_alloc(3 * sizeof *r);
    enum status st = r ? ST_OK : ST_NOMEM;
    if (st == ST_OK)
        st = simulate(t, k->module, false, none, false, &r[0], ds);
    if (st == ST_OK)
        st = simulate(t, k->module, false, k->options, false, &r[1], ds);
    if (st == ST_OK)
        st = simulate(t, patched ? patched : k->module, true, &launch, false, &r[2], ds);
    if (st == ST_OK)
        judge(t, k, f, r, h);
    base_free(r);
    return st;
}

static const char *last_words(const struct diags *ds)
{
    return ds->n && ds->v[ds->n - 1].msg ? ds->v[ds->n - 1].msg : "it could not be simulated";
}

static bool compiler_here(void)
{
    char *nvcc = program_find("nvcc"), *clang = program_find("clang");
    bool here = nvcc || clang;
    BASE_FREE(nvcc, clang);
    return here;
}

enum status source_trial_judge(struct source_trial *t, const struct tuned_kernel *k,
                               struct source_edits *h)
{
    const struct source_file *f = NULL;
    struct ptx_module *patched = NULL;
    struct diags own = { 0 };
    size_t files = 0;
    enum status st = ST_OK;
    for (size_t i = 0; i < h->nfiles; i++)
        if (h->file[i].nedits)
            f = &h->file[i], files++;
    if (h->lang != SOURCE_CUDA)
        cannot(h, SOURCE_UNTRIED, "%s", "only CUDA source is compiled here");
    else if (files && k->within)
        cannot(h, SOURCE_UNTRIED, "%s", "no compiler is started for a client");
    else if (files && !compiler_here())
        cannot(h, SOURCE_UNTRIED, "%s", "neither nvcc nor clang was found");
    else if (files > 1 || (f && !source_is_cuda(f->path)))
        cannot(h, SOURCE_UNTRIED, "%s", "the edits are not in one .cu file");
    else if (!t->dev)
        h->state = SOURCE_UNTRIED; /* why: said where it could not be opened */
    else if (files && (st = compile(k, f, true, &patched, &own)) != ST_OK)
        cannot(h, SOURCE_WITHDRAWN, "the edit that was made does not compile: %s", last_words(&own));
    else if ((st = run(t, k, patched, f, h, &own)) != ST_OK)
        cannot(h, files ? SOURCE_WITHDRAWN : SOURCE_UNTRIED, "what was made does not run: %s",
               last_words(&own));
    ptx_free(patched);
    diags_free(&own);
    return st == ST_NOMEM ? st : ST_OK;
}
