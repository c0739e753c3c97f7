/* panel: draws the app into a surface: layout, frames, bars, lists, the plot;
 * and maps mouse events back to what is under them. */
#pragma once

#include "engine/base/base.h"
#include "tui/draw/surface.h"

struct app;
struct event;
struct plot;

/* What was drawn where, for the mouse. */
enum hit_kind { HIT_PANEL, HIT_LINES, HIT_TAB, HIT_REQUEST, HIT_OVER, HIT_PLOT, HIT_BORDER };
struct hit {
    enum hit_kind kind;
    struct rect r;
    int id;
}; /* id: panel, request or border of the layout */
#define HITS_MAX 64
struct screen {
    struct hit hit[HITS_MAX];
    unsigned nhits;
    int drag_from;
    int held;         /* border under the pressed button, from 1; 0: none */
    struct rect body; /* of the layout */
};

/* Draws a whole frame (after app_begin_frame) into s, which has the size a->w x a->h. */
void screen_draw(struct app *a, struct surface *s, struct screen *map);
/* A mouse event; enum ui_effect bits. */
unsigned screen_mouse(struct app *a, struct screen *map, const struct event *e);

/* ---- parts ---- */
void screen_hit(struct screen *map, enum hit_kind kind, struct rect r, int id);
void bars_draw_top(struct app *a, struct surface *s, struct screen *map, bool tabs);
/* Has the progress of what runs a row of its own, above the messages? */
bool bars_progress_row(const struct app *a, const struct surface *s);
void bars_draw_bottom(struct app *a, struct surface *s, struct screen *map, bool keys);
void plot_draw(struct app *a, struct surface *s, struct rect r, const struct plot *p);
/* Columns of plot r and the x value at a column; for the mouse. */
double plot_x_at(struct rect r, const struct plot *p, int column);
