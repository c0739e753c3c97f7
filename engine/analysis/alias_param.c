/* alias, roots: which parameters are pointers, by the launch or by what the kernel does with them. */
#include "engine/analysis/alias_int.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"

int alias_param_index(const struct ptx_func *f, const struct ptx_symbol *s)
{
    for (uint32_t k = 0; k < f->nparams; k++)
        if (f->params[k] == s)
            return (int)k;
    return -1;
}

static const struct arg_spec *arg_of(const struct alias *a, int param)
{
    const struct launch_spec *l = a->o.launch;
    return l && param >= 0 && (size_t)param < launch_params(l) ? launch_arg(l, (size_t)param) : NULL;
}

static bool is_buffer(const struct arg_spec *x)
{
    return x->kind == ARG_BUFFER || x->kind == ARG_SAME_AS;
}

/* The argument that a pointer at this place is, SIZE_MAX: none. */
static size_t argument_at(const struct alias *a, int param, int64_t offset)
{
    const struct launch_spec *l = a->o.launch;
    if (!arg_of(a, param))
        return SIZE_MAX;
    if (is_buffer(launch_arg(l, (size_t)param)))
        return (size_t)param;
    for (size_t k = 0; k < launch_nargs(l); k++)
        if (launch_arg(l, k)->inside && launch_outer_of(l, k) == (size_t)param &&
            launch_arg(l, k)->at == (uint64_t)offset)
            return k;
    return SIZE_MAX;
}

static struct alias_value root_value(struct alias *a, const struct ptx_symbol *s, int param,
                                     int64_t offset)
{
    uint32_t k = 0;
    while (k < a->nroots && (a->root[k].sym != s || a->root[k].offset != offset))
        k++;
    if (k == ALIAS_ROOTS)
        return (struct alias_value){ KIND_ANYTHING };
    if (k == a->nroots) {
        size_t arg = param < 0 ? SIZE_MAX : argument_at(a, param, offset);
        a->root[a->nroots++] =
            (struct alias_root){ .sym = s,
                                 .offset = offset,
                                 .param = param,
                                 .buffer = arg == SIZE_MAX ? arg : launch_buffer_of(a->o.launch, arg) };
    }
    return (struct alias_value){ .roots = UINT64_C(1) << k };
}

struct alias_value alias_symbol_value(struct alias *a, const struct ptx_symbol *s)
{
    if (!s || s->kind != SYM_VAR)
        return (struct alias_value){ .kind = KIND_INDEX }; /* a function */
    if (s->space == PTX_SPACE_GLOBAL)
        return root_value(a, s, -1, 0);
    return (struct alias_value){ .kind = KIND_WINDOW };
}

/* Some bytes of the pointer at this place. */
static struct alias_value part_of(struct alias *a, const struct ptx_symbol *s, int param, int64_t offset)
{
    struct alias_value v = root_value(a, s, param, offset);
    uint64_t bits = v.roots | v.bits;
    return (struct alias_value){ .kind = KIND_MIX, .bits = bits, .down = bits };
}

/* One load may have bytes of several pointers. */
static void add_part(struct alias_value *v, struct alias_value part)
{
    v->kind = KIND_MIX;
    v->bits |= part.bits;
    v->down |= part.down;
}

static bool meets(int64_t at, int64_t offset, unsigned bytes)
{
    return (uint64_t)offset - (uint64_t)at < 8 || (uint64_t)at - (uint64_t)offset < bytes;
}

static struct alias_value described(struct alias *a, const struct arg_spec *arg,
                                    const struct ptx_symbol *s, int param, int64_t offset,
                                    unsigned bytes)
{
    const struct launch_spec *l = a->o.launch;
    struct alias_value v = { .kind = KIND_INDEX };
    if (is_buffer(arg))
        return offset == 0 && bytes == 8 ? root_value(a, s, param, 0) : part_of(a, s, param, 0);
    for (size_t k = 0; arg->kind == ARG_BYTES && k < launch_nargs(l); k++) {
        if (!launch_arg(l, k)->inside || launch_outer_of(l, k) != (size_t)param ||
            !is_buffer(launch_arg(l, k)) || !meets((int64_t)launch_arg(l, k)->at, offset, bytes))
            continue;
        if (launch_arg(l, k)->at == (uint64_t)offset && bytes == 8)
            return root_value(a, s, param, offset);
        add_part(&v, part_of(a, s, param, (int64_t)launch_arg(l, k)->at));
    }
    return v;
}

struct alias_value alias_param_value(struct alias *a, const struct ptx_symbol *s, int64_t offset,
                                     unsigned bytes)
{
    const struct alias_value index = { .kind = KIND_INDEX }, mix = { KIND_ANYTHING };
    int param = alias_param_index(a->kernel, s);
    const struct arg_spec *arg = arg_of(a, param);
    if (param < 0)
        return mix;
    if (arg)
        return described(a, arg, s, param, offset, bytes);
    if (s->bytes && s->bytes < 8)
        return index;
    struct alias_value v = index;
    for (uint32_t k = 0; k < a->npointers; k++) {
        if (a->pointer[k].param != param || !meets(a->pointer[k].offset, offset, bytes))
            continue;
        if (a->pointer[k].offset == offset && bytes == 8)
            return root_value(a, s, param, offset);
        add_part(&v, part_of(a, s, param, a->pointer[k].offset));
    }
    if (a->all_pointers && bytes == 8)
        return root_value(a, s, param, offset);
    for (int64_t at = offset & ~INT64_C(7); a->all_pointers && at < alias_offset(offset, bytes); at += 8)
        add_part(&v, part_of(a, s, param, at));
    return v;
}

static void note_pointer(struct alias *a, int param, int64_t offset)
{
    for (uint32_t k = 0; k < a->npointers; k++)
        if (a->pointer[k].param == param && a->pointer[k].offset == offset)
            return;
    if (a->npointers == ARRAY_LEN(a->pointer)) {
        a->all_pointers = true;
        return;
    }
    a->pointer[a->npointers].param = param;
    a->pointer[a->npointers++].offset = offset;
}

/* What a register is loaded with from the parameters, in any of its definitions. */
static void note_loads(struct alias *a, uint32_t reg)
{
    for (uint32_t k = 0; k < a->kernel->ninsts; k++) {
        const struct ptx_inst *i = &a->kernel->insts[k];
        if (!ptx_is_param_load(i) || i->nopnds < 2 || i->opnds[1].base != BASE_SYM)
            continue;
        const struct ptx_operand *d = &i->opnds[0];
        unsigned n = d->kind == OPND_VEC ? d->nelem : 1;
        for (unsigned e = 0; e < n; e++) {
            const struct ptx_operand *x = d->kind == OPND_VEC ? &d->elem[e] : d;
            if (x->kind == OPND_REG && x->index == reg)
                note_pointer(a, alias_param_index(a->kernel, i->opnds[1].sym),
                             alias_offset(i->opnds[1].imm, 8 * (uint64_t)e));
        }
    }
}

/* A parameter's register beside an index, in the sum that is an address: a pointer that was never
 * converted. */
static void find_bases(struct alias *a, bool *done, bool *address, bool *converted)
{
    const struct ptx_func *f = a->kernel;
    for (uint32_t k = 0; k < f->ninsts; k++) {
        const struct ptx_inst *i = &f->insts[k];
        const struct ptx_operand *m = alias_address(i);
        if (m && m->base == BASE_REG && (i->space == PTX_SPACE_GLOBAL || i->space == PTX_SPACE_GENERIC))
            address[m->index] = true;
        if (ptx_is_address_cast(i) && i->nopnds && i->opnds[0].kind == OPND_REG)
            converted[i->opnds[0].index] = true;
    }
    for (uint32_t k = 0; k < f->ninsts; k++) {
        const struct ptx_inst *i = &f->insts[k];
        const struct ptx_operand *o = i->opnds;
        if (ptx_rule_of(i) != ADDR_ADD || o[0].kind != OPND_REG || !address[o[0].index])
            continue;
        bool other = (o[1].kind == OPND_REG && converted[o[1].index]) ||
                     (o[2].kind == OPND_REG && converted[o[2].index]);
        for (int n = 1; n < 3 && !other; n++)
            if (o[n].kind == OPND_REG && !done[o[n].index]) {
                done[o[n].index] = true;
                note_loads(a, o[n].index);
            }
    }
}

void alias_find_pointers(struct alias *a)
{
    const struct ptx_func *f = a->kernel;
    bool *done = base_alloc(3 * ((size_t)f->nregs + 1));
    for (uint32_t k = 0; k < f->nparams; k++)
        if (f->params[k]->is_ptr && f->params[k]->bytes == 8)
            note_pointer(a, (int)k, 0);
    for (uint32_t k = 0; done && k < f->ninsts; k++) {
        const struct ptx_inst *i = &f->insts[k];
        if (!ptx_is_address_cast(i) || i->space != PTX_SPACE_GLOBAL || i->nopnds < 2 ||
            i->opnds[1].kind != OPND_REG)
            continue;
        if (!done[i->opnds[1].index])
            note_loads(a, i->opnds[1].index);
        done[i->opnds[1].index] = true;
    }
    a->all_pointers |= !a->npointers || !done;
    if (done && !a->all_pointers)
        find_bases(a, done, done + f->nregs + 1, done + 2 * ((size_t)f->nregs + 1));
    base_free(done);
}
