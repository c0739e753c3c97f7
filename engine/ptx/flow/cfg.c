/* Control flow graph: blocks, edges, reverse post-order.
 *
 * Leaders are the first instruction, every label in use by a branch, and what follows a
 * branch or an exit. Guarded branches and exits fall through too. Everything is iterative.
 * Dominators are in dom.c, loops in loop.c, references in refs.c. */
#include "engine/ptx/flow/cfg.h"

#include "engine/ptx/flow/cfg_int.h"
#include "engine/ptx/ptx.h"

/* ---- blocks ---- */
static bool ends_block(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_op_info(i->op)->effect;
    return e == EFFECT_BRANCH || e == EFFECT_EXIT;
}

static const struct ptx_operand *target_operand(const struct ptx_inst *i)
{
    for (unsigned k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_LABEL)
            return &i->opnds[k];
    return NULL;
}

/* Calls fn for each label a branch may go to: one, or the .branchtargets list. */
static void each_target(const struct ptx_func *f, const struct ptx_inst *i,
                        void (*fn)(void *, uint32_t inst), void *ctx)
{
    const struct ptx_operand *o = target_operand(i);
    if (!o || o->index >= f->nlabels)
        return;
    const struct ptx_label *l = &f->labels[o->index];
    if (!l->targets) {
        fn(ctx, l->inst);
        return;
    }
    for (uint32_t k = 0; k < l->ntargets; k++)
        if (l->targets[k] < f->nlabels)
            fn(ctx, f->labels[l->targets[k]].inst);
}

static void mark_leader(void *ctx, uint32_t inst)
{
    struct ptx_cfg *c = ctx;
    if (inst < c->func->ninsts)
        c->block_of[inst] = 1;
}

/* block_of serves as the leader flag first, then holds block numbers. */
static bool make_blocks(struct ptx_cfg *c)
{
    const struct ptx_func *f = c->func;
    c->block_of = ARENA_ARRAY(c->arena, uint32_t, f->ninsts + 1);
    if (!c->block_of)
        return false;
    if (f->ninsts)
        c->block_of[0] = 1;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        if (!ends_block(&f->insts[i]))
            continue;
        c->block_of[i + 1] = 1;
        each_target(f, &f->insts[i], mark_leader, c);
    }
    for (uint32_t i = 0; i < f->ninsts; i++)
        c->nblocks += c->block_of[i];
    c->blocks = ARENA_ARRAY(c->arena, struct ptx_block, c->nblocks + 1);
    if (!c->blocks)
        return false;
    for (uint32_t i = 0, b = 0; i < f->ninsts; i++) {
        b += c->block_of[i];
        if (c->block_of[i])
            c->blocks[b - 1] = (struct ptx_block){
                .first = i, .idom = PTX_NO_INDEX, .ipdom = PTX_NO_INDEX, .loop = PTX_NO_INDEX
            };
        c->blocks[b - 1].n++;
        c->block_of[i] = b - 1;
    }
    return true;
}

/* ---- edges ---- */
struct edges {
    struct ptx_cfg *c;
    uint32_t *list;
    uint32_t n, cap;
};

static void add_edge(void *ctx, uint32_t inst)
{
    struct edges *e = ctx;
    if (inst < e->c->func->ninsts && e->n < e->cap)
        e->list[e->n++] = e->c->block_of[inst];
}

static uint32_t remove_doubles(uint32_t *list, uint32_t n, uint32_t *seen, uint32_t mark)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (seen[list[i]] != mark) {
            seen[list[i]] = mark;
            list[kept++] = list[i];
        }
    return kept;
}

static void count_target(void *ctx, uint32_t inst)
{
    (void)inst;
    ++*(uint32_t *)ctx;
}

/* Successors in the order: taken targets, then the fall-through. */
static bool make_successors(struct ptx_cfg *c)
{
    uint32_t *seen = base_alloc((c->nblocks + 1) * sizeof *seen);
    if (!seen)
        return false;
    for (uint32_t b = 0; b < c->nblocks; b++) {
        struct ptx_block *bl = &c->blocks[b];
        const struct ptx_inst *last = &c->func->insts[bl->first + bl->n - 1];
        bool branch = ptx_op_info(last->op)->effect == EFFECT_BRANCH, ends = ends_block(last);
        uint32_t n = 0;
        if (branch)
            each_target(c->func, last, count_target, &n);
        struct edges e = { .c = c, .cap = n + 1, .list = ARENA_ARRAY(c->arena, uint32_t, n + 1) };
        if (!e.list) {
            base_free(seen);
            return false;
        }
        if (branch)
            each_target(c->func, last, add_edge, &e);
        if (!ends || last->guarded)
            add_edge(&e, bl->first + bl->n);
        bl->succ = e.list;
        bl->nsucc = remove_doubles(e.list, e.n, seen, b + 1);
    }
    base_free(seen);
    return true;
}

static bool make_predecessors(struct ptx_cfg *c)
{
    for (uint32_t b = 0; b < c->nblocks; b++)
        for (uint32_t k = 0; k < c->blocks[b].nsucc; k++)
            c->blocks[c->blocks[b].succ[k]].npred++;
    for (uint32_t b = 0; b < c->nblocks; b++) {
        struct ptx_block *bl = &c->blocks[b];
        bl->pred = bl->npred ? ARENA_ARRAY(c->arena, uint32_t, bl->npred) : NULL;
        if (bl->npred && !bl->pred)
            return false;
        bl->npred = 0;
    }
    for (uint32_t b = 0; b < c->nblocks; b++)
        for (uint32_t k = 0; k < c->blocks[b].nsucc; k++) {
            struct ptx_block *to = &c->blocks[c->blocks[b].succ[k]];
            to->pred[to->npred++] = b;
        }
    return true;
}

/* ---- orders ---- */
static bool make_order(struct ptx_cfg *c, uint32_t *work)
{
    c->rpo = ARENA_ARRAY(c->arena, uint32_t, c->nblocks + 1);
    if (!c->rpo)
        return false;
    if (!c->nblocks)
        return true;
    c->nrpo = cfg_post_order(c, NULL, 0, c->rpo, work);
    for (uint32_t i = 0, j = c->nrpo - 1; i < j; i++, j--) {
        uint32_t t = c->rpo[i];
        c->rpo[i] = c->rpo[j];
        c->rpo[j] = t;
    }
    for (uint32_t i = 0; i < c->nrpo; i++)
        c->blocks[c->rpo[i]].reachable = true;
    return true;
}

/* ---- the whole ---- */
struct ptx_cfg *ptx_cfg_build(const struct ptx_func *f)
{
    struct arena *a = arena_new(f->ninsts > 4000 ? 0 : 16384);
    struct ptx_cfg *c = a ? ARENA_NEW(a, struct ptx_cfg) : NULL;
    if (!c) {
        arena_free(a);
        return NULL;
    }
    c->arena = a;
    c->func = f;
    uint32_t *work = NULL;
    bool ok = make_blocks(c) && make_successors(c) && make_predecessors(c) &&
              (work = base_alloc(3 * ((size_t)c->nblocks + 1) * sizeof *work)) && make_order(c, work) &&
              cfg_make_dominators(c, work) && cfg_make_loops(c) && cfg_make_refs(c);
    base_free(work);
    if (ok)
        return c;
    arena_free(a);
    return NULL;
}

void ptx_cfg_free(struct ptx_cfg *c)
{
    if (c)
        arena_free(c->arena);
}
