/* check: a kernel against rules, for continuous integration. */
#include "engine/analysis/analysis.h"
#include "engine/check/check.h"
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/measurement.h"
#include "engine/ptx/meaning.h"
#include "engine/rec/result_read.h"
#include "engine/session/guess.h"
#include "engine/session/infer/others.h"
#include "engine/workspace/args.h"
#include "engine/workspace/measure.h"
#include "engine/workspace/workspace.h"

#include <stdio.h>
#include <string.h>

/* In the order of cmd_format. */
enum check_format { CHECK_TEXT, CHECK_JSON, CHECK_SARIF, CHECK_JUNIT };

struct checking {
    struct args *a;
    struct rules rules;
    struct findings found;
    struct diags *ds;
};

static enum check_format format_of(const struct args *a)
{
    enum check_format f = a->json ? CHECK_JSON : CHECK_TEXT;
    for (size_t i = 0; a->format && cmd_format("check", i); i++)
        if (strcmp(a->format, cmd_format("check", i)) == 0)
            f = (enum check_format)i;
    return f;
}

static void keep_text(struct checking *c, char **to, const char *text)
{
    base_free(*to);
    *to = base_strdup(text);
    c->found.oom = c->found.oom || !*to;
}

/* ---- a kernel without a launch: one is guessed ---- */

/* *took: what is known of the guess, which becomes the workspace's launch. */
static enum status guess_launch(struct checking *c, struct workspace *s, const struct ptx_func *f,
                                struct infer_asked *took)
{
    struct ana_kernel *facts = NULL;
    struct ana_opts o = { .cancel = c->a->cancel, .quick = true };
    struct diags none = { 0 }; /* what no guess could do stands in *took */
    enum status st = ana_run(s->module, f->name, &o, &facts, c->ds);
    s->launches = (struct launch_file){ .launch = base_alloc(sizeof *s->launches.launch) };
    if (st == ST_OK && !s->launches.launch)
        st = ST_NOMEM;
    if (st == ST_OK)
        st = launch_infer(facts, s->dev, took, c->a->cancel, &s->launches.launch[0], &none);
    s->launches.n = st == ST_OK;
    if (st == ST_OK && (took->runs || took->faults)) {
        s->spec = &s->launches.launch[0];
        st = workspace_data(s, c->ds);
    }
    ana_free(facts);
    diags_free(&none);
    return st;
}

static void note_guess(struct checking *c, struct checked_kernel *k, const struct workspace *s,
                       const struct infer_asked *took)
{
    char text[128];
    if (!s->spec) {
        keep_text(c, &k->unrun, took->unclean);
        return;
    }
    k->launch = CHECK_LAUNCH_GUESSED;
    struct dim3u g = s->spec->grid, b = s->spec->block;
    snprintf(text, sizeof text, "grid %ux%ux%u, block %ux%ux%u", g.x, g.y, g.z, b.x, b.y, b.z);
    keep_text(c, &k->shape, text);
    bool meets = false;
    for (uint32_t i = 0; i < s->facts->func->ninsts; i++)
        meets |= ptx_effect_of(&s->facts->func->insts[i]) == EFFECT_BARRIER;
    k->one_warp = meets && dim3u_count(b) <= 32;
    k->front = took->front;
}

/* ---- one launch ---- */

/* A launch that the device cannot hold is refused here; else its counters are looked at. */
static enum status run_timed(struct checking *c, struct workspace *s, struct checked_kernel *k,
                             struct diags *run)
{
    struct result *r = result_new();
    struct diags said = { 0 };
    if (!r)
        return ST_NOMEM;
    enum status st = measurement_original(s, c->a, r, &said);
    if (st == ST_OK && result_status(r) == ST_OK) {
        findings_of_counters(s->facts, r, dim3u_count(s->spec->grid) * dim3u_count(s->spec->block),
                             &c->rules, &c->found);
    } else if (st != ST_CANCELLED && st != ST_NOMEM) {
        diag_add(run, DIAG_ERROR, "launch", s->module->path,
                 s->facts->func->ninsts ? s->facts->func->insts[0].at : NO_SPAN, "%s",
                 result_message(r)[0] ? result_message(r) : "the launch does not run");
        st = ST_DEVICE;
    }
    diags_free(&said);
    if (k->beside) { /* limits are of the guess itself */
        base_free(r);
    } else {
        base_free(k->timed);
        k->timed = r;
    }
    return st;
}

/* The original, with every access checked. */
static enum status run_original(struct checking *c, struct workspace *s, struct diags *run)
{
    struct measure m = { .bench = NULL };
    struct args a = *c->a;
    a.check_memory = true;
    tune_tolerate_atomics(s->module, &s->launches.launch[s->spec - s->launches.launch]);
    enum status st = measurement_bench_of(s, &a, &m, run); /* which runs the original */
    tune_bench_close(m.bench);
    return st;
}

/* What the device says of it are findings; anything else that goes wrong ends the command. */
static enum status run_checked(struct checking *c, struct workspace *s, struct checked_kernel *k)
{
    struct diags run = { 0 };
    enum status st = run_original(c, s, &run);
    if (st == ST_OK)
        st = run_timed(c, s, k, &run);
    k->ran = st == ST_OK || st == ST_DEVICE;
    k->fault |= st == ST_DEVICE;
    if (st == ST_DEVICE) {
        findings_of_run(s->facts, &run, &c->rules, &c->found);
        st = ST_OK;
    } else {
        diags_move(c->ds, &run);
    }
    diags_free(&run);
    return st;
}

/* A launch beside the guess. What it finds stands in the finding; where it does not run for another reason than a fault of
 * the kernel, nothing is said. */
static enum status check_other(struct checking *c, struct workspace *s, struct checked_kernel *k,
                               struct infer_other *o)
{
    struct launch_spec was = s->launches.launch[0];
    struct launch_data data = s->data;
    struct diags run = { 0 };
    s->launches.launch[0] = o->l;
    s->has_data = false;
    enum status st = workspace_data(s, &run);
    if (st == ST_OK)
        st = run_original(c, s, &run);
    if (st == ST_OK || st == ST_DEVICE)
        findings_tried(&c->found, k, o->what);
    if (st == ST_DEVICE) {
        k->beside = o->what;
        findings_of_run(s->facts, &run, &c->rules, &c->found);
        k->beside = NULL;
    }
    if (s->has_data)
        launch_data_free(&s->data);
    o->l = s->launches.launch[0];
    s->launches.launch[0] = was;
    s->data = data;
    s->has_data = true;
    diags_free(&run);
    return st == ST_NOMEM || st == ST_CANCELLED ? st : ST_OK;
}

static enum status check_others(struct checking *c, struct workspace *s, struct checked_kernel *k,
                                const struct infer_asked *took)
{
    struct infer_other other[INFER_OTHERS];
    size_t n = 0;
    enum status st = infer_others(s->facts, s->spec, took->free_block, other, &n);
    for (size_t i = 0; st == ST_OK && i < n && !k->fault; i++)
        st = check_other(c, s, k, &other[i]);
    infer_others_free(other, n);
    return st;
}

static enum status check_kernel(struct checking *c, struct workspace *s, const struct infer_asked *took)
{
    enum status st = workspace_facts(s, c->a, false, c->ds);
    struct checked_kernel *k = st == ST_OK ? findings_kernel(&c->found, s->facts) : NULL;
    if (st == ST_OK && !k)
        st = ST_NOMEM;
    if (st != ST_OK)
        return st;
    if (took)
        note_guess(c, k, s, took);
    else
        k->launch = CHECK_LAUNCH_GIVEN;
    k->analysed = s->facts->launched || s->facts->coalesce.valid || !s->facts->naccess;
    if (!k->analysed)
        keep_text(c, &k->unanalysed,
                  s->facts->ngaps ? s->facts->gaps[0] : "no address could be followed");
    findings_of_analysis(s->facts, &c->rules, &c->found);
    if (k->launch == CHECK_LAUNCH_GIVEN)
        findings_of_maps(s->facts, s->spec, &c->rules, &c->found);
    if (k->launch != CHECK_LAUNCH_NONE)
        st = run_checked(c, s, k);
    if (st == ST_OK && k->launch == CHECK_LAUNCH_GUESSED && !k->fault && s->has_data)
        st = check_others(c, s, k, took);
    return st;
}

/* A launch of the file by its name, or the kernel f without one. */
static enum status check_one(struct checking *c, const char *name, const struct ptx_func *f)
{
    struct workspace s = { 0 };
    struct infer_asked took = { 0 };
    struct buf kernel = { 0 };
    struct args a = *c->a, *was = c->a;
    if (f)
        buf_str(&kernel, f->name);
    a.kernel = name ? name : kernel.s;
    c->a = &a;
    enum status st = workspace_ptx(&s, &a, c->ds);
    if (st == ST_OK && name)
        st = workspace_launch(&s, &a, true, c->ds);
    if (st == ST_OK)
        st = workspace_device(&s, &a, c->ds);
    if (st == ST_OK && s.spec)
        st = workspace_data(&s, c->ds);
    if (st == ST_OK && !name) {
        s.kernel = a.kernel;
        st = guess_launch(c, &s, f, &took);
    }
    if (st == ST_OK)
        st = check_kernel(c, &s, name ? NULL : &took);
    c->a = was;
    workspace_close(&s);
    buf_free(&kernel);
    return st;
}

/* ---- all kernels of the module ---- */
static enum status check_launches(struct checking *c, const struct workspace *s,
                                  const struct ptx_func *f, bool *any)
{
    enum status st = ST_OK;
    *any = false;
    for (size_t i = 0; st == ST_OK && i < s->launches.n; i++) {
        const struct launch_spec *l = &s->launches.launch[i];
        if (!str_is(f->name, l->kernel) || (c->a->kernel && s->spec && s->spec != l))
            continue;
        *any = true;
        st = check_one(c, l->name ? l->name : l->kernel, f);
    }
    return st;
}

static enum status check_all(struct checking *c)
{
    struct workspace s = { 0 };
    enum status st = workspace_ptx(&s, c->a, c->ds);
    if (st == ST_OK)
        st = workspace_launch(&s, c->a, false, c->ds);
    if (st == ST_OK && s.spec && c->a->kernel)
        s.kernel = s.spec->kernel;
    for (uint32_t i = 0; st == ST_OK && i < s.module->nfuncs; i++) {
        const struct ptx_func *f = s.module->funcs[i];
        bool any;
        if (!f->entry || !f->has_body || (c->a->kernel && s.kernel && !str_is(f->name, s.kernel)))
            continue;
        cmd_progress(c->a, (double)i / (double)s.module->nfuncs, "checking");
        st = check_launches(c, &s, f, &any);
        if (st == ST_OK && !any)
            st = check_one(c, NULL, f);
    }
    cmd_progress_end(c->a);
    workspace_close(&s);
    return st;
}

static enum status put_out(const struct checking *c, enum check_format f)
{
    struct buf out = { 0 };
    enum status st = ST_OK;
    if (f == CHECK_TEXT) {
        findings_text(&c->found, &c->rules, &out);
        buf_puts(&out, c->a->output ? WORKSPACE_MARK_TEXT "\n" : "");
    } else if (f == CHECK_JSON)
        findings_json(&c->found, &c->rules, &out);
    else if (f == CHECK_JUNIT)
        findings_junit(&c->found, &c->rules, &out);
    else
        findings_sarif(&c->found, &c->rules, &out);
    if (out.oom) {
        st = ST_NOMEM;
    } else if (c->a->output) {
        st = file_write_atomic(c->a->output, out.s, out.n, c->ds);
    } else {
        cmd_put(c->a, &out);
    }
    buf_free(&out);
    return st;
}

/* What broke the rules is told in the document; the status is of new errors. */
static enum status verdict(const struct checking *c)
{
    size_t n = findings_new_errors(&c->found);
    if (!n)
        return ST_OK;
    struct diag *d = diag_add(c->ds, DIAG_ERROR, "rules", c->a->file[0], NO_SPAN,
                              "%zu finding%s of level error", n, n == 1 ? "" : "s");
    diag_hint(d, "--rules changes levels and limits; --baseline FILE ignores earlier findings");
    return ST_REFUSED;
}

int cmd_check(struct args *a)
{
    if (a->rewrite)
        return cmd_check_rewrite(a);
    struct diags ds = { 0 };
    struct checking c = { .a = a, .rules = rules_default(), .ds = &ds };
    enum status st = ST_OK;
    if (a->rules)
        st = rules_read(a->rules, &c.rules, &ds);
    if (st == ST_OK)
        st = check_all(&c);
    if (st == ST_OK)
        findings_finish(&c.found);
    if (st == ST_OK && a->baseline)
        st = findings_baseline(&c.found, a->baseline, &ds);
    if (st == ST_OK)
        st = put_out(&c, format_of(a));
    if (st == ST_OK)
        st = verdict(&c);
    findings_free(&c.found);
    return cmd_finish(a, st, &ds);
}
