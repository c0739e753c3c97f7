/* Copies and sets. */
#include "engine/emulate/runtime/copy.h"
#include "engine/emulate/driver/copy.h"
#include "engine/emulate/runtime/array.h"

static void *at(CUdeviceptr p)
{
    return (void *)(uintptr_t)p;
}

/* ---- rows of one ---- */
SAME(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t n),
     cudaMemcpyAsync(at(to), at(from), n, KindDefault, NULL))
SAME(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t n, cudaStream_t s),
     cudaMemcpyAsync(at(to), at(from), n, KindDefault, s))
SAME(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t n),
     cudaMemcpyAsync(at(to), from, n, HostToDevice, NULL))
SAME(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t n, cudaStream_t s),
     cudaMemcpyAsync(at(to), from, n, HostToDevice, s))
SAME(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t n),
     cudaMemcpyAsync(to, at(from), n, DeviceToHost, NULL))
SAME(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t n, cudaStream_t s),
     cudaMemcpyAsync(to, at(from), n, DeviceToHost, s))
SAME(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t n),
     cudaMemcpyAsync(at(to), at(from), n, DeviceToDevice, NULL))
SAME(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t n, cudaStream_t s),
     cudaMemcpyAsync(at(to), at(from), n, DeviceToDevice, s))

static CUresult peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                     size_t n, cudaStream_t s)
{
    bool fine = handle_is(to_context, HANDLE_CONTEXT) && handle_is(from_context, HANDLE_CONTEXT);
    return fine ? cudaMemcpyAsync(at(to), at(from), n, DeviceToDevice, s) : CUDA_ERROR_INVALID_CONTEXT;
}

SAME(cuMemcpyPeer, (CUdeviceptr to, CUcontext tc, CUdeviceptr from, CUcontext fc, size_t n),
     peer(to, tc, from, fc, n, NULL))
SAME(cuMemcpyPeerAsync,
     (CUdeviceptr to, CUcontext tc, CUdeviceptr from, CUcontext fc, size_t n, cudaStream_t s),
     peer(to, tc, from, fc, n, s))

/* ---- rows and slices ---- */
enum { MEMORY_HOST = 1, MEMORY_DEVICE, MEMORY_ARRAY, MEMORY_UNIFIED };

static CUresult side_of(struct copy_side *out, const struct side_given *g, size_t width, size_t height,
                        size_t depth)
{
    size_t row, rows = g->height ? g->height : height;
    bool one = height <= 1 && depth <= 1;
    char *p = g->type == MEMORY_HOST ? (char *)(uintptr_t)g->host : at(g->device);
    if (g->type == MEMORY_ARRAY) {
        const struct cudaPos from = { g->x, g->y, g->z };
        const struct cudaExtent box = { width, height, depth };
        if (!is_array(g->array))
            return CUDA_ERROR_INVALID_HANDLE;
        return array_side(out, g->array, &from, &box) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    if (g->type < MEMORY_HOST || g->type > MEMORY_UNIFIED || !p)
        return CUDA_ERROR_INVALID_VALUE;
    if (__builtin_add_overflow(width, g->x, &row) || (row > g->pitch && !(one && !g->pitch)))
        return CUDA_ERROR_INVALID_VALUE;
    size_t pitch = g->pitch ? g->pitch : row, slice, up, over;
    if (__builtin_mul_overflow(pitch, rows, &slice) || __builtin_mul_overflow(slice, g->z, &up) ||
        __builtin_mul_overflow(pitch, g->y, &over))
        return CUDA_ERROR_INVALID_VALUE;
    *out = (struct copy_side){ p + up + over + g->x, pitch, slice };
    bool known = block_at(out->p) || is_variable(out->p);
    return g->type == MEMORY_DEVICE && !known ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult copy_op(struct op *op, const struct copy_given *c)
{
    struct copy_side from = { 0 }, to = { 0 };
    *op = (struct op){ .kind = OP_EMPTY };
    if (!c->width || !c->height || !c->depth)
        return CUDA_SUCCESS;
    CUresult e = side_of(&from, &c->from, c->width, c->height, c->depth);
    e = e ? e : side_of(&to, &c->to, c->width, c->height, c->depth);
    if (e)
        return e;
    *op = op_between(to, from, c->width, c->height, c->depth);
    return CUDA_SUCCESS;
}

static CUresult copy(const struct copy_given *c, cudaStream_t s)
{
    struct op op;
    CUresult e = copy_op(&op, c);
    return e ? e : op_do(&op, s);
}

/* As cuda.h has it. */
struct memcpy2d {
    struct {
        size_t x, y;
        int type;
        const void *host;
        CUdeviceptr device;
        cudaArray_t array;
        size_t pitch;
    } from, to;
    size_t width, height;
};

static CUresult copy2d(const struct memcpy2d *c, cudaStream_t s)
{
    if (!c)
        return CUDA_ERROR_INVALID_VALUE;
#define SIDE(g)                                                                                   \
    {                                                                                             \
        .x = g.x, .y = g.y, .type = g.type, .host = g.host, .device = g.device, .array = g.array, \
        .pitch = g.pitch                                                                          \
    }
    const struct copy_given given = { SIDE(c->from), SIDE(c->to), c->width, c->height, 1 };
    return copy(&given, s);
}

SAME(cuMemcpy2D_v2, (const struct memcpy2d *c), copy2d(c, NULL))
SAME(cuMemcpy2DUnaligned_v2, (const struct memcpy2d *c), copy2d(c, NULL))
SAME(cuMemcpy2DAsync_v2, (const struct memcpy2d *c, cudaStream_t s), copy2d(c, s))

CUresult copy3d_given(const struct memcpy3d *c, struct copy_given *out)
{
    if (!c || c->from.lod || c->to.lod)
        return CUDA_ERROR_INVALID_VALUE;
#define SIDE3(g)          \
    { .x = g.x,           \
      .y = g.y,           \
      .z = g.z,           \
      .type = g.type,     \
      .host = g.host,     \
      .device = g.device, \
      .array = g.array,   \
      .pitch = g.pitch,   \
      .height = g.height }
    *out = (struct copy_given){ SIDE3(c->from), SIDE3(c->to), c->width, c->height, c->depth };
    return CUDA_SUCCESS;
}

static CUresult copy3d(const struct memcpy3d *c, cudaStream_t s)
{
    struct copy_given given;
    CUresult e = copy3d_given(c, &given);
    return e ? e : copy(&given, s);
}

SAME(cuMemcpy3D_v2, (const struct memcpy3d *c), copy3d(c, NULL))
SAME(cuMemcpy3DAsync_v2, (const struct memcpy3d *c, cudaStream_t s), copy3d(c, s))

/* The same between contexts, of which there is one device. */
static CUresult copy3d_peer(const struct memcpy3d *c, cudaStream_t s)
{
    if (c && !(handle_is(c->from.context, HANDLE_CONTEXT) && handle_is(c->to.context, HANDLE_CONTEXT)))
        return CUDA_ERROR_INVALID_CONTEXT;
    return copy3d(c, s);
}

SAME(cuMemcpy3DPeer, (const struct memcpy3d *c), copy3d_peer(c, NULL))
SAME(cuMemcpy3DPeerAsync, (const struct memcpy3d *c, cudaStream_t s), copy3d_peer(c, s))

/* ---- bytes of an array's first row ---- */
static char *array_row(cudaArray_const_t a, size_t at, size_t n)
{
    const struct cudaPos from = { .x = at };
    const struct cudaExtent one = { n, 1, 1 };
    struct copy_side s;
    return array_side(&s, a, &from, &one) ? (char *)s.p : NULL;
}

static CUresult array_copy(cudaArray_const_t a, size_t at, void *other, size_t n, bool to_array,
                           cudaStream_t s)
{
    if (!is_array(a))
        return CUDA_ERROR_INVALID_HANDLE;
    char *in = array_row(a, at, n);
    if (!in || !other)
        return CUDA_ERROR_INVALID_VALUE;
    return to_array ? cudaMemcpyAsync(in, other, n, KindDefault, s)
                    : cudaMemcpyAsync(other, in, n, KindDefault, s);
}

static CUresult between_arrays(cudaArray_const_t to, size_t to_at, cudaArray_const_t from,
                               size_t from_at, size_t n)
{
    if (!is_array(from))
        return CUDA_ERROR_INVALID_HANDLE;
    return array_copy(to, to_at, array_row(from, from_at, n), n, true, NULL);
}

static void *mine(const void *p)
{
    return (void *)(uintptr_t)p;
}

SAME(cuMemcpyHtoA_v2, (cudaArray_t to, size_t x, const void *from, size_t n),
     array_copy(to, x, mine(from), n, true, NULL))
SAME(cuMemcpyHtoAAsync_v2, (cudaArray_t to, size_t x, const void *from, size_t n, cudaStream_t s),
     array_copy(to, x, mine(from), n, true, s))
SAME(cuMemcpyAtoH_v2, (void *to, cudaArray_t from, size_t x, size_t n),
     array_copy(from, x, to, n, false, NULL))
SAME(cuMemcpyAtoHAsync_v2, (void *to, cudaArray_t from, size_t x, size_t n, cudaStream_t s),
     array_copy(from, x, to, n, false, s))
SAME(cuMemcpyDtoA_v2, (cudaArray_t to, size_t x, CUdeviceptr from, size_t n),
     array_copy(to, x, at(from), n, true, NULL))
SAME(cuMemcpyAtoD_v2, (CUdeviceptr to, cudaArray_t from, size_t x, size_t n),
     array_copy(from, x, at(to), n, false, NULL))
SAME(cuMemcpyAtoA_v2, (cudaArray_t to, size_t x, cudaArray_t from, size_t from_x, size_t n),
     between_arrays(to, x, from, from_x, n))

/* ---- sets ---- */
static CUresult set(CUdeviceptr to, size_t pitch, unsigned value, unsigned size, size_t width,
                    size_t height, cudaStream_t s)
{
    struct op op = { .kind = OP_SET,
                     .set = { .to = at(to),
                              .pitch = pitch,
                              .value = value,
                              .size = size,
                              .width = width,
                              .height = height,
                              .depth = 1 } };
    size_t row;
    if (to % size || pitch % size || __builtin_mul_overflow(width, (size_t)size, &row) ||
        (height > 1 && pitch < row))
        return CUDA_ERROR_INVALID_VALUE;
    return width && height ? op_do(&op, s) : CUDA_SUCCESS;
}

#define SETS(bits, type)                                                                     \
    SAME(cuMemsetD##bits##_v2, (CUdeviceptr to, type v, size_t n),                           \
         set(to, 0, v, sizeof(type), n, 1, NULL))                                            \
    SAME(cuMemsetD##bits##Async, (CUdeviceptr to, type v, size_t n, cudaStream_t s),         \
         set(to, 0, v, sizeof(type), n, 1, s))                                               \
    SAME(cuMemsetD2D##bits##_v2, (CUdeviceptr to, size_t pitch, type v, size_t w, size_t h), \
         set(to, pitch, v, sizeof(type), w, h, NULL))                                        \
    SAME(cuMemsetD2D##bits##Async,                                                           \
         (CUdeviceptr to, size_t pitch, type v, size_t w, size_t h, cudaStream_t s),         \
         set(to, pitch, v, sizeof(type), w, h, s))
SETS(8, uint8_t)
SETS(16, uint16_t)
SETS(32, uint32_t)
