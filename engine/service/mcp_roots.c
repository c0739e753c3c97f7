/* The folders of the client: asked for where the command line names none. */
#include "engine/service/mcp_int.h"

#include <string.h>

#define ROOTS_ID      "roots"
#define ROOTS_WAIT_NS INT64_C(2000000000) /* calls wait so long for the answer */

void mcp_roots_ask(struct mcp *m)
{
    if (m->o->roots.n || !m->client.has || m->client.asked_ns)
        return;
    m->client.asked_ns = base_now_ns();
    mcp_ask(m, ROOTS_ID, "roots/list");
}

bool mcp_roots_awaited(struct mcp *m)
{
    if (m->client.asked_ns && base_now_ns() - m->client.asked_ns > ROOTS_WAIT_NS)
        m->client.asked_ns = 0;
    return m->client.asked_ns != 0 && !m->ended;
}

void mcp_roots_free(struct mcp *m)
{
    for (size_t i = 0; i < m->client.n; i++)
        base_free(m->client.folder[i]);
    m->client.n = 0;
}

static int hex(char c)
{
    const char *digits = "0123456789abcdef",
               *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The path of a file: URI without a host; owned; NULL: it is something else. */
static char *path_of(const char *uri)
{
    static const char scheme[] = "file://", host[] = "localhost";
    struct buf path = { 0 };
    if (!uri || strncmp(uri, scheme, sizeof scheme - 1) != 0)
        return NULL;
    const char *p = uri + sizeof scheme - 1;
    p += strncmp(p, host, sizeof host - 1) == 0 ? sizeof host - 1 : 0;
    if (*p != '/')
        return NULL;
    while (*p) {
        int high = *p == '%' ? hex(p[1]) : -1, low = high >= 0 ? hex(p[2]) : -1;
        char c = low >= 0 ? (char)(16 * high + low) : *p;
        buf_put(&path, &c, 1);
        p += low >= 0 ? 3 : 1;
    }
    return buf_take(&path);
}

bool mcp_roots_answer(struct mcp *m, const cJSON *id, const cJSON *result)
{
    const cJSON *one, *list = json_get(result, "roots");
    if (!cJSON_IsString(id) || strcmp(id->valuestring, ROOTS_ID) != 0)
        return false;
    m->client.asked_ns = 0;
    if (!cJSON_IsArray(list))
        return true;
    mcp_roots_free(m);
    cJSON_ArrayForEach(one, list)
    {
        char *path = m->client.n < MCP_MOST_ROOTS ? path_of(json_text(one, "uri")) : NULL;
        if (path)
            m->client.folder[m->client.n++] = path;
    }
    if (m->client.n)
        m->roots = (struct service_roots){ (const char *const *)m->client.folder, m->client.n };
    return true;
}
