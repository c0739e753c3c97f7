/* Rewritten demo kernels against the originals on the simulated device: outputs are
 * bit-identical for every form and for random combinations, whatever the order in
 * which CTAs are dispatched. A refusal counts as an answer; a fault does not. */
#include "tests/unit/pass_bench.h"

#include <glob.h>

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
    "--prefetch l2 --prefetch-distance 2", "--softcache 1", "--softcache 2", "--softcache dynamic",
    "--throttle-shared 2048",
};

static unsigned proven, refused, prefetches;

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
    const char *msg = bench_reason(ds);
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

static void all_rewrites(struct bench *b)
{
    buf_printf(&table.rows, "| %s |", b->launch.kernel);
    for (size_t k = 0; k < ARRAY_LEN(lines); k++) {
        struct options o = options_default();
        struct diags ds = { 0 };
        assert_status_ok(options_parse_line(&o, str_of(lines[k]), &ds), &ds);
        enum status st = bench_try(b, &o, &ds);
        table_cell(&ds, st == ST_OK);
        diags_free(&ds);
    }
    buf_puts(&table.rows, "\n");
    bench_random(b, RANDOM_PER_LAUNCH);
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
    struct bench b;
    char ptx[256];
    size_t use = i;
    for (size_t k = 0; k < f->n; k++)              /* a smaller one of the same kernel, when there is one */
        if (strcmp(f->launch[k].kernel, f->launch[i].kernel) == 0 && f->launch[k].name && strcmp(f->launch[k].name, "fermi") == 0)
            use = k;
    snprintf(ptx, sizeof ptx, "kernels/%s", f->launch[use].ptx);
    bench_open(&b, device, &f->launch[use], ptx);
    all_rewrites(&b);
    prefetches += bench_prefetches(&b);
    proven += b.proven;
    refused += b.refused;
    bench_close(&b);
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
    (void)state;
    device = bench_device();
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
    print_message("%u rewrites equal to the original, %u refused; %u with prefetches, all in bounds\n", proven, refused, prefetches);
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
