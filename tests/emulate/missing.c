#include "tests/emulate/program.h"

/* Code for other GPUs only, damaged code, calls that are not there: errors, and the program goes on. */
int main(void)
{
    static char no_ptx, damaged, fine, twin;
    char handle[64];
    kernel(load_kind("\177ELF", 2), &no_ptx, "add");
    kernel(load(PTX_HEAD ".visible .entry add( {"), &damaged, "add");
    kernel(load(ADD_PTX), &fine, "add");
    kernel(load(PTX_HEAD ".visible .entry add(.param .u64 a) {\n" PTX_REGS
                         "ld.param.u64 %rd1, [a]; st.global.u32 [%rd1], 77; ret; }\n"),
           &twin, "add");
    NEED(launch(&no_ptx, 1, 1, NULL, NULL) == 209);
    NEED(launch(&damaged, 1, 1, NULL, NULL) == 218);
    unsigned *d, h = 0;
    OK(cudaMalloc((void **)&d, 4));
    OK(add(&fine, d, d, 3, 1, NULL));
    OK(cudaMemcpy(&h, d, 4, 2));
    NEED(h == 3);
    void *args[] = { &d };
    OK(launch(&twin, 1, 1, args, NULL)); /* the same name in another module */
    OK(cudaMemcpy(&h, d, 4, 2));
    NEED(h == 77);
    for (int i = 0; i < 3; i++)
        NEED(cudaIpcGetMemHandle(handle, d) == cudaErrorNotSupported);
    pass();
    return 0;
}
