/* Writes the manual page from the tables of the program: commands, options, knobs,
 * keys and commands of the workbench. `make man` puts it into docs/gpulocw.1. */
#include "engine/base/version.h"
#include "engine/cmd/cmd_int.h"
#include "engine/rec/knobs.h"
#include "engine/workspace/args.h"
#include "tui/control/command.h"
#include "tui/base/request.h"

#include <string.h>

static void text(const char *s)
{
    for (; *s; s++) {
        if (*s == '\\' || *s == '-')
            putchar('\\');
        putchar(*s);
    }
}

static void heading(const char *s)
{
    printf(".SH %s\n", s);
}

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

/* "run sweep -": the commands an option goes with. */
static void goes_with(const char *commands, struct buf *out)
{
    if (!strcmp(commands, "*"))
        return;
    buf_puts(out, " [");
    for (const char *p = commands; *p;) {
        size_t n = strcspn(p, " ");
        const char *is = n == 1 && *p == '-' ? "workbench" : p;
        buf_printf(out, "%s%.*s", p == commands ? "" : ", ", is == p ? (int)n : (int)strlen(is), is);
        p += n + (p[n] == ' ');
    }
    buf_puts(out, "]");
}

static void options(void)
{
    heading("OPTIONS");
    printf("In square brackets: the commands that an option goes with. Besides these,\n.BR \\-\\-help "
           "\" and \" \\-\\-version .\n");
    for (size_t i = 0; i < arg_count(); i++) {
        const struct arg_row *r = arg_at(i);
        struct buf help = { 0 };
        char name[64];
        if (r->letter)
            snprintf(name, sizeof name, "-%c, --%s", r->letter, r->name);
        else
            snprintf(name, sizeof name, "--%s", r->name);
        buf_puts(&help, r->help);
        goes_with(r->commands, &help);
        item(name, r->value, help.s);
        buf_free(&help);
    }
}

static void knobs(void)
{
    heading("CONFIGURATION");
    printf("The knobs of a configuration have the same names on the command line, in JSON, in sessions "
           "and in the workbench.\n");
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

static void keys_of(enum scope scope)
{
    static const struct {
        const char *name, *keys, *help;
        enum scope scope;
    } rows[] = {
#define X(id, name, keys, scope, label, help) { name, keys, help, SCOPE_##scope },
        REQUEST_LIST(X)
#undef X
    };
    size_t own = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        own += rows[i].scope == scope;
    if (!own)
        return;
    printf(".SS In ");
    text((unsigned)scope < PANEL_COUNT ? "the " : scope == SCOPE_GLOBAL ? "all panels" : "");
    text(scope == SCOPE_GLOBAL ? "" : scope_name(scope));
    printf("%s\n", (unsigned)scope < PANEL_COUNT ? " panel" : "");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].scope == scope)
            item(rows[i].keys, rows[i].name, rows[i].help);
}

static void keys(void)
{
    heading("KEYS OF THE WORKBENCH");
    printf("Keys, and the name by which each can be bound to others in the file\n.IR keys .\nA panel's "
           "own keys go before those of lists, these before the ones for all panels.\n");
    keys_of(SCOPE_GLOBAL);
    keys_of(SCOPE_LIST);
    for (unsigned p = 0; p < PANEL_COUNT; p++)
        keys_of((enum scope)p);
    for (unsigned s = SCOPE_GLOBAL + 1; s < SCOPE_COUNT; s++)
        keys_of((enum scope)s);
}

static void command_line(void)
{
    heading("COMMANDS OF THE WORKBENCH");
    printf("Behind\n.BR : ;\nTab completes. With\n.B \\-\\-plain\nthey are read from standard input, "
           "one a line.\n");
    for (size_t i = 0; i < cmdline_count(); i++)
        item(cmdline_info(i)->name, cmdline_info(i)->form, cmdline_info(i)->help);
}

static void files(void)
{
    static const struct {
        const char *name, *what;
    } rows[] = {
        { "app.launch.json",
          "launch description of app.ptx: grid, block, arguments (docs/reference/launch.md)" },
        { "sessions/", "where sessions go when the working folder has one that can be written, else "
                       "$XDG_DATA_HOME/gpulocw/sessions/" },
        { "$XDG_CONFIG_HOME/gpulocw/config", "settings of the workbench: theme, mouse, plot" },
        { "$XDG_CONFIG_HOME/gpulocw/keys",
          "key map of the workbench; its command keys writes one to start from" },
        { "$XDG_CONFIG_HOME/gpulocw/themes/NAME.theme", "themes of your own" },
        { "$XDG_DATA_HOME/gpulocw/history", "command lines of the workbench" },
    };
    heading("FILES");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        item(rows[i].name, NULL, rows[i].what);
}

static void examples(void)
{
    static const struct {
        const char *line, *what;
    } rows[] = {
        { "gpulocw demo valley", "the cache valley, swept at once" },
        { "gpulocw launch app.ptx -o app.launch.json",
          "a first launch description for a kernel of your own" },
        { "gpulocw sweep app.ptx --device sim:fermi-16k -o s.json",
          "time over the bypass threshold, kept as a session" },
        { "gpulocw tune app.ptx --budget 60 --apply", "search all knobs; write the recommended kernel" },
        { "gpulocw report s.json --format html -o report.html", "a page to share" },
        { ". <(gpulocw completion bash)", "completion in this shell" },
    };
    heading("EXAMPLES");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        item(rows[i].line, NULL, rows[i].what);
}

int main(void)
{
    printf(".\\\" Made by `make man` from the program's tables; do not edit.\n.TH GPULOCW 1 \"\" "
           "\"gpulocw " GPULOCW_VERSION "\"\n.nh\n.ad l\n");
    heading("NAME");
    printf("gpulocw \\- GPU locality workbench for NVIDIA PTX\n");
    heading("SYNOPSIS");
    printf(".B gpulocw\n.RI [ FILE.ptx | SESSION.json ]\n.br\n.B gpulocw\n.I COMMAND\n.RI [ OPTIONS "
           "]\n.I FILE\n");
    heading("DESCRIPTION");
    printf("Opens a PTX kernel, shows how its memory accesses coalesce and what locality it has, "
           "rewrites it "
           "(cache bypassing, CTA clustering, throttling, prefetching, software cache, loop schedules), "
           "runs it on a GPU or on a "
           "simulated device, plots the cache valley and saves sessions that replay anywhere.\n");
    commands();
    options();
    knobs();
    command_line();
    keys();
    heading("EXIT STATUS");
    static const struct {
        const char *code, *what;
    } codes[] = {
        { "0", "done" },           { "1", "bad input; the diagnostic has file, line and column" },
        { "2", "wrong usage" },    { "3", "refused: the transformation is not legal here" },
        { "4", "device trouble" }, { "5", "results differ from the original's" },
        { "130", "interrupted" }
    };
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        item(codes[i].code, NULL, codes[i].what);
    heading("ENVIRONMENT");
#define ENV(names, help) item(names, NULL, help);
#include "engine/cmd/line/env.def"
#undef ENV
    files();
    examples();
    return 0;
}
