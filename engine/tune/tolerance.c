/* Float atomics add in whatever order the hardware takes them: such sums differ in their last bits from
 * launch to launch, and bit-equality would refuse every configuration, the original among them. */
#include "engine/ptx/flow/callgraph.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/tune/tune_int.h"

#include <string.h>

/* Relative to each element alone: what a sum of some thousand floats loses by its order, with a margin.
 * For devices that count no sums; and the most that a value made of sums may differ by (bounds.c). */
#define ATOMIC_TOLERANCE 1e-4

static bool is_float(enum ptx_type t)
{
    return t == PTX_T_F16 || t == PTX_T_F16X2 || t == PTX_T_BF16 || t == PTX_T_BF16X2 ||
           t == PTX_T_F32 || t == PTX_T_F64;
}

/* Of a reduction by a tensor map only the map says the type. */
static bool adds_floats(const struct ptx_inst *in)
{
    return ptx_is_atomic_op(in, PTX_MOD_ADD) && (!in->ntypes || is_float((enum ptx_type)in->type[0]));
}

static bool reads_clock(const struct ptx_inst *in)
{
    return (ptx_sees(in) & PTX_SEES_TIME) != 0;
}

static bool func_any(const struct ptx_func *f, bool (*is)(const struct ptx_inst *in))
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (is(&f->insts[i]))
            return true;
    return false;
}

/* Of the kernel and what it may call; without a name of any function. Its neighbours' instructions are
 * not its own. */
static bool kernel_any(const struct ptx_module *m, const char *kernel,
                       bool (*is)(const struct ptx_inst *in))
{
    const struct ptx_func *entry = kernel ? ptx_find_func(m, str_of(kernel)) : NULL;
    const struct ptx_func **list = base_alloc(((size_t)m->nfuncs + 1) * sizeof *list);
    uint32_t *place = base_alloc(((size_t)m->nfuncs + 1) * sizeof *place);
    uint32_t n = entry && list && place ? ptx_reachable(m, entry, list, place) : 0;
    bool any = false;
    for (uint32_t f = 0; !any && f < n; f++)
        any = func_any(list[f], is);
    for (uint32_t f = 0; !any && !entry && f < m->nfuncs; f++)
        any = func_any(m->funcs[f], is);
    BASE_FREE(list, place);
    return any;
}

bool tune_reads_clock(const struct ptx_module *m, const char *kernel)
{
    return kernel_any(m, kernel, reads_clock);
}

static bool launch_adds_floats(const struct ptx_module *m, const struct launch_spec *l)
{
    bool adds = kernel_any(m, l->kernel, adds_floats);
    for (size_t i = 0; !adds && i < l->nbefore; i++)
        adds = kernel_any(m, l->before[i].kernel, adds_floats);
    return adds;
}

/* ---- which outputs float atomics reach ----
 * Without regard to the order of instructions: of each register, the parameters that its value can be an
 * address in, and whether it can come from a float atomic. What is stored with such a value, or where or
 * whether such a value says, is reached as well, and so is all that is loaded from there. Pointers out
 * of memory, and calls, may be anything: then every output counts as reached. */
#define ROOT_ANY UINT64_MAX
struct reach {
    const struct ptx_func *f;
    uint64_t *root;
    bool *sum;
    uint64_t reached, derived; /* by any way; by what is stored there */
    bool apart /* shared or local memory holds sums */, any, moved;
};

static bool keeps_apart(const struct ptx_inst *in)
{
    return in->space == PTX_SPACE_SHARED || in->space == PTX_SPACE_LOCAL ||
           in->space == PTX_SPACE_SHARED_CLUSTER;
}

static void note_root(struct reach *r, uint64_t *to, uint64_t bits)
{
    r->moved |= (*to | bits) != *to;
    *to |= bits;
}
static void note_sum(struct reach *r, bool *to, bool is)
{
    r->moved |= is && !*to;
    *to |= is;
}

/* Roots and sums of all that an operand reads. */
static void operand_reads(const struct reach *r, const struct ptx_operand *o, uint64_t *root, bool *sum)
{
    if (o->kind == OPND_REG || (o->kind == OPND_ADDR && o->base == BASE_REG)) {
        *root |= r->root[o->index];
        *sum |= r->sum[o->index];
    }
    for (unsigned k = 0; k < o->nelem && o->kind != OPND_ADDR; k++)
        operand_reads(r, &o->elem[k], root, sum);
}

static void operand_gets(struct reach *r, const struct ptx_operand *o, uint64_t root, bool sum)
{
    if (o->kind == OPND_REG) {
        note_root(r, &r->root[o->index], root);
        note_sum(r, &r->sum[o->index], sum);
    }
    for (unsigned k = 0; k < o->nelem && o->kind != OPND_ADDR; k++)
        operand_gets(r, &o->elem[k], root, sum);
}

static uint64_t param_root(const struct reach *r, const struct ptx_inst *in)
{
    const struct ptx_operand *o = &in->opnds[1];
    for (uint32_t p = 0; p < r->f->nparams; p++)
        if (o->sym == r->f->params[p])
            return p < 63 ? 1ull << p : ROOT_ANY;
    return ROOT_ANY;
}

/* Bits of the buffers an access can go to; a root of nothing is a pointer that nobody followed. */
static uint64_t target(uint64_t root)
{
    return root ? root : ROOT_ANY;
}

static void reach_inst(struct reach *r, const struct ptx_inst *in)
{
    uint64_t root = 0, address = 0;
    enum ptx_effect e = ptx_effect_of(in);
    bool sum = false, where = false, bulk = e == EFFECT_ATOMIC && ptx_is(in, IS_BULK),
         writes = e == EFFECT_STORE || e == EFFECT_ATOMIC,
         blind = writes && !ptx_is(in, IS_RETURNS_OLD); /* returns nothing */
    unsigned first = blind ? 0 : 1, at = first;
    for (unsigned k = first; k < in->nopnds; k++)
        operand_reads(r, &in->opnds[k], &root, &sum);
    if (in->guarded)
        note_sum(r, &sum, r->sum[in->guard]);
    r->any |= e == EFFECT_CALL || (e == EFFECT_BRANCH && sum);
    if (at < in->nopnds)
        operand_reads(r, &in->opnds[at], &address, &where);
    sum = sum || (bulk && r->apart);
    if (writes && keeps_apart(in))
        note_sum(r, &r->apart, sum || adds_floats(in));
    else if (writes && (sum || adds_floats(in)))
        note_root(r, &r->reached, target(address));
    if (writes && sum && !keeps_apart(in))
        note_root(r, &r->derived, target(address));
    if (blind || !in->nopnds)
        return;
    if (ptx_is_param_load(in))
        operand_gets(r, &in->opnds[0], param_root(r, in), false);
    else if (e == EFFECT_LOAD || e == EFFECT_ATOMIC)
        operand_gets(r, &in->opnds[0],
                     ptx_type_bits((enum ptx_type)in->type[0]) == 64 &&
                             !is_float((enum ptx_type)in->type[0])
                         ? ROOT_ANY
                         : 0,
                     sum || adds_floats(in) ||
                         (keeps_apart(in) ? r->apart : (target(address) & r->reached) != 0));
    else
        operand_gets(r, &in->opnds[0], root, sum);
}

/* What moves may be seen by any instruction: roots of memory are no registers. */
static void reach_step(void *ctx, struct ptx_solver *s, uint32_t node)
{
    struct reach *r = ctx;
    r->moved = false;
    if (!r->any)
        reach_inst(r, &r->f->insts[node]);
    if (r->moved)
        ptx_ask_all(s);
}

/* Bit i: parameter i. All of them where not everything can be followed. */
static uint64_t atomics_reach(const struct ptx_module *m, const struct launch_spec *l, uint64_t *derived)
{
    *derived = ROOT_ANY;
    const struct ptx_func *f = l->kernel ? ptx_find_func(m, str_of(l->kernel)) : NULL;
    if (!f || l->nbefore)
        return ROOT_ANY;
    struct reach r = { .f = f,
                       .root = base_alloc((f->nregs + 1) * sizeof *r.root),
                       .sum = base_alloc((f->nregs + 1) * sizeof *r.sum) };
    r.any = !r.root || !r.sum;
    r.any = r.any || !ptx_solve(f->ninsts, PTX_FORWARD, reach_step, &r);
    BASE_FREE(r.root, r.sum);
    *derived = r.any ? ROOT_ANY : r.derived;
    return r.any ? ROOT_ANY : r.reached;
}

/* Is buffer i, by its own parameter or by one that is the same, among these? */
static bool among(const struct launch_spec *l, size_t i, uint64_t mask)
{
    bool is = i >= 63 || mask >> i & 1;
    for (size_t k = 0; !is && k < l->nargs; k++)
        is = l->args[k].same_as && l->args[i].name && !strcmp(l->args[k].same_as, l->args[i].name) &&
             (k >= 63 || mask >> k & 1);
    return is;
}

unsigned tune_tolerate_atomics(const struct ptx_module *m, struct launch_spec *l)
{
    unsigned n = 0;
    if (!launch_adds_floats(m, l))
        return 0;
    uint64_t derived, reached = atomics_reach(m, l, &derived);
    for (size_t i = 0; i < l->nargs; i++) {
        struct arg_spec *a = &l->args[i];
        if (a->kind != ARG_BUFFER || !elem_is_float(a->elem) || a->tolerance > 0 ||
            !among(l, i, reached))
            continue;
        a->tolerance = ATOMIC_TOLERANCE;
        a->atomic = true;
        a->derived = among(l, i, derived);
        n += a->output;
    }
    return n;
}
