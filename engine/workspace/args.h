/* args: the parsed command line: one field per row of args.def, and the options of a configuration. */
#pragma once

#include "engine/base/base.h"

struct cmd_front;
struct cmd_io;
struct dev_env;

#define CMD_MAX_FILES  32
#define CMD_MAX_LIST   32
#define DEFAULT_DEVICE "sim:hopper-h200"
enum arg_kind_cmd { ARGK_FLAG, ARGK_TEXT, ARGK_INT, ARGK_NUM, ARGK_LIST };
#define ARG(field, name, short_, kind, value, commands, help) ARGS_##field,
enum args_row { /* rows of args.def */
#include "engine/workspace/args.def"
                ARGS_COUNT
};
#undef ARG
struct args {
    const char *command;
    const char *file[CMD_MAX_FILES];
    size_t nfiles;
    /* of a command that runs a program: its words behind --, ends in NULL; NULL: none */
    char *const *program;
    const char *sent_to;  /* of a command that --worker sent: a folder of its own; else NULL; borrowed */
    bool has[ARGS_COUNT]; /* by row of args.def */
#define ARGV_FLAG(f) bool f;
#define ARGV_TEXT(f) const char *f;
#define ARGV_INT(f)  long f;
#define ARGV_NUM(f)  double f;
#define ARGV_LIST(f)             \
    const char *f[CMD_MAX_LIST]; \
    size_t f##_n;
#define ARG(field, name, short_, kind, value, commands, help) ARGV_##kind(field)
#include "engine/workspace/args.def"
#undef ARG
    char device_spec[1024];  /* device or devices with what --global-l1 and --contract add */
    struct options *options; /* owned */
    int64_t began_ns;        /* base_now_ns when they were read: what a budget in seconds counts from */
    const struct dev_env *env;
    const struct cmd_front *front;
    const struct cancel *cancel;
    struct cmd_io *io; /* where the command's words go (engine/cmd/io.h) */
};
/* The rows of args.def. */
struct arg_row {
    const char *name;
    char letter;
    enum arg_kind_cmd kind;
    const char *value;
    const char *commands;
    const char *help;
    size_t offset, count_offset;
};
size_t arg_count(void);
const struct arg_row *arg_at(size_t i);
/* Does it go with the command of that name ("-": the workbench)? */
bool arg_for(const struct arg_row *r, const char *command);
/* ST_USAGE with a diagnostic. */
enum status args_parse(int argc, char **argv, struct args *a, struct diags *ds);
void args_free(struct args *a); /* and a itself; NULL is fine */
