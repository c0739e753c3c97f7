/* compare: an old and a new text of a kernel, or two sessions, side by side. */
#include "engine/base/name.h"
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/measurement.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result_read.h"
#include "engine/session/compare_doc.h"
#include "engine/search/found.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/tune/tune_int.h"
#include "engine/workspace/measure.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS_MOST 32

/* One file: a session, or a text with what runs it. */
struct side {
    struct args args;
    struct workspace s;
    struct measure m; /* of a text */
    struct session *session;
    struct ptx_module *text; /* of the session; NULL: it has none */
    char *launch;
};

static void close_side(struct side *x)
{
    tune_bench_close(x->m.bench);
    workspace_close(&x->s);
    session_free(x->session);
    ptx_free(x->text);
    base_free(x->launch);
}

/* ---- texts ---- */

/* A new text without a launch of its own takes the old one's. */
static enum status open_text(struct side *x, const struct args *a, size_t which, struct diags *ds)
{
    x->args = *a;
    x->args.file[0] = a->file[which];
    x->args.nfiles = 1;
    char *own = a->launch ? NULL : launch_beside(a->file[which]);
    if (!a->launch && !own && which)
        x->args.launch = x->launch = launch_beside(a->file[0]);
    base_free(own);
    return measurement_bench(&x->s, &x->args, &x->m, ds);
}

static enum status run_texts(struct side side[2], struct result *r, struct diags *ds)
{
    const struct options *none = options_none();
    enum status st = ST_OK;
    for (size_t i = 0; i < 2 && st == ST_OK; i++)
        st = tune_run_one(side[i].m.bench, none, result_slot(r, i), ds);
    for (size_t i = 0;
         i < 2 && st == ST_OK && result_sampled(result_at(r, 0)) != result_sampled(result_at(r, 1)); i++)
        if (result_sampled(result_at(r, i)))
            st = tune_time_whole(side[i].m.bench, none, result_slot(r, i), ds);
    for (size_t i = 0; i < 2 && st == ST_OK; i++)
        st = result_status(result_at(r, i));
    return st;
}

static enum status compare_texts(struct side side[2], const struct args *a, struct compared *c,
                                 struct result *r, size_t *n, struct diags *ds)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < 2 && st == ST_OK; i++)
        st = open_text(&side[i], a, i, ds);
    if (st == ST_OK)
        st = run_texts(side, r, ds);
    if (st != ST_OK)
        return st;
    c->name = side[1].s.kernel;
    c->old_module = side[0].s.module;
    c->now_module = side[1].s.module;
    *n = 1;
    return ST_OK;
}

/* ---- sessions ---- */

/* What the newest run of a kernel came to, of what it recommends where it searched. */
static const struct result *newest(struct session *s, const char *kernel)
{
    for (size_t i = session_count(s); i-- > 0;) {
        const struct session_run *r = session_look(s, i);
        if (r && !r->deleted && strcmp(r->kernel, kernel) == 0 && r->kind != RUN_SWEEP)
            return r->kind == RUN_ONE ? r->one : r->found->best;
    }
    return NULL;
}

static enum status open_session(struct side *x, const char *path, struct diags *ds)
{
    enum status st = session_load(path, &x->session, ds);
    struct str text = st == ST_OK ? session_ptx_text(x->session) : (struct str){ 0 };
    if (text.n)
        ptx_parse(path, text, &x->text, NULL);
    return st;
}

static enum status compare_sessions(struct side side[2], const struct args *a, struct compared *c,
                                    struct result *r, size_t *n, struct diags *ds)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < 2 && st == ST_OK; i++)
        st = open_session(&side[i], a->file[i], ds);
    for (size_t i = 0; st == ST_OK && i < session_count(side[0].session) && *n < KERNELS_MOST; i++) {
        const struct session_run *run = session_look(side[0].session, i);
        size_t k = 0;
        while (run && k < *n && strcmp(c[k].name, run->kernel) != 0)
            k++;
        const struct result *old = run && k == *n ? newest(side[0].session, run->kernel) : NULL,
                            *now = old ? newest(side[1].session, run->kernel) : NULL;
        if (!now)
            continue;
        result_copy(result_slot(r, 2 * *n), old);
        result_copy(result_slot(r, 2 * *n + 1), now);
        c[*n].name = run->kernel;
        c[*n].old_module = side[0].text;
        c[(*n)++].now_module = side[1].text;
    }
    if (st == ST_OK && !*n) {
        diag_error(ds, "compare", "%s and %s have no run of the same kernel", a->file[0], a->file[1]);
        st = ST_INPUT;
    }
    return st;
}

/* ---- both ---- */

/* *percent: NaN without --fail-over. */
static enum status most_allowed(const struct args *a, double *percent, struct diags *ds)
{
    char *end = NULL;
    *percent = a->fail_over ? strtod(a->fail_over, &end) : (double)NAN;
    if (!a->fail_over || (end != a->fail_over && !*end && *percent >= 0))
        return ST_OK;
    diag_error(ds, "usage", "--fail-over takes a percentage from 0 on, not '%s'", a->fail_over);
    return ST_USAGE;
}

static enum status judge(double most, const struct compared *c, size_t n, struct diags *ds)
{
    enum status st = ST_OK;
    for (size_t i = 0; !isnan(most) && i < n; i++) {
        double slower = compare_slower(&c[i]);
        if (slower <= most)
            continue;
        st = ST_REFUSED;
        if (isfinite(slower))
            diag_error(ds, "slower", "%s is %.1f %% slower; --fail-over allows %g %%", c[i].name, slower,
                       most);
        else
            diag_error(ds, "slower", "%s: the times cannot be compared", c[i].name);
    }
    return st;
}

static enum status show(struct args *a, const struct compared *c, size_t n)
{
    struct buf out = { 0 };
    if (a->json)
        json_compare(c, n, a->file[0], a->file[1], &out);
    else
        buf_printf(&out, "%-12s%14s %14s\n", "", "old", "new");
    for (size_t i = 0; i < n && !a->json; i++)
        compare_text(&c[i], &out);
    cmd_put(a, &out);
    enum status st = out.oom ? ST_NOMEM : ST_OK;
    buf_free(&out);
    return st;
}

static enum status compare_files(struct args *a, struct side side[2], struct diags *ds)
{
    struct result *r = result_list((size_t)2 * KERNELS_MOST);
    struct compared c[KERNELS_MOST] = { 0 };
    size_t n = 0;
    double most;
    enum status st = r ? most_allowed(a, &most, ds) : ST_NOMEM;
    for (size_t i = 0; st == ST_OK && i < KERNELS_MOST; i++) {
        c[i].old = result_at(r, 2 * i);
        c[i].now = result_at(r, 2 * i + 1);
    }
    if (st == ST_OK)
        st = base_stem(a->file[0], ".json") ? compare_sessions(side, a, c, r, &n, ds)
                                            : compare_texts(side, a, c, r, &n, ds);
    if (st == ST_OK)
        st = show(a, c, n);
    if (st == ST_OK)
        st = judge(most, c, n, ds);
    base_free(r);
    return st;
}

int cmd_compare(struct args *a)
{
    struct diags ds = { 0 };
    struct side side[2] = { 0 };
    enum status st = ST_OK;
    if (a->nfiles != 2) {
        diag_error(&ds, "usage", "compare takes two files: OLD NEW");
        st = ST_USAGE;
    } else if (!base_stem(a->file[0], ".json") != !base_stem(a->file[1], ".json")) {
        diag_error(&ds, "usage", "compare takes two PTX files or two sessions, not one of each");
        st = ST_USAGE;
    }
    if (st == ST_OK)
        st = compare_files(a, side, &ds);
    close_side(&side[0]);
    close_side(&side[1]);
    return cmd_finish(a, st, &ds);
}
