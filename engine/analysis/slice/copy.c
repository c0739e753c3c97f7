/* Bulk and tensor copies: the runs of bytes in global memory that one of them moves (PTX ISA 5.5 and
 * 9.7.9.27). A tensor's box is walked row by row; elements outside the tensor are not moved. */
#include "engine/analysis/slice/mem.h"
#include "engine/analysis/slice/slice.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/tensor_map.h"

#include <string.h>

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
static void row_at(const struct tensor_map *m, const struct slice_op *o, const int64_t *at, uint32_t n,
                   int64_t *row)
{
    for (unsigned d = 1; d < m->rank; d++) {
        uint32_t span = tensor_map_span(m, d);
        row[d] = o->flag2 ? at[1 + n] : at[d] + (int64_t)(n % span) * m->steps[d];
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

static bool put_box(struct slice_cta *c, const struct tensor_map *m, const struct slice_op *o,
                    const int64_t *at)
{
    int64_t row[TENSOR_RANK_MOST] = { 0 };
    uint64_t rows = o->flag2 ? 4 : 1;
    for (unsigned d = 1; d < m->rank && !o->flag2; d++)
        rows *= tensor_map_span(m, d);
    if (rows > MOST_RUNS)
        return false;
    for (uint32_t n = 0; n < rows; n++) {
        row_at(m, o, at, n, row);
        if (!put_row(c, m, at[0], row))
            return false;
    }
    return true;
}

/* The map as it was when the launch began: those that the kernel makes itself are not followed. */
static bool read_map(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o, uint64_t addr,
                     unsigned lane, struct tensor_map *m)
{
    uint8_t raw[TENSOR_MAP_BYTES];
    if (c->s->makes_maps && slice_space(o->space, addr) != PTX_SPACE_PARAM)
        return false;
    for (unsigned k = 0; k < TENSOR_MAP_BYTES; k += 8) {
        const uint8_t *p = slice_bytes_at(c, w, o->space, addr + k, lane, 8);
        if (!p)
            return false;
        memcpy(raw + k, p, 8);
    }
    return tensor_map_decode(raw, m) && !m->im2col && !m->interleave && m->rank == (o->flag2 ? 2 : o->n);
}

bool slice_copy_runs(struct slice_cta *c, struct slice_warp *w, const struct slice_op *o, uint64_t addr,
                     unsigned lane, const uint64_t *rows)
{
    int64_t v[TENSOR_RANK_MOST] = { 0 };
    struct tensor_map m;
    c->nruns = 0;
    for (unsigned k = 0; k < o->n; k++)
        v[k] = (int32_t)rows[(size_t)c->s->rows[o->list + k] * 32 + lane];
    bool ok = o->flag ? read_map(c, w, o, addr, lane, &m) && put_box(c, &m, o, v)
                      : put_run(c, addr, (uint32_t)v[0]);
    if (!ok)
        __atomic_store_n(&c->s->odd_copy, o->line, __ATOMIC_RELAXED);
    return ok;
}
