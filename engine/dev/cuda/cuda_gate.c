/* The gate: a word of host memory that the stream waits on. What is queued behind a shut gate starts
 * when all of it is there.
 *
 *   without a gate                              with one
 *     host  copy copy event .... launch event     host  shut copy copy event launch event open
 *     GPU   copy copy event      launch event     GPU                                     copy copy
 * event
 *                           ^^^^ timed too                                                launch event
 *
 * The GPU passes the event in front of a launch as soon as it is queued, and then waits for the host to
 * queue the launch. Where many small copies go before, as those of a rewrite's counters, that wait is 1
 * to 3 us of the time (docs/lab/rewrites-h200.md). */
#include "engine/base/base.h"
#include "engine/dev/cuda/cuda_int.h"
#include "engine/dev/dev.h"

#include <string.h>

/* The page: the word, then copies of what is written before a launch. A copy from memory that is not
 * pinned may wait for the stream, and so for ever behind a shut gate. */
enum { PAGE_BYTES = 4096, WORD_BYTES = 64 };
/* commands behind a gate: a queue that is full makes the host wait */
enum { GATE_COMMANDS = 256 };

static uint64_t set_bytes(const struct dev_run *r)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->nset; i++)
        n += r->set[i].n;
    return n;
}

static bool page_ready(struct cuda_dev *d)
{
    void *p = NULL;
    if (d->gate.page || d->gate.useless)
        return d->gate.page != NULL;
    if (!d->drv.stream_wait || d->drv.host_alloc(&p, PAGE_BYTES) != DRV_SUCCESS) {
        d->gate.useless = true;
        return false;
    }
    memset(p, 0, PAGE_BYTES);
    d->gate.page = p;
    return true;
}

/* Commands of one timed launch: what restores the baseline, a flush, two events and the launch. */
static size_t commands(const struct cuda_job *j)
{
    return j->b->bound.nbuffers + j->c->module->nvars + j->r->nzero + j->r->nset + 4;
}

size_t cuda_gate_room(struct cuda_job *j)
{
    if (set_bytes(j->r) > PAGE_BYTES - WORD_BYTES || !page_ready(j->d))
        return 0;
    return GATE_COMMANDS / commands(j);
}

void cuda_gate_shut(struct cuda_job *j)
{
    struct cuda_gate *g = &j->d->gate;
    if (!cuda_gate_room(j))
        return;
    drv_ptr word = (drv_ptr)(uintptr_t)g->page;
    if (j->d->drv.stream_wait(j->d->stream, word, g->turn + 1, 0) == DRV_SUCCESS)
        g->turn++;
    else
        cuda_gate_free(j->d), g->useless = true;
}

void cuda_gate_open(struct cuda_job *j)
{
    struct cuda_gate *g = &j->d->gate;
    if (g->page)
        __atomic_store_n((uint32_t *)(void *)g->page, g->turn, __ATOMIC_RELEASE);
}

void cuda_gate_free(struct cuda_dev *d)
{
    if (d->gate.page)
        d->drv.host_free(d->gate.page);
    d->gate.page = NULL;
}

const void *cuda_gate_bytes(struct cuda_job *j, size_t i)
{
    size_t at = WORD_BYTES;
    const struct dev_symbol_value *set = j->r->set;
    if (!j->d->gate.page || set_bytes(j->r) > PAGE_BYTES - WORD_BYTES)
        return set[i].bytes;
    for (size_t k = 0; k < i; k++)
        at += set[k].n;
    return memcpy(j->d->gate.page + at, set[i].bytes, set[i].n);
}
