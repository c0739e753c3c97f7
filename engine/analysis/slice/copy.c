/* Bulk and tensor copies: the runs of bytes in global memory that one of them moves (PTX ISA 5.5 and
 * 9.7.9.27). A tensor's box is walked row by row; elements outside the tensor are not moved. */
#include "engine/analysis/slice/slice.h"
#include "engine/analysis/slice/slice_int.h"
#include "engine/analysis/symbolic/bulk.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/tensor_map.h"
#include "engine/sim/decoded.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/windows.h"

#define MOST_RUNS 65536u /* of a box: no shared memory holds more rows */

static bool put_run(struct slice_cta *c, uint64_t addr, uint64_t bytes)
{
    struct slice_run *last = c->nruns ? &c->run[c->nruns - 1] : NULL;
    if (last && last->addr + last->bytes == addr) {
        last->bytes += bytes;
        return true;
    }
    if (!base_grow((void **)&c->run, c->nruns, &c->cap_runs, sizeof *c->run)) {
        c->s->status = ST_NOMEM;
        return false;
    }
    c->run[c->nruns++] = (struct slice_run){ addr, bytes };
    return true;
}

/* Row n of the box at `at`: its coordinates from dimension 1 on. */
static void row_at(const struct tensor_map *m, const struct bulk *b, const int64_t *at, uint32_t n,
                   int64_t *row)
{
    for (unsigned d = 1; d < m->rank; d++) {
        uint32_t span = tensor_map_span(m, d);
        row[d] = b->rows ? at[1 + n] : at[d] + (int64_t)(n % span) * m->steps[d];
        n /= span;
    }
}

static bool put_row(struct slice_cta *c, const struct tensor_map *m, int64_t first, const int64_t *row)
{
    int64_t size = tensor_type_bytes(m->type), to = first + tensor_map_span(m, 0);
    uint64_t addr = m->address;
    for (unsigned d = 1; d < m->rank; d++) {
        if (row[d] < 0 || row[d] >= (int64_t)m->dims[d])
            return true;
        addr += (uint64_t)row[d] * m->strides[d];
    }
    first = first < 0 ? 0 : first;
    to = to > (int64_t)m->dims[0] ? (int64_t)m->dims[0] : to;
    return first >= to || put_run(c, addr + (uint64_t)(first * size), (uint64_t)((to - first) * size));
}

static bool put_box(struct slice_cta *c, const struct tensor_map *m, const struct bulk *b,
                    const int64_t *at)
{
    int64_t row[TENSOR_RANK_MOST] = { 0 };
    uint64_t rows = b->rows ? 4 : 1;
    for (unsigned d = 1; d < m->rank && !b->rows; d++)
        rows *= tensor_map_span(m, d);
    if (rows > MOST_RUNS)
        return false;
    for (uint32_t n = 0; n < rows; n++) {
        row_at(m, b, at, n, row);
        if (!put_row(c, m, at[0], row))
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
    return raw && tensor_map_decode(raw, m) && !m->im2col && !m->interleave &&
           m->rank == (b->rows ? 2 : b->nvalues);
}

static bool copied(struct slice_cta *c, const struct exec_warp *w, const struct exec_inst *in,
                   unsigned lane)
{
    int64_t at[TENSOR_RANK_MOST] = { 0 };
    uint64_t addr, v;
    struct tensor_map m;
    struct bulk b;
    if (!bulk_parts(in->ptx, &b) || !operand(c, w, in, b.global, lane, &addr))
        return false;
    for (unsigned k = 0; k < b.nvalues && k < TENSOR_RANK_MOST; k++) {
        if (!operand(c, w, in, &b.value[k], lane, &v))
            return false;
        at[k] = (int32_t)v;
    }
    return b.tensor ? read_map(c, addr, &b, &m) && put_box(c, &m, &b, at)
                    : put_run(c, addr, (uint32_t)at[0]);
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
