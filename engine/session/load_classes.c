/* What a kernel's loads from global memory are on a device: classes of machine instructions, operators
 * that change nothing. */
#include "engine/ptx/flow/callgraph.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/session/documents.h"
#include "engine/session/preset.h"
#include "engine/sim/preset.h"

#include <string.h>

/* A GPU's compute capability stands for its architecture; a simulated device says more (does L1 take
 * plain loads?). */
static bool architecture(const struct dev_info *d, struct sim_preset *p)
{
    struct diags none = { 0 };
    bool ok = true;
    *p = sim_preset_default();
    if (d->kind == DEV_SIMULATED) {
        ok = preset_read(NULL, d->spec, p, &none) == ST_OK;
    } else {
        p->cc_major = d->cc_major;
        p->cc_minor = d->cc_minor;
    }
    diags_free(&none);
    return ok;
}

static void count(struct load_classes *c, const struct sim_operator *o)
{
    size_t k = 0;
    while (k < c->n && (strcmp(c->v[k].op.sass, o->sass) || strcmp(c->v[k].op.reason, o->reason)))
        k++;
    if (k == ARRAY_LEN(c->v))
        return;
    if (k == c->n)
        c->v[c->n++].op = *o;
    c->v[k].loads++;
}

static void count_loads(struct load_classes *c, const struct sim_preset *p, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (ptx_is_global_load(&f->insts[i])) {
            struct sim_operator o = sim_load_operator(p, &f->insts[i]);
            count(c, &o);
        }
}

struct load_classes load_classes_of(const struct dev_info *d, const struct ptx_module *m,
                                    const char *kernel)
{
    struct load_classes c = { .known = false };
    struct sim_preset p;
    if (!architecture(d, &p))
        return c;
    size_t n = (size_t)m->nfuncs + 1;
    const struct ptx_func **list = base_alloc(n * sizeof *list);
    uint32_t *place = base_alloc(n * sizeof *place);
    c.known = list && place;
    uint32_t reached = c.known ? ptx_reachable(m, ptx_find_func(m, str_of(kernel)), list, place) : 0;
    for (uint32_t f = 0; f < reached; f++)
        count_loads(&c, &p, list[f]);
    BASE_FREE(list, place);
    return c;
}
