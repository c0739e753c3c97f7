/* engine: the engine thread as the workbench asks it. */
#pragma once

struct job;
struct job_snapshot;

/* What the workbench asks of the engine thread; tests put a recorder here. */
struct app_engine {
    void *ctx;
    void (*post)(void *ctx, const struct job *j);
    void (*cancel)(void *ctx);
    /* A snapshot that stays valid until released, from any thread; NULL: no background work. */
    const struct job_snapshot *(*hold)(void *ctx);
    void (*release)(void *ctx, const struct job_snapshot *s);
};
