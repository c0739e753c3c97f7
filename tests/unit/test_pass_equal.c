/* Rewritten demo kernels against the originals on the simulated device: outputs are
 * bit-identical for every form and for random combinations, whatever the order in
 * which CTAs are dispatched. A refusal counts as an answer; a fault does not. */
#include "tests/support.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/pass/pass.h"
#include "engine/session/session.h"

#define MAX_BYTES (48u << 20)
/* PASS_RANDOM=50 tries more; PASS_VERBOSE=1 lists every answer; PASS_KEEP=FILE keeps the text of a failing rewrite. */
enum { RANDOM_PER_LAUNCH = 8 };

static const char *const lines[] = {
    "--bypass l1 --pi bpa", "--bypass l1 --pi 0", "--bypass l1 --pi 1", "--bypass l1 --bypass-op no_allocate --pi 2",
    "--bypass l1 --bypass-form predicate --pi 1", "--bypass l1 --bypass-form grouped --bypass-op cs --pi 1",
    "--bypass ro --pi 1", "--bypass l2 --pi 1", "--bypass l1+l2 --bypass-form predicate --pi 1",
    "--readonly promote", "--readonly demote",
    "--swap-xy", "--block 16x4x1", "--coarsen 2", "--coarsen 4 --coarsen-mode blocked --block 8x8x1",
    "--cluster redirect", "--cluster redirect --index column --clusters 3", "--cluster redirect --index tile:3x2 --clusters 5",
    "--cluster agent --clusters 4", "--cluster agent --index column --agents 1 --clusters 3", "--cluster agent --prefetch l1 --clusters 2",
    "--prefetch l2 --prefetch-distance 2", "--softcache 1", "--softcache 2", "--softcache auto",
    "--throttle-shared 2048",
};

struct bench {
    struct dev *dev;
    struct ptx_module *m;
    struct launch_spec launch;
    struct launch_data data;
    struct dev_data *bound;
    struct result original;
    uint64_t seed;
    float *loose[16];                              /* the original's bytes of outputs with a stated tolerance, by argument */
};
static unsigned proven, refused;

static struct dev_run run_of(struct bench *b, const struct pass_output *o, struct dev_symbol_value *set, struct dev_symbol_value *zero)
{
    struct dev_run r = dev_run_default();
    r.launch = &b->launch;
    r.grid = o ? o->grid : b->launch.grid;
    r.block = o ? o->block : b->launch.block;
    r.shared = o ? o->shared : b->launch.shared;
    r.functional = true;
    r.counters = false;
    r.check_uninit = b->seed % 8 == 0;
    if (o) {
        *set = (struct dev_symbol_value){ PASS_KNOB_SYMBOL, 0, o->knob, sizeof o->knob };
        for (uint32_t k = 0; k < o->nreset; k++)
            zero[k] = (struct dev_symbol_value){ o->reset[k].symbol, 0, NULL, o->reset[k].bytes };
        r.set = set;
        r.nset = o->knobs;
        r.zero = zero;
        r.nzero = o->nreset;
        r.hw_pi = o->hw_pi;
        r.dispatch = b->seed++ % 3 == 0 ? DISPATCH_ADVERSARIAL : DISPATCH_RANDOM;
        r.seed = b->seed;
    }
    return r;
}

static void launch(struct bench *b, const struct pass_output *o, struct str text, const char *what, struct result *r)
{
    struct diags ds = { 0 };
    struct dev_code *code = NULL;
    struct dev_symbol_value set, zero[8];
    *r = result_empty();
    enum status st = dev_load(b->dev, b->m->path, text, str_of(b->launch.kernel), 0, &code, &ds);
    if (st == ST_OK) {
        struct dev_run run = run_of(b, o, &set, zero);
        st = dev_launch(b->dev, code, b->bound, &run, r, &ds);
    }
    if (st != ST_OK || r->status != ST_OK) {
        struct buf p = { 0 };
        diags_print(&ds, &p);
        if (getenv("PASS_KEEP")) {
            struct diags none = { 0 };
            file_write_atomic(getenv("PASS_KEEP"), text.s, text.n, &none);
        }
        fail_msg("%s %s: %s %s\n%s", b->launch.kernel, what, status_text(st), r->message, p.s ? p.s : "");
    }
    dev_unload(b->dev, code);
    diags_free(&ds);
}

static void table_cell(const struct diags *ds, bool equal);

static size_t arg_named(const struct bench *b, const char *name)
{
    size_t k = 0;
    while (k < b->launch.nargs && strcmp(b->launch.args[k].name, name) != 0)
        k++;
    return k;
}

/* Sums of floating-point atomics depend on the order: their launch states a tolerance. */
static bool within(struct bench *b, const char *name)
{
    size_t k = arg_named(b, name);
    if (k >= ARRAY_LEN(b->loose) || !b->loose[k])
        return false;
    struct diags ds = { 0 };
    const struct arg_spec *a = &b->launch.args[k];
    float *now = base_alloc(a->count * sizeof *now);
    assert_status_ok(dev_read_arg(b->dev, b->bound, k, now, a->count * sizeof *now, &ds), &ds);
    bool ok = true;
    for (uint64_t i = 0; i < a->count; i++)
        ok = ok && fabs(now[i] - b->loose[k][i]) <= a->tolerance * fmax(1, fabs(b->loose[k][i]));
    base_free(now);
    return ok;
}

static void keep_loose(struct bench *b)
{
    struct diags ds = { 0 };
    for (size_t k = 0; k < b->launch.nargs && k < ARRAY_LEN(b->loose); k++) {
        const struct arg_spec *a = &b->launch.args[k];
        if (!a->output || a->tolerance <= 0 || a->elem != ELEM_F32)
            continue;
        b->loose[k] = base_alloc(a->count * sizeof(float));
        assert_status_ok(dev_read_arg(b->dev, b->bound, k, b->loose[k], a->count * sizeof(float), &ds), &ds);
    }
}

static void try_line(struct bench *b, const struct options *o, bool tabled)
{
    struct diags ds = { 0 };
    struct pass_output out;
    struct buf what = { 0 };
    options_line(o, &what);
    struct pass_input in = { .module = b->m, .kernel = str_of(b->launch.kernel), .options = o, .dev = dev_describe(b->dev), .launch = &b->launch };
    enum status st = pass_apply(&in, &out, &ds);
    if (st == ST_OK) {
        struct result r;
        launch(b, &out, (struct str){ out.text, out.n }, what.s, &r);
        for (uint32_t k = 0; k < r.noutputs; k++)
            if (r.outputs[k].hash != b->original.outputs[k].hash && !within(b, r.outputs[k].name)) {
                if (getenv("PASS_KEEP"))
                    file_write_atomic(getenv("PASS_KEEP"), out.text, out.n, &ds);
                fail_msg("%s %s: output %s differs from the original's", b->launch.kernel, what.s, r.outputs[k].name);
            }
        assert_true(r.noutputs > 0);
        proven++;
    } else {
        assert_int_equal(st, ST_REFUSED);
        assert_true(ds.errors > 0);
        refused++;
    }
    if (getenv("PASS_VERBOSE"))
        print_message("%-22s %-60s %s\n", b->launch.kernel, what.s, st == ST_OK ? "equal" : ds.v[0].msg);
    if (tabled)
        table_cell(&ds, st == ST_OK);
    buf_free(&what);
    diags_free(&ds);
    pass_output_free(&out);
}

/* ---- PASS_TABLE=FILE: the answers as a table for the documentation ---- */
struct table { struct buf rows, notes; char *reason[64]; unsigned nreasons; };
static struct table table;

/* Number of a refusal's reason, without what is particular to one kernel: its line and names. */
static unsigned reason_number(const char *msg)
{
    for (unsigned k = 0; k < table.nreasons; k++)
        if (strcmp(table.reason[k], msg) == 0)
            return k + 1;
    if (table.nreasons == ARRAY_LEN(table.reason))
        return table.nreasons;
    table.reason[table.nreasons] = base_strdup(msg);
    buf_printf(&table.notes, "%u. %s\n", ++table.nreasons, msg);
    return table.nreasons;
}

static void table_cell(const struct diags *ds, bool equal)
{
    const char *msg = "refused";
    for (size_t k = ds->n; k-- > 0;)
        if (ds->v[k].level == DIAG_ERROR)
            msg = ds->v[k].msg;
    if (equal)
        buf_puts(&table.rows, " = |");
    else
        buf_printf(&table.rows, " (%u) |", reason_number(msg));
}

static void table_write(const char *path)
{
    struct buf t = { 0 };
    struct diags ds = { 0 };
    buf_puts(&t, "Columns:\n\n");
    for (size_t k = 0; k < ARRAY_LEN(lines); k++)
        buf_printf(&t, "- %c: `%s`\n", (char)('A' + k), lines[k]);
    buf_puts(&t, "\n| kernel |");
    for (size_t k = 0; k < ARRAY_LEN(lines); k++)
        buf_printf(&t, " %c |", (char)('A' + k));
    buf_puts(&t, "\n|---|");
    for (size_t k = 0; k < ARRAY_LEN(lines); k++)
        buf_puts(&t, "---|");
    buf_printf(&t, "\n%s\n`=` outputs bit-identical to the original's; (n) refused:\n\n%s", table.rows.s, table.notes.s ? table.notes.s : "");
    assert_status_ok(file_write_atomic(path, t.s, t.n, &ds), &ds);
    buf_free(&t);
    buf_free(&table.rows);
    buf_free(&table.notes);
    for (unsigned k = 0; k < table.nreasons; k++)
        base_free(table.reason[k]);
    diags_free(&ds);
}

static uint64_t pick(struct bench *b, uint64_t n) { return base_splitmix(2024, b->seed++) % n; }

/* A random legal-looking combination: knobs of several passes at once. */
static void random_options(struct bench *b, struct options *o)
{
    *o = options_default();
    o->bypass = pick(b, 3) ? BYPASS_L1 : BYPASS_NONE;
    o->bypass_form = (int[]){ BYPASS_FORM_CLONE, BYPASS_FORM_PREDICATE, BYPASS_FORM_GROUPED }[pick(b, 3)];
    o->bypass_op = (int[]){ BYPASS_OP_CG, BYPASS_OP_NO_ALLOCATE, BYPASS_OP_CS }[pick(b, 3)];
    o->pi.mode = pick(b, 5) ? PI_VALUE : PI_BPA;
    o->pi.value = (int)pick(b, (dim3u_count(b->launch.block) + 31) / 32 + 1);
    o->cluster = (int)pick(b, 3);
    o->index.kind = (int)pick(b, 3);
    o->index.tx = 1 + (uint32_t)pick(b, 4);
    o->index.ty = 1 + (uint32_t)pick(b, 4);
    o->clusters = 1 + (int)pick(b, 9);
    o->agents = o->cluster == CLUSTER_AGENT ? (int)pick(b, 4) : 0;
    o->prefetch = pick(b, 3) == 0 ? PREFETCH_L2 : PREFETCH_OFF;
    o->softcache = pick(b, 4) == 0 ? (pick(b, 2) ? 1 : OPT_SOFTCACHE_AUTO) : 0;
    o->swap_xy = pick(b, 4) == 0;
    o->coarsen = pick(b, 4) == 0 ? 2 << pick(b, 3) : 1;
    o->coarsen_mode = (int)pick(b, 2);
    o->readonly = pick(b, 4) == 0 ? READONLY_PROMOTE : READONLY_KEEP;
}

/* Few CTAs: what is compared is the same, and tests stay quick. */
static void shrink(struct launch_spec *l)
{
    l->grid.x = l->grid.x > 7 ? 7 : l->grid.x;
    l->grid.y = l->grid.y > 5 ? 5 : l->grid.y;
}

static void all_rewrites(struct bench *b)
{
    struct diags ds = { 0 };
    launch(b, NULL, b->m->text, "as it is", &b->original);
    keep_loose(b);
    buf_printf(&table.rows, "| %s |", b->launch.kernel);
    for (size_t k = 0; k < ARRAY_LEN(lines); k++) {
        struct options o = options_default();
        assert_status_ok(options_parse_line(&o, str_of(lines[k]), &ds), &ds);
        try_line(b, &o, true);
    }
    buf_puts(&table.rows, "\n");
    int more = getenv("PASS_RANDOM") ? atoi(getenv("PASS_RANDOM")) : RANDOM_PER_LAUNCH;
    for (int k = 0; k < more; k++) {
        struct options o;
        random_options(b, &o);
        try_line(b, &o, false);
    }
    diags_free(&ds);
}

static bool wanted(const struct launch_spec *l, const struct launch_spec *all, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(all[k].kernel, l->kernel) == 0)
            return false;                          /* one launch of each kernel */
    if (l->name && strncmp(l->name, "h200", 4) == 0)
        return false;
    return true;
}

static struct dev *device;

static void one_launch(struct launch_file *f, size_t i)
{
    struct bench b = { .dev = device, .seed = 1 };
    struct diags ds = { 0 };
    char ptx[256];
    size_t use = i;
    for (size_t k = 0; k < f->n; k++)              /* a smaller one of the same kernel, when there is one */
        if (strcmp(f->launch[k].kernel, f->launch[i].kernel) == 0 && f->launch[k].name && strcmp(f->launch[k].name, "fermi") == 0)
            use = k;
    b.launch = f->launch[use];
    shrink(&b.launch);
    snprintf(ptx, sizeof ptx, "kernels/%s", b.launch.ptx);
    assert_status_ok(ptx_parse_file(ptx, &b.m, &ds), &ds);
    assert_status_ok(launch_data_make(&b.launch, MAX_BYTES, &b.data, &ds), &ds);
    assert_status_ok(dev_bind(b.dev, &b.data, &b.bound, &ds), &ds);
    all_rewrites(&b);
    for (size_t k = 0; k < ARRAY_LEN(b.loose); k++)
        base_free(b.loose[k]);
    dev_unbind(b.dev, b.bound);
    launch_data_free(&b.data);
    ptx_free(b.m);
    diags_free(&ds);
}

static void one_file(void **state)
{
    struct launch_file f;
    struct diags ds = { 0 };
    assert_status_ok(launch_file_read(*state, &f, &ds), &ds);
    for (size_t i = 0; i < f.n; i++)
        if (wanted(&f.launch[i], f.launch, i))
            one_launch(&f, i);
    launch_file_free(&f);
    diags_free(&ds);
}

static int open_device(void **state)
{
    struct diags ds = { 0 };
    struct dev_env env = { .preset = preset_read };
    (void)state;
    assert_status_ok(dev_open("sim:hopper-h200", &env, &device, &ds), &ds);
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    dev_close(device);
    if (getenv("PASS_TABLE"))
        table_write(getenv("PASS_TABLE"));
    buf_free(&table.rows);
    buf_free(&table.notes);
    print_message("%u rewrites equal to the original, %u refused\n", proven, refused);
    return 0;
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[64];
    size_t n = 0;
    glob_t g;
    if (glob(argc > 1 ? argv[1] : "kernels/*.launch.json", 0, NULL, &g) || !g.gl_pathc)
        return 1;
    for (size_t i = 0; i < g.gl_pathc && n < ARRAY_LEN(tests); i++)
        tests[n++] = (struct CMUnitTest){ g.gl_pathv[i], one_file, NULL, NULL, g.gl_pathv[i] };
    int failed = _cmocka_run_group_tests("pass_equal", tests, n, open_device, close_device);
    globfree(&g);
    return failed;
}
