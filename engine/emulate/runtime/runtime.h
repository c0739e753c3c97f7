/* Private to the runtime library: the CUDA runtime as programs call it, on a device in another process.
 * A build of its own, no part of the engine: libc alone.
 *
 *   enter.c    finding the functions of a static runtime, putting ours in their place
 *   link.c     the socket: messages, errors        begin.c    the first call that needs it
 *   region.c   device memory, by address           memory.c   allocation as programs call it; pool.c
 *   ops.c      operations and graphs of them       order.c    streams and events that there are
 *   modules.c  fatbins, kernels, variables         launch.c   launches, attributes, occupancy
 *   copy.c     copies and sets                     stream.c   streams, events, callbacks, capture
 *   graph.c    graphs as programs make them        texture.c  arrays, textures, surfaces
 *   tensor.c   descriptions of tensors
 *   device.c   what the device is                  stubs.c    every other function: not supported
 *
 * All work is done in the order of the calls: a stream is only where captured operations go. */
#ifndef GPULOCW_EMULATE_RUNTIME_RUNTIME_H
#define GPULOCW_EMULATE_RUNTIME_RUNTIME_H

#include "engine/emulate/runtime/cuda_abi.h"
#include "engine/emulate/runtime/wire.h"

#include <stdbool.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- link.c ---- */
/* Held by every call that uses what follows. Recursive. */
void runtime_enter(void);
void runtime_leave(void);
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

/* ---- region.c ---- */
enum block_kind { BLOCK_DEVICE, BLOCK_MANAGED, BLOCK_PINNED, BLOCK_REGISTERED };
struct block {
    uint64_t addr, n; /* as the program sees it */
    uint64_t at;      /* byte of the file */
    enum block_kind kind;
    bool mapped_for_host;
};
bool region_start(struct wire_hello *h, int *file);
cudaError_t memory_take(size_t n, enum block_kind kind, void **out);
cudaError_t memory_give(void *p, bool host);
cudaError_t memory_register(void *p, size_t n);
cudaError_t memory_unregister(void *p);
uint64_t memory_used(void); /* bytes of the device */
/* The block that holds the address; NULL: it is none of ours. */
const struct block *block_at(const void *p);
/* Where this process reads and writes what the program calls p: device memory, or the program's own. */
void *host_of(const void *p);
/* A variable of a module, whose bytes are with the device. */
bool is_variable(const void *p);
/* The host wrote there. */
void wrote(const void *p, size_t n);
/* Memory at host_of-addresses from one place to the other; either may be a variable. */
cudaError_t move_bytes(void *to, const void *from, size_t n);
cudaError_t set_bytes(void *to, unsigned value, unsigned size, size_t count);

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
    uint64_t module;
    char *name;
    const void *stub;
    bool asked;
    struct wire_kernel facts;
    struct wire_param *param;
    int shared_most, carveout; /* attributes; -1: not set */
    struct kernel *next;
};
/* By its stub or handle; *error where NULL. */
struct kernel *kernel_of(const void *f, cudaError_t *error);
cudaError_t variable_address(const void *symbol, void **p, size_t *n);

/* ---- launch.c ---- */
cudaError_t launch_op(struct op *op, const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                      const struct cudaLaunchAttribute *attr, unsigned nattr);

cudaError_t copy3d_op(struct op *op, const struct cudaMemcpy3DParms *p); /* texture.c */
int runtime_version(void); /* enter.c: 13000: what the program was built with */

/* ---- order.c ---- */
struct stream {
    unsigned flags;
    int priority;
    cudaGraph_t into; /* captured into; NULL: not */
    bool origin;      /* the capture began here */
    struct stream *next;
};
struct stream *stream_of(cudaStream_t s); /* of NULL and the special numbers, too; NULL: none of ours */
void stream_add(struct stream *s);
bool stream_drop(cudaStream_t s);
struct event {
    uint64_t slot;
    unsigned flags;
    bool recorded;
    cudaGraph_t into; /* recorded in a stream that is captured into it; NULL: not */
    struct event *next;
};
struct event *event_of(cudaEvent_t e); /* NULL: none of ours */
void event_add(struct event *e);
bool event_drop(cudaEvent_t e);
cudaGraph_t capture_of(cudaStream_t s);
void capture_end(cudaGraph_t g); /* streams and events that it is made of are free again */

/* ---- graphs (ops.c) ---- */
struct node {
    struct op op;
    cudaGraph_t graph;
    cudaGraphNode_t *before; /* what it waits for; owned */
    size_t nbefore;
    uint64_t turn; /* of the walk that last came by */
};
struct graph {
    cudaGraphNode_t *v; /* owned, in the order of their making */
    size_t n, cap;
    uint64_t turn;
};
cudaGraph_t graph_new(void);
void graph_free(cudaGraph_t g);
cudaGraph_t graph_copy(const struct graph *g); /* NULL: out of memory */
/* A node behind those of `before`. Takes the op. */
cudaError_t graph_add(cudaGraph_t g, struct op *op, cudaGraphNode_t const *before, size_t nbefore,
                      cudaGraphNode_t *out);
cudaError_t graph_append(cudaGraph_t g, struct op *op, cudaGraphNode_t *out); /* behind the last */
cudaError_t graph_run(cudaGraph_t g);

#endif
