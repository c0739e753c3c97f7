/* launched: launches of late, by the number of their call; read and written without a lock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

void launched_put(uint32_t correlation, int image);
/* The image of that launch. False: it was not seen, or long ago. */
bool launched_image(uint32_t correlation, int *image);
