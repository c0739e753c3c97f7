/* What the fake driver of tests/live offers; id: number of the driver's call (cupti_driver_cbid.h). */
#ifndef GPULOCW_TESTS_LIVE_FAKE_LIVE_H
#define GPULOCW_TESTS_LIVE_FAKE_LIVE_H

int cuInit(unsigned flags);
int fake_load(unsigned id, void **module, const void *image);
int fake_get(unsigned id, void **function, void *module, const char *name);
int fake_launch(unsigned id, void *f, int ctas);
int fake_graph(const char *name, int ctas);

#endif
