/* Which files -o may replace: see workspace_output_check in workspace.h. */
#include "engine/pass/pass.h"
#include "engine/workspace/workspace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKED_AT ((size_t)64 << 20)

/* JSON of ours has a "format" key; SARIF has no room for one, but names the program that made it. */
static bool json_of_ours(const char *text)
{
    const char *key = strstr(text, "\"format\""),
               *value = key ? key + 8 + strspn(key + 8, " \t\r\n:") : "";
    if (key && key - text < 4096 && strncmp(value, "\"gpulocw-", 9) == 0)
        return true;
    const char *sarif = strstr(text, "json.schemastore.org/sarif"),
               *driver = sarif ? strstr(sarif, "\"driver\": {\"name\": \"gpulocw\"") : NULL;
    return driver && driver - text < 4096;
}

/* Written by gpulocw: JSON by json_of_ours, tables by their heads, the rest by a mark. */
static bool ours(const char *text, size_t n)
{
    /* a line at the head of a table, or a part of it */
    static const char csv[] = "run,kernel,device,options,time_ns_median,",
                      sizes[] = "bytes,miss_ratio,hit_same_warp,",
                      curve[] = ",time_ns,low_ns,high_ns,equal_to_original,";
    const char *head = strstr(text, curve), *line = strchr(text, '\n');
    size_t blank = strspn(text, " \t\r\n");
    if (blank < n && text[blank] == '{')
        return json_of_ours(text);
    if (strncmp(text, csv, sizeof csv - 1) == 0 || strncmp(text, sizes, sizeof sizes - 1) == 0 ||
        (head && line && head < line) || strcmp(text, "null\n") == 0)
        return true;
    const char *tail = n > 256 ? text + n - 256 : text;
    if (strstr(tail, WORKSPACE_MARK_PAGE) || strstr(tail, WORKSPACE_MARK_PTX) ||
        strstr(tail, WORKSPACE_MARK_TEXT))
        return true;
    /* PTX with names that rewrites give */
    return strstr(text, ".version") && strstr(text, PASS_PREFIX);
}

static bool known_device(const char *path)
{
    static const char *const devices[] = { "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty" };
    for (size_t i = 0; i < ARRAY_LEN(devices); i++)
        if (strcmp(path, devices[i]) == 0)
            return true;
    return strncmp(path, "/dev/fd/", 8) == 0;
}

/* The folder of a path, with links followed; owned by free. */
static char *folder_of(const char *path)
{
    char *copy = base_strdup(path), *slash = copy ? strrchr(copy, '/') : NULL;
    if (slash)
        slash[slash == copy] = 0;
    char *real = copy ? realpath(slash ? copy : ".", NULL) : NULL;
    base_free(copy);
    return real;
}

/* Does the link lead to a file of another folder, or to none? */
static bool leads_away(const char *path)
{
    char *target = realpath(path, NULL), *here = folder_of(path),
         *there = target ? folder_of(target) : NULL;
    bool away = !here || !there || strcmp(here, there) != 0;
    free(target);
    free(here);
    free(there);
    return away;
}

enum status workspace_output_refused(const char *path, const char *why, struct diags *ds)
{
    struct diag *d = diag_add(ds, DIAG_ERROR, "exists", path, NO_SPAN, "%s; --force overwrites it", why);
    diag_hint(d, "or choose another name");
    return ST_USAGE;
}

enum status workspace_output_check(const char *path, bool force, struct diags *ds)
{
    struct stat s;
    char *text;
    size_t n;
    if (force || known_device(path) || lstat(path, &s) != 0)
        return ST_OK;
    if (S_ISLNK(s.st_mode) && leads_away(path))
        return workspace_output_refused(path, "is a link to another folder", ds);
    if (stat(path, &s) != 0 || S_ISDIR(s.st_mode))
        return ST_OK; /* writing says what is wrong */
    if (!S_ISREG(s.st_mode))
        return workspace_output_refused(path, "is a pipe or device", ds);
    if (!s.st_size)
        return ST_OK;
    bool read = file_read_regular(path, LOOKED_AT, &text, &n, NULL) == ST_OK;
    bool is = read && ours(text, n);
    base_free(read ? text : NULL);
    return is ? ST_OK : workspace_output_refused(path, "exists and was not written by gpulocw", ds);
}

enum status workspace_code_check(const char *ptx, bool launch, bool force, struct diags *ds)
{
    char *beside = launch ? workspace_launch_name(ptx) : NULL;
    enum status st = launch && !beside ? ST_NOMEM : workspace_output_check(ptx, force, ds);
    if (st == ST_OK && launch)
        st = workspace_output_check(beside, force, ds);
    base_free(beside);
    return st;
}
