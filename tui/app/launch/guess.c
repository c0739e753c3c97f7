/* guess: see guess.h. */
#include "tui/app/launch/guess.h"

#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/launch_edit.h"
#include "tui/app/post.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_SIZE, ASK_SHAPE };

void guess_start(struct app *a, const struct job *then)
{
    struct guess_view *g = &a->guess;
    *g = (struct guess_view){
        .asked = true, .wanted = then != NULL, .before = a->snap->spec, .options = g->options
    };
    if (then) {
        g->kind = then->kind;
        g->number = then->number;
        options_copy(g->options, then->options ? then->options : options_none());
        snprintf(g->text, sizeof g->text, "%s", then->text ? then->text : "");
    }
    app_post(a, JOB_LAUNCH_GUESS, NULL, 0);
}

/* What was asked for when there was no launch. */
static void go_on(struct app *a)
{
    struct guess_view *g = &a->guess;
    struct job j = {
        .kind = g->kind, .text = *g->text ? g->text : NULL, .number = g->number, .options = g->options
    };
    if (!g->wanted)
        return;
    g->wanted = false;
    a->to_launch = false; /* the cursor goes to the curve */
    app_focus(a, g->kind == JOB_RUN ? PANEL_COUNTERS : PANEL_VALLEY);
    a->engine.post(a->engine.ctx, &j);
}

static void ask_shape(struct app *a)
{
    char now[64];
    struct dim3u b = a->snap->spec->block;
    snprintf(now, sizeof now, b.z > 1 ? "%ux%ux%u" : b.y > 1 ? "%ux%u" : "%u", b.x, b.y, b.z);
    prompt_open(&a->prompt, PROMPT_GUESS, "threads of a block (X, XxY, XxYxZ) = ", now, ASK_SHAPE);
}

static void ask_size(struct app *a)
{
    char now[32];
    snprintf(now, sizeof now, "%u", a->guess.n);
    prompt_open(&a->prompt, PROMPT_GUESS, "size of the problem, for its integer parameters = ", now,
                ASK_SIZE);
}

/* Does an integer parameter say it? Without one there is nothing to ask. */
static bool has_size(const struct launch_spec *l, uint32_t n)
{
    bool found = false;
    for (size_t i = 0; i < l->nargs && !found; i++) {
        uint32_t v;
        memcpy(&v, l->args[i].scalar, sizeof v);
        found = l->args[i].kind == ARG_SCALAR && l->args[i].elem != ELEM_F32 &&
                l->args[i].elem != ELEM_F64 && v == n;
    }
    return n && found;
}

void guess_came(struct app *a, const struct job_snapshot *old)
{
    struct guess_view *g = &a->guess;
    const struct job_snapshot *s = a->snap;
    if (!g->asked || s->busy)
        return;
    if (s->spec == g->before) {
        if (old->busy)
            *g = (struct guess_view){ 0 }; /* it failed, or was stopped */
        return;
    }
    g->asked = false;
    if (!s->spec || a->prompt.kind != PROMPT_NONE || !a->h) {
        go_on(a); /* nobody to ask */
        return;
    }
    g->n = s->guessed_n;
    g->block = s->spec->block;
    if (has_size(s->spec, g->n))
        ask_size(a);
    else
        ask_shape(a);
}

static bool take_size(struct app *a, const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (end == text || *end || !n || n > INT32_MAX)
        return false;
    a->guess.other |= n != a->guess.n;
    a->guess.n = (uint32_t)n;
    return true;
}

static bool take_shape(struct app *a, const char *text)
{
    struct dim3u b;
    if (!launch_dim_parse(text, &b) || dim3u_count(b) > 1024)
        return false;
    a->guess.other |= b.x != a->guess.block.x || b.y != a->guess.block.y || b.z != a->guess.block.z;
    a->guess.block = b;
    return true;
}

/* Other answers than the guess: it is guessed again with them, then what was wanted follows. */
static void settle(struct app *a)
{
    struct guess_view *g = &a->guess;
    if (g->other && a->snap->spec) {
        struct launch_spec l = *a->snap->spec; /* shallow: job_post copies */
        struct job j = { .kind = JOB_LAUNCH_GUESS, .number = (long)g->n, .launch = &l };
        l.block = g->block;
        a->engine.post(a->engine.ctx, &j);
    }
    go_on(a);
}

void guess_answer(struct app *a, const char *text, bool given)
{
    long asked = a->prompt.target;
    bool taken =
        given && a->snap->spec && (asked == ASK_SIZE ? take_size(a, text) : take_shape(a, text));
    if (given && !taken &&
        a->snap->spec) { /* asked again, with what is expected: the prompt covers notices */
        prompt_open(&a->prompt, PROMPT_GUESS,
                    asked == ASK_SIZE ? "a whole number above 0 is expected: size = "
                                      : "256, 32x8 or 8x8x4, at most 1024 in all = ",
                    text, asked);
        return;
    }
    if (given && asked == ASK_SIZE && a->snap->spec)
        ask_shape(a);
    else
        settle(a);
}
