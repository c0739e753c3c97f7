#include "engine/ptx/facts/facts.h"

#include "engine/ptx/facts/contract.h"
#include "engine/ptx/facts/fixed.h"
#include "engine/ptx/facts/fuse.h"
#include "engine/ptx/facts/joined.h"
#include "engine/ptx/facts/live.h"
#include "engine/ptx/facts/multiple.h"
#include "engine/ptx/facts/same.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/ptx.h"

/* ptx_varying: one for each scope and cause */
enum fact {
    FACT_CFG,
    FACT_LIVE,
    FACT_FIXED,
    FACT_CONTRACTED,
    FACT_FUSED,
    FACT_SAME,
    FACT_JOINED,
    FACT_VARYING,
    FACTS = FACT_VARYING + 6
};
struct ptx_facts {
    _Atomic(void *) kept[FACTS];
};

struct ptx_facts *ptx_facts_new(struct arena *a)
{
    return ARENA_NEW(a, struct ptx_facts);
}

static void *fused(const struct ptx_func *f)
{
    const struct ptx_contracted *all = ptx_contracted_of(f);
    struct ptx_fused *x = all ? ptx_fuse(f, all) : NULL;
    if (!x || !x->copy)
        return x;
    x->copy->facts = ptx_facts_new(x->arena);
    if (x->copy->facts)
        return x;
    ptx_fused_free(x);
    return NULL;
}

static void *joined(const struct ptx_cfg *g)
{
    const uint32_t *same = ptx_same_of(g->func);
    struct ptx_multiple *all = same ? ptx_multiples(g) : NULL;
    struct ptx_joined *out = all ? ptx_join(g, same, all) : NULL;
    base_free(all);
    return out;
}

static void *make(const struct ptx_func *f, unsigned which)
{
    if (which == FACT_CFG)
        return ptx_cfg_build(f);
    if (which == FACT_FUSED)
        return fused(f);
    const struct ptx_cfg *g = ptx_cfg_of(f);
    if (!g)
        return NULL;
    switch (which) {
    case FACT_LIVE: return ptx_live_make(g, NULL);
    case FACT_FIXED: return ptx_fixed(g);
    case FACT_CONTRACTED: return ptx_contract(g);
    case FACT_SAME: return ptx_same_loads(g);
    case FACT_JOINED: return joined(g);
    default:
        return ptx_varying(g, (enum ptx_threads)((which - FACT_VARYING) / 2),
                           (enum ptx_cause)((which - FACT_VARYING) % 2));
    }
}

static void drop(void *x, unsigned which)
{
    if (which == FACT_CFG)
        ptx_cfg_free(x);
    else if (which == FACT_FUSED) {
        struct ptx_fused *y = x;
        ptx_facts_drop(y->copy ? y->copy->facts : NULL);
        ptx_fused_free(y);
    } else
        base_free(x);
}

static void *fact(const struct ptx_func *f, unsigned which)
{
    _Atomic(void *) *kept = &f->facts->kept[which];
    void *first = atomic_load_explicit(kept, memory_order_acquire);
    if (first)
        return first;
    void *made = make(f, which);
    if (made && !atomic_compare_exchange_strong(kept, &first, made)) {
        drop(made, which); /* another thread was quicker */
        return first;
    }
    return made;
}

void ptx_facts_drop(struct ptx_facts *x)
{
    for (unsigned k = FACTS; x && k-- > 0;) {
        void *kept = atomic_exchange(&x->kept[k], NULL);
        if (kept)
            drop(kept, k);
    }
}

const struct ptx_cfg *ptx_cfg_of(const struct ptx_func *f)
{
    return fact(f, FACT_CFG);
}

const bool *ptx_varying_of(const struct ptx_func *f, enum ptx_threads scope, enum ptx_cause cause)
{
    return fact(f, FACT_VARYING + 2 * (unsigned)scope + (unsigned)cause);
}

const struct ptx_live *ptx_live_of(const struct ptx_func *f)
{
    return fact(f, FACT_LIVE);
}

const bool *ptx_fixed_of(const struct ptx_func *f)
{
    return fact(f, FACT_FIXED);
}

const struct ptx_contracted *ptx_contracted_of(const struct ptx_func *f)
{
    return fact(f, FACT_CONTRACTED);
}

const uint32_t *ptx_same_of(const struct ptx_func *f)
{
    return fact(f, FACT_SAME);
}

const struct ptx_joined *ptx_joined_of(const struct ptx_func *f)
{
    return fact(f, FACT_JOINED);
}

const struct ptx_func *ptx_fused_of(const struct ptx_func *f)
{
    const struct ptx_fused *x = fact(f, FACT_FUSED);
    return x ? x->func : NULL;
}
