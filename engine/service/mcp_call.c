/* tools/call: a command in a process of its own, its progress, its answer. */
#include "engine/base/base.h"
#include "engine/service/mcp_int.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define TELL_NS INT64_C(100000000) /* progress is told ten times a second at most */
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

static void drop(struct mcp *m, struct mcp_call *c)
{
    m->running -= c->running ? 1 : 0;
    job_free(&c->job);
    request_free(&c->request);
    cJSON_Delete(c->id);
    cJSON_Delete(c->token);
    *c = (struct mcp_call){ .used = false };
}

/* ---- documents ---- */
static uint64_t stored_bytes(const struct mcp *m)
{
    uint64_t n = 0;
    for (size_t i = 0; i < MCP_DOCUMENTS; i++)
        n += m->document[i].text.n;
    return n;
}

static struct mcp_document *oldest(struct mcp *m)
{
    struct mcp_document *d = NULL;
    for (size_t i = 0; i < MCP_DOCUMENTS; i++)
        if (m->document[i].number && (!d || m->document[i].number < d->number))
            d = &m->document[i];
    return d;
}

/* Takes the text of the job; 0: it is too large to be kept. */
static uint64_t store(struct mcp *m, struct mcp_call *c)
{
    struct mcp_document *at = NULL;
    if (c->job.text.n > MCP_MOST_STORED || c->job.text.oom)
        return 0;
    for (struct mcp_document *d; stored_bytes(m) + c->job.text.n > MCP_MOST_STORED && (d = oldest(m));) {
        buf_free(&d->text);
        d->number = 0;
    }
    for (size_t i = 0; i < MCP_DOCUMENTS && !at; i++)
        at = m->document[i].number ? NULL : &m->document[i];
    if (!at) {
        at = oldest(m);
        buf_free(&at->text);
    }
    *at = (struct mcp_document){ ++m->documents, c->request.tool, c->job.text };
    c->job.text = (struct buf){ 0 };
    return at->number;
}

/* ---- the answer ---- */
/* {"exit","diagnostics","summary" or "text","document","bytes"} */
static void put_answer(struct mcp *m, struct mcp_call *c, int code, struct buf *out)
{
    const struct tool *t = c->request.tool;
    struct diags none = { 0 };
    size_t n = c->job.text.n;
    buf_printf(out, "{\"exit\":%d,\"diagnostics\":", code);
    summary_diagnostics(&c->job, out);
    if (n && t->document == TOOL_JSON) {
        cJSON *document = json_parse("document", c->job.text.s, n, &none);
        buf_puts(out, ",\"summary\":");
        summary_put(t, document, out);
        cJSON_Delete(document);
        diags_free(&none);
    } else if (n) {
        buf_puts(out, ",\"text\":");
        buf_json(out, (struct str){ c->job.text.s, n < MCP_TEXT_SHOWN ? n : MCP_TEXT_SHOWN });
    }
    uint64_t number = n && !c->job.too_long ? store(m, c) : 0;
    if (number)
        buf_printf(out, ",\"document\":\"%s%" PRIu64 "\",\"bytes\":%zu", MCP_URI, number, n);
    buf_puts(out, "}");
}

static void put_content(const struct mcp *m, const struct mcp_call *c, const struct buf *answer,
                        const struct buf *words, struct buf *body)
{
    const struct tool *t = c->request.tool;
    bool linked = strstr(answer->s ? answer->s : "", ",\"document\":\"" MCP_URI) != NULL;
    buf_puts(body, "\"content\":[{\"type\":\"text\",\"text\":");
    buf_json(body, words ? (struct str){ words->s ? words->s : "", words->n }
                         : (struct str){ answer->s ? answer->s : "", answer->n });
    buf_puts(body, "}");
    if (linked && c->revision < MCP_2024_11_05)
        buf_printf(body,
                   ",{\"type\":\"resource_link\",\"uri\":\"%s%" PRIu64 "\",\"name\":\"%s %" PRIu64
                   "\",\"mimeType\":\"%s\"}",
                   MCP_URI, m->documents, t->name, m->documents,
                   t->document == TOOL_JSON ? "application/json" : "text/plain");
    buf_puts(body, "]");
}

static void answer(struct mcp *m, struct mcp_call *c, const struct job_end *end)
{
    struct buf body = { 0 }, said = { 0 }, words = { 0 };
    bool failed = end->code && !c->job.text.n;
    put_answer(m, c, end->code, &said);
    if (failed)
        summary_words(&c->job, end->code, &words);
    body.oom = said.oom || words.oom;
    mcp_open(&body, c->revision);
    put_content(m, c, &said, failed ? &words : NULL, &body);
    buf_puts(&body, ",\"structuredContent\":");
    buf_put(&body, said.s, said.n);
    buf_printf(&body, ",\"isError\":%s}", failed ? "true" : "false");
    mcp_result(m, c->id, c->revision, &body);
    buf_free(&said);
    buf_free(&words);
    buf_free(&body);
}

/* Arguments that the tool cannot take: told to the model, which can mend them. */
static void refuse(struct mcp *m, const cJSON *id, enum mcp_revision r, enum status st, struct diags *ds)
{
    struct buf body = { 0 }, words = { 0 };
    diags_print(ds, &words);
    if (!words.n)
        buf_puts(&words, status_text(st));
    mcp_open(&body, r);
    buf_puts(&body, "\"content\":[{\"type\":\"text\",\"text\":");
    buf_json(&body, (struct str){ words.s, words.n });
    buf_printf(&body, "}],\"structuredContent\":{\"exit\":%d,\"diagnostics\":", status_exit_code(st));
    diags_json(ds, &body);
    buf_puts(&body, "},\"isError\":true}");
    mcp_result(m, id, r, &body);
    buf_free(&words);
    buf_free(&body);
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
    struct diags ds = { 0 };
    if (!t) {
        no_tool(m, id, name);
        return;
    }
    if (!c) {
        mcp_fail(m, id, MCP_INTERNAL, "too many calls are running; wait for one or cancel it", NULL);
        return;
    }
    struct request made;
    enum status st = request_make(t, json_get(params, "arguments"), &m->o->roots, NULL, &made, &ds);
    if (st == ST_OK) {
        *c = (struct mcp_call){ .used = true, .revision = r, .request = made, .turn = ++m->turns };
        c->job = (struct service_job){ .out = -1, .err = -1, .steps = -1 };
        c->id = cJSON_Duplicate(id, true);
        c->token = cJSON_IsString(token) || cJSON_IsNumber(token) ? cJSON_Duplicate(token, true) : NULL;
    } else {
        refuse(m, id, r, st, &ds);
        request_free(&made);
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
    for (struct mcp_call *c; m->running < m->jobs && (c = next_call(m));) {
        struct diags ds = { 0 };
        enum status st = job_start(&c->job, m->o->self, &c->request, NULL, 0, &ds);
        if (st == ST_OK) {
            c->running = true;
            m->running++;
        } else {
            refuse(m, c->id, c->revision, st, &ds);
            drop(m, c);
        }
        diags_free(&ds);
    }
}

static void tell(struct mcp *m, struct mcp_call *c)
{
    int64_t now = base_now_ns();
    if (!c->token || !c->job.moved || c->cancelled || now - c->told_ns < TELL_NS ||
        (c->told_ns && c->job.done <= c->told)) /* what is told must grow */
        return;
    c->told_ns = now;
    c->told = c->job.done;
    c->job.moved = false;
    mcp_progress(m, c);
}

void mcp_call_poll(struct mcp *m)
{
    for (size_t i = 0; i < MCP_CALLS; i++) {
        struct mcp_call *c = &m->call[i];
        struct job_end end;
        if (!c->used || !c->running)
            continue;
        bool ended = job_poll(&c->job, &end);
        tell(m, c);
        if (ended)
            request_tidy(&c->request);
        if (ended && !c->cancelled)
            answer(m, c, &end);
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
