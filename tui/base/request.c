/* request: tables of requests and panels, and the key map. */
#include "tui/base/request.h"

#include "tui/base/key.h"

#include <ctype.h>
#include <string.h>

static const struct request_info requests[REQ_COUNT] = {
#define X(id, name, keys, scope, bar, help) [REQ_##id] = { name, keys, bar, help, SCOPE_##scope },
    REQUEST_LIST(X)
#undef X
};
static const struct panel_info panels[PANEL_COUNT] = {
#define X(id, name, title, brief, help, list) { #name, title, brief, help, list },
    PANEL_LIST(X)
#undef X
};

const struct request_info *request_info(enum request r)
{
    return &requests[r];
}
const struct panel_info *panel_info(enum panel_id p)
{
    return &panels[p];
}

const char *scope_name(enum scope s)
{
    static const char *const more[] = { "lists",       "everywhere", "help",  "address tree",
                                        "demo picker", "lesson",     "replay" };
    return (unsigned)s < PANEL_COUNT ? panels[s].name : more[s - SCOPE_LIST];
}

enum request request_find(struct str name)
{
    for (int r = REQ_NONE + 1; r < REQ_COUNT; r++)
        if (str_is(name, requests[r].name))
            return (enum request)r;
    return REQ_NONE;
}

static struct str word(struct str *s)
{
    while (s->n && isspace((unsigned char)*s->s))
        s->s++, s->n--;
    struct str w = { s->s, 0 };
    while (s->n && !isspace((unsigned char)*s->s))
        s->s++, s->n--, w.n++;
    return w;
}

static void keymap_add(struct keymap *m, uint32_t key, enum request r)
{
    if (m->n < KEYMAP_MAX) {
        m->v[m->n].key = key;
        m->v[m->n++].request = (uint16_t)r;
    }
}

static void keymap_remove(struct keymap *m, enum request r)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].request != r)
            m->v[kept++] = m->v[i];
    m->n = kept;
}

/* What the user binds last is meant: whatever else of its scope had the key has it no more. */
static void keymap_bind(struct keymap *m, uint32_t key, enum request r)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].key != key || requests[m->v[i].request].scope != requests[r].scope)
            m->v[kept++] = m->v[i];
    m->n = kept;
    keymap_add(m, key, r);
}

void keymap_default(struct keymap *m)
{
    m->n = 0;
    for (int r = REQ_NONE + 1; r < REQ_COUNT; r++) {
        struct str keys = str_of(requests[r].keys), w;
        uint32_t key;
        while ((w = word(&keys)).n)
            if (key_parse(w, &key))
                keymap_add(m, key, (enum request)r);
    }
}

static void keymap_line(struct keymap *m, const char *path, struct str text, struct str line,
                        uint32_t number, struct diags *ds)
{
    struct str whole = line, name = word(&line), eq = word(&line), w;
    if (!name.n || *name.s == '#')
        return;
    struct span at = { (uint32_t)(name.s - text.s), (uint32_t)name.n, number,
                       (uint32_t)(name.s - whole.s) + 1 };
    enum request r = request_find(name);
    if (!str_is(eq, "=") || r == REQ_NONE) {
        struct diag *d = diag_add(ds, DIAG_ERROR, "keymap", path, at,
                                  r == REQ_NONE ? "no request '%.*s'" : "expected '%.*s = KEY ...'",
                                  (int)name.n, name.s);
        diag_source(d, text);
        return;
    }
    keymap_remove(m, r);
    while ((w = word(&line)).n) {
        uint32_t key;
        if (key_parse(w, &key)) {
            keymap_bind(m, key, r);
            continue;
        }
        at = (struct span){ (uint32_t)(w.s - text.s), (uint32_t)w.n, number,
                            (uint32_t)(w.s - whole.s) + 1 };
        diag_source(diag_add(ds, DIAG_ERROR, "keymap", path, at, "no key '%.*s'", (int)w.n, w.s), text);
    }
}

void keymap_parse(struct keymap *m, const char *path, struct str text, struct diags *ds)
{
    struct str rest = text, line;
    for (uint32_t number = 1; str_line(&rest, &line); number++)
        keymap_line(m, path, text, line, number, ds);
}

enum request keymap_find(const struct keymap *m, uint32_t key, enum scope scope)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].key == key && requests[m->v[i].request].scope == scope)
            return (enum request)m->v[i].request;
    return REQ_NONE;
}

void keymap_key(const struct keymap *m, enum request r, char *out)
{
    *out = '\0';
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].request == r) {
            key_text(m->v[i].key, out);
            return;
        }
}

void keymap_keys(const struct keymap *m, enum request r, struct buf *out)
{
    char name[16];
    for (size_t i = 0, any = 0; i < m->n; i++)
        if (m->v[i].request == r) {
            key_text(m->v[i].key, name);
            buf_printf(out, "%s%s", any++ ? " " : "", name);
        }
}
