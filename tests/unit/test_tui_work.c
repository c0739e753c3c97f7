/* What a day's work needs: launches edited as text, messages that stay, a search
 * that is watched, costs that are labelled, the miss-ratio curve, notes, lessons. */
#include "engine/rec/result.h"
#include "engine/session/run.h"
#include "tests/support.h"

#include "engine/analysis/analysis.h"
#include "engine/analysis/curve.h"
#include "engine/base/base.h"
#include "engine/cmd/cmd_int.h"
#include "engine/predict/prediction.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rec/opt_schedule.h"
#include "engine/search/found.h"
#include "engine/search/live.h"
#include "engine/search/tuner.h"
#include "engine/session/lesson.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tests/terminal/stage.h"
#include "tui/app/launch_edit.h"
#include "tui/app/legal.h"
#include "tui/base/key.h"
#include "tui/base/request.h"
#include "tui/control/control.h"
#include "tui/control/lesson_run.h"
#include "tui/control/panels.h"
#include "tui/view/source/source_int.h"
#include "tui/view/view.h"

#include <math.h>
#include <stddef.h>
#include <unistd.h>

/* ---- launch arguments as text ---- */
static void arguments_round_trip(void **state)
{
    static const char *const texts[] = { "f32 1048576 random 0 1 seed 3 output",
                                         "s32 65537 rows 65536 393216 seed 1",
                                         "u8 16 fill 7",
                                         "f64 4 iota 0.5 0.25 output tolerance 1e-05",
                                         "f64 4 fill 0.1234567890123456",
                                         "f32 4 random -1e-12 33554433.5 seed 2",
                                         "u32 8 permutation seed 9",
                                         "u16 4 file data/a.bin offset 12",
                                         "f32 4 npy a.npy",
                                         "u8 2 hex 0aff" };
    struct arena *arena = arena_new(0);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct arg_spec g = { .kind = ARG_BUFFER, .elem = ELEM_F32, .count = 1 };
        struct buf back = { 0 };
        const char *bad = NULL;
        if (!launch_arg_parse(&g, texts[i], arena, &bad))
            fail_msg("'%s': %s", texts[i], bad);
        launch_arg_text(&g, &back);
        assert_string_equal(back.s, texts[i]);
        buf_free(&back);
    }
    struct arg_spec v = { .kind = ARG_SCALAR, .elem = ELEM_S32 };
    const char *bad = NULL;
    assert_true(launch_arg_parse(&v, "-3", arena, &bad));
    assert_int_equal((int8_t)v.scalar[0], -3);
    assert_true(launch_arg_parse(&v, "f32 1.5", arena, &bad));
    assert_int_equal(v.elem, ELEM_F32);
    arena_free(arena);
}

static void arguments_mistaken(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = { { "f32", "whole number" },
                { "f32 0", "zero" },
                { "f32 8 rand", "no init" },
                { "f32 8 random 0", "number is missing" },
                { "f32 8 file", "path" },
                { "f32 8 fill 1 twice", "after the init" },
                { "f32 8 fill 1 output tolerance -1", "tolerance" } };
    struct arena *arena = arena_new(0);
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct arg_spec g = { .kind = ARG_BUFFER, .elem = ELEM_F32, .count = 5 };
        const char *why = NULL;
        assert_false(launch_arg_parse(&g, bad[i].text, arena, &why));
        assert_int_equal(g.count, 5);
        if (!why || !strstr(why, bad[i].says))
            fail_msg("'%s' says '%s'", bad[i].text, why ? why : "nothing");
    }
    arena_free(arena);
}

static void launch_made(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    t.snap->spec = NULL;
    t.snap->launches = NULL;
    stage_press(&t, "r");
    assert_int_equal(t.rec.posts, 1); /* one is guessed first; the run follows */
    assert_int_equal(t.rec.last.kind, JOB_LAUNCH_GUESS);
    assert_true(stage_shows(&t, "there is no launch description: guessing one first"));
    stage_keys(&t, "4"); /* the row that makes one stands first, under the cursor */
    assert_true(stage_shows(&t, "guesses one"));
    stage_press(&t, "Enter");
    assert_int_equal(t.rec.last.kind, JOB_LAUNCH_GUESS);
    stage_close(&t);
}

/* ---- messages ---- */
static void mistakes_stay(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    stage_type(&t, ":frobnicate\r");
    assert_true(stage_shows(&t, "no command 'frobnicate'"));
    t.app.now_ns += 60LL * 1000000000;
    struct event tick = { .kind = EVENT_TICK };
    app_event(&t.app, &tick);
    stage_frame(&t);
    assert_false(stage_shows(&t, "frobnicate")); /* the line above the keys is free again */
    stage_press(&t, "9");
    assert_true(stage_shows(&t, "error  no command 'frobnicate'"));
    stage_close(&t);
}

static void errors_in_the_source(void **state)
{
    struct stage t;
    struct job_snapshot now;
    struct job_message m = {
        DIAG_ERROR, 5, (char *)(uintptr_t) "no such modifier", { 0, 0, 43, 5 }, NULL
    };
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    stage_frame(&t);
    m.file = (char *)(uintptr_t)t.snap->module->path;
    now = *t.snap;
    now.messages = &m;
    now.nmessages = 1;
    struct job_snapshot none = *t.snap;
    none.nmessages = 0;
    app_snapshot(&t.app, &none);
    app_snapshot(&t.app, &now);
    stage_frame(&t);
    assert_true(stage_shows(&t, "demo.ptx:43:5: no such modifier"));
    assert_true(stage_shows(&t, "43 ✗")); /* marked, and gone to */
    assert_true(stage_shows(&t, " no such modifier\n"));
    t.app.snap = t.snap;
    stage_close(&t);
}

/* ---- source: the tree is a way to go ---- */
static void tree_leads_back(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    stage_frame(&t);
    stage_keys(&t, "] a");
    assert_int_equal(t.app.overlay, OVERLAY_TREE);
    assert_true(stage_shows(&t, "line 42"));
    stage_keys(&t, "j Enter");
    assert_int_equal(t.app.overlay, OVERLAY_NONE);
    size_t at = t.app.list[PANEL_SOURCE].cursor;
    stage_press(&t, "Backspace");
    assert_int_not_equal(at, t.app.list[PANEL_SOURCE].cursor);
    assert_int_equal(source_access(&t.app), 1);
    stage_close(&t);
}

/* ---- coalesce: rounds of a loop ---- */
static void rounds(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    struct ana_kernel *k = (struct ana_kernel *)(uintptr_t)t.snap->facts;
    k->access[0].address = (char *)(uintptr_t) "a + 4*(tid.x + 512*k1 + 32*k)";
    stage_keys(&t, "2 j");
    assert_true(stage_shows(&t, "round k=0 k1=0"));
    stage_keys(&t, "} } {");
    assert_int_equal(t.app.coalesce.round[0], 1);
    assert_true(stage_shows(&t, "bytes   128..255 of a; 0 of 4 sectors were asked for in round 0 too"));
    stage_keys(&t, "o }");
    assert_int_equal(t.app.coalesce.round[1], 1);
    assert_true(stage_shows(&t, "2176..2303 of a"));
    stage_keys(&t, "j }");
    assert_true(stage_shows(&t, "is the same in every"));
    stage_close(&t);
}

/* ---- options: words and numbers of one knob ---- */
static void knob_words(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    stage_keys(&t, "4 g Right j j j"); /* unfolds the group; pi: cha */
    stage_press(&t, "Right");
    assert_int_equal(opt_bypass(t.app.options)->pi.mode, PI_BPA);
    stage_keys(&t, "Right Right Right"); /* vote, 1, 2 */
    assert_int_equal(opt_bypass(t.app.options)->pi.mode, PI_VALUE);
    assert_int_equal(opt_bypass(t.app.options)->pi.value, 2);
    stage_keys(&t, "Left Left Left");
    assert_int_equal(opt_bypass(t.app.options)->pi.mode, PI_VOTE);
    stage_close(&t);
}

/* ---- options: what is not legal is crossed out, with its reason, and passed over ---- */
static const struct job_snapshot *hold_stage(void *ctx)
{
    return ((struct stage *)(void *)((char *)ctx - offsetof(struct stage, rec)))->snap;
}
static void release_stage(void *ctx, const struct job_snapshot *s)
{
    (void)ctx, (void)s;
}

static void legal_values(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    t.app.engine.hold = hold_stage;
    t.app.engine.release = release_stage;
    stage_type(&t, ":set bypass l1\r");
    stage_keys(&t, "4 g Space"); /* the rest of the group, from bypass-op: cg */
    while (legal_working(&t.app))
        usleep(1000);
    stage_frame(&t);
    assert_true(stage_shows(&t, "✗cache_hint"));
    assert_true(stage_shows(&t, "✗ cache_hint: --bypass-op cache_hint affects only L2"));
    stage_press(&t, "Left"); /* backwards from cg: cache_hint is last */
    assert_int_not_equal(opt_bypass(t.app.options)->op, BYPASS_OP_CG);
    assert_int_not_equal(opt_bypass(t.app.options)->op, BYPASS_OP_CACHE_HINT);
    while (legal_working(&t.app))
        usleep(1000);
    stage_close(&t);
}

/* ---- any option is an axis when its values are given ---- */
static void any_axis(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    stage_type(&t, ":sweep coarsen=1/2/4\r");
    assert_int_equal(t.rec.last.kind, JOB_SWEEP);
    assert_string_equal(t.rec.text, "coarsen=1/2/4");
    assert_int_equal(opt_bypass(t.rec.last.options)->level, BYPASS_NONE);
    assert_true(stage_shows(&t, "next sweep: coarsen=1/2/4"));
    stage_type(&t, ":sweep pi,carveout=0/100\r");
    assert_int_equal(opt_bypass(t.rec.last.options)->level, BYPASS_NONE); /* the sweep chooses it */
    unsigned posts = t.rec.posts;
    stage_type(&t, ":sweep nonsense\r");
    assert_int_equal(t.rec.posts, posts);
    assert_true(stage_shows(&t, "no axis 'nonsense'"));
    stage_press(&t, "a");
    assert_string_equal(t.app.valley.axis, "pi");
    stage_close(&t);
}

/* ---- notes ---- */
static void notes_of_any_run(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    stage_keys(&t, "7 g j");
    stage_type(&t, ":note the second\r");
    assert_int_equal(t.rec.last.kind, JOB_NOTE);
    assert_int_equal(t.rec.last.number, 1);
    stage_press(&t, "1");
    stage_type(&t, ":note the last\r");
    assert_int_equal(t.rec.last.number, 2);
    stage_keys(&t, "5 [");
    stage_type(&t, ":note the shown\r");
    assert_int_equal(t.rec.last.number, 0);
    stage_close(&t);
}

/* ---- a search while it goes on ---- */
static struct options pi_of(int pi)
{
    struct options o = options_default();
    opt_bypass(&o)->level = BYPASS_L1;
    opt_bypass(&o)->pi.mode = PI_VALUE;
    opt_bypass(&o)->pi.value = pi;
    return o;
}

static struct result timed(const struct options *o, int64_t ns)
{
    struct result r = result_empty();
    r.options = *o;
    r.time = (struct timing){
        .median = ns, .min = ns, .max = ns, .n = 1, .origin = ORIGIN_SIMULATED, .valid = true
    };
    r.equal = EQUAL_YES;
    return r;
}

static struct options long_one(void)
{
    struct options o = pi_of(14);
    opt_bypass(&o)->op = BYPASS_OP_NO_ALLOCATE;
    opt_prefetch(&o)->level = PREFETCH_L1;
    opt_schedule(&o)->coarsen = 4;
    opt_schedule(&o)->coarsen_mode = COARSEN_BLOCKED;
    return o;
}

static void stage_size(struct stage *t, int w, int h)
{
    struct event e = { .kind = EVENT_RESIZE, .x = w, .y = h };
    app_event(&t->app, &e);
    stage_frame(t);
}

static void search_watched(void **state)
{
    struct stage t;
    struct options none = options_default(), five = pi_of(5), six = pi_of(6), seven = pi_of(7);
    struct result trail[2] = { timed(&five, 90000), timed(&six, 80000) };
    struct session_run run = { .kind = RUN_TUNE, .kernel = "tile", .trail = trail, .ntrail = 2 };
    const struct session_run *runs[] = { &run };
    struct tune_explored tried[] = { { .options = five,
                                       .equal = EQUAL_YES,
                                       .time_ns = 90000,
                                       .cost = 1.2e6,
                                       .became_best = true,
                                       .why = "first of all" },
                                     { .options = six,
                                       .equal = EQUAL_YES,
                                       .time_ns = 80000,
                                       .cost = NAN,
                                       .became_best = true,
                                       .why = "finer" } };
    struct tune_candidate next[] = { { .options = seven, .cost = 9e5, .why = "the neighbour above" } };
    struct result original = timed(&none, 160000);
    struct tune_live live = { .method = "search",
                              .step = "threshold",
                              .next = "agents",
                              .launches = 3,
                              .budget = 40,
                              .original = &original,
                              .best = &trail[1],
                              .options = six,
                              .explored = tried,
                              .nexplored = 2,
                              .frontier = next,
                              .nfrontier = 1 };
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    stage_press(&t, "t");
    assert_int_equal(t.rec.last.kind, JOB_TUNE);
    assert_int_equal(t.app.focus, PANEL_VALLEY);
    run.dev = t.snap->dev;
    struct tune_found came = { .original = &original, .best = &original };
    run.found = &came;
    t.snap->runs = runs;
    t.snap->nruns = 1;
    t.snap->search = &live;
    t.snap->busy = true;
    t.snap->what = "tune";
    t.snap->doing = JOB_TUNE;
    stage_frame(&t);
    assert_true(stage_shows(&t, "fastest so far"));
    assert_true(stage_shows(&t, "best  80.0 µs simulated, whole  2.00x vs the original"));
    assert_true(stage_shows(&t, "next  --bypass l1 --pi 7  the neighbour above"));
    assert_true(stage_shows(&t, "now: threshold  then: agents"));
    stage_press(&t, "8");
    assert_true(stage_shows(&t, "to try"));
    assert_true(stage_shows(&t, "900 k cyc"));
    next[0].options = long_one();
    /* as wide as its place beside two others: the whole configuration is read */
    stage_size(&t, 46, 24);
    assert_true(stage_shows(&t, "--bypass l1 --bypass-op no_allocate"));
    assert_true(stage_shows(&t, "--coarsen-mode blocked"));
    assert_false(stage_shows(&t, "cyc"));
    stage_size(&t, 80, 24);
    next[0].options = seven;
    t.snap->busy = false;
    stage_keys(&t, "g Enter");
    assert_int_equal(t.rec.last.kind, JOB_RUN);
    assert_int_equal(opt_bypass(t.rec.last.options)->pi.value, 7);
    t.snap->runs = NULL;
    t.snap->nruns = 0;
    stage_close(&t);
}

/* ---- the modelled cost ---- */
static void cost_is_labelled(void **state)
{
    struct stage t;
    const struct options none = options_default();
    struct tune_prediction p = { .valid = true,
                                 .time_ns = 12345,
                                 .issue = NAN,
                                 .in = { .loads = 1000, .m1 = 0.5, .m2 = 0.25 },
                                 .cost = { .l1 = 100,
                                           .l2 = 200,
                                           .dram = 300,
                                           .paper = 600,
                                           .extended = 4000,
                                           .latency = 1000,
                                           .bound_l1 = 500,
                                           .bound_l2 = 4000,
                                           .bound_dram = 50 } };
    (void)state;
    stage_open(&t, SNAP_OPENED, 120, 40);
    t.app.zoomed = true;
    t.snap->cost = t.snap->cost_original = &p;
    t.snap->cost_of = &none;
    stage_press(&t, "4");
    assert_true(stage_shows(&t, "modelled cost  4.00 k cycles (12.3 µs), limited by L2 bandwidth"));
    stage_press(&t, "6");
    assert_true(stage_shows(&t, "modelled, nothing was launched"));
    assert_true(stage_shows(&t, "every transaction's latency, added up"));
    /* not known before a run: never 0 */
    assert_true(stage_shows(&t, "instruction issue       n/a"));
    struct tune_prediction no = { .why_not = "the addresses are data" };
    t.snap->cost = &no;
    stage_press(&t, "4");
    assert_true(stage_shows(&t, "modelled cost: n/a: the addresses are data"));
    stage_close(&t);
}

/* ---- the miss-ratio curve ---- */
static void curve_and_footprints(void **state)
{
    struct stage t;
    struct ana_curve *c = NULL;
    struct launch_data data;
    struct diags ds = { 0 };
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    assert_status_ok(launch_data_make(t.snap->spec, 1u << 30, &data, &ds), &ds);
    struct ana_opts o = { .data = &data, .dev = &t.snap->dev };
    assert_status_ok(ana_curve_make(t.snap->module, STR("tile"), &o, &c, &ds), &ds);
    ((struct ana_kernel *)(uintptr_t)t.snap->facts)->curve = c;
    stage_keys(&t, "3 ]");
    assert_true(stage_shows(&t, "misses of one SM's loads (modelled)"));
    assert_true(stage_shows(&t, "L1, 16.0 KiB:"));
    char at_l1[64], smaller[64];
    snprintf(at_l1, sizeof at_l1, "16.0 KiB  all loads  %.1f %% miss",
             ana_miss_ratio(&c->all, 16384, NULL) * 100);
    assert_true(stage_shows(&t, at_l1)); /* the cursor stands on L1 at first */
    stage_press(&t, "Left");
    snprintf(smaller, sizeof smaller, "%.1f KiB  all loads", 16384 / exp2(0.25) / 1024);
    assert_true(stage_shows(&t, smaller));
    stage_press(&t, "+");
    assert_true(stage_shows(&t, "┄ line 40"));
    struct plot p;
    assert_true(view_of(PANEL_LOCALITY)->plot(&t.app, &p));
    for (size_t i = 1; i < p.series[0].n; i++) { /* more cache never misses more */
        assert_true(p.series[0].x[i] > p.series[0].x[i - 1]);
        assert_true(p.series[0].y[i] <= p.series[0].y[i - 1] + 1e-9);
    }
    stage_press(&t, "]");
    assert_true(stage_shows(&t, "needed for reuse"));
    assert_true(stage_shows(&t, "index"));
    ((struct ana_kernel *)(uintptr_t)t.snap->facts)->curve = NULL;
    ana_curve_free(c);
    launch_data_free(&data);
    diags_free(&ds);
    stage_close(&t);
}

/* ---- empty panels say what to do next ---- */
static void empty_panels(void **state)
{
    static const char *const says[PANEL_COUNT] = { "demo  lists",
                                                   "demo  lists",
                                                   "demo  lists",
                                                   "Cache bypassing",
                                                   "demo  lists",
                                                   "demo  lists",
                                                   "r runs the kernel once",
                                                   "demo  lists",
                                                   "No messages yet",
                                                   "s1-fig5",
                                                   ":program COMMAND",
                                                   "demo  lists",
                                                   "demo  lists",
                                                   "demo  lists",
                                                   "Run the kernel twice" };
    (void)state;
    struct stage t;
    stage_open(&t, SNAP_EMPTY, 100, 24);
    for (int p = 0; p < PANEL_COUNT; p++) {
        app_focus(&t.app, (enum panel_id)p);
        stage_frame(&t);
        if (!stage_shows(&t, says[p]))
            fail_msg("the empty %s panel does not say '%s'", panel_info((enum panel_id)p)->name,
                     says[p]);
    }
    stage_close(&t);
}

/* Hints name the keys of the user's own key map. */
static void hints_follow_the_keys(void **state)
{
    struct stage t;
    struct diags ds = { 0 };
    (void)state;
    stage_open(&t, SNAP_OPENED, 100, 24);
    keymap_parse(&t.app.keys, "keys", STR("sweep = F5\n"), &ds);
    assert_int_equal(ds.errors, 0);
    stage_press(&t, "5");
    assert_true(stage_shows(&t, "F5 runs the kernel once"));
    diags_free(&ds);
    stage_close(&t);
}

/* A file that cannot be read is named. */
static void missing_named(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    stage_type(&t, ":compare no/such.json\r");
    assert_true(stage_shows(&t, "such.json: cannot open"));
    stage_close(&t);
}

/* ---- lessons: Enter goes on, once the task is done ---- */
static void enter_goes_on(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    assert_true(lesson_open(&t.app, "sessions/lessons/2-valley.json"));
    stage_frame(&t);
    assert_true(stage_shows(&t, "step 1 of"));
    stage_press(&t, "Enter");
    assert_int_equal(t.app.lesson.step, 1);
    assert_false(t.app.lesson.passed);
    stage_press(&t, "Enter");
    assert_int_equal(t.app.lesson.step, 1); /* r has not been pressed */
    stage_press(&t, "(");
    assert_int_equal(t.app.lesson.step, 0);
    stage_close(&t);
}

/* A task that is done by a key alone is done with that key, not with the one after it: the Enter that
 * follows goes on. */
static void done_at_once(void **state)
{
    struct stage t;
    struct event m = { .kind = EVENT_KEY, .key = 'm' }, enter = { .kind = EVENT_KEY, .key = TK_ENTER };
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    assert_true(lesson_open(&t.app, "sessions/lessons/2-valley.json"));
    while (t.app.lesson.lesson->step[t.app.lesson.step].check == NULL ||
           strcmp(t.app.lesson.lesson->step[t.app.lesson.step].check, "metric == hits"))
        t.app.lesson.step++;
    unsigned step = t.app.lesson.step;
    t.app.lesson.passed = false;
    app_focus(&t.app, PANEL_VALLEY);
    app_event(&t.app, &m);
    assert_true(t.app.lesson.passed);
    app_event(&t.app, &enter);
    assert_int_equal(t.app.lesson.step, step + 1);
    stage_close(&t);
}

/* A single run is compared with the unchanged kernel of its own launch and device, and what it is
 * compared with is named. */
static void single_runs_compared(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    stage_keys(&t, "6");
    t.app.counters.result = 19; /* behind a sweep on another device */
    t.app.counters.placed = true;
    stage_frame(&t);
    assert_true(stage_shows(&t, "result 20 of 39: run 2"));
    assert_false(stage_shows(&t, "against"));
    struct session_run *one = (struct session_run *)(uintptr_t)t.snap->runs[1];
    one->dev = t.snap->runs[0]->dev;
    one->grid = t.snap->runs[0]->grid;
    one->block = t.snap->runs[0]->block;
    stage_frame(&t);
    assert_true(stage_shows(&t, "against all cache"));
    assert_true(stage_shows(&t, "  all cache      change"));
    stage_keys(&t, "b");
    assert_true(stage_shows(&t, "against all bypass"));
    assert_true(stage_shows(&t, " all bypass      change"));
    stage_close(&t);
}

/* After the last step comes the list, on the next lesson; Esc leaves it. */
static void lesson_leads_on(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    t.app.data_dir = base_strdup(".");
    assert_true(lesson_open(&t.app, "./sessions/lessons/2-valley.json"));
    t.app.lesson.step = t.app.lesson.lesson->nsteps - 1;
    t.app.lesson.passed = true;
    stage_press(&t, "Enter");
    assert_null(t.app.lesson.lesson);
    assert_int_equal(t.app.overlay, OVERLAY_PICKER);
    assert_true(stage_shows(&t, "three ways to write the same threshold")); /* about lesson 3 */
    stage_press(&t, "Esc");
    assert_int_equal(t.app.overlay, OVERLAY_NONE);
    stage_close(&t);
}

/* On a small screen a step's text is read in parts. */
static void small_screen_reads_all(void **state)
{
    struct stage t;
    unsigned parts = 0;
    (void)state;
    stage_open(&t, SNAP_OPENED, 40, 10);
    assert_true(lesson_open(&t.app, "sessions/lessons/2-valley.json"));
    stage_frame(&t);
    assert_true(stage_shows(&t, "F4 shows more"));
    while (t.app.lesson.more && parts++ < 9)
        stage_press(&t, "F4");
    assert_in_range(parts, 2, 5);
    assert_true(stage_shows(&t, "its loads.")); /* the end of the first step */
    stage_press(&t, "F4");
    assert_true(t.app.lesson.hidden);
    stage_press(&t, "F4");
    assert_true(stage_shows(&t, "step 1 of"));
    stage_close(&t);
}

/* Another kernel of the file: the source goes to it, once, and lets the cursor stay where it is put
 * within. */
static void source_follows_the_kernel(void **state)
{
    struct stage t;
    struct ptx_module *m = NULL;
    struct diags ds = { 0 };
    (void)state;
    assert_status_ok(ptx_parse_file("tests/heldout/suites/polybench.ptx", &m, &ds), &ds);
    stage_open(&t, SNAP_OPENED, 80, 24);
    struct job_snapshot one = *t.snap, two;
    one.module = m;
    one.kernel = "b_std";
    one.facts = NULL, one.preview = NULL, one.spec = NULL, one.launches = NULL, one.nadvice = 0;
    app_snapshot(&t.app, &one);
    stage_frame(&t);
    two = one;
    two.kernel = "b_mm2";
    app_snapshot(&t.app, &two);
    stage_frame(&t);
    const struct ptx_func *f = ptx_find_func(m, STR("b_mm2"));
    uint32_t line = source_cursor_line(&t.app);
    assert_true(line > f->at.line);
    bool found = false;
    for (uint32_t i = 0; i < f->ninsts; i++)
        found |= f->insts[i].at.line == line && f->insts[i].op == PTX_OP_LD;
    assert_true(found);
    stage_press(&t, "j");
    t.app.source.stale = true;
    stage_frame(&t);
    assert_int_equal(source_cursor_line(&t.app), line + 1);
    app_snapshot(&t.app, t.snap);
    stage_close(&t);
    ptx_free(m);
    diags_free(&ds);
}

static void demos_listed(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    t.app.data_dir = base_strdup(".");
    stage_type(&t, ":demo\r"); /* a file is open already: the list is made now */
    assert_true(stage_shows(&t, "2  The cache valley"));
    stage_close(&t);
}

static void tabs_fit(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 60, 16);
    for (int p = 0; p < PANEL_COUNT; p++) {
        app_focus(&t.app, (enum panel_id)p);
        stage_frame(&t);
        unsigned tabs = 0;
        for (unsigned i = 0; i < t.map.nhits; i++)
            tabs += t.map.hit[i].kind == HIT_TAB && t.map.hit[i].r.x + t.map.hit[i].r.w <= 60;
        /* nine with a number key, the summary, and the one in front where it is neither */
        assert_int_equal(tabs, 10 + (p >= 9 && p != PANEL_SUMMARY));
    }
    stage_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(arguments_round_trip),
                                        cmocka_unit_test(arguments_mistaken),
                                        cmocka_unit_test(launch_made),
                                        cmocka_unit_test(mistakes_stay),
                                        cmocka_unit_test(errors_in_the_source),
                                        cmocka_unit_test(tree_leads_back),
                                        cmocka_unit_test(rounds),
                                        cmocka_unit_test(knob_words),
                                        cmocka_unit_test(legal_values),
                                        cmocka_unit_test(any_axis),
                                        cmocka_unit_test(notes_of_any_run),
                                        cmocka_unit_test(search_watched),
                                        cmocka_unit_test(cost_is_labelled),
                                        cmocka_unit_test(curve_and_footprints),
                                        cmocka_unit_test(empty_panels),
                                        cmocka_unit_test(hints_follow_the_keys),
                                        cmocka_unit_test(missing_named),
                                        cmocka_unit_test(enter_goes_on),
                                        cmocka_unit_test(done_at_once),
                                        cmocka_unit_test(single_runs_compared),
                                        cmocka_unit_test(small_screen_reads_all),
                                        cmocka_unit_test(lesson_leads_on),
                                        cmocka_unit_test(tabs_fit),
                                        cmocka_unit_test(demos_listed),
                                        cmocka_unit_test(source_follows_the_kernel) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
