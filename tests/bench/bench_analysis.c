/* Figures of the analysis: affine kernels of 10^9 threads, slices, traces. */
#include <stdio.h>
#include <string.h>

#include "engine/analysis/analysis.h"
#include "engine/analysis/curve.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"

static const char gemm[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry gemm(.param .u64 A, .param .u64 B, .param .u64 C, .param .u32 n)\n{\n.reg .pred "
    "%p<6>;\n.reg .f32 %f<10>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<20>;\n"
    "ld.param.u64 %rd8, [A];\nld.param.u64 %rd9, [B];\nld.param.u64 %rd10, [C];\nld.param.u32 %r6, "
    "[n];\nmov.u32 %r7, %ntid.x;\nmov.u32 %r8, %ctaid.x;\n"
    "mov.u32 %r9, %tid.x;\nmad.lo.s32 %r1, %r8, %r7, %r9;\nmov.u32 %r10, %ntid.y;\nmov.u32 %r11, "
    "%ctaid.y;\nmov.u32 %r12, %tid.y;\nmad.lo.s32 %r2, %r11, %r10, %r12;\n"
    "setp.ge.s32 %p1, %r2, %r6;\nsetp.ge.s32 %p2, %r1, %r6;\nor.pred %p3, %p1, %p2;\n@%p3 bra "
    "E;\nmul.lo.s32 %r3, %r2, %r6;\nmul.wide.s32 %rd12, %r3, 4;\n"
    "add.s64 %rd19, %rd8, %rd12;\nmul.wide.s32 %rd14, %r1, 4;\nadd.s64 %rd18, %rd9, "
    "%rd14;\nmul.wide.s32 %rd3, %r6, 4;\nmov.f32 %f9, 0f00000000;\nmov.u32 %r15, 0;\n"
    "L:\nld.global.f32 %f6, [%rd18];\nld.global.f32 %f7, [%rd19];\nfma.rn.f32 %f9, %f7, %f6, "
    "%f9;\nadd.s64 %rd19, %rd19, 4;\nadd.s64 %rd18, %rd18, %rd3;\n"
    "add.s32 %r15, %r15, 1;\nsetp.lt.s32 %p5, %r15, %r6;\n@%p5 bra L;\nadd.s32 %r14, %r3, "
    "%r1;\nmul.wide.s32 %rd16, %r14, 4;\nadd.s64 %rd17, %rd10, %rd16;\n"
    "st.global.f32 [%rd17], %f9;\nE:\nret;\n}\n";
static const char stream[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry stream(.param .u64 A, .param .u64 B, .param .u32 n)\n{\n.reg .pred %p<6>;\n.reg "
    ".f32 %f<4>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<9>;\n"
    "ld.param.u64 %rd1, [A];\nld.param.u64 %rd2, [B];\nld.param.u32 %r9, [n];\nmov.u32 %r1, "
    "%tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
    "mad.lo.s32 %r4, %r2, %r3, %r1;\nsetp.ge.s32 %p1, %r4, %r9;\n@%p1 bra E;\nmul.wide.s32 %rd3, %r4, "
    "4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n"
    "ld.global.f32 %f1, [%rd4+4];\nst.global.f32 [%rd5], %f1;\nE:\nret;\n}\n";

static void buffer(struct arg_spec *a, const char *name)
{
    *a = (struct arg_spec){ .kind = ARG_BUFFER,
                            .name = (char *)(uintptr_t)name,
                            .elem = ELEM_F32,
                            .count = 1 << 16,
                            .init = { .kind = INIT_FILL } };
}
static double run(const char *what, const char *text, struct dim3u grid, struct dim3u block,
                  uint32_t nbuf, int32_t n)
{
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    struct arg_spec arg[4];
    struct launch_spec l = { .grid = grid, .block = block, .args = arg, .nargs = nbuf + 1 };
    struct launch_data d;
    struct ana_kernel *k = NULL;
    for (uint32_t i = 0; i < nbuf; i++)
        buffer(&arg[i], i == 0 ? "A" : i == 1 ? "B" : "C");
    arg[nbuf] =
        (struct arg_spec){ .kind = ARG_SCALAR, .name = (char *)(uintptr_t) "n", .elem = ELEM_S32 };
    memcpy(arg[nbuf].scalar, &n, sizeof n);
    if (ptx_parse("bench.ptx", str_of(text), &m, &ds) != ST_OK ||
        launch_data_make(&l, 1u << 30, &d, &ds) != ST_OK) {
        struct buf b = { 0 };
        diags_print(&ds, &b);
        fputs(b.s ? b.s : "", stderr);
        return -1;
    }
    struct ana_opts o = { .data = &d };
    double best = 1e30;
    for (int i = 0; i < 5; i++) {
        int64_t t = base_now_ns();
        if (ana_run(m, str_of(""), &o, &k, &ds) != ST_OK)
            return -1;
        double ms = (double)(base_now_ns() - t) / 1e6;
        best = ms < best ? ms : best;
        if (i < 4)
            ana_free(k);
    }
    printf("analysis %s, %.3g threads: %.2f ms (%llu requests, %.4f sectors per request, class %s)\n",
           what, (double)dim3u_count(grid) * (double)dim3u_count(block), best,
           (unsigned long long)k->exact.requests, k->exact.sectors_per_request, ana_class_name(k->cls));
    ana_free(k);
    launch_data_free(&d);
    ptx_free(m);
    diags_free(&ds);
    return best;
}
static bool count(void *ctx, const struct ana_request *r)
{
    (void)r;
    ++*(uint64_t *)ctx;
    return true;
}
static void trace(void)
{
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    struct arg_spec arg[4];
    struct launch_spec l = { .grid = { 8, 32, 1 }, .block = { 32, 8, 1 }, .args = arg, .nargs = 4 };
    struct launch_data d;
    int32_t n = 256;
    uint64_t lines = 0;
    for (int i = 0; i < 3; i++)
        buffer(&arg[i], i == 0 ? "A" : i == 1 ? "B" : "C");
    arg[3] = (struct arg_spec){ .kind = ARG_SCALAR, .name = (char *)(uintptr_t) "n", .elem = ELEM_S32 };
    memcpy(arg[3].scalar, &n, sizeof n);
    if (ptx_parse("bench.ptx", str_of(gemm), &m, &ds) != ST_OK ||
        launch_data_make(&l, 1u << 30, &d, &ds) != ST_OK)
        return;
    struct ana_opts o = { .data = &d };
    int64_t t = base_now_ns();
    enum status st = ana_trace(m, str_of(""), &o, 128, 8, 0, 1, count, &lines, &ds);
    double s = (double)(base_now_ns() - t) / 1e9;
    printf("analysis trace of gemm n=256: %s, %llu line requests, %.2f million per second\n",
           status_text(st), (unsigned long long)lines, (double)lines / s / 1e6);
    struct ana_curve *c = NULL;
    t = base_now_ns();
    if (ana_curve_make(m, str_of(""), &o, &c, &ds) == ST_OK)
        printf("analysis curve of gemm n=256: %llu line requests in every cache size, %.2f million per "
               "second\n",
               (unsigned long long)c->requests,
               (double)c->requests / ((double)(base_now_ns() - t) / 1e9) / 1e6);
    ana_curve_free(c);
    launch_data_free(&d);
    ptx_free(m);
}
int main(void)
{
    run("stream", stream, (struct dim3u){ 1u << 22, 1, 1 }, (struct dim3u){ 256, 1, 1 }, 2, 1000000001);
    run("gemm", gemm, (struct dim3u){ 1024, 4096, 1 }, (struct dim3u){ 32, 8, 1 }, 3, 32768);
    run("gemm", gemm, (struct dim3u){ 8, 32, 1 }, (struct dim3u){ 32, 8, 1 }, 3, 256);
    trace();
    return 0;
}
