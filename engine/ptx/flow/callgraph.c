/* Which functions a kernel may come to. */
#include "engine/ptx/flow/callgraph.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"

#include <string.h>

struct reach {
    const struct ptx_func **list;
    uint32_t *place, n;
    bool address_taken;
};

static void reach(struct reach *r, const struct ptx_func *f)
{
    if (!f || !f->def || r->place[f->def->index] != PTX_NO_INDEX)
        return;
    r->place[f->def->index] = r->n;
    r->list[r->n++] = f->def;
}

static void reach_operand(struct reach *r, const struct ptx_operand *o, bool call)
{
    if (o->kind == OPND_SYM && o->sym->kind == SYM_FUNC) {
        r->address_taken |= !call;
        reach(r, o->sym->func);
    }
    if (o->kind == OPND_REG && call)
        r->address_taken = true;
    if (o->kind == OPND_VEC || o->kind == OPND_MULTI)
        for (uint32_t k = 0; k < o->nelem; k++)
            reach_operand(r, &o->elem[k], false);
}

/* Functions whose addresses lie in variables may be called by anyone who makes indirect calls. */
static void reach_tables(struct reach *r, const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->nglobals; i++)
        for (uint32_t k = 0; k < m->globals[i]->nreloc; k++)
            if (m->globals[i]->reloc[k].sym->kind == SYM_FUNC)
                reach(r, m->globals[i]->reloc[k].sym->func);
}

uint32_t ptx_reachable(const struct ptx_module *m, const struct ptx_func *from,
                       const struct ptx_func **list, uint32_t *place)
{
    struct reach r = { list, place, 0, false };
    bool tables = false;
    memset(place, 0xff, m->nfuncs * sizeof *place); /* PTX_NO_INDEX */
    reach(&r, from);
    for (uint32_t i = 0; i < r.n; i++) {
        for (uint32_t k = 0; k < list[i]->ninsts; k++) {
            const struct ptx_inst *in = &list[i]->insts[k];
            for (unsigned o = 0; o < in->nopnds; o++)
                reach_operand(&r, &in->opnds[o], in->op == PTX_OP_CALL);
        }
        if (r.address_taken && !tables && (tables = true))
            reach_tables(&r, m);
    }
    return r.n;
}
