/* locality: who reuses the data and where: class with evidence (cluster paper),
 * reuse split, sharing between CTAs as a heat map, reuse distances with the
 * miss-ratio curve and the device's cache sizes (schedule paper). */
#include "tui/model/view.h"
#include "tui/model/reuse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_class(struct app *a, const struct ana_kernel *k, unsigned w)
{
    struct page *p = &a->page[PANEL_LOCALITY];
    struct row r;
    row_init(&r, a->frame);
    row_put(&r, ROLE_LABEL, " class  ");
    row_put(&r, ROLE_TITLE, "%s", ana_class_name(k->cls));
    if (k->sensitivity)
        row_put(&r, ROLE_NOTE, "   %s", k->sensitivity);
    if (k->assumed)
        row_put(&r, ROLE_WARN, "   %s", k->assumed);
    page_add(a, p, &r, -1);
    for (uint32_t i = 0; i < k->nevidence; i++)
        page_wrap(a, p, ROLE_TEXT, 8, w - 1, k->evidence[i], -1);
    if (k->partition.index) {
        row_init(&r, a->frame);
        row_put(&r, ROLE_LABEL, " order  ");
        row_put(&r, ROLE_VALUE, "%s", k->partition.index);
        page_add(a, p, &r, -1);
        if (k->partition.why)
            page_wrap(a, p, ROLE_DIM, 8, w - 1, k->partition.why, -1);
    }
    for (uint32_t i = 0; i < k->ngaps; i++)
        page_wrap(a, p, ROLE_WARN, 8, w - 1, k->gaps[i], -1);
}

static void put_share(struct app *a, const char *name, enum role role, double share, unsigned cols)
{
    struct row r;
    row_init(&r, a->frame);
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
    page_heading(a, &a->page[PANEL_LOCALITY], "Reuse of the bytes that loads touch");
    if (!k->reuse.valid) {
        page_wrap(a, &a->page[PANEL_LOCALITY], ROLE_DIM, 3, w - 1, "not measured: it needs a launch description", -1);
        return;
    }
    put_share(a, "in the warp", ROLE_GOOD, k->reuse.intra_warp, cols);
    put_share(a, "in the CTA", ROLE_L2, k->reuse.intra_cta, cols);
    put_share(a, "between CTAs", ROLE_WARN, k->reuse.inter_cta, cols);
    put_share(a, "none", ROLE_LABEL, k->reuse.none, cols);
}

static void put_footprint(struct app *a, const struct ana_kernel *k)
{
    const struct ana_footprint *f = &k->footprint;
    char warp[TEXT_NUM], cta[TEXT_NUM], sm[TEXT_NUM], l1[TEXT_NUM];
    struct row r;
    if (!f->valid)
        return;
    text_bytes(warp, f->bytes_per_warp);
    text_bytes(cta, f->bytes_per_cta);
    text_bytes(sm, f->bytes_per_sm);
    row_init(&r, a->frame);
    row_put(&r, ROLE_LABEL, " footprint  ");
    row_put(&r, ROLE_VALUE, "%s", warp);
    row_put(&r, ROLE_LABEL, " a warp, ");
    row_put(&r, ROLE_VALUE, "%s", cta);
    row_put(&r, ROLE_LABEL, " a CTA, ");
    bool fits = a->snap->has_dev && f->bytes_per_sm <= (double)a->snap->dev.l1_bytes;
    row_put(&r, fits ? ROLE_GOOD : ROLE_WARN, "%s", sm);
    row_put(&r, ROLE_LABEL, " an SM");
    if (a->snap->has_dev) {
        text_bytes(l1, (double)a->snap->dev.l1_bytes);
        row_put(&r, ROLE_LABEL, "; L1 holds ");
        row_put(&r, ROLE_L1, "%s", l1);
    }
    page_blank(a, &a->page[PANEL_LOCALITY]);
    page_add(a, &a->page[PANEL_LOCALITY], &r, -1);
}

static void put_heat(struct app *a, const struct ana_kernel *k, unsigned w)
{
    struct page *p = &a->page[PANEL_LOCALITY];
    if (!k->nshare || !k->share)
        return;
    page_blank(a, p);
    page_heading(a, p, "Bytes shared by pairs of CTAs (sampled; bright: much)");
    float top = 0;
    uint32_t n = k->nshare, fold = (n * 2 + 10 > w) ? (n * 2 + w - 11) / (w - 10) : 1;
    for (uint32_t i = 0; i < n * n; i++)
        if (i / n != i % n && k->share[i] > top)
            top = k->share[i];
    for (uint32_t y = 0; y < n; y += fold) {
        struct row r;
        row_init(&r, a->frame);
        row_right(&r, ROLE_AXIS, 7, "%llu", (unsigned long long)(k->share_cta ? k->share_cta[y] : y));
        row_put(&r, ROLE_TEXT, " ");
        static const char *const ink[] = { "· ", "░░", "▒▒", "▓▓", "██" };
        for (uint32_t x = 0; x < n; x += fold) {
            float v = k->share[(size_t)y * n + x];
            int level = x == y ? -1 : v <= 0 || top <= 0 ? 0 : 1 + (int)fminf(3, 4 * v / top);
            row_put(&r, level < 0 ? ROLE_AXIS : (enum role)(ROLE_HEAT0 + level), "%s", level < 0 ? "╲ " : ink[level]);
        }
        page_add(a, p, &r, -1);
    }
}

static void put_distance(struct app *a, const struct reuse_result *u, unsigned w)
{
    struct page *p = &a->page[PANEL_LOCALITY];
    unsigned cols = w > 96 ? 60 : w > 50 ? w - 36 : 10;
    int last = 0;
    uint64_t top = u->hist.cold;
    for (int b = 0; b < 40; b++)
        if (u->hist.bin[b]) {
            last = b;
            top = top > u->hist.bin[b] ? top : u->hist.bin[b];
        }
    double l1 = a->snap->has_dev ? (double)a->snap->dev.l1_bytes / u->line_bytes : 0, l2 = a->snap->has_dev ? (double)a->snap->dev.l2_bytes / u->line_bytes / (a->snap->dev.sms ? a->snap->dev.sms : 1) : 0;
    int first = 0;
    while (first < last && !u->hist.bin[first] && ldexp(1, first + 2) < fmin(l1 > 0 ? l1 : HUGE_VAL, l2 > 0 ? l2 : HUGE_VAL))
        first++;                         /* empty rows before the first reuse and the smallest cache say nothing */
    for (int b = first; b <= last; b++) {
        struct row r;
        char size[TEXT_NUM];
        double lines = ldexp(1, b + 1) - 1, before = ldexp(1, b) - 1;
        text_bytes(size, lines * u->line_bytes);
        row_init(&r, a->frame);
        row_put(&r, ROLE_LABEL, "  < %8s ", size);
        row_bar(&r, ROLE_SERIES_A, cols, (double)u->hist.bin[b] / (double)(top ? top : 1));
        double miss = 1 - model_hist_hit_rate(&u->hist, lines);
        row_right(&r, miss > 0.5 ? ROLE_WARN : ROLE_GOOD, 8, "%.1f %%", miss * 100);
        if (l1 > before && l1 <= lines)
            row_put(&r, ROLE_L1, "  ◀ L1");
        if (l2 > before && l2 <= lines)
            row_put(&r, ROLE_L2, "  ◀ L2 per SM");
        page_add(a, p, &r, -1);
    }
    struct row r;
    row_init(&r, a->frame);
    row_put(&r, ROLE_LABEL, " first touch ");
    row_bar(&r, ROLE_LABEL, cols, (double)u->hist.cold / (double)(top ? top : 1));
    page_add(a, p, &r, -1);
}

static void put_reuse_distance(struct app *a, unsigned w)
{
    struct page *p = &a->page[PANEL_LOCALITY];
    struct reuse_result u;
    page_blank(a, p);
    switch (reuse_get(a, &u)) {
    case REUSE_READY:
        page_heading(a, p, "Reuse distance of one SM's lines, and misses of a cache that large");
        put_distance(a, &u, w);
        break;
    case REUSE_WORKING:
        page_heading(a, p, "Reuse distance: being traced ...");
        break;
    case REUSE_NONE:
        page_heading(a, p, "Reuse distance: %s", a->snap->spec ? "this kernel could not be traced" : "needs a launch description");
        break;
    }
}

static void locality_update(struct app *a, unsigned w, unsigned h)
{
    const struct ana_kernel *k = a->snap->facts;
    struct page *p = &a->page[PANEL_LOCALITY];
    (void)h;
    page_clear(p);
    if (k) {
        put_class(a, k, w);
        put_footprint(a, k);
        put_reuse(a, k, w);
        put_reuse_distance(a, w);
        put_heat(a, k, w);
    } else {
        struct row r;
        row_init(&r, a->frame);
        row_put(&r, ROLE_DIM, a->snap->module ? " analysing ..." : " nothing is open");
        page_add(a, p, &r, -1);
    }
    list_set_count(&a->list[PANEL_LOCALITY], p->n);
}

static unsigned locality_request(struct app *a, enum request r)
{
    (void)a, (void)r;
    return 0;
}

const struct view view_locality = { locality_update, NULL, NULL, locality_request };
