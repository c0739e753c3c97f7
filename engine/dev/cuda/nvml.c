/* NVML through dlopen. Only queries: nothing here changes a card's settings. */
#include "engine/dev/cuda/nvml.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define NVML_OK            0
#define NVML_NOT_SUPPORTED 3
/* nvmlClocksEventReasons: software power cap, hardware slowdown, software thermal, hardware thermal,
 * power brake. */
#define NVML_THROTTLED (0x4ull | 0x8ull | 0x20ull | 0x40ull | 0x80ull)

struct nvml {
    void *library, *device;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_pci)(const char *pci, void **device);
    int (*reasons)(void *device, unsigned long long *mask);
    int (*energy)(void *device, unsigned long long *mj); /* NULL: an older library */
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
    find(n->library, &n->energy, "nvmlDeviceGetTotalEnergyConsumption");
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

const char *nvml_energy(struct nvml *n, uint64_t *mj)
{
    unsigned long long read = 0;
    int e = n && n->energy ? n->energy(n->device, &read) : NVML_OK;
    *mj = read;
    return !n                        ? "no NVML (libnvidia-ml.so.1), or it does not know this GPU"
           : !n->energy              ? "this NVML has no counter of energy"
           : e == NVML_NOT_SUPPORTED ? "this GPU has no counter of energy"
           : e != NVML_OK            ? "NVML does not read the counter of energy"
                                     : NULL;
}
