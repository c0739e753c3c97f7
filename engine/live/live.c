/* A program run with the library injected: a private folder, the child, the records of its processes. */
#include "engine/live/live.h"

#include "engine/base/private_folder.h"
#include "engine/dev/inject/record.h"
#include "engine/live/live_int.h"
#include "engine/live/ptxas.h"
#include "engine/live/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORD_MOST = 64 << 20, NOT_STARTED = 127, PEEK_MS = 500 };

/* ---- records ---- */
struct image {
    unsigned long long hash, bytes;
    int ptx, cubin, lto;
};
struct images {
    struct image *v;
    size_t n, cap;
};

static const char *why_not(const struct image *m)
{
    return !m         ? "the image it was loaded from was not recorded"
           : m->ptx   ? NULL
           : m->lto   ? "LTO-IR only, which cannot be read"
           : m->cubin ? "machine code only (SASS)"
                      : "the image is of an unknown kind";
}

static enum status take_kernel(struct live_survey *s, const struct images *images, const char *line)
{
    struct live_kernel t = { 0 };
    unsigned long long launches, timed, ns;
    int image, at = 0;
    if (sscanf(line, "K %d %llu %llu %llu %u %u %u %u %u %u %u %n", &image, &launches, &timed, &ns,
               &t.grid[0], &t.grid[1], &t.grid[2], &t.block[0], &t.block[1], &t.block[2], &t.shared,
               &at) < 11 ||
        !at)
        return ST_OK;
    t.launches = launches;
    t.timed = timed;
    t.time_ns = ns;
    const struct image *m = image >= 0 && (size_t)image < images->n ? &images->v[image] : NULL;
    return live_survey_count(s, str_of(line + at), m ? m->hash : 0, why_not(m), &t) ? ST_OK : ST_NOMEM;
}

static enum status take_line(struct live_survey *s, struct images *images, const char *line)
{
    struct image m;
    if (line[0] == 'K')
        return take_kernel(s, images, line);
    unsigned long long left_out;
    if (sscanf(line, "L %llu", &left_out) == 1)
        s->left_out += left_out;
    s->cut_off -= strcmp(line, "E") == 0 && s->cut_off;
    if (strncmp(line, "R ", 2) == 0 && !s->refused && !(s->refused = base_strdup(line + 2)))
        return ST_NOMEM;
    if (sscanf(line, "I %llu %llu %d %d %d", &m.hash, &m.bytes, &m.ptx, &m.cubin, &m.lto) == 5) {
        void *v = images->v;
        if (!base_grow(&v, images->n, &images->cap, sizeof m))
            return ST_NOMEM;
        images->v = v;
        images->v[images->n++] = m;
    }
    return ST_OK;
}

enum status live_record_read(struct live_survey *s, const char *path, const struct live_extra *x,
                             struct diags *ds)
{
    char *text = NULL, *rest, *line;
    size_t n = 0;
    enum status st = file_read_regular(path, RECORD_MOST, &text, &n, ds);
    struct images images = { 0 };
    rest = text;
    line = st == ST_OK ? strsep(&rest, "\n") : NULL;
    bool ours = line && strcmp(line, LIVE_RECORD_HEAD) == 0;
    s->processes += ours;
    s->cut_off += ours;
    while (ours && st == ST_OK && (line = strsep(&rest, "\n")))
        st =
            x && line[0] == 'A' ? x->line(x->ctx, line) ? ST_OK : ST_NOMEM : take_line(s, &images, line);
    BASE_FREE(images.v, text);
    return st;
}

static int by_time(const void *a, const void *b)
{
    const struct live_kernel *x = a, *y = b;
    return x->time_ns != y->time_ns ? (x->time_ns < y->time_ns ? 1 : -1) : strcmp(x->name, y->name);
}

static enum status read_all(struct live_survey *s, const char *record, const struct live_extra *x,
                            bool keep, struct diags *ds)
{
    enum status st = ST_OK;
    glob_t g = { 0 };
    struct buf b = { 0 };
    buf_printf(&b, "%s.[0-9]*[0-9]", record); /* FILE.PID; captures have further words behind that */
    if (b.s && !b.oom && glob(b.s, 0, NULL, &g) == 0)
        for (size_t i = 0; i < g.gl_pathc; i++) {
            if (st == ST_OK)
                st = live_record_read(s, g.gl_pathv[i], x, ds);
            if (!keep)
                unlink(g.gl_pathv[i]);
        }
    globfree(&g);
    buf_free(&b);
    if (s->n)
        qsort(s->v, s->n, sizeof *s->v, by_time);
    return st;
}

enum status live_records_peek(struct live_survey *s, const char *record, const struct live_extra *x,
                              struct diags *ds)
{
    return read_all(s, record, x, true, ds);
}

/* ---- the program ---- */
struct run {
    char *const *argv;
    const struct live_extra *extra;
    const struct live_want *want; /* NULL: no capture */
    const char *library, *record;
    const char *kept; /* what it compiles by calling ptxas (ptxas.h); NULL: nothing */
    bool caches;      /* PTX of machine code is looked for in caches */
};

/* Where PTX is looked for, the library also stands before NVRTC, whose PTX is not told otherwise. */
static bool put_preload(const struct run *r)
{
    const char *there = getenv("LD_PRELOAD");
    struct buf b = { 0 };
    buf_printf(&b, "%s%s%s", r->library, there && *there ? ":" : "", there ? there : "");
    bool set = b.s && !b.oom && setenv("LD_PRELOAD", b.s, 1) == 0;
    buf_free(&b);
    return set;
}

static bool put_ptxas(const struct run *r)
{
    char *path = r->kept ? live_ptxas_path(r->kept) : NULL;
    bool set = !r->kept || (path && setenv("PATH", path, 1) == 0);
    base_free(path);
    return set;
}

static bool put_variables(const struct run *r)
{
    char take[64];
    const struct live_extra *x = r->extra;
    if (r->want) {
        snprintf(take, sizeof take, "%llu %llu %u", (unsigned long long)r->want->nth,
                 (unsigned long long)r->want->max_bytes, r->want->shapes);
        if (setenv(LIVE_TAKE_VARIABLE, take, 1) != 0)
            return false;
    }
    return (!r->caches || put_preload(r)) && put_ptxas(r) &&
           setenv("CUDA_INJECTION64_PATH", r->library, 1) == 0 &&
           setenv(LIVE_RECORD_VARIABLE, r->record, 1) == 0 &&
           (!x || setenv(x->variable, x->value, 1) == 0);
}

static void child(const struct run *r, int told)
{
    int why;
    if (put_variables(r))
        execvp(r->argv[0], r->argv);
    why = errno;
    if (write(told, &why, sizeof why) < 0)
        _exit(NOT_STARTED - 1);
    _exit(NOT_STARTED);
}

/* Until the program has ended: a look at its record now and then, where one is asked for. */
static void look_on(const struct run *r, pid_t pid)
{
    const struct live_extra *x = r->extra;
    struct pollfd p = { .fd = x && x->peek ? (int)syscall(SYS_pidfd_open, pid, 0) : -1,
                        .events = POLLIN };
    while (p.fd >= 0 && poll(&p, 1, PEEK_MS) <= 0)
        x->peek(x->ctx, r->record);
    if (p.fd >= 0)
        close(p.fd);
}

static enum status run(const struct run *r, struct live_survey *s, struct diags *ds)
{
    char *const *argv = r->argv;
    int told[2], why = 0, status = 0;
    if (pipe2(told, O_CLOEXEC) != 0) {
        diag_error(ds, "program", "cannot start %s: %s", argv[0], strerror(errno));
        return ST_IO;
    }
    int64_t from = base_now_ns();
    pid_t pid = fork();
    if (pid == 0)
        child(r, told[1]);
    why = pid < 0 ? errno : 0;
    close(told[1]);
    bool failed = pid < 0 || read(told[0], &why, sizeof why) == (ssize_t)sizeof why;
    close(told[0]);
    if (!failed)
        look_on(r, pid);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ; /* an interrupt reached the program, too: it ends, or means to go on */
    s->wall_ns = (uint64_t)(base_now_ns() - from);
    s->exit = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (failed)
        diag_error(ds, "program", "cannot start %s: %s", argv[0], strerror(why));
    return failed ? ST_IO : ST_OK;
}

static enum status run_and_read(const struct run *r, struct live_survey *s, struct diags *ds)
{
    struct serve *served = NULL;
    enum status st = r->want ? serve_start(r->want, r->record, &served, ds) : ST_OK;
    if (st == ST_OK)
        st = run(r, s, ds);
    serve_stop(served);
    if (st == ST_OK)
        st = read_all(s, r->record, r->extra, false, ds);
    if (st == ST_OK && r->caches)
        st = live_survey_caches(s, r->kept);
    if (st == ST_OK && r->want)
        st = live_takes(s, r->want, served, r->record, ds);
    serve_free(served);
    return st;
}

/* Can the driver load a program's part from there? Not where a file system is mounted noexec. */
static bool can_be_loaded(const char *path)
{
    int f = open(path, O_RDONLY | O_CLOEXEC);
    void *p = f >= 0 ? mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, f, 0) : MAP_FAILED;
    if (p != MAP_FAILED)
        munmap(p, 4096);
    if (f >= 0)
        close(f);
    return p != MAP_FAILED;
}

/* A new folder below `under`; NULL: it cannot be made. To be released with private_folder_remove. */
static char *folder_below(const char *under)
{
    struct buf b = { 0 };
    buf_printf(&b, "%s/.gpulocw-XXXXXX", under);
    char *made = b.oom ? NULL : mkdtemp(b.s);
    char *path = made ? base_strdup(made) : NULL;
    if (made && !path)
        rmdir(made);
    buf_free(&b);
    return path;
}

static enum status put_library(const char *folder, struct buf *path, struct diags *ds)
{
    buf_clear(path);
    buf_printf(path, "%s/libgpulocw.so", folder);
    return path->oom ? ST_NOMEM : file_write_atomic(path->s, live_library, live_library_bytes, ds);
}

/* The library, in the first folder from which it can be loaded; *own: one made for it. */
static enum status library_place(const char *folder, char **own, struct buf *path, struct diags *ds)
{
    const char *home = getenv("HOME"), *others[] = { "/tmp", "/var/tmp", "/dev/shm", home ? home : "." };
    enum status st = put_library(folder, path, ds);
    for (size_t i = 0; st == ST_OK && i < ARRAY_LEN(others) && !can_be_loaded(path->s); i++) {
        struct diags unsaid = { 0 };
        private_folder_remove(*own);
        *own = folder_below(others[i]);
        if (*own && put_library(*own, path, &unsaid) == ST_NOMEM)
            st = ST_NOMEM;
        diags_free(&unsaid);
    }
    if (st == ST_OK && !can_be_loaded(path->s)) {
        diag_error(ds, "injection",
                   "no folder to load a library from: the folders for temporary files and %s are "
                   "mounted noexec",
                   home ? home : "the current one");
        diag_hint(diags_last(ds), "set TMPDIR to another folder");
        st = ST_IO;
    }
    return st;
}

/* A path in a folder that is about to be removed is of no use to the caller. */
static void forget_kept(struct live_survey *s, const char *kept)
{
    for (size_t i = 0; kept && i < s->n; i++)
        if (s->v[i].ptx_file && strncmp(s->v[i].ptx_file, kept, strlen(kept)) == 0) {
            base_free(s->v[i].ptx_file);
            s->v[i].ptx_file = NULL;
        }
}

static enum status run_in(const char *folder, struct run r, struct live_survey *s, struct diags *ds)
{
    struct buf library = { 0 }, record = { 0 };
    struct live_want want;
    char *own = NULL, *kept = NULL;
    buf_printf(&record, "%s/record", folder);
    enum status st = record.oom ? ST_NOMEM : library_place(folder, &own, &library, ds);
    r.library = library.s;
    r.record = record.s;
    if (st == ST_OK && r.caches)
        st = live_ptxas_put(folder, &kept, ds);
    r.kept = kept;
    if (r.want) {
        want = *r.want;
        want.kept = kept;
        r.want = &want;
    }
    if (st == ST_OK)
        st = run_and_read(&r, s, ds);
    forget_kept(s, kept);
    private_folder_remove(kept);
    private_folder_remove(own);
    buf_free(&library);
    buf_free(&record);
    return st;
}

static enum status run_injected(struct run r, struct live_survey *s, struct diags *ds)
{
    const char *there = getenv("CUDA_INJECTION64_PATH");
    if (there && *there) {
        diag_error(ds, "injection", "another library is already injected into CUDA programs: %s", there);
        diag_hint(diags_last(ds), "unset CUDA_INJECTION64_PATH");
        return ST_REFUSED;
    }
    char *folder = NULL;
    enum status st = ST_OK;
    if (r.want) { /* the data are large: where the files go there is room, or there is none */
        folder = folder_below(r.want->folder);
        if (!folder)
            diag_error(ds, "write", "cannot write into %s: %s", r.want->folder, strerror(errno));
        st = folder ? ST_OK : ST_IO;
    } else {
        st = private_folder_make(&folder, ds);
    }
    if (st == ST_OK)
        st = run_in(folder, r, s, ds);
    private_folder_remove(folder);
    return st;
}

enum status live_run(char *const *argv, const struct live_extra *x, struct live_survey *s,
                     struct diags *ds)
{
    return run_injected((struct run){ .argv = argv, .extra = x }, s, ds);
}

enum status live_capture_run(char *const *argv, const struct live_want *w, struct live_survey *s,
                             struct diags *ds)
{
    return run_injected((struct run){ .argv = argv, .want = w, .caches = true }, s, ds);
}

enum status live_survey_run(char *const *argv, struct live_survey *s, struct diags *ds)
{
    return run_injected((struct run){ .argv = argv, .caches = true }, s, ds);
}
