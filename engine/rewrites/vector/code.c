/* The code for all lanes: registers of their own, what is the same for all once, checks first.
 *
 *   before                             after, two lanes
 *     add.s64 %rd5, %rd1, %rd4;          add.s64 v0_rd5, u_rd1, v0_rd4;  add.s64 v1_rd5, u_rd1, v1_rd4;
 *     setp.ge.s32 %p1, %r1, %r2;         setp v0_p1, ...;  setp v1_p1, ...;
 *                                        out = v0_p1 differs from v1_p1, or v0_rd5 is not aligned;
 *                                        @out bra $slow;
 *     @%p1 bra $end;                     @v0_p1 bra $end_v;
 *     ld.global.f32 %f1, [%rd5];         ld.global.v2.f32 {e0, e1}, [v0_rd5];  v0_f1 = e0;  v1_f1 = e1;
 */
#include "engine/rewrites/vector/vector_int.h"

#include "engine/pass/words.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <stdio.h>
#include <string.h>

struct writing {
    const struct pass_ctx *c;
    const struct vector_plan *p;
    const struct pass_virtual *other;
    const char *t; /* name prefix */
    struct buf *out;
    unsigned lane;
    const struct ptx_inst *i; /* the one that is written */
    char tid[40];             /* this lane's %tid.x */
};

/* ---- names ---- */
/* A register that is alone with its name, %r5, keeps it in that of its copies; names that differ in
 * their % or scope alone have a number of their own. */
static void put_reg(const struct writing *w, uint32_t reg, unsigned lane, struct buf *out)
{
    const struct ptx_reg *r = &w->p->f->regs[reg];
    bool plain = r->name.n && r->name.s[0] == '%' && !r->scope;
    struct str name = plain ? (struct str){ r->name.s + 1, r->name.n - 1 } : r->name;
    pass_code(out, w->t, "%%#");
    if (w->p->varies[reg])
        buf_printf(out, plain ? "v%u_" : "n%u_", lane);
    else
        buf_puts(out, plain ? "u_" : "m_");
    if (!plain)
        buf_printf(out, "%u_", reg);
    for (size_t k = 0; k < name.n; k++)
        if (name.s[k] != '%')
            buf_put(out, &name.s[k], 1);
}

/* A label of the copy: those of different scopes may have one name. */
static void put_label(const struct writing *w, uint32_t label, struct buf *out)
{
    struct str l = w->p->f->labels[label].name;
    buf_printf(out, "%.*s_%sv%u", (int)l.n, l.s, w->t, label);
}

/* What a lane's copy of a branch's predicate is called, where the code that it decides about writes it.
 */
static void put_kept(const struct writing *w, const struct ptx_inst *branch, unsigned lane,
                     struct buf *out)
{
    pass_code(out, w->t, "%%#d%u_%u", lane, branch->index);
}

/* a namer: the lane's registers, and the labels of this copy */
static bool put_name(void *ctx, struct str name, struct buf *out)
{
    struct writing *w = ctx;
    uint32_t reg = ptx_named_reg(w->p->f, w->i, name);
    if (reg != PTX_NO_INDEX) {
        put_reg(w, reg, w->lane, out);
        return true;
    }
    for (uint8_t k = 0; k < w->i->nopnds; k++) {
        const struct ptx_operand *o = &w->i->opnds[k];
        if (o->kind != OPND_LABEL)
            continue;
        struct str l = w->p->f->labels[o->index].name;
        if (l.n != name.n || memcmp(l.s, name.s, l.n) != 0)
            continue;
        put_label(w, o->index, out);
        return true;
    }
    return false;
}

static const char *coordinate(void *ctx, const struct ptx_operand *o)
{
    struct writing *w = ctx;
    if (o->kind == OPND_SREG && o->index == PTX_SREG_TID && o->comp == 0)
        return w->tid;
    return w->other->sub(w->other->ctx, o);
}

static void set_lane(struct writing *w, unsigned lane)
{
    w->lane = lane;
    if (lane)
        snprintf(w->tid, sizeof w->tid, "%%%sv%utx", w->t, lane);
    else
        snprintf(w->tid, sizeof w->tid, "%%%stx", w->t);
}

/* ---- one instruction ---- */
static void put_guard(struct writing *w, const struct ptx_inst *i, bool region)
{
    uint32_t around = region ? w->p->within[i->index] : PTX_NO_INDEX;
    const struct ptx_inst *g = around != PTX_NO_INDEX ? &w->p->f->insts[around] : i;
    if (!g->guarded)
        return;
    /* the branch leads around the instruction */
    buf_puts(w->out, g->guard_neg != (g != i) ? "@!" : "@");
    if (g != i && vector_keeps_guard(w->p, g))
        put_kept(w, g, w->lane, w->out);
    else
        put_reg(w, g->guard, w->lane, w->out);
    buf_puts(w->out, " ");
}

static void put_inst(struct writing *w, const struct ptx_inst *i, unsigned lane, bool region)
{
    struct buf text = { 0 };
    w->i = i;
    set_lane(w, lane);
    pass_inst_text(w->c->m, i, coordinate, w, &text);
    buf_printf(w->out, PTX_EDIT_COPY_OF, i->at.line, i->at.off);
    put_guard(w, i, region);
    if (text.s) {
        struct str own = ptx_text(w->c->m, i->at);
        size_t from = (size_t)(words_opcode(w->c->m, i).s - own.s); /* guards are not replaced */
        pass_rename((struct str){ text.s + from, text.n - from }, put_name, w, w->out);
    }
    buf_puts(w->out, "\n");
    w->out->oom |= text.oom;
    buf_free(&text);
}

static void put_lanes(struct writing *w, const struct ptx_inst *i, bool region)
{
    unsigned n = w->p->how[i->index] == VECTOR_LANES ? w->p->lanes : 1;
    for (unsigned lane = 0; lane < n; lane++)
        put_inst(w, i, lane, region);
}

/* ---- checks ---- */
/* out: true where lanes differ in this predicate; `first`: nothing was in it. */
static void put_differs(struct writing *w, uint32_t guard, bool first)
{
    for (unsigned lane = 1; lane < w->p->lanes; lane++) {
        const char *to = first && lane == 1 ? "out" : "w";
        pass_code(w->out, w->t, "xor.pred \t%%#%s, ", to);
        put_reg(w, guard, 0, w->out);
        buf_puts(w->out, ", ");
        put_reg(w, guard, lane, w->out);
        buf_puts(w->out, ";\n");
        if (to[0] == 'w')
            pass_code(w->out, w->t, "or.pred \t%%#out, %%#out, %%#w;\n");
    }
}

static void put_wrap(struct writing *w, const struct ptx_inst *i)
{
    int64_t step;
    uint32_t source = vector_sources(w->p, i).reg;
    enum ptx_type t = (enum ptx_type)i->type[ptx_rule_of(i) == ADDR_CVT ? i->ntypes - 1 : 0];
    if (!pass_motion(&w->p->flow, source, PTX_NO_INDEX, &step) || !step)
        return;
    pass_code(w->out, w->t, "add.s32 \t%%#x, ");
    put_reg(w, source, 0, w->out);
    pass_code(w->out, w->t, ", %lld;\nsetp.%s.%s32 \t%%#w, %%#x, ", (long long)step * (w->p->lanes - 1),
              step > 0 ? "lt" : "gt", ptx_type_name(t)[0] == 's' ? "s" : "u");
    put_reg(w, source, 0, w->out);
    pass_code(w->out, w->t, ";\nor.pred \t%%#out, %%#out, %%#w;\n");
}

static unsigned root_phase(const struct vector_plan *p, const struct vector_group *g, uint32_t k)
{
    return p->varies[g->root[k]] ? g->phase : 0;
}

/* Was this root asked for as much before? */
static bool asked_before(const struct vector_plan *p, uint32_t group, uint32_t root)
{
    const struct vector_group *g = &p->group[group];
    for (uint32_t k = 0; k <= group; k++)
        for (uint32_t r = 0; r < (k < group ? p->group[k].nroots : root); r++)
            if (p->group[k].root[r] == g->root[root] && p->group[k].align >= g->align &&
                root_phase(p, &p->group[k], r) % g->align == root_phase(p, g, root))
                return true;
    return false;
}

static void put_aligned(struct writing *w, const struct vector_group *g, uint32_t root)
{
    bool wide = ptx_type_bits((enum ptx_type)w->p->f->regs[g->root[root]].type) == 64;
    buf_printf(w->out, wide ? "cvt.u32.u64 \t%%%sx, " : "mov.b32 \t%%%sx, ", w->t);
    put_reg(w, g->root[root], 0, w->out);
    pass_code(w->out, w->t, ";\nand.b32 \t%%#x, %%#x, %u;\nsetp.ne.u32 \t%%#w, %%#x, %u;\n",
              g->align - 1, root_phase(w->p, g, root));
    pass_code(w->out, w->t, "or.pred \t%%#out, %%#out, %%#w;\n");
}

static void put_checks(struct writing *w)
{
    const struct vector_plan *p = w->p;
    pass_code(w->out, w->t, "setp.ne.u32 \t%%#out, %%#tx, %%#tx;\n");
    for (uint32_t k = 0; k < p->f->ninsts; k++)
        if (p->wraps[k])
            put_wrap(w, &p->f->insts[k]);
    for (uint32_t k = 0; k < p->ngroups; k++)
        for (uint32_t r = 0; r < p->group[k].nroots; r++)
            if (!asked_before(p, k, r))
                put_aligned(w, &p->group[k], r);
    for (uint32_t k = 0; k < p->f->ninsts; k++)
        if (p->how[k] == VECTOR_SAME && p->pure[p->f->insts[k].guard])
            put_differs(w, p->f->insts[k].guard, false);
    pass_code(w->out, w->t, "@%%#out bra \t$#slow;\n");
}

/* ---- groups ---- */
static unsigned reg_bits(const struct vector_plan *p, const struct vector_group *g, unsigned least)
{
    for (uint32_t k = 0; k < g->n; k++)
        for (unsigned e = 0; e < vector_elements(&p->f->insts[g->inst[k]]); e++) {
            uint32_t r = vector_data(&p->f->insts[g->inst[k]], e)->index;
            unsigned n = ptx_type_bits((enum ptx_type)p->f->regs[r].type);
            least = n > least ? n : least;
        }
    return least;
}

static void put_element(const struct writing *w, uint32_t group, int64_t at, struct buf *out)
{
    const struct vector_group *g = &w->p->group[group];
    int64_t place = (at - g->access[0].at) / g->bytes;
    pass_code(out, w->t, "%%#e%u_%lld", group, (long long)place);
}

/* An element and a lane's register, one moved to the other. */
static void put_move(struct writing *w, uint32_t group, uint32_t inst, unsigned lane, unsigned e)
{
    const struct vector_group *g = &w->p->group[group];
    const struct ptx_inst *i = &w->p->f->insts[g->inst[inst]];
    uint32_t reg = vector_data(i, e)->index;
    bool load = ptx_effect_of(i) == EFFECT_LOAD;
    unsigned own = ptx_type_bits((enum ptx_type)w->p->f->regs[reg].type), n = reg_bits(w->p, g, 16);
    if (own == n)
        buf_printf(w->out, "mov.b%u \t", n);
    else
        buf_printf(w->out, "cvt.u%u.u%u \t", load ? own : n, load ? n : own);
    if (load)
        put_reg(w, reg, lane, w->out);
    else
        put_element(w, group, vector_place(w->p, g, inst, lane, e), w->out);
    buf_puts(w->out, ", ");
    if (load)
        put_element(w, group, vector_place(w->p, g, inst, lane, e), w->out);
    else
        put_reg(w, reg, lane, w->out);
    buf_puts(w->out, ";\n");
}

static void put_moves(struct writing *w, uint32_t group)
{
    const struct vector_group *g = &w->p->group[group];
    for (uint32_t k = 0; k < g->n; k++)
        for (unsigned lane = 0; lane < w->p->lanes; lane++)
            for (unsigned e = 0; e < vector_elements(&w->p->f->insts[g->inst[k]]); e++)
                put_move(w, group, k, lane, e);
}

static void put_opcode(struct writing *w, const struct ptx_inst *i, unsigned width)
{
    buf_puts(w->out, ptx_op_info(i->op)->name);
    for (uint8_t k = 0; k < i->nmods; k++) {
        if (ptx_mod_category((enum ptx_mod)i->mods[k]) == MODCAT_VEC)
            continue;
        if (k + 1 == i->nmods && width > 1)
            buf_printf(w->out, ".v%u", width);
        buf_puts(w->out, ptx_mod_text((enum ptx_mod)i->mods[k]));
    }
    buf_puts(w->out, " \t");
}

static void put_access(struct writing *w, uint32_t group, uint32_t k)
{
    const struct vector_group *g = &w->p->group[group];
    const struct ptx_inst *i = &w->p->f->insts[g->inst[0]];
    struct buf data = { 0 };
    unsigned width = g->access[k].width;
    buf_puts(&data, width > 1 ? "{" : "");
    for (unsigned e = 0; e < width; e++) {
        buf_puts(&data, e ? ", " : "");
        put_element(w, group, g->access[k].at + (int64_t)e * g->bytes, &data);
    }
    buf_puts(&data, width > 1 ? "}" : "");
    bool load = ptx_effect_of(i) == EFFECT_LOAD;
    buf_printf(w->out, PTX_EDIT_COPY_OF, i->at.line, i->at.off);
    put_opcode(w, i, width);
    if (load)
        buf_printf(w->out, "%s, ", data.s ? data.s : "");
    buf_puts(w->out, "[");
    put_reg(w, g->base, 0, w->out);
    buf_printf(w->out, "+%lld]", (long long)g->access[k].at);
    if (!load)
        buf_printf(w->out, ", %s", data.s ? data.s : "");
    buf_puts(w->out, ";\n");
    w->out->oom |= data.oom;
    buf_free(&data);
}

static void put_group(struct writing *w, uint32_t group)
{
    const struct vector_group *g = &w->p->group[group];
    bool load = ptx_effect_of(&w->p->f->insts[g->inst[0]]) == EFFECT_LOAD;
    if (!load)
        put_moves(w, group);
    for (uint32_t k = 0; k < g->naccesses; k++)
        put_access(w, group, k);
    if (load)
        put_moves(w, group);
}

/* ---- the body ---- */
static void put_branch(struct writing *w, const struct ptx_inst *i)
{
    if (!w->p->pure[i->guard]) {
        put_differs(w, i->guard, true);
        pass_code(w->out, w->t, "@%%#out bra \t$#slow;\n");
    }
    put_inst(w, i, 0, false);
}

/* A branch that each lane decides for itself: nothing, or a copy of its predicate. */
static void put_decided(struct writing *w, const struct ptx_inst *i)
{
    bool keeps = vector_keeps_guard(w->p, i);
    for (unsigned lane = 0; keeps && lane < w->p->lanes; lane++) {
        buf_puts(w->out, "mov.pred \t");
        put_kept(w, i, lane, w->out);
        buf_puts(w->out, ", ");
        put_reg(w, i->guard, lane, w->out);
        buf_puts(w->out, ";\n");
    }
}

static void put_stmt(struct writing *w, const struct ptx_stmt *s)
{
    struct str text = ptx_text(w->c->m, s->at);
    const struct ptx_inst *i = s->kind == STMT_INST ? &w->p->f->insts[s->index] : NULL;
    if (s->kind == STMT_LABEL) {
        put_label(w, s->index, w->out);
        buf_puts(w->out, ":\n");
    }
    if (s->kind == STMT_LOC || s->kind == STMT_PRAGMA)
        buf_printf(w->out, "%.*s\n", (int)text.n, text.s);
    if (!i || w->p->early[i->index])
        return;
    switch ((enum vector_how)w->p->how[i->index]) {
    case VECTOR_ONCE:
    case VECTOR_LANES: put_lanes(w, i, true); break;
    case VECTOR_SAME: put_branch(w, i); break;
    case VECTOR_LEAD: put_group(w, w->p->of[i->index]); break;
    case VECTOR_REST: put_decided(w, i); break;
    }
}

/* ---- declarations ---- */
static void declare(const struct writing *w, struct buf *out)
{
    const struct vector_plan *p = w->p;
    for (uint32_t r = 0; r < p->f->nregs; r++) {
        buf_printf(out, ".reg .%s \t", ptx_type_name((enum ptx_type)p->f->regs[r].type));
        for (unsigned lane = 0; lane < (p->varies[r] ? p->lanes : 1); lane++) {
            buf_puts(out, lane ? ", " : "");
            put_reg(w, r, lane, out);
        }
        buf_puts(out, ";\n");
    }
    for (uint32_t g = 0; g < p->ngroups; g++) {
        buf_printf(out, ".reg .b%u \t", reg_bits(p, &p->group[g], 16));
        for (uint32_t k = 0, n = 0; k < p->group[g].naccesses; k++)
            for (unsigned e = 0; e < p->group[g].access[k].width; e++, n++) {
                buf_puts(out, n ? ", " : "");
                put_element(w, g, p->group[g].access[k].at + (int64_t)e * p->group[g].bytes, out);
            }
        buf_puts(out, ";\n");
    }
    for (uint32_t k = 0; k < p->f->ninsts; k++)
        for (unsigned lane = 0; vector_keeps_guard(p, &p->f->insts[k]) && lane < p->lanes; lane++) {
            buf_puts(out, ".reg .pred \t");
            put_kept(w, &p->f->insts[k], lane, out);
            buf_puts(out, ";\n");
        }
    pass_code(out, w->t, ".reg .pred \t%%#w;\n.reg .b32 \t%%#x;\n");
    for (unsigned lane = 1; lane < p->lanes; lane++)
        pass_code(out, w->t, ".reg .b32 \t%%#v%utx;\n", lane);
}

void vector_code(struct pass_ctx *c, const struct vector_plan *p, const struct pass_virtual *other,
                 struct buf *decls, struct buf *out)
{
    struct writing w = { .c = c, .p = p, .other = other, .t = c->tag, .out = out };
    declare(&w, decls);
    for (unsigned lane = 1; lane < p->lanes; lane++)
        pass_code(out, w.t, "add.u32 \t%%#v%utx, %%#tx, %u;\n", lane, lane);
    for (uint32_t k = 0; k < p->norder; k++)
        if (p->early[p->order[k]])
            put_lanes(&w, &p->f->insts[p->order[k]], false);
    put_checks(&w);
    for (uint32_t k = pass_first_stmt(p->f); k < p->f->nstmts; k++)
        put_stmt(&w, &p->f->stmts[k]);
    if (pass_falls_off(p->f))
        buf_puts(out, "ret;\n");
}
