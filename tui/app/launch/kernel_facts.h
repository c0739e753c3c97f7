/* kernel_facts: how large each kernel of the open file is, what it loads and its locality class, worked
 * out on a thread of its own, one kernel after the other. */
#pragma once

struct app;

struct kernel_fact {
    const char *name; /* as the module has it */
    unsigned insts;   /* instructions, without those of functions that it calls */
    unsigned loads;   /* of global memory, and copies from it; those of called functions too */
    const char *cls;  /* its class without a launch; NULL: could not be analysed */
};
/* NULL: there is none, or it is not known yet. Starts the work at the first call. */
const struct kernel_fact *kernel_fact(struct app *a, const char *name);
