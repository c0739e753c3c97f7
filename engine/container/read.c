/* Files and folders: what is in them. */
#include "engine/base/io.h"
#include "engine/base/name.h"
#include "engine/container/container_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_DEPTH 8
#define MOST_FILES 20000

/* ---- archives of objects ---- */
#define AR_MAGIC "!<arch>\n"
#define AR_HEAD  60

static bool ar_is(const struct window *w)
{
    char head[8];
    return window_read(w, 0, head, 8) && memcmp(head, AR_MAGIC, 8) == 0;
}

static enum status ar_read(struct reading *r, const struct window *w)
{
    enum status st = ST_OK;
    for (uint64_t at = 8; at + AR_HEAD <= w->n && st == ST_OK;) {
        char head[AR_HEAD + 1] = "", name[17] = "", size[11] = "", *end;
        if (!window_read(w, at, head, AR_HEAD) || memcmp(head + 58, "`\n", 2) != 0)
            return reading_damaged(r, "a member of the archive has no header");
        memcpy(name, head, 16);
        memcpy(size, head + 48, 10);
        uint64_t n = strtoull(size, &end, 10);
        struct window member = window_part(w, at + AR_HEAD, n);
        if (end == size || (n && !member.n))
            return reading_damaged(r, "a member of the archive is truncated");
        name[strcspn(name, "/ ")] = 0;
        r->inside = name;
        st = elf_is(&member) ? elf_read(r, &member) : ST_OK;
        r->inside = NULL;
        at += AR_HEAD + n + (n & 1);
    }
    return st;
}

static enum status put_file(struct reading *r, const char *path)
{
    char *text = NULL;
    size_t n = 0;
    enum status st = file_read_regular(path, CONTAINER_MOST_TEXT, &text, &n, r->ds);
    struct container_module *m = st == ST_OK ? reading_add(r, CONTAINER_PTX) : NULL;
    r->groups++;
    if (m)
        module_text(m, text, n);
    else
        base_free(text);
    return st == ST_OK && !m ? reading_stopped(r) : st;
}

static enum status put_sibling(struct reading *r, const char *path)
{
    struct buf b = { 0 };
    const char *was = r->path;
    enum status st = container_sibling(path, &b);
    r->path = b.s;
    if (st == ST_OK && b.s)
        st = put_file(r, b.s);
    r->path = was;
    buf_free(&b);
    return st;
}

static enum status read_window(struct reading *r, const struct window *w)
{
    if (ar_is(w))
        return ar_read(r, w);
    if (elf_is(w))
        return elf_read(r, w);
    if (fatbin_is(w))
        return fatbin_read(r, w);
    return ST_OK;
}

static bool window_open(const char *path, struct window *w)
{
    struct stat is;
    *w = (struct window){ .fd = base_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0) };
    if (w->fd < 0 || fstat(w->fd, &is) != 0 || !S_ISREG(is.st_mode)) {
        if (w->fd >= 0)
            base_close(w->fd);
        w->fd = -1;
        return false;
    }
    w->n = (uint64_t)is.st_size;
    return true;
}

static enum status read_one(struct reading *r, const char *path)
{
    struct window w;
    if (!window_open(path, &w)) {
        diag_add(r->ds, DIAG_ERROR, "io", path, NO_SPAN, "cannot open: %s", strerror(errno));
        return ST_IO;
    }
    r->path = path;
    enum status st = read_window(r, &w);
    base_close(w.fd);
    return st == ST_OK ? put_sibling(r, path) : st;
}

/* ---- folders ---- */
struct walk {
    struct reading *r;
    size_t files;
    const char *top;
    bool left_out, deep; /* files beyond the limit, folders below it: told once each */
};

static char **names_in(const char *folder, size_t *n)
{
    DIR *d = opendir(folder);
    char **v = NULL;
    size_t cap = 0;
    *n = 0;
    for (struct dirent *e; d && (e = readdir(d)) && *n <= MOST_FILES;)
        if (e->d_name[0] != '.' && base_grow((void **)&v, *n, &cap, sizeof *v))
            v[(*n)++] = base_strdup(e->d_name);
    if (d)
        closedir(d);
    if (*n)
        qsort(v, *n, sizeof *v, base_by_text);
    return v;
}

static enum status walk_folder(struct walk *w, const char *folder, int depth);

static enum status walk_name(struct walk *w, const char *path, int depth)
{
    struct stat is;
    if (lstat(path, &is) != 0)
        return ST_OK;
    if (++w->files > MOST_FILES) {
        w->left_out = true;
        return ST_OK;
    }
    w->deep |= S_ISDIR(is.st_mode) && depth >= MOST_DEPTH;
    if (S_ISDIR(is.st_mode))
        return depth < MOST_DEPTH ? walk_folder(w, path, depth + 1) : ST_OK;
    if (!S_ISREG(is.st_mode))
        return ST_OK;
    w->r->path = path;
    if (base_stem(path, ".ptx"))
        return put_file(w->r, path);
    /* the PTX beside a cubin is met by its own name */
    struct window f;
    if (!(base_stem(path, ".cubin") || base_stem(path, ".fatbin") || base_stem(path, ".so")) ||
        !window_open(path, &f))
        return ST_OK;
    enum status st = read_window(w->r, &f);
    base_close(f.fd);
    return st;
}

static enum status walk_folder(struct walk *w, const char *folder, int depth)
{
    size_t n;
    char **name = names_in(folder, &n);
    enum status st = ST_OK;
    for (size_t i = 0; i < n; i++) {
        struct buf b = { 0 };
        buf_printf(&b, "%s/%s", folder, name[i] ? name[i] : "");
        if (st == ST_OK)
            st = b.oom || !name[i] ? ST_NOMEM : walk_name(w, b.s, depth);
        buf_free(&b);
        base_free(name[i]);
    }
    base_free(name);
    return st;
}

/* ---- in and out ---- */
bool container_is(const char *path)
{
    struct stat is;
    struct window w;
    if (stat(path, &is) == 0 && S_ISDIR(is.st_mode))
        return true;
    if (!window_open(path, &w))
        return false;
    bool yes = ar_is(&w) || elf_is(&w) || fatbin_is(&w);
    base_close(w.fd);
    return yes;
}

enum status container_read(const char *path, struct container *c, struct diags *ds)
{
    struct reading r = { .out = c, .ds = ds, .path = path };
    struct walk w = { .r = &r, .top = path };
    struct stat is;
    *c = (struct container){ .n = 0 };
    bool folder = stat(path, &is) == 0 && S_ISDIR(is.st_mode);
    enum status st = folder ? walk_folder(&w, path, 0) : read_one(&r, path);
    if (w.left_out)
        diag_add(ds, DIAG_WARNING, "container", path, NO_SPAN,
                 "more than %d files: the rest are skipped", MOST_FILES);
    if (w.deep)
        diag_add(ds, DIAG_WARNING, "container", path, NO_SPAN,
                 "folders more than %d levels deep are skipped", MOST_DEPTH);
    if (st == ST_OK && !c->n) {
        struct diag *d =
            diag_add(ds, DIAG_ERROR, "container", path, NO_SPAN,
                     folder ? "no PTX, cubin or fatbin in this folder" : "no GPU code in this file");
        diag_hint(d, folder ? "open the cache folder of a compiler, or a capture"
                            : "gpulocw opens PTX, and executables, shared objects, object files, "
                              "archives, cubins and fatbins with device code");
        st = ST_INPUT;
    }
    return st;
}

enum status container_read_memory(const void *bytes, size_t n, const char *name, struct container *c,
                                  struct diags *ds)
{
    struct reading r = { .out = c, .ds = ds, .path = name };
    struct window w = { .fd = -1, .data = bytes, .n = n };
    *c = (struct container){ .n = 0 };
    if (fatbin_is(&w) || elf_is(&w))
        return fatbin_is(&w) ? fatbin_read(&r, &w) : elf_read(&r, &w);
    struct container_module *m = reading_add(&r, CONTAINER_PTX);
    char *text = m ? base_alloc(n + 1) : NULL;
    if (!text)
        return m ? ST_NOMEM : reading_stopped(&r);
    memcpy(text, bytes, n);
    module_text(m, text, n);
    return ST_OK;
}
