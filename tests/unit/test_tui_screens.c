/* Screens as two planes, text and role letters, against goldens in
 * tests/golden/tui/. GPULOCW_UPDATE=1 writes them anew: look at the diff then.
 * With arguments it is a viewer: test_tui_screens PANEL WxH [KIND] [KEY ...]. */
#include "tests/support.h"
#include "engine/rec/result.h"

#include "tests/terminal/stage.h"

#include <stdlib.h>
#include <sys/stat.h>

/* What every used role becomes: truecolor in the built-in theme, and monochrome. */
static void dump_looks(const struct stage *t, struct buf *out)
{
    bool used[ROLE_COUNT] = { false };
    for (int i = 0; i < t->s.w * t->s.h; i++)
        used[t->s.cell[i].role] = true;
    buf_puts(out, "== looks: letter, dark, mono\n");
    for (int r = 0; r < ROLE_COUNT; r++) {
        if (!used[r])
            continue;
        struct buf dark = { 0 }, mono = { 0 };
        term_look(&dark, &t->app.theme.look[r], DEPTH_TRUE);
        term_look(&mono, &t->app.theme.look[r], DEPTH_MONO);
        buf_printf(out, "%c %s %s\n", role_letter((enum role)r), dark.s + 2, mono.s + 2);
        buf_free(&dark);
        buf_free(&mono);
    }
}

/* Text plane, role plane and selected cells. */
static void dump_planes(const struct surface *s, struct buf *out)
{
    buf_printf(out, "== text %dx%d\n", s->w, s->h);
    surface_plain(s, (struct rect){ 0, 0, s->w, s->h }, out);
    buf_puts(out, "== roles\n");
    for (int y = 0; y < s->h; y++) {
        const struct cell *row = &s->cell[(size_t)y * (size_t)s->w];
        int end = s->w;
        while (end > 0 && row[end - 1].role == ROLE_TEXT)
            end--;
        for (int x = 0; x < end; x++) {
            char l = role_letter((enum role)row[x].role);
            buf_put(out, &l, 1);
        }
        buf_puts(out, "\n");
    }
    for (int y = 0; y < s->h; y++)
        for (int x = 0, x0; x < s->w; x++) {
            const struct cell *row = &s->cell[(size_t)y * (size_t)s->w];
            if (!row[x].sel)
                continue;
            for (x0 = x; x + 1 < s->w && row[x + 1].sel; x++)
                ;
            buf_printf(out, "== selected row %d columns %d..%d\n", y, x0, x);
        }
    if (s->cursor_x >= 0)
        buf_printf(out, "== cursor %d %d\n", s->cursor_x, s->cursor_y);
}

static void check_golden(struct stage *t, const char *name)
{
    char path[256];
    struct buf now = { 0 };
    struct diags ds = { 0 };
    char *then = NULL;
    size_t n = 0;
    dump_planes(&t->s, &now);
    dump_looks(t, &now);
    snprintf(path, sizeof path, "tests/golden/tui/%s.txt", name);
    if (getenv("GPULOCW_UPDATE")) {
        mkdir("tests/golden/tui", 0777);
        assert_status_ok(file_write_atomic(path, now.s, now.n, &ds), &ds);
    }
    assert_status_ok(file_read(path, 1 << 22, &then, &n, &ds), &ds);
    if (n != now.n || memcmp(then, now.s, n)) {
        size_t i = 0, line = 1;
        for (; i < n && i < now.n && then[i] == now.s[i]; i++)
            line += then[i] == '\n';
        fail_msg("%s differs in line %zu (GPULOCW_UPDATE=1 writes it anew)", path, line);
    }
    base_free(then);
    buf_free(&now);
    diags_free(&ds);
}

static const struct {
    int w, h;
} sizes[] = { { 80, 24 }, { 120, 40 }, { 200, 60 }, { 40, 10 }, { 60, 15 } };

/* Every panel alone, in every size. */
static void panels(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        struct stage t;
        stage_open(&t, SNAP_DONE, sizes[k].w, sizes[k].h);
        t.app.zoomed = true;
        for (int p = 0; p < PANEL_COUNT; p++) {
            char name[64];
            app_focus(&t.app, (enum panel_id)p);
            stage_frame(&t);
            if (p == PANEL_SOURCE)
                stage_press(&t, "]");
            else if (p == PANEL_COALESCE)
                stage_press(&t, "j");
            snprintf(name, sizeof name, "%s-%dx%d", panel_info((enum panel_id)p)->name, sizes[k].w,
                     sizes[k].h);
            check_golden(&t, name);
        }
        stage_close(&t);
    }
}

/* Whole workspaces, from nothing open to a sweep at work. */
static void workspaces(void **state)
{
    static const char *const kinds[] = { "empty", "opened", "sweeping", "done" };
    (void)state;
    for (int kind = 0; kind < SNAP_COUNT; kind++)
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
            struct stage t;
            char name[64];
            if (kind != SNAP_DONE && k != 0 && k != 1)
                continue;
            stage_open(&t, (enum snapshot_kind)kind, sizes[k].w, sizes[k].h);
            app_focus(&t.app, kind >= SNAP_SWEEPING ? PANEL_VALLEY : PANEL_SOURCE);
            stage_frame(&t);
            snprintf(name, sizeof name, "workspace-%s-%dx%d", kinds[kind], sizes[k].w, sizes[k].h);
            check_golden(&t, name);
            stage_close(&t);
        }
}

static void overlays(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    app_focus(&t.app, PANEL_VALLEY);
    stage_frame(&t);
    stage_press(&t, "?");
    check_golden(&t, "help-80x24");
    stage_press(&t, "q");
    stage_press(&t, "c");
    check_golden(&t, "overlay-80x24");
    stage_press(&t, "1");
    stage_press(&t, "]");
    stage_press(&t, "]");
    stage_press(&t, "a");
    check_golden(&t, "tree-80x24");
    stage_press(&t, "Esc");
    stage_press(&t, ":");
    for (const char *s = "swe"; *s; s++)
        stage_press(&t, (char[]){ *s, 0 });
    stage_press(&t, "Tab");
    check_golden(&t, "prompt-80x24");
    stage_close(&t);
}

static void plot_styles(void **state)
{
    static const char *const names[] = { "valley-braille", "valley-block", "valley-ascii" };
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    app_focus(&t.app, PANEL_VALLEY);
    for (int i = 0; i < 3; i++) {
        t.app.set.style = (enum plot_style)i;
        t.app.set.ascii = i == 2;
        stage_frame(&t);
        check_golden(&t, names[i]);
    }
    for (int i = 0; i < t.s.w * t.s.h; i++)
        assert_true(t.s.cell[i].cp < 0x80);
    stage_close(&t);
}

/* Too small to draw in still says so, and can be left. */
static void tiny(void **state)
{
    static const struct {
        int w, h;
    } small[] = { { 1, 1 },  { 10, 3 },  { 19, 5 },  { 20, 4 },
                  { 20, 5 }, { 59, 16 }, { 60, 15 }, { 60, 16 } };
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(small); k++)
        for (int p = 0; p < PANEL_COUNT; p++) {
            struct stage t;
            stage_open(&t, SNAP_DONE, small[k].w, small[k].h);
            app_focus(&t.app, (enum panel_id)p);
            stage_frame(&t);
            assert_true(stage_press(&t, "q") & UI_LEAVE);
            stage_close(&t);
        }
}

static int view(int argc, char **argv)
{
    struct stage t;
    int w = 80, h = 24, kind = SNAP_DONE;
    if (argc > 2)
        sscanf(argv[2], "%dx%d", &w, &h);
    if (argc > 3)
        kind = atoi(argv[3]);
    stage_open(&t, (enum snapshot_kind)kind, w, h);
    for (int p = 0; p < PANEL_COUNT; p++)
        if (!strcmp(panel_info((enum panel_id)p)->name, argv[1]))
            app_focus(&t.app, (enum panel_id)p);
    stage_frame(&t);
    for (int i = 4; i < argc; i++)
        stage_press(&t, argv[i]);
    struct buf b = { 0 };
    surface_plain(&t.s, (struct rect){ 0, 0, w, h }, &b);
    fputs(b.s, stdout);
    buf_free(&b);
    stage_close(&t);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(panels), cmocka_unit_test(workspaces),
                                        cmocka_unit_test(overlays), cmocka_unit_test(plot_styles),
                                        cmocka_unit_test(tiny) };
    if (argc > 1)
        return view(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
