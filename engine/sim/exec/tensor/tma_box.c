/* Boxes of a tensor (PTX ISA 5.5): which bytes of global memory a copy moves, and where in shared memory
 * they lie.
 *
 *   tile     box[d] elements from coordinate at[d] on, every steps[d]-th; dimension 0 is innermost
 *   im2col   dimensions C W [H [D]] N: `channels` of each of `pixels` base pixels. Base pixels go
 *            through W, H, D within the corners, then N; each is read `off` further on
 *   gather4  four rows of a 2-D tensor, each at its own coordinate
 *
 * Interleaved tensors have slices of channels for elements, 16 or 32 bytes each, whatever the type says:
 * dimensions W [H [D]] S N, where S counts slices. A box holds one slice of S, rows follow each other
 * without a gap (measured on an H200: docs/lab/tensor.md). */
#include "engine/sim/exec/tensor/tma.h"

uint64_t tma_swizzled(const struct tensor_map *m, uint64_t a)
{
    switch (m->swizzle) {
    case SWIZZLE_32B: return a ^ (a >> 7 & 1) << 4;
    case SWIZZLE_64B: return a ^ (a >> 7 & 3) << 4;
    case SWIZZLE_128B: return a ^ (a >> 7 & 7) << 4;
    default: return a;
    }
}

void tma_fill(const struct tensor_map *m, uint8_t *to, uint32_t n)
{
    /* what an H100 puts there, whatever the type */
    for (uint32_t i = 0; i < n; i++)
        to[i] = !m->nan ? 0 : i % 2 ? 0x7f : 0xf7;
}

/* The dimension of which a box holds one, none: more than there are; the first that is counted in
 * pixels. */
static unsigned slice_dim(const struct tensor_map *m)
{
    return m->interleave ? m->rank - 2u : TENSOR_RANK_MOST;
}
static unsigned first_pixel_dim(const struct tensor_map *m)
{
    return m->interleave ? 0 : 1;
}
/* Elements of one row do not lie side by side: each is a row. */
static bool elements_apart(const struct tensor_map *m)
{
    return m->interleave && (m->im2col || m->steps[0] > 1);
}
static uint32_t span(const struct tensor_map *m, unsigned d)
{
    return d == slice_dim(m) ? 1 : tensor_map_span(m, d);
}

static void size_rows(struct tma_box *b)
{
    const struct tensor_map *m = &b->m;
    bool apart = elements_apart(m);
    uint32_t inner = apart ? 1 : m->im2col ? m->channels : span(m, 0);
    b->row_bytes = inner * tensor_map_element(m);
    b->nrows = m->im2col ? m->pixels : 1;
    for (unsigned d = apart ? 0 : 1; d < m->rank && !m->im2col; d++)
        b->nrows *= span(m, d);
    if (b->mode == TMA_GATHER4 || b->mode == TMA_SCATTER4)
        b->nrows = 4;
    b->pitch = m->swizzle && !m->interleave ? 16u << m->swizzle : b->row_bytes;
    b->bytes = (uint64_t)b->nrows * b->row_bytes;
}

static bool within_corners(const struct tma_box *b)
{
    const struct tensor_map *m = &b->m;
    for (unsigned k = 0, d = first_pixel_dim(m); m->im2col && k + 2 < m->rank; k++, d++)
        if (b->at[d] < m->lower[k] || b->at[d] >= (int64_t)m->dims[d] + m->upper[k])
            return false;
    return true;
}

bool tma_box_init(struct tma_box *b, const char **why)
{
    const struct tensor_map *m = &b->m;
    bool pixels = b->mode == TMA_IM2COL || b->mode == TMA_IM2COL_W || b->mode == TMA_IM2COL_W128;
    if (pixels != m->im2col) {
        *why = pixels ? "im2col with a tensor map that was made for tiles\nmake the map with corners, "
                        "channels and pixels, or copy with .tile"
                      : "a tile with a tensor map that was made for im2col\ncopy with .im2col, or make "
                        "the map with a box";
        return false;
    }
    size_rows(b);
    if (b->at[0] * (int64_t)tensor_map_element(m) % 16) {
        *why =
            "a first coordinate that is not a multiple of 16 bytes\nlet the innermost box begin at one";
        return false;
    }
    if (!within_corners(b)) {
        *why = "a base pixel outside the corners of the tensor map\nlet coordinates lie from the lower "
               "corner to the dimension and the upper one";
        return false;
    }
    if (b->row_bytes % 16) {
        *why = "a box whose rows are no multiple of 16 bytes\nwiden the innermost box";
        return false;
    }
    return true;
}

/* Coordinates of row n, from the dimension on that its rows count. */
static void tile_at(const struct tma_box *b, uint32_t n, int64_t at[TENSOR_RANK_MOST])
{
    const struct tensor_map *m = &b->m;
    for (unsigned d = elements_apart(m) ? 0 : 1; d < m->rank; d++) {
        uint32_t of = span(m, d);
        at[d] = b->at[d] + (int64_t)(n % of) * m->steps[d];
        n /= of;
    }
}

static void pixel_at(const struct tma_box *b, uint32_t n, int64_t at[TENSOR_RANK_MOST])
{
    const struct tensor_map *m = &b->m;
    unsigned d = first_pixel_dim(m), batch = m->rank - 1u;
    int64_t carry = n;
    if (m->interleave)
        at[slice_dim(m)] = b->at[slice_dim(m)];
    for (unsigned k = 0; k + 2 < m->rank; k++, d++) {
        int64_t lo = m->lower[k], hi = (int64_t)m->dims[d] + m->upper[k], step = m->steps[d],
                begin = b->at[d], first = (hi - begin + step - 1) / step,
                count = (hi - lo + step - 1) / step, after = carry - first;
        at[d] = (after < 0 ? begin + carry * step : lo + after % count * step) + b->off[k];
        carry = after < 0 ? 0 : 1 + after / count;
    }
    at[batch] = b->at[batch] + carry * m->steps[batch];
}

void tma_box_row(const struct tma_box *b, uint32_t n, struct tma_row *r)
{
    const struct tensor_map *m = &b->m;
    int64_t at[TENSOR_RANK_MOST], size = tensor_map_element(m);
    bool inside = true;
    at[0] = b->at[0];
    if (b->mode == TMA_GATHER4 || b->mode == TMA_SCATTER4)
        at[1] = b->at[1 + n];
    else if (m->im2col)
        pixel_at(b, n, at);
    else
        tile_at(b, n, at);
    int64_t c = at[0];
    r->to = n * b->pitch;
    r->addr = m->address + (uint64_t)(c * size);
    for (unsigned d = 1; d < m->rank; d++) {
        inside &= at[d] >= 0 && at[d] < (int64_t)m->dims[d];
        r->addr += (uint64_t)at[d] * m->strides[d];
    }
    int64_t most = b->row_bytes, first = c < 0 ? -c * size : 0, last = ((int64_t)m->dims[0] - c) * size;
    first = first > most ? most : first;
    last = last < 0 ? 0 : last > most ? most : last;
    r->first = inside && first < last ? (uint32_t)first : 0;
    r->last = inside && first < last ? (uint32_t)last : 0;
}
