/* nvml, private to dev: clocks and throttle reasons, read only, if the library is there. */
#ifndef GPULOCW_NVML_H
#define GPULOCW_NVML_H

#include "engine/base/base.h"

struct nvml;
/* NULL when there is no library or it does not know the device. pci: as cuDeviceGetPCIBusId writes it. */
struct nvml *nvml_open(const char *pci);
void nvml_close(struct nvml *n);                 /* NULL is fine */
struct nvml_state { unsigned sm_mhz, max_sm_mhz; bool throttled; };
/* False: not known. throttled: power cap, thermal or hardware slowdown in force. */
bool nvml_read(struct nvml *n, struct nvml_state *out);

#endif
