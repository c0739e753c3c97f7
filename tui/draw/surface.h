/* surface: a grid of cells that panels draw into. A cell holds a character, a
 * role and whether it lies under the selection; colours come later, in term.
 * Writes outside the clip rectangle are dropped, so a panel cannot spoil its
 * neighbours. */
#pragma once

#include "engine/base/base.h"
#include "tui/base/theme.h"

struct row;

struct rect {
    /* cells */
    int x;
    int y;
    int w;
    int h;
};
struct cell {
    uint32_t cp;   /* 0: right half of a wide character */
    uint32_t mark; /* one combining character, or 0 */
    uint8_t role;  /* enum role */
    bool sel;
};
struct surface {
    struct cell *cell;
    int w, h;
    struct rect clip;
    int cursor_x, cursor_y; /* text cursor; -1: hidden */
};

/* Blank surface of w x h (at least 1x1). False on out of memory: the old one stays. */
bool surface_resize(struct surface *s, int w, int h);
void surface_free(struct surface *s);
void surface_clear(struct surface *s);
/* Restricts drawing to r (within the surface); returns the clip before. */
struct rect surface_clip(struct surface *s, struct rect r);
void surface_put(struct surface *s, int x, int y, uint32_t cp, enum role role);
/* Draws a UTF-8 text; tabs become blanks, control characters '?'. Returns the column after it. */
int surface_text(struct surface *s, int x, int y, enum role role, struct str t);
int surface_print(struct surface *s, int x, int y, enum role role, const char *fmt, ...)
    BASE_PRINTF(5, 6);
void surface_fill(struct surface *s, struct rect r, uint32_t cp, enum role role);
void surface_select(struct surface *s, struct rect r); /* marks cells as selected */
/* A frame with a title on its upper edge. */
void surface_frame(struct surface *s, struct rect r, bool focus, const char *title);
/* Draws a row from column `skip` of it, cut at w columns; what is cut ends in an ellipsis. */
void surface_row(struct surface *s, int x, int y, int w, const struct row *row, unsigned skip);
/* Replaces every character beyond ASCII by its nearest ASCII stand-in (C locale). */
void surface_ascii(struct surface *s);
/* The text plane alone, trailing blanks cut. */
void surface_plain(const struct surface *s, struct rect r, struct buf *out);
