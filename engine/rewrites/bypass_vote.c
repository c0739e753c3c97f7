/* bypass, voting (paper: bypass, section 4.4.2): a single launch tries all thresholds. Every SM runs one
 * of them, so that a cache sees only CTAs of its own threshold; or, as in the paper's first scheme, a
 * launch of one CTA for each. The last thread of a CTA to leave reports the CTA's cycles;
 * PASS_VOTE_SYMBOL holds the election and, for each threshold, the sum and number of what was reported.
 *
 *   before          after, --bypass l1 --pi vote
 *     ...             pi = smid * (warps + 1) / nsmid;  @first st.shared [slot], clock;  bar.sync 0;
 *     ld x;           both copies, as the form clone has them
 *     ret;            bra $left;
 *                   $left:  n = atom.shared.add [slot+8], 1;  @(n != threads - 1) ret;
 *                     red.add [vote + 16*pi + 8], clock - begun;  red.add [vote + 16*pi + 16], 1;
 *                     red.max [vote], ~(cycles << 8 | pi);  ret; */
#include "engine/pass/words.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rewrites/bypass_int.h"

#define TAG "bypass"

enum status bypass_vote_check(struct pass_ctx *c)
{
    struct pass_funcs fs;
    uint32_t warps = pass_warps(c);
    if (!warps)
        return pass_refuse(
            c, NO_SPAN, "give the launch with --launch",
            "--pi vote tries 0..W, but W, the warps per CTA, is unknown without a launch");
    if (warps > PASS_VOTE_MOST)
        return pass_refuse(c, NO_SPAN, NULL, "--pi vote: %u warps per CTA; at most %d are supported",
                           warps, PASS_VOTE_MOST);
    if (opt_cluster(c->opt)->kind == CLUSTER_AGENT)
        return pass_refuse(c, NO_SPAN, "vote first, then add --cluster agent",
                           "--pi vote times CTAs, and agents run many of them each");
    pass_callees(c, &fs);
    for (uint32_t k = 0; k < fs.n; k++)
        for (uint32_t n = 0; n < fs.v[k]->ninsts; n++)
            if (ptx_is(&fs.v[k]->insts[n], IS_STOP))
                return pass_refuse(
                    c, fs.v[k]->insts[n].at, NULL,
                    "the called function exits the thread, whose time would not be counted");
    return ST_OK;
}

void bypass_vote_grid(struct bypass *b)
{
    struct dim3u *g = &b->c->out->grid;
    uint32_t n = pass_warps(b->c) + 1, x = g->x < n ? g->x : n, y = x ? (n + x - 1) / x : 1;
    *g = (struct dim3u){ x, y < g->y ? y : g->y, 1 };
}

void bypass_vote_threshold(const struct bypass *b, struct buf *out)
{
    const char *t = b->c->tag;
    if (opt_bypass(b->c->opt)->pi.mode == PI_VOTE_CTA) {
        pass_code(out, t,
                  "mov.u32 \t%%#pi, %%ctaid.y;\nmov.u32 \t%%#nx, %%nctaid.x;\n"
                  "mov.u32 \t%%#ny, %%ctaid.x;\nmad.lo.u32 \t%%#pi, %%#pi, %%#nx, %%#ny;\n"
                  "rem.u32 \t%%#pi, %%#pi, %u;\n",
                  pass_warps(b->c) + 1);
        return;
    }
    pass_code(out, t,
              "mov.u32 \t%%#pi, %%smid;\nmov.u32 \t%%#nx, %%nsmid;\n"
              "mul.lo.u32 \t%%#pi, %%#pi, %u;\ndiv.u32 \t%%#pi, %%#pi, %%#nx;\n",
              pass_warps(b->c) + 1);
}

/* Slot in shared memory: start of the CTA (u64), threads that have left (u32). */
void bypass_vote_begin(struct bypass *b)
{
    struct pass_ctx *c = b->c;
    const char *t = c->tag;
    ptx_edit_global(c->edit, TAG, ".visible .global .align 8 .u64 " PASS_VOTE_SYMBOL "[%d];",
                    PASS_VOTE_WORDS);
    ptx_edit_declare(c->edit, c->f, TAG,
                     ".shared .align 8 .b64 %sslot[2];\n.reg .b64 \t%%%sclk, %%%sbegun, "
                     "%%%swhere;\n.reg .b32 \t%%%sgone;",
                     t, t, t, t, t);
    if (pass_target(c) < 32)
        ptx_edit_declare(c->edit, c->f, TAG, ".reg .b64 \t%%%swas;", t);
    struct buf gone = { 0 }, index = { 0 };
    pass_code(&gone, t, "%%#gone");
    if (gone.s)
        pass_linear_tid(c, gone.s, &index);
    ptx_edit_entry(
        c->edit, c->f, TAG,
        "%ssetp.ne.u32 \t%%%sq0, %%%sgone, 0;\n@%%%sq0 bra \t$%sstart;\nmov.u64 \t%%%sclk, %%clock64;\n"
        "st.shared.u64 \t[%sslot], %%%sclk;\nst.shared.u32 \t[%sslot+8], 0;\n$%sstart:\nbar.sync \t0;",
        index.s ? index.s : "", t, t, t, t, t, t, t, t, t);
    c->oom |= gone.oom || index.oom;
    buf_free(&gone);
    buf_free(&index);
    pass_put_reset(c->out, PASS_VOTE_SYMBOL, 8ull * PASS_VOTE_WORDS);
    c->out->extra_shared += 16;
    c->out->extra_regs += 1;
}

/* ret or exit: to where threads leave. */
void bypass_vote_leave(const struct bypass *b, const struct ptx_inst *i, struct buf *out)
{
    words_guard(b->c->f, i, out);
    buf_printf(out, "bra \t$%sleft;", b->c->tag);
}

void bypass_vote_end(const struct bypass *b, struct buf *out)
{
    const char *t = b->c->tag;
    uint32_t threads = (uint32_t)dim3u_count(b->c->out->block);
    pass_code(out, t,
              "$#left:\natom.shared.add.u32 \t%%#gone, [#slot+8], 1;\n"
              "setp.ne.u32 \t%%#q0, %%#gone, %u;\n@%%#q0 ret;\n",
              threads - 1);
    pass_code(out, t,
              "mov.u64 \t%%#clk, %%clock64;\nld.shared.u64 \t%%#begun, [#slot];\n"
              "sub.s64 \t%%#clk, %%#clk, %%#begun;\n");
    pass_code(out, t,
              "mov.u64 \t%%#where, " PASS_VOTE_SYMBOL ";\n"
              "mad.wide.u32 \t%%#begun, %%#pi, 16, %%#where;\n");
    pass_code(out, t,
              "red.global.add.u64 \t[%%#begun+8], %%#clk;\n"
              "red.global.add.u64 \t[%%#begun+16], 1;\n");
    pass_code(out, t,
              "shl.b64 \t%%#clk, %%#clk, 8;\ncvt.u64.u32 \t%%#begun, %%#pi;\n"
              "or.b64 \t%%#clk, %%#clk, %%#begun;\nnot.b64 \t%%#clk, %%#clk;\n");
    if (pass_target(b->c) >= 32) {
        pass_code(out, t, "red.global.max.u64 \t[%%#where], %%#clk;\nret;\n");
        return;
    }
    /* before sm_32 there is no 64-bit maximum */
    pass_code(out, t,
              "ld.volatile.global.u64 \t%%#begun, [%%#where];\n$#most:\n"
              "setp.ge.u64 \t%%#q0, %%#begun, %%#clk;\n@%%#q0 ret;\n");
    pass_code(out, t,
              "atom.global.cas.b64 \t%%#was, [%%#where], %%#begun, %%#clk;\n"
              "setp.eq.u64 \t%%#q0, %%#was, %%#begun;\n");
    pass_code(out, t, "@%%#q0 ret;\nmov.u64 \t%%#begun, %%#was;\nbra \t$#most;\n");
}
