/* Keys of a launch description that mean nothing: said, since a misspelt "output" or "init"
 * would leave outputs uncompared or data at zero without a word. */
#include "engine/base/base.h"
#include "engine/rec/elem.h"
#include "engine/session/session_int.h"

#include <stdio.h>
#include <string.h>

enum { MOST_KEYS = 24 };
struct known {
    const char *key[MOST_KEYS];
};
static const struct known of_launch = { { "format", "version", "launches", "ptx", "name", "kernel",
                                          "grid", "block", "cluster", "shared", "args", "buffers",
                                          "symbols", "before", "note", "comment" } };
static const struct known of_arg = { { "name",       "in",      "at",        "buffer",  "count",
                                       "init",       "output",  "tolerance", "same_as", "offset",
                                       "bytes",      "size",    "pointers",  "address", "expect",
                                       "tensor_map", "texture", "surface",   "note",    "comment" } };
static const struct known of_map = { { "data", "offset", "type", "dims", "strides", "box",
                                       "element_strides", "interleave", "swizzle", "l2_promotion", "oob",
                                       "lower", "upper", "channels", "pixels" } };
static const struct known of_symbol = { { "name", "buffer", "count", "init", "note", "comment" } };
static const struct known of_init = { { "fill", "iota", "random", "permutation", "rows", "file", "npy",
                                        "hex", "seed", "offset", "note", "comment" } };

static bool is_element(const char *key)
{
    enum elem e;
    return elem_parse(str_of(key), &e);
}

static void check(const cJSON *o, const struct known *k, const char *path, const char *where,
                  struct diags *ds)
{
    const cJSON *c;
    cJSON_ArrayForEach(c, o)
    {
        const char *near = NULL;
        unsigned least = 6;
        bool known = !c->string || *c->string == '_' || (k == &of_arg && is_element(c->string));
        for (int i = 0; !known && i < MOST_KEYS && k->key[i]; i++) {
            /* letters swapped rather than lost */
            unsigned d = 2 * str_distance(str_of(c->string), str_of(k->key[i]), 3) +
                         (strlen(c->string) != strlen(k->key[i]));
            known = d == 0;
            near = d < least ? k->key[i] : near;
            least = d < least ? d : least;
        }
        if (known)
            continue;
        struct diag *d = diag_add(ds, DIAG_WARNING, "launch-key", path, json_place(o),
                                  "%s: unknown key \"%s\" is ignored", where, c->string);
        if (near)
            diag_hint(d, "did you mean \"%s\"?", near);
    }
}

static void check_list(const cJSON *list, const struct known *k, const char *what, const char *path,
                       struct diags *ds)
{
    const cJSON *o;
    cJSON_ArrayForEach(o, list)
    {
        char where[160];
        const char *name = json_text(o, "name");
        snprintf(where, sizeof where, "%s '%.120s'", what, name ? name : "");
        check(o, k, path, where, ds);
        check(json_get(o, "init"), &of_init, path, where, ds);
        check(json_get(o, "tensor_map"), &of_map, path, where, ds);
    }
}

void launch_keys_check(const cJSON *o, const char *path, struct diags *ds)
{
    const char *name = json_text(o, "name") ? json_text(o, "name") : json_text(o, "kernel");
    const cJSON *b;
    check(o, &of_launch, path, name ? name : "launch", ds);
    check_list(json_get(o, "args"), &of_arg, "argument", path, ds);
    check_list(json_get(o, "buffers"), &of_arg, "buffer", path, ds);
    check_list(json_get(o, "symbols"), &of_symbol, "symbol", path, ds);
    cJSON_ArrayForEach(b, json_get(o, "before")) launch_keys_check(b, path, ds);
    cJSON_ArrayForEach(b, json_get(o, "launches")) launch_keys_check(b, path, ds);
}
