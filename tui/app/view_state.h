/* view_state: what each panel keeps between two frames. */
#pragma once

#include "engine/base/base.h"
#include "engine/rec/counters.h"
#include "engine/session/roofline.h"
#include "tui/base/plot_model.h"

struct row_span;
struct session;
struct traffic;

/* Lines of a panel as last drawn; `item` is what a line stands for, -1: not selectable. */
struct page_line {
    struct row_span *v;
    unsigned n, width;
    long item;
};
struct page {
    struct page_line *line;
    size_t n, cap;
};
struct list {
    size_t count;
    size_t cursor;
    size_t top;
    unsigned left, rows;
};

struct text_lines {
    struct str text;
    uint32_t *off;
    uint32_t n;
}; /* off[n]: end; owned */
/* 1-based lines; 0: none on that side */
struct src_line {
    uint32_t old, new;
    const char *tag;
};
enum src_mode { SRC_ORIGINAL, SRC_SIDE, SRC_REWRITTEN };
/* per original line: access index or -1, last line of a function starting here */
struct src_mark {
    int32_t access;
    uint32_t fold_end, func;
};
/* Text of the CUDA file that the shown .loc names, kept until another is wanted. */
struct cuda_text {
    uint32_t file;
    char *text;
    size_t n;
};
struct source_view {
    struct cuda_text cuda;
    /* the snapshot's module, facts or rewrite changed since the index was made */
    bool stale;
    bool wants_change; /* shown at the first change as soon as there is one */
    struct text_lines old, new;
    struct src_mark *mark;
    struct src_line *line;
    size_t nlines;   /* what is shown, folds applied */
    uint8_t *folded; /* per function */
    enum src_mode mode;
    const struct traffic *traffic; /* of the frame; NULL: not drawn yet */
    /* rank of the load that the last step to the hottest went to, 1: the first; 0: none */
    uint32_t hot;
    unsigned reg; /* which register of the line the cursor is on */
    uint32_t jump[32];
    unsigned njumps;
    char kernel[1536]; /* that the cursor was last placed for */
};
#define LOOPS_MOST 8
struct coalesce_view {
    bool hot_first;
    unsigned warp, round[LOOPS_MOST] /* of loop k, k1, ... */, loop /* which of them the keys change */;
};
enum locality_part { LOCALITY_CLASS, LOCALITY_CURVE, LOCALITY_ARRAYS, LOCALITY_SHARING, LOCALITY_PARTS };
struct locality_view {
    enum locality_part part;
    size_t cursor;
    bool placed;
    int access; /* laid over the curve of all; -1: none */
};
struct valley_view {
    /* index into snapshot runs; SIZE_MAX: follow the last sweep / none */
    size_t run, overlay;
    size_t cursor;
    bool placed; /* point; placed: by the user */
    double zoom;
    bool log_y;
    enum x_scale { X_BY_RANGE, X_LINEAR, X_LOG } x_scale;
    enum plot_metric metric;
    char axis[96]; /* what the next sweep goes over: knobs, with values where they are not understood:
                      "pi,carveout=0/100" */
    struct session *other; /* :compare FILE */
};
struct counters_view {
    size_t result;
    bool placed;
    int base;
    /* the roofline drawn last, and of what: counters, time, device */
    struct roofline roof;
    struct counter roof_of[COUNTERS_MOST];
    int64_t roof_time; /* nanosecond */
    char roof_spec[128];
};
enum run_sort { SORT_NUMBER, SORT_TIME, SORT_KIND, SORT_KERNEL, SORT_COUNT };
struct runs_view {
    enum run_sort sort;
    char filter[64];
    size_t mark[2]; /* SIZE_MAX: none */
    size_t *order;
    size_t norder;
    bool one_kernel; /* in all of them: a narrow panel tells the device instead */
};
struct reload_view {
    bool pending, watch;
    char path[512], launch[512] /* file, where it is not beside the PTX */, name[4096];
}; /* see reload.h */
struct messages_view {
    int level;
    size_t seen;
};
struct replay_view {
    bool on, playing;
    size_t shown;
    double speed;
    int64_t next_ns;
};
/* Groups of knobs that are unfolded, a bit each; what the cursor was on, and in which line. */
struct options_view {
    uint32_t open;
    long under; /* 1 + the item; 0: none */
    size_t line;
};
/* The list of what to try: the lines that it last stood on, which of them is selected, and where the
 * cursor was put then. */
struct summary_view {
    size_t lines[8], line;
    unsigned nlines, pick;
};
#define UNDO_MAX 64
