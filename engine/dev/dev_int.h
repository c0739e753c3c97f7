/* dev, private: the device record and what the devices share.
 *
 *   dev.c        spec -> device, dispatch          dev_bound.c  buffers and parameter blocks
 *   dev_sim.c    simulated device                  dev_watch.c  time limits
 *   dev_cuda*.c  libcuda device                    proxy.c, worker.c, wire.c  worker process
 *
 * A device embeds struct dev first; its code and data embed struct dev_code and struct dev_data. */
#pragma once

#include "engine/dev/dev.h"
#include "engine/rec/device.h"

struct dev_bound;
struct launch_buffer;
struct output_hash;
struct ptx_func;

struct dev_source {
    const char *path;
    struct str text, kernel;
    int maxnreg;
    const struct text_marks *marks; /* NULL: none */
    struct sim_compiled
        compiled; /* for a simulated device; regs 0: no assembler was asked, or it refused */
};
struct dev_ops {
    void (*close)(struct dev *d);
    /* what its code and its data begin with: dev makes them, zeroed, and frees them. What could not be
     * loaded or bound is unloaded or unbound as it was left. */
    size_t code_bytes, data_bytes;
    enum status (*load)(struct dev *d, struct dev_code *c, const struct dev_source *s, struct diags *ds);
    void (*unload)(struct dev *d, struct dev_code *c); /* NULL: it holds nothing */
    enum status (*bind)(struct dev *d, struct dev_data *b, struct diags *ds); /* b->data is set */
    void (*unbind)(struct dev *d, struct dev_data *b);
    enum status (*launch)(struct dev *d, struct dev_code *c, struct dev_data *b, const struct dev_run *r,
                          struct result *out, struct diags *ds);
    void (*discard)(struct dev *d, struct dev_data *b); /* NULL: nothing to do */
    enum status (*read_arg)(struct dev *d, struct dev_data *b, size_t arg, uint64_t at, void *bytes,
                            uint64_t n, struct diags *ds);
    enum status (*read_symbol)(struct dev *d, struct dev_code *c, const char *symbol, void *bytes,
                               uint64_t n, struct diags *ds);
    /* NULL: cannot tell */
    bool (*left)(struct dev *d, struct dev_code *c, struct dev_data *b, size_t i, struct dev_left *out);
    /* where its buffers lie; NULL: they are elsewhere */
    const struct dev_bound *(*bound)(const struct dev_data *b);
    /* NULL: all of them, simulated */
    enum status (*counters)(struct dev *d, struct dev_counters *out, struct diags *ds);
};
struct dev {
    const struct dev_ops *ops;
    struct dev_info info;
    bool died;        /* the last launch took its process along: it may be tried elsewhere */
    bool astray;      /* the last call failed on the way to the worker: silence or damaged bytes */
    uint64_t dropped; /* frames that came twice or late */
    bool unusable;    /* this process cannot go on with the device (fault or hang in a context) */
    struct ptxas
        *ptxas; /* borrowed, of a simulated device: asked about what it loads; NULL: nobody is */
};
struct dev_code {
    struct dev_resources res;
};
struct dev_data {
    const struct launch_data *data;
};

/* Loads it as it is: nobody is asked. */
enum status dev_load_source(struct dev *d, const struct dev_source *s, struct dev_code **out,
                            struct diags *ds);
/* The kernel of s among m's functions; ST_INPUT: there is none, and it is told. */
enum status dev_find_kernel(const struct ptx_module *m, const struct dev_source *s,
                            const struct ptx_func **out, struct diags *ds);
enum status dev_sim_open(const struct sim_preset *p, const char *spec, unsigned threads,
                         struct dev **out, struct diags *ds);

/* ---- dev_bound.c: every distinct buffer of a launch description, and who uses it ---- */
struct dev_buffer {
    const char *name;
    uint64_t bytes;
    uint64_t addr;                  /* on the device; the owner of the binding sets it */
    uint64_t must;                  /* where that must be; 0: anywhere */
    const struct launch_buffer *of; /* of the launch data, borrowed: what it holds at first */
};
struct dev_use {
    size_t buffer;
    uint64_t offset;
}; /* buffer SIZE_MAX: the argument is a value */
/* `which`: the launch itself, else an index into before */
#define DEV_MAIN SIZE_MAX
struct dev_bound {
    const struct launch_data *data;
    struct dev_buffer *buffers;
    size_t nbuffers;
    struct dev_use *main_use, **before_use;
};
/* The first argument of the launch itself that is this buffer; DEV_LEFT_BEFORE: none. */
size_t dev_bound_user(const struct dev_bound *b, size_t buffer);
enum status dev_bound_init(struct dev_bound *b, const struct launch_data *data, struct diags *ds);
void dev_bound_free(struct dev_bound *b);
/* ST_DEVICE with a diagnostic: the buffer cannot be where it must. */
enum status dev_bound_misplaced(const struct dev_buffer *b, const char *why, struct diags *ds);
/* The parameter block of a launch, laid out as the kernel declares it. Owned (base_free). ST_INPUT: does
 * not fit. */
enum status dev_bound_params(const struct dev_bound *b, size_t which, const struct launch_spec *l,
                             const struct ptx_func *f, uint8_t **block, uint64_t *n, struct diags *ds);
/* Parameters of a simulated launch, and what its texture, surface and sampler handles stand for
 * (texture.h), also the variables of prog that are such; given back with dev_sim_args_free, whatever the
 * status. ST_INPUT: texels beyond the end of their buffer. */
enum status dev_sim_args(const struct dev_bound *b, size_t which, const struct launch_spec *l,
                         const struct ptx_func *f, const struct sim_program *prog, struct sim_launch *s,
                         struct diags *ds);
void dev_sim_args_free(struct sim_launch *s);
/* Buffer of argument `arg` when n bytes follow from byte `at` of it on; NULL with a diagnostic. *offset:
 * where those start. */
const struct dev_buffer *dev_bound_arg(const struct dev_bound *b, size_t arg, uint64_t at, uint64_t n,
                                       uint64_t *offset, struct diags *ds);

/* ---- dev_window.c ---- */
/* What r->persist asks for, on a device that sets at most most_part bytes aside for at most most_window.
 * ST_INPUT: no such buffer, and it is told. */
enum status dev_window(const struct dev_bound *b, const struct dev_run *r, uint64_t most_part,
                       uint64_t most_window, struct sim_window *out, struct diags *ds);
/* The same, on a simulated device. */
enum status dev_sim_window(const struct dev_bound *b, const struct dev_run *r,
                           const struct sim_preset *g, struct sim_window *out, struct diags *ds);

/* ---- results ---- */
void dev_result_begin(struct result *out); /* empties all but what is the caller's */
/* Records why a configuration failed. */
void dev_result_no_energy(struct result *out, const char *why); /* where none is asked for: why */
void dev_result_fail(struct result *out, enum status st, const char *fmt, ...) BASE_PRINTF(3, 4);
/* The first error of ds as the result's message; the result gets status st. */
void dev_result_from_diags(struct result *out, enum status st, const struct diags *ds);
void dev_result_output(struct result *out, const char *name, const void *bytes, uint64_t n);
/* The same, with the hash at hand; h's name is filled in. */
void dev_result_hash(struct result *out, const char *name, const struct output_hash *h);

/* ---- dev_watch.c: cancels after a time, or when the outer request does ---- */
struct dev_watch;
/* NULL on out of memory. limit_s > 0. */
struct dev_watch *dev_watch_start(double limit_s, const struct cancel *outer);
const struct cancel *dev_watch_cancel(struct dev_watch *w);
bool dev_watch_stop(struct dev_watch *w); /* frees it; true: the time limit was hit */

/* Counters, and where `timed` the time and the loads by line, of a simulated launch into its result.
 * Cache counters and the time of a functional run are n/a; instruction counts hold for both. */
void dev_sim_counters(struct result *out, const struct sim_stats *s, bool timed);
/* Registers, spills and memory of the code that ran, and how many of its CTAs are resident. */
void dev_sim_code(struct result *out, const struct dev_resources *r);
/* Hashes of the buffers marked output, as device memory holds them. */
void dev_sim_outputs(struct result *out, const struct launch_spec *l, const struct dev_bound *b,
                     struct sim_mem *mem);
