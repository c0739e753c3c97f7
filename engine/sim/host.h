/* How this processor executes simulated kernels. */
#ifndef GPULOCW_SIM_HOST_H
#define GPULOCW_SIM_HOST_H

/* A line for people: what does the work, and what would be faster elsewhere. Static text. The results
 * are the same on every host. */
const char *sim_host(void);

#endif
