/* remote: a command of gpulocw on another machine, through a worker's launcher ("ssh host gpulocw
 * worker"): its words, files and program go over standard input, in frames of the worker protocol;
 * messages and exit status come back as they are, output too, or with files in frames. */
#pragma once

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
/* Where what comes back in frames goes. */
struct remote_back {
    const char *folder;                                 /* files; it is there; NULL: none are taken */
    void (*out)(void *ctx, const char *text, size_t n); /* standard output of the command there */
    void *ctx;
};
/* Runs `command` behind the launcher, whose last word is "worker". back NULL: its standard output is
 * this process's. *exit: its exit status. ST_USAGE: another launcher; ST_IO: a file cannot be read or
 * written, it does not start, or what comes back ends too early or is damaged. */
enum status remote_run(const char *launcher, const char *command, const struct remote *r,
                       const struct remote_back *back, int *exit, struct diags *ds);
/* The other end: reads what was sent from descriptor f. ST_INPUT: it is none, or was cut off. */
enum status remote_read(int f, struct remote *r, struct diags *ds);
/* The same for n bytes that the frames carried; r->folder is there. They are changed. */
enum status remote_unpack(struct remote *r, char *data, size_t n, struct diags *ds);
void remote_free(struct remote *r);

/* ---- what comes back (remote_back.c) ---- */
/* Reads frames from f until the end. ST_IO: see remote_run. */
enum status remote_take_back(int f, const struct remote_back *back, int *exit, struct diags *ds);
struct remote_out;
/* The other end: from here on standard output, of this process and of those it starts, travels in
 * frames. */
enum status remote_out_start(struct remote_out **out, struct diags *ds);
/* Sends the files in the folder (NULL: none) and the exit status; standard output is as before. Frees
 * `out`, which may be NULL. ST_IO: a file cannot be read, or the other end is gone. */
enum status remote_out_end(struct remote_out *out, const char *folder, int exit, struct diags *ds);
