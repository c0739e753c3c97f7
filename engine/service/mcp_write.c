/* The messages of the MCP server: one JSON-RPC message a line. */
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

/* Begins a message up to its id, or where it has none (NULL) its method. */
static void open_message(struct mcp_message *g, const cJSON *id, const char *method)
{
    *g = (struct mcp_message){ .text = { 0 } };
    g->w = jw_open(&g->text, 0);
    jw_obj(&g->w);
    jw_put_str(&g->w, "jsonrpc", "2.0");
    if (method) {
        jw_put_str(&g->w, "method", method);
        return;
    }
    jw_key(&g->w, "id");
    jw_tree(&g->w, id);
}

void mcp_begin(struct mcp_message *g, const cJSON *id, enum mcp_revision r)
{
    open_message(g, id, NULL);
    jw_put_obj(&g->w, "result");
    g->result = g->text.n;
    if (r <= MCP_STATELESS)
        jw_put_str(&g->w, "resultType", "complete");
}

void mcp_send(struct mcp *m, struct mcp_message *g)
{
    jw_end_obj(&g->w);
    jw_end_obj(&g->w);
    buf_puts(&g->text, "\n");
    send(m, &g->text);
    buf_free(&g->text);
}

void mcp_fail(struct mcp *m, const cJSON *id, enum mcp_error code, const char *message,
              const struct buf *data)
{
    struct mcp_message g;
    open_message(&g, id, NULL);
    jw_put_obj(&g.w, "error");
    jw_put_int(&g.w, "code", code);
    jw_put_str(&g.w, "message", message);
    if (data) {
        jw_key(&g.w, "data");
        jw_raw(&g.w, (struct str){ data->s, data->n });
    }
    mcp_send(m, &g);
}

void mcp_progress(struct mcp *m, struct mcp_call *c, const char *message)
{
    struct mcp_message g;
    open_message(&g, NULL, "notifications/progress");
    jw_put_obj(&g.w, "params");
    jw_key(&g.w, "progressToken");
    jw_tree(&g.w, c->token);
    jw_put_num(&g.w, "progress", c->told);
    jw_put_int(&g.w, "total", 1);
    jw_put_str(&g.w, "message", message);
    mcp_send(m, &g);
}

void mcp_ask(struct mcp *m, const char *id, const char *method)
{
    struct buf line = { 0 };
    struct jw w = jw_open(&line, 0);
    jw_obj(&w);
    jw_put_str(&w, "jsonrpc", "2.0");
    jw_put_str(&w, "id", id);
    jw_put_str(&w, "method", method);
    jw_end_obj(&w);
    buf_puts(&line, "\n");
    send(m, &line);
    buf_free(&line);
}

void mcp_cache(struct mcp_message *g, enum mcp_revision r, unsigned ms)
{
    if (r > MCP_STATELESS)
        return;
    jw_put_uint(&g->w, "ttlMs", ms);
    jw_put_str(&g->w, "cacheScope", "private");
}
