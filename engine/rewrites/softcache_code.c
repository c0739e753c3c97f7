/* softcache, the copies of the body: the caching slice, the monitoring slice, and how a thread goes
 * from one to the other.
 *
 *   before          after, --softcache dynamic
 *   $loop:          $loop:    @(count < 300) bra $sample;  rank the structures;  bra $loop_c;
 *                   $sample:
 *     ld x;           hit<x> += line(x) == tag<x>;  tag<x> = line(x);  count += 1;  ld x;
 *     bra $loop;      bra $loop;
 *                   $loop_c:  x through its line (softcache_access.c);  bra $loop_c;
 *
 *   fixed    the body once, every access of a structure with a line looks into it
 *   profile  the body once, every access counts the hits of one imaginary line per structure; the sums
 *            of all threads are what the host chooses by
 *   dynamic  the body twice. The first copy simulates one line per structure until a thread has made 300
 *            accesses; the next loop header then ranks the structures, a written one needing more than
 *            twice the hits of a read one, and goes to the same header of the second copy. All registers
 *            are shared, so nothing else is carried over
 *
 * Where threads meet at barriers or exchange within a warp, they go over together: at a header that all
 * pass equally often, after the number of turns that makes 300 accesses. */
#include "engine/pass/copies.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/facts/reach.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/opt_softcache.h"
#include "engine/rewrites/softcache_int.h"

#include <string.h>

#define TAG "softcache"

/* ---- one instruction of a copy ---- */
struct copy {
    struct soft *s;
    bool monitor;
    const bool *second; /* blocks of the second copy; NULL: all */
};

static bool flush_before(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    return e == EFFECT_FENCE || e == EFFECT_BARRIER || e == EFFECT_ASYNC_COPY || ptx_ends_thread(i) ||
           e == EFFECT_CALL || ptx_has_mod(i, PTX_MOD_ACQUIRE) || ptx_has_mod(i, PTX_MOD_RELEASE) ||
           ptx_has_mod(i, PTX_MOD_ACQ_REL);
}

/* Adds what this thread counted to the sums of all. */
static void report_code(const struct soft *s, struct buf *out)
{
    const char *t = s->c->tag;
    static const char *const words[] = { "got", "all" };
    if (!s->counting)
        return;
    pass_code(out, t, "mov.u64 \t%%#adr, " PASS_SOFT_SYMBOL ";\n");
    for (uint32_t k = 0; k < s->n; k++)
        for (unsigned w = 0; w < 2 && soft_uses(s, k); w++)
            pass_code(out, t,
                      "cvt.u64.u32 \t%%#wb, %%#%s%u;\nred.global.add.u64 \t[%%#adr+%d], %%#wb;\n",
                      words[w], k, 16 * s->s[k].param + 8 * (int)w);
    if (s->mode != SOFT_FIXED)
        pass_code(out, t, "cvt.u64.u32 \t%%#wb, %%#seen;\nred.global.add.u64 \t[%%#adr+%d], %%#wb;\n",
                  8 * PASS_SOFT_MONITORED);
}

/* The instruction with a flush in front; a guarded one that ends the thread takes its flush along. */
static void flushed(struct soft *s, const struct ptx_inst *i, struct buf *out)
{
    uint32_t n = s->labels++;
    struct buf f = { 0 };
    soft_flush_all(s, ptx_ends_thread(i), &f);
    if (ptx_ends_thread(i))
        report_code(s, &f);
    bool jump = i->guarded && ptx_ends_thread(i);
    if (jump) {
        struct str g = s->c->f->regs[i->guard].name;
        pass_code(out, s->c->tag, "@%s%.*s bra \t$#stay%u;\n", i->guard_neg ? "" : "!", (int)g.n, g.s,
                  n);
    }
    buf_put(out, f.s ? f.s : "", f.n);
    if (jump)
        soft_own_text(s, i, out);
    else
        pass_own_text(s->c->m, i, out);
    buf_puts(out, "\n");
    if (jump)
        pass_code(out, s->c->tag, "$#stay%u:\n", n);
    out->oom |= f.oom;
    buf_free(&f);
}

/* Imaginary lines are emptied where real ones are. */
static void monitor_flush(struct soft *s, const struct ptx_inst *i, struct buf *out)
{
    for (uint32_t k = 0; k < s->n; k++)
        if (soft_uses(s, k))
            pass_code(out, s->c->tag, "mov.u64 \t%%#tag%u, 0;\n", k);
    pass_own_text(s->c->m, i, out);
}

static bool copy_one(void *ctx, const struct ptx_inst *i, struct buf *out)
{
    struct copy *c = ctx;
    struct soft *s = c->s;
    const struct soft_access *a = &s->access[i->index];
    if (c->second && !c->second[s->flow.cfg->block_of[i->index]])
        return true; /* no switch leads there: left out */
    bool own = a->kind == SOFT_OWN && soft_uses(s, a->own);
    if (own && c->monitor)
        soft_monitored(s, i, out);
    else if (own)
        soft_cached(s, i, out);
    else if (flush_before(i) && (!c->monitor || (s->counting && ptx_ends_thread(i))))
        flushed(s, i, out);
    else if (flush_before(i) && !ptx_ends_thread(i))
        monitor_flush(s, i, out);
    else if (a->kind == SOFT_APART || !soft_other(s, i, c->monitor, out))
        return false;
    while (out->n && out->s[out->n - 1] == '\n')
        out->s[--out->n] = 0;
    return true;
}

/* ---- choosing again ---- */
/* One that the other copy can branch to. */
static const struct ptx_label *label_at(const struct ptx_func *f, uint32_t inst)
{
    for (uint32_t k = 0; k < f->nlabels; k++)
        if (f->labels[k].inst == inst && !f->labels[k].ntargets && !copies_inner(f, f->labels[k].stmt))
            return &f->labels[k];
    return NULL;
}

/* The loop whose header this instruction begins and at which copies may change; PTX_NO_INDEX: none. */
static uint32_t switch_at(const struct soft *s, uint32_t inst)
{
    for (uint32_t l = 0; l < s->flow.cfg->nloops; l++)
        if (s->flow.cfg->blocks[s->flow.cfg->loops[l].header].first == inst && soft_can_switch(s, l) &&
            label_at(s->c->f, inst))
            return l;
    return PTX_NO_INDEX;
}

/* At a header of the caching copy: after so many turns the lines go back to memory, and the same header
 * of the monitoring copy goes on. All threads of a CTA count the same turns where they must stay
 * together. */
static void again_code(struct soft *s, uint32_t loop, struct buf *out)
{
    const char *t = s->c->tag;
    uint32_t n = s->labels++;
    pass_code(out, t,
              "add.u32 \t%%#told, %%#told, 1;\nsetp.le.u32 \t%%#p, %%#told, %d;\n"
              "@%%#p bra \t$#on%u;\n",
              opt_softcache(s->c->opt)->again, n);
    soft_flush_all(s, false, out);
    for (uint32_t k = 0; k < s->n; k++)
        if (soft_uses(s, k))
            pass_code(out, t, "mov.u32 \t%%#hit%u, 0;\nmov.u32 \t%%#slot%u, -1;\n", k, k);
    pass_code(out, t, "mov.u32 \t%%#count, 0;\nmov.u32 \t%%#told, 0;\n");
    for (uint32_t l = 0; s->together && l < s->flow.cfg->nloops; l++)
        if (soft_can_switch(s, l))
            pass_code(out, t, "mov.u32 \t%%#turn%u, 0;\n", l);
    pass_code(out, t, "bra \t$#again%u;\n$#on%u:\n", loop, n);
}

static bool copy_inst(void *ctx, const struct ptx_inst *i, struct buf *out)
{
    struct copy *c = ctx;
    uint32_t loop =
        c->second && opt_softcache(c->s->c->opt)->again > 0 ? switch_at(c->s, i->index) : PTX_NO_INDEX;
    if (loop == PTX_NO_INDEX || !c->second[c->s->flow.cfg->block_of[i->index]])
        return copy_one(ctx, i, out);
    again_code(c->s, loop, out);
    if (!copy_one(ctx, i, out))
        pass_own_text(c->s->c->m, i, out);
    return true;
}

/* ---- entry, choice, the two copies ---- */
/* end = the parameter's value + the bytes of whole lines in its buffer */
static void end_code(const struct soft *s, uint32_t k, struct buf *out)
{
    const char *t = s->c->tag;
    struct str name = s->c->f->params[s->s[k].param]->name;
    pass_code(out, t, "ld.param.u64 \t%%#end%u, [%.*s];\nadd.s64 \t%%#end%u, %%#end%u, %llu;\n", k,
              (int)name.n, name.s, k, k, (unsigned long long)s->s[k].whole);
}

static void entry_code(struct soft *s, struct buf *out)
{
    const char *t = s->c->tag;
    struct buf lin = { 0 };
    pass_code(&lin, t, "%%#off");
    if (lin.s && s->mode != SOFT_PROFILE)
        pass_linear_tid(s->c, lin.s, out);
    if (s->mode != SOFT_PROFILE)
        pass_code(out, t,
                  "mov.u32 \t%%#base, #dyn;\nmad.lo.u32 \t%%#base, %%#off, %u, %%#base;\n"
                  "add.u32 \t%%#base, %%#base, %u;\n",
                  s->line, s->offset);
    if (s->mode != SOFT_FIXED)
        pass_code(out, t, "mov.u32 \t%%#count, 0;\nmov.u32 \t%%#told, 0;\nmov.u32 \t%%#seen, 0;\n");
    for (uint32_t l = 0; s->mode == SOFT_DYNAMIC && s->together && l < s->flow.cfg->nloops; l++)
        if (soft_can_switch(s, l))
            pass_code(out, t, "mov.u32 \t%%#turn%u, 0;\n", l);
    for (uint32_t k = 0; k < s->n; k++) {
        if (!soft_uses(s, k))
            continue;
        pass_code(out, t, "mov.u64 \t%%#tag%u, 0;\nmov.u32 \t%%#mask%u, 0;\n", k, k);
        if (s->s[k].ragged)
            end_code(s, k, out);
        if (s->counting)
            pass_code(out, t, "mov.u32 \t%%#got%u, 0;\nmov.u32 \t%%#all%u, 0;\n", k, k);
        if (s->mode == SOFT_PROFILE)
            continue;
        if (s->mode == SOFT_DYNAMIC)
            pass_code(out, t, "mov.u32 \t%%#hit%u, 0;\nmov.u32 \t%%#slot%u, -1;\n", k, k);
        else
            pass_code(out, t, "add.u32 \t%%#slot%u, %%#base, %u;\n", k,
                      (uint32_t)s->s[k].line * s->line * s->threads);
    }
    out->oom |= lin.oom;
    buf_free(&lin);
}

/* Ranks the structures by hits; a written one counts half, ties go to the earlier one. */
static void choice_code(struct soft *s, struct buf *out)
{
    const char *t = s->c->tag;
    for (uint32_t k = 0; k < s->n; k++)
        if (soft_uses(s, k) && !s->s[k].written)
            pass_code(out, t, "shl.b32 \t%%#hit%u, %%#hit%u, 1;\n", k, k);
    for (uint32_t k = 0; k < s->n; k++) {
        if (!soft_uses(s, k))
            continue;
        pass_code(out, t, "mov.u32 \t%%#rank, 0;\n");
        for (uint32_t j = 0; j < s->n; j++) {
            if (j == k || !soft_uses(s, j))
                continue;
            bool tie = s->s[j].written != s->s[k].written ? s->s[k].written : j < k;
            pass_code(out, t,
                      "setp.%s.u32 \t%%#p, %%#hit%u, %%#hit%u;\n@%%#p add.u32 \t%%#rank, %%#rank, 1;\n",
                      tie ? "ge" : "gt", j, k);
        }
        pass_code(out, t, "mul.lo.u32 \t%%#i, %%#rank, %u;\nadd.u32 \t%%#slot%u, %%#base, %%#i;\n",
                  s->line * s->threads, k);
        pass_code(out, t,
                  "setp.ge.u32 \t%%#p, %%#rank, %u;\nsetp.eq.u32 \t%%#q, %%#hit%u, 0;\n"
                  "or.pred \t%%#p, %%#p, %%#q;\n@%%#p mov.u32 \t%%#slot%u, -1;\n",
                  s->lines, k, k);
    }
    for (uint32_t k = 0; k < s->n; k++)
        if (soft_uses(s, k))
            pass_code(out, t, "mov.u64 \t%%#tag%u, 0;\n", k);
}

/* Turns of a loop in which its accesses, those of inner loops counted once, come to a sample. */
static uint32_t sample_turns(const struct soft *s, uint32_t loop)
{
    const struct ptx_loop *l = &s->flow.cfg->loops[loop];
    uint32_t n = 0;
    for (uint32_t b = 0; b < l->nblocks; b++) {
        const struct ptx_block *k = &s->flow.cfg->blocks[l->blocks[b]];
        for (uint32_t i = k->first; i < k->first + k->n; i++)
            n += s->access[i].kind == SOFT_OWN && soft_uses(s, s->access[i].own);
    }
    return n ? (s->sample + n - 1) / n : s->sample;
}

/* At the headers of loops the first copy may go over to the second. */
static uint32_t put_switches(struct soft *s, const char *suffix, bool *second)
{
    struct pass_ctx *c = s->c;
    const char *t = c->tag;
    uint32_t put = 0;
    for (uint32_t l = 0; l < s->flow.cfg->nloops; l++) {
        const struct ptx_block *h = &s->flow.cfg->blocks[s->flow.cfg->loops[l].header];
        const struct ptx_label *label = label_at(c->f, h->first);
        if (!label || !soft_can_switch(s, l))
            continue;
        struct buf b = { 0 };
        uint32_t n = s->labels++;
        if (opt_softcache(c->opt)->again >
            0) /* a label of its own: those of the function are renamed in the copy */
            pass_code(&b, t, "$#again%u:\n", l);
        if (s->together)
            pass_code(&b, t, "add.u32 \t%%#turn%u, %%#turn%u, 1;\nsetp.le.u32 \t%%#p, %%#turn%u, %u;\n",
                      l, l, l, sample_turns(s, l));
        else
            pass_code(&b, t, "setp.lt.u32 \t%%#p, %%#count, %u;\n", s->sample);
        pass_code(&b, t, "@%%#p bra \t$#sample%u;\n", n);
        choice_code(s, &b);
        pass_code(&b, t, "bra \t%.*s%s;\n$#sample%u:", (int)label->name.n, label->name.s, suffix, n);
        if (b.s && !b.oom)
            ptx_edit_before(c->edit, c->f, c->f->insts[h->first].stmt, TAG, "%s", b.s);
        c->oom |= b.oom;
        buf_free(&b);
        second[s->flow.cfg->loops[l].header] = true;
        put++;
    }
    c->oom |= !ptx_reach(s->flow.cfg, PTX_FORWARD, second); /* what the second copy needs */
    return put;
}

static void edit_in_place(struct soft *s, bool monitor)
{
    struct copy copy = { s, monitor, NULL };
    for (uint32_t k = 0; k < s->c->f->ninsts; k++) {
        struct buf b = { 0 };
        if (copy_inst(&copy, &s->c->f->insts[k], &b) && b.s)
            ptx_edit_replace(s->c->edit, s->c->f, s->c->f->insts[k].stmt, TAG, "%s", b.s);
        s->c->oom |= b.oom;
        buf_free(&b);
    }
}

static void end_of_body(struct soft *s, struct buf *out)
{
    soft_flush_all(s, true, out);
    report_code(s, out);
}

static void put_second_copy(struct soft *s, const char *suffix, const bool *second)
{
    struct copy copy = { s, false, second };
    struct buf b = { 0 };
    struct pass_copy how = {
        .m = s->c->m, .f = s->c->f, .suffix = suffix, .inst = copy_inst, .ctx = &copy
    };
    if (pass_falls_off(s->c->f)) {
        report_code(s, &b);
        buf_puts(&b, "ret;\n");
    }
    pass_copy_stmts(&how, pass_first_stmt(s->c->f), s->c->f->nstmts, &b);
    if (pass_falls_off(s->c->f))
        end_of_body(s, &b);
    if (b.s)
        ptx_edit_end(s->c->edit, s->c->f, TAG, "%s", b.s);
    s->c->oom |= b.oom;
    buf_free(&b);
}

static void put_slices(struct soft *s, const char *suffix)
{
    bool *second = base_alloc(s->flow.cfg->nblocks + 1);
    if (!second)
        s->c->oom = true;
    else if (put_switches(s, suffix, second))
        put_second_copy(s, suffix, second);
    base_free(second);
}

static void put_declarations(struct soft *s, const char *decls, const char *entry)
{
    struct pass_ctx *c = s->c;
    if (s->mode != SOFT_PROFILE)
        ptx_edit_global(c->edit, TAG, ".extern .shared .align 16 .b8 %sdyn[];", c->tag);
    if (s->counting) {
        ptx_edit_global(c->edit, TAG, ".visible .global .align 8 .u64 " PASS_SOFT_SYMBOL "[%d];",
                        PASS_SOFT_WORDS);
        pass_put_reset(c->out, PASS_SOFT_SYMBOL, 8ull * PASS_SOFT_WORDS);
    }
    ptx_edit_declare(c->edit, c->f, TAG, "%s", decls);
    ptx_edit_entry(c->edit, c->f, TAG, "%s", entry);
}

static void put_body(struct soft *s, const char *suffix)
{
    struct pass_ctx *c = s->c;
    edit_in_place(s, s->mode != SOFT_FIXED);
    if (s->mode != SOFT_DYNAMIC && pass_falls_off(c->f)) {
        struct buf f = { 0 };
        end_of_body(s, &f);
        if (f.s)
            ptx_edit_end(c->edit, c->f, TAG, "%s", f.s);
        c->oom |= f.oom;
        buf_free(&f);
    }
    if (s->mode == SOFT_DYNAMIC)
        put_slices(s, suffix);
}

void soft_emit(struct soft *s)
{
    struct pass_ctx *c = s->c;
    struct buf decls = { 0 }, entry = { 0 }, suffix = { 0 };
    soft_declare(s, &decls);
    for (uint32_t l = 0; s->mode == SOFT_DYNAMIC && s->together && l < s->flow.cfg->nloops; l++)
        pass_code(&decls, c->tag, ".reg .b32 \t%%#turn%u;\n", l);
    entry_code(s, &entry);
    buf_printf(&suffix, "_%sc", c->tag);
    if (decls.s && entry.s && suffix.s) {
        put_declarations(s, decls.s, entry.s);
        put_body(s, suffix.s);
    }
    c->out->extra_regs += (int)soft_all_registers(s);
    c->oom |= decls.oom || entry.oom || suffix.oom;
    buf_free(&decls);
    buf_free(&entry);
    buf_free(&suffix);
}
