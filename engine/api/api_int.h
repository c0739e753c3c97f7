/* Private to the library: a handle, and a call on it. */
#pragma once

#include "engine/api/gpulocw.h"
#include "engine/base/base.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>

#define API_ALIVE 0x67706c6fu /* a handle; anything else in its first word: none */

struct gpulocw {
    _Atomic unsigned alive;
    _Atomic int calling;
    _Atomic pthread_t caller; /* its thread, where calling */
    pthread_mutex_t one;      /* one call at a time */
    struct cancel cancel;
    struct buf document, diagnostics; /* of the last call */
    struct buf tools;
    char *folder; /* of gpulocw_put; NULL: nothing was put */
    gpulocw_progress progress;
    void *ctx;
};

/* What a call keeps from the program's signals and locale. */
struct api_quiet {
    sigset_t before;
    bool pending;
    locale_t c, was;
};

/* Takes the handle for a call of this thread; false: it is none, or its call runs further up. */
bool api_begin(gpulocw *g, struct api_quiet *q);
void api_end(gpulocw *g, struct api_quiet *q);
/* The diagnostics of the handle. */
void api_say(gpulocw *g, const struct diags *ds);
