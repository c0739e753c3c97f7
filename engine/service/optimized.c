/* `optimize` in a process of its own, for a caller that shows what came of it. */
#include "engine/service/optimized.h"

#include "engine/service/service_int.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define LOOK_MS 50

/* {"program": ["/bin/sh", "-c", "exec COMMAND"], ...} */
static cJSON *arguments_of(const struct optimize_want *w)
{
    struct buf line = { 0 };
    cJSON *o = cJSON_CreateObject(), *program = cJSON_AddArrayToObject(o, TOOL_PROGRAM);
    buf_printf(&line, "exec %s </dev/null", w->command);
    cJSON_AddItemToArray(program, cJSON_CreateString("/bin/sh"));
    cJSON_AddItemToArray(program, cJSON_CreateString("-c"));
    cJSON_AddItemToArray(program, cJSON_CreateString(line.s ? line.s : ""));
    cJSON_AddStringToObject(o, "output", w->folder);
    if (w->device) {
        cJSON_AddTrueToObject(o, "emulate");
        cJSON_AddStringToObject(o, "device", w->device);
    }
    buf_free(&line);
    return o;
}

static void take_text(const cJSON *o, const char *key, char *to, size_t n)
{
    const char *text = json_text(o, key);
    snprintf(to, n, "%s", text ? text : "");
}

static double number(const cJSON *o, const char *key)
{
    const cJSON *v = json_get(o, key);
    return cJSON_IsNumber(v) ? v->valuedouble : (double)NAN;
}

static void take_kernel(const cJSON *k, struct optimized_kernel *x)
{
    take_text(k, "readable", x->name, sizeof x->name);
    take_text(k, "options_line", x->options, sizeof x->options);
    take_text(k, "evidence", x->evidence, sizeof x->evidence);
    take_text(k, "why", x->why, sizeof x->why);
    x->share = number(k, "share");
    x->gain = number(k, "gain");
    json_u64(json_get(k, "launches"), &x->launches);
    json_u64(json_get(k, "applied"), &x->applied);
}

static enum status take(const cJSON *doc, struct optimized *out)
{
    const cJSON *k, *list = json_get(doc, "kernels"), *program = json_get(doc, "program");
    size_t n = (size_t)cJSON_GetArraySize(list);
    out->v = base_alloc((n ? n : 1) * sizeof *out->v);
    if (!out->v)
        return ST_NOMEM;
    cJSON_ArrayForEach(k, list) take_kernel(k, &out->v[out->n++]);
    out->wall_ns = number(program, "wall_ns");
    out->wall_tuned_ns = number(program, "wall_tuned_ns");
    out->gpu_ns = number(program, "gpu_ns");
    out->gpu_tuned_ns = number(program, "gpu_tuned_ns");
    return ST_OK;
}

static void wait_for(struct service_job *j, const struct optimize_want *w, struct job_end *end)
{
    while (!job_poll(j, end)) {
        struct pollfd on[] = { { j->out, POLLIN, 0 }, { j->steps, POLLIN, 0 } };
        if (cancel_asked(w->cancel))
            job_stop(j);
        if (j->moved && w->progress)
            w->progress(w->ctx, j->done, j->what);
        j->moved = false;
        poll(on, 2, LOOK_MS);
    }
}

enum status service_optimize(const struct optimize_want *w, struct optimized *out, struct diags *ds)
{
    struct request r = { .argv = NULL };
    struct service_job j = { .out = -1, .err = -1, .steps = -1 };
    struct job_end end = { 0 };
    struct buf said = { 0 };
    cJSON *arguments = arguments_of(w), *doc = NULL;
    *out = (struct optimized){ .v = NULL };
    enum status st = request_make(tool_find("optimize"), arguments, NULL, NULL, &r, ds);
    if (st == ST_OK)
        st = job_start(&j, w->self, &r, NULL, 0, ds);
    if (st == ST_OK) {
        wait_for(&j, w, &end);
        doc = j.text.n ? json_parse("optimize", j.text.s, j.text.n, NULL) : NULL;
        out->cancelled = end.cancelled;
        st = doc ? take(doc, out) : end.cancelled ? ST_CANCELLED : ST_DEVICE;
        summary_words(&j, end.code, &said);
        if (st == ST_DEVICE)
            diag_error(ds, "optimize", "%s", said.s ? said.s : "it had no result");
    }
    cJSON_Delete(doc);
    cJSON_Delete(arguments);
    buf_free(&said);
    job_free(&j);
    request_free(&r);
    return st;
}

void optimized_free(struct optimized *o)
{
    base_free(o->v);
    *o = (struct optimized){ .v = NULL };
}
