/* Whole commands, each in a process of its own, with the n-th call that reads or writes a file failing:
 * none may crash, what ends well has printed what it always prints, what does not says why, the file
 * holds the old content or the new, whole, and nothing is left beside it. */
#include "engine/base/io.h"
#include "engine/cmd/cmd.h"
#include "engine/rec/result.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "tests/support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_WORDS 14
#define LIMIT_S    120
#define DEV        "--device", "sim:fermi-48k"
#define PTX        "kernels/stride_32.ptx"
struct command {
    const char *words[MOST_WORDS];
    bool writes;
};
static const struct command commands[] = {
    { { "sweep", PTX, DEV, "--json", "-o", "FILE" }, true },
    { { "sweep", PTX, DEV, "--json", "--resume", "FILE", "-o", "FILE" }, true },
    { { "run", PTX, DEV, "--bypass", "l1", "--json", "-o", "FILE" }, true },
    { { "tune", PTX, DEV, "--budget", "2", "-o", "FILE" }, true },
    { { "report", "FILE", "--format", "md" }, false },
    { { "replay", "FILE", "--plain" }, false },
    { { "analyze", PTX, "--json" }, false },
};
struct fault {
    int err;
    bool lasting;
};
static const struct fault faults[] = {
    { ENOSPC, true }, { EIO, false }, { EDQUOT, false }, { 0, true }
};
static char folder[300], file[340];

struct outcome {
    int code;
    uint64_t calls;
    char *out, *err;
};

static char *text_of(int fd)
{
    off_t n = lseek(fd, 0, SEEK_END);
    char *text = base_alloc((size_t)n + 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)n, 0), n);
    return text;
}

static void run_child(const struct command *c, uint64_t n, struct fault f, int out, int err,
                      uint64_t *calls)
{
    char *argv[MOST_WORDS + 2] = { (char *)(uintptr_t) "gpulocw" };
    int argc = 1;
    for (; argc <= MOST_WORDS && c->words[argc - 1]; argc++)
        argv[argc] =
            strcmp(c->words[argc - 1], "FILE") == 0 ? file : (char *)(uintptr_t)c->words[argc - 1];
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    alarm(LIMIT_S);
    uint64_t before = base_io_count();
    base_io_fail(n, f.err, f.lasting);
    int code = cmd_main(argc, argv, NULL);
    *calls = base_io_count() - before;
    _exit(code);
}

static struct outcome run(const struct command *c, uint64_t n, struct fault f)
{
    int out = memfd_create("out", 0), err = memfd_create("err", 0), status;
    uint64_t *calls =
        mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(out >= 0);
    assert_true(err >= 0);
    assert_true(calls != MAP_FAILED);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        run_child(c, n, f, out, err, calls);
    assert_int_equal(waitpid(child, &status, 0), child);
    struct outcome o = { WIFEXITED(status) ? WEXITSTATUS(status) : -1, *calls, text_of(out),
                         text_of(err) };
    munmap(calls, sizeof *calls);
    close(out);
    close(err);
    return o;
}

static void drop(struct outcome *o)
{
    base_free(o->out);
    base_free(o->err);
}

/* Points with a time in the session; SIZE_MAX: it is no whole session. */
static size_t points_in(const char *path)
{
    struct session *s = NULL;
    struct diags ds = { 0 };
    size_t n = 0;
    if (session_load(path, &s, &ds) != ST_OK)
        n = SIZE_MAX;
    for (size_t i = 0; s && i < session_count(s); i++) {
        const struct session_run *r = session_at(s, i);
        for (size_t k = 0; k < r->sweep.npoints; k++)
            n += r->sweep.points[k].time.valid;
    }
    session_free(s);
    diags_free(&ds);
    return n;
}

/* Without a session's journal, which stays beside one that cannot be written whole. */
static size_t files_in(const char *path)
{
    DIR *d = opendir(path);
    size_t n = 0;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += (e->d_name[0] != '.' || strlen(e->d_name) > 2) && !strstr(e->d_name, ".journal");
    closedir(d);
    return n;
}

static void put_back(const char *text, size_t n)
{
    struct diags ds = { 0 };
    char journal[PATH_MAX];
    snprintf(journal, sizeof journal, "%s.journal", file);
    unlink(journal);
    assert_int_equal(file_write_atomic(file, text, n, &ds), ST_OK);
    diags_free(&ds);
}

static void check_one(const struct command *c, uint64_t n, struct fault f, const struct outcome *usual,
                      size_t held)
{
    struct outcome o = run(c, n, f);
    char what[200];
    snprintf(what, sizeof what, "%s %s, call %llu fails with '%s'%s: exit code %d", c->words[0],
             c->words[5] ? c->words[5] : "", (unsigned long long)n, f.err ? strerror(f.err) : "short",
             f.lasting ? " for good" : "", o.code);
    if (o.code < 0 || o.code == status_exit_code(ST_REFUSED) || o.code == status_exit_code(ST_DIFFER) ||
        (!f.err && o.code))
        fail_msg("%s: %s", what, o.err);
    if (o.code && !o.err[0])
        fail_msg("%s, and nothing is said", what);
    if (!o.code && strcmp(o.out, usual->out) != 0)
        fail_msg("%s, and other output than always", what);
    if (files_in(folder) != 1)
        fail_msg("%s, and files are left behind", what);
    size_t now = points_in(file);
    if (now == SIZE_MAX)
        fail_msg("%s, and the session on disk is not whole", what);
    if (strcmp(c->words[4] ? c->words[4] : "", "--json") == 0 && c->words[6] &&
        strcmp(c->words[5], "--resume") == 0 && now < held)
        fail_msg("%s, and the session lost points: %zu of %zu", what, now, held);
    drop(&o);
}

static void every_call_fails_once(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/io", support_scratch());
    snprintf(file, sizeof file, "%s/s.json", folder);
    assert_int_equal(mkdir(folder, 0777), 0);
    struct outcome first = run(&commands[0], 0, (struct fault){ 0, false });
    if (first.code)
        fail_msg("%s", first.err);
    drop(&first);
    char *old = NULL;
    size_t nold = 0, held = points_in(file);
    struct diags ds = { 0 };
    assert_true(held > 0);
    assert_true(held != SIZE_MAX);
    assert_int_equal(file_read(file, SIZE_MAX, &old, &nold, &ds), ST_OK);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        struct outcome usual = run(&commands[i], 0, (struct fault){ 0, false });
        if (usual.code)
            fail_msg("%s: %s", commands[i].words[0], usual.err);
        assert_true(usual.calls > 2);
        put_back(old, nold);
        for (size_t k = 0; k < ARRAY_LEN(faults); k++)
            for (uint64_t n = 1; n <= usual.calls; n++) {
                check_one(&commands[i], n, faults[k], &usual, held);
                if (commands[i].writes)
                    put_back(old, nold);
            }
        drop(&usual);
    }
    base_free(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_call_fails_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
