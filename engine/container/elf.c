/* ELF files, 64 bits, little-endian: host objects whose sections hold fatbins, and cubins. */
#include "engine/base/base.h"
#include "engine/container/container_int.h"

#include <string.h>

#define EHDR         64
#define SHDR         64
#define EM_CUDA      190
#define MOST_SECTION 1000000
#define MOST_NAMES   (256u << 20)

struct section {
    uint32_t name;
    uint64_t at, n;
};

bool elf_is(const struct window *w)
{
    uint8_t head[20];
    return window_read(w, 0, head, sizeof head) && memcmp(head, "\177ELF", 4) == 0;
}

static bool section_at(const struct window *w, uint64_t table, uint64_t i, struct section *s)
{
    uint8_t raw[SHDR];
    if (!window_read(w, table + i * SHDR, raw, sizeof raw))
        return false;
    *s = (struct section){ window_u32(raw), window_u64(raw + 24), window_u64(raw + 32) };
    return true;
}

/* The table of sections and the names; false: damaged, or 32 bits. */
struct elf {
    uint64_t table, n;
    char *names; /* owned; a zero byte is added */
    uint64_t names_n;
    uint16_t machine;
    uint32_t flags;
};
static bool elf_open(const struct window *w, struct elf *e)
{
    uint8_t h[EHDR];
    struct section s;
    *e = (struct elf){ .n = 0 };
    if (!window_read(w, 0, h, sizeof h) || h[4] != 2 || h[5] != 1)
        return false;
    e->machine = window_u16(h + 18);
    e->flags = window_u32(h + 48);
    e->table = window_u64(h + 40);
    e->n = window_u16(h + 60);
    uint64_t names = window_u16(h + 62);
    if (!e->table)
        return true; /* no sections at all */
    if (window_u16(h + 58) != SHDR || !section_at(w, e->table, 0, &s))
        return false;
    e->n = e->n ? e->n : s.n; /* more than 65,279 sections: the count is in the first one's size */
    if (names == 0xffff) {
        uint8_t raw[SHDR];
        if (!window_read(w, e->table, raw, sizeof raw))
            return false;
        names = window_u32(raw + 40);
    }
    if (e->n > MOST_SECTION || names >= e->n || !section_at(w, e->table, names, &s) ||
        s.n > MOST_NAMES || s.n > w->n)
        return false;
    e->names = base_alloc(s.n + 1);
    e->names_n = s.n;
    return e->names && window_read(w, s.at, e->names, s.n);
}

static const char *name_of(const struct elf *e, const struct section *s)
{
    return s->name < e->names_n ? e->names + s->name : "";
}

/* ---- a cubin ---- */
static enum status add_kernel(struct container_module *m, size_t *cap, const char *name)
{
    if (!base_grow((void **)&m->kernel, m->nkernels, cap, sizeof *m->kernel))
        return ST_NOMEM;
    m->kernel[m->nkernels] = base_strdup(name);
    return m->kernel[m->nkernels++] ? ST_OK : ST_NOMEM;
}

/* Every kernel has constants of its own, .nv.constant0.NAME; a device function has none. */
enum status elf_kernels(const struct window *w, struct container_module *m)
{
    static const char prefix[] = ".nv.constant0.";
    struct elf e;
    size_t cap = 0;
    enum status st = elf_open(w, &e) ? ST_OK : ST_INPUT;
    for (uint64_t i = 0; st == ST_OK && i < e.n; i++) {
        struct section s;
        if (!section_at(w, e.table, i, &s))
            st = ST_INPUT;
        else if (strncmp(name_of(&e, &s), prefix, sizeof prefix - 1) == 0)
            st = add_kernel(m, &cap, name_of(&e, &s) + sizeof prefix - 1);
    }
    base_free(e.names);
    return st;
}

static enum status put_cubin(struct reading *r, const struct window *w, const struct elf *e)
{
    struct container_module *m = reading_add(r, CONTAINER_CUBIN);
    if (!m)
        return reading_stopped(r);
    m->sm = e->flags & 0xff; /* ELF version 7: flags' low byte */
    if (m->sm < 20 || m->sm > 200)
        m->sm = e->flags >> 8 & 0xff; /* version 8: the next one */
    m->bytes = w->n;
    m->why = base_strdup("machine code only; looking for PTX beside it (NAME.ptx)");
    enum status st = m->why ? elf_kernels(w, m) : ST_NOMEM;
    return st == ST_INPUT ? reading_damaged(r, "the table of sections is truncated") : st;
}

/* ---- a host object ---- */
static bool holds_fatbins(const char *name)
{
    return strcmp(name, ".nv_fatbin") == 0 || strcmp(name, "__nv_relfatbin") == 0 ||
           strcmp(name, "__nv_fatbin") == 0;
}

/* Without a table of sections: containers are looked for by their mark. */
static enum status scan(struct reading *r, const struct window *w)
{
    enum { CHUNK = 1 << 20 };
    uint8_t *piece = base_alloc(CHUNK);
    enum status st = piece ? ST_OK : ST_NOMEM;
    uint64_t read = 0; /* up to here: no byte is read as part of two */
    for (uint64_t at = 0; st == ST_OK && at + 16 <= w->n; at += CHUNK) {
        size_t n = w->n - at < CHUNK ? (size_t)(w->n - at) : CHUNK;
        if (!window_read(w, at, piece, n))
            break;
        for (size_t i = 0; st == ST_OK && i + 16 <= n; i += 8) {
            struct window part = window_part(w, at + i, w->n - at - i);
            uint64_t size = window_u64(piece + i + 8);
            if (at + i >= read && window_u32(piece + i) == 0xBA55ED50u && size && size <= part.n - 16) {
                part.n = size + 16;
                read = at + i + part.n;
                st = fatbin_read(r, &part);
            }
        }
    }
    base_free(piece);
    return st;
}

static enum status read_sections(struct reading *r, const struct window *w, const struct elf *e)
{
    enum status st = ST_OK;
    for (uint64_t i = 0; st == ST_OK && i < e->n; i++) {
        struct section s;
        if (!section_at(w, e->table, i, &s))
            return reading_damaged(r, "the table of sections is truncated");
        if (!holds_fatbins(name_of(e, &s)) || !s.n)
            continue;
        struct window part = window_part(w, s.at, s.n);
        st = part.n ? fatbin_read(r, &part) : reading_damaged(r, "a section is outside the file");
    }
    return st;
}

enum status elf_read(struct reading *r, const struct window *w)
{
    struct elf e;
    enum status st;
    if (!elf_open(w, &e))
        st = reading_damaged(r, "not a 64-bit ELF file with a table of sections");
    else if (e.machine == EM_CUDA)
        st = put_cubin(r, w, &e);
    else
        st = e.table ? read_sections(r, w, &e) : scan(r, w);
    base_free(e.names);
    return st;
}
