/* json_write: a JSON writer that keeps numbers exact, for rooms above session too. */
#ifndef GPULOCW_SESSION_JSON_WRITE_H
#define GPULOCW_SESSION_JSON_WRITE_H

#include "engine/base/base.h"

struct jw {
    struct buf *out;
    int depth, pretty /* depth up to which members get a line each */;
    bool first, keyed;
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

#endif
