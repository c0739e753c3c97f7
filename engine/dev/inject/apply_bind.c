/* apply: the plan, which targets a function is, and the tuned kernel loaded beside it. */
#include "engine/dev/inject/apply.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- the plan ---- */
static char *text_of(const char *path)
{
    int f = open(path, O_RDONLY | O_CLOEXEC);
    struct stat s;
    char *text = f >= 0 && fstat(f, &s) == 0 ? malloc((size_t)s.st_size + 1) : NULL;
    ssize_t n = text ? read(f, text, (size_t)s.st_size) : -1;
    if (f >= 0)
        close(f);
    if (n < 0) {
        free(text);
        return NULL;
    }
    text[n] = 0;
    return text;
}

static bool seven(const char *line, unsigned grid[3], unsigned block[3], unsigned *shared)
{
    return sscanf(line + 1, "%u %u %u %u %u %u %u", &grid[0], &grid[1], &grid[2], &block[0], &block[1],
                  &block[2], shared) == 7;
}

static bool new_target(char *line)
{
    char *path = strchr(line + 2, ' ');
    if (!path || A.ntargets == MOST_TARGETS)
        return false;
    *path++ = 0;
    struct target *t = &A.target[A.ntargets++];
    t->name = strdup(line + 2);
    t->text = text_of(path);
    t->any = true;
    t->carveout = -1;
    return t->name && t->text;
}

static bool symbol_line(struct target *t, const char *line)
{
    bool zero = line[0] == 'Z';
    unsigned long long number;
    int at = 0;
    struct symbol *s = zero ? &t->zero[t->nzero] : &t->mirror[t->nmirror];
    if (sscanf(line + 1, "%llu %n", &number, &at) < 1 || !at ||
        (zero ? t->nzero == sizeof t->zero / sizeof *t->zero : t->nmirror == MOST_SYMBOLS))
        return false;
    *s = (struct symbol){ strdup(line + 1 + at), zero ? (size_t)number : 0, !zero && number };
    t->nzero += zero;
    t->nmirror += !zero;
    return s->name != NULL;
}

static bool plan_line(char *line)
{
    struct target *t = A.ntargets ? &A.target[A.ntargets - 1] : NULL;
    int at = 0;
    if (line[0] == 'M') {
        bool ok = sscanf(line + 1, "%d %u %n", &A.mode, &A.verify, &at) >= 2 && at;
        A.socket = ok ? strdup(line + 1 + at) : NULL;
        return A.socket != NULL;
    }
    if (line[0] == 'T')
        return new_target(line);
    if (!t)
        return line[0] == 0;
    switch (line[0]) {
    case 'O': t->any = false; return seven(line, t->grid, t->block, &t->shared);
    case 'N': return seven(line, t->tgrid, t->tblock, &t->tshared);
    case 'C': return sscanf(line + 1, "%d", &t->carveout) == 1;
    case 'B': t->code = text_of(line + 2); return true;
    case 'U': t->unsafe = true; return true;
    case 'W': t->whole = text_of(line + 2); return true;
    case 'Z':
    case 'S': return symbol_line(t, line);
    default: return line[0] == 0;
    }
}

bool apply_plan(void)
{
    char *text = text_of(getenv(LIVE_APPLY_VARIABLE)), *rest = text, *line = strsep(&rest, "\n");
    bool ok = line && strcmp(line, LIVE_APPLY_HEAD) == 0;
    while (ok && (line = strsep(&rest, "\n")))
        ok = plan_line(line);
    free(text);
    if (!ok)
        A.ntargets = 0; /* nothing is swapped by half a plan */
    return ok && A.socket && A.ntargets;
}

/* ---- which targets an image has ---- */
static bool dump_image(const struct image *m, char *path, size_t size)
{
    bool ok = true;
    snprintf(path, size, "-");
    if (m->copy && m->ncopy) {
        snprintf(path, size, "%s.%ld.%u", A.socket, (long)getpid(),
                 __atomic_add_fetch(&A.asked, 1, __ATOMIC_RELAXED));
        int f = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        ok = f >= 0;
        for (size_t at = 0; ok && at < m->ncopy;) {
            ssize_t n = write(f, m->copy + at, m->ncopy - at);
            ok = n > 0;
            at += ok ? (size_t)n : 0;
        }
        if (f >= 0)
            close(f);
    }
    return ok;
}

static int connected(void)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    struct timeval patience = { .tv_sec = 20 };
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0)
        return -1;
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    snprintf(to.sun_path, sizeof to.sun_path, "%s", A.socket);
    if (connect(s, (const struct sockaddr *)&to, sizeof to) == 0)
        return s;
    close(s);
    return -1;
}

uint64_t apply_ask(const struct image *m, const char *name, int *maxreg, uint64_t *whole)
{
    char path[4200], answer[96] = { 0 };
    unsigned long long mask = 0, all = 0;
    if (!dump_image(m, path, sizeof path))
        return 0;
    int s = connected();
    if (s < 0 ||
        dprintf(s, "%s %llu %llu %s\n", name, (unsigned long long)m->hash, (unsigned long long)m->bytes,
                path) <= 0 ||
        recv(s, answer, sizeof answer - 1, MSG_WAITALL) <= 0 ||
        sscanf(answer, "%llu %d %llu", &mask, maxreg, &all) != 3)
        mask = all = 0;
    if (s >= 0)
        close(s);
    if (path[0] == '/')
        unlink(path);
    *whole = all;
    return mask;
}

static struct bound *slot_of(const void *f, const void *context, int image)
{
    uint64_t h = (((uintptr_t)f ^ (uintptr_t)context << 7) >> 4) * 0x9E3779B97F4A7C15u >> 40;
    for (unsigned i = 0; i < MOST_BOUND; i++, h++) {
        struct bound *b = &A.bound[h % MOST_BOUND];
        if (!b->f || (b->f == f && b->context == context && b->image == image))
            return b;
    }
    return NULL;
}

static int named(const char *name)
{
    for (int i = 0; i < A.ntargets; i++)
        if (strcmp(A.target[i].name, name) == 0)
            return i;
    return -1;
}

/* Kernels of images, asked for and loaded with their image; `f` is another handle of the same kernel than the program's.
 * `binding` guards them and A.bound; S.lock is taken while it is held. */
enum { MOST_EARLY = 1 << 10 };
static struct bound early[MOST_EARLY];
static unsigned nearly;
static pthread_mutex_t binding = PTHREAD_MUTEX_INITIALIZER;

static const struct bound *early_of(const struct bound *b)
{
    for (unsigned i = 0; i < nearly; i++)
        if (early[i].image == b->image && early[i].context == b->context && early[i].named == b->named)
            return &early[i];
    return NULL;
}

/* Which targets it is, and their tuned kernels. */
static void find_targets(struct bound *b, const char *name)
{
    const struct bound *e = early_of(b);
    uint64_t whole; /* an image that is known stays as it is */
    b->tuned = e ? e->tuned : calloc((size_t)A.ntargets, sizeof(struct tuned *));
    b->maxreg = e ? e->maxreg : 0;
    b->mask = e ? e->mask : b->image < 0 ? 0 : apply_ask(&S.image[b->image], name, &b->maxreg, &whole);
}

struct bound *apply_bound(const struct launch *l)
{
    void *context = NULL;
    if (A.d.context(&context) != 0 || !context)
        return NULL;
    pthread_mutex_lock(&binding);
    struct bound *b = slot_of(l->f, context, l->image);
    if (b && !b->f && A.nbound < MOST_BOUND * 3 / 4) {
        A.nbound++;
        *b = (struct bound){ l->f, context, l->image, 0, named(l->name), 0, NULL, NULL };
        if (b->named >= 0)
            find_targets(b, l->name);
    }
    pthread_mutex_unlock(&binding);
    return b && b->f ? b : NULL;
}

/* ---- the tuned kernel ---- */
/* The function behind a handle that may be a kernel of a library. */
static void *function_of(void *f, void **module)
{
    void *own = NULL;
    *module = NULL;
    if (A.d.module_of(module, f) == 0)
        return f;
    if (A.d.function_of_kernel && A.d.function_of_kernel(&own, f) == 0 &&
        A.d.module_of(module, own) == 0)
        return own;
    return NULL;
}

static bool same_params(void *a, void *b)
{
    enum { MOST_PARAMS = 4096 };
    if (!A.d.param)
        return true; /* a driver before CUDA 12.4 does not say */
    for (size_t i = 0; i < MOST_PARAMS; i++) {
        size_t at[2] = { 0, 0 }, n[2] = { 0, 0 };
        int x = A.d.param(a, i, &at[0], &n[0]), y = A.d.param(b, i, &at[1], &n[1]);
        if (x != 0 || y != 0)
            return x != 0 && y != 0;
        if (at[0] != at[1] || n[0] != n[1])
            return false;
    }
    return false;
}

static bool find_symbols(const struct target *t, struct tuned *u, void *original, void *module)
{
    size_t n[2];
    for (unsigned i = 0; i < t->nzero; i++)
        if (A.d.global(&u->zero[i], &n[0], module, t->zero[i].name) != 0 || n[0] < t->zero[i].bytes)
            return false;
    for (unsigned i = 0; i < t->nmirror; i++) {
        /* what neither has was optimised away */
        int x = A.d.global(&u->from[i], &n[0], original, t->mirror[i].name);
        int y = A.d.global(&u->to[i], &n[1], module, t->mirror[i].name);
        u->bytes[i] = y == 0 ? n[1] : 0;
        if (y == 0 && (x != 0 || n[0] != n[1]))
            return false;
    }
    return true;
}

/* Does it start with the launch it will get? A launch that fails costs the program a call. */
static bool starts(const struct target *t, const struct tuned *u, const struct launch *l)
{
    enum { MAX_THREADS = 0 };
    const unsigned *block = t->any ? l->block : t->tblock;
    unsigned threads = block[0] * block[1] * block[2], shared = t->any ? l->shared : t->tshared;
    int most = 0, resident = 0;
    if (A.d.get_attribute(&most, MAX_THREADS, u->f) != 0 || (unsigned)most < threads)
        return false;
    return !A.d.occupancy || (A.d.occupancy(&resident, u->f, (int)threads, shared) == 0 && resident > 0);
}

static bool set_shared(struct tuned *u, unsigned shared)
{
    enum { MOST_DYNAMIC = 8 };
    if (shared <= u->shared)
        return true;
    bool ok = A.d.set_attribute(u->f, MOST_DYNAMIC, (int)shared) == 0 || shared <= 48 * 1024;
    u->shared = ok ? shared : u->shared;
    return ok;
}

/* Can the program's launch have it? */
static bool fits(const struct target *t, struct tuned *u, const struct launch *l)
{
    u->unfit = false;
    return set_shared(u, t->any ? l->shared : t->tshared) && starts(t, u, l);
}

/* l NULL: before any launch; whether it fits is left open where that is the launch's matter. */
static int set_up(struct target *t, struct tuned *u, const struct bound *b, const struct launch *l)
{
    enum { CARVEOUT = 9, NON_PORTABLE_CLUSTER = 14, JIT_MAX_REGISTERS = 0 };
    void *module = NULL, *original, *own;
    int option[] = { JIT_MAX_REGISTERS }, value = -1;
    void *values[] = { (void *)(uintptr_t)b->maxreg };
    own = function_of(b->f, &original);
    bool ready = t->code && !b->maxreg && A.d.load(&module, t->code, 0, NULL, NULL) == 0 &&
                 A.d.function(&u->f, module, t->name) == 0;
    if (!ready && (A.d.load(&module, t->text, b->maxreg > 0, option, values) != 0 ||
                   A.d.function(&u->f, module, t->name) != 0))
        return LIVE_APPLY_LOAD;
    if (!own || !same_params(own, u->f))
        return LIVE_APPLY_PARAMS;
    if (!find_symbols(t, u, original, module))
        return LIVE_APPLY_SYMBOLS;
    if (t->carveout >= 0)
        A.d.set_attribute(u->f, CARVEOUT, t->carveout);
    else if (A.d.get_attribute(&value, CARVEOUT, own) == 0 && value >= 0)
        A.d.set_attribute(u->f, CARVEOUT, value);
    if (A.d.get_attribute(&value, NON_PORTABLE_CLUSTER, own) == 0 && value > 0)
        A.d.set_attribute(u->f, NON_PORTABLE_CLUSTER, value);
    u->unfit = !l && t->any;
    return u->unfit || fits(t, u, l) ? -1 : LIVE_APPLY_FIT;
}

/* Loads it; while a stream is captured the driver allows that to a thread that says so. */
static int load(struct target *t, struct tuned *u, const struct bound *b, const struct launch *l)
{
    enum { RELAXED = 2 };
    struct timespec from, to;
    int mode = RELAXED;
    clock_gettime(CLOCK_MONOTONIC, &from);
    A.d.capture_mode(&mode);
    int why = set_up(t, u, b, l);
    A.d.capture_mode(&mode);
    clock_gettime(CLOCK_MONOTONIC, &to);
    uint64_t ns = (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000u + (uint64_t)to.tv_nsec -
                  (uint64_t)from.tv_nsec;
    pthread_mutex_lock(&A.lock);
    t->load_ns = ns > t->load_ns ? ns : t->load_ns;
    pthread_mutex_unlock(&A.lock);
    return why;
}

/* What is at *at, loaded where nothing is yet. NULL: it cannot be had for this launch. l NULL: none yet. */
static struct tuned *loaded(struct target *t, struct tuned **at, const struct bound *b,
                            const struct launch *l, int *why)
{
    static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&loading);
    struct tuned *u = *at;
    if (!u && (u = calloc(1, sizeof *u))) {
        u->why = load(t, u, b, l);
        u->state = u->why < 0 ? 1 : -1;
        *at = u;
    }
    if (l && u && u->state > 0 && u->unfit && !fits(t, u, l)) {
        u->why = LIVE_APPLY_FIT;
        u->state = -1;
    }
    bool fine = u && u->state > 0, fit = !fine || !l || !t->any || set_shared(u, l->shared);
    pthread_mutex_unlock(&loading);
    *why = !u ? LIVE_APPLY_LOAD : fit ? u->why : LIVE_APPLY_FIT;
    return fine && fit ? u : NULL;
}

/* The image's kernel of that name as the first target of that name has it: loads what the image is to get. */
static void load_early(struct bound *b, void *owner, bool library)
{
    const char *name = A.target[b->named].name;
    int (*get)(void **, void *, const char *) = library ? A.d.kernel : A.d.function;
    int why;
    uint64_t whole;
    b->tuned = calloc((size_t)A.ntargets, sizeof(struct tuned *));
    b->mask = apply_ask(&S.image[b->image], name, &b->maxreg, &whole);
    if (b->mask && b->tuned && get && get(&b->f, owner, name) == 0)
        for (int i = 0; i < A.ntargets; i++)
            if (b->mask >> i & 1)
                loaded(&A.target[i], &b->tuned[i], b, NULL, &why);
    pthread_mutex_lock(&binding);
    if (nearly < MOST_EARLY)
        early[nearly++] = *b;
    pthread_mutex_unlock(&binding);
}

void apply_image(int image, void *owner, bool library)
{
    const struct image *m = &S.image[image];
    void *context = NULL;
    if (A.mode == LIVE_APPLY_NONE || !m->copy || m->swapped || A.d.context(&context) != 0 || !context)
        return;
    for (int i = 0; i < A.ntargets; i++) {
        struct bound b = { NULL, context, image, 0, i, 0, NULL, NULL };
        if (named(A.target[i].name) == i)
            load_early(&b, owner, library);
    }
}

struct tuned *apply_tuned(struct bound *b, int target, const struct launch *l, int *why)
{
    return b->tuned ? loaded(&A.target[target], &b->tuned[target], b, l, why) : NULL;
}

struct tuned *apply_original(struct bound *b, int target, const struct launch *l, int *why)
{
    struct target original = A.target[target];
    original.text = original.whole;
    original.code = NULL;
    original.any = true;
    original.nzero = 0;
    struct tuned *u = loaded(&original, &b->original, b, l, why);
    *why = u ? -1 : LIVE_APPLY_LOAD;
    return u;
}

/* ---- launches ---- */
void *apply_stream(const struct launch *l)
{
    enum { PER_THREAD = 2 }; /* CU_STREAM_PER_THREAD */
    return l->stream || !l->own_stream ? l->stream : (void *)(uintptr_t)PER_THREAD;
}

bool apply_capturing(const struct launch *l)
{
    int status = 0; /* the legacy stream says an error instead: it is never captured */
    return A.d.capturing(apply_stream(l), &status) == 0 && status != 0;
}

int apply_launch(const struct launch *l, void *f, const struct target *t)
{
    const unsigned *g = t && !t->any ? t->tgrid : l->grid, *b = t && !t->any ? t->tblock : l->block;
    unsigned shared = t && !t->any ? t->tshared : l->shared;
    struct launch_attribute together = { .id = 2, .value = { 1 } }; /* CU_LAUNCH_ATTRIBUTE_COOPERATIVE */
    bool whole = l->nattributes || !A.d.launch;
    struct launch_config c = { { g[0], g[1], g[2] },
                               { b[0], b[1], b[2] },
                               shared,
                               apply_stream(l),
                               whole ? (void *)(uintptr_t)l->attribute : &together,
                               whole ? l->nattributes : 1 };
    if (whole || l->cooperative)
        return A.d.launch_ex ? A.d.launch_ex(&c, f, l->params, l->extra) : 1;
    return A.d.launch(f, g[0], g[1], g[2], b[0], b[1], b[2], shared, apply_stream(l), l->params,
                      l->extra);
}

void apply_mirror(const struct target *t, const struct tuned *u, const struct launch *l, bool back)
{
    for (unsigned i = 0; i < t->nmirror; i++)
        if (u->bytes[i] && (!back || t->mirror[i].back))
            A.d.copy_async(back ? u->from[i] : u->to[i], back ? u->to[i] : u->from[i], u->bytes[i],
                           apply_stream(l));
}
