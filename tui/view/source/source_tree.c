/* source, part 3: definitions of registers, and the address of a load followed
 * back through them, drawn as the papers' syntax tree (coalesce, cluster). */
#include "engine/ptx/meaning.h"
#include "engine/ptx/meaning.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/base/text.h"
#include "tui/view/source/source_int.h"
#include "tui/view/view.h"

#include <stdio.h>
#include <string.h>

const struct ptx_func *source_func_at(const struct app *a, uint32_t line)
{
    const struct ptx_module *m = a->snap->module;
    for (uint32_t i = 0; m && i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        if (f->ninsts && f->at.line <= line && f->insts[f->ninsts - 1].at.line >= line)
            return f;
    }
    return NULL;
}

/* Nearest instruction before `inst` (or after, in a loop) that writes a register; PTX_NO_INDEX: none.
 * *count: how many write it in all. */
static uint32_t def_of(const struct ptx_func *f, uint32_t reg, uint32_t inst, unsigned *count)
{
    uint32_t before = PTX_NO_INDEX, after = PTX_NO_INDEX;
    *count = 0;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        if (!ptx_writes_reg(&f->insts[i], reg))
            continue;
        ++*count;
        if (i < inst)
            before = i;
        else if (i > inst && after == PTX_NO_INDEX)
            after = i;
    }
    return before != PTX_NO_INDEX ? before : after;
}

static uint32_t inst_at_line(const struct ptx_func *f, uint32_t line)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (f->insts[i].at.line >= line)
            return i;
    return f->ninsts;
}

uint32_t source_definition(const struct app *a, struct str name, uint32_t line)
{
    const struct ptx_func *f = source_func_at(a, line);
    unsigned count;
    for (uint32_t i = 0; f && i < f->nlabels; i++)
        if (str_eq(f->labels[i].name, name) && f->labels[i].stmt < f->nstmts)
            return f->stmts[f->labels[i].stmt].at.line;
    uint32_t r = f ? ptx_find_reg(f, name) : PTX_NO_INDEX,
             d = r != PTX_NO_INDEX ? def_of(f, r, inst_at_line(f, line), &count) : PTX_NO_INDEX;
    return d != PTX_NO_INDEX ? f->insts[d].at.line : 0;
}

/* ---- the tree ---- */
#define TREE_DEPTH 14
#define TREE_LINES 240
struct tree {
    struct app *a;
    const struct ptx_func *f;
    uint32_t path[TREE_DEPTH];
    unsigned depth; /* instructions above this one */
    char prefix[TREE_DEPTH * 8];
    size_t nprefix;
    unsigned lines;
};

struct regs {
    uint32_t v[16];
    unsigned n;
};

static void add_reg(struct regs *r, uint32_t reg)
{
    for (unsigned i = 0; i < r->n; i++)
        if (r->v[i] == reg)
            return;
    if (r->n < ARRAY_LEN(r->v))
        r->v[r->n++] = reg;
}

/* Its text with runs of blanks and tabs as one blank. */
static struct str inst_text(const struct tree *t, const struct ptx_inst *i)
{
    struct str s = ptx_text(t->a->snap->module, i->at);
    char *to = arena_dup(t->a->frame, s);
    size_t n = 0;
    for (size_t k = 0; to && k < s.n; k++) {
        bool blank = s.s[k] == ' ' || s.s[k] == '\t' || s.s[k] == '\n' || s.s[k] == '\r';
        if (!blank || (n && to[n - 1] != ' '))
            to[n++] = blank ? ' ' : s.s[k];
    }
    return to ? (struct str){ to, n } : s;
}

static void tree_line(struct tree *t, const char *branch, struct str text, uint32_t line,
                      const char *remark)
{
    struct row r = { .arena = t->a->frame };
    row_put(&r, ROLE_BORDER, " %.*s%s", (int)t->nprefix, t->prefix, branch);
    source_colour(&r, text, (struct str){ "", 0 });
    if (line)
        row_put(&r, ROLE_DIM, "  line %u", line);
    if (*remark)
        row_put(&r, ROLE_NOTE, "  %s", remark);
    page_add(t->a, &t->a->over, &r, line ? (long)line : -1);
    t->lines++;
}

static bool on_path(const struct tree *t, uint32_t inst)
{
    for (unsigned i = 0; i < t->depth; i++)
        if (t->path[i] == inst)
            return true;
    return false;
}

static void tree_children(struct tree *t, uint32_t inst, const struct regs *regs);

/* Depth is bounded by TREE_DEPTH and lines by TREE_LINES, so recursion is too. */
static void tree_def(struct tree *t, uint32_t reg, uint32_t user, bool last)
{
    unsigned count;
    uint32_t d = def_of(t->f, reg, user, &count);
    struct str name = t->f->regs[reg].name;
    if (d == PTX_NO_INDEX) {
        tree_line(t, last ? "└─ " : "├─ ", name, 0, "never written");
        return;
    }
    const struct ptx_inst *i = &t->f->insts[d];
    char remark[64] = "";
    bool loop = on_path(t, d);
    if (loop)
        snprintf(remark, sizeof remark, "(the loop's previous iteration)");
    else if (count > 1)
        snprintf(remark, sizeof remark, "(one of %u definitions)", count);
    tree_line(t, last ? "└─ " : "├─ ", inst_text(t, i), i->at.line, remark);
    if (loop || t->depth == TREE_DEPTH || t->lines >= TREE_LINES)
        return;
    size_t keep = t->nprefix;
    t->nprefix +=
        (size_t)snprintf(t->prefix + keep, sizeof t->prefix - keep, "%s", last ? "   " : "│  ");
    t->path[t->depth++] = d;
    struct regs regs = { .n = 0 };
    if (i->space != PTX_SPACE_GLOBAL || ptx_op_info(i->op)->effect != EFFECT_ATOMIC)
        for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);)
            add_reg(&regs, r.reg);
    tree_children(t, d, &regs);
    t->depth--;
    t->nprefix = keep;
}

static void tree_children(struct tree *t, uint32_t inst, const struct regs *regs)
{
    for (unsigned k = 0; k < regs->n && t->lines < TREE_LINES; k++)
        tree_def(t, regs->v[k], inst, k + 1 == regs->n);
}

static void address_regs(const struct ptx_inst *i, struct regs *regs)
{
    for (unsigned k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_ADDR && i->opnds[k].base == BASE_REG)
            add_reg(regs, i->opnds[k].index);
}

void view_tree_update(struct app *a, unsigned w)
{
    const struct ana_kernel *k = a->snap->facts;
    page_clear(&a->over);
    if (!k || a->tree_access < 0 || (uint32_t)a->tree_access >= k->naccess) {
        list_set_count(&a->over_list, 0);
        return;
    }
    const struct ana_access *x = &k->access[a->tree_access];
    struct tree t = { .a = a, .f = a->snap->module->funcs[x->func] };
    const struct ptx_inst *i = &t.f->insts[x->inst];
    struct regs regs = { .n = 0 };
    address_regs(i, &regs);
    tree_line(&t, "", inst_text(&t, i), i->at.line, "");
    t.path[t.depth++] = x->inst;
    tree_children(&t, x->inst, &regs);
    page_blank(a, &a->over);
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_LABEL, " address  ");
    page_add(a, &a->over, &r, -1);
    page_wrap(a, &a->over, ROLE_VALUE, 3, w - 2, x->address ? x->address : "unknown", -1);
    if (x->unknown) {
        page_wrap(a, &a->over, ROLE_WARN, 3, w - 2, x->unknown, -1);
    }
    list_set_count(&a->over_list, a->over.n);
    if (page_item(&a->over, &a->over_list) < 0)
        list_move(&a->over_list, &a->over, 1);
}

unsigned view_tree_goto(struct app *a)
{
    long line = page_item(&a->over, &a->over_list);
    a->overlay = OVERLAY_NONE;
    if (line > 0)
        source_jump(a, (uint32_t)line);
    return UI_REDRAW;
}

void source_jump(struct app *a, uint32_t line)
{
    struct source_view *s = &a->source;
    if (s->njumps == ARRAY_LEN(s->jump))
        memmove(s->jump, s->jump + 1, sizeof s->jump[0] * (--s->njumps));
    s->jump[s->njumps++] = source_cursor_line(a);
    source_goto(a, line);
}
