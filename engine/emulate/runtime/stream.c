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
    if (s)
        *s = (struct stream){ .flags = flags, .priority = priority };
    if (!s || !stream_add(s)) {
        free(s);
        END(cudaErrorMemoryAllocation);
    }
    *out = s;
    END(cudaSuccess);
}

PLAIN(cudaStreamCreateWithFlags, (cudaStream_t * s, unsigned flags),
      cudaStreamCreateWithPriority(s, flags, 0))
PLAIN(cudaStreamCreate, (cudaStream_t * s), cudaStreamCreateWithPriority(s, 0, 0))
LOCKED(cudaStreamDestroy, (cudaStream_t s),
       stream_drop(s) ? cudaSuccess : cudaErrorInvalidResourceHandle)

/* A stream that is captured cannot be waited for: the capture is invalid then. */
static cudaError_t wait_for(cudaStream_t s)
{
    struct stream *k = stream_of(s);
    if (!k)
        return cudaErrorInvalidResourceHandle;
    if (k->into)
        k->into->spoilt = true;
    return k->into ? cudaErrorStreamCaptureUnsupported : drain();
}

LOCKED(cudaStreamSynchronize, (cudaStream_t s), wait_for(s))
LOCKED(cudaStreamQuery, (cudaStream_t s), wait_for(s))
LOCKED(cudaDeviceSynchronize, (void), drain())
PLAIN(cudaThreadSynchronize, (void), cudaDeviceSynchronize())

/* What a stream has; of none of ours an error. */
#define HAS(s, out, member)                                        \
    (!(out)         ? cudaErrorInvalidValue                        \
     : stream_of(s) ? (*(out) = stream_of(s)->member, cudaSuccess) \
                    : cudaErrorInvalidResourceHandle)
LOCKED(cudaStreamGetFlags, (cudaStream_t s, unsigned *flags), HAS(s, flags, flags))
LOCKED(cudaStreamGetPriority, (cudaStream_t s, int *priority), HAS(s, priority, priority))

LOCKED(cudaStreamGetId, (cudaStream_t s, unsigned long long *id),
       id ? (*id = (uintptr_t)s, stream_of(s) ? cudaSuccess : cudaErrorInvalidResourceHandle)
          : cudaErrorInvalidValue)
LOCKED(cudaStreamGetDevice, (cudaStream_t s, int *id),
       id ? (*id = 0, stream_of(s) ? cudaSuccess : cudaErrorInvalidResourceHandle)
          : cudaErrorInvalidValue)
LOCKED(cudaStreamAttachMemAsync, (cudaStream_t s, void *p, size_t n, unsigned flags),
       ((void)p, (void)n, (void)flags, stream_of(s) ? cudaSuccess : cudaErrorInvalidResourceHandle))

/* Attributes of streams are hints. */
LOCKED(cudaStreamSetAttribute, (cudaStream_t s, int id, const void *value),
       ((void)id, (void)value, stream_of(s) ? cudaSuccess : cudaErrorInvalidResourceHandle))

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

PLAIN(cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t fn, void *data), host_op(s, fn, NULL, data))
PLAIN(cudaStreamAddCallback, (cudaStream_t s, cudaStreamCallback_t fn, void *data, unsigned flags),
      ((void)flags, host_op(s, NULL, fn, data)))

/* ---- events ---- */
EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    BEGIN
    if (!out)
        END(cudaErrorInvalidValue);
    struct event *e = calloc(1, sizeof *e);
    if (!e || !event_add(e)) {
        free(e);
        END(cudaErrorMemoryAllocation);
    }
    e->flags = flags;
    *out = e;
    END(cudaSuccess);
}

PLAIN(cudaEventCreate, (cudaEvent_t * e), cudaEventCreateWithFlags(e, 0))
LOCKED(cudaEventDestroy, (cudaEvent_t e), event_drop(e) ? cudaSuccess : cudaErrorInvalidResourceHandle)

EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags)
{
    BEGIN
    struct stream *k = stream_of(s);
    if (!event_of(e) || !k || !(k->owner ? e->owner == k->owner : here(e->owner)))
        END(cudaErrorInvalidResourceHandle);
    e->into = k->into;
    e->ended = false;
    if (k->into && !flags) /* only says where others join the capture */
        END(tail_set(&e->tail, k->tail.v, k->tail.n));
    struct op op = { .kind = OP_RECORD, .record = { e } };
    END(op_do(&op, s));
}

PLAIN(cudaEventRecord, (cudaEvent_t e, cudaStream_t s), cudaEventRecordWithFlags(e, s, 0))

static cudaError_t event_wait(cudaEvent_t e)
{
    BEGIN
    if (!event_of(e))
        END(cudaErrorInvalidResourceHandle);
    END(e->into ? 907 : e->ended ? cudaErrorInvalidValue : e->recorded ? drain() : cudaSuccess);
}

PLAIN(cudaEventSynchronize, (cudaEvent_t e), event_wait(e))
PLAIN(cudaEventQuery, (cudaEvent_t e), event_wait(e))

/* A stream that waits for an event of a capture joins it. Two captures do not become one, and what is outside of
 * one is not waited for, but as a node (flags). */
EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
    BEGIN
    struct stream *k = stream_of(s);
    if (!event_of(e) || !k)
        END(cudaErrorInvalidResourceHandle);
    if (e->ended)
        END(cudaErrorInvalidValue);
    if (!e->into && k->into && e->recorded && !flags) {
        k->into->spoilt = true;
        END(cudaErrorStreamCaptureIsolation);
    }
    if (!e->into)
        END(cudaSuccess);
    if (k->into && k->into != e->into) {
        k->into->spoilt = e->into->spoilt = true;
        END(cudaErrorStreamCaptureMerge);
    }
    k->into = e->into;
    END(tail_join(&k->tail, e->tail.v, e->tail.n));
}

EXPORT cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    BEGIN
    if (!ms || !event_of(from) || !event_of(to) || !from->recorded || !to->recorded ||
        ((from->flags | to->flags) & NO_TIMING) || from->owner != to->owner)
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

PLAIN(cudaEventElapsedTime_v2, (float *ms, cudaEvent_t from, cudaEvent_t to),
      cudaEventElapsedTime(ms, from, to))

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
    cudaError_t e = g->spoilt            ? cudaErrorStreamCaptureInvalidated
                    : !capture_joined(k) ? cudaErrorStreamCaptureUnjoined
                                         : cudaSuccess;
    capture_end(g);
    *out = e ? NULL : g;
    if (e)
        graph_free(g);
    END(e);
}

/* None, active, invalidated. */
static int capture_status(const struct graph *g)
{
    return g ? 1 + g->spoilt : 0;
}

LOCKED(cudaStreamIsCapturing, (cudaStream_t s, int *status),
       status ? (*status = capture_status(capture_of(s)),
                 stream_of(s) ? cudaSuccess : cudaErrorInvalidResourceHandle)
              : cudaErrorInvalidValue)

cudaError_t capture_info(cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *graph,
                         cudaGraphNode_t const **last, size_t *n)
{
    cudaGraph_t g = capture_of(s);
    if (!status || !stream_of(s))
        return status ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    *status = capture_status(g);
    g = g && g->spoilt ? NULL : g;
    if (id)
        *id = (uintptr_t)g;
    if (graph)
        *graph = g;
    if (last)
        *last = g ? stream_of(s)->tail.v : NULL;
    if (n)
        *n = g ? stream_of(s)->tail.n : 0;
    return cudaSuccess;
}

/* Nodes that the next operation waits for, too, or alone. */
cudaError_t capture_waits(cudaStream_t s, cudaGraphNode_t const *v, size_t n, unsigned alone)
{
    struct stream *k = stream_of(s);
    if (!k)
        return cudaErrorInvalidResourceHandle;
    if (!k->into)
        return cudaErrorIllegalState;
    if (alone > 1 || !graph_has(k->into, v, n))
        return cudaErrorInvalidValue;
    if (k->into->spoilt)
        return cudaErrorStreamCaptureInvalidated;
    return alone ? tail_set(&k->tail, v, n) : tail_join(&k->tail, v, n);
}

LOCKED(cudaStreamUpdateCaptureDependencies_v2,
       (cudaStream_t s, cudaGraphNode_t *v, const void *edges, size_t n, unsigned alone),
       ((void)edges, capture_waits(s, v, n, alone)))
/* CUDA 13 has the edges before the number. */
LOCKED(cudaStreamUpdateCaptureDependencies,
       (cudaStream_t s, cudaGraphNode_t *v, uintptr_t edges, size_t n, unsigned alone),
       runtime_version() >= 13000 ? capture_waits(s, v, n, alone)
                                  : capture_waits(s, v, edges, (unsigned)n))

/* What every version's call has in front. */
LOCKED(cudaStreamGetCaptureInfo_v2,
       (cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *graph,
        cudaGraphNode_t const **last, size_t *n),
       capture_info(s, status, id, graph, last, n))

EXPORT cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t s, int *status, unsigned long long *id,
                                               cudaGraph_t *graph, cudaGraphNode_t const **last,
                                               const void **edges, size_t *n)
{
    BEGIN
    if (edges)
        *edges = NULL;
    END(capture_info(s, status, id, graph, last, n));
}

/* CUDA 11 has the first three; CUDA 12 calls the second form by a macro. */
PLAIN(cudaStreamGetCaptureInfo,
      (cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *graph,
       cudaGraphNode_t const **last, const void **edges, size_t *n),
      runtime_version() >= 13000 ? cudaStreamGetCaptureInfo_v3(s, status, id, graph, last, edges, n)
                                 : cudaStreamGetCaptureInfo_v2(s, status, id, NULL, NULL, NULL))

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
