/* How marks come from the text of one pass to that of the next.
 *
 *   was:  line 7  ld.volatile ...   (a look)      now:  line 9   ld.volatile ...   from line 7
 *                                                       line 30  @%p ld.volatile   copy of line 7
 *
 * Lines know where they come from (struct ptx_line_origin). A line that an edit put in belongs to the
 * one before it: a statement may have become several. */
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/ptx.h"

/* The n-th instruction (from 0) of this operation on lines from..to-1; NULL: there is none. */
static const struct ptx_inst *find(const struct ptx_module *m, uint16_t op, uint32_t from, uint32_t to,
                                   uint32_t n, uint32_t *func)
{
    for (uint32_t f = 0; f < m->nfuncs; f++)
        for (uint32_t i = 0; i < m->funcs[f]->ninsts; i++) {
            const struct ptx_inst *in = &m->funcs[f]->insts[i];
            *func = f;
            if (in->at.line >= from && in->at.line < to && in->op == op && !n--)
                return in;
        }
    return NULL;
}

/* Which one of its operation it is on its line. */
static uint32_t nth_of(const struct ptx_func *f, const struct ptx_inst *in)
{
    uint32_t n = 0;
    for (uint32_t i = in->index; i-- > 0 && f->insts[i].at.line == in->at.line;)
        n += f->insts[i].op == in->op;
    return n;
}

static bool carry_one(const struct ptx_module *was, const struct ptx_module *now,
                      const struct ptx_edit_result *e, struct text_mark one, struct text_marks *to)
{
    const struct ptx_inst *in = &was->funcs[one.func]->insts[one.inst];
    uint32_t n = nth_of(was->funcs[one.func], in);
    for (uint32_t k = 0, end; k < e->nlines; k = end) {
        for (end = k + 1; end < e->nlines && !e->lines[end].line; end++)
            ;
        if (e->lines[k].line != in->at.line)
            continue;
        const struct ptx_inst *at = find(now, in->op, k + 1, end + 1, n, &one.func);
        if (at && !text_marks_add(to, (struct text_mark){ one.kind, one.func, at->index }))
            return false;
    }
    return true;
}

static bool add_new(const struct ptx_module *now, const struct ptx_edit_mark *mark,
                    struct text_marks *to)
{
    for (uint32_t f = 0; f < now->nfuncs; f++)
        for (uint32_t i = 0; i < now->funcs[f]->ninsts; i++) {
            struct span at = now->funcs[f]->insts[i].at;
            if (mark->off >= at.off && mark->off < at.off + at.len)
                return text_marks_add(to, (struct text_mark){ mark->kind, f, i });
        }
    return true;
}

bool pass_marks_carry(const struct ptx_module *was, const struct ptx_module *now,
                      const struct ptx_edit_result *e, struct text_marks *marks)
{
    struct text_marks to = { 0 };
    bool ok = true;
    for (size_t k = 0; k < marks->n && ok; k++)
        ok = carry_one(was, now, e, marks->v[k], &to);
    for (uint32_t k = 0; k < e->nmarks && ok; k++)
        ok = add_new(now, &e->marks[k], &to);
    text_marks_free(marks);
    *marks = to;
    return ok;
}
