/* Rewritten texts given back to every pass: the text that the options of the first line make is a kernel
 * like any other. Each pass refuses it with a reason, or makes a text that parses and keeps what the
 * invariants ask. */
#include "tests/fuzz/kernel.h"

#include "engine/pass/pass.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const lines[] = {
    "--coarsen 2",
    "--coarsen 2 --coarsen-mode vector",
    "--block 64x1x1",
    "--swap-xy",
    "--cluster redirect",
    "--cluster agent",
    "--bypass l1 --pi 1",
    "--bypass l1 --pi 1 --bypass-form predicate",
    "--bypass l1 --bypass-form grouped --pi 1",
    "--bypass ro --pi 1",
    "--prefetch l2",
    "--softcache 1",
    "--softcache dynamic",
    "--readonly promote",
    "--readonly demote",
    "--swizzle-shared",
    "--smem-pad 64",
    "--maxnreg 32",
};

static void parses(const struct buf *text)
{
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    fuzz_must(ptx_parse("again", (struct str){ text->s, text->n }, &m, &ds) == ST_OK,
              "a text that was rewritten twice parses");
    ptx_free(m);
    diags_free(&ds);
}

/* What one line of options makes of a module; false: it is refused. */
static bool rewrite(const struct pass_input *as, const struct ptx_module *m, struct str line,
                    struct buf *text)
{
    struct diags ds = { 0 };
    struct pass_output out;
    struct options o = options_default();
    struct pass_input in = *as;
    in.module = m;
    in.options = &o;
    bool ok = options_parse_line(&o, line, &ds) == ST_OK && pass_apply(&in, &out, &ds) == ST_OK;
    fuzz_must(ok || ds.errors, "a refusal has a reason");
    if (ok) {
        pass_standalone(&out, text);
        parses(text);
        pass_output_free(&out);
    }
    diags_free(&ds);
    return ok;
}

static void give_back(const struct pass_input *in, const struct buf *text)
{
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    fuzz_must(ptx_parse("once", (struct str){ text->s, text->n }, &m, &ds) == ST_OK, "it parses");
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct buf twice = { 0 };
        rewrite(in, m, str_of(lines[i]), &twice);
        buf_free(&twice);
    }
    ptx_free(m);
    diags_free(&ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_kernel k;
    fuzz_kernel_open(&k, data, size);
    if (k.f && size < 1 << 14) {
        struct sim_preset p = sim_preset_default();
        struct dev_info dev;
        struct buf once = { 0 };
        sim_preset_info(&p, &dev);
        struct pass_input in = { .kernel = k.f->name, .dev = &dev, .launch = &k.launch };
        if (rewrite(&in, k.m, str_of(lines[k.seed % ARRAY_LEN(lines)]), &once))
            give_back(&in, &once);
        buf_free(&once);
    }
    fuzz_kernel_close(&k);
    return 0;
}
