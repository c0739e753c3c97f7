/* Coalescing, the miss-ratio curve and what the levels need, as members of a kernel of the analysis
 * document. */
#include "engine/analysis/analysis.h"
#include "engine/analysis/banks.h"
#include "engine/analysis/curve.h"
#include "engine/base/json_write.h"
#include "engine/session/session_int.h"

#include <ctype.h>

void put_coalesce(struct jw *w, const struct ana_coalesce *c)
{
    if (!c->valid) {
        jw_put_null(w, "coalesce");
        return;
    }
    jw_put_obj(w, "coalesce");
    members_write(w, doc_members("coalesce"), c);
    jw_put_arr(w, "graph");
    for (int i = 0; i < 32; i++)
        jw_num(w, c->graph[i]);
    jw_end_arr(w);
    jw_put_num(w, "sector_use", ana_sector_use(c));
    put_record(w, "all_lanes", "all-lanes", &c->every);
    jw_end_obj(w);
}

static void put_levels(struct jw *w, const char *key, const double v[ANA_LEVEL_COUNT])
{
    jw_put_obj(w, key);
    for (int l = 0; l < ANA_LEVEL_COUNT; l++) {
        char name[16] = { 0 };
        const char *text = ana_level_name((enum ana_level)l);
        for (size_t i = 0; text[i] && i + 1 < sizeof name; i++)
            name[i] = (char)tolower((unsigned char)text[i]);
        jw_put_num(w, name, v[l]);
    }
    jw_end_obj(w);
}
static void put_extent(struct jw *w, const struct ana_extent *e)
{
    put_levels(w, "touched_bytes", e->touched);
    put_levels(w, "window_bytes", e->window);
}
static void put_point(struct jw *w, const struct ana_point *p)
{
    jw_obj(w);
    jw_put_num(w, "bytes", p->bytes);
    jw_put_str(w, "mark", p->mark);
    jw_put_num(w, "miss", p->miss);
    jw_put_num(w, "hit_same_warp", p->split[ANA_FROM_WARP]);
    jw_put_num(w, "hit_same_cta", p->split[ANA_FROM_CTA]);
    jw_put_num(w, "hit_other_cta", p->split[ANA_FROM_OTHER]);
    jw_end_obj(w);
}
/* miss[i] belongs to points[i]. */
static void put_dist(struct jw *w, const struct ana_curve *c, const struct ana_dist *d)
{
    jw_put_uint(w, "touches", d->total);
    jw_put_uint(w, "first_touches", d->cold);
    jw_put_arr(w, "miss");
    for (uint32_t i = 0; i < c->npoints; i++)
        jw_num(w, ana_miss_ratio(d, c->point[i].bytes, NULL));
    jw_end_arr(w);
}
static void put_arrays(struct jw *w, const struct ana_curve *c)
{
    jw_put_arr(w, "arrays");
    for (uint32_t i = 0; i < c->narrays; i++) {
        jw_obj(w);
        jw_put_str(w, "array", c->array[i].name);
        put_extent(w, &c->array[i].extent);
        put_dist(w, c, &c->array[i].dist);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}
static void put_loads(struct jw *w, const struct ana_kernel *k)
{
    const struct ana_curve *c = k->curve;
    jw_put_arr(w, "loads");
    for (uint32_t i = 0; i < c->naccess && i < k->naccess; i++) {
        if (!c->access[i].total)
            continue;
        jw_obj(w);
        jw_put_uint(w, "line", k->access[i].at.line);
        jw_put_uint(w, "column", k->access[i].at.col);
        put_dist(w, c, &c->access[i]);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}
static void put_windows(struct jw *w, const struct ana_curve *c)
{
    jw_put_arr(w, "windows");
    for (int i = 0; i < ANA_WINDOWS; i++) {
        jw_obj(w);
        jw_put_num(w, "share_of_reuse", c->window[i].share);
        put_levels(w, "bytes", c->window[i].bytes);
        jw_key(w, "pi_fit");
        if (c->window[i].pi_fit < 0)
            jw_null(w);
        else
            jw_int(w, c->window[i].pi_fit);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}
void put_curve(struct jw *w, const struct ana_kernel *k)
{
    const struct ana_curve *c = k->curve;
    jw_key(w, "curve");
    if (!c) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_put_int(w, "line_bytes", 128);
    jw_put_uint(w, "requests", c->requests);
    jw_put_uint(w, "lines", c->lines);
    jw_put_bool(w, "cut", c->cut);
    jw_put_num(w, "sampled", c->sampled);
    jw_put_num(w, "error", c->error);
    jw_put_uint(w, "sms", c->sms);
    jw_put_uint(w, "resident_ctas", c->resident);
    jw_put_num(w, "l1_bytes", c->l1_bytes);
    jw_put_num(w, "l2_bytes", c->l2_bytes);
    jw_put_num(w, "cache_share_bytes_per_thread", c->cache_share);
    put_extent(w, &c->extent);
    put_windows(w, c);
    jw_put_arr(w, "points");
    for (uint32_t i = 0; i < c->npoints; i++)
        put_point(w, &c->point[i]);
    jw_end_arr(w);
    put_arrays(w, c);
    put_loads(w, k);
    jw_end_obj(w);
}

/* ---- shared memory: banks ---- */
static void put_words(struct jw *w, const struct ana_banks *b)
{
    uint16_t word[32];
    jw_put_arr(w, "banks");
    for (unsigned k = 0; k < BANKS_N; k++) {
        unsigned n = banks_words(b, k, word);
        jw_arr(w);
        for (unsigned i = 0; i < n; i++)
            jw_int(w, word[i]);
        jw_end_arr(w);
    }
    jw_end_arr(w);
}

void json_banks(struct jw *w, const struct ana_banks *b)
{
    int32_t stride = banks_stride(b);
    jw_key(w, "worst_request");
    if (!b->lanes) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_put_int(w, "passes", b->passes);
    jw_put_int(w, "least_passes", b->ideal);
    jw_key(w, "stride_words");
    if (stride == INT32_MIN)
        jw_null(w);
    else
        jw_int(w, stride);
    put_words(w, b);
    jw_end_obj(w);
}

void json_banks_cure(struct jw *w, const struct ana_kernel *k)
{
    struct banks_cure c = banks_cure_of(k);
    jw_key(w, "shared_layout");
    if (!(c.now > 0)) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_put_num(w, "passes_per_request", c.now);
    jw_put_num(w, "swizzled", c.swizzled);
    jw_put_arr(w, "padded");
    for (unsigned i = 0; i < c.nrows; i++) {
        jw_obj(w);
        jw_put_int(w, "row", c.row[i]);
        jw_put_num(w, "passes_per_request", c.padded[i]);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_end_obj(w);
}
