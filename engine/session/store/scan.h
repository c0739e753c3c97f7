/* Going through JSON text without making a tree of it: where the values of a large document begin and
 * end. */
#pragma once

#include "engine/base/base.h"

enum { SCAN_DEEPEST = 1000 }; /* brackets in brackets, as cJSON has it */
/* A value at *at (blanks before it are skipped). True: *at is behind it and *value its text. False: *at
 * is where the text is no JSON, or where it ends too early. The text ends with a NUL at `end`. */
bool scan_value(const char **at, const char *end, struct str *value);
/* Goes through the object or list that begins at *at. fn moves *at over the value of each member (by
 * scan_value, or by this again), or returns false: stop. key: as written, without quotes; empty for
 * elements. True: *at is behind the closing bracket. False: as of scan_value, or where fn stopped. */
typedef bool scan_fn(void *ctx, struct str key, const char **at, const char *end);
bool scan_members(const char **at, const char *end, scan_fn *fn, void *ctx);
