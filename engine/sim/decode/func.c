/* A function: places of its variables, schedule order of blocks, then instruction by
 * instruction through the decoder its op table row names. */
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/link.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/mem.h"

#include <string.h>

/* ---- layout of a frame: variables; registers see slot.c ---- */
static uint64_t place(uint32_t *at, const struct ptx_symbol *s)
{
    uint32_t align = s->align ? s->align : 1;
    *at = (uint32_t)sim_round_up(*at, align);
    uint64_t off = *at;
    *at += (uint32_t)s->bytes;
    return off;
}

static bool layout_local(struct decode *d, const struct ptx_func *pf, struct exec_func *f)
{
    uint32_t at = 0;
    f->var_off = ARENA_ARRAY(d->p->arena, uint64_t, pf->nvars + 1);
    f->param_off = ARENA_ARRAY(d->p->arena, uint64_t, pf->nparams + pf->nrets + 1);
    if (!f->var_off || !f->param_off)
        return false;
    for (uint32_t i = 0; i < pf->nvars; i++)
        if (pf->vars[i]->space == PTX_SPACE_LOCAL || pf->vars[i]->space == PTX_SPACE_PARAM)
            f->var_off[i] = place(&at, pf->vars[i]);
    if (!pf->entry) {
        for (uint32_t i = 0; i < pf->nrets; i++)
            f->param_off[i] = place(&at, pf->rets[i]);
        for (uint32_t i = 0; i < pf->nparams; i++)
            f->param_off[pf->nrets + i] = place(&at, pf->params[i]);
    }
    f->local_bytes = (uint32_t)sim_round_up(at, 16);
    return true;
}

bool decode_layout(struct decode *d, const struct ptx_func *pf, struct exec_func *f)
{
    f->ptx = pf;
    f->nregs = pf->nregs;
    return layout_local(d, pf, f);
}

/* ---- schedule order ----
 * A topological order of the blocks in which all of a loop comes before what follows it: for the
 * search, every block a loop leaves to counts as a successor of the loop's latches. */
struct order {
    const struct ptx_cfg *c;
    struct edge {
        uint32_t to, next;
    } * extra;
    uint32_t *first;
    size_t n, cap;
    bool oom;
};

static void order_edge(struct order *o, uint32_t from, uint32_t to)
{
    if (!base_grow((void **)&o->extra, o->n, &o->cap, sizeof *o->extra)) {
        o->oom = true;
        return;
    }
    o->extra[o->n] = (struct edge){ to, o->first[from] };
    o->first[from] = (uint32_t)o->n++;
}

static void order_exits(struct order *o, const struct ptx_loop *l, uint8_t *in_loop)
{
    const struct ptx_block *b = o->c->blocks;
    memset(in_loop, 0, o->c->nblocks);
    for (uint32_t i = 0; i < l->nblocks; i++)
        in_loop[l->blocks[i]] = 1;
    for (uint32_t i = 0; i < l->nblocks; i++)
        for (uint32_t s = 0; s < b[l->blocks[i]].nsucc; s++) {
            uint32_t to = b[l->blocks[i]].succ[s];
            for (uint32_t k = 0; !in_loop[to] && k < b[l->header].npred; k++)
                if (in_loop[b[l->header].pred[k]] && b[l->header].pred[k] != l->blocks[i])
                    order_edge(o, b[l->header].pred[k], to);
        }
}

/* Depth-first from block 0; post[] receives blocks as they finish. */
static uint32_t order_walk(struct order *o, uint32_t *post, uint32_t *stack, uint32_t *at, uint8_t *seen)
{
    uint32_t n = 0, top = 0;
    stack[top++] = 0;
    seen[0] = 1;
    while (top) {
        uint32_t b = stack[top - 1], k = at[b]++, to = EXEC_NO_ID;
        const struct ptx_block *blk = &o->c->blocks[b];
        if (k < blk->nsucc) {
            to = blk->succ[k];
        } else {
            uint32_t e = o->first[b];
            for (uint32_t j = blk->nsucc; j < k && e != EXEC_NO_ID; j++)
                e = o->extra[e].next;
            if (e == EXEC_NO_ID) {
                post[n++] = b;
                top--;
                continue;
            }
            to = o->extra[e].to;
        }
        if (!seen[to]) {
            seen[to] = 1;
            stack[top++] = to;
        }
    }
    return n;
}

static void order_apply(struct decode *d, const struct ptx_cfg *c, const uint32_t *post, uint32_t n)
{
    uint32_t rank = 0;
    struct exec_inst *code = d->p->code + d->f->first;
    while (n--) {
        const struct ptx_block *b = &c->blocks[post[n]];
        for (uint32_t i = 0; i < b->n; i++)
            code[b->first + i].rank = ++rank;
        if (b->n)
            code[b->first].leader = LEADS_BLOCK;
    }
}

static bool order_blocks(struct decode *d, const struct ptx_cfg *c)
{
    uint32_t n = c->nblocks;
    struct order o = { .c = c, .first = base_alloc((n + 1) * sizeof(uint32_t)) };
    uint32_t *work = base_alloc(((size_t)n * 3 + 1) * sizeof *work);
    uint8_t *seen = base_alloc((size_t)n * 2 + 1);
    bool ok = o.first && work && seen;
    if (ok && n) {
        memset(o.first, 0xff, n * sizeof *o.first);
        for (uint32_t i = 0; i < c->nloops; i++)
            order_exits(&o, &c->loops[i], seen + n);
        uint32_t m = order_walk(&o, work, work + n, work + 2 * n, seen);
        order_apply(d, c, work, m);
    }
    ok = ok && !o.oom;
    BASE_FREE(o.extra, o.first, work, seen);
    return ok;
}

/* ---- instructions ---- */
static uint32_t list_regs(const struct ptx_inst *i, unsigned want, uint32_t *v, uint32_t most)
{
    uint32_t n = 0;
    for (struct ptx_regs r = ptx_regs_of(i, want); n < most && ptx_next_reg(&r);)
        v[n++] = r.reg;
    return n;
}

#define MOST_REGS 160u /* of one instruction: wgmma has the most */
static bool scoreboard(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    uint32_t v[2 * MOST_REGS];
    in->ndst = (uint16_t)list_regs(i, PTX_WRITE, v, MOST_REGS);
    in->nsrc = (uint16_t)list_regs(i, PTX_READ, v + in->ndst, MOST_REGS);
    in->regs = decode_keep(d, v, (in->ndst + in->nsrc + 1u) * sizeof *v);
    return in->regs != NULL;
}

/* The op table gives the class of the integer form; float forms of the same row run elsewhere. */
static uint8_t class_of(const struct ptx_inst *i)
{
    enum ptx_class c = ptx_op_info(i->op)->cls;
    if (c != CLASS_ALU && c != CLASS_FP32)
        return (uint8_t)c;
    switch (i->ntypes ? i->type[0] : PTX_T_NONE) {
    case PTX_T_F64: return CLASS_FP64;
    case PTX_T_F16:
    case PTX_T_F16X2:
    case PTX_T_BF16:
    case PTX_T_BF16X2: return CLASS_FP16;
    case PTX_T_F32: return i->op == PTX_OP_SETP || i->op == PTX_OP_SELP ? CLASS_ALU : CLASS_FP32;
    default: return (uint8_t)c;
    }
}

/* The statement on one line, cut at n - 1 characters. */
static void one_line(struct str text, char *out, size_t n)
{
    size_t m = 0;
    for (size_t k = 0; k < text.n && m + 1 < n; k++) {
        bool blank = strchr(" \t\r\n", text.s[k]) != NULL;
        if (!blank || (m && out[m - 1] != ' '))
            out[m++] = blank ? ' ' : text.s[k];
    }
    out[m] = 0;
}

/* The function that a call names and no file given has: no GPU would run it either. */
static struct str undefined_target(const struct ptx_inst *i)
{
    for (unsigned k = 0; i->op == PTX_OP_CALL && k < i->nopnds; k++) {
        const struct ptx_symbol *s = i->opnds[k].kind == OPND_SYM ? i->opnds[k].sym : NULL;
        if (s && s->kind == SYM_FUNC && s->func && !s->func->def && !ptx_link_runtime(s->name))
            return s->name;
    }
    return (struct str){ NULL, 0 };
}

static void refuse(struct decode *d, const struct ptx_inst *i)
{
    char text[104];
    one_line(ptx_text(d->p->module, i->at), text, sizeof text);
    struct diag *g =
        diag_add(d->ds, DIAG_ERROR, "not-modelled", d->p->module->path, i->at,
                 d->no_ptx ? "PTX has no form '%s'%s%s" : "the simulated device does not model '%s'%s%s",
                 text, d->why[0] ? ": " : "", d->why);
    if (g) {
        diag_source(g, d->p->module->text);
        struct str missing = undefined_target(i);
        if (missing.n)
            diag_hint(g, "no given file defines '%.*s': add the file that does",
                      (int)(missing.n > 80 ? 80 : missing.n), missing.s);
        else
            diag_hint(g, d->no_ptx ? "no device runs it: correct its operands"
                                   : "run it on a GPU (--device cuda:0)");
    }
}

/* Registers share slots by what ptx_regs_of says of each instruction: one that its decoder uses and
 * that does not name would read or spoil another's value. */
static bool asked_are_known(struct decode *d, const struct ptx_inst *i)
{
    for (uint32_t k = 0; k < d->nasked; k++) {
        struct str name = d->pf->regs[d->asked[k]].name;
        if (!ptx_reg_access(i, d->asked[k]))
            return decode_why(d, "uses register %.*s, which is not one of its operands", (int)name.n,
                              name.s);
    }
    return true;
}

/* A copy of a parameter that is kept: nothing is to be written (slot.c). */
static bool is_kept(const struct decode *d, const struct ptx_inst *i)
{
    bool copies = i->op == PTX_OP_MOV || i->op == PTX_OP_CVTA || i->op == PTX_OP_CVTA_TO;
    return copies && i->opnds[0].kind == OPND_REG &&
           (d->f->reg_slot[i->opnds[0].index] & 3u) == BANK_SREG;
}

static bool decode_one(struct decode *d, const struct ptx_inst *i, struct exec_inst *in, bool reachable)
{
    uint32_t rank = in->rank;
    uint8_t leader = in->leader, live = in->live;
    decode_fn *fn = reachable ? decode_of(i->op) : decode_of(PTX_OP_TRAP);
    *in = (struct exec_inst){ .guard = EXEC_NO_ID,
                              .dst2 = EXEC_NO_ID,
                              .load_id = EXEC_NO_ID,
                              .vec = 1,
                              .rank = rank,
                              .leader = leader,
                              .live = live,
                              .ptx = i,
                              .func = d->f,
                              .cls = class_of(i),
                              .next = d->f->first + i->index + 1 };
    d->why[0] = 0;
    d->no_ptx = false;
    d->nasked = 0;
    if (i->guarded) {
        in->guard = decode_reg_slot(d, i->guard, -1);
        in->guard_neg = i->guard_neg;
    }
    if (d->p->part) {
        bool ok = decode_part(d, i, in, reachable);
        in->leader |= in->kind == EXEC_SYNC ? LEADS_LANES : 0;
        return scoreboard(d, i, in) && ok;
    }
    if (i->op == PTX_OP_MOV && !i->nopnds) { /* a mul that was fused */
        in->fn = exec_nop;
        in->dst = EXEC_NO_ID;
        return scoreboard(d, i, in);
    }
    if (!fn || !fn(d, i, in) || !asked_are_known(d, i)) {
        if (!d->oom)
            refuse(d, i);
        return false;
    }
    if (is_kept(d, i)) {
        in->fn = exec_nop;
        in->dst = EXEC_NO_ID;
    }
    if (ptx_role_of(i) == ROLE_PRODUCT)
        in->load_id = d->p->nloads++;
    in->leader |= in->kind == EXEC_SYNC ? LEADS_LANES : 0;
    return scoreboard(d, i, in);
}

/* ---- accesses through one register ----
 * Plain loads and stores of a block that share an address register, nothing having written it in
 * between, form a group (exec_inst.group). The first must be unguarded: it always runs, so that the rest
 * find this pass's pattern. */
enum { OPEN_GROUPS = 16 };
struct open_group {
    uint32_t reg;
    struct exec_inst *first;
};
struct group_scan {
    struct decode *d;
    struct open_group open[OPEN_GROUPS];
    uint32_t n;
};

/* The address register of a plain access of global, shared or constant memory; EXEC_NO_ID: no such
 * access. */
static uint32_t group_reg(const struct exec_inst *in)
{
    const struct ptx_inst *i = in->ptx;
    bool load = i->op == PTX_OP_LD || i->op == PTX_OP_LDU;
    if (i->nopnds < 2)
        return EXEC_NO_ID;
    const struct ptx_operand *o = &i->opnds[load ? 1 : 0];
    bool plain = in->kind == EXEC_MEM && (load || i->op == PTX_OP_ST) && in->bytes < 16 &&
                 !(in->flags & EXEC_F_FRAME);
    plain &= in->lean != exec_place; /* it leaves no pattern */
    return plain && in->space != PTX_SPACE_LOCAL && o->kind == OPND_ADDR && o->base == BASE_REG
               ? o->index
               : EXEC_NO_ID;
}

static void group_put(struct group_scan *s, struct exec_inst *in)
{
    uint32_t reg = group_reg(in), bytes = (uint32_t)in->bytes * in->vec;
    for (uint32_t k = 0; reg != EXEC_NO_ID && k < s->n; k++) {
        struct exec_inst *f = s->open[k].first;
        if (s->open[k].reg != reg || f->a != in->a || (uint32_t)f->bytes * f->vec != bytes)
            continue;
        if (!f->group)
            f->group = ++s->d->ngroups;
        in->group = in->follows = f->group;
        return;
    }
    if (reg != EXEC_NO_ID && in->guard == EXEC_NO_ID && s->n < OPEN_GROUPS)
        s->open[s->n++] = (struct open_group){ reg, in };
}

static void group_close(struct group_scan *s, const struct exec_inst *in)
{
    if (in->kind == EXEC_CONTROL || in->kind == EXEC_SYNC)
        s->n = 0;
    for (uint32_t r = 0; r < in->ndst; r++)
        for (uint32_t k = 0; k < s->n;)
            if (s->open[k].reg == in->regs[r])
                s->open[k] = s->open[--s->n];
            else
                k++;
}

static void group_blocks(struct decode *d, const struct ptx_cfg *c, struct exec_inst *code)
{
    for (uint32_t b = 0; b < c->nblocks; b++) {
        struct group_scan s = { .d = d };
        for (uint32_t i = 0; i < c->blocks[b].n; i++) {
            group_put(&s, &code[c->blocks[b].first + i]);
            group_close(&s, &code[c->blocks[b].first + i]);
        }
    }
}

/* ---- what the run loop may call without looking ---- */
static bool needs_loop(const struct exec_inst *in)
{
    return (in->kind != EXEC_PLAIN && in->kind != EXEC_MEM) || in->spin || in->cls == CLASS_BARRIER ||
           in->reads_time;
}
static void count_runs(struct exec_inst *code, uint32_t n)
{
    for (uint32_t i = n; i--;) {
        bool more = i + 1 < n && code[i + 1].run && !code[i + 1].leader && code[i + 1].run < UINT16_MAX;
        code[i].run = needs_loop(&code[i]) ? 0 : (uint16_t)(1 + (more ? code[i + 1].run : 0));
    }
}

static bool is_word_load(const struct exec_inst *in)
{
    return in->fast_path == QUICK_GLOBAL && !in->store && in->bytes == 4 && in->guard == EXEC_NO_ID;
}

/* Loads that follow the first of their group with nothing stored in between want words beside its: where
 * lanes lie apart each lane's words are read at once, since a host's cache often has no room for 32
 * lines at one stride until the next. */
static void look_ahead(struct exec_inst *first)
{
    for (uint32_t i = 1; first->group && !first->follows && is_word_load(first) && i < first->run &&
                         first->nahead < EXEC_AHEAD;
         i++) {
        struct exec_inst *in = first + i;
        int64_t by = (int64_t)in->imm - first->imm;
        if (in->kind == EXEC_MEM && (in->store || ptx_op_info(in->ptx->op)->effect != EFFECT_LOAD))
            return;
        int64_t last = first->nahead ? first->ahead[first->nahead - 1] : 0;
        if (in->follows != first->group || !is_word_load(in) || by <= last || by >= 64 || by % 4)
            continue;
        first->ahead[first->nahead++] = (uint8_t)by;
        in->nth = first->nahead;
    }
}

static void mark_quick(struct exec_inst *in)
{
    const struct exec_ldst *x = in->x;
    bool wide = in->flags & EXEC_F_BASE64,
         one = in->vec == 1 && in->bytes < 16 && !(in->flags & EXEC_F_FRAME);
    if (in->kind != EXEC_MEM ||
        !(in->ptx->op == PTX_OP_LD || in->ptx->op == PTX_OP_LDU || in->ptx->op == PTX_OP_ST) || !one ||
        x->slot[0] == EXEC_NO_ID)
        return;
    if (wide && (in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_CONST))
        in->fast_path = QUICK_GLOBAL;
    else if (!wide && in->space == PTX_SPACE_SHARED)
        in->fast_path = QUICK_SHARED;
}

/* The function's end acts as ret. */
static bool decode_end(struct decode *d, struct exec_inst *in, const struct ptx_inst *last)
{
    *in = (struct exec_inst){ .guard = EXEC_NO_ID,
                              .dst2 = EXEC_NO_ID,
                              .load_id = EXEC_NO_ID,
                              .vec = 1,
                              .rank = UINT32_MAX,
                              .leader = LEADS_BLOCK,
                              .ptx = last,
                              .func = d->f,
                              .cls = CLASS_CONTROL };
    bool ok = decode_of(PTX_OP_RET)(d, last, in);
    in->lean = in->fn;
    return ok;
}

/* It copies asynchronously, or reads shared memory so. */
static bool flies(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_op_info(i->op)->effect;
    return e == EFFECT_ASYNC_COPY || e == EFFECT_TENSOR;
}

static bool has_one_address(const struct ptx_inst *i, const bool *varying)
{
    for (unsigned k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_ADDR && i->opnds[k].base == BASE_REG)
            return !varying[i->opnds[k].index];
    return true; /* a variable's name */
}

/* The assembler looks at neither order nor branches. */
static void mark_one_address(struct decode *d, struct exec_inst *code)
{
    const bool *varying = NULL;
    for (uint32_t i = 0; i < d->pf->ninsts && !d->oom; i++) {
        if (ptx_op_info(d->pf->insts[i].op)->effect != EFFECT_ATOMIC)
            continue;
        varying = ptx_varying_of(d->pf, PTX_OF_WARP, PTX_BY_DATA);
        d->oom |= !varying;
        code[i].one_address = varying && has_one_address(&d->pf->insts[i], varying);
    }
}

bool decode_function(struct decode *d, uint32_t index)
{
    struct exec_func *f = &d->p->funcs[index];
    d->f = f;
    d->pf = f->ptx;
    d->carry = EXEC_NO_ID;
    const struct ptx_cfg *c = ptx_cfg_of(f->ptx);
    if (!c || !order_blocks(d, c) || !decode_live(d)) {
        d->oom = true;
        return false;
    }
    bool ok = true;
    struct exec_inst *code = d->p->code + f->first;
    for (uint32_t i = 0; i < f->ptx->ninsts && !d->oom; i++) {
        const struct ptx_block *b = c->block_of[i] != PTX_NO_INDEX ? &c->blocks[c->block_of[i]] : NULL;
        ok &= decode_one(d, &f->ptx->insts[i], &code[i], b && b->reachable);
        d->p->flies |= flies(&f->ptx->insts[i]);
    }
    if (!d->p->part)
        mark_one_address(d, code);
    if (ok && !d->oom) {
        group_blocks(d, c, code);
        if (d->p->part || (decode_watch(d, c, code) && !d->p->watched))
            count_runs(code, f->ptx->ninsts);
        for (uint32_t i = 0; i < f->ptx->ninsts; i++)
            mark_quick(&code[i]);
        for (uint32_t i = 0; i < f->ptx->ninsts; i++)
            look_ahead(&code[i]);
    }
    if (!f->ptx->ninsts) {
        diag_add(d->ds, DIAG_ERROR, "not-modelled", d->p->module->path, f->ptx->head,
                 "'%.*s' has no instructions: nothing to simulate", (int)f->ptx->name.n, f->ptx->name.s);
        return false;
    }
    return ok && decode_end(d, &code[f->ptx->ninsts], &f->ptx->insts[f->ptx->ninsts - 1]);
}
