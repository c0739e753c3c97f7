/* What an ELF file holds: a host object's sections of fatbins, or a cubin itself. */
#include "engine/base/base.h"
#include "engine/container/container_int.h"

#include <string.h>

#define EM_CUDA 190

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
        struct elf_section s;
        if (!elf_section(w, e->table, i, &s))
            return reading_damaged(r, "the table of sections is truncated");
        if (!holds_fatbins(elf_name(e, &s)) || !s.n)
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
