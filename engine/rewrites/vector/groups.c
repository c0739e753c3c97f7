/* Which accesses become vectors: those off one base register, nothing in between that could tell their
 * order, whose elements over all lanes lie one behind the other. */
#include "engine/rewrites/vector/vector_int.h"

#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { VECTOR_BYTES = 16, VECTOR_MOST = 4, STEP_MOST = 1 << 20 };

/* ---- how an address goes on from lane to lane ---- */
static unsigned bits(const struct ptx_inst *i, uint8_t type)
{
    return type < i->ntypes ? ptx_type_bits((enum ptx_type)i->type[type]) : 0;
}

/* Does the result have more bits than what varies? An addend of mad.wide has them already. */
static bool widens(const struct ptx_inst *i, uint32_t source)
{
    switch (ptx_rule_of(i)) {
    case ADDR_CVT: return bits(i, 0) > bits(i, 1);
    case ADDR_MUL_WIDE: return true;
    case ADDR_MAD_WIDE: return !(i->opnds[3].kind == OPND_REG && i->opnds[3].index == source);
    default: return false;
    }
}

/* One chain of sums and products from %tid.x to the base, which widens once at most; out: where. */
static bool one_chain(const struct vector_plan *p, uint32_t base, uint32_t *out)
{
    uint32_t steps = 0;
    *out = PTX_NO_INDEX;
    for (uint32_t r = base; r != PTX_NO_INDEX; steps++) {
        const struct ptx_inst *i = &p->f->insts[p->flow.cfg->regs[r].defs[0]];
        struct vector_sources s = vector_sources(p, i);
        if (s.n > 1 || steps > p->f->ninsts)
            return false;
        if (widens(i, s.reg)) {
            if (*out != PTX_NO_INDEX || s.reg == PTX_NO_INDEX)
                return false;
            *out = i->index;
        }
        r = s.reg;
    }
    return true;
}

static bool in_step(const struct vector_plan *p, uint32_t reg, int64_t *step, uint32_t *wide)
{
    int64_t k;
    if (!pass_motion(&p->flow, reg, PTX_NO_INDEX, step) || *step <= -STEP_MOST || *step >= STEP_MOST ||
        !one_chain(p, reg, wide))
        return false;
    if (*wide == PTX_NO_INDEX)
        return true;
    uint32_t source = vector_sources(p, &p->f->insts[*wide]).reg;
    return pass_motion(&p->flow, source, PTX_NO_INDEX, &k) && k > -STEP_MOST && k < STEP_MOST &&
           ptx_type_bits((enum ptx_type)p->f->regs[source].type) == 32;
}

/* ---- what an address is the sum of ---- */
enum { SUMS_MOST = 24 };
struct sums {
    uint32_t reg[SUMS_MOST]; /* not pure: each of their definitions is a sum */
    uint32_t n;
};

/* Into a list without repeats; false: it is full. */
static bool add_once(uint32_t *list, uint32_t *n, uint32_t most, uint32_t reg)
{
    for (uint32_t k = 0; k < *n; k++)
        if (list[k] == reg)
            return true;
    if (*n == most)
        return false;
    list[(*n)++] = reg;
    return true;
}

static bool add_root(struct vector_group *g, uint32_t reg)
{
    return add_once(g->root, &g->nroots, VECTOR_ROOTS, reg);
}

static bool add_sum(struct sums *s, uint32_t reg)
{
    return add_once(s->reg, &s->n, SUMS_MOST, reg);
}

/* One that varies, and multiples of a vector's bytes. Lanes stay in step: all definitions of a register
 * that varies add to one that does. */
static bool is_sum(const struct vector_plan *p, const struct ptx_inst *i, struct vector_group *g,
                   struct sums *s)
{
    enum ptx_addr_rule rule = ptx_rule_of(i);
    unsigned varying = 0;
    if (i->guarded || p->within[i->index] != PTX_NO_INDEX || bits(i, 0) != 64 ||
        !(((rule == ADDR_COPY || rule == ADDR_CVTA) && i->nopnds == 2) ||
          (rule == ADDR_ADD && i->nopnds == 3)) ||
        i->opnds[0].kind != OPND_REG)
        return false;
    for (uint8_t k = 1; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        if (o->kind == OPND_IMM && !o->is_float && o->imm % VECTOR_BYTES == 0)
            continue;
        if (o->kind != OPND_REG || !(p->pure[o->index] ? add_root(g, o->index) : add_sum(s, o->index)))
            return false;
        varying += p->varies[o->index];
    }
    return varying == p->varies[i->opnds[0].index];
}

static bool find_roots(const struct vector_plan *p, struct vector_group *g)
{
    struct sums s = { .n = 0 };
    if (p->pure[g->base])
        return add_root(g, g->base);
    add_sum(&s, g->base);
    for (uint32_t k = 0; k < s.n; k++) {
        const struct ptx_reg_refs *x = &p->flow.cfg->regs[s.reg[k]];
        for (uint32_t d = 0; d < x->ndefs; d++)
            if (!is_sum(p, &p->f->insts[x->defs[d]], g, &s))
                return false;
        if (!x->ndefs)
            return false;
    }
    return true;
}

/* Fills stride and phase. All roots that vary go on alike and lie alike. */
static bool roots_in_step(const struct vector_plan *p, struct vector_group *g, uint32_t *wide)
{
    unsigned varying = 0;
    for (uint32_t k = 0; k < g->nroots; k++) {
        uint32_t r = g->root[k];
        int64_t step;
        wide[k] = PTX_NO_INDEX;
        if (!p->varies[r])
            continue;
        unsigned phase = p->known[r] ? (unsigned)((uint64_t)p->value[r] % VECTOR_BYTES) : 0;
        if (!in_step(p, r, &step, &wide[k]) || (varying && (step != g->stride || phase != g->phase)))
            return false;
        g->stride = step;
        g->phase = phase;
        varying++;
    }
    return varying > 0;
}

/* ---- accesses that can be done together ---- */
static const struct ptx_operand *data(const struct ptx_inst *i)
{
    return &i->opnds[ptx_effect_of(i) == EFFECT_LOAD ? 0 : 1];
}

unsigned vector_elements(const struct ptx_inst *i)
{
    return i->vec > 1 ? i->vec : 1;
}

const struct ptx_operand *vector_data(const struct ptx_inst *i, unsigned e)
{
    return data(i)->kind == OPND_VEC ? &data(i)->elem[e] : data(i);
}

static bool all_registers(const struct ptx_inst *i)
{
    for (unsigned e = 0; e < vector_elements(i); e++)
        if (vector_data(i, e)->kind != OPND_REG)
            return false;
    return data(i)->kind == OPND_REG ? i->vec <= 1 : data(i)->nelem == vector_elements(i);
}

static bool fits(const struct vector_plan *p, const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    const struct ptx_operand *a = inst_address(i);
    return (e == EFFECT_LOAD || e == EFFECT_STORE) && p->how[i->index] == VECTOR_LANES && !i->guarded &&
           p->within[i->index] == PTX_NO_INDEX && !ptx_is_strong(i) && i->nopnds == 2 && a &&
           a->base == BASE_REG && all_registers(i) && i->ntypes == 1 && bits(i, 0) >= 8 &&
           bits(i, 0) <= 64 && (i->space == PTX_SPACE_GLOBAL || i->space == PTX_SPACE_GENERIC);
}

/* The same access but for register and offset. */
static bool alike(const struct ptx_inst *a, const struct ptx_inst *b)
{
    return a->op == b->op && a->nmods == b->nmods && a->vec == b->vec &&
           memcmp(a->mods, b->mods, a->nmods * sizeof *a->mods) == 0 &&
           inst_address(a)->index == inst_address(b)->index;
}

/* access: to what x reads or writes; any to its address is a write */
static bool touches(const struct ptx_inst *i, const struct ptx_inst *x, unsigned access)
{
    bool any = ptx_writes_reg(i, inst_address(x)->index);
    for (unsigned e = 0; e < vector_elements(x); e++)
        any |= (ptx_reg_access(i, vector_data(x, e)->index) & access) != 0;
    return any;
}

static bool is_in(const struct vector_group *g, uint32_t inst)
{
    bool found = false;
    for (uint32_t k = 0; k < g->n; k++)
        found |= g->inst[k] == inst;
    return found;
}

/* May b, behind a in the same block, be done together with it: a load where a stands, a store of a where
 * b stands? What a load brings is not there before; what a store writes must still be there. */
static bool together(const struct vector_plan *p, const struct vector_group *g, const struct ptx_inst *a,
                     const struct ptx_inst *b)
{
    bool load = ptx_effect_of(a) == EFFECT_LOAD;
    bool touched = false;
    if (p->flow.cfg->block_of[a->index] != p->flow.cfg->block_of[b->index])
        return false;
    for (uint32_t k = a->index + (load ? 0 : 1); k < b->index; k++) {
        const struct ptx_inst *i = &p->f->insts[k];
        enum ptx_effect e = ptx_effect_of(i);
        bool passes = e == EFFECT_NONE || (e == EFFECT_LOAD && load && !ptx_is_strong(i)) ||
                      (e == EFFECT_STORE && !load && is_in(g, k));
        if (!passes)
            return false;
        touched |= touches(i, load ? b : a, load ? PTX_READ | PTX_WRITE : PTX_WRITE);
    }
    return !touched;
}

static bool joins(const struct vector_plan *p, const struct vector_group *g, const struct ptx_inst *i)
{
    const struct ptx_inst *first = &p->f->insts[g->inst[0]];
    if (g->n == VECTOR_INSTS || !fits(p, i) || p->of[i->index] != PTX_NO_INDEX || !alike(first, i) ||
        (size_t)(g->n + 1) * vector_elements(i) * p->lanes > VECTOR_ELEMENTS)
        return false;
    for (uint32_t k = 0; k < g->n; k++)
        if (!together(p, g, &p->f->insts[g->inst[k]], i))
            return false;
    return true;
}

/* ---- their elements as vectors ---- */
int64_t vector_place(const struct vector_plan *p, const struct vector_group *g, uint32_t i,
                     unsigned lane, unsigned e)
{
    return inst_address(&p->f->insts[g->inst[i]])->imm + (int64_t)lane * g->stride +
           (int64_t)e * g->bytes;
}

static int by_place(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Places of all lanes' elements, ascending, each once. 0: a store writes one twice, or they overlap. */
static uint32_t places(const struct vector_plan *p, const struct vector_group *g, int64_t *at)
{
    uint32_t n = 0, kept = 0;
    bool load = ptx_effect_of(&p->f->insts[g->inst[0]]) == EFFECT_LOAD;
    for (uint32_t i = 0; i < g->n; i++)
        for (unsigned lane = 0; lane < p->lanes; lane++)
            for (unsigned e = 0; e < vector_elements(&p->f->insts[g->inst[i]]); e++)
                at[n++] = vector_place(p, g, i, lane, e);
    qsort(at, n, sizeof *at, by_place);
    for (uint32_t k = 0; k < n; k++) {
        if (kept && at[k] == at[kept - 1] && !load)
            return 0;
        if (kept && at[k] != at[kept - 1] && at[k] - at[kept - 1] < g->bytes)
            return 0;
        if (!kept || at[k] != at[kept - 1])
            at[kept++] = at[k];
    }
    return kept;
}

/* Elements that a vector at at[k] may have, where the base lies g->phase behind a multiple of
 * VECTOR_BYTES.
 */
static unsigned width_at(const struct vector_group *g, const int64_t *at, uint32_t n, uint32_t k)
{
    for (unsigned w = VECTOR_MOST; w > 1; w /= 2) {
        unsigned bytes = w * g->bytes;
        if (bytes > VECTOR_BYTES || ((uint64_t)at[k] + g->phase) % bytes)
            continue;
        unsigned have = 1;
        while (have < w && k + have < n && at[k + have] == at[k] + (int64_t)(have * g->bytes))
            have++;
        if (have == w)
            return w;
    }
    return 1;
}

static void divide(struct vector_group *g, const int64_t *at, uint32_t n)
{
    g->naccesses = 0;
    g->align = 1;
    for (uint32_t k = 0; k < n;) {
        unsigned w = width_at(g, at, n, k);
        g->access[g->naccesses].at = at[k];
        g->access[g->naccesses++].width = w;
        if (w > 1 && w * g->bytes > g->align)
            g->align = w * g->bytes;
        k += w;
    }
}

/* ---- groups ---- */
static bool settle(struct vector_plan *p, struct vector_group *g)
{
    int64_t at[VECTOR_ELEMENTS];
    uint32_t n = places(p, g, at), one = g->n * vector_elements(&p->f->insts[g->inst[0]]) * p->lanes;
    if (!n || g->phase % g->bytes)
        return false;
    divide(g, at, n);
    return g->naccesses < one && g->align > 1;
}

static void take(struct vector_plan *p, const uint32_t *wide)
{
    struct vector_group *g = &p->group[p->ngroups];
    bool load = ptx_effect_of(&p->f->insts[g->inst[0]]) == EFFECT_LOAD;
    for (uint32_t k = 0; k < g->n; k++) {
        p->how[g->inst[k]] = VECTOR_REST;
        p->of[g->inst[k]] = p->ngroups;
    }
    p->how[g->inst[load ? 0 : g->n - 1]] = VECTOR_LEAD;
    g->phase %= g->align;
    for (uint32_t k = 0; k < g->nroots; k++)
        if (wide[k] != PTX_NO_INDEX)
            p->wraps[wide[k]] = true;
    p->ngroups++;
}

/* The group that begins with i: with all that can join it; else with i alone. */
static void try_group(struct vector_plan *p, const struct ptx_inst *i)
{
    struct vector_group *g = &p->group[p->ngroups];
    uint32_t wide[VECTOR_ROOTS], end = p->f->ninsts;
    memset(g, 0, sizeof *g);
    g->inst[g->n++] = i->index;
    g->base = inst_address(i)->index;
    g->bytes = bits(i, 0) / 8;
    if (!p->varies[g->base] || !find_roots(p, g) || !roots_in_step(p, g, wide))
        return;
    for (uint32_t k = i->index + 1; k < end && k <= i->index + 256; k++)
        if (joins(p, g, &p->f->insts[k]))
            g->inst[g->n++] = k;
    if (settle(p, g)) {
        take(p, wide);
        return;
    }
    g->n = 1;
    if (settle(p, g))
        take(p, wide);
}

bool vector_find_groups(struct vector_plan *p)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k < p->f->ninsts; k++)
        most += fits(p, &p->f->insts[k]);
    p->group = base_alloc(((size_t)most + 1) * sizeof *p->group);
    p->of = base_alloc(((size_t)p->f->ninsts + 1) * sizeof *p->of);
    if (!p->group || !p->of)
        return false;
    memset(p->of, 0xff, ((size_t)p->f->ninsts + 1) * sizeof *p->of);
    for (uint32_t k = 0; k < p->f->ninsts; k++)
        if (fits(p, &p->f->insts[k]) && p->of[k] == PTX_NO_INDEX)
            try_group(p, &p->f->insts[k]);
    return true;
}
