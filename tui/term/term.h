/* term: the terminal. A surface goes out as changed cells; bytes come in as
 * events of our own. The terminal's modes are restored on every way out. */
#pragma once

#include "engine/base/base.h"
#include "tui/base/plot_model.h"
#include "tui/base/theme.h"

struct event;
struct surface;

/* What terminfo says, read once (caps.c, the one file with curses). */
struct caps {
    char *enter;
    char *leave;
    char *clear;
    char *hide;
    char *show;
    int colours;
    bool rgb;
};
/* False: TERM is not known or cannot address the cursor (dumb); *why says so. */
bool caps_read(struct caps *c, const char **why);
void caps_free(struct caps *c);

/* The finest plot drawing that this kind of terminal (TERM) can be trusted with. */
enum plot_style term_plot_style(void);
/* Whether the locale's character set is UTF-8 (sets LC_CTYPE). */
bool term_utf8(void);

/* Decodes buf[0..n) into *e. Returns the bytes used; 0: more are
 * needed (at_end: none will come, so a lone ESC is the key). Unknown sequences
 * are used up and give EVENT_NONE. */
size_t term_decode(const char *buf, size_t n, bool at_end, bool utf8, struct event *e);

struct term;
/* Enters full-screen mode on fd 0/1 and catches signals. color: see term_depth. NULL with *why on
 * failure. */
struct term *term_open(bool mouse, const char *color, const char **why);
void term_close(struct term *t);
int term_fd(const struct term *t); /* readable: input, or a signal (term_signal_fd) */
int term_signal_fd(const struct term *t);
void term_size(const struct term *t, int *w, int *h);
/* The signal that asked to leave, SIGHUP where the terminal went away; 0: none did. */
int term_signal(const struct term *t);
bool term_is_utf8(const struct term *t);
void term_mouse(struct term *t, bool on);
/* Asks for the background's colour, where the terminal is of a kind that answers or keeps quiet:
 * EVENT_BACKGROUND, at once or later. */
void term_ask_background(struct term *t);
/* Draws s; only cells that differ from the last frame are sent. False: the terminal is gone. */
bool term_draw(struct term *t, const struct surface *s, const struct theme *theme, bool repaint);
/* Next event already here, EVENT_NONE: none. *leave is set by TERM, HUP, INT and end of input. */
struct event term_next(struct term *t, bool *leave);
/* Milliseconds after which a half-read key must be decided; -1: none is pending. */
int term_pending_ms(const struct term *t);
/* Stops like the shell's C-z, comes back in full-screen mode. */
void term_suspend(struct term *t);

/* The escape sequence that sets a look as theme_look makes it (appended to out). */
void term_look(struct buf *out, const struct look *l, enum depth d);
