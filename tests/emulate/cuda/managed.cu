#include "check.h"
__managed__ int total;
__managed__ float weights[16] = { 1, 2, 3 };
struct list {
    int value;
    list *next;
};
__global__ void sum(const list *l)
{
    for (; l; l = l->next)
        total += l->value * (int)weights[1];
}
int main()
{
    list *head = nullptr;
    for (int i = 1; i <= 20; i++) {
        list *k;
        OK(cudaMallocManaged(&k, sizeof *k));
        *k = { i, head };
        head = k;
    }
    NEED(weights[2] == 3 && total == 0);
    weights[1] = 10;
    sum<<<1, 1>>>(head);
    OK(cudaDeviceSynchronize());
    NEED(total == 2100);
    int device;
    OK(cudaGetDevice(&device));
    OK(cudaMemset(head, 0, sizeof *head));
    NEED(head->value == 0 && head->next == nullptr);
    return PASS;
}
