/* apply: a program run with tuned kernels in place of its own, by turns with the originals. */
#include "engine/base/name.h"
#include "engine/cmd/cmd_int.h"
#include "engine/live/apply.h"
#include "engine/live/remote.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/counters.h"
#include "engine/session/document.h"
#include "engine/rec/gain.h"
#include "engine/workspace/args.h"
#include "engine/workspace/tuned.h"
#include "engine/workspace/tuned_export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct asked {
    const struct tuned_kernels *tuned;
    const struct live_apply *apply;
    size_t index[64]; /* of a target: which of tuned->v */
};

static uint64_t match(void *ctx, const char *kernel, uint64_t hash, const char *path, int *maxreg,
                      uint64_t *whole)
{
    const struct asked *q = ctx;
    uint64_t mask = 0;
    for (size_t i = 0; i < q->apply->n; i++) {
        int limit = 0;
        bool all = false;
        if (strcmp(q->apply->v[i].kernel, kernel) != 0 ||
            !tuned_matches(&q->tuned->v[q->index[i]], hash, path, &limit, &all))
            continue;
        mask |= 1ull << i;
        *whole |= (uint64_t)all << i;
        *maxreg = limit;
    }
    return mask;
}

/* ---- what the runs came to ---- */
struct outcome { /* of one target */
    const struct live_target *target;
    const struct tuned_kernel *tuned;
    struct live_spread original, again, by_turns, steady, steady_tuned;
    bool has_original, has_again, has_tuned, has_steady;
    double share; /* of the GPU's time; < 0: not known */
};
struct program {
    uint64_t wall_ns, span_ns;                   /* of the run that is reported */
    uint64_t wall_original_ns, span_original_ns; /* --whole; 0: not run */
    double expected_ns, span_expected_ns;        /* < 0: not known */
    uint64_t gpu_ns, gpu_original_ns;            /* sums over all kernels, gaps between them left out */
    double gpu_expected_ns;
    bool whole;
};
struct told {
    struct outcome v[64];
    size_t n;
    struct program program;
};

/* What a launch takes less. Behind one of its own kind, as it would be were all tuned, where that was
 * timed. */
static double gain_ns(const struct outcome *o)
{
    if (o->has_steady)
        return (double)o->steady.median - (double)o->steady_tuned.median;
    return o->has_original && o->has_tuned ? (double)o->original.median - (double)o->by_turns.median : 0;
}

static double noise(const struct outcome *o)
{
    double a = (double)o->original.median, b = (double)o->again.median;
    return o->has_original && o->has_again && a > 0 && b > 0
               ? 100 * (a > b ? a - b : b - a) / (a < b ? a : b)
               : -1;
}

static double share_of(const struct live_survey *s, const char *kernel)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->v[i].name, kernel) == 0)
            ns += s->v[i].time_ns;
    return s->gpu_ns ? (double)ns / (double)s->gpu_ns : -1;
}

static void take(struct told *t, struct live_apply *a, const struct asked *q)
{
    t->n = a->n;
    for (size_t i = 0; i < a->n; i++) {
        struct outcome *o = &t->v[i];
        struct live_target *g = &a->v[i];
        o->target = g;
        o->tuned = &q->tuned->v[q->index[i]];
        o->has_original |= live_spread(&g->time[LIVE_ORIGINAL], &o->original);
        o->has_again |= live_spread(&g->time[LIVE_AGAIN], &o->again);
        o->has_tuned = live_spread(&g->time[LIVE_TUNED], &o->by_turns) ||
                       live_spread(&g->time[LIVE_REPLAYED], &o->by_turns);
        o->has_steady |= live_spread(&g->time[LIVE_STEADY], &o->steady) &&
                         live_spread(&g->time[LIVE_STEADY_TUNED], &o->steady_tuned);
        if (o->share <= 0)
            o->share = share_of(&a->survey, g->kernel);
    }
}

/* ---- the document ---- */
static void put_spread(struct jw *w, const char *key, bool has, const struct live_spread *s)
{
    if (!has) {
        jw_put_null(w, key);
        return;
    }
    jw_put_obj(w, key);
    jw_put_uint(w, "median", s->median);
    jw_put_uint(w, "min", s->min);
    jw_put_uint(w, "max", s->max);
    jw_end_obj(w);
}

/* To so many parts of 1; null where it is below 0: not known. */
static void put_rounded(struct jw *w, const char *key, double v, double parts)
{
    jw_put_num(w, key, v >= 0 ? round(v * parts) / parts : (double)NAN);
}

static void put_samples(struct jw *w, const char *key, const struct live_times *t)
{
    enum { SHOWN = 512 };
    size_t step = t->kept > SHOWN ? t->kept / SHOWN : 1, shown = 0;
    jw_put_arr(w, key);
    for (size_t i = 0; i < t->kept && shown < SHOWN; i += step, shown++)
        jw_uint(w, t->v[i]);
    jw_end_arr(w);
}

static void put_skipped(struct jw *w, const struct live_target *t)
{
    jw_put_arr(w, "skipped");
    for (int why = 0; why < LIVE_APPLY_NWHY; why++) {
        if (!t->skipped[why])
            continue;
        jw_obj(w);
        jw_put_str(w, "why", live_apply_why(why));
        jw_put_uint(w, "launches", t->skipped[why]);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_alone(struct jw *w, const struct tuned_kernel *k)
{
    bool known = k->original_ns && k->tuned_ns;
    jw_put_obj(w, "alone_ns");
    jw_put_uint_if(w, "original", known, (uint64_t)k->original_ns);
    jw_put_uint_if(w, "tuned", known, (uint64_t)k->tuned_ns);
    jw_put_str(w, "origin", !known ? NULL : k->dev.kind == DEV_SIMULATED ? "simulated" : "measured");
    jw_end_obj(w);
}

static void put_kernel(struct jw *w, const struct outcome *o)
{
    const struct live_target *t = o->target;
    struct buf readable = { 0 };
    ptx_readable(str_of(t->kernel), &readable);
    jw_obj(w);
    jw_put_str(w, "name", t->kernel);
    jw_put_str(w, "readable", readable.s ? readable.s : "");
    buf_free_checked(&readable, w->out);
    jw_put_str(w, "from", o->tuned->from);
    jw_put_uint(w, "launches", t->launches);
    jw_put_uint(w, "applied", t->applied);
    jw_put_uint(w, "in_graphs", t->captured);
    jw_put_uint(w, "graphs_unverified", t->skipped[LIVE_APPLY_GRAPH]);
    jw_put_uint(w, "replays", t->time[LIVE_REPLAYED].n);
    put_skipped(w, t);
    put_spread(w, "original_ns", o->has_original, &o->original);
    put_spread(w, "again_ns", o->has_again, &o->again);
    put_spread(w, "tuned_ns", o->has_tuned, &o->by_turns);
    put_rounded(w, "noise_percent", noise(o), 100);
    put_spread(w, "original_steady_ns", o->has_steady, &o->steady);
    put_spread(w, "tuned_steady_ns", o->has_steady, &o->steady_tuned);
    put_rounded(w, "share", o->share, 1e6);
    jw_put_uint_if(w, "load_ns", t->load_ns != 0, t->load_ns);
    put_rounded(w, "per_launch_ns", t->applied ? (double)t->enter_ns / (double)t->applied : -1, 1);
    jw_put_uint(w, "verified", t->verified + t->differed);
    if (t->verified + t->differed)
        jw_put_bool(w, "equal", !t->differed);
    else
        jw_put_null(w, "equal");
    put_alone(w, o->tuned);
    jw_put_obj(w, "samples_ns");
    put_samples(w, "original", &t->time[LIVE_ORIGINAL]);
    put_samples(w, "again", &t->time[LIVE_AGAIN]);
    put_samples(w, "tuned", t->time[LIVE_TUNED].kept ? &t->time[LIVE_TUNED] : &t->time[LIVE_REPLAYED]);
    jw_end_obj(w);
    jw_end_obj(w);
}

static void put_document(const struct told *t, const struct live_survey *s, char *const *argv,
                         const char *mode, struct buf *b)
{
    const struct program *p = &t->program;
    struct jw w = document_open(b, "gpulocw-apply", 2);
    jw_put_str(&w, "mode", mode);
    jw_put_arr(&w, "kernels");
    for (size_t i = 0; i < t->n; i++)
        put_kernel(&w, &t->v[i]);
    jw_end_arr(&w);
    jw_put_obj(&w, "program");
    jw_put_words(&w, "command", argv);
    jw_put_int(&w, "exit_status", s->exit);
    jw_put_uint(&w, "processes", s->processes);
    jw_put_uint(&w, "wall_ns", p->wall_ns);
    jw_put_uint_if(&w, "wall_original_ns", p->wall_original_ns != 0, p->wall_original_ns);
    put_rounded(&w, "expected_ns", p->expected_ns, 1);
    jw_put_uint_if(&w, "gpu_ns", p->gpu_ns != 0, p->gpu_ns);
    jw_put_uint_if(&w, "gpu_original_ns", p->gpu_original_ns != 0, p->gpu_original_ns);
    put_rounded(&w, "gpu_expected_ns", p->gpu_expected_ns, 1);
    jw_put_uint_if(&w, "gpu_span_ns", p->span_ns != 0, p->span_ns);
    jw_put_uint_if(&w, "gpu_span_original_ns", p->span_original_ns != 0, p->span_original_ns);
    put_rounded(&w, "gpu_span_expected_ns", p->span_expected_ns, 1);
    jw_end_obj(&w);
    document_close(&w);
}

/* ---- for people ---- */
static void put_time(struct buf *b, const char *what, const struct live_spread *s)
{
    buf_printf(b, "  %-15s %-10s", what, time_words((double)s->median).s);
    buf_printf(b, " %s", time_words((double)s->min).s);
    buf_printf(b, " to %s\n", time_words((double)s->max).s);
}

static void kernel_text(const struct outcome *o, struct buf *b)
{
    const struct live_target *t = o->target;
    ptx_readable(str_of(t->kernel), b);
    buf_printf(b, ": applied to %llu of %llu launches", (unsigned long long)t->applied,
               (unsigned long long)t->launches);
    if (t->captured)
        buf_printf(b, ", %llu of them captured into graphs, which ran it %llu times",
                   (unsigned long long)t->captured, (unsigned long long)t->time[LIVE_REPLAYED].n);
    buf_puts(b, "\n");
    if (o->has_original)
        put_time(b, "original", &o->original);
    if (o->has_again)
        put_time(b, "original again", &o->again);
    if (noise(o) >= 0)
        buf_printf(b, "  %-15s %.2f %%\n", "noise", noise(o));
    if (o->has_tuned)
        put_time(b, "tuned", &o->by_turns);
    if (o->has_original && o->has_tuned && o->by_turns.median) {
        double gain = gain_between((double)o->original.median, (double)o->by_turns.median);
        bool within = noise(o) >= 0 && (gain > 1 ? gain - 1 : 1 - gain) * 100 <= noise(o);
        buf_printf(b, "  %-15s %.2fx in the program%s", "gain", gain,
                   within ? ", within the noise" : "");
        if (o->has_steady && o->steady_tuned.median)
            buf_printf(b, ", %.2fx behind launches of its own kind",
                       gain_between((double)o->steady.median, (double)o->steady_tuned.median));
        if (o->tuned->original_ns && o->tuned->tuned_ns)
            buf_printf(b, "; alone, when it was tuned, %.2fx (%s)",
                       gain_between((double)o->tuned->original_ns, (double)o->tuned->tuned_ns),
                       o->tuned->dev.kind == DEV_SIMULATED ? "simulated" : "measured");
        buf_puts(b, "\n");
    }
    if (o->share >= 0)
        buf_printf(b, "  %-15s %.1f %% of the GPU's time\n", "share", 100 * o->share);
    if (t->verified || t->differed)
        buf_printf(b, "  %-15s %u launches on a copy of the data: %s\n", "verified",
                   t->verified + t->differed,
                   t->differed ? "outputs DIFFER; nothing more was swapped" : "equal outputs");
    if (t->load_ns)
        buf_printf(b, "  %-15s loaded in %.1f ms; %.2f µs of the host per launch\n", "cost",
                   (double)t->load_ns / 1e6,
                   t->applied ? (double)t->enter_ns / (double)t->applied / 1e3 : 0.0);
    for (int w = 0; w < LIVE_APPLY_NWHY; w++)
        if (t->skipped[w])
            buf_printf(b, "  %-15s %llu launches: %s\n", "original ran",
                       (unsigned long long)t->skipped[w], live_apply_why(w));
}

static void program_line(struct buf *b, const char *what, uint64_t original, uint64_t tuned,
                         double expected)
{
    if (!tuned)
        return;
    buf_printf(b, "  %-15s ", what);
    if (original)
        buf_printf(b, "%.3f ms unchanged, ", (double)original / 1e6);
    buf_printf(b, "%.3f ms%s", (double)tuned / 1e6, original ? " tuned" : "");
    if (original)
        buf_printf(b, " (%.2fx)", (double)original / (double)tuned);
    if (expected > 0)
        buf_printf(b, "; %.3f ms expected%s", expected / 1e6,
                   original ? "" : " were every launch tuned");
    if (expected > 0 && original)
        buf_printf(b, " (%.2fx)", (double)original / expected);
    buf_puts(b, "\n");
}

static void put_text(const struct told *t, struct buf *b)
{
    const struct program *p = &t->program;
    for (size_t i = 0; i < t->n; i++)
        kernel_text(&t->v[i], b);
    buf_puts(b, "the whole program\n");
    program_line(b, "kernels", p->gpu_original_ns, p->gpu_ns, p->gpu_expected_ns);
    program_line(b, "on the GPU", p->span_original_ns, p->span_ns, p->span_expected_ns);
    program_line(b, "wall time", p->wall_original_ns, p->wall_ns, p->expected_ns);
}

/* ---- running ---- */
/* What Amdahl's law expects: each launch that would be tuned takes as much less as it did by turns. */
static void expect(struct told *t, const struct live_apply *a)
{
    struct program *p = &t->program;
    double less = 0;
    bool known = false;
    for (size_t i = 0; i < t->n; i++) {
        const struct live_target *g = t->v[i].target;
        uint64_t n = p->whole ? g->time[LIVE_TUNED].n + g->time[LIVE_REPLAYED].n
                              : g->time[LIVE_ORIGINAL].n + g->time[LIVE_AGAIN].n;
        known |= n && t->v[i].has_original && t->v[i].has_tuned;
        less += gain_ns(&t->v[i]) * (double)n;
    }
    p->wall_ns = a->survey.wall_ns;
    p->span_ns = a->span_ns;
    p->gpu_ns = a->survey.gpu_ns;
    uint64_t gpu = p->whole ? p->gpu_original_ns : p->gpu_ns;
    p->gpu_expected_ns = known && (double)gpu > less ? (double)gpu - less : -1;
    uint64_t wall = p->whole ? p->wall_original_ns : p->wall_ns;
    uint64_t span = p->whole ? p->span_original_ns : p->span_ns;
    p->expected_ns = known && (double)wall > less ? (double)wall - less : -1;
    p->span_expected_ns = known && (double)span > less ? (double)span - less : -1;
}

static bool differed(const struct live_apply *a)
{
    bool any = false;
    for (size_t i = 0; i < a->n; i++)
        any |= a->v[i].differed != 0;
    return any;
}

static enum status run_all(const struct args *a, struct live_apply *p, const struct asked *q,
                           struct told *t, struct diags *ds)
{
    int mode = p->mode;
    enum status st = ST_OK;
    t->program.whole = a->whole;
    if (a->whole) {
        p->mode = LIVE_APPLY_NONE;
        st = live_apply_run(a->program, p, ds);
        t->program.wall_original_ns = p->survey.wall_ns;
        t->program.span_original_ns = p->span_ns;
        t->program.gpu_original_ns = p->survey.gpu_ns;
        if (st == ST_OK)
            take(t, p, q);
        p->mode = LIVE_APPLY_AB;
        if (st == ST_OK && p->survey.exit == 0)
            st = live_apply_run(a->program, p, ds);
        if (st == ST_OK)
            take(t, p, q);
        mode = LIVE_APPLY_ALL;
        if (st != ST_OK || differed(p) || p->survey.exit) {
            t->program.whole = false;
            t->program.wall_original_ns = t->program.span_original_ns = t->program.gpu_original_ns = 0;
            expect(t, p);
            return st;
        }
        for (size_t i = 0; i < t->n; i++) /* the times by turns stay */
            t->v[i].has_again = t->v[i].has_again && t->v[i].has_original;
    }
    p->mode = mode;
    st = live_apply_run(a->program, p, ds);
    struct told by_turns = *t;
    if (st == ST_OK)
        take(t, p, q);
    for (size_t i = 0; a->whole && i < by_turns.n; i++) {
        if (by_turns.v[i].has_tuned)
            t->v[i].by_turns = by_turns.v[i].by_turns;
        if (by_turns.v[i].has_steady)
            t->v[i].steady = by_turns.v[i].steady, t->v[i].steady_tuned = by_turns.v[i].steady_tuned;
    }
    if (st == ST_OK)
        expect(t, p);
    return st;
}

static void tell(const struct live_apply *p, struct diags *ds)
{
    const struct live_survey *s = &p->survey;
    char label[PTX_LABEL];
    if (s->refused)
        diag_add(ds, DIAG_WARNING, "apply", NULL, NO_SPAN, "nothing was applied: %s", s->refused);
    else if (!s->processes)
        diag_hint(diag_add(ds, DIAG_WARNING, "apply", NULL, NO_SPAN,
                           "no process of the program used CUDA and exited normally"),
                  "a process that is killed or calls _exit leaves no record");
    uint64_t any = 0; /* a PTX file may have kernels that the program does not use */
    for (size_t i = 0; i < p->n; i++)
        any += p->v[i].launches;
    for (size_t i = 0; i < p->n && s->processes && !s->refused && !any; i++)
        diag_hint(diag_add(ds, DIAG_WARNING, "apply", NULL, NO_SPAN, "the program launched no %s",
                           ptx_label(p->v[i].kernel, label)),
                  "gpulocw capture --list -- PROGRAM lists the kernels it launches");
}

static enum status mode_of(const struct args *a, int *mode, struct diags *ds)
{
    *mode = !a->mode || strcmp(a->mode, "ab") == 0 ? LIVE_APPLY_AB : LIVE_APPLY_ALL;
    if (!a->mode || strcmp(a->mode, "ab") == 0 || strcmp(a->mode, "all") == 0)
        return ST_OK;
    diag_error(ds, "usage", "--mode must be ab or all, not '%s'", a->mode);
    return ST_USAGE;
}

static enum status check(const struct args *a, struct diags *ds)
{
    bool program = a->program && a->program[0];
    if (!a->nfiles)
        diag_error(ds, "usage", "no session or tuned PTX given: gpulocw apply S.json -- PROGRAM ARG...");
    else if (!program && !a->export_to)
        diag_error(ds, "usage", "no program given: gpulocw apply S.json -- PROGRAM ARG...");
    else if (program && a->export_to)
        diag_error(ds, "usage", "--export writes files and does not run a program");
    else if (a->verify < 0)
        diag_error(ds, "usage", "--verify needs a number of launches");
    else
        return ST_OK;
    return ST_USAGE;
}

/* ---- a command on another machine: its words go there ---- */
bool cmd_remote_word(struct remote *r, const char *word)
{
    return remote_add(&r->word, &r->nwords, &r->words_cap, word);
}

int cmd_remote_there(struct args *a, const char *command, struct remote *r,
                     const struct remote_back *back, enum status st, struct diags *ds)
{
    int rc = 0;
    for (size_t i = 0; st == ST_OK && a->program[i]; i++)
        if (!remote_add(&r->program, &r->nprogram, &r->program_cap, a->program[i]))
            st = ST_NOMEM;
    if (st == ST_OK)
        st = remote_run(a->worker[0], command, r, back, &rc, ds);
    remote_free(r);
    int own = cmd_finish(a, st, ds);
    return own ? own : rc;
}

/* ---- apply on another machine ---- */
/* FILE.tuned.ptx comes with its launch, and with the original and its launch. */
static bool add_beside(struct remote *r, const char *file)
{
    static const char *const others[] = { ".tuned.launch.json", ".ptx", ".launch.json" };
    size_t stem = base_stem(file, ".tuned.ptx");
    bool ok = true;
    for (size_t i = 0; stem && i < ARRAY_LEN(others) && ok; i++) {
        struct buf b = { 0 };
        buf_printf(&b, "%.*s%s", (int)stem, file, others[i]);
        if (b.s && access(b.s, R_OK) == 0)
            ok = remote_add(&r->file, &r->nfiles, &r->files_cap, b.s);
        buf_free(&b);
    }
    return ok;
}

static bool add_options(struct remote *r, const struct args *a)
{
    char number[32];
    snprintf(number, sizeof number, "%ld", a->verify);
    return (!a->json || cmd_remote_word(r, "--json")) && (!a->whole || cmd_remote_word(r, "--whole")) &&
           (!a->kernel || (cmd_remote_word(r, "-k") && cmd_remote_word(r, a->kernel))) &&
           (!a->mode || (cmd_remote_word(r, "--mode") && cmd_remote_word(r, a->mode))) &&
           (!a->verify || (cmd_remote_word(r, "--verify") && cmd_remote_word(r, number)));
}

static int apply_there(struct args *a)
{
    struct diags ds = { 0 };
    struct remote r = { .named = a->nfiles };
    enum status st = check(a, &ds);
    if (st == ST_OK && (a->worker_n > 1 || a->export_to)) {
        diag_error(&ds, "usage", "apply takes one --worker, and not together with --export");
        st = ST_USAGE;
    }
    bool ok = st != ST_OK || add_options(&r, a);
    for (size_t i = 0; st == ST_OK && ok && i < a->nfiles; i++)
        ok = remote_add(&r.file, &r.nfiles, &r.files_cap, a->file[i]);
    for (size_t i = 0; st == ST_OK && ok && i < a->nfiles; i++)
        ok = add_beside(&r, a->file[i]);
    return cmd_remote_there(a, "apply", &r, NULL, ok ? st : ST_NOMEM, &ds);
}

int cmd_apply(struct args *a)
{
    if (a->worker_n)
        return apply_there(a);
    struct diags ds = { 0 };
    struct tuned_kernels tuned = { 0 };
    struct live_apply p = { .verify = (unsigned)a->verify };
    struct asked q = { &tuned, &p, { 0 } };
    struct told t = { .n = 0 };
    struct buf b = { 0 };
    enum status st = check(a, &ds);
    int rc = 0;
    if (st == ST_OK)
        st = mode_of(a, &p.mode, &ds);
    for (size_t i = 0; i < a->nfiles && st == ST_OK; i++)
        st = tuned_read(a->file[i], a->kernel, &tuned, &ds);
    if (st == ST_OK && a->export_to) {
        st = tuned_export(&tuned, a->export_to, a->force, &b, &ds);
        cmd_put(a, &b);
    } else if (st == ST_OK) {
        p.match = match;
        p.ctx = &q;
        st = tuned_targets(&tuned, &p, q.index, &ds);
        if (st == ST_OK && !p.n)
            st = ST_REFUSED;
        if (st == ST_OK)
            st = run_all(a, &p, &q, &t, &ds);
        rc = p.survey.exit;
        if (st == ST_OK && a->json)
            put_document(&t, &p.survey, a->program, a->whole ? "whole" : a->mode ? a->mode : "ab", &b);
        else if (st == ST_OK)
            put_text(&t, &b);
        if (st == ST_OK) {
            tell(&p, &ds);
            cmd_put(a, &b);
        }
        if (st == ST_OK && differed(&p)) {
            diag_error(&ds, "verify", "the tuned kernel's outputs differ from the original's");
            st = ST_DIFFER;
        }
    }
    buf_free(&b);
    live_apply_free(&p);
    tuned_free(&tuned);
    int own = cmd_finish(a, st, &ds);
    return own ? own : rc; /* the program's own */
}
