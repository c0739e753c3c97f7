/* Programs from rows: straight-line code, branches, loops (also entered in the middle), jumps without
 * structure, switches, shared memory with barriers, warp-wide operations of all lanes or of those a vote
 * named, atomics, locks. */
#include "tests/ref/gen.h"

#include <stdio.h>
#include <string.h>

enum { NR = 8, NRD = 6, NH = 6, NF = 8, ND = 6, NP = 6, DEPTH = 3, INPUTS = GEN_BLOCK * GEN_OUT_BYTES };

static uint64_t rnd(struct gen *g)
{
    return base_splitmix(g->seed, g->n++);
}
static unsigned below(struct gen *g, unsigned n)
{
    return (unsigned)(rnd(g) >> 33) % n;
}
static bool chance(struct gen *g, unsigned percent)
{
    return below(g, 100) < percent;
}

static const char *const int_types[] = { "s32 r", "u32 r", "b32 r", "s64 R", "u64 R", "s16 h", "u16 h" };
static const char *const float_types[] = { "f32 f", "f64 d", "f16 e", "bf16 e", "ftz.f32 f" };
static const char *const int_cmps[] = { "eq", "ne", "lt", "le", "gt", "ge" };
static const char *const float_cmps[] = { "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                          "neu", "ltu", "leu", "gtu", "geu", "num", "nan" };

/* Registers: r b32, R b64, h b16, f f32, d f64, e b16 that hold 16-bit floats, x b32 that hold pairs of
 * them, p predicates. Floats of 16 bits have registers of their own because ptxas 13.0 converts the
 * value where one is used as an integer. */
static const struct {
    char cls;
    const char *name, *type;
    unsigned n, bytes;
} files[] = { { 'r', "r", "u32", NR, 4 }, { 'R', "rd", "u64", NRD, 8 }, { 'h', "h", "u16", NH, 2 },
              { 'f', "f", "f32", NF, 4 }, { 'd', "d", "f64", ND, 8 },   { 'e', "e", "b16", NH, 2 },
              { 'x', "x", "b32", NR, 4 }, { 'p', "p", "pred", NP, 0 } };

static size_t file_of(char cls)
{
    size_t k = 0;
    while (files[k].cls != cls && k + 1 < ARRAY_LEN(files))
        k++;
    return k;
}

static void put_named(struct gen *g, char cls, unsigned k)
{
    buf_printf(&g->b, "%%%s%u", files[file_of(cls)].name, k);
}

/* Another register at every call since g->used was cleared: compilers fold an operation on one register
 * twice, and not always to what the operation gives. */
static unsigned pick(struct gen *g, unsigned n)
{
    unsigned k = below(g, n);
    while (g->used >> k & 1)
        k = (k + 1) % n;
    g->used |= 1u << k;
    return k;
}

static void put_reg(struct gen *g, char cls)
{
    switch (cls) {
    case 'r':
    case 'x':
    case 'f': put_named(g, cls, pick(g, NR)); break;
    case 'R':
    case 'h':
    case 'd':
    case 'e': put_named(g, cls, pick(g, NH)); break;
    case 'y': buf_printf(&g->b, "%%r%u.b%u", below(g, NR), below(g, 4)); break;
    case 'M': {
        static const char *const m[] = { "h0", "h1", "h10" };
        buf_printf(&g->b, "%%r%u.%s", below(g, NR), m[below(g, 3)]);
        break;
    }
    case 'N': {
        static const char *const m[] = { "b0",  "b1",  "b2",   "b3",   "b10",
                                         "b20", "b31", "b210", "b321", "b3210" };
        buf_printf(&g->b, "%%r%u.%s", below(g, NR), m[below(g, 10)]);
        break;
    }
    case 'H': buf_printf(&g->b, "%%r%u.h%u%u", below(g, NR), below(g, 4), below(g, 4)); break;
    /* .b1024 is a word of its own to ptxas 13.0 */
    case 'B': {
        unsigned r = below(g, NR), p = below(g, 8), q = below(g, 8);
        buf_printf(&g->b, "%%r%u.b%u%u%u%u", r, p, q, below(g, 8), p == 1 && !q ? 7 : below(g, 8));
        break;
    }
    case 'w': buf_printf(&g->b, "%%r%u.h%u", below(g, NR), below(g, 2)); break;
    default: put_named(g, 'p', below(g, NP)); break;
    }
}

static const uint32_t special32[] = { 0,           1,           0x80000000u, 0x7fffffffu, 0xffffffffu,
                                      0x3f800000u, 0xbf800000u, 0x7f800000u, 0xff800000u, 0x00000001u,
                                      0x007fffffu, 0x00800000u, 0x7f7fffffu, 0x7fc00000u, 0x3effffffu,
                                      0x4b000000u, 0x4f000000u, 0x3c00u,     0x7bff7c00u, 0x00010001u };
static uint64_t value32(struct gen *g)
{
    unsigned k = below(g, 10);
    if (k < 3)
        return special32[below(g, ARRAY_LEN(special32))];
    if (k < 6) /* a float of moderate size */
        return (uint32_t)((rnd(g) & 0x807fffffu) | (uint64_t)(112 + below(g, 32)) << 23);
    return k < 8 ? (uint32_t)rnd(g) : (uint32_t)below(g, 300);
}
static uint64_t value64(struct gen *g)
{
    static const uint64_t special[] = { 0,
                                        1,
                                        1ull << 63,
                                        INT64_MAX,
                                        UINT64_MAX,
                                        0x3ff0000000000000,
                                        0x7ff0000000000000,
                                        0x000fffffffffffff,
                                        0x7fefffffffffffff,
                                        0x43e0000000000000,
                                        0x41dfffffffc00000,
                                        0x36a0000000000000,
                                        0x47efffffe0000000 };
    unsigned k = below(g, 10);
    if (k < 3)
        return special[below(g, ARRAY_LEN(special))];
    if (k < 6)
        return (rnd(g) & 0x800fffffffffffffull) | (uint64_t)(1000 + below(g, 60)) << 52;
    return k < 8 ? rnd(g) : below(g, 1000);
}

static void put_source(struct gen *g, char cls, bool may_imm)
{
    if (cls == 's') {
        if (chance(g, 50))
            buf_printf(&g->b, "%u", below(g, 70));
        else
            put_named(g, 'r', below(g, NR));
    } else if (cls == 'i') {
        buf_printf(&g->b, "%u", below(g, 256));
    } else if (may_imm && chance(g, 15) && strchr("rRhfdex", cls)) {
        if (cls == 'f')
            buf_printf(&g->b, "0f%08X", (unsigned)value32(g));
        else if (cls == 'd')
            buf_printf(&g->b, "0d%016llX", (unsigned long long)value64(g));
        else
            buf_printf(&g->b, "%u", cls == 'h' ? below(g, 60000) : (unsigned)value32(g));
    } else {
        put_reg(g, cls);
    }
}

/* The type at operand k of a row: of a conversion or `set` the first for the destination, the second for
 * the sources. */
static bool half_at(const char *row, size_t k)
{
    bool two = !strncmp(row, "cvt.", 4) || !strncmp(row, "set.", 4);
    size_t n = strcspn(row, " ");
    unsigned seen = 0, want = two && k ? 1 : 0;
    for (size_t at = strcspn(row, ".") + 1; at < n;) {
        size_t len = strcspn(row + at, ". ");
        bool digit = memchr("0123456789", row[at + len - 1], 10) != NULL,
             type = digit && memchr("usbfet", row[at], 6) && row[at + 1] != 'c';
        if (type && seen++ == want)
            return len >= 3 && (!strncmp(row + at, "f16", 3) || !strncmp(row + at, "bf16", 4));
        at += len + 1;
    }
    return false;
}

/* The class of operand k as written, or the file of 16-bit floats. */
static char class_at(const char *row, const char *cls, size_t k)
{
    return (cls[k] != 'h' && cls[k] != 'r') || !half_at(row, k) ? cls[k] : cls[k] == 'h' ? 'e' : 'x';
}

/* Half-precision operands, conversions and predicates from floats take no literals everywhere; leave
 * them out. */
static bool takes_literals(const char *row)
{
    static const char *const not [] = { "f16", "x2", "testp", "bfe", "bfi" };
    for (size_t k = 0; k < ARRAY_LEN(not ); k++)
        if (strstr(row, not [k]))
            return false;
    return strncmp(row, "cvt", 3) && row[0] != 'v';
}

static void put_guard(struct gen *g, unsigned percent)
{
    buf_puts(&g->b, "\t");
    if (chance(g, percent))
        buf_printf(&g->b, "@%s%%p%u ", chance(g, 50) ? "!" : "", below(g, NP));
}

/* Registers of the operands that must be byte-sized, made beforehand. */
static void put_bytes(struct gen *g, const char *cls, size_t n)
{
    unsigned made = 0;
    for (size_t k = 0; k < n; k++)
        if (cls[k] == 'b')
            buf_printf(&g->b, "\tand.b32 %%rq%u, %%r%u, 127;\n", made++, below(g, NR));
}

/* Where the bits of a NaN are open or depend on what a compiler made of it: f64 converted, and signs. */
static bool numbers_only(const char *row, const char *cls)
{
    return (!strncmp(row, "cvt", 3) && cls[1] == 'd' && strchr("fh", cls[0])) ||
           ((!strncmp(row, "neg", 3) || !strncmp(row, "abs", 3)) && strchr("fh", cls[1]));
}

/* Guarded, ptxas 13.0 makes something else of these. */
static bool never_guarded(const char *row)
{
    return !strncmp(row, "testp", 5) || !strncmp(row, "set.", 4) || strstr(row, "c.") != NULL;
}

/* The opcode with .rn where the row names no rounding: without it a multiplication and an addition may
 * become one fma (9.7.3.5), which --rows cannot see and a program with both does. */
static void put_opcode(struct gen *g, const char *row, size_t n)
{
    static const char *const roundings[] = { ".rn", ".rz", ".rm", ".rp" }, *const floats[] = {
        ".f16", ".bf16", ".f32", ".f64"
    };
    bool named = strncmp(row, "add.", 4) && strncmp(row, "sub.", 4) && strncmp(row, "mul.", 4),
         floating = false;
    for (size_t k = 0; k < ARRAY_LEN(roundings); k++) {
        const char *r = memmem(row, n, roundings[k], 3),
                   *f = memmem(row, n, floats[k], strlen(floats[k]));
        named |= r != NULL;
        floating |= f != NULL;
    }
    buf_put(&g->b, row, 3);
    buf_puts(&g->b, floating && !named && !g->alone ? ".rn" : "");
    buf_put(&g->b, row + 3, n - 3);
}

static void put_one(struct gen *g, const char *row, size_t n, unsigned guard)
{
    const char *cls = strchr(row, ' ') + 1;
    size_t opcode = (size_t)(cls - row), made = 0;
    bool literals = takes_literals(row);
    put_bytes(g, cls, n - opcode);
    g->used = 0;
    char to = class_at(row, cls, 0), from = class_at(row, cls, 1);
    if (numbers_only(row, cls)) {
        unsigned k = below(g, NRD);
        buf_printf(&g->b, "\tsetp.num.%s %%pc, ",
                   cls[1] == 'd'         ? "f64"
                   : cls[1] == 'f'       ? "f32"
                   : strstr(row, "bf16") ? "bf16"
                                         : "f16");
        put_named(g, from, k);
        buf_puts(&g->b, ", ");
        put_named(g, from, k);
        buf_printf(&g->b, ";\n\t@%%pc %.*s", (int)opcode, row);
        put_reg(g, to);
        buf_puts(&g->b, ", ");
        put_named(g, from, k);
        buf_puts(&g->b, ";\n");
        return;
    }
    put_guard(g, guard);
    put_opcode(g, row, opcode);
    put_reg(g, to);
    g->used = 0;
    for (size_t k = 1; k < n - opcode; k++) {
        buf_puts(&g->b, ", ");
        if (cls[k] == 'b')
            buf_printf(&g->b, "%%rq%zu", made++);
        else
            put_source(g, class_at(row, cls, k), literals && k > 1);
    }
    buf_puts(&g->b, ";\n");
}

/* A row of several operations is one unguarded run of them: the carry flag lives no longer. */
static void put_op(struct gen *g, const char *row)
{
    for (const char *next; row; row = next) {
        next = strchr(row, ';');
        put_one(g, row, next ? (size_t)(next - row) : strlen(row), next || never_guarded(row) ? 0 : 12);
        next = next ? next + 1 : NULL;
    }
}

static void put_setp(struct gen *g)
{
    bool flt = chance(g, 40);
    const char *t =
        flt ? float_types[below(g, ARRAY_LEN(float_types))] : int_types[below(g, ARRAY_LEN(int_types))];
    const char *cmp = flt ? float_cmps[below(g, ARRAY_LEN(float_cmps))]
                          : int_cmps[below(g, strncmp(t, "b32", 3) ? 6 : 2)];
    char cls = strchr(t, ' ')[1];
    unsigned more = below(g, 3);
    static const char *const bools[] = { "and", "or", "xor" };
    unsigned a = below(g, NP), b = (a + 1 + below(g, NP - 1)) % NP;
    g->used = 0;
    buf_printf(&g->b, "\tsetp.%s", cmp);
    if (more)
        buf_printf(&g->b, ".%s", bools[below(g, 3)]);
    buf_printf(&g->b, ".%.*s %%p%u", (int)(strchr(t, ' ') - t), t, a);
    if (!strstr(t, "f16") && chance(g, 40))
        buf_printf(&g->b, "|%%p%u", b);
    buf_puts(&g->b, ", ");
    put_source(g, cls, false);
    buf_puts(&g->b, ", ");
    put_source(g, cls, false);
    if (more)
        buf_printf(&g->b, ", %s%%p%u", chance(g, 30) ? "!" : "", below(g, NP));
    buf_puts(&g->b, ";\n");
}

static void put_pack(struct gen *g)
{
    switch (below(g, 6)) {
    case 4:
        buf_printf(&g->b, "\tmov.b32 %%x%u, {%%e%u, %%e%u};\n", below(g, NR), below(g, NH),
                   below(g, NH));
        break;
    case 5: {
        unsigned a = below(g, NH);
        buf_printf(&g->b, "\tmov.b32 {%%e%u, %%e%u}, %%x%u;\n", a, (a + 1) % NH, below(g, NR));
        break;
    }
    case 0:
        buf_printf(&g->b, "\tmov.b64 %%rd%u, {%%r%u, %%r%u};\n", below(g, NRD), below(g, NR),
                   below(g, NR));
        break;
    case 1: {
        unsigned a = below(g, NR);
        buf_printf(&g->b, "\tmov.b64 {%%r%u, %%r%u}, %%rd%u;\n", a, (a + 1) % NR, below(g, NRD));
        break;
    }
    case 2:
        buf_printf(&g->b, "\tmov.b32 %%r%u, {%%h%u, %%h%u};\n", below(g, NR), below(g, NH),
                   below(g, NH));
        break;
    default: {
        unsigned a = below(g, NH);
        buf_printf(&g->b, "\tmov.b32 {%%h%u, %%h%u}, %%r%u;\n", a, (a + 2) % NH, below(g, NR));
        break;
    }
    }
}

/* ---- memory: the thread's own inputs, at addresses that depend on registers ---- */
static void put_values(struct gen *g, unsigned n, char cls, unsigned base)
{
    buf_puts(&g->b, n > 1 ? "{" : "");
    for (unsigned k = 0; k < n; k++)
        buf_printf(&g->b, "%s%%%s%u", k ? ", " : "", files[file_of(cls)].name, base + k);
    buf_puts(&g->b, n > 1 ? "}" : "");
}

/* One access through %rda, whose record has `slots` places of `size` bytes before and after it. */
static void put_access(struct gen *g, bool load, const char *type, char cls, unsigned size,
                       unsigned slots)
{
    unsigned n = type[0] == 'v' ? (unsigned)(type[1] - '0') : 1, base = below(g, 4);
    int offset = (int)(below(g, 2 * slots + 1) * size) - (int)(slots * size);
    put_guard(g, 25);
    buf_printf(&g->b, "%s.%s%s ", load ? "ld" : "st", chance(g, 75) ? "global." : "", type);
    if (load)
        put_values(g, n, cls, base);
    buf_printf(&g->b, "%s[%%rda+%d]", load ? ", " : "", offset);
    if (!load) {
        buf_puts(&g->b, ", ");
        put_values(g, n, cls, base);
    }
    buf_puts(&g->b, ";\n");
}

/* Several accesses near one address, other instructions in between, the register sometimes moved on. */
static void put_memory(struct gen *g)
{
    static const char *const forms[] = {
        "u8 r 255 1",     "s8 r 255 1",
        "u16 h 127 2",    "s16 r 127 2",
        "u32 r 63 4",     "f32 f 63 4",
        "b64 R 31 8",     "f64 d 31 8",
        "s32 R 63 4",     "s8 h 255 1" /* loads only: a float in %h would be converted */,
        "v2.u32 r 31 8",  "v4.f32 f 15 16",
        "v2.b64 R 15 16", "v2.f64 d 15 16",
        "v2.u16 h 63 4",  "v4.u8 r 63 4",
        "b16 e 127 2",    "b32 x 63 4",
        "v2.b16 e 63 4"
    };
    const char *f = forms[below(g, ARRAY_LEN(forms))];
    char type[8], cls;
    unsigned mask, size, n = chance(g, 50) ? 1 : 2 + below(g, 4);
    sscanf(f, "%7s %c %u %u", type, &cls, &mask, &size);
    /* [slots, slots + low]: room on both sides */
    unsigned slots = mask / 4, low = chance(g, 30) ? 0 : mask / 2;
    buf_printf(&g->b,
               "\tand.b32 %%ra, %%r%u, %u;\n\tadd.u32 %%ra, %%ra, %u;\n\tmul.wide.u32 %%rda, %%ra, "
               "%u;\n\tadd.u64 %%rda, %%rda, %%rin;\n",
               below(g, NR), low, slots, size);
    for (unsigned k = 0; k < n; k++) {
        /* no NaN of f64 gets into memory */
        put_access(g, cls == 'd' || !strcmp(type, "s32") || (cls == 'h' && size == 1) || chance(g, 70),
                   type, cls, size, slots);
        if (chance(g, 20) && !g->alone)
            put_op(g, gen_row(below(g, (unsigned)gen_known())));
        if (chance(g, 15) && low && slots > 1) {
            buf_printf(&g->b, "\tadd.u64 %%rda, %%rda, %u;\n", size);
            slots--;
        }
    }
}

/* An atomic on a word of the thread's own, whose old value comes back. */
static void put_atomic(struct gen *g)
{
    static const char *const ints[] = { "add.u32 r 4", "min.s32 r 4",  "max.u32 r 4",  "and.b32 r 4",
                                        "or.b32 r 4",  "xor.b32 r 4",  "exch.b32 r 4", "inc.u32 r 4",
                                        "dec.u32 r 4", "cas.b32 r 4",  "add.u64 R 8",  "min.s64 R 8",
                                        "max.u64 R 8", "exch.b64 R 8", "cas.b64 R 8",  "xor.b64 R 8" };
    static const char *const floats[] = { "add.f32 f 4",          "add.noftz.f16 e 2",
                                          "add.noftz.bf16 e 2",   "add.noftz.f16x2 x 4",
                                          "add.noftz.bf16x2 x 4", "cas.b16 h 2" };
    bool flt = g->wide && chance(g, 30);
    const char *f = flt ? floats[below(g, ARRAY_LEN(floats))] : ints[below(g, ARRAY_LEN(ints))];
    char type[24], cls;
    unsigned size;
    sscanf(f, "%23s %c %u", type, &cls, &size);
    buf_printf(
        &g->b,
        "\tand.b32 %%ra, %%r%u, %u;\n\tmul.wide.u32 %%rda, %%ra, %u;\n\tadd.u64 %%rda, %%rda, %%rin;\n",
        below(g, NR), GEN_IN_BYTES / size - 1, size);
    put_guard(g, 25);
    g->used = 0;
    buf_printf(&g->b, "atom.global.%s ", type);
    put_reg(g, cls);
    buf_puts(&g->b, ", [%rda], ");
    put_reg(g, cls);
    if (!strncmp(type, "cas", 3)) {
        buf_puts(&g->b, ", ");
        put_reg(g, cls);
    }
    buf_puts(&g->b, ";\n");
}

static void put_exchange(struct gen *g)
{
    unsigned a = below(g, NR), b = below(g, NR);
    buf_printf(&g->b,
               "\tshl.b32 %%ra, %%tidr, 2;\n\tmov.u32 %%rb, buffer;\n\tadd.u32 %%ra, %%ra, "
               "%%rb;\n\tst.shared.u32 [%%ra], %%r%u;\n\tbar.sync 0;\n",
               a);
    buf_printf(&g->b,
               "\txor.b32 %%ra, %%tidr, %u;\n\tshl.b32 %%ra, %%ra, 2;\n\tadd.u32 %%ra, %%ra, "
               "%%rb;\n\tld.shared.u32 %%r%u, [%%ra];\n\tbar.sync 0;\n",
               below(g, GEN_BLOCK), b);
}

static void put_red(struct gen *g)
{
    static const char *const ops[] = { "add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32" };
    unsigned k = below(g, 6); /* one word per operation, so that the order does not matter */
    buf_printf(&g->b, "\tred.global.%s [%%rout0+%u], %%r%u;\n", ops[k], 448 + 4 * k, below(g, NR));
}

/* A critical section: lanes of one warp wait for each other in it. */
static void put_lock(struct gen *g)
{
    unsigned l = g->labels++;
    buf_printf(&g->b,
               "LOCK%u:\n\tatom.global.cas.b32 %%ra, [%%rout0+476], 0, 1;\n\tsetp.ne.u32 %%pc, %%ra, "
               "0;\n\t@%%pc bra LOCK%u;\n\tmembar.gl;\n"
               "\tld.volatile.global.u32 %%ra, [%%rout0+480];\n\tadd.u32 %%ra, %%ra, "
               "%%r%u;\n\tst.volatile.global.u32 [%%rout0+480], %%ra;\n"
               "\tmembar.gl;\n\tatom.global.exch.b32 %%ra, [%%rout0+476], 0;\n",
               l, l, below(g, NR));
}

/* ---- warp-wide ---- */
static void put_vote(struct gen *g, const char *mask)
{
    static const char *const votes[] = { "all", "any", "uni" };
    static const char *const redux[] = { "add.u32", "min.s32", "max.u32", "and.b32", "or.b32",
                                         "xor.b32", "max.s32", "min.u32", "add.s32" };
    switch (below(g, 6)) {
    case 0:
        buf_printf(&g->b, "\tvote.sync.%s.pred %%p%u, %s%%p%u, %s;\n", votes[below(g, 3)], below(g, NP),
                   chance(g, 30) ? "!" : "", below(g, NP), mask);
        break;
    case 1:
        buf_printf(&g->b, "\tvote.sync.ballot.b32 %%r%u, %s%%p%u, %s;\n", below(g, NR),
                   chance(g, 50) ? "!" : "", below(g, NP), mask);
        break;
    case 2:
    case 3:
        buf_printf(&g->b, "\tredux.sync.%s %%r%u, %%r%u, %s;\n", redux[below(g, 9)], below(g, NR),
                   below(g, NR), mask);
        break;
    case 4:
        buf_printf(&g->b, "\tmatch.any.sync.%s%u, %s;\n", chance(g, 50) ? "b32 %r0, %r" : "b64 %r1, %rd",
                   below(g, NRD), mask);
        break;
    default:
        buf_printf(&g->b, "\tmatch.all.sync.b32 %%r%u|%%p%u, %%r%u, %s;\n", below(g, NR), below(g, NP),
                   below(g, NR), mask);
        break;
    }
}

static void put_warp(struct gen *g)
{
    static const char *const modes[] = { "up", "down", "bfly", "idx" };
    if (chance(g, 70)) {
        put_vote(g, "-1");
        return;
    }
    buf_printf(&g->b, "\tshfl.sync.%s.b32 %%r%u|%%p%u, %%r%u, %u, %u, -1;\n", modes[below(g, 4)],
               below(g, NR), below(g, NP), below(g, NR), below(g, 32),
               chance(g, 50) ? 31 : (below(g, 32) << 8 | below(g, 32)));
}

/* The lanes that a vote named do something together; the shuffle reads from the highest of them. */
static void put_masked(struct gen *g)
{
    unsigned l = g->labels++, p = below(g, NP);
    buf_printf(&g->b, "\tvote.sync.ballot.b32 %%rm, %%p%u, -1;\n\t@!%%p%u bra APART%u;\n", p, p, l);
    for (unsigned k = 1 + below(g, 3); k--;) {
        if (chance(g, 30))
            buf_printf(
                &g->b,
                "\tbfind.u32 %%rb, %%rm;\n\tshfl.sync.idx.b32 %%r%u|%%p%u, %%r%u, %%rb, 31, %%rm;\n",
                below(g, NR), below(g, NP), below(g, NR));
        else
            put_vote(g, "%rm");
        put_op(g, gen_row(below(g, (unsigned)gen_known())));
    }
    buf_printf(&g->b, "APART%u:\n\tbar.warp.sync -1;\n", l);
}

/* ---- control ---- */
static void put_block(struct gen *g, unsigned depth, unsigned n);

static void put_if(struct gen *g, unsigned depth)
{
    unsigned l = g->labels++;
    buf_printf(&g->b, "\t@%s%%p%u bra ELSE%u;\n", chance(g, 50) ? "!" : "", below(g, NP), l);
    put_block(g, depth + 1, 1 + below(g, 5));
    if (chance(g, 60)) {
        buf_printf(&g->b, "\tbra DONE%u;\nELSE%u:\n", l, l);
        put_block(g, depth + 1, 1 + below(g, 5));
        buf_printf(&g->b, "DONE%u:\n", l);
    } else {
        buf_printf(&g->b, "ELSE%u:\n", l);
    }
}

/* A counted loop, left early by some threads; now and then it is entered in the middle too. */
static void put_loop(struct gen *g, unsigned depth)
{
    unsigned l = g->labels++;
    buf_printf(&g->b, "\tand.b32 %%rc%u, %%%s, 3;\n\tadd.u32 %%rc%u, %%rc%u, 1;\n", depth,
               chance(g, 50) ? "tidr" : "r1", depth, depth);
    if (chance(g, 40))
        buf_printf(&g->b, "\t@%%p%u bra MID%u;\n", below(g, NP), l);
    buf_printf(&g->b, "TOP%u:\n", l);
    put_block(g, depth + 1, 1 + below(g, 4));
    if (chance(g, 40))
        buf_printf(&g->b, "\t@%%p%u bra OUT%u;\n", below(g, NP), l);
    buf_printf(&g->b, "MID%u:\n", l);
    put_block(g, depth + 1, 1 + below(g, 4));
    buf_printf(
        &g->b,
        "\tsub.u32 %%rc%u, %%rc%u, 1;\n\tsetp.gt.s32 %%pc, %%rc%u, 0;\n\t@%%pc bra TOP%u;\nOUT%u:\n",
        depth, depth, depth, l, l);
}

/* Jumps from anywhere to anywhere until a budget is spent: flow that no structure describes. */
static void put_maze(struct gen *g, unsigned depth)
{
    unsigned l = g->labels++, n = 3 + below(g, 4);
    buf_printf(&g->b, "\tand.b32 %%rc%u, %%r%u, 7;\n\tadd.u32 %%rc%u, %%rc%u, 3;\n", depth, below(g, NR),
               depth, depth);
    buf_printf(&g->b, "\t@%%p%u bra Z%u_%u;\n", below(g, NP), l, below(g, n));
    for (unsigned k = 0; k < n; k++) {
        buf_printf(
            &g->b,
            "Z%u_%u:\n\tsub.u32 %%rc%u, %%rc%u, 1;\n\tsetp.le.s32 %%pc, %%rc%u, 0;\n\t@%%pc bra ZE%u;\n",
            l, k, depth, depth, depth, l);
        put_block(g, depth + 1, 1 + below(g, 3));
        for (unsigned j = 1 + below(g, 2); j--;)
            buf_printf(&g->b, "\t@%s%%p%u bra Z%u_%u;\n", chance(g, 50) ? "!" : "", below(g, NP), l,
                       below(g, n));
        if (chance(g, 50))
            buf_printf(&g->b, "\tbra Z%u_%u;\n", l, below(g, n));
    }
    buf_printf(&g->b, "ZE%u:\n", l);
}

static void put_switch(struct gen *g, unsigned depth)
{
    unsigned l = g->labels++;
    buf_printf(&g->b, "\trem.u32 %%ra, %%r%u, 3;\n", below(g, NR));
    buf_printf(&g->b, "TS%u: .branchtargets S%u_0, S%u_1, S%u_2;\n\tbrx.idx %%ra, TS%u;\n", l, l, l, l,
               l);
    for (unsigned k = 0; k < 3; k++) {
        put_block(g, depth + 1, 1 + below(g, 2));
        if (chance(g, 60))
            buf_printf(&g->b, "\tbra E%u;\n", l);
        buf_printf(&g->b, "S%u_%u:\n", l, k);
    }
    put_block(g, depth + 1, 1);
    buf_printf(&g->b, "E%u:\n", l);
}

/* Any operation of those to be used. Results of type tf32 only stand by themselves: ptxas 13.0, at every
 * level, takes a register that holds one for a float wherever it is used, and converts it. */
static const char *any_row(struct gen *g)
{
    const char *row = gen_row(below(g, (unsigned)(g->wide ? gen_rows() : gen_known())));
    return strstr(row, "tf32") ? gen_row(0) : row;
}

/* Takes back what was written since `at` when statement `id` is to be left out. */
static void end_statement(struct gen *g, unsigned id, size_t at)
{
    if (g->skip && g->skip[id / 8] >> id % 8 & 1) {
        g->b.n = at;
        g->b.s[at] = '\0';
    }
}

static void put_block(struct gen *g, unsigned depth, unsigned n)
{
    for (unsigned k = 0; k < n; k++) {
        unsigned c = below(g, 100), id = g->statements++;
        size_t at = g->b.n;
        if (c < 8 && depth < DEPTH)
            put_if(g, depth);
        else if (c < 12 && depth < DEPTH)
            put_loop(g, depth);
        else if (c < 14 && depth < DEPTH)
            put_switch(g, depth);
        else if (c < 16 && depth < DEPTH)
            put_maze(g, depth);
        else if (c < 23)
            put_setp(g);
        else if (c < 27)
            put_pack(g);
        else if (c < 34)
            put_memory(g);
        else if (c < 36)
            put_atomic(g);
        else if (c < 38 && g->locks && chance(g, 40))
            put_lock(g);
        else if (c < 38)
            put_red(g);
        else if (c < 41 && !depth && !g->diverged)
            put_exchange(g);
        else if (c < 45 && !depth && !g->diverged)
            put_warp(g);
        else if (c < 48 && !depth && !g->diverged)
            put_masked(g);
        else
            put_op(g, any_row(g));
        end_statement(g, id, at);
    }
}

/* Some threads end early; what follows is for the others. */
static void put_early_end(struct gen *g)
{
    unsigned id = g->statements++;
    size_t at = g->b.n;
    buf_printf(&g->b, "\t@%%p%u ret;\n", below(g, NP));
    end_statement(g, id, at);
    put_block(g, 0, 5);
}

/* ---- whole programs ---- */
static void put_registers(struct gen *g, bool load)
{
    unsigned at = 0;
    for (size_t k = 0; k < ARRAY_LEN(files); k++)
        for (unsigned i = 0; files[k].bytes && i < files[k].n; i++) {
            at = (at + files[k].bytes - 1) / files[k].bytes * files[k].bytes;
            if (load)
                buf_printf(&g->b, "\tld.global.%s %%%s%u, [%%rin+%u];\n", files[k].type, files[k].name,
                           i, at);
            else
                buf_printf(&g->b, "\tst.global.%s [%%rout+%u], %%%s%u;\n", files[k].type, at,
                           files[k].name, i);
            at += files[k].bytes;
        }
    if (load)
        return;
    for (unsigned i = 0; i < NP; i++)
        buf_printf(&g->b, "\tselp.u32 %%ra, 1, 0, %%p%u;\n\tst.global.u32 [%%rout+%u], %%ra;\n", i,
                   300 + 4 * i);
}

void gen_program(struct gen *g, uint64_t seed, const char *row, const char *name)
{
    g->seed = seed;
    g->n = 0;
    g->labels = g->statements = 0;
    g->diverged = false;
    g->alone = row != NULL;
    buf_printf(
        &g->b,
        ".visible .entry %s(.param .u64 p)\n{\n"
        "\t.reg .b32 %%r<8>, %%ra, %%rb, %%rm, %%rq<2>, %%tidr, %%rc<4>;\n\t.reg .b64 %%rd<6>, %%rda, "
        "%%rin, %%rout, %%rout0;\n\t.reg .b16 %%h<6>, %%e<6>; .reg .b32 %%x<8>;\n\t.reg .f32 %%f<8>;\n"
        "\t.reg .f64 %%d<6>;\n\t.reg .pred %%p<6>, %%pc;\n\t.shared .align 4 .b8 buffer[256];\n"
        "\tld.param.u64 %%rout0, [p];\n\tmov.u32 %%tidr, %%tid.x;\n\tmul.wide.u32 %%rout, %%tidr, "
        "%u;\n\tadd.u64 %%rout, %%rout, %%rout0;\n"
        "\tmul.wide.u32 %%rin, %%tidr, %u;\n\tadd.u64 %%rin, %%rin, %%rout0;\n\tadd.u64 %%rin, %%rin, "
        "%u;\n",
        name, GEN_OUT_BYTES, GEN_IN_BYTES, INPUTS);
    put_registers(g, true);
    for (unsigned i = 0; i < NP; i++)
        buf_printf(&g->b, "\tsetp.lt.s32 %%p%u, %%r%u, %%r%u;\n", i, i, i + 1);
    g->body = g->b.n;
    for (unsigned i = 0; row && i < 24; i++) {
        put_op(g, row);
        if (i % 6 == 5)
            put_memory(g);
    }
    unsigned n = 20 + below(g, 40);
    if (!row)
        put_block(g, 0, n);
    g->diverged = true;
    if (!row && chance(g, 20))
        put_early_end(g);
    g->end = g->b.n;
    put_registers(g, false);
    buf_puts(&g->b, "\tret;\n}\n");
}

void gen_data(struct gen *g, uint64_t seed, uint8_t data[GEN_BYTES])
{
    g->seed = ~seed;
    g->n = 0;
    memset(data, 0, INPUTS);
    for (uint64_t at = INPUTS; at < GEN_BYTES; at += 8) {
        uint64_t v = chance(g, 50) ? value64(g) : value32(g) | value32(g) << 32;
        memcpy(data + at, &v, 8);
    }
}

static bool both_nan64(const uint8_t *a, const uint8_t *b)
{
    double x, y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    return x != x && y != y;
}

bool gen_same(const uint8_t *a, const uint8_t *b, uint64_t *where)
{
    const uint64_t first = (NR * 4 + NRD * 8 + NH * 2 + NF * 4 + 7) / 8 * 8 + 4;
    for (uint64_t at = 0; at < GEN_BYTES; at += 4) {
        if (!memcmp(a + at, b + at, 4))
            continue;
        uint64_t d = at & ~7ull, off = at % GEN_OUT_BYTES;
        bool f64 = at < INPUTS && off + 4 >= first && off < first + ND * 8 + 8;
        if (f64 && both_nan64(a + d, b + d))
            continue;
        *where = at;
        return false;
    }
    return true;
}
