/* PTX that became machine code inside the program: NVRTC's, and the inputs of linkers. It is kept by the
 * hash of the machine code, which the driver gets as an image. */
#include "engine/dev/inject/made.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MADE = 4096, MOST_LINKS = 256, HEAD = 16, ENTRY = 64 };

/* The lock guards both tables. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t hash;
    char *ptx;
    size_t n;
    bool lto;
} made[MOST_MADE];
static size_t nmade;
static struct link {
    const void *state;
    char *ptx; /* containers with one text each: they are one program */
    size_t n;
    bool lto;
} links[MOST_LINKS];

static void keep(const void *cubin, char *ptx, size_t n, bool lto)
{
    if (nmade == MOST_MADE || (!ptx && !lto)) {
        free(ptx);
        return;
    }
    made[nmade].hash = image_hash(cubin);
    made[nmade].ptx = ptx;
    made[nmade].lto = lto;
    made[nmade++].n = n;
}

void made_keep(const void *cubin, char *ptx, size_t n, bool lto)
{
    pthread_mutex_lock(&lock);
    keep(cubin, ptx, n, lto);
    pthread_mutex_unlock(&lock);
}

void made_look(const void *code, struct image *m)
{
    image_look(code, m);
    if (!m->hash || m->ncopy)
        return; /* only an ELF file has a hash and no PTX */
    pthread_mutex_lock(&lock);
    size_t i = nmade;
    while (i > 0 && made[i - 1].hash != m->hash)
        i--;
    if (i > 0) {
        m->lto = made[i - 1].lto;
        m->ptx = made[i - 1].ptx;
        if (m->ptx)
            image_keep(m, made[i - 1].ptx, made[i - 1].n);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- linkers ---- */
static void put(unsigned char *to, uint64_t v, size_t n)
{
    memcpy(to, &v, n);
}

static struct link *link_of(const void *state, bool make)
{
    struct link *l = NULL;
    for (size_t k = 0; k < MOST_LINKS; k++) {
        if (links[k].state == state)
            return &links[k];
        l = l || links[k].state ? l : &links[k];
    }
    if (!make || !l)
        return NULL;
    *l = (struct link){ .state = state };
    return l;
}

static unsigned char *grow(struct link *l, size_t n)
{
    char *more = realloc(l->ptx, l->n + n);
    if (!more)
        return NULL;
    l->ptx = more;
    l->n += n;
    return memset(more + l->n - n, 0, n);
}

/* The text as an entry of a container of its own. */
static void add_text(struct link *l, const char *text, size_t n)
{
    size_t padded = (n + 8) / 8 * 8;
    unsigned char *c = grow(l, HEAD + ENTRY + padded);
    if (!c)
        return;
    memcpy(c + HEAD + ENTRY, text, n);
    const char *target = strstr((const char *)c + HEAD + ENTRY, ".target sm_");
    put(c, 0xba55ed50u, 4), put(c + 4, 1, 2), put(c + 6, HEAD, 2), put(c + 8, ENTRY + padded, 8);
    put(c + 16, 1, 2), put(c + 18, 0x101, 2), put(c + 20, ENTRY, 4), put(c + 24, padded, 8);
    put(c + 44, target ? (uint64_t)atoi(target + strlen(".target sm_")) : 0, 4), put(c + 56, 0x11, 8);
}

static void add_fatbin(struct link *l, const void *data)
{
    struct image m = { 0 };
    image_look(data, &m);
    unsigned char *c = m.ncopy ? grow(l, m.ncopy) : NULL;
    if (c)
        memcpy(c, m.copy, m.ncopy);
    l->lto |= m.lto;
    free(m.copy);
}

static bool starts(const char *data, size_t n, uint32_t magic)
{
    return n >= sizeof magic && memcmp(data, &magic, sizeof magic) == 0;
}

static enum made_input kind_of(const char *data, size_t n)
{
    if (starts(data, n, 0xba55ed50u) || starts(data, n, 0x466243b1u))
        return MADE_FATBIN;
    if (starts(data, n, 0x464c457fu) || starts(data, n, 0x72613c21u /* an archive */))
        return MADE_OTHER;
    return n && memchr(data, 0, n - 1) ? MADE_LTO : MADE_PTX; /* LTO-IR is no text */
}

void made_link_add(const void *state, enum made_input kind, const char *data, size_t n)
{
    if (kind == MADE_OTHER || !data)
        return;
    if (kind == MADE_ANY)
        kind = kind_of(data, n);
    pthread_mutex_lock(&lock);
    struct link *l = link_of(state, true);
    if (l && kind == MADE_PTX)
        add_text(l, data, strnlen(data, n));
    if (l && kind == MADE_FATBIN && n >= HEAD)
        add_fatbin(l, data);
    if (l)
        l->lto |= kind == MADE_LTO;
    pthread_mutex_unlock(&lock);
}

void made_link_add_file(const void *state, enum made_input kind, const char *path)
{
    size_t n = 0;
    char *text = kind != MADE_OTHER && path ? image_file(path, &n) : NULL;
    if (text)
        made_link_add(state, kind, text, n);
    free(text);
}

void made_link_made(const void *state, const void *cubin)
{
    pthread_mutex_lock(&lock);
    struct link *l = link_of(state, false);
    if (l && cubin && memcmp(cubin, "\177ELF", 4) == 0) {
        keep(cubin, l->ptx, l->n, l->lto);
        memset(l, 0, sizeof *l);
    }
    pthread_mutex_unlock(&lock);
}

void made_link_drop(const void *state)
{
    pthread_mutex_lock(&lock);
    struct link *l = state ? link_of(state, false) : NULL;
    if (l) {
        free(l->ptx);
        memset(l, 0, sizeof *l);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the driver's linker ---- */
struct link_data_call {
    void *state;
    int type;
    const char *data;
    size_t n;
};
struct link_file_call {
    void *state;
    int type;
    const char *path;
};
struct link_end_call {
    void *state;
    void **cubin;
    size_t *n;
};

/* CUjitInputType: machine code, PTX, fatbin, object, library, LTO-IR. */
static enum made_input input_of(int type)
{
    static const uint8_t KINDS[] = {
        MADE_OTHER, MADE_PTX, MADE_FATBIN, MADE_OTHER, MADE_OTHER, MADE_LTO
    };
    return type >= 0 && (size_t)type < sizeof KINDS ? (enum made_input)KINDS[type] : MADE_OTHER;
}

static void link_data(const struct call *c)
{
    const struct link_data_call *p = c->params;
    made_link_add(p->state, input_of(p->type), p->data, p->n);
}

static void link_file(const struct call *c)
{
    const struct link_file_call *p = c->params;
    made_link_add_file(p->state, input_of(p->type), p->path);
}

static void link_end(const struct call *c)
{
    const struct link_end_call *p = c->params;
    made_link_made(p->state, p->cubin ? *p->cubin : NULL);
}

static void link_drop(const struct call *c)
{
    made_link_drop(*(void *const *)c->params);
}

const struct other_call made_calls[] = {
    { 363, AFTER, link_data },  /* cuLinkAddData */
    { 382, AFTER, link_data },  /* cuLinkAddData_v2 */
    { 364, AFTER, link_file },  /* cuLinkAddFile */
    { 383, AFTER, link_file },  /* cuLinkAddFile_v2 */
    { 365, AFTER, link_end },   /* cuLinkComplete */
    { 366, BEFORE, link_drop }, /* cuLinkDestroy */
    { 0, BEFORE, NULL },
};
