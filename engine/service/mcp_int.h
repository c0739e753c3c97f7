/* Private to the MCP server: its state, and the messages it writes. */
#ifndef GPULOCW_SERVICE_MCP_INT_H
#define GPULOCW_SERVICE_MCP_INT_H

#include "engine/service/service_int.h"

/* Revisions of the protocol, newest first. From MCP_STATELESS on every request names its revision and
 * nothing is agreed before; earlier ones begin with "initialize". 2025-03-26 is left out: it asks for
 * JSON-RPC batches, which no other revision has. */
enum mcp_revision { MCP_2026_07_28, MCP_2025_11_25, MCP_2025_06_18, MCP_2024_11_05, MCP_REVISIONS };
#define MCP_STATELESS MCP_2026_07_28
extern const char *const mcp_revision_names[MCP_REVISIONS];

enum mcp_error {
    MCP_PARSE = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL = -32603,
    MCP_NO_RESOURCE = -32002,
    MCP_UNSUPPORTED_REVISION = -32022
};

#define MCP_MOST_MESSAGE (16u << 20) /* bytes of one line of a client */
#define MCP_CALLS        256         /* calls that wait or run at once */
#define MCP_DOCUMENTS    64          /* that resources/read still has */
#define MCP_MOST_STORED  (256ull << 20)
#define MCP_TEXT_SHOWN   16384 /* bytes of a document that is text in an answer */
#define MCP_URI          "gpulocw://documents/"

struct mcp_call {
    bool used;
    bool running;
    bool cancelled;
    cJSON *id, *token; /* token: of progress notifications; NULL: none asked for */
    enum mcp_revision revision;
    struct request request;
    struct service_job job;
    uint64_t turn;   /* calls start in this order */
    int64_t told_ns; /* when progress was told last */
    double told;
};
struct mcp_document {
    uint64_t number; /* 0: none */
    const struct tool *tool;
    struct buf text;
};
struct mcp {
    const struct service_mcp_opts *o;
    unsigned jobs, running;
    struct buf in;              /* the unread end of what came */
    bool skipping;              /* inside a line that is too long */
    bool gone;                  /* the client reads no more */
    bool agreed;                /* "initialize" was answered */
    enum mcp_revision revision; /* of "initialize" */
    struct mcp_call call[MCP_CALLS];
    uint64_t turns, documents;
    struct mcp_document document[MCP_DOCUMENTS];
};

/* ---- mcp_write.c ---- */
/* One message; `body` is the value of "result". */
void mcp_result(struct mcp *m, const cJSON *id, enum mcp_revision r, const struct buf *body);
/* data: JSON, or NULL. id NULL: null. */
void mcp_fail(struct mcp *m, const cJSON *id, enum mcp_error code, const char *message,
              const char *data);
void mcp_progress(struct mcp *m, struct mcp_call *c);
/* Begins the object of a result: {"resultType":"complete", where the revision has it. */
void mcp_open(struct buf *body, enum mcp_revision r);
/* The caching hints that lists carry from MCP_STATELESS on. */
void mcp_cache(struct buf *body, enum mcp_revision r, unsigned ms);

/* ---- mcp_answer.c: methods that are answered at once ---- */
void mcp_initialize(struct mcp *m, const cJSON *id, const cJSON *params);
void mcp_discover(struct mcp *m, const cJSON *id, enum mcp_revision r);
void mcp_list_tools(struct mcp *m, const cJSON *id, enum mcp_revision r);
void mcp_list_resources(struct mcp *m, const cJSON *id, enum mcp_revision r);
void mcp_list_templates(struct mcp *m, const cJSON *id, enum mcp_revision r);
void mcp_read_resource(struct mcp *m, const cJSON *id, enum mcp_revision r, const cJSON *params);
void mcp_unsupported(struct mcp *m, const cJSON *id, const char *asked);

/* ---- mcp_call.c: tools/call ---- */
void mcp_call_begin(struct mcp *m, const cJSON *id, enum mcp_revision r, const cJSON *params);
/* Starts what waits while there is room. */
void mcp_call_next(struct mcp *m);
/* Reads of all that run, tells progress, answers those that ended. */
void mcp_call_poll(struct mcp *m);
/* The client wants no answer any more. An id that is not under way is ignored. */
void mcp_call_cancel(struct mcp *m, const cJSON *id);
bool mcp_call_known(const struct mcp *m, const cJSON *id);
void mcp_call_end_all(struct mcp *m);

#endif
