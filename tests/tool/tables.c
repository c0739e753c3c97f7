/* Writes reference pages about what the simulated devices know: `tables presets` the fields of a preset.
 * `make reference` puts them into docs/reference/; tests/cli/generated.sh tells when a page is out of
 * date. */
#include "engine/base/base.h"
#include "engine/session/preset_fields.h"
#include "engine/session/session.h"
#include "engine/sim/preset.h"
#include "engine/sim/timing/expansion.h"

#include <stdio.h>
#include <string.h>

/* ---- presets ---- */

/* Every shipped preset, with sources. */
static struct preset_fields shipped[64];
static size_t nshipped;

static bool read_all(void)
{
    struct diags ds = { 0 };
    bool ok = preset_count() <= ARRAY_LEN(shipped);
    for (nshipped = 0; ok && nshipped < preset_count(); nshipped++)
        ok = preset_fields_read(preset_name(nshipped), &shipped[nshipped], &ds) == ST_OK;
    diags_free(&ds);
    return ok;
}

static bool starts_with(const char *s, const char *word)
{
    return strncmp(s, word, strlen(word)) == 0;
}

/* Measured on that device itself, or counted for its architecture. */
static bool is_own(const char *source)
{
    static const char *const words[] = { "measured", "fitted", "counted", "ptxas" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (starts_with(source, words[i]))
            return true;
    return false;
}

/* The devices whose value of field i is measured; how many others have an assumed one. */
static void held_for(size_t i)
{
    size_t own = 0, assumed = 0;
    for (size_t k = 0; k < nshipped; k++) {
        if (is_own(shipped[k].source[i]))
            printf("%s%s", own++ ? ", " : "", shipped[k].p.name);
        assumed += starts_with(shipped[k].source[i], "assumed") ||
                   starts_with(shipped[k].source[i], "default: ");
    }
    if (!own)
        printf("none");
    printf(" | %zu", assumed);
}

static void field_row(size_t i)
{
    const struct sim_preset_field *f = sim_preset_field(i);
    printf("| `%s` | %s | %.12g | %g to %g | %s | ", f->name, f->unit, f->def, f->least, f->most,
           f->help);
    held_for(i);
    printf(" | %s |\n", f->source);
}

static void arch_rows(void)
{
    static const int cc[] = { 20, 30, 50, 60, 70, 80, 90 };
    printf("\n## Defaults by architecture\n\nA field that a file does not hold has these values. Fields "
           "without a row have the default above.\n\n| field |");
    for (size_t k = 0; k < ARRAY_LEN(cc); k++)
        printf(" %d.%d |", cc[k] / 10, cc[k] % 10);
    printf("\n|---|");
    for (size_t k = 0; k < ARRAY_LEN(cc); k++)
        printf("---|");
    printf("\n");
    for (size_t i = 0; i < sim_preset_field_count(); i++) {
        const char *source;
        bool differs = false;
        for (size_t k = 0; k < ARRAY_LEN(cc); k++)
            differs |=
                sim_preset_field_default(i, cc[k] / 10, cc[k] % 10, &source) != sim_preset_field(i)->def;
        if (!differs)
            continue;
        printf("| `%s` |", sim_preset_field(i)->name);
        for (size_t k = 0; k < ARRAY_LEN(cc); k++)
            printf(" %g |", sim_preset_field_default(i, cc[k] / 10, cc[k] % 10, &source));
        printf("\n");
    }
}

static void expansion_row(const struct timing_expansion *e)
{
    static const char *const how[] = { "", "approx, full", "approx.ftz" };
    char kind[2] = { e->kind, 0 }, bits[4] = "";
    if (e->bits)
        snprintf(bits, sizeof bits, "%u", e->bits);
    printf("| `%s` | %s | %s%s | %u | %u | %u | %u | %u | %u | %u | %s |\n", e->name, how[e->how], kind,
           bits, e->slots, e->sfu, e->dbl, e->chain, e->chain_sfu, e->chain_dbl, e->chain_branch,
           e->from == EXPANSION_MEASURED ? "yes" : "no");
}

static void expansions(void)
{
    const struct timing_expansion_set *set;
    printf("\n## Instructions that stand for several\n\n"
           "`expansion_set` of a preset names one of these sets. The machine instructions of each are "
           "counted in what the assembler makes;\n\"measured\" rows agree with a GPU as well.\n");
    for (size_t k = 0; (set = timing_expansion_set_at(k)); k++) {
        bool here = false;
        const struct timing_expansion *e;
        printf("\nSet %u, %s: %s.\n\n"
               "| operation | form | type | instructions | function unit | double unit | chain | "
               "chain: function unit | chain: double unit | chain: branches | measured |\n"
               "|---|---|---|---|---|---|---|---|---|---|---|\n",
               set->number, set->holds, set->source);
        for (size_t i = 0; (e = timing_expansion_at(i)); i++) {
            if (!e->name)
                here = e->set == set->number;
            else if (here)
                expansion_row(e);
        }
    }
}

static int page_presets(void)
{
    if (!read_all())
        return 1;
    printf(
        "# Presets: the fields of a simulated device\n\n"
        "Made by `make reference` from `engine/sim/preset.def` and the preset files; do not edit.\n"
        "`gpulocw devices PRESET` prints all fields of one preset with the source of each, with "
        "`--json` as a file to start from.\n\n"
        "\"measured\" names the presets whose value was measured, fitted or counted for that very "
        "device;\n\"assumed\" says how many of the %zu presets assume theirs. The rest is published.\n\n"
        "| field | unit | default | range | meaning | measured | assumed | source of the default |\n"
        "|---|---|---|---|---|---|---|---|\n",
        nshipped);
    for (size_t i = 0; i < sim_preset_field_count(); i++)
        field_row(i);
    arch_rows();
    expansions();
    for (size_t i = 0; i < nshipped; i++)
        preset_fields_free(&shipped[i]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "presets"))
        return page_presets();
    fprintf(stderr, "usage: tables presets\n");
    return 2;
}
