/* view: how each panel's content is made from the app's state: a header line, then lines of role-tagged
 * spans. The valley panel has a plot besides. */
#pragma once

#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "tui/app/page.h"
#include "tui/base/request.h"

struct app;
struct options;
struct plot;
struct result;
struct row;
struct session_run;
struct source_view;
struct tune_sweep;

struct view {
    /* Brings page (or list count) up to date for a panel of w x h cells; once a frame. */
    void (*update)(struct app *a, unsigned w, unsigned h);
    /* Column headings; NULL: none. */
    void (*head)(struct app *a, unsigned w, struct row *r);
    /* Line i when lines are made on demand (long lists); NULL: they lie in the page. */
    void (*line)(struct app *a, size_t i, unsigned w, struct row *r);
    /* What the panel's requests do; enum ui_effect bits. */
    unsigned (*request)(struct app *a, enum request r);
    /* Fills the plot that stands above the lines; false: none now. NULL: never one. */
    bool (*plot)(struct app *a, struct plot *p);
    /* The plot's numbers as CSV; NULL: as view.plot. */
    void (*csv)(struct app *a, struct buf *out);
};
/* ---- panels ---- */
#define X(id, name, title, brief, help, list) extern const struct view view_##name;
PANEL_LIST(X)
#undef X
/* Brings the source panel's lines up to date with the text that is open now. */
void source_refresh(struct app *a);
/* A value typed at the prompt for an item of the options panel. */
void view_options_value(struct app *a, long item, const char *text);
/* The same by name: grid, block, shared, or an argument. False: no such field. */
bool view_options_launch(struct app *a, const char *field, const char *text);
/* Runs a program (a command line as a shell takes it; empty: the last one again) on a thread of its own
 * and lists its kernels in the program panel. False: there is none, or no thread. */
bool view_program_survey(struct app *a, const char *command);
/* Is the file that is open a program, and nothing else is known of its launches? */
bool view_program_offered(struct app *a);
/* Ends the program that runs for the program panel. False: none runs. */
bool view_program_stop(struct app *a);
/* Does the PTX say which lines of a source the kernel was compiled from? */
bool view_cuda_known(const struct app *a);
void view_tree_update(struct app *a, unsigned w);
unsigned view_tree_goto(struct app *a); /* to the instruction under the tree's cursor */

/* source.c: index of the shown module; also used by others to go to a place */
bool source_goto(struct app *a, uint32_t line);
/* To the next place that the rewrite changed, from line `from` on, forwards or backwards; the first one,
 * with some lines above it. False: there is none. */
bool source_to_change(struct app *a, size_t from, int by);
bool source_first_change(struct app *a);
/* Does line i of the source panel hold the text (on either side)? */
bool source_line_has(const struct app *a, size_t i, struct str needle);
/* Access under the source cursor, -1: none. */
int source_access(const struct app *a);
void source_index_free(struct source_view *s);
/* One line of PTX in colour. reg: name of the register to emphasise, empty: none. */
void source_colour(struct row *r, struct str line, struct str reg);
/* What a configuration does to a load: "ca", "cg", "na" ...; never NULL. */
const char *source_decision(const struct options *o, const struct ana_access *x);

/* valley.c */
void valley_plot(struct app *a, struct plot *out);
/* Sweep shown, NULL: none; its run index in *run (may be NULL). */
const struct session_run *valley_run(const struct app *a, size_t *run);
/* The best point (index into points), SIZE_MAX: none. */
size_t valley_best(const struct tune_sweep *s);
/* Table of a sweep's points as CSV. */
void valley_csv(struct app *a, struct buf *out);

size_t view_runs_selected(const struct app *a);
size_t view_counters_run(struct app *a);
/* The result in the counters panel when it is of the present kernel and text, else NULL. */
const struct result *view_counters_result(struct app *a);
/* Which result that is: "run 2 π=8", brief: without the options of others; the frame's. */
const char *view_counters_name(struct app *a, bool brief);
