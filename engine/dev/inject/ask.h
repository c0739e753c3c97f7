/* ask: questions to the process that runs the program. */
#pragma once

/* The answer, to be freed; NULL: none came. The question ends in a newline. */
__attribute__((format(printf, 1, 2))) char *ask(const char *format, ...);
