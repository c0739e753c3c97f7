/* Launches whose tensor maps have another L2 promotion (--tma-promotion): the launch as it was, but for
 * the bytes of its maps. */
#include "engine/rec/launch.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_memory.h"
#include "engine/tune/tune_int.h"

#include <string.h>

/* The arguments are those of `l`, but for the maps' bytes, which are its own. */
static bool promote(const struct launch_spec *l, uint8_t to, struct launch_spec *out)
{
    *out = *l;
    out->args = base_alloc((l->nargs + 1) * sizeof *out->args);
    if (!out->args)
        return false;
    memcpy(out->args, l->args, l->nargs * sizeof *out->args);
    bool ok = true;
    for (size_t i = 0; i < l->nargs; i++) {
        struct arg_spec *a = &out->args[i];
        if (a->kind != ARG_TENSOR_MAP)
            continue;
        a->bytes = base_alloc(a->nbytes + 1);
        ok = ok && a->bytes;
        if (a->bytes)
            memcpy(a->bytes, l->args[i].bytes, a->nbytes);
    }
    if (ok)
        launch_promote(out, to);
    return ok;
}

static void promoted_free(struct launch_spec *l)
{
    for (size_t i = 0; l->args && i < l->nargs; i++)
        if (l->args[i].kind == ARG_TENSOR_MAP)
            base_free(l->args[i].bytes);
    base_free(l->args);
}

enum status tune_promotions_make(struct tune_bench *b)
{
    const struct launch_spec *l = b->subject.launch;
    if (!launch_has_maps(l))
        return ST_OK;
    b->promoted = base_alloc(TUNE_PROMOTIONS * sizeof *b->promoted);
    for (int i = 0; b->promoted && i < TUNE_PROMOTIONS; i++)
        if (!promote(l, (uint8_t)i, &b->promoted[i]))
            return ST_NOMEM;
    return b->promoted ? ST_OK : ST_NOMEM;
}

void tune_promotions_free(struct tune_bench *b)
{
    for (int i = 0; b->promoted && i < TUNE_PROMOTIONS; i++)
        promoted_free(&b->promoted[i]);
    base_free(b->promoted);
    b->promoted = NULL;
}

const struct launch_spec *tune_launch_of(const struct tune_bench *b, const struct options *o)
{
    int p = opt_memory(o)->promotion;
    return p == PROMOTION_KEEP || !b->promoted ? b->subject.launch : &b->promoted[p - PROMOTION_NONE];
}
