/* machine: the machine code (SASS) of a kernel, for people to read: its PTX through ptxas, or what a
 * program holds, then through nvdisasm or cuobjdump. All are found on the PATH, below CUDA_HOME or
 * CUDA_PATH, or in /usr/local/cuda; none is needed to build. */
#pragma once

#include "engine/dev/ptxas.h"

/* One line of a listing. */
struct machine_line {
    uint32_t cuda;   /* line of the CUDA source that it was compiled from, 0: not told */
    bool inst;       /* an instruction; else a label */
    bool memory;     /* it reads or writes global memory */
    struct str text; /* without offset, encoding and blanks around it; in machine_code.text */
    uint32_t offset; /* of an instruction, bytes from the kernel's start */
};
struct machine_code {
    char *text; /* owned: what the disassembler printed */
    struct machine_line *v;
    size_t n;
    char arch[16]; /* "sm_90a" */
    struct ptxas_said said;
    /* instructions in the listing */
    unsigned loads;  /* of global memory */
    unsigned stores; /* to global memory */
    unsigned shared_accesses;
    unsigned local_accesses;
    char missing[160]; /* why there are no instructions although ptxas was satisfied; empty: there are */
};
struct machine_want {
    struct str ptx;     /* text to compile; empty: `file` holds machine code */
    const char *file;   /* executable, library or cubin; NULL: compile */
    const char *kernel; /* name as in the PTX */
    const char *target; /* of the PTX, "sm_75" */
    uint32_t cc;        /* of the device that runs it, 90; 0: not known or simulated: the target's */
};
/* ST_OK: *out is to be released with machine_free. ST_INPUT: ptxas refused it, or the file has no
 * machine code of that kernel. ST_REFUSED: a tool that is needed is not here; the message says which. */
enum status machine_make(const struct machine_want *w, struct machine_code *out, struct diags *ds);
void machine_free(struct machine_code *c);

/* The parts, for tests. Lines of one kernel out of what nvdisasm -c -g or cuobjdump -sass printed: takes
 * the text over. False: no such kernel in it. */
bool machine_parse(struct machine_code *c, char *text, const char *kernel);
