/* Copies and sets, in one, two and three dimensions, as operations. */
#include "engine/emulate/runtime/copy.h"

/* ---- copies ---- */
struct op op_between(struct copy_side to, struct copy_side from, size_t width, size_t height,
                     size_t depth)
{
    return (struct op){ .kind = OP_COPY,
                        .copy = { .to = to.p,
                                  .from = from.p,
                                  .to_pitch = to.pitch,
                                  .from_pitch = from.pitch,
                                  .to_slice = to.slice,
                                  .from_slice = from.slice,
                                  .width = width,
                                  .height = height,
                                  .depth = depth } };
}

struct op op_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                  size_t height)
{
    struct copy_side a = { to, to_pitch, 0 }, b = { (char *)(uintptr_t)from, from_pitch, 0 };
    return op_between(a, b, width, height, 1);
}

static bool is_device(const void *p)
{
    return block_at(p) || is_variable(p);
}

/* What the caller says of the direction must be true, where it matters. */
static cudaError_t check_kind(const void *to, const void *from, int kind)
{
    if (kind < HostToHost || kind > KindDefault)
        return cudaErrorInvalidMemcpyDirection;
    bool to_device = kind == HostToDevice || kind == DeviceToDevice,
         from_device = kind == DeviceToHost || kind == DeviceToDevice;
    bool wrong = (to_device && !is_device(to)) || (from_device && !is_device(from));
    return wrong || !to || !from ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, int kind, cudaStream_t s)
{
    BEGIN
    cudaError_t e = width && height ? check_kind(to, from, kind) : cudaSuccess;
    if (!e && (to_pitch < width || from_pitch < width))
        e = cudaErrorInvalidPitchValue;
    struct op op = op_rows(to, to_pitch, from, from_pitch, width, height);
    END(e ? e : op_do(&op, s));
}

PLAIN(cudaMemcpyAsync, (void *to, const void *from, size_t n, int kind, cudaStream_t s),
      copy_rows(to, n, from, n, n, 1, kind, s))
PLAIN(cudaMemcpy, (void *to, const void *from, size_t n, int kind),
      copy_rows(to, n, from, n, n, 1, kind, NULL))
PLAIN(cudaMemcpy2DAsync,
      (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
       int kind, cudaStream_t s),
      copy_rows(to, to_pitch, from, from_pitch, width, height, kind, s))
PLAIN(cudaMemcpy2D,
      (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
       int kind),
      copy_rows(to, to_pitch, from, from_pitch, width, height, kind, NULL))

/* One device: from it to itself. */
PLAIN(cudaMemcpyPeer, (void *to, int to_device, const void *from, int from_device, size_t n),
      to_device || from_device ? give(cudaErrorInvalidDevice)
                               : copy_rows(to, n, from, n, n, 1, DeviceToDevice, NULL))
PLAIN(cudaMemcpyPeerAsync,
      (void *to, int to_device, const void *from, int from_device, size_t n, cudaStream_t s),
      to_device || from_device ? give(cudaErrorInvalidDevice)
                               : copy_rows(to, n, from, n, n, 1, DeviceToDevice, s))

/* ---- to and from variables ---- */
static cudaError_t symbol_copy(const void *symbol, size_t offset, void *other, size_t n, bool to,
                               cudaStream_t s)
{
    void *p;
    size_t size;
    BEGIN
    cudaError_t e = variable_address(symbol, &p, &size);
    if (!e && (offset > size || n > size - offset))
        e = cudaErrorInvalidValue;
    if (e)
        END(e);
    struct op op = to ? op_rows((char *)p + offset, n, other, n, n, 1)
                      : op_rows(other, n, (char *)p + offset, n, n, 1);
    END(op_do(&op, s));
}

PLAIN(cudaMemcpyToSymbolAsync,
      (const void *symbol, const void *from, size_t n, size_t offset, int kind, cudaStream_t s),
      ((void)kind, symbol_copy(symbol, offset, (void *)(uintptr_t)from, n, true, s)))
PLAIN(cudaMemcpyToSymbol, (const void *symbol, const void *from, size_t n, size_t offset, int kind),
      cudaMemcpyToSymbolAsync(symbol, from, n, offset, kind, NULL))
PLAIN(cudaMemcpyFromSymbolAsync,
      (void *to, const void *symbol, size_t n, size_t offset, int kind, cudaStream_t s),
      ((void)kind, symbol_copy(symbol, offset, to, n, false, s)))
PLAIN(cudaMemcpyFromSymbol, (void *to, const void *symbol, size_t n, size_t offset, int kind),
      cudaMemcpyFromSymbolAsync(to, symbol, n, offset, kind, NULL))

/* ---- sets ---- */
static cudaError_t set(void *to, size_t pitch, size_t slice, int value, struct cudaExtent e,
                       cudaStream_t s)
{
    BEGIN
    struct op op = { .kind = OP_SET,
                     .set = { .to = to,
                              .pitch = pitch,
                              .slice = slice,
                              .value = (unsigned char)value,
                              .size = 1,
                              .width = e.width,
                              .height = e.height,
                              .depth = e.depth } };
    END(op_do(&op, s));
}

EXPORT cudaError_t cudaMemsetAsync(void *to, int value, size_t n, cudaStream_t s)
{
    return set(to, n, 0, value, (struct cudaExtent){ n, 1, 1 }, s);
}

PLAIN(cudaMemset, (void *to, int value, size_t n), cudaMemsetAsync(to, value, n, NULL))

EXPORT cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t s)
{
    return set(to, pitch, 0, value, (struct cudaExtent){ width, height, 1 }, s);
}

PLAIN(cudaMemset2D, (void *to, size_t pitch, int value, size_t width, size_t height),
      cudaMemset2DAsync(to, pitch, value, width, height, NULL))
PLAIN(cudaMemset3DAsync, (struct cudaPitchedPtr p, int value, struct cudaExtent e, cudaStream_t s),
      set(p.ptr, p.pitch, p.pitch *p.ysize, value, e, s))
PLAIN(cudaMemset3D, (struct cudaPitchedPtr p, int value, struct cudaExtent e),
      cudaMemset3DAsync(p, value, e, NULL))
