/* All-pairs gravity. Every thread reads every body, all lanes the same one at a
 * time: 16-byte broadcasts that always hit. Bound by arithmetic, so no cache
 * choice matters. Square root and reciprocal are the correctly rounded ones. */
extern "C" __global__ void nbody(const float4 *body, float4 *accel, int n, float soft)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i];
    float ax = 0, ay = 0, az = 0;
#pragma unroll 1
    for (int j = 0; j < n; j++) {
        float4 b = body[j];
        float dx = b.x - me.x, dy = b.y - me.y, dz = b.z - me.z;
        float d2 = dx * dx + dy * dy + dz * dz + soft;
        float inv = 1.0f / sqrtf(d2);
        float s = b.w * inv * inv * inv;
        ax += dx * s;
        ay += dy * s;
        az += dz * s;
    }
    accel[i] = make_float4(ax, ay, az, 0.0f);
}
