/* What the fake drivers of tests/live hand to the injected library as CUPTI does. CUPTI's own headers
 * give the layouts (cupti_callbacks.h, cupti_activity.h); each ends where the library stops reading. */
#ifndef GPULOCW_TESTS_LIVE_FAKE_CUPTI_H
#define GPULOCW_TESTS_LIVE_FAKE_CUPTI_H

#include <stdint.h>

/* CUpti_CallbackData */
struct call {
    int site; /* 0 before the driver's call, 1 after it */
    const char *function;
    const void *params;
    const int *result;
    const char *symbol; /* a kernel's name */
    void *context;
    uint32_t context_number;
    uint64_t *own; /* the subscriber's, kept from before to after */
    uint32_t correlation;
};
/* CUpti_ActivityKernel, up to the name */
struct record {
    uint32_t kind;
    uint32_t misc[3];
    uint64_t start; /* ns, as the two below */
    uint64_t end;
    uint64_t completed;
    uint32_t device;
    uint32_t context;
    uint32_t stream;
    int32_t grid[3];       /* CTAs */
    int32_t block[3];      /* threads */
    int32_t shared_static; /* bytes a CTA, as shared */
    int32_t shared;
    uint32_t local; /* bytes a thread */
    uint32_t local_all;
    uint32_t correlation;
    int64_t grid_id;
    const char *name;
};

#endif
