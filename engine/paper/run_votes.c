/* votes: what a vote elects beside the best of all values, and what it took. Thresholds (paper: bypass,
 * 4.4.2) and agents (paper: cluster, 4.3). Every CTA is timed, so that times of all values compare. */
#include "engine/analysis/analysis.h"
#include "engine/paper/paper_int.h"
#include "engine/rec/result_read.h"
#include "engine/tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64, AHEAD = 5 /* percent behind the best that need a reason */ };
enum {
    VOTE_BEST,
    VOTE_SM,
    VOTE_CTA,
    VOTE_RUNOFF,
    VOTE_SM_LOSS,
    VOTE_CTA_LOSS,
    VOTE_RUNOFF_LOSS,
    VOTE_LAUNCHES
};

struct ballot {
    struct paper_cell *c;
    struct paper_row *row;
    bool agents;
    int least, most, best;
    double ns[MOST + 1], l2[MOST + 1];
    struct result *r;
};

static void options_at(const struct ballot *b, const char *value, char *to, size_t n)
{
    const char *index = b->c->w.facts->partition.index;
    bool named = index && strcmp(index, "none") != 0;
    if (b->agents)
        snprintf(to, n, "--cluster agent --index %s --agents %s", named ? index : "row", value);
    else
        snprintf(to, n, "%s --pi %s", b->c->e->options, value);
}

static enum status try_value(struct ballot *b, const char *value)
{
    char line[160];
    options_at(b, value, line, sizeof line);
    return cell_try(b->c, line, b->r);
}

/* Every value, the ends of a threshold as bpa and cha. */
static void try_all(struct ballot *b)
{
    for (int v = b->least; v <= b->most && !cell_cancelled(b->c) && b->c->st == ST_OK; v++) {
        char text[16];
        snprintf(text, sizeof text, "%d", v);
        try_value(b, b->agents || (v && v < b->most) ? text : v ? "cha" : "bpa");
        b->ns[v] = cell_ns(b->r);
        b->l2[v] = cell_counter(b->r, "l2.read_sectors");
        if (b->ns[v] == b->ns[v] && !(b->ns[b->best] <= b->ns[v]))
            b->best = v;
        if (b->ns[v] != b->ns[v] && !b->row->note[0] && result_message(b->r)[0])
            snprintf(b->row->note, sizeof b->row->note, "%s", result_message(b->r));
        b->c->tick(b->c, 0.7 * (v + 1) / (b->most + 1));
    }
}

static double loss(const struct ballot *b, int v)
{
    return v >= b->least && v <= b->most ? b->ns[v] / b->ns[b->best] : NAN;
}

static void put(struct ballot *b, int series, int elected)
{
    b->row->v[series].ours = elected >= 0 ? (double)elected : NAN;
    b->row->v[series + VOTE_SM_LOSS - VOTE_SM].ours = loss(b, elected);
}

/* One vote; its launches, the one of what was elected left out. */
static double vote(struct ballot *b, const char *how, int series)
{
    unsigned before = tune_bench_launches(b->c->bench);
    try_value(b, how);
    int elected = result_status(b->r) == ST_OK ? result_voted(b->r) : -1;
    if (elected < 0 && result_message(b->r)[0] && !b->row->note[0])
        snprintf(b->row->note, sizeof b->row->note, "%s: %s", how, result_message(b->r));
    put(b, series, elected);
    return elected < 0 ? NAN : (double)(tune_bench_launches(b->c->bench) - before - 1);
}

static unsigned valleys(const struct ballot *b)
{
    unsigned n = 0;
    for (int v = b->least; v <= b->most; v++)
        n += (v == b->least || b->ns[v] <= b->ns[v - 1]) && (v == b->most || b->ns[v] < b->ns[v + 1]);
    return n;
}

/* Why an election is more than AHEAD percent behind, from what was counted. */
static void explain(struct ballot *b, int series, const char *name)
{
    int v = (int)b->row->v[series].ours;
    double behind = loss(b, v), l2 = b->l2[v] / b->l2[b->best];
    size_t at = strlen(b->row->note);
    char *to = b->row->note + at;
    size_t room = sizeof b->row->note - at;
    if (!(behind > 1 + AHEAD / 100.0))
        return;
    snprintf(to, room, "%s%s: ", at ? "; " : "", name);
    at = strlen(to);
    to += at;
    room -= at;
    if (series == VOTE_RUNOFF)
        snprintf(to, room, "%u valleys in the curve, one of them is found", valleys(b));
    else if (l2 > 1.05)
        snprintf(to, room, "%d reads %.2f times the L2 sectors of %d%s", v, l2, b->best,
                 series == VOTE_SM ? ", while SMs of other values leave it their share of L2"
                                   : "; a CTA has its SM and L2 to itself");
    else
        snprintf(to, room, "%d and %d read as much from L2; %s", v, b->best,
                 series == VOTE_SM ? "the CTAs of an SM are not alike, or few"
                                   : "a CTA alone on its SM has all of L1");
}

static bool open_ballot(struct ballot *b)
{
    struct paper_cell *c = b->c;
    if (!b->row || cell_open(c, !b->agents) != ST_OK || cell_bench(c) != ST_OK)
        return false;
    b->least = b->agents;
    b->best = b->least;
    b->most = (int)cell_warps(c);
    if (b->agents && try_value(b, "0") != ST_NOMEM) {
        b->most = result_status(b->r) == ST_OK ? (int)result_ctas_per_sm(b->r) : 0;
        if (result_status(b->r) != ST_OK)
            snprintf(b->row->note, sizeof b->row->note, "%s", result_message(b->r));
    }
    return b->most >= b->least && b->most <= MOST && c->st == ST_OK;
}

void paper_run_votes(struct paper_cell *c)
{
    struct ballot *b = base_alloc(sizeof *b);
    if (!b || !(b->r = result_new())) {
        base_free(b);
        c->st = ST_NOMEM;
        return;
    }
    b->c = c;
    b->agents = strcmp(c->e->id, "s3-vote") == 0;
    b->row = cell_row(c);
    if (open_ballot(b))
        try_all(b);
    if (c->st == ST_OK && b->most && b->ns[b->best] == b->ns[b->best] && !cell_cancelled(c)) {
        b->row->v[VOTE_BEST].ours = b->best;
        snprintf(b->row->point, sizeof b->row->point, "of %d", b->most - b->least + 1);
        b->row->v[VOTE_LAUNCHES].ours = vote(b, "vote", VOTE_RUNOFF);
        put(b, VOTE_SM, result_sample_voted(b->r));
        explain(b, VOTE_SM, "by SM");
        explain(b, VOTE_RUNOFF, "run-off");
        if (!b->agents && !cell_cancelled(c)) {
            vote(b, "vote-cta", VOTE_CTA);
            explain(b, VOTE_CTA, "by CTA");
        }
    }
    base_free(b->r);
    base_free(b);
}
