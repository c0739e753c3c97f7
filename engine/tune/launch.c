/* launch: one configuration as a launch: its text, the code made of it (a shape, kept for the next
 * configuration with the same text), the launch itself. Nothing here judges what comes back. */
#include "engine/analysis/analysis.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/flow/asks.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/text_marks.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/result.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <string.h>

#define KNOB_BYTES sizeof(uint32_t)
/* of text; what is made of it takes about ten times as much */
#define SHAPE_BYTES_MOST (1u << 20)

struct pass_input tune_input(const struct tune_subject *t, const struct options *o)
{
    return (struct pass_input){ .module = t->module,
                                .kernel = str_of(launch_kernel(t->launch)),
                                .options = o,
                                .dev = dev_describe(t->dev),
                                .launch = t->launch,
                                .facts = t->facts,
                                .regs = t->facts ? t->facts->regs : 0 };
}

bool tune_legal(const struct tune_subject *t, const struct options *o)
{
    struct pass_input in = tune_input(t, o);
    struct diags ds = { 0 };
    bool ok = pass_legal(&in, &ds) == ST_OK;
    diags_free(&ds);
    return ok;
}

struct dev_cta tune_cta(const struct tune_subject *t, const struct options *o)
{
    const struct launch_spec *l = t->launch;
    const struct ptx_func *f = ptx_find_func(t->module, str_of(launch_kernel(l)));
    return (struct dev_cta){ .threads = dim3u_count(launch_block(l)),
                             .regs = t->facts ? t->facts->regs : 0,
                             .shared = (f ? ptx_shared_of(t->module, f).bytes : 0) + launch_shared(l),
                             .cluster = launch_cluster(l).x ? dim3u_count(launch_cluster(l))
                                        : f                 ? ptx_cluster_of(f)
                                                            : 1,
                             .carveout = opt_occupancy(o)->carveout };
}

uint32_t tune_warps(const struct tune_subject *s)
{
    return (uint32_t)((dim3u_count(launch_block(s->launch)) + 31) / 32);
}

bool tune_usable(const struct result *r)
{
    return r->status == ST_OK && r->time.valid && r->equal != EQUAL_NO && !r->probe_ctas;
}

/* ---- shapes ---- */
void tune_shape_free(struct tune_bench *b, struct tune_shape *s)
{
    if (s->loaded)
        dev_unload(b->subject.dev, s->loaded);
    pass_output_free(&s->code);
    base_free(s);
}

/* A long search has as many texts as it tried configurations: the oldest of them go. Not the first, the
 * original. */
static void shapes_bound(struct tune_bench *b)
{
    while (b->shape_bytes > SHAPE_BYTES_MOST && b->nshapes > 2) {
        b->shape_bytes -= b->shape[1]->code.n;
        tune_shape_free(b, b->shape[1]);
        memmove(b->shape + 1, b->shape + 2, (--b->nshapes - 1) * sizeof *b->shape);
    }
}

static struct tune_shape *shape_find(struct tune_bench *b, const struct pass_output *code)
{
    for (size_t i = 0; i < b->nshapes; i++) {
        const struct pass_output *c = &b->shape[i]->code;
        if (c->n == code->n && memcmp(c->text, code->text, c->n) == 0 &&
            text_marks_equal(&c->marks, &code->marks))
            return b->shape[i];
    }
    return NULL;
}

/* What a device says of the rewritten text is told of the user's own line; an inserted line names its
 * pass. */
static void map_lines(const struct pass_output *code, const struct tune_bench *b, struct diags *ds)
{
    for (size_t i = 0; i < ds->n; i++) {
        struct diag *d = &ds->v[i];
        if (!d->at.line || d->at.line > code->nlines)
            continue;
        struct ptx_line_origin o = code->lines[d->at.line - 1];
        uint32_t line = d->at.line;
        while (line > 1 && !code->lines[line - 1].line)
            line--;
        if (o.tag)
            diag_hint(d, "line %u of the rewritten text, written by pass '%s'", d->at.line, o.tag);
        d->at = (struct span){ 0, 0, code->lines[line - 1].line, d->at.col };
        base_free(d->source);
        d->source = NULL;
        struct str text = d->at.line ? ptx_line_text(b->subject.module, d->at.line) : STR("");
        d->source = text.n ? base_alloc(text.n + 1) : NULL;
        if (d->source)
            memcpy(d->source, text.s, text.n);
    }
}

/* Loads are counted by lines of what ran; a load that a pass copied counts with the one it was copied
 * from. */
/* The line of the original text that a line of the rewritten one comes from, or stands behind; 0: none. */
static uint32_t original_line(const struct pass_output *code, uint32_t line)
{
    while (line > 1 && line <= code->nlines && !code->lines[line - 1].line)
        line--;
    return line && line <= code->nlines ? code->lines[line - 1].line : 0;
}

void tune_map_loads(const struct pass_output *code, struct result *r)
{
    struct load_counts ran[RESULT_MAX_LOADS];
    uint32_t n = r->nloads;
    if (!code->changed)
        return;
    memcpy(ran, r->loads, sizeof ran);
    r->nloads = 0;
    for (uint32_t i = 0; i < n; i++) {
        ran[i].line = original_line(code, ran[i].line);
        if (ran[i].line)
            result_add_load(r, ran[i]);
    }
    for (unsigned k = 0; k < LIMIT_POOL; k++) {
        struct limit_place *p = &r->limits.place[k];
        p->ptx = original_line(code, p->ptx);
        p->line = p->file ? p->line : p->ptx;
    }
}

static enum status load(const struct tune_bench *b, const struct pass_output *code,
                        struct dev_code **out, struct diags *ds)
{
    const struct str text = { code->text, code->n };
    return dev_load_marked(b->subject.dev, b->subject.module->path, text, &code->marks,
                           str_of(launch_kernel(b->subject.launch)), 0, out, ds);
}

/* Takes `code` over: on any outcome the caller's copy is empty. */
enum status tune_shape_get(struct tune_bench *b, struct pass_output *code, struct tune_shape **out,
                           struct diags *ds)
{
    *out = shape_find(b, code);
    if (*out) {
        pass_output_free(code);
        return ST_OK;
    }
    shapes_bound(b);
    struct tune_shape *s = base_alloc(sizeof *s);
    if (!s || !base_grow((void **)&b->shape, b->nshapes, &b->cap, sizeof(*b->shape))) {
        base_free(s);
        pass_output_free(code);
        return ST_NOMEM;
    }
    s->code = *code;
    memset(code, 0, sizeof *code);
    struct diags own = { 0 };
    enum status st = load(b, &s->code, &s->loaded, &own);
    if (st == ST_DEVICE && dev_astray(b->subject.dev)) {
        diags_free(&own);
        st = load(b, &s->code, &s->loaded, &own);
    }
    if (s->code.changed)
        map_lines(&s->code, b, &own);
    diags_move(ds, &own);
    if (st != ST_OK) {
        tune_shape_free(b, s);
        return st;
    }
    b->shape[b->nshapes++] = s;
    b->shape_bytes += s->code.n;
    *out = s;
    return ST_OK;
}

/* ---- launching ---- */
static void forward_progress(void *ctx, double done)
{
    struct tune_bench *b = ctx;
    if (b->observer && b->observer->progress)
        b->observer->progress(b->observer->ctx, done, NULL);
}

void tune_fill_run(struct tune_bench *b, const struct options *o, struct tune_job *j, bool functional)
{
    const struct pass_output *code = &j->code;
    struct dev_run *run = &j->run;
    *run = dev_run_default();
    j->set = (struct dev_symbol_value){ PASS_KNOB_SYMBOL, 0, code->knob, KNOB_BYTES * PASS_KNOB_COUNT };
    for (uint32_t i = 0; i < code->nreset; i++)
        j->zero[i] = (struct dev_symbol_value){ code->reset[i].symbol, 0, NULL, code->reset[i].bytes };
    run->launch = tune_launch_of(b, o);
    run->grid = code->grid;
    run->block = code->block;
    run->shared = code->shared;
    run->set = &j->set;
    run->nset = code->knobs;
    run->zero = j->zero;
    run->nzero = code->nreset;
    run->carveout = opt_occupancy(o)->carveout;
    run->hw_pi = code->hw_pi;
    options_l2_persist(o, &run->persist, &run->persist_fraction);
    run->repeat = b->opts.repeat;
    run->max_repeat = b->opts.max_repeat;
    run->counters = b->opts.counters && !functional;
    /* A vote is taken on every SM: a sample of them would leave thresholds without a voice. */
    run->exact =
        b->opts.exact || PI_IS_VOTE(opt_bypass(o)->pi.mode) || opt_cluster(o)->agents == OPT_AGENTS_VOTE;
    run->flush_l2 = b->opts.cold;
    run->energy = b->opts.energy && !functional;
    run->keep_from = b->keep_from;
    run->unread = b->opts.unread;
    run->outputs =
        b->pool ? DEV_OUTPUTS_ALL : b->opts.outputs; /* its devices do not know the original's */
    run->functional = functional;
    run->sums = b->sums;
    run->time_limit_s = b->opts.time_limit_s;
    run->check_uninit = run->check_races = b->opts.check_memory;
    run->serial = b->serial;
}

/* What went wrong the first time is said with what goes wrong the second time, else nowhere. */
static enum status launch_again(struct tune_bench *b, const struct tune_shape *shape,
                                const struct tune_job *j, struct result *out, enum status first,
                                struct diags *ds)
{
    struct diags own = { 0 };
    struct result again = *out;
    enum status st = dev_launch(b->subject.dev, shape->loaded, b->data, &j->run, &again, &own);
    if (first == ST_OK || st == ST_OK)
        *out = again;
    if (st != ST_OK)
        diags_move(ds, &own);
    diags_free(&own);
    return st;
}

/* Takes j->code over; it is empty afterwards. */
enum status tune_launch(struct tune_bench *b, struct tune_job *j, const struct options *o,
                        bool functional, struct tune_shape **shape, struct result *out, struct diags *ds)
{
    /* the text may move into a shape; knob values and launch stay ours */
    struct pass_output own = j->code;
    enum status st = tune_shape_get(b, &own, shape, ds);
    if (st != ST_OK)
        return st;
    tune_fill_run(b, o, j, functional);
    j->run.cancel = tune_cancel(b);
    j->run.progress = forward_progress;
    j->run.ctx = b;
    b->launches++;
    st = dev_launch(b->subject.dev, (*shape)->loaded, b->data, &j->run, out, ds);
    if (dev_astray(b->subject.dev) &&
        !cancel_asked(j->run.cancel)) /* a worker that fell silent or sent damage: another, once */
        st = launch_again(b, *shape, j, out, st, ds);
    tune_map_loads(&(*shape)->code, out);
    out->guessed = launch_guessed(b->subject.launch);
    out->cold = j->run.flush_l2;
    return st;
}

/* The first error of a list as the reason of a result that has no time. */
void tune_reason_text(const struct diags *ds, char *text, size_t n)
{
    for (size_t i = 0; i < ds->n; i++)
        if (ds->v[i].level == DIAG_ERROR) {
            const struct diag *d = &ds->v[i];
            if (d->at.line)
                snprintf(text, n, "%u:%u: %s", d->at.line, d->at.col, d->msg ? d->msg : "");
            else
                snprintf(text, n, "%s", d->msg ? d->msg : "");
            return;
        }
}

void tune_reason(const struct diags *ds, struct result *r)
{
    tune_reason_text(ds, r->message, sizeof r->message);
}
