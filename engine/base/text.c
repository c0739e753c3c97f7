/* Status texts, string views, byte buffers, the string map. */
#include "engine/base/base.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int code;
    const char *text;
} status_table[] = {
#define X(name, code, text) [ST_##name] = { code, text },
    STATUS_LIST(X)
#undef X
};

int status_exit_code(enum status s)
{
    return (size_t)s < ARRAY_LEN(status_table) ? status_table[s].code : 4;
}
const char *status_text(enum status s)
{
    return (size_t)s < ARRAY_LEN(status_table) ? status_table[s].text : "?";
}

struct str str_of(const char *s)
{
    return (struct str){ s ? s : "", s ? strlen(s) : 0 };
}
bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (!a.n || memcmp(a.s, b.s, a.n) == 0);
}
bool str_is(struct str a, const char *b)
{
    return str_eq(a, str_of(b));
}

struct str str_trim(struct str s)
{
    while (s.n && isspace((unsigned char)*s.s))
        s.s++, s.n--;
    while (s.n && isspace((unsigned char)s.s[s.n - 1]))
        s.n--;
    return s;
}

bool str_line(struct str *rest, struct str *line)
{
    if (!rest->n)
        return false;
    const char *nl = memchr(rest->s, '\n', rest->n);
    *line = (struct str){ rest->s, nl ? (size_t)(nl - rest->s) : rest->n };
    size_t taken = line->n + (nl != NULL);
    rest->s += taken;
    rest->n -= taken;
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool str_unhex(struct str digits, uint8_t *out)
{
    for (size_t i = 0; i + 1 < digits.n; i += 2) {
        int high = hex_digit(digits.s[i]), low = hex_digit(digits.s[i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i / 2] = (uint8_t)(high << 4 | low);
    }
    return digits.n % 2 == 0;
}

unsigned str_distance(struct str a, struct str b, unsigned max)
{
    enum { LONGEST = 63 };
    unsigned row[LONGEST + 1];
    size_t gap = a.n > b.n ? a.n - b.n : b.n - a.n;
    if (a.n > LONGEST || b.n > LONGEST || gap > max)
        return max + 1;
    for (size_t j = 0; j <= b.n; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a.n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b.n; j++) {
            unsigned best = diagonal + (a.s[i - 1] != b.s[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b.n] > max ? max + 1 : row[b.n];
}

/* ---- buf ---- */
static bool buf_room(struct buf *b, size_t n)
{
    if (b->oom)
        return false;
    if (b->cap - b->n > n)
        return true;
    size_t want = b->cap ? b->cap : 128;
    while (want - b->n <= n) {
        if (want > SIZE_MAX / 2) {
            b->oom = true;
            return false;
        }
        want *= 2;
    }
    char *p = base_realloc(b->s, want);
    if (!p) {
        b->oom = true;
        return false;
    }
    b->s = p;
    b->cap = want;
    return true;
}

void buf_put(struct buf *b, const void *p, size_t n)
{
    if (!buf_room(b, n))
        return;
    if (n)
        memcpy(b->s + b->n, p, n);
    b->n += n;
    b->s[b->n] = 0;
}

void buf_str(struct buf *b, struct str s)
{
    buf_put(b, s.s, s.n);
}
void buf_puts(struct buf *b, const char *s)
{
    buf_put(b, s, strlen(s));
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n >= 0 && buf_room(b, (size_t)n)) {
        vsnprintf(b->s + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    b->oom = false;
    if (b->s)
        b->s[0] = 0;
}

char *buf_take(struct buf *b)
{
    if (!b->oom && !b->s)
        buf_put(b, "", 0);
    char *s = b->oom ? NULL : b->s;
    if (!s)
        base_free(b->s);
    *b = (struct buf){ 0 };
    return s;
}

void buf_free(struct buf *b)
{
    base_free(b->s);
    *b = (struct buf){ 0 };
}

void buf_free_checked(struct buf *b, struct buf *on)
{
    on->oom = on->oom || b->oom;
    buf_free(b);
}

/* ---- strmap: open addressing, linear probing, load at most one half ---- */
struct strmap_slot {
    struct str key;
    uint32_t value, hash;
};

static uint32_t strmap_hash(struct str k)
{
    uint64_t h = base_hash(k.s, k.n);
    return (uint32_t)(h ^ h >> 32);
}

static struct strmap_slot *strmap_slot_of(const struct strmap *m, struct str key, uint32_t hash)
{
    for (size_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
        struct strmap_slot *s = &m->slot[i];
        if (!s->key.s || (s->hash == hash && str_eq(s->key, key)))
            return s;
    }
}

static bool strmap_rehash(struct strmap *m)
{
    struct strmap bigger = { .cap = m->cap ? m->cap * 2 : 64 };
    bigger.slot = base_alloc(bigger.cap * sizeof *bigger.slot);
    if (!bigger.slot)
        return false;
    for (size_t i = 0; i < m->cap; i++)
        if (m->slot[i].key.s)
            *strmap_slot_of(&bigger, m->slot[i].key, m->slot[i].hash) = m->slot[i];
    base_free(m->slot);
    m->slot = bigger.slot;
    m->cap = bigger.cap;
    return true;
}

void strmap_set(struct strmap *m, struct str key, uint32_t value)
{
    if (m->n * 2 >= m->cap && !strmap_rehash(m)) {
        m->oom = true;
        return;
    }
    uint32_t hash = strmap_hash(key);
    struct strmap_slot *s = strmap_slot_of(m, key, hash);
    if (!s->key.s)
        m->n++;
    *s = (struct strmap_slot){ key.s ? key : STR(""), value, hash };
}

bool strmap_get(const struct strmap *m, struct str key, uint32_t *value)
{
    if (!m->n)
        return false;
    struct strmap_slot *s = strmap_slot_of(m, key, strmap_hash(key));
    if (s->key.s && value)
        *value = s->value;
    return s->key.s != NULL;
}

void strmap_free(struct strmap *m)
{
    base_free(m->slot);
    *m = (struct strmap){ 0 };
}
