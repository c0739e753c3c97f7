/* softcache, the code. Registers per structure k (prefix gl<n>_):
 *   tag<k>   line address in memory, 0: empty      slot<k>  line in shared memory, -1: not cached (dynamic)
 *   mask<k>  dirty bytes, written structures only  hit<k>   simulated hits (dynamic)
 *
 *   access:  line = address & ~15; line != tag: write dirty bytes back, load 16 bytes, tag = line
 *            then the access goes to slot + (address & 15) in shared memory
 *   flush:   dirty bytes back, tag = 0: before fences, barriers and atomics, and at the end
 *
 * Dynamic choice: the body stands twice. The first copy simulates one line per structure
 * until a thread has made 300 accesses; the next loop header then ranks the structures,
 * a written one needing more than twice the hits of a read one, and goes to the same
 * header of the second copy. All registers are shared, so nothing else is carried over. */
#include "engine/pass/softcache_int.h"

#include <string.h>

#define TAG "softcache"

static void declare(const struct soft *s, struct buf *out)
{
    const char *t = s->c->tag;
    buf_printf(out, ".reg .pred \t%%%sp, %%%sq;\n.reg .b64 \t%%%sadr, %%%sline, %%%swb;\n", t, t, t, t, t);
    buf_printf(out, ".reg .b32 \t%%%sx, %%%sy, %%%sz, %%%snx, %%%sny, %%%sbase, %%%soff, %%%si, %%%snib, %%%sso, %%%scount, %%%srank, %%%sv<4>;\n.reg .b16 \t%%%sh;\n",
               t, t, t, t, t, t, t, t, t, t, t, t, t, t);
    for (uint32_t k = 0; k < s->n; k++)
        if (s->dynamic ? s->s[k].cacheable : s->s[k].line >= 0)
            buf_printf(out, ".reg .b64 \t%%%stag%u;\n.reg .b32 \t%%%sslot%u, %%%smask%u, %%%shit%u;\n", t, k, t, k, t, k, t, k);
}

static bool uses(const struct soft *s, uint32_t k) { return s->dynamic ? s->s[k].cacheable : s->s[k].line >= 0; }

/* ---- write-back: dirty bytes only, words where all four are dirty ---- */
static void write_back(struct soft *s, uint32_t k, struct buf *out)
{
    const char *t = s->c->tag;
    uint32_t n = s->labels++;
    if (!s->s[k].written)
        return;
    buf_printf(out, "setp.eq.u32 \t%%%sq, %%%smask%u, 0;\n@%%%sq bra \t$%sclean%u;\nmov.u32 \t%%%si, 0;\n$%sword%u:\n", t, t, k, t, t, n, t, t, n);
    buf_printf(out, "shr.u32 \t%%%snib, %%%smask%u, %%%si;\nand.b32 \t%%%snib, %%%snib, 15;\n", t, t, k, t, t, t);
    buf_printf(out, "cvt.u64.u32 \t%%%swb, %%%si;\nadd.s64 \t%%%swb, %%%swb, %%%stag%u;\nadd.u32 \t%%%sso, %%%sslot%u, %%%si;\n", t, t, t, t, t, k, t, t, k, t);
    buf_printf(out, "setp.eq.u32 \t%%%sq, %%%snib, 15;\n@!%%%sq bra \t$%sbytes%u;\n", t, t, t, t, n);
    buf_printf(out, "ld.shared.u32 \t%%%snib, [%%%sso];\nst.global.u32 \t[%%%swb], %%%snib;\nbra \t$%snextw%u;\n$%sbytes%u:\n", t, t, t, t, t, n, t, n);
    for (unsigned b = 0; b < 4; b++)
        buf_printf(out, "and.b32 \t%%%soff, %%%snib, %u;\nsetp.ne.u32 \t%%%sq, %%%soff, 0;\n@%%%sq ld.shared.u8 \t%%%sh, [%%%sso+%u];\n@%%%sq st.global.u8 \t[%%%swb+%u], %%%sh;\n",
                   t, t, 1u << b, t, t, t, t, t, b, t, t, b, t);
    buf_printf(out, "$%snextw%u:\nadd.u32 \t%%%si, %%%si, 4;\nsetp.lt.u32 \t%%%sq, %%%si, 16;\n@%%%sq bra \t$%sword%u;\nmov.u32 \t%%%smask%u, 0;\n$%sclean%u:\n",
               t, n, t, t, t, t, t, t, n, t, k, t, n);
}

static void flush(struct soft *s, uint32_t k, struct buf *out)
{
    write_back(s, k, out);
    buf_printf(out, "mov.u64 \t%%%stag%u, 0;\n", s->c->tag, k);
}

static void flush_all(struct soft *s, struct buf *out)
{
    for (uint32_t k = 0; k < s->n; k++)
        if (uses(s, k))
            flush(s, k, out);
}

/* ---- one access ---- */
/* Text of a register or vector operand as written. */
static struct str operand_text(const struct soft *s, const struct ptx_operand *o)
{
    return (struct str){ s->c->m->text.s + o->off, o->len };
}

/* Leaves the address in adr and its line in line. A guard jumps over all that follows to $skip<n>. */
static void address_code(const struct soft *s, const struct ptx_inst *i, uint32_t n, struct buf *out)
{
    const char *t = s->c->tag;
    const struct ptx_operand *a = inst_address(i);
    struct str base = s->c->f->regs[a->index].name;
    if (i->guarded) {
        struct str g = s->c->f->regs[i->guard].name;
        buf_printf(out, "@%s%.*s bra \t$%sskip%u;\n", i->guard_neg ? "" : "!", (int)g.n, g.s, t, n);
    }
    buf_printf(out, "add.s64 \t%%%sadr, %.*s, %lld;\nand.b64 \t%%%sline, %%%sadr, -16;\n", t, (int)base.n, base.s, (long long)a->imm, t, t);
}

/* "ld" -> "ld.shared.v2.f32": the words of a load or store that survive in shared memory. */
static void shared_op(const struct ptx_inst *i, struct buf *out)
{
    buf_puts(out, inst_is(i, "st") ? "st.shared" : "ld.shared");
    for (uint8_t k = 0; k < i->nmods; k++) {
        enum ptx_mod_category c = ptx_mod_category((enum ptx_mod)i->mods[k]);
        if (c == MODCAT_VEC || c == MODCAT_TYPE)
            buf_puts(out, ptx_mod_text((enum ptx_mod)i->mods[k]));
    }
}

static void own_text(const struct soft *s, const struct ptx_inst *i, struct buf *out)
{
    struct str text = ptx_text(s->c->m, i->at);
    size_t from = 0;
    if (i->guarded) {
        while (from < text.n && text.s[from] != ' ' && text.s[from] != '\t')
            from++;
        while (from < text.n && (text.s[from] == ' ' || text.s[from] == '\t'))
            from++;
    }
    buf_put(out, text.s + from, text.n - from);
}

static void cached_access(struct soft *s, const struct ptx_inst *i, uint32_t k, struct buf *out)
{
    const char *t = s->c->tag;
    uint32_t n = s->labels++;
    bool store = inst_is(i, "st");
    struct str value = operand_text(s, &i->opnds[store ? 1 : 0]);
    address_code(s, i, n, out);
    if (s->dynamic)
        buf_printf(out, "setp.eq.u32 \t%%%sp, %%%sslot%u, -1;\n@%%%sp bra \t$%sdirect%u;\n", t, t, k, t, t, n);
    buf_printf(out, "setp.eq.s64 \t%%%sp, %%%sline, %%%stag%u;\n@%%%sp bra \t$%shit%u;\n", t, t, t, k, t, t, n);
    write_back(s, k, out);
    buf_printf(out, "ld.global.v4.u32 \t{%%%sv0, %%%sv1, %%%sv2, %%%sv3}, [%%%sline];\nst.shared.v4.u32 \t[%%%sslot%u], {%%%sv0, %%%sv1, %%%sv2, %%%sv3};\nmov.b64 \t%%%stag%u, %%%sline;\n",
               t, t, t, t, t, t, k, t, t, t, t, t, k, t);
    buf_printf(out, "$%shit%u:\ncvt.u32.u64 \t%%%soff, %%%sadr;\nand.b32 \t%%%soff, %%%soff, 15;\nadd.u32 \t%%%sso, %%%soff, %%%sslot%u;\n", t, n, t, t, t, t, t, t, t, k);
    shared_op(i, out);
    if (store)
        buf_printf(out, " \t[%%%sso], %.*s;\nmov.u32 \t%%%snib, %u;\nshl.b32 \t%%%snib, %%%snib, %%%soff;\nor.b32 \t%%%smask%u, %%%smask%u, %%%snib;\n", t, (int)value.n, value.s, t,
                   (1u << inst_bytes(i)) - 1, t, t, t, t, k, t, k, t);
    else
        buf_printf(out, " \t%.*s, [%%%sso];\n", (int)value.n, value.s, t);
    if (s->dynamic) {
        buf_printf(out, "bra \t$%sskip%u;\n$%sdirect%u:\n", t, n, t, n);
        own_text(s, i, out);
        buf_puts(out, "\n");
    }
    if (s->dynamic || i->guarded)
        buf_printf(out, "$%sskip%u:\n", t, n);
}

/* Monitoring: the access itself, and one imaginary line. */
static void monitored_access(struct soft *s, const struct ptx_inst *i, uint32_t k, struct buf *out)
{
    const char *t = s->c->tag;
    uint32_t n = s->labels++;
    address_code(s, i, n, out);
    buf_printf(out, "setp.eq.s64 \t%%%sp, %%%sline, %%%stag%u;\n@%%%sp add.u32 \t%%%shit%u, %%%shit%u, 1;\nmov.b64 \t%%%stag%u, %%%sline;\nadd.u32 \t%%%scount, %%%scount, 1;\n",
               t, t, t, k, t, t, k, t, k, t, k, t, t, t);
    own_text(s, i, out);
    buf_puts(out, "\n");
    if (i->guarded)
        buf_printf(out, "$%sskip%u:\n", t, n);
}

/* ---- one instruction of a copy ---- */
struct copy { struct soft *s; bool monitor; const bool *second; /* blocks of the second copy; NULL: all */ };

static bool flush_before(const struct ptx_inst *i)
{
    enum ptx_effect e = inst_effect(i);
    return e == EFFECT_FENCE || e == EFFECT_BARRIER || inst_ends_thread(i) || e == EFFECT_CALL ||
           (e == EFFECT_ATOMIC && (inst_has(i, ".acquire") || inst_has(i, ".release") || inst_has(i, ".acq_rel")));
}

/* The instruction with a flush in front; a guarded one that ends the thread takes its flush along. */
static void flushed(struct soft *s, const struct ptx_inst *i, struct buf *out)
{
    uint32_t n = s->labels++;
    struct buf f = { 0 };
    flush_all(s, &f);
    bool jump = i->guarded && inst_ends_thread(i);
    if (jump) {
        struct str g = s->c->f->regs[i->guard].name;
        buf_printf(out, "@%s%.*s bra \t$%sstay%u;\n", i->guard_neg ? "" : "!", (int)g.n, g.s, s->c->tag, n);
    }
    buf_put(out, f.s ? f.s : "", f.n);
    if (jump)
        own_text(s, i, out);
    else
        buf_str(out, ptx_text(s->c->m, i->at));
    buf_puts(out, "\n");
    if (jump)
        buf_printf(out, "$%sstay%u:\n", s->c->tag, n);
    out->oom |= f.oom;
    buf_free(&f);
}

static bool copy_inst(void *ctx, const struct ptx_inst *i, struct buf *out)
{
    struct copy *c = ctx;
    if (c->second && !c->second[c->s->flow.cfg->block_of[i->index]])
        return true;                               /* no switch leads there: left out */
    struct soft_structure *x = soft_of(c->s, i);
    uint32_t k = x ? (uint32_t)(x - c->s->s) : 0;
    if (x && uses(c->s, k) && inst_effect(i) == EFFECT_ATOMIC && !c->monitor) {
        flush(c->s, k, out);
        buf_str(out, ptx_text(c->s->c->m, i->at));
    } else if (x && uses(c->s, k) && (inst_is(i, "ld") || inst_is(i, "st"))) {
        if (c->monitor)
            monitored_access(c->s, i, k, out);
        else
            cached_access(c->s, i, k, out);
    } else if (!c->monitor && flush_before(i)) {
        flushed(c->s, i, out);
    } else {
        return false;
    }
    while (out->n && out->s[out->n - 1] == '\n')
        out->s[--out->n] = 0;
    return true;
}

/* ---- entry, choice, the two copies ---- */
static void entry_code(struct soft *s, struct buf *out)
{
    const char *t = s->c->tag;
    struct buf lin = { 0 };
    buf_printf(&lin, "%%%soff", t);
    if (lin.s)
        pass_linear_tid(s->c, lin.s, out);
    buf_printf(out, "mov.u32 \t%%%sbase, %sdyn;\nmad.lo.u32 \t%%%sbase, %%%soff, %d, %%%sbase;\nadd.u32 \t%%%sbase, %%%sbase, %u;\n", t, t, t, t, SOFT_LINE, t, t, t, s->offset);
    if (s->dynamic)
        buf_printf(out, "mov.u32 \t%%%scount, 0;\n", t);
    for (uint32_t k = 0; k < s->n; k++) {
        if (!uses(s, k))
            continue;
        buf_printf(out, "mov.u64 \t%%%stag%u, 0;\nmov.u32 \t%%%smask%u, 0;\n", t, k, t, k);
        if (s->dynamic)
            buf_printf(out, "mov.u32 \t%%%shit%u, 0;\nmov.u32 \t%%%sslot%u, -1;\n", t, k, t, k);
        else
            buf_printf(out, "add.u32 \t%%%sslot%u, %%%sbase, %u;\n", t, k, t, (uint32_t)s->s[k].line * SOFT_LINE * s->threads);
    }
    out->oom |= lin.oom;
    buf_free(&lin);
}

/* Ranks the structures by hits; a written one counts half, ties go to the earlier one. */
static void choice_code(struct soft *s, struct buf *out)
{
    const char *t = s->c->tag;
    for (uint32_t k = 0; k < s->n; k++)
        if (uses(s, k) && !s->s[k].written)
            buf_printf(out, "shl.b32 \t%%%shit%u, %%%shit%u, 1;\n", t, k, t, k);
    for (uint32_t k = 0; k < s->n; k++) {
        if (!uses(s, k))
            continue;
        buf_printf(out, "mov.u32 \t%%%srank, 0;\n", t);
        for (uint32_t j = 0; j < s->n; j++) {
            if (j == k || !uses(s, j))
                continue;
            bool tie = s->s[j].written != s->s[k].written ? s->s[k].written : j < k;
            buf_printf(out, "setp.%s.u32 \t%%%sp, %%%shit%u, %%%shit%u;\n@%%%sp add.u32 \t%%%srank, %%%srank, 1;\n", tie ? "ge" : "gt", t, t, j, t, k, t, t, t);
        }
        buf_printf(out, "mul.lo.u32 \t%%%si, %%%srank, %u;\nadd.u32 \t%%%sslot%u, %%%sbase, %%%si;\n", t, t, SOFT_LINE * s->threads, t, k, t, t);
        buf_printf(out, "setp.ge.u32 \t%%%sp, %%%srank, %u;\nsetp.eq.u32 \t%%%sq, %%%shit%u, 0;\nor.pred \t%%%sp, %%%sp, %%%sq;\n@%%%sp mov.u32 \t%%%sslot%u, -1;\n",
                   t, t, s->lines, t, t, k, t, t, t, t, t, k);
    }
    for (uint32_t k = 0; k < s->n; k++)
        if (uses(s, k))
            buf_printf(out, "mov.u64 \t%%%stag%u, 0;\n", t, k);
}

static bool loop_has_access(struct soft *s, uint32_t loop)
{
    const struct ptx_loop *l = &s->flow.cfg->loops[loop];
    for (uint32_t b = 0; b < l->nblocks; b++) {
        const struct ptx_block *k = &s->flow.cfg->blocks[l->blocks[b]];
        for (uint32_t i = k->first; i < k->first + k->n; i++) {
            struct soft_structure *x = soft_of(s, &s->c->f->insts[i]);
            if (x && x->cacheable)
                return true;
        }
    }
    return false;
}

static const struct ptx_label *label_at(const struct ptx_func *f, uint32_t inst)
{
    for (uint32_t k = 0; k < f->nlabels; k++)
        if (f->labels[k].inst == inst && !f->labels[k].ntargets)
            return &f->labels[k];
    return NULL;
}

/* Marks what the second copy needs: all that can be reached from `block`. */
static void mark_from(const struct soft *s, uint32_t block, bool *second)
{
    const struct ptx_cfg *g = s->flow.cfg;
    second[block] = true;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t b = 0; b < g->nblocks; b++)
            for (uint32_t k = 0; second[b] && k < g->blocks[b].nsucc; k++) {
                uint32_t to = g->blocks[b].succ[k];
                if (to < g->nblocks && !second[to])
                    second[to] = more = true;
            }
    }
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
        if (!label || s->flow.cfg->loops[l].irreducible || !loop_has_access(s, l))
            continue;
        struct buf b = { 0 };
        uint32_t n = s->labels++;
        buf_printf(&b, "setp.lt.u32 \t%%%sp, %%%scount, %d;\n@%%%sp bra \t$%ssample%u;\n", t, t, SOFT_SAMPLE, t, t, n);
        choice_code(s, &b);
        buf_printf(&b, "bra \t%.*s%s;\n$%ssample%u:", (int)label->name.n, label->name.s, suffix, t, n);
        if (b.s && !b.oom)
            ptx_edit_before(c->edit, c->f, c->f->insts[h->first].stmt, TAG, "%s", b.s);
        c->oom |= b.oom;
        buf_free(&b);
        mark_from(s, s->flow.cfg->loops[l].header, second);
        put++;
    }
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

static void put_second_copy(struct soft *s, const char *suffix, const bool *second)
{
    struct copy copy = { s, false, second };
    struct buf b = { 0 };
    struct pass_copy how = { .m = s->c->m, .f = s->c->f, .suffix = suffix, .inst = copy_inst, .ctx = &copy };
    if (pass_falls_off(s->c->f))
        buf_puts(&b, "ret;\n");
    pass_copy_stmts(&how, pass_first_stmt(s->c->f), s->c->f->nstmts, &b);
    if (pass_falls_off(s->c->f))
        flush_all(s, &b);
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
    else
        pass_note(s->c, NO_SPAN, "the kernel has no loop to sample: nothing is cached");
    base_free(second);
}

void soft_emit(struct soft *s)
{
    struct pass_ctx *c = s->c;
    struct buf decls = { 0 }, entry = { 0 }, suffix = { 0 };
    declare(s, &decls);
    entry_code(s, &entry);
    buf_printf(&suffix, "_%sc", c->tag);
    if (decls.s && entry.s && suffix.s) {
        ptx_edit_global(c->edit, TAG, ".extern .shared .align 16 .b8 %sdyn[];", c->tag);
        ptx_edit_declare(c->edit, c->f, TAG, "%s", decls.s);
        ptx_edit_entry(c->edit, c->f, TAG, "%s", entry.s);
        edit_in_place(s, s->dynamic);
        if (!s->dynamic && pass_falls_off(c->f)) {
            struct buf f = { 0 };
            flush_all(s, &f);
            if (f.s)
                ptx_edit_end(c->edit, c->f, TAG, "%s", f.s);
            c->oom |= f.oom;
            buf_free(&f);
        }
        if (s->dynamic)
            put_slices(s, suffix.s);
    }
    for (uint32_t k = 0; k < s->n; k++)
        if (uses(s, k))
            c->out->extra_regs += s->s[k].written ? 4 : 3;
    c->oom |= decls.oom || entry.oom || suffix.oom;
    buf_free(&decls);
    buf_free(&entry);
    buf_free(&suffix);
}
