/* tries [DEVICE]: what written.py and second.py hand over, tried in one process. A request on standard input:
 *
 *     GRID BLOCK SHARED TEXT-BYTES OPTION-LINES BUFFERS, then TYPE:COUNT for each buffer (s32, f32, zero; same: the buffer of that number)
 *     the text, the option lines
 *
 * The kernel 'k' is run on two data sets, once as usual and on hostile machines. Where it has a race or
 * does not agree with itself the answer is "unfit WHY". Else "fit", and for each option line what became of it:
 * "refused CODE", "unchanged", "accepted" (the rewrite left the same bytes on both, on a hostile machine),
 * "rounded" (it did where nothing is fused, and had said so) or "wrong WHY". */
#include "engine/base/base.h"
#include "engine/pass/pass.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"
#include "engine/session/preset.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 12, SETS = 2, MOST_INSTS = 4000000, DEVICE_BYTES = 64 << 20 };
#define KERNEL STR("k")

struct tried {
    struct sim_preset preset;
    struct dev_info device;
    struct launch_spec launch;
    struct arg_spec args[BUFFERS];
    char names[BUFFERS][12];
    uint8_t *left[SETS][BUFFERS]; /* by the original */
    uint64_t seed;
};

static uint32_t draw(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*s >> 33);
}

/* The first set is like the launch's own, drawn from another seed; the second takes any value. */
static void fill(uint8_t *at, const struct arg_spec *a, unsigned set, uint64_t seed)
{
    for (uint64_t e = 0; e < a->count; e++) {
        uint32_t bits = draw(&seed), near = bits % 120;
        float f = set ? ((float)near - 60.0f) * 1e18f : (float)near * 0.03125f - 2.0f;
        uint32_t v = set ? bits << 1 ^ draw(&seed) : near;
        memcpy(at + 4 * e, a->elem == ELEM_F32 ? (void *)&f : (void *)&v, 4);
    }
}

static uint8_t *place(const struct tried *t, size_t i, unsigned set, struct sim_mem *mem, uint64_t *addr)
{
    const struct arg_spec *a = &t->args[i];
    if (a->kind == ARG_SAME_AS) {
        *addr = addr[(ptrdiff_t)a->count - (ptrdiff_t)i];
        return NULL;
    }
    *addr = sim_mem_alloc(mem, 4 * a->count, a->name);
    uint8_t *host = *addr ? sim_mem_host(mem, *addr, 4 * a->count) : NULL;
    if (host && a->init.kind == INIT_RANDOM)
        fill(host, a, set, t->seed + 17 * i + 1);
    return host;
}

/* Launches the text as `l` says; what the buffers hold then goes to `out`. The reason in `why` where it
 * fails. */
static bool run(const struct tried *t, struct str text, struct sim_launch l, unsigned set,
                uint8_t *out[BUFFERS], char why[200])
{
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    struct sim_program *p = NULL;
    struct sim_stats stats = { 0 };
    struct sim_mem *mem = sim_mem_new(DEVICE_BYTES);
    uint64_t params[BUFFERS] = { 0 };
    uint8_t *host[BUFFERS] = { 0 };
    if (!mem)
        abort();
    for (size_t i = 0; i < t->launch.nargs; i++)
        host[i] = place(t, i, set, mem, &params[i]);
    l.params = (uint8_t *)params;
    l.nparams = 8 * t->launch.nargs;
    l.functional = true;
    l.threads = 1;
    l.carveout = l.hw_pi = -1;
    l.max_insts = MOST_INSTS;
    enum status st = ptx_parse("k.ptx", text, &m, &ds);
    st = st == ST_OK ? sim_load(m, KERNEL, &t->preset, mem, &p, &ds) : st;
    st = st == ST_OK ? sim_run(p, &l, &stats, &ds) : st;
    snprintf(why, 200, "%s", st == ST_OK ? "" : ds.n ? ds.v[0].msg : "failed");
    for (size_t i = 0; st == ST_OK && i < t->launch.nargs; i++) {
        uint64_t n = 4 * t->args[i].count;
        out[i] = host[i] ? memcpy(base_alloc(n), host[i], n) : NULL;
    }
    sim_stats_free(&stats);
    sim_unload(p);
    ptx_free(m);
    sim_mem_free(mem);
    diags_free(&ds);
    return st == ST_OK;
}

static void release(uint8_t *b[BUFFERS])
{
    for (size_t i = 0; i < BUFFERS; i++) {
        base_free(b[i]);
        b[i] = NULL;
    }
}

static bool same(const struct tried *t, uint8_t *a[BUFFERS], uint8_t *b[BUFFERS], char why[200])
{
    for (size_t i = 0; i < t->launch.nargs; i++)
        for (uint64_t e = 0; a[i] && e < t->args[i].count; e++)
            if (memcmp(a[i] + 4 * e, b[i] + 4 * e, 4) != 0) {
                uint32_t was, is;
                memcpy(&was, a[i] + 4 * e, 4);
                memcpy(&is, b[i] + 4 * e, 4);
                snprintf(why, 200, "element %llu of buffer %zu: %#x, was %#x", (unsigned long long)e, i,
                         is, was);
                return false;
            }
    return true;
}

static struct sim_launch hostile(const struct tried *t, struct dim3u grid, struct dim3u block,
                                 uint32_t shared, unsigned order)
{
    return (struct sim_launch){ .grid = grid,
                                .block = block,
                                .shared = shared,
                                .hostile = { .uniform = true,
                                             .poison = SIM_POISON_USUAL,
                                             .order = (uint8_t)order,
                                             .seed = t->seed } };
}

/* Many CTAs that wait for each other take too long where warps change often. */
static unsigned orders(const struct tried *t)
{
    return t->launch.grid.x > 64 ? ORDER_DOWN + 1 : ORDER_TURNS + 1;
}

static bool original(struct tried *t, struct str text, char why[200])
{
    const struct launch_spec *l = &t->launch;
    struct sim_launch usual = {
        .grid = l->grid, .block = l->block, .shared = l->shared, .check_races = true
    };
    for (unsigned set = 0; set < SETS; set++) {
        bool ok = run(t, text, usual, set, t->left[set], why);
        for (unsigned order = 0; ok && order < orders(t); order++) {
            uint8_t *again[BUFFERS] = { 0 };
            ok = run(t, text, hostile(t, l->grid, l->block, l->shared, order), set, again, why) &&
                 same(t, t->left[set], again, why);
            release(again);
        }
        if (!ok)
            return false;
    }
    return true;
}

static bool rewritten(struct tried *t, const struct pass_output *o, char why[200])
{
    struct buf text = { 0 };
    bool ok = true;
    pass_standalone(o, &text);
    for (unsigned set = 0; ok && set < SETS; set++) {
        uint8_t *now[BUFFERS] = { 0 };
        struct sim_launch l = hostile(t, o->grid, o->block, o->shared, (unsigned)(t->seed % orders(t)));
        ok = run(t, (struct str){ text.s, text.n }, l, set, now, why) && same(t, t->left[set], now, why);
        release(now);
    }
    buf_free(&text);
    return ok;
}

static void forget(struct tried *t)
{
    for (unsigned set = 0; set < SETS; set++)
        release(t->left[set]);
}

/* The pass said that a sum is fused in one of the texts alone. Is it the same kernel where none is? */
static bool same_unfused(struct tried *t, const struct ptx_module *m, const struct pass_output *o)
{
    char why[200];
    const int64_t as_usual = t->preset.contract;
    forget(t);
    t->preset.contract = 0;
    bool ok = original(t, m->text, why) && rewritten(t, o, why);
    forget(t);
    t->preset.contract = as_usual;
    return original(t, m->text, why) && ok;
}

static bool noted(const struct diags *ds, const char *code)
{
    for (size_t i = 0; i < ds->n; i++)
        if (ds->v[i].code && strcmp(ds->v[i].code, code) == 0)
            return true;
    return false;
}

static void one_option(struct tried *t, const struct ptx_module *m, struct str line)
{
    struct diags ds = { 0 };
    struct pass_output out;
    struct options o = options_default();
    struct pass_input in = {
        .module = m, .kernel = KERNEL, .options = &o, .dev = &t->device, .launch = &t->launch
    };
    char why[200] = "";
    if (options_parse_line(&o, line, &ds) != ST_OK) {
        printf("usage %.*s\n", (int)line.n, line.s);
    } else if (pass_apply(&in, &out, &ds) != ST_OK) {
        printf("refused %s\n", ds.n && ds.v[0].code ? ds.v[0].code : "without a reason");
    } else {
        bool idle = !out.changed && out.shared == t->launch.shared;
        bool ok = idle || rewritten(t, &out, why);
        bool rounded = !ok && noted(&ds, "pass-contraction") && same_unfused(t, m, &out);
        printf(idle ? "unchanged\n" : ok ? "accepted\n" : rounded ? "rounded\n" : "wrong %s\n", why);
        pass_output_free(&out);
    }
    diags_free(&ds);
}

static void one_kernel(struct tried *t, struct str text, struct str lines)
{
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    struct str line;
    char why[200] = "does not parse";
    bool fit = ptx_parse("k.ptx", text, &m, &ds) == ST_OK && original(t, text, why);
    printf(fit ? "fit\n" : "unfit %s\n", why);
    while (fit && str_line(&lines, &line))
        one_option(t, m, line);
    forget(t);
    ptx_free(m);
    diags_free(&ds);
    fflush(stdout);
}

static bool read_buffers(struct tried *t, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char type[8];
        unsigned long long count;
        if (scanf(" %7[a-z0-9]:%llu", type, &count) != 2)
            return false;
        snprintf(t->names[i], sizeof t->names[i], "b%u", i);
        t->args[i] = (struct arg_spec){ .kind = ARG_BUFFER,
                                        .name = t->names[i],
                                        .elem = strcmp(type, "f32") ? ELEM_S32 : ELEM_F32,
                                        .count = count,
                                        .output = true,
                                        .init = { .kind = strcmp(type, "zero") ? INIT_RANDOM : INIT_FILL,
                                                  .b = 99,
                                                  .ib = 99,
                                                  .integral = true } };
        if (strcmp(type, "same") == 0 && count < i) {
            t->args[i].kind = ARG_SAME_AS;
            t->args[i].same_as = t->names[count];
            t->args[i].count = count;
        }
    }
    t->launch.args = t->args;
    t->launch.nargs = n;
    return true;
}

/* One request; false: there is none. */
static bool request(struct tried *t)
{
    size_t text_n, lines_n;
    unsigned grid, block, n;
    if (scanf("%u %u %u %zu %zu %u", &grid, &block, &t->launch.shared, &text_n, &lines_n, &n) != 6 ||
        n > BUFFERS || !read_buffers(t, n) || getchar() != '\n')
        return false;
    t->launch.grid = (struct dim3u){ grid, 1, 1 };
    t->launch.block = (struct dim3u){ block, 1, 1 };
    t->launch.kernel = t->launch.name = "k";
    char *s = base_alloc(text_n + lines_n + 1);
    bool ok = fread(s, 1, text_n + lines_n, stdin) == text_n + lines_n;
    t->seed = base_hash(s, ok ? text_n : 0);
    if (ok)
        one_kernel(t, (struct str){ s, text_n }, (struct str){ s + text_n, lines_n });
    base_free(s);
    return ok;
}

int main(int argc, char **argv)
{
    struct diags ds = { 0 };
    static struct tried t;
    if (preset_read(NULL, argc > 1 ? argv[1] : "hopper-h200", &t.preset, &ds) != ST_OK)
        return 1;
    sim_preset_info(&t.preset, &t.device);
    while (request(&t))
        ;
    return 0;
}
