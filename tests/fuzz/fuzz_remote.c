/* libFuzzer target: what the two ends of --worker tell each other, and what the library in somebody's
 * program asks, by the first byte. Whatever the bytes, what came is whole, or there is a diagnostic. */
#include "engine/base/base.h"
#include "engine/base/private_folder.h"
#include "engine/dev/worker/wire.h"
#include "engine/live/apply.h"
#include "engine/live/live.h"
#include "engine/live/live_int.h"
#include "engine/live/remote.h"
#include "engine/live/serve.h"
#include "tests/fuzz/frames.h"

#include <dirent.h>
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

/* What came is in the folder, and no more is named than came. */
static void sent_whole(const struct remote *r, enum status st, const struct diags *ds)
{
    must(st == ST_OK || ds->n);
    must(r->named <= r->nfiles);
    for (size_t i = 0; i < r->nfiles; i++)
        must(strncmp(r->file[i], r->folder, strlen(r->folder)) == 0 &&
             !strchr(r->file[i] + strlen(r->folder) + 1, '/'));
}

static void sent(const uint8_t *data, size_t size)
{
    struct remote r = { 0 };
    struct diags ds = { 0 };
    char *copy = base_alloc(size + 1);
    must(copy && private_folder_make(&r.folder, &ds) == ST_OK);
    memcpy(copy, data, size);
    sent_whole(&r, remote_unpack(&r, copy, size, &ds), &ds);
    base_free(copy);
    remote_free(&r);
    diags_free(&ds);
}

/* A file of frames as the two ends send them: the greeting, then either the bytes as frames whose
 * checksums are made right, or parts of request 1, each as long as the byte before it says, and a REPLY.
 */
static int frames_of(const uint8_t *data, size_t size, bool parts)
{
    struct wire_frame f = { .type = WIRE_BYTES, .number = 1 };
    int fd = memfd_create("frames", 0);
    uint8_t *copy = base_alloc(size + 1);
    must(copy && fd >= 0 && wire_greet(fd));
    memcpy(copy, data, size);
    if (!parts) {
        frames_mend(copy, size);
        must(write(fd, copy, size) == (ssize_t)size);
    }
    for (uint8_t *p = copy; parts && size; f.part++) {
        size_t n = *p < size - 1 ? *p : size - 1;
        struct buf part = { .s = (char *)p + 1, .n = n };
        must(wire_send(fd, &f, &part, INT64_MAX, NULL));
        p += n + 1;
        size -= n + 1;
    }
    f.type = WIRE_REPLY;
    struct buf end = { .s = (char[4]){ 7 }, .n = 4 };
    must(!parts || wire_send(fd, &f, &end, INT64_MAX, NULL));
    base_free(copy);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static void sent_in_frames(const uint8_t *data, size_t size, bool parts)
{
    struct remote r = { 0 };
    struct diags ds = { 0 };
    uint32_t version;
    int fd = frames_of(data, size, parts);
    struct wire_stream s = { .fd = fd };
    must(wire_greeting(&s, INT64_MAX, NULL, &version) == WIRE_OK);
    sent_whole(&r, remote_read(fd, &r, &ds), &ds);
    close(fd);
    remote_free(&r);
    diags_free(&ds);
}

static void on_out(void *ctx, const char *text, size_t n)
{
    (void)text;
    *(size_t *)ctx += n;
}

/* Nothing half done is left in the folder. */
static void came_back(const uint8_t *data, size_t size, bool parts)
{
    struct diags ds = { 0 };
    char *folder = NULL;
    size_t out = 0;
    int exit = -1, left = 0, fd = frames_of(data, size, parts);
    must(private_folder_make(&folder, &ds) == ST_OK);
    const struct remote_back back = { folder, on_out, &out };
    enum status st = remote_take_back(fd, &back, &exit, &ds);
    must((st == ST_OK) == !ds.n && out <= size);
    DIR *d = opendir(folder);
    must(d != NULL);
    for (const struct dirent *e; (e = readdir(d)) != NULL; left++)
        must(!strstr(e->d_name, ".tmp") || *e->d_name != '.');
    must(left >= 2 && (size_t)left <= size + 2);
    closedir(d);
    close(fd);
    private_folder_remove(folder);
    diags_free(&ds);
}

/* ---- questions ---- */
static enum status no_code(void *ctx, const char *path, const char *kernel, unsigned cc,
                           struct ptx_module **out, struct diags *ds)
{
    (void)ctx;
    (void)kernel;
    *out = NULL;
    diag_error(ds, "fuzz", "%s for %u", path, cc);
    return ST_INPUT;
}

static void on_line(void *ctx, const char *line)
{
    *(size_t *)ctx += strlen(line);
}

static uint64_t match(void *ctx, const char *name, uint64_t hash, const char *path, int *maxreg,
                      uint64_t *whole)
{
    *whole = 0;
    (void)ctx;
    *maxreg = (int)strlen(name);
    return path ? hash : 0;
}

static void questions(const uint8_t *data, size_t size)
{
    static const char *const parts[] = { "gemm" };
    size_t shown = 0;
    const struct live_want w = {
        .kernel = parts, .nkernels = 1, .open = no_code, .progress = on_line, .ctx = &shown
    };
    const struct live_apply a = { .match = match };
    struct buf path = { 0 }, out = { 0 };
    struct diags ds = { 0 };
    struct serve *s;
    char *folder = NULL, *copy = base_alloc(size + 1);
    must(copy && private_folder_make(&folder, &ds) == ST_OK);
    buf_printf(&path, "%s/record", folder);
    must(serve_start(&w, path.s, &s, &ds) == ST_OK);
    serve_stop(s);
    memcpy(copy, data, size);
    serve_answer(s, copy, &out);
    memcpy(copy, data, size);
    live_apply_answer(&a, copy, &out);
    serve_free(s);
    private_folder_remove(folder);
    base_free(copy);
    buf_free(&path);
    buf_free(&out);
    diags_free(&ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size || size > 60000)
        return 0;
    unsigned what = data[0];
    data++;
    size--;
    switch (what & 3) {
    case 0: came_back(data, size, what & 8); break;
    case 1: sent_in_frames(data, size, what & 8); break;
    case 2: questions(data, size); break;
    default: sent(data, size); break;
    }
    return 0;
}
