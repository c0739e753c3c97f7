/* smem_pad: a gap behind each row of an array in shared memory, so that lanes which read a column ask
 * different banks. Rows of N bytes, a gap as wide as the widest access:
 *
 *   before                               after, --smem-pad 128
 *     ld.shared.f32 %f1, [%r4+128];        add.u32 %gl0_a, %r4, 128;
 *                                          mov.u32 %gl0_t, tile;
 *                                          sub.u32 %gl0_t, %gl0_a, %gl0_t;
 *                                          shr.u32 %gl0_t, %gl0_t, 7;
 *                                          mad.lo.u32 %gl0_a, %gl0_t, 4, %gl0_a;
 *                                          ld.shared.f32 %f1, [%gl0_a];
 *
 * Why it is right: with p = address - tile, p + p / N * gap grows with p, so no two bytes get one place.
 * N is a multiple of the gap and the gap of every access, so an access stays within its row and stays
 * aligned. Every access of the kernel to shared memory goes through it, whatever its address is made
 * from. There is one variable, so that no other lies where its gaps go. */
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/opt_shared.h"
#include "engine/rewrites/shared_words.h"

#define TAG  "smem_pad"
#define WHAT "--smem-pad"

static bool asked(const struct options *o)
{
    return opt_shared(o)->pad > 0;
}

/* The one variable of shared memory; NULL: none, or several (then *second is another). */
static const struct ptx_symbol *only_variable(const struct pass_ctx *c, const struct ptx_symbol **second)
{
    const struct ptx_symbol *s, *one = NULL;
    *second = NULL;
    for (uint32_t k = 0; (s = shared_words_variable(c, k)); k++) {
        if (!shared_words_is(s))
            continue;
        if (one) {
            *second = s;
            return NULL;
        }
        one = s;
    }
    return one;
}

static enum status check(struct pass_ctx *c)
{
    struct shared_words l;
    const struct ptx_symbol *second;
    enum status st = shared_words_code(c, WHAT, &l);
    if (st == ST_OK)
        st = shared_words_variables(c, WHAT);
    if (st != ST_OK)
        return st;
    if (!only_variable(c, &second))
        return pass_refuse(
            c, second ? second->at : NO_SPAN, "--swizzle-shared handles several variables",
            second ? WHAT ": shared memory has several variables, and padding one would move the others"
                   : WHAT ": no variable of shared memory is declared");
    if ((uint32_t)opt_shared(c->opt)->pad % l.widest)
        return pass_refuse(c, NO_SPAN, NULL,
                           WHAT " %d: the row size must be a multiple of the widest access, %u bytes",
                           opt_shared(c->opt)->pad, l.widest);
    return ST_OK;
}

/* Bytes that an array of `bytes` has with a gap behind each row but the last. */
static uint64_t padded(uint64_t bytes, uint32_t row, uint32_t gap)
{
    return bytes ? bytes + (bytes - 1) / row * gap : 0;
}

static void move(struct pass_ctx *c, const struct ptx_inst *i, const struct ptx_symbol *s, uint32_t gap)
{
    const char *t = c->tag;
    uint32_t row = (uint32_t)opt_shared(c->opt)->pad;
    struct buf b = { 0 };
    shared_words_address(c, inst_address(i), &b);
    pass_code(&b, t, "mov.u32 %%#t, %.*s;\nsub.u32 %%#t, %%#a, %%#t;\n", (int)s->name.n, s->name.s);
    if (row & (row - 1))
        pass_code(&b, t, "div.u32 %%#t, %%#t, %u;\n", row);
    else
        pass_code(&b, t, "shr.u32 %%#t, %%#t, %d;\n", __builtin_ctz(row));
    pass_code(&b, t, "mad.lo.u32 %%#a, %%#t, %u, %%#a;", gap);
    shared_words_moved(c, i, &b, TAG);
}

static enum status run(struct pass_ctx *c)
{
    struct shared_words l;
    const struct ptx_symbol *second, *s = only_variable(c, &second);
    uint32_t row = (uint32_t)opt_shared(c->opt)->pad;
    enum status st = shared_words_code(c, WHAT, &l);
    if (st != ST_OK || !s)
        return st == ST_OK ? check(c) : st;
    c->out->meaning.pad_row = row;
    c->out->meaning.pad_gap = l.widest;
    ptx_edit_declare(c->edit, c->f, TAG, ".reg .b32 %%%sa, %%%st;", c->tag, c->tag);
    shared_words_declare(c, s, padded(s->bytes, row, l.widest), TAG);
    for (uint32_t k = 0; k < c->f->ninsts; k++)
        if (shared_words_access(&c->f->insts[k]))
            move(c, &c->f->insts[k], s, l.widest);
    if (!s->unsized)
        return c->oom ? ST_NOMEM : ST_OK;
    if (!c->in->launch)
        pass_note(
            c, NO_SPAN,
            "launch the kernel with %u more bytes of dynamic shared memory for each row but the last",
            l.widest);
    shared_words_resize(c, padded(c->out->shared, row, l.widest));
    return c->oom ? ST_NOMEM : ST_OK;
}

static const char *const knobs[] = { "smem-pad", NULL };
const struct pass_row pass_row_smem_pad = {
    { "smem_pad", "pad each row of shared memory so that columns have no bank conflicts" },
    knobs,
    asked,
    check,
    run,
    NULL,
    NULL,
};
