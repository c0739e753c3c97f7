/* Calls to the system that read and write files, where a test can make the n-th one fail. Each is the
 * system's call of that name: the same arguments, result and errno. */
#pragma once

#include "engine/base/base.h"

#include <sys/types.h>

int base_open(const char *path, int flags, mode_t mode);
int base_openat(int folder, const char *path, int flags, mode_t mode);
ssize_t base_read(int fd, void *to, size_t n);
ssize_t base_pread(int fd, void *to, size_t n, off_t at);
ssize_t base_write(int fd, const void *p, size_t n);
ssize_t base_pwrite(int fd, const void *p, size_t n, off_t at);
int base_fsync(int fd);
int base_renameat(int folder, const char *from, int other, const char *to);
int base_close(int fd); /* what fails has closed the descriptor all the same */
int base_mkdir(const char *path, mode_t mode);

/* Fault injection: the n-th of these calls from now (0: none) fails with errno `err`, and with `lasting`
 * every one after it as well, but for base_close. err 0: reads and writes move one byte, other calls are
 * as always. Test use. */
void base_io_fail(uint64_t n, int err, bool lasting);
uint64_t base_io_count(void); /* calls so far */
