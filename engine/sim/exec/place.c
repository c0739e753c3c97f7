/* What is left of instructions where only some are run (part.h): accesses that only say where they go, and
 * stores that say whether memory has changed. */
#include "engine/sim/exec/access.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/slots.h"

#include <string.h>

void exec_tell(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    (void)in;
    w->rec->kind = ACCESS_ASYNC;
    w->rec->mask = mask;
}

void exec_place(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t *a = w->rec->addr;
    exec_addresses(w, in->a, in->flags & EXEC_F_BASE64, in->imm, a);
    for (unsigned i = 0; in->flags & EXEC_F_FRAME && i < WARP_LANES; i++)
        a[i] += w->frame->base[i];
    exec_record_place(w, in, in->space, mask);
}

#define WIDEST 32u /* bytes of one lane's access */

void exec_written(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t p[WARP_LANES];
    uint8_t was[WARP_LANES][WIDEST];
    unsigned n = (unsigned)in->bytes * in->vec;
    bool known = n && n <= WIDEST, changed = !known, recording = w->recording;
    w->recording = false;
    if (known && exec_resolve(w, in, mask, p) == MEM_FAULT)
        return;
    w->recording = recording;
    FOR_LANES(i, known ? mask : 0) memcpy(was[i], (const void *)(uintptr_t)p[i], n);
    in->fn(w, in, mask);
    FOR_LANES(i, known ? mask : 0) changed |= memcmp(was[i], (const void *)(uintptr_t)p[i], n) != 0;
    bool own = in->space == PTX_SPACE_SHARED || in->space == PTX_SPACE_LOCAL;
    if (changed && own)
        w->cta->changes++;
    else if (changed)
        atomic_fetch_add(&w->x->changes, 1);
}
