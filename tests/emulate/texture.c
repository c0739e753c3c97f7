#include "tests/emulate/program.h"

/* A texture of an array: linear filter, coordinates that are clamped. */
static const char text[] =
    PTX_HEAD ".visible .entry fetch(.param .u64 t, .param .u64 out) {\n" PTX_REGS
             "ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 "
             "%f1, %r1; mov.f32 %f2, 0f3F800000;\n"
             "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];\n"
             "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; st.global.f32 [%rd4], %f3; ret; }\n";

int main(void)
{
    enum { W = 8, H = 2 };
    static char stub;
    const struct cudaChannelFormatDesc f = { 32, 0, 0, 0, 2 };
    float h[H][W], out[W];
    float *d;
    cudaArray_t a;
    cudaTextureObject_t t;
    kernel(load(text), &stub, "fetch");
    for (int i = 0; i < H * W; i++)
        h[i / W][i % W] = (float)i;
    OK(cudaMallocArray(&a, &f, W, H, 0));
    OK(cudaMemcpy2DToArray(a, 0, 0, h, sizeof *h, sizeof *h, H, 1));
    struct cudaResourceDesc r = { .resType = ResourceArray, .res.array = a };
    struct cudaTextureDesc how = { .addressMode = { 1, 1, 1 }, .filterMode = 1 };
    OK(cudaCreateTextureObject(&t, &r, &how, NULL));
    OK(cudaMalloc((void **)&d, sizeof out));
    void *args[] = { &t, &d };
    OK(launch(&stub, 1, W, args, NULL));
    OK(cudaMemcpy(out, d, sizeof out, 2));
    NEED(out[0] == 4 && out[1] == 4.5f && out[7] == 10.5f); /* between two rows, and two columns */
    pass();
    return 0;
}
