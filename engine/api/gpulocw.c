/* The library: handles around the commands of the program, each with its own words, folder and cancel
 * flag. */
#include "engine/api/api_int.h"

#include "engine/base/json_write.h"
#include "engine/base/private_folder.h"
#include "engine/base/version.h"
#include "engine/cmd/cmd.h"
#include "engine/cmd/io.h"
#include "engine/service/service.h"

#include <string.h>
#include <time.h>

/* In builds for debugging the shell of a freed handle stays, so that its use afterwards is seen. */
#ifdef GPULOCW_DEBUG
enum { KEEPS_FREED = 1 };
#else
enum { KEEPS_FREED = 0 };
#endif

static bool good(const gpulocw *g)
{
    return g && atomic_load(&g->alive) == API_ALIVE;
}

/* Is this the progress function of a call, which holds the lock? */
static bool within_call(gpulocw *g)
{
    return atomic_load(&g->calling) && pthread_equal(atomic_load(&g->caller), pthread_self());
}

const char *gpulocw_version(void)
{
    return GPULOCW_VERSION;
}

int gpulocw_interface(void)
{
    return GPULOCW_INTERFACE;
}

gpulocw *gpulocw_new(void)
{
    gpulocw *g = base_alloc(sizeof *g);
    if (!g)
        return NULL;
    if (pthread_mutex_init(&g->one, NULL)) {
        base_free(g);
        return NULL;
    }
    atomic_store(&g->alive, API_ALIVE);
    return g;
}

void gpulocw_free(gpulocw *g)
{
    if (!good(g) || within_call(g))
        return;
    atomic_store(&g->alive, 0);
    pthread_mutex_destroy(&g->one);
    buf_free(&g->document);
    buf_free(&g->diagnostics);
    buf_free(&g->tools);
    private_folder_remove(g->folder);
    g->folder = NULL;
    if (!KEEPS_FREED)
        base_free(g);
}

const char *gpulocw_tools(gpulocw *g)
{
    if (!good(g) || within_call(g))
        return NULL;
    pthread_mutex_lock(&g->one);
    if (!g->tools.n)
        service_tools(false, &(struct jw){ .out = &g->tools, .first = true });
    const char *text = g->tools.oom ? NULL : g->tools.s;
    pthread_mutex_unlock(&g->one);
    return text;
}

void api_say(gpulocw *g, const struct diags *ds)
{
    buf_clear(&g->diagnostics);
    struct jw w = jw_open(&g->diagnostics, 0);
    diags_json(ds, &w);
}

/* ---- files of the handle ---- */
static enum status put(gpulocw *g, const char *name, const void *data, size_t n, struct diags *ds)
{
    struct buf path = { 0 };
    if (!name || !*name || strchr(name, '/') || name[0] == '.' || (n && !data)) {
        diag_error(ds, "usage", "a name without a slash or a leading dot, and data");
        return ST_USAGE;
    }
    enum status st = g->folder ? ST_OK : private_folder_make(&g->folder, ds);
    if (st == ST_OK)
        st = private_folder_put(g->folder, name, data, n, &path, ds);
    buf_free(&path);
    return st;
}

gpulocw_status gpulocw_put(gpulocw *g, const char *name, const void *data, size_t n)
{
    struct diags ds = { 0 };
    if (!good(g) || within_call(g))
        return GPULOCW_WRONG_USAGE;
    pthread_mutex_lock(&g->one);
    enum status st = put(g, name, data, n, &ds);
    api_say(g, &ds);
    pthread_mutex_unlock(&g->one);
    diags_free(&ds);
    return (gpulocw_status)status_exit_code(st);
}

/* ---- a call ---- */
static void on_out(void *ctx, const char *text, size_t n)
{
    gpulocw *g = ctx;
    buf_put(&g->document, text, n);
}

static void on_tell(void *ctx, enum status s, const struct diags *ds)
{
    gpulocw *g = ctx;
    (void)s;
    api_say(g, ds);
}

static void on_step(void *ctx, double done, const char *what, const char *detail)
{
    gpulocw *g = ctx;
    (void)detail;
    if (g->progress && done >= 0)
        g->progress(g->ctx, done, what);
}

/* A worker that has gone must not end the process: SIGPIPE of this thread is held back meanwhile, and
 * taken when one came. Numbers are written with a decimal point whatever the program's locale. */
static void quiet_begin(struct api_quiet *q)
{
    sigset_t pipe, waits;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&waits);
    q->pending = sigismember(&waits, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe, &q->before);
    q->c = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
    q->was = q->c ? uselocale(q->c) : (locale_t)0;
}
static void quiet_end(struct api_quiet *q)
{
    const struct timespec now = { 0, 0 };
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    while (!q->pending && sigtimedwait(&pipe, NULL, &now) == SIGPIPE) {}
    pthread_sigmask(SIG_SETMASK, &q->before, NULL);
    if (q->c) {
        uselocale(q->was);
        freelocale(q->c);
    }
}

static int call(gpulocw *g, const char *tool, const char *arguments, struct diags *ds)
{
    struct service_line line = { 0 };
    enum status st = service_line_make(tool, arguments, g->folder, &line, ds);
    int code = status_exit_code(st);
    api_say(g, ds);
    if (st == ST_OK) {
        struct cmd_io io = { .ctx = g, .out = on_out, .tell = on_tell, .progress = on_step };
        struct cmd_call c = { .io = &io, .cancel = &g->cancel };
        code = cmd_call(line.argc, line.argv, &c);
    }
    service_line_free(&line);
    return g->document.oom || g->diagnostics.oom ? status_exit_code(ST_NOMEM) : code;
}

bool api_begin(gpulocw *g, struct api_quiet *q)
{
    if (!good(g) || within_call(g))
        return false;
    pthread_mutex_lock(&g->one);
    atomic_store(&g->cancel.asked, false);
    atomic_store(&g->caller, pthread_self());
    atomic_store(&g->calling, 1);
    buf_clear(&g->document);
    quiet_begin(q);
    return true;
}

void api_end(gpulocw *g, struct api_quiet *q)
{
    quiet_end(q);
    atomic_store(&g->calling, 0);
    pthread_mutex_unlock(&g->one);
}

gpulocw_status gpulocw_call(gpulocw *g, const char *tool, const char *arguments)
{
    struct diags ds = { 0 };
    struct api_quiet q;
    if (!api_begin(g, &q))
        return GPULOCW_WRONG_USAGE;
    int code = call(g, tool, arguments, &ds);
    api_end(g, &q);
    diags_free(&ds);
    return (gpulocw_status)code;
}

const char *gpulocw_document(gpulocw *g)
{
    return !good(g) ? NULL : g->document.s ? g->document.s : "";
}

const char *gpulocw_diagnostics(gpulocw *g)
{
    return !good(g) ? NULL : g->diagnostics.s ? g->diagnostics.s : "[]";
}

gpulocw_status gpulocw_on_progress(gpulocw *g, gpulocw_progress fn, void *ctx)
{
    if (!good(g) || within_call(g))
        return GPULOCW_WRONG_USAGE;
    pthread_mutex_lock(&g->one);
    g->progress = fn;
    g->ctx = ctx;
    pthread_mutex_unlock(&g->one);
    return GPULOCW_DONE;
}

gpulocw_status gpulocw_cancel(gpulocw *g)
{
    if (!good(g))
        return GPULOCW_WRONG_USAGE;
    if (atomic_load(&g->calling))
        atomic_store(&g->cancel.asked, true);
    return GPULOCW_DONE;
}
