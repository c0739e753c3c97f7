/* Device memory: allocations in one address space, a guard gap after each.
 *
 * Small allocations have their own host storage; large ones are pages of one
 * anonymous file, so that a worker can have a private view of them that costs
 * only what it writes. An allocation lies above all others of its space that are
 * there: what is allocated where nothing is left has the addresses it would have
 * on a fresh device, and so the same places in hashed caches, whatever ran before.
 * The table is sorted by address. */
#include "engine/sim/mem.h"
#include "engine/base/list.h"

#include "engine/sim/windows.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE        4096u
#define MAPPED_FROM (1u << 20) /* allocations of at least this size live in the file */
#define GUARD       65536u
#define ALIGN       512u

struct sim_mem *sim_mem_new(uint64_t limit)
{
    struct sim_mem *m = base_alloc(sizeof *m);
    if (!m)
        return NULL;
    m->limit = limit;
    m->base = m->next_global = GLOBAL_BASE;
    m->next_const = CONST_BASE;
    m->fd = -1;
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

/* n bytes of the file; false: own storage will do. */
static bool map_file(struct sim_mem *m, struct sim_mem_entry *e, uint64_t n)
{
    if (m->fd < 0 && (m->fd = memfd_create("gpulocw-device-memory", MFD_CLOEXEC)) < 0)
        return false;
    uint64_t bytes = sim_round_up(n, PAGE);
    if (ftruncate(m->fd, (off_t)(m->file_end + bytes)) != 0)
        return false;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, (off_t)m->file_end);
    if (p == MAP_FAILED)
        return false;
    e->a.host = p;
    e->mapped = bytes;
    e->file_at = m->file_end;
    m->file_end += bytes;
    return true;
}

uint8_t *sim_mem_view(const struct sim_mem *m, const struct sim_mem_entry *e, bool any)
{
    if (e->lent && e->mapped) {
        void *p = mmap(NULL, e->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE, e->file, (off_t)e->file_at);
        return p == MAP_FAILED ? NULL : p;
    }
    if (e->over) {
        uint8_t *p = base_pages_copy(e->mapped, e->file);
        if (p && !any && !e->own_file && __atomic_load_n(&e->changed, __ATOMIC_RELAXED))
            memcpy(p, e->a.host, e->a.n);
        return p;
    }
    if (e->mapped) {
        void *p = mmap(NULL, e->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE, m->fd, (off_t)e->file_at);
        return p == MAP_FAILED ? NULL : p;
    }
    uint8_t *p = base_alloc(sim_round_up(e->a.n ? e->a.n : 1, 64));
    if (p)
        memcpy(p, e->a.host, e->a.n);
    return p;
}

void sim_mem_view_free(uint8_t *view, uint64_t mapped)
{
    if (mapped)
        munmap(view, mapped);
    else
        base_free(view);
}

static void entry_free(struct sim_mem *m, struct sim_mem_entry *e)
{
    if (e->lent) {
        e->a.host = NULL;
    } else if (e->mapped && e->a.host) {
        munmap(e->a.host, e->mapped);
        if (!e->over) /* what is not punched out stays until the file goes */
            fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)e->file_at,
                      (off_t)e->mapped);
    } else {
        base_free(e->a.host);
    }
    if (e->own_file)
        close(e->file);
    BASE_FREE((char *)e->a.name, e->init, e->touched);
}

void sim_mem_free(struct sim_mem *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        entry_free(m, &m->v[i]);
    if (m->fd >= 0)
        close(m->fd);
    pthread_mutex_destroy(&m->lock);
    BASE_FREE(m->v, m->kept, m);
}

/* Index of the first entry above addr. */
static size_t entry_above(const struct sim_mem *m, uint64_t addr)
{
    size_t k;
    BISECT(k, m->n, m->v[k].a.addr <= addr);
    return k;
}

struct sim_mem_entry *sim_mem_entry(const struct sim_mem *m, uint64_t addr)
{
    size_t i = entry_above(m, addr);
    return i && addr - m->v[i - 1].a.addr < m->v[i - 1].a.n ? &m->v[i - 1] : NULL;
}

const struct sim_alloc *sim_mem_find(const struct sim_mem *m, uint64_t addr)
{
    struct sim_mem_entry *e = sim_mem_entry(m, addr);
    return e ? &e->a : NULL;
}

static uint64_t distance(const struct sim_alloc *a, uint64_t addr)
{
    if (addr < a->addr)
        return a->addr - addr;
    return addr - a->addr < a->n ? 0 : addr - a->addr - a->n + 1;
}

const struct sim_alloc *sim_mem_nearest(const struct sim_mem *m, uint64_t addr)
{
    if (!m->n)
        return NULL;
    size_t i = entry_above(m, addr);
    if (i == m->n)
        return &m->v[i - 1].a;
    if (!i || distance(&m->v[i].a, addr) < distance(&m->v[i - 1].a, addr))
        return &m->v[i].a;
    return &m->v[i - 1].a;
}

/* Does no allocation reach into n bytes from addr on? */
static bool vacant(const struct sim_mem *m, uint64_t addr, uint64_t n)
{
    size_t i = entry_above(m, addr);
    return !(i && addr - m->v[i - 1].a.addr < (m->v[i - 1].a.n ? m->v[i - 1].a.n : 1)) &&
           !(i < m->n && m->v[i].a.addr - addr < n);
}

static uint64_t above(const struct sim_alloc *a)
{
    return sim_round_up(a->addr + (a->n ? a->n : 1), ALIGN) + GUARD;
}

/* The next address of a space, above what the caller placed there itself. */
static uint64_t next_of(const struct sim_mem *m, uint64_t next, uint64_t n)
{
    while (!vacant(m, next, n)) /* the last one that begins before its end is in the way */
        next = above(&m->v[entry_above(m, next + n - 1) - 1].a);
    return next;
}

/* Gives the entry, whose storage is there, an address (its own, if it has one) and its name. 0: no room;
 * the entry is gone. */
static uint64_t enter(struct sim_mem *m, struct sim_mem_entry e, const char *name)
{
    uint64_t bytes = e.a.n ? e.a.n : 1;
    e.a.name = base_strdup(name ? name : "");
    if (!e.a.host || !e.a.name || bytes > m->limit - m->used ||
        !base_grow((void **)&m->v, m->n, &m->cap, sizeof *m->v)) {
        entry_free(m, &e);
        return 0;
    }
    uint64_t *next = e.a.constant ? &m->next_const : &m->next_global;
    if (!e.a.addr) {
        e.a.addr = next_of(m, *next, bytes);
        *next = above(&e.a);
    }
    size_t i = entry_above(m, e.a.addr);
    memmove(&m->v[i + 1], &m->v[i], (m->n - i) * sizeof *m->v);
    m->v[i] = e;
    m->n++;
    m->used += bytes;
    return e.a.addr;
}

uint64_t sim_mem_place(struct sim_mem *m, uint64_t n, const char *name, enum sim_place as)
{
    uint64_t bytes = n ? n : 1;
    struct sim_mem_entry e = {
        .a = { .n = n, .constant = as == PLACE_CONSTANT, .variable = as == PLACE_VARIABLE },
        .written = true
    };
    if (bytes > m->limit - m->used)
        return 0;
    if (bytes < MAPPED_FROM || !map_file(m, &e, bytes))
        e.a.host = base_alloc(sim_round_up(bytes, 64));
    return enter(m, e, name);
}

uint64_t sim_mem_alloc_over(struct sim_mem *m, uint64_t n, const char *name, int file,
                            const struct sim_give *give)
{
    struct sim_mem_entry e = {
        .a = { .n = n }, .over = true, .file = file, .mapped = sim_round_up(n, PAGE), .all_touched = true
    };
    if (n < MAPPED_FROM || !(e.a.host = base_pages_copy(e.mapped, file)))
        return 0;
    if (file && give) {
        e.asks = true;
        e.give = *give;
    }
    if (!file)
        /* fewer pages to ask for; without them it works as well */
        madvise(e.a.host, e.mapped, MADV_HUGEPAGE);
    return enter(m, e, name);
}

uint64_t sim_mem_alloc(struct sim_mem *m, uint64_t n, const char *name)
{
    return sim_mem_place(m, n, name, PLACE_BUFFER);
}

static bool in_windows(uint64_t addr, uint64_t n)
{
    static const uint64_t windows[] = { FUNC_WINDOW, SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW,
                                        CONST_BASE };
    bool in = false;
    for (size_t i = 0; i < ARRAY_LEN(windows); i++)
        in |= addr < windows[i] + WINDOW_BYTES && addr + n > windows[i];
    return in;
}

bool sim_mem_alloc_at(struct sim_mem *m, uint64_t addr, uint64_t n, const char *name)
{
    struct sim_mem_entry e = { .a = { .addr = addr, .n = n }, .written = true };
    if (!addr || !n || addr + n < addr || n > m->limit - m->used || in_windows(addr, n) ||
        !vacant(m, addr, n))
        return false;
    if (n < MAPPED_FROM || !map_file(m, &e, n))
        e.a.host = base_alloc(sim_round_up(n, 64));
    return enter(m, e, name) != 0;
}

bool sim_mem_lend(struct sim_mem *m, uint64_t addr, uint64_t n, const char *name,
                  const struct sim_pages *pages)
{
    struct sim_mem_entry e = { .a = { .addr = addr, .n = n, .host = pages->host },
                               .written = true,
                               .lent = true,
                               .file = pages->file,
                               .mapped = pages->file < 0 ? 0 : sim_round_up(n, PAGE),
                               .file_at = pages->at };
    if (!addr || !n || addr + n < addr || n > m->limit - m->used || in_windows(addr, n) ||
        !vacant(m, addr, n))
        return false;
    return enter(m, e, name) != 0;
}

/* ---- variables that stay ---- */
void sim_mem_keep_variables(struct sim_mem *m, uint64_t from)
{
    m->keeps = true;
    m->base = m->next_global = from;
}

uint64_t sim_mem_kept(const struct sim_mem *m, const struct ptx_symbol *s)
{
    for (size_t i = 0; i < m->nkept; i++)
        if (m->kept[i].symbol == s)
            return m->kept[i].addr;
    return 0;
}

bool sim_mem_keep(struct sim_mem *m, const struct ptx_module *module, const struct ptx_symbol *s,
                  uint64_t addr)
{
    if (!m->keeps || sim_mem_kept(m, s))
        return true;
    return LIST_PUSH(m->kept, m->nkept, m->cap_kept, (struct sim_kept){ module, s, addr });
}

void sim_mem_forget(struct sim_mem *m, const struct ptx_module *module)
{
    size_t n = 0;
    for (size_t i = 0; i < m->nkept; i++)
        if (m->kept[i].module == module)
            sim_mem_release(m, m->kept[i].addr);
        else
            m->kept[n++] = m->kept[i];
    m->nkept = n;
}

uint64_t sim_mem_room(const struct sim_mem *m)
{
    return m->limit - m->used;
}

/* The next allocation of this space goes above those that are left. */
static void settle_next(struct sim_mem *m, bool constant)
{
    size_t i = m->n;
    while (i && (m->v[i - 1].a.constant != constant || (m->keeps && m->v[i - 1].lent)))
        i--;
    uint64_t least = constant ? CONST_BASE : m->base, next = i ? above(&m->v[i - 1].a) : 0;
    *(constant ? &m->next_const : &m->next_global) = next > least ? next : least;
}

enum status sim_mem_release(struct sim_mem *m, uint64_t addr)
{
    size_t i = entry_above(m, addr);
    if (!i || m->v[i - 1].a.addr != addr)
        return ST_USAGE;
    bool constant = m->v[i - 1].a.constant;
    m->used -= m->v[i - 1].a.n ? m->v[i - 1].a.n : 1;
    entry_free(m, &m->v[i - 1]);
    memmove(&m->v[i - 1], &m->v[i], (m->n - i) * sizeof *m->v);
    m->n--;
    settle_next(m, constant);
    return ST_OK;
}

/* The host may write what it is given: those bytes count as initialised. */
static void note_touched(struct sim_mem_entry *e, uint64_t off, uint64_t n)
{
    if (e->ntouched && e->touched[e->ntouched - 1].off <= off &&
        e->touched[e->ntouched - 1].off + e->touched[e->ntouched - 1].n >= off + n)
        return;
    if (!LIST_PUSH(e->touched, e->ntouched, e->cap, (struct sim_range){ off, n })) {
        e->all_touched = true;
        return;
    }
    if (e->ntouched >= 256)
        e->all_touched = true, e->ntouched = 0;
}

uint8_t *sim_mem_host(struct sim_mem *m, uint64_t addr, uint64_t n)
{
    size_t i = entry_above(m, addr);
    if (!i)
        return NULL;
    struct sim_mem_entry *e = &m->v[i - 1];
    uint64_t off = addr - e->a.addr;
    if (off > e->a.n || n > e->a.n - off)
        return NULL;
    if (!e->all_touched)
        note_touched(e, off, n);
    return e->a.host + off;
}

/* Nothing has been stored yet: file and mapping hold the same, so that others may go on reading
 * meanwhile. */
static void ask_for_file(struct sim_mem *m, struct sim_mem_entry *e)
{
    pthread_mutex_lock(&m->lock);
    if (e->asks && e->give.fn(e->give.ctx)) {
        e->own_file = true;
        /* if not: a copy, as before */
        mmap(e->a.host, e->mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, e->file, 0);
    }
    __atomic_store_n(&e->asks, false, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&m->lock);
}

void sim_mem_note_written(struct sim_mem *m, const struct sim_alloc *a)
{
    struct sim_mem_entry *e = (struct sim_mem_entry *)a; /* its first member */
    if (__atomic_load_n(&e->asks, __ATOMIC_ACQUIRE))
        ask_for_file(m, e);
    __atomic_store_n(&e->written, true, __ATOMIC_RELAXED);
    __atomic_store_n(&e->changed, true, __ATOMIC_RELAXED);
}

void sim_mem_put_back(struct sim_mem *m, uint64_t addr)
{
    struct sim_mem_entry *e = sim_mem_entry(m, addr);
    if (e)
        e->changed = false;
}

bool sim_mem_rest(struct sim_mem *m, uint64_t addr)
{
    struct sim_mem_entry *e = sim_mem_entry(m, addr);
    if (!e || !e->mapped)
        return false;
    if (e->over && !e->own_file) {
        e->changed = madvise(e->a.host, e->mapped, MADV_DONTNEED) != 0 && e->changed;
        return !e->changed;
    }
    int file = e->own_file ? e->file : m->fd;
    bool emptied = fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                             (off_t)(e->own_file ? 0 : e->file_at), (off_t)e->mapped) == 0;
    return emptied && !e->over;
}

bool sim_mem_take_written(struct sim_mem *m, uint64_t addr)
{
    struct sim_mem_entry *e = sim_mem_entry(m, addr);
    bool was = !e || e->written;
    if (e)
        e->written = false;
    return was;
}

bool sim_mem_written(const struct sim_mem *m, uint64_t addr)
{
    const struct sim_mem_entry *e = sim_mem_entry(m, addr);
    return !e || e->written;
}

bool sim_mem_track_init(struct sim_mem *m)
{
    for (size_t i = 0; i < m->n; i++) {
        struct sim_mem_entry *e = &m->v[i];
        if (e->all_touched || e->a.constant) {
            base_free(e->init);
            e->init = NULL;
            continue;
        }
        if (!e->init && !(e->init = base_alloc(e->a.n / 8 + 1)))
            return false;
        for (size_t k = 0; k < e->ntouched; k++)
            for (uint64_t b = e->touched[k].off; b < e->touched[k].off + e->touched[k].n; b++)
                e->init[b >> 3] |= (uint8_t)(1u << (b & 7));
    }
    return true;
}
