/* The reuse split of whole launches against a count written from the kernels' sources, all iterations:
 * of the 4-byte words that loads ask for, those that the same warp had asked for, another warp of the
 * CTA, another CTA, or nobody (paper: cluster, section 3.2). A request asks for each word once. */
#include "tests/unit/tune_support.h"
#include "engine/rec/result.h"

enum { BYTES = 4, LANES = 32 };
struct count {
    uint32_t *warp, *cta; /* by word: last warp and CTA, from 1, that had it */
    uint32_t now_warp, now_cta, request;
    uint32_t *asked; /* by word: last request */
    uint64_t total, warp_new, cta_new, all_new;
};

static void count_make(struct count *c, size_t words)
{
    memset(c, 0, sizeof *c);
    c->warp = calloc(words, sizeof *c->warp);
    c->cta = calloc(words, sizeof *c->cta);
    c->asked = calloc(words, sizeof *c->asked);
    assert_non_null(c->warp);
    assert_non_null(c->cta);
    assert_non_null(c->asked);
}

static void count_free(struct count *c)
{
    free(c->warp);
    free(c->cta);
    free(c->asked);
}

static void ask(struct count *c, size_t word)
{
    if (c->asked[word] == c->request)
        return;
    c->asked[word] = c->request;
    c->total++;
    c->warp_new += c->warp[word] != c->now_warp;
    c->cta_new += c->cta[word] != c->now_cta;
    c->all_new += c->cta[word] == 0;
    c->warp[word] = c->now_warp;
    c->cta[word] = c->now_cta;
}

static void assert_split(const struct count *c, const char *kernel, double within)
{
    struct rig r;
    struct ana_kernel *k = NULL;
    struct ana_opts o = { 0 };
    rig_prepare(&r, kernel, "default", "sim:hopper-h200");
    o.data = &r.data;
    o.dev = dev_describe(r.dev);
    assert_status_ok(ana_run(r.module, str_of(r.launch->kernel), &o, &k, &r.ds), &r.ds);
    double n = (double)c->total;
    assert_true(k->reuse.valid);
    assert_float_equal(k->reuse.intra_warp, (n - (double)c->warp_new) / n, within);
    assert_float_equal(k->reuse.intra_cta, (double)(c->warp_new - c->cta_new) / n, within);
    assert_float_equal(k->reuse.inter_cta, (double)(c->cta_new - c->all_new) / n, within);
    assert_float_equal(k->reuse.none, (double)c->all_new / n, within);
    ana_free(k);
    rig_close(&r);
}

/* C = alpha A A' + beta C: 12x48 CTAs of 32x8 threads, n 384, m 64. */
static void syrk(void **state)
{
    enum { N = 384, M = 64, A = 0, C = N * M };
    struct count c;
    (void)state;
    count_make(&c, C + N * N);
    for (unsigned by = 0; by < 48; by++)
        for (unsigned bx = 0; bx < 12; bx++) {
            c.now_cta++;
            for (unsigned ty = 0; ty < 8; ty++) { /* a warp is a row of 32 */
                unsigned i = by * 8 + ty;
                c.now_warp++;
                c.request++;
                for (unsigned l = 0; l < LANES; l++)
                    ask(&c, C + i * N + bx * 32 + l);
                for (unsigned k = 0; k < M; k++) {
                    c.request++;
                    ask(&c, A + i * M + k);
                    c.request++;
                    for (unsigned l = 0; l < LANES; l++)
                        ask(&c, A + (bx * 32 + l) * M + k);
                }
            }
        }
    assert_split(&c, "syrk", 0.005);
    count_free(&c);
}

/* Nearest of 4 centres in 34 dimensions: 264 CTAs of 256 threads, a point each. */
static void kmeans(void **state)
{
    enum { POINTS = 264 * 256, CENTRES = 4, DIMS = 34, AT = POINTS * DIMS };
    struct count c;
    (void)state;
    count_make(&c, AT + CENTRES * DIMS);
    for (unsigned w = 0; w < POINTS / LANES; w++) {
        c.now_warp++;
        c.now_cta = w / 8 + 1;
        for (unsigned k = 0; k < CENTRES; k++)
            for (unsigned d = 0; d < DIMS; d++) {
                c.request++;
                for (unsigned l = 0; l < LANES; l++)
                    ask(&c, (w * LANES + l) * DIMS + d);
                c.request++;
                ask(&c, AT + k * DIMS + d);
            }
    }
    assert_split(&c, "kmeans", 0.001);
    count_free(&c);
}

/* C = A B: 4x16 CTAs of 32x8 threads, n 128; small, so that every sector is followed. */
static void gemm(void **state)
{
    enum { n = 128, gx = 4, gy = 16 };
    struct count c;
    (void)state;
    count_make(&c, 2 * (size_t)n * n);
    for (unsigned by = 0; by < gy; by++)
        for (unsigned bx = 0; bx < gx; bx++) {
            c.now_cta++;
            for (unsigned ty = 0; ty < 8; ty++) {
                c.now_warp++;
                for (unsigned k = 0; k < n; k++) {
                    c.request++;
                    ask(&c, (by * 8 + ty) * n + k);
                    c.request++;
                    for (unsigned l = 0; l < LANES; l++)
                        ask(&c, (size_t)n * n + k * n + bx * 32 + l);
                }
            }
        }
    assert_split(&c, "gemm", 1e-9);
    count_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(syrk), cmocka_unit_test(kmeans),
                                        cmocka_unit_test(gemm) };
    return cmocka_run_group_tests_name("analysis: reuse split against a count", tests, NULL, NULL);
}
