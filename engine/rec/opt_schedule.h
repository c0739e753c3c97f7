/* opt_schedule: which thread does what work. */
#pragma once

#include "engine/rec/elem.h"
#include "engine/rec/option_group.h"

#define COARSEN_MODES(X)                  \
    X(COARSEN_INTERLEAVED, "interleaved") \
    X(COARSEN_BLOCKED, "blocked")         \
    X(COARSEN_VECTOR, "vector")

#define TILE_ORDERS(X)          \
    X(TILES_OFF, "off")         \
    X(TILES_ROW, "row")         \
    X(TILES_REVERSE, "reverse") \
    X(TILES_COLUMN, "column")   \
    X(TILES_TILE, "tile")

enum coarsen_mode { COARSEN_MODES(OPTION_VALUE) };
enum tile_order { TILE_ORDERS(OPTION_VALUE) };

struct opt_schedule {
    struct dim3u block; /* threads; x == 0: as launched */
    bool swap_xy;
    int coarsen;      /* iterations of a thread */
    int coarsen_mode; /* enum coarsen_mode */
    struct {
        int kind;    /* enum tile_order */
        uint32_t tx; /* tiles, with TILES_TILE */
        uint32_t ty; /* tiles, with TILES_TILE */
    } tile_order;
    int tile_width; /* tiles in a row; 0: as the kernel divides */
};
#define opt_schedule(options) OPTION_GROUP_OF(options, schedule)
OPTION_GROUP(schedule);
