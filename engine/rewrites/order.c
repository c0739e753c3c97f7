/* Orders of the CTAs of a grid: place v -> (x, y, z).
 *
 *   row     v = y*nx + x          column  v = x*ny + y        (planes of z one after the other)
 *   tile    T x T squares, row by row; tiles at the right and lower edge are cut off
 *   custom  v -> table[v], a linear CTA number, row-major
 *   graph   the same, from what CTAs share (engine/analysis/cta_graph.h)
 *
 *   before                               after, --index row, behind what makes v
 *     mov.u32 %r1, %ctaid.x;               div.u32 cy, v, nx;  mul.lo.u32 t, cy, nx;  sub.u32 cx, v, t;
 *                                          mov.u32 %r1, cx; */
#include "engine/analysis/analysis.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/meaning.h"
#include "engine/rec/device.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rewrites/cluster_int.h"

#include <stdlib.h>
#include <string.h>

static uint32_t at_least_one(uint32_t n)
{
    return n ? n : 1;
}

static struct dim3u cluster_shape(const struct pass_ctx *c)
{
    const struct dim_directive *r = &c->f->reqnctapercluster;
    struct dim3u n = { r->x, r->y, r->z };
    if (!n.x && c->in->launch)
        n = launch_cluster(c->in->launch);
    return (struct dim3u){ at_least_one(n.x), at_least_one(n.y), at_least_one(n.z) };
}

/* It has to do with the other CTAs of its cluster. */
static bool knows_clusters(const struct ptx_func *f)
{
    for (uint32_t k = 0; k < f->ninsts; k++) {
        const struct ptx_inst *i = &f->insts[k];
        if (i->space == PTX_SPACE_SHARED_CLUSTER || ptx_is(i, IS_CLUSTER) ||
            ptx_has_mod(i, PTX_MOD_SHARED_CLUSTER) || ptx_has_mod(i, PTX_MOD_MULTICAST_CLUSTER))
            return true;
        for (uint8_t n = 0; n < i->nopnds; n++)
            if (i->opnds[n].kind == OPND_SREG && ptx_sreg_sees((enum ptx_sreg)i->opnds[n].index) &
                                                     (PTX_SEES_CLUSTER | PTX_SEES_CLUSTERID))
                return true;
    }
    return false;
}

bool cluster_threads(const struct pass_ctx *c)
{
    struct pass_funcs fs;
    bool any = c->f->reqnctapercluster.x || c->f->explicitcluster || c->f->maxclusterrank ||
               (c->in->launch && launch_cluster(c->in->launch).x) || knows_clusters(c->f);
    pass_callees(c, &fs);
    for (uint32_t k = 0; k < fs.n && !any; k++)
        any = knows_clusters(fs.v[k]);
    return any;
}

/* The grid of what is renamed. */
static struct dim3u cluster_grid(const struct pass_ctx *c)
{
    struct dim3u n = cluster_shape(c), g = c->out->grid;
    return (struct dim3u){ g.x / n.x, g.y / n.y, g.z / n.z };
}

uint32_t cluster_count(const struct pass_ctx *c)
{
    if (opt_cluster(c->opt)->clusters > 0)
        return (uint32_t)opt_cluster(c->opt)->clusters;
    return c->in->dev ? at_least_one(c->in->dev->sms / (uint32_t)dim3u_count(cluster_shape(c))) : 0;
}

void order_declare(const char *tag, struct buf *out)
{
    pass_code(out, tag, ".reg .b32 \t%%#o<6>;\n.reg .b64 \t%%#ol;\n");
}

static uint32_t constant_of(const char *text)
{
    return text[0] >= '0' && text[0] <= '9' ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* q = v div d, r = v mod d; d a register or an immediate; r may be v, q not. Scratch: o5. */
static void divmod(const struct order_code *o, const char *q, const char *r, const char *v,
                   const char *d, struct buf *out)
{
    uint32_t n = constant_of(d);
    unsigned shift = 0;
    while (n && !(n >> shift & 1))
        shift++;
    if (n && n >> shift == 1)
        buf_printf(out, "shr.u32 \t%s, %s, %u;\nand.b32 \t%s, %s, %u;\n", q, v, shift, r, v, n - 1);
    else
        pass_code(out, o->tag,
                  "div.u32 \t%s, %s, %s;\nmul.lo.u32 \t%%#o5, %s, %s;\nsub.u32 \t%s, %s, %%#o5;\n", q, v,
                  d, q, d, r, v);
}

/* Scratch: o0 band, o1 rows before the band, o2 height, o3 place, o4 tile, o5 width. */
void order_decode_tile(const struct order_code *o, unsigned tx, unsigned ty, struct buf *out)
{
    const char *t = o->tag;
    pass_code(out, t,
              "mul.lo.u32 \t%%#o3, %s, %u;\ndiv.u32 \t%%#o0, %s, %%#o3;\n"
              "rem.u32 \t%%#o3, %s, %%#o3;\n",
              o->nx, ty, o->v, o->v);
    pass_code(out, t,
              "mul.lo.u32 \t%%#o1, %%#o0, %u;\nsub.u32 \t%%#o2, %s, %%#o1;\n"
              "min.u32 \t%%#o2, %%#o2, %u;\n",
              ty, o->ny, ty);
    pass_code(out, t,
              "mul.lo.u32 \t%%#o5, %%#o2, %u;\ndiv.u32 \t%%#o4, %%#o3, %%#o5;\n"
              "rem.u32 \t%%#o3, %%#o3, %%#o5;\n",
              tx);
    pass_code(out, t,
              "mul.lo.u32 \t%%#o4, %%#o4, %u;\nsub.u32 \t%%#o5, %s, %%#o4;\n"
              "min.u32 \t%%#o5, %%#o5, %u;\n",
              tx, o->nx, tx);
    pass_code(out, t, "rem.u32 \t%s, %%#o3, %%#o5;\nadd.u32 \t%s, %s, %%#o4;\n", o->x, o->x, o->x);
    pass_code(out, t, "div.u32 \t%s, %%#o3, %%#o5;\nadd.u32 \t%s, %s, %%#o1;\n", o->y, o->y, o->y);
}

void order_decode_column(const struct order_code *o, struct buf *out)
{
    divmod(o, o->x, o->y, o->v, o->ny, out);
}

/* Planes of z come one after the other; a grid known to be flat has none to take off. */
static void decode_plane(const struct pass_ctx *c, const struct order_code *o, struct buf *out)
{
    struct buf plane = { 0 };
    uint32_t nx = constant_of(o->nx), ny = constant_of(o->ny);
    if (nx && ny && c->out->grid.z == 1) {
        buf_printf(out, "mov.u32 \t%s, 0;\n", o->z);
        return;
    }
    if (nx && ny)
        buf_printf(&plane, "%u", nx * ny);
    else
        pass_code(&plane, o->tag, "%%#o0");
    if (!nx || !ny)
        pass_code(out, o->tag, "mul.lo.u32 \t%%#o0, %s, %s;\n", o->nx, o->ny);
    if (plane.s)
        divmod(o, o->z, o->v, o->v, plane.s, out);
    out->oom |= plane.oom;
    buf_free(&plane);
}

void order_decode(const struct pass_ctx *c, const struct order_code *o, struct buf *out)
{
    const char *t = o->tag;
    if (INDEX_BY_TABLE(opt_cluster(c->opt)->index.kind))
        pass_code(out, t,
                  "mov.u64 \t%%#ol, " CLUSTER_ORDER ";\nmad.wide.u32 \t%%#ol, %s, 4, %%#ol;\n"
                  "ld.global.u32 \t%s, [%%#ol];\n",
                  o->v, o->v);
    decode_plane(c, o, out);
    unsigned tx = at_least_one(opt_cluster(c->opt)->index.tx), ty = opt_cluster(c->opt)->index.ty;
    if (opt_cluster(c->opt)->index.kind == INDEX_TILE)
        order_decode_tile(o, tx, ty ? ty : tx, out);
    else if (opt_cluster(c->opt)->index.kind == INDEX_COLUMN)
        order_decode_column(o, out);
    else
        divmod(o, o->y, o->x, o->v, o->nx, out);
}

/* ---- custom orders: a text file of CTA numbers, white space or commas between them, # comments ---- */
struct table {
    uint32_t *v;
    uint64_t n;
};

static const char *skip_blank(const char *p)
{
    for (;; p++) {
        if (*p == '#')
            while (p[1] && p[1] != '\n')
                p++;
        else if (!*p || !strchr(" \t\r\n,", *p))
            return p;
    }
}

static enum status parse_table(struct pass_ctx *c, const char *text, struct table *t)
{
    uint64_t want = dim3u_count(cluster_grid(c));
    bool *seen = base_alloc(want + 1);
    t->v = base_alloc(sizeof *t->v * (want + 1));
    t->n = 0;
    enum status s = t->v && seen ? ST_OK : ST_NOMEM;
    for (const char *p = skip_blank(text); s == ST_OK && *p; p = skip_blank(p)) {
        char *end;
        unsigned long long v = strtoull(p, &end, 10);
        if (end == p || v >= want || seen[v])
            s = pass_refuse(
                c, NO_SPAN,
                "the file must contain each CTA number from 0 to V-1 once, counted row by row",
                "--index custom:%s: entry %llu is not a number below %llu, or appears twice",
                opt_cluster(c->opt)->index.file, (unsigned long long)t->n + 1, (unsigned long long)want);
        else
            seen[v] = true, t->v[t->n++] = (uint32_t)v;
        p = end;
    }
    if (s == ST_OK && t->n != want)
        s = pass_refuse(
            c, NO_SPAN, NULL, "--index custom:%s has %llu CTA numbers; the grid has %llu CTAs",
            opt_cluster(c->opt)->index.file, (unsigned long long)t->n, (unsigned long long)want);
    base_free(seen);
    return s;
}

static enum status graph_table(struct pass_ctx *c, struct table *t)
{
    const struct ana_kernel *k = pass_facts(c);
    uint64_t n = dim3u_count(cluster_grid(c));
    if (!k || !k->order || dim3u_count(k->grid) != n)
        return pass_refuse(c, NO_SPAN, "--index row, column or tile need no graph",
                           "--index graph: there is no graph of what the CTAs share: %s",
                           k && k->order_why ? k->order_why
                                             : "the launch is not known, or has clusters");
    t->n = n;
    t->v = base_alloc(sizeof *t->v * (n + 1));
    if (t->v)
        memcpy(t->v, k->order, sizeof *t->v * n);
    return t->v ? ST_OK : ST_NOMEM;
}

static enum status load_table(struct pass_ctx *c, struct table *t)
{
    if (opt_cluster(c->opt)->index.kind == INDEX_GRAPH)
        return graph_table(c, t);
    char *text = NULL;
    size_t n = 0;
    struct diags why = { 0 };
    enum status s = file_read(opt_cluster(c->opt)->index.file, 64u << 20, &text, &n, &why);
    diags_move(c->ds, &why);
    diags_free(&why);
    if (s == ST_OK)
        s = parse_table(c, text, t);
    base_free(text);
    return s;
}

enum status order_check(struct pass_ctx *c)
{
    if (opt_cluster(c->opt)->index.kind == INDEX_TILE &&
        (!opt_cluster(c->opt)->index.tx || !opt_cluster(c->opt)->index.ty))
        return pass_refuse(c, NO_SPAN, NULL, "--index tile needs a size, such as tile:8x8");
    if (opt_cluster(c->opt)->index.kind == INDEX_TILE &&
        (uint64_t)cluster_grid(c).x * opt_cluster(c->opt)->index.ty > 0xffffffffu)
        return pass_refuse(c, NO_SPAN, NULL,
                           "--index tile: a band of %u rows of this grid has more than 2^32 CTAs",
                           opt_cluster(c->opt)->index.ty);
    if (!INDEX_BY_TABLE(opt_cluster(c->opt)->index.kind))
        return ST_OK;
    if (!c->in->launch)
        return pass_refuse(
            c, NO_SPAN, "give the launch with --launch",
            "--index custom and graph are the order of one grid; there is no launch description");
    struct table t = { 0 };
    enum status s = load_table(c, &t);
    base_free(t.v);
    return s;
}

enum status order_put_table(struct pass_ctx *c)
{
    struct table t = { 0 };
    if (!INDEX_BY_TABLE(opt_cluster(c->opt)->index.kind))
        return ST_OK;
    enum status s = load_table(c, &t);
    struct buf b = { 0 };
    for (uint64_t k = 0; s == ST_OK && k < t.n; k++)
        buf_printf(&b, "%s%u", !k ? "" : k % 16 ? ", " : ",\n\t", t.v[k]);
    if (s == ST_OK && b.s)
        ptx_edit_global(c->edit, c->row->info.name,
                        ".global .align 4 .u32 " CLUSTER_ORDER "[%llu] = {%s};", (unsigned long long)t.n,
                        b.s);
    s = b.oom ? ST_NOMEM : s;
    buf_free(&b);
    base_free(t.v);
    return s;
}
