/* The module that a command works on, from whatever the file is. */
#include "engine/workspace/source.h"

#include "engine/container/container.h"
#include "engine/ptx/link.h"
#include "engine/ptx/ptx.h"
#include "engine/session/preset.h"
#include "engine/sim/preset.h"
#include "engine/workspace/args.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_PRESET "hopper-h200"

/* Compute capability of the simulated device that is asked for; 0: a GPU, which is not open yet. */
static uint32_t capability(const char *device)
{
    static const char prefix[] = "sim:";
    struct diags none = { 0 };
    struct sim_preset p;
    char name[512];
    if (device && strncmp(device, prefix, sizeof prefix - 1) != 0 && !strstr(device, ".json"))
        return 0;
    snprintf(name, sizeof name, "%s",
             !device                                           ? DEFAULT_PRESET
             : strncmp(device, prefix, sizeof prefix - 1) == 0 ? device + sizeof prefix - 1
                                                               : device);
    name[strcspn(name, "+,")] = 0;
    bool known = preset_read(NULL, name, &p, &none) == ST_OK;
    diags_free(&none);
    return known ? (uint32_t)(p.cc_major * 10 + p.cc_minor) : 0;
}

struct source_want source_wanted(const struct args *a)
{
    return (struct source_want){ .kernel = a->kernel,
                                 .arch = a->arch,
                                 .cc = capability(a->devices ? a->devices : a->device),
                                 .nvcc_flags = a->nvcc_flags };
}

/* ---- the one of several ---- */
struct choosing {
    const struct container *c;
    const struct source_want *w;
    const size_t *v; /* indices of PTX modules for the device */
    size_t n;
    size_t with;   /* of these, with kernels */
    size_t taken;  /* the first that has the kernel; SIZE_MAX: none */
    size_t others; /* further ones that have it */
};

/* A kernel of the listing that people may mean; the real lookup is ptx_find_entry's. */
static bool names_kernel(const struct source_listing *l, const char *said)
{
    size_t n = said ? strcspn(said, "<(") : 0;
    const char *from = said;
    for (const char *p = said; p && p < said + n; p++)
        if (*p == ':')
            from = p + 1;
    struct buf word = { 0 };
    bool found = !said && l->n;
    buf_put(&word, from ? from : "", said ? (size_t)(said + n - from) : 0);
    for (size_t i = 0; said && !found && i < l->n; i++)
        found = strcmp(l->kernel[i].name, said) == 0 ||
                (word.n && strstr(l->kernel[i].name, word.s) != NULL);
    buf_free(&word);
    return found;
}

static bool has_kernel(const struct container_module *m, const char *said, struct diags *ds)
{
    struct ptx_module *read = NULL;
    struct buf several = { 0 };
    struct diags none = { 0 };
    (void)ds;
    ptx_parse(m->where, (struct str){ m->text, m->n }, &read, &none);
    bool has = read && (ptx_find_entry(read, str_of(said), &several) || several.n);
    buf_free(&several);
    diags_free(&none);
    ptx_free(read);
    return has;
}

static enum status choose(struct choosing *q, struct diags *ds)
{
    q->taken = SIZE_MAX;
    for (size_t i = 0; i < q->n; i++) {
        const struct container_module *m = &q->c->v[q->v[i]];
        struct source_listing l;
        if (!source_list(m->text, m->n, &l))
            return ST_NOMEM;
        bool may = names_kernel(&l, q->w->kernel);
        q->with += l.n != 0;
        source_listing_free(&l);
        if (!may || (q->taken != SIZE_MAX && !q->w->kernel))
            continue;
        if (q->w->kernel && !has_kernel(m, q->w->kernel, ds))
            continue;
        q->others += q->taken != SIZE_MAX;
        q->taken = q->taken == SIZE_MAX ? q->v[i] : q->taken;
    }
    return ST_OK;
}

static bool only_in_machine_code(const struct container *c, const char *said)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->v[i].nkernels; k++)
            if (strstr(c->v[i].kernel[k], said))
                return true;
    return false;
}

static enum status say_missing(const struct choosing *q, const char *path, struct diags *ds)
{
    const char *said = q->w->kernel;
    struct diag *d;
    if (said && only_in_machine_code(q->c, said)) {
        d = diag_add(ds, DIAG_ERROR, "no-ptx", path, NO_SPAN,
                     "'%s' exists only as machine code (SASS), without PTX", said);
        diag_hint(d, "compile with PTX: nvcc -gencode arch=compute_90,code=compute_90");
    } else {
        d = diag_add(ds, DIAG_ERROR, "kernel", path, NO_SPAN,
                     said ? "no kernel '%s' in it (modules: %zu)" : "no kernel%s in it (modules: %zu)",
                     said ? said : "", q->n);
        diag_hint(d, "gpulocw list %s lists the kernels", path);
    }
    return ST_INPUT;
}

static void say_taken(const struct choosing *q, const char *path, struct diags *ds)
{
    const struct container_module *m = &q->c->v[q->taken];
    struct diag *d;
    if (q->with < 2 && !q->others)
        return;
    d = diag_add(ds, DIAG_NOTE, "module", m->where, NO_SPAN,
                 q->w->kernel ? "%zu modules have kernels; using the first with '%s'"
                              : "%zu modules have kernels; using the first%s",
                 q->with, q->w->kernel ? q->w->kernel : "");
    diag_hint(d, "-k selects another kernel; gpulocw list %s lists them all", path);
}

static void say_options(const struct container_module *m, struct diags *ds)
{
    const char *limit = m->options ? strstr(m->options, "-maxrregcount") : NULL;
    if (!limit)
        return;
    unsigned n = 0;
    sscanf(limit + strlen("-maxrregcount"), "%*[= ]%u", &n);
    struct diag *d = diag_add(ds, DIAG_NOTE, "options", m->where, NO_SPAN,
                              "the program was compiled with %s", m->options + strspn(m->options, " "));
    if (n)
        diag_hint(d, "--maxnreg %u gives this PTX the same limit", n);
}

/* ---- texts of a program ---- */
struct texts {
    struct ptx_link_input *in;
    size_t n, cap;
    size_t files;    /* that the program is of */
    size_t programs; /* of these, how many are no libraries */
    bool library;    /* what is added now: taken where the program lacks it */
};
static enum status add_text(struct texts *t, const char *name, char *text, size_t n)
{
    char *own = base_strdup(name);
    if (own && base_grow((void **)&t->in, t->n, &t->cap, sizeof *t->in)) {
        t->in[t->n++] = (struct ptx_link_input){ own, text, n, t->library };
        return ST_OK;
    }
    BASE_FREE(own, text);
    return ST_NOMEM;
}

static void free_texts(struct texts *t)
{
    for (size_t i = 0; i < t->n; i++) {
        BASE_FREE((char *)(uintptr_t)t->in[i].name, (char *)(uintptr_t)t->in[i].text);
    }
    base_free(t->in);
}

/* Does a text declare a function of another module? What the device runtime brings is none. */
static bool needs_others(const struct container_module *m)
{
    static const char word[] = ".extern .func";
    for (const char *p = m->text, *end = m->text + m->n; (p = strstr(p, word)) && p < end;) {
        p += sizeof word - 1;
        p += strspn(p, " \t");
        if (*p == '(')
            p += strcspn(p, ")") + 1;
        p += strspn(p, " \t\r\n");
        if (!ptx_link_runtime((struct str){ p, strcspn(p, " \t\r\n(;") }))
            return true;
    }
    return false;
}

static enum status add_module(struct texts *t, struct container_module *m)
{
    char *text = m->text;
    m->text = NULL;
    return add_text(t, m->where, text, m->n);
}

static enum status read_container(const char *path, const struct source_want *w, struct texts *t,
                                  struct diags *ds)
{
    struct container c;
    struct choosing q = { .c = &c, .w = w };
    size_t *v = NULL;
    enum status st = container_read(path, &c, ds);
    if (st == ST_OK) {
        struct container_want cw = { w->arch, w->cc };
        st = container_choose(&c, &cw, &v, &q.n, ds);
        q.v = v;
    }
    if (st == ST_OK)
        st = choose(&q, ds);
    t->library = q.taken == SIZE_MAX;
    t->programs += !t->library;
    if (st == ST_OK && t->library && !t->programs && t->files == 1)
        st = say_missing(&q, path, ds);
    if (st == ST_OK) {
        bool all = t->library || needs_others(&c.v[q.taken]);
        if (!t->library)
            say_options(&c.v[q.taken], ds);
        if (!all)
            say_taken(&q, path, ds);
        for (size_t i = 0; i < q.n && st == ST_OK; i++)
            if (all || v[i] == q.taken)
                st = add_module(t, &c.v[v[i]]);
    }
    base_free(v);
    container_free(&c);
    return st;
}

static enum status read_texts(const char *path, const struct source_want *w, struct texts *t,
                              struct diags *ds)
{
    char *text = NULL;
    size_t n = 0;
    bool cuda = source_is_cuda(path);
    if (!cuda && container_is(path))
        return read_container(path, w, t, ds);
    t->library = false;
    t->programs++;
    enum status st = cuda ? source_compile(path, w, &text, &n, ds)
                          : file_read(path, CONTAINER_MOST_TEXT, &text, &n, ds);
    return st == ST_OK ? add_text(t, path, text, n) : st;
}

static enum status say_no_program(const char *const *path, size_t n, const char *said, struct diags *ds)
{
    struct diag *d =
        diag_add(ds, DIAG_ERROR, "kernel", path[0], NO_SPAN,
                 said ? "no kernel '%s' in these %zu files" : "no kernel%s in these %zu files",
                 said ? said : "", n);
    diag_hint(d, "gpulocw list FILE lists the kernels of a file");
    return ST_INPUT;
}

/* The program is called as the file that it is of, so that its name opens it again. */
static enum status name_file(struct ptx_module *m, const char *path)
{
    char *own = arena_dup(m->arena, str_of(path));
    m->path = own ? own : m->path;
    return own ? ST_OK : ST_NOMEM;
}

enum status source_read(const char *const *path, size_t n, const struct source_want *w,
                        struct ptx_module **out, struct diags *ds)
{
    struct texts t = { .files = n };
    size_t taken = 0;
    enum status st = ST_OK;
    *out = NULL;
    for (size_t i = 0; i < n && st == ST_OK; i++)
        st = read_texts(path[i], w, &t, ds);
    if (st == ST_OK && !t.programs)
        st = say_no_program(path, n, w->kernel, ds);
    if (st == ST_OK)
        st = ptx_link_take(t.in, t.n, &taken, ds);
    if (st == ST_OK && taken == 1)
        st = ptx_parse(t.n == 1 ? path[0] : t.in[0].name, (struct str){ t.in[0].text, t.in[0].length },
                       out, ds);
    else if (st == ST_OK)
        st = ptx_link(t.in, taken, out, ds);
    free_texts(&t);
    return *out && n == 1 ? name_file(*out, path[0]) == ST_OK ? st : ST_NOMEM : st;
}

enum status source_open(void *unused, const char *path, const char *kernel, unsigned cc,
                        struct ptx_module **out, struct diags *ds)
{
    const struct source_want w = { .kernel = kernel, .cc = cc };
    (void)unused;
    return source_read(&path, 1, &w, out, ds);
}
