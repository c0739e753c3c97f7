/* take: one launch of each wanted kernel with all that it works on, written to a record. */
#ifndef GPULOCW_DEV_INJECT_TAKE_H
#define GPULOCW_DEV_INJECT_TAKE_H

/* At the end of the program: kernels that were wanted, and whose launch never came. */
void take_end(void);

#endif
