/* softcache, one access. Registers per structure k (prefix gl<n>_):
 *
 *   tag<k>          line address in memory, 0: empty
 *   slot<k>         line in shared memory, -1: not cached (dynamic)
 *   mask<k>         dirty bytes, written structures only
 *   hit<k>          simulated hits (dynamic, profile)
 *   end<k>          end of the whole lines of its buffer, where that does not end on one
 *   got<k>, all<k>  hits and accesses that are reported (survey)
 *
 *   before                               after, a store, lines of 16 bytes
 *     st.global.f32 [%rd3], %f1;           line = %rd3 & -16;
 *                                          @(line == tag) bra $hit;
 *                                          write the bytes of mask back;  load 16 bytes;  tag = line;
 *                                        $hit:
 *                                          st.shared.f32 [slot + (%rd3 & 15)], %f1;
 *                                          mask |= 15 << (%rd3 & 15);
 *
 * Every fence, barrier, ordered access and call, and the end, first has a flush:
 *   dirty bytes back;  tag = 0
 *
 * A line dirty in one structure is in no other: a store through k empties the lines of the others that
 * may hold the same bytes, a load that misses first writes theirs back. So a hit is exact without
 * looking. */
#include "engine/pass/words.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rewrites/softcache_int.h"

#include <stdio.h>
#include <string.h>

bool soft_uses(const struct soft *s, uint32_t k)
{
    return s->mode == SOFT_FIXED ? s->s[k].line >= 0 : s->s[k].cacheable;
}

void soft_declare(const struct soft *s, struct buf *out)
{
    const char *t = s->c->tag;
    buf_printf(out, ".reg .pred \t%%%sp, %%%sq;\n.reg .b64 \t%%%sadr, %%%sline, %%%swb;\n", t, t, t, t,
               t);
    buf_printf(out,
               ".reg .b32 \t%%%sx, %%%sy, %%%sz, %%%snx, %%%sny, %%%sbase, %%%soff, %%%si, %%%snib, "
               "%%%sso, %%%scount, %%%srank, %%%sv<4>;\n.reg .b16 \t%%%sh;\n",
               t, t, t, t, t, t, t, t, t, t, t, t, t, t);
    if (s->mode != SOFT_FIXED)
        buf_printf(out, ".reg .b32 \t%%%stold, %%%sseen;\n", t, t);
    for (uint32_t k = 0; k < s->n; k++) {
        if (!soft_uses(s, k))
            continue;
        buf_printf(out,
                   ".reg .b64 \t%%%stag%u, %%%send%u;\n.reg .b32 \t%%%sslot%u, %%%smask%u, %%%shit%u;\n",
                   t, k, t, k, t, k, t, k, t, k);
        if (s->counting)
            buf_printf(out, ".reg .b32 \t%%%sgot%u, %%%sall%u;\n", t, k, t, k);
    }
}

/* ---- write-back: dirty bytes only, words where all four are dirty ---- */
static void write_back(struct soft *s, uint32_t k, struct buf *out)
{
    const char *t = s->c->tag;
    uint32_t n = s->labels++;
    if (!s->s[k].written)
        return;
    buf_printf(out,
               "setp.eq.u32 \t%%%sq, %%%smask%u, 0;\n@%%%sq bra \t$%sclean%u;\nmov.u32 \t%%%si, "
               "0;\n$%sword%u:\n",
               t, t, k, t, t, n, t, t, n);
    buf_printf(out, "shr.u32 \t%%%snib, %%%smask%u, %%%si;\nand.b32 \t%%%snib, %%%snib, 15;\n", t, t, k,
               t, t, t);
    buf_printf(out,
               "cvt.u64.u32 \t%%%swb, %%%si;\nadd.s64 \t%%%swb, %%%swb, %%%stag%u;\nadd.u32 \t%%%sso, "
               "%%%sslot%u, %%%si;\n",
               t, t, t, t, t, k, t, t, k, t);
    buf_printf(out, "setp.eq.u32 \t%%%sq, %%%snib, 15;\n@!%%%sq bra \t$%sbytes%u;\n", t, t, t, t, n);
    buf_printf(out,
               "ld.shared.u32 \t%%%snib, [%%%sso];\nst.global.u32 \t[%%%swb], %%%snib;\nbra "
               "\t$%snextw%u;\n$%sbytes%u:\n",
               t, t, t, t, t, n, t, n);
    for (unsigned b = 0; b < 4; b++)
        buf_printf(out,
                   "and.b32 \t%%%soff, %%%snib, %u;\nsetp.ne.u32 \t%%%sq, %%%soff, 0;\n@%%%sq "
                   "ld.shared.u8 \t%%%sh, [%%%sso+%u];\n@%%%sq st.global.u8 \t[%%%swb+%u], %%%sh;\n",
                   t, t, 1u << b, t, t, t, t, t, b, t, t, b, t);
    buf_printf(out,
               "$%snextw%u:\nadd.u32 \t%%%si, %%%si, 4;\nsetp.lt.u32 \t%%%sq, %%%si, %u;\n@%%%sq bra "
               "\t$%sword%u;\nmov.u32 \t%%%smask%u, 0;\n$%sclean%u:\n",
               t, n, t, t, t, t, s->line, t, t, n, t, k, t, n);
}

static void flush(struct soft *s, uint32_t k, struct buf *out)
{
    write_back(s, k, out);
    buf_printf(out, "mov.u64 \t%%%stag%u, 0;\n", s->c->tag, k);
}

void soft_flush_all(struct soft *s, bool last, struct buf *out)
{
    for (uint32_t k = 0; k < s->n; k++)
        if (soft_uses(s, k) && last && s->mode != SOFT_PROFILE)
            write_back(s, k, out);
        else if (soft_uses(s, k) && s->mode != SOFT_PROFILE)
            flush(s, k, out);
        else if (soft_uses(s, k))
            buf_printf(out, "mov.u64 \t%%%stag%u, 0;\n", s->c->tag, k);
}

/* ---- lines that the address of one access may meet ---- */
/* Line k holds `line`: it is emptied, or its dirty bytes are written back and it stays. */
static void meet(struct soft *s, uint32_t k, bool empties, struct buf *out)
{
    const char *t = s->c->tag;
    uint32_t n = s->labels;
    if (!s->s[k].written && !empties)
        return;
    if (!s->s[k].written) {
        buf_printf(out, "setp.eq.s64 \t%%%sq, %%%sline, %%%stag%u;\n@%%%sq mov.u64 \t%%%stag%u, 0;\n", t,
                   t, t, k, t, t, k);
        return;
    }
    s->labels++;
    buf_printf(out, "setp.ne.s64 \t%%%sq, %%%sline, %%%stag%u;\n@%%%sq bra \t$%sapart%u;\n", t, t, t, k,
               t, t, n);
    if (empties)
        flush(s, k, out);
    else
        write_back(s, k, out);
    buf_printf(out, "$%sapart%u:\n", t, n);
}

static void meet_others(struct soft *s, const struct ptx_inst *i, uint32_t own, bool empties,
                        struct buf *out)
{
    for (uint32_t k = 0; k < s->n; k++)
        if (k != own && soft_uses(s, k) && soft_may_meet(s, &s->access[i->index], k))
            meet(s, k, empties, out);
}

/* ---- one access ---- */
/* The instruction's guard, false, jumps to $<where><n>. */
static void guard_code(const struct soft *s, const struct ptx_inst *i, const char *where, uint32_t n,
                       struct buf *out)
{
    if (!i->guarded)
        return;
    struct str g = s->c->f->regs[i->guard].name;
    buf_printf(out, "@%s%.*s bra \t$%s%s%u;\n", i->guard_neg ? "" : "!", (int)g.n, g.s, s->c->tag, where,
               n);
}

/* Leaves the address in adr and its line in line. */
static void address_code(const struct soft *s, const struct ptx_inst *i, struct buf *out)
{
    const char *t = s->c->tag;
    const struct ptx_operand *a = inst_address(i);
    struct str base = s->c->f->regs[a->index].name;
    buf_printf(out, "add.s64 \t%%%sadr, %.*s, %lld;\nand.b64 \t%%%sline, %%%sadr, -%u;\n", t,
               (int)base.n, base.s, (long long)a->imm, t, t, s->line);
}

/* "ld" -> "ld.shared.v2.f32": the words of a load or store that survive in shared memory. */
static void shared_op(const struct ptx_inst *i, struct buf *out)
{
    buf_puts(out, ptx_is_plain_store(i) ? "st.shared" : "ld.shared");
    for (uint8_t k = 0; k < i->nmods; k++) {
        enum ptx_mod_category c = ptx_mod_category((enum ptx_mod)i->mods[k]);
        if (c == MODCAT_VEC || c == MODCAT_TYPE)
            buf_puts(out, ptx_mod_text((enum ptx_mod)i->mods[k]));
    }
}

void soft_own_text(const struct soft *s, const struct ptx_inst *i, struct buf *out)
{
    struct str text = ptx_text(s->c->m, i->at), op = words_opcode(s->c->m, i);
    buf_put(out, op.s, text.n - (size_t)(op.s - text.s));
}

/* The line comes from memory, in pieces of at most 16 bytes. */
static void bring_code(const struct soft *s, uint32_t k, struct buf *out)
{
    const char *t = s->c->tag;
    struct buf v = { 0 };
    uint32_t words = s->line < 16 ? s->line / 4 : 4;
    for (uint32_t w = 0; w < words; w++)
        buf_printf(&v, "%s%%%sv%u", w ? ", " : words > 1 ? "{" : "", t, w);
    buf_puts(&v, words > 1 ? "}" : "");
    const char *vec = words == 4 ? ".v4" : words == 2 ? ".v2" : "", *list = v.s ? v.s : "";
    for (uint32_t at = 0; at < s->line; at += 4 * words) {
        char more[16] = "";
        if (at)
            snprintf(more, sizeof more, "+%u", at);
        buf_printf(out, "ld.global%s.u32 \t%s, [%%%sline%s];\nst.shared%s.u32 \t[%%%sslot%u%s], %s;\n",
                   vec, list, t, more, vec, t, k, more, list);
    }
    buf_printf(out, "mov.b64 \t%%%stag%u, %%%sline;\n", t, k, t);
    out->oom |= v.oom;
    buf_free(&v);
}

/* The line of adr is not k's: k's goes back to memory, this one comes. */
static void miss_code(struct soft *s, const struct ptx_inst *i, uint32_t k, uint32_t n, struct buf *out)
{
    const char *t = s->c->tag;
    if (s->s[k].ragged)
        buf_printf(out, "setp.ge.u64 \t%%%sq, %%%sline, %%%send%u;\n@%%%sq bra \t$%sdirect%u;\n", t, t,
                   t, k, t, t, n);
    write_back(s, k, out);
    if (!ptx_is_plain_store(i))
        meet_others(s, i, k, false, out);
    bring_code(s, k, out);
}

/* The access to the line in shared memory. */
static void hit_code(struct soft *s, const struct ptx_inst *i, uint32_t k, struct buf *out)
{
    const char *t = s->c->tag;
    bool store = ptx_is_plain_store(i);
    const struct ptx_operand *o = &i->opnds[store ? 1 : 0];
    struct str value = { s->c->m->text.s + o->off, o->len };
    buf_printf(out,
               "cvt.u32.u64 \t%%%soff, %%%sadr;\nand.b32 \t%%%soff, %%%soff, %u;\nadd.u32 \t%%%sso, "
               "%%%soff, %%%sslot%u;\n",
               t, t, t, t, s->line - 1, t, t, t, k);
    shared_op(i, out);
    if (store)
        buf_printf(out,
                   " \t[%%%sso], %.*s;\nmov.u32 \t%%%snib, %u;\nshl.b32 \t%%%snib, %%%snib, "
                   "%%%soff;\nor.b32 \t%%%smask%u, %%%smask%u, %%%snib;\n",
                   t, (int)value.n, value.s, t,
                   inst_bytes(i) < 32 ? (1u << inst_bytes(i)) - 1 : UINT32_MAX, t, t, t, t, k, t, k, t);
    else
        buf_printf(out, " \t%.*s, [%%%sso];\n", (int)value.n, value.s, t);
}

void soft_cached(struct soft *s, const struct ptx_inst *i, struct buf *out)
{
    const char *t = s->c->tag;
    uint32_t n = s->labels++, k = s->access[i->index].own;
    bool store = ptx_is_plain_store(i), direct = s->mode == SOFT_DYNAMIC || s->s[k].ragged;
    guard_code(s, i, "skip", n, out);
    address_code(s, i, out);
    if (store)
        meet_others(s, i, k, true, out);
    if (s->counting)
        buf_printf(out, "add.u32 \t%%%sall%u, %%%sall%u, 1;\n", t, k, t, k);
    if (s->mode == SOFT_DYNAMIC)
        buf_printf(out, "setp.eq.u32 \t%%%sp, %%%sslot%u, -1;\n@%%%sp bra \t$%sdirect%u;\n", t, t, k, t,
                   t, n);
    buf_printf(out, "setp.eq.s64 \t%%%sp, %%%sline, %%%stag%u;\n", t, t, t, k);
    if (s->counting)
        buf_printf(out, "@%%%sp add.u32 \t%%%sgot%u, %%%sgot%u, 1;\n", t, t, k, t, k);
    buf_printf(out, "@%%%sp bra \t$%shit%u;\n", t, t, n);
    miss_code(s, i, k, n, out);
    buf_printf(out, "$%shit%u:\n", t, n);
    hit_code(s, i, k, out);
    if (direct) {
        buf_printf(out, "bra \t$%sskip%u;\n$%sdirect%u:\n", t, n, t, n);
        if (!store)
            meet_others(s, i, k, false, out);
        soft_own_text(s, i, out);
        buf_puts(out, "\n");
    }
    if (direct || i->guarded)
        buf_printf(out, "$%sskip%u:\n", t, n);
}

/* Monitoring: the access itself, and one imaginary line. A profile counts a thread's first accesses,
 * as many as the sample. */
void soft_monitored(struct soft *s, const struct ptx_inst *i, struct buf *out)
{
    const char *t = s->c->tag;
    uint32_t n = s->labels++, k = s->access[i->index].own;
    guard_code(s, i, "skip", n, out);
    address_code(s, i, out);
    for (uint32_t j = 0; j < s->n && ptx_is_plain_store(i); j++)
        if (j != k && soft_uses(s, j) && soft_may_meet(s, &s->access[i->index], j))
            buf_printf(out,
                       "setp.eq.s64 \t%%%sp, %%%sline, %%%stag%u;\n@%%%sp mov.u64 \t%%%stag%u, 0;\n", t,
                       t, t, j, t, t, j);
    buf_printf(out, "setp.eq.s64 \t%%%sp, %%%sline, %%%stag%u;\nmov.b64 \t%%%stag%u, %%%sline;\n", t, t,
               t, k, t, k, t);
    if (s->mode == SOFT_PROFILE)
        buf_printf(out,
                   "setp.lt.u32 \t%%%sq, %%%scount, %u;\nand.pred \t%%%sp, %%%sp, %%%sq;\n@%%%sp "
                   "add.u32 \t%%%sgot%u, %%%sgot%u, 1;\n@%%%sq add.u32 \t%%%sall%u, %%%sall%u, 1;\n"
                   "add.u32 \t%%%scount, %%%scount, 1;\n",
                   t, t, s->sample, t, t, t, t, t, k, t, k, t, t, k, t, k, t, t);
    else
        buf_printf(out,
                   "@%%%sp add.u32 \t%%%shit%u, %%%shit%u, 1;\nadd.u32 \t%%%scount, %%%scount, 1;\n", t,
                   t, k, t, k, t, t);
    if (s->mode == SOFT_DYNAMIC && s->counting)
        buf_printf(out, "add.u32 \t%%%sall%u, %%%sall%u, 1;\nadd.u32 \t%%%sseen, %%%sseen, 1;\n", t, k,
                   t, k, t, t);
    soft_own_text(s, i, out);
    buf_puts(out, "\n");
    if (i->guarded)
        buf_printf(out, "$%sskip%u:\n", t, n);
}

bool soft_other(struct soft *s, const struct ptx_inst *i, bool monitor, struct buf *out)
{
    const struct soft_access *a = &s->access[i->index];
    struct buf lines = { 0 };
    for (uint32_t k = 0; k < s->n; k++) {
        if (!soft_uses(s, k) || !soft_may_meet(s, a, k))
            continue;
        if (monitor && (a->store || a->whole))
            buf_printf(&lines, "mov.u64 \t%%%stag%u, 0;\n", s->c->tag, k);
        else if (!monitor && a->whole)
            flush(s, k, &lines);
        else if (!monitor)
            meet(s, k, a->store, &lines);
    }
    uint32_t n = s->labels++;
    bool any = lines.n != 0;
    if (any) {
        guard_code(s, i, "meet", n, out);
        if (!a->whole && !monitor)
            address_code(s, i, out);
        buf_puts(out, lines.s);
        if (i->guarded)
            buf_printf(out, "$%smeet%u:\n", s->c->tag, n);
        pass_own_text(s->c->m, i, out);
    }
    out->oom |= lines.oom;
    buf_free(&lines);
    return any;
}

bool soft_may_meet(const struct soft *s, const struct soft_access *a, uint32_t k)
{
    if (a->roots.unknown)
        return true;
    for (int p = 0; p < 64; p++)
        if ((a->roots.params >> p & 1) &&
            (p == s->s[k].param || !pass_params_distinct(s->c, p, s->s[k].param)))
            return true;
    return false;
}

uint32_t soft_registers(const struct soft *s, uint32_t k)
{
    return 3u + s->s[k].written + (s->mode != SOFT_FIXED);
}

uint32_t soft_all_registers(const struct soft *s)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n; k++)
        n += soft_uses(s, k) ? soft_registers(s, k) : 0;
    return n;
}
