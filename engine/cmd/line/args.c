/* The command line: commands, options (args.def), knobs (rec/options.def). */
#include "engine/cmd/cmd_int.h"
#include "engine/rec/knobs.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct command commands[] = {
    { "analyze", "FILE.ptx", "show coalescing, locality class, reuse and CTA sharing of every load",
      cmd_analyze, true, CMD_MAX_FILES },
    { "list", "FILE",
      "list modules, kernels and parameters of an executable, library, object, fatbin, cubin, folder or "
      "PTX file",
      cmd_list, false, CMD_MAX_FILES },
    { "launch", "FILE.ptx",
      "write a first launch description: guess the sizes and try them on the simulated device",
      cmd_launch, false, CMD_MAX_FILES },
    { "rewrite", "FILE.ptx", "write the PTX of a configuration", cmd_rewrite, true, CMD_MAX_FILES },
    { "run", "FILE.ptx", "run one configuration: time, counters, outputs compared with the original's",
      cmd_run, true, CMD_MAX_FILES },
    { "sweep", "FILE.ptx", "run every value of an axis, by default every bypass threshold", cmd_sweep,
      true, CMD_MAX_FILES },
    { "tune", "FILE.ptx", "search all knobs for the fastest configuration and prove it", cmd_tune, true,
      CMD_MAX_FILES },
    { "predict", "FILE.ptx", "estimate memory cost and threshold with the cost model, without a launch",
      cmd_predict, true, CMD_MAX_FILES },
    { "compare", "OLD NEW",
      "compare two texts of a kernel, or two sessions: time, outputs, limits, counters, traffic by line",
      cmd_compare, false, 2 },
    { "check", "FILE.ptx",
      "check a kernel against rules in continuous integration: uncoalesced accesses, bank conflicts, "
      "races, accesses outside buffers",
      cmd_check, false, CMD_MAX_FILES },
    { "replay", "SESSION.json", "show a saved session again; needs no device", cmd_replay, false, 1 },
    { "report", "SESSION.json", "write a report of a session", cmd_report, false, 1 },
    { "capture", "[-k KERNEL] [-o FOLDER] -- PROGRAM ARG...",
      "run a program on the GPU and save its kernels with their data, or list them", cmd_capture, false,
      0 },
    { "emulate", "-- PROGRAM ARG...",
      "run a CUDA program without a GPU: its kernels run on the simulated device", cmd_emulate, false,
      0 },
    { "optimize", "-- PROGRAM ARG...",
      "make a program's kernels faster: find those that take its time, capture, tune and verify them, "
      "and "
      "time the program unchanged and tuned",
      cmd_optimize, false, 0 },
    { "source", "SESSION.json", "show what to change in the source for the recommended configuration",
      cmd_source, false, 1 },
    { "apply", "S.json|TUNED.ptx... -- PROGRAM ARG...",
      "run a program on the GPU with tuned kernels, alternating with the original ones", cmd_apply,
      false, CMD_MAX_FILES },
    { "devices", "[PRESET]", "list the devices, or every field of one preset with unit and source",
      cmd_devices, false, 1 },
    { "calibrate", "", "measure a GPU and write a preset for the simulated device", cmd_calibrate, false,
      0 },
    { "paper", "[ID...|claims]",
      "reproduce figures or tables of the papers on simulated devices, or try their statements; without "
      "ID: list them",
      cmd_paper, false, CMD_MAX_FILES },
    { "demo", "[NAME]", "open a demo kernel or a lesson", cmd_demo, false, 1 },
    { "worker", "", "serve a device on standard input and output (gpulocw starts it itself)", cmd_worker,
      false, 0 },
    { "mcp", "", "serve the commands as tools for language models (Model Context Protocol)", cmd_mcp,
      false, 0 },
    { "batch", "FILE.jsonl",
      "run many requests on all CPUs, one JSON object per line; run it again to continue", cmd_batch,
      false, 1 },
    { "schema", "[DOCUMENT|FILE]",
      "print the fields of a JSON document, with --json as JSON Schema, or list all; of a FILE: say "
      "whether it is a valid document",
      cmd_schema, false, 1 },
    { "completion", "bash|zsh|fish", "print a shell script that completes commands, options and values",
      cmd_completion, false, 1 },
    { "help", "[COMMAND]",
      "show this text or the help of a command; also: help counters, help environment", cmd_help, false,
      1 },
};

size_t command_count(void)
{
    return ARRAY_LEN(commands);
}
const struct command *command_at(size_t i)
{
    return &commands[i];
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* ---- what may have been meant ---- */
struct near {
    struct str word;
    const char *name;
    unsigned off;
};
static struct near near_to(struct str word)
{
    return (struct near){ word, NULL, 1 + (unsigned)(word.n < 9 ? word.n / 3 : 3) };
}
static void near_try(struct near *q, const char *name)
{
    unsigned d = str_distance(q->word, str_of(name), q->off);
    if (d >= q->off + !q->name)
        return;
    q->name = name;
    q->off = d;
}

static const char *command_near(const char *name)
{
    struct near q = near_to(str_of(name));
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        near_try(&q, commands[i].name);
    return q.name;
}

static const struct arg_row *row_find(const char *name, size_t n, char letter, const char *word)
{
    for (size_t i = 0; i < arg_count(); i++)
        if (arg_for(arg_at(i), word) &&
            (letter ? arg_at(i)->letter == letter
                    : strlen(arg_at(i)->name) == n && memcmp(arg_at(i)->name, name, n) == 0))
            return arg_at(i);
    return NULL;
}

static enum status usage(struct diags *ds, const char *word, const char *fmt, const char *what)
{
    struct diag *d = diag_add(ds, DIAG_ERROR, "usage", NULL, NO_SPAN, fmt, what);
    diag_hint(d, "gpulocw help%s%s lists what there is", *word == '-' ? "" : " ",
              *word == '-' ? "" : word);
    return ST_USAGE;
}

static enum status no_option(struct diags *ds, const char *word, struct str name, bool knobs)
{
    struct near q = near_to(name);
    const char *others = NULL;
    for (size_t i = 0; i < arg_count(); i++) {
        if (arg_for(arg_at(i), word))
            near_try(&q, arg_at(i)->name);
        else if (str_eq(name, str_of(arg_at(i)->name)))
            others = arg_at(i)->commands;
    }
    for (size_t i = 0; knobs && i < knob_count(); i++)
        near_try(&q, knob_info(i)->name);
    if (!others && !knobs && knob_find(name) >= 0)
        others = "analyze rewrite run sweep tune predict";
    struct diag *d =
        diag_add(ds, DIAG_ERROR, "usage", NULL, NO_SPAN,
                 others ? "option --%.*s does not apply to this command" : "no option --%.*s",
                 (int)name.n, name.s);
    size_t n = others ? strlen(others) : 0;
    bool bench = n && others[n - 1] == '-'; /* the workbench comes last in a row */
    n -= bench ? n > 1 ? 2 : 1 : 0;
    if (others)
        diag_hint(d, "it applies to: %.*s%s", (int)n, others,
                  bench
                      ? n ? ", and the workbench (gpulocw FILE.ptx)" : "the workbench (gpulocw FILE.ptx)"
                      : "");
    else if (q.name)
        diag_hint(d, "did you mean --%s? gpulocw help%s%s lists what there is", q.name,
                  *word == '-' ? "" : " ", *word == '-' ? "" : word);
    else
        diag_hint(d, "gpulocw help%s%s lists what there is", *word == '-' ? "" : " ",
                  *word == '-' ? "" : word);
    return ST_USAGE;
}

static enum status row_set(struct args *a, const struct arg_row *r, const char *value, const char *word,
                           struct diags *ds)
{
    char *at = (char *)a + r->offset, *end = NULL;
    a->has[r - arg_at(0)] = true;
    switch (r->kind) {
    case ARGK_FLAG: *(bool *)at = true; return ST_OK;
    case ARGK_TEXT: *(const char **)(void *)at = value; return ST_OK;
    case ARGK_INT:
        *(long *)(void *)at = strtol(value, &end, 10);
        return *value && !*end && *(long *)(void *)at >= 0
                   ? ST_OK
                   : usage(ds, word, "--%s needs a whole number", r->name);
    case ARGK_NUM:
        *(double *)(void *)at = strtod(value, &end);
        return *value && !*end && isfinite(*(double *)(void *)at) && *(double *)(void *)at >= 0
                   ? ST_OK
                   : usage(ds, word, "--%s needs a number", r->name);
    case ARGK_LIST: {
        size_t *n = (size_t *)(void *)((char *)a + r->count_offset);
        if (*n == CMD_MAX_LIST)
            return usage(ds, word, "--%s is given too many times", r->name);
        ((const char **)(void *)at)[(*n)++] = value;
        return ST_OK;
    }
    }
    return ST_OK;
}

struct scan {
    int argc, i;
    char **argv;
    const char *word;
    bool knobs;
};

/* The value of an option: after '=' or the next word. NULL: there is none. */
static const char *value_of(struct scan *s, const char *inline_value)
{
    if (inline_value)
        return inline_value;
    return s->i + 1 < s->argc ? s->argv[++s->i] : NULL;
}

static enum status long_option(struct scan *s, struct args *a, const char *text, struct diags *ds)
{
    const char *eq = strchr(text, '=');
    size_t n = eq ? (size_t)(eq - text) : strlen(text);
    const struct arg_row *r = row_find(text, n, 0, s->word);
    int knob = s->knobs ? knob_find((struct str){ text, n }) : -1;
    bool flag = r ? r->kind == ARGK_FLAG : knob >= 0 && knob_info((size_t)knob)->kind == KNOB_KIND_FLAG;
    if (!r && knob < 0)
        return no_option(ds, s->word, (struct str){ text, n }, s->knobs);
    if (r && flag && eq)
        return usage(ds, s->word, "--%s takes no value", r->name);
    const char *value = flag ? (eq ? eq + 1 : "on") : value_of(s, eq ? eq + 1 : NULL);
    if (!value)
        return usage(ds, s->word, "--%s needs a value", text);
    if (r)
        return row_set(a, r, value, s->word, ds);
    return knob_set(a->options, (size_t)knob, str_of(value), ds);
}

static enum status short_option(struct scan *s, struct args *a, const char *text, struct diags *ds)
{
    const struct arg_row *r = row_find(NULL, 0, text[1], s->word);
    if (!r)
        return usage(ds, s->word, "no option %s", text);
    const char *value = r->kind == ARGK_FLAG ? "on" : value_of(s, text[2] ? text + 2 : NULL);
    if (!value)
        return usage(ds, s->word, "%s needs a value", text);
    return row_set(a, r, value, s->word, ds);
}

/* "-o -" is standard output, where the command writes text there without -o; a session or a preset is a
 * file that is replaced. */
static enum status check_output(struct args *a, const char *word, struct diags *ds)
{
    static const char *const text[] = { "launch", "rewrite", "report", "demo" };
    if (!a->output)
        return ST_OK;
    if (strcmp(a->output, "-") != 0)
        return workspace_output_check(a->output, a->force, ds);
    for (size_t i = 0; i < ARRAY_LEN(text); i++)
        if (a->command && strcmp(a->command, text[i]) == 0) {
            a->output = NULL;
            return ST_OK;
        }
    return usage(ds, word,
                 "-o needs a file here, not '%s': the file is rewritten as results arrive (--json "
                 "prints the document)",
                 a->output);
}

/* ---- --format: what each command writes, the first without the option ---- */
enum { MOST_FORMATS = 6 };
static const struct {
    const char *command, *name[MOST_FORMATS];
} formats[] = {
    { "report", { "md", "csv", "json", "svg", "html" } },
    { "check", { "text", "json", "sarif", "junit" } },
    { "paper", { "md", "svg" } },
    { "demo", { "html", "cast" } },
    { "schema", { "md" } },
};

const char *cmd_format(const char *command, size_t i)
{
    for (size_t k = 0; k < ARRAY_LEN(formats); k++)
        if (strcmp(formats[k].command, command) == 0 && i < MOST_FORMATS)
            return formats[k].name[i];
    return NULL;
}

static enum status check_format(const struct args *a, const char *word, struct diags *ds)
{
    struct buf names = { 0 };
    for (size_t i = 0; cmd_format(a->command, i); i++) {
        if (strcmp(cmd_format(a->command, i), a->format) == 0) {
            buf_free(&names);
            return ST_OK;
        }
        buf_printf(&names, "%s%s",
                   !i                              ? ""
                   : cmd_format(a->command, i + 1) ? ", "
                                                   : " or ",
                   cmd_format(a->command, i));
    }
    struct diag *d = diag_add(ds, DIAG_ERROR, "usage", NULL, NO_SPAN,
                              "--format must be %s here, not '%s'", names.s ? names.s : "?", a->format);
    diag_hint(d, "gpulocw help %s lists what there is", word);
    buf_free(&names);
    return ST_USAGE;
}

/* What holds for the line as a whole. */
static enum status check_whole(const struct args *a, const char *word, struct diags *ds)
{
    const struct command *c = command_find(a->command);
    size_t most = c ? c->files : CMD_MAX_FILES;
    if (!c && a->nfiles > 1 && !strpbrk(a->file[0], "./"))
        return cmd_no_such(a->file[0], ds);
    if (a->nfiles > most && most < CMD_MAX_FILES)
        return usage(ds, word,
                     most ? "this command takes one file; '%s' is a second one"
                          : "this command takes no file ('%s')",
                     a->file[most]);
    if (a->color && strcmp(a->color, "auto") != 0 && strcmp(a->color, "always") != 0 &&
        strcmp(a->color, "never") != 0)
        return usage(ds, word, "--color must be auto, always or never, not '%s'", a->color);
    return a->command && a->format ? check_format(a, word, ds) : ST_OK;
}

/* `end` behind every device; option: whose it is, for messages. */
static enum status settle_devices(struct args *a, const char *end, const char *option, const char *word,
                                  struct diags *ds)
{
    const char *list = a->devices ? a->devices : a->device ? a->device : DEFAULT_DEVICE;
    struct buf b = { 0 };
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        buf_printf(&b, "%.*s%s%s", (int)n, p, end, p[n] ? "," : "");
        p += n + (p[n] != 0);
    }
    bool fits = b.s && b.n < sizeof a->device_spec;
    if (fits)
        memcpy(a->device_spec, b.s, b.n + 1);
    buf_free(&b);
    if (!fits)
        return usage(ds, word, "the list of devices is too long for %s", option);
    *(a->devices ? &a->devices : &a->device) = a->device_spec;
    return ST_OK;
}

/* --global-l1 on and off: +l1 and +nol1; --contract never: +nofma. --regs has one of two values. */
static enum status settle_device_ends(struct args *a, const char *word, struct diags *ds)
{
    bool on = a->global_l1 && strcmp(a->global_l1, "on") == 0,
         never = a->contract && strcmp(a->contract, "never") == 0;
    if (a->global_l1 && !on && strcmp(a->global_l1, "off") != 0)
        return usage(ds, word, "--global-l1 must be on or off, not '%s'", a->global_l1);
    if (a->contract && !never && strcmp(a->contract, "as-ptxas") != 0)
        return usage(ds, word, "--contract must be as-ptxas or never, not '%s'", a->contract);
    if (a->regs && strcmp(a->regs, "ptxas") != 0 && strcmp(a->regs, "model") != 0)
        return usage(ds, word, "--regs must be ptxas or model, not '%s'", a->regs);
    enum status st = ST_OK;
    if (a->global_l1)
        st = settle_devices(a, on ? "+l1" : "+nol1", "--global-l1", word, ds);
    return st == ST_OK && never ? settle_devices(a, "+nofma", "--contract", word, ds) : st;
}

void args_free(struct args *a)
{
    if (a)
        base_free(a->options);
    base_free(a);
}

enum status args_parse(int argc, char **argv, struct args *a, struct diags *ds)
{
    struct scan s = { argc, 1, argv, "-", true };
    a->began_ns = base_now_ns();
    if (!(a->options = options_new()))
        return ST_NOMEM;
    a->speed = 1;
    if (argc > 1 && command_find(argv[1])) {
        a->command = argv[s.i++];
        s.word = a->command;
        s.knobs = command_find(a->command)->knobs;
    }
    for (bool options = true; s.i < argc; s.i++) {
        const char *t = argv[s.i];
        enum status st = ST_OK;
        bool dashes = options && strcmp(t, "--") == 0;
        if (dashes && a->command &&
            (strcmp(a->command, "capture") == 0 || strcmp(a->command, "apply") == 0 ||
             strcmp(a->command, "optimize") == 0 || strcmp(a->command, "emulate") == 0)) {
            a->program = argv + s.i + 1;
            break;
        }
        if (dashes)
            options = false;
        else if (options && t[0] == '-' && t[1] == '-')
            st = long_option(&s, a, t + 2, ds);
        else if (options && t[0] == '-' && t[1])
            st = short_option(&s, a, t, ds);
        else if (a->nfiles == CMD_MAX_FILES)
            st = usage(ds, s.word, "too many files (%s)", t);
        else
            a->file[a->nfiles++] = t;
        if (st != ST_OK)
            return st;
    }
    if (a->allow_files)
        /* before any thread: the readers of files ask for it */
        setenv("GPULOCW_ALLOW_FILES", "1", 1);
    enum status st = check_output(a, s.word, ds);
    if (st == ST_OK)
        st = settle_device_ends(a, s.word, ds);
    return st == ST_OK ? check_whole(a, s.word, ds) : st;
}

enum status cmd_no_such(const char *word, struct diags *ds)
{
    const char *near = command_near(word);
    struct diag *d =
        diag_add(ds, DIAG_ERROR, "usage", NULL, NO_SPAN, "'%s' is neither a command nor a file", word);
    diag_hint(d,
              near ? "did you mean gpulocw %s? gpulocw help lists the commands"
                   : "gpulocw help lists the commands",
              near);
    return ST_USAGE;
}
