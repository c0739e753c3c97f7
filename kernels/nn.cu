/* Nearest neighbour: the distance of every record (latitude, longitude) to one place. Streaming. */
extern "C" __global__ void nn(const float2 *place, float *distance, int n, float lat, float lng)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 p = place[i];
    float a = lat - p.x, b = lng - p.y;
    distance[i] = sqrtf(fmaf(a, a, b * b));
}
