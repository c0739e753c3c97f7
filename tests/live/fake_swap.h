/* What the fake driver of tests of `apply` offers (fake_swap.c). */
#ifndef GPULOCW_TESTS_LIVE_FAKE_SWAP_H
#define GPULOCW_TESTS_LIVE_FAKE_SWAP_H

#include <stddef.h>
#include <stdint.h>

int cuInit(unsigned flags);
int cuMemAlloc_v2(uint64_t *p, size_t n);
int cuModuleLoadDataEx(void **m, const void *image, unsigned n, int *o, void **v);
int cuModuleGetFunction(void **f, void *m, const char *name);
int cuModuleGetGlobal_v2(uint64_t *p, size_t *n, void *m, const char *name);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **params, void **extra);
int cuLaunchKernelEx(const void *config, void *f, void **params, void **extra);
/* The parameters of a node, as in cuda.h. */
struct fake_node {
    void *f;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kernel, *context;
};
int cuGraphAddKernelNode_v2(void **out, void *graph, void *const *after, size_t n,
                            const struct fake_node *k);
int cuGraphAddNode(void **out, void *graph, void *const *after, size_t n, const void *any);
int fake_capture(int on);
int fake_replay(void);
int fake_blocks(void); /* of memory in use */

#endif
