/* libFuzzer target: what the library in somebody's program wrote down, of a survey (first byte even) or
 * of a captured launch (odd). Whatever the bytes, reading ends with a record whose parts are whole. */
#include "engine/dev/inject/record.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = size ? memfd_create("fuzz", 0) : -1;
    const char *head = size && data[0] & 1 ? LIVE_TAKE_HEAD "\n" : LIVE_RECORD_HEAD "\n";
    if (!size)
        return 0;
    if (fd < 0 || write(fd, head, strlen(head)) < 0 ||
        write(fd, data + 1, size - 1) != (ssize_t)(size - 1))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (data[0] & 1)
        take(path);
    else
        survey(path);
    close(fd);
    return 0;
}
