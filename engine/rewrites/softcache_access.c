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
    pass_code(out, t, ".reg .pred \t%%#p, %%#q;\n.reg .b64 \t%%#adr, %%#line, %%#wb;\n");
    pass_code(out, t,
              ".reg .b32 \t%%#x, %%#y, %%#z, %%#nx, %%#ny, %%#base, %%#off, %%#i, %%#nib, %%#so, "
              "%%#count, %%#rank, %%#v<4>;\n"
              ".reg .b16 \t%%#h;\n");
    if (s->mode != SOFT_FIXED)
        pass_code(out, t, ".reg .b32 \t%%#told, %%#seen;\n");
    for (uint32_t k = 0; k < s->n; k++) {
        if (!soft_uses(s, k))
            continue;
        pass_code(out, t,
                  ".reg .b64 \t%%#tag%u, %%#end%u;\n.reg .b32 \t%%#slot%u, %%#mask%u, %%#hit%u;\n", k, k,
                  k, k, k);
        if (s->counting)
            pass_code(out, t, ".reg .b32 \t%%#got%u, %%#all%u;\n", k, k);
    }
}

/* ---- write-back: dirty bytes only, words where all four are dirty ---- */
static void write_back(struct soft *s, uint32_t k, struct buf *out)
{
    const char *t = s->c->tag;
    uint32_t n = s->labels++;
    if (!s->s[k].written)
        return;
    pass_code(out, t,
              "setp.eq.u32 \t%%#q, %%#mask%u, 0;\n@%%#q bra \t$#clean%u;\nmov.u32 \t%%#i, 0;\n"
              "$#word%u:\n",
              k, n, n);
    pass_code(out, t, "shr.u32 \t%%#nib, %%#mask%u, %%#i;\nand.b32 \t%%#nib, %%#nib, 15;\n", k);
    pass_code(out, t,
              "cvt.u64.u32 \t%%#wb, %%#i;\nadd.s64 \t%%#wb, %%#wb, %%#tag%u;\n"
              "add.u32 \t%%#so, %%#slot%u, %%#i;\n",
              k, k);
    pass_code(out, t, "setp.eq.u32 \t%%#q, %%#nib, 15;\n@!%%#q bra \t$#bytes%u;\n", n);
    pass_code(out, t,
              "ld.shared.u32 \t%%#nib, [%%#so];\nst.global.u32 \t[%%#wb], %%#nib;\n"
              "bra \t$#nextw%u;\n$#bytes%u:\n",
              n, n);
    for (unsigned b = 0; b < 4; b++)
        pass_code(out, t,
                  "and.b32 \t%%#off, %%#nib, %u;\nsetp.ne.u32 \t%%#q, %%#off, 0;\n"
                  "@%%#q ld.shared.u8 \t%%#h, [%%#so+%u];\n@%%#q st.global.u8 \t[%%#wb+%u], %%#h;\n",
                  1u << b, b, b);
    pass_code(out, t,
              "$#nextw%u:\nadd.u32 \t%%#i, %%#i, 4;\nsetp.lt.u32 \t%%#q, %%#i, %u;\n"
              "@%%#q bra \t$#word%u;\nmov.u32 \t%%#mask%u, 0;\n$#clean%u:\n",
              n, s->line, n, k, n);
}

static void flush(struct soft *s, uint32_t k, struct buf *out)
{
    write_back(s, k, out);
    pass_code(out, s->c->tag, "mov.u64 \t%%#tag%u, 0;\n", k);
}

void soft_flush_all(struct soft *s, bool last, struct buf *out)
{
    for (uint32_t k = 0; k < s->n; k++)
        if (soft_uses(s, k) && last && s->mode != SOFT_PROFILE)
            write_back(s, k, out);
        else if (soft_uses(s, k) && s->mode != SOFT_PROFILE)
            flush(s, k, out);
        else if (soft_uses(s, k))
            pass_code(out, s->c->tag, "mov.u64 \t%%#tag%u, 0;\n", k);
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
        pass_code(out, t, "setp.eq.s64 \t%%#q, %%#line, %%#tag%u;\n@%%#q mov.u64 \t%%#tag%u, 0;\n", k,
                  k);
        return;
    }
    s->labels++;
    pass_code(out, t, "setp.ne.s64 \t%%#q, %%#line, %%#tag%u;\n@%%#q bra \t$#apart%u;\n", k, n);
    if (empties)
        flush(s, k, out);
    else
        write_back(s, k, out);
    pass_code(out, t, "$#apart%u:\n", n);
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
    pass_code(out, s->c->tag, "@%s%.*s bra \t$#%s%u;\n", i->guard_neg ? "" : "!", (int)g.n, g.s, where,
              n);
}

/* Leaves the address in adr and its line in line. */
static void address_code(const struct soft *s, const struct ptx_inst *i, struct buf *out)
{
    const char *t = s->c->tag;
    const struct ptx_operand *a = inst_address(i);
    struct str base = s->c->f->regs[a->index].name;
    pass_code(out, t, "add.s64 \t%%#adr, %.*s, %lld;\nand.b64 \t%%#line, %%#adr, -%u;\n", (int)base.n,
              base.s, (long long)a->imm, s->line);
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
        pass_code(&v, t, "%s%%#v%u", w ? ", " : words > 1 ? "{" : "", w);
    buf_puts(&v, words > 1 ? "}" : "");
    const char *vec = words == 4 ? ".v4" : words == 2 ? ".v2" : "", *list = v.s ? v.s : "";
    for (uint32_t at = 0; at < s->line; at += 4 * words) {
        char more[16] = "";
        if (at)
            snprintf(more, sizeof more, "+%u", at);
        pass_code(out, t, "ld.global%s.u32 \t%s, [%%#line%s];\nst.shared%s.u32 \t[%%#slot%u%s], %s;\n",
                  vec, list, more, vec, k, more, list);
    }
    pass_code(out, t, "mov.b64 \t%%#tag%u, %%#line;\n", k);
    out->oom |= v.oom;
    buf_free(&v);
}

/* The line of adr is not k's: k's goes back to memory, this one comes. */
static void miss_code(struct soft *s, const struct ptx_inst *i, uint32_t k, uint32_t n, struct buf *out)
{
    const char *t = s->c->tag;
    if (s->s[k].ragged)
        pass_code(out, t, "setp.ge.u64 \t%%#q, %%#line, %%#end%u;\n@%%#q bra \t$#direct%u;\n", k, n);
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
    pass_code(out, t,
              "cvt.u32.u64 \t%%#off, %%#adr;\nand.b32 \t%%#off, %%#off, %u;\n"
              "add.u32 \t%%#so, %%#off, %%#slot%u;\n",
              s->line - 1, k);
    shared_op(i, out);
    if (store)
        pass_code(out, t,
                  " \t[%%#so], %.*s;\nmov.u32 \t%%#nib, %u;\nshl.b32 \t%%#nib, %%#nib, %%#off;\n"
                  "or.b32 \t%%#mask%u, %%#mask%u, %%#nib;\n",
                  (int)value.n, value.s, inst_bytes(i) < 32 ? (1u << inst_bytes(i)) - 1 : UINT32_MAX, k,
                  k);
    else
        pass_code(out, t, " \t%.*s, [%%#so];\n", (int)value.n, value.s);
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
        pass_code(out, t, "add.u32 \t%%#all%u, %%#all%u, 1;\n", k, k);
    if (s->mode == SOFT_DYNAMIC)
        pass_code(out, t, "setp.eq.u32 \t%%#p, %%#slot%u, -1;\n@%%#p bra \t$#direct%u;\n", k, n);
    pass_code(out, t, "setp.eq.s64 \t%%#p, %%#line, %%#tag%u;\n", k);
    if (s->counting)
        pass_code(out, t, "@%%#p add.u32 \t%%#got%u, %%#got%u, 1;\n", k, k);
    pass_code(out, t, "@%%#p bra \t$#hit%u;\n", n);
    miss_code(s, i, k, n, out);
    pass_code(out, t, "$#hit%u:\n", n);
    hit_code(s, i, k, out);
    if (direct) {
        pass_code(out, t, "bra \t$#skip%u;\n$#direct%u:\n", n, n);
        if (!store)
            meet_others(s, i, k, false, out);
        soft_own_text(s, i, out);
        buf_puts(out, "\n");
    }
    if (direct || i->guarded)
        pass_code(out, t, "$#skip%u:\n", n);
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
            pass_code(out, t, "setp.eq.s64 \t%%#p, %%#line, %%#tag%u;\n@%%#p mov.u64 \t%%#tag%u, 0;\n",
                      j, j);
    pass_code(out, t, "setp.eq.s64 \t%%#p, %%#line, %%#tag%u;\nmov.b64 \t%%#tag%u, %%#line;\n", k, k);
    if (s->mode == SOFT_PROFILE)
        pass_code(out, t,
                  "setp.lt.u32 \t%%#q, %%#count, %u;\nand.pred \t%%#p, %%#p, %%#q;\n"
                  "@%%#p add.u32 \t%%#got%u, %%#got%u, 1;\n@%%#q add.u32 \t%%#all%u, %%#all%u, 1;\n"
                  "add.u32 \t%%#count, %%#count, 1;\n",
                  s->sample, k, k, k, k);
    else
        pass_code(out, t, "@%%#p add.u32 \t%%#hit%u, %%#hit%u, 1;\nadd.u32 \t%%#count, %%#count, 1;\n",
                  k, k);
    if (s->mode == SOFT_DYNAMIC && s->counting)
        pass_code(out, t, "add.u32 \t%%#all%u, %%#all%u, 1;\nadd.u32 \t%%#seen, %%#seen, 1;\n", k, k);
    soft_own_text(s, i, out);
    buf_puts(out, "\n");
    if (i->guarded)
        pass_code(out, t, "$#skip%u:\n", n);
}

bool soft_other(struct soft *s, const struct ptx_inst *i, bool monitor, struct buf *out)
{
    const struct soft_access *a = &s->access[i->index];
    struct buf lines = { 0 };
    for (uint32_t k = 0; k < s->n; k++) {
        if (!soft_uses(s, k) || !soft_may_meet(s, a, k))
            continue;
        if (monitor && (a->store || a->whole))
            pass_code(&lines, s->c->tag, "mov.u64 \t%%#tag%u, 0;\n", k);
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
            pass_code(out, s->c->tag, "$#meet%u:\n", n);
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
