/* libFuzzer target: rewrites of any kernel under the options of its first line. The result is refused
 * with a reason, or parses, prints to the same bytes, has one origin per line and keeps the kernel; its
 * differences from the original can be shown. */
#include "tests/fuzz/kernel.h"

#include "engine/pass/pass.h"
#include "engine/rec/device.h"
#include "engine/sim/preset.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const struct pass_output *o)
{
    struct diags ds = { 0 };
    struct ptx_module *again = NULL;
    struct buf text = { 0 };
    fuzz_must(ptx_parse("again", (struct str){ o->text, o->n }, &again, &ds) == ST_OK,
              "a rewritten text parses");
    ptx_print(again, &text);
    fuzz_must(text.n == o->n && !memcmp(text.s, o->text, o->n), "it prints to the same bytes");
    ptx_free(again);
    buf_free(&text);
    diags_free(&ds);
}

static void check_output(const struct fuzz_kernel *k, const struct pass_output *o)
{
    struct buf b = { 0 };
    size_t n = 0;
    check_text(o);
    fuzz_must(o->module && ptx_find_func(o->module, k->f->name), "the kernel is still there");
    fuzz_must(!o->changed || o->nlines, "lines have origins");
    for (uint32_t i = 0; i < o->module->nfuncs; i++)
        ptx_cfg_free(ptx_cfg_build(o->module->funcs[i]));
    struct pass_diff_line *d = pass_diff_lines(k->m, o, &n);
    fuzz_must(d != NULL, "there is a list of lines");
    base_free(d);
    pass_diff(k->m, o, &b);
    buf_clear(&b);
    pass_standalone(o, &b);
    buf_free(&b);
}

static void apply(const struct fuzz_kernel *k, const struct launch_spec *launch,
                  const struct dev_info *dev)
{
    struct diags ds = { 0 };
    struct pass_output out;
    struct pass_input in = {
        .module = k->m, .kernel = k->f->name, .options = &k->options, .dev = dev, .launch = launch
    };
    if (pass_apply(&in, &out, &ds) == ST_OK) {
        check_output(k, &out);
        pass_output_free(&out);
    } else {
        fuzz_must(ds.errors > 0, "a refusal has a reason");
    }
    diags_free(&ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_kernel k;
    fuzz_kernel_open(&k, data, size);
    if (k.f) {
        struct sim_preset p = sim_preset_default();
        struct dev_info dev;
        sim_preset_info(&p, &dev);
        apply(&k, k.seed & 1 ? NULL : &k.launch, k.seed & 2 ? NULL : &dev);
    }
    fuzz_kernel_close(&k);
    return 0;
}
