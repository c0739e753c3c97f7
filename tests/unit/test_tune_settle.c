/* What a launch settles before another (thresholds and agents by vote, lines of the software cache by
 * profile), and the sentence that a finished or cut-off sweep ends in. */
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_softcache.h"
#include "tests/unit/tune_support.h"

/* One configuration; its outputs must be equal. said: a part of the message. */
static struct result settled_on(struct rig *r, const char *line, const char *said)
{
    struct result res;
    struct options o = options_of(line);
    assert_status_ok(tune_run_one(r->bench, &o, &res, &r->ds), &r->ds);
    if (res.status != ST_OK || !strstr(res.message, said))
        fail_msg("%s: %s: %s", line, status_text(res.status), res.message);
    assert_int_equal(res.equal, EQUAL_YES);
    return res;
}

static struct result settled(const char *kernel, const char *launch, const char *device,
                             const char *line, const char *said)
{
    struct rig r;
    rig_open(&r, kernel, launch, device);
    struct result res = settled_on(&r, line, said);
    rig_close(&r);
    return res;
}

static void agents(void **state)
{
    (void)state;
    struct result r = settled("gemm", "default", "sim:fermi-16k", "--cluster agent --agents vote",
                              "agents per SM by tasks per cycle in one launch of");
    assert_in_range(opt_cluster(&r.options)->agents, 1, 8);
    assert_int_equal(r.voted, (int)opt_cluster(&r.options)->agents);
}

static int64_t time_at(const char *kernel, const char *device, const char *line)
{
    struct result r = settled(kernel, "default", device, line, "");
    return r.time.median;
}

/* By SM alone gesummv elects 8 of 8 on Fermi, since the others leave it their share of L2; the run-off
 * finds the least of all nine. */
static void runoff_finds_the_best(void **state)
{
    (void)state;
    struct rig rig;
    rig_open(&rig, "gesummv", "default", "sim:fermi-16k");
    struct result sm = settled_on(&rig, "--bypass l1 --pi vote-sm", "by mean CTA time in one launch of");
    struct result r = settled_on(&rig, "--bypass l1 --pi vote", "; a run-off of ");
    int64_t least = settled_on(&rig, "--bypass l1 --pi bpa", "").time.median;
    for (int pi = 1; pi <= 8; pi++) {
        char line[40];
        snprintf(line, sizeof line, "--bypass l1 --pi %d", pi);
        int64_t t = settled_on(&rig, pi < 8 ? line : "--bypass l1 --pi cha", "").time.median;
        least = t < least ? t : least;
    }
    rig_close(&rig);
    assert_null(strstr(sm.message, "run-off"));
    assert_int_equal(sm.voted, sm.sample_voted);
    assert_int_equal(r.sample_voted, sm.voted);
    assert_true(sm.time.median > least);
    assert_int_equal(r.time.median, least);
}

/* Fewer CTAs than SMs work at first, so the sampling launch sees one agent an SM; 2 are faster. */
static void runoff_of_agents(void **state)
{
    (void)state;
    struct result r = settled("nbody", "default", "sim:kepler-k40", "--cluster agent --agents vote",
                              "; a run-off of ");
    for (int n = 1; n <= 4; n++) {
        char line[48];
        snprintf(line, sizeof line, "--cluster agent --agents %d", n);
        assert_true(r.time.median <= time_at("nbody", "sim:kepler-k40", line));
    }
}

/* One CTA for each of the 9 thresholds: a launch far smaller than the kernel's 264 CTAs. */
static void threshold_by_cta(void **state)
{
    (void)state;
    struct result r = settled("gesummv", "default", "sim:fermi-16k", "--bypass l1 --pi vote-cta",
                              "one CTA per threshold in one launch of");
    const char *at = strstr(r.message, "launch of ");
    assert_false(PI_IS_VOTE(opt_bypass(&r.options)->pi.mode));
    assert_in_range(r.voted, 0, 8);
    assert_non_null(strstr(at, "µs"));
    assert_true(strtod(at + strlen("launch of "), NULL) * 1000 < 0.1 * (double)r.time.median);
}

static void software_cache(void **state)
{
    (void)state;
    struct result r = settled("kmeans", "default", "sim:fermi-16k", "--softcache auto",
                              "profiled hits of the first 300 accesses per thread");
    assert_true(opt_softcache(&r.options)->lines >= 0);
    assert_true(opt_softcache(&r.options)->lines != OPT_SOFTCACHE_AUTO);
}

static void both(void **state)
{
    (void)state;
    struct result r =
        settled("atax", "default", "sim:fermi-16k", "--softcache auto --bypass l1 --pi vote", "vote");
    assert_true(opt_bypass(&r.options)->pi.mode != PI_VOTE);
    assert_true(opt_softcache(&r.options)->lines != OPT_SOFTCACHE_AUTO);
}

/* ---- verdicts, of curves made here: times in ms of bpa, cha and of thresholds 0 to 4 ---- */
static struct result timed(double ms)
{
    struct result r = result_empty();
    r.status = ST_OK;
    r.equal = EQUAL_YES;
    r.time.valid = true;
    r.time.n = 5;
    r.time.median = r.time.min = r.time.max = (int64_t)(ms * 1e6);
    return r;
}
static const struct {
    double ms[7];
    size_t points;
    const char *said;
} curves[] = {
    { { 4, 4, 4, 3, 2, 3, 4 },
      5,
      "cache-congested: π=2 of 4 is 2.00x faster than caching all and 2.00x faster than bypassing all" },
    { { 4, 1, 4, 3, 2.5, 2, 1 },
      5,
      "cache-favourite: cache everything (cha): 4.00x faster than bypassing all" },
    { { 1, 4, 1, 2, 2.5, 3, 4 },
      5,
      "bypass-favourite: bypass everything (bpa): 4.00x faster than caching all" },
    { { 2, 2, 2, 2, 2, 2, 2 }, 5, "cache-insensitive: leave it alone" },
    { { 4, 1, 4, 2, 3, 2, 1.5 },
      5,
      "irregular: no single valley; caching all is the fastest, 4.00x over bypassing all" },
    { { 1, 4, 1.5, 3, 2, 3, 4 },
      5,
      "irregular: no single valley; bypassing all is the fastest, 4.00x over caching all" },
    { { 4, 4, 4, 2, 3, 1, 4 }, 5, "irregular: no single valley; best seen at π=3 of 4" },
    { { 4, 4, 4, 3, 2 },
      3,
      "cut off after 3 points; fastest so far is point 2 (2.0000 ms, modelled), 2.00x over caching "
      "all" },
};
static void verdicts(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(curves); k++) {
        struct result points[5], bpa = timed(curves[k].ms[0]), cha = timed(curves[k].ms[1]);
        struct tune_sweep s = { .axis = "pi",
                                .points = points,
                                .bpa = &bpa,
                                .cha = &cha,
                                .npoints = curves[k].points,
                                .warps = 4,
                                .complete = curves[k].points == 5 };
        struct dev_info dev = { .sms = 1 };
        struct buf said = { 0 };
        for (size_t i = 0; i < s.npoints; i++) {
            points[i] = timed(curves[k].ms[2 + i]);
            opt_bypass(&points[i].options)->pi.mode = PI_VALUE;
            opt_bypass(&points[i].options)->pi.value = (int)i;
        }
        tune_sweep_judge(&s, &dev, 128);
        tune_verdict(&s, &said);
        if (!said.s || !strstr(said.s, curves[k].said))
            fail_msg("%s, not %s", said.s ? said.s : "nothing", curves[k].said);
        buf_free(&said);
    }
    struct result bpa = result_empty(), cha = result_empty();
    struct tune_sweep none = { .axis = "pi", .bpa = &bpa, .cha = &cha };
    struct buf said = { 0 };
    cha.status = ST_REFUSED;
    snprintf(cha.message, sizeof cha.message, "because");
    tune_verdict(&none, &said);
    assert_string_equal(said.s, "no configuration ran with outputs equal to the original's: because");
    buf_free(&said);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(agents),
                                        cmocka_unit_test(threshold_by_cta),
                                        cmocka_unit_test(runoff_finds_the_best),
                                        cmocka_unit_test(runoff_of_agents),
                                        cmocka_unit_test(software_cache),
                                        cmocka_unit_test(both),
                                        cmocka_unit_test(verdicts) };
    return cmocka_run_group_tests_name("tune: settling and verdicts", tests, NULL, NULL);
}
