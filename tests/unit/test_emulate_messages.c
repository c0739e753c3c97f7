/* A program that tells the process beside it anything at all: it ends the conversation, nothing else. */
#include "engine/base/base.h"
#include "engine/emulate/emulate_int.h"
#include "engine/sim/preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#define FILE_BYTES (1u << 20)
#define BASE       0x200000000000ull

static const size_t sizes[] = {
#define X(kind, record) sizeof(struct record),
    WIRE_KINDS(X)
#undef X
};
static struct emulate_want want;
static struct emulate_seen seen;
static struct emulation emulation = { .want = &want, .seen = &seen, .lock = PTHREAD_MUTEX_INITIALIZER };

static void *serve(void *ctx)
{
    guest_serve(&emulation, *(int *)ctx);
    return NULL;
}

/* What is answered is read and dropped. */
static void *drop(void *ctx)
{
    char b[4096];
    while (recv(*(int *)ctx, b, sizeof b, 0) > 0)
        ;
    return NULL;
}

static void hello(int s, uint64_t bytes)
{
    struct {
        struct wire_head h;
        struct wire_hello r;
    } m = { { WIRE_HELLO, 0, sizeof m.r }, { BASE, bytes, 1 } };
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr head;
    } beside = { .bytes = { 0 } };
    struct iovec v = { &m, sizeof m };
    struct msghdr h = { .msg_iov = &v,
                        .msg_iovlen = 1,
                        .msg_control = beside.bytes,
                        .msg_controllen = sizeof beside.bytes };
    int f = memfd_create("test", MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(f, FILE_BYTES), 0);
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof f);
    memcpy(CMSG_DATA(c), &f, sizeof f);
    assert_true(sendmsg(s, &h, MSG_NOSIGNAL) > 0);
    close(f);
}

static uint64_t state = 7;
static uint64_t next(void)
{
    return base_splitmix(state++, 0);
}

/* Records of a right size, words that are often small or near the memory. */
static size_t message(uint8_t *to)
{
    struct wire_head h = { .kind = (uint32_t)(1 + next() % (WIRE_KIND_COUNT - 1)) };
    size_t more = next() % 3 ? next() % 200 : 0;
    h.bytes = sizes[h.kind] + more;
    for (size_t i = 0; i < h.bytes; i += 4) {
        uint32_t v = (uint32_t)next();
        v = next() % 4 ? v % 5 : next() % 2 ? (uint32_t)(BASE >> 32) : v;
        memcpy(to + sizeof h + i, &v, 4);
    }
    memcpy(to, &h, sizeof h);
    return sizeof h + h.bytes;
}

static void converse(uint64_t bytes, int messages)
{
    static uint8_t one[4096];
    pthread_t server, reader;
    int s[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
    assert_int_equal(pthread_create(&server, NULL, serve, &s[1]), 0);
    assert_int_equal(pthread_create(&reader, NULL, drop, &s[0]), 0);
    hello(s[0], bytes);
    for (int i = 0; i < messages; i++)
        if (send(s[0], one, message(one), MSG_NOSIGNAL) <= 0)
            break;
    shutdown(s[0], SHUT_WR);
    pthread_join(server, NULL);
    pthread_join(reader, NULL);
    close(s[0]);
}

static void any_messages_end_in_peace(void **unused)
{
    (void)unused;
    want.preset = sim_preset_default();
    unsigned before = seen.survey.processes;
    for (int i = 0; i < 200; i++)
        converse(FILE_BYTES, 40);
    assert_int_equal(seen.survey.processes - before, 200);
    emulate_free(&seen);
}

static void a_file_that_is_smaller_than_told_is_refused(void **unused)
{
    (void)unused;
    want.preset = sim_preset_default();
    seen = (struct emulate_seen){ 0 };
    converse(UINT64_C(1) << 30, 10);
    assert_int_equal(seen.survey.processes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_messages_end_in_peace),
                                        cmocka_unit_test(a_file_that_is_smaller_than_told_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
