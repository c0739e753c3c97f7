/* What a frame costs: from a key to the finished surface, for every panel and
 * size, over a module of the given number of lines (figures only). */
#include "engine/workspace/snapshot.h"
#include "engine/rec/result.h"
#include "tests/terminal/stage.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void measure(enum panel_id p, int w, int h)
{
    enum { N = 400 };
    static int64_t took[N];
    static const char *const keys[] = { "j", "Down", "k", "PgDn", "PgUp" };
    struct stage t;
    stage_open(&t, SNAP_DONE, w, h);
    app_focus(&t.app, p);
    stage_frame(&t);
    for (int i = 0; i < N; i++) {
        int64_t t0 = base_now_ns();
        stage_press(&t, keys[i % 5]);
        took[i] = base_now_ns() - t0;
    }
    qsort(took, N, sizeof took[0], by_value);
    printf("%-10s %3dx%-3d  median %6.1f us   99th percentile %6.1f us\n", panel_info(p)->name, w, h,
           (double)took[N / 2] / 1e3, (double)took[N * 99 / 100] / 1e3);
    stage_close(&t);
}

/* A module of many lines: the index is made once, frames must not depend on its size. */
static void large_module(unsigned copies)
{
    struct buf text = { 0 };
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    struct stage t;
    buf_puts(&text, ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry big(.param .u64 "
                    "p)\n{\n.reg .b32 %r<3>;\n");
    for (unsigned i = 0; i < copies; i++)
        buf_puts(&text, "\tadd.s32 \t%r1, %r1, %r2;\n");
    buf_puts(&text, "\tret;\n}\n");
    if (ptx_parse("big.ptx", (struct str){ text.s, text.n }, &m, &ds) != ST_OK)
        return;
    stage_open(&t, SNAP_OPENED, 120, 40);
    stage_frame(&t);
    struct job_snapshot big = *t.snap;
    big.module = m;
    big.facts = NULL;
    int64_t t0 = base_now_ns();
    app_snapshot(&t.app, &big);
    stage_frame(&t);
    int64_t t1 = base_now_ns();
    for (int i = 0; i < 100; i++)
        stage_press(&t, "PgDn");
    int64_t t2 = base_now_ns();
    printf("module of %u lines: first frame %.2f ms, then %.1f us a frame\n", ptx_line_count(m),
           (double)(t1 - t0) / 1e6, (double)(t2 - t1) / 1e5);
    stage_close(&t);
    ptx_free(m);
    buf_free(&text);
    diags_free(&ds);
}

int main(void)
{
    static const struct {
        int w, h;
    } sizes[] = { { 80, 24 }, { 120, 40 }, { 200, 60 } };
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++)
        for (int p = 0; p < PANEL_COUNT; p++)
            measure((enum panel_id)p, sizes[k].w, sizes[k].h);
    large_module(200000);
    return 0;
}
