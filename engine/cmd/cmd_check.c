/* check: a kernel against rules, for continuous integration. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/check/check.h"
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/measurement.h"
#include "engine/rec/launch.h"
#include "engine/tune/tune.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <string.h>

enum check_format { CHECK_TEXT, CHECK_JSON, CHECK_SARIF };

struct checking {
    struct args *a;
    struct rules rules;
    struct findings found;
    size_t kernels, launches; /* analysed; run */
    struct diags *ds;
};

static enum status format_of(const struct args *a, enum check_format *f, struct diags *ds)
{
    static const char *const names[] = { "text", "json", "sarif" };
    *f = a->json ? CHECK_JSON : CHECK_TEXT;
    for (size_t i = 0; a->format && i < ARRAY_LEN(names); i++)
        if (strcmp(a->format, names[i]) == 0) {
            *f = (enum check_format)i;
            return ST_OK;
        }
    if (!a->format)
        return ST_OK;
    diag_error(ds, "usage", "--format must be text, json or sarif here, not '%s'", a->format);
    return ST_USAGE;
}

/* The original, with every access checked. What the device says of it are findings; anything else that
 * goes wrong ends the command. */
static enum status run_checked(struct checking *c, struct workspace *s)
{
    struct diags run = { 0 };
    struct workspace w = { 0 };
    struct tune_bench *bench = NULL;
    struct args a = *c->a;
    a.kernel = s->spec->name ? s->spec->name : s->spec->kernel;
    a.check_memory = true;
    enum status st = measurement_bench(&w, &a, true, &bench, &run); /* which runs the original */
    if (st == ST_DEVICE) {
        findings_of_run(s->facts, &run, &c->rules, &c->found);
        st = ST_OK;
    } else {
        diags_move(c->ds, &run);
    }
    c->launches++;
    tune_bench_close(bench);
    workspace_close(&w);
    diags_free(&run);
    return st;
}

static enum status check_kernel(struct checking *c, struct workspace *s)
{
    enum status st = workspace_facts(s, c->a, false, c->ds);
    if (st != ST_OK)
        return st;
    findings_of_analysis(s->facts, &c->rules, &c->found);
    c->kernels++;
    return s->spec ? run_checked(c, s) : ST_OK;
}

/* One launch of the launch file, or the one that --kernel names. */
static enum status check_launch(struct checking *c, const char *name)
{
    struct workspace s = { 0 };
    struct args a = *c->a, *was = c->a;
    a.kernel = name ? name : a.kernel;
    c->a = &a;
    enum status st = workspace_open(&s, &a, c->ds);
    if (st == ST_OK)
        st = check_kernel(c, &s);
    c->a = was;
    workspace_close(&s);
    return st;
}

static enum status check_all(struct checking *c)
{
    struct workspace s = { 0 };
    enum status st = workspace_ptx(&s, c->a, c->ds);
    if (st == ST_OK)
        st = workspace_launch(&s, c->a, false, c->ds);
    if (st == ST_OK && !s.spec)
        diag_add(c->ds, DIAG_NOTE, "launch", c->a->file[0], NO_SPAN,
                 "no launch description: rules that need exact addresses or a run were not checked");
    if (st == ST_OK && (c->a->kernel || s.launches.n < 2))
        st = check_launch(c, NULL);
    else
        for (size_t i = 0; st == ST_OK && i < s.launches.n; i++) {
            const struct launch_spec *l = &s.launches.launch[i];
            cmd_progress(c->a, (double)i / (double)s.launches.n, "checking");
            st = check_launch(c, l->name ? l->name : l->kernel);
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
        findings_text(&c->found, &out);
        buf_puts(&out, c->a->output ? WORKSPACE_MARK_TEXT "\n" : "");
    } else if (f == CHECK_JSON)
        findings_json(&c->found, &out);
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
    struct diags ds = { 0 };
    struct checking c = { .a = a, .rules = rules_default(), .ds = &ds };
    enum check_format f;
    enum status st = format_of(a, &f, &ds);
    if (st == ST_OK && a->rules)
        st = rules_read(a->rules, &c.rules, &ds);
    if (st == ST_OK)
        st = check_all(&c);
    if (st == ST_OK)
        findings_finish(&c.found);
    if (st == ST_OK && a->baseline)
        st = findings_baseline(&c.found, a->baseline, &ds);
    if (st == ST_OK)
        st = put_out(&c, f);
    if (st == ST_OK)
        st = verdict(&c);
    findings_free(&c.found);
    return cmd_finish(a, st, &ds);
}
