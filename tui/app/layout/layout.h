/* layout: which panels stand side by side, and where the borders between them are. Each layout is a row
 * of a table; its borders move by keys and by mouse, and are kept from one start to the next. */
#pragma once

#include "engine/base/base.h"

#define LAYOUT_BORDERS 5
#define LAYOUT_SLOTS   6
#define LAYOUT_STEP    4 /* percent of the body that a key moves a border */

struct app;

/* AUTO: by the size of the screen. */
enum layout_id {
    LAYOUT_AUTO,
    LAYOUT_ONE,
    LAYOUT_TWO,
    LAYOUT_THREE,
    LAYOUT_PLOT,
    LAYOUT_CODE,
    LAYOUT_COUNT
};
struct layout_view {
    enum layout_id chosen;
    /* share of the body in percent at which border k stands; 0: where the table has it */
    uint8_t at[LAYOUT_COUNT][LAYOUT_BORDERS];
};

/* A part of the body in percent, and the panels that may stand there as bits. */
struct layout_slot {
    int x0;
    int y0;
    int x1;
    int y1;
    unsigned panels;
};
struct layout_border {
    bool across /* moves up and down */;
    /* percent of the body */
    int at;  /* where it stands */
    int low; /* where it may stand */
    int high;
    int from; /* which part it divides */
    int to;
};

/* The layout for a body of a screen of w x h cells, never AUTO. ONE: tabs, a panel at a time. */
enum layout_id layout_now(const struct app *a, int w, int h);
/* Slots of a layout with its borders where they stand now; returns their number (0 for ONE). Every panel
 * stands in one of them. */
size_t layout_slots(const struct app *a, enum layout_id id, struct layout_slot out[LAYOUT_SLOTS]);
/* Border k; false: there is none. */
bool layout_border(const struct app *a, enum layout_id id, unsigned k, struct layout_border *out);
/* Puts border k at this share of the body, as far as it may go. */
void layout_put(struct app *a, enum layout_id id, unsigned k, int percent);
/* Moves a border of the panel in front by `by` percent: its right or lower one, else the other. */
unsigned layout_move(struct app *a, bool across, int by);
/* The next layout that the screen has room for. */
unsigned layout_next(struct app *a);

/* Settings, as layout_settings writes them: "layout = NAME", "borders = NAME PERCENT ..." (all borders
 * of that layout). False: the value is neither. */
bool layout_set(struct layout_view *v, struct str name);
bool layout_set_borders(struct layout_view *v, struct str text);
void layout_settings(const struct layout_view *v, struct buf *out);
/* The command ":layout NAME"; without a name, what there is. */
unsigned layout_command(struct app *a, const char *name);
