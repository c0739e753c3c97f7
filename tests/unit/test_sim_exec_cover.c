/* Every instruction that the op table and its rules allow on sm_90, and on sm_100, one variant at a
 * time: each type combination with the modifiers it must have, and then with each other modifier by
 * itself. What the parser accepts the simulated device must load, unless `refused` says why not; and
 * what stands there must really be refused. Instructions that the ISA counts as texture or surface work
 * need handles (tests/cli/texture.sh); those of matrices take fragments of many shapes,
 * which test_sim_exec_vectors.c and tests/gpu/products.py know, and tensor copies need a tensor map
 * (tests/gpu/boxes.py). Tensor memory has a test of its own (tests/cli/tcgen05.sh). */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_table.h"

#include "tests/unit/sim_support.h"

#define WORDS 24
struct row {
    enum ptx_op op;
    const char *name, *exec, *sig, *types, *mods, *keeps, *section;
    unsigned effect, addr, range, is, role, flops, cls, version, sm;
    char suffix;
};
static const struct row rows[] = {
#define OP(id, text, body, ...) { .op = PTX_OP_##id, .name = text, .exec = #body, __VA_ARGS__ },
#include "engine/ptx/ops.def"
#undef OP
};
/* What the simulated device does not model, and why: the opcode (its start) and a part of the reason it
 * gives. */
static const struct {
    const char *start, *reason;
} refused[] = {
    { "vote.sync.all.pred %p1, %p1;", "no member mask" },
    { "red.async.", "without an mbarrier" },
    { "st.async.", "without an mbarrier" },
    /* which NaN is out of bounds is the tensor copy engine's secret */
    { "fma.rn.oob.", "" },
    { "cvt.rs.", "stochastic rounding" },
    { "tensormap.replace.tile.swizzle_atomicity.", "this field" },
    { "tensormap.replace.", "a field without its number" },
    /* its results are words whatever its type; tests/cli/tensor_small.sh has it */
    { "clusterlaunchcontrol.query_cancel.get_first_ctaid.", "" },
    { "tensormap.cp_fenceproxy.", "a size that is not 128" },
};
/* Where the variants are tried: what came later, or (a) stands in a target of its own, is left out. */
struct target {
    const char *head;
    unsigned version, sm;
    bool a;
};
static const struct target sm_90 = { ".version 8.3\n.target sm_90a\n", 83, 90, false },
                           sm_100 = { ".version 8.8\n.target sm_100a\n", 88, 100, true };
static const struct target *target = &sm_90;

struct words {
    char v[WORDS][40];
    unsigned n;
};
struct variant {
    const struct row *r;
    const char *sig;
    size_t nsig;
    struct words types, mods;
};
struct tally {
    unsigned tried, valid, refused, expected;
    struct buf missing;
};

/* A token of a table: the word, whether the target has it, the types it is restricted to. */
static bool take(const char *s, size_t n, const char *type0, char word[40])
{
    size_t len = 0;
    while (len < n && s[len] != '@' && s[len] != '[' && s[len] != '!' && s[len] != '*')
        len++;
    snprintf(word, 40, "%.*s", (int)len, s);
    const char *at = memchr(s, '@', n), *list = memchr(s, '[', n);
    unsigned version = 0, sm = 0;
    char tail = 0;
    if (at && sscanf(at, "@%u.%u%c", &version, &sm, &tail) >= 2 &&
        (sm > target->sm || (tail == 'a' && !target->a) || version > target->version))
        return false;
    if (!list || !type0)
        return true;
    for (const char *t = list + 1; t < s + n && *t != ']';) {
        size_t k = strcspn(t, ",]");
        if (k == strlen(type0) && !strncmp(t, type0, k))
            return true;
        t += k + (t[k] == ',');
    }
    return false;
}

/* ---- operands ---- */
static unsigned bits_of_type(const char *t)
{
    return strstr(t, "pred")                              ? 1
           : !strcmp(t, "e4m3x2") || !strcmp(t, "e5m2x2") ? 16
           : strstr(t, "x2")                              ? 32
           : strstr(t, "128")                             ? 128
           : strstr(t, "64")                              ? 64
           : strstr(t, "16")                              ? 16
           : strstr(t, "32")                              ? 32
           : strpbrk(t, "8")                              ? 16
           : strpbrk(t, "24")                             ? 32
                                                          : 32;
}
static void put_reg(struct buf *b, unsigned bits, unsigned k)
{
    buf_printf(b, "%%%s%u",
               bits == 1     ? "p"
               : bits == 16  ? "h"
               : bits == 64  ? "d"
               : bits == 128 ? "q"
                             : "r",
               k);
}
static bool has(const struct words *w, const char *start)
{
    for (unsigned k = 0; k < w->n; k++)
        if (!strncmp(w->v[k], start, strlen(start)))
            return true;
    return false;
}
static const char *address(const struct variant *v)
{
    return has(&v->mods, "shared")  ? "[sh]"
           : has(&v->mods, "const") ? "[cs]"
           : has(&v->mods, "local") ? "[lo]"
           : has(&v->mods, "param") ? "[pa]"
                                    : "[%d9]";
}

static const char *constant(const char *name)
{
    return !strcmp(name, "discard") || !strcmp(name, "applypriority") ? "128"
           : !strcmp(name, "cp.async")                                ? "16"
           : strstr(name, "setmaxnreg")                               ? "32"
                                                                      : "0";
}

/* One operand of a signature: class letter, type, flags. */
static void put_operand(struct buf *b, const struct variant *v, const char *s, size_t n, unsigned k)
{
    char type[16] = "";
    const char *colon = memchr(s, ':', n);
    bool wide = memchr(s, 'W', n) != NULL, optional = memchr(s, '?', n) != NULL;
    unsigned slot = s[1] >= '1' && s[1] <= '3' ? (unsigned)(s[1] - '0') : 0,
             vec = has(&v->mods, "v2")   ? 2
                   : has(&v->mods, "v4") ? 4
                                         : 1;
    if (colon)
        snprintf(type, sizeof type, "%.*s",
                 (int)strspn(colon + 1, "abcdefghijklmnopqrstuvwxyz0123456789"), colon + 1);
    else if (slot < v->types.n)
        snprintf(type, sizeof type, "%s", v->types.v[slot]);
    unsigned bits = bits_of_type(type) * (wide ? 2 : 1);
    bool hint = memchr(s, '^', n) && has(&v->mods, "L2::cache_hint"),
         mask = !strcmp(type, "u32") && has(&v->mods, "sync");
    if (optional && s[0] != 'i' && !hint && !mask)
        return; /* what may be left out is, but for what a modifier asks for */
    buf_puts(b, k ? ", " : " ");
    switch (s[0]) {
    case 'd':
    case 's':
    case 'r':
    case 'x':
    case 'v':
    case 'w':
        if (vec > 1 && !colon && !memchr(s, '~', n)) {
            buf_puts(b, "{");
            for (unsigned e = 0; e < vec; e++) {
                buf_puts(b, e ? ", " : "");
                put_reg(b, bits, k * 4 + e);
            }
            buf_puts(b, "}");
        } else {
            put_reg(b, bits, k + 1);
        }
        return;
    case 'q':
    case 'p': put_reg(b, 1, k); return;
    case 'i': buf_puts(b, constant(v->r->name)); return;
    case 'm':
        buf_puts(b, !strcmp(v->r->name, "cp.async")    ? (k ? "[%d9]" : "[sh]")
                    : strstr(v->r->name, "cp.async.m") ? "[sh]"
                                                       : address(v));
        return;
    default: buf_puts(b, "L");
    }
}

static void put_words(struct buf *b, const struct words *w)
{
    for (unsigned k = 0; k < w->n; k++)
        buf_printf(b, ".%s", w->v[k]);
}

static void put_kernel(struct buf *b, const struct variant *v, bool types_first)
{
    buf_clear(b);
    buf_puts(b, target->head);
    buf_puts(b, ".address_size 64\n.const .align 16 .b8 cs[64];\n.visible .entry k(.param .align 16 .b8 "
                "pa[64]) {\n"
                ".reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .b128 %q<20>; .reg .pred "
                "%p<20>; .shared .align 16 .b8 sh[256]; .local .align 16 .b8 lo[64];\n\t");
    buf_puts(b, v->r->name);
    put_words(b, types_first ? &v->types : &v->mods);
    put_words(b, types_first ? &v->mods : &v->types);
    unsigned k = 0;
    for (size_t at = 0; at < v->nsig;) {
        size_t n = 0;
        while (at + n < v->nsig && v->sig[at + n] != ',' && v->sig[at + n] != '|')
            n++;
        bool joined = at && v->sig[at - 1] == '|';
        if (joined) { /* "p|q" */
            struct buf one = { 0 };
            put_operand(&one, v, v->sig + at, n, k++);
            buf_printf(b, "|%s", one.n ? one.s + 2 : "");
            buf_free(&one);
        } else {
            put_operand(b, v, v->sig + at, n, k++);
        }
        at += n + 1;
    }
    buf_puts(b, ";\nL:\nret;\n}\n");
}

/* ---- trying ---- */
static bool is_refused(const char *opcode, const struct diags *ds)
{
    for (size_t k = 0; k < ARRAY_LEN(refused); k++)
        if (!strncmp(opcode, refused[k].start, strlen(refused[k].start)) &&
            support_said(ds, refused[k].reason))
            return true;
    return false;
}

static void judge(struct tally *t, const char *text, struct ptx_module *m, struct diags *ds)
{
    struct sim_preset g = sim_preset_default();
    struct sim_mem *mem = sim_mem_new(1 << 24);
    struct sim_program *p = NULL;
    const char *line = strstr(text, "\n\t") + 2;
    t->valid++;
    if (sim_load(m, STR("k"), &g, mem, &p, ds) == ST_OK) {
        sim_unload(p);
    } else {
        t->refused++;
        if (is_refused(line, ds))
            t->expected++;
        else if (t->missing.n < 400000)
            buf_printf(&t->missing, "%.*s  %s\n", (int)strcspn(line, "\n"), line,
                       ds->n ? ds->v[ds->n - 1].msg : "");
    }
    sim_mem_free(mem);
}

static bool try_order(struct tally *t, const struct variant *v, bool types_first)
{
    struct buf b = { 0 };
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    put_kernel(&b, v, types_first);
    bool ok = ptx_parse("cover.ptx", (struct str){ b.s, b.n }, &m, &ds) == ST_OK;
    for (size_t k = 0; k < ds.n; k++)
        ok = ok && (!ds.v[k].code || strcmp(ds.v[k].code, "ptx-opaque"));
    if (ok)
        judge(t, b.s, m, &ds);
    ptx_free(m);
    diags_free(&ds);
    buf_free(&b);
    return ok;
}

/* Operand lists that go with some variants only, which the parser does not check. */
static bool list_fits(const struct variant *v, unsigned list)
{
    switch (v->r->op) {
    case PTX_OP_CVT: /* two sources: for a packed result from f32; more: sm_100 */
        return !has(&v->mods, "scaled") &&
               (list == 0 ? !(strstr(v->types.v[0], "x2") && !strcmp(v->types.v[1], "f32"))
                          : list == 1 && strstr(v->types.v[0], "x2") && !strcmp(v->types.v[1], "f32"));
    case PTX_OP_ATOM: return (list == 1) == has(&v->mods, "cas");
    case PTX_OP_MOV:
        return list == (has(&v->mods, "v2") || has(&v->mods, "v4")) &&
               !(list && !strcmp(v->types.v[0], "pred"));
    default: return true;
    }
}

static void try_variant(struct tally *t, struct variant *v)
{
    unsigned list = 0;
    t->tried++;
    for (const char *s = v->r->sig; s;) {
        v->sig = s;
        v->nsig = strcspn(s, ";");
        if (!list_fits(v, list++)) {
            s = s[v->nsig] ? s + v->nsig + 1 : NULL;
            continue;
        }
        if (!try_order(t, v, false))
            try_order(t, v, true);
        s = s[v->nsig] ? s + v->nsig + 1 : NULL;
    }
}

/* ---- modifiers: the first word of each group that must be there; then every word of every group once
 * ---- */
static void fill_mods(struct variant *v, int force_group, int force_word, bool *exists)
{
    const char *type0 = v->types.n ? v->types.v[0] : NULL;
    int g = 0;
    v->mods.n = 0;
    *exists = force_group < 0;
    for (const char *s = v->r->mods ? v->r->mods : ""; *s; g++) {
        size_t n = strcspn(s, " ");
        bool must = s[n - 1] == '!', found = false;
        int w = 0;
        for (size_t at = 0; at < n; w++) {
            size_t len = 0;
            while (at + len < n && (s[at + len] != '/' || memchr(s + at, '[', len) != NULL) &&
                   s[at + len] != '!')
                len += s[at + len] == '[' ? strcspn(s + at + len, "]") + 1 : 1;
            char word[40];
            bool ok = take(s + at, len, type0, word);
            if (ok && !found && v->mods.n < WORDS && (g == force_group ? w == force_word : must)) {
                snprintf(v->mods.v[v->mods.n++], 40, "%s", word);
                found = true;
                *exists |= g == force_group;
            }
            at += len + 1;
        }
        s += n + (s[n] == ' ');
    }
}

static void each_mods(struct tally *t, struct variant *v)
{
    bool exists;
    fill_mods(v, -1, -1, &exists);
    try_variant(t, v);
    for (int g = 0; g < 16; g++)
        for (int w = 0; w < 20; w++) {
            fill_mods(v, g, w, &exists);
            if (exists)
                try_variant(t, v);
        }
}

/* Types: slot after slot of one alternative. */
static void each_types(struct tally *t, struct variant *v, const char *s, size_t n)
{
    size_t slot = 0;
    while (slot < n && s[slot] != ',')
        slot++;
    if (!n) {
        each_mods(t, v);
        return;
    }
    for (size_t at = 0; at < slot;) {
        size_t len = 0;
        while (at + len < slot && s[at + len] != ' ')
            len++;
        char word[40];
        if (take(s + at, len, NULL, word)) {
            snprintf(v->types.v[v->types.n++], 40, "%s", word);
            each_types(t, v, s + slot + (slot < n), n - slot - (slot < n));
            v->types.n--;
        }
        at += len + 1;
    }
}

static bool looked_at(const struct row *r)
{
    static const char *const not [] = { "tex",       "tex_query",       "surface",
                                        "tma",       "wgmma",           "tmem_move",
                                        "tmem_copy", "tmem_commit",     "tcgen",
                                        "mma_sp",    "fence_tensormap", "none",
                                        "mma",       "wmma_load",       "wmma_store",
                                        "wmma_mma",  "matrix_memory",   "call",
                                        "brx",       "cp_bulk" /* test_sim_exec.c */ };
    for (size_t k = 0; k < ARRAY_LEN(not ); k++)
        if (!strcmp(r->exec, not [k]))
            return false;
    return (unsigned)r->sm <= target->sm;
}

static void try_target(const struct target *on, unsigned least)
{
    struct tally t = { 0 };
    target = on;
    unsigned before, silent = 0;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        if (!looked_at(&rows[k]))
            continue;
        struct variant v = { .r = &rows[k] };
        const char *s = rows[k].types ? rows[k].types : "";
        before = t.valid;
        do {
            size_t n = strcspn(s, "|");
            each_types(&t, &v, s, n);
            s += n;
        } while (*s && *++s);
        if (t.valid == before && ++silent)
            printf("no variant of %s parsed\n", rows[k].name);
    }
    printf("%u variants tried, %u are valid PTX for sm_%u, %u of these refused, %u as expected\n",
           t.tried, t.valid, on->sm, t.refused, t.expected);
    if (t.missing.n)
        printf("%s", t.missing.s);
    assert_int_equal(t.refused, t.expected);
    assert_true(t.valid > least);
    buf_free(&t.missing);
}

static void on_sm_90(void **state)
{
    (void)state;
    try_target(&sm_90, 6000);
}
static void on_sm_100(void **state)
{
    (void)state;
    try_target(&sm_100, 9000);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(on_sm_90), cmocka_unit_test(on_sm_100) };
    return cmocka_run_group_tests_name("sim exec: coverage of the op table", tests, NULL, NULL);
}
