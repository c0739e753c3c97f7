/* Launches of different shapes of one kernel: which of those that were captured hold most of its time, in one
 * description, that with the most time first. */
#include "engine/live/live.h"
#include "engine/live/live_int.h"
#include "engine/live/take.h"
#include "engine/rec/launch.h"
#include "engine/session/launch_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void live_files_free(struct live_kernel *k)
{
    for (size_t i = 0; i < k->nfiles; i++) {
        struct live_files *f = &k->files[i];
        BASE_FREE(f->ptx, f->launch, f->name, f->why);
        launch_spec_drop(f->spec);
    }
    base_free(k->files);
    k->files = NULL;
    k->nfiles = 0;
}

struct live_files *live_files_of(struct live_kernel *k, const struct take *t)
{
    for (size_t i = 0; i < k->nfiles; i++)
        if (k->files[i].key == t->key)
            return &k->files[i];
    if (!base_grow((void **)&k->files, k->nfiles, &k->cap_files, sizeof *k->files))
        return NULL;
    struct live_files *f = &k->files[k->nfiles];
    *f = (struct live_files){ .key = t->key,
                              .shared = t->shared,
                              .nth = t->nth,
                              .number = (unsigned)k->nfiles++,
                              .share = NAN,
                              .relative = NAN };
    memcpy(f->grid, t->grid, sizeof f->grid);
    memcpy(f->block, t->block, sizeof f->block);
    return f;
}

bool live_files_count(struct live_kernel *k, uint64_t key, uint64_t launches)
{
    size_t i = 0;
    while (i < k->nfiles && k->files[i].key != key)
        i++;
    if (i < k->nfiles)
        k->files[i].launches += launches;
    return i < k->nfiles;
}

/* ---- which hold most of the time ---- */
static bool alike(const unsigned grid[3], const unsigned block[3], const struct live_files *f)
{
    return memcmp(grid, f->grid, sizeof f->grid) == 0 && memcmp(block, f->block, sizeof f->block) == 0;
}

static double threads_of(const struct live_files *f)
{
    double n = 1;
    for (int i = 0; i < 3; i++)
        n *= (double)f->grid[i] * (double)f->block[i];
    return n;
}

/* The time of its launches; of a kernel that was not timed, their threads. Launches that differ in arguments or shared
 * memory alone are timed together. */
static double weight(const struct live_kernel *k, const struct live_files *f)
{
    uint64_t together = 0, launches = 0, ns = 0, mine = f->launches ? f->launches : 1;
    for (size_t i = 0; i < k->nfiles; i++)
        together += alike(k->files[i].grid, k->files[i].block, f) ? k->files[i].launches : 0;
    for (size_t i = 0; i < k->nshapes; i++) {
        bool same = alike(k->shape[i].grid, k->shape[i].block, f);
        launches += same ? k->shape[i].launches : 0;
        ns += same ? k->shape[i].time_ns : 0;
    }
    if (!k->timed)
        return (double)mine * threads_of(f);
    together = together > launches ? together : launches;
    return (double)ns * (double)mine / (double)(together > mine ? together : mine);
}

/* What was written first, then what takes most. */
static int by_weight(const void *a, const void *b)
{
    const struct live_files *x = a, *y = b;
    if (!x->spec != !y->spec)
        return x->spec ? -1 : 1;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return (x->nth > y->nth) - (x->nth < y->nth);
}

static void choose(struct live_kernel *k)
{
    double all = k->timed ? (double)k->time_ns : 0, held = 0;
    bool known = true;
    for (size_t i = 0; i < k->nfiles; i++) {
        k->files[i].share = weight(k, &k->files[i]); /* until they are in order */
        all += k->timed ? 0 : k->files[i].share;
        known = known && k->timed && k->files[i].launches;
    }
    qsort(k->files, k->nfiles, sizeof *k->files, by_weight);
    for (size_t i = 0; i < k->nfiles; i++) {
        struct live_files *f = &k->files[i];
        f->left_out = i && f->key && held >= LIVE_SHAPES_HOLD * all;
        held += f->share;
        f->share = known && all > 0 ? f->share / all : NAN;
    }
}

void live_shapes_choose(struct live_survey *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].nfiles)
            choose(&s->v[i]);
}

double live_covers(const struct live_kernel *k)
{
    double all = k->nfiles ? 0 : NAN;
    for (size_t i = 0; i < k->nfiles; i++)
        all += k->files[i].spec && !k->files[i].left_out ? k->files[i].share : 0;
    return all;
}

/* ---- the description ---- */
static void remove_data(const char *folder, const char *ptx, unsigned number)
{
    char stem[300], name[320];
    snprintf(stem, sizeof stem, "%.*s", (int)(strlen(ptx) - strlen(".ptx")), ptx);
    for (int left = 0; left < 2; left++) {
        struct buf path = { 0 };
        take_data_name(stem, number, left, name, sizeof name);
        buf_printf(&path, "%s/%s", folder, name);
        if (path.s && !path.oom)
            unlink(path.s);
        buf_free(&path);
    }
}

/* Names in the file, where there are several. */
static enum status name_them(struct live_kernel *k, size_t n)
{
    for (size_t i = 0; i < k->nfiles && n > 1; i++) {
        struct live_files *f = &k->files[i];
        struct buf b = { 0 };
        if (!f->spec || f->left_out)
            continue;
        buf_printf(&b, "launch-%llu", (unsigned long long)f->nth);
        f->name = buf_take(&b);
        f->spec->name = f->name ? base_strdup(f->name) : NULL;
        if (!f->spec->name)
            return ST_NOMEM;
    }
    return ST_OK;
}

static enum status describe(struct live_kernel *k, const char *folder, struct diags *ds)
{
    struct launch_spec *v = base_alloc(k->nfiles * sizeof *v);
    struct buf path = { 0 };
    size_t n = 0;
    if (!v)
        return ST_NOMEM;
    for (size_t i = 0; i < k->nfiles; i++) {
        const struct live_files *f = &k->files[i];
        n += f->spec && !f->left_out;
        if (f->spec && f->left_out)
            remove_data(folder, f->ptx, f->number);
    }
    enum status st = name_them(k, n);
    n = 0;
    for (size_t i = 0; i < k->nfiles; i++)
        if (k->files[i].spec && !k->files[i].left_out)
            v[n++] = *k->files[i].spec;
    buf_printf(&path, "%s/%s", folder, k->files[0].launch);
    if (st == ST_OK)
        st = path.oom ? ST_NOMEM : launch_file_write(path.s, v, n, ds);
    buf_free(&path);
    base_free(v);
    return st;
}

enum status live_shapes_write(struct live_survey *s, const struct live_want *w, struct diags *ds)
{
    enum status st = ST_OK;
    live_shapes_choose(s);
    for (size_t i = 0; i < s->n && st == ST_OK; i++)
        if (s->v[i].nfiles && s->v[i].files[0].spec)
            st = describe(&s->v[i], w->folder, ds);
    return st;
}
