/* take: one launch of each wanted kernel with all that it works on, written to a record. */
#pragma once

#include "engine/dev/inject/inject.h"

struct memory;

/* At the end of the program: kernels that were wanted, and whose launch never came. */
void take_end(void);

/* ---- launches (take_launch.c) ---- */
bool take_wanted(void);
void take_enter(struct launch *l);
void take_leave(struct launch *l, int result);
/* Guards what is wanted and what is under way: around every call about graphs below. */
void take_lock(void);
void take_unlock(void);
/* `by` streams more are being captured into graphs; while one is, nothing may be waited for. */
void take_capturing(int by);
bool take_captures(void);

/* ---- what graphs need of it ---- */
bool take_open(const struct launch *l); /* its kernel is wanted, and was not taken yet */
/* This launch is the one: counted, and from here on taken. */
bool take_due(const struct launch *l);
/* The record with all that is there before the launch; NULL: refused. */
struct memory *take_begin(const struct launch *l);
void take_refuse(struct memory *m, const char *why);
void take_finish(struct memory *m, const char *name);
/* Why nothing can be looked at after a launch that returned `result`; NULL: it can. */
const char *take_rest(void *context, int result);

/* ---- calls of the driver about graphs (take_graph.c) ---- */
void take_graph_made(const struct call *c);
void take_graph_changed(const struct call *c);
void take_graph_enter(const void *params, void *context);
void take_graph_leave(int result, void *context);
