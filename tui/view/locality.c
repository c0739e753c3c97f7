/* locality: who reuses the data and where, in four parts: class with evidence
 * and reuse split (cluster paper), misses by cache size (curve.c; schedule
 * paper), footprint of each array, sharing between CTAs as a heat map. */
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/base/text.h"
#include "tui/view/curve.h"
#include "tui/view/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_footprint(struct app *a, const struct ana_kernel *k, unsigned w)
{
    const struct ana_footprint *f = &k->footprint;
    const struct {
        const char *of;
        double bytes;
    } part[] = { { " a warp,", f->bytes_per_warp },
                 { " a CTA,", f->bytes_per_cta },
                 { " an SM;", f->bytes_per_sm } };
    char text[TEXT_NUM];
    struct row r = { .arena = a->frame };
    if (!f->valid || !k->reuse.valid) /* a quick analysis has not followed the reuse yet */
        return;
    row_put(&r, ROLE_LABEL, " needs  ");
    if (!(f->bytes_per_warp > 0)) {
        row_put(&r, ROLE_TEXT, "nothing: no warp reads the same data twice");
        page_add(a, &a->page[PANEL_LOCALITY], &r, -1);
        return;
    }
    bool fits = a->snap->has_dev && f->bytes_per_sm <= (double)a->snap->dev.l1_bytes;
    for (size_t i = 0; i < ARRAY_LEN(part); i++) {
        text_bytes(text, part[i].bytes);
        row_put(&r, i < 2 ? ROLE_VALUE : fits ? ROLE_GOOD : ROLE_WARN, "%s", text);
        row_put(&r, ROLE_LABEL, "%s ", part[i].of);
    }
    if (a->snap->has_dev) {
        text_bytes(text, (double)a->snap->dev.l1_bytes);
        row_put(&r, ROLE_L1, " L1 holds %s", text);
    }
    page_flow(a, &a->page[PANEL_LOCALITY], &r, 8, w, -1);
}

/* A class of locality, and cache sensitivity (CI, MCS, HCS), in words. */
static const char *view_sensitivity(const char *brief)
{
    return !strcmp(brief, "CI")    ? "cache-insensitive (CI)"
           : !strcmp(brief, "MCS") ? "moderately cache-sensitive (MCS)"
           : !strcmp(brief, "HCS") ? "highly cache-sensitive (HCS)"
                                   : brief;
}

static const char *view_class(enum ana_class c)
{
    static const char *const words[] = {
        [ANA_CLASS_ALGORITHM] = "algorithm: CTAs read the same data by design",
        [ANA_CLASS_CACHE_LINE] = "cache-line: CTAs share lines, not the data in them",
        [ANA_CLASS_DATA] = "data: what CTAs share depends on the data",
        [ANA_CLASS_WRITE] = "write: stores evict shared lines",
        [ANA_CLASS_STREAMING] = "streaming: CTAs share nothing; a warp or CTA may still reuse data",
        [ANA_CLASS_UNKNOWN] = "unknown"
    };
    return words[c];
}

static void put_class(struct app *a, const struct ana_kernel *k, unsigned w)
{
    struct page *p = &a->page[PANEL_LOCALITY];
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_LABEL, " class  ");
    row_put(&r, ROLE_TITLE, "%s", view_class(k->cls));
    if (k->sensitivity)
        row_put(&r, ROLE_NOTE, "   %s", view_sensitivity(k->sensitivity));
    page_flow(a, p, &r, 8, w, -1);
    /* beside the class what one looks for first; the evidence may be long */
    put_footprint(a, k, w);
    if (k->assumed)
        page_say(a, p, ROLE_WARN, 8, w - 1, "assumed without a launch: %s", k->assumed);
    for (uint32_t i = 0; i < k->nevidence; i++)
        page_wrap(a, p, ROLE_TEXT, 8, w - 1, k->evidence[i], -1);
    if (k->partition.index) {
        row_put(&r, ROLE_LABEL, " order  ");
        row_put(&r, ROLE_VALUE, "%s", k->partition.index);
        row_put(&r, ROLE_LABEL, "   (of CTAs, for clustering)");
        page_add(a, p, &r, -1);
        if (k->partition.why)
            page_wrap(a, p, ROLE_DIM, 8, w - 1, k->partition.why, -1);
    }
    for (uint32_t i = 0; i < k->ngaps; i++)
        page_wrap(a, p, ROLE_WARN, 8, w - 1, k->gaps[i], -1);
}

static void put_share(struct app *a, const char *name, enum role role, double share, unsigned cols)
{
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_LABEL, "   %-12s ", name);
    row_right(&r, ROLE_VALUE, 7, "%.1f %%", share * 100);
    row_put(&r, ROLE_TEXT, "  ");
    row_bar(&r, role, cols, share);
    page_add(a, &a->page[PANEL_LOCALITY], &r, -1);
}

static void put_reuse(struct app *a, const struct ana_kernel *k, unsigned w)
{
    unsigned cols = w > 76 ? 50 : w > 36 ? w - 28 : 8;
    page_blank(a, &a->page[PANEL_LOCALITY]);
    page_heading(a, &a->page[PANEL_LOCALITY], "Bytes requested from L1, by who requested them before%s",
                 k->reuse.sampled ? " (sampled CTAs)" : "");
    if (!k->reuse.valid) {
        page_wrap(a, &a->page[PANEL_LOCALITY], ROLE_DIM, 3, w - 1,
                  !a->snap->spec       ? "not counted: it needs a launch description"
                  : a->snap->unsettled ? "being counted ..."
                                       : view_keys(a, "not counted (the class, above, says why; "
                                                      "{reload} counts again where it was stopped)"),
                  -1);
        return;
    }
    put_share(a, "same warp", ROLE_GOOD, k->reuse.intra_warp, cols);
    put_share(a, "same CTA", ROLE_L2, k->reuse.intra_cta, cols);
    put_share(a, "another CTA", ROLE_WARN, k->reuse.inter_cta, cols);
    put_share(a, "nobody", ROLE_LABEL, k->reuse.none, cols);
}

/* ---- sharing ---- */
static float most_shared(const struct ana_kernel *k)
{
    float top = 0;
    for (uint32_t i = 0; i < k->nshare * k->nshare; i++)
        if (i / k->nshare != i % k->nshare && k->share[i] > top)
            top = k->share[i];
    return top;
}

static void heat_legend(struct app *a, const char *const *ink, float top)
{
    struct row r = { .arena = a->frame };
    char text[TEXT_NUM];
    row_pad(&r, 8);
    row_put(&r, ROLE_HEAT0, "%s", ink[0]);
    row_put(&r, ROLE_LABEL, "none ");
    for (int i = 1; i <= 4; i++) {
        text_bytes(text, (double)top * i / 4);
        row_put(&r, (enum role)(ROLE_HEAT0 + i), " %s", ink[i]);
        row_put(&r, ROLE_LABEL, " to %s ", text);
    }
    page_flow(a, &a->page[PANEL_LOCALITY], &r, 8, 78, -1);
}

static char *cta_name(struct app *a, uint64_t cta)
{
    struct dim3u g = a->snap->facts->grid;
    if (g.y <= 1 && g.z <= 1)
        return arena_printf(a->frame, "%llu", (unsigned long long)cta);
    return arena_printf(a->frame, g.z > 1 ? "%llu,%llu,%llu" : "%llu,%llu",
                        (unsigned long long)(cta % g.x),
                        (unsigned long long)(cta / g.x % (g.y ? g.y : 1)),
                        (unsigned long long)(cta / g.x / (g.y ? g.y : 1)));
}

static void put_heat(struct app *a, const struct ana_kernel *k, unsigned w)
{
    static const char *const ink[] = { "· ", "░░", "▒▒", "▓▓", "██" };
    struct page *p = &a->page[PANEL_LOCALITY];
    float top = k->nshare && k->share ? most_shared(k) : 0;
    if (!k->nshare || !k->share) {
        page_hint(a, p, w,
                  !a->snap->spec       ? view_unready(a, "")
                  : a->snap->unsettled ? "Counting ..."
                                       : "It is not known which CTAs share data.");
        return;
    }
    uint64_t ctas = dim3u_count(k->grid);
    page_heading(a, p,
                 ctas > k->nshare
                     ? "Bytes that pairs of CTAs share (row and column: CTA%s; %u neighbours of %llu)"
                     : "Bytes that pairs of CTAs share (row and column: CTA%s; all %u)",
                 k->grid.y > 1 ? " x,y" : "", k->nshare, (unsigned long long)ctas);
    if (!(top > 0)) {
        page_say(a, p, ROLE_TEXT, 2, w - 1,
                 "None of these CTAs shares a byte with another: no order of the CTAs helps the cache.");
        return;
    }
    uint32_t n = k->nshare, fold = (n * 2 + 10 > w) ? (n * 2 + w - 11) / (w - 10) : 1;
    for (uint32_t y = 0; y < n; y += fold) {
        struct row r = { .arena = a->frame };
        row_right(&r, ROLE_AXIS, 7, "%s", cta_name(a, k->share_cta ? k->share_cta[y] : y));
        row_put(&r, ROLE_TEXT, " ");
        for (uint32_t x = 0; x < n; x += fold) {
            float v = k->share[(size_t)y * n + x];
            int level = x == y ? -1 : v <= 0 ? 0 : 1 + (int)fminf(3, 4 * v / top);
            row_put(&r, level < 0 ? ROLE_AXIS : (enum role)(ROLE_HEAT0 + level), "%s",
                    level < 0 ? "╲ " : ink[level]);
        }
        page_add(a, p, &r, -1);
    }
    heat_legend(a, ink, top);
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_LABEL, " shared with the next CTA along  ");
    row_put(&r, ROLE_VALUE, "x %.0f %%", k->partition.strength_x * 100);
    row_put(&r, ROLE_VALUE, "   y %.0f %%", k->partition.strength_y * 100);
    row_put(&r, ROLE_VALUE, "   z %.0f %%", k->partition.strength_z * 100);
    if (k->partition.index)
        row_put(&r, ROLE_LABEL, "   so the order %s", k->partition.index);
    page_flow(a, p, &r, 8, w, -1);
}

static void locality_update(struct app *a, unsigned w, unsigned h)
{
    const struct ana_kernel *k = a->snap->facts;
    struct page *p = &a->page[PANEL_LOCALITY];
    (void)h;
    page_clear(p);
    if (!k) {
        page_hint(a, p, w, view_unready(a, "Analysing ..."));
    } else
        switch (a->locality.part) {
        case LOCALITY_CURVE: curve_lines(a, w); break;
        case LOCALITY_ARRAYS: curve_arrays(a, w); break;
        case LOCALITY_SHARING: put_heat(a, k, w); break;
        default: put_class(a, k, w); put_reuse(a, k, w);
        }
    list_set_count(&a->list[PANEL_LOCALITY], p->n);
}

static void locality_head(struct app *a, unsigned w, struct row *r)
{
    static const char *const names[LOCALITY_PARTS] = { "class", "misses by cache size", "footprint",
                                                       "sharing" };
    static const char *const brief[LOCALITY_PARTS] = { "class", "misses", "footprint", "sharing" };
    if (!a->snap->facts)
        return;
    for (int i = 0; i < LOCALITY_PARTS; i++)
        row_put(r, i == (int)a->locality.part ? ROLE_TAB_ACTIVE : ROLE_TAB, " %s ",
                (w >= 60 ? names : brief)[i]);
    row_put(r, ROLE_DIM, "  %s", view_keys(a, "{previous-part} {next-part}"));
}

static unsigned move_part(struct app *a, int by)
{
    a->locality.part =
        (enum locality_part)(((int)a->locality.part + by + LOCALITY_PARTS) % LOCALITY_PARTS);
    a->list[PANEL_LOCALITY] = (struct list){ 0 };
    return UI_REDRAW;
}

static unsigned locality_request(struct app *a, enum request r)
{
    switch (r) {
    case REQ_LOC_NEXT_PART: return move_part(a, 1);
    case REQ_LOC_PREV_PART: return move_part(a, -1);
    case REQ_LOC_SMALLER: return curve_cursor(a, -1);
    case REQ_LOC_LARGER: return curve_cursor(a, 1);
    case REQ_LOC_NEXT_LOAD: return curve_load(a, 1);
    case REQ_LOC_PREV_LOAD: return curve_load(a, -1);
    default: return 0;
    }
}

const struct view view_locality = { locality_update,  locality_head, NULL,
                                    locality_request, curve_plot,    curve_csv };
