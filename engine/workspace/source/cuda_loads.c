/* Loads of global memory by another operator, in CUDA C++. The operator is the one that the rewritten PTX
 * has: one of CUDA's functions (__ldcg), else inline assembly that says the same. Where a threshold divides
 * the warps, the kernel becomes two copies as in the rewrite, or each load asks for its warp. */
#include "engine/rec/opt_bypass.h"
#include "engine/workspace/source/cuda_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WAYS_MOST = 8, READINGS_MOST = 32 };

struct reading {           /* one subscript that is read: text[from, to) */
    size_t from, to, name; /* name: its length, at `from` */
    size_t update, end;    /* x[i] += y; : of "+=" and ';'; 0: it is read only */
};
struct way { /* that loads go in the rewritten code, and how those of the caching warps go */
    const char *op, *was;
    bool copies, asks; /* called by a copy of the kernel; by who asks for its warp */
};
struct loading {
    struct source_editing *h;
    const struct cuda_kernel *d;
    struct way way[WAYS_MOST];
    size_t nways;
    bool cloned;
};

/* ---- subscripts ---- */
/* The ';' behind x[i] += y where that is the whole statement and the subscript may be said twice; 0: not so. */
static size_t update_end(struct str line, const char *name, const char *behind)
{
    const char *semi = memchr(behind, ';', (size_t)(line.s + line.n - behind));
    for (const char *p = name; p < behind; p++)
        if (strchr("()=", *p) || (p[0] == p[1] && strchr("+-", *p)))
            return 0;
    for (const char *p = line.s; p < name; p++)
        if (!strchr(" \t{};", *p) && !(p + 1 < name && memchr(p, ';', (size_t)(name - p))))
            return 0;
    return semi ? (size_t)(semi - line.s) : 0;
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
        if (!cuda_word_char(*p) || isdigit((unsigned char)*p) || (p > line.s && cuda_word_char(p[-1])))
            continue;
        const char *name = p;
        while (p < end && (cuda_word_char(*p) || *p == '.' || (*p == '-' && p + 1 < end && p[1] == '>')))
            p += *p == '-' ? 2 : 1;
        size_t length = (size_t)(p - name);
        if (p == end || *p != '[') {
            p--;
            continue;
        }
        const char *open = p;
        while (p && p < end && *p == '[')
            p = cuda_closed(p, end, '[', ']');
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
        bool address =
            before > line.s && before[-1] == '&' && (before - 1 == line.s || before[-2] != '&');
        bool member = q < end && (*q == '.' || *q == '-') && q + 1 < end && (q[1] == '>' || *q == '.');
        size_t semi = both && q[1] == '=' ? update_end(line, name, p) : 0;
        if ((both && !semi) || address || member)
            return false;
        if (!written)
            out[(*n)++] = (struct reading){ (size_t)(name - line.s), (size_t)(p - line.s), length,
                                            both ? (size_t)(q - line.s) : 0, semi };
        p = open; /* subscripts inside of it are readings, too */
    }
    return true;
}

/* ---- ways ---- */
static const char *function_of(const char *op)
{
    static const char *const f[][2] = { { "", NULL },       { ".cg", "__ldcg" }, { ".cs", "__ldcs" },
                                        { ".nc", "__ldg" }, { ".lu", "__ldlu" }, { ".cv", "__ldcv" } };
    for (size_t i = 0; i < ARRAY_LEN(f); i++)
        if (strcmp(op, f[i][0]) == 0)
            return f[i][1];
    return NULL;
}

static size_t way_of(struct loading *l, const struct source_load *a)
{
    for (size_t i = 0; i < l->nways; i++)
        if (strcmp(l->way[i].op, a->op) == 0 && (!l->h->partial || strcmp(l->way[i].was, a->was) == 0))
            return i;
    if (l->nways == WAYS_MOST || (l->h->partial && *a->was && !function_of(a->was)))
        return WAYS_MOST;
    l->way[l->nways] = (struct way){ .op = a->op, .was = a->was };
    return l->nways++;
}

/* What a reading of way w calls; inlined: outside of the kernel's own text. size: of out. */
static void call_of(struct loading *l, size_t w, bool inlined, char *out, size_t size)
{
    const char *f = function_of(l->way[w].op);
    bool copy = l->cloned && !inlined;
    l->way[w].copies |= l->h->partial && copy;
    l->way[w].asks |= l->h->partial && !copy;
    if (l->h->partial)
        snprintf(out, size, copy ? "gpulocw_load%zu<gpulocw_caches>" : "gpulocw_warp_load%zu", w);
    else if (f)
        snprintf(out, size, "%s", f);
    else
        snprintf(out, size, "gpulocw_ld%zu", w);
}

/* Inline assembly for a load of 1 to 16 bytes by this operator. policy: what makes one, or NULL. */
static void assembly_text(const char *name, const char *op, const char *policy, struct buf *b)
{
    static const struct {
        const char *type, *values, *outs;
        unsigned bytes, address;
    } size[] = { { ".u8", "%0", "\"=r\"(w[0])", 1, 1 },
                 { ".u16", "%0", "\"=h\"(half)", 2, 1 },
                 { ".u32", "%0", "\"=r\"(w[0])", 4, 1 },
                 { ".v2.u32", "{%0, %1}", "\"=r\"(w[0]), \"=r\"(w[1])", 8, 2 },
                 { ".v4.u32", "{%0, %1, %2, %3}",
                   "\"=r\"(w[0]), \"=r\"(w[1]), \"=r\"(w[2]), \"=r\"(w[3])", 16, 4 } };
    bool fixed = !strstr(op, ".nc"); /* what nobody writes may be loaded at any time, and once */
    buf_printf(b,
               "// ld.global%s\n"
               "template <class T> static __device__ __forceinline__ T %s(const T *p)\n"
               "{\n"
               "    T v;\n    unsigned w[4];\n    unsigned short half;\n"
               "    size_t a = __cvta_generic_to_global(p);\n",
               op, name);
    for (size_t i = 0; i < ARRAY_LEN(size); i++)
        buf_printf(b,
                   "    if (sizeof(T) == %u)\n"
                   "        asm%s(\"%s%s%sld.global%s%s %s, [%%%u]%s;%s\"\n"
                   "            : %s : \"l\"(a)%s);\n",
                   size[i].bytes, fixed ? " volatile" : "", policy ? "{ .reg .b64 policy; " : "",
                   policy ? policy : "", policy ? " policy, 1.0; " : "", op, size[i].type,
                   size[i].values, size[i].address, policy ? ", policy" : "", policy ? " }" : "",
                   size[i].outs, fixed ? " : \"memory\"" : "");
    buf_puts(b, "    w[0] = sizeof(T) == 2 ? half : w[0];\n"
                "    memcpy(&v, w, sizeof v);\n"
                "    return v;\n}");
}

/* "createpolicy.fractional.L2::evict_first.b64" of the rewritten text; n 0: it has none. */
static struct str policy_of(const struct tuned_kernel *k)
{
    const char *p = memmem(k->code.text, k->code.n, "createpolicy.", 13);
    struct str s = { p, 0 };
    while (p && s.n < 80 && !isspace((unsigned char)p[s.n]))
        s.n++;
    return s;
}

static void put_helper(struct loading *l, struct source_file *f, const char *name, const char *op)
{
    struct buf b = { 0 }, policy = { 0 };
    struct str made = policy_of(l->h->k);
    bool hint = strstr(op, "cache_hint") != NULL;
    if (hint)
        buf_str(&policy, made);
    assembly_text(name, op, hint ? policy.s : NULL, &b);
    if (b.s && !b.oom)
        source_edit(l->h, f, cuda_helper_line(f), true, b.s);
    l->h->oom |= b.oom || policy.oom;
    buf_free(&b);
    buf_free(&policy);
}

static void put_select(struct loading *l, struct source_file *f, size_t w)
{
    const struct way *y = &l->way[w];
    const char *direct = function_of(y->op), *cached = function_of(y->was);
    char own[32], caching[48];
    struct buf b = { 0 };
    snprintf(own, sizeof own, "gpulocw_ld%zu", w);
    snprintf(caching, sizeof caching, cached ? "%s(p)" : "*p", cached);
    unsigned pi = l->h->k->code.knob[PASS_KNOB_PI];
    buf_printf(&b, "// The first %u warps of a CTA cache what they load, the others do not.\n", pi);
    if (y->copies)
        buf_printf(&b,
                   "template <bool CACHES, class T> static __device__ __forceinline__ T "
                   "gpulocw_load%zu(const T *p)\n"
                   "{\n    return CACHES ? %s : %s(p);\n}%s",
                   w, caching, direct ? direct : own, y->asks ? "\n" : "");
    if (y->asks)
        buf_printf(
            &b,
            "template <class T> static __device__ __forceinline__ T gpulocw_warp_load%zu(const T *p)\n"
            "{\n"
            "    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * "
            "threadIdx.z);\n"
            "    return thread / 32 < %u ? %s : %s(p);\n}",
            w, pi, caching, direct ? direct : own);
    if (b.s && !b.oom)
        source_edit(l->h, f, cuda_helper_line(f), true, b.s);
    l->h->oom |= b.oom;
    buf_free(&b);
}

/* ---- one line ---- */
static bool same_place(const struct source_load *a, const struct source_load *b)
{
    return a->loc.file == b->loc.file && a->loc.line == b->loc.line;
}

/* Do other functions of the module load at that place? An edit would change them, too. */
static bool used_elsewhere(const struct source_editing *h, const struct source_load *a)
{
    const struct ptx_module *m = h->k->module;
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        for (uint32_t n = 0; !str_is(f->name, h->k->kernel) && n < f->ninsts; n++) {
            struct ptx_loc at = ptx_loc_of(f, &f->insts[n]);
            if (at.file == a->loc.file && at.line == a->loc.line)
                return true;
        }
    }
    return false;
}

/* The text of the outermost item of the file that the line belongs to. */
static void item_around(const struct source_file *f, uint32_t line, const char **from, const char **to)
{
    const char *at = f->line[line - 1].s, *end = f->text + strlen(f->text), *open = f->text;
    int depth = 0;
    for (const char *p = f->text; p < at; p++) {
        depth += (*p == '{') - (*p == '}');
        open = depth == 0 && strchr("};", *p) ? p + 1 : open;
    }
    const char *brace = memchr(open, '{', (size_t)(end - open));
    const char *shut = brace ? cuda_closed(brace, end, '{', '}') : NULL;
    *from = open;
    *to = shut ? shut : end;
}

/* The way that a reading of this name goes: of the loads of the line from that parameter, or of all loads
 * of the line. WAYS_MOST: it cannot be told. *as_it_is: no load of it changes. */
static size_t way_of_reading(struct loading *l, size_t first, struct str name, bool *as_it_is)
{
    struct source_editing *h = l->h;
    size_t way = WAYS_MOST, nall = 0, nchanged = 0;
    bool own = false;
    for (size_t i = 0; i < h->nloads; i++) {
        struct str p = h->load[i].param >= 0 ? cuda_param(l->d, (unsigned)h->load[i].param) : STR("");
        own |= same_place(&h->load[i], &h->load[first]) && !h->load[i].inlined && p.n && str_eq(p, name);
    }
    *as_it_is = false;
    for (size_t i = 0; i < h->nloads; i++) {
        const struct source_load *a = &h->load[i];
        struct str p = a->param >= 0 ? cuda_param(l->d, (unsigned)a->param) : STR("");
        if (!same_place(a, &h->load[first]) || (own && !(p.n && str_eq(p, name))))
            continue;
        nall++;
        nchanged += a->changed;
        size_t w = a->changed ? way_of(l, a) : WAYS_MOST;
        if (a->changed && way != WAYS_MOST && w != way)
            return WAYS_MOST;
        way = a->changed ? w : way;
    }
    *as_it_is = own && !nchanged;
    return nchanged == nall ? way : WAYS_MOST;
}

static void wrap(struct loading *l, struct str line, const struct reading *r, const size_t *way,
                 size_t n, bool inlined, struct buf *out)
{
    char call[64];
    for (size_t at = 0; at <= line.n; at++) {
        size_t skip = 1;
        for (size_t i = 0; i < n; i++)
            if (way[i] < WAYS_MOST && (r[i].update ? r[i].end : r[i].to) == at)
                buf_puts(out, ")");
        for (size_t i = 0; i < n; i++) {
            bool here = way[i] < WAYS_MOST && (r[i].update ? r[i].update : r[i].from) == at;
            if (!here)
                continue;
            call_of(l, way[i], inlined, call, sizeof call);
            if (!r[i].update) {
                buf_printf(out, "%s(&", call);
                continue;
            }
            buf_printf(out, "= %s(&%.*s) %c (", call, (int)(r[i].to - r[i].from), line.s + r[i].from,
                       line.s[at]);
            skip = 3; /* "+= " or "+=x": a blank more or less */
            skip -= line.s[at + 2] != ' ';
        }
        if (at < line.n && skip == 1)
            buf_put(out, line.s + at, 1);
        at += skip - 1;
    }
}

/* Is the line of load `first` edited, with all loads of it? */
static bool edit_line(struct loading *l, size_t first)
{
    struct source_editing *h = l->h;
    const struct source_load *a = &h->load[first];
    struct source_file *f = source_file_of(h, a->loc.file);
    struct reading r[READINGS_MOST];
    size_t n, way[READINGS_MOST], used = 0;
    const char *from, *to;
    struct str line = f && f->text && a->loc.line ? source_line(f, a->loc.line) : STR("");
    if (!line.n || !l->d || f != l->d->file || !readings(line, r, READINGS_MOST, &n) ||
        (a->inlined && used_elsewhere(h, a)))
        return false;
    item_around(f, a->loc.line, &from, &to);
    for (size_t i = 0; i < n; i++) {
        struct str name = { line.s + r[i].from, r[i].name };
        bool stays = !cuda_is_pointer(from, to, name);
        way[i] = stays ? WAYS_MOST : way_of_reading(l, first, name, &stays);
        if (way[i] == WAYS_MOST && !stays)
            return false;
        used += way[i] < WAYS_MOST;
    }
    struct buf now = { 0 };
    wrap(l, line, r, way, n, a->inlined, &now);
    if (used && now.s && !now.oom)
        source_edit(h, f, a->loc.line, false, now.s);
    h->oom |= now.oom;
    buf_free(&now);
    return used > 0;
}

/* ---- two copies ---- */
/* Can the kernel be written twice, as a template? Not where its copies would each have their own shared
 * memory, or where it is no plain function. */
static bool clonable(const struct source_editing *h, const struct cuda_kernel *d)
{
    struct str line = d->file->line[d->line - 1];
    const char *mark = cuda_word(line.s, line.s + line.n, "__global__");
    const char *head = line.s;
    while (head < line.s + line.n && isspace((unsigned char)*head))
        head++;
    bool plain = mark && (mark == head || (size_t)(mark - head) <= sizeof "extern \"C\" ");
    return plain && !memmem(line.s, line.n, "__launch_bounds__", 17) && !h->bounds_edited &&
           !cuda_word(d->body, d->end, "__shared__") && cuda_param(d, 0).n &&
           cuda_line_of(d->file, d->end - 1) != d->line &&
           !memmem(d->params, (size_t)(d->body - d->params), "=", 1) &&
           cuda_word(mark, line.s + line.n, d->name);
}

/* The kernel becomes NAME_body<bool>, and a new kernel behind it calls one of both copies. */
static void clone(struct source_editing *h, const struct cuda_kernel *d)
{
    struct str line = source_line(d->file, d->line);
    const char *name = cuda_word(line.s, line.s + line.n, d->name);
    uint32_t last = cuda_line_of(d->file, d->end - 1);
    struct buf head = { 0 }, tail = { 0 }, args = { 0 };
    buf_printf(&head,
               "template <bool gpulocw_caches> static __device__ __forceinline__ void %s_body%.*s",
               d->name, (int)(line.s + line.n - name) - (int)strlen(d->name), name + strlen(d->name));
    for (unsigned i = 0; cuda_param(d, i).n; i++)
        buf_printf(&args, "%s%.*s", i ? ", " : "", (int)cuda_param(d, i).n, cuda_param(d, i).s);
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
               "    if (gpulocw_thread / 32 < %u)\n        %s_body<true>(%s);\n    else\n        "
               "%s_body<false>(%s);\n}",
               h->k->code.knob[PASS_KNOB_PI], d->name, args.s ? args.s : "", d->name,
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

/* ---- what is said ---- */
/* "a and b": the changed loads of the line of load n. */
static void names_of(const struct loading *l, size_t n, struct buf *out)
{
    const struct source_editing *h = l->h;
    for (size_t i = n; i < h->nloads; i++) {
        const struct source_load *a = &h->load[i];
        struct str own = l->d && a->param >= 0 ? cuda_param(l->d, (unsigned)a->param) : STR("");
        struct str name = own.n      ? own
                          : a->array ? str_of(a->array)
                                     : STR("an address that is not known");
        if (!a->changed || !source_told_together(a, &h->load[n]) ||
            (out->s && memmem(out->s, out->n, name.s, name.n)))
            continue;
        buf_printf(out, "%s%.*s", out->n ? " and " : "", (int)name.n, name.s);
    }
}

static void say_line(const struct loading *l, size_t n, bool edited)
{
    struct source_editing *h = l->h;
    const struct source_load *a = &h->load[n];
    const struct source_file *f = source_file_of(h, a->loc.file);
    const char *function = function_of(a->op),
               *knob = opt_bypass(h->k->options)->level ? "bypass" : "readonly";
    struct buf names = { 0 }, how = { 0 };
    char loads[CUDA_NAME_MOST * 2];
    names_of(l, n, &names);
    source_load_words(h, n, names.s ? names.s : "", loads, sizeof loads);
    if (function)
        buf_printf(&how, "%s(&...)", function);
    else
        buf_printf(&how, "ld.global%s by inline assembly", a->op);
    if (h->partial)
        source_say(h, knob, f, a->loc.line, edited ? SOURCE_EDIT : SOURCE_WORDS,
                   "%s: the first %u warps of a CTA cache, the others use %s", loads,
                   h->k->code.knob[PASS_KNOB_PI], how.s ? how.s : "");
    else
        source_say(h, knob, f, a->loc.line, edited ? SOURCE_EDIT : SOURCE_WORDS, "%s: %s%s", loads,
                   how.s ? how.s : "",
                   strcmp(a->op, ".nc") == 0 ? ", or const ... *__restrict__ on that parameter" : "");
    h->oom |= names.oom || how.oom;
    buf_free(&names);
    buf_free(&how);
}

void cuda_loads(struct source_editing *h, const struct cuda_kernel *d)
{
    struct loading l = { .h = h, .d = d };
    bool any = false;
    l.cloned = h->partial && d && clonable(h, d);
    for (size_t i = 0; i < h->nloads; i++) {
        if (!h->load[i].changed || source_load_said(h, i))
            continue;
        bool edited = edit_line(&l, i);
        say_line(&l, i, edited);
        any |= edited;
    }
    for (size_t w = 0; any && w < l.nways; w++) {
        char own[32];
        snprintf(own, sizeof own, "gpulocw_ld%zu", w);
        if (!function_of(l.way[w].op))
            put_helper(&l, d->file, own, l.way[w].op);
        if (h->partial)
            put_select(&l, d->file, w);
    }
    if (any && l.cloned)
        clone(h, d);
}
