/* softcache, which structures get the lines: those the user names, those that hit most in a profile
 * (the monitoring slice run once), or without either those whose addresses move least from turn to
 * turn. A written structure needs more than twice the hits of a read one (paper). It writes no code of
 * its own: softcache.c has the sketch. */
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_softcache.h"
#include "engine/rewrites/softcache_int.h"

#include <string.h>

/* ---- static guess: how many of a structure's accesses hit its line ---- */
static bool line_shared(const struct soft *s, uint32_t inst)
{
    const struct ptx_operand *a = inst_address(&s->c->f->insts[inst]);
    uint32_t block = s->flow.cfg->block_of[inst];
    for (uint32_t k = s->flow.cfg->blocks[block].first; k < inst; k++) {
        const struct ptx_operand *b =
            s->access[k].kind == SOFT_OWN ? inst_address(&s->c->f->insts[k]) : NULL;
        if (b && b->base == BASE_REG && b->index == a->index &&
            b->imm / (int64_t)s->line == a->imm / (int64_t)s->line)
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
        int64_t per = 0, by;
        uint32_t reg;
        if (g->blocks[g->block_of[k]].loop != loop || !ptx_step_of(d, &reg, &by))
            continue;
        if (!pass_motion(&s->flow, inst_address(&s->c->f->insts[inst])->index, reg, &per))
            return false;
        *step += per * by;
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
    return step >= s->line ? 0 : weight * (1 - (double)step / s->line);
}

static void guess_scores(struct soft *s)
{
    for (uint32_t k = 0; k < s->c->f->ninsts; k++)
        if (s->access[k].kind == SOFT_OWN)
            s->s[s->access[k].own].score += guess_hits(s, k) * (s->s[s->access[k].own].written ? 1 : 2);
}

/* Lines go to the highest scores; a measured score of none means that a line would never hit. */
static void by_score(struct soft *s, bool measured)
{
    for (uint32_t given = 0; given < s->lines; given++) {
        struct soft_structure *best = NULL;
        for (uint32_t k = 0; k < s->n; k++)
            if (s->s[k].cacheable && s->s[k].line < 0 &&
                (!best || s->s[k].score > best->score ||
                 (s->s[k].score >= best->score && best->written && !s->s[k].written)))
                best = &s->s[k];
        if (!best || (measured && !(best->score > 0))) {
            s->lines = given;
            return;
        }
        best->line = (int)given;
    }
}

static struct soft_structure *named(struct soft *s, struct str name)
{
    const struct launch_spec *l = s->c->in->launch;
    for (uint32_t k = 0; k < s->n; k++) {
        const char *own = launch_arg(l, (size_t)s->s[k].param)->name;
        if (str_eq(name, s->c->f->params[s->s[k].param]->name) || (own && str_is(name, own)))
            return &s->s[k];
    }
    return NULL;
}

static enum status by_name(struct soft *s)
{
    int given = 0;
    for (const char *p = opt_softcache(s->c->opt)->data; *p;) {
        struct str name = { p, strcspn(p, ",") };
        struct soft_structure *x = named(s, name);
        p += name.n + (p[name.n] == ',');
        if (!x || !x->cacheable)
            return pass_refuse(s->c, x ? x->at : NO_SPAN, NULL,
                               x ? "--softcache-data: '%.*s' cannot be cached: %s"
                                 : "--softcache-data: the kernel accesses no parameter '%.*s'%s",
                               (int)name.n, name.s, x ? x->why : "");
        if (x->line < 0 && given < (int)s->lines)
            x->line = given++;
    }
    s->lines = (uint32_t)given;
    return ST_OK;
}

enum status soft_rank(struct soft *s)
{
    if (s->mode != SOFT_FIXED)
        return ST_OK;
    if (opt_softcache(s->c->opt)->data[0])
        return by_name(s);
    const uint64_t *profile =
        opt_softcache(s->c->opt)->lines == OPT_SOFTCACHE_AUTO ? s->c->soft_profile : NULL;
    for (uint32_t k = 0; profile && k < s->n; k++)
        s->s[k].score = (double)profile[2 * s->s[k].param] * (s->s[k].written ? 1 : 2);
    if (!profile)
        guess_scores(s);
    by_score(s, profile != NULL);
    return ST_OK;
}
