/* tasks: see tasks.h. */
#include "engine/pass/tasks.h"

#include "engine/pass/pass_int.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <string.h>

/* A barrier that not all threads of the CTA meet at: some may wait there while others are at the barrier
 * between two tasks, which may be the same one. */
static bool of_some(const struct ptx_inst *i)
{
    const struct ptx_operand *id = NULL;
    unsigned values = 0;
    for (uint8_t k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        if (ptx_operand_access(i, k) == PTX_WRITE || (k + 1u == i->nopnds && ptx_is(i, IS_CTA_VOTE)))
            continue;
        id = id ? id : o;
        values++;
    }
    return values > 1 || (id && id->kind != OPND_IMM);
}

static enum status check_inst(struct pass_ctx *c, const struct ptx_func *f, const struct ptx_inst *i,
                              const struct task_words *w)
{
    if (ptx_is(i, IS_CTA_STATE))
        return pass_refuse(c, i->at, NULL,
                           "%s keeps state until its CTA ends; %s would carry it into the next %s",
                           ptx_op_info(i->op)->name, w->who, w->next);
    if (ptx_is(i, IS_ARRIVES))
        return pass_refuse(c, i->at, NULL,
                           "threads arrive at a barrier here without waiting: the next %s would start "
                           "with a partly filled barrier",
                           w->next);
    if (inst_is_cta_barrier(i) && of_some(i))
        return pass_refuse(c, i->at, NULL,
                           "a part of the threads may meet at this barrier, while others are at the one "
                           "before the next %s",
                           w->next);
    if (!f->entry && ptx_is(i, IS_STOP))
        return pass_refuse(
            c, i->at, NULL,
            "the called function exits the thread, so %s cannot continue with the next %s", w->who,
            w->next);
    if (ptx_is_opaque(i))
        return pass_refuse(c, i->at, NULL,
                           "this instruction is not modelled: it may keep state from %s to %s", w->next,
                           w->next);
    return ST_OK;
}

static enum status check_flow(struct pass_ctx *c, const struct ptx_func *f, const struct task_words *w)
{
    struct pass_flow fl;
    if (!pass_flow_make(f, &fl))
        return ST_NOMEM;
    enum status s = ST_OK;
    const struct ptx_inst *r = pass_return_before_barrier(&fl);
    if (r)
        s = pass_refuse(c, r->at, w->hint,
                        "some threads may exit here while others still wait at a barrier");
    return s == ST_OK ? tasks_check_lanes(c, f, w) : s;
}

static enum status check_func(struct pass_ctx *c, const struct ptx_func *f, const struct task_words *w)
{
    bool early = !f->entry && pass_find_effect(c->f, EFFECT_EXIT) != &c->f->insts[c->f->ninsts - 1];
    enum status s = ST_OK;
    for (uint32_t n = 0; n < f->ninsts && s == ST_OK; n++) {
        s = check_inst(c, f, &f->insts[n], w);
        const struct ptx_inst *i = &f->insts[n];
        if (s == ST_OK && early && (inst_is_cta_barrier(i) || ptx_named_lanes(i)))
            s = pass_refuse(c, i->at, NULL,
                            "a called function waits for other threads here, and the kernel returns "
                            "early elsewhere");
    }
    return s;
}

enum status tasks_check(struct pass_ctx *c, const struct pass_funcs *fs, const struct task_words *w)
{
    enum status s = check_flow(c, c->f, w);
    for (uint32_t k = 0; k <= fs->n && s == ST_OK; k++) {
        s = check_func(c, k ? fs->v[k - 1] : c->f, w);
        if (s == ST_OK && k)
            s = check_flow(c, fs->v[k - 1], w);
    }
    return s;
}
