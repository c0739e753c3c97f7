/* check in line mode: the command of the same name on what is open, with the words behind it. */
#include "engine/cmd/cmd.h"
#include "engine/cmd/io.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch.h"
#include "engine/session/launch_file.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/as_command.h"
#include "tui/term/workbench.h"

#include <string.h>

enum { WORDS = 40 };
struct words {
    char *v[WORDS];
    int n;
};

static void add(struct words *w, const char *word)
{
    if (word && w->n < WORDS)
        w->v[w->n++] = (char *)(uintptr_t)word; /* argv of a program: nobody writes to it */
}

static void add_option(struct words *w, const char *name, const char *value)
{
    add(w, name);
    add(w, value);
}

static void take(void *ctx, const char *text, size_t n)
{
    buf_put(ctx, text, n);
}

static void take_diags(void *ctx, enum status s, const struct diags *ds)
{
    (void)s;
    diags_print(ds, ctx);
}

/* What is open, as a file and options that find it. */
static void add_subject(struct words *w, const struct app *a)
{
    const struct job_snapshot *s = a->snap;
    const struct launch_spec *l = s->spec;
    add(w, s->module->path);
    if (l && l->file)
        add_option(w, "--launch", l->file);
    if (l && s->launches && s->launches->n > 1)
        add_option(w, "-k", l->name ? l->name : l->kernel);
    if (s->has_dev)
        add_option(w, "-d", s->dev.spec);
    for (size_t i = 0; i < a->set.nworkers; i++)
        add_option(w, "--worker", a->set.worker[i]);
}

void plain_check(struct app *a, char *options, struct buf *out)
{
    char *rest = NULL;
    struct cmd_io io = { .ctx = out, .out = take, .aside = take, .tell = take_diags };
    struct cmd_call call = { .io = &io };
    struct words w = { .n = 0 };
    if (!a->snap->module || as_command_lacks(a)) {
        buf_puts(out, a->snap->module ? as_command_lacks(a) : "nothing is open");
        buf_puts(out, "\n");
        return;
    }
    add(&w, "gpulocw");
    add(&w, "check");
    add_subject(&w, a);
    for (char *t = strtok_r(options, " ", &rest); t; t = strtok_r(NULL, " ", &rest))
        add(&w, t);
    cmd_call(w.n, w.v, &call);
}
