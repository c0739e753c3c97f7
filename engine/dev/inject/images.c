/* Which image is it, and has it PTX: ELF files, fatbins, the runtime's wrappers, PTX text. */
#include "engine/dev/inject/inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_PTX = 1, KIND_CUBIN = 2, KIND_LTO = 8, HEAD = 16, ENTRY = 64, MOST_CONTAINERS = 4096 };

uint64_t hash_of(const void *data, uint64_t n)
{
    const uint8_t *p = data;
    uint64_t h = 0xcbf29ce484222325u;
    for (uint64_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

static uint64_t word(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
    memcpy(&v, p, bytes);
    return v;
}

/* An ELF file ends with the last of its tables and sections. */
static uint64_t elf_bytes(const uint8_t *p)
{
    uint64_t sections = word(p + 40, 8), programs = word(p + 32, 8);
    uint64_t end = sections + word(p + 58, 2) * word(p + 60, 2);
    uint64_t other = programs + word(p + 54, 2) * word(p + 56, 2);
    for (uint64_t i = 0; i < word(p + 60, 2) && word(p + 58, 2) >= 64; i++) {
        const uint8_t *s = p + sections + i * word(p + 58, 2);
        uint64_t last = word(s + 4, 4) == 8 ? 0 : word(s + 24, 8) + word(s + 32, 8);
        end = last > end ? last : end;
    }
    return other > end ? other : end;
}

void image_keep(struct image *m, const void *data, size_t n)
{
    char *more = realloc(m->copy, m->ncopy + n + 1);
    if (!more)
        return;
    memcpy(more + m->ncopy, data, n);
    more[m->ncopy + n] = 0;
    m->copy = more;
    m->ncopy += n;
}

/* A container of this one's entries of PTX is kept. */
static void look_at_fatbin(const uint8_t *p, struct image *m)
{
    uint64_t at = word(p + 6, 2), all = at + word(p + 8, 8);
    uint8_t head[HEAD] = { 0x50, 0xed, 0x55, 0xba, 1, 0, HEAD, 0 };
    size_t start = m->ncopy;
    while (at + ENTRY <= all) {
        uint64_t kind = word(p + at, 2), h = word(p + at + 4, 4), body = word(p + at + 8, 8);
        if (h < ENTRY || body > all || h + body > all - at)
            break;
        if (kind == KIND_PTX && m->ncopy == start)
            image_keep(m, head, HEAD);
        if (kind == KIND_PTX && m->ncopy > start)
            image_keep(m, p + at, h + body);
        m->ptx |= kind == KIND_PTX;
        m->cubin |= kind == KIND_CUBIN;
        m->lto |= kind == KIND_LTO;
        at += h + body;
    }
    if (m->ncopy > start) {
        uint64_t n = m->ncopy - start - HEAD;
        memcpy(m->copy + start + 8, &n, sizeof n);
    }
}

void image_look(const void *code, struct image *m)
{
    const uint8_t *p = code;
    uint64_t magic = word(p, 4);
    if (magic == 0x466243b1u && word(p + 4, 4) == 2) { /* rdc: an array of containers, ends in NULL */
        uint8_t *const *list = *(uint8_t *const *const *)(const void *)(p + 16);
        for (int i = 0; list && list[i] && i < MOST_CONTAINERS; i++)
            if (word(list[i], 4) == 0xba55ed50u)
                look_at_fatbin(list[i], m);
    }
    if (magic == 0x466243b1u) {
        p = *(const uint8_t *const *)(const void *)(p + 8);
        magic = p ? word(p, 4) : 0;
    }
    if (magic == 0xba55ed50u) {
        look_at_fatbin(p, m);
    } else if (magic == 0x464c457fu) {
        m->cubin = true;
        m->bytes = elf_bytes(p);
        m->hash = hash_of(p, m->bytes);
    } else if (p && strstr((const char *)p, ".version")) {
        m->ptx = true;
        m->bytes = strlen((const char *)p);
        m->hash = hash_of(p, m->bytes);
        image_keep(m, p, m->bytes);
    }
    if (!m->hash && m->ncopy) { /* a fatbin: by its PTX */
        m->bytes = m->ncopy;
        m->hash = hash_of(m->copy, m->ncopy);
    }
}

uint64_t image_hash(const void *elf)
{
    return hash_of(elf, elf_bytes(elf));
}

char *image_file(const char *path, size_t *bytes)
{
    long n = 0;
    FILE *f = fopen(path, "rbe");
    char *p = NULL;
    if (f && fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) > 0 && n < (1 << 30) &&
        fseek(f, 0, SEEK_SET) == 0 && (p = calloc(1, (size_t)n + 64)) &&
        fread(p, 1, (size_t)n, f) != (size_t)n) {
        free(p);
        p = NULL;
    }
    if (bytes && p)
        *bytes = (size_t)n;
    if (f)
        fclose(f);
    return p;
}
