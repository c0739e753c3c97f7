/* json: a JSON writer that keeps numbers exact, and strict reading by cJSON, which only parses here: its
 * printer loses digits. */
#pragma once

#include "engine/base/json_write.h"

#include <cjson/cJSON.h>

/* ---- writing (json_write.h) ---- */
/* a parsed value, kept keys of a newer minor version */
void jw_tree(struct jw *w, const cJSON *t);

/* ---- reading: strict, case-sensitive, bounded ---- */
/* Whole text must be one value. Diagnostics give line and column. Owned: cJSON_Delete. */
cJSON *json_parse(const char *path, const char *text, size_t n, struct diags *ds);
/* The diagnostic for text that is no JSON at `where`. */
void json_fail(const char *path, const char *text, size_t n, const char *where, struct diags *ds);
enum status json_read_file(const char *path, cJSON **out, struct diags *ds);
/* As json_read_file; json_place knows then where its objects and lists stand, also in copies. */
enum status json_read_placed(const char *path, cJSON **out, struct diags *ds);
struct span json_place(const cJSON *o); /* NO_SPAN: not known */
static inline const cJSON *json_get(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}
const char *json_text(const cJSON *o, const char *key); /* NULL: absent or no string */
/* number or decimal string; false: not a whole number >= 0 */
bool json_u64(const cJSON *v, uint64_t *out);
bool json_i64(const cJSON *v, int64_t *out);
