/* Private to the runtime library: the CUDA runtime as programs call it, on a device in another process.
 * A build of its own, no part of the engine: libc alone.
 *
 *   enter.c    finding the functions of a static runtime, putting ours in their place (object.c: names)
 *   link.c     the socket: messages, errors        begin.c    the first call that needs it
 *   region.c   device memory, by address           memory.c   allocation as programs call it; pool.c
 *   virtual.c  addresses and memory apart          mapped.c   what is mapped where
 *   ops.c      operations and graphs of them       order.c    streams and events that there are
 *   modules.c  fatbins, kernels, variables         launch.c   launches, attributes, occupancy
 *   copy.c     copies and sets                     stream.c   streams, events, callbacks, capture
 *   graph.c    graphs as programs make them; graph_edit.c asks and changes
 *   texture.c  arrays, textures, surfaces
 *   tensor.c   descriptions of tensors
 *   device.c   what the device is                  stubs.c    every other function: not supported
 *
 * All work is done in the order of the calls: a stream is only where captured operations go. */
#pragma once

#include "engine/emulate/runtime/region.h"
#include "engine/emulate/runtime/wire.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- link.c ---- */
/* Held by every call that uses what follows. Recursive. */
void runtime_enter(void);
void runtime_leave(void);
/* Let go of, however often held, while the program's own function runs; what resume is given. */
unsigned runtime_pause(void);
void runtime_resume(unsigned was);
/* Connects at the first call. cudaErrorNoDevice: nobody is there. */
cudaError_t ready(void); /* begin.c */
const struct wire_device *device(void);
/* Notes an error of this thread and gives it back; the device's own stays for all calls. */
cudaError_t give(cudaError_t e);
cudaError_t sticky(void);
/* Sends; the other end having gone is cudaErrorDevicesUnavailable from then on. */
void tell(enum wire_kind kind, const void *record, size_t n, const void *bytes, size_t more);
/* Sends and waits: up to n bytes of the answer into `answer`; what is beyond goes to *rest (owned, malloc,
 * *nrest bytes) where rest is not NULL. False: there is none. */
bool ask(enum wire_kind kind, const void *record, size_t n, const void *bytes, size_t more, void *answer,
         size_t size, void **rest, size_t *nrest);
/* Waits until the device has done all that it was told; prints what kernels printed. */
cudaError_t drain(void);
void launched(void);            /* there is something to wait for */
void missing(const char *call); /* begin.c */
/* What begin.c does that with. file: goes beside the message; -1: none. */
bool link_open(const char *path);
bool link_device(void);
void link_none(void);
void link_lost(void);
void link_send(enum wire_kind kind, const void *record, size_t n, const void *bytes, size_t more,
               int file);
bool link_answer(void *answer, size_t size, void **rest, size_t *nrest);
cudaError_t link_reset(void);
/* Ours of that name, with its _ptsz or _ptds; NULL: the runtime has none (stubs.c). */
void *runtime_function(const char *name);
/* Of nvJitLink (driver/jit_link.c). */
void *jit_link_function(const char *name);

/* Begins a call: the lock is held, the device there; where it is not, the call ends with its error. */
#define BEGIN                    \
    runtime_enter();             \
    cudaError_t began = ready(); \
    if (began) {                 \
        runtime_leave();         \
        return give(began);      \
    }
#define END(e)                  \
    do {                        \
        cudaError_t end_ = (e); \
        runtime_leave();        \
        return give(end_);      \
    } while (0)

/* A function that is nothing but the expression: within BEGIN and END, or without. */
#define LOCKED(name, params, ...)  \
    EXPORT cudaError_t name params \
    {                              \
        BEGIN                      \
        END((__VA_ARGS__));        \
    }
#define PLAIN(name, params, ...)   \
    EXPORT cudaError_t name params \
    {                              \
        return (__VA_ARGS__);      \
    }

/* Done where the condition holds; otherwise a value is invalid. ANSWER: into the place that the program names. */
#define WHERE(condition, ...) ((condition) ? ((__VA_ARGS__), cudaSuccess) : cudaErrorInvalidValue)
#define ANSWER(out, value)    WHERE(out, *(out) = (value))

/* ---- operations ---- */
struct kernel;
enum op_kind { OP_EMPTY, OP_LAUNCH, OP_COPY, OP_SET, OP_HOST, OP_RECORD, OP_TAKE, OP_GIVE, OP_CHILD };
struct op {
    enum op_kind kind;
    bool off; /* of a graph, switched off */
    union {
        struct {
            struct kernel *kernel;
            struct wire_launch shape;
            uint8_t *params; /* owned */
            size_t nparams;
        } launch;
        struct {
            void *to;
            const void *from;
            size_t to_pitch;
            size_t from_pitch;
            size_t to_slice;
            size_t from_slice;
            size_t width;
            size_t height;
            size_t depth; /* bytes, rows, slices */
        } copy;
        struct {
            void *to;
            size_t pitch, slice;
            unsigned value, size; /* bytes of an element */
            size_t width;
            size_t height;
            size_t depth; /* elements, rows, slices */
        } set;
        struct {
            cudaHostFn_t fn;
            cudaStreamCallback_t callback;
            cudaStream_t stream;
            void *data;
        } host;
        struct {
            cudaEvent_t event;
        } record;
        struct {
            void *p;
            size_t n;
        } memory;
        struct {
            cudaGraph_t graph;
        } child;
    };
};
/* Does it now, or puts it into the graph that the stream is captured into. Takes the op. */
cudaError_t op_do(struct op *op, cudaStream_t s);
cudaError_t op_run(const struct op *op);
struct op op_copied(const struct op *op); /* params NULL where there is no memory */
void op_free(struct op *op);

/* ---- modules.c ---- */
struct kernel {
    const struct context *owner; /* NULL: any */
    uint64_t module;
    char *name;
    const void *stub;
    bool asked;
    struct wire_kernel facts;
    struct wire_param *param;
    int shared_most, carveout; /* attributes; -1: not set */
    struct old_form *old;      /* what the driver's oldest calls set; NULL: nothing */
    struct kernel *next;
};
/* By its stub or handle; *error where NULL. */
struct kernel *kernel_of(const void *f, cudaError_t *error);
cudaError_t variable_address(const void *symbol, void **p, size_t *n);
uint64_t module_number(void); /* of one more */
/* Of that module and name, the same one again; *error where NULL. */
struct kernel *kernel_named(uint64_t module, const char *name, cudaError_t *error);
void kernels_forget(uint64_t module);

/* ---- launch.c ---- */
struct launch_want {
    const void *f;
    dim3 grid, block;
    size_t shared;
    void **args;  /* one pointer for each parameter, or */
    void **extra; /* the driver's list with all of them in one buffer */
    const struct cudaLaunchAttribute *attr;
    unsigned nattr;
};
struct cudaFuncAttributes attributes_of(const struct kernel *k);
cudaError_t launch_op(struct op *op, const struct launch_want *w);
cudaError_t launch_do(const struct launch_want *w, cudaStream_t s);

int runtime_version(void); /* enter.c: 13000: what the program was built with */

/* ---- order.c ---- */
struct tail { /* what the next captured operation waits for */
    cudaGraphNode_t *v;
    size_t n;
};
struct stream {
    const struct context *owner; /* NULL: any */
    unsigned flags;
    int priority;
    cudaGraph_t into; /* captured into; NULL: not */
    bool origin;      /* the capture began here */
    struct tail tail;
    struct stream *next;
};
struct stream *stream_of(cudaStream_t s); /* of NULL and the special numbers, too; NULL: none of ours */
bool stream_add(struct stream *s);        /* false: out of memory */
bool stream_drop(cudaStream_t s);
struct event {
    const struct context *owner;
    uint64_t slot;
    unsigned flags;
    bool recorded, ended; /* ended: the last time into a capture that has ended */
    cudaGraph_t into;     /* recorded in a stream that is captured into it; NULL: not */
    struct tail tail;     /* of the stream then */
    struct event *next;
};
struct event *event_of(cudaEvent_t e);  /* NULL: none of ours */
bool event_add(struct event *e);        /* false: out of memory */
bool here(const struct context *owner); /* it is the current one */
bool event_drop(cudaEvent_t e);
cudaGraph_t capture_of(cudaStream_t s);
cudaError_t tail_join(struct tail *t, cudaGraphNode_t const *v, size_t n); /* these nodes, too */
cudaError_t tail_set(struct tail *t, cudaGraphNode_t const *v, size_t n);
bool capture_joined(const struct stream *origin); /* it waits for what others captured */
/* What is asked of a capture, and the nodes that the next one waits for; stream.c. NULL: not asked. */
cudaError_t capture_info(cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *graph,
                         cudaGraphNode_t const **last, size_t *n);
cudaError_t capture_waits(cudaStream_t s, cudaGraphNode_t const *v, size_t n, unsigned alone);
void capture_end(cudaGraph_t g); /* streams and events that it is made of are free again */

/* ---- graphs (ops.c) ---- */
struct node {
    struct op op;
    cudaGraph_t graph;
    cudaGraphNode_t *before; /* what it waits for; owned */
    size_t nbefore;
    uint64_t turn;         /* of the walk that last came by */
    const struct node *of; /* the node of another graph that this is a copy of; NULL: none */
};
struct graph {
    cudaGraphNode_t *v; /* owned, in the order of their making */
    size_t n, cap;
    uint64_t turn;
    bool spoilt; /* a capture that something was asked of which it does not allow */
};
cudaGraph_t graph_new(void);
void graph_free(cudaGraph_t g);
cudaGraph_t graph_copy(const struct graph *g);                             /* NULL: out of memory */
bool graph_has(const struct graph *g, cudaGraphNode_t const *v, size_t n); /* these are its nodes */
/* A node behind those of `before`. Takes the op. */
cudaError_t graph_add(cudaGraph_t g, struct op *op, cudaGraphNode_t const *before, size_t nbefore,
                      cudaGraphNode_t *out);
cudaError_t graph_capture(struct stream *s, struct op *op); /* behind what the stream waits for */
cudaError_t graph_run(cudaGraph_t g);
