#include "tests/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Every test program takes a filter: its tests whose names have the first argument in them (* and ?
 * stand for any text and any character). The C library of Linux hands main's arguments to constructors.
 */
__attribute__((constructor)) static void take_filter(int argc, char **argv)
{
    static char pattern[256];
    if (argc != 2)
        return;
    snprintf(pattern, sizeof pattern, "*%s*", argv[1]);
    cmocka_set_test_filter(pattern);
}

void support_ok(enum status st, struct diags *ds, const char *file, int line)
{
    if (st == ST_OK)
        return;
    struct buf b = { 0 };
    diags_print(ds, &b);
    print_error("%s:%d: status is '%s'\n%s", file, line, status_text(st), b.s ? b.s : "");
    buf_free(&b);
    _fail(file, line);
}

bool support_said(const struct diags *ds, const char *text)
{
    for (size_t i = 0; i < ds->n; i++)
        if ((ds->v[i].msg && strstr(ds->v[i].msg, text)) ||
            (ds->v[i].hint && strstr(ds->v[i].hint, text)))
            return true;
    return false;
}

static char scratch[64];

static void remove_scratch(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    if (system(command) != 0)
        fputs("scratch folder not removed\n", stderr);
}

const char *support_scratch(void)
{
    if (!scratch[0]) {
        snprintf(scratch, sizeof scratch, "/tmp/gpulocw-test-XXXXXX");
        if (!mkdtemp(scratch))
            abort();
        atexit(remove_scratch);
    }
    return scratch;
}

struct support_clock support_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (struct support_clock){ base_now_ns(), (int64_t)t.tv_sec * 1000000000 + t.tv_nsec };
}

int64_t support_since(struct support_clock from)
{
    struct support_clock now = support_clock();
    return now.wall - from.wall < now.cpu - from.cpu ? now.wall - from.wall : now.cpu - from.cpu;
}
