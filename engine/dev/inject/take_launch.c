/* Capture: at the entry of the chosen launch of a kernel the GPU is brought to rest, parameters,
 * attributes, variables and all memory in reach are copied, and at its exit what it changed.
 *
 * Anything that fails is written down and the program goes on: a launch is never held back for more than
 * a limit, nothing of the program's is changed. */
#include "engine/dev/inject/take.h"

#include "engine/dev/inject/ask.h"
#include "engine/dev/inject/memory.h"
#include "engine/dev/inject/record.h"
#include "engine/dev/inject/shape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TAKEN = 1024, MOST_PARAMS = 4096, REST_S = 30, HEX_MOST = 1 << 16 };
enum { FUNC_FIRST = 8, FUNC_LAST = 15 }; /* CUfunction_attribute: shared memory, carve-out, clusters */
enum { ATTRIBUTE_WINDOW = 1 };           /* CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW */

struct shape {
    uint64_t key, launches;
};
struct taken {
    const char *name;
    int image;
    uint64_t seen, captured; /* launches; those into a graph */
    bool done;
    char *code; /* the answer to "code"; NULL: not asked yet */
    struct shape v[SHAPES_MOST];
    unsigned nshapes;
    uint64_t left;    /* bytes that further shapes may take */
    uint64_t apart;   /* launches of shapes that were not taken: there are too many, */
    uint64_t no_room; /* or they need more bytes than are left */
};
static struct {
    pthread_mutex_t lock;
    uint64_t nth, most;
    unsigned shapes; /* most of one kernel; 0: its launch number `nth` alone */
    double rest_s;
    struct taken v[MOST_TAKEN];
    int n, records;
    int capturing; /* streams being captured into graphs */
    /* the launch under way, NULL: none; its correlation */
    struct memory *under_way;
    uint32_t correlation;
} T = { .lock = PTHREAD_MUTEX_INITIALIZER };

void take_lock(void)
{
    pthread_mutex_lock(&T.lock);
}
void take_unlock(void)
{
    pthread_mutex_unlock(&T.lock);
}
void take_capturing(int by)
{
    __atomic_add_fetch(&T.capturing, by, __ATOMIC_SEQ_CST);
}
bool take_captures(void)
{
    return __atomic_load_n(&T.capturing, __ATOMIC_SEQ_CST) > 0;
}

bool take_wanted(void)
{
    const char *s = getenv(LIVE_TAKE_VARIABLE), *wait = getenv("GPULOCW_LIVE_WAIT");
    unsigned long long nth = 0, most = 0;
    if (!s || sscanf(s, "%llu %llu %u", &nth, &most, &T.shapes) != 3 || !nth || T.shapes > SHAPES_MOST)
        return false;
    T.nth = nth;
    T.most = most;
    T.rest_s = wait ? atof(wait) : REST_S;
    return true;
}

/* ---- the GPU comes to rest, or does not ---- */
struct rest {
    void *context;
    int result;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool over, left; /* left: nobody waits any more */
};

static void *rest_wait(void *p)
{
    struct rest *r = p;
    in_callback = true;
    int result = S.driver.cuCtxSetCurrent(r->context);
    if (result == 0)
        result = S.driver.cuCtxSynchronize();
    pthread_mutex_lock(&r->lock);
    r->result = result;
    r->over = true;
    bool left = r->left;
    pthread_cond_signal(&r->ended);
    pthread_mutex_unlock(&r->lock);
    if (left)
        free(r);
    return NULL;
}

/* 0: at rest; -1: not within the limit; above: the driver's error. In a thread of its own, since it may
 * never end: a kernel may wait for what the program does next. */
static int come_to_rest(void *context)
{
    struct rest *r = calloc(1, sizeof *r);
    struct timespec until;
    pthread_t thread;
    if (!r || !S.driver.cuCtxSetCurrent || !S.driver.cuCtxSynchronize) {
        free(r);
        return 1;
    }
    r->context = context;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->ended, NULL);
    if (pthread_create(&thread, NULL, rest_wait, r) != 0) {
        free(r);
        return 1;
    }
    pthread_detach(thread);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)T.rest_s;
    until.tv_nsec += (long)((T.rest_s - (double)(time_t)T.rest_s) * 1e9);
    if (until.tv_nsec >= 1000000000)
        until.tv_nsec -= 1000000000, until.tv_sec++;
    pthread_mutex_lock(&r->lock);
    int waited = 0;
    while (!r->over && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&r->ended, &r->lock, &until);
    bool over = r->over;
    int result = over ? r->result : -1;
    r->left = !over;
    pthread_mutex_unlock(&r->lock);
    if (over)
        free(r);
    return result;
}

/* ---- the record ---- */
static void put_hex(FILE *f, const void *p, size_t n)
{
    const unsigned char *b = p;
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%02x", b[i]);
    fputc('\n', f);
}

static void put_launch(FILE *f, const struct launch *l, uint64_t nth)
{
    unsigned char window[64] = { 0 };
    fprintf(f, "%s\nname %s\nimage %016llx\nlaunch %llu\n", LIVE_TAKE_HEAD, l->name,
            l->image < 0 ? 0ull : (unsigned long long)S.image[l->image].hash, (unsigned long long)nth);
    fprintf(f, "grid %u %u %u\nblock %u %u %u\nshared %u\n", l->grid[0], l->grid[1], l->grid[2],
            l->block[0], l->block[1], l->block[2], l->shared);
    if (l->cooperative)
        fprintf(f, "cooperative\n");
    for (unsigned i = 0; i < l->nattributes; i++) {
        fprintf(f, "attr %d ", l->attribute[i].id);
        put_hex(f, l->attribute[i].value, sizeof l->attribute[i].value);
    }
    if (S.driver.cuStreamGetAttribute &&
        S.driver.cuStreamGetAttribute(l->stream, ATTRIBUTE_WINDOW, window) == 0) {
        fprintf(f, "sattr %d ", ATTRIBUTE_WINDOW);
        put_hex(f, window, sizeof window);
    }
}

static void put_function(FILE *f, const struct launch *l)
{
    void *of = l->f;
    int value;
    if (S.driver.cuKernelGetFunction && S.driver.cuKernelGetFunction(&of, l->f) != 0)
        of = l->f;
    for (int a = FUNC_FIRST; S.driver.cuFuncGetAttribute && a <= FUNC_LAST; a++)
        if (S.driver.cuFuncGetAttribute(&value, a, of) == 0)
            fprintf(f, "func %d %d\n", a, value);
}

/* ---- parameters ---- */
static bool param_of(const struct launch *l, size_t i, size_t *at, size_t *n)
{
    const struct driver *d = &S.driver;
    return (d->cuFuncGetParamInfo && d->cuFuncGetParamInfo(l->f, i, at, n) == 0) ||
           (d->cuKernelGetParamInfo && d->cuKernelGetParamInfo(l->f, i, at, n) == 0);
}

/* The parameters in one block, as `extra` has them (CU_LAUNCH_PARAM_BUFFER_POINTER 1, _SIZE 2). */
static const char *packed_of(const struct launch *l, size_t *n)
{
    const char *p = NULL;
    *n = 0;
    for (int i = 0; l->extra && i < 8 && l->extra[i]; i += 2) {
        if (l->extra[i] == (void *)1)
            p = l->extra[i + 1];
        if (l->extra[i] == (void *)2)
            *n = *(const size_t *)l->extra[i + 1];
    }
    return p;
}

static void put_param(void *memory, const void *p, size_t at, size_t n, bool is_float)
{
    struct memory *m = memory;
    (void)is_float;
    fprintf(m->record, "param %zu %zu ", at, n);
    put_hex(m->record, p, n);
    memory_scan(m, p, n, true);
}

/* One line of the PTX's layout; *layout goes to the next. False: no such line. */
static bool layout_next(const char **layout, size_t *at, size_t *n, bool *is_float)
{
    int used = 0;
    if (!*layout || sscanf(*layout, "P %zu %zu%n", at, n, &used) != 2)
        return false;
    *is_float = strncmp(*layout + used, " f", 2) == 0;
    *layout = strchr(*layout, '\n');
    *layout += *layout != NULL;
    return true;
}

/* Offsets and sizes as the driver knows them, else as the PTX says (`layout`). A packed block has the
 * PTX's offsets: the driver's count space that it puts before parameters of great alignment. */
static const char *each_param(const struct launch *l, const char *layout,
                              void (*fn)(void *ctx, const void *p, size_t at, size_t n, bool is_float),
                              void *ctx)
{
    size_t npacked, at, n, in_block;
    const char *packed = packed_of(l, &npacked);
    bool driver = param_of(l, 0, &at, &n);
    for (size_t i = 0; i < MOST_PARAMS; i++) {
        size_t size;
        bool is_float = false, said = layout_next(&layout, &in_block, &size, &is_float);
        if (driver ? !param_of(l, i, &at, &n) : !said)
            break;
        if (!driver) {
            at = in_block;
            n = size;
        }
        size_t from = said ? in_block : at;
        const char *p = l->params ? l->params[i] : packed && from + n <= npacked ? packed + from : NULL;
        if (!p)
            return "its parameters could not be read";
        fn(ctx, p, at, n, is_float);
    }
    return NULL;
}

/* ---- shapes ---- */
static void add_argument(void *key, const void *p, size_t at, size_t n, bool is_float)
{
    (void)at;
    *(uint64_t *)key = shape_argument(*(uint64_t *)key, p, n, is_float);
}

static uint64_t key_of(const struct taken *t, const struct launch *l)
{
    uint64_t key = shape_key(l->grid, l->block, l->shared);
    if (t->code)
        each_param(l, t->code + strlen("ptx\n"), add_argument, &key);
    return key;
}

/* Is it the first launch of a shape that is to be taken? All are counted. */
static bool new_shape(struct taken *t, const struct launch *l)
{
    uint64_t key = key_of(t, l);
    t->seen++;
    for (unsigned i = 0; i < t->nshapes; i++)
        if (t->v[i].key == key) {
            t->v[i].launches++;
            return false;
        }
    if (t->done || t->nshapes == T.shapes) {
        t->apart++;
        return false;
    }
    if (t->nshapes &&
        t->left < (T.most - t->left) / t->nshapes) { /* as much as each of the others took */
        t->no_room++;
        return false;
    }
    t->left = t->nshapes ? t->left : T.most;
    t->v[t->nshapes++] = (struct shape){ key, 1 };
    return true;
}

/* ---- variables of the module ---- */
static bool variable_of(const struct launch *l, const char *name, uint64_t *addr, size_t *n)
{
    const struct driver *d = &S.driver;
    void *module = NULL;
    if (d->cuFuncGetModule && d->cuModuleGetGlobal_v2 && d->cuFuncGetModule(&module, l->f) == 0 &&
        d->cuModuleGetGlobal_v2(addr, n, module, name) == 0)
        return true;
    return d->cuKernelGetLibrary && d->cuLibraryGetGlobal && d->cuKernelGetLibrary(&module, l->f) == 0 &&
           d->cuLibraryGetGlobal(addr, n, module, name) == 0;
}

/* Names out of the answer, which is kept as long as the ranges. */
static void find_variables(struct memory *m, const struct launch *l, char *answer)
{
    for (char *line = answer, *next; line; line = next) {
        uint64_t addr = 0;
        size_t n = 0;
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (strncmp(line, "G ", 2) == 0 && variable_of(l, line + 2, &addr, &n))
            memory_variable(m, line + 2, addr, n);
    }
}

/* ---- one launch ---- */
static __attribute__((format(printf, 2, 3))) const char *refused(struct memory *m, const char *format,
                                                                 ...)
{
    va_list ap;
    va_start(ap, format);
    fprintf(m->record, "refused ");
    vfprintf(m->record, format, ap);
    fputc('\n', m->record);
    va_end(ap);
    return m->why;
}

static struct memory *record_new(void)
{
    struct memory *m = calloc(1, sizeof *m);
    char path[4300];
    if (!m)
        return NULL;
    int n = ++T.records;
    snprintf(path, sizeof path, "%s.%ld.%d.take", S.file, (long)getpid(), n);
    m->record = fopen(path, "wxe");
    snprintf(path, sizeof path, "%s.%ld.%d.data", S.file, (long)getpid(), n);
    m->data = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    m->v = calloc(MOST_RANGES, sizeof *m->v);
    m->left = T.most;
    if (m->record && m->data >= 0 && m->v)
        return m;
    memory_free(m);
    free(m);
    return NULL;
}

/* The image's PTX in a file, for who reads the questions. */
static bool code_file(const struct launch *l, const struct image *i, char *path, size_t n)
{
    snprintf(path, n, "%s.%ld.%d.code", S.file, (long)getpid(), l->image);
    int f = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (f < 0)
        return errno == EEXIST;
    bool fine = write(f, i->copy, i->ncopy) == (ssize_t)i->ncopy;
    return close(f) == 0 && fine;
}

static int compute_capability(void)
{
    const struct driver *d = &S.driver;
    int device, major = 0, minor = 0;
    if (!d->cuCtxGetDevice || !d->cuDeviceGetAttribute || d->cuCtxGetDevice(&device) != 0 ||
        d->cuDeviceGetAttribute(&major, 75, device) != 0 ||
        d->cuDeviceGetAttribute(&minor, 76, device) != 0)
        return 0;
    return 10 * major + minor;
}

static char *code_of(struct memory *m, const struct launch *l, struct taken *t)
{
    char path[4300] = "-";
    if (t->code)
        return strdup(t->code);
    const struct image *i = l->image < 0 ? NULL : &S.image[l->image];
    if (i && i->ncopy && !code_file(l, i, path, sizeof path)) {
        refused(m, "its code could not be written");
        return NULL;
    }
    const char *kind = !i ? "unseen" : i->ncopy ? "ptx" : i->lto ? "lto" : "cubin";
    char *answer = ask("code %s %016llx %s %d %s\n", l->name, i ? (unsigned long long)i->hash : 0ull,
                       kind, compute_capability(), path);
    if (answer && strncmp(answer, "ptx\n", 4) == 0) {
        t->code = strdup(answer);
        return answer;
    }
    if (answer && strncmp(answer, "why ", 4) == 0)
        refused(m, "%.*s", (int)strcspn(answer + 4, "\n"), answer + 4);
    else
        refused(m, "its code was not identified");
    free(answer);
    return NULL;
}

/* Of the layout that the code has, the key is known. */
static void put_key(struct memory *m, const struct launch *l, struct taken *t)
{
    if (!T.shapes)
        return;
    t->v[t->nshapes - 1].key = key_of(t, l);
    fprintf(m->record, "key %016llx\n", (unsigned long long)t->v[t->nshapes - 1].key);
}

/* False: nothing is to be looked at after the launch. */
static bool before(struct memory *m, const struct launch *l, struct taken *t)
{
    put_launch(m->record, l, t->seen);
    int rest = come_to_rest(l->context);
    if (rest < 0)
        return refused(m,
                       "the GPU did not become idle in %g s: a kernel waits for another kernel or for "
                       "the host",
                       T.rest_s),
               false;
    if (rest > 0)
        return refused(m, "waiting for the GPU failed (driver error %d)", rest), false;
    char *answer = code_of(m, l, t);
    if (!answer)
        return false;
    put_key(m, l, t);
    put_function(m->record, l);
    const char *why = each_param(l, answer + 4, put_param, m);
    if (!why) {
        find_variables(m, l, answer + 4); /* the names stay: `answer` is not freed */
        memory_before(m);
        why = m->why[0] ? m->why : NULL;
    }
    if (why)
        refused(m, "%s", why);
    return !why;
}

static void finish(struct memory *m, const char *name)
{
    fprintf(m->record, "end\n");
    fflush(m->record);
    char *answer = ask("done %s %llu\n", name ? name : "", (unsigned long long)m->end);
    free(answer);
    memory_free(m);
    free(m);
}

/* ---- which launch ---- */
static struct taken *taken_of(const struct launch *l)
{
    struct handle *h = l->handle;
    int known = h ? __atomic_load_n(&h->take, __ATOMIC_RELAXED) : -1;
    if (!l->name || known < 0)
        return NULL;
    if (known > 0)
        return &T.v[known - 1];
    int k = 0;
    while (k < T.n && (T.v[k].image != l->image || strcmp(T.v[k].name, l->name) != 0))
        k++;
    if (k == T.n) {
        char *answer = T.n < MOST_TAKEN ? ask("want %s\n", l->name) : NULL;
        bool yes = answer && strncmp(answer, "yes", 3) == 0;
        free(answer);
        if (!yes) {
            __atomic_store_n(&h->take, -1, __ATOMIC_RELAXED);
            return NULL;
        }
        T.v[T.n++] = (struct taken){ .name = l->name, .image = l->image };
    }
    __atomic_store_n(&h->take, k + 1, __ATOMIC_RELAXED);
    return &T.v[k];
}

static bool stream_captures(const struct launch *l)
{
    int status = 0;
    if (take_captures())
        return true;
    return S.driver.cuStreamIsCapturing &&
           (S.driver.cuStreamIsCapturing(l->stream, &status) != 0 || status);
}

/* ---- what graphs need of this (take_graph.c); T.lock is held ---- */
bool take_open(const struct launch *l)
{
    const struct taken *t = taken_of(l);
    return t && !t->done && (!T.shapes || t->nshapes < T.shapes);
}

bool take_due(const struct launch *l)
{
    struct taken *t = taken_of(l);
    if (!t || T.under_way)
        return false;
    if (T.shapes)
        return new_shape(t, l);
    if (t->done || ++t->seen < T.nth)
        return false;
    t->done = true;
    return true;
}

struct memory *take_begin(const struct launch *l)
{
    struct memory *m = record_new();
    struct taken *t = taken_of(l);
    if (!m || !t)
        return NULL;
    m->left = T.shapes ? t->left : m->left;
    bool fine = before(m, l, t);
    t->left = m->left;
    if (fine)
        return m;
    t->done = true; /* no further launch of it fares better */
    finish(m, l->name);
    return NULL;
}

void take_refuse(struct memory *m, const char *why)
{
    refused(m, "%s", why);
}

void take_finish(struct memory *m, const char *name)
{
    finish(m, name);
}

const char *take_rest(void *context, int result)
{
    int rest = result == 0 ? come_to_rest(context) : 0;
    return result != 0 ? "its launch failed"
           : rest < 0  ? "it did not end in time: it waits for other kernels or for the host"
           : rest > 0  ? "the GPU reported an error in it"
                       : NULL;
}

/* ---- launches ---- */
void take_enter(struct launch *l)
{
    pthread_mutex_lock(&T.lock);
    struct taken *t = taken_of(l);
    /* while a stream captures nothing may be waited for or copied */
    bool graph = t && (T.shapes || !t->done) && stream_captures(l);
    if (graph)
        t->captured++;
    if (t && !graph && take_due(l)) {
        T.under_way = take_begin(l);
        T.correlation = l->correlation;
    }
    pthread_mutex_unlock(&T.lock);
}

void take_leave(struct launch *l, int result)
{
    pthread_mutex_lock(&T.lock);
    struct memory *m = T.correlation == l->correlation ? T.under_way : NULL;
    if (m) {
        const char *why = take_rest(l->context, result);
        if (!why)
            memory_after(m);
        if (why || m->why[0])
            take_refuse(m, why ? why : m->why);
        struct taken *t = why ? taken_of(l) : NULL;
        if (t)
            t->done = true;
        finish(m, l->name);
        T.under_way = NULL;
    }
    pthread_mutex_unlock(&T.lock);
}

static void put_never(struct memory *m, const struct taken *t)
{
    if (t->captured && !t->seen)
        refused(m,
                "it is launched only by CUDA graphs (%llu launches were captured), none of which "
                "could be inspected",
                (unsigned long long)t->captured);
    else
        refused(m, "it was launched %llu times; launch %llu was requested", (unsigned long long)t->seen,
                (unsigned long long)T.nth);
}

static void put_counts(struct memory *m, const struct taken *t)
{
    for (unsigned i = 0; i < t->nshapes; i++)
        fprintf(m->record, "counted %016llx %llu\n", (unsigned long long)t->v[i].key,
                (unsigned long long)t->v[i].launches);
    fprintf(m->record, "apart %llu %llu\n", (unsigned long long)t->apart,
            (unsigned long long)t->no_room);
}

/* Kernels that were wanted, and whose launch never came; how often each shape of the others came. The end may come
 * from inside a launch that is being taken (a signal's handler): it waits a second. */
void take_end(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (pthread_mutex_timedlock(&T.lock, &until) != 0)
        return;
    for (int i = 0; i < T.n; i++) {
        const struct taken *t = &T.v[i];
        struct memory *m = t->done && !t->nshapes ? NULL : record_new();
        if (!m)
            continue;
        fprintf(m->record, "%s\nname %s\nimage %016llx\n", LIVE_TAKE_HEAD, t->name,
                t->image < 0 ? 0ull : (unsigned long long)S.image[t->image].hash);
        if (t->nshapes)
            put_counts(m, t);
        else
            put_never(m, t);
        fprintf(m->record, "end\n");
        memory_free(m);
        free(m);
    }
    pthread_mutex_unlock(&T.lock);
}
