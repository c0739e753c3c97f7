/* ELF files: their sections, and the names that a stripped one has lost. A static CUDA runtime is one object
 * file of the toolkit (libcudart_static.a), so its text stands in a program as one piece, the same but for
 * what the linker fills in. */
#include "engine/emulate/runtime/object.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a file ---- */
static bool map_file(const char *path, struct object *m)
{
    struct stat is;
    int f = open(path, O_RDONLY | O_CLOEXEC);
    *m = (struct object){ 0 };
    if (f < 0)
        return false;
    if (fstat(f, &is) == 0 && is.st_size > (off_t)sizeof(Elf64_Ehdr)) {
        void *p = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, f, 0);
        m->map = p == MAP_FAILED ? NULL : p;
        m->mapped = m->map ? (size_t)is.st_size : 0;
    }
    close(f);
    return m->map != NULL;
}

void object_close(struct object *m)
{
    if (m->map)
        munmap(m->map, m->mapped);
    *m = (struct object){ 0 };
}

/* The n bytes at p, of what is mapped. */
static bool is_object(struct object *m, const uint8_t *p, size_t n)
{
    m->p = p;
    m->n = n;
    m->head = (const Elf64_Ehdr *)(const void *)p;
    bool fine = n > sizeof *m->head && memcmp(m->head->e_ident, ELFMAG, SELFMAG) == 0 &&
                m->head->e_ident[EI_CLASS] == ELFCLASS64 && m->head->e_shoff && m->head->e_shoff <= n &&
                m->head->e_shnum <= (n - m->head->e_shoff) / sizeof(Elf64_Shdr) &&
                m->head->e_shstrndx < m->head->e_shnum;
    m->section = fine ? (const Elf64_Shdr *)(const void *)(p + m->head->e_shoff) : NULL;
    return fine;
}

bool object_open(const char *path, struct object *m)
{
    bool fine = map_file(path, m) && is_object(m, m->map, m->mapped);
    if (!fine)
        object_close(m);
    return fine;
}

bool object_holds(const struct object *m, const Elf64_Shdr *s)
{
    return s->sh_type != SHT_NOBITS && s->sh_offset <= m->n && s->sh_size <= m->n - s->sh_offset;
}

const Elf64_Shdr *object_section(const struct object *m, const char *name)
{
    const Elf64_Shdr *names = &m->section[m->head->e_shstrndx];
    if (!object_holds(m, names))
        return NULL;
    for (unsigned i = 0; i < m->head->e_shnum; i++) {
        const Elf64_Shdr *s = &m->section[i];
        size_t n = strlen(name) + 1;
        if (s->sh_name <= names->sh_size && n <= names->sh_size - s->sh_name &&
            memcmp(m->p + names->sh_offset + s->sh_name, name, n) == 0)
            return object_holds(m, s) ? s : NULL;
    }
    return NULL;
}

/* ---- a library of object files ---- */
/* The first file in it that is one. */
static bool open_archive(const char *path, struct object *m)
{
    static const char magic[] = "!<arch>\n";
    enum { HEAD = 60, SIZE_AT = 48, SIZE_N = 10 };
    if (!map_file(path, m))
        return false;
    const uint8_t *p = m->map;
    size_t at = sizeof magic - 1;
    bool fine = false;
    while (!fine && memcmp(p, magic, at > 8 ? 8 : at) == 0 && m->mapped - at > HEAD) {
        char digits[SIZE_N + 1] = { 0 };
        memcpy(digits, p + at + SIZE_AT, SIZE_N);
        size_t n = strtoull(digits, NULL, 10);
        at += HEAD;
        fine = n <= m->mapped - at && is_object(m, p + at, n) && object_section(m, ".text");
        at = n < m->mapped - at ? at + n + n % 2 : m->mapped;
    }
    if (!fine)
        object_close(m);
    return fine;
}

/* ---- where it lies ---- */
/* Bytes of the text that the linker wrote, marked; owned, NULL: out of memory. It may make a load of a
 * table's entry an address, from three bytes before on, and of thread-local storage other instructions. */
static uint8_t *written_by_linker(const struct object *m, const Elf64_Shdr *text)
{
    enum { BEFORE = 4, FIELD = 8 };
    uint8_t *mark = calloc(1, text->sh_size + FIELD);
    for (unsigned i = 0; mark && i < m->head->e_shnum; i++) {
        const Elf64_Shdr *s = &m->section[i];
        if (s->sh_type != SHT_RELA ||
            &m->section[s->sh_info < m->head->e_shnum ? s->sh_info : 0] != text || !object_holds(m, s))
            continue;
        const Elf64_Rela *r = (const Elf64_Rela *)(const void *)(m->p + s->sh_offset);
        for (size_t k = 0; k < s->sh_size / sizeof *r; k++)
            if (r[k].r_offset < text->sh_size) {
                size_t from = r[k].r_offset < BEFORE ? 0 : r[k].r_offset - BEFORE;
                memset(mark + from, 1, r[k].r_offset + FIELD - from);
            }
    }
    return mark;
}

struct run {
    size_t from, n;
};
static struct run longest_run(const uint8_t *mark, size_t n)
{
    struct run best = { 0 }, now = { 0 };
    for (size_t i = 0; i < n; i++) {
        now = mark[i] ? (struct run){ i + 1, 0 } : (struct run){ now.from, now.n + 1 };
        if (now.n > best.n)
            best = now;
    }
    return best;
}

/* Of the bytes that nobody wrote, at most one of 256 may differ. */
static bool is_same(const uint8_t *a, const uint8_t *b, const uint8_t *mark, size_t n)
{
    size_t differ = 0;
    for (size_t i = 0; i < n; i++)
        differ += !mark[i] && a[i] != b[i];
    return differ <= n / 256;
}

static bool find_text(const struct object *m, const struct object *names, uint64_t *at)
{
    enum { RUN_LEAST = 256 };
    const Elf64_Shdr *in = object_section(m, ".text"), *text = object_section(names, ".text");
    uint8_t *mark = in && text ? written_by_linker(names, text) : NULL;
    struct run run = mark ? longest_run(mark, text->sh_size) : (struct run){ 0 };
    bool found = false;
    if (run.n >= RUN_LEAST && text->sh_size <= in->sh_size) {
        const uint8_t *from = names->p + text->sh_offset, *to = m->p + in->sh_offset;
        const uint8_t *hit = memmem(to + run.from, in->sh_size - run.from, from + run.from, run.n);
        size_t begins = hit ? (size_t)(hit - to) - run.from : in->sh_size;
        found = hit && begins <= in->sh_size - text->sh_size &&
                is_same(from, to + begins, mark, text->sh_size);
        *at = in->sh_addr + begins;
    }
    free(mark);
    return found;
}

/* ---- where toolkits are ---- */
static bool try_one(const char *path, const struct object *m, struct object *names, uint64_t *at)
{
    if (!open_archive(path, names))
        return false;
    if (find_text(m, names, at))
        return true;
    object_close(names);
    return false;
}

static bool try_all(const char *pattern, const struct object *m, struct object *names, uint64_t *at)
{
    glob_t found = { 0 };
    bool done = false;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && !done; i++)
            done = try_one(found.gl_pathv[i], m, names, at);
    globfree(&found);
    return done;
}

/* Packages of Python have it beside each other: in a folder `nvidia` above the object's. */
static bool try_above(const char *path, const struct object *m, struct object *names, uint64_t *at)
{
    char pattern[4096];
    for (size_t n = strlen(path); n; n--) {
        bool fits = path[n - 1] == '/' &&
                    (size_t)snprintf(pattern, sizeof pattern, "%.*snvidia/*/lib/libcudart_static.a",
                                     (int)n, path) < sizeof pattern;
        if (fits && try_all(pattern, m, names, at))
            return true;
    }
    return false;
}

bool object_names(const struct object *m, const char *path, struct object *names, uint64_t *at)
{
    static const char *const places[] = { "/usr/local/cuda/lib64/libcudart_static.a",
                                          "/usr/local/cuda-*/lib64/libcudart_static.a",
                                          "/usr/lib/*/libcudart_static.a",
                                          "/opt/cuda/lib64/libcudart_static.a" };
    static const char call[] = "cuGetExportTable"; /* each static runtime asks for it by name */
    const Elf64_Shdr *text = object_section(m, ".rodata");
    if (!text || !memmem(m->p + text->sh_offset, text->sh_size, call, sizeof call))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (try_all(places[i], m, names, at))
            return true;
    return try_above(path, m, names, at);
}
