/* The library as a program sees it: documents, threads, cancelling, wrong handles. Prints TAP; built by
 * tests/cli/api.sh against libgpulocw.so and, with GPULOCW_DEBUG, against the objects. */
#include "engine/api/gpulocw.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int count, failed;

static void claim(const char *name, bool good)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++count, name);
    failed += !good;
}

static char *file_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    size_t n = f && text ? fread(text, 1, (1 << 20) - 1, f) : 0;
    if (f)
        fclose(f);
    return n ? text : NULL;
}

static const char *const kernels[] = { "coalescing", "stride_4", "stride_32", "atax" };

static char *run_of(gpulocw *g, const char *kernel)
{
    char arguments[200];
    snprintf(arguments, sizeof arguments, "{\"file\":\"kernels/%s.ptx\",\"bypass\":\"l1\",\"pi\":1}",
             kernel);
    return gpulocw_call(g, "run", arguments) == GPULOCW_DONE ? strdup(gpulocw_document(g)) : NULL;
}

struct work {
    char *alone[4];
    int unlike;
};

/* A handle of its own, all kernels twice. */
static void *run_all(void *arg)
{
    struct work *w = arg;
    gpulocw *g = gpulocw_new();
    for (int i = 0; i < 8; i++) {
        char *text = run_of(g, kernels[i % 4]);
        w->unlike += !text || strcmp(text, w->alone[i % 4]) != 0;
        free(text);
    }
    gpulocw_free(g);
    return NULL;
}

static void check_threads(void)
{
    struct work w[4] = { { .unlike = 0 } };
    pthread_t t[4];
    gpulocw *g = gpulocw_new();
    bool all = true;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            w[i].alone[k] = i ? w[0].alone[k] : run_of(g, kernels[k]);
    for (int k = 0; k < 4; k++)
        all = all && w[0].alone[k];
    claim("kernels run", all);
    for (int i = 0; all && i < 4; i++)
        pthread_create(&t[i], NULL, run_all, &w[i]);
    for (int i = 0; all && i < 4; i++)
        pthread_join(t[i], NULL);
    claim("four threads get what one gets",
          all && !w[0].unlike && !w[1].unlike && !w[2].unlike && !w[3].unlike);
    for (int k = 0; k < 4; k++)
        free(w[0].alone[k]);
    gpulocw_free(g);
}

struct waiting {
    gpulocw *g;
    pthread_mutex_t m;
    pthread_cond_t c;
    int steps;
};

static void on_step(void *ctx, double done, const char *what)
{
    struct waiting *w = ctx;
    pthread_mutex_lock(&w->m);
    w->steps += done >= 0 && done <= 1 && what;
    pthread_cond_signal(&w->c);
    pthread_mutex_unlock(&w->m);
}

static void *cancel_it(void *arg)
{
    struct waiting *w = arg;
    pthread_mutex_lock(&w->m);
    while (!w->steps)
        pthread_cond_wait(&w->c, &w->m);
    pthread_mutex_unlock(&w->m);
    gpulocw_cancel(w->g);
    return NULL;
}

static void check_cancel(void)
{
    struct waiting w = { gpulocw_new(), PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
    pthread_t t;
    gpulocw_on_progress(w.g, on_step, &w);
    pthread_create(&t, NULL, cancel_it, &w);
    gpulocw_status s = gpulocw_call(w.g, "sweep", "{\"file\":\"kernels/gesummv.ptx\",\"exact\":true}");
    pthread_join(t, NULL);
    claim("a call is cancelled from another thread", s == GPULOCW_CANCELLED);
    char *after = run_of(w.g, "stride_4");
    claim("and the handle goes on", after != NULL);
    free(after);
    gpulocw_free(w.g);
}

static void reenter(void *ctx, double done, const char *what)
{
    gpulocw **g = ctx;
    (void)done;
    (void)what;
    if (!g[0])
        return;
    gpulocw *own = g[0];
    g[0] = NULL; /* once */
    claim("a call within a call is an error at once",
          gpulocw_call(own, "list", "{}") == GPULOCW_WRONG_USAGE);
    claim("so is a file put there", gpulocw_put(own, "x.ptx", "a", 1) == GPULOCW_WRONG_USAGE);
    claim("and another progress function", gpulocw_on_progress(own, NULL, NULL) == GPULOCW_WRONG_USAGE);
    claim("and its tools", !gpulocw_tools(own));
    gpulocw_free(own); /* does nothing */
    claim("what was answered can be read", gpulocw_document(own) != NULL);
    claim("another handle can be called", gpulocw_call(g[1], "devices", "{}") == GPULOCW_DONE);
}

static void check_reentry(void)
{
    gpulocw *g[2] = { gpulocw_new(), gpulocw_new() }, *own = g[0];
    gpulocw_on_progress(own, reenter, g);
    gpulocw_status s =
        gpulocw_call(own, "sweep", "{\"file\":\"kernels/gesummv.ptx\",\"device\":\"sim:fermi-16k\"}");
    claim("the call goes on behind it", s == GPULOCW_DONE && !g[0]);
    gpulocw_free(own);
    gpulocw_free(g[1]);
}

static void check_files(void)
{
    gpulocw *g = gpulocw_new();
    char *ptx = file_text("kernels/stride_4.ptx"), *launch = file_text("kernels/stride_4.launch.json");
    claim("a file is put", ptx && gpulocw_put(g, "mine.ptx", ptx, strlen(ptx)) == GPULOCW_DONE);
    claim("and its launch description",
          launch && gpulocw_put(g, "mine.launch.json", launch, strlen(launch)) == GPULOCW_DONE);
    claim("both are found", gpulocw_call(g, "run", "{\"file\":\"mine.ptx\"}") == GPULOCW_DONE);
    claim("a name with a slash is none", gpulocw_put(g, "../x", "a", 1) == GPULOCW_WRONG_USAGE);
    claim("nor is a hidden one", gpulocw_put(g, ".x", "a", 1) == GPULOCW_WRONG_USAGE);
    claim("analysis has the class",
          gpulocw_call(g, "analyze", "{\"file\":\"mine.ptx\"}") == GPULOCW_DONE &&
              strstr(gpulocw_document(g), "\"class\""));
    claim("a rewrite is text",
          gpulocw_call(g, "rewrite", "{\"file\":\"mine.ptx\",\"bypass\":\"l1\",\"pi\":1}") ==
                  GPULOCW_DONE &&
              strstr(gpulocw_document(g), ".visible .entry"));
    free(ptx);
    free(launch);
    gpulocw_free(g);
}

static void check_wrong(void)
{
    gpulocw *g = gpulocw_new();
    char none[4096] = { 0 };
    claim("no such call", gpulocw_call(g, "nosuch", NULL) == GPULOCW_WRONG_USAGE &&
                              strstr(gpulocw_diagnostics(g), "nosuch"));
    claim("no call at all", gpulocw_call(g, NULL, NULL) == GPULOCW_WRONG_USAGE);
    claim("arguments that are no JSON", gpulocw_call(g, "run", "{") == GPULOCW_WRONG_USAGE);
    claim("arguments that are a list", gpulocw_call(g, "run", "[1]") == GPULOCW_WRONG_USAGE);
    claim("an argument that there is not",
          gpulocw_call(g, "run", "{\"pie\":1}") == GPULOCW_WRONG_USAGE &&
              strstr(gpulocw_diagnostics(g), "pie"));
    claim("a file that is not there",
          gpulocw_call(g, "run", "{\"file\":\"no.ptx\"}") == GPULOCW_BAD_INPUT &&
              strstr(gpulocw_diagnostics(g), "no.ptx"));
    claim("and no document", strcmp(gpulocw_document(g), "") == 0);
    claim("no handle", gpulocw_call(NULL, "run", NULL) == GPULOCW_WRONG_USAGE &&
                           !gpulocw_document(NULL) && !gpulocw_tools(NULL));
    claim("memory that is no handle",
          gpulocw_call((gpulocw *)(void *)none, "run", NULL) == GPULOCW_WRONG_USAGE);
    claim("cancelling nothing", gpulocw_cancel(g) == GPULOCW_DONE);
    claim("the calls are listed",
          strstr(gpulocw_tools(g), "\"inputSchema\"") && strstr(gpulocw_tools(g), "\"name\": \"tune\""));
    gpulocw_free(g);
    gpulocw_free(NULL);
#ifdef GPULOCW_DEBUG
    claim("a handle used after it was freed",
          gpulocw_call(g, "run", NULL) == GPULOCW_WRONG_USAGE && !gpulocw_document(g));
    claim("and cancelled", gpulocw_cancel(g) == GPULOCW_WRONG_USAGE);
    gpulocw_free(g);
#endif
}

/* What the library may not change. */
static void check_process(void)
{
    gpulocw *g = gpulocw_new();
    struct sigaction before[3], after[3];
    const int sigs[] = { SIGINT, SIGTERM, SIGPIPE };
    sigset_t was, is;
    for (int i = 0; i < 3; i++)
        sigaction(sigs[i], NULL, &before[i]);
    pthread_sigmask(SIG_SETMASK, NULL, &was);
    bool comma = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    char name[200];
    snprintf(name, sizeof name, "%s", setlocale(LC_ALL, NULL));
    char *text = run_of(g, "atax");
    claim(comma ? "numbers have a point in a locale with commas" : "numbers have a point",
          text && strstr(text, "16.5"));
    claim("the locale stays", strcmp(name, setlocale(LC_ALL, NULL)) == 0);
    setlocale(LC_ALL, "C");
    bool same = true;
    for (int i = 0; i < 3; i++) {
        sigaction(sigs[i], NULL, &after[i]);
        same = same && before[i].sa_handler == after[i].sa_handler;
    }
    claim("the signals stay", same);
    pthread_sigmask(SIG_SETMASK, NULL, &is);
    claim("the signal mask stays", sigismember(&was, SIGPIPE) == sigismember(&is, SIGPIPE));
    free(text);
    gpulocw_free(g);
}

int main(void)
{
    claim("the interface is the header's",
          gpulocw_interface() >= GPULOCW_INTERFACE && strchr(gpulocw_version(), '.'));
    check_threads();
    check_cancel();
    check_reentry();
    check_files();
    check_wrong();
    check_process();
    return failed ? 1 : 0;
}
