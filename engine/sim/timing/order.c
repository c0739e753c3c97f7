/* The order in which a region issues: a list schedule by the longest path to its end, which keeps every
 * register and memory order. Copies of a loop's body (unroll.c) are one region: registers of one copy
 * are not those of another, but for what one leaves to the next. */
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/timing/plan.h"

#include <string.h>

/* Of two places: the second waits until the first has issued; and for its result; and it is that one
 * that it reads, since nothing between them writes the register. */
enum { EDGE_ORDER = 1, EDGE_RESULT = 2, EDGE_VALUE = 4 };

struct block {
    const struct timing_plan *t;
    const struct timing_region *r;
    uint32_t n;                                     /* places: instructions of all copies */
    uint8_t edge[TIMING_TOGETHER][TIMING_TOGETHER]; /* [earlier place][later place] */
    uint8_t waits[TIMING_TOGETHER];                 /* for so many that have not issued */
    bool late[TIMING_TOGETHER];                     /* memory, and what comes of it in its copy */
    bool done[TIMING_TOGETHER];
    uint32_t height[TIMING_TOGETHER], ready[TIMING_TOGETHER];
    uint32_t wait[TIMING_TOGETHER]; /* assumed from issue to result */
    /* registers: of the place's result, and places that still read it; in use, and how many may be */
    uint8_t regs[TIMING_TOGETHER], readers[TIMING_TOGETHER];
    int32_t live, most;
};
#define STAYS 255 /* readers of what is read after the region, too */

static const struct exec_inst *inst_of(const struct block *b, uint32_t place)
{
    return &b->t->p->code[b->r->first + place % b->r->n];
}
static const struct timing_op *op_of(const struct block *b, uint32_t place)
{
    return &b->t->op[b->r->first + place % b->r->n];
}

static bool touches_reg(const struct exec_inst *in, uint32_t reg)
{
    for (uint32_t k = 0; k < (uint32_t)in->ndst + in->nsrc; k++)
        if (in->regs[k] == reg)
            return true;
    return false;
}

/* Read after write and write after write (guards count as sources). Write after read too, unless
 * the assembler could rename the register: a late load must not keep readers of the old value
 * waiting. */
static bool regs_order(const struct exec_inst *a, const struct exec_inst *b, bool renamed)
{
    for (uint16_t k = 0; k < a->ndst; k++)
        if (touches_reg(b, a->regs[k]))
            return true;
    for (uint16_t k = 0; k < b->ndst && !renamed; k++)
        if (touches_reg(a, b->regs[k]))
            return true;
    return false;
}

static bool feeds(const struct exec_inst *a, const struct exec_inst *b)
{
    for (uint32_t n = b->ndst; n < (uint32_t)b->ndst + b->nsrc; n++)
        if (writes_reg(a, b->regs[n]))
            return true;
    return false;
}

/* b, of the next copy of the body, reads what a left: no other instruction before b writes it there. */
static bool feeds_next(const struct block *x, const struct exec_inst *a, const struct exec_inst *b)
{
    const struct exec_inst *first = &x->t->p->code[x->r->first];
    for (uint32_t n = b->ndst; n < (uint32_t)b->ndst + b->nsrc; n++) {
        const struct exec_inst *i = first;
        while (i < b && !writes_reg(i, b->regs[n]))
            i++;
        if (i == b && writes_reg(a, b->regs[n]))
            return true;
    }
    return false;
}

static bool is_free(enum ptx_effect e)
{
    return e == EFFECT_NONE || e == EFFECT_BRANCH || e == EFFECT_WARP;
}

/* Stores keep their order among accesses to the same space, because the assembler cannot tell
 * addresses apart. */
static bool keeps_place(const struct exec_inst *a, const struct exec_inst *b)
{
    enum ptx_effect ea = ptx_op_info(a->ptx->op)->effect, eb = ptx_op_info(b->ptx->op)->effect;
    if (is_free(ea) || is_free(eb))
        return false;
    if (ea == EFFECT_LOAD && eb == EFFECT_LOAD)
        return a->policy.cop == COP_CV || b->policy.cop == COP_CV;
    bool apart = a->space != b->space && a->space != PTX_SPACE_GENERIC && b->space != PTX_SPACE_GENERIC;
    return !apart;
}

/* A result of place k is read by place i as it is: no place between writes it. */
static bool passes_value(const struct block *b, uint32_t k, uint32_t i)
{
    const struct exec_inst *from = inst_of(b, k), *to = inst_of(b, i);
    for (uint32_t n = to->ndst; n < (uint32_t)to->ndst + to->nsrc; n++) {
        uint32_t j = k + 1;
        if (!writes_reg(from, to->regs[n]))
            continue;
        while (j < i && !writes_reg(inst_of(b, j), to->regs[n]))
            j++;
        if (j == i)
            return true;
    }
    return false;
}

static uint8_t edge_between(const struct block *b, uint32_t k, uint32_t i)
{
    const struct exec_inst *from = inst_of(b, k), *to = inst_of(b, i);
    uint32_t apart = i / b->r->n - k / b->r->n;
    bool last = i + 1 == b->n && op_of(b, i)->flags & TIMING_ENDS;
    if (i == k + 1 && op_of(b, i)->flags & TIMING_HALF)
        return 0;
    if (!apart && op_of(b, i)->same == b->r->first + k % b->r->n + 1)
        return EDGE_ORDER | EDGE_RESULT;
    bool fed = apart == 0 ? feeds(from, to) : apart == 1 && feeds_next(b, from, to);
    if (fed)
        return EDGE_ORDER | EDGE_RESULT | (passes_value(b, k, i) ? EDGE_VALUE : 0);
    bool order = last || keeps_place(from, to) || (apart == 0 && regs_order(from, to, !b->late[i]));
    return order ? EDGE_ORDER : 0;
}

static void find_edges(struct block *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        b->late[i] = op_of(b, i)->unit == UNIT_LSU;
        for (uint32_t k = i - i % b->r->n; k < i; k++)
            b->late[i] |= b->late[k] && feeds(inst_of(b, k), inst_of(b, i));
        for (uint32_t k = 0; k < i; k++) {
            b->edge[k][i] = edge_between(b, k, i);
            b->waits[i] = (uint8_t)(b->waits[i] + (b->edge[k][i] != 0));
        }
    }
}

static void find_heights(struct block *b)
{
    for (uint32_t i = b->n; i-- > 0;) {
        uint32_t tail = 0;
        for (uint32_t k = i + 1; k < b->n; k++)
            if (b->edge[i][k] && b->height[k] > tail)
                tail = b->height[k];
        b->height[i] = tail + b->wait[i];
    }
}

/* ---- how early a load issues ---- */
static bool loads_global(const struct exec_inst *in)
{
    return ptx_op_info(in->ptx->op)->effect == EFFECT_LOAD &&
           (in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_GENERIC);
}

/* load: cycles that a load from global memory is taken for at least. */
static void find_waits(struct block *b, uint32_t load)
{
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t least = loads_global(inst_of(b, i)) ? load : 0, is = op_of(b, i)->latency;
        b->wait[i] = timing_repeats(b->t, b->r, i) ? 0 : is > least ? is : least;
    }
}

/* No load issues earlier than so many cycles before its first use could: what is loaded takes registers
 * until then. True: one is held back by that. */
static bool hold_loads(struct block *b, uint32_t most)
{
    uint32_t first[TIMING_TOGETHER] = { 0 }; /* cycle at which a place could issue */
    bool held = false;
    for (uint32_t i = 0; i < b->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (b->edge[k][i] & EDGE_RESULT && first[k] + b->wait[k] > first[i])
                first[i] = first[k] + b->wait[k];
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t use = UINT32_MAX;
        for (uint32_t k = i + 1; k < b->n; k++)
            if (b->edge[i][k] & EDGE_RESULT && first[k] < use)
                use = first[k];
        if (loads_global(inst_of(b, i)) && use != UINT32_MAX && use > most) {
            b->ready[i] = use - most;
            held = true;
        }
    }
    return held;
}

/* Chains that hold loads back are counted as the assembler counts them. Other blocks keep to registers
 * alone: by its cycles their registers are nearer to it, their times farther (docs/lab/unrolling.md). */
static void find_times(struct block *b, const struct sim_preset *g)
{
    memset(b->ready, 0, b->n * sizeof *b->ready);
    find_waits(b, (uint32_t)g->ahead_load);
    if (!g->ahead_cycles || !hold_loads(b, (uint32_t)g->ahead_cycles))
        find_waits(b, 0);
    find_heights(b);
}

/* ---- registers ---- */

static uint32_t regs_of(const struct exec_inst *in)
{
    uint32_t n = 0;
    for (uint16_t k = 0; k < in->ndst; k++) {
        const struct ptx_reg *r = &in->func->ptx->regs[in->regs[k]];
        uint32_t bits = ptx_type_bits(r->type);
        n += r->type == PTX_T_PRED ? 0 : (bits <= 32 ? 1 : bits / 32) * (r->vec > 1 ? r->vec : 1);
    }
    return n;
}

/* What the place writes is the last that is written there, and the next turn reads it. */
static bool read_before(const struct block *b, uint32_t place)
{
    const struct exec_inst *first = inst_of(b, 0), *in = inst_of(b, place);
    for (uint32_t i = place + 1; i < b->n; i++)
        if (in->ndst && writes_reg(inst_of(b, i), in->regs[0]))
            return false;
    for (uint32_t i = 0; i < b->r->n; i++)
        if (feeds_next(b, in, first + i))
            return true;
    return false;
}

/* A result takes registers from its instruction to the last that reads it. Those of steps and offsets
 * are the loop's all along; those that the last turn leaves stay. Two halves have one. */
static void find_regs(struct block *b, const struct sim_preset *g)
{
    b->live = inst_of(b, 0)->live;
    uint32_t allowed = b->t->p->regs_allowed, own = b->t->p->regs;
    uint32_t regs = allowed ? allowed : own > ALWAYS_REGS ? own : ALWAYS_REGS;
    bool kept = g->ahead_regs >= 0 && inst_of(b, 0)->leader;
    b->most = kept ? (int32_t)regs - (int32_t)(ALWAYS_REGS - g->ahead_regs) : INT32_MAX;
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t readers = 0;
        bool loop = op_of(b, i)->flags & (TIMING_STEP | TIMING_OFFSET | TIMING_FREE) ||
                    (i + 1 < b->n && op_of(b, i + 1)->flags & TIMING_HALF);
        for (uint32_t k = i + 1; k < b->n; k++)
            readers += b->edge[i][k] & EDGE_VALUE ? 1 : 0;
        bool stays = !readers || read_before(b, i);
        b->regs[i] = (uint8_t)(loop ? 0 : regs_of(inst_of(b, i)));
        b->readers[i] = stays ? STAYS : (uint8_t)readers;
    }
}

/* What issuing i adds to the registers in use. */
static int32_t regs_more(const struct block *b, uint32_t i)
{
    int32_t more = b->regs[i];
    for (uint32_t k = 0; k < i; k++)
        if (b->edge[k][i] & EDGE_VALUE && b->readers[k] == 1)
            more -= b->regs[k];
    return more;
}

/* The instruction that the assembler would issue at cycle `now`: of those for whose results there are
 * registers, among those with all operands the one with the longest path to the end, else the one whose
 * operands come first. */
static uint32_t pick_next(const struct block *b, uint32_t now)
{
    uint32_t pick = TIMING_TOGETHER, best = UINT32_MAX;
    bool fit = false;
    for (uint32_t i = 0; i < b->n; i++) {
        if (b->done[i] || b->waits[i])
            continue;
        int32_t more = regs_more(b, i);
        bool fits = more <= 0 || b->live + more <= b->most;
        uint32_t at = b->ready[i] > now ? b->ready[i] : now;
        if (fits < fit)
            continue;
        if (fits > fit || at < best || (at == best && b->height[i] > b->height[pick])) {
            pick = i;
            best = at;
            fit = fits;
        }
    }
    return pick;
}

static void take(struct block *b, uint32_t pick, uint32_t done)
{
    b->done[pick] = true;
    b->live += regs_more(b, pick);
    for (uint32_t k = 0; k < pick; k++)
        if (b->edge[k][pick] & EDGE_VALUE && b->readers[k] != STAYS)
            b->readers[k]--;
    for (uint32_t i = pick + 1; i < b->n; i++) {
        b->waits[i] = (uint8_t)(b->waits[i] - (b->edge[pick][i] != 0));
        if (b->edge[pick][i] & EDGE_RESULT && done > b->ready[i])
            b->ready[i] = done;
    }
}

void timing_order(struct timing_plan *t, const struct timing_region *r, const struct sim_preset *g)
{
    struct block b;
    b.t = t;
    b.r = r;
    b.n = r->n * r->copies;
    memset(b.waits, 0, b.n);
    memset(b.done, 0, b.n * sizeof *b.done);
    find_edges(&b);
    find_times(&b, g);
    find_regs(&b, g);
    for (uint32_t at = 0, now = 0; at < b.n; at++) {
        uint32_t pick = pick_next(&b, now);
        bool free = timing_repeats(t, r, pick);
        if (b.ready[pick] > now)
            now = b.ready[pick];
        take(&b, pick, now + b.wait[pick]);
        if (b.live > 0 && (uint32_t)b.live > t->live)
            t->live = (uint32_t)b.live;
        now += free ? 0 : op_of(&b, pick)->slots;
        t->order[r->order + at] = (uint8_t)pick;
    }
}
