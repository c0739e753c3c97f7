/* Records as JSON: options, devices, results. One field table each, for both directions. */
#include "engine/base/base.h"
#include "engine/rec/counters.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/interval.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/result.h"
#include "engine/search/tuner.h"
#include "engine/session/limits_doc.h"
#include "engine/session/session_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

static const char *const dev_kinds[] = { "simulated", "cuda", NULL };
static const char *const origins[] = { "modelled", "simulated", "measured", "derived", NULL };
#define X(name, code, text) #name,
static const char *const statuses[] = { STATUS_LIST(X) NULL };
#undef X
static const char *const equalities[] = { "unknown", "yes", "within-tolerance", "no", NULL };

static const struct field device_fields[] = {
    FIELD_E(dev_info, "kind", kind, dev_kinds),
    FIELD(dev_info, FIELD_TEXT, "spec", spec),
    FIELD(dev_info, FIELD_TEXT, "name", name),
    FIELD(dev_info, FIELD_INT, "cc_major", cc_major),
    FIELD(dev_info, FIELD_INT, "cc_minor", cc_minor),
    FIELD(dev_info, FIELD_U32, "sms", sms),
    FIELD(dev_info, FIELD_U32, "warp_size", warp_size),
    FIELD(dev_info, FIELD_U32, "max_warps_per_sm", max_warps_per_sm),
    FIELD(dev_info, FIELD_U32, "max_ctas_per_sm", max_ctas_per_sm),
    FIELD(dev_info, FIELD_U32, "max_threads_per_block", max_threads_per_block),
    FIELD(dev_info, FIELD_U32, "regs_per_sm", regs_per_sm),
    FIELD(dev_info, FIELD_U32, "shared_per_sm_bytes", shared_per_sm),
    FIELD(dev_info, FIELD_U32, "shared_per_block_optin_bytes", shared_per_block_optin),
    FIELD(dev_info, FIELD_U64, "l1_bytes", l1_bytes),
    FIELD(dev_info, FIELD_U64, "l2_bytes", l2_bytes),
    FIELD(dev_info, FIELD_U64, "mem_bytes", mem_bytes),
    FIELD(dev_info, FIELD_U32, "clock_khz", clock_khz),
    FIELD(dev_info, FIELD_NUM, "latency_l1_cycles", lat_l1),
    FIELD(dev_info, FIELD_NUM, "latency_l2_cycles", lat_l2),
    FIELD(dev_info, FIELD_NUM, "latency_dram_cycles", lat_dram),
    FIELD(dev_info, FIELD_NUM, "bandwidth_l2_bytes_per_s", bw_l2),
    FIELD(dev_info, FIELD_NUM, "bandwidth_dram_bytes_per_s", bw_dram),
    FIELD(dev_info, FIELD_NUM, "issue_per_cycle", issue_per_cycle),
    FIELD(dev_info, FIELD_NUM, "latency_alu_cycles", lat_alu),
    FIELD(dev_info, FIELD_U64, "l2_persist_bytes", l2_persist_bytes),
    FIELD(dev_info, FIELD_NUM, "l2_shared_requests_per_cycle", l2_shared_rate),
    FIELD(dev_info, FIELD_NUM, "l2_partial_write_sectors", l2_partial_write),
};
static const struct field timing_fields[] = {
    FIELD(timing, FIELD_I64, "median", median),
    FIELD(timing, FIELD_I64, "min", min),
    FIELD(timing, FIELD_I64, "max", max),
    FIELD_E(timing, "origin", origin, origins),
    FIELD(timing, FIELD_BOOL, "throttled", throttled),
};
static const struct field result_fields[] = {
    FIELD_E(result, "status", status, statuses),
    FIELD(result, FIELD_TEXT, "message", message),
    FIELD_E(result, "equality", equal, equalities),
    FIELD(result, FIELD_U32, "regs", regs),
    FIELD(result, FIELD_U32, "shared_static_bytes", shared_static),
    FIELD(result, FIELD_U32, "local_bytes", local_bytes),
    FIELD(result, FIELD_U32, "ctas_per_sm", ctas_per_sm),
    FIELD(result, FIELD_BOOL, "sampled", sampled),
    FIELD(result, FIELD_INT, "voted", voted),
};

/* ---- options: knob name -> value ---- */
void put_uint(struct jw *w, const char *key, uint64_t v)
{
    jw_key(w, key);
    jw_uint(w, v);
}

void put_dim(struct jw *w, const char *key, struct dim3u d)
{
    int pretty = w->pretty;
    jw_key(w, key);
    w->pretty = 0; /* on one line */
    jw_arr(w);
    jw_uint(w, d.x);
    jw_uint(w, d.y);
    jw_uint(w, d.z);
    jw_end_arr(w);
    w->pretty = pretty;
}

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
    fields_write(w, device_fields, ARRAY_LEN(device_fields), d);
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
    return fields_read(o, device_fields, ARRAY_LEN(device_fields), out, "device", ds);
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
    jw_key(w, "percent");
    jw_int(w, INTERVAL_PERCENT);
    jw_key(w, "low");
    jw_num(w, i.low);
    jw_key(w, "high");
    jw_num(w, i.high);
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
    fields_write(w, timing_fields, ARRAY_LEN(timing_fields), t);
    if (t->batch > 1) {
        jw_key(w, "launches_per_sample");
        jw_int(w, t->batch);
    }
    put_interval(w, "interval", timing_likely(t));
    jw_key(w, "samples");
    jw_arr(w);
    for (uint32_t i = 0; i < t->n; i++)
        jw_int(w, t->sample[i]);
    jw_end_arr(w);
    jw_end_obj(w);
}

static void put_counters(struct jw *w, const struct result *r)
{
    jw_key(w, "counters");
    jw_arr(w);
    for (int i = 0; i < COUNTER_COUNT; i++) {
        const struct counter *c = &r->counters[i];
        if (i < COUNTER_WRITTEN && counter_left_out((enum counter_id)i, r->counters))
            continue;
        jw_obj(w);
        jw_key(w, "name");
        jw_str(w, counter_name((enum counter_id)i));
        jw_key(w, "value");
        if (c->valid)
            jw_num(w, c->value);
        else
            jw_null(w);
        jw_key(w, "unit");
        jw_str(w, counter_unit((enum counter_id)i));
        jw_key(w, "origin");
        jw_str(w, origin_name(c->origin));
        jw_key(w, "valid");
        jw_bool(w, c->valid);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_outputs(struct jw *w, const struct result *r)
{
    jw_key(w, "outputs");
    jw_arr(w);
    for (uint32_t i = 0; i < r->noutputs; i++) {
        char hex[24];
        snprintf(hex, sizeof hex, "%016llx", (unsigned long long)r->outputs[i].hash);
        jw_obj(w);
        jw_key(w, "name");
        jw_str(w, r->outputs[i].name);
        jw_key(w, "hash");
        jw_str(w, hex);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static const struct field load_fields[] = {
    FIELD(load_counts, FIELD_U32, "line", line),
    FIELD(load_counts, FIELD_U64, "requests", requests),
    FIELD(load_counts, FIELD_U64, "sectors", sectors),
    FIELD(load_counts, FIELD_U64, "l1_hit_sectors", l1_hits),
};

/* Each on one line: a session holds hundreds of results. */
static void put_loads(struct jw *w, const struct result *r)
{
    jw_key(w, "loads");
    jw_arr(w);
    for (uint32_t i = 0; i < r->nloads; i++) {
        int pretty = w->pretty;
        jw_obj(w);
        w->pretty = 0;
        fields_write(w, load_fields, ARRAY_LEN(load_fields), &r->loads[i]);
        jw_end_obj(w);
        w->pretty = pretty;
    }
    jw_end_arr(w);
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
    put_counters(w, r);
    json_limits(w, r);
    put_outputs(w, r);
    if (r->nloads)
        put_loads(w, r);
    if (r->captured != EQUAL_UNKNOWN) {
        jw_key(w, "equal_to_captured");
        jw_bool(w, r->captured != EQUAL_NO);
    }
    jw_key(w, "equal_to_original");
    if (r->equal == EQUAL_UNKNOWN)
        jw_null(w);
    else
        jw_bool(w, r->equal != EQUAL_NO);
    fields_write(w, result_fields, ARRAY_LEN(result_fields), r);
}

static enum status get_timing(const cJSON *o, struct timing *t, struct diags *ds)
{
    const cJSON *s;
    if (!cJSON_IsObject(o))
        return ST_OK;
    enum status st = fields_read(o, timing_fields, ARRAY_LEN(timing_fields), t, "time_ns", ds);
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
    const char *name = json_text(o, "name"), *origin = json_text(o, "origin");
    const cJSON *v = json_get(o, "value");
    for (int i = 0; name && i < COUNTER_COUNT; i++) {
        if (strcmp(counter_name((enum counter_id)i), name) != 0)
            continue;
        r->counters[i].valid = cJSON_IsNumber(v);
        r->counters[i].value = cJSON_IsNumber(v) ? v->valuedouble : 0;
        for (int k = 0; origin && origins[k]; k++)
            if (strcmp(origins[k], origin) == 0)
                r->counters[i].origin = (enum origin)k;
    }
}

static enum status get_loads(const cJSON *list, struct result *out, struct diags *ds)
{
    const cJSON *o;
    enum status st = ST_OK;
    cJSON_ArrayForEach(o, list)
    {
        struct load_counts c = { 0 };
        st = st == ST_OK ? fields_read(o, load_fields, ARRAY_LEN(load_fields), &c, "load", ds) : st;
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
    {
        struct output_hash *h = &out->outputs[out->noutputs++];
        unsigned long long hash = 0;
        snprintf(h->name, sizeof h->name, "%s", json_text(c, "name"));
        sscanf(json_text(c, "hash"), "%llx", &hash);
        h->hash = hash;
    }
    get_limits(o, &out->limits);
    if (s == ST_OK)
        s = get_loads(json_get(o, "loads"), out, ds);
    return s == ST_OK ? fields_read(o, result_fields, ARRAY_LEN(result_fields), out, "result", ds) : s;
}

/* ---- data sets of a search ---- */
static const struct field set_fields[] = {
    FIELD(tune_data_set, FIELD_TEXT, "name", name),
    FIELD(tune_data_set, FIELD_NUM, "gain", gain),
    FIELD(tune_data_set, FIELD_BOOL, "holds", holds),
    FIELD(tune_data_set, FIELD_TEXT, "note", message),
};

void put_data_sets(struct jw *w, const struct tune_found *f)
{
    jw_key(w, "data_sets");
    jw_arr(w);
    for (unsigned i = 0; i < f->nsets; i++) {
        struct tune_data_set s = f->set[i];
        if (!(s.gain > 0))
            s.gain = (double)NAN; /* null: it did not run */
        jw_obj(w);
        fields_write(w, set_fields, ARRAY_LEN(set_fields), &s);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

enum status get_data_sets(const cJSON *list, struct tune_found *f, struct diags *ds)
{
    const cJSON *o;
    enum status st = ST_OK;
    f->nsets = 0;
    cJSON_ArrayForEach(o, list) if (st == ST_OK && f->nsets < TUNE_SETS) st =
        fields_read(o, set_fields, ARRAY_LEN(set_fields), &f->set[f->nsets++], "data set", ds);
    return st;
}

void put_num(struct jw *w, const char *key, double v)
{
    jw_key(w, key);
    jw_num(w, v);
}
