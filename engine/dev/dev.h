/* dev: devices. One interface; simulated, CUDA (libcuda and CUPTI through dlopen),
 * and a proxy that runs either in a worker process. The only room with dlopen. */
#pragma once

#include "engine/rec/equality.h"
#include "engine/rec/counters.h"
#include "engine/rec/elem.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

struct launch_data;
struct launch_spec;
struct ptxas;

struct dev;
struct dev_code;
struct dev_data;
/* How long a worker is waited for, in seconds; 0: the usual. start: until its greeting, since a launcher
 * may queue or ask for a host key. silent: for a sign of life, which a worker gives twice a second while
 * it works; with a limit of launches, that and two seconds more when this is less. limit: of one launch,
 * as in dev_run; 0: none. */
struct dev_patience {
    double start;
    double silent;
    double limit;
};
#define DEV_START_S  60.0
#define DEV_SILENT_S 20.0
/* What a device needs from above: presets are data files read by `session`. */
struct dev_env {
    enum status (*preset)(void *ctx, const char *name, struct sim_preset *out, struct diags *ds);
    void *ctx;
    /* launcher prefixes of --worker; none: a local child for cuda:N */
    const char *const *workers;
    size_t nworkers;
    const char *self; /* path of this binary, for the local worker */
    unsigned threads; /* host threads of the simulated device, 0: all */
    /* asked: opening, loading, binding and reading back in a worker are given up within 100 ms, its
     * process with them; outlives the devices; NULL: nothing is given up */
    const struct cancel *cancel;
    bool in_process; /* inside `gpulocw worker`: open the real thing */
    /* names of the presets for dev_list, NULL past the last; may be NULL */
    const char *(*preset_at)(void *ctx, size_t i);
    struct dev_patience patience; /* with workers */
    /* what simulated devices ask for registers and spills (ptxas.h), outlives them; NULL: they are
     * estimated */
    struct ptxas *ptxas;
};
/* spec: sim:PRESET, a preset file, cuda:N, auto. ST_DEVICE with what to do next. *out owned, dev_close.
 */
enum status dev_open(const char *spec, const struct dev_env *env, struct dev **out, struct diags *ds);
/* The preset that a simulated device's spec stands for, with what it adds (+l1, +nol1, +nofma). */
enum status dev_preset(const char *spec, const struct dev_env *env, struct sim_preset *p,
                       struct diags *ds);
void dev_close(struct dev *d);
const struct dev_info *dev_describe(const struct dev *d);
/* Devices this machine offers, without running anything: calls fn for each. */
enum status dev_list(const struct dev_env *env, void (*fn)(void *ctx, const struct dev_info *i),
                     void *ctx, struct diags *ds);

/* Code: PTX text in, something launchable out. JIT errors come back as diagnostics with lines of `text`.
 * ST_CANCELLED: dev_env's cancel was asked; the device is usable again afterwards. */
enum status dev_load(struct dev *d, const char *path, struct str text, struct str kernel, int maxnreg,
                     struct dev_code **out, struct diags *ds);
/* The same of a rewritten text and what it means; marks: of the module that `text` is, not kept. */
enum status dev_load_marked(struct dev *d, const char *path, struct str text,
                            const struct text_marks *marks, struct str kernel, int maxnreg,
                            struct dev_code **out, struct diags *ds);
void dev_unload(struct dev *d, struct dev_code *c);
struct dev_resources {
    uint32_t regs;          /* 32-bit registers a thread */
    uint32_t shared_static; /* byte */
    uint32_t local_bytes;   /* byte a thread */
    uint32_t max_threads;   /* of a CTA */
    bool estimated;         /* registers and spills */
    uint32_t spilled;       /* byte a thread stores for want of registers; 0 on a GPU: not known */
    char regs_from[32];     /* who says how many registers: "ptxas 13.0.88", "driver", "model" */
};
struct dev_resources dev_code_resources(const struct dev_code *c);

/* Data: buffers and symbols of one launch description, uploaded once, restored before every launch that
 * needs it. `data` is borrowed: it must outlive the binding (a restarted worker is sent it again). */
enum status dev_bind(struct dev *d, const struct launch_data *data, struct dev_data **out,
                     struct diags *ds);
void dev_unbind(struct dev *d, struct dev_data *b);

struct dev_symbol_value {
    const char *symbol;
    uint64_t offset;
    const void *bytes;
    uint64_t n;
};
/* Seconds after which a simulated launch is stopped where nothing else is said. */
#define DEV_SIM_LIMIT_S 600.0
struct dev_run {
    const struct launch_spec *launch; /* kernel and arguments */
    struct dim3u grid, block;
    uint32_t shared; /* as the rewritten code wants them */
    const struct dev_symbol_value *set;
    size_t nset; /* written before the launch (knobs) */
    const struct dev_symbol_value *zero;
    size_t nzero; /* zeroed before every launch (bytes NULL) */
    int carveout, hw_pi;
    struct str persist;
    double persist_fraction; /* argument whose buffer L2 keeps in a part set aside; fraction of its
                              * lines, 0: as many as the part holds. Empty: none. Refused where
                              * info.l2_persist_bytes is 0 */
    /* timing: at least, at most, until (max-min)/median falls below spread */
    unsigned repeat, max_repeat;
    double spread;
    bool counters;
    bool exact, functional;
    enum dev_outputs outputs; /* timed; anything but ALL is a wish */
    /* what a launch of at least so many warp instructions leaves is kept for later ones that make SOME; 0: of none */
    uint64_t keep_from;
    /* Of the outputs only hashes are asked for: what a functional launch of the same code and shape left need not be made
     * again, and memory may hold something else. */
    bool unread;
    uint64_t max_insts;  /* functional, simulated: most instructions of all warps; 0: any number */
    bool flush_l2;       /* before each launch */
    bool energy;         /* measure that, too: seconds of launches */
    double time_limit_s; /* one launch; 0: 10 s on a GPU, DEV_SIM_LIMIT_S simulated */
    bool check_uninit, check_races;
    enum sim_dispatch dispatch;
    uint64_t seed;
    /* functional launches of a simulated device of this process; others refuse it */
    struct sim_hostile hostile;
    /* on a simulated device of this process: CTAs one after the other, so that a race always leaves the
     * same */
    bool serial;
    /* functional launches of a simulated device of this process: filled (sums.h); others leave it */
    struct sim_sums *sums;
    /* the same: which ways the instructions went (sides.h); the launch is slower */
    struct sim_sides *sides;
    /* the same: told each access of a warp, to shared memory too; fn NULL: nobody is */
    struct sim_told touch;
    /* 0..1, from any thread, one at a time, while the call goes on */
    const struct cancel *cancel;
    void (*progress)(void *ctx, double done);
    void *ctx;
};
struct dev_run dev_run_default(void);
/* Restores inputs, runs `before` launches, launches, fills time, counters, output hashes and resources
 * of *out (options, equality and voted are the caller's and stay). A failed configuration is a result,
 * not a lost device: ST_OK is returned and out->status and out->message say what happened (fault, time
 * limit, lost worker); the next launch works again. Another return value (also put in out->status) is
 * about the call: ST_INPUT arguments do not fit the kernel, ST_CANCELLED, ST_NOMEM, ST_DEVICE the device
 * cannot be brought back; ds says why. */
enum status dev_launch(struct dev *d, struct dev_code *c, struct dev_data *b, const struct dev_run *r,
                       struct result *out, struct diags *ds);
/* Buffer or module variable i as the last launch left it, on a simulated device of this process; false:
 * past the last, or another device. Borrowed until the next launch. A buffer's `arg` is the first
 * argument that is it, or DEV_LEFT_BEFORE: only `before` launches have it. */
#define DEV_LEFT_VARIABLE SIZE_MAX
#define DEV_LEFT_BEFORE   (SIZE_MAX - 1)
struct dev_left {
    struct str name;
    size_t arg;
    const uint8_t *bytes;
    uint64_t n;
    bool written;   /* a launch may have stored into it */
    bool addresses; /* begins with some, which another text may have elsewhere */
};
bool dev_left(struct dev *d, struct dev_code *c, struct dev_data *b, size_t i, struct dev_left *out);
/* Where argument `arg` of bound data lies on a simulated device of this process, and its bytes, as
 * dev_run.touch tells accesses; false: it is no buffer of its own, or another device. */
bool dev_placed(struct dev *d, struct dev_data *b, size_t arg, uint64_t *addr, uint64_t *n);
/* Nobody will ask any more what the last launch left in the buffers: until the next one they need no
 * memory, where a device has them in ours. */
void dev_discard_outputs(struct dev *d, struct dev_data *b);
/* Did the last call fail because of the way to the worker (silence, damaged bytes), not of what was
 * asked? Once more may do. */
bool dev_astray(const struct dev *d);
/* Bytes of an argument's buffer, or of a module symbol, as the last launch left them. */
enum status dev_read_arg(struct dev *d, struct dev_data *b, size_t arg, void *bytes, uint64_t n,
                         struct diags *ds);
/* from byte `at` on */
enum status dev_read_part(struct dev *d, struct dev_data *b, size_t arg, uint64_t at, void *bytes,
                          uint64_t n, struct diags *ds);
enum status dev_read_symbol(struct dev *d, struct dev_code *c, const char *symbol, void *bytes,
                            uint64_t n, struct diags *ds);

/* Where a device's counters come from, each by itself: `from` is a formula over the metrics of its chip,
 * or "simulated"; where one is not valid, why not. why: what stands in the way of all of them, and what
 * to do about it; empty: nothing. */
struct dev_counters {
    char chip[32];
    unsigned passes; /* of a launch with all counters; 0: no replay */
    char why[256];
    struct {
        bool valid;
        char from[256];
    } of[COUNTERS_MOST];
    bool limits; /* what binds a launch is told; limits_from: from what, or why not */
    char limits_from[256];
};
enum status dev_counters(struct dev *d, struct dev_counters *out, struct diags *ds);

/* The worker's side: serves framed messages on two file descriptors until the other end closes. */
enum status dev_worker_serve(const struct dev_env *env, int in_fd, int out_fd);
/* Measures a device and fills a preset; residuals as text, and of each field (sim_preset_field) where it
 * is from. What no benchmark shows is the base's: a preset of a GPU like this one, or NULL: the default
 * preset's. ST_CANCELLED when asked (cancel may be NULL): *out is then of no use. */
enum calibrate_from { CALIBRATE_BASE, CALIBRATE_DRIVER, CALIBRATE_MEASURED };
struct calibrate_note {
    enum calibrate_from from;
    double residual;
};
enum status dev_calibrate(struct dev *d, const struct sim_preset *base, const struct cancel *cancel,
                          struct sim_preset *out, struct calibrate_note notes[SIM_PRESET_FIELDS],
                          struct buf *residuals, struct diags *ds);
