/* cta_graph: which CTAs touch which sectors, and an order that keeps CTAs that share together. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cta_touch {
    uint64_t sector;
    uint32_t cta;
};
struct cta_graph {
    struct cta_touch *pair;
    size_t n, cap;
    bool oom, many;
};
void cta_graph_note(struct cta_graph *g, uint64_t sector, uint32_t cta);
/* Fills order[ctas] with every CTA once, cluster by cluster (as the passes divide a grid); NULL, or why
 * there is none. Sorts g. */
const char *cta_graph_order(struct cta_graph *g, uint32_t ctas, uint32_t clusters, uint32_t *order);
void cta_graph_free(struct cta_graph *g);
