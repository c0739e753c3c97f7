/* Private to service: a request on its way to a result. */
#pragma once

#include "engine/service/service.h"
#include "engine/session/json.h"

#include <sys/types.h>

/* ---- tools.c ---- */
struct arg_row;
/* The row of args.def that is the tool's argument of this name; NULL: none. */
const struct arg_row *tool_row(const struct tool *t, const char *name);
#define TOOL_PROGRAM "program" /* the argument of tools that run one: a list, the program first */
/* Does it take the text of a PTX file for a file? */
bool tool_has_ptx(const struct tool *t);
/* What the argument is to this tool; "": not known. */
const char *tool_help(const struct tool *t, const char *argument);

/* The tool of the MCP server itself: pieces of the documents that it keeps. */
#define SERVICE_READ "read"

/* ---- request.c: JSON arguments to a command line ---- */
struct request {
    const struct tool *tool;
    char **argv; /* of the command, NULL at the end; argv[0] is the command's name */
    size_t n, cap;
    char *folder; /* private, with what was given as text; NULL: none */
};
/* `arguments`: an object, or NULL. ST_USAGE with diagnostics: a key that the tool has not, a value of
 * another type, a file outside the roots. A name that lies in `folder` (NULL: none) means that file.
 * roots: those of an MCP client, which also gets the options that the tool has for agents; else NULL.
 * Release with request_free in every case. */
enum status request_make(const struct tool *t, const cJSON *arguments, const struct service_roots *roots,
                         const char *folder, struct request *out, struct diags *ds);
/* Removes the private folder: the command has ended. */
void request_tidy(struct request *r);
/* Removes the private folder as well. */
void request_free(struct request *r);

/* ---- job.c: a command in a process of its own ---- */
struct job_end {
    int code;       /* exit code of the command; 128 + signal when a signal ended it */
    double cpu_s;   /* of the process and its children */
    bool cancelled; /* job_stop was called before it ended */
};
struct service_job {
    pid_t pid;        /* 0: none */
    int out, err;     /* pipe of standard output; memory file of standard error */
    int steps;        /* pipe of --progress-fd */
    struct buf text;  /* standard output so far */
    struct buf lines; /* the unread end of steps */
    struct buf last;  /* the last line of steps: exit code and diagnostics */
    double done;      /* 0..1 */
    char what[160];   /* of the last step */
    bool moved;       /* a step came since moved was last cleared */
    bool too_long;    /* the document passed SERVICE_MOST_TEXT */
    int64_t stopped;  /* when job_stop was called (base_now_ns); 0: not */
};
#define SERVICE_MOST_TEXT (512ull << 20)
/* worker: NULL, or what launches the worker of the device; threads 0: the command's own choice. */
enum status job_start(struct service_job *j, const char *self, const struct request *r,
                      const char *worker, unsigned threads, struct diags *ds);
/* Reads what is there. True: the process has ended and *end tells how; the job is closed but for text
 * and last. */
bool job_poll(struct service_job *j, struct job_end *end);
/* Asks it to end; SERVICE_GRACE_S later job_poll kills it. */
void job_stop(struct service_job *j);
#define SERVICE_GRACE_S 5
/* Ends it now, waits for it, frees. */
void job_free(struct service_job *j);

/* ---- summary.c ---- */
/* How much of a document is told: lists and texts that are longer are cut, and say so. */
struct summary_room {
    int list;    /* elements */
    size_t text; /* bytes */
};
/* What tools.def keeps of a document. */
void summary_put(const struct tool *t, const cJSON *document, struct summary_room room, struct jw *w);
/* The diagnostics of the last line of a job: a list, empty where there are none. room: what is longer
 * is cut, and members that are null are left out; NULL: as they are. */
void summary_diagnostics(const struct service_job *j, const struct summary_room *room, struct jw *w);
/* The same for people: "error: ...; hint". */
void summary_words(const struct service_job *j, int code, struct buf *out);
