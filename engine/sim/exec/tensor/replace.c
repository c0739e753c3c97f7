/* tensormap.replace and its copy, st.bulk, clusterlaunchcontrol. */
#include "engine/sim/exec/tensor/replace.h"

#include "engine/rec/tensor_map.h"
#include "engine/sim/exec/access.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/tmem.h"

#include <string.h>

/* Host address of one lane's bytes; NULL: told. */
static uint8_t *at(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, enum ptx_space space,
                   uint64_t a, unsigned bytes, enum exec_access_kind kind)
{
    uint64_t given[WARP_LANES] = { 0 }, p[WARP_LANES];
    given[lane] = a;
    return exec_resolve_at(w, in, 1u << lane, space, bytes, kind, given, p)
               ? (uint8_t *)(uintptr_t)p[lane]
               : NULL;
}

void exec_tensormap_replace(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_replace *x = in->x;
    uint64_t a[WARP_LANES];
    exec_addresses(w, in->a, in->flags & EXEC_F_BASE64, in->imm, a);
    FOR_LANES(i, mask)
    {
        uint8_t *p = at(w, in, i, in->space, a[i], TENSOR_MAP_ALIGN, ACCESS_STORE),
                *q = p ? at(w, in, i, in->space, a[i] + TENSOR_MAP_ALIGN, TENSOR_MAP_ALIGN, ACCESS_STORE)
                       : NULL;
        uint64_t v = lane_read(w, x->value, i, x->bytes);
        if (!q)
            return;
        if (!tensor_map_replace(p, (enum tensor_field)x->field, x->ordinal,
                                x->in_16_bytes ? v * 16 : v)) {
            exec_fault(w, in, i, FAULT_ARG,
                       "%llu is no value of this field of a tensor map that the simulated device knows\n"
                       "PTX ISA, tensormap.replace, lists what a field may be; run it on a GPU "
                       "(--device cuda:0) "
                       "where the value is meant",
                       (unsigned long long)v);
            return;
        }
    }
}

void exec_tensormap_copy(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t to[WARP_LANES];
    exec_addresses(w, in->a, in->flags & EXEC_F_BASE64, in->imm, to);
    uint32_t i = first_lane(mask); /* the warp copies once */
    uint64_t from = tmem_ref(w, in->x, i);
    for (unsigned k = 0; k < TENSOR_MAP_BYTES; k += TENSOR_MAP_ALIGN) {
        const uint8_t *p = at(w, in, i, PTX_SPACE_SHARED, from + k, TENSOR_MAP_ALIGN, ACCESS_LOAD);
        uint8_t *q =
            p ? at(w, in, i, PTX_SPACE_GLOBAL, to[i] + k, TENSOR_MAP_ALIGN, ACCESS_STORE) : NULL;
        if (!q)
            return;
        memcpy(q, p, TENSOR_MAP_ALIGN);
    }
}

void exec_st_bulk(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t a[WARP_LANES];
    exec_addresses(w, in->a, in->flags & EXEC_F_BASE64, in->imm, a);
    FOR_LANES(i, mask)
    {
        uint64_t n = lane_read(w, in->b, i, 8);
        if (n % 8) {
            exec_fault(w, in, i, FAULT_ARG,
                       "st.bulk of %llu bytes, not a multiple of 8\nround the size up",
                       (unsigned long long)n);
            return;
        }
        for (uint64_t k = 0; k < n; k += 8) {
            uint8_t *p = at(w, in, i, in->space, a[i] + k, 8, ACCESS_STORE);
            if (!p)
                return;
            memset(p, 0, 8);
        }
    }
}

/* ---- clusterlaunchcontrol. The answer is opaque by the ISA; this layout is ours: %ctaid of the first CTA
 * of the cluster in three words, then 1; all 0: none was cancelled ---- */
static void ask_for_cta(struct exec_launch *x, uint32_t answer[4])
{
    uint64_t index;
    memset(answer, 0, 4 * sizeof *answer);
    if (!x->take || !x->take(x->take_ctx, &index))
        return;
    exec_cluster_first(x, index, answer);
    answer[3] = 1;
}

/* What an mbarrier is told later comes from the unit that starts CTAs. */
static void told_from_afar(struct exec_worker *k)
{
    if (k->tensor.defers && k->tensor.nlate)
        k->tensor.late[k->tensor.nlate - 1].starts = true;
}

void exec_try_cancel(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_cancel *x = in->x;
    uint64_t a[WARP_LANES];
    uint32_t answer[4];
    if (w->cta->refused) {
        exec_fault(
            w, in, first_lane(mask), FAULT_ARG,
            "this CTA has seen that an earlier clusterlaunchcontrol.try_cancel failed: what another "
            "one does is undefined\n"
            "end the CTA's loop at the first answer that is not is_canceled");
        return;
    }
    exec_addresses(w, in->a, in->flags & EXEC_F_BASE64, in->imm, a);
    FOR_LANES(i, mask)
    for (uint32_t r = 0; r < (x->all ? w->x->cluster_ctas : 1); r++) {
        struct exec_cta *c = x->all ? w->cta->lead->peer[r] : w->cta;
        uint64_t base = (uint64_t)(c->rank + 1) * CLUSTER_STEP;
        if (!at(w, in, i, PTX_SPACE_SHARED, a[i], in->bytes, ACCESS_STORE))
            return;
        if (!r)
            ask_for_cta(w->x, answer);
        memcpy(c->shared + a[i], answer, in->bytes);
        if (!exec_mbar_tx(w, in, i, x->all ? base + tmem_ref(w, &x->bar, i) : tmem_ref(w, &x->bar, i),
                          in->bytes))
            return;
        told_from_afar(w->k);
    }
}

void exec_is_canceled(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const uint64_t *v = slot_at(w, in->a);
    uint32_t yes = 0;
    FOR_LANES(i, mask) yes |= (uint32_t)(v[WARP_LANES + i] >> 32 != 0) << i;
    w->cta->refused |= yes != mask;
    pred_write(w, in->dst, mask, yes);
}

void exec_first_ctaid(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_moves *x = in->x;
    const uint64_t *v = slot_at(w, in->a);
    for (unsigned k = 0; k < x->n; k++) {
        unsigned d = (unsigned)in->imm + k;
        FOR_LANES(i, mask)
        lane_write(w, x->dst[k], i, 4, v[d / 2 * WARP_LANES + i] >> 32 * (d % 2) & UINT32_MAX);
    }
}
