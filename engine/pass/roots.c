/* What passes ask of memory. The answers are engine/analysis/alias.h's; here is the user's word beside
 * them. */
#include "engine/analysis/alias.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_memory.h"

#include <string.h>

void pass_alias_free(struct pass_ctx *c)
{
    alias_free(c->alias);
    c->alias = NULL;
    c->alias_of = NULL;
}

const struct alias *pass_alias(struct pass_ctx *c)
{
    if (c->alias && c->alias_of == c->m)
        return c->alias;
    struct alias_opts o = { .launch = c->in->launch,
                            .original = c->in->module,
                            .restricts = opt_memory(c->opt)->assume_restrict };
    pass_alias_free(c);
    c->alias = alias_make(c->m, c->f, &o);
    c->alias_of = c->m;
    c->oom |= !c->alias;
    return c->alias;
}

void pass_address_roots(struct pass_ctx *c, const struct ptx_func *f, const struct ptx_operand *address,
                        struct alias_roots *out)
{
    const struct alias *a = pass_alias(c);
    if (a)
        alias_roots(a, f, address, out);
    else
        *out = (struct alias_roots){ .unknown = true };
}

int pass_access_param(struct pass_ctx *c, const struct ptx_inst *i)
{
    struct alias_roots r;
    pass_address_roots(c, c->f, inst_address(i), &r);
    if (r.unknown || r.window || r.sym || !r.params || (r.params & (r.params - 1)))
        return -1;
    int k = 0;
    while (!(r.params >> k & 1))
        k++;
    return k;
}

bool pass_params_distinct(const struct pass_ctx *c, int a, int b)
{
    return alias_params_distinct(c->in->launch, opt_memory(c->opt)->assume_restrict, a, b);
}

/* Is parameter p named in --assume-read-only, by the launch's name or by the PTX name? */
static bool user_says_read_only(const struct pass_ctx *c, const struct ptx_func *f, int p)
{
    const struct launch_spec *l = c->in->launch;
    const char *named = l && (size_t)p < launch_nargs(l) ? launch_arg(l, (size_t)p)->name : NULL;
    for (const char *s = opt_memory(c->opt)->assume_read_only; *s;) {
        size_t n = strcspn(s, ",");
        struct str one = { s, n };
        if (str_is(one, "all") || str_eq(one, f->params[p]->name) || (named && str_is(one, named)))
            return true;
        s += n + (s[n] == ',');
    }
    return false;
}

static const char *because(const struct pass_ctx *c, const struct alias_writer *w)
{
    const struct ptx_op_info *info = ptx_op_info(w->inst->op);
    if (ptx_is_opaque(w->inst))
        return "an instruction that is not known here may store to the same memory";
    if (info->effect == EFFECT_CALL)
        return "the kernel calls a function of another module";
    if (w->func != c->f)
        return "a called function may store to the same memory";
    return "a store may go to the same memory";
}

bool pass_nobody_writes(struct pass_ctx *c, const struct ptx_func *f, const struct ptx_inst *load)
{
    const struct alias *a = pass_alias(c);
    struct alias_roots r;
    if (!a || !inst_address(load))
        return false;
    alias_roots(a, f, inst_address(load), &r);
    return !alias_writer(a, &r).inst;
}

bool pass_proven_read_only(struct pass_ctx *c, const struct ptx_inst *load, const char **why)
{
    int p = pass_access_param(c, load);
    const struct alias *a = pass_alias(c);
    if (p >= 0 && user_says_read_only(c, c->f, p)) {
        *why = "the user's word";
        return true;
    }
    *why = "memory ran out";
    if (!a)
        return false;
    struct alias_roots r;
    alias_roots(a, c->f, inst_address(load), &r);
    struct alias_writer w = alias_writer(a, &r);
    *why = r.unknown && w.inst
               ? "its address does not derive from pointer parameters in a way that is followed"
           : w.inst ? because(c, &w)
                    : "no store can go to its memory";
    return !w.inst;
}
