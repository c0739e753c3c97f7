/* Memory that is mapped at reserved addresses: a table by address. */
#include "engine/emulate/runtime/region.h"
#include "engine/base/list.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct mapping *v;
    size_t n, cap;
} V;

size_t mapped_count(void)
{
    return V.n;
}

struct mapping *mapped(size_t i)
{
    return &V.v[i];
}

size_t mapped_above(uint64_t addr)
{
    size_t k;
    BISECT(k, V.n, V.v[k].b.addr + V.v[k].b.n <= addr);
    return k;
}

struct mapping *mapped_at(uint64_t addr)
{
    size_t i = mapped_above(addr);
    return i < V.n && V.v[i].b.addr <= addr ? &V.v[i] : NULL;
}

bool mapped_add(const struct mapping *m)
{
    if (V.n == V.cap) {
        size_t cap = V.cap ? 2 * V.cap : 16;
        struct mapping *v = realloc(V.v, cap * sizeof *v);
        if (!v)
            return false;
        V.v = v;
        V.cap = cap;
    }
    size_t i = mapped_above(m->b.addr);
    memmove(&V.v[i + 1], &V.v[i], (V.n - i) * sizeof *V.v);
    V.v[i] = *m;
    V.n++;
    return true;
}

void mapped_drop(size_t from, size_t to)
{
    memmove(&V.v[from], &V.v[to], (V.n - to) * sizeof *V.v);
    V.n -= to - from;
}
