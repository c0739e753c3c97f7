/* Loops and conditions: which loop-carried values are linear in the iteration
 * number, what a value is inside and after its loop, when the loop goes round
 * again, and under which condition a block runs. */
#include "engine/analysis/symbolic/eval.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/ptx.h"

#include <string.h>

#define P(e) (&(e)->pool)

static bool eval_in_loop(const struct eval_frame *f, uint32_t block, const struct ana_loop *l)
{
    uint32_t k = f->cfg->blocks[block].loop;
    return l->frame == f && k != PTX_NO_INDEX && k >= l->index && k <= l->last;
}
struct ana_loop *eval_loop_of(const struct eval_frame *f, uint32_t block)
{
    uint32_t k = f->cfg->blocks[block].loop;
    return k == PTX_NO_INDEX ? NULL : &f->loops[k];
}

/* ---- bottom-up rewriting with a memo per query; the stack is explicit ---- */
static bool memo_room(struct eval *e)
{
    size_t need = P(e)->n + 1;
    if (need <= e->cap_memo)
        return true;
    size_t cap = need * 2;
    const struct symexpr **m = base_realloc(e->memo, cap * sizeof *m);
    if (m)
        e->memo = m;
    uint32_t *s = m ? base_realloc(e->stamp, cap * sizeof *s) : NULL;
    if (!s) {
        e->status = ST_NOMEM;
        return false;
    }
    e->stamp = s;
    memset(e->stamp + e->cap_memo, 0, (cap - e->cap_memo) * sizeof *s);
    e->cap_memo = cap;
    return true;
}
static const struct symexpr *remake(struct eval *e, const struct symexpr *x)
{
    const struct symexpr *arg[64];
    bool changed = false;
    for (uint32_t i = 0; i < x->n && i < ARRAY_LEN(arg); i++) {
        arg[i] = e->memo[x->arg[i]->id];
        changed = changed || arg[i] != x->arg[i];
    }
    return changed ? symexpr_rebuild(P(e), x, arg) : x;
}
/* `whole` NULL, or what is replaced without looking inside (leaf is then called for it too). */
static const struct symexpr *subst(struct eval *e, const struct symexpr *root, eval_leaf_fn leaf,
                                   void *ctx, const struct symexpr *whole)
{
    struct item {
        const struct symexpr *x;
        bool ready;
    } *stack = NULL;
    size_t n = 0, cap = 0;
    uint32_t stamp = ++e->stamp_now;
    if (!memo_room(e) || !base_grow((void **)&stack, 0, &cap, sizeof *stack))
        return root;
    stack[n++] = (struct item){ root, false };
    while (n && e->status == ST_OK && !P(e)->failed) {
        struct item it = stack[--n];
        if (e->stamp[it.x->id] == stamp)
            continue;
        bool end = it.x->n == 0 || it.x == whole;
        if (it.ready || end) {
            const struct symexpr *r = end ? leaf(ctx, it.x) : remake(e, it.x);
            if (!memo_room(e))
                break;
            e->memo[it.x->id] = r;
            e->stamp[it.x->id] = stamp;
            continue;
        }
        for (uint32_t k = 0; k <= it.x->n; k++) {
            if (!base_grow((void **)&stack, n, &cap, sizeof *stack)) {
                e->status = ST_NOMEM;
                break;
            }
            stack[n++] = k == 0 ? (struct item){ it.x, true } : (struct item){ it.x->arg[k - 1], false };
        }
    }
    base_free(stack);
    return e->stamp[root->id] == stamp ? e->memo[root->id] : root;
}
const struct symexpr *eval_subst(struct eval *e, const struct symexpr *x, eval_leaf_fn leaf, void *ctx)
{
    return subst(e, x, leaf, ctx, NULL);
}
struct replacing {
    const struct symexpr *from, *to;
};
static const struct symexpr *replace_leaf(void *ctx, const struct symexpr *x)
{
    const struct replacing *r = ctx;
    return x == r->from ? r->to : x;
}
const struct symexpr *eval_replace(struct eval *e, const struct symexpr *x, const struct symexpr *from,
                                   const struct symexpr *to)
{
    struct replacing r = { from, to };
    return subst(e, x, replace_leaf, &r, from);
}

/* ---- values inside and after their loop ---- */
struct resolving {
    struct eval *e;
    struct eval_frame *f;
    uint32_t block;
    int depth;
};
static const struct symexpr *resolve_leaf(void *ctx, const struct symexpr *x);

static const struct symexpr *resolve_at(struct eval *e, struct eval_frame *f, uint32_t block,
                                        const struct symexpr *x, int depth)
{
    if (!(x->flags & AXF_RECUR) || depth > 24)
        return x;
    /* the memo is per query: a nested query runs on its own arrays */
    const struct symexpr **memo = e->memo;
    uint32_t *stamp = e->stamp, now = e->stamp_now;
    size_t cap = e->cap_memo;
    if (depth) {
        e->memo = NULL;
        e->stamp = NULL;
        e->cap_memo = 0;
        e->stamp_now = 0;
    }
    struct resolving r = { e, f, block, depth };
    const struct symexpr *v = eval_subst(e, x, resolve_leaf, &r);
    if (depth) {
        BASE_FREE(e->memo, e->stamp);
        e->memo = memo;
        e->stamp = stamp;
        e->cap_memo = cap;
        e->stamp_now = now;
    }
    return v;
}
/* A value that changes in its loop in a way we have no form for. */
static const struct symexpr *no_form(struct eval *e, struct eval_phi *p)
{
    const struct ptx_func *f = p->frame->func;
    const struct ptx_block *head = &p->frame->cfg->blocks[p->block];
    struct symexpr_site *s = p->unknown ? NULL : ARENA_NEW(e->arena, struct symexpr_site);
    if (!s)
        return p->unknown ? p->unknown
                          : symexpr_leaf(P(e), SYMEXPR_UNKNOWN, p->bits, &p->site, 0, false);
    *s = p->site;
    struct str name = p->var < f->nregs ? f->regs[p->var].name : STR("a value");
    s->why = arena_printf(
        e->arena,
        "%.*s, which the loop at line %u changes in a way that is neither linear nor geometric",
        (int)name.n, name.s, head->first < f->ninsts ? f->insts[head->first].at.line : 0);
    p->unknown = symexpr_leaf(P(e), SYMEXPR_UNKNOWN, p->bits, s, 0, false);
    return p->unknown;
}
/* May be its start or what the back edge brings; the interval must cover every round, so a back edge
 * that hangs on the round before counts as unknown (or as loaded). */
static const struct symexpr *other_recurrence(const struct resolving *r, struct eval_phi *p)
{
    const struct symexpr *in[2];
    uint32_t n = 0;
    if (p->start)
        in[n++] = resolve_at(r->e, r->f, r->block, p->start, r->depth + 1);
    if (p->latch && !(p->latch->flags & AXF_RECUR))
        in[n++] = p->latch->bits == p->bits
                      ? p->latch
                      : symexpr_trunc(P(r->e), symexpr_zext(P(r->e), p->latch, 64), p->bits);
    else if (p->latch && (p->latch->flags & AXF_LOAD))
        in[n++] = symexpr_leaf(P(r->e), SYMEXPR_LOAD, p->bits, &p->site, -1, false);
    else
        in[n++] = no_form(r->e, p);
    return symexpr_phi(P(r->e), p->bits, &p->site, in, n);
}
/* Its value after `it` rounds. */
static const struct symexpr *grown(struct symexpr_pool *p, const struct eval_phi *x,
                                   const struct symexpr *start, const struct symexpr *it)
{
    if (x->grow == AXO_POW)
        return symexpr_mul(p, start, symexpr_op2(p, AXO_POW, symexpr_const(p, x->bits, x->by), it));
    const struct symexpr *amount = symexpr_scale(p, it, x->by);
    if (x->grow != AXO_SDIV)
        return symexpr_op2(p, x->grow, start, amount);
    if (start->lo >= 0)
        return symexpr_op2(p, AXO_LSHR, start, amount);
    /* truncating divisions compose; in 64 bits the divisor stays one however many rounds there are */
    const struct symexpr *d =
        symexpr_op2(p, AXO_SHL, symexpr_const(p, 64, 1),
                    symexpr_op2(p, AXO_UMIN, symexpr_zext(p, amount, 64), symexpr_const(p, 64, 62)));
    return symexpr_trunc(p, symexpr_op2(p, AXO_SDIV, symexpr_sext(p, start, 64), d), x->bits);
}
/* The block of `outer` that (f, block) is in, or is called from. */
static uint32_t place_in(const struct eval_frame *outer, const struct eval_frame *f, uint32_t block)
{
    for (; f != outer && f->parent; f = f->parent)
        block = f->parent->cfg->block_of[f->call_inst];
    return block;
}
static const struct symexpr *resolve_phi(struct resolving *r, struct eval_phi *p)
{
    struct ana_loop *l = p->loop;
    if (p->state == PHI_INVARIANT)
        return resolve_at(r->e, r->f, r->block, p->start, r->depth + 1);
    if (p->state == PHI_OTHER)
        return other_recurrence(r, p);
    uint32_t block = place_in(l->frame, r->f, r->block);
    bool inside = eval_in_loop(l->frame, block, l);
    if (!inside && l->parent && !eval_in_loop(l->frame, block, l->parent))
        return no_form(r->e, p); /* left two loops at once: its last value is not tracked */
    if (p->value[inside])
        return p->value[inside];
    const struct symexpr *it = inside ? symexpr_iter(P(r->e), p->bits, l, INT32_MAX)
                                      : symexpr_leaf(P(r->e), SYMEXPR_TRIPS, p->bits, l, 0, false);
    const struct symexpr *start = resolve_at(r->e, r->f, r->block, p->start, r->depth + 1);
    const struct symexpr *v;
    if (p->state == PHI_GEOMETRIC)
        v = grown(P(r->e), p, start, it);
    else
        v = symexpr_add(
            P(r->e), start,
            symexpr_mul(P(r->e), resolve_at(r->e, r->f, r->block, p->step, r->depth + 1), it));
    if (!(v->flags & AXF_RECUR)) /* no loop around is still open: the answer stands */
        p->value[inside] = v;
    return v;
}
/* Once per query and phi: nested loops' starts hang on each other in more ways than can be gone through
 * one by one. */
static const struct symexpr *resolve_leaf(void *ctx, const struct symexpr *x)
{
    struct resolving *r = ctx;
    if (x->kind != SYMEXPR_RECUR)
        return x;
    struct eval_phi *p = (struct eval_phi *)(uintptr_t)x->ref;
    if (p->state == PHI_OPEN)
        return x;
    if (p->query != r->e->query) {
        p->query = r->e->query;
        p->resolved = x;
        p->resolved = resolve_phi(r, p);
    }
    return p->resolved;
}
const struct symexpr *eval_resolve(struct eval *e, struct eval_frame *f, uint32_t block,
                                   const struct symexpr *x)
{
    e->query++;
    return x ? resolve_at(e, f, block, x, 0) : NULL;
}

/* ---- classification of header phis ---- */
struct varying {
    const struct ana_loop *l;
    int depth;
};
static bool varies(const struct symexpr *x, const struct ana_loop *l, int depth);
static enum symexpr_visit visit_varying(void *ctx, const struct symexpr *x)
{
    const struct varying *v = ctx;
    const struct ana_loop *l = v->l, *k = x->ref;
    const struct eval_phi *p = x->ref;
    const struct symexpr_site *s = x->ref;
    if (!(x->flags &
          (AXF_RECUR | AXF_LOAD | AXF_UNKNOWN | AXF_PHI | AXF_ITER | AXF_TRIPS | AXF_OTHER_SREG)))
        return SYMEXPR_SKIP;
    switch (x->kind) {
    case SYMEXPR_RECUR:
        return p->loop == l || (p->loop && p->loop->frame == l->frame &&
                                eval_in_loop(l->frame, p->loop->header, l))
                   ? SYMEXPR_FOUND
                   : SYMEXPR_SKIP;
    case SYMEXPR_ITER: return k == l ? SYMEXPR_FOUND : SYMEXPR_SKIP;
    case SYMEXPR_TRIPS: /* fixed when what decides it is */
        return k->frame != l->frame || !k->stay || (k != l && varies(k->stay, l, v->depth + 1))
                   ? SYMEXPR_FOUND
                   : SYMEXPR_SKIP;
    case SYMEXPR_LOAD:
    case SYMEXPR_PHI:
    case SYMEXPR_UNKNOWN:
        return !s || s->frame != l->frame || eval_in_loop(l->frame, s->block, l) ? SYMEXPR_FOUND
                                                                                 : SYMEXPR_SKIP;
    case SYMEXPR_SREG: return x->flags & AXF_OTHER_SREG ? SYMEXPR_FOUND : SYMEXPR_SKIP;
    default: return SYMEXPR_DESCEND;
    }
}
/* Does the value change from one iteration of l to the next (other than through x's own phi)? */
static bool varies(const struct symexpr *x, const struct ana_loop *l, int depth)
{
    struct varying v = { l, depth };
    return depth > 8 || symexpr_find(x, visit_varying, &v);
}
static const struct symexpr *merged_latch(struct eval *e, const struct eval_phi *p,
                                          const struct ana_loop *l)
{
    const struct symexpr *v = NULL;
    for (uint32_t i = 0; i < p->n; i++) {
        if (!eval_in_loop(p->frame, p->from[i], l))
            continue;
        if (!p->in[i])
            return NULL;
        const struct symexpr *in = p->in[i]->bits == p->bits  ? p->in[i]
                                   : p->in[i]->bits > p->bits ? symexpr_trunc(P(e), p->in[i], p->bits)
                                                              : symexpr_zext(P(e), p->in[i], p->bits);
        in = eval_resolve(e, p->frame, p->from[i], in);
        if (v && v != in)
            return NULL;
        v = in;
    }
    return v;
}
/* Each round shifts, divides by a power of two, or multiplies by a constant. */
static bool geometric(struct eval_phi *p)
{
    const struct symexpr *x = p->latch;
    if (x->kind == SYMEXPR_SUM && x->n == 1 && x->arg[0] == p->recur && x->c == 0 && x->coef[0] > 1) {
        bool pow2 = !(x->coef[0] & (x->coef[0] - 1));
        p->grow = pow2 ? AXO_SHL : AXO_POW;
        p->by = pow2 ? __builtin_ctzll((uint64_t)x->coef[0]) : x->coef[0];
        return true;
    }
    if (x->kind != SYMEXPR_OP || x->n != 2 || x->arg[0] != p->recur || !symexpr_is_const(x->arg[1]) ||
        x->arg[1]->c <= 0)
        return false;
    int64_t c = x->arg[1]->c;
    bool pow2 = !(c & (c - 1));
    p->grow = x->op == AXO_UDIV ? AXO_LSHR : (enum symexpr_op)x->op;
    p->by = x->op == AXO_UDIV || x->op == AXO_SDIV ? __builtin_ctzll((uint64_t)c) : c;
    return x->op == AXO_LSHR || x->op == AXO_ASHR
               ? c < p->bits
               : (x->op == AXO_UDIV || x->op == AXO_SDIV) && pow2 && c > 1;
}
static void classify(struct eval *e, struct eval_phi *p, struct ana_loop *l)
{
    p->latch = merged_latch(e, p, l);
    if (!p->start || !p->latch) {
        p->state = PHI_OTHER;
        if (!p->start)
            p->start = symexpr_phi(P(e), p->bits, &p->site, NULL, 0);
        return;
    }
    if (p->latch == p->recur) {
        p->state = PHI_INVARIANT;
        return;
    }
    const struct symexpr *step = symexpr_sub(P(e), p->latch, p->recur);
    if (p->bits > 1 && !varies(step, l, 0)) {
        p->state = PHI_LINEAR;
        p->step = step;
    } else {
        p->state = p->bits > 1 && p->bits <= 32 && geometric(p) ? PHI_GEOMETRIC : PHI_OTHER;
    }
}

/* ---- leaving the loop ---- */
static void add_exit(struct ana_loop *l, uint32_t block, uint32_t target)
{
    if (l->nexits == EVAL_MAX_EXITS) {
        l->why = "too many exits";
        return;
    }
    l->exit_target = !l->nexits || l->exit_target == target ? target : PTX_NO_INDEX;
    l->exit[l->nexits].block = block;
    l->exit[l->nexits++].target = target;
}
/* All ways out; `why` says when there are others than jumps. */
static void find_exits(struct ana_loop *l)
{
    const struct ptx_cfg *c = l->frame->cfg;
    const struct ptx_loop *pl = &c->loops[l->index];
    for (uint32_t k = 0; k < pl->nblocks; k++) {
        uint32_t b = pl->blocks[k];
        const struct ptx_block *blk = &c->blocks[b];
        if (l->frame->odd[b])
            l->why = "a jump table";
        if (blk->nsucc == 0 || (l->frame->branch[b] && l->frame->taken[b] == PTX_NO_INDEX))
            l->why = "a return inside the loop";
        for (uint32_t s = 0; s < blk->nsucc; s++)
            if (!eval_in_loop(l->frame, blk->succ[s], l))
                add_exit(l, b, blk->succ[s]);
    }
    if (!l->why && !l->nexits)
        l->why = "no way out";
}
/* Is the block on every way round (so its condition is asked once per iteration)? */
static bool every_round(const struct ana_loop *l, uint32_t block)
{
    const struct ptx_cfg *c = l->frame->cfg;
    const struct ptx_block *h = &c->blocks[l->header];
    for (uint32_t i = 0; i < h->npred; i++)
        if (eval_in_loop(l->frame, h->pred[i], l) && !ptx_dominates(c, block, h->pred[i]))
            return false;
    return true;
}
/* Stays in the loop at exit i; NULL (and why) when that is not asked once in every round. */
static const struct symexpr *exit_condition(struct eval *e, struct ana_loop *l, uint32_t i)
{
    struct eval_frame *f = l->frame;
    uint32_t b = l->exit[i].block;
    const struct symexpr *c = f->branch[b];
    if (!every_round(l, b) || f->cfg->blocks[b].loop != l->index)
        l->why = l->why ? l->why : "an exit that is not passed in every iteration";
    else if (!c)
        l->why = l->why ? l->why : "no condition at its exit";
    else
        return eval_resolve(e, f, b, f->taken[b] == l->exit[i].target ? symexpr_not(P(e), c) : c);
    return NULL;
}
void eval_finish_loop(struct eval *e, struct ana_loop *l)
{
    struct eval_frame *f = l->frame;
    if (cancel_asked(e->cancel)) {
        e->status = ST_CANCELLED;
        return;
    }
    if (f->cfg->loops[l->index].irreducible)
        l->why = "an irreducible loop";
    for (struct eval_phi *p = f->phi[l->header]; p; p = p->next)
        classify(e, p, l);
    find_exits(l);
    for (uint32_t i = 0; i < l->nexits; i++) {
        const struct symexpr *c = exit_condition(e, l, i);
        if (c)
            l->bound = l->bound ? symexpr_and(P(e), l->bound, c) : c;
    }
    if (!l->why)
        l->stay = l->bound;
    for (struct eval_phi *p = f->phi[l->header]; p; p = p->next)
        if (p->state == PHI_LINEAR && p->bits == 32 && !l->counter)
            l->counter = p;
}

/* ---- when a block runs ---- */
static const struct symexpr *eval_edge(struct eval *e, struct eval_frame *f, uint32_t from, uint32_t to)
{
    if (f->odd[from])
        return NULL;
    const struct symexpr *c = f->branch[from];
    if (!c)
        return symexpr_const(P(e), 1, 1);
    return f->taken[from] == to ? c : symexpr_not(P(e), c);
}
static bool postdominates(const struct ptx_cfg *c, uint32_t b, uint32_t d)
{
    for (uint32_t k = c->blocks[d].ipdom, n = 0; k != PTX_NO_INDEX && n <= c->nblocks;
         k = c->blocks[k].ipdom, n++)
        if (k == b)
            return true;
    return false;
}
static uint32_t forward_pred(const struct eval_frame *f, uint32_t b)
{
    const struct ptx_block *k = &f->cfg->blocks[b];
    uint32_t found = PTX_NO_INDEX, n = 0;
    for (uint32_t i = 0; i < k->npred; i++) {
        if (!f->cfg->blocks[k->pred[i]].reachable || ptx_dominates(f->cfg, b, k->pred[i]))
            continue; /* back edge */
        found = k->pred[i];
        n++;
    }
    return n == 1 ? found : PTX_NO_INDEX;
}
/* Condition in the terms of the iteration b is in. Requires structured flow: b follows one
 * block, or comes after everything its dominator starts, or is where an inner loop ends. */
static const struct symexpr *reach_from(struct eval *e, struct eval_frame *f, uint32_t b)
{
    const struct ptx_cfg *c = f->cfg;
    uint32_t d = c->blocks[b].idom;
    if (d == PTX_NO_INDEX)
        return NULL;
    struct ana_loop *dl = eval_loop_of(f, d);
    while (dl && eval_in_loop(f, b, dl))
        dl = NULL;
    if (dl) { /* d is inside a loop that b is not in */
        while (dl->parent && !eval_in_loop(f, b, dl->parent))
            dl = dl->parent;
        if (!dl->stay || dl->exit_target != b || dl->frame != f)
            return NULL;
        const struct symexpr *in = eval_reach(e, f, dl->header);
        return in;
    }
    if (postdominates(c, b, d))
        return eval_reach(e, f, d);
    uint32_t p = forward_pred(f, b);
    if (p == PTX_NO_INDEX)
        return NULL;
    const struct symexpr *up = eval_reach(e, f, p), *edge = up ? eval_edge(e, f, p, b) : NULL;
    return edge ? symexpr_and(P(e), up, eval_resolve(e, f, p, edge)) : NULL;
}
/* For a loop header: the condition for entering the loop. ITER conditions are the caller's
 * (closed_form.c). */
const struct symexpr *eval_reach(struct eval *e, struct eval_frame *f, uint32_t block)
{
    if (f->reach_state[block] == 2)
        return f->reach[block];
    if (f->reach_state[block] == 1)
        return NULL; /* met again on the way: not structured */
    f->reach_state[block] = 1;
    f->reach[block] = block == 0 ? symexpr_const(P(e), 1, 1) : reach_from(e, f, block);
    f->reach_state[block] = 2;
    return f->reach[block];
}
