/* CTA partition (cluster paper, section 3 of the digest) and the software
 * cache's line count (softcache). Exact integers, no state. */
#include "engine/model/model.h"

#include <assert.h>

#define SOFTCACHE_LINE 16 /* bytes: the widest access of one thread */

uint64_t model_cluster_size(uint64_t V, uint64_t M, uint64_t i)
{
    return V / M + (i < V % M ? 1 : 0);
}

uint64_t model_cluster_start(uint64_t V, uint64_t M, uint64_t i)
{
    uint64_t r = V % M;
    return i * (V / M) + (i < r ? i : r);
}

struct model_place model_cluster_of(uint64_t V, uint64_t M, uint64_t v)
{
    assert(M > 0 && v < V);
    uint64_t q = V / M, r = V % M, large = r * (q + 1);
    if (v < large)
        return (struct model_place){ .w = v % (q + 1), .i = v / (q + 1) };
    /* v >= large with v < V implies q > 0 */
    return (struct model_place){ .w = (v - large) % q, .i = r + (v - large) / q };
}

uint64_t model_cluster_inverse(uint64_t V, uint64_t M, uint64_t w, uint64_t i)
{
    return model_cluster_start(V, M, i) + w;
}

struct model_place model_cluster_round_robin(uint64_t M, uint64_t u)
{
    return (struct model_place){ .w = u / M, .i = u % M };
}

uint32_t model_softcache_lines(uint64_t shared_available, uint64_t resident_threads)
{
    if (!resident_threads)
        return 0;
    uint64_t lines = shared_available / resident_threads / SOFTCACHE_LINE;
    return lines > UINT32_MAX ? UINT32_MAX : (uint32_t)lines;
}
