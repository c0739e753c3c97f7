/* Categories and the valley fit: synthetic curves, exact and with noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/perfmodel/category.h"
#include "engine/perfmodel/valley.h"

#define W 16
#define N (W + 1)

/* Shapes over x in 0..1, of order 1. */
static double rising(double x)
{
    return 1 + 0.6 * x;
}
static double falling(double x)
{
    return 1.8 - 0.8 * x;
}
static double dropping(double x)
{
    return x < 0.3 ? 3 : 1;
}
static double bowl(double x)
{
    return 1 + 2 * (x - 0.4) * (x - 0.4);
}
static double deep(double x)
{
    return x < 0.45 ? 2.2 - 2.6 * x : 1.1 + (x - 0.45) * 2;
}
static double valley_then_plateau(double x)
{
    return x < 0.3 ? 1.6 - 2 * x : x < 0.6 ? 1 + 3 * (x - 0.3) : x < 0.7 ? 1.9 : 1.5;
}
static double shallow_bowl_on_fall(double x)
{
    return x < 0.8 ? 2.8 - 2 * x : 1.2 + 0.6 * (x - 0.8);
}
static double flat(double x)
{
    (void)x;
    return 1;
}
static double slight(double x)
{
    return 1 + 0.03 * x;
}
static double hill(double x)
{
    return 1 + 1.5 * x * (1 - x);
}
static double overhead(double x)
{
    return x > 0 && x < 1 ? 1.08 : 1;
} /* predicated loads cost, caching does not matter */
static double saw(double x)
{
    return 1 + 0.3 * (((int)(x * W + 0.5)) % 4);
}

/* Hand-measured on an H200 with the valley kernel (shape only, milliseconds). */
static const double h200[N] = { 0.25, 0.24, 0.22, 0.18, 0.15, 0.13, 0.12, 0.115, 0.13,
                                0.17, 0.19, 0.18, 0.24, 0.24, 0.25, 0.25, 0.25 };

struct shape {
    double (*f)(double);
    enum model_category category;
    const char *sensitivity;
};
static const struct shape shapes[] = {
    { rising, CATEGORY_BYPASS_FAVOURITE, "HCS" },
    { falling, CATEGORY_CACHE_FAVOURITE, "HCS" },
    { dropping, CATEGORY_CACHE_FAVOURITE, "HCS" },
    { bowl, CATEGORY_CACHE_CONGESTED, "HCS" },
    { deep, CATEGORY_CACHE_CONGESTED, "HCS" },
    { valley_then_plateau, CATEGORY_CACHE_CONGESTED, "HCS" },
    { shallow_bowl_on_fall, CATEGORY_CACHE_CONGESTED, "HCS" },
    { flat, CATEGORY_CACHE_INSENSITIVE, "CI" },
    { slight, CATEGORY_CACHE_INSENSITIVE, "CI" },
    { overhead, CATEGORY_CACHE_INSENSITIVE, "CI" },
    { hill, CATEGORY_IRREGULAR, "MCS" },
    { saw, CATEGORY_IRREGULAR, "HCS" },
};

/* Roughly normal, unit deviation: the sum of twelve uniform numbers. */
static double gauss(uint64_t seed, uint64_t i)
{
    double s = -6;
    for (uint64_t k = 0; k < 12; k++)
        s += (double)(base_splitmix(seed, 12 * i + k) >> 11) / 9007199254740992.0;
    return s;
}

/* Median, minimum and maximum of five launches with this relative noise. */
static struct model_point launch(double x, double t, double noise, uint64_t seed)
{
    double s[5];
    for (uint64_t k = 0; k < 5; k++) {
        s[k] = t * (1 + noise * gauss(seed, k));
        for (uint64_t j = k; j > 0 && s[j] < s[j - 1]; j--) {
            double swap = s[j];
            s[j] = s[j - 1];
            s[j - 1] = swap;
        }
    }
    return (struct model_point){ x, s[2], s[0], s[4] };
}

static void fill(struct model_point *p, double (*f)(double), double noise, uint64_t seed)
{
    for (size_t i = 0; i < N; i++)
        p[i] = launch((double)i, 1e5 * f((double)i / W), noise, seed * 100 + i);
}

static void exact_shapes(void **state)
{
    (void)state;
    struct model_point p[N];
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        fill(p, shapes[i].f, 0, 1);
        struct model_curve c = model_categorise(p, N);
        assert_string_equal(model_category_name(c.category), model_category_name(shapes[i].category));
        if (strcmp(c.sensitivity, shapes[i].sensitivity))
            fail_msg("shape %zu: %s instead of %s", i, c.sensitivity, shapes[i].sensitivity);
    }
}

/* With 1 % and 2 % noise at least 97 of 100 draws of every shape keep the category. */
static void noisy_shapes(void **state)
{
    (void)state;
    struct model_point p[N];
    for (int percent = 1; percent <= 2; percent++)
        for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
            unsigned right = 0;
            for (uint64_t draw = 0; draw < 100; draw++) {
                fill(p, shapes[i].f, percent / 100.0, 1000 * i + draw);
                right += model_categorise(p, N).category == shapes[i].category;
            }
            if (right < 97)
                fail_msg("shape %zu at %d %% noise: %u of 100", i, percent, right);
        }
}

/* Differences inside a wide noise band are no differences. */
static void noise_swallows(void **state)
{
    (void)state;
    struct model_point p[N];
    fill(p, bowl, 0, 1);
    for (size_t i = 0; i < N; i++) {
        p[i].low = p[i].time * 0.6;
        p[i].high = p[i].time * 1.4;
    }
    assert_int_equal(model_categorise(p, N).category, CATEGORY_CACHE_INSENSITIVE);
}

static void measured_curve(void **state)
{
    (void)state;
    struct model_point p[N];
    for (size_t i = 0; i < N; i++)
        p[i] = (struct model_point){ (double)i, h200[i], h200[i], h200[i] };
    struct model_curve c = model_categorise(p, N);
    assert_int_equal(c.category, CATEGORY_CACHE_CONGESTED);
    assert_int_equal(c.best, 7);
    assert_int_equal(c.peak, 7);
    assert_int_equal(c.valley, 14);
    assert_int_equal(c.plateau, 12); /* 0.24 and 0.25 differ by less than this curve wobbles */
    assert_string_equal(c.sensitivity, "HCS");
}

/* Simulated curves have one sample a point and wobble by a few percent as warps interleave. */
static void simulated_curves(void **state)
{
    /* no trend, only wobble */
    static const double dot[9] = { 8152, 7818, 7813, 7997, 7981, 8487, 8378, 7851, 8152 };
    static const double bfs[2][N] = {
        { 934, 909, 891, 891, 895, 915, 941, 940, 985, 1002, 1053, 1113, 1116, 1139, 1185, 1221, 1293 },
        { 934, 917, 894, 877, 847, 846, 850, 823, 820, 788, 803, 820, 790, 811, 787, 781, 786 },
    };
    static const enum model_category expected[2] = { CATEGORY_CACHE_CONGESTED,
                                                     CATEGORY_CACHE_FAVOURITE };
    struct model_point p[N];
    (void)state;
    for (size_t i = 0; i < 9; i++)
        p[i] = (struct model_point){ (double)i, dot[i], dot[i], dot[i] };
    assert_string_equal(model_category_name(model_categorise(p, 9).category), "cache-insensitive");
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < N; i++)
            p[i] = (struct model_point){ (double)i, bfs[k][i], bfs[k][i], bfs[k][i] };
        assert_string_equal(model_category_name(model_categorise(p, N).category),
                            model_category_name(expected[k]));
    }
}

/* Both sides of each stated number (docs/concepts.md), on curves of N points without noise: 2 % and 5 %
 * hold. */
static struct model_curve of_times(double (*f)(int i, double a), double a)
{
    struct model_point p[N];
    for (int i = 0; i < N; i++) {
        double t = f(i, a);
        p[i] = (struct model_point){ i, t, t, t };
    }
    return model_categorise(p, N);
}

static double ramp(int i, double a)
{
    return 1 + a * i / W;
} /* from 1 to 1 + a */
static double rounded(int i, double a)
{
    return i == 0 || i == W ? 1 : 1 + a * sin(M_PI * i / W);
} /* ends equal, a hill of a between */
static double dip(int i, double a)
{
    return 1.2 - 0.2 * i / W - (i == 8 ? a : 0);
} /* falls to 1 at W; a dip in the middle */
static double step_back(int i, double a)
{
    return i < 6   ? 2 - 0.15 * i
           : i < 9 ? 1.25 - 0.01 * (i - 5) + (i == 7 ? a : 0)
                   : 1.2 - 0.025 * (i - 8);
}
static double gain_inside(int i, double a)
{
    double x = (i - 6) / 10.0;
    return i <= 6 ? 1.3 - (0.3 + a - 0.1) * i / 6.0 : 1.3 - (0.2 + a) + (0.2 + a - 0.2) * x;
}

static void edges_of_the_rules(void **state)
{
    (void)state;
    /* flat: 5 % of spread */
    assert_int_equal(of_times(ramp, 0.049).category, CATEGORY_CACHE_INSENSITIVE);
    assert_int_equal(of_times(ramp, 0.056).category, CATEGORY_BYPASS_FAVOURITE);
    assert_int_equal(of_times(ramp, -0.045).category, CATEGORY_CACHE_INSENSITIVE);
    assert_int_equal(of_times(ramp, -0.06).category, CATEGORY_CACHE_FAVOURITE);
    /* both ends as good as the best: up to 12 % between them is the inserted code */
    assert_int_equal(of_times(rounded, 0.11).category, CATEGORY_CACHE_INSENSITIVE);
    assert_int_equal(of_times(rounded, 0.15).category, CATEGORY_IRREGULAR);
    /* an end wins within 2 % of the fastest point, and not beyond */
    assert_int_equal((int)of_times(dip, 0.10).best, W);
    assert_int_equal((int)of_times(dip, 0.14).best, 8);
    /* a reversal counts from 15 % of the spread (1.0 here) on */
    assert_int_equal(of_times(step_back, 0.10).category, CATEGORY_CACHE_FAVOURITE);
    assert_int_equal(of_times(step_back, 0.20).category, CATEGORY_IRREGULAR);
    /* an optimum inside is congestion when it gains more than 2 % over both ends */
    assert_int_equal(of_times(gain_inside, 0.01).category, CATEGORY_CACHE_FAVOURITE);
    assert_int_equal(of_times(gain_inside, 0.05).category, CATEGORY_CACHE_CONGESTED);
    /* sensitivity: 50 % of spread */
    assert_string_equal(of_times(ramp, 0.49).sensitivity, "MCS");
    assert_string_equal(of_times(ramp, 0.51).sensitivity, "HCS");
}

/* At an edge the noise band decides, and it errs on the side of "no difference": with bands of 4 % a
 * spread of 7 % is flat; with bands of 1 % it is not. */
static void noise_moves_the_edges(void **state)
{
    (void)state;
    for (int wide = 0; wide <= 1; wide++) {
        struct model_point p[N];
        double half = wide ? 0.02 : 0.005;
        for (int i = 0; i < N; i++) {
            double t = 1 + 0.07 * i / W;
            p[i] = (struct model_point){ i, t, t * (1 - half), t * (1 + half) };
        }
        struct model_curve c = model_categorise(p, N);
        assert_int_equal(c.category, wide ? CATEGORY_CACHE_INSENSITIVE : CATEGORY_BYPASS_FAVOURITE);
        assert_float_equal(c.significance, wide ? 0.04 : 0.02, 1e-3);
    }
}

static void few_points(void **state)
{
    (void)state;
    struct model_point p[2] = { { 0, 100, 100, 100 }, { 1, 50, 50, 50 } };
    assert_int_equal(model_categorise(p, 0).category, CATEGORY_CACHE_INSENSITIVE);
    assert_int_equal(model_categorise(p, 1).category, CATEGORY_CACHE_INSENSITIVE);
    struct model_curve c = model_categorise(p, 2);
    assert_int_equal(c.category, CATEGORY_CACHE_FAVOURITE);
    assert_int_equal(c.best, 1);
    assert_int_equal(c.valley, c.peak);
}

static const struct model_valley base = { .cache_bytes = 256 * 1024,
                                          .t_cache = 30,
                                          .t_mem = 500,
                                          .npe = 128,
                                          .freq_hz = 1.7e9,
                                          .cpi = 1,
                                          .r_m = 0.4,
                                          .b_reg = 4,
                                          .bandwidth = 2e10 };

static void hit_law(void **state)
{
    (void)state;
    struct model_valley v = base;
    v.alpha = 3;
    v.beta = 128;
    assert_float_equal(model_hit(&v, 2048), 1 - 1 / 4.0, 1e-12); /* S/(n beta) = 1 */
    assert_float_equal(model_hit(&v, 0), 1, 1e-12);
    assert_true(model_hit(&v, 100) > model_hit(&v, 200));
    v.sharpness = 4;
    assert_float_equal(model_hit(&v, 2048), 1 - 1 / 4.0, 1e-12);
    assert_true(model_hit(&v, 4096) < 0.2);
}

static void performance_bounds(void **state)
{
    (void)state;
    struct model_valley v = base;
    v.alpha = 3;
    v.beta = 1e-6; /* everything hits: compute bound */
    assert_float_equal(model_perf(&v, 1e5) / (128 * 1.7e9), 1, 1e-6);
    v.beta = 1e12; /* nothing hits: bandwidth bound */
    assert_float_equal(model_perf(&v, 1e6) / (2e10 / (0.4 * 4)), 1, 1e-6);
    /* one thread waits for memory */
    assert_float_equal(model_perf(&v, 1), 1.7e9 / (1 + 500 * 0.4), 1e3);
}

/* Curves drawn by the model itself are found again, with and without the extra exponent. */
static void fit_recovers(void **state)
{
    (void)state;
    for (int sharp = 0; sharp < 2; sharp++) {
        struct model_valley v = base;
        double n[N], t[N];
        v.alpha = 2.5;
        v.beta = 300;
        v.sharpness = sharp ? 3 : 1;
        for (size_t i = 0; i < N; i++) {
            n[i] = (double)i * 128;
            t[i] = 1e15 / model_perf_mixed(&v, n[i], 2048);
        }
        struct model_fit f = model_valley_fit(&base, n, t, N, 2048);
        assert_true(f.valid);
        assert_true(f.residual < 0.005);
        for (size_t i = 0; i < N; i++)
            assert_float_equal(model_valley_time(&base, &f, n[i], 2048) / t[i], 1, 0.02);
        if (!sharp) {
            assert_true(f.paper_residual < 0.005);
            struct model_valley paper = base;
            paper.alpha = f.paper_alpha;
            paper.beta = f.paper_beta;
            paper.sharpness = 1;
            assert_float_equal(f.paper_scale / model_perf_mixed(&paper, n[5], 2048) / t[5], 1, 0.02);
        } else {
            assert_true(f.paper_residual > 5 * f.residual);
        }
    }
}

static void fit_measured(void **state)
{
    (void)state;
    double n[N], best = INFINITY;
    size_t at = 0;
    for (size_t i = 0; i < N; i++)
        n[i] = (double)i * 128;
    struct model_fit f = model_valley_fit(&base, n, h200, N, 2048);
    assert_true(f.valid);
    assert_true(f.residual < 0.12);
    for (size_t i = 0; i < N; i++) {
        double t = model_valley_time(&base, &f, n[i], 2048);
        if (t < best) {
            best = t;
            at = i;
        }
    }
    assert_in_range(at, 5, 9);
    struct model_fit again = model_valley_fit(&base, n, h200, N, 2048);
    assert_true(f.alpha == again.alpha);
    assert_true(f.beta == again.beta);
    assert_true(f.sharpness == again.sharpness);
    assert_true(f.residual == again.residual);
    assert_true(f.paper_residual == again.paper_residual);
}

/* An inner optimum: the paper's law cannot turn inside 0..W, and says no more than a constant. */
static void fit_tells_whether_a_constant_does(void **state)
{
    (void)state;
    static const double turns[N] = { 100, 98, 96,  95,  94, 95,  97,  99, 101,
                                     100, 99, 101, 100, 99, 100, 101, 100 };
    double n[N], t[N], mean = 0, square = 0;
    for (size_t i = 0; i < N; i++)
        n[i] = (double)i * 128;
    struct model_fit f = model_valley_fit(&base, n, h200, N, 2048);
    assert_true(f.r2 > 0.5);
    assert_float_equal(f.r2, 1 - pow(f.residual / f.constant_residual, 2), 1e-12);
    for (size_t i = 0; i < N; i++) {
        t[i] = turns[i] > 0 ? turns[i] : 100;
        mean += 1 / t[i];
        square += 1 / (t[i] * t[i]);
    }
    f = model_valley_fit(&base, n, t, N, 2048);
    assert_true(f.paper_r2 < MODEL_R2_LEAST);
    double sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += pow(1 - mean / square / t[i], 2);
    assert_float_equal(f.constant_residual, sqrt(sum / N), 1e-12);
}

static void fit_refuses_nonsense(void **state)
{
    (void)state;
    double n[N] = { 0 }, t[N] = { 0 };
    assert_false(model_valley_fit(&base, n, t, N, 2048).valid);
    for (size_t i = 0; i < N; i++)
        t[i] = 1;
    assert_false(model_valley_fit(&base, n, t, 3, 2048).valid);
    assert_false(model_valley_fit(&base, n, t, N, 0).valid);
    struct model_valley empty = { .cache_bytes = 1024 };
    struct model_fit f = model_valley_fit(&empty, n, t, N, 2048);
    assert_true(f.valid); /* ours needs the cache size alone */
    assert_true(isnan(f.paper_residual));
    assert_float_equal(f.residual, 0, 1e-9);
    t[4] = NAN;
    assert_false(model_valley_fit(&base, n, t, N, 2048).valid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_shapes),
        cmocka_unit_test(noisy_shapes),
        cmocka_unit_test(noise_swallows),
        cmocka_unit_test(measured_curve),
        cmocka_unit_test(simulated_curves),
        cmocka_unit_test(edges_of_the_rules),
        cmocka_unit_test(noise_moves_the_edges),
        cmocka_unit_test(few_points),
        cmocka_unit_test(hit_law),
        cmocka_unit_test(performance_bounds),
        cmocka_unit_test(fit_recovers),
        cmocka_unit_test(fit_measured),
        cmocka_unit_test(fit_tells_whether_a_constant_does),
        cmocka_unit_test(fit_refuses_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
