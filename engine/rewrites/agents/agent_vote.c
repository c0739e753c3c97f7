/* agents, voting (paper: cluster, section 4.3): one launch in which every SM runs with another number
 * of active agents. An agent adds up the cycles its tasks took; how many agents really worked on how
 * many SMs is counted too, since fewer may fit than were asked for. Words: PASS_AGENT_VOTE_SYMBOL.
 *
 *   before, --agents 2                   after, --agents vote
 *     id >= [knobs + active]: ret          act = 1 + smid * most / nsmid;  id >= act: ret
 *     body                                 begun = clock;  body;  red.add [vote + act], clock - begun */
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/rewrites/cluster_int.h"

#define TAG "cluster"

void agent_vote_declare(const char *t, struct buf *out)
{
    buf_printf(
        out, ".reg .b64 \t%%%sbegun, %%%sclk, %%%sbox;\n.reg .b32 \t%%%snew;\n.reg .pred \t%%%sfresh;\n",
        t, t, t, t, t);
}

/* act = 1 + smid * most / nsmid; v: the agent's number on its SM. The first agent of an SM stands for
 * the SM. */
void agent_vote_number(const char *t, uint32_t most, struct buf *out)
{
    most = most > PASS_VOTE_MOST ? PASS_VOTE_MOST : most;
    buf_printf(out,
               "mov.u32 \t%%%su, %%nsmid;\nmul.lo.u32 \t%%%sact, %%%shome, %u;\ndiv.u32 \t%%%sact, "
               "%%%sact, %%%su;\nadd.u32 \t%%%sact, %%%sact, 1;\nmin.u32 \t%%%sact, %%%sact, %u;\n",
               t, t, t, most, t, t, t, t, t, t, t, most);
    buf_printf(out,
               "mov.u64 \t%%%sbox, " PASS_AGENT_VOTE_SYMBOL
               ";\nmad.wide.u32 \t%%%sbox, %%%sact, %d, %%%sbox;\n",
               t, t, t, 8 * PASS_AGENT_VOTE_STEP, t);
    buf_printf(out, "setp.eq.u32 \t%%%sfresh, %%%sv, 0;\nselp.u32 \t%%%snew, 2, 1, %%%sfresh;\n", t, t,
               t, t);
}

/* Thread 0, after v tasks: their cycles and number; after the agent's first, the agent and perhaps its
 * SM. */
void agent_vote_count(const char *t, struct buf *out)
{
    buf_printf(out,
               "mov.u64 \t%%%sclk, %%clock64;\nsub.s64 \t%%%sclk, %%%sclk, "
               "%%%sbegun;\nred.global.add.u64 \t[%%%sbox], %%%sclk;\ncvt.u64.u32 \t%%%sclk, "
               "%%%sv;\nred.global.add.u64 \t[%%%sbox+8], %%%sclk;\n",
               t, t, t, t, t, t, t, t, t, t);
    buf_printf(out,
               "setp.ne.u32 \t%%%sfresh, %%%snew, 0;\n@%%%sfresh red.global.add.u64 \t[%%%sbox+16], "
               "1;\nsetp.eq.u32 \t%%%sfresh, %%%snew, 2;\n"
               "@%%%sfresh red.global.add.u64 \t[%%%sbox+24], 1;\nmov.u32 \t%%%snew, 0;\n",
               t, t, t, t, t, t, t, t, t);
}

void agent_vote_put(struct pass_ctx *c)
{
    ptx_edit_global(c->edit, TAG, ".visible .global .align 8 .u64 " PASS_AGENT_VOTE_SYMBOL "[%d];",
                    PASS_AGENT_VOTE_WORDS);
    pass_put_reset(c->out, PASS_AGENT_VOTE_SYMBOL, 8ull * PASS_AGENT_VOTE_WORDS);
    c->out->extra_regs += 2;
}
