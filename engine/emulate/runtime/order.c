/* Which streams and events there are, and which of them a graph is being made of. */
#include "engine/emulate/runtime/runtime.h"

#include <stdlib.h>

enum { LEGACY = 1, PER_THREAD = 2 }; /* streams that are numbers */
static struct {
    struct stream *streams;
    struct event *events;
    uint64_t slots;
    struct stream legacy, per_thread;
} S;

struct stream *stream_of(cudaStream_t s)
{
    if (!s || (uintptr_t)s == LEGACY)
        return &S.legacy;
    if ((uintptr_t)s == PER_THREAD)
        return &S.per_thread;
    struct stream *k = S.streams;
    while (k && k != s)
        k = k->next;
    return k;
}

void stream_add(struct stream *s)
{
    s->next = S.streams;
    S.streams = s;
}

bool stream_drop(cudaStream_t s)
{
    struct stream **at = &S.streams;
    while (*at && *at != s)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = s->next;
    free(s);
    return true;
}

struct event *event_of(cudaEvent_t e)
{
    struct event *k = S.events;
    while (k && k != e)
        k = k->next;
    return k;
}

void event_add(struct event *e)
{
    e->slot = S.slots++;
    e->next = S.events;
    S.events = e;
}

bool event_drop(cudaEvent_t e)
{
    struct event **at = &S.events;
    while (*at && *at != e)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = e->next;
    free(e);
    return true;
}

cudaGraph_t capture_of(cudaStream_t s)
{
    struct stream *k = stream_of(s);
    return k ? k->into : NULL;
}

static void no_longer(struct stream *s, cudaGraph_t g)
{
    s->origin = s->into != g && s->origin;
    s->into = s->into == g ? NULL : s->into;
}

void capture_end(cudaGraph_t g)
{
    for (struct stream *s = S.streams; s; s = s->next)
        no_longer(s, g);
    no_longer(&S.per_thread, g);
    for (struct event *e = S.events; e; e = e->next)
        e->into = e->into == g ? NULL : e->into;
}
