/* What emulation adds: the time of 10,000 small launches from memory (engine/dev/card.h), and what the same
 * launches take in a program on the emulated driver (tests/emulate/driver_many), in turns. */
#include "engine/base/base.h"
#include "engine/dev/card.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/preset.h"
#include "tests/emulate/program.h"

#include <unistd.h>

enum { LAUNCHES = 10000, WORDS = 256, TURNS = 5 };
#define BASE      0x200000000000ull
#define VARIABLES 0x300000000000ull

static double launched(void)
{
    static uint32_t data[WORDS];
    struct diags ds = { 0 };
    struct sim_preset p = sim_preset_default();
    struct ptx_module *m = NULL;
    struct card *card = NULL;
    struct card_code *code;
    struct card_kernel *k;
    const struct sim_pages pages = { (uint8_t *)data, -1, 0 };
    struct {
        uint64_t a, b;
        uint32_t by, n;
    } params = { BASE, BASE, 1, WORDS };
    memset(data, 0, sizeof data);
    bool fine = card_new(&p, VARIABLES, 0, &card, &ds) == ST_OK &&
                ptx_parse("add.ptx", str_of(ADD_PTX), &m, &ds) == ST_OK &&
                card_load(card, m, &code) == ST_OK &&
                card_kernel(code, str_of("add"), &k, &ds) == ST_OK &&
                sim_mem_lend(card_memory(card), BASE, sizeof data, "data", &pages);
    int64_t from = base_now_ns();
    for (int i = 0; i < LAUNCHES && fine; i++) {
        struct sim_stats stats = { 0 };
        const struct card_launch l = { .grid = { 2, 1, 1 },
                                       .block = { 128, 1, 1 },
                                       .carveout = -1,
                                       .params = (const uint8_t *)&params,
                                       .nparams = sizeof params };
        fine = card_launch(k, &l, &stats, &ds) == ST_OK;
        sim_stats_free(&stats);
    }
    double s = 1e-9 * (double)(base_now_ns() - from);
    card_free(card);
    diags_free(&ds);
    return fine && data[0] == LAUNCHES && data[WORDS - 1] == LAUNCHES ? s : 0;
}

static bool emulated(const char *build, double *start_ms, double *s)
{
    char line[600];
    int n;
    snprintf(line, sizeof line, "%s/gpulocw emulate -- %s/tests/emulate/driver_many 2> /dev/null", build,
             build);
    FILE *f = popen(line, "r");
    *start_ms = *s = 0;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "start %lf", start_ms) != 1)
            sscanf(line, "%d launches %lf", &n, s);
    return f && pclose(f) == 0 && *s > 0;
}

int main(int argc, char **argv)
{
    const char *build = argc > 1 ? argv[1] : "build";
    for (int i = 0; i < TURNS; i++) {
        double start_ms, all, own = launched();
        if (!emulated(build, &start_ms, &all) || own <= 0) {
            fprintf(stderr, "a turn failed\n");
            return 1;
        }
        printf("%d launches: alone %.3f s, emulated %.3f s, %.2f times as long; start %.0f ms\n",
               LAUNCHES, own, all, all / own, start_ms);
    }
    return 0;
}
