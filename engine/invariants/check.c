/* Pairs of functions, and what is checked of each. */
#include "engine/invariants/invariants_int.h"
#include "engine/base/list.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/elem.h"

#include <string.h>

/* ---- which function a new one is made of ---- */
uint32_t inv_inst_at(const struct ptx_func *f, uint32_t off)
{
    uint32_t k;
    BISECT(k, f->ninsts, f->insts[k].at.off < off);
    return k < f->ninsts && f->insts[k].at.off == off ? k : PTX_NO_INDEX;
}

uint32_t inv_origin_of(const struct inv_origin *v, uint32_t n, uint32_t off)
{
    uint32_t k;
    BISECT(k, n, v[k].off < off);
    return k < n && v[k].off == off ? v[k].was : PTX_NO_INDEX;
}

static const struct ptx_func *old_of(const struct inv_input *in, const struct ptx_func *now)
{
    const struct ptx_func *same = ptx_find_func(in->old, now->name);
    if (same && same->def)
        return same->def;
    for (uint32_t k = 0; k < now->ninsts && in->origin; k++) {
        uint32_t was = inv_origin_of(in->origin, in->norigins, now->insts[k].at.off);
        for (uint32_t f = 0; f < in->old->nfuncs && was != PTX_NO_INDEX; f++)
            if (inv_inst_at(in->old->funcs[f], was) != PTX_NO_INDEX)
                return in->old->funcs[f];
    }
    return NULL;
}

/* ---- origins ---- */
static bool find_origins(struct inv_pair *p)
{
    const struct ptx_func *f = p->now.f;
    if (!p->in->origin)
        return inv_match(p->old.f, f, p->origin);
    for (uint32_t n = 0; n < f->ninsts; n++) {
        uint32_t was = inv_origin_of(p->in->origin, p->in->norigins, f->insts[n].at.off);
        p->origin[n] = was == PTX_NO_INDEX ? was : inv_inst_at(p->old.f, was);
    }
    return true;
}

/* Where the original's thread ends the new one goes on with something else, under the same condition. */
static bool goes_on(const struct ptx_inst *o, const struct ptx_inst *n)
{
    return ptx_effect_of(o) == EFFECT_EXIT && ptx_is(n, IS_JUMP) && o->guarded == n->guarded &&
           o->guard_neg == n->guard_neg;
}

/* What stands in the place of another operation is new code, but for the end of a thread. */
static void part_replaced(struct inv_pair *p)
{
    for (uint32_t n = 0; n < p->now.f->ninsts; n++) {
        uint32_t o = p->origin[n];
        if (o == PTX_NO_INDEX || p->old.f->insts[o].op == p->now.f->insts[n].op ||
            goes_on(&p->old.f->insts[o], &p->now.f->insts[n]))
            continue;
        p->replaced[o] = true;
        p->origin[n] = PTX_NO_INDEX;
    }
}

/* Is this register of the original written by a new load, or read by a new store? */
static bool is_moved(const struct inv_pair *p, uint32_t reg, bool load)
{
    uint32_t now = ptx_find_reg(p->now.f, p->old.f->regs[reg].name);
    bool found = false;
    if (now == PTX_NO_INDEX)
        return false;
    const struct ptx_reg_refs *r = &p->now.g->regs[now];
    for (uint32_t k = 0; k < (load ? r->ndefs : r->nuses); k++) {
        uint32_t n = load ? r->defs[k] : r->uses[k];
        found |= p->origin[n] == PTX_NO_INDEX && (load || ptx_is_plain_store(&p->now.f->insts[n]));
    }
    return found;
}

/* Nobody says what a text that stands alone means: an access of which new code seems to do the same. */
static bool is_done_otherwise(const struct inv_pair *p, uint32_t k)
{
    const struct ptx_inst *o = &p->old.f->insts[k];
    bool load = ptx_is_plain_load(o), found = false;
    if (load || ptx_is_plain_store(o))
        for (struct ptx_regs r = ptx_regs_of(o, PTX_READ | PTX_WRITE); ptx_next_reg(&r);)
            found |= load == ((r.access & PTX_WRITE) != 0) && is_moved(p, r.reg, load);
    return found;
}

static void link_images(struct inv_pair *p)
{
    for (uint32_t k = 0; k < p->old.f->ninsts; k++)
        p->first[k] = PTX_NO_INDEX;
    for (uint32_t n = p->now.f->ninsts; n-- > 0;) {
        uint32_t o = p->origin[n];
        p->next[n] = PTX_NO_INDEX;
        if (o == PTX_NO_INDEX || !inv_reached(&p->now, n))
            continue;
        p->next[n] = p->first[o];
        p->first[o] = n;
        p->images[o]++;
        const struct ptx_inst *a = &p->old.f->insts[o], *b = &p->now.f->insts[n];
        p->effect_kept[o] |= inv_has_effect(a) && ptx_effect_of(a) == ptx_effect_of(b);
        p->seen->followed++;
    }
    for (uint32_t k = 0; k < p->old.f->ninsts && p->in->declared & INV_UNKNOWN; k++)
        if (is_done_otherwise(p, k)) {
            p->effect_kept[k] = false;
            p->replaced[k] = true;
        }
    for (uint32_t k = 0; k < p->old.f->ninsts && p->in->declared & INV_LANES; k++)
        p->effect_kept[k] &= !inv_only_reads(&p->old.f->insts[k]) && !inv_is_merged(p, k);
}

static bool pair_make(struct inv_pair *p, const struct ptx_func *old, const struct ptx_func *now)
{
    bool ok = inv_side_make(&p->old, old) && inv_side_make(&p->now, now);
    p->origin = base_alloc((now->ninsts + 1) * sizeof *p->origin);
    p->next = base_alloc((now->ninsts + 1) * sizeof *p->next);
    p->images = base_alloc((old->ninsts + 1) * sizeof *p->images);
    p->first = base_alloc((old->ninsts + 1) * sizeof *p->first);
    p->effect_kept = base_alloc(old->ninsts + 1);
    p->replaced = base_alloc(old->ninsts + 1);
    ok = ok && p->origin && p->next && p->images && p->first && p->effect_kept && p->replaced &&
         find_origins(p);
    if (ok) {
        part_replaced(p);
        link_images(p);
    }
    return ok;
}

static void pair_free(struct inv_pair *p)
{
    inv_side_free(&p->old);
    inv_side_free(&p->now);
    BASE_FREE(p->origin, p->next, p->images, p->first, p->effect_kept, p->replaced);
}

/* ---- the launch ---- */
static void inv_check_launch(struct inv_pair *p)
{
    const struct ptx_func *f = p->now.f;
    const struct dim3u *b = p->in->block;
    if (!b || !f->entry)
        return;
    struct dim_directive d = f->maxntid;
    uint64_t threads = dim3u_count(*b), most = (uint64_t)d.x * (d.y ? d.y : 1) * (d.z ? d.z : 1);
    if (f->maxntid.x && threads > most)
        inv_broken(p, "invariant-launch", NULL, "a CTA has %llu threads, and .maxntid allows %llu",
                   (unsigned long long)threads, (unsigned long long)most);
    if (f->reqntid.x && (f->reqntid.x != b->x || (f->reqntid.y ? f->reqntid.y : 1) != b->y ||
                         (f->reqntid.z ? f->reqntid.z : 1) != b->z))
        inv_broken(p, "invariant-launch", NULL, "a CTA is %ux%ux%u, and .reqntid asks for %ux%ux%u",
                   b->x, b->y, b->z, f->reqntid.x, f->reqntid.y ? f->reqntid.y : 1,
                   f->reqntid.z ? f->reqntid.z : 1);
}

/* ---- all ---- */
static bool check_pair(const struct inv_input *in, const struct ptx_func *old,
                       const struct ptx_func *now, struct inv_seen *seen, struct diags *ds)
{
    struct inv_pair p = { .in = in, .seen = seen, .ds = ds };
    bool ok = pair_make(&p, old, now);
    if (ok) {
        seen->functions++;
        seen->insts += now->ninsts;
        seen->large += p.old.large || p.now.large;
        inv_check_data(&p);
        inv_check_guards(&p);
        inv_check_order(&p);
        inv_check_kept(&p);
        inv_check_groups(&p);
        inv_check_launch(&p);
    }
    ok = ok && !p.oom;
    pair_free(&p);
    return ok;
}

/* Functions and variables of the original that the new text has not, or has otherwise. */
static void check_module(const struct inv_input *in, struct inv_seen *seen, struct diags *ds)
{
    struct inv_pair p = { .in = in, .seen = seen, .ds = ds };
    for (uint32_t k = 0; k < in->old->nfuncs; k++) {
        const struct ptx_func *f = in->old->funcs[k], *g = ptx_find_func(in->now, f->name);
        if (!g || (f->has_body && !g->def))
            inv_broken(&p, "invariant-dropped", NULL, "function %.*s is gone", (int)f->name.n,
                       f->name.s);
        else if (g->nparams != f->nparams || g->param_bytes != f->param_bytes)
            inv_broken(&p, "invariant-dropped", NULL, "%.*s has other parameters", (int)f->name.n,
                       f->name.s);
    }
    for (uint32_t k = 0; k < in->old->nglobals; k++) {
        const struct ptx_symbol *s = in->old->globals[k], *t = ptx_find_global(in->now, s->name);
        bool same = t && t->ninit == s->ninit && (!s->ninit || memcmp(t->init, s->init, s->ninit) == 0);
        if (!same || t->bytes < s->bytes)
            inv_broken(&p, "invariant-dropped", NULL, "variable %.*s is %s", (int)s->name.n, s->name.s,
                       t ? "another one" : "gone");
    }
}

enum status inv_check(const struct inv_input *in, struct inv_seen *seen, struct diags *ds)
{
    *seen = (struct inv_seen){ 0 };
    check_module(in, seen, ds);
    for (uint32_t k = 0; k < in->now->nfuncs; k++) {
        const struct ptx_func *now = in->now->funcs[k];
        const struct ptx_func *old = now->has_body ? old_of(in, now) : NULL;
        if (old && old->has_body && !check_pair(in, old, now, seen, ds))
            return ST_NOMEM;
    }
    return seen->broken ? ST_REFUSED : ST_OK;
}
