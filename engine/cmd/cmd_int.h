/* Private to cmd: parsed arguments, the subject of a command, printing. */
#ifndef GPULOCW_CMD_CMD_INT_H
#define GPULOCW_CMD_CMD_INT_H

#include "engine/cmd/cmd.h"

#include <stdio.h>

#define CMD_MAX_FILES 32
#define CMD_MAX_LIST  32
enum arg_kind_cmd { ARGK_FLAG, ARGK_TEXT, ARGK_INT, ARGK_NUM, ARGK_LIST };
struct args {
    const char *command;
    const char *file[CMD_MAX_FILES];
    size_t nfiles;
    bool has[64]; /* by row of args.def */
#define ARGV_FLAG(f) bool f;
#define ARGV_TEXT(f) const char *f;
#define ARGV_INT(f)  long f;
#define ARGV_NUM(f)  double f;
#define ARGV_LIST(f)             \
    const char *f[CMD_MAX_LIST]; \
    size_t f##_n;
#define ARG(field, name, short_, kind, value, commands, help) ARGV_##kind(field)
#include "engine/cmd/args.def"
#undef ARG
    struct options options;
    bool knob_given;
    const struct dev_env *env;
    const struct cmd_front *front;
    const struct cancel *cancel;
};
/* One row per command. `sees` is the word used in args.def. */
struct command {
    const char *name, *usage, *help;
    int (*run)(struct args *a);
    bool knobs;
    size_t files; /* most files it takes */
};
size_t command_count(void);
const struct command *command_at(size_t i);
const struct command *command_find(const char *name);
/* The command whose name is nearly that; NULL: none is. */
const char *command_near(const char *name);
/* ST_USAGE with a diagnostic. */
/* The rows of args.def. */
struct arg_row {
    const char *name;
    char letter;
    enum arg_kind_cmd kind;
    const char *value, *commands, *help;
    size_t offset, count_offset;
};
size_t arg_count(void);
const struct arg_row *arg_at(size_t i);
/* Does it go with the command of that name ("-": the workbench)? */
bool arg_for(const struct arg_row *r, const char *command);
enum status args_parse(int argc, char **argv, struct args *a, struct diags *ds);
void args_help(const struct command *c, struct buf *out); /* c NULL: the workbench itself */

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
    struct ana_kernel *facts;
    const char *kernel;
};
enum status workspace_ptx(struct workspace *s, const struct args *a, struct diags *ds);
/* A kernel by what people call it (ptx_find_entry). ST_OK with *f NULL: there is none; ST_INPUT: there
 * are several, ds names them. */
enum status cmd_find_entry(const struct ptx_module *m, const char *said, const struct ptx_func **f,
                           struct diags *ds);
enum status workspace_launch(struct workspace *s, const struct args *a, bool required, struct diags *ds);
enum status workspace_device(struct workspace *s, const struct args *a, struct diags *ds);
/* How long workers are waited for: --time-limit and the environment. */
struct dev_patience cmd_patience(const struct args *a);
enum status workspace_data(struct workspace *s, struct diags *ds);
/* All of these that the command line names: PTX, launch, device, data. */
enum status workspace_open(struct workspace *s, const struct args *a, struct diags *ds);
/* What a pass is to see of it; what analysing `kernel` is to know of it. */
struct pass_input workspace_input(const struct workspace *s, const struct options *o);
struct ana_opts workspace_analysis(const struct workspace *s, const struct args *a, struct str kernel);
/* Registers a thread of the kernel takes on the device (estimated on a simulated one); 0: not known. */
uint32_t cmd_registers(struct dev *d, const struct ptx_module *m, struct str kernel);
enum status workspace_facts(struct workspace *s, const struct args *a, bool quick, struct diags *ds);
void workspace_close(struct workspace *s);
/* Name of the launch description beside a PTX file, there or not; owned; NULL: out of memory. */
char *cmd_launch_name(const char *ptx);
/* path of the launch description beside a PTX file; owned; NULL: none there. */
char *launch_beside(const char *ptx);
/* Index of the launch a name asks for (kernel or launch name; NULL: the first); SIZE_MAX: none. */
size_t launch_pick(const struct launch_file *f, const char *name);
/* The program linked from several PTX files in the order given: the first with the kernel. */

/* ---- printing: the only place of the engine that does ---- */
/* prints diagnostics on stderr, frees them, gives the exit code */
int cmd_finish(enum status s, struct diags *ds);
/* To standard output, and there is no other way: as people may see it (engine/base/shown.h). */
void cmd_put(const struct buf *b);
/* byte for byte: for what is ours alone */
void cmd_put_exact(const struct buf *b);
/* May -o write `path`? A new or empty file, one that gpulocw wrote (by its format key or mark),
 * /dev/null, /dev/stdout, /dev/stderr, /dev/fd/N and the terminal: yes. ST_USAGE with a diagnostic:
 * another file, a link that leads to another folder, a pipe or device, and not `force`. */
enum status cmd_output_check(const char *path, bool force, struct diags *ds);
/* What files without a format key end with: ours are known by it. */
#define CMD_MARK_PTX  "// written by gpulocw"
#define CMD_MARK_PAGE "<!-- written by gpulocw -->"
/* PTX: byte for byte, unless a terminal would show it */
void cmd_put_code(const struct buf *b);
/* false: memory ran out in something that cmd_put printed */
bool cmd_put_whole(void);
void cmd_progress(double done, const char *what); /* a bar, when stderr is a terminal */
/* the same, with a text behind it */
void cmd_progress_detail(double done, const char *what, const char *detail);
void cmd_progress_end(void);
/* Text plot of a sweep: `width` columns; utf8 false: ASCII. */
void cmd_plot(const struct tune_sweep *s, unsigned width, unsigned height, bool utf8, struct buf *out);
/* What stands for point i of a sweep on its axis, as it is written on the command line. */
void cmd_point_name(const struct tune_sweep *s, size_t i, char *name, size_t n);
void cmd_family_text(const struct tune_family *f, const struct dev_info *dev, const char *kernel,
                     struct buf *out);
void cmd_sweep_text(const struct tune_sweep *s, const struct dev_info *dev, const char *kernel,
                    struct buf *out);
/* Copies the loads' counts, those first that bring most past L1. Returns the sectors that all of them
 * bring. */
uint64_t cmd_loads_hottest(const struct result *r, struct load_counts v[RESULT_MAX_LOADS]);
void cmd_result_text(const struct result *r, const struct dev_info *dev, const char *kernel,
                     struct buf *out);
/* "LDG.E x2, LDG.E.STRONG.GPU x1", and warnings of operators that change nothing on the device. */
void cmd_classes_text(const struct load_classes *c, struct buf *out);
void cmd_classes_warn(const struct load_classes *c, const struct dev_info *dev, struct diags *ds);
bool cmd_utf8(void);
/* Original against rewritten side by side, `width` columns, PTX in colour when `color` (cmd_diff.c). */
void cmd_side_by_side(const struct ptx_module *original, const struct pass_output *o, unsigned width,
                      bool color, bool utf8, struct buf *out);
/* Options that contradict each other or do nothing without another: ST_REFUSED with what to change. */
enum status cmd_contradictions(const struct options *o, struct diags *ds);
/* A bypass at the threshold that bypasses nothing is legal, and said: true. */
bool cmd_say_idle(const struct options *o, struct diags *ds);
/* ---- rewritten code as files (rewritten.c) ---- */
/* Notes: another grid, block or shared memory than spec's (NULL: not known), what to zero, what only a
 * launch can set. */
void cmd_say_launch(const struct launch_spec *spec, const struct options *o,
                    const struct pass_output *code, struct diags *ds);
/* FILE.tuned.ptx for FILE.ptx; owned; NULL: out of memory. */
char *cmd_tuned_name(const char *ptx);
/* The text for use without the engine. */
enum status cmd_code_write(const char *path, const struct pass_output *code, struct diags *ds);
/* The launch description beside the PTX file of that name: spec's, as the code wants it. Says where. */
enum status cmd_launch_write(const char *ptx, const struct launch_spec *spec,
                             const struct pass_output *code, struct diags *ds);
/* analyze --schedules (cmd_schedule.c). */
enum status cmd_schedules(const struct args *a, const struct workspace *s, struct diags *ds);

int cmd_analyze(struct args *a);
int cmd_launch(struct args *a);
int cmd_rewrite(struct args *a);
int cmd_run(struct args *a);
int cmd_sweep(struct args *a);
int cmd_tune(struct args *a);
int cmd_predict(struct args *a);
int cmd_replay(struct args *a);
int cmd_report(struct args *a);
int cmd_devices(struct args *a);
int cmd_calibrate(struct args *a);
int cmd_demo(struct args *a);
int cmd_worker(struct args *a);
int cmd_help(struct args *a);
int cmd_completion(struct args *a);
/* What may stand at the last of the words behind the program's name, one a line (complete.c):
 * "WORD\tHELP", or
 * ":files ENDING..." and ":folders", which the shell knows better. */
void cmd_complete(const char *const *word, size_t n, struct buf *out);
/* Names in a folder of the data directory with this ending, sorted; each owned. */
size_t cmd_data_names(const char *folder, const char *end, char **names, size_t most);
/* Name of report format i, or NULL behind the last. */
const char *cmd_report_format(size_t i);
/* The front end with what every command that opens it takes: device, workers, threads, mouse, theme,
 * colour. Its exit code. */
int cmd_front(struct args *a, const char *file, const struct cmd_front_opts *o);
/* ST_USAGE, and which command may have been meant. */
enum status cmd_no_such(const char *word, struct diags *ds);

#endif
