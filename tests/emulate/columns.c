#include "tests/emulate/program.h"

/* Lanes that are a row apart: what exchanging x and y makes faster. */
#define COLUMNS_PTX                                                                                   \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                                 \
    ".visible .entry columns(.param .u64 out, .param .u64 in, .param .u32 n) {\n"                     \
    ".reg .pred %p<2>; .reg .b32 %r<14>; .reg .b64 %rd<8>;\n"                                         \
    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u32 %r1, [n];\n"                     \
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, "    \
    "%r4;\n"                                                                                          \
    "mov.u32 %r6, %ctaid.y; mov.u32 %r7, %ntid.y; mov.u32 %r8, %tid.y; mad.lo.s32 %r9, %r6, %r7, "    \
    "%r8;\n"                                                                                          \
    "max.u32 %r10, %r5, %r9; setp.ge.u32 %p1, %r10, %r1; @%p1 bra end;\n"                             \
    "mad.lo.s32 %r11, %r5, %r1, %r9; cvta.to.global.u64 %rd3, %rd2; cvta.to.global.u64 %rd4, %rd1;\n" \
    "mul.wide.u32 %rd5, %r11, 4; add.s64 %rd6, %rd3, %rd5; add.s64 %rd7, %rd4, %rd5;\n"               \
    "ld.global.u32 %r12, [%rd6]; add.s32 %r13, %r12, 1; st.global.u32 [%rd7], %r13;\n"                \
    "end: ret;\n}\n"

enum { N = 512 };
static char stub;

static void run(unsigned n)
{
    static unsigned a[N * N], b[N * N];
    unsigned *da, *db, bytes = n * n * 4;
    for (unsigned i = 0; i < n * n; i++)
        a[i] = 7 * i;
    OK(cudaMalloc((void **)&da, bytes));
    OK(cudaMalloc((void **)&db, bytes));
    OK(cudaMemcpy(da, a, bytes, 1));
    void *args[] = { &db, &da, &n };
    OK(cudaLaunchKernel(&stub, (dim3){ n / 32, n / 8, 1 }, (dim3){ 32, 8, 1 }, args, 0, NULL));
    OK(cudaMemcpy(b, db, bytes, 2));
    for (unsigned i = 0; i < n * n; i++)
        NEED(b[i] == 7 * i + 1);
    OK(cudaFree(da));
    OK(cudaFree(db));
}

/* columns [STATUS [SIZE...]]: a launch of each size. */
int main(int argc, char **argv)
{
    kernel(load(COLUMNS_PTX), &stub, "columns");
    for (int i = 2; i < argc; i++)
        run((unsigned)atoi(argv[i]));
    if (argc < 3)
        run(N);
    pass();
    return argc > 1 ? atoi(argv[1]) : 0;
}
