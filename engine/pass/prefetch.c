/* prefetch (paper: cluster, section 4.3 III): the lines that a load will touch are
 * asked for before the load runs.
 *
 *   under agents   addresses of the next task: the load's address is computed again
 *                  with the next task's coordinates for %ctaid
 *   otherwise      addresses `distance` iterations ahead: computed again with the
 *                  loop's induction variable moved on
 *
 * The computation is a backward slice of pure instructions into fresh registers. A
 * prefetch past the data is harmless on hardware (an unmapped address is dropped).
 * Once per line per warp: with a known byte step between lanes or iterations, only
 * addresses that are the first of their 128-byte line on that walk ask. */
#include "engine/pass/cluster_int.h"

#include <string.h>

#define TAG "prefetch"
enum { SLICE_MAX = 48, LOADS_MAX = 12, LINE = 128 };

/* ---- how an address moves with a variable: %tid.x or an induction register ---- */
enum { ASSUME_MAX = 8 };
struct motion {
    const struct pass_flow *fl;
    uint32_t var;                /* register, or PTX_NO_INDEX for %tid.x */
    unsigned budget;
    struct { uint32_t reg; int64_t k; bool known; } assume[ASSUME_MAX]; uint32_t nassume;   /* registers with several definitions */
};

static bool motion_reg(struct motion *m, uint32_t reg, int64_t *k);

static bool info_is_add(const struct ptx_inst *d) { return inst_is(d, "add") || inst_is(d, "sub"); }

static bool motion_operand(struct motion *m, const struct ptx_operand *o, int64_t *k)
{
    *k = 0;
    if (o->kind == OPND_IMM || o->kind == OPND_SYM)
        return true;
    if (o->kind == OPND_SREG) {
        *k = m->var == PTX_NO_INDEX && o->index == PTX_SREG_TID && o->comp == 0;
        return o->index != PTX_SREG_LANEID || m->var != PTX_NO_INDEX;
    }
    return o->kind == OPND_REG && motion_reg(m, o->index, k);
}

/* Value of an operand that is an immediate, or a register that only ever holds one. */
static bool constant(const struct motion *m, const struct ptx_operand *o, int64_t *v)
{
    *v = o->imm;
    if (o->kind == OPND_IMM && !o->is_float)
        return true;
    if (o->kind != OPND_REG || m->fl->cfg->regs[o->index].ndefs != 1)
        return false;
    const struct ptx_inst *d = &m->fl->f->insts[m->fl->cfg->regs[o->index].defs[0]];
    *v = d->nopnds == 2 ? d->opnds[1].imm : 0;
    return inst_is(d, "mov") && d->nopnds == 2 && d->opnds[1].kind == OPND_IMM && !d->opnds[1].is_float;
}

static bool motion_product(struct motion *m, const struct ptx_operand *a, const struct ptx_operand *b, bool shift, int64_t *k)
{
    int64_t ka, kb, c;
    if (!motion_operand(m, a, &ka) || !motion_operand(m, b, &kb))
        return false;
    *k = 0;
    if (!ka && !kb)
        return true;
    if (!kb && constant(m, b, &c) && (!shift || (c >= 0 && c < 32))) {
        *k = shift ? ka * ((int64_t)1 << c) : ka * c;
        return true;
    }
    if (!ka && !shift && constant(m, a, &c)) {
        *k = kb * c;
        return true;
    }
    return false;
}

static bool motion_def(struct motion *m, const struct ptx_inst *d, int64_t *k)
{
    const struct ptx_op_info *info = ptx_op_info((enum ptx_op)d->op);
    const struct ptx_operand *o = d->opnds;
    int64_t other = 0;
    *k = 0;
    if (d->guarded || d->nopnds < 2 || o[0].kind != OPND_REG)
        return false;
    switch (info->addr) {
    case ADDR_COPY: case ADDR_CVTA: case ADDR_CVT:
        return motion_operand(m, &o[1], k);
    case ADDR_ADD: case ADDR_SUB:
        if (d->nopnds < 3 || !motion_operand(m, &o[1], k) || !motion_operand(m, &o[2], &other))
            return false;
        *k += info->addr == ADDR_ADD ? other : -other;
        return true;
    case ADDR_MUL_LO: case ADDR_MUL_WIDE: case ADDR_SHL:
        return d->nopnds >= 3 && motion_product(m, &o[1], &o[2], info->addr == ADDR_SHL, k);
    case ADDR_MAD_LO: case ADDR_MAD_WIDE:
        if (d->nopnds < 4 || !motion_product(m, &o[1], &o[2], false, k) || !motion_operand(m, &o[3], &other))
            return false;
        *k += other;
        return true;
    case ADDR_LOAD:
        return d->space == PTX_SPACE_PARAM;
    default:                                       /* unknown unless nothing it reads moves */
        for (uint8_t n = 1; n < d->nopnds; n++)
            if (!motion_operand(m, &o[n], &other) || other)
                return false;
        return inst_effect(d) == EFFECT_NONE && info->addr != ADDR_UNKNOWN;
    }
}

/* A register with several definitions moves as the one it starts from does; the others, which may go
 * round a loop and read the register itself, must agree with that. */
static bool motion_reg(struct motion *m, uint32_t reg, int64_t *k)
{
    const struct ptx_reg_refs *x = &m->fl->cfg->regs[reg];
    *k = m->var == reg;
    if (m->var == reg)
        return true;
    for (uint32_t n = 0; n < m->nassume; n++)
        if (m->assume[n].reg == reg) {
            *k = m->assume[n].k;
            return m->assume[n].known;
        }
    if (!x->ndefs || !m->budget || m->nassume == ASSUME_MAX)
        return false;
    m->budget--;
    if (x->ndefs == 1)
        return motion_def(m, &m->fl->f->insts[x->defs[0]], k);
    uint32_t own = m->nassume++, first = 0;
    m->assume[own].reg = reg;
    m->assume[own].known = false;
    while (first < x->ndefs && !motion_def(m, &m->fl->f->insts[x->defs[first]], k))
        first++;
    bool ok = first < x->ndefs;
    m->assume[own].k = *k;
    m->assume[own].known = ok;
    for (uint32_t n = 0; n < x->ndefs && ok; n++) {
        int64_t one;
        ok = motion_def(m, &m->fl->f->insts[x->defs[n]], &one) && one == m->assume[own].k;
    }
    *k = m->assume[own].k;
    m->nassume = own;
    return ok;
}

bool pass_motion(const struct pass_flow *fl, uint32_t reg, uint32_t var, int64_t *k)
{
    struct motion m = { .fl = fl, .var = var, .budget = SLICE_MAX * 8 };
    return motion_reg(&m, reg, k);
}

/* ---- slices ---- */
struct slice {
    struct pass_ctx *c;
    const struct pass_flow *fl;
    const char *const *next;     /* TASK: %ctaid's replacements; NULL: LOOP */
    uint32_t loop;               /* LOOP: registers defined outside stay; PTX_NO_INDEX under TASK */
    uint32_t at;                 /* instruction the value is for */
    uint32_t done[SLICE_MAX], ndone;   /* registers that have a fresh copy: <tag>s<serial> */
    uint32_t serial[SLICE_MAX];
    uint32_t *counter;           /* of fresh registers in this rewrite */
    struct buf *decls, *code;
    uint32_t moved;              /* induction variables moved on */
    uint32_t induction;          /* the last of them */
    int64_t step; bool step_known;
    char text[SLICE_MAX][24];
};

static const char *slice_name(struct slice *s, uint32_t reg)
{
    for (uint32_t k = 0; k < s->ndone; k++)
        if (s->done[k] == reg)
            return s->text[k];
    return NULL;
}

static const char *reg_class(enum ptx_type t)
{
    switch (ptx_type_kind(t) == 'p' ? 1 : ptx_type_bits(t)) {
    case 1: return ".pred";
    case 16: return ".b16";
    case 32: return ".b32";
    case 64: return ".b64";
    default: return NULL;
    }
}

static const char *slice_new(struct slice *s, uint32_t reg)
{
    const char *cls = reg_class((enum ptx_type)s->fl->f->regs[reg].type);
    if (s->ndone == SLICE_MAX || !cls)
        return NULL;
    struct buf b = { 0 };
    buf_printf(&b, "%%%ss%u", s->c->tag, (*s->counter)++);
    char *t = s->text[s->ndone];
    memcpy(t, b.s && b.n < sizeof s->text[0] ? b.s : "", b.s && b.n < sizeof s->text[0] ? b.n + 1 : 1);
    s->decls->oom |= b.oom;
    buf_free(&b);
    buf_printf(s->decls, ".reg %s \t%s;\n", cls, t);
    s->done[s->ndone++] = reg;
    return t;
}

static bool in_loop(const struct slice *s, uint32_t inst)
{
    const struct ptx_cfg *g = s->fl->cfg;
    for (uint32_t l = g->blocks[g->block_of[inst]].loop; l != PTX_NO_INDEX; l = g->loops[l].parent)
        if (l == s->loop)
            return true;
    return false;
}

static const char *slice_sub(void *ctx, const struct ptx_operand *o)
{
    struct slice *s = ctx;
    if (o->kind == OPND_REG)
        return slice_name(s, o->index);
    if (o->kind == OPND_SREG && o->index == PTX_SREG_CTAID && s->next && o->comp >= 0 && o->comp < 3)
        return s->next[o->comp];
    return NULL;
}

static bool pure(const struct ptx_inst *d)
{
    enum ptx_effect e = inst_effect(d);
    bool constant_load = e == EFFECT_LOAD && inst_is(d, "ld") && d->space == PTX_SPACE_PARAM;
    return d->op != PTX_OP_OPAQUE && !d->guarded && (e == EFFECT_NONE || constant_load) && d->nopnds >= 2 && d->opnds[0].kind == OPND_REG &&
           (d->nopnds < 2 || d->opnds[1].kind != OPND_VEC);
}

static bool slice_reg(struct slice *s, uint32_t reg);

static bool invariant(const struct slice *s, uint32_t reg)
{
    const struct ptx_reg_refs *x = &s->fl->cfg->regs[reg];
    for (uint32_t k = 0; k < x->ndefs; k++)
        if (in_loop(s, x->defs[k]))
            return false;
    return true;
}

/* What one turn adds to an induction register: imm + count * reg, summed over a chain of
 * additions (an unrolled loop has several). */
struct turn { int64_t imm, count; uint32_t reg; };

static bool turn_of(const struct slice *s, uint32_t reg, const struct ptx_inst *d, struct turn *t)
{
    *t = (struct turn){ 0, 0, PTX_NO_INDEX };
    for (unsigned links = 0; links < 16; links++) {
        if (!info_is_add(d) || d->guarded || d->nopnds != 3 || d->opnds[1].kind != OPND_REG)
            return false;
        const struct ptx_operand *step = &d->opnds[2];
        int sign = inst_is(d, "add") ? 1 : -1;
        if (step->kind == OPND_IMM) {
            t->imm += sign * step->imm;
        } else if (step->kind == OPND_REG && invariant(s, step->index) && (t->reg == PTX_NO_INDEX || t->reg == step->index)) {
            t->reg = step->index;
            t->count += sign;
        } else {
            return false;
        }
        if (d->opnds[1].index == reg)
            return true;
        const struct ptx_reg_refs *x = &s->fl->cfg->regs[d->opnds[1].index];
        if (x->ndefs != 1 || !in_loop(s, x->defs[0]))
            return false;
        d = &s->fl->f->insts[x->defs[0]];
    }
    return false;
}

/* An induction register's fresh copy is what it will be `distance` turns later. */
static bool slice_induction(struct slice *s, uint32_t reg, const struct turn *t)
{
    unsigned bits = ptx_type_bits((enum ptx_type)s->fl->f->regs[reg].type);
    long long n = s->c->opt->prefetch_distance;
    struct str from = s->fl->f->regs[reg].name;
    const char *to = slice_new(s, reg);
    s->moved++;
    s->induction = reg;
    s->step_known = t->reg == PTX_NO_INDEX;
    s->step = t->imm;
    if (!to)
        return false;
    buf_printf(s->code, "add.s%u \t%s, %.*s, %lld;\n", bits, to, (int)from.n, from.s, (long long)t->imm * n);
    if (t->reg != PTX_NO_INDEX)
        buf_printf(s->code, "mad.lo.s%u \t%s, %.*s, %lld, %s;\n", bits, to, (int)s->fl->f->regs[t->reg].name.n, s->fl->f->regs[t->reg].name.s, (long long)t->count * n, to);
    return true;
}

struct deps { struct slice *s; bool ok; };

static void slice_dep(void *ctx, uint32_t reg, unsigned access)
{
    struct deps *d = ctx;
    if (d->ok && (access & PTX_READ) && !(access & PTX_WRITE))
        d->ok = slice_reg(d->s, reg);
}

static bool slice_def(struct slice *s, uint32_t reg, const struct ptx_inst *d)
{
    struct deps deps = { s, true };
    if (!pure(d))
        return false;
    ptx_inst_regs(d, slice_dep, &deps);
    if (!deps.ok || !slice_new(s, reg))
        return false;
    pass_inst_text(s->c->m, d, slice_sub, s, s->code);
    buf_puts(s->code, "\n");
    return true;
}

/* The definition the value starts from: the only one, or the one outside the loop that goes round. */
static const struct ptx_inst *start_def(const struct slice *s, uint32_t reg)
{
    const struct ptx_reg_refs *x = &s->fl->cfg->regs[reg];
    const struct ptx_cfg *g = s->fl->cfg;
    const struct ptx_inst *found = NULL;
    if (x->ndefs == 1)
        return &s->fl->f->insts[x->defs[0]];
    for (uint32_t k = 0; k < x->ndefs; k++) {
        bool dom = ptx_dominates(g, g->block_of[x->defs[k]], g->block_of[s->at]) && x->defs[k] < s->at;
        bool turns = g->blocks[g->block_of[x->defs[k]]].loop != PTX_NO_INDEX && g->blocks[g->block_of[x->defs[k]]].loop == g->blocks[g->block_of[s->at]].loop;
        if (!dom || turns)
            continue;
        found = found ? NULL : &s->fl->f->insts[x->defs[k]];
        if (!found)
            return NULL;
    }
    return found;
}

static bool slice_reg(struct slice *s, uint32_t reg)
{
    const struct ptx_reg_refs *x = &s->fl->cfg->regs[reg];
    if (slice_name(s, reg))
        return true;
    if (s->ndone >= SLICE_MAX - 1)
        return false;
    if (s->next) {
        const struct ptx_inst *d = start_def(s, reg);
        return d && slice_def(s, reg, d);
    }
    uint32_t inside = 0;
    const struct ptx_inst *d = NULL;
    for (uint32_t k = 0; k < x->ndefs; k++)
        if (in_loop(s, x->defs[k])) {
            inside++;
            d = &s->fl->f->insts[x->defs[k]];
        }
    if (!inside)
        return true;                               /* as it is: the same in every iteration */
    if (inside > 1 || !d)
        return false;
    struct turn t;
    if (x->ndefs > 1)
        return turn_of(s, reg, d, &t) && slice_induction(s, reg, &t);
    return slice_def(s, reg, d);
}

/* ---- the prefetch itself ---- */
static uint64_t magnitude(int64_t v) { return v < 0 ? (uint64_t)-v : (uint64_t)v; }

/* Bytes within a line below which an address is the first of its line; LINE: no filter; 0: lane 0 alone. */
static uint64_t first_bytes(const struct slice *s, uint32_t base, bool *lane0)
{
    uint64_t least = LINE;
    int64_t k;
    *lane0 = false;
    if (pass_motion(s->fl, base, PTX_NO_INDEX, &k)) {
        if (!k)
            *lane0 = true;
        else if (magnitude(k) < least)
            least = magnitude(k);
    }
    if (s->moved == 1 && s->step_known && s->induction != PTX_NO_INDEX && pass_motion(s->fl, base, s->induction, &k) && k && magnitude(k * s->step) < least)
        least = magnitude(k * s->step);
    return least;
}

static void emit_prefetch(struct slice *s, const struct ptx_operand *a, uint32_t n, struct buf *out)
{
    const char *t = s->c->tag, *level = s->c->opt->prefetch == PREFETCH_L1 ? "L1" : "L2";
    const char *base = slice_name(s, a->index);
    struct str own = s->fl->f->regs[a->index].name;
    bool lane0;
    uint64_t least = first_bytes(s, a->index, &lane0);
    struct buf reg = { 0 };
    if (base)
        buf_puts(&reg, base);
    else
        buf_str(&reg, own);
    const char *r = reg.s ? reg.s : "";
    if (least < LINE) {
        buf_printf(s->decls, ".reg .pred \t%%%sf%u, %%%sg%u;\n.reg .b64 \t%%%sm%u;\n.reg .b32 \t%%%sl%u;\n", t, n, t, n, t, n, t, n);
        buf_printf(out, "add.s64 \t%%%sm%u, %s, %lld;\nand.b64 \t%%%sm%u, %%%sm%u, %d;\nsetp.lt.u64 \t%%%sf%u, %%%sm%u, %llu;\n", t, n, r, (long long)a->imm, t, n, t, n,
                   LINE - 1, t, n, t, n, (unsigned long long)least);
        buf_printf(out, "mov.u32 \t%%%sl%u, %%laneid;\nsetp.eq.u32 \t%%%sg%u, %%%sl%u, 0;\n", t, n, t, n, t, n);
        buf_printf(out, lane0 ? "and.pred \t%%%sf%u, %%%sf%u, %%%sg%u;\n" : "or.pred \t%%%sf%u, %%%sf%u, %%%sg%u;\n", t, n, t, n, t, n);
        buf_printf(out, "@%%%sf%u ", t, n);
    } else if (lane0) {
        buf_printf(s->decls, ".reg .pred \t%%%sf%u;\n.reg .b32 \t%%%sl%u;\n", t, n, t, n);
        buf_printf(out, "mov.u32 \t%%%sl%u, %%laneid;\nsetp.eq.u32 \t%%%sf%u, %%%sl%u, 0;\n@%%%sf%u ", t, n, t, n, t, n, t, n);
    }
    buf_printf(out, "prefetch.global.%s \t[%s+%lld];\n", level, r, (long long)a->imm);
    out->oom |= reg.oom;
    buf_free(&reg);
}

/* ---- which loads ---- */
struct seen { uint32_t base[LOADS_MAX]; int64_t line[LOADS_MAX]; uint32_t n; };

static bool candidate(const struct ptx_inst *i, struct seen *seen)
{
    const struct ptx_operand *a = inst_address(i);
    if (!inst_is(i, "ld") || i->space != PTX_SPACE_GLOBAL || inst_is_strong(i) || !a || a->base != BASE_REG || seen->n == LOADS_MAX)
        return false;
    for (uint32_t k = 0; k < seen->n; k++)
        if (seen->base[k] == a->index && seen->line[k] == a->imm / LINE)
            return false;
    return true;
}

static void remember(struct seen *seen, const struct ptx_operand *a)
{
    seen->base[seen->n] = a->index;
    seen->line[seen->n++] = a->imm / LINE;
}

/* Takes back what a failed slice wrote. */
static void rewind_to(struct buf *b, size_t n)
{
    if (b->s && n <= b->n) {
        b->n = n;
        b->s[n] = 0;
    }
}

enum status prefetch_task_code(struct pass_ctx *c, const char *const next[3], struct buf *decls, struct buf *code, uint32_t *nloads)
{
    struct pass_flow fl;
    struct seen seen = { .n = 0 };
    uint32_t counter = 0;
    *nloads = 0;
    if (!pass_flow_make(c->f, &fl))
        return ST_NOMEM;
    for (uint32_t k = 0; k < c->f->ninsts; k++) {
        const struct ptx_operand *a = inst_address(&c->f->insts[k]);
        if (!candidate(&c->f->insts[k], &seen))
            continue;
        struct slice s = { .c = c, .fl = &fl, .next = next, .loop = PTX_NO_INDEX, .at = k, .counter = &counter, .decls = decls, .code = code, .induction = PTX_NO_INDEX };
        size_t d = decls->n, t = code->n;
        if (slice_reg(&s, a->index)) {
            emit_prefetch(&s, a, (*nloads)++, code);
            remember(&seen, a);
        } else {
            rewind_to(decls, d);
            rewind_to(code, t);
        }
    }
    if (!*nloads && !c->checking)
        pass_note(c, NO_SPAN, "no load's address can be computed from the next task's coordinates alone: nothing is prefetched");
    pass_flow_free(&fl);
    return decls->oom || code->oom ? ST_NOMEM : ST_OK;
}

/* ---- the pass: next iterations of loops (under agents the cluster pass prefetches the next task) ---- */
static bool asked(const struct options *o) { return o->prefetch != PREFETCH_OFF; }

/* Prefetches for every load of a loop whose address moves with an induction variable; their number. */
static uint32_t visit(struct pass_ctx *c, const struct pass_flow *fl)
{
    struct seen seen = { .n = 0 };
    uint32_t counter = 0, n = 0;
    for (uint32_t k = 0; k < c->f->ninsts; k++) {
        const struct ptx_inst *i = &c->f->insts[k];
        const struct ptx_operand *a = inst_address(i);
        uint32_t loop = fl->cfg->blocks[fl->cfg->block_of[k]].loop;
        if (loop == PTX_NO_INDEX || !candidate(i, &seen))
            continue;
        struct buf decls = { 0 }, code = { 0 };
        struct slice s = { .c = c, .fl = fl, .loop = loop, .at = k, .counter = &counter, .decls = &decls, .code = &code, .induction = PTX_NO_INDEX };
        if (slice_reg(&s, a->index) && s.moved) {
            emit_prefetch(&s, a, n++, &code);
            remember(&seen, a);
            if (c->edit && code.s && decls.s) {
                ptx_edit_declare(c->edit, c->f, TAG, "%s", decls.s);
                ptx_edit_before(c->edit, c->f, i->stmt, TAG, "%s", code.s);
            }
        }
        c->oom |= decls.oom || code.oom;
        buf_free(&decls);
        buf_free(&code);
    }
    return n;
}

static enum status check(struct pass_ctx *c)
{
    struct pass_flow fl;
    if (c->opt->cluster == CLUSTER_AGENT)
        return ST_OK;
    if (!pass_flow_make(c->f, &fl))
        return ST_NOMEM;
    uint32_t n = visit(c, &fl);
    pass_flow_free(&fl);
    if (!n)
        return pass_refuse(c, NO_SPAN, "with --cluster agent the next task is prefetched", "no load in a loop has an address that moves by a known step: there is nothing to prefetch");
    return ST_OK;
}

static enum status run(struct pass_ctx *c)
{
    struct pass_flow fl;
    if (c->opt->cluster == CLUSTER_AGENT)
        return ST_OK;
    if (!pass_flow_make(c->f, &fl))
        return ST_NOMEM;
    uint32_t n = visit(c, &fl);
    pass_flow_free(&fl);
    const struct ana_kernel *k = pass_facts(c);
    if (k && (k->cls == ANA_CLASS_ALGORITHM || k->cls == ANA_CLASS_CACHE_LINE))
        pass_note(c, NO_SPAN, "the kernel's class is %s: clustering suits it better than prefetching", ana_class_name(k->cls));
    pass_note(c, NO_SPAN, "%u load%s prefetched; the last iterations ask for lines past the data, which hardware ignores when unmapped", n, n > 1 ? "s are" : " is");
    c->out->extra_regs += 2 * (int)n;
    return ST_OK;
}

static const char *const knobs[] = { "prefetch", "prefetch-distance", NULL };
const struct pass_row pass_row_prefetch = {
    { "prefetch", "lines of the next task or of later iterations are asked for ahead" }, knobs, asked, check, run,
};
