/* Knobs whose value a launch finds: the voted threshold (paper: bypass, 4.4.2), the voted number of
 * agents (paper: cluster, 4.3), the structures of the software cache (paper: softcache, its monitoring
 * slice). */
#include "engine/rec/counter_ids.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rec/opt_softcache.h"
#include "engine/rec/result.h"
#include "engine/tune/runoff.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct pass_input input_of(const struct tune_bench *b, const struct options *o)
{
    struct pass_input in = tune_input(&b->subject, o);
    in.regs = b->original->regs ? b->original->regs : in.regs;
    return in;
}

/* Launches the survey that `o` asks for once and reads what it left in `symbol`. */
static enum status survey(struct tune_bench *b, const struct options *o, enum pass_survey kind,
                          const char *symbol, uint64_t *words, uint64_t bytes, bool functional,
                          int64_t *cost_ns, struct diags *ds)
{
    struct pass_input in = input_of(b, o);
    struct tune_job j = { 0 };
    struct tune_shape *shape = NULL;
    struct result r = result_empty();
    /* what a pass notes is said by the run itself; only a refusal is said here */
    struct diags notes = { 0 };
    enum status st = pass_apply_survey(&in, kind, NULL, &j.code, &notes);
    if (st != ST_OK)
        diags_move(ds, &notes);
    diags_free(&notes);
    if (st == ST_OK)
        st = tune_launch(b, &j, o, functional, &shape, &r, ds);
    if (st == ST_OK && r.status != ST_OK) {
        diag_error(ds, "survey", "the sampling launch failed: %s",
                   r.message[0] ? r.message : status_text(r.status));
        st = r.status;
    }
    if (st == ST_OK)
        st = dev_read_symbol(b->subject.dev, shape->loaded, symbol, words, bytes, ds);
    if (cost_ns)
        *cost_ns = r.time.valid ? r.time.median : 0;
    return st;
}

static void say(struct buf *said, const char *fmt, ...) BASE_PRINTF(2, 3);
static void say(struct buf *said, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (said->n)
        buf_puts(said, "; ");
    buf_vprintf(said, fmt, ap);
    va_end(ap);
}

/* ---- the threshold ---- */
/* The paper elects by the fastest single CTA; a CTA that had little to do would win that way, so
 * what is used is the least mean over the CTAs that ran a threshold. Both are told. */
static int least_mean(const uint64_t *words, uint32_t warps)
{
    double least = INFINITY;
    int mean = -1;
    for (uint32_t pi = 0; pi <= warps && pi <= PASS_VOTE_MOST; pi++) {
        double n = (double)words[2 + 2 * pi], own = n > 0 ? (double)words[1 + 2 * pi] / n : INFINITY;
        if (own < least) {
            least = own;
            mean = (int)pi;
        }
    }
    return mean;
}

/* The ends become bpa and cha, which run no inserted code. */
static void set_pi(struct options *o, int pi, int warps)
{
    opt_bypass(o)->pi.mode = pi == 0 ? PI_BPA : pi >= warps ? PI_CHA : PI_VALUE;
    opt_bypass(o)->pi.value = opt_bypass(o)->pi.mode == PI_VALUE ? pi : 0;
}

static void say_runoff(const char *name, unsigned launches, int best, struct buf *said)
{
    buf_printf(said, "; a run-off of %u launches elected %s%d", launches, name, best);
}

/* Replaces `vote` by what was elected. CTAs are timed as the hardware runs them: agents, prefetches and
 * software lines come after. */
static enum status elect_pi(struct tune_bench *b, struct options *o, struct tune_votes *voted,
                            struct buf *said, struct diags *ds)
{
    uint64_t words[PASS_VOTE_WORDS];
    int64_t cost = 0;
    bool by_cta = opt_bypass(o)->pi.mode == PI_VOTE_CTA;
    struct options ballot = *o;
    opt_cluster(&ballot)->kind =
        opt_cluster(&ballot)->kind == CLUSTER_AGENT ? CLUSTER_NONE : opt_cluster(&ballot)->kind;
    opt_cluster(&ballot)->agents = opt_softcache(&ballot)->lines = 0;
    opt_prefetch(&ballot)->level = PREFETCH_OFF;
    enum status st =
        survey(b, &ballot, PASS_SURVEY_NONE, PASS_VOTE_SYMBOL, words, sizeof words, false, &cost, ds);
    if (st != ST_OK)
        return st;
    int warps = (int)tune_warps(&b->subject), mean = least_mean(words, tune_warps(&b->subject));
    if (mean < 0) {
        diag_error(ds, "vote", "no CTA voted");
        return ST_DEVICE;
    }
    if (by_cta && words[0])
        mean = (int)(~words[0] & 0xff);
    voted->sampled = mean;
    say(said, "voted π=%d by %s in one launch of %s (the fastest single CTA ran π=%d)", mean,
        by_cta ? "one CTA per threshold" : "mean CTA time", time_words((double)cost).s,
        words[0] ? (int)(~words[0] & 0xff) : -1);
    if (opt_bypass(o)->pi.mode == PI_VOTE) {
        const struct runoff_range range = { 0, warps, set_pi };
        unsigned launches = 0;
        if ((st = tune_runoff(b, &ballot, &range, mean, &mean, &launches, ds)) == ST_OK)
            say_runoff("π=", launches, mean, said);
    }
    set_pi(o, mean, warps);
    voted->elected = mean;
    return st;
}

/* ---- agents ---- */
/* Tasks per SM and cycle with n agents: n agents at work at once, each for `cycles / tasks` a task. What
 * counts is how many really worked: fewer may fit on an SM than it was told to run. */
static double task_rate(const uint64_t *w)
{
    return w[0] && w[3] ? (double)w[2] / (double)w[3] * (double)w[1] / (double)w[0] : 0;
}

static void set_agents(struct options *o, int agents, int most)
{
    (void)most;
    opt_cluster(o)->agents = agents;
}

/* As many as an SM holds of the code with agents; 1 where it does not run. */
static enum status most_agents(struct tune_bench *b, const struct options *o, int *most,
                               struct diags *ds)
{
    struct options all = *o;
    struct result *r = base_alloc(sizeof *r);
    struct diags own = { 0 };
    opt_cluster(&all)->agents = 0;
    enum status st = r ? tune_run_chosen(b, &all, r, &own) : ST_NOMEM;
    if (r)
        st = tune_as_result(st, &own, r);
    diags_move(ds, &own);
    *most = st == ST_OK && r->ctas_per_sm > 0 ? (int)r->ctas_per_sm : 1;
    base_free(r);
    return st;
}

static enum status elect_agents(struct tune_bench *b, struct options *o, struct tune_votes *voted,
                                struct buf *said, struct diags *ds)
{
    uint64_t words[PASS_AGENT_VOTE_WORDS];
    int64_t cost = 0;
    int best = 0;
    double rate = 0;
    enum status st =
        survey(b, o, PASS_SURVEY_NONE, PASS_AGENT_VOTE_SYMBOL, words, sizeof words, false, &cost, ds);
    if (st != ST_OK)
        return st;
    for (int n = 1; n <= PASS_VOTE_MOST; n++) {
        double own = task_rate(&words[PASS_AGENT_VOTE_STEP * n]);
        if (own > rate) {
            rate = own;
            best = n;
        }
    }
    if (!best) {
        diag_error(ds, "vote", "no agent voted");
        return ST_DEVICE;
    }
    struct runoff_range range = { 1, 1, set_agents };
    unsigned launches = 0;
    if ((st = most_agents(b, o, &range.most, ds)) != ST_OK)
        return st;
    best = best < range.most ? best : range.most; /* more were told to work than an SM holds */
    voted->sampled = voted->sampled >= 0 ? voted->sampled : best;
    say(said, "voted %d agents per SM by tasks per cycle in one launch of %s", best,
        time_words((double)cost).s);
    if ((st = tune_runoff(b, o, &range, best, &best, &launches, ds)) == ST_OK)
        say_runoff("agents=", launches + 1, best, said);
    opt_cluster(o)->agents = best;
    voted->elected = voted->elected >= 0 ? voted->elected : best;
    return st;
}

/* ---- the software cache ---- */
static void say_counts(const struct tune_bench *b, const uint64_t *words, struct buf *said)
{
    const struct launch_spec *l = b->subject.launch;
    for (size_t p = 0, n = 0; p < launch_nargs(l) && 2 * p + 1 < PASS_SOFT_MONITORED; p++)
        if (words[2 * p + 1])
            buf_printf(said, "%s%s %.1f %%", n++ ? ", " : "",
                       launch_arg(l, p)->name ? launch_arg(l, p)->name : "?",
                       100 * (double)words[2 * p] / (double)words[2 * p + 1]);
}

/* What the monitoring launch takes beyond the original's time. */
static void say_monitoring(const struct tune_bench *b, int64_t cost, struct buf *said)
{
    double was = b->original->time.valid ? (double)b->original->time.median : 0;
    if (cost > 0)
        buf_printf(said, "; monitoring took one launch of %s", time_words((double)cost).s);
    if (cost > 0 && was > 0)
        buf_printf(said, ", %+.1f %% over the original's", 100 * ((double)cost / was - 1));
}

/* The monitoring slice once; then only what its hits choose is compiled. */
static enum status profile(struct tune_bench *b, struct options *o, struct buf *said, struct diags *ds)
{
    uint64_t words[PASS_SOFT_WORDS];
    int64_t cost = 0;
    struct options alone = *o;
    opt_bypass(&alone)->level = opt_cluster(&alone)->kind = opt_cluster(&alone)->agents =
        opt_prefetch(&alone)->level = 0;
    enum status st =
        survey(b, &alone, PASS_SURVEY_PROFILE, PASS_SOFT_SYMBOL, words, sizeof words, false, &cost, ds);
    struct pass_input in = input_of(b, &alone);
    struct pass_output code;
    struct diags notes = { 0 };
    if (st == ST_OK && (st = pass_apply_survey(&in, PASS_SURVEY_NONE, words, &code, &notes)) != ST_OK)
        diags_move(ds, &notes);
    diags_free(&notes);
    if (st != ST_OK)
        return st;
    opt_softcache(o)->lines = code.soft_lines;
    memcpy(opt_softcache(o)->data, code.soft_data, sizeof opt_softcache(o)->data);
    say(said, "profiled hits of the first %d accesses per thread: ",
        opt_softcache(o)->sample > 0 ? opt_softcache(o)->sample : PASS_SOFT_SAMPLE);
    say_counts(b, words, said);
    say_monitoring(b, cost, said);
    buf_puts(said, code.soft_lines ? "" : ": nothing is cached");
    pass_output_free(&code);
    return ST_OK;
}

/* ---- claims ---- */
/* `auto` becomes what the code has. */
static enum status find_claims(struct tune_bench *b, struct options *o, struct buf *said,
                               struct diags *ds)
{
    struct pass_input in = input_of(b, o);
    struct pass_output code;
    struct diags notes = { 0 };
    enum status st = pass_apply(&in, &code, &notes);
    if (st != ST_OK)
        diags_move(ds, &notes);
    diags_free(&notes);
    if (st != ST_OK)
        return st;
    opt_cluster(o)->claims = code.meaning.claims;
    say(said, "agents claim tasks by %s%s",
        code.meaning.no_launch ? "atomics: " : "cluster launch control",
        code.meaning.no_launch ? code.meaning.no_launch : "");
    pass_output_free(&code);
    return ST_OK;
}

enum status tune_resolve_auto(struct tune_bench *b, struct options *o, struct tune_votes *voted,
                              struct buf *said, struct diags *ds)
{
    enum status st = PI_IS_VOTE(opt_bypass(o)->pi.mode) && opt_bypass(o)->level != BYPASS_NONE
                         ? elect_pi(b, o, voted, said, ds)
                         : ST_OK;
    if (st == ST_OK && opt_softcache(o)->lines == OPT_SOFTCACHE_AUTO && !opt_softcache(o)->data[0])
        st = profile(b, o, said, ds);
    if (st == ST_OK && opt_cluster(o)->agents == OPT_AGENTS_VOTE &&
        opt_cluster(o)->kind == CLUSTER_AGENT)
        st = elect_agents(b, o, voted, said, ds);
    if (st == ST_OK && opt_cluster(o)->claims == CLAIMS_AUTO && opt_cluster(o)->kind == CLUSTER_AGENT)
        st = find_claims(b, o, said, ds);
    return st;
}

/* Warp instructions of the original, counted once; 0: the device does not count them. */
static enum status count_original(struct tune_bench *b, struct diags *ds)
{
    const struct options *none = options_none();
    struct tune_job j = { 0 };
    struct tune_shape *shape = NULL;
    struct result r = result_empty();
    if (b->inst_warp > 0 || !b->opts.counters)
        return ST_OK;
    enum status st = tune_rewrite(b, none, &j.code, ds);
    if (st == ST_OK)
        st = tune_launch(b, &j, none, false, &shape, &r, ds);
    if (st == ST_OK && r.status == ST_OK && r.counters[COUNTER_INST_WARP].valid)
        b->inst_warp = r.counters[COUNTER_INST_WARP].value;
    return st;
}

enum status tune_census(struct tune_bench *b, const struct options *o, const struct result *r,
                        struct buf *said, struct diags *ds)
{
    uint64_t words[PASS_SOFT_WORDS], hits = 0, all = 0;
    enum status st =
        survey(b, o, PASS_SURVEY_CENSUS, PASS_SOFT_SYMBOL, words, sizeof words, true, NULL, ds);
    if (st == ST_OK)
        st = count_original(b, ds);
    if (st != ST_OK)
        return st;
    for (size_t k = 0; k < PASS_SOFT_MONITORED; k += 2) {
        hits += words[k];
        all += words[k + 1];
    }
    say(said, "software cache: %.2f %% of %llu accesses hit (",
        all ? 100 * (double)hits / (double)all : 0, (unsigned long long)all);
    say_counts(b, words, said);
    buf_puts(said, ")");
    if (opt_softcache(o)->lines == OPT_SOFTCACHE_DYNAMIC && all)
        buf_printf(said, ", monitoring %.2f %% of them",
                   100 * (double)words[PASS_SOFT_MONITORED] / (double)all);
    if (b->inst_warp > 0 && r->counters[COUNTER_INST_WARP].valid)
        buf_printf(said, ", warp instructions %+.1f %%",
                   100 * (r->counters[COUNTER_INST_WARP].value / b->inst_warp - 1));
    return ST_OK;
}
