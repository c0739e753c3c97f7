/* vt: as much of a terminal as the workbench speaks to: absolute cursor
 * addressing, clearing, text. Colours and modes are read over; escape sequences
 * it does not know are counted, so that a test can insist on none. */
#ifndef GPULOCW_TESTS_VT_H
#define GPULOCW_TESTS_VT_H

#include "tui/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vt;

#define VT_MAX_W 300
#define VT_MAX_H 100
struct vt {
    uint32_t cell[VT_MAX_H][VT_MAX_W];
    int w, h, x, y;
    char pending[64];
    size_t npending;
    unsigned unknown, colours;    /* sequences not understood; colour settings seen */
    bool full_screen, high_bytes; /* alternate screen is on; a byte above 127 came */
};

static void vt_init(struct vt *v, int w, int h)
{
    memset(v, 0, sizeof *v);
    v->w = w;
    v->h = h;
}

static void vt_clear(struct vt *v)
{
    for (int y = 0; y < VT_MAX_H; y++)
        for (int x = 0; x < VT_MAX_W; x++)
            v->cell[y][x] = ' ';
}

static void vt_csi(struct vt *v, const char *s, size_t n)
{
    int a = 1, b = 1;
    bool private = s[0] == '?';
    char final = s[n - 1];
    sscanf(s + private, "%d;%d", &a, &b);
    if (final == 'H' && !private) {
        v->y = a - 1;
        v->x = n == 1 ? 0 : b - 1;
        if (n == 1)
            v->y = 0;
    } else if (final == 'J') {
        vt_clear(v);
    } else if (final == 'm') {
        char t[64];
        snprintf(t, sizeof t, ";%.*s", (int)n, s);
        for (char *p = t; (p = strchr(p, ';')); p++) {
            int code = atoi(p + 1);
            v->colours += (code >= 30 && code <= 48) || (code >= 90 && code <= 107);
        }
    } else if (private && (final == 'h' || final == 'l')) {
        if (a == 1049)
            v->full_screen = final == 'h';
    } else if (!strchr("hlrtK", final)) {
        v->unknown++;
    }
}

static void vt_put(struct vt *v, uint32_t cp)
{
    unsigned w = cp_width(cp);
    if (cp == '\r')
        v->x = 0;
    else if (cp == '\n' && v->y < v->h - 1)
        v->y++;
    else if (cp == '\n') {
        memmove(v->cell[0], v->cell[1], sizeof v->cell[0] * (VT_MAX_H - 1));
        for (int x = 0; x < VT_MAX_W; x++)
            v->cell[v->h - 1][x] = ' ';
    } else if (w && v->x >= 0 && v->y >= 0 && v->x < v->w && v->y < v->h && v->x < VT_MAX_W &&
               v->y < VT_MAX_H) {
        v->cell[v->y][v->x] = cp;
        v->x += (int)w;
    }
}

/* Bytes used of an escape sequence at s, 0: it goes on. */
static size_t vt_escape(struct vt *v, const char *s, size_t n)
{
    if (n < 2)
        return 0;
    if (s[1] == '(' || s[1] == ')')
        return n < 3 ? 0 : 3;
    if (s[1] != '[')
        return 2;
    for (size_t i = 2; i < n; i++)
        if (s[i] >= 0x40 && s[i] < 0x7f) {
            vt_csi(v, s + 2, i - 1);
            return i + 1;
        }
    return 0;
}

static void vt_feed(struct vt *v, const char *s, size_t n)
{
    char *all = malloc(v->npending + n + 1);
    size_t len = v->npending + n, at = 0;
    memcpy(all, v->pending, v->npending);
    memcpy(all + v->npending, s, n);
    all[len] = '\0'; /* sscanf reads up to it */
    v->npending = 0;
    while (at < len) {
        uint8_t c = (uint8_t)all[at];
        uint32_t cp;
        size_t used;
        if (c == 27) {
            used = vt_escape(v, all + at, len - at);
        } else {
            size_t need = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
            v->high_bytes |= c >= 0x80;
            used = need > len - at ? 0 : utf8_decode(all + at, len - at, &cp);
            if (used)
                vt_put(v, cp);
        }
        if (!used && len - at < sizeof v->pending) {
            v->npending = len - at;
            memcpy(v->pending, all + at, v->npending);
            break;
        }
        at += used ? used : 1;
    }
    free(all);
}

static bool vt_shows(const struct vt *v, const char *text)
{
    for (int y = 0; y < v->h; y++) {
        char line[VT_MAX_W * 4 + 1];
        size_t n = 0;
        for (int x = 0; x < v->w; x++)
            n += utf8_encode(v->cell[y][x] ? v->cell[y][x] : ' ', line + n);
        line[n] = '\0';
        if (strstr(line, text))
            return true;
    }
    return false;
}

#endif
