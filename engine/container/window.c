/* A window of a file or of memory, and the modules that are kept of it: what the readers of all formats
 * share. */
#include "engine/base/io.h"
#include "engine/container/container_int.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

const char *const container_kind_names[] = { "ptx", "cubin", "lto-ir" };

bool window_read(const struct window *w, uint64_t at, void *to, size_t n)
{
    if (at > w->n || n > w->n - at)
        return false;
    if (w->fd < 0) {
        memcpy(to, w->data + at, n);
        return true;
    }
    for (size_t got = 0; got < n;) {
        ssize_t k = base_pread(w->fd, (char *)to + got, n - got, (off_t)(w->at + at + got));
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        got += (size_t)k;
    }
    return true;
}

struct window window_part(const struct window *w, uint64_t at, uint64_t n)
{
    struct window p = *w;
    bool inside = at <= w->n && n <= w->n - at;
    p.n = inside ? n : 0;
    p.at = w->at + (inside ? at : 0);
    p.data = w->data && inside ? w->data + at : w->data;
    return p;
}

uint16_t window_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

uint32_t window_u32(const uint8_t *p)
{
    return (uint32_t)window_u16(p) | (uint32_t)window_u16(p + 2) << 16;
}

uint64_t window_u64(const uint8_t *p)
{
    return (uint64_t)window_u32(p) | (uint64_t)window_u32(p + 4) << 32;
}

struct container_module *reading_add(struct reading *r, enum container_kind kind)
{
    struct container *c = r->out;
    struct buf where = { 0 };
    if (c->n == CONTAINER_MOST_MODULES) {
        diag_hint(diag_add(r->ds, DIAG_ERROR, "container", r->path, NO_SPAN,
                           "more than %d modules: over the limit", CONTAINER_MOST_MODULES),
                  "open a part of it: an object file, or a smaller library");
        r->full = true;
        return NULL;
    }
    if (!base_grow((void **)&c->v, c->n, &c->cap, sizeof *c->v))
        return NULL;
    buf_printf(&where, "%s%s%s%s", r->path, r->inside ? "(" : "", r->inside ? r->inside : "",
               r->inside ? ")" : "");
    struct container_module *m = &c->v[c->n++];
    *m = (struct container_module){ .kind = kind, .group = r->groups, .where = buf_take(&where) };
    return m->where ? m : NULL;
}

enum status reading_stopped(const struct reading *r)
{
    return r->full ? ST_REFUSED : ST_NOMEM;
}

enum status reading_damaged(struct reading *r, const char *what)
{
    if (!r->damaged)
        diag_add(r->ds, DIAG_ERROR, "container", r->path, NO_SPAN, "damaged%s%s: %s",
                 r->inside ? " at " : "", r->inside ? r->inside : "", what);
    r->damaged = true;
    return ST_INPUT;
}

void module_text(struct container_module *m, char *text, size_t n)
{
    size_t from = 0;
    while (n && text[n - 1] == 0)
        n--;
    while (from < n && (text[from] == '\n' || text[from] == '\r'))
        from++;
    memmove(text, text + from, n - from);
    text[n - from] = 0;
    m->text = text;
    m->n = n - from;
    m->bytes = n - from;
}

void container_free(struct container *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct container_module *m = &c->v[i];
        for (size_t k = 0; k < m->nkernels; k++)
            base_free(m->kernel[k]);
        BASE_FREE(m->kernel, m->where, m->object, m->options, m->text, m->why);
    }
    base_free(c->v);
    *c = (struct container){ .n = 0 };
}
