#include "tests/emulate/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* 10,000 launches; threads that were there before cuInit; a child that is forked behind it; the library by
 * name, as clients load it. */
enum { N = 256, THREADS = 4, EACH = 50, LAUNCHES = 10000 };
static CUcontext ctx;
static CUfunction fn;
static pthread_barrier_t started;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_to(CUdeviceptr d, CUstream s)
{
    unsigned by = 1, n = N;
    void *args[] = { &d, &d, &by, &n };
    OK(cuLaunchKernel(fn, 2, 1, 1, 128, 1, 1, 0, s, args, NULL));
}

static void *works(void *unused)
{
    static const unsigned none[N];
    unsigned h[N];
    CUdeviceptr d;
    CUstream s;
    CUcontext c;
    pthread_barrier_wait(&started);
    OK(cuCtxGetCurrent(&c));
    NEED(!c);
    OK(cuCtxSetCurrent(ctx));
    OK(cuStreamCreate(&s, 1));
    OK(cuMemAlloc(&d, sizeof h));
    OK(cuMemcpyHtoD(d, none, sizeof h));
    for (int i = 0; i < EACH; i++)
        add_to(d, s);
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(h, d, sizeof h));
    for (int i = 0; i < N; i++)
        NEED(h[i] == EACH);
    OK(cuMemFree(d));
    OK(cuStreamDestroy(s));
    return unused;
}

static void child_is_refused(void)
{
    int status = 1;
    pid_t p = fork();
    if (p == 0) {
        CUdeviceptr d;
        _exit(cuMemAlloc(&d, 4) == 3 && cuInit(0) == 3 ? 0 : 9);
    }
    NEED(p > 0 && waitpid(p, &status, 0) == p && status == 0);
}

static void by_name(void)
{
    CUresult (*get)(const char *, void **, int, unsigned long long, CUdriverProcAddressQueryResult *);
    CUresult (*count)(int *);
    CUdriverProcAddressQueryResult how;
    void *l = dlopen("libcuda.so.1", RTLD_NOW), *fn_of = NULL;
    int n = 0;
    NEED(l);
    *(void **)&get = dlsym(l, "cuGetProcAddress_v2");
    NEED(get);
    OK(get("cuDeviceGetCount", &fn_of, 12000, 0, &how));
    *(void **)&count = fn_of;
    OK(count(&n)); /* initialised through the other name: one library */
    NEED(n >= 1);
}

int main(void)
{
    pthread_t t[THREADS];
    CUmodule m;
    CUdeviceptr d;
    unsigned h[N];
    double from, begun = now();
    NEED(pthread_barrier_init(&started, NULL, THREADS + 1) == 0);
    for (int i = 0; i < THREADS; i++)
        NEED(pthread_create(&t[i], NULL, works, NULL) == 0);
    OK(cuInit(0));
    printf("start %.0f ms\n", 1e3 * (now() - begun));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    OK(cuModuleLoadData(&m, ADD_PTX));
    OK(cuModuleGetFunction(&fn, m, "add"));
    pthread_barrier_wait(&started);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    by_name();
    OK(cuMemAlloc(&d, sizeof h));
    OK(cuMemsetD32(d, 0, N));
    from = now();
    for (int i = 0; i < LAUNCHES; i++)
        add_to(d, NULL);
    OK(cuCtxSynchronize());
    printf("%d launches %.3f s\n", LAUNCHES, now() - from);
    OK(cuMemcpyDtoH(h, d, sizeof h));
    NEED(h[0] == LAUNCHES && h[N - 1] == LAUNCHES);
    fflush(stdout);
    child_is_refused();
    OK(cuMemFree(d));
    pass();
    return 0;
}
