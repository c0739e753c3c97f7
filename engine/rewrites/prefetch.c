/* prefetch (paper: cluster, section 4.3 III): the lines that a load will touch are asked for before
 * the load runs.
 *
 *   under agents   addresses of the next task: the load's address is computed again with the next task's
 *                  coordinates for %ctaid
 *   otherwise      addresses `distance` iterations ahead: computed again with the loop's induction
 *                  variable moved on
 *
 *   before                               after, --prefetch l1 --prefetch-distance 1, in a loop
 *   $loop:                               $loop:
 *                                          add.s64 a, %rd16, 1024;       the pointer a turn later
 *                                          add.s32 n, %r20, 8;           the counter a turn later
 *                                          setp.lt.s32 p, n, %r6;        does the kernel get there?
 *                                          @p prefetch.global.L1 [a+-512];
 *     ld.global.f32 %f49, [%rd16+-512];    ld.global.f32 %f49, [%rd16+-512];
 *
 * The computation is a backward slice of pure instructions into fresh registers. So are the kernel's
 * own bounds: where it would not come to the load, nothing is asked for. Once per line per warp: with
 * a known byte step between lanes or iterations, only addresses that are the first of their 128-byte
 * line on that walk ask. */
#include "engine/analysis/analysis.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rewrites/cluster_int.h"
#include "engine/rewrites/prefetch_int.h"

#include <string.h>

#define TAG "prefetch"
enum { LOADS_MAX = 12, LINE = 128 };

/* ---- the prefetch itself ---- */
static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* Bytes within a line below which an address is the first of its line; LINE: no filter; 0: lane 0 alone.
 */
static uint64_t first_bytes(const struct slice *s, uint32_t base, bool *lane0)
{
    uint64_t least = LINE;
    int64_t k;
    *lane0 = false;
    if (pass_motion(s->fl, base, PTX_NO_INDEX, &k)) {
        if (!k)
            *lane0 = true;
        else if (magnitude(k) < least)
            least = magnitude(k);
    }
    if (s->moved == 1 && s->step_known && s->induction != PTX_NO_INDEX &&
        pass_motion(s->fl, base, s->induction, &k) && k && magnitude(k * s->step) < least)
        least = magnitude(k * s->step);
    return least;
}

/* Which lanes ask: those at the first address of a line on the walk, and lane 0. False: all. */
static bool lanes_code(struct slice *s, const char *base, const struct ptx_operand *a, uint32_t n,
                       struct buf *out)
{
    const char *t = s->c->tag;
    bool lane0;
    uint64_t least = first_bytes(s, a->index, &lane0);
    if (least >= LINE && !lane0)
        return false;
    pass_code(s->decls, t, ".reg .b32 \t%%#l%u;\n", n);
    pass_code(out, t, "mov.u32 \t%%#l%u, %%laneid;\nsetp.eq.u32 \t%%#f%u, %%#l%u, 0;\n", n, n, n);
    if (least >= LINE)
        return true;
    pass_code(s->decls, t, ".reg .pred \t%%#g%u;\n.reg .b64 \t%%#m%u;\n", n, n);
    pass_code(out, t,
              "add.s64 \t%%#m%u, %s, %lld;\nand.b64 \t%%#m%u, %%#m%u, %d;\n"
              "setp.lt.u64 \t%%#g%u, %%#m%u, %llu;\n",
              n, base, (long long)a->imm, n, n, LINE - 1, n, n, (unsigned long long)least);
    buf_printf(out,
               lane0 ? "and.pred \t%%%sf%u, %%%sf%u, %%%sg%u;\n"
                     : "or.pred \t%%%sf%u, %%%sf%u, %%%sg%u;\n",
               t, n, t, n, t, n);
    return true;
}

static void emit_prefetch(struct slice *s, const struct ptx_inst *load, uint32_t n, struct bounds *b)
{
    const char *t = s->c->tag, *level = opt_prefetch(s->c->opt)->level == PREFETCH_L1 ? "L1" : "L2";
    const struct ptx_operand *a = inst_address(load);
    struct buf base = { 0 };
    const char *name = slice_name(s, a->index);
    buf_str(&base, name ? str_of(name) : s->fl->f->regs[a->index].name);
    bounds_of(s, load, b);
    pass_code(s->decls, t, ".reg .pred \t%%#f%u, %%#bn%u;\n", n, n);
    bool guarded = lanes_code(s, base.s ? base.s : "", a, n, s->code);
    for (uint32_t k = 0; k < b->n; k++) {
        const char *own = b->pred[k];
        if (b->negated[k])
            pass_code(s->code, t, "not.pred \t%%#bn%u, %s;\n", n, own);
        if (!guarded && b->negated[k])
            pass_code(s->code, t, "mov.pred \t%%#f%u, %%#bn%u;\n", n, n);
        else if (!guarded)
            pass_code(s->code, t, "mov.pred \t%%#f%u, %s;\n", n, own);
        else if (b->negated[k])
            pass_code(s->code, t, "and.pred \t%%#f%u, %%#f%u, %%#bn%u;\n", n, n, n);
        else
            pass_code(s->code, t, "and.pred \t%%#f%u, %%#f%u, %s;\n", n, n, own);
        guarded = true;
    }
    if (guarded)
        pass_code(s->code, t, "@%%#f%u ", n);
    buf_printf(s->code, "prefetch.global.%s \t[%s+%lld];\n", level, base.s ? base.s : "",
               (long long)a->imm);
    s->code->oom |= base.oom;
    buf_free(&base);
}

/* ---- which loads ---- */
struct seen {
    uint32_t base[LOADS_MAX];
    int64_t line[LOADS_MAX];
    uint32_t n;
};

static bool candidate(const struct ptx_inst *i, struct seen *seen)
{
    const struct ptx_operand *a = inst_address(i);
    if (!ptx_is_global_load(i) || ptx_is_strong(i) || !a || a->base != BASE_REG || seen->n == LOADS_MAX)
        return false;
    for (uint32_t k = 0; k < seen->n; k++)
        if (seen->base[k] == a->index && seen->line[k] == a->imm / LINE)
            return false;
    return true;
}

static void remember(struct seen *seen, const struct ptx_operand *a)
{
    seen->base[seen->n] = a->index;
    seen->line[seen->n++] = a->imm / LINE;
}

/* What a rewrite came to: loads prefetched, conditions that guard them, bounds that could not be asked
 * ahead. */
struct tally {
    uint32_t loads, bounds, open;
    uint32_t boxes; /* of these loads: tensor copies */
};

static bool one_load(struct slice *s, const struct ptx_inst *i, struct seen *seen, struct tally *n)
{
    struct slice_mark m = slice_mark(s);
    struct bounds b;
    if (!slice_reg(s, inst_address(i)->index) || (!s->next && !s->moved)) {
        slice_rewind(s, &m);
        return false;
    }
    emit_prefetch(s, i, n->loads++, &b);
    remember(seen, inst_address(i));
    n->bounds += b.n;
    n->open += b.open;
    return true;
}

static bool one_box(struct slice *s, const struct ptx_inst *i, struct tally *n)
{
    struct slice_mark m = slice_mark(s);
    struct bounds b;
    if (!prefetch_box(s, i, n->loads, &b)) {
        slice_rewind(s, &m);
        return false;
    }
    n->loads++;
    n->boxes++; /* nothing outside the tensor is read: open bounds do no harm */
    n->bounds += b.n;
    return true;
}

static void tell(struct pass_ctx *c, const struct tally *n)
{
    const struct ana_kernel *k = pass_facts(c);
    if (c->checking)
        return;
    if (k && (k->cls == ANA_CLASS_ALGORITHM || k->cls == ANA_CLASS_CACHE_LINE))
        pass_warn(c, NO_SPAN,
                  "the kernel's class is %s, for which clustering suits better; prefetching helps the "
                  "classes streaming, write and data",
                  ana_class_name(k->cls));
    if (n->bounds)
        pass_note(c, NO_SPAN, "%u load%s prefetched, under %u condition%s of the kernel", n->loads,
                  n->loads > 1 ? "s are" : " is", n->bounds, n->bounds > 1 ? "s" : "");
    else
        pass_note(c, NO_SPAN, "%u load%s prefetched", n->loads, n->loads > 1 ? "s are" : " is");
    if (n->boxes)
        pass_note(c, NO_SPAN, "of these %u %s of tensor copies", n->boxes,
                  n->boxes > 1 ? "are boxes" : "is a box");
    if (n->open)
        pass_note(c, NO_SPAN,
                  "%u bound%s on loaded data and %s not checked: a prefetch may be past the end of the "
                  "buffer, which the GPU ignores where nothing is mapped",
                  n->open, n->open > 1 ? "s depend" : " depends", n->open > 1 ? "are" : "is");
}

enum status prefetch_task_code(struct pass_ctx *c, const char *const next[3], struct buf *decls,
                               struct buf *code, uint32_t *nloads)
{
    struct pass_flow fl;
    struct seen seen = { .n = 0 };
    struct tally n = { 0 };
    uint32_t counter = 0;
    *nloads = 0;
    if (!pass_flow_make(c->f, &fl))
        return ST_NOMEM;
    for (uint32_t k = 0; k < c->f->ninsts; k++) {
        if (!candidate(&c->f->insts[k], &seen))
            continue;
        struct slice s = { .c = c,
                           .fl = &fl,
                           .next = next,
                           .loop = PTX_NO_INDEX,
                           .at = k,
                           .use = k,
                           .counter = &counter,
                           .decls = decls,
                           .code = code,
                           .induction = PTX_NO_INDEX };
        one_load(&s, &c->f->insts[k], &seen, &n);
    }
    *nloads = n.loads;
    if (n.loads)
        tell(c, &n);
    else if (!c->checking)
        pass_note(c, NO_SPAN,
                  "no load has an address that follows from the next task's coordinates: nothing is "
                  "prefetched");
    return decls->oom || code->oom ? ST_NOMEM : ST_OK;
}

/* ---- the pass: next iterations of loops (under agents the cluster pass prefetches the next task) ----
 */
static bool asked(const struct options *o)
{
    return opt_prefetch(o)->level != PREFETCH_OFF;
}

/* Prefetches for every load of a loop whose address moves with an induction variable. */
static enum status visit(struct pass_ctx *c, struct tally *n)
{
    struct pass_flow fl;
    struct seen seen = { .n = 0 };
    uint32_t counter = 0;
    if (!pass_flow_make(c->f, &fl))
        return ST_NOMEM;
    for (uint32_t k = 0; k < c->f->ninsts; k++) {
        const struct ptx_inst *i = &c->f->insts[k];
        uint32_t loop = fl.cfg->blocks[fl.cfg->block_of[k]].loop;
        bool box =
            opt_prefetch(c->opt)->level == PREFETCH_L2 && n->loads < LOADS_MAX && prefetch_reads_box(i);
        if (loop == PTX_NO_INDEX || (!box && !candidate(i, &seen)))
            continue;
        struct buf decls = { 0 }, code = { 0 };
        struct slice s = { .c = c,
                           .fl = &fl,
                           .loop = loop,
                           .at = k,
                           .use = k,
                           .turns = opt_prefetch(c->opt)->distance,
                           .counter = &counter,
                           .decls = &decls,
                           .code = &code,
                           .induction = PTX_NO_INDEX };
        if ((box ? one_box(&s, i, n) : one_load(&s, i, &seen, n)) && c->edit && code.s && decls.s) {
            ptx_edit_declare(c->edit, c->f, TAG, "%s", decls.s);
            ptx_edit_before(c->edit, c->f, i->stmt, TAG, "%s", code.s);
        }
        c->oom |= decls.oom || code.oom;
        buf_free(&decls);
        buf_free(&code);
    }
    return ST_OK;
}

static bool copies_boxes(const struct ptx_func *f)
{
    bool any = false;
    for (uint32_t k = 0; k < f->ninsts; k++)
        any |= prefetch_reads_box(&f->insts[k]);
    return any;
}

static enum status apply(struct pass_ctx *c)
{
    struct tally n = { 0 };
    if (opt_cluster(c->opt)->kind == CLUSTER_AGENT)
        return ST_OK;
    enum status s = visit(c, &n);
    if (s == ST_OK && !n.loads)
        return pass_refuse(
            c, NO_SPAN,
            copies_boxes(c->f) && opt_prefetch(c->opt)->level != PREFETCH_L2
                ? "--prefetch l2 asks for what tensor copies will read: they do not go through L1"
                : "use --cluster agent to prefetch for the next task",
            "no load in a loop has an address with a known step: there is nothing to prefetch");
    if (s == ST_OK && !c->checking) {
        tell(c, &n);
        c->out->extra_regs += 2 * (int)n.loads;
    }
    return s;
}

static const char *const knobs[] = { "prefetch", "prefetch-distance", NULL };
const struct pass_row pass_row_prefetch = {
    { "prefetch", "prefetch lines of the next task or of later iterations" },
    knobs,
    asked,
    apply,
    apply,
    NULL,
    NULL,
};
