/* cluster, the body under other coordinates: which functions read %ctaid and %nctaid, their copies, and
 * registers in the place of these special registers. For redirection and for agents. */
#include "engine/pass/pass_int.h"
#include "engine/ptx/ptx.h"
#include "engine/rewrites/cluster_int.h"

static const char *cluster_coordinate(void *ctx, const struct ptx_operand *o)
{
    struct cluster_names *n = ctx;
    if (o->kind != OPND_SREG || o->comp < 0)
        return NULL;
    if (o->index == PTX_SREG_CTAID)
        return o->comp < 3 ? n->ctaid[o->comp] : "0";
    if (o->index == PTX_SREG_CLUSTERID && n->clusterid[0][0])
        return o->comp < 3 ? n->clusterid[o->comp] : "0";
    if (o->index == PTX_SREG_NCTAID && n->grid)
        return o->comp < 3 ? n->nctaid[o->comp] : "0";
    return NULL;
}

bool cluster_reads(const struct ptx_func *f)
{
    return pass_find_sreg(f, PTX_SREG_CTAID) || pass_find_sreg(f, PTX_SREG_NCTAID) ||
           pass_find_sreg(f, PTX_SREG_CLUSTERID);
}

void cluster_clone_callees(struct pass_ctx *c, struct cluster_names *n, const char *entry,
                           struct strmap *clones)
{
    struct pass_virtual v = { cluster_coordinate, n, cluster_reads };
    pass_virtual_callees(c, &v, entry, clones);
}

void cluster_virtualise(struct pass_ctx *c, struct cluster_names *n, const struct strmap *clones)
{
    struct pass_virtual v = { cluster_coordinate, n, cluster_reads };
    pass_virtual_kernel(c, &v, clones);
}
