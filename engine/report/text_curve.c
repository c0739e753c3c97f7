/* The miss-ratio curve and the footprints of `analyze`, as text. */
#include "engine/report/text_curve.h"

#include "engine/analysis/analysis.h"
#include "engine/analysis/curve.h"

#include <math.h>
#include <stdio.h>

#define BAR 40

/* "12 B", "3.5 KiB"; "-" where there is no number. */
static const char *size_text(char out[24], double bytes)
{
    static const char *const unit[] = { "B", "KiB", "MiB", "GiB" };
    unsigned u = 0;
    if (isnan(bytes)) {
        snprintf(out, 24, "-");
        return out;
    }
    for (; bytes >= 1024 && u + 1 < ARRAY_LEN(unit); u++)
        bytes /= 1024;
    snprintf(out, 24, bytes == floor(bytes) ? "%.0f %s" : "%.1f %s", bytes, unit[u]);
    return out;
}
static void put_bar(const struct ana_point *p, struct buf *out)
{
    static const char ink[ANA_FROM_COUNT] = { 'w', 'c', 'o' };
    double sum = 0;
    int at = 0;
    for (int k = 0; k < ANA_FROM_COUNT; k++)
        for (sum += p->split[k]; at < (int)lround(sum * BAR); at++)
            buf_put(out, &ink[k], 1);
    for (; at < BAR; at++)
        buf_puts(out, ".");
}
static bool alike(const struct ana_point *a, const struct ana_point *b)
{
    return fabs(a->miss - b->miss) < 5e-5;
}
/* Sizes that change nothing are left out, the device's own excepted. */
static void put_points(const struct ana_curve *c, struct buf *out)
{
    char size[24];
    for (uint32_t i = 0; i < c->npoints; i++) {
        const struct ana_point *p = &c->point[i];
        if (!p->mark && (!i || alike(p, p - 1)) && (i + 1 == c->npoints || alike(p, p + 1)))
            continue;
        buf_printf(out, "  %10s  %-9s %6.2f %%  |", size_text(size, p->bytes), p->mark ? p->mark : "",
                   100 * p->miss);
        put_bar(p, out);
        buf_puts(out, "|\n");
    }
}
static void put_extent(const char *name, const struct ana_extent *e, struct buf *out)
{
    char a[24], b[24];
    buf_printf(out, "  %-14.14s", name);
    for (int l = 0; l < ANA_LEVEL_COUNT; l++)
        buf_printf(out, " %10s /%10s", size_text(a, e->touched[l]), size_text(b, e->window[l]));
    buf_puts(out, "\n");
}
static void put_footprints(const struct ana_curve *c, struct buf *out)
{
    char size[24];
    buf_puts(out, "\nfootprint: bytes asked for / bytes that hold nine tenths of the reuse (whole "
                  "lines; an array's own lines alone)\n  array         ");
    for (int l = 0; l < ANA_LEVEL_COUNT; l++)
        buf_printf(out, " %22s", ana_level_name((enum ana_level)l));
    buf_puts(out, "\n");
    for (uint32_t i = 0; i < c->narrays; i++)
        put_extent(c->array[i].name ? c->array[i].name : "(unknown)", &c->array[i].extent, out);
    put_extent("all", &c->extent, out);
    for (int w = 0; w < ANA_WINDOWS; w++) {
        buf_printf(out, "  %.0f %% of reuse:  thread %s", 100 * c->window[w].share,
                   size_text(size, c->window[w].bytes[ANA_LEVEL_THREAD]));
        for (int l = ANA_LEVEL_WARP; l < ANA_LEVEL_COUNT; l++)
            buf_printf(out, ", %s %s", ana_level_name((enum ana_level)l),
                       size_text(size, c->window[w].bytes[l]));
        if (c->window[w].pi_fit >= 0)
            buf_printf(out, "; fits L1 up to π=%d", c->window[w].pi_fit);
        buf_puts(out, "\n");
    }
    if (!isnan(c->cache_share))
        buf_printf(out, "  cache share: %.1f bytes of L1 per resident thread (%s, %u CTA%s at a time)\n",
                   c->cache_share, size_text(size, c->l1_bytes), c->resident,
                   c->resident == 1 ? "" : "s");
}
void text_curve_load(const struct ana_kernel *k, const struct ana_access *a, struct buf *out)
{
    const struct ana_curve *c = k->curve;
    size_t i = (size_t)(a - k->access);
    char size[24];
    if (c && i < c->naccess && c->access[i].total && !isnan(c->l1_bytes))
        buf_printf(out, "    misses   %.2f %% of its sectors in an L1 of %s (predicted)\n",
                   100 * ana_miss_ratio(&c->access[i], c->l1_bytes, NULL), size_text(size, c->l1_bytes));
}
void text_curve(const struct ana_kernel *k, struct buf *out)
{
    const struct ana_curve *c = k->curve;
    if (!c)
        return;
    buf_printf(out,
               "\nmiss ratio by cache size: sectors that one SM's loads ask for (%u CTA%s at a time, "
               "fully associative LRU, %llu requests%s",
               c->resident, c->resident == 1 ? "" : "s", (unsigned long long)c->requests,
               c->cut ? ", of its first CTAs only" : "");
    if (c->sampled < 1)
        buf_printf(out, "; one line in %.0f followed, within %.2f points", 1 / c->sampled,
                   100 * c->error);
    buf_puts(out, ")\n  hits by who asked before: w same warp, c another warp of the CTA, o another "
                  "CTA; . misses\n");
    put_points(c, out);
    put_footprints(c, out);
}
