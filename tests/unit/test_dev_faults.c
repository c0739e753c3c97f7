/* A worker that fails at every step of the protocol: `test_dev_faults relay MODE N MARK` stands between
 * the two sides, counts frames, and does harm at the N-th once (it takes MARK away first). Whatever the
 * step, the call under way says what happened, the next try gets a new worker, and the results are
 * right. Garbage in a reply costs a try, never the program. */
#include "engine/dev/worker/wire.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/data.h"
#include "engine/rec/result.h"
#include "tests/unit/dev_scene.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define N     256u
#define HEAD  WIRE_HEAD
#define TRIES 3

/* ---- the relay ---- */
enum harm { KILL_IN, KILL_OUT, CUT_HEAD, CUT_BODY, BAD_MAGIC, BAD_LENGTH, BAD_BODY, TALK, HARMS };
static const char *const HARM[] = { "kill-in",   "kill-out",   "cut-head", "cut-body",
                                    "bad-magic", "bad-length", "bad-body", "talk" };
struct relay {
    enum harm harm;
    long at;
    bool armed;
    int to, from;
    pid_t worker;
};

static bool read_full(int fd, uint8_t *p, size_t n)
{
    while (n) {
        ssize_t k = read(fd, p, n);
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

static void write_full(int fd, const uint8_t *p, size_t n)
{
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k <= 0)
            return;
        p += k;
        n -= (size_t)k;
    }
}

/* One frame with head and newline; NULL at the end. */
static uint8_t *next_frame(int fd, size_t *n)
{
    uint8_t head[HEAD];
    if (!read_full(fd, head, HEAD))
        return NULL;
    size_t body = 0;
    for (unsigned i = 8; i-- > 0;)
        body = body << 8 | head[8 + i];
    /* shorter than a head: what was read of HELLO goes with it */
    bool greeting = head[4] == WIRE_GREETING;
    size_t rest = greeting ? WIRE_GREET : body + 1;
    uint8_t *p = malloc(HEAD + rest);
    if (!p)
        exit(3);
    memcpy(p, head, HEAD);
    if (greeting) { /* the length stands further on */
        if (!read_full(fd, p + HEAD, WIRE_GREET))
            exit(3);
        rest = WIRE_GREET + p[WIRE_GREET + 8] + 1u;
        p = realloc(p, HEAD + rest);
        if (!p || !read_full(fd, p + HEAD + WIRE_GREET, rest - WIRE_GREET))
            exit(3);
    } else if (!read_full(fd, p + HEAD, rest)) {
        exit(3);
    }
    *n = HEAD + rest;
    return p;
}

static void die(const struct relay *r)
{
    kill(r->worker, SIGKILL);
    _exit(3);
}

static void *inward(void *ctx)
{
    struct relay *r = ctx;
    size_t n;
    uint8_t *p;
    for (long i = 1; (p = next_frame(0, &n)); i++, free(p)) {
        if (r->armed && r->harm == KILL_IN && i == r->at)
            die(r);
        write_full(r->to, p, n);
    }
    close(r->to);
    return NULL;
}

static void do_harm(const struct relay *r, uint8_t *p, size_t n)
{
    switch (r->harm) {
    case KILL_OUT: die(r); break;
    case CUT_HEAD:
        write_full(1, p, HEAD / 2);
        die(r);
        break;
    case CUT_BODY:
        write_full(1, p, n > HEAD + 1 ? HEAD + (n - HEAD) / 2 : n - 1);
        die(r);
        break;
    case BAD_MAGIC: p[1] = 'x'; break;
    case BAD_LENGTH: p[14] = 0x7f; break;
    case BAD_BODY:
        for (size_t i = HEAD; i + 1 < n; i++)
            p[i] = (uint8_t)(base_splitmix((uint64_t)r->at, i) % 3 ? p[i] : base_splitmix(7, i));
        break;
    case TALK: write_full(1, (const uint8_t *)"a library says hello on standard output\n", 40); break;
    default: break;
    }
    write_full(1, p, n);
}

static int relay(char **argv)
{
    int to[2], from[2];
    struct relay r = { .at = strtol(argv[3], NULL, 10), .armed = unlink(argv[4]) == 0 };
    pthread_t thread;
    for (int h = 0; h < HARMS; h++)
        r.harm = strcmp(HARM[h], argv[2]) ? r.harm : (enum harm)h;
    if (pipe(to) || pipe(from) || (r.worker = fork()) < 0)
        return 3;
    if (!r.worker) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[1]);
        close(from[0]);
        execl(fake_self(), "worker", "worker", (char *)NULL);
        _exit(3);
    }
    close(to[0]);
    close(from[1]);
    r.to = to[1];
    r.from = from[0];
    if (pthread_create(&thread, NULL, inward, &r))
        return 3;
    size_t n;
    uint8_t *p;
    for (long i = 1; (p = next_frame(r.from, &n)); i++, free(p)) {
        if (r.armed && r.harm != KILL_IN && i == r.at)
            do_harm(&r, p, n);
        else
            write_full(1, p, n);
    }
    _exit(0);
}

/* ---- the other side ---- */
struct user {
    struct scene s;
    struct dev *d;
    struct dev_code *c;
    struct dev_data *b;
    struct result r;
    char command[1600], mark[40];
    unsigned failures;
    const char *what;
};

static enum status open_it(struct user *u)
{
    const char *workers[] = { u->command };
    struct dev_env env = fake_env();
    env.workers = workers;
    env.nworkers = 1;
    return dev_open("cuda:0", &env, &u->d, &u->s.ds);
}

static enum status load_it(struct user *u)
{
    return scene_load(&u->s, u->d, &u->c);
}
static enum status bind_it(struct user *u)
{
    return dev_bind(u->d, &u->s.data, &u->b, &u->s.ds);
}

static enum status launch_it(struct user *u)
{
    struct dev_run run = scene_run(&u->s);
    run.repeat = run.max_repeat = 1;
    u->r = result_empty();
    enum status st = dev_launch(u->d, u->c, u->b, &run, &u->r, &u->s.ds);
    if (st == ST_OK && u->r.status != ST_OK)
        assert_true(u->r.message[0] || strstr(u->what, "bad-body"));
    bool right = st == ST_OK && u->r.status == ST_OK && u->r.noutputs == 1 &&
                 u->r.outputs[0].hash == scene_hash(N, 5);
    return right ? ST_OK : ST_DEVICE;
}

static enum status read_it(struct user *u)
{
    uint32_t got[N];
    enum status st = dev_read_arg(u->d, u->b, 0, got, sizeof got, &u->s.ds);
    for (uint32_t i = 0; st == ST_OK && i < N; i++)
        st = got[i] == i + 5 ? ST_OK : ST_DIFFER;
    if (st != ST_OK)
        launch_it(u); /* what a lost worker had computed is gone with it */
    return st;
}

static enum status ask_it(struct user *u)
{
    struct dev_counters c;
    enum status st = dev_counters(u->d, &c, &u->s.ds);
    return st == ST_OK && !strcmp(c.chip, "FK100") && c.of[COUNTER_L1_REQUESTS].valid ? ST_OK
                                                                                      : ST_DEVICE;
}

static enum status close_it(struct user *u)
{
    dev_unbind(u->d, u->b);
    dev_unload(u->d, u->c);
    dev_close(u->d);
    return ST_OK;
}

/* All steps; false: the relay never came to its frame. */
static bool goes_on(enum harm harm, long at)
{
    static enum status (*const STEP[])(struct user * u) = { open_it,   load_it, bind_it,
                                                            launch_it, read_it, ask_it,
                                                            launch_it, read_it, close_it };
    static struct user u;
    char what[64];
    memset(&u, 0, sizeof u);
    u.what = what;
    snprintf(what, sizeof what, "%s at frame %ld", HARM[harm], at);
    snprintf(u.mark, sizeof u.mark, "/tmp/gpulocw-fault-XXXXXX");
    int fd = mkstemp(u.mark);
    assert_true(fd >= 0);
    close(fd);
    snprintf(u.command, sizeof u.command, "exec '%s' relay %s %ld %s", fake_self(), HARM[harm], at,
             u.mark);
    scene_open(&u.s, N, N / 2, NULL);
    for (size_t i = 0; i < ARRAY_LEN(STEP); i++) {
        unsigned tries = 0;
        size_t said = u.s.ds.errors;
        while (STEP[i](&u) != ST_OK) {
            if (STEP[i] != launch_it && STEP[i] != ask_it && harm != BAD_BODY && u.s.ds.errors == said)
                fail_msg("%s, step %zu: nothing was said", what, i);
            if (++tries == TRIES)
                fail_msg("%s, step %zu: %s %s", what, i, u.s.ds.n ? u.s.ds.v[u.s.ds.n - 1].msg : "",
                         u.r.message);
        }
        u.failures += tries;
    }
    unlink(u.mark);
    scene_close(&u.s);
    if (harm != BAD_BODY)
        assert_true(u.failures <= 1);
    return u.failures > 0;
}

/* At every frame until one run goes through untouched; the steps after the last reply have no one to
 * notice. A greeting that is none is what launchers print, and skipped until the time for starting is
 * over. */
static void every_frame(enum harm harm)
{
    long hit = 0, calm = 0;
    fake_use("libcuda.so.1", NULL, NULL);
    for (long at = harm == BAD_MAGIC || harm == BAD_LENGTH ? 2 : 1; calm < 2 && at < 40; at++) {
        bool failed = goes_on(harm, at);
        hit += failed;
        calm = failed || at < 9 ? 0 : calm + 1;
    }
    assert_true(calm == 2);
    if (hit < (harm == BAD_BODY ? 2 : 6))
        fail_msg("%s: only %ld steps noticed", HARM[harm], hit);
}

static void test_killed_before_a_request(void **state)
{
    (void)state;
    every_frame(KILL_IN);
}
static void test_killed_before_a_reply(void **state)
{
    (void)state;
    every_frame(KILL_OUT);
}
static void test_frames_cut_short(void **state)
{
    (void)state;
    every_frame(CUT_HEAD);
    every_frame(CUT_BODY);
}
static void test_frames_garbled(void **state)
{
    (void)state;
    every_frame(BAD_MAGIC);
    every_frame(BAD_LENGTH);
}
static void test_payloads_garbled(void **state)
{
    (void)state;
    every_frame(BAD_BODY);
}
static void test_talk_between_frames(void **state)
{
    (void)state;
    every_frame(TALK);
}

int main(int argc, char **argv)
{
    int code;
    if (fake_worker_main(argc, argv, &code))
        return code;
    if (argc == 5 && !strcmp(argv[1], "relay"))
        return relay(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_before_a_request), cmocka_unit_test(test_killed_before_a_reply),
        cmocka_unit_test(test_frames_cut_short),        cmocka_unit_test(test_frames_garbled),
        cmocka_unit_test(test_payloads_garbled),        cmocka_unit_test(test_talk_between_frames),
    };
    return cmocka_run_group_tests_name("workers that fail at every step", tests, NULL, NULL);
}
