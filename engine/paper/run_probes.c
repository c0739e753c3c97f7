/* classes: what the analysis says of an application, and what the cluster paper's probing launches say
 * (section 4.4). They launch the kernel as it is, with its CTAs redirected along either direction, and
 * with L1 off, and look at what changes. */
#include "engine/analysis/analysis.h"
#include "engine/paper/paper_int.h"
#include "engine/rec/result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The paper has words ("significant", "high"); these are ours. */
enum {
    CHANGED = 5,    /* percent of the time or of L2's sectors, points of the hit rate */
    COALESCED = 75, /* percent of lanes in the range of their warp's first */
};
enum { CLASS_STATIC, CLASS_PROBED, CLASS_REDIRECTED, CLASS_POINTS, CLASS_L1_OFF };

struct probes {
    double redirected; /* time over the original's, of the faster direction */
    double points;     /* hit rate against the original's, of the direction that changes it most */
    double l1_off;     /* sectors read from L2 over the original's */
    double degree;     /* percent */
};

/* One sentence of evidence for each class that its loads have: what the paper's class would need is not
 * among it. */
static void evidence(const struct ana_kernel *k, struct paper_row *row)
{
    bool said[ANA_CLASS_UNKNOWN + 1] = { false };
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        size_t at = strlen(row->note);
        if (a->store || a->prefetch || !a->evidence || said[a->cls] || a->space != PTX_SPACE_GLOBAL)
            continue;
        said[a->cls] = true;
        snprintf(row->note + at, sizeof row->note - at, "; line %u (%s): %s", a->at.line,
                 ana_class_name(a->cls), a->evidence);
    }
    const struct ana_reuse *u = &k->reuse;
    size_t at = strlen(row->note);
    if (u->valid)
        snprintf(row->note + at, sizeof row->note - at,
                 "; other CTAs read %.1f %% of the bytes again, %.1f %% of the 32-byte sectors",
                 100 * u->inter_cta, 100 * u->sectors.inter_cta);
}

/* Reads and writes one array at places that a line can hold, from other CTAs. */
static bool writes_what_is_read(const struct ana_kernel *k)
{
    for (uint32_t i = 0; i < k->naccess; i++)
        if (!k->access[i].store && k->access[i].cls == ANA_CLASS_WRITE)
            return true;
    return false;
}

static const char *class_of(const struct ana_kernel *k, const struct probes *p)
{
    enum ana_class c = p->degree >= COALESCED ? ANA_CLASS_STREAMING : ANA_CLASS_DATA;
    /* a launch that is slower while L1 finds as much pays for its new CTA numbers */
    if (p->redirected < 1 - CHANGED / 100.0 || fabs(p->points) > CHANGED)
        c = ANA_CLASS_ALGORITHM;
    if (p->l1_off < 1 - CHANGED / 100.0)
        c = ANA_CLASS_CACHE_LINE;
    if (writes_what_is_read(k))
        c = ANA_CLASS_WRITE;
    return ana_class_name(c);
}

/* NaN in *p: a probe did not run, and the row's note says why. */
static void probe(struct paper_cell *c, struct probes *p, struct paper_row *row)
{
    static const char *const direction[] = { "--cluster redirect --index row",
                                             "--cluster redirect --index column" };
    struct result *r = base_alloc(2 * sizeof *r);
    *p = (struct probes){ NAN, NAN, NAN, 100 * c->w.facts->coalesce.degree };
    if (!r || cell_bench(c) != ST_OK) {
        c->st = r ? c->st : ST_NOMEM;
        base_free(r);
        return;
    }
    cell_try(c, "", &r[0]);
    for (size_t i = 0; i < ARRAY_LEN(direction) && !cell_cancelled(c); i++) {
        cell_try(c, direction[i], &r[1]);
        double t = cell_ns(&r[1]) / cell_ns(&r[0]),
               h = cell_counter(&r[1], "l1.hit_rate") - cell_counter(&r[0], "l1.hit_rate");
        p->redirected = !(p->redirected <= t) ? t : p->redirected;
        p->points = !(fabs(p->points) > fabs(h)) ? h : p->points;
        if (r[1].status != ST_OK && !row->note[0])
            snprintf(row->note, sizeof row->note, "%s: %s", direction[i], r[1].message);
        c->tick(c, 0.2 + 0.2 * (double)(i + 1));
    }
    if (!cell_cancelled(c))
        cell_try(c, "--bypass l1 --pi bpa", &r[1]);
    p->l1_off = cell_counter(&r[1], "l2.read_sectors") / cell_counter(&r[0], "l2.read_sectors");
    base_free(r);
}

void paper_run_classes(struct paper_cell *c)
{
    struct paper_row *row = cell_row(c);
    struct probes p;
    if (!row || cell_open(c, false) != ST_OK)
        return;
    const struct ana_kernel *k = c->w.facts;
    row->v[CLASS_STATIC].ours_text = ana_class_name(k->cls);
    row->v[CLASS_STATIC].paper_text = c->app->class_;
    row->group[0] = 0;
    probe(c, &p, row);
    if (p.l1_off == p.l1_off && p.redirected == p.redirected) {
        row->v[CLASS_PROBED].ours_text = class_of(k, &p);
        row->v[CLASS_PROBED].paper_text = c->app->class_;
    }
    row->v[CLASS_REDIRECTED].ours = p.redirected;
    row->v[CLASS_POINTS].ours = p.points;
    row->v[CLASS_L1_OFF].ours = p.l1_off;
    size_t at = strlen(row->note);
    if (k->nevidence)
        snprintf(row->note + at, sizeof row->note - at, "%s%s", at ? "; " : "", k->evidence[0]);
    if (c->app->class_ && strcmp(c->app->class_, ana_class_name(k->cls)) != 0)
        evidence(k, row);
}
