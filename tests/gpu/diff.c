/* Generated programs on two devices: `gpu_diff [--rows|--find] [FIRST [COUNT [DEVICE]]]`, default the programs of seeds 1 to 2000
 * on cuda:0 and on the simulated device; all bytes must come out the same. --rows: every row of tests/ref/gen_rows.c by
 * itself instead, FIRST and COUNT counting rows; --find: the statement where programs part is printed. Needs no library beyond libc; a module holds BATCH programs. */
#include "engine/dev/dev.h"
#include "tests/ref/gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 32, SHOWN = 40 };

static enum status preset_of(void *ctx, const char *name, struct sim_preset *out, struct diags *ds)
{
    (void)ctx;
    (void)name;
    (void)ds;
    *out = sim_preset_default();
    return ST_OK;
}

struct side { struct dev *dev; struct dev_data *data; uint8_t bytes[GEN_BYTES]; };
struct job {
    struct side side[2];             /* the device in question, the simulated one */
    struct gen g;
    struct diags ds;
    struct launch_spec l; struct arg_spec arg; struct launch_data data;
    char hex[2 * GEN_BYTES + 1], name[16];
    bool rows, find;
    unsigned long differ, failed, done;
};

static const char *text_of(struct job *j, unsigned long which) { return j->rows ? gen_row(which) : NULL; }
static uint64_t seed_of(const struct job *j, unsigned long which) { return j->rows ? 1000000 + which : which; }

static void make_batch(struct job *j, unsigned long first, unsigned n)
{
    uint8_t bytes[GEN_BYTES];
    buf_clear(&j->g.b);
    buf_puts(&j->g.b, GEN_HEAD);
    j->g.wide = true;
    for (unsigned k = 0; k < n; k++) {
        snprintf(j->name, sizeof j->name, "k%u", k);
        gen_program(&j->g, seed_of(j, first + k), text_of(j, first + k), j->name);
    }
    gen_data(&j->g, seed_of(j, first), bytes);
    for (size_t i = 0; i < GEN_BYTES; i++)
        snprintf(j->hex + 2 * i, 3, "%02x", bytes[i]);
}

static bool run_one(struct job *j, struct side *s, const char *kernel)
{
    struct dev_code *code = NULL;
    struct dev_run r = dev_run_default();
    struct result res = result_empty();
    struct str text = { j->g.b.s, j->g.b.n };
    j->l.kernel = (char *)(uintptr_t)kernel;
    r.launch = &j->l;
    r.grid = j->l.grid;
    r.block = j->l.block;
    r.functional = true;
    r.repeat = r.max_repeat = 1;
    enum status st = dev_load(s->dev, "generated", text, str_of(kernel), 0, &code, &j->ds);
    if (st == ST_OK)
        st = dev_launch(s->dev, code, s->data, &r, &res, &j->ds);
    if (st == ST_OK && res.status != ST_OK) {
        fprintf(stderr, "%s\n", res.message);
        st = res.status;
    }
    if (st == ST_OK)
        st = dev_read_arg(s->dev, s->data, 0, s->bytes, GEN_BYTES, &j->ds);
    if (code)
        dev_unload(s->dev, code);
    return st == ST_OK;
}

static void compare(struct job *j, unsigned long which)
{
    uint64_t at;
    uint32_t a, b;
    const char *row = text_of(j, which);
    if (gen_same(j->side[0].bytes, j->side[1].bytes, &at))
        return;
    at &= ~3ull;
    memcpy(&a, j->side[0].bytes + at, 4);
    memcpy(&b, j->side[1].bytes + at, 4);
    if (j->differ++ >= SHOWN)
        return;
    printf("differs: %s %lu%s%s: record %llu byte %llu: %08x, simulated %08x;", j->rows ? "row" : "seed", which, row ? ", " : "", row ? row : "",
           (unsigned long long)(at / GEN_OUT_BYTES), (unsigned long long)(at % GEN_OUT_BYTES), a, b);
    for (uint64_t k = at + 4; k < at / GEN_OUT_BYTES * GEN_OUT_BYTES + GEN_OUT_BYTES; k += 4)
        if (memcmp(j->side[0].bytes + k, j->side[1].bytes + k, 4))
            printf(" %llu", (unsigned long long)(k % GEN_OUT_BYTES));
    printf("\n");
}

static void bind_batch(struct job *j, unsigned long first, unsigned n);
static void unbind_batch(struct job *j);

/* The first statement of program `which` after which the devices differ: it is printed. */
static void bisect(struct job *j, unsigned long which)
{
    uint64_t at;
    unsigned lo = 0, hi = 64;        /* alike after lo statements, not after hi */
    bool ok = true;
    while (ok && hi - lo > 1) {
        j->g.limit = lo + (hi - lo) / 2;
        bind_batch(j, which, 1);
        ok = run_one(j, &j->side[0], "k0") && run_one(j, &j->side[1], "k0");
        *(gen_same(j->side[0].bytes, j->side[1].bytes, &at) ? &lo : &hi) = j->g.limit;
        unbind_batch(j);
    }
    j->g.limit = hi;
    make_batch(j, which, 1);
    const char *text = j->g.b.s + j->g.last, *end = strstr(text, "st.global.u32 [%rout+0]");
    printf("-- seed %lu, statement %u%s:\n%.*s\n", which, hi, ok ? "" : " (failed)", end ? (int)(end - text) : 0, text);
    j->g.limit = 0;
}

static void bind_batch(struct job *j, unsigned long first, unsigned n)
{
    make_batch(j, first, n);
    j->arg.init = (struct init_spec){ .kind = INIT_HEX, .text = j->hex };
    bool ok = launch_data_make(&j->l, 1u << 30, &j->data, &j->ds) == ST_OK;
    for (int s = 0; ok && s < 2; s++)
        ok = dev_bind(j->side[s].dev, &j->data, &j->side[s].data, &j->ds) == ST_OK;
    j->failed += !ok;
}

static void unbind_batch(struct job *j)
{
    for (int s = 0; s < 2; s++) {
        if (j->side[s].data)
            dev_unbind(j->side[s].dev, j->side[s].data);
        j->side[s].data = NULL;
    }
    launch_data_free(&j->data);
}

static void run_batch(struct job *j, unsigned long first, unsigned n)
{
    unsigned long before = j->differ;
    bind_batch(j, first, n);
    bool ok = j->side[1].data != NULL;
    for (unsigned k = 0; ok && k < n; k++) {
        snprintf(j->name, sizeof j->name, "k%u", k);
        j->done++;
        if (run_one(j, &j->side[0], j->name) && run_one(j, &j->side[1], j->name)) {
            compare(j, first + k);
        } else if (j->failed++ < 5) {
            printf("failed: %s %lu %s\n", j->rows ? "row" : "seed", first + k, j->rows ? gen_row(first + k) : "");
        }
    }
    if (ok && !j->failed) {          /* notes about unreachable code */
        diags_free(&j->ds);
        j->ds = (struct diags){ 0 };
    }
    unbind_batch(j);
    if (j->find && n == 1 && j->differ > before)
        bisect(j, first);
}

int main(int argc, char **argv)
{
    static struct job j;
    struct dev_env env = { .preset = preset_of, .in_process = true, .threads = 1 };
    static char name[] = "p";
    j.rows = argc > 1 && !strcmp(argv[1], "--rows");
    j.find = argc > 1 && !strcmp(argv[1], "--find");
    argv += j.rows || j.find;
    argc -= j.rows || j.find;
    unsigned long first = argc > 1 ? strtoul(argv[1], NULL, 10) : !j.rows, count = argc > 2 ? strtoul(argv[2], NULL, 10) : j.rows ? gen_rows() : 2000;
    const char *spec = argc > 3 ? argv[3] : "cuda:0";
    if (j.rows && (first >= gen_rows() || count > gen_rows() - first))
        count = first < gen_rows() ? gen_rows() - first : 0;
    j.arg = (struct arg_spec){ .kind = ARG_BUFFER, .name = name, .elem = ELEM_U8, .count = GEN_BYTES, .output = true };
    j.l = (struct launch_spec){ .grid = { 1, 1, 1 }, .block = { GEN_BLOCK, 1, 1 }, .args = &j.arg, .nargs = 1 };
    bool ok = dev_open(spec, &env, &j.side[0].dev, &j.ds) == ST_OK && dev_open("sim:default", &env, &j.side[1].dev, &j.ds) == ST_OK;
    const unsigned batch = j.find ? 1 : BATCH;
    for (unsigned long at = 0; ok && at < count; at += batch)
        run_batch(&j, first + at, count - at < batch ? (unsigned)(count - at) : batch);
    struct buf out = { 0 };
    diags_print(&j.ds, &out);
    if (out.n)
        fputs(out.s, stderr);
    printf("%lu %s from %lu on %s and the simulated device: %lu differ, %lu failed\n", j.done, j.rows ? "rows" : "programs", first, spec, j.differ, j.failed);
    for (int s = 0; s < 2; s++)
        dev_close(j.side[s].dev);
    buf_free(&out);
    buf_free(&j.g.b);
    diags_free(&j.ds);
    return ok && !j.differ && !j.failed ? 0 : 1;
}
