/* launch: a launch description: grid, block, arguments (launch_arg.h). JSON for it lives in
 * engine/session. */
#pragma once

#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"

struct launch_spec {
    char *name; /* of this launch among several, or NULL */
    char *file; /* the description's own path, for messages; may be NULL */
    char *dir;  /* folder that relative paths start from */
    char *ptx, *kernel;
    struct dim3u grid, block;
    struct dim3u cluster; /* CTAs of a thread-block cluster; x == 0: as the kernel says */
    uint32_t shared;      /* dynamic shared memory, bytes */
    unsigned guessed;     /* of enum launch_guess */
    struct arg_spec *args;
    size_t nargs;
    struct symbol_spec *symbols;
    size_t nsymbols;
    /* launches run once before, on the same buffers by name */
    struct launch_spec *before;
    size_t nbefore;
};
/* Gives them the L2 promotion `to`, as tensor_map.l2 has it. */
void launch_promote(struct launch_spec *l, uint8_t to);
void launch_spec_free(struct launch_spec *l); /* what it points to; not l itself */
