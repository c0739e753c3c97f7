/* service: the commands as tools for programs: schemas made from the argument table, requests as JSON,
 * each run in a process of its own, their results summed up. The MCP server and the batch runner are
 * made of these. */
#pragma once

#include "engine/base/base.h"

enum tool_document { TOOL_JSON, TOOL_TEXT };
struct tool {
    const char *name, *command;
    bool knobs;
    const char *arguments;
    const char *fixed, *agent;
    enum tool_document document;
    const char *kept;
    const char *title;
    const char *help;
};
size_t tool_count(void);
const struct tool *tool_at(size_t i);
const struct tool *tool_find(const char *name); /* NULL: none */
/* Is `name` one of its arguments? */
bool tool_takes(const struct tool *t, const char *name);

/* [{"name","title","description","inputSchema","annotations"}, ...]: the knobs of a configuration are
 * described once, as `options` of the tool rewrite; the others that take them say so. mcp: for a client
 * of the server: with its own tool, without titles. */
void service_tools(bool mcp, struct jw *w);

/* A command line made from JSON arguments, with the name of the program first. */
struct service_line {
    char **argv;
    int argc;
    char *folder; /* private, with what was given as text; NULL: none */
};
/* Names of files that lie in `folder` (NULL: none) mean those. ST_USAGE with diagnostics: no such tool,
 * or arguments that it does not take. Release with service_line_free in every case. */
enum status service_line_make(const char *tool, const char *arguments, const char *folder,
                              struct service_line *out, struct diags *ds);
void service_line_free(struct service_line *l);

/* Folders below which a caller's files must lie, links followed; relative paths start there. n 0:
 * everywhere. Borrowed. */
struct service_roots {
    const char *const *folder;
    size_t n;
};

struct service_mcp_opts {
    const char *self;           /* the program that runs a tool */
    int in, out;                /* descriptors of the client */
    struct service_roots roots; /* n 0: those that the client names, or the current folder */
    unsigned jobs;              /* tools that run at once; 0: one for each CPU */
    const struct cancel *cancel;
};
/* Serves the Model Context Protocol until the client closes `in` and what it asked for is answered, or
 * until it has closed `out`, or cancel is asked; whatever still runs then is ended. ST_IO: the client cannot be read from or written to. */
enum status service_mcp(const struct service_mcp_opts *o, struct diags *ds);

struct service_batch_opts {
    const char *self;
    /* requests, one JSON object a line; "-": standard input */
    const char *file;
    /* results, one line for each request in its order; NULL: standard output. What a file holds already
     * is not run again. */
    const char *output;
    unsigned jobs; /* requests that run at once; 0: one for each worker, or one more than CPUs */
    /* launchers of workers, one for each job that runs at once; nworkers 0: this machine */
    const char *const *worker;
    size_t nworkers;
    const struct cancel *cancel;
    void (*progress)(void *ctx, double done, const char *what, const char *detail);
    void *ctx;
};
struct service_batch_counts {
    /* failed: exit code not 0 */
    uint64_t requests;
    uint64_t resumed;
    uint64_t failed;
    double wall_s, busy_s; /* busy: CPU time of the requests' processes */
};
/* ST_INPUT: a line is no request (it has a result that says so; the others are run). ST_CANCELLED: cut
 * off; what has finished is in the output. */
enum status service_batch(const struct service_batch_opts *o, struct service_batch_counts *counts,
                          struct diags *ds);
