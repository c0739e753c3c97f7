/* ELF files, 64 bits, little-endian: their sections, and the kernels of a cubin. */
#include "engine/container/container_int.h"

#include <string.h>

#define EHDR         64
#define SHDR         64
#define MOST_SECTION 1000000
#define MOST_NAMES   (256u << 20)

bool elf_is(const struct window *w)
{
    uint8_t head[20];
    return window_read(w, 0, head, sizeof head) && memcmp(head, "\177ELF", 4) == 0;
}

bool elf_section(const struct window *w, uint64_t table, uint64_t i, struct elf_section *s)
{
    uint8_t raw[SHDR];
    if (!window_read(w, table + i * SHDR, raw, sizeof raw))
        return false;
    *s = (struct elf_section){ window_u32(raw), window_u64(raw + 24), window_u64(raw + 32) };
    return true;
}

bool elf_open(const struct window *w, struct elf *e)
{
    uint8_t h[EHDR];
    struct elf_section s;
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
    if (window_u16(h + 58) != SHDR || !elf_section(w, e->table, 0, &s))
        return false;
    e->n = e->n ? e->n : s.n; /* more than 65,279 sections: the count is in the first one's size */
    if (names == 0xffff) {
        uint8_t raw[SHDR];
        if (!window_read(w, e->table, raw, sizeof raw))
            return false;
        names = window_u32(raw + 40);
    }
    if (e->n > MOST_SECTION || names >= e->n || !elf_section(w, e->table, names, &s) ||
        s.n > MOST_NAMES || s.n > w->n)
        return false;
    e->names = base_alloc(s.n + 1);
    e->names_n = s.n;
    return e->names && window_read(w, s.at, e->names, s.n);
}

const char *elf_name(const struct elf *e, const struct elf_section *s)
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
    static const char prefix[] = ".nv.constant0.", code[] = ".text.";
    struct elf e;
    size_t cap = 0;
    enum status st = elf_open(w, &e) ? ST_OK : ST_INPUT;
    for (uint64_t i = 0; st == ST_OK && i < e.n; i++) {
        struct elf_section s;
        if (!elf_section(w, e.table, i, &s))
            st = ST_INPUT;
        else if (strncmp(elf_name(&e, &s), prefix, sizeof prefix - 1) == 0)
            st = add_kernel(m, &cap, elf_name(&e, &s) + sizeof prefix - 1);
        else
            m->code |= strncmp(elf_name(&e, &s), code, sizeof code - 1) == 0;
    }
    base_free(e.names);
    return st;
}
