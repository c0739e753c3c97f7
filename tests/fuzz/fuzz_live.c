/* libFuzzer target: what the library in somebody's program wrote down, by the first byte: of a survey,
 * of a captured launch, of apply. Whatever the bytes, reading ends with a record whose parts are whole.
 */
#include "engine/dev/inject/record.h"
#include "engine/live/apply.h"
#include "engine/live/live.h"
#include "engine/live/live_int.h"
#include "engine/live/take.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good)
        abort();
}

static void survey(const char *path)
{
    struct live_survey s = { 0 };
    struct diags ds = { 0 };
    must(live_record_read(&s, path, NULL, &ds) == ST_OK);
    uint64_t launches = 0;
    for (size_t i = 0; i < s.n; i++) {
        must(s.v[i].name && s.v[i].nshapes);
        for (size_t k = 0; k < s.v[i].nshapes; k++)
            launches += s.v[i].shape[k].launches;
        launches -= s.v[i].launches;
    }
    must(launches == 0 && s.cut_off <= s.processes);
    live_survey_free(&s);
    diags_free(&ds);
}

static void take(const char *path)
{
    struct take t;
    struct diags ds = { 0 };
    must(take_read(&t, path, &ds) == ST_OK && t.data);
    for (size_t i = 0; i < t.nparam; i++)
        must(t.param[i].bytes != NULL);
    take_free(&t);
    diags_free(&ds);
}

static void apply(const char *path)
{
    struct live_apply a = { .n = 2 };
    struct live_extra x = { .line = live_apply_line, .ctx = &a };
    struct diags ds = { 0 };
    a.v = base_alloc(a.n * sizeof *a.v);
    must(a.v && live_record_read(&a.survey, path, &x, &ds) == ST_OK);
    for (size_t i = 0; i < a.n; i++)
        for (size_t k = 0; k < LIVE_ARMS; k++) {
            struct live_spread s;
            must(live_spread(&a.v[i].time[k], &s) == (a.v[i].time[k].kept != 0));
            must(!a.v[i].time[k].kept || (s.min <= s.median && s.median <= s.max));
        }
    live_apply_free(&a);
    diags_free(&ds);
}

/* The readers take paths: a file in memory has one. */
static void file_of(const uint8_t *data, size_t size, const char *head, void (*read)(const char *path))
{
    char path[64];
    int fd = memfd_create("fuzz", 0);
    must(fd >= 0 && write(fd, head, strlen(head)) == (ssize_t)strlen(head) &&
         write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read(path);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size || size > 60000)
        return 0;
    unsigned what = data[0];
    data++;
    size--;
    switch (what & 3) {
    case 1: file_of(data, size, LIVE_TAKE_HEAD "\n", take); break;
    case 2: file_of(data, size, LIVE_RECORD_HEAD "\n", apply); break;
    default: file_of(data, size, LIVE_RECORD_HEAD "\n", survey); break;
    }
    return 0;
}
