/* What the MCP server answers at once: itself, its tools, the documents it keeps. */
#include "engine/base/base.h"
#include "engine/base/version.h"
#include "engine/service/mcp_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MS 3600000u /* tools never change while the server runs */

static const char instructions[] =
    "gpulocw analyses, rewrites and runs NVIDIA PTX kernels on a simulated GPU; no GPU is needed. Begin "
    "with analyze; without a launch description call launch for a first guess and edit it. run gives "
    "time "
    "and counters of one configuration, sweep the curve over the bypass threshold, tune a "
    "recommendation "
    "with its proof. Times say whether they are simulated, modelled or measured. exit 3 means that a "
    "rewrite is not proven legal; the diagnostics name the line.";

static void put_server(struct buf *body)
{
    buf_puts(body, "\"serverInfo\":{\"name\":\"gpulocw\",\"title\":\"GPU locality workbench\","
                   "\"version\":\"" GPULOCW_VERSION "\"},\"instructions\":");
    buf_json(body, str_of(instructions));
}

static const char capabilities[] = "\"capabilities\":{\"tools\":{},\"resources\":{}},";

void mcp_initialize(struct mcp *m, const cJSON *id, const cJSON *params)
{
    const char *asked = json_text(params, "protocolVersion");
    struct buf body = { 0 };
    if (!asked) {
        mcp_fail(m, id, MCP_INVALID_PARAMS, "initialize needs protocolVersion", NULL);
        return;
    }
    m->revision = MCP_STATELESS + 1;
    for (int r = MCP_STATELESS + 1; r < MCP_REVISIONS; r++)
        if (strcmp(asked, mcp_revision_names[r]) == 0)
            m->revision = (enum mcp_revision)r;
    m->agreed = true;
    buf_printf(&body, "{\"protocolVersion\":\"%s\",%s", mcp_revision_names[m->revision], capabilities);
    put_server(&body);
    buf_puts(&body, "}");
    mcp_result(m, id, m->revision, &body);
    buf_free(&body);
}

static void put_revisions(struct buf *out)
{
    buf_puts(out, "[");
    for (int r = 0; r <= MCP_STATELESS; r++)
        buf_printf(out, "%s\"%s\"", r ? "," : "", mcp_revision_names[r]);
    buf_puts(out, "]");
}

void mcp_discover(struct mcp *m, const cJSON *id, enum mcp_revision r)
{
    struct buf body = { 0 };
    mcp_open(&body, r);
    mcp_cache(&body, r, LIST_MS);
    buf_puts(&body, "\"supportedVersions\":");
    put_revisions(&body);
    buf_printf(&body, ",%s", capabilities);
    put_server(&body);
    buf_puts(&body, ",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"gpulocw\","
                    "\"version\":\"" GPULOCW_VERSION "\"}}}");
    mcp_result(m, id, r, &body);
    buf_free(&body);
}

void mcp_unsupported(struct mcp *m, const cJSON *id, const char *asked)
{
    struct buf data = { 0 };
    buf_puts(&data, "{\"supported\":");
    put_revisions(&data);
    buf_puts(&data, ",\"requested\":");
    buf_json(&data, str_of(asked));
    buf_puts(&data, "}");
    mcp_fail(m, id, MCP_UNSUPPORTED_REVISION, "this revision of the protocol is not supported", data.s);
    buf_free(&data);
}

void mcp_list_tools(struct mcp *m, const cJSON *id, enum mcp_revision r)
{
    struct buf body = { 0 };
    mcp_open(&body, r);
    mcp_cache(&body, r, LIST_MS);
    buf_puts(&body, "\"tools\":");
    service_tools(&body);
    buf_puts(&body, "}");
    mcp_result(m, id, r, &body);
    buf_free(&body);
}

static const char *mime(const struct tool *t)
{
    return t->document == TOOL_JSON ? "application/json" : "text/plain";
}

void mcp_list_resources(struct mcp *m, const cJSON *id, enum mcp_revision r)
{
    struct buf body = { 0 };
    const char *comma = "";
    mcp_open(&body, r);
    mcp_cache(&body, r, 0);
    buf_puts(&body, "\"resources\":[");
    for (size_t i = 0; i < MCP_DOCUMENTS; i++) {
        const struct mcp_document *d = &m->document[i];
        if (!d->number)
            continue;
        buf_printf(&body,
                   "%s{\"uri\":\"%s%" PRIu64 "\",\"name\":\"%s %" PRIu64
                   "\",\"mimeType\":\"%s\",\"size\":%zu}",
                   comma, MCP_URI, d->number, d->tool->name, d->number, mime(d->tool), d->text.n);
        comma = ",";
    }
    buf_puts(&body, "]}");
    mcp_result(m, id, r, &body);
    buf_free(&body);
}

void mcp_list_templates(struct mcp *m, const cJSON *id, enum mcp_revision r)
{
    struct buf body = { 0 };
    mcp_open(&body, r);
    mcp_cache(&body, r, LIST_MS);
    buf_puts(&body,
             "\"resourceTemplates\":[{\"uriTemplate\":\"" MCP_URI "{number}\",\"name\":\"document\","
             "\"title\":\"Document of a call\",\"description\":\"The whole document of an earlier "
             "call of a tool\"}]}");
    mcp_result(m, id, r, &body);
    buf_free(&body);
}

static const struct mcp_document *document_of(const struct mcp *m, const char *uri)
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
    const struct mcp_document *d = document_of(m, uri);
    struct buf body = { 0 };
    if (!d) {
        struct buf data = { 0 };
        buf_puts(&data, "{\"uri\":");
        buf_json(&data, str_of(uri ? uri : ""));
        buf_puts(&data, "}");
        mcp_fail(m, id, r <= MCP_STATELESS ? MCP_INVALID_PARAMS : MCP_NO_RESOURCE,
                 "no such document; the last 64 are kept", data.s);
        buf_free(&data);
        return;
    }
    mcp_open(&body, r);
    mcp_cache(&body, r, LIST_MS);
    buf_printf(&body, "\"contents\":[{\"uri\":\"%s%" PRIu64 "\",\"mimeType\":\"%s\",\"text\":", MCP_URI,
               d->number, mime(d->tool));
    buf_json(&body, (struct str){ d->text.s ? d->text.s : "", d->text.n });
    buf_puts(&body, "}]}");
    mcp_result(m, id, r, &body);
    buf_free(&body);
}
