/* outputs: see outputs.h. */
#include "engine/cmd/outputs.h"
#include "engine/tune/tune.h"

#include "engine/rec/launch.h"
#include "engine/rec/result_read.h"
#include "engine/session/document.h"
#include "engine/workspace/workspace.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST      "gpulocw-outputs.json"
#define LIST_MOST ((size_t)1 << 20)

/* What the last launch left in an output buffer. */
struct output {
    struct tune_bench *bench;
    size_t arg;
};
static enum status read_output(void *ctx, uint64_t at, void *to, size_t n, struct diags *ds)
{
    const struct output *o = ctx;
    return tune_bench_read(o->bench, o->arg, at, to, n, ds);
}

static bool is_output(const struct arg_spec *a)
{
    return a->kind == ARG_BUFFER && a->output;
}

/* NAME.bin: a name of the launch description gives no folder. */
static void put_name(const struct arg_spec *a, struct buf *out)
{
    size_t from = out->n;
    buf_printf(out, "%s.bin", a->name);
    for (char *c = out->s ? out->s + from : NULL; c && *c; c++)
        if (*c == '/')
            *c = '_';
}

static enum status write_output(struct tune_bench *bench, const struct launch_spec *l, size_t arg,
                                const char *folder, struct diags *ds)
{
    uint64_t n = l->args[arg].count * elem_size(l->args[arg].elem);
    struct buf path = { 0 };
    struct output o = { bench, arg };
    buf_printf(&path, "%s/", folder);
    put_name(&l->args[arg], &path);
    enum status st = path.oom ? ST_NOMEM : file_write_parts(path.s, n, read_output, &o, ds);
    buf_free(&path);
    return st;
}

static void put_listed(const struct arg_spec *a, struct buf *out)
{
    struct buf name = { 0 };
    put_name(a, &name);
    buf_json(out, str_of(name.s ? name.s : ""));
    buf_free_checked(&name, out);
}

static enum status write_list(const struct launch_spec *l, const char *folder, struct diags *ds)
{
    struct buf path = { 0 }, text = { 0 }, name = { 0 };
    struct jw w = document_open(&text, "gpulocw-outputs", 0);
    buf_printf(&path, "%s/" LIST, folder);
    jw_put_arr(&w, "files");
    for (size_t i = 0; i < l->nargs; i++)
        if (is_output(&l->args[i])) {
            buf_clear(&name);
            put_name(&l->args[i], &name);
            jw_str(&w, name.s);
        }
    jw_end_arr(&w);
    document_close(&w);
    buf_free_checked(&name, &text);
    enum status st = path.oom || text.oom ? ST_NOMEM : file_write_atomic(path.s, text.s, text.n, ds);
    buf_free(&path);
    buf_free(&text);
    return st;
}

/* Is the output's file new, or one that the list names? */
static enum status check_one(const struct arg_spec *a, const char *folder, const char *list,
                             struct diags *ds)
{
    struct buf path = { 0 }, name = { 0 };
    struct stat s;
    buf_printf(&path, "%s/", folder);
    put_name(a, &path);
    put_listed(a, &name);
    enum status st = path.oom || name.oom ? ST_NOMEM : ST_OK;
    if (st == ST_OK && lstat(path.s, &s) == 0 && !(S_ISREG(s.st_mode) && strstr(list, name.s)))
        st = workspace_output_refused(path.s, "exists and was not written by gpulocw", ds);
    buf_free(&path);
    buf_free(&name);
    return st;
}

static enum status no_folder(const char *folder, const char *why, struct diags *ds)
{
    struct diag *d = diag_add(ds, DIAG_ERROR, "io", NULL, NO_SPAN,
                              "cannot create or write folder '%s': %s; nothing was run", folder, why);
    diag_hint(d, "--outputs needs a folder that can be written, or a new name in one");
    return ST_IO;
}

enum status outputs_folder(const char *folder, struct diags *ds)
{
    struct stat s;
    struct buf parent = { 0 };
    size_t n = strlen(folder);
    if (stat(folder, &s) == 0) {
        if (!S_ISDIR(s.st_mode))
            return no_folder(folder, strerror(ENOTDIR), ds);
        return access(folder, W_OK | X_OK) == 0 ? ST_OK : no_folder(folder, strerror(errno), ds);
    }
    if (errno != ENOENT || n == 0)
        return no_folder(folder, strerror(errno), ds);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    while (n > 0 && folder[n - 1] != '/')
        n--;
    buf_printf(&parent, "%.*s", n ? (int)n : 1, n ? folder : ".");
    enum status st = parent.oom                           ? ST_NOMEM
                     : access(parent.s, W_OK | X_OK) == 0 ? ST_OK
                                                          : no_folder(folder, strerror(errno), ds);
    buf_free(&parent);
    return st;
}

enum status outputs_check(const struct launch_spec *l, const char *folder, bool force, struct diags *ds)
{
    struct buf path = { 0 };
    char *list = NULL;
    size_t n;
    if (force || !l)
        return ST_OK;
    buf_printf(&path, "%s/" LIST, folder);
    enum status st = path.oom ? ST_NOMEM : workspace_output_check(path.s, false, ds);
    bool read = st == ST_OK && file_read_regular(path.s, LIST_MOST, &list, &n, NULL) == ST_OK;
    for (size_t i = 0; i < l->nargs && st == ST_OK; i++)
        if (is_output(&l->args[i]))
            st = check_one(&l->args[i], folder, read ? list : "", ds);
    base_free(read ? list : NULL);
    buf_free(&path);
    return st;
}

enum status outputs_write(struct tune_bench *bench, const struct launch_spec *l, const char *folder,
                          struct diags *ds)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        diag_error(ds, "io", "cannot create folder '%s': %s", folder, strerror(errno));
        return ST_IO;
    }
    /* the list first: a file that a full disk cuts off the next run may replace */
    enum status st = write_list(l, folder, ds);
    for (size_t i = 0; i < l->nargs && st == ST_OK; i++)
        if (is_output(&l->args[i]))
            st = write_output(bench, l, i, folder, ds);
    return st;
}

/* ---- against what a GPU left ---- */
enum { PIECE = 1 << 20 };

struct difference {
    uint64_t bytes;
    bool beyond; /* of the stated tolerance */
};

static bool near_captured(const struct arg_spec *a, const uint8_t *x, const uint8_t *y)
{
    if (a->tolerance <= 0 || !elem_is_float(a->elem))
        return false;
    double v = elem_load(x, a->elem), w = elem_load(y, a->elem);
    return fabs(v - w) <= a->tolerance * fmax(fabs(v), fabs(w));
}

static void compare_piece(const struct arg_spec *a, const uint8_t *is, const uint8_t *was, size_t n,
                          struct difference *d)
{
    size_t size = elem_size(a->elem);
    for (size_t i = 0; i < n; i += size) {
        size_t k = n - i < size ? n - i : size;
        if (memcmp(is + i, was + i, k) == 0)
            continue;
        for (size_t b = i; b < i + k; b++)
            d->bytes += is[b] != was[b];
        d->beyond |= k < size || !near_captured(a, is + i, was + i);
    }
}

static enum status compare_output(struct tune_bench *bench, const struct launch_spec *l, size_t arg,
                                  uint8_t *room, struct difference *d, struct diags *ds)
{
    const struct arg_spec *a = &l->args[arg];
    uint64_t n = a->count * elem_size(a->elem), got = 0;
    struct buf path = { 0 };
    bool absolute = a->expect[0] == '/';
    buf_printf(&path, "%s%s%s", absolute || !l->dir ? "" : l->dir, absolute || !l->dir ? "" : "/",
               a->expect);
    enum status st = path.oom ? ST_NOMEM : ST_OK;
    for (uint64_t at = 0; at < n && st == ST_OK; at += PIECE) {
        uint64_t k = n - at < PIECE ? n - at : PIECE;
        st = tune_bench_read(bench, arg, at, room, k, ds);
        if (st == ST_OK)
            st = file_read_part(path.s, a->expect_at + at, room + PIECE, k, &got, ds);
        if (st == ST_OK && got != k) {
            diag_error(ds, "captured", "%s is shorter than output '%s'", path.s, a->name);
            st = ST_INPUT;
        }
        if (st == ST_OK)
            compare_piece(a, room, room + PIECE, k, d);
    }
    buf_free(&path);
    return st;
}

bool outputs_are_captured(const struct launch_spec *l)
{
    for (size_t i = 0; i < l->nargs; i++)
        if (l->args[i].expect && l->args[i].output)
            return true;
    return false;
}

enum status outputs_captured(struct tune_bench *bench, const struct launch_spec *l, struct result *r,
                             struct diags *ds)
{
    struct difference d = { 0 };
    uint8_t *room = NULL;
    enum status st = ST_OK;
    for (size_t i = 0; i < l->nargs && st == ST_OK; i++) {
        if (!l->args[i].expect || !l->args[i].output)
            continue;
        if (!room && !(room = base_alloc(2 * PIECE)))
            st = ST_NOMEM;
        else
            st = compare_output(bench, l, i, room, &d, ds);
    }
    base_free(room);
    if (outputs_are_captured(l) && st == ST_OK)
        result_captured_set(r, !d.bytes ? EQUAL_YES : d.beyond ? EQUAL_NO : EQUAL_WITHIN, d.bytes);
    return st;
}

void outputs_captured_text(const struct result *r, struct buf *out)
{
    if (result_captured(r) == EQUAL_UNKNOWN)
        return;
    buf_puts(out, "captured  ");
    if (result_captured(r) == EQUAL_YES)
        buf_puts(out, "equal to what the captured launch left\n");
    else
        buf_printf(out, "%s what the captured launch left: %llu bytes differ\n",
                   result_captured(r) == EQUAL_NO ? "differs from" : "within the stated tolerance of",
                   (unsigned long long)result_captured_differ(r));
}
