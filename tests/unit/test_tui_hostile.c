/* Files of strangers on a real terminal: every byte that the program sends is looked at. */
#include "tests/support.h"

#include "tests/terminal/pty.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ESC ] sets a title, BEL ends it, ESC [ 31 m a colour; C1, DEL, a turned direction */
#define EVIL    "\033]0;OWNED\007 \033[31m \302\2331m \177 \342\200\256"
#define COMMENT "// ^" EVIL "\n"

struct sent {
    char s[1 << 20];
    size_t n;
};

/* Reads until the screen shows a text, and keeps the bytes. */
static bool keep_until(struct session *s, struct sent *all, const char *text)
{
    int64_t t0 = now_ms();
    while (!vt_shows(&s->vt, text)) {
        struct pollfd p = { s->fd, POLLIN, 0 };
        if (now_ms() - t0 > PTY_LIMIT_MS || all->n + 1 >= sizeof all->s)
            return false;
        if (poll(&p, 1, 20) <= 0)
            continue;
        ssize_t n = read(s->fd, all->s + all->n, sizeof all->s - all->n - 1);
        if (n <= 0)
            return false;
        vt_feed(&s->vt, all->s + all->n, (size_t)n);
        all->n += (size_t)n;
    }
    return true;
}

static bool sent(const struct sent *all, const char *bytes)
{
    return memmem(all->s, all->n, bytes, strlen(bytes)) != NULL;
}

static void assert_harmless(const struct sent *all)
{
    assert_true(all->n > 0);
    assert_false(sent(all, "\033]0"));
    assert_false(sent(all, "\007"));
    assert_false(sent(all, "\033[31m"));
    assert_false(sent(all, "\302\233"));
    assert_false(sent(all, "\177"));
    assert_false(sent(all, "\342\200\256"));
}

static void put(const char *path, const char *text)
{
    struct diags ds = { 0 };
    assert_status_ok(file_write_atomic(path, text, strlen(text), &ds), &ds);
    diags_free(&ds);
}

static const char *ptx_file(void)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/escape.ptx", pty_scratch());
    put(path, ".version 7.0\n.target sm_80\n.address_size 64\n" COMMENT
              ".visible .entry k(.param .u64 p) {.reg .b64 %rd1; .reg .b32 %r1; ld.param.u64 %rd1,[p];\n"
              " /*" EVIL "*/ ld.global.u32 %r1,[%rd1]; st.global.u32 [%rd1],%r1; ret; }\n");
    return path;
}

static void leave(struct session *s)
{
    keys(s, "\033\021");
    assert_true(wait_end(s, PTY_LIMIT_MS));
    assert_true(WIFEXITED(s->status));
    assert_int_equal(WEXITSTATUS(s->status), 0);
    finish(s);
}

static void refused(struct session *s)
{
    assert_true(wait_end(s, PTY_LIMIT_MS));
    assert_true(WIFEXITED(s->status));
    assert_int_equal(WEXITSTATUS(s->status), 2);
    finish(s);
}

static void comments_of_ptx(void **state)
{
    const char *const file[] = { ptx_file(), "--device", "sim:fermi-16k", NULL };
    static struct sent all;
    struct session s;
    (void)state;
    start(&s, 120, 30, NULL, file);
    assert_true(keep_until(&s, &all, "What limits it"));
    keys(&s, "1");
    assert_true(keep_until(&s, &all, "ld.global"));
    keys(&s, "\033[1~gg");
    assert_true(keep_until(&s, &all, "^?]0;OWNED"));
    assert_harmless(&all);
    leave(&s);
}

static void key_maps_and_settings(void **state)
{
    const char *const file[] = { ptx_file(), "--device", "sim:fermi-16k", NULL };
    static struct sent all;
    struct session s;
    char path[200];
    (void)state;
    snprintf(path, sizeof path, "%s/gpulocw", pty_scratch());
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/gpulocw/keys", pty_scratch());
    put(path, "quit = " EVIL "\n" EVIL " = q\n");
    start(&s, 120, 30, NULL, file);
    assert_true(keep_until(&s, &all, "What limits it"));
    keys(&s, "1");
    assert_true(keep_until(&s, &all, "ld.global"));
    keys(&s, "9");
    assert_true(keep_until(&s, &all, "keys:1"));
    assert_harmless(&all);
    leave(&s);
    remove(path);
}

static void themes(void **state)
{
    static struct sent all;
    char path[200];
    const char *const file[] = { ptx_file(), "--theme", path, "--device", "sim:fermi-16k", NULL };
    struct session s;
    (void)state;
    snprintf(path, sizeof path, "%s/evil.theme", pty_scratch());
    put(path, "text = " EVIL "\n" EVIL " = red\n");
    /* told at the prompt, without what would act on the terminal */
    start(&s, 120, 30, NULL, file);
    assert_true(keep_until(&s, &all, "evil.theme:1"));
    assert_harmless(&all);
    refused(&s);
    /* a pipe is no theme: nobody waits for a writer */
    remove(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    start(&s, 120, 30, NULL, file);
    assert_true(wait_for(&s, "evil.theme", PTY_LIMIT_MS) >= 0);
    refused(&s);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(comments_of_ptx),
                                        cmocka_unit_test(key_maps_and_settings),
                                        cmocka_unit_test(themes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
