/* Which row of expansions.def an instruction has. */
#include "engine/sim/timing/expansion.h"

#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"

/* The rows of all sets, each behind a row that only names its set. */
static const struct timing_expansion rows[] = {
#define EXPANSION_SET(number, holds, source) { .set = (number) },
#define EXPANSION(id, ...)                   { .op = PTX_OP_##id, __VA_ARGS__ },
#include "engine/sim/timing/expansions.def"
};
static const struct timing_expansion_set sets[] = {
#define EXPANSION_SET(number, holds, source) { number, holds, source },
#define EXPANSION(id, ...)
#include "engine/sim/timing/expansions.def"
};

const struct timing_expansion *timing_expansion_at(size_t i)
{
    return i < ARRAY_LEN(rows) ? &rows[i] : NULL;
}

const struct timing_expansion_set *timing_expansion_set_at(size_t i)
{
    return i < ARRAY_LEN(sets) ? &sets[i] : NULL;
}

bool timing_expansion_set_exists(uint32_t set)
{
    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        if (sets[i].number == set)
            return true;
    return false;
}

static bool is_how(const struct ptx_inst *i, uint8_t how)
{
    bool approx = ptx_has_mod(i, PTX_MOD_APPROX) || ptx_has_mod(i, PTX_MOD_FULL);
    return how == HOW_ANY || (approx && (how == HOW_APPROX || ptx_has_mod(i, PTX_MOD_FTZ)));
}

const struct timing_expansion *timing_expansion_of(const struct ptx_inst *i, uint32_t set)
{
    char kind = i->ntypes ? ptx_type_kind((enum ptx_type)i->type[0]) : 0;
    unsigned bits = i->ntypes ? ptx_type_bits((enum ptx_type)i->type[0]) : 0;
    bool in_set = false;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        const struct timing_expansion *e = &rows[k];
        if (!e->op)
            in_set = e->set == set;
        else if (in_set && e->op == i->op && is_how(i, e->how) && (!e->kind || e->kind == kind) &&
                 (!e->bits || e->bits == bits))
            return e;
    }
    return NULL;
}
