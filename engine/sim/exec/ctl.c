/* Control: branches, calls, returns, exits, traps. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/hostile.h"
#include "engine/sim/exec/runtime/builtin.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/windows.h"

#include <string.h>

static bool says_uniform(const struct exec_inst *in)
{
    return in->ptx && ptx_has_mod(in->ptx, PTX_MOD_UNI);
}

#define APART (1u << 24) /* more turns than a loop of equal turns has */

/* The loop has had as many turns as it may. */
static bool ends_turns(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct sim_cut *c = &w->x->cut;
    if (in != &w->x->p->code[c->latch])
        return false;
    w->turns += mask == w->mask ? 1 : APART;
    return c->turns && w->turns >= c->turns;
}

void exec_bra(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (__builtin_expect(w->x->cut.on, false) && ends_turns(w, in, mask))
        return;
    if (mask == w->mask)
        w->pc = in->target;
    else if (!says_uniform(in) || !exec_not_uniform(w, in, mask, w->mask))
        frag_split(w, mask, in->target);
}

/* Lanes that go to one of several places. */
void exec_brx(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_brx *x = in->x;
    const uint32_t *idx = slot_at(w, in->a);
    uint32_t left = mask;
    w->turn = 0;
    if (says_uniform(in)) {
        FOR_LANES(i, mask) left &= ~((uint32_t)(idx[i] != idx[first_lane(mask)]) << i);
        if (exec_not_uniform(w, in, left, w->mask))
            return;
        left = mask;
    }
    while (left) {
        uint32_t k = idx[first_lane(left)], same = 0;
        if (k >= x->n) {
            exec_fault(w, in, first_lane(left), FAULT_ARG,
                       "brx.idx with index %u, past the list of %u targets", k, x->n);
            return;
        }
        FOR_LANES(i, left) same |= (uint32_t)(idx[i] == k) << i;
        left &= ~same;
        uint32_t to = x->target[k];
        if (same == w->mask) {
            w->pc = to;
            return;
        }
        w->mask &= ~same;
        frag_add(w, same, to, w->frame);
    }
    if (w->mask)
        frag_choose(w);
    else
        frag_drop(w);
}

/* ---- calls ---- */
static uint64_t local_at(const struct exec_warp *w, const struct exec_frame *f, uint32_t lane,
                         uint32_t off)
{
    return (uint64_t)(uintptr_t)w->local + (uint64_t)lane * w->x->local_bytes + f->base[lane] + off;
}

static void copy_in(struct exec_warp *w, const struct exec_copy *c, struct exec_frame *to, uint32_t mask)
{
    FOR_LANES(i, mask)
    {
        void *d = (void *)(uintptr_t)local_at(w, to, i, c->to);
        if (c->slot == EXEC_NO_ID) {
            memcpy(d, (void *)(uintptr_t)local_at(w, w->frame, i, c->from), c->bytes);
        } else {
            uint64_t v = lane_read(w, c->slot, i, c->slot_bytes);
            memcpy(d, &v, c->bytes < 8 ? c->bytes : 8);
        }
    }
}

static void copy_out(struct exec_warp *w, const struct exec_copy *c, const struct exec_frame *from,
                     uint32_t mask)
{
    FOR_LANES(i, mask)
    {
        const void *s = (const void *)(uintptr_t)local_at(w, from, i, c->to);
        if (c->slot == EXEC_NO_ID) {
            memcpy((void *)(uintptr_t)local_at(w, w->frame, i, c->from), s, c->bytes);
        } else {
            uint64_t v = 0;
            memcpy(&v, s, c->bytes < 8 ? c->bytes : 8);
            lane_write(w, c->slot, i, c->slot_bytes, v);
        }
    }
}

/* Formal parameter k where it is a register of frame g: filled from its place in the frame's memory, or
 * put there. */
static void formal_register(struct exec_warp *w, struct exec_frame *g, uint32_t k, uint32_t bytes,
                            bool fill, uint32_t mask)
{
    const uint32_t slot = g->func->formal_slot[k], n = bytes > 4 ? 8 : 4;
    if (slot == EXEC_NO_ID)
        return;
    FOR_LANES(i, mask)
    {
        uint8_t *reg = g->regs + (slot & ~3u) + i * n,
                *mem = (uint8_t *)(uintptr_t)local_at(w, g, i, (uint32_t)g->func->param_off[k]);
        if (fill)
            memset(reg, 0, n);
        memcpy(fill ? reg : mem, fill ? mem : reg, bytes);
    }
}

static bool frame_fits(struct exec_warp *w, const struct exec_inst *in, struct exec_frame *g,
                       uint32_t mask)
{
    FOR_LANES(i, mask)
    {
        g->base[i] = (w->frame->top[i] + 15u) & ~15u;
        g->top[i] = g->base[i] + g->func->local_bytes;
        if (g->top[i] > w->x->local_bytes) {
            exec_fault(w, in, i, FAULT_LOCAL_STACK,
                       "calls nested too deep: %u bytes of local memory per thread are used up",
                       w->x->local_bytes);
            return false;
        }
    }
    return true;
}

/* Lanes of mask enter function `index`. The caller's fragment must hold exactly these lanes. */
static bool enter(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, uint32_t index)
{
    const struct exec_call *x = in->x;
    const struct exec_func *f = &w->x->p->funcs[index];
    struct exec_frame *g = frame_new(w->k, f, w->frame, mask);
    if (!g) {
        exec_fault(w, in, first_lane(mask), FAULT_NOMEM, "no memory for a call");
        return false;
    }
    g->call = in;
    if (!frame_fits(w, in, g, mask)) {
        frame_release(w->k, g);
        return false;
    }
    const uint64_t *off = f->param_off;
    for (uint32_t k = 0; k < x->nin && k < f->ptx->nparams; k++) {
        struct exec_copy c = x->in[k];
        c.to = (uint32_t)off[f->ptx->nrets + k];
        c.bytes = (uint32_t)f->ptx->params[k]->bytes;
        copy_in(w, &c, g, mask);
        formal_register(w, g, f->ptx->nrets + k, c.bytes, true, mask);
    }
    frag_add(w, mask, f->first, g);
    return true;
}

/* The running fragment's lanes of `mask` have moved to new fragments. */
static void moved(struct exec_warp *w, uint32_t mask)
{
    w->mask &= ~mask;
    w->turn = 0;
    if (w->mask)
        frag_choose(w);
    else
        frag_drop(w);
}

void exec_call(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_call *x = in->x;
    if (says_uniform(in) && exec_not_uniform(w, in, mask, w->mask))
        return;
    if (enter(w, in, mask, x->func))
        moved(w, mask);
}

void exec_call_indirect(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    unsigned bytes = in->flags & EXEC_F_BASE64 ? 8 : 4;
    uint32_t left = mask;
    while (left) {
        uint64_t h = lane_read(w, in->a, first_lane(left), bytes);
        uint64_t in_module = (h - FUNC_WINDOW) / 16 - 1;
        bool known = h > FUNC_WINDOW && h % 16 == 0 && in_module < w->x->p->module->nfuncs;
        uint32_t index = known ? w->x->p->func_at[in_module] : EXEC_NO_ID;
        if (index == EXEC_NO_ID || !index) {
            exec_fault(w, in, first_lane(left), FAULT_CALL,
                       "indirect call of 0x%llx, which is not a function", (unsigned long long)h);
            return;
        }
        uint32_t same = 0;
        FOR_LANES(i, left) same |= (uint32_t)(lane_read(w, in->a, i, bytes) == h) << i;
        if (says_uniform(in) && exec_not_uniform(w, in, same, w->mask))
            return;
        left &= ~same;
        if (!enter(w, in, same, index))
            return;
    }
    moved(w, mask);
}

void exec_ret(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    struct exec_frame *g = w->frame, *parent = g->parent;
    if (!parent) {
        exec_exit(w, in, mask);
        return;
    }
    if (says_uniform(in) && exec_not_uniform(w, in, mask, w->mask))
        return;
    const struct exec_inst *call = g->call;
    const struct exec_call *x = call->x;
    uint32_t stay = w->mask & ~mask, pc = w->pc;
    frame_load(w, parent);
    for (uint32_t k = 0; k < x->nout && k < g->func->ptx->nrets; k++) {
        struct exec_copy c = x->out[k];
        c.to = (uint32_t)g->func->param_off[k];
        c.bytes = (uint32_t)g->func->ptx->rets[k]->bytes;
        formal_register(w, g, k, c.bytes, false, mask);
        copy_out(w, &c, g, mask);
    }
    frame_load(w, g);
    w->pc = pc;
    w->mask = stay | mask;
    g->live &= ~mask;
    frag_add(w, mask, call->next, parent);
    if (!g->live)
        frame_release(w->k, g);
    moved(w, mask);
}

void exec_exit(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    (void)in;
    frag_exit(w, mask);
}

void exec_trap(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    exec_fault(w, in, first_lane(mask), FAULT_TRAP,
               in->ptx && in->ptx->op == PTX_OP_BRKPT ? "the kernel stopped at a breakpoint"
                                                      : "the kernel executed trap");
}

void exec_unreachable(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    exec_fault(w, in, first_lane(mask), FAULT_TRAP, "execution reached code marked unreachable");
}

/* ---- functions of the driver ---- */
static uint64_t builtin_arg(struct exec_warp *w, const struct exec_call *x, uint32_t k, uint32_t lane)
{
    uint64_t v = 0;
    const struct exec_copy *c = &x->in[k];
    if (c->slot != EXEC_NO_ID)
        return lane_read(w, c->slot, lane, c->slot_bytes);
    memcpy(&v, (void *)(uintptr_t)local_at(w, w->frame, lane, c->from), c->bytes < 8 ? c->bytes : 8);
    return v;
}

static void builtin_assert(struct exec_warp *w, const struct exec_inst *in, uint32_t lane)
{
    const struct exec_call *x = in->x;
    struct buf text[3] = { { 0 }, { 0 }, { 0 } };
    for (unsigned k = 0; k < 2 && k < x->nin; k++)
        exec_read_string(w, builtin_arg(w, x, k, lane), &text[k]);
    exec_fault(w, in, lane, FAULT_ASSERT, "assertion '%s' failed, %s:%u", text[0].s ? text[0].s : "?",
               text[1].s ? text[1].s : "?", (unsigned)(x->nin > 2 ? builtin_arg(w, x, 2, lane) : 0));
    buf_free(&text[0]);
    buf_free(&text[1]);
}

/* One lane's call; *result is what it returns. False: a fault was recorded. */
static bool builtin_lane(struct exec_warp *w, const struct exec_inst *in, uint32_t lane,
                         uint64_t *result)
{
    const struct exec_call *x = in->x;
    uint64_t a = x->nin ? builtin_arg(w, x, 0, lane) : 0;
    switch (x->builtin) {
    case BUILTIN_NO_ERROR: *result = 0; return true;
    case BUILTIN_LAUNCH:
        exec_fault(w, in, lane, FAULT_CALL,
                   "the kernel launches another one here, which is not simulated\n"
                   "give it data with which it launches none, or run it on a GPU (--device cuda:0)");
        return false;
    case BUILTIN_MALLOC: *result = exec_heap_take(w, a); return true;
    case BUILTIN_FREE:
        if (!exec_heap_give(w, a))
            exec_fault(w, in, lane, FAULT_ARG,
                       "free of 0x%llx, which malloc did not give or which was freed before",
                       (unsigned long long)a);
        return !w->cta->fault;
    default:
        *result = 1;
        return exec_print_lane(w, in, lane, a, builtin_arg(w, x, 1, lane), &w->cta->print);
    }
}

void exec_builtin(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_call *x = in->x;
    if (x->builtin == BUILTIN_ASSERT) {
        builtin_assert(w, in, first_lane(mask));
        return;
    }
    FOR_LANES(i, mask)
    {
        uint64_t r = 0;
        if (!builtin_lane(w, in, i, &r))
            return;
        for (uint32_t k = 0; k < x->nout; k++) {
            if (x->out[k].slot != EXEC_NO_ID)
                lane_write(w, x->out[k].slot, i, x->out[k].slot_bytes, r);
            else
                memcpy((void *)(uintptr_t)local_at(w, w->frame, i, x->out[k].from), &r,
                       x->out[k].bytes < 8 ? x->out[k].bytes : 8);
        }
    }
}
