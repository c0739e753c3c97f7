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
    pass_code(out, t, "setp.lt.u32 \t%%#p, %%#%s, %u;\nselp.u32 \t%%#size, %u, %u, %%#p;\n", of, a->r,
              q + 1, q);
}

/* ptr = the counter of cluster `of` */
void agent_counter_code(const struct agent *a, const char *of, struct buf *out)
{
    const char *t = a->t;
    pass_code(out, t,
              "mov.u64 \t%%#ptr, " CLUSTER_TASKS ";\nmad.wide.u32 \t%%#ptr, %%#%s, %d, %%#ptr;\n", of,
              TASKS_STEP);
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
    pass_code(out, t,
              "mov.u32 \t%%#v, %%#lin;\n$#scan:\nsetp.ge.u32 \t%%#p, %%#v, %u;\n"
              "@%%#p bra \t$#scanned;\n",
              a->m);
    if (agent_by_number(a))
        pass_code(out, t, "mov.u32 \t%%#u, %%#v;\n");
    else
        pass_code(out, t, "add.u32 \t%%#u, %%#%s, %%#v;\nrem.u32 \t%%#u, %%#u, %u;\n", empty_of(a),
                  a->m);
    agent_size_code(a, "u", out);
    agent_counter_code(a, "u", out);
    const char *seen = a->own ? "seen" : agent_by_number(a) ? "x" : "u";
    if (a->own) /* what MARK_LOOK_SPARE finds */
        pass_code(out, t, "mov.u32 \t%%#%s, -1;\n", seen);
    ptx_edit_mark(out, a->own ? MARK_LOOK_SPARE : MARK_LOOK);
    pass_code(out, t, "ld.volatile.global.u32 \t%%#%s, [%%#ptr];\nsetp.lt.u32 \t%%#p, %%#%s, %%#size;\n",
              seen, seen);
}

/* To the next place of this thread. */
static void scan_on(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    pass_code(out, t,
              "add.u32 \t%%#v, %%#v, %llu;\nbra \t$#scan;\n$#scanned:\nbar.sync \t0;\n"
              "@!%%#first bra \t$#wait;\n",
              (unsigned long long)dim3u_count(a->c->out->block));
}

/* Thread 0 takes the nearest one. */
static void take_nearest(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    scan_code(a, out);
    pass_code(out, t, "@%%#p atom.shared.min.u32 \t%%#u, [%%#sl+%d], %%#v;\n@%%#p bra \t$#scanned;\n",
              SLOT_BEST);
    scan_on(a, out);
    pass_code(out, t,
              "ld.shared.u32 \t%%#v, [%%#sl+%d];\nsetp.eq.u32 \t%%#p, %%#v, -1;\n"
              "@%%#p bra \t$#finish;\nadd.u32 \t%%#home, %%#%s, %%#v;\n"
              "rem.u32 \t%%#home, %%#home, %u;\n",
              SLOT_BEST, empty_of(a), a->m);
}

void agent_clear_found(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    pass_code(out, t, "mov.u32 \t%%#v, 0;\n");
    for (uint32_t at = 0; at < agent_found_bytes(a); at += 16)
        pass_code(out, t, "st.shared.v4.u32 \t[%s+%u], {%%#v, %%#v, %%#v, %%#v};\n", a->slot,
                  a->found + at);
}

/* v = how many clusters were found; none: the agent ends. z ends at the bits' first word. */
static void count_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    uint32_t bytes = agent_found_bytes(a);
    pass_code(out, t, "mov.u32 \t%%#z, %s;\nadd.u32 \t%%#u, %%#z, %u;\nmov.u32 \t%%#v, 0;\n$#count:\n",
              a->slot, bytes);
    pass_code(out, t,
              "sub.u32 \t%%#u, %%#u, 4;\nld.shared.u32 \t%%#x, [%%#u+%u];\n"
              "popc.b32 \t%%#x, %%#x;\nadd.u32 \t%%#v, %%#v, %%#x;\n"
              "setp.ne.u32 \t%%#p, %%#u, %%#z;\n@%%#p bra \t$#count;\n",
              a->found);
    pass_code(out, t, "setp.eq.u32 \t%%#p, %%#v, 0;\n@%%#p bra \t$#finish;\n");
}

/* Thread 0: home = the cluster whose bit is the w-th of those that are set, round and round. */
static void pick_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    count_code(a, out);
    pass_code(out, t, "rem.u32 \t%%#w, %%#w, %%#v;\nmov.u32 \t%%#u, 0;\n");
    pass_code(out, t,
              "$#pick:\nld.shared.u32 \t%%#x, [%%#z+%u];\npopc.b32 \t%%#y, %%#x;\n"
              "setp.lt.u32 \t%%#p, %%#w, %%#y;\n@%%#p bra \t$#picked;\n"
              "sub.u32 \t%%#w, %%#w, %%#y;\nadd.u32 \t%%#u, %%#u, 32;\nadd.u32 \t%%#z, %%#z, 4;\n"
              "bra \t$#pick;\n",
              a->found);
    pass_code(out, t,
              "$#picked:\nsetp.eq.u32 \t%%#p, %%#w, 0;\n@%%#p bra \t$#bit;\n"
              "sub.u32 \t%%#y, %%#x, 1;\nand.b32 \t%%#x, %%#x, %%#y;\nsub.u32 \t%%#w, %%#w, 1;\n"
              "bra \t$#picked;\n");
    /* the lowest bit and those below it, less one */
    pass_code(out, t,
              "$#bit:\nsub.u32 \t%%#y, %%#x, 1;\nxor.b32 \t%%#x, %%#x, %%#y;\n"
              "popc.b32 \t%%#x, %%#x;\nadd.u32 \t%%#home, %%#u, %%#x;\n"
              "sub.u32 \t%%#home, %%#home, 1;\n");
}

/* p: the bit of cluster u is set. */
static void mark_code(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    pass_code(out, t,
              "mov.u32 \t%%#z, %s;\nshr.u32 \t%%#y, %%#u, 5;\nmad.lo.u32 \t%%#y, %%#y, 4, %%#z;\n",
              a->slot);
    pass_code(out, t,
              "mov.u32 \t%%#z, 1;\nand.b32 \t%%#x, %%#u, 31;\nshl.b32 \t%%#x, %%#z, %%#x;\n"
              "@%%#p atom.shared.or.b32 \t%%#x, [%%#y+%u], %%#x;\n",
              a->found);
}

/* Thread 0 draws a number while all look. The counter of numbers stands behind the clusters'. */
static void take_by_number(const struct agent *a, struct buf *out)
{
    const char *t = a->t;
    pass_code(out, t, "mov.u64 \t%%#ptr, " CLUSTER_TASKS ";\n");
    ptx_edit_mark(out, MARK_CLAIM);
    pass_code(out, t, "@%%#first atom.global.add.u32 \t%%#w, [%%#ptr+%u], 1;\n", TASKS_STEP * a->m);
    scan_code(a, out);
    mark_code(a, out);
    scan_on(a, out);
    pick_code(a, out);
}

/* All threads: which cluster has tasks left. */
void agent_search_code(const struct agent *a, struct buf *out)
{
    struct buf lin = { 0 };
    pass_code(&lin, a->t, "%%#lin");
    if (lin.s)
        pass_linear_tid_any(a->t, lin.s, out);
    out->oom |= lin.oom;
    buf_free(&lin);
    if (agent_by_number(a))
        take_by_number(a, out);
    else
        take_nearest(a, out);
}
