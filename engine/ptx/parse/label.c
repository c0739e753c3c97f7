/* Labels of a body. They may be used before they are defined and belong to their brace
 * scope (CUTLASS repeats LAB_WAIT in every one), so they are resolved when the body is
 * complete: one walk over the statements that opens and closes the scopes again. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_int.h"

void ptx_label_define(struct ptx_parser *p, struct str name, struct span at)
{
    struct ptx_label *l = PTX_PUSH(p, p->labels);
    struct ptx_label_place *q = PTX_PUSH(p, p->places);
    if (!l || !q)
        return;
    uint32_t i = (uint32_t)p->labels.n - 1;
    *l = (struct ptx_label){ .name = name, .stmt = (uint32_t)p->stmts.n, .inst = (uint32_t)p->insts.n };
    *q = (struct ptx_label_place){ PTX_NO_INDEX, at, false };
    struct ptx_scope *s = &p->scopes.v[p->scope];
    if (s->first_label == PTX_NO_INDEX)
        s->first_label = i;
    else
        p->places.v[s->last_label].next = i;
    s->last_label = i;
    struct ptx_stmt *st = PTX_PUSH(p, p->stmts);
    if (st)
        *st = (struct ptx_stmt){ STMT_LABEL, i, ptx_upto(p, at) };
}

static void enter(struct ptx_parser *p, uint32_t scope)
{
    struct ptx_scope *s = &p->scopes.v[scope];
    s->names = (uint32_t)p->names.n;
    s->ranges = (uint32_t)p->ranges.n;
    p->scope = scope;
    for (uint32_t i = s->first_label; i != PTX_NO_INDEX; i = p->places.v[i].next) {
        struct ptx_name *e = ptx_name_add(p, p->labels.v[i].name, NAME_LABEL, p->places.v[i].at);
        if (e)
            e->index = i;
    }
}

static const char *label_at(void *ctx, size_t i)
{
    struct ptx_parser *p = ctx;
    return p->labels.v[i].name.n > 60 ? NULL : arena_dup(p->a, p->labels.v[i].name);
}

static void undefined_label(struct ptx_parser *p, const struct ptx_label_ref *r)
{
    struct diag *d =
        ptx_error(p, "ptx-label", r->at, "label '%.*s' is not defined in this scope", SV(r->name));
    const char *near =
        d ? ptx_nearest(r->name, label_at, p, p->labels.n < 5000 ? p->labels.n : 5000) : NULL;
    if (near && str_eq(str_of(near), r->name))
        diag_hint(d, "a label of this name is in another scope, which a branch cannot enter");
    else if (near)
        diag_hint(d, "did you mean '%s'?", near);
}

static void resolve(struct ptx_parser *p, struct ptx_label_ref *r)
{
    struct ptx_name *e = ptx_name_find(p, r->name, NAME_LABEL);
    if (e && e->undeclared) {
        *r->slot = 0;
        return;
    }
    if (!e || e->kind != NAME_LABEL) {
        undefined_label(p, r);
        *r->slot = 0;
        e = e ? NULL : ptx_name_add(p, r->name, NAME_LABEL, r->at);
        if (e)
            e->undeclared = true; /* told once in this scope */
        return;
    }
    *r->slot = e->index;
    p->places.v[e->index].used = true;
    const struct ptx_label *l = &p->labels.v[e->index];
    if (r->kind == REF_TABLE && !l->targets)
        ptx_error(p, "ptx-label", r->at, "'%.*s' is not a list of .branchtargets", SV(r->name));
}

void ptx_labels_resolve(struct ptx_parser *p)
{
    uint32_t body = p->scope, next = body, depth = 0;
    size_t r = 0;
    struct ptx_scope outer = p->scopes.v[body];
    enter(p, next++);
    for (uint32_t i = 0; i < p->stmts.n && (r < p->refs.n || next < p->scopes.n) && !p->oom; i++) {
        if (p->stmts.v[i].kind == STMT_OPEN && next < p->scopes.n) {
            enter(p, next++);
            depth++;
        } else if (p->stmts.v[i].kind == STMT_CLOSE && depth) {
            ptx_scope_close(p);
            depth--;
        }
        while (r < p->refs.n && p->refs.v[r].stmt == i)
            resolve(p, &p->refs.v[r++]);
    }
    while (p->scope != body && depth--)
        ptx_scope_close(p);
    p->scope = body;
    ptx_names_reset(p, p->scopes.v[body].names, p->scopes.v[body].ranges);
    p->scopes.v[body] = outer;
}

static bool ends_flow(const struct ptx_inst *i)
{
    if (i->guarded)
        return false;
    enum ptx_effect e = ptx_op_info(i->op)->effect;
    return e == EFFECT_BRANCH || e == EFFECT_EXIT;
}

/* Code after an unconditional jump that no label in use leads to. Notes, at most a few. Not after a
 * trap: nvcc writes what follows an assertion as if it came back. */
void ptx_check_reachable(struct ptx_parser *p)
{
    bool live = true, said = false;
    size_t l = 0;
    unsigned notes = 0;
    for (uint32_t i = 0; i < p->insts.n && notes < 5; i++) {
        for (; l < p->labels.n && p->labels.v[l].inst <= i; l++)
            live = live || p->places.v[l].used;
        if (!live && !said && p->insts.v[i].op != PTX_OP_RET && p->insts.v[i].op != PTX_OP_EXIT &&
            p->insts.v[i].op != PTX_OP_TRAP) {
            ptx_report(p, DIAG_NOTE, "ptx-unreachable", p->insts.v[i].at,
                       "this instruction is unreachable");
            said = true;
            notes++;
        }
        said = said && !live;
        if (ends_flow(&p->insts.v[i]) && p->insts.v[i].op != PTX_OP_TRAP)
            live = false;
    }
}
