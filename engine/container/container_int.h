/* Private to container: a window of a file, and the readers of its formats. */
#pragma once

#include "engine/container/container.h"

/* A part of a file, or of memory. Reads outside of it fail. */
struct window {
    int fd;              /* -1: memory */
    const uint8_t *data; /* of memory; borrowed */
    uint64_t at, n;      /* in the file */
};
bool window_read(const struct window *w, uint64_t at, void *to, size_t n);
/* The part of w from `at`, n bytes; n 0 where it lies outside. */
struct window window_part(const struct window *w, uint64_t at, uint64_t n);
uint64_t window_u64(const uint8_t *p);
uint32_t window_u32(const uint8_t *p);
uint16_t window_u16(const uint8_t *p);

struct reading {
    struct container *out;
    struct diags *ds;
    const char *path, *inside; /* inside: member of an archive, or NULL */
    uint32_t groups;
    uint64_t unpacked, looked;
    bool damaged; /* something was cut off or does not add up; told once */
    bool full;    /* there are more modules than the limit */
};
/* NULL: out of memory, or too many, which is told; reading_stopped says which by ST_NOMEM or
 * ST_REFUSED. */
struct container_module *reading_add(struct reading *r, enum container_kind kind);
enum status reading_stopped(const struct reading *r);
enum status reading_damaged(struct reading *r, const char *what);

/* ---- elf.c ---- */
bool elf_is(const struct window *w);
/* The table of sections and their names, of which there are none where the file has no sections. */
struct elf {
    uint64_t table;   /* where it is in the file; 0: there are no sections */
    uint64_t n;       /* sections */
    char *names;      /* owned: base_free, also after a failed elf_open; a zero byte is added */
    uint64_t names_n; /* bytes */
    uint16_t machine; /* e_machine */
    uint32_t flags;   /* e_flags */
};
/* False: damaged, or 32 bits. */
bool elf_open(const struct window *w, struct elf *e);
struct elf_section {
    uint32_t name; /* offset into the names */
    uint64_t at;   /* offset in the file */
    uint64_t n;    /* bytes */
};
/* Section i of the table at `table`; false: it is not there. */
bool elf_section(const struct window *w, uint64_t table, uint64_t i, struct elf_section *s);
const char *elf_name(const struct elf *e, const struct elf_section *s); /* "" where it is damaged */
/* Names of the kernels of a cubin into m. ST_INPUT: damaged. */
enum status elf_kernels(const struct window *w, struct container_module *m);
/* ---- object.c: an ELF file, a host object with fatbins or a cubin ---- */
/* The PTX that a compiler left beside a cubin: NAME.ptx for NAME.cubin. b.s NULL: it is not there. */
enum status container_sibling(const char *path, struct buf *b);
enum status elf_read(struct reading *r, const struct window *w);
/* ---- fatbin.c: fatbins one after another ---- */
enum status fatbin_read(struct reading *r, const struct window *w);
bool fatbin_is(const struct window *w);
/* n bytes of `packed` into *out (owned, zero byte added): LZ4 block, zstd frame. False: damaged. */
enum unpack_method { UNPACK_LZ4, UNPACK_ZSTD };
bool unpack(enum unpack_method m, const uint8_t *packed, size_t n, uint64_t size, char **out);
/* PTX text as it is stored: without the line feeds before and the zero bytes behind it. */
void module_text(struct container_module *m, char *text, size_t n);
