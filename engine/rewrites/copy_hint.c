/* copy_hint: an L2 policy for what bulk and tensor copies read.
 *
 *   before                              after, --tma-hint evict_last
 *                                         createpolicy.fractional.L2::evict_last.b64 %gl0_pol, 1.0;
 *     cp.async.bulk.tensor.2d[...]        cp.async.bulk.tensor.2d[...].L2::cache_hint
 *       [d], [t], [b];                      [d], [t], [b], %gl0_pol;
 *
 * A policy says which lines L2 gives up first and changes no value, so there is nothing to prove. Copies
 * that have a policy keep it. */
#include "engine/analysis/symbolic/bulk.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/opt_memory.h"

#include <string.h>

#define TAG "copy_hint"

static const char *const priorities[] = {
    [COPY_HINT_EVICT_FIRST] = "evict_first",
    [COPY_HINT_EVICT_LAST] = "evict_last",
    [COPY_HINT_EVICT_NORMAL] = "evict_normal",
    [COPY_HINT_EVICT_UNCHANGED] = "evict_unchanged",
};

static bool asked(const struct options *o)
{
    return opt_memory(o)->copy_hint != COPY_HINT_KEEP;
}

/* From global memory into shared memory. */
static bool loads(const struct ptx_inst *i)
{
    struct bulk b;
    return bulk_parts(i, &b) && b.kind == BULK_LOAD;
}

/* The modifier behind the opcode, the policy behind the operands: both are the last of theirs. */
static void write_hint(struct pass_ctx *c, const struct ptx_inst *i)
{
    struct str t = ptx_text(c->m, i->at);
    const char *op = memmem(t.s, t.n, "cp.", 3), *end = t.s + t.n;
    const char *behind = op;
    while (behind && behind < end && *behind != ' ' && *behind != '\t' && *behind != '\n')
        behind++;
    const char *last = end;
    while (behind && last > behind && (last[-1] == ';' || last[-1] == ' ' || last[-1] == '\t'))
        last--;
    if (!behind || last == behind)
        return;
    ptx_edit_replace(c->edit, c->f, i->stmt, TAG, "%.*s.L2::cache_hint%.*s, %%%spol%.*s",
                     (int)(behind - t.s), t.s, (int)(last - behind), behind, c->tag, (int)(end - last),
                     last);
}

struct tally {
    uint32_t done, kept;
    struct span at;
};

static struct tally visit(struct pass_ctx *c)
{
    struct tally n = { 0 };
    for (uint32_t k = 0; k < c->f->ninsts; k++) {
        const struct ptx_inst *i = &c->f->insts[k];
        if (!loads(i))
            continue;
        if (ptx_has_mod(i, PTX_MOD_L2_CACHE_HINT)) {
            n.at = n.kept++ ? n.at : i->at;
            continue;
        }
        n.done++;
        if (c->edit)
            write_hint(c, i);
    }
    return n;
}

static enum status check(struct pass_ctx *c)
{
    struct tally n = visit(c);
    if (n.done)
        return ST_OK;
    if (n.kept)
        return pass_refuse(c, n.at, NULL, "every copy of the kernel has an L2 policy already");
    return pass_refuse(c, NO_SPAN, "--bypass-op has L1 and L2 priorities of loads",
                       "the kernel reads nothing by bulk or tensor copies");
}

static enum status run(struct pass_ctx *c)
{
    struct tally n = visit(c);
    ptx_edit_declare(c->edit, c->f, TAG, ".reg .b64 \t%%%spol;", c->tag);
    ptx_edit_entry(c->edit, c->f, TAG, "createpolicy.fractional.L2::%s.b64 \t%%%spol, 0f3F800000;",
                   priorities[opt_memory(c->opt)->copy_hint], c->tag);
    if (n.kept)
        pass_note(c, n.at, "%u cop%s a policy of their own and keep it, this one first", n.kept,
                  n.kept == 1 ? "y has" : "ies have");
    return ST_OK;
}

static const char *const knobs[] = { "tma-hint", NULL };
const struct pass_row pass_row_copy_hint = {
    { "copy_hint", "L2 policy of bulk and tensor copies" }, knobs, asked, check, run, NULL, NULL
};
