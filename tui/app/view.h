/* view: how each panel's content is made from the app's state: a header line,
 * then lines of role-tagged spans. The valley panel has a plot besides. */
#ifndef GPULOCW_TUI_APP_VIEW_H
#define GPULOCW_TUI_APP_VIEW_H

#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/rec/counters.h"
#include "tui/base/request.h"
#include "tui/base/theme.h"

struct ana_access;
struct app;
struct list;
struct options;
struct page;
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
const struct view *view_of(enum panel_id p);
/* Line i of a panel as updated in this frame. Returns its item (-1: not selectable). */
long view_line(struct app *a, enum panel_id p, size_t i, unsigned w, struct row *r);

/* ---- pages ---- */
void page_clear(struct page *p);
void page_add(struct app *a, struct page *p, const struct row *r, long item);
/* Adds a text broken at blanks into lines of at most w columns, each indented. */
void page_wrap(struct app *a, struct page *p, enum role role, unsigned indent, unsigned w,
               const char *text, long item);
void page_heading(struct app *a, struct page *p, const char *fmt, ...) BASE_PRINTF(3, 4);
void page_blank(struct app *a, struct page *p);
/* The text with every {REQUEST} replaced by that request's key; the frame's. */
const char *view_keys(struct app *a, const char *text);
/* What an empty panel says: what to do next, keys as in view_keys. */
void page_hint(struct app *a, struct page *p, unsigned w, const char *text);
/* The same for panels that a run fills, with what kept the last one from it. */
void page_empty(struct app *a, struct page *p, unsigned w, const char *text);
/* Adds a row broken between its spans into lines of at most w columns, the later ones indented. */
void page_flow(struct app *a, struct page *p, const struct row *r, unsigned indent, unsigned w,
               long item);
/* Item of the line under the cursor of a list over a page, -1: none. */
long page_item(const struct page *p, const struct list *l);

/* ---- lists ---- */
void list_set_count(struct list *l, size_t n);
/* Moves by `by` lines; over a page with selectable lines, to the next selectable one. */
/* Has it lines that the cursor can be on? Else it scrolls as text does. */
bool page_selects(const struct page *p);
void list_move(struct list *l, const struct page *p, long by);
void list_show(struct list *l, size_t at); /* cursor to a line */
unsigned list_request(struct app *a, struct list *l, const struct page *p, enum request r);
/* Keeps the cursor inside the `rows` visible lines. */
void list_fit(struct list *l, unsigned rows);

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
void view_help_update(struct app *a, unsigned w); /* fills a->over */
void view_picker_update(struct app *a, unsigned w);
/* Runs a program (a command line as a shell takes it; empty: the last one again) on a thread of its own
 * and lists its kernels in the program panel. False: there is none, or no thread. */
bool view_program_survey(struct app *a, const char *command);
/* Is the file that is open a program that this machine's GPU may run, and nothing else is known of its
 * launches? */
bool view_program_offered(struct app *a);
/* Ends the program that runs for the program panel. False: none runs. */
bool view_program_stop(struct app *a);
/* about the entry under the cursor; NULL: none */
const char *view_picker_help(const struct app *a);
/* The kernels of the open file, to choose from. */
void view_kernels_update(struct app *a, unsigned w);
unsigned view_kernels_open(struct app *a);
unsigned view_kernels_pick(struct app *a); /* the one under the cursor is opened */
/* Opens the list when a program was opened that has several kernels. True: it did. */
bool view_kernels_offer(struct app *a);
void view_tree_update(struct app *a, unsigned w);
unsigned view_tree_goto(struct app *a); /* to the instruction under the tree's cursor */
/* Lesson strip: narration, task and whether it is done. Lines are added to *p. */
void view_lesson_update(struct app *a, struct page *p, unsigned w);

/* source.c: index of the shown module; also used by others to go to a place */
bool source_goto(struct app *a, uint32_t line);
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
/* Cursor of a panel's plot to a point. */
void view_cursor(struct app *a, enum panel_id p, size_t point);
/* Plot of the panel in front, or of the valley panel when it has none. */
void view_plot(struct app *a, struct plot *out);
/* Sweep shown, NULL: none; its run index in *run (may be NULL). */
const struct session_run *valley_run(const struct app *a, size_t *run);
/* The best point (index into points), SIZE_MAX: none. */
size_t valley_best(const struct tune_sweep *s);
/* Table of a sweep's points as CSV. */
void valley_csv(struct app *a, struct buf *out);

/* Run that the panel in front is about: under the cursor of the runs panel, shown in the
 * valley or counters panel, else the last; SIZE_MAX: none. */
size_t view_selected_run(struct app *a);
size_t view_runs_selected(const struct app *a);
size_t view_counters_run(struct app *a);
/* The result in the counters panel when it is of the present kernel and text, else NULL. */
const struct result *view_counters_result(struct app *a);

/* ---- small common things ---- */
/* What a panel without content says: `text` when a kernel is open that could have some, else what is
 * missing. */
const char *view_unready(const struct app *a, const char *text);
/* A class of locality, and cache sensitivity (CI, MCS, HCS), in words. */
const char *view_class(enum ana_class c);
const char *view_sensitivity(const char *brief);
enum role view_degree_role(double degree); /* good, middling, bad */
enum role view_hit_role(double percent);
/* A counter of a result as text with its unit and origin letter ("n/a" when not valid). */
void view_counter(const struct result *r, enum counter_id c, char *out);

#endif
