/* session: the only room that includes cJSON. Reads and writes launch
 * descriptions, presets, sessions and the contract's JSON documents. */
#ifndef GPULOCW_SESSION_SESSION_H
#define GPULOCW_SESSION_SESSION_H

#include "engine/base/base.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/result.h"
#include "engine/sim/sim.h"
#include "engine/tune/sweep.h"
struct ana_kernel;
struct calibrate_note;
struct dev;
struct dev_counters;
struct dev_pool_member;
struct launch_spec;
struct ptx_module;
struct sim_preset;
struct tune_proof;
struct tune_advice;
struct tune_found;
struct tune_pi_forecast;
struct tune_prediction;

/* ---- launch descriptions ---- */
struct launch_file {
    struct launch_spec *launch;
    size_t n;
    char *path;
};
enum status launch_file_read(const char *path, struct launch_file *out, struct diags *ds);
enum status launch_file_write(const char *path, const struct launch_spec *l, size_t n, struct diags *ds);
void launch_file_text(const struct launch_spec *l, size_t n, struct buf *out);
/* Is the PTX that a launch description names beside or below it, or --allow-files given? ST_INPUT with a
 * diagnostic: no. */
enum status launch_ptx_check(const char *ptx, const char *launch, struct diags *ds);
/* Tells launches apart: sizes, data and arguments; never 0. Not their files' names. */
uint64_t launch_key(const struct launch_spec *l);
void launch_file_free(struct launch_file *f);
/* What a launch does with its threads and its memory, in shares of 1. */
struct infer_work {
    bool known;           /* measured: a simulated device ran it clean */
    double idle_ctas;     /* CTAs none of whose threads touch memory */
    double idle_threads;  /* threads of the other CTAs that touch none */
    double unread;        /* bytes of inputs before the last that is used; NaN: there is no input */
    double unwritten;     /* the same of outputs */
    struct dim3u ctas;    /* the smallest grid from 0 on that has all CTAs at work */
    struct dim3u threads; /* the smallest block that has all threads at work */
};
/* What the user says of a launch that is guessed; n 0, block.x 0: nothing. */
struct infer_asked {
    uint32_t n; /* what integer parameters say */
    struct dim3u block;
    /* then: */
    bool said_n, said_block;
    const char *why;   /* what in the code the block comes from; NULL: it was said */
    bool runs;         /* it ran to its end, inside its buffers */
    bool clean;        /* and without a race, or a read of what nobody wrote */
    char unclean[256]; /* why it did not; empty: it did */
    struct infer_work work;
};
/* The n launches in l and what is known of each as the document gpulocw-guess. */
void json_guess(const struct launch_spec *l, const struct infer_asked *took, size_t n, struct buf *out);
/* A first description for a kernel that has none: buffers, outputs and types from the analysis; sizes
 * are guesses, tried on `dev` until the kernel runs clean (a warning when none does). asked: NULL, or
 * what the user says; then what was taken. *out: launch_spec_free. */
enum status launch_infer(const struct ana_kernel *facts, struct dev *dev, struct infer_asked *asked,
                         const struct cancel *cancel, struct launch_spec *out, struct diags *ds);
/* Row i of what a guess reads in the code; false: past the last. */
struct infer_row {
    const char *where;   /* part of the launch */
    const char *has;     /* what the code has */
    const char *becomes; /* what the guess makes of it */
};
bool infer_row(size_t i, struct infer_row *out);
/* Deep copy (launch_spec_free). */
enum status launch_copy(const struct launch_spec *l, struct launch_spec *out);
/* Kernels by their names in the module: where the file leaves them out, or says what people call them.
 * What is not found stays as it is. */
enum status launch_name_kernels(struct launch_file *f, const struct ptx_module *m);
/* Fits the description to the kernel: argument count and sizes, block limits. Located in the launch
 * file. */
enum status launch_check(const struct launch_spec *l, const struct ptx_module *m,
                         const struct dev_info *dev, struct diags *ds);

/* ---- presets ---- */
enum status preset_read(void *unused, const char *name_or_path, struct sim_preset *out,
                        struct diags *ds);
/* from: where the fields of a calibrated preset are from, for their "source"; NULL: numbers alone. */
/* base: shipped preset's name, or NULL */
struct preset_origin {
    const char *device, *base;
    const struct calibrate_note *notes;
};
enum status preset_write(const char *path, const struct sim_preset *p, const char *comment,
                         const struct preset_origin *from, struct diags *ds);
/* The shipped preset of the GPU most like one: its compute capability, or the last before it; of
 * several, the most alike L2. NULL: none. */
const char *preset_nearest(int cc_major, int cc_minor, uint64_t l2_bytes);
size_t preset_count(void);
const char *preset_name(size_t i);

/* ---- sessions: append as you go; valid after a kill at any byte ---- */
#define SESSION_MAJOR 1
#define SESSION_MINOR 0
enum run_kind { RUN_ONE, RUN_SWEEP, RUN_TUNE };
#define SESSION_PROBES 3
struct session_run { /* one thing the user ran */
    enum run_kind kind;
    bool deleted, earlier /* of a text opened before the session's present one */;
    int64_t time;
    char kernel[1536] /* mangled names of C++ are long */;
    char note[256];
    char race[512]; /* of the original, and what another order changes; empty: none was seen */
    struct dev_info dev;
    struct dim3u grid, block;
    uint64_t launch_key; /* launch_key of the launch it ran with; 0: not recorded */
    struct result one;
    struct tune_sweep sweep;
    struct tune_proof *proof; /* of one, or of the sweep's best; NULL: none (a search has its own) */
    /* tune: what came of it; else NULL: a session may have thousands of runs */
    struct tune_found *found;
    struct result *trail;
    size_t ntrail; /* tune: what was tried, in order */
    /* tune: room for SESSION_PROBES; method cluster-framework: launches of a reduced grid */
    struct result *probe;
    size_t nprobe;
};
struct session;
/* Deep copies, so that a finished state can be published while the run goes on. False on out of memory.
 */
bool session_run_copy(struct session_run *to, const struct session_run *from);
void session_run_clear(struct session_run *r);
/* What it is proven by, copied. False on out of memory. */
bool session_run_prove(struct session_run *r, const struct tune_proof *p);
/* A finished configuration of a sweep or a search, put where it belongs (bpa, cha, points, trail). */
bool session_run_point(struct session_run *run, const struct result *r);
/* path NULL: a fresh file under sessions/ or XDG data. ST_IO says so and the session goes on in memory.
 */
enum status session_new(const char *path, const char *ptx_path, struct session **out, struct diags *ds);
enum status session_load(const char *path, struct session **out, struct diags *ds);
enum status session_save(struct session *s, struct diags *ds);
/* Goes on in another file: written there now, and by every later save. The old file stays as it is. */
enum status session_move(struct session *s, const char *path, struct diags *ds);
/* Makes durable what was changed, at a cost that does not grow with what the session holds: run i as it
 * is now, or the result that session_run_point just added to `run`. A small file is written whole, a
 * large one gets a line in its journal (journal.h). As session_save. */
enum status session_keep_run(struct session *s, size_t i, struct diags *ds);
enum status session_keep_point(struct session *s, const struct session_run *run, const struct result *r,
                               struct diags *ds);
/* Before the session is left: writes the file whole where it has a journal. */
enum status session_finish(struct session *s, struct diags *ds);
void session_free(struct session *s);
const char *session_path(const struct session *s);
/* of its file when it was last read or written; 0: it has none yet */
uint64_t session_bytes(const struct session *s);
/* What was run: kept in the session so that it replays anywhere. Copied. */
void session_set_ptx(struct session *s, const char *path, struct str text);
enum status session_set_launch(struct session *s, const struct launch_spec *l);
/* NULL / empty when the session holds none (a text above 1 MiB is kept as path and hash alone). */
const char *session_ptx_path(const struct session *s);
struct str session_ptx_text(const struct session *s);
const struct launch_spec *session_launch(const struct session *s);
const char *session_time(const struct session *s);
size_t session_count(const struct session *s);
/* A run to look at, NULL: none, or it cannot be made of its text (session_trouble says why). Of a large
 * file each is read when it is first looked at, and goes with session_rest. session_at: a run to change
 * too; it stays, and every save writes it anew. */
const struct session_run *session_look(struct session *s, size_t i);
struct session_run *session_at(struct session *s, size_t i);
/* nobody looks at run i any more: what was made of its text is freed */
void session_rest(struct session *s, size_t i);
/* The run, for good: the caller's (session_run_clear, base_free); the session keeps its text. NULL: as
 * session_look, or it is changed here. */
struct session_run *session_take(struct session *s, size_t i);
/* moves what session_look had to say; true: some run is missing */
bool session_trouble(struct session *s, struct diags *ds);
/* No run is changed any more through a pointer from before: each is kept as text alone, which the next
 * save copies. */
void session_settle(struct session *s);
/* appended; fill it, then session_save */
struct session_run *session_begin(struct session *s, enum run_kind kind);

/* ---- the contract's documents ---- */
void json_analysis(const struct ana_kernel *const *k, size_t n, struct buf *out);
/* What the loads from global memory of a kernel are on a device: one entry for each class of machine
 * instruction and each thing to know about it. known: the device's architecture is; false: nothing can
 * be said. */
struct load_class {
    struct sim_operator op;
    uint32_t loads;
};
struct load_classes {
    struct load_class v[24];
    size_t n;
    bool known;
};
/* Of the kernel and the device functions of its module. dev: its preset where it is simulated, else its
 * compute capability. */
struct load_classes load_classes_of(const struct dev_info *dev, const struct ptx_module *m,
                                    const char *kernel);
/* A proof as an object, for a document that is written elsewhere. */
void json_proof(const struct tune_proof *p, struct buf *out);
/* race: of the original, as session_run.race; empty: none was seen. classes: NULL: not known (a kept
 * result). proof: NULL: none. */
void json_result(const struct result *r, const struct dev_info *dev, const char *kernel,
                 const char *race, const struct load_classes *classes, const struct tune_proof *proof,
                 struct buf *out);
/* proof: of the best, NULL: none. */
void json_sweep(const struct tune_sweep *s, const struct tune_proof *proof, const struct dev_info *dev,
                const char *kernel, const char *race, struct buf *out);
/* One slice: as json_sweep. Several: points of all slices in one list, and "slices" saying which are
 * whose. member[nmembers]: of the pool that ran it, as "pool"; 0: there was none. */
void json_family(const struct tune_family *f, const struct dev_info *dev, const char *kernel,
                 const char *race, const struct dev_pool_member *member, size_t nmembers,
                 struct buf *out);
/* advice: as it stood before the search, with what came of it; NULL: none was asked for (a kept search).
 * done: what was tried; those whose device failed are "missing". */
void json_found(const struct tune_found *f, const struct tune_advice *advice, size_t nadvice,
                const struct result *done, size_t ndone, const struct dev_info *dev, const char *kernel,
                const char *race, struct buf *out);
/* One row per method by name; and advice where nothing could be run ("launched": false). */
void json_compared(const char *const *method, const struct tune_found *f, size_t n,
                   const struct dev_info *dev, const char *kernel, struct buf *out);
void json_advice(const struct tune_advice *v, size_t n, const struct dev_info *dev, const char *kernel,
                 struct buf *out);
/* What the model says of two configurations and of the threshold; nothing was launched. */
void json_prediction(const struct tune_prediction *original, const struct tune_prediction *asked,
                     const struct tune_pi_forecast *f, const struct dev_info *dev, const char *kernel,
                     struct buf *out);
/* counters[i]: of device i, NULL: were not asked for. */
void json_devices(const struct dev_info *d, const struct dev_counters *const *counters, size_t n,
                  struct buf *out);

/* The result that a run recommends, borrowed; NULL: none, one whose outputs differ, or the original as
 * it is. */
const struct result *session_run_recommended(const struct session_run *r);

#endif
