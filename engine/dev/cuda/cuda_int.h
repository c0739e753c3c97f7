/* dev, private: the CUDA device.
 *
 *   dev_cuda.c     open, close, describe, read back
 *   cuda_code.c    JIT, its diagnostics, module cache
 *   cuda_link.c    JIT of programs that need a library
 *   cuda_data.c    buffers with guard zones, baseline and restore
 *   cuda_compare.c what a launch changed: guard zones, modified buffers, outputs
 *   cuda_launch.c  launch, time limit, timing, outputs
 *   cuda_gate.c    timed launches start when all that belongs to them is queued
 *   cuda_persist.c lines of one buffer kept in L2
 *   cuda_count.c   counters through cupti.h
 *
 * State. Every buffer has a live copy that kernels see and a pristine copy that
 * they do not; the same for module variables. The *baseline* is what a launch
 * starts from: initial data, symbols, and what the `before` launches made of
 * them. It is made once per (module, data), kept in the pristine copies, and
 * restored before every launch. */
#pragma once

#include "engine/dev/cuda/drv.h"
#include "engine/dev/dev_int.h"

struct cupti;
struct nvml;

#define CUDA_GUARD           512u /* bytes before and after each buffer, filled with CUDA_GUARD_BYTE */
#define CUDA_GUARD_BYTE      0xA5
#define CUDA_DEFAULT_LIMIT_S 10.0

struct cuda_var {
    const char *name;
    drv_ptr live;  /* device memory: in use */
    drv_ptr first; /* device memory: as it was at the start */
    drv_ptr now;   /* device memory: of this launch */
    size_t n;
};
struct cuda_module { /* one JIT result; lives until the device is closed */
    uint64_t hash;
    int maxnreg, level; /* level: of optimisation, -1: the driver's choice */
    struct ptx_module *ptx;
    drv_module handle;
    struct cuda_var *vars;
    size_t nvars;
    const struct cuda_data *data; /* whose baseline vars[].now holds; NULL: none */
};
struct cuda_code {
    struct dev_code base;
    struct cuda_module *module;
    const struct ptx_func *func;
    drv_function fn;
    int carveout;       /* as last set */
    int dynamic_shared; /* allowed so far */
    bool cooperative;
};
/* bytes: with guard zones */
struct cuda_buffer {
    drv_ptr live, pristine;
    uint64_t bytes;
    bool modified;
};
/* What the comparison kernel found, as it lies on the device: bytes in the range that differ, and the
 * complement of the least offset of one (so that all zero means: no difference). */
struct cuda_diff {
    uint64_t flags;
    uint64_t count;
    uint64_t not_first;
};
enum { CUDA_DIFF_INSIDE = 1, CUDA_DIFF_OUTSIDE = 2 };
/* An output as an earlier launch left it, kept on the device, with the hash its bytes had on the host:
 * a later output with the same bytes has the same hash and is not read back. copy 0: none yet. */
struct cuda_reference {
    drv_ptr copy;
    uint64_t hash;
    bool valid;
};
struct cuda_data {
    struct dev_data base;
    struct dev_bound bound;
    struct cuda_buffer *buffers;
    struct cuda_reference *ref; /* [nbuffers] */
    /* whose `before` launches the pristine copies include; NULL: initial data */
    const struct cuda_module *module;
    /* a kernel wrote outside a buffer: pristine copies are not to be trusted */
    bool dirty;
};
/* useless: the driver has no such wait, or launches wait for their end. page: NULL, or pinned host
 * memory. */
struct cuda_gate {
    uint8_t *page;
    struct cuda_gate_guard *guard; /* owned */
    uint32_t turn;                 /* the word's value with which the last gate opens */
    bool useless;
};
/* launches that a sample of a short kernel is the mean of */
#define CUDA_BATCH 16
struct cuda_dev {
    struct dev base;
    struct drv drv;
    drv_device device;
    int ordinal;
    int plain; /* enum dev_plain */
    bool retained;
    drv_context ctx;
    drv_stream stream;
    drv_event begin, end;
    drv_event batch[2 * CUDA_BATCH]; /* made when a short launch is timed first */
    struct cuda_gate gate;
    struct cuda_module **modules;
    size_t nmodules, cap;
    drv_module helper;
    drv_function compare;
    bool helper_tried;
    drv_ptr diffs;
    size_t ndiffs;
    drv_ptr flush;
    uint64_t flush_bytes;
    uint8_t *staging;
    uint64_t staging_bytes;
    /* when the clocks were asked for last, and the answer */
    struct nvml *nvml;
    int64_t looked;
    bool throttled;
    struct cupti *cupti;
    bool cupti_tried, cupti_told;
    char cupti_why[256];
};
/* One launch under way. */
struct cuda_job {
    struct cuda_dev *d;
    struct cuda_code *c;
    struct cuda_data *b;
    const struct dev_run *r;
    struct result *out;
    struct diags *ds;
    uint8_t *block;
    void **params;
};

/* ST_OK, or ST_DEVICE with a diagnostic; a sticky error makes the device unusable. */
enum status cuda_check(struct cuda_dev *d, drv_result e, const char *what, struct diags *ds);
/* A buffer with n bytes of data, guard zones around it. */
enum status cuda_alloc(struct cuda_dev *d, uint64_t n, const char *what, drv_ptr *out, struct diags *ds);

/* The module stays in the cache when the code is unloaded. */
enum status cuda_load(struct dev *d, struct dev_code *c, const struct dev_source *s, struct diags *ds);
void cuda_modules_free(struct cuda_dev *d);
enum status cuda_function(struct cuda_dev *d, struct cuda_module *m, struct str name, drv_function *out,
                          struct diags *ds);

struct cuda_jit_options {
    unsigned n;
    drv_jit_option option[5];
    void *value[5]; /* pointers, or integers in a pointer's place, as the driver wants them */
};
/* Does the module call what only a library has, and is one known? */
bool cuda_link_wanted(const struct cuda_dev *d, const struct ptx_module *m);
/* ST_OK; ST_INPUT with a diagnostic; ST_DEVICE: *e says why, and the log of the options. */
enum status cuda_link(struct cuda_dev *d, const struct ptx_module *m, const struct cuda_jit_options *o,
                      drv_module *out, drv_result *e, struct diags *ds);
/* After a failed load: what would have been needed, as a hint of the last diagnostic. */
void cuda_link_hint(const struct ptx_module *m, struct diags *ds);

enum status cuda_bind(struct dev *d, struct dev_data *b, struct diags *ds);
void cuda_unbind(struct dev *d, struct dev_data *b);
enum status cuda_baseline(struct cuda_job *j);
/* Live copies as the baseline says, then knobs. all: every buffer; else those the kernel modifies. */
enum status cuda_restore(struct cuda_job *j, bool all);
/* After a launch from the baseline: which buffers it modified, whether it wrote outside of one (a failed
 * result), and the hashes of its outputs. */
enum status cuda_inspect(struct cuda_job *j);
const char *cuda_compare_ptx(void); /* the text of the comparison kernel, for tests */
/* Parameter pointers for cuLaunchKernel. Owned: base_free both. */
enum status cuda_params(struct cuda_job *j, size_t which, const struct launch_spec *l,
                        const struct ptx_func *f, uint8_t **block, void ***params);

enum status cuda_launch(struct dev *d, struct dev_code *c, struct dev_data *b, const struct dev_run *r,
                        struct result *out, struct diags *ds);
/* Records the events around one launch of the job's kernel and waits. */
enum status cuda_launch_once(struct cuda_job *j);
/* Waits for the end event within the time limit. ST_DEVICE: fault or limit; ST_CANCELLED. */
enum status cuda_wait(struct cuda_job *j);
enum status cuda_start(struct cuda_job *j, drv_function f, const struct ptx_func *pf, struct dim3u grid,
                       struct dim3u block, struct dim3u cluster, uint32_t shared, void **params,
                       bool cooperative);
/* ---- the gate ---- */
/* How many launches of the job may be queued behind one; 0: there is none. */
size_t cuda_gate_room(struct cuda_job *j);
/* Every shut gate must be opened before anything waits for the stream. */
void cuda_gate_shut(struct cuda_job *j);
void cuda_gate_open(struct cuda_job *j);
/* Of an unusable device it leaves the driver alone. */
void cuda_gate_free(struct cuda_dev *d);
/* The bytes of set[i], in memory that a copy need not wait for, where there is a gate. */
const void *cuda_gate_bytes(struct cuda_job *j, size_t i);
/* ---- a part of L2 set aside for one buffer: a limit of this context and an attribute of our stream,
 * both undone ---- */
struct cuda_window {
    bool on;
    size_t limit;
}; /* limit: as it was before */
bool cuda_can_persist(const struct drv *v);
enum status cuda_persist_begin(struct cuda_job *j, struct cuda_window *w);
void cuda_persist_end(struct cuda_job *j, const struct cuda_window *w);
/* The energy of out, which is timed: cuda_energy.c. */
enum status cuda_energy(struct cuda_job *j);
/* Counters of out when they are wanted, or one note in its message saying why there are none. */
enum status cuda_count(struct cuda_job *j);
enum status cuda_counters(struct dev *d, struct dev_counters *out, struct diags *ds);
