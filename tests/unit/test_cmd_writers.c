/* Every command that writes files, each in a process of its own, with the n-th call that reads or writes
 * failing: a disk that is full for good, one error, a short write every time; and with files that may
 * not grow past some size (SIGXFSZ). Nothing crashes; what ends well has left what it always leaves;
 * what does not ends 1, says so and names what it could not read or write; each file on disk is whole,
 * and nothing half done lies beside it. Sessions: test_cmd_io. */
#include "engine/base/io.h"
#include "engine/cmd/cmd.h"
#include "tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_WORDS 12
#define MOST_FILES 24
#define LIMIT_S    120
#define DEV        "--device", "sim:fermi-48k"
#define PTX        "kernels/stride_32.ptx"
/* @NAME: NAME in the folder that is watched; =NAME: in the folder of inputs. */
struct writer {
    const char *name, *words[MOST_WORDS];
    bool varies; /* the content holds times or hangs on them: whole is what ends like JSON.
                             Such a command runs the device, so every fifth call fails */
};
static const struct writer writers[] = {
    { "rewrite",
      { "rewrite", PTX, "--bypass", "l1", "--pi", "1", "-o", "@r.ptx", "--with-launch" },
      false },
    { "launch", { "launch", PTX, "-o", "@l.json" }, true },
    { "outputs", { "run", PTX, DEV, "--bypass", "l1", "--outputs", "@out" }, false },
    { "report md", { "report", "=s.json", "--format", "md", "-o", "@r.md" }, false },
    { "report html", { "report", "=s.json", "--format", "html", "-o", "@r.html" }, false },
    { "report svg", { "report", "=s.json", "--format", "svg", "-o", "@r.svg" }, false },
    { "sarif", { "check", PTX, "--format", "sarif", "-o", "@c.sarif" }, false },
    { "demo", { "demo", "stride_32", "-o", "@d.json" }, true },
    { "apply", { "apply", "=r.ptx", "--export", "@x" }, false },
};
static const struct {
    int err;
    bool lasting;
} faults[] = { { ENOSPC, true }, { EIO, false }, { 0, true } };

struct held {
    char name[120];
    char *text;
    size_t n;
};
struct contents {
    struct held file[MOST_FILES];
    size_t n;
};
struct outcome {
    int code;
    uint64_t calls;
    char *err;
    struct contents left;
};
static char folder[300], inputs[300];
static struct contents *reading; /* of nftw's callback */

static char *text_of(int fd, size_t *n)
{
    off_t size = lseek(fd, 0, SEEK_END);
    char *text = base_alloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)size, 0), size);
    text[size] = 0;
    *n = (size_t)size;
    return text;
}

static int take(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)at;
    if (kind != FTW_F)
        return 0;
    assert_true(reading->n < MOST_FILES);
    struct held *h = &reading->file[reading->n++];
    snprintf(h->name, sizeof h->name, "%.119s", path + strlen(folder) + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    h->text = text_of(fd, &h->n);
    close(fd);
    return 0;
}

static int clear(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    return at->level ? remove(path) : 0;
}

static void words_of(const struct writer *w, char (*place)[400], char **argv, int *argc)
{
    argv[0] = (char *)(uintptr_t) "gpulocw";
    for (*argc = 1; *argc <= MOST_WORDS && w->words[*argc - 1]; ++*argc) {
        const char *s = w->words[*argc - 1];
        if (*s == '@' || *s == '=')
            snprintf(place[*argc], sizeof *place, "%s/%s", *s == '@' ? folder : inputs, s + 1);
        else
            snprintf(place[*argc], sizeof *place, "%s", s);
        argv[*argc] = place[*argc];
    }
    argv[*argc] = NULL;
}

/* size: the most that a file may grow to; RLIM_INFINITY: any. */
static void child(const struct writer *w, uint64_t n, int err, bool lasting, rlim_t size, int told,
                  uint64_t *calls)
{
    static char place[MOST_WORDS + 1][400];
    char *argv[MOST_WORDS + 2];
    int argc, null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    words_of(w, place, argv, &argc);
    dup2(null, STDOUT_FILENO);
    dup2(told, STDERR_FILENO);
    alarm(LIMIT_S);
    struct rlimit most = { size, size };
    if (size != RLIM_INFINITY && setrlimit(RLIMIT_FSIZE, &most))
        _exit(99);
    uint64_t before = base_io_count();
    base_io_fail(n, err, lasting);
    int code = cmd_main(argc, argv, NULL);
    *calls = base_io_count() - before;
    _exit(code);
}

/* What a pipe holds; its writer has ended. */
static char *said_on(int fd)
{
    struct buf b = { 0 };
    char part[4096];
    for (ssize_t n; (n = read(fd, part, sizeof part)) > 0;)
        buf_put(&b, part, (size_t)n);
    buf_puts(&b, "");
    return buf_take(&b);
}

static struct outcome run(const struct writer *w, uint64_t n, int err, bool lasting, rlim_t size)
{
    struct outcome o = { 0 };
    int told[2], status;
    uint64_t *calls =
        mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(pipe(told), 0);
    assert_true(fcntl(told[1], F_SETPIPE_SZ, 1 << 18) > 0);
    assert_true(calls != MAP_FAILED);
    nftw(folder, clear, 8, FTW_DEPTH | FTW_PHYS);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid)
        child(w, n, err, lasting, size, told[1], calls);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    o.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    o.calls = *calls;
    close(told[1]);
    o.err = said_on(told[0]);
    reading = &o.left;
    nftw(folder, take, 8, FTW_PHYS);
    munmap(calls, sizeof *calls);
    close(told[0]);
    return o;
}

static void drop(struct outcome *o)
{
    base_free(o->err);
    for (size_t k = 0; k < o->left.n; k++)
        base_free(o->left.file[k].text);
}

static const struct held *named(const struct contents *c, const char *name)
{
    for (size_t k = 0; k < c->n; k++)
        if (strcmp(c->file[k].name, name) == 0)
            return &c->file[k];
    return NULL;
}

static bool whole(const struct writer *w, const struct held *h, const struct held *usual)
{
    if (w->varies)
        return h->n > 2 && h->text[0] == '{' && strstr(h->text + h->n - 3, "}\n");
    return h->n == usual->n && memcmp(h->text, usual->text, h->n) == 0;
}

/* Why the outcome is wrong, or NULL. */
static const char *wrong(const struct writer *w, const struct outcome *o, const struct outcome *usual,
                         int err)
{
    bool missing = false, told = false;
    if (o->code < 0)
        return "it crashed";
    if (!err && o->code)
        return "short writes are no error";
    for (size_t k = 0; k < o->left.n; k++) {
        const struct held *h = &o->left.file[k], *u = named(&usual->left, h->name);
        if (!u)
            return "a file is left behind";
        if (!whole(w, h, u))
            return "a file is not whole";
    }
    for (size_t k = 0; k < usual->left.n; k++) {
        const char *name = usual->left.file[k].name, *base = strrchr(name, '/');
        bool none = !named(&o->left, name);
        missing |= none;
        told |= strstr(o->err, base ? base + 1 : name) != NULL;
    }
    if (!o->code)
        return missing ? "it ends well without a file" : NULL;
    if (o->code != 1)
        return "the exit code is not 1";
    if (!o->err[0])
        return "nothing is said";
    return missing && !told && !strstr(o->err, "cannot") ? "what is missing is not named" : NULL;
}

static void every_writer(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
        const struct writer *w = &writers[i];
        struct outcome usual = run(w, 0, 0, false, RLIM_INFINITY);
        if (usual.code || !usual.left.n)
            fail_msg("%s: exit code %d, %zu files: %s", w->name, usual.code, usual.left.n, usual.err);
        for (size_t k = 0; k < ARRAY_LEN(faults); k++)
            for (uint64_t n = 1; n <= usual.calls; n += w->varies ? 5 : 1) {
                struct outcome o = run(w, n, faults[k].err, faults[k].lasting, RLIM_INFINITY);
                const char *why = wrong(w, &o, &usual, faults[k].err);
                if (why)
                    fail_msg("%s, call %llu of %llu, %s: exit code %d, %s: %s", w->name,
                             (unsigned long long)n, (unsigned long long)usual.calls,
                             faults[k].err ? strerror(faults[k].err) : "short", o.code, why, o.err);
                drop(&o);
            }
        drop(&usual);
    }
}

/* Files that may not grow: to nothing, to a byte, to half of the largest, to all of it but one byte. */
static void every_writer_with_a_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
        const struct writer *w = &writers[i];
        struct outcome usual = run(w, 0, 0, false, RLIM_INFINITY);
        size_t most = 0;
        for (size_t k = 0; k < usual.left.n; k++)
            most = usual.left.file[k].n > most ? usual.left.file[k].n : most;
        const rlim_t limits[] = { 0, 1, most / 2, most - 1 };
        assert_true(most > 1);
        for (size_t k = 0; k < ARRAY_LEN(limits); k++) {
            struct outcome o = run(w, 0, 0, false, limits[k]);
            const char *why = o.code != 1 && !(w->varies && k == 3) ? "it does not end with 1"
                                                                    : wrong(w, &o, &usual, EFBIG);
            if (why)
                fail_msg("%s, files of at most %llu bytes: exit code %d, %s: %s", w->name,
                         (unsigned long long)limits[k], o.code, why, o.err);
            drop(&o);
        }
        drop(&usual);
    }
}

static int prepare(void **state)
{
    (void)state;
    static const struct writer session = { "inputs",
                                           { "tune", PTX, DEV, "--budget", "2", "-o", "=s.json" },
                                           NULL };
    snprintf(folder, sizeof folder, "%s/watched", support_scratch());
    snprintf(inputs, sizeof inputs, "%s/inputs", support_scratch());
    if (mkdir(folder, 0777) || mkdir(inputs, 0777))
        return 1;
    struct outcome o = run(&session, 0, 0, false, RLIM_INFINITY);
    int code = o.code;
    drop(&o);
    static const struct writer rewritten = {
        "inputs", { "rewrite", PTX, "--bypass", "l1", "--pi", "1", "-o", "=r.ptx" }, false
    };
    o = run(&rewritten, 0, 0, false, RLIM_INFINITY);
    code = code ? code : o.code;
    drop(&o);
    return code;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_writer),
                                        cmocka_unit_test(every_writer_with_a_limit) };
    return cmocka_run_group_tests_name("cmd_writers", tests, prepare, NULL);
}
