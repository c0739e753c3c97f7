#include "tests/emulate/program.h"

/* Streams and events keep the order of the calls; host functions run between. */
static unsigned *device, seen;

static void look(void *data)
{
    unsigned *to = data;
    *to = ++seen;
}

int main(void)
{
    enum { N = 1000 };
    static unsigned h[N];
    static char stub;
    unsigned first = 0, second = 0;
    cudaStream_t s, t;
    cudaEvent_t a, b;
    float ms = -1;
    kernel(load(ADD_PTX), &stub, "add");
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&t));
    OK(cudaEventCreate(&a));
    OK(cudaEventCreate(&b));
    OK(cudaMalloc((void **)&device, sizeof h));
    NEED(cudaEventElapsedTime(&ms, a, b) == cudaErrorInvalidResourceHandle);
    OK(cudaMemcpyAsync(device, h, sizeof h, 1, s));
    OK(cudaEventRecord(a, s));
    for (int i = 0; i < 50; i++)
        OK(add(&stub, device, device, 1, N, i % 2 ? s : t));
    OK(cudaLaunchHostFunc(s, look, &first));
    OK(cudaEventRecord(b, s));
    OK(cudaStreamWaitEvent(t, b, 0));
    OK(cudaLaunchHostFunc(t, look, &second));
    OK(cudaMemcpyAsync(h, device, sizeof h, 2, t));
    OK(cudaStreamSynchronize(t));
    NEED(first == 1 && second == 2 && h[0] == 50 && h[N - 1] == 50);
    OK(cudaEventSynchronize(b));
    OK(cudaEventElapsedTime(&ms, a, b));
    NEED(ms > 0 && ms < 60000);
    OK(cudaStreamDestroy(s));
    NEED(cudaStreamSynchronize(s) == cudaErrorInvalidResourceHandle);
    pass();
    return 0;
}
