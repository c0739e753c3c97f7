/* Fatbins as a module that launches, and errors as CUDA counts them. */
#include "engine/container/container.h"
#include "engine/base/list.h"
#include "engine/dev/card.h"
#include "engine/emulate/emulate_int.h"
#include "engine/ptx/link.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"

#include <stdio.h>
#include <string.h>

enum { ERROR_NO_IMAGE = 209, ERROR_BAD_PTX = 218, ERROR_BAD_IMAGE = 200, ERROR_MEMORY = 2 };

struct texts {
    struct ptx_link_input *v;
    size_t n, cap;
};

static enum status add_text(struct texts *t, struct container_module *m)
{
    if (!LIST_PUSH(t->v, t->n, t->cap,
                   (struct ptx_link_input){ m->where, m->text, m->n, !strstr(m->text, ".entry") }))
        return ST_NOMEM;
    m->where = NULL;
    m->text = NULL;
    return ST_OK;
}

/* The PTX of one fatbin for the device. A fatbin without device code adds nothing. */
static enum status add_fatbin(struct texts *t, const uint8_t *bytes, uint64_t n, const char *name,
                              uint32_t cc, int *error, struct diags *ds)
{
    struct container c;
    struct container_want w = { NULL, cc };
    size_t *v = NULL, k = 0;
    enum status st = container_read_memory(bytes, n, name, &c, ds);
    if (st == ST_OK && c.n)
        *error = (st = container_choose(&c, &w, &v, &k, ds)) == ST_OK ? 0 : ERROR_NO_IMAGE;
    for (size_t i = 0; i < k && st == ST_OK; i++)
        st = add_text(t, &c.v[v[i]]);
    base_free(v);
    container_free(&c);
    return st;
}

/* Machine code alone, whose PTX lies in a cache of whoever compiled it. False: it does not. */
static bool add_cached(struct texts *t, const uint8_t *bytes, uint64_t n)
{
    struct diags unread = { 0 };
    struct container_module m = { .where = live_cache_ptx_of(bytes, n) };
    bool fine = m.where &&
                file_read_regular(m.where, CONTAINER_MOST_TEXT, &m.text, &m.n, &unread) == ST_OK &&
                add_text(t, &m) == ST_OK;
    diags_free(&unread);
    BASE_FREE(m.where, m.text);
    return fine;
}

static enum status add_part(struct texts *t, const uint8_t *bytes, uint64_t n, uint32_t cc, size_t nth,
                            int *error, struct diags *ds)
{
    char name[48];
    struct diags why = { 0 };
    snprintf(name, sizeof name, "part %zu of the program", nth);
    enum status st = add_fatbin(t, bytes, n, name, cc, error, &why);
    if (st != ST_OK && st != ST_NOMEM && add_cached(t, bytes, n)) {
        *error = 0;
        st = ST_OK;
        diags_free(&why);
    }
    diags_move(ds, &why);
    return st;
}

static enum status add_parts(struct texts *t, const uint8_t *p, uint64_t left, uint64_t nparts,
                             uint32_t cc, int *error, struct diags *ds)
{
    enum status st = ST_OK;
    for (uint64_t i = 0; i < nparts && st == ST_OK; i++) {
        uint64_t n;
        if (left < sizeof n)
            return ST_INPUT;
        memcpy(&n, p, sizeof n);
        left -= sizeof n;
        if (n > left)
            return ST_INPUT;
        st = add_part(t, p + sizeof n, n, cc, i + 1, error, ds);
        p += sizeof n + n;
        left -= n;
    }
    return st;
}

static enum status parse(struct texts *t, struct ptx_module **out, struct diags *ds)
{
    size_t taken = 0;
    enum status st = t->n == 1 ? ST_OK : ptx_link_take(t->v, t->n, &taken, ds);
    if (st != ST_OK)
        return st;
    return t->n == 1 ? ptx_parse(t->v[0].name, (struct str){ t->v[0].text, t->v[0].length }, out, ds)
                     : ptx_link(t->v, taken, out, ds);
}

/* A fatbin's entries were chosen for the device; a text alone says itself what it is for. */
static bool is_for(const struct ptx_module *m, uint32_t cc, struct diags *ds)
{
    if (m->target <= cc && (m->target_suffix != 'a' || m->target == cc))
        return true;
    diag_hint(diag_add(ds, DIAG_ERROR, "ptx-target", NULL, NO_SPAN,
                       "%s is for %.*s, the device is sm_%u", m->path, (int)m->target_text.n,
                       m->target_text.s, cc),
              "--device sim:PRESET takes another one");
    return false;
}

struct card_code *module_open(struct card *m, const uint8_t *parts, uint64_t bytes, uint64_t nparts,
                              int *error, struct diags *ds)
{
    const struct dev_info *d = card_info(m);
    struct texts t = { 0 };
    struct ptx_module *module = NULL;
    struct card_code *code = NULL;
    const uint32_t cc = (uint32_t)(10 * d->cc_major + d->cc_minor);
    *error = 0;
    enum status st = add_parts(&t, parts, bytes, nparts, cc, error, ds);
    if (!*error)
        *error = st == ST_NOMEM ? ERROR_MEMORY
                 : st != ST_OK  ? ERROR_BAD_IMAGE
                 : t.n          ? 0
                                : ERROR_NO_IMAGE;
    if (*error == ERROR_NO_IMAGE && !ds->n)
        diag_hint(diag_add(ds, DIAG_ERROR, "no-ptx", NULL, NO_SPAN,
                           "the module that the program loads has no PTX"),
                  "build it with -gencode arch=compute_XX,code=compute_XX");
    if (!*error && (st = parse(&t, &module, ds)) != ST_OK)
        *error = st == ST_NOMEM ? ERROR_MEMORY : ERROR_BAD_PTX;
    if (!*error && !is_for(module, cc, ds))
        *error = ERROR_NO_IMAGE;
    if (*error)
        ptx_free(module);
    else if (card_load(m, module, &code) != ST_OK)
        *error = ERROR_MEMORY;
    for (size_t i = 0; i < t.n; i++) {
        BASE_FREE((char *)(uintptr_t)t.v[i].name, (char *)(uintptr_t)t.v[i].text);
    }
    base_free(t.v);
    return code;
}

/* ---- errors ---- */
int error_of(enum status st, const struct diags *ds)
{
    static const struct {
        const char *code;
        int error;
    } of[] = { { "out-of-bounds", 700 }, { "misaligned", 716 },  { "stack-overflow", 714 },
               { "trap", 719 },          { "assert", 710 },      { "deadlock", 702 },
               { "hang", 702 },          { "bad-call", 718 },    { "not-uniform", 719 },
               { "bad-operand", 719 },   { "not-modelled", 801 } };
    if (st == ST_OK)
        return 0;
    for (size_t i = 0; i < ds->n; i++)
        for (size_t k = 0; k < ARRAY_LEN(of) && ds->v[i].level == DIAG_ERROR; k++)
            if (ds->v[i].code && strcmp(ds->v[i].code, of[k].code) == 0)
                return of[k].error;
    return st == ST_NOMEM ? ERROR_MEMORY : st == ST_CANCELLED ? 702 : st == ST_USAGE ? 9 : 719;
}
