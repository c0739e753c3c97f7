/* Where the pointer in an address comes from: followed backwards through 64-bit
 * registers alone. 32-bit values, products and shifts are indices, not pointers;
 * a loaded 64-bit value may be one, and is "unknown". */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"

#include <string.h>

struct walk {
    const struct pass_ctx *c;
    const struct pass_flow *fl;
    struct pass_roots *out;
    uint64_t converted; /* parameters that went through cvta.to.global: pointers for certain */
    bool *seen;
    uint32_t *stack, n;
};

static bool wide(const struct pass_flow *fl, uint32_t reg)
{
    return ptx_type_bits((enum ptx_type)fl->f->regs[reg].type) == 64;
}

static void push(struct walk *w, uint32_t reg)
{
    if (!w->seen[reg] && wide(w->fl, reg)) {
        w->seen[reg] = true;
        w->stack[w->n++] = reg;
    }
}

static void root_symbol(struct walk *w, const struct ptx_symbol *s)
{
    if (!s || s->kind != SYM_VAR)
        w->out->unknown = true;
    else if (s->space == PTX_SPACE_GLOBAL)
        w->out->sym = s;
    else
        w->out->window = true;
}

static void root_param(struct walk *w, const struct ptx_symbol *s)
{
    const struct ptx_func *f = w->fl->f;
    for (uint32_t k = 0; k < f->nparams && k < 64; k++)
        if (f->params[k] == s) {
            *(f->entry ? &w->out->params : &w->out->given) |= 1ull << k;
            return;
        }
    w->out->unknown = true; /* a returned value */
}

/* Does the value of `reg` come straight from a parameter? Its mask, for cvta. */
static uint64_t direct_params(const struct walk *w, uint32_t reg)
{
    const struct ptx_reg_refs *x = &w->fl->cfg->regs[reg];
    uint64_t mask = 0;
    for (uint32_t k = 0; k < x->ndefs; k++) {
        const struct ptx_inst *d = &w->fl->f->insts[x->defs[k]];
        const struct ptx_operand *a = inst_address(d);
        for (uint32_t p = 0;
             inst_is(d, "ld") && a && a->base == BASE_SYM && p < w->fl->f->nparams && p < 64; p++)
            if (w->fl->f->params[p] == a->sym)
                mask |= 1ull << p;
    }
    return mask;
}

static void follow_operands(struct walk *w, const struct ptx_inst *d, uint8_t from)
{
    for (uint8_t k = from; k < d->nopnds; k++) {
        const struct ptx_operand *o = &d->opnds[k];
        if (o->kind == OPND_REG)
            push(w, o->index);
        else if (o->kind == OPND_SYM)
            root_symbol(w, o->sym);
        else if (o->kind == OPND_VEC)
            w->out->unknown = true;
    }
}

static void follow_def(struct walk *w, const struct ptx_inst *d)
{
    const struct ptx_op_info *info = ptx_op_info(d->op);
    const struct ptx_operand *a = inst_address(d);
    switch (info ? info->addr : ADDR_UNKNOWN) {
    case ADDR_CVTA:
        if (d->space != PTX_SPACE_GLOBAL) {
            w->out->window = true;
            return;
        }
        if (d->nopnds > 1 && d->opnds[1].kind == OPND_REG)
            w->converted |= direct_params(w, d->opnds[1].index);
        follow_operands(w, d, 1);
        return;
    case ADDR_COPY:
    case ADDR_ADD:
    case ADDR_SUB:
    case ADDR_SELP:
    case ADDR_MIN:
    case ADDR_MAX:
    case ADDR_AND:
    case ADDR_OR:
    case ADDR_XOR: follow_operands(w, d, 1); return;
    case ADDR_MAD_LO:
    case ADDR_MAD_WIDE:
        follow_operands(w, d, 3); /* the addend; factors are indices */
        return;
    case ADDR_MUL_LO:
    case ADDR_MUL_WIDE:
    case ADDR_SHL:
    case ADDR_SHR:
    case ADDR_DIV:
    case ADDR_REM:
    case ADDR_CVT:
    case ADDR_BFE:
    case ADDR_NEG:
    case ADDR_NOT:
    case ADDR_ABS:
        if (!inst_is(d, "cvt"))
            return;
        follow_operands(w, d, 1);
        return;
    case ADDR_LOAD:
        if (d->space == PTX_SPACE_PARAM && a && a->base == BASE_SYM)
            root_param(w, a->sym);
        else if (!d->ntypes || ptx_type_bits((enum ptx_type)d->type[0]) >= 64)
            w->out->unknown = true; /* narrower ones are extended: indices */
        return;
    default: w->out->unknown = true;
    }
}

/* Of several candidates, those that cannot be pointers (by the launch, or by cvta) are lengths and
 * offsets. */
static void settle(struct walk *w)
{
    const struct launch_spec *l = w->c->in->launch;
    uint64_t buffers = 0, p = w->out->params;
    for (size_t k = 0; l && k < l->nargs && k < 64; k++)
        if (l->args[k].kind == ARG_BUFFER || l->args[k].kind == ARG_SAME_AS ||
            l->args[k].kind == ARG_BYTES)
            buffers |= 1ull << k;
    if (p & w->converted)
        p &= w->converted;
    if (l && (p & buffers))
        p &= buffers;
    w->out->params = p;
}

void pass_address_roots(struct pass_ctx *c, const struct pass_flow *fl,
                        const struct ptx_operand *address, struct pass_roots *out)
{
    memset(out, 0, sizeof *out);
    struct walk w = { .c = c, .fl = fl, .out = out };
    w.seen = base_alloc(fl->f->nregs + 1);
    w.stack = base_alloc(sizeof *w.stack * (fl->f->nregs + 1));
    c->oom |= !w.seen || !w.stack;
    if (!w.seen || !w.stack || !address || address->base == BASE_IMM || address->base == BASE_NONE) {
        out->unknown = true;
    } else if (address->base == BASE_SYM) {
        root_symbol(&w, address->sym);
    } else {
        push(&w, address->index);
        out->unknown = !w.n; /* a 32-bit address */
        while (w.n) {
            const struct ptx_reg_refs *x = &fl->cfg->regs[w.stack[--w.n]];
            out->unknown |= !x->ndefs;
            for (uint32_t k = 0; k < x->ndefs; k++)
                follow_def(&w, &fl->f->insts[x->defs[k]]);
        }
        settle(&w);
    }
    out->callers = out->given && !out->unknown && !out->window;
    out->unknown |= out->given != 0;
    base_free(w.seen);
    base_free(w.stack);
}

int pass_access_param(struct pass_ctx *c, const struct pass_flow *fl, const struct ptx_inst *i)
{
    struct pass_roots r;
    pass_address_roots(c, fl, inst_address(i), &r);
    if (r.unknown || r.window || r.sym || !r.params || (r.params & (r.params - 1)))
        return -1;
    int k = 0;
    while (!(r.params >> k & 1))
        k++;
    return k;
}

bool pass_params_distinct(const struct pass_ctx *c, int a, int b)
{
    const struct launch_spec *l = c->in->launch;
    if (a == b || a < 0 || b < 0)
        return false;
    if (c->opt->assume_restrict)
        return true;
    if (!l || (size_t)a >= l->nargs || (size_t)b >= l->nargs)
        return false;
    size_t x = launch_buffer_of(l, (size_t)a), y = launch_buffer_of(l, (size_t)b);
    return x != SIZE_MAX && y != SIZE_MAX && x != y;
}

/* Is parameter p named in --assume-read-only, by the launch's name or by the PTX name? */
static bool user_says_read_only(const struct pass_ctx *c, const struct ptx_func *f, int p)
{
    const struct launch_spec *l = c->in->launch;
    const char *named = l && (size_t)p < l->nargs ? l->args[p].name : NULL;
    for (const char *s = c->opt->assume_read_only; *s;) {
        size_t n = strcspn(s, ",");
        struct str one = { s, n };
        if (str_is(one, "all") || str_eq(one, f->params[p]->name) || (named && str_is(one, named)))
            return true;
        s += n + (s[n] == ',');
    }
    return false;
}

static bool writes_memory(const struct ptx_inst *i)
{
    enum ptx_effect e = inst_effect(i);
    bool other =
        e == EFFECT_ASYNC_COPY || e == EFFECT_TENSOR || e == EFFECT_SURFACE || i->op == PTX_OP_OPAQUE;
    return other || ((e == EFFECT_STORE || e == EFFECT_ATOMIC) &&
                     (i->space == PTX_SPACE_GLOBAL || i->space == PTX_SPACE_GENERIC));
}

/* Could this instruction write what parameter p points to? */
static bool may_write(struct pass_ctx *c, const struct pass_flow *fl, const struct ptx_inst *i, int p)
{
    if (!writes_memory(i))
        return false;
    struct pass_roots r;
    pass_address_roots(c, fl, inst_address(i), &r);
    if (i->op == PTX_OP_OPAQUE || r.unknown || r.window)
        return true;
    for (int k = 0; k < 64; k++)
        if ((r.params >> k & 1) && !pass_params_distinct(c, p, k))
            return true;
    /* a named module variable is no buffer of the launch */
    return false;
}

bool pass_proven_read_only(struct pass_ctx *c, const struct pass_flow *fl, const struct ptx_inst *load,
                           const char **why)
{
    int p = pass_access_param(c, fl, load);
    if (p >= 0 && user_says_read_only(c, fl->f, p)) {
        *why = "the user's word";
        return true;
    }
    const struct ana_access *a = pass_access(c, load);
    if (a && a->read_only == ANA_YES) {
        *why = "the analysis found no store to it";
        return true;
    }
    struct pass_funcs fs;
    pass_callees(c, &fs);
    for (uint32_t k = 0; k < fs.n; k++)
        for (uint32_t n = 0; n < fs.v[k]->ninsts; n++)
            if (writes_memory(&fs.v[k]->insts[n])) {
                *why = "a called function stores to global memory";
                return false;
            }
    *why = p < 0 ? "its address does not derive from one pointer parameter"
                 : "a store may go to the same memory";
    for (uint32_t k = 0; k < fl->f->ninsts; k++)
        if (writes_memory(&fl->f->insts[k]) && (p < 0 || may_write(c, fl, &fl->f->insts[k], p)))
            return false;
    if (fs.unknown) {
        *why = "the kernel calls a function of another module";
        return false;
    }
    *why = "no store can go to its memory";
    return true;
}
