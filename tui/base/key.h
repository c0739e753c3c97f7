/* key: our own keys and events; the terminal's codes stay in tui/term. */
#pragma once

#include "engine/base/base.h"

/* A key is a code point, a control code (C-a = 1 ...), or one of these; KEY_ALT may be added. */
#define KEY_SPECIAL 0x200000u
#define KEY_ALT     0x1000000u
#define KEY_CTRL(c) ((uint32_t)((c)&0x1f))
#define KEY_LIST(X)                       \
    X(ENTER, "Enter", '\r')               \
    X(TAB, "Tab", '\t')                   \
    X(ESC, "Esc", 27)                     \
    X(SPACE, "Space", ' ')                \
    X(BACKSPACE, "Backspace", 127)        \
    X(UP, "Up", KEY_SPECIAL + 1)          \
    X(DOWN, "Down", KEY_SPECIAL + 2)      \
    X(LEFT, "Left", KEY_SPECIAL + 3)      \
    X(RIGHT, "Right", KEY_SPECIAL + 4)    \
    X(HOME, "Home", KEY_SPECIAL + 5)      \
    X(END, "End", KEY_SPECIAL + 6)        \
    X(PAGE_UP, "PgUp", KEY_SPECIAL + 7)   \
    X(PAGE_DOWN, "PgDn", KEY_SPECIAL + 8) \
    X(INSERT, "Ins", KEY_SPECIAL + 9)     \
    X(DELETE, "Del", KEY_SPECIAL + 10)    \
    X(BACKTAB, "S-Tab", KEY_SPECIAL + 11) \
    X(F1, "F1", KEY_SPECIAL + 12)         \
    X(F2, "F2", KEY_SPECIAL + 13)         \
    X(F3, "F3", KEY_SPECIAL + 14)         \
    X(F4, "F4", KEY_SPECIAL + 15)         \
    X(F5, "F5", KEY_SPECIAL + 16)         \
    X(F10, "F10", KEY_SPECIAL + 17)       \
    X(S_UP, "S-Up", KEY_SPECIAL + 18)     \
    X(S_DOWN, "S-Down", KEY_SPECIAL + 19) \
    X(S_LEFT, "S-Left", KEY_SPECIAL + 20) \
    X(S_RIGHT, "S-Right", KEY_SPECIAL + 21)
#define TUI_KEY_ITEM(id, name, code) TK_##id = (int)(code),
enum tui_key { KEY_LIST(TUI_KEY_ITEM) TK_NONE = 0 };
#undef TUI_KEY_ITEM
/* "C-l", "A-x", "Tab", "é", "?"; false when the text is no key. */
bool key_parse(struct str s, uint32_t *key);
/* Text of a key that key_parse reads back; out holds at least 16 bytes. */
void key_text(uint32_t key, char *out);

enum event_kind {
    EVENT_NONE,
    EVENT_KEY,
    EVENT_MOUSE,
    EVENT_RESIZE,
    EVENT_TICK,
    EVENT_RESUME,
    EVENT_BACKGROUND,
    EVENT_PASTE
};
enum mouse_what { MOUSE_PRESS, MOUSE_RELEASE, MOUSE_DRAG, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };
struct event {
    enum event_kind kind;
    uint32_t key;
    enum mouse_what mouse;
    /* mouse: cell; resize: columns, rows; background: x is 1 when the terminal's is light; paste: x is
       1 where pasted text begins, 0 where it ends */
    int x, y;
};
