/* Clusters: how a launch is cut into them, addresses of other CTAs' shared memory. */
#include "engine/sim/exec/cluster.h"

#include "engine/ptx/ptx.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/windows.h"

static uint32_t at_least_one(uint32_t n)
{
    return n ? n : 1;
}

static bool refuse(struct exec_launch *x, struct diags *ds, const char *text, const char *hint)
{
    const struct ptx_func *f = x->p->funcs[0].ptx;
    struct diag *d = diag_add(ds, DIAG_ERROR, "cluster", x->p->module->path, f->at, "kernel %.*s %s",
                              (int)f->name.n, f->name.s, text);
    if (d) {
        diag_source(d, x->p->module->text);
        diag_hint(d, "%s", hint);
    }
    return false;
}

struct dim3u exec_cluster_of(const struct sim_program *p, const struct sim_launch *l)
{
    const struct dim_directive *r = &p->funcs[0].ptx->reqnctapercluster;
    struct dim3u n = l->cluster.x ? l->cluster : (struct dim3u){ r->x, r->y, r->z };
    return (struct dim3u){ at_least_one(n.x), at_least_one(n.y), at_least_one(n.z) };
}

bool exec_cluster_sizes(struct exec_launch *x, struct diags *ds)
{
    const struct ptx_func *f = x->p->funcs[0].ptx;
    const struct dim_directive *r = &f->reqnctapercluster;
    struct dim3u n = x->l->cluster, g = x->l->grid;
    x->cluster_ctas = 1;
    x->cluster = exec_cluster_of(x->p, x->l);
    x->explicit_cluster = n.x || r->x;
    if (x->p->part) /* its CTAs run by themselves, and see which cluster they are of */
        return true;
    if (f->blocksareclusters)
        return refuse(x, ds,
                      "is launched with a grid of clusters (.blocksareclusters), which is not modelled",
                      "remove the directive and give the grid in CTAs");
    if (n.x && r->x &&
        (n.x != r->x || at_least_one(n.y) != at_least_one(r->y) ||
         at_least_one(n.z) != at_least_one(r->z)))
        return refuse(x, ds, "requires a different cluster size than the launch",
                      "remove it from the launch");
    if (f->explicitcluster && !x->explicit_cluster)
        return refuse(x, ds, "needs a cluster size at launch (.explicitcluster)",
                      "add \"cluster\" to the launch description");
    n = x->cluster;
    uint64_t ctas = dim3u_count(n), most = f->maxclusterrank && f->maxclusterrank < CLUSTER_MOST
                                               ? f->maxclusterrank
                                               : CLUSTER_MOST;
    x->cluster_ctas = (uint32_t)ctas;
    if (ctas > most)
        return refuse(x, ds, "is launched with clusters larger than it or the device allows",
                      "use at most 16 CTAs, or the value of .maxclusterrank");
    if (g.x % n.x || g.y % n.y || g.z % n.z)
        return refuse(x, ds, "is launched with a cluster size that does not divide the grid",
                      "change the grid");
    return true;
}

static struct dim3u size_of(const struct exec_launch *x)
{
    return x->cluster_ctas > 1 ? x->cluster : (struct dim3u){ 1, 1, 1 };
}

void exec_cluster_first(const struct exec_launch *x, uint64_t index, uint32_t id[3])
{
    struct dim3u n = size_of(x), g = x->l->grid;
    uint32_t across = g.x / n.x, down = g.y / n.y;
    id[0] = (uint32_t)(index % across) * n.x;
    id[1] = (uint32_t)(index / across % down) * n.y;
    id[2] = (uint32_t)(index / across / down) * n.z;
}

void exec_cluster_place(struct exec_cta *c, uint64_t index)
{
    struct dim3u n = size_of(c->x), g = c->x->l->grid;
    exec_cluster_first(c->x, index, c->id);
    c->id[0] += c->rank % n.x;
    c->id[1] += c->rank / n.x % n.y;
    c->id[2] += c->rank / n.x / n.y;
    c->index = ((uint64_t)c->id[2] * g.y + c->id[1]) * g.x + c->id[0];
    c->order = index * c->x->cluster_ctas + c->rank;
}

/* ---- mapa, getctarank, isspacep ---- */
void exec_mapa(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    unsigned bytes = in->flags & EXEC_F_BASE64 ? 8 : 4;
    uint64_t window = in->imm == MAPA_GENERIC ? SHARED_WINDOW : 0;
    FOR_LANES(i, mask)
    {
        uint64_t off = (lane_read(w, in->a, i, bytes) - window) % CLUSTER_STEP,
                 rank = lane_read(w, in->b, i, 4);
        lane_write(w, in->dst, i, bytes, window + (rank % (4 * CLUSTER_MOST) + 1) * CLUSTER_STEP + off);
    }
}

void exec_ctarank(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    FOR_LANES(i, mask)
    {
        uint64_t a = lane_read(w, in->a, i, in->flags & EXEC_F_BASE64 ? 8 : 4) -
                     (in->imm == MAPA_GENERIC ? SHARED_WINDOW : 0);
        lane_write(w, in->dst, i, 4, a < CLUSTER_STEP ? w->cta->rank : a / CLUSTER_STEP - 1);
    }
}

/* a: an offset in the shared window. */
bool exec_in_shared(const struct exec_warp *w, uint64_t a, bool cluster)
{
    uint64_t off;
    const struct exec_cta *c = cluster_cta(w->cta, a, &off);
    return c && (cluster || c == w->cta);
}
