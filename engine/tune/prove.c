/* Which launches of original and rewrite try to break a proof (prove_launch.c makes them), on which
 * data, and what the proof says. */
#include "engine/rec/counter_ids.h"
#include "engine/tune/prove_int.h"

#include "engine/rec/device.h"
#include "engine/rec/result_read.h"
#include "engine/sim/sides.h"
#include "engine/sim/sums.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <string.h>

/* A second data set on which the original executes more instructions of warps than so many times those
 * of the first, and so many, is not used. */
#define VARIED_TIMES 8
#define VARIED_MORE  UINT64_C(10000000)
/* The search for ways that were not seen ends after so many times the first launch, and so many. */
#define BYTES_AN_INST 8 /* of data to make, for an instruction to run */
#define SEARCH_TIMES  6
#define SEARCH_MORE   UINT64_C(30000000)

#define EVERYTHING ((1u << SIM_POISON_COUNT) - 1)
/* After the first: CTAs and warps in reverse order, other special registers and memory that is not zero;
 * CTAs in shuffled order and warps that take turns often, on a second data set of the same description
 * where there is one. */
static const struct attack attacks[] = {
    { 0, { .nc_snapshot = true, .uniform = true } },
    { 0,
      { .nc_snapshot = true, .uniform = true, .poison = EVERYTHING, .order = ORDER_DOWN, .seed = 1 } },
    { 1,
      { .nc_snapshot = true,
        .uniform = true,
        .poison = EVERYTHING,
        .order = ORDER_SHUFFLED,
        .seed = 2 } },
};

/* One more for each further data set. */
static struct attack attack_at(const struct tune_prover *p, size_t i)
{
    const size_t n = ARRAY_LEN(attacks);
    struct attack a = attacks[i < n ? i : n - 1];
    a.set = i < n ? a.set && p->set[1].usable : (unsigned)(2 + i - n);
    return a;
}

static size_t attack_count(const struct tune_prover *p)
{
    return p->level == TUNE_FULL ? ARRAY_LEN(attacks) + p->nsets : 1;
}

/* ---- one launch ---- */

static struct shot of_original(const struct tune_prover *p, struct str text)
{
    return (struct shot){ p->original, text, &p->run };
}

/* ---- what it left ---- */
static enum status keep_all(struct tune_prover *p, struct set *s)
{
    struct dev_left l;
    for (size_t i = 0; dev_left(p->dev, p->original, s->bound, i, &l); i++) {
        const struct arg_spec *a = l.arg < s->spec.nargs ? &s->spec.args[l.arg] : NULL;
        struct kept k = { .name = l.name, .arg = l.arg, .n = l.n, .written = l.written };
        bool bounded = l.written && a && a->atomic && sim_sums_known(p->sums);
        if (!base_grow((void **)&s->kept, s->nkept, &s->cap, sizeof *s->kept))
            return ST_NOMEM;
        k.bytes = l.written ? base_alloc(l.n ? l.n : 1) : NULL;
        k.bound = bounded ? tune_bounds(p->sums, a, l.bytes, l.n) : NULL;
        s->kept[s->nkept++] = k;
        if ((l.written && !k.bytes) || (bounded && !k.bound))
            return ST_NOMEM;
        if (l.written)
            memcpy(k.bytes, l.bytes, l.n);
    }
    return ST_OK;
}

/* ---- data ---- */
static void set_free(struct tune_prover *p, struct set *s)
{
    for (size_t i = 0; i < s->nkept; i++) {
        BASE_FREE(s->kept[i].bytes, s->kept[i].bound);
    }
    base_free(s->kept);
    if (s->bound)
        dev_unbind(p->dev, s->bound);
    if (s->own_data)
        launch_data_free(&s->data);
    if (s->own_args)
        base_free(s->spec.args);
    *s = (struct set){ 0 };
}

static uint64_t varied_most(const struct tune_prover *p)
{
    return (uint64_t)p->insts * VARIED_TIMES + VARIED_MORE;
}

/* The original on another data set: as it is, then as hostile as the rewrite's will be. */
static enum status try_set(struct tune_prover *p, unsigned at, const struct vary *v, struct diags *ds)
{
    struct set *s = &p->set[at];
    const struct attack plain = { at, { .nc_snapshot = true, .uniform = true } };
    const struct shot original = of_original(p, STR(""));
    struct attack hostile = attacks[ARRAY_LEN(attacks) - 1];
    char text[200];
    hostile.set = at;
    s->spec = *p->launch;
    s->spec.args = base_alloc((s->spec.nargs + 1) * sizeof *s->spec.args);
    s->own_args = s->spec.args != NULL;
    if (!s->own_args)
        return ST_NOMEM;
    memcpy(s->spec.args, p->launch->args, s->spec.nargs * sizeof *s->spec.args);
    if (!prover_draw(&s->spec, v, at))
        return ST_OK;
    enum status st = launch_data_make(&s->spec, dev_describe(p->dev)->mem_bytes, &s->data, ds);
    s->own_data = st == ST_OK;
    s->use = &s->data;
    p->searched += st == ST_OK ? (double)s->data.total_bytes / BYTES_AN_INST : 0;
    if (st == ST_OK)
        st = dev_bind(p->dev, s->use, &s->bound, ds);
    if (st == ST_OK)
        st = prover_launch(p, &original, &plain, varied_most(p), ds);
    if (st != ST_OK || result_status(p->ran) != ST_OK)
        return st;
    if (result_counters(p->ran)[COUNTER_INST_WARP].valid)
        p->searched += result_counters(p->ran)[COUNTER_INST_WARP].value;
    st = keep_all(p, s);
    if (st == ST_OK)
        st = prover_launch(p, &original, &hostile, varied_most(p), ds);
    s->usable = st == ST_OK && result_status(p->ran) == ST_OK &&
                !prover_differs(p, s, p->original, text, sizeof text);
    return st;
}

/* What an unusable set showed counts for nothing. */
static enum status try_one(struct tune_prover *p, unsigned at, const struct vary *v)
{
    struct diags own = { 0 };
    set_free(p, &p->set[at]);
    sim_sides_keep(p->sides);
    enum status st = try_set(p, at, v, &own);
    if (!p->set[at].usable)
        sim_sides_back(p->sides);
    diags_free(&own);
    return tune_over(st) ? st : ST_OK;
}

/* Not having a second data set is no failure: the proof says how many it had. */
static enum status second_set(struct tune_prover *p)
{
    enum status st = ST_OK;
    struct vary v;
    for (size_t k = 0; k < 2 && st == ST_OK && !p->set[1].usable; k++)
        st = prover_vary(p->launch, k, &v) ? try_one(p, 1, &v) : st;
    return st;
}

/* Data sets that go ways which none before has gone are kept. */
static enum status further_sets(struct tune_prover *p)
{
    enum status st = ST_OK;
    struct vary v;
    uint32_t left = sim_sides_unseen(p->sides), now;
    for (size_t k = 2; left && st == ST_OK && 2 + p->nsets < PROVER_SETS; k++) {
        unsigned at = 2 + p->nsets;
        if (!prover_vary(p->launch, k, &v) || p->searched > p->insts * SEARCH_TIMES + SEARCH_MORE)
            break;
        st = try_one(p, at, &v);
        now = sim_sides_unseen(p->sides);
        if (p->set[at].usable && now < left) {
            p->nsets++;
            left = now;
        } else {
            set_free(p, &p->set[at]);
        }
    }
    return st;
}

/* ---- the original ---- */
static enum status original_again(struct tune_prover *p, const struct attack *a, struct str text,
                                  struct diags *ds)
{
    const struct shot original = of_original(p, text);
    char what[160] = "", how[150];
    enum status st = prover_launch(p, &original, a, 0, ds);
    if (st != ST_OK)
        return st;
    if (result_status(p->ran) != ST_OK)
        snprintf(what, sizeof what, "%.150s", result_message(p->ran));
    else if (!prover_differs(p, &p->set[0], p->original, what, sizeof what))
        return ST_OK;
    prover_which(p, &original, a, how, sizeof how);
    snprintf(p->unproven, sizeof p->unproven, "the original itself has another result%s: %s", how, what);
    return ST_OK;
}

static enum status original_first(struct tune_prover *p, struct diags *ds)
{
    const struct shot original = of_original(p, STR(""));
    enum status st = prover_launch(p, &original, &attacks[0], 0, ds);
    /* an original that parts where it says .uni: the check says nothing */
    if (st == ST_OK && result_status(p->ran) != ST_OK && result_status(p->ran) != ST_REFUSED) {
        p->uniform = false;
        st = prover_launch(p, &original, &attacks[0], 0, ds);
    }
    if (st == ST_OK && result_status(p->ran) == ST_REFUSED)
        return ST_REFUSED;
    if (st == ST_OK && result_counters(p->ran)[COUNTER_INST_WARP].valid)
        p->insts = result_counters(p->ran)[COUNTER_INST_WARP].value;
    if (st == ST_OK && result_status(p->ran) != ST_OK)
        snprintf(p->unproven, sizeof p->unproven, "the original does not run: %.200s",
                 result_message(p->ran));
    return st == ST_OK && result_status(p->ran) == ST_OK ? keep_all(p, &p->set[0]) : st;
}

/* As hostile as the rewrite's launches will be. */
static enum status original_hostile(struct tune_prover *p, struct str text, struct diags *ds)
{
    enum status st = ST_OK;
    for (size_t i = 1; st == ST_OK && i < ARRAY_LEN(attacks) && !p->unproven[0]; i++) {
        if (attacks[i].set)
            st = second_set(p);
        struct attack a = attack_at(p, i);
        if (st == ST_OK && !a.set)
            st = original_again(p, &a, text, ds);
    }
    return st == ST_OK && !p->unproven[0] ? further_sets(p) : st;
}

enum status tune_prover_open(struct dev *d, const char *path, const struct launch_spec *l,
                             const struct launch_data *data, const struct tune_text *original,
                             enum tune_level level, const struct cancel *cancel,
                             struct tune_prover **out, struct diags *ds)
{
    struct tune_prover *p = *out = base_alloc(sizeof *p);
    if (!p)
        return ST_NOMEM;
    *p = (struct tune_prover){ .dev = d,
                               .path = path,
                               .kernel = str_of(l->kernel),
                               .launch = l,
                               .level = level,
                               .cancel = cancel,
                               .run = *original->run,
                               .uniform = true };
    p->set[0].spec = *l;
    p->set[0].use = data;
    p->set[0].usable = true;
    enum status st = (p->ran = result_new()) ? ST_OK : ST_NOMEM;
    if (st == ST_OK && launch_has_sums(l) && !(p->sums = sim_sums_new()))
        st = ST_NOMEM;
    if (st == ST_OK && level == TUNE_FULL && !(p->sides = sim_sides_new()))
        st = ST_NOMEM;
    if (st == ST_OK)
        st = dev_load(d, path, original->text, p->kernel, 0, &p->original, ds);
    if (st == ST_OK)
        st = dev_bind(d, data, &p->set[0].bound, ds);
    if (st == ST_OK)
        st = original_first(p, ds);
    if (st == ST_OK && level == TUNE_FULL)
        st = original_hostile(p, original->text, ds);
    if (st != ST_OK) {
        tune_prover_close(p);
        *out = NULL;
    }
    return st;
}

/* ---- the rewrite ---- */
static enum status attack(struct tune_prover *p, const struct shot *shot, const struct attack *a,
                          struct tune_proof *out, struct diags *ds)
{
    char text[180] = "", how[150];
    enum status st = prover_launch(p, shot, a, 0, ds);
    if (st != ST_OK)
        return st;
    if (result_status(p->ran) != ST_OK)
        snprintf(text, sizeof text, "%.170s",
                 *result_message(p->ran) ? result_message(p->ran) : status_text(result_status(p->ran)));
    else if (!prover_differs(p, &p->set[a->set], shot->code, text, sizeof text))
        return ST_OK;
    prover_which(p, shot, a, how, sizeof how);
    out->verdict = PROOF_BROKEN;
    snprintf(out->message, sizeof out->message, "%s%s", text, how);
    return ST_OK;
}

static void leave_out(struct tune_proof *out, const char *what, struct str name, const char *why)
{
    uint32_t i = out->nleft_out < TUNE_LEFT_OUT ? out->nleft_out++ : TUNE_LEFT_OUT - 1;
    snprintf(out->left_out[i], sizeof out->left_out[i], "%s%.*s%s", what,
             (int)(name.n < 60 ? name.n : 60), name.s, why);
}

/* What was written, and is compared with nothing. */
static void tell_left_out(struct tune_prover *p, const struct shot *shot, struct tune_proof *out)
{
    struct dev_left l;
    for (size_t i = 0; shot->code && dev_left(p->dev, shot->code, p->set[0].bound, i, &l); i++)
        if (l.written && !prover_kept(&p->set[0], &l, i) && !str_is(l.name, PASS_KNOB_SYMBOL))
            leave_out(out, "variable '", l.name, "' (a pass added it)");
        else if (l.written && l.addresses)
            leave_out(out, "variable '", l.name, "' (it begins with addresses)");
    if (prover_calls(p, shot->text, "vprintf"))
        leave_out(out, "what printf prints", STR(""), "");
    if (prover_calls(p, shot->text, "malloc"))
        leave_out(out, "memory from malloc", STR(""), "");
}

static void tell_unseen(const struct tune_prover *p, struct tune_proof *out)
{
    out->unseen = p->sides ? sim_sides_unseen(p->sides) : 0;
    for (uint32_t k = 0; k < out->unseen && k < TUNE_UNSEEN; k++)
        sim_sides_text(p->sides, k, out->not_seen[k], sizeof out->not_seen[k]);
}

static void tell_compared(const struct tune_prover *p, struct tune_proof *out)
{
    const struct set *s = &p->set[0];
    for (size_t i = 0; i < s->nkept; i++)
        out->buffers += s->kept[i].written;
    out->orders = p->level == TUNE_FULL ? 3 : 1;
    out->data_sets = (p->set[1].usable ? 2 : 1) + p->nsets;
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
    const struct shot shot = { c, rewritten->text, rewritten->run };
    size_t n = attack_count(p);
    for (size_t i = 0; st == ST_OK && i < n && out->verdict != PROOF_BROKEN; i++) {
        struct attack a = attack_at(p, i);
        st = attack(p, &shot, &a, out, ds);
    }
    if (st == ST_OK && out->verdict != PROOF_BROKEN)
        out->verdict = PROOF_HOLDS;
    tell_compared(p, out);
    tell_unseen(p, out);
    tell_left_out(p, &shot, out);
    if (c)
        dev_unload(p->dev, c);
    return st;
}

void tune_prover_close(struct tune_prover *p)
{
    if (!p)
        return;
    for (size_t i = PROVER_SETS; i--;)
        set_free(p, &p->set[i]);
    sim_sides_free(p->sides);
    sim_sums_free(p->sums);
    if (p->original)
        dev_unload(p->dev, p->original);
    BASE_FREE(p->ran, p);
}
