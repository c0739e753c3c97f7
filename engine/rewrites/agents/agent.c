/* agents (paper: cluster, sections 4.2.2 to 4.3): SMs x resident CTAs persistent CTAs that run the
 * CTAs of the original as tasks.
 *
 *   before                               after, --cluster agent
 *     body                                 thread 0: id = atom.add [agents + smid], 1; id >= active: ret
 *     mov.u32 %r1, %ctaid.x;               claim; publish
 *     ret;                               body:
 *                                          mov.u32 %r1, cx;          the task's coordinates
 *                                          bra next;
 *                                        next: publish; wait; -> body, or ret
 *
 *   thread 0:  agent id = atomic count of this SM; id >= active: leave (throttle)
 *   claim:     thread 0: claim a task of the own cluster (atomic)
 *   publish:   thread 0: other slot <- coordinates of the claimed task, or "search", or "end"; then
 *              it claims the next one: the atomic's way there and back is spent on the body. Of long
 *              tasks with few left for each agent it claims later: two for one agent would leave none
 *              for another
 *   wait:      bar.sync; slots change places; all threads read theirs; task: -> body; end: return
 *   search:    all threads look for a cluster with tasks left, thread 0 goes there -> claim. Of short
 *              tasks only the SEARCHERS first ones that find a counter used up; the others end:
 *              thousands of agents that read all counters take longer than the tasks that are left.
 *              Of few tasks each search draws a number: the n-th takes the n-th cluster that has tasks
 *              left. If all took the nearest one, all but one would search again, and so on
 *   body:      %ctaid = slot, %nctaid = the original's grid, ret -> next
 *   next:      -> publish (two slots in turn, so one barrier a task is enough: whoever writes a slot has
 *              passed the barrier behind its last reading; called functions that read the task know one
 *              slot only, and then a second barrier stands here)
 *
 * Where all agents work and there are no more tasks than agents, each runs one task and ends behind it:
 * next is ret. An agent finds a task as long as one is left, and before it has one, the others have
 * taken at most one each.
 *
 * Where there are several short tasks for each agent, a claim is of `chunk` tasks, as many places apart
 * as the cluster has agents: those that run at one time are neighbours, as the hardware's are. Claim w
 * < blocks * agents is member w mod agents of block w div agents; the claims behind those are of one
 * task each, so that the last ones are shared out evenly. The slot then holds the first place and the
 * one behind the last, every thread finds the coordinates by itself, and next goes as many places on
 * as there are agents; still inside: -> body, behind a barrier only if the kernel has shared memory or
 * barriers (without them no warp can tell how far the others are); else -> publish.
 *
 * The hardware promises no placement: counters are claimed, never assumed, and an agent that finds its
 * own cluster empty goes through all others, so every task runs exactly once as long as one agent
 * runs. The agent with id 0 of any SM always runs. A claimed task is always run by the one that
 * claimed it. An agent that ends because SEARCHERS others found the same counter used up before it
 * leaves no task behind: the first of those went on to a cluster that had tasks then. That one is used
 * up later, and the agent that finds it so goes on in turn; counters only grow, so the last of them has
 * seen that all are used up. */
#include "engine/pass/pass_int.h"
#include "engine/pass/tasks.h"
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/flow/asks.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rewrites/agents/agent_int.h"
#include "engine/rewrites/cluster_int.h"
#include "engine/rewrites/throttle.h"

#include <string.h>

#define TAG "cluster"

/* ---- legality ---- */
enum status agent_check(struct pass_ctx *c)
{
    struct pass_funcs fs;
    const struct options *o = c->opt;
    if (!c->in->launch)
        return pass_refuse(c, NO_SPAN, "give the launch with --launch",
                           "agents run the CTAs of one grid as tasks; there is no launch description");
    if (opt_cluster(o)->agents == OPT_AGENTS_VOTE && !c->in->dev)
        return pass_refuse(
            c, NO_SPAN, "choose a device with --device",
            "--agents vote tries a different number of agents on every SM; no device is chosen");
    pass_callees(c, &fs);
    static const struct task_words words = { "an agent", "task",
                                             "use --cluster redirect, which does not have this limit" };
    enum status s = agent_launch_check(c);
    return s == ST_OK ? tasks_check(c, &fs, &words) : s;
}

/* ---- how many ---- */
/* from so many tasks for each agent on, one task shared out badly at the end is lost in the rest */
enum { MANY_WAVES = 8 };
/* tasks for each agent behind the claimed one, below which the next claim waits for the task's end
 * (measured on an H200: two waves of a chain of 1,000 multiply-adds take 86.4 us with 1, 79.2 with 2) */
enum { FEW_AHEAD = 2 };
/* short tasks claimed at once, at most: with more, SMs end at different times (measured on an H200:
 * backprop 0.148 ms with 8, 0.156 with 16) */
enum { CHUNK_MOST = 8 };
/* agents of a used-up cluster of short tasks that search */
enum { SEARCHERS = 4 };
static uint32_t at_least_1(uint64_t v)
{
    return v ? (uint32_t)v : 1;
}

/* Resident CTAs of the code with agents, where its registers are known: those of the original, since
 * what the compiler adds is not known before it runs. */
static uint32_t agents_per_sm(const struct pass_ctx *c)
{
    const struct dev_info *d = c->in->dev;
    uint64_t warps = pass_warps(c);
    if (!d || !warps)
        return at_least_1(warps ? 64 / warps : 1);
    struct dev_cta cta = pass_cta(c, c->m, c->f);
    cta.regs = pass_regs(c);
    cta.shared += 2 * SLOT_BYTES + (cluster_count(c) + 127) / 128 * 16;
    return at_least_1(dev_resident(d, &cta).ctas_per_sm);
}

static uint32_t agent_count(const struct pass_ctx *c)
{
    uint64_t tasks = dim3u_count(c->out->grid);
    uint64_t sms = c->in->dev ? c->in->dev->sms : cluster_count(c);
    uint64_t n = sms * agents_per_sm(c);
    return at_least_1(n < tasks ? n : tasks);
}

/* ---- code ---- */

enum { STATE_END, STATE_TASK, STATE_SEARCH };

static void declare(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    pass_code(out, t, ".reg .pred \t%%#first, %%#odd, %%#p, %%#q;\n");
    pass_code(out, t,
              ".reg .b32 \t%%#cx, %%#cy, %%#cz, %%#ok, %%#lin, %%#home, %%#w, %%#size, %%#v, %%#act, "
              "%%#u, %%#sl, %%#ot;\n");
    pass_code(out, t, ".reg .b32 \t%%#x, %%#y, %%#z, %%#nx, %%#ny;\n.reg .b64 \t%%#ptr;\n");
    if (a->chunk > 1)
        pass_code(out, t, ".reg .b32 \t%%#at, %%#end;\n");
    if (a->own)
        pass_code(out, t, ".reg .b32 \t%%#seen;\n");
    if (a->prefetch)
        pass_code(out, t, ".reg .b32 \t%%#px, %%#py, %%#pz, %%#pok, %%#dist;\n");
    if (a->vote)
        agent_vote_declare(t, out);
    order_declare(t, out);
}

/* v = this agent's number on its SM, act = how many work there. Where all work nobody counts. */
static void number_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    if (a->vote) {
        ptx_edit_mark(out, MARK_CLAIM);
        pass_code(out, t, "atom.global.add.u32 \t%%#v, [%%#ptr], 1;\n");
        agent_vote_number(t, a->per_sm, out);
        return;
    }
    pass_code(out, t,
              "ld.const.u32 \t%%#act, [" PASS_KNOB_SYMBOL "+%u];\nmov.u32 \t%%#v, 0;\n"
              "setp.lt.u32 \t%%#q, %%#act, %u;\n",
              4u * PASS_KNOB_AGENTS, PASS_KNOB_ALL);
    ptx_edit_mark(out, MARK_CLAIM);
    pass_code(out, t, "@%%#q atom.global.add.u32 \t%%#v, [%%#ptr], 1;\n");
}

/* Thread 0 counts itself in on its SM; the SM's cluster is its home. Across the body live only w and two
 * predicates, and the coordinates that the body reads: agents must not cost the kernel resident CTAs. */
static void arrive_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    struct buf lin = { 0 };
    pass_code(&lin, t, "%%#lin");
    if (lin.s)
        pass_linear_tid_any(t, lin.s, out); /* once an agent: the general form costs nothing */
    if (!a->one_slot)
        pass_code(out, t, "setp.ne.u32 \t%%#odd, %%#nx, %%#nx;\n");
    pass_code(out, t, "setp.eq.u32 \t%%#first, %%#lin, 0;\n@!%%#first bra \t$#wait;\n");
    pass_code(out, t, "mov.u32 \t%%#home, %%smid;\nand.b32 \t%%#v, %%#home, %d;\n",
              CLUSTER_SM_SLOTS - 1);
    if (!a->once) {
        pass_code(out, t,
                  "mov.u64 \t%%#ptr, " CLUSTER_AGENTS ";\nmad.wide.u32 \t%%#ptr, %%#v, %d, %%#ptr;\n",
                  AGENTS_STEP);
        number_code(a, out);
        pass_code(out, t, "setp.ge.u32 \t%%#p, %%#v, %%#act;\n@%%#p bra \t$#finish;\n");
    }
    pass_code(out, t, "rem.u32 \t%%#home, %%#home, %u;\n", a->m);
    out->oom |= lin.oom;
    buf_free(&lin);
}

/* Place of a task, in register `from` -> coordinates in <to>x, <to>y, <to>z; v is overwritten where it
 * is the place. */
static void decode(const struct agent *a, const char *from, const char *to, struct buf *out)
{
    struct buf n[6] = { { 0 } };
    pass_code(&n[0], a->t, "%%#%s", from);
    buf_printf(&n[1], "%u", a->grid.x);
    buf_printf(&n[2], "%u", a->grid.y);
    for (int d = 0; d < 3; d++)
        pass_code(&n[3 + d], a->t, "%%#%s%c", to, 'x' + d);
    bool ok = true;
    for (size_t k = 0; k < ARRAY_LEN(n); k++)
        ok = ok && !n[k].oom;
    struct order_code o = { a->t, n[0].s, n[1].s, n[2].s, n[3].s, n[4].s, n[5].s };
    if (ok)
        order_decode(a->c, &o, out);
    out->oom |= !ok;
    for (size_t k = 0; k < ARRAY_LEN(n); k++)
        buf_free(&n[k]);
}

/* v = start(home) + off, the place of task `off` of the cluster */
static void place_code(const struct agent *a, const char *off, struct buf *out)
{
    const char *t = a->t;
    pass_code(out, t,
              "min.u32 \t%%#v, %%#home, %u;\nadd.u32 \t%%#v, %%#v, %%#%s;\n"
              "mad.lo.u32 \t%%#v, %%#home, %u, %%#v;\n",
              a->r, off, a->q);
}

/* A guess at what this agent will claim `distance` rounds from now: the counter moves on by one for each
 * agent of the SM. */
static void predict_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    if (!a->vote)
        pass_code(out, t, "ld.const.u32 \t%%#act, [" PASS_KNOB_SYMBOL "+%u];\n", 4u * PASS_KNOB_AGENTS);
    pass_code(out, t,
              "mov.u32 \t%%#ok, 0;\nmin.u32 \t%%#v, %%#act, %u;\n"
              "ld.const.u32 \t%%#dist, [" PASS_KNOB_SYMBOL "+%u];\n",
              a->per_sm, 4u * PASS_KNOB_DISTANCE);
    pass_code(out, t,
              "mad.lo.u32 \t%%#w, %%#v, %%#dist, %%#w;\nsetp.ge.u32 \t%%#p, %%#w, %%#size;\n"
              "@%%#p bra \t$#noguess;\n");
    place_code(a, "w", out);
    decode(a, "v", "", out);
    pass_code(out, t,
              "mov.u32 \t%%#ok, 1;\n$#noguess:\n"
              "st.shared.v4.u32 \t[%%#ot+%d], {%%#x, %%#y, %%#z, %%#ok};\n",
              SLOT_NEXT);
}

/* Thread 0 asks for tasks of the cluster whose counter ptr is. ptxas gathers what the lanes ask of one
 * address into one atomic and hands the result round, so it waits for it on the spot. Its lane is 0:
 * with the lane added the address is the same, but ptxas must take it for each lane's own, and nobody
 * waits before `publish`. Not where tasks are long and many: agents that share data and never wait fall
 * into step and miss together. (Measured on an H200: kmeans by one counter 0.165 ms against 0.185;
 * tile_share by columns 1.404 ms against 1.350.) */
static void ask_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    if (a->is_short || a->few || a->once)
        pass_code(out, t, "mov.u32 \t%%#v, %%laneid;\nmad.wide.u32 \t%%#ptr, %%#v, 4, %%#ptr;\n");
    if (a->few) /* the move stands first: behind the atomic it would wait for what comes back */
        pass_code(out, t, "mov.u32 \t%%#w, -1;\n@%%#q ");
    ptx_edit_mark(out, MARK_CLAIM);
    pass_code(out, t, "atom.global.add.u32 \t%%#w, [%%#ptr], 1;\n");
}

/* dst = the slot that is read (other: that is written) until the next barrier; which of the two is a
 * predicate: a register would live across the body. */
static void slot_code(const struct agent *a, const char *dst, bool other, struct buf *out)
{
    const char *t = a->t;
    pass_code(out, t, "mov.u32 \t%%#%s, %s;\n", dst, a->slot);
    if (!a->one_slot)
        pass_code(out, t, "@%s%%#odd add.u32 \t%%#%s, %%#%s, %d;\n", other ? "!" : "", dst, dst,
                  SLOT_BYTES);
}

/* Claim w -> the first of its places and the one behind the last, into the slot. */
static void chunk_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    pass_code(out, t,
              "div.u32 \t%%#u, %%#w, %u;\nsetp.lt.u32 \t%%#q, %%#u, %u;\n"
              "min.u32 \t%%#u, %%#u, %u;\n",
              a->sharers, a->blocks, a->blocks);
    pass_code(out, t, "mad.lo.u32 \t%%#u, %%#u, %u, %%#w;\n", a->sharers * (a->chunk - 1));
    place_code(a, "u", out);
    pass_code(out, t,
              "selp.u32 \t%%#y, %u, 1, %%#q;\nadd.u32 \t%%#y, %%#v, %%#y;\nmov.u32 \t%%#ok, %d;\n",
              a->sharers * a->chunk, STATE_TASK);
    pass_code(out, t, "st.shared.v4.u32 \t[%%#ot], {%%#v, %%#y, %%#z, %%#ok};\n");
}

/* Thread 0: what became of the claim w of its cluster; a task found, the next one is claimed. */
static void publish_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    pass_code(out, t, "$#publish:\nld.shared.u32 \t%%#home, [%s+%d];\n", a->slot, SLOT_HOME);
    slot_code(a, "ot", true, out);
    agent_size_code(a, "home", out);
    pass_code(out, t, "setp.lt.u32 \t%%#p, %%#w, %%#size;\n@%%#p bra \t$#claimed;\n");
    if (a->few_search)
        pass_code(out, t,
                  "add.u32 \t%%#v, %%#size, %d;\nsetp.ge.u32 \t%%#p, %%#w, %%#v;\n"
                  "@%%#p bra \t$#finish;\n",
                  SEARCHERS);
    if (agent_by_number(a))
        agent_clear_found(a, out);
    else
        pass_code(out, t, "mov.u32 \t%%#v, -1;\nst.shared.u32 \t[%%#ot+%d], %%#v;\n", SLOT_BEST);
    pass_code(out, t, "mov.u32 \t%%#ok, %d;\nmov.u32 \t%%#x, %%#home;\n$#tell:\n", STATE_SEARCH);
    pass_code(out, t,
              "st.shared.v4.u32 \t[%%#ot], {%%#x, %%#y, %%#z, %%#ok};\nbra \t$#wait;\n$#finish:\n");
    slot_code(a, "ot", true, out);
    pass_code(out, t, "mov.u32 \t%%#ok, %d;\nbra \t$#tell;\n$#claimed:\n", STATE_END);
    agent_counter_code(a, "home", out);
    if (a->chunk > 1) {
        chunk_code(a, out);
    } else {
        place_code(a, "w", out);
        decode(a, "v", "", out);
        pass_code(out, t,
                  "mov.u32 \t%%#ok, %d;\nst.shared.v4.u32 \t[%%#ot], {%%#x, %%#y, %%#z, %%#ok};\n",
                  STATE_TASK);
    }
    if (a->once)
        return;
    if (a->few)
        pass_code(out, t, "add.u32 \t%%#v, %%#w, %u;\nsetp.lt.u32 \t%%#q, %%#v, %%#size;\n",
                  FEW_AHEAD * a->sharers);
    if (a->prefetch && a->chunk == 1)
        predict_code(a, out);
    if (a->vote)
        pass_code(out, t, "mov.u64 \t%%#begun, %%clock64;\n");
    ask_code(a, out);
}

/* The next of the tasks that were claimed together; behind the last one control goes on. Warps that go
 * on by themselves do so whole: lanes that left the body early wait for the others. */
static void further_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    pass_code(out, t, "add.u32 \t%%#at, %%#at, %u;\n", a->sharers);
    if (a->apart)
        pass_code(out, t,
                  "setp.lt.u32 \t%%#p, %%#at, %%#end;\nbar.warp.sync \t0xffffffff;\n"
                  "@%%#p bra.uni \t$#go;\n");
    else
        pass_code(out, t,
                  "setp.ge.u32 \t%%#p, %%#at, %%#end;\n@%%#p bra.uni \t$#last;\nbar.sync \t0;\n"
                  "bra.uni \t$#go;\n$#last:\n");
}

/* All threads: what their slot says; a task is gone to. */
static void wait_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    pass_code(out, t, "$#wait:\nbar.sync \t0;\n");
    if (!a->one_slot)
        pass_code(out, t, "not.pred \t%%#odd, %%#odd;\n");
    slot_code(a, "sl", false, out);
    pass_code(out, t, "ld.shared.v4.u32 \t{%%#%s, %%#%s, %%#cz, %%#ok}, [%%#sl];\n",
              a->chunk > 1 ? "at" : "cx", a->chunk > 1 ? "end" : "cy");
    pass_code(out, t, "setp.eq.u32 \t%%#p, %%#ok, %d;\n@%%#p bra \t$#go;\n", STATE_TASK);
    pass_code(out, t, "setp.eq.u32 \t%%#p, %%#ok, %d;\n@%%#p ret;\n", STATE_END);
}

/* Behind a task. */
static void behind_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    pass_code(out, t, "$#next:\n%s%s",
              pass_find_effect(a->c->f, EFFECT_ASYNC_COPY) ? "cp.async.wait_all;\n" : "",
              a->one_slot ? "bar.sync \t0;\n" : "");
    if (a->chunk > 1)
        further_code(a, out);
    pass_code(out, t, "@!%%#first bra \t$#wait;\n");
    if (a->vote && a->chunk > 1) {
        slot_code(a, "sl", false, out);
        pass_code(out, t,
                  "ld.shared.u32 \t%%#v, [%%#sl];\nsub.u32 \t%%#v, %%#end, %%#v;\n"
                  "add.u32 \t%%#v, %%#v, %u;\ndiv.u32 \t%%#v, %%#v, %u;\n",
                  a->sharers - 1, a->sharers);
    } else if (a->vote) {
        pass_code(out, t, "mov.u32 \t%%#v, 1;\n");
    }
    if (a->vote)
        agent_vote_count(t, out);
    if (a->few)
        pass_code(out, t, "setp.eq.u32 \t%%#p, %%#w, -1;\n@%%#p bra \t$#late;\n");
}

/* All that stands behind the body: from one task to the next. Ends where every thread returns or goes
 * on. */
static void next_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    if (a->once)
        pass_code(out, t, "$#next:\nret;\n");
    else
        behind_code(a, out);
    publish_code(a, out);
    wait_code(a, out);
    agent_search_code(a, out);
    pass_code(out, t, "$#claim:\nst.shared.u32 \t[%s+%d], %%#home;\n", a->slot, SLOT_HOME);
    agent_counter_code(a, "home", out);
    if (a->few)
        pass_code(out, t, "setp.eq.u32 \t%%#q, %%#home, %%#home;\n");
    ask_code(a, out);
    pass_code(out, t, "bra \t$#publish;\n");
    if (a->few)
        pass_code(out, t, "$#late:\nld.shared.u32 \t%%#home, [%s+%d];\nbra \t$#claim;\n", a->slot,
                  SLOT_HOME);
}

/* The coordinates of a task that follows in `distance` turns: known where tasks are claimed together,
 * else a guess. */
static void ahead_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    if (a->chunk == 1) {
        pass_code(out, t,
                  "ld.shared.v4.u32 \t{%%#px, %%#py, %%#pz, %%#pok}, [%%#sl+%d];\n"
                  "setp.eq.u32 \t%%#p, %%#pok, 0;\n@%%#p bra \t$#ahead;\n",
                  SLOT_NEXT);
        return;
    }
    pass_code(out, t,
              "ld.const.u32 \t%%#dist, [" PASS_KNOB_SYMBOL "+%u];\n"
              "mad.lo.u32 \t%%#v, %%#dist, %u, %%#at;\nsetp.ge.u32 \t%%#p, %%#v, %%#end;\n"
              "@%%#p bra.uni \t$#ahead;\n",
              4u * PASS_KNOB_DISTANCE, a->sharers);
    decode(a, "v", "p", out);
}

static enum status prefetch_code(const struct agent *a, struct buf *decls, struct buf *out)
{
    const char *t = a->t;
    char names[3][24];
    uint32_t n = 0;
    struct buf body = { 0 };
    for (int d = 0; d < 3; d++) {
        struct buf b = { 0 };
        pass_code(&b, t, "%%#p%c", 'x' + d);
        a->c->oom |= b.oom;
        memcpy(names[d], b.s && b.n < sizeof names[d] ? b.s : "",
               b.s && b.n < sizeof names[d] ? b.n + 1 : 1);
        buf_free(&b);
    }
    const char *const next[3] = { names[0], names[1], names[2] };
    enum status s = prefetch_task_code(a->c, next, decls, &body, &n);
    if (s == ST_OK && n) {
        ahead_code(a, out);
        pass_code(out, t, "%s$#ahead:\n", body.s ? body.s : "");
    }
    out->oom |= body.oom;
    buf_free(&body);
    return s;
}

static void names_of(const struct agent *a, struct cluster_names *n)
{
    const uint32_t size[3] = { a->grid.x, a->grid.y, a->grid.z };
    n->grid = true;
    for (int d = 0; d < 3; d++) {
        struct buf b = { 0 };
        if (size[d] > 1)
            pass_code(&b, a->t, "%%#c%c", 'x' + d);
        else
            buf_puts(&b, "0");
        if (b.s && b.n < sizeof n->ctaid[d])
            memcpy(n->ctaid[d], b.s, b.n + 1);
        buf_clear(&b);
        buf_printf(&b, "%u", size[d]);
        if (b.s && b.n < sizeof n->nctaid[d])
            memcpy(n->nctaid[d], b.s, b.n + 1);
        a->c->oom |= b.oom;
        buf_free(&b);
    }
}

static void put_counters(const struct agent *a)
{
    struct pass_ctx *c = a->c;
    uint64_t counters = a->m + (agent_by_number(a) ? 1u : 0u);
    ptx_edit_global(c->edit, TAG, ".visible .global .align %d .u32 " CLUSTER_TASKS "[%llu];", TASKS_STEP,
                    (unsigned long long)(TASKS_STEP / 4 * counters));
    if (!a->once)
        ptx_edit_global(c->edit, TAG, ".visible .global .align %d .u32 " CLUSTER_AGENTS "[%d];",
                        AGENTS_STEP, AGENTS_STEP / 4 * CLUSTER_SM_SLOTS);
    pass_put_reset(c->out, CLUSTER_TASKS, TASKS_STEP * counters);
    if (!a->once)
        pass_put_reset(c->out, CLUSTER_AGENTS, (uint64_t)AGENTS_STEP * CLUSTER_SM_SLOTS);
}

/* Called functions find the task in the slot, which is then a variable of the module. */
static void put_callees(const struct agent *a, struct cluster_names *n, struct strmap *clones)
{
    const char *t = a->t;
    struct buf e = { 0 };
    pass_code(&e, t,
              ".reg .b32 \t%%#cx, %%#cy, %%#cz, %%#ok;\n"
              "ld.shared.v4.u32 \t{%%#cx, %%#cy, %%#cz, %%#ok}, [%s];\n",
              a->slot);
    if (e.s)
        cluster_clone_callees(a->c, n, e.s, clones);
    a->c->oom |= e.oom;
    buf_free(&e);
}

/* One slot or two, and the bits behind them. */
static uint32_t slot_bytes(const struct agent *a)
{
    return a->found + agent_found_bytes(a);
}

static void emit(struct agent *a, const char *decls, const char *code, const char *next)
{
    struct pass_ctx *c = a->c;
    struct cluster_names n;
    struct strmap clones = { 0 };
    memset(&n, 0, sizeof n);
    names_of(a, &n);
    put_counters(a);
    put_callees(a, &n, &clones);
    if (clones.n)
        ptx_edit_global(c->edit, TAG, ".shared .align 16 .b8 %s[%u];", a->slot, slot_bytes(a));
    else
        ptx_edit_declare(c->edit, c->f, TAG, ".shared .align 128 .b8 %s[%u];", a->slot, slot_bytes(a));
    ptx_edit_declare(c->edit, c->f, TAG, "%s", decls);
    ptx_edit_entry(c->edit, c->f, TAG, "%s", code);
    cluster_virtualise(c, &n, &clones);
    pass_returns_to(c, "next");
    ptx_edit_end(c->edit, c->f, TAG, "%s", next);
    strmap_free(&clones);
}

static bool callees_read(const struct pass_ctx *c)
{
    struct pass_funcs fs;
    bool any = false;
    pass_callees(c, &fs);
    for (uint32_t k = 0; k < fs.n; k++)
        any |= cluster_reads(fs.v[k]);
    return any;
}

/* A loop that reads memory or calls, and one without a barrier or shared memory, which may go round as
 * often as its data say: beside such a task a claim is nothing, and the next task may be another length.
 */
static bool long_task(const struct ptx_func *f)
{
    enum { READS = 1, TOGETHER = 2 };
    const struct ptx_cfg *g = ptx_cfg_of(f);
    uint8_t *has = g ? base_alloc(g->nloops + 1) : NULL;
    bool is = !has;
    for (uint32_t k = 0; k < f->ninsts && !is; k++) {
        const struct ptx_inst *i = &f->insts[k];
        uint32_t loop = g->blocks[g->block_of[k]].loop;
        if (loop == PTX_NO_INDEX)
            continue;
        bool reads = ptx_effect_of(i) == EFFECT_LOAD &&
                     (i->space == PTX_SPACE_GLOBAL || i->space == PTX_SPACE_GENERIC);
        if (reads || ptx_effect_of(i) == EFFECT_CALL)
            has[loop] |= READS;
        if (inst_is_cta_barrier(i) || i->space == PTX_SPACE_SHARED)
            has[loop] |= TOGETHER;
    }
    for (uint32_t l = 0; has && l < g->nloops; l++)
        is = is || (has[l] & READS) || !(has[l] & TOGETHER);
    base_free(has);
    return is;
}

static bool short_task(const struct agent *a)
{
    struct pass_funcs fs;
    bool is_long = a->one_slot || long_task(a->c->f);
    pass_callees(a->c, &fs);
    for (uint32_t k = 0; k < fs.n; k++)
        is_long = is_long || long_task(fs.v[k]);
    return !is_long;
}

/* What each agent has of short tasks in as few claims as may be, all of one size. */
static uint32_t chunk_of(const struct agent *a)
{
    uint32_t each = a->q / a->sharers;
    return a->is_short && each > 1 ? each / ((each + CHUNK_MOST - 1) / CHUNK_MOST) : 1;
}

static bool uses_shared(const struct pass_ctx *c)
{
    struct ptx_shared own = ptx_shared_of(c->m, c->f);
    return own.bytes || own.unsized || c->out->shared;
}

/* Nothing in the kernel tells a warp what another one of its CTA is at. */
static bool warps_apart(const struct agent *a)
{
    const struct pass_ctx *c = a->c;
    struct pass_funcs fs;
    bool apart = !uses_shared(c) && c->m->version >= 60 && c->m->target >= 30 &&
                 dim3u_count(c->out->block) % 32 == 0 && !pass_find_effect(c->f, EFFECT_BARRIER);
    pass_callees(c, &fs);
    for (uint32_t k = 0; k < fs.n; k++)
        apart = apart && !pass_find_effect(fs.v[k], EFFECT_BARRIER);
    return apart && !fs.unknown && !pass_find_effect(c->f, EFFECT_ASYNC_COPY) &&
           !pass_find_effect(c->f, EFFECT_TENSOR);
}

/* Agents of an SM that work at a time: no more than it has tasks, nor than a throttle leaves (paper: cluster,
 * 4.3: launch bounds with fewer of them). */
static uint32_t at_work_of(const struct agent *a, uint32_t tasks)
{
    int active = opt_cluster(a->c->opt)->agents;
    return active > 0 && (uint32_t)active < tasks ? (uint32_t)active : tasks;
}

static enum status claiming_run(struct pass_ctx *c)
{
    uint64_t tasks = dim3u_count(c->out->grid);
    struct agent a = {
        .c = c, .t = c->tag, .m = cluster_count(c), .grid = c->out->grid, .per_sm = agents_per_sm(c)
    };
    struct buf decls = { 0 }, code = { 0 }, next = { 0 }, slot = { 0 };
    a.q = (uint32_t)(tasks / a.m);
    a.r = (uint32_t)(tasks % a.m);
    uint32_t sms = c->in->dev && c->in->dev->sms ? c->in->dev->sms : a.m;
    a.sharers = a.per_sm * ((sms + a.m - 1) / a.m);
    a.one_slot = callees_read(c);
    a.found = a.one_slot ? SLOT_BYTES : 2 * SLOT_BYTES;
    a.is_short = short_task(&a);
    a.prefetch = opt_prefetch(c->opt)->level != PREFETCH_OFF;
    a.once = !a.prefetch && !opt_cluster(c->opt)->agents && tasks <= agent_count(c);
    a.few = !a.once && !a.is_short && a.q / MANY_WAVES < a.sharers;
    a.few_search = a.is_short && a.q / a.sharers > 1 && a.m <= sms;
    a.own = a.few_search || (a.m <= sms && a.q < 2 * a.sharers);
    a.chunk = chunk_of(&a);
    a.blocks = a.chunk > 1 ? a.q / (a.sharers * a.chunk) : 0;
    a.apart = warps_apart(&a);
    a.vote = opt_cluster(c->opt)->agents == OPT_AGENTS_VOTE;
    buf_printf(&slot, "%sslot", c->tag);
    memcpy(a.slot, slot.s && slot.n < sizeof a.slot ? slot.s : "",
           slot.s && slot.n < sizeof a.slot ? slot.n + 1 : 1);
    if ((!a.vote && !a.once) || a.prefetch)
        pass_need_knobs(c);
    enum status s = order_put_table(c);
    declare(&a, &decls);
    arrive_code(&a, &code);
    pass_code(&code, a.t, "bra \t$#claim;\n$#go:\n");
    if (a.chunk > 1) {
        /* the place is only read */
        bool whole = a.grid.z == 1 && !INDEX_BY_TABLE(opt_cluster(c->opt)->index.kind);
        if (!whole)
            pass_code(&code, a.t, "mov.u32 \t%%#v, %%#at;\n");
        decode(&a, whole ? "at" : "v", "c", &code);
    }
    if (s == ST_OK && a.prefetch)
        s = prefetch_code(&a, &decls, &code);
    next_code(&a, &next);
    if (decls.oom || code.oom || slot.oom || next.oom)
        s = ST_NOMEM;
    if (s == ST_OK) {
        if (a.vote)
            agent_vote_put(c);
        emit(&a, decls.s, code.s, next.s);
        uint32_t at_work = at_work_of(&a, (uint32_t)((tasks + sms - 1) / sms));
        if (at_work < a.per_sm)
            throttle_lend_regs(c, at_work);
        c->out->grid = (struct dim3u){ agent_count(c), 1, 1 };
        c->out->extra_regs += 8;
        c->out->extra_shared += slot_bytes(&a);
    }
    buf_free(&decls);
    buf_free(&code);
    buf_free(&next);
    buf_free(&slot);
    return s;
}

enum status agent_run(struct pass_ctx *c)
{
    return agent_by_launch(c) ? agent_launch_run(c) : claiming_run(c);
}
