#include "engine/ptx/text_marks.h"
#include "engine/base/list.h"

bool text_marks_add(struct text_marks *m, struct text_mark one)
{
    return LIST_PUSH(m->v, m->n, m->cap, one);
}

bool text_marks_copy(const struct text_marks *m, struct text_marks *out)
{
    bool ok = true;
    *out = (struct text_marks){ 0 };
    for (size_t i = 0; i < m->n && ok; i++)
        ok = text_marks_add(out, m->v[i]);
    if (!ok)
        text_marks_free(out);
    return ok;
}

void text_marks_free(struct text_marks *m)
{
    base_free(m->v);
    *m = (struct text_marks){ 0 };
}

bool text_marks_equal(const struct text_marks *a, const struct text_marks *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; i < a->n && same; i++)
        same =
            a->v[i].kind == b->v[i].kind && a->v[i].func == b->v[i].func && a->v[i].inst == b->v[i].inst;
    return same;
}

enum mark_kind text_marks_at(const struct text_marks *m, uint32_t func, uint32_t inst)
{
    for (size_t i = 0; m && i < m->n; i++)
        if (m->v[i].func == func && m->v[i].inst == inst)
            return m->v[i].kind;
    return MARK_NONE;
}
