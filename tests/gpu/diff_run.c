#include "engine/rec/result.h"

#include "tests/gpu/diff.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum status preset_of(void *ctx, const char *name, struct sim_preset *out, struct diags *ds)
{
    (void)ctx;
    (void)name;
    (void)ds;
    *out = sim_preset_default();
    return ST_OK;
}

bool diff_open(struct diff *d, const char *spec)
{
    static char name[] = "p";
    struct dev_env env = { .preset = preset_of, .in_process = true, .threads = 1 };
    d->arg = (struct arg_spec){
        .kind = ARG_BUFFER, .name = name, .elem = ELEM_U8, .count = GEN_BYTES, .output = true
    };
    d->l = (struct launch_spec){
        .grid = { 1, 1, 1 }, .block = { GEN_BLOCK, 1, 1 }, .args = &d->arg, .nargs = 1
    };
    return dev_open(spec, &env, &d->side[0].dev, &d->ds) == ST_OK &&
           dev_open("sim:default", &env, &d->side[1].dev, &d->ds) == ST_OK;
}

void diff_close(struct diff *d)
{
    for (int s = 0; s < 2; s++)
        if (d->side[s].dev)
            dev_close(d->side[s].dev);
    buf_free(&d->g.b);
    diags_free(&d->ds);
}

static const char *text_of(const struct diff *d, unsigned long which)
{
    return d->rows ? gen_row(which) : NULL;
}
static uint64_t seed_of(const struct diff *d, unsigned long which)
{
    return d->rows ? 1000000 + which : which;
}

bool diff_bind(struct diff *d, unsigned long first, unsigned n, unsigned long data)
{
    uint8_t bytes[GEN_BYTES];
    buf_clear(&d->g.b);
    buf_puts(&d->g.b, GEN_HEAD);
    d->g.wide = true;
    for (unsigned k = 0; k < n; k++) {
        snprintf(d->name, sizeof d->name, "k%u", k);
        gen_program(&d->g, seed_of(d, first + k), text_of(d, first + k), d->name);
    }
    gen_data(&d->g, seed_of(d, data), bytes);
    for (size_t i = 0; i < GEN_BYTES; i++)
        snprintf(d->hex + 2 * i, 3, "%02x", bytes[i]);
    d->arg.init = (struct init_spec){ .kind = INIT_HEX, .text = d->hex };
    bool ok = launch_data_make(&d->l, 1u << 30, &d->data, &d->ds) == ST_OK;
    for (int s = 0; ok && s < 2; s++)
        ok = dev_bind(d->side[s].dev, &d->data, &d->side[s].data, &d->ds) == ST_OK;
    return ok;
}

void diff_unbind(struct diff *d)
{
    for (int s = 0; s < 2; s++) {
        if (d->side[s].data)
            dev_unbind(d->side[s].dev, d->side[s].data);
        d->side[s].data = NULL;
    }
    launch_data_free(&d->data);
}

static bool run_side(struct diff *d, struct diff_side *s)
{
    struct dev_code *code = NULL;
    struct dev_run r = dev_run_default();
    struct result res = result_empty();
    d->l.kernel = d->name;
    r.launch = &d->l;
    r.grid = d->l.grid;
    r.block = d->l.block;
    r.functional = true;
    r.repeat = r.max_repeat = 1;
    enum status st = dev_load(s->dev, "generated", (struct str){ d->g.b.s, d->g.b.n }, str_of(d->name),
                              0, &code, &d->ds);
    if (st == ST_OK)
        st = dev_launch(s->dev, code, s->data, &r, &res, &d->ds);
    if (st == ST_OK && res.status != ST_OK) {
        fprintf(stderr, "%s\n", res.message);
        st = res.status;
    }
    if (st == ST_OK)
        st = dev_read_arg(s->dev, s->data, 0, s->bytes, GEN_BYTES, &d->ds);
    if (code)
        dev_unload(s->dev, code);
    return st == ST_OK;
}

/* The words of `pretend` inside the kernel that ran; "~": only where it was optimised; "!": its compiler
 * ends the process. */
static void be_wrong(struct diff *d)
{
    char head[32];
    snprintf(head, sizeof head, ".entry %s(", d->name);
    const char *from = strstr(d->g.b.s, head), *to = from ? strstr(from, "\n}\n") : NULL;
    bool end = d->pretend[0] == '!', mild = d->pretend[0] == '~';
    const char *words = d->pretend + (end || mild);
    if (!to || !memmem(from, (size_t)(to - from), words, strlen(words)) ||
        (mild && getenv("GPULOCW_JIT_LEVEL")))
        return;
    if (end)
        raise(SIGSEGV);
    d->side[0].bytes[44] ^= 1;
}

bool diff_run(struct diff *d, unsigned k, bool *same, uint64_t *at)
{
    snprintf(d->name, sizeof d->name, "k%u", k);
    if (!run_side(d, &d->side[0]) || !run_side(d, &d->side[1]))
        return false;
    if (d->pretend)
        be_wrong(d);
    *same = gen_same(d->side[0].bytes, d->side[1].bytes, at);
    return true;
}

void diff_level(const char *level)
{
    if (level)
        setenv("GPULOCW_JIT_LEVEL", level, 1);
    else
        unsetenv("GPULOCW_JIT_LEVEL");
}

void diff_describe(const struct diff *d, uint64_t at, struct buf *out)
{
    uint32_t a, b;
    at &= ~3ull;
    memcpy(&a, d->side[0].bytes + at, 4);
    memcpy(&b, d->side[1].bytes + at, 4);
    buf_printf(out, "record %llu byte %llu: %08x, simulated %08x;",
               (unsigned long long)(at / GEN_OUT_BYTES), (unsigned long long)(at % GEN_OUT_BYTES), a, b);
    for (uint64_t k = at + 4; k < at / GEN_OUT_BYTES * GEN_OUT_BYTES + GEN_OUT_BYTES; k += 4)
        if (memcmp(d->side[0].bytes + k, d->side[1].bytes + k, 4))
            buf_printf(out, " %llu", (unsigned long long)(k % GEN_OUT_BYTES));
}
