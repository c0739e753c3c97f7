/* Ranges by what the driver says of a pointer: allocations of every kind, the mapped part of reserved
 * addresses, pinned memory of the host. Pointers that lie in memory are followed. */
#include "engine/dev/inject/memory.h"

#include "engine/dev/inject/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CHUNK = 8 << 20,
    PAGE = 4096,
    TYPE_HOST = 1,
    ATTR_TYPE = 2,
    ATTR_HOST = 4,
    ATTR_MANAGED = 8,
    ATTR_DEVICE = 9,
    ATTR_START = 11,
    ATTR_BYTES = 12,
    MOST_FOREIGN = 256,
    GRAIN = 512,
    BEFORE_CUT = 1 << 22 /* what is kept in front of a pointer into a range that is cut */
};

static struct {
    uint64_t addr, bytes;
} foreign[MOST_FOREIGN];
static unsigned nforeign;

void memory_foreign(uint64_t addr, uint64_t bytes)
{
    pthread_mutex_lock(&S.lock);
    if (nforeign < MOST_FOREIGN) {
        foreign[nforeign].addr = addr;
        foreign[nforeign++].bytes = bytes;
    }
    pthread_mutex_unlock(&S.lock);
}

static bool is_foreign(uint64_t addr, uint64_t bytes)
{
    bool is = false;
    pthread_mutex_lock(&S.lock);
    for (unsigned i = 0; i < nforeign; i++)
        is |= foreign[i].addr < addr + bytes &&
              addr < foreign[i].addr + (foreign[i].bytes ? foreign[i].bytes : 1);
    pthread_mutex_unlock(&S.lock);
    return is;
}

static bool attribute(void *to, int which, uint64_t p)
{
    return S.driver.cuPointerGetAttribute && S.driver.cuPointerGetAttribute(to, which, p) == 0;
}

static bool mapped(uint64_t p, uint64_t *from, uint64_t *n)
{
    size_t bytes = 0;
    if (!S.driver.cuMemGetAddressRange_v2 || S.driver.cuMemGetAddressRange_v2(from, &bytes, p) != 0)
        return false;
    *n = bytes;
    return bytes != 0 && p - *from < bytes;
}

/* Reserved addresses are mapped in pieces: those beside each other. */
static void grow_over_pieces(struct range *r, uint64_t start, uint64_t n)
{
    uint64_t from, bytes;
    while (r->addr > start && mapped(r->addr - 1, &from, &bytes) && from < r->addr && from >= start) {
        r->bytes += r->addr - from;
        r->addr = from;
    }
    while (r->addr + r->bytes < start + n && mapped(r->addr + r->bytes, &from, &bytes) &&
           from == r->addr + r->bytes)
        r->bytes += bytes;
}

static bool range_of(uint64_t p, struct range *r)
{
    unsigned type = 0, managed = 0;
    int device = -1, current = -1;
    uint64_t start = 0, from, piece;
    size_t n = 0;
    if (!attribute(&type, ATTR_TYPE, p) || !attribute(&start, ATTR_START, p) ||
        !attribute(&n, ATTR_BYTES, p) || p - start >= n)
        return false;
    *r = (struct range){ .addr = start, .bytes = n, .kind = LIVE_DEVICE, .whole = true };
    attribute(&managed, ATTR_MANAGED, p);
    attribute(&device, ATTR_DEVICE, p);
    if (type == TYPE_HOST) {
        r->kind = LIVE_HOST;
        uint64_t host = 0;
        if (!attribute(&host, ATTR_HOST, p))
            return false;
        r->host = host - (p - start);
        return true;
    }
    if (managed)
        r->kind = LIVE_MANAGED;
    else if (S.driver.cuCtxGetDevice && S.driver.cuCtxGetDevice(&current) == 0 && device >= 0 &&
             device != current)
        r->kind = LIVE_PEER;
    if (!managed && mapped(p, &from, &piece) && piece < n) {
        r->addr = from;
        r->bytes = piece;
        grow_over_pieces(r, start, n);
    }
    return true;
}

/* What is over the limit is cut to a part around the pointer. */
static void cut(uint64_t limit, uint64_t p, struct range *r)
{
    if (r->bytes <= limit)
        return;
    uint64_t end = r->addr + r->bytes, front = p - r->addr < BEFORE_CUT ? p - r->addr : BEFORE_CUT;
    front = front < limit / 2 ? front : limit / 2;
    r->host += p - front - r->addr;
    r->addr = p - front;
    r->bytes = end - r->addr < limit ? end - r->addr : limit;
    r->whole = false;
}

static void refuse(struct memory *m, const char *what, uint64_t p, uint64_t bytes)
{
    if (!m->why[0])
        snprintf(m->why, sizeof m->why, "%s (%llu bytes at 0x%llx)", what, (unsigned long long)bytes,
                 (unsigned long long)p);
}

static struct range *holder(struct memory *m, uint64_t p)
{
    for (size_t i = 0; i < m->n; i++)
        if (p - m->v[i].addr < m->v[i].bytes)
            return &m->v[i];
    return NULL;
}

/* limit: bytes that it may take. */
static void add(struct memory *m, uint64_t p, uint64_t limit, bool named)
{
    struct range r;
    uint64_t *miss = &m->missed[p / GRAIN % (sizeof m->missed / sizeof *m->missed)];
    if (*miss == p / GRAIN || holder(m, p))
        return;
    if (!range_of(p, &r)) {
        *miss = p / GRAIN;
        return;
    }
    bool other = is_foreign(r.addr, r.bytes);
    if (other && named)
        refuse(m, "memory of another process (IPC), which may change at any time", p, r.bytes);
    uint64_t all = r.bytes;
    cut(limit < m->left ? limit : m->left, p, &r);
    if (other || m->n == MOST_RANGES || !r.bytes) {
        if (!other && named)
            refuse(m, "over the limit of --max-bytes: a larger one takes it", p, all);
        *miss = p / GRAIN;
        return;
    }
    r.of = all;
    m->left -= r.bytes;
    m->v[m->n++] = r;
}

/* Another parameter points into the part of r that is kept: as much is kept behind it, too. */
static void lengthen(struct memory *m, struct range *r, uint64_t p, uint64_t limit)
{
    struct range all;
    if (r->whole || !range_of(p, &all))
        return;
    uint64_t end = all.addr + all.bytes - p < limit ? all.addr + all.bytes : p + limit,
             now = r->addr + r->bytes;
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].addr > r->addr && m->v[i].addr < end)
            end = m->v[i].addr;
    uint64_t more = end > now ? end - now : 0;
    more = more < m->left ? more : m->left;
    r->bytes += more;
    m->left -= more;
}

/* Bytes that each parameter's memory may take so that all of it comes to no more than the limit: what is smaller
 * than its share leaves the rest to the others. */
static uint64_t share_of_each(const struct memory *m)
{
    uint64_t bytes[MOST_NAMED], left = m->left;
    size_t n = 0;
    struct range r;
    for (size_t i = 0; i < m->nnamed; i++)
        if (range_of(m->named[i], &r))
            bytes[n++] = r.bytes;
    for (bool again = true; again && n;) {
        again = false;
        for (size_t i = 0; i < n; i++)
            if (bytes[i] <= left / n) {
                left -= bytes[i];
                bytes[i] = bytes[--n];
                again = true;
                break;
            }
    }
    return n ? left / n : UINT64_MAX;
}

static void add_named(struct memory *m)
{
    uint64_t share = share_of_each(m);
    for (size_t i = 0; i < m->nnamed; i++) {
        struct range *r = holder(m, m->named[i]);
        if (r)
            lengthen(m, r, m->named[i], share);
        else
            add(m, m->named[i], share, true);
    }
    m->nnamed = 0;
}

void memory_scan(struct memory *m, const void *p, size_t n, bool named)
{
    const unsigned char *b = p;
    for (size_t i = 0; i + 8 <= n; i += 8) {
        uint64_t v;
        memcpy(&v, b + i, 8);
        if (!(v >> 32) || v >> 49)
            continue;
        if (named && m->nnamed < MOST_NAMED)
            m->named[m->nnamed++] = v;
        else
            add(m, v, UINT64_MAX, named);
    }
}

static bool fetch(const struct range *r, uint64_t at, void *to, uint64_t n)
{
    if (r->kind == LIVE_HOST) {
        memcpy(to, (const void *)(uintptr_t)(r->host + at), n);
        return true;
    }
    return S.driver.cuMemcpyDtoH_v2 && S.driver.cuMemcpyDtoH_v2(to, r->addr + at, n) == 0;
}

static bool put(struct memory *m, const void *p, uint64_t n)
{
    const char *b = p;
    while (n) {
        ssize_t k = pwrite(m->data, b, n, (off_t)m->end);
        if (k <= 0)
            return false;
        m->end += (uint64_t)k;
        b += k;
        n -= (uint64_t)k;
    }
    return true;
}

void memory_variable(struct memory *m, const char *name, uint64_t addr, uint64_t bytes)
{
    struct range r = {
        .addr = addr, .bytes = bytes, .of = bytes, .kind = LIVE_DEVICE, .whole = true, .name = name
    };
    if (!bytes)
        return;
    if (m->n == MOST_RANGES || bytes > m->left) {
        refuse(m, "a variable of the module over the limit of --max-bytes", addr, bytes);
        return;
    }
    m->left -= bytes;
    m->v[m->n++] = r;
}

static void copy_one(struct memory *m, size_t i, char *chunk)
{
    struct range r = m->v[i];
    r.at = m->end;
    for (uint64_t at = 0; at < r.bytes; at += CHUNK) {
        uint64_t n = r.bytes - at < CHUNK ? r.bytes - at : CHUNK;
        if (!fetch(&r, at, chunk, n)) {
            refuse(m,
                   r.kind == LIVE_PEER      ? "memory of another GPU (peer) that could not be read"
                   : r.kind == LIVE_MANAGED ? "managed memory that could not be read"
                                            : "memory that could not be read",
                   r.addr, r.bytes);
            m->v[i].bytes = 0;
            return;
        }
        if (!put(m, chunk, n)) {
            refuse(m, "no room for the data on this disk", r.addr, r.bytes);
            m->v[i].bytes = 0;
            return;
        }
        memory_scan(m, chunk, n, false);
    }
    m->v[i].at = r.at;
    if (r.name)
        fprintf(m->record, "glob %s %llu %llu %llu\n", r.name, (unsigned long long)r.addr,
                (unsigned long long)r.bytes, (unsigned long long)r.at);
    else
        fprintf(m->record, "range %llu %llu %llu %d %llu\n", (unsigned long long)r.addr,
                (unsigned long long)r.bytes, (unsigned long long)r.at, r.kind, (unsigned long long)r.of);
}

void memory_before(struct memory *m)
{
    char *chunk = malloc(CHUNK);
    add_named(m);
    if (!chunk)
        refuse(m, "no memory for a copy", 0, CHUNK);
    for (size_t i = 0; chunk && i < m->n; i++)
        copy_one(m, i, chunk);
    free(chunk);
}

/* Pages of a chunk that are another now, side by side. */
static void compare(struct memory *m, uint64_t addr, const char *was, const char *is, uint64_t n)
{
    uint64_t at = 0;
    while (at < n) {
        uint64_t end = at;
        while (end < n && memcmp(was + end, is + end, n - end < PAGE ? n - end : PAGE) != 0)
            end += n - end < PAGE ? n - end : PAGE;
        if (end > at) {
            uint64_t place = m->end;
            if (!put(m, is + at, end - at))
                refuse(m, "no room for the data on this disk", addr, n);
            fprintf(m->record, "left %llu %llu %llu\n", (unsigned long long)(addr + at),
                    (unsigned long long)(end - at), (unsigned long long)place);
        }
        at = end > at ? end : at + PAGE;
    }
}

void memory_after(struct memory *m)
{
    char *is = malloc(CHUNK), *was = malloc(CHUNK);
    for (size_t i = 0; is && was && i < m->n; i++)
        for (uint64_t at = 0; at < m->v[i].bytes; at += CHUNK) {
            const struct range *r = &m->v[i];
            uint64_t n = r->bytes - at < CHUNK ? r->bytes - at : CHUNK;
            if (!fetch(r, at, is, n) || pread(m->data, was, n, (off_t)(r->at + at)) != (ssize_t)n) {
                refuse(m, "memory could not be read after the launch", r->addr, r->bytes);
                break;
            }
            compare(m, r->addr + at, was, is, n);
        }
    if (!is || !was)
        refuse(m, "no memory for a copy", 0, CHUNK);
    free(is);
    free(was);
}

void memory_given(struct memory *m, size_t i, const char *before, const char *after)
{
    const struct range *r = &m->v[i];
    for (uint64_t at = 0; at < r->bytes;) {
        ssize_t k = pwrite(m->data, before + at, r->bytes - at, (off_t)(r->at + at));
        if (k <= 0) {
            refuse(m, "no room for the data on this disk", r->addr, r->bytes);
            return;
        }
        at += (uint64_t)k;
    }
    compare(m, r->addr, before, after, r->bytes);
}

void memory_free(struct memory *m)
{
    free(m->v);
    if (m->record)
        fclose(m->record);
    if (m->data > 0)
        close(m->data);
}
