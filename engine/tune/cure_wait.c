/* What to write where results are waited for: loads behind stores, one load under way, too few CTAs or warps
 * to fill the wait. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/device.h"
#include "engine/rec/limits.h"
#include "engine/rec/result_read.h"
#include "engine/tune/cure_int.h"

#include <math.h>
#include <string.h>

enum { BY_LOOP = ANA_STEPS - 1 }; /* place in ana_access.step */
#define ALTERNATING 2             /* stores between loads of one line */
#define MUCH        0.2           /* of the launch: what short CTAs wait for is worth a loop */
#define WORTH       0.1           /* of the slots of the SMs in use: a line that waits so long is told */

/* The space that is written in the text; generic: none, and the compiler knows no better. */
static uint8_t written_space(const struct curing *c, const struct ana_access *a)
{
    return c->k->module->funcs[a->func]->insts[a->inst].space;
}

static bool is_generic(const struct curing *c, const struct ana_access *a)
{
    uint8_t s = written_space(c, a);
    return s != PTX_SPACE_GLOBAL && s != PTX_SPACE_SHARED && s != PTX_SPACE_LOCAL;
}

/* Stores that stand between loads of the place, in the order of the text, and may write what they read. */
static unsigned stores_between(const struct curing *c, bool *generic)
{
    unsigned n = 0;
    bool load = false, global = false, any = false, shared = false;
    for (uint32_t i = 0; i < c->k->naccess; i++) {
        const struct ana_access *a = &c->k->access[i];
        if (a->prefetch)
            continue;
        if (a->store) {
            global |= load && written_space(c, a) == PTX_SPACE_GLOBAL;
            shared |= load && written_space(c, a) == PTX_SPACE_SHARED;
            any |= load && is_generic(c, a);
        } else if (cure_here(c, a) && cure_in_global(a)) {
            bool free = is_generic(c, a), meet = global || any || (shared && free);
            n += meet;
            *generic |= (meet && free) || any;
            load = true;
            global = any = shared = false;
        }
    }
    return n;
}

/* Loads of the loop that the access is in: each thread has so many under way. */
static unsigned loads_beside(const struct curing *c, const struct ana_access *a)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < c->k->naccess; i++) {
        const struct ana_access *b = &c->k->access[i];
        n += cure_in_global(b) && !b->store && !b->prefetch && b->loops &&
             strcmp(b->loops, a->loops) == 0;
    }
    return n;
}

/* A loop that asks for a word or two, and waits for them. */
static void cure_one_by_one(struct curing *c)
{
    for (uint32_t i = 0; i < c->k->naccess && !c->out.n; i++) {
        const struct ana_access *a = &c->k->access[i];
        if (!cure_here(c, a) || !cure_in_global(a) || a->store || a->atomic || !a->loops)
            continue;
        unsigned n = loads_beside(c, a);
        if (n && n <= ALTERNATING)
            buf_printf(&c->out,
                       "a round of the loop loads %u word%s for a thread, and waits: unroll it (#pragma "
                       "unroll), so that several are loaded before the first is used",
                       n, n > 1 ? "s" : "");
    }
}

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Is what the place stores at this address loaded from there, on its line or in its loop? */
static bool loaded_too(const struct curing *c, const struct ana_access *store)
{
    for (uint32_t i = 0; i < c->k->naccess; i++) {
        const struct ana_access *a = &c->k->access[i];
        if (!a->store && same_text(store->address, a->address) &&
            (cure_here(c, a) || same_text(store->loops, a->loops)))
            return true;
    }
    return false;
}

/* A store or an atomic of the place that a loop repeats at one address; NULL: none. */
static const struct ana_access *kept_in_memory(const struct curing *c)
{
    for (uint32_t i = 0; i < c->k->naccess; i++) {
        const struct ana_access *a = &c->k->access[i];
        if (cure_here(c, a) && cure_in_global(a) && a->store && cure_stays(a) &&
            (a->atomic || loaded_too(c, a)))
            return a;
    }
    return NULL;
}

void cure_kept(struct curing *c)
{
    const struct ana_access *a = kept_in_memory(c);
    if (a)
        buf_printf(&c->out,
                   "%s is %s at one place in each round of the loop: keep it in a register, and %s once "
                   "behind the loop",
                   cure_array(a), a->atomic ? "added to" : "read and written",
                   a->atomic ? "add that" : "store it");
}

static void cure_waits(struct curing *c)
{
    bool generic = false;
    cure_kept(c);
    unsigned n = c->out.n ? 0 : stores_between(c, &generic);
    if (n >= ALTERNATING)
        buf_printf(
            &c->out,
            "%u loads stand behind stores that may write what they read%s: batch the loads before "
            "the stores, or promise __restrict__%s",
            n, generic ? " (generic addresses)" : "",
            generic ? " and pass pointers to global memory" : "");
}

void cure_latency(struct curing *c)
{
    cure_waits(c);
    if (!c->out.n)
        cure_gather(c);
    if (!c->out.n)
        cure_one_by_one(c);
    if (!c->out.n && (double)result_limits(c->r)->share[LIMIT_LATENCY] >= MUCH)
        cure_short(c);
    if (!c->out.n)
        cure_costs(c);
    if (!c->out.n)
        cure_lanes(c);
}

static double ctas_that_fill(const struct limit_facts *f)
{
    double cta = (f->cta_threads + 31) / 32;
    return cta > 0 ? (double)f->sms * (double)f->warps_room / cta : 0;
}

void cure_grid(struct curing *c)
{
    const struct limit_facts *f = &result_limits(c->r)->facts;
    if (f->used >= f->sms)
        return;
    c->whole = true;
    buf_printf(&c->out,
               "%.0f SMs have no CTA: at least %.0f CTAs are needed, and %.0f fill all SMs (split long "
               "rows and sums among CTAs)",
               (double)(f->sms - f->used), (double)f->sms, ctas_that_fill(f));
    if (cure_walking(c, true, false))
        buf_puts(&c->out, "; a warp (or a part of one) for a row makes up to 32 times as many threads");
}

void cure_few_warps(struct curing *c)
{
    const struct limit_facts *f = &result_limits(c->r)->facts;
    struct limit_place line[LIMIT_POOL];
    size_t n = limits_lines(result_limits(c->r), line);
    double used = f->sms > 0 ? (double)(f->used / f->sms) : 0;
    for (size_t i = 0; i < n && !c->out.n && (double)line[i].share >= WORTH * used; i++) {
        c->at = line[i];
        c->p = &c->at;
        cure_latency(c);
    }
    if (c->out.n || f->used < f->sms || f->ctas >= ctas_that_fill(f))
        return;
    c->whole = true;
    buf_printf(&c->out,
               "%.0f CTAs are on SMs with room for %.0f: more CTAs, each with less of the work (split "
               "long rows and sums among them)",
               f->ctas, ctas_that_fill(f));
}

void cure_imbalance(struct curing *c)
{
    const struct ana_access *row = cure_walking(c, true, false);
    if (row && row->depends_on_load && !row->stepped) {
        c->whole = true;
        buf_puts(&c->out, "each thread walks along a row whose start is loaded, and long rows are "
                          "waited for: " CURE_ROWS ", and several warps a long one");
    } else if (c->p) {
        cure_lanes(c);
    }
}

void cure_occupancy(struct curing *c)
{
    const struct ptx_func *f = c->k->func;
    const struct limit_facts *x = &result_limits(c->r)->facts;
    c->whole = true;
    unsigned ctas =
        x->cta_threads ? (unsigned)((double)x->warps_room / ((x->cta_threads + 31) / 32)) : 0;
    if (f->minnctapersm && result_regs(c->r))
        buf_printf(&c->out, "launch bounds ask for %u CTAs of an SM, which leaves %u registers",
                   f->minnctapersm, result_regs(c->r));
    else if (x->warps_room >= x->warps_most || !ctas)
        return;
    else if (x->held_by == DEV_LIMIT_SLOTS)
        buf_printf(&c->out,
                   "an SM holds %u CTAs, of %u thread%s here: CTAs of %.0f threads or more fill it",
                   ctas, x->cta_threads, x->cta_threads == 1 ? "" : "s",
                   ceil((double)x->warps_most / ctas) * 32);
    else if (x->held_by == DEV_LIMIT_SHARED)
        buf_printf(&c->out,
                   "the shared memory of a CTA leaves room for %u of them on an SM, %.0f of %.0f warps: "
                   "smaller tiles, or fewer copies",
                   ctas, (double)x->warps_room, (double)x->warps_most);
    else if (x->held_by == DEV_LIMIT_REGS && result_regs(c->r))
        buf_printf(&c->out,
                   "%u registers of a thread leave room for %.0f of %.0f warps: keep less at once in "
                   "registers (a part in shared memory, shorter unrolling)",
                   result_regs(c->r), (double)x->warps_room, (double)x->warps_most);
    else if (x->held_by == DEV_LIMIT_WARPS)
        buf_printf(&c->out,
                   "CTAs of %u threads leave %.0f of an SM's %.0f warps empty: another size of CTA",
                   x->cta_threads, (double)(x->warps_most - x->warps_room), (double)x->warps_most);
}
