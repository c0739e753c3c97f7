/* Which streams and events there are, and which of them a graph is being made of. */
#include "engine/emulate/runtime/context.h"
#include "engine/emulate/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

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
    return handle_is(s, HANDLE_STREAM) ? s : NULL;
}

bool stream_add(struct stream *s)
{
    if (!handle_add(s, HANDLE_STREAM))
        return false;
    s->owner = context_now();
    s->next = S.streams;
    S.streams = s;
    return true;
}

bool stream_drop(cudaStream_t s)
{
    struct stream **at = &S.streams;
    while (*at && *at != s)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = s->next;
    handle_drop(s);
    free(s->tail.v);
    free(s);
    return true;
}

struct event *event_of(cudaEvent_t e)
{
    return handle_is(e, HANDLE_EVENT) ? e : NULL;
}

bool event_add(struct event *e)
{
    if (!handle_add(e, HANDLE_EVENT))
        return false;
    e->slot = S.slots++;
    e->owner = context_now();
    e->next = S.events;
    S.events = e;
    return true;
}

bool event_drop(cudaEvent_t e)
{
    struct event **at = &S.events;
    while (*at && *at != e)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = e->next;
    handle_drop(e);
    free(e->tail.v);
    free(e);
    return true;
}

cudaGraph_t capture_of(cudaStream_t s)
{
    struct stream *k = stream_of(s);
    return k ? k->into : NULL;
}

bool here(const struct context *owner)
{
    return !owner || !context_now() || owner == context_now();
}

void order_forget(const struct context *c)
{
    struct stream *s = S.streams;
    struct event *e = S.events;
    while (s) {
        struct stream *next = s->next;
        if (s->owner == c)
            stream_drop(s);
        s = next;
    }
    while (e) {
        struct event *next = e->next;
        if (e->owner == c)
            event_drop(e);
        e = next;
    }
}

/* ---- what a captured operation waits for ---- */
static bool waits_for(const struct tail *t, const struct node *n)
{
    size_t i = 0;
    while (i < t->n && t->v[i] != n)
        i++;
    return i < t->n;
}

cudaError_t tail_join(struct tail *t, cudaGraphNode_t const *v, size_t n)
{
    struct tail all = { calloc(t->n + n + 1, sizeof *all.v), t->n };
    if (!all.v)
        return cudaErrorMemoryAllocation;
    if (t->n)
        memcpy(all.v, t->v, t->n * sizeof *all.v);
    for (size_t i = 0; i < n; i++)
        if (!waits_for(&all, v[i]))
            all.v[all.n++] = v[i];
    free(t->v); /* v may lie there: the program was told of it */
    *t = all;
    return cudaSuccess;
}

cudaError_t tail_set(struct tail *t, cudaGraphNode_t const *v, size_t n)
{
    t->n = 0;
    return tail_join(t, v, n);
}

/* The nodes that it waits for, in the end, have the graph's turn: each stands behind those before it. */
static void mark_before(const struct tail *t, struct graph *g)
{
    g->turn++;
    for (size_t i = 0; i < t->n; i++)
        t->v[i]->turn = g->turn;
    for (size_t i = g->n; i-- > 0;)
        for (size_t k = 0; g->v[i]->turn == g->turn && k < g->v[i]->nbefore; k++)
            g->v[i]->before[k]->turn = g->turn;
}

static bool is_joined(const struct stream *s, const struct graph *g)
{
    bool joined = true;
    for (size_t i = 0; s->into == g && i < s->tail.n; i++)
        joined = joined && s->tail.v[i]->turn == g->turn;
    return joined;
}

bool capture_joined(const struct stream *origin)
{
    cudaGraph_t g = origin->into;
    bool joined = true;
    mark_before(&origin->tail, g);
    for (const struct stream *s = S.streams; s; s = s->next)
        joined = joined && is_joined(s, g);
    return joined && is_joined(&S.per_thread, g);
}

static void no_longer(struct stream *s, cudaGraph_t g)
{
    s->origin = s->into != g && s->origin;
    s->tail.n = s->into == g ? 0 : s->tail.n;
    s->into = s->into == g ? NULL : s->into;
}

void capture_end(cudaGraph_t g)
{
    for (struct stream *s = S.streams; s; s = s->next)
        no_longer(s, g);
    no_longer(&S.per_thread, g);
    for (struct event *e = S.events; e; e = e->next)
        if (e->into == g) {
            e->into = NULL;
            e->ended = true;
            e->tail.n = 0;
        }
}
