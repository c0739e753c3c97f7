/* A program that uses the fake driver as frameworks use the real one: PTX text, a fatbin by the runtime,
 * a cubin file, one name in two modules, a graph. program [CUBIN [EXIT]]; the last word "crash": a
 * signal. */
#include "tests/live/fake_live.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint8_t fatbin[16 + 64 + 8 + 64 + 8];
static struct {
    uint32_t magic, version;
    const void *data, *more;
} wrapper = { 0x466243b1, 1, fatbin, NULL };

static void put(size_t at, uint64_t v, size_t n)
{
    memcpy(fatbin + at, &v, n);
}

static void make_fatbin(unsigned first, unsigned second)
{
    put(0, 0xba55ed50u, 4), put(4, 1, 2), put(6, 16, 2), put(8, sizeof fatbin - 16, 8);
    put(16, first, 2), put(20, 64, 4), put(24, 8, 8);
    put(88, second, 2), put(92, 64, 4), put(96, 8, 8);
}

int main(int argc, char **argv)
{
    static char cubin[4096];
    void *m, *f, *g;
    cuInit(0);
    fake_load(19, &m, ".version 8.0\n.target sm_90\n.entry text() { ret; }");
    fake_get(23, &f, m, "text");
    for (int i = 0; i < 3; i++)
        fake_launch(307, f, 4);
    make_fatbin(2, 1);
    fake_load(678, &m, &wrapper);
    fake_get(681, &f, m, "_Z5scalePf");
    fake_launch(442, f, 10);
    fake_launch(652, f, 10);
    fake_graph("_Z5scalePf", 10);
    make_fatbin(2, 2);
    fake_load(678, &m, &wrapper);
    fake_get(681, &g, m, "text"); /* the name of another, machine code only */
    fake_launch(477, g, 1);
    make_fatbin(8, 8);
    fake_load(678, &m, &wrapper);
    fake_get(681, &g, m, "linked");
    fake_launch(478, g, 1);
    fake_graph("unseen", 2);
    FILE *c = argc > 1 && argv[1][0] ? fopen(argv[1], "rb") : NULL;
    if (c && fread(cubin, 1, sizeof cubin, c) && fclose(c) == 0) {
        fake_load(20, &m, cubin);
        fake_get(23, &f, m, "softmax");
        fake_launch(653, f, 5);
    }
    printf("the program's own output\n");
    fflush(stdout);
    if (argc > 2 && strcmp(argv[2], "crash") == 0)
        abort();
    if (argc > 2 && strcmp(argv[2], "late") == 0) {
        usleep(1200000);
        _exit(9);
    }
    return argc > 2 ? atoi(argv[2]) : 0;
}
