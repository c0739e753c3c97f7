#include "tests/emulate/program.h"

/* Memory in the order of streams, rows with a pitch, several threads at once. */
#include <pthread.h>
static char stub;

static void *work(void *ctx)
{
    enum { N = 700 };
    unsigned h[N] = { 0 }, *d, k = (unsigned)(uintptr_t)ctx;
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    for (int i = 0; i < 20; i++) {
        OK(cudaMallocAsync((void **)&d, sizeof h, s));
        OK(cudaMemcpyAsync(d, h, sizeof h, 1, s));
        OK(add(&stub, d, d, k, N, s));
        OK(cudaMemcpyAsync(h, d, sizeof h, 2, s));
        OK(cudaFreeAsync(d, s));
    }
    OK(cudaStreamSynchronize(s));
    NEED(h[0] == 20 * k && h[N - 1] == 20 * k);
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    char h[3][100], *p;
    size_t pitch;
    kernel(load(ADD_PTX), &stub, "add");
    for (uintptr_t i = 0; i < 4; i++)
        NEED(pthread_create(&t[i], NULL, work, (void *)(i + 1)) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    OK(cudaMallocPitch((void **)&p, &pitch, 100, 3));
    NEED(pitch >= 100 && pitch % 32 == 0);
    memset(h, 'x', sizeof h);
    OK(cudaMemcpy2D(p, pitch, h, 100, 100, 3, 1));
    memset(h, 0, sizeof h);
    OK(cudaMemcpy2D(h, 100, p, pitch, 100, 3, 2));
    NEED(h[2][99] == 'x' && h[0][0] == 'x');
    NEED(cudaMemcpy2D(h, 50, p, pitch, 100, 3, 2) == cudaErrorInvalidPitchValue);
    pass();
    return 0;
}
