/* One step of optimize: a command called in this process, its document read, the program's output kept; and the kernel
 * that a document names. */
#include "engine/cmd/optimize/optimize.h"

#include "engine/base/io.h"
#include "engine/cmd/cmd.h"
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/io.h"
#include "engine/dev/dev.h"
#include "engine/session/json.h"
#include "engine/workspace/args.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS_MOST 1024

struct stepping {
    struct optimize *o;
    struct buf out;
    const char *what;
};

static void on_out(void *ctx, const char *text, size_t n)
{
    buf_put(&((struct stepping *)ctx)->out, text, n);
}

static void on_tell(void *ctx, enum status s, const struct diags *ds)
{
    struct stepping *x = ctx;
    (void)s;
    for (int level = DIAG_ERROR; level >= DIAG_WARNING; level--) /* what is refused is warned of */
        for (size_t i = 0; i < ds->n && !x->o->said.n; i++)
            if ((int)ds->v[i].level == level && ds->v[i].msg)
                buf_puts(&x->o->said, ds->v[i].msg);
}

static void on_progress(void *ctx, double done, const char *what, const char *detail)
{
    struct stepping *x = ctx;
    (void)detail;
    if (done >= 0)
        cmd_progress_detail(x->o->a, done, x->what, what ? what : "");
}

/* ---- what the program prints ---- */

/* Standard output goes into a file in memory until restore. -1: it stays where it is. */
static int divert(int *was)
{
    int file = memfd_create("printed", MFD_CLOEXEC);
    fflush(stdout);
    *was = file < 0 ? -1 : dup(STDOUT_FILENO);
    if (*was >= 0 && dup2(file, STDOUT_FILENO) >= 0)
        return file;
    if (*was >= 0)
        base_close(*was);
    if (file >= 0)
        base_close(file);
    return -1;
}

static void restore(int file, int was, struct buf *printed)
{
    char piece[65536];
    ssize_t n;
    dup2(was, STDOUT_FILENO);
    base_close(was);
    buf_free(printed);
    if (lseek(file, 0, SEEK_SET) == 0)
        while ((n = base_read(file, piece, sizeof piece)) > 0)
            buf_put(printed, piece, (size_t)n);
    base_close(file);
}

/* ---- the command ---- */

struct optimized *optimize_named(struct optimize *o, const char *name)
{
    for (size_t i = 0; i < o->n && name; i++)
        if (strcmp(o->v[i].name, name) == 0)
            return &o->v[i];
    return NULL;
}

static int words(const struct optimize *o, const char *const *word, bool runs, char **argv)
{
    int n = 0;
    argv[n++] = (char *)(uintptr_t) "gpulocw";
    for (; *word && n < WORDS_MOST - 2; word++)
        argv[n++] = (char *)(uintptr_t)*word;
    if (runs) {
        argv[n++] = (char *)(uintptr_t) "--";
        for (char *const *p = o->a->program; *p && n < WORDS_MOST - 1; p++)
            argv[n++] = *p;
    }
    argv[n] = NULL;
    return n;
}

enum status optimize_step(struct optimize *o, const char *const *word, struct buf *printed, cJSON **doc)
{
    struct stepping x = { .o = o, .what = word[0] };
    struct cmd_io io = { .ctx = &x, .out = on_out, .tell = on_tell, .progress = on_progress };
    struct cmd_call call = { &io, o->a->cancel, o->a->env->self };
    char *argv[WORDS_MOST];
    bool without =
        strcmp(word[0], "capture") && strcmp(word[0], "emulate"); /* the others' results stay */
    int was = -1, file = printed ? divert(&was) : -1;
    buf_free(&o->said);
    cmd_progress_detail(o->a, 0, word[0], "");
    cmd_call(words(o, word, printed != NULL, argv), argv, &call);
    if (file >= 0)
        restore(file, was, printed);
    struct diags bad = { 0 };
    *doc = x.out.oom || !x.out.n ? NULL : json_parse(word[0], x.out.s, x.out.n, &bad);
    on_tell(&x, ST_OK, &bad);
    diags_free(&bad);
    enum status st = *doc ? ST_OK : cancel_asked(o->a->cancel) ? ST_CANCELLED : ST_DEVICE;
    if (st == ST_DEVICE)
        diag_add(o->ds, without ? DIAG_WARNING : DIAG_ERROR, "optimize", NULL, NO_SPAN,
                 "the step %s failed: %s", word[0], o->said.n ? o->said.s : "it had no result");
    buf_free(&x.out);
    return st;
}
