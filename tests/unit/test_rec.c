/* rec: the contract's random data, init forms, knobs. */
#include "engine/rec/counters.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/interval.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"
#include "tests/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct launch_data one_buffer(struct arg_spec *a, struct launch_spec *l, enum elem e,
                                     uint64_t count, struct init_spec in)
{
    struct launch_data d;
    struct diags ds = { 0 };
    *a = (struct arg_spec){
        .kind = ARG_BUFFER, .name = (char *)(uintptr_t) "A", .elem = e, .count = count, .init = in
    };
    *l = (struct launch_spec){ .args = a, .nargs = 1 };
    assert_status_ok(launch_data_make(l, 1u << 30, &d, &ds), &ds);
    diags_free(&ds);
    return d;
}

/* docs/reference/launch.md: lo + (hi-lo)*((z>>40)/2^24) in double, rounded once; integers lo + z mod
 * (hi-lo+1). */
static void random_as_stated(void **state)
{
    (void)state;
    struct arg_spec a;
    struct launch_spec l;
    struct init_spec in = {
        .kind = INIT_RANDOM, .a = -1, .b = 3, .ia = -1, .ib = 3, .integral = true, .seed = 42
    };
    struct launch_data d = one_buffer(&a, &l, ELEM_F32, 100, in);
    for (uint64_t i = 0; i < 100; i++) {
        float f;
        memcpy(&f, d.buffers[0].bytes + 4 * i, 4);
        assert_true(f == (float)(-1.0 + 4.0 * ((double)(base_splitmix(42, i) >> 40) / 16777216.0)));
    }
    launch_data_free(&d);
    d = one_buffer(&a, &l, ELEM_S32, 100, in);
    for (uint64_t i = 0; i < 100; i++) {
        int32_t v;
        memcpy(&v, d.buffers[0].bytes + 4 * i, 4);
        assert_int_equal(v, -1 + (int64_t)(base_splitmix(42, i) % 5));
    }
    launch_data_free(&d);
}

/* Pages that a device takes and changes: who asks afterwards gets the same bytes, made again. */
static void taken_pages(void **state)
{
    (void)state;
    static const struct {
        struct init_spec in;
        enum elem e;
    } t[] = { { { .kind = INIT_FILL, .a = 3, .ia = 3, .integral = true }, ELEM_U32 },
              { { .kind = INIT_IOTA, .a = 1, .b = 0.5 }, ELEM_F64 },
              { { .kind = INIT_RANDOM, .a = -1, .b = 1, .seed = 5 }, ELEM_F32 },
              { { .kind = INIT_RANDOM, .ia = 0, .ib = 99, .b = 99, .integral = true, .seed = 6 },
                ELEM_U16 },
              { { .kind = INIT_PERMUTATION, .seed = 7 }, ELEM_U32 },
              { { .kind = INIT_ROWS, .rows = (1 << 20) + 1, .nnz = 1 << 24, .seed = 8 }, ELEM_S32 } };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct arg_spec a;
        struct launch_spec l;
        struct launch_data d = one_buffer(&a, &l, t[i].e, (1 << 20) + 2, t[i].in);
        const struct launch_buffer *b = &d.buffers[0];
        uint8_t *was = base_alloc(b->n), *again = base_alloc(b->n);
        memcpy(was, b->bytes, b->n);
        assert_true(launch_buffer_hold(b));
        assert_true(launch_buffer_hold(b));
        assert_int_equal(launch_buffer_take(b), -1); /* somebody else needs them */
        launch_buffer_drop(b);
        int file = launch_buffer_take(b);
        uint8_t *mine = base_pages_copy(b->n, file);
        assert_true(file > 0);
        assert_true(!b->bytes);
        assert_true(memcmp(mine, was, b->n) == 0);
        launch_buffer_fill(b, again, 2, NULL);
        assert_memory_equal(again, was, b->n);
        assert_false(launch_buffer_hold(b));
        assert_memory_equal(launch_buffer_bytes(b), was, b->n);
        assert_ptr_equal(launch_buffer_bytes(b), launch_buffer_bytes(b));
        assert_int_equal(launch_buffer_take(b), -1);
        base_pages_free(mine, b->n, file);
        base_free(was);
        base_free(again);
        launch_data_free(&d);
    }
    struct arg_spec a;
    struct launch_spec l;
    struct launch_data d = one_buffer(
        &a, &l, ELEM_U32, 64, (struct init_spec){ .kind = INIT_FILL, .integral = true, .ia = 1 });
    assert_true(launch_buffer_hold(&d.buffers[0]));
    assert_int_equal(launch_buffer_take(&d.buffers[0]), -1); /* small: no pages */
    launch_data_free(&d);
}

/* A view is the buffer's bytes, made where they are looked at, and one's own. */
static void view_of_taken(void **state)
{
    (void)state;
    struct arg_spec a;
    struct launch_spec l;
    struct init_spec in = { .kind = INIT_RANDOM, .a = -1, .b = 1, .seed = 5 };
    struct launch_data d = one_buffer(&a, &l, ELEM_F32, (1 << 20) + 3, in);
    const struct launch_buffer *b = &d.buffers[0];
    uint8_t *was = base_alloc(b->n);
    memcpy(was, b->bytes, b->n);
    assert_true(launch_buffer_hold(b));
    struct launch_view *early = launch_view_new(b);
    *launch_view_at(early, 5, 1) ^= 1;
    assert_ptr_equal(launch_view_whole(early), launch_view_at(early, 0, 1));
    assert_memory_equal(b->bytes, was, b->n);
    launch_view_free(early);
    int file = launch_buffer_take(b);
    assert_true(file > 0);
    assert_null(launch_buffer_whole(b));
    struct launch_view *v = launch_view_new(b);
    assert_null(launch_view_whole(v));
    for (uint64_t at = 0; at + 8 <= b->n; at += 4091) /* some lie in two pieces */
        assert_memory_equal(launch_view_at(v, at, 8), was + at, 8);
    *launch_view_at(v, 4094, 4) ^= 1;
    assert_memory_equal(launch_view_at(v, b->n - 8, 8), was + b->n - 8, 8);
    assert_int_equal(*launch_view_at(v, 4094, 1), was[4094] ^ 1);
    /* others' bytes are as they were */
    assert_memory_equal(launch_buffer_part(b, 4090, 16), was + 4090, 16);
    launch_view_free(v);
    close(file);
    base_free(was);
    launch_data_free(&d);
}

/* Data of a file are read from it again, unless it holds something else meanwhile. */
static void file_again(void **state)
{
    (void)state;
    enum { N = (1 << 20) + 4096 + 40 };
    char path[] = "/tmp/gpulocw-test-XXXXXX";
    uint8_t *was = base_alloc(N), *again = base_alloc(N), other = 1;
    for (size_t i = 0; i < N; i++)
        was[i] = (uint8_t)base_splitmix(1, i);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(write(fd, was, N) == N);
    struct arg_spec a;
    struct launch_spec l;
    struct launch_data d = one_buffer(
        &a, &l, ELEM_U8, N - 8, (struct init_spec){ .kind = INIT_FILE, .text = path, .offset = 8 });
    const struct launch_buffer *b = &d.buffers[0];
    assert_true(launch_buffer_hold(b));
    close(launch_buffer_take(b));
    struct diags ds = { 0 };
    assert_status_ok(launch_buffer_fill(b, again, 2, &ds), &ds);
    assert_memory_equal(again, was + 8, b->n);
    struct launch_view *v = launch_view_new(b);
    assert_memory_equal(launch_view_at(v, 4094, 4), was + 8 + 4094, 4);
    assert_true(pwrite(fd, &other, 1, N - 3) == 1);
    assert_int_equal(launch_buffer_fill(b, again, 2, &ds), ST_INPUT);
    assert_non_null(strstr(ds.v[0].msg, "changed after it was read"));
    assert_null(launch_view_at(v, b->n - 8, 8));
    assert_memory_equal(launch_view_at(v, 4094, 4), was + 8 + 4094, 4); /* that was made before */
    assert_true(ftruncate(fd, N - 1) == 0);
    assert_int_equal(launch_buffer_fill(b, again, 2, &ds), ST_INPUT);
    launch_view_free(v);
    diags_free(&ds);
    close(fd);
    unlink(path);
    base_free(was);
    base_free(again);
    launch_data_free(&d);
}

static void permutation_as_stated(void **state)
{
    (void)state;
    struct arg_spec a;
    struct launch_spec l;
    struct launch_data d =
        one_buffer(&a, &l, ELEM_U32, 50, (struct init_spec){ .kind = INIT_PERMUTATION, .seed = 7 });
    uint32_t want[50];
    for (uint32_t i = 0; i < 50; i++)
        want[i] = i;
    uint64_t k = 0;
    for (uint32_t i = 49; i >= 1; i--, k++) {
        uint32_t j = (uint32_t)(base_splitmix(7, k) % (i + 1)), t = want[i];
        want[i] = want[j];
        want[j] = t;
    }
    assert_memory_equal(d.buffers[0].bytes, want, sizeof want);
    launch_data_free(&d);
}

static void halves(void **state)
{
    (void)state;
    static const struct {
        double v;
        uint16_t bits;
    } vectors[] = {
        { 0, 0 },
        { 1, 0x3C00 },
        { -2, 0xC000 },
        { 65504, 0x7BFF },
        { 65519.99, 0x7BFF },
        { 65520, 0x7C00 },
        { 0.00006103515625, 0x0400 },
        { 5.9604644775390625e-8, 1 },
        { 2.98023223876953125e-8, 0 },
        { 6.0975551605224609375e-5, 0x03FF },
        { 1.00048828125, 0x3C00 },
        { 1.0009765625, 0x3C01 },
        { 1.00146484375, 0x3C02 },
        { 2047.5, 0x6800 },
    };
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        struct arg_spec a;
        struct launch_spec l;
        struct launch_data d =
            one_buffer(&a, &l, ELEM_F16, 1, (struct init_spec){ .kind = INIT_FILL, .a = vectors[i].v });
        uint16_t h;
        memcpy(&h, d.buffers[0].bytes, 2);
        assert_int_equal(h, vectors[i].bits);
        launch_data_free(&d);
    }
}

static void csr_rows(void **state)
{
    (void)state;
    struct arg_spec a;
    struct launch_spec l;
    struct launch_data d =
        one_buffer(&a, &l, ELEM_S32, 1001,
                   (struct init_spec){ .kind = INIT_ROWS, .rows = 1000, .nnz = 16000, .seed = 3 });
    const int32_t *r = (const int32_t *)(const void *)d.buffers[0].bytes;
    bool varied = false;
    assert_int_equal(r[0], 0);
    assert_int_equal(r[1000], 16000);
    for (int i = 0; i < 1000; i++) {
        assert_true(r[i] <= r[i + 1]);
        varied |= r[i + 1] - r[i] != 16;
    }
    assert_true(varied);
    launch_data_free(&d);
}

/* What 64 bits do not hold becomes the nearest that they do, and counts are numbers in every type. */
static void numbers_beyond_their_type(void **state)
{
    (void)state;
    static const struct {
        double v;
        uint64_t bits;
    } vectors[] = { { 1e300, UINT64_MAX },
                    { -1e300, (uint64_t)INT64_MIN },
                    { 1.8e19, 18000000000000000000u },
                    { -2.9, (uint64_t)-2 } };
    struct arg_spec a;
    struct launch_spec l;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        struct launch_data d =
            one_buffer(&a, &l, ELEM_U64, 1, (struct init_spec){ .kind = INIT_FILL, .a = vectors[i].v });
        assert_memory_equal(d.buffers[0].bytes, &vectors[i].bits, 8);
        launch_data_free(&d);
    }
    struct launch_data d =
        one_buffer(&a, &l, ELEM_F32, 3, (struct init_spec){ .kind = INIT_ROWS, .rows = 2, .nnz = 5 });
    float last;
    memcpy(&last, d.buffers[0].bytes + 8, 4);
    assert_true(last == 5.0f);
    launch_data_free(&d);
    d = one_buffer(&a, &l, ELEM_U64, 4,
                   (struct init_spec){ .kind = INIT_ROWS, .rows = 3, .nnz = UINT64_MAX });
    launch_data_free(&d);
}

static enum status file_data(const char *name, const char *text, size_t n, enum init_kind kind,
                             uint64_t count, uint64_t offset, uint8_t *out, struct diags *ds)
{
    char path[300];
    struct launch_data d;
    snprintf(path, sizeof path, "%s/%s", support_scratch(), name);
    assert_status_ok(file_write_atomic(path, text, n, ds), ds);
    struct arg_spec a = { .kind = ARG_BUFFER,
                          .name = (char *)(uintptr_t) "A",
                          .elem = ELEM_F32,
                          .count = count,
                          .init = { .kind = kind, .text = (char *)(uintptr_t)name, .offset = offset } };
    struct launch_spec l = { .args = &a, .nargs = 1, .dir = (char *)(uintptr_t)support_scratch() };
    enum status st = launch_data_make(&l, 1 << 20, &d, ds);
    if (st == ST_OK)
        memcpy(out, d.buffers[0].bytes, d.buffers[0].n);
    if (st == ST_OK)
        launch_data_free(&d);
    return st;
}

#define NPY(descr, order)                                                     \
    "\x93NUMPY\x01\x00\x44\x00{'descr': '" descr "', 'fortran_order': " order \
    ", 'shape': (2,), }          \nabcdefgh"
static void data_from_files(void **state)
{
    (void)state;
    uint8_t out[8];
    struct diags ds = { 0 };
    assert_status_ok(file_data("raw", "0123abcdefgh", 12, INIT_FILE, 2, 4, out, &ds), &ds);
    assert_memory_equal(out, "abcdefgh", 8);
    assert_int_equal(file_data("raw", "0123abcdefgh", 12, INIT_FILE, 2, 5, out, &ds), ST_INPUT);
    assert_true(support_said(&ds, "'raw' has 7 bytes from offset 5, 8 are needed"));
    assert_status_ok(file_data("ok.npy", NPY("<f4", "False"), sizeof NPY("<f4", "False") - 1, INIT_NPY,
                               2, 0, out, &ds),
                     &ds);
    assert_memory_equal(out, "abcdefgh", 8);
    assert_int_equal(file_data("type.npy", NPY("<f8", "False"), sizeof NPY("<f8", "False") - 1, INIT_NPY,
                               2, 0, out, &ds),
                     ST_INPUT);
    assert_true(support_said(&ds, "a different element type"));
    assert_int_equal(file_data("order.npy", NPY("<f4", "True "), sizeof NPY("<f4", "True ") - 1,
                               INIT_NPY, 2, 0, out, &ds),
                     ST_INPUT);
    assert_true(support_said(&ds, "Fortran order"));
    assert_int_equal(file_data("short.npy", "\x93NUMPY\x01\x00\xff\xff{", 11, INIT_NPY, 2, 0, out, &ds),
                     ST_INPUT);
    assert_true(support_said(&ds, "not a .npy file"));
    diags_free(&ds);
}

static void sizes_are_checked_first(void **state)
{
    (void)state;
    struct arg_spec a = {
        .kind = ARG_BUFFER, .name = (char *)(uintptr_t) "huge", .elem = ELEM_F64, .count = UINT64_MAX / 4
    };
    struct launch_spec l = { .args = &a, .nargs = 1 };
    struct launch_data d;
    struct diags ds = { 0 };
    uint64_t before = base_alloc_count();
    assert_int_equal(launch_data_make(&l, 1u << 30, &d, &ds), ST_INPUT);
    assert_true(base_alloc_count() - before < 16); /* the diagnostic's own, no buffers */
    assert_true(support_said(&ds, "'huge'"));
    diags_free(&ds);
}

static void knobs_round_trip(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--bypass l1 --pi 7",
        "--bypass l1+l2 --bypass-op cache_hint --bypass-form hybrid --pi vote --bypass-loads 12,40",
        "--cluster agent --index tile:4x8 --agents vote --prefetch l2 --prefetch-distance 3",
        "--softcache auto --block 32x8x1 --swap-xy --carveout 100",
        "--cluster redirect --index custom:order.bin --clusters 66",
        "--assume-read-only A,B --assume-restrict --readonly promote",
        "",
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct options o = options_default(), again = options_default();
        struct diags ds = { 0 };
        struct buf b = { 0 };
        assert_status_ok(options_parse_line(&o, str_of(lines[i]), &ds), &ds);
        options_line(&o, &b);
        assert_status_ok(options_parse_line(&again, str_of(b.s), &ds), &ds);
        assert_true(options_equal(&o, &again));
        assert_int_equal(strlen(lines[i]) == 0, b.n == 0);
        buf_free(&b);
        diags_free(&ds);
    }
}

/* What a knob is switched on with is a knob that is switched on with itself. */
static void knobs_have_heads(void **state)
{
    (void)state;
    for (size_t i = 0; i < knob_count(); i++) {
        const struct knob_info *k = knob_info(i);
        int head = *k->with ? knob_find(str_of(k->with)) : (int)i;
        if (head < 0 || (*k->with && strcmp(knob_info((size_t)head)->with, k->with) != 0))
            fail_msg("--%s is switched on with --%s, which heads no group", k->name, k->with);
    }
}

static void bad_knobs_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "--pi -1",
                                       "--pi 65",
                                       "--pi x",
                                       "--bypass l9",
                                       "--index tile:0x1",
                                       "--index tile",
                                       "--block 2000x1x1",
                                       "--block 32x64x1",
                                       "--carveout 101",
                                       "--agents -1",
                                       "--prefetch-distance 0",
                                       "--nothing 1",
                                       "--swap-xy maybe",
                                       "--bypass-loads 1,,2",
                                       "--assume-read-only A,\xff",    /* no UTF-8 */
                                       "--index custom:a\xc3",         /* a character cut off */
                                       "--softcache-data a\x1b[31m" }; /* a control character */
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct options o = options_default(), untouched = o;
        struct diags ds = { 0 };
        enum status s = options_parse_line(&o, str_of(bad[i]), &ds);
        if (s == ST_OK)
            print_error("accepted: %s\n", bad[i]);
        assert_int_equal(s, ST_USAGE);
        assert_int_equal(ds.errors, 1);
        if (strncmp(bad[i], "--swap-xy", 9) != 0) /* the flag was set before the stray word */
            assert_true(options_equal(&o, &untouched));
        diags_free(&ds);
    }
}

static void medians(void **state)
{
    (void)state;
    struct timing t = { .sample = { 9, 1, 5, 7 }, .n = 4 };
    timing_finish(&t);
    assert_int_equal(t.median, 6);
    assert_int_equal(t.min, 1);
    assert_int_equal(t.max, 9);
    struct timing none = { 0 };
    timing_finish(&none);
    assert_false(none.valid);
}

/* The share of further medians that lie in the band, over many draws of skewed samples with slow ones
 * among them: 99 % are meant. */
static void band_holds_medians(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 12, 30, 60 };
    uint64_t z = 1;
    for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
        unsigned inside = 0, wide = 0;
        for (int draw = 0; draw < 2000; draw++) {
            struct timing t = { .n = counts[c] };
            for (uint32_t i = 0; i < t.n; i++) {
                uint64_t r = base_splitmix(77, z++);
                t.sample[i] = (int64_t)(1000 + r % 40 * (r / 64 % 40) / 16 + (r >> 40) % 12 / 11 * 600);
            }
            timing_finish(&t);
            int64_t low, high;
            timing_band(&t, &low, &high);
            assert_true(t.min <= low);
            assert_true(low <= t.median);
            assert_true(t.median <= high);
            assert_true(high <= t.max);
            inside += low <= 1022 && 1018 <= high; /* the median of all draws is 1020 */
            wide += high - low > 200;
        }
        assert_in_range(inside, 1960, 2000);
        if (counts[c] >= 30)
            assert_true(wide < 20);
    }
    struct timing few = { .n = 7, .sample = { 5, 1, 9, 2, 3, 4, 100 } };
    int64_t low, high;
    timing_finish(&few);
    timing_band(&few, &low, &high);
    assert_true(low == 1);
    assert_true(high == 100);
}

static const struct dev_info compared = { .spread = { .spread_plain_low = 0.5,
                                                      .spread_plain_high = 2,
                                                      .spread_pi_low = 0.75,
                                                      .spread_pi_high = 1.25,
                                                      .spread_pi_gain_low = 0.5,
                                                      .spread_pi_gain_high = 2,
                                                      .spread_agent_low = 1,
                                                      .spread_agent_high = 3,
                                                      .spread_model_low = 0.25,
                                                      .spread_model_high = 4 } };

static void assert_interval(struct interval i, double low, double high)
{
    assert_true(i.low == low);
    assert_true(i.high == high);
}

static struct options of_line(const char *line)
{
    struct options o = options_default();
    struct diags ds = { 0 };
    assert_status_ok(options_parse_line(&o, str_of(line), &ds), &ds);
    diags_free(&ds);
    return o;
}

/* Each kind of configuration has its own shares; what was never compared has no interval. */
static void intervals_by_kind(void **state)
{
    (void)state;
    struct options plain = of_line(""), blocks = of_line("--block 32x4x1 --maxnreg 32"),
                   pi = of_line("--bypass l1 --pi 3"),
                   agents = of_line("--cluster agent --index column"), rows = of_line("--cluster agent"),
                   both = of_line("--bypass l1 --pi 3 --cluster agent --index column"),
                   prefetch = of_line("--prefetch l1");
    assert_interval(interval_of_time(&compared, &plain, ORIGIN_SIMULATED, 100), 50, 200);
    assert_interval(interval_of_time(&compared, &blocks, ORIGIN_SIMULATED, 100), 50, 200);
    assert_interval(interval_of_time(&compared, &pi, ORIGIN_SIMULATED, 100), 75, 125);
    assert_interval(interval_of_time(&compared, &agents, ORIGIN_SIMULATED, 100), 100, 300);
    assert_interval(interval_of_time(&compared, &rows, ORIGIN_SIMULATED, 100), 0, 0);
    assert_interval(interval_of_time(&compared, &both, ORIGIN_SIMULATED, 100), 0, 0);
    assert_interval(interval_of_time(&compared, &prefetch, ORIGIN_SIMULATED, 100), 0, 0);
}

/* A measured time needs none; the model has its own, of ordinary kernels. */
static void intervals_by_origin(void **state)
{
    (void)state;
    const struct dev_info other = { 0 };
    struct options plain = of_line(""), pi = of_line("--bypass l1 --pi 3");
    assert_interval(interval_of_time(&compared, &plain, ORIGIN_MEASURED, 100), 0, 0);
    assert_interval(interval_of_time(&compared, &plain, ORIGIN_MODELLED, 100), 25, 400);
    assert_interval(interval_of_time(&compared, &pi, ORIGIN_MODELLED, 100), 0, 0);
    assert_interval(interval_of_time(&other, &plain, ORIGIN_SIMULATED, 100), 0, 0);
}

/* Twice the time there halves the gain. */
static void intervals_of_gains(void **state)
{
    (void)state;
    struct options plain = of_line(""), pi = of_line("--bypass l1 --pi 3"),
                   agents = of_line("--cluster agent --index column");
    assert_interval(interval_of_gain(&compared, &pi, 1.5), 0.75, 3);
    assert_interval(interval_of_gain(&compared, &agents, 1.5), 0, 0);
    assert_interval(interval_of_gain(&compared, &plain, 1.5), 0, 0);
    struct options regs = of_line("--minctas 2");
    struct dev_info known = compared;
    assert_interval(interval_of_gain(&known, &regs, 1.5), 0, 0);
    known.spread.spread_regs_gain_low = 0.75f;
    known.spread.spread_regs_gain_high = 1.5f;
    assert_interval(interval_of_gain(&known, &regs, 1.5), 1, 2);
    assert_interval(interval_of_gain(&known, &plain, 1.5), 0, 0);
    struct options several = of_line("--coarsen 4 --coarsen-mode vector");
    assert_interval(interval_of_gain(&known, &several, 1.5), 0, 0);
    known.spread.spread_coarsen_gain_low = 0.5f;
    known.spread.spread_coarsen_gain_high = 1.5f;
    assert_interval(interval_of_gain(&known, &several, 1.5), 1, 3);
    struct options kept = of_line("--l2-persist a"), more = of_line("--coarsen 4 --l2-persist a");
    assert_interval(interval_of_gain(&known, &kept, 1.5), 0, 0);
    assert_interval(interval_of_gain(&known, &more, 1.5), 0, 0);
    known.spread.spread_persist_gain_low = 1.f;
    known.spread.spread_persist_gain_high = 3.f;
    assert_interval(interval_of_gain(&known, &kept, 1.5), 0.5, 1.5);
    assert_interval(interval_of_gain(&known, &more, 1.5), 0.5, 1.5);
    assert_interval(interval_of_time(&known, &kept, ORIGIN_SIMULATED, 100), 0, 0);
    struct options beside = of_line("--coarsen 4 --bypass l1 --pi 3");
    assert_interval(interval_of_gain(&known, &beside, 1.5), 0.75, 3);
}

/* Is this knob idle with these options, and does the reason hold the text? NULL: it is not idle. */
static void idle(const char *line, const char *knob, unsigned warps, const char *why)
{
    struct options o = options_default();
    struct diags ds = { 0 };
    char text[128] = "";
    assert_int_equal(options_parse_line(&o, str_of(line), &ds), ST_OK);
    int k = knob_find(str_of(knob));
    assert_true(k >= 0);
    bool is = knob_idle(&o, (size_t)k, warps, text, sizeof text);
    if (is != (why != NULL) || (why && !strstr(text, why)))
        fail_msg("%s of '%s': idle %d, '%s'", knob, line, is, text);
    diags_free(&ds);
}

static void knobs_without_effect(void **state)
{
    (void)state;
    idle("--pi 5", "pi", 16, "bypass l1");
    idle("--bypass l1 --pi 5", "pi", 16, NULL);
    idle("--bypass l1 --pi 40", "pi", 16, "16 warps");
    idle("--bypass l1 --pi 40", "pi", 0, NULL); /* the launch is not known */
    idle("--bypass l1 --bypass-form vertical --pi 5", "pi", 16, "hybrid uses both");
    idle("--bypass l1 --bypass-form hardware --pi 5 --bypass-op cs", "bypass-op", 16,
         "inserts no operator");
    idle("--bypass l1 --pi 5 --bypass-op cs", "bypass-op", 16, NULL);
    idle("--bypass l1", "bypass", 16, "pi cha");
    idle("--bypass l1 --pi bpa", "bypass", 16, NULL);
    idle("--bypass l1 --bypass-form vertical", "bypass", 16, NULL);
    idle("--agents 3", "agents", 16, "cluster agent");
    idle("--cluster redirect --agents 3", "agents", 16, "cluster agent");
    idle("--cluster agent --agents 3", "agents", 16, NULL);
    idle("--prefetch-distance 4", "prefetch-distance", 16, "prefetch l1");
    idle("--coarsen-mode blocked", "coarsen-mode", 16, "coarsen 2");
    idle("--softcache 4 --softcache-again 3", "softcache-again", 16, "softcache dynamic");
    idle("", "pi", 16, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_as_stated),
        cmocka_unit_test(band_holds_medians),
        cmocka_unit_test(permutation_as_stated),
        cmocka_unit_test(taken_pages),
        cmocka_unit_test(view_of_taken),
        cmocka_unit_test(file_again),
        cmocka_unit_test(halves),
        cmocka_unit_test(csr_rows),
        cmocka_unit_test(numbers_beyond_their_type),
        cmocka_unit_test(data_from_files),
        cmocka_unit_test(sizes_are_checked_first),
        cmocka_unit_test(knobs_round_trip),
        cmocka_unit_test(knobs_have_heads),
        cmocka_unit_test(bad_knobs_are_refused),
        cmocka_unit_test(medians),
        cmocka_unit_test(intervals_by_kind),
        cmocka_unit_test(intervals_by_origin),
        cmocka_unit_test(intervals_of_gains),
        cmocka_unit_test(knobs_without_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
