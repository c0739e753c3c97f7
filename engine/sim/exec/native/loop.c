/* Loops of one run as machine code: what a turn wants from the turn before stays in registers. */
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/exec/native/native_int.h"

#include <string.h>

#define WARP(field) ((struct x86_mem){ RBX, (int32_t)offsetof(struct exec_warp, field) })

static bool is_read(const struct build *b, uint32_t slot)
{
    for (uint32_t k = 0; k < b->nreads; k++)
        if (b->reads[k] == slot)
            return true;
    return false;
}

static unsigned find(const struct value *val, uint32_t slot)
{
    unsigned k = 0;
    while (k < PAIRS && val[k].slot != slot)
        k++;
    return k;
}

/* ---- the end of a turn ---- */
/* Out of the loop, to pc: the frame gets what is newer in registers, as at the end of a run. */
static void leave_by(struct build *b, size_t jump, uint32_t pc)
{
    struct value val[PAIRS];
    memcpy(val, b->val, sizeof val);
    x86_land(&b->a, jump, b->a.n);
    native_store_all(b, true);
    native_jump(b, X86_ALWAYS, pc, true);
    memcpy(b->val, val, sizeof val);
}

/* Not all lanes go round again: none do, or they part, which is the run loop's business. */
static void leave_undecided(struct build *b, size_t jump)
{
    struct value val[PAIRS];
    memcpy(val, b->val, sizeof val);
    x86_land(&b->a, jump, b->a.n);
    native_store_all(b, true); /* eax is left alone */
    x86_imm_reg(&b->a, 7, false, RAX, 0);
    native_jump(b, X86_NE, b->end, true);
    native_go_on(b, b->end + 1, true);
    memcpy(b->val, val, sizeof val);
}

struct ways {
    size_t spent, undecided, stop, apart;
};

/* The questions of end_run, in its order; their answers that end the loop are code out of the way. */
static struct ways ask_again(struct build *b)
{
    const struct exec_inst *in = &b->p->code[b->end];
    struct ways w = { 0 };
    x86_imm_mem(&b->a, 7, true, WARP(left), 0);
    w.spent = x86_jump(&b->a, X86_LE);
    if (in->guard != EXEC_NO_ID) {
        native_pred(b, in->guard, in->guard_neg);
        x86_imm_reg(&b->a, 7, false, RAX, -1);
        w.undecided = x86_jump(&b->a, X86_NE);
    }
    x86_imm_mem(&b->a, 5, true, WARP(left), 1);
    w.stop = x86_jump(&b->a, X86_LE);
    x86_bytes(&b->a, (uint8_t[]){ 0x80, 0xbb }, 2); /* CMP byte [rbx + called], 0 */
    x86_bytes(&b->a, &(int32_t){ (int32_t)offsetof(struct exec_warp, called) }, 4);
    x86_byte(&b->a, 0);
    w.apart = x86_jump(&b->a, X86_NE);
    return w;
}

/* Accesses by their bodies take all from registers and put it back: the turn after one has fewer of them
 * in use. */
static void leave_apart(struct build *b, size_t jump, uint32_t first)
{
    struct value val[PAIRS];
    memcpy(val, b->val, sizeof val);
    x86_land(&b->a, jump, b->a.n);
    native_store_all(b, true);
    x86_bytes(&b->a, (uint8_t[]){ 0xc6, 0x83 }, 2); /* MOV byte [rbx + called], 0 */
    x86_bytes(&b->a, &(int32_t){ (int32_t)offsetof(struct exec_warp, called) }, 4);
    x86_byte(&b->a, 0);
    native_jump(b, X86_ALWAYS, first, false);
    memcpy(b->val, val, sizeof val);
}

static void end_ways(struct build *b, const struct ways *w, uint32_t first)
{
    leave_apart(b, w->apart, first);
    leave_by(b, w->spent, b->end);
    if (w->undecided)
        leave_undecided(b, w->undecided);
    leave_by(b, w->stop, first);
}

/* ---- from what a turn leaves in which pair to where the next wants it ---- */
static void move_pair(struct build *b, unsigned to, unsigned from)
{
    for (unsigned h = 0; h < 2; h++)
        x86_vec(&b->a, VMOVE, to + h, 0, from + h, 0);
}

/* Moves at once, given as the register each pair comes from (its own: nothing to do): first those whose
 * place nobody wants, then one of a circle by way of a scratch pair. */
static void move_all(struct build *b, unsigned *from)
{
    for (;;) {
        unsigned some = PAIRS, free = PAIRS;
        for (unsigned k = 0; k < PAIRS; k++) {
            bool wanted = false;
            if (from[k] == 2 * k)
                continue;
            some = k;
            for (unsigned i = 0; i < PAIRS; i++)
                wanted |= i != k && from[i] == 2 * k;
            if (!wanted)
                free = k;
        }
        if (some == PAIRS)
            return;
        if (free < PAIRS) {
            move_pair(b, 2 * free, from[free]);
            from[free] = 2 * free;
            continue;
        }
        move_pair(b, SCRATCH, 2 * some);
        for (unsigned i = 0; i < PAIRS; i++)
            if (i != some && from[i] == 2 * some)
                from[i] = SCRATCH;
    }
}

static void settle_values(struct build *b, const struct native_loop *l)
{
    unsigned from[PAIRS];
    for (unsigned k = 0; k < PAIRS; k++) {
        const struct value *v = &b->val[k];
        const unsigned to = v->slot == EXEC_NO_ID ? PAIRS : find(l->val, v->slot);
        if (v->dirty && (to == PAIRS || !l->val[to].dirty) && !native_is_own(b, v->slot))
            native_store(b, k);
        if (to < PAIRS && !l->val[to].odd)
            native_settle(b, k);
    }
    for (unsigned k = 0; k < PAIRS; k++) {
        const unsigned at = l->val[k].slot == EXEC_NO_ID ? k : find(b->val, l->val[k].slot);
        from[k] = 2 * (at < PAIRS ? at : k);
    }
    move_all(b, from);
    for (unsigned k = 0; k < PAIRS; k++)
        for (unsigned h = 0;
             h < 2 && l->val[k].slot != EXEC_NO_ID && find(b->val, l->val[k].slot) == PAIRS; h++)
            x86_vec_mem(&b->a, VMOVE_LOAD, 2 * k + h, 0, native_slot(l->val[k].slot, 64 * h), 0);
    if (l->nan)
        native_want_nan(b);
}

/* ---- the loop ---- */
static void enter_state(struct build *b, const struct native_loop *l)
{
    native_forget_all(b); /* groups of loads too: their places change */
    memcpy(b->val, l->val, sizeof b->val);
    b->nan = l->nan;
}

/* What stays in a pair: of what is there now, all that the body took from the frame. It may be newer
 * than that by then. */
static bool choose_values(const struct build *b, struct native_loop *l)
{
    bool any = false;
    for (unsigned k = 0; k < PAIRS; k++) {
        const struct value *v = &b->val[k];
        l->val[k] = (struct value){ .slot = EXEC_NO_ID };
        if (v->slot == EXEC_NO_ID || !is_read(b, v->slot))
            continue;
        l->val[k] = *v;
        any = true;
    }
    l->nan = b->nan;
    return any;
}

bool native_loop_begin(struct build *b, uint32_t first, struct native_loop *l)
{
    const struct exec_inst *in = &b->p->code[b->end];
    l->first = first;
    if (in->fn != exec_bra || in->spin || in->target != first || !choose_values(b, l))
        return false;
    struct value val[PAIRS];
    const bool nan = b->nan;
    struct ways w = ask_again(b);
    memcpy(val, b->val, sizeof val);
    settle_values(b, l);
    size_t on = x86_jump(&b->a, X86_ALWAYS);
    memcpy(b->val, val, sizeof val);
    b->nan = nan;
    end_ways(b, &w, first);
    x86_land(&b->a, on, b->a.n);
    l->at = b->a.n;
    enter_state(b, l);
    return true;
}

void native_loop_end(struct build *b, const struct native_loop *l)
{
    struct value val[PAIRS];
    struct ways w = ask_again(b);
    memcpy(val, b->val, sizeof val);
    settle_values(b, l);
    x86_land(&b->a, x86_jump(&b->a, X86_ALWAYS), l->at);
    memcpy(b->val, val, sizeof val);
    end_ways(b, &w, l->first);
}
