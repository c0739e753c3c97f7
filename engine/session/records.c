/* Records as JSON: options, devices, results. The rows of fields.def, for both directions. */
#include "engine/rec/counter_ids.h"
#include "engine/rec/device.h"
#include "engine/rec/gain.h"
#include "engine/rec/interval.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"
#include "engine/session/limits_doc.h"
#include "engine/session/session_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

/* ---- options: knob name -> value ---- */
void put_options(struct jw *w, const struct options *o)
{
    struct buf b = { 0 };
    jw_obj(w);
    for (size_t i = 0; i < knob_count(); i++) {
        const struct knob_info *k = knob_info(i);
        buf_clear(&b);
        knob_get(o, i, &b);
        jw_key(w, k->name);
        if (k->kind == KNOB_KIND_FLAG)
            jw_bool(w, str_is((struct str){ b.s, b.n }, "on"));
        else if (k->kind == KNOB_KIND_INT)
            jw_int(w, strtol(b.s ? b.s : "0", NULL, 10));
        else
            jw_str(w, b.s ? b.s : "");
    }
    jw_end_obj(w);
    buf_free(&b);
}

enum status get_options(const cJSON *o, struct options *out, struct diags *ds)
{
    *out = options_default();
    const cJSON *v;
    cJSON_ArrayForEach(v, o)
    {
        int i = knob_find(str_of(v->string));
        char number[32];
        if (i < 0)
            continue; /* a knob of a newer minor version */
        snprintf(number, sizeof number, "%.0f", cJSON_IsNumber(v) ? v->valuedouble : 0.0);
        const char *text = cJSON_IsString(v) ? v->valuestring
                           : cJSON_IsBool(v) ? (cJSON_IsTrue(v) ? "on" : "off")
                                             : number;
        if (!*text && knob_info((size_t)i)->kind == KNOB_KIND_TEXT)
            continue;
        enum status s = knob_set(out, (size_t)i, str_of(text), ds);
        if (s != ST_OK)
            return ST_INPUT;
    }
    return ST_OK;
}

/* ---- devices ---- */
void put_device_members(struct jw *w, const struct dev_info *d)
{
    members_write(w, record_members("device"), d);
}

void put_device(struct jw *w, const struct dev_info *d)
{
    jw_obj(w);
    put_device_members(w, d);
    jw_end_obj(w);
}

enum status get_device(const cJSON *o, struct dev_info *out, struct diags *ds)
{
    memset(out, 0, sizeof *out);
    return members_read(o, record_members("device"), out, "device", ds);
}

/* ---- results ---- */
void put_interval(struct jw *w, const char *key, struct interval i)
{
    jw_key(w, key);
    if (!(i.low > 0)) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_put_int(w, "percent", INTERVAL_PERCENT);
    jw_put_num(w, "low", i.low);
    jw_put_num(w, "high", i.high);
    jw_end_obj(w);
}

static struct interval get_interval(const cJSON *o)
{
    const cJSON *low = json_get(o, "low"), *high = json_get(o, "high");
    return cJSON_IsNumber(low) && cJSON_IsNumber(high) && low->valuedouble > 0 &&
                   high->valuedouble >= low->valuedouble
               ? (struct interval){ low->valuedouble, high->valuedouble }
               : (struct interval){ 0, 0 };
}

static void put_timing(struct jw *w, const struct timing *t)
{
    jw_key(w, "time_ns");
    if (!t->valid) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    members_write(w, record_members("time"), t);
    if (t->batch > 1) {
        jw_put_int(w, "launches_per_sample", t->batch);
    }
    put_interval(w, "interval", timing_likely(t));
    jw_put_arr(w, "samples");
    for (uint32_t i = 0; i < t->n; i++)
        jw_int(w, t->sample[i]);
    jw_end_arr(w);
    jw_end_obj(w);
}

static void put_counters(struct jw *w, const struct result *r)
{
    jw_put_arr(w, "counters");
    for (int i = 0; i < COUNTER_COUNT; i++) {
        const struct counter *c = &r->counters[i];
        if (i < COUNTER_WRITTEN && counter_left_out((enum counter_id)i, r->counters))
            continue;
        jw_obj(w);
        jw_put_str(w, "name", counter_name((enum counter_id)i));
        jw_key(w, "value");
        if (c->valid)
            jw_num(w, c->value);
        else
            jw_null(w);
        jw_put_str(w, "unit", counter_unit((enum counter_id)i));
        jw_put_str(w, "origin", origin_name(c->origin));
        jw_put_bool(w, "valid", c->valid);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_outputs(struct jw *w, const struct result *r)
{
    jw_put_arr(w, "outputs");
    for (uint32_t i = 0; i < r->noutputs; i++) {
        if (!r->part.all_ctas) {
            put_record(w, NULL, "output", &r->outputs[i]);
            continue;
        }
        jw_obj(w);
        jw_put_str(w, "name", r->outputs[i].name);
        jw_put_str(w, "hash", NULL);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

/* Each on one line: a session holds hundreds of results. */
static void put_loads(struct jw *w, const struct result *r)
{
    jw_put_arr(w, "loads");
    for (uint32_t i = 0; i < r->nloads; i++) {
        int pretty = w->pretty;
        jw_obj(w);
        w->pretty = 0;
        members_write(w, record_members("load"), &r->loads[i]);
        jw_end_obj(w);
        w->pretty = pretty;
    }
    jw_end_arr(w);
}

static void put_energy(struct jw *w, const struct result *r)
{
    jw_put_obj(w, "energy");
    members_write(w, record_members("energy"), &r->energy);
    jw_put_str(w, "evidence", r->energy.launches ? evidence_name(EVIDENCE_MEASURED) : NULL);
    jw_key(w, "modelled_nj");
    jw_num(w, energy_modelled(r));
    jw_end_obj(w);
}

void put_result(struct jw *w, const struct result *r)
{
    jw_key(w, "pi");
    if (opt_bypass(&r->options)->pi.mode == PI_VALUE)
        jw_int(w, opt_bypass(&r->options)->pi.value);
    else
        jw_str(w, opt_bypass(&r->options)->pi.mode == PI_CHA       ? "cha"
                  : opt_bypass(&r->options)->pi.mode == PI_BPA     ? "bpa"
                  : opt_bypass(&r->options)->pi.mode == PI_VOTE    ? "vote"
                  : opt_bypass(&r->options)->pi.mode == PI_VOTE_SM ? "vote-sm"
                                                                   : "vote-cta");
    jw_key(w, "options");
    put_options(w, &r->options);
    put_timing(w, &r->time);
    jw_put_str(w, "evidence", r->time.valid ? evidence_name(evidence_of(r)) : NULL);
    put_counters(w, r);
    json_limits(w, r);
    if (energy_asked(&r->energy))
        put_energy(w, r);
    put_outputs(w, r);
    if (r->part.all_ctas)
        put_record(w, "compared", "outputs-compared", &r->part);
    if (r->nloads)
        put_loads(w, r);
    if (r->guessed)
        launch_guessed_put(w, r->guessed);
    if (r->captured != EQUAL_UNKNOWN) {
        jw_put_bool(w, "equal_to_captured", r->captured != EQUAL_NO);
    }
    jw_key(w, "equal_to_original");
    if (equality_known(r->equal))
        jw_bool(w, r->equal != EQUAL_NO);
    else
        jw_null(w);
    members_write(w, record_members("result"), r);
}

void put_result_as(struct jw *w, const char *key, const struct result *r)
{
    jw_put_obj(w, key);
    put_result(w, r);
    jw_end_obj(w);
}

static enum status get_timing(const cJSON *o, struct timing *t, struct diags *ds)
{
    const cJSON *s;
    if (!cJSON_IsObject(o))
        return ST_OK;
    enum status st = members_read(o, record_members("time"), t, "time_ns", ds);
    int64_t batch = 0;
    if (json_get(o, "launches_per_sample") && json_i64(json_get(o, "launches_per_sample"), &batch) &&
        batch > 1 && batch <= UINT32_MAX)
        t->batch = (uint32_t)batch;
    cJSON_ArrayForEach(s, json_get(o, "samples")) if (t->n < TIMING_MAX_SAMPLES &&
                                                      json_i64(s, &t->sample[t->n])) t->n++;
    struct interval likely = get_interval(json_get(o, "interval"));
    t->likely_low = (float)likely.low;
    t->likely_high = (float)likely.high;
    t->valid = true;
    return st;
}

static void get_counter(const cJSON *o, struct result *r)
{
    const char *name = json_text(o, "name");
    const cJSON *v = json_get(o, "value");
    for (int i = 0; name && i < COUNTER_COUNT; i++) {
        if (strcmp(counter_name((enum counter_id)i), name) != 0)
            continue;
        members_read(o, record_members("counter"), &r->counters[i], "counter", NULL);
        r->counters[i].valid = cJSON_IsNumber(v);
        r->counters[i].value = cJSON_IsNumber(v) ? v->valuedouble : 0;
    }
}

static enum status get_loads(const cJSON *list, struct result *out, struct diags *ds)
{
    const cJSON *o;
    enum status st = ST_OK;
    cJSON_ArrayForEach(o, list)
    {
        struct load_counts c = { 0 };
        st = st == ST_OK ? members_read(o, record_members("load"), &c, "load", ds) : st;
        if (st == ST_OK && c.line && c.l1_hits <= c.sectors)
            result_add_load(out, c);
    }
    return st;
}

enum status get_result(const cJSON *o, struct result *out, struct diags *ds)
{
    const cJSON *c;
    *out = result_empty();
    if (!cJSON_IsObject(o)) {
        diag_error(ds, "session", "a result is missing or not an object");
        return ST_INPUT;
    }
    enum status s = get_options(json_get(o, "options"), &out->options, ds);
    if (s == ST_OK)
        s = get_timing(json_get(o, "time_ns"), &out->time, ds);
    cJSON_ArrayForEach(c, json_get(o, "counters")) get_counter(c, out);
    /* what was left out is 0 (counter_left_out), but for what is null */
    for (int i = COUNTER_COPY_REQUESTS;
         out->counters[COUNTER_L2_WRITE_SECTORS].valid && i < COUNTER_WRITTEN; i++)
        out->counters[i] = (struct counter){ 0, ORIGIN_SIMULATED, i != COUNTER_COPY_L2_HIT_RATE };
    cJSON_ArrayForEach(c, json_get(o, "counters")) get_counter(c, out);
    cJSON_ArrayForEach(c, json_get(o, "outputs")) if (out->noutputs < RESULT_MAX_OUTPUTS &&
                                                      json_text(c, "name") && json_text(c, "hash"))
        members_read(c, record_members("output"), &out->outputs[out->noutputs++], "output", ds);
    if (s == ST_OK && json_get(o, "compared"))
        s = members_read(json_get(o, "compared"), record_members("outputs-compared"), &out->part,
                         "compared", ds);
    if (s == ST_OK && json_get(o, "energy"))
        s = members_read(json_get(o, "energy"), record_members("energy"), &out->energy, "energy", ds);
    get_limits(o, &out->limits);
    out->guessed = launch_guessed_get(json_get(o, "guessed"));
    if (s == ST_OK)
        s = get_loads(json_get(o, "loads"), out, ds);
    return s == ST_OK ? members_read(o, record_members("result"), out, "result", ds) : s;
}

void put_line_as(struct jw *w, const char *key, const struct options *o)
{
    struct buf line = { 0 };
    if (o)
        options_line(o, &line);
    jw_put_str(w, key, !o ? NULL : line.s ? line.s : "");
    buf_free_checked(&line, w->out);
}

/* ---- data sets of a search ---- */
static void put_all_launches(struct jw *w, const struct tune_all_launches *a)
{
    if (!a->valid) {
        jw_put_null(w, "all_launches");
        return;
    }
    jw_put_obj(w, "all_launches");
    members_write(w, doc_members("all-launches"), a);
    jw_put_num(w, "gain", gain_between(a->original_ns, a->best_ns));
    jw_end_obj(w);
}

void put_data_sets(struct jw *w, const struct tune_found *f)
{
    jw_put_arr(w, "data_sets");
    for (unsigned i = 0; i < f->nsets; i++) {
        struct tune_data_set s = f->set[i];
        bool ran = s.gain > 0, known = ran && s.evidence != EVIDENCE_MODELLED;
        if (!ran)
            s.gain = (double)NAN; /* null */
        jw_obj(w);
        members_write(w, doc_members("data-set"), &s);
        jw_put_str(w, "evidence", known ? evidence_name(s.evidence) : NULL);
        put_line_as(w, "best_options_line", ran ? &f->set_best[i] : NULL);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    put_all_launches(w, &f->all);
}

static enum evidence evidence_named(const char *name)
{
    for (int e = EVIDENCE_MODELLED; name && e <= EVIDENCE_MEASURED; e++)
        if (!strcmp(evidence_name((enum evidence)e), name))
            return (enum evidence)e;
    return EVIDENCE_MODELLED;
}

enum status get_data_sets(const cJSON *run, struct tune_found *f, struct diags *ds)
{
    const cJSON *o, *list = json_get(run, "data_sets"), *all = json_get(run, "all_launches");
    enum status st = ST_OK;
    f->nsets = 0;
    f->all.valid = cJSON_IsObject(all);
    if (f->all.valid)
        st = members_read(all, doc_members("all-launches"), &f->all, "all launches", ds);
    cJSON_ArrayForEach(o, list) if (st == ST_OK && f->nsets < TUNE_SETS)
    {
        struct options *best = options_put(f->set_best, f->nsets, options_none());
        struct tune_data_set *s = &f->set[f->nsets++];
        st = members_read(o, doc_members("data-set"), s, "data set", ds);
        s->evidence = evidence_named(json_text(o, "evidence"));
        if (st == ST_OK && json_text(o, "best_options_line"))
            st = options_parse_line(best, str_of(json_text(o, "best_options_line")), ds);
    }
    return st;
}
