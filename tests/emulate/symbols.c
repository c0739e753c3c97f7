#include "tests/emulate/program.h"

/* Variables of a module stay from launch to launch, and from one kernel to another. */
static const char text[] = PTX_HEAD
    ".visible .const .align 4 .u32 by = 5;\n.visible .global .align 4 .u32 count = 100;\n"
    ".visible .global .align 8 .u64 where = generic(count);\n"
    ".visible .entry bump() {\n" PTX_REGS
    "ld.const.u32 %r1, [by]; atom.global.add.u32 %r2, [count], %r1; ret; }\n"
    ".visible .entry twice() {\n" PTX_REGS "ld.global.u64 %rd1, [where]; ld.u32 %r1, [%rd1]; add.u32 "
    "%r1, %r1, %r1; st.u32 [%rd1], %r1; ret; }\n";

int main(void)
{
    static char bump, twice, by, count, other;
    unsigned v = 0, seven = 7;
    size_t n = 0;
    void *p = NULL;
    void **m = load(text);
    kernel(m, &bump, "bump");
    kernel(m, &twice, "twice");
    __cudaRegisterVar(m, &by, &by, "by", 0, 4, 1, 0);
    __cudaRegisterVar(m, &count, &count, "count", 0, 4, 0, 0);
    OK(launch(&bump, 2, 1, NULL, NULL));
    OK(cudaMemcpyFromSymbol(&v, &count, 4, 0, 2));
    NEED(v == 110);
    OK(cudaMemcpyToSymbol(&by, &seven, 4, 0, 1));
    OK(launch(&bump, 1, 1, NULL, NULL));
    OK(launch(&twice, 1, 1, NULL, NULL));
    OK(cudaMemcpyFromSymbol(&v, &count, 4, 0, 2));
    NEED(v == 234);
    OK(cudaGetSymbolAddress(&p, &count));
    OK(cudaGetSymbolSize(&n, &count));
    NEED(n == 4);
    OK(cudaMemcpy(p, &seven, 4, 1));
    OK(launch(&twice, 1, 1, NULL, NULL));
    OK(cudaMemcpy(&v, p, 4, 2));
    NEED(v == 14);
    NEED(cudaMemcpyToSymbol(&other, &v, 4, 0, 1) == cudaErrorInvalidSymbol);
    NEED(cudaMemcpyToSymbol(&count, &v, 4, 4, 1) == cudaErrorInvalidValue);
    pass();
    return 0;
}
