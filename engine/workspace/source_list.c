/* What is in a file: modules, kernels and parameters, without parsing bodies. */
#include "engine/container/container.h"
#include "engine/ptx/ptx.h"
#include "engine/session/document.h"
#include "engine/workspace/source.h"

#include <stdio.h>
#include <string.h>

/* ---- a text ---- */
/* Over white space and comments. */
static size_t skip(const char *t, size_t n, size_t at)
{
    for (;;) {
        while (at < n && strchr(" \t\r\n", t[at]))
            at++;
        if (at + 1 < n && t[at] == '/' && t[at + 1] == '/') {
            const char *end = memchr(t + at, '\n', n - at);
            at = end ? (size_t)(end - t) : n;
        } else if (at + 1 < n && t[at] == '/' && t[at + 1] == '*') {
            const char *end = memmem(t + at + 2, n - at - 2, "*/", 2);
            at = end ? (size_t)(end - t) + 2 : n;
        } else {
            return at;
        }
    }
}

/* The next ".entry" that is a word of its own and stands in no comment; n: there is none. Comments that
 * hold the word are rare: only the line is looked at, and whether a block comment is open. */
static size_t next_entry(const char *t, size_t n, size_t at)
{
    static const char word[] = ".entry";
    for (const char *p; (p = memmem(t + at, n - at, word, sizeof word - 1));) {
        size_t k = (size_t)(p - t), line = k;
        while (line && t[line - 1] != '\n')
            line--;
        bool commented = memmem(t + line, k - line, "//", 2) != NULL;
        at = k + sizeof word - 1;
        if (!commented && at < n && strchr(" \t\r\n", t[at]))
            return at;
    }
    return n;
}

static void head_word(const char *t, size_t n, const char *word, char *out, size_t most)
{
    size_t at = 0;
    const char *p = memmem(t, n < 65536 ? n : 65536, word, strlen(word));
    if (!p)
        return;
    for (p += strlen(word); p < t + n && (*p == ' ' || *p == '\t'); p++) {}
    for (; p < t + n && !strchr(" \t\r\n,", *p) && at + 1 < most; p++)
        out[at++] = *p;
    out[at] = 0;
}

/* The signature alone, parsed by the front end: offsets and sizes are its. */
static bool take_params(struct source_kernel *k, const struct source_listing *l, struct str params)
{
    struct buf b = { 0 };
    struct diags none = { 0 };
    struct ptx_module *m = NULL;
    buf_printf(&b, ".version %s\n.target %s\n.address_size 64\n.visible .entry k(", l->version,
               l->target);
    buf_str(&b, params);
    buf_puts(&b, ") { ret; }\n");
    if (!b.oom)
        ptx_parse("signature", (struct str){ b.s, b.n }, &m, &none);
    const struct ptx_func *f = m && m->nfuncs ? m->funcs[0] : NULL;
    if (f && f->nparams)
        k->param = base_alloc(f->nparams * sizeof *k->param);
    for (uint32_t i = 0; k->param && i < f->nparams; i++)
        k->param[k->nparams++] =
            (struct source_param){ f->params[i]->offset, f->params[i]->bytes,
                                   ptx_type_name((enum ptx_type)f->params[i]->type) };
    bool good = !b.oom && (!f || !f->nparams || k->param);
    ptx_free(m);
    diags_free(&none);
    buf_free(&b);
    return good;
}

static bool add_kernel(struct source_listing *l, const char *t, size_t n, size_t *at)
{
    size_t from = skip(t, n, *at), to = from;
    while (to < n && !strchr(" \t\r\n({.;", t[to]))
        to++;
    struct buf name = { 0 };
    buf_put(&name, t + from, to - from);
    if (!base_grow((void **)&l->kernel, l->n, &l->cap, sizeof *l->kernel)) {
        buf_free(&name);
        return false;
    }
    struct source_kernel *k = &l->kernel[l->n++];
    *k = (struct source_kernel){ .name = buf_take(&name) };
    size_t open = skip(t, n, to);
    const char *close = open < n && t[open] == '(' ? memchr(t + open, ')', n - open) : NULL;
    *at = to;
    return k->name &&
           (!close || take_params(k, l, (struct str){ t + open + 1, (size_t)(close - t) - open - 1 }));
}

bool source_list(const char *text, size_t n, struct source_listing *out)
{
    bool good = true;
    *out = (struct source_listing){ .n = 0 };
    head_word(text, n, ".version", out->version, sizeof out->version);
    head_word(text, n, ".target", out->target, sizeof out->target);
    for (size_t at = 0; good && (at = next_entry(text, n, at)) < n;)
        good = add_kernel(out, text, n, &at);
    if (!good)
        source_listing_free(out);
    return good;
}

void source_listing_free(struct source_listing *l)
{
    for (size_t i = 0; i < l->n; i++) {
        BASE_FREE(l->kernel[i].name, l->kernel[i].param);
    }
    base_free(l->kernel);
    *l = (struct source_listing){ .n = 0 };
}

/* ---- JSON ---- */
static void put_readable(struct jw *w, const char *name)
{
    struct buf b = { 0 };
    ptx_readable(str_of(name), &b);
    jw_put_str(w, "readable", b.s ? b.s : name);
    buf_free_checked(&b, w->out);
}

static void put_param(struct jw *w, const struct source_param *p)
{
    jw_obj(w);
    jw_put_uint(w, "offset", p->offset);
    jw_put_uint(w, "size", p->size);
    jw_put_str(w, "type", p->type);
    jw_end_obj(w);
}

static void put_kernel(struct jw *w, const char *name, const struct source_kernel *k, const char *why)
{
    jw_obj(w);
    jw_put_str(w, "name", name);
    put_readable(w, name);
    jw_key(w, "params");
    if (k) {
        jw_arr(w);
        for (size_t i = 0; i < k->nparams; i++)
            put_param(w, &k->param[i]);
        jw_end_arr(w);
    } else {
        jw_null(w);
    }
    jw_put_bool(w, "ptx", k != NULL);
    jw_put_str(w, "why", why);
    jw_end_obj(w);
}

/* "sm_90a"; "" where it is not stored. */
static void target_of(const struct container_module *m, const struct source_listing *l, char *out,
                      size_t most)
{
    char variant[2] = { m->variant, 0 };
    if (l->target[0])
        snprintf(out, most, "%s", l->target);
    else if (m->sm)
        snprintf(out, most, "sm_%u%s", m->sm, variant);
    else
        *out = 0;
}

static void put_module(struct jw *w, const struct container_module *m)
{
    struct source_listing l = { .n = 0 };
    char target[64];
    bool known = !m->text || source_list(m->text, m->n, &l);
    w->out->oom = w->out->oom || !known;
    target_of(m, &l, target, sizeof target);
    jw_obj(w);
    jw_put_str(w, "where", m->where);
    jw_put_str(w, "kind", container_kind_names[m->kind]);
    jw_put_str(w, "ptx_version", l.version[0] ? l.version : NULL);
    jw_put_str(w, "target", target[0] ? target : NULL);
    jw_put_str(w, "options", m->options);
    jw_put_str(w, "object", m->object);
    jw_put_uint(w, "bytes", m->bytes);
    jw_put_str(w, "why", m->why);
    jw_key(w, "kernels");
    if (m->unlooked) {
        jw_null(w);
    } else {
        jw_arr(w);
        for (size_t i = 0; i < l.n; i++)
            put_kernel(w, l.kernel[i].name, &l.kernel[i], NULL);
        for (size_t i = 0; i < m->nkernels; i++)
            put_kernel(w, m->kernel[i], NULL, m->why);
        jw_end_arr(w);
    }
    jw_end_obj(w);
    source_listing_free(&l);
}

void source_list_json(const struct container *c, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-list", 2);
    jw_put_arr(&w, "modules");
    for (size_t i = 0; i < c->n; i++)
        put_module(&w, &c->v[i]);
    jw_end_arr(&w);
    document_close(&w);
}

/* ---- text ---- */
static void put_name(const char *name, struct buf *out)
{
    buf_puts(out, "    ");
    ptx_readable(str_of(name), out);
}

void source_list_text(const struct container *c, struct buf *out)
{
    size_t with = 0, without = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct container_module *m = &c->v[i];
        struct source_listing l = { .n = 0 };
        char target[64];
        out->oom = out->oom || (m->text && !source_list(m->text, m->n, &l));
        target_of(m, &l, target, sizeof target);
        buf_printf(out, "%s: %s %s, %llu bytes%s%s%s%s\n", m->where, container_kind_names[m->kind],
                   target, (unsigned long long)m->bytes, m->options ? ", compiled with " : "",
                   m->options ? m->options + strspn(m->options, " ") : "", m->why ? "; " : "",
                   m->why ? m->why : "");
        for (size_t k = 0; k < l.n; k++) {
            put_name(l.kernel[k].name, out);
            buf_printf(out, "  (%zu parameters)\n", l.kernel[k].nparams);
        }
        for (size_t k = 0; k < m->nkernels; k++) {
            put_name(m->kernel[k], out);
            buf_puts(out, "  no PTX\n");
        }
        if (m->unlooked)
            buf_puts(out, "    kernels not listed: it is compressed\n");
        with += l.n;
        without += m->nkernels;
        source_listing_free(&l);
    }
    buf_printf(out, "%zu module%s: %zu kernels with PTX, %zu in machine code\n", c->n,
               c->n == 1 ? "" : "s", with, without);
}
