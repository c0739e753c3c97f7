/* The messages of the MCP server: one JSON-RPC message a line. */
#include "engine/base/base.h"
#include "engine/base/io.h"
#include "engine/service/mcp_int.h"

#include <errno.h>
#include <poll.h>

const char *const mcp_revision_names[MCP_REVISIONS] = { "2026-07-28", "2025-11-25", "2025-06-18",
                                                        "2024-11-05" };

/* A client that has gone, or a message without memory: nothing more is written. */
static void send(struct mcp *m, const struct buf *line)
{
    m->gone = m->gone || line->oom;
    for (size_t at = 0; !m->gone && at < line->n;) {
        ssize_t n = base_write(m->o->out, line->s + at, line->n - at);
        if (n < 0 && errno == EAGAIN) {
            struct pollfd room = { .fd = m->o->out, .events = POLLOUT };
            poll(&room, 1, -1);
        } else if (n < 0 && errno != EINTR) {
            m->gone = true;
        }
        at += n > 0 ? (size_t)n : 0;
    }
}

static void put_id(struct buf *line, const cJSON *id)
{
    struct jw w = jw_open(line, 0);
    if (id)
        jw_tree(&w, id);
    else
        buf_puts(line, "null");
}

void mcp_result(struct mcp *m, const cJSON *id, enum mcp_revision r, const struct buf *body)
{
    struct buf line = { .oom = body->oom };
    (void)r;
    buf_puts(&line, "{\"jsonrpc\":\"2.0\",\"id\":");
    put_id(&line, id);
    buf_puts(&line, ",\"result\":");
    buf_put(&line, body->s, body->n);
    buf_puts(&line, "}\n");
    send(m, &line);
    buf_free(&line);
}

void mcp_fail(struct mcp *m, const cJSON *id, enum mcp_error code, const char *message, const char *data)
{
    struct buf line = { 0 };
    buf_puts(&line, "{\"jsonrpc\":\"2.0\",\"id\":");
    put_id(&line, id);
    buf_printf(&line, ",\"error\":{\"code\":%d,\"message\":", (int)code);
    buf_json(&line, str_of(message));
    if (data)
        buf_printf(&line, ",\"data\":%s", data);
    buf_puts(&line, "}}\n");
    send(m, &line);
    buf_free(&line);
}

void mcp_progress(struct mcp *m, struct mcp_call *c)
{
    struct buf line = { 0 };
    buf_puts(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                    "\"progressToken\":");
    put_id(&line, c->token);
    buf_printf(&line, ",\"progress\":%.4f,\"total\":1,\"message\":", c->job.done);
    buf_json(&line, str_of(c->job.what));
    buf_puts(&line, "}}\n");
    send(m, &line);
    buf_free(&line);
}

void mcp_open(struct buf *body, enum mcp_revision r)
{
    buf_puts(body, "{");
    if (r <= MCP_STATELESS)
        buf_puts(body, "\"resultType\":\"complete\",");
}

void mcp_cache(struct buf *body, enum mcp_revision r, unsigned ms)
{
    if (r <= MCP_STATELESS)
        buf_printf(body, "\"ttlMs\":%u,\"cacheScope\":\"private\",", ms);
}
