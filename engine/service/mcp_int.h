/* Private to the MCP server: its state, and the messages it writes. */
#pragma once

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
#define MCP_MOST_RESULT  4000 /* bytes of a result: what an agent is made to read */
#define MCP_MOST_ROOTS   32
#define MCP_URI          "gpulocw://documents/"

struct mcp_call {
    bool used;
    bool running;
    bool cancelled;
    cJSON *id, *token; /* token: of progress notifications; NULL: none asked for */
    bool made;         /* request is: its paths are settled once the client's roots are known */
    enum mcp_revision revision;
    const struct tool *tool;
    cJSON *arguments;
    struct request request;
    struct service_job job;
    uint64_t turn; /* calls start in this order */
    /* when it began, and when progress was told last */
    int64_t begun_ns, told_ns;
    double told;
};
struct mcp_document {
    uint64_t number; /* 0: none */
    const struct tool *tool;
    bool json;
    struct buf text;
};
/* The folders of the client, where the command line names none. */
struct mcp_roots {
    bool has;         /* the client can be asked */
    int64_t asked_ns; /* when it was asked and has not answered yet; 0: it is not being asked */
    char *folder[MCP_MOST_ROOTS];
    size_t n;
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
    bool ended;                 /* the client asks no more: what it asked for is answered */
    struct service_roots roots; /* below which files lie now */
    struct mcp_roots client;
    uint64_t turns, documents;
    struct mcp_document document[MCP_DOCUMENTS];
};

/* ---- mcp_write.c ---- */
/* A message that is being written: begin, members of its result, send. */
struct mcp_message {
    struct buf text;
    struct jw w;   /* inside the object of the result */
    size_t result; /* where that begins in the text */
};
void mcp_begin(struct mcp_message *g, const cJSON *id, enum mcp_revision r);
void mcp_send(struct mcp *m, struct mcp_message *g);
/* data: JSON, or NULL. id NULL: null. */
void mcp_fail(struct mcp *m, const cJSON *id, enum mcp_error code, const char *message,
              const struct buf *data);
void mcp_progress(struct mcp *m, struct mcp_call *c, const char *message);
/* A request to the client. */
void mcp_ask(struct mcp *m, const char *id, const char *method);
/* The caching hints that lists carry from MCP_STATELESS on. */
void mcp_cache(struct mcp_message *g, enum mcp_revision r, unsigned ms);

/* ---- mcp_answer.c: methods that are answered at once ---- */
void mcp_initialize(struct mcp *m, const cJSON *id, const cJSON *params);
void mcp_discover(struct mcp *m, const cJSON *id, enum mcp_revision r);
void mcp_list_tools(struct mcp *m, const cJSON *id, enum mcp_revision r);
void mcp_list_resources(struct mcp *m, const cJSON *id, enum mcp_revision r);
void mcp_list_templates(struct mcp *m, const cJSON *id, enum mcp_revision r);
void mcp_read_resource(struct mcp *m, const cJSON *id, enum mcp_revision r, const cJSON *params);
void mcp_unsupported(struct mcp *m, const cJSON *id, const char *asked);

/* A document that is kept; NULL: none of that URI. */
const struct mcp_document *mcp_document_of(const struct mcp *m, const char *uri);
/* Its URI; members of an object: URI, name and type. */
void mcp_put_uri(struct jw *w, const char *key, const struct mcp_document *d);
void mcp_put_document(struct jw *w, const struct mcp_document *d);

/* ---- mcp_roots.c: where the client's files lie ---- */
void mcp_roots_ask(struct mcp *m);
/* Is `id` that of a question to the client? Then this is its answer; NULL: it has none. */
bool mcp_roots_answer(struct mcp *m, const cJSON *id, const cJSON *result);
/* The client is still being asked. */
bool mcp_roots_awaited(struct mcp *m);
void mcp_roots_free(struct mcp *m);

/* ---- mcp_result.c: what a call answers ---- */
void mcp_answer(struct mcp *m, struct mcp_call *c, const struct job_end *end);
/* Arguments that the tool cannot take: told to the model, which can mend them. */
void mcp_refuse(struct mcp *m, const cJSON *id, enum mcp_revision r, enum status st, struct diags *ds);
/* The content of a result: this text, and a link to a document (NULL: none). */
void mcp_put_content(struct mcp_message *g, struct str text, const struct mcp_document *link);
/* Is the result of this message short enough for an agent? */
bool mcp_is_short(const struct mcp_message *g);
/* A piece of a document, by the tool SERVICE_READ. */
void mcp_read_piece(struct mcp *m, const cJSON *id, enum mcp_revision r, const cJSON *arguments);

/* ---- mcp_call.c: tools/call ---- */
void mcp_call_begin(struct mcp *m, const cJSON *id, enum mcp_revision r, const cJSON *params);
/* Starts what waits while there is room. */
void mcp_call_next(struct mcp *m);
/* Reads of all that run, tells progress, answers those that ended. */
void mcp_call_poll(struct mcp *m);
/* The client wants no answer any more. An id that is not under way is ignored. */
void mcp_call_cancel(struct mcp *m, const cJSON *id);
bool mcp_call_known(const struct mcp *m, const cJSON *id);
/* Does a call wait or run? */
bool mcp_call_any(const struct mcp *m);
void mcp_call_end_all(struct mcp *m);
