/* The module for one GPU among those of the same code. */
#include "engine/container/container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PTX for sm_N runs on N and later; an `a` target on N alone, an `f` target on N's family (same tens).
 * The higher the better; 0: it does not run. */
static unsigned fits(const struct container_module *m, const struct container_want *w)
{
    if (m->kind != CONTAINER_PTX || !m->text)
        return 0;
    if (!w->cc)
        return 1 + 4 * m->sm + (m->variant ? 0 : 2);
    if (m->sm > w->cc || (m->variant == 'a' && m->sm != w->cc) ||
        (m->variant == 'f' && m->sm / 10 != w->cc / 10))
        return 0;
    return 1 + 4 * m->sm + (m->variant == 'a' ? 2 : m->variant == 'f' ? 1 : 0);
}

/* "sm_90a", "compute_90a" or "90a" against a module. */
static bool is_arch(const struct container_module *m, const char *arch)
{
    const char *digits = strpbrk(arch, "0123456789");
    char *end = NULL;
    unsigned long sm = digits ? strtoul(digits, &end, 10) : 0;
    return m->kind == CONTAINER_PTX && m->text && sm == m->sm && *end == m->variant;
}

static void put_arch(struct buf *b, const struct container_module *m)
{
    char name[32];
    snprintf(name, sizeof name, "sm_%u%c", m->sm, m->variant ? m->variant : ' ');
    name[strcspn(name, " ")] = 0;
    if (!b->s || !strstr(b->s, name))
        buf_printf(b, "%s%s", b->n ? ", " : "", name);
}

static void say_none(const struct container *c, const struct container_want *w, struct diags *ds)
{
    struct buf there = { 0 };
    size_t ptx = 0, other = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (c->v[i].kind == CONTAINER_PTX && c->v[i].text)
            put_arch(&there, &c->v[i]);
        ptx += c->v[i].kind == CONTAINER_PTX;
        other += c->v[i].kind != CONTAINER_PTX;
    }
    struct diag *d;
    if (!ptx) {
        d = diag_add(ds, DIAG_ERROR, "no-ptx", c->v[0].where, NO_SPAN,
                     "no PTX in it, only machine code (SASS) or LTO-IR (modules: %zu)", other);
        diag_hint(d, "compile with PTX, nvcc -gencode arch=compute_90,code=compute_90; a library that a "
                     "program lacks is linked on a GPU when GPULOCW_LINK names it");
    } else {
        d = diag_add(ds, DIAG_ERROR, "arch", c->v[0].where, NO_SPAN, "no PTX that %s%s",
                     w->arch ? "is of " : "the device could run", w->arch ? w->arch : "");
        diag_hint(d, "there is PTX for %s; --arch chooses, --device names the GPU",
                  there.s ? there.s : "none");
    }
    buf_free(&there);
}

enum status container_choose(const struct container *c, const struct container_want *w, size_t **out,
                             size_t *n, struct diags *ds)
{
    size_t *v = base_alloc((c->n + 1) * sizeof *v);
    *out = v;
    *n = 0;
    if (!v)
        return ST_NOMEM;
    for (size_t i = 0; i < c->n; i++) {
        const struct container_module *m = &c->v[i];
        unsigned score = w->arch ? is_arch(m, w->arch) : fits(m, w);
        struct container_module *best = *n ? &c->v[v[*n - 1]] : NULL;
        if (!score)
            continue;
        /* entries of one fatbin follow each other */
        if (best && best->group == m->group) {
            if (score > (w->arch ? 1 : fits(best, w)))
                v[*n - 1] = i;
        } else {
            v[(*n)++] = i;
        }
    }
    if (*n)
        return ST_OK;
    say_none(c, w, ds);
    return ST_INPUT;
}
