/* Requests of other programs, by the first byte's last two bits: messages of an MCP client (0), the
 * arguments of a tool (1), lines of a batch (2), and these with what an earlier run left (3). The tools
 * themselves are /bin/true. Whatever the bytes, each answer is JSON, and a batch that is run again has
 * nothing more to do. */
#include "engine/base/private_folder.h"
#include "engine/service/service.h"
#include "engine/session/json.h"

#include <fcntl.h>
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

static int memory_file(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

/* Each line is an object with this key. */
static void lines_are_json(const char *text, size_t n, const char *key)
{
    for (const char *end; n && (end = memchr(text, '\n', n)) != NULL;) {
        size_t line = (size_t)(end - text);
        struct diags ds = { 0 };
        cJSON *o = json_parse("answer", text, line, &ds);
        must(o && json_text(o, key));
        cJSON_Delete(o);
        diags_free(&ds);
        text += line + 1;
        n -= line + 1;
    }
    must(n == 0);
}

static void client(const uint8_t *data, size_t size, const char *folder)
{
    const char *const root[] = { folder };
    struct diags ds = { 0 };
    int in = memory_file(data, size), out = memfd_create("answers", 0);
    const struct service_mcp_opts o = { "/bin/true", in, out, { root, 1 }, 1, NULL };
    must(service_mcp(&o, &ds) == ST_OK);
    off_t n = lseek(out, 0, SEEK_END);
    char *text = malloc((size_t)n + 1);
    must(text && pread(out, text, (size_t)n, 0) == n);
    lines_are_json(text, (size_t)n, "jsonrpc");
    free(text);
    close(in);
    close(out);
    diags_free(&ds);
}

static void arguments(const uint8_t *data, size_t size, const char *folder)
{
    struct service_line l = { 0 };
    struct diags ds = { 0 };
    char *text = malloc(size);
    must(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    enum status st = service_line_make(tool_at(data[0] % tool_count())->name, text, folder, &l, &ds);
    must((st == ST_OK) == !ds.errors);
    if (st == ST_OK) {
        must(l.argc >= 2 && !l.argv[l.argc]);
        for (int i = 0; i < l.argc; i++)
            must(l.argv[i] != NULL);
    }
    service_line_free(&l);
    diags_free(&ds);
    free(text);
}

static void put(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static enum status batch(const char *in, const char *out, struct service_batch_counts *c)
{
    const struct service_batch_opts o = { .self = "/bin/true", .file = in, .output = out, .jobs = 2 };
    struct diags ds = { 0 };
    enum status st = service_batch(&o, c, &ds);
    must((st == ST_OK) == !ds.errors);
    diags_free(&ds);
    return st;
}

static void read_lines(const char *path, struct buf *b)
{
    struct diags ds = { 0 };
    char *text = NULL;
    size_t n = 0;
    if (file_read(path, 1 << 24, &text, &n, &ds) == ST_OK) {
        lines_are_json(text, n, "format");
        buf_put(b, text, n);
    }
    base_free(text);
    diags_free(&ds);
}

/* With results: the bytes before the first 0xff are the output as an earlier run left it, those up to
 * the next are its part file. */
static void requests(const uint8_t *data, size_t size, bool results, const char *folder)
{
    static const char *const names[] = { "out", "out.part" };
    struct buf in = { 0 }, out = { 0 }, path = { 0 }, was = { 0 }, is = { 0 };
    struct service_batch_counts first, second;
    buf_printf(&in, "%s/in", folder);
    buf_printf(&out, "%s/out", folder);
    for (size_t i = 0; results && i < 2; i++) {
        const uint8_t *end = size ? memchr(data, 0xff, size) : NULL;
        size_t n = end ? (size_t)(end - data) : size;
        buf_clear(&path);
        buf_printf(&path, "%s/%s", folder, names[i]);
        put(path.s, data, n);
        data += n + (end != NULL);
        size -= n + (end != NULL);
    }
    put(in.s, data, size);
    enum status st = batch(in.s, out.s, &first);
    if (st == ST_OK || st == ST_INPUT) {
        read_lines(out.s, &was);
        must(batch(in.s, out.s, &second) == ST_OK);
        read_lines(out.s, &is);
        must(second.requests == first.requests && second.resumed == second.requests);
        must(was.n == is.n && (!was.n || !memcmp(was.s, is.s, was.n)));
    }
    buf_free(&in);
    buf_free(&out);
    buf_free(&path);
    buf_free(&was);
    buf_free(&is);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diags ds = { 0 };
    char *folder = NULL;
    if (size < 2 || size > 1 << 16)
        return 0;
    must(private_folder_make(&folder, &ds) == ST_OK);
    switch (data[0] & 3) {
    case 0: client(data + 1, size - 1, folder); break;
    case 1: arguments(data + 1, size - 1, folder); break;
    default: requests(data + 1, size - 1, data[0] & 1, folder); break;
    }
    private_folder_remove(folder);
    diags_free(&ds);
    return 0;
}
