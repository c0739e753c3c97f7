/* libFuzzer target: images that a program hands to cuModuleLoadData, cuLibraryLoadData and the linker, by their
 * length: as they are, in a wrapper of the compiler, as two inputs of the linker, and as what the linker made. They end where nothing may be
 * read. Whatever the bytes, there is a module, or an error that the driver has for images. */
#include "engine/container/container.h"
#include "engine/dev/card.h"
#include "engine/emulate/runtime/handles.c"
#include "engine/emulate/runtime/image.c"
#include "engine/session/preset.h"
#include "engine/sim/preset.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
struct card_code *module_open(struct card *m, const uint8_t *parts, uint64_t bytes, uint64_t nparts,
                              int *error, struct diags *ds);

enum { ROOM = 65536, CARD_LASTS = 64 };
static struct {
    uint8_t *parts;
    size_t n;
    uint64_t nparts;
    struct card *card;
    unsigned used;
} S;

static void must(bool good)
{
    if (!good)
        abort();
}

/* ---- the device's end ---- */
static struct card *card(void)
{
    struct diags ds = { 0 };
    static struct sim_preset p;
    if (S.used++ % CARD_LASTS == 0) {
        card_free(S.card);
        must(preset_read(NULL, "hopper-h200", &p, &ds) == ST_OK &&
             card_new(&p, 1 << 20, 1, &S.card, &ds) == ST_OK);
    }
    return S.card;
}

void tell(enum wire_kind kind, const void *record, size_t n, const void *bytes, size_t more)
{
    struct wire_module m;
    must(kind == WIRE_MODULE && n == sizeof m);
    memcpy(&m, record, sizeof m);
    free(S.parts);
    S.parts = malloc(more + 1);
    must(S.parts != NULL);
    if (more)
        memcpy(S.parts, bytes, more);
    S.n = more;
    S.nparts = m.parts;
}

bool ask(enum wire_kind kind, const void *record, size_t n, const void *bytes, size_t more, void *answer,
         size_t size, void **rest, size_t *nrest)
{
    struct wire_opened *o = answer;
    struct diags ds = { 0 };
    (void)record, (void)n, (void)bytes, (void)more;
    must(kind == WIRE_OPEN && size == sizeof *o);
    *o = (struct wire_opened){ 0 };
    const struct card_code *code = module_open(card(), S.parts, S.n, S.nparts, &o->error, &ds);
    must((code != NULL) == (o->error == 0));
    diags_free(&ds);
    *rest = calloc(1, 1);
    *nrest = 0;
    return *rest;
}

uint64_t module_number(void)
{
    return 0;
}

cudaError_t sticky(void)
{
    return cudaSuccess;
}

struct kernel *kernel_named(uint64_t module, const char *name, cudaError_t *error)
{
    (void)module, (void)name;
    *error = cudaErrorInvalidDeviceFunction;
    return NULL;
}

void kernels_forget(uint64_t module)
{
    (void)module;
}

/* ---- the program's end ---- */
static void known(cudaError_t e)
{
    must(e == 0 || e == 2 || e == 200 || e == 209 || e == 218);
}

static void open_one(const void *data)
{
    struct image *m = NULL;
    struct image_log log = { 0 };
    cudaError_t e = image_open(data, NULL, &m, &log);
    known(e);
    must((m != NULL) == (e == 0));
    if (m)
        image_close(m);
    free(log.text);
}

static void link_two(const uint8_t *data, size_t size)
{
    struct image_parts p = { 0 };
    struct image_log log = { 0 };
    void *image = NULL;
    size_t n = 0;
    cudaError_t e = image_add(&p, data, size / 2);
    e = e ? e : image_add(&p, data + size / 2, size - size / 2);
    known(e);
    e = e ? e : image_link(&p, &image, &n, &log);
    known(e);
    must((image != NULL) == (e == 0));
    if (image)
        open_one(image);
    free(image);
    free(p.p);
    free(log.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t *page;
    if (!page) {
        page = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        must(page != MAP_FAILED && mprotect(page + ROOM, 4096, PROT_NONE) == 0);
    }
    if (!size || size > ROOM - sizeof(struct linked))
        return 0;
    uint8_t *at = page + ROOM - size;
    memcpy(at, data, size);
    const struct wrapper w = { WRAPPER, 1, at, NULL };
    const struct linked l = { LINKED_MARK, size, 1 + size / 4 % 4, 0 };
    switch (size % 4) {
    case 1: open_one(&w); break;
    case 2: link_two(at, size); break;
    case 3:
        memcpy(at - sizeof l, &l, sizeof l);
        open_one(at - sizeof l);
        break;
    default: open_one(at); break;
    }
    return 0;
}
