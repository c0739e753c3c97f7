/* The knobs of a configuration: text <-> struct options, all driven by options.def. */
#include "engine/base/shown.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/opt_shared.h"
#include "engine/rec/opt_softcache.h"
#include "engine/rec/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What struct options holds. */
struct layout {
    struct opt_bypass bypass;
    struct opt_cluster cluster;
    struct opt_prefetch prefetch;
    struct opt_softcache softcache;
    struct opt_schedule schedule;
    struct opt_occupancy occupancy;
    struct opt_shared shared;
    struct opt_memory memory;
};
_Static_assert(sizeof(struct layout) <= sizeof(struct options), "OPTIONS_WORDS is too small");

#define GROUP(name)                                                    \
    struct opt_##name *opt_##name##_set(struct options *o)             \
    {                                                                  \
        return &((struct layout *)(void *)o->word)->name;              \
    }                                                                  \
    const struct opt_##name *opt_##name##_get(const struct options *o) \
    {                                                                  \
        return &((const struct layout *)(const void *)o->word)->name;  \
    }
GROUP(bypass)
GROUP(cluster)
GROUP(prefetch)
GROUP(softcache)
GROUP(schedule)
GROUP(occupancy)
GROUP(shared)
GROUP(memory)
#undef GROUP

#define VALUE_TEXT(name, text) text,
#define KNOB_ENUM(group, field, name, with_knob, list, def, help) \
    static const char *const values_##group##_##field[] = { list(VALUE_TEXT) NULL };
#define KNOB_INT(group, field, name, with_knob, min, max, def, help)
#define KNOB_FLAG(group, field, name, with_knob, help)
#define KNOB_TEXT(group, field, name, with_knob, form, help)
#include "engine/rec/options.def"
#undef KNOB_ENUM
#undef KNOB_INT
#undef KNOB_FLAG
#undef KNOB_TEXT

static const struct knob_info knobs[] = {
#define KNOB_ENUM(group, field, text, with_knob, list, first, about) \
    { .name = text,                                                  \
      .with = with_knob,                                             \
      .help = about,                                                 \
      .kind = KNOB_KIND_ENUM,                                        \
      .def = first,                                                  \
      .max = (int)ARRAY_LEN(values_##group##_##field) - 2,           \
      .values = values_##group##_##field },
#define KNOB_INT(group, field, text, with_knob, least, most, first, about) \
    { .name = text,                                                        \
      .with = with_knob,                                                   \
      .form = "N",                                                         \
      .help = about,                                                       \
      .kind = KNOB_KIND_INT,                                               \
      .min = least,                                                        \
      .max = most,                                                         \
      .def = first },
#define KNOB_FLAG(group, field, text, with_knob, about) \
    { .name = text, .with = with_knob, .help = about, .kind = KNOB_KIND_FLAG, .max = 1 },
#define KNOB_TEXT(group, field, text, with_knob, words, about) \
    { .name = text, .with = with_knob, .form = words, .help = about, .kind = KNOB_KIND_TEXT },
#include "engine/rec/options.def"
#undef KNOB_ENUM
#undef KNOB_INT
#undef KNOB_FLAG
#undef KNOB_TEXT
};

/* Text knobs have a reader and a writer each. */
typedef bool knob_reader(struct options *o, struct str s);
typedef void knob_writer(const struct options *o, struct buf *b);
#define KNOB_ENUM(group, field, name, with_knob, list, def, help)
#define KNOB_INT(group, field, name, with_knob, min, max, def, help)
#define KNOB_FLAG(group, field, name, with_knob, help)
#define KNOB_TEXT(group, field, name, with_knob, form, help) \
    static knob_reader read_##group##_##field;               \
    static knob_writer write_##group##_##field;
#include "engine/rec/options.def"
#undef KNOB_ENUM
#undef KNOB_INT
#undef KNOB_FLAG
#undef KNOB_TEXT

static const struct {
    size_t offset;      /* of the value in struct options, byte */
    size_t size;        /* byte */
    knob_reader *read;  /* TEXT */
    knob_writer *write; /* TEXT */
} access[] = {
#define SIZE_OF(group, field)                                        sizeof(((struct layout *)0)->group.field)
#define AT(g, f)                                                     offsetof(struct layout, g.f), SIZE_OF(g, f)
#define KNOB_ENUM(group, field, name, with_knob, list, def, help)    { AT(group, field), NULL, NULL },
#define KNOB_INT(group, field, name, with_knob, min, max, def, help) { AT(group, field), NULL, NULL },
#define KNOB_FLAG(group, field, name, with_knob, help)               { AT(group, field), NULL, NULL },
#define KNOB_TEXT(group, field, name, with_knob, form, help) \
    { AT(group, field), read_##group##_##field, write_##group##_##field },
#include "engine/rec/options.def"
#undef KNOB_ENUM
#undef KNOB_INT
#undef KNOB_FLAG
#undef KNOB_TEXT
#undef AT
#undef SIZE_OF
};

size_t knob_count(void)
{
    return ARRAY_LEN(knobs);
}
const struct knob_info *knob_info(size_t i)
{
    return &knobs[i];
}

int knob_find(struct str name)
{
    while (name.n && *name.s == '-') {
        name.s++;
        name.n--;
    }
    for (size_t i = 0; i < ARRAY_LEN(knobs); i++)
        if (str_is(name, knobs[i].name))
            return (int)i;
    return -1;
}

/* A whole decimal number in [min, max]; nothing before or after it. */
static bool number(struct str s, long min, long max, long *out)
{
    long v = 0;
    size_t i = s.n && s.s[0] == '-';
    if (i == s.n)
        return false;
    for (size_t k = i; k < s.n; k++) {
        if (s.s[k] < '0' || s.s[k] > '9' || v > 100000000000L)
            return false;
        v = v * 10 + (s.s[k] - '0');
    }
    *out = i ? -v : v;
    return *out >= min && *out <= max;
}

/* Cuts the part before `sep` off *rest. */
static struct str part(struct str *rest, char sep)
{
    size_t n = 0;
    while (n < rest->n && rest->s[n] != sep)
        n++;
    struct str head = { rest->s, n };
    size_t skip = n < rest->n ? n + 1 : n;
    rest->s += skip;
    rest->n -= skip;
    return head;
}

static bool read_bypass_pi(struct options *o, struct str s)
{
    static const char *const modes[] = { PI_MODES(VALUE_TEXT) };
    struct opt_bypass *p = opt_bypass(o);
    long v;
    for (int m = PI_CHA; m <= PI_VOTE_SM; m++)
        if (str_is(s, modes[m])) {
            p->pi.mode = m;
            p->pi.value = 0;
            return true;
        }
    if (!number(s, 0, 64, &v))
        return false;
    p->pi.mode = PI_VALUE;
    p->pi.value = (int)v;
    return true;
}

static void write_bypass_pi(const struct options *o, struct buf *b)
{
    static const char *const modes[] = { PI_MODES(VALUE_TEXT) };
    if (opt_bypass(o)->pi.mode == PI_VALUE)
        buf_printf(b, "%d", opt_bypass(o)->pi.value);
    else
        buf_puts(b, modes[opt_bypass(o)->pi.mode]);
}

static bool read_bypass_loads(struct options *o, struct str s)
{
    struct opt_bypass *p = opt_bypass(o);
    p->loads.n = 0;
    while (s.n) {
        long v;
        if (!number(part(&s, ','), 1, 0x7fffffff, &v) || p->loads.n == OPT_MAX_LOADS)
            return false;
        p->loads.line[p->loads.n++] = (uint32_t)v;
    }
    return true;
}

static void write_bypass_loads(const struct options *o, struct buf *b)
{
    for (uint32_t i = 0; i < opt_bypass(o)->loads.n; i++)
        buf_printf(b, "%s%u", i ? "," : "", opt_bypass(o)->loads.line[i]);
}

static bool read_cluster_index(struct options *o, struct str s)
{
    static const char *const kinds[] = { INDEX_KINDS(VALUE_TEXT) };
    struct opt_cluster *c = opt_cluster(o);
    struct str rest = s, kind = part(&rest, ':');
    long x, y;
    memset(&c->index, 0, sizeof c->index);
    if (str_is(kind, kinds[INDEX_TILE])) {
        struct str tx = part(&rest, 'x');
        if (!number(tx, 1, 65535, &x) || !number(rest, 1, 65535, &y))
            return false;
        c->index.kind = INDEX_TILE;
        c->index.tx = (uint32_t)x;
        c->index.ty = (uint32_t)y;
        return true;
    }
    if (str_is(kind, kinds[INDEX_CUSTOM])) {
        if (!rest.n || rest.n >= sizeof c->index.file)
            return false;
        c->index.kind = INDEX_CUSTOM;
        memcpy(c->index.file, rest.s, rest.n);
        return true;
    }
    c->index.kind = str_is(s, kinds[INDEX_COLUMN])  ? INDEX_COLUMN
                    : str_is(s, kinds[INDEX_GRAPH]) ? INDEX_GRAPH
                                                    : INDEX_ROW;
    return str_is(s, kinds[c->index.kind]);
}

static void write_cluster_index(const struct options *o, struct buf *b)
{
    static const char *const kinds[] = { INDEX_KINDS(VALUE_TEXT) };
    const struct opt_cluster *c = opt_cluster(o);
    buf_puts(b, kinds[c->index.kind]);
    if (c->index.kind == INDEX_TILE)
        buf_printf(b, ":%ux%u", c->index.tx, c->index.ty);
    if (c->index.kind == INDEX_CUSTOM)
        buf_printf(b, ":%s", c->index.file);
}

static bool read_schedule_tile_order(struct options *o, struct str s)
{
    static const char *const kinds[] = { TILE_ORDERS(VALUE_TEXT) };
    struct opt_schedule *p = opt_schedule(o);
    struct str rest = s, kind = part(&rest, ':');
    long x = 0, y = 0;
    memset(&p->tile_order, 0, sizeof p->tile_order);
    for (int k = TILES_OFF; k < TILES_TILE; k++)
        if (str_is(s, kinds[k])) {
            p->tile_order.kind = k;
            return true;
        }
    struct str tx = part(&rest, 'x');
    if (!str_is(kind, kinds[TILES_TILE]) || !number(tx, 1, 65535, &x) || !number(rest, 1, 65535, &y))
        return false;
    p->tile_order.kind = TILES_TILE;
    p->tile_order.tx = (uint32_t)x;
    p->tile_order.ty = (uint32_t)y;
    return true;
}

static void write_schedule_tile_order(const struct options *o, struct buf *b)
{
    static const char *const kinds[] = { TILE_ORDERS(VALUE_TEXT) };
    const struct opt_schedule *p = opt_schedule(o);
    buf_puts(b, kinds[p->tile_order.kind]);
    if (p->tile_order.kind == TILES_TILE)
        buf_printf(b, ":%ux%u", p->tile_order.tx, p->tile_order.ty);
}

static bool read_cluster_agents(struct options *o, struct str s)
{
    long v = OPT_AGENTS_VOTE;
    bool ok = str_is(s, "vote") || number(s, 0, 64, &v);
    if (ok)
        opt_cluster(o)->agents = (int)v;
    return ok;
}

static void write_cluster_agents(const struct options *o, struct buf *b)
{
    if (opt_cluster(o)->agents == OPT_AGENTS_VOTE)
        buf_puts(b, "vote");
    else
        buf_printf(b, "%d", opt_cluster(o)->agents);
}

static bool read_softcache_lines(struct options *o, struct str s)
{
    long v = str_is(s, "off") ? 0 : str_is(s, "dynamic") ? OPT_SOFTCACHE_DYNAMIC : OPT_SOFTCACHE_AUTO;
    bool ok = str_is(s, "off") || str_is(s, "auto") || str_is(s, "dynamic") || number(s, 1, 64, &v);
    if (ok)
        opt_softcache(o)->lines = (int)v;
    return ok;
}

static void write_softcache_lines(const struct options *o, struct buf *b)
{
    if (opt_softcache(o)->lines > 0)
        buf_printf(b, "%d", opt_softcache(o)->lines);
    else
        buf_puts(b, opt_softcache(o)->lines == OPT_SOFTCACHE_DYNAMIC ? "dynamic"
                    : opt_softcache(o)->lines                        ? "auto"
                                                                     : "off");
}

static bool read_schedule_block(struct options *o, struct str s)
{
    uint32_t d[3] = { 0, 1, 1 };
    if (str_is(s, "as-launched")) {
        opt_schedule(o)->block = (struct dim3u){ 0, 0, 0 };
        return true;
    }
    for (int i = 0; i < 3 && s.n; i++) {
        long v;
        if (!number(part(&s, 'x'), 1, 1024, &v))
            return false;
        d[i] = (uint32_t)v;
    }
    if (s.n || !d[0] || (uint64_t)d[0] * d[1] * d[2] > 1024)
        return false;
    opt_schedule(o)->block = (struct dim3u){ d[0], d[1], d[2] };
    return true;
}

static void write_schedule_block(const struct options *o, struct buf *b)
{
    if (!opt_schedule(o)->block.x)
        buf_puts(b, "as-launched");
    else
        buf_printf(b, "%ux%ux%u", opt_schedule(o)->block.x, opt_schedule(o)->block.y,
                   opt_schedule(o)->block.z);
}

static bool read_names(char *to, size_t size, struct str s)
{
    if (s.n >= size)
        return false;
    memset(to, 0, size);
    memcpy(to, s.s, s.n);
    return true;
}

static bool read_memory_assume_read_only(struct options *o, struct str s)
{
    return read_names(opt_memory(o)->assume_read_only, sizeof opt_memory(o)->assume_read_only, s);
}
static void write_memory_assume_read_only(const struct options *o, struct buf *b)
{
    buf_puts(b, opt_memory(o)->assume_read_only);
}
static bool read_softcache_data(struct options *o, struct str s)
{
    return read_names(opt_softcache(o)->data, sizeof opt_softcache(o)->data, s);
}
static void write_softcache_data(const struct options *o, struct buf *b)
{
    buf_puts(b, opt_softcache(o)->data);
}

/* Cuts ":FRACTION" off; 0: there is none. False: what stands there is no fraction. */
static bool take_fraction(struct str *s, double *fraction)
{
    char text[16], *end;
    size_t colon = s->n;
    *fraction = 0;
    while (colon && s->s[colon - 1] != ':')
        colon--;
    if (!colon)
        return true;
    size_t n = s->n - colon;
    if (!n || n >= sizeof text)
        return false;
    memcpy(text, s->s + colon, n);
    text[n] = '\0';
    *fraction = strtod(text, &end);
    s->n = colon - 1;
    return !*end && *fraction > 0 && *fraction <= 1 && s->n > 0;
}

static bool read_memory_l2_persist(struct options *o, struct str s)
{
    struct str name = s;
    double fraction;
    bool off = !s.n || str_is(s, "off");
    if (!off && (s.n >= sizeof opt_memory(o)->l2_persist || !take_fraction(&name, &fraction)))
        return false;
    memset(opt_memory(o)->l2_persist, 0, sizeof opt_memory(o)->l2_persist);
    if (!off)
        memcpy(opt_memory(o)->l2_persist, s.s, s.n);
    return true;
}

static void write_memory_l2_persist(const struct options *o, struct buf *b)
{
    buf_puts(b, opt_memory(o)->l2_persist[0] ? opt_memory(o)->l2_persist : "off");
}

bool options_l2_persist(const struct options *o, struct str *buffer, double *fraction)
{
    *buffer = str_of(opt_memory(o)->l2_persist);
    return buffer->n && take_fraction(buffer, fraction);
}

static int *int_field(struct options *o, size_t i)
{
    return (int *)(void *)((char *)o + access[i].offset);
}
static bool *flag_field(struct options *o, size_t i)
{
    return (bool *)((char *)o + access[i].offset);
}

static bool set_enum(struct options *o, size_t i, struct str s)
{
    for (int v = 0; v <= knobs[i].max; v++)
        if (str_is(s, knobs[i].values[v])) {
            *int_field(o, i) = v;
            return true;
        }
    return false;
}

static bool set_flag(struct options *o, size_t i, struct str s)
{
    bool on = str_is(s, "on") || str_is(s, "true") || str_is(s, "1") || !s.n;
    if (!on && !str_is(s, "off") && !str_is(s, "false") && !str_is(s, "0"))
        return false;
    *flag_field(o, i) = on;
    return true;
}

static bool set_int(struct options *o, size_t i, struct str s)
{
    long v;
    if (!number(s, knobs[i].min, knobs[i].max, &v))
        return false;
    *int_field(o, i) = (int)v;
    return true;
}

/* Is one of the words between the bars N? */
static bool takes_number(const char *form)
{
    size_t n = strlen(form);
    return strncmp(form, "N|", 2) == 0 || strstr(form, "|N|") ||
           (n > 2 && strcmp(form + n - 2, "|N") == 0);
}

static void allowed(size_t i, struct buf *b)
{
    const struct knob_info *k = &knobs[i];
    if (k->kind == KNOB_KIND_INT)
        buf_printf(b, "a whole number from %d to %d", k->min, k->max);
    else if (k->kind == KNOB_KIND_FLAG)
        buf_puts(b, "on or off");
    else if (k->kind == KNOB_KIND_TEXT)
        buf_printf(b, "%s%s", k->form, takes_number(k->form) ? "; N: a whole number up to 64" : "");
    else
        for (int v = 0; v <= k->max; v++)
            buf_printf(b, "%s%s", v ? ", " : "", k->values[v]);
}

/* Names and paths are written into sessions, whose text is UTF-8: other bytes would come back as others.
 */
static bool set_text(struct options *o, size_t i, struct str s)
{
    uint32_t cp;
    for (size_t at = 0; at < s.n;) {
        at += shown_next(s.s + at, s.n - at, &cp);
        if (cp < ' ' || cp == UINT32_MAX)
            return false;
    }
    return access[i].read(o, s);
}

enum status knob_set(struct options *o, size_t i, struct str text, struct diags *ds)
{
    struct options trial = *o; /* a bad text leaves *o as it was */
    bool ok = knobs[i].kind == KNOB_KIND_ENUM   ? set_enum(&trial, i, text)
              : knobs[i].kind == KNOB_KIND_FLAG ? set_flag(&trial, i, text)
              : knobs[i].kind == KNOB_KIND_INT  ? set_int(&trial, i, text)
                                                : set_text(&trial, i, text);
    if (ok) {
        *o = trial;
        return ST_OK;
    }
    struct buf b = { 0 };
    allowed(i, &b);
    struct diag *d = diag_add(ds, DIAG_ERROR, "option", NULL, NO_SPAN, "--%s: '%.*s' is not allowed",
                              knobs[i].name, (int)(text.n < 200 ? text.n : 200), text.s);
    diag_hint(d, "%s", b.s ? b.s : "");
    buf_free(&b);
    return ST_USAGE;
}

void knob_get(const struct options *o, size_t i, struct buf *out)
{
    struct options *w = (struct options *)(uintptr_t)o; /* the field finders serve both directions */
    if (knobs[i].kind == KNOB_KIND_TEXT)
        access[i].write(o, out);
    else if (knobs[i].kind == KNOB_KIND_FLAG)
        buf_puts(out, *flag_field(w, i) ? "on" : "off");
    else if (knobs[i].kind == KNOB_KIND_INT)
        buf_printf(out, "%d", *int_field(w, i));
    else
        buf_puts(out, knobs[i].values[*int_field(w, i)]);
}

void knob_copy(struct options *to, const struct options *from, size_t i)
{
    memcpy((char *)to + access[i].offset, (const char *)from + access[i].offset, access[i].size);
}

const struct options *options_none(void)
{
    static const union {
        struct layout layout;
        struct options options;
    } none = { .layout = {
                   .bypass.pi.mode = PI_CHA,
#define KNOB_ENUM(group, field, name, with_knob, list, def, help)         .group.field = def,
#define KNOB_INT(group, field, name, with_knob, least, most, first, help) .group.field = first,
#define KNOB_FLAG(group, field, name, with_knob, help)
#define KNOB_TEXT(group, field, name, with_knob, form, help)
#include "engine/rec/options.def"
#undef KNOB_ENUM
#undef KNOB_INT
#undef KNOB_FLAG
#undef KNOB_TEXT
               } };
    return &none.options;
}

struct options options_default(void)
{
    return *options_none();
}

void options_copy(struct options *to, const struct options *from)
{
    *to = *from;
}

struct options *options_list(size_t n)
{
    struct options *list = base_alloc(n * sizeof *list);
    for (size_t i = 0; list && i < n; i++)
        list[i] = *options_none();
    return list;
}

struct options *options_new(void)
{
    return options_list(1);
}

struct options *options_at(struct options *list, size_t i)
{
    return &list[i];
}

struct options *options_put(struct options *list, size_t i, const struct options *o)
{
    list[i] = *o;
    return &list[i];
}

/* Out of memory counts as different (*oom, where asked for): a knob may be written out though it is the
 * default's, never left out. */
static bool same_value(const struct options *a, const struct options *b, size_t i, bool *oom)
{
    struct options *v = (struct options *)(uintptr_t)a, *w = (struct options *)(uintptr_t)b;
    if (knobs[i].kind == KNOB_KIND_FLAG)
        return *flag_field(v, i) == *flag_field(w, i);
    if (knobs[i].kind != KNOB_KIND_TEXT)
        return *int_field(v, i) == *int_field(w, i);
    struct buf x = { 0 }, y = { 0 };
    knob_get(a, i, &x);
    knob_get(b, i, &y);
    if (oom)
        *oom = *oom || x.oom || y.oom;
    bool same = !x.oom && !y.oom && x.n == y.n && (!x.n || memcmp(x.s, y.s, x.n) == 0);
    buf_free(&x);
    buf_free(&y);
    return same;
}

bool knob_is_default(const struct options *o, size_t i)
{
    return same_value(o, options_none(), i, NULL);
}

bool options_equal(const struct options *a, const struct options *b)
{
    if (memcmp(a, b, sizeof *a) == 0)
        /* the usual case; different bytes may still read the same */
        return true;
    for (int text = 0; text < 2; text++) /* texts are made for it: last */
        for (size_t i = 0; i < ARRAY_LEN(knobs); i++)
            if ((knobs[i].kind == KNOB_KIND_TEXT) == text && !same_value(a, b, i, NULL))
                return false;
    return true;
}

void options_line(const struct options *o, struct buf *out)
{
    const struct options *none = options_none();
    for (size_t i = 0; i < ARRAY_LEN(knobs); i++) {
        if (same_value(o, none, i, &out->oom))
            continue;
        buf_printf(out, "%s--%s", out->n ? " " : "", knobs[i].name);
        if (knobs[i].kind == KNOB_KIND_FLAG)
            continue;
        buf_puts(out, " ");
        knob_get(o, i, out);
    }
}

static struct str word(struct str *rest)
{
    while (rest->n && *rest->s == ' ') {
        rest->s++;
        rest->n--;
    }
    return part(rest, ' ');
}

enum status options_parse_line(struct options *o, struct str line, struct diags *ds)
{
    for (struct str w = word(&line); w.n; w = word(&line)) {
        int i = knob_find(w);
        if (i < 0 || w.n < 3 || memcmp(w.s, "--", 2) != 0) {
            diag_error(ds, "option", "no configuration option '%.*s'", (int)(w.n < 200 ? w.n : 200),
                       w.s);
            return ST_USAGE;
        }
        enum status s =
            knob_set(o, (size_t)i, knobs[i].kind == KNOB_KIND_FLAG ? STR("on") : word(&line), ds);
        if (s != ST_OK)
            return s;
    }
    return ST_OK;
}
