/* reload: see reload.h. */
#include "engine/session/run.h"
#include "tui/app/reload.h"

#include "engine/base/name.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch.h"
#include "engine/session/launch_file.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/post.h"

#include <stdio.h>
#include <string.h>

/* Which launch it is and where from: a text with a mistake has none, and the next one goes on with what
 * was before it. */
static void remember(struct reload_view *v, const struct job_snapshot *s)
{
    const struct launch_spec *l = s->spec;
    const char *file = s->launches && s->launches->n ? s->launches->launch[0].file : NULL,
               *name = l && l->name ? l->name : s->kernel;
    size_t stem = strlen(s->module->path) > 4 ? strlen(s->module->path) - 4 : 0;
    /* app.ptx finds app.launch.json by itself */
    bool beside = file && !strncmp(file, s->module->path, stem);
    if (!l && !strcmp(v->path, s->module->path) && *v->name)
        return;
    snprintf(v->path, sizeof v->path, "%s", s->module->path);
    snprintf(v->launch, sizeof v->launch, "%s", file && !beside ? file : "");
    snprintf(v->name, sizeof v->name, "%s", name ? name : "");
}

unsigned reload_ask(struct app *a)
{
    struct reload_view *v = &a->reload;
    const struct job_snapshot *s = a->snap;
    if (!s->module) {
        app_notice(a, DIAG_NOTE, "nothing is open");
        return UI_REDRAW;
    }
    remember(v, s);
    v->pending = true;
    app_post(a, JOB_OPEN, v->path, *v->launch);
    if (*v->launch)
        app_post(a, JOB_OPEN, v->launch, 0);
    if (*v->name)
        app_post(a, JOB_KERNEL, v->name, 0);
    app_notice(a, DIAG_NOTE, "reloading %s ...", v->path);
    return UI_REDRAW;
}

bool reload_came(struct app *a)
{
    struct reload_view *v = &a->reload;
    bool came = v->pending && a->snap->module && !strcmp(v->path, a->snap->module->path);
    v->pending = false;
    if (came)
        app_notice(a, DIAG_NOTE, "reloaded%s",
                   a->snap->nruns && a->snap->runs[a->snap->nruns - 1]->earlier
                       ? ": earlier results belong to the old text"
                       : "");
    return came;
}

void reload_written(struct app *a)
{
    const char *path = a->snap->module ? a->snap->module->path : NULL;
    const char *name = path ? base_file_name(path) : NULL;
    char key[16];
    if (!path)
        return;
    if (a->reload.watch) {
        reload_ask(a);
        return;
    }
    keymap_key(&a->keys, REQ_RELOAD, key);
    app_notice(a, DIAG_WARNING, "%s has changed: %s reloads it (:watch on does so automatically)", name,
               *key ? key : ":reload");
}
