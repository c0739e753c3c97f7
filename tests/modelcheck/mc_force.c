/* What the campaign asks of the passes: the configurations, and rewrites made although a check refused
 * them. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/options.h"
#include "tests/modelcheck/mc.h"

#include <string.h>

const char *const mc_options[] = {
    "--bypass l1 --pi bpa",
    "--bypass l1 --pi 1",
    "--bypass l1 --pi 0 --bypass-form predicate --bypass-op no_allocate",
    "--bypass l1 --bypass-form grouped --pi 1",
    "--bypass l1 --pi 0 --bypass-form hybrid",
    "--bypass l1 --bypass-form vertical",
    "--bypass ro --pi 0",
    "--bypass ro --pi bpa --bypass-op no_allocate",
    "--bypass l2 --pi 0",
    "--bypass l1+l2 --pi 0",
    "--swizzle-shared",
    "--smem-pad 8",
    "--readonly promote",
    "--readonly demote",
    "--readonly promote --assume-restrict",
    "--cluster redirect --clusters 2",
    "--cluster redirect --clusters 3 --index column",
    "--cluster redirect --index tile:2x1 --clusters 2",
    "--cluster agent",
    "--cluster agent --agents 1 --clusters 1",
    "--cluster agent --index column --clusters 3",
    "--cluster agent --prefetch l1",
    "--prefetch l1",
    "--prefetch l2 --prefetch-distance 2",
    "--softcache 1",
    "--softcache 2",
    "--softcache dynamic",
    "--throttle-shared 64",
    "--maxnreg 32",
    "--minctas 2",
    "--block 1x1x1",
    "--block 4x1x1",
    "--block 3x1x1",
    "--block 2x2x1",
    "--swap-xy",
    "--coarsen 2",
    "--coarsen 2 --coarsen-mode blocked",
    "--coarsen 4",
    "--coarsen 2 --coarsen-mode vector",
    "--coarsen 2 --cluster redirect --clusters 2",
    "--softcache 1 --cluster agent",
    "--swap-xy --coarsen 2 --bypass l1 --pi 0",
    "--readonly promote --cluster agent --throttle-shared 64",
};
const size_t mc_noptions = ARRAY_LEN(mc_options);

const struct dev_info mc_device = {
    .kind = DEV_SIMULATED,
    .spec = "sim:tiny",
    .name = "tiny",
    .cc_major = 9,
    .sms = 2,
    .warp_size = 32,
    .max_warps_per_sm = 64,
    .max_ctas_per_sm = 1,
    .max_threads_per_block = 1024,
    .regs_per_sm = 65536,
    .shared_per_sm = 65536,
    .shared_per_block_optin = 65536,
    .sm = { .reg_unit = 256, .warp_unit = 4, .shared_unit = 128 },
    .l1_bytes = 65536,
    .l2_bytes = 1 << 20,
    .mem_bytes = 1 << 30,
    .clock_khz = 1000000,
};

static const struct pass_row *const all_rows[] = {
#define PASS(id) &pass_row_##id,
#include "engine/pass/pass_list.def"
#undef PASS
};

static const struct pass_row *only_row(const struct options *o)
{
    const struct pass_row *r = NULL;
    for (size_t k = 0; k < ARRAY_LEN(all_rows); k++)
        if (all_rows[k]->asked(o)) {
            if (r)
                return NULL;
            r = all_rows[k];
        }
    return r;
}

static enum status parse_result(struct pass_ctx *c, struct pass_output *out)
{
    struct ptx_edit_result e = { 0 };
    enum status s = ptx_edit_apply(c->edit, &e, c->ds);
    if (s == ST_OK)
        s = ptx_parse("forced.ptx", (struct str){ e.text, e.n }, &out->module, c->ds);
    if (s == ST_OK) {
        out->text = base_alloc(e.n + 1);
        s = out->text ? ST_OK : ST_NOMEM;
    }
    if (out->text) {
        memcpy(out->text, e.text, e.n);
        out->n = e.n;
        out->changed = e.n != c->m->text.n || memcmp(e.text, c->m->text.s, e.n) != 0;
    }
    ptx_edit_result_free(&e);
    return s;
}

/* Loads are promoted one by one, each by its own proof: the user's word stands in for it. */
static enum status by_word(const struct pass_input *in, struct pass_output *out, struct diags *ds)
{
    struct options o = *in->options;
    struct pass_input own = *in;
    static const char word[] = "par_0,par_1,par_2,par_3";
    memcpy(opt_memory(&o)->assume_read_only, word, sizeof word);
    own.options = &o;
    return pass_apply(&own, out, ds);
}

enum status mc_force(const struct pass_input *in, struct pass_output *out, struct diags *ds)
{
    const struct pass_row *row = only_row(in->options);
    struct pass_ctx c = { .in = in,
                          .opt = in->options,
                          .row = row,
                          .m = in->module,
                          .f = ptx_find_func(in->module, in->kernel),
                          .out = out,
                          .ds = ds,
                          .tag = "gl0_" };
    memset(out, 0, sizeof *out);
    if (opt_memory(in->options)->readonly == READONLY_PROMOTE ||
        opt_bypass(in->options)->level == BYPASS_RO)
        return by_word(in, out, ds);
    if (!row || !c.f || strcmp(row->info.name, "softcache") == 0 ||
        strcmp(row->info.name, "prefetch") == 0)
        return ST_REFUSED; /* these find out in their check what their run then writes */
    out->grid = in->launch->grid;
    out->block = in->launch->block;
    out->shared = in->launch->shared;
    out->hw_pi = -1;
    c.edit = ptx_edit_new(in->module);
    enum status s = c.edit ? row->run(&c) : ST_NOMEM;
    if (s == ST_OK && (c.oom || c.failed))
        s = ST_REFUSED;
    if (s == ST_OK)
        s = parse_result(&c, out);
    ptx_edit_free(c.edit);
    ana_free(c.own_facts);
    if (s != ST_OK)
        pass_output_free(out);
    return s;
}
