/* Opening: PTX, launch descriptions, sessions; kernel, device and launch changes. */
#include "engine/analysis/analysis.h"
#include "engine/base/name.h"
#include "engine/container/container.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_memory.h"
#include "engine/session/guess.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/tune/tune.h"
#include "engine/workspace/job_int.h"
#include "engine/workspace/source.h"
#include "engine/workspace/workspace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void job_cost_drop(struct job_engine *e)
{
    struct job_state *st = &e->state;
    tune_bench_close(st->model);
    st->model = NULL;
    shared_ref_put(&st->model_facts, NULL);
    shared_ref_put(&st->cost, NULL);
    shared_ref_put(&st->cost_original, NULL);
    st->wants_cost = st->module && st->spec;
}

static void destroy_module(void *p)
{
    ptx_free(p);
}
static void destroy_facts(void *p)
{
    ana_free(p);
}

void job_destroy_launches(void *p)
{
    launch_file_free(p);
    base_free(p);
}

static void destroy_spec(void *p)
{
    launch_spec_drop(p);
}

void job_text(char **slot, const char *text)
{
    char *copy = base_strdup(text);
    base_free(*slot);
    *slot = copy;
}

static void bench_close(struct job_state *st)
{
    tune_bench_close(st->measure.bench);
    st->measure.bench = NULL;
    shared_ref_put(&st->bench_facts, NULL);
}

/* module, launch or device changed */
static void job_bench_drop(struct job_engine *e)
{
    struct job_state *st = &e->state;
    job_cost_drop(e);
    bench_close(st);
    if (st->has_data)
        launch_data_free(&st->data);
    st->has_data = false;
    shared_ref_put(&st->preview, NULL);
    job_text(&st->refusal, NULL);
}

/* ---- facts ---- */
static enum status make_data(struct job_engine *e, struct diags *ds)
{
    struct job_state *st = &e->state;
    if (st->has_data || !st->spec)
        return ST_OK;
    enum status s = launch_check(st->spec->p, st->module->p, st->dev ? &st->info : NULL, ds);
    if (s == ST_OK)
        s = launch_data_make(st->spec->p,
                             st->dev && st->info.mem_bytes ? st->info.mem_bytes : (uint64_t)1 << 36,
                             &st->data, ds);
    st->has_data = s == ST_OK;
    return s;
}

enum status job_facts(struct job_engine *e, bool quick, const struct cancel *cancel, struct diags *ds)
{
    struct job_state *st = &e->state;
    struct ana_kernel *k = NULL;
    if (!st->module || !st->kernel)
        return ST_OK;
    enum status s = make_data(e, ds);
    if (s != ST_OK)
        return s;
    struct ana_opts o = { .data = st->has_data ? &st->data : NULL,
                          .dev = st->dev ? &st->info : NULL,
                          .assume_read_only = opt_memory(&st->options)->assume_read_only,
                          .assume_restrict = opt_memory(&st->options)->assume_restrict,
                          .cancel = cancel,
                          .quick = quick,
                          .regs = st->has_data
                                      ? workspace_registers(st->dev, st->module->p, str_of(st->kernel))
                                      : 0 };
    s = ana_run(st->module->p, str_of(st->kernel), &o, &k, ds);
    if (s == ST_OK)
        shared_ref_put(&st->facts, shared_ref_new(k, destroy_facts));
    return s;
}

static enum status first_facts(struct job_engine *e, struct diags *ds)
{
    shared_ref_put(&e->state.facts, NULL);
    enum status s = job_facts(e, true, &e->cancel, ds);
    e->state.wants_facts = s == ST_OK && e->state.kernel;
    job_advise(e);
    return s;
}

/* ---- launches ---- */
/* As the commands do: sums of float atomics are compared within a tolerance, which is said. */
/* l: the present launch */
static void tolerate(struct job_engine *e, struct launch_spec *l)
{
    if (tune_tolerate_atomics(e->state.module->p, l))
        job_say(e, DIAG_NOTE, ((const struct ptx_module *)e->state.module->p)->path, NO_SPAN,
                TUNE_TOLERATED);
    e->state.spec_key = launch_key(l);
}

/* ---- a launch that was edited, while its PTX is read anew ---- */
static void keep_edited(struct job_engine *e, const char *path)
{
    struct job_state *st = &e->state;
    const struct ptx_module *m = st->module ? st->module->p : NULL;
    bool same = m && strcmp(m->path, path) == 0;
    if (!same || (st->spec && !st->edited))
        shared_ref_put(&st->kept, NULL);
    else if (st->spec)
        shared_ref_put(&st->kept, shared_ref_ref(st->spec));
} /* else: a text with a mistake was read in between, and it waits */

static bool same_name(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The launch called so in its file (or of this kernel, in none) was edited: it goes on, if the new text
 * can have it. */
static bool use_kept(struct job_engine *e, const char *name, const char *kernel)
{
    struct job_state *st = &e->state;
    const struct launch_spec *k = st->kept ? st->kept->p : NULL;
    struct diags ds = { 0 };
    if (!k || !same_name(k->name, name) || !same_name(k->kernel, kernel))
        return false;
    bool ok = launch_check(k, st->module->p, st->dev ? &st->info : NULL, &ds) == ST_OK;
    if (ok) {
        job_spec_put(st, shared_ref_ref(st->kept));
        job_say(e, DIAG_NOTE, NULL, NO_SPAN, "kept the edited launch");
    } else {
        job_say_all(e, &ds);
        job_say(e, DIAG_WARNING, NULL, NO_SPAN,
                "the edited launch does not fit the new text: using the launch in the file again");
    }
    diags_free(&ds);
    st->edited = ok;
    shared_ref_put(&st->kept, NULL);
    return ok;
}

static enum status use_launch(struct job_engine *e, size_t i, struct diags *ds)
{
    struct job_state *st = &e->state;
    const struct launch_file *f = st->launches->p;
    struct launch_spec *own;
    enum status s = launch_copied(&f->launch[i], &own);
    if (s != ST_OK)
        return s;
    st->launch = i;
    st->edited = false;
    job_spec_put(st, shared_ref_new(own, destroy_spec));
    job_text(&st->kernel, own->kernel);
    if (use_kept(e, own->name, own->kernel))
        return ST_OK;
    own = st->spec->p;
    tolerate(e, own);
    return launch_check(own, st->module->p, st->dev ? &st->info : NULL, ds);
}

static const struct ptx_func *first_entry(const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->entry && m->funcs[i]->has_body)
            return m->funcs[i];
    return NULL;
}

/* `follows`: another description is opened next; what lies beside the PTX is not looked at, nor is it
 * missed. */
static enum status find_launch(struct job_engine *e, const char *ptx, bool follows, struct diags *ds)
{
    struct job_state *st = &e->state;
    char *beside = follows ? NULL : launch_beside(ptx);
    struct launch_file *f = beside ? base_alloc(sizeof *f) : NULL;
    enum status s = !beside ? ST_OK : f ? launch_file_read(beside, f, ds) : ST_NOMEM;
    base_free(beside);
    if (s == ST_OK && f)
        s = launch_name_kernels(f, st->module->p);
    if (s == ST_OK && f) {
        shared_ref_put(&st->launches, shared_ref_new(f, job_destroy_launches));
        return use_launch(e, 0, ds);
    }
    if (f)
        launch_file_free(f);
    base_free(f);
    const struct ptx_func *k = first_entry(st->module->p);
    struct buf name = { 0 };
    if (k)
        buf_str(&name, k->name);
    job_text(&st->kernel, name.s);
    bool kept = s == ST_OK && !follows && k && name.s && use_kept(e, NULL, name.s);
    buf_free(&name);
    if (s == ST_OK && !follows && !kept)
        job_say(e, DIAG_NOTE, ptx, NO_SPAN, "no launch description (:launch guess makes one)");
    return s;
}

static void close_file(struct job_engine *e)
{
    struct job_state *st = &e->state;
    job_bench_drop(e);
    shared_ref_put(&st->facts, NULL);
    job_spec_put(st, NULL);
    shared_ref_put(&st->launches, NULL);
    shared_ref_put(&st->module, NULL);
    job_text(&st->kernel, NULL);
    st->options = options_default();
    st->nadvice = 0;
    st->wants_facts = false;
}

static void close_session(struct job_engine *e)
{
    struct job_state *st = &e->state;
    job_runs_drop(st);
    job_again_forget(st);
    struct diags ds = { 0 };
    if (st->session && session_finish(st->session, &ds) != ST_OK)
        job_say_all(e, &ds);
    diags_free(&ds);
    session_free(st->session);
    st->session = NULL;
}

static enum status open_device(struct job_engine *e, struct diags *ds)
{
    struct job_state *st = &e->state;
    if (st->dev)
        return ST_OK;
    enum status s = dev_open(st->device, &e->env, &st->dev, ds);
    if (s == ST_OK)
        st->info = *dev_describe(st->dev);
    return s;
}

/* Another text, or the same file compiled anew: the session goes on with it, and what was run before is
 * told apart. */
static void text_changes(struct job_engine *e, const struct ptx_module *m)
{
    struct job_state *st = &e->state;
    const struct ptx_module *old = st->module ? st->module->p : NULL;
    struct diags none = { 0 };
    if (!st->session || !old || str_eq(old->text, m->text))
        return;
    job_runs_age(e);
    session_set_ptx(st->session, m->path, m->text);
    st->other_text = true;
    st->unsaved = session_save(st->session, &none) != ST_OK;
    diags_free(&none);
}

/* kernel: of a file with several modules the one that has it; NULL: the first that has any. */
static enum status open_ptx(struct job_engine *e, const char *path, const char *kernel,
                            bool launch_follows, struct diags *ds)
{
    struct ptx_module *m = NULL;
    struct source_want want = { .kernel = kernel };
    enum status s = workspace_read(path, &want, &m, ds);
    if (!m)
        return s;
    text_changes(e, m);
    keep_edited(e, path);
    close_file(e);
    shared_ref_put(&e->state.module, shared_ref_new(m, destroy_module));
    /* the source is on the screen while the rest is worked out */
    job_publish(e);
    if (s == ST_OK)
        s = find_launch(e, path, launch_follows, ds);
    if (s == ST_OK)
        s = open_device(e, ds);
    return s == ST_OK ? first_facts(e, ds) : s;
}

/* Simulated runs go on where they were made; a GPU's are shown without one. What cannot be analysed here
 * (the data files of its launch may be elsewhere) is no reason not to show the session. */
static void session_device(struct job_engine *e)
{
    struct job_state *st = &e->state;
    size_t n = session_count(st->session);
    const struct session_run *last = n ? session_look(st->session, n - 1) : NULL;
    struct diags none = { 0 };
    /* no file of the session's choice */
    bool named = last && strncmp(last->dev.spec, "sim:", 4) == 0 && !strchr(last->dev.spec, '/');
    if (!st->dev && named && last->dev.kind == DEV_SIMULATED &&
        dev_open(last->dev.spec, &e->env, &st->dev, &none) == ST_OK) {
        st->info = *dev_describe(st->dev);
        job_text(&st->device, last->dev.spec);
    }
    (void)first_facts(e, &none);
    diags_free(&none);
}

static enum status session_subject(struct job_engine *e, struct diags *ds)
{
    struct job_state *st = &e->state;
    struct str text = session_ptx_text(st->session);
    struct ptx_module *m = NULL;
    close_file(e);
    if (!text.n)
        return ST_OK;
    enum status s = ptx_parse(session_ptx_path(st->session), text, &m, ds);
    if (!m)
        return s;
    shared_ref_put(&st->module, shared_ref_new(m, destroy_module));
    const struct launch_spec *l = session_launch(st->session);
    if (!l)
        return s;
    struct launch_spec *own;
    if (launch_copied(l, &own) != ST_OK)
        return ST_NOMEM;
    st->edited = true;
    job_spec_put(st, shared_ref_new(own, destroy_spec));
    job_text(&st->kernel, own->kernel);
    tolerate(e, own);
    session_device(e);
    return s;
}

static enum status open_session(struct job_engine *e, const char *path, struct diags *ds)
{
    struct session *s = NULL;
    struct job_state *st = &e->state;
    enum status r = session_load(path, &s, ds);
    if (r != ST_OK)
        return r;
    close_session(e);
    st->session = s;
    r = job_runs_load(e, ds);
    return r == ST_OK ? session_subject(e, ds) : r;
}

/* A .json is a session or a launch description: its "format" key tells. */
static bool is_launch(const char *path)
{
    char *text;
    size_t n;
    if (file_read(path, (size_t)1 << 30, &text, &n, NULL) != ST_OK)
        return false;
    bool is = strstr(text, "\"gpulocw-launch\"") != NULL;
    base_free(text);
    return is;
}

static enum status open_launch(struct job_engine *e, const char *path, struct diags *ds)
{
    struct launch_file *f = base_alloc(sizeof *f);
    enum status s = f ? launch_file_read(path, f, ds) : ST_NOMEM;
    if (s != ST_OK) {
        base_free(f);
        return s;
    }
    struct buf ptx = { 0 };
    buf_printf(&ptx, "%s/%s", f->launch[0].dir ? f->launch[0].dir : ".",
               f->launch[0].ptx ? f->launch[0].ptx : "");
    if (!e->state.module && f->launch[0].ptx)
        s = launch_ptx_check(ptx.s ? ptx.s : "", path, ds);
    if (s == ST_OK && !e->state.module && f->launch[0].ptx) {
        s = open_ptx(e, ptx.s ? ptx.s : "", NULL, true, ds);
        job_bench_drop(e);
    }
    buf_free(&ptx);
    if (s == ST_OK && e->state.module)
        s = launch_name_kernels(f, e->state.module->p);
    if (s != ST_OK || !e->state.module) {
        job_destroy_launches(f);
        return s == ST_OK ? ST_INPUT : s;
    }
    shared_ref_put(&e->state.launches, shared_ref_new(f, job_destroy_launches));
    job_bench_drop(e);
    s = use_launch(e, 0, ds);
    return s == ST_OK ? first_facts(e, ds) : s;
}

enum status job_open(struct job_engine *e, const char *path, bool launch_follows, struct diags *ds)
{
    bool launch = !base_stem(path, ".ptx") && is_launch(path);
    if (!base_stem(path, ".json") && !launch)
        return open_ptx(e, path, NULL, launch_follows, ds);
    return launch ? open_launch(e, path, ds) : open_session(e, path, ds);
}

/* ---- changes ---- */
/* A launch of the file, or a kernel (name, whole) that it says nothing of: i == SIZE_MAX. */
static enum status go_to(struct job_engine *e, size_t i, const char *name, struct diags *ds)
{
    struct job_state *st = &e->state;
    if (!st->launches && st->spec && i == SIZE_MAX && st->kernel && strcmp(st->kernel, name) == 0)
        return ST_OK; /* a session's own, with its launch */
    job_bench_drop(e);
    /* for when it is come back to */
    struct shared_ref *left = st->spec && st->edited ? shared_ref_ref(st->spec) : NULL;
    enum status s = ST_OK;
    if (i != SIZE_MAX)
        s = use_launch(e, i, ds);
    else {
        job_spec_put(st, NULL);
        job_text(&st->kernel, name);
        (void)use_kept(e, NULL, name);
    }
    if (left)
        shared_ref_put(&st->kept, left);
    return s == ST_OK ? first_facts(e, ds) : s;
}

/* Of a program, a library or a fatbin: the module that has the kernel. */
static enum status other_module(struct job_engine *e, const char *name, struct diags *ds)
{
    const struct ptx_func *k = NULL;
    char *path = base_strdup(((const struct ptx_module *)e->state.module->p)->path);
    enum status s = path ? open_ptx(e, path, name, false, ds) : ST_NOMEM;
    base_free(path);
    if (s == ST_OK)
        s = workspace_find_entry(e->state.module->p, name, &k, ds);
    if (s != ST_OK || !k)
        return s;
    struct buf full = { 0 };
    buf_put(&full, k->name.s, k->name.n);
    s = full.oom ? ST_NOMEM : go_to(e, SIZE_MAX, full.s, ds);
    buf_free(&full);
    return s;
}

/* With the launches that there are, as far as a line has room. */
static void say_none(const struct launch_file *f, const char *name, struct diags *ds)
{
    struct buf there = { 0 };
    size_t n = f ? f->n : 0, i = 0;
    for (; i < n && there.n < 60; i++)
        buf_printf(&there, "%s%s", i ? ", " : "; the launches are ",
                   f->launch[i].name ? f->launch[i].name : f->launch[i].kernel);
    diag_error(ds, "kernel", "no launch or kernel '%s'%s%s", name, there.s ? there.s : "",
               i < n ? " ..." : "");
    buf_free(&there);
}

enum status job_kernel(struct job_engine *e, const char *name, long number, struct diags *ds)
{
    struct job_state *st = &e->state;
    if (!st->module)
        return ST_OK;
    const struct launch_file *f = st->launches ? st->launches->p : NULL;
    size_t i = !f                                     ? SIZE_MAX
               : name                                 ? launch_pick(f, name)
               : number >= 0 && (size_t)number < f->n ? (size_t)number
                                                      : SIZE_MAX;
    if (i != SIZE_MAX)
        return go_to(e, i, name, ds);
    const struct ptx_func *k = NULL;
    enum status s = name ? workspace_find_entry(st->module->p, name, &k, ds) : ST_OK;
    if (s == ST_OK && !k && name && container_is(((const struct ptx_module *)st->module->p)->path))
        return other_module(e, name, ds);
    if (s == ST_OK && !k) {
        say_none(f, name ? name : "", ds);
        s = ST_INPUT;
    }
    if (s != ST_OK)
        return s;
    struct buf full = { 0 };
    buf_put(&full, k->name.s, k->name.n);
    s = full.oom ? ST_NOMEM : go_to(e, f ? launch_pick(f, full.s) : SIZE_MAX, full.s, ds);
    buf_free(&full);
    return s;
}

enum status job_device(struct job_engine *e, const char *spec, struct diags *ds)
{
    struct job_state *st = &e->state;
    struct dev *d = NULL;
    struct diags own = { 0 };
    enum status s = dev_open(spec, &e->env, &d, &own);
    if (s != ST_OK && s != ST_CANCELLED) {
        const struct diag *first = own.n ? &own.v[0] : NULL;
        struct diag *said =
            diag_add(ds, DIAG_ERROR, "device", NULL, NO_SPAN, "'%s' cannot be used; still using %s: %s",
                     spec, st->device, first && first->msg ? first->msg : status_text(s));
        if (first && first->hint)
            diag_hint(said, "%s", first->hint);
    } else {
        diags_move(ds, &own);
    }
    diags_free(&own);
    if (s != ST_OK)
        return s;
    job_bench_drop(e);
    if (st->dev)
        dev_close(st->dev);
    if (st->prover)
        dev_close(st->prover);
    st->prover = NULL;
    st->dev = d;
    st->info = *dev_describe(d);
    job_text(&st->device, spec);
    return st->module ? first_facts(e, ds) : ST_OK;
}

/* A copy of the present launch with one part of l. */
static enum status with_part(const struct launch_spec *present, const struct launch_spec *l, long part,
                             struct launch_spec *out)
{
    struct launch_spec now = *present;
    size_t arg = (size_t)(part - LAUNCH_ARG);
    struct arg_spec *args = base_alloc((now.nargs + 1) * sizeof *args);
    if (!args)
        return ST_NOMEM;
    if (now.nargs)
        memcpy(args, now.args, now.nargs * sizeof *args);
    now.args = args;
    switch (part) {
    case LAUNCH_GRID: now.grid = l->grid; break;
    case LAUNCH_BLOCK: now.block = l->block; break;
    case LAUNCH_SHARED: now.shared = l->shared; break;
    default:
        if (part >= LAUNCH_ARG && arg < now.nargs && arg < l->nargs)
            args[arg] = l->args[arg];
    }
    enum status s = launch_copy(&now, out);
    base_free(args);
    return s;
}

enum status job_launch(struct job_engine *e, const struct launch_spec *l, long part, struct diags *ds)
{
    struct job_state *st = &e->state;
    struct launch_spec *own = base_alloc(sizeof *own);
    const struct launch_spec *present = part && st->spec ? st->spec->p : NULL;
    bool same = present && present->nargs == l->nargs && !strcmp(present->kernel, l->kernel);
    enum status s = !st->module ? ST_INPUT
                    : !own      ? ST_NOMEM
                    : same      ? with_part(present, l, part, own)
                                : launch_copy(l, own);
    if (s == ST_OK)
        s = launch_check(own, st->module->p, st->dev ? &st->info : NULL, ds);
    if (s != ST_OK) {
        launch_spec_drop(own);
        return s;
    }
    job_bench_drop(e);
    st->edited = true;
    st->guessed_n = 0;
    job_spec_put(st, shared_ref_new(own, destroy_spec));
    job_text(&st->kernel, own->kernel);
    return first_facts(e, ds);
}

enum status job_launch_guess(struct job_engine *e, long n, const struct launch_spec *like,
                             struct diags *ds)
{
    struct job_state *st = &e->state;
    struct launch_spec guess = { 0 };
    struct infer_asked asked = { .n = n > 0 ? (uint32_t)n : 0 };
    if (like)
        asked.block = like->block;
    if (!st->facts) {
        diag_error(ds, "launch", "no kernel to guess a launch for: open one first");
        return ST_INPUT;
    }
    enum status s = open_device(e, ds);
    if (s == ST_OK)
        s = launch_infer(st->facts->p, st->dev, &asked, &e->cancel, &guess, ds);
    if (s == ST_OK) {
        s = job_launch(e, &guess, LAUNCH_ALL, ds);
        st->guessed_n = s == ST_OK ? asked.n : 0;
        job_say(e, DIAG_NOTE, NULL, NO_SPAN,
                "sizes and data are guesses: change them in the options panel");
    }
    launch_spec_free(&guess);
    return s;
}

enum status job_ready(struct job_engine *e, struct diags *ds)
{
    enum status s = open_device(e, ds);
    return s == ST_OK ? make_data(e, ds) : s;
}

enum status job_bench(struct job_engine *e, bool whole, struct diags *ds)
{
    struct job_state *st = &e->state;
    bool deeper = whole && (st->wants_facts || !st->facts); /* the quick analysis is not enough */
    if (st->measure.bench && !deeper)
        return ST_OK;
    if (!st->module || !st->spec) {
        diag_error(ds, "launch",
                   st->module ? "no launch description, so nothing can run yet (:open FILE.launch.json, "
                                "or edit one in the options panel)"
                              : "open a PTX file first");
        return ST_INPUT;
    }
    if (deeper)
        bench_close(st);
    enum status s = job_ready(e, ds);
    if (s == ST_OK && (deeper || !st->facts))
        s = job_facts(e, !whole, &e->cancel, ds);
    if (s != ST_OK)
        return s;
    st->wants_facts &= !whole;
    st->measure = (struct measure){ .subject = { st->module->p, st->spec->p, &st->data, st->dev,
                                                 st->facts ? st->facts->p : NULL },
                                    .how.level = TUNE_QUICK,
                                    .kernel = st->kernel,
                                    .local = st->info.kind == DEV_SIMULATED && !e->env.nworkers,
                                    .cancel = &e->cancel };
    if (!st->prover && !st->measure.local)
        st->prover = workspace_prover_for(&st->info, &e->env, e->env.threads);
    shared_ref_put(&st->bench_facts, shared_ref_ref(st->facts));
    return measure_open(&st->measure, st->prover, ds);
}

void job_close(struct job_engine *e)
{
    struct job_state *st = &e->state;
    close_file(e);
    close_session(e);
    shared_ref_put(&st->search, NULL);
    shared_ref_put(&st->kept, NULL);
    if (st->dev)
        dev_close(st->dev);
    if (st->prover)
        dev_close(st->prover);
    for (size_t i = 0; i < st->nmessages; i++)
        shared_ref_unref(st->messages[i]);
    BASE_FREE(st->device, st->session_wanted, st->what, st->trying);
}
