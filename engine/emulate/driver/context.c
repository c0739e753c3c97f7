/* The beginning of the driver, contexts: the primary one, others, the stack of each thread. */
#include "engine/emulate/driver/driver.h"

static bool started;

void driver_start(void)
{
    started = true;
}

CUresult driver_begin(bool in_context)
{
    runtime_enter();
    driver_in();
    if (!started)
        return CUDA_ERROR_NOT_INITIALIZED;
    cudaError_t e = ready();
    const struct context *c = context_now();
    if (e || !in_context)
        return e;
    return !c ? CUDA_ERROR_INVALID_CONTEXT : c->live ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult driver_end(cudaError_t e)
{
    driver_out();
    runtime_leave();
    switch (e) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidChannelDescriptor:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorMissingConfiguration: return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
    default: return e;
    }
}

CUresult driver_lacks(const char *call)
{
    missing(call);
    return CUDA_ERROR_NOT_SUPPORTED;
}

EXPORT CUresult cuInit(unsigned flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    runtime_enter();
    driver_start();
    runtime_leave();
    DRIVER(false, CUDA_SUCCESS);
}

PLAIN(cuDriverGetVersion, (int *version),
      version ? cudaDriverGetVersion(version) : CUDA_ERROR_INVALID_VALUE)

/* ---- the primary context ---- */
static bool is_context(const struct context *c)
{
    return handle_is(c, HANDLE_CONTEXT);
}

static CUresult retain(CUcontext *out)
{
    struct context *c = context_primary();
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!c->live && !handle_add(c, HANDLE_CONTEXT))
        return CUDA_ERROR_OUT_OF_MEMORY;
    c->live = true;
    c->uses++;
    *out = c;
    return CUDA_SUCCESS;
}

ENDS(cuDevicePrimaryCtxRetain, (CUcontext * out, CUdevice id),
     id ? CUDA_ERROR_INVALID_DEVICE : retain(out))

/* All that it owns goes with it. */
static void context_end(struct context *c)
{
    drain();
    order_forget(c);
    images_forget(c);
    arrays_forget(c);
    memory_forget(c);
    context_gone(c);
}

static void after_fault(void)
{
    if (sticky())
        link_reset();
}

static CUresult release(void)
{
    struct context *c = context_primary();
    if (!c->uses)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!--c->uses) {
        context_end(c);
        after_fault();
    }
    return CUDA_SUCCESS;
}

/* Of a context that faulted, too. */
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice id)
{
    CUresult e = driver_begin(false);
    bool before = e == CUDA_ERROR_NOT_INITIALIZED;
    return driver_end(before ? e : id ? CUDA_ERROR_INVALID_DEVICE : release());
}

PLAIN(cuDevicePrimaryCtxRelease, (CUdevice id), cuDevicePrimaryCtxRelease_v2(id))

/* A new beginning, also after a fault. */
static CUresult reset(struct context *c)
{
    bool live = c->live;
    context_end(c);
    if (live)
        c->live = handle_add(c, HANDLE_CONTEXT);
    return link_reset();
}

EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice id)
{
    CUresult e = driver_begin(false);
    bool before = e == CUDA_ERROR_NOT_INITIALIZED;
    return driver_end(before ? e : id ? CUDA_ERROR_INVALID_DEVICE : reset(context_primary()));
}

PLAIN(cuDevicePrimaryCtxReset, (CUdevice id), cuDevicePrimaryCtxReset_v2(id))

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice id, unsigned *flags, int *active)
{
    CUresult e = driver_begin(false);
    if (!e && flags)
        *flags = context_primary()->flags;
    if (!e && active)
        *active = context_primary()->live;
    return driver_end(e ? e : id ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS);
}

static CUresult set_flags(struct context *c, unsigned flags)
{
    c->flags = flags;
    return CUDA_SUCCESS;
}

ENDS(cuDevicePrimaryCtxSetFlags_v2, (CUdevice id, unsigned flags),
     id ? CUDA_ERROR_INVALID_DEVICE : set_flags(context_primary(), flags))
PLAIN(cuDevicePrimaryCtxSetFlags, (CUdevice id, unsigned flags),
      cuDevicePrimaryCtxSetFlags_v2(id, flags))

/* ---- others ---- */
static CUresult create(CUcontext *out, unsigned flags)
{
    struct context *c = out ? context_new(flags) : NULL;
    if (!c || !context_push(c))
        return out ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    *out = c;
    return CUDA_SUCCESS;
}

ENDS(cuCtxCreate_v2, (CUcontext * out, unsigned flags, CUdevice id),
     id ? CUDA_ERROR_INVALID_DEVICE : create(out, flags))

/* A share of the SMs cannot be had. */
EXPORT CUresult cuCtxCreate_v3(CUcontext *out, const void *affinity, int n, unsigned flags, CUdevice id)
{
    enum { UNSUPPORTED_AFFINITY = 224 };
    return affinity && n ? UNSUPPORTED_AFFINITY : cuCtxCreate_v2(out, flags, id);
}

PLAIN(cuCtxCreate_v4, (CUcontext * out, const void *params, unsigned flags, CUdevice id),
      params ? driver_lacks("cuCtxCreate_v4") : cuCtxCreate_v2(out, flags, id))

/* Of a context that faulted, too. */
EXPORT CUresult cuCtxDestroy_v2(CUcontext c)
{
    CUresult e = driver_begin(false);
    if (e == CUDA_ERROR_NOT_INITIALIZED || !is_context(c) || c->primary)
        return driver_end(e == CUDA_ERROR_NOT_INITIALIZED ? e : CUDA_ERROR_INVALID_CONTEXT);
    context_end(c);
    if (context_now() == c)
        context_pop();
    after_fault();
    return driver_end(CUDA_SUCCESS);
}

/* Held once more, and once less: with the last it is destroyed. */
static CUresult attach(CUcontext *out, unsigned flags)
{
    if (!out || flags)
        return CUDA_ERROR_INVALID_VALUE;
    *out = context_now();
    (*out)->uses++;
    return CUDA_SUCCESS;
}

SAME(cuCtxAttach, (CUcontext * out, unsigned flags), attach(out, flags))

EXPORT CUresult cuCtxDetach(CUcontext c)
{
    CUresult e = driver_begin(false);
    bool is = !e && is_context(c);
    bool last = is && !c->uses;
    if (is && !last)
        c->uses--;
    driver_end(CUDA_SUCCESS);
    return last ? cuCtxDestroy_v2(c) : is ? CUDA_SUCCESS : e ? e : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult push(CUcontext c)
{
    if (!is_context(c))
        return c ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
    return context_push(c) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

ENDS(cuCtxPushCurrent_v2, (CUcontext c), push(c))

static CUresult pop(CUcontext *out)
{
    struct context *c = context_pop();
    if (c && out)
        *out = c;
    return c ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

ENDS(cuCtxPopCurrent_v2, (CUcontext * out), pop(out))

static CUresult set(CUcontext c)
{
    if (c && !is_context(c))
        return CUDA_ERROR_INVALID_CONTEXT;
    return context_set(c) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

ENDS(cuCtxSetCurrent, (CUcontext c), set(c))

ENDS(cuCtxGetCurrent, (CUcontext * out), ANSWER(out, context_now()))

/* ---- of the current one ---- */
SAME(cuCtxGetDevice, (CUdevice * id), ANSWER((unsigned *)id, 0))
SAME(cuCtxGetFlags, (unsigned *flags), ANSWER(flags, context_now()->flags))
SAME(cuCtxSetFlags, (unsigned flags), set_flags(context_now(), flags))
SAME(cuCtxSynchronize, (void), cudaDeviceSynchronize())
SAME(cuCtxGetLimit, (size_t * value, int what), cudaDeviceGetLimit(value, what))
SAME(cuCtxSetLimit, (int what, size_t value), cudaDeviceSetLimit(what, value))
SAME(cuCtxGetCacheConfig, (unsigned *config), ANSWER(config, 0))
SAME(cuCtxSetCacheConfig, (int config), ((void)config, CUDA_SUCCESS))
SAME(cuCtxGetSharedMemConfig, (unsigned *config), ANSWER(config, 1)) /* banks of four bytes */
SAME(cuCtxSetSharedMemConfig, (int config), ((void)config, CUDA_SUCCESS))
SAME(cuCtxGetStreamPriorityRange, (int *least, int *greatest),
     cudaDeviceGetStreamPriorityRange(least, greatest))
SAME(cuCtxResetPersistingL2Cache, (void), CUDA_SUCCESS)
SAME(cuProfilerStart, (void), CUDA_SUCCESS)
SAME(cuProfilerStop, (void), CUDA_SUCCESS)

/* Of any one. */
static CUresult within(CUcontext c, CUresult e)
{
    return !c || is_context(c) ? e : CUDA_ERROR_INVALID_CONTEXT;
}

/* Numba up to 0.61 takes the newest form that it finds by name and calls it as the one before, without the
 * context: one that there is not is the current one. */
EXPORT CUresult cuCtxGetDevice_v2(CUdevice *id, CUcontext c)
{
    DRIVER(!is_context(c), ANSWER((unsigned *)id, 0));
}

EXPORT CUresult cuCtxSynchronize_v2(CUcontext c)
{
    DRIVER(!is_context(c), cudaDeviceSynchronize());
}

EXPORT CUresult cuCtxGetApiVersion(CUcontext c, unsigned *version)
{
    DRIVER(!c, within(c, ANSWER(version, 3020)));
}

static CUresult put_id(CUcontext c, unsigned long long *id)
{
    if (!id || (c && !is_context(c)))
        return id ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
    *id = (c ? c : context_now())->id;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetId(CUcontext c, unsigned long long *id)
{
    DRIVER(!c, put_id(c, id));
}

/* ---- one device has no peers ---- */
SAME(cuCtxEnablePeerAccess, (CUcontext c, unsigned flags),
     ((void)flags, is_context(c) ? cudaErrorPeerAccessUnsupported : CUDA_ERROR_INVALID_CONTEXT))
SAME(cuCtxDisablePeerAccess, (CUcontext c),
     is_context(c) ? cudaErrorPeerAccessNotEnabled : CUDA_ERROR_INVALID_CONTEXT)
