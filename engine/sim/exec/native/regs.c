/* Runs of instructions as machine code: which values are in registers, and the ways on from an
 * instruction: to its body, to another run, out. */
#include "engine/sim/exec/exec.h"
#include "engine/base/list.h"
#include "engine/sim/exec/native/native_int.h"

#include <string.h>

#define WARP(field) ((struct x86_mem){ RBX, (int32_t)offsetof(struct exec_warp, field) })

void native_want_nan(struct build *b)
{
    if (b->nan)
        return;
    x86_set(&b->a, RAX, 0x7fffffffu);
    x86_vec(&b->a, (struct x86_op){ 1, 2, 0, 0x7c }, NAN_REG, 0, RAX, 0); /* VPBROADCASTD */
    b->nan = true;
}

/* The one NaN of PTX (9.7.3) where the lanes of this register are not a number. */
void native_canonical(struct build *b, unsigned z)
{
    x86_vec_imm(&b->a, (struct x86_op){ 0, 1, 0, 0xc2 }, 1, z, z, 0, 3); /* VCMPUNORDPS k1 */
    x86_vec(&b->a, VMOVE, z, 0, NAN_REG, 1);
}

void native_settle(struct build *b, unsigned k)
{
    for (unsigned h = 0; h < 2 && b->val[k].odd; h++)
        native_canonical(b, 2 * k + h);
    b->val[k].odd = false;
}

struct x86_mem native_slot(uint32_t slot, uint32_t off)
{
    static const enum x86_reg bank[] = {
        [BANK_FRAME] = R13, [BANK_CONST] = R14, [BANK_SREG] = R15, [BANK_CTA] = R15 /* never: reads_cta
                                                                                     */
    };
    return (struct x86_mem){ bank[slot & 3u], (int32_t)(slot + off) };
}

void native_store(struct build *b, unsigned k)
{
    native_settle(b, k);
    for (unsigned h = 0; h < 2; h++)
        x86_vec_mem(&b->a, VMOVE_STORE, 2 * k + h, 0, native_slot(b->val[k].slot, 64 * h), 0);
    b->val[k].dirty = false;
}

unsigned native_find(const struct build *b, uint32_t slot)
{
    unsigned k = 0;
    while (k < PAIRS && b->val[k].slot != slot)
        k++;
    return k;
}

/* A pair for something new: a free one, else the one used longest ago. */
static unsigned take_pair(struct build *b, uint32_t slot)
{
    unsigned best = PAIRS;
    for (unsigned k = 0; k < PAIRS; k++) {
        if (b->pinned >> k & 1)
            continue;
        if (b->val[k].slot == EXEC_NO_ID) {
            best = k;
            break;
        }
        if (best == PAIRS || b->val[k].age < b->val[best].age)
            best = k;
    }
    if (b->val[best].dirty)
        native_store(b, best);
    b->val[best] = (struct value){ slot, ++b->clock, false, false };
    b->pinned |= 1u << best;
    return best;
}

/* The run takes a slot from the frame: a loop may want it in a register. */
static void note_read(struct build *b, uint32_t slot)
{
    uint32_t k = 0;
    while (k < b->nreads && b->reads[k] != slot)
        k++;
    if (k == b->nreads && k < LOOP_READS)
        b->reads[b->nreads++] = slot;
}

unsigned native_float(struct build *b, uint32_t slot)
{
    unsigned k = native_find(b, slot);
    if (k < PAIRS) {
        b->val[k].age = ++b->clock;
        b->pinned |= 1u << k;
        return k;
    }
    k = take_pair(b, slot);
    for (unsigned h = 0; h < 2; h++)
        x86_vec_mem(&b->a, VMOVE_LOAD, 2 * k + h, 0, native_slot(slot, 64 * h), 0);
    note_read(b, slot);
    return k;
}

unsigned native_value(struct build *b, uint32_t slot)
{
    unsigned k = native_float(b, slot);
    native_settle(b, k);
    return k;
}

/* Sources must have been asked for: what the slot held may be one of them, and keeps its pair until the
 * next instruction. */
unsigned native_result(struct build *b, uint32_t slot)
{
    native_forget(b, slot);
    unsigned k = take_pair(b, slot);
    b->val[k].dirty = true;
    return k;
}

void native_sync(struct build *b, uint32_t slot)
{
    unsigned k = native_find(b, slot);
    if (k < PAIRS && b->val[k].dirty)
        native_store(b, k);
}

void native_forget(struct build *b, uint32_t slot)
{
    unsigned k = native_find(b, slot);
    if (k < PAIRS)
        b->val[k] = (struct value){ .slot = EXEC_NO_ID };
}

bool native_is_own(const struct build *b, uint32_t slot)
{
    return (slot & 3u) == BANK_FRAME && b->own && b->holds_own[slot / 128];
}

/* The frame gets what is newer in registers; those it need not get at the end of a run are left out. */
void native_store_all(struct build *b, bool end)
{
    for (unsigned k = 0; k < PAIRS; k++)
        if (b->val[k].dirty && !(end && native_is_own(b, b->val[k].slot)))
            native_store(b, k);
}

void native_forget_all(struct build *b)
{
    for (unsigned k = 0; k < PAIRS; k++)
        b->val[k] = (struct value){ .slot = EXEC_NO_ID };
    memset(b->held, 0, sizeof b->held);
    b->nan = false;
}

void native_pred(struct build *b, uint32_t slot, bool neg)
{
    x86_op_mem(&b->a, X86_LOAD, false, RAX, native_slot(slot, 0));
    if (neg)
        x86_imm_reg(&b->a, 6, false, RAX, -1);
}

void native_call(struct build *b, const struct exec_inst *in, uint32_t end)
{
    /* VZEROUPPER: what is called may know nothing of AVX */
    x86_bytes(&b->a, (uint8_t[]){ 0xc5, 0xf8, 0x77 }, 3);
    x86_store_imm(&b->a, WARP(pc), (int32_t)end);
    x86_op_reg(&b->a, X86_LOAD, true, RDI, RBX);
    x86_set(&b->a, RSI, (uint64_t)(uintptr_t)in);
    exec_fn *fn = in->fn;
    uint64_t to = 0;
    memcpy(&to, &fn, sizeof fn);
    x86_call(&b->a, to);
    x86_bytes(&b->a, (uint8_t[]){ 0x80, 0xbb }, 2); /* CMP byte [rbx + stop], 0 */
    x86_bytes(&b->a, &(int32_t){ (int32_t)offsetof(struct exec_warp, stop) }, 4);
    x86_byte(&b->a, 0);
    native_jump(b, X86_NE, end, true);
}

void native_jump(struct build *b, enum x86_cond c, uint32_t pc, bool leaves)
{
    if (!LIST_PUSH(b->fix, b->nfix, b->cap_fix, (struct fix){ x86_jump(&b->a, c), pc, leaves }))
        b->a.oom = true;
}

/* On to the instruction at pc, unless the budget is used up: the run loop's question before each of its
 * turns. */
void native_go_on(struct build *b, uint32_t pc, bool control)
{
    x86_imm_mem(&b->a, control ? 5 : 7, true, WARP(left), control ? 1 : 0);
    native_jump(b, X86_LE, pc, true);
    native_jump(b, X86_ALWAYS, pc, false);
}
