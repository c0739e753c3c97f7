/* Whole commands, each in a process of its own, with every allocation from the n-th on failing: none may
 * crash, none may claim a refusal or a difference that is only a lack of memory, and what ends well has
 * printed what it always prints. */
#include "engine/cmd/cmd.h"
#include "tests/support.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_WORDS 12
/* the next n: every early allocation, fewer of the many later ones */
#define STEP    1.15
#define LIMIT_S 60
#define DEV     "--device", "sim:fermi-48k"
#define PTX     "kernels/stride_32.ptx"
static const char *const commands[][MOST_WORDS] = {
    { "analyze", PTX, "--json" },
    { "run", PTX, DEV, "--bypass", "l1", "--pi", "1", "--json" },
    { "report", "SESSION", "--format", "html" },
    { "report", "SESSION", "--format", "md" },
    { "replay", "SESSION", "--plain" },
    { "rewrite", PTX, "--kernel", "stride_32", "--bypass", "l1", "--pi", "1", "--json" },
    { "rewrite", "kernels/gemm.ptx", "--kernel", "gemm", "--coarsen", "2" },
    { "predict", PTX, DEV, "--bypass", "l1", "--json" },
    { "tune", PTX, DEV, "--budget", "3" },
    { "devices", "--json" },
    { "report", "SESSION", "--format", "svg" },
    { "report", "SESSION", "--format", "json" },
    { "report", "SESSION", "--format", "csv" },
    { "run", PTX, DEV, "--check-memory" },
    { "rewrite", "kernels/gemm.ptx", "--kernel", "n256", "--cluster", "agent", "--device",
      "sim:volta-v100", "--diff" },
    { "rewrite", "kernels/gemm.ptx", "--kernel", "n256", "--softcache", "1", "--device",
      "sim:volta-v100" },
    { "rewrite", "kernels/gemm.ptx", "--kernel", "n256", "--prefetch", "l2", "--bypass", "l1",
      "--bypass-form", "vertical" },
    { "analyze", "kernels/gemm.ptx", "--schedules" },
    { "launch", PTX },
    /* the last: it is run first of all, for the session that others read */
    { "sweep", PTX, DEV, "--axis", "pi", "-o", "SESSION" },
};

static char session[300];

static int words_of(const char *const *c, char **argv)
{
    int n = 0;
    argv[n++] = (char *)(uintptr_t) "gpulocw";
    for (; n <= MOST_WORDS && c[n - 1]; n++)
        argv[n] = strcmp(c[n - 1], "SESSION") == 0 ? session : (char *)(uintptr_t)c[n - 1];
    return n;
}

/* The exit code of a command whose n-th allocation fails (0: none does), -1 when a signal ended it;
 * *allocations: how many it made. */
static int run(const char *const *command, uint64_t n, int out, uint64_t *allocations)
{
    int status;
    assert_int_equal(ftruncate(out, 0), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        char *argv[MOST_WORDS + 2] = { 0 };
        int argc = words_of(command, argv);
        lseek(out, 0, SEEK_SET);
        dup2(out, STDOUT_FILENO);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        alarm(LIMIT_S);
        uint64_t before = base_alloc_count();
        base_fail_after(n);
        int code = cmd_main(argc, argv, NULL);
        *allocations = base_alloc_count() - before;
        fflush(stdout);
        _exit(code);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char *text_of(int fd)
{
    off_t n = lseek(fd, 0, SEEK_END);
    char *text = base_alloc((size_t)n + 1);
    assert_non_null(text);
    assert_int_equal(pread(fd, text, (size_t)n, 0), n);
    return text;
}

static void commands_without_memory(void **state)
{
    (void)state;
    uint64_t *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int out = memfd_create("out", 0);
    assert_true(made != MAP_FAILED);
    assert_true(out >= 0);
    snprintf(session, sizeof session, "%s/faults.json", support_scratch());
    assert_int_equal(run(commands[ARRAY_LEN(commands) - 1], 0, out, made), 0);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        int usual = run(commands[i], 0, out, made);
        if (usual)
            fail_msg("%s %s: exit code %d", commands[i][0], commands[i][1], usual);
        uint64_t all = *made;
        char *whole = text_of(out);
        assert_true(all > 10);
        for (uint64_t n = 1; n <= all; n = (uint64_t)((double)n * STEP) + 1) {
            int code = run(commands[i], n, out, made);
            char *text = text_of(out);
            if (code < 0 || code == status_exit_code(ST_REFUSED) ||
                code == status_exit_code(ST_DIFFER) || (!code && strcmp(text, whole) != 0))
                fail_msg("%s %s %s %s, allocation %llu of %llu fails: exit code %d", commands[i][0],
                         commands[i][1], commands[i][2] ? commands[i][2] : "",
                         commands[i][2] && commands[i][3] ? commands[i][3] : "", (unsigned long long)n,
                         (unsigned long long)all, code);
            base_free(text);
        }
        base_free(whole);
    }
    close(out);
    munmap(made, sizeof *made);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(commands_without_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
