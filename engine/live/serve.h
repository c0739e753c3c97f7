/* Private to live: answers to what the injected library asks while the program runs. */
#pragma once

#include "engine/base/base.h"

struct live_want;
struct ptx_module;

/* A kernel whose code was asked for. */
struct serve_code {
    char *name; /* owned */
    uint64_t image;
    struct ptx_module *module; /* owned; NULL: there is none */
};
struct serve;
/* Listens at FILE.ask in a thread of its own. */
enum status serve_start(const struct live_want *w, const char *file, struct serve **out,
                        struct diags *ds);
/* Ends the thread; what it learnt stays until serve_free. */
void serve_stop(struct serve *s);
/* NULL: the code of that kernel was not asked for, or has no PTX. */
const struct serve_code *serve_code_of(const struct serve *s, const char *name, uint64_t image);
void serve_free(struct serve *s);
