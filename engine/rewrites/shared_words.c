/* shared_words: what the passes share that move words of shared memory (swizzle, smem_pad). All accesses
 * of the kernel are found, or the pass is refused: nothing that relies on the old layout may be left.
 *
 *   before                               after
 *     .shared .f32 x[1024];                .shared .align 128 .b8 x[4224];
 *     ld.shared.f32 %f1, [%r1+4];          mov.b32 a, %r1;  add.s32 a, a, 4;
 *                                          the pass's own code, which makes the new place of a
 *                                          ld.shared.f32 %f1, [a]; */
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rewrites/shared_words.h"

#include <stdio.h>
#include <string.h>

/* A load, store or atomic of one thread at one address of its own CTA's shared memory. */
bool shared_words_access(const struct ptx_inst *i)
{
    return i->space == PTX_SPACE_SHARED && !ptx_is_opaque(i) && inst_address(i) &&
           !ptx_is(i, IS_BULK | IS_REMOTE) && (ptx_is(i, IS_PLAIN) || ptx_effect_of(i) == EFFECT_ATOMIC);
}

static unsigned addresses(const struct ptx_inst *i)
{
    unsigned n = 0;
    for (uint8_t k = 0; k < i->nopnds; k++)
        n += i->opnds[k].kind == OPND_ADDR || i->opnds[k].kind == OPND_MULTI;
    return n;
}

/* Its one address is of another space. Of two addresses (cp.async.bulk.global.shared::cta [a], [b]) the
 * space tells only one; the other may be of shared memory. */
static bool is_elsewhere(const struct ptx_inst *i)
{
    return addresses(i) == 1 && (i->space == PTX_SPACE_GLOBAL || i->space == PTX_SPACE_CONST ||
                                 i->space == PTX_SPACE_LOCAL || i->space == PTX_SPACE_PARAM);
}

/* How else an instruction may touch shared memory; NULL: not at all. */
static const char *touches(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    if (ptx_is_opaque(i))
        return "an instruction that is not analysed";
    if (e == EFFECT_CALL)
        return "a call whose use of shared memory is not analysed";
    if (ptx_is(i, IS_WGMMA | IS_TCGEN05))
        return "an instruction of the tensor cores that reads shared memory by itself";
    if (!addresses(i) || is_elsewhere(i) || shared_words_access(i) || e == EFFECT_TEXTURE ||
        e == EFFECT_SURFACE)
        return NULL;
    if (i->space == PTX_SPACE_GENERIC && (e == EFFECT_LOAD || e == EFFECT_STORE || e == EFFECT_ATOMIC))
        return "an access by a generic address, which may be one of shared memory";
    if (i->space == PTX_SPACE_SHARED_CLUSTER)
        return "an access to the shared memory of other CTAs";
    return "an instruction that depends on the layout of shared memory";
}

enum status shared_words_code(struct pass_ctx *c, const char *what, struct shared_words *l)
{
    *l = (struct shared_words){ 0, 4 };
    for (uint32_t k = 0; k < c->f->ninsts; k++) {
        const struct ptx_inst *i = &c->f->insts[k];
        const char *why = touches(i);
        if (why)
            return pass_refuse(c, i->at, NULL, "%s: %s", what, why);
        if (!shared_words_access(i))
            continue;
        unsigned bytes = inst_bytes(i);
        l->accesses++;
        if (!bytes || bytes > 16)
            return pass_refuse(c, i->at, NULL, "%s: an access of %u bytes", what, bytes);
        l->widest = bytes > l->widest ? bytes : l->widest;
    }
    if (!l->accesses)
        return pass_refuse(c, NO_SPAN, NULL, "%s: the kernel uses no shared memory", what);
    return ST_OK;
}

bool shared_words_is(const struct ptx_symbol *s)
{
    return s->kind == SYM_VAR && s->space == PTX_SPACE_SHARED;
}

/* The k-th variable that the kernel sees, those of the module behind its own; NULL: no more. */
const struct ptx_symbol *shared_words_variable(const struct pass_ctx *c, uint32_t k)
{
    if (k < c->f->nvars)
        return c->f->vars[k];
    k -= c->f->nvars;
    return k < c->m->nglobals ? c->m->globals[k] : NULL;
}

enum status shared_words_variables(struct pass_ctx *c, const char *what)
{
    const struct ptx_symbol *s, *t;
    for (uint32_t k = 0; (s = shared_words_variable(c, k)); k++) {
        if (!shared_words_is(s))
            continue;
        struct str text = ptx_text(c->m, s->at);
        if (!s->unsized && s->linkage == LINK_EXTERN)
            return pass_refuse(c, s->at, NULL, "%s: '%.*s' is laid out by another module", what,
                               (int)s->name.n, s->name.s);
        if (!text.n || text.s[text.n - 1] != ';')
            return pass_refuse(c, s->at, NULL, "%s: the line of '%.*s' declares more than one variable",
                               what, (int)s->name.n, s->name.s);
        for (uint32_t j = 0; (t = shared_words_variable(c, j)); j++)
            if (t != s && shared_words_is(t) && t->at.off == s->at.off)
                return pass_refuse(c, s->at, "declare them one by one",
                                   "%s: '%.*s' and '%.*s' share a declaration", what, (int)s->name.n,
                                   s->name.s, (int)t->name.n, t->name.s);
    }
    return ST_OK;
}

/* ".shared .align 128 .b8 x[N];"; an array without size stays one */
void shared_words_declare(struct pass_ctx *c, const struct ptx_symbol *s, uint64_t bytes,
                          const char *tag)
{
    static const char *const linkage[] = {
        [LINK_NONE] = "",       [LINK_EXTERN] = ".extern ", [LINK_VISIBLE] = ".visible ",
        [LINK_WEAK] = ".weak ", [LINK_COMMON] = ".common ",
    };
    unsigned align = s->align > SHARED_WORDS_ROW ? s->align : SHARED_WORDS_ROW;
    const char *how = linkage[s->linkage];
    if (s->unsized) {
        ptx_edit_span(c->edit, s->at.off, s->at.len, tag, "%s.shared .align %u .b8 %.*s[];", how, align,
                      (int)s->name.n, s->name.s);
        return;
    }
    ptx_edit_span(c->edit, s->at.off, s->at.len, tag, "%s.shared .align %u .b8 %.*s[%llu];", how, align,
                  (int)s->name.n, s->name.s, (unsigned long long)bytes);
    c->out->extra_shared += (uint32_t)(bytes - s->bytes);
}

/* The address in <tag>a. */
void shared_words_address(const struct pass_ctx *c, const struct ptx_operand *a, struct buf *out)
{
    const char *t = c->tag;
    struct str reg = { 0 };
    if (a->base == BASE_REG)
        reg = c->f->regs[a->index].name;
    if (a->base == BASE_IMM) {
        pass_code(out, t, "mov.u32 %%#a, %lld;\n", (long long)a->imm);
        return;
    }
    if (a->base == BASE_SYM)
        pass_code(out, t, "mov.u32 %%#a, %.*s;\n", (int)a->sym->name.n, a->sym->name.s);
    else if (ptx_type_bits((enum ptx_type)c->f->regs[a->index].type) == 64)
        pass_code(out, t, "cvt.u32.u64 %%#a, %.*s;\n", (int)reg.n, reg.s);
    else
        pass_code(out, t, "mov.b32 %%#a, %.*s;\n", (int)reg.n, reg.s);
    if (a->imm)
        pass_code(out, t, "add.s32 %%#a, %%#a, %lld;\n", (long long)a->imm);
}

static const char *in_place(void *ctx, const struct ptx_operand *o)
{
    return o->kind == OPND_ADDR ? ctx : NULL;
}

void shared_words_moved(struct pass_ctx *c, const struct ptx_inst *i, struct buf *code, const char *tag)
{
    char place[32];
    if (code->s)
        ptx_edit_before(c->edit, c->f, i->stmt, tag, "%s", code->s);
    c->oom |= code->oom;
    buf_free(code);
    snprintf(place, sizeof place, "[%%%sa]", c->tag);
    pass_inst_edit(c, i, in_place, place);
}

void shared_words_resize(struct pass_ctx *c, uint64_t bytes)
{
    c->out->extra_shared += (uint32_t)bytes - c->out->shared;
    c->out->shared = (uint32_t)bytes;
}
