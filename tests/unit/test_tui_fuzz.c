/* Random keys, mouse events, resizes, clock steps and snapshots. Nothing may crash,
 * draw outside the surface or get stuck. GPULOCW_FUZZ_SECONDS makes it longer,
 * GPULOCW_FUZZ_SEED another storm: `make fuzz` takes a new one each time. */
#include "tui/base/text.h"
#include "engine/rec/result.h"
#include "tui/control/control.h"

#include "tests/support.h"

#include "tests/terminal/stage.h"

#include <stdlib.h>
#include <unistd.h>

struct noise {
    uint64_t seed, n;
};

static uint64_t next(struct noise *r, uint64_t below)
{
    return base_splitmix(r->seed, r->n++) % below;
}

static uint32_t any_key(struct noise *r, const struct keymap *m)
{
    static const char *const typed[] = { "pi 3",       "sweep",           "grid",         "carveout",
                                         "8x8",        "line 12",         "panel valley", "replay play",
                                         "plot block", "set bypass l1+l2" };
    static struct {
        const char *s;
    } now;
    if (now.s && *now.s) /* goes on typing a text */
        return (uint8_t)*now.s++;
    switch (next(r, 20)) {
    case 0: return (uint32_t)(0x20 + next(r, 0x60));
    case 1: return (uint32_t)(0x100 + next(r, 0x20000));
    case 2: now.s = typed[next(r, ARRAY_LEN(typed))]; return ':';
    case 3: return TK_ENTER;
    case 4: return TK_TAB;
    default: return m->v[next(r, m->n)].key;
    }
}

static struct event any_event(struct noise *r, const struct app *a)
{
    struct event e = { .kind = EVENT_KEY };
    switch (next(r, 30)) {
    case 0:
        e = (struct event){ .kind = EVENT_RESIZE,
                            .x = (int)next(r, 4) ? (int)next(r, 150) + 1 : (int)next(r, 25),
                            .y = (int)next(r, 60) };
        break;
    case 1:
    case 2:
    case 3:
        e = (struct event){ .kind = EVENT_MOUSE,
                            .mouse = (enum mouse_what)next(r, 5),
                            .x = (int)next(r, (uint64_t)a->w + 3),
                            .y = (int)next(r, (uint64_t)a->h + 2) };
        break;
    case 4: e.kind = EVENT_TICK; break;
    default: e.key = any_key(r, &a->keys);
    }
    return e;
}

/* Cells hold drawable characters, and wide ones their second half. */
static void check_surface(const struct surface *s)
{
    for (int y = 0; y < s->h; y++)
        for (int x = 0; x < s->w; x++) {
            const struct cell *c = &s->cell[(size_t)y * (size_t)s->w + (size_t)x];
            assert_true(c->role < ROLE_COUNT);
            if (c->cp)
                assert_int_equal(cp_width(c->cp), x + 1 < s->w && c[1].cp == 0 ? 2 : 1);
            else {
                assert_true(x > 0);
                assert_true(cp_width(c[-1].cp) == 2);
            }
        }
}

/* A snapshot of its own in place of the last one, which ends at once: a line that still points into
 * its texts is a use after free that the sanitizers see. */
static void other_snapshot(struct app *a, struct noise *r, const char *home, struct job_snapshot **last)
{
    assert_int_equal(chdir(home), 0); /* its PTX is named from there */
    struct job_snapshot *fresh = snapshot_make((enum snapshot_kind)next(r, SNAP_COUNT));
    assert_int_equal(chdir(support_scratch()), 0);
    app_snapshot(a, fresh);
    if (*last)
        snapshot_free(*last);
    *last = fresh;
}

static void storm(void **state)
{
    const char *seconds = getenv("GPULOCW_FUZZ_SECONDS"), *seed = getenv("GPULOCW_FUZZ_SEED");
    struct noise r = { seed ? strtoull(seed, NULL, 0) : 1, 0 };
    int64_t end = base_now_ns() + (int64_t)((seconds ? atof(seconds) : 2) * 1e9);
    struct job_snapshot *last = NULL;
    struct stage t;
    uint64_t events = 0;
    char keep[4096];
    (void)state;
    /* first: a crash tells nothing later */
    fprintf(stderr, "seed %llu\n", (unsigned long long)r.seed);
    assert_non_null(getcwd(keep, sizeof keep));
    stage_open(&t, SNAP_DONE, 80, 24);
    assert_int_equal(chdir(support_scratch()), 0); /* exports land there */
    while (base_now_ns() < end) {
        uint64_t often = events / 500 % 2 ? 3 : 60;
        struct event e = any_event(&r, &t.app);
        t.app.now_ns += (int64_t)next(&r, 1000000000);
        if (next(&r, often) == 0) {
            other_snapshot(&t.app, &r, keep, &last);
            if (next(&r, 2)) /* what comes before the next frame finds no line of the old texts */
                app_event(&t.app, &(struct event){ .kind = EVENT_TICK });
            if (next(&r, 2))
                stage_frame(&t);
        }
        unsigned effect =
            e.kind == EVENT_MOUSE ? screen_mouse(&t.app, &t.map, &e) : app_event(&t.app, &e);
        if (effect & UI_LEAVE)
            t.app.overlay = OVERLAY_NONE;
        stage_frame(&t);
        check_surface(&t.s);
        events++;
    }
    assert_int_equal(chdir(keep), 0);
    fprintf(stderr, "%llu events\n", (unsigned long long)events);
    stage_close(&t);
    if (last)
        snapshot_free(last);
}

/* Themes, settings, key maps and lessons out of noise: located mistakes, never a crash. */
static void files(void **state)
{
    static const char words[] =
        "name = text # on bold mono #12ab 9 \n\t\xff quit = C-x theme mouse plot\n==";
    struct noise r = { 3, 0 };
    (void)state;
    for (int i = 0; i < 3000; i++) {
        char text[200];
        struct theme t;
        struct keymap m;
        struct diags ds = { 0 };
        size_t n = next(&r, sizeof text);
        for (size_t k = 0; k < n; k++)
            text[k] = words[next(&r, sizeof words - 1)];
        char *copy = malloc(n + 1);
        memcpy(copy, text, n);
        theme_parse("t", (struct str){ copy, n }, &t, &ds);
        keymap_default(&m);
        keymap_parse(&m, "k", (struct str){ copy, n }, &ds);
        for (size_t k = 0; k < ds.n; k++)
            assert_true(ds.v[k].at.off + ds.v[k].at.len <= n);
        free(copy);
        diags_free(&ds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(storm), cmocka_unit_test(files) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
