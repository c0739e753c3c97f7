/* tool: programs of the CUDA toolkit, found and run. */
#pragma once

#include "engine/base/base.h"

/* A program (nvcc, ptxas): on the PATH, below CUDA_HOME or CUDA_PATH, in /usr/local/cuda; owned; NULL: not
 * here. */
char *program_find(const char *name);
/* One on the PATH alone. */
char *program_on_path(const char *name);
/* Runs it: words end in NULL, what it says goes to the descriptor `out`. Its exit status; 127: not
 * started. */
int program_run(char *const *word, int out);
/* The same; what it said, `most` bytes at most, into *said (owned; NULL: out of memory, and 127). */
int program_listen(char *const *word, size_t most, char **said);
/* A word of such a line: it is not written to. */
static inline char *program_word(const char *s)
{
    return (char *)(uintptr_t)s;
}
