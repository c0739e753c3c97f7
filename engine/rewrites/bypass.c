/* bypass (paper: bypass, sections 3 and 4): which loads take part, and what the two operators become
 * on the target. Operators and their traps were measured on SASS: .cg on .nc is dropped silently, .cg
 * keeps a line in L2, a plain ld caches in L1 and is not the same as .ca on Volta and later.
 *
 *   level   caching load                                    bypassing load (default operator)
 *   l1      plain; .ca where plain loads pass L1 by         .cg
 *   ro      .nc                                             .cg
 *   l2      .cg                                             .cs; from sm_80 on an evict-first policy
 *   l1+l2   as l1                                           .cs; from sm_80 on .cg with that policy
 *
 *   before                               after, --bypass l1 --pi 2, in a warp from number 2 on
 *     ld.global.f32 %f1, [%rd6];           ld.global.cg.f32 %f1, [%rd6]; */
#include "engine/analysis/analysis.h"
#include "engine/pass/copies.h"
#include "engine/rec/device.h"
#include "engine/rec/opt_memory.h"
#include "engine/rewrites/bypass_int.h"

#include <string.h>

/* What each operator needs (PTX ISA 9.7.9.8, 9.7.9.18). */
static const struct {
    uint16_t version, target;
} op_needs[] = {
    [BYPASS_OP_CG] = { 20, 20 },          [BYPASS_OP_NO_ALLOCATE] = { 74, 70 },
    [BYPASS_OP_CS] = { 20, 20 },          [BYPASS_OP_EVICT_LAST] = { 74, 70 },
    [BYPASS_OP_EVICT_FIRST] = { 74, 70 }, [BYPASS_OP_EVICT_UNCHANGED] = { 74, 70 },
    [BYPASS_OP_CACHE_HINT] = { 74, 80 },
};
static const char *const op_names[] = {
#define X(id, text) [id] = text,
    BYPASS_OPS(X)
#undef X
};

static bool op_fits(const struct pass_ctx *c, enum bypass_op op)
{
    return pass_cc(c) >= op_needs[op].target;
}

/* `needs`: whose target is missing; for level l2 that is the policy's. */
static enum status op_refuse(struct pass_ctx *c, enum bypass_op op, enum bypass_op needs)
{
    return pass_refuse(c, NO_SPAN,
                       c->in->dev ? "use --bypass-op cg or cs"
                                  : "use --bypass-op cg or cs, or a PTX built for that target",
                       "--bypass-op %s%s needs sm_%u: the %s sm_%u%s", op_names[op],
                       needs == op ? "" : " of L2", op_needs[needs].target,
                       c->in->dev ? "device is" : "module is for", pass_cc(c),
                       c->in->dev ? "" : " and no device is chosen");
}

/* The L1 qualifier that an operator is; NULL: it is none. */
static const char *l1_word(enum bypass_op op)
{
    switch (op) {
    case BYPASS_OP_NO_ALLOCATE: return ".L1::no_allocate";
    case BYPASS_OP_EVICT_LAST: return ".L1::evict_last";
    case BYPASS_OP_EVICT_FIRST: return ".L1::evict_first";
    case BYPASS_OP_EVICT_UNCHANGED: return ".L1::evict_unchanged";
    default: return NULL;
    }
}

/* Priority of the L2 policy that an operator asks for; NULL: it is none of L2's. */
static const char *l2_priority(enum bypass_op op)
{
    switch (op) {
    case BYPASS_OP_CACHE_HINT:
    case BYPASS_OP_EVICT_FIRST: return "evict_first";
    case BYPASS_OP_EVICT_LAST: return "evict_last";
    case BYPASS_OP_EVICT_UNCHANGED: return "evict_unchanged";
    default: return NULL;
    }
}

/* What a load that caches is written as. Before sm_70 .ca asks for L1 where plain loads pass it by; from
 * sm_70 on it is an ordered load, and plain loads cache. A load that L2 alone caches is .cg. */
static const char *caching_op(const struct bypass *b)
{
    const struct dev_info *d = b->c->in->dev;
    uint32_t cc = pass_cc(b->c);
    if (b->level == BYPASS_L2)
        return ".cg";
    if (b->level == BYPASS_RO || cc >= 70)
        return NULL;
    bool known = d && d->sm.l1_ways > 0, past = known ? !(d->sm.l1_plain > 0) : cc >= 30 && cc < 60;
    return past ? ".ca" : NULL;
}

/* Level l2 is about L2 lines: cg and no_allocate choose about L1 and would change nothing there, and
 * evict_first is used. The other operators are a priority in L2 too, which only a policy can ask for. */
static enum status settle_l2(struct bypass *b, enum bypass_op op)
{
    struct pass_ctx *c = b->c;
    bool l1_too = b->level == BYPASS_L1L2;
    const char *priority = l2_priority(op), *word = l1_word(op);
    if (word && !op_fits(c, op))
        return op_refuse(c, op, op);
    if (op == BYPASS_OP_CS) {
        b->cop = ".cs";
        return ST_OK;
    }
    if (priority || op_fits(c, BYPASS_OP_CACHE_HINT)) {
        if (!op_fits(c, BYPASS_OP_CACHE_HINT))
            return op_refuse(c, op, BYPASS_OP_CACHE_HINT);
        b->hint = true;
        b->priority = priority ? priority : "evict_first";
        b->cop = l1_too && !word ? ".cg" : NULL;
        b->l1 = l1_too ? word : NULL;
        if (!l1_too && !priority)
            pass_note(c, NO_SPAN,
                      "--bypass-op %s affects only L1: --bypass l2 uses L2::cache_hint (evict_first)",
                      op_names[op]);
        return ST_OK;
    }
    b->cop = ".cs";
    pass_note(
        c, NO_SPAN,
        "--bypass-op %s does not affect L2, and L2::cache_hint needs sm_80: .cs (evict first) is used",
        op_names[op]);
    return ST_OK;
}

static enum status settle_op(struct bypass *b)
{
    struct pass_ctx *c = b->c;
    enum bypass_op op = (enum bypass_op)opt_bypass(c->opt)->op;
    if (b->level == BYPASS_L2 || b->level == BYPASS_L1L2)
        return settle_l2(b, op);
    if (op == BYPASS_OP_CACHE_HINT)
        return pass_refuse(
            c, NO_SPAN, "use --bypass l2 or l1+l2, or another operator",
            "--bypass-op cache_hint affects only L2; --bypass %s would still be cached in L1",
            b->level == BYPASS_RO ? "ro" : "l1");
    if (!op_fits(c, op))
        return op_refuse(c, op, op);
    b->cop = op == BYPASS_OP_CG ? ".cg" : op == BYPASS_OP_CS ? ".cs" : NULL;
    b->l1 = l1_word(op);
    return ST_OK;
}

static bool by_load(const struct options *o)
{
    return opt_bypass(o)->form == BYPASS_FORM_VERTICAL || opt_bypass(o)->form == BYPASS_FORM_HYBRID;
}

/* Operator and level settled against the target; ST_REFUSED with what would have to change. */
static enum status bypass_begin(struct bypass *b, struct pass_ctx *c)
{
    memset(b, 0, sizeof *b);
    b->c = c;
    b->level = (enum bypass_level)opt_bypass(c->opt)->level;
    b->vote =
        PI_IS_VOTE(opt_bypass(c->opt)->pi.mode) && opt_bypass(c->opt)->form != BYPASS_FORM_VERTICAL;
    uint32_t cc = pass_cc(c);
    /* .nc has a cache of its own on Kepler; before sm_35 it is a plain load, as --readonly demote makes it */
    b->with_nc = b->level != BYPASS_RO && (cc >= 50 || cc < PASS_READ_ONLY_TARGET ||
                                           opt_memory(c->opt)->readonly == READONLY_DEMOTE);
    b->keep = caching_op(b);
    enum status s = b->level == BYPASS_RO ? pass_needs_read_only(c, "--bypass ro") : ST_OK;
    if (s == ST_OK)
        s = settle_op(b);
    if (s == ST_OK && !pass_flow_make(c->f, &b->flow))
        s = ST_NOMEM;
    if (opt_bypass(c->opt)->pi.mode == PI_CHA && !by_load(c->opt)) { /* no load bypasses */
        b->hint = false;
        b->l1 = NULL;
    }
    if (b->hint || b->l1)
        pass_need_isa(c, 74, b->hint ? 80 : 70);
    if (b->vote && pass_target(c) >= 32)
        pass_need_isa(c, 31, 32); /* red.max.u64 */
    struct buf n = { 0 };
    pass_code(&n, c->tag, "%%#pol");
    if (n.s && n.n < sizeof b->policy)
        memcpy(b->policy, n.s, n.n + 1);
    buf_clear(&n);
    pass_code(&n, c->tag, "%%#p");
    if (n.s && n.n < sizeof b->pred)
        memcpy(b->pred, n.s, n.n + 1);
    c->oom |= n.oom;
    buf_free(&n);
    return s;
}

static void bypass_end(struct bypass *b)
{
    strmap_free(&b->clones);
}

/* ---- the pass ---- */
static bool asked(const struct options *o)
{
    return opt_bypass(o)->level != BYPASS_NONE;
}

static const struct ptx_inst *load_at_line(struct bypass *b, uint32_t line)
{
    const struct ptx_module *m = b->c->m;
    for (uint32_t k = 0; k < m->nfuncs; k++)
        for (uint32_t n = 0; n < m->funcs[k]->ninsts; n++)
            if (m->funcs[k]->insts[n].at.line == line &&
                bypass_governs(b, m->funcs[k], &m->funcs[k]->insts[n]))
                return &m->funcs[k]->insts[n];
    return NULL;
}

static enum status check_lines(struct bypass *b)
{
    const struct options *o = b->c->opt;
    for (uint32_t k = 0; k < opt_bypass(o)->loads.n; k++)
        if (!load_at_line(b, opt_bypass(o)->loads.line[k]))
            return pass_refuse(b->c, NO_SPAN, "gpulocw analyze lists the loads with their lines",
                               "--bypass-loads %u: no load on that PTX line that --bypass applies to",
                               opt_bypass(o)->loads.line[k]);
    if (!opt_bypass(o)->loads.n && !pass_facts(b->c))
        return pass_refuse(b->c, NO_SPAN, "select the loads with --bypass-loads",
                           "the analysis cannot select loads for this kernel");
    return ST_OK;
}

/* Every function reachable, kernel first. */
static uint32_t count_governed(struct bypass *b)
{
    struct pass_funcs fs;
    pass_callees(b->c, &fs);
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->c->f->ninsts; k++)
        n += bypass_governs(b, b->c->f, &b->c->f->insts[k]);
    for (uint32_t k = 0; k < fs.n; k++)
        for (uint32_t i = 0; i < fs.v[k]->ninsts; i++)
            n += bypass_governs(b, fs.v[k], &fs.v[k]->insts[i]);
    return n;
}

static enum status check_form(struct pass_ctx *c)
{
    const struct options *o = c->opt;
    if (opt_bypass(o)->form != BYPASS_FORM_HARDWARE)
        return ST_OK;
    if (c->in->dev && c->in->dev->kind != DEV_SIMULATED)
        return pass_refuse(
            c, NO_SPAN, "use --bypass-form clone, or --device sim:...",
            "a threshold register in the cache controller exists only on the simulated device");
    if (opt_bypass(o)->level != BYPASS_L1)
        return pass_refuse(
            c, NO_SPAN, NULL,
            "the threshold register of the simulated device controls L1: use --bypass l1");
    return ST_OK;
}

/* Why no load can take part. Asynchronous copies are no loads that could: .cg and bulk copies pass L1 by
 * as they are written (PTX ISA 9.7.9.25). */
static enum status none_governed(const struct bypass *b)
{
    const struct ptx_inst *copy = pass_find_effect(b->c->f, EFFECT_ASYNC_COPY);
    if (b->nleft)
        return pass_refuse(b->c, b->first_left, NULL,
                           "no load can bypass; the first one cannot because %s", b->why_left);
    if (copy)
        return pass_refuse(b->c, copy->at, NULL,
                           "the kernel reads global memory only with asynchronous copies, whose "
                           "operators are not changed");
    return pass_refuse(b->c, NO_SPAN, NULL, "the kernel has no global load");
}

/* Does the rewrite part the warps of a CTA into two copies of the code? */
static bool has_copies(const struct bypass *b)
{
    const struct options *o = b->c->opt;
    bool form = opt_bypass(o)->form == BYPASS_FORM_CLONE || opt_bypass(o)->form == BYPASS_FORM_HYBRID;
    return b->vote || (form && opt_bypass(o)->pi.mode == PI_VALUE);
}

/* The warps of a warpgroup are in one copy. */
static enum status check_groups(struct bypass *b, const struct pass_funcs *fs)
{
    struct pass_ctx *c = b->c;
    const struct ptx_inst *i = copies_warpgroup(c->f, fs);
    int pi = opt_bypass(c->opt)->pi.value;
    uint32_t warps = pass_warps(c);
    if (!i || (!b->vote && (pi % COPIES_GROUP_WARPS == 0 || (warps && (uint32_t)pi >= warps))))
        return ST_OK;
    return pass_refuse(c, i->at, "give --pi a multiple of 4, or use --bypass-form predicate",
                       b->vote ? "--pi vote tries every threshold, and %s is executed by the four warps "
                                 "of a warpgroup together"
                               : "this threshold parts the four warps of a warpgroup, which execute %s "
                                 "together",
                       ptx_op_info(i->op)->name);
}

/* What two copies of the code must share. */
static enum status check_copies(struct bypass *b)
{
    struct pass_ctx *c = b->c;
    struct pass_funcs fs;
    pass_callees(c, &fs);
    const struct ptx_symbol *v = copies_shared_variable(c->f, false);
    for (uint32_t k = 0; k < fs.n && !v; k++)
        v = copies_shared_variable(fs.v[k], true);
    if (v)
        return pass_refuse(c, v->at, "use --bypass-form predicate, or declare it for the whole module",
                           "warps in different copies of the code would have different variables %.*s",
                           (int)v->name.n, v->name.s);
    return check_groups(b, &fs);
}

static enum status check(struct pass_ctx *c)
{
    enum status s = check_form(c);
    struct bypass b;
    if (s != ST_OK || opt_bypass(c->opt)->form == BYPASS_FORM_HARDWARE)
        return s;
    s = bypass_begin(&b, c);
    if (s == ST_OK && !count_governed(&b))
        s = none_governed(&b);
    if (s == ST_OK && by_load(c->opt))
        s = check_lines(&b);
    if (s == ST_OK && b.vote)
        s = bypass_vote_check(c);
    if (s == ST_OK && has_copies(&b))
        s = check_copies(&b);
    bypass_end(&b);
    return s;
}

static uint32_t count_chosen(struct bypass *b)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->c->f->ninsts; k++)
        n += bypass_picked(b, b->c->f, &b->c->f->insts[k], PICK_CHOSEN);
    return n;
}

static enum status run(struct pass_ctx *c)
{
    const struct options *o = c->opt;
    if (opt_bypass(o)->form ==
        BYPASS_FORM_HARDWARE) /* the cache controller compares: no load bypasses by itself */
        c->out->hw_pi = opt_bypass(o)->pi.mode == PI_VALUE ? opt_bypass(o)->pi.value
                        : opt_bypass(o)->pi.mode == PI_BPA ? 0
                                                           : -1;
    struct bypass b;
    enum status s = bypass_begin(&b, c);
    if (s == ST_OK)
        s = bypass_emit(&b);
    if (s == ST_OK && b.vote && opt_bypass(o)->pi.mode == PI_VOTE_CTA)
        bypass_vote_grid(&b);
    if (s == ST_OK && by_load(o) && !count_chosen(&b))
        pass_note(c, NO_SPAN,
                  "the analysis finds reuse in every load: none is selected to bypass (--bypass-loads "
                  "selects by hand)");
    b.nleft = 0;
    if (s == ST_OK && count_governed(&b) && b.nleft)
        pass_note(c, b.first_left, "%u load%s cannot bypass, this one because %s", b.nleft,
                  b.nleft > 1 ? "s" : "", b.why_left);
    if (s == ST_OK && b.ndropped_nc)
        pass_note(c, NO_SPAN, "%u .nc load%s lost .nc: hardware drops %s on .nc", b.ndropped_nc,
                  b.ndropped_nc > 1 ? "s" : "", b.cop ? b.cop : b.keep);
    bypass_end(&b);
    return s;
}

static const char *const knobs[] = { "bypass",       "bypass-op",        "bypass-form", "pi",
                                     "bypass-loads", "assume-read-only", NULL };
const struct pass_row pass_row_bypass = {
    { "bypass", "loads bypass a cache level: all, by warp threshold, or load by load" },
    knobs,
    asked,
    check,
    run,
    NULL,
    NULL,
};
