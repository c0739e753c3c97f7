/* Records of the worker protocol, field by field. Readers are total: a payload
 * that ends early or claims too much sets `bad` and yields zeroes. */
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/dev/worker/wire.h"
#include "engine/ptx/text_marks.h"
#include "engine/rec/counters.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

#include <string.h>

#define LONGEST_NS (INT64_C(1) << 60) /* of one launch: 36 years */

/* Counts read from the wire are bounded by the bytes that are left. */
static uint32_t get_count(struct wire_in *w)
{
    uint32_t n = wire_get_u32(w);
    if (n > w->n)
        w->bad = true;
    return w->bad ? 0 : n;
}

void wire_put_diags(struct buf *b, const struct diags *ds)
{
    wire_u32(b, (uint32_t)ds->n);
    for (size_t i = 0; i < ds->n; i++) {
        const struct diag *d = &ds->v[i];
        wire_u32(b, (uint32_t)d->level);
        wire_u32(b, d->at.off);
        wire_u32(b, d->at.len);
        wire_u32(b, d->at.line);
        wire_u32(b, d->at.col);
        wire_u32(b, d->other_line);
        wire_text(b, d->code);
        wire_text(b, d->file);
        wire_text(b, d->msg);
        wire_text(b, d->hint);
        wire_text(b, d->source);
    }
}

void wire_get_diags(struct wire_in *w, struct diags *ds)
{
    uint32_t n = get_count(w);
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        uint32_t level = wire_get_u32(w);
        struct span at;
        at.off = wire_get_u32(w);
        at.len = wire_get_u32(w);
        at.line = wire_get_u32(w);
        at.col = wire_get_u32(w);
        uint32_t other_line = wire_get_u32(w);
        char *code = wire_get_text(w), *file = wire_get_text(w), *msg = wire_get_text(w);
        char *hint = wire_get_text(w), *source = wire_get_text(w);
        struct diag *d = w->bad || level > DIAG_ERROR ? NULL
                                                      : diag_add(ds, (enum diag_level)level, code, file,
                                                                 at, "%s", msg ? msg : "");
        if (d && hint)
            diag_hint(d, "%s", hint);
        if (d) {
            d->other_line = other_line;
            base_free(d->source);
            d->source = source;
            source = NULL;
        }
        base_free(code);
        base_free(file);
        base_free(msg);
        base_free(hint);
        base_free(source);
    }
}

#define INFO_U32(X)           \
    X(sms)                    \
    X(warp_size)              \
    X(max_warps_per_sm)       \
    X(max_ctas_per_sm)        \
    X(max_threads_per_block)  \
    X(regs_per_sm)            \
    X(shared_per_sm)          \
    X(shared_per_block_optin) \
    X(clock_khz)
#define INFO_U64(X) \
    X(l1_bytes)     \
    X(l2_bytes)     \
    X(mem_bytes)    \
    X(l2_persist_bytes)
#define INFO_F64(X)    \
    X(lat_l1)          \
    X(lat_l2)          \
    X(lat_dram)        \
    X(bw_l2)           \
    X(bw_dram)         \
    X(issue_per_cycle) \
    X(lat_alu)         \
    X(l2_shared_rate)  \
    X(l2_partial_write)

void wire_put_info(struct buf *b, const struct dev_info *i)
{
    wire_u32(b, (uint32_t)i->kind);
    wire_text(b, i->spec);
    wire_text(b, i->name);
    wire_u32(b, (uint32_t)i->cc_major);
    wire_u32(b, (uint32_t)i->cc_minor);
#define X(f) wire_u32(b, i->f);
    INFO_U32(X)
#undef X
#define X(f) wire_u64(b, i->f);
    INFO_U64(X)
#undef X
#define X(f) wire_f64(b, i->f);
    INFO_F64(X)
#undef X
#define X(f) wire_f64(b, i->sm.f);
    DEV_SM(X)
#undef X
#define X(f) wire_f64(b, i->spread.f);
    DEV_SPREAD(X)
#undef X
}

void wire_put_counters(struct buf *b, const struct dev_counters *c)
{
    wire_text(b, c->chip);
    wire_u32(b, c->passes);
    wire_text(b, c->why);
    wire_u32(b, COUNTER_COUNT);
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        wire_u32(b, c->of[i].valid);
        wire_text(b, c->of[i].from);
    }
}

void wire_get_counters(struct wire_in *w, struct dev_counters *c)
{
    wire_get_chars(w, c->chip, sizeof c->chip);
    c->passes = wire_get_u32(w);
    wire_get_chars(w, c->why, sizeof c->why);
    w->bad |= wire_get_u32(w) != COUNTER_COUNT;
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        c->of[i].valid = wire_get_u32(w);
        wire_get_chars(w, c->of[i].from, sizeof c->of[i].from);
    }
}

void wire_get_info(struct wire_in *w, struct dev_info *i)
{
    *i = (struct dev_info){ .kind = wire_get_u32(w) == DEV_CUDA ? DEV_CUDA : DEV_SIMULATED };
    wire_get_chars(w, i->spec, sizeof i->spec);
    wire_get_chars(w, i->name, sizeof i->name);
    i->cc_major = (int)wire_get_u32(w);
    i->cc_minor = (int)wire_get_u32(w);
#define X(f) i->f = wire_get_u32(w);
    INFO_U32(X)
#undef X
#define X(f) i->f = wire_get_u64(w);
    INFO_U64(X)
#undef X
#define X(f) i->f = wire_get_f64(w);
    INFO_F64(X)
#undef X
#define X(f) i->sm.f = wire_get_f64(w);
    DEV_SM(X)
#undef X
#define X(f) i->spread.f = (float)wire_get_f64(w);
    DEV_SPREAD(X)
#undef X
}

/* By name, so that two versions of the program understand each other's presets. */
void wire_put_preset(struct buf *b, const struct sim_preset *p)
{
    wire_text(b, p->name);
    wire_text(b, p->title);
    wire_u32(b, (uint32_t)sim_preset_field_count());
    for (size_t i = 0; i < sim_preset_field_count(); i++) {
        const struct sim_preset_field *f = sim_preset_field(i);
        int64_t whole = 0;
        double real = 0;
        if (f->integer)
            memcpy(&whole, (const char *)p + f->offset, sizeof whole);
        else
            memcpy(&real, (const char *)p + f->offset, sizeof real);
        wire_text(b, f->name);
        wire_u64(b, (uint64_t)whole);
        wire_f64(b, real);
    }
}

static void set_field(struct sim_preset *p, const char *name, int64_t whole, double real, bool *given)
{
    for (size_t i = 0; name && i < sim_preset_field_count(); i++) {
        const struct sim_preset_field *f = sim_preset_field(i);
        if (strcmp(f->name, name))
            continue;
        if (f->integer)
            memcpy((char *)p + f->offset, &whole, sizeof whole);
        else
            memcpy((char *)p + f->offset, &real, sizeof real);
        given[i] = true;
    }
}

void wire_get_preset(struct wire_in *w, struct sim_preset *p)
{
    bool given[SIM_PRESET_FIELDS] = { false };
    *p = sim_preset_default();
    wire_get_chars(w, p->name, sizeof p->name);
    wire_get_chars(w, p->title, sizeof p->title);
    uint32_t n = get_count(w);
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        char *name = wire_get_text(w);
        int64_t whole = (int64_t)wire_get_u64(w);
        double real = wire_get_f64(w);
        set_field(p, name, whole, real, given);
        base_free(name);
    }
    sim_preset_fill(p, given);
}

static void put_facts(struct buf *b, const struct limit_facts *f)
{
    wire_f64(b, f->ctas);
    wire_f64(b, (double)f->sms);
    wire_f64(b, (double)f->used);
    wire_f64(b, (double)f->warps_most);
    wire_f64(b, (double)f->warps_room);
    wire_f64(b, (double)f->warps_held);
    wire_u32(b, f->cta_threads);
    wire_u32(b, f->held_by);
}

static void get_facts(struct wire_in *w, struct limit_facts *f)
{
    f->ctas = wire_get_f64(w);
    f->sms = (float)wire_get_f64(w);
    f->used = (float)wire_get_f64(w);
    f->warps_most = (float)wire_get_f64(w);
    f->warps_room = (float)wire_get_f64(w);
    f->warps_held = (float)wire_get_f64(w);
    f->cta_threads = wire_get_u32(w);
    f->held_by = wire_get_u32(w);
    w->bad |= f->held_by >= DEV_LIMITS;
    f->held_by = w->bad ? 0 : f->held_by;
}

static void put_limits(struct buf *b, const struct limits *l)
{
    wire_u32(b, l->valid);
    if (!l->valid)
        return;
    for (unsigned c = 0; c < LIMIT_COUNT; c++)
        wire_f64(b, (double)l->share[c]);
    for (unsigned k = 0; k < LIMIT_POOL; k++) {
        wire_u32(b, l->place[k].line);
        wire_u32(b, l->place[k].ptx);
        wire_u32(b, l->place[k].file);
        wire_u32(b, l->place[k].cause);
        wire_f64(b, (double)l->place[k].share);
    }
    for (unsigned i = 0; i < LIMIT_FILES; i++)
        wire_text(b, l->files[i]);
    put_facts(b, &l->facts);
}

static float get_share(struct wire_in *w)
{
    double v = wire_get_f64(w);
    w->bad |= !(v >= 0 && v <= 1.001);
    return w->bad ? 0 : (float)v;
}

static struct limit_place get_place(struct wire_in *w)
{
    struct limit_place p = { .line = wire_get_u32(w) };
    p.ptx = wire_get_u32(w);
    uint32_t file = wire_get_u32(w), cause = wire_get_u32(w);
    p.share = get_share(w);
    w->bad |= file > LIMIT_FILES || cause >= LIMIT_COUNT;
    p.file = (uint8_t)file;
    p.cause = (uint8_t)cause;
    return w->bad ? (struct limit_place){ 0 } : p;
}

static void get_limits(struct wire_in *w, struct limits *l)
{
    *l = (struct limits){ .valid = wire_get_u32(w) };
    if (!l->valid)
        return;
    for (unsigned c = 0; c < LIMIT_COUNT; c++)
        l->share[c] = get_share(w);
    for (unsigned k = 0; k < LIMIT_POOL; k++)
        l->place[k] = get_place(w);
    for (unsigned i = 0; i < LIMIT_FILES; i++)
        wire_get_chars(w, l->files[i], sizeof l->files[i]);
    get_facts(w, &l->facts);
}

void wire_put_result(struct buf *b, const struct result *r)
{
    wire_u32(b, (uint32_t)r->status);
    wire_text(b, r->message);
    wire_u32(b, r->time.n);
    for (uint32_t i = 0; i < r->time.n; i++)
        wire_u64(b, (uint64_t)r->time.sample[i]);
    wire_u32(b, (uint32_t)r->time.origin);
    wire_u32(b, r->time.valid);
    wire_u32(b, r->time.throttled);
    wire_u32(b, r->time.batch);
    for (int i = 0; i < COUNTER_COUNT; i++) {
        wire_f64(b, r->counters[i].value);
        wire_u32(b, (uint32_t)r->counters[i].origin);
        wire_u32(b, r->counters[i].valid);
    }
    wire_u32(b, r->noutputs);
    for (uint32_t i = 0; i < r->noutputs; i++) {
        wire_text(b, r->outputs[i].name);
        wire_u64(b, r->outputs[i].hash);
        wire_u64(b, r->outputs[i].other);
        wire_u64(b, r->outputs[i].differ);
        wire_u64(b, r->outputs[i].first);
    }
    wire_u32(b, r->regs);
    wire_u32(b, r->shared_static);
    wire_u32(b, r->local_bytes);
    wire_u32(b, r->ctas_per_sm);
    wire_u32(b, r->sampled);
    wire_u32(b, r->nloads);
    for (uint32_t i = 0; i < r->nloads; i++) {
        wire_u32(b, r->loads[i].line);
        wire_u64(b, r->loads[i].requests);
        wire_u64(b, r->loads[i].sectors);
        wire_u64(b, r->loads[i].l1_hits);
    }
    put_limits(b, &r->limits);
}

static void get_loads(struct wire_in *w, struct result *r)
{
    uint32_t n = wire_get_u32(w);
    w->bad = w->bad || n > RESULT_MAX_LOADS;
    for (uint32_t i = 0; !w->bad && i < n; i++) {
        struct load_counts c = { .line = wire_get_u32(w) };
        c.requests = wire_get_u64(w);
        c.sectors = wire_get_u64(w);
        c.l1_hits = wire_get_u64(w);
        result_add_load(r, c);
    }
}

static enum origin get_origin(struct wire_in *w)
{
    uint32_t v = wire_get_u32(w);
    return v <= ORIGIN_DERIVED ? (enum origin)v : ORIGIN_MODELLED;
}

static void get_timing(struct wire_in *w, struct timing *t)
{
    t->n = wire_get_u32(w);
    if (t->n > TIMING_MAX_SAMPLES) {
        w->bad = true;
        t->n = 0;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        t->sample[i] = (int64_t)wire_get_u64(w);
        if (t->sample[i] < 0 || t->sample[i] > LONGEST_NS) {
            w->bad = true;
            t->sample[i] = 0;
        }
    }
    t->origin = get_origin(w);
    t->valid = wire_get_u32(w);
    t->throttled = wire_get_u32(w);
    t->batch = wire_get_u32(w);
    if (t->n)
        timing_finish(t);
}

void wire_get_result(struct wire_in *w, struct result *r)
{
    uint32_t status = wire_get_u32(w);
    r->status = status <= ST_IO ? (enum status)status : ST_DEVICE;
    wire_get_chars(w, r->message, sizeof r->message);
    get_timing(w, &r->time);
    for (int i = 0; i < COUNTER_COUNT; i++) {
        r->counters[i].value = wire_get_f64(w);
        r->counters[i].origin = get_origin(w);
        r->counters[i].valid = wire_get_u32(w);
    }
    r->noutputs = wire_get_u32(w);
    if (r->noutputs > RESULT_MAX_OUTPUTS) {
        w->bad = true;
        r->noutputs = 0;
    }
    for (uint32_t i = 0; i < r->noutputs; i++) {
        wire_get_chars(w, r->outputs[i].name, sizeof r->outputs[i].name);
        r->outputs[i].hash = wire_get_u64(w);
        r->outputs[i].other = wire_get_u64(w);
        r->outputs[i].differ = wire_get_u64(w);
        r->outputs[i].first = wire_get_u64(w);
    }
    r->regs = wire_get_u32(w);
    r->shared_static = wire_get_u32(w);
    r->local_bytes = wire_get_u32(w);
    r->ctas_per_sm = wire_get_u32(w);
    r->sampled = wire_get_u32(w);
    get_loads(w, r);
    get_limits(w, &r->limits);
}

/* ---- launches ---- */
static void put_dim(struct buf *b, struct dim3u d)
{
    wire_u32(b, d.x);
    wire_u32(b, d.y);
    wire_u32(b, d.z);
}

static struct dim3u get_dim(struct wire_in *w)
{
    struct dim3u d;
    d.x = wire_get_u32(w);
    d.y = wire_get_u32(w);
    d.z = wire_get_u32(w);
    return d;
}

/* What data are made by at the other end too; not what a file or digits say. */
static void put_init(struct buf *b, const struct init_spec *in)
{
    wire_u32(b, (uint32_t)in->kind);
    wire_f64(b, in->a);
    wire_f64(b, in->b);
    wire_u64(b, (uint64_t)in->ia);
    wire_u64(b, (uint64_t)in->ib);
    wire_u32(b, in->integral);
    wire_u64(b, in->seed);
    wire_u64(b, in->rows);
    wire_u64(b, in->nnz);
}

static void get_init(struct wire_in *w, struct init_spec *in)
{
    uint32_t kind = wire_get_u32(w);
    in->kind = kind <= INIT_HEX ? (enum init_kind)kind : INIT_HEX;
    in->a = wire_get_f64(w);
    in->b = wire_get_f64(w);
    in->ia = (int64_t)wire_get_u64(w);
    in->ib = (int64_t)wire_get_u64(w);
    in->integral = wire_get_u32(w);
    in->seed = wire_get_u64(w);
    in->rows = wire_get_u64(w);
    in->nnz = wire_get_u64(w);
}

/* Workers of any version know these; the values stay bytes, and no rule makes others there. */
static enum elem known_elem(enum elem e)
{
    return e <= ELEM_F64 ? e : elem_size(e) == 1 ? ELEM_U8 : elem_size(e) == 2 ? ELEM_U16 : ELEM_F32;
}

static void put_arg(struct buf *b, const struct arg_spec *a)
{
    wire_u32(b, (uint32_t)a->kind);
    wire_text(b, a->name);
    wire_u32(b, (uint32_t)known_elem(a->elem));
    wire_u64(b, a->count);
    put_init(b, &a->init);
    wire_u32(b, a->output);
    wire_f64(b, a->tolerance);
    wire_blob(b, a->scalar, sizeof a->scalar);
    wire_blob(b, a->bytes, a->bytes ? a->nbytes : 0);
    wire_text(b, a->same_as);
    wire_u64(b, a->offset);
    wire_text(b, a->inside);
    wire_u64(b, a->at);
    wire_u64(b, a->address);
}

static void get_arg(struct wire_in *w, struct arg_spec *a)
{
    uint32_t kind = wire_get_u32(w);
    a->kind = kind <= ARG_TEXTURE ? (enum arg_kind)kind : ARG_BYTES;
    a->name = wire_get_text(w);
    uint32_t elem = wire_get_u32(w);
    a->elem = elem < ELEM_COUNT ? (enum elem)elem : ELEM_U8;
    a->count = wire_get_u64(w);
    get_init(w, &a->init);
    a->output = wire_get_u32(w);
    a->tolerance = wire_get_f64(w);
    struct str scalar = wire_get_blob(w), bytes = wire_get_blob(w);
    if (scalar.n == sizeof a->scalar)
        memcpy(a->scalar, scalar.s, scalar.n);
    a->bytes = bytes.n ? base_alloc(bytes.n) : NULL;
    a->nbytes = a->bytes ? bytes.n : 0;
    if (a->bytes)
        memcpy(a->bytes, bytes.s, bytes.n);
    a->same_as = wire_get_text(w);
    a->offset = wire_get_u64(w);
    a->inside = wire_get_text(w);
    a->at = wire_get_u64(w);
    a->address = wire_get_u64(w);
}

static void put_one_launch(struct buf *b, const struct launch_spec *l)
{
    wire_text(b, l->kernel);
    put_dim(b, l->grid);
    put_dim(b, l->block);
    put_dim(b, l->cluster);
    wire_u32(b, l->shared);
    wire_u32(b, (uint32_t)l->nargs);
    for (size_t i = 0; i < l->nargs; i++)
        put_arg(b, &l->args[i]);
    wire_u32(b, (uint32_t)l->nsymbols);
    for (size_t i = 0; i < l->nsymbols; i++)
        wire_text(b, l->symbols[i].name);
}

static void get_one_launch(struct wire_in *w, struct launch_spec *l)
{
    l->kernel = wire_get_text(w);
    l->grid = get_dim(w);
    l->block = get_dim(w);
    l->cluster = get_dim(w);
    l->shared = wire_get_u32(w);
    uint32_t n = get_count(w);
    l->args = base_alloc((n + 1) * sizeof *l->args);
    for (uint32_t i = 0; l->args && i < n && !w->bad; i++, l->nargs++)
        get_arg(w, &l->args[i]);
    n = get_count(w);
    l->symbols = base_alloc((n + 1) * sizeof *l->symbols);
    for (uint32_t i = 0; l->symbols && i < n && !w->bad; i++, l->nsymbols++)
        l->symbols[i].name = wire_get_text(w);
    w->bad |= !l->args || !l->symbols;
}

void wire_put_marks(struct buf *b, const struct text_marks *m)
{
    wire_u64(b, m->n);
    for (size_t i = 0; i < m->n; i++) {
        wire_u32(b, m->v[i].kind);
        wire_u32(b, m->v[i].func);
        wire_u32(b, m->v[i].inst);
    }
}

void wire_get_marks(struct wire_in *w, struct text_marks *m)
{
    *m = (struct text_marks){ 0 };
    for (uint64_t n = wire_get_u64(w); n && !w->bad; n--) {
        uint32_t kind = wire_get_u32(w), func = wire_get_u32(w), inst = wire_get_u32(w);
        w->bad = w->bad || kind <= MARK_NONE || kind >= MARK_KINDS ||
                 !text_marks_add(m, (struct text_mark){ (enum mark_kind)kind, func, inst });
    }
}

void wire_put_launch(struct buf *b, const struct launch_spec *l)
{
    put_one_launch(b, l);
    wire_u32(b, (uint32_t)l->nbefore);
    for (size_t i = 0; i < l->nbefore; i++)
        put_one_launch(b, &l->before[i]);
}

void wire_get_launch(struct wire_in *w, struct launch_spec *l)
{
    *l = (struct launch_spec){ 0 };
    get_one_launch(w, l);
    uint32_t n = get_count(w);
    l->before = base_alloc((n + 1) * sizeof *l->before);
    w->bad |= !l->before;
    for (uint32_t i = 0; l->before && i < n && !w->bad; i++, l->nbefore++)
        get_one_launch(w, &l->before[i]);
}

static void put_values(struct buf *b, const struct dev_symbol_value *v, size_t n)
{
    wire_u32(b, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        wire_text(b, v[i].symbol);
        wire_u64(b, v[i].offset);
        wire_u64(b, v[i].n);
        wire_blob(b, v[i].bytes, v[i].bytes ? v[i].n : 0);
    }
}

static struct dev_symbol_value *get_values(struct wire_in *w, size_t *count)
{
    uint32_t n = get_count(w);
    struct dev_symbol_value *v = base_alloc((n + 1) * sizeof *v);
    *count = 0;
    w->bad |= !v;
    for (uint32_t i = 0; v && i < n && !w->bad; i++, ++*count) {
        v[i].symbol = wire_get_text(w);
        v[i].offset = wire_get_u64(w);
        v[i].n = wire_get_u64(w);
        struct str bytes = wire_get_blob(w);
        char *copy = bytes.n && bytes.n == v[i].n ? base_alloc(bytes.n) : NULL;
        if (copy)
            memcpy(copy, bytes.s, bytes.n);
        v[i].bytes = copy;
    }
    return v;
}

void wire_put_run(struct buf *b, const struct dev_run *r)
{
    wire_put_launch(b, r->launch);
    put_dim(b, r->grid);
    put_dim(b, r->block);
    wire_u32(b, r->shared);
    put_values(b, r->set, r->nset);
    put_values(b, r->zero, r->nzero);
    wire_u32(b, (uint32_t)r->carveout);
    wire_u32(b, (uint32_t)r->hw_pi);
    wire_blob(b, r->persist.s, r->persist.n);
    wire_f64(b, r->persist_fraction);
    wire_u32(b, r->repeat);
    wire_u32(b, r->max_repeat);
    wire_f64(b, r->spread);
    wire_u32(b, r->counters);
    wire_u32(b, r->exact);
    wire_u32(b, r->functional);
    wire_u32(b, r->flush_l2);
    wire_f64(b, r->time_limit_s);
    wire_u32(b, r->check_uninit);
    wire_u32(b, r->check_races);
    wire_u32(b, (uint32_t)r->dispatch);
    wire_u64(b, r->seed);
}

void wire_get_run(struct wire_in *w, struct dev_run *r)
{
    *r = dev_run_default();
    struct launch_spec *l = base_alloc(sizeof *l);
    w->bad |= !l;
    if (l)
        wire_get_launch(w, l);
    r->launch = l;
    r->grid = get_dim(w);
    r->block = get_dim(w);
    r->shared = wire_get_u32(w);
    r->set = get_values(w, &r->nset);
    r->zero = get_values(w, &r->nzero);
    r->carveout = (int)wire_get_u32(w);
    r->hw_pi = (int)wire_get_u32(w);
    r->persist = wire_get_blob(w); /* borrowed: the request outlives the launch */
    r->persist_fraction = wire_get_f64(w);
    r->repeat = wire_get_u32(w);
    r->max_repeat = wire_get_u32(w);
    r->spread = wire_get_f64(w);
    r->counters = wire_get_u32(w);
    r->exact = wire_get_u32(w);
    r->functional = wire_get_u32(w);
    r->flush_l2 = wire_get_u32(w);
    r->time_limit_s = wire_get_f64(w);
    r->check_uninit = wire_get_u32(w);
    r->check_races = wire_get_u32(w);
    uint32_t dispatch = wire_get_u32(w);
    r->dispatch = dispatch <= DISPATCH_ADVERSARIAL ? (enum sim_dispatch)dispatch : DISPATCH_NORMAL;
    r->seed = wire_get_u64(w);
}

static void free_values(const struct dev_symbol_value *v, size_t n)
{
    for (size_t i = 0; v && i < n; i++) {
        base_free((void *)(uintptr_t)v[i].symbol);
        base_free((void *)(uintptr_t)v[i].bytes);
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
