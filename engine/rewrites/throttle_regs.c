/* Register limits: what ptxas needs is not known before it runs, but what it refuses at least is. Found
 * with ptxas 13.0 on sm_75 to sm_100a (tests/cli/reg_limits.sh holds it against the one that is there):
 *
 *   any kernel              a limit below 24 is raised to 24
 *   wgmma.mma_async         a register for each word of the accumulator, and 29
 *   wmma, tcgen05           a register for each word of the largest operand, and 24
 *   call by pointer         a function with .abi_preserve N needs N + 17
 *   call out of the module  a function compiled by itself has registers of its own, and the linker
 *                           refuses a kernel with fewer: the number is not known here
 *
 * All other code is spilled to fit, callees of the same module with their kernel. */
#include "engine/pass/pass_int.h"
#include "engine/ptx/flow/asks.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rewrites/throttle.h"

#include <stdio.h>
#include <string.h>

#define WGMMA_MORE   29u
#define MATRIX_MORE  24u
#define CALL_MORE    17u
#define MATRIX_LEAST 8u /* words of an operand below which LOWEST is enough */

struct need {
    uint32_t regs;
    const struct ptx_inst *at; /* NULL: every kernel */
    const char *why;
};

static uint32_t words_of(const struct ptx_func *f, const struct ptx_operand *o)
{
    uint32_t n =
        o->kind == OPND_REG && ptx_type_bits((enum ptx_type)f->regs[o->index].type) == 64 ? 2 : 1;
    if (!o->nelem || o->kind == OPND_ADDR)
        return o->kind == OPND_REG ? n : 0;
    n = 0;
    for (unsigned k = 0; k < o->nelem; k++)
        n += words_of(f, &o->elem[k]);
    return n;
}

static void inst_needs(const struct ptx_func *f, const struct ptx_inst *i, struct need *out)
{
    bool wgmma = ptx_is(i, IS_WGMMA);
    uint32_t words = 0;
    if (!ptx_is(i, IS_WMMA | IS_TCGEN05 | IS_WGMMA))
        return;
    for (unsigned k = 0; k < (wgmma ? 1 : i->nopnds); k++) {
        uint32_t n = words_of(f, &i->opnds[k]);
        words = n > words ? n : words;
    }
    if (!wgmma && words < MATRIX_LEAST)
        return;
    uint32_t regs = (words + (wgmma ? WGMMA_MORE : MATRIX_MORE) + 7) / 8 * 8;
    if (regs > out->regs)
        *out = (struct need){ regs, i, "this instruction alone" };
}

static void func_needs(const struct ptx_func *f, bool indirect, struct need *out)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        inst_needs(f, &f->insts[i], out);
    if (indirect && f->abi_preserve && f->ninsts &&
        (f->abi_preserve + CALL_MORE + 7) / 8 * 8 > out->regs)
        *out = (struct need){ (f->abi_preserve + CALL_MORE + 7) / 8 * 8, &f->insts[0],
                              "this function (.abi_preserve), called through a pointer," };
}

/* Threads of a CTA as ptxas sees them. */
static uint64_t threads_of(const struct pass_ctx *c)
{
    uint64_t said = ptx_threads_of(c->f);
    return said ? said : dim3u_count(c->out->block);
}

/* What --maxnreg and --minctas leave a thread; 0: nothing is limited. */
static uint32_t limit_of(const struct pass_ctx *c, const char **option)
{
    const struct dev_info *d = c->in->dev;
    uint64_t warps = (threads_of(c) + 31) / 32;
    uint32_t limit = (uint32_t)opt_occupancy(c->opt)->maxnreg, most = 0;
    *option = "--maxnreg";
    if (opt_occupancy(c->opt)->minctas && d)
        most = dev_regs_of_warps(d, warps * (uint64_t)opt_occupancy(c->opt)->minctas);
    if (!most || (limit && limit <= most))
        return limit;
    *option = "--minctas";
    return most;
}

enum status throttle_check_regs(struct pass_ctx *c)
{
    const char *option;
    uint32_t limit = limit_of(c, &option);
    const struct dev_info *d = c->in->dev;
    struct need need = { DEV_REGS_LEAST, NULL, "every kernel" };
    struct pass_funcs callees = { .n = 0 };
    if (opt_occupancy(c->opt)->minctas && d && d->max_ctas_per_sm &&
        (uint32_t)opt_occupancy(c->opt)->minctas > d->max_ctas_per_sm)
        return pass_refuse(c, NO_SPAN, NULL, "--minctas %d: %s holds at most %u CTAs per SM",
                           opt_occupancy(c->opt)->minctas, d->name, d->max_ctas_per_sm);
    if (!limit || pass_cc(c) < 50) /* no ptxas of today compiles for older ones */
        return ST_OK;
    pass_callees(c, &callees);
    if (callees.unknown)
        return pass_refuse(c, callees.at, "compile both as one module",
                           "%s: a function of another module may be called here, and the number of "
                           "registers it needs is unknown",
                           option);
    func_needs(c->f, false, &need);
    for (uint32_t i = 0; i < callees.n; i++)
        func_needs(callees.v[i], callees.indirect, &need);
    if (limit >= need.regs)
        return ST_OK;
    char hint[40];
    snprintf(hint, sizeof hint, "--maxnreg %u", need.regs);
    return pass_refuse(c, need.at ? need.at->at : NO_SPAN, hint,
                       "%s leaves a thread %u registers, and %s needs at least %u", option, limit,
                       need.why, need.regs);
}
