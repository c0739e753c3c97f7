/* What the simulated device has to refuse by name before a launch: textures and surfaces. */
#define K extern "C" __global__ void
K x_texture(cudaTextureObject_t t, float *out, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * w + x] = tex2D<float>(t, x + 0.5f, y + 0.5f) + tex1Dfetch<float>(t, x);
}
K x_surface(cudaSurfaceObject_t s, float *out, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float v;
    surf2Dread(&v, s, x * 4, 0);
    surf2Dwrite(v * 2, s, x * 4, 1);
    out[x] = v;
}
K x_grid_size(int *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = gridDim.x; }
