/* Kernels unlike the demo kernels (tests/heldout), as nvcc, nvcc -G and clang write them: early returns,
 * calls, jump tables, local arrays, votes, fences, pointers that are the same. Every rewrite is proven
 * equal on the simulated device or refused with a reason. wild.cu: whole small algorithms. PASS_VERBOSE,
 * PASS_KEEP, PASS_RANDOM as in pass_bench.h. */
#include "engine/session/launch_file.h"
#include "tests/unit/pass_bench.h"

#define UNSEEN "tests/heldout/unseen.launch.json"
static const struct built {
    const char *ptx, *launches;
} built[] = {
    { "tests/heldout/u_nvcc.ptx", UNSEEN },
    { "tests/heldout/u_debug.ptx", UNSEEN },
    { "tests/heldout/u_clang.ptx", UNSEEN },
    { "tests/heldout/w_nvcc.ptx", "tests/heldout/wild.launch.json" },
};
static const char *const lines[] = {
    "--bypass l1 --pi bpa",
    "--bypass l1 --pi 1",
    "--bypass l1 --bypass-form predicate --bypass-op no_allocate --pi 1",
    "--bypass l1 --bypass-form grouped --pi 1",
    "--bypass ro --pi 1",
    "--bypass l1+l2 --pi 1",
    "--bypass l1 --bypass-form vertical",
    "--readonly promote",
    "--swap-xy",
    "--swizzle-shared",
    "--smem-pad 128",
    "--cluster agent --prefetch l2 --softcache 1",
    "--block 16x4x1",
    "--coarsen 2",
    "--coarsen 4 --coarsen-mode blocked --block 8x8x1",
    "--coarsen 4 --coarsen-mode vector",
    "--cluster redirect --index column --clusters 3",
    "--cluster redirect --index tile:2x2",
    "--cluster agent --clusters 4",
    "--cluster agent --index column --agents 1 --clusters 3",
    "--cluster agent --prefetch l1 --clusters 2",
    "--prefetch l2 --prefetch-distance 2",
    "--softcache 1",
    "--softcache 3",
    "--softcache dynamic",
    "--throttle-shared 2048",
};
enum { RANDOM_PER_KERNEL = 3 };
static struct dev *device;
static unsigned proven, refused, prefetches;

static void one_launch(const struct launch_spec *l, const char *ptx)
{
    struct bench b;
    bench_open(&b, device, l, ptx);
    for (size_t k = 0; k < ARRAY_LEN(lines); k++) {
        struct options o = options_default();
        struct diags ds = { 0 };
        assert_status_ok(options_parse_line(&o, str_of(lines[k]), &ds), &ds);
        bench_try(&b, &o, &ds);
        diags_free(&ds);
    }
    bench_random(&b, RANDOM_PER_KERNEL);
    prefetches += bench_prefetches(&b);
    proven += b.proven;
    refused += b.refused;
    bench_close(&b);
}

static void one_compiler(void **state)
{
    const struct built *b = *state;
    struct launch_file f;
    struct diags ds = { 0 };
    assert_status_ok(launch_file_read(b->launches, &f, &ds), &ds);
    for (size_t i = 0; i < f.n; i++)
        one_launch(&f.launch[i], b->ptx);
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
    print_message("%u rewrites equal to the original, %u refused; %u with prefetches, all in bounds\n",
                  proven, refused, prefetches);
    return 0;
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(built)];
    for (size_t i = 0; i < ARRAY_LEN(built); i++)
        tests[i] =
            (struct CMUnitTest){ built[i].ptx, one_compiler, NULL, NULL, (void *)(uintptr_t)&built[i] };
    return _cmocka_run_group_tests("pass_unseen", tests, ARRAY_LEN(tests), open_device, close_device);
}
