/* Placement of buffers and variables, and symbolic values made concrete. */
#include "engine/analysis/symbolic/env.h"

#include "engine/analysis/symbolic/eval.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch.h"
#include "engine/rec/tensor_map.h"
#include "engine/sim/windows.h"

#include <string.h>

/* ---- placement ---- */
static uint64_t aligned(uint64_t v, uint64_t a)
{
    return a > 1 ? (v + a - 1) / a * a : v;
}

/* Regions lie below and above the windows of the other spaces. */
#define WINDOWS_FIRST (FUNC_WINDOW >> ENV_REGION_SHIFT)
#define WINDOWS       (((CONST_BASE - 1) >> ENV_REGION_SHIFT) + 1 - WINDOWS_FIRST)
static uint64_t region_base(uint64_t i)
{
    return (i + 1 < WINDOWS_FIRST ? i + 1 : i + 1 + WINDOWS) << ENV_REGION_SHIFT;
}
uint32_t env_region_at(const struct env *v, uint64_t addr)
{
    uint64_t n = addr >> ENV_REGION_SHIFT, i = n < WINDOWS_FIRST ? n - 1 : n - 1 - WINDOWS;
    return n && (n < WINDOWS_FIRST || n >= WINDOWS_FIRST + WINDOWS) && i < v->nregions ? (uint32_t)i
                                                                                       : v->nregions;
}
/* Gives it its place; the caller says what it holds. */
static struct env_region *add_region(struct env *v, const char *name, int arg,
                                     const struct ptx_symbol *sym, uint64_t n)
{
    struct env_region *r = &v->region[v->nregions++];
    *r = (struct env_region){
        .base = region_base(v->nregions - 1), .size = n, .name = name, .arg = arg, .sym = sym
    };
    return r;
}
static void place(struct env *v, const struct ptx_symbol *s, uint64_t addr)
{
    v->symbol[v->nsymbols++] = (struct env_symbol){ s, addr };
}
static const struct launch_buffer *symbol_data(const struct env *v, const struct ptx_symbol *s)
{
    const struct launch_spec *l = v->data ? v->data->spec : NULL;
    for (size_t i = 0; l && i < l->nsymbols; i++)
        if (l->symbols[i].name && str_is(s->name, l->symbols[i].name))
            return &v->data->symbols[i];
    return NULL;
}
static void place_global(struct env *v, const struct ptx_symbol *s)
{
    const struct launch_buffer *b = symbol_data(v, s);
    uint8_t *copy = s->ninit && s->bytes ? arena_alloc(v->e->arena, s->bytes) : NULL;
    if (copy)
        memcpy(copy, s->init, s->ninit < s->bytes ? s->ninit : s->bytes);
    struct env_region *r =
        add_region(v, arena_dup(v->e->arena, s->name), -1, s, b && b->n ? b->n : s->bytes);
    r->bytes = b && b->n ? b->bytes : copy;
    place(v, s, r->base);
}
static void place_one(struct env *v, const struct ptx_symbol *s)
{
    uint64_t at;
    switch (s->space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST: place_global(v, s); break;
    case PTX_SPACE_SHARED:
        if (!ptx_shared_counts(v->e->module, v->e->kernel, s))
            break;
        at = ptx_shared_place(&v->shared, s);
        if (!s->unsized) /* those are placed after the others */
            place(v, s, at);
        break;
    case PTX_SPACE_LOCAL:
        v->local_bytes = (uint32_t)aligned(v->local_bytes, s->align);
        place(v, s, v->local_bytes);
        v->local_bytes += (uint32_t)s->bytes;
        break;
    case PTX_SPACE_PARAM:
        if (s->func && s->func->entry)
            place(v, s, s->offset);
        break;
    default: break;
    }
}
static void each_symbol(struct env *v, void (*fn)(struct env *v, const struct ptx_symbol *s))
{
    const struct ptx_module *m = v->e->module;
    for (uint32_t i = 0; i < m->nglobals; i++)
        fn(v, m->globals[i]);
    for (uint32_t f = 0; f < m->nfuncs; f++) {
        if (m->funcs[f]->entry && m->funcs[f] != v->e->kernel)
            continue;
        for (uint32_t k = 0; k < m->funcs[f]->nvars; k++)
            fn(v, m->funcs[f]->vars[k]);
    }
    for (uint32_t k = 0; k < v->e->kernel->nparams; k++)
        fn(v, v->e->kernel->params[k]);
}
static void count_one(struct env *v, const struct ptx_symbol *s)
{
    (void)s;
    v->nsymbols++;
}
static void place_dynamic(struct env *v, const struct ptx_symbol *s)
{
    if (s->space == PTX_SPACE_SHARED && s->unsized)
        place(v, s, v->shared_static);
}
/* Pointers stored in initialised variables (relocations) become the made-up addresses. */
static void relocate(struct env *v)
{
    for (uint32_t i = 0; i < v->nregions; i++) {
        const struct ptx_symbol *s = v->region[i].sym;
        for (uint32_t k = 0; s && k < s->nreloc && v->region[i].bytes; k++) {
            uint64_t a;
            if (!s->reloc[k].sym || s->reloc[k].bytes != 8 || s->reloc[k].at + 8 > v->region[i].size ||
                !env_symbol(v, s->reloc[k].sym, &a))
                continue;
            a += (uint64_t)s->reloc[k].addend;
            memcpy((uint8_t *)(uintptr_t)v->region[i].bytes + s->reloc[k].at, &a, 8);
        }
    }
}

/* ---- parameters ---- */
/* `at`: where in the parameter; a struct's members follow the struct itself. */
static void put_param(struct env *v, const struct ptx_symbol *p, uint64_t at, const void *from, size_t n)
{
    if (p->offset + p->bytes > v->nparams || at > p->bytes)
        return;
    if (n > p->bytes - at)
        n = p->bytes - at;
    memcpy(v->params + p->offset + at, from, n);
    memset(v->param_known + p->offset, 1, p->bytes);
}
/* The map, of the buffer's place here. */
static void bind_map(struct env *v, const struct launch_spec *l, size_t i, const uint64_t *base,
                     const struct ptx_symbol *p, uint64_t at)
{
    const struct arg_spec *a = &l->args[i];
    size_t own = launch_buffer_of(l, i);
    struct tensor_map m;
    uint8_t raw[TENSOR_MAP_BYTES];
    if (own >= l->nargs || !tensor_map_decode(a->bytes, &m))
        return;
    m.address = base[own] + a->offset;
    tensor_map_encode(&m, raw);
    put_param(v, p, at, raw, sizeof raw);
}
static void bind_arg(struct env *v, const struct launch_spec *l, size_t i, const uint64_t *base,
                     const struct ptx_symbol *p, uint64_t at)
{
    const struct arg_spec *a = &l->args[i];
    size_t own = a->kind == ARG_SAME_AS ? launch_buffer_of(l, i) : i;
    if (a->kind == ARG_SCALAR)
        put_param(v, p, at, a->scalar, elem_size(a->elem));
    else if (a->kind == ARG_BYTES)
        put_param(v, p, at, a->bytes, a->nbytes);
    else if (a->kind == ARG_TENSOR_MAP)
        bind_map(v, l, i, base, p, at);
    else if (own != SIZE_MAX && own < l->nargs) {
        uint64_t addr = base[own] + (a->kind == ARG_SAME_AS ? a->offset : 0);
        if (!a->inside)
            v->arg_base[i] = addr;
        put_param(v, p, at, &addr, 8);
    }
}
static void bind_args(struct env *v)
{
    const struct launch_spec *l = v->data->spec;
    const struct ptx_func *k = v->e->kernel;
    uint64_t *base = ARENA_ARRAY(v->e->arena, uint64_t, l->nargs + 1);
    if (!base)
        return;
    for (size_t i = 0; i < l->nargs; i++)
        if (l->args[i].kind == ARG_BUFFER) {
            struct env_region *r = add_region(v, l->args[i].name, (int)i, NULL, v->data->buffers[i].n);
            r->of = &v->data->buffers[i];
            base[i] = r->base;
        }
    for (size_t i = 0; i < l->nargs; i++) {
        size_t p = l->args[i].inside ? launch_outer_of(l, i) : i;
        if (p < k->nparams)
            bind_arg(v, l, i, base, k->params[p], l->args[i].inside ? l->args[i].at : 0);
    }
    if (launch_params(l) < k->nparams)
        eval_gap(v->e, "the launch has %zu of %u parameters", launch_params(l), k->nparams);
}
static void shape(struct env *v)
{
    const struct ptx_func *k = v->e->kernel;
    if (v->data) {
        v->grid = v->data->spec->grid;
        v->block = v->data->spec->block;
        v->shared_dynamic = v->data->spec->shared;
    } else {
        v->grid = (struct dim3u){ 4, 4, 4 };
        v->block = k->reqntid.x ? (struct dim3u){ k->reqntid.x, k->reqntid.y ? k->reqntid.y : 1,
                                                  k->reqntid.z ? k->reqntid.z : 1 }
                                : (struct dim3u){ 256, 1, 1 };
    }
}
enum status env_make(struct env *v, struct eval *e, const struct launch_data *data)
{
    memset(v, 0, sizeof *v);
    v->e = e;
    v->data = data;
    shape(v);
    each_symbol(v, count_one);
    size_t n = v->nsymbols + (data ? data->spec->nargs : 0) + 1;
    v->region = ARENA_ARRAY(e->arena, struct env_region, n);
    v->symbol = ARENA_ARRAY(e->arena, struct env_symbol, v->nsymbols * 2 + 1);
    v->nparams = e->kernel->param_bytes;
    v->params = arena_alloc(e->arena, v->nparams + 16);
    v->param_known = arena_alloc(e->arena, v->nparams + 16);
    v->arg_base = ARENA_ARRAY(e->arena, uint64_t, e->kernel->nparams + 1);
    v->loop = ARENA_ARRAY(e->arena, struct env_loop, e->nloops + 1);
    if (arena_failed(e->arena))
        return ST_NOMEM;
    v->nsymbols = 0;
    if (data)
        bind_args(v);
    each_symbol(v, place_one);
    v->shared_static = (uint32_t)ptx_shared_end(&v->shared);
    each_symbol(v, place_dynamic);
    relocate(v);
    return arena_failed(e->arena) ? ST_NOMEM : ST_OK;
}
const struct env_region *env_find(const struct env *v, uint64_t addr)
{
    uint32_t i = env_region_at(v, addr);
    return i < v->nregions && addr - v->region[i].base < v->region[i].size ? &v->region[i] : NULL;
}
bool env_symbol(const struct env *v, const struct ptx_symbol *s, uint64_t *addr)
{
    for (uint32_t i = 0; i < v->nsymbols; i++)
        if (v->symbol[i].sym == s) {
            *addr = v->symbol[i].addr;
            return true;
        }
    return false;
}

/* ---- symbolic values with the launch put in ---- */
static const struct symexpr *concrete_sreg(struct env *v, const struct symexpr *x)
{
    struct symexpr_pool *p = &v->e->pool;
    const uint32_t ntid[3] = { v->block.x, v->block.y, v->block.z },
                   ncta[3] = { v->grid.x, v->grid.y, v->grid.z };
    unsigned c = x->op < 3 ? x->op : 0;
    switch (x->c) {
    case PTX_SREG_NTID: return symexpr_const(p, x->bits, ntid[c]);
    case PTX_SREG_NCTAID: return symexpr_const(p, x->bits, ncta[c]);
    case PTX_SREG_TID: return symexpr_sreg(p, x->bits, PTX_SREG_TID, (int)c, 0, (int64_t)ntid[c] - 1);
    case PTX_SREG_CTAID:
        return symexpr_sreg(p, x->bits, PTX_SREG_CTAID, (int)c, 0, (int64_t)ncta[c] - 1);
    default: return x;
    }
}
/* Without a launch: pointers get distinct aligned addresses, numbers ENV_ASSUMED_INT. */
static const struct symexpr *assumed_param(struct env *v, const struct symexpr *x)
{
    const struct ptx_symbol *s = x->ref;
    if (x->bits == 64 && ptx_type_kind((enum ptx_type)s->type) != 'f')
        return symexpr_const(&v->e->pool, 64,
                             (int64_t)((s->offset + (uint64_t)x->c + 1) << ENV_REGION_SHIFT));
    return symexpr_const(&v->e->pool, x->bits, ENV_ASSUMED_INT);
}
static const struct symexpr *concrete_param(struct env *v, const struct symexpr *x)
{
    const struct ptx_symbol *s = x->ref;
    uint64_t at = s->offset + (uint64_t)x->c;
    unsigned n = x->bits / 8;
    if (!v->data)
        return assumed_param(v, x);
    if (at + n > v->nparams || !v->param_known[at])
        return x;
    uint64_t raw = 0;
    memcpy(&raw, v->params + at, n);
    return symexpr_const(&v->e->pool, x->bits, (int64_t)raw);
}
static const struct symexpr *concrete_leaf(void *ctx, const struct symexpr *x)
{
    struct env *v = ctx;
    uint64_t addr;
    switch (x->kind) {
    case SYMEXPR_SREG: return concrete_sreg(v, x);
    case SYMEXPR_PARAM: return concrete_param(v, x);
    case SYMEXPR_ADDR:
        return x->ref && env_symbol(v, x->ref, &addr)
                   ? symexpr_const(&v->e->pool, x->bits, (int64_t)addr)
                   : x;
    case SYMEXPR_ITER:
    case SYMEXPR_TRIPS: {
        const struct env_loop *l = &v->loop[((const struct ana_loop *)x->ref)->id];
        if (!l->known)
            return x;
        if (x->kind == SYMEXPR_TRIPS)
            return l->uniform ? symexpr_const(&v->e->pool, x->bits, l->trips) : x;
        return symexpr_iter(&v->e->pool, x->bits, x->ref, l->trips);
    }
    default: return x;
    }
}
const struct symexpr *env_concrete(struct env *v, const struct symexpr *x)
{
    return eval_subst(v->e, x, concrete_leaf, v);
}

/* ---- trip counts ----
 * A loop goes round while S(ITER). S must be one comparison whose sides are linear in ITER:
 * stay iff r + k*ITER > 0 over the integers. The sides are taken as integers without
 * wrap-around first; afterwards it is checked that no side leaves its width up to the exit. */
static const struct symexpr *integer_form(struct symexpr_pool *p, const struct symexpr *x)
{
    if (x->kind != SYMEXPR_SUM)
        return symexpr_sext(p, x, 64);
    const struct symexpr *r = symexpr_const(p, 64, x->c);
    for (uint32_t i = 0; i < x->n; i++)
        r = symexpr_add(p, r, symexpr_scale(p, symexpr_sext(p, x->arg[i], 64), x->coef[i]));
    return r;
}
/* Coefficient of ITER(l) in a 64-bit sum; *rest is the sum without it. False: not linear in it. */
static bool split_iter(struct symexpr_pool *p, const struct symexpr *m, const struct ana_loop *l,
                       int64_t *k, const struct symexpr **rest)
{
    *k = 0;
    *rest = m;
    for (uint32_t i = 0; i < (m->kind == SYMEXPR_SUM ? m->n : 1); i++) {
        const struct symexpr *a = m->kind == SYMEXPR_SUM ? m->arg[i] : m;
        if (a->kind == SYMEXPR_ITER && a->ref == l) {
            *k = m->kind == SYMEXPR_SUM ? m->coef[i] : 1;
            *rest = symexpr_sub(p, m, symexpr_scale(p, a, *k));
        }
    }
    return true;
}
static enum symexpr_visit is_iter_of(void *ctx, const struct symexpr *x)
{
    if (!(x->flags & AXF_ITER))
        return SYMEXPR_SKIP;
    return x->kind == SYMEXPR_ITER && x->ref == ctx ? SYMEXPR_FOUND : SYMEXPR_DESCEND;
}
static bool side_fits(struct env *v, const struct symexpr *side, const struct ana_loop *l, int64_t trips,
                      bool uns)
{
    struct symexpr_pool *p = &v->e->pool;
    int64_t k;
    const struct symexpr *rest;
    split_iter(p, integer_form(p, side), l, &k, &rest);
    const struct symexpr *whole =
        symexpr_add(p, rest, symexpr_scale(p, symexpr_iter(p, 64, l, trips), k));
    int64_t lo = uns ? 0 : side->bits >= 64 ? INT64_MIN + 1 : -(INT64_C(1) << (side->bits - 1));
    int64_t hi = side->bits >= 64 ? INT64_MAX - 1
                 : uns            ? (INT64_C(1) << side->bits) - 1
                                  : (INT64_C(1) << (side->bits - 1)) - 1;
    return whole->lo >= lo && whole->hi <= hi;
}
/* stay iff b - a + plus > 0, or a != b */
struct stay {
    const struct symexpr *a, *b;
    bool ne, uns;
    int64_t plus;
};
static bool read_stay(const struct symexpr *s, struct stay *out)
{
    *out = (struct stay){ 0 };
    if (s->kind != SYMEXPR_OP)
        return false;
    if (s->op == AXO_BNOT && s->arg[0]->kind == SYMEXPR_OP && s->arg[0]->op == AXO_EQ) {
        out->ne = true;
        s = s->arg[0];
    } else if (s->op != AXO_SLT && s->op != AXO_SLE && s->op != AXO_ULT && s->op != AXO_ULE) {
        return false;
    }
    out->a = s->arg[0];
    out->b = s->arg[1];
    out->uns = s->op == AXO_ULT || s->op == AXO_ULE;
    out->plus = s->op == AXO_SLE || s->op == AXO_ULE;
    return out->a->bits > 1;
}
/* a != b becomes an inequality where the difference closes in on zero and cannot jump over it. */
static bool settle_ne(struct symexpr_pool *p, int64_t *k, const struct symexpr **r)
{
    if (*k > 0) {
        *k = -*k;
        *r = symexpr_scale(p, *r, -1);
    }
    if (*k == 0 || (*r)->lo < 0)
        return false;
    return *k == -1 || (symexpr_is_const(*r) && (*r)->c % *k == 0);
}
/* ---- a loop whose condition hangs on its own counter alone: round after round until it ends ---- */
#define MAX_ROUNDS 65536
struct own {
    int64_t from;
};
static enum symexpr_visit visit_foreign(void *ctx, const struct symexpr *x)
{
    /* of its arguments alone */
    bool made = x->n && x->kind != SYMEXPR_LOAD && x->kind != SYMEXPR_PHI;
    return made || symexpr_is_const(x) || (x->kind == SYMEXPR_ITER && x->ref == ctx) ? SYMEXPR_DESCEND
                                                                                     : SYMEXPR_FOUND;
}
static bool round_leaf(void *ctx, const struct symexpr *x, int64_t out[32])
{
    const struct own *o = ctx;
    (void)x;
    for (int i = 0; i < 32; i++)
        out[i] = o->from + i;
    return true;
}
static void count_rounds(struct env *v, struct ana_loop *l, const struct symexpr *stay,
                         struct env_loop *out)
{
    struct arena *a = symexpr_find(stay, visit_foreign, l) ? NULL : arena_new(0);
    struct symexpr_tape tape;
    struct own o = { 0 };
    if (!a || !symexpr_tape_make(a, &stay, 1, &tape)) {
        arena_free(a);
        return;
    }
    int64_t(*value)[32] = arena_alloc(a, sizeof *value * (tape.n + 1));
    bool *valid = arena_alloc(a, tape.n + 1);
    for (; value && valid && o.from < MAX_ROUNDS && !out->known; o.from += 32) {
        symexpr_tape_run(&tape, round_leaf, &o, value, valid);
        if (!valid[tape.root[0]] || cancel_asked(v->e->cancel))
            break;
        for (int i = 0; i < 32 && !out->known; i++)
            if (!(value[tape.root[0]][i] & 1))
                *out = (struct env_loop){ .known = true, .uniform = true, .trips = o.from + i };
    }
    arena_free(a);
}
static void solve_linear(struct env *v, struct ana_loop *l, const struct symexpr *c,
                         struct env_loop *out)
{
    struct symexpr_pool *p = &v->e->pool;
    struct stay s;
    int64_t k;
    const struct symexpr *r;
    if (!read_stay(c, &s))
        return;
    const struct symexpr *m = symexpr_add(p, symexpr_sub(p, integer_form(p, s.b), integer_form(p, s.a)),
                                          symexpr_const(p, 64, s.plus));
    split_iter(p, m, l, &k, &r);
    if (((r->flags & AXF_ITER) && symexpr_find(r, is_iter_of, l)) ||
        (r->flags & (AXF_LOAD | AXF_UNKNOWN | AXF_PHI | AXF_RECUR | AXF_TRIPS | AXF_OTHER_SREG)))
        return;
    if (s.ne && !settle_ne(p, &k, &r))
        return;
    if (k >= 0 || r->hi > INT64_MAX / 2 || r->lo < INT64_MIN / 2)
        return; /* never leaves, or only by wrapping around */
    int64_t most = r->hi > 0 ? (r->hi - 1) / -k + 1 : 0;
    if (!side_fits(v, s.a, l, most, s.uns) || !side_fits(v, s.b, l, most, s.uns))
        return;
    *out = (struct env_loop){ .known = true, .uniform = r->lo == r->hi, .trips = most };
    if (!out->uniform) { /* ITER is reached when ITER-1 stayed */
        const struct symexpr *it = symexpr_iter(p, 64, l, most), *zero = symexpr_const(p, 64, 0);
        const struct symexpr *before =
            symexpr_add(p, r, symexpr_scale(p, symexpr_add(p, it, symexpr_const(p, 64, -1)), k));
        out->again =
            symexpr_or(p, symexpr_op2(p, AXO_EQ, it, zero), symexpr_op2(p, AXO_SLT, zero, before));
    }
}
static void solve_one(struct env *v, struct ana_loop *l, const struct symexpr *c, struct env_loop *out)
{
    if (symexpr_is_value(c, 0))
        *out = (struct env_loop){ .known = true, .uniform = true };
    else
        solve_linear(v, l, c, out);
    if (!out->known && (c->flags & AXF_ITER))
        count_rounds(v, l, c, out);
}
/* Several exits: the first that fires ends it. What cannot be solved leaves a bound by the others. */
static void solve(struct env *v, struct ana_loop *l, const struct symexpr *c, struct env_loop *out)
{
    struct env_loop sum = { .known = true, .uniform = true, .trips = INT64_MAX };
    bool all = l->stay != NULL;
    uint32_t n = c->kind == SYMEXPR_OP && c->op == AXO_BAND ? c->n : 1;
    for (uint32_t i = 0; i < n; i++) {
        struct env_loop one = { 0 };
        solve_one(v, l, n > 1 ? c->arg[i] : c, &one);
        all = all && one.known;
        if (!one.known)
            continue;
        sum.trips = one.trips < sum.trips ? one.trips : sum.trips;
        sum.uniform = sum.uniform && one.uniform;
        sum.bounded = true;
        if (one.again)
            sum.again = sum.again ? symexpr_and(&v->e->pool, sum.again, one.again) : one.again;
    }
    if (all)
        *out = sum;
    else if (n > 1 && l->stay)
        count_rounds(v, l, c, out);
    if (!out->known)
        *out = (struct env_loop){ .bounded = sum.bounded, .most = sum.bounded ? sum.trips : 0 };
}
void env_solve_loops(struct env *v)
{
    for (uint32_t i = 0; i < v->e->nloops; i++)
        if (v->e->loops[i]->bound && v->e->status == ST_OK)
            solve(v, v->e->loops[i], env_concrete(v, v->e->loops[i]->bound),
                  &v->loop[v->e->loops[i]->id]);
}
