/* Streams, events, callbacks. All work is done in the order of the calls, so that a stream is done when
 * the device is. */
#include "engine/emulate/runtime/runtime.h"

#include <stdlib.h>

enum { NO_TIMING = 2 };
/* ---- streams ---- */
EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    BEGIN
    if (!out)
        END(cudaErrorInvalidValue);
    struct stream *s = calloc(1, sizeof *s);
    if (!s || !out) {
        free(s);
        END(out ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    }
    *s = (struct stream){ .flags = flags, .priority = priority };
    stream_add(s);
    *out = s;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
    return cudaStreamCreateWithPriority(s, flags, 0);
}

EXPORT cudaError_t cudaStreamCreate(cudaStream_t *s)
{
    return cudaStreamCreateWithPriority(s, 0, 0);
}

EXPORT cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    BEGIN
    END(stream_drop(s) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

/* A stream that is captured cannot be waited for. */
static cudaError_t wait_for(cudaStream_t s)
{
    struct stream *k = stream_of(s);
    if (!k)
        return cudaErrorInvalidResourceHandle;
    return k->into ? cudaErrorStreamCaptureUnsupported : drain();
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    BEGIN
    END(wait_for(s));
}

EXPORT cudaError_t cudaStreamQuery(cudaStream_t s)
{
    BEGIN
    END(wait_for(s));
}

EXPORT cudaError_t cudaDeviceSynchronize(void)
{
    BEGIN
    END(drain());
}

EXPORT cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

EXPORT cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned *flags)
{
    BEGIN
    if (!flags)
        END(cudaErrorInvalidValue);
    struct stream *k = stream_of(s);
    if (k && flags)
        *flags = k->flags;
    END(k && flags ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

EXPORT cudaError_t cudaStreamGetPriority(cudaStream_t s, int *priority)
{
    BEGIN
    if (!priority)
        END(cudaErrorInvalidValue);
    struct stream *k = stream_of(s);
    if (k && priority)
        *priority = k->priority;
    END(k && priority ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

EXPORT cudaError_t cudaStreamGetId(cudaStream_t s, unsigned long long *id)
{
    BEGIN
    if (!id)
        END(cudaErrorInvalidValue);
    *id = (uintptr_t)s;
    END(stream_of(s) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

EXPORT cudaError_t cudaStreamGetDevice(cudaStream_t s, int *id)
{
    BEGIN
    if (!id)
        END(cudaErrorInvalidValue);
    *id = 0;
    END(stream_of(s) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

EXPORT cudaError_t cudaStreamAttachMemAsync(cudaStream_t s, void *p, size_t n, unsigned flags)
{
    (void)p, (void)n, (void)flags;
    BEGIN
    END(stream_of(s) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

/* Attributes of streams are hints. */
EXPORT cudaError_t cudaStreamSetAttribute(cudaStream_t s, int id, const void *value)
{
    (void)id, (void)value;
    BEGIN
    END(stream_of(s) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

/* ---- host functions ---- */
static cudaError_t host_op(cudaStream_t s, cudaHostFn_t fn, cudaStreamCallback_t callback, void *data)
{
    BEGIN
    struct op op = { .kind = OP_HOST,
                     .host = { .fn = fn, .callback = callback, .stream = s, .data = data } };
    if (!fn && !callback)
        END(cudaErrorInvalidValue);
    END(stream_of(s) ? op_do(&op, s) : cudaErrorInvalidResourceHandle);
}

EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t fn, void *data)
{
    return host_op(s, fn, NULL, data);
}

EXPORT cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t fn, void *data,
                                         unsigned flags)
{
    (void)flags;
    return host_op(s, NULL, fn, data);
}

/* ---- events ---- */
EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    BEGIN
    if (!out)
        END(cudaErrorInvalidValue);
    struct event *e = calloc(1, sizeof *e);
    if (!e || !out) {
        free(e);
        END(out ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    }
    e->flags = flags;
    event_add(e);
    *out = e;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaEventCreate(cudaEvent_t *e)
{
    return cudaEventCreateWithFlags(e, 0);
}

EXPORT cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    BEGIN
    END(event_drop(e) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags)
{
    BEGIN
    struct stream *k = stream_of(s);
    if (!event_of(e) || !k)
        END(cudaErrorInvalidResourceHandle);
    e->into = k->into;
    if (k->into && !flags)
        END(cudaSuccess); /* only says where others join the capture */
    struct op op = { .kind = OP_RECORD, .record = { e } };
    END(op_do(&op, s));
}

EXPORT cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    return cudaEventRecordWithFlags(e, s, 0);
}

static cudaError_t event_wait(cudaEvent_t e)
{
    BEGIN
    if (!event_of(e))
        END(cudaErrorInvalidResourceHandle);
    END(e->into ? 907 : e->recorded ? drain() : cudaSuccess);
}

EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    return event_wait(e);
}

EXPORT cudaError_t cudaEventQuery(cudaEvent_t e)
{
    return event_wait(e);
}

/* A stream that waits for an event of a capture joins it. */
EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
    (void)flags;
    BEGIN
    struct stream *k = stream_of(s);
    if (!event_of(e) || !k)
        END(cudaErrorInvalidResourceHandle);
    if (e->into && !k->into)
        k->into = e->into;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    BEGIN
    if (!ms || !event_of(from) || !event_of(to) || !from->recorded || !to->recorded ||
        ((from->flags | to->flags) & NO_TIMING))
        END(ms ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    cudaError_t e = drain();
    struct wire_number a = { from->slot }, b = { to->slot };
    struct wire_time t[2];
    if (e || !ask(WIRE_TIME, &a, sizeof a, NULL, 0, &t[0], sizeof t[0], NULL, NULL) ||
        !ask(WIRE_TIME, &b, sizeof b, NULL, 0, &t[1], sizeof t[1], NULL, NULL))
        END(e ? e : sticky());
    *ms = (float)((t[1].ns - t[0].ns) / 1e6);
    END(cudaSuccess);
}

EXPORT cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    return cudaEventElapsedTime(ms, from, to);
}

/* ---- capture ---- */
EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t s, int mode)
{
    (void)mode;
    BEGIN
    struct stream *k = stream_of(s);
    if (!k || k == stream_of(NULL))
        END(k ? cudaErrorStreamCaptureUnsupported : cudaErrorInvalidResourceHandle);
    if (k->into)
        END(cudaErrorIllegalState);
    k->into = graph_new();
    k->origin = k->into != NULL;
    END(k->into ? cudaSuccess : cudaErrorMemoryAllocation);
}

EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out)
{
    BEGIN
    if (!out)
        END(cudaErrorInvalidValue);
    struct stream *k = stream_of(s);
    if (!k || !k->into || !k->origin)
        END(cudaErrorIllegalState);
    cudaGraph_t g = k->into;
    capture_end(g);
    *out = g;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t s, int *status)
{
    BEGIN
    if (!status)
        END(cudaErrorInvalidValue);
    *status = capture_of(s) != NULL;
    END(stream_of(s) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

/* What every version's call has in front. */
EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, int *status, unsigned long long *id)
{
    BEGIN
    if (!status)
        END(cudaErrorInvalidValue);
    *status = capture_of(s) != NULL;
    if (id)
        *id = (uintptr_t)capture_of(s);
    END(stream_of(s) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(int *mode)
{
    static _Thread_local int now;
    if (!mode)
        return give(cudaErrorInvalidValue);
    int was = now;
    now = *mode;
    *mode = was;
    return cudaSuccess;
}
