/* limits_doc: what limits a launch (engine/rec/limits.h), as text. */
#ifndef GPULOCW_SESSION_LIMITS_DOC_H
#define GPULOCW_SESSION_LIMITS_DOC_H

#include "engine/base/base.h"

struct jw;
struct limit_place;
struct limits;
struct result;

#define LIMITS_SHOWN 6u
/* The first limit in a line, the heaviest ones in a line each, then why, and what to try. */
void limits_text(const struct result *r, struct buf *out);
/* "gemm.cu:12", or "line 12" of the PTX text. */
void limits_place_text(const struct limits *l, const struct limit_place *p, struct buf *out);
/* Writes the keys "limits" and "filled". limits n/a: null. */
void json_limits(struct jw *w, const struct result *r);

#endif
