/* What was checked of each kernel, and why the rest was not. */
#include "engine/analysis/analysis.h"
#include "engine/check/check.h"

#include <string.h>

const char *const check_launch_names[] = { "none", "guessed", "given" };

struct checked_kernel *findings_kernel(struct findings *f, const struct ana_kernel *k)
{
    for (size_t i = 0; i < f->nkernels; i++)
        if (str_is(k->func->name, f->kernel[i].name))
            return &f->kernel[i];
    struct buf name = { 0 }, readable = { 0 };
    buf_str(&name, k->func->name);
    ptx_readable(k->func->name, &readable);
    struct checked_kernel c = { .name = buf_take(&name), .readable = buf_take(&readable) };
    if (!c.name || !c.readable ||
        !base_grow((void **)&f->kernel, f->nkernels, &f->kernel_cap, sizeof *f->kernel)) {
        BASE_FREE(c.name, c.readable);
        f->oom = true;
        return NULL;
    }
    f->kernel[f->nkernels] = c;
    return &f->kernel[f->nkernels++];
}

void findings_tried(struct findings *f, struct checked_kernel *k, const char *what)
{
    struct buf b = { 0 };
    const char *was = k->shape ? k->shape : "";
    buf_printf(&b, "%s%s%s", was, strstr(was, "; also ") ? ", " : "; also ", what);
    base_free(k->shape);
    k->shape = buf_take(&b);
    f->oom = f->oom || !k->shape;
}

bool findings_checked(const struct checked_kernel *k, const struct rules *r, enum rule_id rule,
                      const char **why)
{
    bool of_run = *rule_at(rule)->fault != 0;
    *why = r->level[rule] == RULE_OFF ? "the rule is off"
           : !of_run && k->analysed   ? NULL
           : !of_run                  ? k->unanalysed
           : !k->ran                  ? k->unrun
           : k->fault                 ? "the run ended at the fault"
           : rule == RULE_out_of_bounds && k->front
               ? "what is touched in front of a pointer was taken for its buffer's"
           : rule == RULE_race && k->one_warp
               ? "no guess with several warps in a CTA runs: races between warps were not looked for"
               : NULL;
    return !*why;
}
