#include "tests/emulate/program.h"

/* Modules that the program loads from memory by the runtime's calls, and copies from array to array. */
typedef struct image *cudaLibrary_t;
int cudaLibraryLoadData(cudaLibrary_t *l, const void *code, int *option, void **value, unsigned n,
                        int *library_option, void **library_value, unsigned nlibrary);
int cudaLibraryUnload(cudaLibrary_t l),
    cudaLibraryGetKernel(void **k, cudaLibrary_t l, const char *name);
int cudaLibraryGetGlobal(void **p, size_t *n, cudaLibrary_t l, const char *name);
int cudaLibraryGetKernelCount(unsigned *n, cudaLibrary_t l);
int cudaLibraryEnumerateKernels(void **k, unsigned n, cudaLibrary_t l);
int cudaMemcpy2DArrayToArray(cudaArray_t to, size_t x, size_t y, cudaArray_t from, size_t from_x,
                             size_t from_y, size_t w, size_t h, int kind);
int cudaMemcpyArrayToArray(cudaArray_t to, size_t x, size_t y, cudaArray_t from, size_t from_x,
                           size_t from_y, size_t n, int kind);
int cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_t from, size_t x, size_t y, size_t w,
                          size_t h, int kind);
int cudaMemcpy3D(const struct cudaMemcpy3DParms *p);
int cudaDeviceGetP2PAttribute(int *v, int a, int id, int peer);
int cudaDeviceGetTexture1DLinearMaxWidth(size_t *n, const struct cudaChannelFormatDesc *d, int id);
int cudaThreadGetLimit(size_t *n, int what), cudaDeviceGetLimit(size_t *n, int what);

static const char text[] = PTX_HEAD ".visible .global .u32 g = 7;\n"
                                    ".visible .entry k(.param .u64 a) {\n" PTX_REGS
                                    "ld.param.u64 %rd1, [a]; ld.global.u32 %r1, [g]; "
                                    "st.global.u32 [%rd1], %r1; ret; }\n";

static void library(void)
{
    cudaLibrary_t l;
    void *k, *all[2], *g, *d;
    void *args[] = { &d };
    size_t bytes;
    unsigned n, v = 42;
    OK(cudaMalloc(&d, 4));
    OK(cudaLibraryLoadData(&l, text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&k, l, "k"));
    OK(cudaLibraryGetKernelCount(&n, l));
    OK(cudaLibraryEnumerateKernels(all, 2, l));
    NEED(n == 1 && all[0] == k);
    OK(cudaLibraryGetGlobal(&g, &bytes, l, "g"));
    NEED(bytes == 4);
    OK(cudaMemcpy(g, &v, 4, 4));
    OK(launch(k, 1, 1, args, NULL));
    v = 0;
    OK(cudaMemcpy(&v, d, 4, 4));
    NEED(v == 42);
    NEED(cudaLibraryGetKernel(&k, l, "none") == cudaErrorSymbolNotFound);
    NEED(cudaGetLastError() == cudaErrorSymbolNotFound);
    OK(cudaLibraryUnload(l));
    NEED(cudaLibraryGetKernelCount(&n, l) == cudaErrorInvalidResourceHandle);
    NEED(cudaLibraryLoadData(&l, NULL, NULL, NULL, 0, NULL, NULL, 0) == cudaErrorInvalidValue);
}

static void arrays(void)
{
    enum { W = 8, H = 4, ROW = 4 * W };
    const struct cudaChannelFormatDesc f32 = { 32, 0, 0, 0, 2 };
    cudaArray_t a, b;
    float in[W * H], out[W * H] = { 0 };
    for (int i = 0; i < W * H; i++)
        in[i] = (float)i;
    OK(cudaMallocArray(&a, &f32, W, H, 0));
    OK(cudaMallocArray(&b, &f32, W, H, 0));
    OK(cudaMemcpy2DToArray(a, 0, 0, in, ROW, ROW, H, 4));
    OK(cudaMemcpy2DArrayToArray(b, 0, 1, a, 0, 0, ROW, H - 1, 3));
    OK(cudaMemcpy2DFromArray(out, ROW, b, 0, 1, ROW, H - 1, 4));
    NEED(memcmp(in, out, ROW * (H - 1)) == 0);
    OK(cudaMemcpyArrayToArray(b, 0, 0, a, 0, 2, 2 * ROW, 3));
    OK(cudaMemcpy2DFromArray(out, ROW, b, 0, 0, ROW, 2, 4));
    NEED(memcmp(in + 2 * W, out, 2 * ROW) == 0);
    NEED(cudaMemcpy2DArrayToArray(b, 0, 2, a, 0, 0, ROW, H - 1, 3) == cudaErrorInvalidValue);
    NEED(cudaMemcpyArrayToArray(b, 0, 0, a, 4, 0, ROW * H, 3) == cudaErrorInvalidValue);
    NEED(cudaMemcpy2DFromArray(out, ROW, b, (size_t)-4, 0, 8, 1, 4) == cudaErrorInvalidValue);
    struct cudaMemcpy3DParms p = {
        .srcPtr = { in, ROW, W, H }, .dstArray = b, .extent = { W, H + 1, 1 }, .kind = 4
    };
    NEED(cudaMemcpy3D(&p) == cudaErrorInvalidValue);
    p.extent.height = H;
    OK(cudaMemcpy3D(&p));
    OK(cudaMemcpy2DFromArray(out, ROW, b, 0, 0, ROW, H, 4));
    NEED(memcmp(in, out, sizeof in) == 0);
}

/* As many fatbins as a large library registers; each is read only when a kernel of it is asked for. */
static void many(void)
{
    static char stub;
    static unsigned h[4];
    unsigned *d;
    for (int i = 0; i < 5000; i++)
        load("nobody asks for it");
    kernel(load(ADD_PTX), &stub, "add");
    OK(cudaMalloc((void **)&d, sizeof h));
    OK(cudaMemset(d, 0, sizeof h));
    OK(add(&stub, d, d, 6, 4, NULL));
    OK(cudaMemcpy(h, d, sizeof h, 2));
    NEED(h[0] == 6 && h[3] == 6);
    OK(cudaFree(d));
}

int main(void)
{
    const struct cudaChannelFormatDesc f32x4 = { 32, 32, 32, 32, 2 };
    size_t n, m;
    int v;
    library();
    arrays();
    many();
    NEED(cudaDeviceGetP2PAttribute(&v, 2, 0, 0) == cudaErrorInvalidDevice);
    OK(cudaDeviceGetTexture1DLinearMaxWidth(&n, &f32x4, 0));
    NEED(n == 67108864);
    OK(cudaThreadGetLimit(&n, 1));
    OK(cudaDeviceGetLimit(&m, 1));
    NEED(n == m);
    pass();
    return 0;
}
