/* The way in. Programs with the shared runtime find our functions by name: this library comes first.
 * Those with the static one carry it inside: their own symbol table says where its functions begin, and a
 * jump to ours is written there. This runs before every constructor of the program, so that what the
 * compiler's host code registers is seen. */
#include "engine/emulate/runtime/runtime.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int version = 13000;
static bool versioned; /* the first object says which; another one that comes later does not change it */
static bool begun;

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
    if (done && !versioned)
        version = twelve ? 12000 : eleven ? 11000 : 13000;
    versioned |= done != 0;
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
    if (p && !versioned)
        version = 1000 * atoi(p + sizeof name - 1);
    versioned |= p != NULL;
}

/* ---- objects ---- */
enum { CALLS_MOST = 4096 };
/* What registers the kernels of an object that came later, to be called once more: it did so with the runtime
 * that it brought. */
struct late {
    void (*fn[CALLS_MOST])(void);
    size_t n;
};

/* With -rdc=true it counts its own calls: once more would be one too many. */
static void find_registering(const struct image *m, const Elf64_Shdr *symtab, uint8_t *base,
                             struct late *late)
{
    static const char once[] = "__cudaRegisterLinkedBinary", all[] = "_ZL24__sti____cudaRegisterAllv";
    const Elf64_Shdr *names = symtab->sh_link < m->head->e_shnum ? &m->section[symtab->sh_link] : NULL;
    const Elf64_Sym *sym = (const Elf64_Sym *)(m->p + symtab->sh_offset);
    const size_t was = late->n;
    for (size_t i = 0; names && within(m, names) && i < symtab->sh_size / sizeof *sym; i++) {
        const char *name = (const char *)m->p + names->sh_offset + sym[i].st_name;
        if (sym[i].st_name >= names->sh_size || ELF64_ST_TYPE(sym[i].st_info) != STT_FUNC)
            continue;
        if (strncmp(name, once, sizeof once - 1) == 0) {
            late->n = was;
            return;
        }
        if (strcmp(name, all) == 0 && late->n < CALLS_MOST)
            *(void **)&late->fn[late->n++] = base + sym[i].st_value;
    }
}

/* late NULL: at the start. */
static void look_into(const struct image *m, uint8_t *base, const char *path, struct late *late)
{
    const Elf64_Shdr *symtab = section_named(m, ".symtab");
    const char *slash = strrchr(path, '/');
    if (strncmp(slash ? slash + 1 : path, "libcudart.so", 12) == 0) {
        symtab = section_named(m, ".dynsym");
        if (symtab)
            replace_all(m, symtab, base);
        return;
    }
    if (!section_named(m, ".nv_fatbin") && !section_named(m, ".nvFatBinSegment"))
        return;
    note_shared(m);
    unsigned n = symtab ? replace_all(m, symtab, base) : 0;
    if (n && late)
        find_registering(m, symtab, base, late);
    if (!n && !late && !is_imported(m)) /* of what comes later, cuGetExportTable tells */
        say_stripped(path);
}

static bool is_own(uintptr_t base)
{
    Dl_info own;
    return dladdr((void *)(uintptr_t)runtime_version, &own) && (uintptr_t)own.dli_fbase == base;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *late)
{
    struct image m;
    const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    (void)size;
    if (is_own(info->dlpi_addr) || !image_open(path, &m))
        return 0;
    look_into(&m, (uint8_t *)info->dlpi_addr, path, late);
    munmap((void *)(uintptr_t)m.p, m.n);
    return 0;
}

/* ---- objects that come later ---- */
enum { SEEN_MOST = 8192 };
static struct {
    unsigned long long adds, subs;
    uintptr_t base[SEEN_MOST];
    size_t n;
} seen;

static bool is_new(uintptr_t base)
{
    for (size_t i = 0; i < seen.n; i++)
        if (seen.base[i] == base)
            return false;
    if (seen.n < SEEN_MOST)
        seen.base[seen.n++] = base;
    return true;
}

static int see(struct dl_phdr_info *info, size_t size, void *late)
{
    if (seen.subs != info->dlpi_subs)
        seen.n = 0; /* another one may be where one was */
    seen.subs = info->dlpi_subs;
    seen.adds = info->dlpi_adds;
    return is_new(info->dlpi_addr) && late ? look_at(info, size, late) : 0;
}

static int any_more(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size, (void)ctx;
    return 1 + (info->dlpi_adds != seen.adds || info->dlpi_subs != seen.subs);
}

static void look_for_more(void)
{
    static _Thread_local struct late late;
    runtime_enter();
    bool more = begun && dl_iterate_phdr(any_more, NULL) == 2;
    late.n = 0;
    if (more)
        dl_iterate_phdr(see, &late);
    runtime_leave();
    for (size_t i = 0; i < late.n; i++)
        late.fn[i]();
}

/* Whoever brings an object by dlopen looks a function up in it before anything of it is called. The C
 * library's own dlsym goes on from there, for the same caller. */
void *late_dlsym(void);
void *late_dlsym(void)
{
    static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5" };
    static void *real;
    for (size_t i = 0; !real && i < sizeof versions / sizeof *versions; i++)
        real = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    look_for_more();
    return real;
}

#if defined(__x86_64__)
__asm__(".text\n.globl dlsym\n.type dlsym, @function\ndlsym: push %rdi\npush %rsi\nsub $8, %rsp\n"
        "call late_dlsym@PLT\nadd $8, %rsp\npop %rsi\npop %rdi\njmp *%rax\n.size dlsym, .-dlsym\n");
#else
__asm__(".text\n.globl dlsym\n.type dlsym, @function\ndlsym: stp x0, x1, [sp, #-32]!\n"
        "stp x29, x30, [sp, #16]\nbl late_dlsym\nmov x16, x0\nldp x29, x30, [sp, #16]\n"
        "ldp x0, x1, [sp], #32\nbr x16\n.size dlsym, .-dlsym\n");
#endif

/* ---- the beginning ---- */
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
    if (!wanted(environment))
        return;
    dl_iterate_phdr(look_at, NULL);
    dl_iterate_phdr(see, NULL);
    begun = true;
}
