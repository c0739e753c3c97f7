/* as_command: see as_command.h. */
#include "tui/app/as_command.h"

#include "engine/base/name.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/session/launch_file.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/page.h"

#include <string.h>

void as_command_word(struct buf *b, const char *s)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (*s && s[strspn(s, plain)] == '\0') {
        buf_puts(b, s);
        return;
    }
    buf_puts(b, "'");
    for (; *s; s++)
        if (*s == '\'')
            buf_puts(b, "'\\''");
        else
            buf_put(b, s, 1);
    buf_puts(b, "'");
}

static void put_option(struct buf *b, const char *name, const char *value)
{
    buf_printf(b, " %s ", name);
    as_command_word(b, value);
}

/* app.ptx finds app.launch.json by itself. */
static bool beside(const char *launch, const char *ptx)
{
    size_t stem = base_stem(ptx, ".ptx"), n = stem ? stem : strlen(ptx);
    return !strncmp(launch, ptx, n) && !strcmp(launch + n, ".launch.json");
}

const char *as_command_lacks(struct app *a)
{
    return a->snap->spec && (a->snap->launch_edited || !a->snap->launches || !a->snap->spec->file)
               ? view_keys(a, "as a command: first {save-launch} writes the launch, which no file has "
                              "as it is here")
               : NULL;
}

const char *as_command(struct app *a)
{
    const struct job_snapshot *s = a->snap;
    const struct launch_spec *l = s->spec;
    struct buf b = { 0 }, knobs = { 0 };
    if (!s->module || !l)
        return NULL;
    buf_puts(&b, "gpulocw run ");
    as_command_word(&b, s->module->path);
    if (l->file && !beside(l->file, s->module->path))
        put_option(&b, "--launch", l->file);
    if (s->launches && s->launches->n > 1)
        put_option(&b, "-k", l->name ? l->name : l->kernel);
    if (s->has_dev)
        put_option(&b, "-d", s->dev.spec);
    for (size_t i = 0; i < a->set.nworkers; i++)
        put_option(&b, "--worker", a->set.worker[i]);
    options_line(a->options, &knobs);
    if (knobs.n)
        buf_printf(&b, " %s", knobs.s);
    const char *copy = b.s ? arena_dup(a->frame, (struct str){ b.s, b.n }) : NULL;
    buf_free(&b);
    buf_free(&knobs);
    return copy;
}
