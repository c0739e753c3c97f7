/* Keys of a launch description: one that is unknown, or that means nothing where it stands, is an error,
 * since a misspelt "output" or "init" would leave outputs uncompared or data at zero without a word. */
#include "engine/rec/elem.h"
#include "engine/session/session_int.h"

#include <stdio.h>
#include <string.h>

enum { MOST_KEYS = 24, MOST_PARTS = 8, MOST_NEEDS = 12, MOST_ANY = 8 };
/* A key that means something only beside one of others. */
struct need {
    const char *key, *any[MOST_ANY];
};
/* The keys of one kind of object, and the objects, or lists of them, in it. */
struct object {
    const char *key[MOST_KEYS];
    struct need need[MOST_NEEDS];
    struct part {
        const char *key, *what;
        const struct object *is;
        const struct object *each; /* of a list, where that is another; NULL: it is not */
    } part[MOST_PARTS];
    bool elements; /* element types are keys too */
};
static const struct object of_rows = { .key = { "rows", "nnz" } };
static const struct object of_neighbours = { .key = { "rows", "degree", "span" } };
static const struct object of_graph = { .key = { "nodes", "degree" } };
/* Of a whole buffer, and of a part of one. */
#define INIT_KEYS                                                                                    \
    "fill", "iota", "random", "permutation", "rows", "sorted", "neighbours", "graph", "file", "npy", \
        "hex", "seed", "offset"
#define INIT_REST                                                                               \
    .need = { { "seed", { "random", "permutation", "rows", "sorted", "neighbours", "graph" } }, \
              { "offset", { "file", "npy" } } },                                                \
    .part = { { "rows", NULL, &of_rows, NULL },                                                 \
              { "neighbours", NULL, &of_neighbours, NULL },                                     \
              { "graph", NULL, &of_graph, NULL } }
static const struct object of_init = { .key = { INIT_KEYS }, INIT_REST };
static const struct object of_part = { .key = { INIT_KEYS, "count" }, INIT_REST };
static const struct object of_expect = { .key = { "file", "offset" } };
static const struct object of_pointer = { .key = { "at", "to", "offset" } };
static const struct object of_map = {
    .key = { "data", "offset", "type", "dims", "strides", "box", "element_strides", "interleave",
             "swizzle", "l2_promotion", "oob", "lower", "upper", "channels", "pixels" },
};
#define BUFFER "buffer"
static const struct object of_arg = {
    .key = { "name", "in", "at", "buffer", "count", "init", "output", "tolerance", "same_as", "offset",
             "bytes", "size", "pointers", "address", "expect", "tensor_map", "texture", "surface",
             "sampler" },
    .need = { { "count", { BUFFER } },
              { "init", { BUFFER } },
              { "output", { BUFFER } },
              { "tolerance", { BUFFER } },
              { "address", { BUFFER } },
              { "expect", { BUFFER } },
              { "offset", { "same_as" } },
              { "at", { "in" } },
              { "pointers", { "bytes", "size" } } },
    .part = { { "init", NULL, &of_init, &of_part },
              { "expect", NULL, &of_expect, NULL },
              { "pointers", NULL, &of_pointer, NULL },
              { "tensor_map", NULL, &of_map, NULL } },
    .elements = true,
};
static const struct object of_symbol = {
    .key = { "name", "buffer", "count", "init", "texture", "surface", "sampler" },
    .need = { { "count", { BUFFER } } },
    .part = { { "init", NULL, &of_init, &of_part } },
};
static const struct object of_launch = {
    .key = { "format", "version", "launches", "ptx", "name", "kernel", "grid", "block", "cluster",
             "shared", "guessed", "args", "buffers", "symbols", "before" },
    .part = { { "args", "argument", &of_arg, NULL },
              { "buffers", "buffer", &of_arg, NULL },
              { "symbols", "symbol", &of_symbol, NULL },
              { "before", "launch", &of_launch, NULL },
              { "launches", "launch", &of_launch, NULL } },
};

struct checking {
    const char *path;
    struct diags *ds;
    unsigned wrong;
};

static bool is_element(const char *key)
{
    enum elem e;
    return elem_parse(str_of(key), &e);
}

static bool own_note(const char *key)
{
    return *key == '_' || !strcmp(key, "note") || !strcmp(key, "comment");
}

/* The key that it nearly is: letters swapped rather than lost; NULL: it is one, or none is near. */
static bool known(const struct object *is, const char *key, const char **near)
{
    unsigned least = 6;
    *near = NULL;
    if (own_note(key) || (is->elements && is_element(key)))
        return true;
    for (int i = 0; i < MOST_KEYS && is->key[i]; i++) {
        unsigned d =
            2 * str_distance(str_of(key), str_of(is->key[i]), 3) + (strlen(key) != strlen(is->key[i]));
        if (d == 0)
            return true;
        *near = d < least ? is->key[i] : *near;
        least = d < least ? d : least;
    }
    return false;
}

/* NULL, or what the key wants beside it and has not. */
static const struct need *lacks(const struct object *is, const cJSON *o, const char *key)
{
    for (int i = 0; i < MOST_NEEDS && is->need[i].key; i++) {
        bool there = strcmp(is->need[i].key, key) != 0;
        for (int k = 0; !there && k < MOST_ANY && is->need[i].any[k]; k++)
            there = json_get(o, is->need[i].any[k]) != NULL;
        if (!there)
            return &is->need[i];
    }
    return NULL;
}

static void check_key(struct checking *c, const struct object *is, const cJSON *o, const char *key,
                      const char *where)
{
    const char *near;
    const struct need *need;
    struct diag *d = NULL;
    if (!known(is, key, &near)) {
        d = diag_add(c->ds, DIAG_ERROR, "launch-key", c->path, json_place(o), "%s: unknown key \"%s\"",
                     where, key);
        if (near)
            diag_hint(d, "did you mean \"%s\"?", near);
        else
            diag_hint(d, "keys for your own use start with an underscore");
    } else if ((need = lacks(is, o, key))) {
        d = diag_add(c->ds, DIAG_ERROR, "launch-key", c->path, json_place(o),
                     "%s: \"%s\" has no effect here", where, key);
        diag_hint(d, "it belongs beside \"%s\"", need->any[0]);
    } else {
        return;
    }
    c->wrong++;
}

static void check(struct checking *c, const struct object *is, const cJSON *o, const char *where)
{
    const cJSON *k;
    cJSON_ArrayForEach(k, o)
    {
        if (k->string)
            check_key(c, is, o, k->string, where);
    }
    for (int i = 0; i < MOST_PARTS && is->part[i].key; i++) {
        const cJSON *p = json_get(o, is->part[i].key), *e;
        char inside[160];
        if (cJSON_IsObject(p))
            check(c, is->part[i].is, p, where);
        if (!cJSON_IsArray(p))
            continue;
        cJSON_ArrayForEach(e, p)
        {
            const char *name = json_text(e, "name") ? json_text(e, "name") : json_text(e, "kernel");
            if (is->part[i].what)
                snprintf(inside, sizeof inside, "%s '%.120s'", is->part[i].what, name ? name : "");
            check(c, is->part[i].each ? is->part[i].each : is->part[i].is, e,
                  is->part[i].what ? inside : where);
        }
    }
}

enum status launch_keys_check(const cJSON *o, const char *path, struct diags *ds)
{
    struct checking c = { path, ds, 0 };
    const char *name = json_text(o, "name") ? json_text(o, "name") : json_text(o, "kernel");
    check(&c, &of_launch, o, name ? name : "launch");
    return c.wrong ? ST_INPUT : ST_OK;
}
