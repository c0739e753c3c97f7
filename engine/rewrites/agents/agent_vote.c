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
    pass_code(out, t,
              ".reg .b64 \t%%#begun, %%#clk, %%#box;\n.reg .b32 \t%%#new;\n"
              ".reg .pred \t%%#fresh;\n");
}

/* act = 1 + smid * most / nsmid; v: the agent's number on its SM. The first agent of an SM stands for
 * the SM. */
void agent_vote_number(const char *t, uint32_t most, struct buf *out)
{
    most = most > PASS_VOTE_MOST ? PASS_VOTE_MOST : most;
    pass_code(out, t,
              "mov.u32 \t%%#u, %%nsmid;\nmul.lo.u32 \t%%#act, %%#home, %u;\n"
              "div.u32 \t%%#act, %%#act, %%#u;\nadd.u32 \t%%#act, %%#act, 1;\n"
              "min.u32 \t%%#act, %%#act, %u;\n",
              most, most);
    pass_code(out, t,
              "mov.u64 \t%%#box, " PASS_AGENT_VOTE_SYMBOL ";\n"
              "mad.wide.u32 \t%%#box, %%#act, %d, %%#box;\n",
              8 * PASS_AGENT_VOTE_STEP);
    pass_code(out, t, "setp.eq.u32 \t%%#fresh, %%#v, 0;\nselp.u32 \t%%#new, 2, 1, %%#fresh;\n");
}

/* Thread 0, after v tasks: their cycles and number; after the agent's first, the agent and perhaps its
 * SM. */
void agent_vote_count(const char *t, struct buf *out)
{
    pass_code(out, t,
              "mov.u64 \t%%#clk, %%clock64;\nsub.s64 \t%%#clk, %%#clk, %%#begun;\n"
              "red.global.add.u64 \t[%%#box], %%#clk;\ncvt.u64.u32 \t%%#clk, %%#v;\n"
              "red.global.add.u64 \t[%%#box+8], %%#clk;\n");
    pass_code(out, t,
              "setp.ne.u32 \t%%#fresh, %%#new, 0;\n"
              "@%%#fresh red.global.add.u64 \t[%%#box+16], 1;\n"
              "setp.eq.u32 \t%%#fresh, %%#new, 2;\n"
              "@%%#fresh red.global.add.u64 \t[%%#box+24], 1;\nmov.u32 \t%%#new, 0;\n");
}

void agent_vote_put(struct pass_ctx *c)
{
    ptx_edit_global(c->edit, TAG, ".visible .global .align 8 .u64 " PASS_AGENT_VOTE_SYMBOL "[%d];",
                    PASS_AGENT_VOTE_WORDS);
    pass_put_reset(c->out, PASS_AGENT_VOTE_SYMBOL, 8ull * PASS_AGENT_VOTE_WORDS);
    c->out->extra_regs += 2;
}
