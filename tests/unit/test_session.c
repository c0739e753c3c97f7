/* session: launch descriptions, presets, sessions. */
#include "engine/rec/counter_ids.h"
#include "engine/rec/data.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"
#include "engine/session/documents.h"
#include "engine/session/launch_file.h"
#include "engine/session/preset.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/sim/preset.h"
#include "engine/tune/sweep.h"
#include "tests/support.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *write_file(const char *name, const char *text)
{
    static char path[256];
    struct diags ds = { 0 };
    snprintf(path, sizeof path, "%s/%s", support_scratch(), name);
    assert_status_ok(file_write_atomic(path, text, strlen(text), &ds), &ds);
    return path;
}

#define HEAD                                                                                         \
    "{\"format\": \"gpulocw-launch\", \"version\": 1, \"kernel\": \"k\", \"grid\": [2], \"block\": " \
    "[32, 2]"

static void launch_forms(void **state)
{
    (void)state;
    struct launch_file f;
    struct diags ds = { 0 };
    const char *p =
        write_file("a.launch.json",
                   HEAD ", \"shared\": 16, \"args\": ["
                        "{\"name\": \"A\", \"buffer\": \"f32\", \"count\": 8, \"init\": {\"random\": "
                        "[0, 1], \"seed\": \"18446744073709551615\"}, \"output\": true},"
                        "{\"name\": \"B\", \"same_as\": \"A\", \"offset\": 4}, {\"name\": \"n\", "
                        "\"s32\": -7}, {\"name\": \"x\", \"f64\": 1.5},"
                        "{\"name\": \"c\", \"bytes\": \"0aFF\"}], \"symbols\": [{\"name\": \"t\", "
                        "\"buffer\": \"u16\", \"count\": 3, \"init\": {\"iota\": [7, 1]}}], \"before\": "
                        "[{\"kernel\": \"z\", \"grid\": [1], \"block\": [1], \"args\": []}]}");
    assert_status_ok(launch_file_read(p, &f, &ds), &ds);
    const struct launch_spec *l = &f.launch[0];
    assert_int_equal(l->grid.x * 100 + l->grid.y * 10 + l->grid.z, 211);
    assert_int_equal(l->nargs, 5);
    assert_true(l->args[0].init.seed == UINT64_MAX);
    assert_true(l->args[0].output);
    assert_int_equal(launch_buffer_of(l, 1), 0);
    assert_memory_equal(l->args[2].scalar, "\xf9\xff\xff\xff", 4);
    assert_memory_equal(l->args[4].bytes, "\x0a\xff", 2);
    assert_int_equal(l->nbefore, 1);
    /* Written and read again it is the same. */
    char again[256];
    struct launch_file g;
    snprintf(again, sizeof again, "%s/again.launch.json", support_scratch());
    assert_status_ok(launch_file_write(again, f.launch, f.n, &ds), &ds);
    assert_status_ok(launch_file_read(again, &g, &ds), &ds);
    assert_true(g.launch[0].args[0].init.seed == UINT64_MAX);
    assert_memory_equal(g.launch[0].args[2].scalar, l->args[2].scalar, 8);
    assert_memory_equal(g.launch[0].args[3].scalar, l->args[3].scalar, 8);
    assert_int_equal(g.launch[0].args[1].offset, 4);
    struct launch_data data;
    assert_status_ok(launch_data_make(&g.launch[0], 1 << 20, &data, &ds), &ds);
    assert_int_equal(data.symbols[0].n, 6);
    assert_memory_equal(data.symbols[0].bytes, "\7\0\10\0\11\0", 6);
    launch_data_free(&data);
    launch_file_free(&g);
    launch_file_free(&f);
    diags_free(&ds);
}

/* A number of 64 bits is kept to the bit, above INT64_MAX too. */
static void large_numbers(void **state)
{
    (void)state;
    struct launch_file f;
    struct launch_spec copy;
    struct launch_data data;
    struct diags ds = { 0 };
    uint64_t want = UINT64_MAX - 2;
    const char *p =
        write_file("large.json", HEAD ", \"args\": [{\"name\": \"A\", \"buffer\": \"u64\", \"count\": "
                                      "1, \"init\": {\"fill\": \"18446744073709551613\"}},"
                                      "{\"name\": \"n\", \"u64\": \"18446744073709551613\"}, {\"name\": "
                                      "\"m\", \"s64\": \"-9223372036854775808\"}]}");
    assert_status_ok(launch_file_read(p, &f, &ds), &ds);
    assert_status_ok(launch_copy(&f.launch[0], &copy), &ds);
    assert_status_ok(launch_data_make(&copy, 8, &data, &ds), &ds);
    assert_memory_equal(data.buffers[0].bytes, &want, 8);
    assert_memory_equal(copy.args[1].scalar, &want, 8);
    assert_memory_equal(copy.args[2].scalar, "\0\0\0\0\0\0\0\x80", 8);
    launch_data_free(&data);
    launch_spec_free(&copy);
    launch_file_free(&f);
    diags_free(&ds);
}

/* Every allocation on the way of a reading fails once: that is said, and never taken for a mistake in
 * the file. */
static void launches_out_of_memory(void **state)
{
    (void)state;
    char path[300];
    snprintf(path, sizeof path, "%s",
             write_file("oom.launch.json", HEAD
                        ", \"args\": [{\"name\": \"A\", \"buffer\": \"f32\", \"count\": 4}, {\"name\": "
                        "\"B\", \"same_as\": \"A\"},"
                        "{\"name\": \"s\", \"size\": 8}, {\"name\": \"s.n\", \"in\": \"s\", \"at\": 4, "
                        "\"s32\": 1}], \"symbols\": [{\"name\": \"t\", \"init\": {\"hex\": \"00\"}}], "
                        "\"before\": [{\"kernel\": \"z\", \"grid\": 1, \"block\": 1}]}"));
    for (uint64_t n = 1;; n++) {
        struct launch_file f;
        struct diags ds = { 0 };
        base_fail_after(n);
        enum status st = launch_file_read(path, &f, &ds);
        base_fail_after(0);
        if (st == ST_OK)
            launch_file_free(&f);
        else
            assert_int_equal(st, ST_NOMEM);
        diags_free(&ds);
        if (st == ST_OK)
            return;
    }
}

static void several_launches_inherit(void **state)
{
    (void)state;
    struct launch_file f;
    struct diags ds = { 0 };
    const char *p =
        write_file("b.launch.json", HEAD
                   ", \"launches\": [{\"name\": \"small\"}, {\"name\": \"big\", \"grid\": [9, 9]}]}");
    assert_status_ok(launch_file_read(p, &f, &ds), &ds);
    assert_int_equal(f.n, 2);
    assert_int_equal(f.launch[0].grid.x, 2);
    assert_int_equal(f.launch[1].grid.y, 9);
    assert_string_equal(f.launch[1].kernel, "k");
    launch_file_free(&f);
}

#define ARG(text) HEAD ", \"args\": [{\"name\": \"A\", " text "}]}"
#define BUF(text) ARG("\"buffer\": \"f32\", \"count\": 4, " text)
/* Of each kind of object: a key that it has not, and keys that mean nothing where they stand. */
static void unknown_and_misplaced_keys_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } odd[] = {
        { HEAD ", \"blok\": 3}", "k: unknown key \"blok\"" },
        { BUF("\"outptu\": true"), "argument 'A': unknown key \"outptu\"" },
        { BUF("\"init\": {\"random\": [0, 1], \"sed\": 1}"), "argument 'A': unknown key \"sed\"" },
        { BUF("\"init\": {\"rows\": {\"rows\": 3, \"nnz\": 9, \"nz\": 9}}"), "unknown key \"nz\"" },
        { ARG("\"size\": 8, \"pointers\": [{\"at\": 0, \"to\": \"B\", \"ofset\": 0}]"),
          "argument 'A': unknown key \"ofset\"" },
        { ARG("\"tensor_map\": {\"data\": \"A\", \"stride\": [2]}"),
          "argument 'A': unknown key \"stride\"" },
        { BUF("\"expect\": {\"file\": \"a\", \"at\": 0}"), "argument 'A': unknown key \"at\"" },
        { HEAD ", \"buffers\": [{\"name\": \"B\", \"buffer\": \"f32\", \"count\": 4, \"fill\": 1}]}",
          "buffer 'B': unknown key \"fill\"" },
        { HEAD ", \"symbols\": [{\"name\": \"c\", \"output\": true}]}",
          "symbol 'c': unknown key \"output\"" },
        { HEAD ", \"before\": [{\"kernel\": \"z\", \"grid\": [1], \"block\": [1], \"sharde\": 1}]}",
          "launch 'z': unknown key \"sharde\"" },
        { BUF("\"offset\": 16"), "argument 'A': \"offset\" has no effect here" },
        { BUF("\"at\": 16"), "argument 'A': \"at\" has no effect here" },
        { BUF("\"init\": {\"fill\": 0, \"seed\": 1}"), "argument 'A': \"seed\" has no effect here" },
        { BUF("\"init\": {\"fill\": 0, \"offset\": 1}"), "argument 'A': \"offset\" has no effect here" },
        { ARG("\"s32\": 4, \"count\": 4"), "argument 'A': \"count\" has no effect here" },
        { ARG("\"s32\": 4, \"output\": true"), "argument 'A': \"output\" has no effect here" },
        { ARG("\"s32\": 4, \"tolerance\": 1"), "argument 'A': \"tolerance\" has no effect here" },
        { ARG("\"s32\": 4, \"init\": {\"fill\": 0}"), "argument 'A': \"init\" has no effect here" },
        { ARG("\"s32\": 4, \"pointers\": []"), "argument 'A': \"pointers\" has no effect here" },
    };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct launch_file f;
        struct diags ds = { 0 };
        assert_int_not_equal(launch_file_read(write_file("odd.json", odd[i].text), &f, &ds), ST_OK);
        if (!support_said(&ds, odd[i].said))
            fail_msg("%s: not said: %s", odd[i].text, odd[i].said);
        diags_free(&ds);
    }
}

static void bad_launches_name_the_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } bad[] = {
        { "", "empty" },
        { "{", "not valid JSON" },
        { "{\"format\": \"x\"}", "not a gpulocw-launch" },
        { "{\"format\": \"gpulocw-launch\", \"version\": 2}", "version 2" },
        { "{\"format\": \"gpulocw-launch\", \"version\": 1}", "\"grid\" must be one to three" },
        { HEAD ", \"args\": [{\"name\": \"A\", \"buffer\": \"f33\", \"count\": 1}]}", "element type" },
        { HEAD ", \"args\": [{\"name\": \"A\", \"buffer\": \"f32\", \"count\": 0}]}", "count" },
        { HEAD ", \"args\": [{\"name\": \"A\", \"buffer\": \"f32\", \"count\": 4, \"output\": 1}]}",
          "\"output\" must be true or false" },
        { HEAD
          ", \"args\": [{\"name\": \"A\", \"buffer\": \"f32\", \"count\": 1, \"init\": {\"what\": 1}}]}",
          "init must be one of" },
        { HEAD ", \"args\": [{\"name\": \"A\", \"same_as\": \"Q\"}]}", "not a buffer" },
        { HEAD ", \"args\": [{\"name\": \"A\", \"same_as\": \"A\"}]}", "not a buffer" },
        { HEAD ", \"args\": [{\"name\": \"n\", \"u8\": 256}]}", "not valid for its type" },
        { HEAD ", \"args\": [{\"name\": \"n\", \"s8\": -129}]}", "not valid for its type" },
        { HEAD ", \"args\": [{\"name\": \"n\", \"bytes\": \"0g\"}]}", "hex" },
        { HEAD ", \"args\": [{\"name\": \"n\", \"bytes\": \"-1\"}]}", "hex" },
        { HEAD ", \"args\": [{\"name\": \"n\", \"bytes\": \"012\"}]}", "hex" },
        { HEAD ", \"args\": [{\"name\": \"n\", \"f32\": 1e999}]}", "not valid for its type" },
        { HEAD ", \"args\": [{\"name\": \"n\", \"s64\": \"9223372036854775808x\"}]}",
          "not valid for its type" },
        { HEAD ", \"args\": [{\"name\": \"n\", \"u64\": \" -5\"}]}", "not valid for its type" },
        { HEAD ", \"args\": [{\"name\": \"n\", \"u64\": \"18446744073709551616\"}]}",
          "not valid for its type" },
        { HEAD ", \"args\": [{\"name\": \"A\", \"buffer\": \"f32\", \"count\": 4, \"init\": {\"fill\": "
               "\"many\"}}]}",
          "the value of its init" },
        { HEAD ", \"args\": [{\"name\": \"A\", \"buffer\": \"f32\", \"count\": 4, \"init\": {\"fill\": "
               "1e999}}]}",
          "the value of its init" },
        { HEAD ", \"args\": [{\"name\": \"A\", \"buffer\": \"f32\", \"count\": 4, \"init\": "
               "{\"random\": [0, null]}}]}",
          "the value of its init" },
        { HEAD
          ", \"args\": [{\"name\": \"A\", \"buffer\": \"f32\", \"count\": 4, \"tolerance\": 1e999}]}",
          "\"tolerance\" must be" },
        { HEAD ", \"args\": [{\"name\": \"A\", \"buffer\": \"f32\", \"count\": 4, \"tolerance\": "
               "\"small\"}]}",
          "\"tolerance\" must be" },
        { HEAD ", \"args\": [{\"name\": \"n\"}]}", "needs" },
        { HEAD ", \"symbols\": [{\"name\": \"t\", \"buffer\": \"f32\"}]}",
          "symbol 't': \"count\" must be" },
        { HEAD ", \"launches\": []}", "empty" },
        { HEAD "} trailing", "not valid JSON" },
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct launch_file f;
        struct diags ds = { 0 };
        enum status s = launch_file_read(write_file("bad.json", bad[i].text), &f, &ds);
        if (s != ST_INPUT || !support_said(&ds, bad[i].said)) {
            struct buf b = { 0 };
            diags_print(&ds, &b);
            print_error("case %zu: wanted '%s', got: %s\n", i, bad[i].said, b.s ? b.s : "nothing");
            buf_free(&b);
            fail();
        }
        diags_free(&ds);
    }
}

static void every_preset_reads(void **state)
{
    (void)state;
    static const char *const promised[] = { "hopper-h200", "fermi-16k",     "fermi-48k",
                                            "kepler-k80",  "maxwell-750ti", "pascal-p100",
                                            "volta-v100",  "ampere-a30",    "ampere-a100" };
    struct diags ds = { 0 };
    struct sim_preset p;
    for (size_t i = 0; i < preset_count(); i++) {
        assert_status_ok(preset_read(NULL, preset_name(i), &p, &ds), &ds);
        assert_string_equal(p.name, preset_name(i));
    }
    for (size_t i = 0; i < ARRAY_LEN(promised); i++)
        assert_status_ok(preset_read(NULL, promised[i], &p, &ds), &ds);
    assert_int_equal(ds.n, 0); /* no unknown fields either */
    assert_int_equal(preset_read(NULL, "no-such-gpu", &p, &ds), ST_DEVICE);
    assert_true(support_said(&ds, "sim:hopper-h200"));
    diags_free(&ds);
}

static void preset_round_trip(void **state)
{
    (void)state;
    struct diags ds = { 0 };
    struct sim_preset p, q;
    char path[256];
    snprintf(path, sizeof path, "%s/p.json", support_scratch());
    assert_status_ok(preset_read(NULL, "fermi-16k", &p, &ds), &ds);
    assert_status_ok(preset_write(path, &p, "a test", NULL, &ds), &ds);
    assert_status_ok(preset_read(NULL, path, &q, &ds), &ds);
    for (size_t i = 0; i < sim_preset_field_count(); i++) {
        size_t at = sim_preset_field(i)->offset;
        assert_memory_equal((char *)&p + at, (char *)&q + at, 8);
    }
    diags_free(&ds);
}

static struct result point(int mode, int pi, int64_t ns)
{
    struct result r = result_empty();
    opt_bypass(&r.options)->level = BYPASS_L1;
    opt_bypass(&r.options)->pi.mode = mode;
    opt_bypass(&r.options)->pi.value = pi;
    r.time = (struct timing){ .sample = { ns, ns + 1, ns + 2 }, .n = 3, .origin = ORIGIN_SIMULATED };
    timing_finish(&r.time);
    r.counters[COUNTER_L1_HIT_RATE] = (struct counter){ 0.1 + 0.2, ORIGIN_SIMULATED, true };
    r.outputs[0] = (struct output_hash){ .name = "y", .hash = UINT64_MAX - (uint64_t)pi };
    r.noutputs = 1;
    result_add_load(&r, (struct load_counts){ 7, 10, 40, (uint64_t)pi });
    r.equal = EQUAL_YES;
    return r;
}

static struct session *make_session(const char *path)
{
    struct session *s;
    struct diags ds = { 0 };
    assert_status_ok(session_new(path, "x.ptx", &s, &ds), &ds);
    session_set_ptx(s, "x.ptx", STR(".version 7.0\n\"quoted\\\"\n"));
    struct session_run *r = session_begin(s, RUN_SWEEP);
    snprintf(r->kernel, sizeof r->kernel, "valley");
    r->block = (struct dim3u){ 128, 1, 1 };
    r->dev.max_warps_per_sm = 48;
    r->dev.l1_bytes = 16384;
    r->sweep.warps = 4;
    struct result bpa = point(PI_BPA, 0, 1000), cha = point(PI_CHA, 0, 900);
    session_run_point(r, &bpa);
    session_run_point(r, &cha);
    static const int64_t ns[] = { 1003, 600, 500, 800, 905 };
    for (int i = 0; i < 5; i++) {
        struct result p = point(PI_VALUE, i, ns[i]);
        session_run_point(r, &p);
    }
    r->sweep.complete = true;
    tune_sweep_judge(&r->sweep, &r->dev, 128);
    assert_status_ok(session_save(s, &ds), &ds);
    diags_free(&ds);
    return s;
}

static void session_round_trip(void **state)
{
    (void)state;
    char path[256];
    struct diags ds = { 0 };
    struct session *t;
    snprintf(path, sizeof path, "%s/s.json", support_scratch());
    struct session *s = make_session(path);
    assert_status_ok(session_load(path, &t, &ds), &ds);
    const struct session_run *a = session_at(s, 0), *b = session_at(t, 0);
    assert_int_equal(b->sweep.npoints, 5);
    assert_true(b->sweep.complete);
    assert_int_equal(b->sweep.best, 2);
    assert_int_equal(b->sweep.best, a->sweep.best);
    assert_int_equal(b->sweep.curve.category, CATEGORY_CACHE_CONGESTED);
    for (size_t i = 0; i < 5; i++) {
        const struct result *x = &a->sweep.points[i], *y = &b->sweep.points[i];
        assert_int_equal(y->time.median, x->time.median);
        assert_int_equal(y->time.n, 3);
        /* bit for bit */
        assert_true(y->counters[COUNTER_L1_HIT_RATE].value == x->counters[COUNTER_L1_HIT_RATE].value);
        assert_false(y->counters[COUNTER_DRAM_READ_BYTES].valid);
        assert_true(y->outputs[0].hash == x->outputs[0].hash);
        assert_int_equal(y->nloads, 1);
        assert_int_equal(result_load(y, 7)->l1_hits, i);
        assert_true(options_equal(&x->options, &y->options));
    }
    assert_true(str_eq(session_ptx_text(t), session_ptx_text(s)));
    struct buf one = { 0 }, two = { 0 };
    json_sweep(&a->sweep, a->proof, &a->dev, a->kernel, a->race, &one);
    json_sweep(&b->sweep, b->proof, &b->dev, b->kernel, b->race, &two);
    assert_string_equal(one.s, two.s);
    buf_free(&one);
    buf_free(&two);
    session_free(s);
    session_free(t);
    diags_free(&ds);
}

/* A search: what was launched twice, and data sets that did not run, whose gain is no number. */
static void search_round_trip(void **state)
{
    (void)state;
    char path[256];
    struct diags ds = { 0 };
    struct session *s, *t;
    snprintf(path, sizeof path, "%s/tune.json", support_scratch());
    assert_status_ok(session_new(path, "x.ptx", &s, &ds), &ds);
    struct session_run *r = session_begin(s, RUN_TUNE);
    *r->found->best = *r->found->original = point(PI_CHA, 0, 900);
    r->found->launches = 30;
    r->found->whole = 3;
    r->found->again = 4;
    r->found->interrupted = true;
    snprintf(r->found->untried, sizeof r->found->untried, "pairs");
    r->found->nsets = 2;
    r->found->set[0] = (struct tune_data_set){ .name = "small", .gain = 1.25, .holds = true };
    r->found->set[1] = (struct tune_data_set){ .name = "wrong", .message = "does not fit" };
    opt_schedule(&r->found->set_best[0])->coarsen = 4;
    r->found->set[0].best_gain = 1.5;
    r->found->all = (struct tune_all_launches){ true, 2, 3, 700, 500 };
    assert_status_ok(session_save(s, &ds), &ds);
    assert_status_ok(session_load(path, &t, &ds), &ds);
    const struct tune_found *f = session_at(t, 0)->found;
    assert_true(f->launches == 30);
    assert_true(f->whole == 3);
    assert_true(f->again == 4);
    assert_true(f->nsets == 2);
    assert_true(f->interrupted);
    assert_string_equal(f->untried, "pairs");
    assert_true(f->set[0].gain == 1.25);
    assert_true(f->set[0].holds);
    assert_int_equal(opt_schedule(&f->set_best[0])->coarsen, 4);
    assert_true(f->set[0].best_gain == 1.5);
    assert_true(f->all.valid && f->all.launches == 2 && f->all.tried == 3);
    assert_true(f->all.original_ns == 700 && f->all.best_ns == 500);
    assert_true(f->set[1].gain == 0);
    assert_true(!f->set[1].holds);
    struct buf one = { 0 };
    json_found(f, NULL, 0, r->trail, r->ntrail, &r->dev, "k", NULL, &one);
    assert_non_null(strstr(one.s, "null"));
    assert_null(strstr(one.s, "\"gain\": 0,"));
    assert_null(strstr(one.s, "\"gain\":0,"));
    buf_free(&one);
    session_free(s);
    session_free(t);
    diags_free(&ds);
}

/* Unknown keys of the same major survive a load and a save; a reader that is too old refuses. */
static void versions(void **state)
{
    (void)state;
    struct diags ds = { 0 };
    struct session *s;
    const char *p = write_file("minor.json", "{\"format\": \"gpulocw-session\", \"major\": 1, "
                                             "\"minor\": 9, \"reads_from\": 1, \"writer\": \"later\","
                                             " \"time\": \"2030-01-01T00:00:00Z\", \"runs\": [], "
                                             "\"new\": {\"deep\": [1, 0.1, \"x\", null, true]}}");
    char kept[256];
    snprintf(kept, sizeof kept, "%s", p);
    assert_status_ok(session_load(kept, &s, &ds), &ds);
    assert_status_ok(session_save(s, &ds), &ds);
    char *text;
    size_t n;
    assert_status_ok(file_read(kept, 1u << 20, &text, &n, &ds), &ds);
    assert_non_null(strstr(text, "\"deep\": [1, 0.1, \"x\", null, true]"));
    assert_non_null(strstr(text, "2030-01-01"));
    base_free(text);
    session_free(s);
    p = write_file("major.json", "{\"format\": \"gpulocw-session\", \"major\": 3, \"minor\": 0, "
                                 "\"reads_from\": 2, \"runs\": []}");
    assert_int_equal(session_load(p, &s, &ds), ST_INPUT);
    assert_true(support_said(&ds, "format version 2"));
    diags_free(&ds);
}

/* The file is replaced whole: whatever happens to the writer, a reader finds the last complete state.
 * A truncated file (another program's doing) is a located error at every length, never a crash. */
static void truncated_at_every_byte(void **state)
{
    (void)state;
    char path[256], cut[256];
    struct diags ds = { 0 };
    char *text;
    size_t n;
    snprintf(path, sizeof path, "%s/whole.json", support_scratch());
    snprintf(cut, sizeof cut, "%s/cut.json", support_scratch());
    session_free(make_session(path));
    assert_status_ok(file_read(path, 1u << 20, &text, &n, &ds), &ds);
    size_t last = n - 1;
    while (text[last] == '\n')
        last--;
    for (size_t i = 0; i <= last; i += i < 300 ? 1 : 37) {
        struct session *s = NULL;
        FILE *f = fopen(cut, "wb");
        assert_int_equal(fwrite(text, 1, i, f), i);
        fclose(f);
        struct diags one = { 0 };
        assert_int_equal(session_load(cut, &s, &one), ST_INPUT);
        assert_null(s);
        assert_true(one.errors > 0);
        diags_free(&one);
    }
    base_free(text);
    diags_free(&ds);
}

/* Every allocation on the way of a load fails once. */
static void out_of_memory(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/oom.json", support_scratch());
    session_free(make_session(path));
    for (uint64_t n = 1; n < 3000; n += n < 60 ? 1 : 97) {
        struct session *s = NULL;
        struct diags ds = { 0 };
        base_fail_after(n);
        enum status st = session_load(path, &s, &ds);
        base_fail_after(0);
        assert_true(st == ST_OK ? s != NULL : s == NULL);
        session_free(s);
        diags_free(&ds);
    }
}

static void read_only_folder(void **state)
{
    (void)state;
    struct session *s;
    struct diags ds = { 0 };
    enum status st = session_new("/proc/nowhere/s.json", "x.ptx", &s, &ds);
    assert_int_equal(st, ST_IO);
    assert_non_null(s); /* the session goes on in memory */
    assert_non_null(session_begin(s, RUN_ONE));
    assert_int_equal(session_save(s, &ds), ST_IO);
    assert_true(ds.n >= 2);
    session_free(s);
    diags_free(&ds);
}

/* Who finds another program's session in its place goes on in a file of its own, and says so once; a
 * program that is alone with its file never hears of it. */
static void two_writers(void **state)
{
    (void)state;
    char path[64];
    struct diags ds = { 0 };
    snprintf(path, sizeof path, "/tmp/gpulocw-two-%ld.json", (long)getpid());
    struct session *a = make_session(path), *b;
    for (int i = 0; i < 3; i++)
        assert_status_ok(session_save(a, &ds), &ds);
    assert_int_equal(ds.warnings, 0);
    b = make_session(path);
    assert_status_ok(session_save(b, &ds), &ds);
    assert_int_equal(ds.warnings, 0);
    assert_status_ok(session_save(a, &ds), &ds);
    assert_int_equal(ds.warnings, 1);
    assert_string_not_equal(session_path(a), path);
    assert_string_equal(session_path(b), path);
    assert_status_ok(session_save(b, &ds), &ds);
    assert_status_ok(session_save(a, &ds), &ds);
    assert_int_equal(ds.warnings, 1);
    assert_int_equal(access(session_path(a), R_OK) | access(path, R_OK), 0);
    unlink(session_path(a));
    session_free(a);
    session_free(b);
    unlink(path);
    diags_free(&ds);
}

/* As on NFS: what is not open for writing has no lock. */
static bool folders_unlocked;
int flock(int fd, int op)
{
    struct stat at;
    if (folders_unlocked && fstat(fd, &at) == 0 && S_ISDIR(at.st_mode)) {
        errno = EBADF;
        return -1;
    }
    return (int)syscall(SYS_flock, fd, op);
}

/* Programs that begin a session of one name in the same instant each keep theirs. */
static void many_writers(void **state)
{
    enum { WRITERS = 8, ROUNDS = 12 };
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        folders_unlocked = round % 2;
        char dir[64], path[128];
        int go[2], ready[2], n = 0;
        snprintf(dir, sizeof dir, "/tmp/gpulocw-many-XXXXXX");
        assert_non_null(mkdtemp(dir));
        snprintf(path, sizeof path, "%s/s.json", dir);
        char c;
        assert_int_equal(pipe(go) | pipe(ready), 0);
        for (int k = 0; k < WRITERS; k++)
            if (fork() == 0) {
                struct session *s;
                struct diags ds = { 0 };
                close(go[1]);
                bool ok = session_new(path, "x.ptx", &s, &ds) == ST_OK && write(ready[1], "", 1) == 1 &&
                          read(go[0], &c, 1) == 0 && session_save(s, &ds) == ST_OK &&
                          session_save(s, &ds) == ST_OK;
                _exit(!ok);
            }
        for (int k = 0; k < WRITERS; k++)
            assert_int_equal(read(ready[0], &c, 1), 1);
        close(go[1]); /* all of them save */
        close(go[0]);
        close(ready[0]);
        close(ready[1]);
        for (int k = 0; k < WRITERS; k++) {
            int how;
            assert_true(wait(&how) > 0);
            assert_int_equal(how, 0);
        }
        for (int k = 1; k <= WRITERS; k++) {
            snprintf(path, sizeof path, k > 1 ? "%s/s-%d.json" : "%s/s.json", dir, k);
            n += access(path, R_OK) == 0;
            unlink(path);
        }
        assert_int_equal(n, WRITERS);
        snprintf(path, sizeof path, "%s/.gpulocw.lock", dir);
        assert_int_equal(unlink(path) == 0, folders_unlocked);
        assert_int_equal(rmdir(dir), 0);
    }
    folders_unlocked = false;
}

/* A session in the workbench may have thousands of runs, each kept twice (here and in what is
 * published). */
static void runs_are_small(void **state)
{
    enum { RUNS = 200 };
    struct session *s;
    struct diags ds = { 0 };
    char path[300];
    struct session_run *copy = calloc(RUNS, sizeof *copy);
    (void)state;
    snprintf(path, sizeof path, "%s/small.json", support_scratch());
    assert_status_ok(session_new(path, "a.ptx", &s, &ds), &ds);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < RUNS; i++) {
        struct session_run *r = session_begin(s, RUN_ONE);
        assert_non_null(r);
        assert_null(r->found);
        assert_true(session_run_copy(&copy[i], r));
    }
    size_t each = (mallinfo2().uordblks - before) / RUNS + sizeof *copy;
    assert_true(each < 60000);
    for (int i = 0; i < RUNS; i++)
        session_run_clear(&copy[i]);
    free(copy);
    session_free(s);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_small),
        cmocka_unit_test(two_writers),
        cmocka_unit_test(many_writers),
        cmocka_unit_test(launch_forms),
        cmocka_unit_test(large_numbers),
        cmocka_unit_test(launches_out_of_memory),
        cmocka_unit_test(several_launches_inherit),
        cmocka_unit_test(unknown_and_misplaced_keys_are_errors),
        cmocka_unit_test(bad_launches_name_the_place),
        cmocka_unit_test(every_preset_reads),
        cmocka_unit_test(preset_round_trip),
        cmocka_unit_test(session_round_trip),
        cmocka_unit_test(search_round_trip),
        cmocka_unit_test(versions),
        cmocka_unit_test(truncated_at_every_byte),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(read_only_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
