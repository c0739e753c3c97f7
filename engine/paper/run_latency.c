/* latency: what one load costs the CTAs of an SM, one after another (paper: cluster, figure 2). The
 * kernel says on which SM each CTA ran, as which of that SM's CTAs, and what its load took. Shown is the
 * SM of CTA 0, as in the paper. */
#include "engine/paper/paper_int.h"
#include "engine/rec/launch.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result_read.h"
#include "engine/tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct seen {
    size_t n, slots;
    uint32_t *sm, *order, *cycles; /* of each CTA */
};

/* Mean over the CTAs of CTA 0's SM whose place lies in [from, to); *n: how many. */
static double mean_of(const struct seen *s, size_t from, size_t to, size_t *n)
{
    double sum = 0;
    *n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->sm[i] == s->sm[0] && s->order[i] >= from && s->order[i] < to) {
            sum += s->cycles[i];
            ++*n;
        }
    return *n ? sum / (double)*n : NAN;
}

static void put(struct paper_cell *c, const struct seen *s, const char *name, size_t from, size_t to)
{
    size_t n = 0;
    double v = mean_of(s, from, to, &n);
    struct paper_row *row = cell_row(c);
    if (!row)
        return;
    snprintf(row->point, sizeof row->point, "%s", name);
    row->v[0].ours = v;
    row->v[1].ours = (double)n;
    row->waves = (double)s->n / (double)(s->slots * c->w.info.sms);
    snprintf(row->note, sizeof row->note,
             n ? "%zu CTAs of SM %u, of %zu launched" : "none of its %zu CTAs on SM %u, of %zu launched",
             n, s->sm[0], s->n);
}

static void rows(struct paper_cell *c, const struct seen *s, bool staggered)
{
    if (!staggered) {
        put(c, s, "first turn", 0, s->slots);
        put(c, s, "later turns", s->slots, s->n);
        return;
    }
    put(c, s, "staggered: first CTA", 0, 1);
    put(c, s, "staggered: others of its turn", 1, s->slots);
    put(c, s, "staggered: later turns", s->slots, s->n);
}

static enum status read_words(struct paper_cell *c, const char *name, uint32_t **out, size_t n)
{
    size_t arg = launch_arg_named(c->w.spec, name);
    if (arg == SIZE_MAX || !(*out = base_alloc(n * sizeof **out)))
        return arg == SIZE_MAX ? ST_INPUT : ST_NOMEM;
    return tune_bench_read(c->bench, arg, 0, *out, n * sizeof **out, &c->ds);
}

static uint32_t word_of(const struct launch_spec *l, const char *name)
{
    size_t arg = launch_arg_named(l, name);
    uint32_t v = 0;
    if (arg != SIZE_MAX)
        memcpy(&v, l->args[arg].scalar, sizeof v);
    return v;
}

static void set_word(struct launch_spec *l, const char *name, uint32_t v)
{
    size_t arg = launch_arg_named(l, name);
    if (arg != SIZE_MAX)
        memcpy(&l->args[arg].scalar, &v, sizeof v);
}

/* The paper's launch: every CTA slot of every SM four times on Fermi and Kepler, twice on later ones; 480,
 * 960, 1,024 and 1,280 CTAs on the GPUs that they fit. */
static void size_launch(struct paper_cell *c, size_t slots)
{
    struct launch_spec *l = &c->w.launches.launch[c->w.spec - c->w.launches.launch];
    uint32_t turns = c->w.info.cc_major < 5 ? 4 : 2, n = (uint32_t)slots * c->w.info.sms * turns;
    l->grid.x = n < l->grid.x ? n : l->grid.x;
    set_word(l, "slots", (uint32_t)slots);
}

void paper_run_latency(struct paper_cell *c)
{
    struct result *r = result_new();
    struct seen s = { 0 };
    c->st = r ? cell_open(c, true) : ST_NOMEM;
    if (c->st == ST_OK) {
        s.slots = c->w.info.max_ctas_per_sm; /* one warp each: nothing else limits a turn */
        size_launch(c, s.slots);
        s.n = dim3u_count(c->w.spec->grid);
        cell_bench(c);
    }
    if (c->st == ST_OK && cell_try(c, "", r) == ST_OK && result_status(r) != ST_OK) {
        diag_error(&c->ds, "paper", "%s", result_message(r));
        c->st = result_status(r);
    }
    if (c->st == ST_OK)
        c->st = read_words(c, "sm", &s.sm, s.n);
    if (c->st == ST_OK)
        c->st = read_words(c, "order", &s.order, s.n);
    if (c->st == ST_OK)
        c->st = read_words(c, "latency", &s.cycles, s.n);
    if (c->st == ST_OK)
        rows(c, &s, word_of(c->w.spec, "delay") != 0);
    base_free(s.sm);
    base_free(s.order);
    base_free(s.cycles);
    base_free(r);
}
