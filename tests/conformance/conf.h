/* Device conformance: one list of cases that every device must pass. Plain C, so
 * that it runs under cmocka (tests/unit/test_dev_conformance.c) and by itself on
 * a GPU machine (tests/conformance/gpu_check.c). */
#ifndef GPULOCW_CONF_H
#define GPULOCW_CONF_H

#include "engine/dev/dev.h"

struct conf_case;
struct conf_env;
struct dev;
struct str;

enum conf_verdict { CONF_PASS, CONF_FAIL, CONF_SKIP };
struct conf_env {
    struct dev *dev;
    struct str ptx; /* tests/conformance/kernels.ptx */
    bool survives;  /* faults and hangs cost at most a worker process */
    char why[512];  /* of a failure or a skip */
};
struct conf_case {
    const char *name;
    enum conf_verdict (*run)(struct conf_env *e);
};
size_t conf_count(void);
const struct conf_case *conf_case(size_t i);
#define CONF_PTX "tests/conformance/kernels.ptx"

#endif
