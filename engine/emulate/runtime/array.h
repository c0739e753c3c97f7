/* array: arrays, textures and surfaces, for the runtime's calls and the driver's (texture.c). */
#pragma once

#include "engine/emulate/runtime/copy.h"

enum { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBE = 4 };
struct array {
    void *p; /* device address */
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent; /* 0 beyond the rank */
    unsigned flags;
    size_t texel; /* bytes */
    const struct context *owner;
    struct array *next;
};
cudaError_t array_make(cudaArray_t *out, const struct cudaChannelFormatDesc *d,
                       const struct cudaExtent *e, unsigned flags);
bool is_array(cudaArray_const_t a); /* whatever the program passes */
cudaError_t array_free(cudaArray_t a);
/* A box of bytes, rows and slices of it. False: it does not fit. */
bool array_side(struct copy_side *out, cudaArray_const_t a, const struct cudaPos *at,
                const struct cudaExtent *e);
/* n bytes of its first slice, from that byte on; NULL: they are not all there. */
char *array_bytes(cudaArray_const_t a, size_t at, size_t n);

/* t NULL: a surface. */
cudaError_t texture_make(uint64_t *out, const struct cudaResourceDesc *r,
                         const struct cudaTextureDesc *t);
cudaError_t texture_end(uint64_t h);
const struct cudaResourceDesc *texture_resource(uint64_t h); /* NULL: there is none */
const struct cudaTextureDesc *texture_reading(uint64_t h);
