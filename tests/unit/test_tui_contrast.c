/* Every theme can be read: each role as the terminal is told it, at 8, 16, 256 and 16 million colours, on
 * the line under the cursor and off it, has a contrast of 4.5 (WCAG 2, text), what only draws bars and curves
 * of 3 (graphics), in each palette that the sixteen colours have, on the grounds that the theme is for. */
#include "tests/support.h"

#include "tui/base/theme.h"
#include "tui/term/term.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rgb {
    uint8_t v[3];
};
/* xterm; the console of Linux; Visual Studio Code */
static const struct rgb palettes[3][16] = { { { { 0, 0, 0 } },
                                              { { 205, 0, 0 } },
                                              { { 0, 205, 0 } },
                                              { { 205, 205, 0 } },
                                              { { 0, 0, 238 } },
                                              { { 205, 0, 205 } },
                                              { { 0, 205, 205 } },
                                              { { 229, 229, 229 } },
                                              { { 127, 127, 127 } },
                                              { { 255, 0, 0 } },
                                              { { 0, 255, 0 } },
                                              { { 255, 255, 0 } },
                                              { { 92, 92, 255 } },
                                              { { 255, 0, 255 } },
                                              { { 0, 255, 255 } },
                                              { { 255, 255, 255 } } },
                                            { { { 0, 0, 0 } },
                                              { { 170, 0, 0 } },
                                              { { 0, 170, 0 } },
                                              { { 170, 85, 0 } },
                                              { { 0, 0, 170 } },
                                              { { 170, 0, 170 } },
                                              { { 0, 170, 170 } },
                                              { { 170, 170, 170 } },
                                              { { 85, 85, 85 } },
                                              { { 255, 85, 85 } },
                                              { { 85, 255, 85 } },
                                              { { 255, 255, 85 } },
                                              { { 85, 85, 255 } },
                                              { { 255, 85, 255 } },
                                              { { 85, 255, 255 } },
                                              { { 255, 255, 255 } } },
                                            { { { 0, 0, 0 } },
                                              { { 205, 49, 49 } },
                                              { { 13, 188, 121 } },
                                              { { 229, 229, 16 } },
                                              { { 36, 114, 200 } },
                                              { { 188, 63, 188 } },
                                              { { 17, 168, 205 } },
                                              { { 229, 229, 229 } },
                                              { { 102, 102, 102 } },
                                              { { 241, 76, 76 } },
                                              { { 35, 209, 139 } },
                                              { { 245, 245, 67 } },
                                              { { 59, 142, 234 } },
                                              { { 214, 112, 214 } },
                                              { { 41, 184, 219 } },
                                              { { 255, 255, 255 } } } };
static const enum depth depths[] = { DEPTH_8, DEPTH_16, DEPTH_256, DEPTH_TRUE };

static double luminance(struct rgb c)
{
    static const double weight[3] = { 0.2126, 0.7152, 0.0722 };
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double v = c.v[i] / 255.0;
        sum += weight[i] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(struct rgb a, struct rgb b)
{
    double x = luminance(a), y = luminance(b);
    return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

/* xterm's 256 colours from 16 on. */
static struct rgb cube(int i)
{
    static const uint8_t step[6] = { 0, 95, 135, 175, 215, 255 };
    uint8_t g = (uint8_t)(8 + 10 * (i - 232));
    i -= 16;
    return i >= 216 ? (struct rgb){ { g, g, g } }
                    : (struct rgb){ { step[i / 36], step[i / 6 % 6], step[i % 6] } };
}

struct pixel {
    struct rgb fg, bg;
    bool dim;
};

/* What a terminal paints after the sequence: "\033[0;1;38;5;12m". */
static struct pixel paint(const char *sgr, const struct rgb palette[16], struct rgb fg, struct rgb bg)
{
    struct pixel p = { fg, bg, false };
    bool reverse = false;
    for (const char *s = sgr + 2; s && *s;) {
        int v[5] = { 0 }, n = 0;
        char *end;
        v[0] = (int)strtol(s, &end, 10);
        for (n = 1; (v[0] == 38 || v[0] == 48) && n < (v[1] == 5 ? 3 : 5) && *end == ';'; n++)
            v[n] = (int)strtol(end + 1, &end, 10);
        struct rgb c = v[1] == 2   ? (struct rgb){ { (uint8_t)v[2], (uint8_t)v[3], (uint8_t)v[4] } }
                       : v[1] == 5 ? v[2] < 16 ? palette[v[2]] : cube(v[2])
                                   : fg;
        reverse |= v[0] == 7;
        p.dim |= v[0] == 2;
        if (v[0] == 38)
            p.fg = c;
        else if (v[0] == 48)
            p.bg = c;
        else if (v[0] >= 30 && v[0] < 38)
            p.fg = palette[v[0] - 30];
        else if (v[0] >= 40 && v[0] < 48)
            p.bg = palette[v[0] - 40];
        else if (v[0] >= 90 && v[0] < 98)
            p.fg = palette[v[0] - 82];
        else if (v[0] >= 100 && v[0] < 108)
            p.bg = palette[v[0] - 92];
        s = *end == ';' ? end + 1 : NULL;
    }
    return reverse ? (struct pixel){ p.bg, p.fg, p.dim } : p;
}

static bool drawn(enum role r)
{
    const char *n = role_name(r);
    return !strncmp(n, "heat-", 5) || !strncmp(n, "line-", 5) || !strncmp(n, "border", 6) ||
           !strcmp(n, "band");
}

/* Frames and grounds, which say nothing. */
static bool silent(enum role r)
{
    return !strncmp(role_name(r), "border", 6) || !strcmp(role_name(r), "band") || r == ROLE_SELECT ||
           !strncmp(role_name(r), "heat-", 5); /* little is meant to vanish */
}

static void check_role(const struct theme *t, bool light, enum role r, bool selected, enum depth d)
{
    static const struct rgb dark[] = { { { 0, 0, 0 } }, { { 30, 30, 30 } } },
                            bright[] = { { { 255, 255, 255 } }, { { 255, 255, 255 } } };
    struct look l = theme_look(t, r, selected, d);
    struct buf b = { 0 };
    term_look(&b, &l, d);
    for (size_t k = 0; k < ARRAY_LEN(palettes); k++)
        for (int g = 0; g < (d > DEPTH_16 ? 2 : 1); g++) { /* a console's ground is black */
            struct rgb fg = light ? palettes[k][0] : palettes[k][7];
            struct pixel p = paint(b.s, palettes[k], fg, light ? bright[g] : dark[g]);
            double c = contrast(p.fg, p.bg);
            if (c < (drawn(r) ? 3 : 4.5) || p.dim)
                fail_msg("theme %s, role %s%s, depth %d, palette %zu: contrast %.2f (%s)", t->name,
                         role_name(r), selected ? " selected" : "", (int)d, k, c, b.s + 2);
        }
    buf_free(&b);
}

static void check_theme(const struct theme *t, bool light)
{
    for (int r = 0; r < ROLE_COUNT; r++)
        for (size_t d = 0; d < ARRAY_LEN(depths); d++)
            for (int selected = 0; selected < (drawn((enum role)r) ? 1 : 2) && !silent((enum role)r);
                 selected++)
                check_role(t, light, (enum role)r, selected, depths[d]);
}

/* All that the folder has; one whose name has "light" in it is for light grounds. */
static void themes_can_be_read(void **state)
{
    glob_t all = { 0 };
    (void)state;
    assert_int_equal(glob("themes/*.theme", 0, NULL, &all), 0);
    assert_true(all.gl_pathc >= 5);
    for (size_t i = 0; i < all.gl_pathc; i++) {
        struct theme t;
        struct diags ds = { 0 };
        assert_status_ok(theme_load(all.gl_pathv[i], &t, &ds), &ds);
        check_theme(&t, strstr(all.gl_pathv[i], "light") != NULL);
        diags_free(&ds);
    }
    globfree(&all);
    struct theme built_in;
    theme_default(&built_in);
    check_theme(&built_in, false);
}

/* Without colours a line under the cursor, an error and a bar still stand out, and no text is dimmed. */
static void monochrome(void **state)
{
    static const enum role out[] = { ROLE_ERROR, ROLE_BAR, ROLE_TAB_ACTIVE, ROLE_MATCH };
    struct theme t;
    struct buf b = { 0 };
    (void)state;
    theme_default(&t);
    for (size_t i = 0; i < ARRAY_LEN(out); i++) {
        struct look l = theme_look(&t, out[i], false, DEPTH_MONO);
        buf_clear(&b);
        term_look(&b, &l, DEPTH_MONO);
        assert_non_null(strstr(b.s, ";7"));
    }
    for (int r = 0; r < ROLE_COUNT; r++) {
        struct look plain = theme_look(&t, (enum role)r, false, DEPTH_MONO),
                    under = theme_look(&t, (enum role)r, true, DEPTH_MONO);
        assert_true(under.mono & ATTR_REVERSE);
        assert_false(!drawn((enum role)r) && (plain.mono & ATTR_DIM));
    }
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(themes_can_be_read),
                                        cmocka_unit_test(monochrome) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
