/* Control, barriers, warp-wide operations, matrix operations; and the table from rows to decoders. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/exec/runtime/builtin.h"
#include "engine/sim/mem.h"

/* ---- branches ---- */
static bool label_target(struct decode *d, uint32_t label, uint32_t *target)
{
    if (label >= d->pf->nlabels)
        return decode_why(d, "branch to something that is not a label");
    *target = d->f->first + d->pf->labels[label].inst;
    return true;
}

static bool decode_bra(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    in->kind = EXEC_CONTROL;
    in->fn = exec_bra;
    return label_target(d, i->opnds[0].index, &in->target);
}

static bool decode_brx(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    const struct ptx_label *l =
        i->opnds[1].index < d->pf->nlabels ? &d->pf->labels[i->opnds[1].index] : NULL;
    if (!l)
        return decode_why(d, "no list of branch targets");
    struct exec_brx *x = arena_alloc(d->p->arena, sizeof *x + l->ntargets * sizeof x->target[0]);
    if (!x)
        return !(d->oom = true);
    x->n = l->ntargets;
    for (uint32_t k = 0; k < x->n; k++)
        if (!label_target(d, l->targets[k], &x->target[k]))
            return false;
    in->kind = EXEC_CONTROL;
    in->fn = exec_brx;
    in->x = x;
    return decode_src(d, &i->opnds[0], 4, &in->a);
}

/* Instructions without operands, whichever instruction stands there: a function's end acts as ret, code that is
 * not reached as trap. */
#define BARE(name, function)                                                                    \
    static bool decode_##name(struct decode *d, const struct ptx_inst *i, struct exec_inst *in) \
    {                                                                                           \
        (void)d, (void)i;                                                                       \
        in->kind = EXEC_CONTROL;                                                                \
        in->fn = function;                                                                      \
        return true;                                                                            \
    }
BARE(ret, exec_ret)
BARE(exit, exec_exit)
BARE(trap, i->op == PTX_OP_TRAP || i->op == PTX_OP_BRKPT ? exec_trap : exec_unreachable)
BARE(cluster, i->op == PTX_OP_BARRIER_CLUSTER_ARRIVE ? exec_cluster_arrive : exec_cluster_wait)

/* ---- calls ---- */
/* The caller's side of one argument: a variable of its frame, or a slot. */
static bool call_operand(struct decode *d, const struct ptx_operand *o, uint32_t bytes, bool write,
                         struct exec_copy *c)
{
    bool frame;
    uint64_t addr;
    *c = (struct exec_copy){ .slot = EXEC_NO_ID, .bytes = bytes };
    if (o->kind == OPND_SINK)
        return true;
    if (o->kind == OPND_SYM) {
        if (!decode_symbol(d, o->sym, &addr, &frame))
            return false;
        if (frame && o->sym->space == PTX_SPACE_PARAM) {
            c->from = (uint32_t)addr;
            return true;
        }
    }
    unsigned bits = decode_reg_bits(d, o);
    if (bits > 64)
        return decode_why(d, "an argument of 128 bits in a register");
    c->slot_bytes = (uint8_t)(bits ? (bits <= 32 ? 4 : bits / 8) : bytes <= 4 ? 4 : 8);
    return write ? decode_dst(d, o, c->slot_bytes, &c->slot) : decode_src(d, o, c->slot_bytes, &c->slot);
}

static bool call_list(struct decode *d, const struct ptx_operand *list,
                      const struct ptx_symbol *const *formal, uint32_t nformal, const uint64_t *off,
                      bool write, struct exec_copy **out, uint32_t *n)
{
    uint32_t count = list ? list->nelem : 0;
    struct exec_copy *c = ARENA_ARRAY(d->p->arena, struct exec_copy, count + 1);
    if (!c)
        return !(d->oom = true);
    if (formal && count != nformal)
        return decode_why(d, "number of arguments does not match the function");
    for (uint32_t k = 0; k < count; k++) {
        const struct ptx_operand *o = &list->elem[k];
        uint64_t bytes = formal ? formal[k]->bytes : o->kind == OPND_SYM ? o->sym->bytes : 8;
        if (!call_operand(d, o, (uint32_t)bytes, write, &c[k]))
            return false;
        c[k].to = off ? (uint32_t)off[k] : 0;
    }
    *out = c;
    *n = count;
    return true;
}

static bool call_builtin(struct decode *d, const struct ptx_func *f, const struct ptx_operand *rets,
                         const struct ptx_operand *args, struct exec_call *x, struct exec_inst *in)
{
    x->builtin = exec_builtin_find(f->name);
    if (x->builtin == BUILTIN_NONE)
        return decode_why(d, "'%.*s' is defined elsewhere", (int)f->name.n, f->name.s);
    in->fn = exec_builtin;
    in->kind = EXEC_MEM;
    if (x->builtin == BUILTIN_MALLOC || x->builtin == BUILTIN_FREE) {
        d->atomic_order = true; /* the addresses */
        if (!d->p->heap &&
            !(d->p->heap = sim_mem_place(d->p->mem, EXEC_HEAP_BYTES, "heap of malloc", PLACE_BUFFER)))
            return !(d->oom = true);
    }
    return call_list(d, args, (const struct ptx_symbol *const *)f->params, f->nparams, NULL, false,
                     &x->in, &x->nin) &&
           call_list(d, rets, (const struct ptx_symbol *const *)f->rets, f->nrets, NULL, true, &x->out,
                     &x->nout);
}

static bool decode_call(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_call x = { .func = EXEC_NO_ID };
    const struct ptx_operand *rets = NULL, *args = NULL, *target;
    unsigned k = 0;
    if (i->nopnds > 1 && i->opnds[0].kind == OPND_MULTI)
        rets = &i->opnds[k++];
    target = &i->opnds[k++];
    if (k < i->nopnds && i->opnds[k].kind == OPND_MULTI)
        args = &i->opnds[k++];
    in->kind = EXEC_CONTROL;
    if (target->kind == OPND_REG) {
        d->p->recursive = true;
        in->fn = exec_call_indirect;
        if (!decode_src(d, target, decode_reg_bits(d, target) > 32 ? 8 : 4, &in->a) ||
            !call_list(d, args, NULL, 0, NULL, false, &x.in, &x.nin) ||
            !call_list(d, rets, NULL, 0, NULL, true, &x.out, &x.nout))
            return false;
        in->flags |= decode_reg_bits(d, target) > 32 ? EXEC_F_BASE64 : 0;
        return decode_more(d, in, &x, sizeof x);
    }
    if (target->kind != OPND_SYM || target->sym->kind != SYM_FUNC)
        return decode_why(d, "call of something that is not a function");
    x.func = decode_func_index(d, target->sym->func);
    if (x.func == EXEC_NO_ID) {
        if (!call_builtin(d, target->sym->func, rets, args, &x, in))
            return false;
        return decode_more(d, in, &x, sizeof x);
    }
    const struct exec_func *f = &d->p->funcs[x.func];
    in->fn = exec_call;
    if (!call_list(d, args, (const struct ptx_symbol *const *)f->ptx->params, f->ptx->nparams,
                   f->param_off + f->ptx->nrets, false, &x.in, &x.nin) ||
        !call_list(d, rets, (const struct ptx_symbol *const *)f->ptx->rets, f->ptx->nrets, f->param_off,
                   true, &x.out, &x.nout))
        return false;
    return decode_more(d, in, &x, sizeof x);
}

/* ---- barriers ---- */
static bool bar_operands(struct decode *d, const struct ptx_inst *i, unsigned at, unsigned end,
                         struct exec_barrier_how *x)
{
    if (at < end && !decode_src(d, &i->opnds[at], 4, &x->id))
        return false;
    x->has_count = at + 1 < end;
    return !x->has_count || decode_src(d, &i->opnds[at + 1], 4, &x->count);
}

static bool decode_bar(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_barrier_how x = { .op = 0 };
    in->kind = EXEC_CONTROL;
    in->fn = exec_bar_sync;
    if (!i->nopnds && !decode_const_slot(d, 0, 4, &x.id))
        return false;
    return bar_operands(d, i, 0, i->nopnds, &x) && decode_more(d, in, &x, sizeof x);
}
static bool decode_bar_arrive(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    if (!decode_bar(d, i, in))
        return false;
    in->fn = exec_bar_arrive;
    return true;
}
static bool decode_bar_red(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    bool neg, unused;
    struct exec_barrier_how x = { .op = ptx_has_mod(i, PTX_MOD_POPC)  ? 1
                                        : ptx_has_mod(i, PTX_MOD_AND) ? 2
                                                                      : 3 };
    x.is_pred = i->type[0] == PTX_T_PRED;
    in->kind = EXEC_CONTROL;
    in->fn = exec_bar_red;
    if (!(x.is_pred ? decode_pred(d, &i->opnds[0], &in->dst, &unused)
                    : decode_dst(d, &i->opnds[0], 4, &in->dst)) ||
        !decode_pred(d, &i->opnds[i->nopnds - 1], &in->a, &neg))
        return false;
    x.neg = neg;
    return bar_operands(d, i, 1, i->nopnds - 1u, &x) && decode_more(d, in, &x, sizeof x);
}
static bool decode_sleep(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    in->spin = 8;
    return decode_nop(d, i, in);
}

/* ---- warp-wide ---- */
static bool sync_member(struct decode *d, const struct ptx_inst *i, unsigned at, struct exec_inst *in)
{
    in->kind = EXEC_SYNC;
    if (!ptx_has_mod(i, PTX_MOD_SYNC) && i->op != PTX_OP_BAR_WARP_SYNC) {
        in->kind = EXEC_PLAIN;
        return decode_const_slot(d, EXEC_FULL, 4, &in->d);
    }
    return at < i->nopnds ? decode_src(d, &i->opnds[at], 4, &in->d) : decode_why(d, "no member mask");
}

static bool decode_shfl(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    unsigned sync = ptx_has_mod(i, PTX_MOD_SYNC), pair = i->nopnds == 5 + sync;
    struct exec_shfl x = { .mode = ptx_has_mod(i, PTX_MOD_UP)     ? 0
                                   : ptx_has_mod(i, PTX_MOD_DOWN) ? 1
                                   : ptx_has_mod(i, PTX_MOD_BFLY) ? 2
                                                                  : 3 };
    const struct ptx_operand *o = i->opnds + 1 + pair;
    bool neg;
    in->fn = exec_shfl;
    return decode_dst(d, &i->opnds[0], 4, &in->dst) &&
           (!pair || decode_pred(d, &i->opnds[1], &in->dst2, &neg)) && decode_src(d, &o[0], 4, &in->a) &&
           decode_src(d, &o[1], 4, &in->b) && decode_src(d, &o[2], 4, &in->c) &&
           decode_more(d, in, &x, sizeof x) && sync_member(d, i, 4 + pair, in);
}

static bool decode_vote(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    bool neg, unused;
    in->imm = ptx_has_mod(i, PTX_MOD_BALLOT) ? 3
              : ptx_has_mod(i, PTX_MOD_ALL)  ? 0
              : ptx_has_mod(i, PTX_MOD_ANY)  ? 1
                                             : 2;
    in->fn = exec_vote;
    if (!(in->imm == 3 ? decode_dst(d, &i->opnds[0], 4, &in->dst)
                       : decode_pred(d, &i->opnds[0], &in->dst, &unused)) ||
        !decode_pred(d, &i->opnds[1], &in->a, &neg))
        return false;
    in->flags |= neg ? EXEC_F_NEG_A : 0;
    return sync_member(d, i, 2, in);
}

static bool decode_match(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    bool neg, pair = i->nopnds == 4;
    unsigned bytes = decode_bytes(i->type[0]);
    in->fn = exec_match;
    in->imm = ptx_has_mod(i, PTX_MOD_ALL);
    in->flags |= bytes == 8 ? EXEC_F_BASE64 : 0;
    return decode_dst(d, &i->opnds[0], 4, &in->dst) &&
           (!pair || decode_pred(d, &i->opnds[1], &in->dst2, &neg)) &&
           decode_src(d, &i->opnds[1 + pair], bytes, &in->a) && sync_member(d, i, 2u + pair, in);
}

static bool decode_redux(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    in->fn = exec_redux;
    if (i->type[0] == PTX_T_F32) {
        in->imm = 16 | (ptx_has_mod(i, PTX_MOD_MAX) ? 1 : 0) | (ptx_has_mod(i, PTX_MOD_ABS) ? 2 : 0) |
                  (ptx_has_mod(i, PTX_MOD_NAN_FLAG) ? 4 : 0);
    } else {
        bool s = i->type[0] == PTX_T_S32;
        in->imm = ptx_has_mod(i, PTX_MOD_ADD)   ? 0
                  : ptx_has_mod(i, PTX_MOD_MIN) ? (s ? 2 : 1)
                  : ptx_has_mod(i, PTX_MOD_MAX) ? (s ? 4 : 3)
                  : ptx_has_mod(i, PTX_MOD_AND) ? 5
                  : ptx_has_mod(i, PTX_MOD_OR)  ? 6
                                                : 7;
    }
    return decode_dst(d, &i->opnds[0], 4, &in->dst) && decode_src(d, &i->opnds[1], 4, &in->a) &&
           sync_member(d, i, 2, in);
}

static bool decode_elect(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    bool neg;
    in->fn = exec_elect;
    return decode_dst(d, &i->opnds[0], 4, &in->dst) && decode_pred(d, &i->opnds[1], &in->dst2, &neg) &&
           sync_member(d, i, 2, in);
}

static bool decode_activemask(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    in->fn = exec_activemask;
    return decode_dst(d, &i->opnds[0], 4, &in->dst);
}

static bool decode_warp_sync(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    in->fn = exec_warp_sync;
    return sync_member(d, i, 0, in);
}

static bool decode_movmatrix(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    in->fn = exec_movmatrix;
    in->kind = EXEC_SYNC;
    return decode_dst(d, &i->opnds[0], 4, &in->dst) && decode_src(d, &i->opnds[1], 4, &in->a) &&
           decode_const_slot(d, EXEC_FULL, 4, &in->d);
}

/* ---- stack ---- */
static bool decode_alloca(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    int64_t align = 8;
    unsigned bytes = decode_bytes(i->type[0]);
    d->p->recursive = true;
    in->fn = exec_alloca;
    in->kind = EXEC_MEM;
    in->flags |= bytes == 8 ? EXEC_F_BASE64 : 0;
    if (i->nopnds > 2 && !decode_is_imm(&i->opnds[2], &align))
        return decode_why(d, "alignment is not a constant");
    in->imm = (int32_t)align;
    return decode_dst(d, &i->opnds[0], bytes, &in->dst) && decode_src(d, &i->opnds[1], bytes, &in->a);
}
static bool decode_stack(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    unsigned bytes = decode_bytes(i->type[0]);
    in->flags |= bytes == 8 ? EXEC_F_BASE64 : 0;
    in->fn = i->op == PTX_OP_STACKSAVE ? exec_stacksave : exec_stackrestore;
    return i->op == PTX_OP_STACKSAVE ? decode_dst(d, &i->opnds[0], bytes, &in->dst)
                                     : decode_src(d, &i->opnds[0], bytes, &in->a);
}

/* Registers are not limited here; the number must be one that PTX takes (9.7.19.5), and all warps of a
 * warpgroup come to it. */
static bool decode_setmaxnreg(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    int64_t n = i->opnds[0].imm;
    if (i->opnds[0].kind == OPND_IMM && (n < 24 || n > 256 || n % 8))
        return decode_no_ptx(d, "%lld registers: a multiple of 8 from 24 to 256 can be asked for",
                             (long long)n);
    return decode_wgmma_order(d, i, in);
}

/* ---- the table: the third column of ops.def ---- */
#define decode_none            NULL
#define decode_fence_tensormap decode_nop /* nothing of a tensor map is cached */
decode_fn *decode_of(unsigned op)
{
    static decode_fn *const of[PTX_OP_COUNT] = {
#define OP(id, name, exec, ...) [PTX_OP_##id] = decode_##exec,
#include "engine/ptx/ops.def"
#undef OP
    };
    return of[op];
}
