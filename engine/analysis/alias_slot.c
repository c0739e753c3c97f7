/* alias, places: where values pass from function to function, which function a call comes to, and which operand
 * of an instruction is its address. */
#include "engine/analysis/alias_int.h"
#include "engine/ptx/ptx.h"

static struct alias_slot *find_slot(struct alias *a, const struct ptx_symbol *s)
{
    size_t at = ((uintptr_t)s >> 4) * 0x9e3779b97f4a7c15u >> 20;
    for (uint32_t n = 0; n < a->nslots; n++) {
        struct alias_slot *t = &a->slot[(at + n) & (a->nslots - 1)];
        if (!t->sym || t->sym == s)
            return t;
    }
    return NULL;
}

struct alias_slot *alias_slot(struct alias *a, const struct ptx_symbol *s)
{
    struct alias_slot *t = s ? find_slot(a, s) : NULL;
    return t && t->sym ? t : NULL;
}

static void add_slots(struct alias *a, struct ptx_symbol *const *v, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        find_slot(a, v[k])->sym = v[k];
}

bool alias_make_slots(struct alias *a)
{
    uint64_t n = 1;
    for (uint32_t k = 0; k < a->nfuncs; k++)
        n += a->func[k]->nparams + a->func[k]->nrets + a->func[k]->nvars;
    for (a->nslots = 16; a->nslots < 2 * n; a->nslots *= 2)
        ;
    a->slot = base_alloc(sizeof *a->slot * a->nslots);
    for (uint32_t k = 0; a->slot && k < a->nfuncs; k++) {
        const struct ptx_func *f = a->func[k];
        add_slots(a, f->params, f->nparams);
        add_slots(a, f->rets, f->nrets);
        add_slots(a, f->vars, f->nvars);
    }
    return a->slot != NULL;
}

const struct ptx_func *alias_callee(const struct ptx_inst *i, struct str *name)
{
    *name = (struct str){ NULL, 0 };
    for (uint8_t k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        if (o->kind == OPND_REG)
            return NULL;
        if (o->kind != OPND_SYM || !o->sym || o->sym->kind == SYM_VAR)
            continue;
        *name = o->sym->name;
        return o->sym->func ? o->sym->func->def : NULL;
    }
    return NULL;
}

bool alias_harmless_call(struct str name)
{
    static const char *const known[] = { "vprintf", "__assertfail", "malloc", "free" };
    for (size_t k = 0; k < ARRAY_LEN(known); k++)
        if (str_is(name, known[k]))
            return true;
    return false;
}

const struct ptx_operand *alias_address(const struct ptx_inst *i)
{
    for (uint8_t k = 0; k < i->nopnds; k++) {
        if (i->opnds[k].kind == OPND_ADDR)
            return &i->opnds[k];
        if (i->opnds[k].kind == OPND_MULTI)
            return NULL;
    }
    return NULL;
}
