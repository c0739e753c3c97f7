/* Modules that mean harm, and modules of other producers: the analysis ends in bounded time with what it
 * could find out, names each gap, and stops when asked. */
#include "tests/unit/analysis_support.h"

#include <glob.h>
#include <pthread.h>
#include <time.h>

#define LIMIT_NS INT64_C(20000000000) /* on a busy machine; each takes well under a second alone */
#define REGS     ".reg .pred %p<40>;\n.reg .b32 %r<80>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<40>;\n"
#define ENTRY                                                                                  \
    ".visible .entry f(.param .u64 A, .param .u64 B, .param .u32 n)\n{\n" REGS                 \
    "ld.param.u64 %rd1, [A];\nld.param.u64 %rd2, [B];\nld.param.u32 %r19, [n];\nmov.u32 %r1, " \
    "%tid.x;\nmov.u32 %r4, %ctaid.x;\n"                                                        \
    "mov.u32 %r7, %ntid.x;\nmad.lo.s32 %r8, %r4, %r7, %r1;\n"
#define LOAD(reg)        \
    "and.b32 %r70, " reg \
    ", 1023;\nmul.wide.u32 %rd9, %r70, 4;\nadd.s64 %rd10, %rd1, %rd9;\nld.global.u32 %r71, [%rd10];\n"

static void launch(struct an_launch *a, struct dim3u grid)
{
    an_launch_init(a, grid, (struct dim3u){ 64, 1, 1 });
    an_buffer(a, "A", ELEM_U32, 1024);
    an_buffer(a, "B", ELEM_U32, 1024);
    an_int(a, "n", 100);
    an_data(a);
}
static struct ana_kernel *analysed(const struct ptx_module *m, const struct an_launch *a, bool curve)
{
    struct diags ds = { 0 };
    struct ana_kernel *k = NULL;
    struct ana_opts o = { .data = a ? &a->data : NULL, .curve = curve, .sample_ctas = 4 };
    struct support_clock t = support_clock();
    assert_status_ok(ana_run(m, str_of(""), &o, &k, &ds), &ds);
    assert_true(support_since(t) < LIMIT_NS);
    diags_free(&ds);
    return k;
}
static bool gap(const struct ana_kernel *k, const char *part)
{
    for (uint32_t i = 0; i < k->ngaps; i++)
        if (strstr(k->gaps[i], part))
            return true;
    return false;
}
/* Some gap, or the reason or loop text of some access, says it. */
static bool says(const struct ana_kernel *k, const char *part)
{
    bool found = gap(k, part);
    for (uint32_t i = 0; i < k->naccess; i++)
        found = found || (k->access[i].unknown && strstr(k->access[i].unknown, part)) ||
                (k->access[i].loops && strstr(k->access[i].loops, part)) ||
                (k->access[i].uncounted && strstr(k->access[i].uncounted, part));
    return found;
}

/* ---- flow ---- */
static const struct {
    const char *what, *body, *told;
} bodies[] = {
    { "two entries into one loop",
      "setp.lt.s32 %p1, %r8, 5;\n@%p1 bra M;\nL:\n" LOAD(
          "%r8") "add.s32 %r8, %r8, 1;\nM:\nadd.s32 %r8, %r8, 2;\nsetp.lt.s32 %p2, %r8, 90;\n@%p2 bra "
                 "L;\n",
      NULL },
    { "a jump table in a loop",
      "mov.u32 %r9, 0;\nL:\n" LOAD(
          "%r9") "and.b32 %r10, %r9, 1;\nT: .branchtargets X, Y;\nbrx.idx %r10, T;\nX:\nadd.s32 %r9, "
                 "%r9, 1;\nbra L;\nY:\nadd.s32 %r9, %r9, 1;\nsetp.lt.s32 %p2, %r9, 9;\n@%p2 bra L;\n",
      NULL },
    { "a loop that ends by wrapping around",
      "mov.u32 %r9, 1;\nL:\n" LOAD(
          "%r9") "add.s32 %r9, %r9, 64001;\nsetp.ne.s32 %p2, %r9, 0;\n@%p2 bra L;\n",
      NULL },
    { "a return inside a loop",
      "mov.u32 %r9, 0;\nL:\n" LOAD("%r9") "setp.gt.s32 %p1, %r9, %r1;\n@%p1 ret;\nadd.s32 %r9, %r9, "
                                          "1;\nsetp.lt.s32 %p2, %r9, 9;\n@%p2 bra L;\n",
      NULL },
    { "collatz",
      "add.s32 %r9, %r8, 1;\nL:\n" LOAD(
          "%r9") "and.b32 %r10, %r9, 1;\nsetp.eq.s32 %p1, %r10, 0;\nshr.u32 %r11, %r9, 1;\nmad.lo.s32 "
                 "%r12, %r9, 3, 1;\nselp.b32 %r9, %r11, %r12, %p1;\nsetp.ne.s32 %p2, %r9, 1;\n@%p2 bra "
                 "L;\n",
      "neither linear nor geometric" },
    { "an uninitialised register", LOAD("%r55"), "read before it is set" },
    { "a time stamp as an address", "mov.u32 %r9, %clock;\n" LOAD("%r9"), "%clock" },
    { "an SM number as an address", "mov.u32 %r9, %smid;\n" LOAD("%r9"), "%smid" },
};
static void flows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct buf b = { 0 };
        struct an_launch a;
        buf_printf(&b, "%s%s%sret;\n}\n", HEAD, ENTRY, bodies[i].body);
        struct ptx_module *m = an_parse(b.s);
        launch(&a, (struct dim3u){ 1, 1, 1 });
        struct ana_kernel *with = analysed(m, &a, false), *without = analysed(m, NULL, false);
        assert_true(with->naccess >= 1);
        assert_true(without->naccess >= 1);
        if (bodies[i].told && !says(without, bodies[i].told))
            fail_msg("%s: nothing says \"%s\"", bodies[i].what, bodies[i].told);
        ana_free(with);
        ana_free(without);
        launch_data_free(&a.data);
        ptx_free(m);
        buf_free(&b);
    }
}

/* What a branch depends on matters only where something of the kernel's accesses lies behind it. */
/* mbarriers are not followed */
#define UNKNOWN "mbarrier.pending_count.b64 %r9, %rd1;\nsetp.lt.u32 %p1, %r9, %r1;\n@%p1 bra X;\n"
#define DATA    LOAD("%r8") LOAD("%r71")
static const struct {
    const char *what, *body;
    bool idle;
} branched[] = {
    { "special cases of a value",
      UNKNOWN "add.u32 %r10, %r9, 1;\nsetp.eq.u32 %p2, %r10, 5;\n@%p2 bra Y;\nmul.lo.u32 %r10, %r10, "
              "3;\nbra.uni X;\nY:\nmov.u32 %r10, 4;\nX:\n" DATA,
      true },
    { "a load that an address needs", UNKNOWN LOAD("%r1") "add.u32 %r8, %r71, 1;\nX:\n" DATA, false },
    { "the address's own register", UNKNOWN "add.u32 %r8, %r8, 1;\nX:\n" DATA, false },
    { "a barrier", UNKNOWN "bar.sync 0;\nX:\n" DATA, false },
    { "the end", UNKNOWN "ret;\nX:\n" DATA, false },
    { "a loop",
      UNKNOWN "L:\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p2, %r10, %r9;\n@%p2 bra L;\nX:\n" DATA, false },
};
static void branches_that_decide_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(branched); i++) {
        struct buf b = { 0 };
        struct an_launch a;
        buf_printf(&b, ".version 7.0\n.target sm_80\n.address_size 64\n%s%sret;\n}\n", ENTRY,
                   branched[i].body);
        struct ptx_module *m = an_parse(b.s);
        launch(&a, (struct dim3u){ 4, 1, 1 });
        struct ana_kernel *k = analysed(m, &a, false);
        bool counted = k->access[k->naccess - 1].exact.valid;
        if (counted != branched[i].idle || gap(k, "control flow depends") == branched[i].idle)
            fail_msg("behind the branch %s: %s", branched[i].what, counted ? "counted" : "not counted");
        ana_free(k);
        launch_data_free(&a.data);
        ptx_free(m);
        buf_free(&b);
    }
}

/* ---- size ---- */
static void nested(struct buf *b, unsigned depth)
{
    for (unsigned d = 0; d < depth; d++)
        buf_printf(b, "mov.u32 %%r%u, 0;\nL%u:\n", 20 + d, d);
    buf_puts(b, LOAD("%r8"));
    for (unsigned d = depth; d-- > 0;)
        buf_printf(b, "add.s32 %%r%u, %%r%u, 1;\nsetp.lt.s32 %%p%u, %%r%u, 2;\n@%%p%u bra L%u;\n",
                   20 + d, 20 + d, d, 20 + d, d, d);
}
/* x = x*x + y, over and over: the expression doubles each time when written out. */
static void doubling(struct buf *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        buf_puts(b, "mad.lo.s32 %r8, %r8, %r8, %r1;\nxor.b32 %r1, %r8, %r4;\n");
    buf_puts(b, LOAD("%r8"));
}
static void branches(struct buf *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        buf_printf(b, "setp.gt.s32 %%p1, %%r8, %u;\n@%%p1 bra J%u;\nadd.s32 %%r8, %%r8, %u;\nJ%u:\n", i,
                   i, i + 1, i);
    buf_puts(b, LOAD("%r8"));
}
static void many_loads(struct buf *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        buf_printf(b, "ld.global.u32 %%r71, [%%rd1+%u];\n", 4 * (i % 1000));
}
/* Many ways back to one place: its frontier is it alone, however many they are. */
static void ways_back(struct buf *b, unsigned n)
{
    buf_puts(b, "S:\n");
    for (unsigned i = 0; i < n; i++)
        buf_printf(b, "setp.gt.s32 %%p1, %%r8, %u;\n@%%p1 bra S;\nadd.s32 %%r8, %%r8, 1;\n", i);
    buf_puts(b, LOAD("%r8"));
}
static const struct {
    void (*make)(struct buf *b, unsigned n);
    unsigned n;
} sizes[] = { { nested, 14 },    { nested, 16 },       { doubling, 200 },
              { branches, 600 }, { many_loads, 4000 }, { ways_back, 40000 } };
static void large(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct buf b = { 0 };
        struct an_launch a;
        buf_puts(&b, HEAD ENTRY);
        sizes[i].make(&b, sizes[i].n);
        buf_puts(&b, "ret;\n}\n");
        struct ptx_module *m = an_parse(b.s);
        launch(&a, (struct dim3u){ 1, 1, 1 });
        ana_free(analysed(m, &a, i == 0));
        ana_free(analysed(m, NULL, false));
        launch_data_free(&a.data);
        ptx_free(m);
        buf_free(&b);
    }
}
/* Recursion deeper than a thread's stack is a gap, not the end of it. */
static void recursion(void **state)
{
    (void)state;
    struct ptx_module *m =
        an_parse(HEAD ".func down(.param .b64 p, .param .b32 n)\n{\n.reg .b64 %rd<4>;\n.reg .b32 "
                      "%r<4>;\n.reg .pred %p<2>;\nld.param.u64 %rd1, [p];\nld.param.u32 %r1, "
                      "[n];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra E;\n"
                      "ld.global.u32 %r2, [%rd1];\nsub.u32 %r1, %r1, 1;\n{\n.param .b64 c;\n.param .b32 "
                      "d;\nst.param.b64 [c], %rd1;\nst.param.b32 [d], %r1;\ncall.uni down, (c, "
                      "d);\n}\nE:\nret;\n}\n" ENTRY
                      "{\n.param .b64 c;\n.param .b32 d;\nst.param.b64 [c], %rd1;\nst.param.b32 [d], "
                      "20000;\ncall.uni down, (c, d);\n}\nret;\n}\n");
    struct an_launch a;
    launch(&a, (struct dim3u){ 2, 1, 1 });
    struct ana_kernel *k = analysed(m, &a, true);
    assert_true(gap(k, "recursion"));
    assert_true(gap(k, "calls nested too deep"));
    ana_free(k);
    launch_data_free(&a.data);
    ptx_free(m);
}
/* f0 calls f1 twice, f1 calls f2 twice ...: 2^12 copies when inlined. */
static void call_tree(void **state)
{
    (void)state;
    struct buf b = { 0 };
    buf_puts(&b, HEAD);
    for (int i = 12; i >= 0; i--) {
        buf_printf(&b,
                   ".func f%d(.param .b64 p)\n{\n.reg .b64 %%rd<4>;\n.reg .b32 %%r<4>;\nld.param.u64 "
                   "%%rd1, [p];\nld.global.u32 %%r1, [%%rd1+%d];\n",
                   i, 4 * i);
        for (int k = 0; k < 2 && i < 12; k++)
            buf_printf(&b, "{\n.param .b64 c;\nst.param.b64 [c], %%rd1;\ncall.uni f%d, (c);\n}\n",
                       i + 1);
        buf_puts(&b, "ret;\n}\n");
    }
    buf_puts(&b, ENTRY "{\n.param .b64 c;\nst.param.b64 [c], %rd1;\ncall.uni f0, (c);\n}\nret;\n}\n");
    struct ptx_module *m = an_parse(b.s);
    struct an_launch a;
    launch(&a, (struct dim3u){ 2, 1, 1 });
    struct ana_kernel *k = analysed(m, &a, false);
    assert_true(gap(k, "is not followed: "));
    ana_free(k);
    launch_data_free(&a.data);
    ptx_free(m);
    buf_free(&b);
}

/* ---- launches ---- */
static void huge_grid_of_loads(void **state)
{
    (void)state;
    struct buf b = { 0 };
    struct an_launch a;
    buf_puts(&b, HEAD ENTRY LOAD("%r8") LOAD("%r71") "ret;\n}\n");
    struct ptx_module *m = an_parse(b.s);
    launch(&a, (struct dim3u){ INT32_MAX, 65535, 65535 });
    struct ana_kernel *k = analysed(m, &a, false);
    const struct ana_access *first = an_access(k, false, 0), *second = an_access(k, false, 1);
    assert_string_equal(first->counted_by, "closed form");
    assert_true(second->exact.valid);
    assert_true(second->exact.sampled);
    ana_free(k);
    launch_data_free(&a.data);
    ptx_free(m);
    buf_free(&b);
}
/* Arguments the description does not give are a gap; what does not need them is counted. */
static void missing_arguments(void **state)
{
    (void)state;
    struct buf b = { 0 };
    struct an_launch a;
    buf_puts(&b, HEAD ENTRY LOAD("%r1") "mad.lo.s32 %r9, %r19, 3, %r1;\n" LOAD("%r9") "ret;\n}\n");
    struct ptx_module *m = an_parse(b.s);
    an_launch_init(&a, (struct dim3u){ 2, 1, 1 }, (struct dim3u){ 64, 1, 1 });
    an_buffer(&a, "A", ELEM_U32, 1024);
    an_data(&a);
    struct ana_kernel *k = analysed(m, &a, true);
    assert_true(gap(k, "the launch has 1 of 3 parameters"));
    assert_true(an_access(k, false, 0)->exact.valid);
    ana_free(k);
    launch_data_free(&a.data);
    ptx_free(m);
    buf_free(&b);
}

/* What no launch says is unknown, and never 0. */
static const struct {
    const char *what, *value; /* of %r9 */
    bool counted;
} values[] = {
    { "data that is there", LOAD("%r1") "and.b32 %r9, %r71, 15;\n", true },
    { "a clock", "mov.u32 %r9, %clock;\nand.b32 %r9, %r9, 15;\n", false },
    { "a clock in both halves", "mov.u64 %rd9, %globaltimer;\ncvt.u32.u64 %r9, %rd9;\n", false },
    { "the launch's number", "mov.u64 %rd9, %gridid;\ncvt.u32.u64 %r9, %rd9;\n", false },
    { "a register of the driver", "mov.u32 %r9, %envreg3;\nand.b32 %r9, %r9, 7;\n", false },
    { "a parameter that the launch lacks", LOAD("%r1") "mad.lo.s32 %r9, %r19, 3, %r71;\n", false },
    { "what another lane has of it", "mov.u32 %r9, %clock;\nshfl.sync.idx.b32 %r9, %r9, 0, 31, -1;\n",
      false },
    { "a carry of data", LOAD("%r1") "add.cc.u32 %r5, %r71, 4294967295;\naddc.u32 %r9, %r1, 0;\n",
      true },
    { "a carry of a clock",
      "mov.u32 %r5, %clock;\nadd.cc.u32 %r5, %r5, 4294967295;\naddc.u32 %r9, %r1, 0;\n", false },
    { "memory that the kernel discards",
      LOAD("%r1") "and.b32 %r9, %r71, 15;\ndiscard.global.L2 [%rd1], 128;\n", false },
    { "whether an address is constant", "isspacep.const %p1, %rd1;\nselp.u32 %r9, 3, 9, %p1;\n", false },
    { "a branch by a clock, to known values",
      LOAD(
          "%r1") "mov.u32 %r5, %clock;\nsetp.ne.u32 %p1, %r5, 1;\nmov.u32 %r9, 3;\n@%p1 bra X;\nadd.u32 "
                 "%r9, %r71, 1;\nX:\n",
      true },
};
static void never_zero(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct buf b = { 0 };
        struct an_launch a;
        buf_printf(&b,
                   ".version 7.4\n.target sm_80\n.address_size 64\n%s%sxor.b32 %%r9, %%r9, %%r1;\n%s",
                   ENTRY, values[i].value, LOAD("%r9"));
        buf_puts(&b, "ret;\n}\n");
        struct ptx_module *m = an_parse(b.s);
        an_launch_init(&a, (struct dim3u){ 2, 1, 1 }, (struct dim3u){ 64, 1, 1 });
        an_buffer(&a, "A", ELEM_U32, 1024);
        an_data(&a);
        struct ana_kernel *k = analysed(m, &a, true);
        const struct ana_access *x = &k->access[k->naccess - 1];
        if (x->exact.valid != values[i].counted || !x->uncounted != values[i].counted)
            fail_msg("an address from %s: %s (%s)", values[i].what,
                     x->exact.valid ? "counted" : "not counted", x->uncounted ? x->uncounted : "");
        ana_free(k);
        launch_data_free(&a.data);
        ptx_free(m);
        buf_free(&b);
    }
}

/* ---- cancelling ---- */
static void *ask(void *ctx)
{
    struct cancel *c = ctx;
    nanosleep(&(struct timespec){ .tv_nsec = 30000000 }, NULL);
    atomic_store(&c->asked, true);
    return NULL;
}
/* Work for minutes: every thread chases 100000 loaded indices. */
static const char chase[] = HEAD ENTRY "mov.u32 %r71, %r8;\nmov.u32 %r9, 0;\nL:\n" LOAD(
    "%r71") "add.s32 %r71, %r71, %r9;\nadd.s32 %r9, %r9, 1;\nsetp.lt.s32 %p1, %r9, 100000;\n@%p1 bra "
            "L;\nret;\n}\n";
static void cancelled(void **state)
{
    (void)state;
    struct an_launch a;
    struct ptx_module *m = an_parse(chase);
    launch(&a, (struct dim3u){ 4096, 1, 1 });
    for (int curve = 0; curve < 2; curve++) {
        struct cancel c = { false };
        struct diags ds = { 0 };
        struct ana_kernel *k = NULL;
        struct ana_curve *u = NULL;
        struct ana_opts o = { .data = &a.data, .cancel = &c };
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, ask, &c), 0);
        struct support_clock from = support_clock();
        enum status st =
            curve ? ana_curve_make(m, str_of(""), &o, &u, &ds) : ana_run(m, str_of(""), &o, &k, &ds);
        assert_int_equal(st, ST_CANCELLED);
        assert_true(support_since(from) < INT64_C(3000000000));
        assert_true(!k);
        assert_true(!u);
        pthread_join(t, NULL);
        diags_free(&ds);
    }
    launch_data_free(&a.data);
    ptx_free(m);
}

/* A nest of 1500 loops, each with a counter of its own: minutes of work before any access is looked at.
 */
static void cancelled_in_a_nest(void **state)
{
    enum { DEEP = 1500 };
    (void)state;
    struct buf b = { 0 };
    buf_puts(&b, HEAD ENTRY);
    buf_printf(&b, ".reg .b32 %%c<%d>;\n", DEEP);
    for (int d = 0; d < DEEP; d++)
        buf_printf(&b, "mov.u32 %%c%d, 0;\nL%d:\n", d, d);
    buf_puts(&b, LOAD("%r8"));
    for (int d = DEEP; d-- > 0;)
        buf_printf(&b, "add.s32 %%c%d, %%c%d, 1;\nsetp.lt.s32 %%p1, %%c%d, 2;\n@%%p1 bra L%d;\n", d, d,
                   d, d);
    buf_puts(&b, "ret;\n}\n");
    struct ptx_module *m = an_parse(b.s);
    struct cancel c = { false };
    struct ana_opts o = { .cancel = &c };
    struct ana_kernel *k = NULL;
    struct diags ds = { 0 };
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, ask, &c), 0);
    struct support_clock from = support_clock();
    assert_int_equal(ana_run(m, str_of(""), &o, &k, &ds), ST_CANCELLED);
    assert_true(support_since(from) < INT64_C(3000000000));
    assert_true(!k);
    pthread_join(t, NULL);
    diags_free(&ds);
    ptx_free(m);
    buf_free(&b);
}

/* ---- modules of other producers, and one of each kind of instruction ---- */
static void other_producers(void **state)
{
    (void)state;
    glob_t g;
    unsigned kernels = 0, accesses = 0;
    assert_int_equal(glob("tests/golden/ptx/*.ptx", 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++) {
        struct diags ds = { 0 };
        struct ptx_module *m = NULL;
        enum status st = ptx_parse_file(g.gl_pathv[i], &m, &ds);
        for (uint32_t f = 0; st == ST_OK && f < m->nfuncs; f++) {
            struct ana_kernel *k = NULL;
            struct ana_opts o = { .data = NULL };
            if (!m->funcs[f]->entry || !m->funcs[f]->has_body)
                continue;
            struct support_clock t = support_clock();
            assert_status_ok(ana_run(m, m->funcs[f]->name, &o, &k, &ds), &ds);
            assert_true(support_since(t) < LIMIT_NS);
            for (uint32_t j = 0; j < k->naccess; j++, accesses++) {
                const struct ana_access *x = &k->access[j];
                assert_true(x->address);
                assert_true(x->address[0]);
                if (x->unknown)
                    assert_true(x->cls == ANA_CLASS_DATA || x->cls == ANA_CLASS_UNKNOWN);
            }
            kernels++;
            ana_free(k);
        }
        ptx_free(m);
        diags_free(&ds);
    }
    assert_true(kernels > 60);
    assert_true(accesses > 400);
    globfree(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(flows),
                                        cmocka_unit_test(branches_that_decide_nothing),
                                        cmocka_unit_test(large),
                                        cmocka_unit_test(recursion),
                                        cmocka_unit_test(call_tree),
                                        cmocka_unit_test(huge_grid_of_loads),
                                        cmocka_unit_test(missing_arguments),
                                        cmocka_unit_test(never_zero),
                                        cmocka_unit_test(cancelled),
                                        cmocka_unit_test(cancelled_in_a_nest),
                                        cmocka_unit_test(other_producers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
