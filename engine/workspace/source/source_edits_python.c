/* Advice for Triton and Numba. */
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
    static const char *const words[][2] = { { ".cg", "cache_modifier=\".cg\"" },
                                            { ".cs", "cache_modifier=\".cs\"" },
                                            { ".L1::evict_first", "eviction_policy=\"evict_first\"" },
                                            { ".L1::evict_last", "eviction_policy=\"evict_last\"" } };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(op, words[i][0]) == 0)
            return words[i][1];
    return NULL;
}

/* Do all loads of its line change alike? */
static bool whole(const struct source_editing *h, const struct source_load *l)
{
    bool all = true;
    for (size_t i = 0; i < h->nloads; i++)
        if (h->load[i].loc.file == l->loc.file && h->load[i].loc.line == l->loc.line)
            all &= strcmp(h->load[i].op, l->op) == 0;
    return all;
}

/* The only tl.load(...) of the line gets one more argument. */
static bool edit_load(struct source_editing *h, struct source_file *f, const struct source_load *l,
                      const char *argument)
{
    static const char call[] = "tl.load(";
    struct str line = f && f->text ? source_line(f, l->loc.line) : STR("");
    const char *end = line.s + line.n;
    const char *p = line.n ? memmem(line.s, line.n, call, sizeof call - 1) : NULL;
    if (!p || !whole(h, l) || memmem(p + 1, (size_t)(end - p - 1), call, sizeof call - 1) ||
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
        if (!l->changed || source_load_said(h, i))
            continue;
        source_load_words(h, i, what, loads, sizeof loads);
        if (!triton)
            source_say(
                h, "bypass", f, l->loc.line, SOURCE_WORDS,
                "%s: numba.cuda has no cache operators; load the rewritten PTX instead (gpulocw apply "
                "--export)",
                loads);
        else if (!argument)
            source_say(h, "readonly", f, l->loc.line, SOURCE_WORDS,
                       "the load of %s: tl.load has no word for ld.global%s", what, l->op);
        else if (h->partial)
            source_say(h, "bypass", f, l->loc.line, SOURCE_WORDS,
                       "the load of %s: only warps from number %d use %s, which Triton cannot express "
                       "for some warps of a program; try it for all (--pi bpa), or override the PTX "
                       "(gpulocw apply --export)",
                       what, opt_bypass(h->k->options)->pi.value, argument);
        else
            source_say(h, "bypass", f, l->loc.line,
                       edit_load(h, f, l, argument) ? SOURCE_EDIT : SOURCE_WORDS,
                       "tl.load(..., %s) of %s", argument, what);
    }
}

/* ---- another order of programs (CTAs) ---- */
struct word {
    const char *was, *now;
};
/* What says which program runs, on a grid of one dimension; `left`: what else would. */
static const struct python {
    struct word word[2];
    const char *left[2], *id, *all, *least;
} triton_words = { { { "tl.program_id(0)", "gpulocw_id" }, { "tl.program_id(axis=0)", "gpulocw_id" } },
                   { "program_id", "program_id" },
                   "tl.program_id(0)",
                   "tl.num_programs(0)",
                   "tl.minimum" },
  numba_words = { { { "cuda.blockIdx.x", "gpulocw_id" },
                    { "cuda.grid(1)", "(gpulocw_id * cuda.blockDim.x + cuda.threadIdx.x)" } },
                  { "blockIdx", "cuda.grid(" },
                  "cuda.blockIdx.x",
                  "cuda.gridDim.x",
                  "min" };

static size_t indent_of(struct str line)
{
    size_t n = 0;
    while (n < line.n && (line.s[n] == ' ' || line.s[n] == '\t'))
        n++;
    return n;
}

/* Lines of the kernel's function: its `def`, its first behind the head, its last. False: it is not found. */
static bool function_of(const struct source_editing *h, const struct source_file *f, uint32_t line[3])
{
    size_t head = 0;
    for (line[0] = 1; line[0] <= f->nlines; line[0]++) {
        struct str l = f->line[line[0] - 1];
        head = indent_of(l);
        const char *name = l.s + head + 4, *paren = l.n ? memchr(l.s, '(', l.n) : NULL;
        if (l.n > head + 4 && memcmp(l.s + head, "def ", 4) == 0 && paren > name &&
            memmem(h->k->kernel, strlen(h->k->kernel), name, (size_t)(paren - name)))
            break;
    }
    line[1] = line[0];
    while (line[1] <= f->nlines &&
           !(f->line[line[1] - 1].n && memchr(f->line[line[1] - 1].s, ':', f->line[line[1] - 1].n) &&
             f->line[line[1] - 1].s[f->line[line[1] - 1].n - 1] == ':'))
        line[1]++;
    line[1]++;
    line[2] = line[1];
    while (line[2] < f->nlines && (!f->line[line[2]].n || indent_of(f->line[line[2]]) > head))
        line[2]++;
    return line[1] <= f->nlines;
}

/* The line with the words of p replaced; false: some stay that are not known. */
static bool renamed(const struct python *p, struct str line, struct buf *out)
{
    for (const char *s = line.s, *end = line.s + line.n; s < end;) {
        const struct word *w = NULL;
        for (size_t i = 0; i < ARRAY_LEN(p->word) && !w; i++) {
            size_t n = strlen(p->word[i].was);
            w = (size_t)(end - s) >= n && memcmp(s, p->word[i].was, n) == 0 ? &p->word[i] : NULL;
        }
        if (w)
            buf_puts(out, w->now);
        else
            buf_put(out, s, 1);
        s += w ? strlen(w->was) : 1;
    }
    for (size_t i = 0; i < ARRAY_LEN(p->left); i++)
        if (out->s && strstr(out->s, p->left[i]))
            return false;
    return true;
}

/* The function asks once which program it is, and takes another's work. */
static bool edit_order(struct source_editing *h, const struct python *p, unsigned clusters)
{
    uint32_t line[3], n = 0;
    struct source_file *f = source_file_of(h, 1);
    bool fine = f && f->text && function_of(h, f, line);
    for (unsigned round = 0; fine && round < 2;
         round++) /* nothing is edited where some line cannot be */
        for (uint32_t k = line[1]; fine && k <= line[2]; k++) {
            struct buf now = { 0 };
            struct str was = f->line[k - 1];
            fine = renamed(p, was, &now);
            bool other = fine && now.s && (now.n != was.n || memcmp(now.s, was.s, was.n) != 0);
            n += other;
            if (round && other)
                source_edit(h, f, k, false, now.s);
            buf_free(&now);
        }
    if (!fine || !n)
        return false;
    struct buf b = { 0 };
    struct str first = f->line[line[1] - 1];
    buf_printf(&b, "%.*sgpulocw_id = %s %% %u * (%s // %u) + %s(%s %% %u, %s %% %u) + %s // %u",
               (int)indent_of(first), first.s, p->id, clusters, p->all, clusters, p->least, p->id,
               clusters, p->all, clusters, p->id, clusters);
    source_edit(h, f, line[1], true, b.s ? b.s : "");
    h->oom |= b.oom;
    buf_free(&b);
    return true;
}

static void order(struct source_editing *h, bool triton)
{
    const struct options *o = h->k->options;
    const struct python *p = triton ? &triton_words : &numba_words;
    unsigned said = opt_cluster(o)->clusters > 0 ? (unsigned)opt_cluster(o)->clusters : h->k->dev.sms,
             m = h->k->code.meaning.clusters ? h->k->code.meaning.clusters : said;
    bool row = opt_cluster(o)->kind == CLUSTER_REDIRECT && opt_cluster(o)->index.kind == INDEX_ROW &&
               h->k->has_launch && h->k->grid.y * h->k->grid.z == 1;
    bool edited = row && edit_order(h, p, m);
    source_say(h, "cluster", NULL, 0, edited ? SOURCE_EDIT : SOURCE_WORDS,
               "program ids renamed (%u clusters): id = %s; q = %s // %u; i = id %% %u; id = i * q + "
               "%s(i, %s %% "
               "%u) + id // %u%s%s",
               m, p->id, p->all, m, m, p->least, p->all, m, m,
               opt_cluster(o)->index.kind == INDEX_TILE     ? "; then x and y from tiles of that order"
               : opt_cluster(o)->index.kind == INDEX_COLUMN ? "; then x = id // ny, y = id % ny"
                                                            : "",
               opt_cluster(o)->kind != CLUSTER_AGENT ? ""
               : triton ? "; as a persistent kernel: a loop over these with step tl.num_programs(0)"
                        : "; as persistent CTAs: a loop over these with step cuda.gridDim.x");
}

void source_edits_python(struct source_editing *h)
{
    bool triton = h->out->lang == SOURCE_TRITON;
    const struct tuned_kernel *k = h->k;
    const struct options *o = k->options;
    loads(h, triton);
    if (opt_cluster(o)->kind != CLUSTER_NONE)
        order(h, triton);
    if (k->has_launch && dim3u_count(k->block) != dim3u_count(k->tblock))
        source_say(h, "block", NULL, 0, SOURCE_WORDS,
                   triton ? "launch with num_warps=%llu" : "launch with %llu warps per block",
                   (unsigned long long)(dim3u_count(k->tblock) + 31) / 32);
    source_say_tiles(h, NULL, 0);
    if (opt_occupancy(o)->maxnreg)
        source_say(h, "maxnreg", NULL, 0, SOURCE_LAUNCH,
                   triton ? "launch with maxnreg=%d: kernel[grid](..., maxnreg=%d)"
                          : "@cuda.jit(max_registers=%d) (%d registers per thread)",
                   opt_occupancy(o)->maxnreg, opt_occupancy(o)->maxnreg);
    if (opt_prefetch(o)->level)
        source_say(h, "prefetch", NULL, 0, SOURCE_WORDS,
                   triton ? "num_stages=%d, or one more, lets the compiler load ahead"
                          : "load %d iterations ahead into a variable",
                   opt_prefetch(o)->distance + 1);
    if (opt_occupancy(o)->minctas || opt_occupancy(o)->carveout >= 0 || opt_softcache(o)->lines ||
        opt_schedule(o)->coarsen > 1 || opt_memory(o)->l2_persist[0] || opt_memory(o)->copy_hint ||
        opt_memory(o)->promotion)
        source_say(h, "", NULL, 0, SOURCE_WORDS,
                   "minctas, carve-out, software cache, coarsening, L2 persistence and policies of "
                   "copies cannot be "
                   "expressed in %s: use gpulocw apply, or its --export",
                   triton ? "Triton" : "Numba");
}
