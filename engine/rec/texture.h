/* texture: what a texture or surface object says of the buffer behind it (PTX ISA 5.3, CUDA programming
 * guide "Texture fetching"). The texels lie in rows, as in the buffer: x innermost, then y, then z,
 * layer or face. */
#pragma once

#include "engine/rec/elem.h"

/* A launch gives texture or surface number i (of its arguments) this 64-bit handle. */
#define TEXTURE_HANDLE 0x00007c0000000000ull

enum texture_edge { EDGE_CLAMP, EDGE_BORDER, EDGE_WRAP, EDGE_MIRROR, EDGE_COUNT };

/* Fixed widths and no padding: it travels between processes as it is. */
struct texture {
    uint64_t address; /* device address of the first texel */
    uint64_t pitch;   /* bytes from one row to the next */
    uint32_t dims[3]; /* texels: width, height, depth; 1 beyond the rank */
    uint32_t layers;  /* of an array, or 1; a cube has 6 faces in each */
    uint8_t rank;     /* 1 to 3 */
    uint8_t elem;     /* enum elem: u8 s8 u16 s16 f16 u32 s32 f32 */
    uint8_t channels; /* 1, 2, 4 */
    uint8_t edge[3];  /* enum texture_edge, by dimension */
    bool array;
    bool cube;
    bool surface;
    bool linear;     /* filter */
    bool normalized; /* coordinates from 0 to 1 */
    bool fraction;   /* integers are read as fractions of their largest value */
    uint8_t levels;  /* of a mipmap, each half as large, one behind the other; 0 and 1: no mipmap */
    bool mip_linear; /* between two levels; else the nearest */
    uint8_t sampler; /* enum texture_sampler */
    uint8_t compare; /* enum texture_compare: what a depth compare asks of its operand and the texel */
};

/* No texels, only how they are read: filters, edges, coordinates. Its coordinates may be those that the
 * texture says. */
enum texture_sampler { SAMPLER_NONE, SAMPLER_WHOLE, SAMPLER_COORDINATES_OF_TEXTURE };
#define TEXTURE_COMPARES(X)           \
    X(NONE, "")                       \
    X(NEVER, "never")                 \
    X(LESS, "less")                   \
    X(EQUAL, "equal")                 \
    X(LESS_EQUAL, "less_equal")       \
    X(GREATER, "greater")             \
    X(NOT_EQUAL, "not_equal")         \
    X(GREATER_EQUAL, "greater_equal") \
    X(ALWAYS, "always")
#define TEXTURE_COMPARE_ITEM(id, name) COMPARE_##id,
enum texture_compare { TEXTURE_COMPARES(TEXTURE_COMPARE_ITEM) COMPARE_COUNT };
#undef TEXTURE_COMPARE_ITEM

/* By argument of a launch, then by sampler that the module describes itself: what handle
 * TEXTURE_HANDLE + i stands for; rank 0: nothing. at[i]: the variable of the module that is it, by its
 * device address; 0: none. */
struct textures {
    size_t n;
    uint64_t *at;
    struct texture v[];
};

/* Bytes of one texel, and from the first to beyond the last. */
static inline uint32_t texture_texel(const struct texture *t)
{
    return (uint32_t)elem_size((enum elem)t->elem) * t->channels;
}
static inline uint64_t texture_slices(const struct texture *t)
{
    return (uint64_t)t->dims[2] * t->layers * (t->cube ? 6u : 1u);
}
uint64_t texture_bytes(const struct texture *t);
unsigned texture_levels(const struct texture *t); /* at least 1 */
/* Level k of a mipmap as a texture of its own; k 0: t itself. */
struct texture texture_level(const struct texture *t, unsigned k);
/* texture t, read by the rules of a sampler. */
struct texture texture_sampled(const struct texture *t, const struct texture *sampler);
const char *texture_compare_name(enum texture_compare c); /* "" for none */
const char *texture_edge_name(enum texture_edge e);       /* as launch descriptions say it */
/* Would the driver make it? False: why not. */
bool texture_check(const struct texture *t, char *why, size_t n);
