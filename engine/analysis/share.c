/* Who shares what: reuse inside warps, CTAs and between CTAs; the CTA graph;
 * directional strength and partition advice (cluster paper, 4.2.1); footprints
 * and the threshold at which they fit (bypass paper, Table 1 and 4.3).
 *
 * CTAs are probed: all of them when the launch is small (exact), otherwise one in
 * the middle of the grid and its neighbours along x, y, z, from which the whole
 * follows for translation-invariant addresses: n CTAs along an axis whose
 * neighbours share the part s of their bytes touch 1 + (n-1)(1-s) times one CTA. */
#include "engine/analysis/cta_graph.h"
#include "engine/analysis/facts.h"
#include "engine/analysis/probe.h"
#include "engine/analysis/slice/slice.h"
#include "engine/rec/device.h"
#include "engine/rec/launch_read.h"

#include <math.h>

#define FULL_SECTORS  500000u  /* of a launch's loads, so many are followed to their end in every CTA */
#define FULL_REQUESTS 1000000u /* launches of more requests are estimated from a few CTAs */
#define PROBE_SECTORS (1u << 18) /* per probed CTA otherwise: most kernels to their end */
/* per probed CTA in a quick analysis: classes and advice, no traces */
#define QUICK_SECTORS 2048u
#define GRAPH_CTAS    16u
#define GRAPH_SECTORS 2048u

struct sharing {
    struct facts *f;
    struct ana_kernel *k;
    struct probe p;
    struct probe_overlap along[3]; /* with the neighbour along x, y, z */
    bool has[3];
    struct probe_split one; /* the base CTA alone */
};

/* ---- neighbours ---- */
static void base_cta(const struct env *v, uint32_t c[3])
{
    const uint32_t g[3] = { v->grid.x, v->grid.y, v->grid.z };
    for (int d = 0; d < 3; d++)
        c[d] = g[d] > 2 ? g[d] / 2 - (g[d] / 2 + 1 >= g[d]) : 0;
}
static uint64_t cta_id(const struct env *v, const uint32_t c[3])
{
    return c[0] + (uint64_t)v->grid.x * (c[1] + (uint64_t)v->grid.y * c[2]);
}
/* One CTA's writes within a line of what another's loads read: class "write". */
static void note_writes(struct sharing *s, const struct probe_set *loads, const struct probe_set *stores,
                        unsigned axis)
{
    struct probe_set writer = { 0 }, seen = { 0 }; /* line -> store + 1; (access, line) */
    struct fact_writer *w = base_alloc(sizeof *w * (s->f->n + 1));
    for (size_t i = 0; w && i < stores->cap; i++)
        if (stores->key[i] && !probe_set_get(&writer, PROBE_SECTOR(stores->key[i]) >> 2))
            probe_set_or(&writer, PROBE_SECTOR(stores->key[i]) >> 2, PROBE_ACCESS(stores->key[i]) + 1);
    for (size_t i = 0; w && i < loads->cap; i++) {
        uint32_t a = PROBE_ACCESS(loads->key[i]);
        if (!loads->key[i] || a >= s->f->n || probe_set_or(&seen, loads->key[i] & ~UINT64_C(3), 1))
            continue;
        uint32_t by = probe_set_get(&writer, PROBE_SECTOR(loads->key[i]) >> 2);
        w[a].of_lines++;
        w[a].lines += by != 0;
        w[a].store = by ? by - 1 : w[a].store;
        w[a].axis = (uint8_t)axis;
    }
    for (uint32_t a = 0; w && a < s->f->n; a++)
        if (w[a].lines * (s->f->fact[a].writer.of_lines + 1) >
            s->f->fact[a].writer.lines * (w[a].of_lines + 1))
            s->f->fact[a].writer = w[a];
    s->p.loads.oom = s->p.loads.oom || writer.oom || seen.oom || !w;
    probe_set_free(&writer);
    probe_set_free(&seen);
    base_free(w);
}
/* The base CTA against its neighbour along an axis, whose sets are in s->p. */
static enum status compare_neighbour(struct sharing *s, const struct probe_set *loads,
                                     const struct probe_set *stores, unsigned axis)
{
    struct probe_overlap *by = base_alloc(sizeof *by * (s->f->n + 1));
    enum status st = by ? probe_compare(s->f, loads, &s->p.loads, by, &s->along[axis]) : ST_NOMEM;
    for (uint32_t i = 0; st == ST_OK && i < s->f->n; i++)
        s->f->fact[i].near[axis] = (struct fact_overlap){ by[i].bytes, by[i].sectors, by[i].lines,
                                                          by[i].of_bytes, by[i].of_lines };
    base_free(by);
    if (st != ST_OK)
        return st;
    note_writes(s, loads, &s->p.stores, axis);
    note_writes(s, &s->p.loads, stores, axis);
    s->has[axis] = true;
    return s->p.loads.oom ? ST_NOMEM : ST_OK;
}
static enum status probe_neighbours(struct sharing *s)
{
    const struct env *v = &s->f->v;
    const uint32_t g[3] = { v->grid.x, v->grid.y, v->grid.z };
    uint32_t c[3];
    base_cta(v, c);
    enum status st = probe_cta(&s->p, cta_id(v, c));
    s->one = s->p.split;
    struct probe_set loads = probe_take(&s->p.loads), stores = probe_take(&s->p.stores);
    for (unsigned d = 0; d < 3 && st == ST_OK; d++) {
        uint32_t n[3] = { c[0], c[1], c[2] };
        if (g[d] < 2)
            continue;
        n[d]++;
        st = probe_cta(&s->p, cta_id(v, n));
        if (st == ST_OK)
            st = compare_neighbour(s, &loads, &stores, d);
    }
    probe_set_free(&loads);
    probe_set_free(&stores);
    return st;
}
static double strength(const struct sharing *s, int d)
{
    return s->has[d] && s->along[d].of_bytes ? (double)s->along[d].bytes / (double)s->along[d].of_bytes
                                             : 0;
}

/* ---- reuse split ---- */
static struct ana_split split_of(const struct probe_part *t)
{
    double n = t->total ? (double)t->total : 1;
    return (struct ana_split){ (double)(t->total - t->warp_new) / n,
                               (double)(t->warp_new - t->cta_new) / n,
                               (double)(t->cta_new - t->all_new) / n, (double)t->all_new / n };
}
static void reuse_exact(struct ana_kernel *k, const struct probe_split *t)
{
    struct ana_split b = split_of(&t->bytes);
    k->reuse = (struct ana_reuse){ .valid = t->bytes.total > 0 };
    if (!t->bytes.total)
        return;
    k->reuse.intra_warp = b.intra_warp;
    k->reuse.intra_cta = b.intra_cta;
    k->reuse.inter_cta = b.inter_cta;
    k->reuse.none = b.none;
    k->reuse.sectors = split_of(&t->sectors);
    k->reuse.line_reuse = t->lines ? 1 - (double)t->lines_new / (double)t->lines : 0;
}
static void reuse_estimated(struct sharing *s)
{
    const struct env *v = &s->f->v;
    const uint32_t g[3] = { v->grid.x, v->grid.y, v->grid.z };
    struct probe_split t = s->one;
    double bytes = 1, sectors = 1, ctas = (double)env_ctas(v);
    for (int d = 0; d < 3; d++) {
        const struct probe_overlap *o = &s->along[d];
        bytes *= 1 + ((double)g[d] - 1) * (1 - (g[d] > 1 ? strength(s, d) : 0));
        sectors *= 1 + ((double)g[d] - 1) * (1 - (g[d] > 1 && s->has[d] && o->of_sectors
                                                      ? (double)o->sectors / (double)o->of_sectors
                                                      : 0));
    }
    t.bytes.all_new = (uint64_t)((double)t.bytes.cta_new * (bytes / ctas));
    t.sectors.all_new = (uint64_t)((double)t.sectors.cta_new * (sectors / ctas));
    reuse_exact(s->k, &t);
    s->k->reuse.sampled = true;
    s->k->reuse.from =
        s->p.cut ? arena_printf(s->f->arena,
                                "a CTA in the middle and its neighbours, cut off after %u sectors a CTA",
                                PROBE_SECTORS)
                 : "a CTA in the middle and its neighbours, to their end";
}

/* ---- the CTA graph ---- */
/* A piece of the grid around its middle, at most GRAPH_CTAS of it and as square as the grid allows:
 * neighbours in every direction. CTAs at even distances would do worse: the distance is mostly a
 * multiple of the grid's width, all of them stand in one column then, and a kernel whose columns share
 * looks as if everything shared. */
static uint32_t graph_ctas(const struct env *v, uint64_t id[GRAPH_CTAS])
{
    const uint32_t g[3] = { v->grid.x, v->grid.y, v->grid.z };
    uint32_t n[3] = { 1, 1, 1 }, from[3], count = 0;
    bool all = env_ctas(v) <= GRAPH_CTAS;
    for (bool grown = !all; grown;) {
        int least = -1;
        for (int d = 0; d < 3; d++)
            if (n[d] * 2 <= g[d] && n[0] * n[1] * n[2] * 2 <= GRAPH_CTAS &&
                (least < 0 || n[d] < n[least]))
                least = d;
        grown = least >= 0;
        if (grown)
            n[least] *= 2;
    }
    for (int d = 0; d < 3; d++) {
        n[d] = all ? g[d] : n[d];
        from[d] = (g[d] - n[d]) / 2;
    }
    for (uint32_t z = 0; z < n[2]; z++)
        for (uint32_t y = 0; y < n[1]; y++)
            for (uint32_t x = 0; x < n[0]; x++)
                id[count++] = cta_id(v, (const uint32_t[3]){ from[0] + x, from[1] + y, from[2] + z });
    return count;
}
static enum status graph(struct sharing *s)
{
    uint64_t id[GRAPH_CTAS];
    uint32_t n = graph_ctas(&s->f->v, id);
    struct probe_set set[GRAPH_CTAS] = { 0 };
    struct ana_kernel *k = s->k;
    enum status st = ST_OK;
    k->share = ARENA_ARRAY(s->f->arena, float, n *n);
    k->share_cta = ARENA_ARRAY(s->f->arena, uint64_t, n);
    if (!k->share || !k->share_cta)
        return ST_NOMEM;
    uint32_t warps = env_warps(&s->f->v);
    s->p.cap = GRAPH_SECTORS / warps ? GRAPH_SECTORS / warps : 1;
    for (uint32_t i = 0; i < n && st == ST_OK; i++) {
        k->share_cta[i] = id[i];
        st = probe_cta(&s->p, k->share_cta[i]);
        for (size_t j = 0; j < s->p.loads.cap; j++)
            if (s->p.loads.key[j])
                probe_set_or(&set[i], PROBE_SECTOR(s->p.loads.key[j]), s->p.loads.mask[j]);
    }
    for (uint32_t i = 0; i < n && st == ST_OK; i++)
        for (uint32_t j = i; j < n; j++) {
            uint64_t bytes = 0;
            for (size_t q = 0; q < set[i].cap; q++)
                if (set[i].key[q])
                    bytes += (unsigned)__builtin_popcount(set[i].mask[q] &
                                                          probe_set_get(&set[j], set[i].key[q]));
            k->share[i * n + j] = k->share[j * n + i] = (float)bytes;
        }
    k->nshare = st == ST_OK ? n : 0;
    for (uint32_t i = 0; i < n; i++)
        probe_set_free(&set[i]);
    return st;
}

/* ---- partition advice ---- */
static void advise(struct sharing *s)
{
    if (!s->one.bytes.total)
        return; /* no load was traced: nothing is known */
    struct ana_partition *a = &s->k->partition;
    const struct env *v = &s->f->v;
    double x = a->strength_x = strength(s, 0), y = a->strength_y = strength(s, 1),
           z = a->strength_z = strength(s, 2);
    const char *cut = s->p.cut ? " (of the first requests of each warp)" : "";
    uint64_t sms = s->f->o->dev ? (uint64_t)s->f->o->dev->sms : 0;
    if (dim3u_count(v->grid) <= sms) {
        a->index = "none";
        a->why = arena_printf(s->f->arena, "%llu CTAs, an SM for each: their order changes nothing",
                              (unsigned long long)dim3u_count(v->grid));
    } else if (v->grid.y == 1 && v->grid.z == 1) {
        a->index = x >= 0.02 ? "row" : "none";
        a->why = arena_printf(
            s->f->arena,
            x >= 0.02 ? "a 1-D grid: neighbours share %.0f %% of their bytes%s; keep consecutive CTAs "
                        "together (X-partition)"
                      : "CTAs next to each other share %.1f %% of their bytes%s: no order helps",
            100 * x, cut);
    } else if (x < 0.02 && y < 0.02 && z < 0.02) {
        a->index = "none";
        a->why = arena_printf(
            s->f->arena,
            "neighbours share %.1f %% (x), %.1f %% (y), %.1f %% (z) of their bytes%s: no order helps",
            100 * x, 100 * y, 100 * z, cut);
    } else if (x > 1.25 * y && x > 1.25 * z) {
        a->index = "row";
        a->why = arena_printf(s->f->arena,
                              "CTAs along x share %.0f %% of their bytes, along y %.0f %%%s: row-major "
                              "keeps them together (Y-partition)",
                              100 * x, 100 * y, cut);
    } else if (y > 1.25 * x) {
        a->index = "column";
        a->why = arena_printf(s->f->arena,
                              "CTAs along y share %.0f %% of their bytes, along x %.0f %%%s: "
                              "column-major keeps them together (X-partition)",
                              100 * y, 100 * x, cut);
    } else {
        uint32_t t = v->grid.x >= 16 && v->grid.y >= 16 ? 8 : 4;
        a->index = arena_printf(s->f->arena, "tile:%ux%u", t, t);
        a->why = arena_printf(
            s->f->arena,
            "both directions share (x %.0f %%, y %.0f %%)%s: square tiles keep half of each", 100 * x,
            100 * y, cut);
    }
}

/* ---- footprint ---- */
/* Lines that hold nine tenths of a warp's own reuse: the window a warp needs in the cache. */
static uint32_t window(const struct probe *p)
{
    uint64_t total = p->deep, sum = 0;
    for (uint32_t d = 0; d < PROBE_MAX_DEPTH; d++)
        total += p->depth[d];
    for (uint32_t d = 0; d < PROBE_MAX_DEPTH && total; d++) {
        sum += p->depth[d];
        if (sum * 10 >= total * 9)
            return d + 1;
    }
    return 0;
}
uint32_t share_resident(const struct facts *f, const struct dev_info *d)
{
    uint32_t warps = env_warps(&f->v);
    const struct launch_spec *l = f->v.data ? f->v.data->spec : NULL;
    struct dev_cta cta = {
        .threads = (uint64_t)(warps ? warps : 1) * 32,
        .regs = f->o->regs ? f->o->regs : f->e.kernel->maxnreg,
        .shared = ptx_shared_of(f->e.module, f->e.kernel).bytes + f->v.shared_dynamic,
        .cluster =
            l && launch_cluster(l).x ? dim3u_count(launch_cluster(l)) : ptx_cluster_of(f->e.kernel),
        .carveout = -1,
    };
    uint32_t n = dev_resident(d, &cta).ctas_per_sm;
    uint64_t even = d->sms ? (env_ctas(&f->v) + d->sms - 1) / d->sms : n;
    return n > even ? (uint32_t)even : n ? n : 1;
}
static void footprint(struct sharing *s)
{
    const struct dev_info *dev = s->f->o->dev;
    struct ana_footprint *o = &s->k->footprint;
    uint32_t warps = env_warps(&s->f->v), lines = window(&s->p);
    double common =
        s->one.bytes.warp_new ? (double)s->one.bytes.cta_new / (double)s->one.bytes.warp_new : 1;
    if (!s->one.lines) /* nothing went through L1: copies alone, or no load */
        return;
    if (!lines && s->p.cut) /* what comes again may do so behind the end of the trace */
        return;
    o->valid = true;
    o->bytes_per_warp = 128.0 * lines;
    o->bytes_per_thread = o->bytes_per_warp / 32;
    o->bytes_per_cta = o->bytes_per_warp * (1 + ((double)warps - 1) * common);
    o->bytes_per_sm = o->cache_share = NAN;
    o->pi_fit = -1;
    if (!dev)
        return;
    uint32_t n = share_resident(s->f, dev);
    o->bytes_per_sm = o->bytes_per_cta * n;
    o->cache_share = dev->l1_bytes ? (double)dev->l1_bytes / ((double)n * env_threads(&s->f->v)) : NAN;
    if (dev->l1_bytes) { /* caching warps of every resident CTA must fit together */
        double each = o->bytes_per_warp * n;
        double pi = each > 0 ? floor((double)dev->l1_bytes / each) : warps;
        o->pi_fit = pi > warps ? (int)warps : (int)pi;
    }
}

/* ---- the whole launch ---- */
static void add_part(struct probe_part *to, const struct probe_part *p, double weight)
{
    to->total += (uint64_t)((double)p->total * weight);
    to->warp_new += (uint64_t)((double)p->warp_new * weight);
    to->cta_new += (uint64_t)((double)p->cta_new * weight);
    to->all_new += (uint64_t)((double)p->all_new * weight);
}
static void note_touched(const struct probe_set *sectors, uint64_t cta, struct cta_graph *g)
{
    for (size_t i = 0; i < sectors->cap; i++)
        if (sectors->key[i])
            cta_graph_note(g, sectors->key[i], (uint32_t)cta);
}
static enum status order_of(struct sharing *s, struct cta_graph *g)
{
    const struct dev_info *dev = s->f->o->dev;
    uint32_t n = (uint32_t)env_ctas(&s->f->v);
    s->k->order = ARENA_ARRAY(s->f->arena, uint32_t, n);
    if (!s->k->order)
        return ST_NOMEM;
    s->k->order_why = cta_graph_order(g, n, dev ? (uint32_t)dev->sms : 0, s->k->order);
    if (s->k->order_why)
        s->k->order = NULL;
    return g->oom ? ST_NOMEM : ST_OK;
}
/* Every CTA to its end. Where sectors are left out, those of a load stand for as many as it asks for. */
static enum status probe_launch(struct sharing *s)
{
    enum status st = ST_OK;
    struct probe_split t = { .lines = s->one.lines, .lines_new = s->one.lines_new };
    unsigned sample = s->p.sample;
    bool sampled = sample > 0;
    s->p.cap = 0;
    s->p.all = true;
    struct cta_graph g = { 0 };
    for (uint64_t c = 0; c < env_ctas(&s->f->v) && st == ST_OK; c++) {
        st = probe_cta(&s->p, c);
        if (st == ST_OK && s->f->o->order)
            note_touched(&s->p.cta_seen, c, &g);
    }
    if (st == ST_OK && s->f->o->order)
        st = order_of(s, &g);
    cta_graph_free(&g);
    s->p.all = false;
    s->p.sample = 0;
    for (uint32_t i = 0; i < s->f->n; i++) {
        const struct probe_split *by = &s->p.by[i];
        double weight = sampled && by->sectors.total
                            ? (double)s->f->fact[i].tally.sectors / (double)by->sectors.total
                            : 1;
        add_part(&t.bytes, &by->bytes, weight);
        add_part(&t.sectors, &by->sectors, weight);
    }
    if (st == ST_OK)
        reuse_exact(s->k, &t);
    s->k->reuse.sampled = sampled;
    s->k->reuse.from =
        sampled ? arena_printf(s->f->arena, "all CTAs, one sector in %u of large arrays", 1u << sample)
                : "all CTAs";
    return st;
}
/* Can every CTA be followed? sample: one sector in 2^sample then. */
static bool small_launch(const struct facts *f, unsigned *sample)
{
    uint64_t sectors = 0, requests = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct fact *x = &f->fact[i];
        if (!x->load || (x->space != PTX_SPACE_GLOBAL && x->space != ANA_SPACE_COPY))
            continue;
        if (!x->counted || x->sampled)
            return false;
        sectors += x->tally.sectors;
        requests += x->space == ANA_SPACE_COPY ? x->tally.lines : x->tally.requests;
    }
    for (*sample = 0; sectors >> *sample > FULL_SECTORS;)
        ++*sample;
    return requests <= FULL_REQUESTS && env_ctas(&f->v) <= 65536;
}
static void note_reuse(struct sharing *s)
{
    for (uint32_t i = 0; i < s->f->n; i++) {
        s->f->fact[i].touches = s->p.touches[i];
        s->f->fact[i].again = s->p.again[i];
        s->f->fact[i].ever = s->p.ever[i];
        s->k->access[i].reused = s->p.again[i] * 20 > s->p.touches[i];
    }
}
static enum status share_launch(struct sharing *s)
{
    const struct dev_info *dev = s->f->o->dev;
    uint32_t warps = env_warps(&s->f->v);
    unsigned sample = 0;
    bool quick = s->f->o->quick, full = !quick && small_launch(s->f, &sample);
    s->k->order_why = "its launch is too large to follow every CTA";
    enum status st = ST_OK;
    uint64_t l1 = dev && dev->l1_bytes ? dev->l1_bytes : 131072;
    s->p.near_lines = l1 / 128 / (warps ? warps : 1);
    s->p.cap = (quick ? QUICK_SECTORS : PROBE_SECTORS) / warps;
    if (quick)
        s->p.budget = UINT64_C(1) << 20;
    st = probe_neighbours(s);
    if (st == ST_OK) {
        note_reuse(s);
        footprint(s);
        advise(s);
    }
    if (quick)
        return st == ST_REFUSED ? ST_OK : st;
    s->p.sample = sample;
    if (st == ST_OK && full)
        st = probe_launch(s);
    else if (st == ST_OK)
        reuse_estimated(s);
    s->p.sample = 0;
    return st == ST_OK ? graph(s) : st;
}
/* What the traces leave out, so that shares are of the rest. */
static void name_untraced(struct facts *f, const struct slice *s)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (s->site[i].tainted && f->fact[i].load && f->fact[i].space != PTX_SPACE_SHARED &&
            !f->fact[i].prefetch) {
            eval_gap(&f->e, "reuse and sharing leave out the load at line %u and those like it: %s",
                     fact_inst(f, &f->fact[i])->at.line, s->taint_why ? s->taint_why : "not followed");
            return;
        }
}
void share_all(struct facts *f, struct ana_kernel *k)
{
    if (!f->o->data || f->too_long || f->e.status != ST_OK)
        return;
    struct slice *sl = facts_slice(f);
    struct sharing *s = base_alloc(sizeof *s);
    enum status st = sl && s ? ST_OK : ST_NOMEM;
    if (sl && s) {
        s->f = f;
        s->k = k;
        st = probe_make(&s->p, f, sl);
        if (st == ST_OK)
            st = share_launch(s);
        probe_free(&s->p);
    }
    base_free(s);
    if (!sl)
        return; /* a gap says why */
    name_untraced(f, sl);
    if (st == ST_REFUSED && slice_fault(sl))
        eval_gap(&f->e, "sharing between CTAs is not analysed: %s", slice_fault(sl));
    else if (st == ST_REFUSED && sl->spun)
        eval_gap(&f->e, "sharing between CTAs is not analysed: in a sample of them " SLICE_SPUN,
                 sl->spun);
    else if (st == ST_REFUSED)
        eval_gap(&f->e, "sharing between CTAs is not analysed: the addresses take too long to execute");
    else if (st != ST_OK)
        f->e.status = st;
}
