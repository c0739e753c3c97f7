/* The worker protocol, launchers, workers that die, and pools of them. The device
 * at the far end is the fake driver. */
#include "engine/dev/dev_pool.h"
#include "engine/base/crc.h"
#include "engine/base/version.h"
#include "engine/dev/worker/wire.h"
#include "engine/ptx/text_marks.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/record.h"
#include "engine/rec/result.h"
#include "tests/unit/dev_scene.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 256u

/* ---- payloads ---- */
static struct wire_in over(const struct buf *b, size_t n)
{
    return (struct wire_in){ .p = (const uint8_t *)b->s, .n = n };
}

static void test_diags_travel(void **state)
{
    (void)state;
    struct diags a = { 0 }, b = { 0 };
    struct buf w = { 0 }, x = { 0 }, y = { 0 };
    struct diag *d =
        diag_add(&a, DIAG_ERROR, "code", "f.ptx", (struct span){ 7, 3, 2, 5 }, "wrong %d", 1);
    diag_hint(d, "do this");
    diag_source(d, STR("line1\nline2xxx\n"));
    d->other_line = 9;
    diag_add(&a, DIAG_WARNING, NULL, NULL, NO_SPAN, "beware");
    wire_put_diags(&w, &a);
    struct wire_in in = over(&w, w.n);
    wire_get_diags(&in, &b);
    assert_int_equal(b.v[0].other_line, 9);
    assert_false(in.bad);
    diags_print(&a, &x);
    diags_print(&b, &y);
    assert_string_equal(x.s, y.s);
    buf_free(&w);
    buf_free(&x);
    buf_free(&y);
    diags_free(&a);
    diags_free(&b);
}

static struct result some_result(void)
{
    struct result r = result_empty();
    r.status = ST_REFUSED;
    snprintf(r.message, sizeof r.message, "because");
    r.time = (struct timing){ .sample = { 30, 10, 20 },
                              .n = 3,
                              .origin = ORIGIN_MEASURED,
                              .valid = true,
                              .throttled = true,
                              .batch = 16 };
    timing_finish(&r.time);
    r.counters[COUNTER_L2_HIT_RATE] = (struct counter){ 12.5, ORIGIN_MEASURED, true };
    snprintf(r.outputs[0].name, sizeof r.outputs[0].name, "y");
    r.outputs[0].hash = 0x123456789abcdef0;
    r.noutputs = 1;
    result_add_load(&r, (struct load_counts){ 81, 10, 40, 30 });
    result_add_load(&r, (struct load_counts){ 83, 1, (uint64_t)1 << 40, 0 });
    r.regs = 40;
    r.ctas_per_sm = 2;
    r.sampled = true;
    return r;
}

static void test_result_travels(void **state)
{
    (void)state;
    struct result a = some_result(), b = result_empty();
    struct buf w = { 0 };
    wire_put_result(&w, &a);
    struct wire_in in = over(&w, w.n);
    wire_get_result(&in, &b);
    assert_false(in.bad);
    assert_int_equal(b.status, a.status);
    assert_string_equal(b.message, a.message);
    assert_memory_equal(&b.time, &a.time, sizeof a.time);
    assert_memory_equal(b.outputs, a.outputs, sizeof a.outputs);
    assert_true(b.counters[COUNTER_L2_HIT_RATE].valid);
    assert_true(b.counters[COUNTER_L2_HIT_RATE].value > 12.4);
    assert_false(b.counters[COUNTER_L1_REQUESTS].valid);
    assert_int_equal(b.ctas_per_sm, 2);
    assert_true(b.sampled);
    assert_int_equal(b.nloads, 2);
    assert_memory_equal(b.loads, a.loads, sizeof a.loads);
    buf_free(&w);
}

static void test_preset_travels(void **state)
{
    (void)state;
    struct sim_preset a = sim_preset_default(), b;
    struct buf w = { 0 };
    snprintf(a.name, sizeof a.name, "mine");
    wire_put_preset(&w, &a);
    struct wire_in in = over(&w, w.n);
    wire_get_preset(&in, &b);
    assert_false(in.bad);
    assert_string_equal(b.name, "mine");
    assert_memory_equal(&a, &b, sizeof a);
    buf_free(&w);
}

/* A run with everything in it, as the wire would carry it. */
static void put_full_run(struct buf *w)
{
    static char kernel[] = "k", a[] = "a", b[] = "b", c[] = "c", symbol[] = "s";
    static uint8_t bytes[] = { 1, 2, 3, 4 };
    struct arg_spec args[3] = {
        { .kind = ARG_BUFFER, .name = a, .elem = ELEM_F32, .count = 8, .output = true },
        { .kind = ARG_SAME_AS, .name = b, .same_as = a, .offset = 4 },
        { .kind = ARG_BYTES, .name = c, .bytes = bytes, .nbytes = sizeof bytes }
    };
    struct symbol_spec symbols[1] = { { .name = symbol } };
    struct launch_spec before = {
        .kernel = kernel, .grid = { 1, 1, 1 }, .block = { 2, 1, 1 }, .args = args, .nargs = 2
    };
    struct launch_spec l = { .kernel = kernel,
                             .grid = { 3, 2, 1 },
                             .block = { 32, 1, 1 },
                             .shared = 64,
                             .args = args,
                             .nargs = 3,
                             .symbols = symbols,
                             .nsymbols = 1,
                             .before = &before,
                             .nbefore = 1 };
    struct dev_symbol_value set = { "pi", 4, bytes, sizeof bytes }, zero = { "ctr", 0, NULL, 16 };
    struct dev_run r = dev_run_default();
    r.launch = &l;
    r.grid = l.grid;
    r.block = l.block;
    r.set = &set;
    r.nset = 1;
    r.zero = &zero;
    r.nzero = 1;
    r.hw_pi = -1;
    r.time_limit_s = 1.5;
    wire_put_run(w, &r);
}

static void test_run_travels(void **state)
{
    (void)state;
    struct buf w = { 0 };
    struct dev_run r;
    put_full_run(&w);
    struct wire_in in = over(&w, w.n);
    wire_get_run(&in, &r);
    assert_false(in.bad);
    assert_string_equal(r.launch->kernel, "k");
    assert_int_equal(r.launch->nargs, 3);
    assert_string_equal(r.launch->args[1].same_as, "a");
    assert_int_equal(r.launch->args[2].bytes[3], 4);
    assert_int_equal(r.launch->nbefore, 1);
    assert_int_equal(r.launch->before[0].block.x, 2);
    assert_string_equal(r.set[0].symbol, "pi");
    assert_memory_equal(r.set[0].bytes, "\1\2\3\4", 4);
    assert_null(r.zero[0].bytes);
    assert_int_equal(r.zero[0].n, 16);
    assert_int_equal(r.hw_pi, -1);
    assert_true(r.time_limit_s > 1.4);
    assert_true(r.time_limit_s < 1.6);
    wire_run_free(&r);
    buf_free(&w);
}

/* Fields are found by name: in any order, beside others that nobody knows. */
static void test_fields_have_names(void **state)
{
    (void)state;
    struct buf w = { 0 };
    struct dev_info a = { .kind = DEV_CUDA, .name = "n", .sms = 7, .lat_l1 = 1.5 }, b;
    wire_uint(&w, "of a later version", 1);
    size_t device = wire_open(&w, "device");
    wire_text(&w, "colour", NULL);
    wire_put_members(&w, record_members("device"), &a);
    wire_uint(&w, "weight", 3);
    wire_close(&w, device);
    wire_uint(&w, "first", 5);
    struct wire_in in = over(&w, w.n);
    assert_int_equal(wire_get_uint(&in, "first"), 5);
    wire_get_info(&in, &b);
    assert_false(in.bad);
    assert_int_equal(b.kind, DEV_CUDA);
    assert_int_equal(b.sms, 7);
    assert_memory_equal(&a, &b, sizeof a);
    buf_free(&w);
}

static void is_bad(const struct buf *w, const char *why)
{
    struct wire_in in = over(w, w->n);
    struct diags ds = { 0 };
    struct dev_info i;
    wire_get_info(&in, &i);
    assert_int_equal(wire_judge(&in, &ds), ST_DEVICE);
    assert_int_equal(ds.n, 1);
    assert_non_null(strstr(ds.v[0].msg, why));
    diags_free(&ds);
}

/* The first that is missing is named, wherever it is missing; a name that no value has is refused. */
static void test_missing_fields_are_named(void **state)
{
    (void)state;
    struct members m = record_members("device");
    struct dev_info a = { .kind = DEV_SIMULATED };
    struct buf w = { 0 };
    assert_true(m.n > 20);
    is_bad(&w, "lacks the field 'device'");
    for (size_t left_out = 0; left_out < m.n; left_out++) {
        buf_clear(&w);
        size_t device = wire_open(&w, "device");
        wire_put_members(&w, (struct members){ m.v, left_out }, &a);
        wire_put_members(&w, (struct members){ m.v + left_out + 1, m.n - left_out - 1 }, &a);
        wire_close(&w, device);
        char lacks[96];
        snprintf(lacks, sizeof lacks, "lacks the field '%s'", m.v[left_out].key);
        is_bad(&w, lacks);
    }
    buf_clear(&w);
    size_t device = wire_open(&w, "device");
    wire_text(&w, "kind", "abacus");
    wire_put_members(&w, (struct members){ m.v + 1, m.n - 1 }, &a);
    wire_close(&w, device);
    is_bad(&w, "makes no sense");
    buf_free(&w);
}

static void put_marks(struct buf *w, struct text_marks *m)
{
    assert_true(text_marks_add(m, (struct text_mark){ MARK_CLAIM, 0, 7 }));
    assert_true(text_marks_add(m, (struct text_mark){ MARK_LOOK, 70000, 3 }));
    assert_true(text_marks_add(m, (struct text_mark){ MARK_LOOK_SPARE, 2, UINT32_MAX }));
    wire_put_marks(w, m);
}

static void test_marks_travel(void **state)
{
    (void)state;
    struct buf w = { 0 };
    struct text_marks sent = { 0 }, got;
    put_marks(&w, &sent);
    struct wire_in in = over(&w, w.n);
    wire_get_marks(&in, &got);
    assert_false(in.bad);
    assert_true(text_marks_equal(&sent, &got));
    text_marks_free(&sent);
    text_marks_free(&got);
    buf_free(&w);
}

/* Cut anywhere, of a number that there is no room for, or of a kind that there is not. */
static void test_damaged_marks(void **state)
{
    (void)state;
    struct buf w = { 0 };
    struct text_marks sent = { 0 }, got;
    put_marks(&w, &sent);
    for (size_t n = 0; n < w.n; n++) {
        struct wire_in in = over(&w, n);
        wire_get_marks(&in, &got);
        assert_true(in.bad);
        text_marks_free(&got);
    }
    char *kind = memmem(w.s, w.n, "claim", 5);
    assert_non_null(kind);
    *kind = 'b';
    struct wire_in in = over(&w, w.n);
    wire_get_marks(&in, &got);
    assert_true(in.bad);
    text_marks_free(&got);
    text_marks_free(&sent);
    buf_free(&w);
}

/* A payload cut anywhere, or with any byte changed, is bad or harmless; never a crash. */
static void test_damaged_payloads(void **state)
{
    (void)state;
    struct buf w = { 0 };
    put_full_run(&w);
    for (size_t n = 0; n < w.n; n++) {
        struct wire_in in = over(&w, n);
        struct dev_run r;
        wire_get_run(&in, &r);
        assert_true(in.bad);
        wire_run_free(&r);
    }
    for (size_t i = 0; i < w.n; i++) {
        char kept = w.s[i];
        w.s[i] = (char)0xff;
        struct wire_in in = over(&w, w.n);
        struct dev_run r;
        wire_get_run(&in, &r);
        wire_run_free(&r);
        w.s[i] = kept;
    }
    buf_free(&w);
}

/* ---- frames ---- */
static void test_greeting_after_noise(void **state)
{
    (void)state;
    int fd[2];
    uint32_t version = 0;
    assert_int_equal(pipe(fd), 0);
    struct wire_stream in = { .fd = fd[0] };
    assert_int_equal(write(fd[1], "Last login: GLW GL", 18), 18);
    assert_true(wire_greet(fd[1]));
    assert_int_equal(wire_greeting(&in, base_now_ns() + 1000000000, NULL, &version), WIRE_OK);
    assert_int_equal(version, WIRE_VERSION);
    struct wire_frame f;
    struct wire_hello hello;
    struct buf b = { 0 };
    assert_int_equal(wire_recv(&in, INT64_MAX, NULL, &f, &b), WIRE_OK);
    assert_int_equal(f.type, WIRE_HELLO);
    assert_true(wire_get_hello(&b, &hello));
    assert_string_equal(hello.program, GPULOCW_VERSION);
    assert_int_equal(hello.newest, WIRE_VERSION);
    assert_int_equal(write(fd[1], "no sense at all, and long, longer than a head", 45), 45);
    assert_int_equal(wire_recv(&in, INT64_MAX, NULL, &f, &b), WIRE_BAD);
    close(fd[1]);
    close(fd[0]);
    buf_free(&b);
}

static void test_frame_limits(void **state)
{
    (void)state;
    int fd[2];
    struct wire_frame f;
    struct buf b = { 0 };
    uint8_t huge[WIRE_HEAD] = {
        'G', 'L', 'W', WIRE_VERSION, WIRE_REPLY, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0
    };
    uint32_t crc = base_crc32c(0, huge, WIRE_HEAD - 4);
    for (unsigned i = 0; i < 4; i++)
        huge[WIRE_HEAD - 4 + i] = (uint8_t)(crc >> 8 * i); /* whole, and still too long */
    assert_int_equal(pipe(fd), 0);
    struct wire_stream in = { .fd = fd[0] };
    assert_int_equal(wire_recv(&in, base_now_ns() + 30000000, NULL, &f, &b), WIRE_TIMEOUT);
    assert_int_equal(write(fd[1], huge, sizeof huge), sizeof huge);
    assert_int_equal(wire_recv(&in, INT64_MAX, NULL, &f, &b), WIRE_BAD);
    close(fd[1]);
    in = (struct wire_stream){ .fd = fd[0] };
    assert_int_equal(wire_recv(&in, INT64_MAX, NULL, &f, &b), WIRE_CLOSED);
    close(fd[0]);
    assert_int_equal(pipe(fd), 0);
    close(fd[0]);
    /* and no SIGPIPE */
    assert_false(wire_send(fd[1], &(struct wire_frame){ .type = WIRE_REPLY }, NULL, INT64_MAX, NULL));
    close(fd[1]);
    buf_free(&b);
}

/* A worker that is sent nonsense of every type answers or ends; it neither crashes nor hangs. */
struct served {
    int in, out;
    enum status st;
};
static void *serve(void *arg)
{
    struct served *s = arg;
    struct dev_env env = fake_env();
    s->st = dev_worker_serve(&env, s->in, s->out);
    close(s->out);
    return NULL;
}

static void *drain(void *arg)
{
    char skip[4096];
    while (read(*(int *)arg, skip, sizeof skip) > 0)
        ;
    return NULL;
}

/* Fields that requests have, with values that mostly fit: handles, counts and lengths of 0 and 1. */
static void put_nonsense(struct buf *b, uint64_t z)
{
    static const char *const names[] = { "code",        "data",    "arg",    "at",     "size",
                                         "threads",     "maxnreg", "of",     "launch", "buffer",
                                         "bytes",       "symbol",  "path",   "kernel", "text",
                                         "marks",       "run",     "before", "args",   "symbols",
                                         "buffer_sizes" };
    const char *name = names[z % ARRAY_LEN(names)];
    uint64_t v = z >> 40;
    if (v % 4 == 0)
        wire_text(b, name, v & 16 ? NULL : "buffers");
    else if (v % 4 == 1)
        wire_close(b, wire_open(b, name));
    else
        wire_uint(b, name, v % 3 ? (v >> 4) % 9 / 8 : v);
}

static void test_nonsense_requests(void **state)
{
    (void)state;
    int to[2], from[2];
    pthread_t worker, reader;
    struct buf b = { 0 };
    assert_int_equal(pipe(to) | pipe(from), 0);
    struct served s = { to[0], from[1], ST_OK };
    assert_int_equal(pthread_create(&worker, NULL, serve, &s), 0);
    assert_int_equal(pthread_create(&reader, NULL, drain, &from[0]), 0);
    wire_text(&b, "spec", "sim:hopper-h200");
    wire_uint(&b, "threads", 1);
    assert_true(wire_send(to[1], &(struct wire_frame){ WIRE_OPEN, 1, 0 }, &b, INT64_MAX, NULL));
    uint64_t number = 1;
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t z = base_splitmix(7, i);
        buf_clear(&b);
        for (uint64_t k = 0; k < z % 40; k++)
            put_nonsense(&b, base_splitmix(z, k));
        enum wire_type type = (enum wire_type)(WIRE_LOAD + (z >> 32) % 10);
        assert_true(wire_send(to[1],
                              &(struct wire_frame){ type, type == WIRE_CANCEL ? number : ++number, 0 },
                              &b, INT64_MAX, NULL));
    }
    close(to[1]);
    pthread_join(worker, NULL);
    pthread_join(reader, NULL);
    assert_int_equal(s.st, ST_OK);
    close(to[0]);
    close(from[0]);
    buf_free(&b);
}

/* ---- a launch over devices and pools ---- */
static struct dev_run quick_run(const struct scene *s)
{
    struct dev_run r = scene_run(s);
    r.counters = false;
    r.repeat = r.max_repeat = 1;
    return r;
}

static enum status open_through(const char *command, struct dev **d, struct diags *ds)
{
    struct dev_env env = fake_env();
    const char *workers[] = { command };
    env.workers = workers;
    env.nworkers = 1;
    return dev_open("cuda:0", &env, d, ds);
}

static void works_through(const char *command)
{
    struct scene s;
    struct dev *d;
    struct dev_code *c;
    struct dev_data *b;
    struct result r = result_empty();
    scene_open(&s, N, N / 2, NULL);
    if (open_through(command, &d, &s.ds) != ST_OK)
        fail_msg("%s: %s", command, s.ds.n ? s.ds.v[0].msg : "?");
    struct dev_run run = quick_run(&s);
    assert_int_equal(scene_load(&s, d, &c), ST_OK);
    assert_int_equal(dev_bind(d, &s.data, &b, &s.ds), ST_OK);
    assert_int_equal(dev_launch(d, c, b, &run, &r, &s.ds), ST_OK);
    assert_int_equal(r.status, ST_OK);
    assert_true(r.outputs[0].hash == scene_hash(N, 5));
    dev_unbind(d, b);
    dev_unload(d, c);
    dev_close(d);
    scene_close(&s);
}

static const char *worker_line(const char *fmt)
{
    static char lines[4][PATH_MAX + 2400];
    static unsigned turn;
    char cwd[PATH_MAX], *out = lines[turn++ % 4];
    assert_non_null(getcwd(cwd, sizeof cwd));
    size_t n = 0;
    /* %S: this program, %C: this folder */
    for (const char *p = fmt; *p && n + PATH_MAX < sizeof lines[0]; p++) {
        if (p[0] == '%' && p[1] == 'S')
            n += (size_t)sprintf(out + n, "%s", fake_self()), p++;
        else if (p[0] == '%' && p[1] == 'C')
            n += (size_t)sprintf(out + n, "%s", cwd), p++;
        else
            out[n++] = *p;
    }
    out[n] = '\0';
    return out;
}

static void test_launchers(void **state)
{
    (void)state;
    fake_use("libcuda.so.1", NULL, NULL);
    works_through(worker_line("%S worker"));
    works_through(worker_line("%C/tests/fake/launcher.sh gpu-node %S worker"));
    works_through(worker_line("cd / && exec env LC_ALL=C '%S' worker"));
}

static void test_local_worker(void **state)
{
    (void)state;
    struct dev_env env = fake_env();
    struct dev *d;
    struct diags ds = { 0 };
    fake_use("libcuda.so.1", NULL, NULL);
    /* no --worker: a child of this program */
    assert_int_equal(dev_open("cuda:0", &env, &d, &ds), ST_OK);
    assert_string_equal(dev_describe(d)->name, "Fake GPU 0");
    dev_close(d);
}

/* Closing does not wait for a worker's end, and yet no dead child stays behind in a program that goes
 * on. */
static void test_no_dead_children(void **state)
{
    (void)state;
    struct dev_env env = fake_env();
    struct diags ds = { 0 };
    fake_use("libcuda.so.1", NULL, NULL);
    for (int i = 0; i < 3; i++) {
        struct dev *d;
        assert_int_equal(dev_open("cuda:0", &env, &d, &ds), ST_OK);
        dev_close(d);
    }
    siginfo_t left = { 0 };
    int e = 0;
    for (int i = 0; i < 200 && e == 0; i++) { /* WNOWAIT: they are looked at, not buried here */
        e = waitid(P_ALL, 0, &left, WEXITED | WNOHANG | WNOWAIT);
        usleep(10000);
    }
    assert_int_equal(e, -1);
}

/* A worker's driver sees the one GPU it is for; ordinals stay those of the user's list. */
static void opens(const char *visible, const char *spec, const char *name)
{
    struct dev_env env = fake_env();
    struct dev *d = NULL;
    struct diags ds = { 0 };
    struct buf said = { 0 };
    fake_use("libcuda.so.1", "devices=3", NULL);
    if (visible)
        setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    enum status st = dev_open(spec, &env, &d, &ds);
    unsetenv("CUDA_VISIBLE_DEVICES");
    diags_print(&ds, &said);
    if (name) {
        assert_int_equal(st, ST_OK);
        assert_string_equal(dev_describe(d)->name, name);
        assert_string_equal(dev_describe(d)->spec, spec);
    } else {
        assert_int_equal(st, ST_DEVICE);
        assert_non_null(strstr(said.s, "gpulocw devices"));
    }
    dev_close(d);
    buf_free(&said);
    diags_free(&ds);
}

static void test_one_gpu_alone(void **state)
{
    (void)state;
    opens(NULL, "cuda:0", "Fake GPU 0");
    opens(NULL, "cuda:2", "Fake GPU 2");
    opens(NULL, "cuda:3", NULL);
    opens("2,1", "cuda:0", "Fake GPU 2");
    opens("2,1", "cuda:1", "Fake GPU 1");
    opens("MIG-a,MIG-b", "cuda:1", "Fake MIG-b");
}

static void test_launcher_fails(void **state)
{
    (void)state;
    struct {
        const char *command, *word;
    } cases[] = {
        { "echo 'ssh: connect to host gpu: No route to host' >&2; exit 255", "No route to host" },
        { "no-such-launcher gpu gpulocw worker", "not found" },
        { "true", "died" },
        { "echo 'usage: gpulocw FILE.ptx'", "died" },
        { "yes no worker here", "sent damaged" },
        { "printf 'GLW\\377\\001\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\n'; sleep 1",
          "protocol version 255" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct dev *d = NULL;
        struct diags ds = { 0 };
        assert_int_equal(open_through(cases[i].command, &d, &ds), ST_DEVICE);
        assert_null(d);
        assert_true(ds.n > 0);
        if (!strstr(ds.v[0].msg, cases[i].word))
            fail_msg("'%s' is not in: %s", cases[i].word, ds.v[0].msg);
        if (!strstr(ds.v[0].msg, "protocol version") &&
            !(ds.v[0].hint && strstr(ds.v[0].hint, "gpulocw worker")))
            fail_msg("%s: no hint", cases[i].command);
        diags_free(&ds);
    }
}

static void count_one(void *ctx, const struct dev_info *i)
{
    *(int *)ctx += i->kind == DEV_CUDA;
}

static void test_list_elsewhere(void **state)
{
    (void)state;
    struct dev_env env = fake_env();
    struct diags ds = { 0 };
    const char *workers[] = { worker_line("%S worker"),
                              worker_line("%C/tests/fake/launcher.sh b %S worker") };
    int n = 0;
    env.workers = workers;
    env.nworkers = 2;
    fake_use("libcuda.so.1", "devices=2", NULL);
    assert_int_equal(dev_list(&env, count_one, &n, &ds), ST_OK);
    assert_int_equal(n, 4);
}

/* ---- pools ---- */
#define JOBS 24
struct told {
    size_t order[JOBS];
    size_t n;
};

static void on_done(void *ctx, size_t job, const struct result *r)
{
    struct told *t = ctx;
    assert_int_equal(opt_occupancy(&r->options)->carveout, (int)job); /* the caller's options stay */
    t->order[t->n++] = job;
}

static enum status run_pool(struct scene *s, const char *const *workers, size_t nworkers,
                            const struct dev_pool_code *codes, size_t ncodes,
                            const struct dev_pool_job *jobs, struct result *out, size_t *left)
{
    static const char *const specs[] = { "cuda:0" };
    struct dev_env env = fake_env();
    struct dev_pool *p;
    struct told told = { .n = 0 };
    struct dev_pool_watch w = { .done = on_done, .ctx = &told };
    env.workers = workers;
    env.nworkers = nworkers;
    *left = 0;
    for (size_t i = 0; i < JOBS; i++) {
        out[i] = result_empty();
        opt_occupancy(&out[i].options)->carveout = (int)i;
    }
    enum status st = dev_pool_open(specs, 1, &env, &p, &s->ds);
    if (st != ST_OK)
        return st;
    st = dev_pool_run(p, &s->data, codes, ncodes, jobs, JOBS, &w, out, &s->ds);
    *left = dev_pool_count(p);
    dev_pool_close(p);
    if (st == ST_OK)
        assert_int_equal(told.n, JOBS);
    return st;
}

/* Every job adds its own number, so that a mixed-up result would show. */
struct work {
    struct launch_spec l[JOBS];
    struct arg_spec args[JOBS][2];
    struct dev_pool_job jobs[JOBS];
    struct result out[JOBS];
};
static void make_work(struct work *w, const struct scene *s)
{
    for (uint32_t i = 0; i < JOBS; i++) {
        memcpy(w->args[i], s->args, sizeof s->args);
        memcpy(w->args[i][1].scalar, &i, sizeof i);
        w->l[i] = s->l;
        w->l[i].args = w->args[i];
        w->jobs[i] = (struct dev_pool_job){ .code = 0, .run = quick_run(s) };
        w->jobs[i].run.launch = &w->l[i];
    }
}

static void all_right(const struct work *w)
{
    for (uint32_t i = 0; i < JOBS; i++) {
        if (w->out[i].status != ST_OK)
            fail_msg("job %u: %s", i, w->out[i].message);
        assert_true(w->out[i].outputs[0].hash == scene_hash(N, i));
    }
}

static void test_pool(void **state)
{
    (void)state;
    struct scene s;
    struct work w;
    size_t left;
    const char *workers[] = { worker_line("%S worker"),
                              worker_line("%C/tests/fake/launcher.sh b %S worker"),
                              worker_line("exec %S worker") };
    fake_use("libcuda.so.1", NULL, NULL);
    scene_open(&s, N, N / 2, NULL);
    make_work(&w, &s);
    struct dev_pool_code code = { "conf.ptx", { s.ptx, s.nptx }, STR("conf_bump"), NULL };
    assert_int_equal(run_pool(&s, workers, 3, &code, 1, w.jobs, w.out, &left), ST_OK);
    assert_int_equal(left, 3);
    all_right(&w);
    scene_close(&s);
}

/* One worker is killed in mid-work again and again: nothing is lost, and in the end it may leave. */
static void test_pool_dying_worker(void **state)
{
    (void)state;
    struct scene s;
    struct work w;
    size_t left;
    const char *workers[] = { worker_line("%S worker"), worker_line("timeout -s KILL 0.1 %S worker") };
    fake_use("libcuda.so.1", "slow", NULL);
    scene_open(&s, N, N / 2, NULL);
    make_work(&w, &s);
    struct dev_pool_code code = { "conf.ptx", { s.ptx, s.nptx }, STR("conf_bump"), NULL };
    assert_int_equal(run_pool(&s, workers, 2, &code, 1, w.jobs, w.out, &left), ST_OK);
    assert_true(left >= 1);
    all_right(&w);
    scene_close(&s);
}

/* A job that kills whatever runs it is given up; the others are done. */
static void test_pool_deadly_job(void **state)
{
    (void)state;
    static const char text[] =
        ".version 6.0\n.target sm_50\n.address_size 64\n"
        ".visible .entry conf_die(.param .u64 buf, .param .u32 add)\n{\n\tret;\n}\n";
    struct scene s;
    struct work w;
    size_t left;
    const char *workers[] = { worker_line("%S worker"), worker_line("exec %S worker"),
                              worker_line("env %S worker") };
    fake_use("libcuda.so.1", NULL, NULL);
    scene_open(&s, N, N / 2, NULL);
    make_work(&w, &s);
    w.jobs[7].code = 1;
    struct dev_pool_code codes[] = { { "conf.ptx", { s.ptx, s.nptx }, STR("conf_bump"), 0 },
                                     { "die.ptx", STR(text), STR("conf_die"), 0 } };
    assert_int_equal(run_pool(&s, workers, 3, codes, 2, w.jobs, w.out, &left), ST_OK);
    for (uint32_t i = 0; i < JOBS; i++)
        assert_int_equal(w.out[i].status, i == 7 ? ST_DEVICE : ST_OK);
    assert_non_null(strstr(w.out[7].message, "died"));
    scene_close(&s);
}

static void test_pool_without_devices(void **state)
{
    (void)state;
    struct scene s;
    struct work w;
    size_t left;
    const char *workers[] = { "exit 1", worker_line("timeout -s KILL 0.1 %S worker") };
    fake_use("libcuda.so.1", "slow", NULL);
    scene_open(&s, N, N / 2, NULL);
    make_work(&w, &s);
    struct dev_pool_code code = { "conf.ptx", { s.ptx, s.nptx }, STR("conf_bump"), NULL };
    assert_int_equal(run_pool(&s, workers, 1, &code, 1, w.jobs, w.out, &left), ST_DEVICE);
    /* The second worker lives for three launches at a time: the pool ends with what it got, or with all
     * of it. */
    enum status st = run_pool(&s, workers, 2, &code, 1, w.jobs, w.out, &left);
    for (uint32_t i = 0; i < JOBS; i++)
        if (w.out[i].status != ST_OK && w.out[i].status != ST_DEVICE)
            fail_msg("job %u: %d %s", i, (int)w.out[i].status, w.out[i].message);
    assert_true(st == ST_OK || st == ST_DEVICE);
    scene_close(&s);
}

/* A launcher that waits in a queue holds nobody up: neither the pool's opening, nor a run that the
 * others finish, nor its end. */
static void test_pool_late_member(void **state)
{
    (void)state;
    struct scene s;
    struct work w;
    struct dev_pool *p;
    struct dev_env env = fake_env();
    static const char *const specs[] = { "cuda:0" };
    const char *late[] = { worker_line("%S worker"), worker_line("sleep 30; %S worker") };
    const char *soon[] = { worker_line("%S worker"), worker_line("sleep 0.3; exec %S worker") };
    fake_use("libcuda.so.1", NULL, NULL);
    scene_open(&s, N, N / 2, NULL);
    make_work(&w, &s);
    struct dev_pool_code code = { "conf.ptx", { s.ptx, s.nptx }, STR("conf_bump"), NULL };
    int64_t from = base_now_ns();
    env.nworkers = 2;
    env.workers = late;
    assert_int_equal(dev_pool_open(specs, 1, &env, &p, &s.ds), ST_OK);
    assert_int_equal(dev_pool_run(p, &s.data, &code, 1, w.jobs, JOBS, NULL, w.out, &s.ds), ST_OK);
    all_right(&w);
    dev_pool_close(p);
    assert_true(base_now_ns() - from < 10000000000);
    env.workers = soon;
    assert_int_equal(dev_pool_open(specs, 1, &env, &p, &s.ds), ST_OK);
    assert_int_equal(dev_pool_run(p, &s.data, &code, 1, w.jobs, JOBS, NULL, w.out, &s.ds), ST_OK);
    assert_int_equal(dev_pool_count(p), 2);
    assert_int_equal(dev_pool_run(p, &s.data, &code, 1, w.jobs, JOBS, NULL, w.out, &s.ds), ST_OK);
    all_right(&w);
    dev_pool_close(p);
    scene_close(&s);
}

static void cancel_after_three(void *ctx, size_t job, const struct result *r)
{
    (void)job;
    (void)r;
    struct {
        int n;
        int64_t asked;
        struct cancel c;
    } *x = ctx;
    if (++x->n != 3)
        return;
    x->asked = base_now_ns();
    atomic_store(&x->c.asked, true);
}

/* Nanoseconds from the wish to the end. */
static int64_t pool_cancelled(void)
{
    static const char *const specs[] = { "cuda:0", "cuda:1" };
    struct {
        int n;
        int64_t asked;
        struct cancel c;
    } x = { 0 };
    struct scene s;
    struct work w;
    struct dev_pool *p;
    struct dev_env env = fake_env();
    fake_use("libcuda.so.1", "slow,devices=2", NULL);
    scene_open(&s, N, N / 2, NULL);
    make_work(&w, &s);
    struct dev_pool_code code = { "conf.ptx", { s.ptx, s.nptx }, STR("conf_bump"), NULL };
    struct dev_pool_watch watch = { .done = cancel_after_three, .ctx = &x, .cancel = &x.c };
    for (size_t i = 0; i < JOBS; i++)
        w.out[i] = result_empty();
    assert_int_equal(dev_pool_open(specs, 2, &env, &p, &s.ds), ST_OK);
    assert_int_equal(dev_pool_count(p), 2);
    assert_int_equal(dev_pool_run(p, &s.data, &code, 1, w.jobs, JOBS, &watch, w.out, &s.ds),
                     ST_CANCELLED);
    int64_t took = base_now_ns() - x.asked;
    int done = 0;
    for (size_t i = 0; i < JOBS; i++)
        done += w.out[i].status == ST_OK;
    assert_true(done >= 3);
    assert_true(done < JOBS);
    dev_pool_close(p);
    scene_close(&s);
    return took;
}

static void test_pool_cancel(void **state)
{
    (void)state;
    int64_t least = INT64_MAX;
    /* until once it was in time: the machine may be busy */
    for (int i = 0; i < 5 && least >= 1000000000; i++) {
        int64_t took = pool_cancelled();
        least = took < least ? took : least;
    }
    assert_in_range(least / 1000000, 0, 999);
}

/* `test_dev_worker through LAUNCHER`: one launch and a pool whose workers all go through it
 * (tests/conformance/slurm.sh). */
static const char *launcher;
static void test_through(void **state)
{
    (void)state;
    char line[PATH_MAX + 512];
    struct scene s;
    struct work w;
    size_t left;
    const char *workers[] = { line, line, worker_line("%S worker") };
    snprintf(line, sizeof line, "%s %s worker", launcher, fake_self());
    fake_use("libcuda.so.1", NULL, NULL);
    works_through(line);
    scene_open(&s, N, N / 2, NULL);
    make_work(&w, &s);
    struct dev_pool_code code = { "conf.ptx", { s.ptx, s.nptx }, STR("conf_bump"), NULL };
    assert_int_equal(run_pool(&s, workers, 3, &code, 1, w.jobs, w.out, &left), ST_OK);
    assert_int_equal(left, 3);
    all_right(&w);
    scene_close(&s);
}

int main(int argc, char **argv)
{
    int code;
    if (fake_worker_main(argc, argv, &code))
        return code;
    if (argc == 3 && !strcmp(argv[1], "through")) {
        const struct CMUnitTest one[] = { cmocka_unit_test(test_through) };
        launcher = argv[2];
        return cmocka_run_group_tests_name("workers through a launcher", one, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diags_travel),
        cmocka_unit_test(test_result_travels),
        cmocka_unit_test(test_preset_travels),
        cmocka_unit_test(test_run_travels),
        cmocka_unit_test(test_fields_have_names),
        cmocka_unit_test(test_missing_fields_are_named),
        cmocka_unit_test(test_marks_travel),
        cmocka_unit_test(test_damaged_marks),
        cmocka_unit_test(test_damaged_payloads),
        cmocka_unit_test(test_greeting_after_noise),
        cmocka_unit_test(test_frame_limits),
        cmocka_unit_test(test_nonsense_requests),
        cmocka_unit_test(test_local_worker),
        cmocka_unit_test(test_no_dead_children),
        cmocka_unit_test(test_launchers),
        cmocka_unit_test(test_launcher_fails),
        cmocka_unit_test(test_one_gpu_alone),
        cmocka_unit_test(test_list_elsewhere),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_pool_dying_worker),
        cmocka_unit_test(test_pool_deadly_job),
        cmocka_unit_test(test_pool_without_devices),
        cmocka_unit_test(test_pool_late_member),
        cmocka_unit_test(test_pool_cancel),
    };
    return cmocka_run_group_tests_name("workers and pools", tests, NULL, NULL);
}
