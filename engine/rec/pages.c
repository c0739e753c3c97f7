/* The pages of large initial data: who needs them, whose they are, and what is made again once a device
 * has taken them.
 *
 *   data made --hold, take--> the device's own --again (rule, file)--> restored before a launch
 *                                              --piece by piece-----> a view: what is still looked at
 *
 * A file is read again only if it still says the same: of every piece the hash is kept. Bytes that came
 * from elsewhere (over the wire, out of digits) are put into a file without a name when they are taken.
 */
#include "engine/rec/data.h"
#include "engine/rec/data_int.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define HELD_TAKEN 0x80000000u /* launch_buffer.held: how many hold it, and this */
#define PIECE      LAUNCH_PIECE
#define CHUNK      (1u << 22) /* of a file, read at once */

struct data_file {
    char *path;
    uint64_t at, *hash /* of every piece */;
    int own; /* above 0: not by path, but our own, which nobody else can write */
};
struct launch_view {
    const struct launch_buffer *of;
    uint8_t *bytes;
    bool mapped;
    uint8_t *there;       /* bit per piece: made; NULL: all are */
    pthread_mutex_t lock; /* of making one */
};

/* ---- holding and taking ---- */
static uint32_t *held_of(const struct launch_buffer *b)
{
    return &((struct launch_buffer *)(uintptr_t)b)->held;
}
static bool taken(const struct launch_buffer *b)
{
    return __atomic_load_n(held_of(b), __ATOMIC_ACQUIRE) & HELD_TAKEN;
}
bool launch_buffer_hold(const struct launch_buffer *b)
{
    return !(__atomic_fetch_add(held_of(b), 1, __ATOMIC_ACQ_REL) & HELD_TAKEN);
}
void launch_buffer_drop(const struct launch_buffer *b)
{
    __atomic_fetch_sub(held_of(b), 1, __ATOMIC_ACQ_REL);
}

static void hold_all(const struct launch_buffer *v, size_t n, bool hold)
{
    for (size_t i = 0; v && i < n; i++)
        if (hold)
            launch_buffer_hold(&v[i]);
        else
            launch_buffer_drop(&v[i]);
}

void launch_data_hold(const struct launch_data *d, bool hold)
{
    hold_all(d->buffers, d->spec->nargs, hold);
    for (size_t k = 0; d->before && k < d->spec->nbefore; k++)
        hold_all(d->before[k], d->spec->before[k].nargs, hold);
}

/* Who alone holds b puts its bytes where they can be had again. False: there is no disk, or no room on
 * it. */
static bool set_aside(struct launch_buffer *b)
{
    int fd = b->file > 0 ? file_nameless() : -1;
    if (fd > 0 && file_put(fd, 0, b->bytes, b->n) && (b->from = base_alloc(sizeof *b->from))) {
        b->from->own = fd;
        return true;
    }
    if (fd >= 0)
        close(fd);
    return false;
}

static bool can_be_made(struct launch_buffer *b)
{
    return b->rule || b->from || set_aside(b);
}

int launch_buffer_take(const struct launch_buffer *b)
{
    struct launch_buffer *own = (struct launch_buffer *)(uintptr_t)b;
    uint32_t alone = 1;
    if (__atomic_load_n(held_of(b), __ATOMIC_ACQUIRE) != alone || !can_be_made(own) ||
        !__atomic_compare_exchange_n(held_of(b), &alone, HELD_TAKEN | 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return -1;
    int file = own->file;
    base_pages_free(own->bytes, own->n, -1);
    own->bytes = NULL;
    own->file = 0;
    return file;
}

/* ---- from the file again ---- */
static uint64_t pieces(uint64_t n)
{
    return (n + PIECE - 1) / PIECE;
}

/* Bytes at..at+n at `to`: hashes `put` there (to know them), or looked up. */
struct hashing {
    const struct launch_buffer *b;
    const uint8_t *bytes;
    uint64_t at, n;
    bool put;
    atomic_bool other;
};
static void hash_part(void *ctx, size_t part)
{
    struct hashing *h = ctx;
    uint64_t from = (uint64_t)part * CHUNK, to = h->n - from < CHUNK ? h->n : from + CHUNK;
    for (uint64_t k = from; k < to; k += PIECE) {
        uint64_t *was = &h->b->from->hash[(h->at + k) / PIECE],
                 is = base_hash(h->bytes + k, to - k < PIECE ? to - k : PIECE);
        if (h->put)
            *was = is;
        else if (*was != is)
            atomic_store(&h->other, true);
    }
}

static bool hash_all(struct hashing *h, unsigned threads)
{
    base_parallel(threads, (h->n + CHUNK - 1) / CHUNK, hash_part, h);
    return !atomic_load(&h->other);
}

enum status data_know_file(struct launch_buffer *b, const char *path, uint64_t at)
{
    b->from = base_alloc(sizeof *b->from);
    if (!b->from || !(b->from->path = base_strdup(path)) ||
        !(b->from->hash = base_alloc(pieces(b->n) * sizeof *b->from->hash)))
        return ST_NOMEM; /* data_forget has the rest */
    b->from->at = at;
    struct hashing h = { .b = b, .bytes = b->bytes, .n = b->n, .put = true };
    hash_all(&h, 0);
    return ST_OK;
}

static enum status read_own(const struct launch_buffer *b, uint64_t at, uint64_t n, uint8_t *to,
                            struct diags *ds)
{
    if (file_get(b->from->own, at, to, n))
        return ST_OK;
    diag_error(ds, "launch-data", "cannot read the initial data of a buffer from its temporary file");
    return ST_IO;
}

static enum status read_again(const struct launch_buffer *b, uint64_t at, uint64_t n, uint8_t *to,
                              unsigned threads, struct diags *ds)
{
    if (b->from->own > 0)
        return read_own(b, at, n, to, ds);
    struct hashing h = { .b = b, .bytes = to, .at = at, .n = n };
    uint64_t got = 0;
    enum status st = file_read_part(b->from->path, b->from->at + at, to, n, &got, ds);
    if (st == ST_OK && (got < n || !hash_all(&h, threads))) {
        diag_error(ds, "launch-data", "'%s' changed after it was read: the buffer cannot be restored",
                   b->from->path);
        st = ST_INPUT;
    }
    return st;
}

enum status launch_buffer_again(const struct launch_buffer *b, uint64_t at, uint64_t n, uint8_t *to,
                                unsigned threads, struct diags *ds)
{
    const struct arg_spec *a = b->rule;
    if (a && (data_in_parts(a->init.kind) || n == b->n)) {
        uint64_t w = elem_size(a->elem);
        data_make_part(&a->init, a->elem, to, at / w, n / w, threads);
        return ST_OK;
    }
    if (taken(b) && b->from)
        return read_again(b, at, n, to, threads, ds);
    const uint8_t *bytes = launch_buffer_bytes(b);
    if (bytes && n)
        memcpy(to, bytes + at, n);
    return bytes || !n ? ST_OK : ST_NOMEM;
}

/* ---- views ---- */
static bool in_parts(const struct launch_buffer *b)
{
    return b->rule ? data_in_parts(b->rule->init.kind) : b->from != NULL;
}

static bool view_make(struct launch_view *v)
{
    const struct launch_buffer *b = v->of;
    bool again = taken(b), parts = again && in_parts(b);
    if (again || b->zero || b->file > 0)
        v->mapped = (v->bytes = base_pages_copy(b->n, again || b->zero ? 0 : b->file)) != NULL;
    if (v->mapped && parts)
        return (v->there = base_alloc(pieces(b->n) / 8 + 1)) != NULL;
    if (v->mapped && !again)
        return true;
    if (!v->mapped)
        v->bytes = base_alloc(b->n);
    return v->bytes && launch_buffer_again(b, 0, b->n, v->bytes, 0, NULL) == ST_OK;
}

struct launch_view *launch_view_new(const struct launch_buffer *b)
{
    struct launch_view *v = base_alloc(sizeof *v);
    if (!v)
        return NULL;
    v->of = b;
    pthread_mutex_init(&v->lock, NULL);
    if (view_make(v))
        return v;
    launch_view_free(v);
    return NULL;
}

void launch_view_free(struct launch_view *v)
{
    if (!v)
        return;
    if (v->mapped)
        base_pages_free(v->bytes, v->of->n, -1);
    else
        base_free(v->bytes);
    base_free(v->there);
    pthread_mutex_destroy(&v->lock);
    base_free(v);
}

static bool is_there(const struct launch_view *v, uint64_t k)
{
    return __atomic_load_n(&v->there[k >> 3], __ATOMIC_ACQUIRE) >> (k & 7) & 1;
}

static bool make_piece(struct launch_view *v, uint64_t k)
{
    uint64_t at = k * PIECE, left = v->of->n - at;
    pthread_mutex_lock(&v->lock);
    bool ok = is_there(v, k) || launch_buffer_again(v->of, at, left < PIECE ? left : PIECE,
                                                    v->bytes + at, 1, NULL) == ST_OK;
    if (ok)
        __atomic_fetch_or(&v->there[k >> 3], (uint8_t)(1u << (k & 7)), __ATOMIC_RELEASE);
    pthread_mutex_unlock(&v->lock);
    return ok;
}

uint8_t *launch_view_at(struct launch_view *v, uint64_t at, uint64_t n)
{
    for (uint64_t k = at / PIECE; v->there && k * PIECE < at + n; k++)
        if (!is_there(v, k) && !make_piece(v, k))
            return NULL;
    return v->bytes + at;
}

uint8_t *launch_view_whole(struct launch_view *v)
{
    return v->there ? NULL : v->bytes;
}

/* What was taken, as it was; one for all that ask. */
static struct launch_view *made_again(const struct launch_buffer *b)
{
    struct launch_view **made = &((struct launch_buffer *)(uintptr_t)b)->made, *here = NULL;
    struct launch_view *now = __atomic_load_n(made, __ATOMIC_ACQUIRE),
                       *mine = now ? NULL : launch_view_new(b);
    if (now || !mine)
        return now;
    if (__atomic_compare_exchange_n(made, &here, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return mine;
    launch_view_free(mine); /* another thread was first */
    return here;
}

const uint8_t *launch_buffer_whole(const struct launch_buffer *b)
{
    return taken(b) ? NULL : b->bytes;
}

const uint8_t *launch_buffer_part(const struct launch_buffer *b, uint64_t at, uint64_t n)
{
    if (!taken(b))
        return b->bytes + at;
    struct launch_view *v = made_again(b);
    return v ? launch_view_at(v, at, n) : NULL;
}

const uint8_t *launch_buffer_bytes(const struct launch_buffer *b)
{
    return taken(b) ? launch_buffer_part(b, 0, b->n) : b->bytes;
}

void data_forget(struct launch_buffer *b)
{
    launch_view_free(b->made);
    if (b->from) {
        if (b->from->own > 0)
            close(b->from->own);
        BASE_FREE(b->from->path, b->from->hash);
    }
    base_free(b->from);
}
