/* Kernels in the style of public benchmarks, as nvcc compiles them: tests/sim/apps.cu at the usual
 * optimisation and (apps_debug.ptx) as a debug build; apps_math.cu. What each must leave is computed
 * here in plain C. With arguments, the kernels of those files instead (all of apps.cu and apps_math.cu
 * in one). */
#include "tests/unit/sim_support.h"

#include <math.h>

#define BYTES   (1u << 20)
#define QUARTER (BYTES / 4) /* each of up to four pointer parameters has one */

static const char *ptx; /* file under test */

static float *floats(const struct sim_case *c, unsigned part)
{
    return (float *)(void *)(c->data + part * QUARTER);
}
static double *doubles(const struct sim_case *c, unsigned part)
{
    return (double *)(void *)(c->data + part * QUARTER);
}
static int32_t *ints(const struct sim_case *c, unsigned part)
{
    return (int32_t *)(void *)(c->data + part * QUARTER);
}
static uint32_t *words(const struct sim_case *c, unsigned part)
{
    return (uint32_t *)(void *)(c->data + part * QUARTER);
}
static double unit(uint64_t seed, uint64_t i)
{
    return (double)(base_splitmix(seed, i) >> 11) * 0x1p-53;
}

/* Pointers to the quarters, then the integers. */
static struct sim_case open_app(const char *kernel, unsigned npointers, const int32_t *values)
{
    struct diags ds = { 0 };
    char *text;
    size_t n;
    struct sim_case c;
    assert_status_ok(file_read(ptx, 1u << 24, &text, &n, &ds), &ds);
    sim_case_open(&c, text, kernel, BYTES);
    base_free(text);
    if (c.st != ST_OK)
        sim_case_print(&c);
    assert_int_equal(c.st, ST_OK);
    const struct ptx_func *f = ptx_find_func(c.m, str_of(kernel));
    memset(c.data, 0, BYTES);
    for (unsigned k = 0; k < f->nparams; k++) {
        uint64_t p = c.addr + k * QUARTER;
        if (k < npointers)
            memcpy(c.params + f->params[k]->offset, &p, 8);
        else
            memcpy(c.params + f->params[k]->offset, &values[k - npointers], 4);
    }
    return c;
}
static void run_app(struct sim_case *c, struct dim3u grid, struct dim3u block)
{
    c->l.grid = grid;
    c->l.block = block;
    sim_case_ok(c);
}
static void near(double a, double b, double relative, const char *what, unsigned i)
{
    if (!(fabs(a - b) <= relative * (fabs(b) > 1 ? fabs(b) : 1)))
        fail_msg("%s[%u]: %.17g, not %.17g", what, i, a, b);
}

static void hotspot(void **state)
{
    (void)state;
    enum { N = 50 };
    struct sim_case c = open_app("hotspot", 3, (const int32_t[]){ N });
    float *t = floats(&c, 0), *p = floats(&c, 1);
    for (int i = 0; i < N * N; i++) {
        t[i] = (float)(60 + 20 * unit(1, (uint64_t)i));
        p[i] = (float)unit(2, (uint64_t)i);
    }
    run_app(&c, (struct dim3u){ 4, 4, 1 }, (struct dim3u){ 16, 16, 1 });
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            double v = t[y * N + x],
                   s = t[(y ? y - 1 : 0) * N + x] + t[(y < N - 1 ? y + 1 : y) * N + x] - 2 * v;
            double e = t[y * N + (x ? x - 1 : 0)] + t[y * N + (x < N - 1 ? x + 1 : x)] - 2 * v;
            near(floats(&c, 2)[y * N + x],
                 v + 0.1 * (p[y * N + x] + s * 0.5 + e * 0.25 + (80 - v) * 0.01), 1e-5, "hotspot",
                 (unsigned)(y * N + x));
        }
    sim_case_close(&c);
}

static void lud(void **state)
{
    (void)state;
    enum { N = 32 };
    double a[N][N];
    struct sim_case c = open_app("lud_diagonal", 1, (const int32_t[]){ N });
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = doubles(&c, 0)[i * N + j] = unit(3, (uint64_t)(i * N + j)) + (i == j ? N : 0);
    run_app(&c, (struct dim3u){ 1, 1, 1 }, (struct dim3u){ N, 1, 1 });
    for (int k = 0; k < N - 1; k++)
        for (int i = k + 1; i < N; i++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j < N; j++)
                a[i][j] -= a[i][k] * a[k][j];
        }
    for (int i = 0; i < N * N; i++)
        near(doubles(&c, 0)[i], a[i / N][i % N], 1e-12, "lud", (unsigned)i);
    sim_case_close(&c);
}

static void nw(void **state)
{
    (void)state;
    enum { N = 64 };
    static int want[N + 1][N + 1];
    struct sim_case c = open_app("nw", 2, (const int32_t[]){ N, 10 });
    for (int i = 0; i < N * N; i++)
        ints(&c, 0)[i] = (int32_t)(base_splitmix(4, (uint64_t)i) % 15) - 5;
    for (int i = 0; i <= N; i++)
        want[i][0] = want[0][i] = ints(&c, 1)[i] = ints(&c, 1)[i * (N + 1)] = -10 * i;
    run_app(&c, (struct dim3u){ 1, 1, 1 }, (struct dim3u){ N, 1, 1 });
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++) {
            int d = want[i - 1][j - 1] + ints(&c, 0)[(i - 1) * N + j - 1], u = want[i - 1][j] - 10,
                l = want[i][j - 1] - 10;
            want[i][j] = d > u ? (d > l ? d : l) : u > l ? u : l;
            assert_int_equal(ints(&c, 1)[i * (N + 1) + j], want[i][j]);
        }
    sim_case_close(&c);
}

static void pathfinder(void **state)
{
    (void)state;
    enum { COLS = 1000, ROWS = 20 };
    static int now[COLS], next[COLS];
    struct sim_case c = open_app("pathfinder", 3, (const int32_t[]){ COLS, ROWS });
    for (int i = 0; i < COLS * ROWS; i++)
        ints(&c, 0)[i] = (int32_t)(base_splitmix(5, (uint64_t)i) % 10);
    for (int i = 0; i < COLS; i++)
        now[i] = ints(&c, 1)[i] = (int32_t)(base_splitmix(6, (uint64_t)i) % 10);
    run_app(&c, (struct dim3u){ 5, 1, 1 }, (struct dim3u){ 256, 1, 1 });
    for (int r = 0; r < ROWS; r++) {
        for (int x = 0; x < COLS; x++) {
            int m = now[x];
            m = x && now[x - 1] < m ? now[x - 1] : m;
            m = x < COLS - 1 && now[x + 1] < m ? now[x + 1] : m;
            next[x] = m + ints(&c, 0)[r * COLS + x];
        }
        memcpy(now, next, sizeof now);
    }
    for (int x = 0; x < COLS; x++)
        assert_int_equal(ints(&c, 2)[x], now[x]);
    sim_case_close(&c);
}

static void srad(void **state)
{
    (void)state;
    enum { N = 30, M = 41 };
    struct sim_case c = open_app("srad", 2, (const int32_t[]){ N, M });
    const float *g = floats(&c, 0);
    for (int i = 0; i < N * M; i++)
        floats(&c, 0)[i] = (float)(0.5 + unit(7, (uint64_t)i));
    run_app(&c, (struct dim3u){ 10, 1, 1 }, (struct dim3u){ 128, 1, 1 });
    for (int y = 0; y < N; y++)
        for (int x = 0; x < M; x++) {
            double j = g[y * M + x], dn = g[(y ? y - 1 : 0) * M + x] - j,
                   ds = g[(y < N - 1 ? y + 1 : y) * M + x] - j;
            double dw = g[y * M + (x ? x - 1 : 0)] - j, de = g[y * M + (x < M - 1 ? x + 1 : x)] - j;
            double g2 = (dn * dn + ds * ds + dw * dw + de * de) / (j * j), l = (dn + ds + dw + de) / j,
                   den = 1 + 0.25 * l;
            double q = 1 / (1 + ((0.5 * g2 - l * l / 16) / (den * den) - 0.05) / (0.05 * 1.05));
            near(floats(&c, 1)[y * M + x],
                 q < 0   ? 0
                 : q > 1 ? 1
                         : q,
                 2e-5, "srad", (unsigned)(y * M + x));
        }
    sim_case_close(&c);
}

static void fft(void **state)
{
    (void)state;
    enum { N = 256, B = 3 };
    struct sim_case c = open_app("fft", 2, NULL);
    for (int i = 0; i < 2 * N * B; i++)
        floats(&c, 0)[i] = (float)(unit(8, (uint64_t)i) - 0.5);
    run_app(&c, (struct dim3u){ B, 1, 1 }, (struct dim3u){ N / 2, 1, 1 });
    for (int b = 0; b < B; b++)
        for (int k = 0; k < N; k++) {
            double re = 0, im = 0;
            for (int i = 0; i < N; i++) {
                double w = -2 * 3.14159265358979323846 * i * k / N, x = floats(&c, 0)[2 * (b * N + i)],
                       y = floats(&c, 0)[2 * (b * N + i) + 1];
                re += x * cos(w) - y * sin(w);
                im += x * sin(w) + y * cos(w);
            }
            near(floats(&c, 1)[2 * (b * N + k)], re, 1e-5, "fft", (unsigned)k);
            near(floats(&c, 1)[2 * (b * N + k) + 1], im, 1e-5, "fft imaginary", (unsigned)k);
        }
    sim_case_close(&c);
}

static void scan(void **state)
{
    (void)state;
    struct sim_case c = open_app("scan", 2, NULL);
    for (int i = 0; i < 4 * 512; i++)
        ints(&c, 0)[i] = (int32_t)(base_splitmix(9, (uint64_t)i) % 1000) - 500;
    run_app(&c, (struct dim3u){ 4, 1, 1 }, (struct dim3u){ 512, 1, 1 });
    for (int i = 0, sum = 0; i < 4 * 512; i++) {
        sum = (i % 512 ? sum : 0) + ints(&c, 0)[i];
        assert_int_equal(ints(&c, 1)[i], sum);
    }
    sim_case_close(&c);
}

static int by_key(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void sorts(void **state)
{
    (void)state;
    static uint32_t want[2][512];
    struct sim_case c = open_app("bitonic", 2, NULL);
    for (uint32_t i = 0; i < 512; i++) {
        want[0][i] = words(&c, 0)[i] = (uint32_t)base_splitmix(10, i);
        words(&c, 1)[i] = want[0][i] * 3;
    }
    run_app(&c, (struct dim3u){ 1, 1, 1 }, (struct dim3u){ 256, 1, 1 });
    qsort(want[0], 512, 4, by_key);
    assert_memory_equal(words(&c, 0), want[0], 2048);
    for (uint32_t i = 0; i < 512; i++)
        assert_int_equal(words(&c, 1)[i], want[0][i] * 3);
    sim_case_close(&c);
    c = open_app("radix", 1, NULL);
    for (uint32_t i = 0; i < 512; i++)
        want[i / 256][i % 256] = words(&c, 0)[i] = (uint32_t)base_splitmix(11, i) >> (i % 3 * 9);
    run_app(&c, (struct dim3u){ 2, 1, 1 }, (struct dim3u){ 256, 1, 1 });
    for (int b = 0; b < 2; b++) {
        qsort(want[b], 256, 4, by_key);
        assert_memory_equal(words(&c, 0) + b * 256, want[b], 1024);
    }
    sim_case_close(&c);
}

static double cnd(double d)
{
    double k = 1.0 / (1.0 + 0.2316419 * fabs(d));
    double c = 0.39894228040143267794 * exp(-0.5 * d * d) *
               (k * (0.31938153 +
                     k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
    return d > 0 ? 1.0 - c : c;
}
static void black_scholes(void **state)
{
    (void)state;
    enum { N = 500 };
    struct sim_case c = open_app("black_scholes", 3, (const int32_t[]){ N });
    for (int i = 0; i < N; i++) {
        doubles(&c, 0)[i] = 5 + 95 * unit(12, (uint64_t)i);
        doubles(&c, 1)[i] = 1 + 99 * unit(13, (uint64_t)i);
    }
    run_app(&c, (struct dim3u){ 2, 1, 1 }, (struct dim3u){ 64, 1, 1 });
    for (int i = 0; i < N; i++) {
        double s = doubles(&c, 0)[i], x = doubles(&c, 1)[i], t = 0.25 + i % 40 * 0.25,
               d1 = (log(s / x) + 0.065 * t) / (0.3 * sqrt(t));
        near(doubles(&c, 2)[i], s * cnd(d1) - x * exp(-0.02 * t) * cnd(d1 - 0.3 * sqrt(t)), 1e-12,
             "call", (unsigned)i);
    }
    sim_case_close(&c);
}

static void mandelbrot(void **state)
{
    (void)state;
    enum { W = 70, H = 40, MOST = 300 };
    unsigned differ = 0;
    struct sim_case c = open_app("mandelbrot", 1, (const int32_t[]){ W, H, MOST });
    run_app(&c, (struct dim3u){ 5, 5, 1 }, (struct dim3u){ 16, 8, 1 });
    for (int i = 0; i < W * H; i++) {
        double cr = -2.0 + 3.0 * (i % W) / W, ci = -1.0 + 2.0 * (i / W) / H, zr = 0, zi = 0;
        int k = 0;
        for (; k < MOST && zr * zr + zi * zi < 4; k++) {
            double u = zr * zr - zi * zi + cr;
            zi = 2 * zr * zi + ci;
            zr = u;
        }
        /* the device contracts to fma: chaotic points may end elsewhere */
        differ += ints(&c, 0)[i] != k;
    }
    assert_true(differ <= W * H / 100);
    sim_case_close(&c);
}

static void histogram(void **state)
{
    (void)state;
    enum { N = 3000 };
    uint32_t want[256] = { 0 };
    struct sim_case c = open_app("histogram256", 2, (const int32_t[]){ N });
    for (uint32_t i = 0; i < N; i++) {
        uint32_t v = words(&c, 0)[i] = (uint32_t)base_splitmix(14, i) & (i % 2 ? ~0u : 0x0f0f0f0fu);
        for (int k = 0; k < 4; k++)
            want[v >> 8 * k & 255]++;
    }
    c.l.threads = 2;
    run_app(&c, (struct dim3u){ 6, 1, 1 }, (struct dim3u){ 192, 1, 1 });
    assert_memory_equal(words(&c, 1), want, sizeof want);
    sim_case_close(&c);
}

static void groups(void **state)
{
    (void)state;
    enum { N = 5000 };
    int32_t sum = 0, most = 0;
    struct sim_case c = open_app("reduce_groups", 2, (const int32_t[]){ N });
    for (uint32_t i = 0; i < N; i++) {
        int32_t v = ints(&c, 0)[i] = (int32_t)(base_splitmix(15, i) % 100000);
        sum += v;
        most = v > most ? v : most;
    }
    run_app(&c, (struct dim3u){ 4, 1, 1 }, (struct dim3u){ 256, 1, 1 });
    assert_int_equal(ints(&c, 1)[0], sum);
    assert_int_equal(ints(&c, 1)[1], most);
    sim_case_close(&c);
}

/* Small integers: exact in half and in the sums. */
static uint16_t half_of(int v)
{
    if (!v)
        return 0;
    int e = 0;
    uint32_t a = (uint32_t)(v < 0 ? -v : v);
    while (a >> (e + 1))
        e++;
    return (uint16_t)((v < 0 ? 0x8000u : 0) | (uint32_t)(e + 15) << 10 | (a << (10 - e) & 0x3ff));
}
static void halves(void **state)
{
    (void)state;
    enum { K = 48, N = 333 };
    struct sim_case c = open_app("wmma_gemm", 3, (const int32_t[]){ K });
    int a[32][K], b[K][32];
    for (int i = 0; i < 32 * K; i++) {
        a[i / K][i % K] = (int)(base_splitmix(16, (uint64_t)i) % 17) - 8;
        b[i / 32][i % 32] = (int)(base_splitmix(17, (uint64_t)i) % 17) - 8;
        ((uint16_t *)(void *)c.data)[i] = half_of(a[i / K][i % K]);
        ((uint16_t *)(void *)(c.data + QUARTER))[i] = half_of(b[i / 32][i % 32]);
    }
    run_app(&c, (struct dim3u){ 1, 1, 1 }, (struct dim3u){ 32, 1, 1 });
    for (int i = 0; i < 32 * 32; i++) {
        int sum = 0;
        for (int k = 0; k < K; k++)
            sum += a[i / 32][k] * b[k][i % 32];
        assert_int_equal((int)floats(&c, 2)[i], sum);
    }
    sim_case_close(&c);
    c = open_app("half_axpy", 2, (const int32_t[]){ N });
    for (int i = 0; i < N; i++) {
        ((uint16_t *)(void *)c.data)[i] = half_of(2 * (i % 50 - 25));
        ((uint16_t *)(void *)(c.data + QUARTER))[i] = half_of(i % 31);
    }
    run_app(&c, (struct dim3u){ 2, 1, 1 }, (struct dim3u){ 96, 1, 1 });
    for (int i = 0; i < N; i++)
        assert_int_equal(((uint16_t *)(void *)(c.data + QUARTER))[i],
                         half_of(3 * (i % 50 - 25) + i % 31));
    sim_case_close(&c);
}

static void heap(void **state)
{
    (void)state;
    enum { N = 9 };
    struct sim_case c = open_app("heap", 3, (const int32_t[]){ N });
    run_app(&c, (struct dim3u){ 3, 1, 1 }, (struct dim3u){ 64, 1, 1 });
    for (int i = 0; i < 3 * 64; i++) {
        int s = 0;
        for (int k = 0; k < N + i % 3; k++)
            s += i + k;
        assert_int_equal(ints(&c, 0)[i], s);
        near(floats(&c, 1)[i], i % 2 ? 0.75 * i * i : i * i / 16.0, 1e-6, "area", (unsigned)i);
    }
    assert_int_equal(ints(&c, 2)[0], 0);
    assert_int_equal(ints(&c, 2)[1], 1);
    sim_case_close(&c);
}

static int place(int row, int n, int *col)
{
    int found = row == n;
    for (int k = 0; row < n && k < n; k++) {
        bool ok = true;
        for (int r = 0; r < row; r++)
            ok = ok && col[r] != k && col[r] - k != r - row && col[r] - k != row - r;
        col[row] = k;
        found += ok ? place(row + 1, n, col) : 0;
    }
    return found;
}
static void queens(void **state)
{
    (void)state;
    enum { N = 7 };
    int all = 0;
    struct sim_case c = open_app("queens", 1, (const int32_t[]){ N });
    run_app(&c, (struct dim3u){ 2, 1, 1 }, (struct dim3u){ 32, 1, 1 });
    for (int i = 0; i < N * N; i++) {
        int col[N] = { i / N, i % N }, d = col[0] - col[1],
            want = d >= -1 && d <= 1 ? 0 : place(2, N, col);
        assert_int_equal(ints(&c, 0)[i], want);
        all += want;
    }
    assert_int_equal(all, 40);
    sim_case_close(&c);
}

/* FIPS 180-4: "abc", padded to one block. */
static void sha256(void **state)
{
    (void)state;
    static const uint32_t want[8] = { 0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                      0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad };
    uint32_t k[64], prime[64], n = 0;
    /* first 32 bits of the fractional parts of the cube roots of the first 64 primes */
    for (uint32_t p = 2; n < 64; p++) {
        bool is = true;
        for (uint32_t d = 0; d < n; d++)
            is = is && p % prime[d];
        if (is) {
            long double r = cbrtl((long double)p);
            prime[n] = p;
            k[n++] = (uint32_t)((r - floorl(r)) * 4294967296.0L);
        }
    }
    struct sim_case c = open_app("sha256", 2, NULL);
    assert_int_equal(sim_symbol_write(c.p, STR("sha_k"), 0, k, sizeof k), ST_OK);
    for (uint32_t i = 0; i < 64; i++) {
        words(&c, 0)[i * 16] = 0x61626380;
        words(&c, 0)[i * 16 + 15] = 24;
    }
    run_app(&c, (struct dim3u){ 2, 1, 1 }, (struct dim3u){ 32, 1, 1 });
    for (uint32_t i = 0; i < 64; i++)
        assert_memory_equal(words(&c, 1) + i * 8, want, sizeof want);
    sim_case_close(&c);
}

static double reference(int k, double v)
{
    double a = fabs(v);
    double r[] = { sin(v),      cos(v),      tan(v),          exp(v * 0.1),  log(a),
                   pow(a, 1.7), atan2(v, 3), asin(v * 0.01),  sinh(v * 0.1), tanh(v),
                   cbrt(v),     erf(v),      lgamma(a + 0.5), fmod(v, 0.7),  hypot(v, 2),
                   1 / sqrt(a), exp2(v),     log1p(a),        round(v),      tgamma(a * 0.1 + 1) };
    return r[k];
}
static void mathematics(void **state)
{
    (void)state;
    enum { N = 96 };
    struct sim_case c = open_app("math_float", 2, (const int32_t[]){ N });
    for (int i = 0; i < N; i++)
        floats(&c, 0)[i] = (float)ldexp(unit(18, (uint64_t)i) - 0.5, i % 7);
    /* range reduction the long way, for sine, cosine and tangent only */
    floats(&c, 0)[5] = 1e4f / 7;
    run_app(&c, (struct dim3u){ 3, 1, 1 }, (struct dim3u){ 32, 1, 1 });
    for (int k = 0; k < 20; k++)
        for (int i = 0; i < N; i++)
            if (i != 5 || k < 3)
                near(floats(&c, 1)[k * N + i],
                     k == 13 ? fmodf(floats(&c, 0)[i], 0.7f) : reference(k, floats(&c, 0)[i]), 5e-6,
                     "float function", (unsigned)(k * N + i));
    sim_case_close(&c);
    c = open_app("math_double", 2, (const int32_t[]){ N });
    for (int i = 0; i < N; i++)
        doubles(&c, 0)[i] = ldexp(unit(19, (uint64_t)i) - 0.5, i % 7);
    doubles(&c, 0)[5] = 1e9 / 7;
    run_app(&c, (struct dim3u){ 3, 1, 1 }, (struct dim3u){ 32, 1, 1 });
    for (int k = 0; k < 20; k++)
        for (int i = 0; i < N; i++)
            if (i != 5 || k < 3)
                near(doubles(&c, 1)[k * N + i], reference(k, doubles(&c, 0)[i]), 1e-13,
                     "double function", (unsigned)(k * N + i));
    sim_case_close(&c);
}

int main(int argc, char **argv)
{
    static const char *const files[] = { "tests/sim/apps.ptx", "tests/sim/apps_debug.ptx" };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hotspot),    cmocka_unit_test(lud),       cmocka_unit_test(nw),
        cmocka_unit_test(pathfinder), cmocka_unit_test(srad),      cmocka_unit_test(fft),
        cmocka_unit_test(scan),       cmocka_unit_test(sorts),     cmocka_unit_test(black_scholes),
        cmocka_unit_test(mandelbrot), cmocka_unit_test(histogram), cmocka_unit_test(groups),
        cmocka_unit_test(halves),     cmocka_unit_test(heap),      cmocka_unit_test(queens),
        cmocka_unit_test(sha256)
    };
    const struct CMUnitTest functions[] = { cmocka_unit_test(mathematics) };
    int failed = 0;
    for (int k = 0; k < (argc > 1 ? argc - 1 : 2); k++) {
        ptx = argc > 1 ? argv[k + 1] : files[k];
        failed += cmocka_run_group_tests_name(ptx, tests, NULL, NULL);
    }
    if (argc == 1)
        ptx = "tests/sim/apps_math.ptx";
    return failed + cmocka_run_group_tests_name(ptx, functions, NULL, NULL);
}
