/* Every rewrite on small modules: the rewritten text is the committed one, which ptxas accepts;
 * illegal ones are refused with the reason and the line.
 * GOLDEN_UPDATE=1 writes the texts anew (review the diff). */
#include "tests/unit/pass_support.h"

#include <unistd.h>

#define DIR "tests/golden/pass/"

struct rewrite {
    const char *name, *input, *options;
    struct dim3u grid, block;
    int cc;
};
static const struct rewrite rewrites[] = {
    { "clone", "in_loads", "--bypass l1 --pi 3", { 16, 1, 1 }, { 256, 1, 1 }, 80 },
    { "clone_barrier", "in_tile", "--bypass l1 --pi 1", { 4, 4, 1 }, { 128, 1, 1 }, 90 },
    { "clone_func", "in_func", "--bypass l1 --pi 2", { 8, 1, 1 }, { 128, 1, 1 }, 75 },
    { "predicate",
      "in_loads",
      "--bypass l1 --bypass-form predicate --bypass-op no_allocate --pi 3",
      { 16, 1, 1 },
      { 256, 1, 1 },
      80 },
    { "predicate_func",
      "in_func",
      "--bypass l1 --bypass-form predicate --pi 3",
      { 8, 1, 1 },
      { 128, 1, 1 },
      75 },
    { "grouped",
      "in_loads",
      "--bypass l1 --bypass-form grouped --pi 3",
      { 16, 1, 1 },
      { 256, 1, 1 },
      80 },
    { "vertical",
      "in_loads",
      "--bypass l1 --bypass-form vertical --bypass-loads 35,43",
      { 16, 1, 1 },
      { 256, 1, 1 },
      80 },
    { "hybrid",
      "in_loads",
      "--bypass l1 --bypass-form hybrid --bypass-loads 35 --pi 2",
      { 16, 1, 1 },
      { 256, 1, 1 },
      80 },
    { "bpa", "in_loads", "--bypass l1 --pi bpa", { 16, 1, 1 }, { 256, 1, 1 }, 80 },
    { "bpa_cs", "in_loads", "--bypass l1 --bypass-op cs --pi bpa", { 16, 1, 1 }, { 256, 1, 1 }, 80 },
    { "ro_cg", "in_loads", "--bypass ro --pi 4", { 16, 1, 1 }, { 256, 1, 1 }, 80 },
    { "ro_no_allocate",
      "in_loads",
      "--bypass ro --bypass-op no_allocate --pi bpa",
      { 16, 1, 1 },
      { 256, 1, 1 },
      80 },
    { "l2", "in_loads", "--bypass l2 --bypass-op cache_hint --pi bpa", { 16, 1, 1 }, { 256, 1, 1 }, 80 },
    { "evict_last",
      "in_loads",
      "--bypass l1 --bypass-op evict_last --pi 3",
      { 16, 1, 1 },
      { 256, 1, 1 },
      80 },
    { "l2_evict_last",
      "in_loads",
      "--bypass l2 --bypass-op evict_last --pi bpa",
      { 16, 1, 1 },
      { 256, 1, 1 },
      80 },
    { "l1l2_evict_unchanged",
      "in_loads",
      "--bypass l1+l2 --bypass-op evict_unchanged --pi 2",
      { 16, 1, 1 },
      { 256, 1, 1 },
      80 },
    { "l1l2", "in_loads", "--bypass l1+l2 --pi 2", { 16, 1, 1 }, { 256, 1, 1 }, 80 },
    { "l2_old", "in_tile", "--bypass l2 --pi bpa", { 4, 4, 1 }, { 128, 1, 1 }, 75 },
    { "raised",
      "in_tile",
      "--bypass l1+l2 --bypass-op no_allocate --pi 1",
      { 4, 4, 1 },
      { 128, 1, 1 },
      90 },
    { "vote", "in_loads", "--bypass l1 --pi vote", { 16, 1, 1 }, { 256, 1, 1 }, 80 },
    { "promote", "in_loads", "--readonly promote", { 16, 1, 1 }, { 256, 1, 1 }, 80 },
    { "smem_pad", "in_tile", "--smem-pad 128", { 4, 4, 1 }, { 128, 1, 1 }, 75 },
    { "swizzle", "in_tile", "--swizzle-shared", { 4, 4, 1 }, { 128, 1, 1 }, 75 },
    { "demote", "in_loads", "--readonly demote", { 16, 1, 1 }, { 256, 1, 1 }, 80 },
    { "block", "in_grid", "--block 8x32x1", { 4, 16, 1 }, { 32, 8, 1 }, 75 },
    { "given", "in_given", "--bypass l1 --pi bpa", { 8, 1, 1 }, { 128, 1, 1 }, 75 },
    { "block_func", "in_func", "--block 32x4x1", { 8, 1, 1 }, { 128, 1, 1 }, 75 },
    { "swap", "in_grid", "--swap-xy", { 4, 16, 1 }, { 32, 8, 1 }, 75 },
    { "coarsen", "in_grid", "--coarsen 4", { 4, 16, 1 }, { 32, 8, 1 }, 75 },
    { "coarsen_blocked",
      "in_grid",
      "--coarsen 2 --coarsen-mode blocked --block 64x4x1",
      { 4, 16, 1 },
      { 32, 8, 1 },
      75 },
    { "coarsen_vector", "in_grid", "--coarsen 2 --coarsen-mode vector", { 4, 16, 1 }, { 32, 8, 1 }, 75 },
    { "redirect", "in_tile", "--cluster redirect --index column", { 4, 4, 1 }, { 128, 1, 1 }, 75 },
    { "redirect_tile",
      "in_grid",
      "--cluster redirect --index tile:2x3 --clusters 3",
      { 4, 16, 1 },
      { 32, 8, 1 },
      75 },
    { "redirect_func", "in_func", "--cluster redirect", { 8, 1, 1 }, { 128, 1, 1 }, 75 },
    { "redirect_custom",
      "in_grid",
      "--cluster redirect --index custom:" DIR "order_64.txt",
      { 4, 16, 1 },
      { 32, 8, 1 },
      75 },
    { "agents", "in_tile", "--cluster agent --agents 2", { 4, 4, 1 }, { 128, 1, 1 }, 75 },
    { "agents_launch",
      "in_grid",
      "--cluster agent --index column --claims launch",
      { 4, 16, 1 },
      { 32, 8, 1 },
      100 },
    { "agents_returns", "in_grid", "--cluster agent --index column", { 4, 16, 1 }, { 32, 8, 1 }, 75 },
    { "marks", "in_marks", "--bypass l1 --pi 1", { 0, 0, 0 }, { 0, 0, 0 }, 80 },
    { "agents_several", "in_turns", "--cluster agent --clusters 3", { 9, 900, 1 }, { 128, 1, 1 }, 75 },
    { "agents_several_apart",
      "in_loads",
      "--cluster agent --clusters 3 --index column",
      { 9000, 1, 1 },
      { 64, 1, 1 },
      75 },
    { "agents_func", "in_func", "--cluster agent", { 8, 1, 1 }, { 128, 1, 1 }, 75 },
    { "agents_prefetch", "in_grid", "--cluster agent --prefetch l2", { 4, 16, 1 }, { 32, 8, 1 }, 75 },
    { "prefetch", "in_grid", "--prefetch l1 --prefetch-distance 4", { 4, 16, 1 }, { 32, 8, 1 }, 75 },
    { "throttle",
      "in_grid",
      "--throttle-shared 4096 --maxnreg 64 --minctas 2",
      { 4, 16, 1 },
      { 32, 8, 1 },
      75 },
    { "throttle_head", "in_heads", "--maxnreg 64 --minctas 2", { 4, 1, 1 }, { 256, 1, 1 }, 75 },
    { "softcache_static", "in_grid", "--softcache 2", { 4, 16, 1 }, { 32, 8, 1 }, 75 },
    { "softcache_barrier", "in_tile", "--softcache 1", { 4, 4, 1 }, { 128, 1, 1 }, 75 },
    { "softcache_dynamic", "in_grid", "--softcache dynamic", { 4, 16, 1 }, { 32, 8, 1 }, 75 },
    { "softcache_together", "in_tile", "--softcache dynamic", { 4, 4, 1 }, { 128, 1, 1 }, 75 },
    { "softcache_alias", "in_alias", "--softcache 2", { 4, 1, 1 }, { 64, 1, 1 }, 75 },
    { "softcache_calls", "in_func", "--softcache 1", { 8, 1, 1 }, { 128, 1, 1 }, 75 },
    { "agents_vote", "in_tile", "--cluster agent --agents vote", { 4, 4, 1 }, { 128, 1, 1 }, 75 },
    { "together",
      "in_grid",
      "--bypass l1 --pi 3 --cluster agent --index tile:2x2 --coarsen 2",
      { 4, 16, 1 },
      { 32, 8, 1 },
      75 },
};

static void input_path(char *out, size_t n, const char *name)
{
    snprintf(out, n, DIR "%s.ptx", name);
}

static void compare(const char *name, struct str text)
{
    char path[256], *want = NULL;
    size_t n = 0;
    struct diags ds = { 0 };
    input_path(path, sizeof path, name);
    if (getenv("GOLDEN_UPDATE")) {
        assert_status_ok(file_write_atomic(path, text.s, text.n, &ds), &ds);
        return;
    }
    assert_status_ok(file_read(path, 1 << 24, &want, &n, &ds), &ds);
    size_t at = 0, line = 1;
    while (at < n && at < text.n && want[at] == text.s[at])
        line += want[at++] == '\n';
    if (n != text.n || at != n)
        fail_msg("%s differs from the rewrite at line %zu (GOLDEN_UPDATE=1 writes it anew)", path, line);
    base_free(want);
    diags_free(&ds);
}

static void test_goldens(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rewrites); k++) {
        const struct rewrite *r = &rewrites[k];
        struct workspace s;
        struct buf text = { 0 };
        char path[256];
        input_path(path, sizeof path, r->input);
        workspace_open(&s, path, r->grid, r->block, r->cc);
        assert_status_ok(subject_rewrite(&s, r->options), &s.ds);
        assert_true(s.out.changed);
        pass_standalone(&s.out, &text);
        compare(r->name, (struct str){ text.s, text.n });
        buf_free(&text);
        workspace_close(&s);
    }
}

/* ---- ptxas ---- */
static const char *ptxas(void)
{
    static const char *const places[] = { "/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas" };
    for (size_t k = 0; k < ARRAY_LEN(places); k++)
        if (access(places[k], X_OK) == 0)
            return places[k];
    return NULL;
}

static uint32_t target_of(const char *path)
{
    struct ptx_module *m = NULL;
    struct diags ds = { 0 };
    assert_status_ok(ptx_parse_file(path, &m, &ds), &ds);
    uint32_t t = m->target;
    ptx_free(m);
    diags_free(&ds);
    return t;
}

static void test_ptxas(void **state)
{
    (void)state;
    static const uint32_t archs[] = { 75, 80, 86, 89, 90, 100, 120 };
    if (!ptxas()) {
        print_message("no ptxas here: assembling is not checked\n");
        skip();
    }
    for (size_t k = 0; k < ARRAY_LEN(rewrites); k++) {
        char path[256], cmd[1024];
        input_path(path, sizeof path, rewrites[k].name);
        uint32_t least = target_of(path);
        for (size_t a = 0; a < ARRAY_LEN(archs); a++) {
            if (archs[a] < least)
                continue;
            snprintf(cmd, sizeof cmd, "%s -O1 -arch=sm_%u %s -o %s/o.cubin 2>%s/log", ptxas(), archs[a],
                     path, support_scratch(), support_scratch());
            if (system(cmd) != 0)
                fail_msg("ptxas refuses %s for sm_%u", path, archs[a]);
        }
    }
}

/* ---- refusals ---- */
struct refusal {
    const char *input, *options, *says;
    uint32_t line;
    struct dim3u grid, block;
    int cc;
};
static const struct refusal refusals[] = {
    { "in_loads", "--bypass l1 --pi 9", "the threshold is 0..8", 0, { 16, 1, 1 }, { 256, 1, 1 }, 80 },
    { "in_loads",
      "--bypass l1 --bypass-op cache_hint --pi 1",
      "affects only L2",
      0,
      { 16, 1, 1 },
      { 256, 1, 1 },
      80 },
    { "in_tile",
      "--bypass l2 --bypass-op cache_hint --pi 1",
      "needs sm_80: the device is sm_75",
      0,
      { 4, 4, 1 },
      { 128, 1, 1 },
      75 },
    { "in_loads",
      "--bypass l1 --bypass-form vertical --bypass-loads 3",
      "no load on that PTX line",
      0,
      { 16, 1, 1 },
      { 256, 1, 1 },
      80 },
    { "in_func",
      "--bypass ro --pi 1",
      "a store may go to the same memory",
      73,
      { 8, 1, 1 },
      { 128, 1, 1 },
      75 },
    { "in_tile", "--block 32x4x1", "uses a barrier", 43, { 4, 4, 1 }, { 128, 1, 1 }, 75 },
    { "in_grid", "--block 32x16x1 --coarsen 3", "1, 2, 4 or 8", 0, { 4, 16, 1 }, { 32, 8, 1 }, 75 },
    { "in_func", "--coarsen 2", "cannot know the iteration", 24, { 8, 1, 1 }, { 128, 1, 1 }, 75 },
    { "in_parted", "--softcache dynamic", "let threads diverge", 26, { 4, 1, 1 }, { 64, 1, 1 }, 75 },
    { "in_smid", "--softcache dynamic", "samples a loop", 0, { 4, 1, 1 }, { 64, 1, 1 }, 75 },
    { "in_grid",
      "--softcache 1 --softcache-data nobody",
      "accesses no parameter 'nobody'",
      0,
      { 4, 16, 1 },
      { 32, 8, 1 },
      75 },
    { "in_tile", "--softcache 9", "fit into the shared memory", 0, { 4, 4, 1 }, { 128, 1, 1 }, 75 },
    { "in_early", "--cluster agent", "some threads may exit here", 20, { 4, 1, 1 }, { 64, 1, 1 }, 75 },
    { "in_merged", "--cluster agent", "some threads may exit here", 20, { 4, 1, 1 }, { 64, 1, 1 }, 75 },
    { "in_early",
      "--cluster redirect --coarsen 2",
      "some threads may exit here",
      20,
      { 4, 1, 1 },
      { 64, 1, 1 },
      75 },
    { "in_smid", "--cluster redirect", "%smid is read here", 12, { 4, 1, 1 }, { 64, 1, 1 }, 75 },
    { "in_spin", "--cluster agent", "wait here for other CTAs", 17, { 4, 1, 1 }, { 64, 1, 1 }, 75 },
    { "in_tile",
      "--throttle-shared 200000",
      "bytes of shared memory per CTA",
      0,
      { 4, 4, 1 },
      { 128, 1, 1 },
      75 },
    { "in_smid", "--prefetch l2", "nothing to prefetch", 0, { 4, 1, 1 }, { 64, 1, 1 }, 75 },
    { "in_tile", "--readonly demote", "no .nc load", 0, { 4, 4, 1 }, { 128, 1, 1 }, 75 },
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(refusals); k++) {
        const struct refusal *r = &refusals[k];
        struct workspace s;
        char path[256];
        input_path(path, sizeof path, r->input);
        workspace_open(&s, path, r->grid, r->block, r->cc);
        enum status st = subject_rewrite(&s, r->options);
        struct buf b = { 0 };
        diags_print(&s.ds, &b);
        if (st != ST_REFUSED || !support_said(&s.ds, r->says))
            fail_msg("%s %s: status %d, wanted a refusal that says \"%s\":\n%s", r->input, r->options,
                     st, r->says, b.s ? b.s : "");
        bool there = !r->line;
        for (size_t n = 0; n < s.ds.n; n++)
            there |= s.ds.v[n].at.line == r->line;
        if (!there)
            fail_msg("%s %s: not at line %u:\n%s", r->input, r->options, r->line, b.s ? b.s : "");
        assert_null(s.out.text);
        buf_free(&b);
        workspace_close(&s);
    }
}

/* ---- the runner ---- */
static void test_unchanged_is_the_original(void **state)
{
    (void)state;
    struct workspace s;
    workspace_open(&s, DIR "in_loads.ptx", (struct dim3u){ 16, 1, 1 }, (struct dim3u){ 256, 1, 1 }, 80);
    assert_status_ok(subject_rewrite(&s, "--bypass l1 --pi cha"), &s.ds);
    assert_false(s.out.changed);
    assert_int_equal(s.out.n, s.m->text.n);
    assert_memory_equal(s.out.text, s.m->text.s, s.out.n);
    assert_int_equal(s.out.hw_pi, -1);
    assert_status_ok(subject_rewrite(&s, "--bypass l1 --bypass-form hardware --pi 5"), &s.ds);
    assert_false(s.out.changed);
    assert_int_equal(s.out.hw_pi, 5);
    workspace_close(&s);
}

static void test_pi_values_share_the_text(void **state)
{
    (void)state;
    struct workspace a, b;
    const struct dim3u grid = { 16, 1, 1 }, block = { 256, 1, 1 };
    workspace_open(&a, DIR "in_loads.ptx", grid, block, 80);
    workspace_open(&b, DIR "in_loads.ptx", grid, block, 80);
    assert_status_ok(subject_rewrite(&a, "--bypass l1 --pi 0"), &a.ds);
    assert_status_ok(subject_rewrite(&b, "--bypass l1 --pi 8"), &b.ds);
    assert_true(a.out.knobs);
    assert_true(b.out.knobs);
    assert_int_equal(a.out.n, b.out.n);
    assert_memory_equal(a.out.text, b.out.text, a.out.n);
    assert_int_equal(a.out.knob[PASS_KNOB_PI], 0);
    assert_int_equal(b.out.knob[PASS_KNOB_PI], 8);
    const char *const others[] = { "--bypass l1 --pi bpa", "--bypass l1 --pi 0 --bypass-op cs" };
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        assert_status_ok(subject_rewrite(&b, others[i]), &b.ds);
        assert_true(a.out.n != b.out.n || memcmp(a.out.text, b.out.text, a.out.n) != 0);
    }
    workspace_close(&a);
    workspace_close(&b);
}

/* Untouched lines name their original line, others the pass that wrote them. */
static void test_line_origins(void **state)
{
    (void)state;
    struct workspace s;
    workspace_open(&s, DIR "in_grid.ptx", (struct dim3u){ 4, 16, 1 }, (struct dim3u){ 32, 8, 1 }, 75);
    assert_status_ok(subject_rewrite(&s, "--swap-xy --bypass l1 --pi 1 --cluster redirect"), &s.ds);
    bool schedule = false, bypass = false, cluster = false;
    for (uint32_t k = 0; k < s.out.nlines; k++) {
        const struct ptx_line_origin *o = &s.out.lines[k];
        if (!o->tag) {
            struct str now = ptx_line_text(s.out.module, k + 1), was = ptx_line_text(s.m, o->line);
            assert_true(o->line);
            assert_true(str_eq(now, was));
            continue;
        }
        schedule |= strcmp(o->tag, "schedule") == 0;
        bypass |= strcmp(o->tag, "bypass") == 0;
        cluster |= strcmp(o->tag, "cluster") == 0;
    }
    assert_true(schedule);
    assert_true(bypass);
    assert_true(cluster);
    workspace_close(&s);
}

static void test_diff(void **state)
{
    (void)state;
    struct workspace s;
    struct buf d = { 0 };
    workspace_open(&s, DIR "in_loads.ptx", (struct dim3u){ 16, 1, 1 }, (struct dim3u){ 256, 1, 1 }, 80);
    assert_status_ok(subject_rewrite(&s, "--bypass l1 --bypass-form vertical --bypass-loads 35"), &s.ds);
    pass_diff(s.m, &s.out, &d);
    assert_non_null(strstr(d.s, "@@ -32,7 +32,7 @@\n"));
    assert_non_null(
        strstr(d.s, "-\tld.global.f32 \t%f1, [%rd5]; // first of two neighbours\n+\tld.global.cg.f32 "
                    "\t%f1, [%rd5]; // first of two neighbours\n"));
    buf_free(&d);
    workspace_close(&s);
}

static void test_launch_and_resets(void **state)
{
    (void)state;
    struct workspace s;
    workspace_open(&s, DIR "in_grid.ptx", (struct dim3u){ 4, 16, 1 }, (struct dim3u){ 32, 8, 1 }, 75);
    assert_status_ok(subject_rewrite(&s, "--block 16x16x1 --swap-xy --coarsen 2"), &s.ds);
    /* 128 x 128 threads: along new x runs old y, two per thread */
    assert_int_equal(s.out.block.x, 16);
    assert_int_equal(s.out.block.y, 16);
    assert_int_equal(s.out.grid.x, 4);
    assert_int_equal(s.out.grid.y, 8);
    assert_status_ok(subject_rewrite(&s, "--cluster agent --clusters 3 --throttle-shared 1000"), &s.ds);
    /* 4 SMs x 8 resident CTAs of 8 warps, less than the 64 tasks */
    assert_int_equal(s.out.grid.x, 32);
    assert_int_equal(s.out.shared, 1000);
    assert_int_equal(s.out.nreset, 2);
    /* a counter for each cluster, and one that searches draw numbers from */
    assert_int_equal(s.out.reset[0].bytes, 4 * 512);
    workspace_close(&s);
}

/* softcache paper: 48 KB and 2048 threads give 1 line, 1024 threads 3. */
static void test_softcache_lines(void **state)
{
    (void)state;
    assert_int_equal(pass_softcache_lines(48 << 10, 2048, 16), 1);
    assert_int_equal(pass_softcache_lines(48 << 10, 1024, 16), 3);
    assert_int_equal(pass_softcache_lines(16 << 10, 2048, 16), 0);
    assert_int_equal(pass_softcache_lines(0, 0, 16), 0);
}

/* Any allocation may fail: the rewrite is then the same text or none at all. */
static void test_out_of_memory(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "--bypass l1 --bypass-form hybrid --bypass-loads 45 --pi 2 --cluster agent --prefetch l2 "
        "--index tile:2x2",
        "--softcache dynamic --swap-xy --cluster redirect --readonly promote",
        "--softcache 2 --bypass ro --bypass-form grouped --pi 1 --coarsen 2"
    };
    for (size_t k = 0; k < ARRAY_LEN(lines); k++) {
        struct workspace s;
        struct options o = options_default();
        workspace_open(&s, DIR "in_grid.ptx", (struct dim3u){ 4, 16, 1 }, (struct dim3u){ 32, 8, 1 },
                       75);
        assert_status_ok(subject_rewrite(&s, lines[k]), &s.ds);
        assert_status_ok(options_parse_line(&o, str_of(lines[k]), &s.ds), &s.ds);
        struct pass_input in = { .module = s.m, .options = &o, .dev = &s.dev, .launch = &s.launch };
        bool whole = false;
        for (uint64_t n = 1; !whole; n += 1 + n / 60) {
            struct pass_output out;
            struct diags ds = { 0 };
            uint64_t before = base_alloc_count();
            base_fail_after(n);
            enum status st = pass_apply(&in, &out, &ds);
            whole = base_alloc_count() - before < n;
            base_fail_after(0);
            if (st == ST_OK && (out.n != s.out.n || memcmp(out.text, s.out.text, out.n) != 0))
                fail_msg("%s: another text when allocation %llu fails", lines[k], (unsigned long long)n);
            assert_true(st == ST_OK || st == ST_NOMEM || st == ST_REFUSED || st == ST_INPUT);
            assert_true(st == ST_OK || !out.text);
            assert_true(!whole || st == ST_OK);
            pass_output_free(&out);
            diags_free(&ds);
        }
        workspace_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goldens),
        cmocka_unit_test(test_ptxas),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_unchanged_is_the_original),
        cmocka_unit_test(test_pi_values_share_the_text),
        cmocka_unit_test(test_line_origins),
        cmocka_unit_test(test_diff),
        cmocka_unit_test(test_launch_and_resets),
        cmocka_unit_test(test_softcache_lines),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
