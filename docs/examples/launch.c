/* Launches from memory: the caller's own arrays, several launches on one simulated device.
 *
 *     cc launch.c $(pkg-config --cflags --libs gpulocw) -o launch && ./launch
 */
#include <gpulocw.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* y[i] += a * x[i] */
static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry axpy(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n)\n{\n"
    "    .reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %d<6>;\n"
    "    ld.param.u64 %d0, [y]; ld.param.u64 %d1, [x]; ld.param.f32 %f0, [a]; ld.param.u32 %r0, [n];\n"
    "    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "    mad.lo.u32 %r4, %r1, %r2, %r3; setp.ge.u32 %p, %r4, %r0; @%p bra DONE;\n"
    "    cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1;\n"
    "    mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d0, %d2; add.u64 %d4, %d1, %d2;\n"
    "    ld.global.f32 %f1, [%d4]; ld.global.f32 %f2, [%d3];\n"
    "    fma.rn.f32 %f3, %f0, %f1, %f2; st.global.f32 [%d3], %f3;\nDONE:\n    ret;\n}\n";

enum { N = 4096 };

/* The parameters as the kernel declares them: y, x, a, n. */
struct params {
    uint64_t y, x;
    float a;
    uint32_t n;
};

static int run(gpulocw *g, float *y, float *x)
{
    gpulocw_device *d = NULL;
    gpulocw_launch l;
    struct params p = { 0, 0, 2.0f, N };
    gpulocw_status s = gpulocw_device_new(g, "sim:ampere-a100", &d);
    int i;
    memset(&l, 0, sizeof l);
    l.size = sizeof l;
    if (s == GPULOCW_DONE)
        s = gpulocw_device_module(d, ptx, sizeof ptx - 1, &l.module);
    if (s == GPULOCW_DONE)
        s = gpulocw_device_lend(d, y, N * sizeof *y, &p.y);
    if (s == GPULOCW_DONE)
        s = gpulocw_device_lend(d, x, N * sizeof *x, &p.x);
    l.flags = GPULOCW_LAUNCH_TIMED;
    l.grid[0] = N / 256;
    l.block[0] = 256;
    l.params = &p;
    l.nparams = sizeof p;
    for (i = 0; i < 3 && s == GPULOCW_DONE; i++) /* each finds what the one before left */
        s = gpulocw_device_launch(d, &l);
    if (s == GPULOCW_DONE)
        printf("y[5] = %g after three launches\n%s", y[5], gpulocw_document(g));
    else
        fprintf(stderr, "status %d: %s\n", (int)s, gpulocw_diagnostics(g));
    gpulocw_device_free(d);
    return s == GPULOCW_DONE ? 0 : 1;
}

int main(void)
{
    gpulocw *g = gpulocw_new();
    float *y = calloc(N, sizeof *y), *x = calloc(N, sizeof *x);
    int i, code = 1;
    for (i = 0; x && i < N; i++)
        x[i] = (float)i;
    if (g && y && x)
        code = run(g, y, x);
    free(x);
    free(y);
    gpulocw_free(g);
    return code;
}
