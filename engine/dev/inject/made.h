/* made: PTX that became machine code inside the program, by the hash of that. */
#ifndef GPULOCW_DEV_INJECT_MADE_H
#define GPULOCW_DEV_INJECT_MADE_H

#include "engine/dev/inject/inject.h"

/* Text, or containers with texts; NULL: none. It stays. */
const char *made_ptx(uint64_t hash, size_t *n);
/* Calls of the driver's linker. */
void made_link_data(const struct call *c);
void made_link_file(const struct call *c);
void made_link_end(const struct call *c);

#endif
