/* Advice for Triton and Numba. */
#include "engine/base/base.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/opt_softcache.h"
#include "engine/workspace/source_edits_int.h"

#include <stdio.h>
#include <string.h>

/* The argument of tl.load for an operator. */
static const char *argument_of(const char *op)
{
    return strcmp(op, ".cg") == 0   ? "cache_modifier=\".cg\""
           : strcmp(op, ".cs") == 0 ? "cache_modifier=\".cs\""
           : strcmp(op, ".nc") == 0 ? NULL
                                    : "eviction_policy=\"evict_first\"";
}

/* The only tl.load(...) of the line gets one more argument. */
static bool edit_load(struct source_editing *h, struct source_file *f, const struct source_load *l,
                      const char *argument)
{
    static const char call[] = "tl.load(";
    struct str line = f && f->text ? source_line(f, l->loc.line) : STR("");
    const char *end = line.s + line.n;
    const char *p = line.n ? memmem(line.s, line.n, call, sizeof call - 1) : NULL;
    if (!p || !l->whole || memmem(p + 1, (size_t)(end - p - 1), call, sizeof call - 1) ||
        memmem(line.s, line.n, "cache_modifier", 14) || memmem(line.s, line.n, "eviction_policy", 15))
        return false;
    int depth = 1;
    const char *q = p + sizeof call - 1;
    while (q < end && depth) {
        depth += (*q == '(' || *q == '[') - (*q == ')' || *q == ']');
        q++;
    }
    if (depth)
        return false;
    struct buf now = { 0 };
    buf_put(&now, line.s, (size_t)(q - 1 - line.s));
    buf_printf(&now, ", %s", argument);
    buf_put(&now, q - 1, (size_t)(end - q + 1));
    if (now.s && !now.oom)
        source_edit(h, f, l->loc.line, false, now.s);
    h->oom |= now.oom;
    buf_free(&now);
    return true;
}

static void loads(struct source_editing *h, bool triton)
{
    for (size_t i = 0; i < h->nloads; i++) {
        const struct source_load *l = &h->load[i];
        struct source_file *f = source_file_of(h, l->loc.file);
        const char *argument = argument_of(l->op), *what = l->array ? l->array : "an unknown address";
        char loads[512];
        if (source_load_said(h, i))
            continue;
        source_load_words(h, i, what, loads, sizeof loads);
        if (!triton)
            source_say(
                h, "bypass", f, l->loc.line, false,
                "%s: numba.cuda has no cache operators; load the rewritten PTX instead (gpulocw apply "
                "--export)",
                loads);
        else if (!argument)
            source_say(h, "readonly", f, l->loc.line, false,
                       "the load of %s: Triton itself decides about ld.global.nc", what);
        else if (h->partial)
            source_say(h, "bypass", f, l->loc.line, false,
                       "the load of %s: only warps from number %d use %s, which Triton cannot express "
                       "for some warps of a program; try it for all (--pi bpa), or override the PTX "
                       "(gpulocw apply --export)",
                       what, opt_bypass(&h->k->options)->pi.value, argument);
        else
            source_say(h, "bypass", f, l->loc.line, edit_load(h, f, l, argument),
                       "tl.load(..., %s) of %s", argument, what);
    }
}

static void order(struct source_editing *h)
{
    const struct options *o = &h->k->options;
    unsigned m = opt_cluster(o)->clusters > 0 ? (unsigned)opt_cluster(o)->clusters : h->k->dev.sms;
    source_say(
        h, "cluster", NULL, 0, false,
        "program ids renamed (%u clusters of the n programs): pid = tl.program_id(0); q = n // %u; i = "
        "pid %% %u; pid = i * q + tl.minimum(i, n %% %u) + pid // %u%s%s",
        m, m, m, m, m,
        opt_cluster(o)->index.kind == INDEX_TILE     ? "; then x and y from tiles of that order"
        : opt_cluster(o)->index.kind == INDEX_COLUMN ? "; then x = pid // ny, y = pid % ny"
                                                     : "",
        opt_cluster(o)->kind == CLUSTER_AGENT
            ? "; as a persistent kernel: a loop over these with step tl.num_programs(0)"
            : "");
}

void source_edits_python(struct source_editing *h)
{
    bool triton = h->out->lang == SOURCE_TRITON;
    const struct tuned_kernel *k = h->k;
    const struct options *o = &k->options;
    loads(h, triton);
    if (opt_cluster(o)->kind != CLUSTER_NONE)
        order(h);
    if (k->has_launch && dim3u_count(k->block) != dim3u_count(k->tblock))
        source_say(h, "block", NULL, 0, false,
                   triton ? "launch with num_warps=%llu" : "launch with %llu warps per block",
                   (unsigned long long)(dim3u_count(k->tblock) + 31) / 32);
    source_say_tiles(h, NULL, 0);
    if (opt_occupancy(o)->maxnreg)
        source_say(h, "maxnreg", NULL, 0, false,
                   triton ? "launch with maxnreg=%d: kernel[grid](..., maxnreg=%d)"
                          : "@cuda.jit(max_registers=%d) (%d registers per thread)",
                   opt_occupancy(o)->maxnreg, opt_occupancy(o)->maxnreg);
    if (opt_prefetch(o)->level)
        source_say(h, "prefetch", NULL, 0, false,
                   triton ? "num_stages=%d, or one more, lets the compiler load ahead"
                          : "load %d iterations ahead into a variable",
                   opt_prefetch(o)->distance + 1);
    if (opt_occupancy(o)->minctas || opt_occupancy(o)->carveout >= 0 || opt_softcache(o)->lines ||
        opt_schedule(o)->coarsen > 1 || opt_memory(o)->l2_persist[0] || opt_memory(o)->copy_hint ||
        opt_memory(o)->promotion)
        source_say(h, "", NULL, 0, false,
                   "minctas, carve-out, software cache, coarsening, L2 persistence and policies of "
                   "copies cannot be "
                   "expressed in %s: use gpulocw apply, or its --export",
                   triton ? "Triton" : "Numba");
}
