/* opt_memory: how loads of global memory go, and what the user states about it. */
#ifndef GPULOCW_REC_OPT_MEMORY_H
#define GPULOCW_REC_OPT_MEMORY_H

#include "engine/rec/options.h"

#define READONLY_MODES(X)          \
    X(READONLY_KEEP, "keep")       \
    X(READONLY_PROMOTE, "promote") \
    X(READONLY_DEMOTE, "demote")

enum readonly_mode { READONLY_MODES(OPTION_VALUE) };

struct opt_memory {
    int readonly;               /* enum readonly_mode */
    char assume_read_only[256]; /* parameters, comma-separated */
    bool assume_restrict;
    char l2_persist[64]; /* BUFFER or BUFFER:FRACTION; empty: none */
};
#define opt_memory(options) OPTION_GROUP_OF(options, memory)
OPTION_GROUP(memory);

#endif
