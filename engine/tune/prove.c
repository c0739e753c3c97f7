/* Launches of original and rewrite on the hostile machine, and what they leave, side by side. */
#include "engine/tune/prove.h"

#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/sim/sim.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SETS 2
#define DRAW 0x9e3779b97f4a7c15u /* added to the seeds of the second data set */
/* a second data set on which the original takes longer is not used */
#define VARIED_S 10

/* One launch: on which data, on what machine. The first is what the others are compared with. */
struct attack {
    const char *name;
    unsigned set;
    struct sim_hostile how;
};
static const struct attack attacks[] = {
    { "", 0, { .nc_snapshot = true, .uniform = true } },
    { " with CTAs and warps in reverse order, other special registers and memory that is not zero",
      0,
      { .nc_snapshot = true, .uniform = true, .poison = true, .order = ORDER_DOWN, .seed = 1 } },
    { " with CTAs in shuffled order and warps that take turns often",
      0,
      { .nc_snapshot = true, .uniform = true, .poison = true, .order = ORDER_SHUFFLED, .seed = 2 } },
    { " on a second data set of the same description",
      1,
      { .nc_snapshot = true, .uniform = true, .poison = true, .order = ORDER_DOWN, .seed = 3 } },
};

/* What the original left of one buffer or variable. */
struct kept {
    struct str name;
    size_t arg;
    uint8_t *bytes;
    uint64_t n;
    bool written;
};
struct set {
    struct launch_spec spec; /* args are ours where it is drawn anew */
    struct launch_data data;
    const struct launch_data *use;
    bool own_data, own_args, usable;
    struct dev_data *bound;
    struct kept *kept;
    size_t nkept, cap;
};
struct tune_prover {
    struct dev *dev;
    const char *path;
    struct str kernel;
    const struct launch_spec *launch;
    enum tune_level level;
    const struct cancel *cancel;
    struct dev_code *original;
    struct dev_run run;
    struct set set[SETS];
    bool uniform;       /* the original keeps what its .uni say */
    char unproven[256]; /* why the original proves nothing; empty: it does */
};

/* ---- one launch ---- */
static enum status launch(struct tune_prover *p, struct dev_code *c, const struct dev_run *run,
                          const struct attack *a, double limit, struct result *r, struct diags *ds)
{
    struct set *s = &p->set[a->set];
    struct dev_run own = *run;
    own.launch = &s->spec;
    own.functional = true;
    own.counters = false;
    own.repeat = own.max_repeat = 1;
    own.hostile = a->how;
    own.hostile.uniform = a->how.uniform && p->uniform;
    own.time_limit_s = limit > 0 ? limit : run->time_limit_s;
    own.progress = NULL;
    own.cancel = p->cancel;
    *r = result_empty();
    return dev_launch(p->dev, c, s->bound, &own, r, ds);
}

/* ---- what it left ---- */
static double number(const uint8_t *p, enum elem e)
{
    float f;
    double d;
    int64_t i = 0;
    if (e == ELEM_F32) {
        memcpy(&f, p, sizeof f);
        return f;
    }
    if (e == ELEM_F64) {
        memcpy(&d, p, sizeof d);
        return d;
    }
    memcpy(&i, p, elem_size(e));
    return (double)i;
}

static enum status keep_all(struct tune_prover *p, struct set *s)
{
    struct dev_left l;
    for (size_t i = 0; dev_left(p->dev, p->original, s->bound, i, &l); i++) {
        struct kept k = { l.name, l.arg, NULL, l.n, l.written };
        if (!base_grow((void **)&s->kept, s->nkept, &s->cap, sizeof *s->kept))
            return ST_NOMEM;
        if (l.written && !(k.bytes = base_alloc(l.n ? l.n : 1)))
            return ST_NOMEM;
        if (l.written)
            memcpy(k.bytes, l.bytes, l.n);
        s->kept[s->nkept++] = k;
    }
    return ST_OK;
}

static uint64_t first_difference(const uint8_t *a, const uint8_t *b, uint64_t n)
{
    uint64_t i = 0;
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

/* The first element that differs by more than the launch forgives; n: none. */
static uint64_t first_beyond(const struct arg_spec *a, const struct kept *k, const uint8_t *now)
{
    uint64_t w = a ? elem_size(a->elem) : 1, i = first_difference(k->bytes, now, k->n) / w;
    if (!a || !(a->tolerance > 0))
        return i;
    for (; i < k->n / w; i++) {
        double x = number(k->bytes + i * w, a->elem), y = number(now + i * w, a->elem);
        if (!tune_within(a, x, y))
            return i;
    }
    return k->n / w;
}

static const struct kept *kept_named(const struct set *s, const struct dev_left *l, size_t i)
{
    if (l->arg != DEV_LEFT_VARIABLE)
        return i < s->nkept ? &s->kept[i] : NULL;
    for (size_t k = 0; k < s->nkept; k++)
        if (s->kept[k].arg == DEV_LEFT_VARIABLE && str_eq(s->kept[k].name, l->name))
            return &s->kept[k];
    return NULL; /* a variable that a pass added */
}

/* Writes the first difference into text; false: there is none. */
static bool differs(struct tune_prover *p, struct set *s, struct dev_code *c, char *text, size_t room)
{
    struct dev_left l;
    for (size_t i = 0; dev_left(p->dev, c, s->bound, i, &l); i++) {
        const struct kept *k = kept_named(s, &l, i);
        const char *what = l.arg == DEV_LEFT_VARIABLE ? "variable" : "buffer";
        if (!k || (!l.written && !k->written))
            continue;
        if (!k->bytes || k->n != l.n) {
            snprintf(text, room, "%s '%.*s' is stored into, and the original leaves it alone", what,
                     (int)l.name.n, l.name.s);
            return true;
        }
        const struct arg_spec *a = l.arg < s->spec.nargs ? &s->spec.args[l.arg] : NULL;
        uint64_t w = a ? elem_size(a->elem) : 1, at = first_beyond(a, k, l.bytes);
        if (at >= l.n / w)
            continue;
        bool output = a && a->output;
        if (a)
            snprintf(text, room, "%s '%.*s'%s element %llu is %.9g and not %.9g", what, (int)l.name.n,
                     l.name.s, output ? "" : " (not marked output)", (unsigned long long)at,
                     number(l.bytes + at * w, a->elem), number(k->bytes + at * w, a->elem));
        else
            snprintf(text, room, "%s '%.*s' differs in byte %llu", what, (int)l.name.n, l.name.s,
                     (unsigned long long)at);
        return true;
    }
    return false;
}

/* ---- data ---- */
/* varied: constants that fill integer inputs are drawn as well, from the constant and its neighbour.
 * True: something is drawn. */
static bool draw(struct launch_spec *l, bool varied)
{
    bool any = false;
    for (size_t i = 0; i < l->nargs; i++) {
        struct init_spec *in = &l->args[i].init;
        if (l->args[i].kind != ARG_BUFFER)
            continue;
        bool fill = in->kind == INIT_FILL && varied && !l->args[i].output;
        if (fill) {
            in->kind = INIT_RANDOM;
            in->b = in->a + 1;
            in->ib = in->ia + 1;
        }
        if (fill || in->kind == INIT_RANDOM || in->kind == INIT_PERMUTATION || in->kind == INIT_ROWS) {
            in->seed += DRAW;
            any = true;
        }
    }
    return any;
}

static void set_free(struct tune_prover *p, struct set *s)
{
    for (size_t i = 0; i < s->nkept; i++)
        base_free(s->kept[i].bytes);
    base_free(s->kept);
    if (s->bound)
        dev_unbind(p->dev, s->bound);
    if (s->own_data)
        launch_data_free(&s->data);
    if (s->own_args)
        base_free(s->spec.args);
    *s = (struct set){ 0 };
}

/* The original on the second data set: as it is, then as hostile as the rewrite's will be. */
static enum status try_set(struct tune_prover *p, bool varied, struct diags *ds)
{
    struct set *s = &p->set[1];
    const struct attack plain = { "", 1, { .nc_snapshot = true, .uniform = true } };
    const struct attack *hostile = &attacks[ARRAY_LEN(attacks) - 1];
    struct result r;
    char text[200];
    s->spec = *p->launch;
    s->spec.args = base_alloc((s->spec.nargs + 1) * sizeof *s->spec.args);
    s->own_args = s->spec.args != NULL;
    if (!s->own_args)
        return ST_NOMEM;
    memcpy(s->spec.args, p->launch->args, s->spec.nargs * sizeof *s->spec.args);
    if (!draw(&s->spec, varied))
        return ST_OK;
    enum status st = launch_data_make(&s->spec, dev_describe(p->dev)->mem_bytes, &s->data, ds);
    s->own_data = st == ST_OK;
    s->use = &s->data;
    if (st == ST_OK)
        st = dev_bind(p->dev, s->use, &s->bound, ds);
    if (st == ST_OK)
        st = launch(p, p->original, &p->run, &plain, VARIED_S, &r, ds);
    if (st != ST_OK || r.status != ST_OK)
        return st;
    st = keep_all(p, s);
    if (st == ST_OK)
        st = launch(p, p->original, &p->run, hostile, VARIED_S, &r, ds);
    s->usable = st == ST_OK && r.status == ST_OK && !differs(p, s, p->original, text, sizeof text);
    return st;
}

/* Not having a second data set is no failure: the proof says how many it had. */
static enum status second_set(struct tune_prover *p)
{
    enum status st = ST_OK;
    for (unsigned varied = 2; varied-- && !p->set[1].usable && !tune_over(st);) {
        struct diags own = { 0 };
        set_free(p, &p->set[1]);
        st = try_set(p, varied, &own);
        diags_free(&own);
    }
    return tune_over(st) ? st : ST_OK;
}

/* ---- the original ---- */
static const char *which_sreg(struct tune_prover *p, struct diags *ds)
{
    struct attack order = attacks[1], poison = attacks[1];
    struct result r;
    char text[200];
    order.how.poison = false;
    poison.how.order = ORDER_UP;
    if (launch(p, p->original, &p->run, &order, 0, &r, ds) == ST_OK &&
        (r.status != ST_OK || differs(p, &p->set[0], p->original, text, sizeof text)))
        return "on the order of CTAs and warps";
    if (launch(p, p->original, &p->run, &poison, 0, &r, ds) == ST_OK &&
        (r.status != ST_OK || differs(p, &p->set[0], p->original, text, sizeof text)))
        return "on %smid, %warpid, %gridid, a clock, or memory or registers that nobody wrote";
    return "on the order of CTAs and warps";
}

static enum status original_again(struct tune_prover *p, const struct attack *a, struct diags *ds)
{
    struct result r;
    char text[160] = "";
    enum status st = launch(p, p->original, &p->run, a, 0, &r, ds);
    if (st != ST_OK)
        return st;
    if (r.status != ST_OK)
        snprintf(text, sizeof text, "%.150s", r.message);
    else if (!differs(p, &p->set[0], p->original, text, sizeof text))
        return ST_OK;
    snprintf(p->unproven, sizeof p->unproven, "the original's own result depends %s: %s",
             which_sreg(p, ds), text);
    return ST_OK;
}

static enum status original_first(struct tune_prover *p, struct diags *ds)
{
    struct result r;
    enum status st = launch(p, p->original, &p->run, &attacks[0], 0, &r, ds);
    /* an original that parts where it says .uni: the check says nothing */
    if (st == ST_OK && r.status != ST_OK && r.status != ST_REFUSED) {
        p->uniform = false;
        st = launch(p, p->original, &p->run, &attacks[0], 0, &r, ds);
    }
    if (st == ST_OK && r.status == ST_REFUSED)
        return ST_REFUSED;
    if (st == ST_OK && r.status != ST_OK)
        snprintf(p->unproven, sizeof p->unproven, "the original does not run: %.200s", r.message);
    return st == ST_OK && r.status == ST_OK ? keep_all(p, &p->set[0]) : st;
}

enum status tune_prover_open(struct dev *dev, const char *path, const struct launch_spec *spec,
                             const struct launch_data *data, const struct tune_text *original,
                             enum tune_level level, const struct cancel *cancel,
                             struct tune_prover **out, struct diags *ds)
{
    struct tune_prover *p = *out = base_alloc(sizeof *p);
    if (!p)
        return ST_NOMEM;
    *p = (struct tune_prover){ .dev = dev,
                               .path = path,
                               .kernel = str_of(spec->kernel),
                               .launch = spec,
                               .level = level,
                               .cancel = cancel,
                               .run = *original->run,
                               .uniform = true };
    p->set[0].spec = *spec;
    p->set[0].use = data;
    p->set[0].usable = true;
    enum status st = dev_load(dev, path, original->text, p->kernel, 0, &p->original, ds);
    if (st == ST_OK)
        st = dev_bind(dev, data, &p->set[0].bound, ds);
    if (st == ST_OK)
        st = original_first(p, ds);
    for (size_t i = 1; st == ST_OK && level == TUNE_FULL && i < ARRAY_LEN(attacks) && !p->unproven[0];
         i++)
        st = attacks[i].set ? second_set(p) : original_again(p, &attacks[i], ds);
    if (st != ST_OK) {
        tune_prover_close(p);
        *out = NULL;
    }
    return st;
}

/* ---- the rewrite ---- */
static enum status attack(struct tune_prover *p, struct dev_code *c, const struct dev_run *run,
                          const struct attack *a, struct tune_proof *out, struct diags *ds)
{
    struct result r;
    char text[180] = "";
    enum status st = launch(p, c, run, a, 0, &r, ds);
    if (st != ST_OK)
        return st;
    if (r.status != ST_OK)
        snprintf(text, sizeof text, "%.170s", r.message[0] ? r.message : status_text(r.status));
    else if (!differs(p, &p->set[a->set], c, text, sizeof text))
        return ST_OK;
    out->verdict = PROOF_BROKEN;
    snprintf(out->message, sizeof out->message, "%s%s", text, a->name);
    return ST_OK;
}

static void tell_compared(const struct tune_prover *p, struct tune_proof *out)
{
    const struct set *s = &p->set[0];
    for (size_t i = 0; i < s->nkept; i++)
        out->buffers += s->kept[i].written;
    out->orders = p->level == TUNE_FULL ? 3 : 1;
    out->data_sets = p->set[1].usable ? 2 : 1;
    out->nc_snapshot = true;
    out->uniform_checked = p->uniform;
    out->poisoned = p->level == TUNE_FULL;
}

enum status tune_prover_check(struct tune_prover *p, const struct tune_text *rewritten,
                              struct tune_proof *out, struct diags *ds)
{
    struct dev_code *c = NULL;
    *out = (struct tune_proof){ .verdict = PROOF_NONE, .level = p->level };
    if (p->unproven[0]) {
        snprintf(out->message, sizeof out->message, "%s", p->unproven);
        return ST_OK;
    }
    enum status st = dev_load(p->dev, p->path, rewritten->text, p->kernel, 0, &c, ds);
    size_t n = p->level == TUNE_FULL ? ARRAY_LEN(attacks) : 1;
    for (size_t i = 0; st == ST_OK && i < n && out->verdict != PROOF_BROKEN; i++)
        if (p->set[attacks[i].set].usable)
            st = attack(p, c, rewritten->run, &attacks[i], out, ds);
    if (st == ST_OK && out->verdict != PROOF_BROKEN)
        out->verdict = PROOF_HOLDS;
    tell_compared(p, out);
    if (c)
        dev_unload(p->dev, c);
    return st;
}

void tune_prover_close(struct tune_prover *p)
{
    if (!p)
        return;
    for (size_t i = SETS; i--;)
        set_free(p, &p->set[i]);
    if (p->original)
        dev_unload(p->dev, p->original);
    base_free(p);
}
