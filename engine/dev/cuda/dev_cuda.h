/* dev_cuda, private to dev: opening the CUDA device in this process. */
#pragma once

#include "engine/base/base.h"

struct dev;
struct dev_info;

/* What a plain global load does: as the device has it, through L1, past L1 (CU_JIT_CACHE_MODE). */
enum dev_plain { DEV_PLAIN_OWN, DEV_PLAIN_L1, DEV_PLAIN_PAST };
enum status dev_cuda_open(int ordinal, enum dev_plain plain, struct dev **out, struct diags *ds);
/* Calls fn for each GPU. *absent: no driver on this machine (no diagnostic then, ST_OK). */
enum status dev_cuda_list(void (*fn)(void *ctx, const struct dev_info *i), void *ctx, bool *absent,
                          struct diags *ds);
/* GPUs in this machine; 0 when there is none or no driver. */
int dev_cuda_count(void);
