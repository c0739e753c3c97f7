/* Points-to by base terms, names for printing, and the read-only question. */
#include "engine/analysis/alias.h"
#include "engine/analysis/facts.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"

#include <string.h>

const struct ptx_inst *fact_inst(const struct facts *f, const struct fact *x)
{
    return &f->e.module->funcs[x->func]->insts[x->inst];
}

/* ---- names ---- */
static const char *array_param_name(const struct facts *f, unsigned param)
{
    const struct launch_spec *l = f->o->data ? f->o->data->spec : NULL;
    if (l && param < launch_nargs(l) && launch_arg(l, param)->name)
        return launch_arg(l, param)->name;
    return param < f->e.kernel->nparams ? arena_dup(f->arena, ptx_param_label(f->e.kernel, param))
                                        : NULL;
}
static int param_index(const struct facts *f, const struct ptx_symbol *s)
{
    for (uint32_t i = 0; i < f->e.kernel->nparams; i++)
        if (f->e.kernel->params[i] == s)
            return (int)i;
    return -1;
}
/* A member of a struct parameter: as the launch calls it, else the struct and the offset. */
static const char *member_name(const struct facts *f, const struct ptx_symbol *s, int64_t off)
{
    const struct launch_spec *l = f->o->data ? f->o->data->spec : NULL;
    int i = param_index(f, s);
    for (size_t k = 0; l && i >= 0 && k < launch_nargs(l); k++)
        if (launch_arg(l, k)->inside && launch_outer_of(l, k) == (size_t)i &&
            launch_arg(l, k)->at == (uint64_t)off && launch_arg(l, k)->name)
            return launch_arg(l, k)->name;
    const char *name = i < 0 ? NULL : array_param_name(f, (unsigned)i);
    return name ? arena_printf(f->arena, "%s{%lld}", name, (long long)off) : NULL;
}
const char *array_leaf_name(void *ctx, const struct symexpr *leaf)
{
    const struct facts *f = ctx;
    int i = param_index(f, leaf->ref);
    if (leaf->kind == SYMEXPR_PARAM && i >= 0 && ((const struct ptx_symbol *)leaf->ref)->bytes > 8)
        return member_name(f, leaf->ref, leaf->c);
    return i < 0 ? NULL : array_param_name(f, (unsigned)i);
}
const char *array_loop_name(void *ctx, const void *loop)
{
    (void)ctx;
    return ((const struct ana_loop *)loop)->name;
}
int array_param(const struct facts *f, uint64_t arrays)
{
    if (!arrays || (arrays & (arrays - 1)) || (arrays & (ARRAY_DATA | ARRAY_UNKNOWN)))
        return -1;
    int b = __builtin_ctzll(arrays);
    if (b < ARRAY_MAX_PARAMS)
        return b;
    const struct ptx_symbol *s = f->symbol[b - ARRAY_SYMBOL];
    return s->space == PTX_SPACE_PARAM ? param_index(f, s) : -1;
}
const char *array_name(const struct facts *f, uint64_t arrays)
{
    if (arrays == ARRAY_DATA)
        return "data";
    if (!arrays || (arrays & (arrays - 1)) || arrays == ARRAY_UNKNOWN)
        return NULL;
    int b = __builtin_ctzll(arrays);
    if (b < ARRAY_MAX_PARAMS)
        return array_param_name(f, (unsigned)b);
    if ((uint32_t)(b - ARRAY_SYMBOL) >= f->nsymbols)
        return NULL;
    const struct ptx_symbol *s = f->symbol[b - ARRAY_SYMBOL];
    return s->space == PTX_SPACE_PARAM ? member_name(f, s, f->member[b - ARRAY_SYMBOL])
                                       : arena_dup(f->arena, s->name);
}
char *array_names(const struct facts *f, uint64_t arrays)
{
    struct buf b = { 0 };
    for (unsigned k = 0; k < 64; k++) {
        const char *name = arrays >> k & 1 ? array_name(f, UINT64_C(1) << k) : NULL;
        if (arrays >> k & 1)
            buf_printf(&b, "%s%s", b.n ? " or " : "", name ? name : "an unknown place");
    }
    char *s = b.s && !b.oom ? arena_dup(f->arena, (struct str){ b.s, b.n }) : NULL;
    buf_free(&b);
    return s;
}
unsigned array_space(const struct facts *f, unsigned b)
{
    if (b < ARRAY_MAX_PARAMS)
        return PTX_SPACE_GLOBAL;
    unsigned s = f->symbol[b - ARRAY_SYMBOL]->space;
    return s == PTX_SPACE_PARAM ? PTX_SPACE_GLOBAL : s;
}

/* ---- bases ---- */
static uint64_t symbol_bit(struct facts *f, const struct ptx_symbol *s, int64_t member)
{
    for (uint32_t i = 0; i < f->nsymbols; i++)
        if (f->symbol[i] == s && f->member[i] == member)
            return UINT64_C(1) << (ARRAY_SYMBOL + i);
    if (f->nsymbols == ARRAY_LEN(f->symbol))
        return ARRAY_UNKNOWN;
    f->member[f->nsymbols] = member;
    f->symbol[f->nsymbols++] = s;
    return UINT64_C(1) << (ARRAY_SYMBOL + f->nsymbols - 1);
}
/* A parameter that the launch binds to a buffer, or that may be a pointer when there is no launch. */
static uint64_t param_bit(struct facts *f, const struct symexpr *x)
{
    const struct ptx_symbol *s = x->ref;
    int i = param_index(f, s);
    if (i < 0 || i >= ARRAY_MAX_PARAMS || x->bits != 64)
        return 0;
    if (s->bytes > 8)
        return symbol_bit(f, s, x->c);
    if (f->o->data && f->v.arg_base && !f->v.arg_base[i] && !s->array)
        return 0;
    return UINT64_C(1) << i;
}
/* `left` bounds the work: nested choices could be walked again and again. */
static uint64_t bases_at(struct facts *f, const struct symexpr *x, int *left)
{
    uint64_t m = 0;
    if (--*left < 0)
        return ARRAY_UNKNOWN;
    switch (x->kind) {
    case SYMEXPR_PARAM: return param_bit(f, x);
    case SYMEXPR_ADDR: return x->ref ? symbol_bit(f, x->ref, 0) : ARRAY_UNKNOWN;
    case SYMEXPR_LOAD: return x->bits == 64 ? ARRAY_DATA : 0;
    case SYMEXPR_UNKNOWN: return x->bits == 64 ? ARRAY_UNKNOWN : 0;
    case SYMEXPR_SUM:
        for (uint32_t i = 0; i < x->n; i++)
            if (x->coef[i] == 1)
                m |= bases_at(f, x->arg[i], left);
        break;
    case SYMEXPR_SEXT:
    case SYMEXPR_ZEXT:
    case SYMEXPR_TRUNC: return bases_at(f, x->arg[0], left);
    case SYMEXPR_PHI:
        for (uint32_t i = 0; i < x->n; i++)
            m |= bases_at(f, x->arg[i], left);
        return x->n ? m : x->bits == 64 ? ARRAY_UNKNOWN : 0;
    case SYMEXPR_OP:
        if (x->op == AXO_SELECT)
            return bases_at(f, x->arg[1], left) | bases_at(f, x->arg[2], left);
        if (x->op == AXO_AND || x->op == AXO_OR || x->op == AXO_UMIN || x->op == AXO_UMAX)
            return bases_at(f, x->arg[0], left) | bases_at(f, x->arg[1], left);
        break;
    default: break;
    }
    /* A sum with a named array beside opaque 64-bit terms: the opaque ones are offsets. */
    uint64_t named = m & ~(ARRAY_DATA | ARRAY_UNKNOWN);
    return named ? named : m;
}
uint64_t array_bases(struct facts *f, const struct symexpr *x)
{
    int left = 4096;
    uint64_t m = bases_at(f, x, &left);
    return m ? m : x->flags & AXF_LOAD ? ARRAY_DATA : ARRAY_UNKNOWN;
}
/* The region that bit b's buffer is; NULL: not known. */
static const struct env_region *region_of(const struct facts *f, unsigned b)
{
    uint64_t addr = 0;
    if (b < ARRAY_MAX_PARAMS)
        return f->v.arg_base && b < f->e.kernel->nparams ? env_find(&f->v, f->v.arg_base[b]) : NULL;
    const struct ptx_symbol *s = f->symbol[b - ARRAY_SYMBOL];
    if (s->space == PTX_SPACE_PARAM) {
        uint64_t at = s->offset + (uint64_t)f->member[b - ARRAY_SYMBOL];
        if (!f->o->data || at + 8 > f->v.nparams || !f->v.param_known[at])
            return NULL;
        memcpy(&addr, f->v.params + at, 8);
        return env_find(&f->v, addr);
    }
    return (s->space == PTX_SPACE_GLOBAL || s->space == PTX_SPACE_CONST) && env_symbol(&f->v, s, &addr)
               ? env_find(&f->v, addr)
               : NULL;
}
uint64_t array_regions(const struct facts *f, uint64_t arrays)
{
    uint64_t m = 0;
    if (arrays & (ARRAY_DATA | ARRAY_UNKNOWN))
        return UINT64_MAX;
    for (unsigned b = 0; b < 62; b++) {
        const struct env_region *r = arrays >> b & 1 ? region_of(f, b) : NULL;
        if (!(arrays >> b & 1))
            continue;
        if (!r || r - f->v.region >= 63)
            return UINT64_MAX;
        m |= UINT64_C(1) << (r - f->v.region);
    }
    return m;
}

/* ---- read-only ---- */
static bool listed(const char *list, const char *name)
{
    size_t n = name ? strlen(name) : 0;
    for (const char *p = list; n && p && *p;) {
        const char *e = strchr(p, ',');
        size_t len = e ? (size_t)(e - p) : strlen(p);
        if (len == n && !memcmp(p, name, n))
            return true;
        p = e ? e + 1 : NULL;
    }
    return false;
}
/* What the array is called that the writer stores to; NULL: several or unknown. */
static const char *written(const struct facts *f, const struct alias_writer *w)
{
    for (uint32_t i = 0; i < f->n; i++)
        if ((f->fact[i].store || f->fact[i].atomic) && fact_inst(f, &f->fact[i]) == w->inst)
            return array_name(f, f->fact[i].arrays);
    return NULL;
}
static char *writer_text(const struct facts *f, const struct alias_writer *w)
{
    const struct ptx_op_info *info = ptx_op_info(w->inst->op);
    const char *to = written(f, w);
    if (ptx_is_opaque(w->inst) || info->effect == EFFECT_CALL)
        return arena_printf(f->arena, "%s at line %u that was not followed may write it",
                            ptx_is_opaque(w->inst) ? "an instruction" : "a call", w->inst->at.line);
    if (w->answer == ALIAS_YES)
        return arena_printf(f->arena, "%s at line %u writes %s",
                            info->effect == EFFECT_ATOMIC ? "an atomic" : "a store", w->inst->at.line,
                            to ? to : "it");
    return arena_printf(f->arena, "the store at line %u to %s may reach it", w->inst->at.line,
                        to ? to : "an unknown place");
}
enum ana_tri array_read_only(struct facts *f, const struct fact *load, char **why)
{
    const char *name = array_name(f, load->arrays);
    *why = arena_printf(f->arena, "no store of the kernel can reach it");
    if (listed(f->o->assume_read_only, name)) {
        *why = arena_printf(f->arena, "assumed read-only by the user");
        return ANA_YES;
    }
    if (ptx_has_mod(fact_inst(f, load), PTX_MOD_NC)) {
        *why = arena_printf(f->arena, "the load is already .nc");
        return ANA_YES;
    }
    struct alias_roots r;
    alias_roots(f->alias, f->e.module->funcs[load->func], alias_address(fact_inst(f, load)), &r);
    struct alias_writer w = alias_writer(f->alias, &r);
    if (w.answer == ALIAS_NO)
        return ANA_YES;
    *why = writer_text(f, &w);
    return w.answer == ALIAS_YES ? ANA_NO : ANA_UNKNOWN;
}
