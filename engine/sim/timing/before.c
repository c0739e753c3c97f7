/* The launch before the timed one, run for what it leaves in L2. */
#include <string.h>
#include "engine/sim/timing/groups.h"
#include "engine/sim/mem.h"
#include "engine/sim/timing/sm.h"

/* Launches that read their lines so often find those of the launch before (H200: loops of 6 passes do, of one pass
 * do not). */
#define READS_AGAIN 1.0

/* Device memory as it was, for a launch that is run for what it leaves in L2 alone. */
struct memory_kept {
    uint8_t **bytes; /* of each allocation that is no constant; owned */
    bool *written;
};
#define KEPT_TIMES 4u /* of what L2 holds: more memory is not copied for that */

static bool keep_memory(const struct timing_launch *t, struct memory_kept *k)
{
    const struct sim_mem *m = t->p->mem;
    bool fine = m->used <= KEPT_TIMES * (uint64_t)t->g->l2_bytes;
    k->bytes = base_alloc((m->n + 1) * sizeof *k->bytes);
    k->written = base_alloc((m->n + 1) * sizeof *k->written);
    fine = fine && k->bytes && k->written;
    for (size_t i = 0; i < m->n && fine; i++) {
        const struct sim_mem_entry *e = &m->v[i];
        k->written[i] = e->written;
        if (e->a.constant)
            continue;
        k->bytes[i] = e->a.host ? base_alloc(e->a.n) : NULL;
        fine = k->bytes[i] != NULL;
        if (fine)
            memcpy(k->bytes[i], e->a.host, e->a.n);
    }
    return fine;
}

static void put_memory_back(const struct timing_launch *t, const struct memory_kept *k)
{
    struct sim_mem *m = t->p->mem;
    for (size_t i = 0; i < m->n; i++) {
        struct sim_mem_entry *e = &m->v[i];
        bool stored = k->bytes[i] && !e->asks; /* it asks until the first store */
        if (stored && memcmp(e->a.host, k->bytes[i], e->a.n) != 0)
            memcpy(e->a.host, k->bytes[i], e->a.n);
        e->written = k->written[i];
    }
}

static void kept_free(const struct timing_launch *t, struct memory_kept *k)
{
    for (size_t i = 0; k->bytes && i < t->p->mem->n; i++)
        base_free(k->bytes[i]);
    BASE_FREE(k->bytes, k->written);
}

/* A launch that is run before the one that is timed. One that cannot run leaves nothing: the timed one says why. */
struct launch_before {
    struct timing_launch t;
    struct sim_launch l;
    struct timing_groups a;
};

static enum status run_quietly(struct launch_before *b, const struct timing_launch *t, uint64_t budget)
{
    struct diags untold = { 0 };
    *b = (struct launch_before){ .t = *t, .l = *t->l };
    b->l.progress = NULL;
    b->t.l = &b->l;
    enum status st = exec_launch_new(t->p, &b->l, &b->t.x, &untold);
    if (st == ST_OK)
        st = timing_groups_run(&b->t, budget, &b->a, &untold);
    diags_free(&untold);
    return st;
}

static enum status before_free(struct launch_before *b, enum status st)
{
    timing_groups_free(&b->a);
    exec_launch_free(b->t.x);
    return st == ST_NOMEM || st == ST_CANCELLED ? st : ST_OK;
}

/* The whole launch, for what it leaves in L2; memory is then as it was. */
static enum status run_whole_before(const struct timing_launch *t, struct cache_l2 *left)
{
    struct launch_before b = { 0 };
    struct memory_kept kept = { 0 };
    enum status st = ST_OK;
    if (keep_memory(t, &kept)) {
        st = run_quietly(&b, t, 0);
        if (st == ST_OK && !exec_launch_faulted(b.t.x)) {
            *left = b.a.v[0].mem.l2;
            b.a.v[0].mem.l2 = (struct cache_l2){ 0 };
        }
        put_memory_back(t, &kept);
        st = before_free(&b, st);
    }
    kept_free(t, &kept);
    return st;
}

/* A sample on private memory says whether the launch reads lines again that one SM alone reads. */
static enum status sample_before(struct timing_launch *t)
{
    struct launch_before b;
    enum status st = run_quietly(&b, t, NGROUPS * SAMPLE_BUDGET / t->ngroups);
    t->own_left = st == ST_OK && cache_l2_again(&b.a.v[0].mem.l2) >= READS_AGAIN;
    return before_free(&b, st);
}

/* What an earlier launch leaves in L2, where that depends on the order of its reads. */
enum status timing_run_before(struct timing_launch *t, struct cache_l2 *left)
{
    bool checks = t->l->check_uninit || t->l->check_races;
    t->own_left = false;
    if (checks || t->p->heap || !cache_l2_depends(t->g, t->buffer, t->nbuffers))
        return ST_OK;
    return !t->sampled ? run_whole_before(t, left) : t->subset ? sample_before(t) : ST_OK;
}
