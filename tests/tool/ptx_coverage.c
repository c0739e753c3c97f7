/* Writes build/reference/ptx-coverage.md from the op table, ISA section by section. Nothing in it is
 * typed by hand but the titles of the sections. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_table.h"

static const struct {
    const char *section, *title;
} titles[] = {
    { "9.7.1", "Integer arithmetic" },
    { "9.7.2", "Extended-precision integer arithmetic" },
    { "9.7.3", "Floating point" },
    { "9.7.4", "Half precision" },
    { "9.7.5", "Mixed precision" },
    { "9.7.6", "Comparison and selection" },
    { "9.7.7", "Half precision comparison" },
    { "9.7.8", "Logic and shift" },
    { "9.7.9", "Data movement and conversion" },
    { "9.7.10", "Texture" },
    { "9.7.11", "Surface" },
    { "9.7.12", "Control flow" },
    { "9.7.13", "Parallel synchronization and communication" },
    { "9.7.14", "Warp-level matrix" },
    { "9.7.15", "Asynchronous warpgroup matrix" },
    { "9.7.16", "Tensor core, 5th generation" },
    { "9.7.17", "Stack manipulation" },
    { "9.7.18", "Video" },
    { "9.7.19", "Miscellaneous" },
};

static const char *const executor[PTX_OP_COUNT] = {
    [PTX_OP_OPAQUE] = "none",
#define OP(id, name, exec, ...) [PTX_OP_##id] = #exec,
#include "engine/ptx/ops.def"
#undef OP
};

struct row {
    char section[24];
    enum ptx_op op;
};

static int compare_sections(const char *a, const char *b)
{
    while (*a && *b) {
        char *ea, *eb;
        long x = strtol(a, &ea, 10), y = strtol(b, &eb, 10);
        if (x != y)
            return x < y ? -1 : 1;
        a = ea + (*ea == '.');
        b = eb + (*eb == '.');
    }
    return *a ? 1 : *b ? -1 : 0;
}

static int by_section(const void *pa, const void *pb)
{
    const struct row *a = pa, *b = pb;
    int c = compare_sections(a->section, b->section);
    return c ? c : (int)a->op - (int)b->op;
}

/* A row that stands in several sections ("9.7.1.1 9.7.3.3") is listed in each. */
static size_t collect(struct row *rows, size_t cap)
{
    size_t n = 0;
    for (int op = 1; op < PTX_OP_COUNT; op++)
        for (const char *s = ptx_op_info((unsigned)op)->section; *s && n < cap;) {
            size_t len = strcspn(s, " ");
            snprintf(rows[n].section, sizeof rows[n].section, "%.*s", (int)len, s);
            rows[n++].op = op;
            s += len + (s[len] == ' ');
        }
    qsort(rows, n, sizeof *rows, by_section);
    return n;
}

static const char *analysed(const struct ptx_op_info *o)
{
    switch (o->effect) {
    case EFFECT_LOAD:
    case EFFECT_STORE:
    case EFFECT_ATOMIC:
    case EFFECT_PREFETCH: return "memory access";
    case EFFECT_BRANCH:
    case EFFECT_CALL:
    case EFFECT_EXIT: return "control flow";
    case EFFECT_BARRIER:
    case EFFECT_FENCE: return "ordering";
    case EFFECT_ASYNC_COPY:
    case EFFECT_TEXTURE:
    case EFFECT_SURFACE:
    case EFFECT_TENSOR: return "named, not modelled";
    default:
        return o->addr == ADDR_UNKNOWN ? "value unknown"
               : o->addr == ADDR_PRED  ? "predicate"
                                       : "address rule";
    }
}

static void print_operation(const struct ptx_op_info *o, enum ptx_op op, const char *section)
{
    char since[32] = "any";
    if (o->version || o->sm)
        snprintf(since, sizeof since, "PTX %u.%u", o->version / 10, o->version % 10);
    printf("| %s | `%s` | %s", section, o->name, since);
    if (o->sm)
        printf(", sm_%u%s", o->sm, o->suffix ? "a" : "");
    printf(" | yes | yes | %s | %s |\n", strcmp(executor[op], "none") ? "yes" : "no", analysed(o));
}

static bool in_part(const char *section, const char *part)
{
    size_t n = strlen(part);
    return !strncmp(section, part, n) && (section[n] == '.' || !section[n]);
}

int main(void)
{
    static struct row rows[2 * PTX_OP_COUNT];
    size_t n = collect(rows, 2 * PTX_OP_COUNT), simulated = 0;
    for (int op = 1; op < PTX_OP_COUNT; op++)
        simulated += strcmp(executor[op], "none") != 0;
    printf(
        "# What of the PTX ISA is covered\n\nMade by `make reference` from `engine/ptx/ops.def`; the "
        "sections are those of the PTX ISA manual, version 9.0.\n\n"
        "- **parsed**: the instruction has a row; its modifiers, types and operands are known by name\n"
        "- **checked**: wrong operands, types, modifiers, state spaces, versions and targets are "
        "diagnosed with a place\n"
        "- **simulated**: the simulated device runs it (for the types its executor knows); `no`: a "
        "kernel with it is refused before a launch\n"
        "- **analysed**: what the static analysis takes from it; *value unknown* means that an address "
        "made from it is not followed, never that it is taken as unchanged\n\n"
        "%d operations, %zu of them simulated. Instructions in no row are kept as they are and noted "
        "(`ptx-opaque`).\n",
        PTX_OP_COUNT - 1, simulated);
    for (size_t t = 0; t < sizeof titles / sizeof *titles; t++) {
        printf("\n## %s %s\n\n| section | operation | since | parsed | checked | simulated | analysed "
               "|\n|---|---|---|---|---|---|---|\n",
               titles[t].section, titles[t].title);
        for (size_t i = 0; i < n; i++)
            if (in_part(rows[i].section, titles[t].section))
                print_operation(ptx_op_info(rows[i].op), rows[i].op, rows[i].section);
    }
    return 0;
}
