/* Cells of .param variables: the 4-byte pieces in which the walk keeps parameters, results and what
 * calls pass.
 *
 *   registers | parameters (functions only) | results | variables
 *   0 ..      | f->nregs ..                                         */
#include "engine/analysis/symbolic/eval.h"
#include "engine/ptx/ptx.h"

uint32_t eval_cells(const struct ptx_symbol *s)
{
    return s->bytes <= 256 ? (uint32_t)((s->bytes + 3) / 4) : 64;
}
static uint32_t cells_of(struct ptx_symbol *const *v, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        if (v[i]->space == PTX_SPACE_PARAM || v[i]->space == PTX_SPACE_REG)
            sum += eval_cells(v[i]);
    return sum;
}
uint32_t eval_ret_cell(const struct ptx_func *f)
{
    return f->nregs + (f->entry ? 0 : cells_of(f->params, f->nparams));
}
uint32_t eval_ret_cells(const struct ptx_func *f)
{
    return cells_of(f->rets, f->nrets);
}
uint32_t eval_cell_count(const struct ptx_func *f)
{
    return (f->entry ? 0 : cells_of(f->params, f->nparams)) + cells_of(f->rets, f->nrets) +
           cells_of(f->vars, f->nvars);
}
static bool find_cell(struct ptx_symbol *const *v, uint32_t n, const struct ptx_symbol *s, uint32_t *at)
{
    for (uint32_t i = 0; i < n; i++) {
        if (v[i]->space != PTX_SPACE_PARAM && v[i]->space != PTX_SPACE_REG)
            continue;
        if (v[i] == s)
            return true;
        *at += eval_cells(v[i]);
    }
    return false;
}
/* First cell of a .param variable of f; PTX_NO_INDEX: not one (a kernel parameter, another space). */
uint32_t eval_cell_of(const struct ptx_func *f, const struct ptx_symbol *s)
{
    uint32_t at = f->nregs;
    if (!f->entry && find_cell(f->params, f->nparams, s, &at))
        return at;
    if (find_cell(f->rets, f->nrets, s, &at) || find_cell(f->vars, f->nvars, s, &at))
        return at;
    return PTX_NO_INDEX;
}
/* Cells an access of `bytes` at [sym+off] touches: first and count; false: none of f's cells. */
bool eval_cell_range(const struct ptx_func *f, const struct ptx_symbol *s, int64_t off, unsigned bytes,
                     uint32_t *first, uint32_t *n)
{
    uint32_t c = s ? eval_cell_of(f, s) : PTX_NO_INDEX;
    if (c == PTX_NO_INDEX || off < 0 || off > UINT32_MAX ||
        (off + (int64_t)bytes + 3) / 4 > (int64_t)eval_cells(s))
        return false;
    *first = c + (uint32_t)(off / 4);
    *n = (uint32_t)((off + (int64_t)bytes + 3) / 4 - off / 4);
    return true;
}
