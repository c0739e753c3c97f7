/* One line per kernel and launch: a letter for each global access, in text order. */
#ifndef GPULOCW_TESTS_ALIAS_KEPT_H
#define GPULOCW_TESTS_ALIAS_KEPT_H

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/launch.h"
#include "engine/session/launch_file.h"
#include "tests/support.h"

struct diags;

/* '.' unknown, 's' a variable, 'w' another window, '+' several roots, else the parameter: 0-9, A-Z. */
static inline char kept_letter(uint64_t params, bool sym, bool window, bool unknown)
{
    int n = __builtin_popcountll(params), k = n ? __builtin_ctzll(params) : 0;
    if (unknown || (!n && !sym && !window))
        return '.';
    if (n + sym + window > 1 || k > 35)
        return '+';
    return sym ? 's' : window ? 'w' : (char)(k < 10 ? '0' + k : 'A' + k - 10);
}

typedef void kept_visit(void *ctx, const char *path, const struct ptx_module *m,
                        const struct ptx_func *f, const struct launch_spec *l);

static inline bool kept_access(const struct ptx_inst *i)
{
    const struct ptx_op_info *o = ptx_op_info(i->op);
    bool memory = o && i->op != PTX_OP_OPAQUE &&
                  (o->effect == EFFECT_LOAD || o->effect == EFFECT_STORE || o->effect == EFFECT_ATOMIC);
    return memory && (i->space == PTX_SPACE_GLOBAL || i->space == PTX_SPACE_GENERIC);
}

static inline void kept_file(const char *path, kept_visit *visit, void *ctx)
{
    struct ptx_module *m = NULL;
    struct diags ds = { 0 };
    struct launch_file lf = { 0 };
    char name[512];
    snprintf(name, sizeof name, "%.*s.launch.json", (int)(strlen(path) - 4), path);
    FILE *f = fopen(name, "r");
    bool launches = f && launch_file_read(name, &lf, &ds) == ST_OK;
    if (f)
        fclose(f);
    if (ptx_parse_file(path, &m, &ds) == ST_OK)
        for (uint32_t k = 0; k < m->nfuncs; k++) {
            const struct launch_spec *l = NULL;
            for (size_t n = 0; launches && n < lf.n && !l; n++)
                if (lf.launch[n].kernel && str_is(m->funcs[k]->name, lf.launch[n].kernel))
                    l = &lf.launch[n];
            if (!m->funcs[k]->entry || !m->funcs[k]->has_body)
                continue;
            visit(ctx, path, m, m->funcs[k], NULL);
            if (l)
                visit(ctx, path, m, m->funcs[k], l);
        }
    ptx_free(m);
    launch_file_free(&lf);
    diags_free(&ds);
}

static inline void kept_all(kept_visit *visit, void *ctx)
{
    static const char *const where[] = {
        "kernels/*.ptx",          "tests/heldout/*.ptx",     "tests/heldout/suites/*.ptx",
        "tests/golden/ptx/*.ptx", "tests/golden/pass/*.ptx", "tests/sim/*.ptx",
        "tests/sim/*/*.ptx"
    };
    for (size_t k = 0; k < ARRAY_LEN(where); k++) {
        glob_t g = { 0 };
        if (glob(where[k], 0, NULL, &g) == 0)
            for (size_t n = 0; n < g.gl_pathc; n++)
                kept_file(g.gl_pathv[n], visit, ctx);
        globfree(&g);
    }
}

#endif
