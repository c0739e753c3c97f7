/* A program on the fake driver of tests of `apply`: swapped FILE.ptx COUNT [HOW [EXIT]]. It launches
 * `step` COUNT times, as HOW says, and prints what came of it: the same for any kernels that do the
 * same. HOW: plain; ex (cuLaunchKernelEx), together (cooperative), graph (captured once, replayed),
 * other (every second launch has another grid), mixed (graph and plain), built (a graph of two launches
 * built by hand), elf (its image is machine code), killed (half-way, by SIGKILL), slow (half-way it
 * waits for the file FILE.ptx.go). */
#include "tests/live/fake_swap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[1 << 16];

/* The text as this driver's machine code: an ELF file of one section. */
static void as_machine_code(void)
{
    size_t n = strlen(text);
    const uint64_t sections = 64, at = 128, entry = 64, one = 1;
    memmove(text + at, text, n + 1);
    memset(text, 0, at);
    memcpy(text, "\177ELF\2\1\1", 7);
    memcpy(text + 40, &sections, 8);
    memcpy(text + 58, &entry, 2);
    memcpy(text + 60, &one, 2);
    memcpy(text + 64 + 24, &at, 8);
    n++;
    memcpy(text + 64 + 32, &n, 8);
}

static void launch(void *f, uint64_t p, const char *how, int i)
{
    unsigned n = 64, ctas = strcmp(how, "other") == 0 && i % 2 ? 9 : 4;
    void *params[] = { &p, &n };
    struct {
        int id;
        char pad[4];
        unsigned char value[64];
    } together = { .id = 2, .value = { 1 } };
    struct {
        unsigned grid[3], block[3], shared;
        void *stream, *attribute;
        unsigned nattributes;
    } config = { { ctas, 1, 1 }, { 64, 1, 1 }, 0, NULL, &together, strcmp(how, "together") == 0 };
    int e = strcmp(how, "ex") == 0 || strcmp(how, "together") == 0
                ? cuLaunchKernelEx(&config, f, params, NULL)
                : cuLaunchKernel(f, ctas, 1, 1, 64, 1, 1, 0, NULL, params, NULL);
    if (e)
        printf("launch %d failed: %d\n", i, e);
}

static void build(void *f, uint64_t p)
{
    unsigned n = 64;
    void *params[] = { &p, &n };
    struct {
        int type, reserved[3];
        struct fake_node kernel;
    } any = { 0, { 0 }, { f, { 4, 1, 1 }, { 64, 1, 1 }, 0, params, NULL, NULL, NULL } };
    cuGraphAddKernelNode_v2(NULL, NULL, NULL, 0, &any.kernel);
    cuGraphAddNode(NULL, NULL, NULL, 0, &any);
    any.type = 1; /* a copy */
    cuGraphAddNode(NULL, NULL, NULL, 0, &any);
}

static void half_way(const char *how, const char *file)
{
    char go[4096];
    snprintf(go, sizeof go, "%s.go", file);
    if (strcmp(how, "killed") == 0)
        raise(SIGKILL);
    if (strcmp(how, "slow") != 0)
        return;
    printf("started\n");
    fflush(stdout);
    for (int i = 0; i < 6000 && access(go, F_OK) != 0; i++)
        usleep(10000);
}

int main(int argc, char **argv)
{
    const char *how = argc > 3 ? argv[3] : "plain";
    FILE *file = argc > 2 ? fopen(argv[1], "rb") : NULL;
    void *m, *f;
    uint64_t p, counter, scale;
    size_t n;
    if (!file || !fread(text, 1, sizeof text - 1, file) || fclose(file))
        return 99;
    cuInit(0);
    if (strcmp(how, "elf") == 0)
        as_machine_code();
    cuModuleLoadDataEx(&m, text, 0, NULL, NULL);
    memset(text, 'x', sizeof text - 1); /* the program may free it */
    cuModuleGetFunction(&f, m, "step");
    cuMemAlloc_v2(&p, 256);
    cuModuleGetGlobal_v2(&scale, &n, m, "scale");
    *(uint32_t *)(uintptr_t)scale = 5;
    int blocks = fake_blocks();
    if (strcmp(how, "built") == 0)
        build(f, p);
    for (int i = 0; i < atoi(argv[2]); i++) {
        if (i == atoi(argv[2]) / 2)
            half_way(how, argv[1]);
        if (strcmp(how, "built") == 0) {
            fake_replay();
        } else if (strcmp(how, "graph") == 0 || (strcmp(how, "mixed") == 0 && i % 2)) {
            if (i < 2) {
                fake_capture(1);
                launch(f, p, how, i);
                fake_capture(0);
            }
            fake_replay();
        } else {
            launch(f, p, how, i);
        }
    }
    uint32_t sum = 0;
    for (int i = 0; i < 64; i++)
        sum = sum * 31 + ((uint32_t *)(uintptr_t)p)[i];
    cuModuleGetGlobal_v2(&counter, &n, m, "counter");
    printf("sum %08x counter %u scale %u leaked %d\n", sum, *(uint32_t *)(uintptr_t)counter,
           *(uint32_t *)(uintptr_t)scale, fake_blocks() - blocks);
    fflush(stdout);
    return argc > 4 ? atoi(argv[4]) : 0;
}
