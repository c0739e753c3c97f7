/* opt_softcache: lines of the software cache. */
#pragma once

#include "engine/rec/option_group.h"

#define SOFTCACHE_LINES(X)     \
    X(SOFTCACHE_LINE_4, "4")   \
    X(SOFTCACHE_LINE_8, "8")   \
    X(SOFTCACHE_LINE_16, "16") \
    X(SOFTCACHE_LINE_32, "32")

enum softcache_line { SOFTCACHE_LINES(OPTION_VALUE) };
#define OPT_SOFTCACHE_AUTO    (-1) /* a profile chooses before the launch */
#define OPT_SOFTCACHE_DYNAMIC (-2) /* every thread chooses inside the kernel */

struct opt_softcache {
    int lines;      /* lines of a thread; 0: off; OPT_SOFTCACHE_* */
    char data[256]; /* parameters, comma-separated; empty: the pass chooses */
    int line;       /* enum softcache_line: 4 << value bytes */
    int sample;     /* accesses a thread simulates; 0: the paper's 300, or an eighth of what it makes */
    int again;      /* turns of a loop after which a thread chooses again; 0: never */
};
#define opt_softcache(options) OPTION_GROUP_OF(options, softcache)
OPTION_GROUP(softcache);
