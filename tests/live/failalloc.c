/* LD_PRELOAD for tests/cli/live_faults.sh: the n-th allocation (FAIL_AT, from 0) that the injected
 * library makes fails, once; a line on standard error says so. Those of the program and of the driver do
 * not. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static long left = -2; /* -2: not read yet; -1: none fails */
static __thread bool inside;

static bool fails(void *caller)
{
    Dl_info at;
    bool yes = false;
    if (inside)
        return false;
    inside = true;
    if (left == -2) {
        const char *e = getenv("FAIL_AT");
        left = e ? atol(e) : -1;
    }
    if (left >= 0 && dladdr(caller, &at) && at.dli_fname && strstr(at.dli_fname, "libgpulocw.so")) {
        yes = left-- == 0;
        if (yes && write(STDERR_FILENO, "FIRED\n", 6) < 0)
            abort();
    }
    inside = false;
    return yes;
}

void *malloc(size_t n)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}

char *strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
    return copy ? memcpy(copy, s, n) : NULL;
}
