#include "tests/emulate/program.h"

/* Managed, pinned and registered memory: the same bytes for program and device; a managed variable. */
static const char text[] =
    PTX_HEAD ".visible .global .attribute(.managed) .align 4 .b8 shared[8] = {1,0,0,0,9,0,0,0};\n"
             ".visible .entry bump() {\n" PTX_REGS
             "ld.global.u32 %r1, [shared]; add.u32 %r1, %r1, 1; st.global.u32 [shared], %r1; ret; }\n";

int main(void)
{
    enum { N = 3000 };
    static char stub, bump;
    static unsigned *shared;
    unsigned *m, *pinned, *own = malloc(N * sizeof *own);
    struct cudaPointerAttributes a;
    kernel(load(ADD_PTX), &stub, "add");
    void **v = load(text);
    kernel(v, &bump, "bump");
    __cudaRegisterManagedVar(v, (void **)&shared, NULL, "shared", 0, 8, 0, 0);
    OK(cudaMallocManaged((void **)&m, N * sizeof *m, 1));
    OK(cudaMallocHost((void **)&pinned, N * sizeof *m));
    for (unsigned i = 0; i < N; i++)
        m[i] = i, own[i] = 2 * i;
    OK(add(&stub, m, pinned, 4, N, NULL));
    OK(cudaDeviceSynchronize());
    NEED(pinned[0] == 4 && pinned[N - 1] == N + 3);
    OK(cudaHostRegister(own, N * sizeof *own, 0));
    NEED(own[N - 1] == 2 * N - 2);
    OK(add(&stub, own, own, 1, N, NULL));
    OK(cudaDeviceSynchronize());
    NEED(own[0] == 1 && own[N - 1] == 2 * N - 1);
    OK(cudaPointerGetAttributes(&a, m));
    NEED(a.type == 3 && a.devicePointer == m && a.hostPointer == m);
    OK(cudaPointerGetAttributes(&a, &stub));
    NEED(a.type == 0);
    __cudaInitModule(v);
    NEED(shared && shared[0] == 1 && shared[1] == 9);
    shared[0] = 41;
    OK(launch(&bump, 1, 1, NULL, NULL));
    OK(cudaDeviceSynchronize());
    NEED(shared[0] == 42);
    OK(cudaFree(m));
    OK(cudaFreeHost(pinned));
    pass();
    return 0;
}
