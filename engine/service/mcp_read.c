/* The tool that reads on in a document: a part of it by path, a piece of it by offset. */
#include "engine/service/mcp_int.h"

#include <stdlib.h>
#include <string.h>

#define PIECE 3000 /* bytes of the text of a piece, at most; fewer where many must be escaped */

/* "kernels[0].loads[2]"; NULL: there is no such part. */
static const cJSON *part_of(const cJSON *v, const char *path)
{
    char key[128];
    while (v && *path) {
        path += *path == '.';
        size_t n = strcspn(path, ".[");
        if (*path == '[') {
            char *end = NULL;
            unsigned long i = strtoul(path + 1, &end, 10);
            v = *end == ']' && cJSON_IsArray(v) && i < 1u << 30 ? cJSON_GetArrayItem(v, (int)i) : NULL;
            path = *end == ']' ? end + 1 : "";
        } else if (n && n < sizeof key) {
            memcpy(key, path, n);
            key[n] = 0;
            v = json_get(v, key);
            path += n;
        } else {
            v = NULL;
        }
    }
    return v;
}

static void refuse(struct mcp *m, const cJSON *id, enum mcp_revision r, const char *what,
                   const char *hint)
{
    struct diags ds = { 0 };
    diag_hint(diag_add(&ds, DIAG_ERROR, "arguments", NULL, NO_SPAN, "%s", what), "%s", hint);
    mcp_refuse(m, id, r, ST_USAGE, &ds);
    diags_free(&ds);
}

/* The piece of `text` from `at`, and where the next begins. */
static void put_piece(struct str text, size_t at, size_t most, struct buf *out)
{
    size_t end = text.n - at > most ? at + most : text.n;
    while (end < text.n && end > at && ((unsigned char)text.s[end] & 0xC0) == 0x80)
        end--;
    struct jw w = jw_open(out, 0);
    jw_obj(&w);
    jw_put_view(&w, "text", (struct str){ text.s + at, end - at });
    jw_put_uint(&w, "offset", at);
    jw_put_uint_if(&w, "next", end < text.n, end);
    jw_put_uint(&w, "bytes", text.n);
    jw_end_obj(&w);
}

static void answer(struct mcp *m, const cJSON *id, enum mcp_revision r, struct str text, size_t at)
{
    struct mcp_message g = { .text = { 0 } };
    bool fits = false;
    for (size_t most = PIECE; !fits; most = most * 3 / 4) {
        struct buf said = { 0 };
        put_piece(text, at, most, &said);
        buf_free(&g.text);
        mcp_begin(&g, id, r);
        mcp_put_content(&g, (struct str){ said.s ? said.s : "", said.n }, NULL);
        jw_put_bool(&g.w, "isError", false);
        buf_free_checked(&said, &g.text);
        fits = mcp_is_short(&g) || most <= 100;
    }
    mcp_send(m, &g);
}

void mcp_read_piece(struct mcp *m, const cJSON *id, enum mcp_revision r, const cJSON *arguments)
{
    const struct mcp_document *d = mcp_document_of(m, json_text(arguments, "document"));
    const char *path = json_text(arguments, "path");
    const cJSON *offset = json_get(arguments, "offset");
    double at = cJSON_IsNumber(offset) ? offset->valuedouble : 0;
    struct buf part = { 0 };
    if (!d) {
        refuse(m, id, r, "there is no such document",
               "document is a URI of an earlier answer; the last 64 are kept");
        return;
    }
    cJSON *json = path && *path && d->json ? json_parse("document", d->text.s, d->text.n, NULL) : NULL;
    const cJSON *v = json ? part_of(json, path) : NULL;
    struct jw w = jw_open(&part, 0);
    if (v)
        jw_tree(&w, v);
    struct str text = v ? (struct str){ part.s, part.n } : (struct str){ d->text.s, d->text.n };
    if (path && *path && !v)
        refuse(m, id, r, "the document has no such part", "path is such as kernels[0].loads");
    else if (!(at >= 0 && at <= (double)text.n))
        refuse(m, id, r, "the offset is behind the end", "offset is next of an earlier answer");
    else
        answer(m, id, r, text, (size_t)at);
    cJSON_Delete(json);
    buf_free(&part);
}
