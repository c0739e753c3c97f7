/* An NVML for machines without a GPU. In the environment, FAKE_NVML: the mask of clock event reasons, as a
 * number; FAKE_NVML_ENERGY: "LAUNCH COPY STEP", mJ of each launch and copy that the fake driver has made,
 * and of a step of the counter; absent: the card has no counter. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device);
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *mask);

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj);

static int card;
int nvmlInit_v2(void)
{
    return 0;
}
int nvmlShutdown(void)
{
    return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device)
{
    *device = &card;
    return strcmp(pci, "0000:00:00.0") ? 6 : 0;
}
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *mask)
{
    const char *s = getenv("FAKE_NVML");
    *mask = s ? strtoull(s, NULL, 0) : 0;
    return device == &card ? 0 : 2;
}

static unsigned long long driver_says(const char *name)
{
    const char *path = getenv("GPULOCW_LIBCUDA");
    void *driver = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL,
         *p = driver ? dlsym(driver, name) : NULL;
    long (*f)(void), n = 0;
    if (p) {
        memcpy(&f, &p, sizeof f);
        n = f();
    }
    if (driver)
        dlclose(driver);
    return (unsigned long long)n;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
    unsigned long long launch, copy, step;
    const char *s = getenv("FAKE_NVML_ENERGY");
    if (!s || sscanf(s, "%llu %llu %llu", &launch, &copy, &step) != 3 || !step)
        return 3;
    *mj = launch * driver_says("fake_cuda_launches") + copy * driver_says("fake_cuda_copies");
    *mj -= *mj % step;
    return device == &card ? 0 : 2;
}
