/* launched: launches of late, by the number of their call; read and written without a lock. */
#ifndef GPULOCW_DEV_INJECT_LAUNCHED_H
#define GPULOCW_DEV_INJECT_LAUNCHED_H

#include <stdbool.h>
#include <stdint.h>

void launched_put(uint32_t correlation, int image);
/* The image of that launch. False: it was not seen, or long ago. */
bool launched_image(uint32_t correlation, int *image);

#endif
