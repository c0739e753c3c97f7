/* The kernels that sessions recommend, and tuned PTX files. */
#include "engine/session/run.h"
#include "engine/workspace/tuned.h"

#include "engine/base/name.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/result_read.h"
#include "engine/search/found.h"
#include "engine/session/session.h"
#include "engine/workspace/workspace.h"

#include <string.h>

void tuned_free(struct tuned_kernels *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct tuned_kernel *k = &t->v[i];
        pass_output_free(&k->code);
        ptx_free(k->module);
        BASE_FREE(k->options, k->from, k->kernel, k->path, k->text);
    }
    base_free(t->v);
    *t = (struct tuned_kernels){ 0 };
}

static struct tuned_kernel *add(struct tuned_kernels *t, const char *from, struct str kernel)
{
    if (!base_grow((void **)&t->v, t->n, &t->cap, sizeof *t->v))
        return NULL;
    struct tuned_kernel *k = &t->v[t->n++];
    struct buf name = { 0 };
    buf_str(&name, kernel);
    *k = (struct tuned_kernel){ .from = base_strdup(from),
                                .kernel = buf_take(&name),
                                .options = options_new() };
    return k->from && k->kernel && k->options ? k : NULL;
}

/* ---- sessions ---- */
static int64_t original_time(const struct session_run *r)
{
    const struct result *b = r->kind == RUN_TUNE    ? r->found->original
                             : r->kind == RUN_SWEEP ? r->sweep.cha
                                                    : NULL;
    return b && result_time(b)->valid ? result_time(b)->median : 0;
}

static bool has_kernel(const struct tuned_kernels *t, size_t from, const char *kernel)
{
    for (size_t i = from; i < t->n; i++)
        if (strcmp(t->v[i].kernel, kernel) == 0)
            return true;
    return false;
}

static enum status rewrite(struct tuned_kernel *k, const struct launch_spec *l, struct diags *ds)
{
    struct buf text = { 0 };
    struct pass_input in = { .module = k->module,
                             .kernel = str_of(k->kernel),
                             .options = k->options,
                             .dev = &k->dev,
                             .launch = l };
    enum status st = pass_apply(&in, &k->code, ds);
    if (st != ST_OK)
        return st;
    pass_standalone(&k->code, &text);
    k->n = text.n;
    k->text = buf_take(&text);
    k->tgrid = k->code.grid;
    k->tblock = k->code.block;
    k->tshared = k->code.shared;
    memcpy(k->reset, k->code.reset, sizeof k->reset);
    k->nreset = k->code.nreset;
    return k->text ? ST_OK : ST_NOMEM;
}

static enum status add_run(struct tuned_kernels *t, const char *from, struct session *s,
                           const struct session_run *r, const struct result *x, struct diags *ds)
{
    const struct launch_spec *spec = session_launch(s);
    const char *path = session_ptx_path(s);
    struct tuned_kernel *k = add(t, from, str_of(r->kernel));
    if (!k)
        return ST_NOMEM;
    options_copy(k->options, result_options(x));
    k->has_options = true;
    k->dev = r->dev;
    k->original_ns = original_time(r);
    k->tuned_ns = result_time(x)->valid ? result_time(x)->median : 0;
    k->path = path ? base_strdup(path) : NULL;
    if (spec && strcmp(spec->kernel, r->kernel) == 0) {
        k->has_launch = true;
        k->grid = spec->grid;
        k->block = spec->block;
        k->shared = spec->shared;
    } else {
        spec = NULL;
    }
    struct str text = session_ptx_text(s);
    enum status st = text.n ? ptx_parse(path ? path : from, text, &k->module, ds)
                     : path ? ptx_parse_file(path, &k->module, ds)
                            : ST_INPUT;
    if (st == ST_OK)
        st = rewrite(k, spec, ds);
    return st;
}

static bool is_wanted(const struct session *s, const char *said, const char *kernel)
{
    struct ptx_module *m = NULL;
    const struct ptx_func *f = NULL;
    if (!said || strcmp(said, kernel) == 0)
        return true;
    struct buf several = { 0 };
    if (ptx_parse("", session_ptx_text(s), &m, NULL) == ST_OK)
        f = ptx_find_entry(m, str_of(said), &several);
    buf_free(&several);
    bool yes = f && str_is(f->name, kernel);
    ptx_free(m);
    return yes;
}

static enum status read_session(const char *path, const char *kernel, struct tuned_kernels *t,
                                struct diags *ds)
{
    struct session *s = NULL;
    size_t before = t->n;
    char why[256] = "";
    enum status st = session_load(path, &s, ds);
    for (size_t i = st == ST_OK ? session_count(s) : 0; i-- > 0 && st == ST_OK;) {
        const struct session_run *r = session_look(s, i);
        const struct result *x = r && !r->deleted && !r->earlier ? session_run_recommended(r) : NULL;
        if (r && !x && r->kind == RUN_TUNE && r->found->leave_alone)
            memcpy(why, r->found->reason, sizeof why);
        if (x && is_wanted(s, kernel, r->kernel) && !has_kernel(t, before, r->kernel))
            st = add_run(t, path, s, r, x, ds);
        session_rest(s, i);
    }
    if (st == ST_OK && t->n == before) {
        struct diag *d =
            diag_add(ds, DIAG_ERROR, "session", path, NO_SPAN, "the session recommends nothing%s%s%s%s",
                     kernel ? " for " : "", kernel ? kernel : "", why[0] ? ": " : "", why);
        diag_hint(d, "to search for one: gpulocw tune FILE --launch L.json -o %s", path);
        st = ST_INPUT;
    }
    session_free(s);
    return st;
}

/* ---- tuned PTX files ---- */
/* FILE.ptx for FILE.tuned.ptx; owned; NULL: another name. */
static char *original_name(const char *path)
{
    size_t stem = base_stem(path, ".tuned.ptx");
    struct buf b = { 0 };
    if (!stem)
        return NULL;
    buf_printf(&b, "%.*s.ptx", (int)stem, path);
    return buf_take(&b);
}

/* The launch of that kernel in the description beside a PTX file. */
static bool launch_of(const char *ptx, const char *kernel, struct launch_spec *out)
{
    struct launch_file f = { 0 };
    char *path = launch_beside(ptx);
    bool found = false;
    if (path && launch_file_read(path, &f, NULL) == ST_OK)
        for (size_t i = 0; i < f.n && !found; i++)
            found = f.launch[i].kernel && strcmp(f.launch[i].kernel, kernel) == 0 &&
                    launch_copy(&f.launch[i], out) == ST_OK;
    launch_file_free(&f);
    base_free(path);
    return found;
}

static void take_resets(struct tuned_kernel *k, const struct launch_spec *l)
{
    for (size_t i = 0; i < l->nsymbols && k->nreset < ARRAY_LEN(k->reset); i++) {
        const struct symbol_spec *y = &l->symbols[i];
        struct pass_reset *r = &k->reset[k->nreset];
        if (!pass_adds(str_of(y->name)) || y->init.kind != INIT_FILL ||
            strlen(y->name) >= sizeof r->symbol)
            continue;
        *r = (struct pass_reset){ .bytes = y->count * elem_size(y->elem) };
        memcpy(r->symbol, y->name, strlen(y->name) + 1);
        k->nreset++;
    }
}

static enum status add_entry(struct tuned_kernels *t, const char *path, const struct ptx_module *m,
                             const struct ptx_func *f, struct diags *ds)
{
    struct launch_spec mine = { 0 }, its = { 0 };
    struct tuned_kernel *k = add(t, path, f->name);
    if (!k)
        return ST_NOMEM;
    char *original = original_name(path);
    k->text = base_strdup(m->text.s);
    k->n = m->text.n;
    bool tuned = launch_of(path, k->kernel, &mine);
    if (original && ptx_parse_file(original, &k->module, NULL) != ST_OK) {
        ptx_free(k->module);
        k->module = NULL;
    }
    bool known = original && launch_of(original, k->kernel, &its);
    if (tuned) { /* without the original's: it is for launches like its own, which stay */
        const struct launch_spec *o = known ? &its : &mine;
        k->has_launch = true;
        k->grid = o->grid, k->block = o->block, k->shared = o->shared;
        k->tgrid = mine.grid, k->tblock = mine.block, k->tshared = mine.shared;
        take_resets(k, &mine);
    }
    (void)ds;
    launch_spec_free(&mine);
    launch_spec_free(&its);
    base_free(original);
    return k->text ? ST_OK : ST_NOMEM;
}

static enum status read_ptx(const char *path, const char *kernel, struct tuned_kernels *t,
                            struct diags *ds)
{
    struct ptx_module *m = NULL;
    const struct ptx_func *only = NULL;
    size_t before = t->n;
    enum status st = ptx_parse_file(path, &m, ds);
    if (st == ST_OK && kernel)
        st = workspace_find_entry(m, kernel, &only, ds);
    for (uint32_t i = 0; st == ST_OK && i < m->nfuncs; i++)
        if (m->funcs[i]->entry && m->funcs[i]->has_body && (!kernel || m->funcs[i] == only))
            st = add_entry(t, path, m, m->funcs[i], ds);
    if (st == ST_OK && t->n == before) {
        diag_add(ds, DIAG_ERROR, "kernel", path, NO_SPAN, "no kernel%s%s in it", kernel ? " " : "",
                 kernel ? kernel : "");
        st = ST_INPUT;
    }
    ptx_free(m);
    return st;
}

enum status tuned_read(const char *path, const char *kernel, struct tuned_kernels *out, struct diags *ds)
{
    return base_stem(path, ".json") ? read_session(path, kernel, out, ds)
                                    : read_ptx(path, kernel, out, ds);
}
