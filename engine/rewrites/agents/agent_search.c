/* How an agent whose cluster is used up finds another one: all threads read the counters of the
 * clusters, and thread 0 goes where tasks are left.
 *
 *   before                               after, --cluster agent
 *     (the end of the kernel)              search:  number = atom.add [numbers], 1     few tasks only
 *                                                   v = thread; while v < clusters:
 *                                                     ld.volatile [tasks + cluster v]
 *                                                     tasks left: set bit v;  v += threads
 *                                                   bar.sync; the bit that has the number -> claim
 *
 * The nearest cluster that has tasks left will do where tasks are many. Where they are few, many agents
 * search at one time, and all of an SM would meet at the nearest one: all but one would search again,
 * and so on, for 1 us each time. So each search draws a number, and the n-th takes the n-th cluster that
 * has tasks left. (Measured on an H100: the last of 1,024 agents of 64 threads began its task 5.9 us
 * after its start, of 256 threads 10.7 us, where clusters were counted in the order in which threads
 * found them.) */
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/rewrites/agents/agent_int.h"
#include "engine/rewrites/cluster_int.h"

/* size = number of claims there are in cluster `of` */
void agent_size_code(const struct agent *a, const char *of, struct buf *out)
{
    const char *t = a->t;
    uint32_t q = a->q - a->blocks * a->sharers * (a->chunk - 1);
    buf_printf(out, "setp.lt.u32 \t%%%sp, %%%s%s, %u;\nselp.u32 \t%%%ssize, %u, %u, %%%sp;\n", t, t, of,
               a->r, t, q + 1, q, t);
}

/* ptr = the counter of cluster `of` */
void agent_counter_code(const struct agent *a, const char *of, struct buf *out)
{
    const char *t = a->t;
    buf_printf(out,
               "mov.u64 \t%%%sptr, " CLUSTER_TASKS ";\nmad.wide.u32 \t%%%sptr, %%%s%s, %d, %%%sptr;\n",
               t, t, t, of, TASKS_STEP, t);
}

/* Searches draw numbers: where tasks are few, all that end at one time would meet at the nearest
 * cluster. */
uint32_t agent_found_bytes(const struct agent *a)
{
    return agent_by_number(a) ? (a->m + 127) / 128 * 16 : 0;
}

bool agent_by_number(const struct agent *a)
{
    return a->few || a->once;
}

/* The register that holds the empty cluster which a search begins at. */
static const char *empty_of(const struct agent *a)
{
    return a->chunk > 1 ? "at" : "cx";
}

/* p = cluster u has tasks left: the v-th one, or v places on from the empty one; threads go from place
 * to place. */
static void scan_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    buf_printf(out,
               "mov.u32 \t%%%sv, %%%slin;\n$%sscan:\nsetp.ge.u32 \t%%%sp, %%%sv, %u;\n@%%%sp bra "
               "\t$%sscanned;\n",
               t, t, t, t, t, a->m, t, t);
    if (agent_by_number(a))
        buf_printf(out, "mov.u32 \t%%%su, %%%sv;\n", t, t);
    else
        buf_printf(out, "add.u32 \t%%%su, %%%s%s, %%%sv;\nrem.u32 \t%%%su, %%%su, %u;\n", t, t,
                   empty_of(a), t, t, t, a->m);
    agent_size_code(a, "u", out);
    agent_counter_code(a, "u", out);
    const char *seen = a->own ? "seen" : agent_by_number(a) ? "x" : "u";
    if (a->own) /* what MARK_LOOK_SPARE finds */
        buf_printf(out, "mov.u32 \t%%%s%s, -1;\n", t, seen);
    ptx_edit_mark(out, a->own ? MARK_LOOK_SPARE : MARK_LOOK);
    buf_printf(out,
               "ld.volatile.global.u32 \t%%%s%s, [%%%sptr];\nsetp.lt.u32 \t%%%sp, %%%s%s, %%%ssize;\n",
               t, seen, t, t, t, seen, t);
}

/* To the next place of this thread. */
static void scan_on(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    buf_printf(out,
               "add.u32 \t%%%sv, %%%sv, %llu;\nbra \t$%sscan;\n$%sscanned:\nbar.sync \t0;\n@!%%%sfirst "
               "bra \t$%swait;\n",
               t, t, (unsigned long long)dim3u_count(a->c->out->block), t, t, t, t);
}

/* Thread 0 takes the nearest one. */
static void take_nearest(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    scan_code(a, out);
    buf_printf(out,
               "@%%%sp atom.shared.min.u32 \t%%%su, [%%%ssl+%d], %%%sv;\n@%%%sp bra \t$%sscanned;\n", t,
               t, t, SLOT_BEST, t, t, t);
    scan_on(a, out);
    buf_printf(out,
               "ld.shared.u32 \t%%%sv, [%%%ssl+%d];\n"
               "setp.eq.u32 \t%%%sp, %%%sv, -1;\n@%%%sp bra \t$%sfinish;\nadd.u32 \t%%%shome, %%%s%s, "
               "%%%sv;\nrem.u32 \t%%%shome, %%%shome, %u;\n",
               t, t, SLOT_BEST, t, t, t, t, t, t, empty_of(a), t, t, t, a->m);
}

void agent_clear_found(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    buf_printf(out, "mov.u32 \t%%%sv, 0;\n", t);
    for (uint32_t at = 0; at < agent_found_bytes(a); at += 16)
        buf_printf(out, "st.shared.v4.u32 \t[%s+%u], {%%%sv, %%%sv, %%%sv, %%%sv};\n", a->slot,
                   a->found + at, t, t, t, t);
}

/* v = how many clusters were found; none: the agent ends. z ends at the bits' first word. */
static void count_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    uint32_t bytes = agent_found_bytes(a);
    buf_printf(out,
               "mov.u32 \t%%%sz, %s;\nadd.u32 \t%%%su, %%%sz, %u;\nmov.u32 \t%%%sv, 0;\n$%scount:\n", t,
               a->slot, t, t, bytes, t, t);
    buf_printf(out,
               "sub.u32 \t%%%su, %%%su, 4;\nld.shared.u32 \t%%%sx, [%%%su+%u];\npopc.b32 \t%%%sx, "
               "%%%sx;\nadd.u32 \t%%%sv, %%%sv, %%%sx;\nsetp.ne.u32 \t%%%sp, %%%su, %%%sz;\n@%%%sp bra "
               "\t$%scount;\n",
               t, t, t, t, a->found, t, t, t, t, t, t, t, t, t, t);
    buf_printf(out, "setp.eq.u32 \t%%%sp, %%%sv, 0;\n@%%%sp bra \t$%sfinish;\n", t, t, t, t);
}

/* Thread 0: home = the cluster whose bit is the w-th of those that are set, round and round. */
static void pick_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    count_code(a, out);
    buf_printf(out, "rem.u32 \t%%%sw, %%%sw, %%%sv;\nmov.u32 \t%%%su, 0;\n", t, t, t, t);
    buf_printf(
        out,
        "$%spick:\nld.shared.u32 \t%%%sx, [%%%sz+%u];\npopc.b32 \t%%%sy, %%%sx;\nsetp.lt.u32 "
        "\t%%%sp, %%%sw, %%%sy;\n@%%%sp bra \t$%spicked;\nsub.u32 \t%%%sw, %%%sw, %%%sy;\nadd.u32 "
        "\t%%%su, %%%su, 32;\nadd.u32 \t%%%sz, %%%sz, 4;\nbra \t$%spick;\n",
        t, t, t, a->found, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t);
    buf_printf(out,
               "$%spicked:\nsetp.eq.u32 \t%%%sp, %%%sw, 0;\n@%%%sp bra \t$%sbit;\nsub.u32 \t%%%sy, "
               "%%%sx, 1;\nand.b32 \t%%%sx, %%%sx, %%%sy;\nsub.u32 \t%%%sw, %%%sw, 1;\nbra "
               "\t$%spicked;\n",
               t, t, t, t, t, t, t, t, t, t, t, t, t);
    /* the lowest bit and those below it, less one */
    buf_printf(
        out,
        "$%sbit:\nsub.u32 \t%%%sy, %%%sx, 1;\nxor.b32 \t%%%sx, %%%sx, %%%sy;\npopc.b32 \t%%%sx, %%%sx;\n"
        "add.u32 \t%%%shome, %%%su, %%%sx;\nsub.u32 \t%%%shome, %%%shome, 1;\n",
        t, t, t, t, t, t, t, t, t, t, t, t, t);
}

/* p: the bit of cluster u is set. */
static void mark_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    buf_printf(
        out, "mov.u32 \t%%%sz, %s;\nshr.u32 \t%%%sy, %%%su, 5;\nmad.lo.u32 \t%%%sy, %%%sy, 4, %%%sz;\n",
        t, a->slot, t, t, t, t, t);
    buf_printf(
        out,
        "mov.u32 \t%%%sz, 1;\nand.b32 \t%%%sx, %%%su, 31;\nshl.b32 \t%%%sx, %%%sz, %%%sx;\n@%%%sp "
        "atom.shared.or.b32 \t%%%sx, [%%%sy+%u], %%%sx;\n",
        t, t, t, t, t, t, t, t, t, a->found, t);
}

/* Thread 0 draws a number while all look. The counter of numbers stands behind the clusters'. */
static void take_by_number(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    buf_printf(out, "mov.u64 \t%%%sptr, " CLUSTER_TASKS ";\n", t);
    ptx_edit_mark(out, MARK_CLAIM);
    buf_printf(out, "@%%%sfirst atom.global.add.u32 \t%%%sw, [%%%sptr+%u], 1;\n", t, t, t,
               TASKS_STEP * a->m);
    scan_code(a, out);
    mark_code(a, out);
    scan_on(a, out);
    pick_code(a, out);
}

/* All threads: which cluster has tasks left. */
void agent_search_code(const struct agent *a, struct buf *out)
{
    struct buf lin = { 0 };
    buf_printf(&lin, "%%%slin", a->t);
    if (lin.s)
        pass_linear_tid_any(a->t, lin.s, out);
    out->oom |= lin.oom;
    buf_free(&lin);
    if (agent_by_number(a))
        take_by_number(a, out);
    else
        take_nearest(a, out);
}
