/* ana_run: facts turned into the records that the command line, the workbench
 * and the passes read. */
#include "engine/analysis/curve.h"
#include "engine/analysis/facts.h"
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/facts/joined.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/op_enum.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* const char *fn(enum e): the texts of an X-list in order; `other` past its end. */
#define TEXT(name, text) text,
#define NAMES(fn, type, LIST, other)                            \
    const char *fn(enum type v)                                 \
    {                                                           \
        static const char *const name[] = { LIST(TEXT) };       \
        return (size_t)v < ARRAY_LEN(name) ? name[v] : (other); \
    }
NAMES(ana_class_name, ana_class, ANA_CLASSES, "unknown")
NAMES(ana_from_name, ana_from, ANA_FROM, "")
NAMES(ana_level_name, ana_level, ANA_LEVELS, "")
const char *ana_space_name(unsigned space)
{
    switch (space) {
    case PTX_SPACE_GLOBAL: return "global";
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER: return "shared";
    case PTX_SPACE_LOCAL: return "local";
    case PTX_SPACE_CONST: return "const";
    case PTX_SPACE_PARAM: return "param";
    case ANA_SPACE_COPY: return "copy";
    default: return "generic";
    }
}

/* ---- one access ---- */
static char *taken(struct arena *a, struct buf *b)
{
    char *s = b->s && !b->oom ? arena_dup(a, (struct str){ b->s, b->n }) : NULL;
    buf_free(b);
    return s;
}
static char *address_text(struct facts *f, const struct fact *x)
{
    struct symexpr_names names = { array_loop_name, array_leaf_name, f };
    struct buf b = { 0 };
    bool narrow = x->space == PTX_SPACE_SHARED || x->space == PTX_SPACE_SHARED_CLUSTER ||
                  x->space == PTX_SPACE_LOCAL;
    for (uint32_t c = 0; c < x->nctx && c < 4; c++) {
        if (c && x->ctx[c]->addr == x->ctx[c - 1]->addr)
            continue;
        if (c)
            buf_puts(&b, " or ");
        /* offsets in a window: what widening to 64 bits would add is never used */
        symexpr_print(narrow ? symexpr_trunc(&f->e.pool, x->ctx[c]->addr, 32) : x->ctx[c]->addr, &names,
                      &b);
    }
    if (x->nctx > 4)
        buf_printf(&b, " or %u more", x->nctx - 4);
    return taken(f->arena, &b);
}
/* The first opaque value below x, for the reason. */
struct finding {
    struct arena *arena;
    const char *why;
};
static enum symexpr_visit visit_reason(void *ctx, const struct symexpr *x)
{
    struct finding *q = ctx;
    const struct symexpr_site *s = x->ref;
    if (!(x->flags & (AXF_UNKNOWN | AXF_OTHER_SREG | AXF_PHI)))
        return SYMEXPR_SKIP;
    if (x->kind == SYMEXPR_UNKNOWN)
        q->why = s && s->why ? s->why : "an expression that grew too large";
    else if (x->kind == SYMEXPR_SREG)
        q->why = ptx_sreg_name((enum ptx_sreg)x->c);
    else if (x->kind == SYMEXPR_PHI && !q->why)
        q->why =
            s && s->func && s->inst < s->func->ninsts
                ? arena_printf(q->arena, "a value that differs between the paths that join at line %u",
                               s->func->insts[s->inst].at.line)
                : "a value that differs between paths through the code";
    return x->kind == SYMEXPR_UNKNOWN || x->kind == SYMEXPR_SREG ? SYMEXPR_FOUND : SYMEXPR_DESCEND;
}
static const char *reason(struct arena *arena, const struct symexpr *x)
{
    struct finding q = { arena, NULL };
    (void)symexpr_find(x, visit_reason, &q);
    return q.why;
}
/* Linear in thread and CTA indices and loop counters with coefficients that all threads share. */
static bool varies(const struct symexpr *x)
{
    return x->flags & (AXF_TID | AXF_CTAID | AXF_ITER | AXF_OTHER_SREG);
}
static enum symexpr_visit visit_crooked(void *ctx, const struct symexpr *x)
{
    uint32_t moving = 0;
    (void)ctx;
    if (x->flags & (AXF_LOAD | AXF_UNKNOWN | AXF_PHI | AXF_RECUR | AXF_OTHER_SREG))
        return SYMEXPR_FOUND;
    if (!varies(x) || x->kind == SYMEXPR_SREG || x->kind == SYMEXPR_ITER)
        return SYMEXPR_SKIP;
    if (x->kind == SYMEXPR_SEXT || (x->kind == SYMEXPR_ZEXT && symexpr_counts(x->arg[0])))
        return SYMEXPR_DESCEND;
    for (uint32_t i = 0; i < x->n; i++)
        moving += varies(x->arg[i]);
    return x->kind == SYMEXPR_SUM || (x->kind == SYMEXPR_PROD && moving <= 1) ? SYMEXPR_DESCEND
                                                                              : SYMEXPR_FOUND;
}
static bool affine_form(const struct symexpr *x)
{
    return !symexpr_find(x, visit_crooked, NULL);
}
/* The parameter that is the tensor map, or NULL: it is elsewhere. */
static const char *copy_map(struct facts *f, const struct eval_access *a)
{
    const struct symexpr *s = a->addr;
    while (s->kind == SYMEXPR_SUM && s->n)
        s = s->arg[0];
    return s->kind == SYMEXPR_ADDR && s->ref ? array_leaf_name(f, s) : NULL;
}
static char *loops_text(struct facts *f, const struct fact *x)
{
    struct symexpr_names names = { array_loop_name, array_leaf_name, f };
    struct buf b = { 0 };
    const struct eval_access *a = x->ctx[0];
    for (struct ana_loop *l = eval_loop_of(a->frame, a->block); l; l = l->parent) {
        const struct env_loop *el = &f->v.loop[l->id];
        const struct ptx_block *blk = &a->frame->cfg->blocks[l->header];
        buf_printf(&b, "%s%s: ", b.n ? "; " : "", l->name);
        if (el->known && f->o->data)
            buf_printf(&b, el->uniform ? "%" PRId64 " times back" : "at most %" PRId64 " times back",
                       el->trips);
        else if (el->bounded && f->o->data)
            buf_printf(&b, "at most %" PRId64 " times back, or less: %s", el->most,
                       l->why ? l->why : "another exit that is not linear");
        else if (l->stay) {
            buf_puts(&b, "while ");
            symexpr_print(l->stay, &names, &b);
        } else {
            buf_printf(&b, "unknown: %s", l->why ? l->why : "not analysable");
        }
        buf_printf(&b, " (line %u)", a->frame->func->insts[blk->first].at.line);
    }
    return b.n ? taken(f->arena, &b) : NULL;
}
/* "A {64*i, 128*ctaid.y}": a tensor map, and the coordinates of the box; "A + 16*tid.x, 1024 bytes" */
static char *copy_text(struct facts *f, const struct fact *x)
{
    struct symexpr_names names = { array_loop_name, array_leaf_name, f };
    const struct eval_access *a = x->ctx[0];
    const char *map = a->tensor ? copy_map(f, a) : NULL;
    struct buf b = { 0 };
    if (map)
        buf_puts(&b, map);
    else
        symexpr_print(a->addr, &names, &b);
    buf_puts(&b, a->tensor ? " {" : ", ");
    for (unsigned k = 0; k < a->nvalues; k++) {
        buf_puts(&b, k ? ", " : "");
        symexpr_print(a->value[k], &names, &b);
    }
    buf_puts(&b, a->tensor ? "}" : " bytes");
    return taken(f->arena, &b);
}
static void fill_copy(struct facts *f, const struct fact *x, struct ana_access *a)
{
    const struct eval_access *c = x->ctx[0];
    uint16_t flags = c->addr->flags;
    a->affine = affine_form(c->addr);
    for (unsigned k = 0; k < c->nvalues; k++) {
        flags |= c->value[k]->flags;
        a->affine = a->affine && affine_form(c->value[k]);
        const char *why = a->unknown ? NULL : reason(f->arena, c->value[k]);
        if (why)
            a->unknown = arena_dup(f->arena, str_of(why));
    }
    a->address = copy_text(f, x);
    a->loops = loops_text(f, x);
    a->depends_on_load = flags & AXF_LOAD;
    a->array = c->tensor ? copy_map(f, c) : array_name(f, x->arrays);
    a->param = c->tensor ? -1 : array_param(f, x->arrays);
    a->arrays = a->array ? arena_dup(f->arena, str_of(a->array)) : NULL;
}
static void fill_symbolic(struct facts *f, const struct fact *x, struct ana_access *a)
{
    uint16_t flags = 0;
    a->affine = true;
    a->address = address_text(f, x);
    a->loops = loops_text(f, x);
    for (uint32_t c = 0; c < x->nctx; c++) {
        flags |= x->ctx[c]->addr->flags;
        a->affine = a->affine && affine_form(x->ctx[c]->addr);
        const char *why = a->unknown ? NULL : reason(f->arena, x->ctx[c]->addr);
        if (why)
            a->unknown = arena_dup(f->arena, str_of(why));
    }
    a->depends_on_load = flags & AXF_LOAD;
    a->stepped = x->nctx && ana_steps(f, x->ctx[0]->addr, a->step);
    a->param = array_param(f, x->arrays);
    a->array = array_name(f, x->arrays);
    a->arrays = array_names(f, x->arrays);
}
/* Loads whose address depends on loaded values have one only in the lanes that run them. */
static struct ana_every_lane every_lane(const struct fact *x)
{
    bool known = x->every.requests > 0;
    struct tally run = x->tally;
    run.present = run.threads;
    const struct ana_coalesce c = request_count_coalesce(known ? &x->every : &run);
    struct ana_every_lane e = { .degree = c.valid ? c.degree : NAN,
                                .expected = c.valid ? c.expected : NAN,
                                .num_sectors = c.num_sectors,
                                .of_lanes_that_run = c.valid && !known };
    memcpy(e.graph, c.graph, sizeof e.graph);
    return e;
}
static void fill_counts(struct facts *f, const struct fact *x, struct ana_access *a)
{
    bool shared = x->space == PTX_SPACE_SHARED || x->space == PTX_SPACE_SHARED_CLUSTER;
    a->executions = NAN;
    a->counted_by = !x->counted   ? NULL
                    : !f->o->data ? "assumed launch"
                    : x->by_slice ? "slice"
                                  : "closed form";
    if (!x->counted) {
        a->uncounted = x->why ? arena_dup(f->arena, str_of(x->why)) : NULL;
        return;
    }
    a->coalesce = request_count_coalesce(&x->tally);
    a->coalesce.every = every_lane(x);
    if (!f->o->data)
        return;
    a->exact = request_count_exact(&x->tally, shared);
    a->exact.sampled = x->sampled;
    a->exact.error = x->sampled ? x->error : 0;
    a->executions = (double)x->tally.requests;
}
static void fill_access(struct facts *f, const struct fact *x, struct ana_access *a)
{
    const struct ptx_inst *in = fact_inst(f, x);
    const struct ptx_func *func = f->e.module->funcs[x->func];
    const uint32_t *same = ptx_same_of(func);
    const struct ptx_joined *joined = ptx_joined_of(func);
    *a = (struct ana_access){ .func = x->func,
                              .inst = x->inst,
                              .at = in->at,
                              .loc = ptx_loc_of(func, in),
                              .same_line =
                                  same && same[x->inst] ? func->insts[same[x->inst] - 1].at.line : 0,
                              .joined_line = joined && joined[x->inst].with
                                                 ? func->insts[joined[x->inst].with - 1].at.line
                                                 : 0,
                              .space = x->space,
                              .bytes = x->bytes,
                              .store = x->store || x->atomic,
                              .atomic = x->atomic,
                              .prefetch = x->prefetch,
                              .read_only = ANA_UNKNOWN,
                              .cls = ANA_CLASS_UNKNOWN };
    if (x->space == ANA_SPACE_COPY)
        fill_copy(f, x, a);
    else
        fill_symbolic(f, x, a);
    fill_counts(f, x, a);
    if (x->load && (x->space == PTX_SPACE_GLOBAL || x->space == PTX_SPACE_GENERIC))
        a->read_only = array_read_only(f, x, &a->read_only_why);
    else if (x->load && x->space == PTX_SPACE_CONST) {
        a->read_only = ANA_YES;
        a->read_only_why = arena_dup(f->arena, STR("constant memory"));
    }
}

/* ---- the kernel ---- */
static bool counts_as_load(const struct ana_access *a)
{
    return !a->store && !a->prefetch && a->space == PTX_SPACE_GLOBAL;
}
static uint64_t times(uint64_t n, double scale)
{
    return scale > 1 ? (uint64_t)((double)n * scale) : n;
}
static unsigned touched_sectors(const double graph[32])
{
    unsigned n = 0;
    for (int s = 0; s < 4; s++) {
        double sum = 0;
        for (int w = 0; w < 8; w++)
            sum += graph[8 * s + w];
        n += sum > 0;
    }
    return n;
}
/* The static figure of the kernel: the mean over its loads, all alike. */
static void fill_every_lane(const struct facts *f, struct ana_kernel *k)
{
    struct ana_every_lane *t = &k->coalesce.every;
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        if (!counts_as_load(a) || !a->coalesce.valid)
            continue;
        struct ana_every_lane e = every_lane(&f->fact[i]);
        n++;
        t->degree += e.degree;
        t->of_lanes_that_run += e.of_lanes_that_run;
        for (int w = 0; w < 32; w++)
            t->graph[w] += e.graph[w];
    }
    for (int w = 0; n && w < 32; w++)
        t->graph[w] /= n;
    t->degree = n ? t->degree / n : NAN;
    t->num_sectors = touched_sectors(t->graph);
    t->expected = n && t->degree > 0 ? t->num_sectors / t->degree : NAN;
}
/* The paper weights all loads equally; exact figures are sums over executions. */
static void fill_totals(const struct facts *f, struct ana_kernel *k)
{
    uint32_t n = 0;
    bool all = k->launched;
    struct ana_exact *x = &k->exact;
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        if (!counts_as_load(a))
            continue;
        if (a->coalesce.valid) {
            n++;
            k->coalesce.degree += a->coalesce.degree;
            k->coalesce.sectors += a->coalesce.sectors;
            k->coalesce.least += a->coalesce.least;
            for (int w = 0; w < 32; w++)
                k->coalesce.graph[w] += a->coalesce.graph[w];
        }
        all = all && a->exact.valid;
        /* a sample counts for the whole launch beside what was counted whole */
        double scale = a->exact.sampled ? f->fact[i].scale : 1;
        x->requests += times(a->exact.requests, scale);
        x->sectors += times(a->exact.sectors, scale);
        x->least += times(a->exact.least, scale);
        x->lines += times(a->exact.lines, scale);
        x->bytes_used += times(a->exact.bytes_used, scale);
        x->bytes_moved += times(a->exact.bytes_moved, scale);
        x->sampled = x->sampled || a->exact.sampled;
        x->error = a->exact.error > x->error ? a->exact.error : x->error;
    }
    x->valid = all;
    x->sectors_per_request = x->requests ? (double)x->sectors / (double)x->requests : NAN;
    if (!n)
        return;
    k->coalesce.valid = true;
    k->coalesce.degree /= n;
    k->coalesce.sectors /= n;
    k->coalesce.least /= n;
    for (int w = 0; w < 32; w++)
        k->coalesce.graph[w] /= n;
    k->coalesce.num_sectors = touched_sectors(k->coalesce.graph);
    k->coalesce.expected = k->coalesce.degree > 0 ? k->coalesce.num_sectors / k->coalesce.degree : 0;
}
/* Instructions that touch memory in ways the analysis has no model for; every other access is analysed
 * all the same. */
static const char *unmodelled(const struct ptx_inst *i)
{
    if (ptx_is_opaque(i))
        return "an instruction that is not known here";
    switch (ptx_effect_of(i)) {
    case EFFECT_TEXTURE: return "texture access";
    case EFFECT_SURFACE: return "surface access";
    case EFFECT_TENSOR: return "tensor core";
    case EFFECT_ASYNC_COPY: return NULL;
    default: return NULL;
    }
}

/* One gap per operation: how often, and where first. Two passes over the function, however many there
 * are. */
static void name_unmodelled(struct facts *f, const struct ptx_func *fn)
{
    uint32_t times[PTX_OP_COUNT] = { 0 };
    for (uint32_t i = 0; i < fn->ninsts; i++)
        times[fn->insts[i].op]++;
    for (uint32_t i = 0; i < fn->ninsts; i++) {
        const struct ptx_inst *in = fn->insts + i;
        const char *what = times[in->op] ? unmodelled(in) : NULL;
        if (what)
            eval_gap(&f->e, "not modelled: %s (%s), %u in %.*s, first at line %u",
                     ptx_is_opaque(in) ? "opaque" : ptx_op_info(in->op)->name, what, times[in->op],
                     (int)(fn->name.n < 80 ? fn->name.n : 80), fn->name.s, in->at.line);
        times[in->op] = 0;
    }
}

/* What the kernel and the device functions of its module hold; named first, since the list of gaps is
 * short. */
static void name_all_unmodelled(struct facts *f, struct ana_kernel *k)
{
    uint32_t first = f->e.ngaps;
    for (uint32_t i = 0; i < k->module->nfuncs; i++)
        if (k->module->funcs[i] == k->func || !k->module->funcs[i]->entry)
            name_unmodelled(f, k->module->funcs[i]);
    for (uint32_t i = first; i < f->e.ngaps && k->ngaps < ARRAY_LEN(k->gaps); i++)
        k->gaps[k->ngaps++] = f->e.gaps[i];
    f->e.ngaps = first;
}

/* The side in shared memory of a cp.async. */
static bool is_async_store(const struct facts *f, uint32_t i)
{
    return i && f->fact[i].store && f->fact[i].inst == f->fact[i - 1].inst &&
           f->fact[i].func == f->fact[i - 1].func;
}
static void fill_gaps(struct facts *f, struct ana_kernel *k)
{
    name_all_unmodelled(f, k);
    for (uint32_t i = 0; i < f->n; i++)
        if (!f->fact[i].counted && !f->fact[i].prefetch && f->fact[i].why && !is_async_store(f, i))
            eval_gap(&f->e, "the access at line %u is not counted: %s",
                     fact_inst(f, &f->fact[i])->at.line, f->fact[i].why);
    for (uint32_t i = 0; i < f->e.nloops; i++)
        if (!f->v.loop[f->e.loops[i]->id].known && f->o->data && f->e.loops[i]->why)
            eval_gap(
                &f->e, "loop %s at line %u has no closed form: %s", f->e.loops[i]->name,
                f->e.loops[i]
                    ->frame->func->insts[f->e.loops[i]->frame->cfg->blocks[f->e.loops[i]->header].first]
                    .at.line,
                f->e.loops[i]->why);
    for (uint32_t i = 0; i < f->e.ngaps && k->ngaps < ARRAY_LEN(k->gaps); i++)
        k->gaps[k->ngaps++] = f->e.gaps[i];
}
static enum status fill_kernel(struct facts *f, struct ana_kernel *k)
{
    k->module = f->e.module;
    k->func = f->e.kernel;
    k->launched = f->o->data != NULL;
    k->regs = f->o->regs;
    k->cls = ANA_CLASS_UNKNOWN;
    k->grid = f->v.grid;
    k->block = f->v.block;
    if (!k->launched)
        k->assumed = arena_printf(f->arena,
                                  "block %ux%ux%u, %ux%ux%u CTAs, pointers aligned and distinct, "
                                  "integer parameters %d, first iterations of loops",
                                  k->block.x, k->block.y, k->block.z, k->grid.x, k->grid.y, k->grid.z,
                                  ENV_ASSUMED_INT);
    k->access = ARENA_ARRAY(f->arena, struct ana_access, f->n + 1);
    if (!k->access)
        return ST_NOMEM;
    k->naccess = f->n;
    for (uint32_t i = 0; i < f->n; i++) {
        if (cancel_asked(f->o->cancel))
            return ST_CANCELLED;
        fill_access(f, &f->fact[i], &k->access[i]);
    }
    fill_totals(f, k);
    fill_every_lane(f, k);
    share_all(f, k);
    classify_all(f, k);
    enum status st =
        f->o->curve && k->launched && f->e.status == ST_OK ? curve_make(f, &k->curve) : ST_OK;
    if (st == ST_REFUSED)
        eval_gap(&f->e, "no miss-ratio curve: no global load of this launch could be traced");
    else if (st != ST_OK)
        f->e.status = st;
    fill_gaps(f, k);
    return arena_failed(f->arena) || f->e.pool.failed ? ST_NOMEM : f->e.status;
}
enum status ana_run(const struct ptx_module *m, struct str kernel, const struct ana_opts *o,
                    struct ana_kernel **out, struct diags *ds)
{
    struct arena *arena = arena_new(0);
    struct ana_kernel *k = arena ? ARENA_NEW(arena, struct ana_kernel) : NULL;
    struct facts f;
    *out = NULL;
    if (!k) {
        arena_free(arena);
        return ST_NOMEM;
    }
    k->arena = arena;
    enum status st = facts_make(&f, m, kernel, o, arena, ds);
    if (st == ST_OK)
        st = facts_count(&f);
    if (st == ST_OK)
        st = fill_kernel(&f, k);
    facts_free(&f);
    if (st == ST_OK)
        *out = k;
    else
        ana_free(k);
    return st;
}
void ana_free(struct ana_kernel *k)
{
    if (!k)
        return;
    ana_curve_free(k->curve);
    arena_free(k->arena);
}

struct ana_kernel *ana_view(const struct ana_kernel *k, const struct ptx_module *m)
{
    struct {
        struct ana_kernel k;
        struct ana_access access[];
    } *v = base_alloc(sizeof *v + k->naccess * sizeof *k->access);
    if (!v)
        return NULL;
    v->k = *k;
    v->k.module = m;
    v->k.func = ptx_find_func(m, k->func->name);
    v->k.access = v->access;
    if (k->naccess)
        memcpy(v->access, k->access, k->naccess * sizeof *k->access);
    bool same = v->k.func != NULL;
    for (uint32_t i = 0; same && i < k->naccess; i++) {
        struct ana_access *x = &v->access[i];
        const struct ptx_func *f = ptx_find_func(m, k->module->funcs[x->func]->name);
        same = f && f->def && x->inst < f->def->ninsts && f->def->insts[x->inst].at.line == x->at.line;
        if (same) {
            x->func = f->def->index;
            x->at = f->def->insts[x->inst].at;
        }
    }
    if (same)
        return &v->k;
    base_free(v);
    return NULL;
}
