/* Advice for Triton and Numba. */
#include "engine/base/base.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"
#include "engine/workspace/home_int.h"

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
static bool edit_load(struct homing *h, struct home_file *f, const struct home_load *l,
                      const char *argument)
{
    static const char call[] = "tl.load(";
    struct str line = f && f->text ? home_line(f, l->loc.line) : STR("");
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
        home_edit(h, f, l->loc.line, false, now.s);
    h->oom |= now.oom;
    buf_free(&now);
    return true;
}

static bool said(const struct homing *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (h->load[n].loc.file && h->load[i].loc.file == h->load[n].loc.file &&
            h->load[i].loc.line == h->load[n].loc.line)
            return true;
    return false;
}

static void loads(struct homing *h, bool triton)
{
    for (size_t i = 0; i < h->nloads; i++) {
        const struct home_load *l = &h->load[i];
        struct home_file *f = home_file_of(h, l->loc.file);
        const char *argument = argument_of(l->op), *what = l->array ? l->array : "an unknown address";
        if (said(h, i))
            continue;
        if (!triton)
            home_say(h, "bypass", f, l->loc.line, false,
                     "the load of %s (line %u of the PTX): numba.cuda has no cache operators; load the "
                     "rewritten PTX instead (gpulocw apply --export)",
                     what, l->ptx_line);
        else if (!argument)
            home_say(h, "readonly", f, l->loc.line, false,
                     "the load of %s: Triton decides about ld.global.nc by itself", what);
        else if (h->partial)
            home_say(
                h, "bypass", f, l->loc.line, false,
                "the load of %s: only the warps from number %d on want %s, which Triton cannot say of "
                "a part of a program's warps; try it for all (--pi bpa), or override the PTX (gpulocw "
                "apply --export)",
                what, h->k->options.pi.value, argument);
        else
            home_say(h, "bypass", f, l->loc.line, edit_load(h, f, l, argument), "tl.load(..., %s) of %s",
                     argument, what);
    }
}

static void order(struct homing *h)
{
    const struct options *o = &h->k->options;
    unsigned m = o->clusters > 0 ? (unsigned)o->clusters : h->k->dev.sms;
    home_say(
        h, "cluster", NULL, 0, false,
        "program ids renamed (%u clusters of the n programs): pid = tl.program_id(0); q = n // %u; i = "
        "pid %% %u; pid = i * q + tl.minimum(i, n %% %u) + pid // %u%s%s",
        m, m, m, m, m,
        o->index.kind == INDEX_TILE     ? "; then x and y from tiles of that order"
        : o->index.kind == INDEX_COLUMN ? "; then x = pid // ny, y = pid % ny"
                                        : "",
        o->cluster == CLUSTER_AGENT
            ? "; as a persistent kernel: a loop over these with step tl.num_programs(0)"
            : "");
}

void home_python(struct homing *h)
{
    bool triton = h->out->lang == HOME_TRITON;
    const struct tuned_kernel *k = h->k;
    const struct options *o = &k->options;
    loads(h, triton);
    if (o->cluster != CLUSTER_NONE)
        order(h);
    if (k->has_launch && dim3u_count(k->block) != dim3u_count(k->tblock))
        home_say(h, "block", NULL, 0, false,
                 triton ? "launch with num_warps=%llu" : "launch with %llu warps a block",
                 (unsigned long long)(dim3u_count(k->tblock) + 31) / 32);
    if (o->maxnreg)
        home_say(h, "maxnreg", NULL, 0, false,
                 triton ? "launch with maxnreg=%d: kernel[grid](..., maxnreg=%d)"
                        : "@cuda.jit(max_registers=%d) (%d registers a thread)",
                 o->maxnreg, o->maxnreg);
    if (o->prefetch)
        home_say(h, "prefetch", NULL, 0, false,
                 triton ? "num_stages=%d, or one more, lets the compiler load ahead"
                        : "load %d iterations ahead into a variable",
                 o->prefetch_distance + 1);
    if (o->minctas || o->carveout >= 0 || o->softcache || o->coarsen > 1 || o->l2_persist[0])
        home_say(h, "", NULL, 0, false,
                 "minctas, carve-out, software cache, coarsening and L2 persistence have no word in %s: "
                 "gpulocw apply puts them into the program, --export writes files",
                 triton ? "Triton" : "Numba");
}
