/* kernels: the kernels of the open file as a list to choose from: its launches, kernels without one, and
 * of a program, library or fatbin those of every module. Such a file is read on a thread of its own. */
#include "engine/container/container.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch.h"
#include "engine/session/launch_file.h"
#include "engine/workspace/snapshot.h"
#include "engine/workspace/source.h"
#include "tui/app/app.h"
#include "tui/app/launch/kernel_facts.h"
#include "tui/app/launch/kernels.h"
#include "tui/app/page.h"
#include "tui/app/post.h"
#include "tui/app/work.h"
#include "tui/base/text.h"

#include <stdio.h>
#include <string.h>

/* Items of the list: a launch, a function of the open module, a kernel of another. */
enum { ITEM_FUNC = 1 << 16, ITEM_LISTED = 1 << 24, LISTED_MOST = 4096 };

struct listed {
    char *name, *where; /* owned; where: its module, "app, fatbin 2, entry 1" */
    size_t params;
    bool code; /* machine code alone: it cannot be opened */
};
struct kernels_worker {
    struct work work;
    struct listed *v; /* owned */
    size_t n, cap;
};

/* ---- the work ---- */
static void clear(struct work *w)
{
    struct kernels_worker *k = (struct kernels_worker *)w;
    for (size_t i = 0; i < k->n; i++) {
        BASE_FREE(k->v[i].name, k->v[i].where);
    }
    base_free(k->v);
}

static bool add(struct kernels_worker *k, const char *name, const char *where, size_t params, bool code)
{
    if (!base_grow((void **)&k->v, k->n, &k->cap, sizeof *k->v))
        return false;
    struct listed *x = &k->v[k->n++];
    *x = (struct listed){ base_strdup(name), base_strdup(where), params, code };
    return x->name && x->where;
}

static bool add_module(struct kernels_worker *k, const struct container_module *m)
{
    struct source_listing l;
    bool ok = m->text && source_list(m->text, m->n, &l);
    for (size_t i = 0; ok && i < l.n; i++)
        ok = add(k, l.kernel[i].name, m->where, l.kernel[i].nparams, false);
    if (m->text)
        source_listing_free(&l);
    return ok;
}

/* What has PTX, or machine code for another GPU, is no news as machine code. */
static bool has(const struct kernels_worker *k, const char *name)
{
    bool found = false;
    for (size_t i = 0; !found && i < k->n; i++)
        found = !strcmp(k->v[i].name, name);
    return found;
}

static bool make(struct work *w)
{
    struct kernels_worker *k = (struct kernels_worker *)w;
    const char *path = w->snap->module ? w->snap->module->path : NULL;
    struct container c = { 0 };
    struct container_want want = { .arch = NULL };
    size_t *v = NULL, n = 0;
    bool ok = path && container_is(path) && container_read(path, &c, NULL) == ST_OK &&
              container_choose(&c, &want, &v, &n, NULL) == ST_OK;
    for (size_t i = 0; ok && i < n; i++)
        ok = add_module(k, &c.v[v[i]]);
    for (size_t i = 0; ok && i < c.n; i++)
        for (size_t j = 0; ok && k->n < LISTED_MOST && j < c.v[i].nkernels; j++)
            ok = has(k, c.v[i].kernel[j]) || add(k, c.v[i].kernel[j], c.v[i].where, 0, true);
    base_free(v);
    container_free(&c);
    return ok;
}

static const struct kernels_worker *present(struct app *a)
{
    if (!a->kernels && a->engine.hold && a->snap->module) {
        struct kernels_worker *k = base_alloc(sizeof *k);
        if (k) {
            k->work.run = make;
            k->work.clear = clear;
            a->kernels = work_start(&a->engine, &k->work);
        }
    }
    return a->kernels && work_state(a->kernels) == WORK_READY ? (const struct kernels_worker *)a->kernels
                                                              : NULL;
}

/* ---- the list ---- */
enum { WIDE = 100, FACTS = 26 };

/* Columns of the name: what the facts and a launch leave. */
static unsigned name_columns(unsigned w)
{
    return w >= WIDE ? w - FACTS - 30 : w > FACTS + 20 + 24 ? w - FACTS - 20 : 24;
}

static void put_head(struct app *a, unsigned w)
{
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_LABEL, "   kernel");
    row_pad(&r, name_columns(w));
    row_put(&r, ROLE_LABEL, "  insts loads class       %s",
            w < name_columns(w) + FACTS + 18 ? "" : " launch");
    page_add(a, &a->over, &r, -1);
}

static void put_facts(struct app *a, struct row *r, const char *name)
{
    const struct kernel_fact *f = kernel_fact(a, name);
    if (f && f->cls)
        row_put(r, ROLE_TEXT, " %6u %5u %-12s", f->insts, f->loads, f->cls);
    else if (f)
        row_put(r, ROLE_DIM, " %6u %5s %-12s", f->insts, "-", "-");
    else
        row_put(r, ROLE_DIM, " %6s %5s %-12s", a->kernel_facts ? "" : "-", "", "");
}

static void put(struct app *a, unsigned w, long item, const char *kernel, const char *name, bool now,
                const char *remark)
{
    char label[PTX_LABEL];
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_CURSOR, now ? " ▶ " : "   ");
    struct str whole = str_of(ptx_label(name, label)), head = text_head(whole, name_columns(w) - 4);
    row_put(&r, now ? ROLE_TITLE : ROLE_VALUE, "%.*s%s", (int)head.n, head.s,
            head.n < whole.n ? "…" : "");
    row_pad(&r, name_columns(w));
    put_facts(a, &r, kernel);
    if (w >= r.width + 18)
        row_put(&r, ROLE_DIM, " %s", remark);
    page_add(a, &a->over, &r, item);
    if (now && !a->over_list.count) { /* just opened */
        list_set_count(&a->over_list, a->over.n);
        list_show(&a->over_list, a->over.n - 1);
    }
}

static void put_launch(struct app *a, unsigned w, size_t i)
{
    const struct launch_spec *l = &a->snap->launches->launch[i];
    char label[PTX_LABEL];
    ptx_label(l->kernel, label);
    put(a, w, (long)i, l->kernel,
        l->name && strcmp(l->name, label) != 0 ? arena_printf(a->frame, "%s (%s)", label, l->name)
                                               : label,
        a->snap->spec && i == a->snap->launch,
        arena_printf(a->frame, w >= WIDE ? "grid %ux%ux%u  block %ux%ux%u" : "%ux%ux%u of %ux%ux%u",
                     l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z));
}

static bool launched(const struct app *a, struct str kernel)
{
    const struct launch_file *f = a->snap->launches;
    for (size_t i = 0; f && i < f->n; i++)
        if (str_eq(str_of(f->launch[i].kernel), kernel))
            return true;
    return false;
}

static const char *parameters(struct app *a, size_t n)
{
    return arena_printf(a->frame, "%zu parameter%s", n, n == 1 ? "" : "s");
}

/* Of the module that is open. */
static void put_own(struct app *a, unsigned w)
{
    const struct ptx_module *m = a->snap->module;
    for (size_t i = 0; a->snap->launches && i < a->snap->launches->n; i++)
        put_launch(a, w, i);
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        char *name = arena_dup(a->frame, f->name);
        if (f->entry && name && !launched(a, f->name))
            put(a, w, ITEM_FUNC + (long)i, name, name, a->snap->kernel && !strcmp(a->snap->kernel, name),
                a->snap->launches ? "no launch" : parameters(a, f->nparams));
    }
}

static void put_listed(struct app *a, unsigned w, const struct kernels_worker *k)
{
    const char *where = "";
    for (size_t i = 0; i < k->n; i++) {
        const struct listed *x = &k->v[i];
        if (strcmp(where, x->where) != 0) {
            page_blank(a, &a->over);
            page_heading(a, &a->over, "%s", where = x->where);
        }
        put(a, w, x->code ? -1 : ITEM_LISTED + (long)i, x->name, x->name,
            a->snap->kernel && !strcmp(a->snap->kernel, x->name),
            x->code ? "machine code alone" : parameters(a, x->params));
    }
}

void view_kernels_update(struct app *a, unsigned w)
{
    page_clear(&a->over);
    if (!a->snap->module) {
        page_hint(a, &a->over, w, view_unready(a, ""));
        return;
    }
    const struct kernels_worker *k = present(a);
    if (a->kernels && work_state(a->kernels) == WORK_BUSY)
        page_hint(a, &a->over, w, "the file is read ...");
    else if (k && k->n)
        put_head(a, w), put_listed(a, w, k);
    else
        put_head(a, w), put_own(a, w);
    list_set_count(&a->over_list, a->over.n);
    if (page_selects(&a->over) && page_item(&a->over, &a->over_list) < 0)
        list_move(&a->over_list, &a->over, 1);
}

unsigned view_kernels_open(struct app *a)
{
    a->kernels_offered = false;
    a->overlay = OVERLAY_KERNELS;
    a->over_list = (struct list){ 0 };
    return UI_REDRAW;
}

/* The kernel, unless it is open already. */
static void open_kernel(struct app *a, const char *name)
{
    if (name && (!a->snap->kernel || strcmp(a->snap->kernel, name) != 0))
        app_post(a, JOB_KERNEL, name, 0);
}

unsigned view_kernels_pick(struct app *a)
{
    long i = page_item(&a->over, &a->over_list);
    const struct kernels_worker *k = present(a);
    const struct ptx_module *m = a->snap->module;
    if (i < 0 || !m)
        return 0;
    a->overlay = OVERLAY_NONE;
    if (i >= ITEM_LISTED && k && (size_t)(i - ITEM_LISTED) < k->n)
        open_kernel(a, k->v[i - ITEM_LISTED].name);
    else if (i >= ITEM_FUNC && i < ITEM_LISTED && (uint32_t)(i - ITEM_FUNC) < m->nfuncs)
        open_kernel(a, arena_dup(a->frame, m->funcs[i - ITEM_FUNC]->name));
    else if (i < ITEM_FUNC)
        app_post(a, JOB_KERNEL, NULL, i);
    return UI_REDRAW;
}

static unsigned entries(const struct ptx_module *m)
{
    unsigned n = 0;
    for (uint32_t i = 0; m && i < m->nfuncs; i++)
        n += m->funcs[i]->entry;
    return n;
}

bool view_kernels_offer(struct app *a)
{
    if (!a->kernels_wanted || a->overlay != OVERLAY_NONE || a->prompt.kind != PROMPT_NONE)
        return false;
    const struct kernels_worker *k = present(a);
    if (a->kernels && work_state(a->kernels) == WORK_BUSY)
        return false;
    a->kernels_wanted = false;
    bool several = (k && k->n > 1) || (!a->snap->launches && entries(a->snap->module) > 1);
    if (several)
        view_kernels_open(a);
    a->kernels_offered = several;
    return several;
}
