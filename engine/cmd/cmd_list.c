/* list: the modules and kernels of a file. */
#include "engine/cmd/cmd_int.h"
#include "engine/container/container.h"
#include "engine/workspace/args.h"
#include "engine/workspace/source.h"

#include <string.h>

/* A name that a NUL byte cuts off would be shown as another one. */
static enum status refuse_nul(const char *path, const char *text, size_t n, struct diags *ds)
{
    const char *at = memchr(text, 0, n);
    struct span place = { 0, 1, 1, 1 };
    if (!at)
        return ST_OK;
    for (const char *p = text; p < at; p++) {
        place.col = *p == '\n' ? 1 : place.col + 1;
        place.line += *p == '\n';
    }
    place.off = (uint32_t)(at - text);
    diag_add(ds, DIAG_ERROR, "ptx-syntax", path, place, "a NUL byte stands in the text");
    return ST_INPUT;
}

/* A PTX text or compiled CUDA source as a container of one. */
static enum status one_text(const struct args *a, const char *path, struct container *c,
                            struct diags *ds)
{
    struct source_want w = source_wanted(a);
    char *text = NULL;
    size_t n = 0;
    enum status st = source_is_cuda(path) ? source_compile(path, &w, &text, &n, ds)
                                          : file_read_regular(path, CONTAINER_MOST_TEXT, &text, &n, ds);
    if (st == ST_OK && (st = refuse_nul(path, text, n, ds)) != ST_OK)
        base_free(text);
    *c = (struct container){ .v = st == ST_OK ? base_alloc(sizeof *c->v) : NULL };
    if (st != ST_OK)
        return st;
    if (!c->v) {
        base_free(text);
        return ST_NOMEM;
    }
    c->n = c->cap = 1;
    c->v[0] = (struct container_module){
        .kind = CONTAINER_PTX, .where = base_strdup(path), .text = text, .n = n, .bytes = n
    };
    return c->v[0].where ? ST_OK : ST_NOMEM;
}

/* Modules of all files in one list. */
static enum status join(struct container *all, struct container *more)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < more->n && st == ST_OK; i++)
        if (base_grow((void **)&all->v, all->n, &all->cap, sizeof *all->v)) {
            all->v[all->n++] = more->v[i];
            more->v[i] = (struct container_module){ .kind = CONTAINER_PTX };
        } else {
            st = ST_NOMEM;
        }
    container_free(more);
    return st;
}

int cmd_list(struct args *a)
{
    struct diags ds = { 0 };
    struct container all = { .n = 0 };
    struct buf out = { 0 };
    enum status st = a->nfiles ? ST_OK : ST_USAGE;
    if (!a->nfiles)
        diag_error(&ds, "usage", "no file given");
    for (size_t i = 0; i < a->nfiles && st == ST_OK; i++) {
        struct container c = { .n = 0 };
        st = container_is(a->file[i]) ? container_read(a->file[i], &c, &ds)
                                      : one_text(a, a->file[i], &c, &ds);
        enum status joined = join(&all, &c);
        st = st == ST_OK ? joined : st;
    }
    if (st == ST_OK) {
        if (a->json)
            source_list_json(&all, &out);
        else
            source_list_text(&all, &out);
        cmd_put(a, &out);
    }
    buf_free(&out);
    container_free(&all);
    return cmd_finish(a, st, &ds);
}
