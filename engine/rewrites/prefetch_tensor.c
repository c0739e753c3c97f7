/* prefetch of tensors: the box that a tensor copy of a loop will read some turns later is asked for.
 *
 *   before                              after, --prefetch l2 --prefetch-distance 1
 *   $loop:                              $loop:
 *                                         add.s32 x, %r10, 64;     the coordinate a turn later
 *                                         @p cp.async.bulk.prefetch.tensor... [%rd1, {x, %r9}];
 *     cp.async.bulk.tensor...             cp.async.bulk.tensor...
 *       [s], [%rd1, {%r10, %r9}], [b];      [s], [%rd1, {%r10, %r9}], [b];
 *
 * As for loads, coordinates and the kernel's own conditions are computed again, ahead. The copy's guard
 * holds too, so that the elected thread alone asks. The engine reads nothing outside the tensor. */
#include "engine/analysis/symbolic/bulk.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/ptx.h"
#include "engine/rewrites/prefetch_int.h"

bool prefetch_reads_box(const struct ptx_inst *i)
{
    struct bulk b;
    return bulk_parts(i, &b) && b.kind == BULK_LOAD && b.tensor && b.followed && !b.rows;
}

/* Every coordinate, ahead; false: one cannot be had, or none moves. */
static bool coordinates(struct slice *s, const struct bulk *b)
{
    for (unsigned k = 0; k < b->nvalues; k++)
        if (b->value[k].kind == OPND_REG ? !slice_reg(s, b->value[k].index)
                                         : b->value[k].kind != OPND_IMM)
            return false;
    return s->moved != 0;
}

static void put_coordinate(struct slice *s, const struct ptx_operand *o)
{
    if (o->kind == OPND_IMM) {
        buf_printf(s->code, "%lld", (long long)o->imm);
        return;
    }
    const char *name = slice_name(s, o->index);
    buf_str(s->code, name ? str_of(name) : s->fl->f->regs[o->index].name);
}

/* The guard is among the conditions already: it does not change in the loop. */
static bool has_guard(const struct ptx_inst *i, const struct bounds *b)
{
    bool found = !i->guarded;
    for (uint32_t k = 0; k < b->n && !found; k++)
        found = b->negated[k] == i->guard_neg && b->own[k] == i->guard;
    return found;
}

/* Predicate n holds where the copy will be made and its thread is here now. False: it always does. */
static bool put_conditions(struct slice *s, const struct ptx_inst *i, uint32_t n, const struct bounds *b)
{
    const char *t = s->c->tag;
    bool any = false;
    for (uint32_t k = 0; k <= b->n; k++) {
        bool own = k == b->n;
        if (own && has_guard(i, b))
            break;
        struct str p = own ? s->fl->f->regs[i->guard].name : str_of(b->pred[k]);
        bool negated = own ? i->guard_neg : b->negated[k];
        if (negated)
            pass_code(s->code, t, "not.pred \t%%#bn%u, %.*s;\n", n, (int)p.n, p.s);
        buf_printf(s->code, any ? "and.pred \t%%%sf%u, %%%sf%u, " : "mov.pred \t%%%sf%u, ", t, n, t, n);
        if (negated)
            pass_code(s->code, t, "%%#bn%u;\n", n);
        else
            buf_printf(s->code, "%.*s;\n", (int)p.n, p.s);
        any = true;
    }
    return any;
}

bool prefetch_box(struct slice *s, const struct ptx_inst *i, uint32_t n, struct bounds *bounds)
{
    struct bulk b;
    if (!bulk_parts(i, &b) || !coordinates(s, &b))
        return false;
    bounds_of(s, i, bounds);
    pass_code(s->decls, s->c->tag, ".reg .pred \t%%#f%u, %%#bn%u;\n", n, n);
    if (put_conditions(s, i, n, bounds))
        pass_code(s->code, s->c->tag, "@%%#f%u ", n);
    buf_printf(s->code, "cp.async.bulk.prefetch.tensor.%ud.L2.global.tile \t[%.*s, {", b.nvalues,
               (int)b.global->len, s->c->m->text.s + b.global->off);
    for (unsigned k = 0; k < b.nvalues; k++) {
        buf_puts(s->code, k ? ", " : "");
        put_coordinate(s, &b.value[k]);
    }
    buf_puts(s->code, "}];\n");
    return true;
}
