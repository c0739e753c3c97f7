/* Kernel parameters, 128-bit accesses, prefetches. */
#include "engine/sim/exec/access.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/mem.h"

#include <string.h>

/* A value read from memory as a register of reg_bits receives it (9.7.9.8: sign- or zero-extended). */
static uint64_t extended(uint64_t v, enum ptx_type t, unsigned reg_bits)
{
    unsigned bits = ptx_type_bits(t), up = 64 - bits;
    if (bits >= 64)
        return v;
    v = ptx_type_kind(t) == 's' ? (uint64_t)((int64_t)(v << up) >> up) : v << up >> up;
    return reg_bits >= 64 ? v : v & ((1ull << reg_bits) - 1);
}

static void wide_write(struct exec_warp *w, uint32_t slot, uint32_t lane, const uint64_t half[2])
{
    uint64_t *d = slot_at(w, slot);
    d[lane] = half[0];
    d[WARP_LANES + lane] = half[1];
}

static void note_param(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    struct exec_access *r = w->rec;
    r->kind = ACCESS_LOAD;
    r->space = PTX_SPACE_PARAM;
    r->level = 0;
    r->shape = SHAPE_SAME;
    r->bytes = (uint16_t)(in->bytes * in->vec);
    r->mask = mask;
    r->bulk = 0;
    r->nbox = 0;
    r->hint = 0;
    r->addr[0] = (uint64_t)in->imm;
}

/* The same for all lanes. */
void exec_ld_param(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_ldst *x = in->x;
    for (unsigned k = 0; k < in->vec; k++) {
        uint64_t half[2] = { 0, 0 };
        if (x->slot[k] == EXEC_NO_ID)
            continue;
        memcpy(half, w->x->params + in->imm + k * in->bytes, in->bytes);
        if (in->bytes == 16) {
            FOR_LANES(i, mask) wide_write(w, x->slot[k], i, half);
            continue;
        }
        uint64_t v = extended(half[0], x->type, x->reg_bits);
        FOR_LANES(i, mask) lane_write(w, x->slot[k], i, x->reg_bits > 32 ? 8 : 4, v);
    }
    if (w->recording)
        note_param(w, in, mask);
}

void exec_ld_wide(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_ldst *x = in->x;
    uint64_t p[WARP_LANES];
    if (exec_resolve(w, in, mask, p) == MEM_FAULT)
        return;
    for (unsigned k = 0; k < in->vec; k++)
        FOR_LANES(i, mask)
        {
            uint64_t half[2];
            memcpy(half, (const uint8_t *)(uintptr_t)p[i] + 16 * k, 16);
            if (x->slot[k] != EXEC_NO_ID)
                wide_write(w, x->slot[k], i, half);
        }
}

void exec_st_wide(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_ldst *x = in->x;
    uint64_t p[WARP_LANES];
    if (exec_resolve(w, in, mask, p) == MEM_FAULT)
        return;
    for (unsigned k = 0; k < in->vec; k++)
        FOR_LANES(i, mask)
        {
            const uint64_t *s = slot_at(w, x->slot[k]);
            memcpy((uint8_t *)(uintptr_t)p[i] + 16 * k, &s[i], 8);
            memcpy((uint8_t *)(uintptr_t)p[i] + 16 * k + 8, &s[WARP_LANES + i], 8);
        }
}

/* A prefetch moves nothing that the program sees, and may go anywhere. */
void exec_prefetch(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (!w->recording)
        return;
    struct exec_access *r = w->rec;
    exec_addresses(w, in->a, in->flags & EXEC_F_BASE64, in->imm, r->addr);
    uint32_t there = 0;
    FOR_LANES(i, mask) there |= (uint32_t)(sim_mem_find(w->x->p->mem, r->addr[i]) != NULL) << i;
    r->kind = there ? ACCESS_PREFETCH : ACCESS_NONE;
    r->space = PTX_SPACE_GLOBAL;
    r->level = (uint8_t)in->dst;
    r->bytes = 1;
    r->shape = SHAPE_EACH;
    r->bulk = 0;
    r->nbox = 0;
    r->mask = there;
    r->hint = 0;
}
