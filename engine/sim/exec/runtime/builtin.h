/* builtin: functions that device code calls and the driver provides. */
#pragma once

#include "engine/base/base.h"

struct exec_inst;
struct exec_launch;
struct exec_warp;

enum builtin {
    BUILTIN_NONE,
    BUILTIN_VPRINTF,
    BUILTIN_ASSERT,
    BUILTIN_MALLOC,
    BUILTIN_FREE,
    BUILTIN_NO_ERROR, /* of the device runtime, and without effect where no kernel was launched */
    BUILTIN_LAUNCH    /* of the device runtime, and on the way to another kernel */
};
#define EXEC_HEAP_BYTES (8u << 20) /* of malloc: the default of cudaLimitMallocHeapSize */
/* The NUL-terminated text at a device address, cut at 4096 bytes. */
bool exec_read_string(struct exec_warp *w, uint64_t addr, struct buf *out);
uint32_t exec_builtin_find(struct str name);
/* Formats one lane's vprintf into out: fmt and args are device addresses. False: a fault was recorded.
 */
bool exec_print_lane(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint64_t fmt,
                     uint64_t args, struct buf *out);
/* Device address of a block, 0: no room. */
uint64_t exec_heap_take(struct exec_warp *w, uint64_t bytes);
/* False: addr is no block's start. */
bool exec_heap_give(struct exec_warp *w, uint64_t addr);
void exec_heap_free(struct exec_launch *x);
