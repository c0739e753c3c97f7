/* Loading: a kernel with everything it calls becomes one flat list of instructions, every call site with
 * registers and private bytes of its own; symbols get places in the launch's memory. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

#include "tests/modelcheck/mc_int.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 64, DEPTH = 8, MOST = 60000 };
struct place {
    const struct ptx_symbol *sym;
    uint32_t at;
};
struct load {
    const struct ptx_module *m;
    struct mc_program *p;
    uint32_t cap;
    const char *why;
    struct place shared[PLACES];
    uint32_t nshared;
    struct {
        const struct ptx_symbol *sym;
        uint64_t base;
    } global[PLACES];
    uint32_t nglobal;
};
/* One inlined function: its registers begin at `base`; where parameters and locals lie in the private
 * bytes. */
struct inlined {
    const struct ptx_func *f;
    uint32_t base, depth;
    struct place priv[PLACES];
    uint32_t npriv;
};

static uint32_t place_private(struct load *l, struct inlined *n, const struct ptx_symbol *sym)
{
    for (uint32_t k = 0; k < n->npriv; k++)
        if (n->priv[k].sym == sym)
            return n->priv[k].at;
    uint32_t at = l->p->priv;
    l->p->priv += ((uint32_t)sym->bytes + 7) & ~7u;
    if (n->npriv < PLACES)
        n->priv[n->npriv++] = (struct place){ sym, at };
    else
        l->why = "too many private variables";
    return at;
}

static uint32_t place_shared(struct load *l, const struct ptx_symbol *sym)
{
    for (uint32_t k = 0; k < l->nshared; k++)
        if (l->shared[k].sym == sym)
            return l->shared[k].at;
    uint32_t align = sym->align > 4 ? sym->align : 4,
             at = (l->p->shared_static + align - 1) & ~(align - 1);
    if (sym->unsized || l->nshared == PLACES)
        return UINT32_MAX; /* placed behind all others, when they are known */
    l->shared[l->nshared++] = (struct place){ sym, at };
    l->p->shared_static = at + (uint32_t)sym->bytes;
    return at;
}

/* The address that a symbol's name stands for. */
static bool symbol_value(struct load *l, struct inlined *n, const struct ptx_symbol *sym, uint64_t *v)
{
    if (sym->kind != SYM_VAR)
        return false;
    if (sym->space == PTX_SPACE_SHARED) {
        uint32_t at = sym->unsized ? l->p->shared_static : place_shared(l, sym);
        *v = at;
        return at != UINT32_MAX;
    }
    if (sym->space == PTX_SPACE_LOCAL) {
        *v = place_private(l, n, sym);
        return true;
    }
    for (uint32_t k = 0; k < l->nglobal; k++)
        if (l->global[k].sym == sym || str_eq(l->global[k].sym->name, sym->name)) {
            *v = l->global[k].base;
            return true;
        }
    return false;
}

static struct mc_val value_of(struct load *l, struct inlined *n, const struct ptx_operand *o)
{
    struct mc_val v = { 0 };
    switch (o->kind) {
    case OPND_REG:
        v.kind = o->comp >= 0 ? SRC_NONE : SRC_REG;
        v.reg = n->base + o->index;
        v.neg = o->neg;
        break;
    case OPND_IMM:
        v.kind = SRC_IMM;
        v.imm = (uint64_t)o->imm;
        break;
    case OPND_SREG:
        v.kind = SRC_SREG;
        v.reg = o->index;
        v.comp = (uint8_t)(o->comp < 0 ? 0 : o->comp);
        break;
    case OPND_SYM:
        if (symbol_value(l, n, o->sym, &v.imm)) {
            v.kind = SRC_IMM;
            v.imm += (uint64_t)o->imm;
        }
        break;
    default: break;
    }
    return v;
}

static bool has(const struct ptx_inst *i, const char *mod)
{
    for (uint8_t k = 0; k < i->nmods; k++)
        if (strcmp(ptx_mod_text((enum ptx_mod)i->mods[k]), mod) == 0)
            return true;
    return false;
}

static void set_type(struct mc_inst *o, enum ptx_type t)
{
    o->bits = (uint8_t)ptx_type_bits(t);
    o->sign = ptx_type_kind(t) == 's';
    o->flt = ptx_type_kind(t) == 'f' || ptx_type_kind(t) == 'x';
}

static const struct {
    const char *name;
    uint8_t op;
    uint8_t sub;
} plain[] = {
    { "add", MC_ADD, 0 },      { "sub", MC_SUB, 0 },      { "mul.lo", MC_MUL, 0 },
    { "mul", MC_MUL, 0 },      { "mul.hi", MC_MULHI, 0 }, { "mul.wide", MC_MULWIDE, 0 },
    { "mad.lo", MC_MAD, 0 },   { "mad.hi", MC_MADHI, 0 }, { "mad.wide", MC_MADWIDE, 0 },
    { "div", MC_DIV, 0 },      { "rem", MC_REM, 0 },      { "min", MC_MIN, 0 },
    { "max", MC_MAX, 0 },      { "abs", MC_ABS, 0 },      { "neg", MC_NEG, 0 },
    { "and", MC_AND, 0 },      { "or", MC_OR, 0 },        { "xor", MC_XOR, 0 },
    { "not", MC_NOT, 0 },      { "shl", MC_SHL, 0 },      { "shr", MC_SHR, 0 },
    { "popc", MC_POPC, 0 },    { "clz", MC_CLZ, 0 },      { "bfe", MC_BFE, 0 },
    { "bfi", MC_BFI, 0 },      { "prmt", MC_PRMT, 0 },    { "lop3", MC_LOP3, 0 },
    { "shf.l", MC_SHFL_L, 0 }, { "shf.r", MC_SHFL_R, 0 }, { "selp", MC_SELP, 0 },
    { "fma", MC_FMA, 0 },      { "mad", MC_FMA, 0 },      { "cvt", MC_CVT, 0 },
};
static const struct {
    const char *name;
    uint8_t op;
} nothing[] = {
    { "membar", MC_NOP },
    { "fence", MC_NOP },
    { "nanosleep", MC_NOP },
    { "prefetch", MC_NOP },
    { "prefetchu", MC_NOP },
    { "applypriority", MC_NOP },
    { "createpolicy.fractional", MC_NOP },
    { "fence.proxy", MC_NOP },
    { "trap", MC_TRAP },
    { "exit", MC_EXIT },
};
static const struct {
    const char *mod;
    uint8_t cmp;
} cmps[] = {
    { ".eq", CMP_EQ }, { ".ne", CMP_NE }, { ".lt", CMP_LT }, { ".le", CMP_LE }, { ".gt", CMP_GT },
    { ".ge", CMP_GE }, { ".lo", CMP_LT }, { ".ls", CMP_LE }, { ".hi", CMP_GT }, { ".hs", CMP_GE },
};
static const struct {
    const char *mod;
    uint8_t at;
} atoms[] = {
    { ".add", AT_ADD }, { ".min", AT_MIN }, { ".max", AT_MAX }, { ".exch", AT_EXCH }, { ".cas", AT_CAS },
    { ".and", AT_AND }, { ".or", AT_OR },   { ".xor", AT_XOR }, { ".inc", AT_INC },   { ".dec", AT_DEC },
};

static uint8_t cmp_of(const struct ptx_inst *i)
{
    for (size_t k = 0; k < ARRAY_LEN(cmps); k++)
        if (has(i, cmps[k].mod))
            return cmps[k].cmp;
    return 255;
}

static bool put_dst(struct mc_inst *o, struct inlined *n, const struct ptx_operand *d)
{
    const struct ptx_operand *v = d->kind == OPND_VEC ? d->elem : d;
    unsigned count = d->kind == OPND_VEC ? d->nelem : 1;
    for (unsigned k = 0; k < count && k < 4; k++) {
        if (v[k].kind != OPND_REG && v[k].kind != OPND_SINK)
            return false;
        o->d[o->nd++] = v[k].kind == OPND_SINK || v[k].comp >= 0 ? UINT32_MAX : n->base + v[k].index;
    }
    return count <= 4;
}

static bool put_src(struct load *l, struct mc_inst *o, struct inlined *n, const struct ptx_operand *s)
{
    const struct ptx_operand *v = s->kind == OPND_VEC ? s->elem : s;
    unsigned count = s->kind == OPND_VEC ? s->nelem : 1;
    for (unsigned k = 0; k < count; k++) {
        if (o->ns == MC_OPERANDS)
            return false;
        o->s[o->ns] = value_of(l, n, &v[k]);
        if (o->s[o->ns++].kind == SRC_NONE)
            return false;
    }
    return true;
}

/* s[0] of a memory operation: base register, offset in imm; parameters and locals become private places.
 */
static bool put_address(struct load *l, struct mc_inst *o, struct inlined *n, const struct ptx_inst *i,
                        const struct ptx_operand *a)
{
    struct mc_val *v = &o->s[o->ns++];
    uint64_t base = 0;
    o->space = i->space == PTX_SPACE_SHARED_CLUSTER ? PTX_SPACE_SHARED : i->space;
    v->imm = (uint64_t)a->imm;
    v->kind = SRC_IMM;
    if (a->base == BASE_REG) {
        v->kind = SRC_REG;
        v->reg = n->base + a->index;
        return o->space != PTX_SPACE_PARAM;
    }
    if (a->base == BASE_IMM)
        return true;
    if (a->base != BASE_SYM)
        return false;
    if (o->space == PTX_SPACE_PARAM) {
        for (uint32_t k = 0; n->f->entry && k < n->f->nparams; k++)
            if (n->f->params[k] == a->sym) {
                v->imm += a->sym->offset;
                return true;
            }
        o->space = PTX_SPACE_LOCAL;
        base = place_private(l, n, a->sym);
    } else if (!symbol_value(l, n, a->sym, &base)) {
        return false;
    } else if (o->space == PTX_SPACE_GENERIC && a->sym->space == PTX_SPACE_SHARED) {
        base += MC_SHARED_BASE;
    }
    v->imm += base;
    return true;
}

static bool decode_memory(struct load *l, struct mc_inst *o, struct inlined *n, const struct ptx_inst *i,
                          const char *name)
{
    bool load = strcmp(name, "ld") == 0 || strcmp(name, "ldu") == 0, store = strcmp(name, "st") == 0,
         atom = strcmp(name, "atom") == 0;
    o->op = load ? MC_LD : store ? MC_ST : MC_ATOM;
    set_type(o, (enum ptx_type)i->type[i->ntypes - 1]);
    o->vec = i->vec ? i->vec : 1;
    o->nc = has(i, ".nc") || strcmp(name, "ldu") == 0;
    o->weak = (load || store) && !has(i, ".volatile") && !has(i, ".relaxed") && !has(i, ".acquire") &&
              !has(i, ".release") && !has(i, ".mmio");
    unsigned k = 0;
    if ((load || atom) && !put_dst(o, n, &i->opnds[k++]))
        return false;
    if (i->opnds[k].kind != OPND_ADDR || !put_address(l, o, n, i, &i->opnds[k++]))
        return false;
    if (load)
        return o->bits <= 64;
    if (!atom && !store && o->nd == 0)
        o->d[o->nd++] = UINT32_MAX;
    for (size_t a = 0; !store && a < ARRAY_LEN(atoms); a++)
        if (has(i, atoms[a].mod))
            o->sub = atoms[a].at;
    if (!store && o->flt)
        return false;
    unsigned want = store ? 1 : o->sub == AT_CAS ? 2 : 1;
    for (unsigned s = 0; s < want; s++)
        if (k >= i->nopnds || !put_src(l, o, n, &i->opnds[k++]))
            return false;
    return true;
}

static bool decode_setp(struct load *l, struct mc_inst *o, struct inlined *n, const struct ptx_inst *i)
{
    unsigned k = 0;
    set_type(o, (enum ptx_type)i->type[0]);
    o->op = MC_SETP;
    o->sub = cmp_of(i);
    if (!put_dst(o, n, &i->opnds[k++]) || o->sub == 255 || (o->flt && o->bits != 32))
        return false;
    if (i->opnds[1].access & PTX_WRITE)
        return false;
    o->comb = has(i, ".and") ? 1 : has(i, ".or") ? 2 : has(i, ".xor") ? 3 : 0;
    for (; k < i->nopnds; k++)
        if (!put_src(l, o, n, &i->opnds[k]))
            return false;
    return true;
}

static bool decode_mov(struct load *l, struct mc_inst *o, struct inlined *n, const struct ptx_inst *i)
{
    set_type(o, (enum ptx_type)i->type[0]);
    o->op = i->opnds[0].kind == OPND_VEC ? MC_UNPACK : i->opnds[1].kind == OPND_VEC ? MC_PACK : MC_MOV;
    return put_dst(o, n, &i->opnds[0]) && put_src(l, o, n, &i->opnds[1]);
}

static uint8_t window_of(const struct ptx_inst *i)
{
    return has(i, ".shared") || has(i, ".shared::cta") || has(i, ".shared::cluster") ? PTX_SPACE_SHARED
           : has(i, ".local")                                                        ? PTX_SPACE_LOCAL
           : has(i, ".global")                                                       ? PTX_SPACE_GLOBAL
           : has(i, ".const")                                                        ? PTX_SPACE_CONST
                                                                                     : PTX_SPACE_PARAM;
}

static bool decode_warp(struct load *l, struct mc_inst *o, struct inlined *n, const struct ptx_inst *i,
                        const char *name)
{
    bool shfl = strcmp(name, "shfl") == 0, vote = strcmp(name, "vote") == 0;
    o->op = shfl ? MC_SHFL : vote ? MC_VOTE : MC_WARPSYNC;
    o->bits = 32;
    if ((shfl || vote) && !has(i, ".sync"))
        return false;
    if (shfl)
        o->sub = has(i, ".up") ? 0 : has(i, ".down") ? 1 : has(i, ".bfly") ? 2 : 3;
    if (vote)
        o->sub = has(i, ".all") ? 0 : has(i, ".any") ? 1 : has(i, ".ballot") ? 2 : 3;
    unsigned k = 0;
    if ((shfl || vote) && !put_dst(o, n, &i->opnds[k++]))
        return false;
    if (shfl && (i->opnds[k].access & PTX_WRITE) && !put_dst(o, n, &i->opnds[k++]))
        return false;
    for (; k < i->nopnds; k++)
        if (!put_src(l, o, n, &i->opnds[k]))
            return false;
    return !vote || o->sub != 3;
}

static bool decode_plain(struct load *l, struct mc_inst *o, struct inlined *n, const struct ptx_inst *i,
                         const char *name)
{
    for (size_t k = 0; k < ARRAY_LEN(plain); k++)
        if (strcmp(name, plain[k].name) == 0) {
            o->op = plain[k].op;
            if (i->ntypes)
                set_type(o, (enum ptx_type)i->type[0]);
            if (o->op == MC_CVT && i->ntypes == 2) {
                struct mc_inst from = { 0 };
                set_type(&from, (enum ptx_type)i->type[1]);
                o->bits2 = from.bits, o->sign2 = from.sign, o->flt2 = from.flt;
            }
            if (o->flt && o->bits != 32 && o->op != MC_SELP)
                return false;
            if (has(i, ".sat") || has(i, ".cc") || (o->op == MC_PRMT && i->nmods > 1) ||
                (o->flt && has(i, ".ftz")))
                return false;
            if (has(i, ".wrap"))
                o->sub = 1;
            if (!put_dst(o, n, &i->opnds[0]))
                return false;
            for (unsigned s = 1; s < i->nopnds; s++)
                if (!put_src(l, o, n, &i->opnds[s]))
                    return false;
            return true;
        }
    return false;
}

static bool decode(struct load *l, struct mc_inst *o, struct inlined *n, const struct ptx_inst *i)
{
    const char *name = i->op == PTX_OP_OPAQUE ? "" : ptx_op_info(i->op)->name;
    for (size_t k = 0; k < ARRAY_LEN(nothing); k++)
        if (strcmp(name, nothing[k].name) == 0) {
            o->op = nothing[k].op;
            return true;
        }
    if (strcmp(name, "ld") == 0 || strcmp(name, "st") == 0 || strcmp(name, "atom") == 0 ||
        strcmp(name, "red") == 0 || strcmp(name, "ldu") == 0)
        return decode_memory(l, o, n, i, name);
    if (strcmp(name, "setp") == 0)
        return decode_setp(l, o, n, i);
    if (strcmp(name, "mov") == 0)
        return decode_mov(l, o, n, i);
    if (strcmp(name, "shfl") == 0 || strcmp(name, "vote") == 0 || strcmp(name, "bar.warp.sync") == 0)
        return decode_warp(l, o, n, i, name);
    if (strcmp(name, "cvta") == 0 || strcmp(name, "cvta.to") == 0 || strcmp(name, "isspacep") == 0) {
        o->op = name[0] == 'i' ? MC_ISSPACE : name[4] ? MC_CVTATO : MC_CVTA;
        o->bits = 64;
        o->sub = window_of(i);
        return put_dst(o, n, &i->opnds[0]) && put_src(l, o, n, &i->opnds[1]);
    }
    if (strcmp(name, "bar.sync") == 0 || strcmp(name, "barrier.sync") == 0 ||
        strcmp(name, "bar.cta.sync") == 0 || strcmp(name, "barrier.cta.sync") == 0) {
        o->op = MC_BAR;
        return i->nopnds == 1 && put_src(l, o, n, &i->opnds[0]);
    }
    return decode_plain(l, o, n, i, name);
}

static struct mc_inst *emit(struct load *l, uint32_t line)
{
    struct mc_program *p = l->p;
    if (p->n == l->cap) {
        uint32_t cap = l->cap ? 2 * l->cap : 256;
        struct mc_inst *v = realloc(p->inst, cap * sizeof *v);
        p->inst = v ? v : p->inst;
        uint32_t *w = v ? realloc(p->line, cap * sizeof *w) : NULL;
        if (!w || cap > MOST) {
            l->why = "too long";
            return NULL;
        }
        p->line = w;
        l->cap = cap;
    }
    memset(&p->inst[p->n], 0, sizeof p->inst[0]);
    p->line[p->n] = line;
    return &p->inst[p->n++];
}

static void put_guard(struct load *l, struct mc_inst *o, const struct inlined *n,
                      const struct ptx_inst *i)
{
    o->guarded = i->guarded;
    o->guard_neg = i->guard_neg;
    o->guard = i->guarded ? n->base + i->guard : 0;
    o->uni = i->guarded && has(i, ".uni");
    if (o->uni)
        o->unislot = l->p->nuni++;
}

static void inline_func(struct load *l, struct inlined *n);

/* A call: the callee's formal parameters are the caller's argument variables. */
static bool inline_call(struct load *l, struct inlined *n, const struct ptx_inst *i)
{
    const struct ptx_operand *list[2] = { NULL, NULL };
    const struct ptx_func *to = NULL;
    for (uint8_t k = 0; k < i->nopnds; k++) {
        if (i->opnds[k].kind == OPND_MULTI)
            list[to ? 1 : 0] = &i->opnds[k];
        else if (i->opnds[k].kind == OPND_SYM && i->opnds[k].sym->kind == SYM_FUNC)
            to = i->opnds[k].sym->func->def;
    }
    if (!to || n->depth == DEPTH)
        return false;
    struct inlined c = { .f = to, .base = l->p->nregs, .depth = n->depth + 1 };
    for (uint32_t k = 0; list[0] && k < list[0]->nelem && k < to->nrets; k++)
        c.priv[c.npriv++] = (struct place){ to->rets[k], place_private(l, n, list[0]->elem[k].sym) };
    for (uint32_t k = 0; list[1] && k < list[1]->nelem && k < to->nparams; k++) {
        if (list[1]->elem[k].kind != OPND_SYM || to->params[k]->space != PTX_SPACE_PARAM)
            return false;
        c.priv[c.npriv++] = (struct place){ to->params[k], place_private(l, n, list[1]->elem[k].sym) };
    }
    l->p->nregs += to->nregs;
    uint32_t skip = UINT32_MAX;
    if (i->guarded) {
        struct mc_inst *o = emit(l, i->at.line);
        if (!o)
            return false;
        o->op = MC_BRA;
        put_guard(l, o, n, i);
        o->guard_neg = !i->guard_neg;
        skip = l->p->n - 1;
    }
    inline_func(l, &c);
    if (skip != UINT32_MAX)
        l->p->inst[skip].target = l->p->n;
    return !l->why;
}

static void one_inst(struct load *l, struct inlined *n, const struct ptx_inst *i)
{
    const char *name = i->op == PTX_OP_OPAQUE ? "" : ptx_op_info(i->op)->name;
    if (strcmp(name, "call") == 0) {
        if (!inline_call(l, n, i) && !l->why) {
            struct mc_inst *o = emit(l, i->at.line);
            if (o)
                o->op = MC_UNKNOWN;
        }
        return;
    }
    struct mc_inst *o = emit(l, i->at.line);
    if (!o)
        return;
    bool ok = true;
    if (strcmp(name, "bra") == 0) {
        o->op = MC_BRA;
        /* label; becomes an index below */
        o->target = i->opnds[0].kind == OPND_LABEL ? i->opnds[0].index : 0;
        o->sub = 1;
    } else if (strcmp(name, "ret") == 0) {
        o->op = n->f->entry ? MC_EXIT : MC_JUMP;
        o->sub = n->f->entry ? 0 : 2;
    } else {
        ok = decode(l, o, n, i);
    }
    if (!ok) {
        memset(o, 0, sizeof *o);
        o->op = MC_UNKNOWN;
    }
    put_guard(l, o, n, i);
}

static void inline_func(struct load *l, struct inlined *n)
{
    const struct ptx_func *f = n->f;
    uint32_t first = l->p->n, *where = calloc(f->ninsts + 1, sizeof *where);
    for (uint32_t k = 0; where && k < f->ninsts && !l->why; k++) {
        where[k] = l->p->n;
        one_inst(l, n, &f->insts[k]);
    }
    if (f->entry && !l->why) {
        struct mc_inst *o = emit(l, f->at.line);
        if (o)
            o->op = MC_EXIT;
    }
    if (where)
        where[f->ninsts] = f->entry ? l->p->n - 1 : l->p->n;
    for (uint32_t k = 0; where && k < f->ninsts && !l->why; k++) {
        struct mc_inst *o = &l->p->inst[where[k]];
        if (where[k] >= l->p->n || where[k] < first)
            continue;
        if (o->op == MC_BRA && o->sub == 1 && strcmp(ptx_op_info(f->insts[k].op)->name, "bra") == 0)
            o->target = where[f->labels[o->target].inst], o->sub = 0;
        if (o->op == MC_JUMP && o->sub == 2)
            o->target = l->p->n, o->sub = 0;
    }
    if (!where)
        l->why = "out of memory";
    free(where);
}

/* ---- memory ---- */
static bool add_region(struct mc_program *p, uint64_t base, uint32_t at, uint32_t bytes, bool readonly)
{
    if (p->nregions == MC_REGIONS)
        return false;
    p->region[p->nregions++] = (struct mc_region){ base, at, bytes, readonly };
    return true;
}

static void place_buffers(struct load *l)
{
    struct mc_program *p = l->p;
    uint64_t base[MC_BUFFERS] = { 0 };
    for (uint32_t k = 0; k < p->launch.nparams; k++) {
        const struct mc_param *a = &p->launch.param[k];
        if (a->kind != MC_BUFFER)
            continue;
        base[k] = MC_GLOBAL_BASE + 0x10000ull * k;
        memcpy(p->init + p->flat, a->init, a->bytes);
        add_region(p, base[k], p->flat, a->bytes, false);
        p->flat += a->bytes;
    }
    p->buffers = p->flat;
    for (uint32_t k = 0; k < p->launch.nparams; k++)
        if (p->launch.param[k].kind == MC_SAME)
            base[k] = base[p->launch.param[k].of] + p->launch.param[k].offset;
    const struct ptx_func *f = NULL;
    for (uint32_t k = 0; k < l->m->nfuncs; k++)
        if (l->m->funcs[k]->entry && l->m->funcs[k]->has_body && strcmp(p->text, "") != 0 &&
            str_eq(l->m->funcs[k]->name, str_of(p->text)))
            f = l->m->funcs[k];
    for (uint32_t k = 0; f && k < p->launch.nparams && k < f->nparams; k++) {
        uint64_t v = p->launch.param[k].kind == MC_SCALAR ? p->launch.param[k].value : base[k];
        if (f->params[k]->offset + 8 <= sizeof p->param)
            memcpy(p->param + f->params[k]->offset, &v,
                   f->params[k]->bytes < 8 ? f->params[k]->bytes : 8);
    }
}

static void place_globals(struct load *l, const uint32_t *knob)
{
    struct mc_program *p = l->p;
    for (uint32_t k = 0; k < l->m->nglobals && !l->why; k++) {
        const struct ptx_symbol *g = l->m->globals[k];
        if (g->space != PTX_SPACE_GLOBAL && g->space != PTX_SPACE_CONST)
            continue;
        uint32_t at = (p->flat + 15) & ~15u, bytes = (uint32_t)((g->bytes + 3) & ~3ull);
        if ((g->bytes == 4096 || g->bytes == 32768) && !g->ninit)
            /* counters by %smid, of which there are few: what lies behind faults */
            bytes = (uint32_t)g->bytes / 64;
        if (bytes > 2048 || at + bytes > MC_FLAT / 2 || l->nglobal == PLACES || g->nreloc) {
            l->why = "module variables too large";
            return;
        }
        uint64_t base = 0x20000000ull + 0x10000ull * l->nglobal;
        if (g->init)
            memcpy(p->init + at, g->init, g->ninit < g->bytes ? g->ninit : g->bytes);
        if (knob && str_is(g->name, PASS_KNOB_SYMBOL))
            memcpy(p->init + at, knob, PASS_KNOB_COUNT * 4);
        l->global[l->nglobal].sym = g;
        l->global[l->nglobal++].base = base;
        if (!add_region(p, base, at, bytes, g->space == PTX_SPACE_CONST))
            l->why = "too many module variables";
        p->flat = at + bytes;
    }
}

static void place_ctas(struct load *l)
{
    struct mc_program *p = l->p;
    p->shared_static = (p->shared_static + 15) & ~15u;
    p->shared_all = (p->shared_static + p->launch.shared + 15) & ~15u;
    p->shared_at = (p->flat + 15) & ~15u;
    p->flat = p->shared_at + p->shared_all * p->nctas;
    if (p->flat > MC_FLAT)
        l->why = "too much memory";
}

/* ---- liveness ---- */
static void use(uint64_t *v, uint32_t r)
{
    v[r / 64] |= 1ull << (r % 64);
}

static bool transfer(struct mc_program *p, uint32_t k, uint64_t *tmp)
{
    const struct mc_inst *o = &p->inst[k];
    memset(tmp, 0, p->words * 8);
    for (int s = 0; s < 2; s++) {
        uint32_t to = s ? o->target : k + 1;
        bool flows =
            s ? o->op == MC_BRA || o->op == MC_JUMP
              : !(o->op == MC_EXIT || o->op == MC_BRA || o->op == MC_JUMP || o->op == MC_TRAP) ||
                    o->guarded;
        for (uint32_t w = 0; flows && to < p->n && w < p->words; w++)
            tmp[w] |= p->live[to * p->words + w];
    }
    for (uint32_t d = 0; d < o->nd && !o->guarded; d++)
        if (o->d[d] != UINT32_MAX)
            tmp[o->d[d] / 64] &= ~(1ull << (o->d[d] % 64));
    for (uint32_t s = 0; s < o->ns; s++)
        if (o->s[s].kind == SRC_REG)
            use(tmp, o->s[s].reg);
        else if (o->s[s].kind == SRC_SREG &&
                 (o->s[s].reg == PTX_SREG_CTAID || o->s[s].reg == PTX_SREG_SMID))
            use(tmp, p->nregs + (o->s[s].reg == PTX_SREG_SMID));
    if (o->guarded)
        use(tmp, o->guard);
    if (memcmp(tmp, p->live + k * p->words, p->words * 8) == 0)
        return false;
    memcpy(p->live + k * p->words, tmp, p->words * 8);
    return true;
}

static bool find_live(struct mc_program *p)
{
    p->words = (p->nregs + 2 + 63) / 64;
    p->live = calloc((size_t)p->n * p->words + 1, 8);
    uint64_t *tmp = calloc(p->words + 1, 8);
    for (bool more = p->live && tmp; more;) {
        more = false;
        for (uint32_t k = p->n; k-- > 0;)
            more |= transfer(p, k, tmp);
    }
    free(tmp);
    return p->live && tmp;
}

/* Dynamic shared memory begins behind what is declared, which is known only once all functions were
 * read: so twice. */
static void load_all(struct load *l, const struct ptx_func *f)
{
    for (int round = 0; round < 2 && !l->why; round++) {
        struct inlined top = { .f = f };
        l->p->n = l->p->nuni = l->p->priv = 0;
        l->p->nregs = f->nregs;
        inline_func(l, &top);
        l->p->shared_static = (l->p->shared_static + 15) & ~15u;
    }
}

enum status mc_load(const struct ptx_module *m, struct str kernel, const struct mc_launch *launch,
                    const uint32_t *knob, struct mc_program **out, char why[128])
{
    struct load l = { .m = m, .p = calloc(1, sizeof *l.p) };
    const struct ptx_func *f = ptx_find_func(m, kernel);
    *out = l.p;
    if (!l.p || !(l.p->init = calloc(1, MC_FLAT)))
        return ST_NOMEM;
    l.p->launch = *launch;
    l.p->nctas = (uint32_t)dim3u_count(launch->grid);
    l.p->block = (uint32_t)dim3u_count(launch->block);
    l.p->nthreads = l.p->nctas * l.p->block;
    memcpy(l.p->text, kernel.s, kernel.n < sizeof l.p->text ? kernel.n : sizeof l.p->text - 1);
    if (!f || !f->has_body)
        l.why = "no such kernel";
    else if (l.p->nctas > MC_CTAS || l.p->nthreads > MC_THREADS || !l.p->nthreads)
        l.why = "too many threads";
    if (!l.why) {
        place_buffers(&l);
        place_globals(&l, knob);
    }
    if (!l.why)
        load_all(&l, f);
    if (!l.why)
        place_ctas(&l);
    if (!l.why && !find_live(l.p))
        l.why = "out of memory";
    if (l.why) {
        memcpy(why, l.why, strlen(l.why) + 1);
        mc_unload(l.p);
        *out = NULL;
        return ST_REFUSED;
    }
    return ST_OK;
}

void mc_unload(struct mc_program *p)
{
    if (!p)
        return;
    free(p->inst);
    free(p->line);
    free(p->live);
    free(p->init);
    free(p);
}

bool mc_same(const struct mc_program *a, const struct mc_program *b)
{
    return a->n == b->n && a->flat == b->flat && a->shared_static == b->shared_static &&
           a->priv == b->priv && a->nregs == b->nregs &&
           memcmp(&a->launch, &b->launch, sizeof a->launch) == 0 &&
           memcmp(a->inst, b->inst, a->n * sizeof *a->inst) == 0 &&
           memcmp(a->init, b->init, MC_FLAT) == 0;
}
