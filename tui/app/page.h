/* page: lines of a panel for one frame, moving through a list of lines, and what panels have in common.
 */
#pragma once

#include "engine/base/base.h"
#include "tui/base/theme.h"

struct app;
struct list;
struct page;
struct result;
struct row;

/* ---- pages ---- */
void page_clear(struct page *p);
/* Adds the row as a line, and empties it. */
void page_add(struct app *a, struct page *p, struct row *r, long item);
/* Adds a text broken at blanks into lines of at most w columns, each indented. */
void page_wrap(struct app *a, struct page *p, enum role role, unsigned indent, unsigned w,
               const char *text, long item);
/* Prints fmt, in which {REQUEST} is a key as in view_keys, and adds it as page_wrap does. */
void page_say(struct app *a, struct page *p, enum role role, unsigned indent, unsigned w,
              const char *fmt, ...) BASE_PRINTF(6, 7);
void page_heading(struct app *a, struct page *p, const char *fmt, ...) BASE_PRINTF(3, 4);
void page_blank(struct app *a, struct page *p);
/* The text with every {REQUEST} replaced by that request's key; the frame's. */
const char *view_keys(struct app *a, const char *text);
/* The same in what printf takes. */
void view_print(const struct app *a, struct buf *out, const char *fmt, va_list ap);
/* What an empty panel says: what to do next, keys as in view_keys. */
void page_hint(struct app *a, struct page *p, unsigned w, const char *text);
/* The same for panels that a run fills, with what kept the last one from it. */
void page_empty(struct app *a, struct page *p, unsigned w, const char *text);
/* Adds the row broken between its spans into lines of at most w columns, the later ones indented, and
 * empties it. */
void page_flow(struct app *a, struct page *p, struct row *r, unsigned indent, unsigned w, long item);
/* Item of the line under the cursor of a list over a page, -1: none. */
long page_item(const struct page *p, const struct list *l);

/* ---- lists ---- */
void list_set_count(struct list *l, size_t n);
/* Moves by `by` lines; over a page with selectable lines, to the next selectable one. */
/* Has it lines that the cursor can be on? Else it scrolls as text does. */
bool page_selects(const struct page *p);
void list_move(struct list *l, const struct page *p, long by);
void list_show(struct list *l, size_t at); /* cursor to a line */
/* Keeps the cursor inside the `rows` visible lines. */
void list_fit(struct list *l, unsigned rows);

/* ---- small common things ---- */
/* What a panel without content says: `text` when a kernel is open that could have some, else what is
 * missing. */
const char *view_unready(const struct app *a, const char *text);
enum role view_degree_role(double degree); /* good, middling, bad */
enum role view_hit_role(double percent);
/* A counter of a result as text with its unit and origin letter ("n/a" when not valid). */
void view_counter(const struct result *r, unsigned c, char *out);
