#include "tests/emulate/driver.h"

/* Arrays, textures and surfaces of the driver. With -DWITH_CUDA_H it runs on a GPU, too. */
enum { VALUE = 1, HANDLE = 400, ON_HOST = 1, ON_DEVICE = 2, IN_ARRAY = 3, U8 = 1, F32 = 0x20 };
enum { W = 16, H = 8, D = 3, ROW = 4 * W };

/* out[thread] of a texel: between others, an integer, as a share; and 2 * x + y into a surface. */
static const char text[] = PTX_HEAD
    ".visible .entry fetch(.param .u64 t, .param .u64 out, .param .f32 y) {\n" PTX_REGS
    "ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [out]; ld.param.f32 %f2, [y]; mov.u32 %r1, %tid.x;\n"
    "cvt.rn.f32.u32 %f1, %r1; tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];\n"
    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; st.global.f32 [%rd4], %f3; ret; }\n"
    ".visible .entry bits(.param .u64 t, .param .u64 out) {\n" PTX_REGS
    "ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n"
    "tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];\n"
    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], %r2; ret; }\n"
    ".visible .entry share(.param .u64 t, .param .u64 out) {\n" PTX_REGS
    "ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n"
    "tex.1d.v4.f32.s32 {%f2, %f3, %f4, %f5}, [%rd1, {%r1}];\n"
    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; st.global.f32 [%rd4], %f2; ret; }\n"
    ".visible .entry draw(.param .u64 s) {\n" PTX_REGS
    "ld.param.u64 %rd1, [s]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; shl.b32 %r3, %r1, 2;\n"
    "shl.b32 %r4, %r1, 1; add.s32 %r5, %r4, %r2; cvt.rn.f32.u32 %f1, %r5; mov.b32 %r6, %f1;\n"
    "sust.b.2d.b32.trap [%rd1, {%r3, %r2}], {%r6}; ret; }\n";
static CUmodule mod;
static float in[D][H][W], out[D][H][W];
static CUdeviceptr d;

static void run(const char *name, unsigned ctas, unsigned threads, void **args)
{
    CUfunction f;
    OK(cuModuleGetFunction(&f, mod, name));
    OK(cuLaunchKernel(f, ctas, 1, 1, threads, 1, 1, 0, NULL, args, NULL));
}

static CUarray flat_array(void)
{
    const CUDA_ARRAY_DESCRIPTOR want = { W, H, F32, 1 };
    CUDA_ARRAY_DESCRIPTOR is;
    CUarray a;
    OK(cuArrayCreate(&a, &want));
    OK(cuArrayGetDescriptor(&is, a));
    NEED(is.Width == W && is.Height == H && is.Format == F32 && is.NumChannels == 1);
    return a;
}

static CUDA_MEMCPY2D to_array(CUarray a, size_t x, size_t y, size_t width, size_t height)
{
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = ON_HOST, c.srcHost = in, c.srcPitch = ROW, c.srcXInBytes = x, c.srcY = y;
    c.dstMemoryType = IN_ARRAY, c.dstArray = a, c.dstXInBytes = x, c.dstY = y;
    c.WidthInBytes = width, c.Height = height;
    return c;
}

static void copies(void)
{
    CUarray a = flat_array(), b = flat_array();
    CUDA_MEMCPY2D c = to_array(a, 0, 0, ROW, H);
    OK(cuMemcpy2D(&c));
    memset(&c, 0, sizeof c);
    c.srcMemoryType = IN_ARRAY, c.srcArray = a, c.srcXInBytes = 8, c.srcY = 2;
    c.dstMemoryType = IN_ARRAY, c.dstArray = b, c.dstXInBytes = 4, c.dstY = 1;
    c.WidthInBytes = 12, c.Height = 3;
    OK(cuMemcpy2D(&c));
    c.srcArray = b, c.srcXInBytes = 4, c.srcY = 1;
    c.dstMemoryType = ON_DEVICE, c.dstDevice = d, c.dstPitch = 512, c.dstXInBytes = 0, c.dstY = 0;
    OK(cuMemcpy2D(&c));
    OK(cuMemcpyDtoH(out, d + 2 * 512, 12));
    NEED(memcmp(out, &in[0][4][2], 12) == 0);
    IS(VALUE, cuMemcpyAtoH(out, a, ROW + 4, 8)); /* of the first row alone */
    IS(VALUE, cuMemcpyAtoA(b, 0, a, ROW, ROW));
    OK(cuMemcpyAtoH(out, a, 4, 8));
    NEED(memcmp(out, &in[0][0][1], 8) == 0);
    OK(cuMemcpyAtoA(b, 0, a, 0, ROW));
    OK(cuMemcpyAtoD(d, b, 0, ROW));
    OK(cuMemcpyDtoA(b, 0, d, ROW / 2));
    OK(cuMemcpyHtoA(b, ROW / 2, in, ROW / 2));
    OK(cuMemcpyAtoH(out, b, 0, ROW));
    NEED(memcmp(out, &in[0][0], ROW / 2) == 0 && memcmp(&out[0][0][W / 2], in, ROW / 2) == 0);
    c = to_array(a, ROW - 4, 0, 8, 1);
    IS(VALUE, cuMemcpy2D(&c));
    c = to_array(a, 0, H - 1, ROW, 2);
    IS(VALUE, cuMemcpy2D(&c));
    c = to_array(a, SIZE_MAX - 4, 0, 8, 1);
    IS(VALUE, cuMemcpy2D(&c));
    IS(VALUE, cuMemcpyHtoA(a, SIZE_MAX - 3, in, 8));
    OK(cuArrayDestroy(b));
    OK(cuArrayDestroy(a));
    if (emulated()) { /* a driver need not notice */
        CUDA_ARRAY_DESCRIPTOR is;
        c = to_array(a, 0, 0, ROW, H);
        IS(HANDLE, cuMemcpy2D(&c));
        IS(HANDLE, cuArrayDestroy(a));
        IS(HANDLE, cuArrayGetDescriptor(&is, (CUarray)(void *)&c));
    }
}

static void in_three(void)
{
    const CUDA_ARRAY3D_DESCRIPTOR want = { W, H, D, F32, 1, 0 };
    CUDA_ARRAY3D_DESCRIPTOR is, bad = want;
    CUDA_MEMCPY3D c;
    CUarray a;
    CUgraph g;
    CUgraphNode n;
    CUgraphExec x;
    CUcontext now;
    OK(cuArray3DCreate(&a, &want));
    OK(cuArray3DGetDescriptor(&is, a));
    NEED(is.Depth == D && is.Height == H && is.Flags == 0);
    memset(&c, 0, sizeof c);
    c.srcMemoryType = ON_HOST, c.srcHost = in, c.srcPitch = ROW, c.srcHeight = H;
    c.dstMemoryType = IN_ARRAY, c.dstArray = a;
    c.WidthInBytes = ROW, c.Height = H, c.Depth = D;
    OK(cuMemcpy3D(&c));
    memset(&c, 0, sizeof c);
    c.srcMemoryType = IN_ARRAY, c.srcArray = a, c.srcXInBytes = 4, c.srcY = 1, c.srcZ = 1;
    c.dstMemoryType = ON_HOST, c.dstHost = out, c.dstPitch = ROW, c.dstHeight = H;
    c.WidthInBytes = ROW - 4, c.Height = H - 1, c.Depth = D - 1;
    OK(cuCtxGetCurrent(&now));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddMemcpyNode(&n, g, NULL, 0, &c, now));
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphLaunch(x, NULL));
    OK(cuCtxSynchronize());
    NEED(out[0][0][0] == in[1][1][1] && out[D - 2][H - 2][W - 2] == in[D - 1][H - 1][W - 1]);
    c.Depth = D;
    IS(VALUE, cuMemcpy3D(&c));
    bad.NumChannels = 3;
    IS(VALUE, cuArray3DCreate(&a, &bad));
    bad = want, bad.Format = 99;
    IS(VALUE, cuArray3DCreate(&a, &bad));
    bad = want, bad.Width = SIZE_MAX;
    IS(VALUE, cuArray3DCreate(&a, &bad));
    bad = want, bad.Width = 0;
    IS(VALUE, cuArray3DCreate(&a, &bad));
    IS(VALUE, cuArray3DCreate(&a, NULL));
    IS(VALUE, cuArray3DCreate(NULL, &want));
}

static void textures(void)
{
    CUDA_RESOURCE_DESC r, was;
    CUDA_TEXTURE_DESC how, is;
    CUtexObject t;
    CUarray a = flat_array();
    CUDA_MEMCPY2D c = to_array(a, 0, 0, ROW, H);
    float y = 2.5f;
    unsigned v[W];
    unsigned char bytes[W];
    void *args[] = { &t, &d, &y };
    OK(cuMemcpy2D(&c));
    memset(&r, 0, sizeof r);
    memset(&how, 0, sizeof how);
    r.res.array.hArray = a;
    how.addressMode[0] = how.addressMode[1] = 1, how.filterMode = 1;
    OK(cuTexObjectCreate(&t, &r, &how, NULL));
    OK(cuTexObjectGetResourceDesc(&was, t));
    OK(cuTexObjectGetTextureDesc(&is, t));
    NEED(was.resType == 0 && was.res.array.hArray == a && is.filterMode == 1 && is.addressMode[1] == 1);
    run("fetch", 1, W, args);
    OK(cuMemcpyDtoH(out, d, ROW));
    NEED(out[0][0][0] == in[0][2][0] && out[0][0][5] == (in[0][2][4] + in[0][2][5]) / 2);
    OK(cuTexObjectDestroy(t));
    if (emulated()) /* a driver need not notice */
        IS(VALUE, cuTexObjectDestroy(t));
    r.resType = 3;
    r.res.pitch2D.devPtr = d + 4096, r.res.pitch2D.format = F32, r.res.pitch2D.numChannels = 1;
    r.res.pitch2D.width = W, r.res.pitch2D.height = H, r.res.pitch2D.pitchInBytes = 512;
    OK(cuMemsetD2D8(d + 4096, 512, 0, ROW, H));
    OK(cuMemcpyHtoD(d + 4096 + 2 * 512, in[0][7], ROW));
    how.filterMode = 0;
    OK(cuTexObjectCreate(&t, &r, &how, NULL));
    run("fetch", 1, W, args);
    OK(cuMemcpyDtoH(out, d, ROW));
    NEED(memcmp(out, in[0][7], ROW) == 0);
    OK(cuTexObjectDestroy(t));
    for (int i = 0; i < W; i++)
        bytes[i] = (unsigned char)(255 - i);
    OK(cuMemcpyHtoD(d + 8192, bytes, W));
    memset(&r, 0, sizeof r);
    r.resType = 2;
    r.res.linear.devPtr = d + 8192, r.res.linear.format = U8, r.res.linear.numChannels = 1;
    r.res.linear.sizeInBytes = W;
    how.flags = 1; /* integers as they are */
    OK(cuTexObjectCreate(&t, &r, &how, NULL));
    run("bits", 1, W, args);
    OK(cuMemcpyDtoH(v, d, sizeof v));
    NEED(v[0] == 255 && v[W - 1] == 255 - (W - 1));
    how.flags = 0; /* as fractions of 255 */
    OK(cuTexObjectCreate(&t, &r, &how, NULL));
    run("share", 1, W, args);
    OK(cuMemcpyDtoH(out, d, ROW));
    NEED(out[0][0][0] == 1.0f && out[0][0][W - 1] > 0.94f && out[0][0][W - 1] < 0.9413f);
    r.res.linear.format = 7;
    IS(VALUE, cuTexObjectCreate(&t, &r, &how, NULL));
    r.resType = 9;
    IS(VALUE, cuTexObjectCreate(&t, &r, &how, NULL));
    IS(VALUE, cuTexObjectCreate(&t, NULL, &how, NULL));
}

static void surfaces(void)
{
    const CUDA_ARRAY3D_DESCRIPTOR want = { W, H, 0, F32, 1, 2 };
    CUDA_RESOURCE_DESC r;
    CUarray a;
    CUsurfObject s;
    void *args[] = { &s };
    OK(cuArray3DCreate(&a, &want));
    memset(&r, 0, sizeof r);
    r.res.array.hArray = a;
    OK(cuSurfObjectCreate(&s, &r));
    run("draw", H, W, args);
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = IN_ARRAY, c.srcArray = a, c.srcY = 3;
    c.dstMemoryType = ON_HOST, c.dstHost = out, c.WidthInBytes = ROW, c.Height = 1;
    OK(cuMemcpy2D(&c));
    for (int i = 0; i < W; i++)
        NEED(out[0][0][i] == (float)(2 * i + 3));
    OK(cuSurfObjectDestroy(s));
    OK(cuArrayDestroy(a));
    if (emulated()) {                      /* a driver need not notice */
        r.res.array.hArray = flat_array(); /* was not made for it */
        IS(VALUE, cuSurfObjectCreate(&s, &r));
    }
}

int main(void)
{
    CUcontext c;
    for (int i = 0; i < D * H * W; i++)
        in[i / (H * W)][i / W % H][i % W] = (float)i;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&c, 0));
    OK(cuCtxSetCurrent(c));
    OK(cuModuleLoadData(&mod, text));
    OK(cuMemAlloc(&d, 65536));
    copies();
    in_three();
    textures();
    surfaces();
    OK(cuDevicePrimaryCtxReset(0));
    pass();
    return 0;
}
