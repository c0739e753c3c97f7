/* Arrays, which lie in rows like other memory; textures and surfaces, whose handles the device is told. */
#include "engine/emulate/runtime/array.h"
#include "engine/emulate/runtime/context.h"

#include <stdlib.h>

#define HANDLES 65536u
static struct {
    uint64_t n;
    bool live[HANDLES];
    const struct context *owner[HANDLES];
    struct cudaResourceDesc resource[HANDLES];
    struct cudaTextureDesc texture[HANDLES];
} T;
static struct array *arrays; /* all that there are */

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

EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int f)
{
    return (struct cudaChannelFormatDesc){ x, y, z, w, f };
}

/* ---- arrays ---- */
static size_t texel_of(const struct cudaChannelFormatDesc *d)
{
    return (size_t)(d->x + d->y + d->z + d->w) / 8;
}

/* One, two or four elements of one size. */
static bool is_channels(const struct cudaChannelFormatDesc *d)
{
    const int c[] = { d->x, d->y, d->z, d->w };
    bool fine = d->x == 8 || d->x == 16 || d->x == 32;
    int n = 1;
    for (int i = 1; i < 4 && fine; i++) {
        fine = !c[i] || (c[i] == d->x && c[i - 1]);
        n += c[i] != 0;
    }
    return fine && n != 3 && d->f >= 0 && d->f <= 2;
}

static bool is_extent(const struct cudaExtent *e, unsigned flags)
{
    enum { ROW = 131072, ROWS = 65536, LAYERS = 2048, CUBE = 6 };
    bool layers = flags & (ARRAY_LAYERED | ARRAY_CUBE);
    bool cube = !(flags & ARRAY_CUBE) || (e->width == e->height && e->depth && e->depth % CUBE == 0);
    return e->width && e->width <= ROW && e->height <= ROWS &&
           e->depth <= (layers ? CUBE * (size_t)LAYERS : ROWS) && cube &&
           (e->height || !e->depth || layers);
}

cudaError_t array_make(cudaArray_t *out, const struct cudaChannelFormatDesc *d,
                       const struct cudaExtent *e, unsigned flags)
{
    if (!is_channels(d))
        return cudaErrorInvalidChannelDescriptor;
    if (!is_extent(e, flags))
        return cudaErrorInvalidValue;
    struct array *a = calloc(1, sizeof *a);
    if (!a)
        return cudaErrorMemoryAllocation;
    *a = (struct array){ .desc = *d,
                         .extent = *e,
                         .flags = flags,
                         .texel = texel_of(d),
                         .owner = context_now(),
                         .next = arrays };
    cudaError_t err = memory_take(slice_of(a) * at_least_one(e->depth), BLOCK_DEVICE, &a->p);
    if (!err && !handle_add(a, HANDLE_ARRAY)) {
        memory_give(a->p, false);
        err = cudaErrorMemoryAllocation;
    }
    if (err) {
        free(a);
        return err;
    }
    *out = arrays = a;
    return cudaSuccess;
}

bool is_array(cudaArray_const_t a)
{
    return handle_is(a, HANDLE_ARRAY);
}

cudaError_t array_free(cudaArray_t a)
{
    cudaError_t e = drain();
    e = e ? e : memory_give(a->p, false);
    if (e)
        return e;
    struct array **at = &arrays;
    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    handle_drop(a);
    free(a);
    return cudaSuccess;
}

static void end_texture(uint64_t i)
{
    struct wire_texture w = { .index = i };
    T.live[i] = false;
    tell(WIRE_TEXTURE, &w, sizeof w, NULL, 0);
}

void arrays_forget(const struct context *c)
{
    for (uint64_t i = 0; i < T.n; i++)
        if (T.live[i] && T.owner[i] == c)
            end_texture(i);
    for (struct array *a = arrays, *next; a; a = next) {
        next = a->next;
        if (a->owner == c)
            array_free(a);
    }
}

LOCKED(cudaMalloc3DArray,
       (cudaArray_t * out, const struct cudaChannelFormatDesc *d, struct cudaExtent e, unsigned flags),
       out &&d ? array_make(out, d, &e, flags) : cudaErrorInvalidValue)

EXPORT cudaError_t cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *d, size_t width,
                                   size_t height, unsigned flags)
{
    return cudaMalloc3DArray(out, d, (struct cudaExtent){ width, height, 0 }, flags);
}

LOCKED(cudaFreeArray, (cudaArray_t a),
       !a            ? cudaSuccess
       : is_array(a) ? array_free(a)
                     : cudaErrorInvalidResourceHandle)

EXPORT cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *d, struct cudaExtent *e,
                                    unsigned *flags, cudaArray_t a)
{
    BEGIN
    if (!is_array(a))
        END(cudaErrorInvalidResourceHandle);
    if (d)
        *d = a->desc;
    if (e)
        *e = a->extent;
    if (flags)
        *flags = a->flags;
    END(cudaSuccess);
}

LOCKED(cudaGetChannelDesc, (struct cudaChannelFormatDesc * d, cudaArray_const_t a),
       WHERE(d &&is_array(a), *d = a->desc))

/* ---- copies with arrays ---- */
struct side {
    struct copy_side at;
    size_t unit; /* bytes of what positions and widths count */
};

static struct side side_of(cudaArray_t a, const struct cudaPitchedPtr *p, const struct cudaPos *at)
{
    struct side s = a ? (struct side){ { a->p, row_of(a), slice_of(a) }, a->texel }
                      : (struct side){ { p->ptr, p->pitch, p->pitch * p->ysize }, 1 };
    s.at.p += at->z * s.at.slice + at->y * s.at.pitch + at->x * s.unit;
    return s;
}

static bool fits(size_t at, size_t n, size_t room)
{
    return at <= room && n <= room - at;
}

bool array_side(struct copy_side *out, cudaArray_const_t a, const struct cudaPos *at,
                const struct cudaExtent *e)
{
    if (!fits(at->x, e->width, row_of(a)) || !fits(at->y, e->height, at_least_one(a->extent.height)) ||
        !fits(at->z, e->depth, at_least_one(a->extent.depth)))
        return false;
    char *p = (char *)a->p + at->z * slice_of(a) + at->y * row_of(a) + at->x;
    *out = (struct copy_side){ p, row_of(a), slice_of(a) };
    return true;
}

char *array_bytes(cudaArray_const_t a, size_t at, size_t n)
{
    return fits(at, n, slice_of(a)) ? (char *)a->p + at : NULL;
}

static bool box_fits(cudaArray_t a, const struct cudaPos *at, const struct cudaExtent *e)
{
    return !a || (is_array(a) && fits(at->x, e->width, a->extent.width) &&
                  fits(at->y, e->height, at_least_one(a->extent.height)) &&
                  fits(at->z, e->depth, at_least_one(a->extent.depth)));
}

/* With an array, widths count its elements. */
cudaError_t copy3d_op(struct op *op, const struct cudaMemcpy3DParms *p)
{
    if (!p || (!p->srcArray && !p->srcPtr.ptr) || (!p->dstArray && !p->dstPtr.ptr) ||
        !box_fits(p->srcArray, &p->srcPos, &p->extent) || !box_fits(p->dstArray, &p->dstPos, &p->extent))
        return cudaErrorInvalidValue;
    struct side from = side_of(p->srcArray, &p->srcPtr, &p->srcPos),
                to = side_of(p->dstArray, &p->dstPtr, &p->dstPos);
    size_t unit = p->srcArray ? from.unit : to.unit;
    *op = op_between(to.at, from.at, p->extent.width * unit, p->extent.height, p->extent.depth);
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t s)
{
    struct op op;
    BEGIN
    cudaError_t e = copy3d_op(&op, p);
    END(e ? e : op_do(&op, s));
}

PLAIN(cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), cudaMemcpy3DAsync(p, NULL))

/* The same between two arrays, told apart by their devices, of which there is one. */
struct cudaMemcpy3DPeerParms {
    cudaArray_t srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    int srcDevice;
    cudaArray_t dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    int dstDevice;
    struct cudaExtent extent;
};
EXPORT cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t s)
{
    if (!p || p->srcDevice || p->dstDevice)
        return give(p ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    const struct cudaMemcpy3DParms q = { p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                         p->dstPos,   p->dstPtr, p->extent, DeviceToDevice };
    return cudaMemcpy3DAsync(&q, s);
}

PLAIN(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *p), cudaMemcpy3DPeerAsync(p, NULL))

static bool rows_fit(cudaArray_const_t a, size_t x, size_t y, size_t width, size_t height)
{
    return is_array(a) && fits(x, width, row_of(a)) && fits(y, height, at_least_one(a->extent.height));
}

/* Rows of bytes between an array, from byte x of row y on, and other memory. */
static cudaError_t rows(cudaArray_const_t a, size_t x, size_t y, void *other, size_t pitch, size_t width,
                        size_t height, bool to_array, cudaStream_t s)
{
    BEGIN
    if (!other || !rows_fit(a, x, y, width, height))
        END(cudaErrorInvalidValue);
    char *in = (char *)a->p + y * row_of(a) + x;
    struct op op = to_array ? op_rows(in, row_of(a), other, pitch, width, height)
                            : op_rows(other, pitch, in, row_of(a), width, height);
    END(op_do(&op, s));
}

PLAIN(cudaMemcpy2DToArrayAsync,
      (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
       int kind, cudaStream_t s),
      ((void)kind, rows(to, x, y, (void *)(uintptr_t)from, pitch, width, height, true, s)))
PLAIN(cudaMemcpy2DToArray,
      (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
       int kind),
      cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, NULL))
PLAIN(cudaMemcpy2DFromArrayAsync,
      (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
       int kind, cudaStream_t s),
      ((void)kind, rows(from, x, y, to, pitch, width, height, false, s)))
PLAIN(cudaMemcpy2DFromArray,
      (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
       int kind),
      cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, NULL))

EXPORT cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from,
                                            size_t from_x, size_t from_y, size_t width, size_t height,
                                            int kind)
{
    (void)kind;
    BEGIN
    char *p = NULL;
    size_t pitch = 0;
    if (rows_fit(from, from_x, from_y, width, height)) {
        pitch = row_of(from);
        p = (char *)from->p + from_y * pitch + from_x;
    }
    runtime_leave();
    return rows(to, x, y, p, pitch, width, height, true, NULL);
}

/* n bytes from byte x of row y on, which may run over the ends of rows; NULL: they are not all there. */
static char *array_from(cudaArray_const_t a, size_t x, size_t y, size_t n)
{
    size_t at;
    bool fine =
        is_array(a) && !__builtin_mul_overflow(y, row_of(a), &at) && !__builtin_add_overflow(at, x, &at);
    return fine ? array_bytes(a, at, n) : NULL;
}

static cudaError_t flat(cudaArray_const_t a, size_t x, size_t y, void *other, size_t n, bool to_array,
                        cudaStream_t s)
{
    BEGIN
    char *in = array_from(a, x, y, n);
    if (!in || !other)
        END(cudaErrorInvalidValue);
    struct op op = to_array ? op_rows(in, n, other, n, n, 1) : op_rows(other, n, in, n, n, 1);
    END(op_do(&op, s));
}

PLAIN(cudaMemcpyToArrayAsync,
      (cudaArray_t to, size_t x, size_t y, const void *from, size_t n, int kind, cudaStream_t s),
      ((void)kind, flat(to, x, y, (void *)(uintptr_t)from, n, true, s)))
PLAIN(cudaMemcpyToArray, (cudaArray_t to, size_t x, size_t y, const void *from, size_t n, int kind),
      cudaMemcpyToArrayAsync(to, x, y, from, n, kind, NULL))
PLAIN(cudaMemcpyFromArrayAsync,
      (void *to, cudaArray_const_t from, size_t x, size_t y, size_t n, int kind, cudaStream_t s),
      ((void)kind, flat(from, x, y, to, n, false, s)))
PLAIN(cudaMemcpyFromArray, (void *to, cudaArray_const_t from, size_t x, size_t y, size_t n, int kind),
      cudaMemcpyFromArrayAsync(to, from, x, y, n, kind, NULL))

EXPORT cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t x, size_t y, cudaArray_const_t from,
                                          size_t from_x, size_t from_y, size_t n, int kind)
{
    (void)kind;
    BEGIN
    char *p = array_from(from, from_x, from_y, n);
    runtime_leave();
    return flat(to, x, y, p, n, true, NULL);
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

/* All of it is there, and small enough. */
static bool is_memory(const struct cudaResourceDesc *r)
{
    const bool linear = r->resType == ResourceLinear;
    const size_t most = (size_t)1 << 27, height = linear ? 1 : r->res.pitch2D.height;
    const char *p = linear ? r->res.linear.devPtr : r->res.pitch2D.devPtr;
    size_t pitch = linear ? r->res.linear.sizeInBytes : r->res.pitch2D.pitchInBytes, n;
    if (!height || height > most || (!linear && r->res.pitch2D.width > most) ||
        __builtin_mul_overflow(pitch, height - 1, &n))
        return false;
    size_t row = linear ? pitch : r->res.pitch2D.width * texel_of(&r->res.pitch2D.desc);
    return row && row <= pitch && !__builtin_add_overflow(n, row, &n) && is_inside(p, n);
}

static bool put_resource(struct wire_texture *w, const struct cudaResourceDesc *r)
{
    w->layers = w->dims[1] = w->dims[2] = 1;
    if (r->resType == ResourceArray && is_array(r->res.array))
        return put_array(w, r->res.array);
    const bool linear = r->resType == ResourceLinear;
    if (!linear && r->resType != ResourcePitch2D)
        return false;
    const struct cudaChannelFormatDesc *d = linear ? &r->res.linear.desc : &r->res.pitch2D.desc;
    size_t texel = is_channels(d) ? texel_of(d) : 0;
    if (!texel || !is_memory(r))
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

cudaError_t texture_make(uint64_t *out, const struct cudaResourceDesc *r,
                         const struct cudaTextureDesc *t)
{
    struct wire_texture w = { .live = 1, .surface = !t };
    uint64_t i = 0;
    while (i < T.n && T.live[i])
        i++;
    if (!out || !r || i == HANDLES || !put_resource(&w, r))
        return out && r && r->resType == ResourceMipmap ? cudaErrorNotSupported : cudaErrorInvalidValue;
    if (t)
        put_reading(&w, t);
    w.index = i;
    T.n += i == T.n;
    T.live[i] = true;
    T.owner[i] = context_now();
    T.resource[i] = *r;
    T.texture[i] = t ? *t : (struct cudaTextureDesc){ 0 };
    tell(WIRE_TEXTURE, &w, sizeof w, NULL, 0);
    *out = device()->texture_handle + i;
    return cudaSuccess;
}

static bool handle(uint64_t h, uint64_t *i)
{
    *i = h - device()->texture_handle;
    return *i < T.n && T.live[*i];
}

cudaError_t texture_end(uint64_t h)
{
    uint64_t i;
    cudaError_t e = handle(h, &i) ? drain() : cudaErrorInvalidValue;
    if (!e)
        end_texture(i);
    return e;
}

const struct cudaResourceDesc *texture_resource(uint64_t h)
{
    uint64_t i;
    return handle(h, &i) ? &T.resource[i] : NULL;
}

const struct cudaTextureDesc *texture_reading(uint64_t h)
{
    uint64_t i;
    return handle(h, &i) ? &T.texture[i] : NULL;
}

/* What a view would change is not there. */
EXPORT cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out, const struct cudaResourceDesc *r,
                                           const struct cudaTextureDesc *t, const void *view)
{
    BEGIN
    if (view) {
        missing("cudaCreateTextureObject with a view");
        END(cudaErrorNotSupported);
    }
    END(t ? texture_make(out, r, t) : cudaErrorInvalidValue);
}

LOCKED(cudaDestroyTextureObject, (cudaTextureObject_t h), texture_end(h))
LOCKED(cudaCreateSurfaceObject, (cudaSurfaceObject_t * out, const struct cudaResourceDesc *r),
       r && r->resType == ResourceArray ? texture_make(out, r, NULL) : cudaErrorInvalidValue)
LOCKED(cudaDestroySurfaceObject, (cudaSurfaceObject_t h), texture_end(h))

EXPORT cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *r, cudaTextureObject_t h)
{
    BEGIN
    const struct cudaResourceDesc *of = r ? texture_resource(h) : NULL;
    if (of)
        *r = *of;
    END(of ? cudaSuccess : cudaErrorInvalidValue);
}

PLAIN(cudaGetSurfaceObjectResourceDesc, (struct cudaResourceDesc * r, cudaSurfaceObject_t h),
      cudaGetTextureObjectResourceDesc(r, h))

EXPORT cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *t, cudaTextureObject_t h)
{
    BEGIN
    const struct cudaTextureDesc *of = t ? texture_reading(h) : NULL;
    if (of)
        *t = *of;
    END(of ? cudaSuccess : cudaErrorInvalidValue);
}
