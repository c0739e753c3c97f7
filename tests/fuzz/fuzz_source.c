/* Files that people write for other tools, by the first byte's last three bits: the source of a kernel
 * in CUDA C++ (0), Triton (1) and Numba (2), under a configuration that its next two bits name; .npy
 * files (3), the order of CTAs of --index custom (4), and whatever lies where -o is to write (5).
 * Whatever the bytes, edits lie inside the file, and what is refused has a reason. */
#include "engine/base/json_write.h"
#include "engine/pass/pass.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/rec/knobs.h"
#include "engine/rec/options.h"
#include "engine/workspace/source_edits.h"
#include "engine/workspace/tuned.h"
#include "engine/workspace/workspace.h"
#include "tests/fuzz/kernel.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char PTX[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry tiles(.param .u64 a, .param .u64 w)\n{\n"
    "\t.reg .b32 %%r<8>;\n\t.reg .b64 %%rd<8>;\n\t.loc 1 2 1\n"
    "\tld.param.u64 %%rd1, [a];\n\tld.param.u64 %%rd2, [w];\n"
    "\tmov.u32 %%r1, %%ctaid.x;\n\tmov.u32 %%r2, %%tid.x;\n\tmad.lo.s32 %%r3, %%r1, 32, %%r2;\n"
    "\tmul.wide.s32 %%rd3, %%r3, 4;\n\tadd.s64 %%rd4, %%rd1, %%rd3;\n\tadd.s64 %%rd5, %%rd2, %%rd3;\n"
    "\t.loc 1 3 1\n\tld.global.u32 %%r4, [%%rd4];\n\t.loc 1 4 1\n\tld.global.u32 %%r5, [%%rd4+128];\n"
    "\tadd.s32 %%r6, %%r4, %%r5;\n\t.loc 1 5 1\n\tst.global.u32 [%%rd5], %%r6;\n\tret;\n}\n"
    "\t.file 1 \"%s\"\n";
static const char *const OPTIONS[] = { "--bypass l1 --pi 1", "--bypass l1 --pi 0 --maxnreg 32",
                                       "--cluster redirect --index row --clusters 2",
                                       "--readonly promote --carveout 50" };

static int file_of(const uint8_t *data, size_t size, char path[64])
{
    int fd = memfd_create("fuzz", 0);
    fuzz_must(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file in memory is made");
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static void edits_of(struct tuned_kernel *k, enum source_lang lang)
{
    struct source_edits h;
    struct diags ds = { 0 };
    struct buf b = { 0 };
    fuzz_must(source_edits_make(k, "/dev/null", lang, &h, &ds) == ST_OK, "advice can be made");
    source_edits_diff(&h, &b);
    for (size_t i = 0; i < h.nfiles; i++) {
        for (size_t e = 0; e < h.file[i].nedits; e++)
            fuzz_must(h.file[i].edit[e].line && h.file[i].edit[e].line <= h.file[i].nlines,
                      "an edit lies in the file");
        source_edits_patched(&h.file[i], &b);
    }
    source_edits_text(k, &h, &b);
    source_edits_json(&(struct jw){ .out = &b }, k, &h);
    buf_free(&b);
    source_edits_free(&h);
    diags_free(&ds);
}

static void source(const char *path, unsigned which, enum source_lang lang)
{
    char ptx[sizeof PTX + 80];
    char name[] = "tiles", from[] = "fuzz.json";
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    int n = snprintf(ptx, sizeof ptx, PTX, path);
    struct options own = options_default();
    struct tuned_kernel k = { .from = from, .kernel = name, .options = &own };
    fuzz_must(ptx_parse("fuzz.ptx", (struct str){ ptx, (size_t)n }, &m, &ds) == ST_OK &&
                  options_parse_line(k.options, str_of(OPTIONS[which]), &ds) == ST_OK,
              "the kernel parses");
    struct pass_input in = { .module = m, .kernel = STR("tiles"), .options = k.options };
    k.module = m;
    k.has_options = true;
    k.block = (struct dim3u){ 64, 1, 1 };
    if (pass_apply(&in, &k.code, &ds) == ST_OK)
        edits_of(&k, lang);
    pass_output_free(&k.code);
    ptx_free(m);
    diags_free(&ds);
}

/* As a buffer of 8 elements of each kind. */
static void npy(char *path)
{
    static char name[] = "a", folder[] = "";
    for (unsigned e = 0; e < ELEM_COUNT; e++) {
        struct arg_spec a = { .kind = ARG_BUFFER, .name = name, .elem = (enum elem)e, .count = 8 };
        struct launch_spec l = {
            .args = &a, .nargs = 1, .dir = folder, .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }
        };
        struct launch_data d;
        struct diags ds = { 0 };
        a.init = (struct init_spec){ .kind = INIT_NPY, .text = path };
        if (launch_data_make(&l, 1 << 16, &d, &ds) == ST_OK)
            launch_data_free(&d);
        else
            fuzz_must(ds.errors > 0, "a refusal has a reason");
        diags_free(&ds);
    }
}

static void order(const char *path)
{
    char line[128], ptx[sizeof PTX + 80];
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    struct options o = options_default();
    struct launch_spec l = { .grid = { 4, 2, 1 }, .block = { 32, 1, 1 } };
    int n = snprintf(ptx, sizeof ptx, PTX, "a.cu");
    struct pass_output out;
    snprintf(line, sizeof line, "--cluster redirect --clusters 2 --index custom:%s", path);
    fuzz_must(ptx_parse("fuzz.ptx", (struct str){ ptx, (size_t)n }, &m, &ds) == ST_OK &&
                  options_parse_line(&o, str_of(line), &ds) == ST_OK,
              "the kernel parses");
    struct pass_input in = { .module = m, .kernel = STR("tiles"), .options = &o, .launch = &l };
    if (pass_apply(&in, &out, &ds) == ST_OK)
        pass_output_free(&out);
    else
        fuzz_must(ds.errors > 0, "a refusal has a reason");
    ptx_free(m);
    diags_free(&ds);
}

static void output(const char *path)
{
    struct diags ds = { 0 };
    fuzz_must((workspace_output_check(path, false, &ds) == ST_OK) == !ds.errors,
              "a refusal has a reason");
    diags_free(&ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    if (!size)
        return 0;
    int fd = file_of(data + 1, size - 1, path);
    unsigned which = data[0] >> 3 & 3;
    switch (data[0] & 7) {
    case 0: source(path, which, SOURCE_CUDA); break;
    case 1: source(path, which, SOURCE_TRITON); break;
    case 2: source(path, which, SOURCE_NUMBA); break;
    case 3: npy(path); break;
    case 4: order(path); break;
    default: output(path); break;
    }
    close(fd);
    return 0;
}
