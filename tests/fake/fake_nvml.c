/* An NVML for machines without a GPU. FAKE_NVML in the environment: the mask of
 * clock event reasons, as a number. */
#include <stdlib.h>
#include <string.h>

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device);
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *mask);

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
