/* apply: is the tuned kernel's result the original's? Before a launch, everything that its parameters
 * and the module's variables reach is copied; the tuned kernel runs, its outcome is kept, the copy is
 * put back, and the program's own launch runs the original. Then both outcomes are compared bit by bit.
 */
#include "engine/dev/inject/apply.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RANGES = 256, CHUNK = 4 << 20 };
struct range {
    uint64_t at, before, after; /* the memory; copies of it: before, and after the tuned kernel */
    size_t n;
};
static struct {
    pthread_mutex_t lock; /* held from a verified launch's entry to its exit */
    struct range range[MOST_RANGES];
    unsigned n;
    struct launch launch;
} V = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool memory_of(uint64_t p, uint64_t *at, size_t *n)
{
    enum { MEMORY_TYPE = 2, RANGE_START = 11, RANGE_SIZE = 12 };
    unsigned type = 0;
    if (p < 4096 || A.d.pointer(&type, MEMORY_TYPE, p) != 0 || !type)
        return false;
    if (A.d.range && A.d.range(at, n, p) == 0 && *n)
        return true;
    return A.d.pointer(at, RANGE_START, p) == 0 && A.d.pointer(n, RANGE_SIZE, p) == 0 && *n;
}

static bool add(uint64_t at, size_t n)
{
    for (unsigned i = 0; i < V.n; i++)
        if (V.range[i].at == at)
            return true;
    if (V.n == MOST_RANGES)
        return false;
    V.range[V.n++] = (struct range){ at, 0, 0, n };
    return true;
}

/* Every aligned word that is the address of some memory. */
static bool add_words(const void *data, size_t n)
{
    bool ok = true;
    for (size_t i = 0; ok && i + 8 <= n; i += 8) {
        uint64_t p, at;
        size_t bytes;
        memcpy(&p, (const char *)data + i, sizeof p);
        ok = !memory_of(p, &at, &bytes) || add(at, bytes);
    }
    return ok;
}

static bool add_params(const struct tuned *u, const struct launch *l)
{
    enum { END = 0, POINTER = 1, SIZE = 2, MOST_PARAMS = 4096 };
    const void *buffer = NULL;
    size_t at, n = 0;
    bool ok = true;
    for (void **e = l->extra; e && *e != (void *)END; e += 2) {
        buffer = *e == (void *)POINTER ? e[1] : buffer;
        if (*e == (void *)SIZE)
            memcpy(&n, e[1], sizeof n);
    }
    if (buffer)
        return add_words(buffer, n);
    for (size_t i = 0; ok && l->params && A.d.param && i < MOST_PARAMS; i++) {
        if (A.d.param(u->f, i, &at, &n) != 0)
            break;
        ok = add_words(l->params[i], n);
    }
    return ok && (!l->params || A.d.param);
}

static bool copy_all(void)
{
    for (unsigned i = 0; i < V.n; i++) {
        struct range *r = &V.range[i];
        if (A.d.alloc(&r->before, r->n) != 0 || A.d.alloc(&r->after, r->n) != 0)
            return false;
    }
    return true;
}

static void drop(void)
{
    for (unsigned i = 0; i < V.n; i++) {
        if (V.range[i].before)
            A.d.release(V.range[i].before);
        if (V.range[i].after)
            A.d.release(V.range[i].after);
    }
    V.n = 0;
}

static bool save(bool after)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < V.n; i++)
        ok = A.d.copy(after ? V.range[i].after : V.range[i].before, V.range[i].at, V.range[i].n) == 0;
    return ok && A.d.wait() == 0;
}

static bool restore(bool after)
{
    bool ok = true;
    for (unsigned i = 0; i < V.n; i++)
        ok &= A.d.copy(V.range[i].at, after ? V.range[i].after : V.range[i].before, V.range[i].n) == 0;
    return A.d.wait() == 0 && ok;
}

static int give_up(int why)
{
    drop();
    pthread_mutex_unlock(&V.lock);
    return why;
}

/* A tuned kernel that fails takes its context along, as any kernel that faults does: nothing can be put
 * back then. One that only does not start leaves everything as it was. */
static bool tuned_runs(const struct target *t, const struct tuned *u, const struct launch *l)
{
    for (unsigned i = 0; i < t->nzero; i++)
        A.d.set_async(u->zero[i], 0, t->zero[i].bytes, apply_stream(l));
    apply_mirror(t, u, l, false);
    if (apply_launch(l, u->f, t) != 0)
        return false;
    apply_mirror(t, u, l, true);
    return A.d.wait() == 0;
}

int apply_verify(struct target *t, const struct tuned *u, const struct launch *l)
{
    size_t room = 0, all = 0, need = 0;
    if (!A.d.wait || !A.d.alloc || !A.d.release || !A.d.copy || !A.d.fetch || !A.d.pointer ||
        A.d.wait() != 0)
        return LIVE_APPLY_READ;
    pthread_mutex_lock(&V.lock);
    V.n = 0;
    V.launch = *l;
    V.launch.f = l->f;
    bool ok = add_params(u, l);
    for (unsigned i = 0; ok && i < t->nmirror; i++)
        ok = !u->bytes[i] || add(u->from[i], u->bytes[i]);
    if (!ok)
        return give_up(LIVE_APPLY_READ);
    for (unsigned i = 0; i < V.n; i++)
        need += 2 * V.range[i].n;
    if (A.d.left && (A.d.left(&room, &all) != 0 || need > room / 10 * 9))
        return give_up(LIVE_APPLY_MEMORY);
    if (!copy_all())
        return give_up(LIVE_APPLY_MEMORY);
    if (!save(false))
        return give_up(LIVE_APPLY_READ);
    ok = tuned_runs(t, u, l);
    if (!ok) {
        restore(false);
        return give_up(LIVE_APPLY_FAILED);
    }
    if (!save(true) || !restore(false)) {
        restore(false);
        return give_up(LIVE_APPLY_READ);
    }
    return -1;
}

/* Does memory now equal the kept outcome? -1: it could not be read. */
static int same_as_kept(void)
{
    char *x = malloc(CHUNK), *y = malloc(CHUNK);
    int same = x && y ? 1 : -1;
    for (unsigned i = 0; same == 1 && i < V.n; i++)
        for (size_t at = 0; same == 1 && at < V.range[i].n; at += CHUNK) {
            size_t n = V.range[i].n - at < CHUNK ? V.range[i].n - at : CHUNK;
            same =
                A.d.fetch(x, V.range[i].at + at, n) != 0 || A.d.fetch(y, V.range[i].after + at, n) != 0
                    ? -1
                    : memcmp(x, y, n) == 0;
        }
    free(x);
    free(y);
    return same;
}

/* They differ: the original once more on the same data says whether its own outcome is the same each
 * time. The program keeps the outcome of its first run. */
static int judge(const struct launch *l)
{
    int same = -1;
    if (!save(true) || !restore(false))
        return 0;
    if (apply_launch(l, l->f, NULL) == 0 && A.d.wait() == 0)
        same = same_as_kept();
    restore(true);
    return same == 0 ? -1 : 0;
}

void apply_verify_drop(void)
{
    give_up(0);
}

int apply_verified(const struct launch *l)
{
    int same = A.d.wait() == 0 ? same_as_kept() : -1;
    if (same == 0)
        same = judge(l);
    drop();
    pthread_mutex_unlock(&V.lock);
    return same;
}
