/* The JSON documents that programs rely on (their fields: fields.def). */
#include "engine/analysis/analysis.h"
#include "engine/dev/dev.h"
#include "engine/dev/dev_pool.h"
#include "engine/perfmodel/category.h"
#include "engine/perfmodel/valley.h"
#include "engine/predict/prediction.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/device.h"
#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result_read.h"
#include "engine/search/advice.h"
#include "engine/search/found.h"
#include "engine/session/document.h"
#include "engine/session/documents.h"
#include "engine/session/limits_doc.h"
#include "engine/session/roofline.h"
#include "engine/session/session_int.h"
#include "engine/tune/sweep.h"

#include <math.h>
#include <string.h>

static void put_subject(struct jw *w, const struct dev_info *d, const char *kernel)
{
    jw_key(w, "device");
    put_device(w, d);
    jw_put_str(w, "kernel", kernel);
}

/* Of the original; NULL or empty: none was seen. */
static void put_race(struct jw *w, const char *race)
{
    jw_put_str(w, "race", race && *race ? race : NULL);
}

static void put_classes(struct jw *w, const struct load_classes *c)
{
    if (!c || !c->known) {
        jw_put_null(w, "load_classes");
        return;
    }
    jw_put_arr(w, "load_classes");
    for (size_t i = 0; i < c->n; i++)
        put_record(w, NULL, "load-class", &c->v[i]);
    jw_end_arr(w);
}

void json_result(const struct result *r, const struct dev_info *d, const char *kernel, const char *race,
                 const struct load_classes *classes, const struct tune_proof *proof, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-result", 2);
    put_subject(&w, d, kernel);
    put_race(&w, race);
    put_result(&w, r);
    put_classes(&w, classes);
    json_proof(&w, proof);
    struct roofline roof = roofline_of(r, d->spec, NULL);
    json_roofline(&w, &roof);
    document_close(&w);
}

static void put_fit(struct jw *w, const struct model_fit *f)
{
    if (!f->valid) {
        jw_put_null(w, "fit");
        return;
    }
    jw_put_obj(w, "fit");
    members_write(w, doc_members("fit"), f);
    put_record(w, "paper", "fit-paper", f);
    jw_end_obj(w);
}

static void put_best(struct jw *w, const struct tune_sweep *s)
{
    if (s->has_best)
        put_result_as(w, "best", result_at(s->points, s->best));
    else {
        jw_put_null(w, "best");
    }
}

static void put_line(struct jw *w, const struct options *o)
{
    put_line_as(w, "options_line", o);
}

static void put_points(struct jw *w, const struct tune_sweep *s)
{
    for (size_t i = 0; i < s->npoints; i++) {
        jw_obj(w);
        put_result(w, result_at(s->points, i));
        jw_end_obj(w);
    }
}

/* What is judged of a curve. */
static void put_judged(struct jw *w, const struct tune_sweep *s)
{
    struct buf verdict = { 0 };
    bool curve = strcmp(s->axis, "pi") == 0 && s->complete && s->has_best;
    put_best(w, s);
    jw_put_str(w, "category", curve ? model_category_name(s->curve.category) : NULL);
    jw_put_str(w, "sensitivity", curve ? s->curve.sensitivity : NULL);
    put_fit(w, &s->fit);
    jw_put_num(w, "overhead_bpa", s->overhead_bpa);
    jw_put_num(w, "overhead_cha", s->overhead_cha);
    tune_verdict(s, &verdict);
    jw_put_str(w, "verdict", verdict.s);
    buf_free_checked(&verdict, w->out);
}

static void put_sweep_head(struct jw *w, const char *const *axis, size_t naxes,
                           const struct tune_sweep *s, bool complete)
{
    jw_put_arr(w, "axis");
    for (size_t i = 0; i < naxes; i++)
        jw_str(w, axis[i]);
    jw_end_arr(w);
    jw_put_bool(w, "complete", complete);
    jw_put_uint(w, "warps_per_cta", s->warps);
    put_result_as(w, "bpa", s->bpa);
    put_result_as(w, "cha", s->cha);
}

/* What each member of the pool did, in seconds since the pool was opened. */
static void put_pool(struct jw *w, const struct dev_pool_member *m, size_t n)
{
    if (!n)
        return;
    jw_put_arr(w, "pool");
    for (size_t i = 0; i < n; i++) {
        jw_obj(w);
        members_write(w, doc_members("pool-member"), &m[i]);
        jw_put_bool(w, "left", !m[i].up);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

/* What was to be measured and was not, each with its reason. */
static void put_missing(struct jw *w, const struct tune_family *f)
{
    const struct result *r;
    jw_put_arr(w, "missing");
    for (size_t at = 0; f && (r = tune_family_missing(f, &at));) {
        jw_obj(w);
        put_line(w, result_options(r));
        jw_put_str(w, "reason", *result_message(r) ? result_message(r) : "not run");
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

/* f: the family that s is all of; NULL: not known (a kept sweep). */
static void put_sweep(const struct tune_sweep *s, const struct tune_family *f,
                      const struct tune_proof *proof, const struct dev_info *d, const char *kernel,
                      const char *race, const struct dev_pool_member *m, size_t n, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-sweep", 2);
    put_subject(&w, d, kernel);
    put_race(&w, race);
    put_sweep_head(&w, &s->axis, 1, s, s->complete);
    jw_put_arr(&w, "points");
    put_points(&w, s);
    jw_end_arr(&w);
    put_judged(&w, s);
    json_proof(&w, proof);
    if (f)
        put_missing(&w, f);
    put_pool(&w, m, n);
    document_close(&w);
}

void json_sweep(const struct tune_sweep *s, const struct tune_proof *proof, const struct dev_info *d,
                const char *kernel, const char *race, struct buf *out)
{
    put_sweep(s, NULL, proof, d, kernel, race, NULL, 0, out);
}

static void put_slices(struct jw *w, const struct tune_family *f)
{
    size_t from = 0;
    jw_put_arr(w, "slices");
    for (size_t i = 0; i < f->n; i++) {
        const struct tune_sweep *s = &f->slice[i].sweep;
        jw_obj(w);
        put_line(w, tune_family_base(f, i));
        jw_put_uint(w, "points_from", from);
        jw_put_uint(w, "points_count", s->npoints);
        put_result_as(w, "bpa", s->bpa);
        put_result_as(w, "cha", s->cha);
        put_judged(w, s);
        json_proof(w, &f->slice[i].proof);
        jw_end_obj(w);
        from += s->npoints;
    }
    jw_end_arr(w);
}

/* bpa, cha and what is judged at the top are those of the slice with the fastest configuration. */
void json_family(const struct tune_family *f, const struct dev_info *d, const char *kernel,
                 const char *race, const struct dev_pool_member *member, size_t nmembers,
                 struct buf *out)
{
    if (f->n == 1) {
        put_sweep(&f->slice[0].sweep, f, &f->slice[0].proof, d, kernel, race, member, nmembers, out);
        return;
    }
    struct jw w = document_open(out, "gpulocw-sweep", 2);
    const struct tune_sweep *best = &f->slice[f->best].sweep;
    put_subject(&w, d, kernel);
    put_race(&w, race);
    put_sweep_head(&w, f->axis, f->naxes, best, f->complete);
    jw_put_arr(&w, "points");
    for (size_t i = 0; i < f->n; i++)
        put_points(&w, &f->slice[i].sweep);
    jw_end_arr(&w);
    put_judged(&w, best);
    json_proof(&w, &f->slice[f->best].proof);
    jw_put_uint(&w, "best_slice", f->best);
    put_slices(&w, f);
    put_missing(&w, f);
    put_pool(&w, member, nmembers);
    document_close(&w);
}

static void put_gain(struct jw *w, const struct result *was, const struct result *now)
{
    double gain = gain_of(was, now);
    jw_put_num(w, "gain", gain);
    jw_put_str(w, "evidence", isnan(gain) ? NULL : evidence_name(evidence_of(now)));
}

/* The model's figures, in cycles of the whole device; parts of the paper's sum by their level. */
static void put_prediction(struct jw *w, const struct options *o, const struct tune_prediction *p)
{
    jw_obj(w);
    put_line(w, o);
    members_write(w, doc_members("prediction"), p);
    put_interval(w, "interval", p->likely);
    jw_put_str(w, "origin", origin_name(ORIGIN_MODELLED));
    jw_put_str(w, "evidence", evidence_name(EVIDENCE_MODELLED));
    jw_put_str(w, "note", p->note[0] ? p->note : NULL);
    jw_end_obj(w);
}

static void put_prediction_as(struct jw *w, const char *key, const struct options *o,
                              const struct tune_prediction *p)
{
    jw_key(w, key);
    if (p->valid)
        put_prediction(w, o, p);
    else
        jw_null(w);
}

void json_prediction(const struct tune_prediction *original, const struct options *o,
                     const struct tune_prediction *asked, const struct tune_pi_forecast *f,
                     const struct dev_info *d, const char *kernel, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-prediction", 2);
    put_subject(&w, d, kernel);
    put_prediction_as(&w, "original", options_none(), original);
    put_prediction_as(&w, "asked", o, asked);
    jw_put_str(&w, "why_not", asked->valid ? NULL : asked->why_not);
    jw_put_obj(&w, "threshold");
    jw_put_uint(&w, "warps", f->warps);
    jw_put_num(&w, "by_footprint", f->footprint < 0 ? (double)NAN : f->footprint);
    jw_put_num(&w, "by_cost", f->model < 0 ? (double)NAN : f->model);
    jw_put_num(&w, "bpa_cycles", f->bpa);
    jw_put_num(&w, "cha_cycles", f->cha);
    jw_put_num(&w, "least_cycles", f->least);
    jw_put_arr(&w, "cycles");
    for (uint32_t pi = 0; pi <= f->warps && pi <= TUNE_PI_MOST; pi++)
        jw_num(&w, f->cost[pi]);
    jw_end_arr(&w);
    jw_put_num(&w, "bytes_per_warp", f->footprint < 0 ? NAN : f->bytes_per_warp);
    jw_put_str(&w, "why_not_by_footprint", f->footprint < 0 ? f->why_not : NULL);
    jw_put_str(&w, "why_not_by_cost", f->model < 0 ? f->model_why_not : NULL);
    jw_end_obj(&w);
    document_close(&w);
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
        members_write(w, doc_members("advice"), &v[i]);
        put_interval(w, "expected", v[i].likely.gain);
        jw_put_num(w, "expected_cases",
                   v[i].likely.gain.high > 0 ? (double)v[i].likely.cases : (double)NAN);
        bool gained = v[i].tried && !isnan(v[i].real_gain);
        jw_put_num(w, "real_gain", gained ? v[i].real_gain : NAN);
        jw_put_str(w, "evidence", gained ? evidence_name(v[i].evidence) : NULL);
        put_line(w, &v[i].options);
        jw_put_str(w, "command", v[i].command[0] ? v[i].command : NULL);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

/* Configurations that a search tried and whose device failed. */
static void put_untimed(struct jw *w, const struct result *done, size_t n)
{
    jw_put_arr(w, "missing");
    for (size_t i = 0; i < n; i++) {
        const struct result *r = result_at(done, i);
        if (!tune_untimed(r))
            continue;
        jw_obj(w);
        put_line(w, result_options(r));
        jw_put_str(w, "reason", *result_message(r) ? result_message(r) : "not run");
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

/* Of a search of a session nobody knows them. */
static void put_seconds(struct jw *w, const struct tune_seconds *s)
{
    if (!(s->opening + s->original + s->tries > 0)) {
        jw_put_null(w, "seconds");
        return;
    }
    jw_put_obj(w, "seconds");
    members_write(w, doc_members("tune-seconds"), s);
    jw_end_obj(w);
}

void json_found(const struct tune_found *f, const struct tune_advice *advice, size_t nadvice,
                const struct result *done, size_t ndone, const struct dev_info *d, const char *kernel,
                const char *race, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-tune", 2);
    put_subject(&w, d, kernel);
    put_race(&w, race);
    jw_put_bool(&w, "leave_alone", f->leave_alone);
    put_line(&w, f->options);
    jw_key(&w, "recommended");
    put_options(&w, f->options);
    json_proof(&w, &f->proof);
    jw_put_str(&w, "reason", f->reason);
    jw_put_uint(&w, "launches", f->launches);
    put_seconds(&w, &f->seconds);
    jw_put_uint(&w, "timed_whole", f->whole);
    jw_put_uint(&w, "measured_again", f->again);
    jw_put_bool(&w, "times_from_sample", result_sampled(f->best));
    jw_put_uint(&w, "space", f->space);
    jw_put_uint(&w, "skipped_by_model", f->skipped);
    put_gain(&w, f->original, f->best);
    put_interval(&w, "gain_interval", f->leave_alone ? (struct interval){ 0, 0 } : f->likely_gain);
    put_result_as(&w, "original", f->original);
    put_result_as(&w, "best", f->best);
    put_data_sets(&w, f);
    jw_put_str(&w, "probed", f->probed[0] ? f->probed : NULL);
    jw_put_str(&w, "placement", f->placement[0] ? f->placement : NULL);
    jw_put_uint(&w, "resumed", f->resumed);
    jw_put_str(&w, "untried", f->untried[0] ? f->untried : NULL);
    put_prediction_as(&w, "model_original", options_none(), &f->cost_original);
    put_prediction_as(&w, "model_best", options_at(f->ranked, TUNE_RANKED), &f->cost_best);
    jw_put_arr(&w, "model_ranking");
    for (unsigned i = 0; i < f->nranking; i++)
        put_prediction(&w, options_at(f->ranked, i), &f->ranking[i]);
    jw_end_arr(&w);
    put_advice(&w, advice, nadvice);
    put_untimed(&w, done, ndone);
    document_close(&w);
}

void json_compared(const char *const *method, const struct tune_found *f, size_t n,
                   const struct dev_info *d, const char *kernel, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-tune-methods", 2);
    put_subject(&w, d, kernel);
    jw_put_arr(&w, "methods");
    for (size_t i = 0; i < n; i++) {
        jw_obj(&w);
        jw_put_str(&w, "method", method[i]);
        jw_put_uint(&w, "launches", f[i].launches);
        jw_put_bool(&w, "leave_alone", f[i].leave_alone);
        put_gain(&w, f[i].original, f[i].best);
        put_line(&w, f[i].options);
        jw_end_obj(&w);
    }
    jw_end_arr(&w);
    document_close(&w);
}

void json_advice(const struct tune_advice *v, size_t n, const struct dev_info *d, const char *kernel,
                 struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-advice", 2);
    put_subject(&w, d, kernel);
    jw_put_bool(&w, "launched", false);
    put_advice(&w, v, n);
    document_close(&w);
}

static void put_counters(struct jw *w, const struct dev_counters *c)
{
    jw_put_str(w, "chip", c->chip[0] ? c->chip : NULL);
    jw_put_uint(w, "passes", c->passes);
    jw_put_str(w, "no_counters", c->why[0] ? c->why : NULL);
    jw_put_arr(w, "counters");
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        jw_obj(w);
        jw_put_str(w, "name", counter_name((enum counter_id)i));
        jw_put_str(w, "unit", counter_unit((enum counter_id)i));
        jw_put_bool(w, "available", c->of[i].valid);
        jw_put_str(w, "from", c->of[i].from);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_put_bool(w, "limits_available", c->limits);
    jw_put_str(w, "limits_from", c->limits_from);
}

void json_devices(const struct dev_info *d, const struct dev_counters *const *counters, size_t n,
                  struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-devices", 2);
    jw_put_arr(&w, "devices");
    for (size_t i = 0; i < n; i++) {
        jw_obj(&w);
        put_device_members(&w, &d[i]);
        if (counters[i])
            put_counters(&w, counters[i]);
        jw_end_obj(&w);
    }
    jw_end_arr(&w);
    document_close(&w);
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
    members_write(w, doc_members("exact"), e);
    if (shared) {
        jw_put_num(w, "bank_conflicts_per_request", e->bank_conflicts);
        json_banks(w, &e->banks);
    }
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
    jw_put_view(w, "file", name);
    jw_put_uint(w, "line", l.line);
    jw_put_uint(w, "column", l.col);
    jw_key(w, "inlined_at");
    if (at.n && l.at_line) {
        jw_obj(w);
        jw_put_view(w, "file", at);
        jw_put_uint(w, "line", l.at_line);
        jw_end_obj(w);
    } else
        jw_null(w);
    jw_end_obj(w);
}

static void put_access(struct jw *w, const struct ana_kernel *k, const struct ana_access *a)
{
    jw_obj(w);
    jw_put_uint(w, "line", a->at.line);
    jw_put_uint(w, "column", a->at.col);
    jw_put_view(w, "text", ptx_text(k->module, a->at));
    put_source(w, k->module, a->loc);
    jw_put_str(w, "space", ana_space_name(a->space));
    jw_put_str(w, "kind", a->atomic ? "atomic" : a->prefetch ? "prefetch" : a->store ? "store" : "load");
    jw_put_str(w, "address", a->address);
    jw_put_str(w, "unknown", a->unknown);
    jw_put_str(w, "param", a->array);
    jw_put_str(w, "arrays", a->arrays);
    jw_put_str(w, "loops", a->loops);
    jw_put_str(w, "uncounted", a->uncounted);
    jw_put_num(w, "bytes",
               a->space != ANA_SPACE_COPY ? a->bytes
               : a->exact.requests        ? (double)a->exact.bytes_used / (double)a->exact.requests
                                          : (double)NAN);
    put_coalesce(w, &a->coalesce);
    put_exact(w, &a->exact, a->space == PTX_SPACE_SHARED);
    jw_put_num(w, "executions", a->executions);
    jw_put_num(w, "same_as_line", a->same_line ? a->same_line : (double)NAN);
    jw_put_num(w, "joined_with_line", a->joined_line ? a->joined_line : (double)NAN);
    jw_put_str(w, "class", ana_class_name(a->cls));
    jw_put_str(w, "evidence", a->evidence);
    jw_put_str(w, "read_only", tri_names[a->read_only]);
    jw_put_str(w, "read_only_why", a->read_only_why);
    jw_end_obj(w);
}

static void put_locality(struct jw *w, const struct ana_kernel *k)
{
    jw_put_str(w, "class", ana_class_name(k->cls));
    jw_put_texts(w, "evidence", k->evidence, k->nevidence);
    jw_put_str(w, "sensitivity", k->sensitivity);
    if (k->reuse.valid)
        put_record(w, "reuse", "reuse", &k->reuse);
    else
        jw_put_null(w, "reuse");
    put_record(w, "partition", "partition", &k->partition);
    if (k->footprint.valid)
        put_record(w, "footprint", "footprint", &k->footprint);
    else
        jw_put_null(w, "footprint");
    put_curve(w, k);
}

/* timed: one launch of it; NULL: none. */
static void put_kernel(struct jw *w, const struct ana_kernel *k, const struct result *timed)
{
    jw_obj(w);
    jw_put_view(w, "name", k->func->name);
    jw_put_obj(w, "launch");
    jw_put_bool(w, "given", k->launched);
    jw_put_dim(w, "grid", k->grid);
    jw_put_dim(w, "block", k->block);
    jw_put_str(w, "assumed", k->assumed);
    jw_end_obj(w);
    put_coalesce(w, &k->coalesce);
    put_exact(w, &k->exact, false);
    put_locality(w, k);
    jw_put_arr(w, "loads");
    for (uint32_t i = 0; i < k->naccess; i++)
        if (ana_is_global_load(&k->access[i]))
            put_access(w, k, &k->access[i]);
    jw_end_arr(w);
    json_banks_cure(w, k);
    jw_put_arr(w, "other_accesses");
    for (uint32_t i = 0; i < k->naccess; i++)
        if (!ana_is_global_load(&k->access[i]))
            put_access(w, k, &k->access[i]);
    jw_end_arr(w);
    jw_put_texts(w, "gaps", k->gaps, k->ngaps);
    json_limits(w, timed);
    jw_end_obj(w);
}

void json_analysis(const struct ana_kernel *const *k, size_t n, const struct result *timed,
                   struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-analysis", 2);
    const struct ptx_module *m = n ? k[0]->module : NULL;
    jw_put_obj(&w, "module");
    if (m) {
        jw_put_str(&w, "file", m->path);
        jw_put_num(&w, "ptx_version", m->version / 10.0);
        jw_put_view(&w, "target", m->target_text);
        jw_put_uint(&w, "unmodelled_instructions", m->nopaque);
    }
    jw_end_obj(&w);
    jw_put_arr(&w, "kernels");
    for (size_t i = 0; i < n; i++)
        put_kernel(&w, k[i], i ? NULL : timed);
    jw_end_arr(&w);
    document_close(&w);
}
