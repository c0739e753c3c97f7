/* prompt: line editing with recall. */
#include "tui/app/prompt.h"

#include "tui/base/key.h"
#include "tui/base/text.h"

#include <stdio.h>
#include <string.h>

void history_add(struct history *h, const char *line)
{
    if (!*line || (h->n && !strcmp(h->v[h->n - 1], line)))
        return;
    char *copy = base_strdup(line);
    if (!copy)
        return;
    if (h->n == HISTORY_MAX) {
        base_free(h->v[0]);
        memmove(h->v, h->v + 1, sizeof h->v[0] * (HISTORY_MAX - 1));
        h->n--;
    }
    h->v[h->n++] = copy;
}

void history_free(struct history *h)
{
    for (size_t i = 0; i < h->n; i++)
        base_free(h->v[i]);
    h->n = 0;
}

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *label, const char *text,
                 long target)
{
    memset(p, 0, sizeof *p);
    p->kind = kind;
    p->target = target;
    snprintf(p->label, sizeof p->label, "%s", label);
    snprintf(p->text, sizeof p->text, "%s", text);
    p->n = p->at = strlen(p->text);
    p->selected = p->n && (kind == PROMPT_VALUE || kind == PROMPT_GUESS);
}

void prompt_close(struct prompt *p)
{
    p->kind = PROMPT_NONE;
}

static size_t step_back(const struct prompt *p)
{
    size_t at = p->at;
    while (at && (p->text[--at] & 0xc0) == 0x80)
        ;
    return at;
}

static size_t step_on(const struct prompt *p)
{
    uint32_t cp;
    return p->at < p->n ? p->at + utf8_decode(p->text + p->at, p->n - p->at, &cp) : p->n;
}

static void cut(struct prompt *p, size_t from, size_t to)
{
    memmove(p->text + from, p->text + to, p->n - to + 1);
    p->n -= to - from;
    p->at = from;
}

static void insert(struct prompt *p, const char *s, size_t n)
{
    if (p->n + n >= PROMPT_TEXT)
        return;
    memmove(p->text + p->at + n, p->text + p->at, p->n - p->at + 1);
    memcpy(p->text + p->at, s, n);
    p->n += n;
    p->at += n;
}

void prompt_replace(struct prompt *p, size_t from, const char *text)
{
    cut(p, from, p->at);
    insert(p, text, strlen(text));
}

void prompt_offer(struct prompt *p, const char *word)
{
    size_t n = strlen(word);
    p->offered++;
    if (p->nchoices + n + 1 >= sizeof p->choices)
        return;
    memcpy(p->choices + p->nchoices, word, n);
    p->choices[p->nchoices + n] = '\n';
    p->nchoices += n + 1;
}

static void recall(struct prompt *p, const struct history *h, int by)
{
    size_t to = by > 0 ? p->recall + 1 : p->recall ? p->recall - 1 : 0;
    if (p->kind != PROMPT_COMMAND || !h || to > h->n || to == p->recall)
        return;
    if (!p->recall)
        memcpy(p->typed, p->text, sizeof p->typed);
    p->recall = to;
    snprintf(p->text, sizeof p->text, "%s", to ? h->v[h->n - to] : p->typed);
    p->n = p->at = strlen(p->text);
}

static size_t word_start(const struct prompt *p)
{
    size_t at = p->at;
    while (at && p->text[at - 1] == ' ')
        at--;
    while (at && p->text[at - 1] != ' ')
        at--;
    return at;
}

/* The first key: what is typed, or a deletion, takes the place of a selected text; any other key keeps
 * it. */
static bool took_selected(struct prompt *p, uint32_t key)
{
    bool deletes =
        key == TK_BACKSPACE || key == TK_DELETE || key == KEY_CTRL('h') || key == KEY_CTRL('d');
    bool types = key >= 0x20 && key < KEY_SPECIAL;
    bool was = p->selected;
    p->selected = false;
    if (was && (deletes || types))
        cut(p, 0, p->n);
    return was && deletes;
}

static void edit(struct prompt *p, uint32_t key)
{
    char u[4];
    if (took_selected(p, key))
        return;
    switch (key) {
    case TK_LEFT:
    case KEY_CTRL('b'): p->at = step_back(p); break;
    case TK_RIGHT:
    case KEY_CTRL('f'): p->at = step_on(p); break;
    case TK_HOME:
    case KEY_CTRL('a'): p->at = 0; break;
    case TK_END:
    case KEY_CTRL('e'): p->at = p->n; break;
    case TK_DELETE:
    case KEY_CTRL('d'):
        if (p->at < p->n)
            cut(p, p->at, step_on(p));
        break;
    case KEY_CTRL('h'):
    case TK_BACKSPACE:
        if (p->at)
            cut(p, step_back(p), p->at);
        break;
    case KEY_CTRL('u'): cut(p, 0, p->at); break;
    case KEY_CTRL('k'):
        p->n = p->at;
        p->text[p->n] = '\0';
        break;
    case KEY_CTRL('w'): cut(p, word_start(p), p->at); break;
    default:
        if (key >= 0x20 && key < KEY_SPECIAL)
            insert(p, u, utf8_encode(key, u));
    }
}

enum prompt_result prompt_key(struct prompt *p, const struct history *h, uint32_t key)
{
    p->nchoices = p->offered = 0;
    switch (key) {
    case TK_ENTER:
    case '\n': return PROMPT_DONE;
    case TK_ESC:
    case KEY_CTRL('c'):
    case KEY_CTRL('g'): return PROMPT_DROPPED;
    case TK_TAB: p->selected = false; return PROMPT_COMPLETE;
    case TK_UP:
    case KEY_CTRL('p'): recall(p, h, 1); return PROMPT_GOES_ON;
    case TK_DOWN:
    case KEY_CTRL('n'): recall(p, h, -1); return PROMPT_GOES_ON;
    case KEY_CTRL('h'):
    case TK_BACKSPACE:
        if (!p->n)
            return PROMPT_DROPPED;
        break;
    }
    edit(p, key);
    return PROMPT_GOES_ON;
}
