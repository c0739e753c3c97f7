/* The head and the end of every JSON document. */
#include "engine/session/document.h"

#include "engine/session/fields.h"

#include <stdlib.h>
#include <string.h>

struct jw document_open(struct buf *out, const char *format, int pretty)
{
    struct jw w = jw_open(out, pretty);
    struct field_record r;
    jw_obj(&w);
    jw_put_str(&w, "format", format);
    if (field_record_find(format, &r) && field_of(&r, STR("version")))
        jw_put_int(&w, "version", DOCUMENT_VERSION);
    return w;
}

static void replace(struct jw *w, const char *why)
{
    struct diags ds = { 0 };
    diag_error(&ds, "document", "this document contradicts its table of fields: %s", why);
    w->out->n = w->from;
    struct jw d = document_open(w->out, "gpulocw-diagnostics", w->pretty);
    jw_key(&d, "diagnostics");
    diags_json(&ds, &d);
    jw_end_obj(&d);
    diags_free(&ds);
}

/* It is parsed again for this: large ones, which sessions are, are left out. */
#define CHECKED_MOST ((size_t)4 << 20)

static void check(struct jw *w)
{
    struct buf why = { 0 };
    const char *text = w->out->s + w->from;
    size_t n = w->out->n - w->from;
    if (n > CHECKED_MOST || document_check(text, n, &why) || why.oom) {
        buf_free(&why);
        return;
    }
    if (strcmp(why.s, DOCUMENT_NO_JSON) == 0)
        w->out->oom = true; /* memory ran out in the parser */
    else
        replace(w, why.s);
    buf_free(&why);
}

void document_close(struct jw *w)
{
    jw_end_obj(w);
    if (getenv("GPULOCW_CHECK_DOCUMENTS") && !w->out->oom)
        check(w);
    buf_puts(w->out, "\n");
}
