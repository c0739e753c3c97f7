/* CUDA source through nvcc or clang. */
#include "engine/base/base.h"
#include "engine/base/private_folder.h"
#include "engine/workspace/source.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_WORDS 64
#define MOST_PTX   (1u << 30)
#define MOST_SAID  3000 /* bytes of a compiler's words that are told */

extern char **environ;

bool source_is_cuda(const char *path)
{
    size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".cu") == 0;
}

/* A compiler on the PATH or in a CUDA toolkit; owned; NULL: none. */
static char *in_folder(const char *folder, size_t n, const char *name)
{
    struct buf b = { 0 };
    buf_put(&b, folder, n);
    buf_printf(&b, "/%s", name);
    if (b.s && access(b.s, X_OK) == 0)
        return buf_take(&b);
    buf_free(&b);
    return NULL;
}

static char *on_path(const char *name)
{
    char *found = NULL;
    for (const char *p = getenv("PATH"); p && *p && !found;) {
        size_t n = strcspn(p, ":");
        found = n ? in_folder(p, n, name) : NULL;
        p += n + (p[n] == ':');
    }
    return found;
}

char *source_tool(const char *name)
{
    static const char *const roots[] = { "CUDA_HOME", "CUDA_PATH" };
    char *found = on_path(name);
    struct buf below = { 0 };
    buf_printf(&below, "bin/%s", name);
    for (size_t i = 0; below.s && i < ARRAY_LEN(roots) && !found; i++) {
        const char *root = getenv(roots[i]);
        found = root && *root ? in_folder(root, strlen(root), below.s) : NULL;
    }
    if (!found && below.s)
        found = in_folder("/usr/local/cuda", strlen("/usr/local/cuda"), below.s);
    buf_free(&below);
    return found;
}

/* The words of a command line; those of flags point into `flags`, which is cut up. */
struct line {
    char *word[MOST_WORDS + 1];
    size_t n;
};
static void add(struct line *l, char *word)
{
    if (l->n < MOST_WORDS)
        l->word[l->n++] = word;
}

static void add_flags(struct line *l, char *flags)
{
    for (char *rest = flags, *w; rest && (w = strsep(&rest, " "));)
        if (*w)
            add(l, w);
}

int source_run_tool(char *const *word, int out)
{
    posix_spawn_file_actions_t fa;
    pid_t pid = 0;
    int state = 0;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&fa, out, 1);
    posix_spawn_file_actions_adddup2(&fa, out, 2);
    int e = posix_spawn(&pid, word[0], &fa, NULL, word, environ);
    posix_spawn_file_actions_destroy(&fa);
    if (e)
        return 127;
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128;
}

static enum status say_none(const char *path, uint32_t cc, struct diags *ds)
{
    struct diag *d = diag_add(ds, DIAG_ERROR, "compiler", path, NO_SPAN,
                              "CUDA source, but neither nvcc nor clang with a CUDA toolkit was found");
    diag_hint(d,
              "on a machine with nvcc, run nvcc -ptx -lineinfo -arch=sm_%u %s, then open the PTX file",
              cc ? cc : 90, path);
    return ST_INPUT;
}

static enum status say_failed(const char *path, int said, struct diags *ds)
{
    char text[MOST_SAID + 1];
    ssize_t n = pread(said, text, MOST_SAID, 0);
    text[n > 0 ? n : 0] = 0;
    diag_add(ds, DIAG_ERROR, "compiler", path, NO_SPAN, "the compiler reported errors:\n%s", text);
    return ST_INPUT;
}

/* nvcc's line, or clang's. */
static void make_line(struct line *l, char *compiler, bool nvcc, char *arch, char *flags, char *out,
                      const char *path)
{
    static char ptx[] = "-ptx", info[] = "-lineinfo", o[] = "-o", device[] = "--cuda-device-only",
                assembly[] = "-S", fast[] = "-O3", end[] = "--";
    add(l, compiler);
    if (nvcc) {
        add(l, ptx);
        add(l, info);
    } else {
        add(l, device);
        add(l, assembly);
        add(l, fast);
    }
    add(l, arch);
    add_flags(l, flags);
    add(l, o);
    add(l, out);
    if (!nvcc)
        add(l, end);
    add(l, (char *)(uintptr_t)path);
    l->word[l->n] = NULL;
}

static enum status compile(const char *path, const struct source_want *w, char *compiler, bool nvcc,
                           char *out, struct diags *ds)
{
    struct line l = { .n = 0 };
    char arch[64];
    const char *digits = w->arch ? strpbrk(w->arch, "0123456789") : NULL;
    char *flags = base_strdup(w->nvcc_flags ? w->nvcc_flags : "");
    int said = memfd_create("compiler", MFD_CLOEXEC);
    if (digits)
        snprintf(arch, sizeof arch, "%ssm_%.16s", nvcc ? "-arch=" : "--cuda-gpu-arch=", digits);
    else
        snprintf(arch, sizeof arch, "%ssm_%u",
                 nvcc ? "-arch=" : "--cuda-gpu-arch=", w->cc >= 75 || !nvcc ? w->cc ? w->cc : 90 : 75);
    enum status st = flags && said >= 0 ? ST_OK : ST_NOMEM;
    if (st == ST_OK) {
        make_line(&l, compiler, nvcc, arch, flags, out, path);
        st = source_run_tool(l.word, said) == 0 ? ST_OK : say_failed(path, said, ds);
    }
    if (said >= 0)
        close(said);
    base_free(flags);
    return st;
}

enum status source_compile(const char *path, const struct source_want *w, char **text, size_t *n,
                           struct diags *ds)
{
    struct buf out = { 0 };
    char *folder = NULL;
    char *nvcc = source_tool("nvcc"), *compiler = nvcc ? nvcc : on_path("clang");
    if (access(path, R_OK) != 0) {
        base_free(compiler);
        diag_add(ds, DIAG_ERROR, "io", path, NO_SPAN, "cannot open: %s", strerror(errno));
        return ST_IO;
    }
    if (!compiler)
        return say_none(path, w->cc, ds);
    enum status st = private_folder_make(&folder, ds);
    buf_printf(&out, "%s/out.ptx", folder ? folder : "");
    if (st == ST_OK)
        st = out.oom ? ST_NOMEM : compile(path, w, compiler, nvcc != NULL, out.s, ds);
    if (st == ST_OK)
        st = file_read_regular(out.s, MOST_PTX, text, n, ds);
    private_folder_remove(folder);
    buf_free(&out);
    base_free(compiler);
    return st;
}
