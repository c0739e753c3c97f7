/* Policies: what a load or store of PTX asks of each cache level on an
 * architecture, and the machine instruction class it stands for. The facts are
 * those measured by assembling and timing every form on Hopper; older parts
 * follow their tuning guides (presets say whether L1 takes plain loads). */
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/cache/cache.h"
#include "engine/sim/step.h"

#include <stdio.h>

/* Separate policy of each L1::x qualifier. */
static enum cache_alloc from_evict(uint8_t evict, enum cache_alloc plain)
{
    switch (evict) {
    case EVICT_FIRST: return CACHE_FIRST;
    case EVICT_LAST: return CACHE_LAST;
    case EVICT_UNCHANGED: return CACHE_UNCHANGED;
    case EVICT_NO_ALLOCATE: return CACHE_TRANSIT;
    case EVICT_NORMAL: return CACHE_NORMAL;
    default: return plain;
    }
}

/* Does .nc mean anything? Before sm_35 there is no read-only cache for loads: such a load is a plain
 * one (CUDA programming guide, compute capabilities 2.x and 3.0). */
static bool has_nc(const struct sim_preset *g)
{
    return g->cc_major * 10 + g->cc_minor >= 35;
}

/* Maxwell has no streaming loads: .cs assembles to the plain load (paper: bypass, section 5.1). */
static bool has_streaming(const struct sim_preset *g)
{
    return g->cc_major != 5;
}

static enum cache_alloc route_l1(const struct sim_preset *g, const struct exec_policy *p)
{
    if (p->nc && has_nc(g))
        return from_evict(p->l1, CACHE_NORMAL); /* .cg on .nc is dropped */
    enum cache_alloc plain = g->l1_plain ? CACHE_NORMAL : CACHE_BYPASS;
    switch (p->cop) {
    case COP_CV: return CACHE_DROP;
    case COP_CG: return CACHE_BYPASS;
    case COP_CA: return g->l1_ca ? CACHE_NORMAL : CACHE_BYPASS;
    case COP_CS: return g->l1_plain ? CACHE_FIRST : CACHE_BYPASS;
    case COP_LU: return g->l1_plain ? CACHE_LAST_USE : CACHE_BYPASS;
    default: return g->l1_plain ? from_evict(p->l1, plain) : CACHE_BYPASS;
    }
}

/* A createpolicy value decides per address: range policies by window, fractional ones by a hash of the
 * line. */
static enum cache_alloc from_hint(uint64_t hint, uint64_t addr)
{
    enum exec_evict kind;
    if (exec_hint_range(hint, addr, &kind))
        return from_evict((uint8_t)kind, CACHE_NORMAL);
    kind = cache_fraction(addr >> CACHE_LINE_SHIFT) < exec_hint_fraction(hint)
               ? exec_hint_primary(hint)
               : exec_hint_secondary(hint);
    return from_evict((uint8_t)kind, CACHE_NORMAL);
}

static enum cache_alloc route_l2(const struct exec_policy *p, uint64_t hint, uint64_t addr)
{
    if (hint)
        return from_hint(hint, addr);
    if (p->l2 != EVICT_NONE)
        return from_evict(p->l2, CACHE_NORMAL);
    /* one instruction: .EF */
    if (p->cop == COP_CS || p->cop == COP_LU || p->l1 == EVICT_FIRST)
        return CACHE_FIRST;
    /* .NA: thresholds measured on an H200 show it in L2 */
    if (p->l1 == EVICT_NO_ALLOCATE)
        return CACHE_FIRST;
    return CACHE_NORMAL;
}

struct cache_route cache_route_load(const struct sim_preset *g, const struct exec_policy *asked,
                                    uint64_t hint, uint64_t addr)
{
    struct exec_policy real = *asked, *p = &real;
    if (real.cop == COP_CS && !has_streaming(g))
        real.cop = COP_NONE;
    struct cache_route r = { .l1 = (uint8_t)route_l1(g, p),
                             .l2 = (uint8_t)route_l2(p, hint, addr),
                             .granule = (uint8_t)(g->l2_fill / 32),
                             .read_only = p->nc && has_nc(g) && g->ro_bytes > 0 };
    uint16_t want = p->l2_prefetch;
    if (want == 256 && g->cc_major == 8 && g->cc_minor == 0 && p->nc && p->l1 == EVICT_NO_ALLOCATE)
        want = 128;
    if (want / 32 > r.granule)
        r.granule = (uint8_t)(want >= 128 ? 4 : want / 32);
    r.next = want == 256;
    return r;
}

enum cache_alloc cache_route_store(const struct exec_policy *p, uint64_t hint, uint64_t addr)
{
    return route_l2(p, hint, addr);
}

/* ---- the machine instruction ---- */

struct load_form {
    enum ptx_mod op, l1;
    bool nc, hint, fresh;
    enum ptx_mod size;
};

static struct load_form form_of(const struct ptx_inst *i)
{
    struct load_form f = { .op = ptx_mod_of(i, MODCAT_CACHE),
                           .l1 = ptx_mod_of(i, MODCAT_L1),
                           .nc = ptx_has_mod(i, PTX_MOD_NC),
                           .hint = ptx_has_mod(i, PTX_MOD_L2_CACHE_HINT) };
    enum ptx_mod sem = ptx_mod_of(i, MODCAT_SEM);
    f.fresh = f.op == PTX_MOD_CV || sem == PTX_MOD_VOLATILE || sem == PTX_MOD_MMIO ||
              ((sem == PTX_MOD_RELAXED || sem == PTX_MOD_ACQUIRE) && ptx_has_mod(i, PTX_MOD_SYS));
    if (!f.fresh && (sem == PTX_MOD_RELAXED || sem == PTX_MOD_ACQUIRE))
        f.op = ptx_has_mod(i, PTX_MOD_CTA) ? PTX_MOD_CA : PTX_MOD_CG;
    for (unsigned k = 0; k < i->nmods; k++)
        if (i->mods[k] == PTX_MOD_L2_64B || i->mods[k] == PTX_MOD_L2_128B ||
            i->mods[k] == PTX_MOD_L2_256B)
            f.size = (enum ptx_mod)i->mods[k];
    return f;
}

/* Volta and later: suffix by operator; first match wins. */
static const char *modern_suffix(const struct load_form *f, bool volta)
{
    if (f->nc)
        return f->l1 == PTX_MOD_L1_NO_ALLOCATE ? ".NA.CONSTANT" : ".CONSTANT";
    if (f->fresh)
        return ".STRONG.SYS";
    if (f->op == PTX_MOD_CG)
        return ".STRONG.GPU";
    if (f->op == PTX_MOD_CA)
        return volta ? ".STRONG.CTA" : ".STRONG.SM";
    if (f->op == PTX_MOD_LU)
        return ".LU";
    if (f->op == PTX_MOD_CS || f->l1 == PTX_MOD_L1_EVICT_FIRST)
        return ".EF";
    if (f->l1 == PTX_MOD_L1_NO_ALLOCATE)
        return ".NA";
    if (f->l1 == PTX_MOD_L1_EVICT_LAST)
        return ".EL";
    if (f->l1 == PTX_MOD_L1_EVICT_UNCHANGED)
        return ".EU";
    return "";
}

static const char *old_suffix(const struct load_form *f, bool cs)
{
    if (f->fresh)
        return ".CV";
    if (f->op == PTX_MOD_CG)
        return ".CG";
    if (f->op == PTX_MOD_CS)
        return cs ? ".CS" : "";
    if (f->op == PTX_MOD_LU)
        return ".LU";
    return "";
}

static const char *size_suffix(const struct sim_preset *p, const struct load_form *f)
{
    bool cut = p->cc_major == 8 && p->cc_minor == 0 && f->nc && f->l1 == PTX_MOD_L1_NO_ALLOCATE;
    if (p->cc_major < 8 || !f->size)
        return "";
    return f->size == PTX_MOD_L2_64B            ? ".LTC64B"
           : f->size == PTX_MOD_L2_256B && !cut ? ".LTC256B"
                                                : ".LTC128B";
}

/* The first that holds. */
static void judge(const struct sim_preset *p, const struct load_form *f, struct sim_operator *o)
{
    bool volta = p->cc_major >= 7, ca = f->op == PTX_MOD_CA, cg = f->op == PTX_MOD_CG;
    const struct {
        bool holds, noop;
        const char *reason;
    } cases[] = {
        { f->nc && !has_nc(p), true,
          "the read-only cache serves loads from sm_35 on: this is a plain load here" },
        { f->nc && cg, true,
          "the assembler drops .cg on a read-only load; use .nc.L1::no_allocate, or a plain load with "
          ".cg" },
        { f->op == PTX_MOD_CS && !has_streaming(p), true,
          "Maxwell has no streaming loads: .cs is the plain load" },
        { cg && !p->l1_plain, true, "plain global loads already bypass L1 on this device" },
        { ca && !p->l1_ca, true, "this device does not cache global loads in L1, not even .ca" },
        { ca && !volta && p->l1_plain, true, "caching in L1 is the default on this device" },
        { ca && volta, false,
          ".ca is another instruction than a plain load here; leave a load plain when it should cache" },
        { f->l1 && !volta, true, "L1 eviction priorities exist from sm_70 on" },
        { f->hint && p->cc_major < 8, true, "L2 cache hints exist from sm_80 on" },
        { f->size && p->cc_major < 8, p->cc_major * 10 + p->cc_minor < 75,
          "L2 prefetch sizes have no known effect before sm_80" },
        { f->l1 == PTX_MOD_L1_NO_ALLOCATE, false,
          "does not allocate, but hits lines that other loads brought in" },
        { true, false, "" },
    };
    size_t k = 0;
    while (!cases[k].holds)
        k++;
    o->noop |= cases[k].noop;
    o->reason = cases[k].reason;
}

struct sim_operator sim_load_operator(const struct sim_preset *p, const struct ptx_inst *i)
{
    struct load_form f = form_of(i);
    struct sim_operator o = { .reason = "" };
    bool nc = f.nc && has_nc(p);
    if (p->cc_major >= 7) {
        const char *suffix = modern_suffix(&f, p->cc_major == 7);
        /* Volta and Turing name the scope of weak loads too */
        bool sys = p->cc_major == 7 && !*suffix;
        snprintf(o.sass, sizeof o.sass, "LDG.E%s%s%s", suffix, size_suffix(p, &f), sys ? ".SYS" : "");
    } else {
        snprintf(o.sass, sizeof o.sass, "%s%s", nc || p->cc_major >= 5 ? "LDG.E" : "LD.E",
                 nc ? "" : old_suffix(&f, has_streaming(p)));
    }
    judge(p, &f, &o);
    static const uint8_t evicts[] = { EVICT_NORMAL, EVICT_UNCHANGED, EVICT_FIRST, EVICT_LAST,
                                      EVICT_NO_ALLOCATE };
    struct exec_policy pol = { .nc = f.nc,
                               .cop = f.fresh              ? COP_CV
                                      : f.op == PTX_MOD_CG ? COP_CG
                                      : f.op == PTX_MOD_CA ? COP_CA
                                      : f.op == PTX_MOD_CS ? has_streaming(p) ? COP_CS : COP_NONE
                                      : f.op == PTX_MOD_LU ? COP_LU
                                                           : COP_NONE };
    if (f.l1)
        pol.l1 = evicts[f.l1 - PTX_MOD_L1_EVICT_NORMAL];
    enum cache_alloc l1 = route_l1(p, &pol);
    o.l1 = l1 != CACHE_BYPASS && l1 != CACHE_DROP && l1 != CACHE_TRANSIT;
    return o;
}
