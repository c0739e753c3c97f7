/* Special registers that a rewrite gives another meaning (%ctaid of a renamed CTA, %tid of a reshaped
 * block): what the kernel reads instead, and copies of called functions that find out by themselves.
 *
 *   before                               after
 *     mov.u32 %r1, %ctaid.x;               mov.u32 %r1, cx;
 *     call f, (%r2);                       call f_copy, (%r2);         f reads %ctaid, too */
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

struct copy {
    const struct pass_virtual *v;
    const struct ptx_module *m;
};

static bool copy_inst(void *ctx, const struct ptx_inst *i, struct buf *out)
{
    struct copy *x = ctx;
    pass_inst_text(x->m, i, x->v->sub, x->v->ctx, out);
    return true;
}

static void put_suffix(const struct pass_ctx *c, struct buf *out)
{
    buf_printf(out, "_%sv", c->tag);
}

void pass_virtual_callees(struct pass_ctx *c, const struct pass_virtual *v, const char *entry,
                          struct strmap *clones)
{
    struct pass_funcs fs;
    struct copy x = { v, c->m };
    struct buf suffix = { 0 };
    put_suffix(c, &suffix);
    pass_callees(c, &fs);
    bool any = false;
    for (uint32_t k = 0; k < fs.n; k++)
        any |= v->reads(fs.v[k]);
    for (uint32_t k = 0; any && k < fs.n; k++)
        strmap_set(clones, fs.v[k]->name, k);
    for (uint32_t k = 0; any && suffix.s && k < fs.n; k++) {
        struct pass_copy how = {
            .clones = clones, .clone_suffix = suffix.s, .inst = copy_inst, .ctx = &x
        };
        pass_clone_func(c, fs.v[k], &how, entry);
    }
    c->oom |= suffix.oom || clones->oom;
    buf_free(&suffix);
}

void pass_virtual_kernel(struct pass_ctx *c, const struct pass_virtual *v, const struct strmap *clones)
{
    struct buf suffix = { 0 };
    put_suffix(c, &suffix);
    struct pass_copy names = { .clones = clones, .clone_suffix = suffix.s ? suffix.s : "" };
    for (uint32_t k = 0; k < c->f->ninsts; k++) {
        const struct ptx_inst *i = &c->f->insts[k];
        uint32_t unused;
        if (ptx_effect_of(i) != EFFECT_CALL || !strmap_get(clones, inst_callee(i), &unused)) {
            pass_inst_edit(c, i, v->sub, v->ctx);
            continue;
        }
        struct buf t = { 0 };
        pass_rename(ptx_text(c->m, i->at), pass_clone_name, &names, &t);
        if (t.s)
            ptx_edit_replace(c->edit, c->f, i->stmt, c->row->info.name, "%s", t.s);
        c->oom |= t.oom;
        buf_free(&t);
    }
    c->oom |= suffix.oom;
    buf_free(&suffix);
}
