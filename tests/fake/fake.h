/* Where the fake libraries and this test program are, and a stand-in for the
 * presets that `session` reads. A test program that includes this is also a
 * worker: `test_x worker` serves the protocol on its standard streams. */
#ifndef GPULOCW_FAKE_H
#define GPULOCW_FAKE_H

#include "engine/dev/dev.h"

/* Path of this program, absolute; static storage. */
const char *fake_self(void);
/* Path of a file in tests/fake/ of the build folder; static storage, four in turn. */
const char *fake_path(const char *name);
/* Uses the fake driver variant ("libcuda.so.1", ...) and fake CUPTI with these scripts from now on. */
void fake_use(const char *driver, const char *cuda_script, const char *cupti_script);
void fake_use_none(void); /* as on a machine without a driver */
/* What `long name(void)` of this fake driver says, the device's own while one is open; -1: there is no
 * such function. */
long fake_number(const char *driver, const char *name);
/* presets by default values, this program as worker, 1 thread */
struct dev_env fake_env(void);
/* When argv says `worker`: serves and returns true with the exit code. */
bool fake_worker_main(int argc, char **argv, int *code);

#endif
