/* take: one launch of each wanted kernel with all that it works on, written to a record. */
#ifndef GPULOCW_DEV_INJECT_TAKE_H
#define GPULOCW_DEV_INJECT_TAKE_H

#include "engine/dev/inject/inject.h"

struct memory;

/* At the end of the program: kernels that were wanted, and whose launch never came. */
void take_end(void);

/* ---- for graphs (take_graph.c) ---- */
bool take_open(const struct launch *l); /* its kernel is wanted, and was not taken yet */
/* This launch is the one: counted, and from here on taken. */
bool take_due(const struct launch *l);
/* The record with all that is there before the launch; NULL: refused. */
struct memory *take_begin(const struct launch *l);
void take_refuse(struct memory *m, const char *why);
void take_finish(struct memory *m, const char *name);
/* Why nothing can be looked at after a launch that returned `result`; NULL: it can. */
const char *take_rest(void *context, int result);

/* Calls of the driver about graphs. */
void take_graph_made(const struct call *c);
void take_graph_changed(const struct call *c);
void take_graph_enter(const void *params, void *context);
void take_graph_leave(int result, void *context);

#endif
