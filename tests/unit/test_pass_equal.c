/* Rewritten demo kernels against the originals on the simulated device: outputs are
 * bit-identical for every form and for random combinations, whatever the order in
 * which CTAs are dispatched. A refusal counts as an answer; a fault does not. */
#include "engine/session/launch_file.h"
#include "tests/unit/pass_bench.h"

#include <glob.h>

/* PASS_RANDOM=50 tries more; PASS_VERBOSE=1 lists every answer; PASS_KEEP=FILE keeps the text of a
 * failing rewrite. */
enum { RANDOM_PER_LAUNCH = 4 };

/* Every option of the contract that changes the code or the launch; the table of the documentation is
 * made of these. */
static const char *const lines[] = {
    "--bypass l1 --pi bpa",
    "--bypass l1 --pi cha",
    "--bypass l1 --pi 0",
    "--bypass l1 --pi 1",
    "--bypass l1 --pi vote",
    "--bypass l1 --bypass-op no_allocate --pi 2",
    "--bypass l1 --bypass-op evict_last --pi 1",
    "--bypass l2 --bypass-op evict_first --pi 1",
    "--bypass l1+l2 --bypass-op evict_unchanged --pi bpa",
    "--bypass l1 --bypass-form predicate --pi 1",
    "--bypass l1 --bypass-form grouped --bypass-op cs --pi 1",
    "--bypass l1 --bypass-form vertical --bypass-loads FIRST",
    "--bypass l1 --bypass-form hybrid --bypass-loads FIRST --pi 1",
    "--bypass l1 --bypass-form hardware --pi 1",
    "--bypass ro --pi 1",
    "--bypass l2 --pi 1",
    "--bypass l2 --bypass-op cache_hint --pi bpa",
    "--bypass l1+l2 --bypass-form predicate --pi 1",
    "--cluster redirect",
    "--cluster redirect --index column --clusters 3",
    "--cluster redirect --index tile:3x2 --clusters 5",
    "--cluster redirect --index custom:ORDER",
    "--cluster agent --clusters 4",
    "--cluster agent --index column --agents 1 --clusters 3",
    "--cluster agent --index custom:ORDER",
    "--cluster agent --agents vote",
    "--cluster agent --claims launch",
    "--cluster agent --claims auto",
    "--cluster agent --prefetch l1 --clusters 2",
    "--prefetch l1",
    "--prefetch l2 --prefetch-distance 2",
    "--softcache 1",
    "--softcache 2",
    "--softcache auto",
    "--softcache dynamic",
    "--softcache 1 --softcache-data NAME",
    "--softcache 2 --assume-restrict",
    "--softcache 2 --softcache-line 4",
    "--softcache 2 --softcache-line 8",
    "--softcache 1 --softcache-line 32",
    "--softcache dynamic --softcache-sample 4 --softcache-again 3",
    "--swap-xy",
    "--swizzle-shared",
    "--smem-pad 128",
    "--smem-pad 48",
    "--tma-hint evict_first",
    "--tma-hint evict_last",
    "--tma-hint evict_normal",
    "--tma-hint evict_unchanged",
    "--block 16x4x1",
    "--coarsen 2",
    "--coarsen 4 --coarsen-mode blocked --block 8x8x1",
    "--coarsen 4 --coarsen-mode vector",
    "--coarsen 2 --coarsen-mode vector --bypass l1 --pi 1",
    "--readonly promote",
    "--readonly promote --assume-read-only all",
    "--readonly demote",
    "--throttle-shared 2048",
    "--maxnreg 64",
    "--minctas 2",
    "--carveout 100",
};
static unsigned proven, refused, prefetches;

/* ---- PASS_TABLE=FILE: the answers as a table for the documentation ---- */
/* Per option: how many kernels are proven equal, and who is refused why. */
struct answer {
    unsigned proven;
    struct buf refused;
    unsigned nrefused;
};
static struct {
    struct answer line[ARRAY_LEN(lines)];
    struct buf notes, kernels;
    char *reason[96];
    unsigned nreasons, nkernels;
} table;

static unsigned reason_number(const char *msg)
{
    for (unsigned k = 0; k < table.nreasons; k++)
        if (strcmp(table.reason[k], msg) == 0)
            return k + 1;
    assert_true(table.nreasons < ARRAY_LEN(table.reason));
    table.reason[table.nreasons] = base_strdup(msg);
    buf_printf(&table.notes, "%u. %s\n", ++table.nreasons, msg);
    return table.nreasons;
}

static void table_put(size_t line, const char *kernel, const struct diags *ds, bool equal)
{
    struct answer *a = &table.line[line];
    a->proven += equal;
    if (!equal)
        buf_printf(&a->refused, "%s%s (%u)", a->nrefused++ ? ", " : "", kernel,
                   reason_number(bench_reason(ds)));
}

static void table_write(const char *path)
{
    struct buf t = { 0 };
    struct diags ds = { 0 };
    unsigned all = 0, no = 0;
    buf_printf(&t,
               "# Every option on every demo kernel\n\nWritten by `make rewrites-table` on `%s`: every "
               "option that changes the code or the launch, on %u "
               "kernels\n(grids cut to at most 7x5 CTAs), "
               "CTAs dispatched in random and in adversarial order, warps one after the other and "
               "interleaved.\nProven: outputs bit-identical to the original's (dot_atomic: within its "
               "launch's stated tolerance). "
               "FIRST is the kernel's first load\nthat the option governs, NAME its first buffer, ORDER "
               "a file with its CTAs in another order.\n\nKernels: %s.\n\n| option | proven | refused, "
               "with the reason's number |\n|---|---|---|\n",
               getenv("PASS_DEVICE") ? getenv("PASS_DEVICE") : "sim:hopper-h200", table.nkernels,
               table.kernels.s ? table.kernels.s : "");
    for (size_t k = 0; k < ARRAY_LEN(lines); k++) {
        buf_printf(&t, "| `%s` | %u | %s |\n", lines[k], table.line[k].proven,
                   table.line[k].refused.s ? table.line[k].refused.s : "");
        all += table.line[k].proven;
        no += table.line[k].nrefused;
    }
    buf_printf(&t, "\n%u proven, %u refused. The reasons:\n\n%s", all, no,
               table.notes.s ? table.notes.s : "");
    assert_status_ok(file_write_atomic(path, t.s, t.n, &ds), &ds);
    buf_free(&t);
    diags_free(&ds);
}

static void table_free(void)
{
    for (size_t k = 0; k < ARRAY_LEN(lines); k++)
        buf_free(&table.line[k].refused);
    buf_free(&table.notes);
    buf_free(&table.kernels);
    for (unsigned k = 0; k < table.nreasons; k++)
        base_free(table.reason[k]);
}

/* ---- words of an option that stand for something of the kernel ---- */
/* A file with the kernel's CTA numbers in another order. */
static const char *order_file(const struct bench *b)
{
    static char path[128];
    struct buf t = { 0 };
    struct diags ds = { 0 };
    uint64_t n = dim3u_count(b->launch.grid);
    for (uint64_t k = 0, v = n / 2; k < n; k++, v = (v + 1) % n) /* a rotation, its pairs exchanged */
        buf_printf(&t, "%llu\n", (unsigned long long)((v ^ 1) < n ? v ^ 1 : v));
    snprintf(path, sizeof path, "%s/order.txt", support_scratch());
    assert_status_ok(file_write_atomic(path, t.s, t.n, &ds), &ds);
    buf_free(&t);
    return path;
}

static uint32_t first_load(const struct bench *b)
{
    const struct ptx_func *f = ptx_find_func(b->m, str_of(b->launch.kernel));
    for (uint32_t k = 0; k < f->ninsts; k++) {
        const struct ptx_op_info *info = ptx_op_info(f->insts[k].op);
        if (info->name && strcmp(info->name, "ld") == 0 && f->insts[k].space == PTX_SPACE_GLOBAL)
            return f->insts[k].at.line;
    }
    return 1;
}

static void fill_in(const struct bench *b, const char *line, struct buf *out)
{
    static const char *const words[] = { "FIRST", "ORDER", "NAME" };
    for (const char *p = line; *p;) {
        size_t w = 0;
        while (w < ARRAY_LEN(words) && strncmp(p, words[w], strlen(words[w])) != 0)
            w++;
        if (w == 0)
            buf_printf(out, "%u", first_load(b));
        else if (w == 1)
            buf_puts(out, order_file(b));
        else if (w == 2)
            buf_puts(out, b->launch.args[0].name);
        else
            buf_put(out, p, 1);
        p += w < ARRAY_LEN(words) ? strlen(words[w]) : 1;
    }
}

static void all_rewrites(struct bench *b)
{
    buf_printf(&table.kernels, "%s%s", table.nkernels++ ? ", " : "", b->launch.kernel);
    for (size_t k = 0; k < ARRAY_LEN(lines); k++) {
        struct options o = options_default();
        struct diags ds = { 0 };
        struct buf line = { 0 };
        fill_in(b, lines[k], &line);
        assert_status_ok(options_parse_line(&o, str_of(line.s), &ds), &ds);
        enum status st = bench_try(b, &o, &ds);
        table_put(k, b->launch.kernel, &ds, st == ST_OK);
        buf_free(&line);
        diags_free(&ds);
    }
    bench_random(b, RANDOM_PER_LAUNCH);
}

/* No knob that changes the code or the launch is missing from the table. */
static void test_every_knob(void **state)
{
    (void)state;
    /* the device's alone: test_dev_*; the launch's tensor maps: tests/cli/tma_promotion.sh; persistent
     * kernels: tests/cli/tile_order.sh */
    static const char *const elsewhere[] = { "l2-persist", "tma-promotion", "tile-order", "tile-width" };
    for (size_t i = 0; i < knob_count(); i++) {
        bool found = false;
        char word[80];
        snprintf(word, sizeof word, "--%s", knob_info(i)->name);
        for (size_t k = 0; k < ARRAY_LEN(lines); k++) {
            const char *at = strstr(lines[k], word);
            found |= at && (at[strlen(word)] == ' ' || !at[strlen(word)]);
        }
        bool apart = false;
        for (size_t k = 0; k < ARRAY_LEN(elsewhere); k++)
            apart |= strcmp(elsewhere[k], knob_info(i)->name) == 0;
        for (int v = 0;
             found && !apart && knob_info(i)->kind == KNOB_KIND_ENUM && v <= knob_info(i)->max; v++) {
            char value[120];
            bool there = v == knob_info(i)->def;
            snprintf(value, sizeof value, "%s %s", word, knob_info(i)->values[v]);
            for (size_t k = 0; k < ARRAY_LEN(lines); k++)
                there |= strstr(lines[k], value) != NULL;
            if (!there)
                fail_msg("no line of the table has %s", value);
        }
        if (!found && !apart)
            fail_msg("no line of the table has %s", word);
    }
}

static bool wanted(const struct launch_spec *l, const struct launch_spec *all, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(all[k].kernel, l->kernel) == 0)
            return false; /* one launch of each kernel */
    if (l->name && strncmp(l->name, "h200", 4) == 0)
        return false;
    return true;
}

static struct dev *device, *newer;
static unsigned claimed;

/* Where agents may claim by atomics they may by cluster launch control, and outputs are equal. */
static void both_claims(const struct launch_spec *l, const char *ptx)
{
    static const char *const two[] = { "--cluster agent --clusters 3 --index column --claims atomic",
                                       "--cluster agent --clusters 3 --index column --claims launch" };
    enum status st[ARRAY_LEN(two)];
    struct bench b;
    bench_open(&b, newer, l, ptx);
    for (size_t k = 0; k < ARRAY_LEN(two); k++) {
        struct options o = options_default();
        struct diags ds = { 0 };
        assert_status_ok(options_parse_line(&o, str_of(two[k]), &ds), &ds);
        st[k] = bench_try(&b, &o, &ds);
        diags_free(&ds);
    }
    assert_int_equal(st[0], st[1]);
    claimed += st[1] == ST_OK;
    bench_close(&b);
}

static void one_launch(struct launch_file *f, size_t i)
{
    struct bench b;
    char ptx[256];
    size_t use = i;
    for (size_t k = 0; k < f->n; k++) /* a smaller one of the same kernel, when there is one */
        if (strcmp(f->launch[k].kernel, f->launch[i].kernel) == 0 && f->launch[k].name &&
            strcmp(f->launch[k].name, "fermi") == 0)
            use = k;
    snprintf(ptx, sizeof ptx, "kernels/%s", f->launch[use].ptx);
    bench_open(&b, device, &f->launch[use], ptx);
    all_rewrites(&b);
    prefetches += bench_prefetches(&b);
    proven += b.proven;
    refused += b.refused;
    bench_close(&b);
    both_claims(&f->launch[use], ptx);
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
    struct diags ds = { 0 };
    struct dev_env env = { .preset = preset_read };
    device = bench_device();
    assert_status_ok(dev_open("sim:blackwell-b200", &env, &newer, &ds), &ds);
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    dev_close(device);
    dev_close(newer);
    if (getenv("PASS_TABLE"))
        table_write(getenv("PASS_TABLE"));
    table_free();
    print_message("%u rewrites equal to the original, %u refused; %u with prefetches, all in bounds; %u "
                  "by cluster launch control\n",
                  proven, refused, prefetches, claimed);
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
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_every_knob);
    int failed = _cmocka_run_group_tests("pass_equal", tests, n, open_device, close_device);
    globfree(&g);
    return failed;
}
