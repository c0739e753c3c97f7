/* launch: a first launch description for kernels that have none. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/cmd/cmd_int.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/session/session.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <stdio.h>
#include <string.h>

static enum status infer_kernel(const struct workspace *s, const struct args *a,
                                const struct ptx_func *f, struct launch_spec *l, struct diags *ds)
{
    struct ana_kernel *facts = NULL;
    struct ana_opts o = { .cancel = a->cancel, .quick = true };
    enum status st = ana_run(s->module, f->name, &o, &facts, ds);
    if (st == ST_OK)
        st = launch_infer(facts, s->dev, NULL, a->cancel, l, ds);
    ana_free(facts);
    return st;
}

static void put_name(struct str name, char *out, size_t n)
{
    struct buf b = { 0 };
    ptx_readable(name, &b);
    snprintf(out, n, "%s", b.s ? b.s : "");
    buf_free(&b);
}

/* A launch is called as its kernel is; the second of that name has its number. */
static enum status name_launch(struct launch_spec *l, size_t i)
{
    struct buf b = { 0 };
    unsigned same = 1;
    ptx_readable(str_of(l[i].kernel), &b);
    for (size_t k = 0; k < i; k++) {
        struct buf other = { 0 };
        ptx_readable(str_of(l[k].kernel), &other);
        same += b.n == other.n && b.n && !memcmp(b.s, other.s, b.n);
        buf_free(&other);
    }
    if (same > 1)
        buf_printf(&b, " #%u", same);
    base_free(l[i].name);
    l[i].name = buf_take(&b);
    return l[i].name ? ST_OK : ST_NOMEM;
}

static void say_guess(const struct launch_spec *l, struct diags *ds)
{
    struct buf b = { 0 };
    for (size_t i = 0; i < l->nargs; i++)
        if (l->args[i].kind == ARG_BUFFER)
            buf_printf(&b, "%s%s %s x %llu%s", b.n ? ", " : "", l->args[i].name,
                       elem_name(l->args[i].elem), (unsigned long long)l->args[i].count,
                       l->args[i].output ? " (output)" : "");
    for (size_t i = 0; i < l->nsymbols; i++)
        buf_printf(&b, "%s%s %s x %llu (constant)", b.n ? ", " : "", l->symbols[i].name,
                   elem_name(l->symbols[i].elem), (unsigned long long)l->symbols[i].count);
    diag_add(ds, DIAG_NOTE, "guess", NULL, NO_SPAN, "%s: grid %ux%ux%u, block %ux%ux%u; %s", l->name,
             l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z,
             b.s ? b.s : "no buffers");
    buf_free(&b);
}

static enum status put_launches(const struct args *a, const struct launch_spec *l, size_t n,
                                struct diags *ds)
{
    if (a->output)
        return launch_file_write(a->output, l, n, ds);
    struct buf out = { 0 };
    launch_file_text(l, n, &out);
    cmd_put(a, &out);
    buf_free(&out);
    return ST_OK;
}

int cmd_launch(struct args *a)
{
    struct diags ds = { 0 };
    struct workspace s = { 0 };
    struct launch_spec *l = NULL;
    size_t n = 0;
    bool found = false;
    const struct ptx_func *only = NULL;
    enum status st = workspace_ptx(&s, a, &ds);
    if (st == ST_OK && a->kernel)
        st = workspace_find_entry(s.module, a->kernel, &only, &ds);
    if (st == ST_OK)
        st = workspace_device(&s, a, &ds);
    if (st == ST_OK && !(l = base_alloc((s.module->nfuncs + 1) * sizeof *l)))
        st = ST_NOMEM;
    for (uint32_t i = 0; st == ST_OK && i < s.module->nfuncs; i++) {
        const struct ptx_func *f = s.module->funcs[i];
        if (!f->entry || !f->has_body || (a->kernel && f != only))
            continue;
        found = true;
        char name[128];
        put_name(f->name, name, sizeof name);
        cmd_progress_detail(a, (double)i / s.module->nfuncs, "trying sizes", name);
        st = infer_kernel(&s, a, f, &l[n], &ds);
        if (st == ST_OK)
            st = name_launch(l, n);
        if (st == ST_OK)
            say_guess(&l[n++], &ds);
    }
    cmd_progress_end(a);
    if (st == ST_OK && !found) {
        diag_add(&ds, DIAG_ERROR, "kernel", s.module->path, NO_SPAN, "no kernel '%s' in this module",
                 a->kernel ? a->kernel : "with a body");
        st = ST_INPUT;
    }
    if (n)
        diag_add(&ds, DIAG_NOTE, "guess", NULL, NO_SPAN, "sizes and data are guesses: put your own in");
    if (n)
        st = put_launches(a, l, n, &ds) == ST_OK ? st : ST_IO;
    for (size_t i = 0; i < n; i++)
        launch_spec_free(&l[i]);
    base_free(l);
    workspace_close(&s);
    return cmd_finish(a, st, &ds);
}
