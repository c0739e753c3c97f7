/* Writes reference pages about what the simulated devices know: `tables presets` the fields of a preset,
 * `tables operations` what each table knows of each operation. `make reference` puts them into
 * docs/reference/; tests/cli/generated.sh tells when a page is out of date. */
#include "engine/base/base.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_table.h"
#include "engine/session/guess.h"
#include "engine/session/preset.h"
#include "engine/session/preset_fields.h"
#include "engine/sim/preset.h"
#include "engine/sim/timing/expansion.h"
#include "tests/ref/gen.h"

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
    printf("| `%s` | %s | %s%s | %u | %u | %u | %u | %u | %u | %u | %s |\n", ptx_op_info(e->op)->name,
           how[e->how], kind, bits, e->slots, e->sfu, e->dbl, e->chain, e->chain_sfu, e->chain_dbl,
           e->chain_branch, e->from == EXPANSION_MEASURED ? "yes" : "no");
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
            if (!e->op)
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

/* ---- operations: what each table knows ---- */

struct op_row {
    const char *id, *name, *executor, *text; /* of its row in ops.def */
    unsigned rules, lanes, native, scalar, generated;
};
static struct op_row ops[PTX_OP_COUNT] = {
#define OP(id, name, exec, ...) [PTX_OP_##id] = { #id, name, #exec, #__VA_ARGS__, 0, 0, 0, 0, 0 },
#include "engine/ptx/ops.def"
#undef OP
};

/* Bodies that several operations share name none: the first word of theirs says whose they are. */
enum { PTX_OP_NONE = PTX_OP_OPAQUE };
/* The lane bodies: which operation each is for; comparisons serve setp and set. */
static const struct {
    const char *lane;
    unsigned op;
} lane_bodies[] = {
#define LANE1(name, op, ...) { #name, PTX_OP_##op },
#define LANE2(name, op, ...) { #name, PTX_OP_##op },
#define LANE3(name, op, ...) { #name, PTX_OP_##op },
#define LANE4(name, op, ...) { #name, PTX_OP_##op },
#define LANEP(name, ...)     { #name, PTX_OP_SETP },
#define LANEX(name)          { #name, PTX_OP_OPAQUE },
#include "engine/sim/exec/lanes/lanes.def"
};

/* Bodies that are written out: loads, stores and selections by their first word. */
static unsigned op_of_body(const char *lane)
{
    for (size_t i = 0; i < ARRAY_LEN(lane_bodies); i++) {
        if (strcmp(lane_bodies[i].lane, lane))
            continue;
        if (lane_bodies[i].op != PTX_OP_OPAQUE)
            return lane_bodies[i].op;
        size_t n = strcspn(lane, "_");
        for (unsigned op = 1; op < PTX_OP_COUNT; op++)
            if (strlen(ops[op].name) == n && !strncmp(ops[op].name, lane, n))
                return op;
    }
    return PTX_OP_OPAQUE;
}

static unsigned op_of_row(const char *row)
{
    unsigned best = PTX_OP_OPAQUE;
    size_t longest = 0;
    for (unsigned op = 1; op < PTX_OP_COUNT; op++) {
        size_t n = strlen(ops[op].name);
        if (n > longest && !strncmp(ops[op].name, row, n) && strchr(". ;", row[n])) {
            best = op;
            longest = n;
        }
    }
    return best;
}

static void count_tables(void)
{
    static const char *const native[] = {
#define NATIVE(lane, ...) #lane,
#include "engine/sim/exec/native/native_ops.def"
    };
#define RULE(op, ...) ops[PTX_OP_##op].rules++;
#include "engine/ptx/rules.def"
#undef RULE
#define SCALAR(op, ...) ops[PTX_OP_##op].scalar++;
#include "engine/sim/exec/lanes/scalar.def"
#undef SCALAR
    for (size_t i = 0; i < ARRAY_LEN(lane_bodies); i++)
        ops[op_of_body(lane_bodies[i].lane)].lanes++;
    for (size_t i = 0; i < ARRAY_LEN(native); i++)
        ops[op_of_body(native[i])].native++;
    for (size_t i = 0; i < gen_rows(); i++)
        for (const char *s = gen_row(i); s; s = strchr(s, ';') ? strchr(s, ';') + 1 : NULL) {
            while (*s == ' ')
                s++;
            ops[op_of_row(s)].generated++;
        }
}

/* The word behind `.key = PREFIX` of a row of ops.def, in small letters; "": the row does not name it.
 */
static const char *column(const char *row, const char *key, char out[32])
{
    size_t n = 0;
    const char *at = strstr(row, key);
    for (at = at ? at + strlen(key) : ""; *at && !strchr(", )", *at) && n < 31; at++)
        out[n++] = *at == '_' ? ' ' : (char)(*at | (*at >= 'A' && *at <= 'Z' ? 0x20 : 0));
    out[n] = '\0';
    return out;
}

static unsigned expansions_of(unsigned op, unsigned *most)
{
    unsigned n = 0;
    const struct timing_expansion *e;
    for (size_t i = 0; (e = timing_expansion_at(i)); i++)
        if (e->op == op) {
            n++;
            *most = e->slots > *most ? e->slots : *most;
        }
    return n;
}

static void count_cell(unsigned n)
{
    if (n)
        printf(" %u |", n);
    else
        printf(" |");
}

static void op_line(unsigned op)
{
    const struct op_row *o = &ops[op];
    char cls[32], addr[32], effect[32];
    unsigned most = 0, expanded = expansions_of(op, &most);
    printf("| `%s` | %s |", o->name, ptx_op_info(op)->section);
    count_cell(o->rules);
    printf(" %s |", strcmp(o->executor, "none") ? o->executor : "");
    count_cell(o->lanes);
    count_cell(o->scalar);
    count_cell(o->native);
    printf(" %s |", column(o->text, ".cls = CLASS_", cls));
    if (expanded)
        printf(" %u, up to %u |", expanded, most);
    else
        printf(" |");
    column(o->text, ".effect = EFFECT_", effect);
    printf(" %s |", *effect ? effect : column(o->text, ".addr = ADDR_", addr));
    count_cell(o->generated);
    printf("\n");
}

static int page_operations(void)
{
    count_tables();
    unsigned run = 0, laned = 0, native = 0, generated = 0;
    for (unsigned op = 1; op < PTX_OP_COUNT; op++) {
        run += strcmp(ops[op].executor, "none") != 0;
        laned += ops[op].lanes > 0;
        native += ops[op].native > 0;
        generated += ops[op].generated > 0;
    }
    printf(
        "# Operations: what each table knows\n\n"
        "Made by `make reference` from the tables named below; do not edit. An empty cell: the table "
        "has no row.\n[ptx-coverage.md](ptx-coverage.md) says what follows for a user.\n\n"
        "%d operations: %u run on the simulated device, %u of them with bodies for 32 lanes at once, "
        "%u with machine code of the host;\nthe generator of random programs has rows for %u.\n\n"
        "| column | table |\n|---|---|\n"
        "| section | `engine/ptx/ops.def`: section of the PTX ISA |\n"
        "| rules | `engine/ptx/rules.def`: which words need or exclude one another |\n"
        "| executor | `ops.def`, third column: `decode_<word>` in `engine/sim/decode`; the analysis "
        "follows addresses with it, too |\n"
        "| lanes | `engine/sim/exec/lanes/lanes.def`: bodies for 32 lanes at once |\n"
        "| scalar | `engine/sim/exec/lanes/scalar.def`: lane by lane, where no body fits |\n"
        "| native | `engine/sim/exec/native/native_ops.def`: bodies that become machine code of the "
        "host |\n"
        "| class | `ops.def`: latency and throughput |\n"
        "| expansions | `engine/sim/timing/expansions.def`: rows, machine instructions of the longest "
        "|\n"
        "| analysis | `ops.def`: what it does to memory and control, else how an address follows from "
        "it |\n"
        "| generator | `tests/ref/gen_rows.c`: forms compared with the independent interpreter |\n\n"
        "| operation | section | rules | executor | lanes | scalar | native | class | expansions | "
        "analysis | generator |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|\n",
        PTX_OP_COUNT - 1, run, laned, native, generated);
    for (unsigned op = 1; op < PTX_OP_COUNT; op++)
        op_line(op);
    return 0;
}

/* ---- what a guessed launch reads in the code ---- */
static void put_guesses(void)
{
    struct infer_row r;
    puts("<!-- Made by `make reference` from engine/session/infer/constructs.def. Do not edit. -->\n\n"
         "# What `launch` reads in the code\n\n"
         "`gpulocw launch` knows no sizes. It reads these constructs, then tries sizes and shapes until "
         "the kernel runs\n"
         "inside its buffers, without a race and without a read of shared memory that nobody wrote.\n\n"
         "| part of the launch | the code has | the guess |\n|---|---|---|");
    for (size_t i = 0; infer_row(i, &r); i++)
        printf("| %s | %s | %s |\n", r.where, r.has, r.becomes);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "presets"))
        return page_presets();
    if (argc == 2 && !strcmp(argv[1], "operations"))
        return page_operations();
    if (argc == 2 && !strcmp(argv[1], "launch-guesses"))
        return put_guesses(), 0;
    fprintf(stderr, "usage: tables presets|operations|launch-guesses\n");
    return 2;
}
