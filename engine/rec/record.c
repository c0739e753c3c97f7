/* The rows of fields.def that are members of structs of this room. */
#include "engine/rec/record.h"

#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"

#include <string.h>

MEMBER_NAMES(dev_kind_name, "simulated", "cuda")
MEMBER_NAMES(equality_name, "unknown", "yes", "within-tolerance", "no", "part")
MEMBER_NAMES(arg_kind_name, "buffer", "scalar", "bytes", "same_as", "tensor_map", "texture")
MEMBER_NAMES(init_name, "fill", "iota", "random", "permutation", "rows", "file", "npy", "hex", "sorted",
             "neighbours", "graph", "parts")
#define X(name, code, text) #name,
MEMBER_NAMES(status_name, STATUS_LIST(X))
#undef X
#define X(id, text, size) text,
MEMBER_NAMES(elem_text, ELEM_LIST(X))
#undef X
#define X(id, text, help) text,
MEMBER_NAMES(cause_name, LIMIT_LIST(X))
#undef X

static const char *origin_text(unsigned v)
{
    return v <= ORIGIN_COMPILED ? origin_name((enum origin)v) : NULL;
}

static const char *held_name(unsigned v)
{
    return v < DEV_LIMITS ? dev_limit_name((enum dev_limit)v) : NULL;
}

static const struct member rows[] = {
#define RECORD(name, what) { .key = name },
#define FIELD(...)
#define MEMBER(bind, name, ...) { name, bind, false },
#define WIRE(bind, name)        { name, bind, true },
#define WIRE_RECORD(name)       { .key = name },
#include "engine/rec/fields.def"
};

struct members members_of(const struct member *all, size_t n, const char *record)
{
    size_t from = 0;
    while (from < n && (all[from].kind != MEMBER_OPENS || strcmp(all[from].key, record) != 0))
        from++;
    struct members m = { &all[from] + 1, 0 };
    while (from + 1 + m.n < n && m.v[m.n].kind != MEMBER_OPENS)
        m.n++;
    return m;
}

struct members record_members(const char *record)
{
    return members_of(rows, ARRAY_LEN(rows), record);
}

/* An enum of any size. */
static unsigned value_of(const struct member *m, const void *record)
{
    const char *p = (const char *)record + m->offset;
    return m->size == 1 ? *(const uint8_t *)p : *(const unsigned *)(const void *)p;
}

const char *member_name(const struct member *m, const void *record)
{
    const char *name = m->name(value_of(m, record));
    return name ? name : "";
}

bool member_set_name(const struct member *m, void *record, struct str name)
{
    char *p = (char *)record + m->offset;
    const char *is;
    for (unsigned v = 0; (is = m->name(v)); v++) {
        if (!str_is(name, is))
            continue;
        if (m->size == 1)
            *(uint8_t *)p = (uint8_t)v;
        else
            *(unsigned *)(void *)p = v;
        return true;
    }
    return false;
}
