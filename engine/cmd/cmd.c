/* The way in: environment, interrupts, choosing the command. */
#include "engine/cmd/cmd.h"

#include "engine/base/name.h"
#include "engine/base/version.h"
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/io.h"
#include "engine/dev/dev.h"
#include "engine/dev/ptxas.h"
#include "engine/live/remote.h"
#include "engine/session/preset.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* A signal handler can reach nothing but a global: the one cancel flag of a headless command, and when
 * it was set. */
static struct cancel interrupted;
static _Atomic long long interrupted_ms;

/* One interrupt may arrive twice: timeout(1) signals its child and then the group the child is in, a
   terminal's ^C reaches a job that its shell signals as well. Only one that comes later than any such
   echo means "at once, and lose what there is". */
enum { ECHO_MS = 300 };

static void on_interrupt(int sig, siginfo_t *from, void *context)
{
    (void)context;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    long long now = t.tv_sec * 1000LL + t.tv_nsec / 1000000;
    if (!atomic_load(&interrupted.asked)) {
        atomic_store(&interrupted_ms, now);
        /* a terminal's reaches the whole group */
        atomic_store(&interrupted.signal, sig == SIGINT && from->si_code == SI_KERNEL ? 0 : sig);
        atomic_store(&interrupted.asked, true);
    } else if (now - atomic_load(&interrupted_ms) > ECHO_MS) {
        _exit(130);
    }
}

/* A word that is neither a file nor looks like one was meant as a command. */
static bool no_file(const char *word)
{
    struct stat st;
    return stat(word, &st) != 0 && !strpbrk(word, "./");
}

/* Several files are one program there too. */
static int cmd_front_files(struct args *a, const struct cmd_front_opts *o)
{
    char *all = a->nfiles > 1 ? workspace_join(a->file, a->nfiles) : NULL;
    int rc = cmd_front(a, all ? all : a->nfiles ? a->file[0] : NULL, o);
    base_free(all);
    return rc;
}

static int cmd_workbench(struct args *a)
{
    struct diags ds = { 0 };
    if (a->nfiles && no_file(a->file[0]))
        return cmd_finish(a, cmd_no_such(a->file[0], &ds), &ds);
    bool screen = a->front && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && !a->plain;
    struct cmd_front_opts o = { .sweep_at_once = a->axis != NULL,
                                .axis = a->axis ? a->axis : "pi",
                                .session = a->session,
                                .plain = a->plain,
                                .kernel = a->kernel,
                                .launch = a->launch };
    bool json = a->nfiles && base_stem(a->file[0], ".json") && !base_stem(a->file[0], ".launch.json");
    if (screen ||
        (a->front && a->plain && a->nfiles && !json)) /* plain: the same content, line by line */
        return cmd_front_files(a, &o);
    if (json) {
        a->plain = true;
        return cmd_replay(a);
    }
    struct diag *d = diag_add(&ds, DIAG_ERROR, "terminal", NULL, NO_SPAN,
                              a->front ? "standard input and output are not a terminal"
                                       : "this build has no terminal front end");
    diag_hint(d, "gpulocw sweep FILE.ptx, run, analyze ... work without one; see gpulocw help");
    return cmd_finish(a, ST_USAGE, &ds);
}

static void catch_interrupts(void)
{
    static const int asks[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction sa = { .sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO }, was;
    sigemptyset(&sa.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(asks); i++) /* nohup stays what it is */
        if (asks[i] != SIGHUP || (sigaction(SIGHUP, NULL, &was) == 0 && was.sa_handler != SIG_IGN))
            sigaction(asks[i], &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
    /* a file that grows past ulimit -f: the write fails, and that is told */
    signal(SIGXFSZ, SIG_IGN);
}

enum { WORDS_MOST = 2 * CMD_MAX_LIST + 16 };

static enum status parse_sent(const char *command, const struct remote *r, struct args *own,
                              struct diags *ds)
{
    static char program[] = "gpulocw";
    char *argv[WORDS_MOST + CMD_MAX_FILES + 3] = { program }, *name = base_strdup(command);
    int argc = 1;
    if (!name)
        return ST_NOMEM;
    argv[argc++] = name;
    for (size_t i = 0; i < r->nwords; i++)
        argv[argc++] = r->word[i];
    for (size_t i = 0; i < r->named; i++)
        argv[argc++] = r->file[i];
    enum status st = args_parse(argc, argv, own, ds);
    base_free(name);
    return st;
}

/* The other end of cmd_remote_there: the command with what comes over standard input. */
static int sent(struct args *a, const struct command *c)
{
    struct diags ds = { 0 };
    struct remote r = { 0 };
    struct args *own = base_alloc(sizeof *own);
    enum status st = own ? remote_read(STDIN_FILENO, &r, &ds) : ST_NOMEM;
    int rc = 0;
    if (st == ST_OK && (r.nwords > WORDS_MOST || r.named > CMD_MAX_FILES || !r.nprogram)) {
        diag_error(&ds, "remote", "too many arguments, or no program");
        st = ST_INPUT;
    }
    if (st == ST_OK)
        st = parse_sent(c->name, &r, own, &ds);
    if (st == ST_OK && (own->from_stdin || own->worker_n)) {
        diag_error(&ds, "remote", "a command from another machine cannot be sent on to a third one");
        st = ST_USAGE;
    }
    if (st == ST_OK) {
        own->program = r.program;
        own->io = a->io;
        own->env = a->env;
        own->cancel = a->cancel;
        own->sent_to = r.folder;
        rc = c->run(own);
    }
    args_free(own);
    remote_free(&r);
    int told = cmd_finish(a, st, &ds);
    return told ? told : rc;
}

static int dispatch(struct args *a)
{
    const struct command *c = command_find(a->command);
    if (!c)
        return cmd_workbench(a);
    catch_interrupts();
    return a->from_stdin ? sent(a, c) : c->run(a);
}

static bool asked(int argc, char **argv, const char *word)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

/* What was printed must have arrived. A full disk is a failure; a reader that has gone (a pager, head)
 * is none of people's text, but a program that was to have a document did not get it. */
static int delivered(const struct cmd_io *io, int code, bool json)
{
    if (!code && io->incomplete) {
        fputs("gpulocw: out of memory: the output is incomplete\n", stderr);
        code = status_exit_code(ST_NOMEM);
    }
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
    bool gone = poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLHUP);
    if (gone && !json)
        return code;
    if (gone)
        fputs("gpulocw: the reader of standard output has closed it: the output is incomplete; write to "
              "a file with > FILE\n",
              stderr);
    else
        fprintf(stderr,
                "gpulocw: cannot write all of standard output%s%s (is the disk full?); the output is "
                "incomplete\n",
                errno ? ": " : "", errno ? strerror(errno) : "");
    return code ? code : status_exit_code(ST_IO);
}

/* Who says how many registers a simulated kernel has; NULL: the model. What `emulate` does not time needs
 * none. */
static enum status find_assembler(const struct args *a, struct ptxas **out, struct diags *ds)
{
    const char *want = a->regs ? a->regs : getenv("GPULOCW_REGS");
    bool untimed = a->command && strcmp(a->command, "emulate") == 0 && !a->time;
    *out = NULL;
    if ((want && strcmp(want, "model") == 0) || (!a->regs && untimed))
        return ST_OK;
    *out = ptxas_new();
    if (*out || !a->regs)
        return ST_OK;
    struct diag *d = diag_add(ds, DIAG_ERROR, "ptxas", NULL, NO_SPAN,
                              "ptxas was not found (it is part of the CUDA toolkit)");
    diag_hint(d, "put it on the PATH, or estimate registers with --regs model");
    return ST_INPUT;
}

int cmd_call(int argc, char **argv, const struct cmd_call *c)
{
    struct diags ds = { 0 };
    struct args *a = base_alloc(sizeof *a);
    static const char program[] = "gpulocw"; /* where a device needs a worker: by PATH */
    struct dev_env env = { .preset = preset_read,
                           .preset_at = preset_at,
                           .self = c->self ? c->self : program,
                           .cancel = c->cancel };
    if (!a)
        return status_exit_code(ST_NOMEM);
    a->io = c->io;
    enum status st = args_parse(argc, argv, a, &ds);
    const struct command *command = command_find(a->command);
    a->env = &env;
    a->cancel = c->cancel;
    if (st == ST_OK && !ds.n && command)
        st = find_assembler(a, &env.ptxas, &ds);
    int code = st != ST_OK || ds.n || !command ? cmd_finish(a, st == ST_OK ? ST_USAGE : st, &ds)
                                               : command->run(a);
    ptxas_free(env.ptxas);
    args_free(a);
    return code;
}

int cmd_main(int argc, char **argv, const struct cmd_front *front)
{
    struct diags ds = { 0 };
    struct args *a = base_alloc(sizeof *a);
    char *self = cmd_self_path();
    struct dev_env env = {
        .preset = preset_read, .preset_at = preset_at, .self = self, .cancel = &interrupted
    };
    int code;
    if (!a)
        return status_exit_code(ST_NOMEM);
    struct cmd_io io = cmd_io_standard(&a->progress_fd);
    a->io = &io;
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); /* numbers are data here: a decimal point, always */
    if (asked(argc, argv, "--version")) {
        puts("gpulocw " GPULOCW_VERSION);
        code = 0;
    } else if (asked(argc, argv, "--help") || asked(argc, argv, "-h")) {
        struct buf b = { 0 };
        args_help(argc > 1 ? command_find(argv[1]) : NULL, &b);
        cmd_give(a, &b);
        code = 0;
    } else if (argc > 2 && strcmp(argv[1], "completion") == 0 && strcmp(argv[2], "--") == 0) {
        /* the words of another command line: not to be parsed as ours */
        struct buf b = { 0 };
        cmd_complete((const char *const *)argv + 3, (size_t)argc - 3, &b);
        cmd_give(a, &b);
        code = 0;
    } else {
        enum status st = args_parse(argc, argv, a, &ds);
        a->env = &env;
        a->front = front;
        a->cancel = &interrupted;
        if (st == ST_OK && ds.n == 0)
            st = find_assembler(a, &env.ptxas, &ds);
        if (st == ST_OK && ds.n == 0)
            code = dispatch(a);
        else {
            a->json = asked(argc, argv, "--json") || asked(argc, argv, "-j");
            code = cmd_finish(a, st, &ds);
        }
    }
    bool json = a->json;
    ptxas_free(env.ptxas);
    base_free(self);
    args_free(a);
    return delivered(&io, code, json);
}
