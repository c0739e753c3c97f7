/* Whether a runtime library can be put before that of a program. */
#include "engine/base/io.h"
#include "engine/container/container_int.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define NAMES_MOST (64u << 20)

static bool has_interpreter(const struct window *w)
{
    Elf64_Ehdr e;
    if (!window_read(w, 0, &e, sizeof e))
        return true;
    for (unsigned i = 0; i < e.e_phnum; i++) {
        Elf64_Phdr p;
        if (window_read(w, e.e_phoff + (uint64_t)i * e.e_phentsize, &p, sizeof p) &&
            p.p_type == PT_INTERP)
            return true;
    }
    return false;
}

/* A name in a section of names. */
static bool names(const struct window *w, const struct elf_section *s, const char *name)
{
    char *text = s->n < NAMES_MOST ? base_alloc(s->n + 1) : NULL;
    bool there =
        text && window_read(w, s->at, text, s->n) && memmem(text, s->n, name, strlen(name) + 1) != NULL;
    base_free(text);
    return there;
}

/* Device code, no symbols, and the runtime is not another file's. */
static bool is_stripped(const struct window *w)
{
    struct elf e;
    bool device = false, symbols = false, shared = false;
    bool whole = elf_open(w, &e);
    for (uint64_t i = 0; whole && i < e.n; i++) {
        struct elf_section s;
        if (!elf_section(w, e.table, i, &s))
            break;
        const char *name = elf_name(&e, &s);
        device |= strcmp(name, ".nv_fatbin") == 0;
        symbols |= strcmp(name, ".symtab") == 0;
        shared |= strcmp(name, ".dynstr") == 0 && names(w, &s, "__cudaRegisterFatBinary");
    }
    base_free(e.names);
    return whole && device && !symbols && !shared;
}

enum container_start container_start(const char *path)
{
    struct stat is;
    unsigned char id[EI_NIDENT];
    struct window w = { .fd = base_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0) };
    enum container_start how = START_FINE;
    if (w.fd < 0)
        return how;
    if (fstat(w.fd, &is) == 0 && S_ISREG(is.st_mode)) {
        w.n = (uint64_t)is.st_size;
        if (window_read(&w, 0, id, sizeof id) && memcmp(id, ELFMAG, SELFMAG) == 0)
            how = id[EI_CLASS] != ELFCLASS64         ? START_32BIT
                  : !has_interpreter(&w)             ? START_STATIC
                  : is.st_mode & (S_ISUID | S_ISGID) ? START_SETUID
                  : is_stripped(&w)                  ? START_STRIPPED
                                                     : START_FINE;
    }
    base_close(w.fd);
    return how;
}
