/* The help texts of `gpulocw help`, made from the tables of commands, options (args.def), knobs and
 * environment variables (env.def). */
#include "engine/cmd/cmd_int.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/knobs.h"
#include "engine/workspace/args.h"

#include <string.h>

#define HELP_WIDTH 79 /* columns */
#define HELP_LEFT  28 /* column at which the texts begin */

/* Columns of the word at s: its characters in UTF-8. */
static size_t word_columns(const char *s, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)s[i] & 0xc0) != 0x80;
    return n;
}

/* The words of text from column `at` on, broken at spaces; further lines begin at column `indent`. */
static void put_wrapped(struct buf *out, size_t at, size_t indent, const char *text)
{
    bool first = true;
    for (const char *p = text; *p;) {
        size_t bytes = strcspn(p, " "), n = word_columns(p, bytes);
        if (!first && at + 1 + n > HELP_WIDTH) {
            buf_printf(out, "\n%*s", (int)indent, "");
            at = indent;
            first = true;
        }
        buf_printf(out, "%s%.*s", first ? "" : " ", (int)bytes, p);
        at += n + !first;
        first = false;
        p += bytes + strspn(p + bytes, " ");
    }
    buf_puts(out, "\n");
}

/* "  left      text": the text begins on the next line where `left` is wide. */
static void put_row(struct buf *out, const char *left, const char *text)
{
    size_t n = 2 + strlen(left);
    buf_printf(out, "  %s", left);
    if (n + 2 > HELP_LEFT) {
        buf_puts(out, "\n");
        n = 0;
    }
    buf_printf(out, "%*s", (int)(HELP_LEFT - n), "");
    put_wrapped(out, HELP_LEFT, HELP_LEFT, text);
}

/* "  name" and the text below it */
static void put_entry(struct buf *out, const char *name, const char *text)
{
    buf_puts(out, "  ");
    put_wrapped(out, 2, 6, name);
    buf_puts(out, "      ");
    put_wrapped(out, 6, 6, text);
}

static void help_rows(const char *word, struct buf *out)
{
    for (size_t i = 0; i < arg_count(); i++) {
        const struct arg_row *r = arg_at(i);
        if (!arg_for(r, word))
            continue;
        char left[64];
        char letter[8] = "   ";
        if (r->letter)
            snprintf(letter, sizeof letter, "-%c,", r->letter);
        snprintf(left, sizeof left, "%s --%s %s", letter, r->name, r->value);
        put_row(out, left, r->help);
    }
}

static void knob_form(const struct knob_info *k, struct buf *b)
{
    buf_printf(b, "--%s ", k->name);
    if (k->kind != KNOB_KIND_ENUM) {
        buf_puts(b, k->form ? k->form : "");
        return;
    }
    for (int v = 0; v <= k->max; v++)
        buf_printf(b, "%s%s", v ? "|" : "", k->values[v]);
}

static void help_knobs(struct buf *out)
{
    buf_puts(out, "\nThe configuration (the same names in JSON, in the workbench and in sessions):\n");
    for (size_t i = 0; i < knob_count(); i++) {
        struct buf form = { 0 };
        knob_form(knob_info(i), &form);
        put_entry(out, form.s ? form.s : "", knob_info(i)->help);
        buf_free_checked(&form, out);
    }
}

static void help_command(const struct command *c, struct buf *out)
{
    buf_printf(out, "gpulocw %s %s\n", c->name, c->usage);
    put_wrapped(out, 0, 0, c->help);
    buf_puts(out, "\n");
    help_rows(c->name, out);
    if (c->knobs)
        help_knobs(out);
}

void args_help(const struct command *c, struct buf *out)
{
    if (c) {
        help_command(c, out);
        return;
    }
    buf_puts(out, "gpulocw, the GPU locality workbench: shows how the memory accesses of an\n"
                  "NVIDIA PTX kernel coalesce and what locality they have, rewrites the kernel,\n"
                  "runs it on a GPU or a simulated device, and plots the cache valley.\n\n"
                  "  gpulocw FILE.ptx          open the workbench\n"
                  "  gpulocw SESSION.json      open a saved session\n"
                  "  gpulocw                   choose a demo\n\n");
    for (size_t i = 0; i < command_count(); i++) {
        const struct command *k = command_at(i);
        char left[96];
        snprintf(left, sizeof left, "gpulocw %s %s", k->name, k->usage);
        put_row(out, left, k->help);
    }
    buf_puts(out, "\nOptions of the workbench:\n");
    help_rows("-", out);
    buf_puts(out, "\nExit codes: 0 done, 1 bad input, 2 wrong usage, 3 refused, 4 device trouble,\n"
                  "5 results differ from the original's, 130 interrupted.\n");
}

static void help_environment(struct buf *out)
{
    buf_puts(out, "Environment variables:\n");
#define ENV(names, help) put_entry(out, names, help);
#include "engine/cmd/line/env.def"
#undef ENV
}

static void help_counters(struct buf *out)
{
    buf_puts(out, "Counters of run, sweep and tune; a device that has no such counter shows n/a:\n");
    for (int i = 0; i < COUNTER_COUNT; i++) {
        char left[80];
        snprintf(left, sizeof left, "%s [%s]", counter_name((enum counter_id)i),
                 counter_unit((enum counter_id)i));
        put_entry(out, left, counter_help((enum counter_id)i));
    }
}

static const struct help_topic topics[] = {
    { "counters", "what each counter counts, with its unit", help_counters },
    { "environment", "the environment variables", help_environment },
};

const struct help_topic *help_topic_at(size_t i)
{
    return i < ARRAY_LEN(topics) ? &topics[i] : NULL;
}
