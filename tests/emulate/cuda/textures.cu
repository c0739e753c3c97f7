#include "check.h"
__global__ void fetch(cudaTextureObject_t t, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = tex2D<float>(t, x + 1.0f, y + 0.5f);
}
__global__ void fetch4(cudaTextureObject_t t, float4 *out)
{
    out[threadIdx.x] = tex1Dfetch<float4>(t, threadIdx.x);
}
__global__ void flip(cudaSurfaceObject_t s, int w)
{
    int x = threadIdx.x, y = blockIdx.x;
    float a = surf2Dread<float>(s, x * 4, y), b = surf2Dread<float>(s, (w - 1 - x) * 4, y);
    __syncthreads();
    if (x < w / 2) {
        surf2Dwrite(b, s, x * 4, y);
        surf2Dwrite(a, s, (w - 1 - x) * 4, y);
    }
}
int main()
{
    const int w = 32, h = 16;
    std::vector<float> in(w * h), out(w * h);
    for (int i = 0; i < w * h; i++)
        in[i] = (i * 37 % 101);
    cudaArray_t a;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    OK(cudaMallocArray(&a, &f, w, h, cudaArraySurfaceLoadStore));
    OK(cudaMemcpy2DToArray(a, 0, 0, in.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaTextureDesc t = {};
    t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp;
    t.filterMode = cudaFilterModeLinear;
    t.readMode = cudaReadModeElementType;
    cudaTextureObject_t tex;
    OK(cudaCreateTextureObject(&tex, &r, &t, nullptr));
    float *d;
    OK(cudaMalloc(&d, w * h * 4));
    fetch<<<dim3(2, 2), dim3(16, 8)>>>(tex, d, w, h);
    OK(cudaMemcpy(out.data(), d, w * h * 4, cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            NEED(fabsf(out[y * w + x] - 0.5f * (in[y * w + x] + in[y * w + (x + 1 < w ? x + 1 : x)])) < 1e-3f);
    cudaSurfaceObject_t s;
    OK(cudaCreateSurfaceObject(&s, &r));
    flip<<<h, w>>>(s, w);
    OK(cudaMemcpy2DFromArray(out.data(), w * 4, a, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < w * h; i++)
        NEED(out[i] == in[i / w * w + (w - 1 - i % w)]);
    r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = d;
    r.res.linear.desc = cudaCreateChannelDesc<float4>();
    r.res.linear.sizeInBytes = w * 4;
    t = {};
    cudaTextureObject_t linear;
    OK(cudaMemcpy(d, in.data(), w * 4, cudaMemcpyHostToDevice));
    OK(cudaCreateTextureObject(&linear, &r, &t, nullptr));
    float4 *q, hq[8];
    OK(cudaMalloc(&q, sizeof hq));
    fetch4<<<1, 8>>>(linear, q);
    OK(cudaMemcpy(hq, q, sizeof hq, cudaMemcpyDeviceToHost));
    NEED(hq[3].z == in[14] && hq[7].w == in[31]);
    OK(cudaDestroyTextureObject(tex));
    OK(cudaDestroySurfaceObject(s));
    OK(cudaFreeArray(a));
    return PASS;
}
