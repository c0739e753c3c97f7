/* Arrays, textures and surfaces: the runtime's, in the driver's words. */
#include "engine/emulate/runtime/array.h"
#include "engine/emulate/driver/driver.h"

#include <string.h>

enum { READ_AS_INTEGER = 1, NORMALIZED = 2, SRGB = 16 };
enum { SIGNED, UNSIGNED, FLOAT };
static const struct {
    int number, bits, kind;
} formats[] = {
    { 0x01, 8, UNSIGNED }, { 0x02, 16, UNSIGNED }, { 0x03, 32, UNSIGNED }, { 0x08, 8, SIGNED },
    { 0x09, 16, SIGNED },  { 0x0a, 32, SIGNED },   { 0x10, 16, FLOAT },    { 0x20, 32, FLOAT },
};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool channels_of(struct cudaChannelFormatDesc *out, int format, unsigned n)
{
    if (n != 1 && n != 2 && n != 4)
        return false;
    for (int i = 0; i < FORMATS; i++)
        if (formats[i].number == format) {
            int b = formats[i].bits;
            *out = (struct cudaChannelFormatDesc){ b, n > 1 ? b : 0, n > 2 ? b : 0, n > 2 ? b : 0,
                                                   formats[i].kind };
            return true;
        }
    return false;
}

static int format_of(const struct cudaChannelFormatDesc *d, unsigned *n)
{
    *n = 1u + (d->y > 0) + (d->z > 0) + (d->w > 0);
    for (int i = 0; i < FORMATS; i++)
        if (formats[i].bits == d->x && formats[i].kind == d->f)
            return formats[i].number;
    return 0;
}

/* ---- arrays, described as cuda.h does ---- */
struct array2d {
    size_t width, height;
    int format;
    unsigned channels;
};
struct array3d {
    size_t width;
    size_t height;
    size_t depth;
    int format;
    unsigned channels;
    unsigned flags;
};

static CUresult create(cudaArray_t *out, const struct array3d *d)
{
    struct cudaChannelFormatDesc c;
    if (!out || !d || !channels_of(&c, d->format, d->channels))
        return CUDA_ERROR_INVALID_VALUE;
    return array_make(out, &c, &(struct cudaExtent){ d->width, d->height, d->depth }, d->flags);
}

static CUresult create2d(cudaArray_t *out, const struct array2d *d)
{
    if (!d)
        return CUDA_ERROR_INVALID_VALUE;
    return create(out, &(struct array3d){ d->width, d->height, 0, d->format, d->channels, 0 });
}

static CUresult describe(struct array3d *out, cudaArray_t a)
{
    if (!out || !is_array(a))
        return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    *out = (struct array3d){
        .width = a->extent.width, .height = a->extent.height, .depth = a->extent.depth, .flags = a->flags
    };
    out->format = format_of(&a->desc, &out->channels);
    return CUDA_SUCCESS;
}

static CUresult describe2d(struct array2d *out, cudaArray_t a)
{
    struct array3d d;
    CUresult e = out ? describe(&d, a) : CUDA_ERROR_INVALID_VALUE;
    if (!e)
        *out = (struct array2d){ d.width, d.height, d.format, d.channels };
    return e;
}

SAME(cuArrayCreate_v2, (cudaArray_t * out, const struct array2d *d), create2d(out, d))
SAME(cuArray3DCreate_v2, (cudaArray_t * out, const struct array3d *d), create(out, d))
SAME(cuArrayDestroy, (cudaArray_t a), is_array(a) ? array_free(a) : CUDA_ERROR_INVALID_HANDLE)
SAME(cuArrayGetDescriptor_v2, (struct array2d * out, cudaArray_t a), describe2d(out, a))
SAME(cuArray3DGetDescriptor_v2, (struct array3d * out, cudaArray_t a), describe(out, a))

/* ---- textures and surfaces ---- */
struct resource {
    int type; /* as the runtime counts */
    union {
        cudaArray_t array;
        struct {
            CUdeviceptr p;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            CUdeviceptr p;
            int format;
            unsigned channels;
            size_t width;
            size_t height;
            size_t pitch;
        } pitch2d;
        int reserved[32];
    } of;
    unsigned flags;
};
struct reading {
    int edge[3];
    int filter;
    unsigned flags;
    unsigned anisotropy;
    int mip_filter;
    float mip_bias;
    float mip_least;
    float mip_most;
    float border[4];
    int reserved[12];
};

static void *at(CUdeviceptr p)
{
    return (void *)(uintptr_t)p;
}

static CUresult resource_of(struct cudaResourceDesc *out, const struct resource *r)
{
    *out = (struct cudaResourceDesc){ .resType = r->type };
    switch (r->type) {
    case ResourceArray:
        out->res.array = r->of.array;
        return is_array(r->of.array) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    case ResourceLinear:
        out->res.linear.devPtr = at(r->of.linear.p);
        out->res.linear.sizeInBytes = r->of.linear.bytes;
        return channels_of(&out->res.linear.desc, r->of.linear.format, r->of.linear.channels)
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    case ResourcePitch2D:
        out->res.pitch2D.devPtr = at(r->of.pitch2d.p);
        out->res.pitch2D.width = r->of.pitch2d.width;
        out->res.pitch2D.height = r->of.pitch2d.height;
        out->res.pitch2D.pitchInBytes = r->of.pitch2d.pitch;
        return channels_of(&out->res.pitch2D.desc, r->of.pitch2d.format, r->of.pitch2d.channels)
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    case ResourceMipmap: return driver_lacks("cuTexObjectCreate of a mipmapped array");
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static void put_resource(struct resource *out, const struct cudaResourceDesc *r)
{
    *out = (struct resource){ .type = r->resType };
    if (r->resType == ResourceArray) {
        out->of.array = r->res.array;
    } else if (r->resType == ResourceLinear) {
        out->of.linear.p = (uintptr_t)r->res.linear.devPtr;
        out->of.linear.bytes = r->res.linear.sizeInBytes;
        out->of.linear.format = format_of(&r->res.linear.desc, &out->of.linear.channels);
    } else {
        out->of.pitch2d.p = (uintptr_t)r->res.pitch2D.devPtr;
        out->of.pitch2d.width = r->res.pitch2D.width;
        out->of.pitch2d.height = r->res.pitch2D.height;
        out->of.pitch2d.pitch = r->res.pitch2D.pitchInBytes;
        out->of.pitch2d.format = format_of(&r->res.pitch2D.desc, &out->of.pitch2d.channels);
    }
}

static const struct cudaChannelFormatDesc *texels(const struct cudaResourceDesc *r)
{
    return r->resType == ResourceArray    ? &r->res.array->desc
           : r->resType == ResourceLinear ? &r->res.linear.desc
                                          : &r->res.pitch2D.desc;
}

/* Integers of up to 16 bits are read as fractions, unless it is said that they are not. */
static struct cudaTextureDesc reading_of(const struct reading *t, const struct cudaResourceDesc *r)
{
    const struct cudaChannelFormatDesc *d = texels(r);
    bool fraction = !(t->flags & READ_AS_INTEGER) && d->f != FLOAT && d->x <= 16;
    struct cudaTextureDesc out = { .filterMode = t->filter,
                                   .readMode = fraction,
                                   .sRGB = (t->flags & SRGB) != 0,
                                   .normalizedCoords = (t->flags & NORMALIZED) != 0,
                                   .maxAnisotropy = t->anisotropy,
                                   .mipmapFilterMode = t->mip_filter,
                                   .mipmapLevelBias = t->mip_bias,
                                   .minMipmapLevelClamp = t->mip_least,
                                   .maxMipmapLevelClamp = t->mip_most };
    memcpy(out.addressMode, t->edge, sizeof out.addressMode);
    memcpy(out.borderColor, t->border, sizeof out.borderColor);
    return out;
}

static bool is_reading(const struct reading *t)
{
    bool fine = t && t->filter >= 0 && t->filter <= 1;
    for (int i = 0; i < 3 && fine; i++)
        fine = t->edge[i] >= 0 && t->edge[i] <= 3;
    return fine;
}

static CUresult texture(uint64_t *out, const struct resource *r, const struct reading *t)
{
    struct cudaResourceDesc of;
    if (!out || !r || !is_reading(t))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = resource_of(&of, r);
    if (e)
        return e;
    struct cudaTextureDesc how = reading_of(t, &of);
    return texture_make(out, &of, &how);
}

/* What a view would change is not there. */
SAME(cuTexObjectCreate,
     (uint64_t * out, const struct resource *r, const struct reading *t, const void *view),
     view ? driver_lacks("cuTexObjectCreate with a view") : texture(out, r, t))
SAME(cuTexObjectDestroy, (uint64_t h), texture_end(h))

static CUresult surface(uint64_t *out, const struct resource *r)
{
    struct cudaResourceDesc of;
    if (!out || !r || r->type != ResourceArray)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = resource_of(&of, r);
    bool made_for = !e && of.res.array->flags & ARRAY_SURFACE;
    return e ? e : made_for ? texture_make(out, &of, NULL) : CUDA_ERROR_INVALID_VALUE;
}

SAME(cuSurfObjectCreate, (uint64_t * out, const struct resource *r), surface(out, r))
SAME(cuSurfObjectDestroy, (uint64_t h), texture_end(h))

static CUresult get_resource(struct resource *out, uint64_t h)
{
    const struct cudaResourceDesc *r = out ? texture_resource(h) : NULL;
    if (r)
        put_resource(out, r);
    return r ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SAME(cuTexObjectGetResourceDesc, (struct resource * out, uint64_t h), get_resource(out, h))
SAME(cuSurfObjectGetResourceDesc, (struct resource * out, uint64_t h), get_resource(out, h))

static CUresult get_reading(struct reading *out, uint64_t h)
{
    const struct cudaTextureDesc *t = out ? texture_reading(h) : NULL;
    if (!t)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (struct reading){ .filter = t->filterMode,
                             .flags = (t->readMode ? 0u : READ_AS_INTEGER) |
                                      (t->normalizedCoords ? NORMALIZED : 0u) | (t->sRGB ? SRGB : 0u),
                             .anisotropy = t->maxAnisotropy,
                             .mip_filter = t->mipmapFilterMode,
                             .mip_bias = t->mipmapLevelBias,
                             .mip_least = t->minMipmapLevelClamp,
                             .mip_most = t->maxMipmapLevelClamp };
    memcpy(out->edge, t->addressMode, sizeof out->edge);
    memcpy(out->border, t->borderColor, sizeof out->border);
    return CUDA_SUCCESS;
}

SAME(cuTexObjectGetTextureDesc, (struct reading * out, uint64_t h), get_reading(out, h))
