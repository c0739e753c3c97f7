/* The driver's calls as CUPTI tells them: which function came from which image, and launches. */
#include "engine/dev/inject/launched.h"
#include "engine/dev/inject/made.h"
#include "engine/dev/inject/sample.h"

#include <stdlib.h>
#include <string.h>

__thread bool in_callback;
__thread int load_swapped;

/* Parameters by the names of generated_cuda_meta.h. */
struct load_call {
    void **handle;
    const void *image;
};
struct get_call {
    void **handle;
    void *from;
    const char *name;
};

/* ---- handles ---- */
/* Its place, or the free one where it would be. Keys stay where they are for good, so that a launch may
 * look without the lock. */
static struct handle *place_of(const void *key, const void **there)
{
    uint64_t h = ((uintptr_t)key >> 4) * 0x9E3779B97F4A7C15u >> 40;
    struct handle *s = &S.handle[h % MOST_HANDLES];
    while ((*there = __atomic_load_n(&s->key, __ATOMIC_ACQUIRE)) && *there != key)
        s = &S.handle[++h % MOST_HANDLES];
    return s;
}

static void handle_set(struct handle *h, const char *name, int image)
{
    h->name = name;
    h->image = image;
    h->asked = h->known = false;
    __atomic_store_n(&h->take, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&h->row, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&h->quick, 0, __ATOMIC_RELEASE);
}

struct handle *handle_at(const void *key, bool make)
{
    const void *there;
    struct handle *s = key ? place_of(key, &there) : NULL;
    if (!s || there)
        return s;
    if (!make || S.nhandles >= MOST_HANDLES / 2)
        return NULL;
    S.nhandles++;
    handle_set(s, NULL, -1);
    __atomic_store_n(&s->key, key, __ATOMIC_RELEASE);
    return s;
}

static int loaded(const struct load_call *p);
/* cuModuleLoad, cuLibraryLoadFromFile */
static int loaded_file(const struct load_call *p)
{
    void *image = p->image ? image_file(p->image, NULL) : NULL;
    const struct load_call c = { p->handle, image };
    int at = image ? loaded(&c) : -1;
    free(image);
    return at;
}

/* Its place in S.image; -1: there is no room. */
static int loaded(const struct load_call *p)
{
    struct handle *h = p->handle && p->image ? handle_at(*p->handle, true) : NULL;
    if (!h || S.nimages == MOST_IMAGES) {
        S.left_out++;
        return -1;
    }
    made_look(p->image, &S.image[S.nimages]);
    S.image[S.nimages].swapped = load_swapped;
    load_swapped = 0;
    handle_set(h, NULL, S.nimages);
    return S.nimages++;
}

/* The function, kernel or module that was made of another has its image; a function of a kernel its
 * name, too. Names are kept for good: the driver's live as long as the module. */
static void derived(const struct get_call *p, bool named)
{
    const struct handle *from = handle_at(p->from, false);
    struct handle *h = p->handle ? handle_at(*p->handle, true) : NULL;
    char *name = named && p->name ? strdup(p->name) : NULL;
    if (h)
        handle_set(h, name, from ? from->image : -1);
    else
        free(name);
}

/* Handles of what is unloaded may be given out again. */
static void unloaded(void *const *owner)
{
    const struct handle *o = handle_at(*owner, false);
    int image = o ? o->image : -1;
    for (size_t i = 0; image >= 0 && i < MOST_HANDLES; i++)
        if (S.handle[i].key && S.handle[i].image == image)
            handle_set(&S.handle[i], NULL, -1);
}

/* ---- launches ---- */
/* A handle that no call was seen to make: the driver knows its name and its module. */
static void ask(void *f, const char **name, void **owner)
{
    const struct driver *d = &S.driver;
    *name = NULL;
    *owner = NULL;
    if ((!d->cuFuncGetName || d->cuFuncGetName(name, f) != 0) &&
        (!d->cuKernelGetName || d->cuKernelGetName(name, f) != 0))
        *name = NULL;
    if ((!d->cuFuncGetModule || d->cuFuncGetModule(owner, f) != 0) &&
        (!d->cuKernelGetLibrary || d->cuKernelGetLibrary(owner, f) != 0))
        *owner = NULL;
}

/* Kernels of libraries by that name: a graph tells a kernel's function in the context, whose module no
 * call was seen to make. S.lock is held. */
enum { MOST_NAMESAKES = 64 };
struct namesake {
    void *kernel;
    int image;
};
static size_t namesakes(const char *name, struct namesake *v)
{
    size_t n = 0;
    for (size_t i = 0; i < MOST_HANDLES && n < MOST_NAMESAKES; i++) {
        const struct handle *h = &S.handle[i];
        if (!h->key || h->image < 0 || !h->name || strcmp(h->name, name) != 0)
            continue;
        memcpy(&v[n].kernel, &h->key, sizeof v[n].kernel);
        v[n++].image = h->image;
    }
    return n;
}

/* The image of the one whose function f is. */
static int image_by_function(const struct namesake *v, size_t n, const void *f)
{
    void *its = NULL;
    for (size_t i = 0; i < n && S.driver.cuKernelGetFunction; i++)
        if (S.driver.cuKernelGetFunction(&its, v[i].kernel) == 0 && its == f)
            return v[i].image;
    return -1;
}

/* A function that was not launched before. */
static void first_seen(struct handle *h, struct launch *l)
{
    struct namesake v[MOST_NAMESAKES];
    const char *name = NULL;
    void *owner = NULL;
    pthread_mutex_unlock(&S.lock); /* the driver may call back */
    ask(l->f, &name, &owner);
    pthread_mutex_lock(&S.lock);
    const struct handle *from = owner && h->image < 0 ? handle_at(owner, false) : NULL;
    h->image = from ? from->image : h->image;
    if (name && h->image < 0) {
        size_t n = namesakes(name, v);
        pthread_mutex_unlock(&S.lock);
        int image = image_by_function(v, n, l->f);
        pthread_mutex_lock(&S.lock);
        h->image = image;
    }
    if (!h->name)
        h->name = name ? strdup(name) : NULL;
    h->asked = true;
}

void launch_look_up(struct launch *l)
{
    pthread_mutex_lock(&S.lock);
    struct handle *h = handle_at(l->f, true);
    if (h && !h->asked && (!h->name || h->image < 0))
        first_seen(h, l);
    l->handle = h;
    l->image = h ? h->image : -1;
    l->name = h ? h->name : NULL;
    if (h && !h->known)
        survey_known(l);
    if (h) {
        h->known = true;
        __atomic_store_n(&h->quick, h->image + 2, __ATOMIC_RELEASE);
    }
    if (l->correlation)
        launched_put(l->correlation, l->image);
    pthread_mutex_unlock(&S.lock);
}

/* The launch of a function that is known, with the shape of its last, where nothing but the survey asks
 * for it. */
static bool quick_launch(const struct launch *l, const struct call *c)
{
    const void *there;
    const struct handle *h = l->f ? place_of(l->f, &there) : NULL;
    int quick = h && there ? __atomic_load_n(&h->quick, __ATOMIC_ACQUIRE) : 0;
    int row = quick ? __atomic_load_n(&h->row, __ATOMIC_ACQUIRE) : 0;
    if (!row || !survey_count_like(row - 1, l))
        return false;
    launched_put(c->correlation, quick - 2);
    return true;
}

static struct launch plain(const void *params, bool cooperative)
{
    struct launch_call *c;
    memcpy(&c, &params, sizeof c); /* CUPTI's pointer is const; the driver reads the words behind it */
    struct launch l = { .f = c->f,
                        .stream = c->stream,
                        .shared = c->shared,
                        .params = c->params,
                        .extra = cooperative ? NULL : c->extra,
                        .cooperative = cooperative,
                        .plain = c };
    memcpy(l.grid, c->grid, sizeof l.grid);
    memcpy(l.block, c->block, sizeof l.block);
    return l;
}

static struct launch extended(const void *params)
{
    enum { COOPERATIVE = 2 }; /* CU_LAUNCH_ATTRIBUTE_COOPERATIVE */
    struct launch_ex_call *c;
    memcpy(&c, &params, sizeof c);
    struct launch l = { .f = c->f, .params = c->params, .extra = c->extra, .ex = c };
    if (!c->config)
        return l;
    l.stream = c->config->stream;
    l.shared = c->config->shared;
    memcpy(l.grid, c->config->grid, sizeof l.grid);
    memcpy(l.block, c->config->block, sizeof l.block);
    l.attribute = c->config->attribute;
    l.nattributes = l.attribute ? c->config->nattributes : 0;
    for (unsigned i = 0; i < l.nattributes; i++)
        l.cooperative |= l.attribute[i].id == COOPERATIVE && l.attribute[i].value[0];
    return l;
}

static void launching(struct launch *l, const struct call *c)
{
    bool after = c->site == AT_EXIT;
    l->image = -1;
    l->correlation = c->correlation;
    l->own = c->own;
    l->result = c->result;
    l->context = c->context;
    launch_look_up(l);
    for (size_t i = 0; i < nlaunch_parts; i++) {
        size_t k = after ? nlaunch_parts - 1 - i : i;
        if (S.part[k] && !after && launch_parts[k]->enter)
            launch_parts[k]->enter(l);
        if (S.part[k] && after && launch_parts[k]->leave)
            launch_parts[k]->leave(l, c->result ? *c->result : 0);
    }
}

/* ---- CUPTI ---- */
enum { LIBRARY_LOAD = 678, LIBRARY_FILE = 679 };
enum what { LOAD, LOAD_FILE, GET_NAMED, GET, UNLOAD, GRAPH, LAUNCH, COOPERATE, LAUNCH_EX };
static const struct {
    uint32_t id; /* cupti_driver_cbid.h */
    enum what what;
    bool own_stream;
} CALLS[] = {
    { 18, LOAD_FILE, false },           /* cuModuleLoad */
    { LIBRARY_FILE, LOAD_FILE, false }, /* cuLibraryLoadFromFile */
    { 19, LOAD, false },                /* cuModuleLoadData */
    { 20, LOAD, false },                /* cuModuleLoadDataEx */
    { 21, LOAD, false },                /* cuModuleLoadFatBinary */
    { LIBRARY_LOAD, LOAD, false },      /* cuLibraryLoadData */
    { 22, UNLOAD, false },              /* cuModuleUnload */
    { 680, UNLOAD, false },             /* cuLibraryUnload */
    { 23, GET_NAMED, false },           /* cuModuleGetFunction */
    { 681, GET_NAMED, false },          /* cuLibraryGetKernel */
    { 682, GET, false },                /* cuLibraryGetModule */
    { 683, GET, false },                /* cuKernelGetFunction */
    { 495, GRAPH, false },              /* cuStreamBeginCapture */
    { 496, GRAPH, false },              /* cuStreamBeginCapture_ptsz */
    { 539, GRAPH, false },              /* cuStreamBeginCapture_v2 */
    { 540, GRAPH, false },              /* cuStreamBeginCapture_v2_ptsz */
    { 720, GRAPH, false },              /* cuStreamBeginCaptureToGraph */
    { 721, GRAPH, false },              /* cuStreamBeginCaptureToGraph_ptsz */
    { 514, GRAPH, false },              /* cuGraphLaunch */
    { 515, GRAPH, false },              /* cuGraphLaunch_ptsz */
    { 307, LAUNCH, false },             /* cuLaunchKernel */
    { 442, LAUNCH, true },              /* cuLaunchKernel_ptsz */
    { 477, COOPERATE, false },          /* cuLaunchCooperativeKernel */
    { 478, COOPERATE, true },           /* cuLaunchCooperativeKernel_ptsz */
    { 652, LAUNCH_EX, false },          /* cuLaunchKernelEx */
    { 653, LAUNCH_EX, true },           /* cuLaunchKernelEx_ptsz */
};
enum { NCALLS = sizeof CALLS / sizeof *CALLS, MOST_IDS = 1024 };
/* By number of the call: 1 + row of CALLS, or the part's row. */
static uint8_t row_of[MOST_IDS];
static const struct other_call *other_of[MOST_IDS];

void calls_enable(enable_fn enable, void *subscriber)
{
    for (size_t i = 0; i < NCALLS; i++)
        row_of[CALLS[i].id] = (uint8_t)(i + 1);
    for (const struct other_call *o = made_calls; o->id; o++)
        other_of[o->id] = o;
    for (size_t k = 0; k < nlaunch_parts; k++)
        for (const struct other_call *o = S.part[k] ? launch_parts[k]->calls : NULL; o && o->id; o++)
            other_of[o->id] = o;
    for (uint32_t id = 0; id < MOST_IDS; id++)
        if (row_of[id] || other_of[id])
            enable(1, subscriber, DOMAIN_DRIVER, id); /* an old driver lacks some: none call them */
}

/* A part may have kernels to load beside this image's, before the program launches any. */
static void tell_image(uint32_t id, int image, const struct load_call *p)
{
    const bool library = id == LIBRARY_LOAD || id == LIBRARY_FILE;
    for (size_t i = 0; image >= 0 && i < nlaunch_parts; i++)
        if (S.part[i] && launch_parts[i]->image)
            launch_parts[i]->image(image, *p->handle, library);
}

static void images_change(uint32_t id, enum what what, const void *params)
{
    int image = -1;
    pthread_mutex_lock(&S.lock);
    switch (what) {
    case LOAD: image = loaded(params); break;
    case LOAD_FILE: image = loaded_file(params); break;
    case UNLOAD: unloaded(params); break;
    default: derived(params, what == GET_NAMED);
    }
    pthread_mutex_unlock(&S.lock);
    tell_image(id, image, params);
}

static void dispatch(uint32_t id, const struct call *c)
{
    bool after = c->site == AT_EXIT, failed = after && c->result && *c->result != 0;
    const struct other_call *o = other_of[id];
    if (o && (o->when == BOTH ||
              (after ? o->when == AFTER_ANY || (o->when == AFTER && !failed) : o->when == BEFORE)))
        o->fn(c);
    if (!row_of[id])
        return;
    enum what what = CALLS[row_of[id] - 1].what;
    if (what == GRAPH) {
        sample_never(c->correlation);
        return;
    }
    if (what < GRAPH) {
        if (after != (what == UNLOAD) && !failed)
            images_change(id, what, c->params);
        return;
    }
    bool looked_at = false;
    for (size_t i = 0; i < nlaunch_parts; i++)
        looked_at |= S.part[i];
    if (!looked_at && after)
        return;
    struct launch l = what == LAUNCH_EX ? extended(c->params) : plain(c->params, what == COOPERATE);
    if (!looked_at && quick_launch(&l, c))
        return;
    l.own_stream = CALLS[row_of[id] - 1].own_stream;
    launching(&l, c);
    if (!looked_at)
        survey_count(&l);
}

void on_call(void *own, int domain, uint32_t id, const struct call *c)
{
    (void)own;
    if (in_callback || domain != DOMAIN_DRIVER || id >= MOST_IDS || !c->params)
        return;
    in_callback = true;
    dispatch(id, c);
    in_callback = false;
}
