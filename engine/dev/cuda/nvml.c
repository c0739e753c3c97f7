/* NVML through dlopen. Only queries: nothing here changes a card's settings. */
#include "engine/dev/cuda/nvml.h"

#include "engine/base/base.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define NVML_OK 0
/* nvmlClocksEventReasons: software power cap, hardware slowdown, software thermal, hardware thermal,
 * power brake. */
#define NVML_THROTTLED (0x4ull | 0x8ull | 0x20ull | 0x40ull | 0x80ull)

struct nvml {
    void *library, *device;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_pci)(const char *pci, void **device);
    int (*reasons)(void *device, unsigned long long *mask);
};

static bool find(void *library, void *field, const char *name)
{
    void *p = dlsym(library, name);
    memcpy(field, &p, sizeof p);
    return p != NULL;
}

static bool find_all(struct nvml *n)
{
    bool ok = find(n->library, &n->init, "nvmlInit_v2") &&
              find(n->library, &n->shutdown, "nvmlShutdown") &&
              find(n->library, &n->by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
    return ok && (find(n->library, &n->reasons, "nvmlDeviceGetCurrentClocksEventReasons") ||
                  find(n->library, &n->reasons, "nvmlDeviceGetCurrentClocksThrottleReasons"));
}

struct nvml *nvml_open(const char *pci)
{
    struct nvml *n = base_alloc(sizeof *n);
    if (!n)
        return NULL;
    const char *path = getenv("GPULOCW_LIBNVML");
    n->library = dlopen(path && *path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (n->library && find_all(n) && n->init() == NVML_OK) {
        if (n->by_pci(pci, &n->device) == NVML_OK)
            return n;
        n->shutdown();
    }
    if (n->library)
        dlclose(n->library);
    base_free(n);
    return NULL;
}

void nvml_close(struct nvml *n)
{
    if (!n)
        return;
    n->shutdown();
    dlclose(n->library);
    base_free(n);
}

bool nvml_throttled(struct nvml *n)
{
    unsigned long long mask = 0;
    return n && n->reasons(n->device, &mask) == NVML_OK && (mask & NVML_THROTTLED);
}
