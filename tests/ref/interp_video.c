/* Video instructions, 9.7.18. */
#include "tests/ref/interp.h"

static bool compared(const struct ptx_inst *i, int64_t a, int64_t b)
{
    return ptx_has_mod(i, PTX_MOD_EQ)   ? a == b
           : ptx_has_mod(i, PTX_MOD_NE) ? a != b
           : ptx_has_mod(i, PTX_MOD_LT) ? a < b
           : ptx_has_mod(i, PTX_MOD_LE) ? a <= b
           : ptx_has_mod(i, PTX_MOD_GT) ? a > b
                                        : a >= b;
}

/* ---- SIMD (9.7.18.2): lanes of 16 or 8 bits. The sources' lanes are picked out of {b, a}; a result
 * lane that is not asked for is c's, or with .add nothing that is added to c. ---- */
static int64_t video_lane(uint64_t both, unsigned which, unsigned bits, bool is_signed)
{
    int64_t v = (int64_t)(both >> which * bits) & ((1 << bits) - 1);
    return is_signed && v >= 1 << (bits - 1) ? v - (1 << bits) : v;
}

static int64_t video_result(const struct ptx_inst *i, int64_t a, int64_t b)
{
    switch (i->op) {
    case PTX_OP_VADD2:
    case PTX_OP_VADD4: return a + b;
    case PTX_OP_VSUB2:
    case PTX_OP_VSUB4: return a - b;
    case PTX_OP_VAVRG2:
    case PTX_OP_VAVRG4: return a + b >= 0 ? (a + b + 1) / 2 : (a + b - ((a + b) % 2 != 0)) / 2;
    case PTX_OP_VABSDIFF2:
    case PTX_OP_VABSDIFF4: return a > b ? a - b : b - a;
    case PTX_OP_VMIN2:
    case PTX_OP_VMIN4: return a < b ? a : b;
    case PTX_OP_VMAX2:
    case PTX_OP_VMAX4: return a > b ? a : b;
    default: return compared(i, a, b);
    }
}

/* Digit k, from the right, of the selector of a source; without one they run up from `first`. */
static unsigned video_pick(const struct ptx_operand *o, unsigned k, unsigned first)
{
    return o->comp == 10 ? (unsigned)(o->imm >> 4 * k) & 15 : first + k;
}

/* Is lane k asked for? The digits of a mask fall, so that 0 stands only in the last place. */
static bool video_wanted(const struct ptx_operand *o, unsigned k)
{
    if (o->comp < 4)
        return true;
    if (o->comp < 10)
        return k == (unsigned)o->comp - (o->comp < 8 ? 4 : 8);
    bool found = (o->imm & 15) == k;
    for (int64_t rest = o->imm >> 4; rest; rest >>= 4)
        found |= (unsigned)(rest & 15) == k;
    return found;
}

static bool video_simd(struct interp_op *o)
{
    const struct ptx_inst *i = o->i;
    bool set = i->op == PTX_OP_VSET2 || i->op == PTX_OP_VSET4, adds = ptx_has_mod(i, PTX_MOD_ADD);
    unsigned n = i->op >= PTX_OP_VADD4 ? 4 : 2, bits = 32 / n, at = set ? 0 : 1;
    int64_t low = !set && i->type[0] == PTX_T_S32 ? -(1 << (bits - 1)) : 0,
            high = low ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    uint64_t both = (o->s[1] << 32) | (uint32_t)o->s[0], d = o->s[2];
    for (unsigned k = 0; k < n; k++) {
        if (!video_wanted(&i->opnds[0], k))
            continue;
        int64_t r = video_result(
            i, video_lane(both, video_pick(&i->opnds[1], k, 0), bits, i->type[at] == PTX_T_S32),
            video_lane(both, video_pick(&i->opnds[2], k, n), bits, i->type[at + 1] == PTX_T_S32));
        if (ptx_has_mod(i, PTX_MOD_SAT))
            r = r < low ? low : r > high ? high : r;
        uint64_t lane = ((1ull << bits) - 1) << k * bits;
        d = adds ? d + (uint64_t)r : (d & ~lane) | ((uint64_t)r << k * bits & lane);
    }
    o->d = (uint32_t)d;
    return true;
}

/* ---- scalar (9.7.18.1): a byte, half or word of each source, extended; the result clipped, then joined
 * with c ---- */
static unsigned part_bits(const struct ptx_operand *o)
{
    return o->comp < 4 || o->comp > 9 ? 32 : o->comp < 8 ? 8 : 16;
}
static unsigned part_at(const struct ptx_operand *o)
{
    return part_bits(o) == 32  ? 0
           : part_bits(o) == 8 ? 8 * ((unsigned)o->comp - 4)
                               : 16 * ((unsigned)o->comp - 8);
}

static int64_t part(const struct interp_op *o, unsigned k, bool is_signed)
{
    const struct ptx_operand *s = &o->i->opnds[k + 1];
    unsigned up = 64 - part_bits(s);
    uint64_t v = o->s[k] >> part_at(s) << up;
    return is_signed ? (int64_t)v >> up : (int64_t)(v >> up);
}
static int64_t word(uint64_t v, bool is_signed)
{
    return is_signed ? (int32_t)v : (int64_t)(uint32_t)v;
}

static int64_t clipped(int64_t x, unsigned bits, bool is_signed)
{
    int64_t most = (INT64_C(1) << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    return x > most ? most : x < least ? least : x;
}

static int64_t scalar_result(const struct interp_op *o, int64_t a, int64_t b)
{
    bool shift = o->i->op == PTX_OP_VSHL || o->i->op == PTX_OP_VSHR;
    if (shift)
        b = ptx_has_mod(o->i, PTX_MOD_WRAP) ? b & 31 : b > 32 ? 32 : b;
    switch (o->i->op) {
    case PTX_OP_VADD: return a + b;
    case PTX_OP_VSUB: return a - b;
    case PTX_OP_VABSDIFF: return a > b ? a - b : b - a;
    case PTX_OP_VMIN: return a < b ? a : b;
    case PTX_OP_VMAX: return a > b ? a : b;
    case PTX_OP_VSHL: return (int64_t)((uint64_t)a << b);
    case PTX_OP_VSHR: return a >> b;
    default: return compared(o->i, a, b);
    }
}

/* One word: the second operation with c, or c with the part of it that the destination names replaced.
 */
static uint64_t joined(const struct interp_op *o, int64_t x, bool is_signed)
{
    const struct ptx_operand *d = &o->i->opnds[0];
    int64_t now = word((uint64_t)x, is_signed), c = word(o->s[2], is_signed);
    if (ptx_has_mod(o->i, PTX_MOD_ADD))
        return (uint64_t)(now + c);
    if (ptx_has_mod(o->i, PTX_MOD_MIN))
        return (uint64_t)(now < c ? now : c);
    if (ptx_has_mod(o->i, PTX_MOD_MAX))
        return (uint64_t)(now > c ? now : c);
    if (part_bits(d) == 32)
        return (uint64_t)x;
    uint64_t field = ((1ull << part_bits(d)) - 1) << part_at(d);
    return (o->s[2] & ~field) | ((uint64_t)x << part_at(d) & field);
}

static bool scalar(struct interp_op *o)
{
    /* of vset, as an H200 has it; the ISA: unsigned */
    bool set = o->i->op == PTX_OP_VSET, result = o->i->type[0] == PTX_T_S32;
    bool sa = o->i->type[set ? 0 : 1] == PTX_T_S32, sb = o->i->type[set ? 1 : 2] == PTX_T_S32;
    int64_t x = scalar_result(o, part(o, 0, sa),
                              part(o, 1, sb && o->i->op != PTX_OP_VSHL && o->i->op != PTX_OP_VSHR));
    if (ptx_has_mod(o->i, PTX_MOD_SAT))
        x = clipped(x, part_bits(&o->i->opnds[0]), result);
    o->d = (uint32_t)joined(o, x, result);
    return true;
}

static bool multiply_add(struct interp_op *o)
{
    bool sa = o->i->type[1] == PTX_T_S32, sb = o->i->type[2] == PTX_T_S32, either = sa || sb;
    int64_t x = part(o, 0, sa) * part(o, 1, sb) + word(o->s[2], either) + ptx_has_mod(o->i, PTX_MOD_PO);
    x >>= ptx_has_mod(o->i, PTX_MOD_SHR7) ? 7 : ptx_has_mod(o->i, PTX_MOD_SHR15) ? 15 : 0;
    o->d = (uint32_t)(ptx_has_mod(o->i, PTX_MOD_SAT) ? clipped(x, 32, either) : x);
    return true;
}

bool interp_video(struct interp_op *o)
{
    if (o->i->op >= PTX_OP_VADD2 && o->i->op <= PTX_OP_VSET4)
        return video_simd(o);
    switch (o->i->op) {
    case PTX_OP_VADD:
    case PTX_OP_VSUB:
    case PTX_OP_VABSDIFF:
    case PTX_OP_VMIN:
    case PTX_OP_VMAX:
    case PTX_OP_VSHL:
    case PTX_OP_VSHR:
    case PTX_OP_VSET: return scalar(o);
    case PTX_OP_VMAD: return multiply_add(o);
    default: return false;
    }
}
