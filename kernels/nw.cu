/* Alignment of two sequences by dynamic programming: one diagonal of 16 by 16 tiles per launch, one tile
 * per CTA. A tile reads the last row and column of its neighbours and is filled along its own diagonals;
 * scores are read and written in one array, tiles of neighbouring CTAs within a line. */
#define T 16
extern "C" __global__ void nw(const int *likeness, int *score, int cols, int penalty, int diagonal)
{
    __shared__ int s[T + 1][T + 1], l[T][T];
    int t = threadIdx.x, bx = blockIdx.x, by = diagonal - bx;
    int at = (by * T + 1) * cols + bx * T + 1;
    for (int y = 0; y < T; y++)
        l[y][t] = likeness[at + y * cols + t];
    s[t + 1][0] = score[at + t * cols - 1];
    s[0][t + 1] = score[at - cols + t];
    if (t == 0)
        s[0][0] = score[at - cols - 1];
    __syncthreads();
    for (int d = 0; d < 2 * T - 1; d++) {
        int y = d - t;
        if (y >= 0 && y < T) {
            int best = s[y][t] + l[y][t], up = s[y][t + 1] - penalty, left = s[y + 1][t] - penalty;
            best = best > up ? best : up;
            s[y + 1][t + 1] = best > left ? best : left;
        }
        __syncthreads();
    }
    for (int y = 0; y < T; y++)
        score[at + y * cols + t] = s[y + 1][t + 1];
}
