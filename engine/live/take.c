/* Reading what the injected library wrote down of a launch (engine/dev/inject/record.h). */
#include "engine/live/take.h"

#include "engine/dev/inject/record.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_MOST = 256 << 20, ID_CLUSTER = 4 };

void take_free(struct take *t)
{
    for (size_t i = 0; i < t->nparam; i++)
        base_free(t->param[i].bytes);
    for (size_t i = 0; i < t->nrange; i++)
        base_free(t->range[i].name);
    BASE_FREE(t->param, t->range, t->attr, t->left, t->count, t->name, t->refused, t->data);
    *t = (struct take){ 0 };
}

/* Room for one more, zeroed; NULL: out of memory. */
static void *one_more(void *list, size_t *n, size_t *cap, size_t size)
{
    void *v;
    memcpy(&v, list, sizeof v);
    if (!base_grow(&v, *n, cap, size))
        return NULL;
    memcpy(list, &v, sizeof v);
    char *one = (char *)v + *n * size;
    memset(one, 0, size);
    ++*n;
    return one;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool unhex(const char *text, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int high = digit(text[2 * i]), low = high < 0 ? -1 : digit(text[2 * i + 1]);
        if (low < 0)
            return false;
        to[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool take_param(struct take *t, const char *line)
{
    unsigned long long off, n;
    int at = 0;
    if (sscanf(line, "param %llu %llu %n", &off, &n, &at) < 2 || !at || strlen(line + at) != 2 * n)
        return true;
    struct take_param *p = one_more(&t->param, &t->nparam, &t->cap_param, sizeof *p);
    if (!p || !(p->bytes = base_alloc(n + 1)))
        return false;
    p->off = off;
    p->n = n;
    if (!unhex(line + at, p->bytes, n))
        t->whole = false;
    return true;
}

static bool take_attr(struct take *t, const char *line, bool of_stream)
{
    int id, at = 0;
    if (sscanf(line, "%*s %d %n", &id, &at) < 1 || !at || strlen(line + at) != 128)
        return true;
    struct take_attr *a = one_more(&t->attr, &t->nattr, &t->cap_attr, sizeof *a);
    if (!a)
        return false;
    a->id = id;
    a->of_stream = of_stream;
    if (unhex(line + at, a->value, sizeof a->value) && id == ID_CLUSTER)
        memcpy(t->cluster, a->value, sizeof t->cluster);
    return true;
}

static bool take_range(struct take *t, const char *line)
{
    unsigned long long addr, n, at, of = 0;
    int kind = LIVE_DEVICE, name = 0, end = 0;
    if (sscanf(line, "range %llu %llu %llu %d %llu", &addr, &n, &at, &kind, &of) != 5 &&
        (sscanf(line, "glob %n%*s%n %llu %llu %llu", &name, &end, &addr, &n, &at) != 3 || !name))
        return true;
    struct take_range *r = one_more(&t->range, &t->nrange, &t->cap_range, sizeof *r);
    if (!r)
        return false;
    *r = (struct take_range){ addr, n, at, kind, of > n ? of : n, NULL };
    if (!name)
        return true;
    struct buf b = { 0 };
    buf_put(&b, line + name, (size_t)(end - name));
    r->name = buf_take(&b);
    return r->name != NULL;
}

static bool take_left(struct take *t, const char *line)
{
    unsigned long long addr, n, at;
    if (sscanf(line, "left %llu %llu %llu", &addr, &n, &at) != 3)
        return true;
    struct take_left *l = one_more(&t->left, &t->nleft, &t->cap_left, sizeof *l);
    if (l)
        *l = (struct take_left){ addr, n, at };
    return l != NULL;
}

static bool take_count(struct take *t, const char *line)
{
    unsigned long long key, n;
    if (sscanf(line, "counted %llx %llu", &key, &n) != 2)
        return true;
    struct take_count *c = one_more(&t->count, &t->ncount, &t->cap_count, sizeof *c);
    if (c)
        *c = (struct take_count){ key, n };
    return c != NULL;
}

static bool starts(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

static bool text_of(char **to, const char *text)
{
    if (*to)
        return true;
    *to = base_strdup(text);
    return *to != NULL;
}

static bool take_line(struct take *t, const char *line)
{
    unsigned long long v, more;
    int id, value;
    if (starts(line, "param "))
        return take_param(t, line);
    if (starts(line, "attr ") || starts(line, "sattr "))
        return take_attr(t, line, *line == 's');
    if (starts(line, "range ") || starts(line, "glob "))
        return take_range(t, line);
    if (starts(line, "left "))
        return take_left(t, line);
    if (starts(line, "counted "))
        return take_count(t, line);
    if (starts(line, "name "))
        return text_of(&t->name, line + 5);
    if (starts(line, "refused "))
        return text_of(&t->refused, line + 8);
    if (sscanf(line, "image %llx", &v) == 1)
        t->image = v;
    else if (sscanf(line, "launch %llu", &v) == 1)
        t->nth = v;
    else if (sscanf(line, "key %llx", &v) == 1)
        t->key = v;
    else if (sscanf(line, "apart %llu %llu", &v, &more) == 2)
        t->apart = v, t->no_room = more;
    else if (sscanf(line, "func %d %d", &id, &value) == 2 && id >= 0 && id < TAKE_FUNC_ATTRIBUTES)
        t->func[id] = value;
    sscanf(line, "grid %u %u %u", &t->grid[0], &t->grid[1], &t->grid[2]);
    sscanf(line, "block %u %u %u", &t->block[0], &t->block[1], &t->block[2]);
    sscanf(line, "shared %u", &t->shared);
    t->cooperative |= strcmp(line, "cooperative") == 0;
    t->whole |= strcmp(line, "end") == 0;
    return true;
}

bool take_is_float(const struct ptx_symbol *param)
{
    return ptx_type_kind((enum ptx_type)param->type) == 'f';
}

bool take_points_to(const struct take *t, uint64_t addr)
{
    for (size_t i = 0; i < t->nparam; i++)
        for (uint64_t at = 0; at + 8 <= t->param[i].n; at += 8)
            if (memcmp(t->param[i].bytes + at, &addr, 8) == 0)
                return true;
    return false;
}

static bool data_path(struct take *t, const char *path)
{
    struct buf b = { 0 };
    buf_printf(&b, "%.*s.data", (int)(strlen(path) - strlen(".take")), path);
    t->data = buf_take(&b);
    return t->data != NULL;
}

enum status take_read(struct take *t, const char *path, struct diags *ds)
{
    char *text = NULL, *rest, *line;
    size_t n = 0;
    *t = (struct take){ 0 };
    for (int i = 0; i < TAKE_FUNC_ATTRIBUTES; i++)
        t->func[i] = -1;
    enum status st = data_path(t, path) ? file_read_regular(path, RECORD_MOST, &text, &n, ds) : ST_NOMEM;
    rest = text;
    line = st == ST_OK ? strsep(&rest, "\n") : NULL;
    bool ours = line && strcmp(line, LIVE_TAKE_HEAD) == 0, room = true;
    while (ours && room && (line = strsep(&rest, "\n")))
        room = take_line(t, line);
    base_free(text);
    return room ? st : ST_NOMEM;
}
