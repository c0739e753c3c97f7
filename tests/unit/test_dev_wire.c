/* The transport of the worker protocol where the system gives it little: a pipe of one page that does
 * not block, so that writes are short or refused, and signals to both ends all the time, so that every
 * call may be interrupted. */
#include "engine/dev/worker/wire.h"
#include "tests/support.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAGE    4096
#define SOON_NS INT64_C(60000000000)

static const size_t sizes[] = { 0, 1, 15, PAGE - 17, PAGE - 16, PAGE, 70000, WIRE_CHUNK, 3 };
static atomic_uint interrupted;
static void note(int sig)
{
    (void)sig;
    atomic_fetch_add(&interrupted, 1);
}

static void fill(struct buf *b, size_t i)
{
    buf_clear(b);
    for (size_t k = 0; k < sizes[i]; k += 8) {
        uint64_t v = base_splitmix(i, k);
        buf_put(b, (const char *)&v, sizes[i] - k < 8 ? sizes[i] - k : 8);
    }
}

struct end {
    int fd;
    bool ok;
};
static void *send_all(void *ctx)
{
    struct end *e = ctx;
    struct buf b = { 0 };
    e->ok = true;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        fill(&b, i);
        e->ok = e->ok && wire_send(e->fd, &(struct wire_frame){ WIRE_BYTES, i, 7 }, &b, INT64_MAX, NULL);
    }
    buf_free(&b);
    return NULL;
}

struct pest {
    pthread_t to[2];
    atomic_bool stop;
};
static void *interrupt(void *ctx)
{
    struct pest *p = ctx;
    for (unsigned i = 0; !atomic_load(&p->stop); i++) {
        pthread_kill(p->to[i % 2], SIGUSR1);
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    }
    return NULL;
}

static void short_writes_and_signals(void **state)
{
    int fd[2];
    struct sigaction act = { .sa_handler = note }; /* no SA_RESTART */
    struct end from = { .ok = false };
    struct pest pest = { .to = { pthread_self() } };
    pthread_t pester;
    struct buf got = { 0 }, want = { 0 };
    (void)state;
    assert_int_equal(pipe(fd), 0);
    assert_true(fcntl(fd[1], F_SETPIPE_SZ, PAGE) >= 0);
    assert_int_equal(fcntl(fd[1], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
    from.fd = fd[1];
    struct wire_stream in = { .fd = fd[0] };
    assert_int_equal(pthread_create(&pest.to[1], NULL, send_all, &from), 0);
    assert_int_equal(pthread_create(&pester, NULL, interrupt, &pest), 0);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct wire_frame f = { .type = WIRE_GREETING };
        assert_int_equal(wire_recv(&in, base_now_ns() + SOON_NS, NULL, &f, &got), WIRE_OK);
        fill(&want, i);
        assert_int_equal(f.type, WIRE_BYTES);
        assert_int_equal(f.number, i);
        assert_int_equal(f.part, 7);
        assert_int_equal(got.n, sizes[i]);
        assert_true(!got.n || memcmp(got.s, want.s, got.n) == 0);
    }
    atomic_store(&pest.stop, true);
    pthread_join(pester, NULL);
    pthread_join(pest.to[1], NULL);
    assert_true(from.ok);
    assert_true(atomic_load(&interrupted) > 0);
    close(fd[0]);
    close(fd[1]);
    buf_free(&got);
    buf_free(&want);
}

/* A reader that has stopped: the sender waits, in spite of signals, until it is cancelled, and says so.
 */
static void *cancel_when_interrupted(void *ctx)
{
    struct {
        struct pest pest;
        struct cancel c;
    } *x = ctx;
    /* more than there are looks in the time that a send may take */
    for (unsigned i = 0; i < 3000; i++) {
        pthread_kill(x->pest.to[0], SIGUSR1);
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    }
    atomic_store(&x->c.asked, true);
    return NULL;
}

static void stopped_reader(void **state)
{
    int fd[2];
    struct sigaction act = { .sa_handler = note };
    struct {
        struct pest pest;
        struct cancel c;
    } x = { .pest = { .to = { pthread_self() } } };
    struct buf b = { 0 };
    pthread_t t;
    (void)state;
    fill(&b, 6);
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(fcntl(fd[1], F_SETFL, O_NONBLOCK), 0);
    assert_true(fcntl(fd[1], F_SETPIPE_SZ, PAGE) >= 0);
    assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
    assert_int_equal(pthread_create(&t, NULL, cancel_when_interrupted, &x), 0);
    assert_false(wire_send(fd[1], &(struct wire_frame){ .type = WIRE_BYTES }, &b, INT64_MAX, &x.c));
    assert_true(atomic_load(&x.c.asked)); /* and not before */
    pthread_join(t, NULL);
    close(fd[0]);
    close(fd[1]);
    buf_free(&b);
}

/* ---- frames as bytes ---- */
/* A pipe that holds what wire_send makes of one frame. */
static size_t frame_bytes(uint8_t *out, size_t most)
{
    int fd[2];
    struct buf b = { 0 };
    buf_puts(&b, "a payload");
    assert_int_equal(pipe(fd), 0);
    assert_true(wire_send(fd[1], &(struct wire_frame){ WIRE_BYTES, 5, 2 }, &b, INT64_MAX, NULL));
    ssize_t n = read(fd[0], out, most);
    assert_int_equal(n, WIRE_HEAD + 9 + 1);
    close(fd[0]);
    close(fd[1]);
    buf_free(&b);
    return (size_t)n;
}

static void every_flipped_bit_is_seen(void **state)
{
    (void)state;
    uint8_t whole[64];
    size_t n = frame_bytes(whole, sizeof whole);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        int fd[2];
        struct wire_frame f;
        struct buf b = { 0 };
        uint8_t hurt[64];
        memcpy(hurt, whole, n);
        hurt[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(pipe(fd), 0);
        assert_int_equal(write(fd[1], hurt, n), n);
        close(fd[1]);
        struct wire_stream in = { .fd = fd[0] };
        assert_int_equal(wire_recv(&in, INT64_MAX, NULL, &f, &b), WIRE_BAD);
        close(fd[0]);
        buf_free(&b);
    }
}

/* A time that is over, and a cancel, end the wait after every byte; the frame is whole all the same when
 * the rest has come. */
static void waits_are_given_up_and_taken_up(void **state)
{
    (void)state;
    uint8_t whole[64];
    size_t n = frame_bytes(whole, sizeof whole);
    int fd[2];
    struct wire_frame f = { .type = WIRE_REPLY };
    struct buf b = { 0 };
    struct cancel c = { .asked = true };
    assert_int_equal(pipe(fd), 0);
    struct wire_stream in = { .fd = fd[0] };
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(wire_recv(&in, 0, NULL, &f, &b), WIRE_TIMEOUT);
        assert_int_equal(wire_recv(&in, INT64_MAX, &c, &f, &b), WIRE_CANCELLED);
        assert_int_equal(write(fd[1], whole + i, 1), 1);
    }
    assert_int_equal(wire_recv(&in, 0, NULL, &f, &b), WIRE_OK); /* late, but there */
    assert_int_equal(f.type, WIRE_BYTES);
    assert_int_equal(f.number, 5);
    assert_int_equal(f.part, 2);
    assert_string_equal(b.s, "a payload");
    close(fd[0]);
    close(fd[1]);
    buf_free(&b);
}

/* An end that reads nothing: the time of a send is for all of the frame. */
static void sends_end_in_time(void **state)
{
    (void)state;
    int fd[2];
    struct buf b = { 0 };
    fill(&b, 6);
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(fcntl(fd[1], F_SETFL, O_NONBLOCK), 0);
    assert_true(fcntl(fd[1], F_SETPIPE_SZ, PAGE) >= 0);
    assert_false(
        wire_send(fd[1], &(struct wire_frame){ .type = WIRE_BYTES }, &b, base_now_ns() + 1000000, NULL));
    close(fd[0]);
    close(fd[1]);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(short_writes_and_signals),
                                        cmocka_unit_test(stopped_reader),
                                        cmocka_unit_test(every_flipped_bit_is_seen),
                                        cmocka_unit_test(waits_are_given_up_and_taken_up),
                                        cmocka_unit_test(sends_end_in_time) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
