/* A configuration in CUDA C++: loads, the work of threads, the layout of shared memory, launch bounds, what
 * the launch says. What has no form in the source is told in words; then nothing is edited. */
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rec/opt_softcache.h"
#include "engine/workspace/source/cuda_text.h"

#include <string.h>

/* The launch bounds that the kernel has: from `__launch_bounds__` to behind its ')'; n 0: none. */
static struct str bounds_of(const struct cuda_kernel *d)
{
    const char *g = d->at;
    while (g > d->file->text && !strchr(";}#", g[-1]))
        g--;
    const char *p = cuda_word(g, d->at, "__launch_bounds__");
    const char *open = p ? memchr(p, '(', (size_t)(d->at - p)) : NULL;
    const char *end = open ? cuda_closed(open, d->at, '(', ')') : NULL;
    return end ? (struct str){ p, (size_t)(end - p) } : STR("");
}

/* `what` in front of the kernel's name, in the place of the bounds it has. */
static bool put_bounds(struct source_editing *h, const struct cuda_kernel *d, const char *what)
{
    struct str old = bounds_of(d);
    uint32_t at = old.n ? cuda_line_of(d->file, old.s) : d->line;
    struct str line = source_line(d->file, at);
    struct buf now = { 0 };
    const char *p =
        old.n ? memmem(line.s, line.n, old.s, old.n) : cuda_word(line.s, line.s + line.n, d->name);
    if (p) {
        buf_put(&now, line.s, (size_t)(p - line.s));
        buf_printf(&now, "%s%s", what, old.n ? "" : " ");
        p += old.n;
        buf_put(&now, p, (size_t)(line.s + line.n - p));
        source_edit(h, d->file, at, false, now.s ? now.s : "");
        h->bounds_edited = true;
    }
    h->oom |= now.oom;
    buf_free(&now);
    return p != NULL;
}

static void bounds(struct source_editing *h, const struct cuda_kernel *d)
{
    const struct opt_occupancy *o = opt_occupancy(h->k->options);
    const struct tuned_kernel *k = h->k;
    struct str old = d ? bounds_of(d) : STR("");
    struct buf what = { 0 };
    bool reshaped = old.n && dim3u_count(k->block) != dim3u_count(k->tblock);
    if (o->minctas && k->has_launch)
        buf_printf(&what, "__launch_bounds__(%llu, %d)", (unsigned long long)dim3u_count(k->tblock),
                   o->minctas);
    else if (reshaped)
        buf_printf(&what, "__launch_bounds__(%llu)", (unsigned long long)dim3u_count(k->tblock));
    else if (o->maxnreg && !old.n)
        buf_printf(&what, "__maxnreg__(%d)", o->maxnreg);
    const char *knob = o->minctas ? "minctas" : o->maxnreg ? "maxnreg" : "block";
    bool edited = what.s && d && put_bounds(h, d, what.s);
    if (what.s || o->minctas)
        source_say(h, knob, d ? d->file : NULL, d ? d->line : 0, edited ? SOURCE_EDIT : SOURCE_WORDS,
                   "%s before %s", what.s ? what.s : "__launch_bounds__", d ? d->name : "the kernel");
    if (o->maxnreg && (what.n ? what.s[2] != 'm' : old.n)) /* nvcc takes one of both */
        source_say(h, "maxnreg", NULL, 0, SOURCE_WORDS, "nvcc -maxrregcount=%d for this file",
                   o->maxnreg);
    h->oom |= what.oom;
    buf_free(&what);
}

static void carveout(struct source_editing *h, const struct cuda_kernel *d)
{
    int percent = opt_occupancy(h->k->options)->carveout;
    uint32_t at = d ? cuda_launch_line(d) : 0;
    if (percent < 0)
        return;
    struct str line = at ? cuda_trimmed(source_line(d->file, at)) : STR("");
    struct str before = at > 1 ? cuda_trimmed(source_line(d->file, at - 1)) : STR("");
    bool whole = line.n > strlen(d ? d->name : "") && strncmp(line.s, d->name, strlen(d->name)) == 0 &&
                 before.n && strchr(";{}", before.s[before.n - 1]);
    if (whole) {
        struct buf b = { 0 };
        size_t indent = (size_t)(line.s - source_line(d->file, at).s);
        buf_printf(&b,
                   "%.*scudaFuncSetAttribute(%s, cudaFuncAttributePreferredSharedMemoryCarveout, %d);",
                   (int)indent, source_line(d->file, at).s, d->name, percent);
        source_edit(h, d->file, at, true, b.s ? b.s : "");
        h->oom |= b.oom;
        buf_free(&b);
    }
    source_say(h, "carveout", d ? d->file : NULL, at, whole ? SOURCE_EDIT : SOURCE_LAUNCH,
               "before the launch: cudaFuncSetAttribute(%s, "
               "cudaFuncAttributePreferredSharedMemoryCarveout, %d)",
               d ? d->name : "the kernel", percent);
}

/* Grid, block and dynamic shared memory, as the edited source wants them. */
static void launch(struct source_editing *h, const struct cuda_kernel *d)
{
    const struct tuned_kernel *k = h->k;
    uint32_t at = d ? cuda_launch_line(d) : 0;
    const struct source_file *f = at ? d->file : NULL;
    if (k->has_launch && (!dim3u_same(k->grid, k->tgrid) || !dim3u_same(k->block, k->tblock)))
        source_say(h, "block", f, at, SOURCE_LAUNCH,
                   "launch with grid dim3(%u, %u, %u) and block "
                   "dim3(%u, %u, %u)",
                   k->tgrid.x, k->tgrid.y, k->tgrid.z, k->tblock.x, k->tblock.y, k->tblock.z);
    if (k->has_launch && k->shared != k->tshared)
        source_say(h, "throttle-shared", f, at, SOURCE_LAUNCH,
                   "launch with %u bytes of dynamic shared memory (was %u)%s", k->tshared, k->shared,
                   k->tshared > 48 * 1024
                       ? "; above 48 KB also cudaFuncAttributeMaxDynamicSharedMemorySize"
                       : "");
}

static void memory(struct source_editing *h, const struct cuda_kernel *d)
{
    const struct opt_memory *o = opt_memory(h->k->options);
    uint32_t at = d ? cuda_launch_line(d) : 0;
    const struct source_file *f = at ? d->file : NULL;
    if (o->l2_persist[0] && strcmp(o->l2_persist, "off") != 0)
        source_say(
            h, "l2-persist", f, at, SOURCE_LAUNCH,
            "keep %s in L2: cudaStreamAttrValue v = {}; v.accessPolicyWindow = {base, bytes, ratio, "
            "cudaAccessPropertyPersisting, cudaAccessPropertyStreaming}; cudaStreamSetAttribute(stream, "
            "cudaStreamAttributeAccessPolicyWindow, &v); and cudaDeviceSetLimit("
            "cudaLimitPersistingL2CacheSize, bytes)",
            o->l2_persist);
    if (o->promotion != PROMOTION_KEEP)
        source_say(h, "tma-promotion", f, at, SOURCE_LAUNCH,
                   "make the tensor maps with another l2Promotion (cuTensorMapEncodeTiled: "
                   "CU_TENSOR_MAP_L2_PROMOTION_NONE, _L2_64B, _L2_128B or _L2_256B)");
    if (o->copy_hint != COPY_HINT_KEEP)
        source_say(h, "tma-hint", f, at, SOURCE_WORDS,
                   "give the tensor copies .L2::cache_hint with a policy of createpolicy.fractional (in "
                   "CUTLASS: TMA::CacheHintSm90 of the copy)");
}

/* What only the rewritten PTX does. */
static void without_form(struct source_editing *h, const struct cuda_kernel *d)
{
    const struct options *o = h->k->options;
    const struct source_file *f = d ? d->file : NULL;
    uint32_t line = d ? d->line : 0;
    source_say_tiles(h, f, line);
    if (opt_prefetch(o)->level)
        source_say(
            h, "prefetch", f, line, SOURCE_WORDS,
            "in the loop, %d iterations or tasks ahead: asm volatile(\"prefetch.global.L%d [%%0];\" :: "
            "\"l\"(p)), or a load into a register that is used then",
            opt_prefetch(o)->distance, opt_prefetch(o)->level);
    if (opt_softcache(o)->lines)
        source_say(h, "softcache", f, line, SOURCE_WORDS,
                   "a software cache in shared memory, asked before each load");
}

void source_edits_cuda(struct source_editing *h)
{
    struct cuda_kernel k = { .file = NULL }, *d = cuda_define(h, &k) ? &k : NULL;
    cuda_place(h, d);
    cuda_shared(h, d);
    bounds(h, d);
    cuda_loads(h, d);
    launch(h, d);
    memory(h, d);
    carveout(h, d);
    without_form(h, d);
}
