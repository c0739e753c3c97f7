/* Rules of `check`, and presets written and read again: two files that a user writes by hand. Reading
 * ends with what was read or with a diagnostic; a level is one of the four; a preset is the same after
 * it was written. */
#include "engine/check/check.h"
#include "engine/session/preset.h"
#include "engine/sim/preset.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void rules(const char *path)
{
    struct diags ds = { 0 };
    struct rules r = rules_default();
    enum status st = rules_read(path, &r, &ds);
    must(st == ST_OK ? !ds.errors : ds.errors > 0);
    for (unsigned i = 0; st == ST_OK && i < RULE_COUNT; i++) {
        must(r.level[i] <= RULE_ERROR);
        must(isnan(rule_at((enum rule_id)i)->limit) || !isnan(r.limit[i]));
    }
    diags_free(&ds);
}

/* The file that it is written to, and, where the preset in it is asked for, read again. */
static char *written(const struct sim_preset *p, struct sim_preset *again, size_t *n)
{
    char path[64];
    struct diags ds = { 0 };
    snprintf(path, sizeof path, "/tmp/fuzz-preset-%ld.json", (long)getpid());
    must(preset_write(path, p, "fuzz", NULL, &ds) == ST_OK);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    must(fd >= 0);
    must(!again || preset_read(NULL, path, again, &ds) == ST_OK);
    *n = (size_t)lseek(fd, 0, SEEK_END);
    char *text = malloc(*n + 1);
    must(text && pread(fd, text, *n, 0) == (ssize_t)*n);
    close(fd);
    unlink(path);
    diags_free(&ds);
    return text;
}

static void presets(const char *path)
{
    struct diags ds = { 0 };
    struct sim_preset p, again;
    if (preset_read(NULL, path, &p, &ds) == ST_OK) {
        size_t n, m;
        char *one = written(&p, &again, &n), *two = written(&again, NULL, &m);
        must(n == m && memcmp(one, two, n) == 0);
        free(one);
        free(two);
    } else {
        must(ds.errors > 0);
    }
    diags_free(&ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("fuzz", 0);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    rules(path);
    presets(path);
    close(fd);
    return 0;
}
