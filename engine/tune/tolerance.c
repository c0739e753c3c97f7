/* Float atomics add in whatever order the hardware takes them: such sums differ in their last bits from launch to
 * launch, and bit-equality would refuse every configuration, the original among them. */
#include "engine/tune/tune.h"

#define ATOMIC_TOLERANCE 1e-4            /* relative; what a sum of some thousand floats loses by its order, with a margin */

static bool is_float(enum ptx_type t)
{
    return t == PTX_T_F16 || t == PTX_T_F16X2 || t == PTX_T_BF16 || t == PTX_T_BF16X2 || t == PTX_T_F32 || t == PTX_T_F64;
}

static bool func_adds_floats(const struct ptx_func *f, bool *calls)
{
    bool adds = false;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_inst *in = &f->insts[i];
        *calls |= in->op == PTX_OP_CALL;
        adds |= (in->op == PTX_OP_ATOM || in->op == PTX_OP_RED) && in->ntypes && is_float((enum ptx_type)in->type[0]);
    }
    return adds;
}

/* Of this kernel, and, where it calls anything, of any function of the module; its neighbours' atomics are not its own. */
static bool kernel_adds_floats(const struct ptx_module *m, const char *kernel)
{
    const struct ptx_func *entry = kernel ? ptx_find_func(m, str_of(kernel)) : NULL;
    bool calls = !entry, nested = false, adds = entry && func_adds_floats(entry, &calls);
    for (uint32_t f = 0; !adds && calls && f < m->nfuncs; f++)
        adds = (!entry || !m->funcs[f]->entry) && func_adds_floats(m->funcs[f], &nested);
    return adds;
}

static bool launch_adds_floats(const struct ptx_module *m, const struct launch_spec *l)
{
    bool adds = kernel_adds_floats(m, l->kernel);
    for (size_t i = 0; !adds && i < l->nbefore; i++)
        adds = kernel_adds_floats(m, l->before[i].kernel);
    return adds;
}

static bool float_elements(enum elem e) { return e == ELEM_F16 || e == ELEM_F32 || e == ELEM_F64; }

unsigned tune_tolerate_atomics(const struct ptx_module *m, struct launch_spec *l)
{
    unsigned n = 0;
    if (!launch_adds_floats(m, l))
        return 0;
    for (size_t i = 0; i < l->nargs; i++) {
        struct arg_spec *a = &l->args[i];
        if (!a->output || a->kind != ARG_BUFFER || !float_elements(a->elem) || a->tolerance > 0)
            continue;
        a->tolerance = ATOMIC_TOLERANCE;
        n++;
    }
    return n;
}
