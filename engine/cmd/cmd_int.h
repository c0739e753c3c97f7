/* Private to cmd: parsed arguments, the subject of a command, printing. */
#pragma once

#include "engine/tune/proof.h"

#include <stdio.h>

struct args;
struct dev_info;
struct load_classes;
struct result;
struct workspace;

struct cmd_front_opts;
struct pass_output;
struct ptx_module;
struct roofline_device;
struct tune_family;
struct tune_sweep;

/* One row per command. `sees` is the word used in args.def. */
struct command {
    const char *name;
    const char *usage;
    const char *help;
    int (*run)(struct args *a);
    bool knobs;
    size_t files; /* most files it takes */
};
size_t command_count(void);
const struct command *command_at(size_t i);
const struct command *command_find(const char *name);
/* The command whose name is nearly that; NULL: none is. */
void args_help(const struct command *c, struct buf *out); /* c NULL: the workbench itself */
/* What `help` tells besides commands. */
struct help_topic {
    const char *name;
    const char *help;
    void (*put)(struct buf *out);
};
/* NULL: behind the last. */
const struct help_topic *help_topic_at(size_t i);

/* ---- printing: the only place of the engine that does; where to, a->io says (engine/cmd/io.h) ---- */
/* tells the diagnostics, frees them, gives the exit code */
int cmd_finish(const struct args *a, enum status s, struct diags *ds);
/* To standard output, and there is no other way: as people may see it (engine/base/shown.h). */
void cmd_put(const struct args *a, const struct buf *b);
void cmd_give(const struct args *a, struct buf *b); /* and frees it */
/* beside a program that has standard output */
void cmd_put_aside(const struct args *a, const struct buf *b);
/* byte for byte: for what is ours alone */
void cmd_put_exact(const struct args *a, const struct buf *b);
/* PTX: byte for byte, unless a terminal would show it */
void cmd_put_code(const struct args *a, const struct buf *b);
/* how far: `done` is 0..1 */
void cmd_progress(const struct args *a, double done, const char *what);
/* the same, with a text behind it */
void cmd_progress_detail(const struct args *a, double done, const char *what, const char *detail);
void cmd_progress_end(const struct args *a);
void cmd_family_text(const struct tune_family *f, const struct dev_info *d, const char *kernel,
                     struct buf *out);
void cmd_sweep_text(const struct tune_sweep *s, const struct dev_info *d, const char *kernel,
                    struct buf *out);
/* d: as of roofline_of */
void cmd_result_text(const struct result *r, const struct dev_info *dev, const char *kernel,
                     struct roofline_device *d, struct buf *out);
/* "LDG.E x2, LDG.E.STRONG.GPU x1", and warnings of operators that change nothing on the device. */
void cmd_classes_text(const struct load_classes *c, struct buf *out);
void cmd_classes_warn(const struct load_classes *c, const struct dev_info *d, struct diags *ds);
bool cmd_utf8(void);
/* Original against rewritten side by side, `width` columns, PTX in colour when `color` (cmd_diff.c). */
void cmd_side_by_side(const struct ptx_module *original, const struct pass_output *o, unsigned width,
                      bool color, bool utf8, struct buf *out);
/* What --prove says, `unasked` where it is not there. ST_USAGE, with a diagnostic: neither quick nor
 * full. */
enum status cmd_prove_level(const char *text, enum tune_level unasked, enum tune_level *level,
                            struct diags *ds);
/* analyze --schedules (cmd_schedule.c). */
enum status cmd_schedules(const struct args *a, const struct workspace *s, struct diags *ds);

/* A kernel in a document of capture or emulate (live_kernels.c). evidence: what its time rests on, NULL:
 * the document does not say. */
struct live_kernel;
struct live_survey;
double cmd_live_share(const struct live_survey *s, const struct live_kernel *k);
void cmd_live_kernel(struct jw *w, const struct live_survey *s, const struct live_kernel *k,
                     const char *evidence);

/* Captures of emulated programs (cmd_capture.c, cmd_emulate.c). */
struct live_want;
enum status cmd_capture_want(struct args *a, const char *folder, struct live_want *w, struct diags *ds);
enum status cmd_capture_index(const struct live_survey *s, char *const *argv, const char *folder,
                              struct diags *ds);
/* run, where it replaces no file of another's in the folder. */
int cmd_capture_guarded(struct args *a, const char *folder,
                        int (*run)(struct args *a, const char *folder));
/* Runs the program without a GPU (emulated.c), on the preset that goes to *p. take: NULL: nothing is written
 * down. Free seen in every case. */
struct emulate_seen;
struct sim_preset;
enum status cmd_emulate_run(struct args *a, const struct live_want *take, struct emulate_seen *seen,
                            struct sim_preset *p, struct diags *ds);
/* The same; what was seen of kernels goes to *s. take: NULL: nothing is written down. */
enum status cmd_emulate_survey(struct args *a, const struct live_want *take, struct live_survey *s,
                               struct diags *ds);

int cmd_analyze(struct args *a);
int cmd_launch(struct args *a);
int cmd_rewrite(struct args *a);
int cmd_run(struct args *a);
int cmd_sweep(struct args *a);
int cmd_tune(struct args *a);
int cmd_predict(struct args *a);
int cmd_compare(struct args *a);
int cmd_replay(struct args *a);
int cmd_report(struct args *a);
int cmd_devices(struct args *a);
int cmd_calibrate(struct args *a);
int cmd_demo(struct args *a);
int cmd_paper(struct args *a);
int cmd_capture(struct args *a);
int cmd_apply(struct args *a);
int cmd_emulate(struct args *a);
int cmd_optimize(struct args *a);
int cmd_source(struct args *a);
int cmd_worker(struct args *a);
int cmd_help(struct args *a);
int cmd_completion(struct args *a);
int cmd_mcp(struct args *a);
int cmd_batch(struct args *a);
int cmd_check(struct args *a);
int cmd_check_rewrite(struct args *a);
int cmd_list(struct args *a);
int cmd_schema(struct args *a);
/* What may stand at the last of the words behind the program's name, one a line (complete.c):
 * "WORD\tHELP", or
 * ":files ENDING..." and ":folders", which the shell knows better. */
void cmd_complete(const char *const *word, size_t n, struct buf *out);
/* Names in a folder of the data directory with this ending, sorted; each owned. */
size_t cmd_data_names(const char *folder, const char *end, char **names, size_t most);
/* Name of report format i, or NULL behind the last. */
/* Format i that the command's --format takes; NULL past the last. */
const char *cmd_format(const char *command, size_t i);
/* The front end with what every command that opens it takes: device, workers, threads, mouse, theme,
 * colour. Its exit code. */
/* Where this program lies; owned. NULL: no memory. */
char *cmd_self_path(void);
int cmd_front(struct args *a, const char *file, const struct cmd_front_opts *o);
/* ST_USAGE, and which command may have been meant. */
enum status cmd_no_such(const char *word, struct diags *ds);

/* ---- a command behind --worker (cmd_apply.c; engine/live/remote.h) ---- */
struct remote;
struct remote_back;
/* One more word of the command there. False: out of memory. */
bool cmd_remote_word(struct remote *r, const char *word);
/* Runs the command there, where st is ST_OK, with the program of `a` behind it. Ends the command: prints
 * ds, frees r and ds. The exit status. */
int cmd_remote_there(struct args *a, const char *command, struct remote *r,
                     const struct remote_back *back, enum status st, struct diags *ds);
