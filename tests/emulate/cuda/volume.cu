#include "check.h"
__global__ void blur(cudaPitchedPtr p, float *out, int w, int h, int d)
{
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    const float *row = (const float *)((char *)p.ptr + (z * h + y) * p.pitch);
    out[(z * h + y) * w + x] = row[x] + (x ? row[x - 1] : 0);
}
__global__ void layers(cudaTextureObject_t t, float *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = tex3D<float>(t, threadIdx.x, 1, blockIdx.x);
}
int main()
{
    const int w = 20, h = 6, d = 4;
    std::vector<float> in(w * h * d), r(w * h * d);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = float(i % 23);
    cudaPitchedPtr p;
    OK(cudaMalloc3D(&p, make_cudaExtent(w * 4, h, d)));
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr(in.data(), w * 4, w, h);
    c.dstPtr = p;
    c.extent = make_cudaExtent(w * 4, h, d);
    c.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&c));
    float *out;
    OK(cudaMalloc(&out, in.size() * 4));
    blur<<<dim3(h, d), w>>>(p, out, w, h, d);
    OK(cudaMemcpy(r.data(), out, r.size() * 4, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < in.size(); i++)
        NEED(r[i] == in[i] + (i % w ? in[i - 1] : 0));
    cudaArray_t a;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    OK(cudaMalloc3DArray(&a, &f, make_cudaExtent(w, h, d)));
    c = {};
    c.srcPtr = make_cudaPitchedPtr(in.data(), w * 4, w, h);
    c.dstArray = a;
    c.extent = make_cudaExtent(w, h, d);
    c.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&c));
    cudaResourceDesc res = {};
    res.resType = cudaResourceTypeArray;
    res.res.array.array = a;
    cudaTextureDesc t = {};
    cudaTextureObject_t tex;
    OK(cudaCreateTextureObject(&tex, &res, &t, nullptr));
    layers<<<d, w>>>(tex, out);
    OK(cudaMemcpy(r.data(), out, w * d * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < w * d; i++)
        NEED(r[i] == in[(i / w * h + 1) * w + i % w]);
    return PASS;
}
