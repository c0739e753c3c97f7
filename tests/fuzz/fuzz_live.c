/* libFuzzer target: what the library in somebody's program wrote down, by the first byte's last two
 * bits: of a survey (0), of a captured launch (1), of apply (2); and what --worker sends (3). Whatever
 * the bytes, reading ends with a record whose parts are whole. */
#include "engine/dev/inject/record.h"
#include "engine/base/private_folder.h"
#include "engine/live/apply.h"
#include "engine/live/live.h"
#include "engine/live/live_int.h"
#include "engine/live/remote.h"
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

static void sent(const uint8_t *data, size_t size)
{
    struct remote r = { 0 };
    struct diags ds = { 0 };
    char *copy = base_alloc(size + 1);
    must(copy && private_folder_make(&r.folder, &ds) == ST_OK);
    memcpy(copy, data, size);
    enum status st = remote_unpack(&r, copy, size, &ds);
    must(st == ST_OK || ds.n);
    must(r.named <= r.nfiles);
    for (size_t i = 0; i < r.nfiles; i++)
        must(strncmp(r.file[i], r.folder, strlen(r.folder)) == 0 &&
             !strchr(r.file[i] + strlen(r.folder) + 1, '/'));
    base_free(copy);
    remote_free(&r);
    diags_free(&ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int what = size ? data[0] & 3 : 0;
    if (what == 3) {
        sent(data + 1, size - 1);
        return 0;
    }
    int fd = size ? memfd_create("fuzz", 0) : -1;
    const char *head = what == 1 ? LIVE_TAKE_HEAD "\n" : LIVE_RECORD_HEAD "\n";
    if (!size)
        return 0;
    if (fd < 0 || write(fd, head, strlen(head)) < 0 ||
        write(fd, data + 1, size - 1) != (ssize_t)(size - 1))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (what == 1)
        take(path);
    else if (what == 2)
        apply(path);
    else
        survey(path);
    close(fd);
    return 0;
}
