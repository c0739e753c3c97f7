/* How this processor executes simulated kernels. */
#pragma once

/* A line for people: what does the work, and what would be faster elsewhere. Static text. The results
 * are the same on every host. */
const char *sim_host(void);
