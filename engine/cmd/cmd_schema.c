/* schema: the fields of the JSON documents. */
#include "engine/cmd/cmd_int.h"
#include "engine/session/document.h"
#include "engine/session/fields.h"
#include "engine/workspace/args.h"

#include <string.h>

static enum status check(const struct args *a, struct field_record *r, struct diags *ds)
{
    if (a->nfiles && !field_record_find(a->file[0], r)) {
        struct diag *d =
            diag_add(ds, DIAG_ERROR, "usage", NULL, NO_SPAN, "no document '%s'", a->file[0]);
        diag_hint(d, "gpulocw schema lists them");
        return ST_USAGE;
    }
    return ST_OK;
}

static void all_md(struct buf *out)
{
    for (size_t i = 0; i < field_record_count(); i++) {
        struct field_record r = field_record_at(i);
        buf_puts(out, i ? "\n" : "");
        fields_md(&r, out);
    }
}

static void show(const struct args *a, const struct field_record *r, struct buf *out)
{
    if (a->json)
        fields_schema(r, out);
    else if (a->format && !r)
        all_md(out);
    else if (a->format)
        fields_md(r, out);
    else if (!r)
        fields_list(out);
    else
        fields_text(r, out);
}

/* A document in a file, or one a line, against its table. */
static enum status check_file(const char *path, struct buf *out, struct diags *ds)
{
    char *text = NULL;
    size_t n = 0, count = 0, line = 1;
    enum status st = file_read(path, (size_t)1 << 30, &text, &n, ds);
    size_t ending = strlen(path) > 6 ? strlen(path) - 6 : 0;
    bool lines = strcmp(path + ending, ".jsonl") == 0;
    for (size_t at = 0; st == ST_OK && at < n; line++) {
        struct buf why = { 0 };
        const char *end = lines ? memchr(text + at, '\n', n - at) : NULL;
        size_t k = end ? (size_t)(end - (text + at)) : n - at;
        if (!document_check(text + at, k, &why)) {
            diag_add(ds, DIAG_ERROR, "document", path, (struct span){ .line = (uint32_t)line, .col = 1 },
                     "%s", why.s ? why.s : "");
            st = why.oom ? ST_NOMEM : ST_INPUT;
        }
        buf_free(&why);
        at += k + 1;
        count++;
    }
    if (st == ST_OK)
        buf_printf(out, "%s: %zu valid\n", path, count);
    base_free(text);
    return st;
}

int cmd_schema(struct args *a)
{
    struct diags ds = { 0 };
    struct field_record r;
    struct buf out = { 0 };
    bool file = a->nfiles && (strchr(a->file[0], '.') || strchr(a->file[0], '/'));
    enum status st = file ? check_file(a->file[0], &out, &ds) : check(a, &r, &ds);
    if (st == ST_OK && !file) {
        show(a, a->nfiles ? &r : NULL, &out);
        st = out.oom ? ST_NOMEM : ST_OK;
    }
    if (st == ST_OK)
        cmd_give(a, &out);
    return cmd_finish(a, st, &ds);
}
