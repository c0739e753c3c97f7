/* record: members of C structs by name: what a row of fields.def binds to. The same rows make JSON (engine/session/json.c)
 * and what travels to and from workers (engine/dev/worker/wire_records.c).
 *
 *     MEMBER(BIND(dev_info, sms), "sms", type, unit, null when, meaning)    in documents and on the wire
 *     WIRE(BIND(output_hash, other), "other")                               on the wire alone */
#pragma once

#include "engine/base/base.h"

enum member_kind {
    MEMBER_OPENS, /* no member: a record's name; its rows follow */
    MEMBER_INT,
    MEMBER_U8,
    MEMBER_U32,
    MEMBER_U64,
    MEMBER_I64,
    MEMBER_NUM,
    MEMBER_FLOAT,
    MEMBER_BOOL,
    MEMBER_TEXT,   /* char[size] */
    MEMBER_STRING, /* char *; owned where it was read; NULL is a value */
    MEMBER_HEX,    /* uint64_t, hexadecimal in documents */
    MEMBER_NAMED,  /* an enum, by the names of its values */
    MEMBER_RECORD  /* a struct inside: another record */
};
struct member {
    const char *key;
    enum member_kind kind;
    size_t offset, size;
    const char *(*name)(unsigned value); /* NAMED; NULL behind the last */
    const char *record;                  /* RECORD */
    bool wired;                          /* on the wire alone */
};
struct members {
    const struct member *v;
    size_t n;
};
/* The bound rows of a record of fields.def whose struct engine/rec or a room below it has. n 0: none. */
struct members record_members(const char *record);
/* The same of another list of such rows. */
struct members members_of(const struct member *rows, size_t n, const char *record);

#define MEMBER_AT(T, m) offsetof(struct T, m), sizeof(((struct T *)0)->m)
/* clang-format off */
#define MEMBER_KIND(T, m)                                                                                  \
    _Generic(&((struct T *)0)->m, int *: MEMBER_INT, uint8_t *: MEMBER_U8, uint32_t *: MEMBER_U32,         \
             uint64_t *: MEMBER_U64, int64_t *: MEMBER_I64, double *: MEMBER_NUM, float *: MEMBER_FLOAT,   \
             bool *: MEMBER_BOOL, char **: MEMBER_STRING, const char **: MEMBER_STRING, default: MEMBER_TEXT)
/* clang-format on */
#define BIND(T, m)         MEMBER_KIND(T, m), MEMBER_AT(T, m), NULL, NULL
#define HEX(T, m)          MEMBER_HEX, MEMBER_AT(T, m), NULL, NULL
#define NAME(T, m, fn)     MEMBER_NAMED, MEMBER_AT(T, m), fn, NULL
#define HOLD(T, m, record) MEMBER_RECORD, MEMBER_AT(T, m), NULL, record
/* Names of an enum's values, in order, as a function for NAME. */
#define MEMBER_NAMES(fn, ...)                                      \
    static const char *fn(unsigned v)                              \
    {                                                              \
        static const char *const names[] = { __VA_ARGS__ };        \
        return v < sizeof names / sizeof *names ? names[v] : NULL; \
    }

/* The value of a NAMED member, and setting it by name; false: no value is called so. */
const char *member_name(const struct member *m, const void *record);
bool member_set_name(const struct member *m, void *record, struct str name);
