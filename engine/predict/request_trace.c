/* The line requests of one SM: the rewritten kernel's addresses, with its resident CTAs interleaved.
 *
 * Bypassing and the L1 size do not change which addresses are asked for: they are played over the
 * trace of the kernel without them, and one trace serves them all. Agents walk their cluster's tasks in
 * order, which is what redirection gives under round-robin binding (cluster paper, 4.2): they are traced
 * as redirection. */
#include "engine/predict/request_trace.h"

#include "engine/ptx/meaning.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/result_read.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <string.h>

/* requests of the first waves; more cost more than they tell */
#define TRACE_MOST ((size_t)2 << 20)
/* requests after which whole waves stand for those that follow */
#define TRACE_ENOUGH ((size_t)1 << 18)
#define WAVES        2u /* of CTAs, at least */

static void trace_free(struct tune_trace *t)
{
    if (t) {
        BASE_FREE(t->step, t->request, t->loaded);
        tune_once_free(&t->lines);
        tune_once_free(&t->kinds);
        BASE_FREE(t->head, t->tail, t->asked, t->crowd, t->past);
        tune_code_free(t->code);
        ana_before_free(t->before);
        tune_paper_free(t->paper);
        base_free(t->key);
    }
    base_free(t);
}

/* Configurations of a trace: what it is of, what is asked for, what is traced. */
enum of_key { KEY_MADE, KEY_ASKED, KEY_TRACED, KEYS };

static struct tune_trace *trace_new(void)
{
    struct tune_trace *t = base_alloc(sizeof *t);
    struct options *key = options_list(KEYS);
    if (t && key) {
        t->key = key;
        return t;
    }
    BASE_FREE(t, key);
    return NULL;
}

/* ---- the trace ---- */
/* What decides the addresses and their order. */
static void keep_mapping(struct options *o)
{
    const struct options *none = options_none();
    struct opt_bypass *bypass = opt_bypass(o);
    bypass->level = opt_bypass(none)->level;
    bypass->op = opt_bypass(none)->op;
    bypass->form = opt_bypass(none)->form;
    bypass->pi = opt_bypass(none)->pi;
    bypass->loads = opt_bypass(none)->loads;
    opt_occupancy(o)->carveout = opt_occupancy(none)->carveout;
    opt_memory(o)->readonly = opt_memory(none)->readonly;
}

/* Registers and shared memory of the rewritten code: a simulated device tells at once, a GPU's compiler
 * takes too long. */
static enum status find_resources(struct tune_bench *b, struct str text, struct tune_trace *t,
                                  struct diags *ds)
{
    struct dev *dev = b->subject.dev;
    struct dev_code *code = NULL;
    t->regs = result_regs(b->original);
    t->shared_static = result_shared_static(b->original);
    if (dev_describe(dev)->kind != DEV_SIMULATED)
        return ST_OK;
    enum status st = dev_load(dev, "predicted", text, str_of(b->subject.launch->kernel), 0, &code, ds);
    if (st == ST_OK) {
        struct dev_resources r = dev_code_resources(code);
        t->regs = r.regs;
        if (r.spilled)
            snprintf(t->why, sizeof t->why,
                     "spills: the %u bytes that a thread stores for want of registers are not modelled",
                     r.spilled);
        t->shared_static = r.shared_static;
        dev_unload(dev, code);
    }
    return st;
}

static uint16_t capped(uint32_t v)
{
    return v > UINT16_MAX ? UINT16_MAX : (uint16_t)v;
}

/* What the warp did since its last access goes with this one. Functions are not followed into each
 * other. */
static void come_to(struct tune_trace *t, struct warp_past *p, const struct ana_request *r, bool *waits)
{
    bool here = r->func == t->func, same = p->began && p->func == r->func;
    uint32_t from = same ? p->inst : PTX_NO_INDEX;
    *waits = !here || tune_code_waits(t->code, from, r->inst);
    if (here && (same || !p->began))
        p->before = capped(p->before + tune_code_between(t->code, from, r->inst));
    p->began = true;
    p->func = r->func;
    p->inst = r->inst;
}

static void keep_shared(struct warp_past *p, const struct ana_request *r, bool waits)
{
    p->before = capped(p->before + 1u);
    p->passes = capped(p->passes + (uint32_t)r->passes);
    p->chained = capped(p->chained + (uint32_t)(waits && !r->store));
}

/* A step of `warp` begins with this request. */
static bool keep_step(struct tune_trace *t, const struct ana_request *r, uint64_t warp, bool waits)
{
    struct warp_past *p = &t->past[warp];
    /* the assembler moves such loads before the instructions between them */
    bool here = r->func == t->func, early = !waits && !r->store && !r->atomic;
    uint32_t added = here ? tune_code_prefetches(t->code, r->inst) : 0;
    const struct trace_kind k = { .access = (uint16_t)(r->access - added),
                                  .path =
                                      (uint8_t)(here ? tune_code_path(t->code, r->inst) : PATH_PLAIN),
                                  .phase = capped(r->phase),
                                  .lanes = r->lanes,
                                  .atomic = r->atomic,
                                  .red = here && r->atomic && tune_code_is_red(t->code, r->inst),
                                  .store = r->store,
                                  .partial = r->partial,
                                  .prefetch = r->prefetch,
                                  .waits = waits,
                                  .before = early ? 0 : p->before,
                                  .passes = p->passes,
                                  .data = r->passes,
                                  .chained = p->chained };
    uint32_t at = (uint32_t)t->nsteps, kind = tune_once(&t->kinds, &k);
    if (kind == TRACE_END ||
        !tune_trace_room((void **)&t->step, t->nsteps, &t->cap_steps, sizeof *t->step))
        return false;
    t->step[t->nsteps++] = (struct trace_step){ (uint32_t)t->n, TRACE_END, kind };
    p->before = early ? p->before : 0;
    p->passes = p->chained = 0;
    *(t->tail[warp] == TRACE_END ? &t->head[warp] : &t->step[t->tail[warp]].next) = at;
    t->tail[warp] = at;
    return true;
}

/* A line of the newest step. */
static bool keep_line(struct tune_trace *t, const struct ana_request *r)
{
    uint32_t line = tune_once(&t->lines, &r->line);
    if (line == TRACE_END || !tune_trace_room((void **)&t->request, t->n, &t->cap, sizeof *t->request))
        return false;
    bool load = !r->store && !r->atomic && !r->prefetch, loaded = t->loaded[line / 8] >> line % 8 & 1;
    t->request[t->n++] = (struct trace_request){ .line = line & UINT32_MAX >> 5,
                                                 .sectors = r->sectors & 15,
                                                 .again = load && loaded };
    t->loaded[line / 8] |= (uint8_t)(load << line % 8);
    return true;
}

static bool keep_request(void *ctx, const struct ana_request *r)
{
    struct tune_trace *t = ctx;
    uint32_t cta = r->cta / t->sms;
    uint64_t warp = (uint64_t)cta * t->warps + r->warp;
    struct warp_past *p = &t->past[warp];
    bool waits = false;
    if (t->n >= TRACE_ENOUGH && cta % t->resident == 0 && cta >= WAVES * t->resident && !p->began) {
        t->scale = (double)t->on_sm / cta; /* the CTAs before it have ended, or are about to */
        t->on_sm = cta;
        return false;
    }
    /* the lines of an instruction come together and rise */
    bool same = t->n && !r->shared && !t->last.shared && t->last.cta == r->cta &&
                t->last.warp == r->warp && t->last.access == r->access && t->last.line < r->line;
    if (!same)
        come_to(t, p, r, &waits);
    t->last = *r;
    if (r->shared) {
        keep_shared(p, r, waits);
        return true;
    }
    t->cut = t->n >= TRACE_MOST;
    t->nomem = !t->cut && !((same || keep_step(t, r, warp, waits)) && keep_line(t, r));
    if (t->cut || t->nomem)
        return false;
    if (!r->store && !r->atomic && !r->prefetch && !(t->asked[warp / 8] >> warp % 8 & 1)) {
        t->asked[warp / 8] |= (uint8_t)(1 << warp % 8);
        t->nasked++;
    }
    return true;
}

/* What is kept per warp of this SM's CTAs. */
static bool room_for_warps(struct tune_trace *t)
{
    size_t warps = t->on_sm * t->warps;
    void *was[] = { t->asked, t->past, t->head, t->tail };
    for (size_t i = 0; i < ARRAY_LEN(was); i++)
        base_free(was[i]);
    t->asked = base_alloc(warps / 8 + 1);
    t->past = base_alloc((warps + 1) * sizeof *t->past);
    t->head = base_alloc((warps + 1) * sizeof *t->head);
    t->tail = base_alloc((warps + 1) * sizeof *t->tail);
    for (size_t i = 0; t->head && t->tail && i < warps; i++)
        t->head[i] = t->tail[i] = TRACE_END;
    return t->asked && t->past && t->head && t->tail;
}

static bool room_for_lines(struct tune_trace *t)
{
    t->lines.size = sizeof(uint64_t);
    t->kinds.size = sizeof(struct trace_kind);
    t->lines.n = t->kinds.n = 0;
    base_free(t->loaded);
    return (t->loaded = base_alloc(TRACE_MOST / 8)) != NULL;
}

/* What takes turns that this model does not count: the figure would be one of something else. NULL: nothing. */
static const char *not_modelled(const struct ptx_inst *i)
{
    bool by_index = i->nopnds > 1 && i->opnds[1].kind == OPND_ADDR && i->opnds[1].base == BASE_REG;
    if (ptx_effect_of(i) == EFFECT_ATOMIC)
        return "atomics: the turns of those at one word are not modelled";
    if (i->space == PTX_SPACE_CONST && by_index)
        return "constants by an index: the turns of different words are not modelled";
    if (i->space == PTX_SPACE_LOCAL)
        return "local memory: not modelled";
    return NULL;
}

static void look_for_unknown(const struct ptx_func *f, struct tune_trace *t)
{
    for (uint32_t i = 0; i < f->ninsts && !t->why[0]; i++) {
        const char *why = not_modelled(&f->insts[i]);
        snprintf(t->why, sizeof t->why, "%s", why ? why : "");
    }
}

static enum status follow(struct tune_bench *b, struct tune_trace *t, const struct ptx_module *m,
                          struct diags *ds)
{
    const struct dev_info *d = dev_describe(b->subject.dev);
    struct launch_spec spec = *b->subject.launch;
    struct launch_data data = *b->subject.data;
    spec.grid = t->grid;
    spec.block = t->block;
    spec.shared = t->shared;
    data.spec = &spec;
    t->sms = d->sms ? d->sms : 1;
    t->warps = (dim3u_count(t->block) + 31) / 32;
    t->on_sm = (dim3u_count(t->grid) + t->sms - 1) / t->sms;
    t->nasked = 0;
    t->scale = 1;
    bool room = room_for_warps(t) && room_for_lines(t);
    tune_code_free(t->code);
    const struct ptx_func *f = ptx_find_func(m, str_of(spec.kernel));
    t->code = f ? tune_code_of(f) : NULL;
    t->func = f ? f->index : 0;
    if (!room || (f && !t->code))
        return ST_NOMEM;
    if (f)
        look_for_unknown(f, t);
    if (t->why[0])
        return ST_OK;
    struct ana_opts o = { .data = &data,
                          .dev = d,
                          .quick = true,
                          .every = true,
                          .before = &t->before,
                          .cancel = tune_cancel(b) };
    enum status st =
        ana_trace(m, str_of(spec.kernel), &o, LINE_BYTES, t->resident, 0, t->sms, keep_request, t, ds);
    tune_once_done(&t->lines);
    tune_once_done(&t->kinds);
    if (st != ST_OK || t->cut || t->nomem || !t->n)
        return st;
    st = tune_trace_find_crowd(t, m, str_of(spec.kernel), &o, ds);
    return st == ST_OK && t->with_paper ? tune_paper_follow(t, m, str_of(spec.kernel), &o, ds) : st;
}

/* The rewritten kernel with its knob values inside, so that a trace can read them. */
static enum status trace_rewritten(struct tune_bench *b, const struct options *o, struct tune_trace *t,
                                   struct diags *ds)
{
    struct options *traced = options_put(t->key, KEY_TRACED, options_at(t->key, KEY_MADE));
    struct pass_output code = { 0 };
    struct ptx_module *m = NULL;
    struct buf text = { 0 };
    if (opt_cluster(traced)->kind == CLUSTER_AGENT) {
        opt_cluster(traced)->kind = CLUSTER_REDIRECT;
        opt_cluster(traced)->agents = 0;
    }
    enum status st = tune_rewrite(b, traced, &code, ds);
    if (st != ST_OK)
        return st;
    t->grid = code.grid;
    t->block = code.block;
    t->shared = code.shared;
    pass_standalone(&code, &text);
    st = text.oom || !text.s ? ST_NOMEM : find_resources(b, (struct str){ text.s, text.n }, t, ds);
    t->resident = tune_trace_resident(b, o, t);
    if (st == ST_OK)
        st = ptx_parse("predicted", (struct str){ text.s, text.n }, &m, ds);
    if (st == ST_OK)
        st = follow(b, t, m, ds);
    ptx_free(m);
    buf_free(&text);
    pass_output_free(&code);
    return st;
}

/* The bench keeps the newest trace. A trace that cannot be had is kept too, as its reason. */
enum status tune_trace_of(struct tune_bench *b, const struct options *o, bool paper,
                          struct tune_trace **out)
{
    struct tune_trace *t = b->trace ? b->trace : trace_new();
    struct diags own = { 0 };
    if (!t)
        return ST_NOMEM;
    b->trace = *out = t;
    b->trace_free = trace_free;
    struct options *key = options_put(t->key, KEY_ASKED, o);
    keep_mapping(key);
    if (t->made && (t->with_paper || !paper) && options_equal(options_at(t->key, KEY_MADE), key))
        return ST_OK;
    options_put(t->key, KEY_MADE, key);
    t->with_paper = paper;
    t->n = t->nsteps = 0;
    t->cut = t->nomem = false;
    t->why[0] = 0;
    enum status st = trace_rewritten(b, o, t, &own);
    char why[256] = "";
    tune_reason_text(&own, why, sizeof why);
    if (st != ST_OK)
        snprintf(t->why, sizeof t->why, "%.150s", why[0] ? why : status_text(st));
    else if (t->cut)
        snprintf(t->why, sizeof t->why, "an SM makes more than %zu line requests", TRACE_MOST);
    else if (!t->n && !t->why[0])
        snprintf(t->why, sizeof t->why, "no global loads or stores were seen");
    diags_free(&own);
    t->made = st != ST_CANCELLED && !t->nomem;
    return t->nomem ? ST_NOMEM : st == ST_CANCELLED || st == ST_NOMEM ? st : ST_OK;
}
