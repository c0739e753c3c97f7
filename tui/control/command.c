/* command: the table of commands and what they do; completion. */
#include "tui/control/command.h"

#include "engine/base/name.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/search/tuner.h"
#include "engine/session/launch_file.h"
#include "engine/session/preset.h"
#include "engine/session/session.h"
#include "engine/tune/sweep.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/config.h"
#include "tui/app/launch/guess.h"
#include "tui/app/post.h"
#include "tui/app/reload.h"
#include "tui/app/write_best.h"
#include "tui/control/control.h"
#include "tui/control/export.h"
#include "tui/control/lesson_run.h"
#include "tui/control/panels.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const switches[] = { "on", "off", NULL };
static const char *const styles[] = { "braille", "block", "ascii", NULL };
static const char *const metrics[] = { "time", "speed", "hits", "dram", NULL };
static const char *const layouts[] = { "auto", "one", "two", "three", "plot", "code", NULL };
static const char *const formats[] = { "text", "svg", "csv", "json", NULL };
static const char *const fields[] = { "grid", "block", "shared", "guess", NULL };
static const char *const replays[] = { "play", "pause", "step", "back", "end", "start", "off", NULL };

/* Cuts the first word off. */
static char *take_word(char **rest)
{
    char *s = *rest + strspn(*rest, " "), *end = s + strcspn(s, " ");
    *rest = *end ? end + 1 : end;
    *rest += strspn(*rest, " ");
    *end = '\0';
    return s;
}

static unsigned cmd_sweep(struct app *a, char *args)
{
    char *axis = take_word(&args);
    struct diags ds = { 0 };
    if (!*axis || tune_axes_check(axis, &ds) == ST_OK) {
        if (*axis)
            snprintf(a->valley.axis, sizeof a->valley.axis, "%s", axis);
        app_sweep(a);
    }
    app_notice_diags(a, &ds);
    return UI_REDRAW;
}

static unsigned cmd_layout(struct app *a, char *args)
{
    return layout_command(a, take_word(&args));
}

static unsigned cmd_run(struct app *a, char *args)
{
    (void)args;
    app_run_once(a, a->options);
    return UI_REDRAW;
}

static unsigned cmd_tune(struct app *a, char *args)
{
    const char *method = take_word(&args);
    app_tune(a, method, strtol(args, NULL, 10));
    return UI_REDRAW;
}

static void say_set(struct app *a, size_t knob, const char *value)
{
    char why[128];
    unsigned warps = a->snap->spec ? (unsigned)((dim3u_count(a->snap->spec->block) + 31) / 32) : 0;
    if (knob_idle(a->options, knob, warps, why, sizeof why))
        app_notice(a, DIAG_WARNING, "%s = %s has no effect: %s", knob_info(knob)->name, value, why);
    else
        app_notice(a, DIAG_NOTE, "%s = %s", knob_info(knob)->name, value);
}

static unsigned no_knob(struct app *a, const char *name)
{
    app_notice(a, DIAG_ERROR, "no knob '%s'; %s", name, view_keys(a, "{panel-4} lists them"));
    return UI_REDRAW;
}

static unsigned cmd_set(struct app *a, char *args)
{
    char *name = take_word(&args);
    int i = knob_find(str_of(name));
    if (i < 0)
        return no_knob(a, name);
    if (app_knob_set(a, (size_t)i, str_of(args))) {
        a->to_knob = (unsigned)i + 1;
        say_set(a, (size_t)i, args);
    }
    return UI_REDRAW;
}

static unsigned cmd_unset(struct app *a, char *args)
{
    const struct options *def = options_none();
    struct buf v = { 0 };
    int i = knob_find(str_of(args));
    if (*args && i < 0)
        return no_knob(a, args);
    if (*args)
        knob_get(def, (size_t)i, &v);
    if (!*args)
        app_options_set(a, def);
    else
        app_knob_set(a, (size_t)i, (struct str){ v.s, v.n });
    buf_free(&v);
    return UI_REDRAW;
}

static unsigned post_text(struct app *a, enum job_kind kind, const char *args, const char *what)
{
    if (!*args)
        app_notice(a, DIAG_ERROR, "which %s? none was given", what);
    else
        app_post(a, kind, args, 0);
    return UI_REDRAW;
}

static unsigned cmd_open(struct app *a, char *args)
{
    char path[1024];
    a->overlay = OVERLAY_NONE;
    snprintf(path, sizeof path, "%s/%s", a->data_dir ? a->data_dir : ".", args);
    /* kernels/valley.ptx from anywhere */
    bool demo = *args && access(args, R_OK) != 0 && access(path, R_OK) == 0;
    return post_text(a, JOB_OPEN, demo ? path : args, "file");
}

static unsigned cmd_program(struct app *a, char *args)
{
    if (view_program_survey(a, args))
        app_focus(a, PANEL_PROGRAM);
    else
        app_notice(a, DIAG_ERROR, "no program given: program ./app 100");
    return UI_REDRAW;
}

static unsigned cmd_launch(struct app *a, char *args)
{
    char *field = take_word(&args);
    if (!strcmp(field, "guess")) {
        guess_start(a, NULL);
        return UI_REDRAW;
    }
    if (!*field || !*args || !view_options_launch(a, field, args))
        app_notice(
            a, DIAG_ERROR,
            "launch grid 64, launch block 32x8, launch shared 0, launch ARGUMENT VALUE, launch guess");
    return UI_REDRAW;
}

static unsigned cmd_reload(struct app *a, char *args)
{
    return (void)args, reload_ask(a);
}

static unsigned cmd_watch(struct app *a, char *args)
{
    bool on = !strcmp(args, "on");
    if (!on && strcmp(args, "off")) {
        app_notice(a, DIAG_ERROR, "watch on, or watch off");
        return UI_REDRAW;
    }
    a->reload.watch = on;
    app_notice(a, DIAG_NOTE,
               on ? "the PTX is reloaded whenever it changes"
                  : "changes of the PTX are reported, not loaded");
    return UI_REDRAW;
}

static unsigned cmd_kernel(struct app *a, char *args)
{
    return post_text(a, JOB_KERNEL, args, "kernel");
}
static unsigned cmd_device(struct app *a, char *args)
{
    return post_text(a, JOB_DEVICE, args, "device");
}

static unsigned cmd_save(struct app *a, char *args)
{
    app_post(a, JOB_SAVE, args, 0);
    app_notice(a, DIAG_NOTE, "saving ...");
    return UI_REDRAW;
}

static unsigned cmd_save_launch(struct app *a, char *args)
{
    app_post(a, JOB_LAUNCH_SAVE, args, 0);
    return UI_REDRAW;
}

static unsigned cmd_write(struct app *a, char *args)
{
    const struct options *none = options_none();
    if (write_best(a, args))
        return UI_REDRAW;
    if (a->snap->module && options_equal(a->options, none)) {
        app_notice(
            a, DIAG_WARNING,
            "Nothing to write: no option is set. {cursor-best}, {apply-point} uses the best point");
        return UI_REDRAW;
    }
    if (app_measuring(a))
        app_notice(a, DIAG_NOTE, "queued: written when the %s has ended; {cancel} ends it now",
                   app_word(a->snap));
    app_post(a, JOB_WRITE, args, 0);
    return UI_REDRAW;
}

static unsigned cmd_report_page(struct app *a, char *args)
{
    app_post(a, JOB_REPORT, args, 0);
    return UI_REDRAW;
}

static unsigned cmd_theme(struct app *a, char *args)
{
    if (!app_theme(a, *args ? args : "dark"))
        return UI_REDRAW; /* a name that is none is not kept */
    a->set.theme_given = true;
    config_save(a);
    return UI_REDRAW | UI_REPAINT;
}

static unsigned cmd_mouse(struct app *a, char *args)
{
    a->set.mouse = *args ? !strcmp(args, "on") : !a->set.mouse;
    app_notice(a, DIAG_NOTE, "mouse %s",
               a->set.mouse ? "on" : "off: text can be selected in the terminal");
    config_save(a);
    return UI_REDRAW | UI_MOUSE;
}

static unsigned cmd_plot(struct app *a, char *args)
{
    for (int i = 0; styles[i]; i++)
        if (!strcmp(styles[i], args)) {
            a->set.style = (enum plot_style)i;
            a->set.style_given = true;
            config_save(a);
            return UI_REDRAW;
        }
    app_notice(a, DIAG_ERROR, "plot braille, block or ascii");
    return UI_REDRAW;
}

static unsigned cmd_metric(struct app *a, char *args)
{
    for (int m = 0; m < METRIC_COUNT; m++)
        if (!strcmp(plot_metric_word((enum plot_metric)m), args)) {
            a->valley.metric = (enum plot_metric)m;
            app_focus(a, PANEL_VALLEY);
            return UI_REDRAW;
        }
    app_notice(a, DIAG_ERROR, "metric time, speed, hits or dram");
    return UI_REDRAW;
}

static unsigned cmd_compare(struct app *a, char *args)
{
    struct diags ds = { 0 };
    struct session *s = NULL;
    if (!*args) {
        app_notice(a, DIAG_ERROR, "no session file given");
        return UI_REDRAW;
    }
    if (session_load(args, &s, &ds) == ST_OK) {
        session_free(a->valley.other);
        a->valley.other = s;
        app_focus(a, PANEL_VALLEY);
        app_notice(a, DIAG_NOTE, "curve B is from %s", args);
    }
    app_notice_diags(a, &ds);
    return UI_REDRAW;
}

static unsigned cmd_export(struct app *a, char *args)
{
    char *format = take_word(&args);
    export_panel(a, *format ? format : "text", *args ? args : NULL);
    return UI_REDRAW;
}

static unsigned cmd_panel(struct app *a, char *args)
{
    enum panel_id p = panel_named(args);
    if (p == PANEL_COUNT)
        app_notice(a, DIAG_ERROR, "%s", no_panel(a, args));
    else
        app_focus(a, p);
    return UI_REDRAW;
}

static unsigned cmd_line(struct app *a, char *args)
{
    long n = strtol(args, NULL, 10);
    if (n > 0 && source_goto(a, (uint32_t)n))
        app_focus(a, PANEL_SOURCE);
    else
        app_notice(a, DIAG_ERROR, "the source has no line '%s'", args);
    return UI_REDRAW;
}

static unsigned cmd_note(struct app *a, char *args)
{
    size_t run = view_selected_run(a);
    if (run == SIZE_MAX) {
        app_notice(a, DIAG_ERROR, "nothing has been run yet");
    } else {
        app_post(a, JOB_NOTE, args, (long)run);
        app_notice(a, DIAG_NOTE, *args ? "note of run %zu: %s" : "note of run %zu removed", run + 1,
                   args);
    }
    return UI_REDRAW;
}

static unsigned cmd_lesson(struct app *a, char *args)
{
    lesson_open(a, args);
    return UI_REDRAW;
}

static unsigned cmd_replay(struct app *a, char *args)
{
    struct replay_view *r = &a->replay;
    r->on = strcmp(args, "off") != 0;
    r->playing = !*args || !strcmp(args, "play");
    if (!strcmp(args, "start") || r->playing)
        r->shown = 0;
    else if (!strcmp(args, "end"))
        r->shown = 1u << 20;
    else if (!strcmp(args, "step"))
        r->shown++;
    else if (!strcmp(args, "back"))
        r->shown -= r->shown > 0;
    r->next_ns = a->now_ns;
    app_focus(a, PANEL_VALLEY);
    return UI_REDRAW;
}

static unsigned cmd_keys(struct app *a, char *args)
{
    (void)args;
    config_write_keys(a);
    return UI_REDRAW;
}

static unsigned cmd_key(struct app *a, char *args, enum request r)
{
    (void)args;
    return a->hooks->request(a, r);
}
/* What a key does, too. */
#define KEY(name, r)                                      \
    static unsigned cmd_##name(struct app *a, char *args) \
    {                                                     \
        return cmd_key(a, args, r);                       \
    }
KEY(resume, REQ_RESUME)
KEY(cancel, REQ_CANCEL)
KEY(undo, REQ_UNDO)
KEY(redo, REQ_REDO)
KEY(help, REQ_HELP)
KEY(quit, REQ_QUIT_NOW)
#undef KEY
static unsigned cmd_best(struct app *a, char *args)
{
    app_focus(a, PANEL_VALLEY);
    cmd_key(a, args, REQ_VAL_BEST);
    return cmd_key(a, args, REQ_VAL_APPLY);
}
static unsigned cmd_overlay(struct app *a, char *args)
{
    app_focus(a, PANEL_VALLEY);
    return cmd_key(a, args, REQ_VAL_COMPARE);
}
static unsigned cmd_demo(struct app *a, char *args)
{
    (void)args;
    config_find_demos(a);
    a->overlay = OVERLAY_PICKER;
    a->over_list = (struct list){ 0 };
    return UI_REDRAW;
}

static const struct command_info commands[] = {
    { "sweep", "[AXIS,...]",
      "sweep pi, agents, carveout, block, or any knob with values: sweep coarsen=1/2/4", COMPLETE_AXIS,
      COMMAND_ACTS, cmd_sweep },
    { "run", "", "run the kernel once with the current knobs", COMPLETE_NONE, COMMAND_ACTS, cmd_run },
    { "tune", "[METHOD [BUDGET]]", "search all knobs; the budget counts launches", COMPLETE_METHOD,
      COMMAND_ACTS, cmd_tune },
    { "resume", "",
      "continue the last interrupted sweep or search (in the runs panel: the selected one)",
      COMPLETE_NONE, COMMAND_ACTS, cmd_resume },
    { "cancel", "", "stop the running work; results are kept", COMPLETE_NONE, COMMAND_ACTS, cmd_cancel },
    { "set", "KNOB VALUE", "set a knob: set agents 3", COMPLETE_KNOB, COMMAND_SHOWS, cmd_set },
    { "unset", "[KNOB]", "a knob (or all) back to its default", COMPLETE_KNOB, COMMAND_SHOWS,
      cmd_unset },
    { "best", "", "use the knobs of the best point of the displayed sweep", COMPLETE_NONE, COMMAND_SHOWS,
      cmd_best },
    { "undo", "", "undo the last change of knobs", COMPLETE_NONE, COMMAND_SHOWS, cmd_undo },
    { "redo", "", "redo it", COMPLETE_NONE, COMMAND_SHOWS, cmd_redo },
    { "program", "[COMMAND]",
      "run a program on the GPU and list its kernels (without COMMAND: the last one again)",
      COMPLETE_FILE, COMMAND_ACTS, cmd_program },
    { "open", "FILE", "open a PTX, launch or session file", COMPLETE_OPEN, COMMAND_ACTS, cmd_open },
    { "reload", "", "reload the PTX and its launch; keeps knobs and position", COMPLETE_NONE,
      COMMAND_ACTS, cmd_reload },
    { "watch", "on|off", "reload the PTX whenever it changes", COMPLETE_SWITCH, COMMAND_ACTS,
      cmd_watch },
    { "kernel", "NAME", "switch to another kernel", COMPLETE_KERNEL, COMMAND_SHOWS, cmd_kernel },
    { "device", "SPEC", "use another device: device sim:fermi-16k", COMPLETE_DEVICE, COMMAND_ACTS,
      cmd_device },
    { "launch", "FIELD VALUE",
      "change the launch: grid, block, shared or an argument; launch guess creates one", COMPLETE_LAUNCH,
      COMMAND_SHOWS, cmd_launch },
    { "save", "[FILE]", "save the session", COMPLETE_FILE, COMMAND_WRITES, cmd_save },
    { "write", "[FILE.ptx]", "write the rewritten kernel (FILE.tuned.ptx) and its launch description",
      COMPLETE_FILE, COMMAND_WRITES, cmd_write },
    { "report", "[FILE.html|FILE.md]", "write a report of the session: curves, counters, changes",
      COMPLETE_FILE, COMMAND_WRITES, cmd_report_page },
    { "save-launch", "[FILE]", "save the launch description", COMPLETE_FILE, COMMAND_WRITES,
      cmd_save_launch },
    { "overlay", "", "overlay the previous sweep (or the marked run), or remove it", COMPLETE_NONE,
      COMMAND_SHOWS, cmd_overlay },
    { "metric", "time|speed|hits|dram", "choose what the valley panel plots", COMPLETE_METRIC,
      COMMAND_SHOWS, cmd_metric },
    { "compare", "SESSION", "overlay the curve of another session", COMPLETE_FILE, COMMAND_ACTS,
      cmd_compare },
    { "export", "[text|svg|csv|json [FILE]]", "write the current panel or plot to a file",
      COMPLETE_FORMAT, COMMAND_WRITES, cmd_export },
    { "note", "TEXT", "add a note to the run selected in the runs panel, or to the displayed one",
      COMPLETE_NONE, COMMAND_WRITES, cmd_note },
    { "panel", "NAME", "go to a panel", COMPLETE_PANEL, COMMAND_SHOWS, cmd_panel },
    { "line", "N", "go to a line of the source", COMPLETE_NONE, COMMAND_SHOWS, cmd_line },
    { "lesson", "FILE", "open a lesson", COMPLETE_OPEN, COMMAND_ACTS, cmd_lesson },
    { "demo", "", "list demo kernels and lessons", COMPLETE_NONE, COMMAND_ACTS, cmd_demo },
    { "replay", "play|step|end|off", "replay the recorded points", COMPLETE_REPLAY, COMMAND_SHOWS,
      cmd_replay },
    { "layout", "NAME", "arrange the panels: auto, one, two, three, plot, code", COMPLETE_LAYOUT,
      COMMAND_WRITES, cmd_layout },
    { "theme", "NAME",
      "dark, light, high-contrast, okabe-ito, okabe-ito-light, or a theme file (default: from the "
      "terminal's background)",
      COMPLETE_THEME, COMMAND_WRITES, cmd_theme },
    { "plot", "braille|block|ascii", "choose how curves are drawn", COMPLETE_STYLE, COMMAND_WRITES,
      cmd_plot },
    { "mouse", "on|off", "use the mouse in the workbench, or leave it to the terminal", COMPLETE_SWITCH,
      COMMAND_WRITES, cmd_mouse },
    { "keys", "", "write the key map to the configuration folder for editing", COMPLETE_NONE,
      COMMAND_WRITES, cmd_keys },
    { "help", "", "help for the current panel", COMPLETE_NONE, COMMAND_SHOWS, cmd_help },
    { "quit", "", "quit the workbench", COMPLETE_NONE, COMMAND_ACTS, cmd_quit },
};

size_t cmdline_count(void)
{
    return ARRAY_LEN(commands);
}
const struct command_info *cmdline_info(size_t i)
{
    return &commands[i];
}

/* An exact name, else a head that only one command has. */
static const struct command_info *find(const char *name)
{
    const struct command_info *found = NULL;
    size_t n = strlen(name);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (!strcmp(commands[i].name, name))
            return &commands[i];
        if (n && !strncmp(commands[i].name, name, n))
            found = found ? &commands[ARRAY_LEN(commands)] : &commands[i];
    }
    return found == &commands[ARRAY_LEN(commands)] ? NULL : found;
}

bool cmdline_known(const char *line)
{
    char copy[PROMPT_TEXT];
    snprintf(copy, sizeof copy, "%s", line + (*line == ':'));
    char *rest = copy;
    return find(take_word(&rest)) != NULL;
}

bool cmdline_begins(const char *line)
{
    char copy[PROMPT_TEXT];
    snprintf(copy, sizeof copy, "%s", line + (*line == ':'));
    char *rest = copy;
    const struct command_info *c = find(take_word(&rest));
    bool file = strchr(rest, '/') || strstr(rest, "custom:") ||
                (c && c->run == cmd_launch && !strncmp(rest, "guess", 5));
    return c && c->use == COMMAND_SHOWS && !file;
}

unsigned app_command(struct app *a, const char *line)
{
    char copy[PROMPT_TEXT];
    snprintf(copy, sizeof copy, "%s", line + (*line == ':'));
    size_t n = strlen(copy);
    while (n && isspace((unsigned char)copy[n - 1]))
        copy[--n] = '\0';
    char *rest = copy, *name = take_word(&rest);
    if (!*name)
        return UI_REDRAW;
    const struct command_info *c = find(strcmp(name, "q") ? name : "quit");
    if (c && c->use == COMMAND_WRITES && a->lesson.lesson && !a->lesson.agreed)
        return lesson_ask(a, line, c->name, rest);
    if (!c) {
        app_notice(a, DIAG_ERROR, "no command '%s' (%s)", name, view_keys(a, "{help} lists them"));
        return UI_REDRAW;
    }
    return c->run(a, rest);
}

/* ---- completion ---- */
struct choices {
    struct app *a;
    const char *head;
    size_t n, common;
    char first[512];
    struct buf all; /* one a line */
};

static void offer(struct choices *c, const char *word)
{
    if (strncmp(word, c->head, strlen(c->head)))
        return;
    if (!c->n++) {
        snprintf(c->first, sizeof c->first, "%s", word);
        c->common = strlen(c->first);
    }
    size_t k = 0;
    while (k < c->common && c->first[k] == word[k])
        k++;
    c->common = k;
    buf_printf(&c->all, "%s\n", word);
}

static void offer_list(struct choices *c, const char *const *list)
{
    for (; list && *list; list++)
        offer(c, *list);
}

/* PTX, sessions, launch descriptions; of app.ptx and app.launch.json the former alone, which finds the
 * other. */
static bool can_be_opened(const char *dir, const char *name)
{
    size_t stem = base_stem(name, ".launch.json");
    char ptx[1300];
    if (!stem)
        return base_stem(name, ".ptx") || base_stem(name, ".json");
    snprintf(ptx, sizeof ptx, "%.1023s%.*s.ptx", dir, (int)(stem < 256 ? stem : 255), name);
    return access(ptx, R_OK) != 0;
}

/* What begins with head in a folder of root ("" : where we are). */
static void offer_paths(struct choices *c, const char *root, bool to_open)
{
    char dir[256], full[1024];
    const char *slash = strrchr(c->head, '/');
    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - c->head + 1) : 0, c->head);
    snprintf(full, sizeof full, "%s%s", root, dir);
    DIR *d = opendir(*full ? full : ".");
    for (struct dirent *e; d && (e = readdir(d));) {
        char word[512], path[1400];
        struct stat st;
        snprintf(path, sizeof path, "%s%s", full, e->d_name);
        if (*e->d_name == '.' || stat(path, &st) != 0 ||
            (!S_ISDIR(st.st_mode) && to_open && !can_be_opened(full, e->d_name)))
            continue;
        snprintf(word, sizeof word, "%s%s%s", dir, e->d_name, S_ISDIR(st.st_mode) ? "/" : "");
        offer(c, word);
    }
    if (d)
        closedir(d);
}

/* As cmd_open looks for it: here, else in the data folder (demo kernels). */
static void offer_to_open(struct choices *c)
{
    char root[512];
    offer_paths(c, "", true);
    snprintf(root, sizeof root, "%s/", c->a->data_dir ? c->a->data_dir : ".");
    if (!c->n && *c->head != '/')
        offer_paths(c, root, true);
}

static void offer_axes(struct choices *c)
{
    char word[80];
    for (size_t i = 0; i < knob_count(); i++) {
        snprintf(word, sizeof word, "%s%s", knob_info(i)->name, tune_axis_knows_points(i) ? "" : "=");
        offer(c, word);
    }
}

/* By launch, as the title bar names it, or by kernel. */
static void offer_kernels(struct choices *c)
{
    const struct ptx_module *m = c->a->snap->module;
    const struct launch_file *l = c->a->snap->launches;
    for (size_t i = 0; l && i < l->n; i++)
        if (l->launch[i].name)
            offer(c, l->launch[i].name);
    for (uint32_t i = 0; m && i < m->nfuncs; i++) {
        bool said = !m->funcs[i]->entry;
        char *name = arena_dup(c->a->frame, m->funcs[i]->name), label[PTX_LABEL];
        ptx_label(name ? name : "", label);
        for (size_t k = 0; l && k < l->n; k++)
            said |= l->launch[k].name && !strcmp(l->launch[k].name, label);
        if (!said)
            offer(c, label);
    }
}

static void offer_themes(struct choices *c)
{
    const char *const homes[] = { c->a->data_dir ? c->a->data_dir : ".", c->a->config_dir };
    for (size_t h = 0; h < ARRAY_LEN(homes); h++) {
        char dir[1024];
        snprintf(dir, sizeof dir, "%s/themes", homes[h] ? homes[h] : "");
        DIR *d = homes[h] ? opendir(dir) : NULL;
        for (struct dirent *e; d && (e = readdir(d));) {
            char *end = strstr(e->d_name, ".theme");
            if (end && !end[6]) {
                *end = '\0';
                offer(c, e->d_name);
            }
        }
        if (d)
            closedir(d);
    }
}

static void offer_values(struct choices *c, int knob)
{
    const struct knob_info *k = knob_info((size_t)knob);
    if (k->kind == KNOB_KIND_ENUM)
        offer_list(c, k->values);
    else if (k->kind == KNOB_KIND_FLAG)
        offer_list(c, switches);
}

static void offer_kind(struct choices *c, enum complete kind)
{
    char dir[512];
    switch (kind) {
    case COMPLETE_AXIS: offer_axes(c); break;
    case COMPLETE_SWITCH: offer_list(c, switches); break;
    case COMPLETE_STYLE: offer_list(c, styles); break;
    case COMPLETE_METRIC: offer_list(c, metrics); break;
    case COMPLETE_LAYOUT: offer_list(c, layouts); break;
    case COMPLETE_FORMAT: offer_list(c, formats); break;
    case COMPLETE_METHOD:
        for (size_t i = 0; tune_method_name(i); i++)
            offer(c, tune_method_name(i));
        break;
    case COMPLETE_REPLAY: offer_list(c, replays); break;
    case COMPLETE_FILE: offer_paths(c, "", false); break;
    case COMPLETE_OPEN: offer_to_open(c); break;
    case COMPLETE_KNOB:
        for (size_t i = 0; i < knob_count(); i++)
            offer(c, knob_info(i)->name);
        break;
    case COMPLETE_PANEL:
        for (int p = 0; p < PANEL_COUNT; p++)
            offer(c, panel_info((enum panel_id)p)->name);
        break;
    case COMPLETE_DEVICE:
        for (size_t i = 0; i < preset_count(); i++) {
            snprintf(dir, sizeof dir, "sim:%s", preset_name(i));
            offer(c, dir);
        }
        break;
    case COMPLETE_KERNEL: offer_kernels(c); break;
    case COMPLETE_THEME: offer_themes(c); break;
    case COMPLETE_LAUNCH:
        offer_list(c, fields);
        for (size_t i = 0; c->a->snap->spec && i < c->a->snap->spec->nargs; i++)
            offer(c, c->a->snap->spec->args[i].name ? c->a->snap->spec->args[i].name : "");
        break;
    case COMPLETE_NONE: break;
    }
}

static int by_name(const void *x, const void *y)
{
    const struct str *a = x, *b = y;
    int d = strncmp(a->s, b->s, a->n < b->n ? a->n : b->n);
    return d ? d : (a->n > b->n) - (a->n < b->n);
}

/* Into the prompt: names in the alphabet's order, values of a knob in that of its table. */
static void show_choices(struct app *a, const struct choices *c, bool sorted)
{
    struct str rest = { c->all.s, c->all.n }, *one = ARENA_ARRAY(a->frame, struct str, c->n + 1);
    char word[PROMPT_TEXT];
    size_t n = 0;
    while (one && n < c->n && str_line(&rest, &one[n]))
        n++;
    if (one && sorted)
        qsort(one, n, sizeof *one, by_name);
    for (size_t i = 0; c->n > 1 && i < n; i++) {
        snprintf(word, sizeof word, "%.*s", (int)one[i].n, one[i].s);
        prompt_offer(&a->prompt, word);
    }
}

void cmdline_complete(struct app *a)
{
    struct prompt *p = &a->prompt;
    char head[PROMPT_TEXT], line[PROMPT_TEXT];
    size_t from = p->at;
    while (from && p->text[from - 1] != ' ')
        from--;
    snprintf(head, sizeof head, "%.*s", (int)(p->at - from), p->text + from);
    snprintf(line, sizeof line, "%.*s", (int)from, p->text);
    struct choices c = { .a = a, .head = head };
    bool values = false;
    char *rest = line, *name = take_word(&rest);
    const struct command_info *cmd = find(name);
    if (!*name) {
        for (size_t i = 0; i < ARRAY_LEN(commands); i++)
            offer(&c, commands[i].name);
    } else if (cmd) {
        char *first = take_word(&rest);
        int knob = cmd->complete == COMPLETE_KNOB && *first ? knob_find(str_of(first)) : -1;
        values = knob >= 0;
        if (values)
            offer_values(&c, knob);
        else
            offer_kind(&c, cmd->complete == COMPLETE_FORMAT && *first ? COMPLETE_FILE : cmd->complete);
    }
    if (c.n) {
        char text[300];
        snprintf(text, sizeof text, "%.*s%s", (int)c.common, c.first,
                 c.n == 1 && c.common && !strchr("/=", c.first[c.common - 1]) ? " " : "");
        prompt_replace(p, from, text);
    }
    show_choices(a, &c, !values);
    buf_free(&c.all);
}
