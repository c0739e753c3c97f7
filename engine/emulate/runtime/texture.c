/* Arrays, which lie in rows like other memory; textures and surfaces, whose handles the device is told. */
#include "engine/emulate/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

enum { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBE = 4 };
struct array {
    void *p; /* device address */
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent; /* 0 beyond the rank */
    unsigned flags;
    size_t texel; /* bytes */
};
#define HANDLES 65536u
static struct {
    uint64_t n;
    bool live[HANDLES];
    struct cudaResourceDesc resource[HANDLES];
    struct cudaTextureDesc texture[HANDLES];
} T;

static size_t at_least_one(size_t n)
{
    return n ? n : 1;
}

static size_t row_of(const struct array *a)
{
    return a->extent.width * a->texel;
}

static size_t slice_of(const struct array *a)
{
    return row_of(a) * at_least_one(a->extent.height);
}

EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int f);
EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int f)
{
    return (struct cudaChannelFormatDesc){ x, y, z, w, f };
}

/* ---- arrays ---- */
static size_t texel_of(const struct cudaChannelFormatDesc *d)
{
    return (size_t)(d->x + d->y + d->z + d->w) / 8;
}

EXPORT cudaError_t cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *d,
                                     struct cudaExtent e, unsigned flags)
{
    BEGIN
    if (!out)
        END(cudaErrorInvalidValue);
    struct array *a = out && d ? calloc(1, sizeof *a) : NULL;
    if (!a || !texel_of(d) || !e.width) {
        free(a);
        END(out && d ? cudaErrorInvalidChannelDescriptor : cudaErrorInvalidValue);
    }
    *a = (struct array){ .desc = *d, .extent = e, .flags = flags, .texel = texel_of(d) };
    cudaError_t err = memory_take(slice_of(a) * at_least_one(e.depth), BLOCK_DEVICE, &a->p);
    if (err)
        free(a);
    else
        *out = a;
    END(err);
}

EXPORT cudaError_t cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *d, size_t width,
                                   size_t height, unsigned flags)
{
    return cudaMalloc3DArray(out, d, (struct cudaExtent){ width, height, 0 }, flags);
}

EXPORT cudaError_t cudaFreeArray(cudaArray_t a)
{
    BEGIN
    cudaError_t e = a ? drain() : cudaSuccess;
    if (a && !e)
        e = memory_give(a->p, false);
    if (!e)
        free(a);
    END(e);
}

EXPORT cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *d, struct cudaExtent *e,
                                    unsigned *flags, cudaArray_t a)
{
    BEGIN
    if (!a)
        END(cudaErrorInvalidResourceHandle);
    if (d)
        *d = a->desc;
    if (e)
        *e = a->extent;
    if (flags)
        *flags = a->flags;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *d, cudaArray_const_t a)
{
    if (!d || !a)
        return give(cudaErrorInvalidValue);
    *d = a->desc;
    return cudaSuccess;
}

/* ---- copies with arrays ---- */
struct side {
    char *p;
    size_t pitch, slice, unit; /* unit: bytes of what positions and widths count */
};

static struct side side_of(cudaArray_t a, const struct cudaPitchedPtr *p, const struct cudaPos *at)
{
    struct side s = a ? (struct side){ a->p, row_of(a), slice_of(a), a->texel }
                      : (struct side){ p->ptr, p->pitch, p->pitch * p->ysize, 1 };
    s.p += at->z * s.slice + at->y * s.pitch + at->x * s.unit;
    return s;
}

/* With an array, widths count its elements. */
cudaError_t copy3d_op(struct op *op, const struct cudaMemcpy3DParms *p);
cudaError_t copy3d_op(struct op *op, const struct cudaMemcpy3DParms *p)
{
    if (!p || (!p->srcArray && !p->srcPtr.ptr) || (!p->dstArray && !p->dstPtr.ptr))
        return cudaErrorInvalidValue;
    struct side from = side_of(p->srcArray, &p->srcPtr, &p->srcPos),
                to = side_of(p->dstArray, &p->dstPtr, &p->dstPos);
    size_t unit = p->srcArray ? from.unit : to.unit;
    *op = (struct op){ .kind = OP_COPY,
                       .copy = { .to = to.p,
                                 .from = from.p,
                                 .to_pitch = to.pitch,
                                 .from_pitch = from.pitch,
                                 .to_slice = to.slice,
                                 .from_slice = from.slice,
                                 .width = p->extent.width * unit,
                                 .height = p->extent.height,
                                 .depth = p->extent.depth } };
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t s)
{
    struct op op;
    BEGIN
    cudaError_t e = copy3d_op(&op, p);
    END(e ? e : op_do(&op, s));
}

EXPORT cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return cudaMemcpy3DAsync(p, NULL);
}

/* Rows of bytes between an array, from byte x of row y on, and other memory. */
static cudaError_t rows(cudaArray_const_t a, size_t x, size_t y, void *other, size_t pitch, size_t width,
                        size_t height, bool to_array, cudaStream_t s)
{
    BEGIN
    if (!a || !other || x + width > row_of(a) || y + height > at_least_one(a->extent.height))
        END(cudaErrorInvalidValue);
    char *in = (char *)a->p + y * row_of(a) + x;
    struct op op = { .kind = OP_COPY,
                     .copy = { .to = to_array ? in : other,
                               .from = to_array ? other : in,
                               .to_pitch = to_array ? row_of(a) : pitch,
                               .from_pitch = to_array ? pitch : row_of(a),
                               .width = width,
                               .height = height,
                               .depth = 1 } };
    END(op_do(&op, s));
}

EXPORT cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                            size_t pitch, size_t width, size_t height, int kind,
                                            cudaStream_t s)
{
    (void)kind;
    return rows(to, x, y, (void *)(uintptr_t)from, pitch, width, height, true, s);
}

EXPORT cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from,
                                       size_t pitch, size_t width, size_t height, int kind)
{
    return cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, NULL);
}

EXPORT cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                              size_t y, size_t width, size_t height, int kind,
                                              cudaStream_t s)
{
    (void)kind;
    return rows(from, x, y, to, pitch, width, height, false, s);
}

EXPORT cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                         size_t y, size_t width, size_t height, int kind)
{
    return cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, NULL);
}

/* Bytes that may run over the ends of rows: an array's rows lie behind one another. */
static cudaError_t flat(cudaArray_const_t a, size_t x, size_t y, void *other, size_t n, bool to_array,
                        cudaStream_t s)
{
    BEGIN
    size_t at = a ? y * row_of(a) + x : 0;
    if (!a || !other || at + n > slice_of(a))
        END(cudaErrorInvalidValue);
    char *in = (char *)a->p + at;
    struct op op = { .kind = OP_COPY,
                     .copy = { .to = to_array ? in : other,
                               .from = to_array ? other : in,
                               .to_pitch = n,
                               .from_pitch = n,
                               .width = n,
                               .height = 1,
                               .depth = 1 } };
    END(op_do(&op, s));
}

EXPORT cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t n,
                                          int kind, cudaStream_t s)
{
    (void)kind;
    return flat(to, x, y, (void *)(uintptr_t)from, n, true, s);
}

EXPORT cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t n,
                                     int kind)
{
    return cudaMemcpyToArrayAsync(to, x, y, from, n, kind, NULL);
}

EXPORT cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y,
                                            size_t n, int kind, cudaStream_t s)
{
    (void)kind;
    return flat(from, x, y, to, n, false, s);
}

EXPORT cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t n,
                                       int kind)
{
    return cudaMemcpyFromArrayAsync(to, from, x, y, n, kind, NULL);
}

/* ---- textures and surfaces ---- */
static bool put_format(struct wire_texture *w, const struct cudaChannelFormatDesc *d)
{
    w->elem_bytes = (uint8_t)(d->x / 8);
    w->elem_kind = (uint8_t)d->f;
    w->channels = (uint8_t)(1 + (d->y > 0) + (d->z > 0) + (d->w > 0));
    return w->elem_bytes == 1 || w->elem_bytes == 2 || w->elem_bytes == 4;
}

static bool put_array(struct wire_texture *w, const struct array *a)
{
    bool layered = a->flags & ARRAY_LAYERED, cube = a->flags & ARRAY_CUBE;
    w->address = (uintptr_t)a->p;
    w->pitch = row_of(a);
    w->dims[0] = (uint32_t)a->extent.width;
    w->dims[1] = (uint32_t)at_least_one(a->extent.height);
    w->dims[2] = layered || cube ? 1 : (uint32_t)at_least_one(a->extent.depth);
    w->layers = layered || cube ? (uint32_t)at_least_one(a->extent.depth) / (cube ? 6 : 1) : 1;
    w->array = layered;
    w->cube = cube;
    w->rank = !a->extent.height ? 1 : layered || cube || !a->extent.depth ? 2 : 3;
    return put_format(w, &a->desc);
}

static bool put_resource(struct wire_texture *w, const struct cudaResourceDesc *r)
{
    w->layers = w->dims[1] = w->dims[2] = 1;
    if (r->resType == ResourceArray && r->res.array)
        return put_array(w, r->res.array);
    const bool linear = r->resType == ResourceLinear;
    if (!linear && r->resType != ResourcePitch2D)
        return false;
    const struct cudaChannelFormatDesc *d = linear ? &r->res.linear.desc : &r->res.pitch2D.desc;
    size_t texel = texel_of(d);
    if (!texel)
        return false;
    w->address = (uintptr_t)(linear ? r->res.linear.devPtr : r->res.pitch2D.devPtr);
    w->rank = linear ? 1 : 2;
    w->dims[0] = (uint32_t)(linear ? r->res.linear.sizeInBytes / texel : r->res.pitch2D.width);
    w->dims[1] = linear ? 1 : (uint32_t)r->res.pitch2D.height;
    w->pitch = linear ? r->res.linear.sizeInBytes : r->res.pitch2D.pitchInBytes;
    return put_format(w, d);
}

/* CUDA counts wrap 0, clamp 1, mirror 2, border 3; the device clamp 0, border 1, wrap 2, mirror 3. */
static void put_reading(struct wire_texture *w, const struct cudaTextureDesc *t)
{
    static const uint8_t edges[] = { 2, 0, 3, 1 };
    for (int i = 0; i < 3; i++)
        w->edge[i] = edges[t->addressMode[i] & 3];
    w->linear = t->filterMode == 1;
    w->normalized = t->normalizedCoords != 0;
    w->fraction = t->readMode == 1;
}

static cudaError_t make(uint64_t *out, const struct cudaResourceDesc *r, const struct cudaTextureDesc *t)
{
    BEGIN
    struct wire_texture w = { .live = 1, .surface = !t };
    uint64_t i = 0;
    while (i < T.n && T.live[i])
        i++;
    if (!out || !r || i == HANDLES || !put_resource(&w, r))
        END(out && r && r->resType == ResourceMipmap ? cudaErrorNotSupported : cudaErrorInvalidValue);
    if (t)
        put_reading(&w, t);
    w.index = i;
    T.n += i == T.n;
    T.live[i] = true;
    T.resource[i] = *r;
    T.texture[i] = t ? *t : (struct cudaTextureDesc){ 0 };
    tell(WIRE_TEXTURE, &w, sizeof w, NULL, 0);
    *out = device()->texture_handle + i;
    END(cudaSuccess);
}

static bool handle(uint64_t h, uint64_t *i)
{
    *i = h - device()->texture_handle;
    return *i < T.n && T.live[*i];
}

static cudaError_t unmake(uint64_t h)
{
    uint64_t i;
    BEGIN
    cudaError_t e = handle(h, &i) ? drain() : cudaErrorInvalidValue;
    if (!e) {
        struct wire_texture w = { .index = i };
        T.live[i] = false;
        tell(WIRE_TEXTURE, &w, sizeof w, NULL, 0);
    }
    END(e);
}

EXPORT cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out, const struct cudaResourceDesc *r,
                                           const struct cudaTextureDesc *t, const void *view)
{
    (void)view;
    return t ? make(out, r, t) : give(cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaDestroyTextureObject(cudaTextureObject_t h)
{
    return unmake(h);
}

EXPORT cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const struct cudaResourceDesc *r)
{
    return r && r->resType == ResourceArray ? make(out, r, NULL) : give(cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t h)
{
    return unmake(h);
}

EXPORT cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *r, cudaTextureObject_t h)
{
    uint64_t i;
    BEGIN
    if (!r)
        END(cudaErrorInvalidValue);
    bool there = handle(h, &i);
    if (there)
        *r = T.resource[i];
    END(there ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *r, cudaSurfaceObject_t h)
{
    return cudaGetTextureObjectResourceDesc(r, h);
}

EXPORT cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *t, cudaTextureObject_t h)
{
    uint64_t i;
    BEGIN
    if (!t)
        END(cudaErrorInvalidValue);
    bool there = handle(h, &i);
    if (there)
        *t = T.texture[i];
    END(there ? cudaSuccess : cudaErrorInvalidValue);
}
