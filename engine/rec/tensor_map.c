/* Tensor maps: what the driver accepts, and their bytes. */
#include "engine/rec/tensor_map.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned bytes;
} types[] = {
#define X(id, name, bytes) [TENSOR_##id] = { name, bytes },
    TENSOR_TYPE_LIST(X)
#undef X
};

unsigned tensor_type_bytes(uint8_t type)
{
    return type < TENSOR_TYPE_COUNT ? types[type].bytes : 1;
}
const char *tensor_type_name(uint8_t type)
{
    return type < TENSOR_TYPE_COUNT ? types[type].name : "?";
}
bool tensor_type_parse(struct str s, uint8_t *type)
{
    for (unsigned i = 0; i < TENSOR_TYPE_COUNT; i++)
        if (str_is(s, types[i].name)) {
            *type = (uint8_t)i;
            return true;
        }
    return false;
}

unsigned tensor_map_element(const struct tensor_map *m)
{
    return m->interleave ? 8u << m->interleave : tensor_type_bytes(m->type);
}

/* The step of dimension 0 means nothing where channels are not interleaved. */
uint32_t tensor_map_span(const struct tensor_map *m, unsigned d)
{
    uint32_t step = d || m->interleave ? m->steps[d] : 1;
    return (m->box[d] + step - 1) / step;
}

uint64_t tensor_map_extent(const struct tensor_map *m)
{
    uint64_t n = m->dims[0] * tensor_map_element(m);
    for (unsigned d = 1; d < m->rank; d++)
        n += (m->dims[d] - 1) * m->strides[d];
    return n;
}

/* ---- what the driver refuses (CUDA driver API, tensor map object management) ---- */
struct check {
    const struct tensor_map *m;
    char *why;
    size_t n;
};
static bool BASE_PRINTF(2, 3) no(const struct check *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->why, c->n, fmt, ap);
    va_end(ap);
    return false;
}

static bool check_dims(const struct check *c)
{
    const struct tensor_map *m = c->m;
    unsigned unit = m->interleave == INTERLEAVE_32B ? 32 : 16;
    if (m->rank < 1 || m->rank > TENSOR_RANK_MOST)
        return no(c, "a tensor has 1 to 5 dimensions, not %u", m->rank);
    if (m->rank < 3 && (m->interleave || m->im2col))
        return no(c, "%s needs 3 dimensions or more", m->im2col ? "im2col" : "\"interleave\"");
    for (unsigned d = 0; d < m->rank; d++)
        if (!m->dims[d] || m->dims[d] > 1ull << 32)
            return no(c, "dimension %u has %llu elements, not 1 to 2^32", d,
                      (unsigned long long)m->dims[d]);
    for (unsigned d = 1; d < m->rank; d++)
        if (m->strides[d] % unit || m->strides[d] >= 1ull << 40)
            return no(c, "the stride of dimension %u, %llu bytes, is not a multiple of %u below 2^40", d,
                      (unsigned long long)m->strides[d], unit);
    for (unsigned d = 0; d < m->rank; d++)
        if (m->steps[d] < 1 || m->steps[d] > 8)
            return no(c, "the element stride of dimension %u is %u, not 1 to 8", d, m->steps[d]);
    return m->address % unit == 0 ||
           no(c, "the address 0x%llx is not a multiple of %u", (unsigned long long)m->address, unit);
}

static bool check_box(const struct check *c)
{
    const struct tensor_map *m = c->m;
    for (unsigned d = 0; d < m->rank && !m->im2col; d++)
        if (m->box[d] < 1 || m->box[d] > TENSOR_BOX_MOST)
            return no(c, "the box has %u elements along dimension %u, not 1 to %u", m->box[d], d,
                      TENSOR_BOX_MOST);
    if (m->im2col && (m->channels < 1 || m->channels > 256 || m->pixels < 1 || m->pixels > 1024))
        return no(c, "%u channels and %u pixels: at most 256 and 1024", m->channels, m->pixels);
    uint64_t inner = (uint64_t)(m->im2col ? m->channels : m->box[0]) * tensor_type_bytes(m->type);
    if (m->interleave == INTERLEAVE_NONE && inner % 16)
        return no(c, "the innermost dimension of the box has %llu bytes, not a multiple of 16",
                  (unsigned long long)inner);
    if (m->swizzle > SWIZZLE_128B)
        return no(c, "unknown swizzle");
    if (m->interleave == INTERLEAVE_NONE && m->swizzle && inner > 16ull << m->swizzle)
        return no(c,
                  "the innermost dimension of the box has %llu bytes, more than the %u that the swizzle "
                  "spans",
                  (unsigned long long)inner, 16u << m->swizzle);
    return true;
}

static bool check_corners(const struct check *c)
{
    const struct tensor_map *m = c->m;
    static const int32_t most[6] = { 0, 0, 0, 32767, 127, 15 };
    for (unsigned d = 0; m->im2col && d + 2 < m->rank; d++)
        for (unsigned k = 0; k < 2; k++) {
            int32_t v = k ? m->upper[d] : m->lower[d];
            if (v > most[m->rank] || v < -most[m->rank] - 1)
                return no(c, "a corner of %d is outside %d to %d", v, -most[m->rank] - 1, most[m->rank]);
        }
    for (unsigned d = 0; m->im2col && d + 2 < m->rank; d++)
        if ((int64_t)m->dims[d + 1] + m->upper[d] - m->lower[d] <= 0)
            return no(c, "the corners %d and %d leave none of %llu elements", m->lower[d], m->upper[d],
                      (unsigned long long)m->dims[d + 1]);
    bool floats = m->type >= TENSOR_F16;
    return !m->nan || floats || no(c, "only floating point has NaN for elements outside");
}

bool tensor_map_check(const struct tensor_map *m, char *why, size_t n)
{
    struct check c = { m, why, n };
    if (m->type >= TENSOR_TYPE_COUNT)
        return no(&c, "unknown element type");
    return check_dims(&c) && check_box(&c) && check_corners(&c);
}
