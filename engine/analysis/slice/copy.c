/* Bulk and tensor copies: the runs of bytes in global memory that one of them moves (PTX ISA 5.5 and
 * 9.7.9.27). Boxes of tensors are the executor's. */
#include "engine/analysis/slice/slice.h"
#include "engine/base/list.h"
#include "engine/analysis/slice/slice_int.h"
#include "engine/analysis/symbolic/bulk.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/tma.h"
#include "engine/sim/windows.h"

#define MOST_RUNS 65536u /* of a box: no shared memory holds more rows */

static bool put_run(struct slice_cta *c, uint64_t addr, uint64_t bytes)
{
    struct slice_run *last = c->nruns ? &c->run[c->nruns - 1] : NULL;
    if (last && last->addr + last->bytes == addr) {
        last->bytes += bytes;
        return true;
    }
    if (!LIST_PUSH(c->run, c->nruns, c->cap_runs, (struct slice_run){ addr, bytes })) {
        c->s->status = ST_NOMEM;
        return false;
    }
    return true;
}

/* The rows of a tensor's box, as far as they are inside. */
static bool put_box(struct slice_cta *c, struct tma_box *b)
{
    const char *why;
    struct tma_row r;
    if (!tma_box_init(b, &why) || b->nrows > MOST_RUNS)
        return false;
    for (uint32_t n = 0; n < b->nrows; n++) {
        tma_box_row(b, n, &r);
        if (r.first < r.last && !put_run(c, r.addr + r.first, r.last - r.first))
            return false;
    }
    return true;
}

/* What an operand of the copy holds in one lane. False: not known. */
static bool operand(const struct slice_cta *c, const struct exec_warp *w, const struct exec_inst *in,
                    const struct ptx_operand *o, unsigned lane, uint64_t *v)
{
    bool reg = o->kind == OPND_REG || (o->kind == OPND_ADDR && o->base == BASE_REG),
         named = o->kind == OPND_SYM || (o->kind == OPND_ADDR && o->base == BASE_SYM);
    *v = o->kind == OPND_REG ? 0 : (uint64_t)o->imm;
    if (reg) {
        unsigned bits = ptx_type_bits((enum ptx_type)in->func->ptx->regs[o->index].type);
        *v += lane_read(w, in->func->reg_slot[o->index], lane, bits > 32 ? 8 : 4);
    } else if (named) {
        uint64_t at;
        if (!o->sym || !env_symbol(c->s->v, o->sym, &at))
            return false;
        *v += at + (o->sym->space == PTX_SPACE_PARAM ? PARAM_WINDOW : 0);
    }
    return reg || named || o->kind == OPND_IMM || o->kind == OPND_ADDR;
}

static const uint8_t *bytes_at(struct slice_cta *c, uint64_t addr, unsigned n)
{
    const struct env *v = c->s->v;
    if (addr - PARAM_WINDOW < WINDOW_BYTES)
        return addr - PARAM_WINDOW + n <= v->nparams ? v->params + (addr - PARAM_WINDOW) : NULL;
    struct part_bytes b = slice_bytes_at(c->s, addr, n, false);
    return b.n ? b.host + (addr - b.addr) : NULL;
}

/* The map as it was when the launch began: those that the kernel makes itself are not followed. */
static bool read_map(struct slice_cta *c, uint64_t addr, const struct bulk *b, struct tensor_map *m)
{
    const uint8_t *raw = c->s->makes_maps && addr - PARAM_WINDOW >= WINDOW_BYTES
                             ? NULL
                             : bytes_at(c, addr, TENSOR_MAP_BYTES);
    return raw && tensor_map_decode(raw, m) && m->rank == (b->rows ? 2 : b->nvalues);
}

static bool copied(struct slice_cta *c, const struct exec_warp *w, const struct exec_inst *in,
                   unsigned lane)
{
    uint64_t addr, v;
    struct tma_box box = { .mode = TMA_TILE };
    struct bulk b;
    if (!bulk_parts(in->ptx, &b) || !operand(c, w, in, b.global, lane, &addr))
        return false;
    for (unsigned k = 0; k < b.nvalues && k < TENSOR_RANK_MOST; k++) {
        if (!operand(c, w, in, &b.value[k], lane, &v))
            return false;
        box.at[k] = (int32_t)v;
    }
    if (b.rows)
        box.mode = TMA_GATHER4;
    return b.tensor ? read_map(c, addr, &b, &box.m) && put_box(c, &box)
                    : put_run(c, addr, (uint32_t)box.at[0]);
}

bool slice_copy_runs(struct slice_cta *c, const struct exec_warp *w, const struct exec_inst *in,
                     unsigned lane)
{
    c->nruns = 0;
    bool ok = copied(c, w, in, lane);
    if (!ok)
        __atomic_store_n(&c->s->odd_copy, in->ptx->at.line, __ATOMIC_RELAXED);
    return ok;
}
