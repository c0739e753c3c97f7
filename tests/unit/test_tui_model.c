/* Keys, key map, themes, settings, prompt, expressions, UTF-8, input decoding. */
#include "tests/support.h"

#include "tui/app/app.h"
#include "tui/app/config.h"
#include "tui/app/prompt.h"
#include "tui/base/expr.h"
#include "tui/base/key.h"
#include "tui/base/request.h"
#include "tui/base/text.h"
#include "tui/base/theme.h"
#include "tui/term/term.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */
static void key_names(void **state)
{
    static const char *const names[] = { "a",     "Q",  "?",    "C-l", "A-x",    "Tab", "S-Tab", "Esc",
                                         "Space", "Up", "PgDn", "F1",  "A-Left", "é",   "Del" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        uint32_t key;
        char back[16];
        assert_true(key_parse(str_of(names[i]), &key));
        key_text(key, back);
        assert_string_equal(back, names[i]);
    }
    uint32_t key;
    assert_false(key_parse(STR("Nosuch"), &key));
    assert_false(key_parse(STR(""), &key));
}

/* No two requests of a scope share a key, and no panel's key hides one that every panel needs. */
static void keys_do_not_clash(void **state)
{
    struct keymap m;
    (void)state;
    keymap_default(&m);
    for (size_t i = 0; i < m.n; i++)
        for (size_t k = i + 1; k < m.n; k++)
            if (m.v[i].key == m.v[k].key &&
                request_info(m.v[i].request)->scope == request_info(m.v[k].request)->scope)
                fail_msg("%s and %s share a key", request_info(m.v[i].request)->name,
                         request_info(m.v[k].request)->name);
    static const enum request always[] = { REQ_QUIT,   REQ_HELP,   REQ_COMMAND,   REQ_SWEEP,
                                           REQ_CANCEL, REQ_REDRAW, REQ_NEXT_PANEL };
    for (size_t k = 0; k < ARRAY_LEN(always); k++)
        for (size_t i = 0; i < m.n; i++)
            for (int p = 0; m.v[i].request == always[k] && p < PANEL_COUNT; p++)
                if (keymap_find(&m, m.v[i].key, (enum scope)p) != REQ_NONE)
                    fail_msg("panel %s hides %s", panel_info((enum panel_id)p)->name,
                             request_info(always[k])->name);
}

/* Every function can be reached without function keys. */
static void no_function_keys_needed(void **state)
{
    struct keymap m;
    (void)state;
    keymap_default(&m);
    for (int r = REQ_NONE + 1; r < REQ_COUNT; r++) {
        bool other = false;
        for (size_t i = 0; i < m.n; i++)
            other |= m.v[i].request == r && !(m.v[i].key >= TK_F1 && m.v[i].key <= TK_F10);
        if (!other)
            fail_msg("%s needs a function key", request_info((enum request)r)->name);
    }
}

static void keymap_file(void **state)
{
    struct keymap m;
    struct diags ds = { 0 };
    (void)state;
    keymap_default(&m);
    keymap_parse(&m, "keys", STR("# mine\nquit = Z C-x\nnosuch = a\nhelp = Bogus !\n"), &ds);
    assert_int_equal(ds.errors, 2);
    assert_int_equal(ds.v[0].at.line, 3);
    assert_int_equal(ds.v[1].at.line, 4);
    assert_int_equal(ds.v[1].at.col, 8);
    assert_int_equal(keymap_find(&m, 'Z', SCOPE_GLOBAL), REQ_QUIT);
    assert_int_equal(keymap_find(&m, KEY_CTRL('x'), SCOPE_GLOBAL), REQ_QUIT);
    assert_int_equal(keymap_find(&m, 'q', SCOPE_GLOBAL), REQ_NONE);
    assert_int_equal(keymap_find(&m, '!', SCOPE_GLOBAL), REQ_HELP);
    /* a key that another request has by default is the sweep's now, alone */
    keymap_parse(&m, "keys", STR("sweep = r\n"), &ds);
    assert_int_equal(keymap_find(&m, 'r', SCOPE_GLOBAL), REQ_SWEEP);
    keymap_parse(&m, "keys", STR("run = s\nnext-load = h\n"), &ds);
    assert_int_equal(keymap_find(&m, 's', SCOPE_GLOBAL), REQ_RUN);
    assert_int_equal(keymap_find(&m, 'h', SCOPE_SOURCE), REQ_SRC_NEXT_LOAD);
    /* another panel's key stays */
    assert_int_equal(keymap_find(&m, 'h', SCOPE_COALESCE), REQ_COA_SORT);
    diags_free(&ds);
}

/* ---- themes ---- */
static void theme_files(void **state)
{
    DIR *d = opendir("themes");
    int n = 0;
    (void)state;
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[300];
        struct theme t;
        struct diags ds = { 0 };
        if (!strstr(e->d_name, ".theme"))
            continue;
        snprintf(path, sizeof path, "themes/%s", e->d_name);
        assert_status_ok(theme_load(path, &t, &ds), &ds);
        if (ds.n)
            fail_msg("%s: %s", path, ds.v[0].msg); /* a role is left out */
        assert_int_equal(strlen(t.name), strlen(e->d_name) - 6);
        n++;
    }
    closedir(d);
    assert_true(n >= 4);
}

/* The file of the dark theme and the built-in looks are the same. */
static void dark_is_builtin(void **state)
{
    struct theme file, builtin;
    struct diags ds = { 0 };
    (void)state;
    theme_default(&builtin);
    assert_status_ok(theme_load("themes/dark.theme", &file, &ds), &ds);
    assert_memory_equal(file.look, builtin.look, sizeof file.look);
    diags_free(&ds);
}

static void bad_themes(void **state)
{
    static const struct {
        const char *text;
        unsigned line, col;
        const char *says;
    } bad[] = { { "name = x\nerrr = red\n", 2, 1, "no such role" },
                { "\ntext = #12\n", 2, 8, "not a colour" },
                { "text red\n", 1, 1, "expected" },
                { "  text = red on nowhere\n", 1, 17, "not a colour" },
                { "text = red\ntext = blue\n", 2, 1, "twice" } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct theme t, builtin;
        struct diags ds = { 0 };
        assert_int_equal(theme_parse("t.theme", str_of(bad[i].text), &t, &ds), ST_INPUT);
        assert_int_equal(ds.v[0].at.line, bad[i].line);
        assert_int_equal(ds.v[0].at.col, bad[i].col);
        assert_true(support_said(&ds, bad[i].says));
        theme_default(&builtin);
        assert_memory_equal(t.look, builtin.look, sizeof t.look); /* the default is in force */
        diags_free(&ds);
    }
}

static void role_letters_differ(void **state)
{
    (void)state;
    for (int i = 0; i < ROLE_COUNT; i++)
        for (int k = i + 1; k < ROLE_COUNT; k++)
            if (role_letter((enum role)i) == role_letter((enum role)k))
                fail_msg("roles %s and %s share the letter %c", role_name((enum role)i),
                         role_name((enum role)k), role_letter((enum role)i));
}

static void colours(void **state)
{
    (void)state;
    assert_int_equal(colour_index((struct colour){ COLOUR_RGB, 0, 255, 0, 0 }, DEPTH_256), 196);
    assert_int_equal(colour_index((struct colour){ COLOUR_RGB, 0, 8, 8, 8 }, DEPTH_256), 232);
    assert_int_equal(colour_index((struct colour){ COLOUR_RGB, 0, 0, 0, 0 }, DEPTH_8), 0);
    assert_int_equal(colour_index((struct colour){ COLOUR_INDEX, 12, 0, 0, 0 }, DEPTH_8), 4);
    assert_int_equal(colour_index((struct colour){ COLOUR_RGB, 0, 1, 2, 3 }, DEPTH_MONO), -1);
    struct look l = { .fg = { COLOUR_RGB, 0, 1, 2, 3 }, .attrs = ATTR_BOLD, .mono = ATTR_REVERSE };
    struct buf b = { 0 };
    term_look(&b, &l, DEPTH_TRUE);
    assert_string_equal(b.s, "\033[0;1;38;2;1;2;3m");
    buf_clear(&b);
    term_look(&b, &l, DEPTH_MONO);
    assert_string_equal(b.s, "\033[0;7m");
    buf_free(&b);
}

/* ---- settings ---- */
static void settings(void **state)
{
    struct app_settings s = { .mouse = true };
    struct diags ds = { 0 };
    (void)state;
    config_parse(&s, "config",
                 STR("# c\ntheme = light\nmouse = off\n  plot = block\nspeed = 9\nmouse = maybe\n"),
                 &ds);
    assert_string_equal(s.theme, "light");
    assert_true(s.theme_given);
    assert_false(s.mouse);
    assert_int_equal(s.style, PLOT_BLOCK);
    assert_int_equal(ds.n, 2);
    assert_int_equal(ds.v[0].at.line, 5);
    assert_int_equal(ds.v[1].at.line, 6);
    diags_free(&ds);
}

/* ---- prompt ---- */
static void type(struct prompt *p, const struct history *h, const char *text)
{
    for (; *text; text++)
        prompt_key(p, h, (uint8_t)*text);
}

/* A value that stands there is selected: typing or deleting takes its place, moving keeps it. */
static void prompt_selects_a_value(void **state)
{
    static const struct {
        uint32_t first;
        const char *then;
    } row[] = { { 'c', "column" },
                { TK_BACKSPACE, "olumn" },
                { TK_END, "rowolumn" },
                { TK_HOME, "olumnrow" },
                { KEY_CTRL('u'), "olumn" } };
    struct history h = { 0 };
    struct prompt p;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        prompt_open(&p, PROMPT_VALUE, "index = ", "row", 0);
        assert_true(p.selected);
        assert_int_equal(prompt_key(&p, &h, row[i].first), PROMPT_GOES_ON);
        assert_false(p.selected);
        type(&p, &h, "olumn");
        assert_string_equal(p.text, row[i].then);
    }
    prompt_open(&p, PROMPT_VALUE, "index = ", "row", 0);
    assert_int_equal(prompt_key(&p, &h, TK_ENTER), PROMPT_DONE);
    assert_string_equal(p.text, "row");
    prompt_open(&p, PROMPT_NOTE, "note: ", "as it was", 0);
    assert_false(p.selected);
    prompt_open(&p, PROMPT_VALUE, "index = ", "", 0);
    assert_false(p.selected);
}

static void prompt_edits(void **state)
{
    struct prompt p;
    struct history h = { 0 };
    (void)state;
    history_add(&h, "run");
    history_add(&h, "sweep pi");
    history_add(&h, "sweep pi");
    assert_int_equal(h.n, 2);
    prompt_open(&p, PROMPT_COMMAND, ":", "", 0);
    type(&p, &h, "set  agents");
    prompt_key(&p, &h, KEY_CTRL('w'));
    assert_string_equal(p.text, "set  ");
    prompt_key(&p, &h, TK_UP);
    assert_string_equal(p.text, "sweep pi");
    prompt_key(&p, &h, TK_UP);
    prompt_key(&p, &h, TK_UP);
    assert_string_equal(p.text, "run");
    prompt_key(&p, &h, TK_DOWN);
    prompt_key(&p, &h, TK_DOWN);
    assert_string_equal(p.text, "set  ");
    prompt_key(&p, &h, 0x3c0); /* a character of two bytes */
    prompt_key(&p, &h, TK_LEFT);
    type(&p, &h, "x");
    assert_string_equal(p.text, "set  xπ");
    prompt_key(&p, &h, TK_DELETE);
    assert_string_equal(p.text, "set  x");
    prompt_key(&p, &h, KEY_CTRL('u'));
    assert_int_equal(p.n, 0);
    assert_int_equal(prompt_key(&p, &h, TK_BACKSPACE), PROMPT_DROPPED);
    for (int i = 0; i < 2000; i++)
        type(&p, &h, "y");
    assert_int_equal(strlen(p.text), PROMPT_TEXT - 1);
    history_free(&h);
}

/* ---- text ---- */
static void utf8(void **state)
{
    uint32_t cp;
    (void)state;
    assert_int_equal(utf8_decode("\xcf\x80", 2, &cp), 2);
    assert_int_equal(cp, 0x3c0);
    assert_int_equal(utf8_decode("\xcf", 1, &cp), 1);
    assert_int_equal(cp, 0xfffd);
    assert_int_equal(utf8_decode("\xc0\xaf", 2, &cp), 1); /* overlong */
    assert_int_equal(cp, 0xfffd);
    assert_int_equal(utf8_decode("\xed\xa0\x80", 3, &cp), 1); /* surrogate */
    assert_int_equal(cp, 0xfffd);
    assert_int_equal(text_width(str_of("a漢e\xcc\x81")), 4);
    assert_int_equal(text_head(str_of("漢字"), 3).n, 3);
    assert_int_equal(text_find(str_of("Ld.Global"), str_of("gLO")), 3);
    assert_int_equal(text_find(str_of("abc"), str_of("")), SIZE_MAX);
}

static void numbers(void **state)
{
    static const struct {
        double v;
        const char *time, *bytes, *count;
    } t[] = { { 0, "0 ns", "0 B", "0" },
              { 999, "999 ns", "999 B", "999" },
              { 1000, "1.00 µs", "1000 B", "1.00 k" },
              { 1024, "1.02 µs", "1.00 KiB", "1.02 k" },
              { 12345678, "12.3 ms", "11.8 MiB", "12.3 M" },
              { 999999, "1.00 ms", "977 KiB", "1.00 M" } };
    char out[TEXT_NUM];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        text_time(out, t[i].v);
        assert_string_equal(out, t[i].time);
        text_bytes(out, t[i].v);
        assert_string_equal(out, t[i].bytes);
        text_count(out, t[i].v);
        assert_string_equal(out, t[i].count);
    }
    text_percent(out, NAN);
    assert_string_equal(out, "n/a");
}

/* ---- expressions ---- */
static bool env_name(void *ctx, struct str n, int64_t *v)
{
    (void)ctx;
    *v = str_is(n, "tid.x") ? 37 : str_is(n, "A") ? 4096 : str_is(n, "neg") ? -1 : 0;
    return *v != 0;
}

/* What hardly moves looks flat; what moves fills the plot; nothing goes below zero. */
static void plot_ranges(void **state)
{
    static const struct {
        enum plot_metric metric;
        bool log;
        double a, b, share /* of the height that the curve has */;
    } rows[] = { { METRIC_TIME, false, 6575, 6590, 15 / (0.05 * 6590 * 1.16) },
                 { METRIC_TIME, true, 6575, 6590, 0.04 },
                 { METRIC_TIME, false, 1000, 2000, 1 / 1.16 },
                 { METRIC_SPEEDUP, false, 1, 1, 0 },
                 { METRIC_HIT, false, 0, 0, 0 },
                 { METRIC_HIT, false, 20, 60, 1 / 1.16 },
                 { METRIC_TIME, false, 0, 0, 0 } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double x[] = { 0, 1 }, y[] = { rows[i].a, rows[i].b };
        struct plot p = { .series = { { .n = 2, .x = x, .y = y } },
                          .nseries = 1,
                          .metric = rows[i].metric,
                          .log_y = rows[i].log };
        plot_range(&p, 1);
        double share = p.log_y ? log(y[1] / y[0]) / log(p.y1 / p.y0) : (y[1] - y[0]) / (p.y1 - p.y0);
        assert_true(p.y0 >= 0);
        assert_true(p.y0 <= y[0]);
        assert_true(p.y1 >= y[1]);
        assert_true(p.y1 > p.y0);
        assert_true(fabs(share - rows[i].share) < 0.01);
    }
}

static void expressions(void **state)
{
    static const struct {
        const char *text;
        int64_t v;
    } good[] = { { "A + 4*(2*tid.x + 1)", 4096 + 300 },
                 { "tid.x % 32", 5 },
                 { "tid.x + 3 % 32", 8 },
                 { "(tid.x >> 2) + 1", 10 },
                 { "neg >>> 28", 15 },
                 { "-tid.x*2", -74 },
                 { "u8(tid.x*10)", 370 & 255 },
                 { "1 << 3", 8 },
                 { "6 & 3", 2 },
                 { "2 - 3 - 4", -5 } };
    static const struct {
        const char *text, *bad;
    } wrong[] = { { "A + B", "B" }, { "A +", "" },   { "(A", "" },
                  { "A 3", "3" },   { "1 / 0", "" }, { "[A]", "[A]" } };
    struct expr_env e = { env_name, NULL };
    int64_t v;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        if (!expr_eval(str_of(good[i].text), &e, &v, NULL) || v != good[i].v)
            fail_msg("%s gives %lld", good[i].text, (long long)v);
    }
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct str bad;
        assert_false(expr_eval(str_of(wrong[i].text), &e, &v, &bad));
        assert_true(str_is(bad, wrong[i].bad));
    }
    char deep[400];
    memset(deep, '(', sizeof deep);
    assert_false(expr_eval((struct str){ deep, sizeof deep }, &e, &v, NULL));
}

/* ---- input ---- */
static void input_keys(void **state)
{
    static const struct {
        const char *bytes;
        uint32_t key;
    } t[] = { { "a", 'a' },
              { "\033[A", TK_UP },
              { "\033OA", TK_UP },
              { "\033[3~", TK_DELETE },
              { "\033[Z", TK_BACKTAB },
              { "\033[1;3D", KEY_ALT | TK_LEFT },
              { "\033OP", TK_F1 },
              { "\033[[A", TK_F1 },
              { "\033[11~", TK_F1 },
              { "\033x", KEY_ALT | 'x' },
              { "\xcf\x80", 0x3c0 },
              { "\r", TK_ENTER },
              { "\n", TK_ENTER },
              { "\t", TK_TAB },
              { "\x7f", TK_BACKSPACE },
              { "\x0c", KEY_CTRL('l') },
              { "\033[15~", TK_F5 },
              { "\033[H", TK_HOME } };
    struct event e;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        size_t n = strlen(t[i].bytes);
        assert_int_equal(term_decode(t[i].bytes, n, false, true, &e), n);
        assert_int_equal(e.kind, EVENT_KEY);
        assert_int_equal(e.key, t[i].key);
        for (size_t k = 1; k < n && t[i].bytes[0] == 27; k++) /* a part of it waits for the rest */
            if (!(k == 1 && t[i].bytes[1] == 'x'))
                assert_int_equal(term_decode(t[i].bytes, k, false, true, &e), 0);
    }
    assert_int_equal(term_decode("\033", 1, true, true, &e), 1);
    assert_int_equal(e.key, TK_ESC);
    assert_int_equal(term_decode("\033[9999x", 7, false, true, &e), 7);
    assert_int_equal(e.kind, EVENT_NONE);
}

static void input_mouse(void **state)
{
    struct event e;
    (void)state;
    assert_int_equal(term_decode("\033[<0;10;5M", 10, false, true, &e), 10);
    assert_int_equal(e.kind, EVENT_MOUSE);
    assert_int_equal(e.mouse, MOUSE_PRESS);
    assert_int_equal(e.x, 9);
    assert_int_equal(e.y, 4);
    term_decode("\033[<0;10;5m", 10, false, true, &e);
    assert_int_equal(e.mouse, MOUSE_RELEASE);
    term_decode("\033[<32;1;1M", 10, false, true, &e);
    assert_int_equal(e.mouse, MOUSE_DRAG);
    term_decode("\033[<65;1;1M", 10, false, true, &e);
    assert_int_equal(e.mouse, MOUSE_WHEEL_DOWN);
}

/* What a terminal answers when it is asked for its background; any other answer is used up, and Alt-]
 * stays a key. */
static void input_background(void **state)
{
    static const struct {
        const char *in;
        int light;
    } answers[] = { { "\033]11;rgb:ffff/ffff/ffff\033\\", 1 },
                    { "\033]11;rgb:1e1e/1e1e/1e1e\007", 0 },
                    { "\033]11;rgb:fd/f6/e3\007", 1 },
                    { "\033]11;rgb:0/2/3\007", 0 } };
    struct event e;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        size_t n = strlen(answers[i].in);
        assert_int_equal(term_decode(answers[i].in, n, false, true, &e), n);
        assert_int_equal(e.kind, EVENT_BACKGROUND);
        assert_int_equal(e.x, answers[i].light);
        assert_int_equal(term_decode(answers[i].in, n - 1, false, true, &e), 0);
    }
    assert_int_equal(term_decode("\033]52;c;aGk=\007q", 13, false, true, &e), 12);
    assert_int_equal(e.kind, EVENT_NONE);
    assert_int_equal(term_decode("\033]", 2, true, true, &e), 2);
    assert_int_equal(e.key, KEY_ALT | ']');
}

/* Whatever comes in: bytes are used up, nothing is read beyond the end. */
static void input_noise(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        char buf[12];
        size_t n = 1 + base_splitmix(7, i) % sizeof buf;
        struct event e;
        for (size_t k = 0; k < n; k++) {
            static const char often[] = "\033[O<;0123Mm~A";
            uint64_t r = base_splitmix(i, k);
            buf[k] = r & 1 ? often[(r >> 8) % (sizeof often - 1)] : (char)(r >> 16);
        }
        char *copy = malloc(n);
        memcpy(copy, buf, n);
        size_t used = term_decode(copy, n, true, i & 1, &e);
        assert_true(used >= 1);
        assert_true(used <= n);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(key_names),
                                        cmocka_unit_test(keys_do_not_clash),
                                        cmocka_unit_test(no_function_keys_needed),
                                        cmocka_unit_test(keymap_file),
                                        cmocka_unit_test(theme_files),
                                        cmocka_unit_test(dark_is_builtin),
                                        cmocka_unit_test(bad_themes),
                                        cmocka_unit_test(role_letters_differ),
                                        cmocka_unit_test(colours),
                                        cmocka_unit_test(settings),
                                        cmocka_unit_test(prompt_edits),
                                        cmocka_unit_test(prompt_selects_a_value),
                                        cmocka_unit_test(utf8),
                                        cmocka_unit_test(numbers),
                                        cmocka_unit_test(plot_ranges),
                                        cmocka_unit_test(expressions),
                                        cmocka_unit_test(input_keys),
                                        cmocka_unit_test(input_mouse),
                                        cmocka_unit_test(input_background),
                                        cmocka_unit_test(input_noise) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
