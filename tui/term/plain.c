/* plain: the workbench as lines of text, for screen readers, logs and terminals
 * that cannot address the cursor. Same commands as after ':', and
 *   show [PANEL]   prints a panel      wait   waits until the engine is idle
 *   check [OPTION...]   the command of that name on what is open */
#include "engine/analysis/curve.h"
#include "engine/base/shown.h"
#include "engine/cmd/cmd.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result_read.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tui/control/command.h"
#include "tui/control/export.h"
#include "tui/control/panels.h"
#include "tui/app/reuse.h"
#include "tui/base/text.h"
#include "tui/control/command.h"
#include "tui/control/control.h"
#include "tui/control/export.h"
#include "tui/draw/surface.h"
#include "tui/term/workbench.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* points: told of run `run` */
struct plain {
    struct app *a;
    struct engine_link *link;
    size_t said, points, run;
};

static void print(const struct plain *p, const char *s, size_t n)
{
    struct surface cell = { 0 };
    uint32_t cp;
    char u[4];
    for (size_t i = 0; i < n;) {
        i += utf8_decode(s + i, n - i, &cp);
        cp = shown_point(cp) || cp == '\n' || cp == '\t' ? cp : '?';
        if (p->a->set.ascii && cp >= 0x80 && surface_resize(&cell, 1, 1)) {
            cell.cell[0].cp = cp;
            surface_ascii(&cell);
            cp = cell.cell[0].cp;
        }
        fwrite(u, 1, utf8_encode(cp, u), stdout);
    }
    surface_free(&cell);
}

static void say(const struct plain *p, const char *s)
{
    print(p, s, strlen(s));
    putchar('\n');
}

/* New messages and points of a running sweep, one line each. */
static void news(struct plain *p)
{
    static const char *const level[] = { "note", "warning", "error" };
    const struct job_snapshot *s = p->a->snap;
    struct buf b = { 0 };
    for (; p->said < s->nmessages; p->said++) {
        const struct job_message *m = &s->messages[p->said];
        buf_clear(&b);
        buf_printf(&b, "%s: ", level[m->level]);
        if (m->file && m->at.line)
            buf_printf(&b, "%s:%u:%u: ", m->file, m->at.line, m->at.col);
        else if (m->file)
            buf_printf(&b, "%s: ", m->file);
        buf_puts(&b, m->text ? m->text : "");
        say(p, b.s);
    }
    const struct session_run *r = s->nruns ? s->runs[s->nruns - 1] : NULL;
    size_t n = r && r->kind == RUN_SWEEP ? r->sweep.npoints : 0;
    if (p->run == SIZE_MAX)
        n = 0;
    else if (p->run != s->nruns)
        p->run = s->nruns, p->points = 0;
    for (; p->points < n; p->points++) {
        const struct result *x = result_at(r->sweep.points, p->points);
        char t[TEXT_NUM];
        text_time(t, result_time(x)->valid ? (double)result_time(x)->median : (double)NAN);
        buf_clear(&b);
        options_line(result_options(x), &b);
        buf_printf(&b, "%s: %s", b.n ? "" : "the original", t);
        say(p, b.s);
    }
    buf_free(&b);
    fflush(stdout);
}

static void sync_app(struct plain *p)
{
    const struct job_snapshot *s = job_snapshot_get(p->link->engine), *old = p->a->snap;
    p->a->now_ns = base_now_ns();
    if (s->version == old->version) {
        job_snapshot_release(s);
        return;
    }
    app_snapshot(p->a, s);
    job_snapshot_release(old);
    news(p);
}

static void wait_idle(struct plain *p)
{
    for (;;) {
        sync_app(p);
        if (!p->a->snap->busy && p->a->snap->worked >= p->link->posted)
            return;
        struct pollfd f = { job_wake_fd(p->link->engine), POLLIN, 0 };
        poll(&f, 1, 500);
    }
}

#define PATIENCE_NS (60LL * 1000000000) /* on a machine that others keep busy, too */

static bool traces(const struct job_snapshot *s)
{
    return s->spec && s->facts && !s->facts->reuse.valid;
}
static bool predicts(const struct job_snapshot *s)
{
    return s->spec && s->facts && s->unsettled;
}

/* What a panel shows is worked out in the background: that is waited for here. */
static void wait_while(struct plain *p, bool (*working)(const struct job_snapshot *s), int64_t patience)
{
    int64_t until = base_now_ns() + patience;
    while (working(p->a->snap) && base_now_ns() < until) {
        struct pollfd f = { job_wake_fd(p->link->engine), POLLIN, 0 };
        poll(&f, 1, 200);
        sync_app(p);
    }
}

static void put_panel(struct plain *p, enum panel_id id)
{
    struct buf b = { 0 };
    app_begin_frame(p->a);
    export_text(p->a, id, 100, &b);
    print(p, b.s ? b.s : "", b.n);
    fflush(stdout);
    buf_free(&b);
}

/* The whole analysis, and the curve of misses. */
static void wait_facts(struct plain *p)
{
    int64_t until = base_now_ns() + PATIENCE_NS;
    const struct ana_curve *c;
    wait_while(p, traces, PATIENCE_NS);
    while (reuse_get(p->a, &c) == REUSE_WORKING && base_now_ns() < until)
        poll(NULL, 0, 20);
}

static void put_locality(struct plain *p)
{
    wait_facts(p);
    for (int part = 0; part < LOCALITY_PARTS; part++) {
        p->a->locality.part = (enum locality_part)part;
        put_panel(p, PANEL_LOCALITY);
    }
    p->a->locality.part = LOCALITY_CLASS;
}

static void show(struct plain *p, const char *name)
{
    enum panel_id id = *name ? panel_named(name) : p->a->focus;
    if (id == PANEL_COUNT) {
        say(p, no_panel(p->a, name));
        return;
    }
    if (id == PANEL_OPTIONS || id == PANEL_COUNTERS || id == PANEL_ADVICE)
        wait_while(p, predicts, PATIENCE_NS);
    if (id == PANEL_LOCALITY)
        put_locality(p);
    else
        put_panel(p, id);
}

static void help(const struct plain *p)
{
    struct buf b = { 0 };
    buf_puts(&b,
             "show [PANEL]: print a panel\nwait: until the engine is idle\n"
             "check [OPTION...]: the rules of 'gpulocw check' on the kernel and launch that are open\n");
    for (size_t i = 0; i < cmdline_count(); i++) {
        const struct command_info *c = cmdline_info(i);
        buf_printf(&b, "%s%s%s: %s\n", c->name, *c->form ? " " : "", c->form, c->help);
    }
    print(p, b.s ? b.s : "", b.n);
    buf_free(&b);
}

static void check(const struct plain *p, char *options)
{
    struct buf b = { 0 };
    plain_check(p->a, options, &b);
    print(p, b.s ? b.s : "", b.n);
    fflush(stdout);
    buf_free(&b);
}

/* Someone at a terminal is told what to do; a script is not. */
static bool read_line(const struct plain *p, bool person, char *line, int n)
{
    if (person) {
        print(p, ": ", 2);
        fflush(stdout);
    }
    return fgets(line, n, stdin) != NULL;
}

/* False: leave. */
static bool command(struct plain *p, char *line)
{
    struct app *a = p->a;
    line[strcspn(line, "\r\n")] = '\0';
    if (!strncmp(line, "show", 4) && (line[4] == ' ' || !line[4])) {
        show(p, line[4] ? line + 5 : "");
        return true;
    }
    if (!strcmp(line, "wait"))
        return true;
    if (!strncmp(line, "check", 5) && (line[5] == ' ' || !line[5])) {
        check(p, line + 5);
        return true;
    }
    if (!strcmp(line, "help") || !strcmp(line, "?")) {
        help(p);
        return true;
    }
    if (!strncmp(line, "watch", 5) && (line[5] == ' ' || !line[5])) {
        say(p, "files are not watched here: use reload");
        return true;
    }
    if (!strncmp(line, "export json", strlen("export json")) ||
        !strncmp(line, ":export json", strlen(":export json")))
        wait_facts(p);
    *a->notice = '\0';
    unsigned effect = app_command(a, line);
    if (*a->notice)
        say(p, a->notice);
    fflush(stdout);
    return !(effect & UI_LEAVE);
}

int workbench_plain(struct app *a, struct engine_link *link, const struct cmd_front_opts *o)
{
    struct plain p = { .a = a, .link = link };
    a->lines = true;
    char line[PROMPT_TEXT];
    /* what a session holds already is not told point by point */
    p.run = o->sweep_at_once ? 0 : SIZE_MAX;
    wait_idle(&p);
    if (p.run == SIZE_MAX)
        p.run = a->snap->nruns, p.points = SIZE_MAX;
    if (!a->snap->module && a->snap->nruns == 0)
        return a->snap->nmessages ? 1 : 0;
    if (o->replay)
        a->replay.on = false; /* nothing moves here: the whole curve is printed */
    if (a->snap->nruns)
        show(&p, "valley");
    else if (!o->sweep_at_once)
        show(&p, "coalesce");
    bool person = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (person && !o->replay)
        say(&p, "Line mode (--plain, or a terminal without cursor control). Commands: sweep, tune, show "
                "PANEL, help, quit.");
    while (!o->replay && read_line(&p, person, line, sizeof line)) {
        if (!command(&p, line))
            break;
        wait_idle(&p);
    }
    return 0;
}
