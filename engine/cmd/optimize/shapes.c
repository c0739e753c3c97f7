/* A kernel that is launched in several shapes: what each of them gets of what the search found. The program's launches
 * are told apart by grid, block and shared memory alone. */
#include "engine/cmd/optimize/optimize.h"

#include "engine/session/json.h"
#include "engine/workspace/args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOSES      0.99 /* a gain below it is a loss */
#define WORDS_MOST 64u

static void three(const cJSON *o, const char *key, unsigned v[3])
{
    const cJSON *list = json_get(o, key);
    for (int i = 0; i < 3; i++) {
        const cJSON *n = cJSON_GetArrayItem(list, i);
        v[i] = cJSON_IsNumber(n) ? (unsigned)n->valuedouble : 1;
    }
}

static double number(const cJSON *o, const char *key)
{
    const cJSON *v = json_get(o, key);
    return cJSON_IsNumber(v) ? v->valuedouble : NAN;
}

static char *text(const cJSON *o, const char *key)
{
    return json_text(o, key) ? base_strdup(json_text(o, key)) : NULL;
}

void optimize_captured(struct optimized *x, const cJSON *files)
{
    const cJSON *l;
    x->covers = number(files, "covers");
    cJSON_ArrayForEach(l, json_get(files, "launches"))
    {
        struct optimized_shape *s = x->nshapes < SHAPES_MOST ? &x->shape[x->nshapes] : NULL;
        uint64_t shared = 0;
        if (!s)
            break;
        x->nshapes++;
        json_u64(json_get(l, "shared"), &shared);
        *s = (struct optimized_shape){ .name = text(l, "name"),
                                       .shared = (unsigned)shared,
                                       .share = number(l, "share"),
                                       .gain = NAN,
                                       .equal = EQUAL_UNKNOWN };
        three(l, "grid", s->grid);
        three(l, "block", s->block);
    }
    if (x->nshapes == 1) /* there is no other */
        x->shape[0].share = isnan(x->shape[0].share) ? 1 : x->shape[0].share;
}

static bool alike(const struct optimized_shape *a, const struct optimized_shape *b)
{
    return a->shared == b->shared && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0;
}

bool optimize_shape_stands(const struct optimized_shape *s)
{
    return s->session && !s->lost;
}

bool optimize_stands(const struct optimized *x)
{
    bool any = false;
    for (size_t i = 0; i < x->nshapes; i++)
        any |= optimize_shape_stands(&x->shape[i]);
    return any;
}

uint64_t optimize_applied(const struct optimized *x)
{
    uint64_t n = 0;
    for (size_t i = 0; i < x->nshapes; i++)
        n += x->shape[i].lost ? 0 : x->shape[i].applied;
    return n;
}

enum equality optimize_equal(const struct optimized *x)
{
    enum equality e = EQUAL_UNKNOWN;
    for (size_t i = 0; i < x->nshapes && e != EQUAL_NO; i++)
        e = x->shape[i].equal == EQUAL_UNKNOWN ? e : x->shape[i].equal;
    return e;
}

struct optimized_shape *optimize_row(struct optimize *o, const cJSON *row, struct optimized **x)
{
    const char *from = json_text(row, "from");
    *x = optimize_named(o, json_text(row, "name"));
    for (size_t i = 0; *x && from && i < (*x)->nshapes; i++)
        if ((*x)->shape[i].session && strcmp((*x)->shape[i].session, from) == 0)
            return &(*x)->shape[i];
    return NULL;
}

void optimize_shapes_free(struct optimized *x)
{
    for (size_t i = 0; i < x->nshapes; i++)
        BASE_FREE(x->shape[i].name, x->shape[i].session, x->shape[i].options, x->shape[i].why);
    x->nshapes = 0;
}

/* ---- after the search ---- */

/* What the search says of this launch; NULL: nothing. */
static const cJSON *set_of(const cJSON *found, const struct optimized_shape *s)
{
    const cJSON *d;
    cJSON_ArrayForEach(d, json_get(found, "data_sets")) if (s->name && json_text(d, "name") &&
                                                            strcmp(json_text(d, "name"), s->name) ==
                                                                0) return d;
    return NULL;
}

/* Of the recommendation on launch i; NaN: it was not tried there, or failed. */
static double gain_there(const struct optimized *x, const cJSON *found, size_t i)
{
    return i ? number(set_of(found, &x->shape[i]), "gain") : x->gain;
}

static void because(struct optimized_shape *s, const char *format, ...) BASE_PRINTF(2, 3);
static void because(struct optimized_shape *s, const char *format, ...)
{
    struct buf b = { 0 };
    va_list ap;
    va_start(ap, format);
    buf_vprintf(&b, format, ap);
    va_end(ap);
    base_free(s->why);
    s->why = buf_take(&b);
}

/* The recommendation, for launches that look like i: it must lose on none of them, and gain on one. */
static bool holds(struct optimized *x, const cJSON *found, size_t i)
{
    bool gains = false;
    for (size_t k = 0; k < x->nshapes; k++) {
        const cJSON *d = set_of(found, &x->shape[k]);
        double gain = gain_there(x, found, k);
        if (!alike(&x->shape[k], &x->shape[i]))
            continue;
        if (!(gain >= LOSES)) {
            because(&x->shape[i], isnan(gain) ? "%s was not compared" : "%s would take longer",
                    x->shape[k].name ? x->shape[k].name : "it");
            return false;
        }
        gains |= !k || cJSON_IsTrue(json_get(d, "holds"));
    }
    if (!gains)
        because(&x->shape[i], "nothing gains there");
    return gains;
}

static bool alone(const struct optimized *x, size_t i)
{
    for (size_t k = 0; k < x->nshapes; k++)
        if (k != i && alike(&x->shape[k], &x->shape[i]))
            return false;
    return true;
}

/* What launches like i get, and its gain there; NULL: nothing. */
static const char *choice(struct optimized *x, const cJSON *found, size_t i, double *gain)
{
    const cJSON *d = set_of(found, &x->shape[i]);
    const char *best = json_text(d, "best_options_line");
    *gain = gain_there(x, found, i);
    if (holds(x, found, i))
        return x->options;
    *gain = number(d, "best_gain");
    return alone(x, i) && best && *best && *gain > 1 ? best : NULL;
}

static char *session_of(const struct optimized *x, const struct optimized_shape *s)
{
    struct buf b = { 0 };
    buf_printf(&b, "%.*s.%s.session.json", (int)(strlen(x->session) - strlen(".session.json")),
               x->session, s->name);
    return buf_take(&b);
}

/* A session of its own: the configuration run and attacked on that launch. */
static enum status run_there(struct optimize *o, struct optimized *x, struct optimized_shape *s,
                             const char *options)
{
    const char *word[WORDS_MOST] = { "run", x->file,    "-l",     x->launch, "-k",   s->name,
                                     "-o",  s->session, "--json", "--prove", "quick" };
    char *line = base_strdup(options), *rest = line, *w;
    size_t n = 11;
    cJSON *doc = NULL;
    if (!line)
        return ST_NOMEM;
    if (o->a->force)
        word[n++] = "--force";
    if (o->a->device || !o->a->emulate) {
        word[n++] = "-d";
        word[n++] = o->a->device ? o->a->device : "cuda:0";
    }
    while ((w = strsep(&rest, " ")) && n < WORDS_MOST - 1)
        if (*w)
            word[n++] = w;
    enum status st = optimize_step(o, word, NULL, &doc);
    bool equal = st == ST_OK && cJSON_IsTrue(json_get(doc, "equal_to_original"));
    if (!equal) {
        const char *told = json_text(doc, "message"), *equality = json_text(doc, "equality");
        because(s, "run there its outputs were not shown to be the same: %s",
                o->said.n       ? o->said.s
                : told && *told ? told
                : equality      ? equality
                                : "it had no result");
        BASE_FREE(s->session);
        s->session = NULL;
    }
    cJSON_Delete(doc);
    base_free(line);
    return st == ST_CANCELLED || st == ST_NOMEM ? st : ST_OK;
}

static enum status give(struct optimize *o, struct optimized *x, size_t i, const char *options,
                        double gain)
{
    struct optimized_shape *s = &x->shape[i];
    s->session = i ? session_of(x, s) : base_strdup(x->session);
    s->options = base_strdup(options);
    s->gain = gain;
    if (!s->session || !s->options)
        return ST_NOMEM;
    base_free(s->why);
    s->why = NULL;
    return i ? run_there(o, x, s, options) : ST_OK;
}

enum status optimize_choose(struct optimize *o, struct optimized *x, const cJSON *found)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < x->nshapes && st == ST_OK; i++) {
        size_t first = 0;
        double gain;
        while (!alike(&x->shape[first], &x->shape[i]))
            first++;
        const char *options = first == i ? choice(x, found, i, &gain) : NULL;
        if (options)
            st = give(o, x, i, options, gain);
        else if (first < i)
            because(&x->shape[i],
                    "it gets what %s gets: the program's launches are the same but for arguments",
                    x->shape[first].name);
    }
    if (st == ST_OK && !optimize_stands(x) && x->nshapes && !x->why && x->shape[0].why)
        x->why = base_strdup(x->shape[0].why);
    return st;
}
