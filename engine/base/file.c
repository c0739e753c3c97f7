/* Writing files: a new file beside the target, synced and renamed (file.h); whole files and files in
 * pieces (base.h). */
#include "engine/base/file.h"

#include "engine/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed(struct file_new *f, const char *what, int err)
{
    if (!f->err) {
        f->err = err ? err : EIO;
        f->what = what;
    }
    return false;
}

/* The descriptor that /dev/stdout, /dev/stderr or /dev/fd/N names; -1: path is none of these. */
static int named_descriptor(const char *path)
{
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    const char *n = strncmp(path, "/dev/fd/", 8) == 0 ? path + 8 : "";
    return *n && strlen(n) <= 6 && strspn(n, "0123456789") == strlen(n) ? atoi(n) : -1;
}

/* Sixteen letters nobody can guess. */
static bool random_letters(char out[17])
{
    unsigned char r[16];
    if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r)
        return false;
    for (size_t i = 0; i < sizeof r; i++)
        out[i] = "abcdefghijklmnop"[r[i] & 15];
    out[16] = 0;
    return true;
}

#define NAME_KEPT 200 /* bytes of the target's name in the new file's: names end at 255 */

static bool make_temp(struct file_new *f, mode_t mode)
{
    char random[17];
    struct buf b = { 0 };
    for (int tries = 0; tries < 8 && f->fd < 0; tries++) {
        if (!random_letters(random))
            return failed(f, "cannot create a file name", errno);
        buf_clear(&b);
        buf_printf(&b, ".%.*s.%s.tmp", NAME_KEPT, f->name, random);
        f->fd = b.oom ? -1
                      : base_openat(f->folder, b.s, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                    mode);
        if (b.oom || (f->fd < 0 && errno != EEXIST))
            break;
    }
    int err = b.oom ? ENOMEM : errno;
    f->temp = f->fd >= 0 ? buf_take(&b) : NULL;
    buf_free(&b);
    return f->fd >= 0 ? true : failed(f, "cannot write", err);
}

/* Opens the folder of `path` and keeps the name in it. */
static bool open_folder(struct file_new *f, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? base_strdup(path) : base_strdup(".");
    f->name = base_strdup(slash ? slash + 1 : path);
    if (folder && slash)
        folder[slash == path ? 1 : slash - path] = 0;
    if (folder && f->name)
        f->folder = base_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    int err = folder && f->name ? errno : ENOMEM;
    base_free(folder);
    return f->folder >= 0 ? true : failed(f, "cannot write", err);
}

static bool in_place(struct file_new *f, int fd)
{
    f->fd = fd;
    return fd >= 0 ? true : failed(f, "cannot write", errno);
}

bool file_new_open(struct file_new *f, const char *path)
{
    struct stat s;
    *f = (struct file_new){ .fd = -1, .folder = -1 };
    int named = named_descriptor(path);
    if (named >= 0)
        return in_place(f, fcntl(named, F_DUPFD_CLOEXEC, 3));
    bool there = stat(path, &s) == 0;
    if (there && S_ISDIR(s.st_mode))
        return failed(f, "cannot write", EISDIR);
    if (there && !S_ISREG(s.st_mode))
        return in_place(f, base_open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC, 0));
    char *target = there ? realpath(path, NULL) : NULL;
    bool ok = open_folder(f, target ? target : path) && make_temp(f, there ? s.st_mode & 0777 : 0644);
    free(target);
    if (ok && there)
        /* whatever the umask; a file system without modes has none to keep */
        (void)!fchmod(f->fd, s.st_mode & 0777);
    return ok;
}

bool file_new_put(struct file_new *f, const void *p, size_t n)
{
    const char *at = p;
    while (n && !f->err) {
        ssize_t w = base_write(f->fd, at, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return failed(f, "cannot write", w ? errno : EIO);
        at += w;
        n -= (size_t)w;
    }
    return !f->err;
}

/* Some file systems sync no folders: that is no error. */
static bool sync_folder(struct file_new *f)
{
    if (base_fsync(f->folder) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ||
        errno == EBADF)
        return true;
    return failed(f, "written, but its folder could not be synced", errno);
}

bool file_new_done(struct file_new *f)
{
    bool beside = f->temp != NULL, ok = !f->err && f->fd >= 0;
    if (ok && beside && base_fsync(f->fd) != 0)
        ok = failed(f, "cannot write", errno);
    if (f->fd >= 0 && base_close(f->fd) != 0 && ok)
        ok = failed(f, "cannot write", errno);
    f->fd = -1;
    if (ok && beside && base_renameat(f->folder, f->temp, f->folder, f->name) != 0)
        ok = failed(f, "cannot write", errno);
    if (ok && beside) {
        base_free(f->temp);
        f->temp = NULL;
        ok = sync_folder(f);
    }
    file_new_drop(f);
    return ok;
}

void file_new_drop(struct file_new *f)
{
    if (f->fd >= 0)
        base_close(f->fd);
    if (f->temp)
        unlinkat(f->folder, f->temp, 0);
    if (f->folder >= 0)
        base_close(f->folder);
    BASE_FREE(f->temp, f->name);
    *f = (struct file_new){ .fd = -1, .folder = -1, .err = f->err, .what = f->what };
}

static enum status told(const struct file_new *f, const char *path, struct diags *ds)
{
    diag_add(ds, DIAG_ERROR, "io", path, NO_SPAN, "%s: %s", f->what, strerror(f->err));
    return f->err == ENOMEM ? ST_NOMEM : ST_IO;
}

enum status file_write_atomic(const char *path, const void *data, size_t n, struct diags *ds)
{
    struct file_new f;
    bool ok = file_new_open(&f, path) && file_new_put(&f, data, n) && file_new_done(&f);
    file_new_drop(&f);
    return ok ? ST_OK : told(&f, path, ds);
}

#define FILE_PIECE ((size_t)4 << 20)

enum status file_write_parts(const char *path, uint64_t n, file_part_fn part, void *ctx,
                             struct diags *ds)
{
    struct file_new f;
    if (!file_new_open(&f, path)) {
        file_new_drop(&f);
        return told(&f, path, ds);
    }
    char *piece = base_alloc(FILE_PIECE);
    enum status st = piece ? ST_OK : ST_NOMEM;
    for (uint64_t at = 0; st == ST_OK && !f.err && at < n; at += FILE_PIECE) {
        size_t k = n - at < FILE_PIECE ? (size_t)(n - at) : FILE_PIECE;
        st = part(ctx, at, piece, k, ds);
        if (st == ST_OK)
            file_new_put(&f, piece, k);
    }
    base_free(piece);
    bool ok = st == ST_OK && file_new_done(&f);
    file_new_drop(&f);
    return ok ? ST_OK : st != ST_OK ? st : told(&f, path, ds);
}

/* ---- where a file lies ---- */
static bool below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    return strncmp(path, folder, n) == 0 && (!path[n] || path[n] == '/' || n == 1);
}

/* The folder of a path, links followed; owned by malloc; NULL: there is none. */
static char *folder_of(const char *path)
{
    struct buf b = { 0 };
    const char *slash = strrchr(path, '/');
    buf_put(&b, path, slash ? (size_t)(slash - path) : 0);
    if (!slash)
        buf_puts(&b, ".");
    char *real = b.oom ? NULL : realpath(b.n ? b.s : "/", NULL);
    buf_free(&b);
    return real;
}

bool file_has_folder(const char *path)
{
    char *real = folder_of(path);
    free(real);
    return real != NULL;
}

bool file_within(const char *path, const char *const *folder, size_t n)
{
    struct stat is;
    bool there = lstat(path, &is) == 0, within = false;
    char *real = there ? realpath(path, NULL) : folder_of(path);
    for (size_t i = 0; real && i < n && !within; i++) {
        char *root = realpath(folder[i], NULL);
        within = root && below(real, root);
        free(root);
    }
    free(real);
    return within;
}
