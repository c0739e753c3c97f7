/* Which files launch descriptions and sessions may name. */
#include "engine/rec/launch.h"
#include "engine/session/launch_file.h"
#include "engine/session/session_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *launch_path(const char *dir, const char *name)
{
    struct buf b = { 0 };
    if (*name != '/' && dir && *dir)
        buf_printf(&b, "%s/", dir);
    buf_puts(&b, name);
    return buf_take(&b);
}

static bool allowed(void)
{
    const char *e = getenv("GPULOCW_ALLOW_FILES");
    return e && strcmp(e, "1") == 0;
}

/* Both with links followed. A file that is not there is judged by its folder. */
static bool inside(const char *full, const char *dir)
{
    char *parent = path_dir(full), *file = realpath(full, NULL), *folder = realpath(dir, NULL);
    if (!file && parent)
        file = realpath(parent, NULL);
    size_t n = folder ? strlen(folder) : 0;
    bool in = file && folder && strncmp(file, folder, n) == 0 && (n == 1 || file[n] == '/' || !file[n]);
    bool missing = !file || !folder; /* the reader says so */
    free(file);
    free(folder);
    base_free(parent);
    return in || missing;
}

static enum status refused(const char *full, const char *path, struct span at, const char *where,
                           const char *why, const char *hint, struct diags *ds)
{
    struct diag *d = diag_add(ds, DIAG_ERROR, "launch-file", path, at, "%s: '%s' %s", where, full, why);
    if (hint)
        diag_hint(d, "%s", hint);
    return ST_INPUT;
}

enum status launch_path_check(const char *full, const char *dir, const char *path, struct span at,
                              const char *where, struct diags *ds)
{
    struct stat s;
    if (stat(full, &s) == 0 && !S_ISREG(s.st_mode))
        return refused(full, path, at, where, "is not a regular file", NULL, ds);
    if (allowed() || inside(full, dir))
        return ST_OK;
    return refused(full, path, at, where, "is outside the folder of this file",
                   "--allow-files allows it", ds);
}

static enum status init_inside(const struct init_spec *in, const struct launch_spec *l, const char *dir,
                               const char *path, const char *where, struct diags *ds)
{
    bool file = in->text && (in->kind == INIT_FILE || in->kind == INIT_NPY);
    char *full = file ? launch_path(l->dir, in->text) : NULL;
    enum status st = !file  ? ST_OK
                     : full ? launch_path_check(full, dir, path, NO_SPAN, where ? where : "init", ds)
                            : ST_NOMEM;
    base_free(full);
    for (size_t k = 0; st == ST_OK && k < in->nparts; k++)
        st = init_inside(&in->part[k], l, dir, path, where, ds);
    return st;
}

static enum status data_of(const struct launch_spec *l, const char *dir, const char *path,
                           struct diags *ds)
{
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < l->nargs + l->nsymbols; i++) {
        const struct init_spec *in = i < l->nargs ? &l->args[i].init : &l->symbols[i - l->nargs].init;
        const char *where = i < l->nargs ? l->args[i].name : l->symbols[i - l->nargs].name;
        st = init_inside(in, l, dir, path, where, ds);
    }
    for (size_t i = 0; st == ST_OK && i < l->nbefore; i++)
        st = data_of(&l->before[i], dir, path, ds);
    return st;
}

/* Sessions that the program itself keeps, in the user's own data folder, are the user's. */
static bool own_store(const char *path)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    struct buf b = { 0 };
    if (data && *data == '/')
        buf_printf(&b, "%s/gpulocw/sessions", data);
    else
        buf_printf(&b, "%s/.local/share/gpulocw/sessions", home && *home == '/' ? home : "/nowhere");
    struct stat s;
    bool own = b.s && !b.oom && stat(b.s, &s) == 0 && inside(path, b.s);
    buf_free(&b);
    return own;
}

enum status launch_data_check(const struct launch_spec *l, const char *path, struct diags *ds)
{
    struct diags said = { 0 };
    char *dir = path_dir(path);
    enum status st = !dir ? ST_NOMEM : own_store(path) ? ST_OK : data_of(l, dir, path, &said);
    for (size_t i = 0; i < said.n; i++) {
        said.v[i].level = DIAG_WARNING;
        said.warnings++;
        said.errors--;
    }
    diags_move(ds, &said);
    base_free(dir);
    return st;
}

enum status launch_ptx_check(const char *ptx, const char *launch, struct diags *ds)
{
    char *dir = path_dir(launch);
    enum status st = dir ? launch_path_check(ptx, dir, launch, NO_SPAN, "ptx", ds) : ST_NOMEM;
    base_free(dir);
    return st;
}

enum status launch_wrong(struct diags *ds, const char *path, const cJSON *o, const char *where,
                         const char *what)
{
    diag_add(ds, DIAG_ERROR, "launch", path, json_place(o), "%s: %s", where, what);
    return ST_INPUT;
}
