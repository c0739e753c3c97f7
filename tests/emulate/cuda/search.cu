#include "check.h"
#include <queue>
__global__ void level(int n, const int *row, const int *col, int *dist, int now, int *more)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || dist[v] != now)
        return;
    for (int k = row[v]; k < row[v + 1]; k++)
        if (atomicCAS(&dist[col[k]], -1, now + 1) == -1)
            *more = 1;
}
int main()
{
    const int n = 1000;
    std::vector<int> row(1), col, dist(n, -1), want(n, -1);
    for (int v = 0; v < n; v++) {
        for (int k = 1; k <= 3; k++)
            col.push_back((v * k + 17 * k) % n);
        row.push_back((int)col.size());
    }
    std::queue<int> q;
    for (q.push(0), want[0] = 0; !q.empty(); q.pop())
        for (int k = row[q.front()]; k < row[q.front() + 1]; k++)
            if (want[col[k]] < 0)
                want[col[k]] = want[q.front()] + 1, q.push(col[k]);
    int *dr, *dc, *dd, *more, go = 1;
    OK(cudaMalloc(&dr, row.size() * 4));
    OK(cudaMalloc(&dc, col.size() * 4));
    OK(cudaMalloc(&dd, n * 4));
    OK(cudaMallocManaged(&more, 4));
    dist[0] = 0;
    OK(cudaMemcpy(dr, row.data(), row.size() * 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dc, col.data(), col.size() * 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dd, dist.data(), n * 4, cudaMemcpyHostToDevice));
    for (int now = 0; go; now++) {
        *more = 0;
        level<<<(n + 255) / 256, 256>>>(n, dr, dc, dd, now, more);
        OK(cudaDeviceSynchronize());
        go = *more;
    }
    OK(cudaMemcpy(dist.data(), dd, n * 4, cudaMemcpyDeviceToHost));
    NEED(dist == want);
    return PASS;
}
