/* Writes the reference pages from the tables of the program: `reference options` the command
 * line, `reference keys` the keys and commands of the workbench. `make reference` puts them
 * into build/reference/. */
#include "engine/cmd/cmd_int.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/knobs.h"
#include "engine/rec/options.h"
#include "engine/session/preset.h"
#include "engine/workspace/args.h"
#include "tui/control/command.h"
#include "tui/base/request.h"

#include <string.h>

/* Text between backticks in a cell: a bar would end the cell. */
static void cell(const char *s)
{
    for (; s && *s; s++) {
        if (*s == '|')
            putchar('\\');
        putchar(*s);
    }
}

/* Plain text in a cell: "<" would begin a tag. */
static void plain_cell(const char *s)
{
    for (; s && *s; s++) {
        if (strchr("|<*_", *s))
            putchar('\\');
        putchar(*s);
    }
}

/* `before text`, with the bars escaped. */
static void code_cell(const char *before, const char *text)
{
    printf("`");
    cell(before);
    cell(text);
    printf("`");
}

static void head(const char *const *column, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%s %s ", "|", column[i]);
    printf("|\n");
    for (size_t i = 0; i < n; i++)
        printf("|---");
    printf("|\n");
}
#define HEAD(...)                              \
    head((const char *const[]){ __VA_ARGS__ }, \
         sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void usage_row(const char *name, const char *form, const char *help)
{
    printf("| `");
    cell(name);
    if (form && *form) {
        putchar(' ');
        cell(form);
    }
    printf("` | ");
    plain_cell(help);
    printf(" |\n");
}

static void commands(void)
{
    printf("## Commands\n\n");
    HEAD("command", "what it does");
    for (size_t i = 0; i < command_count(); i++)
        usage_row(command_at(i)->name, command_at(i)->usage, command_at(i)->help);
}

/* The words of args.def: "*" is every command, "-" the workbench. */
static void goes_with(const char *commands)
{
    if (!strcmp(commands, "*")) {
        printf("all");
        return;
    }
    for (const char *p = commands; *p;) {
        size_t n = strcspn(p, " ");
        bool bench = n == 1 && *p == '-';
        printf("%s%.*s", p == commands ? "" : ", ", bench ? 9 : (int)n, bench ? "workbench" : p);
        p += n + (p[n] == ' ');
    }
}

static void options(void)
{
    printf("\n## Options\n\n");
    HEAD("option", "goes with", "what it does");
    for (size_t i = 0; i < arg_count(); i++) {
        const struct arg_row *r = arg_at(i);
        printf("| `");
        if (r->letter)
            printf("-%c, ", r->letter);
        printf("--%s%s", r->name, *r->value ? " " : "");
        cell(r->value);
        printf("` | ");
        goes_with(r->commands);
        printf(" | ");
        plain_cell(r->help);
        printf(" |\n");
    }
    printf("| `-h, --help` | all | the help of a command |\n| `--version` | all | the version of the "
           "program |\n");
}

static void knob_values(const struct knob_info *k)
{
    if (k->kind == KNOB_KIND_FLAG)
        return;
    putchar(' ');
    if (k->kind != KNOB_KIND_ENUM)
        cell(k->form ? k->form : "N");
    for (int v = 0; k->kind == KNOB_KIND_ENUM && v <= k->max; v++)
        printf("%s%s", v ? "\\|" : "", k->values[v]);
}

static void knobs(void)
{
    const struct options o = options_default();
    printf("\n## Knobs of a configuration\n\n"
           "A knob has the same name on the command line, in JSON, in sessions and in the workbench.\n"
           "`rewrite`, `run`, `sweep`, `tune`, `predict` and `analyze` take them.\n\n");
    HEAD("knob", "default", "what it does");
    for (size_t i = 0; i < knob_count(); i++) {
        const struct knob_info *k = knob_info(i);
        struct buf value = { 0 };
        knob_get(&o, i, &value);
        printf("| `--%s", k->name);
        knob_values(k);
        printf("` | %s | ", value.s && *value.s ? value.s : "none");
        plain_cell(k->help);
        printf(" |\n");
        buf_free(&value);
    }
}

static void devices(void)
{
    printf("\n## Devices\n\n`--device` takes `sim:PRESET`, a preset file, `cuda:N` or `auto`. The "
           "default is `sim:hopper-h200`.\nThe presets:");
    for (size_t i = 0; i < preset_count(); i++)
        printf("%s `sim:%s`", i ? "," : "", preset_name(i));
    printf(".\n");
}

static void counters(void)
{
    printf("\n## Counters\n\n");
    HEAD("counter", "unit", "what it counts");
    for (int i = 0; i < COUNTER_COUNT; i++)
        printf("| `%s` | %s | %s |\n", counter_name((enum counter_id)i),
               counter_unit((enum counter_id)i), counter_help((enum counter_id)i));
}

static void exit_codes(void)
{
    static const struct {
        int code;
        const char *text;
    } rows[] = {
#define X(name, code, text) { code, text },
        STATUS_LIST(X)
#undef X
    };
    printf("\n## Exit codes\n\n");
    HEAD("code", "meaning");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        printf("| %d | %s |\n", rows[i].code, rows[i].text);
}

static void environment(void)
{
    printf("\n## Environment variables\n\n");
    HEAD("variable", "what it does");
#define ENV(names, help) usage_row(names, NULL, help);
#include "engine/cmd/line/env.def"
#undef ENV
}

static void page_options(void)
{
    printf("# Command line: commands, options, knobs\n\n"
           "Made by `make reference` from the program's tables; do not edit.\n"
           "`gpulocw help COMMAND` prints the part of one command.\n\n"
           "A result goes to standard output. Progress and messages go to standard error.\n"
           "With `--json` a command prints one JSON document: `gpulocw schema` has its fields.\n"
           "`-` as a file is standard input; with `-o -`, `launch`, `rewrite` and `report` write to "
           "standard output.\n"
           "Several PTX files are one program, checked against each other by name.\n\n");
    commands();
    options();
    knobs();
    devices();
    counters();
    exit_codes();
    environment();
}

static void keys_of(enum scope scope, const char *title)
{
    static const struct {
        const char *name, *keys, *help;
        enum scope scope;
    } rows[] = {
#define X(id, name, keys, scope, label, help) { name, keys, help, SCOPE_##scope },
        REQUEST_LIST(X)
#undef X
    };
    printf("\n### %s\n\n", title);
    HEAD("keys", "name", "what it does");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].scope != scope)
            continue;
        printf("| ");
        code_cell("", rows[i].keys);
        printf(" | %s | ", rows[i].name);
        plain_cell(rows[i].help);
        printf(" |\n");
    }
}

static void panels(void)
{
    static const struct {
        const char *title, *help;
    } rows[] = {
#define X(id, name, title, brief, help, list) { title, help },
        PANEL_LIST(X)
#undef X
    };
    printf("## Panels\n\n");
    HEAD("key", "panel", "what it shows");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        printf("| %zu | %s | %s |\n", i + 1, rows[i].title, rows[i].help);
    printf("\n## Keys\n\nA panel's own keys go before those of lists, and these before the keys for all "
           "panels.\n"
           "The file `keys` in `$XDG_CONFIG_HOME/gpulocw` binds a name to other keys; `:keys` writes "
           "one to start from.\n");
    keys_of(SCOPE_GLOBAL, "All panels");
    keys_of(SCOPE_LIST, "Lists");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        keys_of((enum scope)i, rows[i].title);
    keys_of(SCOPE_HELP, "Help");
    keys_of(SCOPE_TREE, "Address tree");
    keys_of(SCOPE_PICKER, "Demo picker");
    keys_of(SCOPE_LESSON, "Lesson");
    keys_of(SCOPE_REPLAY, "Replay");
}

static void page_keys(void)
{
    printf("# The workbench: panels, keys, commands\n\n"
           "Made by `make reference` from the program's tables; do not edit.\n\n");
    panels();
    printf("\n## Commands\n\nTyped after `:`. Tab completes. With `--plain` they are read from standard "
           "input, one a line.\n\n");
    HEAD("command", "what it does");
    for (size_t i = 0; i < cmdline_count(); i++)
        usage_row(cmdline_info(i)->name, cmdline_info(i)->form, cmdline_info(i)->help);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "options"))
        page_options();
    else if (argc == 2 && !strcmp(argv[1], "keys"))
        page_keys();
    else {
        fprintf(stderr, "usage: reference options|keys\n");
        return 2;
    }
    return 0;
}
