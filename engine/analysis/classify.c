/* Locality classes with their evidence (cluster paper, 3.2; digest section 3)
 * and the sensitivity to caching (bypass paper, 3.1). A class is claimed from
 * the address where there is one; a load with an unknown address is "data" when
 * loaded values decide it and "unknown" otherwise, whatever a trace shows. */
#include "engine/analysis/facts.h"

#include <math.h>
#include <string.h>

static const char axis[] = "xyz";

/* ---- dependence on the grid ---- */
static enum symexpr_visit is_ctaid(void *ctx, const struct symexpr *x)
{
    const unsigned *d = ctx;
    if (!(x->flags & AXF_CTAID))
        return SYMEXPR_SKIP;
    return x->kind == SYMEXPR_SREG && x->c == PTX_SREG_CTAID && x->op == *d ? SYMEXPR_FOUND
                                                                            : SYMEXPR_DESCEND;
}
static bool uses_ctaid(const struct symexpr *x, unsigned d)
{
    return (x->flags & AXF_CTAID) && symexpr_find(x, is_ctaid, &d);
}
static bool fact_uses(struct facts *f, const struct fact *x, unsigned d)
{
    for (uint32_t c = 0; c < x->nctx; c++)
        if (uses_ctaid(f->o->data ? env_concrete(&f->v, x->ctx[c]->addr) : x->ctx[c]->addr, d))
            return true;
    return false;
}
/* Dimensions the grid has: from the launch, else those the kernel's addresses use (x always). */
static bool grid_has(struct facts *f, unsigned d)
{
    const uint32_t g[3] = { f->v.grid.x, f->v.grid.y, f->v.grid.z };
    if (f->o->data)
        return g[d] > 1;
    if (!f->grid_known) {
        f->grid_uses[0] = true;
        for (unsigned e = 1; e < 3; e++)
            for (uint32_t i = 0; i < f->n && !f->grid_uses[e]; i++)
                f->grid_uses[e] = fact_uses(f, &f->fact[i], e);
        f->grid_known = true;
    }
    return f->grid_uses[d];
}

/* ---- the classes, first match wins ---- */
struct verdict {
    enum ana_class cls;
    char *why;
};
typedef bool (*rule_fn)(struct facts *f, const struct fact *x, const struct ana_access *a,
                        struct verdict *v);

static bool rule_unknown(struct facts *f, const struct fact *x, const struct ana_access *a,
                         struct verdict *v)
{
    uint16_t flags = 0;
    for (uint32_t c = 0; c < x->nctx; c++)
        flags |= x->ctx[c]->addr->flags;
    if (a->depends_on_load) {
        v->cls = ANA_CLASS_DATA;
        v->why = arena_printf(f->arena, "its address depends on loaded values");
        return true;
    }
    if (!a->unknown && !(flags & (AXF_UNKNOWN | AXF_PHI | AXF_OTHER_SREG)))
        return false;
    v->cls = ANA_CLASS_UNKNOWN;
    v->why =
        arena_printf(f->arena, "its address is unknown: %s", a->unknown ? a->unknown : "no expression");
    return true;
}
/* From a fiftieth of its lines on, as for shared lines below. */
static bool rule_write(struct facts *f, const struct fact *x, const struct ana_access *a,
                       struct verdict *v)
{
    const struct fact_writer *w = &x->writer;
    if (!w->lines || w->lines * 50 < w->of_lines)
        return false;
    v->cls = ANA_CLASS_WRITE;
    v->why = arena_printf(f->arena,
                          "of the 128-byte lines of %s that this load reads, the next CTA along %c "
                          "writes %.0f %% (the store at line %u)",
                          a->array ? a->array : "its array", axis[w->axis],
                          100.0 * (double)w->lines / (double)w->of_lines,
                          fact_inst(f, &f->fact[w->store])->at.line);
    return true;
}
static bool rule_algorithm(struct facts *f, const struct fact *x, const struct ana_access *a,
                           struct verdict *v)
{
    const uint32_t g[3] = { f->v.grid.x, f->v.grid.y, f->v.grid.z };
    for (unsigned d = 0; d < 3; d++) {
        if (!grid_has(f, d))
            continue;
        const struct fact_overlap *o = &x->near[d];
        if (!fact_uses(f, x, d)) {
            const char *verb = a->store ? "write" : "read", *array = a->array ? a->array : "the array";
            v->why =
                f->o->data
                    ? arena_printf(f->arena,
                                   "no term with ctaid.%c: the %u CTAs along %c %s the same part of %s",
                                   axis[d], g[d], axis[d], verb, array)
                    : arena_printf(f->arena,
                                   "no term with ctaid.%c: all CTAs along %c %s the same part of %s",
                                   axis[d], axis[d], verb, array);
        } else if (f->o->data && o->of_bytes &&
                   o->bytes * 2 > o->of_bytes) { /* an assumed block may be larger than the one meant */
            v->why = arena_printf(
                f->arena, "CTAs next to each other along %c share %.0f %% of the bytes this load reads",
                axis[d], 100.0 * (double)o->bytes / (double)o->of_bytes);
        } else {
            continue;
        }
        v->cls = ANA_CLASS_ALGORITHM;
        return true;
    }
    if (x->by_others * 2 > x->bytes_read) {
        v->cls = ANA_CLASS_ALGORITHM;
        v->why = arena_printf(f->arena,
                              "%.0f %% of the bytes this load reads were read by another CTA before, "
                              "though not by a neighbour",
                              100.0 * (double)x->by_others / (double)x->bytes_read);
        return true;
    }
    return false;
}
static bool rule_line(struct facts *f, const struct fact *x, const struct ana_access *a,
                      struct verdict *v)
{
    (void)a;
    for (unsigned d = 0; d < 3; d++) {
        const struct fact_overlap *o = &x->near[d];
        if (!grid_has(f, d) || !o->of_lines || o->lines * 50 < o->of_lines ||
            o->bytes * 10 > o->of_bytes)
            continue;
        v->cls = ANA_CLASS_CACHE_LINE;
        v->why =
            arena_printf(f->arena,
                         "CTAs next to each other along %c share %.0f %% of the 128-byte lines of this "
                         "load but %.0f %% of its bytes (32-byte sectors shared: %llu)",
                         axis[d], 100.0 * (double)o->lines / (double)o->of_lines,
                         100.0 * (double)o->bytes / (double)o->of_bytes, (unsigned long long)o->sectors);
        return true;
    }
    return false;
}
/* Without a launch: a warp's 128 bytes that do not start at a line are shared with the next. */
static bool rule_misaligned(struct facts *f, const struct fact *x, const struct ana_access *a,
                            struct verdict *v)
{
    if (f->o->data || !x->counted || a->coalesce.degree >= 1 || !x->tally.requests)
        return false;
    double lines = (double)x->tally.lines / (double)x->tally.requests,
           least = fmax(1, (double)x->tally.bytes_used / (double)x->tally.requests / 128);
    if (lines > 3 || lines <= least + 0.5)
        return false;
    v->cls = ANA_CLASS_CACHE_LINE;
    v->why = arena_printf(f->arena,
                          "%.1f lines per request where %.1f would be enough: neighbours share the rest",
                          lines, least);
    return true;
}
/* As few lines as a warp of such elements needs. */
static bool compact(const struct fact *x)
{
    uint64_t least = x->bytes > 4 ? x->bytes / 4u : 1;
    return x->tally.requests && x->tally.lines <= x->tally.requests * least;
}
static bool rule_streaming(struct facts *f, const struct fact *x, const struct ana_access *a,
                           struct verdict *v)
{
    double again = x->touches ? (double)x->again / (double)x->touches : 0,
           ever = x->touches ? (double)x->ever / (double)x->touches : 0;
    v->cls = ANA_CLASS_STREAMING;
    if (a->store)
        v->why = arena_printf(f->arena, compact(x) ? "coalesced writes" : "scattered writes");
    else if (!x->touches)
        v->why = arena_printf(f->arena, "every CTA has its own part (from the address; %s)",
                              f->o->data ? "it was not traced" : "a launch shows reuse");
    else if (again > 0.05 && again > 0.9 * ever)
        v->why = arena_printf(
            f->arena,
            "no line shared between CTAs; %.0f %% of its lines are touched again inside the CTA",
            100 * ever);
    else if (ever > 0.05) /* touched again, but too late for that cache: still not read once */
        v->why = arena_printf(f->arena,
                              "no line shared between CTAs; %.0f %% of its lines are touched again "
                              "inside the CTA, %.0f %% while a warp's share of L1 can still hold them",
                              100 * ever, 100 * again);
    else if (x->bytes_read)
        v->why =
            arena_printf(f->arena, compact(x) ? "coalesced and read once by this load"
                                              : "read once by this load, no line shared between CTAs");
    else
        v->why = arena_printf(f->arena,
                              "%sthis load reads nothing again in its CTA or the CTAs next to it "
                              "(others were not traced)",
                              compact(x) ? "coalesced; " : "");
    return true;
}
/* Copies: by the bytes that CTAs share, since their addresses are made by the engine. */
static bool rule_copy(struct facts *f, const struct fact *x, const struct ana_access *a,
                      struct verdict *v)
{
    const char *array = a->array ? a->array : "its tensor";
    if (!x->counted) {
        v->why = arena_printf(f->arena, "%s", x->why ? x->why : "it was not counted");
        return true;
    }
    for (unsigned d = 0; d < 3; d++) {
        const struct fact_overlap *o = &x->near[d];
        double share = o->of_bytes ? (double)o->bytes / (double)o->of_bytes : 0;
        if (share <= 0.5)
            continue;
        v->cls = ANA_CLASS_ALGORITHM;
        v->why = arena_printf(
            f->arena, "CTAs next to each other along %c share %.0f %% of the bytes of %s that they copy",
            axis[d], 100 * share, array);
        return true;
    }
    if (x->by_others * 2 > x->bytes_read) {
        v->cls = ANA_CLASS_ALGORITHM;
        v->why =
            arena_printf(f->arena, "%.0f %% of the bytes it copies were copied by another CTA before",
                         100.0 * (double)x->by_others / (double)x->bytes_read);
        return true;
    }
    v->cls = ANA_CLASS_STREAMING;
    v->why =
        arena_printf(f->arena, a->store ? "written once" : "CTAs copy boxes of their own of %s", array);
    return true;
}
static const rule_fn rules[] = { rule_unknown, rule_write,      rule_algorithm,
                                 rule_line,    rule_misaligned, rule_streaming };

/* ---- the kernel ---- */
#define CLASS_COUNT (ANA_CLASS_UNKNOWN + 1)
/* What can be exploited goes before what cannot (digest section 3) unless it is clearly the smaller
 * part. streaming: it counts, too. */
static enum ana_class heaviest(const double weight[CLASS_COUNT], bool streaming)
{
    static const enum ana_class order[] = {
        ANA_CLASS_ALGORITHM, ANA_CLASS_CACHE_LINE, ANA_CLASS_WRITE,
        ANA_CLASS_DATA,      ANA_CLASS_STREAMING,  ANA_CLASS_UNKNOWN
    };
    double most = 0;
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (streaming || order[i] != ANA_CLASS_STREAMING)
            most = weight[order[i]] > most ? weight[order[i]] : most;
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (weight[order[i]] >= 0.8 * most && most > 0)
            return order[i];
    return ANA_CLASS_UNKNOWN;
}
/* The classes are sources of reuse between CTAs. Where most of what is reused at all is reused by
 * another CTA, the few loads that carry it (from a fiftieth on) class the kernel, not the many that are
 * read once. */
static enum ana_class source_of_reuse(const struct ana_kernel *k, const double weight[CLASS_COUNT],
                                      double all)
{
    const struct ana_reuse *u = &k->reuse;
    enum ana_class most = heaviest(weight, true), other = heaviest(weight, false);
    bool between = u->valid && u->inter_cta > u->intra_warp + u->intra_cta;
    return most == ANA_CLASS_STREAMING && between && weight[other] * 50 >= all ? other : most;
}
/* A table that came with the code (of a sine, say) is not the kernel's data. */
#define TABLE_MOST 1024 /* bytes */
static bool is_table(const struct ana_kernel *k, const struct ana_access *a)
{
    const struct ptx_symbol *s =
        a->array && a->param < 0 ? ptx_find_global(k->module, str_of(a->array)) : NULL;
    return s && s->init && s->bytes <= TABLE_MOST && !a->store;
}
/* Loads; and atomics where loaded values decide the address: they read, too. */
static bool classes_kernel(const struct ana_kernel *k, const struct ana_access *a)
{
    bool reads = !a->store || (a->atomic && a->cls == ANA_CLASS_DATA);
    return reads && !a->prefetch && !is_table(k, a) &&
           (a->space == PTX_SPACE_GLOBAL || a->space == ANA_SPACE_COPY);
}
static bool has_copies(const struct ana_kernel *k)
{
    for (uint32_t i = 0; i < k->naccess; i++)
        if (k->access[i].space == ANA_SPACE_COPY && classes_kernel(k, &k->access[i]))
            return true;
    return false;
}
static void evidence(struct ana_kernel *k, char *text)
{
    if (text && k->nevidence < ARRAY_LEN(k->evidence))
        k->evidence[k->nevidence++] = text;
}
/* Bytes that a CTA asks for again, from which on it is worth a word. */
#define ACROSS_LOADS 0.1
static void dynamic_check(struct facts *f, struct ana_kernel *k)
{
    if (!k->reuse.valid)
        return;
    double inter = k->reuse.inter_cta;
    evidence(k, arena_printf(f->arena,
                             "%s: %.0f %% again by the same warp, %.0f %% by the "
                             "same CTA, %.0f %% by another CTA, %.0f %% once%s",
                             has_copies(k) ? "bytes of loads and copies" : "bytes on the way to L1",
                             100 * k->reuse.intra_warp, 100 * k->reuse.intra_cta, 100 * inter,
                             100 * k->reuse.none, k->reuse.sampled ? " (from a sample)" : ""));
    if (k->cls == ANA_CLASS_ALGORITHM && inter < 0.05)
        evidence(k, arena_printf(f->arena,
                                 "the trace does not confirm the class: only %.1f %% of the bytes are "
                                 "reused by another CTA, so the order of CTAs matters little",
                                 100 * inter));
    else if (k->cls == ANA_CLASS_STREAMING && inter > 0.25)
        evidence(
            k,
            arena_printf(
                f->arena,
                "the trace does not confirm the class: %.0f %% of the bytes are reused by another CTA",
                100 * inter));
    else if (k->cls == ANA_CLASS_STREAMING && k->reuse.intra_warp + k->reuse.intra_cta >= ACROSS_LOADS)
        evidence(k,
                 arena_printf(f->arena,
                              "between CTAs it streams; inside a CTA %.0f %% of the bytes are asked for "
                              "again: what L1 is for",
                              100 * (k->reuse.intra_warp + k->reuse.intra_cta)));
    else if (k->cls == ANA_CLASS_CACHE_LINE && k->reuse.sectors.inter_cta <= inter + 0.005)
        evidence(k,
                 arena_printf(
                     f->arena,
                     "the trace shows it only for lines: CTAs reuse %.1f %% of each other's 32-byte "
                     "sectors and %.1f %% of the bytes, so a cache that fetches sectors loses nothing",
                     100 * k->reuse.sectors.inter_cta, 100 * inter));
    else if (k->cls == ANA_CLASS_CACHE_LINE)
        evidence(k, arena_printf(f->arena,
                                 "the trace agrees with the class: CTAs reuse %.1f %% of each other's "
                                 "32-byte sectors, %.1f %% of the bytes",
                                 100 * k->reuse.sectors.inter_cta, 100 * inter));
    else if (k->cls != ANA_CLASS_UNKNOWN)
        evidence(k, arena_printf(f->arena, "the trace agrees with the class"));
}
/* Loads of the array that `a` reads, itself among them. */
static uint32_t loads_of_array(const struct ana_kernel *k, const struct ana_access *a)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->naccess; i++)
        n += k->access[i].param == a->param && classes_kernel(k, &k->access[i]);
    return n;
}
/* A load that reads its own bytes once is no stream where others of the array read them again. */
static void across_loads(struct facts *f, struct ana_kernel *k)
{
    double again = k->reuse.intra_warp + k->reuse.intra_cta;
    if (!k->reuse.valid || again < ACROSS_LOADS)
        return;
    for (uint32_t i = 0; i < k->naccess; i++) {
        struct ana_access *a = &k->access[i];
        uint32_t n = a->param >= 0 && classes_kernel(k, a) ? loads_of_array(k, a) : 0;
        const struct fact *x = &f->fact[i];
        double ever = x->touches ? (double)x->ever / (double)x->touches : 0;
        if (a->cls == ANA_CLASS_STREAMING && n > 1 && ever <= 0.05)
            a->evidence = arena_printf(f->arena,
                                       "no line shared between CTAs; one of %u loads of %s: of the "
                                       "bytes of all loads a CTA asks "
                                       "for %.0f %% again",
                                       n, a->array ? a->array : "its array", 100 * again);
    }
}
/* Has the load the kernel's class, with evidence of its own? */
static bool tells(const struct ana_kernel *k, uint32_t i)
{
    const struct ana_access *a = &k->access[i];
    return classes_kernel(k, a) && a->cls == k->cls && a->evidence;
}
static bool told(const struct ana_kernel *k, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (tells(k, j) && !strcmp(k->access[j].evidence, k->access[i].evidence))
            return true;
    return false;
}
/* One sentence for all loads with the same evidence. */
#define LINES_NAMED 8
static void load_evidence(struct facts *f, struct ana_kernel *k, uint32_t i)
{
    struct buf lines = { 0 };
    uint32_t n = 0;
    for (uint32_t j = i; j < k->naccess; j++)
        if (tells(k, j) && !strcmp(k->access[j].evidence, k->access[i].evidence) && n++ < LINES_NAMED)
            buf_printf(&lines, "%s%u", lines.n ? ", " : "", k->access[j].at.line);
    if (n > LINES_NAMED)
        buf_printf(&lines, " and %u more", n - LINES_NAMED);
    if (lines.n)
        evidence(k, arena_printf(f->arena, n > 1 ? "lines %s, each: %s" : "line %s: %s", lines.s,
                                 k->access[i].evidence));
    buf_free(&lines);
}
static void kernel_class(struct facts *f, struct ana_kernel *k)
{
    double weight[CLASS_COUNT] = { 0 }, all = 0;
    bool copies = has_copies(k);
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        if (!classes_kernel(k, a))
            continue;
        double w = !a->exact.valid ? 1 : copies ? (double)a->exact.lines : (double)a->exact.requests;
        weight[a->cls] += w;
        all += w;
    }
    k->cls = all > 0 ? source_of_reuse(k, weight, all) : ANA_CLASS_UNKNOWN;
    struct buf b = { 0 };
    for (int c = 0; c < CLASS_COUNT && all > 0; c++)
        if (weight[c] > 0)
            buf_printf(&b, "%s%s %.0f %%", b.n ? ", " : "", ana_class_name((enum ana_class)c),
                       100 * weight[c] / all);
    if (b.n)
        evidence(k, arena_printf(f->arena, "%s of the loads%s", b.s,
                                 !k->launched ? ""
                                 : copies     ? " and copies, by lines"
                                              : " by requests"));
    buf_free(&b);
    for (uint32_t i = 0; i < k->naccess && k->nevidence < 4; i++)
        if (tells(k, i) && !told(k, i))
            load_evidence(f, k, i);
    dynamic_check(f, k);
}
/* Ours, on lines a CTA touches again (the paper gives no numbers): under a tenth insensitive, from three
 * quarters highly sensitive. */
static void sensitivity(struct ana_kernel *k)
{
    if (k->reuse.valid)
        k->sensitivity = k->reuse.line_reuse < 0.10 ? "CI" : k->reuse.line_reuse < 0.75 ? "MCS" : "HCS";
}
static void partition_without_launch(struct facts *f, struct ana_kernel *k)
{
    double share[3] = { 0 }, n = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        const struct fact *x = &f->fact[i];
        if (!x->load || x->space != PTX_SPACE_GLOBAL || k->access[i].depends_on_load ||
            k->access[i].unknown)
            continue;
        n++;
        for (unsigned d = 0; d < 3; d++)
            share[d] += grid_has(f, d) && !fact_uses(f, x, d);
    }
    if (n == 0)
        return;
    struct ana_partition *p = &k->partition;
    p->strength_x = share[0] / n;
    p->strength_y = share[1] / n;
    p->strength_z = share[2] / n;
    bool flat = !grid_has(f, 1) && !grid_has(f, 2), x = share[0] > 0, y = share[1] > 0;
    p->index = !x && !y ? "none" : flat || (x && !y) ? "row" : !x ? "column" : "tile:8x8";
    p->why = arena_printf(f->arena,
                          "%.0f of %.0f loads do not depend on ctaid.x, %.0f not on ctaid.y (from the "
                          "addresses; a launch gives bytes)",
                          share[0], n, share[1]);
}
void classify_all(struct facts *f, struct ana_kernel *k)
{
    for (uint32_t i = 0; i < f->n; i++) {
        struct ana_access *a = &k->access[i];
        struct verdict v = { ANA_CLASS_UNKNOWN, NULL };
        bool global = a->space == PTX_SPACE_GLOBAL || a->space == PTX_SPACE_GENERIC;
        if (a->space == ANA_SPACE_COPY && !a->prefetch)
            rule_copy(f, &f->fact[i], a, &v);
        for (size_t r = 0; global && !a->prefetch && r < ARRAY_LEN(rules); r++)
            if (rules[r](f, &f->fact[i], a, &v))
                break;
        a->cls = v.cls;
        a->evidence = v.why;
    }
    across_loads(f, k);
    kernel_class(f, k);
    sensitivity(k);
    if (!f->o->data)
        partition_without_launch(f, k);
}
