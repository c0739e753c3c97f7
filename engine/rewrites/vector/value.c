/* Pure registers of the first thread of the launch: numbers that the launch gives, buffers at 0 (they
 * begin at multiples of 256). Only a guess of where addresses lie between vectors comes from it; the
 * code asks for the real ones. */
#include "engine/rewrites/vector/vector_int.h"

#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"

#include <string.h>

static bool operand_value(const struct vector_plan *p, const struct pass_ctx *c,
                          const struct ptx_operand *o, int64_t *v)
{
    const struct launch_spec *l = c->in->launch;
    *v = o->imm;
    if (o->kind == OPND_IMM)
        return !o->is_float;
    if (o->kind == OPND_REG) {
        *v = p->value[o->index];
        return p->known[o->index];
    }
    if (o->kind != OPND_SREG || o->comp < 0 || o->comp > 2)
        return false;
    struct dim3u d = o->index == PTX_SREG_NTID ? launch_block(l) : launch_grid(l);
    bool size = o->index == PTX_SREG_NTID || o->index == PTX_SREG_NCTAID;
    *v = !size ? 0 : o->comp == 0 ? d.x : o->comp == 1 ? d.y : d.z;
    return true;
}

static bool param_value(const struct pass_ctx *c, const struct ptx_inst *i, int64_t *v)
{
    const struct ptx_operand *a = inst_address(i);
    const struct launch_spec *l = c->in->launch;
    *v = 0;
    for (uint32_t k = 0; a && a->base == BASE_SYM && !a->imm && k < c->f->nparams && k < launch_nargs(l);
         k++) {
        if (c->f->params[k] != a->sym)
            continue;
        if (launch_arg(l, k)->kind == ARG_SCALAR)
            memcpy(v, launch_arg(l, k)->scalar, sizeof launch_arg(l, k)->scalar);
        if (launch_arg(l, k)->kind == ARG_SAME_AS)
            *v = (int64_t)launch_arg(l, k)->offset;
        return launch_arg(l, k)->kind == ARG_SCALAR || launch_arg(l, k)->kind == ARG_BUFFER ||
               launch_arg(l, k)->kind == ARG_SAME_AS;
    }
    return false;
}

/* So many low bits of v, as the type reads them. */
static int64_t as_type(int64_t v, enum ptx_type t)
{
    unsigned n = ptx_type_bits(t);
    if (n >= 64)
        return v;
    bool is_signed = ptx_type_name(t)[0] == 's';
    uint64_t low = (uint64_t)v & (((uint64_t)1 << n) - 1);
    return is_signed && low >> (n - 1) ? (int64_t)(low - ((uint64_t)1 << n)) : (int64_t)low;
}

static bool compute(const struct ptx_inst *i, const int64_t *v, unsigned n, int64_t *out)
{
    switch (ptx_rule_of(i)) {
    case ADDR_COPY:
    case ADDR_CVTA: *out = v[0]; return n == 1;
    case ADDR_CVT: *out = as_type(v[0], (enum ptx_type)i->type[i->ntypes - 1]); return n == 1;
    case ADDR_ADD: *out = base_wrap_add(v[0], v[1]); return n == 2;
    case ADDR_SUB: *out = base_wrap_add(v[0], base_wrap_mul(v[1], -1)); return n == 2;
    case ADDR_MUL_LO:
    case ADDR_MUL_WIDE: *out = base_wrap_mul(v[0], v[1]); return n == 2;
    case ADDR_MAD_LO:
    case ADDR_MAD_WIDE: *out = base_wrap_add(base_wrap_mul(v[0], v[1]), v[2]); return n == 3;
    case ADDR_SHL:
        *out = v[1] >= 0 && v[1] < 64 ? base_wrap_mul(v[0], (int64_t)((uint64_t)1 << v[1])) : 0;
        return n == 2;
    case ADDR_AND: *out = v[0] & v[1]; return n == 2;
    case ADDR_OR: *out = v[0] | v[1]; return n == 2;
    default: return false;
    }
}

static bool inst_value(const struct vector_plan *p, const struct pass_ctx *c, const struct ptx_inst *i,
                       int64_t *out)
{
    int64_t v[3] = { 0 };
    unsigned n = 0;
    if (!i->ntypes || i->nopnds < 2 || i->opnds[0].kind != OPND_REG)
        return false;
    enum ptx_addr_rule rule = ptx_rule_of(i);
    bool wide = rule == ADDR_MUL_WIDE || rule == ADDR_MAD_WIDE;
    if (rule == ADDR_LOAD) {
        if (!param_value(c, i, out))
            return false;
    } else {
        for (uint8_t k = 1; k < i->nopnds && n < 3; k++, n++) {
            if (!operand_value(p, c, &i->opnds[k], &v[n]))
                return false;
            if (wide && n < 2)
                v[n] = as_type(v[n], (enum ptx_type)i->type[0]);
        }
        if (!compute(i, v, n, out))
            return false;
    }
    if (!wide)
        *out = as_type(*out, (enum ptx_type)i->type[0]);
    return true;
}

void vector_find_values(const struct pass_ctx *c, struct vector_plan *p)
{
    for (uint32_t k = 0; c->in->launch && k < p->norder; k++) {
        const struct ptx_inst *i = &p->f->insts[p->order[k]];
        int64_t v;
        if (!inst_value(p, c, i, &v))
            continue;
        p->value[i->opnds[0].index] = v;
        p->known[i->opnds[0].index] = true;
    }
}
