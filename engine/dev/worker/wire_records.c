/* Records of the worker protocol. Readers are total: a payload that ends early, lacks a field or claims too
 * much is bad, and yields zeroes. */
#include "engine/dev/dev.h"
#include "engine/dev/worker/wire.h"
#include "engine/ptx/text_marks.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/device.h"
#include "engine/rec/launch.h"
#include "engine/rec/record.h"
#include "engine/rec/result.h"

#include <string.h>

#define LONGEST_NS (INT64_C(1) << 60) /* of one launch: 36 years */

/* ---- members of structs ---- */
static void put_record(struct buf *b, const char *name, struct members m, const void *record)
{
    size_t of = wire_open(b, name);
    wire_put_members(b, m, record);
    wire_close(b, of);
}

static void get_record(struct wire_in *w, const char *name, struct members m, void *record)
{
    struct wire_in of = wire_get_record(w, name);
    wire_get_members(&of, m, record);
}

static void put_member(struct buf *b, const struct member *m, const void *record)
{
    const void *p = (const char *)record + m->offset;
    switch (m->kind) {
    case MEMBER_INT: wire_uint(b, m->key, (uint64_t)(int64_t) * (const int *)p); break;
    case MEMBER_U8: wire_uint(b, m->key, *(const uint8_t *)p); break;
    case MEMBER_U32: wire_uint(b, m->key, *(const uint32_t *)p); break;
    case MEMBER_U64:
    case MEMBER_HEX: wire_uint(b, m->key, *(const uint64_t *)p); break;
    case MEMBER_I64: wire_uint(b, m->key, (uint64_t) * (const int64_t *)p); break;
    case MEMBER_NUM: wire_num(b, m->key, *(const double *)p); break;
    case MEMBER_FLOAT: wire_num(b, m->key, (double)*(const float *)p); break;
    case MEMBER_BOOL: wire_uint(b, m->key, *(const bool *)p); break;
    case MEMBER_TEXT: wire_text(b, m->key, p); break;
    case MEMBER_STRING: wire_text(b, m->key, *(char *const *)p); break;
    case MEMBER_NAMED: wire_text(b, m->key, member_name(m, record)); break;
    case MEMBER_RECORD: put_record(b, m->key, record_members(m->record), p); break;
    case MEMBER_OPENS: break;
    }
}

void wire_put_members(struct buf *b, struct members m, const void *record)
{
    for (size_t i = 0; i < m.n; i++)
        put_member(b, &m.v[i], record);
}

/* A whole number up to `most`. */
static uint64_t get_up_to(struct wire_in *w, const char *name, uint64_t most)
{
    uint64_t v = wire_get_uint(w, name);
    if (v > most)
        wire_fail(w);
    return v > most ? 0 : v;
}

static int get_int(struct wire_in *w, const char *name)
{
    int64_t v = (int64_t)wire_get_uint(w, name);
    if (v < INT32_MIN || v > INT32_MAX)
        wire_fail(w);
    return v < INT32_MIN || v > INT32_MAX ? 0 : (int)v;
}

static void get_member(struct wire_in *w, const struct member *m, void *record)
{
    void *p = (char *)record + m->offset;
    switch (m->kind) {
    case MEMBER_INT: *(int *)p = get_int(w, m->key); break;
    case MEMBER_U8: *(uint8_t *)p = (uint8_t)get_up_to(w, m->key, UINT8_MAX); break;
    case MEMBER_U32: *(uint32_t *)p = (uint32_t)get_up_to(w, m->key, UINT32_MAX); break;
    case MEMBER_U64:
    case MEMBER_HEX: *(uint64_t *)p = wire_get_uint(w, m->key); break;
    case MEMBER_I64: *(int64_t *)p = (int64_t)wire_get_uint(w, m->key); break;
    case MEMBER_NUM: *(double *)p = wire_get_num(w, m->key); break;
    case MEMBER_FLOAT: *(float *)p = (float)wire_get_num(w, m->key); break;
    case MEMBER_BOOL: *(bool *)p = get_up_to(w, m->key, 1); break;
    case MEMBER_TEXT: wire_get_chars(w, m->key, p, m->size); break;
    case MEMBER_STRING: *(char **)p = wire_get_text(w, m->key); break;
    case MEMBER_NAMED:
        if (!member_set_name(m, record, wire_get_bytes(w, m->key)))
            wire_fail(w);
        break;
    case MEMBER_RECORD: get_record(w, m->key, record_members(m->record), p); break;
    case MEMBER_OPENS: break;
    }
}

void wire_get_members(struct wire_in *w, struct members m, void *record)
{
    for (size_t i = 0; i < m.n; i++)
        get_member(w, &m.v[i], record);
}

/* n records of `size` bytes. */
static void put_list(struct buf *b, const char *name, struct members m, const void *v, size_t n,
                     size_t size)
{
    size_t list = wire_open(b, name);
    for (size_t i = 0; i < n; i++)
        put_record(b, WIRE_ITEM, m, (const char *)v + i * size);
    wire_close(b, list);
}

/* Room for the elements of a list and one more; NULL: none, and the payload is bad. */
static void *room(struct wire_in *list, size_t size)
{
    void *v = base_alloc((wire_left(list) + 1) * size);
    if (!v)
        wire_fail(list);
    return v;
}

#define ROW(bind, name)  \
    {                    \
        name, bind, true \
    }
/* scope: static, or nothing */
#define ROWS(scope, rows, ...)                               \
    static const struct member rows##_v[] = { __VA_ARGS__ }; \
    scope const struct members rows = { rows##_v, ARRAY_LEN(rows##_v) }

/* ---- diagnostics ---- */
MEMBER_NAMES(level_name, "note", "warning", "error")
ROWS(static, diag_rows, ROW(NAME(diag, level, level_name), "level"), ROW(BIND(diag, at.off), "offset"),
     ROW(BIND(diag, at.len), "length"), ROW(BIND(diag, at.line), "line"),
     ROW(BIND(diag, at.col), "column"), ROW(BIND(diag, other_line), "other_line"),
     ROW(BIND(diag, code), "code"), ROW(BIND(diag, file), "file"), ROW(BIND(diag, msg), "message"),
     ROW(BIND(diag, hint), "hint"), ROW(BIND(diag, source), "source"));

void wire_put_diags(struct buf *b, const struct diags *ds)
{
    put_list(b, "diagnostics", diag_rows, ds->v, ds->n, sizeof *ds->v);
}

static void keep_diag(struct diags *ds, struct diag *got)
{
    struct diag *d =
        diag_add(ds, got->level, got->code, got->file, got->at, "%s", got->msg ? got->msg : "");
    if (d && got->hint)
        diag_hint(d, "%s", got->hint);
    if (!d)
        return;
    d->other_line = got->other_line;
    base_free(d->source);
    d->source = got->source;
    got->source = NULL;
}

void wire_get_diags(struct wire_in *w, struct diags *ds)
{
    struct wire_in list = wire_get_record(w, "diagnostics"), item;
    while (wire_next(&list, &item)) {
        struct diag got = { .level = DIAG_NOTE };
        wire_get_members(&item, diag_rows, &got);
        if (!item.bad)
            keep_diag(ds, &got);
        BASE_FREE(got.code, got.file, got.msg, got.hint, got.source);
    }
}

/* ---- devices ---- */
void wire_put_info(struct buf *b, const struct dev_info *d)
{
    put_record(b, "device", record_members("device"), d);
}

void wire_get_info(struct wire_in *w, struct dev_info *d)
{
    *d = (struct dev_info){ .kind = DEV_SIMULATED };
    get_record(w, "device", record_members("device"), d);
}

ROWS(, wire_resources, ROW(BIND(dev_resources, regs), "registers"),
     ROW(BIND(dev_resources, shared_static), "shared_static"),
     ROW(BIND(dev_resources, local_bytes), "local_bytes"),
     ROW(BIND(dev_resources, max_threads), "max_threads"),
     ROW(BIND(dev_resources, estimated), "estimated"), ROW(BIND(dev_resources, spilled), "spilled"),
     ROW(BIND(dev_resources, regs_from), "registers_from"));

ROWS(, wire_compiled, ROW(BIND(sim_compiled, regs), "compiled_registers"),
     ROW(BIND(sim_compiled, spill_stores), "compiled_spill_stores"),
     ROW(BIND(sim_compiled, spill_loads), "compiled_spill_loads"),
     ROW(BIND(sim_compiled, stack), "compiled_stack"), ROW(BIND(sim_compiled, by), "compiled_by"));

ROWS(static, counters_rows, ROW(BIND(dev_counters, chip), "chip"),
     ROW(BIND(dev_counters, passes), "passes"), ROW(BIND(dev_counters, why), "why"),
     ROW(BIND(dev_counters, limits), "limits"), ROW(BIND(dev_counters, limits_from), "limits_from"));

void wire_put_counters(struct buf *b, const struct dev_counters *c)
{
    wire_put_members(b, counters_rows, c);
    size_t of = wire_open(b, "counters");
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        size_t one = wire_open(b, counter_name((enum counter_id)i));
        wire_uint(b, "valid", c->of[i].valid);
        wire_text(b, "from", c->of[i].from);
        wire_close(b, one);
    }
    wire_close(b, of);
}

/* A counter that the other end does not know is one that it has not. */
void wire_get_counters(struct wire_in *w, struct dev_counters *c)
{
    *c = (struct dev_counters){ .passes = 0 };
    wire_get_members(w, counters_rows, c);
    struct wire_in of = wire_get_record(w, "counters");
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        if (!wire_has(&of, counter_name((enum counter_id)i)))
            continue;
        struct wire_in one = wire_get_record(&of, counter_name((enum counter_id)i));
        c->of[i].valid = get_up_to(&one, "valid", 1);
        wire_get_chars(&one, "from", c->of[i].from, sizeof c->of[i].from);
    }
}

/* ---- presets ---- */
void wire_put_preset(struct buf *b, const struct sim_preset *p)
{
    size_t record = wire_open(b, "preset");
    wire_text(b, "name", p->name);
    wire_text(b, "title", p->title);
    size_t fields = wire_open(b, "fields");
    for (size_t i = 0; i < sim_preset_field_count(); i++) {
        const struct sim_preset_field *f = sim_preset_field(i);
        uint64_t bits; /* of an int64_t or a double */
        memcpy(&bits, (const char *)p + f->offset, sizeof bits);
        wire_uint(b, f->name, bits);
    }
    wire_close(b, fields);
    wire_close(b, record);
}

void wire_get_preset(struct wire_in *w, struct sim_preset *p)
{
    bool given[SIM_PRESET_FIELDS] = { false };
    struct wire_in record = wire_get_record(w, "preset");
    *p = sim_preset_default();
    wire_get_chars(&record, "name", p->name, sizeof p->name);
    wire_get_chars(&record, "title", p->title, sizeof p->title);
    struct wire_in fields = wire_get_record(&record, "fields");
    for (size_t i = 0; i < sim_preset_field_count(); i++) {
        const struct sim_preset_field *f = sim_preset_field(i);
        if (!wire_has(&fields, f->name))
            continue;
        uint64_t bits = wire_get_uint(&fields, f->name);
        memcpy((char *)p + f->offset, &bits, sizeof bits);
        given[i] = true;
    }
    sim_preset_fill(p, given);
}

/* ---- results ---- */
static void put_limits(struct buf *b, const struct limits *l)
{
    size_t record = wire_open(b, "limits"), inner;
    wire_uint(b, "valid", l->valid);
    if (l->valid) {
        inner = wire_open(b, "shares");
        for (unsigned c = 0; c < LIMIT_COUNT; c++)
            wire_num(b, limit_name((enum limit_cause)c), (double)l->share[c]);
        wire_close(b, inner);
        put_list(b, "places", record_members("limit-place"), l->place, LIMIT_POOL, sizeof *l->place);
        inner = wire_open(b, "files");
        for (unsigned i = 0; i < LIMIT_FILES; i++)
            wire_text(b, WIRE_ITEM, l->files[i]);
        wire_close(b, inner);
        put_record(b, "filled", record_members("filled"), &l->facts);
    }
    wire_close(b, record);
}

static void check_share(struct wire_in *w, float *share)
{
    if (*share >= 0 && *share <= 1.001f)
        return;
    wire_fail(w);
    *share = 0;
}

static void get_places(struct wire_in *w, struct limits *l)
{
    struct wire_in list = wire_get_record(w, "places"), item;
    for (unsigned k = 0; k < LIMIT_POOL && wire_next(&list, &item); k++) {
        struct limit_place *p = &l->place[k];
        wire_get_members(&item, record_members("limit-place"), p);
        check_share(&item, &p->share);
        if (p->file > LIMIT_FILES)
            wire_fail(&item);
        if (item.bad)
            *p = (struct limit_place){ 0 };
    }
    struct wire_in files = wire_get_record(w, "files");
    for (unsigned i = 0; i < LIMIT_FILES && wire_next(&files, &item); i++) {
        size_t n = item.n < sizeof l->files[i] ? item.n : sizeof l->files[i] - 1;
        memcpy(l->files[i], item.p, n);
    }
}

static void get_limits(struct wire_in *w, struct limits *l)
{
    struct wire_in record = wire_get_record(w, "limits");
    *l = (struct limits){ .valid = get_up_to(&record, "valid", 1) };
    if (!l->valid)
        return;
    struct wire_in shares = wire_get_record(&record, "shares");
    for (unsigned c = 0; c < LIMIT_COUNT; c++) {
        const char *name = limit_name((enum limit_cause)c);
        l->share[c] = wire_has(&shares, name) ? (float)wire_get_num(&shares, name) : 0;
        check_share(&shares, &l->share[c]);
    }
    get_places(&record, l);
    get_record(&record, "filled", record_members("filled"), &l->facts);
}

static void put_timing(struct buf *b, const struct timing *t)
{
    size_t record = wire_open(b, "time_ns"), samples;
    wire_put_members(b, record_members("time"), t);
    samples = wire_open(b, "samples");
    for (uint32_t i = 0; i < t->n; i++)
        wire_uint(b, WIRE_ITEM, (uint64_t)t->sample[i]);
    wire_close(b, samples);
    wire_close(b, record);
}

static void get_timing(struct wire_in *w, struct timing *t)
{
    struct wire_in record = wire_get_record(w, "time_ns"), item;
    wire_get_members(&record, record_members("time"), t);
    struct wire_in samples = wire_get_record(&record, "samples");
    for (t->n = 0; t->n < TIMING_MAX_SAMPLES && wire_next(&samples, &item); t->n++) {
        int64_t ns = -1;
        if (item.n == sizeof ns)
            memcpy(&ns, item.p, sizeof ns);
        if (ns < 0 || ns > LONGEST_NS)
            wire_fail(&item);
        t->sample[t->n] = item.bad ? 0 : ns;
    }
    if (samples.at < samples.n)
        wire_fail(&samples); /* too many */
    if (t->n)
        timing_finish(t);
}

void wire_put_result(struct buf *b, const struct result *r)
{
    size_t record = wire_open(b, "result"), counters;
    wire_put_members(b, record_members("result"), r);
    put_timing(b, &r->time);
    counters = wire_open(b, "counters");
    for (int i = 0; i < COUNTER_COUNT; i++)
        put_record(b, counter_name((enum counter_id)i), record_members("counter"), &r->counters[i]);
    wire_close(b, counters);
    put_list(b, "outputs", record_members("output"), r->outputs, r->noutputs, sizeof *r->outputs);
    put_list(b, "loads", record_members("load"), r->loads, r->nloads, sizeof *r->loads);
    put_limits(b, &r->limits);
    put_record(b, "energy", record_members("energy"), &r->energy);
    wire_close(b, record);
}

/* Those that the other end does not know stay n/a. */
static void get_result_counters(struct wire_in *w, struct result *r)
{
    struct wire_in counters = wire_get_record(w, "counters");
    for (int i = 0; i < COUNTER_COUNT; i++) {
        const char *name = counter_name((enum counter_id)i);
        if (wire_has(&counters, name))
            get_record(&counters, name, record_members("counter"), &r->counters[i]);
    }
}

static void get_outputs(struct wire_in *w, struct result *r)
{
    struct wire_in list = wire_get_record(w, "outputs"), item;
    r->noutputs = 0;
    while (wire_next(&list, &item)) {
        if (r->noutputs == RESULT_MAX_OUTPUTS) {
            wire_fail(&item);
            return;
        }
        wire_get_members(&item, record_members("output"), &r->outputs[r->noutputs++]);
    }
}

static void get_loads(struct wire_in *w, struct result *r)
{
    struct wire_in list = wire_get_record(w, "loads"), item;
    for (uint32_t i = 0; wire_next(&list, &item); i++) {
        struct load_counts c = { 0 };
        wire_get_members(&item, record_members("load"), &c);
        if (i >= RESULT_MAX_LOADS)
            wire_fail(&item);
        if (!item.bad)
            result_add_load(r, c);
    }
}

void wire_get_result(struct wire_in *w, struct result *r)
{
    struct wire_in record = wire_get_record(w, "result");
    enum equality equal = r->equal;
    int voted = r->voted;
    wire_get_members(&record, record_members("result"), r);
    r->equal = equal;
    r->voted = voted;
    get_timing(&record, &r->time);
    get_result_counters(&record, r);
    get_outputs(&record, r);
    get_loads(&record, r);
    get_limits(&record, &r->limits);
    get_record(&record, "energy", record_members("energy"), &r->energy);
}

/* ---- launches ---- */
static void put_arg(struct buf *b, const struct arg_spec *a)
{
    size_t item = wire_open(b, WIRE_ITEM);
    wire_put_members(b, record_members("arg"), a);
    wire_bytes(b, "scalar", a->scalar, sizeof a->scalar);
    wire_bytes(b, "bytes", a->bytes, a->bytes ? a->nbytes : 0);
    wire_close(b, item);
}

static void get_arg(struct wire_in *w, struct arg_spec *a)
{
    wire_get_members(w, record_members("arg"), a);
    struct str scalar = wire_get_bytes(w, "scalar"), bytes = wire_get_bytes(w, "bytes");
    if (scalar.n == sizeof a->scalar)
        memcpy(a->scalar, scalar.s, scalar.n);
    a->bytes = bytes.n ? base_alloc(bytes.n) : NULL;
    a->nbytes = a->bytes ? bytes.n : 0;
    if (a->bytes)
        memcpy(a->bytes, bytes.s, bytes.n);
}

static void put_one_launch(struct buf *b, const char *name, const struct launch_spec *l)
{
    size_t record = wire_open(b, name), list;
    wire_put_members(b, record_members("launch"), l);
    list = wire_open(b, "args");
    for (size_t i = 0; i < l->nargs; i++)
        put_arg(b, &l->args[i]);
    wire_close(b, list);
    list = wire_open(b, "symbols");
    for (size_t i = 0; i < l->nsymbols; i++) {
        size_t item = wire_open(b, WIRE_ITEM);
        wire_text(b, "name", l->symbols[i].name);
        wire_close(b, item);
    }
    wire_close(b, list);
    wire_close(b, record);
}

static void get_one_launch(struct wire_in *w, struct launch_spec *l)
{
    struct wire_in item;
    wire_get_members(w, record_members("launch"), l);
    struct wire_in args = wire_get_record(w, "args"), symbols = wire_get_record(w, "symbols");
    l->args = room(&args, sizeof *l->args);
    while (l->args && wire_next(&args, &item))
        get_arg(&item, &l->args[l->nargs++]);
    l->symbols = room(&symbols, sizeof *l->symbols);
    while (l->symbols && wire_next(&symbols, &item))
        l->symbols[l->nsymbols++].name = wire_get_text(&item, "name");
}

void wire_put_launch(struct buf *b, const struct launch_spec *l)
{
    put_one_launch(b, "launch", l);
    size_t before = wire_open(b, "before");
    for (size_t i = 0; i < l->nbefore; i++)
        put_one_launch(b, WIRE_ITEM, &l->before[i]);
    wire_close(b, before);
}

void wire_get_launch(struct wire_in *w, struct launch_spec *l)
{
    *l = (struct launch_spec){ 0 };
    struct wire_in own = wire_get_record(w, "launch"), before, item;
    get_one_launch(&own, l);
    before = wire_get_record(w, "before");
    l->before = room(&before, sizeof *l->before);
    while (l->before && wire_next(&before, &item))
        get_one_launch(&item, &l->before[l->nbefore++]);
}

/* ---- what instructions mean ---- */
MEMBER_NAMES(mark_name, "none", "claim", "look", "look-spare")
ROWS(static, mark_rows, ROW(NAME(text_mark, kind, mark_name), "kind"),
     ROW(BIND(text_mark, func), "function"), ROW(BIND(text_mark, inst), "instruction"));

void wire_put_marks(struct buf *b, const struct text_marks *m)
{
    put_list(b, "marks", mark_rows, m->v, m->n, sizeof *m->v);
}

void wire_get_marks(struct wire_in *w, struct text_marks *m)
{
    struct wire_in list = wire_get_record(w, "marks"), item;
    *m = (struct text_marks){ 0 };
    while (wire_next(&list, &item)) {
        struct text_mark one = { .kind = MARK_NONE };
        wire_get_members(&item, mark_rows, &one);
        if (item.bad || one.kind == MARK_NONE || !text_marks_add(m, one))
            wire_fail(&item);
    }
}

/* ---- runs ---- */
static void put_values(struct buf *b, const char *name, const struct dev_symbol_value *v, size_t n)
{
    size_t list = wire_open(b, name);
    for (size_t i = 0; i < n; i++) {
        size_t item = wire_open(b, WIRE_ITEM);
        wire_text(b, "symbol", v[i].symbol);
        wire_uint(b, "offset", v[i].offset);
        wire_uint(b, "size", v[i].n);
        wire_bytes(b, "bytes", v[i].bytes, v[i].bytes ? v[i].n : 0);
        wire_close(b, item);
    }
    wire_close(b, list);
}

static struct dev_symbol_value *get_values(struct wire_in *w, const char *name, size_t *count)
{
    struct wire_in list = wire_get_record(w, name), item;
    struct dev_symbol_value *v = room(&list, sizeof *v);
    for (*count = 0; v && wire_next(&list, &item); ++*count) {
        struct dev_symbol_value *one = &v[*count];
        one->symbol = wire_get_text(&item, "symbol");
        one->offset = wire_get_uint(&item, "offset");
        one->n = wire_get_uint(&item, "size");
        struct str bytes = wire_get_bytes(&item, "bytes");
        char *copy = bytes.n && bytes.n == one->n ? base_alloc(bytes.n) : NULL;
        if (copy)
            memcpy(copy, bytes.s, bytes.n);
        one->bytes = copy;
    }
    return v;
}

MEMBER_NAMES(dispatch_name, "normal", "random", "adversarial")
ROWS(static, run_rows, ROW(HOLD(dev_run, grid, "dim"), "grid"),
     ROW(HOLD(dev_run, block, "dim"), "block"), ROW(BIND(dev_run, shared), "shared"),
     ROW(BIND(dev_run, carveout), "carveout"), ROW(BIND(dev_run, hw_pi), "hw_pi"),
     ROW(BIND(dev_run, persist_fraction), "persist_fraction"), ROW(BIND(dev_run, repeat), "repeat"),
     ROW(BIND(dev_run, max_repeat), "max_repeat"), ROW(BIND(dev_run, spread), "spread"),
     ROW(BIND(dev_run, counters), "counters"), ROW(BIND(dev_run, exact), "exact"),
     ROW(BIND(dev_run, functional), "functional"), ROW(BIND(dev_run, flush_l2), "flush_l2"),
     ROW(BIND(dev_run, energy), "energy"), ROW(BIND(dev_run, time_limit_s), "time_limit_s"),
     ROW(BIND(dev_run, check_uninit), "check_uninit"), ROW(BIND(dev_run, check_races), "check_races"),
     ROW(NAME(dev_run, dispatch, dispatch_name), "dispatch"), ROW(BIND(dev_run, seed), "seed"));

void wire_put_run(struct buf *b, const struct dev_run *r)
{
    size_t record = wire_open(b, "run");
    wire_put_launch(b, r->launch);
    put_values(b, "set", r->set, r->nset);
    put_values(b, "zero", r->zero, r->nzero);
    wire_bytes(b, "persist", r->persist.s, r->persist.n);
    wire_put_members(b, run_rows, r);
    wire_close(b, record);
}

void wire_get_run(struct wire_in *w, struct dev_run *r)
{
    struct wire_in record = wire_get_record(w, "run");
    *r = dev_run_default();
    struct launch_spec *l = base_alloc(sizeof *l);
    if (l)
        wire_get_launch(&record, l);
    else
        wire_fail(&record);
    r->launch = l;
    r->set = get_values(&record, "set", &r->nset);
    r->zero = get_values(&record, "zero", &r->nzero);
    r->persist = wire_get_bytes(&record, "persist"); /* borrowed: the request outlives the launch */
    wire_get_members(&record, run_rows, r);
}

static void free_values(const struct dev_symbol_value *v, size_t n)
{
    for (size_t i = 0; v && i < n; i++) {
        BASE_FREE((void *)(uintptr_t)v[i].symbol, (void *)(uintptr_t)v[i].bytes);
    }
    base_free((void *)(uintptr_t)v);
}

void wire_run_free(struct dev_run *r)
{
    struct launch_spec *l = (struct launch_spec *)(uintptr_t)r->launch;
    if (l)
        launch_spec_free(l);
    base_free(l);
    free_values(r->set, r->nset);
    free_values(r->zero, r->nzero);
    *r = (struct dev_run){ 0 };
}
