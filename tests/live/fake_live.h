/* What the fake driver of tests/live offers; id: number of the driver's call (cupti_driver_cbid.h). */
#ifndef GPULOCW_TESTS_LIVE_FAKE_LIVE_H
#define GPULOCW_TESTS_LIVE_FAKE_LIVE_H

#include <stddef.h>
#include <stdint.h>

int cuInit(unsigned flags);
int fake_load(unsigned id, void **module, const void *image);
int fake_get(unsigned id, void **function, void *module, const char *name);
int fake_launch(unsigned id, void *f, int ctas);
int fake_graph(const char *name, int ctas);
const char *fake_name(const void *function);

/* ---- memory (fake_memory.c) ---- */
enum fake_kind { FAKE_DEVICE, FAKE_HOST, FAKE_MANAGED, FAKE_PEER, FAKE_LOST /* managed, unreadable */ };
uint64_t fake_alloc(uint64_t bytes, int kind);
/* Pieces side by side in a larger range of reserved addresses. */
uint64_t fake_alloc_pieces(uint64_t piece, unsigned pieces);
extern float fake_table[16];
extern int fake_count[4];
void fake_release(void); /* the kernel that waits goes on */
/* A launch with parameters, whose kernel runs. id: as fake_launch. */
struct fake_launch {
    unsigned grid, block, shared;
    void **params, **extra;
    int attributes; /* 1: cluster of 2 and an access-policy window of 4096 bytes */
};
int fake_launch_with(unsigned id, void *f, const struct fake_launch *l);
void fake_run(const char *name, void **params);
/* ---- NVRTC; the program is a text ---- */
enum { FAKE_CUBIN = 136 };
int nvrtcGetCUBIN(void *program, char *cubin);
/* nvJitLink: with a version in the name, and without */
int __nvJitLinkAddData_12_8(void *state, int type, const void *data, size_t n, const char *name);
int __nvJitLinkGetLinkedCubin_12_8(void *state, char *cubin);
int nvJitLinkAddData(void *state, int type, const void *data, size_t n, const char *name);
int nvJitLinkGetLinkedCubin(void *state, char *cubin);
int nvJitLinkDestroy(void **state);
int cuFuncGetName(const char **name, void *f);
void fake_cubin(const char *text, char *cubin); /* machine code that NVRTC did not make */

/* ---- graphs (fake_graph.c) ---- */
void *fake_graph_new(void);
void *fake_graph_kernel(void *graph, void *f, unsigned grid, unsigned block, void **params, void *after);
void fake_graph_run(void *graph, int times);
/* Made, updated, run. */
void fake_graph_changed(void *graph, void *exec);
void fake_tell(unsigned id, int site, const void *params); /* one callback */
/* Another call of the driver's, seen before and after. */
int fake_other(unsigned id, const void *params);

#endif
