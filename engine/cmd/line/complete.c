/* What may stand at a place of the command line, for the shells' completion: all from the tables of
 * commands, options and knobs, so that nothing of it has to be kept in step. The shells' side is in
 * cmd_completion.c. */
#include "engine/cmd/cmd_int.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/search/tuner.h"
#include "engine/session/fields.h"
#include "engine/session/preset.h"
#include "engine/tune/sweep.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <ctype.h>
#include <string.h>

/* The words before the one in question; that one; what of it stands before its last comma, where it is a
 * list. */
struct asked {
    const char *const *word;
    size_t n;
    const char *typed;
    size_t nhead;
    struct buf *out;
};

static void offer_n(const struct asked *q, const char *word, size_t n, const char *help)
{
    const char *from = q->typed + q->nhead;
    size_t k = strlen(from);
    if (k > n || memcmp(from, word, k) != 0)
        return;
    buf_printf(q->out, "%.*s%.*s", (int)q->nhead, q->typed, (int)n, word);
    if (help && *help)
        buf_printf(q->out, "\t%s", help);
    buf_puts(q->out, "\n");
}

static void offer(const struct asked *q, const char *word, const char *help)
{
    offer_n(q, word, strlen(word), help);
}

static void offer_files(const struct asked *q, const char *endings)
{
    buf_printf(q->out, ":files%s%s\n", *endings ? " " : "", endings);
}

/* "N|cha|tile:TxT": the words that can be typed as they stand, up to where a capital says what to put
 * in. */
static void offer_form(const struct asked *q, const char *form)
{
    for (const char *p = form; p && *p; p += *p == '|') {
        size_t n = strcspn(p, "|"), k = 0;
        while (k < n && !isupper((unsigned char)p[k]) && p[k] != '[' && p[k] != '.')
            k++;
        if (k)
            offer_n(q, p, k, "");
        p += n;
    }
}

/* ---- values, by what args.def calls them ---- */
static void value_device(const struct asked *q)
{
    for (size_t i = 0; i < preset_count(); i++) {
        char name[96];
        snprintf(name, sizeof name, "sim:%s", preset_name(i));
        offer(q, name, "");
    }
    offer(q, "cuda:0", "");
    offer(q, "auto", "");
    offer_files(q, "json");
}

static void value_devices(const struct asked *q)
{
    struct asked last = *q;
    const char *comma = strrchr(q->typed, ',');
    last.nhead = comma ? (size_t)(comma - q->typed) + 1 : 0;
    value_device(&last);
}

static void value_axis(const struct asked *q)
{
    struct asked last = *q;
    const char *comma = strrchr(q->typed, ',');
    last.nhead = comma ? (size_t)(comma - q->typed) + 1 : 0;
    for (size_t i = 0; i < knob_count(); i++) {
        char name[80];
        snprintf(name, sizeof name, "%s%s", knob_info(i)->name, tune_axis_knows_points(i) ? "" : "=");
        offer(&last, name, knob_info(i)->help);
    }
}

static const char *ptx_among(const struct asked *q)
{
    for (size_t i = 0; i < q->n; i++) {
        size_t k = strlen(q->word[i]);
        if (k > 4 && strcmp(q->word[i] + k - 4, ".ptx") == 0)
            return q->word[i];
    }
    return NULL;
}

/* Kernels of the PTX file on the line, and the launches described beside it. */
static void value_kernel(const struct asked *q)
{
    const char *ptx = ptx_among(q);
    struct ptx_module *m = NULL;
    struct launch_file l = { 0 };
    char *beside = ptx ? launch_beside(ptx) : NULL;
    if (ptx && ptx_parse_file(ptx, &m, NULL) == ST_OK)
        for (uint32_t i = 0; i < m->nfuncs; i++)
            if (m->funcs[i]->entry)
                offer_n(q, m->funcs[i]->name.s, m->funcs[i]->name.n, "kernel");
    if (beside && launch_file_read(beside, &l, NULL) == ST_OK)
        for (size_t i = 0; i < l.n; i++)
            if (l.launch[i].name)
                offer(q, l.launch[i].name, "launch");
    launch_file_free(&l);
    ptx_free(m);
    base_free(beside);
}

static void offer_names(const struct asked *q, const char *folder, const char *end, const char *help)
{
    enum { MOST = 200 };
    char *names[MOST];
    size_t n = cmd_data_names(folder, end, names, MOST);
    for (size_t i = 0; i < n; i++) {
        offer(q, names[i], help);
        base_free(names[i]);
    }
}

static void value_theme(const struct asked *q)
{
    offer_names(q, "themes", ".theme", "");
}

static void value_method(const struct asked *q)
{
    for (size_t i = 0; tune_method_name(i); i++)
        offer(q, tune_method_name(i), "");
    offer(q, "all", "all of them in one table");
}

static void value_format(const struct asked *q)
{
    for (size_t i = 0; q->n && cmd_format(q->word[0], i); i++)
        offer(q, cmd_format(q->word[0], i), "");
}

static void value_when(const struct asked *q)
{
    offer_form(q, "auto|always|never");
}
static void value_file(const struct asked *q)
{
    offer_files(q, "");
}
static void value_session(const struct asked *q)
{
    offer_files(q, "json");
}
static void value_folder(const struct asked *q)
{
    buf_puts(q->out, ":folders\n");
}
static void value_none(const struct asked *q)
{
    (void)q;
}

static const struct {
    const char *value;
    void (*offer)(const struct asked *q);
} values[] = {
    { "KERNEL", value_kernel },   { "DEVICE", value_device }, { "A,B", value_devices },
    { "AXIS", value_axis },       { "METHOD", value_method }, { "FORMAT", value_format },
    { "WHEN", value_when },       { "THEME", value_theme },   { "FILE", value_file },
    { "SESSION", value_session }, { "FOLDER", value_folder }, { "COMMAND", value_none },
    { "N", value_none },          { "X", value_none },        { "SECONDS", value_none },
};

static void offer_value(const struct asked *q, const char *value)
{
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (strcmp(values[i].value, value) == 0)
            values[i].offer(q);
    if (strchr(value, '|'))
        offer_form(q, value);
}

/* ---- places ---- */
static void offer_options(const struct asked *q, const char *command, bool knobs)
{
    for (size_t i = 0; i < arg_count() + (knobs ? knob_count() : 0); i++) {
        bool own = i < arg_count();
        const struct knob_info *k = own ? NULL : knob_info(i - arg_count());
        char name[80];
        if (own && !arg_for(arg_at(i), command))
            continue;
        snprintf(name, sizeof name, "--%s", own ? arg_at(i)->name : k->name);
        offer(q, name, own ? arg_at(i)->help : k->help);
    }
    offer(q, "--help", "what there is");
}

static void offer_commands(const struct asked *q)
{
    for (size_t i = 0; i < command_count(); i++)
        offer(q, command_at(i)->name, command_at(i)->help);
}

/* Records that are no document are named in full, and seldom. */
static void offer_documents(const struct asked *q)
{
    for (size_t i = 0; i < field_record_count(); i++) {
        struct field_record r = field_record_at(i);
        if (field_record_is_document(&r))
            offer(q, r.name, r.what);
    }
}

static void offer_subject(const struct asked *q, const struct command *c)
{
    if (!c || !strcmp(c->usage, "FILE.ptx"))
        offer_files(q, c ? "ptx" : "ptx json");
    else if (!strcmp(c->usage, "SESSION.json"))
        offer_files(q, "json");
    else if (!strcmp(c->usage, "[NAME]")) {
        offer_names(q, "kernels", ".launch.json", "demo kernel");
        offer_names(q, "sessions/lessons", ".json", "lesson");
    } else if (!strcmp(c->usage, "[COMMAND]")) {
        offer_commands(q);
        for (size_t i = 0; help_topic_at(i); i++)
            offer(q, help_topic_at(i)->name, help_topic_at(i)->help);
    } else if (!strcmp(c->usage, "[DOCUMENT]"))
        offer_documents(q);
    else
        offer_form(q, c->usage);
}

/* The value of the option `name` of n bytes, with or without its dashes. False: it takes none, or there
 * is no such. */
static bool offer_value_of(const struct asked *q, const char *name, size_t n, const char *command,
                           bool knobs)
{
    struct str s = { name, n };
    for (size_t i = 0; i < arg_count(); i++) {
        const struct arg_row *r = arg_at(i);
        char letter[3] = { '-', r->letter, 0 }, full[80];
        snprintf(full, sizeof full, "--%s", r->name);
        if (!arg_for(r, command) || r->kind == ARGK_FLAG ||
            !(str_eq(s, str_of(full)) || (r->letter && str_eq(s, str_of(letter)))))
            continue;
        offer_value(q, r->value);
        return true;
    }
    int k = knobs && n > 2 && !memcmp(name, "--", 2) ? knob_find(s) : -1;
    if (k < 0 || knob_info((size_t)k)->kind == KNOB_KIND_FLAG)
        return false;
    for (int v = 0; knob_info((size_t)k)->kind == KNOB_KIND_ENUM && v <= knob_info((size_t)k)->max; v++)
        offer(q, knob_info((size_t)k)->values[v], "");
    if (knob_info((size_t)k)->kind == KNOB_KIND_TEXT)
        offer_form(q, knob_info((size_t)k)->form);
    return true;
}

void cmd_complete(const char *const *word, size_t n, struct buf *out)
{
    struct asked q = { .word = word, .n = n ? n - 1 : 0, .typed = n ? word[n - 1] : "", .out = out };
    const struct command *c = q.n ? command_find(word[0]) : NULL;
    const char *name = c ? c->name : "-", *before = q.n ? word[q.n - 1] : "", *eq = strchr(q.typed, '=');
    bool knobs = !c || c->knobs;
    if (eq && !strncmp(q.typed, "--", 2)) {
        q.nhead = (size_t)(eq - q.typed) + 1;
        offer_value_of(&q, q.typed, q.nhead - 1, name, knobs);
        return;
    }
    if (before[0] == '-' && offer_value_of(&q, before, strlen(before), name, knobs))
        return;
    if (q.typed[0] == '-') {
        offer_options(&q, name, knobs);
        if (!c)
            offer(&q, "--version", "");
        return;
    }
    if (!q.n)
        offer_commands(&q);
    offer_subject(&q, c);
}
