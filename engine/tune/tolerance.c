/* Float atomics add in whatever order the hardware takes them: such sums differ in their last bits from launch to
 * launch, and bit-equality would refuse every configuration, the original among them. */
#include "engine/tune/tune.h"

#define ATOMIC_TOLERANCE 1e-4            /* relative; what a sum of some thousand floats loses by its order, with a margin */

static bool is_float(enum ptx_type t)
{
    return t == PTX_T_F16 || t == PTX_T_F16X2 || t == PTX_T_BF16 || t == PTX_T_BF16X2 || t == PTX_T_F32 || t == PTX_T_F64;
}

static bool has_float_atomics(const struct ptx_module *m)
{
    for (uint32_t f = 0; f < m->nfuncs; f++)
        for (uint32_t i = 0; i < m->funcs[f]->ninsts; i++) {
            const struct ptx_inst *in = &m->funcs[f]->insts[i];
            if ((in->op == PTX_OP_ATOM || in->op == PTX_OP_RED) && in->ntypes && is_float((enum ptx_type)in->type[0]))
                return true;
        }
    return false;
}

static bool float_elements(enum elem e) { return e == ELEM_F16 || e == ELEM_F32 || e == ELEM_F64; }

unsigned tune_tolerate_atomics(const struct ptx_module *m, struct launch_spec *l)
{
    unsigned n = 0;
    if (!has_float_atomics(m))
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
