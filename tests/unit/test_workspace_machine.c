/* Machine code: what nvdisasm, cuobjdump and ptxas print, and the tools that are not there. */
#include "tests/support.h"

#include "engine/base/base.h"
#include "engine/workspace/machine/machine.h"
#include "engine/base/tool.h"

#include <string.h>

/* Two kernels; the second one's lines are not the first one's. */
static const char nvdisasm_text[] =
    "\t.headerflags\t@\"EF_CUDA_SM80\"\n"
    "//--------------------- .text.lines --------------------------\n"
    "\t.section\t.text.lines,\"ax\",@progbits\n"
    "lines:\n"
    ".text.lines:\n"
    "\t//## File \"/tmp/lines.cu\", line 9\n"
    "        /*0000*/                   MOV R1, c[0x0][0x28] ;\n"
    "\t//## File \"/tmp/h.cuh\", line 4 inlined at \"/tmp/lines.cu\", line 13\n"
    "\t//## File \"/tmp/lines.cu\", line 13\n"
    "        /*0010*/              @!P0 LDG.E R4, [R2.64] ;\n"
    "\t//## File \".nv_debug_ptx_txt\", line 40\n"
    ".L_x_0:\n"
    "        /*0020*/                   STG.E [R2.64], R4 ;\n"
    "        /*0030*/                   LDS R4, [R2] ;\n"
    "        /*0040*/                   STL [R1], R4 ;\n"
    "        /*0050*/                   LDGDEPBAR ;\n"
    "        /*0060*/                   BRA `(.L_x_0) ;\n"
    "//--------------------- .text.other --------------------------\n"
    ".text.other:\n"
    "        /*0000*/                   LDG.E R0, [R2.64] ;\n";

static const char cuobjdump_text[] =
    "Fatbin elf code:\n"
    "\t\tFunction : other\n"
    "        /*0000*/                   EXIT ;                       /* 0x000000000000794d */\n"
    "                                                                /* 0x000fea0003800000 */\n"
    "\t\tFunction : lines\n"
    "\t.headerflags\t@\"EF_CUDA_SM80\"\n"
    "        /*0000*/                   LDG.E.128 R4, [R2.64] ;      /* 0x0000000402047981 */\n"
    "                                                                /* 0x000fea000c1e1d00 */\n"
    "        /*0010*/                   EXIT ;                       /* 0x000000000000794d */\n"
    "\t\t..........\n";

static void nvdisasm_is_read(void **state)
{
    struct machine_code c = { 0 };
    (void)state;
    assert_true(machine_parse(&c, base_strdup(nvdisasm_text), "lines"));
    assert_int_equal(c.n, 8);
    assert_true(c.v[0].inst);
    assert_int_equal(c.v[0].cuda, 9);
    assert_true(str_is(c.v[1].text, "@!P0 LDG.E R4, [R2.64]"));
    assert_int_equal(c.v[1].cuda, 13); /* where it was inlined */
    assert_int_equal(c.v[1].offset, 0x10);
    assert_true(c.v[1].memory);
    assert_false(c.v[2].inst);
    assert_true(str_is(c.v[2].text, ".L_x_0:"));
    assert_int_equal(c.v[3].cuda, 13); /* a line of the PTX is not one of the source */
    assert_int_equal(c.loads, 1);
    assert_int_equal(c.stores, 1);
    assert_int_equal(c.shared_accesses, 1);
    assert_int_equal(c.local_accesses, 1);
    machine_free(&c);
}

static void cuobjdump_is_read(void **state)
{
    struct machine_code c = { 0 };
    (void)state;
    assert_true(machine_parse(&c, base_strdup(cuobjdump_text), "lines"));
    assert_int_equal(c.n, 2);
    assert_true(str_is(c.v[0].text, "LDG.E.128 R4, [R2.64]"));
    assert_true(str_is(c.v[1].text, "EXIT"));
    assert_int_equal(c.v[1].cuda, 0);
    machine_free(&c);
}

static void another_kernel_is_not_taken(void **state)
{
    struct machine_code c = { 0 };
    (void)state;
    assert_false(machine_parse(&c, base_strdup(nvdisasm_text), "line"));
    assert_int_equal(c.n, 0);
    machine_free(&c);
}

/* Lines cut anywhere crash nothing. */
static void cut_texts(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof nvdisasm_text; n++) {
        struct machine_code c = { 0 };
        char *text = base_strdup(nvdisasm_text);
        assert_non_null(text);
        text[n] = 0;
        machine_parse(&c, text, "lines");
        machine_free(&c);
    }
    static const char *const odd[] = {
        ".text.lines:\n/*0",          ".text.lines:\n/*00*/",       ".text.:\n", "Function : \n",
        ".text.lines:\n/*zz*/ NOP ;", ".text.lines:\n//## File \"", "\n\n"
    };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct machine_code c = { 0 };
        machine_parse(&c, base_strdup(odd[i]), "lines");
        assert_int_equal(c.n, 0);
        machine_free(&c);
    }
}

static void ptxas_is_read(void **state)
{
    static const char said[] = "ptxas info    : 0 bytes gmem\n"
                               "ptxas info    : Compiling entry function 'other' for 'sm_80'\n"
                               "ptxas info    : Used 9 registers, 300 bytes cmem[0]\n"
                               "ptxas info    : Compiling entry function 'lines' for 'sm_80'\n"
                               "ptxas info    : Function properties for lines\n"
                               "    8 bytes stack frame, 4 bytes spill stores, 16 bytes spill loads\n"
                               "ptxas info    : Used 28 registers, used 1 barriers, 512 bytes smem\n";
    struct ptxas_said c;
    (void)state;
    ptxas_read_said(said, "lines", &c);
    assert_int_equal(c.registers, 28);
    assert_int_equal(c.stack, 8);
    assert_int_equal(c.spill_stores, 4);
    assert_int_equal(c.spill_loads, 16);
    assert_int_equal(c.shared, 512);
    ptxas_read_said(said, "line", &c);
    assert_int_equal(c.registers, -1);
}

/* A function that a kernel calls spills for it, and has a stack that is in the kernel's. */
static void ptxas_tells_of_callees(void **state)
{
    static const char said[] =
        "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
        "ptxas info    : Function properties for k\n"
        "    160 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
        "ptxas info    : Used 32 registers, used 0 barriers, 176 bytes cumulative stack size\n"
        "ptxas info    : Compile time = 19.705 ms\n"
        "ptxas info    : Function properties for _Z1ff\n"
        "    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n";
    struct ptxas_said c;
    (void)state;
    ptxas_read_said(said, "k", &c);
    assert_int_equal(c.registers, 32);
    assert_int_equal(c.stack, 176);
    assert_int_equal(c.spill_stores, 16);
    assert_int_equal(c.spill_loads, 28);
}

/* With ptxas: registers, also of a target that it no longer compiles for. A text that it refuses is
 * told. */
static void ptxas_is_run(void **state)
{
    static const char ptx[] =
        ".version 6.3\n.target sm_30\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n";
    struct machine_want w = { .ptx = str_of(ptx), .kernel = "k", .target = "sm_30" };
    struct machine_code c;
    struct diags ds = { 0 };
    char *ptxas = program_find("ptxas");
    (void)state;
    if (!ptxas) {
        assert_int_equal(machine_make(&w, &c, &ds), ST_REFUSED);
        assert_non_null(strstr(ds.v[0].msg, "ptxas was not found"));
        diags_free(&ds);
        return;
    }
    base_free(ptxas);
    assert_int_equal(machine_make(&w, &c, &ds), ST_OK);
    assert_true(c.said.registers > 0);
    assert_true(c.n > 0 || strstr(c.missing, "nvdisasm"));
    assert_string_not_equal(c.arch, "sm_30");
    machine_free(&c);
    w.ptx = STR(".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\tnosuch;\n}\n");
    assert_int_equal(machine_make(&w, &c, &ds), ST_INPUT);
    assert_non_null(strstr(ds.v[0].msg, "nosuch"));
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nvdisasm_is_read),
                                        cmocka_unit_test(cuobjdump_is_read),
                                        cmocka_unit_test(another_kernel_is_not_taken),
                                        cmocka_unit_test(cut_texts),
                                        cmocka_unit_test(ptxas_is_read),
                                        cmocka_unit_test(ptxas_tells_of_callees),
                                        cmocka_unit_test(ptxas_is_run) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
