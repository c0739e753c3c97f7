/* What a call of a tool answers: a summary that an agent can read, and where the rest is. */
#include "engine/service/mcp_int.h"

#include <string.h>

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

/* Takes the text of the job; NULL: it is too large to be kept. */
static const struct mcp_document *store(struct mcp *m, struct mcp_call *c)
{
    struct mcp_document *at = NULL;
    if (c->job.text.n > MCP_MOST_STORED || c->job.text.oom)
        return NULL;
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
    *at = (struct mcp_document){ ++m->documents, c->tool, c->job.text.n && c->job.text.s[0] == '{',
                                 c->job.text };
    c->job.text = (struct buf){ 0 };
    return at;
}

/* ---- the answer ---- */
/* How much is told at most, from much to little: the first that fits is taken. */
static const struct summary_room rooms[] = { { 48, 2000 }, { 24, 1200 }, { 12, 800 },
                                             { 8, 500 },   { 5, 300 },   { 3, 200 },
                                             { 2, 160 },   { 1, 120 },   { 0, 80 } };

/* The arguments of rewrite for what tune recommends. */
static void put_next(const struct mcp_call *c, const cJSON *document, struct jw *w)
{
    static const char *const same[] = { "file", "kernel", "launch", "device", "arch" };
    const char *line = json_text(document, "options_line"), *kernel = json_text(document, "kernel");
    if (strcmp(c->tool->name, "tune") != 0 || !line || !*line)
        return;
    jw_put_obj(w, "next");
    jw_put_str(w, "tool", "rewrite");
    jw_put_obj(w, "arguments");
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        const cJSON *v = json_get(c->arguments, same[i]);
        if (v && (cJSON_IsString(v) || cJSON_IsArray(v))) {
            jw_key(w, same[i]);
            jw_tree(w, v);
        } else if (strcmp(same[i], "kernel") == 0 && kernel) {
            jw_put_str(w, same[i], kernel);
        }
    }
    jw_put_str(w, "options", line);
    jw_put_str(w, "prove", "full");
    jw_end_obj(w);
    jw_end_obj(w);
}

/* The record `answer` of fields.def. */
static void put_answer(const struct mcp_call *c, const struct job_end *end, const struct mcp_document *d,
                       const cJSON *document, struct summary_room room, struct jw *w)
{
    jw_obj(w);
    jw_put_int(w, "exit", end->code);
    jw_key(w, "diagnostics");
    summary_diagnostics(&c->job, &room, w);
    if (document) {
        jw_key(w, "summary");
        summary_put(c->tool, document, room, w);
        put_next(c, document, w);
    } else if (d) {
        size_t n = d->text.n < room.text ? d->text.n : room.text;
        while (n < d->text.n && n && ((unsigned char)d->text.s[n] & 0xC0) == 0x80)
            n--;
        jw_put_view(w, "text", (struct str){ d->text.s, n });
    }
    if (d) {
        mcp_put_uri(w, "document", d);
        jw_put_uint(w, "bytes", d->text.n);
    }
    jw_end_obj(w);
}

void mcp_put_content(struct mcp_message *g, struct str text, const struct mcp_document *link)
{
    struct jw *w = &g->w;
    jw_put_arr(w, "content");
    jw_obj(w);
    jw_put_str(w, "type", "text");
    jw_put_view(w, "text", text);
    jw_end_obj(w);
    if (link) {
        jw_obj(w);
        jw_put_str(w, "type", "resource_link");
        mcp_put_document(w, link);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

bool mcp_is_short(const struct mcp_message *g)
{
    return g->text.oom || g->text.n + 2 - g->result <= MCP_MOST_RESULT; /* 2: its braces */
}

/* What went wrong in words, and with structure. */
static void put_failure(struct mcp_message *g, struct str words, const struct buf *said)
{
    mcp_put_content(g, words, NULL);
    jw_key(&g->w, "structuredContent");
    jw_raw(&g->w, (struct str){ said->s ? said->s : "null", said->s ? said->n : 4 });
    jw_put_bool(&g->w, "isError", true);
}

static void put_result(struct mcp_message *g, const struct mcp_call *c, const struct mcp_document *d,
                       const struct buf *said)
{
    mcp_put_content(g, (struct str){ said->s ? said->s : "", said->n },
                    c->revision < MCP_2024_11_05 ? d : NULL);
    jw_put_bool(&g->w, "isError", false);
}

void mcp_answer(struct mcp *m, struct mcp_call *c, const struct job_end *end)
{
    struct buf words = { 0 };
    struct mcp_message g = { .text = { 0 } };
    bool failed = end->code && !c->job.text.n, fits = false;
    const struct mcp_document *d = c->job.text.n && !c->job.too_long ? store(m, c) : NULL;
    cJSON *document = d && d->json ? json_parse("document", d->text.s, d->text.n, NULL) : NULL;
    if (failed)
        summary_words(&c->job, end->code, &words);
    for (size_t i = 0; i < ARRAY_LEN(rooms) && !fits; i++) {
        size_t most = 2 * rooms[i].text;
        struct buf said = { 0 };
        struct jw w = jw_open(&said, 0);
        put_answer(c, end, d, document, rooms[i], &w);
        buf_free(&g.text);
        mcp_begin(&g, c->id, c->revision);
        if (failed)
            put_failure(&g, (struct str){ words.s, words.n < most ? words.n : most }, &said);
        else
            put_result(&g, c, d, &said);
        buf_free_checked(&said, &g.text);
        fits = mcp_is_short(&g);
    }
    mcp_send(m, &g);
    cJSON_Delete(document);
    buf_free(&words);
}

void mcp_refuse(struct mcp *m, const cJSON *id, enum mcp_revision r, enum status st, struct diags *ds)
{
    struct buf said = { 0 }, words = { 0 };
    struct mcp_message g;
    struct jw w = jw_open(&said, 0);
    diags_print(ds, &words);
    if (!words.n)
        buf_puts(&words, status_text(st));
    jw_obj(&w);
    jw_put_int(&w, "exit", status_exit_code(st));
    jw_key(&w, "diagnostics");
    diags_json(ds, &w);
    jw_end_obj(&w);
    mcp_begin(&g, id, r);
    put_failure(&g, (struct str){ words.s ? words.s : "", words.n }, &said);
    buf_free_checked(&said, &g.text);
    buf_free_checked(&words, &g.text);
    mcp_send(m, &g);
}
