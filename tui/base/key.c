/* key: names of keys. */
#include "tui/base/key.h"

#include "tui/base/text.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t code;
} names[] = {
#define X(id, name, code) { name, (uint32_t)(code) },
    KEY_LIST(X)
#undef X
};

bool key_parse(struct str s, uint32_t *key)
{
    uint32_t alt = 0, cp;
    if (s.n > 2 && s.s[0] == 'A' && s.s[1] == '-') {
        alt = KEY_ALT;
        s.s += 2, s.n -= 2;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(s, names[i].name)) {
            *key = names[i].code | alt;
            return true;
        }
    if (s.n == 3 && s.s[0] == 'C' && s.s[1] == '-') {
        *key = KEY_CTRL(s.s[2]) | alt;
        return *key != 0;
    }
    if (!s.n || utf8_decode(s.s, s.n, &cp) != s.n || cp < 0x20 || cp == 0xfffd)
        return false;
    *key = cp | alt;
    return true;
}

void key_text(uint32_t key, char *out)
{
    const char *alt = key & KEY_ALT ? "A-" : "";
    key &= ~KEY_ALT;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].code == key) {
            snprintf(out, 16, "%s%s", alt, names[i].name);
            return;
        }
    if (key < 0x20) {
        snprintf(out, 16, "%sC-%c", alt, (char)(key + '`'));
        return;
    }
    char u[5] = { 0 };
    utf8_encode(key, u);
    snprintf(out, 16, "%s%s", alt, u);
}
