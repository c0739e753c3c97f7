/* work: something computed on a thread of its own from a snapshot, so that
 * neither the screen nor the engine waits: the miss-ratio curve, which knob
 * values are legal. The record holds a snapshot of its own; whoever of thread
 * and app lets go last frees it. */
#pragma once

#include "engine/base/base.h"
#include "tui/app/engine.h"

enum work_state { WORK_BUSY, WORK_READY, WORK_FAILED };
struct work { /* first member of the record; the rest is the owner's */
    struct app_engine own;
    const struct job_snapshot *snap; /* valid while `run` runs */
    struct cancel cancel;
    atomic_int state, owners;
    bool (*run)(struct work *w);   /* on the thread: true: ready */
    void (*clear)(struct work *w); /* frees what the record points to; may be NULL */
};
/* Starts w, a zeroed heap record with run and clear set, and takes it over. NULL: no thread could be
 * had. */
struct work *work_start(const struct app_engine *engine, struct work *w);
enum work_state work_state(const struct work *w);
/* Asks for the end and lets go; the slot becomes NULL. */
void work_drop(struct work **w);
