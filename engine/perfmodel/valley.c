/* Valley model (bypass paper after Guz et al., section 1 of the digest) and its fit.
 *
 * n of N threads cache, the rest bypass. Their mean hit rate is H = h(n) * n / N.
 * More caching threads help while h holds and hurt once h falls faster than n grows:
 *
 *   time |\                    /~~~~ memory plateau
 *        | \        __________/
 *        |  \______/  <- cache peak (time is lowest)
 *        +------------------------- n
 *
 * The paper's law for h falls at most like 1/n, so n*h(n) never falls; ours has one
 * more exponent (perfmodel.h). Both are fitted, each with its residual. */
#include "engine/perfmodel/valley.h"

#include <math.h>
#include <string.h>

#define MIN_POINTS 4

double model_hit(const struct model_valley *v, double n)
{
    if (!(n > 0))
        return 1;
    double x = v->cache_bytes / (n * v->beta);
    if (v->sharpness > 1)
        x = pow(x, v->sharpness);
    return 1 - pow(x + 1, -(v->alpha - 1));
}

static double perf_at(const struct model_valley *v, double threads, double hit)
{
    double t_avg = hit * v->t_cache + (1 - hit) * v->t_mem;
    double busy = threads / (v->npe * (1 + t_avg * v->r_m / v->cpi));
    double compute = v->npe * (v->freq_hz / v->cpi) * (busy < 1 ? busy : 1);
    double traffic = v->r_m * v->b_reg * (1 - hit);
    double memory = traffic > 0 ? v->bandwidth / traffic : INFINITY;
    return compute < memory ? compute : memory;
}

double model_perf(const struct model_valley *v, double n)
{
    return perf_at(v, n, model_hit(v, n));
}

static double mean_hit(const struct model_valley *v, double caching, double total)
{
    return model_hit(v, caching) * caching / total;
}

double model_perf_mixed(const struct model_valley *v, double caching, double total)
{
    return perf_at(v, total, mean_hit(v, caching, total));
}

unsigned model_threshold_predict(double cache_bytes, unsigned ways, double bytes_per_warp,
                                 unsigned ctas_per_sm, unsigned warps)
{
    double per_step = bytes_per_warp * ctas_per_sm;
    if (!(per_step > 0) || per_step * warps <= cache_bytes)
        return warps;
    if (ways > 1)
        cache_bytes *= (double)(ways - 1) / ways;
    return (unsigned)(cache_bytes / per_step);
}

/* ---- least squares ---- */
#define MAX_DIM 3
#define KEPT    128 /* values of so many points are computed once per step */
struct problem {
    struct model_valley v;
    const double *n, *time;
    size_t count;
    double total;
    bool paper;                     /* one scale over model_perf_mixed; else floor + miss */
    double a, b;                    /* the linear parameters at the last evaluation */
    double ln_beta, ln_share[KEPT]; /* ln of cache / n at the points */
    double per_time[KEPT];          /* 1 / time */
    double u[KEPT], w[KEPT];        /* both functions over time at the points, at the last evaluation */
};

/* Parameters live on log scales, held inside ranges where the law still means something. */
static double from_log(double x, double lo, double hi)
{
    double y = exp(x < -50 ? -50 : x > 50 ? 50 : x);
    return y < lo ? lo : y > hi ? hi : y;
}

static void set_parameters(struct problem *p, const double *x)
{
    double thread_share = p->v.cache_bytes / p->total;
    p->v.alpha = 1 + from_log(x[0], 1e-3, 50);
    p->v.beta = thread_share * from_log(x[1], 1e-4, 1e4);
    p->v.sharpness = p->paper ? 1 : 1 + from_log(x[2], 1e-3, 40);
    p->ln_beta = log(p->v.beta);
}

/* A function at a point, relative to the time there; NULL: 0. */
static double over_time(const struct problem *p, double (*f)(const struct problem *, size_t), size_t i)
{
    return !f ? 0 : i < KEPT ? f(p, i) * p->per_time[i] : f(p, i) / p->time[i];
}

/* Best a, b >= 0 for sum(((a*f + b*g)/t - 1)^2), and that sum. */
static double solve_linear(struct problem *p, double (*f)(const struct problem *, size_t),
                           double (*g)(const struct problem *, size_t))
{
    double ff = 0, fg = 0, gg = 0, f1 = 0, g1 = 0, sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        double u = over_time(p, f, i), w = over_time(p, g, i);
        if (i < KEPT) {
            p->u[i] = u;
            p->w[i] = w;
        }
        ff += u * u;
        fg += u * w;
        gg += w * w;
        f1 += u;
        g1 += w;
    }
    double det = ff * gg - fg * fg;
    p->a = p->b = 0;
    if (g && det > 1e-12 * ff * gg) {
        p->a = (f1 * gg - g1 * fg) / det;
        p->b = (g1 * ff - f1 * fg) / det;
    }
    if (!g || p->b <= 0 || det <= 1e-12 * ff * gg) {
        p->a = f1 / ff;
        p->b = 0;
    } else if (p->a < 0) {
        p->a = 0;
        p->b = g1 / gg;
    }
    for (size_t i = 0; i < p->count; i++) {
        double u = i < KEPT ? p->u[i] : over_time(p, f, i), w = i < KEPT ? p->w[i] : over_time(p, g, i);
        double e = p->a * u + p->b * w - 1;
        sum += e * e;
    }
    return isfinite(sum) ? sum : 1e300;
}

/* mean_hit at a point, with the logarithms that are the same in every step. */
static double hit_at(const struct problem *p, size_t i)
{
    if (i >= KEPT || !(p->n[i] > 0))
        return mean_hit(&p->v, p->n[i], p->total);
    double x = exp(p->v.sharpness * (p->ln_share[i] - p->ln_beta));
    return (1 - exp(-(p->v.alpha - 1) * log(x + 1))) * p->n[i] / p->total;
}

static double one(const struct problem *p, size_t i)
{
    (void)p;
    (void)i;
    return 1;
}
static double miss(const struct problem *p, size_t i)
{
    return 1 - hit_at(p, i);
}
static double paper_time(const struct problem *p, size_t i)
{
    return 1 / perf_at(&p->v, p->total, hit_at(p, i));
}

/* Mean square of the relative errors. The whisper of a ridge picks one of the many
 * parameter sets that draw the same curve. */
static double objective(struct problem *p, const double *x)
{
    set_parameters(p, x);
    double sum = p->paper ? solve_linear(p, paper_time, NULL) : solve_linear(p, one, miss);
    double ridge = x[0] * x[0] + x[1] * x[1] + (p->paper ? 0 : x[2] * x[2]);
    return sum / (double)p->count + 2e-6 * ridge;
}

struct vertex {
    double x[MAX_DIM], y;
};

static void sort_simplex(struct vertex *s, int dim)
{
    for (int i = 1; i <= dim; i++)
        for (int j = i; j > 0 && s[j].y < s[j - 1].y; j--) {
            struct vertex t = s[j];
            s[j] = s[j - 1];
            s[j - 1] = t;
        }
}

static struct vertex step_from(struct problem *p, const double *centre, const struct vertex *worst,
                               int dim, double by)
{
    struct vertex v = { .y = 0 };
    for (int d = 0; d < dim; d++)
        v.x[d] = centre[d] + by * (centre[d] - worst->x[d]);
    v.y = objective(p, v.x);
    return v;
}

static void shrink(struct problem *p, struct vertex *s, int dim)
{
    for (int i = 1; i <= dim; i++) {
        for (int d = 0; d < dim; d++)
            s[i].x[d] = (s[i].x[d] + s[0].x[d]) / 2;
        s[i].y = objective(p, s[i].x);
    }
}

/* Nelder-Mead with the textbook coefficients (reflect 1, expand 2, contract 1/2), which can be left and
 * gone on with. */
struct simplex {
    struct vertex s[MAX_DIM + 1];
    int steps;
    bool done;
};

static void simplex_begin(struct problem *p, struct simplex *x, const double *start, int dim)
{
    memset(x, 0, sizeof *x);
    for (int i = 0; i <= dim; i++) {
        memcpy(x->s[i].x, start, sizeof x->s[i].x);
        if (i)
            x->s[i].x[i - 1] += 0.7;
        x->s[i].y = objective(p, x->s[i].x);
    }
}

static void simplex_step(struct problem *p, struct vertex *s, int dim)
{
    double centre[MAX_DIM] = { 0 };
    for (int i = 0; i < dim; i++)
        for (int d = 0; d < dim; d++)
            centre[d] += s[i].x[d] / dim;
    struct vertex r = step_from(p, centre, &s[dim], dim, 1);
    if (r.y < s[0].y) {
        struct vertex e = step_from(p, centre, &s[dim], dim, 2);
        s[dim] = e.y < r.y ? e : r;
    } else if (r.y < s[dim - 1].y) {
        s[dim] = r;
    } else {
        struct vertex c = step_from(p, centre, &s[dim], dim, r.y < s[dim].y ? 0.5 : -0.5);
        if (c.y < (r.y < s[dim].y ? r.y : s[dim].y))
            s[dim] = c;
        else
            shrink(p, s, dim);
    }
}

/* Goes on until so many steps are made in all, or nothing is to be gained. */
static void simplex_run(struct problem *p, struct simplex *x, int dim, int steps)
{
    for (; !x->done && x->steps < steps; x->steps++) {
        sort_simplex(x->s, dim);
        x->done = x->s[dim].y - x->s[0].y < 1e-13;
        if (!x->done)
            simplex_step(p, x->s, dim);
    }
    sort_simplex(x->s, dim);
}

/* Best of fixed starts: all go some way, the best of them to the end. Leaves the winner's parameters in
 * p. Returns the residual. */
enum { STARTS = 12, RACE = 30, FINALISTS = 2 };
static double best_fit(struct problem *p)
{
    static const double shape[] = { 0.5, 6 }, size[] = { 0.3, 1.5, 6 }, sharp[] = { 0.3, 4 };
    struct simplex x[STARTS];
    int dim = p->paper ? 2 : 3;
    unsigned n = p->paper ? STARTS / 2 : STARTS;
    for (unsigned i = 0; i < n; i++) {
        double start[MAX_DIM] = { log(shape[i % 2]), log(size[i / 2 % 3]), log(sharp[i / 6]) };
        simplex_begin(p, &x[i], start, dim);
        simplex_run(p, &x[i], dim, RACE);
    }
    struct vertex best = { .y = INFINITY };
    bool ran[STARTS] = { false };
    for (unsigned k = 0; k < FINALISTS; k++) {
        unsigned at = n;
        for (unsigned i = 0; i < n; i++)
            if (!ran[i] && (at == n || x[i].s[0].y < x[at].s[0].y))
                at = i;
        ran[at] = true;
        simplex_run(p, &x[at], dim, 200 * dim);
        if (x[at].s[0].y < best.y)
            best = x[at].s[0];
    }
    objective(p, best.x);
    double sum = p->paper ? solve_linear(p, paper_time, NULL) : solve_linear(p, one, miss);
    return sqrt(sum / (double)p->count);
}

static bool usable_for_paper(const struct model_valley *v)
{
    return v->t_cache > 0 && v->t_mem > 0 && v->npe > 0 && v->freq_hz > 0 && v->cpi > 0 && v->r_m > 0 &&
           v->b_reg > 0 && v->bandwidth > 0;
}

/* Root mean square of relative errors of the constant that has the least. */
static double constant_residual(const double *time, size_t count)
{
    double a = 0, b = 0, sum = 0;
    for (size_t i = 0; i < count; i++) {
        a += 1 / time[i];
        b += 1 / (time[i] * time[i]);
    }
    for (size_t i = 0; i < count; i++)
        sum += (1 - a / b / time[i]) * (1 - a / b / time[i]);
    return sqrt(sum / (double)count);
}

static double explained(double residual, double constant)
{
    return constant > 1e-12 ? 1 - residual * residual / (constant * constant) : (double)NAN;
}

struct model_fit model_valley_fit(const struct model_valley *base, const double *n, const double *time,
                                  size_t count, double total_threads)
{
    struct model_fit f = {
        .paper_alpha = NAN,
        .paper_beta = NAN,
        .paper_scale = NAN,
        .paper_residual = NAN,
        .r2 = NAN,
        .constant_residual = NAN,
        .paper_r2 = NAN,
    };
    struct problem p = { .v = *base, .n = n, .time = time, .count = count, .total = total_threads };
    if (count < MIN_POINTS || !(total_threads > 0) || !(base->cache_bytes > 0))
        return f;
    for (size_t i = 0; i < count; i++)
        if (!(time[i] > 0) || !isfinite(time[i]) || !(n[i] >= 0))
            return f;
    for (size_t i = 0; i < count && i < KEPT; i++) {
        p.per_time[i] = 1 / time[i];
        p.ln_share[i] = log(base->cache_bytes / (n[i] > 0 ? n[i] : 1));
    }
    f.residual = best_fit(&p);
    f.alpha = p.v.alpha;
    f.beta = p.v.beta;
    f.sharpness = p.v.sharpness;
    f.floor_time = p.a;
    f.scale = p.b;
    f.valid = isfinite(f.residual) && f.residual < 1e3;
    f.constant_residual = constant_residual(time, count);
    f.r2 = explained(f.residual, f.constant_residual);
    if (usable_for_paper(base)) {
        p.paper = true;
        f.paper_residual = best_fit(&p);
        f.paper_alpha = p.v.alpha;
        f.paper_beta = p.v.beta;
        f.paper_scale = p.a;
        f.paper_r2 = explained(f.paper_residual, f.constant_residual);
    }
    return f;
}

double model_valley_time(const struct model_valley *v, const struct model_fit *f, double caching,
                         double total)
{
    struct model_valley at = *v;
    at.alpha = f->alpha;
    at.beta = f->beta;
    at.sharpness = f->sharpness;
    return f->floor_time + f->scale * (1 - mean_hit(&at, caching, total));
}
