#include "tests/emulate/program.h"

/* What a capture of it must not depend on: filling inside a structure, and where variables lie. captured [FILL] */
struct pair {
    unsigned *to;
    unsigned by;
    unsigned char filling[4];
};

int main(int argc, char **argv)
{
    static char stub, first, second;
    static const char text[] = PTX_HEAD
        ".visible .global .align 4 .u32 zeta = 3;\n.visible .global .align 4 .u32 alpha = 4;\n"
        ".visible .entry take(.param .align 8 .b8 s[16]) {\n" PTX_REGS
        "ld.param.u64 %rd1, [s]; ld.param.u32 %r1, [s+8]; ld.global.u32 %r2, [zeta]; ld.global.u32 %r3, "
        "[alpha];\nmad.lo.u32 %r4, %r2, %r3, %r1; st.global.u32 [%rd1], %r4; ret; }\n";
    struct pair s = { .by = 5 };
    unsigned h = 0;
    void *args[] = { &s }, **handle = load(text);
    memset(s.filling, argc > 1 ? atoi(argv[1]) : 0, sizeof s.filling);
    kernel(handle, &stub, "take");
    __cudaRegisterVar(handle, &first, (char *)(uintptr_t) "zeta", "zeta", 0, 4, 0, 0);
    __cudaRegisterVar(handle, &second, (char *)(uintptr_t) "alpha", "alpha", 0, 4, 0, 0);
    OK(cudaMalloc((void **)&s.to, 4));
    OK(launch(&stub, 1, 1, args, NULL));
    OK(cudaMemcpy(&h, s.to, 4, 2));
    IS(17, h);
    pass();
    return 0;
}
