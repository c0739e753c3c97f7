/* facts: what is known of one function. Its module keeps it: each fact is worked out at its first question, by
 * whoever asks first (any thread), and stays until the module goes. Passes, proofs, the analysis and the
 * simulated device ask here. */
#pragma once

#include "engine/ptx/facts/diverge.h"

struct ptx_contracted;
struct ptx_func;
struct ptx_joined;
struct ptx_live;

/* All of these: NULL is out of memory. What they return belongs to f's module. */
const struct ptx_cfg *ptx_cfg_of(const struct ptx_func *f);
/* ptx_varying */
const bool *ptx_varying_of(const struct ptx_func *f, enum ptx_threads scope, enum ptx_cause cause);
/* ptx_live_make, every read counted */
const struct ptx_live *ptx_live_of(const struct ptx_func *f);
/* ptx_fixed */
const bool *ptx_fixed_of(const struct ptx_func *f);
/* ptx_contract */
const struct ptx_contracted *ptx_contracted_of(const struct ptx_func *f);
/* ptx_same_loads */
const uint32_t *ptx_same_of(const struct ptx_func *f);
/* ptx_join */
const struct ptx_joined *ptx_joined_of(const struct ptx_func *f);
/* ptx_fuse: the function as ptxas makes it; f itself where nothing is fused. */
const struct ptx_func *ptx_fused_of(const struct ptx_func *f);

/* For the parser: nothing is known yet (NULL: out of memory); ptx_facts_drop frees what was kept, not x. */
struct ptx_facts;
struct ptx_facts *ptx_facts_new(struct arena *a);
void ptx_facts_drop(struct ptx_facts *x);
