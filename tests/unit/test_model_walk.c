/* Warps in time, by hand: a few warps with a few instructions, every cycle accounted for. */
#include "tests/support.h"

#include <math.h>

#include "engine/model/model.h"

/* Latencies 30, 200 and 500; no queues unless a test sets them. Each warp takes its steps from script[warp], per CTA anew. */
struct script { const struct model_walk_step *step; uint32_t n; };
struct scene { const struct script *warp; uint32_t at[8][4], nwarps; };

static bool next(void *ctx, uint32_t cta, uint32_t warp, struct model_walk_step *out)
{
    struct scene *s = ctx;
    const struct script *w = &s->warp[warp];
    if (s->at[cta][warp] == w->n)
        return false;
    *out = w->step[s->at[cta][warp]++];
    return true;
}

static struct model_walk_config plain(uint64_t ctas, uint32_t warps, uint32_t slots)
{
    return (struct model_walk_config){ .ctas = ctas, .warps = warps, .slots = slots, .lat_l1 = 30, .lat_l2 = 200, .lat_dram = 500, .dependent = 4 };
}

static double walk(const struct model_walk_config *c, const struct script *warp, struct model_waits *w)
{
    struct scene s = { .warp = warp, .nwarps = c->warps };
    struct model_waits own;
    return model_walk(c, next, &s, w ? w : &own);
}

#define STEP(...) { .nlines = 1, .turns = 1, .line = __VA_ARGS__ }
static const struct model_walk_line a2 = { .line = 7, .sectors = 1, .from = MODEL_FROM_L2 }, a1 = { .line = 7, .from = MODEL_FROM_L1 },
                                    b2 = { .line = 9, .sectors = 1, .from = MODEL_FROM_L2 }, bd = { .line = 9, .sectors = 1, .from = MODEL_FROM_DRAM };

static void one_load_after_the_other(void **state)
{
    const struct model_walk_step both[] = { STEP(&a2), STEP(&bd, .waits = true) }, apart[] = { STEP(&a2), STEP(&bd) }, sums[] = { STEP(&a2), STEP(&b2, .waits = true, .before = 5) };
    struct model_walk_config c = plain(1, 1, 1);
    struct model_waits w;
    (void)state;
    assert_float_equal(walk(&c, &(struct script){ both, 2 }, &w), 700, 1e-9);       /* 200, then 500 */
    assert_float_equal(w.of[MODEL_FROM_L2], 199, 1e-9);                              /* its own cycle of issue is no wait */
    assert_float_equal(w.of[MODEL_FROM_DRAM], 499, 1e-9);
    assert_float_equal(walk(&c, &(struct script){ apart, 2 }, NULL), 501, 1e-9);     /* one cycle apart, side by side */
    assert_float_equal(walk(&c, &(struct script){ sums, 2 }, NULL), 420, 1e-9);      /* five instructions of four cycles between */
}

static void a_hit_on_a_line_under_way_waits_for_it(void **state)
{
    const struct model_walk_step miss[] = { STEP(&a2) }, hit[] = { STEP(&a1) }, late[] = { STEP(&a1, .before = 100) };
    struct model_walk_config c = plain(1, 2, 1);
    (void)state;
    assert_float_equal(walk(&c, (struct script[]){ { miss, 1 }, { hit, 1 } }, NULL), 200, 1e-9);
    assert_float_equal(walk(&c, (struct script[]){ { miss, 1 }, { late, 1 } }, NULL), 430, 1e-9);   /* arrives at 400: there, 30 cycles */
}

static void the_last_wave_counts_whole(void **state)
{
    const struct model_walk_step s[] = { STEP(&a2) };
    struct model_walk_config two = plain(3, 1, 2), three = plain(3, 1, 3);
    (void)state;
    /* three CTAs fetch the same line each for itself, by what they were told */
    assert_float_equal(walk(&two, &(struct script){ s, 1 }, NULL), 400, 2);
    assert_float_equal(walk(&three, &(struct script){ s, 1 }, NULL), 202, 1e-9);
    const struct model_walk_step none[] = { STEP(&a2) };
    assert_float_equal(walk(&two, &(struct script){ none, 0 }, NULL), 0, 1e-9);      /* CTAs that do nothing make room at once */
}

static void units_queue(void **state)
{
    const struct model_walk_step wide[] = { { .line = &a1, .nlines = 1, .turns = 10 } };
    const struct model_walk_line four = { .line = 1, .sectors = 4, .from = MODEL_FROM_L2, .past = true }, crowd = { .line = 1, .sectors = 1, .crowd = 1, .from = MODEL_FROM_L2, .past = true };
    const struct model_walk_step past[] = { STEP(&four) }, same[] = { STEP(&crowd) };
    struct model_walk_config c = plain(1, 4, 1);
    (void)state;
    /* the fourth starts at 30, its line comes in its tenth cycle */
    assert_float_equal(walk(&c, (struct script[]){ { wide, 1 }, { wide, 1 }, { wide, 1 }, { wide, 1 } }, NULL), 39 + 30, 1e-9);
    c.l2_turn = 5;                                     /* four sectors take 20 cycles: the fourth asks at 60 */
    assert_float_equal(walk(&c, (struct script[]){ { past, 1 }, { past, 1 }, { past, 1 }, { past, 1 } }, NULL), 260, 1e-9);
    c.crowd_turn = 19;
    assert_float_equal(walk(&c, (struct script[]){ { same, 1 }, { same, 1 }, { same, 1 }, { same, 1 } }, NULL), 3 * 19 + 200, 1e-9);
}

/* Four schedulers, eight warps: each warp's instruction takes two cycles of its time, unless it waits longer anyway. */
static void instructions_share_the_schedulers(void **state)
{
    const struct model_walk_step s[] = { STEP(&a1, .before = 100) };
    struct script all[4] = { { s, 1 }, { s, 1 }, { s, 1 }, { s, 1 } };
    struct model_walk_config c = plain(1, 4, 1);
    (void)state;
    c.dependent = 1;
    c.issue = 1;
    assert_float_equal(walk(&c, all, NULL), 400 + 3 + 30, 1e-9);       /* one scheduler for four warps; the last load in its fourth turn */
    c.issue = 4;
    assert_float_equal(walk(&c, all, NULL), 100 + 3 + 30, 1e-9);
}

static void nobody_waits_for_a_prefetch_but_its_line_is_there(void **state)
{
    const struct model_walk_step s[] = { STEP(&a2, .quiet = true), STEP(&a1, .waits = true, .before = 75) };
    struct model_walk_config c = plain(1, 1, 1);
    (void)state;
    assert_float_equal(walk(&c, &(struct script){ s, 2 }, NULL), 1 + 300 + 30, 1e-9);
}

static void memory_may_run_out(void **state)
{
    const struct model_walk_step s[] = { STEP(&a2) };
    struct model_walk_config c = plain(1, 1, 1);
    (void)state;
    double whole = walk(&c, &(struct script){ s, 1 }, NULL);
    for (uint64_t n = 1; n < 8; n++) {
        base_fail_after(n);
        double v = walk(&c, &(struct script){ s, 1 }, NULL);
        base_fail_after(0);
        assert_true(isnan(v) || fabs(v - whole) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_load_after_the_other), cmocka_unit_test(a_hit_on_a_line_under_way_waits_for_it), cmocka_unit_test(the_last_wave_counts_whole),
        cmocka_unit_test(units_queue), cmocka_unit_test(instructions_share_the_schedulers), cmocka_unit_test(nobody_waits_for_a_prefetch_but_its_line_is_there),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
