/* Advice for CUDA C++: cache operators at loads, launch bounds, the order of CTAs, attributes of the
 * launch. A line is edited where it can be read without a compiler's knowledge; else it is advice. */
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

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 256 };

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The word from `from` on in a text; NULL: none. */
static const char *find_word(const char *from, const char *end, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = from; p && p + n <= end; p++) {
        p = memmem(p, (size_t)(end - p), word, n);
        if (!p)
            return NULL;
        if ((p == from || !word_char(p[-1])) && (p + n == end || !word_char(p[n])))
            return p;
    }
    return NULL;
}

/* ---- the kernel in the source ---- */
struct definition {
    struct source_file *file;
    char name[NAME_MOST];                 /* as it is called in the source */
    const char *at, *params, *body, *end; /* name; behind '('; at '{'; behind '}' */
    uint32_t line;                        /* of the name */
    bool bounded;                         /* has launch bounds */
};

static uint32_t line_of(const struct source_file *f, const char *p)
{
    uint32_t n = 1;
    for (const char *t = f->text; t < p; t++)
        n += *t == '\n';
    return n;
}

/* Behind the bracket that closes the one at p; NULL: none. */
static const char *closed(const char *p, const char *end, char open, char shut)
{
    int depth = 0;
    for (; p < end; p++) {
        depth += (*p == open) - (*p == shut);
        if (!depth)
            return p + 1;
    }
    return NULL;
}

/* "scale" of "app::scale<float>(int)". */
static void base_name(const char *kernel, char out[NAME_MOST])
{
    struct buf b = { 0 };
    ptx_readable(str_of(kernel), &b);
    const char *s = b.s ? b.s : kernel;
    size_t n = strcspn(s, "<(");
    const char *from = s;
    for (size_t i = 0; i < n; i++)
        from = s[i] == ':' || s[i] == ' ' ? s + i + 1 : from;
    snprintf(out, NAME_MOST, "%.*s", (int)(s + n - from), from);
    buf_free(&b);
}

static bool define_in(struct source_file *f, struct definition *d)
{
    const char *end = f->text ? f->text + strlen(f->text) : NULL;
    unsigned found = 0;
    for (const char *p = f->text; p && (p = find_word(p, end, d->name)); p += strlen(d->name)) {
        const char *q = p + strlen(d->name);
        q += strspn(q, " \t\n");
        const char *shut = *q == '(' ? closed(q, end, '(', ')') : NULL;
        const char *body = shut ? shut + strspn(shut, " \t\n") : NULL;
        const char *g = p;
        while (g > f->text && !strchr(";}#", g[-1]))
            g--;
        const char *mark = find_word(g, p, "__global__");
        if (!mark || !body || *body != '{')
            continue;
        found++;
        d->file = f;
        d->at = p;
        d->params = q + 1;
        d->body = body;
        d->end = closed(body, end, '{', '}');
        d->line = line_of(f, p);
        d->bounded = memmem(mark, (size_t)(p - mark), "__launch_bounds__", 17) != NULL;
    }
    return found == 1 && d->end;
}

static bool define(struct source_editing *h, struct definition *d)
{
    base_name(h->k->kernel, d->name);
    for (uint32_t i = 1; i < h->k->module->nfiles; i++) {
        struct source_file *f = source_file_of(h, i);
        if (f && define_in(f, d))
            return true;
    }
    return false;
}

/* ---- loads ---- */
/* What a load is written as; NULL: it needs words. */
static const char *function_of(const char *op)
{
    return strcmp(op, ".cg") == 0                                     ? "__ldcg"
           : strcmp(op, ".cs") == 0 || strcmp(op, "evict_first") == 0 ? "__ldcs"
           : strcmp(op, ".nc") == 0                                   ? "__ldg"
                                                                      : NULL;
}

struct reading {           /* one subscript that is read: text[from, to) */
    size_t from, to, name; /* name: its length, at `from` */
};

static bool is_pointer(const struct definition *d, const char *name, size_t n)
{
    char word[NAME_MOST];
    snprintf(word, sizeof word, "%.*s", (int)n, name);
    for (const char *p = d->params; (p = find_word(p, d->end, word)); p += n) {
        const char *q = p;
        while (q > d->file->text && strchr(" \t", q[-1]))
            q--;
        if (q - d->file->text > 12 && memcmp(q - 12, "__restrict__", 12) == 0)
            for (q -= 12; q > d->file->text && strchr(" \t", q[-1]);)
                q--;
        const char *behind = p + n + strspn(p + n, " \t");
        if (q[-1] == '*' && strchr(",)=;", *behind))
            return true;
    }
    return false;
}

/* The subscripts of a line that are read; false: one is written and read at once, or cannot be told. */
static bool readings(struct str line, struct reading *out, size_t most, size_t *n)
{
    const char *end = line.s + line.n;
    *n = 0;
    for (const char *p = line.s; p < end; p++) {
        if (*p == '/' && p + 1 < end && p[1] == '/')
            return true;
        if (*p == '"' || *p == '#' || *p == '\\')
            return false;
        if (!word_char(*p) || isdigit((unsigned char)*p) || (p > line.s && word_char(p[-1])))
            continue;
        const char *name = p;
        while (p < end && (word_char(*p) || *p == '.' || (*p == '-' && p + 1 < end && p[1] == '>')))
            p += *p == '-' ? 2 : 1;
        size_t length = (size_t)(p - name);
        if (p == end || *p != '[') {
            p--;
            continue;
        }
        while (p && p < end && *p == '[')
            p = closed(p, end, '[', ']');
        if (!p || *n == most)
            return false;
        const char *q = p;
        while (q < end && (*q == ' ' || *q == '\t'))
            q++;
        const char *before = name;
        while (before > line.s && (before[-1] == ' ' || before[-1] == '\t'))
            before--;
        bool written = q < end && *q == '=' && (q + 1 == end || q[1] != '=');
        bool both = q + 1 < end && ((strchr("+-*/%&|^", *q) && q[1] == '=') ||
                                    (q[0] == q[1] && (q[0] == '+' || q[0] == '-')));
        bool address = before > line.s && before[-1] == '&';
        bool member = q < end && (*q == '.' || *q == '-') && q + 1 < end && (q[1] == '>' || *q == '.');
        if (both || address || member)
            return false;
        if (!written)
            out[(*n)++] = (struct reading){ (size_t)(name - line.s), (size_t)(p - line.s), length };
        p--;
    }
    return true;
}

/* Each reading of the line inside of a call. */
static void wrap(struct str line, const struct reading *r, size_t n, const char *call, struct buf *out)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        buf_put(out, line.s + at, r[i].from - at);
        buf_printf(out, "%s(&", call);
        buf_put(out, line.s + r[i].from, r[i].to - r[i].from);
        buf_puts(out, ")");
        at = r[i].to;
    }
    buf_put(out, line.s + at, line.n - at);
}

/* Is the line of these loads edited? d: the kernel, where it was found. */
static bool edit_load(struct source_editing *h, const struct definition *d, struct source_file *f,
                      const struct source_load *l, const char *call)
{
    enum { MOST = 16 };
    struct reading r[MOST];
    size_t n;
    struct str line = f && f->text ? source_line(f, l->loc.line) : STR("");
    if (!line.n || !d || f != d->file || l->inlined || !l->whole || !readings(line, r, MOST, &n) || !n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_pointer(d, line.s + r[i].from, r[i].name))
            return false;
    struct buf now = { 0 };
    wrap(line, r, n, call, &now);
    if (now.s && !now.oom)
        source_edit(h, f, l->loc.line, false, now.s);
    h->oom |= now.oom;
    buf_free(&now);
    return true;
}

static struct str trimmed(struct str s)
{
    while (s.n && isspace((unsigned char)s.s[0]))
        s.s++, s.n--;
    while (s.n && isspace((unsigned char)s.s[s.n - 1]))
        s.n--;
    return s;
}

/* The line before which helper functions go: behind the last #include before any code. */
static uint32_t helper_line(const struct source_file *f)
{
    uint32_t at = 1;
    for (uint32_t l = 1; l <= f->nlines; l++) {
        struct str s = trimmed(f->line[l - 1]);
        if (s.n && *s.s != '#' && memchr(s.s, '{', s.n))
            break;
        if (s.n > 8 && memcmp(s.s, "#include", 8) == 0)
            at = l + 1;
    }
    return at <= f->nlines ? at : 1;
}

/* What warps that cache do at that level. */
static const char *caching(const struct source_editing *h)
{
    int level = opt_bypass(&h->k->options)->level;
    return level == BYPASS_RO ? "__ldg(p)" : level == BYPASS_L2 ? "__ldcg(p)" : "*p";
}

static void helper(struct source_editing *h, struct source_file *f, const char *function, bool cloned)
{
    static const char thread[] =
        "unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)";
    struct buf b = { 0 };
    int pi = opt_bypass(&h->k->options)->pi.value;
    if (cloned)
        buf_printf(
            &b,
            "// The first %d warps of a CTA cache what they load, the others do not: two copies of the "
            "kernel.\n"
            "template <bool CACHES, class T> __device__ __forceinline__ T gpulocw_load(const T *p)\n"
            "{\n"
            "    return CACHES ? %s : %s(p);\n"
            "}",
            pi, caching(h), function);
    else
        buf_printf(&b,
                   "// The first %d warps of a CTA cache what they load, the others do not.\n"
                   "template <class T> __device__ __forceinline__ T gpulocw_load(const T *p)\n"
                   "{\n"
                   "    %s;\n"
                   "    return thread / 32 < %d ? %s : %s(p);\n"
                   "}",
                   pi, thread, pi, caching(h), function);
    if (b.s && !b.oom)
        source_edit(h, f, helper_line(f), true, b.s);
    h->oom |= b.oom;
    buf_free(&b);
}

/* The name of parameter i in the source; n 0: not told. */
static struct str param_name(const struct definition *d, unsigned i)
{
    const char *p = d->params, *stop = d->body;
    int depth = 0;
    struct str name = STR("");
    for (unsigned at = 0; p < stop; p++) {
        depth += (strchr("([<", *p) != NULL) - (strchr(")]>", *p) != NULL);
        bool last = depth < 0, next = depth == 0 && *p == ',';
        if (word_char(*p) && (p == d->params || !word_char(p[-1])) && at == i)
            name = (struct str){
                p, strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
            };
        if (last || (next && at == i))
            return last && at < i ? STR("") : name;
        at += next;
    }
    return STR("");
}

/* Can the kernel be written twice, as a template? Not where its copies would each have their own shared
 * memory, or where it is no plain function. */
static bool clonable(const struct definition *d)
{
    struct str line = source_line(d->file, d->line);
    const char *mark = find_word(line.s, line.s + line.n, "__global__");
    const char *head = line.s;
    while (head < line.s + line.n && isspace((unsigned char)*head))
        head++;
    bool plain = mark && (mark == head || (size_t)(mark - head) <= sizeof "extern \"C\" ");
    return plain && !d->bounded && !find_word(d->body, d->end, "__shared__") && param_name(d, 0).n &&
           !memmem(d->params, (size_t)(d->body - d->params), "=", 1) &&
           find_word(mark, line.s + line.n, d->name);
}

/* The kernel becomes NAME_body<bool>, and a new kernel behind it calls one of both copies. */
static void clone(struct source_editing *h, struct definition *d)
{
    struct str line = source_line(d->file, d->line);
    const char *name = find_word(line.s, line.s + line.n, d->name);
    uint32_t last = line_of(d->file, d->end - 1);
    struct buf head = { 0 }, tail = { 0 }, args = { 0 };
    buf_printf(&head,
               "template <bool gpulocw_caches> static __device__ __forceinline__ void %s_body%.*s",
               d->name, (int)(line.s + line.n - name) - (int)strlen(d->name), name + strlen(d->name));
    for (unsigned i = 0; param_name(d, i).n; i++)
        buf_printf(&args, "%s%.*s", i ? ", " : "", (int)param_name(d, i).n, param_name(d, i).s);
    struct str end = source_line(d->file, last);
    buf_str(&tail, end);
    buf_printf(&tail, "\n\n%.*s%s(%.*s", (int)(name - line.s), line.s, d->name,
               (int)(d->body - d->params), d->params);
    while (tail.n && isspace((unsigned char)tail.s[tail.n - 1]))
        tail.s[--tail.n] = 0;
    buf_printf(&tail,
               "\n{\n"
               "    unsigned gpulocw_thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * "
               "threadIdx.z);\n"
               "    if (gpulocw_thread / 32 < %d)\n        %s_body<true>(%s);\n    else\n        "
               "%s_body<false>(%s);\n}",
               opt_bypass(&h->k->options)->pi.value, d->name, args.s ? args.s : "", d->name,
               args.s ? args.s : "");
    if (head.s && tail.s && !head.oom && !tail.oom && !args.oom) {
        source_edit(h, d->file, d->line, false, head.s);
        source_edit(h, d->file, last, false, tail.s);
    } else {
        h->oom = true;
    }
    buf_free(&head);
    buf_free(&tail);
    buf_free(&args);
}

static void say_load(struct source_editing *h, const struct definition *d, const struct source_file *f,
                     size_t n, const char *call, bool edited)
{
    const struct source_load *l = &h->load[n];
    struct str own = d && l->param >= 0 ? param_name(d, (unsigned)l->param) : STR("");
    char what[NAME_MOST], loads[NAME_MOST + 64];
    snprintf(what, sizeof what, "%.*s", own.n ? (int)own.n : 200,
             own.n      ? own.s
             : l->array ? l->array
                        : "an address that is not known");
    source_load_words(h, n, what, loads, sizeof loads);
    const char *knob = strcmp(l->op, ".nc") == 0 ? "readonly" : "bypass";
    if (!call)
        source_say(h, knob, f, l->loc.line, false, "%s by inline assembly: ld.global.L1::%s", loads,
                   l->op);
    else if (h->partial && strcmp(knob, "bypass") == 0)
        source_say(h, knob, f, l->loc.line, edited,
                   "%s: the first %d warps of a CTA cache, the others use %s", loads,
                   opt_bypass(&h->k->options)->pi.value, call);
    else
        source_say(h, knob, f, l->loc.line, edited, "%s: %s(&...)%s", loads, call,
                   strcmp(l->op, ".nc") == 0 ? ", or const ... *__restrict__ on that parameter" : "");
}

static void loads(struct source_editing *h, struct definition *d)
{
    const char *helped = NULL;
    bool cloned = h->partial && d && clonable(d);
    const char *by_warp = cloned ? "gpulocw_load<gpulocw_caches>" : "gpulocw_load";
    for (size_t i = 0; i < h->nloads; i++) {
        const struct source_load *l = &h->load[i];
        const char *call = function_of(l->op);
        bool by_warps = h->partial && strcmp(l->op, ".nc") != 0;
        struct source_file *f = source_file_of(h, l->loc.file);
        if (source_load_said(h, i))
            continue;
        bool edited = call && edit_load(h, d, f, l, by_warps ? by_warp : call);
        say_load(h, d, f, i, call, edited);
        if (edited && by_warps && !helped)
            helper(h, f, helped = call, cloned);
    }
    if (helped && cloned)
        clone(h, d);
}

/* ---- the launch ---- */
/* The only place `name<<<` of the file; 0: none, or several. */
static uint32_t launch_line(const struct definition *d)
{
    uint32_t line = 0;
    const struct source_file *f = d->file;
    const char *end = f->text + strlen(f->text);
    for (const char *p = f->text; (p = find_word(p, end, d->name)); p += strlen(d->name)) {
        const char *q = p + strlen(d->name);
        q += strspn(q, " \t");
        if (strncmp(q, "<<<", 3) == 0) {
            if (line)
                return 0;
            line = line_of(f, p);
        }
    }
    return line;
}

static void bounds(struct source_editing *h, struct definition *d, bool known)
{
    const struct options *o = &h->k->options;
    uint64_t threads = dim3u_count(h->k->tblock);
    struct buf what = { 0 };
    if (opt_occupancy(o)->minctas && h->k->has_launch)
        buf_printf(&what, "__launch_bounds__(%llu, %d) ", (unsigned long long)threads,
                   opt_occupancy(o)->minctas);
    if (opt_occupancy(o)->maxnreg && what.n) /* nvcc takes one of both */
        source_say(h, "maxnreg", NULL, 0, false, "nvcc -maxrregcount=%d for this file",
                   opt_occupancy(o)->maxnreg);
    else if (opt_occupancy(o)->maxnreg)
        buf_printf(&what, "__maxnreg__(%d) ", opt_occupancy(o)->maxnreg);
    if (what.s && known && !d->bounded) {
        struct str line = source_line(d->file, d->line);
        struct buf now = { 0 };
        const char *at = find_word(line.s, line.s + line.n, d->name);
        if (at) {
            buf_put(&now, line.s, (size_t)(at - line.s));
            buf_puts(&now, what.s);
            buf_put(&now, at, (size_t)(line.s + line.n - at));
            source_edit(h, d->file, d->line, false, now.s ? now.s : "");
        }
        h->oom |= now.oom;
        buf_free(&now);
        source_say(h, opt_occupancy(o)->minctas ? "minctas" : "maxnreg", d->file, d->line, at != NULL,
                   "%sbefore %s", what.s, d->name);
    } else if (what.s) {
        source_say(h, opt_occupancy(o)->minctas ? "minctas" : "maxnreg", known ? d->file : NULL,
                   known ? d->line : 0, false, "%son the kernel", what.s);
    }
    buf_free(&what);
}

static void carveout(struct source_editing *h, struct definition *d, bool known)
{
    int percent = opt_occupancy(&h->k->options)->carveout;
    uint32_t at = known ? launch_line(d) : 0;
    if (percent < 0)
        return;
    struct str line = at ? trimmed(source_line(d->file, at)) : STR("");
    struct str before = at > 1 ? trimmed(source_line(d->file, at - 1)) : STR("");
    bool whole = line.n > strlen(d->name) && strncmp(line.s, d->name, strlen(d->name)) == 0 &&
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
    source_say(
        h, "carveout", known ? d->file : NULL, at, whole,
        "before the launch: cudaFuncSetAttribute(%s, cudaFuncAttributePreferredSharedMemoryCarveout, "
        "%d)",
        d->name, percent);
}

static bool same_dim(struct dim3u a, struct dim3u b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* The loop that takes the place of a thread's one pass through the body. */
static void coarsened(struct source_editing *h, const struct source_file *f, uint32_t line)
{
    const struct tuned_kernel *k = h->k;
    const struct options *o = &k->options;
    const char *own = "blockIdx.x * blockDim.x + threadIdx.x";
    char index[128];
    if (opt_schedule(o)->coarsen_mode == COARSEN_VECTOR)
        source_say(h, "coarsen", f, line, false,
                   "what follows, side by side for k below %d: one float%d, uchar%d and so on for their "
                   "loads and stores, where its address is a multiple of its size",
                   opt_schedule(o)->coarsen, opt_schedule(o)->coarsen > 4 ? 4 : opt_schedule(o)->coarsen,
                   opt_schedule(o)->coarsen > 4 ? 4 : opt_schedule(o)->coarsen);
    if (opt_schedule(o)->coarsen_mode != COARSEN_INTERLEAVED)
        snprintf(index, sizeof index, "(%s) * %d + k", own, opt_schedule(o)->coarsen);
    else
        snprintf(index, sizeof index, "%s + k * gridDim.x * blockDim.x", own);
    if (!k->has_launch || opt_schedule(o)->swap_xy)
        source_say(h, "coarsen", f, line, false,
                   "a loop around the body, for k below %d: i = %s is the "
                   "index in x there",
                   opt_schedule(o)->coarsen, index);
    else
        source_say(
            h, "coarsen", f, line, false,
            "a loop around the body, for k below %d: with i = %s, blockIdx.x is i / %u there, "
            "threadIdx.x is i %% %u, and blockDim.x is %u; i from %llu on is left out; continue for "
            "return%s",
            opt_schedule(o)->coarsen, index, k->block.x, k->block.x, k->block.x,
            (unsigned long long)k->grid.x * k->block.x,
            k->block.y != k->tblock.y || k->block.z != k->tblock.z ? "; y and z likewise, without k"
                                                                   : "");
}

static void shape(struct source_editing *h, const struct definition *d, bool known)
{
    const struct tuned_kernel *k = h->k;
    const struct options *o = &k->options;
    uint32_t at = known ? launch_line(d) : 0;
    const struct source_file *f = at ? d->file : NULL;
    if (k->has_launch && (!same_dim(k->grid, k->tgrid) || !same_dim(k->block, k->tblock)))
        source_say(h,
                   opt_cluster(o)->kind == 2      ? "agents"
                   : opt_schedule(o)->swap_xy     ? "swap-xy"
                   : opt_schedule(o)->coarsen > 1 ? "coarsen"
                                                  : "block",
                   f, at, false, "launch with grid dim3(%u, %u, %u) and block dim3(%u, %u, %u)%s",
                   k->tgrid.x, k->tgrid.y, k->tgrid.z, k->tblock.x, k->tblock.y, k->tblock.z,
                   opt_schedule(o)->swap_xy
                       ? ", and exchange .x and .y of blockIdx, blockDim and threadIdx in the kernel"
                       : "");
    if (k->has_launch && k->shared != k->tshared)
        source_say(h, "throttle-shared", f, at, false,
                   "launch with %u bytes of dynamic shared memory (was %u)%s", k->tshared, k->shared,
                   k->tshared > 48 * 1024
                       ? "; above 48 KB also cudaFuncAttributeMaxDynamicSharedMemorySize"
                       : "");
    if (opt_schedule(o)->coarsen > 1)
        coarsened(h, known ? d->file : NULL, known ? d->line : 0);
    if (opt_memory(o)->l2_persist[0] && strcmp(opt_memory(o)->l2_persist, "off") != 0)
        source_say(
            h, "l2-persist", f, at, false,
            "keep %s in L2: cudaStreamAttrValue v = {}; v.accessPolicyWindow = {base, bytes, ratio, "
            "cudaAccessPropertyPersisting, cudaAccessPropertyStreaming}; cudaStreamSetAttribute(stream, "
            "cudaStreamAttributeAccessPolicyWindow, &v); and cudaDeviceSetLimit("
            "cudaLimitPersistingL2CacheSize, bytes)",
            opt_memory(o)->l2_persist);
    source_say_tiles(h, f, at);
    if (opt_memory(o)->promotion != PROMOTION_KEEP)
        source_say(h, "tma-promotion", f, at, false,
                   "make the tensor maps with another l2Promotion (cuTensorMapEncodeTiled: "
                   "CU_TENSOR_MAP_L2_PROMOTION_NONE, _L2_64B, _L2_128B or _L2_256B)");
    if (opt_memory(o)->copy_hint != COPY_HINT_KEEP)
        source_say(h, "tma-hint", f, at, false,
                   "give the tensor copies .L2::cache_hint with a policy of createpolicy.fractional (in "
                   "CUTLASS: TMA::CacheHintSm90 of the copy)");
}

/* ---- the order of CTAs ---- */
static void order_text(const struct source_editing *h, struct buf *b)
{
    const struct options *o = &h->k->options;
    unsigned m = opt_cluster(o)->clusters > 0 ? (unsigned)opt_cluster(o)->clusters : h->k->dev.sms;
    buf_printf(b,
               "// CTAs renamed, so that those that share data meet on one SM (%u clusters).\n"
               "__device__ __forceinline__ dim3 gpulocw_cta()\n"
               "{\n"
               "    unsigned nx = gridDim.x, ny = gridDim.y, all = nx * ny * gridDim.z;\n"
               "    unsigned u = (blockIdx.z * ny + blockIdx.y) * nx + blockIdx.x;\n"
               "    unsigned q = all / %u, r = all %% %u, i = u %% %u;\n"
               "    unsigned v = i * q + min(i, r) + u / %u;\n",
               m, m, m, m, m);
    if (opt_cluster(o)->index.kind == INDEX_TILE)
        buf_printf(
            b,
            "    unsigned z = v / (nx * ny), row = v %% (nx * ny) / (nx * %u), w = v %% (nx * ny) %% "
            "(nx * %u);\n"
            "    unsigned high = min(ny - row * %u, %uu), tile = w / (high * %u), in = w %% (high * "
            "%u);\n"
            "    unsigned wide = min(nx - tile * %u, %uu);\n"
            "    return dim3(tile * %u + in %% wide, row * %u + in / wide, z);\n}",
            opt_cluster(o)->index.ty, opt_cluster(o)->index.ty, opt_cluster(o)->index.ty,
            opt_cluster(o)->index.ty, opt_cluster(o)->index.tx, opt_cluster(o)->index.tx,
            opt_cluster(o)->index.tx, opt_cluster(o)->index.tx, opt_cluster(o)->index.tx,
            opt_cluster(o)->index.ty);
    else if (opt_cluster(o)->index.kind == INDEX_COLUMN)
        buf_puts(b, "    unsigned z = v / (nx * ny), w = v % (nx * ny);\n"
                    "    return dim3(w / ny, w % ny, z);\n}");
    else
        buf_puts(b, "    unsigned z = v / (nx * ny), w = v % (nx * ny);\n"
                    "    return dim3(w % nx, w / nx, z);\n}");
}

/* Is the function around p another kernel, by the last word of its kind before p? */
static bool of_a_kernel(const struct source_file *f, const char *p)
{
    const char *kernel = NULL, *device = NULL;
    for (const char *q = f->text; (q = find_word(q, p, "__global__")); q++)
        kernel = q;
    for (const char *q = f->text; (q = find_word(q, p, "__device__")); q++)
        device = q;
    return kernel && (!device || kernel > device);
}

/* Every blockIdx of the kernel's body; false: others read it, too. */
static bool rename_ctas(struct source_editing *h, struct definition *d)
{
    static const char word[] = "blockIdx";
    const char *end = d->file->text + strlen(d->file->text);
    uint32_t last = line_of(d->file, d->end - 1);
    for (const char *p = d->file->text; (p = find_word(p, end, word)); p++)
        if ((p < d->body || p > d->end) && !of_a_kernel(d->file, p))
            return false;
    for (uint32_t l = line_of(d->file, d->body); l <= last; l++) {
        struct str line = source_line(d->file, l);
        struct buf now = { 0 };
        const char *p = line.s, *stop = line.s + line.n, *hit;
        while ((hit = find_word(p, stop, word))) {
            buf_put(&now, p, (size_t)(hit - p));
            buf_puts(&now, "gpulocw_cta()");
            p = hit + sizeof word - 1;
        }
        if (now.s) {
            buf_put(&now, p, (size_t)(stop - p));
            source_edit(h, d->file, l, false, now.s ? now.s : "");
        }
        h->oom |= now.oom;
        buf_free(&now);
    }
    return true;
}

static void agents(struct source_editing *h, const struct definition *d, bool known)
{
    source_say(
        h, "agents", known ? d->file : NULL, known ? d->line : 0, false,
        "persistent CTAs: __device__ unsigned taken[%u] is zeroed before every launch; c = the SM's "
        "number; thread 0 takes w = atomicAdd(&taken[c], 1) and shares it (__syncthreads); w is the "
        "member of cluster c, as in gpulocw_cta of --cluster redirect; the body runs with that CTA "
        "in place of blockIdx and the original's grid in place of gridDim, and each return goes on to "
        "the next; where cluster c is empty, c = (c + 1) %% %u, and after all of them the CTA ends",
        h->k->dev.sms, h->k->dev.sms);
}

static void ctas(struct source_editing *h, struct definition *d, bool known)
{
    const struct options *o = &h->k->options;
    struct buf b = { 0 };
    bool custom = opt_cluster(o)->index.kind == INDEX_CUSTOM;
    if (opt_cluster(o)->kind == CLUSTER_NONE)
        return;
    if (opt_cluster(o)->kind == CLUSTER_AGENT) {
        agents(h, d, known);
        return;
    }
    if (!custom)
        order_text(h, &b);
    bool edited = known && !custom && rename_ctas(h, d);
    if (edited && b.s)
        source_edit(h, d->file, helper_line(d->file), true, b.s);
    source_say(h, "cluster", known ? d->file : NULL, known ? d->line : 0, edited,
               custom ? "CTAs renamed by a table of your own: read it with the linear CTA number"
                      : "gpulocw_cta() in place of blockIdx in the kernel%s%s",
               edited ? "" : ", and in what it calls:\n", edited || !b.s ? "" : b.s);
    h->oom |= b.oom;
    buf_free(&b);
}

static void rest(struct source_editing *h, const struct definition *d, bool known)
{
    const struct options *o = &h->k->options;
    const struct source_file *f = known ? d->file : NULL;
    uint32_t line = known ? d->line : 0;
    if (opt_prefetch(o)->level)
        source_say(
            h, "prefetch", f, line, false,
            "in the loop, %d iterations or tasks ahead: asm volatile(\"prefetch.global.L%d [%%0];\" :: "
            "\"l\"(p)), or a load into a register that is used then",
            opt_prefetch(o)->distance, opt_prefetch(o)->level);
    if (opt_softcache(o)->lines)
        source_say(h, "softcache", f, line, false,
                   "the software cache needs many lines of source: load the rewritten PTX instead "
                   "(gpulocw apply --export)");
}

void source_edits_cuda(struct source_editing *h)
{
    struct definition d = { .file = NULL };
    bool known = define(h, &d);
    bounds(h, &d, known);
    d.bounded |=
        known && opt_occupancy(&h->k->options)->minctas + opt_occupancy(&h->k->options)->maxnreg > 0;
    loads(h, known ? &d : NULL);
    ctas(h, &d, known);
    shape(h, &d, known);
    carveout(h, &d, known);
    rest(h, &d, known);
}
