/* Private to the batch runner: requests under way, and the files they come from and go to. */
#pragma once

#include "engine/service/service_int.h"

#define BATCH_MOST_JOBS 256
#define BATCH_MOST_LINE (64u << 20) /* bytes of a request */

enum batch_state {
    BATCH_WAITS,
    BATCH_RUNS,
    BATCH_DONE, /* its result is there, and those before it are not written yet */
    BATCH_CUT   /* ended before it had finished: no result */
};
struct batch_line {
    enum batch_state state;
    uint64_t number; /* of the line in the file, from 1 */
    uint64_t hash;   /* of its text */
    size_t slot;
    unsigned attempts;       /* so far */
    struct buf text, result; /* result: a line of the output */
    cJSON *json;
    struct request request;
    struct service_job job;
};
struct batch_old { /* a result of an earlier run */
    uint64_t number, hash;
    struct buf line; /* of the part file: results without their turn; empty: in the output already */
};
struct batch {
    const struct service_batch_opts *o;
    struct service_batch_counts *counts;
    struct diags *ds;
    size_t jobs;
    bool slot[BATCH_MOST_JOBS]; /* busy */
    /* part: OUTPUT.part, results that wait for earlier ones; -1: none */
    int in;
    int out;
    int part;
    char *part_path;
    uint64_t written, spooled; /* bytes of whole results in out and part */
    uint64_t read, size;       /* bytes of the requests */
    uint64_t numbers;          /* lines so far */
    bool more;                 /* the requests have not ended */
    uint64_t bad;              /* lines that were no requests */
    bool failed;               /* the output cannot be written */
    bool unread;               /* the requests could not be read to their end */
    struct buf ahead;          /* what was read behind the last line */
    /* from the first without a written result to the last that was read */
    struct batch_line *line;
    size_t n, cap;
    struct batch_old *old;
    size_t nold;
    size_t old_cap;
    size_t next_old;
};
/* ---- batch_files.c ---- */
enum status batch_open(struct batch *b);
/* The next line of the requests, at the end of b->line: BATCH_WAITS, or BATCH_DONE with the result of an
 * earlier run. NULL: none is there. */
struct batch_line *batch_next(struct batch *b);
/* A result that has finished before its turn goes to the part file at once, so that nothing is lost. */
void batch_spool(struct batch *b, struct batch_line *l);
/* Writes the results that are next in order. */
void batch_flush(struct batch *b);
/* whole: every request has its result, so that the part file is not needed any more. ST_IO: something
 * could not be written, or was not read. */
enum status batch_close(struct batch *b, bool whole);
