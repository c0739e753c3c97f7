/* What the analysis and the text tell of each parameter: is it an address, what is loaded and stored
 * through it, are its elements where rows start? */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/session/infer/infer.h"
#include "engine/session/infer/shape.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NODE = 4096 /* bytes of a list's or a tree's node */ };

enum ptx_type infer_access_type(const struct guess *g, const struct ana_access *a)
{
    const struct ptx_inst *i = &g->facts->module->funcs[a->func]->insts[a->inst];
    return i->ntypes ? i->type[0] : PTX_T_B32;
}

/* Plain loads may keep what they read; these see what others store meanwhile. */
static bool sees_stores(const struct guess *g, const struct ana_access *a)
{
    const struct ptx_inst *i = &g->facts->module->funcs[a->func]->insts[a->inst];
    return ptx_is_plain_load(i) && ptx_is_strong(i);
}

static void merge_use(const struct guess *g, const struct ana_access *a, struct param_use *u)
{
    u->address = true;
    u->flag |= sees_stores(g, a);
    u->loaded |= !a->store || a->atomic;
    u->stored |= a->store || a->atomic;
    /* Stores of zero and exchanges of floats are written as of integers: a float anywhere tells. */
    bool floats = ptx_type_kind(infer_access_type(g, a)) == 'f' && ptx_type_kind(u->type) != 'f' &&
                  ptx_type_bits(infer_access_type(g, a)) == ptx_type_bits(u->type);
    u->type = u->type == PTX_T_NONE || floats ? infer_access_type(g, a) : u->type;
    u->float_atomic |= a->atomic && ptx_type_kind(infer_access_type(g, a)) == 'f';
}

static void read_accesses(struct guess *g)
{
    for (uint32_t k = 0; k < g->facts->naccess; k++) {
        const struct ana_access *a = &g->facts->access[k];
        g->counted |= (a->space == PTX_SPACE_SHARED || a->space == PTX_SPACE_CONST ||
                       a->space == PTX_SPACE_LOCAL) &&
                      a->depends_on_load;
        if (a->space != PTX_SPACE_GLOBAL && a->space != PTX_SPACE_GENERIC)
            continue;
        g->indexed |= a->depends_on_load;
        g->loops |= a->loops != NULL;
        if (a->param < 0 || (uint32_t)a->param >= g->f->nparams)
            continue;
        merge_use(g, a, &g->use[a->param]);
    }
}

/* The same of one member of a struct by value, which the analysis calls STRUCT{OFFSET}; of all of the
 * struct, where it cannot tell. */
struct param_use infer_member_use(const struct guess *g, uint32_t p, uint64_t at)
{
    struct param_use u = { 0 };
    for (uint32_t k = 0; k < g->facts->naccess; k++) {
        const struct ana_access *a = &g->facts->access[k];
        const char *member = a->array ? strrchr(a->array, '{') : NULL;
        if (a->param == (int)p && (!member || strtoull(member + 1, NULL, 10) == at))
            merge_use(g, a, &u);
    }
    return u.address ? u : g->use[p];
}

static bool is_compared(const struct ptx_func *f, uint32_t reg)
{
    const struct ptx_operand *p, *q;
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (ptx_compared(&f->insts[i], &p, &q) &&
            ((p->kind == OPND_REG && p->index == reg) || (q->kind == OPND_REG && q->index == reg)))
            return true;
    return false;
}

/* Two values that are compared, or whose difference is: how long a row is. */
static bool measures(const struct guess *g, const struct ptx_inst *x, const struct ptx_operand **p,
                     const struct ptx_operand **q)
{
    if (ptx_compared(x, p, q))
        return (*p)->kind == OPND_REG && (*q)->kind == OPND_REG;
    if (!g->indexed || ptx_rule_of(x) != ADDR_SUB || x->nopnds != 3)
        return false;
    *p = &x->opnds[1];
    *q = &x->opnds[2];
    return x->opnds[0].kind == OPND_REG && (*p)->kind == OPND_REG && (*q)->kind == OPND_REG &&
           is_compared(g->f, x->opnds[0].index);
}

/* Offsets of rows, as compressed sparse rows have them: two neighbouring elements of an array that are
 * compared with one another, or whose difference is compared. */
static bool neighbours(const struct guess *g, const struct ana_access *a, const struct ana_access *b)
{
    const struct ptx_operand *x = &g->f->insts[a->inst].opnds[1], *y = &g->f->insts[b->inst].opnds[1];
    return a->param == b->param && a->bytes == b->bytes && a->bytes >= 4 &&
           ptx_type_kind(infer_access_type(g, a)) != 'f' && x->kind == OPND_ADDR &&
           y->kind == OPND_ADDR && x->base == BASE_REG && y->base == BASE_REG && x->index == y->index &&
           (x->imm - y->imm == a->bytes || y->imm - x->imm == a->bytes);
}

static bool read_offsets(struct guess *g)
{
    const struct ana_access **by_reg = base_alloc((g->f->nregs + 1) * sizeof *by_reg);
    if (!by_reg)
        return false;
    for (uint32_t k = 0; k < g->facts->naccess; k++) {
        const struct ana_access *a = &g->facts->access[k];
        const struct ptx_inst *i = &g->facts->module->funcs[a->func]->insts[a->inst];
        if (a->func == g->f->index && a->param >= 0 && (uint32_t)a->param < g->f->nparams && !a->store &&
            !a->atomic && ptx_is_plain_load(i) && i->opnds[0].kind == OPND_REG)
            by_reg[i->opnds[0].index] = a;
    }
    for (uint32_t i = 0; i < g->f->ninsts; i++) {
        const struct ptx_inst *x = &g->f->insts[i];
        const struct ptx_operand *p, *q;
        if (!measures(g, x, &p, &q))
            continue;
        const struct ana_access *a = by_reg[p->index], *b = by_reg[q->index];
        if (a && b && neighbours(g, a, b) && !g->use[a->param].stored) {
            g->rows = g->use[a->param].offsets = true;
            g->cta_rows |= a->stepped && !a->step[0] && !a->step[1] && a->step[3];
        }
    }
    base_free(by_reg);
    return true;
}

/* Stores that the analysis does not list (matrix fragments, asynchronous copies, functions of
 * elsewhere): then any buffer may be an output. */
static void read_outputs(struct guess *g)
{
    bool any = !g->shape.writes_unlisted;
    for (uint32_t p = 0; p < g->f->nparams; p++)
        any |= g->use[p].stored;
    for (uint32_t p = 0; !any && p < g->f->nparams; p++)
        g->use[p].stored = true;
}

/* ---- registers that hold addresses: bases of addresses, and what they are sums and copies of ---- */

/* The first operand that may be the address which the instruction makes; 0: it makes none. */
static unsigned first_address(const struct ptx_inst *i)
{
    switch (ptx_rule_of(i)) {
    case ADDR_ADD:
    case ADDR_SUB:
    case ADDR_COPY:
    case ADDR_CVTA:
    case ADDR_SELP: return 1;
    case ADDR_MAD_LO:
    case ADDR_MAD_WIDE: return 3;
    default: return 0;
    }
}

static void mark_bases(struct guess *g)
{
    for (uint32_t i = 0; i < g->f->ninsts; i++)
        for (unsigned k = 0; k < g->f->insts[i].nopnds; k++) {
            const struct ptx_operand *o = &g->f->insts[i].opnds[k];
            if ((o->kind == OPND_ADDR && o->base == BASE_REG) ||
                (ptx_is_address_cast(&g->f->insts[i]) && o->kind == OPND_REG))
                g->addresses[o->index] = true;
        }
}

struct carrying {
    struct guess *g;
    bool *reg; /* those that hold what is followed, and what is made of it */
};

static bool holds(const bool *reg, const struct ptx_inst *x, unsigned k)
{
    return k < x->nopnds && x->opnds[k].kind == OPND_REG && reg[x->opnds[k].index];
}

/* Copies of an address, and what is so far from it. */
static void carry_step(void *ctx, struct ptx_solver *s, uint32_t inst)
{
    struct carrying *c = ctx;
    const struct ptx_inst *x = &c->g->f->insts[inst];
    unsigned k = first_address(x);
    while (k && k < x->nopnds && !holds(c->reg, x, k))
        k++;
    if (!k || k >= x->nopnds || x->opnds[0].kind != OPND_REG || holds(c->reg, x, 0))
        return;
    c->reg[x->opnds[0].index] = true;
    ptx_ask_all(s);
}

/* What is added to an address that is known to be one is none. */
static void address_step(void *ctx, struct ptx_solver *s, uint32_t inst)
{
    struct carrying *c = ctx;
    struct guess *g = c->g;
    const struct ptx_inst *x = &g->f->insts[inst];
    unsigned first = first_address(x);
    bool sum = ptx_rule_of(x) == ADDR_ADD, any = false;
    if (!first || !holds(g->addresses, x, 0))
        return;
    for (unsigned k = first; k < x->nopnds; k++)
        any |= sum && holds(c->reg, x, k);
    for (unsigned k = first; k < x->nopnds; k++)
        if (x->opnds[k].kind == OPND_REG && !holds(g->addresses, x, k) &&
            (!any || holds(c->reg, x, k))) {
            g->addresses[x->opnds[k].index] = true;
            ptx_ask_all(s);
        }
}

static bool mark_addresses(struct guess *g)
{
    struct carrying c = { g, base_alloc(g->f->nregs + 1) };
    mark_bases(g);
    for (uint32_t i = 0; c.reg && i < g->f->ninsts; i++)
        if (ptx_is_address_cast(&g->f->insts[i]) && g->f->insts[i].opnds[0].kind == OPND_REG)
            c.reg[g->f->insts[i].opnds[0].index] = true;
    bool fine = c.reg && ptx_solve(g->f->ninsts, PTX_FORWARD, carry_step, &c) &&
                ptx_solve(g->f->ninsts, PTX_BACKWARD, address_step, &c);
    base_free(c.reg);
    return fine;
}

/* Fragments of matrices, which the analysis does not list: x reads or writes p's buffer. */
static void read_fragment(struct guess *g, uint32_t p, const struct ptx_inst *x, const bool *from)
{
    struct param_use *u = &g->use[p];
    bool here = false;
    for (unsigned k = 0; k < x->nopnds; k++)
        here |= x->opnds[k].kind == OPND_ADDR && x->opnds[k].base == BASE_REG && from[x->opnds[k].index];
    if (!here || !ptx_is(x, IS_FRAGMENT) || !x->ntypes)
        return;
    u->address = true;
    u->type = u->type == PTX_T_NONE ? x->type[0] : u->type;
    u->loaded |= ptx_effect_of(x) == EFFECT_LOAD;
    g->loops = true; /* over what the product adds up */
    u->stored |= ptx_effect_of(x) == EFFECT_STORE;
}

static bool read_fragments(struct guess *g)
{
    struct carrying c = { g, base_alloc(g->f->nregs + 1) };
    bool fine = c.reg;
    for (uint32_t p = 0; fine && g->shape.products && p < g->f->nparams; p++) {
        const struct ptx_inst *load = infer_param_load(g, p, 0);
        if (!load || load->opnds[0].kind != OPND_REG)
            continue;
        memset(c.reg, 0, g->f->nregs);
        c.reg[load->opnds[0].index] = true;
        fine = ptx_solve(g->f->ninsts, PTX_FORWARD, carry_step, &c);
        for (uint32_t i = 0; i < g->f->ninsts; i++)
            read_fragment(g, p, &g->f->insts[i], c.reg);
    }
    base_free(c.reg);
    return fine;
}

/* ---- pointers in memory ---- */

/* x loads pointers, into registers that are marked. */
static bool loads_pointer(const struct guess *g, const struct ptx_inst *x, bool *mark)
{
    const struct ptx_operand *d = &x->opnds[0];
    bool any = false, wide = x->ntypes && ptx_type_bits(x->type[0]) == g->facts->module->address_size;
    for (unsigned k = 0; wide && k < (d->kind == OPND_VEC ? d->nelem : 1u); k++) {
        const struct ptx_operand *o = d->kind == OPND_VEC ? &d->elem[k] : d;
        if (o->kind != OPND_REG || !g->addresses[o->index])
            continue;
        mark[o->index] = any = true;
    }
    return any;
}

/* The base of access a is a pointer that was loaded. */
static const struct ptx_operand *through(const struct guess *g, const struct ana_access *a,
                                         const bool *loaded)
{
    const struct ptx_inst *x = &g->facts->module->funcs[a->func]->insts[a->inst];
    for (unsigned k = 0; a->func == g->f->index && k < x->nopnds; k++)
        if (x->opnds[k].kind == OPND_ADDR && x->opnds[k].base == BASE_REG && loaded[x->opnds[k].index])
            return &x->opnds[k];
    return NULL;
}

static bool in_memory(const struct guess *g, const struct ana_access *a)
{
    return a->func == g->f->index && (a->space == PTX_SPACE_GLOBAL || a->space == PTX_SPACE_GENERIC);
}

static bool is_pointer_load(const struct guess *g, const struct ana_access *a, bool *mark)
{
    return in_memory(g, a) && !a->store && !a->atomic && loads_pointer(g, &g->f->insts[a->inst], mark);
}

/* What is done through pointers, in registers of `loaded`, that parameter p's buffer holds; further ones join them. */
static void read_through(struct guess *g, uint32_t p, bool *loaded)
{
    for (uint32_t k = 0; k < g->facts->naccess; k++) {
        const struct ana_access *a = &g->facts->access[k];
        const struct ptx_operand *o = in_memory(g, a) ? through(g, a, loaded) : NULL;
        uint64_t at = o && o->imm >= 0 ? (uint64_t)o->imm : 0, end = (at + a->bytes + 7) / 8 * 8;
        if (!o)
            continue;
        g->use[p].stored |= a->store;
        g->node = end > g->node && end <= MOST_NODE ? (uint32_t)end : g->node;
        if (!is_pointer_load(g, a, loaded))
            continue;
        at -= at % 8; /* of a base that was moved */
        g->link = !g->follows || at < g->link ? (uint32_t)at : g->link;
        g->follows = true;
    }
}

/* Buffers that hold pointers; whether these lead to further ones (lists, trees), and how large a node is. */
static bool read_pointers(struct guess *g)
{
    struct carrying c = { g, base_alloc(g->f->nregs + 1) };
    bool fine = c.reg;
    for (uint32_t p = 0; fine && p < g->f->nparams; p++) {
        memset(c.reg, 0, g->f->nregs);
        for (uint32_t k = 0; k < g->facts->naccess; k++)
            if (g->facts->access[k].param == (int)p)
                g->use[p].pointers |= is_pointer_load(g, &g->facts->access[k], c.reg);
        for (unsigned round = 0; fine && g->use[p].pointers && round < 2; round++) {
            fine = ptx_solve(g->f->ninsts, PTX_FORWARD, carry_step, &c);
            read_through(g, p, c.reg);
        }
        g->parts |= g->use[p].pointers && !g->follows;
    }
    base_free(c.reg);
    return fine;
}

/* Instruction that reads parameter p at byte `at`; NULL: none. */
const struct ptx_inst *infer_param_load(const struct guess *g, uint32_t p, uint64_t at)
{
    for (uint32_t i = 0; i < g->f->ninsts; i++) {
        const struct ptx_inst *x = &g->f->insts[i];
        if (ptx_is_param_load(x) && x->vec <= 1 && x->opnds[1].kind == OPND_ADDR &&
            x->opnds[1].base == BASE_SYM && x->opnds[1].sym == g->f->params[p] &&
            (uint64_t)x->opnds[1].imm == at)
            return x;
    }
    return NULL;
}

bool infer_loads_address(const struct guess *g, const struct ptx_inst *x)
{
    return x && x->ntypes && ptx_type_bits(x->type[0]) == g->facts->module->address_size &&
           x->opnds[0].kind == OPND_REG && (g->all_wide || g->addresses[x->opnds[0].index]);
}

/* Debug builds pass pointers through local memory, where nothing tells them from other wide numbers:
 * then all are tried as pointers. */
bool infer_hides_pointers(const struct guess *g)
{
    for (uint32_t p = 0; p < g->f->nparams; p++) {
        const struct ptx_symbol *s = g->f->params[p];
        for (uint64_t at = 0; at < s->bytes; at += 8) {
            const struct ptx_inst *x = infer_param_load(g, p, at);
            if (x && x->ntypes && ptx_type_bits(x->type[0]) == g->facts->module->address_size &&
                !infer_loads_address(g, x))
                return true;
        }
    }
    return false;
}

/* A loop over a table in constant memory ends with it. */
static void read_tables(struct guess *g)
{
    const struct ptx_module *m = g->facts->module;
    for (uint32_t k = 0; k < g->facts->naccess; k++) {
        const struct ana_access *a = &g->facts->access[k];
        if (a->space != PTX_SPACE_CONST || !a->array || !a->stepped || a->step[6] <= 0)
            continue;
        for (uint32_t i = 0; i < m->nglobals; i++) {
            uint64_t n = m->globals[i]->bytes / (a->bytes ? a->bytes : 1);
            if (str_is(m->globals[i]->name, a->array) && n && n < UINT32_MAX &&
                (!g->table || n < g->table))
                g->table = (uint32_t)n;
        }
    }
}

/* False: out of memory. */
bool infer_uses(struct guess *g)
{
    read_tables(g);
    if (!mark_addresses(g))
        return false;
    read_accesses(g);
    if (!read_fragments(g) || !read_pointers(g))
        return false;
    read_outputs(g);
    return read_offsets(g);
}

bool infer_row(size_t i, struct infer_row *out)
{
    static const struct infer_row rows[] = {
#define CONSTRUCT(id, where, has, becomes) { where, has, becomes },
#include "engine/session/infer/constructs.def"
#undef CONSTRUCT
    };
    if (i >= ARRAY_LEN(rows))
        return false;
    *out = rows[i];
    return true;
}
