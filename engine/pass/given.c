/* What called functions are given: parameters that are pointers to global memory at every call. A
 * parameter counts as one until a call is found that gives something else (so recursion does not forbid
 * it). Arguments are passed as { .param .b64 param0;  st.param.b64 [param0+0], %rd;  call (ret), f,
 * (param0); }                (PTX ISA 7.1) */
#include "engine/base/base.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

struct given {
    struct pass_ctx *c;
    const struct pass_funcs *fs;
    struct pass_flow *flow; /* kernel, then fs->v */
    uint64_t *v;
};

/* The list of arguments of a direct call, NULL: none. */
static const struct ptx_operand *arguments(const struct ptx_inst *i)
{
    bool named = false;
    for (uint8_t k = 0; k < i->nopnds; k++) {
        if (named && i->opnds[k].kind == OPND_MULTI)
            return &i->opnds[k];
        named |= i->opnds[k].kind == OPND_SYM;
    }
    return NULL;
}

static bool is_global(struct given *g, uint32_t at, const struct pass_roots *r)
{
    if (!r->unknown)
        return !r->window && (r->params || r->sym);
    return at && r->callers && (r->given & ~g->v[at - 1]) == 0;
}

/* Everything that function `at` stores into this argument is a global pointer, and something is. */
static bool gives_global(struct given *g, uint32_t at, const struct ptx_symbol *arg)
{
    const struct pass_flow *fl = &g->flow[at];
    bool any = false;
    for (uint32_t k = 0; k < fl->f->ninsts; k++) {
        const struct ptx_inst *i = &fl->f->insts[k];
        const struct ptx_operand *a = inst_address(i);
        if (inst_effect(i) != EFFECT_STORE || i->space != PTX_SPACE_PARAM || !a || a->base != BASE_SYM ||
            a->sym != arg)
            continue;
        const struct ptx_operand *value = i->nopnds ? &i->opnds[i->nopnds - 1] : NULL;
        struct ptx_operand address = { .kind = OPND_ADDR, .base = BASE_REG };
        if (!value || value->kind != OPND_REG || a->imm)
            return false;
        address.index = value->index;
        struct pass_roots r;
        pass_address_roots(g->c, fl, &address, &r);
        if (!is_global(g, at, &r))
            return false;
        any = true;
    }
    return any;
}

static uint32_t index_of(const struct pass_funcs *fs, struct str name)
{
    uint32_t k = 0;
    while (k < fs->n && !str_eq(fs->v[k]->name, name))
        k++;
    return k;
}

/* Takes away what this call does not give; returns whether there was something. */
static bool narrow(struct given *g, uint32_t at, const struct ptx_inst *call)
{
    uint32_t to = index_of(g->fs, inst_callee(call));
    const struct ptx_operand *args = arguments(call);
    uint64_t before = to < g->fs->n ? g->v[to] : 0;
    for (uint32_t k = 0; before && k < 64; k++) {
        const struct ptx_operand *o = args && k < args->nelem ? &args->elem[k] : NULL;
        if ((g->v[to] >> k & 1) && !(o && o->kind == OPND_SYM && o->sym && gives_global(g, at, o->sym)))
            g->v[to] &= ~(1ull << k);
    }
    return before && g->v[to] != before;
}

static uint64_t wide_params(const struct ptx_func *f)
{
    uint64_t mask = 0;
    for (uint32_t k = 0; k < f->nparams && k < 64; k++)
        mask |= (uint64_t)(f->params[k]->bytes == 8) << k;
    return mask;
}

bool pass_global_params(struct pass_ctx *c, const struct pass_flow *kernel, const struct pass_funcs *fs,
                        uint64_t *v)
{
    struct given g = { c, fs, base_alloc(sizeof *g.flow * (fs->n + 1)), v };
    bool ok = g.flow != NULL;
    uint32_t made = 0;
    for (uint32_t k = 0; k < fs->n; k++)
        v[k] = fs->indirect || fs->unknown ? 0 : wide_params(fs->v[k]);
    if (ok)
        g.flow[0] = *kernel;
    for (; ok && made < fs->n; made++)
        ok = pass_flow_make(fs->v[made], &g.flow[made + 1]);
    for (bool changed = ok; changed;) {
        changed = false;
        for (uint32_t at = 0; at <= fs->n; at++)
            for (uint32_t k = 0; k < g.flow[at].f->ninsts; k++)
                if (inst_effect(&g.flow[at].f->insts[k]) == EFFECT_CALL)
                    changed |= narrow(&g, at, &g.flow[at].f->insts[k]);
    }
    for (uint32_t k = 0; k < made; k++)
        pass_flow_free(&g.flow[k + 1]);
    base_free(g.flow);
    return ok;
}
