/* text: UTF-8, display width, rows of role-tagged spans, numbers with units.
 * A row is what every list-like panel is made of; nothing here knows of a
 * screen. Strings of a row live in the frame arena given to it. */
#pragma once

#include "engine/base/base.h"
#include "tui/base/theme.h"

/* Decodes one code point of s[0..n); returns its bytes (1..4). Invalid input
 * gives U+FFFD and one byte, so decoding always goes on. n > 0. */
unsigned utf8_decode(const char *s, size_t n, uint32_t *cp);
/* Encodes into out (at least 4 bytes); returns the bytes written. */
unsigned utf8_encode(uint32_t cp, char *out);
/* Columns of a code point: 0 combining or control, 1, or 2 (East Asian wide). */
unsigned cp_width(uint32_t cp);
/* Columns of a text; a tab counts as one column (panels expand tabs before). */
unsigned text_width(struct str s);
/* Longest head of s that fits `cols` columns. */
struct str text_head(struct str s, unsigned cols);
/* Case-insensitive (ASCII) search; SIZE_MAX when absent. An empty needle is absent. */
/* As many whole sentences as have room in so many columns; the first alone has not: all of s, to be cut.
 */
struct str text_sentences(struct str s, unsigned cols);
size_t text_find(struct str hay, struct str needle);

#define ROW_MAX_SPANS 128
struct row_span {
    struct str s;
    enum role role;
};
struct row {
    struct arena *arena; /* frame arena that spans are printed into */
    struct row_span v[ROW_MAX_SPANS];
    unsigned n, width; /* spans; columns so far */
};
/* Appends text; silently dropped past ROW_MAX_SPANS (rows are made of few spans). */
void row_put(struct row *r, enum role role, const char *fmt, ...) BASE_PRINTF(3, 4);
void row_str(struct row *r, enum role role, struct str s); /* s outlives the frame */
void row_pad(struct row *r, unsigned col);                 /* blanks up to a column */
/* Right-aligned in `cols` columns, from the current end. */
void row_right(struct row *r, enum role role, unsigned cols, const char *fmt, ...) BASE_PRINTF(4, 5);
/* A bar of `cols` columns filled to share 0..1 in eighths of a column. */
void row_bar(struct row *r, enum role role, unsigned cols, double share);
/* The shape of n values in `cols` columns, from `low` (NaN: the least of them) to `high` (NaN: the
 * most). An unknown value (NaN) leaves a gap. Where there are more values than columns each column shows
 * the mean of its share. */
void row_spark(struct row *r, enum role role, unsigned cols, const double *v, size_t n, double low,
               double high);
/* The row's text joined, for search and export. */
struct str row_text(const struct row *r);

/* Numbers for people. out holds at least TEXT_NUM bytes; NaN prints "n/a". */
#define TEXT_NUM 24
void text_time(char *out, double ns);   /* "1.234 ms" */
void text_count(char *out, double v);   /* "12.3 M" */
void text_bytes(char *out, double v);   /* "12.3 MiB" */
void text_percent(char *out, double v); /* "63.2 %" */
