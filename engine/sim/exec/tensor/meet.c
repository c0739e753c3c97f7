#include "engine/sim/exec/tensor/meet.h"

#include "engine/ptx/ptx.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/slots.h"

#define GROUP_WARPS 4u

static struct exec_warp *first_warp(const struct exec_warp *w)
{
    return &w->cta->warps[w->index / GROUP_WARPS * GROUP_WARPS];
}

static bool is_whole(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const char *why = mask != EXEC_FULL ? "by part of a warp"
                      : w->index / GROUP_WARPS * GROUP_WARPS + GROUP_WARPS > w->cta->nwarps
                          ? "by a CTA whose warps are no whole warpgroups"
                          : NULL;
    if (why)
        exec_fault(w, in, first_lane(mask), FAULT_UNIFORM,
                   "%s executed %s\n"
                   "let all 128 threads of a warpgroup execute it; a branch or a block of other size "
                   "parts them",
                   ptx_op_info(in->ptx->op)->name, why);
    return !why;
}

uint32_t exec_meet_lacks(const struct exec_warp *w)
{
    const struct exec_warp *g = first_warp(w);
    uint32_t m = 0;
    for (uint32_t i = 0; w->meet.waits && i < GROUP_WARPS; i++)
        m |= (uint32_t)(g[i].meet.come < w->meet.all_come || g[i].meet.committed < w->meet.all_done)
             << i;
    return m;
}

/* Those that have all they waited for go on. */
static void release(struct exec_warp *w)
{
    struct exec_warp *g = first_warp(w);
    for (uint32_t i = 0; i < GROUP_WARPS; i++) {
        if (!g[i].meet.waits || exec_meet_lacks(&g[i]) || g[i].frag[g[i].cur].state != FRAG_GROUP)
            continue;
        g[i].frag[g[i].cur].state = FRAG_READY;
        w->k->tensor.woke = true;
    }
}

/* Goes on, or waits at the instruction, which then counts as not executed. */
static bool pass(struct exec_warp *w)
{
    w->meet.waits = true;
    w->meet.pc = w->pc - 1;
    if (!exec_meet_lacks(w)) {
        w->meet.waits = false;
        return true;
    }
    w->ninst--;
    w->nthread -= lane_count(w->mask);
    frag_block(w, FRAG_GROUP, w->pc - 1);
    return false;
}

/* The last to come looks where the others are. */
static bool alike(struct exec_warp *w, const struct exec_inst *in)
{
    const struct exec_warp *g = first_warp(w);
    for (uint32_t i = 0; i < GROUP_WARPS; i++) {
        if (!g[i].meet.waits || g[i].meet.all_come != w->meet.come || g[i].meet.pc == w->pc - 1)
            continue;
        const struct ptx_inst *other = w->x->p->code[g[i].meet.pc].ptx;
        exec_fault(w, in, 0, FAULT_UNIFORM,
                   "the warps of a warpgroup execute different instructions: warp %u %s, warp %u %s of "
                   "line %u\nlet no branch part the four warps of a warpgroup between such instructions",
                   w->index, ptx_op_info(in->ptx->op)->name, g[i].index, ptx_op_info(other->op)->name,
                   other->at.line);
        return false;
    }
    return true;
}

/* All four name the same matrices. */
static bool same_matrices(struct exec_warp *w, const struct exec_inst *in)
{
    const struct exec_warp *g = first_warp(w);
    for (uint32_t i = 0; i < GROUP_WARPS; i++)
        for (unsigned k = 0; k < 2; k++) {
            if (!g[i].meet.waits || g[i].meet.all_come != w->meet.come ||
                g[i].meet.desc[k] == w->meet.desc[k])
                continue;
            exec_fault(
                w, in, 0, FAULT_UNIFORM,
                "the warps of a warpgroup give different descriptors of %c: warp %u 0x%llx, warp %u "
                "0x%llx\nmake a descriptor of what all 128 threads share, not of the warp's number",
                "AB"[k], w -> index, (unsigned long long)w -> meet.desc[k], g[i].index,
                (unsigned long long)g[i].meet.desc[k]);
            return false;
        }
    return true;
}

bool exec_meet_all(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (!is_whole(w, in, mask))
        return false;
    if (!w->meet.waits) {
        w->meet.all_come = ++w->meet.come;
        w->meet.all_done = 0;
        if (!alike(w, in) || !same_matrices(w, in))
            return false;
        release(w);
    }
    return pass(w);
}

void exec_wgmma_fence(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    w->meet.desc[0] = w->meet.desc[1] = 0;
    exec_meet_all(w, in, mask);
}

void exec_wgmma_commit(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (!is_whole(w, in, mask))
        return;
    w->meet.committed++;
    release(w);
}

void exec_wgmma_wait(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t pending = (uint32_t)in->imm;
    if (!is_whole(w, in, mask))
        return;
    w->meet.all_come = 0;
    w->meet.all_done = w->meet.committed > pending ? w->meet.committed - pending : 0;
    pass(w);
}
