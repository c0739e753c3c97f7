/* What does not hold is said here. */
#include "engine/invariants/invariants_int.h"
#include "engine/ptx/ptx.h"

#include <stdarg.h>
#include <string.h>

enum { MOST_TOLD = 3 }; /* of a kind, in a function */

/* Has this code been said often enough? */
static bool is_told(struct inv_pair *p, const char *code)
{
    uint32_t k = 0;
    while (k + 1 < INV_CODES && p->told[k].code && strcmp(p->told[k].code, code) != 0)
        k++;
    p->told[k].code = code;
    return p->told[k].n++ >= MOST_TOLD;
}

void inv_broken(struct inv_pair *p, const char *code, const struct ptx_inst *at, const char *fmt, ...)
{
    struct buf b = { 0 };
    p->seen->broken++;
    if (is_told(p, code))
        return;
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    const struct ptx_module *m = p->in->now;
    struct span place = at ? at->at : p->now.f ? p->now.f->head : NO_SPAN;
    struct diag *d = diag_add(p->ds, DIAG_ERROR, code, m->path, place, "%s", b.s ? b.s : "");
    if (at)
        diag_source(d, m->text);
    buf_free(&b);
}
