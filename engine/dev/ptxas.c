/* One run of ptxas for each text that a device loads; 20 to 70 ms for kernels of a hundred lines. */
#include "engine/dev/ptxas.h"

#include "engine/base/private_folder.h"
#include "engine/base/tool.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SAID 60000u /* bytes of its words that are read */

struct answer {
    uint64_t key;
    bool told;
    struct ptxas_said said;
};
struct ptxas {
    char *path;
    pthread_mutex_t lock; /* of what follows */
    char version[24];     /* empty: not asked for yet */
    struct answer *v;
    size_t n, cap;
};

/* ---- what it says ---- */
/* The number before this word in a line; -1: it does not stand there. */
static int before(struct str line, const char *word)
{
    const char *at = memmem(line.s, line.n, word, strlen(word));
    while (at && at > line.s && at[-1] == ' ')
        at--;
    const char *from = at;
    while (from && from > line.s && isdigit((unsigned char)from[-1]))
        from--;
    return at && from < at ? (int)strtol(from, NULL, 10) : -1;
}

static void keep(int *to, int v)
{
    *to = v >= 0 ? v : *to;
}

static void add(int *to, int v)
{
    *to = v < 0 ? *to : *to < 0 ? v : *to + v;
}

/* What follows `head` is this name and an end. */
static bool names(struct str line, const char *head, const char *name)
{
    const char *at = memmem(line.s, line.n, head, strlen(head));
    if (!at)
        return false;
    struct str rest = { at + strlen(head), line.n - (size_t)(at - line.s) - strlen(head) };
    size_t n = strlen(name);
    return rest.n >= n && !memcmp(rest.s, name, n) && (rest.n == n || rest.s[n] == '\'');
}

/* A kernel's lines begin with its name; those of functions that it calls follow, with their own. */
void ptxas_read_said(const char *said, const char *kernel, struct ptxas_said *out)
{
    struct str rest = str_of(said), line;
    bool within = false, own = true;
    *out = (struct ptxas_said){ -1, -1, -1, -1, -1 };
    while (str_line(&rest, &line)) {
        if (memmem(line.s, line.n, "Compiling entry function '", 26))
            within = own = names(line, "entry function '", kernel);
        else if (memmem(line.s, line.n, "Function properties for ", 24))
            own = names(line, "properties for ", kernel);
        if (!within)
            continue;
        if (own)
            keep(&out->stack, before(line, "bytes stack frame"));
        add(&out->spill_stores, before(line, "bytes spill stores"));
        add(&out->spill_loads, before(line, "bytes spill loads"));
        keep(&out->registers, before(line, "registers"));
        keep(&out->shared, before(line, "bytes smem"));
        keep(&out->stack, before(line, "bytes cumulative stack size"));
    }
}

/* ---- finding it ---- */
/* "Cuda compilation tools, release 13.0, V13.0.88" */
static void read_version(struct ptxas *p)
{
    char *line[] = { p->path, program_word("--version"), NULL }, *said = NULL;
    bool ok = program_listen(line, MOST_SAID, &said) == 0;
    const char *v = ok ? strstr(said, ", V") : NULL;
    size_t n = v ? strspn(v + 3, "0123456789.") : 0;
    snprintf(p->version, sizeof p->version, "%.*s", n ? (int)n : 7, n ? v + 3 : "unknown");
    base_free(said);
}

struct ptxas *ptxas_new(void)
{
    struct ptxas *p = base_alloc(sizeof *p);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    p->path = program_find("ptxas");
    if (p->path)
        return p;
    ptxas_free(p);
    return NULL;
}

void ptxas_free(struct ptxas *p)
{
    if (!p)
        return;
    pthread_mutex_destroy(&p->lock);
    BASE_FREE(p->path, p->v, p);
}

const char *ptxas_version(struct ptxas *p)
{
    pthread_mutex_lock(&p->lock);
    if (!*p->version)
        read_version(p);
    pthread_mutex_unlock(&p->lock);
    return p->version;
}

/* ---- asking it ---- */
/* Does the text want features of one architecture alone (.target sm_90a)? */
static bool wants_all(struct str text)
{
    struct str rest = text, line;
    while (str_line(&rest, &line)) {
        line = str_trim(line);
        if (line.n < 8 || memcmp(line.s, ".target", 7) != 0)
            continue;
        size_t n = 7;
        while (n < line.n && isspace((unsigned char)line.s[n]))
            n++;
        while (n < line.n && (isalnum((unsigned char)line.s[n]) || line.s[n] == '_'))
            n++;
        return line.s[n - 1] == 'a';
    }
    return false;
}

static bool compile(const struct ptxas *p, const struct ptxas_want *w, const char *ptx,
                    const char *kernel, struct ptxas_said *out)
{
    char arch[32], most[48], *said = NULL;
    snprintf(arch, sizeof arch, "-arch=sm_%d%d%s", w->cc_major, w->cc_minor,
             wants_all(w->text) ? "a" : "");
    snprintf(most, sizeof most, "-maxrregcount=%d", w->maxnreg);
    char *line[] = { p->path,
                     arch,
                     program_word("-v"),
                     program_word("-o"),
                     program_word("/dev/null"),
                     program_word("-e"),
                     program_word(kernel),
                     program_word(ptx),
                     w->maxnreg > 0 ? most : NULL,
                     NULL };
    bool ok = program_listen(line, MOST_SAID, &said) == 0;
    if (ok)
        ptxas_read_said(said, kernel, out);
    base_free(said);
    return ok && out->registers > 0;
}

static bool run(const struct ptxas *p, const struct ptxas_want *w, struct ptxas_said *out)
{
    struct buf ptx = { 0 }, kernel = { 0 };
    char *folder = NULL;
    buf_put(&kernel, w->kernel.s, w->kernel.n);
    bool ok = !kernel.oom && kernel.n && private_folder_make(&folder, NULL) == ST_OK &&
              private_folder_put(folder, "kernel.ptx", w->text.s, w->text.n, &ptx, NULL) == ST_OK &&
              compile(p, w, ptx.s, kernel.s, out);
    private_folder_remove(folder);
    buf_free(&ptx);
    buf_free(&kernel);
    return ok;
}

static uint64_t key_of(const struct ptxas_want *w)
{
    uint64_t part[] = { base_hash(w->text.s, w->text.n), base_hash(w->kernel.s, w->kernel.n),
                        (uint64_t)w->cc_major, (uint64_t)w->cc_minor, (uint64_t)w->maxnreg };
    return base_hash(part, sizeof part);
}

static bool remembered(struct ptxas *p, uint64_t key, struct answer *out)
{
    bool found = false;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n && !found; i++) {
        found = p->v[i].key == key;
        *out = p->v[i];
    }
    pthread_mutex_unlock(&p->lock);
    return found;
}

static void remember(struct ptxas *p, const struct answer *a)
{
    pthread_mutex_lock(&p->lock);
    if (base_grow((void **)&p->v, p->n, &p->cap, sizeof *p->v))
        p->v[p->n++] = *a;
    pthread_mutex_unlock(&p->lock);
}

bool ptxas_ask(struct ptxas *p, const struct ptxas_want *w, struct ptxas_said *out)
{
    struct answer a = { .key = key_of(w) };
    if (!remembered(p, a.key, &a)) {
        a = (struct answer){ .key = key_of(w) };
        a.told = run(p, w, &a.said);
        remember(p, &a);
    }
    *out = a.said;
    return a.told;
}
