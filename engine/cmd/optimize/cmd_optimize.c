/* optimize: from a program to a faster one by one command: which kernels take its time, their launches captured and tuned, the tuned
 * ones put into the program and verified, the whole timed unchanged and tuned. Each step is a command of its
 * own (capture, emulate, tune, apply), whose document is read. */
#include "engine/cmd/optimize/optimize.h"

#include "engine/cmd/cmd_int.h"
#include "engine/session/json.h"
#include "engine/workspace/args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHARE_LEAST 5.0 /* percent of the time of all kernels, where --share does not say */
#define SECONDS     6.0 /* a kernel, where --seconds does not say */
#define VERIFIED    "3" /* launches of each kernel on a copy of their data */

/* ---- which kernels ---- */

static struct optimized *add_kernel(struct optimize *o, const cJSON *k)
{
    struct optimized *x = o->n < OPTIMIZE_KERNELS ? &o->v[o->n] : NULL;
    const cJSON *share = json_get(k, "share");
    if (!x || !json_text(k, "name"))
        return NULL;
    o->n++;
    *x = (struct optimized){ .gain = NAN, .covers = NAN };
    x->name = base_strdup(json_text(k, "name"));
    x->readable = base_strdup(json_text(k, "readable") ? json_text(k, "readable") : x->name);
    x->share = cJSON_IsNumber(share) ? share->valuedouble : NAN;
    x->ptx = cJSON_IsTrue(json_get(k, "ptx"));
    x->several = cJSON_GetArraySize(json_get(k, "shapes")) > 1;
    json_u64(json_get(k, "launches"), &x->launches);
    return x;
}

static void why(struct optimized *x, const char *text)
{
    base_free(x->why);
    x->why = text ? base_strdup(text) : NULL;
}

/* Which kernels the unchanged program has, and what each takes. */
static enum status survey(struct optimize *o)
{
    const struct args *a = o->a;
    const char *gpu[] = { "capture", "--list", "--json", NULL };
    const char *emulated[] = { "emulate", "--time", "--json", a->device ? "-d" : NULL, a->device, NULL };
    cJSON *doc = NULL;
    const cJSON *k;
    uint64_t ns = 0;
    enum status st = optimize_step(o, a->emulate ? emulated : gpu, &o->printed[0], &doc);
    if (st != ST_OK)
        return st;
    const cJSON *program = json_get(doc, "program");
    if (json_u64(json_get(program, "wall_ns"), &ns))
        o->wall_ns = (double)ns;
    if (json_u64(json_get(program, "gpu_ns"), &ns))
        o->gpu_ns = (double)ns;
    int64_t exit = 0;
    json_i64(json_get(program, "exit_status"), &exit);
    o->exit = (int)exit;
    cJSON_ArrayForEach(k, json_get(doc, "kernels"))
    {
        struct optimized *x = add_kernel(o, k);
        if (x && !x->ptx)
            why(x, json_text(k, "why"));
    }
    int all = cJSON_GetArraySize(json_get(doc, "kernels"));
    if (all > (int)o->n)
        diag_add(o->ds, DIAG_WARNING, "optimize", NULL, NO_SPAN,
                 "%d more kernels are neither listed nor tuned: the limit is %u", all - (int)o->n,
                 OPTIMIZE_KERNELS);
    cJSON_Delete(doc);
    return ST_OK;
}

static double least_share(const struct args *a)
{
    return (a->share > 0 ? a->share : SHARE_LEAST) / 100;
}

static size_t choose(struct optimize *o)
{
    char text[96];
    size_t n = 0;
    for (size_t i = 0; i < o->n; i++) {
        struct optimized *x = &o->v[i];
        x->chosen = x->ptx && x->share >= least_share(o->a);
        n += x->chosen;
        snprintf(text, sizeof text, "takes %.1f %% of the time; --share takes kernels from %.3g %% on",
                 100 * x->share, 100 * least_share(o->a));
        if (x->ptx && !x->chosen)
            why(x, isnan(x->share) ? "it was not timed" : text);
    }
    return n;
}

/* ---- their launches ---- */

static char *beside(const struct optimize *o, const char *file)
{
    struct buf b = { 0 };
    buf_printf(&b, "%s/%s", o->dir, file);
    return buf_take(&b);
}

static void take_files(struct optimize *o, const cJSON *k)
{
    struct optimized *x = optimize_named(o, json_text(k, "name"));
    const cJSON *files = json_get(k, "files");
    const char *ptx = json_text(files, "ptx"), *launch = json_text(files, "launch");
    if (!x || !x->chosen)
        return;
    x->captured = ptx && launch;
    if (!x->captured) {
        why(x,
            json_text(k, "not_captured") ? json_text(k, "not_captured") : "its launch was not captured");
        return;
    }
    struct buf session = { 0 };
    buf_printf(&session, "%s/%.*s.session.json", o->dir, (int)strcspn(ptx, "."), ptx);
    x->file = beside(o, ptx);
    x->launch = beside(o, launch);
    x->session = buf_take(&session);
    optimize_captured(x, files);
}

static enum status capture(struct optimize *o)
{
    const char *word[9 + 2 * OPTIMIZE_KERNELS] = { "capture", "--json", "-o", o->dir };
    bool several = false;
    size_t n = 4;
    cJSON *doc = NULL;
    const cJSON *k;
    if (o->a->force)
        word[n++] = "--force";
    if (o->a->emulate)
        word[n++] = "--emulate";
    for (size_t i = 0; i < o->n; i++)
        if (o->v[i].chosen) {
            word[n++] = "-k";
            word[n++] = o->v[i].name;
            several |= o->v[i].several;
        }
    if (several && o->a->emulate) /* which shapes take most */
        word[n++] = "--time";
    enum status st = optimize_step(o, word, &o->printed[1], &doc);
    if (st != ST_OK)
        return st;
    cJSON_ArrayForEach(k, json_get(doc, "kernels")) take_files(o, k);
    for (size_t i = 0; i < o->n; i++)
        if (o->v[i].chosen && !o->v[i].captured && !o->v[i].why)
            why(&o->v[i], "its launch was not captured");
    cJSON_Delete(doc);
    return ST_OK;
}

/* ---- tuning ---- */

static enum status tune(struct optimize *o, struct optimized *x, double seconds)
{
    char budget[32];
    snprintf(budget, sizeof budget, "%.1f", seconds);
    const char *word[] = { "tune", x->file,    "-l",     x->launch,
                           "-o",   x->session, "--json", "--budget-seconds",
                           budget, NULL,       NULL,     NULL,
                           NULL,   NULL };
    size_t n = 9;
    if (o->a->force)
        word[n++] = "--force";
    if (!o->a->emulate)
        word[n++] = "--in-program";
    if (o->a->device || !o->a->emulate) { /* on the GPU that the program runs on */
        word[n++] = "-d";
        word[n] = o->a->device ? o->a->device : "cuda:0";
    }
    cJSON *doc = NULL;
    enum status st = optimize_step(o, word, NULL, &doc);
    if (st == ST_CANCELLED || st == ST_NOMEM)
        return st;
    if (st != ST_OK) {
        why(x, o->said.n ? o->said.s : "it could not be tuned");
        return ST_OK;
    }
    const cJSON *gain = json_get(doc, "gain");
    bool alone = cJSON_IsTrue(json_get(doc, "leave_alone"));
    x->tuned = !alone && cJSON_IsNumber(gain);
    x->gain = x->tuned ? gain->valuedouble : alone ? 1 : NAN;
    x->evidence = json_text(doc, "evidence") ? base_strdup(json_text(doc, "evidence")) : NULL;
    const char *line = json_text(doc, "options_line");
    x->options = x->tuned && line ? base_strdup(line) : NULL;
    if (!x->tuned)
        why(x, json_text(doc, "reason"));
    else
        st = optimize_choose(o, x, doc);
    cJSON_Delete(doc);
    return st;
}

/* What was found stays when the user stops it. */
static enum status tune_all(struct optimize *o, size_t chosen)
{
    double each = (o->a->seconds > 0 ? o->a->seconds : SECONDS * (double)chosen) / (double)chosen;
    enum status st = ST_OK;
    for (size_t i = 0; i < o->n && st == ST_OK; i++)
        if (o->v[i].captured)
            st = tune(o, &o->v[i], each);
    return st;
}

/* ---- in the program ---- */

static void lose(struct optimized *x, struct optimized_shape *s, const char *text)
{
    s->lost = true;
    base_free(s->why);
    s->why = base_strdup(text);
    if (!optimize_stands(x) || !x->why)
        why(x, text);
}

static double median(const cJSON *k, const char *key)
{
    const cJSON *v = json_get(json_get(k, key), "median");
    return cJSON_IsNumber(v) ? v->valuedouble : NAN;
}

static void take_applied(struct optimize *o, const cJSON *k)
{
    struct optimized *x;
    struct optimized_shape *s = optimize_row(o, k, &x);
    const cJSON *equal = json_get(k, "equal");
    if (!s)
        return;
    json_u64(json_get(k, "graphs_unverified"), &s->graphs);
    s->equal = cJSON_IsTrue(equal) ? EQUAL_YES : cJSON_IsFalse(equal) ? EQUAL_NO : EQUAL_UNKNOWN;
    double was = median(k, "original_ns"), now = median(k, "tuned_ns");
    s->lost = s->equal == EQUAL_NO || now >= was;
    if (s->equal == EQUAL_NO)
        lose(x, s, "its outputs in the program differ: the original stays");
    else if (s->lost)
        lose(x, s, "it is not faster in the program: the original stays");
}

static void number(const cJSON *o, const char *key, double *to)
{
    const cJSON *v = json_get(o, key);
    if (cJSON_IsNumber(v))
        *to = v->valuedouble;
}

/* The program prints the same unchanged, by turns and tuned, where it printed the same twice before. */
static void compare_printed(struct optimize *o, const struct buf *three)
{
    const struct buf *one = &o->printed[0], *two = &o->printed[1];
    if (one->n != two->n || (one->n && memcmp(one->s, two->s, one->n)))
        return;
    bool same = three->n == 3 * one->n;
    for (size_t i = 0; same && i < 3; i++)
        same = !one->n || !memcmp(three->s + i * one->n, one->s, one->n);
    o->output_same = same ? EQUAL_YES : EQUAL_NO;
}

/* The times of the unchanged program; of one that ended otherwise than before there are none. Those of the tuned one
 * are not taken: verified launches run both kernels. */
static void take_whole(struct optimize *o, const cJSON *p, const struct buf *three)
{
    int64_t exit = 0;
    json_i64(json_get(p, "exit_status"), &exit);
    if (exit != o->exit || cancel_asked(o->a->cancel)) {
        o->output_same = cancel_asked(o->a->cancel) ? EQUAL_UNKNOWN : EQUAL_NO;
        return;
    }
    number(p, "wall_original_ns", &o->wall_ns);
    number(p, "gpu_original_ns", &o->gpu_ns);
    compare_printed(o, three);
}

/* Those of all kernels' shapes, the first kernels first; how many. */
static size_t sessions(const struct optimize *o, bool (*is)(const struct optimized_shape *),
                       const char **word)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n; i++)
        for (size_t k = 0; k < o->v[i].nshapes && n < OPTIMIZE_PUT; k++)
            if (is(&o->v[i].shape[k]))
                word[n++] = o->v[i].shape[k].session;
    return n;
}

static void lose_all(struct optimize *o, const char *text)
{
    for (size_t i = 0; i < o->n; i++)
        for (size_t k = 0; k < o->v[i].nshapes; k++)
            if (optimize_shape_stands(&o->v[i].shape[k]))
                lose(&o->v[i], &o->v[i].shape[k], text);
}

static enum status apply_once(struct optimize *o)
{
    const char *word[OPTIMIZE_PUT + 8] = { "apply" };
    size_t n = 1 + sessions(o, optimize_shape_stands, word + 1);
    word[n++] = "--whole";
    word[n++] = "--verify";
    word[n++] = VERIFIED;
    word[n] = "--json";
    cJSON *doc = NULL;
    const cJSON *k;
    struct buf three = { 0 };
    enum status st = optimize_step(o, word, &three, &doc);
    if (st == ST_OK) {
        cJSON_ArrayForEach(k, json_get(doc, "kernels")) take_applied(o, k);
        take_whole(o, json_get(doc, "program"), &three);
    }
    if (st == ST_DEVICE)
        lose_all(o, o->said.n ? o->said.s : "it could not be put into the program");
    cJSON_Delete(doc);
    buf_free(&three);
    return st == ST_DEVICE ? ST_OK : st;
}

/* Some launch took it: a verified one ran both kernels, those of graphs are replaced when nothing is verified. */
static bool may_run(const struct optimized_shape *s)
{
    return optimize_shape_stands(s) && (s->applied || s->equal == EQUAL_YES || s->graphs);
}

static void time_whole(struct optimize *o)
{
    const char *session[OPTIMIZE_PUT + 1];
    size_t n = sessions(o, may_run, session);
    session[n] = NULL;
    if (n)
        optimize_whole(o, session);
    for (size_t i = 0; i < o->n; i++)
        if (optimize_stands(&o->v[i]) && !optimize_applied(&o->v[i]))
            why(&o->v[i], "no launch of the program took it");
}

/* What loses in the program although it won alone is put back, and the rest tried without it. */
static enum status apply(struct optimize *o)
{
    const char *word[OPTIMIZE_PUT];
    size_t left = sessions(o, optimize_shape_stands, word), now = left;
    enum status st = ST_OK;
    while (st == ST_OK && left) {
        o->wall_tuned_ns = o->gpu_tuned_ns = NAN;
        o->output_same = EQUAL_UNKNOWN;
        st = apply_once(o);
        now = sessions(o, optimize_shape_stands, word);
        if (now == left)
            break;
        left = now;
    }
    if (!now)
        o->wall_tuned_ns = o->gpu_tuned_ns = NAN, o->output_same = EQUAL_UNKNOWN;
    else if (st == ST_OK && o->output_same != EQUAL_NO && !cancel_asked(o->a->cancel))
        time_whole(o);
    return st;
}

/* Without a GPU nothing is put in: what the kernels' own gains come to, simulated. */
static void expect(struct optimize *o)
{
    double left = o->gpu_ns;
    for (size_t i = 0; i < o->n; i++) {
        struct optimized *x = &o->v[i];
        for (size_t k = 0; k < x->nshapes && !isnan(x->share); k++)
            if (x->shape[k].session && !isnan(x->shape[k].share))
                left -= o->gpu_ns * x->share * x->shape[k].share * (1 - 1 / x->shape[k].gain);
        if (optimize_stands(x))
            why(x, "simulated: nothing was put into the program");
    }
    o->gpu_tuned_ns = left < o->gpu_ns ? left : NAN;
}

/* ---- the command ---- */

static enum status go(struct optimize *o)
{
    enum status st = survey(o);
    size_t chosen = st == ST_OK ? choose(o) : 0;
    if (chosen)
        st = capture(o);
    if (st == ST_OK && chosen)
        st = tune_all(o, chosen);
    if (st == ST_OK && chosen && o->a->emulate)
        expect(o);
    else if (st == ST_OK && chosen)
        st = apply(o);
    return st;
}

static void clear(struct optimize *o)
{
    for (size_t i = 0; i < o->n; i++) {
        struct optimized *x = &o->v[i];
        char *owned[] = { x->name,   x->readable, x->why,     x->file,
                          x->launch, x->session,  x->options, x->evidence };
        for (size_t k = 0; k < ARRAY_LEN(owned); k++)
            base_free(owned[k]);
        optimize_shapes_free(x);
    }
    buf_free(&o->printed[0]);
    buf_free(&o->printed[1]);
    buf_free(&o->said);
}

static int optimize(struct args *a)
{
    struct diags ds = { 0 };
    struct optimize *o = base_alloc(sizeof *o);
    if (!o)
        return cmd_finish(a, ST_NOMEM, &ds);
    *o = (struct optimize){ .a = a,
                            .ds = &ds,
                            .dir = a->folder ? a->folder : "optimized",
                            .wall_ns = NAN,
                            .wall_tuned_ns = NAN,
                            .gpu_ns = NAN,
                            .gpu_tuned_ns = NAN,
                            .output_same = EQUAL_UNKNOWN };
    enum status st = go(o);
    cmd_progress_end(a);
    if (o->n || st == ST_OK)
        optimize_put(o);
    int rc = o->exit;
    clear(o);
    base_free(o);
    int own = cmd_finish(a, st, &ds);
    return own ? own : rc;
}

int cmd_optimize(struct args *a)
{
    struct diags ds = { 0 };
    const char *wrong =
        !a->program || !a->program[0] ? "no program given: gpulocw optimize [-o DIR] -- PROGRAM ARG..."
        : a->device && !a->emulate ? "optimize runs the program on its GPU; --device goes with --emulate"
        : a->share < 0 || a->share > 100 ? "--share needs a percentage"
        : a->seconds < 0                 ? "--seconds needs a number of seconds"
                                         : NULL;
    if (!wrong)
        return optimize(a);
    diag_error(&ds, "usage", "%s", wrong);
    return cmd_finish(a, ST_USAGE, &ds);
}
