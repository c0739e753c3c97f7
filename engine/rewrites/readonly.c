/* readonly (paper: bypass, section 5.3): ld.global -> ld.global.nc where no thread writes the memory
 * during the kernel, and the reverse. On current GPUs .nc goes through the same L1; it frees the
 * compiler and the hardware from coherence.
 *
 *   before                               after, --readonly promote
 *     ld.global.f32 %f1, [%rd6];           ld.global.nc.f32 %f1, [%rd6]; */
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/opt_memory.h"

#include <string.h>

#define TAG "readonly"

static bool asked(const struct options *o)
{
    return opt_memory(o)->readonly != READONLY_KEEP;
}

static bool could_promote(const struct ptx_inst *i)
{
    return ptx_is_global_load(i) && !ptx_has_mod(i, PTX_MOD_NC) && !ptx_is_strong(i) &&
           !ptx_has_mod(i, PTX_MOD_LU) && !ptx_has_mod(i, PTX_MOD_UNIFIED);
}

static bool could_demote(const struct ptx_inst *i)
{
    return ptx_is_plain_load(i) && ptx_has_mod(i, PTX_MOD_NC);
}

/* "ld.global.f32 ..." with .nc put behind its cache operator, or taken out. */
static void write_nc(const struct ptx_module *m, const struct ptx_inst *i, bool promote, struct buf *out)
{
    struct str t = ptx_text(m, i->at);
    const char *at = memmem(t.s, t.n, promote ? ".global" : ".nc", promote ? 7 : 3);
    if (!at) {
        buf_str(out, t);
        return;
    }
    size_t n = (size_t)(at - t.s);
    if (promote) {
        enum ptx_mod cop = ptx_mod_of(i, MODCAT_CACHE);
        n += 7 + (cop != PTX_MOD_NONE ? strlen(ptx_mod_text(cop)) : 0);
        buf_put(out, t.s, n);
        buf_puts(out, ".nc");
        buf_put(out, t.s + n, t.n - n);
    } else {
        buf_put(out, t.s, n);
        buf_put(out, t.s + n + 3, t.n - n - 3);
    }
}

struct tally {
    uint32_t done, refused;
    struct span at;
    const char *why;
};

static bool changes(struct pass_ctx *c, const struct ptx_inst *i, struct tally *n)
{
    const char *why = NULL;
    bool promote = opt_memory(c->opt)->readonly == READONLY_PROMOTE;
    if (promote ? !could_promote(i) : !could_demote(i))
        return false;
    if (promote && !pass_proven_read_only(c, i, &why)) {
        if (!n->refused++) {
            n->at = i->at;
            n->why = why;
        }
        return false;
    }
    n->done++;
    return true;
}

static enum status visit(struct pass_ctx *c, struct tally *n)
{
    for (uint32_t k = 0; k < c->f->ninsts; k++) {
        const struct ptx_inst *i = &c->f->insts[k];
        if (!changes(c, i, n) || !c->edit)
            continue;
        struct buf b = { 0 };
        write_nc(c->m, i, opt_memory(c->opt)->readonly == READONLY_PROMOTE, &b);
        if (b.s)
            ptx_edit_replace(c->edit, c->f, i->stmt, TAG, "%s", b.s);
        c->oom |= b.oom;
        buf_free(&b);
    }
    return c->oom ? ST_NOMEM : ST_OK;
}

static enum status check(struct pass_ctx *c)
{
    struct tally n = { 0 };
    bool promote = opt_memory(c->opt)->readonly == READONLY_PROMOTE;
    enum status s = promote ? pass_needs_read_only(c, "--readonly promote") : ST_OK;
    if (s == ST_OK)
        s = visit(c, &n);
    if (s == ST_OK && !n.done && n.refused)
        return pass_refuse(c, n.at,
                           "use --assume-read-only PARAM, or make a proof possible with distinct "
                           "buffers in the launch or --assume-restrict",
                           "no load is proven read-only: %s", n.why);
    if (s == ST_OK && !n.done)
        return pass_refuse(c, NO_SPAN, NULL,
                           promote ? "the kernel has no plain global load to promote"
                                   : "the kernel has no .nc load");
    return s;
}

static enum status run(struct pass_ctx *c)
{
    struct tally n = { 0 };
    enum status s = visit(c, &n);
    if (s == ST_OK && n.refused)
        pass_note(c, n.at, "%u load%s not promoted, this one because %s", n.refused,
                  n.refused > 1 ? "s" : "", n.why);
    return s;
}

static const char *const knobs[] = { "readonly", "assume-read-only", "assume-restrict", NULL };
const struct pass_row pass_row_readonly = {
    { "readonly", "promote proven read-only loads to .nc, or remove .nc" },
    knobs,
    asked,
    check,
    run,
    NULL,
    NULL,
};
