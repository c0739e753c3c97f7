/* Modules from memory: copied without trusting what their heads say, and opened by the device at once. */
#include "engine/emulate/runtime/image.h"
#include "engine/emulate/runtime/context.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define WRAPPER 0x466243b1u
#define LINKED_MARK \
    "gpulocw-linked\n" /* of what image_link makes: this, bytes and number of the parts */
#define MOST (UINT64_C(2) << 30)

enum { BAD_IMAGE = 200, NOT_FOUND = 500 };
struct linked {
    char mark[16];
    uint64_t bytes, parts, registers;
};
static struct image *images;

/* ---- copies ---- */
/* n bytes that may not be there: the kernel looks, so that there is no fault. */
static bool copy_bytes(void *to, const void *from, size_t n)
{
    int f = memfd_create("gpulocw-image", MFD_CLOEXEC);
    size_t put = 0, got = 0;
    for (ssize_t k; f >= 0 && put < n; put += (size_t)k)
        if ((k = pwrite(f, (const char *)from + put, n - put, (off_t)put)) <= 0)
            break;
    for (ssize_t k; put == n && got < n; got += (size_t)k)
        if ((k = pread(f, (char *)to + got, n - got, (off_t)got)) <= 0)
            break;
    if (f >= 0)
        close(f);
    return f >= 0 && put == n && got == n;
}

/* Up to its zero byte; 0: it has none, or is empty. */
static uint64_t text_bytes(const char *p)
{
    char part[4096];
    int f = memfd_create("gpulocw-image", MFD_CLOEXEC);
    uint64_t n = 0, found = 0;
    for (ssize_t k; f >= 0 && !found && n < MOST; n += (uint64_t)k) {
        k = pwrite(f, p + n, sizeof part, 0);
        if (k <= 0 || pread(f, part, (size_t)k, 0) != k)
            break;
        const char *end = memchr(part, 0, (size_t)k);
        found = end ? n + (uint64_t)(end - part) : 0;
        if (end)
            break;
    }
    if (f >= 0)
        close(f);
    return found;
}

/* Bytes of an ELF file that its own tables say are there. */
static uint64_t elf_bytes(const void *p)
{
    Elf64_Ehdr h;
    if (!copy_bytes(&h, p, sizeof h) || h.e_ident[EI_CLASS] != ELFCLASS64)
        return 0;
    uint64_t n = h.e_shoff + (uint64_t)h.e_shnum * sizeof(Elf64_Shdr);
    if (h.e_shoff > MOST || n > MOST)
        return 0;
    uint64_t program = h.e_phoff > MOST ? 0 : h.e_phoff + (uint64_t)h.e_phnum * sizeof(Elf64_Phdr);
    n = n > program ? n : program;
    for (unsigned i = 0; i < h.e_shnum; i++) {
        Elf64_Shdr s;
        if (!copy_bytes(&s, (const char *)p + h.e_shoff + i * sizeof s, sizeof s))
            return 0;
        uint64_t end = s.sh_type == SHT_NOBITS ? 0 : s.sh_offset + s.sh_size;
        if (s.sh_offset > MOST || s.sh_size > MOST)
            return 0;
        n = n > end ? n : end;
    }
    return n;
}

/* How much there is, by its head; 0: it is no image. */
static uint64_t bytes_of(const void *data)
{
    union {
        char bytes[16];
        uint32_t magic;
    } head = { .bytes = { 0 } };
    if (!copy_bytes(head.bytes, data, 1))
        return 0;
    bool whole =
        copy_bytes(head.bytes, data, sizeof head.bytes); /* else a short text, at a page's end */
    uint64_t fatbin = whole ? fatbin_bytes(head.bytes) : 0;
    if (fatbin)
        return fatbin;
    if (whole && memcmp(head.bytes, ELFMAG, SELFMAG) == 0)
        return elf_bytes(data);
    return text_bytes(data);
}

cudaError_t image_add(struct image_parts *to, const void *data, size_t n)
{
    uint64_t size = n ? n : bytes_of(data);
    if (!size || size > MOST)
        return BAD_IMAGE;
    uint8_t *p = realloc(to->p, to->n + sizeof size + size);
    if (!p)
        return cudaErrorMemoryAllocation;
    to->p = p;
    memcpy(p + to->n, &size, sizeof size);
    if (!copy_bytes(p + to->n + sizeof size, data, size))
        return BAD_IMAGE;
    to->n += sizeof size + size;
    to->parts++;
    return cudaSuccess;
}

/* ---- what the program hands over ---- */
struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *more;
};

static cudaError_t add_wrapped(struct image_parts *to, const struct wrapper *w)
{
    const void *one;
    if (w->version < 2 || !w->more)
        return image_add(to, w->data, 0);
    cudaError_t e = cudaSuccess;
    for (size_t i = 0; !e && i < 65536; i++) {
        if (!copy_bytes(&one, &w->more[i], sizeof one))
            return BAD_IMAGE;
        if (!one)
            break;
        e = image_add(to, one, 0);
    }
    return e;
}

static cudaError_t add_linked(struct image_parts *to, const void *data, const struct linked *l)
{
    if (!l->bytes || l->bytes > MOST)
        return BAD_IMAGE;
    to->p = malloc(l->bytes);
    to->n = l->bytes;
    to->parts = l->parts;
    to->registers = (uint32_t)l->registers;
    return to->p && copy_bytes(to->p, (const char *)data + sizeof *l, l->bytes) ? cudaSuccess
                                                                                : BAD_IMAGE;
}

static cudaError_t parts_of(const void *data, struct image_parts *to)
{
    struct wrapper w;
    struct linked l;
    if (copy_bytes(&w, data, sizeof w) && w.magic == WRAPPER)
        return add_wrapped(to, &w);
    if (copy_bytes(&l, data, sizeof l) && memcmp(l.mark, LINKED_MARK, sizeof l.mark) == 0)
        return add_linked(to, data, &l);
    return image_add(to, data, 0);
}

/* ---- opening ---- */
static cudaError_t ask_opened(struct image *m, struct image_log *log)
{
    struct wire_name r = { m->id };
    struct wire_opened o;
    void *rest;
    size_t n;
    if (!ask(WIRE_OPEN, &r, sizeof r, NULL, 0, &o, sizeof o, &rest, &n))
        return sticky();
    char *text = rest;
    if (o.names <= n && n - o.names)
        log->text = strndup(text + o.names, n - o.names);
    m->names = text;
    m->nkernels = o.names <= n ? o.kernels : 0;
    return o.error;
}

static cudaError_t open_parts(const struct image_parts *p, struct image *m, struct image_log *log)
{
    struct wire_module r = { m->id = module_number(), p->parts };
    tell(WIRE_MODULE, &r, sizeof r, p->p, p->n);
    return ask_opened(m, log);
}

static void image_free(struct image *m)
{
    if (m && !m->of)
        free(m->names);
    free(m);
}

static cudaError_t keep(struct image *m, struct image **out)
{
    if (!handle_add(m, m->owner ? HANDLE_MODULE : HANDLE_LIBRARY)) {
        image_free(m);
        return cudaErrorMemoryAllocation;
    }
    m->next = images;
    images = m;
    *out = m;
    return cudaSuccess;
}

cudaError_t image_open(const void *data, const struct context *owner, struct image **out,
                       struct image_log *log)
{
    struct image_parts p = { 0 };
    struct image *m = calloc(1, sizeof *m);
    cudaError_t e = !m ? cudaErrorMemoryAllocation : data ? parts_of(data, &p) : cudaErrorInvalidValue;
    if (!e) {
        m->owner = owner;
        m->registers = p.registers;
        e = open_parts(&p, m, log);
    }
    free(p.p);
    if (!e)
        return keep(m, out);
    image_free(m);
    return e;
}

char *image_read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rbe");
    char *p = NULL;
    *n = 0;
    for (size_t cap = 0, k = 1; f && k; *n += k) {
        if (*n + 1 >= cap) {
            char *more = cap < MOST ? realloc(p, cap = cap ? 2 * cap : 65536) : NULL;
            if (!more)
                break;
            p = more;
        }
        k = fread(p + *n, 1, cap - *n - 1, f);
    }
    if (p)
        p[*n] = 0;
    if (f)
        fclose(f);
    return p;
}

cudaError_t image_open_file(const char *path, const struct context *owner, struct image **out,
                            struct image_log *log)
{
    enum { FILE_NOT_FOUND = 301 };
    size_t n;
    char *p = image_read_file(path, &n);
    if (!p)
        return FILE_NOT_FOUND;
    cudaError_t e = image_open(p, owner, out, log);
    free(p);
    return e;
}

struct image *image_within(struct image *library, const struct context *owner)
{
    struct image *m = images;
    while (m && (m->of != library || m->owner != owner))
        m = m->next;
    if (m)
        return m;
    m = malloc(sizeof *m);
    if (!m)
        return NULL;
    *m = *library;
    m->owner = owner;
    m->of = library;
    return keep(m, &m) == cudaSuccess ? m : NULL;
}

/* ---- closing ---- */
static void drop(struct image **at)
{
    struct image *m = *at;
    *at = m->next;
    handle_drop(m);
    if (!m->of)
        kernels_forget(m->id);
    image_free(m);
}

void image_close(struct image *m)
{
    for (struct image **at = &images; *at;)
        if ((*at)->of == m && m)
            drop(at);
        else
            at = &(*at)->next;
    for (struct image **at = &images; *at; at = &(*at)->next)
        if (*at == m) {
            drop(at);
            return;
        }
}

void images_forget(const struct context *c)
{
    for (struct image **at = &images; *at;)
        if ((*at)->owner == c)
            drop(at);
        else
            at = &(*at)->next;
}

/* ---- what is in it ---- */
cudaError_t image_kernel(const struct image *m, const char *name, struct kernel **out)
{
    cudaError_t e = NOT_FOUND;
    struct kernel *k = NULL;
    for (size_t i = 0; i < m->nkernels && !k; i++)
        if (strcmp(image_name(m, i), name) == 0 && !(k = kernel_named(m->id, name, &e)))
            return e;
    if (k) {
        k->owner = m->of ? NULL : m->owner;
        if (m->registers && k->facts.regs > m->registers)
            k->facts.regs = m->registers;
        *out = k;
    }
    return k ? cudaSuccess : NOT_FOUND;
}

cudaError_t image_variable(const struct image *m, const char *name, void **p, size_t *n)
{
    struct wire_name r = { m->id };
    struct wire_variable v;
    if (!ask(WIRE_VARIABLE, &r, sizeof r, name, strlen(name), &v, sizeof v, NULL, NULL))
        return sticky();
    if (v.error)
        return v.error == cudaErrorInvalidSymbol ? NOT_FOUND : v.error;
    if (p)
        *p = (void *)(uintptr_t)v.addr;
    if (n)
        *n = v.bytes;
    return cudaSuccess;
}

const char *image_name(const struct image *m, size_t i)
{
    const char *p = m->names;
    while (i--)
        p += strlen(p) + 1;
    return p;
}

struct image *image_of(const struct kernel *k)
{
    struct image *m = images;
    while (m && (m->id != k->module || m->of))
        m = m->next;
    return m;
}

/* ---- several as one ---- */
cudaError_t image_link(const struct image_parts *from, void **out, size_t *n, struct image_log *log)
{
    struct image tried = { 0 };
    struct linked l = { LINKED_MARK, from->n, from->parts, from->registers };
    cudaError_t e = open_parts(from, &tried, log);
    free(tried.names);
    char *p = e ? NULL : malloc(sizeof l + from->n);
    if (!p)
        return e ? e : cudaErrorMemoryAllocation;
    memcpy(p, &l, sizeof l);
    memcpy(p + sizeof l, from->p, from->n);
    *out = p;
    *n = sizeof l + from->n;
    return cudaSuccess;
}
