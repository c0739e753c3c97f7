/* The walk that gives every register its symbolic value: phi placement, the
 * dominator-tree traversal with its undo log, joins, inlining of calls. */
#include "engine/analysis/symbolic/eval.h"
#include "engine/base/list.h"

#include "engine/ptx/facts/facts.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/link.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <stdio.h>
#include <string.h>

void eval_gap(struct eval *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char text[256];
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (uint32_t i = 0; i < e->ngaps; i++)
        if (!strcmp(e->gaps[i], text))
            return;
    if (e->ngaps >= 64)
        return;
    if (!base_grow((void **)&e->gaps, e->ngaps, &e->cap_gaps, sizeof *e->gaps)) {
        e->status = ST_NOMEM;
        return;
    }
    char *copy = arena_dup(e->arena, str_of(text));
    if (copy)
        e->gaps[e->ngaps++] = copy;
}

/* ---- phi placement: iterated dominance frontier of every variable set more than once ---- */
struct placing {
    struct eval *e;
    struct eval_frame *f;
    uint32_t *ndefs; /* per variable */
    uint32_t **defs; /* per variable with ndefs > 1: blocks */
    uint32_t block;
    bool filling;
    uint32_t **df, *ndf; /* per block: dominance frontier */
};
static void count_def(void *ctx, uint32_t var)
{
    struct placing *p = ctx;
    if (p->filling && p->defs[var])
        p->defs[var][p->ndefs[var]] = p->block;
    p->ndefs[var]++;
}
static void each_def(struct placing *p)
{
    const struct ptx_cfg *c = p->f->cfg;
    for (uint32_t r = 0; r < c->nrpo; r++) {
        const struct ptx_block *b = &c->blocks[c->rpo[r]];
        p->block = c->rpo[r];
        for (uint32_t i = 0; i < b->n; i++)
            eval_inst_defs(p->f, &p->f->func->insts[b->first + i], count_def, p);
    }
}
/* A block stands on a frontier once, however many edges lead to it: the walk up the dominator tree stops
 * at a block that another walk for the same join has passed. */
static bool frontier(struct arena *a, const struct ptx_cfg *c, struct placing *p)
{
    /* per block: the join whose walk passed it last */
    uint32_t *past = ARENA_ARRAY(a, uint32_t, c->nblocks + 1);
    for (int fill = 0; past && fill < 2; fill++) {
        for (uint32_t b = 0; fill && b < c->nblocks; b++) {
            p->df[b] = ARENA_ARRAY(a, uint32_t, p->ndf[b] + 1);
            p->ndf[b] = 0;
            if (!p->df[b])
                return false;
        }
        memset(past, 0xff, sizeof *past * c->nblocks);
        for (uint32_t b = 0; b < c->nblocks; b++) {
            const struct ptx_block *k = &c->blocks[b];
            if (!k->reachable || k->npred < 2)
                continue;
            for (uint32_t i = 0; i < k->npred; i++)
                for (uint32_t r = k->pred[i];
                     r != PTX_NO_INDEX && c->blocks[r].reachable && r != k->idom && past[r] != b;
                     r = c->blocks[r].idom) {
                    past[r] = b;
                    if (fill)
                        p->df[r][p->ndf[r]] = b;
                    p->ndf[r]++;
                }
        }
    }
    return past != NULL;
}
static bool put_phi(struct placing *p, uint32_t block, uint32_t var)
{
    struct eval_phi *x = ARENA_NEW(p->e->arena, struct eval_phi);
    if (!x)
        return false;
    uint32_t np = p->f->cfg->blocks[block].npred;
    x->frame = p->f;
    x->block = block;
    x->var = var;
    x->cap = np;
    x->in = ARENA_ARRAY(p->e->arena, const struct symexpr *, np + 1);
    x->from = ARENA_ARRAY(p->e->arena, uint32_t, np + 1);
    x->next = p->f->phi[block];
    x->site = (struct symexpr_site){
        .func = p->f->func, .inst = p->f->cfg->blocks[block].first, .block = block, .frame = p->f
    };
    p->f->phi[block] = x;
    return true;
}
/* queued, joined: per block, the variable (+ 1) that it was last queued or got a phi for. */
static bool place_var(struct placing *p, uint32_t var, uint32_t *work, uint32_t *queued,
                      uint32_t *joined)
{
    uint32_t n = 0, stamp = var + 1;
    for (uint32_t i = 0; i < p->ndefs[var]; i++)
        if (queued[p->defs[var][i]] != stamp) {
            queued[p->defs[var][i]] = stamp;
            work[n++] = p->defs[var][i];
        }
    while (n) {
        uint32_t b = work[--n];
        for (uint32_t i = 0; i < p->ndf[b]; i++) {
            uint32_t d = p->df[b][i];
            if (joined[d] == stamp)
                continue;
            joined[d] = stamp;
            if (!put_phi(p, d, var))
                return false;
            if (queued[d] != stamp) {
                queued[d] = stamp;
                work[n++] = d;
            }
        }
    }
    return !arena_failed(p->e->arena);
}
static bool place_phis(struct eval *e, struct eval_frame *f)
{
    struct arena *a = arena_new(0);
    uint32_t nb = f->cfg->nblocks;
    struct placing p = { .e = e, .f = f };
    if (!a)
        return false;
    p.ndefs = ARENA_ARRAY(a, uint32_t, f->nvars + 1);
    p.defs = ARENA_ARRAY(a, uint32_t *, f->nvars + 1);
    p.df = ARENA_ARRAY(a, uint32_t *, nb + 1);
    p.ndf = ARENA_ARRAY(a, uint32_t, nb + 1);
    uint32_t *work = ARENA_ARRAY(a, uint32_t, nb + 1);
    uint32_t *queued = ARENA_ARRAY(a, uint32_t, nb + 1), *joined = ARENA_ARRAY(a, uint32_t, nb + 1);
    bool ok = !arena_failed(a) && frontier(a, f->cfg, &p);
    if (ok) {
        each_def(&p);
        for (uint32_t v = 0; v < f->nvars; v++)
            p.defs[v] = p.ndefs[v] > 1 ? ARENA_ARRAY(a, uint32_t, p.ndefs[v]) : NULL;
        memset(p.ndefs, 0, sizeof *p.ndefs * (f->nvars + 1));
        p.filling = true;
        ok = !arena_failed(a);
        if (ok)
            each_def(&p);
        for (uint32_t v = 0; ok && v < f->nvars; v++) {
            if (cancel_asked(e->cancel))
                e->status = ST_CANCELLED;
            ok = e->status == ST_OK && (!p.defs[v] || place_var(&p, v, work, queued, joined));
        }
    }
    arena_free(a);
    return ok;
}

/* ---- joins ---- */
/* Which way of d's jump leads to `join` by the edge from `from`. 1: taken, 0: not taken, -1: unknown. */
static int side_of(const struct eval_frame *f, uint32_t d, uint32_t join, uint32_t from)
{
    const struct ptx_block *b = &f->cfg->blocks[d];
    uint32_t t = f->taken[d], o = PTX_NO_INDEX;
    if (b->nsucc != 2)
        return -1;
    o = b->succ[0] == t ? b->succ[1] : b->succ[0];
    if (from == d)
        return join == t ? 1 : 0;
    if (t != PTX_NO_INDEX && f->cfg->blocks[t].npred == 1 && ptx_dominates(f->cfg, t, from))
        return 1;
    if (f->cfg->blocks[o].npred == 1 && ptx_dominates(f->cfg, o, from))
        return 0;
    return -1;
}
static const struct symexpr *fit(struct eval *e, const struct symexpr *x, unsigned bits)
{
    return x->bits == bits  ? x
           : x->bits > bits ? symexpr_trunc(&e->pool, x, bits)
                            : symexpr_zext(&e->pool, x, bits);
}
static const struct symexpr *join_phi(struct eval *e, struct eval_frame *f, struct eval_phi *x)
{
    const struct symexpr *v[64];
    uint32_t n = 0, d = f->cfg->blocks[x->block].idom;
    const struct symexpr *first = NULL;
    bool all_same = true;
    for (uint32_t i = 0; i < x->n; i++) {
        if (!x->in[i])
            continue;
        const struct symexpr *in = fit(e, x->in[i], first ? first->bits : x->in[i]->bits);
        first = first ? first : in;
        all_same = all_same && in == first;
        if (n < ARRAY_LEN(v))
            v[n++] = in;
    }
    if (!first || all_same)
        return first;
    if (x->n == 2 && x->in[0] && x->in[1] && d != PTX_NO_INDEX && f->branch[d]) {
        int s0 = side_of(f, d, x->block, x->from[0]), s1 = side_of(f, d, x->block, x->from[1]);
        if (s0 >= 0 && s1 >= 0 && s0 != s1)
            return symexpr_select(&e->pool, f->branch[d], s0 ? v[0] : v[1], s0 ? v[1] : v[0]);
    }
    return symexpr_phi(&e->pool, first->bits, &x->site, v, n);
}
static struct ana_loop *loop_headed(struct eval_frame *f, uint32_t block)
{
    for (uint32_t l = f->cfg->blocks[block].loop; l != PTX_NO_INDEX; l = f->cfg->loops[l].parent)
        if (f->cfg->loops[l].header == block)
            return &f->loops[l];
    return NULL;
}
static uint8_t var_bits(const struct eval_frame *f, uint32_t var, const struct symexpr *v)
{
    if (var < f->func->nregs)
        return (uint8_t)ptx_type_bits((enum ptx_type)f->func->regs[var].type);
    return v ? v->bits : 32;
}

/* ---- the walk ---- */
struct undo {
    uint32_t var;
    const struct symexpr *old;
};
struct walker {
    struct eval *e;
    struct eval_frame *f;
    struct undo *log;
    size_t nlog, caplog;
    uint32_t **child, *nchild;
    struct {
        uint32_t block, next;
        size_t mark;
    } * stack;
    size_t depth;
};
static void log_def(void *ctx, uint32_t var)
{
    struct walker *w = ctx;
    if (!LIST_PUSH(w->log, w->nlog, w->caplog, (struct undo){ var, w->f->cur[var] })) {
        w->e->status = ST_NOMEM;
        return;
    }
}
static void open_phis(struct walker *w, uint32_t block)
{
    struct ana_loop *l = loop_headed(w->f, block);
    for (struct eval_phi *x = w->f->phi[block]; x; x = x->next) {
        log_def(w, x->var);
        x->loop = l;
        const struct symexpr *v = join_phi(w->e, w->f, x);
        if (!l) {
            w->f->cur[x->var] = v;
            continue;
        }
        x->start = v;
        x->bits = var_bits(w->f, x->var, v);
        if (!x->bits || x->bits > 64)
            x->bits = 64;
        if (v)
            x->start = fit(w->e, v, x->bits);
        x->recur = symexpr_leaf(&w->e->pool, SYMEXPR_RECUR, x->bits, x, 0, false);
        w->f->cur[x->var] = x->recur;
    }
}
static void close_block(struct walker *w, uint32_t block)
{
    const struct ptx_block *b = &w->f->cfg->blocks[block];
    for (uint32_t s = 0; s < b->nsucc; s++) {
        if (s && b->succ[s] == b->succ[0])
            continue;
        for (struct eval_phi *x = w->f->phi[b->succ[s]]; x; x = x->next)
            if (x->n < x->cap) {
                x->in[x->n] = w->f->cur[x->var];
                x->from[x->n++] = block;
            }
    }
}
static void last_jump(struct eval *e, struct eval_frame *f, uint32_t block)
{
    const struct ptx_block *b = &f->cfg->blocks[block];
    f->taken[block] = PTX_NO_INDEX;
    if (!b->n)
        return;
    const struct ptx_inst *i = &f->func->insts[b->first + b->n - 1];
    enum ptx_effect fx = ptx_effect_of(i);
    if (fx == EFFECT_BRANCH && !ptx_is(i, IS_JUMP)) {
        f->odd[block] = 1;
        return;
    }
    if (fx != EFFECT_BRANCH && fx != EFFECT_EXIT)
        return;
    if (i->guarded)
        f->branch[block] = eval_guard(e, f, i);
    if (fx == EFFECT_BRANCH && i->nopnds && i->opnds[0].kind == OPND_LABEL) {
        uint32_t t = f->func->labels[i->opnds[0].index].inst;
        if (t < f->func->ninsts)
            f->taken[block] = f->cfg->block_of[t];
    }
    if (b->nsucc == 2 && b->succ[0] == b->succ[1])
        f->branch[block] = NULL;
}
/* The result cells at a return; several returns give a value that may be any of them. */
static void note_return(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    uint32_t first = eval_ret_cell(f->func);
    for (uint32_t k = 0; k < f->nret; k++) {
        const struct symexpr *v = f->cur[first + k], *old = f->ret[k];
        if (!v || old == v)
            continue;
        if (!old) {
            f->ret[k] = v;
            continue;
        }
        struct symexpr_site *site = ARENA_NEW(e->arena, struct symexpr_site);
        if (!site)
            return;
        *site = (struct symexpr_site){
            .func = f->func, .inst = i->index, .block = f->cfg->block_of[i->index], .frame = f
        };
        const struct symexpr *in[2] = { old, fit(e, v, old->bits) };
        f->ret[k] = symexpr_phi(&e->pool, old->bits, site, in, 2);
    }
}
/* ---- calls: the callee is evaluated in place ---- */
static void walk(struct eval *e, struct eval_frame *f);
static struct eval_frame *frame_new(struct eval *e, struct eval_frame *caller, uint32_t call_inst,
                                    const struct ptx_func *func);
static bool recursive(const struct eval_frame *f, const struct ptx_func *callee)
{
    for (; f; f = f->parent)
        if (f->func == callee)
            return true;
    return false;
}
static const char *not_followed(const struct eval *e, const struct eval_frame *caller,
                                const struct ptx_func *callee)
{
    bool device = callee && !callee->has_body && ptx_link_device_runtime(callee->name);
    return !callee                               ? "indirect call"
           : device                              ? "of the device runtime"
           : !callee->has_body                   ? "no body"
           : recursive(caller, callee)           ? "recursion"
           : caller->depth + 1 >= EVAL_MAX_DEPTH ? "nested too deeply"
           : e->nframes >= EVAL_MAX_FRAMES       ? "too many call sites"
                                                 : NULL;
}
static struct eval_frame *inline_frame(struct eval *e, struct eval_frame *caller,
                                       const struct ptx_inst *call, const struct ptx_func *callee)
{
    const char *why = not_followed(e, caller, callee);
    if (why) {
        eval_gap(e, "call of %.*s at line %u is not followed: %s", callee ? (int)callee->name.n : 1,
                 callee ? callee->name.s : "?", call->at.line, why);
        e->divergent_call = e->divergent_call || !callee || callee->has_body;
        return NULL;
    }
    struct eval_frame *f = frame_new(e, caller, call->index, callee);
    if (!f && e->status == ST_OK)
        e->status = ST_NOMEM;
    return f;
}
static void pass_arguments(struct eval *e, struct eval_frame *f, struct eval_frame *to,
                           const struct ptx_inst *i, const struct eval_call *c)
{
    uint32_t at = to->func->nregs;
    for (unsigned k = 0; k < c->narg && k < to->func->nparams; k++) {
        const struct ptx_symbol *p = to->func->params[k];
        uint32_t n = eval_cells(p),
                 src = c->arg[k].kind == OPND_SYM ? eval_cell_of(f->func, c->arg[k].sym) : PTX_NO_INDEX;
        if (src != PTX_NO_INDEX)
            for (uint32_t j = 0; j < n && j < eval_cells(c->arg[k].sym); j++)
                to->cur[at + j] = f->cur[src + j];
        else if (c->arg[k].kind != OPND_SYM)
            to->cur[at] = eval_value(e, f, i, &c->arg[k], p->bytes > 4 ? 64 : 32, false);
        at += n;
    }
}
static void do_call(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    struct eval_call c = eval_call_parts(i);
    struct eval_frame *to = inline_frame(e, f, i, eval_callee(&c));
    if (to) {
        pass_arguments(e, f, to, i, &c);
        walk(e, to);
    }
    uint32_t at = 0;
    for (unsigned k = 0; k < c.nret; k++) {
        const struct ptx_operand *o = &c.ret[k];
        uint32_t dst = o->kind == OPND_SYM ? eval_cell_of(f->func, o->sym) : PTX_NO_INDEX,
                 n = o->kind == OPND_SYM && o->sym ? eval_cells(o->sym) : 1;
        for (uint32_t j = 0; j < n; j++) {
            const struct symexpr *v = to && at + j < to->nret ? to->ret[at + j] : NULL;
            if (!v && !to && j == 0)
                v = eval_unknown(e, f, i, n > 1 ? 64 : 32, NULL);
            if (dst != PTX_NO_INDEX)
                f->cur[dst + j] = v;
            else if (o->kind == OPND_REG && j == 0)
                eval_write(e, f, i, o, v ? v : eval_unknown(e, f, i, 32, NULL), false);
        }
        at += n;
    }
}
static void visit(struct walker *w, uint32_t block)
{
    const struct ptx_block *b = &w->f->cfg->blocks[block];
    open_phis(w, block);
    for (uint32_t i = 0; i < b->n && w->e->status == ST_OK; i++) {
        const struct ptx_inst *in = &w->f->func->insts[b->first + i];
        eval_inst_defs(w->f, in, log_def, w);
        if (ptx_effect_of(in) == EFFECT_CALL)
            do_call(w->e, w->f, in);
        else
            eval_inst(w->e, w->f, in);
        if (ptx_is(in, IS_RETURN))
            note_return(w->e, w->f, in);
    }
    last_jump(w->e, w->f, block);
    close_block(w, block);
}
static void leave(struct walker *w, uint32_t block, size_t mark)
{
    struct ana_loop *l = loop_headed(w->f, block);
    if (l && w->e->status == ST_OK)
        eval_finish_loop(w->e, l);
    while (w->nlog > mark) {
        struct undo *u = &w->log[--w->nlog];
        w->f->cur[u->var] = u->old;
    }
}
static bool walk_prepare(struct walker *w, struct arena *a)
{
    const struct ptx_cfg *c = w->f->cfg;
    w->child = ARENA_ARRAY(a, uint32_t *, c->nblocks + 1);
    w->nchild = ARENA_ARRAY(a, uint32_t, c->nblocks + 1);
    w->stack = arena_alloc(a, sizeof *w->stack * ((size_t)c->nblocks + 1));
    if (arena_failed(a))
        return false;
    for (int fill = 0; fill < 2; fill++)
        for (uint32_t r = 0; r < c->nrpo; r++) {
            uint32_t b = c->rpo[r], d = c->blocks[b].idom;
            if (fill && !w->child[b]) {
                w->child[b] = ARENA_ARRAY(a, uint32_t, w->nchild[b] + 1);
                w->nchild[b] = 0;
            }
            if (b == 0 || d == PTX_NO_INDEX || d == b)
                continue;
            if (fill)
                w->child[d][w->nchild[d]] = b;
            w->nchild[d]++;
        }
    return !arena_failed(a);
}
static void walk(struct eval *e, struct eval_frame *f)
{
    struct arena *a = arena_new(0);
    struct walker w = { .e = e, .f = f };
    if (!a || !walk_prepare(&w, a)) {
        e->status = ST_NOMEM;
    } else if (f->cfg->nrpo) {
        w.stack[w.depth].block = 0;
        w.stack[w.depth].next = 0;
        w.stack[w.depth++].mark = 0;
        visit(&w, 0);
    }
    while (w.depth) {
        uint32_t b = w.stack[w.depth - 1].block;
        if (e->status == ST_OK && cancel_asked(e->cancel))
            e->status = ST_CANCELLED;
        if (e->status == ST_OK && w.stack[w.depth - 1].next < w.nchild[b]) {
            uint32_t k = w.child[b][w.stack[w.depth - 1].next++];
            w.stack[w.depth].block = k;
            w.stack[w.depth].next = 0;
            w.stack[w.depth++].mark = w.nlog;
            visit(&w, k);
        } else {
            leave(&w, b, w.stack[w.depth - 1].mark);
            w.depth--;
        }
    }
    base_free(w.log);
    arena_free(a);
}

/* ---- frames ---- */
static bool make_loops(struct eval *e, struct eval_frame *f)
{
    f->loops = ARENA_ARRAY(e->arena, struct ana_loop, f->cfg->nloops + 1);
    if (!f->loops)
        return false;
    for (uint32_t l = 0; l < f->cfg->nloops; l++) {
        struct ana_loop *x = &f->loops[l];
        *x = (struct ana_loop){ .frame = f,
                                .index = l,
                                .header = f->cfg->loops[l].header,
                                .id = e->nloops,
                                .exit_target = PTX_NO_INDEX };
        if (f->cfg->loops[l].parent != PTX_NO_INDEX)
            x->parent = &f->loops[f->cfg->loops[l].parent];
        snprintf(x->name, sizeof x->name, e->nloops ? "k%u" : "k", e->nloops);
        if (!LIST_PUSH(e->loops, e->nloops, e->cap_loops, x))
            return false;
    }
    /* backwards: the loops inside a loop are done before it */
    for (uint32_t l = f->cfg->nloops; l-- > 0;) {
        struct ana_loop *x = &f->loops[l];
        x->last = x->last > l ? x->last : l;
        if (x->parent && x->parent->last < x->last)
            x->parent->last = x->last;
    }
    return true;
}
static struct eval_frame *frame_new(struct eval *e, struct eval_frame *caller, uint32_t call_inst,
                                    const struct ptx_func *func)
{
    struct eval_frame *f = ARENA_NEW(e->arena, struct eval_frame);
    if (!f || !(e->frames[e->nframes] = f))
        return NULL;
    f->func = func;
    f->parent = caller;
    f->call_inst = call_inst;
    f->depth = caller ? caller->depth + 1 : 0;
    f->id = e->nframes;
    f->cfg = ptx_cfg_of(func);
    if (!f->cfg)
        return NULL;
    uint32_t nb = f->cfg->nblocks + 1;
    f->nvars = func->nregs + eval_cell_count(func);
    f->cur = ARENA_ARRAY(e->arena, const struct symexpr *, f->nvars + 1);
    f->phi = ARENA_ARRAY(e->arena, struct eval_phi *, nb);
    f->branch = ARENA_ARRAY(e->arena, const struct symexpr *, nb);
    f->taken = ARENA_ARRAY(e->arena, uint32_t, nb);
    f->odd = ARENA_ARRAY(e->arena, uint8_t, nb);
    f->reach = ARENA_ARRAY(e->arena, const struct symexpr *, nb);
    f->reach_state = ARENA_ARRAY(e->arena, uint8_t, nb);
    f->nret = caller ? eval_ret_cells(func) : 0;
    f->ret = ARENA_ARRAY(e->arena, const struct symexpr *, f->nret + 1);
    if (arena_failed(e->arena) || !make_loops(e, f))
        return NULL;
    e->nframes++;
    return place_phis(e, f) ? f : NULL;
}

enum status eval_kernel(struct eval *e, struct arena *arena, const struct ptx_module *m,
                        const struct ptx_func *kernel, const struct cancel *cancel)
{
    memset(e, 0, sizeof *e);
    e->arena = arena;
    e->module = m;
    e->kernel = kernel;
    e->cancel = cancel;
    e->frames = ARENA_ARRAY(arena, struct eval_frame *, EVAL_MAX_FRAMES + 1);
    if (!e->frames || !symexpr_pool_init(&e->pool, arena))
        return ST_NOMEM;
    struct eval_frame *f = frame_new(e, NULL, PTX_NO_INDEX, kernel);
    if (!f)
        return e->status != ST_OK ? e->status : ST_NOMEM;
    walk(e, f);
    for (uint32_t i = 0; i < e->naccess && e->status == ST_OK; i++) {
        struct eval_access *a = &e->access[i];
        a->addr = eval_resolve(e, a->frame, a->block, a->raw);
        for (unsigned k = 0; k < a->nvalues; k++)
            a->value[k] = eval_resolve(e, a->frame, a->block, a->value[k]);
        if (a->guard)
            a->guard = eval_resolve(e, a->frame, a->block, a->guard);
    }
    if (e->pool.failed || arena_failed(arena))
        e->status = ST_NOMEM;
    if (e->pool.oversized)
        eval_gap(e, "an address expression was too large and became unknown");
    return e->status;
}

void eval_done(struct eval *e)
{
    BASE_FREE(e->access, e->loops, e->gaps, e->memo, e->stamp);
    memset(e, 0, sizeof *e);
}
