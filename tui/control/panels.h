/* panels: the views by number, and the overlays. */
#pragma once

#include "tui/view/view.h"

struct list;

const struct view *view_of(enum panel_id p);
/* Line i of a panel as updated in this frame. Returns its item (-1: not selectable). */
long view_line(struct app *a, enum panel_id p, size_t i, unsigned w, struct row *r);
unsigned list_request(struct app *a, struct list *l, const struct page *p, enum request r);
/* Cursor of a panel's plot to a point. */
void view_cursor(struct app *a, enum panel_id p, size_t point);
/* Plot of the panel in front, or of the valley panel when it has none. */
void view_plot(struct app *a, struct plot *out);
/* Run that the panel in front is about: under the cursor of the runs panel, shown in the
 * valley or counters panel, else the last; SIZE_MAX: none. */
size_t view_selected_run(struct app *a);

/* ---- help.c: the overlays ---- */
void view_help_update(struct app *a, unsigned w); /* fills a->over */
void view_picker_update(struct app *a, unsigned w);
/* about the entry under the cursor; NULL: none */
const char *view_picker_help(const struct app *a);

enum panel_id panel_named(const char *name); /* PANEL_COUNT: none */
/* Names those that there are; the frame's. */
const char *no_panel(struct app *a, const char *name);
