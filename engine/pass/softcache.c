/* softcache (paper: softcache): thread-private 16-byte lines in shared memory, one per
 * chosen data structure. A structure is a pointer parameter; an access belongs to the
 * parameter its address derives from.
 *
 * A line is exact only while nothing else can reach the same bytes behind its back:
 *   - a structure that is only read must not share memory with any that is written;
 *   - one that is written must not share memory with any other that is accessed;
 *   - no store may go to an unknown address, and called functions touch no global memory. */
#include "engine/pass/softcache_int.h"

#include <string.h>

static bool asked(const struct options *o) { return o->softcache != 0; }

uint32_t pass_softcache_lines(uint64_t shared_free_per_sm, uint64_t threads_per_sm)
{
    return threads_per_sm ? (uint32_t)(shared_free_per_sm / threads_per_sm / SOFT_LINE) : 0;
}

static bool touches_global(const struct ptx_inst *i)
{
    enum ptx_effect e = inst_effect(i);
    return (e == EFFECT_LOAD || e == EFFECT_STORE || e == EFFECT_ATOMIC) && (i->space == PTX_SPACE_GLOBAL || i->space == PTX_SPACE_GENERIC);
}

struct soft_structure *soft_of(struct soft *s, const struct ptx_inst *i)
{
    int p = touches_global(i) ? pass_access_param(s->c, &s->flow, i) : -1;
    for (uint32_t k = 0; p >= 0 && k < s->n; k++)
        if (s->s[k].param == p)
            return &s->s[k];
    return NULL;
}

static void spoil(struct soft_structure *x, struct span at, const char *why)
{
    if (!x->cacheable)
        return;
    x->cacheable = false;
    x->why = why;
    x->at = at;
}

/* ---- collecting structures ---- */
static void judge_access(struct soft_structure *x, const struct ptx_inst *i)
{
    bool atomic = inst_effect(i) == EFFECT_ATOMIC;
    x->written |= atomic || inst_effect(i) == EFFECT_STORE;
    const struct ptx_operand *a = inst_address(i);
    unsigned bytes = inst_bytes(i);
    if (inst_is_strong(i) && !atomic)
        spoil(x, i->at, "an access is volatile or ordered");
    else if (i->space != PTX_SPACE_GLOBAL)
        spoil(x, i->at, "an access is generic");
    else if (!atomic && !inst_is(i, "ld") && !inst_is(i, "st"))
        spoil(x, i->at, "an access is of an unusual kind");
    else if (!atomic && (bytes == 0 || bytes > SOFT_LINE || i->type[0] == PTX_T_B128))
        spoil(x, i->at, "an access is wider than a line");
    else if (!atomic && inst_has(i, ".L2::cache_hint"))
        spoil(x, i->at, "an access carries a cache policy");
    else if (!a || a->base != BASE_REG)
        spoil(x, i->at, "an access has no register address");
}

static enum status collect(struct soft *s)
{
    struct pass_ctx *c = s->c;
    bool unknown_load = false;
    for (uint32_t k = 0; k < c->f->ninsts; k++) {
        const struct ptx_inst *i = &c->f->insts[k];
        enum ptx_effect e = inst_effect(i);
        if (e == EFFECT_ASYNC_COPY || e == EFFECT_TENSOR || e == EFFECT_SURFACE || i->op == PTX_OP_OPAQUE)
            return pass_refuse(c, i->at, NULL, "this instruction may touch memory behind the software cache");
        if (!touches_global(i))
            continue;
        struct pass_roots r;
        pass_address_roots(c, &s->flow, inst_address(i), &r);
        if (r.window && !r.params && !r.unknown)
            continue;
        int p = pass_access_param(c, &s->flow, i);
        if (p < 0 && r.sym && !r.params && !r.unknown)
            continue;                              /* a module variable: no parameter's memory */
        if (p < 0 && e != EFFECT_LOAD)
            return pass_refuse(c, i->at, NULL, "this store may go to any structure: its address does not derive from one pointer parameter");
        unknown_load |= p < 0;
        struct soft_structure *x = soft_of(s, i);
        if (p >= 0 && !x) {
            if (s->n == SOFT_MAX)
                continue;
            x = &s->s[s->n++];
            *x = (struct soft_structure){ .param = p, .cacheable = true, .line = -1 };
        }
        if (x)
            judge_access(x, i);
    }
    for (uint32_t k = 0; unknown_load && k < s->n; k++)
        if (s->s[k].written)
            spoil(&s->s[k], NO_SPAN, "a load of unknown origin may read it");
    return ST_OK;
}

static void check_apart(struct soft *s)
{
    for (uint32_t a = 0; a < s->n; a++)
        for (uint32_t b = 0; b < s->n; b++)
            if (a != b && (s->s[a].written || s->s[b].written) && !pass_params_distinct(s->c, s->s[a].param, s->s[b].param))
                spoil(&s->s[a], NO_SPAN, "it may share memory with a structure that is written (--assume-restrict takes your word)");
}

/* A line reads whole 16 bytes: the buffer must begin and end on a line. */
static void check_edges(struct soft *s)
{
    const struct launch_spec *l = s->c->in->launch;
    for (uint32_t k = 0; l && k < s->n; k++) {
        size_t p = (size_t)s->s[k].param, own = p < l->nargs ? launch_buffer_of(l, p) : SIZE_MAX;
        if (own == SIZE_MAX)
            continue;
        if (l->args[own].count * elem_size(l->args[own].elem) % SOFT_LINE || (l->args[p].kind == ARG_SAME_AS && l->args[p].offset % SOFT_LINE))
            spoil(&s->s[k], NO_SPAN, "its buffer does not end on a 16-byte line");
    }
}

/* ---- static guess: how many of a structure's accesses hit its line ---- */
static bool line_shared(const struct soft *s, uint32_t inst)
{
    const struct ptx_operand *a = inst_address(&s->c->f->insts[inst]);
    uint32_t block = s->flow.cfg->block_of[inst];
    for (uint32_t k = s->flow.cfg->blocks[block].first; k < inst; k++) {
        const struct ptx_operand *b = touches_global(&s->c->f->insts[k]) ? inst_address(&s->c->f->insts[k]) : NULL;
        if (b && b->base == BASE_REG && b->index == a->index && b->imm / SOFT_LINE == a->imm / SOFT_LINE)
            return true;
    }
    return false;
}

/* Byte step per turn of the innermost loop, through whichever induction register moves the address. */
static bool turn_step(const struct soft *s, uint32_t inst, int64_t *step)
{
    const struct ptx_cfg *g = s->flow.cfg;
    uint32_t loop = g->blocks[g->block_of[inst]].loop;
    bool known = false;
    *step = 0;
    for (uint32_t k = 0; loop != PTX_NO_INDEX && k < s->c->f->ninsts; k++) {
        const struct ptx_inst *d = &s->c->f->insts[k];
        int64_t per = 0;
        if (g->blocks[g->block_of[k]].loop != loop || !inst_is(d, "add") || d->nopnds != 3 || d->opnds[0].kind != OPND_REG || d->opnds[1].kind != OPND_REG ||
            d->opnds[0].index != d->opnds[1].index || d->opnds[2].kind != OPND_IMM)
            continue;
        if (!pass_motion(&s->flow, inst_address(&s->c->f->insts[inst])->index, d->opnds[0].index, &per))
            return false;
        *step += per * d->opnds[2].imm;
        known = true;
    }
    return known;
}

static double guess_hits(const struct soft *s, uint32_t inst)
{
    const struct ptx_cfg *g = s->flow.cfg;
    uint32_t loop = g->blocks[g->block_of[inst]].loop;
    double weight = 1;
    int64_t step;
    for (uint32_t l = loop, deep = 0; l != PTX_NO_INDEX && deep < 6; l = g->loops[l].parent, deep++)
        weight *= 16;
    if (line_shared(s, inst))
        return weight;
    if (loop == PTX_NO_INDEX)
        return 0;
    if (!turn_step(s, inst, &step))
        return weight * 0.1;
    step = step < 0 ? -step : step;
    return step >= SOFT_LINE ? 0 : weight * (1 - (double)step / SOFT_LINE);
}

static void rank(struct soft *s)
{
    for (uint32_t k = 0; k < s->c->f->ninsts; k++) {
        struct soft_structure *x = soft_of(s, &s->c->f->insts[k]);
        if (x && x->cacheable && inst_effect(&s->c->f->insts[k]) != EFFECT_ATOMIC)
            x->score += guess_hits(s, k) * (x->written ? 0.5 : 1);
    }
    for (uint32_t given = 0; given < s->lines; given++) {
        struct soft_structure *best = NULL;
        for (uint32_t k = 0; k < s->n; k++)
            if (s->s[k].cacheable && s->s[k].line < 0 && (!best || s->s[k].score > best->score))
                best = &s->s[k];
        if (!best)
            return;
        best->line = (int)given;
    }
}

/* ---- how much fits ---- */
static enum status fit(struct soft *s)
{
    struct pass_ctx *c = s->c;
    const struct dev_info *d = c->in->dev;
    bool unsized;
    uint64_t fixed = pass_shared_bytes(c->m, c->f, &unsized), dyn = (c->out->shared + 15u) & ~15u;
    uint64_t threads = dim3u_count(c->out->block), warps = (threads + 31) / 32;
    uint64_t reserved = d->cc_major >= 8 ? 1024 : 0, per_cta = fixed + dyn + reserved;
    uint64_t ctas = warps ? d->max_warps_per_sm / warps : 0;
    if (d->max_ctas_per_sm && ctas > d->max_ctas_per_sm)
        ctas = d->max_ctas_per_sm;
    if (per_cta && ctas > d->shared_per_sm / per_cta)
        ctas = d->shared_per_sm / per_cta;
    uint64_t used = ctas * per_cta, left = d->shared_per_sm > used ? d->shared_per_sm - used : 0;
    uint32_t cln = pass_softcache_lines(left, ctas * threads);
    while (cln && fixed + dyn + (uint64_t)cln * SOFT_LINE * threads > d->shared_per_block_optin)
        cln--;
    if (!cln)
        return pass_refuse(c, NO_SPAN, "a smaller block, or less shared memory in the kernel, would leave room",
                           "CLN = 0: %llu bytes of shared memory are free for the %llu threads an SM holds, less than 16 each",
                           (unsigned long long)left, (unsigned long long)(ctas * threads));
    if (c->opt->softcache > 0 && (uint32_t)c->opt->softcache > cln)
        return pass_refuse(c, NO_SPAN, NULL, "--softcache %d: %u line%s of 16 bytes per thread fit on %s without lowering the occupancy", c->opt->softcache, cln, cln > 1 ? "s" : "", d->name);
    s->lines = c->opt->softcache > 0 ? (uint32_t)c->opt->softcache : cln;
    s->threads = (uint32_t)threads;
    s->offset = (uint32_t)dyn;
    return ST_OK;
}

enum status soft_begin(struct soft *s, struct pass_ctx *c)
{
    memset(s, 0, sizeof *s);
    s->c = c;
    s->dynamic = c->opt->softcache == OPT_SOFTCACHE_AUTO;
    enum status st = fit(s);
    if (st == ST_OK && !pass_flow_make(c->f, &s->flow))
        st = ST_NOMEM;
    if (st == ST_OK)
        st = collect(s);
    if (st != ST_OK)
        return st;
    check_apart(s);
    check_edges(s);
    uint32_t usable = 0;
    for (uint32_t k = 0; k < s->n; k++)
        usable += s->s[k].cacheable;
    s->lines = s->lines < usable ? s->lines : usable;  /* more lines than structures would only take L1 away */
    rank(s);
    return ST_OK;
}

void soft_end(struct soft *s) { pass_flow_free(&s->flow); }

/* ---- the pass ---- */
static enum status check_called(struct pass_ctx *c)
{
    struct pass_funcs fs;
    pass_callees(c, &fs);
    if (fs.indirect)
        return pass_refuse(c, fs.at, NULL, "what is called through a pointer may touch cached memory");
    for (uint32_t k = 0; k < fs.n; k++)
        for (uint32_t n = 0; n < fs.v[k]->ninsts; n++) {
            const struct ptx_inst *i = &fs.v[k]->insts[n];
            enum ptx_effect e = inst_effect(i);
            if (touches_global(i) || e == EFFECT_FENCE || e == EFFECT_BARRIER || e == EFFECT_ASYNC_COPY || i->op == PTX_OP_OPAQUE || inst_is(i, "exit"))
                return pass_refuse(c, i->at, NULL, "the called function %.*s touches global memory or synchronises", (int)fs.v[k]->name.n, fs.v[k]->name.s);
        }
    return ST_OK;
}

/* The in-kernel choice takes threads of one warp into different copies of the body. */
static enum status check_dynamic(struct pass_ctx *c)
{
    const struct ptx_inst *i = pass_find_effect(c->f, EFFECT_WARP);
    if (!i)
        i = pass_find_effect(c->f, EFFECT_BARRIER);
    if (i)
        return pass_refuse(c, i->at, "--softcache N chooses before the launch and has no such limit", "--softcache auto lets the threads of a warp part, which this instruction forbids");
    return ST_OK;
}

static enum status check(struct pass_ctx *c)
{
    struct soft s;
    if (!c->in->launch || !c->in->dev)
        return pass_refuse(c, NO_SPAN, "name the launch with --launch and the device with --device",
                           "the number of lines follows from the device's shared memory and the launch's threads");
    enum status st = check_called(c);
    if (st == ST_OK && c->opt->softcache == OPT_SOFTCACHE_AUTO)
        st = check_dynamic(c);
    if (st != ST_OK)
        return st;
    st = soft_begin(&s, c);
    uint32_t any = 0;
    for (uint32_t k = 0; k < s.n; k++)
        any += s.s[k].cacheable;
    if (st == ST_OK && !any)
        st = pass_refuse(c, s.n ? s.s[0].at : NO_SPAN, NULL, s.n ? "no structure can be cached; parameter %d cannot because %s" : "the kernel accesses no pointer parameter",
                         s.n ? s.s[0].param : 0, s.n ? s.s[0].why : "");
    soft_end(&s);
    return st;
}

static void tell(struct soft *s)
{
    for (uint32_t k = 0; k < s->n; k++)
        if (!s->s[k].cacheable)
            pass_note(s->c, s->s[k].at, "%.*s is not cached: %s", (int)s->c->f->params[s->s[k].param]->name.n, s->c->f->params[s->s[k].param]->name.s, s->s[k].why);
        else if (!s->dynamic && s->s[k].line >= 0)
            pass_note(s->c, NO_SPAN, "%.*s gets line %d of %u", (int)s->c->f->params[s->s[k].param]->name.n, s->c->f->params[s->s[k].param]->name.s, s->s[k].line, s->lines);
}

static enum status run(struct pass_ctx *c)
{
    struct soft s;
    enum status st = soft_begin(&s, c);
    if (st == ST_OK) {
        soft_emit(&s);
        tell(&s);
        uint32_t bytes = s.lines * SOFT_LINE * s.threads;
        c->out->extra_shared += s.offset - c->out->shared + bytes;
        c->out->shared = s.offset + bytes;
    }
    soft_end(&s);
    return st == ST_OK && c->oom ? ST_NOMEM : st;
}

static const char *const knobs[] = { "softcache", "assume-restrict", NULL };
const struct pass_row pass_row_softcache = {
    { "softcache", "thread-private 16-byte lines in shared memory for the structures that hit most" }, knobs, asked, check, run,
};
