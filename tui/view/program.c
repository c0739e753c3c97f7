/* program: the kernels of a program that runs on the GPU, as a list, longest first. Enter captures the
 * one under the cursor and opens it; A runs the program with what the session recommends in its
 * launches, and the times of both kernels stand below as two histograms. Item i is kernel i of the
 * survey. Each runs on a thread of its own, one at a time; what the program prints is thrown away: the
 * screen is ours. */
#include "engine/live/apply.h"
#include "engine/live/live.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/counters.h"
#include "engine/workspace/source.h"
#include "engine/workspace/tuned.h"
#include "tui/app/app.h"
#include "tui/app/view.h"
#include "tui/app/work.h"
#include "tui/base/request.h"
#include "tui/base/text.h"
#include "tui/base/theme.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDER "captured"
enum { BINS = 10, BAR = 30, COMMAND_MOST = 1024 };

enum action { SURVEY, CAPTURE, APPLY };
struct program_worker {
    struct work work;
    enum action action;
    char command[COMMAND_MOST], kernel[1536], session[1024], why[240];
    char opened[1200]; /* of a capture: its launch description, to be opened once; empty: done */
    struct live_survey survey;
    struct live_apply apply;
    struct tuned_kernels tuned;
    size_t index[64];
};

/* ---- the work ---- */
static void clear(struct work *w)
{
    struct program_worker *p = (struct program_worker *)w;
    live_survey_free(&p->survey);
    live_apply_free(&p->apply);
    tuned_free(&p->tuned);
}

static enum status open_code(void *ctx, const char *path, const char *kernel, unsigned cc,
                             struct ptx_module **out, struct diags *ds)
{
    const struct source_want w = { .kernel = kernel, .cc = cc };
    (void)ctx;
    return source_read(&path, 1, &w, out, ds);
}

static uint64_t match(void *ctx, const char *kernel, uint64_t hash, const char *path, int *maxreg)
{
    const struct program_worker *p = ctx;
    uint64_t mask = 0;
    for (size_t i = 0; i < p->apply.n; i++) {
        int limit = 0;
        if (strcmp(p->apply.v[i].kernel, kernel) == 0 &&
            tuned_matches(&p->tuned.v[p->index[i]], hash, path, &limit)) {
            mask |= 1ull << i;
            *maxreg = limit;
        }
    }
    return mask;
}

static enum status capture(struct program_worker *p, char *const *argv, struct diags *ds)
{
    enum { MOST = 1 << 30, TRIM_S = 20 };
    const char *kernel[] = { p->kernel };
    struct live_want w = { .kernel = kernel,
                           .nkernels = 1,
                           .nth = 1,
                           .max_bytes = MOST,
                           .folder = FOLDER,
                           .trim_s = TRIM_S,
                           .open = open_code };
    struct live_survey s = { 0 };
    if (mkdir(FOLDER, 0777) != 0 && errno != EEXIST) {
        diag_error(ds, "write", "cannot make the folder %s: %s", FOLDER, strerror(errno));
        return ST_IO;
    }
    enum status st = live_capture_run(argv, &w, &s, ds);
    for (size_t i = 0; i < s.n && st == ST_OK; i++) {
        const struct live_files *f = s.v[i].files;
        if (f && f->ptx)
            snprintf(p->opened, sizeof p->opened, "%s/%s", FOLDER, f->ptx);
        else if (f && f->why)
            snprintf(p->why, sizeof p->why, "%s", f->why);
    }
    live_survey_free(&s);
    if (st == ST_OK && !p->opened[0] && !p->why[0])
        snprintf(p->why, sizeof p->why, "the program did not launch it this time");
    return st == ST_OK && !p->opened[0] ? ST_INPUT : st;
}

static enum status apply(struct program_worker *p, char *const *argv, struct diags *ds)
{
    p->apply.mode = LIVE_APPLY_AB;
    p->apply.match = match;
    p->apply.ctx = p;
    enum status st = tuned_read(p->session, NULL, &p->tuned, ds);
    if (st == ST_OK)
        st = tuned_targets(&p->tuned, &p->apply, p->index, ds);
    if (st == ST_OK && !p->apply.n)
        st = ST_REFUSED;
    return st == ST_OK ? live_apply_run(argv, &p->apply, ds) : st;
}

static bool act(struct work *w)
{
    struct program_worker *p = (struct program_worker *)w;
    static char sh[] = "/bin/sh", c[] = "-c";
    char line[COMMAND_MOST + 64];
    char *argv[] = { sh, c, line, NULL };
    struct diags ds = { 0 };
    snprintf(line, sizeof line, "exec %s >/dev/null 2>&1 </dev/null", p->command);
    enum status st = p->action == SURVEY    ? live_survey_run(argv, &p->survey, &ds)
                     : p->action == CAPTURE ? capture(p, argv, &ds)
                                            : apply(p, argv, &ds);
    const struct live_survey *s = p->action == APPLY ? &p->apply.survey : &p->survey;
    if (st != ST_OK && !p->why[0])
        snprintf(p->why, sizeof p->why, "%s", ds.n && ds.v[0].msg ? ds.v[0].msg : status_text(st));
    else if (st == ST_OK && s->refused)
        snprintf(p->why, sizeof p->why, "%s", s->refused);
    else if (st == ST_OK && p->action != CAPTURE && !s->processes)
        snprintf(p->why, sizeof p->why, "no process of it used CUDA (exit status %d)", s->exit);
    diags_free(&ds);
    return !p->why[0];
}

static const struct program_worker *surveyed(const struct app *a)
{
    return (const struct program_worker *)a->program;
}

static bool busy(const struct work *w)
{
    return w && work_state(w) == WORK_BUSY;
}

static bool program_working(const struct app *a)
{
    return busy(a->program) || busy(a->program_next);
}

static struct program_worker *new_worker(enum action action, const char *command)
{
    struct program_worker *p = base_alloc(sizeof *p);
    if (!p)
        return NULL;
    p->action = action;
    p->work.run = act;
    p->work.clear = clear;
    snprintf(p->command, sizeof p->command, "%s", command);
    return p;
}

bool view_program_survey(struct app *a, const char *command)
{
    char own[COMMAND_MOST];
    snprintf(own, sizeof own, "%s", *command ? command : surveyed(a) ? surveyed(a)->command : "");
    struct program_worker *p = *own && a->engine.hold ? new_worker(SURVEY, own) : NULL;
    if (!p)
        return false;
    work_drop(&a->program);
    work_drop(&a->program_next);
    a->program = work_start(a, &p->work);
    return a->program != NULL;
}

static void start(struct app *a, enum action action, const char *kernel)
{
    struct program_worker *p = new_worker(action, surveyed(a)->command);
    if (p)
        snprintf(p->kernel, sizeof p->kernel, "%s", kernel);
    if (p)
        snprintf(p->session, sizeof p->session, "%s",
                 a->snap->session_path ? a->snap->session_path : "");
    work_drop(&a->program_next);
    a->program_next = p ? work_start(a, &p->work) : NULL;
    if (!a->program_next)
        app_notice(a, DIAG_ERROR, "it could not be started");
}

/* ---- the page ---- */
static void put_kernel(struct app *a, const struct live_survey *s, size_t i)
{
    const struct live_kernel *k = &s->v[i];
    char label[PTX_LABEL];
    struct row r;
    row_init(&r, a->frame);
    row_put(&r, ROLE_VALUE, "  %5.1f %%",
            s->gpu_ns ? 100 * (double)k->time_ns / (double)s->gpu_ns : 0.0);
    row_put(&r, ROLE_TEXT, "  %8llu launches  %10.3f ms  ", (unsigned long long)k->launches,
            (double)k->time_ns / 1e6);
    row_put(&r, k->why ? ROLE_NOTE : ROLE_GOOD, "%s", k->why ? "no PTX" : "PTX   ");
    row_put(&r, ROLE_TEXT, "  %s", ptx_label(k->name, label));
    if (k->why)
        row_put(&r, ROLE_NOTE, "  %s", k->why);
    page_add(a, &a->page[PANEL_PROGRAM], &r, (long)i);
}

static void put_bins(struct app *a, const char *name, const struct live_times *t, uint32_t low,
                     uint32_t step)
{
    size_t bin[BINS] = { 0 }, most = 1;
    struct row r;
    for (size_t i = 0; i < t->kept; i++) {
        size_t b = (t->v[i] - low) / step;
        bin[b < BINS ? b : BINS - 1]++;
    }
    for (size_t b = 0; b < BINS; b++)
        most = bin[b] > most ? bin[b] : most;
    row_init(&r, a->frame);
    row_put(&r, ROLE_VALUE, "    %s, %llu launches", name, (unsigned long long)t->n);
    page_add(a, &a->page[PANEL_PROGRAM], &r, -1);
    for (size_t b = 0; b < BINS; b++) {
        if (!bin[b])
            continue;
        row_init(&r, a->frame);
        row_put(&r, ROLE_TEXT, "    %10s ", time_words((double)low + ((double)b + 0.5) * step).s);
        row_bar(&r, ROLE_VALUE, BAR, (double)bin[b] / (double)most);
        row_put(&r, ROLE_TEXT, " %zu", bin[b]);
        page_add(a, &a->page[PANEL_PROGRAM], &r, -1);
    }
}

/* Both histograms over one axis. */
static void put_applied(struct app *a, struct live_target *t)
{
    struct live_times *o = &t->time[LIVE_ORIGINAL], *u = &t->time[LIVE_TUNED];
    struct live_spread was, now;
    struct row r;
    char label[PTX_LABEL];
    row_init(&r, a->frame);
    row_put(&r, ROLE_TEXT, "  %s: tuned in %llu of %llu launches", ptx_label(t->kernel, label),
            (unsigned long long)t->applied, (unsigned long long)t->launches);
    if (live_spread(o, &was) && live_spread(u, &now) && now.median)
        row_put(&r, ROLE_GOOD, ", %.2fx in the program", (double)was.median / (double)now.median);
    page_add(a, &a->page[PANEL_PROGRAM], &r, -1);
    for (int w = 0; w < LIVE_APPLY_NWHY; w++)
        if (t->skipped[w]) {
            row_init(&r, a->frame);
            row_put(&r, ROLE_NOTE, "    %llu launches ran the original: %s",
                    (unsigned long long)t->skipped[w], live_apply_why(w));
            page_add(a, &a->page[PANEL_PROGRAM], &r, -1);
        }
    if (!o->kept || !u->kept)
        return;
    uint32_t low = o->v[0] < u->v[0] ? o->v[0] : u->v[0];
    uint32_t high = o->v[o->kept - 1] > u->v[u->kept - 1] ? o->v[o->kept - 1] : u->v[u->kept - 1];
    uint32_t step = (high - low) / BINS + 1;
    put_bins(a, "original", o, low, step);
    put_bins(a, "tuned", u, low, step);
}

static void put_next(struct app *a, struct program_worker *n, unsigned w)
{
    struct page *p = &a->page[PANEL_PROGRAM];
    if (work_state(&n->work) == WORK_BUSY)
        page_heading(a, p,
                     n->action == CAPTURE ? "The program runs; the kernel is captured ..."
                                          : "The program runs, original and tuned by turns ...");
    else if (work_state(&n->work) == WORK_FAILED)
        page_wrap(a, p, ROLE_WARN, 2, w - 1, n->why, -1);
    else if (n->action == APPLY)
        for (size_t i = 0; i < n->apply.n; i++)
            put_applied(a, &n->apply.v[i]);
    if (work_state(&n->work) == WORK_READY && n->opened[0]) {
        app_post(a, JOB_OPEN, n->opened, 0);
        app_notice(a, DIAG_NOTE, "captured; %s is opened", n->opened);
        n->opened[0] = 0;
    }
}

static void program_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_PROGRAM];
    const struct program_worker *s = surveyed(a);
    (void)h;
    page_clear(p);
    if (!s) {
        page_hint(a, p, w,
                  "No program yet. ':program COMMAND' runs one on this machine's GPU and lists its "
                  "kernels.");
    } else {
        page_heading(a, p, "%s", s->command);
        if (busy(a->program))
            page_hint(a, p, w, "It runs; its kernels are listed when it has ended.");
        else if (s->why[0])
            page_wrap(a, p, ROLE_WARN, 2, w - 1, s->why, -1);
        for (size_t i = 0; !busy(a->program) && i < s->survey.n; i++)
            put_kernel(a, &s->survey, i);
        if (a->program_next)
            put_next(a, (struct program_worker *)a->program_next, w);
    }
    list_set_count(&a->list[PANEL_PROGRAM], p->n);
}

static unsigned program_request(struct app *a, enum request r)
{
    const struct program_worker *s = surveyed(a);
    long i = page_item(&a->page[PANEL_PROGRAM], &a->list[PANEL_PROGRAM]);
    if (r != REQ_PROGRAM_CAPTURE && r != REQ_PROGRAM_APPLY)
        return 0;
    if (!s || program_working(a))
        app_notice(a, DIAG_ERROR, s ? "the program still runs" : ":program COMMAND runs one first");
    else if (r == REQ_PROGRAM_APPLY && (!a->snap->session_path || a->snap->session_unsaved))
        app_notice(a, DIAG_ERROR, "there is no saved session whose recommendation could be applied");
    else if (r == REQ_PROGRAM_APPLY)
        start(a, APPLY, "");
    else if (i < 0 || (size_t)i >= s->survey.n)
        app_notice(a, DIAG_ERROR, "which kernel?");
    else if (s->survey.v[i].why)
        app_notice(a, DIAG_ERROR, "it cannot be captured: %s", s->survey.v[i].why);
    else
        start(a, CAPTURE, s->survey.v[i].name);
    return UI_REDRAW;
}

const struct view view_program = { program_update, NULL, NULL, program_request, NULL, NULL };
