#include "check.h"
__constant__ float mask[25];
__global__ void convolve(const unsigned char *in, unsigned char *out, int w, int h)
{
    __shared__ unsigned char s[20][20];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int k = threadIdx.y * 16 + threadIdx.x; k < 400; k += 256) {
        int px = min(max((int)blockIdx.x * 16 + k % 20 - 2, 0), w - 1), py = min(max((int)blockIdx.y * 16 + k / 20 - 2, 0), h - 1);
        s[k / 20][k % 20] = in[py * w + px];
    }
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++)
            sum += mask[j * 5 + i] * s[threadIdx.y + j][threadIdx.x + i];
    if (x < w && y < h)
        out[y * w + x] = (unsigned char)sum;
}
int main()
{
    const int w = 70, h = 45;
    std::vector<unsigned char> in(w * h), out(w * h);
    float m[25];
    for (int i = 0; i < w * h; i++)
        in[i] = (unsigned char)(i * i % 253);
    for (int i = 0; i < 25; i++)
        m[i] = (1 + i % 3) / 64.f;
    unsigned char *di, *dout;
    OK(cudaMemcpyToSymbol(mask, m, sizeof m));
    OK(cudaMalloc(&di, w * h));
    OK(cudaMalloc(&dout, w * h));
    OK(cudaMemcpy(di, in.data(), w * h, cudaMemcpyHostToDevice));
    convolve<<<dim3(5, 3), dim3(16, 16)>>>(di, dout, w, h);
    OK(cudaMemcpy(out.data(), dout, w * h, cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float s = 0;
            for (int j = 0; j < 5; j++)
                for (int i = 0; i < 5; i++) {
                    int px = x + i - 2, py = y + j - 2;
                    px = px < 0 ? 0 : px >= w ? w - 1 : px, py = py < 0 ? 0 : py >= h ? h - 1 : py;
                    s += m[j * 5 + i] * in[py * w + px];
                }
            NEED(abs(out[y * w + x] - (int)s) <= 1);
        }
    return PASS;
}
