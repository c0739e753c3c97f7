/* workspace: what a command or the workbench works on. */
#pragma once

#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/session/launch_file.h"

struct dev_patience;

struct ana_kernel;
struct ana_opts;
struct args;
struct dev;
struct dev_env;
struct dev_pool;
struct options;
struct pass_input;
struct pass_output;
struct ptx_func;
struct source_want;

/* What a command works on, opened in the order the command needs it. */
struct workspace {
    struct ptx_module *module;
    /* NULL: none found and none asked for */
    struct launch_file launches;
    const struct launch_spec *spec;
    struct launch_data data;
    bool has_data;
    struct dev *dev;
    struct dev_info info;
    /* --devices, or several --worker: dev is the first member, or `own` */
    struct dev_pool *pool;
    struct dev *own;
    /* a simulated device of this process beside one that is not; NULL: dev is one */
    struct dev *prover;
    struct ana_kernel *facts;
    char race[512]; /* of the original, once the bench looked; empty: none was seen */
    const char *kernel;
};
/* A file of any kind that source.h has, or the program of several: "a.ptx + b.ptx". */
enum status workspace_read(const char *path, const struct source_want *w, struct ptx_module **out,
                           struct diags *ds);
/* "a.ptx + b.ptx"; owned; NULL: out of memory. */
char *workspace_join(const char *const *file, size_t n);
enum status workspace_ptx(struct workspace *s, const struct args *a, struct diags *ds);
/* A kernel by what people call it (ptx_find_entry). ST_OK with *f NULL: there is none; ST_INPUT: there
 * are several, ds names them. */
enum status workspace_find_entry(const struct ptx_module *m, const char *said, const struct ptx_func **f,
                                 struct diags *ds);
enum status workspace_launch(struct workspace *s, const struct args *a, bool required, struct diags *ds);
enum status workspace_device(struct workspace *s, const struct args *a, struct diags *ds);
/* How long workers are waited for: --time-limit and the environment. */
struct dev_patience workspace_patience(const struct args *a);
/* Opens s->prover where s->dev is a GPU or behind a worker. Without it proofs say that there is none. */
void workspace_prover(struct workspace *s, const struct args *a);
/* The simulated device to prove on what runs on `dev`: the same, or the most like that GPU. NULL: it
 * does not open. */
struct dev *workspace_prover_for(const struct dev_info *d, const struct dev_env *env, unsigned threads);
enum status workspace_data(struct workspace *s, struct diags *ds);
/* All of these that the command line names: PTX, launch, device, data. */
enum status workspace_open(struct workspace *s, const struct args *a, struct diags *ds);
/* What a pass is to see of it; what analysing `kernel` is to know of it. */
struct pass_input workspace_input(const struct workspace *s, const struct options *o);
/* The loads of what runs: of the original where nothing is rewritten or the rewriting is refused. */
struct load_classes workspace_classes(const struct workspace *s, const struct options *o);
struct ana_opts workspace_analysis(const struct workspace *s, const struct args *a, struct str kernel);
/* Registers a thread of the kernel takes on the device (estimated on a simulated one); 0: not known. */
uint32_t workspace_registers(struct dev *d, const struct ptx_module *m, struct str kernel);
enum status workspace_facts(struct workspace *s, const struct args *a, bool quick, struct diags *ds);
void workspace_close(struct workspace *s);
/* Name of the launch description beside a PTX file, there or not; owned; NULL: out of memory. */
char *workspace_launch_name(const char *ptx);
/* path of the launch description beside a PTX file; owned; NULL: none there. */
char *launch_beside(const char *ptx);
/* Index of the launch a name asks for (kernel or launch name; NULL: the first); SIZE_MAX: none. */
size_t launch_pick(const struct launch_file *f, const char *name);

/* ---- rewritten code as files (rewritten.c) ---- */
/* Notes: another grid, block or shared memory than l's (NULL: not known), what to zero, what only a
 * launch can set. */
void workspace_say_launch(const struct launch_spec *l, const struct options *o,
                          const struct pass_output *code, struct diags *ds);
/* FILE.tuned.ptx for FILE.ptx; owned; NULL: out of memory. */
char *workspace_tuned_name(const char *ptx);
/* The text for use without the engine. */
enum status workspace_code_write(const char *path, const struct pass_output *code, struct diags *ds);
/* The launch description beside the PTX file of that name: l's, as the code wants it. Says where. */
enum status workspace_launch_write(const char *ptx, const struct launch_spec *l, const struct options *o,
                                   const struct pass_output *code, struct diags *ds);
/* May -o write `path`? A new or empty file, one that gpulocw wrote (by its format key or mark),
 * /dev/null, /dev/stdout, /dev/stderr, /dev/fd/N and the terminal: yes. ST_USAGE with a diagnostic:
 * another file, a link that leads to another folder, a pipe or device, and not `force`. */
enum status workspace_output_check(const char *path, bool force, struct diags *ds);
/* The diagnostic of such a refusal; ST_USAGE. */
enum status workspace_output_refused(const char *path, const char *why, struct diags *ds);
/* The same of a rewritten PTX file and, with `launch`, of the launch description beside it. */
enum status workspace_code_check(const char *ptx, bool launch, bool force, struct diags *ds);
/* What files without a format key end with: ours are known by it. */
#define WORKSPACE_MARK_PTX  "// written by gpulocw"
#define WORKSPACE_MARK_PAGE "<!-- written by gpulocw -->"
#define WORKSPACE_MARK_TEXT "-- written by gpulocw"
