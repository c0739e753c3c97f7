/* Mutations that know what PTX text is: lines are copied, exchanged, moved and left out, words are taken
 * from elsewhere in the text, numbers become numbers that hurt, and the first line gets another launch
 * or configuration. Half of all mutations are libFuzzer's own. */
#include "engine/rec/knobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

struct text {
    char *s;
    size_t n, max;
    uint64_t seed, k;
};
struct piece {
    size_t at, n;
};

static size_t below(struct text *t, size_t n)
{
    return n ? (size_t)(base_splitmix(t->seed, t->k++) % n) : 0;
}

/* Puts `with` where the piece is. */
static void put(struct text *t, struct piece p, const char *with, size_t n)
{
    if (t->n - p.n + n > t->max)
        return;
    char *copy = malloc(n + 1);
    if (!copy)
        return;
    memcpy(copy, with, n);
    memmove(t->s + p.at + n, t->s + p.at + p.n, t->n - p.at - p.n);
    memcpy(t->s + p.at, copy, n);
    t->n = t->n - p.n + n;
    free(copy);
}

static struct piece a_line(struct text *t)
{
    size_t at = below(t, t->n), end = at;
    while (at && t->s[at - 1] != '\n')
        at--;
    while (end < t->n && t->s[end] != '\n')
        end++;
    return (struct piece){ at, end + (end < t->n) - at };
}

static bool of_word(char c)
{
    return c == '%' || c == '_' || c == '.' || c == '$' || (c >= '0' && c <= '9') ||
           ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static struct piece a_word(struct text *t)
{
    size_t at = below(t, t->n), end;
    while (at < t->n && !of_word(t->s[at]))
        at++;
    for (end = at; end < t->n && of_word(t->s[end]); end++)
        ;
    while (at && of_word(t->s[at - 1]))
        at--;
    return (struct piece){ at, end - at };
}

static void exchange_lines(struct text *t)
{
    struct piece a = a_line(t), b = a_line(t);
    char *second = malloc(b.n + 1);
    if (second && b.at >= a.at + a.n) {
        memcpy(second, t->s + b.at, b.n);
        put(t, b, t->s + a.at, a.n);
        put(t, a, second, b.n);
    }
    free(second);
}

static void copy_line(struct text *t)
{
    struct piece from = a_line(t), to = a_line(t);
    put(t, (struct piece){ to.at, 0 }, t->s + from.at, from.n);
}

static void other_word(struct text *t)
{
    struct piece from = a_word(t), to = a_word(t);
    put(t, to, t->s + from.at, from.n);
}

static void other_number(struct text *t)
{
    static const char *const numbers[] = { "0",
                                           "1",
                                           "-1",
                                           "2",
                                           "31",
                                           "32",
                                           "33",
                                           "63",
                                           "64",
                                           "127",
                                           "128",
                                           "255",
                                           "256",
                                           "4095",
                                           "4096",
                                           "65535",
                                           "65536",
                                           "2147483647",
                                           "-2147483648",
                                           "4294967295",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "18446744073709551615",
                                           "0f7FC00000",
                                           "0dFFF0000000000000" };
    const char *v = numbers[below(t, ARRAY_LEN(numbers))];
    for (unsigned tries = 0; tries < 8; tries++) {
        struct piece p = a_word(t);
        if (p.n && t->s[p.at] >= '0' && t->s[p.at] <= '9') {
            put(t, p, v, strlen(v));
            return;
        }
    }
}

static void a_knob(struct text *t, struct buf *b)
{
    const struct knob_info *k = knob_info(below(t, knob_count()));
    static const char *const texts[] = { "0",      "1",        "2",      "4",       "vote",
                                         "bpa",    "cha",      "auto",   "dynamic", "row",
                                         "column", "tile:2x2", "16x2x1", "8x8x1",   "a0",
                                         "a1",     "a0:0.5",   "all",    "20,21,22" };
    unsigned values = 0;
    while (k->values && k->values[values])
        values++;
    if (k->kind == KNOB_KIND_FLAG)
        buf_printf(b, " --%s", k->name);
    else if (k->kind == KNOB_KIND_ENUM)
        buf_printf(b, " --%s %s", k->name, k->values[below(t, values)]);
    else if (k->kind == KNOB_KIND_INT)
        buf_printf(b, " --%s %d", k->name,
                   below(t, 2) ? (int)below(t, 5)
                               : k->min + (int)below(t, (size_t)(k->max - k->min) + 1));
    else
        buf_printf(b, " --%s %s", k->name, texts[below(t, ARRAY_LEN(texts))]);
}

/* Another first line: kinds of rewrites are asked for on purpose, further knobs come by chance. */
static void other_head(struct text *t)
{
    static const char *const kinds[] = { "",
                                         " --bypass l1 --pi 1",
                                         " --bypass l1 --pi bpa",
                                         " --cluster agent",
                                         " --cluster redirect",
                                         " --cluster agent --prefetch l1",
                                         " --prefetch l2",
                                         " --softcache 1",
                                         " --softcache dynamic",
                                         " --coarsen 2",
                                         " --swap-xy",
                                         " --throttle-shared 1024",
                                         " --readonly promote",
                                         " --readonly demote",
                                         " --pi vote --bypass l1" };
    struct buf b = { 0 };
    struct piece p = { 0, 0 };
    buf_printf(&b, "//! %zu %zu %zu %zu %zu %zu %zu %zu%s", 1 + below(t, 4), 1 + below(t, 2),
               1 + below(t, 2), 1 + below(t, 96), 1 + below(t, 4), 1 + below(t, 2),
               below(t, 3) ? 0 : below(t, 8192), below(t, 32), kinds[below(t, ARRAY_LEN(kinds))]);
    for (size_t k = below(t, 3); k-- > 0;)
        a_knob(t, &b);
    buf_puts(&b, "\n");
    if (t->n >= 3 && !memcmp(t->s, "//!", 3)) {
        while (p.n < t->n && t->s[p.n] != '\n')
            p.n++;
        p.n += p.n < t->n;
    }
    if (!b.oom)
        put(t, p, b.s, b.n);
    buf_free(&b);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    struct text t = { (char *)data, size, max, seed, 0 };
    if (size < 16 || below(&t, 2))
        return LLVMFuzzerMutate(data, size, max);
    for (size_t k = 1 + below(&t, 4); k-- > 0;) {
        size_t before = t.n;
        switch (below(&t, 8)) {
        case 0: exchange_lines(&t); break;
        case 1: copy_line(&t); break;
        case 2: put(&t, a_line(&t), "", 0); break;
        case 3:
        case 4: other_word(&t); break;
        case 5: other_number(&t); break;
        default: other_head(&t); break;
        }
        if (!t.n)
            return before;
    }
    return t.n;
}
