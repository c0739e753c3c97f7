/* Shared by the test programs: cmocka with what it needs included before it. */
#ifndef GPULOCW_TESTS_SUPPORT_H
#define GPULOCW_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/base/base.h"

struct support_clock;

/* Fails the test with the diagnostics' text unless st is ST_OK. */
void support_ok(enum status st, struct diags *ds, const char *file, int line);
#define assert_status_ok(st, ds) support_ok((st), (ds), __FILE__, __LINE__)
/* Does one of the diagnostics hold this text (message or hint)? */
bool support_said(const struct diags *ds, const char *text);
/* For work without waits: nanoseconds since `from`, or of this process's processor time where that is
 * less (a busy machine). */
struct support_clock {
    int64_t wall, cpu;
};
struct support_clock support_clock(void);
int64_t support_since(struct support_clock from);
/* Folder for scratch files, made once per process and removed at its end. */
const char *support_scratch(void);

#endif
