/* trace: the requests of one SM, for ana_trace and the reuse curve. */
#pragma once

#include "engine/base/base.h"

struct ana_request;
struct facts;
struct slice;

struct trace_plan {
    unsigned line /* bytes, 32..1024, a power of two */, resident, sm, sms;
    uint64_t budget /* warp operations */;
};
/* As ana_trace, for facts and a slice that exist. ST_REFUSED: out of budget. */
enum status trace_sm(struct facts *f, struct slice *s, const struct trace_plan *p,
                     bool (*fn)(void *ctx, const struct ana_request *r), void *ctx);
