/* paper: the papers' figures and tables, run on simulated devices. */
#include "engine/cmd/cmd.h"
#include "engine/cmd/cmd_int.h"
#include "engine/paper/claim.h"
#include "engine/paper/paper.h"
#include "engine/workspace/args.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void on_progress(void *ctx, double done, const char *what)
{
    cmd_progress(ctx, done, what);
}

static unsigned columns(void)
{
    const char *env = getenv("COLUMNS");
    struct winsize w;
    long said = env ? strtol(env, NULL, 10) : 0;
    if (said > 0 && said < 1000)
        return (unsigned)said;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 100;
}

static enum status no_such_experiment(const char *id, struct diags *ds)
{
    const char *near = paper_near(id);
    struct diag *d = diag_add(ds, DIAG_ERROR, "usage", NULL, NO_SPAN, "no experiment '%s'", id);
    diag_hint(
        d, near ? "did you mean gpulocw paper %s? gpulocw paper lists them" : "gpulocw paper lists them",
        near);
    return ST_USAGE;
}

static enum status check_format(const struct args *a, struct diags *ds)
{
    if (!a->format || strcmp(a->format, "svg") != 0 ||
        (a->nfiles == 1 && strcmp(a->file[0], "claims") != 0))
        return ST_OK;
    diag_error(ds, "usage", "--format svg draws one experiment: give its ID");
    return ST_USAGE;
}

static void show(const struct args *a, const struct paper_result *r, struct buf *out)
{
    if (a->json)
        paper_json(r, out);
    else if (a->format && strcmp(a->format, "svg") == 0)
        paper_svg(r, out);
    else if (a->format)
        paper_md(r, out);
    else
        paper_text(r, columns(), cmd_utf8(), out);
}

static enum status run_one(struct args *a, const struct paper_experiment *e,
                           const struct paper_request *q, struct diags *ds)
{
    struct buf out = { 0 };
    struct paper_result r = { 0 };
    enum status st = paper_run(e, q, &r, ds);
    cmd_progress_end(a);
    if (st == ST_OK) {
        show(a, &r, &out);
        st = out.oom ? ST_NOMEM : ST_OK;
    }
    if (st == ST_OK)
        cmd_put(a, &out);
    paper_result_free(&r);
    buf_free(&out);
    return st;
}

static enum status run(struct args *a, const struct paper_experiment *const *e, size_t n,
                       struct diags *ds)
{
    struct buf kernels = { 0 };
    buf_printf(&kernels, "%s/kernels", cmd_data_dir());
    struct paper_request q = {
        .kernels = kernels.s,
        .env = a->env,
        .cancel = a->cancel,
        .threads = (unsigned)a->threads,
        .quick = a->quick,
        .only = a->device ? (strncmp(a->device, "sim:", 4) == 0 ? a->device + 4 : a->device) : NULL,
        .progress = on_progress,
        .ctx = a
    };
    enum status st = kernels.oom ? ST_NOMEM : ST_OK;
    if (n > 1 && !(q.memo = paper_memo_new()))
        st = ST_NOMEM;
    for (size_t i = 0; i < n && st == ST_OK; i++)
        st = run_one(a, e[i], &q, ds);
    paper_memo_free(q.memo);
    buf_free(&kernels);
    return st;
}

static void list(const struct args *a, bool of_claims)
{
    static void (*const put[2][3])(struct buf *) = {
        { paper_list_text, paper_list_md, paper_list_json },
        { claims_text, claims_md, claims_json },
    };
    struct buf out = { 0 };
    put[of_claims][a->json ? 2 : a->format ? 1 : 0](&out);
    cmd_give(a, &out);
}

int cmd_paper(struct args *a)
{
    struct diags ds = { 0 };
    enum status st = check_format(a, &ds);
    bool table = a->nfiles && strcmp(a->file[0], "claims") == 0;
    const struct paper_experiment *e[CMD_MAX_FILES];
    size_t n = 0;
    for (size_t i = 0; i < a->nfiles && st == ST_OK && !table; i++)
        if (!(e[n++] = paper_find(a->file[i])))
            st = no_such_experiment(a->file[i], &ds);
    if (st == ST_OK && n)
        st = run(a, e, n, &ds);
    else if (st == ST_OK)
        list(a, table);
    return cmd_finish(a, st, &ds);
}
