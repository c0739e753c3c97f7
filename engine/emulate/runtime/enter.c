/* The way in. Programs with the shared runtime find our functions by name: this library comes first.
 * Those with the static one carry it inside: their own symbol table says where its functions begin, and a
 * jump to ours is written there. This runs before every constructor of the program, so that what the
 * compiler's host code registers is seen. */
#include "engine/emulate/runtime/runtime.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int version = 13000;

int runtime_version(void)
{
    return version;
}

/* ---- the jump ---- */
#if defined(__x86_64__)
#define JUMP_BYTES 14
static void put_jump(uint8_t *to, uint64_t target)
{
    static const uint8_t jump[6] = { 0xff, 0x25 }; /* jmp *(%rip) */
    memcpy(to, jump, sizeof jump);
    memcpy(to + sizeof jump, &target, sizeof target);
}
#else
#define JUMP_BYTES 16
static void put_jump(uint8_t *to, uint64_t target)
{
    static const uint32_t jump[2] = { 0x58000050, 0xd61f0200 }; /* ldr x16, .+8; br x16 */
    memcpy(to, jump, sizeof jump);
    memcpy(to + sizeof jump, &target, sizeof target);
    __builtin___clear_cache((char *)to, (char *)to + JUMP_BYTES);
}
#endif

struct pages {
    uintptr_t at;
    size_t n;
};

/* The pages that hold the first bytes of a function. */
static struct pages pages_of(const uint8_t *p)
{
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)p / size * size;
    return (struct pages){ from, ((uintptr_t)p + JUMP_BYTES - from + size - 1) / size * size };
}

/* Never writable and executable at once. False: the pages may not be changed. */
static bool replace(uint8_t *p, const void *with)
{
    struct pages g = pages_of(p);
    if (mprotect((void *)g.at, g.n, PROT_READ | PROT_WRITE) != 0)
        return false;
    put_jump(p, (uintptr_t)with);
    return mprotect((void *)g.at, g.n, PROT_READ | PROT_EXEC) == 0;
}

/* ---- a file's tables ---- */
struct image {
    const uint8_t *p;
    size_t n;
    const Elf64_Ehdr *head;
    const Elf64_Shdr *section;
};

static bool image_open(const char *path, struct image *m)
{
    struct stat is;
    int f = open(path, O_RDONLY | O_CLOEXEC);
    *m = (struct image){ 0 };
    if (f < 0)
        return false;
    if (fstat(f, &is) == 0 && is.st_size > (off_t)sizeof(Elf64_Ehdr)) {
        m->n = (size_t)is.st_size;
        void *p = mmap(NULL, m->n, PROT_READ, MAP_PRIVATE, f, 0);
        m->p = p == MAP_FAILED ? NULL : p;
    }
    close(f);
    m->head = (const Elf64_Ehdr *)m->p;
    bool fine = m->p && memcmp(m->head->e_ident, ELFMAG, SELFMAG) == 0 &&
                m->head->e_ident[EI_CLASS] == ELFCLASS64 && m->head->e_shoff &&
                m->head->e_shoff + (uint64_t)m->head->e_shnum * sizeof(Elf64_Shdr) <= m->n &&
                m->head->e_shstrndx < m->head->e_shnum;
    if (fine)
        m->section = (const Elf64_Shdr *)(m->p + m->head->e_shoff);
    else if (m->p)
        munmap((void *)(uintptr_t)m->p, m->n);
    return fine;
}

static bool within(const struct image *m, const Elf64_Shdr *s)
{
    return s->sh_offset <= m->n && s->sh_size <= m->n - s->sh_offset;
}

static const Elf64_Shdr *section_named(const struct image *m, const char *name)
{
    const Elf64_Shdr *names = &m->section[m->head->e_shstrndx];
    if (!within(m, names))
        return NULL;
    for (unsigned i = 0; i < m->head->e_shnum; i++) {
        const Elf64_Shdr *s = &m->section[i];
        size_t n = strlen(name) + 1;
        if (s->sh_name <= names->sh_size && n <= names->sh_size - s->sh_name &&
            memcmp(m->p + names->sh_offset + s->sh_name, name, n) == 0)
            return within(m, s) ? s : NULL;
    }
    return NULL;
}

/* ---- replacing ---- */
static bool is_call(const char *name)
{
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
}

/* What the versions differ in. */
static void note_version(const char *name, bool *twelve, bool *eleven)
{
    *twelve |= strcmp(name, "cudaGetDeviceProperties_v2") == 0;
    *eleven |= strcmp(name, "cudaStreamGetCaptureInfo_v2") == 0 || strcmp(name, "cudaBindTexture") == 0;
}

/* Functions of the static runtime in this object; how many were replaced. */
static unsigned replace_all(const struct image *m, const Elf64_Shdr *symtab, uint8_t *base)
{
    const Elf64_Shdr *names = symtab->sh_link < m->head->e_shnum ? &m->section[symtab->sh_link] : NULL;
    const Elf64_Sym *sym = (const Elf64_Sym *)(m->p + symtab->sh_offset);
    bool twelve = false, eleven = false;
    unsigned done = 0;
    for (size_t i = 0; names && within(m, names) && i < symtab->sh_size / sizeof *sym; i++) {
        const char *name = (const char *)m->p + names->sh_offset + sym[i].st_name;
        if (sym[i].st_name >= names->sh_size || ELF64_ST_TYPE(sym[i].st_info) != STT_FUNC ||
            sym[i].st_shndx == SHN_UNDEF || !is_call(name))
            continue;
        /* functions begin at multiples of 16: what is behind a short one is filling */
        uint64_t end = (sym[i].st_value + sym[i].st_size + 15) / 16 * 16;
        void *ours = end - sym[i].st_value >= JUMP_BYTES ? runtime_function(name) : NULL;
        if (!ours)
            continue;
        note_version(name, &twelve, &eleven);
        done += replace(base + sym[i].st_value, ours);
    }
    if (done)
        version = twelve ? 12000 : eleven ? 11000 : 13000;
    return done;
}

static void say_stripped(const char *path)
{
    fprintf(
        stderr,
        "gpulocw emulate: %s is stripped: the functions of its CUDA runtime cannot be found; build it "
        "with nvcc -cudart shared, or do not strip it\n",
        path);
}

static bool is_imported(const struct image *m)
{
    const Elf64_Shdr *s = section_named(m, ".dynstr");
    static const char name[] = "__cudaRegisterFatBinary";
    return s && memmem(m->p + s->sh_offset, s->sh_size, name, sizeof name) != NULL;
}

/* The number behind the shared runtime's name. */
static void note_shared(const struct image *m)
{
    static const char name[] = "libcudart.so.";
    const Elf64_Shdr *s = section_named(m, ".dynstr");
    const char *p = s ? memmem(m->p + s->sh_offset, s->sh_size, name, sizeof name - 1) : NULL;
    if (p)
        version = 1000 * atoi(p + sizeof name - 1);
}

static int look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct image m;
    const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    (void)size, (void)ctx;
    if (!image_open(path, &m))
        return 0;
    if (section_named(&m, ".nv_fatbin") || section_named(&m, ".nvFatBinSegment")) {
        const Elf64_Shdr *symtab = section_named(&m, ".symtab");
        note_shared(&m);
        unsigned n = symtab ? replace_all(&m, symtab, (uint8_t *)info->dlpi_addr) : 0;
        if (!n && !is_imported(&m))
            say_stripped(path);
    }
    munmap((void *)(uintptr_t)m.p, m.n);
    return 0;
}

/* This runs before the C library has looked at the environment. */
static bool wanted(char **environment)
{
    static const char name[] = WIRE_ENVIRONMENT "=";
    for (; *environment; environment++)
        if (strncmp(*environment, name, sizeof name - 1) == 0)
            return true;
    return false;
}

__attribute__((constructor)) static void begin(int argc, char **argv, char **environment)
{
    (void)argc, (void)argv;
    if (wanted(environment))
        dl_iterate_phdr(look_at, NULL);
}
