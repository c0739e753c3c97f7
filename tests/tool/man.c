/* Writes the manual page from the tables of the program: commands, options, knobs,
 * keys of the workbench. `make man` puts it into docs/gpulocw.1. */
#include "engine/cmd/cmd_int.h"
#include "tui/model/request.h"

#include <string.h>

static void text(const char *s)
{
    for (; *s; s++) {
        if (*s == '\\' || *s == '-')
            putchar('\\');
        putchar(*s);
    }
}

static void heading(const char *s) { printf(".SH %s\n", s); }

static void item(const char *tag, const char *value, const char *help)
{
    printf(".TP\n.B ");
    text(tag);
    if (value && *value) {
        printf("\\fI ");
        text(value);
        printf("\\fR");
    }
    putchar('\n');
    text(help);
    putchar('\n');
}

static void commands(void)
{
    heading("COMMANDS");
    for (size_t i = 0; i < command_count(); i++)
        item(command_at(i)->name, command_at(i)->usage, command_at(i)->help);
}

static void options(void)
{
    heading("OPTIONS");
    struct { const char *name, *value, *commands, *help; } rows[] = {
#define ARG(field, name, letter, kind, value, cmds, help) { name, value, cmds, help },
#include "engine/cmd/args.def"
#undef ARG
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char name[64];
        snprintf(name, sizeof name, "--%s", rows[i].name);
        item(name, rows[i].value, rows[i].help);
    }
}

static void knobs(void)
{
    heading("CONFIGURATION");
    printf("The knobs of a configuration have the same names on the command line, in JSON, in sessions and in the workbench.\n");
    for (size_t i = 0; i < knob_count(); i++) {
        const struct knob_info *k = knob_info(i);
        char name[64];
        struct buf form = { 0 };
        if (k->kind == KNOB_KIND_ENUM)
            for (int v = 0; v <= k->max; v++)
                buf_printf(&form, "%s%s", v ? "|" : "", k->values[v]);
        else
            buf_puts(&form, k->form ? k->form : "");
        snprintf(name, sizeof name, "--%s", k->name);
        item(name, form.s, k->help);
        buf_free(&form);
    }
}

static void keys(void)
{
    heading("KEYS");
    printf("Keys of the workbench, by request name; each can be bound to other keys.\n");
    static const struct { const char *name, *keys, *help; } rows[] = {
#define X(id, name, keys, scope, label, help) { name, keys, help },
        REQUEST_LIST(X)
#undef X
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        item(rows[i].keys, rows[i].name, rows[i].help);
}

int main(void)
{
    printf(".\\\" Made by `make man` from the program's tables; do not edit.\n.TH GPULOCW 1 \"\" \"gpulocw " GPULOCW_VERSION "\"\n");
    heading("NAME");
    printf("gpulocw \\- GPU locality workbench for NVIDIA PTX\n");
    heading("SYNOPSIS");
    printf(".B gpulocw\n.RI [ FILE.ptx | SESSION.json ]\n.br\n.B gpulocw\n.I COMMAND\n.RI [ OPTIONS ]\n.I FILE\n");
    heading("DESCRIPTION");
    printf("Opens a PTX kernel, shows how its memory accesses coalesce and what locality it has, rewrites it "
           "(cache bypassing, CTA clustering, throttling, prefetching, software cache, loop schedules), runs it on a GPU or on a "
           "simulated device, plots the cache valley and saves sessions that replay anywhere.\n");
    commands();
    options();
    knobs();
    keys();
    heading("EXIT STATUS");
    static const struct { const char *code, *what; } codes[] = { { "0", "done" }, { "1", "bad input; the diagnostic has file, line and column" }, { "2", "wrong usage" },
        { "3", "refused: the transformation is not legal here" }, { "4", "device trouble" }, { "5", "results differ from the original's" }, { "130", "interrupted" } };
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        item(codes[i].code, NULL, codes[i].what);
    heading("ENVIRONMENT");
#define ENV(names, help) item(names, NULL, help);
#include "engine/cmd/env.def"
#undef ENV
    heading("FILES");
    item("app.launch.json", NULL, "launch description of app.ptx: grid, block, arguments (docs/cli.md)");
    return 0;
}
