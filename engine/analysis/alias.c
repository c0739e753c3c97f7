/* alias: values of all registers of a kernel and its callees, upwards from nothing to a fixpoint; and
 * the questions that are asked of them. alias.h has the contract. */
#include "engine/analysis/alias.h"
#include "engine/base/list.h"

#include "engine/analysis/alias_int.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/callgraph.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch_read.h"

#include <string.h>

/* ---- functions and registers ---- */
static bool find_funcs(struct alias *a)
{
    a->func = base_alloc(sizeof *a->func * (a->m->nfuncs + 1));
    a->place = base_alloc(sizeof *a->place * (a->m->nfuncs + 1));
    if (!a->func || !a->place)
        return false;
    uint32_t n = ptx_reachable(a->m, a->kernel, a->func, a->place);
    for (uint32_t k = 0; k < n; k++)
        if (a->func[k]->has_body)
            a->func[a->nfuncs++] = a->func[k];
    memset(a->place, 0xff, sizeof *a->place * a->m->nfuncs);
    for (uint32_t k = 0; k < a->nfuncs; k++)
        a->place[a->func[k]->index] = k;
    return true;
}

/* Registers that nothing writes, or (late) that got no value from anything, may hold anything. */
static bool soil_undefined(struct alias *a, bool late)
{
    for (uint32_t k = 0; k < a->nfuncs; k++) {
        const struct ptx_func *f = a->func[k];
        bool *written = base_alloc(f->nregs + 1);
        if (!written)
            return false;
        for (uint32_t i = 0; i < f->ninsts && !late; i++)
            for (struct ptx_regs r = ptx_regs_of(&f->insts[i], PTX_WRITE); ptx_next_reg(&r);)
                written[r.reg] = true;
        for (uint32_t r = 0; r < f->nregs; r++) {
            struct alias_value *v = &a->value[a->first[k] + r];
            if (!written[r] && !v->roots && !v->kind) {
                v->kind = KIND_MIX;
                a->changed = true;
            }
        }
        base_free(written);
    }
    return true;
}

static bool make_values(struct alias *a)
{
    uint64_t n = 0;
    a->first = base_alloc(sizeof *a->first * (a->nfuncs + 1));
    for (uint32_t k = 0; a->first && k < a->nfuncs; k++) {
        a->first[k] = (uint32_t)n;
        n += (uint64_t)a->func[k]->nregs + 1;
    }
    a->value = a->first && n < UINT32_MAX ? base_alloc(sizeof *a->value * (n + 1)) : NULL;
    return a->value && soil_undefined(a, false);
}

static void find_indirect(struct alias *a)
{
    struct str name;
    for (uint32_t k = 0; k < a->nfuncs; k++)
        for (uint32_t i = 0; i < a->func[k]->ninsts; i++) {
            const struct ptx_inst *in = &a->func[k]->insts[i];
            a->indirect |= ptx_effect_of(in) == EFFECT_CALL && !alias_callee(in, &name) && !name.n;
        }
    for (uint32_t k = 0; a->indirect && k < a->nslots; k++)
        if (a->slot[k].sym)
            a->slot[k].value.kind |= KIND_MIX;
}

/* Does a variable begin with the address of another one? */
static bool any_held(const struct ptx_module *m)
{
    for (uint32_t k = 0; k < m->nglobals; k++)
        for (uint32_t r = 0; r < m->globals[k]->nreloc; r++)
            if (m->globals[k]->reloc[r].sym && m->globals[k]->reloc[r].sym->kind == SYM_VAR)
                return true;
    return false;
}

/* All instructions of all functions are the nodes, in order, and each may see what changed. */
struct settling {
    struct alias *a;
    uint32_t func;  /* of the node at hand */
    uint32_t first; /* its first node */
};

static void settle_step(void *ctx, struct ptx_solver *s, uint32_t node)
{
    struct settling *x = ctx;
    if (node < x->first)
        x->func = x->first = 0;
    for (; node - x->first >= x->a->func[x->func]->ninsts; x->func++)
        x->first += x->a->func[x->func]->ninsts;
    x->a->changed = false;
    alias_step(x->a, x->func, &x->a->func[x->func]->insts[node - x->first]);
    if (x->a->changed)
        ptx_ask_all(s);
}

static bool settle(struct alias *a)
{
    struct settling x = { .a = a };
    uint32_t nodes = 0;
    for (uint32_t k = 0; k < a->nfuncs; k++)
        nodes += a->func[k]->ninsts;
    return ptx_solve(nodes, PTX_FORWARD, settle_step, &x);
}

/* Once more from nothing, with memory as dirty as it was found to be: what was loaded before that was
 * known is not kept as data. */
static bool settle_again(struct alias *a)
{
    uint64_t n = a->first[a->nfuncs - 1] + (uint64_t)a->func[a->nfuncs - 1]->nregs + 1;
    memset(a->value, 0, sizeof *a->value * n);
    for (uint32_t k = 0; k < a->nslots; k++)
        a->slot[k].value = (struct alias_value){ .kind = 0 };
    a->told = 0;
    find_indirect(a);
    return soil_undefined(a, false) && settle(a);
}

static bool find_writers(struct alias *a);

struct alias *alias_make(const struct ptx_module *m, const struct ptx_func *kernel,
                         const struct alias_opts *o)
{
    struct alias *a = base_alloc(sizeof *a);
    if (!a)
        return NULL;
    a->m = m;
    a->kernel = kernel;
    a->o = *o;
    if (!find_funcs(a) || !alias_make_slots(a) || !make_values(a)) {
        alias_free(a);
        return NULL;
    }
    alias_find_pointers(a);
    find_indirect(a);
    a->holds = any_held(m);
    bool ok = settle(a) && find_writers(a) && (!a->dirty || settle_again(a));
    a->changed = false;
    ok = ok && soil_undefined(a, true) && (!a->changed || settle(a));
    if (!ok) {
        alias_free(a);
        return NULL;
    }
    return a;
}

void alias_free(struct alias *a)
{
    if (!a)
        return;
    BASE_FREE(a->func, a->place, a->first, a->value, a->slot, a->writer, a);
}

/* ---- roots of an address ---- */
static bool inserted(const struct alias *a, const struct alias_root *r)
{
    return r->param < 0 && a->o.original && !ptx_find_global(a->o.original, r->sym->name);
}

static enum alias_answer same_memory(const struct alias *a, uint32_t p, uint32_t q)
{
    const struct alias_root *x = &a->root[p], *y = &a->root[q];
    if (p == q)
        return ALIAS_YES;
    if (x->param < 0 && y->param < 0)
        return ALIAS_NO;
    if (inserted(a, x) || inserted(a, y))
        return ALIAS_NO;
    if (x->buffer != SIZE_MAX && y->buffer != SIZE_MAX)
        return x->buffer == y->buffer ? ALIAS_YES : ALIAS_NO;
    if ((x->param < 0 && y->buffer != SIZE_MAX) || (y->param < 0 && x->buffer != SIZE_MAX))
        return ALIAS_NO;
    return a->o.restricts ? ALIAS_NO : ALIAS_MAYBE;
}

/* Where an address with these roots may point. Conditions that tell bits of two roots let code count an
 * index up to their distance, without an operand that shows it:
 *     L: add.s64 %i, %i, 4;  add.s64 %p, %a, %i;  setp.ne.s64 %q, %p, %b;  @%q bra L;
 * %a + %i is an address in the buffer of %b, although %i is made from no pointer. No comparison need see
 * both of them: bit by bit, %i can become the one pointer and another index the other. */
static uint64_t reached(const struct alias *a, struct alias_value v)
{
    uint64_t told = a->told;
    bool hit = v.kind & KIND_WINDOW && told & ALIAS_WINDOW;
    if (!(told & (told - 1)))
        return v.roots;
    for (uint32_t p = 0; p < a->nroots; p++)
        for (uint32_t q = 0; q < a->nroots && v.roots >> p & 1; q++)
            hit |= told >> q & 1 && same_memory(a, p, q) != ALIAS_NO;
    return hit ? v.roots | (told & ~ALIAS_WINDOW) : v.roots;
}

static void name_roots(const struct alias *a, struct alias_value v, struct alias_roots *out)
{
    out->set = reached(a, v);
    for (uint32_t k = 0; k < a->nroots; k++) {
        if (!(out->set >> k & 1))
            continue;
        if (a->root[k].param < 0)
            out->sym = a->root[k].sym;
        else if (a->root[k].param < 64)
            out->params |= UINT64_C(1) << a->root[k].param;
        else
            out->unknown = true;
    }
    out->window = v.kind & KIND_WINDOW;
    out->number = !v.roots && v.kind && !(v.kind & ~(KIND_NULL | KIND_INDEX));
    out->unknown |= a->told == ALIAS_ANY || v.kind & (KIND_MIX | KIND_INDEX | KIND_DATA) ||
                    (!v.roots && !out->window);
}

void alias_roots(const struct alias *a, const struct ptx_func *f, const struct ptx_operand *o,
                 struct alias_roots *out)
{
    memset(out, 0, sizeof *out);
    uint32_t at =
        f && f->index < a->m->nfuncs && a->m->funcs[f->index] == f ? a->place[f->index] : PTX_NO_INDEX;
    struct alias_value v = { .kind = KIND_MIX };
    if (o && at != PTX_NO_INDEX && a->m->address_size != 32) {
        if (o->base == BASE_REG)
            v = a->value[a->first[at] + o->index];
        else if (o->base == BASE_SYM && o->sym && o->sym->kind == SYM_VAR &&
                 o->sym->space != PTX_SPACE_GLOBAL)
            v.kind = KIND_WINDOW;
        else if (o->base == BASE_SYM && o->sym && o->sym->kind == SYM_VAR)
            v = alias_symbol_value((struct alias *)a, o->sym);
    }
    name_roots(a, v, out);
}

/* ---- do they overlap? ---- */
bool alias_params_distinct(const struct launch_spec *l, bool restricts, int p, int q)
{
    size_t n = l ? launch_params(l) : 0;
    if (p == q || p < 0 || q < 0)
        return false;
    size_t x = (size_t)p < n ? launch_buffer_of(l, (size_t)p) : SIZE_MAX,
           y = (size_t)q < n ? launch_buffer_of(l, (size_t)q) : SIZE_MAX;
    return x != SIZE_MAX && y != SIZE_MAX ? x != y : restricts;
}

static enum alias_answer alias_overlap(const struct alias *a, const struct alias_roots *x,
                                       const struct alias_roots *y)
{
    enum alias_answer r = x->unknown || y->unknown ? ALIAS_MAYBE : ALIAS_NO;
    for (uint32_t p = 0; p < a->nroots; p++)
        for (uint32_t q = 0; q < a->nroots && x->set >> p & 1; q++) {
            enum alias_answer one = y->set >> q & 1 ? same_memory(a, p, q) : ALIAS_NO;
            r = one > r ? one : r;
        }
    return r;
}

/* ---- who writes ---- */
static bool may_store(const struct ptx_inst *i)
{
    bool outside = i->space == PTX_SPACE_GLOBAL || i->space == PTX_SPACE_GENERIC;
    switch (ptx_effect_of(i)) {
    case EFFECT_STORE:
    case EFFECT_ATOMIC: return outside;
    case EFFECT_ASYNC_COPY:
        return outside && ptx_role_of(i) != ROLE_MBARRIER_ARRIVE && ptx_role_of(i) != ROLE_COMMIT;
    case EFFECT_SURFACE: return !ptx_is(i, IS_FETCH) && ptx_role_of(i) != ROLE_PROPERTY;
    case EFFECT_TENSOR: return i->space == PTX_SPACE_GLOBAL;
    default: return ptx_is(i, IS_TENSORMAP);
    }
}

enum alias_answer alias_writes(const struct alias *a, const struct ptx_func *f, const struct ptx_inst *i,
                               const struct alias_roots *read)
{
    struct str name;
    struct alias_roots w;
    if (ptx_is_opaque(i))
        return ALIAS_MAYBE;
    enum ptx_effect e = ptx_effect_of(i);
    if (e == EFFECT_CALL)
        return alias_callee(i, &name) || alias_harmless_call(name) ? ALIAS_NO : ALIAS_MAYBE;
    if (!may_store(i))
        return ALIAS_NO;
    alias_roots(a, f, alias_address(i), &w);
    w.unknown |= ptx_is(i, IS_MULTIMEM | IS_TENSORMAP) || e == EFFECT_SURFACE || e == EFFECT_TENSOR;
    w.unknown |= w.window && i->space == PTX_SPACE_GLOBAL;
    return alias_overlap(a, &w, read);
}

struct alias_writer alias_writer(const struct alias *a, const struct alias_roots *read)
{
    struct alias_writer found = { .answer = ALIAS_NO };
    for (uint32_t k = 0; k < a->nwriters && found.answer != ALIAS_YES; k++) {
        const struct alias_writer *w = &a->writer[k];
        enum alias_answer one = alias_writes(a, w->func, w->inst, read);
        if (one > found.answer)
            found = (struct alias_writer){ w->func, w->inst, one };
    }
    return found;
}

static bool find_writers(struct alias *a)
{
    size_t cap = 0;
    for (uint32_t k = 0; k < a->nfuncs; k++)
        for (uint32_t i = 0; i < a->func[k]->ninsts; i++) {
            const struct ptx_inst *in = &a->func[k]->insts[i];
            if (!ptx_is_opaque(in) && ptx_effect_of(in) != EFFECT_CALL && !may_store(in))
                continue;
            if (!LIST_PUSH(a->writer, a->nwriters, cap,
                           (struct alias_writer){ a->func[k], in, ALIAS_MAYBE }))
                return false;
        }
    return true;
}
