/* The one original that gains are over. */
#include "engine/session/run.h"
#include "tests/support.h"
#include "engine/base/base.h"
#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/options.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"
#include "engine/search/tuner.h"
#include "engine/session/baseline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct result timed(int pi, int64_t ns, bool sampled)
{
    struct result r = result_empty();
    r.options = options_default();
    if (pi >= 0) {
        opt_bypass(&r.options)->level = BYPASS_L1;
        opt_bypass(&r.options)->pi.mode = PI_VALUE;
        opt_bypass(&r.options)->pi.value = pi;
    }
    r.status = ST_OK;
    r.equal = EQUAL_YES;
    r.time =
        (struct timing){ .median = ns, .min = ns, .max = ns, .valid = true, .origin = ORIGIN_SIMULATED };
    r.sampled = sampled;
    return r;
}

static void equal_evidence_alone(void **state)
{
    struct result sample = timed(-1, 40, true), whole = timed(-1, 30, false), x = timed(3, 20, true);
    (void)state;
    assert_true(gain_of(&sample, &x) == 2);
    assert_true(isnan(gain_of(&whole, &x)));
    assert_true(isnan(gain_of(NULL, &x)));
    assert_null(gain_lacks(&sample, &x));
    assert_ptr_equal(gain_lacks(&whole, &x), &x);
    x.equal = EQUAL_NO; /* a wrong result is no gain */
    assert_null(gain_lacks(&whole, &x));
    assert_true(isnan(gain_of(&sample, &x)));
    x = timed(3, 20, false);
    assert_ptr_equal(gain_lacks(&sample, &x), &sample);
    x.time.origin = ORIGIN_MEASURED;
    assert_true(isnan(gain_of(&whole, &x)));
    assert_int_equal(evidence_of(&x), EVIDENCE_MEASURED);
    assert_string_equal(gain_words((double)NAN).s, "n/a");
    assert_string_equal(gain_words(1.366).s, "1.37x");
}

/* 0: the original, sampled; 1: --pi 3, sampled; 2: both again, whole; 3: --pi 5, sampled. */
struct scene {
    struct session_run run[4];
    const struct session_run *list[4];
    struct result trail[2], one[4];
    struct tune_found found;
};

static void scene_make(struct scene *s)
{
    memset(s, 0, sizeof *s);
    s->trail[0] = timed(-1, 30, false), s->trail[1] = timed(3, 24, false);
    s->one[0] = timed(-1, 40, true), s->one[1] = timed(3, 20, true), s->one[3] = timed(5, 32, true);
    s->found = (struct tune_found){ .original = &s->trail[0], .best = &s->trail[1] };
    s->run[0] = (struct session_run){ .kind = RUN_ONE, .one = &s->one[0] };
    s->run[1] = (struct session_run){ .kind = RUN_ONE, .one = &s->one[1] };
    s->run[2] =
        (struct session_run){ .kind = RUN_TUNE, .trail = s->trail, .ntrail = 2, .found = &s->found };
    s->run[3] = (struct session_run){ .kind = RUN_ONE, .one = &s->one[3] };
    for (size_t i = 0; i < 4; i++) {
        snprintf(s->run[i].kernel, sizeof s->run[i].kernel, "k");
        s->run[i].launch_key = 7;
        s->list[i] = &s->run[i];
    }
}

static void better_original_takes_over(void **state)
{
    struct scene s;
    (void)state;
    scene_make(&s);
    /* before the whole one: over the sample */
    assert_ptr_equal(run_baseline(s.list, 2, &s.run[1]), s.run[0].one);
    assert_true(run_gain(s.list, 2, &s.run[1], s.run[1].one) == 2);
    /* since: the same configuration by its whole time, one without such a time not at all */
    assert_ptr_equal(run_baseline(s.list, 4, &s.run[1]), s.found.original);
    assert_true(run_gain(s.list, 4, &s.run[1], s.run[1].one) == 30.0 / 24);
    assert_true(isnan(run_gain(s.list, 4, &s.run[3], s.run[3].one)));
    s.run[2].deleted = true;
    assert_true(run_gain(s.list, 4, &s.run[3], s.run[3].one) == 40.0 / 32);
}

static void others_have_no_say(void **state)
{
    struct scene s;
    (void)state;
    scene_make(&s);
    s.run[2].launch_key = 8;
    assert_true(run_gain(s.list, 4, &s.run[3], s.run[3].one) == 40.0 / 32);
    s.run[2].launch_key = 7;
    s.run[2].earlier = true;
    assert_true(run_gain(s.list, 4, &s.run[3], s.run[3].one) == 40.0 / 32);
    struct run_subject now = run_subject_of(&s.run[0]);
    assert_string_equal(run_other(&s.run[2], &now), "text changed since");
    assert_null(run_other(&s.run[1], &now));
}

static void originals_of_a_session(void **state)
{
    struct scene s;
    struct run_originals o = { NULL, 0, 0 };
    (void)state;
    scene_make(&s);
    for (size_t i = 0; i < 4; i++)
        assert_true(run_originals_add(&o, &s.run[i]));
    assert_int_equal(o.n, 1);
    assert_int_equal(o.run[0]->one->time.median, 30);
    assert_true(isnan(run_gain(o.run, o.n, &s.run[3], s.run[3].one)));
    assert_true(run_gain(o.run, o.n, &s.run[2], &s.trail[1]) == 30.0 / 24);
    run_originals_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(equal_evidence_alone),
                                        cmocka_unit_test(better_original_takes_over),
                                        cmocka_unit_test(others_have_no_say),
                                        cmocka_unit_test(originals_of_a_session) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
