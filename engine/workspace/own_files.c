/* own_files: see own_files.h. */
#include "engine/workspace/own_files.h"

#include "engine/session/document.h"
#include "engine/workspace/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define LIST      "gpulocw-files.json"
#define LIST_MOST ((size_t)1 << 20)
#define HEAD      "{\"format\": \"gpulocw-files\","
#define FILES     "\"files\": ["

/* A file as it was before anything was written: every writing makes a new one. */
struct own_file {
    ino_t number;
    bool ours;
};

static bool path_of(const char *folder, const char *name, struct buf *path)
{
    buf_printf(path, "%s/%s", folder, name);
    return !path->oom;
}

static bool named(const char *list, const char *name)
{
    struct buf quoted = { 0 };
    buf_json(&quoted, str_of(name));
    bool is = list && !quoted.oom && strstr(list, quoted.s);
    buf_free(&quoted);
    return is;
}

enum status own_files_open(struct own_files *o, const char *folder, bool force, struct diags *ds)
{
    struct buf path = { 0 };
    size_t n;
    *o = (struct own_files){ .folder = folder, .force = force };
    enum status st = path_of(folder, LIST, &path) ? workspace_output_check(path.s, force, ds) : ST_NOMEM;
    if (st == ST_OK && file_read_regular(path.s, LIST_MOST, &o->list, &n, NULL) == ST_OK) {
        bool is_list = strncmp(o->list, HEAD, strlen(HEAD)) == 0;
        const char *from = is_list ? strstr(o->list, FILES) : NULL;
        from = from ? from + strlen(FILES) : NULL;
        const char *to = from ? strstr(from, "]}") : NULL;
        if (to)
            buf_put(&o->names, from, (size_t)(to - from));
    }
    buf_free(&path);
    return st;
}

enum status own_files_may(const struct own_files *o, const char *name, struct diags *ds)
{
    struct buf path = { 0 };
    struct stat s;
    enum status st = path_of(o->folder, name, &path) ? ST_OK : ST_NOMEM;
    if (st == ST_OK && !o->force && lstat(path.s, &s) == 0 &&
        !(S_ISREG(s.st_mode) && named(o->list, name)))
        st = workspace_output_refused(path.s, "exists and was not written by gpulocw", ds);
    buf_free(&path);
    return st;
}

static bool ends_so(const char *name, const char *const *ends)
{
    size_t n = strlen(name);
    for (; *ends; ends++)
        if (n >= strlen(*ends) && strcmp(name + n - strlen(*ends), *ends) == 0)
            return strcmp(name, LIST) != 0;
    return false;
}

static enum status note(struct own_files *o, const char *name, ino_t number)
{
    if (!base_grow((void **)&o->seen, o->nseen, &o->cap, sizeof *o->seen))
        return ST_NOMEM;
    o->seen[o->nseen++] = (struct own_file){ number, named(o->list, name) };
    return ST_OK;
}

/* Is it as own_files_look found it, and not ours? */
static bool anothers(const struct own_files *o, ino_t number)
{
    for (size_t i = 0; i < o->nseen; i++)
        if (o->seen[i].number == number)
            return !o->seen[i].ours;
    return false;
}

/* Every file that ends so: before (look) or after. */
static enum status walk(struct own_files *o, const char *const *ends, bool look, struct diags *ds)
{
    DIR *d = opendir(o->folder);
    struct dirent *e;
    enum status st = ST_OK;
    if (!d && errno != ENOENT && errno != ENOTDIR) {
        diag_add(ds, DIAG_ERROR, "io", o->folder, NO_SPAN, "cannot read this folder: %s",
                 strerror(errno));
        return ST_IO;
    }
    while (d && st == ST_OK && (e = readdir(d))) {
        if (!ends_so(e->d_name, ends))
            continue;
        if (look)
            st = own_files_may(o, e->d_name, ds);
        if (look && st == ST_OK)
            st = note(o, e->d_name, e->d_ino);
        if (!look && !anothers(o, e->d_ino))
            own_files_add(o, e->d_name);
    }
    if (d)
        closedir(d);
    return st;
}

enum status own_files_look(struct own_files *o, const char *const *ends, struct diags *ds)
{
    return walk(o, ends, true, ds);
}

enum status own_files_add_new(struct own_files *o, const char *const *ends, struct diags *ds)
{
    return walk(o, ends, false, ds);
}

void own_files_add(struct own_files *o, const char *name)
{
    if (o->names.s && named(o->names.s, name))
        return;
    buf_puts(&o->names, o->names.n ? ", " : "");
    buf_json(&o->names, str_of(name));
}

enum status own_files_save(const struct own_files *o, struct diags *ds)
{
    struct buf path = { 0 }, text = { 0 }, list = { 0 };
    buf_printf(&list, "[%s]", o->names.s ? o->names.s : "");
    struct jw w = document_open(&text, "gpulocw-files", 0);
    jw_key(&w, "files");
    jw_raw(&w, (struct str){ list.s, list.n });
    document_close(&w);
    buf_free_checked(&list, &text);
    bool fine = path_of(o->folder, LIST, &path) && !text.oom && !o->names.oom;
    enum status st = fine ? file_write_atomic(path.s, text.s, text.n, ds) : ST_NOMEM;
    buf_free(&path);
    buf_free(&text);
    return st;
}

void own_files_close(struct own_files *o)
{
    BASE_FREE(o->list, o->seen);
    buf_free(&o->names);
    *o = (struct own_files){ .folder = NULL };
}
