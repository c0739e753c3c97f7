/* Float atomics add in whatever order the hardware takes them: such sums differ in their last bits from
 * launch to launch, and bit-equality would refuse every configuration, the original among them. */
#include "engine/base/base.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

/* relative; what a sum of some thousand floats loses by its order, with a margin */
#define ATOMIC_TOLERANCE 1e-4

static bool is_float(enum ptx_type t)
{
    return t == PTX_T_F16 || t == PTX_T_F16X2 || t == PTX_T_BF16 || t == PTX_T_BF16X2 ||
           t == PTX_T_F32 || t == PTX_T_F64;
}

static bool adds_floats(const struct ptx_inst *in)
{
    return (in->op == PTX_OP_ATOM || in->op == PTX_OP_RED) && in->ntypes &&
           is_float((enum ptx_type)in->type[0]);
}

static bool reads_clock(const struct ptx_inst *in)
{
    for (unsigned o = 0; o < in->nopnds; o++)
        if (in->opnds[o].kind == OPND_SREG)
            switch (in->opnds[o].index) {
            case PTX_SREG_CLOCK:
            case PTX_SREG_CLOCK_HI:
            case PTX_SREG_CLOCK64:
            case PTX_SREG_GLOBALTIMER:
            case PTX_SREG_GLOBALTIMER_LO:
            case PTX_SREG_GLOBALTIMER_HI: return true;
            default: break;
            }
    return false;
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
    base_free(list);
    base_free(place);
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

static bool float_elements(enum elem e)
{
    return e == ELEM_F16 || e == ELEM_F32 || e == ELEM_F64;
}

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
