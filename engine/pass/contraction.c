/* Rewriting keeps what ptxas fuses. Where a mul and its add came into different lines of code the
 * product is made again beside the add; where they came together that were apart, the mul says .rn:
 *
 *       mul.f32 %p, %a, %b;                          mul.f32 %p, %a, %b;
 *   L:                                    ->     L:
 *       add.f32 %d, %p, %c;                          mul.f32 %gl0_m0, %a, %b;
 *                                                    add.f32 %d, %gl0_m0, %c;
 *
 * `L` is a label of ours. What cannot be kept is told: results may differ in their last bits there. */
#include "engine/invariants/invariants.h"
#include "engine/pass/pass_int.h"
#include "engine/pass/words.h"
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/facts/contract.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <string.h>

/* A function with what is contracted in it. */
struct side {
    const struct ptx_module *m;
    const struct ptx_func *f;
    const struct ptx_cfg *cfg;
    const struct ptx_contracted *x;
};
struct keeping {
    struct pass_ctx *c;
    struct side was, is;
    uint32_t made;
    uint8_t *rounded; /* by instruction of `is`: it has its .rn */
    bool quiet;
};

static bool open_side(struct side *s, const struct ptx_module *m, const struct ptx_func *f)
{
    *s = (struct side){ .m = m, .f = f, .cfg = ptx_cfg_of(f), .x = ptx_contracted_of(f) };
    return s->cfg && s->x;
}

/* The instruction of the original that this one is, or is a copy of; PTX_NO_INDEX: one of ours. */
static uint32_t original_of(const struct keeping *k, uint32_t n)
{
    const struct ptx_inst *i = &k->is.f->insts[n], *was = k->was.f->insts;
    uint32_t off = k->c->insts ? inv_origin_of(k->c->insts, k->c->ninsts, i->at.off) : i->at.off;
    uint32_t at = inv_inst_at(k->was.f, off);
    return at != PTX_NO_INDEX && was[at].op == i->op ? at : PTX_NO_INDEX;
}

/* ---- what differs ---- */
static void tell(struct keeping *k, uint32_t add)
{
    if (k->quiet)
        return;
    pass_note(k->c, k->is.f->insts[add].at,
              "the compiler fuses this addition with a multiplication only in the original or only in "
              "the rewritten code: results may differ in their last bits");
}

/* Do the factors stand in their registers where the original adds? Then they do here: each thread makes
 * the original's steps in the original's order. */
static bool factors_stay(const struct keeping *k, uint32_t add)
{
    uint32_t mul = k->was.x[add].mul;
    bool written = mul > add;
    for (uint32_t i = mul; i < add && !written; i++)
        written = ptx_writes_factor(&k->was.f->insts[i], &k->was.f->insts[mul]);
    return !written;
}

/* A factor as it stands in the text. */
static struct str factor(const struct keeping *k, const struct ptx_inst *mul, unsigned n)
{
    const struct ptx_operand *o = &mul->opnds[n];
    return (struct str){ k->is.m->text.s + o->off, o->len };
}

/* The mul of the rewritten text that the add's product comes from; PTX_NO_INDEX: not told by one
 * definition. */
static uint32_t product_of(const struct keeping *k, const struct ptx_operand *o)
{
    for (int steps = 0; steps < 8 && o->kind == OPND_REG && k->is.cfg->regs[o->index].ndefs >= 1;
         steps++) {
        const struct ptx_reg_refs *r = &k->is.cfg->regs[o->index];
        const struct ptx_inst *d = &k->is.f->insts[r->defs[r->ndefs - 1]];
        if (ptx_is_float_product(d))
            return d->index;
        if (ptx_row_rule(d) != ADDR_COPY && ptx_row_rule(d) != ADDR_NEG)
            break;
        o = &d->opnds[1];
    }
    return PTX_NO_INDEX;
}

/* All definitions of the product's register multiply the same: copies of one mul. */
static bool one_product(const struct keeping *k, const struct ptx_inst *mul)
{
    const struct ptx_reg_refs *r = &k->is.cfg->regs[mul->opnds[0].index];
    struct str first = ptx_text(k->is.m, mul->at);
    for (uint32_t n = 0; n < r->ndefs; n++) {
        struct str t = ptx_text(k->is.m, k->is.f->insts[r->defs[n]].at);
        if (t.n != first.n || memcmp(t.s, first.s, t.n) != 0)
            return false;
    }
    return true;
}

/* add_was: the same add in the original */
static bool fuse_again(struct keeping *k, uint32_t add, uint32_t add_was)
{
    const struct ptx_contracted *was = &k->was.x[add_was];
    const struct ptx_inst *i = &k->is.f->insts[add];
    const struct ptx_operand *p = &i->opnds[was->operand];
    uint32_t n = product_of(k, p);
    const struct ptx_inst *mul = n != PTX_NO_INDEX ? &k->is.f->insts[n] : NULL;
    if (!mul || !one_product(k, mul) || !factors_stay(k, add_was))
        return false;
    struct str a = factor(k, mul, 1), b = factor(k, mul, 2);
    bool neg = was->neg_product != (ptx_row_rule(i) == ADDR_SUB && was->operand == 2);
    struct str op = words_opcode(k->is.m, mul), text = ptx_text(k->is.m, i->at);
    const char *type = ptx_type_name((enum ptx_type)mul->type[0]), *tag = k->c->tag,
               *room = ptx_type_name((enum ptx_type)k->is.f->regs[mul->opnds[0].index].type);
    size_t before = p->off - i->at.off, after = before + p->len;
    uint32_t m = k->made++;
    ptx_edit_declare(k->c->edit, k->is.f, "contraction", ".reg .%s \t%%%sm%u;", room, tag, m);
    ptx_edit_before(k->c->edit, k->is.f, i->stmt, "contraction", "%.*s \t%%%sm%u, %.*s, %.*s;",
                    (int)op.n, op.s, tag, m, (int)a.n, a.s, (int)b.n, b.s);
    if (neg)
        ptx_edit_before(k->c->edit, k->is.f, i->stmt, "contraction", "neg%s.%s \t%%%sm%u, %%%sm%u;",
                        ptx_has_mod(mul, PTX_MOD_FTZ) ? ".ftz" : "", type, tag, m, tag, m);
    ptx_edit_replace(k->c->edit, k->is.f, i->stmt, "contraction", "%.*s%%%sm%u%.*s", (int)before, text.s,
                     tag, m, (int)(text.n - after), text.s + after);
    return true;
}

/* op.rn, so that it is not fused */
static void round_it(struct keeping *k, const struct ptx_inst *i)
{
    if (k->rounded[i->index]++)
        return;
    struct str op = words_opcode(k->is.m, i);
    const char *dot = memchr(op.s, '.', op.n);
    uint32_t at = (uint32_t)((dot ? dot : op.s + op.n) - k->is.m->text.s);
    ptx_edit_span(k->c->edit, at, 0, "contraction", ".rn");
}

/* Is any add of the original fused with this mul? */
static bool was_fused(const struct keeping *k, uint32_t mul)
{
    for (uint32_t i = 0; i < k->was.f->ninsts; i++)
        if (k->was.x[i].mul == mul)
            return true;
    return false;
}

static bool same_product(const struct keeping *k, const struct ptx_contracted *was,
                         const struct ptx_contracted *is)
{
    if (was->mul == PTX_NO_INDEX || is->mul == PTX_NO_INDEX)
        return was->mul == is->mul;
    uint32_t from = original_of(k, is->mul);
    return (from == was->mul || from == PTX_NO_INDEX) && was->operand == is->operand;
}

static void keep_one(struct keeping *k, uint32_t add)
{
    uint32_t o = original_of(k, add);
    if (o == PTX_NO_INDEX || same_product(k, &k->was.x[o], &k->is.x[add]))
        return;
    const struct ptx_contracted *was = &k->was.x[o], *is = &k->is.x[add];
    uint32_t from = is->mul != PTX_NO_INDEX ? original_of(k, is->mul) : PTX_NO_INDEX;
    if (was->mul != PTX_NO_INDEX) {
        if (!fuse_again(k, add, o))
            tell(k, add);
    } else if (from != PTX_NO_INDEX && !was_fused(k, from)) {
        round_it(k, &k->is.f->insts[is->mul]);
    } else {
        round_it(k, &k->is.f->insts[add]);
    }
}

static bool keep_func(struct pass_ctx *c, bool quiet, const struct ptx_func *was,
                      const struct ptx_func *is)
{
    struct keeping k = { .c = c, .quiet = quiet, .rounded = base_alloc(is->ninsts + 1) };
    bool ok = k.rounded && open_side(&k.was, c->in->module, was) && open_side(&k.is, c->m, is);
    if (ok)
        memset(k.rounded, 0, is->ninsts + 1);
    for (uint32_t i = 0; ok && i < is->ninsts; i++)
        if (ptx_row_rule(&is->insts[i]) == ADDR_ADD || ptx_row_rule(&is->insts[i]) == ADDR_SUB)
            keep_one(&k, i);
    base_free(k.rounded);
    return ok;
}

/* The function of the original that `is` is, or is a copy of. */
static const struct ptx_func *func_of(const struct pass_ctx *c, const struct ptx_func *is)
{
    const struct ptx_module *m = c->in->module;
    const struct ptx_func *was = ptx_find_func(m, is->name);
    for (uint32_t i = 0; i < is->ninsts && !was && c->insts; i++) {
        uint32_t off = inv_origin_of(c->insts, c->ninsts, is->insts[i].at.off);
        for (uint32_t k = 0; k < m->nfuncs && off != PTX_NO_INDEX && !was; k++)
            if (off >= m->funcs[k]->at.off && off - m->funcs[k]->at.off < m->funcs[k]->at.len)
                was = m->funcs[k];
    }
    return was;
}

static enum status keep(struct pass_ctx *c, bool quiet)
{
    for (uint32_t n = 0; n < c->m->nfuncs; n++) {
        const struct ptx_func *is = c->m->funcs[n], *was = func_of(c, is);
        if (is->has_body && was && was->has_body && !keep_func(c, quiet, was, is))
            return ST_NOMEM;
    }
    return ST_OK;
}

static enum status keep_first(struct pass_ctx *c)
{
    return keep(c, false);
}

static enum status keep_again(struct pass_ctx *c)
{
    return keep(c, true);
}

const struct pass_row pass_contraction[2] = {
    { .info = { "contraction", "what the compiler fuses stays as it was" }, .run = keep_first },
    { .info = { "contraction", "the same, after its own changes" }, .run = keep_again }
};
