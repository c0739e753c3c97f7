/* The 128 bytes of a tensor map. Opaque by the ISA; this layout is ours. Fields stand one after the
 * other, the lowest bit first. */
#include "engine/base/base.h"
#include "engine/rec/tensor_map.h"

#include <string.h>

#define MAGIC 0x7d5aull

struct bits {
    uint8_t *at; /* TENSOR_MAP_BYTES */
    unsigned n;
    bool write;
};

static uint64_t field(struct bits *b, unsigned bits, uint64_t v)
{
    uint64_t got = 0;
    for (unsigned i = 0; i < bits; i++, b->n++) {
        if (b->write && v >> i & 1)
            b->at[b->n / 8] |= (uint8_t)(1u << b->n % 8);
        got |= (uint64_t)(b->at[b->n / 8] >> b->n % 8 & 1) << i;
    }
    return got;
}

static int32_t corner(struct bits *b, int32_t v)
{
    return (int16_t)field(b, 16, (uint16_t)v);
}

static bool all_fields(struct bits *b, struct tensor_map *m)
{
    m->address = field(b, 64, m->address);
    bool is = field(b, 16, MAGIC) == MAGIC;
    m->rank = (uint8_t)(field(b, 3, m->rank - 1u) + 1);
    m->type = (uint8_t)field(b, 4, m->type);
    m->interleave = (uint8_t)field(b, 2, m->interleave);
    m->swizzle = (uint8_t)field(b, 3, m->swizzle);
    m->l2 = (uint8_t)field(b, 2, m->l2);
    m->nan = field(b, 1, m->nan);
    m->im2col = field(b, 1, m->im2col);
    for (unsigned d = 0; d < TENSOR_RANK_MOST; d++) {
        m->dims[d] = field(b, 32, m->dims[d] - 1) + 1;
        m->strides[d] = field(b, 36, m->strides[d] / 16) * 16;
        m->steps[d] = (uint32_t)field(b, 3, m->steps[d] - 1) + 1;
        m->box[d] = (uint32_t)field(b, 8, m->box[d] - 1) + 1;
    }
    for (unsigned d = 0; d < 3; d++) {
        m->lower[d] = corner(b, m->lower[d]);
        m->upper[d] = corner(b, m->upper[d]);
    }
    m->channels = (uint32_t)field(b, 8, m->channels - 1) + 1;
    m->pixels = (uint32_t)field(b, 10, m->pixels - 1) + 1;
    return is && m->rank <= TENSOR_RANK_MOST;
}

void tensor_map_encode(const struct tensor_map *m, uint8_t out[TENSOR_MAP_BYTES])
{
    struct tensor_map copy = *m;
    struct bits b = { out, 0, true };
    memset(out, 0, TENSOR_MAP_BYTES);
    all_fields(&b, &copy);
}

bool tensor_map_decode(const uint8_t in[TENSOR_MAP_BYTES], struct tensor_map *m)
{
    uint8_t copy[TENSOR_MAP_BYTES];
    struct bits b = { copy, 0, false };
    memcpy(copy, in, sizeof copy);
    *m = (struct tensor_map){ 0 };
    return all_fields(&b, m);
}
