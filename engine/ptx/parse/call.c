/* Calls against the signature of the function called (PTX ISA 9.7.12.5). */
#include "engine/ptx/ptx_int.h"

static uint64_t argument_bytes(const struct ptx_parser *p, const struct ptx_operand *o)
{
    if (o->kind == OPND_SYM && o->sym->kind == SYM_VAR)
        return o->sym->bytes;
    if (o->kind == OPND_REG && o->index < p->regs.n)
        return ptx_type_bits((enum ptx_type)p->regs.v[o->index].type) / 8 *
               (p->regs.v[o->index].vec ? p->regs.v[o->index].vec : 1);
    return 0;
}

/* Registers, constants and variables of .param are passed; a predicate to a predicate alone. */
static bool passes(struct ptx_parser *p, const struct ptx_operand *o, const struct ptx_symbol *formal,
                   struct span at)
{
    bool pred = o->kind == OPND_REG && o->index < p->regs.n && p->regs.v[o->index].type == PTX_T_PRED;
    bool memory = o->kind == OPND_SYM && o->sym->kind == SYM_VAR && o->sym->space != PTX_SPACE_PARAM &&
                  o->sym->space != PTX_SPACE_REG;
    if (o->kind != OPND_SREG && !memory && !o->neg &&
        (!pred || formal->space != PTX_SPACE_REG || formal->type == PTX_T_PRED))
        return true;
    ptx_error(p, "ptx-call", at, "'%.*s' cannot be passed as '%.*s'", (int)o->len, p->base + o->off,
              SV(formal->name));
    return false;
}

static void check_list(struct ptx_parser *p, const struct ptx_func *f, const struct ptx_operand *list,
                       struct ptx_symbol *const *formal, uint32_t nformal, const char *what,
                       struct span at)
{
    unsigned n = list ? list->nelem : 0;
    if (n != nformal) {
        struct diag *d = ptx_error(p, "ptx-call", at, "'%.*s' has %u %s%s, this call gives %u",
                                   SV(f->name), nformal, what, nformal == 1 ? "" : "s", n);
        diag_hint(d, "it is declared on line %u", f->at.line);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        if (!passes(p, &list->elem[i], formal[i], at))
            continue;
        uint64_t has = argument_bytes(p, &list->elem[i]), want = formal[i]->bytes;
        bool same_kind = formal[i]->space == PTX_SPACE_PARAM ? list->elem[i].kind == OPND_SYM
                                                             : list->elem[i].kind == OPND_REG;
        if (has && want && has != want && !formal[i]->unsized && same_kind)
            ptx_error(p, "ptx-call", at, "%s %u of '%.*s' has %llu bytes, this call gives %llu", what,
                      i + 1, SV(f->name), (unsigned long long)want, (unsigned long long)has);
    }
}

static void set_call_access(struct ptx_operand *o, unsigned access)
{
    o->access = (uint8_t)access;
    if (o->kind == OPND_MULTI)
        for (unsigned i = 0; i < o->nelem; i++)
            o->elem[i].access = (uint8_t)access;
}

/* call (rets), target, (args), prototype: each list may be missing. */
void ptx_check_call(struct ptx_parser *p, struct ptx_operand *o, unsigned n, struct span at)
{
    unsigned t = 0;
    while (t < n && o[t].kind == OPND_MULTI)
        t++;
    for (unsigned i = 0; i < n; i++)
        set_call_access(&o[i], i < t ? PTX_WRITE : PTX_READ);
    if (t > 1 || t == n) {
        struct diag *d = ptx_error(p, "ptx-call", at, "this call names no function");
        diag_hint(d, "the form is: call (ret), function, (arguments);");
        return;
    }
    const struct ptx_operand *rets = t ? &o[0] : NULL,
                             *args = t + 1 < n && o[t + 1].kind == OPND_MULTI ? &o[t + 1] : NULL;
    if (o[t].kind == OPND_LABEL) {
        ptx_undefined(p, (struct str){ p->base + o[t].off, o[t].len }, at, "function");
        o[t].kind = OPND_NONE;
    } else if (o[t].kind == OPND_SYM && o[t].sym->func && o[t].sym->kind != SYM_VAR) {
        const struct ptx_func *f = o[t].sym->func;
        if (!f->nparams || !f->params[f->nparams - 1]->unsized)
            check_list(p, f, args, f->params, f->nparams, "parameter", at);
        check_list(p, f, rets, f->rets, f->nrets, "result", at);
    } else if (o[t].kind == OPND_REG && o[t].index < p->regs.n &&
               p->regs.v[o[t].index].type == PTX_T_NONE) {
        o[t].kind = OPND_NONE; /* told at its first call */
    } else if (o[t].kind != OPND_REG) {
        ptx_error(p, "ptx-call", at, "a function or a register is called");
    } else if (n == t + 1 || o[n - 1].kind != OPND_LABEL) {
        struct diag *d =
            ptx_error(p, "ptx-call", at,
                      "a call through a register needs a .callprototype or .calltargets at its end");
        diag_hint(d, "declare one with a label before the call");
    }
}
