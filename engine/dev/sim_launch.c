/* One launch of the simulated device: timed, functional, with outputs of all CTAs, of some or of none. */
#include "engine/dev/sim_dev.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/sim/window.h"

#include <string.h>

/* Where the buffers begin that a launch changes: between launches a device copies them back. Returns how
 * many; at most n. */
static size_t restored_buffers(const struct sim_job *j, uint64_t *addr, size_t n)
{
    const struct launch_spec *l = j->b->base.data->spec;
    size_t k = 0;
    for (size_t i = 0; i < l->nargs && k < n; i++) {
        size_t b = j->b->bound.main_use[i].buffer;
        if (l->args[i].output && b != SIZE_MAX)
            addr[k++] = j->b->bound.buffers[b].addr;
    }
    return k;
}

/* outputs, chosen: see sim_launch. */
static enum status run_main(struct sim_job *j, bool functional, struct sim_chosen chosen,
                            struct sim_stats *stats, struct sim_stats *outputs)
{
    const struct dev_run *r = j->r;
    uint64_t restored[RESULT_MAX_OUTPUTS];
    struct sim_window window;
    struct sim_launch s = {
        .grid = r->grid,
        .block = r->block,
        .cluster = r->launch->cluster,
        .shared = r->shared,
        .functional = functional,
        .exact = r->exact,
        .threads = r->serial ? 1 : j->d->threads,
        .carveout = r->carveout,
        .hw_pi = r->hw_pi,
        .dispatch = r->dispatch,
        .seed = r->seed,
        .max_insts = r->max_insts,
        .hostile = r->hostile,
        .sums = r->sums,
        .sides = r->sides,
        .touch = r->touch,
        .check_uninit = r->check_uninit,
        .check_races = r->check_races,
        .cancel = j->cancel,
        .progress = r->progress,
        .ctx = r->ctx,
        .warm_l2 = !r->flush_l2,
        .outputs = outputs,
        .chosen = chosen,
        .restored = restored,
        .window = &window,
        .nrestored = restored_buffers(j, restored, RESULT_MAX_OUTPUTS),
    };
    enum status st = sim_job_prepare(j);
    if (st == ST_OK && functional && chosen.every && !chosen.rest && j->b->left.bytes)
        sim_left_turn(&j->b->left, &j->b->bound, j->d->mem);
    if (st == ST_OK)
        st = dev_sim_args(&j->b->bound, DEV_MAIN, r->launch, j->c->func, j->c->prog, &s, j->ds);
    if (st == ST_OK)
        st = dev_sim_window(&j->b->bound, r, &j->d->preset, &window, j->ds);
    if (st == ST_OK)
        st = sim_run(j->c->prog, &s, stats, j->ds);
    dev_sim_args_free(&s);
    if (!functional && !stats->sampled)
        base_trim(); /* all SMs with all their warps */
    return st;
}

/* ---- outputs that are there already ---- */
static bool is_made(const struct sim_made *m, const struct sim_job *j)
{
    const struct dev_run *r = j->r;
    return m->data == j->b->serial && m->launch == r->launch && m->shared == r->shared &&
           memcmp(&m->grid, &r->grid, sizeof m->grid) == 0 &&
           memcmp(&m->block, &r->block, sizeof m->block) == 0 && !r->nset && !r->nzero;
}

/* A launch of the same left its hashes and counts, and nobody asks for more. */
static bool was_made(const struct sim_job *j)
{
    const struct dev_run *r = j->r;
    return r->unread && !r->functional && r->outputs == DEV_OUTPUTS_ALL && !r->keep_from &&
           is_made(&j->c->made, j);
}

static void put_made(const struct sim_made *m, struct result *out)
{
    memcpy(out->outputs, m->outputs, sizeof m->outputs);
    out->noutputs = m->noutputs;
}

/* Takes *stats over. */
static void note_made(struct sim_job *j, struct sim_stats *stats, const struct result *out)
{
    const struct dev_run *r = j->r;
    struct sim_made *m = &j->c->made;
    if (!r->functional || r->max_insts || r->check_uninit || r->check_races || r->touch.fn || r->sides ||
        stats->print || r->nset || r->nzero || sim_is_hostile(&r->hostile))
        return;
    sim_stats_free(&m->stats);
    *m = (struct sim_made){ .data = j->b->serial,
                            .launch = r->launch,
                            .grid = r->grid,
                            .block = r->block,
                            .shared = r->shared,
                            .stats = *stats,
                            .noutputs = out->noutputs };
    memcpy(m->outputs, out->outputs, sizeof m->outputs);
    *stats = (struct sim_stats){ 0 };
}

/* A timed run makes the outputs too unless it ran dry. */
static enum status run_timed(struct sim_job *j, struct sim_chosen chosen, struct sim_stats *stats,
                             struct sim_stats *all)
{
    bool beside = j->b->ran_dry && !was_made(j);
    enum status st = run_main(j, false, chosen, stats, beside ? all : NULL);
    if (st == ST_OK && stats->again) {
        sim_stats_free(stats);
        st = run_main(j, false, chosen, stats, NULL);
    }
    if (st == ST_OK)
        j->b->ran_dry = stats->dry;
    return st;
}

static enum status run_all(struct sim_job *j, struct sim_stats *stats)
{
    struct sim_stats all = { 0 };
    if (j->r->functional)
        return run_main(j, true, (struct sim_chosen){ 0 }, stats, NULL);
    enum status st = run_timed(j, (struct sim_chosen){ 0 }, stats, &all);
    if (st == ST_OK && stats->dry) {
        bool made = was_made(j);
        if (!stats->made && !made)
            st = run_main(j, true, (struct sim_chosen){ 0 }, &all, NULL);
        sim_stats_complete(stats, &j->d->preset, made ? &j->c->made.stats : &all);
    }
    sim_stats_free(&all);
    return st;
}

#define SOME_CTAS 16u /* that make their outputs */

/* every == 0: all outputs are made. */
static struct sim_chosen chosen_of(const struct sim_job *j)
{
    const struct dev_run *r = j->r;
    uint64_t every = dim3u_count(r->grid) / SOME_CTAS;
    bool can = !r->functional && sim_can_skip(j->c->prog) && !r->check_races && !r->check_uninit;
    if (!can || r->outputs == DEV_OUTPUTS_ALL || (r->outputs == DEV_OUTPUTS_SOME && !j->b->left.bytes))
        return (struct sim_chosen){ 0 };
    if (r->outputs == DEV_OUTPUTS_NONE)
        every = UINT32_MAX;
    if (every < 2)
        return (struct sim_chosen){ 0 };
    return (struct sim_chosen){ .every = every < UINT32_MAX ? (uint32_t)every : UINT32_MAX };
}

/* What control flow decides is counted on all CTAs, outputs are made by those chosen. */
static enum status run_part(struct sim_job *j, struct sim_chosen chosen, struct sim_stats *stats,
                            struct result *out)
{
    struct sim_stats all = { 0 }, some = { 0 };
    struct sim_chosen rest = { chosen.every, true, true };
    enum status st = run_timed(j, chosen, stats, &all);
    if (st == ST_OK && stats->sampled && !stats->made)
        st = run_main(j, true, rest, &all, NULL);
    if (st == ST_OK)
        st = run_main(j, true, chosen, &some, NULL);
    if (st == ST_OK) {
        *result_part_set(out) = (struct outputs_part){ .ctas = some.ctas, .all_ctas = some.all_ctas };
        if (j->b->left.bytes)
            sim_left_compare(&j->b->left, &j->b->bound, j->d->mem, result_part_set(out));
        sim_stats_join(&all, &some);
        sim_stats_complete(stats, &j->d->preset, &all);
    }
    sim_stats_free(&all);
    sim_stats_free(&some);
    return st;
}

static enum status run_as_asked(struct sim_job *j, struct result *out)
{
    struct sim_stats stats = { 0 };
    struct sim_chosen chosen = chosen_of(j);
    enum status st = chosen.every ? run_part(j, chosen, &stats, out) : run_all(j, &stats);
    if (st == ST_OK) {
        dev_sim_counters(out, &stats, !j->r->functional && stats.time_ns >= 0);
        dev_sim_code(out, &j->c->base.res);
    }
    if (st == ST_OK && stats.dry && was_made(j))
        put_made(&j->c->made, out);
    else if (st == ST_OK)
        dev_sim_outputs(out, j->b->base.data->spec, &j->b->bound, j->d->mem);
    if (st == ST_OK && j->r->keep_from && stats.inst_warp >= j->r->keep_from)
        sim_left_keep(&j->b->left, j->b->base.data->spec, &j->b->bound, j->d->mem);
    if (st == ST_OK)
        note_made(j, &stats, out);
    sim_stats_free(&stats);
    return st;
}

/* limit: seconds that were up; 0: none was. A kernel that faults is a failed configuration, not a failed
 * call. */
static enum status settle(enum status st, double limit, const struct dev_run *r, struct result *out,
                          const struct diags *ds)
{
    if (limit > 0 && (st == ST_CANCELLED || st == ST_OK) && !cancel_asked(r->cancel)) {
        dev_result_fail(out, ST_DEVICE, "time limit of %g s reached; --time-limit allows more", limit);
        return ST_OK;
    }
    if (st == ST_DEVICE)
        dev_result_from_diags(out, st, ds);
    return st == ST_DEVICE ? ST_OK : st;
}

enum status sim_job_launch(struct dev *d, struct dev_code *c, struct dev_data *b,
                           const struct dev_run *r, struct result *out, struct diags *ds)
{
    struct diags own = { 0 };
    struct sim_job j = {
        (struct sim_dev *)d, (struct sim_code *)c, (struct sim_data *)b, r, r->cancel, &own
    };
    double limit = r->time_limit_s > 0 ? r->time_limit_s : DEV_SIM_LIMIT_S;
    struct dev_watch *w = dev_watch_start(limit, r->cancel);
    if (w)
        j.cancel = dev_watch_cancel(w);
    enum status st = run_as_asked(&j, out);
    st = settle(st, w && dev_watch_stop(w) && st != ST_OK ? limit : 0, r, out, &own);
    diags_move(ds, &own);
    diags_free(&own);
    return st;
}
