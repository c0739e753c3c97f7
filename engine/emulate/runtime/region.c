/* Device memory: blocks of one large file, mapped twice. Where the program sees them nothing may be read,
 * as on a GPU, except managed and pinned memory; `own` is where this library reads and writes. The device
 * maps the same file, so nothing is copied to reach it. */
#include "engine/emulate/runtime/context.h"
#include "engine/base/list.h"
#include "engine/emulate/runtime/runtime.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE       4096u
#define GUARD      65536u                /* between blocks: what runs past one is found */
#define VARIABLES  (UINT64_C(64) << 30)  /* addresses behind the file, for variables of modules */
#define CONSTANTS  0x00007ec000000000ull /* where the device has constants */
#define CONST_SIZE 0x0000000100000000ull
#define FILE_MOST  (UINT64_C(1) << 40)
#define FILE_LEAST (UINT64_C(1) << 32)

static struct {
    uint64_t base, size; /* as the program sees it */
    uint8_t *own;
    int file;
    uint64_t next;   /* byte of the file: where the next block is looked for */
    uint64_t used;   /* bytes of device memory given out */
    struct block *v; /* by byte of the file */
    size_t n, cap;
} M;

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* ---- the beginning ---- */
static bool reserve(uint64_t base, uint64_t size)
{
    void *p = mmap((void *)(uintptr_t)base, size + VARIABLES, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != MAP_FAILED && (uintptr_t)p != base)
        munmap(p, size + VARIABLES);
    return p != MAP_FAILED && (uintptr_t)p == base;
}

static bool map_own(uint64_t size)
{
    void *p = ftruncate(M.file, (off_t)size) == 0
                  ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, M.file, 0)
                  : MAP_FAILED;
    if (p == MAP_FAILED)
        return false;
    madvise(p, size, MADV_DONTDUMP);
    M.own = p;
    return true;
}

static uint64_t largest(void)
{
    struct rlimit r;
    uint64_t n = FILE_MOST;
    if (getrlimit(RLIMIT_FSIZE, &r) == 0)
        while (n > FILE_LEAST && n > r.rlim_cur)
            n /= 2;
    return n;
}

bool region_start(struct wire_hello *h, int *file)
{
    static const uint64_t bases[] = { 0x200000000000, 0x300000000000, 0x400000000000, 0x180000000000 };
    M.file = memfd_create("gpulocw-device-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    for (uint64_t n = largest(); M.file >= 0 && n >= FILE_LEAST && !M.own; n /= 2)
        if (map_own(n))
            M.size = n;
    for (size_t i = 0; M.own && !M.base && i < sizeof bases / sizeof *bases; i++)
        if (reserve(bases[i], M.size))
            M.base = bases[i];
    *h = (struct wire_hello){ M.base, M.size, h->pid };
    *file = M.file;
    return M.base != 0;
}

/* ---- blocks ---- */
/* Index of the first block above byte `at` of the file. */
static size_t above(uint64_t at)
{
    size_t k;
    BISECT(k, M.n, M.v[k].at <= at);
    return k;
}

static uint64_t end_of(const struct block *b)
{
    return round_up(b->at + (b->n ? b->n : 1), PAGE) + GUARD;
}

/* Room for n bytes from byte `from` on, at a multiple of `to`; the file's size where there is none. */
static uint64_t room_from(uint64_t from, uint64_t n, uint64_t to)
{
    size_t i = above(from);
    uint64_t at = round_up(i && end_of(&M.v[i - 1]) > from ? end_of(&M.v[i - 1]) : from, to);
    for (; i < M.n && at + n + GUARD > M.v[i].at; i++)
        at = round_up(end_of(&M.v[i]), to);
    return at + n + GUARD <= M.size ? at : M.size;
}

static struct block *add_block(uint64_t at, uint64_t n, enum block_kind kind)
{
    if (M.n == M.cap) {
        size_t cap = M.cap ? 2 * M.cap : 64;
        struct block *v = realloc(M.v, cap * sizeof *v);
        if (!v)
            return NULL;
        M.v = v;
        M.cap = cap;
    }
    size_t i = above(at);
    memmove(&M.v[i + 1], &M.v[i], (M.n - i) * sizeof *M.v);
    M.v[i] =
        (struct block){ .addr = M.base + at, .n = n, .at = at, .kind = kind, .owner = context_now() };
    M.n++;
    return &M.v[i];
}

/* The program itself may touch it. */
static bool open_to_host(struct block *b)
{
    void *p = mmap((void *)(uintptr_t)b->addr, round_up(b->n, PAGE), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_FIXED | MAP_NORESERVE, M.file, (off_t)b->at);
    b->mapped_for_host = p != MAP_FAILED;
    return b->mapped_for_host;
}

void block_lend(const struct block *b, bool written)
{
    struct wire_range r = { .addr = b->addr, .n = b->n, .at = b->at, .written = written };
    tell(WIRE_LEND, &r, sizeof r, NULL, 0);
}

void block_release(const struct block *b)
{
    struct wire_range r = { .addr = b->kind == BLOCK_REGISTERED ? b->addr / PAGE * PAGE : b->addr };
    tell(WIRE_RELEASE, &r, sizeof r, NULL, 0);
}

/* It counts as memory of the device. */
static bool counts(enum block_kind kind)
{
    return kind == BLOCK_DEVICE || kind == BLOCK_PHYSICAL;
}

static struct block *place(uint64_t n, uint64_t to, enum block_kind kind)
{
    if (n > M.size || to > M.size || (counts(kind) && n > device()->mem_bytes - M.used))
        return NULL;
    uint64_t at = room_from(M.next, n, to);
    at = at == M.size ? room_from(0, n, to) : at;
    struct block *b = at == M.size ? NULL : add_block(at, n, kind);
    if (!b)
        return NULL;
    M.used += counts(kind) ? n : 0;
    M.next = end_of(b);
    return b;
}

/* Its bytes of the file are free again. */
static void leave(struct block *b)
{
    if (b->kind != BLOCK_RESERVED)
        fallocate(M.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)b->at,
                  (off_t)round_up(b->n, PAGE));
    M.used -= counts(b->kind) ? b->n : 0;
    size_t i = (size_t)(b - M.v);
    memmove(&M.v[i], &M.v[i + 1], (M.n - i - 1) * sizeof *M.v);
    M.n--;
}

cudaError_t memory_take(size_t n, enum block_kind kind, void **out)
{
    struct block *b = place(n ? n : 1, PAGE, kind);
    if (!b || (kind != BLOCK_DEVICE && !open_to_host(b)))
        return cudaErrorMemoryAllocation;
    block_lend(b, kind != BLOCK_DEVICE);
    *out = (void *)(uintptr_t)b->addr;
    return cudaSuccess;
}

bool region_place(uint64_t n, uint64_t align, enum block_kind kind, uint64_t *at)
{
    struct block *b = place(n, align, kind);
    if (!b)
        return false;
    b->owner = NULL; /* of no context */
    *at = b->at;
    return true;
}

void region_leave(uint64_t at)
{
    leave(&M.v[above(at) - 1]);
}

uint64_t region_address(uint64_t at)
{
    return M.base + at;
}

/* In the file's addresses, of whatever kind. */
static struct block *around(uint64_t addr)
{
    size_t i = addr - M.base < M.size ? above(addr - M.base) : 0;
    return i && addr - M.v[i - 1].addr < M.v[i - 1].n ? &M.v[i - 1] : NULL;
}

const struct block *region_reserved(uint64_t addr)
{
    const struct block *b = around(addr);
    return b && b->kind == BLOCK_RESERVED ? b : NULL;
}

static struct block *find(const void *p)
{
    uint64_t a = (uintptr_t)p;
    if (a - M.base < M.size) {
        struct block *b = around(a);
        struct mapping *m = b && b->kind == BLOCK_RESERVED ? mapped_at(a) : NULL;
        return m ? (m->access ? &m->b : NULL) : b && b->kind < BLOCK_KEPT ? b : NULL;
    }
    for (size_t i = 0; i < M.n; i++)
        if (M.v[i].kind == BLOCK_REGISTERED && a - M.v[i].addr < M.v[i].n)
            return &M.v[i];
    return NULL;
}

const struct block *block_at(const void *p)
{
    return M.base ? find(p) : NULL;
}

cudaError_t memory_give(void *p, bool host)
{
    struct block *b = find(p);
    if (!b || b->addr != (uintptr_t)p || (b->kind == BLOCK_PINNED) != host ||
        b->kind == BLOCK_REGISTERED || b->kind == BLOCK_MAPPED)
        return cudaErrorInvalidValue;
    block_release(b);
    if (b->mapped_for_host)
        mmap((void *)(uintptr_t)b->addr, round_up(b->n, PAGE), PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    leave(b);
    return cudaSuccess;
}

void memory_forget(const struct context *c)
{
    for (size_t i = M.n; i--;)
        if (M.v[i].owner == c && M.v[i].kind == BLOCK_REGISTERED) /* its addresses stay the program's */
            memory_unregister((void *)(uintptr_t)M.v[i].addr);
        else if (M.v[i].owner == c)
            memory_give((void *)(uintptr_t)M.v[i].addr, M.v[i].kind == BLOCK_PINNED);
}

bool is_variable(const void *p)
{
    uint64_t a = (uintptr_t)p;
    return a - (M.base + M.size) < VARIABLES || a - CONSTANTS < CONST_SIZE;
}

void *host_of(const void *p)
{
    const struct block *b = M.base && (uintptr_t)p - M.base < M.size ? find(p) : NULL;
    return b ? M.own + b->at + ((uintptr_t)p - b->addr) : (void *)(uintptr_t)p;
}

bool is_of_device(const struct block *b)
{
    return b->kind == BLOCK_DEVICE || b->kind == BLOCK_MAPPED;
}

void wrote(const void *p, size_t n)
{
    const struct block *b = device()->checks ? block_at(p) : NULL;
    struct wire_range r = { .addr = (uintptr_t)p, .n = n };
    if (b && is_of_device(b))
        tell(WIRE_WROTE, &r, sizeof r, NULL, 0);
}

/* ---- bytes ---- */
/* How many of n bytes from p on lie behind one another here: mapped memory comes in pieces. */
static size_t piece(const void *p, size_t n)
{
    const struct block *b = (uintptr_t)p - M.base < M.size ? find(p) : NULL;
    size_t left = b && b->kind == BLOCK_MAPPED ? b->n - ((uintptr_t)p - b->addr) : n;
    return left < n ? left : n;
}

static bool inside(const void *p, size_t n)
{
    if ((uintptr_t)p - M.base >= M.size)
        return true;
    for (const struct block *b = find(p); b; b = find(p)) {
        size_t left = b->n - ((uintptr_t)p - b->addr);
        if (n <= left || b->kind != BLOCK_MAPPED)
            return n <= left;
        p = (const char *)p + left;
        n -= left;
    }
    return false;
}

bool is_inside(const void *p, size_t n)
{
    const struct block *b = block_at(p);
    if (b && b->kind == BLOCK_REGISTERED)
        return n <= b->n - ((uintptr_t)p - b->addr);
    return b ? inside(p, n) : is_variable(p);
}

static cudaError_t from_variable(void *to, const void *from, size_t n)
{
    struct wire_range r = { .addr = (uintptr_t)from, .n = n };
    struct wire_done d;
    void *bytes;
    size_t have;
    if (!ask(WIRE_GET, &r, sizeof r, NULL, 0, &d, sizeof d, &bytes, &have))
        return sticky();
    if (!d.error && have == n)
        memcpy(to, bytes, n);
    free(bytes);
    return (cudaError_t)d.error;
}

static cudaError_t to_variable(void *to, const void *from, size_t n)
{
    struct wire_range r = { .addr = (uintptr_t)to, .n = n };
    struct wire_done d;
    return ask(WIRE_PUT, &r, sizeof r, from, n, &d, sizeof d, NULL, NULL) ? (cudaError_t)d.error
                                                                          : sticky();
}

static cudaError_t move_piece(void *to, const void *from, size_t n)
{
    void *own = is_variable(to) ? malloc(n) : host_of(to);
    cudaError_t e = own ? cudaSuccess : cudaErrorMemoryAllocation;
    if (!e && is_variable(from))
        e = from_variable(own, from, n);
    else if (!e)
        memmove(own, host_of(from), n);
    if (!e && is_variable(to))
        e = to_variable(to, own, n);
    if (is_variable(to))
        free(own);
    if (!e)
        wrote(to, n);
    return e;
}

cudaError_t move_bytes(void *to, const void *from, size_t n)
{
    cudaError_t e = n && (!inside(to, n) || !inside(from, n)) ? cudaErrorInvalidValue : cudaSuccess;
    while (n && !e) {
        size_t k = piece(to, piece(from, n));
        e = move_piece(to, from, k);
        to = (char *)to + k;
        from = (const char *)from + k;
        n -= k;
    }
    return e;
}

static cudaError_t set_piece(void *to, unsigned value, unsigned size, size_t n)
{
    cudaError_t e = cudaSuccess;
    uint8_t *own = is_variable(to) ? malloc(n) : host_of(to);
    if (!own)
        return cudaErrorMemoryAllocation;
    if (size == 1)
        memset(own, (int)value, n);
    for (size_t i = 0; size > 1 && i < n; i += size)
        memcpy(own + i, &value, size);
    if (is_variable(to)) {
        e = to_variable(to, own, n);
        free(own);
    }
    wrote(to, n);
    return e;
}

/* An element lies within a piece, as long as it stands at a multiple of its size. */
cudaError_t set_bytes(void *to, unsigned value, unsigned size, size_t count)
{
    size_t n;
    cudaError_t e = cudaSuccess;
    if (__builtin_mul_overflow((size_t)size, count, &n) || (uintptr_t)to % size ||
        (n && !is_inside(to, n)))
        return cudaErrorInvalidValue;
    while (n && !e) {
        size_t k = piece(to, n);
        e = set_piece(to, value, size, k);
        to = (char *)to + k;
        n -= k;
    }
    return e;
}

/* ---- the program's own memory ---- */
/* Its pages become pages of the file, at the same address. */
static cudaError_t register_pages(uint64_t from, uint64_t to, const struct block *b)
{
    memcpy(M.own + b->at, (void *)(uintptr_t)from, to - from);
    void *p = mmap((void *)(uintptr_t)from, to - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   M.file, (off_t)b->at);
    return p == MAP_FAILED ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t memory_register(void *p, size_t n)
{
    if (n > M.size || (uintptr_t)p + n < n)
        return cudaErrorInvalidValue;
    uint64_t from = (uintptr_t)p / PAGE * PAGE, to = round_up((uintptr_t)p + n, PAGE);
    struct block *b = place(to - from, PAGE, BLOCK_REGISTERED);
    if (!b)
        return cudaErrorMemoryAllocation;
    cudaError_t e = register_pages(from, to, b);
    b->addr = from;
    block_lend(b, true);
    b->addr = (uintptr_t)p;
    b->n = n;
    return e;
}

/* The pages stay where they are; only the device no longer sees them. */
cudaError_t memory_unregister(void *p)
{
    struct block *b = find(p);
    if (!b || b->kind != BLOCK_REGISTERED || b->addr != (uintptr_t)p)
        return cudaErrorHostMemoryNotRegistered;
    block_release(b);
    b->kind =
        BLOCK_KEPT; /* its part of the file stays taken: the program still reads and writes there */
    b->addr = M.base + b->at;
    return cudaSuccess;
}

uint64_t memory_used(void)
{
    return M.used;
}
