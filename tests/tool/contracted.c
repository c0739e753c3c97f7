/* Which additions ptxas fuses, as the engine has it: `contracted FILE` prints KERNEL ADD_LINE MUL_LINE
 * for each, by lines of the file. For tests/tool/contraction.py. */
#include "engine/base/base.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/facts/contract.h"
#include "engine/ptx/ptx.h"

#include <stdio.h>

static int one(const struct ptx_func *f)
{
    struct ptx_cfg *c = ptx_cfg_build(f);
    struct ptx_contracted *x = c ? ptx_contract(c) : NULL;
    for (uint32_t i = 0; x && i < f->ninsts; i++)
        if (x[i].mul != PTX_NO_INDEX)
            printf("%.*s %u %u\n", (int)f->name.n, f->name.s, f->insts[i].at.line,
                   f->insts[x[i].mul].at.line);
    int bad = !x;
    base_free(x);
    ptx_cfg_free(c);
    return bad;
}

int main(int argc, char **argv)
{
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    char *text = NULL;
    size_t n = 0;
    int bad = argc != 2 || file_read(argv[1], 1u << 28, &text, &n, &ds) != ST_OK ||
              ptx_parse(argv[1], (struct str){ text, n }, &m, &ds) != ST_OK;
    for (uint32_t k = 0; !bad && k < m->nfuncs; k++)
        bad = m->funcs[k]->has_body && one(m->funcs[k]);
    if (bad)
        fprintf(stderr, "contracted: cannot read %s\n", argc == 2 ? argv[1] : "a file");
    ptx_free(m);
    base_free(text);
    diags_free(&ds);
    return bad;
}
