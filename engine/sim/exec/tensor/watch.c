#include "engine/sim/exec/tensor/watch.h"

#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/slots.h"

#include <string.h>

bool watch_new(struct watch_state *s, uint32_t n)
{
    s->n = n;
    s->write = base_alloc((size_t)n * 3 + 1);
    if (!s->write)
        return false;
    s->read = s->write + n;
    s->dirty = s->read + n;
    memset(s->write, WATCH_IDLE, (size_t)n * 2);
    memset(s->dirty, 1, n);
    return true;
}

static void wait(struct watch_state *s, int64_t pending)
{
    for (uint32_t r = 0; r < 2 * s->n; r++)
        if (s->write[r] > pending)
            s->write[r] = WATCH_IDLE;
}

/* One matrix of a product in registers; a sink counts as none. */
static enum watch_hit use(struct watch_state *s, const struct ptx_operand *o, uint8_t *age,
                          uint32_t *reg)
{
    const struct ptx_operand *e = o->kind == OPND_VEC ? o->elem : o;
    unsigned n = o->kind == OPND_VEC ? o->nelem : 0;
    enum watch_hit hit = WATCH_FINE;
    for (unsigned k = 0; k < n; k++) {
        if (e[k].kind != OPND_REG)
            continue;
        if (s->dirty[e[k].index]) {
            *reg = e[k].index;
            hit = WATCH_NO_FENCE;
        }
        age[e[k].index] = 0;
    }
    return hit;
}

static enum watch_hit other(struct watch_state *s, const struct exec_inst *in, uint32_t *reg)
{
    enum watch_hit hit = WATCH_FINE;
    for (uint32_t k = 0; k < in->ndst; k++) {
        uint32_t r = in->regs[k];
        if (s->write[r] != WATCH_IDLE || s->read[r] != WATCH_IDLE) {
            *reg = r;
            hit = WATCH_NO_WAIT;
        }
        s->dirty[r] = 1;
    }
    for (uint32_t k = 0; k < in->nsrc; k++)
        if (s->write[in->regs[in->ndst + k]] != WATCH_IDLE) {
            *reg = in->regs[in->ndst + k];
            hit = WATCH_NO_WAIT;
        }
    return hit;
}

enum watch_hit watch_step(struct watch_state *s, const struct exec_inst *in, uint32_t *reg)
{
    const struct ptx_inst *i = in->ptx;
    switch (i->op) {
    case PTX_OP_WGMMA_FENCE: memset(s->dirty, 0, s->n); return WATCH_FINE;
    case PTX_OP_WGMMA_COMMIT_GROUP:
        for (uint32_t r = 0; r < 2 * s->n; r++)
            s->write[r] = (uint8_t)(s->write[r] + (s->write[r] < WATCH_IDLE - 1));
        return WATCH_FINE;
    case PTX_OP_WGMMA_WAIT_GROUP: wait(s, i->opnds[0].imm); return WATCH_FINE;
    default: break;
    }
    if (i->op != PTX_OP_WGMMA_MMA_ASYNC && i->op != PTX_OP_WGMMA_MMA_ASYNC_SP)
        return other(s, in, reg);
    enum watch_hit a = use(s, &i->opnds[1], s->read, reg), d = use(s, &i->opnds[0], s->write, reg);
    return d != WATCH_FINE ? d : a;
}

bool exec_watch(struct exec_warp *w, const struct exec_inst *in)
{
    uint32_t reg = 0;
    if (w->frame != w->root)
        return true;
    if (!w->watch.write && !watch_new(&w->watch, in->func->nregs)) {
        exec_fault(w, in, 0, FAULT_NOMEM, "out of memory for what products use");
        return false;
    }
    enum watch_hit hit = watch_step(&w->watch, in, &reg);
    if (hit == WATCH_FINE)
        return true;
    struct str name = in->func->ptx->regs[reg].name;
    if (hit == WATCH_NO_FENCE)
        exec_fault(w, in, first_lane(w->mask), FAULT_RACE,
                   "wgmma uses register %.*s, which was written after the last wgmma.fence\n"
                   "put a wgmma.fence.sync.aligned between the write and the product",
                   (int)name.n, name.s);
    else
        exec_fault(w, in, first_lane(w->mask), FAULT_RACE,
                   "register %.*s is used while a wgmma works with it: no wgmma.wait_group has waited "
                   "for its group\nput wgmma.commit_group behind the product and wgmma.wait_group "
                   "before the use",
                   (int)name.n, name.s);
    return false;
}
