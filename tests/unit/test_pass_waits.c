/* Which loops wait for other CTAs: sources, spaces, ways round; and neighbours that do not wait. */
#include "tests/support.h"

#include <stdio.h>
#include <string.h>

#include "engine/pass/pass.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"

/* %d1: a written buffer, %d2: one that is only read, %d3: elements of %d1 by the CTA's number; %r1:
 * %tid.x, %r2: n. */
static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n%s\n.visible .entry k(.param .u64 a, .param .u64 b, "
    ".param .u32 n)\n{\n"
    ".reg .b64 %%d<9>;\n.reg .b32 %%r<20>;\n.reg .pred %%p<5>;\n.shared .align 4 .b32 sh[64];\n"
    "ld.param.u64 %%d1, [a];\nld.param.u64 %%d2, [b];\nld.param.u32 %%r2, [n];\nmov.u32 %%r1, "
    "%%tid.x;\nmov.u32 %%r3, %%ctaid.x;\n"
    "mul.wide.u32 %%d3, %%r3, 4;\nadd.s64 %%d3, %%d1, %%d3;\nst.global.u32 [%%d1], %%r1;\nmov.u32 %%r9, "
    "0;\n%s\nret;\n}\n";

struct row {
    const char *what, *funcs, *body;
    bool waits;
    const char *says;
};
#define POLL(op) "L: " op " setp.eq.u32 %p1, %r4, 0; @%p1 bra L;"
#define ADD(f)                                                                                      \
    ".func (.param .b32 r) f(.param .b64 p) { .reg .b64 %d<3>; .reg .b32 %r<3>; .reg .pred %p<2>; " \
    "ld.param.u64 %d1, [p]; " f " }"
#define CALL                                                                                          \
    "{ .param .b64 q; .param .b32 o; st.param.b64 [q], %d3; call.uni (o), f, (q); ld.param.b32 %r4, " \
    "[o]; }"
/* A search of written data from %r9 on, which `step` moves on. */
#define SEARCH(step)                                                                             \
    "L: mul.wide.s32 %d5, %r9, 4; add.s64 %d6, %d1, %d5; ld.global.u32 %r4, [%d6]; setp.eq.u32 " \
    "%p1, %r4, 5; @%p1 bra D; " step " setp.lt.s32 %p2, %r9, %r2; @%p2 bra L; D:"
static const struct row rows[] = {
    { "a search whose counter saturates", "", SEARCH("add.sat.s32 %r9, %r9, 1;"), true, NULL },
    { "a search whose counter saturates, downwards", "", SEARCH("sub.sat.s32 %r9, %r9, 1;"), true,
      NULL },
    { "a search by a step that may be left out", "",
      SEARCH("setp.eq.u32 %p3, %r1, 0; @%p3 add.s32 %r9, %r9, 1;"), true, NULL },
    { "a search whose counter has a bound", "", SEARCH("add.s32 %r9, %r9, 1; min.s32 %r9, %r9, 7;"),
      true, NULL },
    { "a search whose counter has 16 bits", "",
      SEARCH("{ .reg .b16 %h; cvt.u16.u32 %h, %r9; add.u16 %h, %h, 1; cvt.u32.u16 %r9, %h; }"), true,
      NULL },
    { "a search that adds with the carry flag", "", SEARCH("addc.u32 %r9, %r9, 1;"), true, NULL },
    { "a search by zero", "", SEARCH("add.s32 %r9, %r9, 0;"), true, NULL },
    { "a search that a float ends", "",
      "L: mul.wide.s32 %d5, %r9, 4; add.s64 %d6, %d1, %d5; ld.global.u32 %r4, [%d6]; setp.eq.u32 %p1, "
      "%r4, 5; @%p1 bra D; add.s32 %r9, %r9, 1; { .reg .f32 %f; mov.b32 %f, %r9; setp.lt.f32 %p2, %f, "
      "0f7fc00000; } @%p2 bra L; D:",
      true, NULL },
    { "a search whose address saturates", "",
      "L: add.sat.s32 %r5, %r9, 2147483600; mul.wide.s32 %d5, %r5, 4; add.s64 %d6, %d1, %d5; "
      "ld.global.u32 %r4, [%d6]; setp.eq.u32 %p1, %r4, 5; @%p1 bra D; add.s32 %r9, %r9, 1; setp.lt.s32 "
      "%p2, %r9, %r2; @%p2 bra L; D:",
      true, NULL },
    { "a search by sub", "", SEARCH("sub.s32 %r9, %r9, -1;"), false, NULL },
    { "a search, the number first", "", SEARCH("add.s32 %r9, 2, %r9;"), false, NULL },
    { "atom.add 0", "", POLL("atom.global.add.u32 %r4, [%d3], 0;"), true,
      "another CTA's flag (stream-K" },
    { "atom.or", "", POLL("atom.global.or.b32 %r4, [%d3], 0;"), true, NULL },
    { "atom.max, generic", "", POLL("atom.max.u32 %r4, [%d3], 0;"), true, NULL },
    { "cas", "", POLL("atom.global.cas.b32 %r4, [%d3], 1, 1;"), true, NULL },
    { "plain load", "", POLL("ld.global.u32 %r4, [%d3];"), true, NULL },
    { "volatile load", "", POLL("ld.volatile.global.u32 %r4, [%d3];"), true, NULL },
    { "acquire, of a buffer nobody writes here", "", POLL("ld.acquire.gpu.global.u32 %r4, [%d2];"), true,
      NULL },
    { "with nanosleep", "", POLL("nanosleep.u32 20; ld.relaxed.gpu.global.u32 %r4, [%d3];"), true,
      NULL },
    { "through shared memory", "",
      "L: ld.global.u32 %r5, [%d3]; st.shared.u32 [sh+4], %r5; bar.sync 0; ld.shared.u32 %r4, [sh+4]; "
      "setp.eq.u32 %p1, %r4, 0; @%p1 bra L;",
      true, NULL },
    { "through a vote", "",
      "L: ld.global.u32 %r5, [%d3]; setp.eq.u32 %p2, %r5, 0; vote.sync.any.pred %p1, %p2, -1; @%p1 bra "
      "L;",
      true, NULL },
    { "through which way was gone", "",
      "L: ld.global.u32 %r5, [%d3]; setp.eq.u32 %p2, %r5, 0; @%p2 bra M; add.u32 %r9, %r9, 1; M: "
      "setp.lt.u32 %p1, %r9, 4; @%p1 bra L;",
      true, NULL },
    { "two loops with one head", "",
      "L: ld.global.u32 %r4, [%d3]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L; add.u32 %r9, %r9, 1; "
      "setp.lt.u32 %p2, %r9, 4; @%p2 bra L;",
      true, NULL },
    { "entered in two places", "",
      "setp.eq.u32 %p2, %r1, 0; @%p2 bra M; L: add.u32 %r9, %r9, 1; M: ld.global.u32 %r4, [%d3]; "
      "setp.eq.u32 %p1, %r4, 0; @%p1 bra L;",
      true, NULL },
    { "an indexed branch", "",
      "L: ld.global.u32 %r4, [%d3]; T: .branchtargets L, M; brx.idx %r4, T; M:", true, NULL },
    { "a bound beside the flag", "",
      "L: add.u32 %r9, %r9, 1; setp.ge.u32 %p2, %r9, 1000; @%p2 bra M; ld.global.u32 %r4, [%d3]; "
      "setp.eq.u32 %p1, %r4, 0; @%p1 bra L; M:",
      true, NULL },
    { "cas as a lock", "",
      "L: atom.global.cas.b32 %r4, [%d1], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra L;", true, NULL },
    { "all CTAs counted", "",
      "atom.global.add.u32 %r5, [%d1], 1; mov.u32 %r6, %nctaid.x; L: ld.volatile.global.u32 %r4, [%d1]; "
      "setp.lt.u32 %p1, %r4, %r6; @%p1 bra L;",
      true, "grid barrier at line" },
    { "a loop in a callee",
      ADD("L: atom.global.cas.b32 %r1, [%d1], 1, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; st.param.b32 "
          "[r], %r1; ret;"),
      CALL, true, NULL },
    { "a callee that returns what it read", ADD("ld.global.u32 %r1, [%d1]; st.param.b32 [r], %r1; ret;"),
      "L: " CALL " setp.eq.u32 %p1, %r4, 0; @%p1 bra L;", true, NULL },
    { "round by recursion",
      ADD("ld.volatile.global.u32 %r1, [%d1]; setp.ne.u32 %p1, %r1, 0; @%p1 bra D; { .param .b64 q; "
          ".param .b32 o; st.param.b64 [q], %d1; call.uni (o), f, (q); ld.param.b32 %r1, [o]; } D: "
          "st.param.b32 [r], %r1; ret;"),
      CALL, true, NULL },
    { "shared memory of the CTA", "", POLL("atom.shared.add.u32 %r4, [sh], 0;"), false, NULL },
    { "the last CTA sums up", "",
      "atom.global.inc.u32 %r4, [%d1], %r2; setp.ne.u32 %p1, %r4, 7; @%p1 bra D; L: "
      "ld.volatile.global.u32 %r5, [%d1]; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 8; @%p2 bra L; D:",
      false, NULL },
    { "counted, atomics in it", "",
      "L: atom.global.add.u32 %r4, [%d1], 1; setp.eq.u32 %p1, %r4, 7; @%p1 st.global.u32 [%d3], %r4; "
      "add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r2; @%p2 bra L;",
      false, NULL },
    { "a row whose ends are written data", "",
      "ld.global.u32 %r4, [%d3]; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r4; @%p2 bra L;", false,
      NULL },
    { "a chain in data nobody writes", "",
      "L: mul.wide.u32 %d5, %r9, 4; add.s64 %d6, %d2, %d5; ld.global.u32 %r9, [%d6]; setp.ne.u32 %p2, "
      "%r9, 0; @%p2 bra L;",
      false, NULL },
    { "a search of written data", "",
      "L: mul.wide.u32 %d5, %r9, 4; add.s64 %d6, %d1, %d5; ld.global.u32 %r4, [%d6]; setp.eq.u32 %p1, "
      "%r4, 5; @%p1 bra D; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r2; @%p2 bra L; D:",
      false, NULL },
    { "an addition by cas", "",
      "ld.global.u32 %r4, [%d3]; L: add.u32 %r5, %r4, 3; atom.global.cas.b32 %r6, [%d3], %r4, %r5; "
      "setp.ne.s32 %p1, %r4, %r6; mov.u32 %r4, %r6; @%p1 bra L;",
      false, NULL },
};

static enum status rewrite(const struct row *r, const char *line, struct buf *said)
{
    static struct arg_spec args[3] = {
        { .name = "a", .kind = ARG_BUFFER, .elem = ELEM_U32, .count = 4096 },
        { .name = "b", .kind = ARG_BUFFER, .elem = ELEM_U32, .count = 4096 },
        { .name = "n", .kind = ARG_SCALAR, .elem = ELEM_U32 }
    };
    struct launch_spec l = { .grid = { 100000, 1, 1 }, .block = { 64, 1, 1 }, .args = args, .nargs = 3 };
    struct dev_info d = { .name = "a test device",
                          .kind = DEV_SIMULATED,
                          .cc_major = 9,
                          .sms = 4,
                          .warp_size = 32,
                          .max_warps_per_sm = 64,
                          .max_ctas_per_sm = 32,
                          .max_threads_per_block = 1024,
                          .regs_per_sm = 65536,
                          .shared_per_sm = 228 << 10,
                          .shared_per_block_optin = 227 << 10,
                          .sm = { .reg_unit = 256, .warp_unit = 4, .shared_unit = 128 } };
    struct buf text = { 0 };
    struct ptx_module *m = NULL;
    struct diags ds = { 0 };
    struct options o = options_default();
    struct buf fmt = { 0 };
    buf_puts(&fmt, head);
    char big[4096];
    snprintf(big, sizeof big, fmt.s, r->funcs, r->body);
    buf_puts(&text, big);
    assert_status_ok(ptx_parse("waits.ptx", (struct str){ text.s, text.n }, &m, &ds), &ds);
    assert_status_ok(options_parse_line(&o, str_of(line), &ds), &ds);
    struct pass_input in = { .module = m, .options = &o, .dev = &d, .launch = &l };
    enum status s = pass_legal(&in, &ds);
    diags_print(&ds, said);
    ptx_free(m);
    diags_free(&ds);
    buf_free(&text);
    buf_free(&fmt);
    return s;
}

static void test_waits(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        const struct row *r = &rows[k];
        struct buf said = { 0 };
        enum status s = rewrite(r, "--cluster redirect", &said);
        bool told = said.s && strstr(said.s, "wait here for other CTAs");
        if (s != (r->waits ? ST_REFUSED : ST_OK) || told != r->waits ||
            (r->says && !strstr(said.s, r->says)))
            fail_msg("%s: status %d, wanted %s\n%s", r->what, s,
                     r->says    ? r->says
                     : r->waits ? "a wait"
                                : "none",
                     said.s ? said.s : "");
        buf_free(&said);
        if (r->waits && s == ST_REFUSED)
            assert_int_equal(rewrite(r, "--throttle-shared 16384", &said), ST_REFUSED);
        buf_free(&said);
    }
}

static void test_registers(void **state)
{
    (void)state;
    static const struct {
        const char *body, *line;
        bool ok;
    } reads[] = {
        { "mov.u32 %r4, %total_smem_size; st.global.u32 [%d3], %r4;", "--throttle-shared 1024", false },
        { "mov.u32 %r4, %dynamic_smem_size; st.global.u32 [%d3], %r4;", "--cluster redirect", true },
        { "mov.u32 %r4, %smid; st.global.u32 [%d3], %r4;", "--cluster redirect", false },
        { "mov.u32 %r4, %smid; st.global.u32 [%d3], %r4;", "--maxnreg 64", true },
        { "mov.u32 %r4, %warpid; setp.eq.u32 %p1, %r4, 0; @%p1 st.global.u32 [%d3], %r4;",
          "--maxnreg 64", false },
        { "mov.u32 %r4, %clock; mul.wide.u32 %d5, %r4, 4; add.s64 %d6, %d1, %d5; st.global.u32 [%d6], "
          "%r4;",
          "--maxnreg 64", false },
        { "L: mov.u64 %d5, %globaltimer; setp.lt.u64 %p1, %d5, 1000; @%p1 bra L; st.global.u32 [%d3], "
          "1;",
          "--maxnreg 64", true },
        { "mov.u64 %d5, %globaltimer; setp.lt.u64 %p1, %d5, 1000; @%p1 bra L; st.global.u32 [%d3], 1; "
          "L:",
          "--maxnreg 64", false },
        { "mov.u64 %d5, %globaltimer; st.global.u64 [%d1], %d5;", "--maxnreg 64", true },
        { "mov.u32 %r4, %lanemask_lt; st.global.u32 [%d3], %r4;", "--block 32x1x1", false },
        { "mov.u32 %r4, %envreg2; st.global.u32 [%d3], %r4;", "--cluster redirect", false },
        { "setp.eq.u32 %p1, %r3, 0; @%p1 bra.uni M; st.global.u32 [%d3], 1; M:", "--block 32x1x1",
          false },
        { "setp.eq.u32 %p1, %r2, 0; @%p1 bra.uni M; st.global.u32 [%d3], 1; M:", "--block 32x1x1",
          true },
    };
    for (size_t k = 0; k < ARRAY_LEN(reads); k++) {
        struct row r = { reads[k].body, "", reads[k].body, false, NULL };
        struct buf said = { 0 };
        /* no shared memory here: reshaping would be refused for that alone */
        enum status s = rewrite(&r, reads[k].line, &said);
        if ((s == ST_OK) != reads[k].ok)
            fail_msg("%s under %s: status %d\n%s", reads[k].body, reads[k].line, s,
                     said.s ? said.s : "");
        buf_free(&said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_waits), cmocka_unit_test(test_registers) };
    return cmocka_run_group_tests_name("pass_waits", tests, NULL, NULL);
}
