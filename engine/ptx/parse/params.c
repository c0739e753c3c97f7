/* Parameter lists of functions, prototypes and calls. */
#include "engine/ptx/ptx_int.h"

#include <string.h>

/* ---- parameter lists ---- */
static bool read_param(struct ptx_parser *p, struct ptx_symbol **out)
{
    ptx_skip_blank(p);
    struct ptx_decl d = { .at = ptx_here(p) };
    struct str w = ptx_dotword(p);
    if (str_is(w, "hidden")) { /* a parameter that the driver fills: Triton's scratch */
        ptx_skip_blank(p);
        w = ptx_dotword(p);
    }
    if (!w.n || !ptx_is_space(w, &d.space) || (d.space != PTX_SPACE_PARAM && d.space != PTX_SPACE_REG)) {
        ptx_error(p, "ptx-syntax", ptx_upto(p, d.at), "a parameter begins with .param or .reg");
        return false;
    }
    if (!ptx_decl_specifiers(p, &d))
        return false;
    if (d.vec > 1 && d.space == PTX_SPACE_PARAM) {
        struct diag *e =
            ptx_error(p, "ptx-declaration", ptx_upto(p, d.at), "a .param variable cannot be a vector");
        diag_hint(e, "declare .align %u .b8 name[%u]", d.vec * ptx_type_bits((enum ptx_type)d.type) / 8,
                  d.vec * ptx_type_bits((enum ptx_type)d.type) / 8);
        return false;
    }
    *out = ptx_decl_name(p, &d);
    return *out != NULL;
}

/* Parameters become names of the body once the function itself is declared outside it. */
void ptx_params_declare(struct ptx_parser *p, struct ptx_symbol **list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct ptx_symbol *s = list[i];
        if (str_is(s->name, "_"))
            continue;
        if (s->space == PTX_SPACE_REG)
            ptx_reg_declare(p, s->name, s->type, s->vec, s->at);
        else
            ptx_symbol_declare(p, s, s->at);
    }
}

/* ( .param ..., .param ... ) */
bool ptx_params_read(struct ptx_parser *p, struct ptx_symbol ***list, uint32_t *n)
{
    PTX_VEC(struct ptx_symbol *) v = { 0 };
    bool ok = ptx_expect(p, '(', "before the parameters");
    if (ok && !ptx_take(p, ')')) {
        do {
            struct ptx_symbol *s;
            if (!(ok = read_param(p, &s)))
                break;
            struct ptx_symbol **slot = PTX_PUSH(p, v);
            if (slot)
                *slot = s;
        } while (ptx_take(p, ','));
        ok = ok && ptx_expect(p, ')', "after the parameters");
    }
    if (v.n && (*list = ARENA_ARRAY(p->a, struct ptx_symbol *, v.n))) {
        memcpy(*list, v.v, v.n * sizeof *v.v);
        *n = (uint32_t)v.n;
    }
    base_free(v.v);
    return ok;
}
