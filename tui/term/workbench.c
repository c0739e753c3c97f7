/* workbench: see workbench.h. One thread: it sleeps in poll until a key, a
 * signal, a newer snapshot, a theme or the open PTX being written, or a timer. */
#include "tui/term/workbench.h"

#include "engine/base/name.h"
#include "engine/base/shown.h"
#include "engine/cmd/cmd.h"
#include "engine/dev/dev.h"
#include "engine/ptx/ptx.h"
#include "engine/session/lesson.h"
#include "engine/workspace/snapshot.h"
#include "engine/workspace/source.h"
#include "tui/app/as_command.h"
#include "tui/app/config.h"
#include "tui/app/post.h"
#include "tui/app/reload.h"
#include "tui/base/key.h"
#include "tui/control/control.h"
#include "tui/control/lesson_run.h"
#include "tui/draw/panel.h"
#include "tui/term/term.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <unistd.h>

#define FRAME_NS (33LL * 1000000) /* frames that only a snapshot asks for come no faster */

static void engine_post(void *ctx, const struct job *j)
{
    struct engine_link *l = ctx;
    l->posted++;
    job_post(l->engine, j);
}

static void engine_cancel(void *ctx)
{
    job_cancel(((struct engine_link *)ctx)->engine);
}
static const struct job_snapshot *engine_hold(void *ctx)
{
    return job_snapshot_get(((struct engine_link *)ctx)->engine);
}
static void engine_release(void *ctx, const struct job_snapshot *s)
{
    (void)ctx;
    job_snapshot_release(s);
}

struct app_engine engine_app(struct engine_link *l)
{
    return (struct app_engine){ l, engine_post, engine_cancel, engine_hold, engine_release };
}

struct bench {
    struct app app;
    struct engine_link link;
    struct term *term;
    struct surface surface;
    struct screen screen;
    /* inotify descriptor, and its watch of the folder of ptx; -1: none */
    int watch, ptx_watch;
    char ptx[512];
    bool leave, repaint;
    unsigned dirty; /* 1: a snapshot, 2: a key or the like */
    int64_t drawn_ns;
};

static bool sync_snapshot(struct bench *b)
{
    const struct job_snapshot *s = job_snapshot_get(b->link.engine), *old = b->app.snap;
    if (s->version == old->version) {
        job_snapshot_release(s);
        return false;
    }
    app_snapshot(&b->app, s);
    job_snapshot_release(old);
    return true;
}

static void draw(struct bench *b)
{
    int w = b->app.w, h = b->app.h;
    /* first: without a surface no line of an old snapshot may stay, either */
    app_begin_frame(&b->app);
    if ((b->surface.w != w || b->surface.h != h) && !surface_resize(&b->surface, w, h))
        return;
    app_drawn(&b->app);
    screen_draw(&b->app, &b->surface, &b->screen);
    app_drawn(&b->app);
    if (!term_draw(b->term, &b->surface, &b->app.theme, b->repaint))
        b->leave = true;
    b->repaint = false;
    b->dirty = 0;
    b->drawn_ns = base_now_ns();
}

static void apply(struct bench *b, unsigned effect)
{
    if (effect & UI_REPAINT)
        b->repaint = true;
    if (effect & (UI_REDRAW | UI_REPAINT))
        b->dirty |= 2;
    if (effect & UI_LEAVE)
        b->leave = true;
    if (effect & UI_MOUSE)
        term_mouse(b->term, b->app.set.mouse);
    if (effect & UI_SUSPEND) {
        struct event e = { .kind = EVENT_RESIZE };
        term_suspend(b->term);
        term_size(b->term, &e.x, &e.y);
        apply(b, app_event(&b->app, &e));
    }
}

static void read_events(struct bench *b)
{
    for (;;) {
        struct event e = term_next(b->term, &b->leave);
        if (e.kind == EVENT_NONE || b->leave)
            return;
        b->app.now_ns = base_now_ns();
        if (b->dirty & 1)
            /* what the cursor is on is looked up in the snapshot: its lines come first */
            draw(b);
        apply(b, e.kind == EVENT_MOUSE ? screen_mouse(&b->app, &b->screen, &e) : app_event(&b->app, &e));
        if (b->dirty & 2)
            draw(b); /* each key is seen with the lines its frame has */
    }
}

/* ---- files that are watched: themes, the open PTX ---- */
static void watch_themes(struct bench *b)
{
    char dir[600];
    b->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    const char *homes[] = { b->app.data_dir, b->app.config_dir };
    for (size_t i = 0; b->watch >= 0 && i < ARRAY_LEN(homes); i++) {
        if (!homes[i])
            continue;
        snprintf(dir, sizeof dir, "%s/themes", homes[i]);
        inotify_add_watch(b->watch, dir, IN_CLOSE_WRITE | IN_MOVED_TO);
    }
}

/* The folder of the open PTX is watched too: compilers and editors replace files as often as they write
 * them. */
static void watch_ptx(struct bench *b)
{
    const struct ptx_module *m = b->app.snap->module;
    const char *path = m ? m->path : "", *slash = strrchr(path, '/');
    char dir[600];
    if (b->watch < 0 || !strcmp(path, b->ptx))
        return;
    if (b->ptx_watch >= 0)
        inotify_rm_watch(b->watch, b->ptx_watch);
    snprintf(b->ptx, sizeof b->ptx, "%s", path);
    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
    b->ptx_watch =
        *path ? inotify_add_watch(b->watch, dir, IN_CLOSE_WRITE | IN_MOVED_TO | IN_MASK_ADD) : -1;
}

static void file_written(struct bench *b, const struct inotify_event *e)
{
    const char *end = e->len ? strrchr(e->name, '.') : NULL;
    if (end && !strcmp(end, ".theme")) {
        app_theme(&b->app, b->app.set.theme);
        b->repaint = true;
    } else if (!e->len || e->wd != b->ptx_watch || strcmp(e->name, base_file_name(b->ptx))) {
        return;
    } else {
        reload_written(&b->app);
    }
    b->dirty |= 2;
}

static void files_written(struct bench *b)
{
    _Alignas(struct inotify_event) char list[4096];
    for (ssize_t n; (n = read(b->watch, list, sizeof list)) > 0;)
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *e = (const struct inotify_event *)(const void *)(list + at);
            file_written(b, e);
            at += (ssize_t)(sizeof *e + e->len);
        }
}

static int64_t min_wait(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

static void wait(struct bench *b)
{
    struct pollfd p[4] = { { term_fd(b->term), POLLIN, 0 },
                           { term_signal_fd(b->term), POLLIN, 0 },
                           { job_wake_fd(b->link.engine), POLLIN, 0 },
                           { b->watch, POLLIN, 0 } };
    int64_t ns = app_timer(&b->app), pending = term_pending_ms(b->term);
    if (b->dirty)
        ns = min_wait(
            ns, b->drawn_ns + FRAME_NS - base_now_ns() > 0 ? b->drawn_ns + FRAME_NS - base_now_ns() : 0);
    ns = min_wait(ns, pending < 0 ? -1 : pending * 1000000);
    poll(p, b->watch >= 0 ? 4 : 3, ns < 0 ? -1 : (int)((ns + 999999) / 1000000));
    b->app.now_ns = base_now_ns(); /* what is told now stays its time from now on */
    if (b->watch >= 0 && p[3].revents)
        files_written(b);
}

static void loop(struct bench *b)
{
    struct event tick = { .kind = EVENT_TICK };
    while (!b->leave) {
        b->app.now_ns = base_now_ns();
        if (sync_snapshot(b)) {
            b->dirty |= 1;
            watch_ptx(b);
        }
        apply(b, app_event(&b->app, &tick));
        if ((b->dirty & 2) || (b->dirty && b->app.now_ns - b->drawn_ns >= FRAME_NS))
            draw(b);
        if (b->leave)
            break;
        wait(b);
        read_events(b);
    }
}

/* A session file that holds a lesson is taken as one. */
static bool is_lesson(const char *file)
{
    struct lesson *l = NULL;
    bool yes = file && base_stem(file, ".json") && lesson_read(file, &l, NULL) == ST_OK;
    lesson_free(l);
    return yes;
}

static void open_file(struct app *a, const char *file, const struct cmd_front_opts *o)
{
    app_post(a, JOB_OPEN, file, o->launch != NULL);
    if (o->launch)
        app_post(a, JOB_OPEN, o->launch, 0);
    a->kernel_named = o->kernel != NULL;
    if (o->kernel)
        app_post(a, JOB_KERNEL, o->kernel, 0);
}

/* What start-up asks of the engine: device, file or lesson, sweep. */
static void workbench_start(struct app *a, const char *file, const char *device,
                            const struct cmd_front_opts *o)
{
    if (device)
        app_post(a, JOB_DEVICE, device, 0);
    if (o->axis)
        snprintf(a->valley.axis, sizeof a->valley.axis, "%s", o->axis);
    if (o->lesson || is_lesson(file))
        lesson_open(a, o->lesson ? o->lesson : file);
    else if (file) {
        open_file(a, file, o);
        bool unasked = a->set.open == PANEL_SUMMARY; /* by the settings */
        a->first_run = unasked && !o->plain && !o->replay && !o->sweep_at_once;
        app_focus(a, unasked && source_is_cuda(file) ? PANEL_CUDA : a->set.open);
    } else if (!o->plain) {
        config_find_demos(a);
        a->overlay = OVERLAY_PICKER;
    }
    if (o->replay) {
        a->replay.on = true;
        a->replay.playing = true;
        a->replay.speed = o->replay_speed > 0 ? o->replay_speed : 1;
        app_focus(a, PANEL_VALLEY);
    } else if (o->sweep_at_once && file) {
        app_sweep(a);
    }
}

/* False: the theme asked for is none. */
static bool settle(struct app *a, const struct cmd_front_opts *o)
{
    struct diags ds = { 0 };
    bool ok = true;
    config_load(a, NULL, &ds);
    if (o->theme) {
        snprintf(a->set.theme, sizeof a->set.theme, "%s", o->theme);
        a->set.theme_given = true;
    }
    if (strcmp(a->set.theme, "dark") || o->theme)
        ok = app_theme(a, a->set.theme) || !o->theme;
    app_notice_diags(a, &ds);
    return ok;
}

/* Where the results are, and what shows them again. */
static void say_session(const struct app *a)
{
    const struct job_snapshot *s = a->snap;
    if (!s->nruns || !s->session_path)
        return;
    if (s->session_unsaved) {
        printf("session: not saved (%s could not be written)\n", s->session_path);
        return;
    }
    struct buf path = { 0 };
    as_command_word(&path, s->session_path);
    printf("session: %s\nagain:   gpulocw replay %s\n", s->session_path, path.s ? path.s : "");
    buf_free(&path);
}

/* A line on standard error, made of what a file or its name may say. */
static void tell(const char *format, ...)
{
    struct buf text = { 0 }, shown = { 0 };
    va_list v;
    va_start(v, format);
    buf_vprintf(&text, format, v);
    va_end(v);
    buf_shown(&shown, (struct str){ text.s, text.n });
    fprintf(stderr, "%s\n", shown.s ? shown.s : "");
    buf_free(&text);
    buf_free(&shown);
}

/* A file that cannot be read is told before the screen is taken: there would be nothing to work on. */
static enum status check_readable(const char *path)
{
    if (!path || access(path, R_OK) == 0)
        return ST_OK;
    tell("%s: cannot open: %s", path, strerror(errno));
    return ST_IO;
}

static int full_screen(struct bench *b, const char *file, const char *device,
                       const struct cmd_front_opts *o)
{
    struct app *a = &b->app;
    a->set.ascii = !term_is_utf8(b->term);
    if (!a->set.style_given)
        a->set.style = term_plot_style();
    term_size(b->term, &a->w, &a->h);
    a->now_ns = base_now_ns();
    b->screen.drag_from = -1;
    watch_themes(b);
    if (!a->set.theme_given)
        term_ask_background(b->term);
    workbench_start(a, file, device, o);
    loop(b);
    int sig = term_signal(b->term);
    term_close(b->term);
    if (b->watch >= 0)
        close(b->watch);
    config_save_history(a);
    surface_free(&b->surface);
    if (!sig)
        say_session(a);
    return sig ? 128 + sig : 0; /* as a shell counts it */
}

/* The engine's threads inherit the niceness of the thread that makes them: made
 * from a niced one, they give way to the screen even when every core is busy. */
struct making {
    const struct dev_env *env;
    const char *session;
    struct job_engine *engine;
    enum status status;
    struct diags *ds;
};

static void *make_engine(void *arg)
{
    struct making *m = arg;
    setpriority(PRIO_PROCESS, 0, 5); /* Linux: of this thread alone */
    m->status = job_engine_new(m->env, m->session, &m->engine, m->ds);
    return NULL;
}

static enum status new_engine(const struct dev_env *env, const char *session, struct job_engine **out,
                              struct diags *ds)
{
    struct making m = { .env = env, .session = session, .ds = ds };
    pthread_t t;
    if (pthread_create(&t, NULL, make_engine, &m) != 0)
        return job_engine_new(env, session, out, ds);
    pthread_join(t, NULL);
    *out = m.engine;
    return m.status;
}

int workbench_run(const struct dev_env *env, const char *file, const char *device,
                  const struct cmd_front_opts *o)
{
    struct bench b = { .watch = -1, .ptx_watch = -1, .dirty = 2 };
    struct diags ds = { 0 };
    const char *why = NULL;
    enum status st = check_readable(file);
    if (st == ST_OK)
        st = check_readable(o->launch);
    if (st != ST_OK)
        return status_exit_code(st);
    st = new_engine(env, o->session, &b.link.engine, &ds);
    struct app_engine engine = engine_app(&b.link);
    if (st == ST_OK && !app_init(&b.app, &engine, job_snapshot_get(b.link.engine), cmd_data_dir()))
        st = ST_NOMEM;
    if (st != ST_OK) {
        struct buf text = { 0 };
        diags_print(&ds, &text);
        fputs(text.s ? text.s : status_text(st), stderr);
        buf_free(&text);
        diags_free(&ds);
        return status_exit_code(st);
    }
    diags_free(&ds);
    b.app.set.worker = env->workers;
    b.app.set.nworkers = env->nworkers;
    b.app.now_ns = base_now_ns(); /* what settling finds wrong is told for its time, from now */
    bool settled = settle(&b.app, o), tty = isatty(0) && isatty(1);
    int rc;
    if (!settled) {
        tell("gpulocw: %s", b.app.notice);
        rc = status_exit_code(ST_USAGE);
    } else if (!o->plain && tty && (b.term = term_open(b.app.set.mouse && o->mouse, o->color, &why))) {
        rc = full_screen(&b, file, device, o);
    } else {
        if (why)
            fprintf(stderr, "gpulocw: %s: line mode\n", why);
        struct cmd_front_opts plain = *o;
        plain.plain = true;
        b.app.set.ascii = !term_utf8();
        workbench_start(&b.app, file, device, &plain);
        rc = workbench_plain(&b.app, &b.link, &plain);
    }
    const struct job_snapshot *last = b.app.snap;
    app_free(&b.app);
    job_snapshot_release(last);
    job_engine_free(b.link.engine);
    return rc;
}
