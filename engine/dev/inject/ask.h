/* ask: questions to the process that runs the program. */
#ifndef GPULOCW_DEV_INJECT_ASK_H
#define GPULOCW_DEV_INJECT_ASK_H

/* The answer, to be freed; NULL: none came. The question ends in a newline. */
__attribute__((format(printf, 1, 2))) char *ask(const char *format, ...);

#endif
