/* cluster (paper: cluster, sections 4.1 and 4.2): CTAs are renamed so that those that share data meet
 * on one SM.
 *
 * V CTAs in some order are cut into M clusters of q = V div M, the first r = V mod M one larger:
 * start(i) = i*q + min(i, r). Redirection keeps the grid and takes the hardware's order to be round
 * robin: new CTA u is member w = u div M of cluster i = u mod M and becomes the CTA at place start(i)
 * + w of the order.
 *
 *   before                               after, --cluster redirect
 *                                          u = (%ctaid.z * ny + %ctaid.y) * nx + %ctaid.x;
 *                                          i = u mod M;  w = u div M;  v = i*q + min(i, r) + w;
 *                                          cx, cy, cz = place v of the order (order.c);
 *     mov.u32 %r1, %ctaid.x;               mov.u32 %r1, cx;
 *
 * Kernels launched in thread-block clusters: what is renamed are these, of %clusterid and %nclusterid;
 * their CTAs keep their ranks. */
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rewrites/cluster_int.h"

#include <string.h>

#define TAG "cluster"

static bool asked(const struct options *o)
{
    return opt_cluster(o)->kind != CLUSTER_NONE;
}

/* ---- legality ---- */
static bool is_renamed(const struct ptx_operand *o)
{
    return o->kind == OPND_SREG &&
           (o->index == PTX_SREG_CTAID || o->index == PTX_SREG_NCTAID || o->index == PTX_SREG_CLUSTERID);
}

static enum status check_func(struct pass_ctx *c, const struct ptx_func *f)
{
    for (uint32_t k = 0; k < f->ninsts; k++) {
        const struct ptx_inst *i = &f->insts[k];
        struct str t = ptx_text(c->m, i->at);
        if (ptx_is_opaque(i) && (memmem(t.s, t.n, "ctaid", 5) || memmem(t.s, t.n, "smid", 4)))
            return pass_refuse(c, i->at, NULL,
                               "an instruction that is not modelled reads the CTA's index");
        for (uint8_t n = 0; n < i->nopnds; n++)
            if (is_renamed(&i->opnds[n]) &&
                (i->opnds[n].comp < 0 ||
                 (i->ntypes && ptx_type_bits((enum ptx_type)i->type[i->ntypes - 1]) != 32)))
                return pass_refuse(c, i->at, NULL,
                                   "%s is read here as something other than a 32-bit component",
                                   ptx_sreg_name((enum ptx_sreg)i->opnds[n].index));
    }
    return ST_OK;
}

static enum status check(struct pass_ctx *c)
{
    struct pass_funcs fs;
    uint32_t m = cluster_count(c);
    if (!m)
        return pass_refuse(c, NO_SPAN, "choose a device, or set --clusters N",
                           "the number of clusters is the number of SMs; no device is chosen");
    if (c->in->launch && dim3u_count(c->out->grid) > 0x7fffffffu)
        return pass_refuse(c, NO_SPAN, NULL, "a grid of more than 2^31 CTAs");
    if (c->f->blocksareclusters)
        return pass_refuse(c, NO_SPAN, NULL,
                           "the kernel's grid is one of clusters (.blocksareclusters), not of CTAs");
    if (cluster_threads(c) && opt_cluster(c->opt)->kind == CLUSTER_AGENT)
        return pass_refuse(
            c, NO_SPAN, "--cluster redirect renames whole clusters",
            "the kernel is launched in hardware CTA clusters: an agent cannot run them one "
            "after the other");
    pass_callees(c, &fs);
    if (fs.unknown)
        return pass_refuse(c, fs.at, NULL,
                           "the kernel calls a function of another module, which may read %%ctaid");
    enum status s = check_func(c, c->f);
    for (uint32_t k = 0; k < fs.n && s == ST_OK; k++) {
        s = check_func(c, fs.v[k]);
        if (s == ST_OK && fs.indirect && cluster_reads(fs.v[k]))
            s = pass_refuse(
                c, fs.at, NULL,
                "the kernel calls through a pointer, and a possible target, %.*s, reads %%ctaid",
                (int)fs.v[k]->name.n, fs.v[k]->name.s);
    }
    if (s == ST_OK)
        s = order_check(c);
    if (s == ST_OK && opt_cluster(c->opt)->kind == CLUSTER_AGENT)
        s = agent_check(c);
    return s;
}

/* ---- redirection ---- */
void cluster_redirect_code(const struct pass_ctx *c, const char *const id[3],
                           const struct cluster_names *n, struct buf *out)
{
    const char *t = c->tag;
    uint32_t m = cluster_count(c);
    struct buf nx = { 0 }, ny = { 0 }, v = { 0 };
    pass_code(&nx, t, "%%#nx");
    pass_code(&ny, t, "%%#ny");
    pass_code(&v, t, "%%#v");
    const char *of = cluster_threads(c) ? "cluster" : "cta";
    for (int d = 0; d < 3; d++)
        pass_code(out, t, "mov.u32 \t%%#n%c, %%n%sid.%c;\n", 'x' + d, of, 'x' + d);
    pass_code(out, t,
              "mov.u32 \t%%#u, %s;\nmov.u32 \t%%#v, %s;\nmad.lo.u32 \t%%#v, %%#u, %%#ny, %%#v;\n", id[2],
              id[1]);
    pass_code(out, t, "mov.u32 \t%%#u, %s;\nmad.lo.u32 \t%%#u, %%#v, %%#nx, %%#u;\n", id[0]);
    pass_code(out, t, "mul.lo.u32 \t%%#r, %%#nx, %%#ny;\nmul.lo.u32 \t%%#r, %%#r, %%#nz;\n");
    pass_code(out, t,
              "div.u32 \t%%#q, %%#r, %u;\nmul.lo.u32 \t%%#i, %%#q, %u;\n"
              "sub.u32 \t%%#r, %%#r, %%#i;\n",
              m, m);
    pass_code(out, t,
              "div.u32 \t%%#v, %%#u, %u;\nmul.lo.u32 \t%%#i, %%#v, %u;\n"
              "sub.u32 \t%%#i, %%#u, %%#i;\nmov.b32 \t%%#u, %%#v;\n",
              m, m);
    pass_code(out, t,
              "min.u32 \t%%#r, %%#r, %%#i;\nadd.u32 \t%%#u, %%#u, %%#r;\n"
              "mad.lo.u32 \t%%#v, %%#i, %%#q, %%#u;\n");
    const char(*to)[24] = cluster_threads(c) ? n->clusterid : n->ctaid;
    struct order_code o = { t, v.s, nx.s, ny.s, to[0], to[1], to[2] };
    if (nx.s && ny.s && v.s)
        order_decode(c, &o, out);
    for (int d = 0; d < 3 && cluster_threads(c); d++)
        pass_code(out, t,
                  "mov.u32 \t%%#u, %%cluster_nctaid.%c;\nmov.u32 \t%%#v, %%cluster_ctaid.%c;\n"
                  "mad.lo.u32 \t%s, %s, %%#u, %%#v;\n",
                  'x' + d, 'x' + d, n->ctaid[d], to[d]);
    out->oom |= nx.oom || ny.oom || v.oom;
    buf_free(&nx);
    buf_free(&ny);
    buf_free(&v);
}

void cluster_redirect_declare(const char *t, struct buf *out)
{
    pass_code(out, t,
              ".reg .b32 \t%%#cx, %%#cy, %%#cz, %%#nx, %%#ny, %%#nz, %%#u, %%#v, %%#q, %%#r, %%#i;\n");
    order_declare(t, out);
}

/* %<tag><letter>x and so on */
void cluster_name_registers(struct pass_ctx *c, char letter, char to[3][24])
{
    for (int d = 0; d < 3; d++) {
        struct buf b = { 0 };
        pass_code(&b, c->tag, "%%#%c%c", letter, 'x' + d);
        if (b.s && b.n < sizeof to[d])
            memcpy(to[d], b.s, b.n + 1);
        c->oom |= b.oom;
        buf_free(&b);
    }
}

static enum status redirect_run(struct pass_ctx *c)
{
    static const char *const ctaid[3] = { "%ctaid.x", "%ctaid.y", "%ctaid.z" }, *const clusterid[3] = {
        "%clusterid.x", "%clusterid.y", "%clusterid.z"
    };
    struct cluster_names n = { .grid = false };
    struct buf decls = { 0 }, code = { 0 }, both = { 0 };
    struct strmap clones = { 0 };
    cluster_name_registers(c, 'c', n.ctaid);
    /* where there are no clusters, a CTA is one */
    cluster_name_registers(c, cluster_threads(c) ? 'd' : 'c', n.clusterid);
    enum status s = order_put_table(c);
    cluster_redirect_declare(c->tag, &decls);
    if (cluster_threads(c))
        pass_code(&decls, c->tag, ".reg .b32 \t%%#dx, %%#dy, %%#dz;\n");
    cluster_redirect_code(c, cluster_threads(c) ? clusterid : ctaid, &n, &code);
    buf_printf(&both, "%s%s", decls.s ? decls.s : "", code.s ? code.s : "");
    if (s == ST_OK && !both.oom && !code.oom && !decls.oom) {
        ptx_edit_declare(c->edit, c->f, TAG, "%s", decls.s);
        ptx_edit_entry(c->edit, c->f, TAG, "%s", code.s);
        cluster_clone_callees(c, &n, both.s, &clones);
        cluster_virtualise(c, &n, &clones);
        c->out->extra_regs += 3;
        c->out->meaning.clusters = cluster_threads(c) ? 0 : cluster_count(c);
    }
    s = s == ST_OK && (both.oom || code.oom || decls.oom) ? ST_NOMEM : s;
    buf_free(&decls);
    buf_free(&code);
    buf_free(&both);
    strmap_free(&clones);
    return s;
}

static enum status run(struct pass_ctx *c)
{
    return opt_cluster(c->opt)->kind == CLUSTER_AGENT ? agent_run(c) : redirect_run(c);
}

static const char *const knobs[] = { "cluster", "index", "clusters", "agents", "claims", NULL };
const struct pass_row pass_row_cluster = {
    { "cluster", "CTAs that share data run on one SM: renamed, or as tasks of persistent agents" },
    knobs,
    asked,
    check,
    run,
    NULL,
    NULL,
};
