/* Another layout of shared memory in CUDA C++: t[32][33] where a gap behind each row of the array is all
 * there is to it; else the array becomes a class whose subscripts find the place, and the rest of the
 * kernel stays as it is. */
#include "engine/rec/opt_shared.h"
#include "engine/workspace/source/cuda_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct array { /* __shared__ TYPE A[D0][D1]..., B[D0][D1]...; of one line */
    uint32_t line;
    struct str type, name, dims; /* of the first; dims: "[32][32]" */
    struct str all;              /* from the first name to before the ';' */
    unsigned ndims, names;
};

/* One NAME[D0][D1]... at p; behind it, or NULL: another form. */
static const char *declarator(const char *p, const char *stop, struct str *name, struct str *dims,
                              unsigned *ndims)
{
    p += strspn(p, " \t");
    *name = (struct str){ p, 0 };
    while (p < stop && cuda_word_char(*p))
        p++, name->n++;
    p += strspn(p, " \t");
    *dims = (struct str){ p, 0 };
    *ndims = 0;
    while (p && p < stop && *p == '[') {
        p = cuda_closed(p, stop, '[', ']');
        *ndims += 1;
        dims->n = p ? (size_t)(p - dims->s) : 0;
    }
    return name->n && *ndims ? p : NULL;
}

/* The declaration that begins at p with __shared__; false: another form of one. */
static bool array_at(const struct cuda_kernel *d, const char *p, struct array *a)
{
    const char *stop = memchr(p, ';', (size_t)(d->end - p));
    const char *q = p + strlen("__shared__"), *open = stop ? memchr(q, '[', (size_t)(stop - q)) : NULL;
    if (!open || memchr(p, '\n', (size_t)(stop - p)) || cuda_word(q, stop, "volatile"))
        return false;
    struct str head = cuda_trimmed((struct str){ q, (size_t)(open - q) }), name, dims;
    size_t n = head.n;
    unsigned ndims;
    while (n && cuda_word_char(head.s[n - 1]))
        n--;
    a->line = cuda_line_of(d->file, p);
    a->type = cuda_trimmed((struct str){ head.s, n });
    a->all = (struct str){ head.s + n, (size_t)(stop - (head.s + n)) };
    a->names = 1;
    const char *at = declarator(a->all.s, stop, &a->name, &a->dims, &a->ndims);
    for (; at && at < stop && *at == ','; a->names++) {
        at = declarator(at + 1, stop, &name, &dims, &ndims);
        at = at && str_eq(dims, a->dims) ? at : NULL;
    }
    return at == stop && a->type.n && !memchr(a->type.s, ',', a->type.n);
}

/* The value of a dimension: a number, or a name that the file defines as one. 0: not told. */
static uint64_t value_of(const struct source_file *f, struct str s)
{
    char word[CUDA_NAME_MOST];
    const char *end = f->text + strlen(f->text);
    s = cuda_trimmed(s);
    snprintf(word, sizeof word, "%.*s", (int)s.n, s.s);
    if (isdigit((unsigned char)*word))
        return word[strspn(word, "0123456789")] ? 0 : strtoull(word, NULL, 10);
    for (const char *p = f->text; s.n && (p = cuda_word(p, end, word)); p += s.n) {
        const char *q = p + s.n + strspn(p + s.n, " \t");
        bool macro = p - f->text > 8 && memcmp(p - 8, "#define ", 8) == 0;
        q += *q == '=' ? 1 + strspn(q + 1, " \t") : 0;
        if ((macro || q[-1] == ' ' || q[-1] == '=') && isdigit((unsigned char)*q))
            return strtoull(q, NULL, 10);
    }
    return 0;
}

static unsigned bytes_of(struct str type)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } types[] = { { "float", 4 },    { "int", 4 },       { "unsigned", 4 }, { "unsigned int", 4 },
                  { "double", 8 },   { "float2", 8 },    { "float4", 16 },  { "half", 2 },
                  { "__half", 2 },   { "int4", 16 },     { "uint32_t", 4 }, { "int32_t", 4 },
                  { "uint64_t", 8 }, { "long long", 8 }, { "char", 1 },     { "unsigned char", 1 } };
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(type, types[i].name))
            return types[i].bytes;
    return 0;
}

/* The last dimension widened by the gap, where rows of the array are rows of the rewrite. */
static bool widen(struct source_editing *h, const struct cuda_kernel *d, const struct array *a)
{
    const struct pass_meaning *m = &h->k->code.meaning;
    unsigned bytes = bytes_of(a->type);
    const char *open = memrchr(a->dims.s, '[', a->dims.n);
    struct str last = { open + 1, (size_t)(a->dims.s + a->dims.n - 1 - (open + 1)) };
    if (a->ndims < 2 || a->names > 1 || !bytes || m->pad_gap % bytes ||
        value_of(d->file, last) * bytes != m->pad_row)
        return false;
    struct str line = source_line(d->file, a->line), number = cuda_trimmed(last);
    struct buf now = { 0 };
    bool digits = isdigit((unsigned char)*number.s);
    size_t before = (size_t)(open + 1 - d->file->line[a->line - 1].s);
    buf_put(&now, line.s, before);
    if (digits)
        buf_printf(&now, "%llu", (unsigned long long)(m->pad_row + m->pad_gap) / bytes);
    else
        buf_printf(&now, "%.*s + %u", (int)number.n, number.s, m->pad_gap / bytes);
    buf_put(&now, line.s + before + last.n, line.n - before - last.n);
    if (now.s && !now.oom)
        source_edit(h, d->file, a->line, false, now.s);
    h->oom |= now.oom;
    buf_free(&now);
    return true;
}

/* "gpulocw_array<float, (32), (32)> t;" for "float t[32][32];". */
static void replace(struct source_editing *h, const struct cuda_kernel *d, const struct array *a)
{
    struct str line = d->file->line[a->line - 1];
    struct buf now = { 0 };
    buf_put(&now, line.s, (size_t)(a->type.s - line.s));
    buf_printf(&now, "gpulocw_array<%.*s", (int)a->type.n, a->type.s);
    for (const char *p = a->dims.s; p < a->dims.s + a->dims.n;) {
        const char *shut = cuda_closed(p, a->dims.s + a->dims.n, '[', ']');
        buf_printf(&now, ", (%.*s)", (int)(shut - p - 2), p + 1);
        p = shut;
    }
    buf_puts(&now, "> ");
    for (const char *p = a->all.s; p < a->all.s + a->all.n; p++)
        if (*p == '[')
            p = cuda_closed(p, a->all.s + a->all.n, '[', ']') - 1;
        else
            buf_put(&now, p, 1);
    const char *behind = a->all.s + a->all.n;
    buf_put(&now, behind, (size_t)(line.s + line.n - behind));
    if (now.s && !now.oom)
        source_edit(h, d->file, a->line, false, now.s);
    h->oom |= now.oom;
    buf_free(&now);
}

static void place_text(const struct pass_meaning *m, struct buf *b)
{
    unsigned bits = 7;
    if (m->pad_row) {
        buf_printf(b,
                   "// Arrays in shared memory with a gap of %u bytes behind each %u.\n"
                   "static __device__ __forceinline__ char *gpulocw_place(char *p, unsigned byte)\n"
                   "{\n    return p + byte + byte / %u * %u;\n}\n",
                   m->pad_gap, m->pad_row, m->pad_row, m->pad_gap);
        return;
    }
    for (unsigned u = m->swizzle_unit; u > 1; u >>= 1)
        bits--;
    buf_printf(b,
               "// Arrays in shared memory whose words stand in another bank in each row of 128 bytes.\n"
               "static __device__ __forceinline__ char *gpulocw_place(char *p, unsigned byte)\n"
               "{\n"
               "    unsigned a = (unsigned)__cvta_generic_to_shared(p + byte);\n"
               "    return p + (byte + (a ^ ((a >> %u ^ a >> %u) & %u)) - a);\n}\n",
               bits, 2 * bits, 128 - m->swizzle_unit);
}

static void class_text(const struct pass_meaning *m, struct buf *b)
{
    place_text(m, b);
    buf_puts(
        b,
        "template <class T, unsigned... N> struct gpulocw_rows;\n"
        "template <class T, unsigned N> struct gpulocw_rows<T, N> {\n"
        "    char *p;\n    unsigned first;\n"
        "    __device__ __forceinline__ T &operator[](unsigned i) const\n"
        "    {\n        return *(T *)gpulocw_place(p, (first + i) * (unsigned)sizeof(T));\n    }\n};\n"
        "template <class T, unsigned N, unsigned M, unsigned... R> struct gpulocw_rows<T, N, M, R...> "
        "{\n"
        "    char *p;\n    unsigned first;\n"
        "    __device__ __forceinline__ gpulocw_rows<T, M, R...> operator[](unsigned i) const\n"
        "    {\n        return { p, (first + i) * M };\n    }\n};\n"
        "template <class T, unsigned N, unsigned... M> struct gpulocw_count {\n"
        "    static constexpr unsigned bytes = N * gpulocw_count<T, M...>::bytes;\n};\n"
        "template <class T, unsigned N> struct gpulocw_count<T, N> {\n"
        "    static constexpr unsigned bytes = N * sizeof(T);\n};\n"
        "template <class T, unsigned... N> struct gpulocw_array {\n"
        "    static constexpr unsigned bytes = gpulocw_count<T, N...>::bytes;\n");
    if (m->pad_row)
        buf_printf(b, "    alignas(128) char all[bytes + (bytes - 1) / %u * %u];\n", m->pad_row,
                   m->pad_gap);
    else
        buf_puts(b, "    alignas(128) char all[(bytes + 127) / 128 * 128];\n");
    buf_puts(b, "    template <class I> __device__ __forceinline__ decltype(auto) operator[](I i)\n"
                "    {\n        return gpulocw_rows<T, N...>{ all, 0 }[i];\n    }\n};");
}

/* Every array of the kernel; false: one has another form, and nothing was edited. */
static bool edit_arrays(struct source_editing *h, const struct cuda_kernel *d, struct array *one)
{
    enum { MOST = 16 };
    struct array a[MOST];
    size_t n = 0;
    for (const char *p = d->body; (p = cuda_word(p, d->end, "__shared__")); p++)
        if (n == MOST || !array_at(d, p, &a[n++]))
            return false;
    for (size_t i = 1; i < n; i++)
        if (a[i].line == a[i - 1].line)
            return false;
    *one = n ? a[0] : *one;
    if (!n || (n == 1 && h->k->code.meaning.pad_row && widen(h, d, &a[0])))
        return n != 0;
    struct buf helper = { 0 };
    class_text(&h->k->code.meaning, &helper);
    for (size_t i = 0; i < n; i++)
        replace(h, d, &a[i]);
    source_edit(h, d->file, cuda_helper_line(d->file), true, helper.s ? helper.s : "");
    h->oom |= helper.oom;
    buf_free(&helper);
    return true;
}

void cuda_shared(struct source_editing *h, const struct cuda_kernel *d)
{
    const struct pass_meaning *m = &h->k->code.meaning;
    struct array one = { .line = d ? d->line : 0 };
    const struct opt_shared *o = opt_shared(h->k->options);
    if (!o->pad && !o->swizzle)
        return;
    /* both at once: one place of the other's place */
    bool edited = d && (m->pad_row != 0) != (m->swizzle_unit != 0) && edit_arrays(h, d, &one);
    enum source_form form = edited ? SOURCE_EDIT : SOURCE_WORDS;
    if (o->pad)
        source_say(h, "smem-pad", d ? d->file : NULL, one.line, form,
                   "%.*s%sa gap of %u bytes behind each %u of shared memory", (int)one.name.n,
                   one.name.n ? one.name.s : "", one.name.n ? ": " : "", m->pad_gap, m->pad_row);
    if (o->swizzle)
        source_say(h, "swizzle-shared", d ? d->file : NULL, one.line, form,
                   "%.*s%swords of shared memory in other banks, row by row", (int)one.name.n,
                   one.name.n ? one.name.s : "", one.name.n ? ": " : "");
}
