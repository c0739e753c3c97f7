/* Contexts: what is current in a thread, and what goes when one ends. */
#include "engine/emulate/runtime/context.h"

#include <stdlib.h>

#define DEPTH 1024

static struct context primary = { .primary = true, .id = 1 };
static uint64_t contexts = 1;
static _Thread_local struct {
    struct context *v[DEPTH];
    size_t n;
} stack;

struct context *context_now(void)
{
    return stack.n ? stack.v[stack.n - 1] : NULL;
}

struct context *context_primary(void)
{
    return &primary;
}

void context_default(void)
{
    if (stack.n)
        return;
    primary.live = handle_add(&primary, HANDLE_CONTEXT);
    context_push(&primary);
}

struct context *context_new(unsigned flags)
{
    struct context *c = calloc(1, sizeof *c);
    if (!c || !handle_add(c, HANDLE_CONTEXT)) {
        free(c);
        return NULL;
    }
    *c = (struct context){ .flags = flags, .live = true, .id = ++contexts };
    return c;
}

void context_gone(struct context *c)
{
    c->live = false;
    handle_drop(c);
}

bool context_push(struct context *c)
{
    if (stack.n == DEPTH)
        return false;
    stack.v[stack.n++] = c;
    return true;
}

struct context *context_pop(void)
{
    return stack.n ? stack.v[--stack.n] : NULL;
}

bool context_set(struct context *c)
{
    context_pop();
    return !c || context_push(c);
}
