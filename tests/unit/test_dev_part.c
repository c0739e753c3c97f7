/* Launches that make outputs of some CTAs, or none: time and counters are those of a launch that makes all, what
 * differs from the original is found, and a search decides by all outputs in the end. */
#include "engine/rec/counter_ids.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/result.h"
#include "engine/search/tuner.h"
#include "engine/sim/exec/chosen.h"
#include "engine/tune/tune_int.h"

#include "tests/unit/dev_scene.h"
#include "tests/unit/tune_support.h"

/* ---- which CTAs ---- */
static void each_cta_once(void **state)
{
    (void)state;
    for (uint32_t every = 2; every < 70; every += every < 9 ? 1 : 13)
        for (uint64_t n = 1; n < 400; n += n < 40 ? 1 : 37) {
            struct sim_chosen some = { .every = every }, rest = { .every = every, .rest = true };
            uint64_t nsome = exec_chosen_count(some, n), nrest = exec_chosen_count(rest, n);
            unsigned seen[400] = { 0 };
            assert_int_equal(nsome + nrest, n);
            assert_int_equal(nsome, (n + every - 1) / every);
            for (uint64_t i = 0; i < nsome; i++) {
                assert_true(!i || exec_chosen_at(some, n, i) > exec_chosen_at(some, n, i - 1));
                seen[exec_chosen_at(some, n, i)]++;
            }
            for (uint64_t i = 0; i < nrest; i++) {
                assert_true(!i || exec_chosen_at(rest, n, i) > exec_chosen_at(rest, n, i - 1));
                seen[exec_chosen_at(rest, n, i)]++;
            }
            for (uint64_t i = 0; i < n; i++)
                assert_int_equal(seen[i], 1);
            assert_int_equal(exec_chosen_at(some, n, nsome - 1), n - 1); /* where bounds are */
        }
}

/* ---- what is compared ---- */
#define CTAS  64u
#define BLOCK 64u
#define N     (CTAS * BLOCK)
#define HEAD  ".version 7.0\n.target sm_70\n.address_size 64\n"
#define BEGIN                                                                    \
    HEAD ".visible .entry k(.param .u64 pin, .param .u64 pout)\n{\n"             \
         ".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %d<5>;\n"               \
         "ld.param.u64 %d1, [pin];\nld.param.u64 %d2, [pout];\n"                 \
         "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n" \
         "mad.lo.u32 %r4, %r1, %r2, %r3;\nmul.wide.u32 %d3, %r4, 4;\n"           \
         "add.u64 %d1, %d1, %d3;\nadd.u64 %d2, %d2, %d3;\nld.global.u32 %r5, [%d1];\n"
#define END    "st.global.u32 [%d2], %r5;\nret;\n}\n"
#define TRIPLE BEGIN "mul.lo.u32 %r5, %r5, 3;\n" END
#define WRONG_LANES \
    BEGIN "mul.lo.u32 %r5, %r5, 3;\nsetp.eq.u32 %p1, %r3, 40;\n@%p1 add.u32 %r5, %r5, 256;\n" END
#define IN_PLACE BEGIN "ld.global.u32 %r6, [%d2];\nadd.u32 %r5, %r5, %r6;\n" END
#define BY_DATA                                                                                        \
    BEGIN "setp.lt.u32 %p1, %r5, 100;\n@%p1 bra L;\nmul.lo.u32 %r5, %r5, 3;\nL: mul.lo.u32 %r5, %r5, " \
          "3;\n" END

struct bench_of_text {
    struct launch_spec l;
    struct arg_spec args[2];
    struct launch_data data;
    struct dev *dev;
    struct dev_data *bound;
    struct diags ds;
};

static void text_open(struct bench_of_text *b)
{
    static char in[] = "in", out[] = "out", kernel[] = "k";
    struct dev_env env = rig_env();
    *b = (struct bench_of_text){ .l = { .kernel = kernel,
                                        .grid = { CTAS, 1, 1 },
                                        .block = { BLOCK, 1, 1 },
                                        .args = b->args,
                                        .nargs = 2 } };
    b->args[0] = (struct arg_spec){ .kind = ARG_BUFFER,
                                    .name = in,
                                    .elem = ELEM_U32,
                                    .count = N,
                                    .init = { .kind = INIT_IOTA, .b = 1, .ib = 1, .integral = true } };
    b->args[1] = (struct arg_spec){
        .kind = ARG_BUFFER, .name = out, .elem = ELEM_U32, .count = N, .output = true
    };
    assert_status_ok(launch_data_make(&b->l, 1 << 24, &b->data, &b->ds), &b->ds);
    assert_status_ok(dev_open("sim:hopper-h200", &env, &b->dev, &b->ds), &b->ds);
    assert_status_ok(dev_bind(b->dev, &b->data, &b->bound, &b->ds), &b->ds);
}

static void text_close(struct bench_of_text *b)
{
    dev_unbind(b->dev, b->bound);
    dev_close(b->dev);
    launch_data_free(&b->data);
    diags_free(&b->ds);
}

static struct result launch(struct bench_of_text *b, const char *text, enum dev_outputs outputs,
                            bool keep)
{
    struct dev_code *c = NULL;
    struct result r = result_empty();
    struct dev_run run = dev_run_default();
    run.launch = &b->l;
    run.grid = b->l.grid;
    run.block = b->l.block;
    run.outputs = outputs;
    run.keep_from = keep;
    run.repeat = run.max_repeat = 1;
    assert_status_ok(dev_load(b->dev, "k.ptx", str_of(text), STR("k"), 0, &c, &b->ds), &b->ds);
    assert_status_ok(dev_launch(b->dev, c, b->bound, &run, &r, &b->ds), &b->ds);
    assert_int_equal(r.status, ST_OK);
    dev_unload(b->dev, c);
    return r;
}

static void same_figures(const struct result *a, const struct result *b)
{
    assert_int_equal(a->time.median, b->time.median);
    for (int i = 0; i < COUNTER_COUNT; i++) {
        assert_int_equal(a->counters[i].valid, b->counters[i].valid);
        if (a->counters[i].valid)
            assert_true(a->counters[i].value == b->counters[i].value);
    }
}

static void some_outputs(void **state)
{
    (void)state;
    struct bench_of_text b;
    text_open(&b);
    struct result none = launch(&b, TRIPLE, DEV_OUTPUTS_NONE, false),
                  early = launch(&b, TRIPLE, DEV_OUTPUTS_SOME, false),
                  all = launch(&b, TRIPLE, DEV_OUTPUTS_ALL, true),
                  some = launch(&b, TRIPLE, DEV_OUTPUTS_SOME, false),
                  wrong = launch(&b, WRONG_LANES, DEV_OUTPUTS_SOME, false),
                  after = launch(&b, TRIPLE, DEV_OUTPUTS_ALL, false);
    assert_int_equal(none.part.ctas, 1);
    assert_int_equal(none.part.all_bytes, 0); /* nothing to compare with */
    assert_int_equal(early.part.all_ctas, 0); /* nothing was kept: all outputs */
    assert_int_equal(early.outputs[0].hash, all.outputs[0].hash);
    assert_int_equal(some.part.ctas, 16);
    assert_int_equal(some.part.all_ctas, CTAS);
    assert_int_equal(some.part.bytes, 16 * BLOCK * 4);
    assert_int_equal(some.part.all_bytes, N * 4);
    assert_int_equal(some.part.wrong, 0);
    assert_int_equal(wrong.part.wrong, 16); /* one byte in one lane of each CTA */
    assert_int_equal(after.part.all_ctas, 0);
    assert_int_equal(after.outputs[0].hash, all.outputs[0].hash);
    same_figures(&all, &some);
    same_figures(&all, &none);
    text_close(&b);
}

/* Who reads what it writes, or whose data decide, is not judged by some of its CTAs as if it were equal. */
static void not_by_some(void **state)
{
    (void)state;
    struct bench_of_text b;
    text_open(&b);
    launch(&b, IN_PLACE, DEV_OUTPUTS_ALL, true);
    struct result r = launch(&b, IN_PLACE, DEV_OUTPUTS_SOME, false);
    assert_true(r.part.wrong > 0);
    struct result all = launch(&b, BY_DATA, DEV_OUTPUTS_ALL, true),
                  some = launch(&b, BY_DATA, DEV_OUTPUTS_SOME, false);
    assert_int_equal(some.part.all_ctas, 0);
    assert_int_equal(some.outputs[0].hash, all.outputs[0].hash);
    text_close(&b);
}

/* ---- at a bench ---- */
static unsigned by_some(const char *kernel, const char *launch_name, const char *const *lines)
{
    struct rig r;
    unsigned n = 0;
    rig_open(&r, kernel, launch_name, "sim:hopper-h200");
    struct options none = options_default();
    struct result original;
    r.bench->keep_from = 1;
    assert_status_ok(tune_run_one(r.bench, &none, &original, &r.ds), &r.ds);
    r.bench->keep_from = 0;
    for (; *lines; lines++) {
        struct options o = options_of(*lines);
        struct result all, some;
        r.bench->opts.outputs = DEV_OUTPUTS_ALL;
        assert_status_ok(tune_run_one(r.bench, &o, &all, &r.ds), &r.ds);
        r.bench->opts.outputs = DEV_OUTPUTS_SOME;
        assert_status_ok(tune_run_one(r.bench, &o, &some, &r.ds), &r.ds);
        assert_int_equal(all.status, some.status);
        if (all.status != ST_OK)
            continue;
        same_figures(&all, &some);
        assert_true(some.equal == EQUAL_PART || some.equal == all.equal);
        n += some.equal == EQUAL_PART;
        if (some.equal != EQUAL_PART)
            continue;
        assert_true(some.part.bytes && !some.part.wrong);
        assert_status_ok(tune_make_all(r.bench, &o, &some, &r.ds), &r.ds);
        assert_int_equal(some.equal, EQUAL_YES);
        assert_int_equal(some.outputs[0].hash, all.outputs[0].hash);
    }
    rig_close(&r);
    return n;
}

static void as_with_all(void **state)
{
    (void)state;
    static const char *const plain[] = { "", "--coarsen 2", "--maxnreg 32", NULL };
    static const char *const moved[] = { "", "--cluster redirect --index column", "--cluster agent",
                                         NULL };
    assert_int_equal(by_some("transpose", "h200", plain), 3);
    assert_int_equal(by_some("stride_4", "default", moved),
                     2);                                     /* agents claim their tasks: all outputs */
    assert_int_equal(by_some("redblack", "h200", plain), 0); /* in place */
}

static void first_bytes(struct rig *r, unsigned char bytes[256])
{
    const struct launch_spec *l = r->bench->subject.launch;
    size_t arg = 0;
    while (!l->args[arg].output)
        arg++;
    assert_status_ok(tune_bench_read(r->bench, arg, 0, bytes, 256, &r->ds), &r->ds);
}

/* The original's outputs were made when the bench was opened: its sampled launch makes them again only for who reads them. */
static void not_made_again(void **state)
{
    struct rig r;
    struct options none = options_default();
    struct result read, unread, moved;
    unsigned char made[256], left[256];
    (void)state;
    rig_open(&r, "transpose", "h200", "sim:hopper-h200");
    assert_status_ok(tune_run_one(r.bench, &none, &read, &r.ds), &r.ds);
    first_bytes(&r, made);
    r.bench->opts.unread = true;
    assert_status_ok(tune_run_one(r.bench, &none, &unread, &r.ds), &r.ds);
    first_bytes(&r, left);
    assert_true(read.sampled && unread.sampled);
    same_figures(&read, &unread);
    assert_int_equal(unread.equal, EQUAL_YES);
    assert_int_equal(unread.outputs[0].hash, read.outputs[0].hash);
    assert_memory_not_equal(left, made, sizeof left);
    struct options o = options_of("--coarsen 2"); /* other code: its own outputs */
    assert_status_ok(tune_run_one(r.bench, &o, &moved, &r.ds), &r.ds);
    first_bytes(&r, left);
    assert_memory_equal(left, made, sizeof left);
    rig_close(&r);
}

/* ---- in a search ---- */

/* tests/sim/order.ptx: x and y exchanged is twice as fast, and another CTA writes a flag last, none of those whose outputs
 * the tries compare. */
static void a_leader_whose_outputs_differ_falls(void **state)
{
    struct rig r;
    struct tune_found f;
    struct seen *seen = base_alloc(sizeof *seen);
    struct tune_observer ob = { seen_point, NULL, seen, NULL, NULL };
    struct tune_search_opts o = { .budget_launches = 14 };
    const char *fell = NULL;
    unsigned led = 0;
    (void)state;
    rig_open(&r, "tests/sim/order", NULL, "sim:hopper-h200");
    assert_non_null(seen);
    assert_status_ok(tune_search(r.bench, &o, &ob, &f, &r.ds), &r.ds);
    for (size_t i = 0; i < seen->n; i++) {
        const struct result *t = &seen->result[i];
        led += opt_schedule(&t->options)->swap_xy && t->equal == EQUAL_PART;
        if (opt_schedule(&t->options)->swap_xy && t->equal == EQUAL_NO)
            fell = t->message;
    }
    assert_true(led > 0);
    assert_string_equal(fell ? fell : "", "output 'flag' differs from the original's");
    assert_false(opt_schedule(f.options)->swap_xy);
    assert_true(f.best->equal == EQUAL_YES);
    base_free(seen);
    rig_close(&r);
    tune_found_clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cta_once),  cmocka_unit_test(some_outputs),
        cmocka_unit_test(not_by_some),    cmocka_unit_test(as_with_all),
        cmocka_unit_test(not_made_again), cmocka_unit_test(a_leader_whose_outputs_differ_falls)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
