/* tensor_map: the description of a tensor in global memory that the tensor copy engine works by (PTX ISA
 * 5.5.8): what the driver's cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col take, and the 128 bytes
 * that they make of it. */
#pragma once

#include "engine/base/base.h"

#define TENSOR_MAP_BYTES 128u
#define TENSOR_MAP_ALIGN 64u
#define TENSOR_RANK_MOST 5u
#define TENSOR_BOX_MOST  256u

/* The driver's numbers. X(id, name in launch descriptions, bytes of an element) */
#define TENSOR_TYPE_LIST(X)  \
    X(U8, "u8", 1)           \
    X(U16, "u16", 2)         \
    X(U32, "u32", 4)         \
    X(S32, "s32", 4)         \
    X(U64, "u64", 8)         \
    X(S64, "s64", 8)         \
    X(F16, "f16", 2)         \
    X(F32, "f32", 4)         \
    X(F64, "f64", 8)         \
    X(BF16, "bf16", 2)       \
    X(F32_FTZ, "f32_ftz", 4) \
    X(TF32, "tf32", 4)       \
    X(TF32_FTZ, "tf32_ftz", 4)
#define TENSOR_TYPE_ITEM(id, name, bytes) TENSOR_##id,
enum tensor_type { TENSOR_TYPE_LIST(TENSOR_TYPE_ITEM) TENSOR_TYPE_COUNT };
#undef TENSOR_TYPE_ITEM
enum tensor_interleave { INTERLEAVE_NONE, INTERLEAVE_16B, INTERLEAVE_32B };
enum tensor_swizzle { SWIZZLE_NONE, SWIZZLE_32B, SWIZZLE_64B, SWIZZLE_128B };

struct tensor_map {
    uint64_t address;   /* of element 0, device */
    uint8_t rank;       /* 1 to 5 */
    uint8_t type;       /* enum tensor_type */
    uint8_t interleave; /* enum tensor_interleave */
    uint8_t swizzle;    /* enum tensor_swizzle */
    uint8_t l2;         /* promotion: 0 none, 1 64 bytes, 2 128, 3 256 */
    bool nan;           /* elements outside are NaN, else 0 */
    bool im2col;
    uint64_t dims[TENSOR_RANK_MOST];    /* elements, innermost first */
    uint64_t strides[TENSOR_RANK_MOST]; /* bytes; [0] is not used */
    uint32_t steps[TENSOR_RANK_MOST];   /* every how many elements one is taken */
    uint32_t box[TENSOR_RANK_MOST];     /* tile: elements that a box spans */
    /* im2col: corners of the box of base pixels, from dimension 1 on; channels and pixels of a copy */
    int32_t lower[3], upper[3];
    uint32_t channels, pixels;
};

unsigned tensor_type_bytes(uint8_t type);
const char *tensor_type_name(uint8_t type);
bool tensor_type_parse(struct str s, uint8_t *type);
/* Bytes of what a coordinate of dimension 0 counts: an element, or a slice of interleaved channels. */
unsigned tensor_map_element(const struct tensor_map *m);
/* Elements of a copy along dimension d (of a tile). */
uint32_t tensor_map_span(const struct tensor_map *m, unsigned d);
/* Bytes from the address on that the tensor takes. */
uint64_t tensor_map_extent(const struct tensor_map *m);
/* Why the driver would not encode it: into `why`, false. Addresses are not looked at where they are 0.
 */
bool tensor_map_check(const struct tensor_map *m, char *why, size_t n);
void tensor_map_encode(const struct tensor_map *m, uint8_t out[TENSOR_MAP_BYTES]);
/* False: these bytes are no tensor map. */
bool tensor_map_decode(const uint8_t in[TENSOR_MAP_BYTES], struct tensor_map *m);

/* What tensormap.replace sets: a dimension's number where it has one, new values as the instruction has
 * them. */
enum tensor_field {
    TENSOR_FIELD_ADDRESS,
    TENSOR_FIELD_RANK, /* less 1 */
    TENSOR_FIELD_BOX,
    TENSOR_FIELD_DIM,
    TENSOR_FIELD_STRIDE, /* bytes; number 0: of dimension 1 */
    TENSOR_FIELD_STEP,
    TENSOR_FIELD_TYPE, /* numbers of the ISA */
    TENSOR_FIELD_INTERLEAVE,
    TENSOR_FIELD_SWIZZLE,
    TENSOR_FIELD_FILL,
    TENSOR_FIELD_COUNT
};
/* In the 128 bytes at raw. False: no such field or value. */
bool tensor_map_replace(uint8_t *raw, enum tensor_field f, unsigned number, uint64_t v);
