/* theme: roles and the colours they get. A drawing names roles only; a theme
 * file (themes/NAME.theme) gives each role a foreground, a background and
 * attributes, and attributes of its own for monochrome terminals.
 *
 *   # comment
 *   name = dark
 *   error = #ff6b6b on default bold, mono reverse
 */
#pragma once

#include "engine/base/base.h"

/* id, name in files, letter in test dumps, built-in look (the dark theme), help */
#define ROLE_LIST(X)                                                                                   \
    X(TEXT, "text", '.', "default", "plain text")                                                      \
    X(DIM, "dim", 'd', "#8c939b", "what matters less: units, empty bars, line numbers")                \
    X(TITLE, "title", 't', "#e8e8e8 bold, mono bold", "headings and names")                            \
    X(BAR, "bar", 'b', "#c8d0d8 on #24292f, mono reverse", "title bar and key bar")                    \
    X(BAR_KEY, "bar-key", 'K', "#8ab4f8 on #24292f bold, mono reverse bold", "key names in the bars")  \
    X(TAB, "tab", 'a', "#8a949e", "a tab")                                                             \
    X(TAB_ACTIVE, "tab-active", 'A', "#101418 on #8ab4f8 bold, mono reverse", "the tab in front")      \
    X(BORDER, "border", '-', "#3d444d", "frame of a panel")                                            \
    X(BORDER_FOCUS, "border-focus", '=', "#8ab4f8, mono bold", "frame of the panel that has the keys") \
    X(SELECT, "select", '#', "default on #1c2a3a, mono reverse",                                       \
      "line under the cursor (its background)")                                                        \
    X(MATCH, "match", 'm', "#101418 on #e3b341, mono reverse", "search hit")                           \
    X(KEY, "key", 'k', "#8ab4f8 bold, mono bold", "a key in help")                                     \
    X(LABEL, "label", 'l', "#9aa4ae", "name of a value")                                               \
    X(VALUE, "value", 'v', "#e8e8e8", "a value")                                                       \
    X(CHANGED, "changed", 'c', "#e3b341 bold, mono bold", "a value that differs from its default")     \
    X(GOOD, "good", 'g', "#56d364", "good news: hits, coalesced, equal results")                       \
    X(WARN, "warn", 'w', "#e3b341, mono underline", "warnings, middling values")                       \
    X(ERROR, "error", 'e', "#ff7b72 bold, mono reverse", "errors, refusals, bad values")               \
    X(NOTE, "note", 'n', "#79c0ff", "notes")                                                           \
    X(OPCODE, "opcode", 'o', "#d2a8ff", "PTX: instruction")                                            \
    X(MEMORY, "memory", 'O', "#ffa657 bold, mono bold", "PTX: global memory access")                   \
    X(DIRECTIVE, "directive", 'D', "#7ee0d0", "PTX: directive")                                        \
    X(REGISTER, "register", 'r', "#a5d6ff", "PTX: register")                                           \
    X(REG_HIT, "register-hit", 'R', "#101418 on #a5d6ff, mono underline",                              \
      "PTX: the register under the cursor, wherever it stands")                                        \
    X(NUMBER, "number", 'N', "#f0c987", "PTX: number")                                                 \
    X(COMMENT, "comment", 'C', "#8c939b", "PTX: comment")                                              \
    X(SYMBOL, "symbol", 'S', "#c8d0d8 underline, mono underline", "PTX: label or symbol")              \
    X(INSERTED, "inserted", 'i', "#56d364, mono bold", "rewrite: line put in")                         \
    X(REMOVED, "removed", 'x', "#ff7b72, mono underline", "rewrite: line taken out")                   \
    X(SERIES_A, "series-a", '1', "#58a6ff bold, mono bold", "plot: points of curve A")                 \
    X(SERIES_B, "series-b", '2', "#ffa657 bold, mono bold", "plot: points of curve B")                 \
    X(LINE_A, "line-a", '3', "#3b79bf", "plot: line of curve A")                                       \
    X(LINE_B, "line-b", '4', "#d0a040", "plot: line of curve B")                                       \
    X(BAND, "band", 'z', "#4a6a8c, mono dim", "plot: noise band")                                      \
    X(FIT, "fit", 'f', "#bc8cff", "plot: fitted model")                                                \
    X(AXIS, "axis", 'y', "#8c939b", "plot: axes, ticks, grid")                                         \
    X(REF_BPA, "bpa", 'p', "#7ee0d0", "plot: bypass-all reference")                                    \
    X(REF_CHA, "cha", 'q', "#ff7b72", "plot: cache-all reference")                                     \
    X(PEAK, "peak", 'P', "#56d364 bold, mono bold", "plot: cache peak and best point")                 \
    X(VALLEY, "valley", 'V', "#ff7b72 bold, mono bold", "plot: cache valley")                          \
    X(PLATEAU, "plateau", 'U', "#9aa4ae bold", "plot: memory plateau")                                 \
    X(CURSOR, "cursor", '+', "#ffffff bold, mono bold", "plot: cursor")                                \
    X(L1, "l1", 'X', "#56d364", "memory chart: L1")                                                    \
    X(L2, "l2", 'Y', "#58a6ff", "memory chart: L2")                                                    \
    X(DRAM, "dram", 'Z', "#ffa657", "memory chart: DRAM")                                              \
    X(HEAT0, "heat-0", '5', "#2d3640, mono dim", "heat map: none")                                     \
    X(HEAT1, "heat-1", '6', "#1f4b77", "heat map: little")                                             \
    X(HEAT2, "heat-2", '7', "#2e7fb8", "heat map: some")                                               \
    X(HEAT3, "heat-3", '8', "#7cc36e", "heat map: much")                                               \
    X(HEAT4, "heat-4", '9', "#f2e05c, mono bold", "heat map: most")                                    \
    X(LESSON, "lesson", 'E', "#f0f3f6 on #1f3a2a, mono bold", "lesson: narration")
#define ROLE_ITEM(id, name, letter, look, help) ROLE_##id,
enum role { ROLE_LIST(ROLE_ITEM) ROLE_COUNT };
#undef ROLE_ITEM
const char *role_name(enum role r);
char role_letter(enum role r);

enum colour_kind { COLOUR_DEFAULT, COLOUR_INDEX /* 0..15 */, COLOUR_RGB };
struct colour {
    uint8_t kind;
    uint8_t index;
    uint8_t r;
    uint8_t g;
    uint8_t b;
};
enum attr { ATTR_BOLD = 1, ATTR_DIM = 2, ATTR_UNDERLINE = 4, ATTR_REVERSE = 8, ATTR_ITALIC = 16 };
struct look {
    struct colour fg, bg;
    uint8_t attrs, mono;
};
struct theme {
    char name[32];
    struct look look[ROLE_COUNT];
};

/* The built-in dark theme: complete without any file. */
void theme_default(struct theme *t);
/* Reads a theme file's text. Every mistake is a located diagnostic; roles the
 * text does not give are warnings and keep the built-in look. ST_INPUT when
 * anything was wrong: *t is then the default. */
enum status theme_parse(const char *path, struct str text, struct theme *t, struct diags *ds);
enum status theme_load(const char *path, struct theme *t, struct diags *ds);

/* Colour depth of a terminal and what a colour becomes on it. */
enum depth { DEPTH_MONO, DEPTH_8, DEPTH_16, DEPTH_256, DEPTH_TRUE };
/* Index of the nearest colour for DEPTH_8, _16 (0..15) or _256; -1: the terminal's default. */
int colour_index(struct colour c, enum depth d);
/* What a role looks like at a depth, also on the line under the cursor. With 8 or 16 colours a text that
 * could not be read on the terminal's ground (a contrast below 4.5) is shown in the terminal's own colour
 * with the attributes it has in monochrome, and a background of its own becomes reverse. */
struct look theme_look(const struct theme *t, enum role r, bool selected, enum depth d);
