/* One step of heat through a chip: a CTA of 16x16 threads keeps its part of the temperatures in shared
 * memory and writes the 14x14 of them whose neighbours it has. CTAs share the rows and columns between
 * them: a halo that does not start at a line. */
#define B 16
extern "C" __global__ void hotspot(const float *temp, const float *power, float *next, int nx, int ny, float rx, float ry, float rz, float step, float ambient)
{
    __shared__ float t[B][B];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * (B - 2) + tx - 1, y = blockIdx.y * (B - 2) + ty - 1;
    int at = min(max(y, 0), ny - 1) * nx + min(max(x, 0), nx - 1);
    t[ty][tx] = temp[at];
    float p = power[at];
    __syncthreads();
    if (tx == 0 || tx == B - 1 || ty == 0 || ty == B - 1 || x >= nx || y >= ny)
        return;
    float c = t[ty][tx];
    float heat = fmaf(ry, fmaf(-2.0f, c, t[ty - 1][tx] + t[ty + 1][tx]), p);
    heat = fmaf(rx, fmaf(-2.0f, c, t[ty][tx - 1] + t[ty][tx + 1]), heat);
    heat = fmaf(rz, ambient - c, heat);
    next[at] = fmaf(step, heat, c);
}
