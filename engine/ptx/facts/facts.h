/* facts: what is known of one function. Made once by whoever holds it (a pass, the simulated device
 * while it decodes) and asked by everyone else; each fact is worked out at its first question, and
 * stays. */
#ifndef GPULOCW_PTX_FACTS_FACTS_H
#define GPULOCW_PTX_FACTS_FACTS_H

#include "engine/base/base.h"
#include "engine/ptx/facts/diverge.h"

struct ptx_cfg;
struct ptx_func;
struct ptx_live;

struct ptx_facts {
    struct ptx_cfg *cfg; /* owned */
    bool *varying[3][2]; /* by scope and cause */
    struct ptx_live *live;
};
/* f outlives it. NULL: out of memory */
struct ptx_facts *ptx_facts_make(const struct ptx_func *f);
void ptx_facts_free(struct ptx_facts *x);
/* ptx_varying, kept. NULL: out of memory */
const bool *ptx_facts_varying(struct ptx_facts *x, enum ptx_scope scope, enum ptx_cause cause);
/* ptx_live_make, every read counted, kept. NULL: out of memory */
const struct ptx_live *ptx_facts_live(struct ptx_facts *x);

#endif
