/* texture: fetches from textures, loads from surfaces, stores and reductions to them (PTX ISA 9.7.10,
 * 9.7.11). A handle is the number of an argument of the launch (texture.h in engine/rec). */
#pragma once

#include "engine/rec/texture.h"
#include "engine/sim/exec/bodies.h"

enum surface_edge { SURFACE_TRAP, SURFACE_CLAMP, SURFACE_ZERO };
enum texture_query {
    QUERY_WIDTH,
    QUERY_HEIGHT,
    QUERY_DEPTH,
    QUERY_LAYERS,
    QUERY_LEVELS,
    QUERY_NORMALIZED,
    QUERY_SAMPLES,
    QUERY_FILTER,
    QUERY_EDGE, /* of x, y, z */
    QUERY_EDGE_Y,
    QUERY_EDGE_Z,
    QUERY_UNNORMALIZED,
    QUERY_TYPE, /* as OpenCL numbers them (PTX ISA 5.3.1) */
    QUERY_ORDER,
    QUERY_LINEAR_MEMORY
};
enum tex_level { TEX_BASE, TEX_LEVEL, TEX_GRAD };

/* What decoding leaves (exec_inst.x). */
struct exec_tex {
    struct exec_ref handle;  /* space PARAM: the handle lies in the parameters, at imm */
    struct exec_ref sampler; /* slot EXEC_NO_ID: the texture says how it is read */
    uint8_t level;           /* enum tex_level: none said, `lod`, by `gradient` */
    uint8_t half;            /* results: 1 .f16, 2 .f16x2; 0: 32 bits */
    uint8_t rank, ncoord;    /* ncoord: those of x, y, z; a cube has 3 and rank 2 */
    bool array;
    bool cube;
    bool surface;
    bool floats;              /* coordinates are .f32 */
    bool gather;              /* tld4, of this component */
    bool formatted;           /* sust.p, sured.p: x counts texels; else bytes */
    bool is_float;            /* results are .f32 */
    uint8_t component;        /* that a gather takes, 0 to 3 */
    uint8_t edge;             /* enum surface_edge */
    uint8_t query;            /* enum texture_query */
    uint8_t n;                /* used of value */
    uint8_t bytes, reg_bytes; /* surfaces: of one value, in memory and in its register */
    uint32_t coord[3], layer; /* slots */
    uint32_t value[4];
    uint32_t lod, gradient[2][3], offset[3], reference, resident; /* EXEC_NO_ID: none */
    struct exec_atom atom;
};
exec_fn exec_tex, exec_tex_query, exec_surface_load, exec_surface_store, exec_surface_reduce;

/* ---- which texels (texel.c): no memory, no warp ---- */
#define TEXELS_MOST 16u /* of one fetch: a linear filter in three dimensions and between levels */
struct texels {
    unsigned n;
    struct {
        bool inside; /* else the value is 0 */
        uint64_t addr;
        float weight; /* of a linear filter: product of fractions of 8 bits */
    } v[TEXELS_MOST];
};
struct texture_place {
    double c[3]; /* coordinates as numbers */
    int64_t layer;
    double level;      /* of a mipmap */
    int32_t offset[3]; /* texels beside the place */
};
/* A point filter: one texel; a linear one: 2, 4 or 8, twice of two levels; a gather: 4, in the order of
 * its results. */
void texels_of(const struct texture *t, const struct exec_tex *x, const struct texture_place *p,
               struct texels *out);
/* The level that gradients of the coordinates ask for. */
double texture_gradient_level(const struct texture *t, const struct exec_tex *x, double d[2][3]);
/* Channel k of a texel as the 32 bits that a fetch returns; missing ones are 0, the fourth 1. */
uint32_t texel_channel(const struct texture *t, const uint8_t *texel, unsigned k, bool is_float);
