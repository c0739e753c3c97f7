/* What the MCP server answers at once: itself, its tools, the documents it keeps. */
#include "engine/base/version.h"
#include "engine/service/mcp_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MS 3600000u /* tools never change while the server runs */

static const char instructions[] =
    "gpulocw analyses, rewrites and runs NVIDIA PTX kernels on a simulated GPU; no GPU is needed. "
    "What does it do with memory: analyze. No launch description: launch with output, then edit sizes. "
    "How long does it take and what limits it: run. Which change helps: tune with output S.json; its "
    "next "
    "are the arguments of rewrite, which writes the PTX and says what is proven. What to change in the "
    "source: source with file S.json. Bugs: check. An answer has exit (0 done, 1 bad input, 2 wrong "
    "arguments, 3 refused as not legal, or errors found, 4 device trouble, 5 outputs differ), "
    "diagnostics "
    "with lines and what to do, and summary or text. What it cut is in document: the tool read, or "
    "resources/read. Times say what they rest on: modelled, simulated or measured. ";

/* Where files lie. The folders of a client that are asked for later cannot be named here. */
static void put_roots(const struct mcp *m, struct buf *text)
{
    if (!m->o->roots.n && m->client.has) {
        buf_puts(text, "Files lie in your own roots; relative paths start there.");
        return;
    }
    buf_puts(text, "Files lie below ");
    for (size_t i = 0; i < m->roots.n; i++) {
        char *real = realpath(m->roots.folder[i], NULL);
        buf_printf(text, "%s%s", i ? ", " : "", real ? real : m->roots.folder[i]);
        free(real);
    }
    buf_puts(text, "; relative paths start there.");
}

static void put_server(const struct mcp *m, struct jw *w)
{
    struct buf text = { 0 };
    buf_puts(&text, instructions);
    put_roots(m, &text);
    jw_put_obj(w, "serverInfo");
    jw_put_str(w, "name", "gpulocw");
    jw_put_str(w, "title", "GPU locality workbench");
    jw_put_str(w, "version", GPULOCW_VERSION);
    jw_end_obj(w);
    jw_put_view(w, "instructions", (struct str){ text.s ? text.s : "", text.n });
    buf_free_checked(&text, w->out);
}

static void put_capabilities(struct jw *w)
{
    static const char *const have[] = { "tools", "resources" };
    jw_put_obj(w, "capabilities");
    for (size_t i = 0; i < ARRAY_LEN(have); i++) {
        jw_put_obj(w, have[i]);
        jw_end_obj(w);
    }
    jw_end_obj(w);
}

void mcp_initialize(struct mcp *m, const cJSON *id, const cJSON *params)
{
    const char *asked = json_text(params, "protocolVersion");
    struct mcp_message g;
    if (!asked) {
        mcp_fail(m, id, MCP_INVALID_PARAMS, "initialize needs protocolVersion", NULL);
        return;
    }
    m->revision = MCP_STATELESS + 1;
    for (int r = MCP_STATELESS + 1; r < MCP_REVISIONS; r++)
        if (strcmp(asked, mcp_revision_names[r]) == 0)
            m->revision = (enum mcp_revision)r;
    m->agreed = true;
    m->client.has = cJSON_IsObject(json_get(json_get(params, "capabilities"), "roots"));
    mcp_begin(&g, id, m->revision);
    jw_put_str(&g.w, "protocolVersion", mcp_revision_names[m->revision]);
    put_capabilities(&g.w);
    put_server(m, &g.w);
    mcp_send(m, &g);
}

static void put_revisions(struct jw *w, const char *key)
{
    jw_put_arr(w, key);
    for (int r = 0; r <= MCP_STATELESS; r++)
        jw_str(w, mcp_revision_names[r]);
    jw_end_arr(w);
}

void mcp_discover(struct mcp *m, const cJSON *id, enum mcp_revision r)
{
    struct mcp_message g;
    mcp_begin(&g, id, r);
    mcp_cache(&g, r, LIST_MS);
    put_revisions(&g.w, "supportedVersions");
    put_capabilities(&g.w);
    put_server(m, &g.w);
    jw_put_obj(&g.w, "_meta");
    jw_put_obj(&g.w, "io.modelcontextprotocol/serverInfo");
    jw_put_str(&g.w, "name", "gpulocw");
    jw_put_str(&g.w, "version", GPULOCW_VERSION);
    jw_end_obj(&g.w);
    jw_end_obj(&g.w);
    mcp_send(m, &g);
}

void mcp_unsupported(struct mcp *m, const cJSON *id, const char *asked)
{
    struct buf data = { 0 };
    struct jw w = jw_open(&data, 0);
    jw_obj(&w);
    put_revisions(&w, "supported");
    jw_put_str(&w, "requested", asked);
    jw_end_obj(&w);
    mcp_fail(m, id, MCP_UNSUPPORTED_REVISION, "this revision of the protocol is not supported", &data);
    buf_free(&data);
}

void mcp_list_tools(struct mcp *m, const cJSON *id, enum mcp_revision r)
{
    struct mcp_message g;
    mcp_begin(&g, id, r);
    mcp_cache(&g, r, LIST_MS);
    jw_key(&g.w, "tools");
    service_tools(true, &g.w);
    mcp_send(m, &g);
}

static const char *mime(const struct mcp_document *d)
{
    return d->json ? "application/json" : "text/plain";
}

void mcp_put_uri(struct jw *w, const char *key, const struct mcp_document *d)
{
    struct buf text = { 0 };
    buf_printf(&text, MCP_URI "%" PRIu64, d->number);
    jw_put_str(w, key, text.s);
    buf_free_checked(&text, w->out);
}

void mcp_put_document(struct jw *w, const struct mcp_document *d)
{
    struct buf text = { 0 };
    mcp_put_uri(w, "uri", d);
    buf_printf(&text, "%s %" PRIu64, d->tool->name, d->number);
    jw_put_str(w, "name", text.s);
    jw_put_str(w, "mimeType", mime(d));
    buf_free_checked(&text, w->out);
}

void mcp_list_resources(struct mcp *m, const cJSON *id, enum mcp_revision r)
{
    struct mcp_message g;
    mcp_begin(&g, id, r);
    mcp_cache(&g, r, 0);
    jw_put_arr(&g.w, "resources");
    for (size_t i = 0; i < MCP_DOCUMENTS; i++) {
        const struct mcp_document *d = &m->document[i];
        if (!d->number)
            continue;
        jw_obj(&g.w);
        mcp_put_document(&g.w, d);
        jw_put_uint(&g.w, "size", d->text.n);
        jw_end_obj(&g.w);
    }
    jw_end_arr(&g.w);
    mcp_send(m, &g);
}

void mcp_list_templates(struct mcp *m, const cJSON *id, enum mcp_revision r)
{
    struct mcp_message g;
    mcp_begin(&g, id, r);
    mcp_cache(&g, r, LIST_MS);
    jw_put_arr(&g.w, "resourceTemplates");
    jw_obj(&g.w);
    jw_put_str(&g.w, "uriTemplate", MCP_URI "{number}");
    jw_put_str(&g.w, "name", "document");
    jw_put_str(&g.w, "title", "Document of a call");
    jw_put_str(&g.w, "description", "The whole document of an earlier call of a tool");
    jw_end_obj(&g.w);
    jw_end_arr(&g.w);
    mcp_send(m, &g);
}

const struct mcp_document *mcp_document_of(const struct mcp *m, const char *uri)
{
    size_t n = sizeof MCP_URI - 1;
    char *end = NULL;
    uint64_t number = uri && strncmp(uri, MCP_URI, n) == 0 ? strtoull(uri + n, &end, 10) : 0;
    for (size_t i = 0; number && end && !*end && i < MCP_DOCUMENTS; i++)
        if (m->document[i].number == number)
            return &m->document[i];
    return NULL;
}

void mcp_read_resource(struct mcp *m, const cJSON *id, enum mcp_revision r, const cJSON *params)
{
    const char *uri = json_text(params, "uri");
    const struct mcp_document *d = mcp_document_of(m, uri);
    struct mcp_message g;
    if (!d) {
        struct buf data = { 0 };
        struct jw w = jw_open(&data, 0);
        jw_obj(&w);
        jw_put_str(&w, "uri", uri ? uri : "");
        jw_end_obj(&w);
        mcp_fail(m, id, r <= MCP_STATELESS ? MCP_INVALID_PARAMS : MCP_NO_RESOURCE,
                 "no such document; the last 64 are kept", &data);
        buf_free(&data);
        return;
    }
    mcp_begin(&g, id, r);
    mcp_cache(&g, r, LIST_MS);
    jw_put_arr(&g.w, "contents");
    jw_obj(&g.w);
    jw_put_str(&g.w, "uri", uri);
    jw_put_str(&g.w, "mimeType", mime(d));
    jw_put_view(&g.w, "text", (struct str){ d->text.s ? d->text.s : "", d->text.n });
    jw_end_obj(&g.w);
    jw_end_arr(&g.w);
    mcp_send(m, &g);
}
