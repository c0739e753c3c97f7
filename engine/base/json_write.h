/* json_write: a JSON writer that keeps numbers exact. */
#pragma once

#include "engine/base/base.h"

struct jw {
    struct buf *out;
    int depth, pretty /* depth up to which members get a line each */;
    bool first, keyed;
    size_t from; /* bytes that were in `out` before */
};
struct jw jw_open(struct buf *out, int pretty);
void jw_key(struct jw *w, const char *key);
void jw_key_view(struct jw *w, struct str key);
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
void jw_hex(struct jw *w, uint64_t v); /* 16 digits in a string */

/* A member of the open object: key and value. Objects and lists stay open. */
#define jw_put_str(w, key, s)    (jw_key(w, key), jw_str(w, s))
#define jw_put_view(w, key, ...) (jw_key(w, key), jw_view(w, __VA_ARGS__))
#define jw_put_int(w, key, v)    (jw_key(w, key), jw_int(w, v))
#define jw_put_uint(w, key, v)   (jw_key(w, key), jw_uint(w, v))
#define jw_put_num(w, key, v)    (jw_key(w, key), jw_num(w, v))
#define jw_put_bool(w, key, v)   (jw_key(w, key), jw_bool(w, v))
#define jw_put_hex(w, key, v)    (jw_key(w, key), jw_hex(w, v))
#define jw_put_null(w, key)      (jw_key(w, key), jw_null(w))
#define jw_put_obj(w, key)       (jw_key(w, key), jw_obj(w))
#define jw_put_arr(w, key)       (jw_key(w, key), jw_arr(w))
/* A whole number; null where it is not known. */
void jw_put_uint_if(struct jw *w, const char *key, bool known, uint64_t v);
/* [x, y, z] on one line */
void jw_put_three(struct jw *w, const char *key, uint32_t x, uint32_t y, uint32_t z);
#define jw_put_dim(w, key, d) jw_put_three(w, key, (d).x, (d).y, (d).z)
void jw_put_texts(struct jw *w, const char *key, char *const *v, size_t n);
void jw_put_words(struct jw *w, const char *key, char *const *v); /* NULL behind the last */
