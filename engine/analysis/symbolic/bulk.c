/* Bulk and tensor copies taken apart (PTX ISA 9.7.9.25 and 9.7.9.27). */
#include "engine/analysis/symbolic/bulk.h"

#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

/* Is the nth state space that the instruction names global memory? */
static bool names_global(const struct ptx_inst *i, unsigned nth)
{
    for (unsigned k = 0, n = 0; k < i->nmods; k++)
        if (ptx_mod_category(i->mods[k]) == MODCAT_SPACE && n++ == nth)
            return i->mods[k] == PTX_MOD_GLOBAL;
    return false;
}

/* [to], [from], size */
static bool plain(const struct ptx_inst *i, struct bulk *b)
{
    bool stores = names_global(i, 0);
    if (i->nopnds < 3 || (!stores && !names_global(i, 1)))
        return false;
    b->kind = !stores ? BULK_LOAD : ptx_effect_of(i) == EFFECT_ATOMIC ? BULK_REDUCE : BULK_STORE;
    b->global = &i->opnds[stores ? 0 : 1];
    b->value = &i->opnds[2];
    b->followed = !ptx_has_mod(i, PTX_MOD_CP_MASK);
    return true;
}

/* [map, {coordinates}] */
static bool tensor(const struct ptx_inst *i, struct bulk *b)
{
    bool stores = i->opnds[0].kind == OPND_MULTI;
    const struct ptx_operand *t = &i->opnds[stores || i->nopnds < 2 ? 0 : 1];
    if (t->kind != OPND_MULTI || t->nelem != 2)
        return false;
    enum ptx_effect e = ptx_effect_of(i);
    b->kind = e == EFFECT_PREFETCH ? BULK_PREFETCH
              : e == EFFECT_ATOMIC ? BULK_REDUCE
              : stores             ? BULK_STORE
                                   : BULK_LOAD;
    b->tensor = true;
    b->rows = ptx_has_mod(i, PTX_MOD_TILE_GATHER4) || ptx_has_mod(i, PTX_MOD_TILE_SCATTER4);
    b->followed = !ptx_has_mod(i, PTX_MOD_IM2COL) && !ptx_has_mod(i, PTX_MOD_IM2COL_NO_OFFS) &&
                  !ptx_has_mod(i, PTX_MOD_IM2COL_W) && !ptx_has_mod(i, PTX_MOD_IM2COL_W_128);
    b->global = &t->elem[0];
    b->value = t->elem[1].kind == OPND_VEC ? t->elem[1].elem : &t->elem[1];
    b->nvalues = t->elem[1].kind == OPND_VEC ? (uint8_t)t->elem[1].nelem : 1;
    return b->nvalues <= 5;
}

bool bulk_parts(const struct ptx_inst *i, struct bulk *out)
{
    enum ptx_effect e = ptx_effect_of(i);
    bool copies = e == EFFECT_ASYNC_COPY || e == EFFECT_ATOMIC || e == EFFECT_PREFETCH;
    *out = (struct bulk){ .nvalues = 1 };
    if (!ptx_is(i, IS_BULK) || !copies || !i->nopnds)
        return false;
    if (i->opnds[0].kind == OPND_MULTI || (i->nopnds > 1 && i->opnds[1].kind == OPND_MULTI))
        return tensor(i, out);
    if (e != EFFECT_PREFETCH)
        return plain(i, out);
    out->kind = BULK_PREFETCH;
    out->followed = i->nopnds >= 2;
    out->global = &i->opnds[0];
    out->value = &i->opnds[1];
    return out->followed;
}
