/* The JSON documents that programs rely on (their fields: fields.def). */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/dev/dev_pool.h"
#include "engine/perfmodel/category.h"
#include "engine/perfmodel/valley.h"
#include "engine/predict/prediction.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/counters.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/options.h"
#include "engine/rec/result.h"
#include "engine/search/advice.h"
#include "engine/search/tuner.h"
#include "engine/session/roofline.h"
#include "engine/session/session.h"
#include "engine/session/session_int.h"
#include "engine/tune/sweep.h"
#include "engine/tune/tune.h"

#include <math.h>
#include <string.h>

static struct jw document(struct buf *out, const char *format)
{
    struct jw w = jw_open(out, 2);
    jw_obj(&w);
    jw_key(&w, "format");
    jw_str(&w, format);
    jw_key(&w, "version");
    jw_int(&w, 1);
    return w;
}

static void finish(struct jw *w)
{
    jw_end_obj(w);
    buf_puts(w->out, "\n");
}

static void put_named(struct jw *w, const char *key, const struct result *r)
{
    jw_key(w, key);
    jw_obj(w);
    put_result(w, r);
    jw_end_obj(w);
}

static void put_subject(struct jw *w, const struct dev_info *dev, const char *kernel)
{
    jw_key(w, "device");
    put_device(w, dev);
    jw_key(w, "kernel");
    jw_str(w, kernel);
}

/* Of the original; NULL or empty: none was seen. */
static void put_race(struct jw *w, const char *race)
{
    jw_key(w, "race");
    jw_str(w, race && *race ? race : NULL);
}

static void put_classes(struct jw *w, const struct load_classes *c)
{
    jw_key(w, "load_classes");
    if (!c || !c->known) {
        jw_null(w);
        return;
    }
    jw_arr(w);
    for (size_t i = 0; i < c->n; i++) {
        const struct load_class *k = &c->v[i];
        jw_obj(w);
        jw_key(w, "class");
        jw_str(w, k->op.sass);
        put_uint(w, "loads", k->loads);
        jw_key(w, "allocates_l1");
        jw_bool(w, k->op.l1);
        jw_key(w, "no_effect");
        jw_bool(w, k->op.noop);
        jw_key(w, "note");
        jw_str(w, k->op.reason);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

void json_result(const struct result *r, const struct dev_info *dev, const char *kernel,
                 const char *race, const struct load_classes *classes, const struct tune_proof *proof,
                 struct buf *out)
{
    struct jw w = document(out, "gpulocw-result");
    put_subject(&w, dev, kernel);
    put_race(&w, race);
    put_result(&w, r);
    put_classes(&w, classes);
    put_proof(&w, proof);
    struct roofline roof = roofline_of(r, dev->spec, NULL);
    json_roofline(&w, &roof);
    finish(&w);
}

static void put_fit(struct jw *w, const struct model_fit *f)
{
    jw_key(w, "fit");
    if (!f->valid) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    put_num(w, "alpha", f->alpha);
    put_num(w, "beta", f->beta);
    put_num(w, "residual", f->residual);
    put_num(w, "sharpness", f->sharpness);
    put_num(w, "floor_time_ns", f->floor_time);
    put_num(w, "miss_time_ns", f->scale);
    /* the paper's own law, whose curve cannot turn inside 0..W */
    jw_key(w, "paper");
    jw_obj(w);
    put_num(w, "alpha", f->paper_alpha);
    put_num(w, "beta", f->paper_beta);
    put_num(w, "residual", f->paper_residual);
    jw_end_obj(w);
    jw_end_obj(w);
}

static void put_best(struct jw *w, const struct tune_sweep *s)
{
    if (s->has_best)
        put_named(w, "best", &s->points[s->best]);
    else {
        jw_key(w, "best");
        jw_null(w);
    }
}

static void put_line(struct jw *w, const struct options *o)
{
    struct buf line = { 0 };
    options_line(o, &line);
    jw_key(w, "options_line");
    jw_str(w, line.s ? line.s : "");
    buf_free_checked(&line, w->out);
}

static void put_points(struct jw *w, const struct tune_sweep *s)
{
    for (size_t i = 0; i < s->npoints; i++) {
        jw_obj(w);
        put_result(w, &s->points[i]);
        jw_end_obj(w);
    }
}

/* What is judged of a curve. */
static void put_judged(struct jw *w, const struct tune_sweep *s)
{
    struct buf verdict = { 0 };
    bool curve = strcmp(s->axis, "pi") == 0 && s->complete && s->has_best;
    put_best(w, s);
    jw_key(w, "category");
    jw_str(w, curve ? model_category_name(s->curve.category) : NULL);
    jw_key(w, "sensitivity");
    jw_str(w, curve ? s->curve.sensitivity : NULL);
    put_fit(w, &s->fit);
    put_num(w, "overhead_bpa", s->overhead_bpa);
    put_num(w, "overhead_cha", s->overhead_cha);
    tune_verdict(s, &verdict);
    jw_key(w, "verdict");
    jw_str(w, verdict.s);
    buf_free_checked(&verdict, w->out);
}

static void put_sweep_head(struct jw *w, const char *const *axis, size_t naxes,
                           const struct tune_sweep *s, bool complete)
{
    jw_key(w, "axis");
    jw_arr(w);
    for (size_t i = 0; i < naxes; i++)
        jw_str(w, axis[i]);
    jw_end_arr(w);
    jw_key(w, "complete");
    jw_bool(w, complete);
    put_uint(w, "warps_per_cta", s->warps);
    put_named(w, "bpa", &s->bpa);
    put_named(w, "cha", &s->cha);
}

/* What each member of the pool did, in seconds since the pool was opened. */
static void put_pool(struct jw *w, const struct dev_pool_member *m, size_t n)
{
    if (!n)
        return;
    jw_key(w, "pool");
    jw_arr(w);
    for (size_t i = 0; i < n; i++) {
        jw_obj(w);
        jw_key(w, "device");
        jw_str(w, m[i].spec);
        jw_key(w, "worker");
        jw_str(w, m[i].worker);
        jw_key(w, "left");
        jw_bool(w, !m[i].up);
        put_uint(w, "launches", m[i].jobs);
        put_uint(w, "lost", m[i].lost);
        put_uint(w, "dropped_frames", m[i].dropped);
        put_num(w, "opened_s", m[i].up_s);
        put_num(w, "first_s", m[i].first_s);
        put_num(w, "last_s", m[i].last_s);
        put_num(w, "binding_s", m[i].bind_s);
        put_num(w, "loading_s", m[i].load_s);
        put_num(w, "launching_s", m[i].launch_s);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

/* What was to be measured and was not, each with its reason. */
static void put_missing(struct jw *w, const struct tune_family *f)
{
    const struct result *r;
    jw_key(w, "missing");
    jw_arr(w);
    for (size_t at = 0; f && (r = tune_family_missing(f, &at));) {
        jw_obj(w);
        put_line(w, &r->options);
        jw_key(w, "reason");
        jw_str(w, r->message[0] ? r->message : "not run");
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

/* f: the family that s is all of; NULL: not known (a kept sweep). */
static void put_sweep(const struct tune_sweep *s, const struct tune_family *f,
                      const struct tune_proof *proof, const struct dev_info *dev, const char *kernel,
                      const char *race, const struct dev_pool_member *m, size_t n, struct buf *out)
{
    struct jw w = document(out, "gpulocw-sweep");
    put_subject(&w, dev, kernel);
    put_race(&w, race);
    put_sweep_head(&w, &s->axis, 1, s, s->complete);
    jw_key(&w, "points");
    jw_arr(&w);
    put_points(&w, s);
    jw_end_arr(&w);
    put_judged(&w, s);
    put_proof(&w, proof);
    if (f)
        put_missing(&w, f);
    put_pool(&w, m, n);
    finish(&w);
}

void json_sweep(const struct tune_sweep *s, const struct tune_proof *proof, const struct dev_info *dev,
                const char *kernel, const char *race, struct buf *out)
{
    put_sweep(s, NULL, proof, dev, kernel, race, NULL, 0, out);
}

static void put_slices(struct jw *w, const struct tune_family *f)
{
    size_t from = 0;
    jw_key(w, "slices");
    jw_arr(w);
    for (size_t i = 0; i < f->n; i++) {
        const struct tune_sweep *s = &f->slice[i].sweep;
        jw_obj(w);
        put_line(w, &f->slice[i].base);
        put_uint(w, "points_from", from);
        put_uint(w, "points_count", s->npoints);
        put_named(w, "bpa", &s->bpa);
        put_named(w, "cha", &s->cha);
        put_judged(w, s);
        put_proof(w, &f->slice[i].proof);
        jw_end_obj(w);
        from += s->npoints;
    }
    jw_end_arr(w);
}

/* bpa, cha and what is judged at the top are those of the slice with the fastest configuration. */
void json_family(const struct tune_family *f, const struct dev_info *dev, const char *kernel,
                 const char *race, const struct dev_pool_member *member, size_t nmembers,
                 struct buf *out)
{
    if (f->n == 1) {
        put_sweep(&f->slice[0].sweep, f, &f->slice[0].proof, dev, kernel, race, member, nmembers, out);
        return;
    }
    struct jw w = document(out, "gpulocw-sweep");
    const struct tune_sweep *best = &f->slice[f->best].sweep;
    put_subject(&w, dev, kernel);
    put_race(&w, race);
    put_sweep_head(&w, f->axis, f->naxes, best, f->complete);
    jw_key(&w, "points");
    jw_arr(&w);
    for (size_t i = 0; i < f->n; i++)
        put_points(&w, &f->slice[i].sweep);
    jw_end_arr(&w);
    put_judged(&w, best);
    put_proof(&w, &f->slice[f->best].proof);
    put_uint(&w, "best_slice", f->best);
    put_slices(&w, f);
    put_missing(&w, f);
    put_pool(&w, member, nmembers);
    finish(&w);
}

/* The model's figures, in cycles of the whole device; parts of the paper's sum by their level. */
static void put_prediction(struct jw *w, const struct tune_prediction *p)
{
    jw_obj(w);
    put_line(w, &p->options);
    put_num(w, "loads", p->paper.loads);
    put_num(w, "l1_miss_rate", p->paper.m1);
    put_num(w, "l2_miss_rate", p->paper.m2);
    put_num(w, "walked_requests", p->in.loads);
    put_num(w, "walked_l1_miss_rate", p->in.m1);
    put_num(w, "walked_l2_miss_rate", p->in.m2);
    put_num(w, "paper_cycles", p->cost.paper);
    put_num(w, "paper_l1_cycles", p->cost.l1);
    put_num(w, "paper_l2_cycles", p->cost.l2);
    put_num(w, "paper_dram_cycles", p->cost.dram);
    put_num(w, "extended_cycles", p->cost.extended);
    put_num(w, "walked_cycles", p->walked);
    put_num(w, "latency_cycles", p->cost.latency);
    put_num(w, "l1_cycles", p->cost.bound_l1);
    put_num(w, "l2_cycles", p->cost.bound_l2);
    put_num(w, "dram_cycles", p->cost.bound_dram);
    put_num(w, "issue_cycles", p->issue);
    put_num(w, "latency_l1_cycles", p->cost.latency_l1);
    put_num(w, "latency_l2_cycles", p->cost.latency_l2);
    put_num(w, "latency_dram_cycles", p->cost.latency_dram);
    put_num(w, "time_ns", p->time_ns);
    put_interval(w, "interval", p->likely);
    jw_key(w, "origin");
    jw_str(w, origin_name(ORIGIN_MODELLED));
    jw_key(w, "note");
    jw_str(w, p->note[0] ? p->note : NULL);
    jw_end_obj(w);
}

static void put_prediction_as(struct jw *w, const char *key, const struct tune_prediction *p)
{
    jw_key(w, key);
    if (p->valid)
        put_prediction(w, p);
    else
        jw_null(w);
}

void json_prediction(const struct tune_prediction *original, const struct tune_prediction *asked,
                     const struct tune_pi_forecast *f, const struct dev_info *dev, const char *kernel,
                     struct buf *out)
{
    struct jw w = document(out, "gpulocw-prediction");
    put_subject(&w, dev, kernel);
    put_prediction_as(&w, "original", original);
    put_prediction_as(&w, "asked", asked);
    jw_key(&w, "why_not");
    jw_str(&w, asked->valid ? NULL : asked->why_not);
    jw_key(&w, "threshold");
    jw_obj(&w);
    put_uint(&w, "warps", f->warps);
    put_num(&w, "by_footprint", f->footprint < 0 ? (double)NAN : f->footprint);
    put_num(&w, "by_cost", f->model < 0 ? (double)NAN : f->model);
    put_num(&w, "bpa_cycles", f->bpa);
    put_num(&w, "cha_cycles", f->cha);
    put_num(&w, "least_cycles", f->least);
    jw_key(&w, "cycles");
    jw_arr(&w);
    for (uint32_t pi = 0; pi <= f->warps && pi <= TUNE_PI_MOST; pi++)
        jw_num(&w, f->cost[pi]);
    jw_end_arr(&w);
    put_num(&w, "bytes_per_warp", f->footprint < 0 ? NAN : f->bytes_per_warp);
    jw_key(&w, "why_not_by_footprint");
    jw_str(&w, f->footprint < 0 ? f->why_not : NULL);
    jw_key(&w, "why_not_by_cost");
    jw_str(&w, f->model < 0 ? f->model_why_not : NULL);
    jw_end_obj(&w);
    finish(&w);
}

static double found_gain(const struct tune_found *f)
{
    return f->best.time.valid && f->original.time.valid && f->best.time.median > 0
               ? (double)f->original.time.median / (double)f->best.time.median
               : NAN;
}

/* v NULL: nobody asked for advice, or there was no way to give any. */
static void put_advice(struct jw *w, const struct tune_advice *v, size_t n)
{
    jw_key(w, "advice");
    if (!v) {
        jw_null(w);
        return;
    }
    jw_arr(w);
    for (size_t i = 0; i < n; i++) {
        jw_obj(w);
        jw_key(w, "title");
        jw_str(w, v[i].title);
        jw_key(w, "why");
        jw_str(w, v[i].why);
        put_num(w, "expected_gain", v[i].expected_gain);
        jw_key(w, "expected_by_model");
        jw_bool(w, v[i].modelled);
        put_num(w, "confidence", v[i].confidence);
        put_num(w, "real_gain", v[i].tried ? v[i].real_gain : NAN);
        put_line(w, &v[i].options);
        jw_key(w, "command");
        jw_str(w, v[i].command[0] ? v[i].command : NULL);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

/* Configurations that a search tried and whose device failed. */
static void put_untimed(struct jw *w, const struct result *done, size_t n)
{
    jw_key(w, "missing");
    jw_arr(w);
    for (size_t i = 0; i < n; i++) {
        if (!tune_untimed(&done[i]))
            continue;
        jw_obj(w);
        put_line(w, &done[i].options);
        jw_key(w, "reason");
        jw_str(w, done[i].message[0] ? done[i].message : "not run");
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

void json_found(const struct tune_found *f, const struct tune_advice *advice, size_t nadvice,
                const struct result *done, size_t ndone, const struct dev_info *dev, const char *kernel,
                const char *race, struct buf *out)
{
    struct jw w = document(out, "gpulocw-tune");
    put_subject(&w, dev, kernel);
    put_race(&w, race);
    jw_key(&w, "leave_alone");
    jw_bool(&w, f->leave_alone);
    put_line(&w, &f->options);
    jw_key(&w, "recommended");
    put_options(&w, &f->options);
    put_proof(&w, &f->proof);
    jw_key(&w, "reason");
    jw_str(&w, f->reason);
    put_uint(&w, "launches", f->launches);
    put_uint(&w, "timed_whole", f->whole);
    put_uint(&w, "measured_again", f->again);
    jw_key(&w, "times_from_sample");
    jw_bool(&w, f->best.sampled);
    put_uint(&w, "space", f->space);
    put_uint(&w, "skipped_by_model", f->skipped);
    put_num(&w, "gain", found_gain(f));
    put_interval(&w, "gain_interval", f->leave_alone ? (struct interval){ 0, 0 } : f->likely_gain);
    put_named(&w, "original", &f->original);
    put_named(&w, "best", &f->best);
    put_data_sets(&w, f);
    jw_key(&w, "probed");
    jw_str(&w, f->probed[0] ? f->probed : NULL);
    put_uint(&w, "resumed", f->resumed);
    jw_key(&w, "untried");
    jw_str(&w, f->untried[0] ? f->untried : NULL);
    put_prediction_as(&w, "model_original", &f->cost_original);
    put_prediction_as(&w, "model_best", &f->cost_best);
    jw_key(&w, "model_ranking");
    jw_arr(&w);
    for (unsigned i = 0; i < f->nranking; i++)
        put_prediction(&w, &f->ranking[i]);
    jw_end_arr(&w);
    put_advice(&w, advice, nadvice);
    put_untimed(&w, done, ndone);
    finish(&w);
}

void json_compared(const char *const *method, const struct tune_found *f, size_t n,
                   const struct dev_info *dev, const char *kernel, struct buf *out)
{
    struct jw w = document(out, "gpulocw-tune-methods");
    put_subject(&w, dev, kernel);
    jw_key(&w, "methods");
    jw_arr(&w);
    for (size_t i = 0; i < n; i++) {
        jw_obj(&w);
        jw_key(&w, "method");
        jw_str(&w, method[i]);
        put_uint(&w, "launches", f[i].launches);
        jw_key(&w, "leave_alone");
        jw_bool(&w, f[i].leave_alone);
        put_num(&w, "gain", found_gain(&f[i]));
        put_line(&w, &f[i].options);
        jw_end_obj(&w);
    }
    jw_end_arr(&w);
    finish(&w);
}

void json_advice(const struct tune_advice *v, size_t n, const struct dev_info *dev, const char *kernel,
                 struct buf *out)
{
    struct jw w = document(out, "gpulocw-advice");
    put_subject(&w, dev, kernel);
    jw_key(&w, "launched");
    jw_bool(&w, false);
    put_advice(&w, v, n);
    finish(&w);
}

static void put_counters(struct jw *w, const struct dev_counters *c)
{
    jw_key(w, "chip");
    jw_str(w, c->chip[0] ? c->chip : NULL);
    put_uint(w, "passes", c->passes);
    jw_key(w, "no_counters");
    jw_str(w, c->why[0] ? c->why : NULL);
    jw_key(w, "counters");
    jw_arr(w);
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        jw_obj(w);
        jw_key(w, "name");
        jw_str(w, counter_name((enum counter_id)i));
        jw_key(w, "unit");
        jw_str(w, counter_unit((enum counter_id)i));
        jw_key(w, "available");
        jw_bool(w, c->of[i].valid);
        jw_key(w, "from");
        jw_str(w, c->of[i].from);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

void json_devices(const struct dev_info *d, const struct dev_counters *const *counters, size_t n,
                  struct buf *out)
{
    struct jw w = document(out, "gpulocw-devices");
    jw_key(&w, "devices");
    jw_arr(&w);
    for (size_t i = 0; i < n; i++) {
        jw_obj(&w);
        put_device_members(&w, &d[i]);
        if (counters[i])
            put_counters(&w, counters[i]);
        jw_end_obj(&w);
    }
    jw_end_arr(&w);
    finish(&w);
}

/* ---- analysis ---- */
static const char *const tri_names[] = { "unknown", "yes", "no" };

static void put_exact(struct jw *w, const struct ana_exact *e, bool shared)
{
    jw_key(w, "exact");
    if (!e->valid) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    put_uint(w, "requests", e->requests);
    put_uint(w, "sectors", e->sectors);
    put_num(w, "sectors_per_request", e->sectors_per_request);
    put_uint(w, "least_sectors", e->least);
    put_uint(w, "lines", e->lines);
    put_uint(w, "bytes_used", e->bytes_used);
    put_uint(w, "bytes_moved", e->bytes_moved);
    if (shared) {
        put_num(w, "bank_conflicts_per_request", e->bank_conflicts);
        json_banks(w, &e->banks);
    }
    jw_key(w, "sampled");
    jw_bool(w, e->sampled);
    put_num(w, "error", e->error);
    jw_end_obj(w);
}

static struct str file_name(const struct ptx_module *m, uint32_t i)
{
    return i && i < m->nfiles ? m->files[i] : (struct str){ NULL, 0 };
}

/* The place in the source that was compiled (.loc); null: the text does not tell. */
static void put_source(struct jw *w, const struct ptx_module *m, struct ptx_loc l)
{
    struct str name = file_name(m, l.file), at = file_name(m, l.at_file);
    jw_key(w, "source");
    if (!name.n || !l.line) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_key(w, "file");
    jw_view(w, name);
    put_uint(w, "line", l.line);
    put_uint(w, "column", l.col);
    jw_key(w, "inlined_at");
    if (at.n && l.at_line) {
        jw_obj(w);
        jw_key(w, "file");
        jw_view(w, at);
        put_uint(w, "line", l.at_line);
        jw_end_obj(w);
    } else
        jw_null(w);
    jw_end_obj(w);
}

static void put_access(struct jw *w, const struct ana_kernel *k, const struct ana_access *a)
{
    jw_obj(w);
    put_uint(w, "line", a->at.line);
    put_uint(w, "column", a->at.col);
    jw_key(w, "text");
    jw_view(w, ptx_text(k->module, a->at));
    put_source(w, k->module, a->loc);
    jw_key(w, "space");
    jw_str(w, ana_space_name(a->space));
    jw_key(w, "kind");
    jw_str(w, a->atomic ? "atomic" : a->prefetch ? "prefetch" : a->store ? "store" : "load");
    jw_key(w, "address");
    jw_str(w, a->address);
    jw_key(w, "unknown");
    jw_str(w, a->unknown);
    jw_key(w, "param");
    jw_str(w, a->array);
    jw_key(w, "arrays");
    jw_str(w, a->arrays);
    jw_key(w, "loops");
    jw_str(w, a->loops);
    jw_key(w, "uncounted");
    jw_str(w, a->uncounted);
    put_num(w, "bytes",
            a->space != ANA_SPACE_COPY ? a->bytes
            : a->exact.requests        ? (double)a->exact.bytes_used / (double)a->exact.requests
                                       : (double)NAN);
    put_coalesce(w, &a->coalesce);
    put_exact(w, &a->exact, a->space == PTX_SPACE_SHARED);
    put_num(w, "executions", a->executions);
    jw_key(w, "class");
    jw_str(w, ana_class_name(a->cls));
    jw_key(w, "evidence");
    jw_str(w, a->evidence);
    jw_key(w, "read_only");
    jw_str(w, tri_names[a->read_only]);
    jw_key(w, "read_only_why");
    jw_str(w, a->read_only_why);
    jw_end_obj(w);
}

/* `loads` are the contract's global loads; every other access stands under `other_accesses`. */
static bool is_global_load(const struct ana_access *a)
{
    return !a->store && !a->atomic && !a->prefetch &&
           (a->space == PTX_SPACE_GLOBAL || a->space == PTX_SPACE_GENERIC);
}

static void put_texts(struct jw *w, const char *key, char *const *v, uint32_t n)
{
    jw_key(w, key);
    jw_arr(w);
    for (uint32_t i = 0; i < n; i++)
        jw_str(w, v[i]);
    jw_end_arr(w);
}

static void put_locality(struct jw *w, const struct ana_kernel *k)
{
    jw_key(w, "class");
    jw_str(w, ana_class_name(k->cls));
    put_texts(w, "evidence", k->evidence, k->nevidence);
    jw_key(w, "sensitivity");
    jw_str(w, k->sensitivity);
    jw_key(w, "reuse");
    if (!k->reuse.valid)
        jw_null(w);
    else {
        jw_obj(w);
        put_num(w, "intra_warp", k->reuse.intra_warp);
        put_num(w, "intra_cta", k->reuse.intra_cta);
        put_num(w, "inter_cta", k->reuse.inter_cta);
        put_num(w, "none", k->reuse.none);
        put_num(w, "line_reuse", k->reuse.line_reuse);
        jw_key(w, "from");
        jw_str(w, k->reuse.from);
        jw_key(w, "by_sectors");
        jw_obj(w);
        put_num(w, "intra_warp", k->reuse.sectors.intra_warp);
        put_num(w, "intra_cta", k->reuse.sectors.intra_cta);
        put_num(w, "inter_cta", k->reuse.sectors.inter_cta);
        put_num(w, "none", k->reuse.sectors.none);
        jw_end_obj(w);
        jw_end_obj(w);
    }
    jw_key(w, "partition");
    jw_obj(w);
    jw_key(w, "index");
    jw_str(w, k->partition.index);
    jw_key(w, "why");
    jw_str(w, k->partition.why);
    put_num(w, "strength_x", k->partition.strength_x);
    put_num(w, "strength_y", k->partition.strength_y);
    put_num(w, "strength_z", k->partition.strength_z);
    jw_end_obj(w);
    jw_key(w, "footprint");
    if (!k->footprint.valid)
        jw_null(w);
    else {
        jw_obj(w);
        put_num(w, "bytes_per_thread", k->footprint.bytes_per_thread);
        put_num(w, "bytes_per_warp", k->footprint.bytes_per_warp);
        put_num(w, "bytes_per_cta", k->footprint.bytes_per_cta);
        put_num(w, "bytes_per_sm", k->footprint.bytes_per_sm);
        jw_key(w, "pi_fit");
        jw_int(w, k->footprint.pi_fit);
        put_num(w, "cache_share", k->footprint.cache_share);
        jw_end_obj(w);
    }
    put_curve(w, k);
}

static void put_kernel(struct jw *w, const struct ana_kernel *k)
{
    jw_obj(w);
    jw_key(w, "name");
    jw_view(w, k->func->name);
    jw_key(w, "launch");
    jw_obj(w);
    jw_key(w, "given");
    jw_bool(w, k->launched);
    put_dim(w, "grid", k->grid);
    put_dim(w, "block", k->block);
    jw_key(w, "assumed");
    jw_str(w, k->assumed);
    jw_end_obj(w);
    put_coalesce(w, &k->coalesce);
    put_exact(w, &k->exact, false);
    put_locality(w, k);
    jw_key(w, "loads");
    jw_arr(w);
    for (uint32_t i = 0; i < k->naccess; i++)
        if (is_global_load(&k->access[i]))
            put_access(w, k, &k->access[i]);
    jw_end_arr(w);
    json_banks_cure(w, k);
    jw_key(w, "other_accesses");
    jw_arr(w);
    for (uint32_t i = 0; i < k->naccess; i++)
        if (!is_global_load(&k->access[i]))
            put_access(w, k, &k->access[i]);
    jw_end_arr(w);
    put_texts(w, "gaps", k->gaps, k->ngaps);
    jw_end_obj(w);
}

void json_analysis(const struct ana_kernel *const *k, size_t n, struct buf *out)
{
    struct jw w = document(out, "gpulocw-analysis");
    const struct ptx_module *m = n ? k[0]->module : NULL;
    jw_key(&w, "module");
    jw_obj(&w);
    if (m) {
        jw_key(&w, "file");
        jw_str(&w, m->path);
        jw_key(&w, "ptx_version");
        jw_num(&w, m->version / 10.0);
        jw_key(&w, "target");
        jw_view(&w, m->target_text);
        put_uint(&w, "unmodelled_instructions", m->nopaque);
    }
    jw_end_obj(&w);
    jw_key(&w, "kernels");
    jw_arr(&w);
    for (size_t i = 0; i < n; i++)
        put_kernel(&w, k[i]);
    jw_end_arr(&w);
    finish(&w);
}
