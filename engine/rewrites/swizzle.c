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
 * needs stay, and bits 3 or 4 to 6 are turned over by as many bits from 7 on, and by as many above. */
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/opt_shared.h"
#include "engine/rewrites/shared_words.h"

#define TAG      "swizzle"
#define WHAT     "--swizzle-shared"
#define ROW      SHARED_WORDS_ROW
#define ROW_BITS 7u

static bool asked(const struct options *o)
{
    return opt_shared(o)->swizzle;
}

static enum status check(struct pass_ctx *c)
{
    struct shared_words l;
    enum status st = shared_words_code(c, WHAT, &l);
    return st == ST_OK ? shared_words_variables(c, WHAT) : st;
}

static uint64_t rows(uint64_t bytes)
{
    return (bytes + ROW - 1) / ROW * ROW;
}

/* widest: bytes of the widest access, a power of two. */
static void move(struct pass_ctx *c, const struct ptx_inst *i, unsigned widest)
{
    unsigned bits = ROW_BITS - (unsigned)__builtin_ctz(widest);
    const char *t = c->tag;
    struct buf b = { 0 };
    shared_words_address(c, inst_address(i), &b);
    pass_code(&b, t,
              "shr.u32 %%#t, %%#a, %u;\nshr.u32 %%#u, %%#a, %u;\nxor.b32 %%#t, %%#t, %%#u;\n"
              "and.b32 %%#t, %%#t, %u;\nxor.b32 %%#a, %%#a, %%#t;",
              bits, 2 * bits, ROW - widest);
    shared_words_moved(c, i, &b, TAG);
}

static enum status run(struct pass_ctx *c)
{
    struct shared_words l;
    const struct ptx_symbol *s;
    bool unsized = false;
    enum status st = shared_words_code(c, WHAT, &l);
    if (st != ST_OK)
        return st;
    c->out->meaning.swizzle_unit = l.widest;
    ptx_edit_declare(c->edit, c->f, TAG, ".reg .b32 %%%sa, %%%st, %%%su;", c->tag, c->tag, c->tag);
    for (uint32_t k = 0; (s = shared_words_variable(c, k)); k++)
        if (shared_words_is(s)) {
            shared_words_declare(c, s, rows(s->bytes), TAG);
            unsized |= s->unsized;
        }
    for (uint32_t k = 0; k < c->f->ninsts; k++)
        if (shared_words_access(&c->f->insts[k]))
            move(c, &c->f->insts[k], l.widest);
    if (unsized && !c->in->launch)
        pass_note(c, NO_SPAN, "launch the kernel with a multiple of %u bytes of dynamic shared memory",
                  ROW);
    shared_words_resize(c, rows(c->out->shared));
    return c->oom ? ST_NOMEM : ST_OK;
}

static const char *const knobs[] = { "swizzle-shared", NULL };
const struct pass_row pass_row_swizzle = {
    { "swizzle", "permute words of shared memory so that columns have no bank conflicts" },
    knobs,
    asked,
    check,
    run,
    NULL,
    NULL,
};
