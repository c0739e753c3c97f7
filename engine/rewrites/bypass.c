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
#include "engine/analysis/alias.h"
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/device.h"
#include "engine/rec/options.h"
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
                       c->in->dev ? "" : " and no device is named");
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
            pass_note(
                c, NO_SPAN,
                "--bypass-op %s affects L1 only: L2::cache_hint (evict_first) is used for --bypass l2",
                op_names[op]);
        return ST_OK;
    }
    b->cop = ".cs";
    pass_note(
        c, NO_SPAN,
        "--bypass-op %s leaves L2 as it is, and L2::cache_hint needs sm_80: .cs (evict first) is used",
        op_names[op]);
    return ST_OK;
}

static enum status settle_op(struct bypass *b)
{
    struct pass_ctx *c = b->c;
    enum bypass_op op = (enum bypass_op)c->opt->bypass_op;
    if (b->level == BYPASS_L2 || b->level == BYPASS_L1L2)
        return settle_l2(b, op);
    if (op == BYPASS_OP_CACHE_HINT)
        return pass_refuse(
            c, NO_SPAN, "use --bypass l2 or l1+l2, or another operator",
            "--bypass-op cache_hint is a policy of L2 alone; --bypass %s would stay cached in L1",
            b->level == BYPASS_RO ? "ro" : "l1");
    if (!op_fits(c, op))
        return op_refuse(c, op, op);
    b->cop = op == BYPASS_OP_CG ? ".cg" : op == BYPASS_OP_CS ? ".cs" : NULL;
    b->l1 = l1_word(op);
    return ST_OK;
}

static bool by_load(const struct options *o)
{
    return o->bypass_form == BYPASS_FORM_VERTICAL || o->bypass_form == BYPASS_FORM_HYBRID;
}

/* Operator and level settled against the target; ST_REFUSED with what would have to change. */
static enum status bypass_begin(struct bypass *b, struct pass_ctx *c)
{
    memset(b, 0, sizeof *b);
    b->c = c;
    b->level = (enum bypass_level)c->opt->bypass;
    b->vote = PI_IS_VOTE(c->opt->pi.mode) && c->opt->bypass_form != BYPASS_FORM_VERTICAL;
    uint32_t cc = pass_cc(c);
    /* .nc has a cache of its own on Kepler; before sm_35 it is a plain load */
    b->with_nc = b->level != BYPASS_RO && (cc >= 50 || cc < PASS_READ_ONLY_TARGET);
    b->keep = caching_op(b);
    enum status s = b->level == BYPASS_RO ? pass_needs_read_only(c, "--bypass ro") : ST_OK;
    if (s == ST_OK)
        s = settle_op(b);
    if (s == ST_OK && !pass_flow_make(c->f, &b->flow))
        s = ST_NOMEM;
    if (c->opt->pi.mode == PI_CHA && !by_load(c->opt)) { /* no load bypasses */
        b->hint = false;
        b->l1 = NULL;
    }
    if (b->hint || b->l1)
        pass_need_isa(c, 74, b->hint ? 80 : 70);
    if (b->vote && pass_target(c) >= 32)
        pass_need_isa(c, 31, 32); /* red.max.u64 */
    struct buf n = { 0 };
    buf_printf(&n, "%%%spol", c->tag);
    if (n.s && n.n < sizeof b->policy)
        memcpy(b->policy, n.s, n.n + 1);
    buf_clear(&n);
    buf_printf(&n, "%%%sp", c->tag);
    if (n.s && n.n < sizeof b->pred)
        memcpy(b->pred, n.s, n.n + 1);
    c->oom |= n.oom;
    buf_free(&n);
    return s;
}

static void bypass_end(struct bypass *b)
{
    pass_flow_free(&b->flow);
    strmap_free(&b->clones);
}

static void left_alone(struct bypass *b, const struct ptx_inst *i, const char *why)
{
    if (!b->nleft++) {
        b->first_left = i->at;
        b->why_left = why;
    }
}

static bool proven_global(struct bypass *b, const struct ptx_func *f, const struct ptx_inst *i)
{
    if (i->space == PTX_SPACE_GLOBAL)
        return true;
    if (i->space != PTX_SPACE_GENERIC)
        return false;
    struct alias_roots r;
    pass_address_roots(b->c, f, inst_address(i), &r);
    return !r.unknown && !r.window;
}

static bool knows_mods(const struct ptx_inst *i)
{
    return !inst_has(i, ".unified") && !inst_has(i, ".L2::cache_hint") && !ptx_is_opaque(i);
}

bool bypass_governs(struct bypass *b, const struct ptx_func *f, const struct ptx_inst *i)
{
    if (!inst_is(i, "ld") || (i->space != PTX_SPACE_GLOBAL && i->space != PTX_SPACE_GENERIC))
        return false;
    bool nc = inst_has(i, ".nc");
    const char *why = NULL;
    if (inst_is_strong(i))
        why = "it is volatile or ordered";
    else if (!proven_global(b, f, i))
        why = "its address is generic and not proven to be global";
    else if (!knows_mods(i))
        why = "it carries a cache policy already";
    else if (nc && b->level != BYPASS_RO && !b->with_nc)
        why = "it goes through the read-only cache (--bypass ro)";
    else if (b->level == BYPASS_RO && i->space != PTX_SPACE_GLOBAL)
        why = "only ld.global can be .nc";
    else if (b->level == BYPASS_RO && !nc && (f != b->c->f || !pass_proven_read_only(b->c, i, &why)))
        why = why ? why : "it is in a called function";
    else
        return true;
    left_alone(b, i, why);
    return false;
}

/* Is it among the loads picked by line or by the analysis? */
static bool bypass_chosen(struct bypass *b, const struct ptx_inst *i)
{
    const struct options *o = b->c->opt;
    uint32_t line = pass_line(b->c, i->at.line);
    for (uint32_t k = 0; k < o->bypass_loads.n; k++)
        if (line && o->bypass_loads.line[k] == line)
            return true;
    if (o->bypass_loads.n)
        return false;
    const struct ana_kernel *k = pass_facts(b->c);
    const struct ana_access *a = pass_access(b->c, i);
    if (!a || a->executions == 0)
        return false;
    /* traced, or by its address alone */
    return k->footprint.valid ? !a->reused : a->cls == ANA_CLASS_STREAMING;
}

bool bypass_picked(struct bypass *b, const struct ptx_func *f, const struct ptx_inst *i,
                   enum bypass_pick pick)
{
    return pick != PICK_NONE && bypass_governs(b, f, i) && (pick == PICK_ALL || bypass_chosen(b, i));
}

/* Order of the words of a load (PTX ISA 9.7.9.8): ld .weak .space .cop .nc .L1:: .L2::evict
 * .L2::cache_hint .L2::size .vec .type */
enum {
    ORDER_WEAK,
    ORDER_SPACE,
    ORDER_COP,
    ORDER_NC,
    ORDER_L1,
    ORDER_L2,
    ORDER_HINT,
    ORDER_SIZE,
    ORDER_REST,
    ORDER_COUNT,
    ORDER_DROP
};

static int order_of(enum ptx_mod m)
{
    const char *text = ptx_mod_text(m);
    switch (ptx_mod_category(m)) {
    case MODCAT_SPACE: return ORDER_SPACE;
    case MODCAT_CACHE: return ORDER_COP;
    case MODCAT_L1: return ORDER_L1;
    case MODCAT_L2: return strncmp(text, ".L2::evict", 10) == 0 ? ORDER_L2 : ORDER_SIZE;
    default:
        return strcmp(text, ".weak") == 0 ? ORDER_WEAK
               : strcmp(text, ".nc") == 0 ? ORDER_NC
                                          : ORDER_REST;
    }
}

/* What one side of the threshold puts into a load. */
struct words {
    const char *cop, *l1;
    bool hint;
};

static struct words words_of(const struct bypass *b, bool bypassing)
{
    return bypassing ? (struct words){ b->cop, b->l1, b->hint } : (struct words){ .cop = b->keep };
}

/* The words of one place in the order, the inserted one instead of the written ones where there is one.
 */
static void write_place(struct bypass *b, const struct ptx_inst *i, int place, struct words w,
                        struct buf *out)
{
    bool nc = inst_has(i, ".nc");
    if ((place == ORDER_COP || place == ORDER_L1) && (w.cop || w.l1)) {
        const char *own = place == ORDER_COP ? w.cop : w.l1;
        buf_puts(out, own ? own : "");
        return;
    }
    if (w.hint && place == ORDER_L2)
        return;
    if (w.hint && place == ORDER_HINT)
        buf_puts(out, ".L2::cache_hint");
    if (place == ORDER_NC) {
        if (!w.cop && (nc || b->level == BYPASS_RO))
            buf_puts(out, ".nc");
        return;
    }
    for (uint8_t k = 0; k < i->nmods; k++)
        if (order_of((enum ptx_mod)i->mods[k]) == place)
            buf_puts(out, ptx_mod_text((enum ptx_mod)i->mods[k]));
}

/* Does a load that caches stay as it is written? One that names its place in L1 knows better. */
static bool stays(const struct bypass *b, const struct ptx_inst *i)
{
    if (b->level == BYPASS_RO || b->level == BYPASS_L2)
        return false;
    return !b->keep || inst_has(i, ".nc") || ptx_mod_of(i, MODCAT_CACHE) != PTX_MOD_NONE ||
           ptx_mod_of(i, MODCAT_L1) != PTX_MOD_NONE;
}

/* Text of the statement behind its opcode word: " \t%f1, [%rd1];". */
static struct str behind_opcode(const struct ptx_module *m, const struct ptx_inst *i, struct str *guard)
{
    struct str t = ptx_text(m, i->at);
    const char *p = t.s, *end = t.s + t.n;
    *guard = (struct str){ t.s, 0 };
    if (i->guarded) {
        while (p < end && (*p == '@' || *p == '!' || *p == ' ' || *p == '\t'))
            p++;
        while (p < end && *p != ' ' && *p != '\t' && *p != '\n')
            p++;
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\n'))
            p++;
        guard->n = (size_t)(p - t.s);
    }
    while (p < end && *p != ' ' && *p != '\t' && *p != '\n')
        p++;
    return (struct str){ p, (size_t)(end - p) };
}

void bypass_write(struct bypass *b, const struct ptx_inst *i, bool bypassing, const char *guard,
                  struct buf *out)
{
    struct str own, rest = behind_opcode(b->c->m, i, &own);
    if (guard)
        buf_puts(out, guard);
    else
        buf_str(out, own);
    struct words w = words_of(b, bypassing);
    if (!bypassing && stays(b, i)) {
        struct str t = ptx_text(b->c->m, i->at);
        buf_put(out, t.s + own.n, t.n - own.n);
        return;
    }
    if (w.cop && inst_has(i, ".nc"))
        b->ndropped_nc++;
    buf_puts(out, "ld");
    for (int place = 0; place < ORDER_COUNT; place++)
        write_place(b, i, place, w, out);
    if (w.hint && rest.n && rest.s[rest.n - 1] == ';') {
        buf_put(out, rest.s, rest.n - 1);
        buf_printf(out, ", %s;", b->policy);
    } else {
        buf_str(out, rest);
    }
}

/* ---- the pass ---- */
static bool asked(const struct options *o)
{
    return o->bypass != BYPASS_NONE;
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
    for (uint32_t k = 0; k < o->bypass_loads.n; k++)
        if (!load_at_line(b, o->bypass_loads.line[k]))
            return pass_refuse(
                b->c, NO_SPAN, "gpulocw analyze lists the loads with their lines",
                "--bypass-loads %u: that line of the PTX has no load that --bypass governs",
                o->bypass_loads.line[k]);
    if (!o->bypass_loads.n && !pass_facts(b->c))
        return pass_refuse(b->c, NO_SPAN, "name the loads with --bypass-loads",
                           "the analysis has no facts to choose loads by");
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
    if (o->bypass_form != BYPASS_FORM_HARDWARE)
        return ST_OK;
    if (c->in->dev && c->in->dev->kind != DEV_SIMULATED)
        return pass_refuse(
            c, NO_SPAN, "use --bypass-form clone, or --device sim:...",
            "a threshold register in the cache controller exists on the simulated device alone");
    if (o->bypass != BYPASS_L1)
        return pass_refuse(c, NO_SPAN, NULL,
                           "the threshold register of the simulated device governs L1: use --bypass l1");
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
        return pass_refuse(
            b->c, copy->at, NULL,
            "the kernel reads global memory by asynchronous copies alone, whose operator is their own");
    return pass_refuse(b->c, NO_SPAN, NULL, "the kernel has no global load");
}

static enum status check(struct pass_ctx *c)
{
    enum status s = check_form(c);
    struct bypass b;
    if (s != ST_OK || c->opt->bypass_form == BYPASS_FORM_HARDWARE)
        return s;
    s = bypass_begin(&b, c);
    if (s == ST_OK && !count_governed(&b))
        s = none_governed(&b);
    if (s == ST_OK && by_load(c->opt))
        s = check_lines(&b);
    if (s == ST_OK && b.vote)
        s = bypass_vote_check(c);
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
    if (o->bypass_form ==
        BYPASS_FORM_HARDWARE) /* the cache controller compares: no load bypasses by itself */
        c->out->hw_pi = o->pi.mode == PI_VALUE ? o->pi.value : o->pi.mode == PI_BPA ? 0 : -1;
    struct bypass b;
    enum status s = bypass_begin(&b, c);
    if (s == ST_OK)
        s = bypass_emit(&b);
    if (s == ST_OK && b.vote && o->pi.mode == PI_VOTE_CTA)
        bypass_vote_grid(&b);
    if (s == ST_OK && by_load(o) && !count_chosen(&b))
        pass_note(c, NO_SPAN,
                  "the analysis finds reuse in every load: none is chosen to bypass (--bypass-loads "
                  "names them by hand)");
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
};
