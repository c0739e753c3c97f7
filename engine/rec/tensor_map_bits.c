/* The 128 bytes of a tensor map. Opaque by the ISA; the layout is that of the driver (580), read off
 * from maps of 693 kinds that it made (tests/gpu/tensor_maps.txt has some). By the number of the lowest
 * bit:
 *
 *     0  address                       256 + 32 d  elements of dimension d, less 1
 *    64  im2col                        416 +  3 d  step of dimension d, less 1
 *    68  dimensions, less 1            440 +  8 d  box of dimension d, less 1 (im2col: channels at 440)
 *    71  element type                  448, 464    corners of im2col: 16, 8 or 5 bits each
 *    75  interleave                    480         pixels, less 1
 *    77  swizzle                       512         bytes of a box, whole steps alone
 *    79  NaN outside                   576         alignment of a box in shared memory
 *    80  tf32                           96 + 32 d  stride of dimension d + 1, in 16 bytes;
 *    81  promotion in L2               224 +  4 d  and its upper bits */
#include "engine/rec/launch.h"
#include "engine/rec/tensor_map.h"

#include <string.h>

/* By enum TENSOR_*: the number of the element type in the encoded map. */
static const uint8_t raw_types[TENSOR_TYPE_COUNT] = {
    [TENSOR_U8] = 0,    [TENSOR_U16] = 1,  [TENSOR_U32] = 2,     [TENSOR_S32] = 3,     [TENSOR_U64] = 4,
    [TENSOR_S64] = 5,   [TENSOR_F16] = 6,  [TENSOR_F32] = 7,     [TENSOR_F32_FTZ] = 8, [TENSOR_F64] = 9,
    [TENSOR_BF16] = 10, [TENSOR_TF32] = 7, [TENSOR_TF32_FTZ] = 8
};

static void put(uint8_t *to, unsigned at, unsigned bits, uint64_t v)
{
    for (unsigned i = 0; i < bits; i++)
        if (v >> i & 1)
            to[(at + i) / 8] |= (uint8_t)(1u << (at + i) % 8);
}
static uint64_t get(const uint8_t *from, unsigned at, unsigned bits)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bits; i++)
        v |= (uint64_t)(from[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    return v;
}

static unsigned corner_bits(unsigned rank)
{
    return rank == 3 ? 16 : rank == 4 ? 8 : 5;
}

static uint64_t whole_bytes(const struct tensor_map *m)
{
    uint64_t n = tensor_type_bytes(m->type);
    if (m->im2col)
        return n * m->channels * m->pixels;
    for (unsigned d = 0; d < m->rank; d++)
        n *= m->box[d] / m->steps[d];
    return n;
}

static void put_copy(const struct tensor_map *m, uint8_t *out)
{
    unsigned w = corner_bits(m->rank);
    for (unsigned d = 0; d < m->rank && !m->im2col; d++)
        put(out, 440 + 8 * d, 8, m->box[d] - 1);
    if (!m->im2col)
        return;
    put(out, 440, 8, m->channels - 1);
    put(out, 480, 10, m->pixels - 1);
    for (unsigned d = 0; d + 2 < m->rank; d++) {
        put(out, 448 + w * d, w, (uint32_t)m->lower[d]);
        put(out, 464 + w * d, w, (uint32_t)m->upper[d]);
    }
}

void tensor_map_encode(const struct tensor_map *m, uint8_t out[TENSOR_MAP_BYTES])
{
    memset(out, 0, TENSOR_MAP_BYTES);
    put(out, 0, 64, m->address);
    put(out, 64, 1, m->im2col);
    put(out, 68, 3, m->rank - 1u);
    put(out, 71, 4, raw_types[m->type % TENSOR_TYPE_COUNT]);
    put(out, 75, 2, m->interleave);
    put(out, 77, 2, m->swizzle);
    put(out, 79, 1, m->nan);
    put(out, 80, 1, m->type == TENSOR_TF32 || m->type == TENSOR_TF32_FTZ);
    put(out, 81, 2, m->l2);
    for (unsigned d = 0; d < m->rank; d++) {
        put(out, 256 + 32 * d, 32, m->dims[d] - 1);
        put(out, 416 + 3 * d, 3, m->steps[d] - 1);
        if (d) {
            put(out, 64 + 32 * d, 32, m->strides[d] / 16);
            put(out, 220 + 4 * d, 4, m->strides[d] / 16 >> 32);
        }
    }
    put_copy(m, out);
    put(out, 512, 32, whole_bytes(m));
    put(out, 576, 32, m->swizzle ? 128u << m->swizzle : 16);
}

static bool get_type(const uint8_t *in, uint8_t *type)
{
    uint64_t raw = get(in, 71, 4);
    bool tf32 = get(in, 80, 1);
    for (unsigned t = 0; t < TENSOR_TYPE_COUNT; t++)
        if (raw_types[t] == raw && tf32 == (t == TENSOR_TF32 || t == TENSOR_TF32_FTZ)) {
            *type = (uint8_t)t;
            return true;
        }
    return false;
}

static int32_t get_corner(const uint8_t *in, unsigned at, unsigned bits)
{
    uint32_t v = (uint32_t)get(in, at, bits), sign = 1u << (bits - 1);
    return (int32_t)((v ^ sign) - sign);
}

bool tensor_map_decode(const uint8_t in[TENSOR_MAP_BYTES], struct tensor_map *m)
{
    *m = (struct tensor_map){ .address = get(in, 0, 64),
                              .im2col = get(in, 64, 1),
                              .rank = (uint8_t)(get(in, 68, 3) + 1),
                              .interleave = (uint8_t)get(in, 75, 2),
                              .swizzle = (uint8_t)get(in, 77, 2),
                              .nan = get(in, 79, 1),
                              .l2 = (uint8_t)get(in, 81, 2),
                              .channels = (uint32_t)get(in, 440, 8) + 1,
                              .pixels = (uint32_t)get(in, 480, 10) + 1 };
    if (m->rank > TENSOR_RANK_MOST || !get_type(in, &m->type) || get(in, 83, 13) || get(in, 65, 3))
        return false;
    for (unsigned d = 0; d < TENSOR_RANK_MOST; d++) {
        bool is = d < m->rank;
        m->dims[d] = is ? get(in, 256 + 32 * d, 32) + 1 : 1;
        m->steps[d] = is ? (uint32_t)get(in, 416 + 3 * d, 3) + 1 : 1;
        m->box[d] = is && !m->im2col ? (uint32_t)get(in, 440 + 8 * d, 8) + 1 : 1;
        m->strides[d] = d && is ? (get(in, 64 + 32 * d, 32) | get(in, 220 + 4 * d, 4) << 32) * 16 : 0;
    }
    unsigned w = corner_bits(m->rank);
    for (unsigned d = 0; m->im2col && d + 2 < m->rank; d++) {
        m->lower[d] = get_corner(in, 448 + w * d, w);
        m->upper[d] = get_corner(in, 464 + w * d, w);
    }
    return true;
}

static void set(uint8_t *raw, unsigned at, unsigned bits, uint64_t v)
{
    for (unsigned i = 0; i < bits; i++)
        raw[(at + i) / 8] &= (uint8_t) ~(1u << (at + i) % 8);
    put(raw, at, bits, v);
}

/* Numbers of .elemtype: as in the bytes, but for 11 and 12, which are tf32 and tf32 that flushes. */
static bool set_type(uint8_t *raw, uint64_t v)
{
    bool tf32 = v == 11 || v == 12;
    set(raw, 71, 4, tf32 ? v - 4 : v);
    set(raw, 80, 1, tf32);
    return v <= 12;
}

bool tensor_map_replace(uint8_t *raw, enum tensor_field f, unsigned number, uint64_t v)
{
    static const struct {
        uint16_t at, step, bits;
        bool less; /* one less than the value is kept */
    } fields[TENSOR_FIELD_COUNT] = {
        [TENSOR_FIELD_ADDRESS] = { 0, 0, 64, false }, [TENSOR_FIELD_RANK] = { 68, 0, 3, false },
        [TENSOR_FIELD_BOX] = { 440, 8, 8, true },     [TENSOR_FIELD_DIM] = { 256, 32, 32, true },
        [TENSOR_FIELD_STEP] = { 416, 3, 3, true },    [TENSOR_FIELD_INTERLEAVE] = { 75, 0, 2, false },
        [TENSOR_FIELD_SWIZZLE] = { 77, 0, 2, false }, [TENSOR_FIELD_FILL] = { 79, 0, 1, false }
    };
    if (f >= TENSOR_FIELD_COUNT || number >= TENSOR_RANK_MOST)
        return false;
    if (f == TENSOR_FIELD_TYPE)
        return set_type(raw, v);
    if (f == TENSOR_FIELD_STRIDE) {
        set(raw, 96 + 32 * number, 32, v / 16);
        set(raw, 224 + 4 * number, 4, v / 16 >> 32);
        return number + 1 < TENSOR_RANK_MOST && v % 16 == 0 && v >> 40 == 0;
    }
    if (fields[f].less && !v--)
        return false;
    set(raw, fields[f].at + fields[f].step * number, fields[f].bits, v);
    return fields[f].bits == 64 || v >> fields[f].bits == 0;
}

bool launch_has_maps(const struct launch_spec *l)
{
    bool any = false;
    for (size_t i = 0; i < l->nargs; i++)
        any |= l->args[i].kind == ARG_TENSOR_MAP;
    return any;
}

void launch_promote(struct launch_spec *l, uint8_t to)
{
    struct tensor_map m;
    for (size_t i = 0; i < l->nargs; i++) {
        struct arg_spec *a = &l->args[i];
        if (a->kind != ARG_TENSOR_MAP || a->nbytes != TENSOR_MAP_BYTES ||
            !tensor_map_decode(a->bytes, &m))
            continue;
        m.l2 = to;
        tensor_map_encode(&m, a->bytes);
    }
}
