/* input: bytes of a terminal into events: UTF-8, control keys, CSI and SS3
 * sequences of xterm, screen, rxvt and the Linux console, SGR mouse reports. */
#include "tui/base/key.h"
#include "tui/base/text.h"
#include "tui/term/term.h"

#include <string.h>

static uint32_t final_key(char c)
{
    switch (c) {
    case 'A': return TK_UP;
    case 'B': return TK_DOWN;
    case 'C': return TK_RIGHT;
    case 'D': return TK_LEFT;
    case 'H': return TK_HOME;
    case 'F': return TK_END;
    case 'Z': return TK_BACKTAB;
    case 'P': return TK_F1;
    case 'Q': return TK_F2;
    case 'R': return TK_F3;
    case 'S': return TK_F4;
    case 'M': return TK_ENTER;
    default: return TK_NONE;
    }
}

static uint32_t tilde_key(int n)
{
    static const struct {
        int n;
        uint32_t key;
    } keys[] = { { 1, TK_HOME },    { 2, TK_INSERT },    { 3, TK_DELETE }, { 4, TK_END },
                 { 5, TK_PAGE_UP }, { 6, TK_PAGE_DOWN }, { 7, TK_HOME },   { 8, TK_END },
                 { 11, TK_F1 },     { 12, TK_F2 },       { 13, TK_F3 },    { 14, TK_F4 },
                 { 15, TK_F5 },     { 21, TK_F10 } };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (keys[i].n == n)
            return keys[i].key;
    return TK_NONE;
}

/* SGR mouse: ESC [ < button ; x ; y M (or m for release) */
static void mouse(struct event *e, const int *v, int nv, char final)
{
    if (nv < 3)
        return;
    *e = (struct event){ .kind = EVENT_MOUSE, .x = v[1] - 1, .y = v[2] - 1 };
    if (v[0] & 64)
        e->mouse = v[0] & 1 ? MOUSE_WHEEL_DOWN : MOUSE_WHEEL_UP;
    else if (final == 'm')
        e->mouse = MOUSE_RELEASE;
    else
        e->mouse = v[0] & 32 ? MOUSE_DRAG : MOUSE_PRESS;
    if (e->x < 0 || e->y < 0)
        e->kind = EVENT_NONE;
}

/* Only arrows have a meaning of their own with Shift. */
static uint32_t shifted(uint32_t key)
{
    switch (key) {
    case TK_UP: return TK_S_UP;
    case TK_DOWN: return TK_S_DOWN;
    case TK_LEFT: return TK_S_LEFT;
    case TK_RIGHT: return TK_S_RIGHT;
    default: return key;
    }
}

/* buf starts with ESC [; returns bytes used, 0 when the end is not there yet. */
static size_t csi(const char *buf, size_t n, struct event *e)
{
    int v[8] = { 0 }, nv = 0;
    size_t i = 2;
    bool sgr = i < n && buf[i] == '<', any = false;
    if (i < n && buf[i] == '[') { /* Linux console: ESC [ [ A is F1 */
        if (n < 4)
            return 0;
        *e = (struct event){ .kind = EVENT_KEY,
                             .key = buf[3] >= 'A' && buf[3] <= 'E' ? (uint32_t)(TK_F1 + buf[3] - 'A')
                                                                   : TK_NONE };
        return 4;
    }
    for (i += sgr ? 1u : 0u; i < n; i++) {
        char c = buf[i];
        if (c >= '0' && c <= '9') {
            v[nv] = v[nv] < 100000 ? v[nv] * 10 + c - '0' : v[nv];
            any = true;
        } else if (c == ';' || c == ':') {
            nv += nv < 7;
        } else if (c >= 0x40 && c < 0x7f) {
            break;
        } else if (c < 0x20 || c >= 0x7f) {
            return i; /* not a sequence: what came so far is dropped */
        }
        if (i > 40)
            return i;
    }
    if (i >= n)
        return 0;
    nv += any;
    if (sgr) {
        mouse(e, v, nv, buf[i]);
    } else if (buf[i] == '~' && (v[0] == 200 || v[0] == 201)) {
        *e = (struct event){ .kind = EVENT_PASTE, .x = v[0] == 200 };
    } else {
        uint32_t key = buf[i] == '~' ? tilde_key(v[0]) : final_key(buf[i]);
        bool alt = nv >= 2 && v[1] > 1 && ((v[1] - 1) & 2);
        if (nv >= 2 && v[1] == 2)
            key = shifted(key);
        if (key != TK_NONE)
            *e = (struct event){ .kind = EVENT_KEY, .key = key | (alt ? KEY_ALT : 0) };
    }
    return i + 1;
}

/* rgb:RRRR/GGGG/BBBB with one to four digits each: light, or not? */
static bool is_light(const char *s, size_t n)
{
    static const double weight[] = { 0.299, 0.587, 0.114 };
    double sum = 0;
    size_t i = 0;
    for (int k = 0; k < 3; k++, i++) {
        unsigned v = 0, most = 0;
        for (; i < n && strchr("0123456789abcdefABCDEF", s[i]) && s[i] && most < 0xffff; i++) {
            v = v * 16 + (unsigned)(s[i] <= '9' ? s[i] - '0' : (s[i] | 32) - 'a' + 10);
            most = most * 16 + 15;
        }
        sum += most ? weight[k] * v / most : 0;
    }
    return sum > 0.5;
}

/* buf starts with ESC ] and a digit: what a terminal answers, up to BEL or ESC \. Only the background's
 * colour (11) is taken. */
static size_t osc(const char *buf, size_t n, struct event *e)
{
    static const char background[] = "11;rgb:";
    size_t end = 2, tail = sizeof background - 1;
    while (end < n && buf[end] != 7 && buf[end] != 27)
        end++;
    if (end < n && buf[end] == 27 && end + 1 == n)
        return 0;
    if (end == n)
        return n < 200 ? 0 : n;
    if (end > 2 + tail && !memcmp(buf + 2, background, tail))
        *e = (struct event){ .kind = EVENT_BACKGROUND, .x = is_light(buf + 2 + tail, end - 2 - tail) };
    return end + (buf[end] == 27 && buf[end + 1] == '\\' ? 2 : 1);
}

static size_t plain(const char *buf, size_t n, bool at_end, bool utf8, struct event *e)
{
    uint8_t c = (uint8_t)buf[0];
    uint32_t cp = c;
    size_t used = 1;
    if (c >= 0x80) {
        size_t need = (c & 0xe0) == 0xc0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : (c & 0xf8) == 0xf0 ? 4 : 1;
        if (utf8 && n < need && !at_end)
            return 0;
        used = utf8_decode(buf, n, &cp);
        if (!utf8 || cp == 0xfffd || cp_width(cp) == 0)
            return used;
    }
    if (c == 0)
        return 1;
    if (c == '\n')
        cp = TK_ENTER;
    *e = (struct event){ .kind = EVENT_KEY, .key = cp };
    return used;
}

size_t term_decode(const char *buf, size_t n, bool at_end, bool utf8, struct event *e)
{
    *e = (struct event){ .kind = EVENT_NONE };
    if (!n)
        return 0;
    if (buf[0] != 27)
        return plain(buf, n, at_end, utf8, e);
    if (n == 1 || (at_end && n == 2 && (buf[1] == '[' || buf[1] == 'O'))) {
        if (!at_end)
            return 0;
        *e = (struct event){ .kind = EVENT_KEY,
                             .key = n == 1 ? (uint32_t)TK_ESC : (KEY_ALT | (uint8_t)buf[1]) };
        return n;
    }
    if (buf[1] == '[') {
        size_t used = csi(buf, n, e);
        return used || !at_end ? used : n;
    }
    if (buf[1] == ']' && n == 2 && !at_end)
        return 0;
    if (buf[1] == ']' && n > 2 && buf[2] >= '0' && buf[2] <= '9') {
        size_t used = osc(buf, n, e);
        return used || !at_end ? used : n;
    }
    if (buf[1] == 'O') {
        if (n < 3)
            return 0;
        uint32_t key = final_key(buf[2]);
        if (key != TK_NONE)
            *e = (struct event){ .kind = EVENT_KEY, .key = key };
        return 3;
    }
    if (buf[1] == 27) {
        *e = (struct event){ .kind = EVENT_KEY, .key = TK_ESC };
        return 1;
    }
    size_t used = plain(buf + 1, n - 1, at_end, utf8, e);
    if (e->kind == EVENT_KEY)
        e->key |= KEY_ALT;
    return used ? used + 1 : 0;
}
