/* Streams, events, callbacks. */
#include "engine/emulate/driver/driver.h"

/* ---- streams ---- */
SAME(cuStreamCreate, (cudaStream_t * out, unsigned flags),
     flags > 1 ? CUDA_ERROR_INVALID_VALUE : cudaStreamCreateWithPriority(out, flags, 0))
SAME(cuStreamCreateWithPriority, (cudaStream_t * out, unsigned flags, int priority),
     flags > 1 ? CUDA_ERROR_INVALID_VALUE : cudaStreamCreateWithPriority(out, flags, priority))
ENDS(cuStreamDestroy_v2, (cudaStream_t s), cudaStreamDestroy(s))
TWIN(StreamSynchronize, (cudaStream_t s), s)
TWIN(StreamQuery, (cudaStream_t s), s)
TWIN(StreamGetFlags, (cudaStream_t s, unsigned *flags), s, flags)
TWIN(StreamGetPriority, (cudaStream_t s, int *priority), s, priority)
TWIN(StreamGetId, (cudaStream_t s, unsigned long long *id), s, id)
TWIN(StreamGetDevice, (cudaStream_t s, int *id), s, id)
TWIN(StreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned flags), s, e, flags)
TWIN(StreamAttachMemAsync, (cudaStream_t s, void *p, size_t n, unsigned flags), s, p, n, flags)
SAME(cuStreamSetAttribute, (cudaStream_t s, int id, const void *v),
     v ? cudaStreamSetAttribute(s, id, v) : CUDA_ERROR_INVALID_VALUE)
SAME(cuStreamCopyAttributes, (cudaStream_t to, cudaStream_t from),
     stream_of(to) && stream_of(from) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE)

static CUresult put_context(cudaStream_t s, CUcontext *out)
{
    const struct stream *k = stream_of(s);
    if (!k || !out)
        return k ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    *out = k->owner ? (CUcontext)(uintptr_t)k->owner : context_now();
    return CUDA_SUCCESS;
}

SAME(cuStreamGetCtx, (cudaStream_t s, CUcontext *out), put_context(s, out))

EXPORT CUresult cuStreamGetCtx_v2(cudaStream_t s, CUcontext *out, void **green)
{
    if (green)
        *green = NULL;
    return cuStreamGetCtx(s, out);
}

/* ---- callbacks ---- */
TWIN(LaunchHostFunc, (cudaStream_t s, cudaHostFn_t fn, void *data), s, fn, data)
SAME(cuStreamAddCallback, (cudaStream_t s, cudaStreamCallback_t fn, void *data, unsigned flags),
     flags ? CUDA_ERROR_INVALID_VALUE : cudaStreamAddCallback(s, fn, data, flags))

/* ---- events ---- */
SAME(cuEventCreate, (cudaEvent_t * out, unsigned flags),
     flags > 7 ? CUDA_ERROR_INVALID_VALUE : cudaEventCreateWithFlags(out, flags))
ENDS(cuEventDestroy_v2, (cudaEvent_t e), cudaEventDestroy(e))
SAME(cuEventRecord, (cudaEvent_t e, cudaStream_t s), cudaEventRecordWithFlags(e, s, 0))
SAME(cuEventRecordWithFlags, (cudaEvent_t e, cudaStream_t s, unsigned flags),
     flags > 1 ? CUDA_ERROR_INVALID_VALUE : cudaEventRecordWithFlags(e, s, flags))
TWIN(EventQuery, (cudaEvent_t e), e)
TWIN(EventSynchronize, (cudaEvent_t e), e)
TWIN(EventElapsedTime, (float *ms, cudaEvent_t from, cudaEvent_t to), ms, from, to)
SAME(cuEventElapsedTime_v2, (float *ms, cudaEvent_t from, cudaEvent_t to),
     cudaEventElapsedTime(ms, from, to))
