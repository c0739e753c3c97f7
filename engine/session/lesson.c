/* Lessons: the "lesson" object of a session file (see lesson.h). */
#include "engine/session/lesson.h"

#include "engine/session/session.h"
#include "engine/session/session_int.h"

#include <string.h>

struct reader {
    const char *path;
    struct lesson *l;
    struct diags *ds;
};

static enum status wrong(struct reader *r, unsigned step, const char *key, const char *what)
{
    if (step)
        diag_add(r->ds, DIAG_ERROR, "lesson", r->path, NO_SPAN, "lesson, step %u, \"%s\": %s", step, key,
                 what);
    else
        diag_add(r->ds, DIAG_ERROR, "lesson", r->path, NO_SPAN, "lesson, \"%s\": %s", key, what);
    return ST_INPUT;
}

/* A text, kept in the lesson's arena. NULL stays when the key is absent and may be. */
static enum status get_text(struct reader *r, const cJSON *o, unsigned step, const char *key,
                            bool needed, char **out)
{
    const cJSON *v = json_get(o, key);
    if (!v && !needed)
        return ST_OK;
    if (!cJSON_IsString(v) || (needed && !*v->valuestring))
        return wrong(r, step, key, v ? "is not text" : "is missing");
    *out = arena_dup(r->l->arena, str_of(v->valuestring));
    return *out ? ST_OK : ST_NOMEM;
}

static enum status get_commands(struct reader *r, const cJSON *o, unsigned step, const char *key,
                                char **out, unsigned *n)
{
    const cJSON *list = json_get(o, key), *v;
    if (!list)
        return ST_OK;
    if (!cJSON_IsArray(list))
        return wrong(r, step, key, "is not a list of commands");
    cJSON_ArrayForEach(v, list)
    {
        if (!cJSON_IsString(v) || !*v->valuestring)
            return wrong(r, step, key, "contains something that is not a command");
        if (*n == LESSON_MAX_DO)
            return wrong(r, step, key, "has too many commands");
        out[*n] = arena_dup(r->l->arena, str_of(v->valuestring));
        if (!out[(*n)++])
            return ST_NOMEM;
    }
    return ST_OK;
}

static enum status get_step(struct reader *r, const cJSON *o, unsigned number, struct lesson_step *s)
{
    enum status st = get_text(r, o, number, "text", true, &s->text);
    if (st == ST_OK)
        st = get_text(r, o, number, "task", false, &s->task);
    if (st == ST_OK)
        st = get_text(r, o, number, "check", false, &s->check);
    if (st == ST_OK)
        st = get_text(r, o, number, "panel", false, &s->panel);
    if (st == ST_OK && s->check && !s->task)
        st = wrong(r, number, "task", "is missing, but there is a check");
    return st == ST_OK ? get_commands(r, o, number, "do", s->commands, &s->ncommands) : st;
}

static enum status get_steps(struct reader *r, const cJSON *o)
{
    const cJSON *list = json_get(o, "steps"), *v;
    enum status st = ST_OK;
    if (!cJSON_IsArray(list) || !cJSON_GetArraySize(list))
        return wrong(r, 0, "steps", "is not a list of steps");
    cJSON_ArrayForEach(v, list)
    {
        if (r->l->nsteps == LESSON_MAX_STEPS)
            return wrong(r, 0, "steps", "has too many steps");
        enum status one = get_step(r, v, r->l->nsteps + 1, &r->l->step[r->l->nsteps]);
        r->l->nsteps++;
        st = st == ST_OK ? one : st; /* every step's mistake is told */
    }
    return st;
}

static enum status get_lesson(struct reader *r, const cJSON *root)
{
    const cJSON *o = json_get(root, "lesson");
    const char *format = json_text(root, "format");
    uint64_t major, number = 0;
    if (!format || strcmp(format, "gpulocw-session"))
        return wrong(r, 0, "format", "is not a gpulocw session");
    if (!json_u64(json_get(root, "major"), &major) || major > SESSION_MAJOR)
        return wrong(r, 0, "major", "the file needs a newer gpulocw");
    if (!cJSON_IsObject(o))
        return wrong(r, 0, "lesson", "this session has no lesson");
    if (json_get(o, "number") && !json_u64(json_get(o, "number"), &number))
        return wrong(r, 0, "number", "is not a whole number");
    r->l->number = (int)(number < 1000 ? number : 999);
    struct {
        const char *key;
        bool needed;
        char **out;
    } texts[] = { { "title", true, &r->l->title },    { "summary", false, &r->l->summary },
                  { "file", true, &r->l->file },      { "kernel", false, &r->l->kernel },
                  { "device", false, &r->l->device }, { "axis", false, &r->l->axis } };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        enum status st = get_text(r, o, 0, texts[i].key, texts[i].needed, texts[i].out);
        if (st != ST_OK)
            return st;
    }
    enum status st = get_commands(r, o, 0, "begin", r->l->begin, &r->l->nbegin);
    return st == ST_OK ? get_steps(r, o) : st;
}

/* A larger file is no lesson: a session that is opened is looked at here first. */
#define LESSON_MOST ((size_t)4 << 20)

enum status lesson_read(const char *path, struct lesson **out, struct diags *ds)
{
    char *text = NULL;
    size_t n = 0;
    *out = NULL;
    enum status st = file_read(path, LESSON_MOST, &text, &n, ds);
    cJSON *root = st == ST_OK ? json_parse(path, text, n, ds) : NULL;
    base_free(text);
    if (!root)
        return st == ST_OK ? ST_INPUT : st;
    struct reader r = { path, base_alloc(sizeof *r.l), ds };
    if (r.l)
        r.l->arena = arena_new(0);
    st = r.l && r.l->arena ? get_lesson(&r, root) : ST_NOMEM;
    cJSON_Delete(root);
    if (st == ST_OK) {
        *out = r.l;
        return ST_OK;
    }
    lesson_free(r.l);
    return st;
}

void lesson_free(struct lesson *l)
{
    if (!l)
        return;
    arena_free(l->arena);
    base_free(l);
}
