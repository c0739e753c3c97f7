/* What an ELF file holds: a host object's sections of fatbins, or a cubin itself. */
#include "engine/base/name.h"
#include "engine/container/container_int.h"

#include <string.h>
#include <sys/stat.h>

#define EM_CUDA 190

enum status container_sibling(const char *path, struct buf *b)
{
    struct stat is;
    if (!path || !base_stem(path, ".cubin"))
        return ST_OK;
    buf_put(b, path, strlen(path) - strlen("cubin"));
    buf_puts(b, "ptx");
    if (!b->oom && stat(b->s, &is) != 0)
        buf_free(b);
    return b->oom ? ST_NOMEM : ST_OK;
}

static bool has_sibling(const struct reading *r)
{
    struct buf b = { 0 };
    bool has = container_sibling(r->path, &b) == ST_OK && b.s;
    buf_free(&b);
    return has;
}

/* nvcc -lineinfo and -G leave the PTX in the cubin, behind eight zero bytes, a zero byte behind each line.
 * *text NULL: it is not there, or that of several, which a linker put together. */
static enum status read_debug_text(const struct window *w, const struct elf *e, char **text, size_t *n)
{
    enum { BEFORE = 8 };
    static const char section[] = ".nv_debug_ptx_txt", begins[] = ".version ";
    struct elf_section s = { 0 };
    uint64_t i = 0;
    *text = NULL;
    while (i < e->n && elf_section(w, e->table, i, &s) && strcmp(elf_name(e, &s), section) != 0)
        i++;
    if (i >= e->n || strcmp(elf_name(e, &s), section) != 0 || s.n <= BEFORE || s.n > w->n ||
        s.n > CONTAINER_MOST_TEXT)
        return ST_OK;
    char *p = base_alloc(s.n + 1);
    if (!p)
        return ST_NOMEM;
    *n = (size_t)s.n - BEFORE;
    bool fine = window_read(w, s.at + BEFORE, p, *n);
    for (size_t k = 0; k < *n; k++)
        p[k] = p[k] ? p[k] : '\n';
    p[*n] = 0;
    const char *first = fine ? strstr(p, begins) : NULL;
    if (first && !strstr(first + 1, "\n.version ")) {
        *text = p;
        return ST_OK;
    }
    base_free(p);
    return ST_OK;
}

static enum status put_debug_text(struct reading *r, char *text, size_t n)
{
    struct container_module *m = reading_add(r, CONTAINER_PTX);
    if (m)
        module_text(m, text, n);
    else
        base_free(text);
    return m ? ST_OK : reading_stopped(r);
}

static enum status put_cubin(struct reading *r, const struct window *w, const struct elf *e)
{
    struct container_module *m = reading_add(r, CONTAINER_CUBIN);
    char *text = NULL;
    size_t n = 0;
    if (!m)
        return reading_stopped(r);
    if (!has_sibling(r) && read_debug_text(w, e, &text, &n) != ST_OK)
        return ST_NOMEM;
    m->sm = e->flags & 0xff; /* ELF version 7: flags' low byte */
    if (m->sm < 20 || m->sm > 200)
        m->sm = e->flags >> 8 & 0xff; /* version 8: the next one */
    m->bytes = w->n;
    m->why = base_strdup(text ? "machine code; its PTX is the next"
                              : "machine code only; looking for PTX beside it (NAME.ptx)");
    enum status st = m->why ? elf_kernels(w, m) : ST_NOMEM;
    if (st == ST_OK && text)
        return put_debug_text(r, text, n);
    base_free(text);
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
