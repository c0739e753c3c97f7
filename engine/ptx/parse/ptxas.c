/* What ptxas 13 refuses although it means something: told with a warning, since the text can be worked on. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_int.h"

static void tell_bytes(struct ptx_parser *p)
{
    struct span at = { .line = 1, .col = 1, .len = 1 };
    for (const char *c = p->base; c < p->end; c++) {
        at.col = *c == '\n' ? 1 : at.col + 1;
        at.line += *c == '\n';
        if (!(*c & 0x80))
            continue;
        at.col--;
        at.off = (uint32_t)(c - p->base);
        struct diag *d = ptx_report(p, DIAG_WARNING, "ptx-ascii", at,
                                    "a byte that is not ASCII: ptxas 13 refuses the "
                                    "text, even where it stands in a comment");
        diag_hint(d, "write the text in ASCII before it goes to a GPU");
        return;
    }
}

static void tell_function(struct ptx_parser *p, const struct ptx_func *f)
{
    if (f->entry && f->noreturn)
        ptx_report(p, DIAG_WARNING, "ptx-directive", f->head,
                   ".noreturn stands on a kernel: ptxas 13 takes it on functions alone");
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_inst *in = &f->insts[i];
        if (in->op == PTX_OP_MOV && in->nopnds == 2 && in->vec <= 1 && in->opnds[0].kind == OPND_VEC &&
            in->opnds[1].kind == OPND_VEC)
            ptx_report(
                p, DIAG_WARNING, "ptx-operand", in->at,
                "mov takes a vector on one side alone: ptxas 13 refuses it from vector to vector");
    }
}

void ptx_tell_ptxas(struct ptx_parser *p)
{
    if (p->m->address_size == 32 && (p->address_given || p->narrow_address))
        ptx_report(p, DIAG_WARNING, "ptx-header", NO_SPAN,
                   ".address_size %s: ptxas 13 has 64-bit addresses alone",
                   p->address_given ? "32" : "is left out, and addresses have 32 bits");
    for (uint32_t i = 0; i < p->m->nfuncs; i++)
        tell_function(p, p->m->funcs[i]);
    tell_bytes(p);
}
