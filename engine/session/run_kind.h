/* run_kind: what a user can run. */
#ifndef GPULOCW_SESSION_RUN_KIND_H
#define GPULOCW_SESSION_RUN_KIND_H

enum run_kind { RUN_ONE, RUN_SWEEP, RUN_TUNE };

#endif
