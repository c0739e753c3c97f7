/* Two bits for each instruction of the code: some lane said yes, some lane said no. */
#include "engine/sim/sides.h"

#include "engine/ptx/facts/facts.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decoded.h"

#include <stdio.h>
#include <string.h>

enum { SEEN_YES = 1, SEEN_NO = 2, SEEN_BOTH = 3 };
enum side_kind { SIDE_JUMP, SIDE_GUARD, SIDE_SELECT };

struct sim_sides {
    const struct sim_program *of;
    const struct exec_inst *code;
    uint32_t n;
    uint8_t *seen, *kept;
    uint8_t *counted; /* as seen, once it is executed */
};

struct sim_sides *sim_sides_new(void)
{
    return base_alloc(sizeof(struct sim_sides));
}

static void forget(struct sim_sides *s)
{
    BASE_FREE(s->seen, s->kept, s->counted);
    *s = (struct sim_sides){ 0 };
}

void sim_sides_free(struct sim_sides *s)
{
    if (!s)
        return;
    forget(s);
    base_free(s);
}

/* The predicate by which it goes one way or the other. */
static uint32_t predicate_of(const struct ptx_inst *i)
{
    if (i->guarded)
        return i->guard;
    return i->nopnds > 3 && i->opnds[3].kind == OPND_REG ? i->opnds[3].index : PTX_NO_INDEX;
}

/* Where the predicate is one throughout the launch, the other way is not reached: it counts as seen. */
static bool count_fixed(struct sim_sides *s)
{
    for (uint32_t k = 0; k < s->n; k++) {
        const struct exec_inst *in = &s->code[k];
        if (!in->ptx || !in->func || (in->guard == EXEC_NO_ID && !sim_selects(in)))
            continue;
        const bool *fixed = ptx_fixed_of(in->func->ptx);
        if (!fixed)
            return false;
        uint32_t p = predicate_of(in->ptx);
        if (p != PTX_NO_INDEX && fixed[p])
            s->counted[k] = SEEN_BOTH;
    }
    return true;
}

bool sim_sides_begin(struct sim_sides *s, const struct sim_program *p)
{
    if (s->of == p)
        return true;
    forget(s);
    s->seen = base_alloc(p->ncode + 1);
    s->kept = base_alloc(p->ncode + 1);
    s->counted = base_alloc(p->ncode + 1);
    s->of = p;
    s->code = p->code;
    s->n = s->seen && s->kept && s->counted ? p->ncode : 0;
    if (s->n && count_fixed(s))
        return true;
    forget(s);
    return false;
}

void sim_sides_note(struct sim_sides *s, uint32_t at, bool yes, bool no)
{
    if (at < s->n)
        s->seen[at] |= (uint8_t)((yes ? SEEN_YES : 0) | (no ? SEEN_NO : 0));
}

bool sim_selects(const struct exec_inst *in)
{
    return in->ptx && ptx_row_rule(in->ptx) == ADDR_SELP;
}

/* A statement of the PTX may have become several instructions: what one of them saw counts. */
static uint8_t seen_of(const struct sim_sides *s, uint32_t at, bool *first)
{
    uint8_t seen = 0;
    *first = true;
    for (uint32_t k = at; k-- > 0 && s->code[k].ptx == s->code[at].ptx;)
        *first = false;
    for (uint32_t k = at; k < s->n && s->code[k].ptx == s->code[at].ptx; k++)
        seen |= s->seen[k] ? s->seen[k] | s->counted[k] : 0;
    return seen;
}

/* The way that instruction `at` has not gone: SEEN_YES or SEEN_NO; 0: none, or it is none to look at. */
static uint8_t lacks(const struct sim_sides *s, uint32_t at)
{
    bool first;
    if (!s->code[at].ptx)
        return 0;
    uint8_t seen = seen_of(s, at, &first);
    return first && seen && seen != SEEN_BOTH ? SEEN_BOTH & ~seen : 0;
}

uint32_t sim_sides_unseen(const struct sim_sides *s)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n; k++)
        n += lacks(s, k) != 0;
    return n;
}

static enum side_kind kind_of(const struct exec_inst *in)
{
    return !in->ptx->guarded ? SIDE_SELECT : ptx_is(in->ptx, IS_JUMP) ? SIDE_JUMP : SIDE_GUARD;
}

bool sim_sides_text(const struct sim_sides *s, uint32_t k, char *out, size_t n)
{
    static const char *const text[][2] = {
        [SIDE_JUMP] = { "the jump", "the else" },
        [SIDE_GUARD] = { "the guard being true", "the guard being false" },
        [SIDE_SELECT] = { "the first value", "the second value" },
    };
    for (uint32_t at = 0; at < s->n; at++) {
        uint8_t way = lacks(s, at);
        if (!way || k--)
            continue;
        snprintf(out, n, "%s of line %u", text[kind_of(&s->code[at])][way == SEEN_NO],
                 s->code[at].ptx->at.line);
        return true;
    }
    return false;
}

bool sim_sides_keep(struct sim_sides *s)
{
    if (s->n)
        memcpy(s->kept, s->seen, s->n);
    return s->n != 0;
}

void sim_sides_back(struct sim_sides *s)
{
    if (s->n)
        memcpy(s->seen, s->kept, s->n);
}
