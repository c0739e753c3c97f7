/* Texts that a user writes by hand: themes, key maps, lines of options, launch arguments, expressions.
 * Whatever the bytes, reading them ends with what was read or with a diagnostic; what was read is
 * written, and read again it is the same. The first byte says which it is. */
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"
#include "tui/app/launch_edit.h"
#include "tui/base/expr.h"
#include "tui/base/request.h"
#include "tui/base/theme.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void themes(struct str text)
{
    struct diags ds = { 0 };
    struct theme t, plain;
    theme_default(&plain);
    enum status st = theme_parse("fuzz.theme", text, &t, &ds);
    must(st == ST_OK ? !ds.errors : ds.errors > 0);
    must(st == ST_OK || !memcmp(t.look, plain.look, sizeof t.look));
    diags_free(&ds);
}

static void keymap_write(const struct keymap *m, struct buf *out)
{
    for (int r = REQ_NONE + 1; r < REQ_COUNT; r++) {
        buf_printf(out, "%s = ", request_info((enum request)r)->name);
        keymap_keys(m, (enum request)r, out);
        buf_puts(out, "\n");
    }
}

static void keymaps(struct str text)
{
    struct diags ds = { 0 };
    struct keymap *m = calloc(2, sizeof *m);
    struct buf one = { 0 }, two = { 0 };
    must(m != NULL);
    keymap_default(&m[0]);
    keymap_parse(&m[0], "fuzz.keys", text, &ds);
    must(m[0].n <= KEYMAP_MAX);
    diags_free(&ds);
    keymap_write(&m[0], &one);
    keymap_default(&m[1]);
    keymap_parse(&m[1], "again.keys", (struct str){ one.s, one.n }, &ds);
    must(!ds.errors); /* its own text it understands */
    keymap_write(&m[1], &two);
    must(one.n == two.n && !memcmp(one.s, two.s, one.n));
    buf_free(&one);
    buf_free(&two);
    free(m);
}

static void option_lines(struct str text)
{
    struct diags ds = { 0 };
    struct options o = options_default(), again = options_default();
    struct buf line = { 0 };
    enum status st = options_parse_line(&o, text, &ds);
    must(st == ST_OK ? !ds.errors : ds.errors > 0);
    if (st == ST_OK) {
        options_line(&o, &line);
        must(options_parse_line(&again, (struct str){ line.s ? line.s : "", line.n }, &ds) == ST_OK);
        must(options_equal(&o, &again));
    }
    buf_free(&line);
    diags_free(&ds);
}

/* The first line is typed, over a buffer and over a number. */
static void arguments(const char *text)
{
    struct arena *arena = arena_new(0);
    for (int kind = 0; kind < 2 && arena; kind++) {
        struct arg_spec a = { .kind = kind ? ARG_SCALAR : ARG_BUFFER, .elem = ELEM_F32, .count = 8 }, b;
        const char *bad = NULL;
        struct buf one = { 0 }, two = { 0 };
        (void)launch_arg_help(&a);
        if (launch_arg_parse(&a, text, arena, &bad)) {
            launch_arg_text(&a, &one);
            b = a;
            must(launch_arg_parse(&b, one.s, arena, &bad));
            launch_arg_text(&b, &two);
            must(one.n == two.n && !memcmp(one.s, two.s, one.n));
        } else {
            must(bad != NULL);
        }
        buf_free(&one);
        buf_free(&two);
    }
    struct dim3u d;
    must(!launch_dim_parse(text, &d) || (d.x && d.y && d.z));
    arena_free(arena);
}

static bool known(void *ctx, struct str name, int64_t *v)
{
    (void)ctx;
    *v = (int64_t)name.n;
    return name.n < 5;
}

static void expressions(struct str text)
{
    struct expr_env env = { known, NULL };
    struct str bad = { NULL, 0 };
    int64_t v;
    if (!expr_eval(text, &env, &v, &bad))
        must(!bad.n || (bad.s >= text.s && bad.s + bad.n <= text.s + text.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    char *text = malloc(size);
    must(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    struct str s = { text, size - 1 };
    switch (*data) {
    case 't': themes(s); break;
    case 'k': keymaps(s); break;
    case 'o': option_lines(s); break;
    case 'a': arguments(text); break;
    case 'e': expressions(s); break;
    default: break;
    }
    free(text);
    return 0;
}
