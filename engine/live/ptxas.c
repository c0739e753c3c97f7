/* A script stands before ptxas in PATH. It fails as ptxas fails, and a copy that cannot be made changes
 * nothing. */
#include "engine/live/ptxas.h"

#include "engine/base/private_folder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* %s: the real one, the folder (three times). */
static const char SCRIPT[] =
    "#!/bin/sh\n"
    "# Written by gpulocw capture: runs ptxas, and keeps what it reads and writes.\n"
    "'%s' \"$@\"\n"
    "rc=$?\n"
    "[ $rc = 0 ] || exit $rc\n"
    "in= out= last=\n"
    "for a; do\n"
    "    case $last in -o|--output-file) out=$a last=; continue ;; esac\n"
    "    case $a in -o=*|--output-file=*) out=${a#*=} ;; *) [ -f \"$a\" ] && in=$a ;; esac\n"
    "    last=$a\n"
    "done\n"
    "if [ -f \"$in\" ] && [ -f \"$out\" ]; then\n"
    "    n=$$\n"
    "    while [ -e '%s'/$n.ptx ]; do n=${n}x; done\n"
    "    cp \"$in\" '%s'/$n.ptx && cp \"$out\" '%s'/$n.cubin\n"
    "fi >/dev/null 2>&1\n"
    "exit 0\n";

static bool is_program(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* The first one in PATH, into *b; empty: none. */
static void find_real(struct buf *b)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        buf_clear(b);
        if (n && *path == '/') {
            buf_printf(b, "%.*s/ptxas", (int)n, path);
            if (!b->oom && is_program(b->s))
                return;
        }
        path += n + (path[n] == ':');
    }
    buf_clear(b);
}

/* *made: the folder, where the script may be executed there. */
static enum status write_script(const char *folder, const char *real, char **made, struct diags *ds)
{
    struct buf path = { 0 }, text = { 0 };
    buf_printf(&path, "%s/ptxas", folder);
    buf_printf(&text, SCRIPT, real, folder, folder, folder);
    enum status st = path.oom || text.oom ? ST_NOMEM : file_write_atomic(path.s, text.s, text.n, ds);
    if (st == ST_OK && chmod(path.s, 0700) == 0 && is_program(path.s) && !(*made = base_strdup(folder)))
        st = ST_NOMEM;
    buf_free(&path);
    buf_free(&text);
    return st;
}

/* Neither a quote, which the script has around them, nor a colon, which ends a folder of PATH. */
static bool can_be_written(const char *folder, const char *real)
{
    return !strpbrk(folder, "':") && !strchr(real, '\'');
}

enum status live_ptxas_put(const char *folder, char **made, struct diags *ds)
{
    struct buf real = { 0 }, b = { 0 };
    enum status st = ST_OK;
    *made = NULL;
    find_real(&real);
    buf_printf(&b, "%s/ptxas", folder);
    if (b.oom || real.oom)
        st = ST_NOMEM;
    else if (real.n && mkdir(b.s, 0700) == 0) {
        char *absolute = realpath(b.s, NULL);
        if (absolute && can_be_written(absolute, real.s))
            st = write_script(absolute, real.s, made, ds);
        if (!*made)
            private_folder_remove(base_strdup(b.s));
        free(absolute);
    }
    buf_free(&real);
    buf_free(&b);
    return st;
}

char *live_ptxas_path(const char *made)
{
    const char *there = getenv("PATH");
    struct buf b = { 0 };
    buf_printf(&b, "%s%s%s", made, there && *there ? ":" : "", there ? there : "");
    return buf_take(&b);
}
