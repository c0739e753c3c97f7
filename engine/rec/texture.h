/* texture: what a texture or surface object says of the buffer behind it (PTX ISA 5.3, CUDA programming
 * guide "Texture fetching"). The texels lie in rows, as in the buffer: x innermost, then y, then z,
 * layer or face. */
#ifndef GPULOCW_REC_TEXTURE_H
#define GPULOCW_REC_TEXTURE_H

#include "engine/base/base.h"
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
    bool linear;      /* filter */
    bool normalized;  /* coordinates from 0 to 1 */
    bool fraction;    /* integers are read as fractions of their largest value */
    uint8_t spare[4]; /* zero */
};

/* By argument of a launch: what handle TEXTURE_HANDLE + i stands for; rank 0: nothing. */
struct textures {
    size_t n;
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
const char *texture_edge_name(enum texture_edge e); /* as launch descriptions say it */
/* Would the driver make it? False: why not. */
bool texture_check(const struct texture *t, char *why, size_t n);

#endif
