/* wire: what the runtime library in a program and the process with the simulated device tell each other,
 * over a stream socket: a head, a record by kind, bytes. Both are of one build: no versions, host byte
 * order. Device memory is a file that both map; its bytes never travel. */
#pragma once

#include <stdint.h>

/* the socket's path, for the program and all that it starts */
#define WIRE_ENVIRONMENT "GPULOCW_EMULATE"
/* the library, as it is in the folder that the program sees */
#define WIRE_LIBRARY "libgpulocw-emulate.so"

/* X(KIND, record, is it answered) */
#define WIRE_KINDS(X)                                                               \
    X(HELLO, wire_hello)     /* answered: wire_device */                            \
    X(MODULE, wire_module)   /* and the bytes of its fatbins */                     \
    X(OPEN, wire_name)       /* answered: wire_opened, names, why it cannot be */   \
    X(KERNEL, wire_name)     /* and the name; answered: wire_kernel, wire_params */ \
    X(VARIABLE, wire_name)   /* and the name; answered: wire_variable */            \
    X(PLACE, wire_range)     /* and the name: a managed variable's memory */        \
    X(LEND, wire_range)      /* an allocation */                                    \
    X(RELEASE, wire_range)   /* it is gone */                                       \
    X(LAUNCH, wire_launch)   /* and the parameter block */                          \
    X(SYNC, wire_nothing)    /* answered: wire_done, and what was printed */        \
    X(RECORD, wire_number)   /* event number */                                     \
    X(TIME, wire_number)     /* answered: wire_time */                              \
    X(PUT, wire_range)       /* and bytes for a variable; answered: wire_done */    \
    X(GET, wire_range)       /* answered: wire_done, and the bytes */               \
    X(WROTE, wire_range)     /* by the host: initialised memory */                  \
    X(FITS, wire_launch)     /* answered: wire_fits */                              \
    X(TEXTURE, wire_texture) /* what a handle stands for */                         \
    X(TENSOR, wire_tensor)   /* answered: wire_map */                               \
    X(MISSING, wire_nothing) /* and the name of a call that is not there */         \
    X(RESET, wire_nothing)   /* the device's errors are forgotten */
#define X(kind, record) WIRE_##kind,
enum wire_kind { WIRE_KINDS(X) WIRE_KIND_COUNT };
#undef X

struct wire_head {
    uint32_t kind;
    uint32_t pad;
    uint64_t bytes; /* of record and bytes */
};
struct wire_nothing {
    uint64_t nothing;
};
struct wire_hello { /* the memory's file travels beside it */
    uint64_t base;  /* device address of its first byte */
    uint64_t bytes; /* of the file; variables of modules lie behind it */
    int64_t pid;
};
struct wire_module {
    uint64_t id;
    uint64_t parts; /* fatbins, one behind the other, each with its size (u64) before it */
};
struct wire_name {
    uint64_t module;
};
struct wire_range {
    uint64_t module; /* PLACE */
    uint64_t addr;
    uint64_t n;       /* bytes */
    uint64_t at;      /* LEND, PLACE: byte of the file */
    uint64_t written; /* LEND: all of it counts as initialised */
};
struct wire_number {
    uint64_t n;
};
struct wire_opened {
    int32_t error;    /* cudaError */
    uint32_t kernels; /* how many names follow, each with a zero byte; behind them what is wrong */
    uint64_t names;   /* bytes of all names */
};
struct wire_kernel {
    int32_t error; /* cudaError; then all else is 0 */
    uint32_t id;
    uint32_t nparams, param_bytes;
    uint32_t regs;
    uint32_t shared_static;
    uint32_t local_bytes;
    uint32_t const_bytes;
    uint32_t max_threads;
    uint32_t cluster[3];  /* that the kernel requires; 0: none */
    uint32_t ptx_version; /* 87: 8.7 */
    uint32_t pad;
};
struct wire_param {
    uint32_t offset, bytes;
};
struct wire_variable {
    int32_t error;
    uint32_t constant;
    uint64_t addr, bytes;
};
struct wire_launch {
    uint32_t kernel;
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* [0] 0: as the kernel says */
    uint32_t shared;     /* dynamic, bytes */
    int32_t carveout;    /* percent; -1: not set */
    uint32_t cooperative;
    uint32_t pad;
};
struct wire_fits {
    uint32_t ctas_per_sm, clusters;
    uint64_t ctas;
};
struct wire_done {
    int64_t error; /* cudaError: SYNC: of the launches so far; 0: none */
};
struct wire_time {
    double ns;     /* of the device's clock */
    int32_t known; /* the event was recorded */
    int32_t pad;
};
struct wire_texture {
    uint64_t index;
    uint64_t address;
    uint64_t pitch;
    uint32_t dims[3];
    uint32_t layers;
    uint32_t levels;
    uint8_t live;
    uint8_t rank;
    uint8_t elem_bytes;
    uint8_t elem_kind; /* kind: 0 signed, 1 unsigned, 2 float */
    uint8_t channels;
    uint8_t edge[3];
    uint8_t array;
    uint8_t cube;
    uint8_t surface;
    uint8_t linear;
    uint8_t normalized;
    uint8_t fraction;
    uint8_t mip_linear;
    uint8_t pad;
};
/* What cuTensorMapEncodeTiled is given, in the driver's numbers; strides[0] is not used. */
struct wire_tensor {
    uint64_t address;
    uint64_t dims[5];
    uint64_t strides[5]; /* bytes */
    uint32_t box[5];
    uint32_t steps[5];
    uint32_t rank;
    uint32_t type;
    uint32_t interleave;
    uint32_t swizzle;
    uint32_t l2;
    uint32_t nan;
};
struct wire_map {
    int64_t error; /* cudaError; else the 128 bytes */
    uint8_t bytes[128];
};
/* What the program may ask of the device. */
struct wire_device {
    char name[128];
    uint64_t mem_bytes;
    uint64_t l2_bytes;
    uint64_t l2_persist_bytes;
    uint64_t shared_per_sm;
    uint64_t shared_optin;
    uint64_t regs_per_sm;
    uint32_t cc_major;
    uint32_t cc_minor;
    uint32_t sms;
    uint32_t warp_size;
    uint32_t warps_per_sm;
    uint32_t ctas_per_sm;
    uint32_t threads_per_block;
    uint32_t clock_khz;
    uint32_t mem_clock_khz;
    uint32_t bus_bits;        /* mem_clock_khz, bus_bits 0: not known */
    uint32_t reserved_shared; /* of a CTA, by the system */
    uint32_t checks;          /* WROTE is wanted */
    uint64_t texture_handle;  /* handle of texture 0; they count up by one */
};
