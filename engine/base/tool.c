#include "engine/base/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

char *program_on_path(const char *name)
{
    char *found = NULL;
    for (const char *p = getenv("PATH"); p && *p && !found;) {
        size_t n = strcspn(p, ":");
        found = n ? in_folder(p, n, name) : NULL;
        p += n + (p[n] == ':');
    }
    return found;
}

char *program_find(const char *name)
{
    static const char *const roots[] = { "CUDA_HOME", "CUDA_PATH" };
    char *found = program_on_path(name);
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

int program_run(char *const *word, int out)
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

/* What a tool wrote to this descriptor; owned, NUL-terminated; NULL: out of memory. */
static char *written(int fd, size_t most)
{
    off_t end = lseek(fd, 0, SEEK_END);
    size_t n = end > 0 ? (size_t)end < most ? (size_t)end : most : 0, have = 0;
    char *s = base_alloc(n + 1);
    for (ssize_t got; s && have < n && (got = pread(fd, s + have, n - have, (off_t)have)) > 0;)
        have += (size_t)got;
    if (s)
        s[have] = '\0';
    return s;
}

int program_listen(char *const *word, size_t most, char **said)
{
    int fd = memfd_create("tool", MFD_CLOEXEC);
    int rc = fd >= 0 ? program_run(word, fd) : 127;
    *said = fd >= 0 ? written(fd, most) : NULL;
    if (fd >= 0)
        close(fd);
    return *said ? rc : 127;
}
