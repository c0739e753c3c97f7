/* softcache (paper: softcache): thread-private 16-byte lines in shared memory, one per chosen data
 * structure. A structure is a pointer parameter; an access belongs to the parameter its address
 * derives from.
 *
 *   before                               after, --softcache 1
 *                                          slot = dyn + 16 * thread;  tag = 0;       at the entry
 *     ld.global.f32 %f49, [%rd16];         line = %rd16 & -16;
 *                                          @(line == tag) bra $hit;
 *                                          ld.global.v4.u32 {v0,v1,v2,v3}, [line];
 *                                          st.shared.v4.u32 [slot], {v0,v1,v2,v3};  tag = line;
 *                                        $hit:
 *                                          ld.shared.f32 %f49, [slot + (%rd16 & 15)];
 *
 * A thread's lines stay exact because nothing reaches their bytes behind their back:
 *   - an access of the same thread that may meet another structure's line looks there too: a store
 *     empties that line, a load has its dirty bytes written back first;
 *   - what other threads wrote counts only behind a fence, barrier, ordered access or call, and there
 *     every line is written back (dirty bytes alone) and emptied. */
#include "engine/analysis/analysis.h"
#include "engine/invariants/invariants.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/rec/device.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_softcache.h"
#include "engine/rewrites/softcache_int.h"

#include <string.h>

static bool asked(const struct options *o)
{
    return opt_softcache(o)->lines != 0;
}

uint32_t pass_softcache_lines(uint64_t shared_free_per_sm, uint64_t threads_per_sm, unsigned line)
{
    return threads_per_sm ? (uint32_t)(shared_free_per_sm / threads_per_sm / line) : 0;
}

static bool touches_global(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    return (e == EFFECT_LOAD || e == EFFECT_STORE || e == EFFECT_ATOMIC) &&
           (i->space == PTX_SPACE_GLOBAL || i->space == PTX_SPACE_GENERIC);
}

/* ---- collecting structures and accesses ---- */
static struct soft_structure *structure_of(struct soft *s, int param)
{
    for (uint32_t k = 0; param >= 0 && k < s->n; k++)
        if (s->s[k].param == param)
            return &s->s[k];
    if (param < 0 || s->n == SOFT_MAX)
        return NULL;
    s->s[s->n] = (struct soft_structure){
        .param = param,
        .why = "no access of it fits a line (atomic, ordered, or wider than a line)",
        .line = -1
    };
    return &s->s[s->n++];
}

static bool fits_line(const struct soft *s, const struct ptx_inst *i)
{
    const struct ptx_operand *a = inst_address(i);
    unsigned bytes = inst_bytes(i);
    return ptx_is(i, IS_PLAIN) && !ptx_is_strong(i) && !ptx_has_mod(i, PTX_MOD_UNIFIED) && bytes &&
           bytes <= s->line && i->type[0] != PTX_T_B128 && a && a->base == BASE_REG;
}

static void classify(struct soft *s, const struct ptx_inst *i)
{
    struct soft_access *a = &s->access[i->index];
    const struct ptx_operand *o = inst_address(i);
    if (!touches_global(i))
        return;
    pass_address_roots(s->c, s->c->f, o, &a->roots);
    bool anywhere = a->roots.unknown || a->roots.params;
    if (!anywhere && (a->roots.window || a->roots.sym))
        /* another window, or a variable of the module: no buffer */
        return;
    unsigned bytes = inst_bytes(i);
    bool atomic = ptx_effect_of(i) == EFFECT_ATOMIC;
    a->kind = SOFT_OTHER;
    a->store = ptx_effect_of(i) != EFFECT_LOAD || ptx_is_strong(i);
    a->whole =
        !o || o->base != BASE_REG || !bytes || bytes > s->line || !(atomic || ptx_is(i, IS_PLAIN));
    struct soft_structure *x = structure_of(s, pass_access_param(s->c, i));
    if (!x)
        return;
    x->written |= ptx_effect_of(i) != EFFECT_LOAD;
    if (!x->cacheable)
        x->at = i->at;
    if (!fits_line(s, i))
        return;
    a->kind = SOFT_OWN;
    a->own = (uint32_t)(x - s->s);
    x->cacheable = true;
}

static enum status collect(struct soft *s)
{
    struct pass_ctx *c = s->c;
    for (uint32_t k = 0; k < c->f->ninsts; k++) {
        const struct ptx_inst *i = &c->f->insts[k];
        enum ptx_effect e = ptx_effect_of(i);
        if ((e == EFFECT_ASYNC_COPY && ptx_is(i, IS_BULK)) || e == EFFECT_TENSOR ||
            e == EFFECT_SURFACE || ptx_is_opaque(i))
            return pass_refuse(c, i->at, NULL,
                               "this instruction may access memory that the software cache holds");
        classify(s, i);
    }
    return c->oom ? ST_NOMEM : ST_OK;
}

static void spoil(struct soft_structure *x, const char *why)
{
    x->cacheable = false;
    x->why = why;
}

/* A line is read whole: behind the last whole line of its buffer the structure is accessed
 * directly. */
static void check_edges(struct soft *s)
{
    const struct launch_spec *l = s->c->in->launch;
    for (uint32_t k = 0; k < s->n; k++) {
        struct soft_structure *x = &s->s[k];
        size_t p = (size_t)x->param, own = p < launch_nargs(l) ? launch_buffer_of(l, p) : SIZE_MAX;
        if (!x->cacheable)
            continue;
        if (own == SIZE_MAX || s->c->f->params[p]->bytes != 8) {
            spoil(x, "the launch description gives no buffer for it, so its size is not known");
            continue;
        }
        uint64_t bytes = launch_arg(l, own)->count * elem_size(launch_arg(l, own)->elem),
                 from = launch_arg(l, p)->kind == ARG_SAME_AS ? launch_arg(l, p)->offset : 0;
        x->ragged = bytes % s->line != 0;
        x->whole = bytes / s->line * s->line - from;
        if (bytes / s->line * s->line <= from)
            spoil(x, "its buffer is smaller than a line");
    }
}

/* ---- how much fits ---- */
/* Most lines of a thread, at most n, with which as many CTAs are resident as without any. */
static uint32_t lines_beside(const struct soft *s, struct dev_cta cta, uint32_t ctas, uint32_t n)
{
    const struct dev_info *d = s->c->in->dev;
    uint64_t without = cta.shared, line = s->line * cta.threads;
    for (; n; n--) {
        cta.shared = without + n * line;
        if (dev_resident(d, &cta).ctas_per_sm >= ctas)
            break;
    }
    return n;
}

static enum status fit(struct soft *s)
{
    struct pass_ctx *c = s->c;
    const struct dev_info *d = c->in->dev;
    struct dev_cta cta = pass_cta(c, c->m, c->f);
    uint64_t dyn = (c->out->shared + 15u) & ~15u, threads = cta.threads;
    cta.shared += dyn - c->out->shared;
    cta.regs = pass_regs(c);
    struct dev_resident r = dev_resident(d, &cta);
    uint64_t ctas = r.ctas_per_sm, shared = r.shared_most, used = ctas * r.shared_cta,
             left = shared > used ? shared - used : 0;
    uint32_t cln =
        lines_beside(s, cta, r.ctas_per_sm, pass_softcache_lines(left, ctas * threads, s->line));
    if (!cln)
        return pass_refuse(c, NO_SPAN,
                           "use a smaller block, less shared memory in the kernel, a larger carve-out "
                           "or a shorter line",
                           "no line fits (CLN = 0): %llu bytes of shared memory, %llu free for the %llu "
                           "threads of an SM, less than %u bytes each",
                           (unsigned long long)shared, (unsigned long long)left,
                           (unsigned long long)(ctas * threads), s->line);
    if (opt_softcache(c->opt)->lines > 0 && (uint32_t)opt_softcache(c->opt)->lines > cln)
        return pass_refuse(
            c, NO_SPAN, NULL,
            "--softcache %d: %u line%s of %u bytes per thread fit into the shared memory that %llu CTAs "
            "leave free on an SM of %s",
            opt_softcache(c->opt)->lines, cln, cln > 1 ? "s" : "", s->line, (unsigned long long)ctas,
            d->name);
    s->lines = opt_softcache(c->opt)->lines > 0 ? (uint32_t)opt_softcache(c->opt)->lines : cln;
    s->threads = (uint32_t)threads;
    s->offset = (uint32_t)dyn;
    s->ctas = ctas;
    return ST_OK;
}

/* The paper's 300 accesses; where a thread makes fewer, an eighth of what it makes on average, or the
 * choice would come when nothing is left to cache. */
static uint32_t sample_of(struct soft *s)
{
    const struct options *o = s->c->opt;
    const struct ana_kernel *k = pass_facts(s->c);
    double n = 0, threads = (double)dim3u_count(s->c->out->grid) * (double)dim3u_count(s->c->out->block);
    if (opt_softcache(o)->sample > 0)
        return (uint32_t)opt_softcache(o)->sample;
    for (uint32_t i = 0; k && i < s->c->f->ninsts; i++) {
        const struct ana_access *a =
            s->access[i].kind == SOFT_OWN ? pass_access(s->c, &s->c->f->insts[i]) : NULL;
        n += a && a->executions > 0 ? a->executions * 32 : 0;
    }
    uint32_t part = threads > 0 ? (uint32_t)(n / threads / 8) : 0;
    return !part || part >= SOFT_SAMPLE ? SOFT_SAMPLE : part < 4 ? 4 : part;
}

static enum status check_dynamic(struct soft *s)
{
    struct pass_ctx *c = s->c;
    for (uint32_t l = 0; l < s->flow.cfg->nloops; l++)
        if (soft_can_switch(s, l))
            return ST_OK;
    for (uint32_t l = 0; l < s->flow.cfg->nloops; l++)
        if (soft_loop_has_access(s, &s->flow.cfg->loops[l]))
            return pass_refuse(c,
                               c->f->insts[s->flow.cfg->blocks[s->flow.cfg->loops[l].header].first].at,
                               "use --softcache auto or --softcache N, which choose before the launch",
                               "--softcache dynamic would let threads diverge at this loop, before a "
                               "barrier or warp intrinsic");
    return pass_refuse(
        c, NO_SPAN, "use --softcache N, which chooses before the launch",
        "--softcache dynamic samples a loop, but no loop of the kernel accesses a structure");
}

/* ---- */
static enum soft_mode mode_of(const struct pass_ctx *c)
{
    if (opt_softcache(c->opt)->lines > 0 || opt_softcache(c->opt)->data[0])
        return SOFT_FIXED;
    if (opt_softcache(c->opt)->lines == OPT_SOFTCACHE_DYNAMIC)
        return SOFT_DYNAMIC;
    return c->survey == PASS_SURVEY_PROFILE ? SOFT_PROFILE : c->soft_profile ? SOFT_FIXED : SOFT_DYNAMIC;
}

static enum status soft_begin(struct soft *s, struct pass_ctx *c)
{
    memset(s, 0, sizeof *s);
    s->c = c;
    s->line = 4u << opt_softcache(c->opt)->line;
    s->sample =
        opt_softcache(c->opt)->sample > 0 ? (uint32_t)opt_softcache(c->opt)->sample : SOFT_SAMPLE;
    s->mode = mode_of(c);
    s->counting = s->mode == SOFT_PROFILE || c->survey == PASS_SURVEY_CENSUS;
    s->access = base_alloc(sizeof *s->access * (c->f->ninsts + 1));
    enum status st = s->access ? fit(s) : ST_NOMEM;
    if (st == ST_OK && !pass_flow_make(c->f, &s->flow))
        st = ST_NOMEM;
    if (st == ST_OK)
        st = collect(s);
    if (st != ST_OK)
        return st;
    check_edges(s);
    soft_find_meetings(s);
    if (s->mode == SOFT_DYNAMIC)
        s->sample = sample_of(s);
    uint32_t usable = 0;
    for (uint32_t k = 0; k < s->n; k++)
        usable += s->s[k].cacheable;
    if (!usable)
        return pass_refuse(c, s->n ? s->s[0].at : NO_SPAN, NULL,
                           s->n ? "no structure can be cached; parameter %d cannot because %s"
                                : "the kernel accesses no pointer parameter",
                           s->n ? s->s[0].param : 0, s->n ? s->s[0].why : "");
    /* more lines than structures would only take L1 away */
    s->lines = s->lines < usable ? s->lines : usable;
    st = soft_rank(s);
    return st == ST_OK && s->mode == SOFT_DYNAMIC ? check_dynamic(s) : st;
}

static void soft_end(struct soft *s)
{
    base_free(s->access);
}

/* ---- the pass ---- */
static enum status check(struct pass_ctx *c)
{
    struct soft s;
    if (!c->in->launch || !c->in->dev)
        return pass_refuse(c, NO_SPAN,
                           c->in->launch ? "choose a device with --device"
                                         : "give the launch with --launch",
                           "the number of lines depends on the device's shared memory and the launch's "
                           "threads; there is no %s",
                           c->in->launch ? "device" : "launch description");
    enum status st = soft_begin(&s, c);
    soft_end(&s);
    return st;
}

/* The names that a fixed choice came to, for the record of it: --softcache-data reads them. */
static void put_choice(struct soft *s)
{
    struct pass_output *o = s->c->out;
    const struct launch_spec *l = s->c->in->launch;
    size_t n = 0;
    o->soft_lines = 0;
    for (uint32_t line = 0; line < s->lines; line++)
        for (uint32_t k = 0; k < s->n; k++) {
            const char *name = launch_arg(l, (size_t)s->s[k].param)->name;
            size_t len = name ? strlen(name) : 0;
            if (s->s[k].line != (int)line || n + len + 2 > sizeof o->soft_data)
                continue;
            if (n)
                o->soft_data[n++] = ',';
            memcpy(o->soft_data + n, name ? name : "", len);
            n += len;
            o->soft_lines++;
        }
    o->soft_data[n] = 0;
}

static void tell(struct soft *s)
{
    if (s->mode == SOFT_DYNAMIC && opt_softcache(s->c->opt)->lines == OPT_SOFTCACHE_AUTO)
        pass_note(s->c, NO_SPAN,
                  "there is no profile: the kernel chooses itself, as with --softcache dynamic");
    for (uint32_t k = 0; k < s->n; k++)
        if (!s->s[k].cacheable)
            pass_note(s->c, s->s[k].at, "%.*s is not cached: %s",
                      (int)s->c->f->params[s->s[k].param]->name.n,
                      s->c->f->params[s->s[k].param]->name.s, s->s[k].why);
        else if (s->mode == SOFT_FIXED && s->s[k].line >= 0)
            pass_note(s->c, NO_SPAN, "%.*s gets line %d of %u: %u registers (line address 2, slot 1%s)",
                      (int)s->c->f->params[s->s[k].param]->name.n,
                      s->c->f->params[s->s[k].param]->name.s, s->s[k].line, s->lines,
                      soft_registers(s, k), s->s[k].written ? ", dirty bytes 1" : "");
    if (s->mode == SOFT_DYNAMIC)
        pass_note(s->c, NO_SPAN,
                  "a thread samples %u accesses, then chooses up to %u of %u structures: %u registers, "
                  "including one hit counter per structure while it samples",
                  s->sample, s->lines, s->n, soft_all_registers(s));
}

static enum status run(struct pass_ctx *c)
{
    struct soft s;
    enum status st = soft_begin(&s, c);
    if (st == ST_OK && s.mode == SOFT_FIXED)
        put_choice(&s);
    if (st == ST_OK && s.mode == SOFT_FIXED && !c->out->soft_lines) {
        pass_note(c, NO_SPAN, "no structure has a hit in the profile: nothing is cached");
    } else if (st == ST_OK) {
        soft_emit(&s);
        tell(&s);
        uint32_t bytes = s.mode == SOFT_PROFILE ? 0 : s.lines * s.line * s.threads;
        c->out->extra_shared += bytes ? s.offset - c->out->shared + bytes : 0;
        c->out->shared = bytes ? s.offset + bytes : c->out->shared;
    }
    soft_end(&s);
    return st == ST_OK && c->oom ? ST_NOMEM : st;
}

static unsigned declares(const struct options *o)
{
    (void)o;
    return INV_STORES; /* dirty bytes are written back */
}

static const char *const knobs[] = { "softcache",
                                     "softcache-data",
                                     "softcache-line",
                                     "softcache-sample",
                                     "softcache-again",
                                     "assume-restrict",
                                     NULL };
const struct pass_row pass_row_softcache = {
    { "softcache", "thread-private lines in shared memory for the structures that hit most" },
    knobs,
    asked,
    check,
    run,
    NULL,
    declares,
};
