/* json: a JSON writer that keeps numbers exact, and strict reading by cJSON, which only parses here: its
 * printer loses digits. */
#ifndef GPULOCW_SESSION_JSON_H
#define GPULOCW_SESSION_JSON_H

#include "engine/base/base.h"

#include <cjson/cJSON.h>

/* ---- writing ---- */
struct jw {
    struct buf *out;
    int depth, pretty /* depth up to which members get a line each */;
    bool first, keyed;
};
struct jw jw_open(struct buf *out, int pretty);
void jw_key(struct jw *w, const char *key);
void jw_obj(struct jw *w);
void jw_arr(struct jw *w);
void jw_end_obj(struct jw *w);
void jw_end_arr(struct jw *w);
void jw_str(struct jw *w, const char *s); /* NULL: null */
void jw_view(struct jw *w, struct str s);
void jw_int(struct jw *w, int64_t v); /* beyond 2^53 as a string */
void jw_uint(struct jw *w, uint64_t v);
/* shortest text that reads back the same; NaN, infinity: null */
void jw_num(struct jw *w, double v);
void jw_bool(struct jw *w, bool v);
void jw_raw(struct jw *w, struct str json); /* a value's text as it is */
void jw_null(struct jw *w);
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

#endif
