#include "engine/ptx/facts/facts.h"

#include "engine/base/base.h"
#include "engine/ptx/facts/live.h"
#include "engine/ptx/flow/cfg.h"

struct ptx_facts *ptx_facts_make(const struct ptx_func *f)
{
    struct ptx_facts *x = base_alloc(sizeof *x);
    if (x)
        x->cfg = ptx_cfg_build(f);
    if (x && x->cfg)
        return x;
    base_free(x);
    return NULL;
}

void ptx_facts_free(struct ptx_facts *x)
{
    if (!x)
        return;
    for (unsigned k = 0; k < 6; k++)
        base_free(x->varying[k / 2][k % 2]);
    base_free(x->live);
    ptx_cfg_free(x->cfg);
    base_free(x);
}

const bool *ptx_facts_varying(struct ptx_facts *x, enum ptx_scope scope, enum ptx_cause cause)
{
    bool **v = &x->varying[scope][cause];
    if (!*v)
        *v = ptx_varying(x->cfg, scope, cause);
    return *v;
}

const struct ptx_live *ptx_facts_live(struct ptx_facts *x)
{
    if (!x->live)
        x->live = ptx_live_make(x->cfg, NULL);
    return x->live;
}
