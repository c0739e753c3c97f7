/* NVML through dlopen. Only queries: nothing here changes a card's settings. */
#include "engine/dev/nvml.h"

#include <dlfcn.h>
#include <string.h>

#define NVML_OK 0
#define NVML_CLOCK_SM 1
/* nvmlClocksEventReasons: software power cap, hardware slowdown, software thermal, hardware thermal, power brake. */
#define NVML_THROTTLED (0x4ull | 0x8ull | 0x20ull | 0x40ull | 0x80ull)

struct nvml {
    void *library, *device;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_pci)(const char *pci, void **device);
    int (*clock)(void *device, int kind, unsigned *mhz);
    int (*max_clock)(void *device, int kind, unsigned *mhz);
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
    bool ok = find(n->library, &n->init, "nvmlInit_v2") && find(n->library, &n->shutdown, "nvmlShutdown") &&
              find(n->library, &n->by_pci, "nvmlDeviceGetHandleByPciBusId_v2") &&
              find(n->library, &n->clock, "nvmlDeviceGetClockInfo") &&
              find(n->library, &n->max_clock, "nvmlDeviceGetMaxClockInfo");
    return ok && (find(n->library, &n->reasons, "nvmlDeviceGetCurrentClocksEventReasons") ||
                  find(n->library, &n->reasons, "nvmlDeviceGetCurrentClocksThrottleReasons"));
}

struct nvml *nvml_open(const char *pci)
{
    struct nvml *n = base_alloc(sizeof *n);
    if (!n)
        return NULL;
    n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
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

bool nvml_read(struct nvml *n, struct nvml_state *out)
{
    unsigned long long mask = 0;
    *out = (struct nvml_state){ 0 };
    if (!n || n->clock(n->device, NVML_CLOCK_SM, &out->sm_mhz) != NVML_OK)
        return false;
    n->max_clock(n->device, NVML_CLOCK_SM, &out->max_sm_mhz);
    if (n->reasons(n->device, &mask) != NVML_OK)
        return false;
    out->throttled = (mask & NVML_THROTTLED) != 0;
    return true;
}
