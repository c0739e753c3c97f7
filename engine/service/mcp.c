/* The Model Context Protocol over two descriptors: reading messages, choosing the method. The protocol:
 * modelcontextprotocol.io/specification. */
#include "engine/base/io.h"
#include "engine/service/mcp_int.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define WAIT_MS      50 /* between looks at processes that have closed their pipes */

/* The revision of a request: its own, or what "initialize" agreed on. False: it was answered, with why
 * not. */
static bool revision_of(struct mcp *m, const cJSON *id, const cJSON *params, enum mcp_revision *r)
{
    const char *own = json_text(json_get(params, "_meta"), META_VERSION);
    if (own && strcmp(own, mcp_revision_names[MCP_STATELESS]) == 0) {
        *r = MCP_STATELESS;
        return true;
    }
    if (own) {
        mcp_unsupported(m, id, own);
        return false;
    }
    *r = m->revision;
    if (!m->agreed)
        mcp_fail(m, id, MCP_INVALID_PARAMS,
                 "which revision? send initialize first, or name " META_VERSION " in params._meta",
                 NULL);
    return m->agreed;
}

static void request(struct mcp *m, const cJSON *id, const char *method, const cJSON *params)
{
    enum mcp_revision r;
    if (strcmp(method, "initialize") == 0) {
        mcp_initialize(m, id, params);
        return;
    }
    if (strcmp(method, "ping") == 0) {
        struct mcp_message empty;
        mcp_begin(&empty, id, MCP_STATELESS + 1);
        mcp_send(m, &empty);
        return;
    }
    if (!revision_of(m, id, params, &r))
        return;
    if (strcmp(method, "tools/call") == 0)
        mcp_call_begin(m, id, r, params);
    else if (strcmp(method, "tools/list") == 0)
        mcp_list_tools(m, id, r);
    else if (strcmp(method, "resources/list") == 0)
        mcp_list_resources(m, id, r);
    else if (strcmp(method, "resources/templates/list") == 0)
        mcp_list_templates(m, id, r);
    else if (strcmp(method, "resources/read") == 0)
        mcp_read_resource(m, id, r, params);
    else if (strcmp(method, "server/discover") == 0 && r <= MCP_STATELESS)
        mcp_discover(m, id, r);
    else
        mcp_fail(m, id, MCP_NO_METHOD, "no such method", NULL);
}

static void notification(struct mcp *m, const char *method, const cJSON *params)
{
    if (strcmp(method, "notifications/cancelled") == 0)
        mcp_call_cancel(m, json_get(params, "requestId"));
    else if (strcmp(method, "notifications/initialized") == 0 ||
             strcmp(method, "notifications/roots/list_changed") == 0)
        mcp_roots_ask(m);
}

static void message(struct mcp *m, const char *line, size_t n)
{
    struct diags ds = { 0 };
    cJSON *o = json_parse("message", line, n, &ds);
    const cJSON *id = json_get(o, "id"), *params = json_get(o, "params");
    const char *method = json_text(o, "method"), *version = json_text(o, "jsonrpc");
    bool named = cJSON_IsString(id) || cJSON_IsNumber(id);
    if (!o)
        mcp_fail(m, NULL, MCP_PARSE, ds.n && ds.v[0].msg ? ds.v[0].msg : "not valid JSON", NULL);
    else if (!cJSON_IsObject(o))
        mcp_fail(m, NULL, MCP_INVALID_REQUEST, "a message is one object; there are no batches", NULL);
    else if (!version || strcmp(version, "2.0") != 0)
        mcp_fail(m, named ? id : NULL, MCP_INVALID_REQUEST, "\"jsonrpc\" must be \"2.0\"", NULL);
    else if (!method && (json_get(o, "result") || json_get(o, "error")))
        mcp_roots_answer(m, id, json_get(o, "result")); /* else: to nothing that was asked */
    else if (!method || (id && !named))
        mcp_fail(m, named ? id : NULL, MCP_INVALID_REQUEST,
                 method ? "an id is a string or a number" : "no method", NULL);
    else if (params && !cJSON_IsObject(params))
        mcp_fail(m, id, MCP_INVALID_PARAMS, "params is an object", NULL);
    else if (!id)
        notification(m, method, params);
    else if (mcp_call_known(m, id))
        mcp_fail(m, id, MCP_INVALID_REQUEST, "a request with this id is already running", NULL);
    else
        request(m, id, method, params);
    cJSON_Delete(o);
    diags_free(&ds);
}

static bool blank(const char *s, size_t n)
{
    size_t k = 0;
    while (k < n && (s[k] == ' ' || s[k] == '\r' || s[k] == '\t'))
        k++;
    return k == n;
}

/* A line that is longer than any message is dropped as it comes, and answered once. */
static void too_long(struct mcp *m)
{
    if (!m->skipping)
        mcp_fail(m, NULL, MCP_INVALID_REQUEST, "this message is longer than 16 MiB", NULL);
    m->skipping = true;
    buf_clear(&m->in);
}

static void messages(struct mcp *m)
{
    size_t at = 0;
    for (char *end; at < m->in.n && (end = memchr(m->in.s + at, '\n', m->in.n - at));) {
        size_t n = (size_t)(end - (m->in.s + at));
        if (!m->skipping && !blank(m->in.s + at, n))
            message(m, m->in.s + at, n);
        m->skipping = false;
        at += n + 1;
    }
    if (at) {
        struct buf rest = { .oom = m->in.oom };
        buf_put(&rest, m->in.s + at, m->in.n - at);
        buf_free(&m->in);
        m->in = rest;
    }
    if (m->in.n > MCP_MOST_MESSAGE)
        too_long(m);
}

/* False: the client has closed its end. */
static bool take_input(struct mcp *m)
{
    char piece[65536];
    ssize_t n = base_read(m->o->in, piece, sizeof piece);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    if (n == 0)
        return false;
    buf_put(&m->in, piece, (size_t)n);
    messages(m);
    return !m->in.oom;
}

/* Waits for the client or a process. True: the client has written or closed its end. */
static bool wait_for(struct mcp *m)
{
    struct pollfd p[2 + 2 * MCP_CALLS];
    nfds_t n = 2;
    p[0] = (struct pollfd){ .fd = m->ended ? -1 : m->o->in, .events = POLLIN };
    p[1] = (struct pollfd){ .fd = m->o->out }; /* told when nobody reads any more */
    for (size_t i = 0; i < MCP_CALLS; i++) {
        const struct mcp_call *c = &m->call[i];
        if (!c->used || !c->running)
            continue;
        p[n++] = (struct pollfd){ .fd = c->job.out, .events = POLLIN };
        p[n++] = (struct pollfd){ .fd = c->job.steps, .events = POLLIN };
    }
    if (poll(p, n, WAIT_MS) <= 0)
        return false;
    m->gone = m->gone || (p[1].revents & (POLLERR | POLLNVAL));
    return p[0].revents != 0;
}

enum status service_mcp(const struct service_mcp_opts *o, struct diags *ds)
{
    static const char *const here[] = { "." };
    struct mcp *m = base_alloc(sizeof *m);
    if (!m)
        return ST_NOMEM;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    m->o = o;
    m->roots = o->roots;
    if (!o->roots.n)
        m->roots = (struct service_roots){ here, 1 };
    m->jobs = o->jobs ? o->jobs : cpus > 0 ? (unsigned)cpus : 1;
    while (!(m->ended && !mcp_call_any(m)) && !m->gone && !cancel_asked(o->cancel)) {
        if (wait_for(m))
            m->ended = !take_input(m);
        mcp_call_next(m);
        mcp_call_poll(m);
    }
    bool gone = m->gone;
    bool asks = !m->ended;
    mcp_call_end_all(m);
    mcp_roots_free(m);
    buf_free(&m->in);
    base_free(m);
    if (gone && asks)
        diag_error(ds, "client", "the client has closed the connection");
    return gone && asks ? ST_IO : ST_OK;
}
