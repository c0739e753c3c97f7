/* nvml, private to dev: throttle reasons and energy, read only, if the library is there. */
#pragma once

#include "engine/base/base.h"

struct nvml;
/* The library is libnvidia-ml.so.1, or what GPULOCW_LIBNVML names.
 * NULL when there is none or it does not know the device. pci: as cuDeviceGetPCIBusId writes it. */
struct nvml *nvml_open(const char *pci);
void nvml_close(struct nvml *n); /* NULL is fine */
/* A power cap, thermal or hardware slowdown is in force now. False also when it is not known (n NULL).
 */
bool nvml_throttled(struct nvml *n);
/* Millijoules of the card since the driver was loaded. NULL, or why they are not known; static text. */
const char *nvml_energy(struct nvml *n, uint64_t *mj);
