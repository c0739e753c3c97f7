/* What passes say, and what they know from the analysis; the words that a launch sets (knobs).
 *
 *   before                               after
 *                                          .visible .const .align 4 .u32 gpulocw_knobs[N];
 *     .visible .entry k(...)               .visible .entry k(...) */
#include "engine/analysis/analysis.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/flow/asks.h"
#include "engine/rec/device.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_prefetch.h"

#include <string.h>

#define KNOB_DECLARATION ".visible .const .align 4 .u32 " PASS_KNOB_SYMBOL "[%u]"

uint32_t pass_line(const struct pass_ctx *c, uint32_t line)
{
    if (!c->lines)
        return line;
    return line && line <= c->nlines ? c->lines[line - 1].line : 0;
}

/* The span in the original's text; NO_SPAN when the place was inserted by a pass. */
static struct span original_span(const struct pass_ctx *c, struct span at)
{
    if (!c->lines || !at.line)
        return at;
    uint32_t line = pass_line(c, at.line);
    if (!line)
        return NO_SPAN;
    struct str text = ptx_line_text(c->in->module, line);
    uint32_t start = (uint32_t)(text.s - c->in->module->text.s),
             col = at.col && at.col <= text.n ? at.col : 1;
    return (struct span){ start + col - 1, at.len, line, col };
}

static void report(struct pass_ctx *c, enum diag_level level, struct span at, const char *hint,
                   const char *fmt, va_list ap)
{
    struct buf msg = { 0 }, code = { 0 };
    buf_vprintf(&msg, fmt, ap);
    buf_printf(&code, "pass-%s", c->row ? c->row->info.name : "options");
    struct span o = original_span(c, at);
    if (!msg.oom && !code.oom) {
        struct diag *d =
            diag_add(c->ds, level, code.s, o.line ? c->in->module->path : NULL, o, "%s", msg.s);
        if (d && o.line)
            diag_source(d, c->in->module->text);
        if (d && hint)
            diag_hint(d, "%s", hint);
    }
    c->oom |= msg.oom || code.oom; /* without memory a check may refuse what it could not look at */
    buf_free(&msg);
    buf_free(&code);
}

enum status pass_refuse(struct pass_ctx *c, struct span at, const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(c, DIAG_ERROR, at, hint, fmt, ap);
    va_end(ap);
    c->failed = true;
    return c->oom ? ST_NOMEM : ST_REFUSED;
}

bool pass_adds(struct str variable)
{
    const size_t n = sizeof PASS_PREFIX - 1;
    return variable.n > n && memcmp(variable.s, PASS_PREFIX, n) == 0;
}

void pass_say(struct pass_ctx *c, enum diag_level level, struct span at, const char *fmt, ...)
{
    if (c->checking)
        return;
    va_list ap;
    va_start(ap, fmt);
    report(c, level, at, NULL, fmt, ap);
    va_end(ap);
}

const struct ana_kernel *pass_facts(struct pass_ctx *c)
{
    if (c->in->facts)
        return c->in->facts;
    if (!c->facts_tried) {
        struct ana_opts o = { .dev = c->in->dev,
                              .assume_read_only = opt_memory(c->opt)->assume_read_only,
                              .assume_restrict = opt_memory(c->opt)->assume_restrict,
                              .quick = true };
        c->facts_tried = true;
        enum status s = ana_run(c->in->module, c->in->kernel, &o, &c->own_facts, NULL);
        c->oom |= s == ST_NOMEM;
        if (s != ST_OK)
            c->own_facts = NULL;
    }
    return c->own_facts;
}

const struct ana_access *pass_access(struct pass_ctx *c, const struct ptx_inst *i)
{
    const struct ana_kernel *k = pass_facts(c);
    uint32_t line = pass_line(c, i->at.line);
    for (uint32_t n = 0; k && line && n < k->naccess; n++)
        if (k->access[n].at.line == line && k->access[n].at.col == i->at.col)
            return &k->access[n];
    return NULL;
}

struct dim3u pass_block(const struct pass_ctx *c)
{
    if (c->out->block.x || !c->f)
        return c->out->block;
    return (struct dim3u){ c->f->reqntid.x, c->f->reqntid.y, c->f->reqntid.z };
}

uint32_t pass_warps(const struct pass_ctx *c)
{
    return (uint32_t)((dim3u_count(pass_block(c)) + 31) / 32);
}

struct dev_cta pass_cta(const struct pass_ctx *c, const struct ptx_module *m, const struct ptx_func *f)
{
    const struct launch_spec *l = c->in->launch;
    return (struct dev_cta){ .threads = dim3u_count(pass_block(c)),
                             .shared = ptx_shared_of(m, f).bytes + c->out->shared,
                             .cluster = l && launch_cluster(l).x ? dim3u_count(launch_cluster(l))
                                                                 : ptx_cluster_of(f),
                             .carveout = opt_occupancy(c->opt)->carveout };
}

uint32_t pass_regs(const struct pass_ctx *c)
{
    uint32_t limit =
        opt_occupancy(c->opt)->maxnreg > 0 ? (uint32_t)opt_occupancy(c->opt)->maxnreg : c->f->maxnreg;
    uint32_t own = c->in->regs ? c->in->regs : c->in->facts ? c->in->facts->regs : 0;
    return limit && (!own || limit < own) ? limit : own;
}

uint32_t pass_target(const struct pass_ctx *c)
{
    const struct dev_info *d = c->in->dev;
    uint32_t dev = d ? (uint32_t)(d->cc_major * 10 + d->cc_minor) : 0;
    return dev > c->m->target ? dev : c->m->target;
}

uint32_t pass_cc(const struct pass_ctx *c)
{
    const struct dev_info *d = c->in->dev;
    return d ? (uint32_t)(d->cc_major * 10 + d->cc_minor) : c->m->target;
}

enum status pass_needs_read_only(struct pass_ctx *c, const char *what)
{
    if (pass_cc(c) >= PASS_READ_ONLY_TARGET)
        return ST_OK;
    return pass_refuse(c, NO_SPAN, "use --bypass l1 for these loads: .nc has no effect there",
                       "%s: loads have a read-only cache from sm_%d on, and %s sm_%u", what,
                       PASS_READ_ONLY_TARGET, c->in->dev ? "the device is" : "the module is for",
                       pass_cc(c));
}

void pass_need_isa(struct pass_ctx *c, uint32_t version, uint32_t target)
{
    if (version > c->need_version)
        c->need_version = version;
    if (target > c->need_target)
        c->need_target = target;
}

void pass_put_reset(struct pass_output *o, const char *symbol, uint64_t bytes)
{
    if (o->nreset == ARRAY_LEN(o->reset))
        return;
    struct pass_reset *r = &o->reset[o->nreset++];
    size_t n = strlen(symbol);
    n = n < sizeof r->symbol ? n : sizeof r->symbol - 1;
    memcpy(r->symbol, symbol, n);
    r->symbol[n] = 0;
    r->bytes = bytes;
}

/* Values the engine starts with; a sweep writes others without a new JIT. */
static void knob_values(struct pass_ctx *c)
{
    const struct options *o = c->opt;
    uint32_t *k = c->out->knob;
    k[PASS_KNOB_PI] = opt_bypass(o)->pi.mode == PI_VALUE ? (uint32_t)opt_bypass(o)->pi.value : 0;
    k[PASS_KNOB_AGENTS] = opt_cluster(o)->agents > 0 ? (uint32_t)opt_cluster(o)->agents : PASS_KNOB_ALL;
    k[PASS_KNOB_DISTANCE] = (uint32_t)opt_prefetch(o)->distance;
    k[PASS_KNOB_PI_THREADS] = 32 * k[PASS_KNOB_PI];
}

void pass_need_knobs(struct pass_ctx *c)
{
    if (c->out->knobs)
        return;
    c->out->knobs = true;
    knob_values(c);
    ptx_edit_global(c->edit, c->row->info.name, KNOB_DECLARATION ";", (unsigned)PASS_KNOB_COUNT);
}

void pass_standalone(const struct pass_output *o, struct buf *out)
{
    struct buf decl = { 0 };
    buf_printf(&decl, KNOB_DECLARATION, (unsigned)PASS_KNOB_COUNT);
    const char *at = o->knobs && decl.s ? memmem(o->text, o->n, decl.s, decl.n) : NULL;
    size_t n = at ? (size_t)(at - o->text) + decl.n : o->n;
    buf_put(out, o->text, n);
    for (unsigned k = 0; at && k < PASS_KNOB_COUNT; k++)
        buf_printf(out, "%s%u", k ? ", " : " = {", o->knob[k]);
    if (at)
        buf_puts(out, "}");
    buf_put(out, o->text + n, o->n - n);
    out->oom |= decl.oom;
    buf_free(&decl);
}

void pass_linear_tid_any(const char *t, const char *dst, struct buf *out)
{
    buf_printf(out, "mov.u32 \t%%%sx, %%tid.x;\nmov.u32 \t%%%sy, %%tid.y;\nmov.u32 \t%%%sz, %%tid.z;\n",
               t, t, t);
    buf_printf(out, "mov.u32 \t%%%snx, %%ntid.x;\nmov.u32 \t%%%sny, %%ntid.y;\n", t, t);
    buf_printf(out,
               "mad.lo.u32 \t%%%sy, %%%sny, %%%sz, %%%sy;\nmad.lo.u32 \t%s, %%%snx, %%%sy, %%%sx;\n", t,
               t, t, t, dst, t, t, t);
}

void pass_linear_tid(const struct pass_ctx *c, const char *dst, struct buf *out)
{
    const char *t = c->tag;
    struct dim3u b = pass_block(c);
    if (!b.x) {
        pass_linear_tid_any(t, dst, out);
        return;
    }
    if (b.y == 1 && b.z == 1) {
        buf_printf(out, "mov.u32 \t%s, %%tid.x;\n", dst);
        return;
    }
    buf_printf(out, "mov.u32 \t%%%sx, %%tid.x;\nmov.u32 \t%%%sy, %%tid.y;\n", t, t);
    if (b.z > 1)
        buf_printf(out, "mov.u32 \t%%%sz, %%tid.z;\nmad.lo.u32 \t%%%sy, %%%sz, %u, %%%sy;\n", t, t, t,
                   b.y, t);
    buf_printf(out, "mad.lo.u32 \t%s, %%%sy, %u, %%%sx;\n", dst, t, b.x, t);
}
