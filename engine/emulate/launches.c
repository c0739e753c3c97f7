/* Launches of one process: run, checked, limited in time. */
#include "engine/dev/card.h"
#include "engine/emulate/guest.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"

#include <math.h>
#include <poll.h>

enum { ERROR_TIMEOUT = 702 };

/* ---- a launch that takes too long, or whose process is gone ---- */
static bool gone(const struct guest *s)
{
    struct pollfd p = { .fd = s->io.fd };
    return poll(&p, 1, 0) > 0 && (p.revents & POLLHUP);
}

static void *watch(void *ctx)
{
    struct guest *s = ctx;
    pthread_mutex_lock(&s->watch_lock);
    while (!s->over) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_sec += 1;
        pthread_cond_timedwait(&s->watch_wake, &s->watch_lock, &t);
        if (s->until_ns && (base_now_ns() > s->until_ns || gone(s)))
            atomic_store(&s->cancel.asked, true);
    }
    pthread_mutex_unlock(&s->watch_lock);
    return NULL;
}

void guest_watch_start(struct guest *s)
{
    pthread_mutex_init(&s->watch_lock, NULL);
    pthread_cond_init(&s->watch_wake, NULL);
    s->watched = pthread_create(&s->watch, NULL, watch, s) == 0;
}

void guest_watch_stop(struct guest *s)
{
    pthread_mutex_lock(&s->watch_lock);
    s->over = true;
    pthread_cond_signal(&s->watch_wake);
    pthread_mutex_unlock(&s->watch_lock);
    if (s->watched)
        pthread_join(s->watch, NULL);
    pthread_cond_destroy(&s->watch_wake);
    pthread_mutex_destroy(&s->watch_lock);
}

static double limit_of(const struct guest *s)
{
    return s->e->want->limit_s > 0 ? s->e->want->limit_s : EMULATE_LIMIT_S;
}

static void watch_over(struct guest *s, bool runs)
{
    pthread_mutex_lock(&s->watch_lock);
    s->until_ns = runs ? base_now_ns() + (int64_t)(1e9 * limit_of(s)) : 0;
    pthread_mutex_unlock(&s->watch_lock);
}

/* ---- one launch ---- */
static struct card_launch launch_of(const struct guest *s, const struct wire_launch *l)
{
    return (struct card_launch){ .grid = { l->grid[0], l->grid[1], l->grid[2] },
                                 .block = { l->block[0], l->block[1], l->block[2] },
                                 .cluster = { l->cluster[0], l->cluster[1], l->cluster[2] },
                                 .shared = l->shared,
                                 .carveout = l->carveout,
                                 .textures = s->textures,
                                 .timed = s->e->want->timed,
                                 .exact = s->e->want->exact,
                                 .cancel = &s->cancel };
}

static void say_stopped(const struct guest *s, const struct card_kernel *k, struct diags *ds)
{
    struct str name = card_function(k)->name;
    if (gone(s))
        diag_error(ds, "program", "the program ended while a launch of %.*s ran", (int)name.n, name.s);
    else if (cancel_asked(&s->e->stop))
        diag_error(ds, "program", "a launch of %.*s was stopped: interrupted", (int)name.n, name.s);
    else
        diag_hint(diag_add(ds, DIAG_ERROR, "time-limit", NULL, NO_SPAN,
                           "a launch of %.*s was stopped after %g s", (int)name.n, name.s, limit_of(s)),
                  "--time-limit SECONDS allows more");
}

static enum status run(struct guest *s, struct card_kernel *k, const struct card_launch *l,
                       struct sim_stats *stats, struct diags *ds)
{
    watch_over(s, true);
    enum status st = card_launch(k, l, stats, ds);
    watch_over(s, false);
    bool stopped = atomic_exchange(&s->cancel.asked, false) || cancel_asked(&s->e->stop);
    if (stopped && st != ST_OK) {
        diags_free(ds);
        say_stopped(s, k, ds);
    }
    return st;
}

/* Where the text tells the place in the user's source, that is what is told. */
static void place_in_source(const struct card_kernel *k, struct diags *ds)
{
    const struct ptx_module *m = card_function(k)->module;
    for (size_t i = 0; i < ds->n; i++) {
        struct diag *d = &ds->v[i];
        struct ptx_place p = d->at.line ? ptx_user_place_at(m, d->at.line) : (struct ptx_place){ 0 };
        struct buf file = { 0 };
        if (!p.line)
            continue;
        buf_str(&file, m->files[p.file]);
        base_free(d->file);
        d->file = buf_take(&file);
        d->at.line = p.line;
        d->at.col = p.col;
    }
}

/* Looked at access by access first, on memory that is put back. True: what it found is no fault of the
 * kernel's, and the launch goes on as without. */
static void check(struct guest *s, struct card_kernel *k, const struct card_launch *l)
{
    struct card_launch checked = *l;
    struct sim_stats stats = { 0 };
    struct diags ds = { 0 };
    struct card_state *state = card_save(s->card);
    checked.timed = false;
    checked.check_uninit = checked.check_races = true;
    if (!state) {
        diag_error(&ds, "memory", "out of memory for a checked launch: it runs unchecked");
        emulation_tell(s->e, &ds);
        return;
    }
    enum status st = run(s, k, &checked, &stats, &ds);
    card_restore(s->card, state);
    sim_stats_free(&stats);
    if (st == ST_DEVICE && seen_findings(s->e, k, &ds) && error_of(st, &ds) == 719)
        place_in_source(k, &ds), emulation_tell(s->e, &ds);
    diags_free(&ds); /* a fault of another kind is told by the launch itself */
}

static void failed(struct guest *s, struct card_kernel *k, enum status st, struct diags *ds)
{
    s->error = st == ST_CANCELLED ? ERROR_TIMEOUT : error_of(st, ds);
    seen_findings(s->e, k, ds);
    pthread_mutex_lock(&s->e->lock);
    s->e->seen->faults++;
    pthread_mutex_unlock(&s->e->lock);
    place_in_source(k, ds);
    emulation_tell(s->e, ds);
}

bool guest_launch(struct guest *s, const struct wire_launch *l, const uint8_t *params, uint64_t n)
{
    if (l->kernel >= s->nkernels || n < card_function(s->kernel[l->kernel].kernel)->param_bytes)
        return false;
    if (s->error)
        return true;
    struct guest_kernel *known = &s->kernel[l->kernel];
    struct card_launch m = launch_of(s, l);
    struct sim_stats stats = { 0 };
    struct diags ds = { 0 };
    m.params = params;
    m.nparams = n;
    if (s->e->want->check_memory)
        check(s, known->kernel, &m);
    known->launches++;
    struct taking *t = taking_begin(s, known, l, params);
    struct look look = { 0 };
    bool looks = known->launches == 1 && !m.timed && look_wanted(l);
    if (looks)
        m.touch = (struct sim_told){ .fn = look_touch, .ctx = &look };
    enum status st = run(s, known->kernel, &m, &stats, &ds);
    if (stats.nprint)
        buf_put(&s->printed, stats.print, stats.nprint);
    if (st != ST_OK) {
        failed(s, known->kernel, st, &ds);
    } else {
        seen_launch(s->e, known->kernel, s->module[known->module].hash, l, &stats);
        if (looks)
            look_keep(s->e, known->kernel, l, &look, &stats);
        s->clock_ns += s->e->want->timed && isfinite(stats.time_ns) ? stats.time_ns : 0;
    }
    taking_end(s, known, t, st == ST_OK);
    sim_stats_free(&stats);
    diags_free(&ds);
    return true;
}

bool guest_fits(struct guest *s, const struct wire_launch *l)
{
    struct wire_fits f = { 0 };
    if (l->kernel >= s->nkernels)
        return false;
    struct card_launch m = launch_of(s, l);
    struct dev_resident r = card_resident(s->kernel[l->kernel].kernel, &m);
    f = (struct wire_fits){ r.ctas_per_sm, r.clusters * r.places, r.ctas };
    return stream_put(&s->io, &f, sizeof f, NULL, 0);
}

bool guest_done(struct guest *s)
{
    struct wire_done d = { s->error };
    bool fine = stream_put(&s->io, &d, sizeof d, s->printed.s, s->printed.n);
    buf_clear(&s->printed);
    return fine;
}
