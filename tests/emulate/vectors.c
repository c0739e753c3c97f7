#include "tests/emulate/program.h"

/* Copies there and back around launches; what is not copied stays. */
int main(int argc, char **argv)
{
    enum { N = 5000 };
    static unsigned a[N], b[N];
    static char stub;
    unsigned *da, *db;
    kernel(load(ADD_PTX), &stub, "add");
    for (unsigned i = 0; i < N; i++)
        a[i] = 3 * i;
    OK(cudaMalloc((void **)&da, sizeof a));
    OK(cudaMalloc((void **)&db, sizeof b));
    OK(cudaMemcpy(da, a, sizeof a, 1));
    OK(add(&stub, da, db, 7, N, NULL));
    OK(add(&stub, db, db, 1, N, NULL));
    OK(cudaMemcpy(b, db, sizeof b, 2));
    for (unsigned i = 0; i < N; i++)
        NEED(b[i] == 3 * i + 8);
    OK(cudaMemset(db + 10, 0xff, 8));
    OK(cudaMemcpy(b, db + 9, 16, 2));
    NEED(b[0] == 35 && b[1] == 0xffffffff && b[2] == 0xffffffff && b[3] == 44);
    NEED(cudaMemcpy(b, da, sizeof a + 4, 2) == cudaErrorInvalidValue); /* past the end */
    NEED(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == 0);
    OK(cudaFree(da));
    NEED(cudaFree(da) == cudaErrorInvalidValue);
    pass();
    return argc > 1 ? atoi(argv[1]) : 0;
}
