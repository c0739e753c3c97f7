/* io: where the words of a command go. The program's own go to standard output and standard error;
 * a caller of the engine in its own process (engine/api) takes them into memory. */
#pragma once

#include "engine/base/base.h"

/* A function that is NULL drops what it is for. `text` is bytes, not a string with an end. */
struct cmd_io {
    void *ctx;
    /* what the command was asked for: a document or text for people */
    void (*out)(void *ctx, const char *text, size_t n);
    /* text for people about a program that writes to standard output itself */
    void (*aside)(void *ctx, const char *text, size_t n);
    /* diagnostics, of a command that ended with `s`; ds may be empty */
    void (*tell)(void *ctx, enum status s, const struct diags *ds);
    /* how far: done 0..1, below 0: the work has ended; detail may be "" */
    void (*progress)(void *ctx, double done, const char *what, const char *detail);
    /* One line that the user types to `question`, without its end; false: there is no more. NULL: nobody
     * is there to ask. */
    bool (*ask)(void *ctx, const char *question, char *answer, size_t room);
    /* people read it on a terminal: colours, side by side */
    bool terminal;
    /* memory ran out in something that went to `out` */
    bool incomplete;
    /* something went to `out` */
    bool said;
    /* a command with --json that fails before it said anything prints its diagnostics as a document */
    bool failure_document;
};
/* Standard output and standard error, with a bar where that is a terminal. Above 0, *fd is the
 * descriptor of --progress-fd and takes JSON lines: {"progress":0..1,"what","detail"} for each step, at
 * the end
 * {"exit","diagnostics":[...]}. Borrows fd. */
struct cmd_io cmd_io_standard(long *fd);
