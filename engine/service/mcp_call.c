/* tools/call: a command in a process of its own, its progress, its answer. */
#include "engine/service/mcp_int.h"

#include <string.h>
#include <time.h>

#define TELL_NS     INT64_C(100000000)  /* progress is told ten times a second at most */
#define SILENT_NS   INT64_C(3000000000) /* and when this long nothing was told: clients wait for 5 s */
#define SILENT_STEP 1e-3                /* of what is left, for a phase without steps */
/* times 10 ms: what a command that was told to end may take to put its files in order */
#define END_TRIES 300

static bool same_id(const cJSON *a, const cJSON *b)
{
    return a && b && cJSON_Compare(a, b, true);
}

static struct mcp_call *call_of(struct mcp *m, const cJSON *id)
{
    for (size_t i = 0; i < MCP_CALLS; i++)
        if (m->call[i].used && same_id(m->call[i].id, id))
            return &m->call[i];
    return NULL;
}

bool mcp_call_known(const struct mcp *m, const cJSON *id)
{
    for (size_t i = 0; i < MCP_CALLS; i++)
        if (m->call[i].used && same_id(m->call[i].id, id))
            return true;
    return false;
}

bool mcp_call_any(const struct mcp *m)
{
    for (size_t i = 0; i < MCP_CALLS; i++)
        if (m->call[i].used)
            return true;
    return false;
}

static void drop(struct mcp *m, struct mcp_call *c)
{
    m->running -= c->running ? 1 : 0;
    job_free(&c->job);
    request_free(&c->request);
    cJSON_Delete(c->id);
    cJSON_Delete(c->token);
    cJSON_Delete(c->arguments);
    *c = (struct mcp_call){ .used = false };
}

/* ---- a call's way ---- */
static struct mcp_call *free_call(struct mcp *m)
{
    for (size_t i = 0; i < MCP_CALLS; i++)
        if (!m->call[i].used)
            return &m->call[i];
    return NULL;
}

static void no_tool(struct mcp *m, const cJSON *id, const char *name)
{
    struct buf text = { 0 };
    buf_printf(&text, "unknown tool: %.100s", name ? name : "(no name)");
    mcp_fail(m, id, MCP_INVALID_PARAMS, text.s ? text.s : "unknown tool", NULL);
    buf_free(&text);
}

void mcp_call_begin(struct mcp *m, const cJSON *id, enum mcp_revision r, const cJSON *params)
{
    const char *name = json_text(params, "name");
    const struct tool *t = tool_find(name);
    const cJSON *token = json_get(json_get(params, "_meta"), "progressToken");
    struct mcp_call *c = free_call(m);
    if (name && strcmp(name, SERVICE_READ) == 0) {
        mcp_read_piece(m, id, r, json_get(params, "arguments"));
        return;
    }
    if (!t) {
        no_tool(m, id, name);
        return;
    }
    if (!c) {
        mcp_fail(m, id, MCP_INTERNAL, "too many calls are running; wait for one or cancel it", NULL);
        return;
    }
    *c = (struct mcp_call){ .used = true, .revision = r, .tool = t, .turn = ++m->turns };
    c->job = (struct service_job){ .out = -1, .err = -1, .steps = -1 };
    c->begun_ns = base_now_ns();
    c->id = cJSON_Duplicate(id, true);
    c->token = cJSON_IsString(token) || cJSON_IsNumber(token) ? cJSON_Duplicate(token, true) : NULL;
    c->arguments = cJSON_Duplicate(json_get(params, "arguments"), true);
}

/* Its request, or the answer why there is none. */
static void make(struct mcp *m, struct mcp_call *c)
{
    struct diags ds = { 0 };
    enum status st = request_make(c->tool, c->arguments, &m->roots, NULL, &c->request, &ds);
    c->made = st == ST_OK;
    if (!c->made) {
        mcp_refuse(m, c->id, c->revision, st, &ds);
        drop(m, c);
    }
    diags_free(&ds);
}

static struct mcp_call *next_call(struct mcp *m)
{
    struct mcp_call *c = NULL;
    for (size_t i = 0; i < MCP_CALLS; i++) {
        struct mcp_call *k = &m->call[i];
        if (k->used && !k->running && (!c || k->turn < c->turn))
            c = k;
    }
    return c;
}

void mcp_call_next(struct mcp *m)
{
    if (mcp_roots_awaited(m))
        return;
    for (size_t i = 0; i < MCP_CALLS; i++)
        if (m->call[i].used && !m->call[i].made)
            make(m, &m->call[i]);
    for (struct mcp_call *c; m->running < m->jobs && (c = next_call(m));) {
        struct diags ds = { 0 };
        enum status st = job_start(&c->job, m->o->self, &c->request, NULL, 0, &ds);
        if (st == ST_OK) {
            c->running = true;
            m->running++;
        } else {
            mcp_refuse(m, c->id, c->revision, st, &ds);
            drop(m, c);
        }
        diags_free(&ds);
    }
}

/* What is told must grow, and somebody who hears nothing for long gives up: a phase without steps of its
 * own is told as a small part of what is left. */
static void tell(struct mcp *m, struct mcp_call *c)
{
    int64_t now = base_now_ns(), last = c->told_ns ? c->told_ns : c->begun_ns;
    bool step = c->job.moved && now - last >= (c->told_ns ? TELL_NS : 0) &&
                (!c->told_ns || c->job.done > c->told),
         silent = now - last >= SILENT_NS;
    struct buf words = { 0 };
    if (!c->token || c->cancelled || (!step && !silent))
        return;
    c->told = step ? c->job.done : c->told + (1 - c->told) * SILENT_STEP;
    c->told_ns = now;
    c->job.moved = false;
    buf_puts(&words, c->job.what[0] ? c->job.what : c->running ? "at work" : "waits for other calls");
    if (!step)
        buf_printf(&words, " (%.0f s)", 1e-9 * (double)(now - c->begun_ns));
    mcp_progress(m, c, words.s ? words.s : "");
    buf_free(&words);
}

void mcp_call_poll(struct mcp *m)
{
    for (size_t i = 0; i < MCP_CALLS; i++) {
        struct mcp_call *c = &m->call[i];
        struct job_end end;
        if (!c->used)
            continue;
        bool ended = c->running && job_poll(&c->job, &end);
        tell(m, c);
        if (ended)
            request_tidy(&c->request);
        if (ended && !c->cancelled)
            mcp_answer(m, c, &end);
        if (ended)
            drop(m, c);
    }
}

void mcp_call_cancel(struct mcp *m, const cJSON *id)
{
    struct mcp_call *c = call_of(m, id);
    if (!c)
        return;
    c->cancelled = true;
    if (c->running)
        job_stop(&c->job);
    else
        drop(m, c);
}

void mcp_call_end_all(struct mcp *m)
{
    const struct timespec nap = { 0, 10000000 };
    for (size_t i = 0; i < MCP_CALLS; i++)
        if (m->call[i].used)
            mcp_call_cancel(m, m->call[i].id);
    for (int tries = 0; m->running && tries < END_TRIES; tries++) {
        nanosleep(&nap, NULL);
        mcp_call_poll(m);
    }
    for (size_t i = 0; i < MCP_CALLS; i++)
        if (m->call[i].used)
            drop(m, &m->call[i]);
    for (size_t i = 0; i < MCP_DOCUMENTS; i++)
        buf_free(&m->document[i].text);
}
