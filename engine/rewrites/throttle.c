/* throttle (paper: cluster, section 4.3, as its comparison): fewer resident CTAs by a pad of dynamic
 * shared memory, or by .maxnreg and .minnctapersm. The agents' own throttle is a knob of the cluster
 * pass. --carveout changes no text: the launch asks for it.
 *
 *   before                               after, --maxnreg 32 --throttle-shared 4096
 *     .visible .entry f(...)               .visible .entry f(...)
 *     {                                    .maxnreg 32
 *                                          {
 *                                        and the launch asks for 4096 bytes of shared memory more */
#include "engine/pass/pass_int.h"
#include "engine/pass/words.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rewrites/throttle.h"

#include <stdio.h>
#include <string.h>

#define TAG "throttle"

static bool asked(const struct options *o)
{
    return opt_occupancy(o)->throttle_shared || opt_occupancy(o)->maxnreg || opt_occupancy(o)->minctas ||
           opt_occupancy(o)->carveout >= 0;
}

static enum status check_shared(struct pass_ctx *c)
{
    const struct dev_info *d = c->in->dev;
    struct dev_cta cta = pass_cta(c, c->m, c->f);
    uint64_t have = cta.shared;
    cta.shared += (uint64_t)opt_occupancy(c->opt)->throttle_shared;
    if (d && !dev_fits(d, &cta))
        return pass_refuse(c, NO_SPAN, NULL,
                           "--throttle-shared %d: the kernel would need %llu bytes of shared memory per "
                           "CTA and %s has %u (%llu are used already)",
                           opt_occupancy(c->opt)->throttle_shared, (unsigned long long)cta.shared,
                           d->name, d->shared_per_block_optin, (unsigned long long)have);
    return ST_OK;
}

static enum status check(struct pass_ctx *c)
{
    const struct options *o = c->opt;
    /* ptxas goes by .maxntid where it is there */
    uint64_t threads = (uint64_t)c->f->maxntid.x * c->f->maxntid.y * c->f->maxntid.z;
    const struct dev_info *d = c->in->dev;
    threads = threads > dim3u_count(c->out->block) ? threads : dim3u_count(c->out->block);
    if (opt_occupancy(o)->throttle_shared && !c->in->launch)
        return pass_refuse(c, NO_SPAN, "give the launch with --launch",
                           "--throttle-shared changes the launch; there is no launch description");
    if (opt_occupancy(o)->minctas && !threads && !c->f->maxntid.x && !c->f->reqntid.x)
        return pass_refuse(c, NO_SPAN, "give the launch with --launch",
                           "--minctas: .minnctapersm needs .maxntid; neither the kernel nor a launch "
                           "gives the block size");
    if (d && opt_occupancy(o)->minctas &&
        threads * (uint64_t)opt_occupancy(o)->minctas > (uint64_t)d->max_warps_per_sm * d->warp_size)
        return pass_refuse(c, NO_SPAN, NULL,
                           "--minctas %d: %d CTAs of %llu threads exceed the %u threads of an SM",
                           opt_occupancy(o)->minctas, opt_occupancy(o)->minctas,
                           (unsigned long long)threads, d->max_warps_per_sm * d->warp_size);
    enum status st =
        opt_occupancy(o)->maxnreg || opt_occupancy(o)->minctas ? throttle_check_regs(c) : ST_OK;
    return st == ST_OK && opt_occupancy(o)->throttle_shared ? check_shared(c) : st;
}

/* Replaces the arguments of a directive in the head, or adds it behind the parameter list. */
static void put_directive(struct pass_ctx *c, const char *name, const char *value)
{
    struct str h = ptx_text(c->m, c->f->head), args;
    bool found = false;
    for (size_t at = 0; words_directive(h, name, &at, &args); found = true)
        ptx_edit_span(c->edit, c->f->head.off + (uint32_t)(args.s - h.s), (uint32_t)args.n, TAG, "%s",
                      value);
    if (!found)
        ptx_edit_span(c->edit, c->f->body.off, 0, TAG, "%s %s\n", name, value);
}

static void put_number(struct pass_ctx *c, const char *name, uint32_t value)
{
    char v[12];
    snprintf(v, sizeof v, "%u", value);
    put_directive(c, name, v);
}

/* .minnctapersm, and the block that it speaks of. */
static void put_minctas(struct pass_ctx *c, uint32_t ctas)
{
    char v[40];
    snprintf(v, sizeof v, "%u, %u, %u", c->out->block.x, c->out->block.y, c->out->block.z);
    if (!c->f->maxntid.x && !c->f->reqntid.x)
        put_directive(c, ".maxntid", v);
    put_number(c, ".minnctapersm", ctas);
}

void throttle_lend_regs(struct pass_ctx *c, uint32_t ctas)
{
    enum { MORE = 8 };
    const struct dev_info *d = c->in->dev;
    uint64_t warps = pass_warps(c), has = pass_regs(c);
    bool said = asked(c->opt) || c->f->maxnreg || c->f->minnctapersm;
    if (said || !d || !warps || !ctas || pass_cc(c) < 50)
        return;
    if (dev_regs_of_warps(d, warps * ctas) >= has + MORE)
        put_minctas(c, ctas);
}

static enum status run(struct pass_ctx *c)
{
    const struct options *o = c->opt;
    c->out->shared += (uint32_t)opt_occupancy(o)->throttle_shared;
    c->out->extra_shared += (uint32_t)opt_occupancy(o)->throttle_shared;
    if (opt_occupancy(o)->maxnreg)
        put_number(c, ".maxnreg", (uint32_t)opt_occupancy(o)->maxnreg);
    if (opt_occupancy(o)->minctas)
        put_minctas(c, (uint32_t)opt_occupancy(o)->minctas);
    return ST_OK;
}

static const char *const knobs[] = { "throttle-shared", "maxnreg", "minctas", "carveout", NULL };
const struct pass_row pass_row_throttle = {
    { "throttle", "fewer or more resident CTAs by a shared-memory pad or register limits" },
    knobs,
    asked,
    check,
    run,
    NULL,
    NULL,
};
