/* paper: the papers' figures and tables, run on simulated devices. */
#include "engine/base/base.h"
#include "engine/cmd/cmd.h"
#include "engine/cmd/cmd_int.h"
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
    if (!a->format || strcmp(a->format, "svg") != 0 || a->nfiles)
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

static enum status run(struct args *a, const struct paper_experiment *e, struct diags *ds)
{
    struct buf kernels = { 0 }, out = { 0 };
    struct paper_result r = { 0 };
    buf_printf(&kernels, "%s/kernels", cmd_data_dir());
    struct paper_request q = { .kernels = kernels.s,
                               .env = a->env,
                               .cancel = a->cancel,
                               .threads = (unsigned)a->threads,
                               .quick = a->quick,
                               .progress = on_progress,
                               .ctx = a };
    enum status st = kernels.oom ? ST_NOMEM : paper_run(e, &q, &r, ds);
    cmd_progress_end(a);
    if (st == ST_OK) {
        show(a, &r, &out);
        st = out.oom ? ST_NOMEM : ST_OK;
    }
    if (st == ST_OK)
        cmd_put(a, &out);
    paper_result_free(&r);
    buf_free(&kernels);
    buf_free(&out);
    return st;
}

static void list(const struct args *a)
{
    struct buf out = { 0 };
    if (a->json)
        paper_list_json(&out);
    else if (a->format)
        paper_list_md(&out);
    else
        paper_list_text(&out);
    cmd_put(a, &out);
    buf_free(&out);
}

int cmd_paper(struct args *a)
{
    struct diags ds = { 0 };
    enum status st = check_format(a, &ds);
    const struct paper_experiment *e = a->nfiles ? paper_find(a->file[0]) : NULL;
    if (st == ST_OK && a->nfiles && !e)
        st = no_such_experiment(a->file[0], &ds);
    if (st == ST_OK && e)
        st = run(a, e, &ds);
    else if (st == ST_OK)
        list(a);
    return cmd_finish(a, st, &ds);
}
