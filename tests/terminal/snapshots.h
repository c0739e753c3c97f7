/* snapshots: engine states made by hand, so that screens can be drawn, dumped and
 * fuzzed without an engine. */
#ifndef GPULOCW_TESTS_SNAPSHOTS_H
#define GPULOCW_TESTS_SNAPSHOTS_H

#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"

struct recorder;

enum snapshot_kind {
    SNAP_EMPTY,    /* nothing open */
    SNAP_OPENED,   /* module, launch and facts; nothing run */
    SNAP_SWEEPING, /* a sweep over pi with nine of seventeen points */
    /* a finished sweep, a single run, a second sweep on another device, advice, messages */
    SNAP_DONE,
    SNAP_COUNT
};
/* Owned; snapshot_free. The module is tests/terminal/demo.ptx. */
struct job_snapshot *snapshot_make(enum snapshot_kind kind);
void snapshot_free(struct job_snapshot *s);

/* An engine that only remembers what it was asked for. */
struct recorder {
    struct job last;
    struct options options; /* last.options */
    char text[256];
    unsigned posts, cancels;
};
void recorder_post(void *ctx, const struct job *j);
void recorder_cancel(void *ctx);

#endif
