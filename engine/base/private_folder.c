/* Private folders: made under a name that cannot be guessed, removed with what is in them. */
#include "engine/base/private_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum status private_folder_make(char **path, struct diags *ds)
{
    struct buf b = { 0 };
    const char *tmp = getenv("TMPDIR");
    buf_printf(&b, "%s/gpulocw-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
    *path = buf_take(&b);
    if (!*path) {
        diag_error(ds, "folder", "out of memory");
        return ST_NOMEM;
    }
    if (mkdtemp(*path))
        return ST_OK;
    struct diag *d = diag_add(ds, DIAG_ERROR, "folder", *path, NO_SPAN, "cannot create this folder: %s",
                              strerror(errno));
    diag_hint(d, "set TMPDIR to another folder");
    base_free(*path);
    *path = NULL;
    return ST_IO;
}

void private_folder_remove(char *path)
{
    DIR *d = path ? opendir(path) : NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    if (path)
        rmdir(path);
    base_free(path);
}

enum status private_folder_put(const char *folder, const char *name, const void *data, size_t n,
                               struct buf *out, struct diags *ds)
{
    buf_printf(out, "%s/%s", folder, name);
    return out->oom ? ST_NOMEM : file_write_atomic(out->s, data, n, ds);
}
