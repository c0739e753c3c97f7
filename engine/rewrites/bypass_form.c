/* bypass, the forms of code (paper: bypass, section 4.1 and Listing 1). p = (warp of the CTA >=
 * knobs.pi) is computed once, in front; what is written of two loads x and y then is
 *
 *   before      ld x;  add;  ld y;  ret;
 *   clone       @p bra B;  ld x;  add;  ld y;  ret;   B: ld.cg x;  add;  ld.cg y;  ret;
 *   predicate   @p ld.cg x;  @!p ld x;  add;  @p ld.cg y;  @!p ld y;  ret;
 *   grouped     @p bra B;  ld x;  add;  ld y;  bra E;   B: ld.cg x;  add;  ld.cg y;   E: ret;
 *   vertical    ld.cg x;  add;  ld y;  ret;             chosen loads (x) bypass, no condition
 *   hybrid      clone, with the chosen loads bypassing in both copies
 *
 * p is the same in all lanes of a warp, so warp intrinsics stay whole; .uni says so, or ptxas would
 * put a WARPSYNC before every barrier of the copies. bar.sync counts arrivals per barrier id whatever
 * the place it is executed at, so barriers may stand in both copies. Shared, local and parameter
 * declarations of the outermost scope serve both. */
#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rewrites/bypass_int.h"

#include <string.h>

#define TAG "bypass"
enum { GROUP_GAP = 8 }; /* most other instructions between two loads of one group */

/* ---- code at the start of a body ---- */
static void declare_text(struct bypass *b, bool threshold, struct buf *out)
{
    const char *t = b->c->tag;
    if (b->hint)
        buf_printf(out, ".reg .b64 \t%s;\n", b->policy);
    if (threshold)
        pass_code(out, t,
                  ".reg .pred \t%s, %%#q0, %%#q1, %%#q2;\n"
                  ".reg .b32 \t%%#x, %%#y, %%#z, %%#nx, %%#ny, %%#w, %%#pi;\n",
                  b->pred);
}

/* The thread's index, or in a block whose rows divide a warp its row: every instruction here is paid by
 * every warp. Knob PI_THREADS holds pi in the same unit: no division. */
static void warp_text(struct bypass *b, struct buf *out)
{
    const char *t = b->c->tag;
    struct dim3u block = pass_block(b->c);
    uint32_t *knob = b->c->out->knob;
    if (!b->vote && block.y > 1 && block.z == 1 && 32 % block.x == 0) {
        pass_code(out, t, "mov.u32 \t%%#w, %%tid.y;\n");
        knob[PASS_KNOB_PI_THREADS] = knob[PASS_KNOB_PI] * (32 / block.x);
        return;
    }
    struct buf lin = { 0 };
    pass_code(&lin, t, "%%#w");
    if (lin.s)
        pass_linear_tid(b->c, lin.s, out);
    out->oom |= lin.oom;
    buf_free(&lin);
}

static void entry_text(struct bypass *b, bool threshold, struct buf *out)
{
    const char *t = b->c->tag;
    if (threshold) {
        if (b->vote)
            bypass_vote_threshold(b, out);
        warp_text(b, out);
        if (!b->vote)
            pass_code(out, t, "ld.const.u32 \t%%#pi, [" PASS_KNOB_SYMBOL "+%u];\n",
                      4u * PASS_KNOB_PI_THREADS);
        else
            pass_code(out, t, "shr.u32 \t%%#w, %%#w, 5;\n");
        pass_code(out, t, "setp.ge.u32 \t%s, %%#w, %%#pi;\n", b->pred);
    }
    if (b->hint)
        buf_printf(out, "createpolicy.fractional.L2::%s.b64 \t%s, 0f3F800000;\n", b->priority,
                   b->policy);
}

static void put_entry(struct bypass *b, bool threshold)
{
    struct buf d = { 0 }, e = { 0 };
    declare_text(b, threshold, &d);
    entry_text(b, threshold, &e);
    if (d.n)
        ptx_edit_declare(b->c->edit, b->c->f, TAG, "%s", d.s);
    if (e.n)
        ptx_edit_entry(b->c->edit, b->c->f, TAG, "%s", e.s);
    b->c->oom |= d.oom || e.oom;
    if (threshold)
        b->c->out->extra_regs += 1;
    if (b->hint)
        b->c->out->extra_regs += 2;
    buf_free(&d);
    buf_free(&e);
}

/* ---- texts of single instructions ---- */
struct side {
    struct bypass *b;
    const struct ptx_func *f;
    enum bypass_pick pick;
    bool pairs;
};

/* The load under a condition that joins the threshold with its own guard. */
static void write_pair(struct bypass *b, const struct ptx_func *f, const struct ptx_inst *i,
                       struct buf *out)
{
    const char *t = b->c->tag;
    struct buf g = { 0 };
    if (i->guarded) {
        struct str own = f->regs[i->guard].name;
        buf_printf(out, i->guard_neg ? "not.pred \t%%%sq0, %.*s;\n" : "mov.pred \t%%%sq0, %.*s;\n", t,
                   (int)own.n, own.s);
        pass_code(out, t, "and.pred \t%%#q1, %%#q0, %s;\nxor.pred \t%%#q2, %%#q1, %%#q0;\n", b->pred);
        pass_code(&g, t, "@%%#q1 ");
    } else {
        buf_printf(&g, "@%s ", b->pred);
    }
    buf_printf(out, PTX_EDIT_COPY_OF, i->at.line, i->at.off);
    bypass_write(b, i, true, g.s ? g.s : "", out);
    buf_puts(out, "\n");
    buf_clear(&g);
    if (i->guarded)
        pass_code(&g, t, "@%%#q2 ");
    else
        buf_printf(&g, "@!%s ", b->pred);
    buf_printf(out, PTX_EDIT_COPY_OF, i->at.line, i->at.off);
    bypass_write(b, i, false, g.s ? g.s : "", out);
    buf_free(&g);
}

/* Are loads that cache written anew? */
static bool writes_caching(const struct bypass *b)
{
    return b->level == BYPASS_RO || b->keep;
}

/* pass_copy callback: what this side makes of an instruction. */
static bool side_inst(void *ctx, const struct ptx_inst *i, struct buf *out)
{
    struct side *s = ctx;
    struct bypass *b = s->b;
    if (s->pairs) {
        if (!bypass_governs(b, s->f, i))
            return false;
        write_pair(b, s->f, i, out);
        return true;
    }
    if (b->vote && s->f == b->c->f && ptx_ends_thread(i)) {
        bypass_vote_leave(b, i, out);
        return true;
    }
    bool picked = bypass_picked(b, s->f, i, s->pick);
    if (!picked && !(writes_caching(b) && bypass_governs(b, s->f, i)))
        return false;
    bypass_write(b, i, picked, NULL, out);
    return true;
}

/* ---- called functions ---- */
static void find_clones(struct bypass *b)
{
    struct pass_funcs fs;
    pass_callees(b->c, &fs);
    bool any = false;
    for (uint32_t k = 0; k < fs.n; k++)
        for (uint32_t i = 0; i < fs.v[k]->ninsts; i++)
            any |= bypass_governs(b, fs.v[k], &fs.v[k]->insts[i]);
    for (uint32_t k = 0; any && k < fs.n; k++) {
        b->clone[b->nclones++] = fs.v[k];
        strmap_set(&b->clones, fs.v[k]->name, k);
    }
    b->c->oom |= b->clones.oom;
    if (fs.indirect)
        pass_note(b->c, fs.at, "loads in functions called through a pointer are not changed");
}

static void clone_callees(struct bypass *b, struct side side, const char *suffix)
{
    struct buf entry = { 0 };
    declare_text(b, side.pairs, &entry);
    entry_text(b, side.pairs, &entry);
    for (uint32_t k = 0; k < b->nclones; k++) {
        side.f = b->clone[k];
        struct pass_copy how = {
            .suffix = NULL, .clones = &b->clones, .clone_suffix = suffix, .inst = side_inst, .ctx = &side
        };
        pass_clone_func(b->c, b->clone[k], &how, entry.s);
    }
    b->c->oom |= entry.oom;
    buf_free(&entry);
}

/* ---- in place ---- */
static void edit_in_place(struct bypass *b, struct side *side, const char *suffix)
{
    struct pass_copy names = { .clones = &b->clones, .clone_suffix = suffix };
    const struct ptx_func *f = b->c->f;
    for (uint32_t k = 0; k < f->ninsts; k++) {
        const struct ptx_inst *i = &f->insts[k];
        struct buf t = { 0 };
        uint32_t unused;
        if (side_inst(side, i, &t))
            ;
        else if (suffix && strmap_get(&b->clones, inst_callee(i), &unused))
            pass_rename(ptx_text(b->c->m, i->at), pass_clone_name, &names, &t);
        struct str old = ptx_text(b->c->m, i->at);
        if (t.n && !str_eq(old, (struct str){ t.s, t.n }))
            ptx_edit_replace(b->c->edit, f, i->stmt, TAG, "%s", t.s);
        b->c->oom |= t.oom;
        buf_free(&t);
    }
}

static void emit_unconditional(struct bypass *b, enum bypass_pick pick)
{
    struct side side = { b, b->c->f, pick, false };
    struct buf suffix = { 0 };
    buf_printf(&suffix, "_%sb", b->c->tag);
    if (pick != PICK_NONE || writes_caching(b))
        edit_in_place(b, &side, pick != PICK_NONE || b->keep ? suffix.s : NULL);
    if (pick != PICK_NONE || b->keep) {
        put_entry(b, false);
        clone_callees(b, side, suffix.s ? suffix.s : "");
    }
    buf_free(&suffix);
}

static void emit_predicate(struct bypass *b)
{
    struct side side = { b, b->c->f, PICK_ALL, true };
    struct buf suffix = { 0 };
    buf_printf(&suffix, "_%sp", b->c->tag);
    pass_need_knobs(b->c);
    edit_in_place(b, &side, suffix.s);
    put_entry(b, true);
    clone_callees(b, side, suffix.s ? suffix.s : "");
    buf_free(&suffix);
}

/* ---- clone and hybrid ---- */
static void emit_clone(struct bypass *b, enum bypass_pick first)
{
    struct pass_ctx *c = b->c;
    const struct ptx_func *f = c->f;
    struct buf body = { 0 }, lab = { 0 }, low = { 0 };
    buf_printf(&lab, "_%sb", c->tag);
    buf_printf(&low, "_%sa", c->tag);
    struct side a = { b, f, first, false }, side = { b, f, PICK_ALL, false };
    struct pass_copy copy = { .m = c->m,
                              .f = f,
                              .suffix = lab.s,
                              .clones = &b->clones,
                              .clone_suffix = lab.s,
                              .inst = side_inst,
                              .ctx = &side };
    if (!b->vote)
        pass_need_knobs(c);
    put_entry(b, true);
    if (b->vote)
        bypass_vote_begin(b);
    uint32_t from = b->vote ? pass_first_stmt(f) : bypass_split(b);
    if (from == pass_first_stmt(f))
        ptx_edit_entry(c->edit, f, TAG, "@%s bra.uni \t$%sbypass;", b->pred, c->tag);
    else if (from < f->nstmts && f->stmts[from].kind != STMT_LABEL)
        ptx_edit_before(c->edit, f, from, TAG, "@%s bra.uni \t$%sbypass;", b->pred, c->tag);
    else
        ptx_edit_after(c->edit, f, from - 1, TAG, "@%s bra.uni \t$%sbypass;", b->pred, c->tag);
    bool called = first != PICK_NONE || b->keep;
    if (called || b->level == BYPASS_RO || b->vote)
        edit_in_place(b, &a, called ? low.s : NULL);
    if (called)
        clone_callees(b, a, low.s ? low.s : "");
    clone_callees(b, side, lab.s ? lab.s : "");
    if (pass_falls_off(f))
        buf_printf(&body, b->vote ? "bra \t$%sleft;\n" : "ret;\n", c->tag);
    pass_code(&body, c->tag, "$#bypass:\n");
    pass_copy_stmts(&copy, from, f->nstmts, &body);
    if (b->vote)
        bypass_vote_end(b, &body);
    if (body.s)
        ptx_edit_end(c->edit, f, TAG, "%s", body.s);
    c->oom |= body.oom || lab.oom || low.oom;
    buf_free(&body);
    buf_free(&lab);
    buf_free(&low);
}

/* ---- grouped ---- */
static bool joins_group(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    return !ptx_is_opaque(i) &&
           (e == EFFECT_NONE || e == EFFECT_LOAD || e == EFFECT_STORE || e == EFFECT_PREFETCH);
}

static bool plain_stmts(const struct ptx_func *f, uint32_t from, uint32_t to)
{
    for (uint32_t k = from; k <= to; k++)
        if (f->stmts[k].kind != STMT_INST && f->stmts[k].kind != STMT_LOC)
            return false;
    return true;
}

/* Last load of the group that begins at instruction `first`. */
static uint32_t group_end(struct bypass *b, uint32_t first)
{
    const struct ptx_func *f = b->c->f;
    const uint32_t *block = b->flow.cfg->block_of;
    uint32_t last = first;
    for (uint32_t k = first + 1; k < f->ninsts && k - last <= GROUP_GAP + 1; k++) {
        if (block[k] != block[first] || !joins_group(&f->insts[k]) ||
            !plain_stmts(f, f->insts[first].stmt, f->insts[k].stmt))
            break;
        if (bypass_governs(b, f, &f->insts[k]))
            last = k;
    }
    return last;
}

static void emit_group(struct bypass *b, uint32_t first, uint32_t last, uint32_t n)
{
    struct pass_ctx *c = b->c;
    const struct ptx_func *f = c->f;
    struct side side = { b, f, PICK_ALL, false };
    struct pass_copy copy = { .m = c->m, .f = f, .inst = side_inst, .ctx = &side };
    struct buf t = { 0 };
    pass_copy_stmts(&copy, f->insts[first].stmt, f->insts[last].stmt + 1, &t);
    ptx_edit_before(c->edit, f, f->insts[first].stmt, TAG, "@%s bra.uni \t$%sb%u;", b->pred, c->tag, n);
    if (t.s)
        ptx_edit_after(c->edit, f, f->insts[last].stmt, TAG,
                       "bra.uni \t$%se%u;\n$%sb%u:\n%s$%se%u:", c->tag, n, c->tag, n, t.s, c->tag, n);
    c->oom |= t.oom;
    buf_free(&t);
}

static void emit_grouped(struct bypass *b)
{
    const struct ptx_func *f = b->c->f;
    struct side pairs = { b, f, PICK_ALL, true };
    struct buf suffix = { 0 };
    uint32_t groups = 0;
    buf_printf(&suffix, "_%sp", b->c->tag);
    pass_need_knobs(b->c);
    put_entry(b, true);
    for (uint32_t k = 0; k < f->ninsts; k++) {
        if (!bypass_governs(b, f, &f->insts[k]))
            continue;
        uint32_t last = group_end(b, k);
        emit_group(b, k, last, groups++);
        k = last;
    }
    struct side cached = { b, f, PICK_NONE, false };
    edit_in_place(b, &cached, suffix.s); /* calls, and .nc on the cached side */
    clone_callees(b, pairs, suffix.s ? suffix.s : "");
    buf_free(&suffix);
}

enum status bypass_emit(struct bypass *b)
{
    const struct options *o = b->c->opt;
    bool vertical = opt_bypass(o)->form == BYPASS_FORM_VERTICAL,
         hybrid = opt_bypass(o)->form == BYPASS_FORM_HYBRID;
    if (opt_bypass(o)->form == BYPASS_FORM_HARDWARE && !b->keep)
        return ST_OK;
    find_clones(b);
    if (opt_bypass(o)->form == BYPASS_FORM_HARDWARE)
        emit_unconditional(b, PICK_NONE);
    else if (vertical || (hybrid && opt_bypass(o)->pi.mode == PI_CHA))
        emit_unconditional(b, PICK_CHOSEN);
    else if (opt_bypass(o)->pi.mode == PI_CHA || opt_bypass(o)->pi.mode == PI_BPA)
        emit_unconditional(b, opt_bypass(o)->pi.mode == PI_BPA ? PICK_ALL : PICK_NONE);
    else if (b->vote)
        emit_clone(b, hybrid ? PICK_CHOSEN : PICK_NONE);
    else if (opt_bypass(o)->form == BYPASS_FORM_PREDICATE)
        emit_predicate(b);
    else if (opt_bypass(o)->form == BYPASS_FORM_GROUPED)
        emit_grouped(b);
    else
        emit_clone(b, hybrid ? PICK_CHOSEN : PICK_NONE);
    return b->c->oom ? ST_NOMEM : ST_OK;
}
