/* opt_cluster: clusters of CTAs and agents. */
#pragma once

#include "engine/rec/option_group.h"

#define CLUSTER_KINDS(X)            \
    X(CLUSTER_NONE, "none")         \
    X(CLUSTER_REDIRECT, "redirect") \
    X(CLUSTER_AGENT, "agent")
#define INDEX_KINDS(X)        \
    X(INDEX_ROW, "row")       \
    X(INDEX_COLUMN, "column") \
    X(INDEX_TILE, "tile")     \
    X(INDEX_CUSTOM, "custom") \
    X(INDEX_GRAPH, "graph")
#define CLAIM_KINDS(X)         \
    X(CLAIMS_ATOMIC, "atomic") \
    X(CLAIMS_LAUNCH, "launch") \
    X(CLAIMS_AUTO, "auto")
/* A table in the rewritten text has the order, no formula. */
#define INDEX_BY_TABLE(kind) ((kind) == INDEX_CUSTOM || (kind) == INDEX_GRAPH)

enum cluster_kind { CLUSTER_KINDS(OPTION_VALUE) };
enum claim_kind { CLAIM_KINDS(OPTION_VALUE) };
enum index_kind { INDEX_KINDS(OPTION_VALUE) };
#define OPT_AGENTS_VOTE (-1)

struct opt_cluster {
    int kind; /* enum cluster_kind */
    struct {
        int kind;       /* enum index_kind */
        uint32_t tx;    /* CTAs, with INDEX_TILE */
        uint32_t ty;    /* CTAs, with INDEX_TILE */
        char file[256]; /* path, with INDEX_CUSTOM */
    } index;
    int clusters; /* 0: the SMs of the device */
    int claims;   /* enum claim_kind: of agents */
    int agents;   /* of an SM; 0: as many as fit; OPT_AGENTS_VOTE */
};
#define opt_cluster(options) OPTION_GROUP_OF(options, cluster)
OPTION_GROUP(cluster);
