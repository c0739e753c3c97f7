/* program: the kernels of a program that runs on the GPU, or, where there is none, on the simulated device,
 * as a list, longest first. Enter captures the one under the cursor and opens it; A runs the program with what the session recommends in its
 * launches, and the times of both kernels stand below as two histograms; O makes the program faster as `optimize` does. Item i is kernel i of the
 * survey. Each runs on a thread of its own, one at a time; what the program prints goes to a file, whose
 * last line is told when the program did not do what was hoped. */
#include "engine/base/private_folder.h"
#include "engine/dev/dev.h"
#include "engine/emulate/emulate.h"
#include "engine/live/apply.h"
#include "engine/rec/gain.h"
#include "engine/session/preset.h"
#include "engine/workspace/args.h"
#include "engine/workspace/snapshot.h"
#include "engine/workspace/source.h"
#include "engine/workspace/tuned.h"
#include "tui/app/app.h"
#include "tui/app/post.h"
#include "tui/app/work.h"
#include "tui/base/text.h"
#include "tui/view/program.h"
#include "tui/view/view.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "captured"
enum { BINS = 10, BINS_LEAST = 4, BAR = 40, COMMAND_MOST = 1024 };
#define STOPPING "stopping the program"

enum action { SURVEY, CAPTURE, APPLY };
struct program_worker {
    struct work work;
    enum action action;
    char command[COMMAND_MOST], kernel[1536], session[1024], why[400];
    bool emulated; /* by `preset`: there is no GPU */
    struct sim_preset preset;
    char *folder;      /* private: "pid" of the program and "out", what it printed; owned */
    char opened[1200]; /* of a capture: its launch description, to be opened once; empty: done */
    struct live_survey survey;
    struct live_apply apply;
    struct live_apply so_far; /* of a run that goes on; `lock` guards it and `stopped` */
    pthread_mutex_t lock;
    bool stopped; /* by the key that stops things */
    struct tuned_kernels tuned;
    size_t index[64];
};

/* ---- the work ---- */
static void clear(struct work *w)
{
    struct program_worker *p = (struct program_worker *)w;
    live_survey_free(&p->survey);
    live_apply_free(&p->apply);
    live_apply_free(&p->so_far);
    pthread_mutex_destroy(&p->lock);
    tuned_free(&p->tuned);
    private_folder_remove(p->folder);
}

static uint64_t match(void *ctx, const char *kernel, uint64_t hash, const char *path, int *maxreg,
                      uint64_t *whole)
{
    const struct program_worker *p = ctx;
    uint64_t mask = 0;
    for (size_t i = 0; i < p->apply.n; i++) {
        int limit = 0;
        bool all = false;
        if (strcmp(p->apply.v[i].kernel, kernel) == 0 &&
            tuned_matches(&p->tuned.v[p->index[i]], hash, path, &limit, &all)) {
            mask |= 1ull << i;
            *whole |= (uint64_t)all << i;
            *maxreg = limit;
        }
    }
    return mask;
}

/* The first of what a run without a GPU says stands on the page. */
static void told(void *ctx, const struct diags *ds)
{
    struct program_worker *p = ctx;
    if (!p->why[0] && ds->n && ds->v[0].msg)
        snprintf(p->why, sizeof p->why, "%s", ds->v[0].msg);
}

/* Its launches counted and timed; take: and some written down. */
static enum status observe(struct program_worker *p, char *const *argv, const struct live_want *take,
                           struct live_survey *out, struct diags *ds)
{
    if (!p->emulated)
        return take ? live_capture_run(argv, take, out, ds) : live_survey_run(argv, out, ds);
    const struct emulate_want w = {
        .preset = p->preset, .timed = !take, .take = take, .tell = told, .ctx = p
    };
    struct emulate_seen seen;
    enum status st = emulate_run(argv, &w, &seen, ds);
    *out = seen.survey;
    seen.survey = (struct live_survey){ 0 };
    emulate_free(&seen);
    return st;
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
                           .open = source_open };
    struct live_survey s = { 0 };
    if (mkdir(FOLDER, 0777) != 0 && errno != EEXIST) {
        diag_error(ds, "write", "cannot create the folder %s: %s", FOLDER, strerror(errno));
        return ST_IO;
    }
    enum status st = observe(p, argv, &w, &s, ds);
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

static void so_far(void *ctx, struct live_apply *results)
{
    struct program_worker *p = ctx;
    pthread_mutex_lock(&p->lock);
    struct live_apply old = p->so_far;
    p->so_far = *results;
    pthread_mutex_unlock(&p->lock);
    live_apply_free(&old);
}

static enum status apply(struct program_worker *p, char *const *argv, struct diags *ds)
{
    p->apply.mode = LIVE_APPLY_AB;
    p->apply.match = match;
    p->apply.so_far = so_far;
    p->apply.ctx = p;
    enum status st = tuned_read(p->session, NULL, &p->tuned, ds);
    if (st == ST_OK)
        st = tuned_targets(&p->tuned, &p->apply, p->index, ds);
    if (st == ST_OK && !p->apply.n)
        st = ST_REFUSED;
    return st == ST_OK ? live_apply_run(argv, &p->apply, ds) : st;
}

/* The last line that the program printed, without what is not to be seen; empty: there is none. */
static void last_words(const struct program_worker *p, char *out, size_t size)
{
    char path[600], line[400];
    snprintf(path, sizeof path, "%s/out", p->folder);
    FILE *f = fopen(path, "r");
    *out = '\0';
    while (f && fgets(line, sizeof line, f)) {
        size_t n = 0;
        for (char *s = line; *s && n + 1 < size; s++)
            if (isprint((unsigned char)*s))
                out[n++] = *s;
        out[n] = n || !*out ? '\0' : *out; /* an empty line leaves the one before */
    }
    if (f)
        fclose(f);
}

static bool was_stopped(struct program_worker *p)
{
    pthread_mutex_lock(&p->lock);
    bool yes = p->stopped;
    pthread_mutex_unlock(&p->lock);
    return yes;
}

/* Why a program that ended has nothing to show. */
static void say_no_cuda(struct program_worker *p, int status)
{
    char said[160];
    last_words(p, said, sizeof said);
    if (was_stopped(p))
        snprintf(p->why, sizeof p->why, "Stopped before it used CUDA");
    else if (status == 127 || status == 126)
        snprintf(p->why, sizeof p->why, "The shell could not run it (exit status %d)", status);
    else if (status > 128)
        snprintf(p->why, sizeof p->why, "Signal %d ended it before it used CUDA", status - 128);
    else
        snprintf(p->why, sizeof p->why, "It ended with exit status %d, and no process of it used CUDA%s",
                 status, p->emulated ? "" : ": it needs a GPU with its driver on this machine");
    size_t n = strlen(p->why);
    snprintf(p->why + n, sizeof p->why - n, *said ? ". Its last line: %s" : "%s", *said ? said : ".");
}

static bool act(struct work *w)
{
    struct program_worker *p = (struct program_worker *)w;
    static char sh[] = "/bin/sh", c[] = "-c";
    char line[COMMAND_MOST + 1800];
    char *argv[] = { sh, c, line, NULL };
    struct diags ds = { 0 };
    /* whoever stops it writes `stop` and then reads `pid`: one of the two sees the other */
    snprintf(line, sizeof line,
             "echo $$ >'%s/pid'; [ ! -e '%s/stop' ] || exit 143; exec %s >'%s/out' 2>&1 "
             "</dev/null",
             p->folder, p->folder, p->command, p->folder);
    enum status st = p->action == SURVEY    ? observe(p, argv, NULL, &p->survey, &ds)
                     : p->action == CAPTURE ? capture(p, argv, &ds)
                                            : apply(p, argv, &ds);
    const struct live_survey *s = p->action == APPLY ? &p->apply.survey : &p->survey;
    if (st != ST_OK && !p->why[0])
        snprintf(p->why, sizeof p->why, "%s", ds.n && ds.v[0].msg ? ds.v[0].msg : status_text(st));
    else if (st == ST_OK && s->refused)
        snprintf(p->why, sizeof p->why, "%s", s->refused);
    else if (st == ST_OK && p->action != CAPTURE && !s->processes)
        say_no_cuda(p, s->exit);
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
    return busy(a->program) || busy(a->program_next) || program_optimize_busy(a);
}

/* Can this machine have a GPU? Asking its driver would take a second. */
static bool gpu_here(void)
{
    return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 ||
           getenv("GPULOCW_LIBCUDA") || getenv("CUPTI_PATH");
}

/* That of the workbench's device; of the usual one where it is a GPU. */
static bool preset_of(const struct app *a, struct sim_preset *p)
{
    static const struct dev_env env = { .preset = preset_read };
    struct diags ds = { 0 };
    bool known = (a->snap->has_dev && dev_preset(a->snap->dev.spec, &env, p, &ds) == ST_OK) ||
                 dev_preset(DEFAULT_DEVICE, &env, p, &ds) == ST_OK;
    diags_free(&ds);
    return known;
}

static struct program_worker *new_worker(const struct app *a, enum action action, const char *command)
{
    struct program_worker *p = base_alloc(sizeof *p);
    if (!p)
        return NULL;
    p->action = action;
    p->emulated = !gpu_here();
    p->work.run = act;
    pthread_mutex_init(&p->lock, NULL);
    p->work.clear = clear;
    snprintf(p->command, sizeof p->command, "%s", command);
    if ((p->emulated && !preset_of(a, &p->preset)) || private_folder_make(&p->folder, NULL) != ST_OK) {
        base_free(p);
        p = NULL;
    }
    return p;
}

/* The command that runs the file that is open, into out; false: it is no program. */
static bool open_program(const struct app *a, struct buf *out)
{
    const char *path = a->snap->module ? a->snap->module->path : NULL;
    const char *name = path ? strrchr(path, '/') : NULL;
    char head[4] = "";
    if (!path || strstr(name ? name : path, ".so") || access(path, X_OK) != 0)
        return false;
    FILE *f = fopen(path, "rbe");
    bool elf = f && fread(head, 1, sizeof head, f) == sizeof head && !memcmp(head, "\177ELF", 4);
    if (f)
        fclose(f);
    if (!elf)
        return false;
    buf_puts(out, name ? "'" : "'./");
    for (; *path; path++)
        buf_printf(out, *path == '\'' ? "'\\''" : "%c", *path);
    buf_puts(out, "'");
    return !out->oom && out->n < COMMAND_MOST;
}

bool view_program_offered(struct app *a)
{
    struct buf command = { 0 };
    bool yes = !a->program && !a->snap->spec && open_program(a, &command);
    buf_free(&command);
    return yes;
}

/* The program ends by SIGTERM; what was seen of it until then is kept. */
bool view_program_stop(struct app *a)
{
    struct work *w = busy(a->program_next) ? a->program_next : busy(a->program) ? a->program : NULL;
    struct program_worker *p = (struct program_worker *)w;
    char path[600];
    int pid = 0;
    if (!p)
        return program_optimize_stop(a);
    pthread_mutex_lock(&p->lock);
    p->stopped = true;
    pthread_mutex_unlock(&p->lock);
    snprintf(path, sizeof path, "%s/stop", p->folder);
    FILE *f = fopen(path, "w");
    if (f)
        fclose(f);
    snprintf(path, sizeof path, "%s/pid", p->folder);
    f = fopen(path, "r");
    if (f && fscanf(f, "%d", &pid) == 1 && pid > 1)
        kill(pid, SIGTERM);
    if (f)
        fclose(f);
    return true;
}

bool view_program_survey(struct app *a, const char *command)
{
    char own[COMMAND_MOST];
    snprintf(own, sizeof own, "%s", *command ? command : surveyed(a) ? surveyed(a)->command : "");
    struct program_worker *p = *own && a->engine.hold ? new_worker(a, SURVEY, own) : NULL;
    if (!p)
        return false;
    work_drop(&a->program);
    work_drop(&a->program_next);
    work_drop(&a->optimized);
    a->program = work_start(&a->engine, &p->work);
    return a->program != NULL;
}

static void start(struct app *a, enum action action, const char *kernel)
{
    struct program_worker *p = new_worker(a, action, surveyed(a)->command);
    if (p)
        snprintf(p->kernel, sizeof p->kernel, "%s", kernel);
    if (p)
        snprintf(p->session, sizeof p->session, "%s",
                 a->snap->session_path ? a->snap->session_path : "");
    work_drop(&a->program_next);
    work_drop(&a->optimized);
    a->program_next = p ? work_start(&a->engine, &p->work) : NULL;
    if (!a->program_next)
        app_notice(a, DIAG_ERROR, "the program could not be started");
}

/* ---- the page ---- */
/* Columns before a kernel's name. */
enum { SHARE = 9, LAUNCHES = 10, TIME = 11 };

static void put_kernel(struct app *a, const struct live_survey *s, size_t i)
{
    const struct live_kernel *k = &s->v[i];
    char label[PTX_LABEL], t[TEXT_NUM];
    struct row r = { .arena = a->frame };
    text_time(t, k->timed ? (double)k->time_ns : NAN);
    if (k->timed)
        row_right(&r, ROLE_VALUE, SHARE, "%.1f %%",
                  s->gpu_ns ? 100 * (double)k->time_ns / (double)s->gpu_ns : 0.0);
    else
        row_right(&r, ROLE_NOTE, SHARE, "n/a");
    row_right(&r, ROLE_TEXT, LAUNCHES, "%llu", (unsigned long long)k->launches);
    row_right(&r, ROLE_TEXT, TIME, "%s", t);
    row_put(&r, k->why ? ROLE_NOTE : ROLE_GOOD, "  %s", k->why ? "no PTX" : "PTX   ");
    row_put(&r, ROLE_TEXT, "  %s", ptx_label(k->name, label));
    page_add(a, &a->page[PANEL_PROGRAM], &r, (long)i);
}

/* The kernel under the cursor: its whole name, its launches, and what can be done with it. */
static void put_selected(struct app *a, const struct live_survey *s, unsigned w)
{
    struct page *p = &a->page[PANEL_PROGRAM], *below = &a->chart[PANEL_PROGRAM];
    long i = page_item(p, &a->list[PANEL_PROGRAM]);
    const struct live_kernel *k = i >= 0 && (size_t)i < s->n ? &s->v[i] : NULL;
    struct buf name = { 0 };
    if (!k)
        return;
    ptx_readable(str_of(k->name), &name);
    page_wrap(a, below, ROLE_TITLE, 1, w - 1, name.s ? name.s : k->name, -1);
    page_say(a, below, ROLE_LABEL, 3, w - 1, "first launch: grid %ux%ux%u, block %ux%ux%u%s", k->grid[0],
             k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2],
             k->nshapes > 1 ? arena_printf(a->frame, "; %zu different launches", k->nshapes) : "");
    if (k->why)
        page_say(a, below, ROLE_WARN, 3, w - 1, "It cannot be captured: %s", k->why);
    else
        page_say(a, below, ROLE_DIM, 3, w - 1,
                 "{program-capture} runs the program once more, captures this kernel with its data "
                 "and opens it.");
    buf_free(&name);
}

/* How many of the times lie in each of `n` steps from `low`. */
static void count_bins(const struct live_times *t, uint32_t low, uint32_t step, size_t n, size_t *bin)
{
    for (size_t i = 0; i < t->kept; i++) {
        size_t b = (t->v[i] - low) / step;
        bin[b < n ? b : n - 1]++;
    }
}

static size_t most_of(const size_t *v, size_t n)
{
    size_t most = 1;
    for (size_t i = 0; i < n; i++)
        most = v[i] > most ? v[i] : most;
    return most;
}

/* Cells of one bar: two of them, their counts and the axis fill a row. */
static unsigned bar_cells(unsigned w)
{
    unsigned cells = w > 50 ? (w - 30) / 2 : 10;
    return cells < BAR ? cells : BAR;
}

static void put_bins_head(struct app *a, const struct live_times *o, const struct live_times *u,
                          unsigned w)
{
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_LABEL, "%12s  ", "time from");
    row_put(&r, ROLE_TITLE, "%-*s", (int)bar_cells(w) + 7,
            arena_printf(a->frame, "original, %llu launches", (unsigned long long)o->n));
    row_put(&r, ROLE_TITLE, "tuned, %llu launches", (unsigned long long)u->n);
    page_add(a, &a->chart[PANEL_PROGRAM], &r, -1);
}

/* Two histograms side by side over one axis, `n` rows at most; each bar is a share of its own kernel's
 * launches.
 */
static void put_bins(struct app *a, const struct live_times *o, const struct live_times *u, size_t n,
                     unsigned w)
{
    size_t was[BINS] = { 0 }, now[BINS] = { 0 };
    uint32_t low = o->v[0] < u->v[0] ? o->v[0] : u->v[0];
    uint32_t high = o->v[o->kept - 1] > u->v[u->kept - 1] ? o->v[o->kept - 1] : u->v[u->kept - 1];
    uint32_t least = low / 100 + 1; /* what the labels can tell apart */
    uint32_t step = (high - low) / (uint32_t)n + 1;
    step = step < least ? least : step;
    n = (high - low) / step + 1;
    count_bins(o, low, step, n, was);
    count_bins(u, low, step, n, now);
    size_t most_was = most_of(was, n), most_now = most_of(now, n);
    put_bins_head(a, o, u, w);
    for (size_t b = 0; b < n; b++) {
        struct row r = { .arena = a->frame };
        row_put(&r, ROLE_LABEL, "%12s  ", time_words((double)low + (double)b * step).s);
        row_bar(&r, ROLE_VALUE, bar_cells(w), (double)was[b] / (double)most_was);
        row_put(&r, was[b] ? ROLE_TEXT : ROLE_DIM, " %-6zu", was[b]);
        row_bar(&r, ROLE_GOOD, bar_cells(w), (double)now[b] / (double)most_now);
        row_put(&r, now[b] ? ROLE_TEXT : ROLE_DIM, " %zu", now[b]);
        page_add(a, &a->chart[PANEL_PROGRAM], &r, -1);
    }
}

/* What came of one kernel, and both histograms where `bins` are wanted. */
static void put_applied(struct app *a, struct live_target *t, size_t bins, unsigned w)
{
    struct live_times *o = &t->time[LIVE_ORIGINAL], *u = &t->time[LIVE_TUNED];
    struct live_spread was, now;
    struct page *p = &a->chart[PANEL_PROGRAM];
    struct row r = { .arena = a->frame };
    char label[PTX_LABEL];
    row_put(&r, ROLE_TEXT, " %s: tuned in %llu of %llu launch%s", ptx_label(t->kernel, label),
            (unsigned long long)t->applied, (unsigned long long)t->launches,
            t->launches == 1 ? "" : "es");
    if (live_spread(o, &was) && live_spread(u, &now) && now.median)
        row_put(&r, now.median < was.median ? ROLE_GOOD : ROLE_WARN,
                "; median %s, was %s: %.2fx in the program", time_words((double)now.median).s,
                time_words((double)was.median).s, gain_between((double)was.median, (double)now.median));
    page_flow(a, p, &r, 3, w, -1);
    for (int y = 0; y < LIVE_APPLY_NWHY; y++)
        if (t->skipped[y]) {
            row_put(&r, ROLE_NOTE, "   %llu launch%s ran the original: %s",
                    (unsigned long long)t->skipped[y], t->skipped[y] == 1 ? "" : "es",
                    live_apply_why(y));
            page_flow(a, p, &r, 5, w, -1);
        }
    if (bins && o->kept && u->kept)
        put_bins(a, o, u, bins, w);
}

static void put_results(struct app *a, struct live_apply *results, unsigned w, unsigned h)
{
    enum { OTHER_ROWS = 9 }; /* the command, the head, some kernels, what came of it */
    size_t rows = h > OTHER_ROWS ? h - OTHER_ROWS : 0, bins = results->n ? rows / results->n : 0;
    bins = bins > BINS ? BINS : bins < BINS_LEAST ? 0 : bins;
    for (size_t i = 0; i < results->n; i++)
        put_applied(a, &results->v[i], bins, w);
}

/* A capture or a run with the recommendation: what it does, and what has come of it. */
static void put_next(struct app *a, struct program_worker *n, unsigned w, unsigned h)
{
    struct page *p = &a->chart[PANEL_PROGRAM];
    if (work_state(&n->work) == WORK_BUSY) {
        page_heading(a, p,
                     n->action == CAPTURE
                         ? "Running the program, capturing the kernel ..."
                         : "Running the program, original and tuned kernel by turns ...");
        pthread_mutex_lock(&n->lock);
        put_results(a, &n->so_far, w, h);
        pthread_mutex_unlock(&n->lock);
    } else if (work_state(&n->work) == WORK_FAILED)
        page_wrap(a, p, ROLE_WARN, 2, w - 1, n->why, -1);
    else if (n->action == APPLY)
        put_results(a, &n->apply, w, h);
    if (work_state(&n->work) == WORK_READY && n->opened[0]) {
        app_post(a, JOB_OPEN, n->opened, 0);
        app_notice(a, DIAG_NOTE, "captured; opening %s", n->opened);
        n->opened[0] = 0;
    }
}

static void program_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_PROGRAM];
    const struct program_worker *s = surveyed(a);
    page_clear(p);
    struct buf offered = { 0 };
    if (!s && open_program(a, &offered))
        page_hint(a, p, w,
                  arena_printf(a->frame,
                               "This file is a program. {program-capture} runs it (%s) and lists its "
                               "kernels, longest first; to add arguments: :program COMMAND.",
                               offered.s));
    buf_free(&offered);
    if (!s) {
        page_hint(a, p, w, "No program yet. Three steps:");
        page_hint(a, p, w,
                  "1. :program COMMAND runs a program, as in ':program ./app 100', and lists its "
                  "kernels, longest "
                  "first: on this machine's GPU, or on the simulated device where there is none.");
        page_hint(
            a, p, w,
            "2. {program-capture} captures the kernel under the cursor with its data and opens it; "
            "{tune} searches for a better configuration.");
        page_hint(
            a, p, w,
            "3. {program-apply} runs the program on the GPU with that configuration, alternating "
            "with the original. {program-optimize} does all three for the kernels that take its time.");
    } else {
        page_heading(a, p, "%s%s%s", s->command, s->emulated ? " on " : "",
                     s->emulated ? s->preset.title : "");
        if (busy(a->program))
            page_hint(a, p, w, "Running; its kernels are listed when it ends. {cancel} stops it.");
        else if (s->why[0])
            page_wrap(a, p, ROLE_WARN, 2, w - 1, s->why, -1);
        else if (!s->survey.n)
            page_say(a, p, ROLE_WARN, 2, w - 1,
                     "It ended, and no launch of a kernel was recorded. :program COMMAND runs another.");
        size_t n = busy(a->program) ? 0 : s->survey.n;
        if (n)
            page_say(a, p, ROLE_LABEL, 0, w, "    share  launches       time  code    kernel");
        for (size_t i = 0; i < n; i++)
            put_kernel(a, &s->survey, i);
    }
    struct list *l = &a->list[PANEL_PROGRAM];
    list_set_count(l, p->n);
    if (s && page_item(p, l) < 0 && s->survey.n)
        list_move(l, p, 1);
    page_clear(&a->chart[PANEL_PROGRAM]);
    if (!program_working(a) && !strcmp(a->notice, STOPPING))
        *a->notice = '\0';
    struct program_worker *next = (struct program_worker *)a->program_next;
    bool results = next && next->action == APPLY && work_state(&next->work) != WORK_FAILED;
    if (s && !busy(a->program) && h >= 10 && !results)
        put_selected(a, &s->survey, w);
    if (s && next)
        put_next(a, next, w, h);
    if (s)
        program_optimize_put(a, w);
}

static unsigned program_request(struct app *a, enum request r)
{
    const struct program_worker *s = surveyed(a);
    long i = page_item(&a->page[PANEL_PROGRAM], &a->list[PANEL_PROGRAM]);
    struct buf offered = { 0 };
    if (r != REQ_PROGRAM_CAPTURE && r != REQ_PROGRAM_APPLY && r != REQ_PROGRAM_OPTIMIZE)
        return 0;
    if (!s && r == REQ_PROGRAM_CAPTURE && open_program(a, &offered)) {
        if (!view_program_survey(a, offered.s))
            app_notice(a, DIAG_ERROR, "the program could not be started");
        buf_free(&offered);
        return UI_REDRAW;
    }
    buf_free(&offered);
    if (!s || program_working(a))
        app_notice(a, DIAG_ERROR,
                   s ? "the program is still running: {cancel} stops it"
                     : ":program COMMAND runs one first");
    else if (r == REQ_PROGRAM_OPTIMIZE) {
        work_drop(&a->program_next);
        if (!program_optimize_start(a, s->command, s->emulated))
            app_notice(a, DIAG_ERROR, "the program could not be started");
    } else if (r == REQ_PROGRAM_APPLY && s->emulated)
        app_notice(a, DIAG_ERROR, "no GPU: on the simulated device a program runs as it is");
    else if (r == REQ_PROGRAM_APPLY && (!a->snap->session_path || a->snap->session_unsaved))
        app_notice(a, DIAG_ERROR,
                   "no saved session has a recommendation to apply: {program-capture} "
                   "captures a kernel, {tune} searches");
    else if (r == REQ_PROGRAM_APPLY)
        start(a, APPLY, "");
    else if (i < 0 || (size_t)i >= s->survey.n)
        app_notice(a, DIAG_ERROR, s->survey.n ? "the cursor is not on a kernel" : "no kernel is listed");
    else if (s->survey.v[i].why)
        app_notice(a, DIAG_ERROR, "it cannot be captured: %s", s->survey.v[i].why);
    else
        start(a, CAPTURE, s->survey.v[i].name);
    return UI_REDRAW;
}

const struct view view_program = { program_update, NULL, NULL, program_request, NULL, NULL };
