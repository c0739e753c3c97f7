/* What an instruction computes (engine/ptx/meaning.h): claims by hand, and, for every row with a rule,
 * the answers beside what the simulated device makes of random numbers. */
#include "tests/unit/sim_support.h"

#include "engine/ptx/meaning.h"

#define HEAD                                                                                        \
    ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"        \
    ".reg .b16 %h<4>; .reg .b32 %r<10>; .reg .b64 %d<10>; .reg .b128 %q<2>; .reg .f32 %f<4>; .reg " \
    ".pred %p<5>;\n"

/* ---- claims ---- */
static void put_operand(struct buf *b, const struct ptx_module *m, const struct ptx_operand *o)
{
    buf_printf(b, "%.*s", (int)o->len, m->text.s + o->off);
}

/* As "-r1 * r2 + r3 : 64 wide"; "": unknown. */
static void write_sum(struct buf *b, const struct ptx_module *m, const struct ptx_inst *i)
{
    struct ptx_sum s;
    if (!ptx_sum_of(i, &s))
        return;
    for (unsigned k = 0; k < s.n; k++) {
        buf_puts(b, s.term[k].minus ? "-" : k ? "+" : "");
        put_operand(b, m, s.term[k].a);
        if (s.term[k].b) {
            buf_puts(b, s.term[k].shift ? "<<" : "*");
            put_operand(b, m, s.term[k].b);
        }
    }
    buf_printf(b, " : %u%s%s", s.bits, s.widens ? " widens" : "", s.cuts ? " cuts" : "");
}

static void write_copy(struct buf *b, const struct ptx_module *m, const struct ptx_inst *i)
{
    const struct ptx_operand *o = ptx_copied(i);
    if (o)
        put_operand(b, m, o);
}

static void write_offset(struct buf *b, const struct ptx_module *m, const struct ptx_inst *i)
{
    const struct ptx_operand *from;
    int64_t number;
    if (!ptx_offset_of(i, &from, &number))
        return;
    put_operand(b, m, from);
    buf_printf(b, " %+lld", (long long)number);
}

static void write_compared(struct buf *b, const struct ptx_module *m, const struct ptx_inst *i)
{
    const struct ptx_operand *x, *y;
    struct ptx_comparison c;
    if (!ptx_compared(i, &x, &y))
        return;
    put_operand(b, m, x);
    buf_puts(b, " ");
    put_operand(b, m, y);
    if (ptx_comparison_of(i, &c))
        buf_printf(b, " %s %u", ptx_mod_text(c.how), c.bits);
}

static void write_range(struct buf *b, const struct ptx_module *m, const struct ptx_inst *i)
{
    uint64_t lo, hi;
    (void)m;
    if (ptx_range_of(i, &lo, &hi))
        buf_printf(b, "%llu..%llu", (unsigned long long)lo, (unsigned long long)hi);
}

struct claim {
    const char *inst, *want; /* "": the query says that it does not know */
};
typedef void write_fn(struct buf *b, const struct ptx_module *m, const struct ptx_inst *i);

static void check(const struct claim *c, size_t n, write_fn *answer)
{
    for (size_t k = 0; k < n; k++) {
        char text[600];
        struct ptx_module *m = NULL;
        struct diags ds = { 0 };
        struct buf got = { 0 };
        snprintf(text, sizeof text, "%s%s\nret;\n}\n", HEAD, c[k].inst);
        assert_status_ok(ptx_parse("t.ptx", str_of(text), &m, &ds), &ds);
        answer(&got, m, &m->funcs[0]->insts[0]);
        if (strcmp(got.s ? got.s : "", c[k].want) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", c[k].inst, got.s ? got.s : "", c[k].want);
        buf_free(&got);
        ptx_free(m);
        diags_free(&ds);
    }
}

static void sums(void **state)
{
    (void)state;
    static const struct claim c[] = {
        { "add.s32 %r0, %r1, %r2;", "%r1+%r2 : 32" },
        { "add.u64 %d0, %d1, 8;", "%d1+8 : 64" },
        { "add.sat.s32 %r0, %r1, %r2;", "" },
        { "add.u16 %h0, %h1, %h2;", "" },
        { "add.f32 %f0, %f1, %f2;", "" },
        { "add.u16x2 %r0, %r1, %r2;", "" },
        { "@%p1 add.s32 %r0, %r1, %r2;", "" },
        { "@!%p1 mov.b32 %r0, %r1;", "" },
        { "add.cc.u32 %r0, %r1, %r2;", "" },
        { "addc.u32 %r0, %r1, %r2;", "" },
        { "madc.lo.u32 %r0, %r1, %r2, %r3;", "" },
        { "sub.u32 %r0, %r1, %r2;", "%r1-%r2 : 32" },
        { "sub.sat.s32 %r0, %r1, %r2;", "" },
        { "neg.s32 %r0, %r1;", "-%r1 : 32" },
        { "neg.f32 %f0, %f1;", "" },
        { "mul.lo.s32 %r0, %r1, %r2;", "%r1*%r2 : 32" },
        { "mul.hi.u32 %r0, %r1, %r2;", "" },
        { "mul24.lo.u32 %r0, %r1, %r2;", "" },
        { "mul.wide.s32 %d0, %r1, 4;", "%r1*4 : 64 widens" },
        { "mul.wide.u16 %r0, %h1, %h2;", "" },
        { "mad.lo.u64 %d0, %d1, %d2, %d3;", "%d1*%d2+%d3 : 64" },
        { "mad.wide.u32 %d0, %r1, %r2, %d3;", "%r1*%r2+%d3 : 64 widens" },
        { "mad.hi.u32 %r0, %r1, %r2, %r3;", "" },
        { "shl.b32 %r0, %r1, 2;", "%r1<<2 : 32" },
        { "shl.b64 %d0, %d1, %r2;", "%d1<<%r2 : 64" },
        { "shl.b16 %h0, %h1, 2;", "" },
        { "shr.u32 %r0, %r1, 2;", "" },
        { "cvt.u64.u32 %d0, %r1;", "%r1 : 64 widens" },
        { "cvt.u32.u64 %r0, %d1;", "%d1 : 32 cuts" },
        { "cvt.sat.u32.u64 %r0, %d1;", "" },
        { "cvt.u32.u16 %r0, %h1;", "" },
        { "cvt.rzi.s32.f32 %r0, %f1;", "" },
        { "cvt.rn.f32.s32 %f0, %r1;", "" },
        { "mov.u32 %r0, %r1;", "%r1 : 32" },
        { "mov.f32 %f0, %f1;", "%f1 : 32" },
        { "mov.b64 {%r0, %r1}, %d1;", "" },
        { "mov.b128 %q0, %q1;", "" },
        { "mov.pred %p0, %p1;", "" },
        { "cvta.to.global.u64 %d0, %d1;", "%d1 : 64" },
        { "cvta.shared.u64 %d0, %d1;", "%d1 : 64" },
        { "lop3.b32 %r0, %r1, %r2, %r3, 0x96;", "" },
    };
    check(c, ARRAY_LEN(c), write_sum);
}

static void copies(void **state)
{
    (void)state;
    static const struct claim c[] = {
        { "mov.u64 %d0, %d1;", "%d1" },     { "mov.pred %p0, %p1;", "%p1" },
        { "mov.b128 %q0, %q1;", "" },       { "mov.b64 {%r0, %r1}, %d1;", "" },
        { "cvt.s64.s32 %d0, %r1;", "%r1" }, { "cvt.u32.u64 %r0, %d1;", "" },
        { "@%p1 mov.u64 %d0, %d1;", "" },   { "cvta.to.global.u64 %d0, %d1;", "" },
        { "cvta.local.u64 %d0, %d1;", "" }, { "neg.s32 %r0, %r1;", "" },
        { "add.u64 %d0, %d1, %d2;", "" },
    };
    check(c, ARRAY_LEN(c), write_copy);
}

static void offsets(void **state)
{
    (void)state;
    static const struct claim c[] = {
        { "add.s32 %r0, %r1, -4;", "%r1 -4" }, { "add.s32 %r0, 4, %r1;", "%r1 +4" },
        { "sub.s32 %r0, %r1, 4;", "%r1 -4" },  { "sub.s32 %r0, 4, %r1;", "" },
        { "mov.u32 %r0, %r1;", "%r1 +0" },     { "mov.u32 %r0, 5;", "" },
        { "add.s32 %r0, %r1, %r2;", "" },      { "add.sat.s32 %r0, %r1, 4;", "" },
        { "cvt.u64.u32 %d0, %r1;", "" },       { "mad.lo.s32 %r0, %r1, 2, 4;", "" },
        { "@%p1 add.s32 %r0, %r1, 4;", "" },
    };
    check(c, ARRAY_LEN(c), write_offset);
}

static void comparisons(void **state)
{
    (void)state;
    static const struct claim c[] = {
        { "setp.lt.s32 %p0, %r1, 7;", "%r1 7 .lt 32" },
        { "@%p1 setp.lt.s32 %p0, %r1, %r2;", "%r1 %r2" },
        { "setp.lt.and.s32 %p0, %r1, %r2, %p1;", "%r1 %r2" },
        { "setp.lt.s32 %p0|%p1, %r1, %r2;", "%r1 %r2" },
        { "setp.lt.and.u64 %p0|%p1, %d1, %d2, !%p2;", "%d1 %d2" },
        { "setp.lt.f32 %p0, %f1, %f2;", "%f1 %f2" },
        { "set.lt.u32.s32 %r0, %r1, %r2;", "%r1 %r2" },
        { "testp.finite.f32 %p0, %f1;", "" },
        { "min.s32 %r0, %r1, %r2;", "" },
        { "slct.u32.s32 %r0, %r1, %r2, %r3;", "" },
    };
    check(c, ARRAY_LEN(c), write_compared);
}

static void ranges(void **state)
{
    (void)state;
    static const struct claim c[] = {
        { "popc.b32 %r0, %r1;", "0..32" },
        { "clz.b64 %r0, %d1;", "0..64" },
        { "bfind.u32 %r0, %r1;", "" },
        { "ld.global.u8 %r0, [%d1];", "0..255" },
        { "ld.global.s8 %r0, [%d1];", "" },
        { "ld.global.u64 %d0, [%d1];", "" },
        { "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%d1];", "" },
        { "and.b32 %r0, %r1, 31;", "0..31" },
        { "and.b32 %r0, %r1, -2;", "" },
        { "and.b32 %r0, %r1, %r2;", "" },
        { "rem.u32 %r0, %r1, 10;", "0..9" },
        { "rem.s32 %r0, %r1, 10;", "" },
        { "min.u32 %r0, %r1, 10;", "0..10" },
        { "min.s32 %r0, %r1, 10;", "" },
        { "min.u32 %r0, %r1, %r2;", "" },
        { "cvt.u32.u8 %r0, %r1;", "0..255" },
        { "cvt.s8.u16 %r0, %h1;", "" },
        { "cvt.u64.s32 %d0, %r1;", "" },
        { "cvt.sat.u32.u64 %r0, %d1;", "" },
        { "setp.eq.u32 %p0, %r1, 0;", "0..1" },
        { "add.u32 %r0, %r1, 1;", "" },
    };
    check(c, ARRAY_LEN(c), write_range);
}

/* ---- the rule of a row as it is written ---- */
static enum ptx_addr_rule rule_of(const char *inst)
{
    char text[600];
    struct ptx_module *m = NULL;
    struct diags ds = { 0 };
    snprintf(text, sizeof text, "%s%s\nret;\n}\n", HEAD, inst);
    assert_status_ok(ptx_parse("t.ptx", str_of(text), &m, &ds), &ds);
    enum ptx_addr_rule rule = ptx_rule_of(&m->funcs[0]->insts[0]);
    ptx_free(m);
    diags_free(&ds);
    return rule;
}

static void rules(void **state)
{
    (void)state;
    assert_int_equal(rule_of("min.s32 %r0, %r1, %r2;"), ADDR_MIN);
    assert_int_equal(rule_of("max.f32 %f0, %f1, %f2, %f3;"), ADDR_UNKNOWN);
    assert_int_equal(rule_of("min.relu.s32 %r0, %r1, %r2;"), ADDR_UNKNOWN);
    assert_int_equal(rule_of("prmt.b32 %r0, %r1, %r2, %r3;"), ADDR_PRMT);
    assert_int_equal(rule_of("prmt.b32.f4e %r0, %r1, %r2, %r3;"), ADDR_UNKNOWN);
    assert_int_equal(rule_of("lop3.b32 %r0, %r1, %r2, %r3, 0x96;"), ADDR_LOP3);
    assert_int_equal(rule_of("lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x96, %p1;"), ADDR_UNKNOWN);
    assert_int_equal(rule_of("shf.l.wrap.b32 %r0, %r1, %r2, %r3;"), ADDR_SHF_L);
    assert_int_equal(rule_of("mul.hi.s32 %r0, %r1, %r2;"), ADDR_MUL_HI);
    assert_int_equal(rule_of("div.full.f32 %f0, %f1, %f2;"), ADDR_UNKNOWN);
    assert_int_equal(rule_of("selp.f32 %f0, %f1, %f2, %p1;"), ADDR_SELP);
}

/* ---- beside the simulated device ---- */
#define LANES 32u
#define IN    1024u /* where the inputs begin: three of 8 bytes for each lane */
static const char prologue[] =
    "ld.param.u64 %d9, [p];\nmov.u32 %r9, %tid.x;\nmul.wide.u32 %d8, %r9, 8;\nadd.u64 %d8, %d8, %d9;\n"
    "mad.wide.u32 %d7, %r9, 24, %d9;\nadd.u64 %d7, %d7, 1024;\nld.global.u64 %d1, [%d7];\n"
    "ld.global.u64 %d2, [%d7+8];\nld.global.u64 %d3, [%d7+16];\ncvt.u32.u64 %r1, %d1;\n"
    "cvt.u32.u64 %r2, %d2;\ncvt.u32.u64 %r3, %d3;\ncvt.u16.u32 %h1, %r1;\ncvt.u16.u32 %h2, %r2;\n"
    "cvt.u16.u32 %h3, %r3;\n";

/* One instruction, by parts; its destination is register 0 of a file, its sources are 1, 2 and 3. */
struct form {
    char text[120];
    char file; /* of the destination: 'h', 'r' or 'd' */
};

static uint64_t next(uint64_t *seed)
{
    static const uint64_t corner[] = {
        0,  1,  UINT64_MAX, 0x7fffffff,         0x80000000,         0xffff, 0x8000, 31,
        32, 33, 64,         0x7fffffffffffffff, 0x8000000000000000, 0xff80
    };
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    uint64_t k = *seed >> 58;
    return k < ARRAY_LEN(corner) ? corner[k] : *seed ^ *seed >> 31;
}

static uint64_t cut(uint64_t v, unsigned bits)
{
    return bits < 64 ? v & ((UINT64_C(1) << bits) - 1) : v;
}

static uint64_t extend(uint64_t v, unsigned bits, bool is_signed)
{
    uint64_t low = cut(v, bits);
    return is_signed && bits < 64 && low >> (bits - 1) & 1 ? low | ~cut(UINT64_MAX, bits) : low;
}

/* The number of an operand: sources hold in[0..2]. */
static uint64_t value_of(const struct ptx_module *m, const struct ptx_operand *o, const uint64_t *in,
                         unsigned bits, bool is_signed)
{
    const char *name = m->text.s + o->off;
    if (o->kind == OPND_IMM)
        return extend((uint64_t)o->imm, bits, is_signed);
    unsigned own = name[1] == 'h' ? 16 : name[1] == 'r' ? 32 : 64;
    return extend(in[name[2] - '1'], bits < own ? bits : own, is_signed);
}

static uint64_t evaluate(const struct ptx_module *m, const struct ptx_inst *i, const struct ptx_sum *s,
                         const uint64_t *in)
{
    enum ptx_type t = (enum ptx_type)i->type[s->widens || s->cuts ? i->ntypes - 1 : 0];
    unsigned bits = ptx_type_bits(t);
    bool sign = ptx_type_kind(t) == 's';
    uint64_t sum = 0;
    for (unsigned k = 0; k < s->n; k++) {
        const struct ptx_term *x = &s->term[k];
        uint64_t v = value_of(m, x->a, in, k ? 64 : bits, sign),
                 w = x->b ? value_of(m, x->b, in, x->shift ? 32 : bits, sign && !x->shift) : 1;
        v = x->shift ? (w < s->bits ? v << w : 0) : v * w;
        sum += x->minus ? 0 - v : v;
    }
    return cut(sum, s->bits);
}

/* False: the instruction is none, or no answer is known of it. */
static bool compare(const struct form *f, uint64_t seed)
{
    char text[1600];
    struct sim_case c;
    struct ptx_sum s;
    uint64_t lo, hi, data[3 * LANES];
    const char *out = f->file == 'd'   ? "mov.u64 %d0, %d0;"
                      : f->file == 'r' ? "cvt.u64.u32 %d0, %r0;"
                                       : "cvt.u64.u16 %d0, %h0;";
    snprintf(text, sizeof text,
             SIM_HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b16 %%h<4>; .reg .b32 %%r<10>; .reg "
                      ".b64 %%d<10>;\n%s%s\n%s\nst.global.u64 [%%d8], %%d0;\nret;\n}\n",
             prologue, f->text, out);
    sim_case_open(&c, text, "k", 4096);
    const struct ptx_inst *i = c.st == ST_OK ? &c.m->funcs[0]->insts[c.m->funcs[0]->ninsts - 4] : NULL;
    bool sums = i && ptx_sum_of(i, &s), ranged = i && ptx_range_of(i, &lo, &hi);
    for (unsigned k = 0; k < ARRAY_LEN(data); k++)
        data[k] = next(&seed);
    memcpy(c.data + IN, data, sizeof data);
    if (sums || ranged)
        sim_case_ok(&c);
    for (unsigned k = 0; (sums || ranged) && k < LANES; k++) {
        uint64_t got;
        memcpy(&got, c.data + 8 * k, sizeof got);
        if (ranged && (got < lo || got > hi))
            fail_msg("%s: %#llx is not in %#llx..%#llx", f->text, (unsigned long long)got,
                     (unsigned long long)lo, (unsigned long long)hi);
        uint64_t want = sums ? evaluate(c.m, i, &s, &data[3 * k]) : 0;
        if (sums && cut(got, s.bits) != want)
            fail_msg("%s of %#llx, %#llx, %#llx: %#llx, not %#llx", f->text,
                     (unsigned long long)data[3 * k], (unsigned long long)data[3 * k + 1],
                     (unsigned long long)data[3 * k + 2], (unsigned long long)got,
                     (unsigned long long)want);
    }
    sim_case_close(&c);
    return sums || ranged;
}

static char file_of(unsigned bits, bool converts)
{
    return bits > 32 ? 'd' : bits > 16 || converts || bits < 16 ? 'r' : 'h';
}

/* Row `op` with a word more and n sources of a type, the second a number where it is not 0. */
static struct form form_of(const struct ptx_op_info *row, const char *word, unsigned n, enum ptx_type to,
                           enum ptx_type from, unsigned number)
{
    bool converts = row->addr == ADDR_CVT, load = row->addr == ADDR_LOAD,
         wide = row->addr == ADDR_MUL_WIDE || row->addr == ADDR_MAD_WIDE;
    char result = file_of(ptx_type_bits(to) * (wide ? 2 : 1), converts),
         source = file_of(ptx_type_bits(from), converts);
    struct form f = { .file = row->range ? 'r' : result };
    struct buf b = { 0 };
    buf_printf(&b, "%s%s%s.%s", row->name, word, row->addr == ADDR_CVTA || load ? ".global" : "",
               ptx_type_name(to));
    buf_printf(&b, "%s%s %%%c0", converts ? "." : "", converts ? ptx_type_name(from) : "", f.file);
    for (unsigned k = 1; k <= n; k++) {
        char file = k == 3 && wide ? result : k == 2 && row->addr == ADDR_SHL ? 'r' : source;
        if (load)
            buf_puts(&b, ", [%d7]");
        else if (k == 2 && number)
            buf_printf(&b, ", %u", number);
        else
            buf_printf(&b, ", %%%c%u", file, k);
    }
    snprintf(f.text, sizeof f.text, "%s;", b.s);
    buf_free(&b);
    return f;
}

/* Forms that the ISA does not have are no instructions. */
static unsigned with_types(unsigned op, enum ptx_type to, enum ptx_type from, unsigned number,
                           uint64_t seed)
{
    unsigned found = 0;
    for (unsigned n = 0; n < 6; n++) {
        struct form f = form_of(ptx_op_info(op), n < 3 ? "" : ".sat", n % 3 + 1, to, from, number);
        found += compare(&f, seed + n);
    }
    return found;
}

static void as_executed(void **state)
{
    (void)state;
    static const enum ptx_type types[] = { PTX_T_B8,  PTX_T_U8,  PTX_T_S8,  PTX_T_B16,
                                           PTX_T_U16, PTX_T_S16, PTX_T_B32, PTX_T_U32,
                                           PTX_T_S32, PTX_T_B64, PTX_T_U64, PTX_T_S64 };
    static const unsigned numbers[] = { 0, 1, 7, 31, 200 };
    unsigned forms = 0, rows = 0;
    for (unsigned op = 1; op < PTX_OP_COUNT; op++) {
        const struct ptx_op_info *row = ptx_op_info(op);
        unsigned before = forms;
        bool load = row->addr == ADDR_LOAD &&
                    !(row->effect == EFFECT_LOAD && row->is & (IS_PLAIN | IS_READ_ONLY));
        if ((row->addr == ADDR_UNKNOWN && !row->range) || row->addr == ADDR_PRED || load)
            continue;
        for (size_t t = 0; t < ARRAY_LEN(types); t++)
            for (size_t q = 0; q < (row->addr == ADDR_CVT ? ARRAY_LEN(types) : ARRAY_LEN(numbers));
                 q++) {
                enum ptx_type from = row->addr == ADDR_CVT ? types[q] : types[t];
                forms += with_types(op, types[t], from, row->addr == ADDR_CVT ? 0 : numbers[q],
                                    op + 100 * t + q);
            }
        rows += forms > before;
    }
    /* add, sub, mul.lo, mul.wide, mad.lo, mad.wide, neg, shl, mov, cvt, cvta both ways, rem, min, and,
     * popc, clz, ld, ldu */
    assert_true(rows >= 19);
    assert_true(forms > 200);
}

/* ---- what an instruction is ---- */
static void parts(void **state)
{
    (void)state;
    static const struct {
        unsigned op;
        enum ptx_role role;
    } want[] = { { PTX_OP_SETP, ROLE_COMPARE },
                 { PTX_OP_SET, ROLE_COMPARE },
                 { PTX_OP_TESTP, ROLE_NONE },
                 { PTX_OP_ISSPACEP, ROLE_WINDOW_TEST },
                 { PTX_OP_SHFL, ROLE_EXCHANGE },
                 { PTX_OP_ACTIVEMASK, ROLE_NONE },
                 { PTX_OP_MMA_SP, ROLE_PRODUCT },
                 { PTX_OP_TCGEN05_MMA_WS, ROLE_PRODUCT },
                 { PTX_OP_TCGEN05_LD, ROLE_NONE },
                 { PTX_OP_WGMMA_COMMIT_GROUP, ROLE_COMMIT },
                 { PTX_OP_CP_ASYNC_WAIT_ALL, ROLE_WAIT_GROUP },
                 { PTX_OP_FENCE, ROLE_NONE },
                 { PTX_OP_FENCE_PROXY, ROLE_SM_FENCE },
                 { PTX_OP_MBARRIER_ARRIVE_DROP, ROLE_MBARRIER_ARRIVE },
                 { PTX_OP_MBARRIER_INIT, ROLE_NONE },
                 { PTX_OP_PREFETCH, ROLE_NONE },
                 { PTX_OP_PREFETCH_TENSORMAP, ROLE_MAP_PREFETCH },
                 { PTX_OP_SUQ, ROLE_PROPERTY },
                 { PTX_OP_ALLOCA, ROLE_STACK } };
    for (size_t k = 0; k < ARRAY_LEN(want); k++)
        if (ptx_op_info(want[k].op)->role != want[k].role)
            fail_msg("%s", ptx_op_info(want[k].op)->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sums),        cmocka_unit_test(copies),
                                        cmocka_unit_test(offsets),     cmocka_unit_test(comparisons),
                                        cmocka_unit_test(ranges),      cmocka_unit_test(rules),
                                        cmocka_unit_test(as_executed), cmocka_unit_test(parts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
