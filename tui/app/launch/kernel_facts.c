/* kernel_facts: see kernel_facts.h. */
#include "tui/app/launch/kernel_facts.h"

#include "engine/analysis/analysis.h"
#include "engine/container/container.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/work.h"

#include <string.h>

enum { MOST = 4096 };

struct facts_worker {
    struct work work;
    struct kernel_fact *v; /* [MOST]; names owned */
    atomic_size_t n;       /* filled: rows below it do not change any more */
    size_t next;           /* of the screen's thread: lists ask in the order of the rows */
};

static void clear(struct work *w)
{
    struct facts_worker *f = (struct facts_worker *)w;
    for (size_t i = 0; i < atomic_load(&f->n); i++)
        base_free((void *)(uintptr_t)f->v[i].name);
    base_free(f->v);
}

static unsigned count_loads(const struct ana_kernel *k)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *x = &k->access[i];
        bool global =
            x->space == PTX_SPACE_GLOBAL || x->space == PTX_SPACE_GENERIC || x->space == ANA_SPACE_COPY;
        n += global && !x->store && !x->prefetch;
    }
    return n;
}

static void add_kernel(struct facts_worker *f, const struct ptx_module *m, const struct ptx_func *k)
{
    struct ana_opts o = { .quick = true, .cancel = &f->work.cancel };
    struct ana_kernel *facts = NULL;
    size_t n = atomic_load(&f->n);
    char *name = base_alloc(k->name.n + 1);
    if (!name)
        return;
    memcpy(name, k->name.s, k->name.n);
    f->v[n] = (struct kernel_fact){ .name = name, .insts = k->ninsts };
    if (ana_run(m, k->name, &o, &facts, NULL) == ST_OK) {
        f->v[n].loads = count_loads(facts);
        f->v[n].cls = ana_class_name(facts->cls);
        ana_free(facts);
    }
    atomic_store(&f->n, n + 1);
}

static void add_module(struct facts_worker *f, const struct ptx_module *m)
{
    for (uint32_t i = 0; m && i < m->nfuncs; i++)
        if (m->funcs[i]->entry && atomic_load(&f->n) < MOST && !cancel_asked(&f->work.cancel))
            add_kernel(f, m, m->funcs[i]);
}

/* Every module of a program; a text that cannot be read has no rows. */
static void add_container(struct facts_worker *f, const char *path)
{
    struct container c = { 0 };
    struct container_want want = { .arch = NULL };
    struct diags none = { 0 };
    size_t *v = NULL, n = 0;
    bool ok =
        container_read(path, &c, &none) == ST_OK && container_choose(&c, &want, &v, &n, &none) == ST_OK;
    for (size_t i = 0; ok && i < n && !cancel_asked(&f->work.cancel); i++) {
        const struct container_module *text = &c.v[v[i]];
        struct ptx_module *m = NULL;
        if (text->text)
            ptx_parse(text->where, (struct str){ text->text, text->n }, &m, &none);
        add_module(f, m);
        ptx_free(m);
    }
    base_free(v);
    container_free(&c);
    diags_free(&none);
}

static bool make(struct work *w)
{
    struct facts_worker *f = (struct facts_worker *)w;
    const struct ptx_module *m = w->snap->module;
    if (!m || !(f->v = base_alloc(MOST * sizeof *f->v)))
        return false;
    if (m->path && container_is(m->path))
        add_container(f, m->path);
    else
        add_module(f, m);
    return true;
}

const struct kernel_fact *kernel_fact(struct app *a, const char *name)
{
    if (!a->kernel_facts && a->engine.hold && a->snap->module) {
        struct facts_worker *f = base_alloc(sizeof *f);
        if (f) {
            f->work.run = make;
            f->work.clear = clear;
            a->kernel_facts = work_start(&a->engine, &f->work);
        }
    }
    struct facts_worker *f = (struct facts_worker *)a->kernel_facts;
    size_t n = f ? atomic_load(&f->n) : 0;
    for (size_t k = 0; k < n; k++) {
        size_t i = (f->next + k) % n;
        if (!strcmp(f->v[i].name, name)) {
            f->next = i + 1;
            return &f->v[i];
        }
    }
    return NULL;
}
