/* A launch of original or rewrite on the hostile machine, and what it leaves, side by side. */
#include "engine/tune/prove_int.h"

#include "engine/rec/elem.h"
#include "engine/rec/result_read.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <string.h>

/* The size of dynamic shared memory is what the launch says: it has another value where a pass made it
 * so. */
enum status prover_launch(struct tune_prover *p, const struct shot *shot, const struct attack *a,
                          uint64_t most, struct diags *ds)
{
    struct set *s = &p->set[a->set];
    struct dev_run own = *shot->run;
    own.launch = &s->spec;
    own.functional = true;
    own.counters = false;
    own.repeat = own.max_repeat = 1;
    own.hostile = a->how;
    own.hostile.uniform = a->how.uniform && p->uniform;
    if (own.shared == p->run.shared)
        own.hostile.poison &= SIM_POISON_USUAL;
    own.sums = shot->code == p->original ? p->sums : NULL;
    own.sides = shot->code == p->original ? p->sides : NULL;
    own.max_insts = most ? most : own.max_insts;
    own.progress = NULL;
    own.cancel = p->cancel;
    result_clear(p->ran);
    return dev_launch(p->dev, shot->code, s->bound, &own, p->ran, ds);
}

static uint64_t first_difference(const uint8_t *a, const uint8_t *b, uint64_t n)
{
    uint64_t i = 0;
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

/* The first element that differs by more than the launch or float atomics forgive; n: none. */
static uint64_t first_beyond(const struct arg_spec *a, const struct kept *k, const uint8_t *now)
{
    uint64_t w = a ? elem_size(a->elem) : 1, i = first_difference(k->bytes, now, k->n) / w;
    if (!a || !(a->tolerance > 0))
        return i;
    for (; i < k->n / w; i++)
        if (!tune_within(a, k->bound ? &k->bound[i] : NULL, elem_load(k->bytes + i * w, a->elem),
                         elem_load(now + i * w, a->elem)))
            return i;
    return k->n / w;
}

const struct kept *prover_kept(const struct set *s, const struct dev_left *l, size_t i)
{
    if (l->arg != DEV_LEFT_VARIABLE)
        return i < s->nkept ? &s->kept[i] : NULL;
    for (size_t k = 0; k < s->nkept; k++)
        if (s->kept[k].arg == DEV_LEFT_VARIABLE && str_eq(s->kept[k].name, l->name))
            return &s->kept[k];
    return NULL; /* a variable that a pass added */
}

bool prover_differs(struct tune_prover *p, struct set *s, struct dev_code *c, char *text, size_t room)
{
    struct dev_left l;
    for (size_t i = 0; dev_left(p->dev, c, s->bound, i, &l); i++) {
        const struct kept *k = prover_kept(s, &l, i);
        const char *what = l.arg == DEV_LEFT_VARIABLE ? "variable" : "buffer";
        if (!k || l.addresses || (!l.written && !k->written))
            continue;
        if (!k->bytes || k->n != l.n) {
            snprintf(text, room, "%s '%.*s' is stored into, and the original leaves it alone", what,
                     (int)l.name.n, l.name.s);
            return true;
        }
        const struct arg_spec *a = l.arg < s->spec.nargs ? &s->spec.args[l.arg] : NULL;
        uint64_t w = a ? elem_size(a->elem) : 1, at = first_beyond(a, k, l.bytes);
        if (at >= l.n / w)
            continue;
        bool output = a && a->output;
        if (a)
            snprintf(text, room, "%s '%.*s'%s element %llu is %.9g and not %.9g", what, (int)l.name.n,
                     l.name.s, output ? "" : " (not marked output)", (unsigned long long)at,
                     elem_load(l.bytes + at * w, a->elem), elem_load(k->bytes + at * w, a->elem));
        else
            snprintf(text, room, "%s '%.*s' differs in byte %llu", what, (int)l.name.n, l.name.s,
                     (unsigned long long)at);
        return true;
    }
    return false;
}
