/* Fatbins: containers of entries, each PTX, machine code or LTO-IR for one GPU. */
#include "engine/container/container_int.h"

#include <string.h>

#define CONTAINER_MAGIC 0xBA55ED50u
#define OLD_MAGIC       0x1EE55A01u
#define CONTAINER_HEAD  16
#define ENTRY_HEAD      64
#define MOST_HEAD       4096
#define MOST_OPTIONS    65536

enum entry_kind { ENTRY_PTX = 1, ENTRY_CUBIN = 2, ENTRY_LTO_IR = 8 };
enum entry_flag {
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_A = 0x100000,
    FLAG_F = 0x200000,
    FLAG_BINARY_OPTIONS = 0x1000000
};

/* The head of an entry; its layout: docs/lab/container.md. */
struct entry {
    struct window w; /* head and payload */
    uint16_t kind;
    uint32_t head, packed, options, sm, object, object_n;
    uint64_t payload, flags, size;
};

bool fatbin_is(const struct window *w)
{
    uint8_t head[4];
    return window_read(w, 0, head, 4) &&
           (window_u32(head) == CONTAINER_MAGIC || window_u32(head) == OLD_MAGIC);
}

static bool entry_at(const struct window *w, uint64_t at, struct entry *e)
{
    uint8_t h[ENTRY_HEAD];
    if (!window_read(w, at, h, sizeof h))
        return false;
    *e = (struct entry){ .kind = window_u16(h),
                         .head = window_u32(h + 4),
                         .payload = window_u64(h + 8),
                         .packed = window_u32(h + 0x10),
                         .options = window_u32(h + 0x14),
                         .sm = window_u32(h + 0x1c),
                         .object = window_u32(h + 0x20),
                         .object_n = window_u32(h + 0x24),
                         .flags = window_u64(h + 0x28),
                         .size = window_u64(h + 0x38) };
    if (e->head < ENTRY_HEAD || e->head > MOST_HEAD || e->payload > w->n || e->packed > e->payload)
        return false;
    e->w = window_part(w, at, e->head + e->payload);
    return e->w.n != 0;
}

/* A piece of text in the head; owned; NULL: it is not there. */
static char *text_of(const struct entry *e, uint32_t at, uint32_t n)
{
    char *text = n && n <= MOST_OPTIONS ? base_alloc(n + 1) : NULL;
    if (text && window_read(&e->w, at, text, n))
        return text;
    base_free(text);
    return NULL;
}

static char *options_of(const struct entry *e)
{
    uint8_t place[8];
    if (!e->options || e->flags & FLAG_BINARY_OPTIONS || !window_read(&e->w, e->options, place, 8))
        return NULL;
    return text_of(e, window_u32(place), window_u32(place + 4));
}

static bool packed(const struct entry *e)
{
    return e->packed && e->size;
}

/* The decompressed payload; *out owned; NULL with *why: it cannot be read. */
static enum status payload(struct reading *r, const struct entry *e, char **out, size_t *n,
                           const char **why)
{
    uint64_t stored = packed(e) ? e->packed : e->payload, size = packed(e) ? e->size : e->payload;
    *out = NULL;
    *why = NULL;
    *n = (size_t)size;
    if (size > CONTAINER_MOST_TEXT || r->unpacked + size > CONTAINER_MOST_ALL) {
        *why = "too large (limit: 512 MiB for one module, 4 GiB for all)";
        return ST_OK;
    }
    if (packed(e) && !(e->flags & (FLAG_LZ4 | FLAG_ZSTD))) {
        *why = "compressed in an unknown way";
        return ST_OK;
    }
    char *raw = base_alloc(stored + 1);
    if (!raw)
        return ST_NOMEM;
    bool good = window_read(&e->w, e->head, raw, stored);
    r->unpacked += size;
    if (good && packed(e)) {
        good = unpack(e->flags & FLAG_ZSTD ? UNPACK_ZSTD : UNPACK_LZ4, (const uint8_t *)raw, stored,
                      size, out);
        base_free(raw);
    } else {
        *out = raw;
    }
    if (!good) {
        base_free(*out);
        *out = NULL;
        *why = "damaged: cannot be decompressed";
    }
    return ST_OK;
}

static enum status set_why(struct container_module *m, const char *why)
{
    m->why = base_strdup(why);
    return m->why ? ST_OK : ST_NOMEM;
}

static enum status fill_ptx(struct reading *r, const struct entry *e, struct container_module *m)
{
    char *text;
    size_t n;
    const char *why;
    enum status st = payload(r, e, &text, &n, &why);
    m->bytes = n;
    if (st == ST_OK && text)
        module_text(m, text, n);
    return st == ST_OK && why ? set_why(m, why) : st;
}

/* Names of the kernels of machine code: at once where it is stored, up to a limit where it is packed. */
static enum status fill_cubin(struct reading *r, const struct entry *e, struct container_module *m)
{
    struct window part = window_part(&e->w, e->head, e->payload);
    enum status st = set_why(m, "machine code only (SASS)");
    m->bytes = packed(e) ? e->size : e->payload;
    if (st != ST_OK)
        return st;
    if (!packed(e)) {
        st = elf_kernels(&part, m);
        return st == ST_NOMEM ? st : ST_OK; /* no table of sections: no names */
    }
    if (r->looked + e->size > CONTAINER_MOST_LOOKED) {
        m->unlooked = true;
        return ST_OK;
    }
    char *code;
    size_t n;
    const char *why;
    r->looked += e->size;
    st = payload(r, e, &code, &n, &why);
    if (code) {
        struct window memory = { .fd = -1, .data = (const uint8_t *)code, .n = n };
        st = elf_kernels(&memory, m) == ST_NOMEM ? ST_NOMEM : ST_OK;
    }
    m->unlooked = !code;
    base_free(code);
    return st;
}

/* The stub that a program without relocatable device code begins with: an ELF file without instructions.
 */
static bool is_stub(const struct container_module *m)
{
    return m->kind == CONTAINER_CUBIN && !m->unlooked && !m->nkernels && !m->code;
}

static void drop_last(struct reading *r)
{
    struct container last = { .v = base_alloc(sizeof *last.v), .n = 1 };
    if (!last.v)
        return;
    last.v[0] = r->out->v[--r->out->n];
    container_free(&last);
}

static enum status put_entry(struct reading *r, const struct entry *e, unsigned fatbin, unsigned number)
{
    enum container_kind kind = e->kind == ENTRY_PTX     ? CONTAINER_PTX
                               : e->kind == ENTRY_CUBIN ? CONTAINER_CUBIN
                                                        : CONTAINER_LTO_IR;
    struct container_module *m = reading_add(r, kind);
    struct buf where = { 0 };
    if (!m)
        return reading_stopped(r);
    buf_printf(&where, "%s, fatbin %u, entry %u", m->where, fatbin, number);
    base_free(m->where);
    m->where = buf_take(&where);
    m->sm = e->sm;
    m->variant = e->flags & FLAG_A ? 'a' : e->flags & FLAG_F ? 'f' : 0;
    m->object = text_of(e, e->object, e->object_n);
    m->options = options_of(e);
    if (!m->where)
        return ST_NOMEM;
    if (kind == CONTAINER_PTX)
        return fill_ptx(r, e, m);
    m->bytes = e->payload;
    enum status st = kind == CONTAINER_CUBIN
                         ? fill_cubin(r, e, m)
                         : set_why(m, "LTO-IR: NVIDIA's own format, which gpulocw cannot read");
    if (st == ST_OK && is_stub(m))
        drop_last(r);
    return st;
}

/* The entries of one container; *end: where it ends. */
static enum status read_container(struct reading *r, const struct window *w, uint64_t at,
                                  unsigned fatbin, uint64_t *end)
{
    uint8_t h[CONTAINER_HEAD];
    if (!window_read(w, at, h, sizeof h))
        return reading_damaged(r, "a fatbin is truncated");
    uint64_t head = window_u16(h + 6), size = window_u64(h + 8);
    uint64_t from = at + (head >= CONTAINER_HEAD ? head : CONTAINER_HEAD);
    if (from > w->n || size > w->n - from)
        return reading_damaged(r, "a fatbin says that it is longer than its section");
    *end = size ? from + size : w->n;
    enum status st = ST_OK;
    unsigned number = 0;
    struct window inside = window_part(w, 0, *end);
    while (st == ST_OK && from + ENTRY_HEAD <= *end) {
        struct entry e;
        if (!entry_at(&inside, from, &e)) {
            *end = size ? *end : from;
            return size ? reading_damaged(r, "an entry of a fatbin is truncated or not in this format")
                        : ST_OK;
        }
        st = put_entry(r, &e, fatbin, ++number);
        from += e.head + e.payload;
    }
    r->groups++;
    return st;
}

enum status fatbin_read(struct reading *r, const struct window *w)
{
    enum status st = ST_OK;
    for (uint64_t at = 0; st == ST_OK && at + CONTAINER_HEAD <= w->n;) {
        uint8_t mark[4];
        if (!window_read(w, at, mark, 4))
            return reading_damaged(r, "the section is truncated");
        if (window_u32(mark) == OLD_MAGIC) {
            diag_add(r->ds, DIAG_WARNING, "container", r->path, NO_SPAN,
                     "a fatbin older than CUDA 5 is skipped");
            return ST_OK;
        }
        uint64_t end = at + 8; /* the gap between two */
        if (window_u32(mark) == CONTAINER_MAGIC)
            st = read_container(r, w, at, r->groups + 1, &end);
        at = (end + 7) / 8 * 8;
    }
    return st;
}
