/* knobs: the table of knobs (options.def): names, kinds, ranges, text <-> value. */
#pragma once

#include "engine/base/base.h"

struct options;

enum knob_kind { KNOB_KIND_ENUM, KNOB_KIND_INT, KNOB_KIND_FLAG, KNOB_KIND_TEXT };
struct knob_info {
    /* form: "N", "a|b|c" ... for usage texts */
    const char *name;
    const char *with; /* the knob that switches it on, itself or another; "": a search leaves it alone */
    const char *form;
    const char *help;
    enum knob_kind kind;
    /* INT; ENUM: 0..count-1 */
    int min; /* INT */
    int max; /* INT; ENUM: the last value */
    int def;
    const char *const *values; /* ENUM: NULL-terminated texts */
};
size_t knob_count(void);
const struct knob_info *knob_info(size_t i);
int knob_find(struct str name); /* -1: none; accepts the name without leading dashes */
/* Sets knob i from its text. ST_USAGE with a diagnostic that says what is allowed. */
enum status knob_set(struct options *o, size_t i, struct str text, struct diags *ds);
/* Text of knob i's value; what knob_set accepts. */
void knob_get(const struct options *o, size_t i, struct buf *out);
/* *to gets *from's value of knob i. */
void knob_copy(struct options *to, const struct options *from, size_t i);
bool knob_is_default(const struct options *o, size_t i);
/* Does the knob stand at a value that changes nothing, since another knob or the launch makes it idle?
 * Then `why` says what it needs. warps: of a CTA; 0: not known. */
bool knob_idle(const struct options *o, size_t i, unsigned warps, char *why, size_t n);
/* The original's: every knob at its default; a constant, and a copy of it. */
const struct options *options_none(void);
struct options options_default(void);
void options_copy(struct options *to, const struct options *from);
struct options *options_new(void);      /* the default; base_free; NULL: out of memory */
struct options *options_list(size_t n); /* so many, likewise */
struct options *options_at(struct options *list, size_t i);
/* Configuration i of a list becomes a copy of o; it. */
struct options *options_put(struct options *list, size_t i, const struct options *o);
bool options_equal(const struct options *a, const struct options *b);
/* The options as one command line: "--bypass l1 --pi 7"; defaults left out. */
void options_line(const struct options *o, struct buf *out);
/* The buffer of --l2-persist (a view of o's text) and its fraction, 0 when none is stated. False: none
 * is asked for. */
bool options_l2_persist(const struct options *o, struct str *buffer, double *fraction);
/* Reads what options_line wrote. */
enum status options_parse_line(struct options *o, struct str line, struct diags *ds);
