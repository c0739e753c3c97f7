/* schedule (paper: schedule): another loop schedule for the same kernel. Block shape, exchange of x
 * and y, and coarsening are made by giving each thread the coordinates some thread of the original
 * had:
 *
 *   g.d  = ctaid'.d * block'.d + tid'.d      index in the new shape, exchanged when asked
 *   tid.d, ctaid.d = g.d mod, div block.d    what the body reads instead of the special registers
 *
 *   before, blocks of 64                 after, --block 32x2x1
 *                                          gy = %ctaid.y * 2 + %tid.y;  @(gy >= 1) ret;
 *                                          gx = %ctaid.x * 32 + %tid.x;  cx = gx >> 6;  tx = gx & 63;
 *     mov.u32 %r1, %ctaid.x;               mov.u32 %r1, cx;
 *     mov.u32 %r2, %ntid.x;                mov.u32 %r2, 64;
 *     mov.u32 %r3, %tid.x;                 mov.u32 %r3, tx;
 *     ret;                                 ret;
 *
 *                                        after, --coarsen 2
 *                                          k = 0;
 *                                        $again: gx = %ctaid.x * 64 + %tid.x + k * 1024;  body
 *                                          bra $next;                    for ret
 *                                        $next: k += 1;  @(k < 2) bra $again;  ret;
 *
 * Threads whose g lies outside the original's index set return at once, so the set of executed
 * coordinates is exactly the original's, each once. That is the same kernel whenever no thread can see
 * which others share its CTA or warp: no shared memory, barrier, warp intrinsic, lane or SM number.
 *
 * --coarsen-mode vector has the iterations of a thread side by side, their accesses as vectors, and
 * keeps the loop for threads where that cannot be (vector/plan.c).
 *
 * Where block and order of threads stay, a CTA is one of the original's, or several of them one after
 * the other (--coarsen, interleaved: iteration k of CTA c is CTA c + k * grid'). Then barriers and
 * shared memory see the threads they always saw. Between two iterations stands a bar.sync 0, so that
 * nobody is at work in the next one while others use shared memory; it ends because all threads of a CTA
 * come to it the same number of times (tasks.h). */
#include "engine/invariants/invariants.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_schedule.h"
#include "engine/pass/tasks.h"
#include "engine/pass/words.h"
#include "engine/rewrites/vector/vector_int.h"

#include <string.h>

#define TAG "schedule"

static bool asked(const struct options *o)
{
    return opt_schedule(o)->block.x || opt_schedule(o)->swap_xy || opt_schedule(o)->coarsen > 1;
}

/* ---- the new shape ---- */
struct shape {
    struct dim3u old_block, old_grid, block, grid;
    uint64_t total[3]; /* threads per original dimension */
    uint64_t span[3];  /* threads the new shape spends on the new dimension's axis */
    int axis[3];       /* original dimension that new dimension d drives */
    uint32_t coarsen;  /* iterations per thread, along the new x */
    /* original dimension a is driven as before: its special registers stay */
    bool kept[3];
};

static void dim_set(struct dim3u *d, int k, uint32_t v)
{
    *(k == 0 ? &d->x : k == 1 ? &d->y : &d->z) = v;
}

static bool shape_make(const struct pass_ctx *c, struct shape *s)
{
    const struct options *o = c->opt;
    memset(s, 0, sizeof *s);
    s->old_block = c->out->block;
    s->old_grid = c->out->grid;
    s->coarsen = opt_schedule(o)->coarsen > 1 ? (uint32_t)opt_schedule(o)->coarsen : 1;
    for (int d = 0; d < 3; d++)
        s->axis[d] = opt_schedule(o)->swap_xy && d < 2 ? 1 - d : d;
    bool fits = true;
    for (int d = 0; d < 3; d++) {
        int a = s->axis[d];
        s->total[a] = (uint64_t)dim3u_at(s->old_block, a) * dim3u_at(s->old_grid, a);
        uint32_t width =
            opt_schedule(o)->block.x ? dim3u_at(opt_schedule(o)->block, d) : dim3u_at(s->old_block, a);
        uint64_t work = s->total[a];
        if (d == 0)
            work = (work + s->coarsen - 1) / s->coarsen;
        uint64_t ctas = width ? (work + width - 1) / width : 0;
        s->span[d] = ctas * width;
        s->kept[a] = a == d && width == dim3u_at(s->old_block, a) && (d || s->coarsen == 1);
        fits = fits && width && s->total[a] <= 0xffffffffu && s->span[d] * s->coarsen <= 0xffffffffu &&
               ctas <= (d ? 65535u : 0x7fffffffu);
        dim_set(&s->block, d, width);
        dim_set(&s->grid, d, (uint32_t)ctas);
    }
    return fits;
}

/* ---- legality ---- */
/* Are the threads of a CTA those of one CTA of the original, in the same order? Of a coarsened one: in
 * each iteration. */
static bool keeps_ctas(const struct pass_ctx *c, const struct shape *s)
{
    bool turned = s->axis[0] != 0, line = s->old_block.x == 1 || s->old_block.y == 1;
    for (int d = 0; d < 3; d++)
        if (dim3u_at(s->block, d) != dim3u_at(s->old_block, s->axis[d]))
            return false;
    return s->coarsen == 1 ? !turned || line
                           : !turned && opt_schedule(c->opt)->coarsen_mode == COARSEN_INTERLEAVED;
}

/* A branch, call or return that is said to be the same for a whole warp, where threads of other CTAs may
 * decide otherwise. */
static const struct ptx_inst *sees_uniform(const struct ptx_func *f, const char **what)
{
    struct pass_flow fl;
    const struct ptx_inst *found = NULL;
    *what = "a guarded .uni, which is valid only for the original warps";
    bool made = pass_flow_make_grid(f, &fl);
    for (uint32_t k = 0; k < f->ninsts && !found; k++) {
        const struct ptx_inst *i = &f->insts[k];
        if (!ptx_has_mod(i, PTX_MOD_UNI))
            continue;
        bool differs = !made || (i->guarded && fl.divergent[i->guard]);
        for (uint8_t n = 0; made && n < i->nopnds && !differs; n++)
            differs = i->opnds[n].kind == OPND_REG && ptx_effect_of(i) != EFFECT_WARP &&
                      fl.divergent[i->opnds[n].index];
        found = differs ? i : NULL;
    }
    return found;
}

/* What an iteration may not leave to the next one, beside what tasks_check knows: whoever returned waits
 * between the two, and takes part in nothing that a warp does together. */
static const struct ptx_inst *meets_again(const struct ptx_func *f, const char **what)
{
    static const struct {
        enum ptx_effect e;
        const char *what;
    } effects[] = {
        { EFFECT_WARP, "a warp intrinsic" },
        { EFFECT_ASYNC_COPY, "an asynchronous copy" },
        { EFFECT_TENSOR, "a tensor operation" },
    };
    for (uint32_t k = 0; k < f->ninsts; k++) {
        const struct ptx_inst *i = &f->insts[k];
        for (size_t n = 0; n < ARRAY_LEN(effects); n++)
            if ((*what = effects[n].what, ptx_effect_of(i) == effects[n].e))
                return i;
        *what = "a barrier of another kind";
        if (ptx_effect_of(i) == EFFECT_BARRIER && (!inst_is_cta_barrier(i) || ptx_is(i, IS_CLUSTER)))
            return i;
        *what = "shared memory of a cluster";
        if (i->space == PTX_SPACE_SHARED_CLUSTER)
            return i;
    }
    return NULL;
}

static const struct ptx_inst *sees_neighbours(const struct ptx_func *f, const char **what)
{
    static const struct {
        enum ptx_effect e;
        const char *what;
    } effects[] = {
        { EFFECT_BARRIER, "a barrier" },
        { EFFECT_WARP, "a warp intrinsic" },
        { EFFECT_ASYNC_COPY, "an asynchronous copy" },
        { EFFECT_TENSOR, "a tensor operation" },
    };
    for (size_t k = 0; k < ARRAY_LEN(effects); k++) {
        const struct ptx_inst *i = pass_find_effect(f, effects[k].e);
        *what = effects[k].what;
        if (i)
            return i;
    }
    for (uint32_t k = 0; k < f->ninsts; k++) {
        *what = ptx_is_opaque(&f->insts[k]) ? "an instruction that is not modelled" : "shared memory";
        if (ptx_is_opaque(&f->insts[k]) || f->insts[k].space == PTX_SPACE_SHARED ||
            f->insts[k].space == PTX_SPACE_SHARED_CLUSTER)
            return &f->insts[k];
        *what = "griddepcontrol";
        if (ptx_is(&f->insts[k], IS_DEPENDENT))
            return &f->insts[k];
        *what = "what lasts until its thread ends";
        if (ptx_is(&f->insts[k], IS_LASTS))
            return &f->insts[k];
    }
    return sees_uniform(f, what);
}

static enum status check_shape(struct pass_ctx *c)
{
    struct shape s;
    const struct dev_info *d = c->in->dev;
    uint32_t most = d && d->max_threads_per_block ? d->max_threads_per_block : 1024;
    bool fits = shape_make(c, &s);
    if (dim3u_count(s.block) > most || s.block.z > 64 || s.block.x > 1024 || s.block.y > 1024)
        return pass_refuse(
            c, NO_SPAN, NULL,
            "a block of %ux%ux%u has %llu threads; at most %u are allowed (and 64 along z)", s.block.x,
            s.block.y, s.block.z, (unsigned long long)dim3u_count(s.block), most);
    if (!fits)
        return pass_refuse(c, NO_SPAN, NULL,
                           "the grid that a block of %ux%ux%u needs (%ux%ux%u) is larger than a launch "
                           "may be (65535 along y and z)",
                           s.block.x, s.block.y, s.block.z, s.grid.x, s.grid.y, s.grid.z);
    return ST_OK;
}

static enum status check_coarsen(struct pass_ctx *c)
{
    if (opt_schedule(c->opt)->coarsen <= 1)
        return ST_OK;
    if (opt_schedule(c->opt)->coarsen != 2 && opt_schedule(c->opt)->coarsen != 4 &&
        opt_schedule(c->opt)->coarsen != 8)
        return pass_refuse(c, NO_SPAN, NULL, "--coarsen %d: must be 1, 2, 4 or 8",
                           opt_schedule(c->opt)->coarsen);
    return ST_OK;
}

static bool is_vector(const struct pass_ctx *c)
{
    return opt_schedule(c->opt)->coarsen > 1 && opt_schedule(c->opt)->coarsen_mode == COARSEN_VECTOR;
}

/* Threads side by side are neighbours in x of one CTA of the original. */
static enum status check_vector(struct pass_ctx *c, const struct pass_funcs *fs)
{
    unsigned lanes = (unsigned)opt_schedule(c->opt)->coarsen;
    if (!is_vector(c))
        return ST_OK;
    if (opt_schedule(c->opt)->swap_xy)
        return pass_refuse(
            c, NO_SPAN, NULL,
            "--coarsen-mode vector and --swap-xy exclude each other: vectors lie along x");
    if (c->out->block.x % lanes)
        return pass_refuse(c, NO_SPAN, NULL,
                           "--coarsen-mode vector takes %u neighbours of a CTA together; its %u threads "
                           "in x are no multiple of that",
                           lanes, c->out->block.x);
    if (fs->n || fs->unknown)
        return pass_refuse(c, fs->n ? fs->v[0]->at : fs->at,
                           "--coarsen-mode blocked has one thread after the other",
                           "threads cannot stand side by side in a function that is called");
    struct vector_plan p;
    enum status s = vector_plan_make(c, lanes, &p);
    vector_plan_free(&p);
    return s;
}

/* The shape that is asked for is the launch's own. */
static bool idle(const struct pass_ctx *c)
{
    struct shape s;
    return c->in->launch && shape_make(c, &s) && s.kept[0] && s.kept[1] && s.kept[2];
}

static bool reads_narrow(const struct ptx_inst *i)
{
    for (uint8_t k = 0; k < i->nopnds; k++) {
        uint32_t r = i->opnds[k].index;
        bool coordinate =
            r == PTX_SREG_TID || r == PTX_SREG_NTID || r == PTX_SREG_CTAID || r == PTX_SREG_NCTAID;
        if (i->opnds[k].kind == OPND_SREG && coordinate && i->ntypes &&
            (i->opnds[k].comp < 0 || ptx_type_bits((enum ptx_type)i->type[i->ntypes - 1]) != 32))
            return true;
    }
    return false;
}

static const enum ptx_sreg coords[] = { PTX_SREG_TID, PTX_SREG_CTAID, PTX_SREG_NTID, PTX_SREG_NCTAID };

static const struct ptx_inst *first_read(const struct ptx_func *f)
{
    const struct ptx_inst *i = NULL;
    for (size_t n = 0; n < ARRAY_LEN(coords) && !i; n++)
        i = pass_find_sreg(f, coords[n]);
    return i;
}

static bool reads(const struct ptx_func *f)
{
    return first_read(f) != NULL;
}

static enum status check_narrow(struct pass_ctx *c, const struct ptx_func *f)
{
    for (uint32_t k = 0; k < f->ninsts; k++)
        if (reads_narrow(&f->insts[k]))
            return pass_refuse(c, f->insts[k].at, NULL,
                               "a coordinate is read here as something other than a 32-bit component");
    return ST_OK;
}

/* Copies of called functions compute their coordinates anew; the iteration of a coarsened thread they
 * cannot know. */
static enum status check_callee(struct pass_ctx *c, const struct pass_funcs *fs,
                                const struct ptx_func *f)
{
    const struct ptx_inst *i = first_read(f);
    bool coarse = opt_schedule(c->opt)->coarsen > 1;
    if (i && coarse)
        return pass_refuse(c, i->at, "without --coarsen it can be reshaped",
                           "the called function %.*s reads the thread's coordinates itself and cannot "
                           "know the iteration it is called in",
                           (int)f->name.n, f->name.s);
    if (i && fs->indirect)
        return pass_refuse(c, fs->at, NULL,
                           "the kernel calls through a pointer, and a possible target, %.*s, reads its "
                           "coordinates itself",
                           (int)f->name.n, f->name.s);
    for (uint32_t n = 0; n < f->ninsts && coarse; n++)
        if (ptx_is(&f->insts[n], IS_STOP))
            return pass_refuse(c, f->insts[n].at, NULL,
                               "the called function exits the thread, so coarsening cannot continue "
                               "with the next iteration");
    return check_narrow(c, f);
}

typedef const struct ptx_inst *sees_fn(const struct ptx_func *f, const char **what);
static const struct ptx_inst *seen(const struct pass_ctx *c, const struct pass_funcs *fs, sees_fn *sees,
                                   const char **what)
{
    const struct ptx_inst *i = sees(c->f, what);
    for (uint32_t k = 0; k < fs->n && !i; k++)
        i = sees(fs->v[k], what);
    return i;
}

/* Does a thread see which others share its CTA or warp, and are these others now? */
static enum status check_neighbours(struct pass_ctx *c, const struct pass_funcs *fs)
{
    static const struct task_words words = { "a coarsened thread", "iteration", NULL };
    struct shape s;
    const char *what;
    const struct ptx_inst *i = seen(c, fs, sees_neighbours, &what);
    bool kept = shape_make(c, &s) && keeps_ctas(c, &s);
    if (!i || (kept && s.coarsen == 1))
        return ST_OK;
    const struct ptx_inst *again = kept ? seen(c, fs, meets_again, &what) : i;
    if (!again)
        return tasks_check(c, fs, &words);
    return pass_refuse(c, again->at,
                       "only kernels that use nothing but the global index of a thread can be reshaped",
                       "the kernel depends on the block shape here: it uses %s", what);
}

static enum status check(struct pass_ctx *c)
{
    if (!c->in->launch)
        return pass_refuse(
            c, NO_SPAN, "give the launch with --launch",
            "a loop schedule needs the launch's grid and block; there is no launch description");
    struct pass_funcs fs;
    pass_callees(c, &fs);
    enum status s = check_neighbours(c, &fs);
    if (s == ST_OK)
        s = check_narrow(c, c->f);
    for (uint32_t k = 0; k < fs.n && s == ST_OK; k++)
        s = check_callee(c, &fs, fs.v[k]);
    if (s != ST_OK)
        return s;
    if (fs.unknown)
        return pass_refuse(
            c, fs.at, NULL,
            "the kernel calls a function of another module, which may depend on the block shape");
    if (c->f->reqnctapercluster.x || c->f->explicitcluster ||
        (c->in->launch && launch_cluster(c->in->launch).x))
        return pass_refuse(c, NO_SPAN, NULL,
                           "the kernel is launched in CTA clusters, whose shape would change");
    s = check_shape(c);
    if (s == ST_OK)
        s = check_coarsen(c);
    return s == ST_OK ? check_vector(c, &fs) : s;
}

/* ---- code ---- */
struct names {
    char text[5][3][24];
}; /* empty: stays as it is */
enum { N_TID, N_CTAID, N_G, N_NTID, N_NCTAID };

static void make_names(struct names *n, struct pass_ctx *c, const struct shape *s)
{
    static const char *const stem[] = { "t", "c", "g" };
    struct buf b = { 0 };
    memset(n, 0, sizeof *n);
    for (int v = 0; v < 5; v++)
        for (int d = 0; d < 3; d++) {
            buf_clear(&b);
            if (s->kept[d])
                continue;
            if (v <= N_G)
                pass_code(&b, c->tag, "%%#%s%c", stem[v], 'x' + d);
            else
                buf_printf(&b, "%u", dim3u_at(v == N_NTID ? s->old_block : s->old_grid, d));
            if (b.s && b.n < sizeof n->text[v][d])
                memcpy(n->text[v][d], b.s, b.n + 1);
        }
    c->oom |= b.oom;
    buf_free(&b);
}

static const char *coordinate(void *ctx, const struct ptx_operand *o)
{
    struct names *n = ctx;
    static const enum ptx_sreg sregs[] = { PTX_SREG_TID, PTX_SREG_CTAID, PTX_SREG_NONE, PTX_SREG_NTID,
                                           PTX_SREG_NCTAID };
    for (int v = 0; o->kind == OPND_SREG && v < 5; v++)
        if (o->index == sregs[v])
            return o->comp >= 0 && o->comp < 3 && n->text[v][o->comp][0] ? n->text[v][o->comp] : NULL;
    return NULL;
}

/* Original dimension a's index from the new dimension d; leaves the index set -> next (NULL: it cannot,
 * here). */
static void index_code(const struct pass_ctx *c, const struct shape *s, int d, const char *next,
                       struct buf *out)
{
    const char *t = c->tag;
    char from = (char)('x' + d), to = (char)('x' + s->axis[d]);
    int a = s->axis[d];
    pass_code(out, t, "mov.u32 \t%%#a, %%ctaid.%c;\nmov.u32 \t%%#b, %%tid.%c;\n", from, from);
    pass_code(out, t, "mad.lo.u32 \t%%#g%c, %%#a, %u, %%#b;\n", to, dim3u_at(s->block, d));
    if (d == 0 && s->coarsen > 1 && opt_schedule(c->opt)->coarsen_mode != COARSEN_INTERLEAVED)
        pass_code(out, t, "mad.lo.u32 \t%%#g%c, %%#g%c, %u, %%#k;\n", to, to, s->coarsen);
    else if (d == 0 && s->coarsen > 1)
        pass_code(out, t, "mad.lo.u32 \t%%#g%c, %%#k, %llu, %%#g%c;\n", to,
                  (unsigned long long)s->span[0], to);
    if (next && s->total[a] != s->span[d] * (d ? 1 : s->coarsen))
        pass_code(out, t, "setp.ge.u32 \t%%#out, %%#g%c, %llu;\n@%%#out %s;\n", to,
                  (unsigned long long)s->total[a], next);
    uint32_t width = dim3u_at(s->old_block, a);
    unsigned shift = 0;
    while (!(width >> shift & 1))
        shift++;
    if (width == 1)
        pass_code(out, t, "mov.u32 \t%%#c%c, %%#g%c;\nmov.u32 \t%%#t%c, 0;\n", to, to, to);
    else if (width >> shift == 1)
        pass_code(out, t, "shr.u32 \t%%#c%c, %%#g%c, %u;\nand.b32 \t%%#t%c, %%#g%c, %u;\n", to, to,
                  shift, to, to, width - 1);
    else
        pass_code(out, t, "div.u32 \t%%#c%c, %%#g%c, %u;\nrem.u32 \t%%#t%c, %%#g%c, %u;\n", to, to,
                  width, to, to, width);
}

static void fix_directives(struct pass_ctx *c, const struct shape *s)
{
    struct str h = ptx_text(c->m, c->f->head), args;
    static const char *const names[] = { ".reqntid", ".maxntid" };
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        for (size_t at = 0; words_directive(h, names[k], &at, &args);)
            ptx_edit_span(c->edit, c->f->head.off + (uint32_t)(args.s - h.s), (uint32_t)args.n, TAG,
                          "%u, %u, %u", s->block.x, s->block.y, s->block.z);
}

static void declare(const char *t, struct buf *out)
{
    pass_code(out, t,
              ".reg .pred \t%%#out;\n"
              ".reg .b32 \t%%#a, %%#b, %%#k, %%#gx, %%#gy, %%#gz, %%#tx, %%#ty, %%#tz, %%#cx, %%#cy, "
              "%%#cz;\n");
}

/* Do the threads of a CTA meet, in barriers or in shared memory? */
static bool meets(const struct pass_ctx *c)
{
    struct pass_funcs fs;
    const char *what;
    pass_callees(c, &fs);
    return seen(c, &fs, sees_neighbours, &what) != NULL;
}

static void put_index(struct pass_ctx *c, const struct shape *s, const char *next, struct buf *out)
{
    for (int d = 2; d >= 0; d--)
        if (!s->kept[s->axis[d]])
            index_code(c, s, d, next, out);
}

/* All iterations at once, before the loop, which is for threads where that cannot be. */
static void put_vector(struct pass_ctx *c, const struct shape *s, struct buf *decls, struct buf *out)
{
    struct vector_plan p;
    struct names n;
    if (!is_vector(c))
        return;
    make_names(&n, c, s);
    struct pass_virtual other = { coordinate, &n, reads };
    if (vector_plan_make(c, s->coarsen, &p) == ST_OK && !c->oom) {
        pass_code(out, c->tag, "mov.u32 \t%%#k, 0;\n");
        put_index(c, s, "ret", out);
        vector_code(c, &p, &other, decls, out);
        pass_code(out, c->tag, "$#slow:\n");
    }
    vector_plan_free(&p);
}

static void put_code(struct pass_ctx *c, const struct shape *s)
{
    const char *t = c->tag;
    bool loop = s->coarsen > 1;
    struct buf b = { 0 }, next = { 0 }, decls = { 0 };
    declare(t, &decls);
    put_vector(c, s, &decls, &b);
    ptx_edit_declare(c->edit, c->f, TAG, "%s", decls.s ? decls.s : "");
    if (loop)
        pass_code(&next, t, "bra \t$#next");
    else
        buf_puts(&next, "ret");
    if (loop)
        pass_code(&b, t, "mov.u32 \t%%#k, 0;\n$#again:\n");
    put_index(c, s, next.s ? next.s : "ret", &b);
    if (b.s && next.s)
        ptx_edit_entry(c->edit, c->f, TAG, "%s", b.s);
    if (loop) {
        c->out->meaning.meets = meets(c);
        pass_returns_to(c, "next");
        ptx_edit_end(
            c->edit, c->f, TAG,
            "$%snext:\n%sadd.u32 \t%%%sk, %%%sk, 1;\nsetp.lt.u32 \t%%%sout, %%%sk, %u;\n@%%%sout "
            "bra \t$%sagain;\nret;",
            t, c->out->meaning.meets ? "bar.sync \t0;\n" : "", t, t, t, t, s->coarsen, t, t);
    }
    c->oom |= b.oom || next.oom || decls.oom;
    buf_free(&b);
    buf_free(&next);
    buf_free(&decls);
}

/* What the body reads, and what called functions do. */
static void put_names(struct pass_ctx *c, const struct shape *s)
{
    struct names n;
    struct strmap clones = { 0 };
    struct buf entry = { 0 };
    make_names(&n, c, s);
    struct pass_virtual v = { coordinate, &n, reads };
    declare(c->tag, &entry);
    put_index(c, s, NULL, &entry);
    if (entry.s && s->coarsen == 1)
        pass_virtual_callees(c, &v, entry.s, &clones);
    pass_virtual_kernel(c, &v, &clones);
    c->oom |= entry.oom;
    buf_free(&entry);
    strmap_free(&clones);
}

static enum status run(struct pass_ctx *c)
{
    struct shape s;
    shape_make(c, &s);
    put_names(c, &s);
    put_code(c, &s);
    fix_directives(c, &s);
    c->out->grid = s.grid;
    c->out->block = s.block;
    c->out->extra_regs += s.coarsen > 1 ? 4 : 3;
    return ST_OK;
}

static unsigned declares(const struct options *o)
{
    bool vector = opt_schedule(o)->coarsen > 1 && opt_schedule(o)->coarsen_mode == COARSEN_VECTOR;
    return vector ? INV_LANES : 0;
}

static const char *const knobs[] = { "block", "swap-xy", "coarsen", "coarsen-mode", NULL };
const struct pass_row pass_row_schedule = {
    { "schedule", "another block shape, x and y exchanged, several iterations per thread" },
    knobs,
    asked,
    check,
    run,
    idle,
    declares,
};
