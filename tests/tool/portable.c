/* For portable.sh: names that glibc 2.28 does not have, by those that it has; with START, how the
 * program begins. */
#define _GNU_SOURCE
#ifndef START
#include <malloc.h>
#include <sys/stat.h>

/* x86-64: version 1 of struct stat */
int __xstat(int version, const char *path, struct stat *s);
int __lxstat(int version, const char *path, struct stat *s);
int __fxstat(int version, int fd, struct stat *s);

int stat(const char *path, struct stat *s)
{
    return __xstat(1, path, s);
}

int lstat(const char *path, struct stat *s)
{
    return __lxstat(1, path, s);
}

int fstat(int fd, struct stat *s)
{
    return __fxstat(1, fd, s);
}

/* Its counts of bytes wrap at 4 GiB; the engine asks only whether there is much to give back. */
struct mallinfo2 mallinfo2(void)
{
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    struct mallinfo old = mallinfo();
    return (struct mallinfo2){ .arena = (unsigned)old.arena,
                               .ordblks = (unsigned)old.ordblks,
                               .smblks = (unsigned)old.smblks,
                               .hblks = (unsigned)old.hblks,
                               .hblkhd = (unsigned)old.hblkhd,
                               .usmblks = (unsigned)old.usmblks,
                               .fsmblks = (unsigned)old.fsmblks,
                               .uordblks = (unsigned)old.uordblks,
                               .fordblks = (unsigned)old.fordblks,
                               .keepcost = (unsigned)old.keepcost };
}

#else
/* Before 2.34 a program tells the C library how to run its constructors, which start files of today
 * leave out. */
typedef void constructor(int, char **, char **);
extern constructor *__init_array_start[] __attribute__((visibility("hidden")));
extern constructor *__init_array_end[] __attribute__((visibility("hidden")));

__attribute__((used, visibility("hidden"))) void run_constructors(int argc, char **argv, char **env)
{
    for (constructor **c = __init_array_start; c < __init_array_end; c++)
        (*c)(argc, argv, env);
}

/* __libc_start_main(main, argc, argv, init, fini, end of the loader, top of the stack) */
__asm__(".text\n"
        ".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "    xor %ebp, %ebp\n"
        "    mov %rdx, %r9\n"
        "    pop %rsi\n"
        "    mov %rsp, %rdx\n"
        "    and $-16, %rsp\n"
        "    push %rax\n"
        "    push %rsp\n"
        "    xor %r8d, %r8d\n"
        "    lea run_constructors(%rip), %rcx\n"
        "    mov main@GOTPCREL(%rip), %rdi\n"
        "    call *__libc_start_main@GOTPCREL(%rip)\n"
        "    hlt\n");
#endif
