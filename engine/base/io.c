/* Calls to the system. The variables below are the fault injector's: they exist for tests and influence
 * nothing else. */
#include "engine/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic uint64_t calls;
static _Atomic uint64_t fail_at; /* 0: never */
static atomic_int fail_with;
static atomic_bool fail_on; /* and after that */

void base_io_fail(uint64_t n, int err, bool lasting)
{
    atomic_store(&fail_with, err);
    atomic_store(&fail_on, lasting);
    atomic_store(&fail_at, n ? atomic_load(&calls) + n : 0);
}

uint64_t base_io_count(void)
{
    return atomic_load(&calls);
}

/* Is this call one that the test wants to go wrong? */
static bool is_hit(void)
{
    uint64_t n = atomic_fetch_add(&calls, 1) + 1,
             at = atomic_load_explicit(&fail_at, memory_order_relaxed);
    return at && (n == at || (n > at && atomic_load(&fail_on)));
}

static bool fails(void)
{
    int err = is_hit() ? atomic_load(&fail_with) : 0;
    errno = err ? err : errno;
    return err != 0;
}

/* How many of n bytes may be moved; -1: none, and errno says why. */
static ssize_t allowed(size_t n)
{
    if (!is_hit())
        return (ssize_t)n;
    int err = atomic_load(&fail_with);
    errno = err ? err : errno;
    return err ? -1 : n > 1 ? 1 : (ssize_t)n;
}

int base_open(const char *path, int flags, mode_t mode)
{
    return fails() ? -1 : open(path, flags, mode);
}
int base_openat(int folder, const char *path, int flags, mode_t mode)
{
    return fails() ? -1 : openat(folder, path, flags, mode);
}

ssize_t base_read(int fd, void *to, size_t n)
{
    ssize_t k = allowed(n);
    return k < 0 ? -1 : read(fd, to, (size_t)k);
}

ssize_t base_pread(int fd, void *to, size_t n, off_t at)
{
    ssize_t k = allowed(n);
    return k < 0 ? -1 : pread(fd, to, (size_t)k, at);
}

ssize_t base_write(int fd, const void *p, size_t n)
{
    ssize_t k = allowed(n);
    return k < 0 ? -1 : write(fd, p, (size_t)k);
}

ssize_t base_pwrite(int fd, const void *p, size_t n, off_t at)
{
    ssize_t k = allowed(n);
    return k < 0 ? -1 : pwrite(fd, p, (size_t)k, at);
}

int base_fsync(int fd)
{
    return fails() ? -1 : fsync(fd);
}
int base_renameat(int folder, const char *from, int other, const char *to)
{
    return fails() ? -1 : renameat(folder, from, other, to);
}
int base_mkdir(const char *path, mode_t mode)
{
    return fails() ? -1 : mkdir(path, mode);
}

int base_close(int fd)
{
    bool bad = fails();
    int err = errno, k = close(fd);
    if (bad)
        errno = err;
    return bad ? -1 : k;
}
