/* Coalescing, the miss-ratio curve and what the levels need, as members of a kernel of the analysis
 * document. */
#include "engine/analysis/analysis.h"
#include "engine/analysis/banks.h"
#include "engine/analysis/curve.h"
#include "engine/base/base.h"
#include "engine/session/json_write.h"
#include "engine/session/session_int.h"

#include <ctype.h>

void put_coalesce(struct jw *w, const struct ana_coalesce *c)
{
    jw_key(w, "coalesce");
    if (!c->valid) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    put_num(w, "degree", c->degree);
    jw_key(w, "graph");
    jw_arr(w);
    for (int i = 0; i < 32; i++)
        jw_num(w, c->graph[i]);
    jw_end_arr(w);
    put_uint(w, "num_sectors", c->num_sectors);
    put_num(w, "expected_sectors", c->expected);
    put_num(w, "sectors_per_request", c->sectors);
    put_num(w, "least_sectors_per_request", c->least);
    put_num(w, "sector_use", ana_sector_use(c));
    jw_key(w, "all_lanes");
    jw_obj(w);
    put_num(w, "degree", c->every.degree);
    put_uint(w, "num_sectors", c->every.num_sectors);
    put_num(w, "expected_sectors", c->every.expected);
    put_uint(w, "loads_by_running_lanes", c->every.of_lanes_that_run);
    jw_end_obj(w);
    jw_end_obj(w);
}

static void put_levels(struct jw *w, const char *key, const double v[ANA_LEVEL_COUNT])
{
    jw_key(w, key);
    jw_obj(w);
    for (int l = 0; l < ANA_LEVEL_COUNT; l++) {
        char name[16] = { 0 };
        const char *text = ana_level_name((enum ana_level)l);
        for (size_t i = 0; text[i] && i + 1 < sizeof name; i++)
            name[i] = (char)tolower((unsigned char)text[i]);
        put_num(w, name, v[l]);
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
    put_num(w, "bytes", p->bytes);
    jw_key(w, "mark");
    jw_str(w, p->mark);
    put_num(w, "miss", p->miss);
    put_num(w, "hit_same_warp", p->split[ANA_FROM_WARP]);
    put_num(w, "hit_same_cta", p->split[ANA_FROM_CTA]);
    put_num(w, "hit_other_cta", p->split[ANA_FROM_OTHER]);
    jw_end_obj(w);
}
/* miss[i] belongs to points[i]. */
static void put_dist(struct jw *w, const struct ana_curve *c, const struct ana_dist *d)
{
    put_uint(w, "touches", d->total);
    put_uint(w, "first_touches", d->cold);
    jw_key(w, "miss");
    jw_arr(w);
    for (uint32_t i = 0; i < c->npoints; i++)
        jw_num(w, ana_miss_ratio(d, c->point[i].bytes, NULL));
    jw_end_arr(w);
}
static void put_arrays(struct jw *w, const struct ana_curve *c)
{
    jw_key(w, "arrays");
    jw_arr(w);
    for (uint32_t i = 0; i < c->narrays; i++) {
        jw_obj(w);
        jw_key(w, "array");
        jw_str(w, c->array[i].name);
        put_extent(w, &c->array[i].extent);
        put_dist(w, c, &c->array[i].dist);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}
static void put_loads(struct jw *w, const struct ana_kernel *k)
{
    const struct ana_curve *c = k->curve;
    jw_key(w, "loads");
    jw_arr(w);
    for (uint32_t i = 0; i < c->naccess && i < k->naccess; i++) {
        if (!c->access[i].total)
            continue;
        jw_obj(w);
        put_uint(w, "line", k->access[i].at.line);
        put_uint(w, "column", k->access[i].at.col);
        put_dist(w, c, &c->access[i]);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}
static void put_windows(struct jw *w, const struct ana_curve *c)
{
    jw_key(w, "windows");
    jw_arr(w);
    for (int i = 0; i < ANA_WINDOWS; i++) {
        jw_obj(w);
        put_num(w, "share_of_reuse", c->window[i].share);
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
    jw_key(w, "line_bytes");
    jw_int(w, 128);
    put_uint(w, "requests", c->requests);
    put_uint(w, "lines", c->lines);
    jw_key(w, "cut");
    jw_bool(w, c->cut);
    put_num(w, "sampled", c->sampled);
    put_num(w, "error", c->error);
    put_uint(w, "sms", c->sms);
    put_uint(w, "resident_ctas", c->resident);
    put_num(w, "l1_bytes", c->l1_bytes);
    put_num(w, "l2_bytes", c->l2_bytes);
    put_num(w, "cache_share_bytes_per_thread", c->cache_share);
    put_extent(w, &c->extent);
    put_windows(w, c);
    jw_key(w, "points");
    jw_arr(w);
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
    jw_key(w, "banks");
    jw_arr(w);
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
    jw_key(w, "passes");
    jw_int(w, b->passes);
    jw_key(w, "least_passes");
    jw_int(w, b->ideal);
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
    jw_key(w, "passes_per_request");
    jw_num(w, c.now);
    jw_key(w, "swizzled");
    jw_num(w, c.swizzled);
    jw_key(w, "padded");
    jw_arr(w);
    for (unsigned i = 0; i < c.nrows; i++) {
        jw_obj(w);
        jw_key(w, "row");
        jw_int(w, c.row[i]);
        jw_key(w, "passes_per_request");
        jw_num(w, c.padded[i]);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_end_obj(w);
}
