/* Similarity of documents: the cosine of two feature vectors, one pair per thread. Vectors lie one behind
 * the other, so lanes are a vector apart; each is read by all CTAs of a row of pairs. */
extern "C" __global__ void similarityscore(const float *vec, float *score, int docs, int dims)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = t / docs, j = t % docs;
    if (i >= docs)
        return;
    float dot = 0, a = 0, b = 0;
#pragma unroll 1
    for (int k = 0; k < dims; k++) {
        float x = vec[i * dims + k], y = vec[j * dims + k];
        dot = fmaf(x, y, dot);
        a = fmaf(x, x, a);
        b = fmaf(y, y, b);
    }
    score[t] = dot / sqrtf(a * b);
}
