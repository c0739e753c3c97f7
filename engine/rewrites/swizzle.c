/* swizzle: words of shared memory in another order, so that lanes which read a column of a tile ask
 * different banks. Bits 2 to 6 of an address, its bank, are turned over by the bits above them:
 *
 *   before                               after, --swizzle-shared
 *     ld.shared.f32 %f1, [%r4+128];        add.u32 %gl0_a, %r4, 128;
 *                                          shr.u32 %gl0_t, %gl0_a, 5;
 *                                          shr.u32 %gl0_u, %gl0_a, 10;
 *                                          xor.b32 %gl0_t, %gl0_t, %gl0_u;
 *                                          and.b32 %gl0_t, %gl0_t, 124;
 *                                          xor.b32 %gl0_a, %gl0_a, %gl0_t;
 *                                          ld.shared.f32 %f1, [%gl0_a];
 *
 * Why it is right: the bits that are turned over do not decide by how much, so this exchanges words
 * inside rows of 128 bytes, and each word has one place. Every access of the kernel to shared memory
 * goes through it, whatever its address is made from. Variables begin and end on rows, so that no row
 * belongs to two. An access of 8 or 16 bytes keeps its bytes together: the lowest bits that any access
 * needs stay. */
#include "engine/base/base.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"

#include <stdio.h>
#include <string.h>

#define TAG "swizzle"
#define ROW 128u /* bytes: 32 banks of 4 */

static bool asked(const struct options *o)
{
    return o->swizzle_shared;
}

/* A load, store or atomic of one thread at one address of its own CTA's shared memory. */
static bool is_access(const struct ptx_inst *i)
{
    return i->space == PTX_SPACE_SHARED && !ptx_is_opaque(i) && inst_address(i) &&
           (inst_is(i, "ld") || inst_is(i, "st") || inst_is(i, "atom") || inst_is(i, "red"));
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
    const char *name = ptx_op_info(i->op)->name ? ptx_op_info(i->op)->name : "";
    enum ptx_effect e = inst_effect(i);
    if (ptx_is_opaque(i))
        return "an instruction that is not followed";
    if (e == EFFECT_CALL)
        return "a call: what it does with shared memory is not followed";
    if (!strncmp(name, "wgmma", 5) || !strncmp(name, "tcgen05", 7))
        return "an instruction of the tensor cores that reads shared memory by itself";
    if (!addresses(i) || is_elsewhere(i) || is_access(i) || e == EFFECT_TEXTURE || e == EFFECT_SURFACE)
        return NULL;
    if (i->space == PTX_SPACE_GENERIC && (e == EFFECT_LOAD || e == EFFECT_STORE || e == EFFECT_ATOMIC))
        return "an access by a generic address, which may be one of shared memory";
    if (i->space == PTX_SPACE_SHARED_CLUSTER)
        return "an access to the shared memory of other CTAs";
    return "an instruction that knows the layout of shared memory";
}

struct layout {
    unsigned accesses, widest; /* bytes */
};

static enum status check_code(struct pass_ctx *c, struct layout *l)
{
    *l = (struct layout){ 0, 4 };
    for (uint32_t k = 0; k < c->f->ninsts; k++) {
        const struct ptx_inst *i = &c->f->insts[k];
        const char *why = touches(i);
        if (why)
            return pass_refuse(c, i->at, NULL, "--swizzle-shared: %s", why);
        if (!is_access(i))
            continue;
        unsigned bytes = inst_bytes(i);
        l->accesses++;
        if (!bytes || bytes > 16)
            return pass_refuse(c, i->at, NULL, "--swizzle-shared: an access of %u bytes", bytes);
        l->widest = bytes > l->widest ? bytes : l->widest;
    }
    if (!l->accesses)
        return pass_refuse(c, NO_SPAN, NULL, "--swizzle-shared: the kernel uses no shared memory");
    return ST_OK;
}

static bool is_shared(const struct ptx_symbol *s)
{
    return s->kind == SYM_VAR && s->space == PTX_SPACE_SHARED;
}

/* The k-th variable that the kernel sees, those of the module behind its own; NULL: no more. */
static const struct ptx_symbol *variable(const struct pass_ctx *c, uint32_t k)
{
    if (k < c->f->nvars)
        return c->f->vars[k];
    k -= c->f->nvars;
    return k < c->m->nglobals ? c->m->globals[k] : NULL;
}

static enum status check_variables(struct pass_ctx *c)
{
    const struct ptx_symbol *s, *t;
    for (uint32_t k = 0; (s = variable(c, k)); k++) {
        if (!is_shared(s))
            continue;
        struct str text = ptx_text(c->m, s->at);
        if (!s->unsized && s->linkage == LINK_EXTERN)
            return pass_refuse(c, s->at, NULL, "--swizzle-shared: '%.*s' is laid out by another module",
                               (int)s->name.n, s->name.s);
        if (!text.n || text.s[text.n - 1] != ';')
            return pass_refuse(c, s->at, NULL,
                               "--swizzle-shared: the declaration of '%.*s' is not alone",
                               (int)s->name.n, s->name.s);
        for (uint32_t j = 0; (t = variable(c, j)); j++)
            if (t != s && is_shared(t) && t->at.off == s->at.off)
                return pass_refuse(c, s->at, "declare them one by one",
                                   "--swizzle-shared: '%.*s' and '%.*s' share a declaration",
                                   (int)s->name.n, s->name.s, (int)t->name.n, t->name.s);
    }
    return ST_OK;
}

static enum status check(struct pass_ctx *c)
{
    struct layout l;
    enum status st = check_code(c, &l);
    return st == ST_OK ? check_variables(c) : st;
}

static uint64_t rows(uint64_t bytes)
{
    return (bytes + ROW - 1) / ROW * ROW;
}

/* ".shared .align 128 .b8 x[N];", N whole rows; an array without size stays one */
static void declare(struct pass_ctx *c, const struct ptx_symbol *s)
{
    static const char *const linkage[] = {
        [LINK_NONE] = "",       [LINK_EXTERN] = ".extern ", [LINK_VISIBLE] = ".visible ",
        [LINK_WEAK] = ".weak ", [LINK_COMMON] = ".common ",
    };
    unsigned align = s->align > ROW ? s->align : ROW;
    const char *how = linkage[s->linkage];
    if (s->unsized) {
        ptx_edit_span(c->edit, s->at.off, s->at.len, TAG, "%s.shared .align %u .b8 %.*s[];", how, align,
                      (int)s->name.n, s->name.s);
        return;
    }
    ptx_edit_span(c->edit, s->at.off, s->at.len, TAG, "%s.shared .align %u .b8 %.*s[%llu];", how, align,
                  (int)s->name.n, s->name.s, (unsigned long long)rows(s->bytes));
    c->out->extra_shared += (uint32_t)(rows(s->bytes) - s->bytes);
}

/* The address in <tag>a. */
static void put_address(const struct pass_ctx *c, const struct ptx_operand *a, struct buf *out)
{
    const char *t = c->tag;
    struct str reg = { 0 };
    if (a->base == BASE_REG)
        reg = c->f->regs[a->index].name;
    if (a->base == BASE_IMM) {
        buf_printf(out, "mov.u32 %%%sa, %lld;\n", t, (long long)a->imm);
        return;
    }
    if (a->base == BASE_SYM)
        buf_printf(out, "mov.u32 %%%sa, %.*s;\n", t, (int)a->sym->name.n, a->sym->name.s);
    else if (ptx_type_bits((enum ptx_type)c->f->regs[a->index].type) == 64)
        buf_printf(out, "cvt.u32.u64 %%%sa, %.*s;\n", t, (int)reg.n, reg.s);
    else
        buf_printf(out, "mov.b32 %%%sa, %.*s;\n", t, (int)reg.n, reg.s);
    if (a->imm)
        buf_printf(out, "add.s32 %%%sa, %%%sa, %lld;\n", t, t, (long long)a->imm);
}

static const char *in_place(void *ctx, const struct ptx_operand *o)
{
    return o->kind == OPND_ADDR ? ctx : NULL;
}

static void move(struct pass_ctx *c, const struct ptx_inst *i, unsigned mask)
{
    const char *t = c->tag;
    char place[32];
    struct buf b = { 0 };
    put_address(c, inst_address(i), &b);
    buf_printf(&b,
               "shr.u32 %%%st, %%%sa, 5;\nshr.u32 %%%su, %%%sa, 10;\nxor.b32 %%%st, %%%st, %%%su;\n"
               "and.b32 %%%st, %%%st, %u;\nxor.b32 %%%sa, %%%sa, %%%st;",
               t, t, t, t, t, t, t, t, t, mask, t, t, t);
    if (b.s)
        ptx_edit_before(c->edit, c->f, i->stmt, TAG, "%s", b.s);
    c->oom |= b.oom;
    buf_free(&b);
    snprintf(place, sizeof place, "[%%%sa]", t);
    pass_inst_edit(c, i, in_place, place);
}

static enum status run(struct pass_ctx *c)
{
    struct layout l;
    const struct ptx_symbol *s;
    bool unsized = false;
    enum status st = check_code(c, &l);
    if (st != ST_OK)
        return st;
    ptx_edit_declare(c->edit, c->f, TAG, ".reg .b32 %%%sa, %%%st, %%%su;", c->tag, c->tag, c->tag);
    for (uint32_t k = 0; (s = variable(c, k)); k++)
        if (is_shared(s)) {
            declare(c, s);
            unsized |= s->unsized;
        }
    for (uint32_t k = 0; k < c->f->ninsts; k++)
        if (is_access(&c->f->insts[k]))
            move(c, &c->f->insts[k], (ROW - 1) & ~(l.widest - 1));
    uint32_t whole = (uint32_t)rows(c->out->shared);
    if (unsized && !c->in->launch)
        pass_note(c, NO_SPAN, "launch it with a multiple of %u bytes of dynamic shared memory", ROW);
    c->out->extra_shared += whole - c->out->shared;
    c->out->shared = whole;
    return c->oom ? ST_NOMEM : ST_OK;
}

static const char *const knobs[] = { "swizzle-shared", NULL };
const struct pass_row pass_row_swizzle = {
    { "swizzle", "exchange words of shared memory so that columns have no bank conflicts" },
    knobs,
    asked,
    check,
    run,
};
