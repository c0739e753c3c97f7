/* ptxas: what NVIDIA's assembler makes of a kernel: registers, spills, stack. */
#pragma once

#include "engine/base/base.h"

/* What `ptxas -v` said of a kernel; -1: not told. */
struct ptxas_said {
    int registers;    /* of a thread */
    int spill_stores; /* bytes of a thread, each instruction counted once, functions that it calls too */
    int spill_loads;  /* the same */
    int stack;        /* bytes of a thread, those functions included */
    int shared;       /* static, bytes */
};
void ptxas_read_said(const char *said, const char *kernel, struct ptxas_said *out);

/* An assembler that was found. It remembers its answers; threads may share it. */
struct ptxas;
/* NULL: there is none here, or no memory. */
struct ptxas *ptxas_new(void);
void ptxas_free(struct ptxas *p);
const char *ptxas_version(struct ptxas *p); /* "13.0.88" */
struct ptxas_want {
    struct str text, kernel;
    int cc_major, cc_minor; /* of the device */
    int maxnreg;            /* most registers, beside what the text says; 0: any number */
};
/* False: it does not compile this text for that device, or has not said how many registers it takes. */
bool ptxas_ask(struct ptxas *p, const struct ptxas_want *w, struct ptxas_said *out);
