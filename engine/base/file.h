/* Writing files so that a name holds the old content or the new, never half.
 *
 *     struct file_new f;
 *     bool ok = file_new_open(&f, path) && file_new_put(&f, data, n) && file_new_done(&f);
 *     if (!ok)
 *         ... f.err says why; file_new_drop(&f) has nothing to do after file_new_done ...
 *     file_new_drop(&f);
 *
 * The content goes to a new file beside the target: made with O_EXCL and O_NOFOLLOW under a name that
 * cannot be guessed, so that nothing prepared in a shared folder is opened or followed. file_new_done
 * syncs the file, renames it and syncs the folder. */
#pragma once

#include "engine/base/base.h"

struct file_new {
    int fd;           /* where the content goes; -1: none is open */
    int folder;       /* the folder of the target, open; -1: written in place */
    char *name;       /* the target's name in that folder */
    char *temp;       /* the new file's name there; NULL: there is none */
    int err;          /* errno of the first call that failed, 0: none did */
    const char *what; /* what the failed call was for, as the message begins: "cannot write" */
};

/* Begins a file for `path`. A link that leads to a file stays a link, and a file's mode is kept.
 * Devices, pipes, /dev/stdout, /dev/stderr and /dev/fd/N are written in place. Returns false, with
 * f->err and f->what, when it cannot. */
bool file_new_open(struct file_new *f, const char *path);
/* All n bytes, or false. Once false, always false. */
bool file_new_put(struct file_new *f, const void *p, size_t n);
/* Syncs the file, gives it the target's name, syncs the folder. False: the target is what it was, but
 * for a failed sync of the folder (f->what says so), where the new content has the name. */
bool file_new_done(struct file_new *f);
/* Removes what file_new_done did not finish and frees; f->err and f->what stay. Allowed at any time
 * after the open, also twice. */
void file_new_drop(struct file_new *f);
