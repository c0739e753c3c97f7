/* Reading CUDA C++ without a compiler. */
#include "engine/workspace/source/cuda_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool cuda_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const char *cuda_word(const char *from, const char *end, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = from; p && p + n <= end; p++) {
        p = memmem(p, (size_t)(end - p), word, n);
        if (!p)
            return NULL;
        if ((p == from || !cuda_word_char(p[-1])) && (p + n == end || !cuda_word_char(p[n])))
            return p;
    }
    return NULL;
}

uint32_t cuda_line_of(const struct source_file *f, const char *p)
{
    uint32_t n = 1;
    for (const char *t = f->text; t < p; t++)
        n += *t == '\n';
    return n;
}

const char *cuda_closed(const char *p, const char *end, char open, char shut)
{
    int depth = 0;
    for (; p < end; p++) {
        depth += (*p == open) - (*p == shut);
        if (!depth)
            return p + 1;
    }
    return NULL;
}

struct str cuda_trimmed(struct str s)
{
    while (s.n && isspace((unsigned char)s.s[0]))
        s.s++, s.n--;
    while (s.n && isspace((unsigned char)s.s[s.n - 1]))
        s.n--;
    return s;
}

/* "scale" of "app::scale<float>(int)". */
static void base_name(const char *kernel, char out[CUDA_NAME_MOST])
{
    struct buf b = { 0 };
    ptx_readable(str_of(kernel), &b);
    const char *s = b.s ? b.s : kernel;
    size_t n = strcspn(s, "<(");
    const char *from = s;
    for (size_t i = 0; i < n; i++)
        from = s[i] == ':' || s[i] == ' ' ? s + i + 1 : from;
    snprintf(out, CUDA_NAME_MOST, "%.*s", (int)(s + n - from), from);
    buf_free(&b);
}

static bool define_in(struct source_file *f, struct cuda_kernel *d)
{
    const char *end = f->text ? f->text + strlen(f->text) : NULL;
    unsigned found = 0;
    for (const char *p = f->text; p && (p = cuda_word(p, end, d->name)); p += strlen(d->name)) {
        const char *q = p + strlen(d->name);
        q += strspn(q, " \t\n");
        const char *shut = *q == '(' ? cuda_closed(q, end, '(', ')') : NULL;
        const char *body = shut ? shut + strspn(shut, " \t\r\n") : NULL;
        const char *g = p;
        while (g > f->text && !strchr(";}#", g[-1]))
            g--;
        const char *mark = cuda_word(g, p, "__global__");
        if (!mark || !body || *body != '{')
            continue;
        found++;
        d->file = f;
        d->at = p;
        d->params = q + 1;
        d->body = body;
        d->end = cuda_closed(body, end, '{', '}');
        d->line = cuda_line_of(f, p);
    }
    return found == 1 && d->end;
}

bool cuda_define(struct source_editing *h, struct cuda_kernel *d)
{
    base_name(h->k->kernel, d->name);
    for (uint32_t i = 1; i < h->k->module->nfiles; i++) {
        struct source_file *f = source_file_of(h, i);
        if (f && define_in(f, d))
            return true;
    }
    return false;
}

uint32_t cuda_helper_line(const struct source_file *f)
{
    uint32_t at = 1;
    for (uint32_t l = 1; l <= f->nlines; l++) {
        struct str s = cuda_trimmed(f->line[l - 1]);
        if (s.n && *s.s != '#' && memchr(s.s, '{', s.n))
            break;
        if (s.n > 8 && memcmp(s.s, "#include", 8) == 0)
            at = l + 1;
    }
    return at <= f->nlines ? at : 1;
}

struct str cuda_param(const struct cuda_kernel *d, unsigned i)
{
    const char *p = d->params, *stop = d->body;
    int depth = 0;
    struct str name = STR("");
    for (unsigned at = 0; p < stop; p++) {
        depth += (strchr("([<", *p) != NULL) - (strchr(")]>", *p) != NULL);
        bool last = depth < 0, next = depth == 0 && *p == ',';
        if (cuda_word_char(*p) && (p == d->params || !cuda_word_char(p[-1])) && at == i) {
            name = (struct str){ p, 0 };
            while (cuda_word_char(p[name.n]))
                name.n++;
        }
        if (last || (next && at == i))
            return last && at < i ? STR("") : name;
        at += next;
    }
    return STR("");
}

/* Before p, without blanks and without this word. */
static const char *before_word(const char *from, const char *p, const char *word)
{
    size_t n = strlen(word);
    while (p > from && strchr(" \t", p[-1]))
        p--;
    if ((size_t)(p - from) > n && memcmp(p - n, word, n) == 0)
        for (p -= n; p > from && strchr(" \t", p[-1]);)
            p--;
    return p;
}

bool cuda_is_pointer(const char *from, const char *end, struct str name)
{
    char word[CUDA_NAME_MOST];
    snprintf(word, sizeof word, "%.*s", (int)name.n, name.s);
    for (const char *p = from; (p = cuda_word(p, end, word)); p += name.n) {
        const char *q = before_word(from, p, "__restrict__");
        const char *behind = p + name.n + strspn(p + name.n, " \t");
        if (q > from && q[-1] == '*' && strchr(",)=;", *behind))
            return true;
    }
    return false;
}

/* Is the function around p a kernel, by the last word of its kind before p? */
static bool in_a_kernel(const struct source_file *f, const char *p)
{
    const char *kernel = NULL, *device = NULL;
    for (const char *q = f->text; (q = cuda_word(q, p, "__global__")); q++)
        kernel = q;
    for (const char *q = f->text; (q = cuda_word(q, p, "__device__")); q++)
        device = q;
    return kernel && (!device || kernel > device);
}

bool cuda_others_say(const struct cuda_kernel *d, const char *word)
{
    const char *end = d->file->text + strlen(d->file->text);
    for (const char *p = d->file->text; (p = cuda_word(p, end, word)); p++)
        if ((p < d->body || p > d->end) && !in_a_kernel(d->file, p))
            return true;
    return false;
}

uint32_t cuda_launch_line(const struct cuda_kernel *d)
{
    uint32_t line = 0;
    const struct source_file *f = d->file;
    const char *end = f->text + strlen(f->text);
    for (const char *p = f->text; (p = cuda_word(p, end, d->name)); p += strlen(d->name)) {
        const char *q = p + strlen(d->name);
        q += strspn(q, " \t");
        if (strncmp(q, "<<<", 3) == 0) {
            if (line)
                return 0;
            line = cuda_line_of(f, p);
        }
    }
    return line;
}

/* ---- around a body ---- */
/* Is there nothing but blanks from p to the end of its line? */
static bool ends_line(const char *p)
{
    return strchr("\r\n", p[strspn(p, " \t")]) != NULL;
}

static bool begins_line(const char *text, const char *p)
{
    while (p > text && strchr(" \t", p[-1]))
        p--;
    return p == text || p[-1] == '\n';
}

/* The line of p with `text` put in at p. */
static void put_at(struct source_editing *h, struct source_file *f, const char *p, const char *text)
{
    uint32_t line = cuda_line_of(f, p);
    struct str old = f->line[line - 1];
    struct buf now = { 0 };
    buf_put(&now, old.s, (size_t)(p - old.s));
    buf_printf(&now, "\n%s\n", text);
    buf_put(&now, p, (size_t)(old.s + old.n - p));
    if (now.s && !now.oom)
        source_edit(h, f, line, false, now.s);
    h->oom |= now.oom;
    buf_free(&now);
}

bool cuda_wrap_body(struct source_editing *h, const struct cuda_kernel *d, const char *first,
                    const char *last)
{
    struct source_file *f = d->file;
    const char *shut = d->end - 1;
    uint32_t open = cuda_line_of(f, d->body), close = cuda_line_of(f, shut);
    if (last && open == close)
        return false; /* all on one line: two edits of it would not fit together */
    if (ends_line(d->body + 1))
        source_edit(h, f, open + 1, true, first);
    else
        put_at(h, f, d->body + 1, first);
    if (last && begins_line(f->text, shut))
        source_edit(h, f, close, true, last);
    else if (last)
        put_at(h, f, shut, last);
    return true;
}
