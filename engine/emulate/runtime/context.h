/* Private to the runtime and the driver: which handles there are, and contexts, which own streams, events,
 * modules and memory. The runtime's own is the primary one; with the driver's interface there are more. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* ---- handles.c ---- */
enum handle_kind {
    HANDLE_CONTEXT = 1,
    HANDLE_MODULE,
    HANDLE_LIBRARY,
    HANDLE_KERNEL,
    HANDLE_STREAM,
    HANDLE_EVENT,
    HANDLE_GRAPH,
    HANDLE_NODE,
    HANDLE_EXEC,
    HANDLE_POOL,
    HANDLE_ARRAY,
    HANDLE_PHYSICAL,
    HANDLE_LINK
};
/* False: out of memory. */
bool handle_add(const void *p, enum handle_kind kind);
/* Whatever the program passes, nothing is read there. */
bool handle_is(const void *p, enum handle_kind kind);
void handle_drop(const void *p);

/* ---- contexts.c ---- */
struct context {
    unsigned flags;
    unsigned uses; /* how often it was retained (the primary one) or attached to */
    bool primary, live;
    uint64_t id;
};
/* Current in this thread; NULL: none. It may be destroyed. */
struct context *context_now(void);
struct context *context_primary(void);
/* The primary one becomes current where none is, as the runtime has it. */
void context_default(void);
/* A new one; NULL: out of memory. Never freed: threads may have it current when it is gone. */
struct context *context_new(unsigned flags);
/* It is no context any more; what it owns was forgotten before. */
void context_gone(struct context *c);
/* The stack of this thread. False: there is no room. */
bool context_push(struct context *c);
struct context *context_pop(void);   /* NULL: it was empty */
bool context_set(struct context *c); /* in place of the top; NULL: the top goes */

/* What belongs to a context that ends. */
void order_forget(const struct context *c);  /* order.c */
void arrays_forget(const struct context *c); /* texture.c: before the memory */
void memory_forget(const struct context *c); /* region.c */
void images_forget(const struct context *c); /* image.c */

/* ---- link.c ---- */
/* Calls of this thread between are the driver's: they leave the runtime's last error and context alone. */
void driver_in(void);
void driver_out(void);
bool in_driver(void);
void driver_start(void); /* as cuInit: the runtime's first call does it, too */
