/* apply: launches of chosen kernels run tuned ones, the program otherwise as it is. By turns, the
 * original, the original again and the tuned kernel; or every launch tuned. Whatever does not fit runs
 * the original and is counted. */
#include "engine/dev/inject/apply.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct apply_state A = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* What the launch in progress on this thread became; launches do not nest. */
static __thread struct {
    struct target *target; /* NULL: the original, and nothing to do at the exit */
    struct tuned *tuned;
    bool verifying, original; /* original: that runs in place of a swapped image's kernel */
    void *f;
    const struct launch_config *config;
    struct launch_config copy;
    unsigned grid[3], block[3], shared;
} now;

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool wanted(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    bool all = true;
#define APPLY_FN(field, name, ...)                             \
    {                                                          \
        void *p = dlsym(driver ? driver : RTLD_DEFAULT, name); \
        memcpy(&A.d.field, &p, sizeof p);                      \
    }
#include "engine/dev/inject/apply_driver.def"
#undef APPLY_FN
    all = A.d.context && A.d.load && A.d.function && A.d.module_of && A.d.set_attribute &&
          A.d.get_attribute && A.d.global && A.d.copy_async && A.d.set_async && A.d.capturing &&
          A.d.capture_mode;
    return getenv(LIVE_APPLY_VARIABLE) && apply_plan() && all;
}

/* ---- which launch it is ---- */
static bool same_shape(const struct target *t, const struct launch *l)
{
    return t->any || (memcmp(t->grid, l->grid, sizeof t->grid) == 0 &&
                      memcmp(t->block, l->block, sizeof t->block) == 0 && t->shared == l->shared);
}

static bool same_launch(const struct target *t)
{
    return t->any || (memcmp(t->grid, t->tgrid, sizeof t->grid) == 0 &&
                      memcmp(t->block, t->tblock, sizeof t->block) == 0 && t->shared == t->tshared);
}

/* The target for this launch; -1: none, and *named (the first of that name) is told *why. */
static int choose(const struct bound *b, const struct launch *l, int *why)
{
    *why = l->image < 0 ? LIVE_APPLY_UNSEEN : b->mask ? LIVE_APPLY_SHAPE : LIVE_APPLY_IMAGE;
    for (int i = 0; i < A.ntargets; i++)
        if (b->mask >> i & 1 && same_shape(&A.target[i], l))
            return i;
    return -1;
}

/* Clusters and cooperative launches count CTAs: they go with an unchanged launch only. */
static bool attributes_fit(const struct target *t, const struct launch *l)
{
    enum { CLUSTER = 4 }; /* CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION */
    bool counts = l->cooperative;
    for (unsigned i = 0; i < l->nattributes; i++)
        counts |= l->attribute[i].id == CLUSTER;
    return !counts || same_launch(t);
}

/* ---- arms ---- */
/* Nine turns in which each arm follows each arm, itself too, once: what ran before it decides what lies
 * in the caches. */
static enum arm next_arm(struct target *t, bool *steady)
{
    static const uint8_t ORDER[] = { 0, 0, 1, 0, 2, 1, 1, 2, 2 };
    unsigned turn = t->turn++;
    enum arm arm = A.mode == LIVE_APPLY_ALL    ? ARM_TUNED
                   : A.mode == LIVE_APPLY_NONE ? (turn & 1 ? ARM_AGAIN : ARM_ORIGINAL)
                                               : (enum arm)ORDER[turn % sizeof ORDER];
    *steady = turn && (t->last == ARM_TUNED) == (arm == ARM_TUNED);
    t->last = arm;
    return arm;
}

/* ---- the launch ---- */
static void put(struct launch *l, const struct target *t, void *f)
{
    if (l->plain) {
        now.f = l->plain->f;
        memcpy(now.grid, l->plain->grid, sizeof now.grid);
        memcpy(now.block, l->plain->block, sizeof now.block);
        now.shared = l->plain->shared;
        l->plain->f = f;
        if (t && !t->any) {
            memcpy(l->plain->grid, t->tgrid, sizeof t->tgrid);
            memcpy(l->plain->block, t->tblock, sizeof t->tblock);
            l->plain->shared = t->tshared;
        }
    } else {
        now.f = l->ex->f;
        now.config = l->ex->config;
        l->ex->f = f;
        if (t && !t->any && !same_launch(t)) {
            now.copy = *l->ex->config;
            memcpy(now.copy.grid, t->tgrid, sizeof t->tgrid);
            memcpy(now.copy.block, t->tblock, sizeof t->tblock);
            now.copy.shared = t->tshared;
            l->ex->config = &now.copy;
        }
    }
}

static void put_back(struct launch *l)
{
    if (l->plain) {
        l->plain->f = now.f;
        memcpy(l->plain->grid, now.grid, sizeof now.grid);
        memcpy(l->plain->block, now.block, sizeof now.block);
        l->plain->shared = now.shared;
    } else {
        l->ex->f = now.f;
        l->ex->config = now.config;
    }
}

static void prepare(const struct target *t, const struct tuned *u, const struct launch *l)
{
    for (unsigned i = 0; i < t->nzero; i++)
        A.d.set_async(u->zero[i], 0, t->zero[i].bytes, apply_stream(l));
    apply_mirror(t, u, l, false);
}

static void note_arm(const struct launch *l, int target, enum arm arm, bool steady)
{
    unsigned at = l->correlation % MOST_ARMS;
    A.call[at].correlation = l->correlation;
    A.call[at].target = (int16_t)target;
    A.call[at].arm = (int8_t)arm;
    A.call[at].steady = steady;
}

/* The function to run instead; NULL: the original. A.lock is held on return of *why. */
static struct tuned *decide(struct bound *b, const struct launch *l, int *target, int *why)
{
    pthread_mutex_lock(&A.lock);
    *target = choose(b, l, why);
    bool stopped = A.stopped;
    pthread_mutex_unlock(&A.lock);
    if (*target < 0 || A.mode == LIVE_APPLY_NONE)
        return NULL;
    *why = stopped                                  ? LIVE_APPLY_STOPPED
           : !attributes_fit(&A.target[*target], l) ? LIVE_APPLY_ATTRIBUTES
                                                    : -1;
    return *why < 0 ? apply_tuned(b, *target, l, why) : NULL;
}

static bool to_verify(const struct target *t)
{
    pthread_mutex_lock(&A.lock);
    bool more = A.verify && t->verified < A.verify;
    pthread_mutex_unlock(&A.lock);
    return more;
}

/* Runs it beside the original. True: the launch is settled (the original runs). */
static bool verify(struct target *t, struct tuned *u, const struct launch *l, bool captured, int *why)
{
    if (!to_verify(t))
        return false;
    *why = captured ? LIVE_APPLY_GRAPH : t->unsafe ? LIVE_APPLY_UNSURE : apply_verify(t, u, l);
    if (*why < 0) {
        now.verifying = true;
        now.target = t;
        now.tuned = u;
        *why = LIVE_APPLY_VERIFYING;
    }
    return true;
}

/* The image was swapped before it was loaded: the tuned kernel runs as it is, and what it is not for
 * gets the original, from beside it. */
static void enter_swapped(struct launch *l, struct bound *b, int target)
{
    struct target *t = &A.target[target];
    int why = -1, unloaded = -1;
    uint64_t from = clock_ns();
    bool captured = apply_capturing(l), steady = false;
    pthread_mutex_lock(&A.lock);
    bool fits = choose(b, l, &why) == target;
    t->launches++;
    if (fits) {
        enum arm arm = next_arm(t, &steady);
        t->applied++;
        t->captured += captured;
        if (!captured)
            note_arm(l, target, arm, steady);
        t->enter_ns += clock_ns() - from;
    } else {
        t->captured_original += captured;
    }
    pthread_mutex_unlock(&A.lock);
    struct tuned *u = fits ? NULL : apply_original(b, target, l, &unloaded);
    if (fits)
        return;
    pthread_mutex_lock(&A.lock);
    t->skipped[u ? why : unloaded]++;
    pthread_mutex_unlock(&A.lock);
    if (!u)
        return;
    apply_mirror(t, u, l, false);
    put(l, NULL, u->f);
    now.target = t;
    now.tuned = u;
    now.original = true;
}

static void enter(struct launch *l)
{
    now.target = NULL;
    now.verifying = now.original = false;
    struct bound *b = l->name ? apply_bound(l) : NULL;
    int why = -1, i = -1;
    if (!b || b->named < 0)
        return;
    int swapped = l->image < 0 ? 0 : S.image[l->image].swapped;
    if (swapped) {
        enter_swapped(l, b, swapped - 1);
        return;
    }
    uint64_t from = clock_ns();
    struct tuned *u = decide(b, l, &i, &why);
    struct target *t = &A.target[i < 0 ? b->named : i];
    bool captured = apply_capturing(l);
    bool settled = u && verify(t, u, l, captured, &why);
    pthread_mutex_lock(&A.lock);
    bool steady = false;
    enum arm arm = captured ? ARM_TUNED : i < 0 || settled ? ARM_ORIGINAL : next_arm(t, &steady);
    bool swap = u && !settled && arm == ARM_TUNED;
    t->launches++;
    t->captured_original += captured && !swap;
    if (why >= 0 && i >= 0 && A.mode == LIVE_APPLY_NONE)
        why = -1;
    if (why >= 0)
        t->skipped[why]++;
    if (i >= 0 && !captured && !settled && (u || A.mode == LIVE_APPLY_NONE))
        note_arm(l, i, arm, steady);
    pthread_mutex_unlock(&A.lock);
    if (swap) {
        prepare(t, u, l);
        put(l, t, u->f);
        now.target = t;
        now.tuned = u;
        pthread_mutex_lock(&A.lock);
        t->applied++;
        t->captured += captured;
        t->enter_ns += clock_ns() - from;
        pthread_mutex_unlock(&A.lock);
    }
}

/* The tuned kernel did not start: the original does, and the program hears of nothing. */
static void start_original(struct target *t, struct launch *l)
{
    int *result;
    memcpy(&result, &l->result, sizeof result);
    struct launch own = *l;
    own.f = now.f;
    if (l->plain) {
        memcpy(own.grid, now.grid, sizeof own.grid);
        memcpy(own.block, now.block, sizeof own.block);
        own.shared = now.shared;
    }
    int r = apply_launch(&own, now.f, NULL);
    if (result)
        *result = r;
    pthread_mutex_lock(&A.lock);
    t->applied--;
    t->skipped[LIVE_APPLY_FAILED]++;
    A.call[l->correlation % MOST_ARMS].target = -1;
    pthread_mutex_unlock(&A.lock);
}

static void leave(struct launch *l, int result)
{
    struct target *t = now.target;
    now.target = NULL;
    if (!t)
        return;
    if (now.verifying) {
        int equal = -1;
        if (result == 0)
            equal = apply_verified(l);
        else
            apply_verify_drop();
        pthread_mutex_lock(&A.lock);
        t->verified += equal == 1;
        t->differed += equal == 0;
        A.stopped |= equal == 0;
        if (equal < 0)
            t->skipped[LIVE_APPLY_UNSTABLE]++, t->skipped[LIVE_APPLY_VERIFYING]--;
        pthread_mutex_unlock(&A.lock);
        return;
    }
    put_back(l);
    if (result != 0 && !now.original)
        start_original(t, l);
    else
        apply_mirror(t, now.tuned, l, true);
}

/* ---- graphs that are built by hand ---- */
/* Each kernel that is put into one, or into an instantiated one, counts as a launch that is left as it
 * is: the program may read its nodes back and change them. */
static void built(const struct node_params *k, bool has_kernel, const struct call *c)
{
    struct launch l = { .f = k->f ? k->f : has_kernel ? k->kernel : NULL, .context = c->context };
    memcpy(l.grid, k->grid, sizeof l.grid);
    memcpy(l.block, k->block, sizeof l.block);
    l.shared = k->shared;
    if (!l.f || A.mode == LIVE_APPLY_NONE)
        return;
    launch_look_up(&l);
    const struct bound *b = l.name ? apply_bound(&l) : NULL;
    if (!b || b->named < 0)
        return;
    int why, i;
    pthread_mutex_lock(&A.lock);
    i = choose(b, &l, &why);
    struct target *t = &A.target[i < 0 ? b->named : i];
    t->launches++;
    t->captured_original++;
    t->skipped[i < 0 ? why : LIVE_APPLY_BUILT]++;
    pthread_mutex_unlock(&A.lock);
}

/* The words of a call's parameters; the last is a pointer to the node's. */
static void built_at(const struct call *c, size_t word, bool has_kernel)
{
    const void *const *p = c->params;
    if (p[word])
        built(p[word], has_kernel, c);
}
/* CUgraphNodeParams; type 0: a kernel. */
static void any_at(const struct call *c, size_t word)
{
    const struct {
        int type, reserved[3];
        struct node_params kernel;
    } *const *p = c->params;
    if (p[word] && p[word]->type == 0)
        built(&p[word]->kernel, true, c);
}

#define NODE(name, ...)                    \
    static void name(const struct call *c) \
    {                                      \
        __VA_ARGS__;                       \
    }
NODE(node_old, built_at(c, 4, false))
NODE(node_new, built_at(c, 4, true))
NODE(node_changed_old, built_at(c, 2, false))
NODE(node_changed, built_at(c, 2, true))
NODE(node_of_any, any_at(c, 4))
NODE(node_of_any_new, any_at(c, 5))
NODE(node_of_any_changed, any_at(c, 2))

static const struct other_call apply_calls[] = {
    { 19, BOTH, apply_load },            /* cuModuleLoadData */
    { 20, BOTH, apply_load },            /* cuModuleLoadDataEx */
    { 678, BOTH, apply_library_load },   /* cuLibraryLoadData */
    { 502, AFTER, node_old },            /* cuGraphAddKernelNode */
    { 689, AFTER, node_new },            /* cuGraphAddKernelNode_v2 */
    { 712, AFTER, node_of_any },         /* cuGraphAddNode */
    { 723, AFTER, node_of_any_new },     /* cuGraphAddNode_v2 */
    { 538, AFTER, node_changed_old },    /* cuGraphExecKernelNodeSetParams */
    { 692, AFTER, node_changed },        /* cuGraphExecKernelNodeSetParams_v2 */
    { 714, AFTER, node_of_any_changed }, /* cuGraphExecNodeSetParams */
    { 0, BEFORE, NULL },
};

const struct launch_part apply_part = { wanted, enter, leave, apply_image, apply_calls };
