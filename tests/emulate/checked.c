#include "tests/emulate/program.h"

/* A race and a read of memory that nobody wrote: found by --check-memory, unseen by the program. */
static const char text[] =
    PTX_HEAD ".visible .entry meet(.param .u64 a) {\n" PTX_REGS PTX_THREAD
             "ld.param.u64 %rd1, [a]; ld.global.u32 %r5, [%rd1]; add.u32 %r5, %r5, %r4; st.global.u32 "
             "[%rd1], %r5; ret; }\n"
             ".visible .entry fresh(.param .u64 a) {\n" PTX_REGS
             "ld.param.u64 %rd1, [a]; ld.global.u32 %r5, [%rd1+8]; st.global.u32 [%rd1], %r5; ret; }\n";

int main(void)
{
    static char meet, fresh;
    void **m = load(text);
    unsigned *d, h = 1;
    void *args[] = { &d };
    kernel(m, &meet, "meet");
    kernel(m, &fresh, "fresh");
    OK(cudaMalloc((void **)&d, 64));
    OK(cudaMemcpy(d, &h, 4, 1));
    OK(launch(&meet, 2, 32, args, NULL));
    OK(launch(&fresh, 1, 1, args, NULL));
    OK(cudaMemcpy(&h, d, 4, 2));
    NEED(h == 0);
    pass();
    return 0;
}
