/* Is a lesson understood: its panels, checks and commands. */
#include "engine/session/lesson.h"
#include "engine/workspace/snapshot.h"
#include "tui/control/panels.h"
#include "tui/control/command.h"
#include "tui/control/control.h"
#include "tui/control/lesson_run.h"

#include <string.h>

static void step_mistake(struct diags *ds, unsigned step, const char *key, const char *word, size_t n)
{
    diag_add(ds, DIAG_ERROR, "lesson", NULL, NO_SPAN,
             "lesson, step %u, \"%s\": '%.*s' is not understood", step, key, (int)n, word);
}

enum status lesson_check(const struct lesson *l, struct diags *ds)
{
    static const struct app_engine none = { 0 };
    static const struct job_snapshot nothing = { 0 };
    /* what checks are tried against: names count, values do not */
    struct app *a = base_alloc(sizeof *a);
    size_t before = ds->errors;
    if (!a)
        return ST_NOMEM;
    if (!app_init(a, &none, &nothing, NULL)) {
        app_free(a);
        base_free(a);
        return ST_NOMEM;
    }
    for (unsigned k = 0; k < l->nbegin; k++)
        if (!cmdline_known(l->begin[k]))
            diag_add(ds, DIAG_ERROR, "lesson", NULL, NO_SPAN,
                     "lesson, \"begin\": '%s' is not understood", l->begin[k]);
        else if (!cmdline_begins(l->begin[k]))
            diag_add(ds, DIAG_ERROR, "lesson", NULL, NO_SPAN,
                     "lesson, \"begin\": '%s' is not allowed: only set and show are", l->begin[k]);
    for (unsigned i = 0; i < l->nsteps; i++) {
        const struct lesson_step *s = &l->step[i];
        struct str bad;
        if (s->panel && panel_named(s->panel) == PANEL_COUNT)
            step_mistake(ds, i + 1, "panel", s->panel, strlen(s->panel));
        if (s->check && check_eval(a, s->check, &bad, NULL) == CHECK_BAD)
            step_mistake(ds, i + 1, "check", bad.s, bad.n);
        for (unsigned k = 0; k < s->ncommands; k++)
            if (!cmdline_known(s->commands[k]))
                step_mistake(ds, i + 1, "do", s->commands[k], strlen(s->commands[k]));
    }
    app_free(a);
    base_free(a);
    return ds->errors == before ? ST_OK : ST_INPUT;
}
