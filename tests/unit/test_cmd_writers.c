/* Every command that writes files (tests/writers.def), each in a process of its own, with the n-th call
 * that reads or writes failing: a disk that is full for good, one error, a short write every time; and
 * with files that may not grow past some size (SIGXFSZ). Nothing crashes; what ends well has left what
 * it always leaves; what does not ends 1, says so and names what it could not read or write; each file
 * on disk is whole, and nothing half done lies beside it. Sessions: test_cmd_io.
 *
 * And with another's file in the place of each file that it writes: that stays, unless --force is given.
 */
#include "engine/base/io.h"
#include "engine/cmd/cmd.h"
#include "engine/dev/dev.h"
#include "engine/session/preset.h"
#include "engine/workspace/snapshot.h"
#include "tests/support.h"
#include "tui/control/control.h"
#include "tui/app/config.h"
#include "tui/term/drive.h"
#include "tui/term/lesson_export.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_WORDS 16
#define MOST_FILES 24
#define LIMIT_S    120
#define DEV        "--device", "sim:fermi-48k"
#define PTX        "kernels/stride_32.ptx"
#define KERNELS    "tests/live/kernels.ptx"
#define SETUP      "open kernels/stride_32.ptx", "device sim:fermi-48k", "set bypass l1", "set pi 1", "run"
enum form { EXACT, JSON, TAIL, BATCH, SESSION };
enum others { ASKS, NEVER, OWN };
struct writer {
    const char *name;
    enum form form;
    enum others others;
    const char *words[MOST_WORDS];
};
#define ELSEWHERE(source, test)
#define WRITER(sources, name, form, others, ...) { name, form, others, __VA_ARGS__ },
static const struct writer writers[] = {
#include "tests/writers.def"
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
static char folder[300], inputs[300], programs[300];
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

/* A word with what @, = and % at the begin of one of its parts mean. */
static char *word_of(const char *s)
{
    struct buf b = { 0 };
    for (const char *at = s; *at; at++) {
        bool first = at == s || at[-1] == ' ';
        if (first && (*at == '@' || *at == '='))
            buf_printf(&b, "%s/", *at == '@' ? folder : inputs);
        else if (first && *at == '%')
            buf_printf(&b, "%s/", programs);
        else
            buf_put(&b, at, 1);
    }
    buf_puts(&b, "");
    return buf_take(&b);
}

/* force: with --force behind the command's name */
static int words_of(const struct writer *w, bool force, char **argv)
{
    int argc = 1;
    argv[0] = word_of("gpulocw");
    for (size_t i = 0; i < MOST_WORDS && w->words[i]; i++) {
        argv[argc++] = word_of(w->words[i]);
        if (!i && force)
            argv[argc++] = word_of("--force");
    }
    argv[argc] = NULL;
    return argc;
}

struct fault {
    uint64_t n;
    int err;
    bool lasting;
    rlim_t size; /* the most that a file may grow to; RLIM_INFINITY: any */
    bool force;  /* no fault, but another word: --force */
};

static void begin(const struct fault *f)
{
    struct rlimit most = { f->size, f->size };
    if (f->size != RLIM_INFINITY && setrlimit(RLIMIT_FSIZE, &most))
        _exit(99);
    base_io_fail(f->n, f->err, f->lasting);
}

/* What went wrong, on standard error; 1: something did. */
static int complaints(const struct app *a, size_t from)
{
    int code = 0;
    if (a->notice[0] && (a->notice_level == DIAG_ERROR || (from && a->notice_level == DIAG_WARNING)))
        code = 1, fprintf(stderr, "%s\n", a->notice);
    for (size_t i = from; i < a->snap->nmessages; i++)
        if (a->snap->messages[i].level == DIAG_ERROR)
            code = 1,
            fprintf(stderr, "%s: %s\n", a->snap->messages[i].file ? a->snap->messages[i].file : "",
                    a->snap->messages[i].text);
    return code;
}

/* Commands of the workbench; those behind "--" with the fault. */
static int workbench(char **argv, const struct fault *f, uint64_t *before)
{
    static struct drive d;
    struct dev_env env = { .preset = preset_read, .self = argv[0] };
    struct diags ds = { 0 };
    size_t from = 0;
    int code = 0;
    if (drive_open(&d, &env, &ds) != ST_OK)
        return 98;
    config_load(&d.app, folder, &ds);
    signal(SIGXFSZ, SIG_IGN); /* as cmd_main has it */
    for (char **word = argv + 2; *word; word++) {
        bool last = strcmp(*word, "--") == 0;
        if (!last) {
            *d.app.notice = 0;
            app_command(&d.app, *word);
            drive_settle(&d);
            code |= complaints(&d.app, from);
        } else {
            from = d.app.snap->nmessages;
            *before = base_io_count();
            begin(f);
        }
        if (code && !from)
            return 97;
    }
    base_io_fail(0, 0, false);
    drive_close(&d);
    return code;
}

static void child(const struct writer *w, const struct fault *f, int told, uint64_t *calls)
{
    static const struct cmd_front front = { .export_lesson = lesson_export };
    char *argv[MOST_WORDS + 3];
    int code, argc = words_of(w, f->force, argv), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDOUT_FILENO);
    dup2(told, STDERR_FILENO);
    alarm(LIMIT_S);
    uint64_t before = base_io_count();
    if (strcmp(argv[1], "workbench") == 0) {
        code = workbench(argv, f, &before);
    } else {
        begin(f);
        code = cmd_main(argc, argv, &front);
    }
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

/* keep: what lies in the folder stays. */
static struct outcome run(const struct writer *w, struct fault f, bool keep)
{
    struct outcome o = { 0 };
    int told[2], status;
    uint64_t *calls =
        mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(pipe(told), 0);
    assert_true(fcntl(told[1], F_SETPIPE_SZ, 1 << 18) > 0);
    assert_true(calls != MAP_FAILED);
    if (!keep)
        nftw(folder, clear, 8, FTW_DEPTH | FTW_PHYS);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid)
        child(w, &f, told[1], calls);
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

static bool ends_alike(const struct held *h, const char *end, size_t n)
{
    return h->n >= n && memcmp(h->text + h->n - n, end, n) == 0;
}

static bool whole(const struct writer *w, const struct held *h, const struct held *usual)
{
    const size_t tail = usual->n < 24 ? usual->n : 24;
    if (strstr(h->name, "gpulocw-files.json")) /* grows as files are written */
        return ends_alike(h, "]}\n", 3);
    if (w->form == EXACT)
        return h->n == usual->n && memcmp(h->text, usual->text, h->n) == 0;
    if (w->form == TAIL)
        return ends_alike(h, usual->text + usual->n - tail, tail);
    if (w->form == BATCH && !h->n)
        return true;
    /* files of the programs that "capture" takes from are the same every time */
    return h->text[0] == '{' ? h->n > 3 && strchr("}\n", h->text[h->n - 2]) && h->text[h->n - 1] == '\n'
                             : h->n == usual->n && memcmp(h->text, usual->text, h->n) == 0;
}

/* Why the outcome is wrong, or NULL. */
static const char *wrong(const struct writer *w, const struct outcome *o, const struct outcome *usual,
                         int err)
{
    bool missing = false, told = false;
    if (o->code < 0)
        return "it crashed";
    bool good = o->code == usual->code;
    if (!err && !good)
        return "short writes are no error";
    for (size_t k = 0; k < o->left.n; k++) {
        const struct held *h = &o->left.file[k], *u = named(&usual->left, h->name);
        if (!u && w->form == BATCH && strstr(h->name, ".part"))
            continue; /* what has finished and waits for its turn */
        if (!u)
            return "a file is left behind";
        if (!whole(w, h, u))
            return h->name;
    }
    for (size_t k = 0; k < usual->left.n; k++) {
        const char *name = usual->left.file[k].name, *base = strrchr(name, '/');
        bool none = !named(&o->left, name);
        missing |= none;
        told |= none && strstr(o->err, base ? base + 1 : name);
    }
    if (good)
        return missing && !told ? "it ends well without a file, and no word of it" : NULL;
    if (o->code != 1)
        return "the exit code is not 1";
    if (!o->err[0])
        return "nothing is said";
    return missing && !told && !strstr(o->err, "cannot") && !strstr(o->err, "could not be")
               ? "what is missing is not named"
               : NULL;
}

static const struct fault no_fault = { 0, 0, false, RLIM_INFINITY, false },
                          forced = { 0, 0, false, RLIM_INFINITY, true };

static void complain(const struct writer *w, const struct fault *f, uint64_t calls,
                     const struct outcome *o, const char *why)
{
    if (f->size != RLIM_INFINITY)
        fail_msg("%s, files of at most %llu bytes: exit code %d, %s: %s", w->name,
                 (unsigned long long)f->size, o->code, why, o->err);
    fail_msg("%s, call %llu of %llu, %s: exit code %d, %s: %s", w->name, (unsigned long long)f->n,
             (unsigned long long)calls, f->err ? strerror(f->err) : "short", o->code, why, o->err);
}

static size_t lines_of(const struct contents *c, const char *name)
{
    const struct held *h = named(c, name);
    size_t n = 0;
    for (size_t i = 0; h && i < h->n; i++)
        n += h->text[i] == '\n';
    return n;
}

/* The same command again has what the one before left, and does the rest. */
static const char *goes_on(const struct writer *w, const struct outcome *left,
                           const struct outcome *usual)
{
    size_t had = lines_of(&left->left, "b.jsonl") + lines_of(&left->left, "b.jsonl.part");
    char resumed[40];
    struct outcome o = run(w, no_fault, true);
    snprintf(resumed, sizeof resumed, "requests, %zu had results already", had);
    const char *why = o.code != usual->code ? "the next run does not end well"
                      : lines_of(&o.left, "b.jsonl") != lines_of(&usual->left, "b.jsonl")
                          ? "the next run has not all results"
                      : !strstr(o.err, resumed) ? "a result was lost"
                                                : NULL;
    drop(&o);
    return why;
}

static void try(const struct writer *w, struct fault f, const struct outcome *usual)
{
    struct outcome o = run(w, f, false);
    bool limit = f.size != RLIM_INFINITY;
    const char *why = wrong(w, &o, usual, limit ? EFBIG : f.err);
    bool told = strstr(o.err, "was not written"); /* by ptxas: no fault of ours, but said */
    if (limit && !why && o.code != 1 && !told && (w->form == EXACT || f.size <= 1))
        why = "it does not end with 1";
    if (!why && w->form == BATCH)
        why = goes_on(w, &o, usual);
    if (why)
        complain(w, &f, usual->calls, &o, why);
    drop(&o);
}

static void every_call_fails(const struct writer *w, const struct outcome *usual)
{
    for (size_t k = 0; k < ARRAY_LEN(faults); k++)
        for (uint64_t n = 1; n <= usual->calls; n += w->form == EXACT ? 1 : 11)
            try(w, (struct fault){ n, faults[k].err, faults[k].lasting, RLIM_INFINITY, false }, usual);
}

/* Files that may not grow: to nothing, to a byte, to half of the largest, to all of it but one byte. */
static void files_cannot_grow(const struct writer *w, const struct outcome *usual)
{
    size_t most = 0;
    for (size_t k = 0; k < usual->left.n; k++)
        most = usual->left.file[k].n > most ? usual->left.file[k].n : most;
    const rlim_t limits[] = { 0, 1, most / 2, most - 1 };
    assert_true(most > 1);
    for (size_t k = 0; k < ARRAY_LEN(limits); k++)
        try(w, (struct fault){ 0, 0, false, limits[k], false }, usual);
}

/* ---- files of others ---- */
#define MINE "not gpulocw's\n"

/* A file of somebody else, alone in the folder. */
static void put_mine(const char *name)
{
    char path[500];
    struct diags ds = { 0 };
    nftw(folder, clear, 8, FTW_DEPTH | FTW_PHYS);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_true(file_make_dirs(path));
    assert_status_ok(file_write_atomic(path, MINE, strlen(MINE), &ds), &ds);
}

static bool is_mine(const struct outcome *o, const char *name)
{
    const struct held *h = named(&o->left, name);
    return h && h->n == strlen(MINE) && memcmp(h->text, MINE, h->n) == 0;
}

/* Why it is wrong, or NULL: what the writer does about another's file `name`. */
static const char *keeps(const struct writer *w, const char *name, int usual)
{
    put_mine(name);
    struct outcome o = run(w, no_fault, true);
    bool refused = o.code == (strcmp(w->words[0], "workbench") ? 2 : 1), kept = is_mine(&o, name);
    const char *base = strrchr(name, '/');
    const char *why = !kept                                    ? "it is replaced"
                      : !refused                               ? "the exit code is not that of a refusal"
                      : !strstr(o.err, base ? base + 1 : name) ? "it is not named"
                                                               : NULL;
    drop(&o);
    if (why || w->others != ASKS)
        return why;
    put_mine(name);
    o = run(w, forced, true);
    why = o.code != usual ? "--force is refused" : is_mine(&o, name) ? "--force leaves it" : NULL;
    drop(&o);
    return why;
}

/* The same command again: what it wrote itself it replaces unasked. */
static const char *replaces_its_own(const struct writer *w, int usual)
{
    struct outcome o = run(w, no_fault, false), again = run(w, no_fault, true);
    const char *why = o.code != usual || again.code != usual ? "its own files are refused" : NULL;
    drop(&o);
    drop(&again);
    return why;
}

static void others_files_stay(void **state)
{
    const char *only = getenv("GPULOCW_WRITER");
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
        const struct writer *w = &writers[i];
        if (w->others == OWN || (only && strcmp(only, w->name) != 0))
            continue;
        struct outcome usual = run(w, no_fault, false);
        assert_true(usual.left.n > 0);
        for (size_t k = 0; k < usual.left.n; k++) {
            const char *name = usual.left.file[k].name, *why = keeps(w, name, usual.code);
            if (why)
                fail_msg("%s, another's file %s: %s", w->name, name, why);
        }
        const char *why = replaces_its_own(w, usual.code);
        if (why)
            fail_msg("%s: %s", w->name, why);
        drop(&usual);
    }
}

static void every_writer(void **state)
{
    const char *only = getenv("GPULOCW_WRITER"); /* one of them, by name */
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
        const struct writer *w = &writers[i];
        if (w->form == SESSION || (only && strcmp(only, w->name) != 0))
            continue;
        struct outcome usual = run(w, no_fault, false);
        /* capture ends as its program does */
        if (usual.code != (strncmp(w->name, "capture", 7) ? 0 : 4) || !usual.left.n)
            fail_msg("%s: exit code %d, %zu files: %s", w->name, usual.code, usual.left.n, usual.err);
        every_call_fails(w, &usual);
        files_cannot_grow(w, &usual);
        drop(&usual);
    }
}

static void put(const char *name, const char *text)
{
    char path[400];
    struct diags ds = { 0 };
    snprintf(path, sizeof path, "%s/%s", inputs, name);
    assert_status_ok(file_write_atomic(path, text, strlen(text), &ds), &ds);
}

static int prepare(void **state)
{
    (void)state;
    static const struct writer made[] = {
        { "inputs", EXACT, OWN, { "tune", PTX, DEV, "--budget", "2", "-o", "=s.json" } },
        { "inputs", EXACT, OWN, { "rewrite", PTX, "--bypass", "l1", "--pi", "1", "-o", "=r.ptx" } },
    };
    ssize_t n = readlink("/proc/self/exe", programs, sizeof programs - 1);
    char *slash = n > 0 ? strrchr(programs, '/') : NULL;
    snprintf(folder, sizeof folder, "%s/watched", support_scratch());
    snprintf(inputs, sizeof inputs, "%s/inputs", support_scratch());
    if (!slash || mkdir(folder, 0777) || mkdir(inputs, 0777))
        return 1;
    *slash = 0;
    put("requests", "{\"tool\":\"list\",\"arguments\":{\"file\":\"" PTX "\"}}\n"
                    "{\"tool\":\"list\",\"arguments\":{\"file\":\"kernels/gemm.ptx\"}}\n"
                    "{\"tool\":\"list\",\"arguments\":{\"file\":\"kernels/bfs.ptx\"}}\n");
    char fake[400];
    snprintf(fake, sizeof fake, "%s/live/libfake.so", programs);
    setenv("CUPTI_PATH", fake, 1);
    setenv("GPULOCW_LIVE_WAIT", "0.1", 1);
    setenv("TRITON_CACHE_DIR", folder, 1);
    unsetenv("CUDA_INJECTION64_PATH");
    int code = 0;
    for (size_t i = 0; i < ARRAY_LEN(made) && !code; i++) {
        struct outcome o = run(&made[i], no_fault, false);
        code = o.code;
        drop(&o);
    }
    return code;
}

/* A batch starts this program again, for each of its requests. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(others_files_stay),
                                        cmocka_unit_test(every_writer) };
    if (argc > 1)
        return cmd_main(argc, argv, NULL);
    return cmocka_run_group_tests_name("cmd_writers", tests, prepare, NULL);
}
