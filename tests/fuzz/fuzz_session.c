/* Files that anyone may send: launch descriptions, sessions, lessons, presets. Whatever the bytes,
 * reading them ends with what was read or with a diagnostic; what was read is written, and read again it
 * is the same. */
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/session/documents.h"
#include "engine/session/launch_file.h"
#include "engine/session/lesson.h"
#include "engine/session/document.h"
#include "engine/session/preset.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/sim/preset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The readers take paths: a file in memory has one. */
static int file_of(const void *p, size_t n, char path[64])
{
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, p, n) != (ssize_t)n)
        abort();
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static bool reads_files(const struct launch_spec *l)
{
    bool any = false;
    for (size_t i = 0; i < l->nargs; i++)
        any = any || l->args[i].init.kind == INIT_FILE || l->args[i].init.kind == INIT_NPY;
    for (size_t i = 0; i < l->nsymbols; i++)
        any = any || l->symbols[i].init.kind == INIT_FILE || l->symbols[i].init.kind == INIT_NPY;
    for (size_t i = 0; i < l->nbefore; i++)
        any = any || reads_files(&l->before[i]);
    return any;
}

/* Reads what was written and writes it again. */
static void again(const struct buf *text, struct buf *out)
{
    char path[64];
    struct launch_file f;
    int fd = file_of(text->s, text->n, path);
    struct diags ds = { 0 };
    if (launch_file_read(path, &f, &ds) != ST_OK) {
        struct buf why = { 0 };
        diags_print(&ds, &why);
        fprintf(stderr, "%s\ncannot be read again:\n%s", text->s, why.s ? why.s : "");
        abort();
    }
    diags_free(&ds);
    launch_file_text(f.launch, f.n, out);
    launch_file_free(&f);
    close(fd);
}

static void launches(const char *path)
{
    struct diags ds = { 0 };
    struct launch_file f;
    struct buf one = { 0 }, two = { 0 }, three = { 0 };
    if (launch_file_read(path, &f, &ds) == ST_OK) {
        launch_file_text(f.launch, f.n, &one);
        again(&one, &two); /* bytes that are no UTF-8 have become U+FFFD */
        again(&two, &three);
        if (two.n != three.n || memcmp(two.s, three.s, two.n) != 0)
            abort();
        for (size_t i = 0; i < f.n; i++) {
            struct launch_data d;
            if (!reads_files(&f.launch[i]) && launch_data_make(&f.launch[i], 1 << 16, &d, &ds) == ST_OK)
                launch_data_free(&d);
        }
        launch_file_free(&f);
    } else if (!ds.errors) {
        abort();
    }
    buf_free(&one);
    buf_free(&two);
    buf_free(&three);
    diags_free(&ds);
}

static void sessions(const char *path)
{
    struct diags ds = { 0 };
    struct session *s;
    struct buf out = { 0 };
    if (session_load(path, &s, &ds) == ST_OK) {
        for (size_t i = 0; i < session_count(s); i++) {
            struct session_run copy;
            if (!session_run_copy(&copy, session_at(s, i)))
                abort();
            if (copy.kind == RUN_SWEEP)
                json_sweep(&copy.sweep, copy.proof, &copy.dev, copy.kernel, copy.race, &out);
            else if (copy.kind == RUN_TUNE)
                json_found(copy.found, NULL, 0, copy.trail, copy.ntrail, &copy.dev, copy.kernel,
                           copy.race, &out);
            else
                json_result(copy.one, &copy.dev, copy.kernel, copy.race, NULL, copy.proof, &out);
            session_run_clear(&copy);
        }
        session_free(s);
    } else if (!ds.errors) {
        abort();
    }
    buf_free(&out);
    diags_free(&ds);
}

static void others(const char *path)
{
    struct diags ds = { 0 };
    struct lesson *l = NULL;
    struct sim_preset p;
    if (lesson_read(path, &l, &ds) == ST_OK)
        lesson_free(l);
    else if (!ds.errors)
        abort();
    if (preset_read(NULL, path, &p, &ds) != ST_OK && !ds.errors)
        abort();
    diags_free(&ds);
}

/* Against the table of fields: what is not as the table says has a reason. */
static void documents(const uint8_t *data, size_t size)
{
    struct buf why = { 0 };
    if (!document_check((const char *)data, size, &why) && !why.n)
        abort();
    buf_free(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    documents(data, size);
    int fd = file_of(data, size, path);
    launches(path);
    sessions(path);
    others(path);
    close(fd);
    return 0;
}
