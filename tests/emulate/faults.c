#include "tests/emulate/program.h"

/* What goes wrong on the device is an error of the right number, which stays until the device is reset. */
static const char text[] = PTX_HEAD
    ".visible .entry wild(.param .u64 a) {\n" PTX_REGS
    "ld.param.u64 %rd1, [a]; ld.global.u32 %r1, [%rd1+4096]; st.global.u32 [%rd1], %r1; ret; }\n"
    ".visible .entry odd(.param .u64 a) {\n" PTX_REGS
    "ld.param.u64 %rd1, [a]; st.global.u32 [%rd1+2], 1; ret; }\n"
    ".visible .entry stop(.param .u64 a) {\n trap; ret; }\n"
    ".visible .entry turn(.param .u64 a) {\n" PTX_REGS
    "ld.param.u64 %rd1, [a]; L: ld.volatile.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1; "
    "st.volatile.global.u32 [%rd1], %r1; bra L; }\n";

int main(int argc, char **argv)
{
    static const char *const names[] = { "wild", "odd", "stop", "turn" };
    static const int errors[] = { 700, 716, 719, 702 };
    static char stub[4];
    int which = argc > 1 ? atoi(argv[1]) : 0;
    void *p;
    void *args[] = { &p };
    kernel(load(text), &stub[which], names[which]);
    OK(cudaMalloc(&p, 4096));
    OK(launch(&stub[which], 1, 1, args, NULL));
    if (argc > 2)
        return 0; /* nobody waits: the way out does */
    NEED(cudaDeviceSynchronize() == errors[which]);
    NEED(cudaMemset(p, 0, 4) == errors[which]);
    NEED(cudaPeekAtLastError() == errors[which]);
    printf("%s\n", cudaGetErrorString(errors[which]));
    OK(cudaDeviceReset());
    OK(cudaGetLastError());
    OK(cudaMalloc(&p, 4096));
    OK(cudaMemset(p, 0, 4));
    pass();
    return 0;
}
