/* The way in. Programs with the shared runtime find our functions by name: this library comes first.
 * Those with the static one carry it inside: their own symbol table says where its functions begin, and a
 * jump to ours is written there. This runs before every constructor of the program, so that what the
 * compiler's host code registers is seen. */
#include "engine/emulate/runtime/object.h"
#include "engine/emulate/runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* ---- replacing ---- */
/* What the versions differ in. */
static void note_version(const char *name, bool *twelve, bool *eleven)
{
    *twelve |= strcmp(name, "cudaGetDeviceProperties_v2") == 0;
    *eleven |= strcmp(name, "cudaStreamGetCaptureInfo_v2") == 0 || strcmp(name, "cudaBindTexture") == 0;
}

/* Functions begin at multiples of 16: what is behind a short one is filling, but behind the section's last. */
static bool has_room(const struct object *m, const Elf64_Sym *sym)
{
    if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == SHN_UNDEF ||
        sym->st_shndx >= m->head->e_shnum)
        return false;
    const Elf64_Shdr *in = &m->section[sym->st_shndx];
    uint64_t end = (sym->st_value + sym->st_size + 15) / 16 * 16, last = in->sh_addr + in->sh_size;
    return sym->st_value + JUMP_BYTES <= (end < last ? end : last);
}

/* Functions of the static runtime in this object. */
struct replaced {
    unsigned n;
    const uint8_t *registers; /* __cudaRegisterFatBinary; NULL: it has none */
};

static struct replaced replace_all(const struct object *m, const Elf64_Shdr *symtab, uint8_t *base)
{
    const Elf64_Shdr *names =
        symtab && symtab->sh_link < m->head->e_shnum ? &m->section[symtab->sh_link] : NULL;
    const Elf64_Sym *sym = names ? (const Elf64_Sym *)(m->p + symtab->sh_offset) : NULL;
    bool twelve = false, eleven = false;
    struct replaced done = { 0 };
    for (size_t i = 0; names && object_holds(m, names) && i < symtab->sh_size / sizeof *sym; i++) {
        const char *name = (const char *)m->p + names->sh_offset + sym[i].st_name;
        if (sym[i].st_name >= names->sh_size || !has_room(m, &sym[i]) ||
            (strncmp(name, "cuda", 4) != 0 && strncmp(name, "__cuda", 6) != 0))
            continue;
        void *ours = runtime_function(name);
        if (!ours)
            continue;
        note_version(name, &twelve, &eleven);
        done.n += replace(base + sym[i].st_value, ours);
        if (strcmp(name, "__cudaRegisterFatBinary") == 0)
            done.registers = base + sym[i].st_value;
    }
    if (done.n && !versioned)
        version = twelve ? 12000 : eleven ? 11000 : 13000;
    versioned |= done.n != 0;
    return done;
}

/* nvJitLink makes machine code alone: what takes PTX does so here (driver/jit_link.c). Its functions have one
 * name, and one with each version: __nvJitLinkCreate_13_0. */
static void *linker_function(const char *name)
{
    char plain[64];
    static const char mark[] = "__nvJitLink";
    bool with_version = strncmp(name, mark, sizeof mark - 1) == 0;
    snprintf(plain, sizeof plain, "%s", with_version ? name + 2 : name);
    if (with_version)
        plain[strcspn(plain, "_")] = 0;
    return jit_link_function(plain);
}

static void replace_linker(const struct object *m, uint8_t *base)
{
    const Elf64_Shdr *table = object_section(m, ".dynsym"), *names = object_section(m, ".dynstr");
    const Elf64_Sym *sym = table ? (const Elf64_Sym *)(m->p + table->sh_offset) : NULL;
    for (size_t i = 0; sym && names && i < table->sh_size / sizeof *sym; i++) {
        void *ours = sym[i].st_name < names->sh_size && has_room(m, &sym[i])
                         ? linker_function((const char *)m->p + names->sh_offset + sym[i].st_name)
                         : NULL;
        if (ours)
            replace(base + sym[i].st_value, ours);
    }
}

static void say_stripped(const char *path)
{
    fprintf(
        stderr,
        "gpulocw emulate: %s is stripped: the functions of its CUDA runtime cannot be found; build it "
        "with nvcc -cudart shared, or do not strip it\n",
        path);
}

static bool is_imported(const struct object *m)
{
    const Elf64_Shdr *s = object_section(m, ".dynstr");
    static const char name[] = "__cudaRegisterFatBinary";
    return s && memmem(m->p + s->sh_offset, s->sh_size, name, sizeof name) != NULL;
}

/* Those of one without names, by the toolkit's. */
static struct replaced replace_stripped(const struct object *m, uint8_t *base, const char *path)
{
    struct replaced done = { 0 };
    struct object names;
    uint64_t at;
    if (!object_names(m, path, &names, &at))
        return done;
    done = replace_all(&names, object_section(&names, ".symtab"), base + at);
    object_close(&names);
    return done;
}

/* Its symbols name what each static runtime has. */
static bool has_runtime(const struct object *m, const Elf64_Shdr *symtab)
{
    static const char name[] = "\0__cudaRegisterFatBinary";
    const Elf64_Shdr *s =
        symtab && symtab->sh_link < m->head->e_shnum ? &m->section[symtab->sh_link] : NULL;
    return s && object_holds(m, s) && memmem(m->p + s->sh_offset, s->sh_size, name, sizeof name) != NULL;
}

/* The number behind the shared runtime's name. */
static void note_shared(const struct object *m)
{
    static const char name[] = "libcudart.so.";
    const Elf64_Shdr *s = object_section(m, ".dynstr");
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
static void find_registering(const struct object *m, const Elf64_Shdr *symtab, uint8_t *base,
                             struct late *late)
{
    static const char once[] = "__cudaRegisterLinkedBinary", all[] = "_ZL24__sti____cudaRegisterAllv";
    const Elf64_Shdr *names = symtab->sh_link < m->head->e_shnum ? &m->section[symtab->sh_link] : NULL;
    const Elf64_Sym *sym = (const Elf64_Sym *)(m->p + symtab->sh_offset);
    const size_t was = late->n;
    for (size_t i = 0; names && object_holds(m, names) && i < symtab->sh_size / sizeof *sym; i++) {
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

#if defined(__x86_64__)
/* Whether a function calls that one before it does anything else. */
static bool calls_first(const uint8_t *p, const uint8_t *fn)
{
    static const struct {
        uint8_t n, byte[4], mask[4]; /* an instruction of n bytes */
    } before[] = {
        { 4, { 0xf3, 0x0f, 0x1e, 0xfa }, { 255, 255, 255, 255 } }, /* endbr64 */
        { 1, { 0x50 }, { 0xf8 } },                                 /* push */
        { 2, { 0x41, 0x50 }, { 255, 0xf8 } },
        { 3, { 0x48, 0x89, 0xc0 }, { 0xfb, 255, 0xc0 } }, /* mov between registers */
        { 4, { 0x48, 0x83, 0xec }, { 255, 255, 255 } },   /* sub $n, %rsp */
        { 7, { 0x48, 0x8d, 0x05 }, { 0xfb, 255, 0xc7 } }, /* lea of an address */
    };
    for (size_t k = 0; k < sizeof before / sizeof *before;) {
        bool is = true;
        for (size_t i = 0; i < 4; i++)
            is &= (p[i] & before[k].mask[i]) == before[k].byte[i];
        p += is ? before[k].n : 0;
        k = is ? 0 : k + 1;
    }
    int32_t by;
    memcpy(&by, p + 1, sizeof by);
    return *p == 0xe8 && p + 5 + by == fn;
}
#else
static bool calls_first(const uint8_t *p, const uint8_t *fn)
{
    return (void)p, (void)fn, false;
}
#endif

/* The same without names: of its constructors, those that register a fatbin. */
static void find_unnamed(const struct object *m, uint8_t *base, const uint8_t *registers,
                         struct late *late)
{
    const Elf64_Shdr *s = object_section(m, ".init_array");
    void *const *fn = s ? (void *const *)(void *)(base + s->sh_addr) : NULL;
    for (size_t i = 0; fn && i < s->sh_size / sizeof *fn && late->n < CALLS_MOST; i++)
        if (fn[i] && calls_first(fn[i], registers))
            *(void **)&late->fn[late->n++] = fn[i];
}

/* late NULL: at the start. */
static void look_into(const struct object *m, uint8_t *base, const char *path, struct late *late)
{
    const Elf64_Shdr *symtab = object_section(m, ".symtab");
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    if (strncmp(file, "libnvJitLink.so", 15) == 0) {
        replace_linker(m, base);
        return;
    }
    if (strncmp(file, "libcudart.so", 12) == 0) {
        symtab = object_section(m, ".dynsym");
        if (symtab)
            replace_all(m, symtab, base);
        return;
    }
    bool kernels = object_section(m, ".nv_fatbin") || object_section(m, ".nvFatBinSegment");
    if (kernels)
        note_shared(m);
    struct replaced done = { 0 };
    if (kernels || has_runtime(m, symtab))
        done = replace_all(m, symtab, base);
    if (done.n && late)
        find_registering(m, symtab, base, late);
    if (!done.n) {
        done = replace_stripped(m, base, path);
        if (done.registers && late)
            find_unnamed(m, base, done.registers, late);
    }
    if (!done.n && !late && kernels && !is_imported(m)) /* of what comes later, cuGetExportTable tells */
        say_stripped(path);
}

static bool is_own(uintptr_t base)
{
    Dl_info own;
    return dladdr((void *)(uintptr_t)runtime_version, &own) && (uintptr_t)own.dli_fbase == base;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *late)
{
    struct object m;
    const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    (void)size;
    if (is_own(info->dlpi_addr) || !object_open(path, &m))
        return 0;
    look_into(&m, (uint8_t *)info->dlpi_addr, path, late);
    object_close(&m);
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
