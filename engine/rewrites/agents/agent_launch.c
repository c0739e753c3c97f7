/* agents that claim by cluster launch control (PTX ISA 9.7.13.17, sm_100 and later; --claims launch). The
 * grid stays; a CTA that has run its task takes over one that has not begun, which then never starts.
 *
 *   before                               after, --cluster agent --claims launch
 *     body                                 h = %ctaid;  thread 0: mbarrier.init
 *     mov.u32 %r1, %ctaid.x;             go:   bar.sync;  thread 0: try_cancel, expect its 16 bytes
 *     ret;                                 cx, cy, cz = h, renamed as redirection does
 *                                          body:  mov.u32 %r1, cx;  bra next;
 *                                        next: wait;  h = the cancelled CTA -> go; none: ret
 *
 * The request's way there and back is spent on the body. One barrier a task is enough: who passes it has
 * read the answer before, and the next request stands behind it. The hardware gives no CTA twice, and a
 * CTA whose request fails asks no more. Which SM takes over which CTA the hardware decides, so an order
 * (--index, --clusters) holds as far as it does under redirection. */
#include "engine/pass/pass_int.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rewrites/agents/agent_int.h"
#include "engine/rewrites/cluster_int.h"

#define TAG "cluster"

/* ROOM: 16 bytes of an answer, the mbarrier behind them */
enum { ISA_VERSION = 86, ISA_TARGET = 100, ROOM = 32 };

/* Why tasks are not claimed so; NULL: they can be. */
static const char *hindrance(struct pass_ctx *c)
{
    struct pass_funcs fs;
    if (pass_cc(c) < ISA_TARGET)
        return "cluster launch control is there from sm_100 on";
    if (opt_cluster(c->opt)->agents)
        return "a CTA that has begun cannot leave its task to others, so all agents work (--agents)";
    if (opt_prefetch(c->opt)->level != PREFETCH_OFF)
        return "the next task is known when the one at hand ends, so none is prefetched (--prefetch)";
    pass_callees(c, &fs);
    for (uint32_t k = 0; k < fs.n; k++)
        if (cluster_reads(fs.v[k]))
            return "a called function reads the CTA's index";
    return NULL;
}

enum status agent_launch_check(struct pass_ctx *c)
{
    const char *why = hindrance(c);
    if (opt_cluster(c->opt)->claims != CLAIMS_LAUNCH || !why)
        return ST_OK;
    return pass_refuse(c, NO_SPAN, "use --claims atomic, or auto", "--claims launch: %s; %s sm_%u", why,
                       c->in->dev ? "the device is" : "the module is for", pass_cc(c));
}

bool agent_by_launch(struct pass_ctx *c)
{
    bool asked = opt_cluster(c->opt)->claims != CLAIMS_ATOMIC;
    const char *why = asked ? hindrance(c) : NULL;
    if (asked)
        pass_note(c, NO_SPAN, "agents claim tasks by %s%s", why ? "atomics: " : "cluster launch control",
                  why ? why : "");
    c->out->meaning.claims = asked && !why ? CLAIMS_LAUNCH : CLAIMS_ATOMIC;
    c->out->meaning.no_launch = why;
    return asked && !why;
}

/* Code with the prefix of names in the place of each '~'. */
static void put(const char *t, const char *code, struct buf *out)
{
    for (; *code; code++)
        if (*code == '~')
            buf_puts(out, t);
        else
            buf_put(out, code, 1);
}

static void declare(const char *t, struct buf *out)
{
    cluster_redirect_declare(t, out);
    put(t,
        ".reg .pred \t%~first, %~p;\n.reg .b32 \t%~hx, %~hy, %~hz, %~phase, %~lin, %~at, %~x, %~y, "
        "%~z;\n.reg .b128 \t%~answer;\n",
        out);
}

/* Up to the body: the first task, and for each the request for the next one. */
static void entry_code(struct pass_ctx *c, const struct cluster_names *n, struct buf *out)
{
    static const char *const id[3] = { "%~hx", "%~hy", "%~hz" };
    const char *t = c->tag;
    struct buf lin = { 0 }, h[3] = { { 0 } };
    put(t, "%~lin", &lin);
    for (int d = 0; d < 3; d++)
        put(t, id[d], &h[d]);
    if (lin.s)
        pass_linear_tid(c, lin.s, out);
    put(t,
        "setp.eq.u32 \t%~first, %~lin, 0;\nmov.u32 \t%~hx, %ctaid.x;\nmov.u32 \t%~hy, "
        "%ctaid.y;\nmov.u32 "
        "\t%~hz, %ctaid.z;\nmov.u32 \t%~phase, 0;\nmov.u32 \t%~at, ~slot;\n"
        "@%~first mbarrier.init.shared::cta.b64 \t[%~at+16], 1;\n"
        "$~go:\nbar.sync \t0;\n@!%~first bra \t$~asked;\n"
        /* what was read of the last answer, before the next one is written */
        "fence.proxy.async.shared::cta;\n"
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 \t[%~at], "
        "[%~at+16];\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 \t_, [%~at+16], 16;\n$~asked:\n",
        out);
    const char *const from[3] = { h[0].s, h[1].s, h[2].s };
    bool ok = !lin.oom && !h[0].oom && !h[1].oom && !h[2].oom;
    if (ok)
        cluster_redirect_code(c, from, n, out);
    out->oom |= !ok;
    for (int d = 0; d < 3; d++)
        buf_free(&h[d]);
    buf_free(&lin);
}

/* Behind a task. */
static void next_code(const struct pass_ctx *c, struct buf *out)
{
    put(c->tag, "$~next:\n", out);
    if (pass_find_effect(c->f, EFFECT_ASYNC_COPY))
        buf_puts(out, "cp.async.wait_all;\n");
    put(c->tag,
        "$~wait:\nmbarrier.try_wait.parity.shared::cta.b64 \t%~p, [%~at+16], %~phase;\n@!%~p bra "
        "\t$~wait;\nxor.b32 \t%~phase, %~phase, 1;\nld.shared.b128 \t%~answer, [%~at];\n"
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 \t%~p, %~answer;\n@!%~p ret;\n"
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 \t{%~hx, %~hy, %~hz, _}, "
        "%~answer;\nbra \t$~go;\n",
        out);
}

enum status agent_launch_run(struct pass_ctx *c)
{
    struct cluster_names n = { .grid = false };
    struct strmap none = { 0 };
    struct buf decls = { 0 }, code = { 0 }, next = { 0 };
    cluster_name_registers(c, 'c', n.ctaid);
    cluster_name_registers(c, 'c', n.clusterid);
    pass_need_isa(c, ISA_VERSION, ISA_TARGET);
    enum status s = order_put_table(c);
    declare(c->tag, &decls);
    entry_code(c, &n, &code);
    next_code(c, &next);
    if (decls.oom || code.oom || next.oom)
        s = ST_NOMEM;
    if (s == ST_OK) {
        ptx_edit_declare(c->edit, c->f, TAG, ".shared .align 16 .b8 %sslot[%d];", c->tag, ROOM);
        ptx_edit_declare(c->edit, c->f, TAG, "%s", decls.s);
        ptx_edit_entry(c->edit, c->f, TAG, "%s", code.s);
        cluster_virtualise(c, &n, &none);
        pass_returns_to(c, "next");
        ptx_edit_end(c->edit, c->f, TAG, "%s", next.s);
        c->out->extra_regs += 8;
        c->out->extra_shared += ROOM;
    }
    buf_free(&decls);
    buf_free(&code);
    buf_free(&next);
    return s;
}
