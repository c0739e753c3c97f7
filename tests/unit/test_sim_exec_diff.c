/* Generated PTX programs run on the simulated device and on the scalar interpreter of tests/ref;
 * every register of every thread must come out the same. The seed of a program that differs is in
 * the message (lane kernels alternate with it): GPULOCW_DIFF_SEED=n runs it alone and prints it, GPULOCW_DIFF_COUNT sets how many. */
#include "tests/unit/sim_support.h"

#include "tests/ref/interp.h"

#define BLOCK 64u
#define OUT_BYTES 512u               /* per thread: results; then per thread: inputs */
#define IN_BYTES 256u
enum { NR = 8, NRD = 6, NH = 6, NF = 8, ND = 6, NP = 6, DEPTH = 3 };

struct gen { struct buf b; uint64_t seed, n; unsigned labels; bool diverged; };

static uint64_t rnd(struct gen *g) { return base_splitmix(g->seed, g->n++); }
static unsigned below(struct gen *g, unsigned n) { return (unsigned)(rnd(g) >> 33) % n; }
static bool chance(struct gen *g, unsigned percent) { return below(g, 100) < percent; }

/* Operation and operand classes: destination first. r b32, R b64, h b16, f f32, d f64, p predicate;
 * s small count, i immediate byte. */
static const char *const straight[] = {
    "add.s32 rrr", "add.u64 RRR", "add.u16 hhh", "add.sat.s32 rrr", "sub.s32 rrr", "sub.s64 RRR", "sub.s16 hhh", "sub.sat.s32 rrr",
    "mul.lo.s32 rrr", "mul.lo.u64 RRR", "mul.lo.s16 hhh", "mul.hi.s32 rrr", "mul.hi.u32 rrr", "mul.hi.s64 RRR", "mul.hi.u64 RRR", "mul.hi.s16 hhh",
    "mul.hi.u16 hhh", "mul.wide.s32 Rrr", "mul.wide.u32 Rrr", "mul.wide.s16 rhh", "mul.wide.u16 rhh", "mad.lo.s32 rrrr", "mad.lo.u64 RRRR",
    "mad.lo.u16 hhhh", "mad.hi.s32 rrrr", "mad.hi.u32 rrrr", "mad.hi.u64 RRRR", "mad.hi.s64 RRRR", "mad.wide.s32 RrrR", "mad.wide.u32 RrrR",
    "mad.wide.u16 rhhr", "mad.wide.s16 rhhr", "mad.hi.sat.s32 rrrr",
    "mul24.lo.s32 rrr", "mul24.hi.u32 rrr", "mad24.lo.u32 rrrr", "mad24.hi.s32 rrrr", "sad.s32 rrrr", "sad.u32 rrrr", "sad.u64 RRRR", "sad.s16 hhhh",
    "div.s32 rrr", "div.u32 rrr", "div.s64 RRR", "div.u64 RRR", "div.u16 hhh", "rem.s32 rrr", "rem.u32 rrr", "rem.s64 RRR", "rem.u64 RRR", "rem.s16 hhh",
    "abs.s32 rr", "abs.s64 RR", "abs.s16 hh", "neg.s32 rr", "neg.s64 RR", "neg.s16 hh", "min.s32 rrr", "min.u32 rrr", "min.s64 RRR", "min.u64 RRR",
    "min.u16 hhh", "max.s32 rrr", "max.u32 rrr", "max.s64 RRR", "max.u64 RRR", "max.s16 hhh", "popc.b32 rr", "popc.b64 rR", "clz.b32 rr", "clz.b64 rR",
    "bfind.s32 rr", "bfind.u64 rR", "bfind.shiftamt.u32 rr", "bfind.s64 rR", "brev.b32 rr", "brev.b64 RR", "bfe.u32 rrrr", "bfe.s32 rrrr", "bfe.u64 RRrr",
    "bfe.s64 RRrr", "bfe.s32 rrss", "bfe.u32 rrss", "bfi.b32 rrrrr", "bfi.b64 RRRrr", "bfi.b32 rrrss", "bmsk.clamp.b32 rss", "bmsk.wrap.b32 rss",
    "szext.clamp.s32 rrs", "szext.wrap.u32 rrs",
    "dp4a.s32.s32 rrrr", "dp4a.u32.u32 rrrr", "dp4a.s32.u32 rrrr", "dp4a.u32.s32 rrrr", "dp2a.lo.s32.s32 rrrr", "dp2a.hi.u32.s32 rrrr",
    "and.b32 rrr", "and.b64 RRR", "and.b16 hhh", "or.b32 rrr", "or.b64 RRR", "xor.b32 rrr", "xor.b64 RRR", "xor.b16 hhh", "not.b32 rr", "not.b64 RR",
    "not.b16 hh", "cnot.b32 rr", "cnot.b64 RR", "lop3.b32 rrrri", "shl.b32 rrs", "shl.b64 RRs", "shl.b16 hhs", "shr.u32 rrs", "shr.s32 rrs", "shr.b64 RRs",
    "shr.s64 RRs", "shr.s16 hhs", "shr.u16 hhs", "shl.b32 rrr", "shr.s32 rrr", "shf.l.wrap.b32 rrrr", "shf.r.clamp.b32 rrrs", "shf.l.clamp.b32 rrrs",
    "shf.r.wrap.b32 rrrr", "prmt.b32 rrrr", "add.cc.u32 rrr", "addc.u32 rrr", "addc.cc.s32 rrr", "sub.cc.u32 rrr", "subc.u32 rrr", "subc.cc.u32 rrr",
    "mad.lo.cc.u32 rrrr", "madc.hi.u32 rrrr", "madc.lo.cc.s32 rrrr", "mad.hi.cc.s32 rrrr", "add.cc.u64 RRR", "addc.u64 RRR", "subc.cc.u64 RRR", "sub.cc.s64 RRR",
    "mov.b32 rr", "mov.b64 RR", "mov.b16 hh", "mov.f32 ff", "mov.f64 dd",
    "add.f32 fff", "sub.f32 fff", "mul.f32 fff", "add.ftz.f32 fff", "mul.ftz.f32 fff", "add.rz.f32 fff", "add.rm.f32 fff", "sub.rp.f32 fff", "mul.rz.f32 fff",
    "mul.rp.f32 fff", "add.sat.f32 fff", "mul.rm.ftz.f32 fff", "fma.rn.f32 ffff", "fma.rz.f32 ffff", "fma.rm.f32 ffff", "fma.rp.f32 ffff",
    "fma.rn.ftz.f32 ffff", "fma.rn.sat.f32 ffff", "div.rn.f32 fff", "div.rz.f32 fff", "div.rm.f32 fff", "div.rp.f32 fff", "div.rn.ftz.f32 fff",
    "rcp.rn.f32 ff", "rcp.rz.f32 ff", "rcp.rp.f32 ff", "sqrt.rn.f32 ff", "sqrt.rz.f32 ff", "sqrt.rp.f32 ff", "sqrt.rm.f32 ff", "min.f32 fff", "max.f32 fff",
    "min.ftz.f32 fff", "max.ftz.f32 fff", "neg.f32 ff", "abs.f32 ff", "neg.ftz.f32 ff", "copysign.f32 fff",
    "add.f64 ddd", "sub.f64 ddd", "mul.f64 ddd", "fma.rn.f64 dddd", "add.rz.f64 ddd", "sub.rm.f64 ddd", "mul.rp.f64 ddd", "fma.rm.f64 dddd", "div.rn.f64 ddd",
    "div.rz.f64 ddd", "rcp.rn.f64 dd", "sqrt.rn.f64 dd", "sqrt.rp.f64 dd", "min.f64 ddd", "max.f64 ddd", "neg.f64 dd", "abs.f64 dd",
    "add.f16 hhh", "sub.f16 hhh", "mul.f16 hhh", "fma.rn.f16 hhhh", "neg.f16 hh", "abs.f16 hh", "add.f16x2 rrr", "mul.f16x2 rrr", "fma.rn.f16x2 rrrr",
    "sub.f16x2 rrr", "add.rn.bf16 hhh", "sub.rn.bf16 hhh", "mul.rn.bf16 hhh", "fma.rn.bf16 hhhh", "fma.rn.bf16x2 rrrr", "mul.rn.bf16x2 rrr",
    "selp.b32 rrrp", "selp.b64 RRRp", "selp.f32 fffp", "selp.b16 hhhp", "slct.s32.s32 rrrr", "slct.b64.f32 RRRf", "slct.f32.f32 ffff",
    "and.pred ppp", "or.pred ppp", "xor.pred ppp", "not.pred pp", "mov.pred pp",
    "set.lt.u32.s32 rrr", "set.gt.f32.f32 fff", "set.neu.and.u32.f32 rffp", "set.ge.s32.u32 rrr",
    "cvt.u32.u64 rR", "cvt.u64.u32 Rr", "cvt.s64.s32 Rr", "cvt.s32.s64 rR", "cvt.u16.u32 hr", "cvt.s16.s32 hr", "cvt.u32.u16 rh", "cvt.s32.s16 rh",
    "cvt.s64.s16 Rh", "cvt.u64.u16 Rh", "cvt.u16.u64 hR", "cvt.s8.s32 rr", "cvt.u8.u32 rr", "cvt.s32.s8 rr", "cvt.u32.u8 rr", "cvt.u8.u16 hh", "cvt.s8.s16 hh",
    "cvt.sat.u8.s32 rr", "cvt.sat.s8.s32 rr", "cvt.sat.s16.s64 hR", "cvt.sat.u32.s64 rR", "cvt.sat.s32.u64 rR", "cvt.sat.u16.s16 hh", "cvt.s64.u32 Rr", "cvt.u64.s32 Rr",
    "cvt.rn.f32.s32 fr", "cvt.rn.f32.u32 fr", "cvt.rz.f32.s32 fr", "cvt.rp.f32.u32 fr", "cvt.rm.f32.s64 fR", "cvt.rn.f32.u64 fR", "cvt.rn.f32.s64 fR",
    "cvt.rz.f32.u64 fR", "cvt.rn.f64.s32 dr", "cvt.rn.f64.u32 dr", "cvt.rn.f64.s64 dR", "cvt.rn.f64.u64 dR", "cvt.rz.f64.s64 dR", "cvt.rp.f64.u64 dR",
    "cvt.rzi.s32.f32 rf", "cvt.rzi.u32.f32 rf", "cvt.rni.s32.f32 rf", "cvt.rmi.s32.f32 rf", "cvt.rpi.u32.f32 rf", "cvt.rzi.s64.f32 Rf", "cvt.rzi.u64.f32 Rf",
    "cvt.rni.s64.f64 Rd", "cvt.rzi.s32.f64 rd", "cvt.rzi.u32.f64 rd", "cvt.rzi.s64.f64 Rd", "cvt.rzi.u64.f64 Rd", "cvt.rmi.u32.f64 rd", "cvt.rzi.s16.f32 hf",
    "cvt.rzi.u8.f32 rf", "cvt.rni.s8.f32 rf", "cvt.f64.f32 df", "cvt.rn.f32.f64 fd", "cvt.rz.f32.f64 fd", "cvt.rm.f32.f64 fd", "cvt.rp.f32.f64 fd",
    "cvt.rn.f16.f32 hf", "cvt.rz.f16.f32 hf", "cvt.f32.f16 fh", "cvt.f64.f16 dh", "cvt.rn.f16.f64 hd", "cvt.rm.f16.f64 hd", "cvt.rn.f16.s32 hr", "cvt.rzi.s32.f16 rh",
    "cvt.rn.bf16.f32 hf", "cvt.rz.bf16.f32 hf", "cvt.rni.f32.f32 ff", "cvt.rzi.f32.f32 ff", "cvt.rmi.f32.f32 ff", "cvt.rpi.f32.f32 ff", "cvt.rni.f64.f64 dd",
    "cvt.rmi.f64.f64 dd", "cvt.sat.f32.f32 ff", "cvt.rn.sat.f32.f64 fd", "cvt.rn.f16.u16 hh", "cvt.rn.f32.u16 fh", "cvt.rn.f32.s8 fr",
};
static const char *const int_types[] = { "s32 r", "u32 r", "b32 r", "s64 R", "u64 R", "s16 h", "u16 h" };
static const char *const float_types[] = { "f32 f", "f64 d", "f16 h", "bf16 h", "ftz.f32 f" };
static const char *const int_cmps[] = { "eq", "ne", "lt", "le", "gt", "ge" };
static const char *const float_cmps[] = { "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan" };

static void put_reg(struct gen *g, char cls)
{
    switch (cls) {
    case 'r': buf_printf(&g->b, "%%r%u", below(g, NR)); break;
    case 'R': buf_printf(&g->b, "%%rd%u", below(g, NRD)); break;
    case 'h': buf_printf(&g->b, "%%h%u", below(g, NH)); break;
    case 'f': buf_printf(&g->b, "%%f%u", below(g, NF)); break;
    case 'd': buf_printf(&g->b, "%%d%u", below(g, ND)); break;
    default: buf_printf(&g->b, "%%p%u", below(g, NP)); break;
    }
}

static const uint32_t special32[] = { 0, 1, 0x80000000u, 0x7fffffffu, 0xffffffffu, 0x3f800000u, 0xbf800000u, 0x7f800000u, 0xff800000u, 0x00000001u,
                                      0x007fffffu, 0x00800000u, 0x7f7fffffu, 0x7fc00000u, 0x3effffffu, 0x4b000000u, 0x4f000000u, 0x3c00u, 0x7bff7c00u, 0x00010001u };
static uint64_t value32(struct gen *g)
{
    unsigned k = below(g, 10);
    if (k < 3)
        return special32[below(g, ARRAY_LEN(special32))];
    if (k < 6)                        /* a float of moderate size */
        return (uint32_t)((rnd(g) & 0x807fffffu) | (uint64_t)(112 + below(g, 32)) << 23);
    return k < 8 ? (uint32_t)rnd(g) : (uint32_t)below(g, 300);
}
static uint64_t value64(struct gen *g)
{
    static const uint64_t special[] = { 0, 1, 1ull << 63, INT64_MAX, UINT64_MAX, 0x3ff0000000000000, 0x7ff0000000000000, 0x000fffffffffffff, 0x7fefffffffffffff,
                                        0x43e0000000000000, 0x41dfffffffc00000, 0x36a0000000000000, 0x47efffffe0000000 };
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
            put_reg(g, 'r');
    } else if (cls == 'i') {
        buf_printf(&g->b, "%u", below(g, 256));
    } else if (may_imm && chance(g, 15) && cls != 'p') {
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

static void put_op(struct gen *g, const char *row)
{
    const char *cls = strchr(row, ' ') + 1;
    bool is_float_narrow = strstr(row, "f16") != NULL, can_imm = !is_float_narrow && strncmp(row, "cvt", 3) != 0;
    if (chance(g, 12))
        buf_printf(&g->b, "\t@%s%%p%u ", chance(g, 50) ? "!" : "", below(g, NP));
    else
        buf_puts(&g->b, "\t");
    buf_put(&g->b, row, (size_t)(cls - row));
    put_reg(g, cls[0]);
    for (unsigned k = 1; cls[k]; k++) {
        buf_puts(&g->b, ", ");
        put_source(g, cls[k], can_imm && k > 1);
    }
    buf_puts(&g->b, ";\n");
}

static void put_setp(struct gen *g)
{
    bool flt = chance(g, 40);
    const char *t = flt ? float_types[below(g, ARRAY_LEN(float_types))] : int_types[below(g, ARRAY_LEN(int_types))];
    const char *cmp = flt ? float_cmps[below(g, ARRAY_LEN(float_cmps))] : int_cmps[below(g, strncmp(t, "b32", 3) ? 6 : 2)];
    char cls = strchr(t, ' ')[1];
    unsigned more = below(g, 3);
    static const char *const bools[] = { "and", "or", "xor" };
    unsigned a = below(g, NP), b = (a + 1 + below(g, NP - 1)) % NP;
    buf_printf(&g->b, "\tsetp.%s", cmp);
    if (more)
        buf_printf(&g->b, ".%s", bools[below(g, 3)]);
    buf_printf(&g->b, ".%.*s %%p%u", (int)(strchr(t, ' ') - t), t, a);
    if (chance(g, 40))
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
    switch (below(g, 4)) {
    case 0: buf_printf(&g->b, "\tmov.b64 %%rd%u, {%%r%u, %%r%u};\n", below(g, NRD), below(g, NR), below(g, NR)); break;
    case 1: { unsigned a = below(g, NR); buf_printf(&g->b, "\tmov.b64 {%%r%u, %%r%u}, %%rd%u;\n", a, (a + 1) % NR, below(g, NRD)); break; }
    case 2: buf_printf(&g->b, "\tmov.b32 %%r%u, {%%h%u, %%h%u};\n", below(g, NR), below(g, NH), below(g, NH)); break;
    default: { unsigned a = below(g, NH); buf_printf(&g->b, "\tmov.b32 {%%h%u, %%h%u}, %%r%u;\n", a, (a + 2) % NH, below(g, NR)); break; }
    }
}

/* A load from the thread's own inputs, at an address that depends on a register. */
static void put_load(struct gen *g)
{
    static const char *const forms[] = { "u8 r 255 1", "s8 r 255 1", "u16 h 127 2", "s16 r 127 2", "u32 r 63 4", "f32 f 63 4", "b64 R 31 8", "f64 d 31 8", "s32 R 63 4",
                                         "s8 h 255 1", "v2.u32 r 31 8", "v4.f32 f 15 16", "v2.b64 R 15 16" };
    const char *f = forms[below(g, ARRAY_LEN(forms))];
    char type[8], cls;
    unsigned mask, size;
    sscanf(f, "%7s %c %u %u", type, &cls, &mask, &size);
    buf_printf(&g->b, "\tand.b32 %%ra, %%r%u, %u;\n\tmul.wide.u32 %%rda, %%ra, %u;\n\tadd.u64 %%rda, %%rda, %%rin;\n\tld.global.%s ", below(g, NR), mask, size, type);
    unsigned n = type[0] == 'v' ? (unsigned)(type[1] - '0') : 1, base = below(g, 4);
    if (n > 1)
        buf_puts(&g->b, "{");
    for (unsigned k = 0; k < n; k++)
        buf_printf(&g->b, "%s%%%s%u", k ? ", " : "", cls == 'r' ? "r" : cls == 'R' ? "rd" : cls == 'h' ? "h" : cls == 'f' ? "f" : "d", base + k);
    buf_printf(&g->b, "%s, [%%rda];\n", n > 1 ? "}" : "");
}

static void put_exchange(struct gen *g)
{
    unsigned a = below(g, NR), b = below(g, NR);
    buf_printf(&g->b, "\tshl.b32 %%ra, %%tidr, 2;\n\tmov.u32 %%rb, buffer;\n\tadd.u32 %%ra, %%ra, %%rb;\n\tst.shared.u32 [%%ra], %%r%u;\n\tbar.sync 0;\n", a);
    buf_printf(&g->b, "\txor.b32 %%ra, %%tidr, %u;\n\tshl.b32 %%ra, %%ra, 2;\n\tadd.u32 %%ra, %%ra, %%rb;\n\tld.shared.u32 %%r%u, [%%ra];\n\tbar.sync 0;\n", below(g, BLOCK), b);
}

static void put_warp(struct gen *g)
{
    static const char *const modes[] = { "up", "down", "bfly", "idx" }, *const votes[] = { "all", "any", "uni" };
    static const char *const redux[] = { "add.u32", "min.s32", "max.u32", "and.b32", "xor.b32", "max.s32" };
    switch (below(g, 5)) {
    case 0: buf_printf(&g->b, "\tshfl.sync.%s.b32 %%r%u|%%p%u, %%r%u, %u, %u, -1;\n", modes[below(g, 4)], below(g, NR), below(g, NP), below(g, NR), below(g, 32),
                       chance(g, 50) ? 31 : (below(g, 32) << 8 | below(g, 32))); break;
    case 1: buf_printf(&g->b, "\tvote.sync.%s.pred %%p%u, %%p%u, -1;\n", votes[below(g, 3)], below(g, NP), below(g, NP)); break;
    case 2: buf_printf(&g->b, "\tvote.sync.ballot.b32 %%r%u, %s%%p%u, -1;\n", below(g, NR), chance(g, 50) ? "!" : "", below(g, NP)); break;
    case 3: buf_printf(&g->b, "\tredux.sync.%s %%r%u, %%r%u, -1;\n", redux[below(g, 6)], below(g, NR), below(g, NR)); break;
    default: buf_printf(&g->b, "\tmatch.any.sync.b32 %%r%u, %%r%u, -1;\n", below(g, NR), below(g, NR)); break;
    }
}

static void put_red(struct gen *g)
{
    static const char *const ops[] = { "add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32" };
    unsigned k = below(g, 6);        /* one word per operation, so that the order does not matter */
    buf_printf(&g->b, "\tred.global.%s [%%rout0+%u], %%r%u;\n", ops[k], 448 + 4 * k, below(g, NR));
}

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

/* A counted loop, left early by some threads; every other time it is entered in the middle too. */
static void put_loop(struct gen *g, unsigned depth)
{
    unsigned l = g->labels++;
    buf_printf(&g->b, "\tand.b32 %%rc%u, %%%s, 3;\n\tadd.u32 %%rc%u, %%rc%u, 1;\n", depth, chance(g, 50) ? "tidr" : "r1", depth, depth);
    if (chance(g, 40))
        buf_printf(&g->b, "\t@%%p%u bra MID%u;\n", below(g, NP), l);
    buf_printf(&g->b, "TOP%u:\n", l);
    put_block(g, depth + 1, 1 + below(g, 4));
    if (chance(g, 40))
        buf_printf(&g->b, "\t@%%p%u bra OUT%u;\n", below(g, NP), l);
    buf_printf(&g->b, "MID%u:\n", l);
    put_block(g, depth + 1, 1 + below(g, 4));
    buf_printf(&g->b, "\tsub.u32 %%rc%u, %%rc%u, 1;\n\tsetp.gt.s32 %%pc, %%rc%u, 0;\n\t@%%pc bra TOP%u;\nOUT%u:\n", depth, depth, depth, l, l);
}

static void put_switch(struct gen *g, unsigned depth)
{
    unsigned l = g->labels++;
    buf_printf(&g->b, "\trem.u32 %%ra, %%r%u, 3;\n", below(g, NR));
    buf_printf(&g->b, "TS%u: .branchtargets S%u_0, S%u_1, S%u_2;\n\tbrx.idx %%ra, TS%u;\n", l, l, l, l, l);
    for (unsigned k = 0; k < 3; k++) {
        put_block(g, depth + 1, 1 + below(g, 2));
        if (chance(g, 60))
            buf_printf(&g->b, "\tbra E%u;\n", l);
        buf_printf(&g->b, "S%u_%u:\n", l, k);
    }
    put_block(g, depth + 1, 1);
    buf_printf(&g->b, "E%u:\n", l);
}

static void put_block(struct gen *g, unsigned depth, unsigned n)
{
    for (unsigned k = 0; k < n; k++) {
        unsigned c = below(g, 100);
        if (c < 8 && depth < DEPTH) put_if(g, depth);
        else if (c < 12 && depth < DEPTH) put_loop(g, depth);
        else if (c < 14 && depth < DEPTH) put_switch(g, depth);
        else if (c < 22) put_setp(g);
        else if (c < 26) put_pack(g);
        else if (c < 32) put_load(g);
        else if (c < 34) put_red(g);
        else if (c < 37 && !depth && !g->diverged) put_exchange(g);
        else if (c < 42 && !depth && !g->diverged) put_warp(g);
        else put_op(g, straight[below(g, ARRAY_LEN(straight))]);
    }
}

static const struct { char cls; const char *name, *type; unsigned n, bytes; } files[] = {
    { 'r', "r", "u32", NR, 4 }, { 'R', "rd", "u64", NRD, 8 }, { 'h', "h", "u16", NH, 2 }, { 'f', "f", "f32", NF, 4 }, { 'd', "d", "f64", ND, 8 } };

static void put_registers(struct gen *g, bool load)
{
    unsigned at = 0;
    for (size_t k = 0; k < ARRAY_LEN(files); k++)
        for (unsigned i = 0; i < files[k].n; i++) {
            at = (at + files[k].bytes - 1) / files[k].bytes * files[k].bytes;
            if (load)
                buf_printf(&g->b, "\tld.global.%s %%%s%u, [%%rin+%u];\n", files[k].type, files[k].name, i, at);
            else
                buf_printf(&g->b, "\tst.global.%s [%%rout+%u], %%%s%u;\n", files[k].type, at, files[k].name, i);
            at += files[k].bytes;
        }
    if (load)
        return;
    for (unsigned i = 0; i < NP; i++)
        buf_printf(&g->b, "\tselp.u32 %%ra, 1, 0, %%p%u;\n\tst.global.u32 [%%rout+%u], %%ra;\n", i, 300 + 4 * i);
}

/* row: only this operation, many times; NULL: anything. */
static void generate(struct gen *g, uint64_t seed, const char *row)
{
    g->seed = seed;
    g->n = 0;
    g->labels = 0;
    g->diverged = false;
    buf_clear(&g->b);
    buf_puts(&g->b, SIM_HEAD ".visible .entry k(.param .u64 p)\n{\n"
             "\t.reg .b32 %r<8>, %ra, %rb, %tidr, %rc<4>;\n\t.reg .b64 %rd<6>, %rda, %rin, %rout, %rout0;\n\t.reg .b16 %h<6>;\n\t.reg .f32 %f<8>;\n"
             "\t.reg .f64 %d<6>;\n\t.reg .pred %p<6>, %pc;\n\t.shared .align 4 .b8 buffer[256];\n"
             "\tld.param.u64 %rout0, [p];\n\tmov.u32 %tidr, %tid.x;\n\tmul.wide.u32 %rout, %tidr, 512;\n\tadd.u64 %rout, %rout, %rout0;\n"
             "\tmul.wide.u32 %rin, %tidr, 256;\n\tadd.u64 %rin, %rin, %rout0;\n\tadd.u64 %rin, %rin, 32768;\n");
    put_registers(g, true);
    for (unsigned i = 0; i < NP; i++)
        buf_printf(&g->b, "\tsetp.lt.s32 %%p%u, %%r%u, %%r%u;\n", i, i, i + 1);
    for (unsigned i = 0; row && i < 24; i++) {
        put_op(g, row);
        if (i % 6 == 5)
            put_load(g);
    }
    if (!row)
        put_block(g, 0, 20 + below(g, 40));
    g->diverged = true;
    if (!row && chance(g, 20)) {
        buf_printf(&g->b, "\t@%%p%u ret;\n", below(g, NP));
        put_block(g, 0, 5);
    }
    put_registers(g, false);
    buf_puts(&g->b, "\tret;\n}\n");
}

static void fill(struct gen *g, uint8_t *data, uint64_t bytes)
{
    memset(data, 0, 32768);
    for (uint64_t at = 32768; at < bytes; at += 8) {
        uint64_t v = chance(g, 50) ? value64(g) : value32(g) | value32(g) << 32;
        memcpy(data + at, &v, 8);
    }
}

/* Any NaN equals any other of f64, whose payload the ISA leaves open. */
static bool same(const uint8_t *a, const uint8_t *b, uint64_t bytes, uint64_t *where)
{
    for (uint64_t at = 0; at < bytes; at += 4) {
        if (!memcmp(a + at, b + at, 4))
            continue;
        uint64_t d = at & ~7ull, off = at % OUT_BYTES, first = (NR * 4 + NRD * 8 + NH * 2 + NF * 4 + 7) / 8 * 8 + 4;
        double x, y;
        memcpy(&x, a + d, 8);
        memcpy(&y, b + d, 8);
        if (off + 4 >= first && off < first + ND * 8 + 8 && x != x && y != y)
            continue;
        *where = at;
        return false;
    }
    return true;
}

static void check_seed(struct gen *g, uint64_t seed, const char *row, bool show)
{
    const uint64_t bytes = 32768 + (uint64_t)BLOCK * IN_BYTES;
    static uint8_t other[32768 + BLOCK * IN_BYTES];
    struct sim_case c;
    char why[200];
    uint64_t where = 0;
    generate(g, seed, row);
    if (show)
        fputs(g->b.s, stderr);
    sim_case_open_with(&c, g->b.s, "k", bytes, (unsigned)(seed % 3));
    fill(g, c.data, bytes);
    memcpy(other, c.data, bytes);
    c.l.block.x = BLOCK;
    sim_case_run(&c);
    if (c.st != ST_OK) {
        sim_case_print(&c);
        fail_msg("seed %llu: the device refused", (unsigned long long)seed);
    }
    struct interp_launch l = { ptx_find_func(c.m, STR("k")), BLOCK, c.params, c.addr, other, bytes, 1000000 };
    if (!interp_run(&l, why, sizeof why))
        fail_msg("seed %llu: the interpreter refused: %s", (unsigned long long)seed, why);
    if (!same(c.data, other, 32768, &where)) {
        uint32_t a, b;
        memcpy(&a, c.data + where, 4);
        memcpy(&b, other + where, 4);
        fail_msg("seed %llu%s%s: thread %llu, result byte %llu: device %08x, interpreter %08x", (unsigned long long)seed, row ? ", " : "", row ? row : "", (unsigned long long)where / OUT_BYTES,
                 (unsigned long long)where % OUT_BYTES, a, b);
    }
    sim_case_close(&c);
}

static void each_operation(void **state)
{
    (void)state;
    struct gen g = { 0 };
    if (getenv("GPULOCW_DIFF_SEED"))
        skip();
    for (size_t k = 0; k < ARRAY_LEN(straight); k++)
        for (uint64_t seed = 0; seed < 4; seed++)
            check_seed(&g, 1000000 + seed, straight[k], false);
    buf_free(&g.b);
}

static void random_programs(void **state)
{
    (void)state;
    struct gen g = { 0 };
    const char *one = getenv("GPULOCW_DIFF_SEED"), *count = getenv("GPULOCW_DIFF_COUNT");
    if (one) {
        check_seed(&g, strtoull(one, NULL, 10), NULL, true);
    } else {
        uint64_t n = count ? strtoull(count, NULL, 10) : 2000;
        for (uint64_t seed = 1; seed <= n; seed++)
            check_seed(&g, seed, NULL, false);
    }
    buf_free(&g.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_operation), cmocka_unit_test(random_programs) };
    return cmocka_run_group_tests_name("sim exec against the scalar interpreter", tests, NULL, NULL);
}
