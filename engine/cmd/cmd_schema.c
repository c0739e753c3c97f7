/* schema: the fields of the JSON documents. */
#include "engine/base/base.h"
#include "engine/cmd/cmd_int.h"
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

int cmd_schema(struct args *a)
{
    struct diags ds = { 0 };
    struct field_record r;
    struct buf out = { 0 };
    enum status st = check(a, &r, &ds);
    if (st == ST_OK) {
        show(a, a->nfiles ? &r : NULL, &out);
        st = out.oom ? ST_NOMEM : ST_OK;
    }
    if (st == ST_OK)
        cmd_put(a, &out);
    buf_free(&out);
    return cmd_finish(a, st, &ds);
}
