/* remote: a command of gpulocw on another machine, through a worker's launcher ("ssh host gpulocw
 * worker"): its words, files and program go over standard input; output, messages and exit status come
 * back as they are. */
#ifndef GPULOCW_LIVE_REMOTE_H
#define GPULOCW_LIVE_REMOTE_H

#include "engine/base/base.h"

struct remote {
    char **word; /* of the command there, without files; owned */
    size_t nwords, words_cap;
    char **program; /* behind --; owned; ends in NULL */
    size_t nprogram, program_cap;
    char **file; /* here: what is sent; there: paths in `folder`; owned */
    size_t nfiles, files_cap;
    size_t named; /* the first so many files are named to the command; the others lie beside them */
    char *folder; /* there; private_folder_remove; NULL here */
};
bool remote_add(char ***v, size_t *n, size_t *cap, const char *text); /* false: out of memory */
/* Runs `command` behind the launcher, whose last word is "worker". *exit: its exit status. ST_USAGE:
 * another launcher; ST_IO: a file cannot be read, or it does not start. */
enum status remote_run(const char *launcher, const char *command, const struct remote *r, int *exit,
                       struct diags *ds);
/* The other end: reads what was sent from descriptor f. ST_INPUT: it is none, or was cut off. */
enum status remote_read(int f, struct remote *r, struct diags *ds);
void remote_free(struct remote *r);

#endif
