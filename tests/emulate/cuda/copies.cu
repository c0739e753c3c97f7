#include "check.h"
int main()
{
    const int w = 37, h = 9;
    std::vector<unsigned char> a(w * h), b(w * h), c(w * h * 2);
    for (int i = 0; i < w * h; i++)
        a[i] = (unsigned char)(i * 11);
    unsigned char *p, *q;
    size_t pp, qp;
    OK(cudaMallocPitch(&p, &pp, w, h));
    OK(cudaMallocPitch(&q, &qp, w, h));
    OK(cudaMemcpy2D(p, pp, a.data(), w, w, h, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(q, qp, p, pp, w, h, cudaMemcpyDeviceToDevice));
    OK(cudaMemset2D(q + 3 * qp, qp, 0xee, 5, 2));
    OK(cudaMemcpy2D(b.data(), w, q, qp, w, h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < w * h; i++)
        NEED(b[i] == ((i / w == 3 || i / w == 4) && i % w < 5 ? 0xee : a[i]));
    OK(cudaMemcpy(c.data(), a.data(), w * h, cudaMemcpyHostToHost));
    NEED(c[100] == a[100]);
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    OK(cudaMemset2DAsync(p, pp, 1, w, h, s));
    OK(cudaMemcpy2DAsync(c.data(), 2 * w, p, pp, w, h, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    NEED(c[2 * w * 8 + w - 1] == 1);
    cudaPitchedPtr v;
    OK(cudaMalloc3D(&v, make_cudaExtent(10, 4, 3)));
    OK(cudaMemset3D(v, 7, make_cudaExtent(10, 4, 3)));
    OK(cudaMemcpy(c.data(), (char *)v.ptr + v.pitch * 11, 10, cudaMemcpyDeviceToHost));
    NEED(c[9] == 7);
    NEED(cudaMemcpy(c.data(), p, pp * h + 1, cudaMemcpyDeviceToHost) != cudaSuccess);
    NEED(cudaMemcpy(p, nullptr, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    return PASS;
}
