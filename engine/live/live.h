/* live: a program of somebody's, run unchanged with a small library injected by the CUDA driver
 * (CUDA_INJECTION64_PATH), and what that library saw. */
#ifndef GPULOCW_LIVE_LIVE_H
#define GPULOCW_LIVE_LIVE_H

#include "engine/base/base.h"

struct live_kernel {
    char *name;        /* as in the PTX; owned */
    char *ptx_file;    /* the PTX file of a cache that its machine code belongs to; owned; NULL: none */
    const char *why;   /* why there is no PTX; NULL: there is */
    uint64_t image;    /* hash of what was loaded, where it is one ELF file or text; 0: not known */
    uint64_t launches; /* executions on the GPU, those of graphs included */
    uint64_t time_ns;  /* of all of them together, on the GPU */
    unsigned grid[3], block[3], shared; /* of the first one; shared: dynamic, in bytes */
};
struct live_survey {
    struct live_kernel *v; /* longest time first */
    size_t n, cap;
    uint64_t wall_ns, gpu_ns;
    unsigned processes; /* that used CUDA and ended in order */
    char *refused;      /* why nothing could be recorded in one of them; owned; NULL: it could */
    int exit;           /* the program's exit status; 128 + signal */
};
/* Runs argv (ends in NULL) and waits. Its input, output and error are those of this process.
 * ST_IO: it could not be started; ST_REFUSED: another library is injected already. Free in every case.
 */
enum status live_survey_run(char *const *argv, struct live_survey *s, struct diags *ds);
void live_survey_free(struct live_survey *s);
/* The PTX file in Triton's cache beside machine code with this hash (as live_kernel has it); owned;
 * NULL: none, or out of memory. */
char *live_cache_ptx(uint64_t hash);

#endif
