/* libFuzzer target: parse, check, cfg, print of any bytes. Printing what was parsed gives the
 * bytes back, whatever they were; an edit that changes nothing does too. */
#include <stdlib.h>
#include <string.h>

#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_spans(const struct ptx_module *m, const struct ptx_inst *in)
{
    struct str text = ptx_text(m, in->at);
    for (uint32_t k = 0; k < in->nopnds; k++) {
        const char *at = m->text.s + in->opnds[k].off;
        if (at < text.s || at + in->opnds[k].len > text.s + text.n)
            abort();
    }
}

static void check_func(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_inst *in = &f->insts[i];
        if (in->stmt >= f->nstmts || f->stmts[in->stmt].kind != STMT_INST ||
            f->stmts[in->stmt].index != i)
            abort();
        for (struct ptx_regs r = ptx_regs_of(in, PTX_READ | PTX_WRITE); ptx_next_reg(&r);)
            if (r.reg != PTX_NO_INDEX && r.reg >= f->nregs)
                abort();
        ptx_loc_of(f, in);
        check_spans(f->module, in);
    }
    struct ptx_cfg *c = ptx_cfg_build(f);
    for (uint32_t b = 0; c && b < c->nblocks; b++)
        for (uint32_t k = 0; k < c->blocks[b].nsucc; k++)
            if (c->blocks[b].succ[k] >= c->nblocks)
                abort();
    ptx_cfg_free(c);
}

static void check_edit(const struct ptx_module *m)
{
    struct ptx_edit *e = ptx_edit_new(m);
    struct ptx_edit_result r;
    struct diags ds = { 0 };
    if (ptx_edit_apply(e, &r, &ds) != ST_OK || r.n != m->text.n ||
        (r.n && memcmp(r.text, m->text.s, r.n) != 0))
        abort();
    ptx_edit_result_free(&r);
    ptx_edit_free(e);
    diags_free(&ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diags ds = { 0 };
    struct ptx_module *m;
    struct buf out = { 0 };
    enum status st = ptx_parse("fuzz", (struct str){ (const char *)data, size }, &m, &ds);
    if ((st == ST_OK) != (ds.errors == 0) || !m)
        abort();
    ptx_print(m, &out);
    if (out.n != size || (size && memcmp(out.s, data, size) != 0))
        abort();
    for (uint32_t i = 0; i < m->nfuncs; i++)
        check_func(m->funcs[i]);
    check_edit(m);
    buf_clear(&out);
    diags_print(&ds, &out);
    buf_free(&out);
    ptx_free(m);
    diags_free(&ds);
    return 0;
}
