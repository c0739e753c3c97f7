/* Files, time, threads. */
#include "engine/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

static enum status io_error(struct diags *ds, const char *path, const char *what, int err)
{
    diag_add(ds, DIAG_ERROR, "io", path, NO_SPAN, "%s: %s", what, strerror(err));
    return err == ENOMEM ? ST_NOMEM : ST_IO;
}

/* Reads until end of file; works for pipes too, where the size is not known before. */
static enum status read_all(int fd, const char *path, size_t max, struct buf *b, struct diags *ds)
{
    char chunk[65536];
    for (;;) {
        ssize_t n = base_read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_error(ds, path, "cannot read", errno);
        if (n == 0)
            break;
        buf_put(b, chunk, (size_t)n);
        if (b->n > max)
            return io_error(ds, path, "too large", EFBIG);
        if (b->oom)
            return io_error(ds, path, "cannot read", ENOMEM);
    }
    buf_put(b, "", 0);
    return b->oom ? io_error(ds, path, "cannot read", ENOMEM) : ST_OK;
}

/* A descriptor of what is no folder. */
static enum status open_to_read(const char *path, int *fd, struct stat *st, struct diags *ds)
{
    *fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : base_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (*fd < 0)
        return io_error(ds, path, "cannot open", errno);
    if (fstat(*fd, st) == 0 && !S_ISDIR(st->st_mode))
        return ST_OK;
    base_close(*fd);
    return io_error(ds, path, "cannot read", EISDIR);
}

enum status file_read(const char *path, size_t max, char **data, size_t *n, struct diags *ds)
{
    int fd;
    struct stat st;
    *data = NULL;
    *n = 0;
    if (open_to_read(path, &fd, &st, ds) != ST_OK)
        return ST_IO;
    struct buf b = { 0 };
    enum status s = read_all(fd, path, max, &b, ds);
    base_close(fd);
    if (s != ST_OK) {
        buf_free(&b);
        return s;
    }
    *n = b.n;
    *data = buf_take(&b);
    return ST_OK;
}

/* statfs(2): proc, sysfs, debugfs, tracefs */
#define KERNEL_FILES                                   \
    {                                                  \
        0x9fa0L, 0x62656572L, 0x64626720L, 0x74726163L \
    }

static bool kernel_file(int fd)
{
    static const long kernel[] = KERNEL_FILES;
    struct statfs f;
    bool is = false;
    for (size_t i = 0; i < ARRAY_LEN(kernel) && fstatfs(fd, &f) == 0; i++)
        is = is || (long)f.f_type == kernel[i];
    return is;
}

/* Pipes, devices and what the kernel makes up are refused, and nothing waits for a writer. */
static enum status open_regular(const char *path, int *fd, struct stat *st, struct diags *ds)
{
    *fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*fd < 0)
        return io_error(ds, path, "cannot open", errno);
    if (fstat(*fd, st) == 0 && S_ISREG(st->st_mode) && !kernel_file(*fd))
        return ST_OK;
    close(*fd);
    diag_add(ds, DIAG_ERROR, "io", path, NO_SPAN, "cannot read: not a regular file");
    return ST_IO;
}

enum status file_read_regular(const char *path, size_t max, char **data, size_t *n, struct diags *ds)
{
    int fd;
    struct stat st;
    *data = NULL;
    *n = 0;
    if (open_regular(path, &fd, &st, ds) != ST_OK)
        return ST_IO;
    struct buf b = { 0 };
    enum status s = (uint64_t)st.st_size > max ? io_error(ds, path, "too large", EFBIG)
                                               : read_all(fd, path, max, &b, ds);
    close(fd);
    *n = s == ST_OK ? b.n : 0;
    *data = s == ST_OK ? buf_take(&b) : NULL;
    buf_free(&b);
    return s;
}

enum status file_read_part(const char *path, uint64_t from, void *to, uint64_t n, uint64_t *got,
                           struct diags *ds)
{
    int fd;
    struct stat st;
    enum status s = ST_OK;
    *got = 0;
    if (open_regular(path, &fd, &st, ds) != ST_OK)
        return ST_IO;
    if (!to)
        *got = (uint64_t)st.st_size > from ? (uint64_t)st.st_size - from : 0;
    while (to && *got < n) {
        ssize_t k = base_pread(fd, (char *)to + *got, n - *got, (off_t)(from + *got));
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            s = io_error(ds, path, "cannot read", errno);
        if (k <= 0)
            break;
        *got += (uint64_t)k;
    }
    base_close(fd);
    *got = *got < n ? *got : n;
    return s;
}

bool file_make_dirs(const char *path)
{
    char *p = base_strdup(path);
    bool ok = p != NULL;
    for (char *s = p; ok && *s && (s = strchr(s + 1, '/'));) {
        *s = 0;
        ok = base_mkdir(p, 0777) == 0 || errno == EEXIST;
        *s = '/';
    }
    int err = p ? errno : ENOMEM;
    base_free(p);
    errno = err;
    return ok;
}

#define MEMORY_FILES 0x01021994L, 0x858458f6L /* statfs(2): tmpfs, ramfs */

int file_nameless(void)
{
    static const long memory[] = { MEMORY_FILES };
    const char *dir = getenv("TMPDIR");
    int fd = base_open(dir && *dir ? dir : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    struct statfs f;
    bool disk = fd >= 0 && fstatfs(fd, &f) == 0;
    for (size_t i = 0; disk && i < ARRAY_LEN(memory); i++)
        disk = (long)f.f_type != memory[i];
    if (!disk && fd >= 0)
        base_close(fd);
    return disk ? fd : -1;
}

bool file_put(int fd, uint64_t at, const void *p, uint64_t n)
{
    ssize_t k = 1;
    for (uint64_t done = 0; done < n && k > 0; done += k > 0 ? (uint64_t)k : 0)
        while ((k = base_pwrite(fd, (const char *)p + done, n - done, (off_t)(at + done))) < 0 &&
               errno == EINTR) {}
    return !n || k > 0;
}

bool file_get(int fd, uint64_t at, void *p, uint64_t n)
{
    ssize_t k = 1;
    for (uint64_t done = 0; done < n && k > 0; done += k > 0 ? (uint64_t)k : 0)
        while ((k = base_pread(fd, (char *)p + done, n - done, (off_t)(at + done))) < 0 &&
               errno == EINTR) {}
    return !n || k > 0;
}

int64_t base_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint8_t *base_pages(uint64_t n, int *file)
{
    *file = memfd_create("gpulocw-data", MFD_CLOEXEC);
    if (*file < 0)
        return NULL;
    void *p = ftruncate(*file, (off_t)n) == 0
                  ? mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0)
                  : MAP_FAILED;
    if (p != MAP_FAILED)
        return p;
    base_close(*file);
    *file = -1;
    return NULL;
}

void base_pages_rest(uint8_t *p, uint64_t n)
{
    madvise(p, n, MADV_DONTNEED);
}

void base_pages_ready(void *p, uint64_t n)
{
#ifdef MADV_POPULATE_WRITE
    const uintptr_t page = 4096, from = ((uintptr_t)p + page - 1) / page * page,
                    end = ((uintptr_t)p + n) / page * page;
    if (end > from)
        /* older kernels refuse: then page by page, as they are touched */
        madvise((void *)from, end - from, MADV_POPULATE_WRITE);
#else
    (void)p;
    (void)n;
#endif
}

void base_pages_free(uint8_t *p, uint64_t n, int file)
{
    munmap(p, n);
    if (file >= 0)
        base_close(file);
}

uint8_t *base_pages_copy(uint64_t n, int file)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | (file ? 0 : MAP_ANONYMOUS),
                   file ? file : -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

unsigned base_cpus(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? (unsigned)n : 1;
}

struct parallel {
    atomic_size_t next;
    size_t n;
    void (*fn)(void *, size_t);
    void *ctx;
};

static void *parallel_worker(void *arg)
{
    struct parallel *p = arg;
    for (size_t i; (i = atomic_fetch_add(&p->next, 1)) < p->n;)
        p->fn(p->ctx, i);
    return NULL;
}

void base_parallel(unsigned threads, size_t n, void (*fn)(void *, size_t), void *ctx)
{
    enum { MOST = 256 };
    pthread_t id[MOST];
    struct parallel p = { .n = n, .fn = fn, .ctx = ctx };
    unsigned want = threads ? threads : base_cpus(), started = 0;
    if (want > MOST)
        want = MOST;
    if (want > n)
        want = (unsigned)n;
    while (started + 1 < want && pthread_create(&id[started], NULL, parallel_worker, &p) == 0)
        started++;
    /* this thread works too, so no thread at all is still right */
    parallel_worker(&p);
    for (unsigned i = 0; i < started; i++)
        pthread_join(id[i], NULL);
}
